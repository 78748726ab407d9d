/*
 * Intervals. PostgreSQL compares them by their length, a month counting 30 days and a day 24 hours, so "1 mon", "30
 * days" and "720:00:00" are equal. The sum needs more than 64 bits; whole days and the rest of a day do not.
 */
#include "plan/canonical_parts.h"

#define USECS_PER_DAY INT64_C(86400000000)

twpa_status twpa__canonical_interval(twpa__canonical_form *form, int64_t usec, int32_t days, int32_t months)
{
  int64_t whole = usec / USECS_PER_DAY, rest = usec % USECS_PER_DAY;
  if (rest < 0) {
    rest += USECS_PER_DAY;
    whole--;
  }
  whole += (int64_t)months * 30 + days;
  twpa__put64(form->scratch, (uint64_t)whole);
  twpa__put64(form->scratch + 8, (uint64_t)rest);
  return twpa__form_scratch(form, 16);
}

bool twpa__text_clock(twpa__text *t, int64_t *usec)
{
  bool negative = twpa__text_take(t, '-');
  int64_t h, m, s, fraction = 0;
  if (!negative)
    (void)twpa__text_take(t, '+');
  if (!twpa__text_number(t, 10, &h) || !twpa__text_take(t, ':') || !twpa__text_number(t, 2, &m) ||
      !twpa__text_take(t, ':') || !twpa__text_number(t, 2, &s) || m > 59 || s > 60)
    return false;
  if (twpa__text_take(t, '.')) {
    const unsigned char *start = t->p;
    if (!twpa__text_number(t, 6, &fraction))
      return false;
    for (long n = t->p - start; n < 6; n++)
      fraction *= 10;
  }
  int64_t seconds = (h * 60 + m) * 60 + s;
  if (seconds > INT64_MAX / 1000000)
    return false;
  uint64_t magnitude = (uint64_t)seconds * 1000000 + (uint64_t)fraction;
  if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
    return false;
  *usec = (int64_t)(negative ? 0 - magnitude : magnitude);
  return true;
}

/* The unit after a number: how many months or days it is. */
static bool read_unit(twpa__text *t, int64_t n, int64_t *months, int64_t *days)
{
  if (twpa__text_word(t, "year"))
    *months += n * 12;
  else if (twpa__text_word(t, "mon"))
    *months += n;
  else if (twpa__text_word(t, "day"))
    *days += n;
  else
    return false;
  (void)twpa__text_word(t, "s");
  return true;
}

/* [n years] [n mons] [n days] [hh:mm:ss], each with a sign of its own. */
static bool read_parts(twpa__text t, int64_t *usec, int64_t *days, int64_t *months)
{
  *usec = *days = *months = 0;
  for (;;) {
    twpa__text number = t;
    bool negative = twpa__text_take(&number, '-');
    int64_t n;
    if (!negative)
      (void)twpa__text_take(&number, '+');
    if (!twpa__text_number(&number, 10, &n))
      return false;
    if (!twpa__text_take(&number, ' '))
      return twpa__text_clock(&t, usec) && twpa__text_done(&t);
    if (!read_unit(&number, negative ? -n : n, months, days))
      return false;
    t = number;
    if (twpa__text_done(&t))
      return true;
    if (!twpa__text_take(&t, ' '))
      return false;
  }
}

twpa_status twpa__canonical_interval_text(twpa__canonical_form *form, twpa_bytes bytes)
{
  twpa__text t = twpa__text_of(bytes), word = t;
  /* PostgreSQL 17 stores the infinities as the largest and the smallest of each part. */
  bool negative = twpa__text_take(&word, '-');
  if (twpa__text_word(&word, "infinity") && twpa__text_done(&word))
    return negative ? twpa__canonical_interval(form, INT64_MIN, INT32_MIN, INT32_MIN)
                    : twpa__canonical_interval(form, INT64_MAX, INT32_MAX, INT32_MAX);
  int64_t usec, days, months;
  if (!read_parts(t, &usec, &days, &months) || months < INT32_MIN || months > INT32_MAX || days < INT32_MIN ||
      days > INT32_MAX)
    return TWPA_E_INVAL;
  return twpa__canonical_interval(form, usec, (int32_t)days, (int32_t)months);
}
