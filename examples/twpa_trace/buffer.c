/* The buffer of a trace: its options, restarts, limits, faults, and transactions that were taken. */
#include "decode.h"
#include "planning.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENT VERB_EVENT

const trace_verb decode_verbs[] = {
  {"touch", "XID", "top", event_touch, EVENT, txn_touch},
  {"insert", "XID", "top rel new flags origin", event_row, EVENT, txn_row},
  {"update", "XID", "top rel old new flags origin", event_row, EVENT, txn_row},
  {"delete", "XID", "top rel old flags origin", event_row, EVENT, txn_row},
  {"spec-insert", "XID", "top rel new flags origin", event_row, EVENT, NULL},
  {"spec-confirm", "XID", "top origin", event_spec_end, EVENT, NULL},
  {"spec-abort", "XID", "top origin", event_spec_end, EVENT, NULL},
  {"truncate", "XID", "top rels flags origin", event_truncate, EVENT, txn_truncate},
  {"message", "?XID", "top prefix content flags origin", event_message, EVENT, NULL},
  {"toast", "XID", "top value seq data origin", event_toast, EVENT, NULL},
  {"invalidation", "?XID", "top content", event_invalidation, EVENT, NULL},
  {"command", "XID", "top id", event_command_id, EVENT, NULL},
  {"new-cid", "XID", "top rel tid cmin cmax", event_new_cid, EVENT, NULL},
  {"assign", "XID", "top", event_assign, EVENT, NULL},
  {"commit", "XID", "subs time origin origin-lsn", event_end, EVENT, NULL},
  {"forget", "XID", "subs time origin origin-lsn", event_end, EVENT, NULL},
  {"abort", "XID", "subs time origin origin-lsn", event_end, EVENT, NULL},
  {"prepare", "XID", "gid subs time origin origin-lsn", event_prepare, EVENT, NULL},
  {"skip-prepare", "XID", "gid subs time origin origin-lsn", event_prepare, EVENT, NULL},
  {"commit-prepared", "XID", "gid subs time origin origin-lsn", event_end_prepared, EVENT, NULL},
  {"rollback-prepared", "XID", "gid subs time origin origin-lsn", event_end_prepared, EVENT, NULL},
  {"running", NULL, "oldest", event_running, EVENT, NULL},
  {"distribute", "XID", "content", event_distribute, EVENT, NULL},
  {"reorder", NULL,
   "memory streaming two-phase two-phase-at storage deliver start distributed hooks filter-origin filter-gid",
   do_reorder, 0, NULL},
  {"restart", NULL, "how from start", do_restart, 0, NULL},
  {"memory", "LIMIT", "", do_memory, 0, NULL},
  {"streaming", "on|off", "", do_streaming, 0, NULL},
  {"two-phase-at", "LSN", "", do_two_phase_at, 0, NULL},
  {"again", NULL, "", do_again, 0, NULL},
  {"fail", "storage|callback|allocation", "nth times how of", do_fail, 0, NULL},
  {"status", "XID", "is tell", do_status, 0, NULL},
  {"watch-cid", "TID", "rel", do_watch_cid, 0, NULL},
  {"print", NULL, "changes storage progress edges", do_print, 0, NULL},
  {"walk", "XID", "count", do_walk, 0, NULL},
  {"rewind", "XID", "", do_rewind, 0, NULL},
  {"release", "XID", "", do_release, 0, NULL},
  {"show", "WHAT", "", do_show, 0, NULL},
  {"expect", "FIGURE", "is min max", do_expect, 0, NULL},
  {NULL, NULL, NULL, NULL, 0, NULL},
};

struct decode_half *decode_new(void)
{
  decode_half *d = host_alloc(1, sizeof *d);
  d->storage_kind = STORAGE_MEMORY;
  d->use_hooks = 1;
  return d;
}

/* --- transactions taken --- */

static int on_take(void *user, twpa_txn *txn)
{
  trace *t = user;
  decode_half *d = t->decode;
  consumer_flush(t);
  trace_say(t, "take xid=%" PRIu64 " first=%" PRIu64 " lsn=%" PRIu64 " end=%" PRIu64, twpa_txn_xid(txn),
            twpa_txn_first_lsn(txn), twpa_txn_final_lsn(txn), twpa_txn_end_lsn(txn));
  if (trace_fault_hits(t, FAULT_CALLBACK, "take")) {
    trace_say(t, "fault take");
    return 7;
  }
  d->ask = true;
  d->taken = host_grow(d->taken, &d->taken_cap, d->ntaken, sizeof *d->taken);
  d->taken[d->ntaken++] = txn;
  return TWPA_CALLBACK_OK;
}

/* The place of a taken transaction. */
static bool find_taken(trace *t, const trace_command *c, size_t *place)
{
  const decode_half *d = t->decode;
  uint64_t xid = 0;
  if (!arg_number(t, c, NULL, &xid, 0, UINT64_MAX))
    return false;
  for (*place = 0; *place < d->ntaken; ++*place)
    if (twpa_txn_xid(d->taken[*place]) == xid)
      return true;
  return arg_fail(t, c, NULL, "no transaction %" PRIu64 " has been taken", xid);
}

bool do_walk(trace *t, const trace_command *c)
{
  size_t place;
  uint64_t count = UINT64_MAX;
  if (!find_taken(t, c, &place) || !arg_number(t, c, "count", &count, 0, UINT64_MAX))
    return false;
  for (uint64_t i = 0; i < count; i++) {
    twpa_change change;
    twpa_status st = twpa_txn_next(t->decode->taken[place], &change);
    if (st == TWPA_OK) {
      consumer_change(t, "next", t->decode->taken[place], &change);
      continue;
    }
    consumer_flush(t);
    if (st != TWPA_NONE)
      return trace_status(t, st);
    trace_say(t, "no more");
    return true;
  }
  consumer_flush(t);
  return true;
}

bool do_rewind(trace *t, const trace_command *c)
{
  size_t place;
  return find_taken(t, c, &place) && trace_status(t, twpa_txn_rewind(t->decode->taken[place]));
}

static void release(decode_half *d, size_t place)
{
  twpa_txn_release(d->taken[place]);
  d->ntaken--;
  memmove(&d->taken[place], &d->taken[place + 1], (d->ntaken - place) * sizeof *d->taken);
}

bool do_release(trace *t, const trace_command *c)
{
  size_t place;
  if (!find_taken(t, c, &place))
    return false;
  release(t->decode, place);
  return true;
}

/* Where transactions go on into the plan, those that were taken since go now. */
bool decode_hand_on(trace *t, trace_place at)
{
  decode_half *d = t->decode;
  bool ok = true;
  if (d->delivery != DELIVER_PLAN)
    return true;
  for (size_t i = 0; i < d->ntaken; i++) {
    if (ok)
      ok = plan_take(t, d->taken[i], at);
    else
      twpa_txn_release(d->taken[i]);
  }
  d->ntaken = 0;
  return ok;
}

/* --- life of the buffer --- */

bool decode_open(trace *t)
{
  decode_half *d = t->decode;
  twpa_storage storage;
  if (d->reorder != NULL)
    return true;
  consumer_init(t);
  d->output.take = d->delivery != DELIVER_CALLBACKS ? on_take : NULL;
  if (!storage_open(t))
    return false;
  twpa_reorder_options options = {.struct_size = TWPA_REORDER_OPTIONS_INIT,
                                  .memory_bytes = d->memory == 0 ? TWPA_MEMORY_UNLIMITED : (size_t)d->memory,
                                  .hooks = d->use_hooks ? &d->hooks : NULL,
                                  .storage = storage_hooks(t, &storage),
                                  .streaming = d->streaming,
                                  .two_phase = d->two_phase,
                                  .two_phase_at = d->two_phase_at,
                                  .distributed_bytes = (size_t)d->distributed};
  d->streaming_on = d->streaming != 0;
  twpa_status st = twpa_reorder_new(&d->reorder, &options, &d->output, t, &t->allocator);
  if (st == TWPA_OK)
    return true;
  storage_close(t, false);
  return !trace_status(t, st);
}

/* `crash`: what is in the storage stays, as if the process had ended. */
static void close_buffer(trace *t, bool crash)
{
  decode_half *d = t->decode;
  d->crashed = crash;
  while (d->ntaken > 0)
    release(d, d->ntaken - 1);
  if (d->reorder != NULL) {
    twpa_reorder_free(d->reorder);
    d->reorder = NULL;
    storage_close(t, crash);
  }
  d->crashed = false;
}

void decode_close(trace *t)
{
  close_buffer(t, false);
}

void decode_finish(trace *t)
{
  decode_half *d = t->decode;
  consumer_flush(t);
  close_buffer(t, false);
  storage_remove(t);
  free(d->statuses);
  free(d->watches);
  free(d->taken);
  free(d->filter_gid);
  free(d);
  t->decode = NULL;
}

static bool memory_limit(trace *t, const trace_command *c, const char *key, uint64_t *bytes)
{
  const trace_word *w = arg_of(c, key);
  if (w != NULL && strcmp(w->value, "unlimited") == 0) {
    *bytes = 0;
    return true;
  }
  return arg_number(t, c, key, bytes, 1, SIZE_MAX - 1);
}

bool do_reorder(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  trace_text gid = {0};
  bool has_gid;
  close_buffer(t, false);
  trace_new_log(t);
  d->memory = d->distributed = d->filter_origin = 0;
  d->streaming = d->two_phase = 0;
  d->delivery = DELIVER_CALLBACKS;
  d->storage_kind = STORAGE_MEMORY;
  d->use_hooks = 1;
  d->two_phase_at = d->start = 0;
  if (!memory_limit(t, c, "memory", &d->memory) || !arg_choice(t, c, "streaming", &d->streaming, "no|yes") ||
      !arg_choice(t, c, "two-phase", &d->two_phase, "no|yes") ||
      !arg_position(t, c, "two-phase-at", &d->two_phase_at) ||
      !arg_choice(t, c, "storage", &d->storage_kind, "none|memory|files") ||
      !arg_choice(t, c, "deliver", &d->delivery, "callbacks|take|plan") || !arg_position(t, c, "start", &d->start) ||
      !arg_number(t, c, "distributed", &d->distributed, 1, SIZE_MAX) ||
      !arg_choice(t, c, "hooks", &d->use_hooks, "no|yes") ||
      !arg_number(t, c, "filter-origin", &d->filter_origin, 1, UINT32_MAX))
    return false;
  bool ok = arg_bytes(t, c, "filter-gid", &gid, &has_gid);
  free(d->filter_gid);
  d->filter_gid = gid.data;
  if (ok)
    decode_open(t);
  return ok;
}

bool do_restart(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  uint32_t crash = 0;
  twpa_lsn from = 0;
  if (!arg_choice(t, c, "how", &crash, "clean|crash") || !arg_position(t, c, "from", &from) ||
      !arg_position(t, c, "start", &d->start))
    return false;
  close_buffer(t, crash != 0);
  if (!decode_open(t))
    return true;
  return !arg_has(c, "from") || trace_feed_again(t, from);
}

bool do_memory(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  if (!memory_limit(t, c, NULL, &d->memory))
    return false;
  if (!decode_open(t))
    return true;
  twpa_status st = twpa_reorder_set_memory_limit(d->reorder, d->memory == 0 ? TWPA_MEMORY_UNLIMITED
                                                                            : (size_t)d->memory);
  consumer_flush(t);
  return trace_status(t, st);
}

bool do_streaming(trace *t, const trace_command *c)
{
  uint32_t on = 0;
  if (!arg_choice(t, c, NULL, &on, "off|on"))
    return false;
  return !decode_open(t) || trace_status(t, twpa_reorder_set_streaming(t->decode->reorder, on));
}

bool do_two_phase_at(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  return arg_position(t, c, NULL, &d->two_phase_at) &&
         (!decode_open(t) || trace_status(t, twpa_reorder_set_two_phase_at(d->reorder, d->two_phase_at)));
}

bool do_again(trace *t, const trace_command *c)
{
  if (t->nlog == 0)
    return trace_fail(t->err, c->at, "there was no event before");
  trace_command last = t->log[t->nlog - 1];
  return last.verb->run(t, &last);
}

/* The calls that can fail: what of= may name. */
static const char *const faulty_calls[] = {
  [FAULT_STORAGE] = "write|read|remove",
  [FAULT_CALLBACK] = "begin|change|truncate|message|commit|begin-prepare|prepare|commit-prepared|rollback-prepared|"
                     "stream-start|stream-stop|stream-change|stream-abort|stream-prepare|stream-commit|progress|take",
};

bool do_fail(trace *t, const trace_command *c)
{
  uint32_t kind = 0, how = HOW_ERROR, call = 0;
  uint64_t nth = 1;
  uint32_t always = 0;
  const trace_word *of = arg_of(c, "of");
  if (!arg_choice(t, c, NULL, &kind, "storage|callback|allocation") ||
      !arg_number(t, c, "nth", &nth, 1, UINT64_MAX) || !arg_choice(t, c, "times", &always, "once|always|never") ||
      !arg_choice(t, c, "how", &how, "error|nomem|corrupt|damage|aborted"))
    return false;
  bool fits = how == HOW_ERROR || (kind == FAULT_CALLBACK ? how == HOW_ABORTED : how != HOW_ABORTED);
  if (!fits || (kind == FAULT_ALLOCATION && how != HOW_ERROR))
    return arg_fail(t, c, "how", "a call of this kind cannot fail like that");
  if (kind == FAULT_ALLOCATION && of != NULL)
    return arg_fail(t, c, "of", "allocations have no names");
  if (kind != FAULT_ALLOCATION && !arg_choice(t, c, "of", &call, faulty_calls[kind]))
    return false;
  trace_fault *f = &t->faults[kind];
  *f = (trace_fault){.armed = always != 2, .always = always == 1, .left = nth, .how = (enum trace_fault_how)how};
  if (of != NULL)
    strcpy(f->of, of->value);
  return true;
}

bool do_status(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  uint64_t xid = 0;
  uint32_t status = 0, tell = 0;
  if (!arg_need(t, c, "is") || !arg_number(t, c, NULL, &xid, 1, UINT64_MAX) ||
      !arg_choice(t, c, "is", &status, "in-progress|committed|aborted") ||
      !arg_choice(t, c, "tell", &tell, "both|hook|callback"))
    return false;
  trace_xid_status *s = consumer_status(d, xid);
  if (s == NULL) {
    d->statuses = host_grow(d->statuses, &d->statuses_cap, d->nstatuses, sizeof *d->statuses);
    s = &d->statuses[d->nstatuses++];
  }
  *s = (trace_xid_status){xid, status, tell != 2, tell != 1};
  return true;
}

bool do_print(trace *t, const trace_command *c)
{
  decode_half *d = t->decode;
  return arg_choice(t, c, "changes", &d->print_changes, "all|runs|none") &&
         arg_choice(t, c, "storage", &d->print_storage, "no|yes") &&
         arg_choice(t, c, "progress", &d->print_progress, "no|yes") &&
         arg_choice(t, c, "edges", &t->plan->print_edges, "via|plain|none");
}
