/* Serial and parallel apply, and the comparison. */
#include "twpa_replay/run.h"

#include "support/memory.h"
#include "support/wal/wal_files.h"
#include "twpa_replay/tables.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A unique value that is still taken in a transaction that will give it free is no violation as often as this. */
#define TRIES_MAX 3u
#define CAN_WAIT ((uint32_t)(STORE_DUPLICATE | STORE_BUSY))
#define SPANS_MAX ((size_t)200000)

typedef struct run {
  replay_model *m;
  const replay_options *o;
  replay_result *out;
  store *parallel;
  pthread_mutex_t lock; /* findings and retries */
} run;

static uint64_t now_ns(void)
{
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint32_t apply_change(store_txn *t, const replay_change *c)
{
  if (c->skip != REPLAY_APPLIED || c->op == REPLAY_DDL)
    return 0;
  if (c->op == REPLAY_TRUNCATE)
    return store_truncate(t, c->tables, c->ntables);
  if (c->op == REPLAY_INSERT)
    return store_insert(t, c->table, c->new_row);
  if (c->op == REPLAY_UPDATE)
    return store_update(t, c->table, c->old_row, c->new_row);
  return store_delete(t, c->table, c->old_row);
}

static void note(replay_findings *f, uint32_t met, const replay_txn *txn, twpa_lsn lsn,
                 const char *detail)
{
  char at[WAL_LSN_BYTES];
  if (f->count < REPLAY_TEXTS)
    snprintf(f->first[f->count], sizeof f->first[0], "%s, transaction %llu: %s",
             wal_lsn_text(at, lsn), (unsigned long long)txn->xid, detail);
  f->count++;
  for (unsigned i = 0; i < STORE_KINDS; i++)
    f->by_kind[i] += met >> i & 1u;
}

/* Whether the WAL need not tell the whole story of a table; one with a skipped change is loose. */
static bool may_surprise(const replay_table *t)
{
  return t->loose || t->redefined;
}

/*
 * Of a transaction that was left out nobody knows the tables: it may have been at any of them. Those that ended before
 * decoding began are no reason: what they left behind is there from the beginning, as seeds.
 */
static bool any_left_out(const replay_counts *c)
{
  return c->left_out_commits || c->outside;
}

/* Each finding must be explained by its own table, or by the one at the other side of its foreign key. */
static void note_serial(replay_findings *f, const replay_model *m, uint32_t met,
                        const replay_txn *txn, twpa_lsn lsn, const store_txn *t)
{
  size_t n;
  const store_finding *x = store_txn_findings(t, &n);
  bool explained = true;
  note(f, met, txn, lsn, store_txn_detail(t));
  for (size_t i = 0; i < n; i++)
    explained =
        explained && (may_surprise(&m->tables[x[i].table]) || may_surprise(&m->tables[x[i].other]));
  if (explained || any_left_out(&m->counts))
    return;
  if (!f->unexplained++) {
    char at[WAL_LSN_BYTES];
    snprintf(f->first_unexplained, sizeof f->first_unexplained, "%s, transaction %llu: %s",
             wal_lsn_text(at, lsn), (unsigned long long)txn->xid, store_txn_detail(t));
  }
}

static void sleep_us(uint64_t us)
{
  struct timespec ts = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
  nanosleep(&ts, NULL);
}

/* Applies everything in order, and notes what is met and so to be expected of any other apply. */
static void apply_serially(store *s, replay_model *m, replay_findings *findings, uint32_t delay_us)
{
  for (size_t i = 0; i < m->ntxns; i++) {
    replay_txn *txn = &m->txns[i];
    store_txn *t = store_begin(s, i + 1);
    for (uint32_t k = 0; k < txn->nchanges; k++) {
      replay_change *c = &txn->changes[k];
      if (delay_us)
        sleep_us(delay_us);
      c->met = apply_change(t, c);
      if (c->met && findings)
        note_serial(findings, m, c->met, txn, c->lsn, t);
    }
    txn->met = store_finish(t);
    if (txn->met && findings)
      note_serial(findings, m, txn->met, txn, txn->commit_lsn, t);
    if (delay_us)
      sleep_us(delay_us);
    store_commit(t);
  }
}

static uint64_t mix(uint64_t x)
{
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* A round trip to a target that is not there, and pauses that shuffle the orders. */
static void pause_at(const run *r, uint64_t seq, uint64_t step)
{
  if (r->o->delay_us)
    sleep_us(r->o->delay_us);
  if (!r->o->jitter)
    return;
  uint64_t dice = mix(r->o->jitter_seed + seq * UINT64_C(0x9E3779B97F4A7C15) + step);
  if (dice % 8 == 0)
    sleep_us(dice >> 8 & 127u);
  else if (dice % 8 < 4)
    sched_yield();
}

/* True if the finding is one that the plan leaves to the target: the transaction is to run again. */
static bool may_retry(run *r, replay_txn *txn, uint32_t met, uint32_t expected)
{
  if (r->o->strict || (met ^ expected) & ~CAN_WAIT || !(met & ~expected) || txn->tries >= TRIES_MAX)
    return false;
  txn->tries++;
  pthread_mutex_lock(&r->lock);
  r->out->retries++;
  pthread_mutex_unlock(&r->lock);
  return true;
}

static void violation(run *r, const replay_txn *txn, const store_txn *t, uint32_t met,
                      uint32_t expected, twpa_lsn lsn)
{
  char text[320];
  uint32_t less = expected & ~met;
  if (met & ~expected)
    snprintf(text, sizeof text, "%s", store_txn_detail(t));
  else
    snprintf(text, sizeof text, "not met here, but in serial apply: %s",
             store_kind_name(less & (~less + 1)));
  pthread_mutex_lock(&r->lock);
  note(&r->out->violations, met ^ expected, txn, lsn, text);
  pthread_mutex_unlock(&r->lock);
}

static uint32_t apply_txn(void *user, unsigned worker, uint64_t seq, void *task)
{
  run *r = user;
  replay_txn *txn = task;
  (void)worker;
  store_txn *t = store_begin(r->parallel, seq);
  for (uint32_t k = 0; k <= txn->nchanges; k++) {
    bool last = k == txn->nchanges;
    uint32_t expected = last ? txn->met : txn->changes[k].met;
    if (!last)
      pause_at(r, seq, k);
    uint32_t met = last ? store_finish(t) : apply_change(t, &txn->changes[k]);
    if (met == expected)
      continue;
    if (may_retry(r, txn, met, expected)) {
      store_rollback(t);
      return TWPA_FAIL_CONFLICT;
    }
    violation(r, txn, t, met, expected, last ? txn->commit_lsn : txn->changes[k].lsn);
  }
  txn->open = t;
  return 0;
}

static uint32_t commit_txn(void *user, unsigned worker, uint64_t seq, void *task)
{
  run *r = user;
  replay_txn *txn = task;
  (void)worker;
  pause_at(r, seq, UINT64_MAX);
  store_commit(txn->open);
  txn->open = NULL;
  return 0;
}

static uint32_t rollback_txn(void *user, unsigned worker, uint64_t seq, void *task)
{
  replay_txn *txn = task;
  (void)user;
  (void)worker;
  (void)seq;
  store_rollback(txn->open);
  txn->open = NULL;
  return 0;
}

static void take_spans(replay_result *out, const executor *ex)
{
  executor_times times;
  size_t cap = 0;
  executor_get_times(ex, &times);
  out->spans_lost = times.spans_lost;
  for (unsigned w = 0; w < executor_workers(ex); w++) {
    size_t count = 0;
    const executor_span *spans = executor_timeline(ex, w, &count);
    for (size_t i = 0; i < count; i++) {
      out->spans = host_grow(out->spans, &cap, out->nspans, sizeof *out->spans);
      out->spans[out->nspans++] = (replay_span){.start = spans[i].start,
                                                .end = spans[i].end,
                                                .worker = w,
                                                .kind = spans[i].kind,
                                                .seq = spans[i].seq};
    }
  }
}

static bool submit_all(run *r, executor *ex, twpa_access_set *set, const replay_sabotage *sabotage,
                       host_error *err)
{
  twpa_status st = TWPA_OK;
  for (size_t i = 0; st == TWPA_OK && i < r->m->ntxns; i++) {
    uint64_t seq;
    replay_txn *txn = &r->m->txns[i];
    txn->tries = 0;
    st = sabotage ? sabotage->accesses(sabotage->user, set, r->m, txn)
                  : replay_accesses(set, r->m, txn);
    if (st == TWPA_OK)
      st = executor_submit(ex, &seq, set, txn);
  }
  bool drained = executor_drain(ex, err);
  if (st != TWPA_OK && (drained || st != TWPA_E_STATE))
    return host_fail(err, "submitting failed: %s", twpa_status_text(st));
  return drained;
}

static bool apply_in_parallel(run *r, bool timeline, const replay_sabotage *sabotage,
                              host_error *err)
{
  twpa_plan *plan = NULL;
  twpa_access_set *set = NULL;
  twpa_scheduler *sched = NULL;
  executor *ex = NULL;
  twpa_plan_options po;
  replay_plan_options(&po, r->o->strict, r->o->commit_order);
  replay_table_sizes(&po, r->m);
  twpa_scheduler_options so = {.struct_size = TWPA_SCHEDULER_OPTIONS_INIT,
                               .commit_order = r->o->commit_order ? TWPA_COMMIT_ORDER_GLOBAL
                                                                  : TWPA_COMMIT_ORDER_FREE,
                               .running_max = r->o->workers,
                               .open_max = r->o->workers * 16u};
  executor_host host = {
      .user = r, .apply = apply_txn, .commit = commit_txn, .rollback = rollback_txn};
  executor_options eo = {.workers = r->o->workers, .spans_max = timeline ? SPANS_MAX : 0};
  twpa_status st = twpa_plan_new(&plan, &po, NULL);
  if (st == TWPA_OK)
    st = twpa_access_set_new(&set, plan, NULL);
  if (st == TWPA_OK)
    st = twpa_scheduler_new(&sched, plan, &so, NULL);
  bool ok = st == TWPA_OK || host_fail(err, "no scheduler: %s", twpa_status_text(st));
  uint64_t begin = now_ns();
  ok = ok && executor_new(&ex, sched, &host, &eo, err);
  ok = ok && submit_all(r, ex, set, sabotage, err);
  r->out->parallel_ns = now_ns() - begin;
  if (ok && timeline)
    take_spans(r->out, ex);
  executor_free(ex);
  twpa_scheduler_free(sched);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  for (size_t i = 0; i < r->m->ntxns; i++)
    if (r->m->txns[i].open) /* the executor gave up */
      rollback_txn(r, 0, i + 1, &r->m->txns[i]);
  return ok;
}

bool replay_run(replay_result *out, replay_model *m, const replay_options *o, bool timeline,
                const replay_sabotage *sabotage, host_error *err)
{
  run r = {.m = m, .o = o, .out = out};
  memset(out, 0, sizeof *out);
  pthread_mutex_init(&r.lock, NULL);
  store *first = store_new(m->described, m->ntables);
  store_seeds *seeds = store_record_seeds(first);
  apply_serially(first, m, NULL, 0);
  store_free(first);
  store_seeds_count(seeds, &out->seeded_rows, &out->seeded_parents);
  store *serial = store_new(m->described, m->ntables);
  r.parallel = store_new(m->described, m->ntables);
  store_plant(serial, seeds);
  store_plant(r.parallel, seeds);
  uint64_t begin = now_ns();
  apply_serially(serial, m, &out->serial, o->delay_us);
  out->serial_ns = now_ns() - begin;
  bool ok = apply_in_parallel(&r, timeline, sabotage, err);
  out->equal = store_equal(r.parallel, serial, &out->difference);
  store_seeds_free(seeds);
  store_free(serial);
  store_free(r.parallel);
  pthread_mutex_destroy(&r.lock);
  return ok;
}

void replay_result_free(replay_result *result)
{
  free(result->spans);
}
