/*
 * A map from a 64-bit number (a transaction id) to a pointer. uthash inside, and the only module that includes it.
 * Iteration is in the order of insertion, whatever the hashes are. Numbers that lie close together, as those of open
 * transactions do, are mostly found at the first place looked at.
 */
#ifndef TWPA_BASE_XIDMAP_H
#define TWPA_BASE_XIDMAP_H

#include "base/alloc.h"

typedef struct twpa__xidmap_near {
  uint64_t key;
  void *value; /* NULL: empty */
} twpa__xidmap_near;

typedef struct twpa__xidmap {
  twpa__mem *mem;
  struct twpa__xidmap_entry *head;
  struct twpa__xidmap_entry *spare; /* recycled entries */
  twpa__xidmap_near *near; /* what was added or found last, by the low bits of the key */
  size_t near_size;        /* a power of two, or 0 */
  uint64_t highest; /* no key that was ever added is higher: a new id needs no search */
  size_t count;
  size_t spares; /* recycled entries */
  bool oom; /* set by uthash's out-of-memory hook */
} twpa__xidmap;

/* mem outlives the map. Allocates nothing. */
void twpa__xidmap_init(twpa__xidmap *map, twpa__mem *mem);
/* Frees the entries, not what they point to. */
void twpa__xidmap_clear(twpa__xidmap *map);
/* NULL if absent. */
void *twpa__xidmap_get(const twpa__xidmap *map, uint64_t key);
/* The same, and the next time it is found faster. */
void *twpa__xidmap_find(twpa__xidmap *map, uint64_t key);
/* Adds a key, which must be absent; the value is not NULL. TWPA_E_NOMEM leaves the map as it was. */
twpa_status twpa__xidmap_add(twpa__xidmap *map, uint64_t key, void *value);
/* Removes; the value, or NULL if absent. Cannot fail. */
void *twpa__xidmap_remove(twpa__xidmap *map, uint64_t key);
/*
 * Iteration: *it = NULL at the start. The value, or NULL at the end. The entry just given may be removed; entries added
 * meanwhile may be left out. key may be NULL.
 */
void *twpa__xidmap_next(const twpa__xidmap *map, void **it, uint64_t *key);

#endif
