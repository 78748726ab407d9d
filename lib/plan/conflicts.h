/*
 * The conflict table: who touched a key last (rule 1.5).
 *
 * Two tables of fixed size, both made of buckets of one cache line. *Narrow* entries are for keys that are only updated
 * and written, all of which conflict: the last accessor is enough. *Wide* entries are for keys that are also read (keys
 * that a foreign key references, whole rows, keys of the host): the last write, the last update since, the readers since.
 *
 * Nothing is ever cleared. An entry is dead when all it holds is at or below the low watermark; a dead one is reused, and
 * when there is none, the oldest is evicted and leaves its newest number in the bucket's *horizon*. Who does not find his
 * key in the bucket depends on everything up to the horizon. A wide entry is born with the horizon as its *floor*, so
 * that whoever hits it later learns of it too; a write clears it. (A floor lives in the field of the last write, which it
 * never meets: it is there from birth until the first write.) A narrow entry needs no floor: whoever makes or hits it
 * becomes its last accessor and has taken the horizon along.
 *
 * Numbers are the low 32 bits of sequence numbers. Fewer than 2^31 transactions are above the low watermark, so a live
 * number is told from a dead one by its distance from the transaction at hand, with one subtraction. A number that is
 * more than 2^32 transactions old may look live again: that costs one dependency on an earlier transaction.
 */
#ifndef TWPA_PLAN_CONFLICTS_H
#define TWPA_PLAN_CONFLICTS_H

#include "base/alloc.h"

#include <string.h>

/*
 * Starts loading what will be written. To be used in a function that does more than that: one that only prefetches is
 * without effect for some compilers, and calls of it are left out.
 */
#if defined(__GNUC__)
#define TWPA__PREFETCH(address) __builtin_prefetch((address), 1)
#else
#define TWPA__PREFETCH(address) ((void)(address))
#endif

/* For what is seldom needed in the middle of what is fast. */
#if defined(__GNUC__)
#define TWPA__APART __attribute__((noinline))
#else
#define TWPA__APART
#endif

#define TWPA__NARROW_WAYS 7
#define TWPA__WIDE_WAYS 4

/* Where "now" is: the transaction that enters, and how many lie between it and the low watermark. */
typedef struct twpa__now {
  uint32_t seq;  /* its number, low half */
  uint32_t span; /* seq - low watermark; at least 1 */
} twpa__now;

static inline uint32_t twpa__age(twpa__now now, uint32_t seq)
{
  return now.seq - seq;
}

/* Above the low watermark? (Its own number counts as live, age 0.) */
static inline bool twpa__is_live(twpa__now now, uint32_t seq)
{
  return twpa__age(now, seq) < now.span;
}

static inline uint32_t twpa__newer(twpa__now now, uint32_t a, uint32_t b)
{
  return twpa__age(now, a) < twpa__age(now, b) ? a : b;
}

/* --- narrow ---------------------------------------------------------------------------------------------------- */

/* The two low bits of a tag. */
#define TWPA__NARROW_UPDATE UINT32_C(1) /* the last access was an update */
#define TWPA__NARROW_FREE UINT32_C(2)   /* the last access left the key free */

/* Eight places, so that two vectors of four are compared at once; the last one holds the horizon. */
typedef struct twpa__narrow_bucket {
  uint32_t tag[TWPA__NARROW_WAYS + 1];
  uint32_t seq[TWPA__NARROW_WAYS + 1];
} twpa__narrow_bucket;

#define TWPA__NARROW_HORIZON TWPA__NARROW_WAYS

typedef struct twpa__narrow_table {
  twpa__narrow_bucket *buckets; /* aligned to a cache line, inside block */
  void *block;
  size_t block_size;
  uint64_t mask;
} twpa__narrow_table;

typedef struct twpa__narrow_found {
  bool hit;         /* live entry of this key ... */
  uint32_t before;  /* ... its last accessor ... */
  uint32_t bits;    /* ... and those of that access */
  uint32_t horizon; /* no hit: wait for all up to it, if live */
  bool evicted;     /* a live entry had to go */
} twpa__narrow_found;

twpa_status twpa__narrow_init(twpa__narrow_table *t, twpa__mem *mem, size_t bytes);
void twpa__narrow_free(twpa__narrow_table *t, twpa__mem *mem);

static inline const twpa__narrow_bucket *twpa__narrow_bucket_of(const twpa__narrow_table *t, uint64_t hash)
{
  return &t->buckets[hash & t->mask];
}

#define TWPA__NARROW_TAG(hash) ((uint32_t)((hash) >> 32) & ~UINT32_C(3))
#define TWPA__NARROW_PLACES ((UINT32_C(1) << TWPA__NARROW_WAYS) - 1)

/*
 * A mask of the places that a comparison holds for, bit 0 the first. Which place it is cannot be predicted, so there are
 * no branches; compilers with vectors compare all at once.
 */
#if defined(__GNUC__)
typedef uint32_t twpa__four __attribute__((vector_size(16)));
typedef int32_t twpa__four_signed __attribute__((vector_size(16)));

static inline twpa__four twpa__load_four(const uint32_t *from)
{
  twpa__four four;
  memcpy(&four, from, sizeof four);
  return four;
}

static inline uint32_t twpa__mask_of(twpa__four first, twpa__four second)
{
#if defined(__SSE2__)
  typedef float floats __attribute__((vector_size(16)));
  uint32_t low = (uint32_t)__builtin_ia32_movmskps((floats)first);
  return (low | (uint32_t)__builtin_ia32_movmskps((floats)second) << 4) & TWPA__NARROW_PLACES;
#else
  const twpa__four bits = (first & (twpa__four){1, 2, 4, 8}) | (second & (twpa__four){16, 32, 64, 128});
  uint64_t pairs[2];
  memcpy(pairs, &bits, sizeof pairs);
  pairs[0] |= pairs[1];
  return (uint32_t)(pairs[0] | pairs[0] >> 32) & TWPA__NARROW_PLACES;
#endif
}
#endif

/* The place of a tag; 0: nowhere. */
static inline uint32_t twpa__narrow_places(const twpa__narrow_bucket *b, uint32_t tag)
{
#if defined(__GNUC__)
  const twpa__four low = twpa__load_four(b->tag) & ~UINT32_C(3), high = twpa__load_four(b->tag + 4) & ~UINT32_C(3);
  return twpa__mask_of((twpa__four)(low == tag), (twpa__four)(high == tag));
#else
  uint32_t found = 0;
  for (uint32_t i = 0; i < TWPA__NARROW_WAYS; i++)
    found |= (b->tag[i] & ~UINT32_C(3)) == tag ? UINT32_C(1) << i : 0;
  return found;
#endif
}

#if defined(__GNUC__)
/* Which of four numbers are live. Compared as signed ones, which there are instructions for: both sides are moved by half
   of the range. */
static inline twpa__four twpa__live_four(const uint32_t *seqs, twpa__now now)
{
  const uint32_t half = UINT32_C(1) << 31;
  const twpa__four_signed ages = (twpa__four_signed)(now.seq + half - twpa__load_four(seqs));
  return (twpa__four)(ages < (int32_t)(now.span + half));
}
#endif

/* The places of live entries. */
static inline uint32_t twpa__narrow_live(const twpa__narrow_bucket *b, twpa__now now)
{
#if defined(__GNUC__)
  return twpa__mask_of(twpa__live_four(b->seq, now), twpa__live_four(b->seq + 4, now));
#else
  uint32_t live = 0;
  for (uint32_t i = 0; i < TWPA__NARROW_WAYS; i++)
    live |= now.seq - b->seq[i] < now.span ? UINT32_C(1) << i : 0;
  return live;
#endif
}

/* The first place of a mask that is not 0. */
static inline unsigned twpa__first_place(uint32_t mask)
{
#if defined(__GNUC__)
  return (unsigned)__builtin_ctz(mask);
#else
  unsigned i = 0;
  while ((mask >> i & 1) == 0)
    i++;
  return i;
#endif
}

unsigned twpa__narrow_oldest(const twpa__narrow_bucket *b, twpa__now now);

/*
 * now.seq becomes the last accessor of the key, with these bits. Whether there is a live entry is as good as random, so
 * both cases are one; that none is there and none is dead is rare where the table is large enough.
 */
static inline twpa__narrow_found twpa__narrow_access(const twpa__narrow_table *t, uint64_t hash, uint32_t bits,
                                                     twpa__now now)
{
  twpa__narrow_bucket *b = &t->buckets[hash & t->mask];
  const uint32_t tag = TWPA__NARROW_TAG(hash);
  const uint32_t same = twpa__narrow_places(b, tag), live = twpa__narrow_live(b, now);
  /* A dead entry of the key: its place is taken, so that a key never has two entries. */
  const uint32_t places = same != 0 ? same : live ^ TWPA__NARROW_PLACES;
  const unsigned i = places != 0 ? twpa__first_place(places) : twpa__narrow_oldest(b, now);
  const uint32_t before = b->seq[i];
  const twpa__narrow_found found = {.before = before,
                                    .bits = b->tag[i] & 3,
                                    .horizon = b->seq[TWPA__NARROW_HORIZON],
                                    .hit = ((same & live) >> i & 1) != 0,
                                    .evicted = places == 0};
  if (places == 0)
    b->seq[TWPA__NARROW_HORIZON] = twpa__newer(now, found.horizon, before);
  if (found.hit && before == now.seq) /* its own, by a collision: an update is only what all its accesses were */
    bits &= found.bits | ~TWPA__NARROW_UPDATE;
  b->tag[i] = tag | bits;
  b->seq[i] = now.seq;
  return found;
}

/* Is there nothing live about the key, not even a horizon? */
bool twpa__narrow_is_quiet(const twpa__narrow_table *t, uint64_t hash, twpa__now now);

/* --- wide ------------------------------------------------------------------------------------------------------ */

/* Flags of a wide entry. */
#define TWPA__WIDE_FLOOR 1u /* w is a floor: all up to it */
#define TWPA__WIDE_JOIN 2u  /* r is a join node */
#define TWPA__WIDE_FREE 4u  /* the last write left the key free */

typedef struct twpa__wide_bucket {
  uint32_t horizon;
  uint8_t flags[TWPA__WIDE_WAYS]; /* 3 bits, and 5 of hash */
  uint16_t tag[TWPA__WIDE_WAYS];  /* 16 of hash */
  uint32_t w[TWPA__WIDE_WAYS];     /* last write, or floor */
  uint32_t u[TWPA__WIDE_WAYS];     /* last update since w */
  uint32_t r[TWPA__WIDE_WAYS];     /* the reader since w, or the join node of several */
} twpa__wide_bucket;

typedef struct twpa__wide_table {
  twpa__wide_bucket *buckets;
  void *block;
  size_t block_size;
  uint64_t mask;
} twpa__wide_table;

/* The newest of the readers behind a join node; the table does not know join nodes. */
typedef uint32_t (*twpa__newest_reader)(const void *arg, uint32_t join);

typedef struct twpa__wide_found {
  twpa__wide_bucket *bucket;
  int way;
  bool hit;      /* live entry of this key; otherwise it has just been born, with the horizon as its floor */
  bool evicted;  /* a live entry had to go */
  bool had_join; /* the entry that made room held a join node ... */
  uint32_t join; /* ... this one, which now has a holder less */
} twpa__wide_found;

twpa_status twpa__wide_init(twpa__wide_table *t, twpa__mem *mem, size_t bytes);
void twpa__wide_free(twpa__wide_table *t, twpa__mem *mem);

static inline const twpa__wide_bucket *twpa__wide_bucket_of(const twpa__wide_table *t, uint64_t hash)
{
  return &t->buckets[hash & t->mask];
}

static inline uint32_t twpa__wide_flags(const twpa__wide_bucket *b, int way)
{
  return b->flags[way] & 7u;
}

static inline void twpa__wide_set_flags(twpa__wide_bucket *b, int way, uint32_t set, uint32_t clear)
{
  b->flags[way] = (uint8_t)((b->flags[way] & ~clear) | set);
}

/* The entry of a key, made if need be. */
twpa__wide_found twpa__wide_find(twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                                 const void *arg);
/* Is there nothing live about the key, not even a horizon? */
bool twpa__wide_is_quiet(const twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                         const void *arg);

#endif
