/*
 * Finishing a set when it enters: only now is it known what came before. Row memory answers what the changes ask and
 * learns from them, change by change (rule 1.6); barriers spread over the neighbours by foreign keys; a new description
 * of a relation, a prepared transaction, one over its budget and old rows that are not believed become barriers.
 *
 * A set that needs none of it enters as it is. Otherwise a copy is completed, in room that is reserved beforehand.
 */
#include "plan/plan.h"

#include "base/assert.h"

#include <string.h>

static uint64_t known_epoch(const twpa_plan *plan, const twpa_relation *r, bool *known)
{
  uint32_t pos = twpa__registry_find_relation(&plan->registry, r->plan_id);
  *known = pos != TWPA__NIL && plan->registry.relations[pos].described;
  return *known ? plan->registry.relations[pos].epoch : 0;
}

static bool is_new_epoch(const twpa_plan *plan, const twpa_relation *r)
{
  bool known;
  uint64_t epoch = known_epoch(plan, r, &known);
  return known && r->epoch > epoch;
}

/*
 * After a skipped transaction: full old rows are not believed, and what the target does to children is not foreseen. Which
 * keys are lost, and for whose references, is not known then: a barrier on all neighbours by foreign keys.
 */
static bool is_distrusted(const twpa_plan *plan, const twpa__touch *t)
{
  uint32_t pos = twpa__registry_find_relation(&plan->registry, t->id);
  if (pos == TWPA__NIL || !plan->registry.relations[pos].distrusted)
    return false;
  return (t->flags & TWPA__TOUCH_OLD_ROWS) != 0 || plan->registry.relations[pos].acted_on;
}

/* What row memory is asked may bring in relations that nobody has named yet, and one of them may be distrusted. */
static bool may_distrust_later(const twpa_plan *plan, const twpa_access_set *set)
{
  if (!plan->skipped || set->ask_touches == 0)
    return false;
  for (size_t i = 0; i < plan->registry.nrelations; i++)
    if (plan->registry.relations[i].distrusted)
      return true;
  return false;
}

static bool must_copy(const twpa_plan *plan, const twpa_access_set *set)
{
  if (set->ask_accesses > 0 || set->acc.over || (set->flags & TWPA_TXN_PREPARED) != 0)
    return true;
  for (size_t i = 0; i < set->acc.ntouches; i++)
    if ((set->acc.touches[i].flags & TWPA__TOUCH_CLOSURE) != 0 || is_distrusted(plan, &set->acc.touches[i]))
      return true;
  for (size_t i = 0; i < set->acc.nusers && plan->news > 0; i++)
    if (is_new_epoch(plan, set->acc.users[i].relation))
      return true;
  return false;
}

/* How many relations a description names. */
static size_t named(const twpa_relation *r)
{
  return 1 + r->nfks + r->nreferences;
}

static twpa_status reserve_delta(twpa_plan *plan, const twpa_access_set *set)
{
  void *p = plan->delta;
  size_t size = 0;
  if (set->deltas_len == 0)
    return TWPA_OK;
  for (size_t i = 0; i < set->acc.nusers; i++) {
    const twpa_relation *r = set->acc.users[i].relation;
    size_t need = twpa__delta_size(r->nindexes + r->nfks);
    size = need > size ? need : size;
  }
  twpa_status st = twpa__array_reserve(&plan->mem, &p, &plan->delta_cap, size, 1);
  plan->delta = p;
  return st;
}

twpa_status twpa__finish_reserve(twpa_plan *plan, const twpa_access_set *set, const twpa__accesses **a,
                                 size_t *more_acc, size_t *more_touches)
{
  *a = &set->acc;
  *more_acc = *more_touches = 0;
  twpa_status st = reserve_delta(plan, set);
  if (st != TWPA_OK || !must_copy(plan, set))
    return st;
  size_t touches = set->ask_touches;
  bool closure = may_distrust_later(plan, set);
  for (size_t i = 0; i < set->acc.nusers; i++) {
    touches += named(set->acc.users[i].relation);
    closure = closure || is_new_epoch(plan, set->acc.users[i].relation);
  }
  for (size_t i = 0; i < set->acc.ntouches; i++)
    closure = closure || (set->acc.touches[i].flags & TWPA__TOUCH_CLOSURE) != 0 ||
              is_distrusted(plan, &set->acc.touches[i]);
  for (size_t i = 0; i < plan->registry.nknown && closure; i++)
    touches += named(plan->registry.known[i].relation);
  twpa__accesses_clear(&plan->scratch);
  *a = &plan->scratch;
  *more_acc = set->ask_accesses;
  *more_touches = touches;
  return twpa__accesses_copy(&plan->scratch, &set->acc, set->ask_accesses, touches);
}

/* --- row memory ------------------------------------------------------------------------------------------------- */

static twpa__relation_state *state_of(twpa_plan *plan, uint64_t id)
{
  uint32_t pos = twpa__registry_relation(&plan->registry, id, (uint32_t)plan->graph.low);
  return &plan->registry.relations[pos];
}

static void forget_relation(twpa_plan *plan, uint64_t id)
{
  state_of(plan, id)->generation = ++plan->generation;
}

static uint64_t generation_of(twpa_plan *plan, uint64_t id)
{
  uint64_t generation = state_of(plan, id)->generation;
  return generation > plan->oldest_generation ? generation : plan->oldest_generation;
}

static void resolve(twpa_plan *plan, const twpa__delta *d, const twpa_relation *r, twpa__slot *s, uint32_t i,
                    uint64_t generation, bool prepared)
{
  twpa__remembered v;
  if (d->row_old != TWPA__VAL_KEY || prepared ||
      !twpa__memory_get(&plan->memory, twpa__memory_name_of(d->row_old_id, i, generation), &v)) {
    plan->counters.memory_misses++;
    s->old_state = TWPA__VAL_UNKNOWN;
    s->bytes_change = 1;
    return;
  }
  plan->counters.memory_hits++;
  bool same = !v.none && s->new_state == TWPA__VAL_KEY && s->new_exact && v.key == s->new_key &&
              v.check[0] == s->new_check[0] && v.check[1] == s->new_check[1];
  s->bytes_change = !(same && i < r->nindexes && r->indexes[i].in_bytes);
  s->old_state = v.none ? TWPA__VAL_NONE : same ? TWPA__VAL_SAME : TWPA__VAL_KEY;
  s->old_key = v.key;
}

/* The values of the row after the change, under its new name; the old name goes. */
static void learn(twpa_plan *plan, const twpa__delta *d, const twpa__slot *s, uint32_t i, uint64_t generation,
                  bool prepared)
{
  bool stays = d->op == TWPA_OP_UPDATE && (d->flags & TWPA__DELTA_IDENTITY_EQUAL) != 0;
  twpa__remembered v = {s->new_key, {s->new_check[0], s->new_check[1]}, s->new_state == TWPA__VAL_NONE};
  bool keep = !prepared && (v.none || (s->new_state == TWPA__VAL_KEY && s->new_exact));
  if (d->op != TWPA_OP_INSERT && d->row_old == TWPA__VAL_KEY) {
    twpa__memory_name old = twpa__memory_name_of(d->row_old_id, i, generation);
    bool carried = s->new_state == TWPA__VAL_SAME && !prepared; /* not sent: what it was */
    if (carried && stays)
      return;
    if (carried)
      keep = twpa__memory_get(&plan->memory, old, &v);
    if (!stays)
      twpa__memory_remove(&plan->memory, old);
  }
  if (d->op == TWPA_OP_DELETE || d->row_new != TWPA__VAL_KEY)
    return;
  twpa__memory_name name = twpa__memory_name_of(d->row_new_id, i, generation);
  if (keep)
    twpa__memory_put(&plan->memory, name, &v);
  else
    twpa__memory_remove(&plan->memory, name);
}

static bool slot_is_kept(const twpa_relation *r, const twpa__slot *s, size_t i)
{
  if (s->old_state == TWPA__VAL_SKIP)
    return false;
  return i < r->nindexes ? !r->indexes[i].in_identity : !r->fks[i - r->nindexes].in_identity;
}

static void finish_delta(twpa_plan *plan, twpa__accesses *a, const twpa_relation *r, twpa__delta *d, bool prepared)
{
  twpa__slot *slots = twpa__delta_slots(d);
  uint64_t generation = generation_of(plan, r->plan_id);
  for (uint32_t i = 0; i < d->nslots; i++)
    if (slots[i].old_state == TWPA__VAL_ASK)
      resolve(plan, d, r, &slots[i], i, generation, prepared);
  if (d->op != 0 && (d->flags & TWPA__DELTA_EMITTED) == 0)
    twpa__emit_delta(a, &plan->policy, d);
  for (uint32_t i = 0; i < d->nslots; i++)
    if (slot_is_kept(r, &slots[i], i))
      learn(plan, d, &slots[i], i, generation, prepared);
  if ((d->flags & TWPA__DELTA_FORGET) != 0)
    forget_relation(plan, r->plan_id);
}

void twpa__learn_row(twpa_plan *plan, const twpa_relation *r, const twpa__delta *delta)
{
  const twpa__slot *slots = (const twpa__slot *)(const void *)(delta + 1);
  uint64_t generation = generation_of(plan, r->plan_id);
  for (uint32_t i = 0; i < delta->nslots; i++)
    if (slot_is_kept(r, &slots[i], i))
      learn(plan, delta, &slots[i], i, generation, false);
}

/* Deltas stay as they are in the set, which may be entered again elsewhere: each is worked on in plan->delta. */
static void finish_deltas(twpa_plan *plan, const twpa_access_set *set, twpa__accesses *a)
{
  for (size_t at = 0; at < set->deltas_len;) {
    const twpa__delta *from = (const twpa__delta *)(const void *)(set->deltas + at);
    size_t size = twpa__delta_size(from->nslots);
    TWPA__ASSERT(size <= plan->delta_cap);
    memcpy(plan->delta, from, size);
    twpa__delta *delta = (twpa__delta *)(void *)plan->delta;
    finish_delta(plan, a, set->acc.users[delta->user].relation, delta, (set->flags & TWPA_TXN_PREPARED) != 0);
    at += size;
  }
}

/* --- barriers --------------------------------------------------------------------------------------------------- */

#define WHOLE (TWPA__TOUCH_BARRIER | TWPA__TOUCH_CLOSURE | TWPA__TOUCH_FORGET)

static bool in_closure(const twpa__accesses *a, uint64_t id)
{
  for (size_t i = 0; i < a->ntouches; i++)
    if (a->touches[i].id == id)
      return (a->touches[i].flags & TWPA__TOUCH_CLOSURE) != 0;
  return false;
}

/* If one of the relations that a description names is in the closure, all are. True if that adds any. */
static bool spread_over(twpa__accesses *a, const twpa_relation *r)
{
  size_t inside = in_closure(a, r->plan_id);
  for (size_t i = 0; i < r->nfks; i++)
    inside += in_closure(a, r->fks[i].parent);
  for (size_t i = 0; i < r->nreferences; i++)
    inside += in_closure(a, r->references[i].child);
  if (inside == 0 || inside == named(r))
    return false;
  twpa__accesses_touch(a, r->plan_id, WHOLE);
  for (size_t i = 0; i < r->nfks; i++)
    twpa__accesses_touch(a, r->fks[i].parent, WHOLE);
  for (size_t i = 0; i < r->nreferences; i++)
    twpa__accesses_touch(a, r->references[i].child, WHOLE);
  return true;
}

static void spread(const twpa_plan *plan, twpa__accesses *a)
{
  bool again = false;
  for (size_t i = 0; i < a->ntouches; i++)
    if ((a->touches[i].flags & TWPA__TOUCH_CLOSURE) != 0) {
      a->touches[i].flags |= WHOLE;
      again = true;
    }
  while (again) {
    again = false;
    for (size_t i = 0; i < a->nusers; i++)
      again = spread_over(a, a->users[i].relation) || again;
    for (size_t i = 0; i < plan->registry.nknown; i++)
      again = spread_over(a, plan->registry.known[i].relation) || again;
  }
}

/* Everything that the transaction touches, or refers to, becomes a barrier. */
static void all_barriers(twpa_plan *plan, twpa__accesses *a)
{
  for (size_t i = 0; i < a->ntouches; i++)
    a->touches[i].flags |= TWPA__TOUCH_BARRIER;
  for (size_t i = 0; i < a->nusers; i++) {
    const twpa_relation *r = a->users[i].relation;
    for (size_t k = 0; k < r->nfks; k++)
      if (twpa__fk_counts(r->fks[k].flags, plan->policy.foreign_keys))
        twpa__accesses_touch(a, r->fks[k].parent, TWPA__TOUCH_BARRIER);
  }
}

static void finish_barriers(twpa_plan *plan, const twpa_access_set *set, twpa__accesses *a)
{
  for (size_t i = 0; i < a->ntouches; i++)
    if (is_distrusted(plan, &a->touches[i])) {
      a->touches[i].flags |= TWPA__TOUCH_CLOSURE;
      twpa__accesses_fall_back(a, TWPA_FALLBACK_DISTRUST);
    }
  for (size_t i = 0; i < a->nusers; i++)
    if (is_new_epoch(plan, a->users[i].relation)) {
      twpa__accesses_touch(a, a->users[i].relation->plan_id, WHOLE);
      twpa__accesses_fall_back(a, TWPA_FALLBACK_EPOCH);
    }
  spread(plan, a);
  if ((set->flags & TWPA_TXN_PREPARED) != 0)
    twpa__accesses_fall_back(a, TWPA_FALLBACK_PREPARED);
  if (a->over || (set->flags & TWPA_TXN_PREPARED) != 0)
    all_barriers(plan, a);
}

/* The plan goes by the new descriptions from now on. */
static void take_epochs(twpa_plan *plan, const twpa__accesses *a)
{
  for (size_t i = 0; i < a->nusers; i++) {
    const twpa_relation *r = a->users[i].relation;
    for (size_t k = 0; k < r->nreferences; k++)
      if ((r->references[k].flags & TWPA_FK_CASCADE) != 0)
        state_of(plan, r->references[k].child)->acted_on = 1;
    twpa__relation_state *s = state_of(plan, r->plan_id);
    if (s->described && r->epoch > s->epoch)
      s->distrusted = 0;
    if (!s->described || r->epoch > s->epoch)
      s->epoch = r->epoch;
    s->described = 1;
    if (r->identity == TWPA_IDENTITY_FULL)
      s->full = 1;
    for (size_t k = 0; k < r->nfks; k++)
      if ((r->fks[k].flags & TWPA_FK_CASCADE) != 0)
        s->acted_on = 1;
  }
}

void twpa__finish(twpa_plan *plan, const twpa_access_set *set, const twpa__accesses *a)
{
  if (a == &plan->scratch) {
    for (size_t i = 0; i < a->nusers; i++) /* a new schema: what was remembered is of the old one */
      if (is_new_epoch(plan, a->users[i].relation))
        forget_relation(plan, a->users[i].relation->plan_id);
    plan->scratch.late = true;
    finish_deltas(plan, set, &plan->scratch);
    plan->scratch.late = false;
    finish_barriers(plan, set, &plan->scratch);
  } else {
    finish_deltas(plan, set, &plan->scratch); /* nothing is asked: only learns */
  }
  for (size_t i = 0; i < a->ntouches && plan->policy.memory; i++)
    if ((a->touches[i].flags & TWPA__TOUCH_FORGET) != 0)
      forget_relation(plan, a->touches[i].id);
  if (a->database_barrier)
    plan->oldest_generation = ++plan->generation;
  if (plan->news > 0)
    take_epochs(plan, a);
}
