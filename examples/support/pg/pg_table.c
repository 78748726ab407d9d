/* Catalog tables, row by row. */
#include "support/pg/pg_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NORMAL 3u

/* Before the element data of a one-dimensional array, its length word left out. */
#define ARRAY_HEADER 20u

static bool find_columns(pg_table *t, const char *const *wanted, size_t n, host_error *err)
{
  for (size_t i = 0; i < n; i++) {
    bool optional = wanted[i][0] == '?';
    const char *name = wanted[i] + (optional ? 1 : 0);
    t->columns[i] = -1;
    for (size_t c = 0; c < t->shape.count; c++)
      if (strcmp(t->shape.names[c], name) == 0)
        t->columns[i] = (int)c;
    if (t->columns[i] < 0 && !optional)
      return host_fail(err, "pg_attribute knows no column %s of this catalog", name);
  }
  return true;
}

bool pg_table_open(pg_table *t, const char *path, const pg_table_shape *shape, const char *const *wanted, size_t n,
                   pg_xact *xact, bool checksums, host_error *err)
{
  t->xact = xact;
  t->shape = *shape;
  t->values = NULL;
  t->scan.file = NULL;
  if (n > PG_TABLE_WANTED)
    return host_fail(err, "%zu columns are too many", n);
  if (!find_columns(t, wanted, n, err))
    return pg_within(err, path);
  t->values = malloc((shape->count + 1) * sizeof *t->values);
  if (t->values == NULL)
    return pg_no_memory(err);
  if (!pg_heap_scan_begin(&t->scan, path, checksums, err)) {
    pg_table_close(t);
    return false;
  }
  return true;
}

void pg_table_close(pg_table *t)
{
  pg_heap_scan_end(&t->scan);
  free(t->values);
  t->values = NULL;
}

bool pg_table_fail(const pg_table *t, host_error *err)
{
  host_error inner = *err;
  if (t->row.tuple.data == NULL)
    return host_fail(err, "%.500s: %s", t->scan.path, inner.text);
  return host_fail(err, "%.500s: block %u, line %u: %s", t->scan.path, t->row.block, t->row.line, inner.text);
}

bool pg_table_next(pg_table *t, bool *found, host_error *err)
{
  for (;;) {
    t->row.tuple.data = NULL;
    if (!pg_heap_scan_next(&t->scan, found, &t->row, err))
      return false;
    if (!*found)
      return true;
    bool made;
    uint32_t ended_by;
    if (!pg_row_fate(t->xact, &made, &ended_by, &t->row, err))
      return pg_table_fail(t, err);
    if (!made)
      continue;
    bool frozen = (t->row.tuple.infomask & PG_XMIN_FROZEN) == PG_XMIN_FROZEN || t->row.xmin < FIRST_NORMAL;
    t->fate = (pg_fate){.xmin = frozen ? 0 : t->row.xmin,
                        .age = frozen ? UINT32_MAX : pg_xact_age(t->xact, t->row.xmin),
                        .ended_by = ended_by,
                        .last = ended_by == 0 || pg_row_is_last(&t->row)};
    return pg_tuple_deform(t->values, &t->row.tuple, t->shape.attrs, t->shape.count, err) || pg_table_fail(t, err);
  }
}

const pg_value *pg_table_value(const pg_table *t, size_t wanted)
{
  return t->columns[wanted] >= 0 ? &t->values[t->columns[wanted]] : NULL;
}

bool pg_table_has(const pg_table *t, size_t wanted)
{
  const pg_value *v = pg_table_value(t, wanted);
  return v != NULL && v->kind != PG_VALUE_NULL;
}

static int64_t number(const pg_table *t, size_t wanted)
{
  const pg_value *v = pg_table_value(t, wanted);
  return v != NULL ? pg_value_int(v) : 0;
}

uint32_t pg_table_u32(const pg_table *t, size_t wanted)
{
  return (uint32_t)number(t, wanted);
}

int16_t pg_table_i16(const pg_table *t, size_t wanted)
{
  return (int16_t)number(t, wanted);
}

uint8_t pg_table_flag(const pg_table *t, size_t wanted)
{
  return number(t, wanted) != 0;
}

char pg_table_char(const pg_table *t, size_t wanted)
{
  return (char)number(t, wanted);
}

void pg_table_name(char out[64], const pg_table *t, size_t wanted)
{
  const pg_value *v = pg_table_value(t, wanted);
  memset(out, 0, 64);
  if (v != NULL && v->kind == PG_VALUE_PLAIN)
    memcpy(out, v->data, v->len < 63 ? v->len : 63);
}

bool pg_plain(pg_value *out, pg_pool *pool, const pg_value *v, host_error *err)
{
  *out = *v;
  if (v->kind == PG_VALUE_PLAIN)
    return true;
  if (v->kind != PG_VALUE_COMPRESSED)
    return host_fail(err, "a value that is needed is %s", v->kind == PG_VALUE_NULL ? "NULL" : "stored out of line");
  uint8_t *bytes = pg_pool_alloc(pool, v->raw_len);
  if (bytes == NULL)
    return pg_no_memory(err);
  if (!pg_value_expand(bytes, v, err))
    return false;
  *out = (pg_value){.kind = PG_VALUE_PLAIN, .data = bytes, .len = v->raw_len, .raw_len = v->raw_len};
  return true;
}

bool pg_array_open(const uint8_t **data, size_t *bytes, uint32_t *n, const pg_value *plain, host_error *err)
{
  if (plain->kind != PG_VALUE_PLAIN || plain->len < 12)
    return host_fail(err, "an array is too short");
  *data = plain->data + plain->len;
  *bytes = 0;
  *n = 0;
  uint32_t dimensions = pg_u32(plain->data);
  if (dimensions == 0)
    return true;
  if (dimensions != 1 || pg_u32(plain->data + 4) != 0 || plain->len < ARRAY_HEADER)
    return host_fail(err, "an array of %u dimensions, or with NULLs, is not expected here", dimensions);
  *n = pg_u32(plain->data + 12);
  *data = plain->data + ARRAY_HEADER;
  *bytes = plain->len - ARRAY_HEADER;
  if (*n > *bytes)
    return host_fail(err, "an array says that it has %u elements in %zu bytes", *n, *bytes);
  return true;
}

bool pg_array_fixed(const uint8_t **data, uint32_t *n, size_t size, const pg_value *plain, host_error *err)
{
  size_t bytes = 0;
  if (!pg_array_open(data, &bytes, n, plain, err))
    return false;
  if (*n > bytes / size)
    return host_fail(err, "an array says that it has %u elements in %zu bytes", *n, bytes);
  return true;
}
