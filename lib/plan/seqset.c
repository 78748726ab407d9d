/* A set of sequence numbers inside a sliding window: a bitmap over ring positions with summaries above it. */
#include "plan/seqset.h"

#include "base/assert.h"

#include <string.h>

static unsigned lowest_bit(uint64_t word)
{
  TWPA__ASSERT(word != 0);
#if defined(__GNUC__)
  return (unsigned)__builtin_ctzll(word);
#else
  unsigned n = 0;
  while ((word & 1) == 0) {
    word >>= 1;
    n++;
  }
  return n;
#endif
}

twpa_status twpa__seqset_init(twpa__seqset *set, twpa__mem *mem, size_t cap)
{
  TWPA__ASSERT(cap >= 64 && (cap & (cap - 1)) == 0);
  twpa__seqset fresh = {.cap = cap};
  for (size_t bits = cap;;) {
    size_t words = (bits + 63) / 64;
    TWPA__ASSERT(fresh.levels < TWPA__SEQSET_LEVELS);
    fresh.level_at[fresh.levels++] = fresh.nwords;
    fresh.nwords += words;
    if (words == 1)
      break;
    bits = words;
  }
  fresh.words = twpa__zalloc(mem, fresh.nwords * sizeof(uint64_t));
  if (fresh.words == NULL)
    return TWPA_E_NOMEM;
  *set = fresh;
  return TWPA_OK;
}

void twpa__seqset_clear(twpa__seqset *set, twpa__mem *mem)
{
  twpa__release(mem, set->words, set->nwords * sizeof(uint64_t));
  memset(set, 0, sizeof *set);
}

void twpa__seqset_move(twpa__seqset *to, twpa__seqset *from, uint64_t low)
{
  for (uint64_t seq = low + 1; from->count > 0;) {
    seq = twpa__seqset_first(from, seq);
    TWPA__ASSERT(seq != 0);
    twpa__seqset_remove(from, seq);
    twpa__seqset_add(to, seq);
  }
}

void twpa__seqset_raise(twpa__seqset *set, size_t at)
{
  for (unsigned level = 1; level < set->levels; level++) {
    uint64_t *word = &set->words[set->level_at[level] + (at >> 6)], was = *word;
    *word |= UINT64_C(1) << (at & 63);
    if (was != 0)
      return;
    at >>= 6;
  }
}

void twpa__seqset_lower(twpa__seqset *set, size_t at)
{
  for (unsigned level = 1; level < set->levels; level++) {
    uint64_t *word = &set->words[set->level_at[level] + (at >> 6)];
    *word &= ~(UINT64_C(1) << (at & 63));
    if (*word != 0)
      return;
    at >>= 6;
  }
}

/* The first position >= pos, or cap. */
static size_t first_from(const twpa__seqset *set, size_t pos)
{
  unsigned level = 0;
  for (;;) { /* up, until a word has something at or behind pos */
    size_t at = pos >> 6;
    uint64_t word = set->words[set->level_at[level] + at] & (~UINT64_C(0) << (pos & 63));
    if (word != 0) {
      pos = (at << 6) + lowest_bit(word);
      break;
    }
    level++;
    pos = at + 1;
    if (level == set->levels || pos >= ((set->cap - 1) >> (6 * level)) + 1)
      return set->cap;
  }
  while (level > 0) { /* and down again, along the first bits */
    level--;
    pos = (pos << 6) + lowest_bit(set->words[set->level_at[level] + pos]);
  }
  return pos;
}

uint64_t twpa__seqset_search(const twpa__seqset *set, uint64_t from)
{
  size_t start = (size_t)(from & (set->cap - 1));
  size_t pos = first_from(set, start);
  if (pos < set->cap)
    return from + (pos - start);
  pos = first_from(set, 0);
  return pos < start ? from + (set->cap - start) + pos : 0;
}

uint64_t twpa__seqset_last(const twpa__seqset *set, uint64_t low)
{
  uint64_t last = 0;
  if (set->count == 0)
    return 0;
  for (uint64_t seq = low + set->cap; last == 0; seq--) {
    TWPA__ASSERT(seq > low);
    if ((seq & 63) == 63 && set->words[(seq & (set->cap - 1)) >> 6] == 0)
      seq -= 63;
    else if (twpa__seqset_has(set, seq))
      last = seq;
  }
  return last;
}
