/* Paths, small files, pools. */
#include "support/pg/pg_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool pg_path(char *out, host_error *err, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  int n = vsnprintf(out, PG_PATH_MAX, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= PG_PATH_MAX)
    return host_fail(err, "%.200s...: the path is too long", out);
  return true;
}

bool pg_within(host_error *err, const char *context)
{
  host_error inner = *err;
  return host_fail(err, "%.500s: %s", context, inner.text);
}

bool pg_no_memory(host_error *err)
{
  return host_fail(err, "out of memory");
}

bool pg_read_file(uint8_t **data, size_t *len, const char *path, size_t min, size_t max, host_error *err)
{
  *data = NULL;
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return host_fail(err, "%.500s: %s", path, strerror(errno));
  struct stat st;
  bool ok = false;
  uint8_t *bytes = NULL;
  if (fstat(fileno(file), &st) != 0) {
    host_fail(err, "%.500s: %s", path, strerror(errno));
  } else if (!S_ISREG(st.st_mode)) {
    host_fail(err, "%.500s: is not a file", path);
  } else if ((uintmax_t)st.st_size < min || (uintmax_t)st.st_size > max) {
    host_fail(err, "%.500s: has %ju bytes, expected are %zu to %zu", path, (uintmax_t)st.st_size, min, max);
  } else if ((bytes = malloc((size_t)st.st_size + 1)) == NULL) {
    pg_no_memory(err);
  } else if (fread(bytes, 1, (size_t)st.st_size, file) != (size_t)st.st_size) {
    host_fail(err, "%.500s: %s", path, ferror(file) ? strerror(errno) : "became shorter while it was read");
  } else {
    ok = true;
  }
  fclose(file);
  if (!ok) {
    free(bytes);
    return false;
  }
  *data = bytes;
  *len = (size_t)st.st_size;
  return true;
}

#define POOL_CHUNK 65536u

typedef union pool_align {
  long double d;
  long long i;
  void *p;
} pool_align;

struct pg_pool_chunk {
  struct pg_pool_chunk *next;
  size_t used, cap;
  pool_align data[];
};

void *pg_pool_alloc(pg_pool *pool, size_t size)
{
  if (size > SIZE_MAX / 2)
    return NULL;
  size = (size + sizeof(pool_align) - 1) / sizeof(pool_align) * sizeof(pool_align);
  struct pg_pool_chunk *chunk = pool->chunks;
  if (chunk == NULL || chunk->cap - chunk->used < size) {
    size_t cap = size > POOL_CHUNK ? size : POOL_CHUNK;
    struct pg_pool_chunk *fresh = calloc(1, sizeof *fresh + cap);
    if (fresh == NULL)
      return NULL;
    fresh->cap = cap;
    if (chunk != NULL && size > POOL_CHUNK) { /* a large one goes behind: the current one has room left */
      fresh->next = chunk->next;
      chunk->next = fresh;
    } else {
      fresh->next = chunk;
      pool->chunks = fresh;
    }
    chunk = fresh;
  }
  void *p = (char *)chunk->data + chunk->used;
  chunk->used += size;
  return p;
}

void *pg_pool_array(pg_pool *pool, size_t n, size_t size)
{
  if (size != 0 && n > SIZE_MAX / 2 / size)
    return NULL;
  return pg_pool_alloc(pool, n * size);
}

void pg_pool_free(pg_pool *pool)
{
  while (pool->chunks != NULL) {
    struct pg_pool_chunk *next = pool->chunks->next;
    free(pool->chunks);
    pool->chunks = next;
  }
}

void *pg_vec_add(pg_vec *v, size_t size)
{
  if (v->count == v->cap) {
    size_t wanted = v->cap == 0 ? 64 : v->cap * 2;
    if (wanted > SIZE_MAX / 2 / size)
      return NULL;
    void *fresh = realloc(v->items, wanted * size);
    if (fresh == NULL)
      return NULL;
    v->items = fresh;
    v->cap = wanted;
  }
  return memset((char *)v->items + v->count++ * size, 0, size);
}

void pg_vec_free(pg_vec *v)
{
  free(v->items);
  *v = (pg_vec){0};
}
