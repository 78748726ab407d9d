/*
 * What a plan tells about itself: who waits for whom and why, counters, a drawing. Nothing here changes the plan. Join
 * nodes never show: what leads through one is given member by member, waiter by waiter. A join node has at most one
 * other chained before it and one behind it, so walking through them is a loop.
 */
#include "plan/plan.h"

#include "base/assert.h"
#include "base/sized.h"

#include <string.h>

#define SEQ_BITS (TWPA__TO_JOIN - 1)

static bool is_in(const twpa_plan *plan, uint64_t seq)
{
  return seq > plan->graph.low && seq <= plan->graph.last;
}

/* --- successors ------------------------------------------------------------------------------------------------- */

/* Where a walk over the successors of a transaction stands: at an edge of its own, and maybe inside join nodes. */
typedef struct walk {
  const twpa__graph *g;
  uint32_t edge;       /* of the transaction */
  uint32_t inner;      /* edge of the join node, or NIL */
  uint32_t next_join;  /* the one chained behind it, or NIL */
  bool in_join;
} walk;

/* The next target that is a transaction; false at the end. */
static bool walk_next(walk *w, uint32_t *to, uint32_t *meta)
{
  for (;;) {
    while (w->in_join) {
      if (w->inner == TWPA__NIL) {
        w->in_join = w->next_join != TWPA__NIL;
        w->inner = w->in_join ? w->g->joins[w->next_join].edges : TWPA__NIL;
        w->next_join = TWPA__NIL;
        continue;
      }
      const twpa__edge e = twpa__edge_at(w->g, w->inner);
      w->inner = e.next;
      if ((e.to & TWPA__TO_JOIN) != 0) {
        w->next_join = e.to & SEQ_BITS;
        continue;
      }
      *to = e.to;
      *meta = e.meta & ~TWPA__META_EARLY;
      return true;
    }
    if (w->edge == TWPA__NIL)
      return false;
    const twpa__edge e = twpa__edge_at(w->g, w->edge);
    w->edge = e.next;
    if ((e.to & TWPA__TO_JOIN) == 0) {
      *to = e.to;
      *meta = e.meta;
      return true;
    }
    w->in_join = true;
    w->inner = w->g->joins[e.to & SEQ_BITS].edges;
    w->next_join = TWPA__NIL;
  }
}

static walk walk_from(const twpa__graph *g, uint64_t seq)
{
  return (walk){g, twpa__node_at(g, seq)->edges, TWPA__NIL, TWPA__NIL, false};
}

twpa_status twpa_plan_next_successor(const twpa_plan *plan, twpa_edge *edge, uint64_t *cursor, uint64_t seq)
{
  if (plan == NULL || edge == NULL || cursor == NULL)
    return TWPA_E_INVAL;
  if (!is_in(plan, seq))
    return TWPA_E_NOTFOUND;
  walk w = walk_from(&plan->graph, seq);
  uint32_t to, meta;
  for (uint64_t i = 0; walk_next(&w, &to, &meta); i++) {
    if (i < *cursor)
      continue;
    memset(edge, 0, sizeof *edge);
    edge->from = seq;
    edge->to = twpa__full_seq(&plan->graph, to);
    edge->type = meta & TWPA__META_TYPE;
    edge->flags = ((meta & TWPA__META_EARLY) != 0 ? TWPA_EDGE_EARLY : 0) | (w.in_join ? TWPA_EDGE_INDIRECT : 0);
    ++*cursor;
    return TWPA_OK;
  }
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

/* With explain: along the lists of edges by successor. */
static void explain_lists(const twpa_plan *plan, answer *a)
{
  const twpa__graph *g = &plan->graph;
  for (uint32_t e = twpa__info_at(g, a->to)->in_edges; e != TWPA__NIL; e = g->vias[e].next_in) {
    const twpa__via *via = &g->vias[e];
    if ((via->from & TWPA__TO_JOIN) == 0) {
      bool fulfilled = (g->edges[e].meta & TWPA__META_EARLY) != 0 &&
                       twpa__node_at(g, via->from)->state == TWPA__EXECUTED;
      if (!fulfilled)
        say(a, twpa__full_seq(g, via->from), g->edges[e].meta, 0, via);
      continue;
    }
    for (uint32_t join = via->from & SEQ_BITS; join != TWPA__NIL;) {
      uint32_t before = TWPA__NIL;
      for (uint32_t m = g->joins[join].in_edges; m != TWPA__NIL; m = g->vias[m].next_in) {
        if ((g->vias[m].from & TWPA__TO_JOIN) != 0)
          before = g->vias[m].from & SEQ_BITS;
        else
          say(a, twpa__full_seq(g, g->vias[m].from), g->edges[e].meta, TWPA_EDGE_INDIRECT, via);
      }
      join = before;
    }
  }
}

/* Without: all edges of all earlier ones. */
static void explain_scan(const twpa_plan *plan, answer *a)
{
  const twpa__graph *g = &plan->graph;
  for (uint64_t from = g->low + 1; from < a->to; from++) {
    const twpa__node *n = twpa__node_at(g, from);
    if (n->state == TWPA__DONE)
      continue;
    walk w = walk_from(g, from);
    uint32_t to, meta;
    while (walk_next(&w, &to, &meta))
      if (twpa__full_seq(g, to) == a->to && !(n->state == TWPA__EXECUTED && (meta & TWPA__META_EARLY) != 0))
        say(a, from, meta, w.in_join ? TWPA_EDGE_INDIRECT : 0, NULL);
  }
}

twpa_status twpa_plan_explain(const twpa_plan *plan, twpa_edge *edges, size_t cap, size_t *count, uint64_t seq)
{
  if (plan == NULL || count == NULL || (edges == NULL && cap > 0))
    return TWPA_E_INVAL;
  if (!is_in(plan, seq))
    return TWPA_E_NOTFOUND;
  const twpa__graph *g = &plan->graph;
  const twpa__node *n = twpa__node_at(g, seq);
  answer a = {edges, cap, 0, seq};
  if (n->state != TWPA__DONE) {
    if (g->explain)
      explain_lists(plan, &a);
    else
      explain_scan(plan, &a);
    if (n->waits)
      say(&a, twpa__full_seq(g, n->prev & SEQ_BITS), TWPA_EDGE_UNKNOWN, TWPA_EDGE_UP_TO, NULL);
  }
  *count = a.count;
  return TWPA_OK;
}

/* --- accessors -------------------------------------------------------------------------------------------------- */

twpa_status twpa_plan_node(const twpa_plan *plan, twpa_node *node, uint64_t seq)
{
  static const uint32_t states[] = {TWPA_NODE_WAITING, TWPA_NODE_READY, TWPA_NODE_EXECUTED, TWPA_NODE_COMMITTED};
  if (plan == NULL || node == NULL)
    return TWPA_E_INVAL;
  if (!is_in(plan, seq))
    return TWPA_E_NOTFOUND;
  const twpa__node *n = twpa__node_at(&plan->graph, seq);
  const twpa__node_info *info = twpa__info_at(&plan->graph, seq);
  *node = (twpa_node){seq, info->end_lsn, info->origin, info->keys, n->npred, states[n->state]};
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
  c.live_edges = g->edges_live;
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
