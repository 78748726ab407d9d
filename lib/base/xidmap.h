/*
 * A map from a 64-bit number (a transaction id) to a pointer. A key is found in one cache line nearly always; the few
 * for which that line has no place are in a hash table of uthash, which this is the only module to include.
 */
#ifndef TWPA_BASE_XIDMAP_H
#define TWPA_BASE_XIDMAP_H

#include "base/alloc.h"

typedef struct twpa__xidmap_place {
  uint64_t key;
  void *value; /* NULL: free */
} twpa__xidmap_place;

#define TWPA__XIDMAP_WAYS 4

/* A cache line. */
typedef struct twpa__xidmap_group {
  twpa__xidmap_place at[TWPA__XIDMAP_WAYS];
} twpa__xidmap_group;

typedef struct twpa__xidmap {
  twpa__mem *mem;
  twpa__xidmap_group *groups; /* begins at a multiple of their size */
  unsigned char *crowded;     /* for each group, how many keys of it are among the rest; 255: no matter how many */
  void *block;                /* the allocation that both are in */
  size_t ngroups;             /* a power of two, or 0 */
  uint64_t highest;           /* no key that was ever added is higher: a new id needs no search */
  size_t count;
  struct twpa__xidmap_entry *rest; /* those that found no place in their group */
  size_t nrest;
  bool oom; /* set by uthash's out-of-memory hook */
} twpa__xidmap;

/* mem outlives the map. Allocates nothing. */
void twpa__xidmap_init(twpa__xidmap *map, twpa__mem *mem);
/* Frees what the map has, not what it points to. */
void twpa__xidmap_clear(twpa__xidmap *map);
/* Adds a key, which must be absent; the value is not NULL. TWPA_E_NOMEM: the map has what it had. */
twpa_status twpa__xidmap_add(twpa__xidmap *map, uint64_t key, void *value);
/* Removes; the value, or NULL if absent. Cannot fail. */
void *twpa__xidmap_remove(twpa__xidmap *map, uint64_t key);
/* Looks among the rest, if there are any of its group. */
void *twpa__xidmap_get_rest(const twpa__xidmap *map, uint64_t key);

/*
 * Ids that follow one another share a line or go to lines that are neighbours, so that what comes and goes in sequence
 * finds them warm; blocks of ids are spread at random, and the ids of a block do not meet.
 */
static inline twpa__xidmap_group *twpa__xidmap_group_of(const twpa__xidmap *map, uint64_t key)
{
  uint64_t spread = (key >> 12) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
  return &map->groups[(key / TWPA__XIDMAP_WAYS ^ spread) & (map->ngroups - 1)];
}

/* Has fetched what tells whether a key is there. */
static inline void twpa__xidmap_prefetch(const twpa__xidmap *map, uint64_t key)
{
  if (map->ngroups == 0)
    return;
  const twpa__xidmap_group *group = twpa__xidmap_group_of(map, key);
  __builtin_prefetch(group, 0);
  __builtin_prefetch(&map->crowded[group - map->groups], 0);
}

/* The value, if it is in the line of its key; NULL if it is not there, or among the rest. */
static inline void *twpa__xidmap_peek(const twpa__xidmap *map, uint64_t key)
{
  if (map->ngroups == 0)
    return NULL;
  const twpa__xidmap_group *group = twpa__xidmap_group_of(map, key);
  uintptr_t value = 0; /* at most one place has the key and a value; which, no branch can foretell */
  for (size_t i = 0; i < TWPA__XIDMAP_WAYS; i++)
    value |= (uintptr_t)group->at[i].value & (uintptr_t)-(intptr_t)(group->at[i].key == key);
  return (void *)value;
}

/* NULL if absent. */
static inline void *twpa__xidmap_get(const twpa__xidmap *map, uint64_t key)
{
  if (key > map->highest)
    return NULL;
  void *value = twpa__xidmap_peek(map, key);
  return value != NULL || map->nrest == 0 ? value : twpa__xidmap_get_rest(map, key);
}

#endif
