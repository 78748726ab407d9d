/*
 * Dates and times: days and microseconds since 2000-01-01, in the Gregorian calendar extended to all times, as
 * PostgreSQL has it. A date is written as the timestamp of its midnight, because the two can be compared.
 */
#include "plan/canonical_parts.h"

#define USECS_PER_SECOND INT64_C(1000000)
#define USECS_PER_DAY (INT64_C(86400) * USECS_PER_SECOND)
/* Timestamps this many days away from 2000 fit into 64 bits, with a day to spare for the zone. */
#define MAX_TIMESTAMP_DAYS (INT64_MAX / USECS_PER_DAY - 2)

twpa_status twpa__canonical_date(twpa__canonical_form *form, int32_t days)
{
  if (days == INT32_MAX)
    return twpa__form_int64(form, INT64_MAX);
  if (days == INT32_MIN)
    return twpa__form_int64(form, INT64_MIN);
  if (days >= -MAX_TIMESTAMP_DAYS && days <= MAX_TIMESTAMP_DAYS)
    return twpa__form_int64(form, days * USECS_PER_DAY);
  twpa__put32(form->scratch, (uint32_t)days);
  return twpa__form_scratch(form, 4);
}

twpa_status twpa__canonical_timetz(twpa__canonical_form *form, int64_t usec, int32_t zone)
{
  twpa__put64(form->scratch, (uint64_t)usec);
  twpa__put32(form->scratch + 8, (uint32_t)zone);
  return twpa__form_scratch(form, 12);
}

static bool is_leap(int64_t year)
{
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 2000-01-01; the year is astronomical (0 is 1 BC) and at least -5000. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
  static const uint16_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  int64_t y = year + 7999; /* whole years since the year -7999, a year of the same kind as 1 */
  int64_t days = y * 365 + y / 4 - y / 100 + y / 400 + before[month - 1] + day - 1;
  if (month > 2 && is_leap(year))
    days++;
  return days - INT64_C(3652059);
}

static bool read_date(twpa__text *t, int64_t *year, int64_t *month, int64_t *day)
{
  static const uint8_t length[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (!twpa__text_number(t, 7, year) || !twpa__text_take(t, '-') || !twpa__text_number(t, 2, month) ||
      !twpa__text_take(t, '-') || !twpa__text_number(t, 2, day))
    return false;
  return *year >= 1 && *month >= 1 && *month <= 12 && *day >= 1 && *day <= length[*month - 1];
}

/* The end of a date or timestamp: before Christ or not. Makes days of the date. */
static bool finish_date(twpa__text *t, int64_t year, int64_t month, int64_t day, int64_t *days)
{
  if (!twpa__text_done(t)) {
    if (!twpa__text_take(t, ' ') || !twpa__text_word(t, "bc") || !twpa__text_done(t))
      return false;
    year = 1 - year;
  }
  if (year < -5000 || (month == 2 && day == 29 && !is_leap(year)))
    return false;
  *days = days_from_date(year, month, day);
  return true;
}

/* +hh[:mm[:ss]] or Z; in seconds east. *there says whether there is one. */
static bool read_zone(twpa__text *t, int64_t *east, bool *there)
{
  *east = 0;
  *there = true;
  if (twpa__text_take(t, 'Z'))
    return true;
  bool west = twpa__text_take(t, '-');
  if (!west && !twpa__text_take(t, '+')) {
    *there = false;
    return true;
  }
  int64_t h, m = 0, s = 0;
  if (!twpa__text_number(t, 2, &h))
    return false;
  if (twpa__text_take(t, ':')) {
    if (!twpa__text_number(t, 2, &m))
      return false;
    if (twpa__text_take(t, ':') && !twpa__text_number(t, 2, &s))
      return false;
  }
  if (h > 23 || m > 59 || s > 59)
    return false;
  *east = h * 3600 + m * 60 + s;
  if (west)
    *east = -*east;
  return true;
}

static bool timestamp_text(twpa__text t, bool zoned, int64_t *usec)
{
  int64_t year, month, day, clock, east, days;
  bool there;
  if (!read_date(&t, &year, &month, &day) || !(twpa__text_take(&t, ' ') || twpa__text_take(&t, 'T')) ||
      !twpa__text_clock(&t, &clock) || clock > USECS_PER_DAY || !read_zone(&t, &east, &there) || (zoned && !there) ||
      !finish_date(&t, year, month, day, &days))
    return false;
  if (days < -MAX_TIMESTAMP_DAYS || days > MAX_TIMESTAMP_DAYS)
    return false;
  *usec = days * USECS_PER_DAY + clock - east * USECS_PER_SECOND;
  return true;
}

static bool date_text(twpa__text t, int32_t *out)
{
  int64_t year, month, day, days;
  if (!read_date(&t, &year, &month, &day) || !finish_date(&t, year, month, day, &days) || days >= INT32_MAX ||
      days <= INT32_MIN)
    return false;
  *out = (int32_t)days;
  return true;
}

/* 1 and -1 for the infinities, 0 for other text. */
static int infinity(twpa__text t)
{
  int sign = twpa__text_take(&t, '-') ? -1 : 1;
  return twpa__text_word(&t, "infinity") && twpa__text_done(&t) ? sign : 0;
}

twpa_status twpa__canonical_time_text(twpa__canonical_form *form, uint32_t cls, twpa_bytes bytes)
{
  twpa__text t = twpa__text_of(bytes);
  int64_t usec, east;
  int32_t days;
  bool there;
  switch (cls) {
  case TWPA_CLASS_TIME:
    if (!twpa__text_clock(&t, &usec) || !twpa__text_done(&t))
      return TWPA_E_INVAL;
    return twpa__form_int64(form, usec);
  case TWPA_CLASS_TIMETZ:
    if (!twpa__text_clock(&t, &usec) || !read_zone(&t, &east, &there) || !there || !twpa__text_done(&t))
      return TWPA_E_INVAL;
    return twpa__canonical_timetz(form, usec, (int32_t)-east);
  default:
    break;
  }
  int sign = infinity(t);
  if (sign != 0)
    return twpa__form_int64(form, sign > 0 ? INT64_MAX : INT64_MIN);
  if (cls == TWPA_CLASS_DATE)
    return date_text(t, &days) ? twpa__canonical_date(form, days) : TWPA_E_INVAL;
  if (!timestamp_text(t, cls == TWPA_CLASS_TIMESTAMPTZ, &usec))
    return TWPA_E_INVAL;
  return twpa__form_int64(form, usec);
}
