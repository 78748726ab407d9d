/*
 * The changes of a transaction and its subtransactions, merged into the order of arrival, from storage and memory.
 *
 * There is one source for each (sub)transaction that has changes. A binary heap holds, by the sequence numbers of their
 * next changes, those that have begun and not ended: one after the other, as one session writes them, it is one or two
 * of however many. A block is read from storage when its first change is the next one of all, not before (its number is
 * known without reading), and given up when the last of it was: at most one block per source is in memory. The step
 * from one change to the next cannot fail; looking at a change can, and may be tried again. Nothing of the
 * transaction is changed, so a merge can be started again from the beginning.
 */
#ifndef TWPA_DECODE_MERGE_H
#define TWPA_DECODE_MERGE_H

#include "decode/change.h"
#include "decode/txn.h"

#include <twpa/storage.h>

typedef struct twpa__source {
  twpa_txn *txn;
  const unsigned char *at, *end; /* the next change and the end of its run; NULL: its block is not read yet */
  const twpa__chunk *chunk;      /* the run is in this chunk of the arena */
  size_t segment;                /* or in this segment */
  unsigned char *block;          /* which is here: */
  void *room;                    /* in this memory */
  size_t block_cap;
} twpa__source;

typedef struct twpa__merge_slot {
  uint64_t seq;
  twpa__source *source;
} twpa__merge_slot;

typedef struct twpa__merge {
  twpa__mem *mem;              /* for the arrays and the blocks */
  const twpa_storage *storage; /* NULL: nothing is stored */
  twpa__source *sources;
  size_t nsources, sources_cap;
  twpa__merge_slot *heap; /* a slot for each source; the first nheap are the heap */
  size_t nheap, heap_cap;
  size_t next; /* the first source that waits for its turn */
  twpa__source *first; /* the one at the top of the heap; NULL: there is none */
  uint64_t until;      /* it stays there as long as its changes are before this one; its slot follows when it does not */
  uint64_t restored_blocks;
} twpa__merge;

void twpa__merge_init(twpa__merge *merge, twpa__mem *mem, const twpa_storage *storage);
/* Places it before the first change of `top` and its subtransactions. TWPA_E_NOMEM: it is then empty. */
twpa_status twpa__merge_start(twpa__merge *merge, twpa_txn *top);
/* Reads the block that the first source stands before. TWPA_E_NOMEM, TWPA_E_CALLBACK, TWPA_E_CORRUPT: may be repeated. */
twpa_status twpa__merge_load(twpa__merge *merge);
/* What twpa__merge_step does at the end of a run, or when it is another source's turn. `source` is the first. */
void twpa__merge_step_slow(twpa__merge *merge, twpa__source *source);
/* Gives up the blocks; the arrays stay for the next start. */
void twpa__merge_stop(twpa__merge *merge);
/* Gives up all memory. */
void twpa__merge_free(twpa__merge *merge);

/*
 * The next change, its transaction and its record; TWPA_NONE at the end. The change points into memory that
 * stays until twpa__merge_step. Failures as for twpa__merge_load.
 */
static inline twpa_status twpa__merge_peek(twpa__merge *merge, twpa_change *change, twpa_txn **txn,
                                           const twpa__rec **rec)
{
  const twpa__source *source = merge->first;
  if (source == NULL)
    return TWPA_NONE;
  if (source->at == NULL) {
    twpa_status st = twpa__merge_load(merge);
    if (st != TWPA_OK)
      return st;
  }
  const twpa__rec *head = (const twpa__rec *)(const void *)source->at;
  if (!twpa__change_read(change, head, (size_t)(source->end - source->at)))
    return TWPA_E_CORRUPT;
  change->xid = source->txn->xid;
  *txn = source->txn;
  *rec = head;
  return TWPA_OK;
}

/* Goes past the change that twpa__merge_peek has given. */
static inline void twpa__merge_step(twpa__merge *merge)
{
  twpa__source *source = merge->first;
  source->at += ((const twpa__rec *)(const void *)source->at)->size;
  /* Reading waits for memory unless somebody has asked for it in time. A block was read a moment ago. */
  if (source->chunk != NULL)
    for (size_t i = 4; i < 7; i++)
      __builtin_prefetch((const void *)((uintptr_t)source->at + i * 64), 0);
  if (source->at == source->end || ((const twpa__rec *)(const void *)source->at)->seq >= merge->until)
    twpa__merge_step_slow(merge, source);
}

#endif
