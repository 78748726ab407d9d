/*
 * Memory for the example programs. A program that runs out of memory can do nothing better than say so and end:
 * these functions never return NULL, they end the program with status 1 and one line on stderr.
 */
#ifndef SUPPORT_MEMORY_H
#define SUPPORT_MEMORY_H

#include <stddef.h>

/* n * size bytes, zeroed. */
void *host_alloc(size_t n, size_t size);
/* Room for n * size bytes; what p held stays. p may be NULL. */
void *host_resize(void *p, size_t n, size_t size);
/* Makes room for one more element of `size` bytes in an array of *cap of which n are used: returns the array. */
void *host_grow(void *array, size_t *cap, size_t n, size_t size);
/* A copy of len bytes with a zero behind them. */
void *host_copy(const void *data, size_t len);

#endif
