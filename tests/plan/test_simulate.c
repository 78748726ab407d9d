/*
 * Simulation: worked examples, laws that hold for every plan, and the real scheduler driven in virtual time by the same
 * rule, which must come to the same schedule.
 */
#include "plan/kit.h"

#include <stdlib.h>
#include <twpa/scheduler.h>
#include <twpa/simulate.h>

static twpa_recording *recording(void)
{
  twpa_recording *r = NULL;
  ck_assert_int_eq(twpa_recording_new(&r, NULL), TWPA_OK);
  return r;
}

static void add(twpa_recording *r, uint64_t seq, uint64_t apply, uint64_t commit, uint64_t after)
{
  test_must(twpa_recording_add(r, seq, 1, 0) == TWPA_OK);
  test_must(twpa_recording_set_cost(r, seq, apply, commit) == TWPA_OK);
  if (after != 0)
    test_must(twpa_recording_edge(r, after, 0) == TWPA_OK);
}

static twpa_simulation simulate(const twpa_recording *r, twpa_simulation_options o)
{
  twpa_simulation out = {.struct_size = TWPA_SIMULATION_INIT};
  o.struct_size = TWPA_SIMULATION_OPTIONS_INIT;
  test_must(twpa_simulate(r, &out, NULL, 0, &o, NULL) == TWPA_OK);
  uint64_t sum = 0;
  for (int b = 0; b < TWPA_BOUND_COUNT; b++)
    sum += out.bound[b];
  test_must(sum == out.makespan);
  return out;
}

START_TEST(worked_examples)
{
  twpa_recording *r = recording();
  twpa_simulation s = simulate(r, (twpa_simulation_options){0});
  ck_assert_uint_eq(s.makespan, 0);
  /* Four independent ones of 3 + 1. */
  for (uint64_t i = 1; i <= 4; i++)
    add(r, i, 3, 1, 0);
  s = simulate(r, (twpa_simulation_options){.running_max = 1});
  ck_assert_uint_eq(s.makespan, 16);
  ck_assert_uint_eq(s.work, 16);
  ck_assert_uint_eq(s.critical_path, 4);
  s = simulate(r, (twpa_simulation_options){.running_max = 2, .commit_order = TWPA_COMMIT_ORDER_FREE});
  ck_assert_uint_eq(s.makespan, 8);
  s = simulate(r, (twpa_simulation_options){.commit_order = TWPA_COMMIT_ORDER_FREE});
  ck_assert_uint_eq(s.makespan, 4);
  ck_assert_uint_eq(s.bound[TWPA_BOUND_DEPENDENCIES], 4);
  /* Commits one after the other: 3 + 4. While one commits, the rest could: commit order holds them back for 3 of it. */
  s = simulate(r, (twpa_simulation_options){0});
  ck_assert_uint_eq(s.makespan, 7);
  ck_assert_uint_eq(s.bound[TWPA_BOUND_COMMIT_ORDER], 3);
  ck_assert_uint_eq(s.open_high, 4);
  s = simulate(r, (twpa_simulation_options){.open_max = 1});
  ck_assert_uint_eq(s.makespan, 16);
  ck_assert_uint_eq(s.bound[TWPA_BOUND_OPEN], 12);
  s = simulate(r, (twpa_simulation_options){.window_max = 1});
  ck_assert_uint_eq(s.makespan, 16);
  ck_assert_uint_eq(s.bound[TWPA_BOUND_WINDOW], 12);
  twpa_recording_free(r);

  /* A slow head: two workers, one of them idle behind the commit order with nothing left to start. */
  r = recording();
  add(r, 1, 100, 0, 0);
  add(r, 2, 10, 0, 0);
  add(r, 3, 10, 0, 2);
  s = simulate(r, (twpa_simulation_options){.running_max = 2});
  ck_assert_uint_eq(s.makespan, 110);
  ck_assert_uint_eq(s.bound[TWPA_BOUND_COMMIT_ORDER], 90);
  s = simulate(r, (twpa_simulation_options){.running_max = 2, .commit_order = TWPA_COMMIT_ORDER_FREE});
  ck_assert_uint_eq(s.makespan, 100);
  twpa_recording_free(r);

  /* An early edge: the successor starts when the predecessor is executed. */
  r = recording();
  add(r, 1, 5, 5, 0);
  add(r, 2, 5, 5, 0);
  ck_assert_int_eq(twpa_recording_edge(r, 1, 1), TWPA_OK);
  ck_assert_uint_eq(simulate(r, (twpa_simulation_options){0}).makespan, 20);
  ck_assert_uint_eq(simulate(r, (twpa_simulation_options){.early_start = 1}).makespan, 15);
  twpa_recording_free(r);
}
END_TEST

START_TEST(wrong_arguments)
{
  twpa_recording *r = recording();
  twpa_simulation out = {.struct_size = TWPA_SIMULATION_INIT};
  twpa_simulated slots[1];
  twpa_simulation_options o = {.struct_size = TWPA_SIMULATION_OPTIONS_INIT, .commit_order = 3};
  ck_assert_int_eq(twpa_recording_new(NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_recording_edge(r, 1, 0), TWPA_E_STATE);
  ck_assert_int_eq(twpa_recording_add(r, 0, 0, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_recording_add(r, 5, 0, 5), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_recording_add(r, 5, 0, 4), TWPA_OK); /* a floor from before the recording */
  ck_assert_int_eq(twpa_recording_add(r, 7, 0, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_recording_edge(r, 5, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_recording_edge(r, 4, 0), TWPA_OK);
  ck_assert_int_eq(twpa_recording_set_cost(r, 4, 1, 1), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_recording_set_cost(r, 6, 1, 1), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_recording_add(r, 6, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_recording_set_cost(r, 5, UINT64_MAX - 1, 0), TWPA_OK);
  ck_assert_int_eq(twpa_recording_set_cost(r, 6, 1, 1), TWPA_E_LIMIT);
  ck_assert_int_eq(twpa_recording_add(r, 7, 0, 0), TWPA_E_LIMIT);
  ck_assert_uint_eq(twpa_recording_count(r), 2);
  ck_assert_uint_eq(twpa_recording_count(NULL), 0);
  ck_assert_int_eq(twpa_simulate(r, &out, NULL, 0, &o, NULL), TWPA_E_INVAL);
  o = (twpa_simulation_options){.struct_size = TWPA_SIMULATION_OPTIONS_INIT, .early_start = 1, .commit_order = 2};
  ck_assert_int_eq(twpa_simulate(r, &out, NULL, 0, &o, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_simulate(r, &out, slots, 1, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_simulate(NULL, &out, NULL, 0, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_simulate(r, NULL, NULL, 0, NULL, NULL), TWPA_E_INVAL);
  out.struct_size = 8;
  ck_assert_int_eq(twpa_simulate(r, &out, NULL, 0, NULL, NULL), TWPA_E_INVAL);
  twpa_recording_free(r);
  twpa_recording_free(NULL);
}
END_TEST

/* ---- The real scheduler in virtual time ---------------------------------------------------------------------------- */

#define TXNS 120
#define WORKERS 12

typedef struct busy {
  uint64_t until, seq; /* seq 0: idle */
  bool commits;
} busy;

typedef struct world {
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_relation *relation;
  twpa_recording *rec;
  uint64_t apply[TXNS], commit[TXNS], groups[TXNS];
  unsigned mode[TXNS][3], key[TXNS][3], n[TXNS];
  twpa_simulated got[TXNS];
} world;

static twpa_status enter_txn(world *w, twpa_scheduler *s, unsigned i)
{
  uint64_t seq;
  test_must(twpa_access_set_begin(w->set, 0, 0, 0) == TWPA_OK);
  for (unsigned k = 0; k < w->n[i]; k++) {
    int64_t values[2] = {w->key[i][k], 1};
    test_must(change(w->set, w->relation, w->mode[i][k] == 0 ? TWPA_OP_UPDATE : TWPA_OP_DELETE, 2,
                     w->mode[i][k] == 0 ? NULL : values, w->mode[i][k] == 0 ? values : NULL) == TWPA_OK);
  }
  twpa_status st = twpa_scheduler_submit_groups(s, &seq, w->set, NULL, w->groups[i]);
  test_must(st == TWPA_E_LIMIT || (st == TWPA_OK && seq == i + 1));
  if (st == TWPA_OK)
    test_must(twpa_recording_set_cost(w->rec, seq, w->apply[i], w->commit[i]) == TWPA_OK);
  return st;
}

static unsigned give_work(world *w, twpa_scheduler *s, busy *workers, unsigned n, uint64_t now)
{
  unsigned given = 0;
  for (unsigned i = 0; i < n; i++) {
    uint64_t seq;
    if (workers[i].seq != 0)
      continue;
    if (twpa_scheduler_next_commit(s, &seq, NULL) == TWPA_OK) {
      workers[i] = (busy){now + w->commit[seq - 1], seq, true};
      w->got[seq - 1].turn_at = now;
    } else if (twpa_scheduler_next(s, &seq, NULL) == TWPA_OK) {
      workers[i] = (busy){now + w->apply[seq - 1], seq, false};
      w->got[seq - 1].started_at = now;
      w->got[seq - 1].worker = i;
    } else {
      return given;
    }
    given++;
  }
  return given;
}

static uint64_t drive(world *w, twpa_scheduler *s, unsigned nworkers)
{
  busy workers[WORKERS] = {{0, 0, false}};
  uint64_t now = 0;
  unsigned entered = 0;
  for (;;) {
    while (entered < TXNS && enter_txn(w, s, entered) == TWPA_OK)
      entered++;
    give_work(w, s, workers, nworkers, now);
    busy *first = NULL;
    for (unsigned i = 0; i < nworkers; i++)
      if (workers[i].seq != 0 && (first == NULL || workers[i].until < first->until))
        first = &workers[i];
    if (first == NULL)
      break;
    now = first->until;
    for (;;) { /* all that ends now, the smallest number first; the window is refilled after each commit */
      first = NULL;
      for (unsigned i = 0; i < nworkers; i++)
        if (workers[i].seq != 0 && workers[i].until == now && (first == NULL || workers[i].seq < first->seq))
          first = &workers[i];
      if (first == NULL)
        break;
      twpa_simulated *got = &w->got[first->seq - 1];
      if (first->commits) {
        got->committed_at = now;
        test_must(twpa_scheduler_committed(s, first->seq) == TWPA_OK);
        while (entered < TXNS && enter_txn(w, s, entered) == TWPA_OK)
          entered++;
      } else {
        got->executed_at = now;
        test_must(twpa_scheduler_applied(s, first->seq) == TWPA_OK);
      }
      first->seq = 0;
    }
  }
  test_must(entered == TXNS && twpa_scheduler_idle(s));
  return now;
}

/* The simulation knows the whole plan; so that the real one is the same, the recording is made in one go first. */
static void record_whole(world *w, const twpa_plan_options *po)
{
  twpa_scheduler *s;
  test_must(twpa_plan_new(&w->plan, po, NULL) == TWPA_OK);
  test_must(twpa_access_set_new(&w->set, w->plan, NULL) == TWPA_OK);
  twpa_scheduler_options so = {.struct_size = TWPA_SCHEDULER_OPTIONS_INIT, .recording = w->rec};
  so.commit_order = po->free_commit_order ? TWPA_COMMIT_ORDER_FREE : TWPA_COMMIT_ORDER_GLOBAL;
  test_must(twpa_scheduler_new(&s, w->plan, &so, NULL) == TWPA_OK);
  for (unsigned i = 0; i < TXNS; i++)
    test_must(enter_txn(w, s, i) == TWPA_OK);
  twpa_scheduler_free(s);
  twpa_access_set_free(w->set);
  twpa_plan_free(w->plan);
}

static void compare(rng *r)
{
  world w = {.rec = recording()};
  relation_kit kit;
  kit_begin(&kit, 5, 2);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  w.relation = kit_make(&kit);
  unsigned keys = 4 + (unsigned)rng_below(r, 100);
  for (unsigned i = 0; i < TXNS; i++) {
    w.apply[i] = 1 + rng_below(r, rng_chance(r, 10) ? 200 : 20);
    w.commit[i] = 1 + rng_below(r, 4);
    w.groups[i] = rng_below(r, 8);
    w.n[i] = (unsigned)rng_below(r, 4);
    for (unsigned k = 0; k < w.n[i]; k++) {
      w.key[i][k] = (unsigned)rng_below(r, keys);
      w.mode[i][k] = (unsigned)rng_below(r, 2);
    }
  }
  uint32_t order = (uint32_t)rng_below(r, 3);
  bool early = order == TWPA_COMMIT_ORDER_GLOBAL && rng_chance(r, 50);
  twpa_plan_options po = {.struct_size = TWPA_PLAN_OPTIONS_INIT,
                          .table_bytes = 1 << 14,
                          .wide_bytes = 1 << 12,
                          .free_commit_order = order != TWPA_COMMIT_ORDER_GLOBAL,
                          .early_start = early ? TWPA_EARLY_START_NARROW : TWPA_EARLY_START_OFF,
                          .explain = (uint32_t)rng_below(r, 2)};
  record_whole(&w, &po);
  unsigned workers = 1 + (unsigned)rng_below(r, WORKERS);
  twpa_simulation_options o = {.struct_size = TWPA_SIMULATION_OPTIONS_INIT,
                               .running_max = workers,
                               .open_max = rng_below(r, 2) ? 0 : 1 + rng_below(r, 20),
                               .window_max = rng_below(r, 2) ? 0 : 1 + rng_below(r, 40),
                               .commit_order = order,
                               .early_start = early};
  twpa_simulated want[TXNS];
  twpa_simulation out = {.struct_size = TWPA_SIMULATION_INIT};
  test_must(twpa_simulate(w.rec, &out, want, TXNS, &o, NULL) == TWPA_OK);

  twpa_scheduler *s;
  test_must(twpa_plan_new(&w.plan, &po, NULL) == TWPA_OK);
  test_must(twpa_access_set_new(&w.set, w.plan, NULL) == TWPA_OK);
  twpa_scheduler_options so = {.struct_size = TWPA_SCHEDULER_OPTIONS_INIT,
                               .commit_order = order,
                               .open_max = o.open_max,
                               .window_max = o.window_max};
  test_must(twpa_scheduler_new(&s, w.plan, &so, NULL) == TWPA_OK);
  test_must(drive(&w, s, workers) == out.makespan);
  for (unsigned i = 0; i < TXNS; i++) {
    test_must(w.got[i].started_at == want[i].started_at && w.got[i].executed_at == want[i].executed_at);
    test_must(w.got[i].turn_at == want[i].turn_at && w.got[i].committed_at == want[i].committed_at);
    test_must(want[i].ready_at <= want[i].started_at && want[i].worker < workers);
  }
  test_must(out.makespan >= out.work / workers && (early || out.makespan >= out.critical_path));
  test_must(out.makespan <= out.work);
  twpa_scheduler_free(s);
  twpa_access_set_free(w.set);
  twpa_relation_free(w.relation);
  twpa_plan_free(w.plan);
  twpa_recording_free(w.rec);
}

START_TEST(as_the_real_scheduler)
{
  rng r = {test_seed(61)};
  for (int n = 0; n < 600; n++)
    compare(&r);
}
END_TEST

/* More of anything never hurts the bounds, and one worker is always serial. */
START_TEST(laws)
{
  rng r = {test_seed(62)};
  for (int n = 0; n < 200; n++) {
    twpa_recording *rec = recording();
    unsigned count = 1 + (unsigned)rng_below(&r, 60);
    for (uint64_t i = 1; i <= count; i++) {
      test_must(twpa_recording_add(rec, i, rng_below(&r, 4), rng_chance(&r, 10) ? rng_below(&r, i) : 0) == TWPA_OK);
      test_must(twpa_recording_set_cost(rec, i, rng_below(&r, 10), rng_below(&r, 3)) == TWPA_OK);
      for (uint64_t e = rng_below(&r, 3); e > 0 && i > 1; e--)
        test_must(twpa_recording_edge(rec, 1 + rng_below(&r, i - 1), (uint32_t)rng_below(&r, 2)) == TWPA_OK);
    }
    for (uint32_t order = 0; order < 3; order++) {
      twpa_simulation s = simulate(rec, (twpa_simulation_options){.running_max = 1, .commit_order = order});
      test_must(s.makespan == s.work && s.running_high <= 1);
      s = simulate(rec, (twpa_simulation_options){.commit_order = order});
      test_must(s.makespan >= s.critical_path);
      test_must(order != TWPA_COMMIT_ORDER_FREE || s.makespan == s.critical_path);
      test_must(s.bound[TWPA_BOUND_EXECUTING] == 0 && s.bound[TWPA_BOUND_OPEN] == 0);
      s = simulate(rec, (twpa_simulation_options){.open_max = 1, .commit_order = order});
      test_must(s.makespan == s.work && s.open_high == 1);
      s = simulate(rec, (twpa_simulation_options){.window_max = 1, .commit_order = order});
      test_must(s.makespan == s.work);
      s = simulate(rec, (twpa_simulation_options){.running_max = 3, .open_max = 5, .commit_order = order});
      test_must(s.running_high <= 3 && s.open_high <= 5 && s.makespan >= s.work / 3);
    }
    twpa_recording_free(rec);
  }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  twpa_simulation want = {.struct_size = TWPA_SIMULATION_INIT};
  for (size_t n = 0;; n++) {
    faultmem fm, fm2;
    twpa_allocator mem = faultmem_init(&fm, n, n % 2);
    twpa_recording *r = NULL;
    twpa_status st = twpa_recording_new(&r, &mem);
    for (uint64_t i = 1; i <= 40 && st == TWPA_OK; i++) {
      st = twpa_recording_add(r, i, i, i / 2);
      if (st == TWPA_OK && i > 1)
        st = twpa_recording_edge(r, i - 1, 0);
    }
    if (st == TWPA_OK) {
      for (size_t k = n == 0 ? 0 : 1;; k++) {
        twpa_allocator mem2 = faultmem_init(&fm2, k, false);
        twpa_simulation out = {.struct_size = TWPA_SIMULATION_INIT, .makespan = 7};
        st = twpa_simulate(r, &out, NULL, 0, NULL, &mem2);
        faultmem_check_empty(&fm2);
        if (n == 0 && k == 0)
          want = out;
        if (fm2.failed == 0) {
          ck_assert_int_eq(st, TWPA_OK);
          ck_assert_mem_eq(&out, &want, sizeof out);
          if (k > 0 || n > 0)
            break;
        } else {
          ck_assert_int_eq(st, TWPA_E_NOMEM);
          ck_assert_uint_eq(out.makespan, 7);
        }
      }
    } else {
      ck_assert_int_eq(st, TWPA_E_NOMEM);
    }
    twpa_recording_free(r);
    faultmem_check_empty(&fm);
    if (n > 0 && fm.failed == 0)
      break;
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("simulate");
  TCase *c = tcase_create("simulate");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, worked_examples);
  tcase_add_test(c, wrong_arguments);
  tcase_add_test(c, as_the_real_scheduler);
  tcase_add_test(c, laws);
  tcase_add_test(c, every_allocation_may_fail);
  suite_add_tcase(s, c);
  return run_suite(s);
}
