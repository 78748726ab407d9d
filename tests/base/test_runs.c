/* Run-length set: borders of the number range, random calls against a bitmap, memory counted and refused. */
#include "base/runs.h"
#include "support/faultmem.h"
#include "support/runner.h"

#include <string.h>

static faultmem fm;
static twpa__mem mem;

static void setup(twpa__runs *set)
{
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  twpa__runs_init(set, &mem);
}

static void finish(twpa__runs *set)
{
  twpa__runs_clear(set);
  ck_assert_uint_eq(mem.live_bytes, 0);
  faultmem_check_empty(&fm);
}

/* Runs rise and never touch. */
static void check_shape(const twpa__runs *set)
{
  test_must(set->count <= set->cap);
  for (size_t i = 0; i < set->count; i++) {
    test_must(set->runs[i].first <= set->runs[i].last);
    if (i > 0) {
      test_must(set->runs[i - 1].last < UINT64_MAX);
      test_must(set->runs[i].first > set->runs[i - 1].last + 1);
    }
  }
  test_must(mem.live_bytes == set->cap * sizeof *set->runs);
  test_must(fm.live_bytes == mem.live_bytes);
}

START_TEST(an_empty_set)
{
  twpa__runs set;
  setup(&set);
  ck_assert(!twpa__runs_contains(&set, 0));
  ck_assert(!twpa__runs_contains(&set, UINT64_MAX));
  ck_assert_uint_eq(twpa__runs_total(&set), 0);
  twpa__runs_drop_through(&set, 5);
  twpa__runs_drop_through(&set, UINT64_MAX);
  ck_assert_uint_eq(set.count, 0);
  ck_assert_uint_eq(fm.calls, 0);
  finish(&set);
}
END_TEST

START_TEST(neighbours_grow_together)
{
  twpa__runs set;
  setup(&set);
  const uint64_t order[] = {10, 12, 14, 11, 13, 9, 15};
  const size_t runs[] = {1, 2, 3, 2, 1, 1, 1};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    ck_assert_int_eq(twpa__runs_add(&set, order[i]), TWPA_OK);
    ck_assert_int_eq(twpa__runs_add(&set, order[i]), TWPA_E_EXISTS);
    ck_assert_uint_eq(set.count, runs[i]);
    ck_assert_uint_eq(twpa__runs_total(&set), i + 1);
    check_shape(&set);
  }
  ck_assert_uint_eq(set.runs[0].first, 9);
  ck_assert_uint_eq(set.runs[0].last, 15);
  finish(&set);
}
END_TEST

START_TEST(the_ends_of_the_number_range)
{
  twpa__runs set;
  setup(&set);
  ck_assert_int_eq(twpa__runs_add(&set, UINT64_MAX), TWPA_OK);
  ck_assert_int_eq(twpa__runs_add(&set, 0), TWPA_OK);
  ck_assert_uint_eq(set.count, 2);
  ck_assert_int_eq(twpa__runs_add(&set, UINT64_MAX - 1), TWPA_OK);
  ck_assert_int_eq(twpa__runs_add(&set, 1), TWPA_OK);
  ck_assert_uint_eq(set.count, 2);
  ck_assert_int_eq(twpa__runs_add(&set, UINT64_MAX), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa__runs_add(&set, 0), TWPA_E_EXISTS);
  check_shape(&set);
  ck_assert_int_eq(twpa__runs_add_range(&set, 3, 2), TWPA_E_INVAL);
  ck_assert_int_eq(twpa__runs_add_range(&set, 0, UINT64_MAX), TWPA_OK);
  ck_assert_uint_eq(set.count, 1);
  ck_assert_uint_eq(twpa__runs_total(&set), UINT64_MAX);
  twpa__runs_drop_through(&set, UINT64_MAX - 1);
  ck_assert_uint_eq(twpa__runs_total(&set), 1);
  ck_assert(twpa__runs_contains(&set, UINT64_MAX));
  twpa__runs_drop_through(&set, UINT64_MAX);
  ck_assert_uint_eq(set.count, 0);
  finish(&set);
}
END_TEST

#define SPAN 200

/* The model is a bitmap of SPAN numbers from `base` on. */
static void play(uint64_t seed, uint64_t base, unsigned refuse_percent)
{
  rng r = {seed};
  twpa__runs set;
  setup(&set);
  bool in[SPAN] = {false};
  for (int step = 0; step < 20000; step++) {
    size_t n = rng_below(&r, SPAN), to = n + rng_below(&r, SPAN - n);
    bool was_in[SPAN];
    memcpy(was_in, in, sizeof in);
    fm.failed = 0;
    fm.calls = 0;
    fm.fail_at = rng_chance(&r, refuse_percent) ? 1 : 0;
    twpa_status st = TWPA_OK, expected = TWPA_OK;
    switch (rng_below(&r, 40)) {
    case 0:
      for (size_t i = n; i <= to; i++)
        in[i] = true;
      st = twpa__runs_add_range(&set, base + n, base + to);
      break;
    case 1:
      twpa__runs_drop_through(&set, base + n);
      memset(in, 0, n + 1);
      break;
    case 2:
      twpa__runs_clear(&set);
      memset(in, 0, sizeof in);
      break;
    case 3:
      st = twpa__runs_reserve(&set, rng_below(&r, 50));
      break;
    default:
      expected = in[n] ? TWPA_E_EXISTS : TWPA_OK;
      in[n] = true;
      st = twpa__runs_add(&set, base + n);
    }
    if (fm.failed > 0) {
      expected = TWPA_E_NOMEM;
      memcpy(in, was_in, sizeof in);
    }
    test_must(st == expected);
    check_shape(&set);
    uint64_t total = 0;
    for (size_t i = 0; i < SPAN; i++) {
      test_must(twpa__runs_contains(&set, base + i) == in[i]);
      total += in[i];
    }
    test_must(twpa__runs_total(&set) == total);
  }
  finish(&set);
}

START_TEST(like_a_bitmap)
{
  uint64_t seed = test_seed(7);
  play(seed, 0, 0);
  play(seed + 1, 1000, 0);
  play(seed + 2, UINT64_MAX - SPAN + 1, 0);
}
END_TEST

START_TEST(like_a_bitmap_when_memory_is_refused)
{
  uint64_t seed = test_seed(8);
  play(seed, 0, 50);
  play(seed + 1, UINT64_MAX - SPAN + 1, 50);
}
END_TEST

/* Every second number makes a run of its own, so each add may have to grow. */
START_TEST(every_allocation_may_fail)
{
  for (int persistent = 0; persistent < 2; persistent++)
    for (size_t n = 1;; n++) {
      twpa__runs set;
      setup(&set);
      fm.fail_at = n;
      fm.persistent = persistent;
      for (uint64_t i = 0; i < 200; i++) {
        if (twpa__runs_add(&set, i * 2) == TWPA_OK)
          continue;
        ck_assert_uint_eq(twpa__runs_total(&set), i);
        ck_assert(!twpa__runs_contains(&set, i * 2));
        check_shape(&set);
        fm.fail_at = 0;
        ck_assert_int_eq(twpa__runs_add(&set, i * 2), TWPA_OK);
      }
      ck_assert_uint_eq(set.count, 200);
      size_t failed = fm.failed;
      finish(&set);
      if (failed == 0) {
        ck_assert_uint_gt(n, 3);
        break;
      }
    }
}
END_TEST

START_TEST(a_reservation_is_kept)
{
  rng r = {test_seed(9)};
  for (int round = 0; round < 200; round++) {
    twpa__runs set;
    setup(&set);
    size_t before = rng_below(&r, 20), adds = rng_below(&r, 100);
    for (uint64_t i = 0; i < before; i++)
      ck_assert_int_eq(twpa__runs_add(&set, i * 5), TWPA_OK);
    ck_assert_int_eq(twpa__runs_reserve(&set, adds), TWPA_OK);
    fm.calls = 0;
    fm.fail_at = 1;
    fm.persistent = true;
    if (rng_chance(&r, 50))
      twpa__runs_drop_through(&set, rng_below(&r, 100));
    for (uint64_t i = 0; i < adds; i++)
      ck_assert_int_eq(twpa__runs_add(&set, 1000 + i * 2), TWPA_OK);
    ck_assert_uint_eq(fm.calls, 0);
    check_shape(&set);
    finish(&set);
  }
  twpa__runs set;
  setup(&set);
  ck_assert_int_eq(twpa__runs_add(&set, 1), TWPA_OK);
  ck_assert_int_eq(twpa__runs_reserve(&set, SIZE_MAX), TWPA_E_NOMEM);
  ck_assert_int_eq(twpa__runs_reserve(&set, SIZE_MAX / 2), TWPA_E_NOMEM);
  check_shape(&set);
  finish(&set);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("runs");
  TCase *t = tcase_create("runs");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, an_empty_set);
  tcase_add_test(t, neighbours_grow_together);
  tcase_add_test(t, the_ends_of_the_number_range);
  tcase_add_test(t, like_a_bitmap);
  tcase_add_test(t, like_a_bitmap_when_memory_is_refused);
  tcase_add_test(t, every_allocation_may_fail);
  tcase_add_test(t, a_reservation_is_kept);
  suite_add_tcase(s, t);
  return run_suite(s);
}
