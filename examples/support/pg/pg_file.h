/* Files of a data directory: paths, reading small files whole, memory that is given back all at once. */
#ifndef SUPPORT_PG_FILE_H
#define SUPPORT_PG_FILE_H

#include "support/error.h"

#include <stddef.h>
#include <stdint.h>

#define PG_PATH_MAX 4096u

/* Writes a path (printf style) of at most PG_PATH_MAX bytes, its end included. */
bool pg_path(char *out, host_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Reads a file of min..max bytes. *data is for the caller to free. Messages name the path and the reason: missing,
 * unreadable, too short, too long.
 */
bool pg_read_file(uint8_t **data, size_t *len, const char *path, size_t min, size_t max, host_error *err);

/* Puts "CONTEXT: " before the message; false. */
bool pg_within(host_error *err, const char *context);

/* "out of memory"; false. */
bool pg_no_memory(host_error *err);

/* Memory that lives until the pool is freed. All zero to begin with. */
typedef struct pg_pool {
  struct pg_pool_chunk *chunks;
} pg_pool;

/* Zeroed, aligned for every type; NULL if there is no memory. */
void *pg_pool_alloc(pg_pool *pool, size_t size);
/* n elements of size bytes; NULL if there is no memory or the product does not fit. n may be 0. */
void *pg_pool_array(pg_pool *pool, size_t n, size_t size);
void pg_pool_free(pg_pool *pool);

/* A growing array of elements of one size. */
typedef struct pg_vec {
  void *items;
  size_t count, cap;
} pg_vec;

/* One more element of `size` bytes, zeroed; NULL if there is no memory, the array is then as it was. */
void *pg_vec_add(pg_vec *v, size_t size);
void pg_vec_free(pg_vec *v);

#endif
