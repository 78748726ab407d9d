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

#include <string.h>

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

/*
 * Chunks that are small, as the first ones of an arena are, are gathered into larger blocks, since a call of the system
 * takes as long as some kilobytes. When restored, a block is in memory as a whole, one for each subtransaction that has
 * begun and not ended: so it is no more than a quarter of what is spilled, but for small ones.
 */
#define GATHERED_LEAST ((size_t)16 << 10)
#define GATHERED_MOST TWPA__BLOCK_BOUNDARY

static size_t gathered_size(const twpa__arena *arena)
{
  size_t size = GATHERED_LEAST;
  while (size < GATHERED_MOST && size * 8 <= twpa__arena_used(arena))
    size *= 2;
  return size;
}

typedef struct gathering {
  unsigned char *block; /* NULL: nothing is gathered */
  size_t cap;
} gathering;

/* Room for one block, of a large transaction up to the next boundary, so that those that follow lie well. */
static size_t gathering_room(const gathering *to, const twpa__file *file)
{
  return to->cap == TWPA__BLOCK_BOUNDARY ? to->cap - (size_t)(file->size % to->cap) : to->cap;
}

/* Copies the chunks at the front together that fit into one block; tells where the rest begins. The size of the block. */
static size_t gather(const twpa__arena *arena, unsigned char *block, size_t cap, const twpa__chunk **rest)
{
  size_t size = TWPA__BLOCK_HEADER;
  const twpa__chunk *chunk = arena->first;
  for (; chunk != NULL; chunk = chunk->next) {
    size_t used = twpa__arena_chunk_used(arena, chunk);
    if (used > cap - size)
      break;
    memcpy(block + size, chunk + 1, used);
    size += used;
  }
  *rest = chunk;
  return size;
}

/* Here the small chunks of a large transaction end, and full ones follow, which shall begin at a boundary. */
static bool ends_small_ones(const gathering *room, const twpa__chunk *chunk, const twpa__chunk *rest)
{
  const size_t full = TWPA__BLOCK_BOUNDARY - sizeof *chunk;
  return room->cap == TWPA__BLOCK_BOUNDARY && chunk->cap < full && rest != NULL && rest->cap >= full;
}

/* The block that is to be written next, and where the rest begins. */
static twpa__block next_block(const twpa__arena *arena, const twpa__file *file, const gathering *room,
                              const twpa__chunk **rest)
{
  twpa__chunk *chunk = arena->first;
  size_t size = TWPA__BLOCK_HEADER + twpa__arena_chunk_used(arena, chunk), most = gathering_room(room, file);
  *rest = chunk->next;
  bool more = chunk->next != NULL && size + twpa__arena_chunk_used(arena, chunk->next) <= most;
  if (room->block == NULL || size > most || !(more || ends_small_ones(room, chunk, chunk->next)))
    return (twpa__block){.at = chunk, .bytes = size, .cap = sizeof *chunk + chunk->cap};
  size = gather(arena, room->block, most, rest);
  size_t padding = ends_small_ones(room, chunk, *rest) ? most - size : 0;
  return (twpa__block){.at = room->block, .bytes = size, .cap = most, .padding = padding};
}

/* A block of the first chunk, or of several if there is room to gather them. */
static twpa_status spill_block(twpa_txn *txn, twpa__file *file, const gathering *room)
{
  twpa_reorder *r = txn->owner;
  twpa__arena *arena = &txn->arena;
  twpa__chunk *chunk = arena->first;
  const twpa__chunk *rest;
  twpa__block block = next_block(arena, file, room, &rest);
  twpa__segment segment;
  twpa_status st = twpa__segments_reserve(txn, file);
  if (st != TWPA_OK)
    return st;
  twpa__chunk header = *chunk; /* its place is lent to that of the block */
  st = twpa__block_write(r->storage, &segment, file, txn->xid, &block);
  *chunk = header;
  if (st != TWPA_OK) {
    twpa__segments_unreserve(file);
    return st;
  }
  twpa__segments_add(txn, &segment);
  size_t bytes = arena->bytes;
  if (rest != NULL)
    twpa__arena_drop_before(arena, rest);
  else
    twpa__arena_clear(arena);
  twpa__account_arena(txn, bytes);
  r->stats.spilled_txns += !twpa__txn_is(txn, TWPA__TXN_SPILLED);
  txn->flags |= TWPA__TXN_SPILLED;
  r->stats.spilled_blocks++;
  r->stats.spilled_bytes += segment.room;
  return TWPA_OK;
}

/* Only after a failure: counting touches every record. */
static uint64_t count_records(const twpa__arena *arena)
{
  uint64_t n = 0;
  for (twpa__chunk *chunk = arena->first; chunk != NULL; chunk = chunk->next) {
    size_t end = twpa__arena_chunk_used(arena, chunk);
    for (size_t at = 0; at < end; n++) {
      uint32_t size;
      memcpy(&size, twpa__chunk_data(chunk) + at, sizeof size);
      at += size;
    }
  }
  return n;
}

/* Block by block; what was written before a failure stays written. */
static twpa_status spill(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  twpa__file *file = twpa__file_for(txn);
  if (file == NULL)
    return TWPA_E_NOMEM;
  /* No memory for it is no reason to fail. */
  gathering room = {NULL, gathered_size(&txn->arena)};
  if (txn->arena.first != txn->arena.last)
    room.block = twpa__alloc(&r->mem, room.cap);
  twpa_status st = TWPA_OK;
  while (st == TWPA_OK && txn->arena.first != NULL)
    st = spill_block(txn, file, &room);
  twpa__release(&r->mem, room.block, room.cap);
  uint64_t left = st == TWPA_OK ? 0 : count_records(&txn->arena);
  txn->nstored += txn->nmem - left;
  txn->nmem = left;
  txn->epoch += txn->nmem == 0;
  twpa__account_lists(txn);
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
