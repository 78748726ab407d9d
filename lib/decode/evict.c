/*
 * The memory limit. While the changes in memory are not below it, the largest transaction that can be streamed is
 * streamed; if there is none, the largest one is spilled, with its subtransactions. What the host knows to be
 * rolled back is dropped instead. Each of these empties the memory of its transaction, so the loop ends.
 *
 * The victim is a top-level transaction with all its subtransactions: they come and go together, and a spill of many
 * small subtransactions is one file. A subtransaction that is not known to be one is a victim by itself.
 */
#include "decode/evict.h"

#include "base/assert.h"
#include "decode/spill.h"
#include "decode/store.h"
#include "decode/stream.h"

/* From this size on a subtransaction spills into a file of its own, which goes when it is rolled back. */
#define OWN_FILE_BYTES ((size_t)256 << 10)

/* --- rolled back --- */

static bool known_aborted(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  if (r->hooks.xid_status == NULL || twpa__txn_is(txn, TWPA__TXN_COMMITTED | TWPA__TXN_ABORTED))
    return twpa__txn_is(txn, TWPA__TXN_ABORTED);
  uint32_t status = r->hooks.xid_status(r->hooks.user, txn->xid);
  if (status == TWPA_XID_COMMITTED)
    txn->flags |= TWPA__TXN_COMMITTED;
  else if (status == TWPA_XID_ABORTED)
    twpa__txn_mark_aborted(txn);
  return status == TWPA_XID_ABORTED;
}

/* An incomplete row that was dropped holds up streaming no longer. */
static void forget_partial(twpa_txn *top, twpa_xid xid)
{
  if (top->toast_xid == xid)
    top->toast_xid = TWPA_XID_NONE;
  if (top->spec_xid == xid)
    top->spec_xid = TWPA_XID_NONE;
}

/* Drops what was rolled back of a top and its subtransactions. */
static void drop_aborted(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  if (r->hooks.xid_status == NULL)
    return;
  if (known_aborted(top)) {
    twpa__tree_drop_changes(top);
    top->toast_xid = top->spec_xid = TWPA_XID_NONE;
  }
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->mem, it, tmp) {
    twpa_txn *txn = TWPA__CONTAINER_OF(it, twpa_txn, in_mem);
    if (!known_aborted(txn))
      continue;
    twpa__txn_drop_changes(txn);
    forget_partial(top, txn->xid);
  }
  twpa__account_heaps(top);
}

/* --- spilling --- */

TWPA__STATIC_ASSERT(sizeof(twpa__chunk) == TWPA__BLOCK_HEADER, "a chunk is written as a block as it is");

static twpa_status spill_chunk(twpa_txn *txn, twpa__file *file)
{
  twpa_reorder *r = txn->owner;
  twpa__chunk *chunk = txn->arena.first;
  size_t block_bytes = TWPA__BLOCK_HEADER + twpa__arena_chunk_used(&txn->arena, chunk);
  twpa__segment segment;
  twpa_status st = twpa__segments_reserve(txn);
  if (st == TWPA_OK) {
    twpa__chunk header = *chunk; /* its place is lent to that of the block */
    st = twpa__block_write(r->storage, &segment, file, txn->xid, chunk, block_bytes);
    *chunk = header;
  }
  if (st != TWPA_OK)
    return st;
  twpa__segments_add(txn, &segment);
  size_t bytes = txn->arena.bytes;
  if (chunk->next != NULL)
    twpa__arena_drop_before(&txn->arena, chunk->next);
  else
    twpa__arena_clear(&txn->arena);
  txn->nmem -= segment.count;
  txn->nstored += segment.count;
  txn->epoch += txn->nmem == 0;
  twpa__account_lists(txn);
  twpa__account_arena(txn, bytes);
  r->stats.spilled_txns += !twpa__txn_is(txn, TWPA__TXN_SPILLED);
  txn->flags |= TWPA__TXN_SPILLED;
  r->stats.spilled_blocks++;
  r->stats.spilled_bytes += segment.bytes;
  return TWPA_OK;
}

/* Chunk by chunk; what was written before a failure stays written. */
static twpa_status spill(twpa_txn *txn)
{
  twpa_txn *top = twpa__txn_top(txn);
  twpa__file *file = twpa__file_of(twpa__arena_used(&txn->arena) >= OWN_FILE_BYTES ? txn : top);
  if (file == NULL)
    return TWPA_E_NOMEM;
  twpa_status st = TWPA_OK;
  while (st == TWPA_OK && txn->arena.first != NULL)
    st = spill_chunk(txn, file);
  return st;
}

static twpa_status spill_tree(twpa_txn *top)
{
  twpa_status st = TWPA_OK;
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->mem, it, tmp) {
    st = spill(TWPA__CONTAINER_OF(it, twpa_txn, in_mem));
    if (st != TWPA_OK)
      break;
  }
  return st;
}

/* --- streaming --- */

/* What others see of the catalog is not what this transaction sees: of others, what came after the last change. */
static twpa_status stream(twpa_txn *top)
{
  twpa_status st = twpa__stream(top, true);
  twpa__invalidate_tree(top);
  twpa__invalidate_versions(top, twpa__txn_version(top));
  return st;
}

/* --- the loop --- */

static twpa_txn *largest(twpa_reorder *r, bool *streams)
{
  twpa__account_settle(r);
  twpa__heap_node *node = r->streaming ? twpa__heap_first(&r->streams) : NULL;
  *streams = node != NULL;
  if (node != NULL)
    return TWPA__CONTAINER_OF(node, twpa_txn, in_streams);
  node = r->storage != NULL ? twpa__heap_first(&r->sizes) : NULL;
  return node != NULL ? TWPA__CONTAINER_OF(node, twpa_txn, in_sizes) : NULL;
}

twpa_status twpa__evict(twpa_reorder *r)
{
  if (r->memory_bytes < r->memory_limit)
    return TWPA_OK;
  r->stats.limit_exceeded++;
  while (r->memory_bytes >= r->memory_limit) {
    bool streams;
    size_t before = r->memory_bytes;
    twpa_txn *top = largest(r, &streams);
    if (top == NULL)
      break;
    drop_aborted(top);
    if (r->memory_bytes < before)
      continue;
    twpa_status st = streams ? stream(top) : spill_tree(top);
    if (st != TWPA_OK)
      return st;
    TWPA__ASSERT(r->memory_bytes < before && top->tree_bytes == 0);
  }
  return TWPA_OK;
}

twpa_status twpa__evict_or_stream(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  twpa_txn *top = twpa__txn_top(txn);
  /* It was spilled only because a row was incomplete: now it can be streamed. */
  if (r->streaming && txn->nsegments > 0 && twpa__txn_may_stream(top)) {
    drop_aborted(top);
    twpa_status st = stream(top);
    if (st != TWPA_OK)
      return st;
  }
  return twpa__evict(r);
}

twpa_status twpa_reorder_set_streaming(twpa_reorder *r, uint32_t on)
{
  if (on > 1)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, NULL);
  if (st != TWPA_OK)
    return st;
  if (r->can_stream)
    r->streaming = on != 0;
  return twpa__reorder_leave(r, NULL, r->can_stream ? TWPA_OK : TWPA_E_STATE);
}

twpa_status twpa_reorder_set_memory_limit(twpa_reorder *r, size_t bytes)
{
  if (bytes == 0)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, NULL);
  if (st != TWPA_OK)
    return st;
  r->memory_limit = bytes;
  twpa__account_spares(r);
  return twpa__reorder_leave(r, NULL, twpa__evict(r));
}
