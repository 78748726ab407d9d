/* pg_filenode.map: magic, number of entries, entries, checksum. */
#include "support/pg/pg_relmap.h"

#include "support/pg/pg_file.h"
#include "support/pg/pg_tuple.h"
#include "support/wal/crc32c.h"

#include <stdlib.h>

#define RELMAP_MAGIC 0x592717u

static bool parse(pg_relmap *out, const uint8_t *p, const pg_format *format, host_error *err)
{
  if (pg_u32(p) != RELMAP_MAGIC)
    return host_fail(err, "wrong magic number 0x%X", pg_u32(p));
  uint32_t crc = crc32c(p, format->relmap_crc_at);
  if (crc != pg_u32(p + format->relmap_crc_at))
    return host_fail(err, "wrong checksum (%08X, computed %08X)", pg_u32(p + format->relmap_crc_at), crc);
  out->count = pg_u32(p + 4);
  if (out->count > format->relmap_entries)
    return host_fail(err, "says that it has %u entries, there is room for %u", out->count, format->relmap_entries);
  for (uint32_t i = 0; i < out->count; i++) {
    out->entries[i].oid = pg_u32(p + 8 + 8 * i);
    out->entries[i].file = pg_u32(p + 12 + 8 * i);
  }
  return true;
}

bool pg_relmap_read(pg_relmap *out, const char *dir, const pg_format *format, host_error *err)
{
  char path[PG_PATH_MAX];
  if (!pg_path(path, err, "%s/pg_filenode.map", dir))
    return false;
  uint8_t *bytes;
  size_t len;
  if (!pg_read_file(&bytes, &len, path, format->relmap_size, format->relmap_size, err))
    return false;
  bool ok = parse(out, bytes, format, err) || pg_within(err, path);
  free(bytes);
  return ok;
}

uint32_t pg_relmap_file(const pg_relmap *map, uint32_t oid)
{
  for (uint32_t i = 0; i < map->count; i++)
    if (map->entries[i].oid == oid)
      return map->entries[i].file;
  return 0;
}
