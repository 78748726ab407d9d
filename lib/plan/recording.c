/* A recorded plan: transactions in commit order, each with its predecessors, in two growing arrays. */
#include "plan/recording.h"

#include "base/assert.h"

twpa_status twpa_recording_new(twpa_recording **recording, const twpa_allocator *allocator)
{
  if (recording == NULL)
    return TWPA_E_INVAL;
  twpa__mem mem;
  twpa_status st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  twpa_recording *r = twpa__zalloc(&mem, sizeof *r);
  if (r == NULL)
    return TWPA_E_NOMEM;
  r->mem = mem;
  *recording = r;
  return TWPA_OK;
}

void twpa_recording_free(twpa_recording *recording)
{
  if (recording == NULL)
    return;
  twpa_recording *r = recording;
  twpa__release(&r->mem, r->nodes, r->nodes_cap * sizeof(twpa__recorded));
  twpa__release(&r->mem, r->edges, r->edges_cap * sizeof(size_t));
  twpa__release(&r->mem, r->scratch, r->scratch_cap * sizeof(twpa_edge));
  twpa__mem mem = r->mem;
  twpa__release(&mem, r, sizeof *r);
}

static twpa_status reserve_nodes(twpa_recording *r)
{
  void *p = r->nodes;
  twpa_status st = twpa__array_reserve(&r->mem, &p, &r->nodes_cap, r->count + 1, sizeof(twpa__recorded));
  r->nodes = p;
  return st;
}

static twpa_status reserve_edges(twpa_recording *r, size_t more)
{
  void *p = r->edges;
  twpa_status st = twpa__array_reserve(&r->mem, &p, &r->edges_cap, r->nedges + more, sizeof(size_t));
  r->edges = p;
  return st;
}

twpa_status twpa_recording_add(twpa_recording *recording, uint64_t seq, uint64_t groups, uint64_t floor)
{
  twpa_recording *r = recording;
  if (r == NULL || seq == 0 || (r->count > 0 && seq != r->first + r->count) || floor >= seq)
    return TWPA_E_INVAL;
  if (r->total == UINT64_MAX)
    return TWPA_E_LIMIT;
  twpa_status st = reserve_nodes(r);
  if (st != TWPA_OK)
    return st;
  if (r->count == 0)
    r->first = seq;
  size_t behind = floor >= r->first ? (size_t)(floor - r->first) + 1 : 0;
  r->nodes[r->count++] = (twpa__recorded){.apply = 1, .groups = groups, .floor = behind, .edges_end = r->nedges};
  r->total++;
  return TWPA_OK;
}

static void add_edge(twpa_recording *r, uint64_t from, bool early)
{
  r->edges[r->nedges++] = (size_t)(from - r->first) * 2 + early;
  r->nodes[r->count - 1].edges_end = r->nedges;
}

twpa_status twpa_recording_edge(twpa_recording *recording, uint64_t from, uint32_t early)
{
  twpa_recording *r = recording;
  if (r == NULL)
    return TWPA_E_INVAL;
  if (r->count == 0)
    return TWPA_E_STATE;
  if (from >= r->first + (r->count - 1))
    return TWPA_E_INVAL;
  if (from < r->first)
    return TWPA_OK;
  twpa_status st = reserve_edges(r, 1);
  if (st == TWPA_OK)
    add_edge(r, from, early != 0);
  return st;
}

twpa_status twpa_recording_set_cost(twpa_recording *recording, uint64_t seq, uint64_t apply, uint64_t commit)
{
  twpa_recording *r = recording;
  if (r == NULL)
    return TWPA_E_INVAL;
  if (r->count == 0 || seq < r->first || seq - r->first >= r->count)
    return TWPA_E_NOTFOUND;
  twpa__recorded *node = &r->nodes[seq - r->first];
  uint64_t others = r->total - node->apply - node->commit;
  if (apply > UINT64_MAX - others || commit > UINT64_MAX - others - apply)
    return TWPA_E_LIMIT;
  node->apply = apply;
  node->commit = commit;
  r->total = others + apply + commit;
  return TWPA_OK;
}

uint64_t twpa_recording_count(const twpa_recording *recording)
{
  return recording != NULL ? recording->count : 0;
}

/* What the plan says of a transaction into r->scratch. */
static twpa_status explain(twpa_recording *r, const twpa_plan *plan, uint64_t seq, size_t *count)
{
  twpa_status st = twpa_plan_explain(plan, r->scratch, r->scratch_cap, count, seq);
  if (st != TWPA_OK || *count <= r->scratch_cap)
    return st;
  void *p = r->scratch;
  st = twpa__array_reserve(&r->mem, &p, &r->scratch_cap, *count, sizeof(twpa_edge));
  r->scratch = p;
  return st == TWPA_OK ? twpa_plan_explain(plan, r->scratch, r->scratch_cap, count, seq) : st;
}

void twpa__record(twpa_recording *recording, const twpa_plan *plan, uint64_t seq, uint64_t groups)
{
  twpa_recording *r = recording;
  size_t count = 0;
  uint64_t floor = 0;
  if (r->spoiled)
    return;
  twpa_status st = explain(r, plan, seq, &count);
  if (st == TWPA_OK)
    st = reserve_edges(r, count);
  for (size_t i = 0; i < count && st == TWPA_OK; i++)
    if ((r->scratch[i].flags & TWPA_EDGE_UP_TO) != 0 && r->scratch[i].from > floor)
      floor = r->scratch[i].from;
  if (st == TWPA_OK)
    st = twpa_recording_add(r, seq, groups, floor);
  r->spoiled = st != TWPA_OK;
  for (size_t i = 0; i < count && st == TWPA_OK; i++)
    if ((r->scratch[i].flags & TWPA_EDGE_UP_TO) == 0 && r->scratch[i].from >= r->first)
      add_edge(r, r->scratch[i].from, (r->scratch[i].flags & TWPA_EDGE_EARLY) != 0);
}
