/* The pieces of `canonical`, one file each: what a class's values look like, reduced to their canonical bytes. */
#ifndef TWPA_PLAN_CANONICAL_PARTS_H
#define TWPA_PLAN_CANONICAL_PARTS_H

#include "plan/canonical.h"

#include <stdint.h>

/* Text being read: the next byte and the end. */
typedef struct twpa__text {
  const unsigned char *p, *end;
} twpa__text;

static inline twpa__text twpa__text_of(twpa_bytes bytes)
{
  const unsigned char *p = bytes.data;
  return (twpa__text){p, p + bytes.len};
}

static inline bool twpa__text_done(const twpa__text *t)
{
  return t->p == t->end;
}

/* Steps over the character if it is the next one. */
static inline bool twpa__text_take(twpa__text *t, char c)
{
  if (t->p == t->end || *t->p != (unsigned char)c)
    return false;
  t->p++;
  return true;
}

static inline bool twpa__is_digit(unsigned char c)
{
  return c >= '0' && c <= '9';
}

/* Steps over the word if it comes next, in any case. `word` is in lower case, letters only. */
bool twpa__text_word(twpa__text *t, const char *word);
/* Reads at most `most` (<= 18) decimal digits, at least one; false leaves *out alone. */
bool twpa__text_number(twpa__text *t, int most, int64_t *out);

/* Canonical bytes are little-endian. */
static inline void twpa__put64(unsigned char *out, uint64_t v)
{
  for (int i = 0; i < 8; i++)
    out[i] = (unsigned char)(v >> (8 * i));
}

static inline void twpa__put32(unsigned char *out, uint32_t v)
{
  for (int i = 0; i < 4; i++)
    out[i] = (unsigned char)(v >> (8 * i));
}

static inline twpa_status twpa__form_scratch(twpa__canonical_form *form, size_t len)
{
  form->data = form->scratch;
  form->len = len;
  return TWPA_OK;
}

static inline twpa_status twpa__form_int64(twpa__canonical_form *form, int64_t v)
{
  twpa__put64(form->scratch, (uint64_t)v);
  return twpa__form_scratch(form, 8);
}

/* canonical_number.c: whole and decimal numbers. Equal numbers have equal bytes across these. */
twpa_status twpa__canonical_uint64(twpa__canonical_form *form, uint64_t v);
twpa_status twpa__canonical_decimal_text(twpa__canonical_form *form, twpa_bytes bytes, bool whole, bool is_signed);
twpa_status twpa__canonical_decimal_stored(twpa__canonical_form *form, twpa_bytes bytes);

/* canonical_float.c. `single`: text is rounded to single precision. */
twpa_status twpa__canonical_float_binary(twpa__canonical_form *form, twpa_bytes bytes);
twpa_status twpa__canonical_float_text(twpa__canonical_form *form, twpa_bytes bytes, bool single);

/* canonical_time.c: days, microseconds and zones. */
twpa_status twpa__canonical_date(twpa__canonical_form *form, int32_t days);
twpa_status twpa__canonical_timetz(twpa__canonical_form *form, int64_t usec, int32_t zone);
twpa_status twpa__canonical_interval(twpa__canonical_form *form, int64_t usec, int32_t days, int32_t months);
twpa_status twpa__canonical_time_text(twpa__canonical_form *form, uint32_t cls, twpa_bytes bytes);

/* canonical_interval.c. */
twpa_status twpa__canonical_interval_text(twpa__canonical_form *form, twpa_bytes bytes);
/* [hours:minutes:seconds], seconds with up to six decimals; in microseconds. */
bool twpa__text_clock(twpa__text *t, int64_t *usec);

#endif
