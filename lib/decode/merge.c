/*
 * The merge: a binary heap over sources that read themselves from storage block by block. The sources that have begun
 * are in the heap, at the front of the row of slots; behind it, from merge->next on, those that have not, in the order of
 * their first changes. If they do not stand in that order in the list they come from (kinship that was learned late),
 * all are in the heap from the start.
 */
#include "decode/merge.h"

#include "base/assert.h"
#include "decode/spill.h"

#include <string.h>

void twpa__merge_init(twpa__merge *merge, twpa__mem *mem, const twpa_storage *storage)
{
  *merge = (twpa__merge){.mem = mem, .storage = storage};
}

static uint64_t seq_at(const unsigned char *rec)
{
  uint64_t seq;
  memcpy(&seq, rec + offsetof(twpa__rec, seq), sizeof seq);
  return seq;
}

static void enter_chunk(twpa__source *source, const twpa__chunk *chunk)
{
  source->chunk = chunk;
  for (size_t i = 0; i < 4; i++)
    __builtin_prefetch((const void *)((uintptr_t)chunk->next + i * 64), 0);
  source->at = (const unsigned char *)(chunk + 1);
  source->end = source->at + twpa__arena_chunk_used(&source->txn->arena, chunk);
}

/* Places a source before its first change, and tells the number of that. */
static uint64_t first_of(twpa__source *source, twpa_txn *txn)
{
  *source = (twpa__source){.txn = txn};
  if (txn->nsegments > 0)
    return txn->segments[0].first_seq;
  enter_chunk(source, txn->arena.first);
  return seq_at(source->at);
}

static void sift_down(twpa__merge_slot *heap, size_t n, size_t i)
{
  twpa__merge_slot slot = heap[i];
  size_t child = 2 * i + 1;
  for (; child + 1 < n; child = 2 * i + 1) {
    child += heap[child + 1].seq < heap[child].seq; /* either may be, and no branch can be foretold */
    if (slot.seq <= heap[child].seq)
      break;
    heap[i] = heap[child];
    i = child;
  }
  if (child + 1 == n && heap[child].seq < slot.seq) {
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = slot;
}

/* Sources whose first change is the next one of all go into the heap. Then it is known whose turn it is, and how long. */
static void admit(twpa__merge *merge)
{
  twpa__merge_slot *heap = merge->heap;
  while (merge->next < merge->nsources && (merge->nheap == 0 || heap[merge->next].seq < heap[0].seq)) {
    twpa__merge_slot slot = heap[merge->next++];
    size_t i = merge->nheap++;
    for (; i > 0 && heap[(i - 1) / 2].seq > slot.seq; i = (i - 1) / 2)
      heap[i] = heap[(i - 1) / 2];
    heap[i] = slot;
  }
  merge->first = merge->nheap > 0 ? heap[0].source : NULL;
  merge->until = UINT64_MAX;
  for (size_t i = 1; i < merge->nheap && i < 3; i++)
    merge->until = heap[i].seq < merge->until ? heap[i].seq : merge->until;
  if (merge->next < merge->nsources && heap[merge->next].seq < merge->until)
    merge->until = heap[merge->next].seq;
}

/* Fills the row of slots. True if it is in order. */
static bool line_up(twpa__merge *merge, const twpa_txn *top)
{
  bool in_order = true;
  uint64_t before = 0;
  for (twpa__link *it = top->busy.next; it != &top->busy; it = it->next) {
    twpa__source *source = &merge->sources[merge->nsources];
    uint64_t seq = first_of(source, TWPA__CONTAINER_OF(it, twpa_txn, in_busy));
    merge->heap[merge->nsources++] = (twpa__merge_slot){seq, source};
    in_order = in_order && seq >= before;
    before = seq;
  }
  return in_order;
}

twpa_status twpa__merge_start(twpa__merge *merge, twpa_txn *top)
{
  twpa__merge_stop(merge);
  size_t n = 0;
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->busy, it, tmp)
    n++;
  void *sources = merge->sources, *heap = merge->heap;
  twpa_status st = twpa__array_reserve(merge->mem, &sources, &merge->sources_cap, n, sizeof *merge->sources);
  merge->sources = sources;
  if (st == TWPA_OK)
    st = twpa__array_reserve(merge->mem, &heap, &merge->heap_cap, n, sizeof *merge->heap);
  merge->heap = heap;
  if (st != TWPA_OK)
    return st;
  if (!line_up(merge, top)) {
    merge->nheap = merge->next = n;
    for (size_t i = n / 2; i-- > 0;)
      sift_down(merge->heap, n, i);
  }
  admit(merge);
  return TWPA_OK;
}

/* Systems copy faster to where a cache line begins. */
#define LINE ((size_t)64)

static void drop_block(twpa__merge *merge, twpa__source *source)
{
  twpa__release(merge->mem, source->room, source->block_cap + LINE);
  source->room = source->block = NULL;
  source->block_cap = 0;
}

static twpa_status make_block(twpa__merge *merge, twpa__source *source, size_t bytes)
{
  drop_block(merge, source);
  source->room = twpa__alloc(merge->mem, bytes + LINE);
  if (source->room == NULL)
    return TWPA_E_NOMEM;
  source->block = (unsigned char *)source->room + (-(uintptr_t)source->room & (LINE - 1));
  source->block_cap = bytes;
  return TWPA_OK;
}

twpa_status twpa__merge_load(twpa__merge *merge)
{
  twpa__source *source = merge->first;
  const twpa__segment *segment = &source->txn->segments[source->segment];
  twpa_status st = source->block_cap < segment->bytes ? make_block(merge, source, segment->bytes) : TWPA_OK;
  if (st == TWPA_OK)
    st = twpa__block_read(merge->storage, segment, source->txn->xid, source->block);
  if (st != TWPA_OK)
    return st;
  source->at = source->block + TWPA__BLOCK_HEADER;
  source->end = source->block + segment->bytes;
  merge->restored_blocks++;
  return TWPA_OK;
}

/* Goes on to the next run of changes: the next segment, then the chunks of the arena. False if there is none. */
static bool next_run(twpa__merge *merge, twpa__source *source)
{
  const twpa_txn *txn = source->txn;
  if (source->chunk == NULL && source->segment + 1 < txn->nsegments) {
    source->segment++;
    source->at = source->end = NULL;
    return true;
  }
  const twpa__chunk *chunk = source->chunk == NULL ? txn->arena.first : source->chunk->next;
  drop_block(merge, source);
  if (chunk == NULL)
    return false;
  enter_chunk(source, chunk);
  return true;
}

void twpa__merge_step_slow(twpa__merge *merge, twpa__source *source)
{
  if (source->at == source->end && !next_run(merge, source))
    merge->heap[0] = merge->heap[--merge->nheap];
  else
    merge->heap[0].seq = source->at != NULL ? seq_at(source->at) : source->txn->segments[source->segment].first_seq;
  if (merge->nheap > 1)
    sift_down(merge->heap, merge->nheap, 0);
  admit(merge);
}

void twpa__merge_stop(twpa__merge *merge)
{
  for (size_t i = 0; i < merge->nsources; i++)
    drop_block(merge, &merge->sources[i]);
  merge->nsources = merge->nheap = merge->next = 0;
  merge->first = NULL;
}

void twpa__merge_free(twpa__merge *merge)
{
  twpa__merge_stop(merge);
  twpa__release(merge->mem, merge->sources, merge->sources_cap * sizeof *merge->sources);
  twpa__release(merge->mem, merge->heap, merge->heap_cap * sizeof *merge->heap);
  *merge = (twpa__merge){.mem = merge->mem, .storage = merge->storage, .restored_blocks = merge->restored_blocks};
}
