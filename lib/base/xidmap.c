/*
 * A map from number to pointer.
 *
 * Most of it is a table of groups of four places, each group one cache line, in which a key has its group and any place
 * of that. At least half of the places are free, so that groups are rarely full. What finds its group full goes to the
 * rest, a hash table of uthash; keys that are chosen with bad will are all there, and found by hash. When the table of
 * groups grows, it takes back what it has places for. If there is no memory for growing, it stays as it is, and the
 * rest becomes larger.
 *
 * uthash ends the process when memory runs out and takes memory from malloc. Here running out of memory is reported, and
 * the failed call leaves the map as it was; memory comes from the map's allocator; the hash is ours.
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

#define GROUPS_MIN 4

typedef struct twpa__xidmap_entry {
  UT_hash_handle hh;
  uint64_t key;
  void *value;
} entry;

TWPA__STATIC_ASSERT(sizeof(twpa__xidmap_group) == 64 || sizeof(void *) < 8, "a group is a cache line");

#define MANY 255

/* --- the rest --- */

static unsigned hash_of(uint64_t key)
{
  return (unsigned)twpa__mix64(key);
}

static unsigned char *crowded_of(const twpa__xidmap *map, uint64_t key)
{
  return map->ngroups > 0 ? &map->crowded[twpa__xidmap_group_of(map, key) - map->groups] : NULL;
}

/* One more of its group is among the rest. */
static void crowd(twpa__xidmap *map, uint64_t key)
{
  unsigned char *crowded = crowded_of(map, key);
  if (crowded != NULL && *crowded < MANY)
    ++*crowded;
}

/* Nothing is there for nearly all keys, and that is told without touching the table. */
static entry *rest_find(const twpa__xidmap *map, uint64_t key)
{
  entry *e;
  if (map->nrest == 0 || (map->ngroups > 0 && *crowded_of(map, key) == 0))
    return NULL;
  HASH_FIND_BYHASHVALUE(hh, map->rest, &key, sizeof key, hash_of(key), e);
  return e;
}

static twpa_status rest_add(twpa__xidmap *map, uint64_t key, void *value)
{
  twpa__mem *mem = map->mem;
  entry *e = twpa__zalloc(mem, sizeof *e);
  if (e == NULL)
    return TWPA_E_NOMEM;
  e->key = key;
  e->value = value;
  map->oom = false;
  HASH_ADD_BYHASHVALUE(hh, map->rest, key, sizeof e->key, hash_of(key), e);
  if (map->oom) {
    twpa__release(mem, e, sizeof *e);
    return TWPA_E_NOMEM;
  }
  map->nrest++;
  crowd(map, key);
  return TWPA_OK;
}

static void rest_remove(twpa__xidmap *map, entry *e)
{
  twpa__mem *mem = map->mem;
  unsigned char *crowded = crowded_of(map, e->key);
  if (crowded != NULL && *crowded < MANY)
    --*crowded;
  HASH_DELETE(hh, map->rest, e);
  twpa__release(mem, e, sizeof *e);
  map->nrest--;
}

void *twpa__xidmap_get_rest(const twpa__xidmap *map, uint64_t key)
{
  const entry *e = rest_find(map, key);
  return e != NULL ? e->value : NULL;
}

/* --- groups --- */

/* False: the group has no place. */
static bool put(const twpa__xidmap *map, uint64_t key, void *value)
{
  if (map->ngroups == 0)
    return false;
  twpa__xidmap_group *group = twpa__xidmap_group_of(map, key);
  for (size_t i = 0; i < TWPA__XIDMAP_WAYS; i++)
    if (group->at[i].value == NULL) {
      group->at[i] = (twpa__xidmap_place){key, value};
      return true;
    }
  return false;
}

static size_t block_size(size_t ngroups)
{
  return (ngroups + 1) * sizeof(twpa__xidmap_group) + ngroups; /* one more, to begin where a line does */
}

static twpa__xidmap_group *align(void *block)
{
  size_t past = (uintptr_t)block % sizeof(twpa__xidmap_group);
  return (twpa__xidmap_group *)(void *)((char *)block + (past > 0 ? sizeof(twpa__xidmap_group) - past : 0));
}

/* Twice as many groups. What was in one group is in one of two, where there is room for it. */
static void grow(twpa__xidmap *map)
{
  size_t ngroups = map->ngroups == 0 ? GROUPS_MIN : map->ngroups * 2;
  bool fits = ngroups < SIZE_MAX / sizeof(twpa__xidmap_group) / 2;
  void *block = fits ? twpa__zalloc(map->mem, block_size(ngroups)) : NULL;
  if (block == NULL)
    return;
  twpa__xidmap_group *old = map->groups;
  size_t nold = map->ngroups;
  void *old_block = map->block;
  map->block = block;
  map->groups = align(block);
  map->crowded = (unsigned char *)(map->groups + ngroups);
  map->ngroups = ngroups;
  for (size_t i = 0; i < nold * TWPA__XIDMAP_WAYS; i++) {
    const twpa__xidmap_place *place = &old[i / TWPA__XIDMAP_WAYS].at[i % TWPA__XIDMAP_WAYS];
    bool ok = place->value == NULL || put(map, place->key, place->value);
    TWPA__ASSERT(ok);
    (void)ok;
  }
  twpa__release(map->mem, old_block, nold > 0 ? block_size(nold) : 0);
  for (const entry *e = map->rest; e != NULL; e = e->hh.next)
    crowd(map, e->key);
  for (entry *e = map->rest; e != NULL;) {
    entry *next = e->hh.next;
    if (put(map, e->key, e->value))
      rest_remove(map, e);
    e = next;
  }
}

/* --- the map --- */

void twpa__xidmap_init(twpa__xidmap *map, twpa__mem *mem)
{
  memset(map, 0, sizeof *map);
  map->mem = mem;
}

void twpa__xidmap_clear(twpa__xidmap *map)
{
  while (map->rest != NULL)
    rest_remove(map, map->rest);
  twpa__release(map->mem, map->block, map->ngroups > 0 ? block_size(map->ngroups) : 0);
  twpa__xidmap_init(map, map->mem);
}

twpa_status twpa__xidmap_add(twpa__xidmap *map, uint64_t key, void *value)
{
  TWPA__ASSERT(value != NULL);
  TWPA__VERIFY(twpa__xidmap_get(map, key) == NULL);
  if (map->count >= map->ngroups * (TWPA__XIDMAP_WAYS / 2))
    grow(map);
  twpa_status st = put(map, key, value) ? TWPA_OK : rest_add(map, key, value);
  if (st != TWPA_OK)
    return st;
  map->count++;
  if (key > map->highest)
    map->highest = key;
  return TWPA_OK;
}

void *twpa__xidmap_remove(twpa__xidmap *map, uint64_t key)
{
  if (map->ngroups > 0) {
    twpa__xidmap_group *group = twpa__xidmap_group_of(map, key);
    for (size_t i = 0; i < TWPA__XIDMAP_WAYS; i++) {
      void *value = group->at[i].value;
      if (group->at[i].key != key || value == NULL)
        continue;
      group->at[i].value = NULL;
      map->count--;
      return value;
    }
  }
  entry *e = rest_find(map, key);
  if (e == NULL)
    return NULL;
  void *value = e->value;
  rest_remove(map, e);
  map->count--;
  return value;
}
