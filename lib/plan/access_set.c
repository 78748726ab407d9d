/*
 * Access sets: the public side of collecting a transaction. A change is derived into a delta; without row memory it is
 * emitted at once, with it the delta is kept and the plan finishes it when the transaction enters (rule 1.6.3), because
 * only then is it known what came before.
 */
#include "plan/accesses.h"

#include "base/assert.h"
#include "base/sized.h"
#include "plan/plan.h"

#include <string.h>

twpa_status twpa_access_set_new(twpa_access_set **out, const twpa_plan *plan, const twpa_allocator *allocator)
{
  twpa__mem mem;
  if (out == NULL || plan == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  twpa_access_set *set = twpa__zalloc(&mem, sizeof *set);
  if (set == NULL)
    return TWPA_E_NOMEM;
  set->mem = mem;
  set->policy = plan->policy;
  twpa__accesses_init(&set->acc, &set->mem, plan->policy.budget);
  *out = set;
  return TWPA_OK;
}

void twpa_access_set_free(twpa_access_set *set)
{
  if (set == NULL)
    return;
  twpa__accesses_free(&set->acc);
  twpa__release(&set->mem, set->deltas, set->deltas_cap);
  twpa__release(&set->mem, set->scratch, set->scratch_cap);
  twpa__mem mem = set->mem;
  twpa__release(&mem, set, sizeof *set);
}

twpa_status twpa_access_set_begin(twpa_access_set *set, twpa_lsn end_lsn, uint64_t origin, uint32_t flags)
{
  if (set == NULL)
    return TWPA_E_INVAL;
  if ((flags & ~(uint32_t)TWPA_TXN_PREPARED) != 0)
    return TWPA_E_UNSUPPORTED;
  twpa__accesses_clear(&set->acc);
  set->end_lsn = end_lsn;
  set->origin = origin;
  set->flags = flags;
  set->changes = 0;
  set->deltas_len = set->ask_accesses = set->ask_touches = 0;
  return TWPA_OK;
}

/* The relation has its place in the set, and so many accesses and touches fit. */
static twpa_status enter(twpa_access_set *set, twpa_relation *relation, uint32_t *user, size_t nacc, size_t ntouches)
{
  twpa_status st = twpa__accesses_reserve(&set->acc, nacc, ntouches);
  if (st == TWPA_OK)
    st = twpa__accesses_user(&set->acc, relation, set->policy.seed, set->policy.foreign_keys, user);
  return st;
}

/* Room for one more delta at the end of those kept. */
static twpa_status reserve_delta(twpa_access_set *set, size_t size)
{
  void *p = set->deltas;
  if (set->deltas_len + size <= set->deltas_cap)
    return TWPA_OK;
  if (set->deltas_len > SIZE_MAX / 2 - size)
    return TWPA_E_NOMEM;
  twpa_status st = twpa__array_reserve(&set->mem, &p, &set->deltas_cap, set->deltas_len + size, 1);
  set->deltas = p;
  return st;
}

static twpa_status reserve_scratch(twpa_access_set *set, size_t size)
{
  void *p = set->scratch;
  twpa_status st = twpa__array_reserve(&set->mem, &p, &set->scratch_cap, size, 1);
  set->scratch = p;
  return st;
}

static bool values_are_valid(const twpa_value *values, size_t n)
{
  for (size_t i = 0; values != NULL && i < n; i++)
    if (values[i].state > TWPA_VALUE_TEXT)
      return false;
  return true;
}

/* Does row memory have to see changes of this relation? */
static bool remembers(const twpa_access_set *set, const twpa_relation *r)
{
  return set->policy.memory && r->can_remember;
}

twpa_status twpa_access_set_change(twpa_access_set *set, twpa_relation *relation, uint32_t op,
                                   const twpa_value *old_values, const twpa_value *new_values, size_t nvalues)
{
  if (set == NULL || relation == NULL || op < TWPA_OP_INSERT || op > TWPA_OP_DELETE)
    return TWPA_E_INVAL;
  if (nvalues != relation->ncolumns || (op != TWPA_OP_DELETE && new_values == NULL))
    return TWPA_E_INVAL;
  if (!values_are_valid(old_values, nvalues) || !values_are_valid(new_values, nvalues))
    return TWPA_E_INVAL;
  uint32_t user;
  size_t size = twpa__delta_size(relation->nindexes + relation->nfks);
  bool keep = remembers(set, relation);
  size_t nacc = twpa__emit_max_accesses(relation), ntouches = twpa__emit_max_touches(relation);
  twpa_status st = enter(set, relation, &user, nacc, ntouches);
  if (st == TWPA_OK)
    st = keep ? reserve_delta(set, size) : reserve_scratch(set, size);
  if (st != TWPA_OK)
    return st;
  twpa__delta *delta = (twpa__delta *)(void *)(keep ? set->deltas + set->deltas_len : set->scratch);
  twpa__derive(&set->acc, &set->policy, delta, user, op, old_values, new_values);
  if ((delta->flags & TWPA__DELTA_ASKS) == 0) {
    twpa__emit_delta(&set->acc, &set->policy, delta);
  } else {
    set->ask_accesses += nacc;
    set->ask_touches += ntouches;
  }
  if (keep)
    set->deltas_len += size;
  set->changes++;
  return TWPA_OK;
}

/* Row memory forgets the relation at this point of the transaction. */
static void keep_forget(twpa_access_set *set, uint32_t user)
{
  twpa__delta *delta = (twpa__delta *)(void *)(set->deltas + set->deltas_len);
  memset(delta, 0, sizeof *delta);
  delta->user = user;
  delta->flags = TWPA__DELTA_FORGET;
  set->deltas_len += sizeof *delta;
}

static twpa_status whole_relation(twpa_access_set *set, twpa_relation *relation, uint32_t flags, bool forget)
{
  uint32_t user;
  twpa_status st = enter(set, relation, &user, 0, 1);
  if (st == TWPA_OK && forget && set->policy.memory)
    st = reserve_delta(set, sizeof(twpa__delta));
  if (st != TWPA_OK)
    return st;
  twpa__accesses_touch(&set->acc, relation->plan_id, flags);
  if (forget && set->policy.memory)
    keep_forget(set, user);
  return TWPA_OK;
}

twpa_status twpa_access_set_truncate(twpa_access_set *set, twpa_relation *const *relations, size_t nrelations)
{
  uint32_t user;
  if (set == NULL || (relations == NULL && nrelations > 0))
    return TWPA_E_INVAL;
  for (size_t i = 0; i < nrelations; i++)
    if (relations[i] == NULL)
      return TWPA_E_INVAL;
  twpa_status st = nrelations > 0 ? twpa__accesses_reserve(&set->acc, 0, nrelations) : TWPA_OK;
  if (st == TWPA_OK && set->policy.memory && nrelations > 0)
    st = nrelations < SIZE_MAX / 2 / sizeof(twpa__delta) ? reserve_delta(set, nrelations * sizeof(twpa__delta))
                                                         : TWPA_E_NOMEM;
  for (size_t i = 0; i < nrelations && st == TWPA_OK; i++)
    st = enter(set, relations[i], &user, 0, 0);
  for (size_t i = 0; i < nrelations && st == TWPA_OK; i++) /* can no longer fail: all is reserved */
    st = whole_relation(set, relations[i], TWPA__TOUCH_BARRIER, true);
  if (st == TWPA_OK && nrelations > 0)
    set->changes++;
  return st;
}

/* A new key, not too many of them, and room for it: what is needed mostly. False if it is not so. */
static inline bool add_raw(twpa__accesses *a, uint64_t hash, uint32_t bits)
{
  if (a->nacc >= TWPA__LINEAR_KEYS || a->nacc >= a->acc_cap || twpa__accesses_may_have(a, hash))
    return false;
  twpa__accesses_mark(a, hash);
  a->acc[a->nacc++] = (twpa__access){hash, bits, 0};
  a->nraw++;
  return true;
}

twpa_status twpa_access_set_access(twpa_access_set *set, twpa_key key, uint32_t mode)
{
  if (set == NULL || mode < TWPA_MODE_READ || mode > TWPA_MODE_EXCLUSIVE)
    return TWPA_E_INVAL;
  const uint32_t raw = TWPA__ACC_RAW | TWPA__ACC_NO_EARLY | TWPA_KIND_UK << TWPA__ACC_KIND_SHIFT;
  const uint32_t bits = mode == TWPA_MODE_EXCLUSIVE ? raw | TWPA_MODE_WRITE : raw | TWPA__ACC_WIDE | mode;
  const uint64_t hash = twpa__raw_hash(key);
  if (add_raw(&set->acc, hash, bits))
    return TWPA_OK;
  twpa_status st = twpa__accesses_reserve(&set->acc, 1, 0);
  if (st == TWPA_OK)
    twpa__accesses_key(&set->acc, 0, hash, bits);
  return st;
}

twpa_status twpa_access_set_touch(twpa_access_set *set, twpa_relation *relation)
{
  if (set == NULL || relation == NULL)
    return TWPA_E_INVAL;
  return whole_relation(set, relation, 0, false);
}

twpa_status twpa_access_set_barrier(twpa_access_set *set, twpa_relation *relation)
{
  if (set == NULL)
    return TWPA_E_INVAL;
  if (relation != NULL)
    return whole_relation(set, relation, TWPA__TOUCH_BARRIER | TWPA__TOUCH_CLOSURE, true);
  set->acc.database_barrier = true;
  return TWPA_OK;
}

twpa_status twpa_access_set_stats(const twpa_access_set *set, twpa_access_set_counters *counters)
{
  if (set == NULL || counters == NULL)
    return TWPA_E_INVAL;
  twpa_access_set_counters c = {.struct_size = sizeof c, .changes = set->changes, .accesses = set->acc.nacc};
  c.relations = set->acc.ntouches;
  c.barriers = set->acc.database_barrier;
  for (size_t i = 0; i < set->acc.ntouches; i++)
    c.barriers += (set->acc.touches[i].flags & TWPA__TOUCH_BARRIER) != 0;
  c.bytes = set->mem.live_bytes;
  memcpy(c.fallbacks, set->acc.fallbacks, sizeof c.fallbacks);
  return twpa__write_sized(counters, &c, sizeof c, sizeof c);
}
