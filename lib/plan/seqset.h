/*
 * A set of sequence numbers inside a sliding window, by ring position: one bit each, and above every 64 words one bit
 * that says whether there is anything. Add and remove O(1), the smallest in O(levels); nothing allocates between
 * reservations.
 */
#ifndef TWPA_PLAN_SEQSET_H
#define TWPA_PLAN_SEQSET_H

#include "base/alloc.h"

#define TWPA__SEQSET_LEVELS 6

typedef struct twpa__seqset {
  uint64_t *words;                     /* all levels in one block, the lowest first */
  size_t level_at[TWPA__SEQSET_LEVELS]; /* where each begins */
  unsigned levels;
  size_t cap; /* positions: a power of two, at least 64; 0: none */
  size_t nwords;
  size_t count;
} twpa__seqset;

/* Room for a window of cap numbers (a power of two, >= 64). An empty set only. TWPA_E_NOMEM. */
twpa_status twpa__seqset_init(twpa__seqset *set, twpa__mem *mem, size_t cap);
void twpa__seqset_clear(twpa__seqset *set, twpa__mem *mem);
/* Moves what is in `from`, all of it in low + 1 .. low + from->cap, into the larger empty `to`. */
void twpa__seqset_move(twpa__seqset *to, twpa__seqset *from, uint64_t low);
void twpa__seqset_add(twpa__seqset *set, uint64_t seq);    /* does nothing if it is inside */
void twpa__seqset_remove(twpa__seqset *set, uint64_t seq); /* does nothing if it is not */
bool twpa__seqset_has(const twpa__seqset *set, uint64_t seq);
/* The smallest number >= from, where all are in from .. from + cap - 1; 0 if there is none. from > 0. */
uint64_t twpa__seqset_first(const twpa__seqset *set, uint64_t from);
/* The largest number, where all are in low + 1 .. low + cap; 0 if there is none. O(cap / 64). */
uint64_t twpa__seqset_last(const twpa__seqset *set, uint64_t low);

#endif
