/*
 * Floating point numbers: the bits of the double, with one zero and one NaN.
 *
 * Text is read without the C library, whose result depends on the locale: the decimal number is a fraction of two big
 * integers, N/D * 2^e, and a quotient of 63 bits with the remainder is enough to round it correctly to either
 * precision. Single precision is rounded once, from the decimal number, and then widened, which loses nothing.
 */
#include "plan/canonical_parts.h"

#include "base/assert.h"

#include <string.h>

#define NAN_BITS UINT64_C(0x7FF8000000000000)
#define INFINITY_BITS UINT64_C(0x7FF0000000000000)
#define SIGN_BIT UINT64_C(0x8000000000000000)

TWPA__STATIC_ASSERT(sizeof(double) == 8 && sizeof(float) == 4, "IEEE numbers");

static twpa_status put_bits(twpa__canonical_form *form, uint64_t bits)
{
  if (bits == SIGN_BIT)
    bits = 0;
  else if ((bits & ~SIGN_BIT) > INFINITY_BITS)
    bits = NAN_BITS;
  twpa__put64(form->scratch, bits);
  return twpa__form_scratch(form, 8);
}

twpa_status twpa__canonical_float_binary(twpa__canonical_form *form, twpa_bytes bytes)
{
  uint64_t bits;
  if (bytes.len == 8) {
    memcpy(&bits, bytes.data, 8);
    return put_bits(form, bits);
  }
  if (bytes.len != 4)
    return TWPA_E_INVAL;
  uint32_t single_bits;
  float single;
  memcpy(&single_bits, bytes.data, 4);
  if ((single_bits & 0x7FFFFFFF) > 0x7F800000)
    return put_bits(form, NAN_BITS);
  memcpy(&single, bytes.data, 4);
  double wide = (double)single;
  memcpy(&bits, &wide, 8);
  return put_bits(form, bits);
}

/*
 * Digits beyond MAX_SIGNIFICANT only say on which side of a border a number lies, and the borders between two doubles
 * have fewer digits than that (767): one further digit stands for all of them. The smallest number has a power of
 * -324 before MAX_SIGNIFICANT digits, so the largest integer is 5^1124 * 2^63, or digits of the same size: 2700 bits.
 */
#define MAX_SIGNIFICANT 800
#define WORDS 96

typedef struct big {
  size_t n; /* words in use; the highest is not zero */
  uint32_t w[WORDS];
} big;

static void big_mul_add(big *b, uint32_t factor, uint32_t add)
{
  uint64_t carry = add;
  for (size_t i = 0; i < b->n; i++) {
    carry += (uint64_t)b->w[i] * factor;
    b->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0) {
    TWPA__ASSERT(b->n < WORDS);
    b->w[b->n++] = (uint32_t)carry;
  }
}

static void big_mul_pow5(big *b, uint32_t power)
{
  for (; power >= 13; power -= 13)
    big_mul_add(b, 1220703125u, 0);
  for (; power > 0; power--)
    big_mul_add(b, 5, 0);
}

static size_t big_bits(const big *b)
{
  size_t bits = (b->n - 1) * 32;
  for (uint32_t top = b->w[b->n - 1]; top != 0; top >>= 1)
    bits++;
  return bits;
}

static void big_shift_left(big *b, size_t bits)
{
  size_t words = bits / 32;
  TWPA__ASSERT(b->n + words < WORDS);
  memmove(b->w + words, b->w, b->n * sizeof *b->w);
  memset(b->w, 0, words * sizeof *b->w);
  b->n += words;
  big_mul_add(b, UINT32_C(1) << (bits % 32), 0);
}

static void big_halve(big *b)
{
  for (size_t i = 0; i < b->n; i++)
    b->w[i] = b->w[i] >> 1 | (i + 1 < b->n ? b->w[i + 1] << 31 : 0);
  if (b->n > 0 && b->w[b->n - 1] == 0)
    b->n--;
}

/* a -= b if that is not negative. */
static bool big_try_sub(big *a, const big *b)
{
  if (a->n < b->n)
    return false;
  if (a->n == b->n)
    for (size_t i = a->n; i-- > 0 && a->w[i] <= b->w[i];)
      if (a->w[i] < b->w[i])
        return false;
  uint64_t borrow = 0;
  for (size_t i = 0; i < a->n; i++) {
    uint64_t diff = (uint64_t)a->w[i] - (i < b->n ? b->w[i] : 0) - borrow;
    a->w[i] = (uint32_t)diff;
    borrow = diff >> 63;
  }
  while (a->n > 0 && a->w[a->n - 1] == 0)
    a->n--;
  return true;
}

/* The number is digits * 10^power. */
typedef struct decimal {
  bool negative;
  int64_t power;
  size_t ndigits;
  big digits;
} decimal;

static void add_digit(decimal *d, unsigned digit, bool *more)
{
  if (d->ndigits >= MAX_SIGNIFICANT) {
    *more = *more || digit != 0;
    d->power++;
    return;
  }
  if (d->ndigits == 0 && digit == 0)
    return;
  big_mul_add(&d->digits, 10, digit);
  d->ndigits++;
}

static bool scan_exponent(decimal *d, twpa__text *t)
{
  int64_t exponent;
  bool negative = twpa__text_take(t, '-');
  if (!negative)
    (void)twpa__text_take(t, '+');
  if (!twpa__text_number(t, 9, &exponent))
    return false;
  d->power += negative ? -exponent : exponent;
  return true;
}

static bool scan(decimal *d, twpa__text t)
{
  d->power = 0;
  d->ndigits = 0;
  d->digits.n = 0;
  bool any = false, more = false, point = false;
  for (; t.p < t.end; t.p++) {
    if (*t.p == '.' && !point) {
      point = true;
      continue;
    }
    if (!twpa__is_digit(*t.p))
      break;
    any = true;
    d->power -= point;
    add_digit(d, (unsigned)(*t.p - '0'), &more);
  }
  if (!any || (twpa__text_word(&t, "e") && !scan_exponent(d, &t)) || !twpa__text_done(&t))
    return false;
  if (more) {
    big_mul_add(&d->digits, 10, 1);
    d->power--;
  }
  return true;
}

/* The bits of m * 2^power, which is a double; false if it is too large to be one. */
static bool assemble(uint64_t *bits, uint64_t m, int64_t power)
{
  for (; m < UINT64_C(1) << 52 && power > -1074; power--)
    m <<= 1;
  if (m < UINT64_C(1) << 52) {
    *bits = m;
    return true;
  }
  TWPA__ASSERT(m < UINT64_C(1) << 53);
  if (power + 1075 >= 2047)
    return false;
  *bits = (uint64_t)(power + 1075) << 52 | (m & ((UINT64_C(1) << 52) - 1));
  return true;
}

/*
 * Rounds q * 2^power (and a bit more, if `more`), q having 62 or 63 bits, to a number of the precision: half to even.
 * False if that is zero or too large.
 */
static bool round_to(uint64_t *bits, uint64_t q, int64_t power, bool more, bool single)
{
  const int precision = single ? 24 : 53;
  const int64_t lowest = single ? -149 : -1074; /* the power of two that the last bit can count */
  int length = q >> 62 != 0 ? 63 : 62;
  int64_t drop = length - precision;
  if (power + drop < lowest)
    drop = lowest - power;
  if (drop > 63)
    return false;
  uint64_t m = drop < 63 ? q >> drop : 0, rest = q & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
  if (rest > half || (rest == half && (more || (m & 1) != 0)))
    m++;
  power += drop;
  if (m >> precision != 0) {
    m >>= 1;
    power++;
  }
  if (m == 0 || (single && power > 127 - 23))
    return false;
  return assemble(bits, m, power);
}

static bool to_bits(uint64_t *bits, decimal *d, bool single)
{
  int64_t magnitude = (int64_t)d->ndigits + d->power;
  if (magnitude > 310 || magnitude < -330)
    return false;
  big *n = &d->digits;
  big den = {.n = 1, .w = {1}};
  if (d->power >= 0)
    big_mul_pow5(n, (uint32_t)d->power);
  else
    big_mul_pow5(&den, (uint32_t)-d->power);
  /* n/den is brought between 2^61 and 2^63. */
  int64_t shift = 62 - ((int64_t)big_bits(n) - (int64_t)big_bits(&den));
  if (shift > 0)
    big_shift_left(n, (size_t)shift);
  else
    big_shift_left(&den, (size_t)-shift);
  big_shift_left(&den, 62);
  uint64_t q = 0;
  for (int i = 0; i < 63; i++) {
    q = q << 1 | (big_try_sub(n, &den) ? 1 : 0);
    big_halve(&den);
  }
  return round_to(bits, q, d->power - shift, n->n != 0, single);
}

twpa_status twpa__canonical_float_text(twpa__canonical_form *form, twpa_bytes bytes, bool single)
{
  twpa__text t = twpa__text_of(bytes);
  bool negative = twpa__text_take(&t, '-');
  if (!negative)
    (void)twpa__text_take(&t, '+');
  twpa__text word = t;
  if (twpa__text_word(&word, "nan"))
    return twpa__text_done(&word) ? put_bits(form, NAN_BITS) : TWPA_E_INVAL;
  uint64_t bits = INFINITY_BITS;
  if (twpa__text_word(&word, "inf")) {
    if (!twpa__text_done(&word) && !(twpa__text_word(&word, "inity") && twpa__text_done(&word)))
      return TWPA_E_INVAL;
  } else {
    decimal d;
    if (!scan(&d, t))
      return TWPA_E_INVAL;
    bits = 0;
    if (d.ndigits > 0 && !to_bits(&bits, &d, single))
      return TWPA_E_INVAL;
  }
  return put_bits(form, negative ? bits | SIGN_BIT : bits);
}
