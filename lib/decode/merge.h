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
  unsigned char *block;          /* which is here */
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
  uint64_t restored_blocks;
} twpa__merge;

void twpa__merge_init(twpa__merge *merge, twpa__mem *mem, const twpa_storage *storage);
/* Places it before the first change of `top` and its subtransactions. TWPA_E_NOMEM: it is then empty. */
twpa_status twpa__merge_start(twpa__merge *merge, twpa_txn *top);
/*
 * The next change, its transaction and its sequence number; TWPA_NONE at the end. The change points into memory that
 * stays until twpa__merge_step. TWPA_E_NOMEM, TWPA_E_CALLBACK, TWPA_E_CORRUPT: may be repeated.
 */
twpa_status twpa__merge_peek(twpa__merge *merge, twpa_change *change, twpa_txn **txn, const twpa__rec **rec);
/* Goes past the change that twpa__merge_peek has given. */
void twpa__merge_step(twpa__merge *merge);
/* Gives up the blocks; the arrays stay for the next start. */
void twpa__merge_stop(twpa__merge *merge);
/* Gives up all memory. */
void twpa__merge_free(twpa__merge *merge);

#endif
