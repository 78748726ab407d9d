/*
 * N threads around one scheduler. The host says how a transaction is applied, committed and rolled back; the executor
 * decides who does it when, keeps the commit order, retries what fails and stops in front of what keeps failing.
 *
 * One mutex guards the scheduler (and with it the plan and the progress); host callbacks run without it, except
 * `finished`. Each worker, when idle, takes the most urgent job there is: roll back, commit, then execute. So no
 * executed transaction waits for a worker while others start, and the head of the order can always go on.
 *
 * A transaction that was executed is open on the target until its commit turn comes, perhaps on another thread: what
 * it needs until then (a session, an undo log) must hang on the transaction, not on the worker.
 */
#ifndef SUPPORT_APPLY_EXECUTOR_H
#define SUPPORT_APPLY_EXECUTOR_H

#include "support/error.h"

#include <twpa/scheduler.h>

typedef struct executor executor;

/* What the host does. A callback may run on any worker, for one transaction on one at a time. */
typedef struct executor_host {
  void *user; /* first argument of all */

  /* Executes the transaction and leaves it open. 0, or one of enum twpa_fail after rolling it back completely. */
  uint32_t (*apply)(void *user, unsigned worker, uint64_t seq, void *txn);

  /* Commits it. 0, or one of enum twpa_fail after rolling it back. An unknowable outcome is EXECUTOR_FATAL. */
  uint32_t (*commit)(void *user, unsigned worker, uint64_t seq, void *txn);

  /* Rolls an executed transaction back; it will be applied again. 0, or EXECUTOR_FATAL. */
  uint32_t (*rollback)(void *user, unsigned worker, uint64_t seq, void *txn);

  /*
   * It is committed and will not be seen again: the host may free it. Called in the order in which the scheduler was
   * told, under the executor's lock: keep it short, call no executor function. May be NULL.
   */
  void (*finished)(void *user, uint64_t seq, void *txn);

  /*
   * A transaction that is just being applied on another thread will be rolled back: interrupt it if it may be blocked
   * on the target. Under the executor's lock, like `finished`. May be NULL.
   */
  void (*interrupt)(void *user, uint64_t seq, void *txn);

  /* A time that rises, for the timeline (any unit). NULL: nanoseconds of the monotonic clock. */
  uint64_t (*now)(void *user);
} executor_host;

/* Beside enum twpa_fail: the host cannot go on at all. Everybody stops at once; nothing more is reported as done. */
#define EXECUTOR_FATAL 100u

typedef enum executor_span_kind {
  EXECUTOR_SPAN_APPLY = 0,
  EXECUTOR_SPAN_COMMIT = 1,
  EXECUTOR_SPAN_ROLLBACK = 2,
  EXECUTOR_SPAN_IDLE = 3 /* the worker waited; seq is 0 */
} executor_span_kind;

/* One stretch in the life of a worker, for drawing. */
typedef struct executor_span {
  uint64_t start, end; /* as `now` had it */
  uint64_t seq;
  uint32_t kind;   /* executor_span_kind */
  uint32_t failed; /* 0, or what the callback returned */
} executor_span;

typedef struct executor_options {
  unsigned workers; /* 0: 1 */
  /* Keep a timeline of at most so many spans per worker, the first ones; 0: none. */
  size_t spans_max;
} executor_options;

/* Sums over all workers, in units of `now` (0 without a timeline: the clock is then not read). */
typedef struct executor_times {
  uint64_t apply, commit, rollback, idle;
  uint64_t wall; /* from the first submission to the last finish */
  uint64_t spans_lost;
} executor_times;

/*
 * Starts the workers. The scheduler is borrowed; from now on it, its plan and its progress are touched only through
 * the
 * executor (executor_lock) until executor_free. The scheduler may hold transactions already.
 */
bool executor_new(executor **ex, twpa_scheduler *sched, const executor_host *host, const executor_options *options,
                  host_error *err);

/* Waits for what is running (not for what is waiting), ends the threads, frees. NULL does nothing. */
void executor_free(executor *ex);

/*
 * Submits a transaction, waiting while a window is full. TWPA_OK; any failure of twpa_scheduler_submit except
 * TWPA_E_LIMIT; TWPA_E_STATE once the executor has stopped.
 */
twpa_status executor_submit(executor *ex, uint64_t *seq, const twpa_access_set *set, void *txn);

/* The same for a transaction with nothing to apply: it only takes its place in the order; no callback is called. */
twpa_status executor_submit_empty(executor *ex, uint64_t *seq, const twpa_access_set *set);

/*
 * Waits until everything submitted is done, or the executor has stopped and everything before the stop is done.
 * True if all is done; false with a text if it stopped.
 */
bool executor_drain(executor *ex, host_error *err);

/* Stops: nothing from seq on is started or committed any more; 0 means as soon as possible. Does not wait. */
void executor_stop(executor *ex, uint64_t seq);

/*
 * True after a stop: *seq is the first transaction that is not applied (the same that the text of executor_drain names;
 * what still runs moves it on until executor_drain returns), *reason why its last try failed (0: a stop by hand). Both
 * are set in every case; without a stop *seq is 0.
 */
bool executor_stopped(executor *ex, uint64_t *seq, uint32_t *reason);

/* The mutex around scheduler, plan and progress, for hosts that need them between submissions (to save progress). */
void executor_lock(executor *ex);
void executor_unlock(executor *ex);

/* After executor_drain and before the next submission: the spans of one worker in time order, and the sums. */
const executor_span *executor_timeline(const executor *ex, unsigned worker, size_t *count);
void executor_get_times(const executor *ex, executor_times *times);
unsigned executor_workers(const executor *ex);

#endif
