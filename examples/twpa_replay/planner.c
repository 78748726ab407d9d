/* From changes to accesses, from accesses to the whole graph, from the graph to what-if. */
#include "twpa_replay/planner.h"

#include "support/memory.h"
#include "twpa_replay/tables.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Above so many unfinished transactions the oldest are finished: dependencies further apart are not seen. */
#define WINDOW ((size_t)1 << 19)

static uint64_t now_ns(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void replay_plan_options(twpa_plan_options *o, bool strict, bool commit_order)
{
  memset(o, 0, sizeof *o);
  o->struct_size = TWPA_PLAN_OPTIONS_INIT;
  o->seed = UINT64_C(0x7477706172706c79);
  o->unique_release = strict ? TWPA_UNKNOWN_STRICT : TWPA_UNKNOWN_OPTIMISTIC;
  o->reference_release = TWPA_REFERENCE_STRICT;
  o->foreign_keys = TWPA_FOREIGN_KEYS_ENFORCED;
  o->no_identity = TWPA_NO_IDENTITY_INSERT_FREE;
  o->free_commit_order = !commit_order;
}

/* Foreign keys that are not followed by their values. */
static twpa_status coarse_accesses(twpa_access_set *set, const replay_table *t)
{
  twpa_status st = TWPA_OK;
  for (const replay_coarse *c = t->coarse; c && st == TWPA_OK; c = c->next)
    st = twpa_access_set_access(set, c->key, c->parent ? TWPA_MODE_WRITE : TWPA_MODE_READ);
  return st;
}

static twpa_status change_accesses(twpa_access_set *set, const replay_model *m,
                                   const replay_change *c)
{
  static const uint32_t ops[] = {0, TWPA_OP_INSERT, TWPA_OP_UPDATE, TWPA_OP_DELETE};
  if (c->op == REPLAY_TRUNCATE) {
    twpa_relation **list = host_alloc(c->ntables, sizeof *list);
    for (uint32_t i = 0; i < c->ntables; i++)
      list[i] = m->tables[c->tables[i]].planned;
    twpa_status st = twpa_access_set_truncate(set, list, c->ntables);
    free(list);
    for (uint32_t i = 0; i < c->ntables && st == TWPA_OK; i++)
      st = coarse_accesses(set, &m->tables[c->tables[i]]);
    return st;
  }
  if (c->table == REPLAY_NO_TABLE)
    return twpa_access_set_barrier(set, NULL);
  const replay_table *t = &m->tables[c->table];
  bool no_identity = c->skip == REPLAY_NO_IDENTITY &&
                     (t->relation->replica_identity == 'n' || !t->relation->identity);
  twpa_status st = coarse_accesses(set, t);
  if (st != TWPA_OK)
    return st;
  bool read = c->skip == REPLAY_APPLIED || c->skip == REPLAY_LOOSE; /* its keys are known */
  if (c->op == REPLAY_DDL || (!read && !no_identity))
    return twpa_access_set_barrier(set, t->planned);
  twpa_value *old_row = c->old_row ? replay_values(m, c->table, c->old_row) : NULL;
  twpa_value *new_row = c->new_row ? replay_values(m, c->table, c->new_row) : NULL;
  st = twpa_access_set_change(set, t->planned, ops[c->op], old_row, new_row,
                              m->described[c->table].ncolumns);
  free(old_row);
  free(new_row);
  return st;
}

twpa_status replay_accesses(twpa_access_set *set, const replay_model *m, const replay_txn *txn)
{
  twpa_status st = twpa_access_set_begin(set, txn->end_lsn, 0, 0);
  for (uint32_t i = 0; st == TWPA_OK && i < txn->nchanges; i++)
    st = change_accesses(set, m, &txn->changes[i]);
  return st;
}

/* Takes over the dependencies of the transaction that just entered: into the list, and into the recording. */
static twpa_status note_edges(replay_plan *out, const twpa_plan *plan, twpa_recording *recording,
                              uint64_t seq, twpa_edge **room, size_t *cap, bool keep)
{
  size_t count = 0;
  uint64_t floor = 0;
  twpa_status st = twpa_plan_explain(plan, *room, *cap, &count, seq);
  if (st == TWPA_OK && count > *cap) {
    *cap = count * 2;
    *room = host_resize(*room, *cap, sizeof **room);
    st = twpa_plan_explain(plan, *room, *cap, &count, seq);
  }
  for (size_t i = 0; st == TWPA_OK && i < count; i++)
    if ((*room)[i].flags & TWPA_EDGE_UP_TO && (*room)[i].from > floor)
      floor = (*room)[i].from;
  if (st == TWPA_OK)
    st = twpa_recording_add(recording, seq, 0, floor);
  for (size_t i = 0; st == TWPA_OK && i < count; i++) {
    const twpa_edge *e = &(*room)[i];
    if (!(e->flags & TWPA_EDGE_UP_TO))
      st = twpa_recording_edge(recording, e->from, 0);
    if (!keep)
      continue;
    out->edges = host_grow(out->edges, &out->edges_cap, out->nedges, sizeof *out->edges);
    out->edges[out->nedges++] = (replay_edge){.from = (uint32_t)(e->from - 1),
                                              .to = (uint32_t)(seq - 1),
                                              .type = e->type,
                                              .flags = e->flags};
  }
  return st;
}

static twpa_status enter(replay_plan *out, const replay_model *m, twpa_plan *plan,
                         twpa_access_set *set, twpa_recording *recording, bool keep)
{
  twpa_edge *room = NULL;
  size_t cap = 0;
  uint64_t done = 0;
  twpa_status st = TWPA_OK;
  for (size_t i = 0; st == TWPA_OK && i < m->ntxns; i++) {
    uint64_t seq = 0, begin = now_ns();
    uint32_t npredecessors;
    while (st == TWPA_OK && i - done >= WINDOW)
      st = twpa_plan_complete(plan, ++done, TWPA_DONE_COMMITTED);
    if (st == TWPA_OK)
      st = replay_accesses(set, m, &m->txns[i]);
    if (st == TWPA_OK)
      st = twpa_plan_add(plan, &seq, &npredecessors, set);
    out->nanoseconds += now_ns() - begin;
    if (st == TWPA_OK)
      st = note_edges(out, plan, recording, seq, &room, &cap, keep);
    if (st == TWPA_OK)
      st = twpa_recording_set_cost(recording, seq, m->txns[i].nchanges, 1);
  }
  free(room);
  return st;
}

static twpa_status simulate(replay_plan *out, const twpa_recording *recording)
{
  twpa_simulation_options o = {.struct_size = TWPA_SIMULATION_OPTIONS_INIT,
                               .commit_order = TWPA_COMMIT_ORDER_FREE};
  twpa_simulation r = {.struct_size = TWPA_SIMULATION_INIT};
  twpa_status st = twpa_simulate(recording, &r, NULL, 0, &o, NULL);
  out->work = r.work;
  out->critical_path = r.critical_path;
  out->widest = r.running_high;
  for (int free_order = 0; free_order < 2; free_order++)
    for (int i = 0; st == TWPA_OK && i < REPLAY_WORKER_STEPS; i++) {
      o.commit_order = free_order ? TWPA_COMMIT_ORDER_FREE : TWPA_COMMIT_ORDER_GLOBAL;
      o.running_max = UINT64_C(1) << i;
      st = twpa_simulate(recording, &r, NULL, 0, &o, NULL);
      out->makespan[free_order][i] = r.makespan;
    }
  return st;
}

bool replay_analyse(replay_plan *out, const replay_model *m, bool strict, bool keep_edges,
                    host_error *err)
{
  twpa_plan *plan = NULL;
  twpa_access_set *set = NULL;
  twpa_recording *recording = NULL;
  twpa_plan_options o;
  memset(out, 0, sizeof *out);
  replay_plan_options(&o, strict, true);
  o.explain = 1;
  replay_table_sizes(&o, m);
  twpa_status st = twpa_plan_new(&plan, &o, NULL);
  if (st == TWPA_OK)
    st = twpa_access_set_new(&set, plan, NULL);
  if (st == TWPA_OK)
    st = twpa_recording_new(&recording, NULL);
  if (st == TWPA_OK)
    st = enter(out, m, plan, set, recording, keep_edges);
  if (st == TWPA_OK) {
    out->counters.struct_size = TWPA_PLAN_COUNTERS_INIT;
    st = twpa_plan_stats(plan, &out->counters);
  }
  if (st == TWPA_OK) {
    out->report.struct_size = TWPA_REPORT_INIT;
    st = twpa_plan_report(plan, &out->report);
  }
  if (st == TWPA_OK)
    st = simulate(out, recording);
  twpa_recording_free(recording);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  return st == TWPA_OK || host_fail(err, "planning failed: %s", twpa_status_text(st));
}

void replay_plan_free(replay_plan *plan)
{
  free(plan->edges);
}
