/* Executor: real threads over a toy target without locks of its own, random failures, stop and drain, the timeline. */
#include "support/apply/executor.h"
#include "support/runner.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS 400
#define TOUCHED 4

typedef struct txn {
  uint64_t seq; /* as given out */
  unsigned n;
  unsigned key[TOUCHED];
  uint32_t mode[TOUCHED];
  uint64_t before[TOUCHED]; /* to undo */
  uint64_t seen;
  bool executed, done;
  unsigned tries, fail_times; /* how often it fails on purpose, and where */
  bool fail_at_commit;
} txn;

/*
 * The target: values without any lock. If two transactions that conflict ran at the same time, or the executor handed
 * one over without a happens-before, ThreadSanitizer sees the race, and the result is wrong as well.
 */
typedef struct target {
  uint64_t value[KEYS];
  uint64_t last_committed; /* written by whoever commits */
  bool ordered;
  atomic_uint open, open_high;
  unsigned finished;
  uint32_t fail_with;
  unsigned interrupts;
} target;

static uint64_t mix(uint64_t a, uint64_t b)
{
  a ^= b + UINT64_C(0x9E3779B97F4A7C15) + (a << 6) + (a >> 2);
  return a * UINT64_C(0xD6E8FEB86659FD93);
}

static void run(uint64_t *value, txn *t, uint64_t seq)
{
  t->seen = 0;
  for (unsigned i = 0; i < t->n; i++) {
    t->before[i] = value[t->key[i]];
    t->seen = mix(t->seen, t->before[i]);
    if (t->mode[i] == TWPA_MODE_WRITE)
      value[t->key[i]] = mix(t->before[i], seq);
  }
}

static void undo(target *g, const txn *t)
{
  for (unsigned i = t->n; i-- > 0;)
    if (t->mode[i] == TWPA_MODE_WRITE)
      g->value[t->key[i]] = t->before[i];
}

static uint32_t apply(void *user, unsigned worker, uint64_t seq, void *arg)
{
  target *g = user;
  txn *t = arg;
  (void)worker;
  test_must(!t->executed && !t->done);
  unsigned open = atomic_fetch_add(&g->open, 1) + 1, high = atomic_load(&g->open_high);
  while (open > high && !atomic_compare_exchange_weak(&g->open_high, &high, open))
    ;
  t->seq = seq;
  run(g->value, t, seq);
  if (!t->fail_at_commit && t->tries < t->fail_times) {
    t->tries++;
    undo(g, t);
    atomic_fetch_sub(&g->open, 1);
    return g->fail_with;
  }
  t->executed = true;
  return 0;
}

static uint32_t commit(void *user, unsigned worker, uint64_t seq, void *arg)
{
  target *g = user;
  txn *t = arg;
  (void)worker;
  test_must(t->executed && !t->done && t->seq == seq);
  if (t->fail_at_commit && t->tries < t->fail_times) {
    t->tries++;
    undo(g, t);
    t->executed = false;
    atomic_fetch_sub(&g->open, 1);
    return g->fail_with;
  }
  if (g->ordered) {
    test_must(g->last_committed < seq);
    g->last_committed = seq;
  }
  t->done = true;
  atomic_fetch_sub(&g->open, 1);
  return 0;
}

static uint32_t rollback(void *user, unsigned worker, uint64_t seq, void *arg)
{
  target *g = user;
  txn *t = arg;
  (void)worker;
  test_must(t->executed && !t->done && t->seq == seq);
  undo(g, t);
  t->executed = false;
  atomic_fetch_sub(&g->open, 1);
  return 0;
}

static void finished(void *user, uint64_t seq, void *arg)
{
  target *g = user;
  const txn *t = arg;
  test_must(t->done && t->seq == seq);
  g->finished++;
}

static void interrupt(void *user, uint64_t seq, void *arg)
{
  (void)seq;
  (void)arg;
  ((target *)user)->interrupts++;
}

typedef struct setting {
  unsigned txns, workers;
  uint32_t order;
  uint64_t open_max, window;
  unsigned fail_percent, fail_times;
  uint32_t fail_with;
  size_t spans;
  uint64_t stop_at; /* the host stops before it, or a hopeless one is there */
} setting;

typedef struct rig {
  setting set;
  target g;
  txn *txns;
  twpa_plan *plan;
  twpa_access_set *accesses;
  twpa_progress *progress;
  twpa_scheduler *sched;
  executor *ex;
} rig;

static void make_history(rig *r, rng *random)
{
  for (unsigned i = 0; i < r->set.txns; i++) {
    txn *t = &r->txns[i];
    t->n = (unsigned)rng_below(random, TOUCHED + 1);
    for (unsigned k = 0; k < t->n; k++) {
      t->key[k] = (unsigned)rng_below(random, rng_chance(random, 10) ? 3 : KEYS);
      t->mode[k] = rng_chance(random, 30) ? TWPA_MODE_READ : TWPA_MODE_WRITE;
    }
    if (rng_chance(random, r->set.fail_percent)) {
      t->fail_times = 1 + (unsigned)rng_below(random, r->set.fail_times);
      t->fail_at_commit = rng_chance(random, 50);
    }
    if (r->set.fail_with == TWPA_FAIL_ERROR)
      t->fail_times = i + 1 == r->set.stop_at;
  }
}

static rig *set_up(const setting *set, rng *random)
{
  rig *r = calloc(1, sizeof *r);
  host_error err = {""};
  r->set = *set;
  r->txns = calloc(set->txns, sizeof *r->txns);
  make_history(r, random);
  bool ordered = set->order == TWPA_COMMIT_ORDER_GLOBAL;
  r->g.ordered = ordered;
  r->g.fail_with = set->fail_with;
  twpa_plan_options po = {.struct_size = TWPA_PLAN_OPTIONS_INIT, .table_bytes = 1 << 16, .free_commit_order = !ordered};
  ck_assert_int_eq(twpa_plan_new(&r->plan, &po, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&r->accesses, r->plan, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_progress_new(&r->progress, NULL, NULL), TWPA_OK);
  twpa_scheduler_options so = {.struct_size = TWPA_SCHEDULER_OPTIONS_INIT,
                               .commit_order = set->order,
                               .running_max = set->workers,
                               .open_max = set->open_max,
                               .window_max = set->window,
                               .progress = r->progress};
  ck_assert_int_eq(twpa_scheduler_new(&r->sched, r->plan, &so, NULL), TWPA_OK);
  executor_host host = {.user = &r->g,
                        .apply = apply,
                        .commit = commit,
                        .rollback = rollback,
                        .finished = finished,
                        .interrupt = interrupt};
  executor_options eo = {.workers = set->workers, .spans_max = set->spans};
  ck_assert_msg(executor_new(&r->ex, r->sched, &host, &eo, &err), "%s", err.text);
  return r;
}

static void clear(rig *r)
{
  executor_free(r->ex);
  twpa_scheduler_free(r->sched);
  twpa_progress_free(r->progress);
  twpa_access_set_free(r->accesses);
  twpa_plan_free(r->plan);
  free(r->txns);
  free(r);
}

/* Submits all; how many were taken. */
static unsigned feed(rig *r)
{
  for (unsigned i = 0; i < r->set.txns; i++) {
    txn *t = &r->txns[i];
    uint64_t seq = 0;
    test_must(twpa_access_set_begin(r->accesses, (i + 1) * 10, 0, 0) == TWPA_OK);
    for (unsigned k = 0; k < t->n; k++)
      test_must(twpa_access_set_access(r->accesses, t->key[k], t->mode[k]) == TWPA_OK);
    twpa_status st = t->n == 0 ? executor_submit_empty(r->ex, &seq, r->accesses)
                               : executor_submit(r->ex, &seq, r->accesses, t);
    if (st == TWPA_E_STATE)
      return i;
    test_must(st == TWPA_OK && seq == i + 1);
    if (t->n == 0)
      t->done = true;
  }
  return r->set.txns;
}

/* Everything up to `n` was applied as if one after the other. */
static void check_serial(rig *r, unsigned n)
{
  uint64_t *value = calloc(KEYS, sizeof *value);
  for (unsigned i = 0; i < n; i++) {
    txn *t = &r->txns[i];
    uint64_t seen = t->seen;
    test_must(t->done);
    run(value, t, i + 1);
    test_must(t->n == 0 || t->seen == seen);
  }
  ck_assert_mem_eq(value, r->g.value, KEYS * sizeof *value);
  free(value);
  uint64_t seq;
  twpa_lsn lsn;
  ck_assert_int_eq(twpa_progress_low_watermark(r->progress, &seq, &lsn), TWPA_OK);
  ck_assert_uint_eq(seq, n);
  ck_assert_uint_eq(lsn, n * UINT64_C(10));
}

static unsigned scaled(unsigned txns)
{
  const char *times = getenv("TWPA_EXECUTOR_TIMES");
  return times != NULL ? txns * (unsigned)strtoul(times, NULL, 10) : txns;
}

static void run_all(setting set, uint64_t seed)
{
  rng random = {seed};
  set.txns = scaled(set.txns);
  rig *r = set_up(&set, &random);
  host_error err = {""};
  ck_assert_uint_eq(feed(r), set.txns);
  ck_assert_msg(executor_drain(r->ex, &err), "%s", err.text);
  check_serial(r, set.txns);
  unsigned empty = 0;
  for (unsigned i = 0; i < set.txns; i++)
    empty += r->txns[i].n == 0;
  ck_assert_uint_eq(r->g.finished, set.txns - empty);
  ck_assert_uint_eq(atomic_load(&r->g.open), 0);
  if (set.open_max != 0)
    ck_assert_uint_le(atomic_load(&r->g.open_high), set.open_max);
  uint64_t seq;
  uint32_t reason;
  ck_assert(!executor_stopped(r->ex, &seq, &reason));
  twpa_scheduler_counters n = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  ck_assert_int_eq(twpa_scheduler_stats(r->sched, &n), TWPA_OK);
  if (set.fail_percent > 0)
    ck_assert_uint_gt(n.conflicts, set.txns / 100);
  clear(r);
}

static const uint32_t orders[] = {TWPA_COMMIT_ORDER_GLOBAL, TWPA_COMMIT_ORDER_FREE};

START_TEST(without_failures)
{
  const unsigned workers[] = {1, 2, 8};
  uint64_t seed = test_seed(51);
  for (size_t o = 0; o < 2; o++)
    for (size_t w = 0; w < 3; w++)
      run_all((setting){.txns = 3000, .workers = workers[w], .order = orders[o], .window = 500}, seed++);
}
END_TEST

/* Conflicts in the middle and at the commit; with up to three of them some have to run alone. */
START_TEST(with_failures)
{
  uint64_t seed = test_seed(52);
  for (size_t o = 0; o < 2; o++) {
    setting s = {.txns = 10000, .workers = 8, .order = orders[o], .open_max = 30, .window = 200, .fail_percent = 5,
                 .fail_times = 3, .fail_with = TWPA_FAIL_CONFLICT};
    run_all(s, seed++);
    s.window = 3;
    s.txns = 1000;
    run_all(s, seed++);
    s.open_max = 1;
    run_all(s, seed++);
  }
}
END_TEST

/* A hopeless one: everything before it is applied, nothing behind it under commit order. */
START_TEST(stops_before_the_hopeless_one)
{
  rng random = {test_seed(53)};
  for (int n = 0; n < 20; n++) {
    setting s = {.txns = 400, .workers = 4, .window = 50, .fail_with = TWPA_FAIL_ERROR, .stop_at = 1 + rng_below(&random, 400)};
    rig *r = set_up(&s, &random);
    txn *bad = &r->txns[s.stop_at - 1];
    if (bad->n == 0) {
      bad->n = 1;
      bad->key[0] = 5;
      bad->mode[0] = TWPA_MODE_WRITE;
    }
    host_error err = {""};
    ck_assert_uint_ge(feed(r), s.stop_at);
    ck_assert(!executor_drain(r->ex, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "stopped before transaction"));
    uint64_t seq;
    uint32_t reason;
    ck_assert(executor_stopped(r->ex, &seq, &reason));
    ck_assert_uint_eq(seq, s.stop_at);
    ck_assert_uint_eq(reason, TWPA_FAIL_ERROR);
    bool at_end = false; /* empty ones behind it are done and move nothing */
    for (unsigned i = (unsigned)s.stop_at - 1; i < s.txns; i++)
      at_end = at_end || (r->txns[i].done && r->txns[i].n > 0);
    ck_assert(!at_end);
    ck_assert_uint_eq(atomic_load(&r->g.open), 0);
    check_serial(r, (unsigned)s.stop_at - 1);
    clear(r);
  }
}
END_TEST

START_TEST(the_host_stops)
{
  rng random = {test_seed(54)};
  setting s = {.txns = 500, .workers = 4, .window = 50};
  rig *r = set_up(&s, &random);
  host_error err = {""};
  uint64_t seq;
  uint32_t reason;
  executor_stop(r->ex, 301);
  ck_assert_uint_eq(feed(r), 300);
  ck_assert_msg(executor_drain(r->ex, &err), "%s", err.text);
  check_serial(r, 300);
  executor_stop(r->ex, 0);
  ck_assert(executor_stopped(r->ex, &seq, &reason));
  ck_assert_uint_eq(seq, 301);
  ck_assert_uint_eq(reason, 0);
  ck_assert_int_eq(executor_submit(r->ex, &seq, r->accesses, NULL), TWPA_E_STATE);
  clear(r);
}
END_TEST

static uint32_t slow(void *user, unsigned worker, uint64_t seq, void *arg)
{
  (void)user;
  (void)worker;
  (void)seq;
  (void)arg;
  const struct timespec wait = {.tv_nsec = 1000000};
  nanosleep(&wait, NULL);
  return 0;
}

/* A stop "as soon as possible" is named by the first transaction that was not applied, in both places. */
START_TEST(a_stop_has_one_place)
{
  rng random = {57};
  setting s = {.txns = 50, .workers = 2, .window = 100};
  rig *r = set_up(&s, &random);
  executor_free(r->ex);
  host_error err = {""};
  executor_options options = {.workers = 2};
  executor_host host = {.apply = slow, .commit = slow, .rollback = slow};
  ck_assert(executor_new(&r->ex, r->sched, &host, &options, &err));
  uint64_t seq = 7, applied;
  uint32_t reason = 7;
  ck_assert(!executor_stopped(r->ex, &seq, &reason));
  ck_assert(seq == 0 && reason == 0);
  for (unsigned i = 0; i < s.txns; i++) {
    ck_assert_int_eq(twpa_access_set_begin(r->accesses, (i + 1) * 10, 0, 0), TWPA_OK);
    ck_assert_int_eq(twpa_access_set_access(r->accesses, i, TWPA_MODE_WRITE), TWPA_OK);
    ck_assert_int_eq(executor_submit(r->ex, &seq, r->accesses, NULL), TWPA_OK);
  }
  do {
    const struct timespec wait = {.tv_nsec = 1000000};
    nanosleep(&wait, NULL);
    executor_lock(r->ex);
    twpa_scheduler_counters n = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
    ck_assert_int_eq(twpa_scheduler_stats(r->sched, &n), TWPA_OK);
    applied = n.low_watermark;
    executor_unlock(r->ex);
  } while (applied == 0);
  executor_stop(r->ex, 0);
  if (!executor_drain(r->ex, &err)) { /* else everything was done before the stop */
    ck_assert(executor_stopped(r->ex, &seq, &reason));
    ck_assert_uint_gt(seq, applied);
    char want[64];
    snprintf(want, sizeof want, "stopped before transaction %u of 50", (unsigned)seq);
    ck_assert_str_eq(err.text, want);
  }
  clear(r);
}
END_TEST

static uint32_t broken(void *user, unsigned worker, uint64_t seq, void *arg)
{
  (void)user;
  (void)worker;
  (void)arg;
  return seq == 2 ? EXECUTOR_FATAL : 0;
}

START_TEST(the_host_breaks)
{
  rng random = {55};
  setting s = {.txns = 50, .workers = 3, .window = 10};
  rig *r = set_up(&s, &random);
  executor_free(r->ex);
  for (unsigned i = 0; i < s.txns; i++) {
    r->txns[i].n = 1;
    r->txns[i].mode[0] = TWPA_MODE_WRITE;
  }
  host_error err = {""};
  executor_host host = {.user = &r->g, .apply = broken, .commit = broken, .rollback = broken};
  ck_assert(executor_new(&r->ex, r->sched, &host, NULL, &err));
  ck_assert_uint_eq(executor_workers(r->ex), 1);
  ck_assert_uint_lt(feed(r), 50);
  ck_assert(!executor_drain(r->ex, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "transaction 2"));
  uint64_t seq;
  uint32_t reason;
  ck_assert(executor_stopped(r->ex, &seq, &reason));
  ck_assert_uint_eq(seq, 2);
  ck_assert_uint_eq(reason, EXECUTOR_FATAL);
  clear(r);
}
END_TEST

START_TEST(timelines)
{
  rng random = {56};
  setting s = {.txns = 1000, .workers = 3, .window = 100, .spans = 5000};
  rig *r = set_up(&s, &random);
  host_error err = {""};
  feed(r);
  ck_assert(executor_drain(r->ex, &err));
  executor_times times;
  executor_get_times(r->ex, &times);
  ck_assert_uint_gt(times.wall, 0);
  ck_assert_uint_eq(times.spans_lost, 0);
  ck_assert_uint_eq(times.rollback, 0);
  uint64_t applied = 0, committed = 0, apply_time = 0, want = 0;
  for (unsigned w = 0; w < executor_workers(r->ex); w++) {
    size_t count;
    const executor_span *spans = executor_timeline(r->ex, w, &count);
    for (size_t i = 0; i < count; i++) {
      ck_assert_uint_le(spans[i].start, spans[i].end);
      if (i > 0)
        ck_assert_uint_le(spans[i - 1].end, spans[i].start);
      applied += spans[i].kind == EXECUTOR_SPAN_APPLY;
      committed += spans[i].kind == EXECUTOR_SPAN_COMMIT;
      if (spans[i].kind == EXECUTOR_SPAN_APPLY)
        apply_time += spans[i].end - spans[i].start;
    }
  }
  for (unsigned i = 0; i < s.txns; i++)
    want += r->txns[i].n > 0;
  ck_assert_uint_eq(applied, want);
  ck_assert_uint_eq(committed, want);
  ck_assert_uint_eq(times.apply, apply_time);
  size_t none;
  ck_assert_ptr_null(executor_timeline(r->ex, 99, &none));
  clear(r);
  executor_free(NULL);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("executor");
  TCase *c = tcase_create("executor");
  tcase_set_timeout(c, 300);
  tcase_add_test(c, without_failures);
  tcase_add_test(c, with_failures);
  tcase_add_test(c, stops_before_the_hopeless_one);
  tcase_add_test(c, the_host_stops);
  tcase_add_test(c, a_stop_has_one_place);
  tcase_add_test(c, the_host_breaks);
  tcase_add_test(c, timelines);
  suite_add_tcase(s, c);
  return run_suite(s);
}
