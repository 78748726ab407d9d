/* Transactions end: commits, aborts, and those that nobody wants. */
#include "decode/reorder.h"

#include "base/assert.h"
#include "decode/stream.h"

twpa__end twpa__txn_set_end(twpa_txn *top, const twpa_record *record, const twpa_commit *end)
{
  twpa__end old = {.final_lsn = top->final_lsn, .end_lsn = top->end_lsn, .origin_lsn = top->origin_lsn,
                   .time = top->time, .origin = top->origin};
  top->final_lsn = record->lsn;
  top->end_lsn = record->end_lsn;
  top->time = end->time;
  top->origin = record->origin;
  top->origin_lsn = end->origin_lsn;
  return old;
}

void twpa__txn_restore_end(twpa_txn *top, const twpa__end *end)
{
  top->final_lsn = end->final_lsn;
  top->end_lsn = end->end_lsn;
  top->time = end->time;
  top->origin = end->origin;
  top->origin_lsn = end->origin_lsn;
}

/* --- commit --- */

bool twpa__any_aborted(twpa_reorder *r, const twpa_txn *top, const twpa_commit *end)
{
  if (twpa__txn_is(top, TWPA__TXN_ABORTED))
    return true;
  for (size_t i = 0; i < end->nsubxids; i++) {
    const twpa_txn *sub = twpa__txn_find(r, end->subxids[i]);
    if (sub != NULL && twpa__txn_is(sub, TWPA__TXN_ABORTED))
      return true;
  }
  return false;
}

twpa_status twpa__txn_forget(twpa_txn *top)
{
  if (twpa__txn_is(top, TWPA__TXN_STREAMED))
    return TWPA_E_STATE;
  twpa__invalidate_tree(top);
  twpa__txn_drop(top);
  return TWPA_OK;
}

twpa_status twpa__txn_commit(twpa_txn *top, const twpa_record *record, const twpa_commit *end)
{
  twpa_reorder *r = top->owner;
  if (twpa__any_aborted(r, top, end))
    return TWPA_E_STATE;
  twpa__end old = twpa__txn_set_end(top, record, end);
  bool taken = false;
  twpa_status st = twpa__txn_is(top, TWPA__TXN_STREAMED) ? twpa__stream_commit(top) : twpa__deliver_commit(top, &taken);
  twpa__invalidate_after(top);
  if (st != TWPA_OK) {
    twpa__txn_restore_end(top, &old);
    return st;
  }
  if (taken)
    twpa__txn_detach(top);
  else
    twpa__txn_drop(top);
  r->offered = NULL; /* from here on the host may give it back */
  return TWPA_OK;
}

static twpa_status end_call(twpa_reorder *r, const twpa_record *record, const twpa_commit *end, bool wanted)
{
  if (record == NULL || end == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  twpa_txn *top;
  st = twpa__kin_end(r, &top, record->xid, record, end);
  if (st == TWPA_OK && top != NULL) {
    /* A host that starts behind the end of a prepared transaction skips its prepare, then forgets it. */
    if (twpa__txn_is(top, wanted ? TWPA__TXN_PREPARED : TWPA__TXN_SENT))
      st = TWPA_E_STATE;
    else if (wanted && !twpa__origin_filtered(r, record->origin))
      st = twpa__txn_commit(top, record, end);
    else
      st = twpa__txn_forget(top);
  }
  return twpa__reorder_leave(r, record, st);
}

twpa_status twpa_reorder_commit(twpa_reorder *r, const twpa_record *record, const twpa_commit *end)
{
  return end_call(r, record, end, true);
}

twpa_status twpa_reorder_forget(twpa_reorder *r, const twpa_record *record, const twpa_commit *end)
{
  return end_call(r, record, end, false);
}

/* --- abort --- */

/* Tells a stream, if it knows this xid. */
static twpa_status tell_abort(twpa_txn *txn, twpa_lsn lsn)
{
  twpa_txn *top = twpa__txn_top(txn);
  twpa_reorder *r = top->owner;
  uint32_t flag = txn == top ? TWPA__TXN_STREAMED : TWPA__TXN_DELIVERED;
  if (!twpa__txn_is(txn, flag))
    return TWPA_OK;
  return twpa__callback_status(r->output.stream_abort(r->output_user, top, txn->xid, lsn));
}

static twpa_status abort_one(twpa_txn *txn, twpa_lsn lsn)
{
  twpa_reorder *r = txn->owner;
  twpa_status st = tell_abort(txn, lsn);
  if (st != TWPA_OK)
    return st;
  if (twpa__txn_is(twpa__txn_top(txn), TWPA__TXN_STREAMED))
    twpa__invalidate_txn(txn);
  r->stats.aborted_txns++;
  twpa__txn_drop(txn);
  return TWPA_OK;
}

twpa_status twpa__txn_abort(twpa_txn *txn, twpa_lsn lsn)
{
  twpa__link *link;
  while ((link = twpa__list_first(&txn->subs)) != NULL) {
    twpa_status st = abort_one(TWPA__CONTAINER_OF(link, twpa_txn, node), lsn);
    if (st != TWPA_OK)
      return st;
  }
  return abort_one(txn, lsn);
}

/*
 * A listed subtransaction must not be known as somebody else's. An abort record does not tell the top: the transaction
 * that it ends may be a subtransaction that is not known to be one, and has no subtransactions in our sense then.
 */
static twpa_status check_aborted(twpa_reorder *r, const twpa_txn *txn, const twpa_record *record,
                                 const twpa_commit *end)
{
  if (record->xid < TWPA_XID_FIRST_NORMAL || (end->subxids == NULL && end->nsubxids > 0))
    return TWPA_E_INVAL;
  const twpa_txn *top = txn != NULL && txn->top != NULL ? txn->top : txn;
  if (top != NULL && twpa__txn_is(top, txn == top ? TWPA__TXN_SENT : TWPA__TXN_PREPARED))
    return TWPA_E_STATE;
  for (size_t i = 0; i < end->nsubxids; i++) {
    if (end->subxids[i] < TWPA_XID_FIRST_NORMAL || end->subxids[i] == record->xid)
      return TWPA_E_INVAL;
    const twpa_txn *sub = twpa__txn_find(r, end->subxids[i]);
    if (sub == NULL)
      continue;
    const twpa_txn *whole = sub->top != NULL ? sub->top : sub;
    if (whole != txn && twpa__txn_is(whole, TWPA__TXN_PREPARED))
      return TWPA_E_STATE;
    bool known = txn != NULL && (txn->top != NULL || txn->nsubs > 0);
    if (sub->nsubs > 0 || (known && sub->top != NULL && sub->top != top))
      return TWPA_E_STATE;
  }
  return TWPA_OK;
}

static twpa_status abort_listed(twpa_reorder *r, twpa_txn *txn, const twpa_record *record, const twpa_commit *end)
{
  twpa_lsn lsn = record->end_lsn != TWPA_LSN_NONE ? record->end_lsn : record->lsn;
  for (size_t i = 0; i < end->nsubxids; i++) {
    twpa_txn *sub = twpa__txn_find(r, end->subxids[i]);
    twpa_status st = sub != NULL ? twpa__txn_abort(sub, lsn) : TWPA_OK;
    if (st != TWPA_OK)
      return st;
  }
  return txn != NULL ? twpa__txn_abort(txn, lsn) : TWPA_OK;
}

twpa_status twpa_reorder_abort(twpa_reorder *r, const twpa_record *record, const twpa_commit *end)
{
  if (record == NULL || end == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  twpa_txn *txn = twpa__txn_find(r, record->xid);
  st = check_aborted(r, txn, record, end);
  if (st == TWPA_OK)
    st = abort_listed(r, txn, record, end);
  return twpa__reorder_leave(r, record, st);
}

/* What is prepared does not end in a crash: that it has ended should have been told. */
static twpa_status check_lost(const twpa_reorder *r, twpa_xid oldest_running)
{
  const twpa_txn *txn = twpa_reorder_next_open(r, NULL);
  for (; txn != NULL && txn->xid < oldest_running; txn = twpa_reorder_next_open(r, txn))
    if (twpa__txn_is(txn, TWPA__TXN_PREPARED))
      return TWPA_E_STATE;
  return TWPA_OK;
}

twpa_status twpa_reorder_abort_before(twpa_reorder *r, twpa_xid oldest_running)
{
  twpa_status st = twpa__reorder_enter(r, NULL);
  if (st != TWPA_OK)
    return st;
  st = check_lost(r, oldest_running);
  twpa__link *link;
  while (st == TWPA_OK && (link = twpa__list_first(&r->open)) != NULL) {
    twpa_txn *txn = TWPA__CONTAINER_OF(link, twpa_txn, node);
    if (txn->xid >= oldest_running)
      break;
    st = twpa__txn_abort(txn, TWPA_LSN_NONE);
  }
  return twpa__reorder_leave(r, NULL, st);
}
