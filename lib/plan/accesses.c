/*
 * Containers of a transaction's accesses, and merging: per key the stronger mode, per index the union of the flags, per
 * relation a barrier swallows a touch. A few elements are searched one by one, more through a map of positions.
 */
#include "plan/accesses.h"

#include "base/assert.h"
#include "base/hash.h"
#include "plan/key.h"

#include <string.h>


/* --- map of positions ------------------------------------------------------------------------------------------ */

static uint64_t id_at(const void *items, size_t stride, size_t pos)
{
  uint64_t id;
  memcpy(&id, (const unsigned char *)items + pos * stride, sizeof id);
  return id;
}

/* Makes the map large enough for n elements; those that are there are entered again. */
static twpa_status map_reserve(twpa__posmap *map, twpa__mem *mem, const void *items, size_t stride, size_t have, size_t n)
{
  if (twpa__posmap_fits(map, n))
    return TWPA_OK;
  size_t cap = map->cap > 0 ? map->cap : 4 * map->linear, bytes;
  while (cap / 2 < n) {
    if (cap > UINT32_MAX / 2)
      return TWPA_E_NOMEM;
    cap *= 2;
  }
  if (!twpa__array_size(&bytes, cap, sizeof *map->slots))
    return TWPA_E_NOMEM;
  uint32_t *slots = twpa__zalloc(mem, bytes);
  if (slots == NULL)
    return TWPA_E_NOMEM;
  twpa__release(mem, map->slots, map->cap * sizeof *map->slots);
  map->slots = slots;
  map->cap = cap;
  map->used = false;
  if (have > map->linear) {
    map->used = true;
    for (size_t pos = 0; pos < have; pos++) {
      size_t i = twpa__mix64(id_at(items, stride, pos)) & (cap - 1);
      while (slots[i] != 0)
        i = (i + 1) & (cap - 1);
      slots[i] = (uint32_t)pos + 1;
    }
  }
  return TWPA_OK;
}

static void map_enter(twpa__posmap *map, uint64_t id, size_t pos)
{
  size_t i = twpa__mix64(id) & (map->cap - 1);
  while (map->slots[i] != 0)
    i = (i + 1) & (map->cap - 1);
  map->slots[i] = (uint32_t)pos + 1;
}

/* The element at `pos` is new: the map gets it, and all before it when it is used for the first time. */
static void map_add(twpa__posmap *map, const void *items, size_t stride, size_t pos)
{
  if (pos < map->linear)
    return;
  size_t from = map->used ? pos : 0;
  map->used = true;
  for (; from <= pos; from++)
    map_enter(map, id_at(items, stride, from), from);
}

/* The next position of the id after *probe, or SIZE_MAX. Start with *probe = SIZE_MAX. */
static size_t map_next(const twpa__posmap *map, const void *items, size_t stride, size_t n, uint64_t id, size_t *probe)
{
  if (n <= map->linear) {
    for (size_t pos = *probe == SIZE_MAX ? 0 : *probe + 1; pos < n; pos++)
      if (id_at(items, stride, pos) == id)
        return *probe = pos;
    return SIZE_MAX;
  }
  size_t mask = map->cap - 1;
  size_t i = *probe == SIZE_MAX ? twpa__mix64(id) & mask : (*probe + 1) & mask;
  for (; map->slots[i] != 0; i = (i + 1) & mask) {
    size_t pos = map->slots[i] - 1;
    if (id_at(items, stride, pos) == id) {
      *probe = i;
      return pos;
    }
  }
  return SIZE_MAX;
}

static void map_clear(twpa__posmap *map)
{
  if (map->used)
    memset(map->slots, 0, map->cap * sizeof *map->slots);
  map->used = false;
}

/* --- containers ------------------------------------------------------------------------------------------------ */

void twpa__accesses_init(twpa__accesses *a, twpa__mem *mem, uint64_t budget)
{
  memset(a, 0, sizeof *a);
  a->mem = mem;
  a->budget = budget;
  a->acc_map.linear = TWPA__LINEAR_KEYS;
  a->touch_map.linear = a->user_map.linear = TWPA__LINEAR;
}

void twpa__accesses_clear(twpa__accesses *a)
{
  for (size_t i = 0; i < a->nusers; i++)
    twpa_relation_free(a->users[i].relation);
  map_clear(&a->acc_map);
  map_clear(&a->touch_map);
  map_clear(&a->user_map);
  memset(a->seen, 0, sizeof a->seen);
  a->nacc = a->ntouches = a->nusers = a->nidxs = a->nraw = 0;
  a->over = a->database_barrier = false;
  if (a->fell_back)
    memset(a->fallbacks, 0, sizeof a->fallbacks);
  a->fell_back = false;
}

void twpa__accesses_free(twpa__accesses *a)
{
  twpa__accesses_clear(a);
  twpa__release(a->mem, a->acc, a->acc_cap * sizeof *a->acc);
  twpa__release(a->mem, a->touches, a->touches_cap * sizeof *a->touches);
  twpa__release(a->mem, a->users, a->users_cap * sizeof *a->users);
  twpa__release(a->mem, a->idxs, a->idxs_cap * sizeof *a->idxs);
  twpa__release(a->mem, a->acc_map.slots, a->acc_map.cap * sizeof(uint32_t));
  twpa__release(a->mem, a->touch_map.slots, a->touch_map.cap * sizeof(uint32_t));
  twpa__release(a->mem, a->user_map.slots, a->user_map.cap * sizeof(uint32_t));
}

/* *items as a void pointer for twpa__array_reserve, without breaking the aliasing rules. */
#define RESERVE(a, items, cap, need) reserve_array((a)->mem, &(a)->items, &(a)->cap, (need), sizeof *(a)->items)

static twpa_status reserve_array(twpa__mem *mem, void *items_ptr, size_t *cap, size_t need, size_t size)
{
  void *items;
  if (need > UINT32_MAX / 4)
    return TWPA_E_NOMEM;
  memcpy(&items, items_ptr, sizeof items);
  twpa_status st = twpa__array_reserve(mem, &items, cap, need, size);
  memcpy(items_ptr, &items, sizeof items);
  return st;
}

twpa_status twpa__accesses_grow(twpa__accesses *a, size_t nacc, size_t ntouches)
{
  twpa_status st = TWPA_OK;
  if (a->nacc + nacc > a->acc_cap)
    st = RESERVE(a, acc, acc_cap, a->nacc + nacc);
  if (st == TWPA_OK)
    st = map_reserve(&a->acc_map, a->mem, a->acc, sizeof *a->acc, a->nacc, a->nacc + nacc);
  if (st == TWPA_OK && a->ntouches + ntouches > a->touches_cap)
    st = RESERVE(a, touches, touches_cap, a->ntouches + ntouches);
  if (st == TWPA_OK)
    st = map_reserve(&a->touch_map, a->mem, a->touches, sizeof *a->touches, a->ntouches, a->ntouches + ntouches);
  return st;
}

twpa_status twpa__accesses_copy(twpa__accesses *to, const twpa__accesses *from, size_t nacc, size_t ntouches)
{
  twpa_status st = twpa__accesses_reserve(to, from->nacc + nacc, from->ntouches + ntouches);
  if (st == TWPA_OK)
    st = RESERVE(to, users, users_cap, from->nusers);
  if (st == TWPA_OK)
    st = RESERVE(to, idxs, idxs_cap, from->nidxs);
  if (st != TWPA_OK)
    return st;
  memcpy(to->fallbacks, from->fallbacks, sizeof to->fallbacks);
  to->fell_back = from->fell_back;
  to->over = from->over;
  to->database_barrier = from->database_barrier;
  to->nraw = from->nraw;
  for (size_t i = 0; i < from->nacc; i++) {
    to->acc[i] = from->acc[i];
    twpa__accesses_mark(to, from->acc[i].key);
    map_add(&to->acc_map, to->acc, sizeof *to->acc, to->nacc++);
  }
  for (size_t i = 0; i < from->ntouches; i++) {
    to->touches[i] = from->touches[i];
    map_add(&to->touch_map, to->touches, sizeof *to->touches, to->ntouches++);
  }
  for (size_t i = 0; i < from->nusers; i++) { /* never searched in a copy */
    to->users[i] = from->users[i];
    twpa_relation_ref(to->users[i].relation);
    to->nusers++;
  }
  if (from->nidxs > 0)
    memcpy(to->idxs, from->idxs, from->nidxs * sizeof *from->idxs);
  to->nidxs = from->nidxs;
  return TWPA_OK;
}

static void fill_idxs(twpa__accesses *a, const twpa_relation *r, uint64_t seed, uint32_t fk_policy)
{
  for (size_t i = 0; i < r->nindexes; i++) {
    const twpa__index *x = &r->indexes[i];
    uint32_t flags = (x->flags & TWPA_INDEX_DEFERRABLE) == 0 ? (uint32_t)TWPA__IDX_DETECTOR : 0;
    if (twpa__index_referenced(x, fk_policy))
      flags |= TWPA__IDX_REFERENCED;
    a->idxs[a->nidxs++] =
      (twpa__idx){r->plan_id, x->id, twpa__key_domain(seed, r->plan_id, x->id), flags, 0};
  }
  for (size_t i = 0; i < r->nfks; i++) {
    const twpa__fk *f = &r->fks[i];
    bool detected = (f->flags & TWPA_FK_ENFORCED) != 0 && (f->flags & TWPA_FK_DEFERRABLE) == 0;
    uint32_t flags = (detected ? (uint32_t)TWPA__IDX_FK_DETECTED : 0) | TWPA__IDX_REFERENCED;
    a->idxs[a->nidxs++] =
      (twpa__idx){f->parent, f->parent_index, twpa__key_domain(seed, f->parent, f->parent_index), flags, 0};
  }
  a->idxs[a->nidxs++] = (twpa__idx){
    r->plan_id, TWPA__WHOLE_ROW, twpa__key_domain(seed, r->plan_id, TWPA__WHOLE_ROW), TWPA__IDX_REFERENCED, 0};
}

twpa_status twpa__accesses_user(twpa__accesses *a, twpa_relation *relation, uint64_t seed, uint32_t fk_policy,
                                uint32_t *position)
{
  uint64_t id = (uint64_t)(uintptr_t)relation;
  size_t probe = SIZE_MAX;
  size_t pos = map_next(&a->user_map, a->users, sizeof *a->users, a->nusers, id, &probe);
  if (pos != SIZE_MAX) {
    *position = (uint32_t)pos;
    return TWPA_OK;
  }
  twpa_status st = RESERVE(a, users, users_cap, a->nusers + 1);
  if (st == TWPA_OK)
    st = map_reserve(&a->user_map, a->mem, a->users, sizeof *a->users, a->nusers, a->nusers + 1);
  if (st == TWPA_OK)
    st = RESERVE(a, idxs, idxs_cap, a->nidxs + relation->nindexes + relation->nfks + 1);
  if (st != TWPA_OK)
    return st;
  pos = a->nusers++;
  a->users[pos] = (twpa__user){id, twpa_relation_ref(relation), (uint32_t)a->nidxs, 0};
  map_add(&a->user_map, a->users, sizeof *a->users, pos);
  fill_idxs(a, relation, seed, fk_policy);
  *position = (uint32_t)pos;
  return TWPA_OK;
}

/* Over the budget: keys of relations go, those of the host's own stay. */
static void drop_keys(twpa__accesses *a)
{
  size_t kept = 0;
  map_clear(&a->acc_map);
  memset(a->seen, 0, sizeof a->seen);
  for (size_t i = 0; i < a->nacc; i++) {
    if ((a->acc[i].bits & TWPA__ACC_RAW) == 0)
      continue;
    a->acc[kept] = a->acc[i];
    twpa__accesses_mark(a, a->acc[kept].key);
    map_add(&a->acc_map, a->acc, sizeof *a->acc, kept++);
  }
  a->nacc = kept;
  a->over = true;
  twpa__accesses_fall_back(a, TWPA_FALLBACK_BUDGET);
}

/* The access to the same key that is there, or SIZE_MAX. Keys of different kinds of entries never meet. */
static size_t find_key(const twpa__accesses *a, uint64_t key, uint32_t bits)
{
  const uint32_t space = TWPA__ACC_WIDE | TWPA__ACC_RAW;
  size_t probe = SIZE_MAX, pos;
  if (!twpa__accesses_may_have(a, key))
    return SIZE_MAX;
  if (a->nacc <= a->acc_map.linear) {
    for (pos = 0; pos < a->nacc; pos++)
      if (a->acc[pos].key == key && ((a->acc[pos].bits ^ bits) & space) == 0)
        return pos;
    return SIZE_MAX;
  }
  do {
    pos = map_next(&a->acc_map, a->acc, sizeof *a->acc, a->nacc, key, &probe);
  } while (pos != SIZE_MAX && ((a->acc[pos].bits ^ bits) & space) != 0);
  return pos;
}

void twpa__accesses_key(twpa__accesses *a, uint32_t idx, uint64_t key, uint32_t bits)
{
  if (a->over && (bits & TWPA__ACC_RAW) == 0)
    return;
  size_t pos = find_key(a, key, bits);
  if (pos == SIZE_MAX) {
    TWPA__ASSERT(a->nacc < a->acc_cap);
    a->acc[a->nacc] = (twpa__access){key, bits, idx};
    twpa__accesses_mark(a, key);
    map_add(&a->acc_map, a->acc, sizeof *a->acc, a->nacc++);
    if ((bits & TWPA__ACC_RAW) != 0)
      a->nraw++;
    else if (a->budget > 0 && a->nacc - a->nraw > a->budget)
      drop_keys(a);
    return;
  }
  uint32_t old = a->acc[pos].bits;
  uint32_t mode = (old & TWPA__ACC_MODE) > (bits & TWPA__ACC_MODE) ? old & TWPA__ACC_MODE : bits & TWPA__ACC_MODE;
  old &= ~(TWPA__ACC_MODE | TWPA__ACC_LAST_FREE);
  bits = old | mode | (bits & (TWPA__ACC_LAST_FREE | TWPA__ACC_NO_EARLY));
  a->acc[pos].bits = a->late ? bits & ~(TWPA__ACC_FIRST_CLAIM | TWPA__ACC_LAST_FREE) : bits;
}

void twpa__accesses_touch(twpa__accesses *a, uint64_t id, uint32_t flags)
{
  size_t probe = SIZE_MAX;
  size_t pos = map_next(&a->touch_map, a->touches, sizeof *a->touches, a->ntouches, id, &probe);
  if (pos == SIZE_MAX) {
    TWPA__ASSERT(a->ntouches < a->touches_cap);
    pos = a->ntouches++;
    a->touches[pos] = (twpa__touch){id, 0, 0};
    map_add(&a->touch_map, a->touches, sizeof *a->touches, pos);
  }
  a->touches[pos].flags |= flags;
}

void twpa__accesses_barrier(twpa__accesses *a, uint64_t id, uint32_t reason)
{
  twpa__accesses_touch(a, id, TWPA__TOUCH_BARRIER);
  twpa__accesses_fall_back(a, reason);
}
