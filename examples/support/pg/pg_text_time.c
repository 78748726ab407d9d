/* Dates and times, in the proleptic Gregorian calendar, counted from 2000-01-01. */
#include "support/pg/pg_text_internal.h"

#include <stdlib.h>

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY (86400 * US_PER_SECOND)

typedef struct civil {
  int64_t year; /* 0 is 1 BC */
  int month, day;
} civil;

/* Years are counted from March, so that the leap day is the last one. */
static civil civil_of(int64_t days)
{
  days += 730425; /* since 0000-03-01 */
  int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  int64_t in_era = days - era * 146097;
  int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
  int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
  int month = (int)((5 * in_year + 2) / 153);
  civil c = {.day = (int)(in_year - (153 * month + 2) / 5 + 1), .month = month < 10 ? month + 3 : month - 9};
  c.year = year + era * 400 + (c.month <= 2 ? 1 : 0);
  return c;
}

static void add_date(pg_buf *out, const civil *c)
{
  pg_buf_format(out, "%04lld-%02d-%02d", (long long)(c->year > 0 ? c->year : 1 - c->year), c->month, c->day);
}

/* hh:mm:ss and what there is of a fraction. us >= 0. */
static void add_time(pg_buf *out, int64_t us)
{
  int64_t seconds = us / US_PER_SECOND;
  int fraction = (int)(us % US_PER_SECOND), digits = 6;
  pg_buf_format(out, "%02lld:%02d:%02d", (long long)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
  if (fraction == 0)
    return;
  for (; fraction % 10 == 0; fraction /= 10)
    digits--;
  pg_buf_format(out, ".%0*d", digits, fraction);
}

void pg_text_date(pg_buf *out, int32_t days)
{
  if (days == INT32_MIN || days == INT32_MAX) {
    pg_buf_text(out, days < 0 ? "-infinity" : "infinity");
    return;
  }
  civil c = civil_of(days);
  add_date(out, &c);
  if (c.year <= 0)
    pg_buf_text(out, " BC");
}

void pg_text_timestamp(pg_buf *out, int64_t us, const char *zone)
{
  if (us == INT64_MIN || us == INT64_MAX) {
    pg_buf_text(out, us < 0 ? "-infinity" : "infinity");
    return;
  }
  int64_t days = us / US_PER_DAY, rest = us % US_PER_DAY;
  if (rest < 0) {
    rest += US_PER_DAY;
    days--;
  }
  civil c = civil_of(days);
  add_date(out, &c);
  pg_buf_char(out, ' ');
  add_time(out, rest);
  pg_buf_text(out, zone);
  if (c.year <= 0)
    pg_buf_text(out, " BC");
}

void pg_text_time(pg_buf *out, int64_t us)
{
  add_time(out, us < 0 ? 0 : us);
}

void pg_text_timetz(pg_buf *out, int64_t us, int32_t west)
{
  add_time(out, us < 0 ? 0 : us);
  int64_t seconds = llabs((long long)west);
  pg_buf_format(out, "%c%02d", west > 0 ? '-' : '+', (int)(seconds / 3600));
  if (seconds % 3600 != 0)
    pg_buf_format(out, ":%02d", (int)(seconds / 60 % 60));
  if (seconds % 60 != 0)
    pg_buf_format(out, ":%02d", (int)(seconds % 60));
}

/* "N unit(s)"; after a negative part a positive one shows its sign. */
static void add_unit(pg_buf *out, int value, const char *unit, bool *first, bool *negative)
{
  if (value == 0)
    return;
  pg_buf_format(out, "%s%s%d %s%s", *first ? "" : " ", *negative && value > 0 ? "+" : "", value, unit,
                value == 1 ? "" : "s");
  *first = false;
  *negative = value < 0;
}

void pg_text_interval(pg_buf *out, int64_t us, int32_t days, int32_t months)
{
  if (us == INT64_MAX && days == INT32_MAX && months == INT32_MAX) {
    pg_buf_text(out, "infinity");
    return;
  }
  if (us == INT64_MIN && days == INT32_MIN && months == INT32_MIN) {
    pg_buf_text(out, "-infinity");
    return;
  }
  bool first = true, negative = false;
  add_unit(out, months / 12, "year", &first, &negative);
  add_unit(out, months % 12, "mon", &first, &negative);
  add_unit(out, days, "day", &first, &negative);
  if (!first && us == 0)
    return;
  pg_buf_text(out, first ? "" : " ");
  if (us < 0 || negative)
    pg_buf_char(out, us < 0 ? '-' : '+');
  /* The one value that has no positive counterpart is printed by its parts. */
  if (us == INT64_MIN)
    pg_buf_text(out, "2562047788:00:54.775808");
  else
    add_time(out, us < 0 ? -us : us);
}
