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

static inline bool twpa__seqset_has(const twpa__seqset *set, uint64_t seq)
{
  size_t pos = (size_t)(seq & (set->cap - 1));
  return (set->words[pos >> 6] >> (pos & 63) & 1) != 0;
}

/* The word `at` of the lowest level is no longer empty, or empty. */
void twpa__seqset_raise(twpa__seqset *set, size_t at);
void twpa__seqset_lower(twpa__seqset *set, size_t at);

/* Does nothing if it is inside. */
static inline void twpa__seqset_add(twpa__seqset *set, uint64_t seq)
{
  size_t pos = (size_t)(seq & (set->cap - 1));
  uint64_t *word = &set->words[pos >> 6], was = *word;
  *word |= UINT64_C(1) << (pos & 63);
  set->count += *word != was;
  if (was == 0)
    twpa__seqset_raise(set, pos >> 6);
}

/* Does nothing if it is not. */
static inline void twpa__seqset_remove(twpa__seqset *set, uint64_t seq)
{
  size_t pos = (size_t)(seq & (set->cap - 1));
  uint64_t *word = &set->words[pos >> 6], was = *word;
  *word &= ~(UINT64_C(1) << (pos & 63));
  set->count -= *word != was;
  if (*word == 0 && was != 0)
    twpa__seqset_lower(set, pos >> 6);
}

/* The smallest number >= from > 0 of a set that is not empty, where all are in from .. from + cap - 1. */
uint64_t twpa__seqset_search(const twpa__seqset *set, uint64_t from);

/* The same; 0 if there is none. */
static inline uint64_t twpa__seqset_first(const twpa__seqset *set, uint64_t from)
{
  if (set->count == 0)
    return 0;
  return twpa__seqset_has(set, from) ? from : twpa__seqset_search(set, from);
}

/* The largest number, where all are in low + 1 .. low + cap; 0 if there is none. O(cap / 64). */
uint64_t twpa__seqset_last(const twpa__seqset *set, uint64_t low);

#endif
