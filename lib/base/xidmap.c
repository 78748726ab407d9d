/*
 * A map from number to pointer: uthash, tamed.
 *
 * uthash ends the process when memory runs out, takes memory from malloc, frees its table when the last element goes
 * (a map that is empty every other moment would allocate all the time) and stops growing for good under a bad hash.
 * Here running out of memory is reported, and the failed call leaves the map as it was; memory comes from the map's
 * allocator; the first element is a sentinel that stays, so that the table does; the hash is ours. The sentinel has a
 * key of length 0, which no search has.
 *
 * Entries that were removed are kept for the next ones, at most as many as are in use and a few.
 *
 * In front of it lies a table with one place for each value of the low bits of a key. Finding a key there touches one
 * cache line instead of three or more. Ids are given out in sequence, so the open transactions get in each other's way
 * there only where one is much older than the rest. Looking up makes the table grow with the map; if there is no memory
 * for that, it stays as it is, and keys are found by hash.
 */
#include "base/xidmap.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

/* uthash's macros carry no context: where they are used, `mem` and `map` are local variables. */
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) twpa__alloc(mem, (size))
#define uthash_free(p, size) twpa__release(mem, (p), (size))
#define uthash_nonfatal_oom(entry) \
  do {                             \
    map->oom = true;               \
  } while (0)
#include <uthash.h>

/* As delivered, ten entries in a bucket are thought few: a cache line each. */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH 4U

/* More spare entries than entries in use, by this many, go back to the allocator. */
#define SPARE_EXTRA 32
#define NEAR_MIN 16

typedef struct twpa__xidmap_entry {
  UT_hash_handle hh;
  uint64_t key;
  void *value; /* or the next spare entry */
} entry;

/*
 * Ids that follow one another go to buckets that are neighbours in memory, so that what comes and goes in sequence finds
 * its cache lines warm; blocks of ids are spread at random, and the ids of a block never meet.
 */
static unsigned hash_of(uint64_t key)
{
  return (unsigned)(key ^ twpa__mix64(key >> 12));
}

/* Inserts with a key of `len` bytes. TWPA_E_NOMEM leaves the table as it was. */
static twpa_status insert(twpa__xidmap *map, entry *e, size_t len)
{
  twpa__mem *mem = map->mem;
  map->oom = false;
  HASH_ADD_BYHASHVALUE(hh, map->head, key, len, hash_of(e->key), e);
  return map->oom ? TWPA_E_NOMEM : TWPA_OK;
}

static entry *find(const twpa__xidmap *map, uint64_t key)
{
  if (key > map->highest)
    return NULL;
  entry *e;
  HASH_FIND_BYHASHVALUE(hh, map->head, &key, sizeof key, hash_of(key), e);
  return e;
}

static twpa__xidmap_near *near_place(const twpa__xidmap *map, uint64_t key)
{
  return &map->near[key & (map->near_size - 1)];
}

static void near_set(twpa__xidmap *map, uint64_t key, void *value)
{
  if (map->near_size > 0)
    *near_place(map, key) = (twpa__xidmap_near){key, value};
}

static void near_free(twpa__xidmap *map)
{
  twpa__release(map->mem, map->near, map->near_size * sizeof *map->near);
  map->near = NULL;
  map->near_size = 0;
}

/* Twice as many places as keys, at least. The new table fills when keys are found. */
static void near_grow(twpa__xidmap *map)
{
  if (map->count * 2 <= map->near_size)
    return;
  size_t grown = map->near_size == 0 ? NEAR_MIN : map->near_size * 2, bytes;
  twpa__xidmap_near *near =
    twpa__array_size(&bytes, grown, sizeof *near) ? twpa__zalloc(map->mem, bytes) : NULL;
  if (near == NULL)
    return;
  near_free(map);
  map->near = near;
  map->near_size = grown;
}

static entry *spare_pop(twpa__xidmap *map)
{
  entry *e = map->spare;
  if (e != NULL) {
    map->spare = e->value;
    map->spares--;
  }
  return e;
}

static void spare_push(twpa__xidmap *map, entry *e)
{
  e->value = map->spare;
  map->spare = e;
  map->spares++;
}

static twpa_status add_sentinel(twpa__xidmap *map)
{
  entry *e = twpa__zalloc(map->mem, sizeof *e);
  if (e == NULL)
    return TWPA_E_NOMEM;
  twpa_status st = insert(map, e, 0);
  if (st != TWPA_OK)
    twpa__release(map->mem, e, sizeof *e);
  return st;
}

/* Gives back the sentinel and the table of a map without entries. */
static void drop_sentinel(twpa__xidmap *map)
{
  twpa__mem *mem = map->mem;
  entry *e = map->head;
  HASH_CLEAR(hh, map->head);
  twpa__release(mem, e, sizeof *e);
}

void twpa__xidmap_init(twpa__xidmap *map, twpa__mem *mem)
{
  memset(map, 0, sizeof *map);
  map->mem = mem;
}

void twpa__xidmap_clear(twpa__xidmap *map)
{
  twpa__mem *mem = map->mem;
  entry *e = map->head;
  HASH_CLEAR(hh, map->head);
  while (e != NULL) {
    entry *next = e->hh.next;
    twpa__release(mem, e, sizeof *e);
    e = next;
  }
  while ((e = spare_pop(map)) != NULL)
    twpa__release(mem, e, sizeof *e);
  near_free(map);
  map->count = 0;
}

void *twpa__xidmap_get(const twpa__xidmap *map, uint64_t key)
{
  const entry *e = find(map, key);
  return e != NULL ? e->value : NULL;
}

void *twpa__xidmap_find(twpa__xidmap *map, uint64_t key)
{
  if (map->near_size > 0) {
    const twpa__xidmap_near *near = near_place(map, key);
    if (near->key == key && near->value != NULL)
      return near->value;
  }
  void *value = twpa__xidmap_get(map, key);
  if (value != NULL) {
    near_grow(map);
    near_set(map, key, value);
  }
  return value;
}

twpa_status twpa__xidmap_add(twpa__xidmap *map, uint64_t key, void *value)
{
  TWPA__ASSERT(value != NULL);
  TWPA__VERIFY(find(map, key) == NULL);
  bool first = map->head == NULL;
  twpa_status st = first ? add_sentinel(map) : TWPA_OK;
  if (st != TWPA_OK)
    return st;
  entry *e = spare_pop(map);
  bool recycled = e != NULL;
  if (!recycled)
    e = twpa__alloc(map->mem, sizeof *e);
  if (e == NULL) {
    if (first)
      drop_sentinel(map);
    return TWPA_E_NOMEM;
  }
  memset(e, 0, sizeof *e);
  e->key = key;
  e->value = value;
  st = insert(map, e, sizeof e->key);
  if (st == TWPA_OK) {
    map->count++;
    if (key > map->highest)
      map->highest = key;
    near_set(map, key, value);
  } else if (recycled) {
    spare_push(map, e);
  } else {
    twpa__release(map->mem, e, sizeof *e);
  }
  return st;
}

void *twpa__xidmap_remove(twpa__xidmap *map, uint64_t key)
{
  twpa__mem *mem = map->mem;
  entry *e = find(map, key);
  if (e == NULL)
    return NULL;
  void *value = e->value;
  HASH_DELETE(hh, map->head, e);
  if (map->near_size > 0 && near_place(map, key)->key == key)
    near_set(map, key, NULL);
  map->count--;
  spare_push(map, e);
  while (map->spares > map->count + SPARE_EXTRA) {
    e = spare_pop(map);
    twpa__release(mem, e, sizeof *e);
  }
  return value;
}

/* *it is the entry to give next; the sentinel, which is never given, stands for the end. */
void *twpa__xidmap_next(const twpa__xidmap *map, void **it, uint64_t *key)
{
  entry *sentinel = map->head;
  if (sentinel == NULL)
    return NULL;
  entry *e = *it != NULL ? *it : sentinel->hh.next != NULL ? sentinel->hh.next : sentinel;
  *it = sentinel;
  if (e == sentinel)
    return NULL;
  if (e->hh.next != NULL)
    *it = e->hh.next;
  if (key != NULL)
    *key = e->key;
  return e->value;
}
