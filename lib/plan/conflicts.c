/* The conflict table: finding, replacing and evicting in buckets of one cache line. See the header for the rules. */
#include "plan/conflicts.h"

#include "base/assert.h"

#include <string.h>

#define LINE 64

TWPA__STATIC_ASSERT(sizeof(twpa__narrow_bucket) == LINE, "a bucket is a cache line");
TWPA__STATIC_ASSERT(sizeof(twpa__wide_bucket) == LINE, "a bucket is a cache line");

/* A zeroed array of lines, aligned; the number of lines is the largest power of two that fits into bytes. */
static void *make_lines(twpa__mem *mem, size_t bytes, void **block, size_t *block_size, uint64_t *mask)
{
  size_t lines = 1;
  while (lines <= bytes / LINE / 2)
    lines *= 2;
  *block_size = lines * LINE + LINE;
  *block = twpa__zalloc(mem, *block_size);
  *mask = lines - 1;
  if (*block == NULL)
    return NULL;
  size_t off = (LINE - (uintptr_t)*block % LINE) % LINE;
  return (unsigned char *)*block + off;
}

/* --- narrow ---------------------------------------------------------------------------------------------------- */

twpa_status twpa__narrow_init(twpa__narrow_table *t, twpa__mem *mem, size_t bytes)
{
  t->buckets = make_lines(mem, bytes, &t->block, &t->block_size, &t->mask);
  return t->buckets != NULL ? TWPA_OK : TWPA_E_NOMEM;
}

void twpa__narrow_free(twpa__narrow_table *t, twpa__mem *mem)
{
  twpa__release(mem, t->block, t->block_size);
}

unsigned twpa__narrow_oldest(const twpa__narrow_bucket *b, twpa__now now)
{
  unsigned oldest = 0;
  for (unsigned i = 1; i < TWPA__NARROW_WAYS; i++)
    if (twpa__age(now, b->seq[i]) > twpa__age(now, b->seq[oldest]))
      oldest = i;
  return oldest;
}

bool twpa__narrow_is_quiet(const twpa__narrow_table *t, uint64_t hash, twpa__now now)
{
  const twpa__narrow_bucket *b = &t->buckets[hash & t->mask];
  uint32_t places = twpa__narrow_places(b, TWPA__NARROW_TAG(hash));
  if (twpa__is_live(now, b->seq[TWPA__NARROW_HORIZON]))
    return false;
  return places == 0 || !twpa__is_live(now, b->seq[twpa__first_place(places)]);
}

/* --- wide ------------------------------------------------------------------------------------------------------ */

#define WIDE_TAG(hash) ((uint32_t)((hash) >> 40) & ~UINT32_C(7)) /* 24 bits with room for the flags */

twpa_status twpa__wide_init(twpa__wide_table *t, twpa__mem *mem, size_t bytes)
{
  t->buckets = make_lines(mem, bytes, &t->block, &t->block_size, &t->mask);
  return t->buckets != NULL ? TWPA_OK : TWPA_E_NOMEM;
}

void twpa__wide_free(twpa__wide_table *t, twpa__mem *mem)
{
  twpa__release(mem, t->block, t->block_size);
}

static uint32_t wide_tag(const twpa__wide_bucket *b, int way)
{
  return (uint32_t)b->tag[way][0] | (uint32_t)b->tag[way][1] << 8 | (uint32_t)b->tag[way][2] << 16;
}

/* The newest number in an entry. */
static uint32_t newest_of(const twpa__wide_bucket *b, int i, twpa__now now, twpa__newest_reader newest, const void *arg)
{
  uint32_t reader = (b->tag[i][0] & TWPA__WIDE_JOIN) != 0 ? newest(arg, b->r[i]) : b->r[i];
  return twpa__newer(now, twpa__newer(now, b->w[i], b->u[i]), reader);
}

twpa__wide_found twpa__wide_find(twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                                 const void *arg)
{
  twpa__wide_bucket *b = &t->buckets[hash & t->mask];
  const uint32_t tag = WIDE_TAG(hash);
  twpa__wide_found found = {b, 0, false, false, false, 0};
  uint32_t oldest_age = 0, oldest_seq = now.seq;
  for (int i = 0; i < TWPA__WIDE_WAYS; i++) {
    uint32_t seq = newest_of(b, i, now, newest, arg);
    uint32_t age = twpa__age(now, seq);
    bool match = (wide_tag(b, i) ^ tag) < 8;
    if (match && age < now.span) {
      found.way = i;
      found.hit = true;
      return found;
    }
    if (match || age >= oldest_age) {
      oldest_age = age;
      oldest_seq = seq;
      found.way = i;
    }
    if (match) /* dead: its place is taken, so that a key never has two entries */
      break;
  }
  int way = found.way;
  if ((b->tag[way][0] & TWPA__WIDE_JOIN) != 0) {
    found.had_join = true;
    found.join = b->r[way];
  }
  uint32_t horizon = b->horizon;
  if (oldest_age < now.span) {
    found.evicted = true;
    b->horizon = twpa__newer(now, b->horizon, oldest_seq);
  }
  b->tag[way][0] = (uint8_t)(tag | TWPA__WIDE_FLOOR);
  b->tag[way][1] = (uint8_t)(tag >> 8);
  b->tag[way][2] = (uint8_t)(tag >> 16);
  b->w[way] = horizon;
  b->u[way] = b->r[way] = now.seq - now.span; /* the low watermark: dead, and stays so */
  return found;
}

bool twpa__wide_is_quiet(const twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                         const void *arg)
{
  const twpa__wide_bucket *b = &t->buckets[hash & t->mask];
  if (twpa__is_live(now, b->horizon))
    return false;
  for (int i = 0; i < TWPA__WIDE_WAYS; i++)
    if ((wide_tag(b, i) ^ WIDE_TAG(hash)) < 8 && twpa__is_live(now, newest_of(b, i, now, newest, arg)))
      return false;
  return true;
}
