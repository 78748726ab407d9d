/*
 * What a plan keeps about relations and indexes: one record each, made when first needed and kept, and the newest
 * description of each relation, which the two sides of a foreign key are compared by.
 */
#include "plan/plan.h"

#include "base/assert.h"
#include "base/hash.h"
#include "plan/canonical.h"

#include <string.h>

/* --- maps: always in use here, unlike in an access set ---------------------------------------------------------- */

static uint64_t id_at(const void *items, size_t stride, size_t pos)
{
  uint64_t id;
  memcpy(&id, (const unsigned char *)items + pos * stride, sizeof id);
  return id;
}

static uint32_t map_find(const twpa__posmap *map, const void *items, size_t stride, uint64_t id)
{
  if (map->cap == 0)
    return TWPA__NIL;
  size_t i = twpa__mix64(id) & (map->cap - 1);
  for (; map->slots[i] != 0; i = (i + 1) & (map->cap - 1))
    if (id_at(items, stride, map->slots[i] - 1) == id)
      return map->slots[i] - 1;
  return TWPA__NIL;
}

static void map_enter(twpa__posmap *map, uint64_t id, size_t pos)
{
  size_t i = twpa__mix64(id) & (map->cap - 1);
  while (map->slots[i] != 0)
    i = (i + 1) & (map->cap - 1);
  map->slots[i] = (uint32_t)pos + 1;
}

/* Makes room for n elements in array and map. */
static twpa_status reserve(twpa__mem *mem, twpa__posmap *map, void *items_ptr, size_t *cap, size_t have, size_t n,
                           size_t stride)
{
  void *items;
  size_t slots = map->cap > 0 ? map->cap : 16;
  if (n > UINT32_MAX / 4)
    return TWPA_E_NOMEM;
  memcpy(&items, items_ptr, sizeof items);
  twpa_status st = twpa__array_reserve(mem, &items, cap, n, stride);
  memcpy(items_ptr, &items, sizeof items);
  while (slots / 2 < n)
    slots *= 2;
  if (st != TWPA_OK || slots == map->cap)
    return st;
  uint32_t *fresh = twpa__zalloc(mem, slots * sizeof *fresh);
  if (fresh == NULL)
    return TWPA_E_NOMEM;
  twpa__release(mem, map->slots, map->cap * sizeof *map->slots);
  map->slots = fresh;
  map->cap = slots;
  for (size_t pos = 0; pos < have; pos++)
    map_enter(map, id_at(items, stride, pos), pos);
  return TWPA_OK;
}

void twpa__registry_init(twpa__registry *r, twpa__mem *mem)
{
  memset(r, 0, sizeof *r);
  r->mem = mem;
}

void twpa__registry_free(twpa__registry *r)
{
  for (size_t i = 0; i < r->nknown; i++)
    twpa_relation_free(r->known[i].relation);
  twpa__release(r->mem, r->relations, r->relations_cap * sizeof *r->relations);
  twpa__release(r->mem, r->indexes, r->indexes_cap * sizeof *r->indexes);
  twpa__release(r->mem, r->known, r->known_cap * sizeof *r->known);
  twpa__release(r->mem, r->relation_map.slots, r->relation_map.cap * sizeof(uint32_t));
  twpa__release(r->mem, r->index_map.slots, r->index_map.cap * sizeof(uint32_t));
  twpa__release(r->mem, r->known_map.slots, r->known_map.cap * sizeof(uint32_t));
}

twpa_status twpa__registry_reserve(twpa__registry *r, size_t relations, size_t indexes, size_t known)
{
  if (relations + indexes + known == 0)
    return TWPA_OK;
  twpa_status st = reserve(r->mem, &r->relation_map, &r->relations, &r->relations_cap, r->nrelations,
                           r->nrelations + relations, sizeof *r->relations);
  if (st == TWPA_OK)
    st = reserve(r->mem, &r->index_map, &r->indexes, &r->indexes_cap, r->nindexes, r->nindexes + indexes,
                 sizeof *r->indexes);
  if (st == TWPA_OK)
    st = reserve(r->mem, &r->known_map, &r->known, &r->known_cap, r->nknown, r->nknown + known, sizeof *r->known);
  return st;
}

uint32_t twpa__registry_find_relation(const twpa__registry *r, uint64_t id)
{
  return map_find(&r->relation_map, r->relations, sizeof *r->relations, id);
}

uint32_t twpa__registry_find_index(const twpa__registry *r, uint64_t domain)
{
  return map_find(&r->index_map, r->indexes, sizeof *r->indexes, domain);
}

uint32_t twpa__registry_relation(twpa__registry *r, uint64_t id, uint32_t low)
{
  uint32_t pos = twpa__registry_find_relation(r, id);
  if (pos != TWPA__NIL)
    return pos;
  TWPA__ASSERT(r->nrelations < r->relations_cap);
  pos = (uint32_t)r->nrelations++;
  r->relations[pos] = (twpa__relation_state){.id = id, .bar = low, .join = TWPA__NIL};
  map_enter(&r->relation_map, id, pos);
  return pos;
}

uint32_t twpa__registry_index(twpa__registry *r, const twpa__idx *idx, uint32_t low)
{
  uint32_t pos = twpa__registry_find_index(r, idx->domain);
  if (pos != TWPA__NIL)
    return pos;
  TWPA__ASSERT(r->nindexes < r->indexes_cap);
  pos = (uint32_t)r->nindexes++;
  r->indexes[pos] = (twpa__index_state){.domain = idx->domain,
                                        .relation = idx->relation,
                                        .index = idx->index,
                                        .rel = TWPA__NIL,
                                        .refu = TWPA__NIL,
                                        .ref = TWPA__NIL,
                                        .last_release = low};
  map_enter(&r->index_map, idx->domain, pos);
  return pos;
}

/* --- descriptions ---------------------------------------------------------------------------------------------- */

/* The description that will count for the id of a relation or leaf: the one that comes along, or the known one. */
static const twpa_relation *newest(const twpa__registry *r, const twpa__accesses *a, uint32_t known)
{
  for (size_t i = 0; i < a->nusers; i++)
    if (a->users[i].relation->id == r->known[known].id)
      return a->users[i].relation;
  return r->known[known].relation;
}

static bool index_fits(const twpa_relation *parent, size_t index, const twpa_relation *child, const twpa__fk *f)
{
  const twpa__index *x = &parent->indexes[index];
  if (!f->exact)
    return true; /* no keys are made of it */
  if (!x->exact || x->ncolumns != f->ncolumns || x->prefix != NULL)
    return false;
  for (size_t i = 0; i < f->ncolumns; i++)
    if (!twpa__canonical_joins(child->columns[f->columns[i]].cls, parent->columns[x->columns[i]].cls))
      return false;
  return true;
}

/* Every foreign key of the child to this parent that counts must be among the parent's references. */
static bool fits(const twpa_relation *child, const twpa_relation *parent, uint32_t policy)
{
  for (size_t i = 0; i < child->nfks; i++) {
    const twpa__fk *f = &child->fks[i];
    if (f->parent != parent->plan_id || !twpa__fk_counts(f->flags, policy))
      continue;
    bool found = false;
    for (size_t k = 0; k < parent->nreferences && !found; k++) {
      const twpa__reference *ref = &parent->references[k];
      found = ref->child == child->plan_id && parent->indexes[ref->index].id == f->parent_index &&
              twpa__fk_counts(ref->flags, policy) && index_fits(parent, ref->index, child, f);
    }
    if (!found)
      return false;
  }
  return true;
}

static bool fits_both(const twpa_relation *x, const twpa_relation *y, uint32_t policy)
{
  return (x->nfks == 0 || fits(x, y, policy)) && (y->nfks == 0 || fits(y, x, policy));
}

twpa_status twpa__registry_check(const twpa__registry *r, const twpa__accesses *a, uint32_t fk_policy, size_t *news)
{
  *news = 0;
  for (size_t i = 0; i < a->nusers; i++) {
    const twpa_relation *x = a->users[i].relation;
    uint32_t known = map_find(&r->known_map, r->known, sizeof *r->known, x->id);
    uint32_t state = twpa__registry_find_relation(r, x->plan_id);
    if (state != TWPA__NIL && x->epoch < r->relations[state].epoch)
      return TWPA_E_STATE;
    if (known != TWPA__NIL && r->known[known].relation == x)
      continue;
    ++*news;
    for (size_t k = 0; k < a->nusers; k++)
      if (a->users[k].relation->plan_id == x->plan_id && a->users[k].relation->epoch > x->epoch)
        return TWPA_E_STATE; /* both an old and a new one in one transaction */
    for (size_t k = 0; k < a->nusers; k++)
      if (!fits_both(x, a->users[k].relation, fk_policy))
        return TWPA_E_INVAL;
    for (uint32_t k = 0; k < r->nknown; k++)
      if (!fits_both(x, newest(r, a, k), fk_policy))
        return TWPA_E_INVAL;
  }
  return TWPA_OK;
}

void twpa__registry_learn(twpa__registry *r, const twpa__accesses *a)
{
  for (size_t i = 0; i < a->nusers; i++) {
    twpa_relation *x = a->users[i].relation;
    uint32_t pos = map_find(&r->known_map, r->known, sizeof *r->known, x->id);
    if (pos == TWPA__NIL) {
      TWPA__ASSERT(r->nknown < r->known_cap);
      pos = (uint32_t)r->nknown++;
      r->known[pos] = (twpa__known){x->id, twpa_relation_ref(x)};
      map_enter(&r->known_map, x->id, pos);
    } else if (r->known[pos].relation != x) {
      twpa_relation_free(r->known[pos].relation);
      r->known[pos].relation = twpa_relation_ref(x);
    }
  }
}
