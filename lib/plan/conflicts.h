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

typedef struct twpa__narrow_bucket {
  uint32_t tag[TWPA__NARROW_WAYS];
  uint32_t horizon;
  uint32_t seq[TWPA__NARROW_WAYS];
  uint32_t reserved;
} twpa__narrow_bucket;

typedef struct twpa__narrow_table {
  twpa__narrow_bucket *buckets; /* aligned to a cache line, inside block */
  void *block;
  size_t block_size;
  uint64_t mask;
} twpa__narrow_table;

typedef struct twpa__narrow_found {
  uint32_t before;  /* the last accessor; dead: none */
  uint32_t bits;    /* of that access */
  uint32_t horizon; /* on a miss: wait for all up to it, if live */
  bool hit;         /* live entry of this key */
  bool evicted;     /* a live entry had to go */
} twpa__narrow_found;

twpa_status twpa__narrow_init(twpa__narrow_table *t, twpa__mem *mem, size_t bytes);
void twpa__narrow_free(twpa__narrow_table *t, twpa__mem *mem);

static inline const twpa__narrow_bucket *twpa__narrow_bucket_of(const twpa__narrow_table *t, uint64_t hash)
{
  return &t->buckets[hash & t->mask];
}

/* The last accessor of the key if there is an entry, else anything: a hint of what will be needed next. */
static inline uint32_t twpa__narrow_peek(const twpa__narrow_table *t, uint64_t hash)
{
  const twpa__narrow_bucket *b = twpa__narrow_bucket_of(t, hash);
  const uint32_t tag = (uint32_t)(hash >> 32) & ~UINT32_C(3);
  uint32_t seq = 0;
  for (int i = 0; i < TWPA__NARROW_WAYS; i++)
    seq = (b->tag[i] ^ tag) < 4 ? b->seq[i] : seq;
  return seq;
}

/* now.seq becomes the last accessor of the key, with these bits. */
twpa__narrow_found twpa__narrow_access(twpa__narrow_table *t, uint64_t hash, uint32_t bits, twpa__now now);
/* Is there nothing live about the key, not even a horizon? */
bool twpa__narrow_is_quiet(const twpa__narrow_table *t, uint64_t hash, twpa__now now);

/* --- wide ------------------------------------------------------------------------------------------------------ */

/* The flags in a wide tag. */
#define TWPA__WIDE_FLOOR 1u /* w is a floor: all up to it */
#define TWPA__WIDE_JOIN 2u  /* r is a join node */
#define TWPA__WIDE_FREE 4u  /* the last write left the key free */

typedef struct twpa__wide_bucket {
  uint32_t horizon;
  uint8_t tag[TWPA__WIDE_WAYS][3]; /* 3 bits of flags, 21 of hash */
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
  return b->tag[way][0] & 7u;
}

static inline void twpa__wide_set_flags(twpa__wide_bucket *b, int way, uint32_t set, uint32_t clear)
{
  b->tag[way][0] = (uint8_t)((b->tag[way][0] & ~clear) | set);
}

/* The entry of a key, made if need be. */
twpa__wide_found twpa__wide_find(twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                                 const void *arg);
/* Is there nothing live about the key, not even a horizon? */
bool twpa__wide_is_quiet(const twpa__wide_table *t, uint64_t hash, twpa__now now, twpa__newest_reader newest,
                         const void *arg);

#endif
