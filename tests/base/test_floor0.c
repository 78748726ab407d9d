/* Floor 0: transaction ids, statuses, version, allocator, sized structs. */
#include "base/alloc.h"
#include "base/pages.h"
#include "base/sized.h"
#include "support/faultmem.h"
#include "support/runner.h"

#include <stdlib.h>
#include <string.h>
#include <twpa/twpa.h>

#define E32 (UINT64_C(1) << 32)

START_TEST(widen_special_ids_stay)
{
  const twpa_xid nears[] = {0, 3, E32 - 1, E32, 5 * E32 + 7, UINT64_MAX};
  for (size_t i = 0; i < sizeof nears / sizeof *nears; i++)
    for (uint32_t x = 0; x < 3; x++)
      ck_assert_uint_eq(twpa_xid_widen(x, nears[i]), x);
}
END_TEST

/* The definition, by search: of near - 2^31 .. near + 2^31 - 1 the id with these low bits. */
START_TEST(widen_is_the_closest_id)
{
  const uint32_t low[] = {3, 4, 5, 0x7FFFFFFD, 0x7FFFFFFF, 0x80000000, 0x80000001, 0x80000003, 0xFFFFFFFD, 0xFFFFFFFF};
  const twpa_xid around[] = {3, E32 / 2, E32, E32 + E32 / 2, 7 * E32, 7 * E32 + E32 / 2};
  for (size_t a = 0; a < sizeof around / sizeof *around; a++)
    for (int64_t d = -300; d <= 300; d++) {
      twpa_xid near = around[a] + (uint64_t)d;
      if (near < 3 || near > 100 * E32)
        continue;
      for (size_t i = 0; i < sizeof low / sizeof *low; i++)
        for (int64_t e = -3; e <= 3; e++) {
          uint32_t x = low[i] + (uint32_t)e;
          if (x < 3)
            continue;
          twpa_xid wide = twpa_xid_widen(x, near);
          test_must((uint32_t)wide == x);
          test_must(wide >= 3);
          if (wide < near) {
            test_must(near - wide <= E32 / 2);
          } else if (wide - near >= E32 / 2) {
            /* The closer one would lie before the beginning. */
            test_must(wide < E32);
          }
        }
    }
}
END_TEST

START_TEST(widen_borders)
{
  ck_assert_uint_eq(twpa_xid_widen(3, 3), 3);
  ck_assert_uint_eq(twpa_xid_widen(3, 0), 3);
  ck_assert_uint_eq(twpa_xid_widen(0xFFFFFFFF, 3), 0xFFFFFFFF);          /* nothing before the beginning */
  ck_assert_uint_eq(twpa_xid_widen(0xFFFFFFFF, E32 + 3), 0xFFFFFFFF);    /* just behind the border */
  ck_assert_uint_eq(twpa_xid_widen(3, E32 - 1), E32 + 3);                /* just ahead of it */
  ck_assert_uint_eq(twpa_xid_widen(0x80000003, E32 + 3), UINT64_C(0x80000003)); /* 2^31 apart: the lower */
  ck_assert_uint_eq(twpa_xid_widen(0x80000002, E32 + 3), E32 + 0x80000002);
  ck_assert_uint_eq(twpa_xid_widen(5, UINT64_MAX - 1), UINT64_MAX - UINT32_MAX + 5); /* no wrap at the end */
}
END_TEST

/* The numbers are ABI. */
START_TEST(status_values_are_pinned)
{
  static const struct {
    int value;
    const char *name;
  } pinned[] = {{0, "TWPA_OK"}, {1, "TWPA_NONE"}, {-1, "TWPA_E_NOMEM"}, {-2, "TWPA_E_INVAL"}, {-3, "TWPA_E_STATE"},
                {-4, "TWPA_E_NOTFOUND"}, {-5, "TWPA_E_EXISTS"}, {-6, "TWPA_E_LIMIT"}, {-7, "TWPA_E_CALLBACK"},
                {-8, "TWPA_E_UNSUPPORTED"}, {-9, "TWPA_E_REENTRANT"}, {-10, "TWPA_E_CORRUPT"}};
  for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
    ck_assert_str_eq(twpa_status_name(pinned[i].value), pinned[i].name);
    ck_assert_str_ne(twpa_status_text(pinned[i].value), "unknown status");
  }
  ck_assert_str_eq(twpa_status_name(-11), "TWPA_E_UNKNOWN");
  ck_assert_str_eq(twpa_status_name(2), "TWPA_E_UNKNOWN");
  ck_assert_str_eq(twpa_status_text(12345), "unknown status");
}
END_TEST

START_TEST(version_is_that_of_the_headers)
{
  ck_assert_int_eq(twpa_version_number(), TWPA_VERSION_NUMBER);
  ck_assert_str_eq(twpa_version(), TWPA_VERSION_STRING);
}
END_TEST

START_TEST(memory_is_counted)
{
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  unsigned char *a = twpa__zalloc(&mem, 10);
  for (int i = 0; i < 10; i++)
    ck_assert_uint_eq(a[i], 0);
  a[9] = 7;
  a = twpa__resize(&mem, a, 10, 100);
  ck_assert_uint_eq(a[9], 7);
  void *b = twpa__resize(&mem, NULL, 0, 5);
  ck_assert_uint_eq(mem.live_bytes, 105);
  ck_assert_uint_eq(fm.live_bytes, 105);
  twpa__release(&mem, b, 5);
  twpa__release(&mem, a, 100);
  twpa__release(&mem, NULL, 0);
  ck_assert_uint_eq(mem.live_bytes, 0);
  faultmem_check_empty(&fm);
}
END_TEST

START_TEST(memory_that_is_refused_changes_nothing)
{
  faultmem fm;
  twpa_allocator hooks = faultmem_init(&fm, 2, true);
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  void *items = NULL;
  size_t cap = 0;
  ck_assert_int_eq(twpa__array_reserve(&mem, &items, &cap, 3, 4), TWPA_OK);
  ck_assert_uint_ge(cap, 3);
  size_t before = cap;
  void *old = items;
  ck_assert_int_eq(twpa__array_reserve(&mem, &items, &cap, 1000, 4), TWPA_E_NOMEM);
  ck_assert_int_eq(twpa__array_reserve(&mem, &items, &cap, SIZE_MAX / 2, 4), TWPA_E_NOMEM);
  ck_assert_ptr_eq(items, old);
  ck_assert_uint_eq(cap, before);
  ck_assert_ptr_null(twpa__alloc(&mem, 1));
  ck_assert_ptr_null(twpa__zalloc(&mem, 1));
  ck_assert_uint_eq(mem.live_bytes, cap * 4);
  twpa__release(&mem, items, cap * 4);
  faultmem_check_empty(&fm);
}
END_TEST

START_TEST(hooks_must_be_complete)
{
  faultmem fm;
  twpa__mem mem;
  for (int i = 0; i < 3; i++) {
    twpa_allocator hooks = faultmem_init(&fm, 0, false);
    if (i == 0)
      hooks.alloc = NULL;
    else if (i == 1)
      hooks.resize = NULL;
    else
      hooks.release = NULL;
    ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_E_INVAL);
  }
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  void *p = twpa__alloc(&mem, 3);
  p = twpa__resize(&mem, p, 3, 300);
  ck_assert_ptr_nonnull(p);
  twpa__release(&mem, p, 300);
}
END_TEST

/* Every 61st byte: enough to meet each page and each border. */
static void fill(unsigned char *p, size_t from, size_t to)
{
  for (size_t i = (from + 60) / 61 * 61; i < to; i += 61)
    p[i] = (unsigned char)(i * 31 + (i >> 8));
}

static void check_filled(const unsigned char *p, size_t to)
{
  size_t bad = 0;
  for (size_t i = 0; i < to; i += 61)
    bad += p[i] != (unsigned char)(i * 31 + (i >> 8));
  ck_assert_uint_eq(bad, 0);
}

/* Across the border between malloc and pages of the system, up and down, odd sizes and whole pages. */
START_TEST(large_blocks_keep_their_bytes)
{
  static const size_t sizes[] = {1,
                                 TWPA__PAGES_MIN - 1,
                                 TWPA__PAGES_MIN,
                                 TWPA__PAGES_MIN + 1,
                                 3 * TWPA__PAGES_MIN + TWPA__PAGES_UNIT,
                                 TWPA__PAGES_MIN + TWPA__PAGES_UNIT - 1,
                                 100};
  const size_t n = sizeof sizes / sizeof *sizes;
  twpa__mem mem;
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  for (size_t i = 0; i < n; i++) {
    unsigned char *p = twpa__alloc(&mem, sizes[i]);
    ck_assert_ptr_nonnull(p);
    fill(p, 0, sizes[i]);
    for (size_t k = 0, old = sizes[i]; k < n; k++) {
      p = twpa__resize(&mem, p, old, sizes[k]);
      ck_assert_ptr_nonnull(p);
      ck_assert_uint_eq(mem.live_bytes, sizes[k]);
      check_filled(p, old < sizes[k] ? old : sizes[k]);
      fill(p, old < sizes[k] ? old : sizes[k], sizes[k]);
      old = sizes[k];
    }
    twpa__release(&mem, p, sizes[n - 1]);
    ck_assert_uint_eq(mem.live_bytes, 0);
  }
}
END_TEST

START_TEST(large_blocks_are_zeroed_and_aligned)
{
  twpa__mem mem;
  void *blocks[8];
  size_t size = TWPA__PAGES_MIN + 64;
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 8; i++) {
      unsigned char *p = blocks[i] = twpa__zalloc(&mem, size);
      ck_assert_ptr_nonnull(p);
      size_t bad = 0;
      for (size_t k = 0; k < size; k++)
        bad += p[k] != 0;
      ck_assert_uint_eq(bad, 0);
      if (twpa__pages_are_for(size))
        ck_assert_uint_eq((uintptr_t)p % TWPA__PAGES_MIN, 0);
      memset(p, 0xEE, size);
    }
    for (int i = 0; i < 8; i++)
      twpa__release(&mem, blocks[i], size);
  }
}
END_TEST

/* No system has this much; nothing is lost by asking. (A sanitizer's malloc ends the program instead.) */
START_TEST(large_blocks_can_be_refused)
{
  twpa__mem mem;
  if (!twpa__pages_are_for(SIZE_MAX))
    return;
  ck_assert_int_eq(twpa__mem_init(&mem, NULL), TWPA_OK);
  unsigned char *p = twpa__alloc(&mem, TWPA__PAGES_MIN);
  fill(p, 0, TWPA__PAGES_MIN);
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2 + 2, SIZE_MAX / 2, SIZE_MAX / 4 * 3};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    ck_assert_ptr_null(twpa__alloc(&mem, sizes[i]));
    ck_assert_ptr_null(twpa__zalloc(&mem, sizes[i]));
    ck_assert_ptr_null(twpa__resize(&mem, p, TWPA__PAGES_MIN, sizes[i]));
  }
  check_filled(p, TWPA__PAGES_MIN);
  ck_assert_uint_eq(mem.live_bytes, TWPA__PAGES_MIN);
  twpa__release(&mem, p, TWPA__PAGES_MIN);
}
END_TEST

START_TEST(array_sizes_do_not_wrap)
{
  size_t out;
  ck_assert(twpa__array_size(&out, 3, 5));
  ck_assert_uint_eq(out, 15);
  ck_assert(twpa__array_size(&out, SIZE_MAX, 1));
  ck_assert(twpa__array_size(&out, 0, SIZE_MAX));
  ck_assert(!twpa__array_size(&out, SIZE_MAX / 2 + 1, 2));
}
END_TEST

START_TEST(sums_of_sizes_do_not_wrap)
{
  ck_assert_uint_eq(twpa__size_add(3, 5), 8);
  ck_assert_uint_eq(twpa__size_add(SIZE_MAX - 5, 5), SIZE_MAX);
  ck_assert_uint_eq(twpa__size_add(SIZE_MAX - 5, 6), SIZE_MAX);
  ck_assert_uint_eq(twpa__size_add(6, SIZE_MAX - 5), SIZE_MAX);
  ck_assert_uint_eq(twpa__size_add(SIZE_MAX, SIZE_MAX), SIZE_MAX);
}
END_TEST

typedef struct v1 {
  size_t struct_size;
  uint64_t a;
} v1;
typedef struct v2 {
  size_t struct_size;
  uint64_t a;
  uint64_t b;
} v2;

/* The caller's struct lies on the heap with exactly its size, so that a sanitizer sees any read beyond it. */
START_TEST(an_older_caller_is_understood)
{
  v1 *old = malloc(sizeof *old);
  *old = (v1){sizeof *old, 11};
  v2 own;
  ck_assert_int_eq(twpa__read_sized(&own, sizeof own, old, sizeof(v1)), TWPA_OK);
  ck_assert_uint_eq(own.a, 11);
  ck_assert_uint_eq(own.b, 0);
  ck_assert_uint_eq(own.struct_size, sizeof own);
  v2 stats = {sizeof stats, 21, 22};
  ck_assert_int_eq(twpa__write_sized(old, &stats, sizeof stats, sizeof(v1)), TWPA_OK);
  ck_assert_uint_eq(old->a, 21);
  ck_assert_uint_eq(old->struct_size, sizeof *old);
  free(old);
}
END_TEST

START_TEST(a_newer_caller_is_understood_or_refused)
{
  v2 newer = {sizeof newer, 11, 0};
  v1 own;
  ck_assert_int_eq(twpa__read_sized(&own, sizeof own, &newer, sizeof(v1)), TWPA_OK);
  ck_assert_uint_eq(own.a, 11);
  newer.b = 1;
  own.a = 5;
  ck_assert_int_eq(twpa__read_sized(&own, sizeof own, &newer, sizeof(v1)), TWPA_E_UNSUPPORTED);
  ck_assert_uint_eq(own.a, 5);
  v1 stats = {sizeof stats, 31};
  newer.b = 9;
  ck_assert_int_eq(twpa__write_sized(&newer, &stats, sizeof stats, sizeof(v1)), TWPA_OK);
  ck_assert_uint_eq(newer.a, 31);
  ck_assert_uint_eq(newer.b, 0);
}
END_TEST

START_TEST(a_senseless_size_is_refused)
{
  v2 own;
  v2 garbage = {0, 0, 0};
  const size_t sizes[] = {0, 1, sizeof(v1) - 1, TWPA__SIZED_MAX + 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    garbage.struct_size = sizes[i];
    ck_assert_int_eq(twpa__read_sized(&own, sizeof own, &garbage, sizeof(v1)), TWPA_E_INVAL);
    ck_assert_int_eq(twpa__write_sized(&garbage, &own, sizeof own, sizeof(v1)), TWPA_E_INVAL);
  }
  ck_assert_int_eq(twpa__read_sized(&own, sizeof own, NULL, sizeof(v1)), TWPA_OK);
  ck_assert_uint_eq(own.struct_size, sizeof own);
  ck_assert_uint_eq(own.a, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("floor 0");
  TCase *t = tcase_create("types");
  tcase_add_test(t, widen_special_ids_stay);
  tcase_add_test(t, widen_is_the_closest_id);
  tcase_add_test(t, widen_borders);
  tcase_add_test(t, status_values_are_pinned);
  tcase_add_test(t, version_is_that_of_the_headers);
  suite_add_tcase(s, t);
  t = tcase_create("memory");
  tcase_add_test(t, memory_is_counted);
  tcase_add_test(t, memory_that_is_refused_changes_nothing);
  tcase_add_test(t, large_blocks_keep_their_bytes);
  tcase_add_test(t, large_blocks_are_zeroed_and_aligned);
  tcase_add_test(t, large_blocks_can_be_refused);
  tcase_add_test(t, hooks_must_be_complete);
  tcase_add_test(t, array_sizes_do_not_wrap);
  tcase_add_test(t, sums_of_sizes_do_not_wrap);
  suite_add_tcase(s, t);
  t = tcase_create("sized structs");
  tcase_add_test(t, an_older_caller_is_understood);
  tcase_add_test(t, a_newer_caller_is_understood_or_refused);
  tcase_add_test(t, a_senseless_size_is_refused);
  suite_add_tcase(s, t);
  return run_suite(s);
}
