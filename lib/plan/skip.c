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
  return r->join != TWPA__NIL && twpa__graph_is_member(g, seq, r->join);
}

static void distrust(twpa_plan *plan, uint64_t seq)
{
  twpa__registry *r = &plan->registry;
  plan->skipped = true;
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

twpa_status twpa__skip(twpa_plan *plan, uint64_t seq)
{
  twpa__graph *g = &plan->graph;
  size_t waiting = 0;
  if (plan->options.early_start != TWPA_EARLY_START_OFF && twpa__state_of(g, seq) == TWPA__EXECUTED)
    return TWPA_E_STATE;
  for (uint64_t s = seq + 1; s <= g->last; s++)
    waiting += twpa__state_of(g, s) == TWPA__WAITING;
  twpa_status st = waiting > 0 ? twpa__graph_reserve(g, waiting, 0) : TWPA_OK;
  if (st != TWPA_OK)
    return st;
  for (uint64_t s = seq + 1; s <= g->last; s++)
    if (twpa__state_of(g, s) == TWPA__WAITING)
      twpa__graph_wait_for_all(g, s);
  distrust(plan, seq);
  return TWPA_OK;
}
