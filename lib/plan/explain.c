/*
 * What a plan tells about itself: who waits for whom and why, counters, a drawing. Nothing here changes the plan. Join
 * nodes never show: what leads through one is given member by member, waiter by waiter. A join node has at most one
 * other chained before it and one behind it, so walking through them is a loop.
 */
#include "plan/plan.h"

#include "base/assert.h"
#include "base/sized.h"

#include <string.h>

static bool is_in(const twpa_plan *plan, uint64_t seq)
{
  return seq > plan->graph.low && seq <= plan->graph.last;
}

/* --- successors ------------------------------------------------------------------------------------------------- */

/* Does the edge lead from this transaction, directly or through join nodes? */
static bool leads_from(const twpa__graph *g, const twpa__in_edge *e, uint64_t seq)
{
  for (uint32_t join = e->join; join != TWPA__NIL; join = g->joins[join].before)
    if (twpa__graph_is_member(g, seq, join))
      return true;
  return e->from == seq && (e->meta & TWPA__META_UP_TO) == 0;
}

/* The cursor: how far behind, and where among the edges into that one. */
twpa_status twpa_plan_next_successor(const twpa_plan *plan, twpa_edge *edge, uint64_t *cursor, uint64_t seq)
{
  if (plan == NULL || edge == NULL || cursor == NULL)
    return TWPA_E_INVAL;
  if (!is_in(plan, seq))
    return TWPA_E_NOTFOUND;
  const twpa__graph *g = &plan->graph;
  if (twpa__state_of(g, seq) == TWPA__DONE)
    return TWPA_NONE;
  uint64_t to = seq + (*cursor >> 32);
  uint32_t at = (uint32_t)*cursor;
  if (to == seq)
    to++;
  for (; to <= g->last; to++, at = 0) {
    twpa__in_edge e;
    while (twpa__graph_next_in(g, &e, &at, to)) {
      if (!leads_from(g, &e, seq))
        continue;
      *cursor = (to - seq) << 32 | at;
      memset(edge, 0, sizeof *edge);
      edge->from = seq;
      edge->to = to;
      edge->type = e.meta & TWPA__META_TYPE;
      edge->flags = ((e.meta & TWPA__META_EARLY) != 0 ? TWPA_EDGE_EARLY : 0) | (e.from == 0 ? TWPA_EDGE_INDIRECT : 0);
      return TWPA_OK;
    }
  }
  *cursor = (to - seq) << 32;
  return TWPA_NONE;
}

/* --- explain ---------------------------------------------------------------------------------------------------- */

typedef struct answer {
  twpa_edge *edges;
  size_t cap, count;
  uint64_t to;
} answer;

static void say(answer *a, uint64_t from, uint32_t meta, uint32_t flags, const twpa__via *via)
{
  twpa_edge *e = a->count < a->cap ? &a->edges[a->count] : NULL;
  a->count++;
  if (e == NULL)
    return;
  memset(e, 0, sizeof *e);
  e->from = from;
  e->to = a->to;
  e->type = meta & TWPA__META_TYPE;
  e->flags = flags | ((meta & TWPA__META_EARLY) != 0 ? TWPA_EDGE_EARLY : 0);
  if (via == NULL || via->kind == 0)
    return;
  e->flags |= TWPA_EDGE_VIA;
  e->relation = via->relation;
  e->index = via->index;
  e->key = via->key;
  e->kind = via->kind;
  e->from_mode = via->from_mode;
  e->to_mode = via->to_mode;
}

/* The members of a join node, and of those chained before it. */
static void say_members(const twpa__graph *g, answer *a, const twpa__in_edge *e)
{
  for (uint32_t join = e->join; join != TWPA__NIL; join = g->joins[join].before)
    for (uint32_t m = g->joins[join].members; m != TWPA__NIL; m = g->edges[m].next_in)
      say(a, twpa__full_seq(g, g->edges[m].from), e->meta, TWPA_EDGE_INDIRECT, e->via);
}

twpa_status twpa_plan_explain(const twpa_plan *plan, twpa_edge *edges, size_t cap, size_t *count, uint64_t seq)
{
  if (plan == NULL || count == NULL || (edges == NULL && cap > 0))
    return TWPA_E_INVAL;
  if (!is_in(plan, seq))
    return TWPA_E_NOTFOUND;
  const twpa__graph *g = &plan->graph;
  answer a = {edges, cap, 0, seq};
  twpa__in_edge e;
  for (uint32_t cursor = 0; twpa__state_of(g, seq) == TWPA__WAITING && twpa__graph_next_in(g, &e, &cursor, seq);) {
    if (e.fulfilled)
      continue;
    if (e.from == 0)
      say_members(g, &a, &e);
    else
      say(&a, e.from, e.meta, (e.meta & TWPA__META_UP_TO) != 0 ? TWPA_EDGE_UP_TO : 0, e.via);
  }
  *count = a.count;
  return TWPA_OK;
}

/* --- accessors -------------------------------------------------------------------------------------------------- */

twpa_status twpa_plan_node(const twpa_plan *plan, twpa_node *node, uint64_t seq)
{
  static const uint32_t states[] = {TWPA_NODE_WAITING, TWPA_NODE_READY, TWPA_NODE_READY, TWPA_NODE_EXECUTED,
                                    TWPA_NODE_COMMITTED};
  if (plan == NULL || node == NULL)
    return TWPA_E_INVAL;
  if (!is_in(plan, seq))
    return TWPA_E_NOTFOUND;
  const twpa__graph *g = &plan->graph;
  const twpa__node_info *info = twpa__info_at(g, seq);
  *node = (twpa_node){seq, info->end_lsn, info->origin, info->keys, twpa__graph_unfulfilled(g, seq),
                      states[twpa__state_of(g, seq)]};
  return TWPA_OK;
}

uint64_t twpa_plan_low_watermark(const twpa_plan *plan)
{
  return plan != NULL ? plan->graph.low : 0;
}

twpa_status twpa_plan_report(const twpa_plan *plan, twpa_report *report)
{
  if (plan == NULL || report == NULL)
    return TWPA_E_INVAL;
  const twpa__graph *g = &plan->graph;
  twpa_report r = {.struct_size = sizeof r, .low_watermark = g->low, .last = g->last, .ready = g->ready};
  r.waiting = g->unfinished - g->ready;
  r.finished = g->last - g->low - g->unfinished;
  memcpy(r.fallbacks, plan->fallbacks, sizeof r.fallbacks);
  for (size_t i = 0; i < TWPA_FALLBACKS; i++)
    r.fallback_count += r.fallbacks[i];
  r.status = plan->last_status;
  return twpa__write_sized(report, &r, sizeof r, sizeof r);
}

twpa_status twpa_plan_stats(const twpa_plan *plan, twpa_plan_counters *counters)
{
  if (plan == NULL || counters == NULL)
    return TWPA_E_INVAL;
  const twpa__graph *g = &plan->graph;
  twpa_plan_counters c = plan->counters;
  c.struct_size = sizeof c;
  c.transactions = g->last;
  c.edges = g->edges_made;
  memcpy(c.edges_by_type, g->by_type, sizeof c.edges_by_type);
  c.joins = g->joins_made;
  c.live_transactions = g->last - g->low;
  c.live_keys = plan->live_keys;
  c.live_edges = g->inline_live + g->pool_live;
  c.bytes = plan->mem.live_bytes;
  return twpa__write_sized(counters, &c, sizeof c, sizeof c);
}

/* --- row memory from outside ------------------------------------------------------------------------------------ */

/* Nothing unfinished has touched the row that the delta inserts (rule 1.6.6). */
static bool row_is_quiet(const twpa_plan *plan, const twpa_relation *r, const twpa__delta *d, bool referenced)
{
  const twpa__graph *g = &plan->graph;
  twpa__now now = {(uint32_t)g->last + 1, (uint32_t)(g->last + 1 - g->low)};
  uint32_t pos = twpa__registry_find_relation(&plan->registry, r->plan_id);
  if (twpa__is_live(now, plan->database_bar) || (pos != TWPA__NIL && twpa__is_live(now, plan->registry.relations[pos].bar)))
    return false;
  if (referenced)
    return twpa__wide_is_quiet(&plan->wide, d->row_new_key, now, twpa__newest_member, g);
  return twpa__narrow_is_quiet(&plan->narrow, d->row_new_key, now);
}

/* The row as an insert in plan->scratch, whose accesses are thrown away. */
static twpa_status derive_seed(twpa_plan *plan, twpa_relation *relation, const twpa_value *values, twpa__delta **delta)
{
  uint32_t user;
  void *p = plan->delta;
  twpa_status st = twpa__array_reserve(&plan->mem, &p, &plan->delta_cap,
                                       twpa__delta_size(relation->nindexes + relation->nfks), 1);
  plan->delta = p;
  if (st == TWPA_OK)
    st = twpa__registry_reserve(&plan->registry, 1, 0, 0);
  if (st == TWPA_OK)
    st = twpa__accesses_reserve(&plan->scratch, 0, twpa__emit_max_touches(relation));
  if (st == TWPA_OK)
    st = twpa__accesses_user(&plan->scratch, relation, plan->policy.seed, plan->policy.foreign_keys, &user);
  if (st != TWPA_OK)
    return st;
  *delta = (twpa__delta *)(void *)plan->delta;
  twpa__derive(&plan->scratch, &plan->policy, *delta, user, TWPA_OP_INSERT, NULL, values);
  return TWPA_OK;
}

twpa_status twpa_plan_seed_row(twpa_plan *plan, twpa_relation *relation, const twpa_value *values, size_t nvalues)
{
  if (plan == NULL || relation == NULL || values == NULL || nvalues != relation->ncolumns)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  for (size_t i = 0; i < nvalues; i++)
    if (values[i].state > TWPA_VALUE_TEXT)
      return TWPA_E_INVAL;
  if (!plan->policy.memory || !relation->can_remember)
    return TWPA_NONE;
  twpa__delta *delta;
  twpa_status st = derive_seed(plan, relation, values, &delta);
  if (st == TWPA_OK) {
    bool referenced = twpa__index_referenced(&relation->indexes[relation->row_index], plan->policy.foreign_keys);
    if ((delta->flags & TWPA__DELTA_FORGET) != 0 || delta->row_new != TWPA__VAL_KEY)
      st = TWPA_NONE;
    else if (!row_is_quiet(plan, relation, delta, referenced))
      st = TWPA_E_STATE;
    else
      twpa__learn_row(plan, relation, delta);
  }
  twpa__accesses_clear(&plan->scratch);
  return st;
}
