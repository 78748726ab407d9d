/*
 * The same transactions applied twice: by one thread in commit order, and by many as the plan allows. What the serial
 * run meets (nothing, as a rule) is what the parallel run must meet at the same changes; anything else is a violation.
 */
#ifndef TWPA_REPLAY_RUN_H
#define TWPA_REPLAY_RUN_H

#include "twpa_replay/options.h"
#include "twpa_replay/planner.h"

#include "support/apply/executor.h"

#define REPLAY_TEXTS 5

/* Findings of the store. */
typedef struct replay_findings {
  uint64_t count;
  uint64_t by_kind[STORE_KINDS];
  char first[REPLAY_TEXTS][400];
  uint64_t
      unexplained; /* of the serial run: nothing is known of the table that could be the reason */
  char first_unexplained[400];
} replay_findings;

typedef struct replay_span {
  uint64_t start, end; /* nanoseconds */
  uint32_t worker;
  uint32_t kind; /* EXECUTOR_SPAN_... */
  uint64_t seq;
} replay_span;

typedef struct replay_result {
  replay_findings serial;     /* met in commit order: the WAL alone does not explain it */
  replay_findings violations; /* met by the parallel run only */
  uint64_t retries;           /* transactions run again because a unique value was still taken */
  uint64_t serial_ns, parallel_ns;
  size_t seeded_rows, seeded_parents;
  bool equal;
  store_difference difference;
  replay_span *spans;
  size_t nspans;
  uint64_t spans_lost;
} replay_result;

/* Lets tests take dependencies away: what is submitted instead of replay_accesses. The program has none. */
typedef struct replay_sabotage {
  void *user;
  twpa_status (*accesses)(void *user, twpa_access_set *set, const replay_model *m,
                          const replay_txn *txn);
} replay_sabotage;

/* Seeds, serial run, parallel run, comparison. False if something prevents it; findings are no such thing. */
bool replay_run(replay_result *out, replay_model *m, const replay_options *o, bool timeline,
                const replay_sabotage *sabotage, host_error *err);
void replay_result_free(replay_result *result);

#endif
