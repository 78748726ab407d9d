/* Scheduler against the naive model: random histories of every kind, small worlds exhaustively. */
#include "plan/sched_model.h"

#include <stdlib.h>
#include <string.h>

static void random_history(model_txn *txns, const model_options *o, rng *r)
{
  memset(txns, 0, o->txns * sizeof *txns);
  unsigned density = 1 + (unsigned)rng_below(r, 3);
  for (unsigned i = 0; i < o->txns; i++) {
    txns[i].groups = rng_below(r, 8);
    for (unsigned n = (unsigned)rng_below(r, density + 1); n > 0; n--) {
      unsigned k = (unsigned)rng_below(r, o->keys);
      unsigned mode = 1 + (unsigned)rng_below(r, 3);
      if ((o->early || o->rows) && mode == TWPA_MODE_READ)
        mode = TWPA_MODE_UPDATE;
      txns[i].mode[k] = (uint8_t)mode;
    }
  }
}

static void random_runs(unsigned runs, uint64_t standard, model_options o, bool vary)
{
  rng r = {test_seed(standard)};
  model_sum = (model_totals){0};
  for (unsigned n = 0; n < runs; n++) {
    model_txn txns[MODEL_TXNS];
    o.txns = 1 + (unsigned)rng_below(&r, MODEL_TXNS);
    o.keys = 1 + (unsigned)rng_below(&r, MODEL_KEYS);
    o.running_max = rng_below(&r, 6);
    o.open_max = rng_below(&r, 7);
    o.window_max = rng_below(&r, 2) ? 0 : 1 + rng_below(&r, 10);
    if (vary) {
      o.commit_order = (uint32_t)rng_below(&r, 3);
      o.failures = (unsigned)rng_below(&r, 12);
      o.errors = rng_below(&r, 2);
      o.skips = rng_below(&r, 2);
      o.hosts_stop = rng_below(&r, 2);
      o.hints = rng_below(&r, 2);
    }
    random_history(txns, &o, &r);
    chooser c = chooser_random(rng_next(&r));
    model_run(&o, txns, &c);
  }
}

START_TEST(random_calm_runs)
{
  for (uint32_t order = 0; order < 3; order++) {
    random_runs(300, 31, (model_options){.commit_order = order}, false);
    ck_assert_uint_gt(model_sum.held, 20);
    ck_assert_uint_gt(model_sum.limits, 20);
  }
}
END_TEST

START_TEST(random_rough_runs)
{
  random_runs(1500, 32, (model_options){.keys = 0}, true);
  ck_assert_uint_gt(model_sum.failures, 1000);
  ck_assert_uint_gt(model_sum.alones, 20);
  ck_assert_uint_gt(model_sum.stops, 100);
  ck_assert_uint_gt(model_sum.skips, 100);
  ck_assert_uint_gt(model_sum.rollbacks, 100);
  ck_assert_uint_gt(model_sum.cancels, 100);
}
END_TEST

START_TEST(random_runs_with_early_start)
{
  model_options o = {.early = true, .failures = 8, .errors = true, .skips = true, .hosts_stop = true};
  random_runs(800, 33, o, false);
  ck_assert_uint_gt(model_sum.early, 500);
  ck_assert_uint_gt(model_sum.rollbacks, 100);
  o = (model_options){.early = true};
  random_runs(400, 34, o, false);
  ck_assert_uint_gt(model_sum.early, 500);
}
END_TEST

START_TEST(random_runs_with_a_plan_that_knows_less)
{
  random_runs(500, 35, (model_options){.small_table = true}, true);
  random_runs(500, 36, (model_options){.lose_trust = true, .rows = true}, true);
  ck_assert_uint_gt(model_sum.skips, 100);
}
END_TEST

/* Every order in which the reports of three transactions can come, one failure at every place included. */
static void small_world(uint32_t order, bool early, unsigned failures, unsigned histories, uint64_t seed)
{
  rng r = {seed};
  model_options o = {.txns = 3, .keys = 2, .commit_order = order, .early = early, .failures = failures};
  for (unsigned n = 0; n < histories; n++) {
    model_txn history[3], txns[3];
    random_history(history, &o, &r);
    o.open_max = n % 3;
    o.running_max = n % 2;
    chooser c = chooser_all();
    do {
      memcpy(txns, history, sizeof txns);
      model_run(&o, txns, &c);
    } while (chooser_next(&c));
  }
}

START_TEST(small_worlds)
{
  model_sum = (model_totals){0};
  for (uint32_t order = 0; order < 3; order++)
    small_world(order, false, 0, 40, 40 + order);
  small_world(TWPA_COMMIT_ORDER_GLOBAL, false, 1, 4, 44);
  small_world(TWPA_COMMIT_ORDER_FREE, false, 1, 4, 45);
  small_world(TWPA_COMMIT_ORDER_GLOBAL, true, 1, 4, 46);
  ck_assert_uint_gt(model_sum.runs, 10000);
  ck_assert_uint_gt(model_sum.failures, 1000);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("scheduler model");
  TCase *c = tcase_create("model");
  tcase_set_timeout(c, 120);
  tcase_add_test(c, random_calm_runs);
  tcase_add_test(c, random_rough_runs);
  tcase_add_test(c, random_runs_with_early_start);
  tcase_add_test(c, random_runs_with_a_plan_that_knows_less);
  tcase_add_test(c, small_worlds);
  suite_add_tcase(s, c);
  return run_suite(s);
}
