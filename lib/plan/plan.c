/*
 * The plan: an ordered lock manager.
 *
 * The problem: which of the transactions that come in commit order may run at the same time, without changing what
 * serial apply would give? The idea: each takes, in commit order, the "locks" it will need (keys with modes, flags on
 * indexes, relations), and depends on those that hold conflicting ones. Nobody waits here: a dependency is an edge in a
 * graph, and whoever has none left is ready. A transaction's locks go when it has committed.
 *
 * The pieces: an access set says what a transaction touches (accesses.h); finish.c completes it with what only the plan
 * knows; enter.c lets it meet the conflict table (conflicts.h) and the records of relations and indexes (registry.c);
 * graph.c holds who waits for whom. This file is the order in which that happens, and what can fail: everything that can
 * is reserved first, then the transaction enters without failing.
 *
 * Invariants: edges lead from smaller to larger numbers only; a transaction waits exactly until all its predecessors
 * have committed; what has to be forgotten is remembered as a horizon. Cost: per access one cache line of the table, per
 * transaction one of the predecessor that it hangs at; nothing is allocated once the pools have grown to the window's
 * size.
 */
#include "plan/plan.h"

#include "base/assert.h"
#include "base/sized.h"

#include <string.h>

#define TABLE_DEFAULT ((size_t)8 << 20)
#define WINDOW_DEFAULT (UINT64_C(1) << 20)

/* --- making ----------------------------------------------------------------------------------------------------- */

static twpa_status check_options(const twpa_plan_options *o)
{
  if (o->unique_release > TWPA_UNKNOWN_STRICT || o->reference_release > TWPA_REFERENCE_OPTIMISTIC ||
      o->foreign_keys > TWPA_FOREIGN_KEYS_ALL || o->no_identity > TWPA_NO_IDENTITY_INSERT_FREE ||
      o->parent_update > TWPA_PARENT_UPDATE_CONFLICTS || o->early_start > TWPA_EARLY_START_WIDE)
    return TWPA_E_INVAL;
  if (o->early_start != TWPA_EARLY_START_OFF && o->free_commit_order != 0)
    return TWPA_E_INVAL;
  if (o->max_transactions > TWPA__WINDOW_MAX)
    return TWPA_E_INVAL;
  return TWPA_OK;
}

static void fill_defaults(twpa_plan_options *o)
{
  if (o->table_bytes == 0)
    o->table_bytes = TABLE_DEFAULT;
  if (o->wide_bytes == 0)
    o->wide_bytes = o->table_bytes / 4;
  if (o->max_transactions == 0)
    o->max_transactions = WINDOW_DEFAULT;
}

static void release_parts(twpa_plan *plan)
{
  twpa__narrow_free(&plan->narrow, &plan->mem);
  twpa__wide_free(&plan->wide, &plan->mem);
  twpa__memory_free(&plan->memory, &plan->mem);
  twpa__graph_free(&plan->graph);
  twpa__accesses_free(&plan->scratch);
  twpa__registry_free(&plan->registry);
  twpa__release(&plan->mem, plan->delta, plan->delta_cap);
  twpa__mem mem = plan->mem;
  twpa__release(&mem, plan, sizeof *plan);
}

twpa_status twpa_plan_new(twpa_plan **out, const twpa_plan_options *options, const twpa_allocator *allocator)
{
  twpa_plan_options o;
  twpa__mem mem;
  if (out == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__read_sized(&o, sizeof o, options, sizeof o);
  if (st == TWPA_OK)
    st = check_options(&o);
  if (st == TWPA_OK)
    st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  fill_defaults(&o);
  twpa_plan *plan = twpa__zalloc(&mem, sizeof *plan);
  if (plan == NULL)
    return TWPA_E_NOMEM;
  plan->mem = mem;
  plan->options = o;
  plan->policy =
    (twpa__policy){o.seed, o.txn_max_keys, o.foreign_keys, o.no_identity, o.parent_update, o.memory_bytes > 0};
  twpa__graph_init(&plan->graph, &plan->mem, o.explain != 0, o.early_start != TWPA_EARLY_START_OFF);
  twpa__registry_init(&plan->registry, &plan->mem);
  twpa__accesses_init(&plan->scratch, &plan->mem, o.txn_max_keys);
  st = twpa__narrow_init(&plan->narrow, &plan->mem, o.table_bytes);
  if (st == TWPA_OK)
    st = twpa__wide_init(&plan->wide, &plan->mem, o.wide_bytes);
  if (st == TWPA_OK)
    st = twpa__memory_init(&plan->memory, &plan->mem, o.memory_bytes);
  if (st != TWPA_OK) {
    release_parts(plan);
    return st;
  }
  *out = plan;
  return TWPA_OK;
}

void twpa_plan_free(twpa_plan *plan)
{
  if (plan != NULL && !plan->busy)
    release_parts(plan);
}

/* --- entering --------------------------------------------------------------------------------------------------- */

static bool same_policy(const twpa__policy *x, const twpa__policy *y)
{
  return x->seed == y->seed && x->budget == y->budget && x->foreign_keys == y->foreign_keys &&
         x->no_identity == y->no_identity && x->parent_update == y->parent_update && x->memory == y->memory;
}

/* The window takes any transaction when it is empty; otherwise none that makes it larger than it may be. */
static bool has_room(const twpa_plan *plan, uint64_t keys)
{
  const twpa_plan_options *o = &plan->options;
  const twpa__graph *g = &plan->graph;
  if (g->last == g->low)
    return true;
  if (g->last - g->low >= o->max_transactions)
    return false;
  if (g->unfinished == 0)
    return true;
  if (o->max_keys > 0 && (plan->live_keys >= o->max_keys || keys > o->max_keys - plan->live_keys))
    return false;
  return o->max_bytes == 0 || (plan->live_payload < o->max_bytes && plan->payload <= o->max_bytes - plan->live_payload);
}

/* Most of what has to be finished when it enters is about relations. */
static bool knows_relations(const twpa_access_set *set)
{
  return set->acc.nusers > 0 || set->acc.database_barrier || set->flags != 0;
}

static twpa_status reserve_all(twpa_plan *plan, const twpa_access_set *set, const twpa__accesses **a)
{
  size_t more_acc, more_touches;
  if (!same_policy(&set->policy, &plan->policy))
    return TWPA_E_STATE;
  if (!has_room(plan, set->acc.nacc))
    return TWPA_E_LIMIT;
  plan->news = 0;
  *a = &set->acc;
  if (!knows_relations(set))
    return twpa__enter_reserve(plan, set->acc.nacc, 0, 0);
  twpa_status st = twpa__registry_check(&plan->registry, &set->acc, plan->policy.foreign_keys, &plan->news);
  if (st == TWPA_OK)
    st = twpa__finish_reserve(plan, set, a, &more_acc, &more_touches);
  size_t relations = 0; /* those that descriptions name */
  for (size_t i = 0; i < set->acc.nusers && plan->news > 0; i++)
    relations += set->acc.users[i].relation->nreferences;
  if (st == TWPA_OK)
    st = twpa__registry_reserve(&plan->registry, relations + (*a)->ntouches + more_touches + (*a)->nusers,
                                (*a)->nidxs, plan->news);
  if (st == TWPA_OK)
    st = twpa__enter_reserve(plan, (*a)->nacc + more_acc, (*a)->ntouches + more_touches, (*a)->nidxs);
  return st;
}

twpa_status twpa_plan_add(twpa_plan *plan, uint64_t *seq, uint32_t *npredecessors, const twpa_access_set *set)
{
  const twpa__accesses *a;
  if (plan == NULL || seq == NULL || npredecessors == NULL || set == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  twpa_status st = reserve_all(plan, set, &a);
  plan->last_status = st;
  if (st != TWPA_OK) {
    twpa__accesses_clear(&plan->scratch);
    return st;
  }
  if (knows_relations(set))
    twpa__finish(plan, set, a);
  if (plan->news > 0)
    twpa__registry_learn(&plan->registry, a);
  *seq = twpa__graph_enter(&plan->graph);
  twpa__enter_accesses(plan, a);
  *npredecessors = twpa__graph_enter_end(&plan->graph);
  twpa__node_info *info = twpa__info_at(&plan->graph, *seq);
  info->end_lsn = set->end_lsn;
  info->origin = set->origin;
  info->keys = a->nacc;
  info->payload = plan->payload;
  plan->live_keys += info->keys;
  plan->live_payload += info->payload;
  plan->payload = 0;
  plan->counters.keys += a->nacc;
  for (size_t i = 0; i < TWPA_FALLBACKS && a->fell_back; i++)
    plan->fallbacks[i] += a->fallbacks[i];
  if (a == &plan->scratch)
    twpa__accesses_clear(&plan->scratch);
  return TWPA_OK;
}

twpa_status twpa_plan_set_payload(twpa_plan *plan, uint64_t bytes)
{
  if (plan == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  plan->payload = bytes;
  return TWPA_OK;
}

twpa_status twpa_plan_cut(twpa_plan *plan)
{
  if (plan == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  plan->cut = (uint32_t)plan->graph.last;
  return TWPA_OK;
}

/* --- finishing -------------------------------------------------------------------------------------------------- */

/* The state of a transaction; DONE if it is not in the plan. */
static uint8_t state_of(const twpa_plan *plan, uint64_t seq)
{
  const twpa__graph *g = &plan->graph;
  return seq > g->low && seq <= g->last ? twpa__state_of(g, seq) : (uint8_t)TWPA__DONE;
}

twpa_status twpa_plan_executed(twpa_plan *plan, uint64_t seq)
{
  if (plan == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  uint8_t state = state_of(plan, seq);
  if (state == TWPA__DONE)
    return TWPA_E_NOTFOUND;
  if (state != TWPA__QUEUED && state != TWPA__RUNNING)
    return TWPA_E_STATE;
  twpa__graph_executed(&plan->graph, seq);
  return TWPA_OK;
}

twpa_status twpa_plan_revoke(twpa_plan *plan, uint64_t seq)
{
  if (plan == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  uint8_t state = state_of(plan, seq);
  if (state == TWPA__DONE)
    return TWPA_E_NOTFOUND;
  if (state != TWPA__EXECUTED || twpa__graph_has_early_successor(&plan->graph, seq))
    return TWPA_E_STATE;
  twpa__graph_revoke(&plan->graph, seq);
  return TWPA_OK;
}

twpa_status twpa_plan_complete(twpa_plan *plan, uint64_t seq, uint32_t outcome)
{
  if (plan == NULL || outcome > TWPA_DONE_SKIPPED)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  uint8_t state = state_of(plan, seq);
  if (state == TWPA__DONE)
    return TWPA_E_NOTFOUND;
  if (state == TWPA__WAITING)
    return TWPA_E_STATE;
  if (outcome == TWPA_DONE_SKIPPED) {
    twpa_status st = twpa__skip(plan, seq);
    if (st != TWPA_OK)
      return st;
  }
  const twpa__node_info *info = twpa__info_at(&plan->graph, seq);
  plan->live_keys -= info->keys;
  plan->live_payload -= info->payload;
  plan->counters.completed++;
  twpa__graph_done(&plan->graph, seq);
  return TWPA_OK;
}

twpa_status twpa_plan_next_ready(twpa_plan *plan, uint64_t *seq)
{
  if (plan == NULL || seq == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  uint64_t next = twpa__graph_next_ready(&plan->graph);
  if (next == 0)
    return TWPA_NONE;
  *seq = next;
  return TWPA_OK;
}

twpa_status twpa_plan_retried(twpa_plan *plan, uint64_t seq)
{
  if (plan == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  if (state_of(plan, seq) == TWPA__DONE)
    return TWPA_E_NOTFOUND;
  plan->counters.retries++;
  uint32_t blame = twpa__info_at(&plan->graph, seq)->blame;
  if (blame != TWPA__NIL)
    plan->registry.indexes[blame].retries++;
  return TWPA_OK;
}

twpa_status twpa_plan_index_retries(const twpa_plan *plan, uint64_t *retries, uint64_t relation, uint64_t index)
{
  if (plan == NULL || retries == NULL)
    return TWPA_E_INVAL;
  uint32_t pos = twpa__registry_find_index(&plan->registry, twpa__key_domain(plan->policy.seed, relation, index));
  if (pos == TWPA__NIL)
    return TWPA_E_NOTFOUND;
  *retries = plan->registry.indexes[pos].retries;
  return TWPA_OK;
}
