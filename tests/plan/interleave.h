/*
 * A history run step by step on the target with row locks, driven by the product's scheduler: who starts, who commits, who
 * is rolled back is its decision; which of the possible steps comes next is the dice's.
 */
#ifndef TESTS_PLAN_INTERLEAVE_H
#define TESTS_PLAN_INTERLEAVE_H

#include "history_trace.h"
#include "locks.h"

#include <twpa/scheduler.h>

typedef struct driving {
  twpa_scheduler_options options;
  unsigned aborts;     /* so many transactions fail for a reason from outside */
  bool failures;       /* the policies are optimistic: conflicts are detected by the target, and retried */
  bool origins;        /* two streams, each with a progress of its own, which is kept on the target with each commit */
  unsigned crashes;    /* so often the process ends in between, and another one goes on from what is kept (with origins) */
  uint64_t dice;
} driving;

typedef struct interleaved { /* sums over all runs */
  uint64_t runs, steps, waits, early, aborts, failures, deadlocks, rollbacks, crashes, gaps;
} interleaved;

/* NULL, or what is wrong. */
const char *interleave(const history *h, const setting *how, const driving *d, interleaved *sum, const trace_log *log);

#endif
