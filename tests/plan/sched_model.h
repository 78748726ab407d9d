/*
 * A naive model of the scheduler beside the real one. Transactions access keys in three modes; a toy target executes
 * them for real (a key has an identity, changed by WRITE, and data, changed by UPDATE and WRITE; row locks are held from
 * execution to commit), so that a wrong order shows in the result. Where the model says exactly what must happen, the
 * scheduler is held to it; in the end everything must be as if done one after the other.
 */
#ifndef TESTS_PLAN_SCHED_MODEL_H
#define TESTS_PLAN_SCHED_MODEL_H

#include "support/runner.h"

#include <stdbool.h>
#include <twpa/scheduler.h>

#define MODEL_TXNS 40
#define MODEL_KEYS 8

enum { M_WAITING, M_RUNNING, M_EXECUTED, M_COMMITTING, M_RETRY, M_STOPPED, M_DONE };

typedef struct model_txn {
  uint8_t mode[MODEL_KEYS]; /* 0 or TWPA_MODE_* */
  uint64_t groups;
  int state;
  bool skip, skipped; /* asked for; happened */
  bool doomed, offered;
  bool alone;
  bool released; /* failed, and nothing is in the way of running it again */
  unsigned tries;
  uint64_t seen; /* what its execution saw */
  uint64_t key_after[MODEL_KEYS], data_after[MODEL_KEYS];
} model_txn;

typedef struct model_options {
  unsigned txns, keys;
  uint32_t commit_order;
  bool early;           /* rows of a relation, plain updates and deletes, narrow early start */
  bool rows;            /* as early, without early start */
  uint64_t running_max, open_max, window_max;
  unsigned failures;    /* how many may happen */
  bool errors;          /* some of them for good, with skip and resume after the stop */
  bool skips;           /* some are skipped */
  bool hosts_stop;      /* the host stops and resumes at random */
  bool hints;           /* ask for a worker */
  bool lose_trust;      /* skips are reported as such: the plan may then wait for more than is needed */
  bool small_table;     /* the conflict table forgets: the plan may wait for more than is needed */
  const twpa_allocator *allocator;
} model_options;

/* Chooses one of n; the driver of random runs and the enumerator of small worlds each have their own. */
typedef struct chooser {
  unsigned (*choose)(struct chooser *c, unsigned n);
  rng random;
  unsigned path[256], width[256], depth, length; /* enumeration */
} chooser;

chooser chooser_random(uint64_t seed);
chooser chooser_all(void);
/* Moves on to the next path; false when there is none. */
bool chooser_next(chooser *c);

/* Runs one history to its end. txns: as many as options->txns, only mode and groups filled in. */
void model_run(const model_options *options, model_txn *txns, chooser *c);

/* Counts of what happened in all runs of this process, so that a test can demand that it was not idle. */
typedef struct model_totals {
  uint64_t runs, starts, early, commits, failures, rollbacks, cancels, alones, stops, skips, limits, held, steps;
} model_totals;
extern model_totals model_sum;

#endif
