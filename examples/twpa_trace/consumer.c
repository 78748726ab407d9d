/*
 * The consumer: prints every callback, in the order of the calls, and gives the answers that the trace asks for. Also
 * the hooks: invalidations are printed, the status of transactions is what the trace has said.
 */
#include "decode.h"

#include <inttypes.h>
#include <string.h>

static const char *const kinds[] = {"?",          "insert",      "update",       "delete",     "truncate",
                                    "message",    "spec-insert", "spec-confirm", "spec-abort", "toast",
                                    "invalidation", "command"};

static const char *kind_name(uint32_t kind)
{
  return kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : kinds[0];
}

trace_xid_status *consumer_status(const decode_half *d, twpa_xid xid)
{
  for (size_t i = 0; i < d->nstatuses; i++)
    if (d->statuses[i].xid == xid)
      return &d->statuses[i];
  return NULL;
}

void consumer_flush(trace *t)
{
  trace_run_of_changes *run = &t->decode->run;
  if (run->count == 0)
    return;
  if (run->kind == 0) { /* not a change: a hook */
    trace_say(t, "%s count=%" PRIu64, run->name, run->count);
    run->count = 0;
    return;
  }
  text_add(&t->out, "%s %s xid=%" PRIu64, run->name, kind_name(run->kind), run->xid);
  if (relation_name(t, run->relation) != NULL)
    text_add(&t->out, " rel=%s", relation_name(t, run->relation));
  if (run->count == 1)
    trace_say(t, " lsn=%" PRIu64, run->first);
  else
    trace_say(t, " lsn=%" PRIu64 "..%" PRIu64 " count=%" PRIu64, run->first, run->last, run->count);
  run->count = 0;
}

/* A line that begins with the name of a callback and its transaction. */
static void begin_line(trace *t, const char *name, const twpa_txn *txn)
{
  consumer_flush(t);
  text_add(&t->out, "%s", name);
  if (txn != NULL)
    text_add(&t->out, " xid=%" PRIu64, twpa_txn_xid(txn));
}

static void show_gid(trace *t, twpa_bytes gid)
{
  text_add(&t->out, " gid=");
  text_show(&t->out, gid.data, gid.len);
}

/* Where and when a transaction has ended, as far as it is not zero. */
static void show_end(trace *t, const twpa_txn *txn)
{
  text_add(&t->out, " lsn=%" PRIu64 " end=%" PRIu64, twpa_txn_final_lsn(txn), twpa_txn_end_lsn(txn));
  if (twpa_txn_time(txn) != 0)
    text_add(&t->out, " time=%" PRId64, twpa_txn_time(txn));
  if (twpa_txn_origin(txn) != 0)
    text_add(&t->out, " origin=%" PRIu32, twpa_txn_origin(txn));
  if (twpa_txn_origin_lsn(txn) != 0)
    text_add(&t->out, " origin-lsn=%" PRIu64, twpa_txn_origin_lsn(txn));
}

/* What a callback returns. `change` is NULL where no change is given out. */
static int answer(trace *t, const char *name, const twpa_change *change)
{
  if (trace_fault_hits(t, FAULT_CALLBACK, name)) {
    consumer_flush(t);
    bool aborted = t->faults[FAULT_CALLBACK].how == HOW_ABORTED;
    trace_say(t, "fault %s%s", name, aborted ? " aborted" : "");
    return aborted ? TWPA_CALLBACK_ABORTED : 7;
  }
  const trace_xid_status *s = change != NULL ? consumer_status(t->decode, change->xid) : NULL;
  if (s == NULL || !s->callback || s->status != TWPA_XID_ABORTED)
    return TWPA_CALLBACK_OK;
  consumer_flush(t);
  trace_say(t, "answer aborted");
  return TWPA_CALLBACK_ABORTED;
}

/* The long values that a row in parentheses names as @VALUE:LENGTH, put together. */
static void show_long_values(trace *t, const twpa_txn *txn, twpa_bytes row)
{
  const char *p = row.data, *end = p + row.len;
  if (row.len == 0 || p[0] != '(')
    return;
  for (bool in_quotes = false; p < end; p++) {
    if (*p == '"')
      in_quotes = !in_quotes;
    else if (*p == '\\' && in_quotes)
      p++;
    uint64_t number[2] = {0, 0};
    if (*p != '@' || in_quotes)
      continue;
    for (int i = 0; i < 2; i++)
      for (p++; p < end && *p >= '0' && *p <= '9'; p++)
        number[i] = number[i] * 10 + (uint64_t)(*p - '0');
    twpa_bytes bytes = {NULL, 0};
    twpa_status st = twpa_txn_toast(txn, &bytes, 1, number[0], (size_t)number[1]);
    text_add(&t->out, " long.%" PRIu64 "=", number[0]);
    if (st == TWPA_OK)
      text_show(&t->out, bytes.data, bytes.len);
    else
      text_add(&t->out, "%s", st == TWPA_E_NOTFOUND ? "unchanged" : twpa_status_name(st));
    p--;
  }
}

static void show_row(trace *t, const char *key, twpa_bytes row)
{
  if (row.data == NULL)
    return;
  text_add(&t->out, " %s=", key);
  text_show_row(&t->out, row.data, row.len);
}

static void show_change(trace *t, const char *name, const twpa_txn *txn, const twpa_change *c)
{
  consumer_flush(t);
  text_add(&t->out, "%s %s xid=%" PRIu64 " lsn=%" PRIu64, name, kind_name(c->kind), c->xid, c->lsn);
  if (c->origin != 0)
    text_add(&t->out, " origin=%" PRIu32, c->origin);
  if (c->locator.file != 0)
    text_add(&t->out, " rel=%s", relation_name(t, c->locator.file));
  show_row(t, "old", c->old_row);
  show_row(t, "new", c->new_row);
  if (c->kind == TWPA_TRUNCATE) {
    text_add(&t->out, " rels=");
    for (size_t i = 0; i < c->nrelations; i++)
      text_add(&t->out, "%s%s", i > 0 ? "," : "", relation_name(t, c->relations[i]));
  }
  if (c->prefix.data != NULL) {
    text_add(&t->out, " prefix=");
    text_show(&t->out, c->prefix.data, c->prefix.len);
  }
  if (c->content.data != NULL) {
    text_add(&t->out, " content=");
    text_show(&t->out, c->content.data, c->content.len);
  }
  if (c->flags & (TWPA_CHANGE_CASCADE | TWPA_CHANGE_RESTART_SEQS | TWPA_CHANGE_NONTRANSACTIONAL))
    text_add(&t->out, " flags=%s%s%s", c->flags & TWPA_CHANGE_CASCADE ? "cascade" : "",
             (c->flags & TWPA_CHANGE_RESTART_SEQS)
               ? (c->flags & TWPA_CHANGE_CASCADE ? ",restart-seqs" : "restart-seqs")
               : "",
             c->flags & TWPA_CHANGE_NONTRANSACTIONAL ? "immediate" : "");
  if (c->new_row.data != NULL && txn != NULL)
    show_long_values(t, txn, c->new_row);
  trace_say(t, "%s", "");
}

/* One more change that is not printed by itself. */
static void count_change(trace *t, const char *name, const twpa_change *c)
{
  trace_run_of_changes *run = &t->decode->run;
  if (run->count == 0 || strcmp(run->name, name) != 0 || run->kind != c->kind || run->xid != c->xid ||
      run->relation != c->locator.file) {
    consumer_flush(t);
    *run = (trace_run_of_changes){.kind = c->kind, .xid = c->xid, .relation = c->locator.file, .first = c->lsn};
    strncpy(run->name, name, sizeof run->name - 1);
  }
  run->count++;
  run->last = c->lsn;
}

/* Asks a delivery about the row versions that are watched: with its first change, when it can be asked. */
static void show_watched(trace *t, twpa_txn *txn)
{
  decode_half *d = t->decode;
  if (!d->ask || txn == NULL)
    return;
  d->ask = false;
  consumer_flush(t);
  for (size_t i = 0; i < d->nwatches; i++) {
    const trace_watch *w = &d->watches[i];
    twpa_locator locator = {1663, 5, (uint32_t)w->relation};
    twpa_cid cmin = TWPA_CID_NONE, cmax = TWPA_CID_NONE;
    twpa_status st = twpa_txn_tuplecid(txn, &cmin, &cmax, &locator, &w->tid);
    text_add(&t->out, "cid rel=%s tid=%" PRIu32 ":%u", relation_name(t, w->relation), w->tid.block, w->tid.line);
    if (st != TWPA_OK) {
      trace_say(t, " %s", st == TWPA_E_NOTFOUND ? "unknown" : twpa_status_name(st));
      continue;
    }
    for (int k = 0; k < 2; k++) {
      text_add(&t->out, k == 0 ? " cmin=" : " cmax=");
      if ((k == 0 ? cmin : cmax) == TWPA_CID_NONE)
        text_add(&t->out, "none");
      else
        text_add(&t->out, "%" PRIu32, k == 0 ? cmin : cmax);
    }
    trace_say(t, "%s", "");
  }
}

void consumer_change(trace *t, const char *name, twpa_txn *txn, const twpa_change *c)
{
  show_watched(t, c->flags & TWPA_CHANGE_NONTRANSACTIONAL ? NULL : txn);
  if (t->decode->print_changes == PRINT_ALL)
    show_change(t, name, txn, c);
  else if (t->decode->print_changes == PRINT_RUNS)
    count_change(t, name, c);
}

/* --- the callbacks --- */

static int on_begin(void *user, twpa_txn *txn)
{
  trace *t = user;
  begin_line(t, "begin", txn);
  trace_say(t, " first=%" PRIu64, twpa_txn_first_lsn(txn));
  t->decode->ask = true;
  return answer(t, "begin", NULL);
}

static int on_change(void *user, twpa_txn *txn, const twpa_change *c)
{
  consumer_change(user, "change", txn, c);
  return answer(user, "change", c);
}

static int on_truncate(void *user, twpa_txn *txn, const twpa_change *c)
{
  consumer_change(user, "change", txn, c);
  return answer(user, "truncate", c);
}

static int on_message(void *user, twpa_txn *txn, const twpa_change *c)
{
  bool now = (c->flags & TWPA_CHANGE_NONTRANSACTIONAL) != 0;
  consumer_change(user, "change", txn, c);
  return answer(user, "message", now ? NULL : c);
}

static int on_commit(void *user, twpa_txn *txn)
{
  trace *t = user;
  begin_line(t, "commit", txn);
  show_end(t, txn);
  trace_say(t, "%s", "");
  return answer(t, "commit", NULL);
}

static int on_filter_prepare(void *user, twpa_xid xid, twpa_bytes gid)
{
  const decode_half *d = ((trace *)user)->decode;
  (void)xid;
  return d->filter_gid != NULL && strlen(d->filter_gid) == gid.len && memcmp(d->filter_gid, gid.data, gid.len) == 0;
}

static int on_begin_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  trace *t = user;
  begin_line(t, "begin-prepare", txn);
  show_gid(t, gid);
  trace_say(t, " first=%" PRIu64, twpa_txn_first_lsn(txn));
  t->decode->ask = true;
  return answer(t, "begin-prepare", NULL);
}

static int end_line(trace *t, const char *name, twpa_txn *txn, const twpa_bytes *gid)
{
  begin_line(t, name, txn);
  if (gid != NULL)
    show_gid(t, *gid);
  show_end(t, txn);
  trace_say(t, "%s", "");
  return answer(t, name, NULL);
}

static int on_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  return end_line(user, "prepare", txn, &gid);
}

static int on_commit_prepared(void *user, twpa_txn *txn, twpa_bytes gid)
{
  return end_line(user, "commit-prepared", txn, &gid);
}

static int on_rollback_prepared(void *user, twpa_txn *txn, twpa_bytes gid, twpa_lsn prepare_end_lsn,
                                twpa_time prepare_time)
{
  trace *t = user;
  begin_line(t, "rollback-prepared", txn);
  show_gid(t, gid);
  text_add(&t->out, " prepare-end=%" PRIu64, prepare_end_lsn);
  if (prepare_time != 0)
    text_add(&t->out, " prepare-time=%" PRId64, prepare_time);
  show_end(t, txn);
  trace_say(t, "%s", "");
  return answer(t, "rollback-prepared", NULL);
}

static int on_stream_start(void *user, twpa_txn *txn, twpa_lsn first_lsn)
{
  trace *t = user;
  begin_line(t, "stream-start", txn);
  if (twpa_txn_origin(txn) != 0)
    text_add(&t->out, " origin=%" PRIu32, twpa_txn_origin(txn));
  trace_say(t, " first=%" PRIu64, first_lsn);
  t->decode->ask = true;
  return answer(t, "stream-start", NULL);
}

static int on_stream_stop(void *user, twpa_txn *txn, twpa_lsn last_lsn)
{
  trace *t = user;
  begin_line(t, "stream-stop", txn);
  trace_say(t, " last=%" PRIu64, last_lsn);
  return answer(t, "stream-stop", NULL);
}

static int on_stream_change(void *user, twpa_txn *txn, const twpa_change *c)
{
  consumer_change(user, "stream-change", txn, c);
  return answer(user, "stream-change", c);
}

static int on_stream_abort(void *user, twpa_txn *txn, twpa_xid xid, twpa_lsn lsn)
{
  trace *t = user;
  begin_line(t, "stream-abort", txn);
  trace_say(t, " aborted=%" PRIu64 " lsn=%" PRIu64, xid, lsn);
  return answer(t, "stream-abort", NULL);
}

static int on_stream_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  return end_line(user, "stream-prepare", txn, &gid);
}

static int on_stream_commit(void *user, twpa_txn *txn)
{
  return end_line(user, "stream-commit", txn, NULL);
}

static int on_filter_origin(void *user, uint32_t origin)
{
  const decode_half *d = ((trace *)user)->decode;
  return d->filter_origin != 0 && d->filter_origin == origin;
}

static int on_progress(void *user, twpa_txn *txn, twpa_lsn lsn)
{
  trace *t = user;
  if (t->decode->print_progress == 0)
    return answer(t, "progress", NULL);
  begin_line(t, "progress", txn);
  trace_say(t, " lsn=%" PRIu64, lsn);
  return answer(t, "progress", NULL);
}

/* --- the hooks --- */

static uint32_t on_xid_status(void *user, twpa_xid xid)
{
  const trace_xid_status *s = consumer_status(((trace *)user)->decode, xid);
  return s != NULL && s->hook ? s->status : TWPA_XID_IN_PROGRESS;
}

/* Is the call of a hook not printed by itself? Then it is counted, if it is printed at all. */
static bool hook_is_counted(trace *t, const char *name)
{
  static const twpa_change none = {0};
  if (t->decode->print_changes == PRINT_RUNS)
    count_change(t, name, &none);
  return t->decode->print_changes != PRINT_ALL;
}

static void on_invalidate(void *user, twpa_bytes content)
{
  trace *t = user;
  if (hook_is_counted(t, "invalidate"))
    return;
  begin_line(t, "invalidate content=", NULL);
  text_show(&t->out, content.data, content.len);
  trace_say(t, "%s", "");
}

static void on_invalidate_all(void *user)
{
  if (hook_is_counted(user, "invalidate-all"))
    return;
  begin_line(user, "invalidate-all", NULL);
  trace_say(user, "%s", "");
}

void consumer_init(trace *t)
{
  t->decode->output = (twpa_output){
    .struct_size = TWPA_OUTPUT_INIT, .begin = on_begin, .change = on_change, .truncate = on_truncate,
    .message = on_message, .commit = on_commit, .filter_prepare = on_filter_prepare,
    .begin_prepare = on_begin_prepare, .prepare = on_prepare, .commit_prepared = on_commit_prepared,
    .rollback_prepared = on_rollback_prepared, .stream_start = on_stream_start, .stream_stop = on_stream_stop,
    .stream_change = on_stream_change, .stream_truncate = on_stream_change, .stream_message = on_stream_change,
    .stream_abort = on_stream_abort, .stream_prepare = on_stream_prepare, .stream_commit = on_stream_commit,
    .filter_origin = on_filter_origin, .update_progress = on_progress};
  t->decode->hooks = (twpa_reorder_hooks){TWPA_REORDER_HOOKS_INIT, t, on_xid_status, on_invalidate, on_invalidate_all};
}
