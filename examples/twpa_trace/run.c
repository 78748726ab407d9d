/*
 * Carrying out a trace: verbs are looked up and loops matched before anything runs, then the lines are carried out one
 * after the other. What a command prints is kept by line, so that it can be put behind the command or compared with
 * what stands there.
 */
#include "decode.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX UINT64_C(10000000)
#define FIRST_LSN 100

typedef struct plan_of_lines {
  const trace_verb **verbs; /* by line; NULL: no command */
  size_t *ends;             /* of a loop: the line of its end */
} plan_of_lines;

static bool run_loop(trace *t, const trace_command *c);

static const trace_verb loop_verbs[] = {
  {"repeat", "NAME=FIRST..LAST", "", run_loop, VERB_LOOP, NULL},
  {"end", NULL, "", run_loop, VERB_END, NULL},
  {NULL, NULL, NULL, NULL, 0, NULL},
};

static const trace_verb *const verb_tables[] = {loop_verbs, decode_verbs, plan_verbs};

bool trace_fault_hits(trace *t, enum trace_fault_kind kind, const char *name)
{
  trace_fault *f = &t->faults[kind];
  if (!f->armed || (f->of[0] != 0 && strcmp(f->of, name) != 0))
    return false;
  if (f->left > 1) {
    f->left--;
    return false;
  }
  f->fired = true;
  f->armed = f->always;
  return true;
}

/* --- memory for the library: counted, and failing on request --- */

static void *take_memory(void *user, size_t size)
{
  trace *t = user;
  if (trace_fault_hits(t, FAULT_ALLOCATION, "") || size > t->memory_max - t->memory)
    return NULL;
  void *p = malloc(size);
  if (p != NULL)
    t->memory += size;
  return p;
}

static void *resize_memory(void *user, void *p, size_t old_size, size_t new_size)
{
  trace *t = user;
  if (trace_fault_hits(t, FAULT_ALLOCATION, "") || new_size > t->memory_max - (t->memory - old_size))
    return NULL;
  void *q = realloc(p, new_size);
  if (q != NULL)
    t->memory = t->memory - old_size + new_size;
  return q;
}

static void give_memory(void *user, void *p, size_t size)
{
  trace *t = user;
  t->memory -= size;
  free(p);
}

/* --- printing --- */

void trace_say(trace *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  text_addv(&t->out, format, args);
  va_end(args);
  text_add(&t->out, "\n");
}

bool trace_status(trace *t, twpa_status status)
{
  if (status != TWPA_OK)
    trace_say(t, "status %s", twpa_status_name(status));
  return true;
}

/* --- before anything runs --- */

static bool has_word(const char *words, const char *word)
{
  size_t n = strlen(word);
  for (const char *p = words; *p != 0; p += *p == ' ') {
    size_t len = strcspn(p, " ");
    if (len == n && memcmp(p, word, n) == 0)
      return true;
    p += len;
  }
  return false;
}

static const trace_verb *find_verb(const char *name)
{
  for (size_t k = 0; k < sizeof verb_tables / sizeof verb_tables[0]; k++)
    for (const trace_verb *v = verb_tables[k]; v->name != NULL; v++)
      if (strcmp(v->name, name) == 0)
        return v;
  return NULL;
}

/* Does the verb exist, and does it take these words? */
static bool check_line(trace *t, const trace_line *line, const trace_verb **verb)
{
  trace_place at = {t->source->name, line->number, line->column};
  const trace_verb *v = *verb = find_verb(line->verb);
  if (v == NULL)
    return trace_fail(t->err, at, "unknown verb '%.40s'", line->verb);
  bool subject = false;
  for (size_t i = 0; i < line->nwords; i++) {
    const trace_word *w = &line->words[i];
    at.column = w->key_column;
    subject |= w->key == NULL;
    if (w->key == NULL && v->subject == NULL)
      return trace_fail(t->err, at, "'%s' takes key=value only", v->name);
    if (w->key == NULL || v->flags & VERB_LOOP)
      continue;
    if ((v->flags & VERB_EVENT) && has_word("lsn end", w->key))
      continue;
    if (!has_word(v->keys, w->key))
      return trace_fail(t->err, at, "'%s' does not take %s=; it takes: %s%s", v->name, w->key, v->keys,
                        v->flags & VERB_EVENT ? " lsn end" : "");
  }
  at.column = line->column;
  if (v->subject != NULL && v->subject[0] != '?' && !subject && !(v->flags & VERB_LOOP))
    return trace_fail(t->err, at, "'%s' needs %s", v->name, v->subject);
  return true;
}

static bool prepare_lines(trace *t, plan_of_lines *p)
{
  size_t open[LOOP_DEPTH], depth = 0;
  bool seen = false;
  for (size_t i = 0; i < t->source->nlines; i++) {
    const trace_line *line = &t->source->lines[i];
    trace_place at = {t->source->name, line->number, 1};
    if (line->kind == TRACE_EXPECTED && (depth > 0 || !seen))
      return trace_fail(t->err, at, depth > 0 ? "what a loop prints stands behind its end"
                                              : "what a command prints, without a command before it");
    if (line->kind != TRACE_COMMAND)
      continue;
    seen = true;
    if (!check_line(t, line, &p->verbs[i]))
      return false;
    at.column = line->column;
    if (p->verbs[i]->flags & VERB_LOOP) {
      if (depth == LOOP_DEPTH)
        return trace_fail(t->err, at, "more than %d loops inside each other", LOOP_DEPTH);
      open[depth++] = i;
    } else if (p->verbs[i]->flags & VERB_END) {
      if (depth == 0)
        return trace_fail(t->err, at, "'end' without 'repeat'");
      p->ends[open[--depth]] = i;
    }
  }
  if (depth > 0) {
    const trace_line *line = &t->source->lines[open[depth - 1]];
    return trace_fail(t->err, (trace_place){t->source->name, line->number, line->column}, "'repeat' without 'end'");
  }
  return true;
}

/* --- variables --- */

static bool is_name_byte(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static const trace_variable *find_variable(const trace *t, const char *name, size_t len)
{
  for (size_t i = t->nvariables; i > 0; i--) {
    const trace_variable *v = &t->variables[i - 1];
    if (strlen(v->name) == len && memcmp(v->name, name, len) == 0)
      return v;
  }
  return NULL;
}

/* What follows a name in braces: + - * % and a number. */
static bool calculate(trace *t, const char **p, uint64_t *v, trace_place at)
{
  char op = **p;
  *p += op != 0;
  size_t len = strspn(*p, "0123456789");
  char digits[24];
  uint64_t n = 0;
  if (op == 0 || strchr("+-*%", op) == NULL || len == 0 || len >= sizeof digits)
    return trace_fail(t->err, at, "expected ${name}, or + - * %% and a number in it");
  memcpy(digits, *p, len);
  digits[len] = 0;
  if (!trace_number(digits, &n, op == '%', UINT64_MAX, at, t->err))
    return false;
  *p += len;
  *v = op == '+' ? *v + n : op == '-' ? *v - n : op == '*' ? *v * n : *v % n;
  return true;
}

/* A value with its variables put in. */
static bool expand(trace *t, const char *value, trace_text *out, trace_place at)
{
  text_bytes(out, "", 0);
  for (const char *p = value; *p != 0;) {
    if (*p != '$') {
      text_bytes(out, p++, 1);
      continue;
    }
    if (*++p == '$') {
      text_bytes(out, p++, 1);
      continue;
    }
    bool braces = *p == '{';
    p += braces;
    size_t len = 0;
    while (is_name_byte(p[len]))
      len++;
    const trace_variable *v = find_variable(t, p, len);
    if (v == NULL)
      return trace_fail(t->err, at, "there is no variable '%.*s' here", (int)(len < 40 ? len : 40), p);
    p += len;
    uint64_t number = v->value;
    if (braces && *p != '}' && !calculate(t, &p, &number, at))
      return false;
    if (braces && *p++ != '}')
      return trace_fail(t->err, at, "expected '}'");
    text_add(out, "%" PRIu64, number);
  }
  return true;
}

static void free_command(trace_command *c)
{
  for (size_t i = 0; i < c->nwords; i++) {
    free(c->words[i].key);
    free(c->words[i].value);
  }
  free(c->words);
  *c = (trace_command){0};
}

static bool make_command(trace *t, trace_command *c, const trace_line *line, const trace_verb *verb)
{
  *c = (trace_command){.verb = verb, .at = {t->source->name, line->number, line->column}};
  if (line->nwords > 0)
    c->words = host_alloc(line->nwords, sizeof *c->words);
  for (size_t i = 0; i < line->nwords; i++) {
    const trace_word *from = &line->words[i];
    trace_word *to = &c->words[c->nwords++];
    *to = (trace_word){.column = from->column, .key_column = from->key_column};
    if (from->key != NULL)
      to->key = host_copy(from->key, strlen(from->key));
    trace_text value = {0};
    trace_place at = c->at;
    at.column = from->column;
    bool ok = expand(t, from->value, &value, at);
    to->value = value.data;
    if (!ok) {
      free_command(c);
      return false;
    }
  }
  return true;
}

/* --- running --- */

/* Where the record of an event is: behind the one before, unless it says so. */
static bool place_event(trace *t, trace_command *c)
{
  c->lsn = t->next_lsn;
  if (!arg_position(t, c, "lsn", &c->lsn))
    return false;
  if (c->lsn > UINT64_MAX / 2)
    return arg_fail(t, c, "lsn", "positions end at 2^63");
  c->end_lsn = c->lsn + 8;
  if (!arg_position(t, c, "end", &c->end_lsn))
    return false;
  if (c->end_lsn > UINT64_MAX / 2)
    return arg_fail(t, c, "end", "positions end at 2^63");
  twpa_lsn next = c->end_lsn > c->lsn ? c->end_lsn : c->lsn + 8;
  t->next_lsn = next > t->next_lsn ? next : t->next_lsn;
  return true;
}

static bool run_command(trace *t, const trace_line *line, const trace_verb *verb)
{
  trace_command c;
  if (!make_command(t, &c, line, verb))
    return false;
  bool ok = true;
  const trace_word *subject = arg_of(&c, NULL);
  if (verb->in_txn != NULL && subject != NULL && !(subject->value[0] >= '0' && subject->value[0] <= '9')) {
    ok = verb->in_txn(t, &c);
    free_command(&c);
    return ok;
  }
  if (verb->flags & VERB_EVENT) {
    ok = place_event(t, &c);
    if (ok) {
      t->log = host_grow(t->log, &t->log_cap, t->nlog, sizeof *t->log);
      t->log[t->nlog++] = c;
      return verb->run(t, &c) && decode_hand_on(t, c.at);
    }
  }
  ok = ok && verb->run(t, &c) && decode_hand_on(t, c.at);
  free_command(&c);
  return ok;
}

bool trace_feed_again(trace *t, twpa_lsn from)
{
  t->repeating = true;
  bool ok = true;
  for (size_t i = 0; i < t->nlog && ok; i++) {
    trace_command c = t->log[i];
    if (c.lsn < from)
      continue;
    if (t->steps_left-- == 0) {
      t->steps_left = 0;
      ok = trace_fail(t->err, c.at, "the trace takes too long");
    } else
      ok = c.verb->run(t, &c) && decode_hand_on(t, c.at);
  }
  t->repeating = false;
  return ok;
}


void trace_new_log(trace *t)
{
  for (size_t i = 0; i < t->nlog; i++)
    free_command(&t->log[i]);
  t->nlog = 0;
  t->next_lsn = FIRST_LSN;
}

static bool run_range(trace *t, const plan_of_lines *p, size_t from, size_t to);

/* FIRST..LAST */
static bool parse_range(trace *t, const trace_command *c, uint64_t *first, uint64_t *last)
{
  const trace_word *w = &c->words[0];
  const char *dots = strstr(w->value, "..");
  trace_place at = c->at;
  at.column = w->column;
  if (dots == NULL)
    return trace_fail(t->err, at, "expected FIRST..LAST");
  char *low = host_copy(w->value, (size_t)(dots - w->value));
  bool ok = trace_number(low, first, 0, UINT64_MAX - 1, at, t->err) &&
            trace_number(dots + 2, last, 0, UINT64_MAX - 1, at, t->err);
  free(low);
  return ok;
}

static bool run_repeat(trace *t, const plan_of_lines *p, size_t i)
{
  const trace_line *line = &t->source->lines[i];
  trace_command c;
  uint64_t first = 0, last = 0;
  if (line->nwords != 1 || line->words[0].key == NULL)
    return trace_fail(t->err, (trace_place){t->source->name, line->number, line->column},
                      "expected: repeat name=FIRST..LAST");
  if (!make_command(t, &c, line, p->verbs[i]))
    return false;
  bool ok = parse_range(t, &c, &first, &last);
  trace_variable *v = &t->variables[t->nvariables++];
  v->name = line->words[0].key;
  for (uint64_t n = first; ok && n <= last; n++) {
    v->value = n;
    ok = run_range(t, p, i + 1, p->ends[i]);
  }
  t->nvariables--;
  free_command(&c);
  return ok;
}

/* What a verb has printed belongs to its line; a loop's to the line of its end. */
static void keep_output(trace *t, size_t line)
{
  trace_text *to = &t->result->outputs[line];
  text_bytes(to, text_get(&t->out), t->out.len);
  t->out.len = 0;
}

/* Loops are at most LOOP_DEPTH deep, and so is this recursion. */
static bool run_range(trace *t, const plan_of_lines *p, size_t from, size_t to)
{
  for (size_t i = from; i < to; i++) {
    const trace_line *line = &t->source->lines[i];
    if (line->kind != TRACE_COMMAND)
      continue;
    if (t->steps_left-- == 0) {
      t->steps_left = 0;
      return trace_fail(t->err, (trace_place){t->source->name, line->number, line->column},
                        "the trace takes too long");
    }
    bool loop = (p->verbs[i]->flags & VERB_LOOP) != 0;
    bool ok = loop ? run_repeat(t, p, i) : run_command(t, line, p->verbs[i]);
    if (loop)
      i = p->ends[i];
    if (t->nvariables == 0)
      keep_output(t, i);
    if (!ok)
      return false;
  }
  return true;
}

/* A loop is carried out by run_repeat(). */
static bool run_loop(trace *t, const trace_command *c)
{
  return trace_fail(t->err, c->at, "'%s' stands alone", c->verb->name);
}

static void report_faults(trace *t)
{
  static const char *const names[FAULT_KINDS] = {"storage", "callback", "allocation"};
  for (size_t i = 0; i < FAULT_KINDS; i++)
    if (t->faults[i].armed && !t->faults[i].fired)
      trace_say(t, "fault %s has never come", names[i]);
}

static void free_run(trace *t)
{
  trace_new_log(t);
  free(t->log);
  for (size_t i = 0; i < t->nrelations; i++)
    free(t->relations[i].name);
  free(t->relations);
  text_free(&t->out);
}

bool trace_run(trace_result *result, const trace_source *source, const trace_limits *limits, host_error *err)
{
  *result = (trace_result){host_alloc(source->nlines + 1, sizeof *result->outputs), source->nlines + 1};
  trace t = {.source = source, .result = result, .err = err, .next_lsn = FIRST_LSN, .steps_left = STEPS_MAX,
             .memory_max = UINT64_MAX};
  t.allocator = (twpa_allocator){&t, take_memory, resize_memory, give_memory};
  if (limits != NULL && limits->steps != 0)
    t.steps_left = limits->steps;
  if (limits != NULL && limits->bytes != 0)
    t.memory_max = limits->bytes;
  plan_of_lines p = {host_alloc(source->nlines, sizeof *p.verbs), host_alloc(source->nlines, sizeof *p.ends)};
  t.decode = decode_new();
  t.plan = plan_new();
  bool ok = prepare_lines(&t, &p) && run_range(&t, &p, 0, source->nlines);
  report_faults(&t);
  memset(t.faults, 0, sizeof t.faults);
  decode_finish(&t);
  plan_finish(&t);
  if (t.memory != 0)
    trace_say(&t, "memory left: %" PRIu64 " bytes", t.memory);
  keep_output(&t, source->nlines);
  free_run(&t);
  free(p.verbs);
  free(p.ends);
  return ok;
}

void trace_result_free(trace_result *result)
{
  for (size_t i = 0; i < result->noutputs; i++)
    text_free(&result->outputs[i]);
  free(result->outputs);
  *result = (trace_result){0};
}
