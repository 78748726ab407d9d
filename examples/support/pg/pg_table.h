/*
 * Reading a catalog table row by row, its columns found by name: pg_attribute describes the catalogs as well, so only
 * pg_attribute itself must be known beforehand (pg_format). Used by the loader of pg_catalog only.
 */
#ifndef SUPPORT_PG_TABLE_H
#define SUPPORT_PG_TABLE_H

#include "support/pg/pg_file.h"
#include "support/pg/pg_page.h"

#define PG_TABLE_WANTED 24u /* most columns that one reader asks for */

/* What became of a row version whose maker committed. */
typedef struct pg_fate {
  uint32_t xmin;     /* 0 if it was frozen or made by initdb */
  uint32_t age;      /* transactions since xmin; UINT32_MAX if xmin is 0 */
  uint32_t ended_by; /* 0: the version lives */
  bool last;         /* no newer version: it lives or was deleted */
} pg_fate;

/* How the columns of a table are stored, with their names. */
typedef struct pg_table_shape {
  const char (*names)[64];
  const pg_attr *attrs;
  size_t count;
} pg_table_shape;

typedef struct pg_table {
  pg_heap_scan scan;
  pg_xact *xact;
  pg_table_shape shape;
  pg_value *values;
  int columns[PG_TABLE_WANTED]; /* number of the column in `shape`, -1 if it is not there */
  pg_row row;
  pg_fate fate;
} pg_table;

/*
 * Opens PATH. `wanted` are the names of the columns that the reader uses, by which the accessors below number them; a
 * name that begins with '?' need not exist.
 */
bool pg_table_open(pg_table *t, const char *path, const pg_table_shape *shape, const char *const *wanted, size_t n,
                   pg_xact *xact, bool checksums, host_error *err);

/* The next row version whose maker committed; *found is false at the end. */
bool pg_table_next(pg_table *t, bool *found, host_error *err);
void pg_table_close(pg_table *t);

/* Puts path, block and line of the present row before the message; false. */
bool pg_table_fail(const pg_table *t, host_error *err);

/* The value of a wanted column; NULL (the pointer) if there is no such column. */
const pg_value *pg_table_value(const pg_table *t, size_t wanted);
/* Numbers: 0 for NULL and for no such column. */
uint32_t pg_table_u32(const pg_table *t, size_t wanted);
int16_t pg_table_i16(const pg_table *t, size_t wanted);
uint8_t pg_table_flag(const pg_table *t, size_t wanted);
char pg_table_char(const pg_table *t, size_t wanted);
/* A name: always ended by NUL. */
void pg_table_name(char out[64], const pg_table *t, size_t wanted);
/* True if the value is there. */
bool pg_table_has(const pg_table *t, size_t wanted);

/* Expands a compressed value into the pool. A value in the toast relation is refused: no column read here has one. */
bool pg_plain(pg_value *out, pg_pool *pool, const pg_value *v, host_error *err);

/* The elements of a one-dimensional array without NULLs (also of an int2vector, oidvector): *n of them at *data. */
bool pg_array_open(const uint8_t **data, size_t *bytes, uint32_t *n, const pg_value *plain, host_error *err);
/* The same for elements of a fixed size, which are then checked to be there. */
bool pg_array_fixed(const uint8_t **data, uint32_t *n, size_t size, const pg_value *plain, host_error *err);

#endif
