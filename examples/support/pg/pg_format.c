/* The version table. */
#include "support/pg/pg_format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ATTRIBUTE_15 \
  { .relid = 0, .name = 4, .type = 68, .len = 76, .num = 78, .typmod = 88, .byval = 92, .align = 93, .storage = 94, \
    .compression = 95, .notnull = 96, .hasmissing = 98, .generated = 100, .dropped = 101, .collation = 108, .end = 112 }
#define ATTRIBUTE_16 \
  { .relid = 0, .name = 4, .type = 68, .len = 72, .num = 74, .typmod = 80, .byval = 86, .align = 87, .storage = 88, \
    .compression = 89, .notnull = 90, .hasmissing = 92, .generated = 94, .dropped = 95, .collation = 104, .end = 108 }
#define ATTRIBUTE_17 \
  { .relid = 0, .name = 4, .type = 68, .len = 72, .num = 74, .typmod = 80, .byval = 86, .align = 87, .storage = 88, \
    .compression = 89, .notnull = 90, .hasmissing = 92, .generated = 94, .dropped = 95, .collation = 100, .end = 104 }
#define ATTRIBUTE_18 \
  { .relid = 0, .name = 4, .type = 68, .len = 72, .num = 74, .typmod = 76, .byval = 82, .align = 83, .storage = 84, \
    .compression = 85, .notnull = 86, .hasmissing = 88, .generated = 90, .dropped = 91, .collation = 96, .end = 100 }
#define CLASS_15 \
  { .oid = 0, .name = 4, .namespace_oid = 68, .filenode = 88, .tablespace = 92, .toast = 108, .shared = 113, \
    .persistence = 114, .kind = 115, .natts = 116, .replident = 126, .partition = 127, .rewrite = 128, .end = 140 }
#define CLASS_18 \
  { .oid = 0, .name = 4, .namespace_oid = 68, .filenode = 88, .tablespace = 92, .toast = 112, .shared = 117, \
    .persistence = 118, .kind = 119, .natts = 120, .replident = 130, .partition = 131, .rewrite = 132, .end = 144 }

static const pg_format formats[] = {
  { .major = 15, .wal_magic = 0xD110, .stats_size = 12, .control_version = 1300, .catalog_version = 202209061,
    .control_crc_at = 288, .relmap_entries = 62, .relmap_crc_at = 504, .relmap_size = 512, .page_no_size = 4,
    .twophase_digits = 8, .end_of_recovery_size = 16, .slot_version = 2, .snapshot_version = 4,
    .snapshot_header = 128, .inplace_size = 2, .attribute = ATTRIBUTE_15, .class_ = CLASS_15 },
  { .major = 16, .wal_magic = 0xD113, .stats_size = 12, .control_version = 1300, .catalog_version = 202307071,
    .control_crc_at = 288, .relmap_entries = 64, .relmap_crc_at = 520, .relmap_size = 524, .page_no_size = 4,
    .twophase_digits = 8, .end_of_recovery_size = 16, .slot_version = 3, .snapshot_version = 5,
    .snapshot_header = 144, .inplace_size = 2, .prune_has_catalog_flag = 1, .attribute = ATTRIBUTE_16,
    .class_ = CLASS_15 },
  { .major = 17, .wal_magic = 0xD116, .stats_size = 12, .control_version = 1700, .catalog_version = 202406281,
    .control_crc_at = 288, .relmap_entries = 64, .relmap_crc_at = 520, .relmap_size = 524, .page_no_size = 8,
    .twophase_digits = 16, .end_of_recovery_size = 24, .slot_version = 5, .snapshot_version = 6,
    .snapshot_header = 144, .inplace_size = 2, .has_checkpoint_redo = 1, .prune_has_catalog_flag = 1,
    .prune_unified = 1, .attribute = ATTRIBUTE_17, .class_ = CLASS_15 },
  { .major = 18, .wal_magic = 0xD118, .stats_size = 16, .control_version = 1800, .catalog_version = 202506291,
    .control_crc_at = 292, .relmap_entries = 64, .relmap_crc_at = 520, .relmap_size = 524, .page_no_size = 8,
    .twophase_digits = 16, .end_of_recovery_size = 24, .slot_version = 5, .snapshot_version = 6,
    .snapshot_header = 144, .inplace_size = 20, .has_checkpoint_redo = 1, .has_sync_cache_inval = 1,
    .inplace_has_inval = 1, .prune_has_catalog_flag = 1, .prune_unified = 1, .attribute = ATTRIBUTE_18,
    .class_ = CLASS_18 },
};

#define FORMATS (sizeof formats / sizeof *formats)
#define SUPPORTED "supported: 15, 16, 17, 18"

/* Versions that exist and have no row, so that they can be refused by name. */
static const struct {
  uint16_t wal_magic;
  const char *name;
} others[] = {{0xD093, "9.6"}, {0xD097, "10"}, {0xD098, "11"}, {0xD101, "12"}, {0xD106, "13"}, {0xD10D, "14"}};

const pg_format *pg_format_all(size_t *count)
{
  *count = FORMATS;
  return formats;
}

const pg_format *pg_format_by_major(uint32_t major)
{
  for (size_t i = 0; i < FORMATS; i++)
    if (formats[i].major == major)
      return &formats[i];
  return NULL;
}

bool pg_format_by_text(const pg_format **out, const char *text, size_t len, host_error *err)
{
  while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
    len--;
  bool valid = len > 0 && len <= 16;
  for (size_t i = 0; valid && i < len; i++)
    valid = (text[i] >= '0' && text[i] <= '9') || (text[i] == '.' && i > 0);
  if (!valid)
    return host_fail(err, "PG_VERSION holds no version number");
  uint32_t major = 0;
  for (size_t i = 0; i < len && len <= 3; i++)
    major = text[i] == '.' ? 0xFFFF : major * 10 + (uint32_t)(text[i] - '0');
  *out = pg_format_by_major(major);
  if (*out == NULL || text[0] == '0')
    return host_fail(err, "PostgreSQL %.*s is not supported; " SUPPORTED, (int)len, text);
  return true;
}

bool pg_format_by_directory(const pg_format **out, const char *datadir, host_error *err)
{
  char path[4096];
  int n = snprintf(path, sizeof path, "%s/PG_VERSION", datadir);
  if (n < 0 || (size_t)n >= sizeof path)
    return host_fail(err, "%.200s...: the path is too long", datadir);
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    return host_fail(err, "%s: %s (is this a PostgreSQL data directory?)", path, strerror(errno));
  char text[64];
  size_t len = fread(text, 1, sizeof text, file);
  bool bad = ferror(file) != 0;
  int why = errno;
  fclose(file);
  if (bad)
    return host_fail(err, "%s: %s", path, strerror(why));
  host_error inner = {{0}};
  if (!pg_format_by_text(out, text, len, &inner))
    return host_fail(err, "%s: %.500s", path, inner.text);
  return true;
}

bool pg_format_by_control(const pg_format **out, uint32_t control_version, uint32_t catalog_version, host_error *err)
{
  bool known = false;
  for (size_t i = 0; i < FORMATS; i++) {
    known = known || formats[i].control_version == control_version;
    if (formats[i].control_version == control_version && formats[i].catalog_version == catalog_version) {
      *out = &formats[i];
      return true;
    }
  }
  if (known)
    return host_fail(err, "catalog version %u is of no released PostgreSQL version; " SUPPORTED, catalog_version);
  return host_fail(err, "control file version %u is of no supported PostgreSQL version; " SUPPORTED, control_version);
}

bool pg_format_by_wal_magic(const pg_format **out, uint16_t magic, host_error *err)
{
  for (size_t i = 0; i < FORMATS; i++)
    if (formats[i].wal_magic == magic) {
      *out = &formats[i];
      return true;
    }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (others[i].wal_magic == magic)
      return host_fail(err, "PostgreSQL %s (WAL page magic 0x%04X) is not supported; " SUPPORTED, others[i].name, magic);
  return host_fail(err, "WAL page magic 0x%04X is of no supported PostgreSQL version; " SUPPORTED, magic);
}
