/*
 * The events of a log, as calls of the buffer. Before the start position the host does what a host has to do: commits
 * there are only forgotten, prepares skipped, messages outside of transactions left out, nothing is streamed.
 */
#include "decode.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPACE 1663
#define DATABASE 5
#define TOAST_RELATION 1

/* What the call has returned; the lines of changes that were held together end with the call. */
static bool done(trace *t, twpa_status st)
{
  consumer_flush(t);
  return trace_status(t, st);
}

static bool before_start(const trace *t, const trace_command *c)
{
  return c->lsn < t->decode->start;
}

/* The record of an event; the buffer is there afterwards, or *closed says that it could not be made. */
static bool record_of(trace *t, const trace_command *c, twpa_record *record, bool *closed)
{
  decode_half *d = t->decode;
  *record = (twpa_record){.lsn = c->lsn, .end_lsn = c->end_lsn};
  if (!arg_number(t, c, NULL, &record->xid, 0, UINT64_MAX) ||
      !arg_number(t, c, "top", &record->top_xid, 0, UINT64_MAX) || !arg_u32(t, c, "origin", &record->origin))
    return false;
  *closed = !decode_open(t);
  if (*closed || d->streaming == 0)
    return true;
  bool on = !before_start(t, c);
  if (on == d->streaming_on)
    return true;
  twpa_status st = twpa_reorder_set_streaming(d->reorder, on);
  d->streaming_on = on;
  return trace_status(t, st);
}

static bool queue(trace *t, const trace_command *c, const twpa_change *change)
{
  twpa_record record;
  bool closed;
  if (!record_of(t, c, &record, &closed))
    return false;
  return closed || done(t, twpa_reorder_queue(t->decode->reorder, &record, change));
}

bool event_touch(trace *t, const trace_command *c)
{
  twpa_record record;
  bool closed;
  return record_of(t, c, &record, &closed) && (closed || done(t, twpa_reorder_touch(t->decode->reorder, &record)));
}

bool event_row(trace *t, const trace_command *c)
{
  static const char names[] = "?|insert|update|delete|?|?|spec-insert";
  twpa_change change = {.kind = (uint32_t)choice_of(c->verb->name, strlen(c->verb->name), names)};
  trace_text old_row = {0}, new_row = {0};
  uint64_t relation = 0;
  uint32_t flags = 0;
  bool has_old, has_new;
  if (!arg_relation(t, c, "rel", &relation) || !arg_flags(t, c, "flags", &flags, "more|quiet"))
    return false;
  if (relation != 0)
    change.locator = (twpa_locator){SPACE, DATABASE, (uint32_t)relation};
  change.flags = (flags & 1 ? TWPA_CHANGE_MORE : 0) | (flags & 2 ? TWPA_CHANGE_QUIET : 0);
  bool ok = arg_row(t, c, "old", &old_row, &has_old) && arg_row(t, c, "new", &new_row, &has_new);
  if (ok) {
    if (has_old)
      change.old_row = (twpa_bytes){text_get(&old_row), old_row.len};
    if (has_new)
      change.new_row = (twpa_bytes){text_get(&new_row), new_row.len};
    ok = queue(t, c, &change);
  }
  text_free(&old_row);
  text_free(&new_row);
  return ok;
}

bool event_spec_end(trace *t, const trace_command *c)
{
  twpa_change change = {.kind = strcmp(c->verb->name, "spec-confirm") == 0 ? TWPA_SPEC_CONFIRM : TWPA_SPEC_ABORT};
  return queue(t, c, &change);
}

bool event_truncate(trace *t, const trace_command *c)
{
  uint64_t *relations;
  size_t n;
  uint32_t flags = 0;
  if (!arg_flags(t, c, "flags", &flags, "cascade|restart-seqs") || !arg_relations(t, c, "rels", &relations, &n))
    return false;
  twpa_change change = {.kind = TWPA_TRUNCATE, .relations = relations, .nrelations = n};
  change.flags = (flags & 1 ? TWPA_CHANGE_CASCADE : 0) | (flags & 2 ? TWPA_CHANGE_RESTART_SEQS : 0);
  bool ok = queue(t, c, &change);
  free(relations);
  return ok;
}

bool event_message(trace *t, const trace_command *c)
{
  trace_text prefix = {0}, content = {0};
  uint32_t flags = 0;
  bool has_prefix, has_content;
  if (!arg_flags(t, c, "flags", &flags, "immediate"))
    return false;
  bool ok = arg_bytes(t, c, "prefix", &prefix, &has_prefix) && arg_bytes(t, c, "content", &content, &has_content);
  if (ok && !(flags != 0 && before_start(t, c))) {
    twpa_change change = {.kind = TWPA_MESSAGE,
                          .flags = flags != 0 ? TWPA_CHANGE_NONTRANSACTIONAL : 0,
                          .prefix = {text_get(&prefix), prefix.len},
                          .content = {text_get(&content), content.len}};
    ok = queue(t, c, &change);
  } else if (ok)
    ok = event_touch(t, c);
  text_free(&prefix);
  text_free(&content);
  return ok;
}

bool event_toast(trace *t, const trace_command *c)
{
  trace_text data = {0};
  bool present;
  uint32_t seq = 0;
  twpa_change change = {.kind = TWPA_TOAST_CHUNK, .toast_relation = TOAST_RELATION};
  if (!arg_need(t, c, "value") || !arg_number(t, c, "value", &change.toast_value, 0, UINT64_MAX) ||
      !arg_u32(t, c, "seq", &seq))
    return false;
  change.toast_sequence = seq;
  bool ok = arg_bytes(t, c, "data", &data, &present);
  change.content = (twpa_bytes){text_get(&data), data.len};
  ok = ok && queue(t, c, &change);
  text_free(&data);
  return ok;
}

bool event_invalidation(trace *t, const trace_command *c)
{
  trace_text content = {0};
  bool present;
  bool ok = arg_bytes(t, c, "content", &content, &present);
  twpa_change change = {.kind = TWPA_INVALIDATION, .content = {text_get(&content), content.len}};
  ok = ok && queue(t, c, &change);
  text_free(&content);
  return ok;
}

bool event_command_id(trace *t, const trace_command *c)
{
  twpa_change change = {.kind = TWPA_COMMAND};
  return arg_need(t, c, "id") && arg_u32(t, c, "id", &change.command_id) && queue(t, c, &change);
}

/* BLOCK:LINE */
static bool arg_tid(trace *t, const trace_command *c, const char *key, twpa_tid *tid)
{
  const trace_word *w = arg_of(c, key);
  uint64_t block = 0, line = 0;
  const char *colon = w != NULL ? strchr(w->value, ':') : NULL;
  if (w == NULL)
    return true;
  if (colon == NULL)
    return arg_fail(t, c, key, "expected BLOCK:LINE, not '%.40s'", w->value);
  char *first = host_copy(w->value, (size_t)(colon - w->value));
  bool ok = trace_number(first, &block, 0, UINT32_MAX, arg_place(c, key), t->err) &&
            trace_number(colon + 1, &line, 1, UINT16_MAX, arg_place(c, key), t->err);
  free(first);
  *tid = (twpa_tid){.block = (uint32_t)block, .line = (uint16_t)line};
  return ok;
}

bool event_new_cid(trace *t, const trace_command *c)
{
  twpa_new_cid cid = {.cmin = TWPA_CID_NONE, .cmax = TWPA_CID_NONE, .combo_cid = TWPA_CID_NONE};
  twpa_record record;
  uint64_t relation = 0;
  bool closed;
  if (!arg_need(t, c, "rel") || !arg_need(t, c, "tid") || !arg_relation(t, c, "rel", &relation) ||
      !arg_tid(t, c, "tid", &cid.tid) || !arg_u32(t, c, "cmin", &cid.cmin) || !arg_u32(t, c, "cmax", &cid.cmax) ||
      !record_of(t, c, &record, &closed))
    return false;
  cid.locator = (twpa_locator){SPACE, DATABASE, (uint32_t)relation};
  cid.top_xid = record.top_xid != 0 ? record.top_xid : record.xid;
  return closed || done(t, twpa_reorder_new_cid(t->decode->reorder, &record, &cid));
}

bool do_watch_cid(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  trace_watch watch = {0};
  if (!arg_need(t, c, "rel") || !arg_relation(t, c, "rel", &watch.relation) || !arg_tid(t, c, NULL, &watch.tid))
    return false;
  d->watches = host_grow(d->watches, &d->watches_cap, d->nwatches, sizeof *d->watches);
  d->watches[d->nwatches++] = watch;
  return true;
}

bool event_assign(trace *t, const trace_command *c)
{
  twpa_record record;
  bool closed;
  if (!arg_need(t, c, "top") || !record_of(t, c, &record, &closed))
    return false;
  return closed || done(t, twpa_reorder_assign(t->decode->reorder, record.top_xid, record.xid, record.lsn));
}

/* What an end record says. The list of subtransactions is to be freed. */
static bool end_of(trace *t, const trace_command *c, twpa_record *record, twpa_commit *end, uint64_t **subs,
                   bool *closed)
{
  uint64_t time = 0;
  *end = (twpa_commit){0};
  *subs = NULL;
  if (!arg_number(t, c, "time", &time, 0, INT64_MAX) || !arg_position(t, c, "origin-lsn", &end->origin_lsn) ||
      !record_of(t, c, record, closed) || !arg_numbers(t, c, "subs", subs, &end->nsubxids))
    return false;
  end->subxids = *subs;
  end->time = (twpa_time)time;
  return true;
}

bool event_end(trace *t, const trace_command *c)
{
  twpa_record record;
  twpa_commit end;
  uint64_t *subs;
  bool closed;
  if (!end_of(t, c, &record, &end, &subs, &closed))
    return false;
  twpa_reorder *r = t->decode->reorder;
  twpa_status st = TWPA_OK;
  if (closed)
    st = TWPA_OK;
  else if (strcmp(c->verb->name, "abort") == 0)
    st = twpa_reorder_abort(r, &record, &end);
  else if (strcmp(c->verb->name, "forget") == 0 || before_start(t, c))
    st = twpa_reorder_forget(r, &record, &end);
  else
    st = twpa_reorder_commit(r, &record, &end);
  free(subs);
  return done(t, st);
}

static bool arg_gid(trace *t, const trace_command *c, trace_text *gid)
{
  bool present;
  return arg_need(t, c, "gid") && arg_bytes(t, c, "gid", gid, &present);
}

bool event_prepare(trace *t, const trace_command *c)
{
  twpa_record record;
  twpa_commit end;
  uint64_t *subs;
  trace_text gid = {0};
  bool closed;
  bool ok = arg_gid(t, c, &gid) && end_of(t, c, &record, &end, &subs, &closed);
  if (ok) {
    twpa_reorder *r = t->decode->reorder;
    twpa_bytes name = {text_get(&gid), gid.len};
    twpa_status st;
    if (closed)
      st = TWPA_OK;
    else if (strcmp(c->verb->name, "skip-prepare") == 0 || before_start(t, c))
      st = twpa_reorder_skip_prepare(r, &record, &end, name);
    else
      st = twpa_reorder_prepare(r, &record, &end, name);
    free(subs);
    done(t, st);
  }
  text_free(&gid);
  return ok;
}

bool event_end_prepared(trace *t, const trace_command *c)
{
  twpa_record record;
  twpa_commit end;
  uint64_t *subs;
  trace_text gid = {0};
  bool closed;
  bool ok = arg_gid(t, c, &gid) && end_of(t, c, &record, &end, &subs, &closed);
  if (ok) {
    twpa_reorder *r = t->decode->reorder;
    twpa_bytes name = {text_get(&gid), gid.len};
    bool commit = strcmp(c->verb->name, "commit-prepared") == 0;
    twpa_status st;
    if (closed)
      st = TWPA_OK;
    else if (commit && before_start(t, c))
      st = twpa_reorder_forget(r, &record, &end);
    else if (commit)
      st = twpa_reorder_commit_prepared(r, &record, &end, name);
    else if (before_start(t, c))
      st = twpa_reorder_abort(r, &record, &end);
    else
      st = twpa_reorder_rollback_prepared(r, &record, &end, name);
    free(subs);
    done(t, st);
  }
  text_free(&gid);
  return ok;
}

bool event_running(trace *t, const trace_command *c)
{
  twpa_record record;
  uint64_t oldest = 0;
  bool closed;
  if (!arg_need(t, c, "oldest") || !arg_number(t, c, "oldest", &oldest, 0, UINT64_MAX) ||
      !record_of(t, c, &record, &closed))
    return false;
  return closed || done(t, twpa_reorder_abort_before(t->decode->reorder, oldest));
}

bool event_distribute(trace *t, const trace_command *c)
{
  twpa_record record;
  trace_text content = {0};
  bool present, closed;
  bool ok = arg_bytes(t, c, "content", &content, &present) && record_of(t, c, &record, &closed);
  if (ok && !closed)
    done(t, twpa_reorder_distribute(t->decode->reorder, &record,
                                    (twpa_bytes){text_get(&content), content.len}));
  text_free(&content);
  return ok;
}
