/* Records of the resource manager XACT: ends of transactions, assignments, invalidations. */
#include "support/wal/wal_records_internal.h"

enum {
  HAS_XINFO = 0x80,
  OPERATION = 0x70,
};

enum {
  XACT_COMMIT = 0x00,
  XACT_PREPARE = 0x10,
  XACT_ABORT = 0x20,
  XACT_COMMIT_PREPARED = 0x30,
  XACT_ABORT_PREPARED = 0x40,
  XACT_ASSIGNMENT = 0x50,
  XACT_INVALIDATIONS = 0x60,
};

#define XINFO_DATABASE 0x001u
#define XINFO_SUBXIDS 0x002u
#define XINFO_FILES 0x004u
#define XINFO_TWOPHASE 0x010u
#define XINFO_ORIGIN 0x020u
#define XINFO_LOCKS 0x040u
#define XINFO_GID 0x080u
#define XINFO_STATS 0x100u
#define XINFO_KNOWN                                                                                            \
  (XINFO_DATABASE | XINFO_SUBXIDS | XINFO_FILES | WAL_XINFO_HAS_INVALIDATIONS | XINFO_TWOPHASE | XINFO_ORIGIN | \
   XINFO_LOCKS | XINFO_GID | XINFO_STATS | UINT32_C(7) << 29)

#define GID_MAX 199u /* characters */
#define PREPARE_MAGIC UINT32_C(0x57F94534)
#define PREPARE_HEADER 72u

static const char cut_off[] = "it is cut off";
static const char bad_count[] = "it announces more than it holds";

typedef struct cursor {
  const unsigned char *p;
  uint32_t left;
} cursor;

static const unsigned char *take(cursor *c, uint64_t n)
{
  if (c->left < n)
    return NULL;
  const unsigned char *p = c->p;
  c->p += n;
  c->left -= (uint32_t)n;
  return p;
}

/* A count, then that many items. */
static bool take_list(wal_list *out, cursor *c, uint32_t item_bytes)
{
  const unsigned char *p = take(c, 4);
  if (p == NULL || wal_i32(p) < 0)
    return false;
  out->count = wal_u32(p);
  out->data = take(c, (uint64_t)out->count * item_bytes);
  return out->data != NULL;
}

static bool take_gid(const char **gid, cursor *c)
{
  uint32_t room = c->left < GID_MAX + 1 ? c->left : GID_MAX + 1;
  const unsigned char *nul = room > 0 ? memchr(c->p, 0, room) : NULL;
  if (nul == NULL)
    return false;
  *gid = (const char *)take(c, (uint64_t)(nul - c->p) + 1);
  return true;
}

static const char *parse_end(wal_end_record *out, const wal_record *r, const pg_format *format, bool commit,
                             bool prepared)
{
  cursor c = {r->main_data, r->main_len};
  const unsigned char *p = take(&c, 8);
  wal_list ignored;
  if (p == NULL)
    return cut_off;
  out->time = wal_i64(p);
  out->xid = r->xid;
  if ((r->info & HAS_XINFO) != 0) {
    p = take(&c, 4);
    if (p == NULL)
      return cut_off;
    out->xinfo = wal_u32(p);
  }
  uint32_t xinfo = out->xinfo;
  if ((xinfo & ~XINFO_KNOWN) != 0 || (!commit && (xinfo & WAL_XINFO_HAS_INVALIDATIONS) != 0))
    return "it has parts that are not known";
  if (prepared != ((xinfo & XINFO_TWOPHASE) != 0))
    return prepared ? "it does not name the prepared transaction" : "it names a prepared transaction";
  if ((xinfo & XINFO_DATABASE) != 0) {
    p = take(&c, 8);
    if (p == NULL)
      return cut_off;
    out->has_database = true;
    out->database = wal_u32(p);
    out->tablespace = wal_u32(p + 4);
  }
  if (((xinfo & XINFO_SUBXIDS) != 0 && !take_list(&out->subxids, &c, 4)) ||
      ((xinfo & XINFO_FILES) != 0 && !take_list(&ignored, &c, 12)) ||
      ((xinfo & XINFO_STATS) != 0 && !take_list(&ignored, &c, format->stats_size)) ||
      ((xinfo & WAL_XINFO_HAS_INVALIDATIONS) != 0 && !take_list(&out->invalidations, &c, WAL_INVAL_BYTES)))
    return bad_count;
  if ((xinfo & XINFO_TWOPHASE) != 0) {
    p = take(&c, 4);
    if (p == NULL)
      return cut_off;
    out->xid = wal_u32(p);
  }
  if ((xinfo & XINFO_GID) != 0 && !take_gid(&out->gid, &c))
    return "its global identifier has no end";
  if ((xinfo & XINFO_ORIGIN) != 0) {
    p = take(&c, 16);
    if (p == NULL)
      return cut_off;
    out->origin_lsn = wal_u64(p);
    out->origin_time = wal_i64(p + 8);
  }
  return c.left == 0 ? NULL : "it is longer than its parts";
}

/* A part of a prepare record: padded to a multiple of 8. */
static const unsigned char *take_padded(cursor *c, int32_t count, uint32_t item_bytes)
{
  return count < 0 ? NULL : take(c, ((uint64_t)(uint32_t)count * item_bytes + 7) & ~UINT64_C(7));
}

static const char *parse_prepare(wal_end_record *out, const wal_record *r, const pg_format *format)
{
  cursor c = {r->main_data, r->main_len};
  const unsigned char *h = take(&c, PREPARE_HEADER);
  if (h == NULL)
    return cut_off;
  if (wal_u32(h) != PREPARE_MAGIC || wal_u32(h + 4) != (uint64_t)r->main_len + 4)
    return "it is no prepare record of this version";
  out->xid = wal_u32(h + 8);
  out->has_database = true;
  out->database = wal_u32(h + 12);
  out->time = wal_i64(h + 16);
  out->origin_lsn = wal_u64(h + 56);
  out->origin_time = wal_i64(h + 64);
  uint16_t gid_len = wal_u16(h + 54);
  const unsigned char *gid = take_padded(&c, gid_len, 1);
  if (gid == NULL || gid_len < 1 || gid_len > GID_MAX + 1 || memchr(gid, 0, gid_len) != gid + gid_len - 1)
    return "its global identifier has no end";
  out->gid = (const char *)gid;
  out->subxids.data = take_padded(&c, wal_i32(h + 28), 4);
  out->subxids.count = wal_u32(h + 28);
  if (out->subxids.data == NULL || take_padded(&c, wal_i32(h + 32), 12) == NULL ||
      take_padded(&c, wal_i32(h + 36), 12) == NULL || take_padded(&c, wal_i32(h + 40), format->stats_size) == NULL ||
      take_padded(&c, wal_i32(h + 44), format->stats_size) == NULL)
    return bad_count;
  out->invalidations.data = take_padded(&c, wal_i32(h + 48), WAL_INVAL_BYTES);
  out->invalidations.count = wal_u32(h + 48);
  return out->invalidations.data == NULL ? bad_count : NULL; /* records of the resource managers follow */
}

const char *wal_parse_xact(wal_content *out, const wal_record *r, const pg_format *format)
{
  switch (r->info & OPERATION) {
  case XACT_COMMIT:
    out->kind = WAL_COMMIT;
    return parse_end(&out->as.end, r, format, true, false);
  case XACT_COMMIT_PREPARED:
    out->kind = WAL_COMMIT_PREPARED;
    return parse_end(&out->as.end, r, format, true, true);
  case XACT_ABORT:
    out->kind = WAL_ABORT;
    return parse_end(&out->as.end, r, format, false, false);
  case XACT_ABORT_PREPARED:
    out->kind = WAL_ABORT_PREPARED;
    return parse_end(&out->as.end, r, format, false, true);
  case XACT_PREPARE:
    out->kind = WAL_PREPARE;
    return parse_prepare(&out->as.end, r, format);
  case XACT_ASSIGNMENT:
    out->kind = WAL_ASSIGNMENT;
    if (r->main_len < 8 || !wal_fits(r->main_len, 8, wal_i32(r->main_data + 4), 4))
      return bad_count;
    out->as.assignment.top_xid = wal_u32(r->main_data);
    out->as.assignment.subxids = (wal_list){r->main_data + 8, wal_u32(r->main_data + 4)};
    return NULL;
  case XACT_INVALIDATIONS:
    out->kind = WAL_INVALIDATIONS;
    if (r->main_len < 4 || !wal_fits(r->main_len, 4, wal_i32(r->main_data), WAL_INVAL_BYTES))
      return bad_count;
    out->as.invalidations = (wal_list){r->main_data + 4, wal_u32(r->main_data)};
    return NULL;
  default:
    return wal_unknown_operation;
  }
}
