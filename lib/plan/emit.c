/*
 * From a delta to accesses: the tables of rule 1.3, row by row. By now every old value is known, or known to be unknown.
 */
#include "plan/accesses.h"

#include "base/assert.h"

/* What is done to a key, for early start (rule 1.8). */
enum { USE = 0, CLAIM = TWPA__ACC_FIRST_CLAIM, RELEASE = TWPA__ACC_LAST_FREE };

typedef struct emitter {
  twpa__accesses *a;
  const twpa__policy *policy;
  twpa__delta *delta;
  const twpa_relation *r;
  uint32_t first;  /* in idxs */
} emitter;

size_t twpa__emit_max_accesses(const twpa_relation *r)
{
  return 2 * (r->nindexes + r->nfks) + 2 + r->nindexes;
}

size_t twpa__emit_max_touches(const twpa_relation *r)
{
  return 2 + r->nfks + r->nreferences + r->naffects;
}

static bool referenced(const emitter *e, size_t index)
{
  return (e->a->idxs[e->first + index].flags & TWPA__IDX_REFERENCED) != 0;
}

static void flag(emitter *e, size_t idx, uint32_t flags)
{
  e->a->idxs[e->first + idx].flags |= flags;
}

static void index_key(emitter *e, size_t index, uint64_t key, uint32_t mode, uint32_t action)
{
  uint32_t kind = e->r->row_kind == TWPA__ROW_INDEX && index == e->r->row_index ? TWPA_KIND_PK : TWPA_KIND_UK;
  uint32_t bits = mode | action | kind << TWPA__ACC_KIND_SHIFT;
  if (referenced(e, index))
    bits |= TWPA__ACC_WIDE;
  if ((e->r->indexes[index].flags & TWPA_INDEX_DEFERRABLE) != 0)
    bits |= TWPA__ACC_NO_EARLY;
  twpa__accesses_key(e->a, e->first + (uint32_t)index, key, bits);
}

/* A key of this referenced index may be gone after the change: its children's relations are concerned. */
static void touch_children(emitter *e, size_t index)
{
  for (size_t i = 0; i < e->r->nreferences; i++) {
    const twpa__reference *ref = &e->r->references[i];
    if (ref->index == index && twpa__fk_counts(ref->flags, e->policy->foreign_keys))
      twpa__accesses_touch(e->a, ref->child, 0);
  }
}

static void keyloss(emitter *e, size_t index)
{
  if (!referenced(e, index))
    return;
  flag(e, index, TWPA__IDX_KEYLOSS);
  touch_children(e, index);
}

/* A leaf of a partitioned table shares its domains with leaves whose identity may be another: there the index of its row
   key may be one whose values are given free unknown. */
static void row_claim(emitter *e)
{
  if (e->r->plan_id != e->r->id)
    flag(e, e->r->row_index, TWPA__IDX_CLAIM);
}

static void row_of_index(emitter *e)
{
  const twpa__delta *d = e->delta;
  size_t i = e->r->row_index;
  if (d->op == TWPA_OP_INSERT && d->row_new == TWPA__VAL_KEY) {
    index_key(e, i, d->row_new_key, TWPA_MODE_WRITE, CLAIM);
    row_claim(e);
  }
  if (d->op == TWPA_OP_UPDATE && (d->flags & TWPA__DELTA_IDENTITY_EQUAL) != 0) {
    index_key(e, i, d->row_new_key, TWPA_MODE_UPDATE, USE);
  } else if (d->op == TWPA_OP_UPDATE) {
    if (d->row_old == TWPA__VAL_KEY)
      index_key(e, i, d->row_old_key, TWPA_MODE_WRITE, RELEASE);
    if (d->row_new == TWPA__VAL_KEY)
      index_key(e, i, d->row_new_key, TWPA_MODE_WRITE, CLAIM);
    keyloss(e, i);
    row_claim(e);
  }
  if (d->op == TWPA_OP_DELETE) {
    if (d->row_old == TWPA__VAL_KEY)
      index_key(e, i, d->row_old_key, TWPA_MODE_WRITE, RELEASE);
    keyloss(e, i);
  }
}

/* Keyless, identity FULL: making a copy of a row is a READ, using one up a WRITE. */
static void row_whole(emitter *e)
{
  const twpa__delta *d = e->delta;
  uint32_t idx = e->first + (uint32_t)(e->r->nindexes + e->r->nfks);
  uint32_t bits = TWPA__ACC_WIDE | TWPA__ACC_NO_EARLY | TWPA_KIND_FULL << TWPA__ACC_KIND_SHIFT;
  if (d->op != TWPA_OP_INSERT && d->row_old == TWPA__VAL_KEY)
    twpa__accesses_key(e->a, idx, d->row_old_key, bits | TWPA_MODE_WRITE);
  if (d->op != TWPA_OP_DELETE && d->row_new == TWPA__VAL_KEY)
    twpa__accesses_key(e->a, idx, d->row_new_key, bits | TWPA_MODE_READ);
}

static void further_index(emitter *e, size_t i, const twpa__slot *s)
{
  if (s->old_state == TWPA__VAL_SAME)
    return;
  if (s->old_state == TWPA__VAL_KEY) {
    index_key(e, i, s->old_key, TWPA_MODE_WRITE, RELEASE);
    keyloss(e, i);
  }
  if (s->old_state == TWPA__VAL_UNKNOWN) {
    flag(e, i, TWPA__IDX_RELEASE_UNKNOWN);
    twpa__accesses_fall_back(e->a, TWPA_FALLBACK_UNKNOWN_RELEASE);
    if (referenced(e, i))
      touch_children(e, i);
  }
  if (s->new_state == TWPA__VAL_KEY) {
    index_key(e, i, s->new_key, TWPA_MODE_WRITE, CLAIM);
    flag(e, i, TWPA__IDX_CLAIM);
  }
}

static void foreign_key(emitter *e, size_t i, const twpa__slot *s)
{
  const twpa__fk *f = &e->r->fks[i];
  size_t idx = e->r->nindexes + i;
  uint32_t bits = TWPA_MODE_READ | TWPA__ACC_WIDE | TWPA__ACC_NO_EARLY | TWPA_KIND_FK << TWPA__ACC_KIND_SHIFT;
  if (e->delta->op != TWPA_OP_DELETE && s->new_state != TWPA__VAL_NONE)
    twpa__accesses_touch(e->a, f->parent, 0);
  if (s->old_state == TWPA__VAL_SAME)
    return;
  if (s->old_state == TWPA__VAL_KEY) {
    twpa__accesses_key(e->a, e->first + (uint32_t)idx, s->old_key, bits);
    flag(e, idx, TWPA__IDX_REF_RELEASE);
  }
  if (s->old_state == TWPA__VAL_UNKNOWN) {
    flag(e, idx, TWPA__IDX_REF_RELEASE_UNKNOWN);
    twpa__accesses_fall_back(e->a, TWPA_FALLBACK_UNKNOWN_REFERENCE);
  }
  if (s->new_state == TWPA__VAL_KEY)
    twpa__accesses_key(e->a, e->first + (uint32_t)idx, s->new_key, bits);
}

/*
 * The target takes the strong row lock if the bytes of any column of any full unique index change; whoever holds a key
 * of this row for a child then waits. So every referenced key of the row is written, not updated.
 */
static void lock_strength(emitter *e, const twpa__slot *slots)
{
  const twpa__delta *d = e->delta;
  bool strong = (d->flags & TWPA__DELTA_STRONG) != 0 || e->policy->parent_update == TWPA_PARENT_UPDATE_CONFLICTS;
  for (size_t i = 0; i < e->r->nindexes && !strong; i++)
    strong = slots[i].old_state != TWPA__VAL_SKIP && e->r->indexes[i].full && slots[i].bytes_change != 0;
  if (!strong)
    return;
  for (size_t i = 0; i < e->r->nindexes; i++) {
    if (!referenced(e, i))
      continue;
    bool row = e->r->row_kind == TWPA__ROW_INDEX && i == e->r->row_index;
    uint32_t state = row ? d->row_new : slots[i].new_state;
    if (state == TWPA__VAL_KEY)
      index_key(e, i, row ? d->row_new_key : slots[i].new_key, TWPA_MODE_WRITE, USE);
    else if (state != TWPA__VAL_NONE && state != TWPA__VAL_SKIP)
      twpa__accesses_barrier(e->a, e->r->plan_id, TWPA_FALLBACK_MISSING);
  }
}

void twpa__emit_delta(twpa__accesses *a, const twpa__policy *policy, twpa__delta *delta)
{
  const twpa__user *user = &a->users[delta->user];
  emitter e = {a, policy, delta, user->relation, user->first};
  const twpa__slot *slots = twpa__delta_slots(delta);
  if (delta->op == 0)
    return;
  if (e.r->row_kind == TWPA__ROW_INDEX)
    row_of_index(&e);
  else if (e.r->row_kind == TWPA__ROW_WHOLE)
    row_whole(&e);
  for (size_t i = 0; i < e.r->nindexes; i++)
    if (slots[i].old_state != TWPA__VAL_SKIP)
      further_index(&e, i, &slots[i]);
  for (size_t i = 0; i < e.r->nfks; i++)
    if (slots[e.r->nindexes + i].old_state != TWPA__VAL_SKIP)
      foreign_key(&e, i, &slots[e.r->nindexes + i]);
  if (delta->op == TWPA_OP_UPDATE)
    lock_strength(&e, slots);
  delta->flags |= TWPA__DELTA_EMITTED;
}
