/*
 * Sizes, lists and heaps that follow what a transaction holds. None of this can fail.
 *
 * The heaps are needed only over the memory limit. So a top whose size or state changes is put into a list, in place of
 * being moved in the heaps at once, and moved when a heap is asked for the largest; one that holds nothing any more leaves
 * at once. A transaction that is over before the limit is reached has never been in a heap.
 *
 * Until it is moved, a listed top may stand in a heap where it does not belong. Other elements may come and go meanwhile:
 * what is joined is compared by present sizes, so the order is broken between a listed top and its neighbours only, and
 * moving it mends that.
 */
#include "decode/reorder.h"

#include "base/assert.h"

/* Enough for transactions that come and go, little against what they hold. */
#define SPARE_BYTES ((size_t)1 << 20)

void twpa__account_spares(twpa_reorder *r)
{
  size_t share = r->memory_limit / 8;
  twpa__chunks_limit(&r->chunks, share < SPARE_BYTES ? share : SPARE_BYTES);
}

bool twpa__txn_may_stream(const twpa_txn *top)
{
  const uint32_t never = TWPA__TXN_ABORTED | TWPA__TXN_PREPARED | TWPA__TXN_SENT;
  return top->owner->can_stream && top->tree_bytes > 0 && !top->taken && twpa__txn_is(top, TWPA__TXN_STREAMABLE) &&
         !twpa__txn_is(top, never) && top->toast_xid == TWPA_XID_NONE && top->spec_xid == TWPA_XID_NONE;
}

static void settle(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  struct {
    twpa__heap *heap;
    twpa__heap_node *node;
    uint32_t flag;
    bool wanted;
  } heaps[2] = {{&r->sizes, &top->in_sizes, TWPA__TXN_IN_SIZES, top->tree_bytes > 0 && !top->taken},
                {&r->streams, &top->in_streams, TWPA__TXN_IN_STREAMS, twpa__txn_may_stream(top)}};
  for (int i = 0; i < 2; i++) {
    bool inside = twpa__txn_is(top, heaps[i].flag);
    if (inside && heaps[i].wanted)
      twpa__heap_update(heaps[i].heap, heaps[i].node);
    else if (inside)
      twpa__heap_remove(heaps[i].heap, heaps[i].node);
    else if (heaps[i].wanted)
      twpa__heap_push(heaps[i].heap, heaps[i].node);
    top->flags = heaps[i].wanted ? top->flags | heaps[i].flag : top->flags & ~heaps[i].flag;
  }
}

void twpa__account_heaps(twpa_txn *top)
{
  bool touched = twpa__link_is_linked(&top->in_touched);
  if (top->tree_bytes > 0 && !top->taken) {
    if (!touched)
      twpa__list_push_back(&top->owner->touched, &top->in_touched);
    return;
  }
  if (touched)
    twpa__list_remove(&top->in_touched);
  if (twpa__txn_is(top, TWPA__TXN_IN_SIZES | TWPA__TXN_IN_STREAMS))
    settle(top);
}

void twpa__account_settle(twpa_reorder *r)
{
  twpa__link *link;
  while ((link = twpa__list_first(&r->touched)) != NULL) {
    twpa__list_remove(link);
    settle(TWPA__CONTAINER_OF(link, twpa_txn, in_touched));
  }
}

static void set_linked(twpa__list *list, twpa__link *link, bool wanted)
{
  if (wanted == twpa__link_is_linked(link))
    return;
  if (wanted)
    twpa__list_push_back(list, link);
  else
    twpa__list_remove(link);
}

void twpa__account_lists(twpa_txn *txn)
{
  twpa_txn *top = twpa__txn_top(txn);
  set_linked(&top->busy, &txn->in_busy, twpa__txn_changes(txn) > 0);
  set_linked(&top->mem, &txn->in_mem, txn->nmem > 0);
}

void twpa__account_weight(twpa_txn *txn, size_t old_bytes)
{
  size_t bytes = txn->arena.bytes;
  twpa_txn *top = twpa__txn_top(txn);
  TWPA__ASSERT(top->tree_bytes >= old_bytes);
  top->tree_bytes = top->tree_bytes - old_bytes + bytes;
  txn->owner->memory_bytes = txn->owner->memory_bytes - old_bytes + bytes;
  twpa__account_heaps(top);
}

void twpa__account_catalog_of(twpa_txn *txn)
{
  twpa__account_catalog(txn);
  twpa__account_catalog(twpa__txn_top(txn));
}

void twpa__account_catalog(twpa_txn *txn)
{
  if (twpa__txn_is(txn, TWPA__TXN_CATALOG))
    return;
  txn->flags |= TWPA__TXN_CATALOG;
  twpa__list_push_back(&txn->owner->catalog, &txn->in_catalog);
}
