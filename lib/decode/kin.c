/*
 * Kinship: which transaction is a subtransaction of which. It may be learned before the first change, between
 * changes, or from the end record only; after it was learned, nothing shows when. So what had been counted on the
 * subtransaction while it passed for a top is added to the top: sizes, states, an incomplete row, the place in the
 * log where it began (and with it the restart point), and the version of the catalog after which it began.
 */
#include "decode/reorder.h"

#include "base/assert.h"
#include "decode/change.h"

/* Changes that should have gone out with a block that is closed cannot be put in order any more. */
static bool too_late(const twpa_txn *top, const twpa_txn *sub)
{
  if (top == NULL || !twpa__txn_is(top, TWPA__TXN_STREAMED) || twpa__txn_changes(sub) == 0)
    return false;
  uint64_t seq;
  if (sub->nsegments > 0)
    seq = sub->segments[0].first_seq;
  else
    seq = ((const twpa__rec *)(const void *)(sub->arena.first + 1))->seq;
  return seq < top->given_seq;
}

twpa_status twpa__kin_check(const twpa_txn *top, const twpa_txn *sub)
{
  const uint32_t given = TWPA__TXN_STREAMED | TWPA__TXN_PREPARED | TWPA__TXN_SKIPPED | TWPA__TXN_SENT;
  if (top != NULL && top->top != NULL)
    return TWPA_E_STATE;
  if (sub == NULL)
    return TWPA_OK;
  if (sub->top != NULL)
    return sub->top == top ? TWPA_OK : TWPA_E_STATE;
  if (sub->nsubs > 0 || twpa__txn_is(sub, given) || too_late(top, sub))
    return TWPA_E_STATE;
  return top != NULL && twpa__txn_is(top, TWPA__TXN_PREPARED) ? TWPA_E_STATE : TWPA_OK;
}

/* The subtransaction leaves the open ones; the top takes its place there if that is the older one. */
static void merge_place(twpa_txn *top, twpa_txn *sub)
{
  if (sub->first_lsn < top->first_lsn) {
    top->first_lsn = sub->first_lsn;
    top->restart_lsn = sub->restart_lsn;
    twpa__list_remove(&top->node);
    twpa__list_insert_before(&sub->node, &top->node);
  }
  twpa__list_remove(&sub->node);
  sub->owner->nopen--;
}

static void merge_base(twpa_txn *top, twpa_txn *sub)
{
  twpa__version *sub_base = sub->base;
  if (sub_base == NULL)
    return;
  sub->base = NULL;
  if (top->base == NULL || sub_base->seq < top->base->seq) {
    twpa__version *newer = top->base;
    top->base = sub_base;
    sub_base = newer;
  }
  if (sub_base != NULL)
    sub_base->users--;
}

static void merge_sizes(twpa_txn *top, twpa_txn *sub)
{
  size_t bytes = sub->tree_bytes;
  uint64_t changes = sub->tree_changes;
  sub->tree_bytes = 0;
  sub->tree_changes = 0;
  twpa__account_heaps(sub);
  if (twpa__link_is_linked(&sub->in_busy))
    twpa__list_remove(&sub->in_busy);
  if (twpa__link_is_linked(&sub->in_mem))
    twpa__list_remove(&sub->in_mem);
  top->tree_bytes += bytes;
  top->tree_changes += changes;
}

static void merge_states(twpa_txn *top, twpa_txn *sub)
{
  const uint32_t of_top = TWPA__TXN_CONTENT | TWPA__TXN_STREAMABLE;
  top->flags |= sub->flags & of_top;
  sub->flags &= ~of_top;
  if (twpa__txn_is(sub, TWPA__TXN_CATALOG))
    twpa__account_catalog(top);
  if (sub->toast_xid != TWPA_XID_NONE)
    top->toast_xid = sub->toast_xid;
  if (sub->spec_xid != TWPA_XID_NONE)
    top->spec_xid = sub->spec_xid;
  sub->toast_xid = sub->spec_xid = TWPA_XID_NONE;
}

twpa_status twpa__kin_link(twpa_reorder *r, twpa_xid top_xid, twpa_txn *sub, twpa_lsn lsn)
{
  if (top_xid == sub->xid || top_xid < TWPA_XID_FIRST_NORMAL)
    return TWPA_E_INVAL;
  twpa_txn *top = twpa__txn_find(r, top_xid);
  twpa_status st = twpa__kin_check(top, sub);
  if (st != TWPA_OK || sub->top != NULL)
    return st;
  if (top == NULL) {
    top = twpa__txn_make(r, top_xid, lsn);
    if (top == NULL)
      return TWPA_E_NOMEM;
    twpa__txn_open(top);
  }
  if (twpa__link_is_linked(&sub->node)) {
    merge_place(top, sub);
    merge_base(top, sub);
    merge_sizes(top, sub);
    merge_states(top, sub);
  }
  sub->top = top;
  twpa__list_push_back(&top->subs, &sub->node);
  top->nsubs++;
  r->nsubs++;
  twpa__account_lists(sub);
  twpa__account_heaps(top);
  return TWPA_OK;
}

/* Looks at all listed subtransactions before any is touched. *known: how many the buffer has. */
static twpa_status check_listed(twpa_reorder *r, size_t *known, const twpa_txn *top, twpa_xid xid,
                                const twpa_commit *end)
{
  *known = 0;
  if (end->subxids == NULL && end->nsubxids > 0)
    return TWPA_E_INVAL;
  for (size_t i = 0; i < end->nsubxids; i++) {
    if (end->subxids[i] == xid || end->subxids[i] < TWPA_XID_FIRST_NORMAL)
      return TWPA_E_INVAL;
    const twpa_txn *sub = twpa__txn_find(r, end->subxids[i]);
    twpa_status st = twpa__kin_check(top, sub);
    if (st != TWPA_OK)
      return st;
    *known += sub != NULL;
  }
  return TWPA_OK;
}

twpa_status twpa__kin_end(twpa_reorder *r, twpa_txn **top, twpa_xid xid, const twpa_record *record,
                          const twpa_commit *end)
{
  *top = twpa__txn_find(r, xid);
  if (*top != NULL)
    twpa__txn_prefetch_end(*top);
  if (xid < TWPA_XID_FIRST_NORMAL)
    return TWPA_E_INVAL;
  size_t known;
  twpa_status st = check_listed(r, &known, *top, xid, end);
  if (st == TWPA_OK && *top != NULL && (*top)->top != NULL)
    st = TWPA_E_STATE;
  for (size_t i = 0; st == TWPA_OK && known > 0 && i < end->nsubxids; i++) {
    twpa_txn *sub = twpa__txn_find(r, end->subxids[i]);
    if (sub != NULL)
      st = twpa__kin_link(r, xid, sub, record->lsn);
    if (st == TWPA_OK)
      r->last_lsn = record->lsn; /* the kinship stays, even if the call fails */
  }
  if (st == TWPA_OK)
    *top = twpa__txn_find(r, xid);
  return st;
}
