/* Map from number to pointer: examples, random calls against an array, memory counted and refused. */
#include "base/xidmap.h"
#include "support/faultmem.h"
#include "support/runner.h"

#include <string.h>

static void open_map(twpa__xidmap *map, twpa__mem *mem, faultmem *fm)
{
  twpa_allocator hooks = faultmem_init(fm, 0, false);
  test_must(twpa__mem_init(mem, &hooks) == TWPA_OK);
  twpa__xidmap_init(map, mem);
}

START_TEST(an_empty_map_holds_nothing)
{
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  ck_assert_ptr_null(twpa__xidmap_get(&map, 0));
  ck_assert_ptr_null(twpa__xidmap_remove(&map, 0));
  ck_assert_uint_eq(fm.calls, 0);
  twpa__xidmap_clear(&map);
  int x;
  ck_assert_int_eq(twpa__xidmap_add(&map, 0, &x), TWPA_OK);
  ck_assert_ptr_eq(twpa__xidmap_remove(&map, 0), &x);
  ck_assert_ptr_null(twpa__xidmap_get(&map, 0));
  twpa__xidmap_clear(&map);
  ck_assert_ptr_null(twpa__xidmap_get(&map, 0));
  twpa__xidmap_clear(&map);
  ck_assert_uint_eq(mem.live_bytes, 0);
  faultmem_check_empty(&fm);
}
END_TEST

START_TEST(keys_of_every_kind)
{
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  static const uint64_t keys[] = {0, 1, 3, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX, UINT64_C(1) << 63};
  enum { N = sizeof keys / sizeof *keys };
  int values[N];
  for (size_t i = 0; i < N; i++) {
    ck_assert_int_eq(twpa__xidmap_add(&map, keys[i], &values[i]), TWPA_OK);
    ck_assert_uint_eq(map.count, i + 1);
  }
  for (size_t i = 0; i < N; i++)
    ck_assert_ptr_eq(twpa__xidmap_get(&map, keys[i]), &values[i]);
  ck_assert_ptr_null(twpa__xidmap_get(&map, 2));
  twpa__xidmap_clear(&map);
  ck_assert_uint_eq(mem.live_bytes, 0);
}
END_TEST

#define KEYS 300

typedef struct model {
  uint64_t keys[KEYS]; /* in the order of insertion */
  void *values[KEYS];
  size_t n;
} model;

static size_t model_find(const model *m, uint64_t key)
{
  size_t i = 0;
  while (i < m->n && m->keys[i] != key)
    i++;
  return i;
}

static void compare(const twpa__xidmap *map, const model *m, const uint64_t *keys)
{
  test_must(map->count == m->n);
  for (size_t i = 0; i < KEYS; i++) {
    size_t at = model_find(m, keys[i]);
    test_must(twpa__xidmap_get(map, keys[i]) == (at < m->n ? m->values[at] : NULL));
  }
}

/* Multiples of a number. */
static const uint64_t *multiples(uint64_t step)
{
  static uint64_t keys[KEYS];
  for (uint64_t i = 0; i < KEYS; i++)
    keys[i] = i * step;
  return keys;
}

/* Keys that have the same group, however many groups there are. */
static void same_group(uint64_t *keys, size_t n)
{
  twpa__xidmap_group groups[1];
  const twpa__xidmap wide = {.groups = groups, .ngroups = (size_t)1 << 16};
  size_t found = 0;
  for (uint64_t key = 1; found < n; key += TWPA__XIDMAP_WAYS)
    if (twpa__xidmap_group_of(&wide, key) == groups)
      keys[found++] = key;
}

/*
 * Random calls, the number of entries swinging between none and all; memory is refused with the given chance. A call
 * that fails for lack of memory must leave everything as it was.
 */
static void play(uint64_t seed, unsigned refuse_percent, const uint64_t *keys, size_t *refused)
{
  rng r = {seed};
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  static model m;
  m.n = 0;
  static char pool[64];
  bool growing = true;
  for (int step = 0; step < 6000; step++) {
    if (m.n == 0 || m.n == KEYS || rng_below(&r, 400) == 0)
      growing = m.n == 0 || (m.n < KEYS && !growing);
    uint64_t key = keys[rng_below(&r, KEYS)];
    size_t at = model_find(&m, key);
    fm.calls = 0;
    fm.fail_at = rng_chance(&r, refuse_percent) ? 1 + rng_below(&r, 4) : 0;
    fm.persistent = rng_chance(&r, 50);
    if (rng_chance(&r, growing ? 75 : 25)) {
      if (at < m.n)
        continue;
      size_t before = mem.live_bytes, failed = fm.failed, ngroups = map.ngroups;
      void *value = &pool[rng_below(&r, sizeof pool)];
      twpa_status st = twpa__xidmap_add(&map, key, value);
      if (st != TWPA_OK) {
        test_must(st == TWPA_E_NOMEM && fm.failed != failed);
        test_must(mem.live_bytes == before || map.ngroups > ngroups);
        (*refused)++;
      } else {
        m.keys[m.n] = key;
        m.values[m.n++] = value;
      }
    } else {
      test_must(twpa__xidmap_remove(&map, key) == (at < m.n ? m.values[at] : NULL));
      if (at < m.n) {
        m.n--;
        memmove(m.keys + at, m.keys + at + 1, (m.n - at) * sizeof *m.keys);
        memmove(m.values + at, m.values + at + 1, (m.n - at) * sizeof *m.values);
      }
    }
    test_must(mem.live_bytes == fm.live_bytes);
    if (step % 16 == 0 || fm.fail_at != 0)
      compare(&map, &m, keys);
  }
  compare(&map, &m, keys);
  twpa__xidmap_clear(&map);
  test_must(mem.live_bytes == 0);
  faultmem_check_empty(&fm);
}

START_TEST(like_an_array)
{
  uint64_t seed = test_seed(5);
  size_t refused = 0;
  static const uint64_t steps[] = {1, UINT64_C(1) << 20, UINT64_C(1) << 33, UINT64_C(61) << 55};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    play(seed + i, 0, multiples(steps[i]), &refused);
  ck_assert_uint_eq(refused, 0);
}
END_TEST

START_TEST(like_an_array_when_memory_is_refused)
{
  uint64_t seed = test_seed(6);
  size_t refused = 0;
  play(seed, 40, multiples(1), &refused);
  static uint64_t keys[KEYS];
  same_group(keys, KEYS);
  play(seed + 1, 40, keys, &refused);
  ck_assert_uint_gt(refused, 100);
}
END_TEST

/* Bad luck or bad will: the rest holds what the groups have no place for, and tells nobody of the difference. */
START_TEST(keys_of_one_group_are_found)
{
  enum { N = 600 }; /* more than a counter of one byte can count */
  static uint64_t keys[N + 1];
  same_group(keys, N + 1);
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  static int values[N];
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < N; i++)
      test_must(twpa__xidmap_add(&map, keys[i], &values[i]) == TWPA_OK);
    test_must(map.count == N && map.nrest >= N - TWPA__XIDMAP_WAYS);
    for (size_t i = 0; i < N; i++)
      test_must(twpa__xidmap_get(&map, keys[i]) == &values[i]);
    test_must(twpa__xidmap_get(&map, keys[N]) == NULL);
    for (size_t i = 0; i < N; i++) { /* in an order that leaves gaps in the group and among the rest */
      size_t at = i * 7 % N;
      test_must(twpa__xidmap_remove(&map, keys[at]) == &values[at]);
      test_must(twpa__xidmap_get(&map, keys[at]) == NULL);
      test_must(twpa__xidmap_remove(&map, keys[at]) == NULL);
    }
    test_must(map.count == 0 && map.nrest == 0);
  }
  twpa__xidmap_clear(&map);
  faultmem_check_empty(&fm);
}
END_TEST

START_TEST(growing_takes_the_rest_back)
{
  enum { N = 4000 };
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  static int values[N];
  for (uint64_t i = 0; i < N; i++) { /* one that may not grow, for lack of memory, but may hold what comes */
    fm.calls = 0;
    fm.fail_at = i < 9 ? 0 : 1;
    test_must(twpa__xidmap_add(&map, i, &values[i]) == TWPA_OK);
  }
  size_t small = map.ngroups;
  test_must(map.nrest > N / 2);
  fm.fail_at = 0;
  while (map.ngroups < N) {
    size_t before = map.ngroups;
    test_must(twpa__xidmap_add(&map, N, &values[0]) == TWPA_OK);
    test_must(twpa__xidmap_remove(&map, N) == &values[0]);
    if (map.ngroups == before)
      break;
  }
  test_must(map.ngroups > small && map.nrest == 0);
  for (uint64_t i = 0; i < N; i++)
    test_must(twpa__xidmap_get(&map, i) == &values[i]);
  twpa__xidmap_clear(&map);
  faultmem_check_empty(&fm);
}
END_TEST

/* Grows through several sizes of the table, with every allocation failing in turn; a call that fails is repeated. */
START_TEST(every_allocation_may_fail)
{
  enum { N = 2000 };
  static int values[N];
  static uint64_t keys[N];
  size_t refused = 0;
  for (size_t i = 0; i < N; i++)
    keys[i] = i % 2 == 0 ? i << 20 : i;
  same_group(keys, 30);
  for (int persistent = 0; persistent < 2; persistent++) {
    for (size_t n = 1;; n++) {
      faultmem fm;
      twpa_allocator hooks = faultmem_init(&fm, n, persistent);
      twpa__mem mem;
      test_must(twpa__mem_init(&mem, &hooks) == TWPA_OK);
      twpa__xidmap map;
      twpa__xidmap_init(&map, &mem);
      for (size_t i = 0; i < N; i++) {
        if (twpa__xidmap_get(&map, keys[i]) != NULL)
          continue;
        size_t live = fm.live_bytes, count = map.count, ngroups = map.ngroups;
        twpa_status st = twpa__xidmap_add(&map, keys[i], &values[i]);
        if (st == TWPA_OK)
          continue;
        test_must(st == TWPA_E_NOMEM && fm.failed > 0);
        test_must(fm.live_bytes == live || map.ngroups > ngroups);
        test_must(map.count == count && twpa__xidmap_get(&map, keys[i]) == NULL);
        fm.fail_at = 0;
        refused++;
        test_must(twpa__xidmap_add(&map, keys[i], &values[i]) == TWPA_OK);
      }
      for (size_t i = 0; i < N; i++) {
        const int *value = twpa__xidmap_get(&map, keys[i]);
        test_must(value != NULL && keys[value - values] == keys[i]);
      }
      twpa__xidmap_clear(&map);
      faultmem_check_empty(&fm);
      if (fm.failed == 0)
        break;
    }
  }
  test_must(refused > 20);
}
END_TEST

START_TEST(half_of_the_places_are_free_at_least)
{
  enum { N = 20000 };
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  int x;
  for (uint64_t i = 0; i < N; i++) {
    test_must(twpa__xidmap_add(&map, i * 37, &x) == TWPA_OK);
    test_must(map.ngroups * (TWPA__XIDMAP_WAYS / 2) >= map.count);
    test_must(map.ngroups <= 4 || map.ngroups <= 2 * map.count);
  }
  ck_assert_uint_lt(map.nrest, N / 20);
  twpa__xidmap_clear(&map);
  ck_assert_uint_eq(mem.live_bytes, 0);
}
END_TEST

START_TEST(a_map_that_is_empty_every_other_moment_allocates_nothing)
{
  faultmem fm;
  twpa__mem mem;
  twpa__xidmap map;
  open_map(&map, &mem, &fm);
  int x;
  ck_assert_int_eq(twpa__xidmap_add(&map, 1, &x), TWPA_OK);
  size_t calls = fm.calls;
  for (uint64_t i = 0; i < 1000; i++) {
    ck_assert_ptr_eq(twpa__xidmap_remove(&map, i + 1), &x);
    ck_assert_uint_eq(map.count, 0);
    ck_assert_int_eq(twpa__xidmap_add(&map, i + 2, &x), TWPA_OK);
  }
  ck_assert_uint_eq(fm.calls, calls);
  twpa__xidmap_clear(&map);
  faultmem_check_empty(&fm);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("xidmap");
  TCase *t = tcase_create("xidmap");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, an_empty_map_holds_nothing);
  tcase_add_test(t, keys_of_every_kind);
  tcase_add_test(t, like_an_array);
  tcase_add_test(t, like_an_array_when_memory_is_refused);
  tcase_add_test(t, every_allocation_may_fail);
  tcase_add_test(t, keys_of_one_group_are_found);
  tcase_add_test(t, growing_takes_the_rest_back);
  tcase_add_test(t, half_of_the_places_are_free_at_least);
  tcase_add_test(t, a_map_that_is_empty_every_other_moment_allocates_nothing);
  suite_add_tcase(s, t);
  return run_suite(s);
}
