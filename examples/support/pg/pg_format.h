/*
 * What differs between the PostgreSQL major versions that the hosts can read, as data: one row per version.
 *
 * Everything that is not in this table has the same layout in all of them. 15 and 18 are tested with real directories,
 * 16 and 17 follow from the same description. A version that has no row is refused by name.
 */
#ifndef SUPPORT_PG_FORMAT_H
#define SUPPORT_PG_FORMAT_H

#include "support/error.h"

#include <stddef.h>
#include <stdint.h>

#define PG_BLOCK_SIZE 8192u      /* data pages and WAL pages */
#define PG_SEGMENT_BLOCKS 131072u /* blocks per part of a relation file */

/* Byte offsets of the columns of pg_attribute that describe how a column is stored, from the start of column data. */
typedef struct pg_attribute_offsets {
  uint16_t relid, name, type, len, num, typmod, byval, align, storage, compression;
  uint16_t notnull, hasmissing, generated, dropped, collation;
  uint16_t end; /* of the part that is never null */
} pg_attribute_offsets;

/* The same for pg_class. */
typedef struct pg_class_offsets {
  uint16_t oid, name, namespace_oid, filenode, tablespace, toast, shared, persistence, kind, natts, replident;
  uint16_t partition, rewrite;
  uint16_t end;
} pg_class_offsets;

typedef struct pg_format {
  uint32_t major;           /* 15 */
  uint16_t wal_magic;       /* of a WAL page */
  uint16_t stats_size;      /* an entry of the dropped statistics in commit, abort and prepare records */
  uint32_t control_version; /* of global/pg_control */
  uint32_t catalog_version; /* also part of the path of a tablespace */
  uint32_t control_crc_at;  /* offset of the checksum in global/pg_control */
  uint32_t relmap_entries;  /* room for entries in pg_filenode.map */
  uint32_t relmap_crc_at;   /* offset of its checksum */
  uint32_t relmap_size;     /* its file size */
  uint32_t page_no_size;    /* commit log and multixact page numbers in WAL records */
  uint32_t twophase_digits; /* hexadecimal digits of a file name in pg_twophase */
  uint32_t end_of_recovery_size; /* main data of an end-of-recovery record */
  uint32_t slot_version;         /* of pg_replslot/NAME/state */
  uint32_t snapshot_version;     /* of pg_logical/snapshots */
  uint32_t snapshot_header;      /* bytes before its arrays */
  uint32_t inplace_size;         /* fixed main data of a heap in-place record */
  uint8_t has_checkpoint_redo;   /* the record XLOG 0xE0 exists */
  uint8_t has_sync_cache_inval;  /* invalidation message -6 exists */
  uint8_t inplace_has_inval;     /* the in-place record carries database, tablespace and messages */
  uint8_t prune_has_catalog_flag; /* prune records say whether the relation is a catalog */
  uint8_t prune_unified;          /* one record format for prune and freeze */
  uint8_t reserved[3];
  pg_attribute_offsets attribute;
  pg_class_offsets class_;
} pg_format;

/* The rows of the table, oldest first; *count is their number. */
const pg_format *pg_format_all(size_t *count);

/* By major version; NULL if there is no row. */
const pg_format *pg_format_by_major(uint32_t major);

/* By the content of a PG_VERSION file ("15", a line end may follow). The message names the version and those supported. */
bool pg_format_by_text(const pg_format **out, const char *text, size_t len, host_error *err);

/* By DATADIR/PG_VERSION. Names what is missing if this is no data directory. */
bool pg_format_by_directory(const pg_format **out, const char *datadir, host_error *err);

/* By the two version numbers of global/pg_control. */
bool pg_format_by_control(const pg_format **out, uint32_t control_version, uint32_t catalog_version, host_error *err);

/* By the magic number of a WAL page. */
bool pg_format_by_wal_magic(const pg_format **out, uint16_t magic, host_error *err);

#endif
