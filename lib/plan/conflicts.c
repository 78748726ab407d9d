/* The conflict table: finding, replacing and evicting in buckets of one cache line. See the header for the rules. */
#include "plan/conflicts.h"

#include "base/assert.h"

#include <string.h>

#define LINE 64

TWPA__STATIC_ASSERT(sizeof(twpa__narrow_bucket) == LINE, "a bucket is a cache line");
TWPA__STATIC_ASSERT(sizeof(twpa__wide_bucket) == LINE, "a bucket is a cache line");
TWPA__STATIC_ASSERT(TWPA__WIDE_WAYS == 4, "as many as are compared at once");

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

/* 21 bits, of which 5 share a byte with the flags. */
#define WIDE_FEW(hash) ((uint8_t)((hash) >> 40) & (uint8_t)~7u)
#define WIDE_TAG(hash) ((uint16_t)((hash) >> 48))
#define WIDE_PLACES ((UINT32_C(1) << TWPA__WIDE_WAYS) - 1)

twpa_status twpa__wide_init(twpa__wide_table *t, twpa__mem *mem, size_t bytes)
{
  t->buckets = make_lines(mem, bytes, &t->block, &t->block_size, &t->mask);
  return t->buckets != NULL ? TWPA_OK : TWPA_E_NOMEM;
}

void twpa__wide_free(twpa__wide_table *t, twpa__mem *mem)
{
  twpa__release(mem, t->block, t->block_size);
}

/* The place of a key, as a mask; 0: nowhere. */
static uint32_t wide_places(const twpa__wide_bucket *b, uint64_t hash)
{
  const uint16_t tag = WIDE_TAG(hash);
  uint32_t found = 0;
  for (int i = 0; i < TWPA__WIDE_WAYS; i++)
    found |= (uint32_t)(b->tag[i] == tag) << i;
  for (int i = 0; i < TWPA__WIDE_WAYS && found != 0; i++) /* mostly there is none, or it is this one */
    found &= ~((uint32_t)((b->flags[i] ^ WIDE_FEW(hash)) >= 8) << i);
  return found;
}

/* The newest number in an entry. */
static uint32_t newest_of(const twpa__wide_bucket *b, int i, twpa__now now, twpa__newest_reader newest, const void *arg)
{
  uint32_t reader = (b->flags[i] & TWPA__WIDE_JOIN) != 0 ? newest(arg, b->r[i]) : b->r[i];
  return twpa__newer(now, twpa__newer(now, b->w[i], b->u[i]), reader);
}

/* Where to put a key that has no entry: the oldest place. */
static int oldest_of(const twpa__wide_bucket *b, twpa__now now, twpa__newest_reader newest, const void *arg)
{
  uint32_t oldest = 0;
  int way = 0;
  for (int i = 0; i < TWPA__WIDE_WAYS; i++) {
    uint32_t age = twpa__age(now, newest_of(b, i, now, newest, arg));
    if (age >= oldest) {
      oldest = age;
      way = i;
    }
  }
  return way;
}

/* The places of live entries, among those asked for (or more). */
static uint32_t wide_live(const twpa__wide_bucket *b, uint32_t among, twpa__now now, twpa__newest_reader newest,
                          const void *arg)
{
  uint32_t live = 0;
#if defined(__GNUC__)
  uint32_t joins = b->flags[0] | b->flags[1] | b->flags[2] | b->flags[3];
  if ((joins & TWPA__WIDE_JOIN) == 0)
    return twpa__mask_of(twpa__live_four(b->w, now) | twpa__live_four(b->u, now) | twpa__live_four(b->r, now),
                         (twpa__four){0});
#endif
  for (int i = 0; i < TWPA__WIDE_WAYS; i++)
    if ((among >> i & 1) != 0)
      live |= (uint32_t)twpa__is_live(now, newest_of(b, i, now, newest, arg)) << i;
  return live;
}

twpa__wide_found twpa__wide_find(twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                                 const void *arg)
{
  twpa__wide_bucket *b = &t->buckets[hash & t->mask];
  const uint32_t same = wide_places(b, hash);
  const uint32_t live = wide_live(b, same != 0 ? same : WIDE_PLACES, now, newest, arg);
  /* A dead entry of the key: its place is taken, so that a key never has two entries. */
  const uint32_t places = same != 0 ? same : live ^ WIDE_PLACES;
  const int way = places != 0 ? (int)twpa__first_place(places) : oldest_of(b, now, newest, arg);
  twpa__wide_found found = {b, way, ((same & live) >> way & 1) != 0, places == 0, false, 0};
  if (found.hit)
    return found;
  if ((b->flags[way] & TWPA__WIDE_JOIN) != 0) {
    found.had_join = true;
    found.join = b->r[way];
  }
  uint32_t horizon = b->horizon;
  if (found.evicted)
    b->horizon = twpa__newer(now, b->horizon, newest_of(b, way, now, newest, arg));
  b->flags[way] = (uint8_t)(WIDE_FEW(hash) | TWPA__WIDE_FLOOR);
  b->tag[way] = WIDE_TAG(hash);
  b->w[way] = horizon;
  b->u[way] = b->r[way] = now.seq - now.span; /* the low watermark: dead, and stays so */
  return found;
}

bool twpa__wide_is_quiet(const twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                         const void *arg)
{
  const twpa__wide_bucket *b = &t->buckets[hash & t->mask];
  const uint32_t same = wide_places(b, hash);
  return !twpa__is_live(now, b->horizon) && (same & wide_live(b, same, now, newest, arg)) == 0;
}
