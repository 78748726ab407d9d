/* Scheduler: examples of each rule, wrong arguments, calls from inside the callback. */
#include "plan/kit.h"

#include <twpa/scheduler.h>

/* ---- A scheduler by hand ------------------------------------------------------------------------------------- */

typedef struct table {
  twpa_plan *plan;
  twpa_scheduler *sched;
  twpa_access_set *set;
  twpa_relation *relation;
  twpa_lsn lsn;
} table;

static const twpa_plan_options free_plan = {.struct_size = TWPA_PLAN_OPTIONS_INIT, .free_commit_order = 1};

static table set_table(const twpa_plan_options *po, const twpa_scheduler_options *so)
{
  table t = {NULL, NULL, NULL, NULL, 0};
  ck_assert_int_eq(twpa_plan_new(&t.plan, po, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&t.set, t.plan, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_new(&t.sched, t.plan, so, NULL), TWPA_OK);
  relation_kit kit;
  kit_begin(&kit, 5, 2);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  t.relation = kit_make(&kit);
  return t;
}

/* Options by name; the rest is zero. */
#define OPTIONS(...) (&(twpa_scheduler_options){.struct_size = TWPA_SCHEDULER_OPTIONS_INIT, __VA_ARGS__})

/* A scheduler under another commit order than the global one. */
static table set_free_table(uint32_t commit_order)
{
  return set_table(&free_plan, OPTIONS(.commit_order = commit_order));
}

static void clear_table(table *t)
{
  twpa_scheduler_free(t->sched);
  twpa_access_set_free(t->set);
  twpa_relation_free(t->relation);
  twpa_plan_free(t->plan);
}

/* A transaction that writes the given keys (a letter each). */
static uint64_t submit(table *t, const char *keys)
{
  uint64_t seq = 0;
  ck_assert_int_eq(twpa_access_set_begin(t->set, t->lsn += 10, 0, 0), TWPA_OK);
  for (; *keys != 0; keys++)
    ck_assert_int_eq(twpa_access_set_access(t->set, (uint64_t)*keys, TWPA_MODE_WRITE), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_submit(t->sched, &seq, t->set, NULL), TWPA_OK);
  return seq;
}

/* One transaction for each letter. */
static void submit_each(table *t, const char *keys)
{
  for (; *keys != 0; keys++)
    submit(t, (char[2]){*keys, 0});
}

/* A transaction without keys, in these commit-order groups. */
static uint64_t submit_groups(table *t, uint64_t groups)
{
  uint64_t seq = 0;
  ck_assert_int_eq(twpa_access_set_begin(t->set, t->lsn += 10, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_submit_groups(t->sched, &seq, t->set, NULL, groups), TWPA_OK);
  return seq;
}

/* A plain update of a row, as the target's row lock protects it. */
static uint64_t submit_update(table *t, int64_t key)
{
  uint64_t seq = 0;
  int64_t values[2] = {key, 1};
  ck_assert_int_eq(twpa_access_set_begin(t->set, t->lsn += 10, 0, 0), TWPA_OK);
  ck_assert_int_eq(change(t->set, t->relation, TWPA_OP_UPDATE, 2, NULL, values), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_submit(t->sched, &seq, t->set, NULL), TWPA_OK);
  return seq;
}

static uint64_t next(table *t)
{
  uint64_t seq = 0;
  twpa_status st = twpa_scheduler_next(t->sched, &seq, NULL);
  ck_assert(st == TWPA_OK || (st == TWPA_NONE && seq == 0));
  return seq;
}

/* All up to here are given out, one after the other from the first on. */
static void run_up_to(table *t, uint64_t last)
{
  for (uint64_t seq = 1; seq <= last; seq++)
    ck_assert_uint_eq(next(t), seq);
}

static twpa_scheduler_counters numbers(const table *t)
{
  twpa_scheduler_counters n = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  ck_assert_int_eq(twpa_scheduler_stats(t->sched, &n), TWPA_OK);
  return n;
}

static uint64_t next_commit(table *t)
{
  uint64_t seq = 0;
  twpa_status st = twpa_scheduler_next_commit(t->sched, &seq, NULL);
  ck_assert(st == TWPA_OK || (st == TWPA_NONE && seq == 0));
  return seq;
}

static uint64_t next_rollback(table *t, uint32_t *running)
{
  uint64_t seq = 0;
  twpa_status st = twpa_scheduler_next_rollback(t->sched, &seq, NULL, running);
  ck_assert(st == TWPA_OK || (st == TWPA_NONE && seq == 0));
  return seq;
}

static void applied(table *t, uint64_t seq)
{
  ck_assert_int_eq(twpa_scheduler_applied(t->sched, seq), TWPA_OK);
}

static void committed(table *t, uint64_t seq)
{
  ck_assert_int_eq(twpa_scheduler_committed(t->sched, seq), TWPA_OK);
}

static uint32_t failed(table *t, uint64_t seq, uint32_t reason)
{
  uint32_t verdict = 0;
  ck_assert_int_eq(twpa_scheduler_failed(t->sched, seq, &verdict, reason), TWPA_OK);
  return verdict;
}

static uint32_t state(table *t, uint64_t seq)
{
  uint32_t s = 99;
  ck_assert_int_eq(twpa_scheduler_state(t->sched, &s, NULL, seq), TWPA_OK);
  return s;
}

static twpa_wait wait_of(table *t, uint64_t seq)
{
  twpa_wait w;
  ck_assert_int_eq(twpa_scheduler_wait_of(t->sched, &w, seq), TWPA_OK);
  return w;
}

static void run_to_end(table *t)
{
  uint64_t seq;
  while (!twpa_scheduler_idle(t->sched)) {
    bool moved = false;
    while ((seq = next(t)) != 0) {
      applied(t, seq);
      moved = true;
    }
    while ((seq = next_commit(t)) != 0) {
      committed(t, seq);
      moved = true;
    }
    ck_assert(moved);
  }
}

/* ---- Examples ------------------------------------------------------------------------------------------------ */

START_TEST(commit_order)
{
  table t = set_table(NULL, NULL);
  submit_each(&t, "aba");
  run_up_to(&t, 2);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(state(&t, 3), TWPA_TASK_WAITING);
  twpa_wait w = wait_of(&t, 3);
  ck_assert_uint_eq(w.kind, TWPA_WAIT_DEPENDENCY);
  ck_assert_uint_eq(w.holder, 1);
  applied(&t, 2);
  ck_assert_uint_eq(next_commit(&t), 0);
  w = wait_of(&t, 2);
  ck_assert_uint_eq(w.kind, TWPA_WAIT_COMMIT_TURN);
  ck_assert_uint_eq(w.holder, 1);
  ck_assert_int_eq(twpa_scheduler_committed(t.sched, 2), TWPA_E_STATE);
  applied(&t, 1);
  ck_assert_uint_eq(next_commit(&t), 1);
  ck_assert_uint_eq(next_commit(&t), 0);
  committed(&t, 1);
  ck_assert_uint_eq(next(&t), 3);
  ck_assert_uint_eq(next_commit(&t), 2);
  committed(&t, 2);
  ck_assert_int_eq(twpa_scheduler_committed(t.sched, 2), TWPA_E_STATE);
  ck_assert(!twpa_scheduler_idle(t.sched));
  applied(&t, 3);
  committed(&t, 3); /* its turn: it need not have been given out */
  ck_assert(twpa_scheduler_idle(t.sched));
  ck_assert_uint_eq(state(&t, 1), TWPA_TASK_DONE);
  clear_table(&t);
}
END_TEST

START_TEST(free_order_and_groups)
{
  table t = set_free_table(TWPA_COMMIT_ORDER_FREE);
  submit_each(&t, "ab");
  run_up_to(&t, 2);
  applied(&t, 2);
  ck_assert_uint_eq(next_commit(&t), 2);
  committed(&t, 2);
  const twpa_scheduler_counters n = numbers(&t);
  ck_assert_uint_eq(n.low_watermark, 0);
  ck_assert_uint_eq(n.committed, 1);
  clear_table(&t);

  t = set_free_table(TWPA_COMMIT_ORDER_GROUPS);
  const uint64_t groups[] = {1, 2, 1, 0, 3};
  for (uint64_t i = 0; i < 5; i++) {
    submit_groups(&t, groups[i]);
    ck_assert_uint_eq(next(&t), i + 1);
    if (i > 0)
      applied(&t, i + 1);
  }
  ck_assert_uint_eq(next_commit(&t), 2);
  ck_assert_uint_eq(next_commit(&t), 4);
  ck_assert_uint_eq(next_commit(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 3).holder, 1);
  committed(&t, 2);
  committed(&t, 4);
  ck_assert_uint_eq(next_commit(&t), 0);
  applied(&t, 1);
  committed(&t, 1);
  committed(&t, 3);
  committed(&t, 5);
  ck_assert(twpa_scheduler_idle(t.sched));
  clear_table(&t);
}
END_TEST

/* An executed transaction holds a session, not a worker; the head always gets its place. */
START_TEST(two_limits)
{
  table t = set_table(NULL, OPTIONS(.running_max = 1, .open_max = 3));
  submit_each(&t, "abcdef");
  ck_assert_uint_eq(next(&t), 1);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 2).kind, TWPA_WAIT_RUNNING);
  applied(&t, 1);
  ck_assert_uint_eq(next(&t), 2);
  applied(&t, 2);
  ck_assert_uint_eq(next(&t), 3);
  applied(&t, 3);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 4).kind, TWPA_WAIT_OPEN);
  /* The head fails: its place is kept for it. */
  ck_assert_uint_eq(failed(&t, 1, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(wait_of(&t, 4).kind, TWPA_WAIT_OPEN);
  ck_assert_uint_eq(next(&t), 1);
  applied(&t, 1);
  run_to_end(&t);
  const twpa_scheduler_counters n = numbers(&t);
  ck_assert_uint_eq(n.open_high, 3);
  ck_assert_uint_eq(n.running_high, 1);
  ck_assert_uint_gt(n.held_open, 0);
  ck_assert_uint_gt(n.held_running, 0);
  ck_assert_uint_eq(n.committed, 6);
  clear_table(&t);
}
END_TEST

/* Conflict: as the head, twice; then alone; then stop before it. What is independent goes on meanwhile. */
START_TEST(retry_alone_stop)
{
  table t = set_table(NULL, NULL);
  submit_each(&t, "abcb");
  run_up_to(&t, 2);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(wait_of(&t, 2).kind, TWPA_WAIT_RETRY);
  ck_assert_uint_eq(wait_of(&t, 2).holder, 1);
  ck_assert_uint_eq(next(&t), 3); /* not 2: its predecessor in the order is not done */
  applied(&t, 3);
  ck_assert_uint_eq(next(&t), 0);
  applied(&t, 1);
  committed(&t, 1);
  ck_assert_uint_eq(next(&t), 2);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(next(&t), 2);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_CONFLICT), TWPA_VERDICT_ALONE);
  ck_assert_uint_eq(next(&t), 0);
  uint32_t running = 9;
  ck_assert_uint_eq(next_rollback(&t, &running), 3); /* cannot commit before it */
  ck_assert_uint_eq(running, 0);
  ck_assert_int_eq(twpa_scheduler_is_doomed(t.sched, 3), 1);
  ck_assert_uint_eq(wait_of(&t, 3).kind, TWPA_WAIT_ROLLBACK);
  ck_assert_int_eq(twpa_scheduler_rolled_back(t.sched, 3), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_rolled_back(t.sched, 3), TWPA_E_STATE);
  ck_assert_uint_eq(next(&t), 2);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 3).kind, TWPA_WAIT_ALONE);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_CONFLICT), TWPA_VERDICT_STOP);
  ck_assert(twpa_scheduler_idle(t.sched));
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 3).kind, TWPA_WAIT_STOPPED);
  uint64_t seq;
  ck_assert_int_eq(twpa_access_set_begin(t.set, 0, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_submit(t.sched, &seq, t.set, NULL), TWPA_E_STATE);
  /* The operator leaves it out, and only it. */
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 2, TWPA_DONE_SKIPPED), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 2, TWPA_DONE_SKIPPED), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_resume(t.sched), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_resume(t.sched), TWPA_E_STATE);
  run_to_end(&t);
  const twpa_scheduler_counters n = numbers(&t);
  ck_assert_uint_eq(n.low_watermark, 4);
  ck_assert_uint_eq(n.committed, 3);
  ck_assert_uint_eq(n.skipped, 1);
  ck_assert_uint_eq(n.conflicts, 4);
  ck_assert_uint_eq(n.rollbacks, 1);
  clear_table(&t);
}
END_TEST

/* Waiting for the direct predecessor is not enough in free order: the culprit may be earlier and not have run. */
START_TEST(free_order_retries_at_the_watermark)
{
  table t = set_free_table(TWPA_COMMIT_ORDER_FREE);
  submit_each(&t, "abc");
  run_up_to(&t, 3);
  applied(&t, 2);
  committed(&t, 2);
  ck_assert_uint_eq(failed(&t, 3, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 3).kind, TWPA_WAIT_RETRY);
  applied(&t, 1);
  committed(&t, 1);
  ck_assert_uint_eq(next(&t), 3);
  applied(&t, 3);
  committed(&t, 3);
  ck_assert(twpa_scheduler_idle(t.sched));
  clear_table(&t);
}
END_TEST

START_TEST(stop_lets_earlier_ones_finish)
{
  table t = set_table(NULL, NULL);
  submit_each(&t, "abcd");
  run_up_to(&t, 3);
  applied(&t, 3);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_ERROR), TWPA_VERDICT_STOP);
  uint32_t running;
  ck_assert_uint_eq(next_rollback(&t, &running), 3);
  ck_assert_uint_eq(next_rollback(&t, &running), 0);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert(!twpa_scheduler_idle(t.sched));
  ck_assert_int_eq(twpa_scheduler_resume(t.sched), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_rolled_back(t.sched, 3), TWPA_OK);
  ck_assert(!twpa_scheduler_idle(t.sched));
  applied(&t, 1);
  committed(&t, 1);
  ck_assert(twpa_scheduler_idle(t.sched));
  ck_assert_int_eq(twpa_scheduler_stop_before(t.sched, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_stop_before(t.sched, 4), TWPA_OK); /* the earlier stop holds */
  const twpa_scheduler_counters n = numbers(&t);
  ck_assert_uint_eq(n.stopped_before, 2);
  ck_assert_int_eq(twpa_scheduler_resume(t.sched), TWPA_OK);
  run_to_end(&t);
  clear_table(&t);

  /* A stop ahead: submissions go on up to it. One that is committing is left alone. */
  t = set_table(NULL, NULL);
  ck_assert_int_eq(twpa_scheduler_stop_before(t.sched, 2), TWPA_OK);
  submit(&t, "a");
  uint64_t seq;
  ck_assert_int_eq(twpa_scheduler_submit(t.sched, &seq, t.set, NULL), TWPA_E_STATE);
  ck_assert_uint_eq(next(&t), 1);
  applied(&t, 1);
  ck_assert_uint_eq(next_commit(&t), 1);
  ck_assert_int_eq(twpa_scheduler_stop_before(t.sched, 1), TWPA_OK);
  ck_assert_uint_eq(next_rollback(&t, &running), 0);
  committed(&t, 1);
  ck_assert(twpa_scheduler_idle(t.sched));
  clear_table(&t);
}
END_TEST

/* A skipped one in the middle of a chain does not let the end of the chain overtake its beginning. */
START_TEST(skip_keeps_its_place)
{
  table t = set_table(NULL, NULL);
  submit_each(&t, "aaa");
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 2, TWPA_DONE_COMMITTED), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 2, TWPA_DONE_COMMITTED), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 9, TWPA_DONE_COMMITTED), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 3, 7), TWPA_E_INVAL);
  ck_assert_uint_eq(next(&t), 1);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 1, TWPA_DONE_COMMITTED), TWPA_E_STATE);
  ck_assert_uint_eq(next(&t), 0);
  applied(&t, 1);
  committed(&t, 1);
  ck_assert_uint_eq(state(&t, 2), TWPA_TASK_DONE);
  ck_assert_uint_eq(next(&t), 3);
  applied(&t, 3);
  run_to_end(&t);
  clear_table(&t);
}
END_TEST

START_TEST(early_starters_go_first)
{
  twpa_plan_options po = {.struct_size = TWPA_PLAN_OPTIONS_INIT, .early_start = TWPA_EARLY_START_NARROW};
  table t = set_table(&po, NULL);
  submit_update(&t, 1);
  submit_update(&t, 1);
  submit_update(&t, 1);
  submit_update(&t, 1);
  ck_assert_uint_eq(next(&t), 1);
  ck_assert_uint_eq(next(&t), 0);
  applied(&t, 1);
  ck_assert_uint_eq(next(&t), 2); /* executed is enough: the row lock makes it wait */
  ck_assert_uint_eq(next(&t), 0);
  applied(&t, 2);
  ck_assert_uint_eq(next(&t), 3);
  applied(&t, 3);
  ck_assert_uint_eq(state(&t, 4), TWPA_TASK_READY);
  ck_assert_uint_eq(failed(&t, 1, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(state(&t, 4), TWPA_TASK_WAITING);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_uint_eq(wait_of(&t, 1).kind, TWPA_WAIT_ROLLBACK);
  uint32_t running;
  ck_assert_uint_eq(next_rollback(&t, &running), 3);
  ck_assert_uint_eq(next_rollback(&t, &running), 2);
  ck_assert_uint_eq(running, 0);
  ck_assert_int_eq(twpa_scheduler_rolled_back(t.sched, 3), TWPA_OK);
  ck_assert_uint_eq(next(&t), 0);
  ck_assert_int_eq(twpa_scheduler_rolled_back(t.sched, 2), TWPA_OK);
  ck_assert_uint_eq(next(&t), 1);
  applied(&t, 1);
  /* One that is still being executed is interrupted; its own failure then does not count. */
  ck_assert_uint_eq(next(&t), 2);
  ck_assert_uint_eq(failed(&t, 1, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(next_rollback(&t, &running), 2);
  ck_assert_uint_eq(running, 1);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_CANCELLED), TWPA_VERDICT_RETRY);
  ck_assert_uint_eq(next(&t), 1);
  applied(&t, 1);
  run_to_end(&t);
  const twpa_scheduler_counters n = numbers(&t);
  ck_assert_uint_gt(n.early, 0);
  ck_assert_uint_eq(n.cancels, 1);
  ck_assert_uint_eq(n.rollbacks, 2);
  clear_table(&t);
}
END_TEST

START_TEST(a_worker_gets_what_it_knows)
{
  table t = set_table(NULL, NULL);
  uint64_t seq;
  submit(&t, "x"); /* stays the head */
  ck_assert_int_eq(twpa_scheduler_next_for(t.sched, &seq, NULL, 9), TWPA_OK);
  ck_assert_uint_eq(seq, 1);
  submit_each(&t, "abab");
  ck_assert_int_eq(twpa_scheduler_next_for(t.sched, &seq, NULL, UINT32_MAX), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_next_for(t.sched, &seq, NULL, 0), TWPA_OK);
  ck_assert_uint_eq(seq, 2);
  ck_assert_int_eq(twpa_scheduler_next_for(t.sched, &seq, NULL, 1), TWPA_OK);
  ck_assert_uint_eq(seq, 3);
  applied(&t, 1);
  applied(&t, 2);
  applied(&t, 3);
  committed(&t, 1);
  submit(&t, "y");
  committed(&t, 2);
  committed(&t, 3);
  /* 4 is the head and goes to whoever asks; then 5 before 6 for worker 1. */
  ck_assert_int_eq(twpa_scheduler_next_for(t.sched, &seq, NULL, 1), TWPA_OK);
  ck_assert_uint_eq(seq, 4);
  ck_assert_int_eq(twpa_scheduler_next_for(t.sched, &seq, NULL, 1), TWPA_OK);
  ck_assert_uint_eq(seq, 5);
  clear_table(&t);
}
END_TEST

START_TEST(the_window_pushes_back)
{
  table t = set_table(NULL, OPTIONS(.window_max = 3));
  submit_each(&t, "abc");
  uint64_t seq = 77;
  ck_assert_int_eq(twpa_scheduler_submit(t.sched, &seq, t.set, NULL), TWPA_E_LIMIT);
  ck_assert_uint_eq(seq, 77);
  ck_assert_uint_eq(next(&t), 1);
  applied(&t, 1);
  committed(&t, 1);
  submit(&t, "d");
  run_to_end(&t);
  clear_table(&t);
  /* Numbers go far beyond any ring. */
  t = set_table(NULL, NULL);
  for (int i = 0; i < 100; i++)
    submit(&t, "a");
  for (int i = 0; i < 5000; i++) {
    seq = next(&t);
    ck_assert_uint_eq(seq, (uint64_t)i + 1);
    applied(&t, seq);
    committed(&t, seq);
    submit(&t, "a");
  }
  clear_table(&t);
}
END_TEST

START_TEST(progress_follows)
{
  twpa_progress *p, *other;
  ck_assert_int_eq(twpa_progress_new(&p, NULL, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_progress_new(&other, NULL, NULL), TWPA_OK);
  table t = set_table(&free_plan, OPTIONS(.commit_order = TWPA_COMMIT_ORDER_FREE, .progress = p));
  ck_assert_int_eq(twpa_scheduler_set_progress(t.sched, 7, other), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_set_progress(t.sched, 7, other), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_scheduler_set_progress(t.sched, 8, NULL), TWPA_OK);
  const uint64_t origins[] = {0, 7, 8, 0};
  const twpa_lsn lsns[] = {100, 50, 1, 200};
  uint64_t seq;
  twpa_lsn lsn;
  for (uint64_t i = 0; i < 4; i++) {
    ck_assert_int_eq(twpa_access_set_begin(t.set, lsns[i], origins[i], 0), TWPA_OK);
    ck_assert_int_eq(twpa_scheduler_submit(t.sched, &seq, t.set, NULL), TWPA_OK);
    ck_assert_uint_eq(next(&t), seq);
    applied(&t, seq);
  }
  ck_assert_int_eq(twpa_access_set_begin(t.set, 200, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_submit(t.sched, &seq, t.set, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_set_progress(t.sched, 9, NULL), TWPA_E_STATE);
  committed(&t, 4);
  ck_assert_int_eq(twpa_access_set_begin(t.set, 200, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_submit(t.sched, &seq, t.set, NULL), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_progress_low_watermark(p, &seq, &lsn), TWPA_OK);
  ck_assert_uint_eq(lsn, 0);
  committed(&t, 2);
  ck_assert_int_eq(twpa_progress_low_watermark(other, &seq, &lsn), TWPA_OK);
  ck_assert_uint_eq(lsn, 50);
  committed(&t, 1);
  ck_assert_int_eq(twpa_progress_low_watermark(p, &seq, &lsn), TWPA_OK);
  ck_assert_uint_eq(lsn, 200);
  ck_assert_uint_eq(seq, 4);
  committed(&t, 3);
  clear_table(&t);
  twpa_progress_free(p);
  twpa_progress_free(other);
}
END_TEST

static table *inside;
static unsigned waits_seen;

static void on_wait(void *user, const twpa_wait *wait)
{
  twpa_scheduler *s = inside->sched;
  uint64_t seq;
  uint32_t n;
  ck_assert_ptr_eq(user, &waits_seen);
  ck_assert_uint_eq(wait->kind, TWPA_WAIT_COMMIT_TURN);
  ck_assert_uint_eq(wait->waiter, 2);
  ck_assert_uint_eq(wait->holder, 1);
  ck_assert_int_eq(twpa_scheduler_submit(s, &seq, inside->set, NULL), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_next(s, &seq, NULL), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_next_for(s, &seq, NULL, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_applied(s, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_next_commit(s, &seq, NULL), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_committed(s, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_failed(s, 1, &n, TWPA_FAIL_CONFLICT), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_next_rollback(s, &seq, NULL, &n), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_rolled_back(s, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_skip(s, 1, TWPA_DONE_COMMITTED), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_stop_before(s, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_resume(s), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_set_progress(s, 1, NULL), TWPA_E_REENTRANT);
  twpa_scheduler_counters c = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  ck_assert_int_eq(twpa_scheduler_stats(s, &c), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_state(s, &n, NULL, 2), TWPA_OK);
  ck_assert_uint_eq(n, TWPA_TASK_EXECUTED);
  twpa_scheduler_free(s); /* does nothing */
  waits_seen++;
}

START_TEST(waits_are_told)
{
  table t = set_table(NULL, OPTIONS(.on_wait = on_wait, .user = &waits_seen));
  inside = &t;
  submit_each(&t, "ab");
  run_up_to(&t, 2);
  applied(&t, 2);
  ck_assert_uint_eq(waits_seen, 1);
  applied(&t, 1);
  ck_assert_uint_eq(waits_seen, 1);
  run_to_end(&t);
  clear_table(&t);
}
END_TEST

/* Waits as they were told, and forgotten when the test has looked. */
typedef struct told {
  twpa_wait waits[16];
  size_t n;
} told;

static void note_wait(void *user, const twpa_wait *wait)
{
  told *w = user;
  ck_assert_uint_eq(wait->kind, TWPA_WAIT_COMMIT_TURN);
  w->waits[w->n++] = *wait;
}

/* Exactly these have been told: pairs of waiter and holder, ended by 0. */
static void were_told(told *w, const uint64_t *pairs)
{
  size_t n = 0;
  for (; pairs[2 * n] != 0; n++) {
    ck_assert_uint_lt(n, w->n);
    ck_assert_uint_eq(w->waits[n].waiter, pairs[2 * n]);
    ck_assert_uint_eq(w->waits[n].holder, pairs[2 * n + 1]);
  }
  ck_assert_uint_eq(w->n, n);
  w->n = 0;
}
#define TOLD(w, ...) were_told(w, (const uint64_t[]){__VA_ARGS__})

/* By groups somebody waits for the nearest one in each; whom a skip takes away is followed by the one before it. */
START_TEST(waits_of_several_groups_are_told)
{
  told w = {.n = 0};
  table t = set_table(&free_plan, OPTIONS(.commit_order = TWPA_COMMIT_ORDER_GROUPS, .on_wait = note_wait, .user = &w));
  const uint64_t groups[] = {1, 2, 1, 4, 7, 7};
  for (uint64_t i = 0; i < 6; i++)
    submit_groups(&t, groups[i]);
  ck_assert_uint_eq(next(&t), 1);
  ck_assert_uint_eq(next(&t), 2);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 4, TWPA_DONE_COMMITTED), TWPA_OK);
  ck_assert_uint_eq(next(&t), 3);
  ck_assert_uint_eq(next(&t), 5);
  ck_assert_uint_eq(next(&t), 6);
  TOLD(&w, 0);
  applied(&t, 6);
  TOLD(&w, 6, 5, 0); /* one holder in all three */
  applied(&t, 5);
  TOLD(&w, 5, 3, 5, 2, 0);
  ck_assert_uint_eq(wait_of(&t, 5).holder, 3);
  applied(&t, 3);
  TOLD(&w, 3, 1, 0);
  applied(&t, 2);
  committed(&t, 2);
  ck_assert_uint_eq(wait_of(&t, 5).holder, 3);
  applied(&t, 1);
  committed(&t, 1);
  committed(&t, 3);
  TOLD(&w, 0); /* nothing that was not said */
  run_to_end(&t);
  TOLD(&w, 0);
  clear_table(&t);
}
END_TEST

/* A skip leads to somebody whom the waiter waits for already, by another group: it has been told. */
START_TEST(a_known_wait_is_not_told_again)
{
  told w = {.n = 0};
  table t = set_table(&free_plan, OPTIONS(.commit_order = TWPA_COMMIT_ORDER_GROUPS, .on_wait = note_wait, .user = &w));
  for (uint64_t i = 0; i < 3; i++)
    submit_groups(&t, 3 - i % 2); /* both, the second, both */
  for (uint64_t i = 1; i <= 3; i++)
    ck_assert_uint_eq(next(&t), i);
  applied(&t, 3);
  TOLD(&w, 3, 1, 3, 2, 0);
  ck_assert_uint_eq(failed(&t, 2, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
  ck_assert_int_eq(twpa_scheduler_skip(t.sched, 2, TWPA_DONE_COMMITTED), TWPA_OK);
  TOLD(&w, 0);
  applied(&t, 1);
  committed(&t, 1);
  committed(&t, 3);
  TOLD(&w, 0);
  clear_table(&t);
}
END_TEST

START_TEST(waits_are_told_again_after_a_skip)
{
  told w = {.n = 0};
  for (int by_groups = 0; by_groups < 2; by_groups++) {
    table t = set_table(&free_plan, OPTIONS(.commit_order = by_groups ? TWPA_COMMIT_ORDER_GROUPS : TWPA_COMMIT_ORDER_GLOBAL,
                                            .on_wait = note_wait, .user = &w));
    submit_each(&t, "abbcdef");
    ck_assert_uint_eq(next(&t), 1);
    ck_assert_uint_eq(next(&t), 2);
    ck_assert_uint_eq(next(&t), 4); /* 3 waits for 2 */
    ck_assert_uint_eq(next(&t), 5);
    applied(&t, 5);
    TOLD(&w, 5, 4, 0);
    ck_assert_uint_eq(failed(&t, 4, TWPA_FAIL_CONFLICT), TWPA_VERDICT_RETRY);
    TOLD(&w, 0);
    ck_assert_int_eq(twpa_scheduler_skip(t.sched, 4, TWPA_DONE_COMMITTED), TWPA_OK); /* given up */
    TOLD(&w, 5, 3, 0);
    ck_assert_int_eq(twpa_scheduler_skip(t.sched, 3, TWPA_DONE_COMMITTED), TWPA_OK); /* in its turn, behind 2 */
    TOLD(&w, 0);
    ck_assert_int_eq(twpa_scheduler_skip(t.sched, 7, TWPA_DONE_COMMITTED), TWPA_OK); /* nobody waits for it */
    TOLD(&w, 0);
    ck_assert_uint_eq(next(&t), 6);
    applied(&t, 6);
    TOLD(&w, 6, 5, 0);
    applied(&t, 2);
    TOLD(&w, 2, 1, 0);
    applied(&t, 1);
    committed(&t, 1);
    committed(&t, 2);
    committed(&t, 5);
    committed(&t, 6);
    TOLD(&w, 0);
    ck_assert(twpa_scheduler_idle(t.sched));
    clear_table(&t);
  }
}
END_TEST

START_TEST(wrong_arguments)
{
  table t = set_table(NULL, NULL);
  twpa_scheduler *s = NULL;
  uint64_t seq;
  uint32_t n;
  void *task;
  twpa_wait w;
  twpa_scheduler_options o = {.struct_size = TWPA_SCHEDULER_OPTIONS_INIT, .commit_order = TWPA_COMMIT_ORDER_FREE};
  ck_assert_int_eq(twpa_scheduler_new(&s, t.plan, &o, NULL), TWPA_E_INVAL); /* the plan counts on commit order */
  o.commit_order = 3;
  ck_assert_int_eq(twpa_scheduler_new(&s, t.plan, &o, NULL), TWPA_E_INVAL);
  o = (twpa_scheduler_options){.struct_size = TWPA_SCHEDULER_OPTIONS_INIT, .reserved = 1};
  ck_assert_int_eq(twpa_scheduler_new(&s, t.plan, &o, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_new(NULL, t.plan, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_new(&s, NULL, NULL, NULL), TWPA_E_INVAL);
  submit(&t, "a");
  ck_assert_int_eq(twpa_scheduler_new(&s, t.plan, NULL, NULL), TWPA_E_STATE);
  s = t.sched;
  ck_assert_int_eq(twpa_scheduler_submit(s, NULL, t.set, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_submit(s, &seq, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_submit(NULL, &seq, t.set, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_next(NULL, &seq, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_next(s, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_next_commit(s, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_next_rollback(s, &seq, &task, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_applied(s, 0), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_scheduler_applied(s, 2), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_scheduler_applied(s, 1), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_committed(s, 1), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_committed(s, 5), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_scheduler_failed(s, 1, &n, TWPA_FAIL_CONFLICT), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_failed(s, 1, &n, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_failed(s, 1, &n, 4), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_failed(s, 1, NULL, TWPA_FAIL_CONFLICT), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_rolled_back(s, 1), TWPA_E_STATE);
  ck_assert_int_eq(twpa_scheduler_state(s, &n, NULL, 2), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_scheduler_state(s, NULL, NULL, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_wait_of(s, &w, 2), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_scheduler_wait_of(s, NULL, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_scheduler_is_doomed(NULL, 1), 0);
  ck_assert_int_eq(twpa_scheduler_is_doomed(s, 5), 0);
  ck_assert_int_eq(twpa_scheduler_idle(NULL), 0);
  ck_assert_int_eq(twpa_scheduler_stats(s, NULL), TWPA_E_INVAL);
  twpa_scheduler_free(NULL);
  clear_table(&t);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("scheduler");
  TCase *c = tcase_create("examples");
  tcase_add_test(c, commit_order);
  tcase_add_test(c, free_order_and_groups);
  tcase_add_test(c, two_limits);
  tcase_add_test(c, retry_alone_stop);
  tcase_add_test(c, free_order_retries_at_the_watermark);
  tcase_add_test(c, stop_lets_earlier_ones_finish);
  tcase_add_test(c, skip_keeps_its_place);
  tcase_add_test(c, early_starters_go_first);
  tcase_add_test(c, a_worker_gets_what_it_knows);
  tcase_add_test(c, the_window_pushes_back);
  tcase_add_test(c, progress_follows);
  tcase_add_test(c, waits_are_told);
  tcase_add_test(c, waits_of_several_groups_are_told);
  tcase_add_test(c, waits_are_told_again_after_a_skip);
  tcase_add_test(c, a_known_wait_is_not_told_again);
  tcase_add_test(c, wrong_arguments);
  suite_add_tcase(s, c);
  return run_suite(s);
}
