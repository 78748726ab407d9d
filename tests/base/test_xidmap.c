/* Map from number to pointer: examples, random calls against an array, memory counted and refused. */
#include "base/xidmap.h"
#include "support/faultmem.h"
#include "support/runner.h"

#include <string.h>

/* What the map gives, in the order of insertion. */
static size_t walk(const twpa__xidmap *map, uint64_t *keys, size_t cap)
{
  size_t n = 0;
  void *it = NULL;
  uint64_t key;
  const void *value;
  while ((value = twpa__xidmap_next(map, &it, &key)) != NULL) {
    test_must(n < cap);
    test_must(twpa__xidmap_get(map, key) == value);
    keys[n++] = key;
  }
  test_must(twpa__xidmap_next(map, &it, &key) == NULL);
  return n;
}

START_TEST(an_empty_map_holds_nothing)
{
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  ck_assert_ptr_null(twpa__xidmap_get(&map, 0));
  ck_assert_ptr_null(twpa__xidmap_remove(&map, 0));
  uint64_t keys[1];
  ck_assert_uint_eq(walk(&map, keys, 1), 0);
  ck_assert_uint_eq(fm.calls, 0);
  twpa__xidmap_clear(&map);
  int x;
  ck_assert_int_eq(twpa__xidmap_add(&map, 0, &x), TWPA_OK);
  ck_assert_ptr_eq(twpa__xidmap_remove(&map, 0), &x);
  ck_assert_uint_eq(walk(&map, keys, 1), 0);
  twpa__xidmap_clear(&map);
  ck_assert_ptr_null(twpa__xidmap_get(&map, 0));
  twpa__xidmap_clear(&map);
  ck_assert_uint_eq(mem.live_bytes, 0);
  faultmem_check_empty(&fm);
}
END_TEST

START_TEST(keys_of_every_kind)
{
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
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
  uint64_t seen[N];
  ck_assert_uint_eq(walk(&map, seen, N), N);
  ck_assert_mem_eq(seen, keys, sizeof keys);
  void *it = NULL;
  for (size_t i = 0; i < N; i++)
    ck_assert_ptr_eq(twpa__xidmap_next(&map, &it, NULL), &values[i]);
  twpa__xidmap_clear(&map);
  ck_assert_uint_eq(mem.live_bytes, 0);
}
END_TEST

START_TEST(the_entry_just_given_may_be_removed)
{
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  int values[100];
  for (uint64_t i = 0; i < 100; i++)
    ck_assert_int_eq(twpa__xidmap_add(&map, i * 7, &values[i]), TWPA_OK);
  void *it = NULL;
  uint64_t key, n = 0;
  const void *value;
  while ((value = twpa__xidmap_next(&map, &it, &key)) != NULL) {
    ck_assert_uint_eq(key, n * 7);
    if (n % 3 != 1)
      ck_assert_ptr_eq(twpa__xidmap_remove(&map, key), value);
    n++;
  }
  ck_assert_uint_eq(n, 100);
  ck_assert_uint_eq(map.count, 33);
  uint64_t keys[33];
  ck_assert_uint_eq(walk(&map, keys, 33), 33);
  for (uint64_t i = 0; i < 33; i++)
    ck_assert_uint_eq(keys[i], (i * 3 + 1) * 7);
  twpa__xidmap_clear(&map);
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

static void compare(twpa__xidmap *map, const model *m)
{
  uint64_t keys[KEYS];
  test_must(map->count == m->n);
  test_must(walk(map, keys, KEYS) == m->n);
  for (size_t i = 0; i < m->n; i++) {
    test_must(keys[i] == m->keys[i]);
    test_must(twpa__xidmap_get(map, keys[i]) == m->values[i]);
    test_must(twpa__xidmap_find(map, keys[i]) == m->values[i]);
  }
}

/*
 * Random calls, the number of entries swinging between none and all; memory is refused with the given chance. A call
 * that fails for lack of memory must leave everything as it was.
 */
static void play(uint64_t seed, unsigned refuse_percent, uint64_t key_step)
{
  rng r = {seed};
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  test_must(twpa__mem_init(&mem, &hooks) == TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  static model m;
  m.n = 0;
  static char pool[64];
  bool growing = true;
  for (int step = 0; step < 6000; step++) {
    if (m.n == 0 || m.n == KEYS || rng_below(&r, 400) == 0)
      growing = m.n == 0 || (m.n < KEYS && !growing);
    uint64_t key = rng_below(&r, KEYS) * key_step;
    size_t at = model_find(&m, key);
    fm.calls = 0;
    fm.fail_at = rng_chance(&r, refuse_percent) ? 1 + rng_below(&r, 4) : 0;
    fm.persistent = rng_chance(&r, 50);
    if (rng_chance(&r, growing ? 75 : 25)) {
      if (at < m.n)
        continue;
      size_t before = mem.live_bytes, failed = fm.failed;
      void *value = &pool[rng_below(&r, sizeof pool)];
      twpa_status st = twpa__xidmap_add(&map, key, value);
      if (fm.failed != failed) {
        test_must(st == TWPA_E_NOMEM);
        test_must(mem.live_bytes == before);
      } else {
        test_must(st == TWPA_OK);
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
      compare(&map, &m);
  }
  compare(&map, &m);
  twpa__xidmap_clear(&map);
  test_must(mem.live_bytes == 0);
  faultmem_check_empty(&fm);
}

START_TEST(like_an_array)
{
  uint64_t seed = test_seed(5);
  play(seed, 0, 1);
  play(seed + 1, 0, UINT64_C(1) << 20);
  play(seed + 2, 0, UINT64_C(1) << 33);
}
END_TEST

START_TEST(like_an_array_when_memory_is_refused)
{
  uint64_t seed = test_seed(6);
  play(seed, 40, 1);
  play(seed + 1, 40, UINT64_C(1) << 40);
}
END_TEST

/* Grows through several sizes of the table, with every allocation failing in turn; the failed call is repeated. */
START_TEST(every_allocation_may_fail)
{
  enum { N = 2000 };
  static int values[N];
  static uint64_t keys[N];
  for (int persistent = 0; persistent < 2; persistent++) {
    size_t n, refused = 0;
    for (n = 1;; n += n < 20 ? 1 : 97) {
      faultmem fm;
      twpa_allocator hooks = faultmem_init(&fm, n, persistent);
      twpa__mem mem;
      test_must(twpa__mem_init(&mem, &hooks) == TWPA_OK);
      twpa__xidmap map;
      twpa__xidmap_init(&map, &mem);
      for (uint64_t i = 0; i < N; i++) {
        size_t live = fm.live_bytes;
        twpa_status st = twpa__xidmap_add(&map, i << 20, &values[i]);
        if (st == TWPA_OK)
          continue;
        test_must(st == TWPA_E_NOMEM);
        test_must(fm.live_bytes == live);
        test_must(map.count == i);
        test_must(twpa__xidmap_get(&map, i << 20) == NULL);
        fm.fail_at = 0;
        refused++;
        test_must(twpa__xidmap_add(&map, i << 20, &values[i]) == TWPA_OK);
      }
      test_must(fm.failed == (n <= fm.calls - fm.failed ? 1 : 0));
      test_must(walk(&map, keys, N) == N);
      for (uint64_t i = 0; i < N; i++) {
        test_must(keys[i] == i << 20);
        test_must(twpa__xidmap_get(&map, i << 20) == &values[i]);
      }
      twpa__xidmap_clear(&map);
      faultmem_check_empty(&fm);
      if (fm.failed == 0)
        break;
    }
    test_must(refused > 20);
  }
}
END_TEST

/* The bucket arrays are the rare allocations: fail only those. Half of the entries are recycled ones. */
START_TEST(growing_the_table_may_fail)
{
  enum { N = 60000 };
  static int values[N];
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  test_must(twpa__mem_init(&mem, &hooks) == TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  size_t failures[2] = {0, 0};
  test_must(twpa__xidmap_add(&map, N, &values[0]) == TWPA_OK);
  for (uint64_t i = 0; i < N; i++) {
    bool recycled = (i / 3) % 2 == 0;
    if (recycled)
      test_must(twpa__xidmap_remove(&map, i == 0 ? N : i - 1) != NULL);
    size_t live = fm.live_bytes;
    fm.calls = 0;
    fm.fail_at = recycled ? 1 : 2;
    twpa_status st = twpa__xidmap_add(&map, i, &values[i]);
    fm.fail_at = 0;
    if (st != TWPA_OK) {
      failures[recycled]++;
      test_must(st == TWPA_E_NOMEM);
      test_must(fm.live_bytes == live);
      test_must(twpa__xidmap_add(&map, i, &values[i]) == TWPA_OK);
    }
    if (recycled && i > 0)
      test_must(twpa__xidmap_add(&map, i - 1, &values[i - 1]) == TWPA_OK);
  }
  test_must(failures[0] > 2);
  test_must(failures[1] > 2);
  for (uint64_t i = 0; i < N; i++)
    test_must(twpa__xidmap_get(&map, i) == &values[i]);
  twpa__xidmap_clear(&map);
  faultmem_check_empty(&fm);
}
END_TEST

/* Keys with the same low bits share a place: whoever was found last has it, and leaves it empty when he goes. */
START_TEST(keys_that_share_a_place_are_found)
{
  enum { N = 20 };
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  ck_assert_ptr_null(twpa__xidmap_find(&map, 0));
  int values[N];
  for (uint64_t i = 0; i < N; i++)
    ck_assert_int_eq(twpa__xidmap_add(&map, i << 32, &values[i]), TWPA_OK);
  for (int round = 0; round < 2; round++)
    for (uint64_t i = 0; i < N; i++)
      ck_assert_ptr_eq(twpa__xidmap_find(&map, i << 32), &values[i]);
  ck_assert_ptr_null(twpa__xidmap_find(&map, (uint64_t)N << 32));
  for (uint64_t i = 0; i < N; i++) {
    ck_assert_ptr_eq(twpa__xidmap_find(&map, i << 32), &values[i]);
    ck_assert_ptr_eq(twpa__xidmap_remove(&map, i << 32), &values[i]);
    ck_assert_ptr_null(twpa__xidmap_find(&map, i << 32));
  }
  ck_assert_uint_gt(map.near_size, N);
  twpa__xidmap_clear(&map);
  ck_assert_uint_eq(mem.live_bytes, 0);
}
END_TEST

START_TEST(looking_up_needs_no_memory)
{
  enum { N = 1000 };
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  static int values[N];
  for (uint64_t i = 0; i < N; i++)
    ck_assert_int_eq(twpa__xidmap_add(&map, i, &values[i]), TWPA_OK);
  fm.calls = 0;
  fm.fail_at = 1;
  fm.persistent = true;
  for (uint64_t i = 0; i < N; i++)
    ck_assert_ptr_eq(twpa__xidmap_find(&map, i), &values[i]);
  ck_assert_uint_eq(map.near_size, 0);
  fm.fail_at = 0;
  for (int round = 0; round < 10; round++)
    for (uint64_t i = 0; i < N; i++)
      ck_assert_ptr_eq(twpa__xidmap_find(&map, i), &values[i]);
  ck_assert_uint_ge(map.near_size, 2 * N);
  ck_assert_uint_lt(map.near_size, 8 * N);
  size_t calls = fm.calls;
  for (uint64_t i = 0; i < N; i++)
    ck_assert_ptr_eq(twpa__xidmap_find(&map, i), &values[i]);
  ck_assert_uint_eq(fm.calls, calls);
  twpa__xidmap_clear(&map);
  faultmem_check_empty(&fm);
}
END_TEST

START_TEST(a_map_that_is_empty_every_other_moment_allocates_nothing)
{
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
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

START_TEST(a_peak_is_given_back)
{
  enum { N = 10000 };
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  test_must(twpa__mem_init(&mem, &hooks) == TWPA_OK);
  twpa__xidmap map;
  twpa__xidmap_init(&map, &mem);
  int x;
  for (uint64_t i = 0; i < N; i++)
    test_must(twpa__xidmap_add(&map, i, &x) == TWPA_OK);
  test_must(fm.live_blocks > N);
  for (uint64_t i = 0; i < N; i++) {
    test_must(twpa__xidmap_remove(&map, i) == &x);
    test_must(map.spares <= map.count + 32);
  }
  test_must(fm.live_blocks < 40);
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
  tcase_add_test(t, keys_that_share_a_place_are_found);
  tcase_add_test(t, looking_up_needs_no_memory);
  tcase_add_test(t, the_entry_just_given_may_be_removed);
  tcase_add_test(t, like_an_array);
  tcase_add_test(t, like_an_array_when_memory_is_refused);
  tcase_add_test(t, every_allocation_may_fail);
  tcase_add_test(t, growing_the_table_may_fail);
  tcase_add_test(t, a_map_that_is_empty_every_other_moment_allocates_nothing);
  tcase_add_test(t, a_peak_is_given_back);
  suite_add_tcase(s, t);
  return run_suite(s);
}
