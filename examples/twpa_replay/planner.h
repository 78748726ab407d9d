/*
 * The plan of the whole history: every transaction enters and none is finished, so that all dependencies are seen, and
 * the outcome does not depend on who ran when. What-if is answered from it in virtual time.
 */
#ifndef TWPA_REPLAY_PLANNER_H
#define TWPA_REPLAY_PLANNER_H

#include "twpa_replay/model.h"

#include <twpa/twpa.h>

/* A dependency, numbers of transactions from 0. */
typedef struct replay_edge {
  uint32_t from, to;
  uint32_t type; /* TWPA_EDGE_... */
  uint32_t flags;
} replay_edge;

#define REPLAY_WORKER_STEPS 7 /* 1, 2, 4, ... 64 */

typedef struct replay_plan {
  twpa_plan_counters counters;
  twpa_report report;
  uint64_t nanoseconds; /* deriving accesses and planning, all transactions together */
  uint64_t work;        /* one unit per change and one per commit */
  uint64_t critical_path;
  uint64_t widest; /* transactions under way at the same time, if nothing limits that */
  uint64_t makespan[2][REPLAY_WORKER_STEPS]; /* in commit order; in free order */
  replay_edge *edges;                        /* by `to`, rising */
  size_t nedges, edges_cap;
} replay_plan;

/* Options of the plan as both the analysis and the run use them. */
void replay_plan_options(twpa_plan_options *o, bool strict, bool commit_order);

/* The accesses of one transaction. */
twpa_status replay_accesses(twpa_access_set *set, const replay_model *m, const replay_txn *txn);

bool replay_analyse(replay_plan *out, const replay_model *m, bool strict, bool keep_edges,
                    host_error *err);
void replay_plan_free(replay_plan *plan);

#endif
