/*
 * A sorted set of 64-bit numbers kept as runs [first, last], for sets that are dense: what is committed above a
 * watermark. Neighbouring runs never touch. Add O(log n) to find plus the move of an array; numbers mostly rise.
 */
#ifndef TWPA_BASE_RUNS_H
#define TWPA_BASE_RUNS_H

#include "base/alloc.h"

typedef struct twpa__run {
  uint64_t first, last; /* both inside */
} twpa__run;

typedef struct twpa__runs {
  twpa__mem *mem;
  twpa__run *runs;
  size_t count, cap;
} twpa__runs;

void twpa__runs_init(twpa__runs *set, twpa__mem *mem);
void twpa__runs_clear(twpa__runs *set); /* frees the array */
bool twpa__runs_contains(const twpa__runs *set, uint64_t n);
/* TWPA_E_EXISTS if n is inside already, TWPA_E_NOMEM; the set is then as it was. */
twpa_status twpa__runs_add(twpa__runs *set, uint64_t n);
/* Adds all of first..last, whatever of it is inside already. TWPA_E_INVAL if first > last, TWPA_E_NOMEM. */
twpa_status twpa__runs_add_range(twpa__runs *set, uint64_t first, uint64_t last);
/* Makes sure that the next `adds` calls of twpa__runs_add cannot run out of memory. */
twpa_status twpa__runs_reserve(twpa__runs *set, size_t adds);
/* Removes everything <= n. Cannot fail. */
void twpa__runs_drop_through(twpa__runs *set, uint64_t n);
/* How many numbers are inside; UINT64_MAX if they are all 2^64. */
uint64_t twpa__runs_total(const twpa__runs *set);

#endif
