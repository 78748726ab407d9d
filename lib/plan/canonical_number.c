/*
 * Whole and decimal numbers. All ways of writing a number (integers of every width, decimal text with or without an
 * exponent, PostgreSQL's stored numeric in its short and its long form, with leading or trailing zeroes) come down to
 * one: sign, weight of the first digit, digits to the base of 10000, none of them zero at either end. The base is
 * that of PostgreSQL, so that its stored digits need no conversion. A whole number that fits into 64 bits with sign
 * is then written as the integer it is.
 */
#include "plan/canonical_parts.h"

#include "base/assert.h"

#include <string.h>

#define BASE 10000
#define HEAD 5 /* kind, weight */
#define MAX_DIGITS ((TWPA__CANONICAL_SCRATCH - HEAD) / 2)

/* First byte of the decimal form; its length is odd, so it is never taken for an integer of 8 bytes. */
enum {
  KIND_POSITIVE = 1,
  KIND_NEGATIVE = 2,
  KIND_NAN = 3,
  KIND_PLUS_INFINITY = 4,
  KIND_MINUS_INFINITY = 5
};

typedef struct decimal {
  bool negative;
  bool cut;       /* there are more digits than there is room for */
  int32_t weight; /* digits[0] counts BASE^weight */
  uint32_t n;
  uint16_t digits[MAX_DIGITS];
} decimal;

static twpa_status put_kind(twpa__canonical_form *form, unsigned char kind)
{
  form->scratch[0] = kind;
  return twpa__form_scratch(form, 1);
}

/* The number as an integer, if it is one and fits. */
static bool to_int64(int64_t *out, const decimal *d)
{
  if (d->n == 0) {
    *out = 0;
    return true;
  }
  if (d->cut || d->weight < 0 || d->weight > 4 || d->n > (uint32_t)d->weight + 1)
    return false;
  const uint64_t limit = d->negative ? UINT64_C(1) << 63 : INT64_MAX;
  uint64_t v = 0;
  for (uint32_t i = 0; i <= (uint32_t)d->weight; i++) {
    uint64_t digit = i < d->n ? d->digits[i] : 0;
    if (v > (limit - digit) / BASE)
      return false;
    v = v * BASE + digit;
  }
  *out = d->negative ? (int64_t)(0 - v) : (int64_t)v;
  return true;
}

static twpa_status put_decimal(twpa__canonical_form *form, const decimal *d)
{
  TWPA__ASSERT(d->n == 0 || (d->digits[0] != 0 && (d->cut || d->digits[d->n - 1] != 0)));
  int64_t whole;
  if (to_int64(&whole, d))
    return twpa__form_int64(form, whole);
  form->exact = !d->cut;
  form->scratch[0] = d->negative ? KIND_NEGATIVE : KIND_POSITIVE;
  twpa__put32(form->scratch + 1, (uint32_t)d->weight);
  for (uint32_t i = 0; i < d->n; i++) {
    form->scratch[HEAD + 2 * i] = (unsigned char)d->digits[i];
    form->scratch[HEAD + 2 * i + 1] = (unsigned char)(d->digits[i] >> 8);
  }
  return twpa__form_scratch(form, HEAD + 2 * (size_t)d->n);
}

twpa_status twpa__canonical_uint64(twpa__canonical_form *form, uint64_t v)
{
  if (v <= INT64_MAX)
    return twpa__form_int64(form, (int64_t)v);
  /* 2^63 and more have 19 or 20 decimal digits, five to this base. */
  decimal d = {.weight = 4, .n = 5};
  for (int i = 4; i >= 0; i--) {
    d.digits[i] = (uint16_t)(v % BASE);
    v /= BASE;
  }
  while (d.digits[d.n - 1] == 0)
    d.n--;
  return put_decimal(form, &d);
}

/* Text of a number: where its digits that count begin and end, and what the first of them counts. */
typedef struct decimal_text {
  bool negative;
  const unsigned char *first, *last; /* first and last digit that is not zero; NULL for zero */
  int64_t power;                     /* *first counts 10^power */
} decimal_text;

#define MAX_EXPONENT 1000000

static bool scan_exponent(twpa__text *t, int64_t *out)
{
  bool negative = twpa__text_take(t, '-');
  if (!negative)
    (void)twpa__text_take(t, '+');
  if (!twpa__text_number(t, 18, out) || !twpa__text_done(t) || *out > MAX_EXPONENT)
    return false;
  if (negative)
    *out = -*out;
  return true;
}

/* [sign] digits [. digits] [e exponent], with a digit before or after the point. */
static bool scan(decimal_text *d, twpa__text t, bool whole)
{
  *d = (decimal_text){0};
  d->negative = twpa__text_take(&t, '-');
  if (!d->negative)
    (void)twpa__text_take(&t, '+');
  int64_t index = 0, first_index = 0, point = -1;
  for (; t.p < t.end; t.p++) {
    if (*t.p == '.' && point < 0 && !whole) {
      point = index;
      continue;
    }
    if (!twpa__is_digit(*t.p))
      break;
    if (*t.p != '0') {
      if (d->first == NULL) {
        d->first = t.p;
        first_index = index;
      }
      d->last = t.p;
    }
    index++;
  }
  if (index == 0)
    return false;
  int64_t exponent = 0;
  if (!twpa__text_done(&t) && (whole || !twpa__text_word(&t, "e") || !scan_exponent(&t, &exponent)))
    return false;
  d->power = (point < 0 ? index : point) - 1 - first_index + exponent;
  return true;
}

/* Rounds towards minus infinity. */
static int64_t floor_div4(int64_t v)
{
  return (v - (v < 0 ? 3 : 0)) / 4;
}

static bool gather(decimal *d, const decimal_text *text)
{
  static const uint16_t tens[] = {1, 10, 100, 1000};
  *d = (decimal){.negative = text->negative};
  if (text->first == NULL)
    return true;
  int64_t power = text->power, group = floor_div4(power);
  if (group > INT32_MAX / 2 || group < INT32_MIN / 2)
    return false;
  d->weight = (int32_t)group;
  for (const unsigned char *p = text->first; p <= text->last; p++) {
    if (*p == '.')
      continue;
    uint64_t at = (uint64_t)(group - floor_div4(power));
    if (at >= MAX_DIGITS) {
      d->cut = true;
      break;
    }
    d->n = (uint32_t)at + 1;
    d->digits[at] = (uint16_t)(d->digits[at] + (*p - '0') * tens[(unsigned)(power - 4 * floor_div4(power))]);
    power--;
  }
  return true;
}

/* NaN and the infinities; false if the text is something else. */
static bool special_text(twpa__canonical_form *form, twpa__text t)
{
  if (twpa__text_word(&t, "nan") && twpa__text_done(&t)) {
    (void)put_kind(form, KIND_NAN);
    return true;
  }
  bool negative = twpa__text_take(&t, '-');
  if (!negative)
    (void)twpa__text_take(&t, '+');
  if (!twpa__text_word(&t, "inf") || !(twpa__text_done(&t) || (twpa__text_word(&t, "inity") && twpa__text_done(&t))))
    return false;
  (void)put_kind(form, negative ? KIND_MINUS_INFINITY : KIND_PLUS_INFINITY);
  return true;
}

/* The usual case, a sign and at most 18 digits; false says nothing. */
static bool short_integer(int64_t *out, twpa__text t)
{
  bool negative = twpa__text_take(&t, '-');
  if (!twpa__text_number(&t, 18, out) || !twpa__text_done(&t))
    return false;
  if (negative)
    *out = -*out;
  return true;
}

twpa_status twpa__canonical_decimal_text(twpa__canonical_form *form, twpa_bytes bytes, bool whole, bool is_signed)
{
  int64_t number;
  if (short_integer(&number, twpa__text_of(bytes)) && (number >= 0 || is_signed))
    return twpa__form_int64(form, number);
  decimal_text text;
  decimal d;
  if (!scan(&text, twpa__text_of(bytes), whole))
    return !whole && special_text(form, twpa__text_of(bytes)) ? TWPA_OK : TWPA_E_INVAL;
  if (text.negative && !is_signed && text.first != NULL)
    return TWPA_E_INVAL;
  if (!gather(&d, &text))
    return TWPA_E_INVAL;
  return put_decimal(form, &d);
}

/* PostgreSQL's numeric: a header of 16 bits that says which of the forms it is, or is part of the long form. */
#define STORED_KIND 0xC000u
#define STORED_NEGATIVE 0x4000u
#define STORED_SHORT 0x8000u
#define STORED_NAN 0xC000u
#define STORED_PLUS_INFINITY 0xD000u
#define STORED_MINUS_INFINITY 0xF000u
#define SHORT_NEGATIVE 0x2000u
#define SHORT_WEIGHT_NEGATIVE 0x0040u
#define SHORT_WEIGHT 0x003Fu

static twpa_status special_stored(twpa__canonical_form *form, unsigned header)
{
  switch (header) {
  case STORED_NAN:
    return put_kind(form, KIND_NAN);
  case STORED_PLUS_INFINITY:
    return put_kind(form, KIND_PLUS_INFINITY);
  case STORED_MINUS_INFINITY:
    return put_kind(form, KIND_MINUS_INFINITY);
  default:
    return TWPA_E_INVAL;
  }
}

static uint16_t read16(const unsigned char *p)
{
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

twpa_status twpa__canonical_decimal_stored(twpa__canonical_form *form, twpa_bytes bytes)
{
  const unsigned char *p = bytes.data;
  size_t len = bytes.len;
  if (len < 2 || len % 2 != 0)
    return TWPA_E_INVAL;
  unsigned header = read16(p);
  if ((header & STORED_KIND) == STORED_KIND)
    return special_stored(form, header);
  decimal d; /* its digits stay as they are: clearing them would take longer than reading a usual number */
  int32_t weight;
  size_t head = 2;
  if ((header & STORED_KIND) == STORED_SHORT) {
    d.negative = (header & SHORT_NEGATIVE) != 0;
    weight = (int32_t)(header & SHORT_WEIGHT);
    if ((header & SHORT_WEIGHT_NEGATIVE) != 0)
      weight -= (int32_t)SHORT_WEIGHT + 1;
  } else {
    head = 4;
    if (len < head)
      return TWPA_E_INVAL;
    d.negative = (header & STORED_KIND) == STORED_NEGATIVE;
    int16_t w;
    memcpy(&w, p + 2, sizeof w);
    weight = w;
  }
  p += head;
  size_t n = (len - head) / 2;
  for (size_t i = 0; i < n; i++)
    if (read16(p + 2 * i) >= BASE)
      return TWPA_E_INVAL;
  while (n > 0 && read16(p + 2 * (n - 1)) == 0)
    n--;
  for (; n > 0 && read16(p) == 0; n--, p += 2)
    weight--;
  d.weight = weight;
  d.cut = n > MAX_DIGITS;
  d.n = (uint32_t)(d.cut ? MAX_DIGITS : n);
  for (uint32_t i = 0; i < d.n; i++)
    d.digits[i] = read16(p + 2 * (size_t)i);
  return put_decimal(form, &d);
}
