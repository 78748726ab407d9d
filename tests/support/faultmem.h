/*
 * An allocator that fails on demand and checks what it is given back: sizes must match, nothing may be freed twice,
 * blocks are poisoned. Use: count the allocations of a scenario, then fail each one in turn.
 *
 *   for (size_t n = 1;; n++) {
 *     faultmem fm;
 *     twpa_allocator mem = faultmem_init(&fm, n, persistent);
 *     twpa_status st = scenario(&mem);
 *     faultmem_check_empty(&fm);
 *     if (fm.calls < n) break;          // nothing was failed any more
 *     ck_assert_int_eq(st, TWPA_E_NOMEM);
 *   }
 */
#ifndef TESTS_SUPPORT_FAULTMEM_H
#define TESTS_SUPPORT_FAULTMEM_H

#include <stdbool.h>
#include <twpa/types.h>

typedef struct faultmem {
  size_t fail_at;    /* the number of the allocation that fails, from 1; 0 never */
  bool persistent;   /* all later ones fail too */
  size_t calls;      /* allocations and resizes asked for */
  size_t failed;     /* of those, how many were refused */
  size_t live_bytes; /* handed out */
  size_t live_blocks;
  size_t peak_bytes;
} faultmem;

twpa_allocator faultmem_init(faultmem *fm, size_t fail_at, bool persistent);
/* Fails the running test if anything is still handed out. */
void faultmem_check_empty(const faultmem *fm);

#endif
