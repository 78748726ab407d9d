/*
 * Canonical forms.
 *
 * A conflict key is a hash, so two values that are equal for the database must be the same bytes before they are
 * hashed: a difference here is a conflict that is missed, and rows that end up wrong. The opposite mistake, equal
 * bytes for different values, costs parallelism only, and it is reported (`exact`), because the row memory decides on
 * these bytes whether a value has changed.
 *
 *   class                     canonical bytes
 *   bytes, folded             the value itself
 *   char(n)                   the value without its trailing blanks
 *   integer, unsigned         8 bytes; above INT64_MAX the form of a decimal number
 *   numeric                   a whole number that fits: the 8 bytes of the integer; otherwise sign, weight and digits
 *                             to the base of 10000, without zeroes at either end; one byte for NaN and each infinity
 *   float                     the 8 bytes of the double; one zero, one NaN
 *   boolean, uuid             1 byte, 16 bytes
 *   date, timestamp           8 bytes of microseconds; a date outside of their range: 4 bytes of days
 *   time, timetz              8 bytes; 8 and the 4 of the zone
 *   interval                  whole days and the rest, 8 bytes each, a month being 30 days
 *
 * Numbers are written little-endian. The two forms, binary and text, of one value end in the same bytes; so do equal
 * values of the classes that twpa__canonical_joins pairs. Whatever is not a value of its class is refused: the caller
 * degrades to something coarser and never reads a refusal as "no conflict". No allocation; the cost is the length of
 * the value, a few nanoseconds for the binary form of a number.
 */
#include "plan/canonical.h"

#include "plan/canonical_parts.h"

#include <string.h>

bool twpa__text_word(twpa__text *t, const char *word)
{
  const unsigned char *p = t->p;
  for (; *word != '\0'; word++, p++)
    if (p == t->end || (*p | 0x20) != (unsigned char)*word)
      return false;
  t->p = p;
  return true;
}

bool twpa__text_number(twpa__text *t, int most, int64_t *out)
{
  int64_t v = 0;
  int n = 0;
  for (; n < most && t->p < t->end && twpa__is_digit(*t->p); n++)
    v = v * 10 + (*t->p++ - '0');
  if (n == 0)
    return false;
  *out = v;
  return true;
}

static twpa_status borrowed(twpa__canonical_form *form, const void *data, size_t len)
{
  form->data = data;
  form->len = len;
  return TWPA_OK;
}

static bool read_signed(int64_t *out, twpa_bytes bytes)
{
  int8_t v8;
  int16_t v16;
  int32_t v32;
  switch (bytes.len) {
  case 1:
    memcpy(&v8, bytes.data, 1);
    *out = v8;
    return true;
  case 2:
    memcpy(&v16, bytes.data, 2);
    *out = v16;
    return true;
  case 4:
    memcpy(&v32, bytes.data, 4);
    *out = v32;
    return true;
  case 8:
    memcpy(out, bytes.data, 8);
    return true;
  default:
    return false;
  }
}

static bool read_unsigned(uint64_t *out, twpa_bytes bytes)
{
  int64_t v;
  if (!read_signed(&v, bytes))
    return false;
  *out = bytes.len == 8 ? (uint64_t)v : (uint64_t)v & ((UINT64_C(1) << (8 * bytes.len)) - 1);
  return true;
}

static int32_t read32(const unsigned char *p)
{
  int32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static int64_t read64(const unsigned char *p)
{
  int64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static twpa_status boolean(twpa__canonical_form *form, unsigned value)
{
  form->scratch[0] = value != 0;
  return twpa__form_scratch(form, 1);
}

static twpa_status boolean_text(twpa__canonical_form *form, twpa_bytes bytes)
{
  static const char *const words[] = {"false", "true", "f", "t"};
  twpa__text t = twpa__text_of(bytes);
  if (bytes.len == 1 && (*t.p == '0' || *t.p == '1'))
    return boolean(form, *t.p == '1');
  for (unsigned i = 0; i < 4; i++)
    if (bytes.len == strlen(words[i]) && twpa__text_word(&t, words[i]))
      return boolean(form, i & 1);
  return TWPA_E_INVAL;
}

/* 32 hexadecimal digits, with hyphens after the 8th, 12th, 16th and 20th or without any. */
static twpa_status uuid_text(twpa__canonical_form *form, twpa_bytes bytes)
{
  if (bytes.len != 36 && bytes.len != 32)
    return TWPA_E_INVAL;
  twpa__text t = twpa__text_of(bytes);
  for (size_t n = 0; n < 32; n++) {
    if (bytes.len == 36 && (n == 8 || n == 12 || n == 16 || n == 20) && !twpa__text_take(&t, '-'))
      return TWPA_E_INVAL;
    unsigned char c = *t.p++;
    unsigned digit = twpa__is_digit(c) ? (unsigned)(c - '0') : ((unsigned)c | 0x20u) - 'a' + 10u;
    if (digit > 15 || (!twpa__is_digit(c) && digit < 10))
      return TWPA_E_INVAL;
    form->scratch[n / 2] = (unsigned char)(n % 2 == 0 ? digit << 4 : form->scratch[n / 2] | digit);
  }
  return twpa__form_scratch(form, 16);
}

static twpa_status blank_padded(twpa__canonical_form *form, twpa_bytes bytes)
{
  const unsigned char *p = bytes.data;
  size_t len = bytes.len;
  while (len > 0 && p[len - 1] == ' ')
    len--;
  return borrowed(form, p, len);
}

static twpa_status of_text(twpa__canonical_form *form, uint32_t cls, twpa_bytes bytes)
{
  switch (cls) {
  case TWPA_CLASS_INTEGER:
    return twpa__canonical_decimal_text(form, bytes, true, true);
  case TWPA_CLASS_UNSIGNED:
    return twpa__canonical_decimal_text(form, bytes, true, false);
  case TWPA_CLASS_NUMERIC:
    return twpa__canonical_decimal_text(form, bytes, false, true);
  case TWPA_CLASS_BOOLEAN:
    return boolean_text(form, bytes);
  case TWPA_CLASS_UUID:
    return uuid_text(form, bytes);
  case TWPA_CLASS_FLOAT:
  case TWPA_CLASS_FLOAT4:
    return twpa__canonical_float_text(form, bytes, cls == TWPA_CLASS_FLOAT4);
  case TWPA_CLASS_INTERVAL:
    return twpa__canonical_interval_text(form, bytes);
  default:
    return twpa__canonical_time_text(form, cls, bytes);
  }
}

static twpa_status of_binary(twpa__canonical_form *form, uint32_t cls, twpa_bytes bytes)
{
  const unsigned char *p = bytes.data;
  int64_t v;
  uint64_t u;
  switch (cls) {
  case TWPA_CLASS_INTEGER:
    return read_signed(&v, bytes) ? twpa__form_int64(form, v) : TWPA_E_INVAL;
  case TWPA_CLASS_UNSIGNED:
    return read_unsigned(&u, bytes) ? twpa__canonical_uint64(form, u) : TWPA_E_INVAL;
  case TWPA_CLASS_NUMERIC:
    return twpa__canonical_decimal_stored(form, bytes);
  case TWPA_CLASS_BOOLEAN:
    return bytes.len == 1 ? boolean(form, *p) : TWPA_E_INVAL;
  case TWPA_CLASS_UUID:
    return bytes.len == 16 ? borrowed(form, p, 16) : TWPA_E_INVAL;
  case TWPA_CLASS_FLOAT:
    return twpa__canonical_float_binary(form, bytes);
  case TWPA_CLASS_FLOAT4:
    return bytes.len == 4 ? twpa__canonical_float_binary(form, bytes) : TWPA_E_INVAL;
  case TWPA_CLASS_INTERVAL:
    return bytes.len == 16 ? twpa__canonical_interval(form, read64(p), read32(p + 8), read32(p + 12)) : TWPA_E_INVAL;
  case TWPA_CLASS_DATE:
    return bytes.len == 4 ? twpa__canonical_date(form, read32(p)) : TWPA_E_INVAL;
  case TWPA_CLASS_TIMETZ:
    return bytes.len == 12 ? twpa__canonical_timetz(form, read64(p), read32(p + 8)) : TWPA_E_INVAL;
  default: /* timestamp, timestamptz, time */
    return bytes.len == 8 ? twpa__form_int64(form, read64(p)) : TWPA_E_INVAL;
  }
}

twpa_status twpa__canonical(twpa__canonical_form *form, uint32_t cls, uint32_t state, twpa_bytes bytes)
{
  if (!twpa__canonical_known(cls))
    return TWPA_E_UNSUPPORTED;
  if (cls == TWPA_CLASS_UNKNOWN || bytes.data == NULL || (state != TWPA_VALUE_BINARY && state != TWPA_VALUE_TEXT))
    return TWPA_E_INVAL;
  form->exact = true;
  if (cls == TWPA_CLASS_BYTES || cls == TWPA_CLASS_FOLDED)
    return borrowed(form, bytes.data, bytes.len);
  if (cls == TWPA_CLASS_BLANK_PADDED)
    return blank_padded(form, bytes);
  return state == TWPA_VALUE_BINARY ? of_binary(form, cls, bytes) : of_text(form, cls, bytes);
}

bool twpa__canonical_known(uint32_t cls)
{
  return cls <= TWPA_CLASS_TIMESTAMPTZ;
}

bool twpa__canonical_joins(uint32_t child, uint32_t parent)
{
  if (child == TWPA_CLASS_UNKNOWN || !twpa__canonical_known(child))
    return false;
  if (child == parent)
    return true;
  switch (parent) {
  case TWPA_CLASS_INTEGER:
    return child == TWPA_CLASS_NUMERIC;
  case TWPA_CLASS_NUMERIC:
    return child == TWPA_CLASS_INTEGER;
  case TWPA_CLASS_FLOAT:
    return child == TWPA_CLASS_FLOAT4;
  case TWPA_CLASS_FLOAT4:
    return child == TWPA_CLASS_FLOAT;
  case TWPA_CLASS_TIMESTAMP:
    return child == TWPA_CLASS_DATE;
  case TWPA_CLASS_DATE:
    return child == TWPA_CLASS_TIMESTAMP;
  default:
    return false;
  }
}

bool twpa__canonical_is_bytes(uint32_t cls)
{
  switch (cls) {
  case TWPA_CLASS_BYTES:
  case TWPA_CLASS_INTEGER:
  case TWPA_CLASS_UNSIGNED:
  case TWPA_CLASS_BOOLEAN:
  case TWPA_CLASS_UUID:
  case TWPA_CLASS_TIMESTAMP:
  case TWPA_CLASS_TIMESTAMPTZ:
  case TWPA_CLASS_DATE:
  case TWPA_CLASS_TIME:
  case TWPA_CLASS_TIMETZ:
    return true;
  default:
    return false;
  }
}
