/*
 * Skipping: a transaction will never be applied, or the target did something else than the stream says (rules 1.6.5 and
 * 2.12). What row memory and full old rows say of the rows it touched is then not what the target has.
 *
 * From now on: its relations are forgotten, and among them those with identity FULL, and those whose rows the target
 * itself changes on behalf of a parent, are serial until their schema epoch rises.
 *
 * For what entered already: only those that depend on the skipped one can be wrong about what they do, and they still wait.
 * What they really do may conflict with anything, also with what is older than the skipped one: a column that was not sent
 * because it did not change, beside one that did, makes a value that nobody has named. So whoever waits is made to wait for
 * all before it.
 */
#include "plan/plan.h"

#include "base/assert.h"

/* Did the transaction touch the relation? Exact, but for relations with a later barrier, of which it says yes. */
static bool touched(const twpa_plan *plan, uint64_t seq, const twpa__relation_state *r)
{
  const twpa__graph *g = &plan->graph;
  twpa__now now = twpa__graph_now(g);
  if (twpa__is_live(now, r->bar) && twpa__age(now, r->bar) <= (uint32_t)(g->last - seq))
    return true;
  for (uint32_t e = twpa__node_at(g, seq)->edges; e != TWPA__NIL && r->join != TWPA__NIL;) {
    const twpa__edge edge = twpa__edge_at(g, e);
    if (edge.to == (r->join | TWPA__TO_JOIN))
      return true;
    e = edge.next;
  }
  return false;
}

static void distrust(twpa_plan *plan, uint64_t seq)
{
  twpa__registry *r = &plan->registry;
  for (size_t i = 0; i < r->nrelations; i++) {
    if (!touched(plan, seq, &r->relations[i]))
      continue;
    r->relations[i].generation = ++plan->generation;
    if (r->relations[i].full || r->relations[i].acted_on)
      r->relations[i].distrusted = 1;
  }
  if (plan->database_bar == (uint32_t)seq) { /* what a barrier on the database did is not known by relation */
    plan->oldest_generation = ++plan->generation;
    for (size_t i = 0; i < r->nrelations; i++)
      r->relations[i].distrusted |= r->relations[i].full | r->relations[i].acted_on;
  }
}

/* Unfinished ones between two numbers, without one of them, become predecessors of `to`. */
static void link_all(twpa__graph *g, uint64_t from, uint64_t to, uint64_t without)
{
  for (uint64_t s = from; s < to; s++)
    if (s != without && twpa__node_at(g, s)->state != TWPA__DONE)
      twpa__graph_link(g, s, to, TWPA_EDGE_UNKNOWN);
}

twpa_status twpa__skip(twpa_plan *plan, uint64_t seq)
{
  twpa__graph *g = &plan->graph;
  if (plan->options.early_start != TWPA_EARLY_START_OFF && twpa__node_at(g, seq)->state == TWPA__EXECUTED)
    return TWPA_E_STATE;
  twpa_status st = twpa__graph_reserve(g, (size_t)g->unfinished, 0);
  if (st != TWPA_OK)
    return st;
  uint64_t from = g->low + 1; /* those before it are predecessors already, through the last that waits */
  for (uint64_t s = seq + 1; s <= g->last; s++) {
    if (twpa__node_at(g, s)->state != TWPA__WAITING)
      continue;
    link_all(g, from, s, seq);
    from = s;
  }
  distrust(plan, seq);
  return TWPA_OK;
}
