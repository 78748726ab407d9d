/*
 * Canonical forms: for each family of classes a table of values. Values of one row are equal, those of different rows
 * are not; every pair is compared. Then models: decimal numbers against strings, floats against the C library, dates
 * against a calendar that counts; and damaged input of every kind.
 */
#include "plan/canonical.h"
#include "support/runner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample {
  int row; /* equal values have the same */
  uint32_t cls, state;
  const void *data;
  size_t len;
} sample;

#define TEXT(row, cls, text) \
  {row, TWPA_CLASS_##cls, TWPA_VALUE_TEXT, text, sizeof(text) - 1}
#define BIN(row, cls, type, ...) \
  {row, TWPA_CLASS_##cls, TWPA_VALUE_BINARY, (const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__})}

static twpa_status canonical(twpa__canonical_form *form, const sample *s)
{
  memset(form, 0xEE, sizeof *form);
  return twpa__canonical(form, s->cls, s->state, (twpa_bytes){s->data, s->len});
}

static bool same(const twpa__canonical_form *a, const twpa__canonical_form *b)
{
  return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void check_table(const sample *samples, size_t n)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      twpa__canonical_form a, b;
      ck_assert_msg(canonical(&a, &samples[i]) == TWPA_OK, "value %zu is refused", i);
      ck_assert_msg(canonical(&b, &samples[j]) == TWPA_OK, "value %zu is refused", j);
      ck_assert_msg(same(&a, &b) == (samples[i].row == samples[j].row), "values %zu and %zu", i, j);
      ck_assert(a.exact);
      ck_assert_ptr_nonnull(a.data);
    }
}

#define CHECK_TABLE(samples) check_table(samples, sizeof(samples) / sizeof *(samples))

/* Stored numerics: the short header with sign, scale and weight; the long one. */
#define SHORT(negative, scale, weight)                                                             \
  (uint16_t)(0x8000u | ((negative) ? 0x2000u : 0) | ((scale) << 7) | ((weight) < 0 ? 0x40u : 0) | \
             (uint16_t)((weight) & 0x3F))
#define LONG(negative, scale, weight) (uint16_t)(((negative) ? 0x4000u : 0) | (scale)), (uint16_t)(weight)

static const sample numbers[] = {
    TEXT(0, INTEGER, "0"), TEXT(0, INTEGER, "-0"), TEXT(0, INTEGER, "000"), TEXT(0, UNSIGNED, "0"),
    TEXT(0, UNSIGNED, "-0"), TEXT(0, NUMERIC, "0.00"), TEXT(0, NUMERIC, "-0.0"), TEXT(0, NUMERIC, "0e5"),
    TEXT(0, NUMERIC, ".0"), TEXT(0, NUMERIC, "0."),
    BIN(0, INTEGER, int8_t, 0), BIN(0, INTEGER, int16_t, 0), BIN(0, INTEGER, int32_t, 0), BIN(0, INTEGER, int64_t, 0),
    BIN(0, UNSIGNED, uint8_t, 0), BIN(0, UNSIGNED, uint64_t, 0), BIN(0, NUMERIC, uint16_t, SHORT(0, 2, 0)),
    BIN(0, NUMERIC, uint16_t, LONG(1, 2, 7)), BIN(0, NUMERIC, uint16_t, SHORT(0, 2, 1), 0, 0),
    /* 1 in all widths and spellings */
    TEXT(1, INTEGER, "1"), TEXT(1, INTEGER, "+1"), TEXT(1, INTEGER, "0001"), TEXT(1, UNSIGNED, "1"),
    TEXT(1, NUMERIC, "1"), TEXT(1, NUMERIC, "1.0"), TEXT(1, NUMERIC, "1.000000000000000000000000"),
    TEXT(1, NUMERIC, "10e-1"), TEXT(1, NUMERIC, "0.00001E5"), TEXT(1, NUMERIC, "0.1e+1"),
    BIN(1, INTEGER, int8_t, 1), BIN(1, INTEGER, int16_t, 1), BIN(1, INTEGER, int32_t, 1), BIN(1, INTEGER, int64_t, 1),
    BIN(1, UNSIGNED, uint8_t, 1), BIN(1, UNSIGNED, uint16_t, 1), BIN(1, UNSIGNED, uint32_t, 1),
    BIN(1, UNSIGNED, uint64_t, 1), BIN(1, NUMERIC, uint16_t, SHORT(0, 0, 0), 1),
    BIN(1, NUMERIC, uint16_t, SHORT(0, 5, 0), 1, 0, 0), BIN(1, NUMERIC, uint16_t, LONG(0, 9, 0), 1),
    BIN(1, NUMERIC, uint16_t, LONG(0, 9, 2), 0, 0, 1, 0),
    /* -1, which must not be 255, 65535, ... */
    TEXT(2, INTEGER, "-1"), BIN(2, INTEGER, int8_t, -1), BIN(2, INTEGER, int16_t, -1), BIN(2, INTEGER, int32_t, -1),
    BIN(2, INTEGER, int64_t, -1), TEXT(2, NUMERIC, "-1.00"), BIN(2, NUMERIC, uint16_t, SHORT(1, 0, 0), 1),
    BIN(2, NUMERIC, uint16_t, LONG(1, 0, 0), 1),
    BIN(3, UNSIGNED, uint8_t, 255), BIN(3, INTEGER, int16_t, 255), TEXT(3, UNSIGNED, "255"),
    BIN(4, UNSIGNED, uint16_t, 65535), BIN(4, INTEGER, int32_t, 65535),
    BIN(4, NUMERIC, uint16_t, SHORT(0, 0, 1), 6, 5535),
    BIN(5, UNSIGNED, uint32_t, UINT32_MAX), BIN(5, INTEGER, int64_t, UINT32_MAX), TEXT(5, NUMERIC, "4294967295"),
    BIN(6, UNSIGNED, uint64_t, UINT64_MAX), TEXT(6, UNSIGNED, "18446744073709551615"),
    TEXT(6, NUMERIC, "18446744073709551615.0"),
    BIN(6, NUMERIC, uint16_t, SHORT(0, 0, 4), 1844, 6744, 737, 955, 1615),
    BIN(7, UNSIGNED, uint64_t, UINT64_C(1) << 63), TEXT(7, NUMERIC, "9223372036854775808"),
    BIN(8, INTEGER, int64_t, INT64_MIN), TEXT(8, INTEGER, "-9223372036854775808"),
    BIN(8, NUMERIC, uint16_t, LONG(1, 3, 4), 922, 3372, 368, 5477, 5808),
    BIN(9, INTEGER, int64_t, INT64_MAX), BIN(9, UNSIGNED, uint64_t, INT64_MAX),
    TEXT(9, NUMERIC, "9223372036854775807."),
    TEXT(10, NUMERIC, "-9223372036854775809"),
    TEXT(11, NUMERIC, "10000000000000000000"), BIN(11, UNSIGNED, uint64_t, UINT64_C(10000000000000000000)),
    BIN(11, NUMERIC, uint16_t, SHORT(0, 0, 4), 1000), TEXT(11, NUMERIC, "1e19"),
    /* powers of ten around the groups of four digits */
    TEXT(12, NUMERIC, "10"), BIN(12, INTEGER, int8_t, 10), TEXT(13, NUMERIC, "100"), TEXT(14, NUMERIC, "1000"),
    TEXT(15, NUMERIC, "10000"), BIN(15, NUMERIC, uint16_t, SHORT(0, 0, 1), 1), BIN(15, INTEGER, int16_t, 10000),
    TEXT(16, NUMERIC, "0.1"), BIN(16, NUMERIC, uint16_t, SHORT(0, 1, -1), 1000), TEXT(16, NUMERIC, "1e-1"),
    BIN(16, NUMERIC, uint16_t, SHORT(0, 1, 0), 0, 1000), BIN(16, NUMERIC, uint16_t, LONG(0, 1, -1), 1000),
    TEXT(17, NUMERIC, "0.0001"), BIN(17, NUMERIC, uint16_t, SHORT(0, 4, -1), 1), TEXT(17, NUMERIC, "1E-4"),
    TEXT(18, NUMERIC, "0.00001"), BIN(18, NUMERIC, uint16_t, SHORT(0, 5, -2), 1000),
    TEXT(19, NUMERIC, "12345.678"), BIN(19, NUMERIC, uint16_t, SHORT(0, 3, 1), 1, 2345, 6780),
    BIN(19, NUMERIC, uint16_t, LONG(0, 7, 1), 1, 2345, 6780, 0), TEXT(19, NUMERIC, "00012345.67800"),
    TEXT(19, NUMERIC, "1.2345678e4"), TEXT(20, NUMERIC, "-12345.678"), TEXT(21, NUMERIC, "12345.6780001"),
    TEXT(22, NUMERIC, "1e1000"), BIN(22, NUMERIC, uint16_t, LONG(0, 0, 250), 1), TEXT(23, NUMERIC, "1e-1000"),
    BIN(23, NUMERIC, uint16_t, LONG(0, 1000, -250), 1), TEXT(24, NUMERIC, "1e-256"),
    BIN(24, NUMERIC, uint16_t, SHORT(0, 0, -64), 1, 0), TEXT(24, NUMERIC, "10e-257"),
    TEXT(25, NUMERIC, "1.5"), TEXT(26, NUMERIC, "1.05"), TEXT(27, NUMERIC, "15"),
    TEXT(30, NUMERIC, "NaN"), TEXT(30, NUMERIC, "nan"), BIN(30, NUMERIC, uint16_t, 0xC000),
    BIN(30, NUMERIC, uint16_t, 0xC000, 0), TEXT(31, NUMERIC, "Infinity"), TEXT(31, NUMERIC, "+inf"),
    BIN(31, NUMERIC, uint16_t, 0xD000), TEXT(32, NUMERIC, "-Infinity"), BIN(32, NUMERIC, uint16_t, 0xF000),
};

START_TEST(whole_and_decimal_numbers)
{
  CHECK_TABLE(numbers);
}
END_TEST

#define QNAN UINT64_C(0x7FF8000000000000)

static const sample floats[] = {
    BIN(0, FLOAT, double, 0.0), BIN(0, FLOAT, double, -0.0), BIN(0, FLOAT, float, 0.0f), BIN(0, FLOAT4, float, -0.0f),
    TEXT(0, FLOAT, "0"), TEXT(0, FLOAT, "-0"), TEXT(0, FLOAT4, "-0.0"), TEXT(0, FLOAT, "0e999"),
    BIN(1, FLOAT, uint64_t, QNAN), BIN(1, FLOAT, uint64_t, QNAN | UINT64_C(1) << 63 | 12345),
    BIN(1, FLOAT, uint64_t, UINT64_C(0x7FF0000000000001)), BIN(1, FLOAT4, uint32_t, 0x7FC00000),
    BIN(1, FLOAT, uint32_t, 0xFFC01234), BIN(1, FLOAT4, uint32_t, 0x7F800001), TEXT(1, FLOAT, "NaN"),
    TEXT(1, FLOAT4, "nan"),
    BIN(2, FLOAT, double, INFINITY), BIN(2, FLOAT4, float, INFINITY), TEXT(2, FLOAT, "Infinity"),
    TEXT(2, FLOAT4, "inf"),
    BIN(3, FLOAT, double, -INFINITY), BIN(3, FLOAT, float, -INFINITY), TEXT(3, FLOAT, "-Infinity"),
    BIN(4, FLOAT, double, 1.5), BIN(4, FLOAT, float, 1.5f), BIN(4, FLOAT4, float, 1.5f), TEXT(4, FLOAT, "1.5"),
    TEXT(4, FLOAT4, "1.5"), TEXT(4, FLOAT, "15e-1"), TEXT(4, FLOAT, "+1.50000"), TEXT(4, FLOAT, "0.15E+1"),
    BIN(5, FLOAT, double, 0.1), TEXT(5, FLOAT, "0.1"), TEXT(5, FLOAT, "0.1000000000000000055511151231257827"),
    /* not 0.1: the single precision number nearest to it */
    BIN(6, FLOAT4, float, 0.1f), BIN(6, FLOAT, float, 0.1f), TEXT(6, FLOAT4, "0.1"),
    BIN(6, FLOAT, double, (double)0.1f),
    TEXT(6, FLOAT, "0.10000000149011612"),
    BIN(7, FLOAT, double, -1.5), TEXT(7, FLOAT4, "-1.5"),
    BIN(8, FLOAT, uint64_t, 1), TEXT(8, FLOAT, "5e-324"), TEXT(8, FLOAT, "4.9406564584124654e-324"),
    TEXT(8, FLOAT, "2.4703282292062328e-324"),
    BIN(9, FLOAT, uint64_t, UINT64_C(0x000FFFFFFFFFFFFF)), TEXT(9, FLOAT, "2.225073858507201e-308"),
    BIN(10, FLOAT, uint64_t, UINT64_C(0x0010000000000000)), TEXT(10, FLOAT, "2.2250738585072014e-308"),
    BIN(11, FLOAT, uint64_t, UINT64_C(0x7FEFFFFFFFFFFFFF)), TEXT(11, FLOAT, "1.7976931348623157e+308"),
    BIN(12, FLOAT4, uint32_t, 1), TEXT(12, FLOAT4, "1e-45"), TEXT(12, FLOAT4, "1.4013e-45"),
    BIN(13, FLOAT4, uint32_t, 0x007FFFFF), TEXT(13, FLOAT4, "1.1754942e-38"),
    BIN(14, FLOAT4, uint32_t, 0x7F7FFFFF), TEXT(14, FLOAT4, "3.4028235e+38"),
    /* halfway between two doubles: the even one, unless anything follows */
    TEXT(15, FLOAT, "9007199254740992"), TEXT(15, FLOAT, "9007199254740993"),
    TEXT(16, FLOAT, "9007199254740994"), TEXT(16, FLOAT, "9007199254740993.00000000000000000000000000000000000001"),
    TEXT(17, FLOAT4, "16777216"), TEXT(17, FLOAT4, "16777217"), TEXT(17, FLOAT, "16777216"),
    TEXT(18, FLOAT, "16777217"), TEXT(19, FLOAT4, "16777218"), TEXT(19, FLOAT4, "16777217.0000001"),
    /* rounding to double first would end at 1 + 2^-23 */
    TEXT(20, FLOAT4, "1.00000005960464477539062500000000001"), BIN(20, FLOAT4, uint32_t, 0x3F800001),
    TEXT(21, FLOAT4, "1.00000005960464477539062499999999999"), BIN(21, FLOAT4, uint32_t, 0x3F800000),
    TEXT(21, FLOAT4, "1"),
};

START_TEST(floating_point_numbers)
{
  CHECK_TABLE(floats);
}
END_TEST

static const sample booleans[] = {
    BIN(0, BOOLEAN, uint8_t, 0), TEXT(0, BOOLEAN, "f"), TEXT(0, BOOLEAN, "false"), TEXT(0, BOOLEAN, "F"),
    TEXT(0, BOOLEAN, "0"), BIN(1, BOOLEAN, uint8_t, 1), BIN(1, BOOLEAN, uint8_t, 255), TEXT(1, BOOLEAN, "t"),
    TEXT(1, BOOLEAN, "TRUE"), TEXT(1, BOOLEAN, "1"),
};

static const sample uuids[] = {
    BIN(0, UUID, uint8_t, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
        0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10),
    TEXT(0, UUID, "01234567-89ab-cdef-fedc-ba9876543210"), TEXT(0, UUID, "01234567-89AB-CDEF-FEDC-BA9876543210"),
    TEXT(0, UUID, "0123456789abcdeffedcba9876543210"), TEXT(1, UUID, "01234567-89ab-cdef-fedc-ba9876543211"),
    TEXT(2, UUID, "00000000-0000-0000-0000-000000000000"),
};

START_TEST(booleans_and_uuids)
{
  CHECK_TABLE(booleans);
  CHECK_TABLE(uuids);
}
END_TEST

START_TEST(strings_of_bytes)
{
  const sample bytes[] = {
      TEXT(0, BYTES, ""),      TEXT(0, FOLDED, ""),    TEXT(1, BYTES, "a"),   BIN(1, BYTES, char, 'a'),
      TEXT(1, FOLDED, "a"),    TEXT(2, BYTES, "a "),   TEXT(3, BYTES, "a\0"), TEXT(4, BYTES, "A"),
      TEXT(5, BYTES, "a\0b"),
  };
  const sample padded[] = {
      TEXT(0, BLANK_PADDED, ""),   TEXT(0, BLANK_PADDED, " "),    TEXT(0, BLANK_PADDED, "      "),
      TEXT(1, BLANK_PADDED, "a"),  TEXT(1, BLANK_PADDED, "a   "), BIN(1, BLANK_PADDED, char, 'a', ' '),
      TEXT(2, BLANK_PADDED, " a"), TEXT(3, BLANK_PADDED, "a\t"),  TEXT(4, BLANK_PADDED, "a b "),
      TEXT(4, BLANK_PADDED, "a b"), TEXT(5, BLANK_PADDED, "a\0"),
  };
  CHECK_TABLE(bytes);
  CHECK_TABLE(padded);
}
END_TEST

#define DAY INT64_C(86400000000)

static const sample times[] = {
    BIN(0, TIMESTAMP, int64_t, 0), TEXT(0, TIMESTAMP, "2000-01-01 00:00:00"), TEXT(0, DATE, "2000-01-01"),
    BIN(0, DATE, int32_t, 0), TEXT(0, TIMESTAMP, "2000-01-01T00:00:00.000000"),
    TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00+00"), TEXT(0, TIMESTAMPTZ, "2000-01-01 05:30:00+05:30"),
    TEXT(0, TIMESTAMPTZ, "1999-12-31 20:29:30-03:30:30"), BIN(0, TIMESTAMPTZ, int64_t, 0),
    TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00Z"), TEXT(0, TIMESTAMP, "1999-12-31 24:00:00"),
    BIN(1, TIMESTAMP, int64_t, DAY), TEXT(1, TIMESTAMP, "2000-01-02 00:00:00"), BIN(1, DATE, int32_t, 1),
    BIN(2, TIMESTAMP, int64_t, -1), TEXT(2, TIMESTAMP, "1999-12-31 23:59:59.999999"),
    BIN(3, TIMESTAMP, int64_t, 500000), TEXT(3, TIMESTAMP, "2000-01-01 00:00:00.5"),
    TEXT(3, TIMESTAMP, "2000-01-01 00:00:00.50"),
    BIN(4, TIMESTAMP, int64_t, INT64_MAX), TEXT(4, TIMESTAMP, "infinity"), TEXT(4, DATE, "infinity"),
    BIN(4, DATE, int32_t, INT32_MAX), TEXT(4, TIMESTAMPTZ, "infinity"),
    BIN(5, TIMESTAMP, int64_t, INT64_MIN), TEXT(5, TIMESTAMP, "-infinity"), BIN(5, DATE, int32_t, INT32_MIN),
    TEXT(6, DATE, "2024-02-29"), BIN(6, DATE, int32_t, 8825), BIN(6, TIMESTAMP, int64_t, 8825 * DAY),
    TEXT(7, DATE, "0001-01-01"), BIN(7, DATE, int32_t, -730119), TEXT(8, DATE, "0001-12-31 BC"),
    BIN(8, DATE, int32_t, -730120), TEXT(9, DATE, "4713-01-01 BC"), BIN(9, DATE, int32_t, -2451507),
    TEXT(10, TIMESTAMP, "294276-12-31 23:59:59.999999"), BIN(10, TIMESTAMP, int64_t, INT64_C(9223371331199999999)),
    TEXT(11, DATE, "5874897-12-31"), BIN(11, DATE, int32_t, 2145031948),
    TEXT(12, DATE, "5874897-12-30"), BIN(12, DATE, int32_t, 2145031947),
    TEXT(13, TIMESTAMP, "0044-03-15 12:00:00 BC"), TEXT(13, TIMESTAMPTZ, "0044-03-15 13:00:00+01 BC"),
    TEXT(14, DATE, "1900-03-01"), BIN(14, DATE, int32_t, -36465), TEXT(15, DATE, "1900-02-28"),
    BIN(15, DATE, int32_t, -36466),
};

static const sample zoned_clocks[] = {
    /* Equal if the instant and the zone are: noon in two zones is the same instant of no day in particular. */
    TEXT(0, TIMETZ, "12:00:00+00"), TEXT(1, TIMETZ, "13:00:00+01"), TEXT(2, TIMETZ, "12:00:00+01"),
    TEXT(3, TIMETZ, "12:00:00-03:30"), TEXT(3, TIMETZ, "12:00:00.000-03:30:00"), TEXT(4, TIMETZ, "12:00:00-03:30:01"),
};

START_TEST(dates_and_times)
{
  CHECK_TABLE(times);
  const sample clock[] = {
      BIN(0, TIME, int64_t, 0), TEXT(0, TIME, "00:00:00"), BIN(1, TIME, int64_t, DAY), TEXT(1, TIME, "24:00:00"),
      TEXT(2, TIME, "12:34:56.789"), BIN(2, TIME, int64_t, INT64_C(45296789000)), TEXT(3, TIME, "12:34:56.789001"),
      TEXT(4, TIME, "-12:34:56.789"),
  };
  CHECK_TABLE(clock);
  CHECK_TABLE(zoned_clocks);
  unsigned char stored[12];
  const int64_t noon = DAY / 2;
  const int32_t west = 12600; /* -03:30 */
  memcpy(stored, &noon, 8);
  memcpy(stored + 8, &west, 4);
  twpa__canonical_form a, b;
  ck_assert_int_eq(canonical(&a, &(sample){0, TWPA_CLASS_TIMETZ, TWPA_VALUE_BINARY, stored, 12}), TWPA_OK);
  ck_assert_int_eq(canonical(&b, &zoned_clocks[3]), TWPA_OK);
  ck_assert(same(&a, &b));
}
END_TEST

typedef struct stored_interval {
  int64_t usec;
  int32_t days, months;
} stored_interval;

static const sample intervals[] = {
    BIN(0, INTERVAL, stored_interval, {0, 0, 0}), TEXT(0, INTERVAL, "00:00:00"), TEXT(0, INTERVAL, "0 days"),
    TEXT(0, INTERVAL, "1 mon -30 days"), TEXT(0, INTERVAL, "-1 days +24:00:00"),
    TEXT(1, INTERVAL, "1 mon"), TEXT(1, INTERVAL, "30 days"), TEXT(1, INTERVAL, "720:00:00"),
    TEXT(1, INTERVAL, "29 days 24:00:00"), BIN(1, INTERVAL, stored_interval, {0, 0, 1}),
    BIN(1, INTERVAL, stored_interval, {0, 30, 0}), BIN(1, INTERVAL, stored_interval, {30 * DAY, 0, 0}),
    BIN(1, INTERVAL, stored_interval, {-DAY, 1, 1}), TEXT(1, INTERVAL, "2 mons -30 days"),
    TEXT(2, INTERVAL, "1 year"), TEXT(2, INTERVAL, "12 mons"), TEXT(2, INTERVAL, "360 days"),
    BIN(2, INTERVAL, stored_interval, {0, 0, 12}),
    TEXT(3, INTERVAL, "365 days"), TEXT(4, INTERVAL, "-00:00:00.000001"),
    BIN(4, INTERVAL, stored_interval, {-1, 0, 0}), BIN(4, INTERVAL, stored_interval, {DAY - 1, -1, 0}),
    TEXT(5, INTERVAL, "-1 years -2 mons +3 days -04:05:06.7"),
    BIN(5, INTERVAL, stored_interval, {INT64_C(-14706700000), 3, -14}),
    TEXT(6, INTERVAL, "2562047788:00:54.775807"), BIN(6, INTERVAL, stored_interval, {INT64_MAX, 0, 0}),
    TEXT(7, INTERVAL, "-2562047788:00:54.775808"), BIN(7, INTERVAL, stored_interval, {INT64_MIN, 0, 0}),
    TEXT(8, INTERVAL, "178956970 years 7 mons"), BIN(8, INTERVAL, stored_interval, {0, 0, INT32_MAX}),
    TEXT(9, INTERVAL, "-178956970 years -8 mons"), BIN(9, INTERVAL, stored_interval, {0, 0, INT32_MIN}),
    BIN(10, INTERVAL, stored_interval, {INT64_MAX, INT32_MAX, INT32_MAX}), TEXT(10, INTERVAL, "infinity"),
    BIN(11, INTERVAL, stored_interval, {INT64_MIN, INT32_MIN, INT32_MIN}), TEXT(11, INTERVAL, "-infinity"),
};

START_TEST(lengths_of_time)
{
  ck_assert_uint_eq(sizeof(stored_interval), 16);
  CHECK_TABLE(intervals);
}
END_TEST

/* ---- models ---- */

/* A decimal number as sign, digits without zeroes at the ends, and the power of the first digit. */
typedef struct naive {
  bool negative;
  char digits[700];
  int power;
} naive;

static void naive_of(naive *out, const char *text)
{
  memset(out, 0, sizeof *out);
  out->negative = *text == '-';
  text += *text == '-';
  const char *dot = strchr(text, '.');
  int whole = dot != NULL ? (int)(dot - text) : (int)strlen(text);
  int power = whole - 1;
  size_t n = 0;
  for (; *text != '\0'; text++) {
    if (*text == '.')
      continue;
    if (n > 0 || *text != '0') {
      if (n == 0)
        out->power = power;
      out->digits[n++] = *text;
    }
    power--;
  }
  while (n > 0 && out->digits[n - 1] == '0')
    out->digits[--n] = '\0';
  if (n == 0)
    out->negative = false;
}

static bool naive_equal(const naive *a, const naive *b)
{
  return a->negative == b->negative && a->power == b->power && strcmp(a->digits, b->digits) == 0;
}

/* Few digits and many zeroes, so that equal numbers in different spellings are frequent. */
static void random_decimal(rng *r, char *out)
{
  char *p = out;
  if (rng_chance(r, 30))
    *p++ = '-';
  size_t whole = 1 + rng_below(r, rng_chance(r, 90) ? 6 : 60), fraction = rng_below(r, rng_chance(r, 90) ? 6 : 60);
  unsigned zero = rng_chance(r, 50) ? 90 : 60;
  for (size_t i = 0; i < whole; i++)
    *p++ = (char)(rng_chance(r, zero) ? '0' : '0' + rng_below(r, 2) * 8 + 1);
  if (fraction > 0)
    *p++ = '.';
  for (size_t i = 0; i < fraction; i++)
    *p++ = (char)(rng_chance(r, zero) ? '0' : '0' + rng_below(r, 2) * 8 + 1);
  *p = '\0';
}

/* PostgreSQL's stored form of a decimal text, long or short, with `pad` groups of zeroes at each end. */
static size_t store(unsigned char *out, const char *text, bool long_form, int pad)
{
  bool negative = *text == '-';
  text += negative;
  size_t whole = strcspn(text, "."), len = strlen(text);
  uint16_t groups[400] = {0};
  int weight = (int)(whole + 3) / 4 - 1 + pad, n = 0;
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '.')
      continue;
    int power = i < whole ? (int)(whole - 1 - i) : (int)whole - (int)i;
    int group = power >= 0 ? power / 4 : -((3 - power) / 4);
    static const uint16_t tens[] = {1, 10, 100, 1000};
    int at = weight - group;
    groups[at] = (uint16_t)(groups[at] + (text[i] - '0') * tens[power - group * 4]);
    if (at >= n)
      n = at + 1;
  }
  n += pad;
  uint16_t header[2] = {(uint16_t)((negative ? 0x4000 : 0) | 5), (uint16_t)weight};
  size_t head = 4;
  if (!long_form && weight <= 63) {
    header[0] = SHORT(negative, 5, weight);
    head = 2;
  }
  memcpy(out, header, head);
  memcpy(out + head, groups, (size_t)n * 2);
  return head + (size_t)n * 2;
}

START_TEST(decimal_numbers_like_strings)
{
  rng r = {test_seed(20)};
  enum { N = 300 };
  static char text[N][200];
  static naive model[N];
  static twpa__canonical_form forms[N];
  size_t equal = 0;
  for (int round = 0; round < 20; round++) {
    for (size_t i = 0; i < N; i++) {
      random_decimal(&r, text[i]);
      naive_of(&model[i], text[i]);
      ck_assert_int_eq(twpa__canonical(&forms[i], TWPA_CLASS_NUMERIC, TWPA_VALUE_TEXT,
                                       (twpa_bytes){text[i], strlen(text[i])}), TWPA_OK);
      for (int variant = 0; variant < 4; variant++) {
        unsigned char stored[900];
        twpa__canonical_form form;
        size_t len = store(stored, text[i], variant & 1, variant & 2);
        test_must(twpa__canonical(&form, TWPA_CLASS_NUMERIC, TWPA_VALUE_BINARY, (twpa_bytes){stored, len}) == TWPA_OK);
        if (!same(&form, &forms[i]) || form.exact != forms[i].exact)
          ck_abort_msg("stored form of %s", text[i]);
      }
    }
    for (size_t i = 0; i < N; i++)
      for (size_t j = 0; j < N; j++) {
        bool is = naive_equal(&model[i], &model[j]);
        equal += is && i != j;
        if (is != same(&forms[i], &forms[j]))
          ck_abort_msg("%s and %s", text[i], text[j]);
      }
  }
  ck_assert_uint_gt(equal, 1000);
}
END_TEST

/* Beyond 308 digits the form is cut: equal values still agree, and the form says that it is not exact. */
START_TEST(very_long_numbers_are_cut_and_say_so)
{
  char a[2000], b[2000];
  twpa__canonical_form fa, fb;
  for (int len = 300; len <= 316; len++) {
    memset(a, '7', (size_t)len);
    a[len] = '\0';
    strcpy(b, a);
    b[len - 1] = '8';
    ck_assert_int_eq(twpa__canonical(&fa, TWPA_CLASS_NUMERIC, TWPA_VALUE_TEXT, (twpa_bytes){a, strlen(a)}), TWPA_OK);
    ck_assert_int_eq(twpa__canonical(&fb, TWPA_CLASS_NUMERIC, TWPA_VALUE_TEXT, (twpa_bytes){b, strlen(b)}), TWPA_OK);
    ck_assert_int_eq(fa.exact, fb.exact);
    ck_assert_int_eq(fa.exact, (len + 3) / 4 <= 77);
    ck_assert_int_eq(same(&fa, &fb), !fa.exact);
    unsigned char stored[900];
    size_t n = store(stored, a, true, 1);
    ck_assert_int_eq(twpa__canonical(&fb, TWPA_CLASS_NUMERIC, TWPA_VALUE_BINARY, (twpa_bytes){stored, n}), TWPA_OK);
    ck_assert(same(&fa, &fb));
    ck_assert_int_eq(fa.exact, fb.exact);
  }
}
END_TEST

static void check_float(const char *text)
{
  twpa__canonical_form form;
  double d = strtod(text, NULL);
  float f = strtof(text, NULL);
  for (int single = 0; single < 2; single++) {
    double expected = single ? (double)f : d;
    twpa_status st = twpa__canonical(&form, single ? TWPA_CLASS_FLOAT4 : TWPA_CLASS_FLOAT, TWPA_VALUE_TEXT,
                                     (twpa_bytes){text, strlen(text)});
    bool zero = strpbrk(text, "123456789") == NULL || strcspn(text, "e") <= strcspn(text, "123456789");
    if (isinf(expected) || (expected == 0 && !zero)) {
      if (st != TWPA_E_INVAL)
        ck_abort_msg("%s is out of range", text);
      continue;
    }
    unsigned char bits[8];
    expected = expected == 0 ? 0 : expected;
    uint64_t u;
    memcpy(&u, &expected, 8);
    for (int i = 0; i < 8; i++)
      bits[i] = (unsigned char)(u >> (8 * i));
    if (st != TWPA_OK || form.len != 8 || memcmp(form.data, bits, 8) != 0)
      ck_abort_msg("%s (%s precision)", text, single ? "single" : "double");
  }
}

START_TEST(floats_like_the_c_library)
{
  rng r = {test_seed(21)};
  char text[2000];
  for (int i = 0; i < 60000; i++) {
    uint64_t bits = rng_next(&r);
    double d;
    memcpy(&d, &bits, 8);
    if (rng_chance(&r, 20)) {
      uint32_t single = (uint32_t)bits;
      float f;
      memcpy(&f, &single, 4);
      d = (double)f;
    }
    if (!isfinite(d))
      continue;
    snprintf(text, sizeof text, "%.*e", (int)rng_below(&r, rng_chance(&r, 90) ? 20 : 40), d);
    check_float(text);
  }
  for (int i = 0; i < 20000; i++) {
    snprintf(text, sizeof text, "%" PRIu64 "%" PRIu64 "e%d", rng_next(&r) >> rng_below(&r, 64), rng_next(&r) >> 30,
             (int)rng_below(&r, 800) - 400);
    check_float(text);
    snprintf(text, sizeof text, "0.%0*d%" PRIu64, (int)rng_below(&r, 50), 0, rng_next(&r));
    check_float(text);
  }
}
END_TEST

/* Exactly halfway between two neighbours, with hundreds of digits, and a hair beside it. */
START_TEST(floats_halfway_between_two)
{
  rng r = {test_seed(22)};
  char text[2600];
  for (int i = 0; i < 2000; i++) {
    uint64_t bits = rng_next(&r) >> 1;
    if (rng_chance(&r, 30))
      bits &= UINT64_C(0x001FFFFFFFFFFFFF); /* subnormal, or nearly */
    bits &= UINT64_C(0x7FDFFFFFFFFFFFFF);
    double low, high;
    uint64_t next = bits + 1;
    memcpy(&low, &bits, 8);
    memcpy(&high, &next, 8);
    long double middle = ((long double)low + (long double)high) / 2;
    if ((double)middle != low && (double)middle != high)
      continue;
    int n = snprintf(text, sizeof text, "%.1100Le", middle);
    ck_assert_int_gt(n, 1000);
    check_float(text);
    char *e = strchr(text, 'e');
    e[-1] = '1';
    check_float(text);
    /* a hair less: the last digit that is not zero becomes smaller */
    e[-1] = '0';
    char *last = e - 1;
    while (*last == '0')
      last--;
    if (*last != '.') {
      (*last)--;
      check_float(text);
    }
  }
}
END_TEST

/* Day after day from 4713 BC on, counted with a calendar that only knows the lengths of months. */
START_TEST(dates_like_a_calendar)
{
  static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int year = -4712, month = 1, day = 1; /* astronomical */
  for (int32_t n = -2451507; n < 500000; n++) {
    char text[40];
    int len = snprintf(text, sizeof text, "%04d-%02d-%02d%s", year > 0 ? year : 1 - year, month, day,
                       year > 0 ? "" : " BC");
    twpa__canonical_form a, b;
    test_must(twpa__canonical(&a, TWPA_CLASS_DATE, TWPA_VALUE_TEXT, (twpa_bytes){text, (size_t)len}) == TWPA_OK);
    test_must(twpa__canonical(&b, TWPA_CLASS_DATE, TWPA_VALUE_BINARY, (twpa_bytes){&n, 4}) == TWPA_OK);
    if (!same(&a, &b))
      ck_abort_msg("%s is not day %d", text, (int)n);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (++day > length[month - 1] + (month == 2 && leap)) {
      day = 1;
      if (++month > 12) {
        month = 1;
        year++;
      }
    }
  }
  ck_assert_int_gt(year, 3300);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(every_other_width_is_refused)
{
  static const struct {
    uint32_t cls;
    const char *widths; /* that are right */
  } classes[] = {
      {TWPA_CLASS_INTEGER, "\1\2\4\10"}, {TWPA_CLASS_UNSIGNED, "\1\2\4\10"}, {TWPA_CLASS_BOOLEAN, "\1"},
      {TWPA_CLASS_UUID, "\20"}, {TWPA_CLASS_FLOAT, "\4\10"}, {TWPA_CLASS_FLOAT4, "\4"},
      {TWPA_CLASS_TIMESTAMP, "\10"}, {TWPA_CLASS_TIMESTAMPTZ, "\10"}, {TWPA_CLASS_INTERVAL, "\20"},
      {TWPA_CLASS_DATE, "\4"}, {TWPA_CLASS_TIME, "\10"}, {TWPA_CLASS_TIMETZ, "\14"},
  };
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    for (size_t len = 0; len < 40; len++) {
      unsigned char *bytes = calloc(1, len + 1); /* on the heap, so that a read beyond it shows */
      bool right = len != 0 && strchr(classes[i].widths, (char)len) != NULL;
      twpa__canonical_form form;
      twpa_status st = twpa__canonical(&form, classes[i].cls, TWPA_VALUE_BINARY, (twpa_bytes){bytes, len});
      ck_assert_int_eq(st, right ? TWPA_OK : TWPA_E_INVAL);
      free(bytes);
    }
}
END_TEST

static twpa_status status_of(uint32_t cls, uint32_t state, const void *data, size_t len)
{
  twpa__canonical_form form;
  return twpa__canonical(&form, cls, state, (twpa_bytes){data, len});
}

START_TEST(damaged_numerics_are_refused)
{
  static const uint16_t damaged[][4] = {
      {SHORT(0, 0, 0), 10000}, {SHORT(0, 0, 0), 0xFFFF}, {LONG(0, 0, 0), 10000}, {LONG(0, 0, 0), 1, 32768},
      {0xE000, 0},             {0xC001, 0},              {0xFFFF, 0},
  };
  for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
    ck_assert_int_eq(status_of(TWPA_CLASS_NUMERIC, TWPA_VALUE_BINARY, damaged[i], sizeof damaged[i]), TWPA_E_INVAL);
  /* odd lengths, and a long header that ends too early */
  const uint16_t fine[] = {LONG(0, 0, 0), 1, 1};
  for (size_t len = 0; len <= sizeof fine; len++)
    ck_assert_int_eq(status_of(TWPA_CLASS_NUMERIC, TWPA_VALUE_BINARY, fine, len),
                     len < 4 || len % 2 != 0 ? TWPA_E_INVAL : TWPA_OK);
}
END_TEST

START_TEST(text_of_no_value_is_refused)
{
  const sample refused[] = {
      TEXT(0, INTEGER, ""), TEXT(0, INTEGER, "-"), TEXT(0, INTEGER, "1.0"), TEXT(0, INTEGER, "1e3"),
      TEXT(0, INTEGER, " 1"), TEXT(0, INTEGER, "1 "), TEXT(0, INTEGER, "1\0"), TEXT(0, INTEGER, "+-1"),
      TEXT(0, INTEGER, "NaN"), TEXT(0, INTEGER, "0x10"), TEXT(0, UNSIGNED, "-1"), TEXT(0, UNSIGNED, "1.5"),
      TEXT(0, NUMERIC, ""), TEXT(0, NUMERIC, "."), TEXT(0, NUMERIC, "1.2.3"), TEXT(0, NUMERIC, "e5"),
      TEXT(0, NUMERIC, "1e"), TEXT(0, NUMERIC, "1e+"), TEXT(0, NUMERIC, "1e5x"), TEXT(0, NUMERIC, "1e9999999"),
      TEXT(0, NUMERIC, "1e99999999999999999999"), TEXT(0, NUMERIC, "in"), TEXT(0, NUMERIC, "infinit"),
      TEXT(0, NUMERIC, "1,5"), TEXT(0, NUMERIC, "nano"), TEXT(0, NUMERIC, "1_000"),
      TEXT(0, FLOAT, ""), TEXT(0, FLOAT, "."), TEXT(0, FLOAT, "1e"), TEXT(0, FLOAT, "1e400"), TEXT(0, FLOAT, "1e-400"),
      TEXT(0, FLOAT, "1.7976931348623159e308"), TEXT(0, FLOAT, "2.4703282292062327e-324"),
      TEXT(0, FLOAT4, "3.4028236e38"), TEXT(0, FLOAT4, "7e-46"), TEXT(0, FLOAT, "1e9999999999"), TEXT(0, FLOAT, "1 "),
      TEXT(0, FLOAT, "infinityy"), TEXT(0, FLOAT, "0x1p3"), TEXT(0, FLOAT, "1.5f"), TEXT(0, FLOAT, "nan(1)"),
      TEXT(0, BOOLEAN, ""), TEXT(0, BOOLEAN, "2"), TEXT(0, BOOLEAN, "tr"), TEXT(0, BOOLEAN, "truee"),
      TEXT(0, UUID, ""), TEXT(0, UUID, "01234567-89ab-cdef-fedc-ba987654321"),
      TEXT(0, UUID, "0123456-789ab-cdef-fedc-ba9876543210"), TEXT(0, UUID, "01234567-89ab-cdef-fedc-ba987654321g"),
      TEXT(0, UUID, "0123456789abcdeffedcba987654321`"), TEXT(0, UUID, "0123456789abcdeffedcba987654321-"),
      TEXT(0, DATE, ""), TEXT(0, DATE, "2000-13-01"), TEXT(0, DATE, "2000-00-01"), TEXT(0, DATE, "2000-01-32"),
      TEXT(0, DATE, "2000-01-00"), TEXT(0, DATE, "2001-02-29"), TEXT(0, DATE, "1900-02-29"),
      TEXT(0, DATE, "0000-01-01"),
      TEXT(0, DATE, "2000-01-01 AD"), TEXT(0, DATE, "2000-01-01 "), TEXT(0, DATE, "2000-01-01BC"),
      TEXT(0, DATE, "9999-01-01 BC"), TEXT(0, DATE, "9999999-01-01"), TEXT(0, DATE, "01/02/2000"),
      TEXT(0, DATE, "2000-01-01 00:00:00"), TEXT(0, DATE, "infinity BC"), TEXT(0, DATE, "+infinity"),
      TEXT(0, TIMESTAMP, "2000-01-01"), TEXT(0, TIMESTAMP, "2000-01-01 00:00"),
      TEXT(0, TIMESTAMP, "2000-01-01 25:00:00"),
      TEXT(0, TIMESTAMP, "2000-01-01 00:60:00"), TEXT(0, TIMESTAMP, "2000-01-01 00:00:61"),
      TEXT(0, TIMESTAMP, "2000-01-01 00:00:00."), TEXT(0, TIMESTAMP, "2000-01-01 00:00:00.1234567"),
      TEXT(0, TIMESTAMP, "2000-01-01 -01:00:00.5x"), TEXT(0, TIMESTAMP, "300000-01-01 00:00:00"),
      TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00"), TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00+"),
      TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00+24"), TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00+01:60"),
      TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00+01:"), TEXT(0, TIMESTAMPTZ, "2000-01-01 00:00:00 CET"),
      TEXT(0, TIME, ""), TEXT(0, TIME, "12:00"), TEXT(0, TIME, "12:00:00+00"), TEXT(0, TIME, "12:00:00 "),
      TEXT(0, TIMETZ, "12:00:00"), TEXT(0, TIMETZ, "12:00:00+00x"),
      TEXT(0, INTERVAL, ""), TEXT(0, INTERVAL, "1"), TEXT(0, INTERVAL, "1 "), TEXT(0, INTERVAL, "1 day "),
      TEXT(0, INTERVAL, "1 fortnight"), TEXT(0, INTERVAL, "1 days2 mons"), TEXT(0, INTERVAL, "P1D"),
      TEXT(0, INTERVAL, "00:00:00 1 day"), TEXT(0, INTERVAL, "2562047788:00:54.775808"),
      TEXT(0, INTERVAL, "9999999999:00:00"), TEXT(0, INTERVAL, "-2562047788:00:54.775809"),
      TEXT(0, INTERVAL, "178956970 years 8 mons"), TEXT(0, INTERVAL, "2147483648 days"),
      TEXT(0, INTERVAL, "99999999999 days"), TEXT(0, INTERVAL, "1 day infinity"),
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    twpa__canonical_form form;
    ck_assert_msg(canonical(&form, &refused[i]) == TWPA_E_INVAL, "number %zu, '%s'", i, (const char *)refused[i].data);
  }
}
END_TEST

START_TEST(wrong_classes_and_states_are_refused)
{
  const int64_t eight = 8;
  for (uint32_t cls = 0; cls < 100; cls++) {
    bool known = cls <= TWPA_CLASS_TIMESTAMPTZ;
    ck_assert_int_eq(twpa__canonical_known(cls), known);
    ck_assert_int_eq(status_of(cls, TWPA_VALUE_ABSENT, &eight, 8), known ? TWPA_E_INVAL : TWPA_E_UNSUPPORTED);
    ck_assert_int_eq(status_of(cls, TWPA_VALUE_NULL, &eight, 8), known ? TWPA_E_INVAL : TWPA_E_UNSUPPORTED);
    ck_assert_int_eq(status_of(cls, TWPA_VALUE_UNCHANGED, &eight, 8), known ? TWPA_E_INVAL : TWPA_E_UNSUPPORTED);
    ck_assert_int_eq(status_of(cls, 99, &eight, 8), known ? TWPA_E_INVAL : TWPA_E_UNSUPPORTED);
    ck_assert_int_eq(status_of(cls, TWPA_VALUE_TEXT, NULL, 0), known ? TWPA_E_INVAL : TWPA_E_UNSUPPORTED);
  }
  ck_assert(!twpa__canonical_known(UINT32_MAX));
  ck_assert_int_eq(status_of(TWPA_CLASS_UNKNOWN, TWPA_VALUE_BINARY, &eight, 8), TWPA_E_INVAL);
}
END_TEST

/* Mutated values of all tables in buffers of their own: refused or accepted, never read beyond the end. */
static void mutate(rng *r, const sample *samples, size_t n, int rounds)
{
  for (int i = 0; i < rounds; i++) {
    const sample *s = &samples[rng_below(r, n)];
    size_t len = s->len + rng_below(r, 3);
    unsigned char *copy = malloc(len + 1);
    memset(copy, (int)rng_below(r, 256), len + 1);
    memcpy(copy, s->data, s->len);
    for (uint64_t k = rng_below(r, 3); k > 0 && len > 0; k--)
      copy[rng_below(r, len)] = rng_chance(r, 50) ? (unsigned char)"0123456789+-.:eE TZ"[rng_below(r, 19)]
                                                  : (unsigned char)rng_below(r, 256);
    if (rng_chance(r, 30))
      len -= rng_below(r, len + 1);
    unsigned char *exact = malloc(len > 0 ? len : 1);
    memcpy(exact, copy, len);
    free(copy);
    uint32_t cls = rng_chance(r, 80) ? s->cls : (uint32_t)rng_below(r, TWPA_CLASS_TIMESTAMPTZ + 1);
    twpa__canonical_form form;
    twpa_status st = twpa__canonical(&form, cls, rng_chance(r, 90) ? s->state : TWPA_VALUE_TEXT,
                                     (twpa_bytes){exact, len});
    test_must(st == TWPA_OK || st == TWPA_E_INVAL);
    if (st == TWPA_OK) {
      test_must(form.data != NULL);
      test_must(form.data != form.scratch || form.len <= sizeof form.scratch);
      unsigned sum = 0; /* reads all of it */
      for (size_t k = 0; k < form.len; k++)
        sum += ((const unsigned char *)form.data)[k];
      test_must(sum <= form.len * 255);
    }
    free(exact);
  }
}

START_TEST(damaged_values)
{
  rng r = {test_seed(23)};
  const int rounds = 30000;
  mutate(&r, numbers, sizeof numbers / sizeof *numbers, rounds);
  mutate(&r, floats, sizeof floats / sizeof *floats, rounds);
  mutate(&r, booleans, sizeof booleans / sizeof *booleans, rounds);
  mutate(&r, uuids, sizeof uuids / sizeof *uuids, rounds);
  mutate(&r, times, sizeof times / sizeof *times, rounds);
  mutate(&r, zoned_clocks, sizeof zoned_clocks / sizeof *zoned_clocks, rounds);
  mutate(&r, intervals, sizeof intervals / sizeof *intervals, rounds);
}
END_TEST

START_TEST(what_foreign_keys_may_compare)
{
  static const struct {
    uint32_t a, b;
  } both_ways[] = {
      {TWPA_CLASS_INTEGER, TWPA_CLASS_NUMERIC},
      {TWPA_CLASS_FLOAT, TWPA_CLASS_FLOAT4},
      {TWPA_CLASS_DATE, TWPA_CLASS_TIMESTAMP},
  };
  for (uint32_t a = 0; a < 30; a++)
    for (uint32_t b = 0; b < 30; b++) {
      bool expected = a == b && a != TWPA_CLASS_UNKNOWN && a <= TWPA_CLASS_TIMESTAMPTZ;
      for (size_t i = 0; i < sizeof both_ways / sizeof *both_ways; i++)
        expected = expected || (both_ways[i].a == a && both_ways[i].b == b) ||
                   (both_ways[i].a == b && both_ways[i].b == a);
      ck_assert_int_eq(twpa__canonical_joins(a, b), expected);
    }
}
END_TEST

START_TEST(which_classes_are_their_bytes)
{
  static const uint32_t not_bytes[] = {TWPA_CLASS_UNKNOWN, TWPA_CLASS_FLOAT, TWPA_CLASS_FLOAT4, TWPA_CLASS_NUMERIC,
                                       TWPA_CLASS_BLANK_PADDED, TWPA_CLASS_FOLDED, TWPA_CLASS_INTERVAL};
  for (uint32_t cls = 0; cls < 30; cls++) {
    bool expected = cls <= TWPA_CLASS_TIMESTAMPTZ;
    for (size_t i = 0; i < sizeof not_bytes / sizeof *not_bytes; i++)
      expected = expected && cls != not_bytes[i];
    ck_assert_int_eq(twpa__canonical_is_bytes(cls), expected);
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("canonical");
  TCase *t = tcase_create("tables");
  tcase_add_test(t, whole_and_decimal_numbers);
  tcase_add_test(t, floating_point_numbers);
  tcase_add_test(t, booleans_and_uuids);
  tcase_add_test(t, strings_of_bytes);
  tcase_add_test(t, dates_and_times);
  tcase_add_test(t, lengths_of_time);
  suite_add_tcase(s, t);
  t = tcase_create("models");
  tcase_add_test(t, decimal_numbers_like_strings);
  tcase_add_test(t, very_long_numbers_are_cut_and_say_so);
  tcase_add_test(t, floats_like_the_c_library);
  tcase_add_test(t, floats_halfway_between_two);
  tcase_add_test(t, dates_like_a_calendar);
  suite_add_tcase(s, t);
  t = tcase_create("refused");
  tcase_add_test(t, every_other_width_is_refused);
  tcase_add_test(t, damaged_numerics_are_refused);
  tcase_add_test(t, text_of_no_value_is_refused);
  tcase_add_test(t, wrong_classes_and_states_are_refused);
  tcase_add_test(t, damaged_values);
  suite_add_tcase(s, t);
  t = tcase_create("facts");
  tcase_add_test(t, what_foreign_keys_may_compare);
  tcase_add_test(t, which_classes_are_their_bytes);
  suite_add_tcase(s, t);
  return run_suite(s);
}
