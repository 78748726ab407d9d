/* What a verb is given: words of its line as values. */
#include "run.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const trace_word *arg_of(const trace_command *c, const char *key)
{
  for (size_t i = 0; i < c->nwords; i++) {
    const trace_word *w = &c->words[i];
    if (key == NULL ? w->key == NULL : w->key != NULL && strcmp(w->key, key) == 0)
      return w;
  }
  return NULL;
}

bool arg_has(const trace_command *c, const char *key)
{
  return arg_of(c, key) != NULL;
}

trace_place arg_place(const trace_command *c, const char *key)
{
  const trace_word *w = arg_of(c, key);
  trace_place at = c->at;
  if (w != NULL)
    at.column = w->column;
  return at;
}

bool arg_fail(trace *t, const trace_command *c, const char *key, const char *format, ...)
{
  trace_text text = {0};
  va_list args;
  va_start(args, format);
  text_addv(&text, format, args);
  va_end(args);
  trace_fail(t->err, arg_place(c, key), "%s", text_get(&text));
  text_free(&text);
  return false;
}

bool arg_need(trace *t, const trace_command *c, const char *key)
{
  if (arg_has(c, key))
    return true;
  if (key == NULL)
    return trace_fail(t->err, c->at, "'%s' needs %s", c->verb->name, c->verb->subject + (c->verb->subject[0] == '?'));
  return trace_fail(t->err, c->at, "'%s' needs %s=", c->verb->name, key);
}

bool arg_number(trace *t, const trace_command *c, const char *key, uint64_t *n, uint64_t min, uint64_t max)
{
  const trace_word *w = arg_of(c, key);
  return w == NULL || trace_number(w->value, n, min, max, arg_place(c, key), t->err);
}

bool arg_u32(trace *t, const trace_command *c, const char *key, uint32_t *n)
{
  uint64_t v = *n;
  bool ok = arg_number(t, c, key, &v, 0, UINT32_MAX);
  *n = (uint32_t)v;
  return ok;
}

bool arg_position(trace *t, const trace_command *c, const char *key, twpa_lsn *lsn)
{
  const trace_word *w = arg_of(c, key);
  return w == NULL || trace_position(w->value, lsn, arg_place(c, key), t->err);
}

bool arg_bytes(trace *t, const trace_command *c, const char *key, trace_text *bytes, bool *present)
{
  const trace_word *w = arg_of(c, key);
  *present = w != NULL;
  return w == NULL || trace_bytes(w->value, bytes, arg_place(c, key), t->err);
}

bool arg_row(trace *t, const trace_command *c, const char *key, trace_text *row, bool *present)
{
  const trace_word *w = arg_of(c, key);
  *present = w != NULL;
  return w == NULL || trace_row(w->value, row, arg_place(c, key), t->err);
}

int choice_of(const char *word, size_t len, const char *words)
{
  for (int i = 0;; i++) {
    size_t n = strcspn(words, "|");
    if (n == len && memcmp(words, word, n) == 0)
      return i;
    if (words[n] == 0)
      return -1;
    words += n + 1;
  }
}

bool arg_choice(trace *t, const trace_command *c, const char *key, uint32_t *choice, const char *words)
{
  const trace_word *w = arg_of(c, key);
  if (w == NULL)
    return true;
  int i = choice_of(w->value, strlen(w->value), words);
  if (i < 0)
    return arg_fail(t, c, key, "expected %s, not '%.40s'", words, w->value);
  *choice = (uint32_t)i;
  return true;
}

bool arg_flags(trace *t, const trace_command *c, const char *key, uint32_t *flags, const char *words)
{
  const trace_word *w = arg_of(c, key);
  trace_text item = {0};
  bool ok = true;
  const char *next = w != NULL ? w->value : NULL;
  while (ok && trace_list_next(&next, &item)) {
    int i = choice_of(item.data, item.len, words);
    if (i < 0)
      ok = arg_fail(t, c, key, "expected a list of %s, not '%.40s'", words, item.data);
    else
      *flags |= UINT32_C(1) << i;
  }
  text_free(&item);
  return ok;
}

/* The items of a list, each turned into a number by `convert`. */
static bool list(trace *t, const trace_command *c, const char *key, uint64_t **numbers, size_t *n,
                 bool (*convert)(trace *t, const char *item, uint64_t *number, trace_place at))
{
  const trace_word *w = arg_of(c, key);
  trace_text item = {0};
  size_t cap = 0;
  bool ok = true;
  *numbers = NULL;
  *n = 0;
  const char *next = w != NULL && w->value[0] != 0 ? w->value : NULL;
  while (ok && trace_list_next(&next, &item)) {
    uint64_t v = 0;
    ok = convert(t, text_get(&item), &v, arg_place(c, key));
    *numbers = host_grow(*numbers, &cap, *n, sizeof **numbers);
    (*numbers)[(*n)++] = v;
  }
  text_free(&item);
  if (!ok) {
    free(*numbers);
    *numbers = NULL;
    *n = 0;
  }
  return ok;
}

static bool to_number(trace *t, const char *item, uint64_t *number, trace_place at)
{
  return trace_number(item, number, 0, UINT64_MAX, at, t->err);
}

bool arg_numbers(trace *t, const trace_command *c, const char *key, uint64_t **numbers, size_t *n)
{
  return list(t, c, key, numbers, n, to_number);
}

static bool to_relation(trace *t, const char *name, uint64_t *number, trace_place at)
{
  if (name[0] == 0)
    return trace_fail(t->err, at, "expected the name of a relation");
  for (size_t i = 0; i < t->nrelations; i++)
    if (strcmp(t->relations[i].name, name) == 0) {
      *number = t->relations[i].number;
      return true;
    }
  if (t->nrelations >= 100000)
    return trace_fail(t->err, at, "more than 100000 relations");
  t->relations = host_grow(t->relations, &t->relations_cap, t->nrelations, sizeof *t->relations);
  trace_relation *r = &t->relations[t->nrelations++];
  *r = (trace_relation){host_copy(name, strlen(name)), t->nrelations};
  *number = r->number;
  return true;
}

bool arg_relation(trace *t, const trace_command *c, const char *key, uint64_t *number)
{
  const trace_word *w = arg_of(c, key);
  return w == NULL || to_relation(t, w->value, number, arg_place(c, key));
}

bool arg_relations(trace *t, const trace_command *c, const char *key, uint64_t **numbers, size_t *n)
{
  return list(t, c, key, numbers, n, to_relation);
}

const char *relation_name(const trace *t, uint64_t number)
{
  return number >= 1 && number <= t->nrelations ? t->relations[number - 1].name : NULL;
}
