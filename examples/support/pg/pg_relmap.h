/* pg_filenode.map: the file numbers of the catalogs that have none in pg_class. */
#ifndef SUPPORT_PG_RELMAP_H
#define SUPPORT_PG_RELMAP_H

#include "support/pg/pg_format.h"

#define PG_RELMAP_MAX 64u

typedef struct pg_relmap {
  uint32_t count;
  struct {
    uint32_t oid, file;
  } entries[PG_RELMAP_MAX];
} pg_relmap;

/* Reads DIR/pg_filenode.map, DIR being DATADIR/global or a database directory. */
bool pg_relmap_read(pg_relmap *out, const char *dir, const pg_format *format, host_error *err);

/* The file number of a catalog, or 0 if it is not mapped. */
uint32_t pg_relmap_file(const pg_relmap *map, uint32_t oid);

#endif
