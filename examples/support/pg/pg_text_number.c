/*
 * Numbers. Floating point: the fewest digits that lie strictly inside the interval of decimals that are read back as the
 * value. PostgreSQL leaves out the ends of that interval, which a correct reader would round to the value as well, so a
 * candidate that is exactly half way to a neighbour is not taken.
 */
#include "support/pg/pg_text_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  DIGITS_MAX = 17
};

/* Digits d1 d2 d3 ... of d1.d2d3... x 10^exponent. */
typedef struct decimal {
  char digits[DIGITS_MAX + 1];
  int count, exponent;
} decimal;

/* printf's %e of the value with n digits, taken apart. */
static void round_to(decimal *d, double value, int n)
{
  char text[64];
  snprintf(text, sizeof text, "%.*e", n - 1, value);
  const char *e = strchr(text, 'e');
  d->count = 0;
  for (const char *p = text; p < e; p++)
    if (*p >= '0' && *p <= '9')
      d->digits[d->count++] = *p;
  d->digits[d->count] = 0;
  d->exponent = atoi(e + 1);
}

/* Adds 1 to the last digit, or takes 1 away. False if that would change the number of digits. */
static bool step(decimal *d, int by)
{
  for (int i = d->count - 1; i >= 0; i--) {
    int digit = d->digits[i] - '0' + by;
    if (digit >= 0 && digit <= 9) {
      d->digits[i] = (char)('0' + digit);
      return i > 0 || digit > 0;
    }
    d->digits[i] = (char)(by > 0 ? '0' : '9');
  }
  return false;
}

/* Is the decimal exactly the middle of two numbers? Both neighbours and the middle fit into a long double. */
static bool is_middle(const decimal *d, const char *text, double a, double b)
{
  long double middle = ((long double)a + (long double)b) / 2;
  if (strtold(text, NULL) != middle)
    return false;
  char exact[1200]; /* all its digits: behind those of the candidate there must be zeroes */
  snprintf(exact, sizeof exact, "%.1100Le", middle);
  int at = 0;
  for (const char *p = exact; *p != 'e' && *p != 0; p++) {
    if (*p < '0' || *p > '9')
      continue;
    if (*p != (at < d->count ? d->digits[at] : '0'))
      return false;
    at++;
  }
  return true;
}

/* value > 0. Is the decimal read back as the value, and no end of its interval? */
static bool reads_back(const decimal *d, double value, bool single)
{
  char text[64];
  snprintf(text, sizeof text, "%c.%se%d", d->digits[0], d->digits + 1, d->exponent);
  double below, above;
  if (single) {
    if ((double)strtof(text, NULL) != value)
      return false;
    below = (double)nextafterf((float)value, 0.0f);
    above = (double)nextafterf((float)value, INFINITY);
  } else {
    if (strtod(text, NULL) != value)
      return false;
    below = nextafter(value, 0.0);
    above = nextafter(value, (double)INFINITY);
  }
  return !is_middle(d, text, below, value) && (isinf(above) || !is_middle(d, text, value, above));
}

static void shortest(decimal *d, double value, bool single)
{
  for (int n = 1; n <= DIGITS_MAX; n++) {
    for (int by = 0; by <= 2; by++) {
      round_to(d, value, n);
      if ((by == 0 || step(d, by == 1 ? 1 : -1)) && reads_back(d, value, single)) {
        while (d->count > 1 && d->digits[d->count - 1] == '0')
          d->digits[--d->count] = 0;
        return;
      }
    }
  }
  round_to(d, value, DIGITS_MAX);
}

static void add_decimal(pg_buf *out, const decimal *d, int plain_digits)
{
  if (d->exponent < -4 || d->exponent >= plain_digits) {
    pg_buf_char(out, d->digits[0]);
    if (d->count > 1)
      pg_buf_format(out, ".%s", d->digits + 1);
    pg_buf_format(out, "e%c%02d", d->exponent < 0 ? '-' : '+', abs(d->exponent));
  } else if (d->exponent < 0) {
    pg_buf_format(out, "0.%.*s%s", -d->exponent - 1, "000", d->digits);
  } else {
    for (int i = 0; i <= d->exponent || i < d->count; i++) {
      if (i == d->exponent + 1)
        pg_buf_char(out, '.');
      pg_buf_char(out, i < d->count ? d->digits[i] : '0');
    }
  }
}

static void add_float(pg_buf *out, double value, bool single)
{
  if (isnan(value)) {
    pg_buf_text(out, "NaN");
    return;
  }
  if (signbit(value))
    pg_buf_char(out, '-');
  value = fabs(value);
  if (isinf(value)) {
    pg_buf_text(out, "Infinity");
  } else if (value == 0) {
    pg_buf_char(out, '0');
  } else {
    decimal d;
    shortest(&d, value, single);
    add_decimal(out, &d, single ? 6 : 15);
  }
}

void pg_text_float4(pg_buf *out, float value)
{
  add_float(out, (double)value, true);
}

void pg_text_float8(pg_buf *out, double value)
{
  add_float(out, value, false);
}

/*
 * Numeric: a header of two bytes and digits of base 10000, the first one worth 10000^weight. Short form (top bits 10):
 * sign 0x2000, decimals in bits 7-12, weight in bits 0-6 with sign. Long form (top bits 00, or 01 for negative): decimals
 * in bits 0-13, weight in the next two bytes. Top bits 11: not a number, or infinite.
 */
bool pg_text_numeric(pg_buf *out, const uint8_t *p, size_t len)
{
  if (len < 2)
    return false;
  unsigned header = pg_u16(p);
  if ((header & 0xC000) == 0xC000) {
    pg_buf_text(out, (header & 0xF000) == 0xD000 ? "Infinity" : (header & 0xF000) == 0xF000 ? "-Infinity" : "NaN");
    return len == 2;
  }
  bool is_short = (header & 0x8000) != 0;
  size_t at = is_short ? 2 : 4;
  if (len < at || (len - at) % 2 != 0)
    return false;
  bool negative = (header & (is_short ? 0x2000u : 0x4000u)) != 0;
  int decimals = is_short ? (int)(header >> 7 & 0x3F) : (int)(header & 0x3FFF);
  int weight = is_short ? (int)(header & 0x3F) - ((header & 0x40) != 0 ? 64 : 0) : (int16_t)pg_u16(p + 2);
  int count = (int)((len - at) / 2);
  p += at;
  for (int i = 0; i < count; i++)
    if (pg_u16(p + 2 * i) > 9999)
      return false;
  if (negative)
    pg_buf_char(out, '-');
  if (weight < 0)
    pg_buf_char(out, '0');
  for (int i = 0; i <= weight; i++)
    pg_buf_format(out, i == 0 ? "%d" : "%04d", i < count ? (int)pg_u16(p + 2 * i) : 0);
  if (decimals > 0)
    pg_buf_char(out, '.');
  for (int i = 0; i < decimals; i++) {
    static const int powers[] = {1000, 100, 10, 1};
    int group = weight + 1 + i / 4;
    int digit = group >= 0 && group < count ? (int)pg_u16(p + 2 * group) / powers[i % 4] % 10 : 0;
    pg_buf_char(out, (char)('0' + digit));
  }
  return true;
}
