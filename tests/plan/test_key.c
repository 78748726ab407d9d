/*
 * Conflict keys: equal values give equal keys whatever their form, everything else tells keys apart; NULLs; what is
 * refused; and that keys of regular values are spread as random numbers are.
 */
#include "support/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twpa/key.h>

#define SEED 42
#define REL 16384
#define IDX 16390

static twpa_value binary(uint32_t cls, const void *data, size_t len)
{
  return (twpa_value){.cls = cls, .state = TWPA_VALUE_BINARY, .bytes = {data, len}};
}

static twpa_value text(uint32_t cls, const char *s)
{
  return (twpa_value){.cls = cls, .state = TWPA_VALUE_TEXT, .bytes = {s, strlen(s)}};
}

static twpa_value state(uint32_t s)
{
  return (twpa_value){.cls = TWPA_CLASS_INTEGER, .state = s, .bytes = {NULL, 0}};
}

/* By both ways of making a key, which must agree. */
static twpa_status make(twpa_key *key, uint32_t flags, const twpa_value *values, size_t n)
{
  twpa_keyer keyer;
  twpa_key other = 77;
  *key = 77;
  twpa_status st = twpa_key_of(key, SEED, REL, IDX, flags, values, n);
  test_must(twpa_keyer_begin(&keyer, SEED, REL, IDX, flags) == TWPA_OK);
  twpa_status by_column = TWPA_OK;
  for (size_t i = 0; i < n && by_column == TWPA_OK; i++)
    by_column = twpa_keyer_add(&keyer, &values[i]);
  if (by_column == TWPA_OK)
    by_column = twpa_keyer_end(&keyer, &other);
  test_must(by_column == st);
  test_must(other == *key);
  test_must(st == TWPA_OK || *key == 77);
  return st;
}

static twpa_key key_of(const twpa_value *values, size_t n)
{
  twpa_key key;
  ck_assert_int_eq(make(&key, 0, values, n), TWPA_OK);
  return key;
}

static twpa_key key1(twpa_value v)
{
  twpa_key key;
  test_must(make(&key, 0, &v, 1) == TWPA_OK);
  return key;
}

/* The fast and the slow ways of the hash must meet: a number in every width and spelling has one key. */
START_TEST(one_number_one_key)
{
  rng r = {test_seed(30)};
  for (int i = 0; i < 20000; i++) {
    int64_t v = (int64_t)rng_next(&r) >> rng_below(&r, 64);
    int8_t v8 = (int8_t)v;
    int16_t v16 = (int16_t)v;
    int32_t v32 = (int32_t)v;
    uint64_t u = (uint64_t)v;
    char plain[40], point[40], padded[60];
    snprintf(plain, sizeof plain, "%" PRId64, v);
    snprintf(point, sizeof point, "%" PRId64 ".00", v);
    snprintf(padded, sizeof padded, "%040" PRId64, v);
    unsigned char moved[9]; /* no alignment is promised */
    memcpy(moved + 1, &v, 8);
    twpa_key key = key1(binary(TWPA_CLASS_INTEGER, &v, 8));
    test_must(key1(binary(TWPA_CLASS_INTEGER, moved + 1, 8)) == key);
    test_must(key1(text(TWPA_CLASS_INTEGER, plain)) == key);
    test_must(key1(text(TWPA_CLASS_INTEGER, padded)) == key);
    test_must(key1(text(TWPA_CLASS_NUMERIC, plain)) == key);
    test_must(key1(text(TWPA_CLASS_NUMERIC, point)) == key);
    test_must(v != v32 || key1(binary(TWPA_CLASS_INTEGER, &v32, 4)) == key);
    test_must(v != v16 || key1(binary(TWPA_CLASS_INTEGER, &v16, 2)) == key);
    test_must(v != v8 || key1(binary(TWPA_CLASS_INTEGER, &v8, 1)) == key);
    test_must(v < 0 || key1(binary(TWPA_CLASS_UNSIGNED, &u, 8)) == key);
    test_must(key1(binary(TWPA_CLASS_TIMESTAMP, &v, 8)) == key);
  }
}
END_TEST

START_TEST(one_value_of_other_classes_one_key)
{
  static const unsigned char id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  ck_assert_uint_eq(key1(binary(TWPA_CLASS_UUID, id, 16)),
                    key1(text(TWPA_CLASS_UUID, "01020304-0506-0708-090a-0b0c0d0e0f10")));
  const double d = 0.1, zero = 0, minus = -0.0;
  ck_assert_uint_eq(key1(binary(TWPA_CLASS_FLOAT, &d, 8)), key1(text(TWPA_CLASS_FLOAT, "0.1")));
  ck_assert_uint_eq(key1(binary(TWPA_CLASS_FLOAT, &zero, 8)), key1(binary(TWPA_CLASS_FLOAT, &minus, 8)));
  ck_assert_uint_eq(key1(text(TWPA_CLASS_BLANK_PADDED, "ab")), key1(text(TWPA_CLASS_BLANK_PADDED, "ab    ")));
  ck_assert_uint_eq(key1(text(TWPA_CLASS_BYTES, "abcdefgh")), key1(binary(TWPA_CLASS_BYTES, "abcdefgh", 8)));
  ck_assert_uint_eq(key1(text(TWPA_CLASS_FOLDED, "abc")), key1(text(TWPA_CLASS_BYTES, "abc")));
  ck_assert_uint_ne(key1(text(TWPA_CLASS_BYTES, "ab")), key1(text(TWPA_CLASS_BYTES, "ab ")));
}
END_TEST

START_TEST(everything_counts)
{
  const twpa_value a = text(TWPA_CLASS_BYTES, "a"), b = text(TWPA_CLASS_BYTES, "b");
  const twpa_value ab = text(TWPA_CLASS_BYTES, "ab"), none = text(TWPA_CLASS_BYTES, "");
  const twpa_value columns[][2] = {{a, b}, {b, a}, {ab, none}, {none, ab}, {a, none}, {none, a}, {none, none}, {a, a}};
  enum { N = sizeof columns / sizeof *columns };
  twpa_key keys[N + 8];
  size_t n = 0;
  for (; n < N; n++)
    keys[n] = key_of(columns[n], 2);
  keys[n++] = key_of(&a, 1);
  keys[n++] = key_of(NULL, 0);
  ck_assert_int_eq(twpa_key_of(&keys[n++], SEED + 1, REL, IDX, 0, columns[0], 2), TWPA_OK);
  ck_assert_int_eq(twpa_key_of(&keys[n++], SEED, REL + 1, IDX, 0, columns[0], 2), TWPA_OK);
  ck_assert_int_eq(twpa_key_of(&keys[n++], SEED, REL, IDX + 1, 0, columns[0], 2), TWPA_OK);
  ck_assert_int_eq(twpa_key_of(&keys[n++], SEED, IDX, REL, 0, columns[0], 2), TWPA_OK);
  ck_assert_int_eq(twpa_key_of(&keys[n++], 0, 0, 0, 0, NULL, 0), TWPA_OK);
  ck_assert_int_eq(twpa_key_of(&keys[n++], REL, SEED, IDX, 0, columns[0], 2), TWPA_OK);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      ck_assert_uint_ne(keys[i], keys[j]);
}
END_TEST

START_TEST(nulls)
{
  const int32_t one = 1;
  const twpa_value v = binary(TWPA_CLASS_INTEGER, &one, 4), null = state(TWPA_VALUE_NULL);
  const twpa_value with[][2] = {{v, null}, {null, v}, {null, null}};
  twpa_key keys[3], again, zero_key;
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(make(&again, 0, with[i], 2), TWPA_NONE);
    ck_assert_int_eq(make(&keys[i], TWPA_KEYER_NULLS_NOT_DISTINCT, with[i], 2), TWPA_OK);
    ck_assert_int_eq(make(&again, TWPA_KEYER_NULLS_NOT_DISTINCT, with[i], 2), TWPA_OK);
    ck_assert_uint_eq(again, keys[i]);
    for (int j = 0; j < i; j++)
      ck_assert_uint_ne(keys[i], keys[j]);
  }
  /* NULL is neither 0 nor the empty string. */
  const int64_t zero = 0;
  const twpa_value values[] = {binary(TWPA_CLASS_INTEGER, &zero, 8), text(TWPA_CLASS_BYTES, "")};
  ck_assert_int_eq(make(&again, TWPA_KEYER_NULLS_NOT_DISTINCT, &null, 1), TWPA_OK);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(make(&zero_key, TWPA_KEYER_NULLS_NOT_DISTINCT, &values[i], 1), TWPA_OK);
    ck_assert_uint_ne(zero_key, again);
  }
}
END_TEST

/* Serial and correct: values that differ only in such a column share a key. */
START_TEST(a_column_of_unknown_class_is_left_out)
{
  const twpa_value a = text(TWPA_CLASS_BYTES, "a"), x = text(TWPA_CLASS_UNKNOWN, "x"), y = text(TWPA_CLASS_UNKNOWN, "y");
  const twpa_value ax[] = {a, x}, ay[] = {a, y};
  ck_assert_uint_eq(key_of(ax, 2), key_of(ay, 2));
  ck_assert_uint_eq(key_of(&x, 1), key_of(&y, 1));
}
END_TEST

START_TEST(what_is_no_value_is_refused_and_changes_nothing)
{
  const int64_t eight = 8;
  const twpa_value refused[] = {
      state(TWPA_VALUE_ABSENT), state(TWPA_VALUE_UNCHANGED), state(99), binary(TWPA_CLASS_INTEGER, &eight, 3),
      binary(TWPA_CLASS_INTEGER, NULL, 8), binary(TWPA_CLASS_UUID, &eight, 8), text(TWPA_CLASS_INTEGER, "x"),
      text(TWPA_CLASS_DATE, "2000-13-01"), binary(TWPA_CLASS_BYTES, NULL, 5),
  };
  twpa_keyer keyer, before;
  twpa_key key;
  ck_assert_int_eq(twpa_keyer_begin(&keyer, SEED, REL, IDX, 0), TWPA_OK);
  memcpy(&before, &keyer, sizeof keyer);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    ck_assert_int_eq(twpa_keyer_add(&keyer, &refused[i]), TWPA_E_INVAL);
    ck_assert_mem_eq(&before, &keyer, sizeof keyer);
    ck_assert_int_eq(make(&key, 0, &refused[i], 1), TWPA_E_INVAL);
  }
  const twpa_value strange = text(1000, "x");
  ck_assert_int_eq(twpa_keyer_add(&keyer, &strange), TWPA_E_UNSUPPORTED);
  ck_assert_mem_eq(&before, &keyer, sizeof keyer);
  ck_assert_int_eq(twpa_keyer_begin(&keyer, SEED, REL, IDX, 2), TWPA_E_UNSUPPORTED);
  ck_assert_int_eq(twpa_key_of(&key, SEED, REL, IDX, 2, NULL, 0), TWPA_E_UNSUPPORTED);
  ck_assert_int_eq(twpa_keyer_begin(NULL, SEED, REL, IDX, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_keyer_add(NULL, &strange), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_keyer_add(&keyer, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_keyer_end(NULL, &key), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_keyer_end(&keyer, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_key_of(NULL, SEED, REL, IDX, 0, NULL, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_key_of(&key, SEED, REL, IDX, 0, NULL, 1), TWPA_E_INVAL);
}
END_TEST

/* ---- spread ---- */

#define N (1u << 20)

static int compare32(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int compare64(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Of 2^20 random numbers of 32 bits 2^40 / 2^33 = 128 meet another one; 64 and 256 are far away from that. */
static void check_half(const uint64_t *keys, int shift)
{
  static uint32_t half[N];
  for (size_t i = 0; i < N; i++)
    half[i] = (uint32_t)(keys[i] >> shift);
  qsort(half, N, sizeof *half, compare32);
  unsigned met = 0;
  for (size_t i = 1; i < N; i++)
    met += half[i] == half[i - 1];
  ck_assert_uint_gt(met, 64);
  ck_assert_uint_lt(met, 256);
}

START_TEST(keys_of_regular_values_are_spread)
{
  static uint64_t keys[N];
  for (int pattern = 0; pattern < 6; pattern++) {
    for (uint32_t i = 0; i < N; i++) {
      int64_t a = i, b = i & 1023;
      char name[40];
      twpa_value v[2] = {binary(TWPA_CLASS_INTEGER, &a, 8), binary(TWPA_CLASS_INTEGER, &b, 8)};
      size_t n = 1;
      if (pattern == 1) {
        a = (int64_t)i << 20;
      } else if (pattern == 2) { /* a grid of two small numbers */
        a = i >> 10;
        n = 2;
      } else if (pattern == 3) { /* a grid of two numbers with gaps */
        a = (int64_t)(i >> 10) << 32;
        b = b << 32;
        n = 2;
      } else if (pattern == 4) {
        a = i % 2 != 0 ? -(int64_t)i : i;
      } else if (pattern == 5) {
        v[0] = binary(TWPA_CLASS_BYTES, name, (size_t)snprintf(name, sizeof name, "customer-%07u", i));
      }
      test_must(twpa_key_of(&keys[i], SEED, REL, IDX, 0, v, n) == TWPA_OK);
    }
    check_half(keys, 0);
    check_half(keys, 32);
    qsort(keys, N, sizeof *keys, compare64);
    for (size_t i = 1; i < N; i++)
      test_must(keys[i] != keys[i - 1]);
  }
}
END_TEST

/* One value in many indexes of many relations. */
START_TEST(domains_are_spread)
{
  static uint64_t keys[N];
  const int32_t one = 1;
  const twpa_value v = binary(TWPA_CLASS_INTEGER, &one, 4);
  for (uint32_t i = 0; i < N; i++)
    test_must(twpa_key_of(&keys[i], SEED, 16384 + (i >> 10), 16384 + (i & 1023), 0, &v, 1) == TWPA_OK);
  check_half(keys, 0);
  check_half(keys, 32);
  qsort(keys, N, sizeof *keys, compare64);
  for (size_t i = 1; i < N; i++)
    test_must(keys[i] != keys[i - 1]);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("key");
  TCase *t = tcase_create("key");
  tcase_add_test(t, one_number_one_key);
  tcase_add_test(t, one_value_of_other_classes_one_key);
  tcase_add_test(t, everything_counts);
  tcase_add_test(t, nulls);
  tcase_add_test(t, a_column_of_unknown_class_is_left_out);
  tcase_add_test(t, what_is_no_value_is_refused_and_changes_nothing);
  suite_add_tcase(s, t);
  t = tcase_create("spread");
  tcase_add_test(t, keys_of_regular_values_are_spread);
  tcase_add_test(t, domains_are_spread);
  suite_add_tcase(s, t);
  return run_suite(s);
}
