/* Memory that is there, or an end with one line. */
#include "support/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(void)
{
  fputs("error: out of memory\n", stderr);
  exit(1);
}

void *host_alloc(size_t n, size_t size)
{
  void *p = calloc(n ? n : 1, size ? size : 1);
  if (!p)
    out_of_memory();
  return p;
}

void *host_resize(void *p, size_t n, size_t size)
{
  if (size && n > SIZE_MAX / size)
    out_of_memory();
  size_t bytes = n * size;
  void *q = realloc(p, bytes ? bytes : 1);
  if (!q)
    out_of_memory();
  return q;
}

void *host_grow(void *array, size_t *cap, size_t n, size_t size)
{
  if (n < *cap)
    return array;
  size_t want = *cap < 8 ? 8 : *cap * 2;
  array = host_resize(array, want, size);
  *cap = want;
  return array;
}

void *host_copy(const void *data, size_t len)
{
  char *p = host_resize(NULL, len + 1, 1);
  if (len)
    memcpy(p, data, len);
  p[len] = 0;
  return p;
}
