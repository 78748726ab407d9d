/*
 * The accesses of one transaction, as access sets collect them and the plan reads them: keys with modes, flags on
 * indexes, relations touched; and deltas, changes whose old values are to be looked up when the transaction enters.
 *
 * Three steps, in three files:
 *   derive.c   a change -> a delta: which values were and are there, per index and foreign key (rule 1.2)
 *   emit.c     a delta -> accesses (rule 1.3); what was asked of row memory has been answered by then
 *   accesses.c the containers; merging (the end of rule 1.3)
 * Everything that can fail is reserved beforehand, so that emitting cannot fail.
 */
#ifndef TWPA_PLAN_ACCESSES_H
#define TWPA_PLAN_ACCESSES_H

#include "base/alloc.h"
#include "base/hash.h"
#include "plan/relation.h"

#include <twpa/plan.h>

/* Bits of an access. The two lowest are its mode. */
#define TWPA__ACC_MODE UINT32_C(3)
#define TWPA__ACC_WIDE UINT32_C(4)         /* lives in the table of wide entries */
#define TWPA__ACC_FIRST_CLAIM UINT32_C(8)  /* the first thing done to the key was to take it */
#define TWPA__ACC_LAST_FREE UINT32_C(16)   /* the last thing done to the key was to give it free */
#define TWPA__ACC_NO_EARLY UINT32_C(32)    /* no lock of the target protects it */
#define TWPA__ACC_RAW UINT32_C(64)         /* a key of the host's own */
#define TWPA__ACC_KIND_SHIFT 8

typedef struct twpa__access {
  uint64_t key;  /* its hash; of a raw key: what twpa__raw_hash makes of it */
  uint32_t bits;
  uint32_t idx; /* position in idxs; of no meaning for a raw key */
} twpa__access;

/* Keys of the host's own are any numbers: mixed, and got back for those who ask. */
#define TWPA__RAW_STEP UINT64_C(0x8CB92BA72F3D8DD7)

static inline uint64_t twpa__raw_hash(uint64_t key)
{
  return twpa__mix64(key ^ TWPA__RAW_STEP);
}

static inline uint64_t twpa__raw_key(uint64_t hash)
{
  return twpa__unmix64(hash) ^ TWPA__RAW_STEP;
}

/* Flags on an index (rule 1.3), and what is known of it. */
enum {
  TWPA__IDX_CLAIM = 1,
  TWPA__IDX_RELEASE_UNKNOWN = 2,
  TWPA__IDX_KEYLOSS = 4,
  TWPA__IDX_REF_RELEASE = 8,
  TWPA__IDX_REF_RELEASE_UNKNOWN = 16,
  TWPA__IDX_FLAGS = 31,
  TWPA__IDX_DETECTOR = 32,     /* the target detects a violation at once: optimism is allowed */
  TWPA__IDX_FK_DETECTED = 64,  /* the same of a foreign key; its flags come from the child's side */
  TWPA__IDX_REFERENCED = 128
};

typedef struct twpa__idx {
  uint64_t relation, index; /* ids */
  uint64_t domain;          /* what its keys begin with */
  uint32_t flags;
  uint32_t reserved;
} twpa__idx;

#define TWPA__WHOLE_ROW (~UINT64_C(0)) /* in place of an index: keys over whole rows */

enum {
  TWPA__TOUCH_BARRIER = 1,
  TWPA__TOUCH_CLOSURE = 2, /* and all neighbours by foreign keys, near and far */
  TWPA__TOUCH_OLD_ROWS = 4, /* an update or delete: old rows were looked at */
  TWPA__TOUCH_FORGET = 8    /* row memory must not be believed for this relation afterwards */
};

typedef struct twpa__touch {
  uint64_t id; /* of a relation (the root's) */
  uint32_t flags;
  uint32_t reserved;
} twpa__touch;

/* A relation whose description is used. idxs[first ..]: its indexes, its foreign keys, its whole rows. */
typedef struct twpa__user {
  uint64_t id; /* the pointer as a number, for the map */
  twpa_relation *relation;
  uint32_t first; /* in idxs */
  uint32_t touch; /* in touches */
} twpa__user;

/* From a number to a position in an array whose elements begin with that number. Used above a few elements. */
typedef struct twpa__posmap {
  uint32_t *slots; /* position + 1; 0: free */
  size_t cap;      /* power of two, or 0 */
  size_t linear;   /* up to so many elements, looking at each is faster */
  bool used;
} twpa__posmap;

typedef struct twpa__accesses {
  twpa__mem *mem;
  twpa__access *acc;
  twpa__touch *touches;
  twpa__user *users;
  twpa__idx *idxs;
  size_t nacc, ntouches, nusers, nidxs;
  size_t acc_cap, touches_cap, users_cap, idxs_cap;
  twpa__posmap acc_map, touch_map, user_map;
  uint64_t seen[4]; /* a bit for each key that is there, by its upper eight bits: most new keys are told by it */
  size_t nraw;     /* of nacc */
  uint64_t budget; /* most keys; 0: no limit */
  bool over;       /* over the budget: the keys are gone, every touch is a barrier */
  bool late;       /* what is emitted now may come before what has been emitted already */
  bool fell_back;  /* some of fallbacks are not 0 */
  bool database_barrier;
  uint64_t fallbacks[TWPA_FALLBACKS];
} twpa__accesses;

void twpa__accesses_init(twpa__accesses *a, twpa__mem *mem, uint64_t budget);
void twpa__accesses_clear(twpa__accesses *a); /* lets go of relations, keeps memory */
void twpa__accesses_free(twpa__accesses *a);

/* Up to so many elements are looked at one by one; keys seldom, thanks to `seen`. */
#define TWPA__LINEAR 8
#define TWPA__LINEAR_KEYS 32

twpa_status twpa__accesses_grow(twpa__accesses *a, size_t nacc, size_t ntouches);

static inline bool twpa__posmap_fits(const twpa__posmap *map, size_t n)
{
  return n <= map->linear || n <= map->cap / 2;
}

/* Makes sure that so many more fit. */
static inline twpa_status twpa__accesses_reserve(twpa__accesses *a, size_t nacc, size_t ntouches)
{
  size_t n = a->nacc + nacc, m = a->ntouches + ntouches;
  if (n <= a->acc_cap && m <= a->touches_cap && twpa__posmap_fits(&a->acc_map, n) && twpa__posmap_fits(&a->touch_map, m))
    return TWPA_OK;
  return twpa__accesses_grow(a, nacc, ntouches);
}

/* False: the key is new, certainly. */
static inline bool twpa__accesses_may_have(const twpa__accesses *a, uint64_t key)
{
  return (a->seen[key >> 62] >> (key >> 56 & 63) & 1) != 0;
}

static inline void twpa__accesses_mark(twpa__accesses *a, uint64_t key)
{
  a->seen[key >> 62] |= UINT64_C(1) << (key >> 56 & 63);
}

/* Something coarser than an exact key was used. */
static inline void twpa__accesses_fall_back(twpa__accesses *a, uint32_t reason)
{
  a->fallbacks[reason]++;
  a->fell_back = true;
}

/* A copy of all of it into an empty one, with room for nacc and ntouches more. */
twpa_status twpa__accesses_copy(twpa__accesses *to, const twpa__accesses *from, size_t nacc, size_t ntouches);
/* The user of a relation, made if need be (then held). The only way in for relations. Needs no reservation. */
twpa_status twpa__accesses_user(twpa__accesses *a, twpa_relation *relation, uint64_t seed, uint32_t fk_policy,
                                uint32_t *position);
/* Reserved beforehand: */
void twpa__accesses_key(twpa__accesses *a, uint32_t idx, uint64_t key, uint32_t bits);
void twpa__accesses_touch(twpa__accesses *a, uint64_t id, uint32_t flags);
void twpa__accesses_barrier(twpa__accesses *a, uint64_t id, uint32_t reason);

/* --- deltas ---------------------------------------------------------------------------------------------------- */

/* What is known of a value. */
enum {
  TWPA__VAL_NONE,    /* there is no key: NULL, or the row does not exist */
  TWPA__VAL_KEY,     /* known */
  TWPA__VAL_UNKNOWN, /* not known */
  TWPA__VAL_SAME,    /* old: the same as the new one; new: the same as before, and not known */
  TWPA__VAL_ASK,     /* old: row memory may know */
  TWPA__VAL_SKIP     /* this index or foreign key takes no part */
};

typedef struct twpa__slot {
  uint8_t old_state, new_state;
  uint8_t bytes_change; /* the bytes of a column of the index change or may change */
  uint8_t new_exact;    /* new_key and new_check stand for the value */
  uint32_t reserved;
  uint64_t old_key, new_key;
  uint64_t new_check[2];
} twpa__slot;

enum {
  TWPA__DELTA_IDENTITY_EQUAL = 1, /* update: the row key stays */
  TWPA__DELTA_STRONG = 2,         /* the bytes of a column of a full unique index change, whatever memory says */
  TWPA__DELTA_ASKS = 4,           /* a slot asks row memory */
  TWPA__DELTA_EMITTED = 8,        /* its accesses are in the set; only row memory has to learn */
  TWPA__DELTA_FORGET = 16         /* row memory forgets the relation: TRUNCATE, DDL, or a row that cannot be named */
};

typedef struct twpa__delta {
  uint32_t user; /* position in users */
  uint8_t op;    /* TWPA_OP_*, or 0: only TWPA__DELTA_FORGET */
  uint8_t flags;
  uint8_t row_old, row_new; /* TWPA__VAL_NONE, _KEY or _UNKNOWN */
  uint32_t nslots;          /* indexes, then foreign keys */
  uint32_t reserved;
  uint64_t row_old_key, row_new_key;
  uint64_t row_old_id[2], row_new_id[2]; /* what row memory calls the row */
} twpa__delta;                           /* nslots of twpa__slot follow */

static inline twpa__slot *twpa__delta_slots(twpa__delta *d)
{
  return (twpa__slot *)(d + 1);
}

static inline size_t twpa__delta_size(size_t nslots)
{
  return sizeof(twpa__delta) + nslots * sizeof(twpa__slot);
}

/* What decides how accesses are derived; copied from the plan's options. */
typedef struct twpa__policy {
  uint64_t seed;
  uint64_t budget;
  uint32_t foreign_keys, no_identity, parent_update;
  bool memory; /* the plan has row memory */
} twpa__policy;

/* The most that emitting a delta of this relation can add. */
size_t twpa__emit_max_accesses(const twpa_relation *r);
size_t twpa__emit_max_touches(const twpa_relation *r);
/* Adds the accesses of a delta without TWPA__VAL_ASK. Cannot fail; reserve beforehand. */
void twpa__emit_delta(twpa__accesses *a, const twpa__policy *policy, twpa__delta *delta);

/* Derives a delta, whose slots have room. What cannot be computed becomes barriers in a, reserved beforehand. */
void twpa__derive(twpa__accesses *a, const twpa__policy *policy, twpa__delta *delta, uint32_t user, uint32_t op,
                  const twpa_value *old_values, const twpa_value *new_values);

struct twpa_access_set {
  twpa__mem mem;
  twpa__policy policy;
  twpa__accesses acc;
  twpa_lsn end_lsn;
  uint64_t origin;
  uint32_t flags;
  uint64_t changes;
  unsigned char *deltas; /* twpa__delta after twpa__delta, for row memory */
  size_t deltas_len, deltas_cap;
  size_t ask_accesses, ask_touches; /* the most that those not yet emitted can add */
  unsigned char *scratch;           /* one delta */
  size_t scratch_cap;
};

#endif
