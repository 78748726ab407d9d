/* global/pg_control: 8192 bytes, a checksum over the part that is used. */
#include "support/pg/pg_control.h"

#include "support/pg/pg_file.h"
#include "support/pg/pg_tuple.h"
#include "support/wal/crc32c.h"

#include <stdlib.h>
#include <string.h>

#define CONTROL_SIZE 8192u

static bool check_build(const uint8_t *p, host_error *err)
{
  uint64_t expected_bits;
  const double expected = 1234567.0;
  memcpy(&expected_bits, &expected, sizeof expected);
  if (pg_u64(p + 208) != expected_bits)
    return host_fail(err, "the cluster was made on a machine with another floating-point format");
  if (pg_u32(p + 204) != 8)
    return host_fail(err, "the cluster aligns to %u bytes, only 8 are supported", pg_u32(p + 204));
  if (pg_u32(p + 216) != PG_BLOCK_SIZE || pg_u32(p + 224) != PG_BLOCK_SIZE)
    return host_fail(err, "blocks of %u and WAL blocks of %u bytes: only %u are supported", pg_u32(p + 216),
                     pg_u32(p + 224), PG_BLOCK_SIZE);
  if (pg_u32(p + 220) != PG_SEGMENT_BLOCKS)
    return host_fail(err, "relation files of %u blocks: only %u are supported", pg_u32(p + 220), PG_SEGMENT_BLOCKS);
  if (pg_u32(p + 232) != 64)
    return host_fail(err, "names of %u bytes: only 64 are supported", pg_u32(p + 232));
  uint32_t segment = pg_u32(p + 228);
  if (segment < 1u << 20 || segment > 1u << 30 || (segment & (segment - 1)) != 0)
    return host_fail(err, "WAL segments of %u bytes are not possible", segment);
  if (pg_u32(p + 16) > PG_STATE_IN_PRODUCTION)
    return host_fail(err, "unknown state %u", pg_u32(p + 16));
  return true;
}

static bool parse(pg_control *out, const uint8_t *p, const pg_format *format, host_error *err)
{
  const pg_format *found;
  /* The version comes first: where the checksum is depends on it. A foreign byte order shows here as well. */
  if (!pg_format_by_control(&found, pg_u32(p + 8), pg_u32(p + 12), err))
    return false;
  if (found != format)
    return host_fail(err, "the control file is of PostgreSQL %u, the directory of %u", found->major, format->major);
  uint32_t crc = crc32c(p, format->control_crc_at);
  if (crc != pg_u32(p + format->control_crc_at))
    return host_fail(err, "wrong checksum (%08X, computed %08X)", pg_u32(p + format->control_crc_at), crc);
  if (!check_build(p, err))
    return false;
  *out = (pg_control){
    .format = format,
    .system_id = pg_u64(p),
    .state = pg_u32(p + 16),
    .checkpoint = pg_u64(p + 32),
    .redo = pg_u64(p + 40),
    .timeline = pg_u32(p + 48),
    .next_full_xid = pg_u64(p + 64),
    .next_oid = pg_u32(p + 72),
    .next_multi = pg_u32(p + 76),
    .next_member = pg_u32(p + 80),
    .oldest_xid = pg_u32(p + 84),
    .oldest_multi = pg_u32(p + 92),
    .checkpoint_time = pg_u64(p + 104),
    .min_recovery = pg_u64(p + 136),
    .min_recovery_timeline = pg_u32(p + 144),
    .wal_level = pg_u32(p + 172),
    .segment_size = pg_u32(p + 228),
    .checksums = pg_u32(p + 252) != 0,
  };
  return true;
}

bool pg_control_read(pg_control *out, const char *datadir, host_error *err)
{
  const pg_format *format;
  if (!pg_format_by_directory(&format, datadir, err))
    return false;
  char path[PG_PATH_MAX];
  if (!pg_path(path, err, "%s/global/pg_control", datadir))
    return false;
  uint8_t *bytes;
  size_t len;
  if (!pg_read_file(&bytes, &len, path, CONTROL_SIZE, CONTROL_SIZE, err))
    return false;
  bool ok = parse(out, bytes, format, err) || pg_within(err, path);
  free(bytes);
  return ok;
}

const char *pg_control_state_name(uint32_t state)
{
  static const char *const names[] = {"starting up", "shut down", "shut down in recovery", "shutting down",
                                      "in crash recovery", "in archive recovery", "in production"};
  return state < sizeof names / sizeof *names ? names[state] : "unknown";
}
