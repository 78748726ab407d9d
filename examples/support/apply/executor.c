/*
 * Threads around one scheduler.
 *
 * All state is under one mutex. A worker looks for the most urgent job (roll back, commit, execute), lets go of the
 * mutex for the host's callback, and reports afterwards. A worker that finds nothing waits on `work`; whoever reports
 * something wakes all who wait there, because one report can make several jobs (a commit releases many successors) or
 * none; a submission makes one job at most and wakes one. `room` is for the submitter, which waits for a report that
 * makes the window smaller, and `quiet` for those who wait for the end. Every wait is in a loop that looks at the state
 * again, and every change of the state is made, and announced, under the mutex: no wake-up is lost.
 *
 * A transaction is with one worker at a time: it is given out by the scheduler under the mutex and comes back with a
 * report. Between being executed and its commit turn it is with nobody.
 */
#include "support/apply/executor.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum job_kind { JOB_NONE, JOB_APPLY, JOB_COMMIT, JOB_ROLLBACK } job_kind;

typedef struct job {
  job_kind kind;
  uint64_t seq;
  void *txn;
} job;

typedef struct worker {
  struct executor *ex;
  unsigned number;
  bool started;
  pthread_t thread;
  executor_span *spans;
  size_t count, cap;
  executor_times times; /* apply, commit, rollback, idle, spans_lost */
} worker;

struct executor {
  twpa_scheduler *sched;
  executor_host host;
  executor_options options;
  pthread_mutex_t mutex;
  pthread_cond_t work, room, quiet;
  worker *workers;
  unsigned nworkers;
  unsigned busy;     /* workers in a callback */
  bool ending;       /* the threads have to end */
  bool fatal;        /* the host cannot go on */
  uint64_t fatal_at; /* the transaction that said so */
  uint32_t reason;   /* of the last failure that stopped the scheduler */
  uint64_t begun, done_at;
  bool began;
  bool resting; /* drained, and nothing submitted since: the timelines are being read */
};

static uint64_t monotonic(void *user)
{
  (void)user;
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(const executor *ex)
{
  return ex->options.spans_max > 0 ? ex->host.now(ex->host.user) : 0;
}

/* ---- The timeline of one worker: written with the mutex held, read when all rest ----------------------------------- */

static void add_span(worker *w, uint64_t start, uint64_t end, uint64_t seq, uint32_t kind, uint32_t failed)
{
  uint64_t *sum[] = {&w->times.apply, &w->times.commit, &w->times.rollback, &w->times.idle};
  if (w->cap == 0)
    return;
  *sum[kind] += end - start;
  if (w->count == w->cap)
    w->times.spans_lost++;
  else
    w->spans[w->count++] = (executor_span){start, end, seq, kind, failed};
}

/* ---- What a worker does ------------------------------------------------------------------------------------------- */

/* Transactions that are just being applied elsewhere and have to go: interrupt them. */
static bool find_rollback(executor *ex, job *j)
{
  uint32_t running;
  while (twpa_scheduler_next_rollback(ex->sched, &j->seq, &j->txn, &running) == TWPA_OK) {
    if (!running)
      return true;
    if (ex->host.interrupt != NULL)
      ex->host.interrupt(ex->host.user, j->seq, j->txn);
  }
  return false;
}

static job find_job(executor *ex, unsigned number)
{
  job j = {JOB_NONE, 0, NULL};
  if (ex->fatal)
    return j;
  if (find_rollback(ex, &j))
    j.kind = JOB_ROLLBACK;
  else if (twpa_scheduler_next_commit(ex->sched, &j.seq, &j.txn) == TWPA_OK)
    j.kind = JOB_COMMIT;
  else if (twpa_scheduler_next_for(ex->sched, &j.seq, &j.txn, number) == TWPA_OK)
    j.kind = JOB_APPLY;
  return j;
}

static uint32_t call_host(worker *w, const job *j)
{
  const executor_host *h = &w->ex->host;
  switch (j->kind) {
  case JOB_APPLY: return h->apply(h->user, w->number, j->seq, j->txn);
  case JOB_COMMIT: return h->commit(h->user, w->number, j->seq, j->txn);
  default: return h->rollback(h->user, w->number, j->seq, j->txn);
  }
}

static void be_fatal(executor *ex, uint64_t seq)
{
  if (!ex->fatal)
    ex->fatal_at = seq;
  ex->fatal = true;
}

static void report_failure(executor *ex, const job *j, uint32_t result)
{
  uint32_t verdict = 0;
  twpa_status st = twpa_scheduler_failed(ex->sched, j->seq, &verdict, result);
  if (st != TWPA_OK)
    be_fatal(ex, j->seq);
  else if (verdict == TWPA_VERDICT_STOP && result != TWPA_FAIL_CANCELLED)
    ex->reason = result;
}

static void report(executor *ex, const job *j, uint32_t result)
{
  if (ex->fatal)
    return;
  if (result == 0) {
    twpa_status st = j->kind == JOB_APPLY    ? twpa_scheduler_applied(ex->sched, j->seq)
                     : j->kind == JOB_COMMIT ? twpa_scheduler_committed(ex->sched, j->seq)
                                             : twpa_scheduler_rolled_back(ex->sched, j->seq);
    if (st != TWPA_OK)
      be_fatal(ex, j->seq);
    else if (j->kind == JOB_COMMIT && ex->host.finished != NULL)
      ex->host.finished(ex->host.user, j->seq, j->txn);
  } else if (j->kind == JOB_ROLLBACK || result > TWPA_FAIL_CANCELLED) {
    be_fatal(ex, j->seq);
  } else {
    report_failure(ex, j, result);
  }
}

static bool is_quiet(const executor *ex)
{
  return ex->busy == 0 && (ex->fatal || twpa_scheduler_idle(ex->sched));
}

static void announce(executor *ex)
{
  pthread_cond_broadcast(&ex->work);
  pthread_cond_broadcast(&ex->room);
  if (is_quiet(ex))
    pthread_cond_broadcast(&ex->quiet);
}

/* With the mutex held; without it while the host works. */
static void do_job(worker *w, const job *j)
{
  executor *ex = w->ex;
  uint32_t kind = j->kind == JOB_APPLY    ? EXECUTOR_SPAN_APPLY
                  : j->kind == JOB_COMMIT ? EXECUTOR_SPAN_COMMIT
                                          : EXECUTOR_SPAN_ROLLBACK;
  ex->busy++;
  pthread_mutex_unlock(&ex->mutex);
  uint64_t start = now(ex);
  uint32_t result = call_host(w, j);
  uint64_t end = now(ex);
  pthread_mutex_lock(&ex->mutex);
  ex->busy--;
  add_span(w, start, end, j->seq, kind, result);
  report(ex, j, result);
  ex->done_at = end;
  announce(ex);
}

static void *work(void *arg)
{
  worker *w = arg;
  executor *ex = w->ex;
  pthread_mutex_lock(&ex->mutex);
  while (!ex->ending) {
    job j = find_job(ex, w->number);
    if (j.kind != JOB_NONE) {
      do_job(w, &j);
      continue;
    }
    uint64_t start = now(ex);
    pthread_cond_wait(&ex->work, &ex->mutex);
    uint64_t end = now(ex);
    start = start < ex->begun ? ex->begun : start;
    if (ex->began && !ex->resting && end > start)
      add_span(w, start, end, 0, EXECUTOR_SPAN_IDLE, 0);
  }
  pthread_mutex_unlock(&ex->mutex);
  return NULL;
}

/* ---- Beginning and end -------------------------------------------------------------------------------------------- */

static void end_threads(executor *ex)
{
  pthread_mutex_lock(&ex->mutex);
  ex->ending = true;
  pthread_cond_broadcast(&ex->work);
  pthread_mutex_unlock(&ex->mutex);
  for (unsigned i = 0; i < ex->nworkers; i++)
    if (ex->workers[i].started)
      pthread_join(ex->workers[i].thread, NULL);
}

static void destroy(executor *ex)
{
  for (unsigned i = 0; i < ex->nworkers; i++)
    free(ex->workers[i].spans);
  free(ex->workers);
  pthread_cond_destroy(&ex->quiet);
  pthread_cond_destroy(&ex->room);
  pthread_cond_destroy(&ex->work);
  pthread_mutex_destroy(&ex->mutex);
  free(ex);
}

static bool start_worker(worker *w, host_error *err)
{
  executor *ex = w->ex;
  if (ex->options.spans_max > 0) {
    w->spans = calloc(ex->options.spans_max, sizeof *w->spans);
    if (w->spans == NULL)
      return host_fail(err, "out of memory for the timeline of a worker");
    w->cap = ex->options.spans_max;
  }
  int rc = pthread_create(&w->thread, NULL, work, w);
  if (rc != 0)
    return host_fail(err, "cannot start worker %u: %s", w->number, strerror(rc));
  w->started = true;
  return true;
}

bool executor_new(executor **out, twpa_scheduler *sched, const executor_host *host, const executor_options *options,
                  host_error *err)
{
  executor *ex = calloc(1, sizeof *ex);
  if (ex == NULL)
    return host_fail(err, "out of memory for the executor");
  ex->sched = sched;
  ex->host = *host;
  if (ex->host.now == NULL)
    ex->host.now = monotonic;
  if (options != NULL)
    ex->options = *options;
  ex->nworkers = ex->options.workers > 0 ? ex->options.workers : 1;
  pthread_mutex_init(&ex->mutex, NULL);
  pthread_cond_init(&ex->work, NULL);
  pthread_cond_init(&ex->room, NULL);
  pthread_cond_init(&ex->quiet, NULL);
  ex->workers = calloc(ex->nworkers, sizeof *ex->workers);
  if (ex->workers == NULL) {
    unsigned wanted = ex->nworkers;
    ex->nworkers = 0;
    destroy(ex);
    return host_fail(err, "out of memory for %u workers", wanted);
  }
  for (unsigned i = 0; i < ex->nworkers; i++)
    ex->workers[i] = (worker){.ex = ex, .number = i};
  for (unsigned i = 0; i < ex->nworkers; i++)
    if (!start_worker(&ex->workers[i], err)) {
      end_threads(ex);
      destroy(ex);
      return false;
    }
  *out = ex;
  return true;
}

void executor_free(executor *ex)
{
  if (ex == NULL)
    return;
  end_threads(ex);
  destroy(ex);
}

/* ---- The submitter ------------------------------------------------------------------------------------------------ */

/* With the mutex held: the first that is not applied, or 0. */
static uint64_t stopped_before(const executor *ex)
{
  twpa_scheduler_counters n = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  (void)twpa_scheduler_stats(ex->sched, &n);
  if (ex->fatal || n.stopped_before == 0)
    return ex->fatal ? ex->fatal_at : 0;
  return n.stopped_before > n.low_watermark ? n.stopped_before : n.low_watermark + 1;
}

/* With the mutex held. Waits for room as long as there is somebody who can make it. */
static twpa_status submit(executor *ex, uint64_t *seq, const twpa_access_set *set, void *txn)
{
  if (!ex->began) {
    ex->begun = now(ex);
    ex->began = true;
  }
  ex->resting = false;
  for (;;) {
    if (ex->fatal)
      return TWPA_E_STATE;
    twpa_status st = twpa_scheduler_submit(ex->sched, seq, set, txn);
    if (st != TWPA_E_LIMIT)
      return st;
    if (is_quiet(ex)) /* stopped with a full window, or a limit that one transaction alone exceeds */
      return stopped_before(ex) != 0 ? TWPA_E_STATE : st;
    pthread_cond_wait(&ex->room, &ex->mutex);
  }
}

twpa_status executor_submit(executor *ex, uint64_t *seq, const twpa_access_set *set, void *txn)
{
  pthread_mutex_lock(&ex->mutex);
  twpa_status st = submit(ex, seq, set, txn);
  if (st == TWPA_OK)
    pthread_cond_signal(&ex->work);
  pthread_mutex_unlock(&ex->mutex);
  return st;
}

twpa_status executor_submit_empty(executor *ex, uint64_t *seq, const twpa_access_set *set)
{
  pthread_mutex_lock(&ex->mutex);
  twpa_status st = submit(ex, seq, set, NULL);
  if (st == TWPA_OK) {
    st = twpa_scheduler_skip(ex->sched, *seq, TWPA_DONE_COMMITTED);
    announce(ex);
  }
  pthread_mutex_unlock(&ex->mutex);
  return st;
}

bool executor_drain(executor *ex, host_error *err)
{
  bool ok = true;
  pthread_mutex_lock(&ex->mutex);
  while (!is_quiet(ex))
    pthread_cond_wait(&ex->quiet, &ex->mutex);
  ex->resting = true;
  twpa_scheduler_counters n = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  (void)twpa_scheduler_stats(ex->sched, &n);
  if (ex->fatal)
    ok = host_fail(err, "transaction %" PRIu64 ": the host cannot go on", ex->fatal_at);
  else if (n.low_watermark < n.newest)
    ok = host_fail(err, "stopped before transaction %" PRIu64 " of %" PRIu64, stopped_before(ex), n.newest);
  pthread_mutex_unlock(&ex->mutex);
  return ok;
}

void executor_stop(executor *ex, uint64_t seq)
{
  pthread_mutex_lock(&ex->mutex);
  if (twpa_scheduler_stop_before(ex->sched, seq > 0 ? seq : 1) != TWPA_OK)
    be_fatal(ex, seq);
  announce(ex);
  pthread_mutex_unlock(&ex->mutex);
}

bool executor_stopped(executor *ex, uint64_t *seq, uint32_t *reason)
{
  pthread_mutex_lock(&ex->mutex);
  *seq = stopped_before(ex);
  *reason = ex->fatal ? EXECUTOR_FATAL : ex->reason;
  pthread_mutex_unlock(&ex->mutex);
  return *seq != 0;
}

void executor_lock(executor *ex)
{
  pthread_mutex_lock(&ex->mutex);
}

void executor_unlock(executor *ex)
{
  announce(ex);
  pthread_mutex_unlock(&ex->mutex);
}

/* ---- The timeline ------------------------------------------------------------------------------------------------- */

const executor_span *executor_timeline(const executor *ex, unsigned number, size_t *count)
{
  *count = number < ex->nworkers ? ex->workers[number].count : 0;
  return number < ex->nworkers ? ex->workers[number].spans : NULL;
}

void executor_get_times(const executor *ex, executor_times *times)
{
  *times = (executor_times){.wall = ex->done_at > ex->begun ? ex->done_at - ex->begun : 0};
  for (unsigned i = 0; i < ex->nworkers; i++) {
    const executor_times *t = &ex->workers[i].times;
    times->apply += t->apply;
    times->commit += t->commit;
    times->rollback += t->rollback;
    times->idle += t->idle;
    times->spans_lost += t->spans_lost;
  }
}

unsigned executor_workers(const executor *ex)
{
  return ex->nworkers;
}
