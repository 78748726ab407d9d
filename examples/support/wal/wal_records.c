/* What a WAL record says: the entry, and the resource managers with few kinds of records. */
#include "support/wal/wal_records_internal.h"

#include <inttypes.h>

#include "support/wal/wal_files.h"

enum {
  OPERATION = 0xF0,
};

enum {
  XLOG_CHECKPOINT_SHUTDOWN = 0x00,
  XLOG_CHECKPOINT_ONLINE = 0x10,
  XLOG_SWITCH = 0x40,
  XLOG_PARAMETER_CHANGE = 0x60,
  XLOG_END_OF_RECOVERY = 0x90,
  XLOG_CHECKPOINT_REDO = 0xE0,
};

enum {
  STANDBY_LOCK = 0x00,
  STANDBY_RUNNING_XACTS = 0x10,
  STANDBY_INVALIDATIONS = 0x20,
};

enum {
  SMGR_CREATE = 0x10,
};

const char wal_unknown_operation[] = "unknown operation";

static const char short_record[] = "its main data has the wrong length";

uint32_t wal_list_u32(wal_list list, uint32_t i)
{
  return wal_u32(list.data + (size_t)4 * i);
}

wal_inval wal_list_inval(wal_list list, uint32_t i)
{
  const unsigned char *p = list.data + (size_t)WAL_INVAL_BYTES * i;
  wal_inval v = {.type = p[0] < 128 ? p[0] : p[0] - 256};
  switch (v.type) {
  case -1:
  case -2:
  case -5:
  case -6:
    v.database = wal_u32(p + 4);
    v.object = wal_u32(p + 8);
    break;
  case -3:
    v.locator = wal_locator(p + 4);
    v.database = v.locator.database;
    break;
  default:
    v.database = wal_u32(p + 4);
    v.hash = v.type >= 0 ? wal_u32(p + 8) : 0;
  }
  return v;
}

static const char *parse_checkpoint(wal_content *out, const wal_record *r)
{
  if (r->main_len != 88)
    return short_record;
  const unsigned char *p = r->main_data;
  out->kind = WAL_CHECKPOINT;
  out->as.checkpoint = (wal_checkpoint){
    .shutdown = (r->info & OPERATION) == XLOG_CHECKPOINT_SHUTDOWN,
    .redo = wal_u64(p),
    .timeline = wal_u32(p + 8),
    .previous_timeline = wal_u32(p + 12),
    .next_xid = wal_u64(p + 24),
    .oldest_xid = wal_u32(p + 44),
    .oldest_active_xid = wal_u32(p + 80),
  };
  return NULL;
}

/* Operation codes without content for decoding: 20 noop, 30 next oid, 50 backup end, 70 restore point, 80 full page
 * writes, A0 and B0 page images, D0 overwritten record. */
static const char *parse_xlog(wal_content *out, const wal_record *r, const pg_format *format)
{
  const unsigned char *p = r->main_data;
  switch (r->info & OPERATION) {
  case XLOG_CHECKPOINT_SHUTDOWN:
  case XLOG_CHECKPOINT_ONLINE:
    return parse_checkpoint(out, r);
  case XLOG_SWITCH:
    out->kind = WAL_SWITCH;
    return r->main_len == 0 ? NULL : short_record;
  case XLOG_PARAMETER_CHANGE:
    if (r->main_len != 28)
      return short_record;
    out->kind = WAL_PARAMETER_CHANGE;
    out->as.parameter.wal_level = wal_i32(p + 20);
    return NULL;
  case XLOG_END_OF_RECOVERY:
    if (r->main_len != format->end_of_recovery_size)
      return short_record;
    out->kind = WAL_END_OF_RECOVERY;
    out->as.end_of_recovery = (wal_end_of_recovery){wal_i64(p), wal_u32(p + 8), wal_u32(p + 12)};
    return NULL;
  case XLOG_CHECKPOINT_REDO:
    return format->has_checkpoint_redo ? NULL : wal_unknown_operation;
  case 0x20:
  case 0x30:
  case 0x50:
  case 0x70:
  case 0x80:
  case 0xA0:
  case 0xB0:
  case 0xD0:
    return NULL;
  default:
    return wal_unknown_operation;
  }
}

static const char *parse_running(wal_running_xacts *out, const wal_record *r)
{
  if (r->main_len < 24)
    return short_record;
  const unsigned char *p = r->main_data;
  int32_t tops = wal_i32(p), subs = wal_i32(p + 4);
  uint64_t listed = tops > 0 ? (uint64_t)tops + (uint64_t)(subs > 0 ? subs : 0) : 0;
  if (tops < 0 || subs < 0 || r->main_len != 24 + 4 * listed)
    return short_record;
  out->nxids = (uint32_t)tops;
  out->nsubxids = tops > 0 ? (uint32_t)subs : 0;
  out->overflow = p[8] != 0;
  out->next_xid = wal_u32(p + 12);
  out->oldest_running_xid = wal_u32(p + 16);
  out->latest_completed_xid = wal_u32(p + 20);
  out->xids = (wal_list){p + 24, (uint32_t)listed};
  return NULL;
}

static const char *parse_standby(wal_content *out, const wal_record *r)
{
  switch (r->info & OPERATION) {
  case STANDBY_RUNNING_XACTS:
    out->kind = WAL_RUNNING_XACTS;
    return parse_running(&out->as.running, r);
  case STANDBY_LOCK:
  case STANDBY_INVALIDATIONS:
    return NULL;
  default:
    return wal_unknown_operation;
  }
}

static const char *parse_message(wal_content *out, const wal_record *r)
{
  if ((r->info & OPERATION) != 0)
    return wal_unknown_operation;
  if (r->main_len < 24)
    return short_record;
  const unsigned char *p = r->main_data;
  uint64_t prefix = wal_u64(p + 8), content = wal_u64(p + 16), room = r->main_len - 24u;
  if (prefix > room || content != room - prefix)
    return short_record;
  if (prefix < 1 || memchr(p + 24, 0, (size_t)prefix) != p + 24 + prefix - 1)
    return "its prefix has no end";
  out->kind = WAL_MESSAGE;
  out->as.message = (wal_message){
    .database = wal_u32(p),
    .transactional = p[4] != 0,
    .prefix = (const char *)p + 24,
    .content = p + 24 + prefix,
    .content_len = (uint32_t)content,
  };
  return NULL;
}

static const char *parse_relmap(wal_content *out, const wal_record *r, const pg_format *format)
{
  if ((r->info & OPERATION) != 0)
    return wal_unknown_operation;
  if (r->main_len < 12 || wal_u32(r->main_data + 8) != format->relmap_size || r->main_len != 12 + format->relmap_size)
    return short_record;
  out->kind = WAL_RELMAP;
  out->as.relmap = (wal_relmap){wal_u32(r->main_data), wal_u32(r->main_data + 4),
                                {r->main_data + 12, format->relmap_size}};
  return NULL;
}

static const char *parse_smgr(wal_content *out, const wal_record *r)
{
  if ((r->info & OPERATION) != SMGR_CREATE)
    return NULL;
  if (r->main_len != 16)
    return short_record;
  out->kind = WAL_SMGR_CREATE;
  out->as.smgr_create = (wal_smgr_create){wal_locator(r->main_data), wal_u32(r->main_data + 12)};
  return NULL;
}

static const char *parse(wal_content *out, const wal_record *record, const pg_format *format)
{
  switch (record->rmgr) {
  case WAL_RM_XLOG:
    return parse_xlog(out, record, format);
  case WAL_RM_XACT:
    return wal_parse_xact(out, record, format);
  case WAL_RM_SMGR:
    return parse_smgr(out, record);
  case WAL_RM_RELMAP:
    return parse_relmap(out, record, format);
  case WAL_RM_STANDBY:
    return parse_standby(out, record);
  case WAL_RM_HEAP2:
    return wal_parse_heap2(out, record, format);
  case WAL_RM_HEAP:
    return wal_parse_heap(out, record, format);
  case WAL_RM_LOGICALMSG:
    return parse_message(out, record);
  default:
    return NULL;
  }
}

bool wal_parse(wal_content *out, const wal_record *record, const pg_format *format, host_error *err)
{
  memset(out, 0, sizeof *out);
  const char *why = parse(out, record, format);
  if (why == NULL)
    return true;
  char lsn[WAL_LSN_BYTES];
  return host_fail(err, "WAL record at %s (%s, info %02X, PostgreSQL %" PRIu32 "): %s",
                   wal_lsn_text(lsn, record->start), wal_rmgr_name(record->rmgr), record->info, format->major, why);
}
