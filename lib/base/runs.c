/* A sorted set of numbers as runs, in one array. */
#include "base/runs.h"

#include "base/assert.h"

#include <string.h>

/* The first run that ends at n or later, or count. Numbers mostly rise, so the end is looked at first. */
static size_t find(const twpa__runs *set, uint64_t n)
{
  size_t lo = 0, hi = set->count;
  if (hi > 0 && set->runs[hi - 1].last < n)
    return hi;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (set->runs[mid].last < n)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Replaces the runs from..to-1 by one; room for it is there. */
static void replace(twpa__runs *set, size_t from, size_t to, twpa__run run)
{
  TWPA__ASSERT(set->count - (to - from) < set->cap);
  memmove(set->runs + from + 1, set->runs + to, (set->count - to) * sizeof *set->runs);
  set->runs[from] = run;
  set->count = set->count - (to - from) + 1;
}

void twpa__runs_init(twpa__runs *set, twpa__mem *mem)
{
  *set = (twpa__runs){.mem = mem, .runs = NULL, .count = 0, .cap = 0};
}

void twpa__runs_clear(twpa__runs *set)
{
  twpa__release(set->mem, set->runs, set->cap * sizeof *set->runs);
  twpa__runs_init(set, set->mem);
}

bool twpa__runs_contains(const twpa__runs *set, uint64_t n)
{
  size_t i = find(set, n);
  return i < set->count && set->runs[i].first <= n;
}

twpa_status twpa__runs_add(twpa__runs *set, uint64_t n)
{
  return twpa__runs_contains(set, n) ? TWPA_E_EXISTS : twpa__runs_add_range(set, n, n);
}

twpa_status twpa__runs_add_range(twpa__runs *set, uint64_t first, uint64_t last)
{
  if (first > last)
    return TWPA_E_INVAL;
  /* from..to-1 are the runs that overlap the new one or touch it. */
  size_t from = find(set, first > 0 ? first - 1 : 0);
  size_t to = from;
  while (to < set->count && (last == UINT64_MAX || set->runs[to].first <= last + 1))
    to++;
  if (from == to) {
    twpa_status st = twpa__runs_reserve(set, 1);
    if (st != TWPA_OK)
      return st;
  } else {
    if (set->runs[from].first < first)
      first = set->runs[from].first;
    if (set->runs[to - 1].last > last)
      last = set->runs[to - 1].last;
  }
  replace(set, from, to, (twpa__run){first, last});
  return TWPA_OK;
}

twpa_status twpa__runs_reserve(twpa__runs *set, size_t adds)
{
  if (adds > SIZE_MAX - set->count)
    return TWPA_E_NOMEM;
  void *runs = set->runs;
  twpa_status st = twpa__array_reserve(set->mem, &runs, &set->cap, set->count + adds, sizeof *set->runs);
  set->runs = runs;
  return st;
}

void twpa__runs_drop_through(twpa__runs *set, uint64_t n)
{
  size_t gone = n < UINT64_MAX ? find(set, n + 1) : set->count;
  if (gone > 0) {
    set->count -= gone;
    memmove(set->runs, set->runs + gone, set->count * sizeof *set->runs);
  }
  if (set->count > 0 && set->runs[0].first <= n)
    set->runs[0].first = n + 1;
}

uint64_t twpa__runs_total(const twpa__runs *set)
{
  uint64_t total = 0;
  for (size_t i = 0; i < set->count; i++) {
    uint64_t span = set->runs[i].last - set->runs[i].first;
    total = span >= UINT64_MAX - total ? UINT64_MAX : total + span + 1;
  }
  return total;
}
