/* Random histories. */
#include "decode/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOPS 5
#define SUBS 40

typedef struct gsub {
  twpa_xid xid;
  int parent; /* index, -1: the top */
  bool dead, told, seen, content;
} gsub;

typedef struct gtop {
  twpa_xid xid; /* 0: free */
  gsub subs[SUBS];
  int nsubs;
  int stack[SUBS]; /* open savepoints, innermost last */
  int depth;
  bool content, prepared;
  char gid[24];
  int pending; /* pieces of a row that must follow: 1 chunk, 2 row of the chunk, 3 confirmation, 4 second of a multi */
  unsigned chunks;
  char spec[256]; /* the line that a confirmation brings out */
  int doomed;     /* -2: no; -1: the top; else a sub that is rolled back, as is known already */
  kit_line *lines;
  size_t nlines, cap;
} gtop;

typedef struct gen {
  script *s;
  const script_options *options;
  rng rng;
  twpa_xid next_xid;
  twpa_lsn lsn;
  unsigned counter;
  gtop tops[TOPS];
} gen;

static op *emit(gen *g, enum op_kind kind, twpa_xid xid)
{
  script *s = g->s;
  if (s->nops == s->cap) {
    s->cap = s->cap * 2 + 64;
    s->ops = realloc(s->ops, s->cap * sizeof *s->ops);
    ck_assert_ptr_nonnull(s->ops);
  }
  op *o = &s->ops[s->nops++];
  memset(o, 0, sizeof *o);
  g->lsn += rng_below(&g->rng, 4);
  o->kind = kind;
  o->xid = xid;
  o->lsn = g->lsn;
  return o;
}

/* --- the model --- */

static void model_line(gtop *t, twpa_xid xid, const char *line)
{
  if (t->nlines == t->cap) {
    t->cap = t->cap * 2 + 8;
    t->lines = realloc(t->lines, t->cap * sizeof *t->lines);
    ck_assert_ptr_nonnull(t->lines);
  }
  t->lines[t->nlines++] = (kit_line){xid, strdup(line)};
}

static void model_strike(gtop *t, twpa_xid xid)
{
  size_t n = 0;
  for (size_t i = 0; i < t->nlines; i++) {
    if (t->lines[i].xid != xid)
      t->lines[n++] = t->lines[i];
    else
      free(t->lines[i].line);
  }
  t->nlines = n;
}

static void top_end(gtop *t)
{
  for (size_t i = 0; i < t->nlines; i++)
    free(t->lines[i].line);
  free(t->lines);
  memset(t, 0, sizeof *t);
}

static void model_commit(gen *g, gtop *t)
{
  if (t->content) {
    text_add(&g->s->expected, "commit %llu\n", (unsigned long long)t->xid);
    for (size_t i = 0; i < t->nlines; i++)
      text_add(&g->s->expected, "%s", t->lines[i].line);
  }
  top_end(t);
}

/* --- pieces of a history --- */

static int current(const gtop *t)
{
  return t->depth > 0 ? t->stack[t->depth - 1] : -1;
}

/* A record of the innermost savepoint; it may tell the top. */
static op *emit_current(gen *g, gtop *t, enum op_kind kind, bool content)
{
  int i = current(t);
  op *o = emit(g, kind, i < 0 ? t->xid : t->subs[i].xid);
  if (i < 0) {
    t->content |= content;
    return o;
  }
  gsub *sub = &t->subs[i];
  sub->content |= content;
  if (sub->told ? rng_chance(&g->rng, 10) : !g->options->late || rng_chance(&g->rng, 30)) {
    o->top = t->xid;
    sub->told = true;
  }
  if (sub->told)
    t->content |= sub->content;
  return o;
}

static char *row_text(gen *g, unsigned value, unsigned len)
{
  char *row = malloc(g->options->row_bytes + 40);
  ck_assert_ptr_nonnull(row);
  int n = value != 0 ? sprintf(row, "r%u^%u=%u", ++g->counter, value, len) : sprintf(row, "r%u", ++g->counter);
  if (value == 0) {
    size_t fill = (size_t)rng_below(&g->rng, g->options->row_bytes + 1);
    memset(row + n, 'x', fill);
    row[(size_t)n + fill] = 0;
  }
  return row;
}

static void put_row(gen *g, gtop *t, uint32_t kind, uint32_t flags, unsigned value, unsigned len, const char *suffix)
{
  op *o = emit_current(g, t, OP_CHANGE, true);
  o->text = row_text(g, value, len);
  o->change.kind = kind;
  o->change.flags = flags;
  o->change.locator = (twpa_locator){1663, 5, 100};
  char old[80] = "";
  if (kind == TWPA_DELETE || (kind == TWPA_UPDATE && rng_chance(&g->rng, 50))) {
    o->text2 = strdup("old key");
    o->change.old_row = str(o->text2);
    strcpy(old, " old=old key");
  }
  if (kind != TWPA_DELETE)
    o->change.new_row = str(o->text);
  char line[256];
  const char *name = kind == TWPA_UPDATE ? "upd" : kind == TWPA_DELETE ? "del" : "ins";
  int n = snprintf(line, sizeof line, "%s %llu @%llu%s", name, (unsigned long long)o->xid, (unsigned long long)o->lsn,
                   old);
  if (kind != TWPA_DELETE)
    snprintf(line + n, sizeof line - (size_t)n, " new=%.80s%s\n", o->text, suffix);
  else
    snprintf(line + n, sizeof line - (size_t)n, "\n");
  if (kind == TWPA_SPEC_INSERT)
    strcpy(t->spec, line);
  else
    model_line(t, o->xid, line);
}

static void put_chunk(gen *g, gtop *t)
{
  op *o = emit_current(g, t, OP_CHANGE, false);
  char buf[8];
  snprintf(buf, sizeof buf, "%c%c%c", 'a' + (int)t->chunks, 'b', 'c');
  o->text = strdup(buf);
  o->change = (twpa_change){.kind = TWPA_TOAST_CHUNK, .toast_relation = 9, .toast_value = 1 + t->xid % 3,
                            .toast_sequence = t->chunks, .content = str(o->text)};
  t->chunks++;
}

static void put_chunked_row(gen *g, gtop *t)
{
  char suffix[80] = " long=";
  for (unsigned i = 0; i < t->chunks; i++)
    sprintf(suffix + strlen(suffix), "%cbc", 'a' + (int)i);
  unsigned len = t->chunks * 3;
  t->chunks = 0;
  unsigned value = (unsigned)(1 + t->xid % 3);
  switch (rng_below(&g->rng, 4)) {
  case 0:
    put_row(g, t, TWPA_SPEC_INSERT, 0, value, len, suffix);
    t->pending = 3;
    break;
  case 1:
    put_row(g, t, TWPA_INSERT, TWPA_CHANGE_MORE, value, len, suffix);
    t->pending = 4;
    t->chunks = len / 3;
    break;
  case 2:
    put_row(g, t, TWPA_UPDATE, 0, value, len, suffix);
    t->pending = 0;
    break;
  default:
    put_row(g, t, TWPA_INSERT, 0, value, len, suffix);
    t->pending = 0;
    break;
  }
}

static void put_spec_end(gen *g, gtop *t)
{
  bool confirm = rng_chance(&g->rng, 60);
  op *o = emit_current(g, t, OP_CHANGE, false);
  o->change.kind = confirm ? TWPA_SPEC_CONFIRM : TWPA_SPEC_ABORT;
  if (confirm)
    model_line(t, o->xid, t->spec);
  t->pending = 0;
}

/* The row that was begun goes on. */
static void put_pending(gen *g, gtop *t)
{
  switch (t->pending) {
  case 1:
    if (t->chunks < 5 && rng_chance(&g->rng, 50))
      put_chunk(g, t);
    else
      put_chunked_row(g, t);
    break;
  case 3:
    put_spec_end(g, t);
    break;
  default: {
    char suffix[80] = " long=";
    for (unsigned i = 0; i < t->chunks; i++)
      sprintf(suffix + strlen(suffix), "%cbc", 'a' + (int)i);
    unsigned len = t->chunks * 3;
    t->chunks = 0;
    t->pending = 0;
    put_row(g, t, TWPA_INSERT, 0, (unsigned)(1 + t->xid % 3), len, suffix);
    break;
  }
  }
}

static void put_message(gen *g, gtop *t, bool now)
{
  op *o = emit_current(g, t, OP_CHANGE, !now);
  char buf[40];
  snprintf(buf, sizeof buf, "m%u", ++g->counter);
  o->text = strdup(buf);
  o->change = (twpa_change){.kind = TWPA_MESSAGE, .flags = now ? TWPA_CHANGE_NONTRANSACTIONAL : 0, .prefix = str("p"),
                            .content = str(o->text)};
  char line[120];
  if (now) {
    text_add(&g->s->expected, "now %llu @%llu %s\n", (unsigned long long)o->xid, (unsigned long long)o->lsn, buf);
    return;
  }
  snprintf(line, sizeof line, "msg %llu @%llu %s\n", (unsigned long long)o->xid, (unsigned long long)o->lsn, buf);
  model_line(t, o->xid, line);
}

static void put_truncate(gen *g, gtop *t)
{
  op *o = emit_current(g, t, OP_CHANGE, true);
  size_t n = (size_t)rng_below(&g->rng, 4);
  o->change = (twpa_change){.kind = TWPA_TRUNCATE, .flags = TWPA_CHANGE_CASCADE, .nrelations = n};
  char line[120];
  int at = snprintf(line, sizeof line, "trunc %llu @%llu", (unsigned long long)o->xid, (unsigned long long)o->lsn);
  for (size_t i = 0; i < n; i++) {
    o->relations[i] = 70 + i;
    at += snprintf(line + at, sizeof line - (size_t)at, " %u", (unsigned)(70 + i));
  }
  snprintf(line + at, sizeof line - (size_t)at, "\n");
  model_line(t, o->xid, line);
}

static void put_other(gen *g, gtop *t)
{
  op *o;
  switch (rng_below(&g->rng, 5)) {
  case 0:
    o = emit_current(g, t, OP_CHANGE, false);
    o->text = strdup("inv");
    o->change = (twpa_change){.kind = TWPA_INVALIDATION, .content = str(o->text)};
    break;
  case 1:
    o = emit_current(g, t, OP_CHANGE, false);
    o->change = (twpa_change){.kind = TWPA_COMMAND, .command_id = ++g->counter};
    break;
  case 2:
    o = emit_current(g, t, OP_NEW_CID, false);
    o->top = t->xid;
    if (current(t) >= 0) {
      t->subs[current(t)].told = true;
      t->content |= t->subs[current(t)].content;
    }
    break;
  case 3:
    o = emit(g, OP_DISTRIBUTE, t->xid);
    o->text = strdup("distributed");
    break;
  default:
    emit_current(g, t, OP_TOUCH, false);
    break;
  }
}

/* --- ends --- */

static bool below(const gtop *t, int i, int root)
{
  while (i >= 0 && i != root)
    i = t->subs[i].parent;
  return i == root;
}

/* Lists the living subtransactions below root (-1: all), without root itself. */
static void list_subs(const gtop *t, op *o, int root)
{
  o->subs = calloc(SUBS, sizeof *o->subs);
  ck_assert_ptr_nonnull(o->subs);
  for (int i = 0; i < t->nsubs; i++)
    if (i != root && !t->subs[i].dead && below(t, i, root))
      o->subs[o->nsubs++] = t->subs[i].xid;
}

static void put_mark(gen *g, gtop *t, int root)
{
  op *o = emit(g, OP_MARK, root < 0 ? t->xid : t->subs[root].xid);
  list_subs(t, o, root);
  t->doomed = root;
}

static void put_abort(gen *g, gtop *t, int root)
{
  op *o = emit(g, OP_ABORT, root < 0 ? t->xid : t->subs[root].xid);
  list_subs(t, o, root);
  t->doomed = -2;
  if (root < 0) {
    top_end(t);
    return;
  }
  for (int i = 0; i < t->nsubs; i++) {
    if (t->subs[i].dead || !below(t, i, root))
      continue;
    t->subs[i].dead = true;
    model_strike(t, t->subs[i].xid);
  }
  while (t->depth > 0 && t->subs[t->stack[t->depth - 1]].dead)
    t->depth--;
  t->pending = 0;
  t->chunks = 0;
}

static void put_abort_somehow(gen *g, gtop *t, int root)
{
  if (rng_chance(&g->rng, 50))
    put_mark(g, t, root);
  else
    put_abort(g, t, root);
}

/* At the end everything that lives is known. */
static void tell_all(gtop *t)
{
  for (int i = 0; i < t->nsubs; i++)
    if (!t->subs[i].dead)
      t->content |= t->subs[i].content;
}

static void put_end(gen *g, gtop *t)
{
  if (g->options->late && rng_chance(&g->rng, 10)) {
    list_subs(t, emit(g, OP_FORGET, t->xid), -1);
    top_end(t);
    return;
  }
  if (rng_chance(&g->rng, 25)) {
    op *o = emit(g, OP_PREPARE, t->xid);
    list_subs(t, o, -1);
    snprintf(t->gid, sizeof t->gid, "gid%llu", (unsigned long long)t->xid);
    o->text = strdup(t->gid);
    t->prepared = true;
    return;
  }
  tell_all(t);
  list_subs(t, emit(g, OP_COMMIT, t->xid), -1);
  model_commit(g, t);
}

static void put_prepared_end(gen *g, gtop *t)
{
  bool committed = rng_chance(&g->rng, 70);
  op *o = emit(g, committed ? OP_COMMIT_PREPARED : OP_ROLLBACK_PREPARED, t->xid);
  list_subs(t, o, -1);
  o->text = strdup(t->gid);
  tell_all(t);
  if (committed)
    model_commit(g, t);
  else
    top_end(t);
}

static void put_crash(gen *g, gtop *t)
{
  top_end(t);
  twpa_xid oldest = g->next_xid;
  for (int i = 0; i < TOPS; i++)
    if (g->tops[i].xid != 0 && g->tops[i].xid < oldest)
      oldest = g->tops[i].xid;
  emit(g, OP_ABORT_BEFORE, oldest);
}

static void push_sub(gen *g, gtop *t)
{
  if (t->nsubs == SUBS)
    return;
  int i = t->nsubs++;
  t->subs[i] = (gsub){.xid = g->next_xid++, .parent = current(t)};
  t->stack[t->depth++] = i;
}

static void put_assign(gen *g, gtop *t)
{
  int i = current(t);
  if (i < 0)
    return;
  op *o = emit(g, OP_ASSIGN, t->subs[i].xid);
  o->top = t->xid;
  t->subs[i].told = true;
  t->content |= t->subs[i].content;
}

static void step_top(gen *g, gtop *t)
{
  if (t->prepared) {
    if (rng_chance(&g->rng, 30))
      put_prepared_end(g, t);
    return;
  }
  if (t->doomed != -2) {
    if (rng_chance(&g->rng, 30))
      put_abort(g, t, t->doomed);
    return;
  }
  uint64_t dice = rng_below(&g->rng, 100);
  if (t->pending != 0) {
    if (dice < 5)
      put_abort_somehow(g, t, current(t));
    else
      put_pending(g, t);
    return;
  }
  if (dice < 42)
    put_row(g, t, 1 + (uint32_t)rng_below(&g->rng, 3), 0, 0, 0, "");
  else if (dice < 50)
    put_chunk(g, t), t->pending = 1;
  else if (dice < 53)
    put_row(g, t, TWPA_SPEC_INSERT, 0, 0, 0, ""), t->pending = 3;
  else if (dice < 56)
    put_truncate(g, t);
  else if (dice < 62)
    put_message(g, t, rng_chance(&g->rng, 20));
  else if (dice < 70)
    put_other(g, t);
  else if (dice < 80)
    push_sub(g, t);
  else if (dice < 84)
    t->depth -= t->depth > 0;
  else if (dice < 86)
    put_assign(g, t);
  else if (dice < 91 && t->depth > 0)
    put_abort_somehow(g, t, t->stack[rng_below(&g->rng, (uint64_t)t->depth)]);
  else if (dice < 93)
    put_abort_somehow(g, t, -1);
  else if (dice < 94)
    put_crash(g, t);
  else
    put_end(g, t);
}

void script_make(script *s, const script_options *options)
{
  memset(s, 0, sizeof *s);
  gen g = {.s = s, .options = options, .rng = {options->seed}, .next_xid = options->first_xid, .lsn = 100};
  for (size_t i = 0; i < options->steps; i++) {
    gtop *t = &g.tops[rng_below(&g.rng, TOPS)];
    if (t->xid == 0) {
      t->xid = g.next_xid++;
      t->doomed = -2;
    }
    step_top(&g, t);
  }
  for (int i = 0; i < TOPS; i++)
    top_end(&g.tops[i]);
}

void script_free(script *s)
{
  for (size_t i = 0; i < s->nops; i++) {
    free(s->ops[i].text);
    free(s->ops[i].text2);
    free(s->ops[i].subs);
  }
  free(s->ops);
  text_clear(&s->expected);
}

twpa_status script_feed(twpa_reorder *r, kit *k, const op *o)
{
  twpa_record record = {.lsn = o->lsn, .end_lsn = o->lsn, .xid = o->xid, .top_xid = o->top};
  twpa_commit end = {.subxids = o->subs, .nsubxids = o->nsubs, .time = 1};
  twpa_change c = o->change;
  twpa_new_cid cid = {.top_xid = o->top, .locator = {1, 2, 3}, .tid = {.block = (uint32_t)(o->lsn % 7), .line = 1},
                      .cmin = 1, .cmax = TWPA_CID_NONE, .combo_cid = TWPA_CID_NONE};
  if (o->lsn % 3 != 0) /* whether it was announced must not matter, nor how well */
    twpa_reorder_prefetch(r, o->xid + o->lsn % 2);
  switch (o->kind) {
  case OP_CHANGE:
    if (c.kind == TWPA_TRUNCATE)
      c.relations = o->relations;
    return twpa_reorder_queue(r, &record, &c);
  case OP_NEW_CID:
    return twpa_reorder_new_cid(r, &record, &cid);
  case OP_TOUCH:
    return twpa_reorder_touch(r, &record);
  case OP_ASSIGN:
    return twpa_reorder_assign(r, o->top, o->xid, o->lsn);
  case OP_COMMIT:
    return twpa_reorder_commit(r, &record, &end);
  case OP_FORGET:
    return twpa_reorder_forget(r, &record, &end);
  case OP_ABORT:
    return twpa_reorder_abort(r, &record, &end);
  case OP_ABORT_BEFORE:
    return twpa_reorder_abort_before(r, o->xid);
  case OP_PREPARE:
    return twpa_reorder_prepare(r, &record, &end, str(o->text));
  case OP_COMMIT_PREPARED:
    return twpa_reorder_commit_prepared(r, &record, &end, str(o->text));
  case OP_ROLLBACK_PREPARED:
    return twpa_reorder_rollback_prepared(r, &record, &end, str(o->text));
  case OP_DISTRIBUTE:
    return twpa_reorder_distribute(r, &record, str(o->text));
  case OP_MARK:
    ck_assert_uint_le(k->naborted + o->nsubs + 1, sizeof k->aborted_xids / sizeof *k->aborted_xids);
    k->aborted_xids[k->naborted++] = o->xid;
    for (size_t i = 0; i < o->nsubs; i++)
      k->aborted_xids[k->naborted++] = o->subs[i];
    return TWPA_OK;
  }
  return TWPA_E_INVAL;
}
