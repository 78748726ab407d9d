/*
 * The allocator of one object, with exact accounting: live_bytes is the sum of the sizes handed out and not yet given
 * back. Sizes of arrays go through twpa__array_size, so that a product never wraps.
 */
#ifndef TWPA_BASE_ALLOC_H
#define TWPA_BASE_ALLOC_H

#include <stdbool.h>
#include <twpa/status.h>

typedef struct twpa__mem {
  twpa_allocator hooks;
  size_t live_bytes; /* handed out, not given back */
} twpa__mem;

/* Copies the hooks; NULL means the C library, and pages.h for large blocks. TWPA_E_INVAL if a function is missing. */
twpa_status twpa__mem_init(twpa__mem *mem, const twpa_allocator *hooks);

/* NULL if there is no memory. A size of 0 is an error of the caller. */
void *twpa__alloc(twpa__mem *mem, size_t size);
void *twpa__zalloc(twpa__mem *mem, size_t size);

/* Resizes; p == NULL with old_size 0 allocates. On NULL the old block is untouched. */
void *twpa__resize(twpa__mem *mem, void *p, size_t old_size, size_t new_size);

/* Gives back. NULL does nothing. */
void twpa__release(twpa__mem *mem, void *p, size_t size);

/* a + b, or SIZE_MAX if that does not fit: a size that no allocator has. */
static inline size_t twpa__size_add(size_t a, size_t b)
{
  return b <= SIZE_MAX - a ? a + b : SIZE_MAX;
}

/* *out = n * size; false if that does not fit. */
bool twpa__array_size(size_t *out, size_t n, size_t size);

/*
 * Makes room for `need` elements of `size` bytes in a growing array: *items of capacity *cap, at least doubled when it
 * grows. TWPA_E_NOMEM leaves both as they were.
 */
twpa_status twpa__array_reserve(twpa__mem *mem, void **items, size_t *cap, size_t need, size_t size);

#endif
