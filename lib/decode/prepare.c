/*
 * Two-phase commit. A transaction that is prepared is given out at once, or its prepare is skipped; either way its
 * record stays in the buffer until it is committed or rolled back, so that the restart point does not pass it.
 *
 *   open --prepare--> PREPARED SENT ------------------------- commit_prepared / rollback_prepared
 *   open --skip-----> PREPARED SKIPPED --(committed, and prepared before two_phase_at)--> SENT --- the same
 *   open --filtered-> open ------------------------------------ an ordinary commit or abort
 *
 * A skipped prepare after two_phase_at was given out in an earlier life of the host; only its end is told then. What is
 * empty is silent from beginning to end.
 */
#include "decode/run.h"
#include "decode/stream.h"

#include <string.h>

static twpa_bytes gid_of(const twpa_txn *top)
{
  return (twpa_bytes){top->gid, top->gid_len};
}

static bool one_phase(const twpa_reorder *r, twpa_xid xid, twpa_bytes gid)
{
  return !r->two_phase ||
         (r->output.filter_prepare != NULL && r->output.filter_prepare(r->output_user, xid, gid) != 0);
}

/* Only what is prepared has a name. */
static void clear_gid(twpa_txn *top)
{
  twpa__release(&top->owner->mem, top->gid, top->gid_len);
  top->gid = NULL;
  top->gid_len = 0;
}

static twpa_status set_gid(twpa_txn *top, twpa_bytes gid)
{
  char *copy = twpa__alloc(&top->owner->mem, gid.len);
  if (copy == NULL)
    return TWPA_E_NOMEM;
  memcpy(copy, gid.data, gid.len);
  top->gid = copy;
  top->gid_len = gid.len;
  return TWPA_OK;
}

/* Rolled back while it was being given out as prepared: the rest is dropped, the prepare is told nevertheless. */
static twpa_status send_prepare(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  const twpa_output *o = &r->output;
  twpa_bytes gid = gid_of(top);
  twpa_status st;
  if (twpa__txn_is(top, TWPA__TXN_STREAMED)) {
    st = twpa__stream(top, true);
    if (st == TWPA_OK)
      st = twpa__callback_status(o->stream_prepare(r->output_user, top, gid));
  } else {
    twpa__run run = {.change = o->change, .truncate = o->truncate, .message = o->message, .may_abort = true};
    st = twpa__callback_status(o->begin_prepare(r->output_user, top, gid));
    if (st == TWPA_OK)
      st = twpa__run_changes(&run, top);
    if (st == TWPA_OK)
      st = twpa__callback_status(o->prepare(r->output_user, top, gid));
    if (st == TWPA_OK && run.aborted != NULL)
      twpa__txn_mark_aborted(run.aborted);
    r->stats.delivered_txns += st == TWPA_OK;
    r->stats.toast_dropped += st == TWPA_OK ? run.toast_dropped : 0;
  }
  twpa__invalidate_after(top);
  if (st != TWPA_OK)
    return st;
  top->flags |= TWPA__TXN_SENT;
  twpa__tree_drop_tuplecids(top);
  twpa__tree_drop_changes(top);
  twpa__account_heaps(top);
  return TWPA_OK;
}

static twpa_status prepare(twpa_txn *top, const twpa_record *record, const twpa_commit *end, bool skip)
{
  twpa_reorder *r = top->owner;
  twpa__end old = twpa__txn_set_end(top, record, end);
  bool shown = twpa__txn_is(top, TWPA__TXN_CONTENT);
  if (!skip && shown) {
    twpa_status st = send_prepare(top);
    if (st != TWPA_OK) {
      twpa__txn_restore_end(top, &old);
      return st;
    }
  } else {
    twpa__invalidate_tree(top);
  }
  top->prepare_end_lsn = record->end_lsn != TWPA_LSN_NONE ? record->end_lsn : record->lsn;
  top->prepare_time = end->time;
  top->flags |= TWPA__TXN_PREPARED | (skip ? TWPA__TXN_SKIPPED : 0);
  top->last = r->versions.last;
  twpa__account_heaps(top); /* it cannot be streamed any more */
  return TWPA_OK;
}

static twpa_status prepare_inside(twpa_reorder *r, const twpa_record *record, const twpa_commit *end, twpa_bytes gid,
                                  bool skip)
{
  if (one_phase(r, record->xid, gid))
    return twpa__reorder_touch(r, record);
  twpa_txn *top;
  twpa_status st = twpa__kin_end(r, &top, record->xid, record, end);
  if (st != TWPA_OK || top == NULL)
    return st;
  if (twpa__txn_is(top, TWPA__TXN_PREPARED))
    return TWPA_E_STATE;
  skip |= twpa__origin_filtered(r, record->origin);
  if (skip && twpa__txn_is(top, TWPA__TXN_STREAMED))
    return TWPA_E_STATE;
  st = set_gid(top, gid);
  if (st == TWPA_OK)
    st = prepare(top, record, end, skip);
  if (st != TWPA_OK)
    clear_gid(top);
  return st;
}

static twpa_status prepare_call(twpa_reorder *r, const twpa_record *record, const twpa_commit *end, twpa_bytes gid,
                                bool skip)
{
  if (record == NULL || end == NULL || gid.data == NULL || gid.len == 0)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  return twpa__reorder_leave(r, record, prepare_inside(r, record, end, gid, skip));
}

twpa_status twpa_reorder_prepare(twpa_reorder *r, const twpa_record *record, const twpa_commit *end, twpa_bytes gid)
{
  return prepare_call(r, record, end, gid, false);
}

twpa_status twpa_reorder_skip_prepare(twpa_reorder *r, const twpa_record *record, const twpa_commit *end,
                                      twpa_bytes gid)
{
  return prepare_call(r, record, end, gid, true);
}

/* --- the end --- */

/* Prepared while two-phase was off: the prepare is made up for, with what its record said. */
static twpa_status send_skipped(twpa_txn *top)
{
  if (twpa__txn_is(top, TWPA__TXN_SENT) || top->final_lsn >= top->owner->two_phase_at)
    return TWPA_OK;
  return send_prepare(top);
}

static twpa_status finish(twpa_txn *top, const twpa_record *record, const twpa_commit *end, bool committed)
{
  twpa_reorder *r = top->owner;
  twpa_status st = TWPA_OK;
  if (twpa__txn_is(top, TWPA__TXN_CONTENT)) {
    if (committed)
      st = send_skipped(top);
    if (st != TWPA_OK)
      return st;
    twpa__end old = twpa__txn_set_end(top, record, end);
    twpa_bytes gid = gid_of(top);
    const twpa_output *o = &r->output;
    st = twpa__callback_status(
      committed ? o->commit_prepared(r->output_user, top, gid)
                : o->rollback_prepared(r->output_user, top, gid, top->prepare_end_lsn, top->prepare_time));
    if (st != TWPA_OK) {
      twpa__txn_restore_end(top, &old);
      return st;
    }
  }
  twpa__invalidate_tree(top);
  if (!committed)
    r->stats.aborted_txns += 1 + top->nsubs;
  twpa__txn_drop(top);
  return TWPA_OK;
}

static twpa_status finish_inside(twpa_reorder *r, const twpa_record *record, const twpa_commit *end, twpa_bytes gid,
                                 bool committed)
{
  twpa_txn *top = twpa__txn_find(r, record->xid);
  if (record->xid < TWPA_XID_FIRST_NORMAL)
    return TWPA_E_INVAL;
  if (one_phase(r, record->xid, gid))
    return TWPA_NONE;
  if (top == NULL)
    return TWPA_OK;
  if (!twpa__txn_is(top, TWPA__TXN_PREPARED))
    return TWPA_E_STATE;
  if (top->gid_len != gid.len || memcmp(top->gid, gid.data, gid.len) != 0)
    return TWPA_E_STATE;
  if (committed && twpa__any_aborted(r, top, end))
    return TWPA_E_STATE;
  if (!twpa__txn_is(top, TWPA__TXN_SENT) && twpa__origin_filtered(r, record->origin))
    return committed ? twpa__txn_forget(top) : twpa__txn_abort(top, record->lsn);
  return finish(top, record, end, committed);
}

static twpa_status finish_call(twpa_reorder *r, const twpa_record *record, const twpa_commit *end, twpa_bytes gid,
                               bool committed)
{
  if (record == NULL || end == NULL || gid.data == NULL || gid.len == 0 || (end->subxids == NULL && end->nsubxids > 0))
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  st = twpa__reorder_leave(r, record, finish_inside(r, record, end, gid, committed));
  if (st != TWPA_NONE)
    return st;
  return committed ? twpa_reorder_commit(r, record, end) : twpa_reorder_abort(r, record, end);
}

twpa_status twpa_reorder_commit_prepared(twpa_reorder *r, const twpa_record *record, const twpa_commit *end,
                                         twpa_bytes gid)
{
  return finish_call(r, record, end, gid, true);
}

twpa_status twpa_reorder_rollback_prepared(twpa_reorder *r, const twpa_record *record, const twpa_commit *end,
                                           twpa_bytes gid)
{
  return finish_call(r, record, end, gid, false);
}

twpa_status twpa_reorder_set_two_phase_at(twpa_reorder *r, twpa_lsn lsn)
{
  twpa_status st = twpa__reorder_enter(r, NULL);
  if (st != TWPA_OK)
    return st;
  r->two_phase_at = lsn;
  return twpa__reorder_leave(r, NULL, TWPA_OK);
}
