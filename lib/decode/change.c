/* Records of changes: measured, written, read. */
#include "decode/change.h"

#include "base/assert.h"

#include <string.h>

#define BYTES_MAX ((size_t)1 << 30)
#define RELATIONS_MAX ((size_t)1 << 24)

TWPA__STATIC_ASSERT(sizeof(twpa__rec) == 24, "records are read and written by offset");
TWPA__STATIC_ASSERT(sizeof(twpa_locator) == 12, "a locator is stored as it is");

static size_t round_up(size_t n)
{
  return (n + 7) & ~(size_t)7;
}

static uint32_t get32(const unsigned char *p)
{
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static uint64_t get64(const unsigned char *p)
{
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static unsigned char *put32(unsigned char *p, uint32_t v)
{
  memcpy(p, &v, sizeof v);
  return p + sizeof v;
}

static unsigned char *put64(unsigned char *p, uint64_t v)
{
  memcpy(p, &v, sizeof v);
  return p + sizeof v;
}

/* Appends bytes and zeroes up to the next multiple of 8. */
static unsigned char *put_bytes(unsigned char *p, twpa_bytes bytes)
{
  if (bytes.len == 0)
    return p;
  size_t padded = round_up(bytes.len);
  put64(p + padded - 8, 0);
  memcpy(p, bytes.data, bytes.len);
  return p + padded;
}

static size_t row_fixed_size(uint32_t parts)
{
  return (parts & TWPA__REC_EXTRA) != 0 ? 24 : 16;
}

/* Bytes between the header and the variable part. 0 for kinds that have none; SIZE_MAX for no kind. */
static size_t fixed_size(uint32_t kind, uint32_t parts)
{
  switch (kind) {
  case TWPA_INSERT:
  case TWPA_UPDATE:
  case TWPA_DELETE:
  case TWPA_SPEC_INSERT:
    return row_fixed_size(parts);
  case TWPA_TRUNCATE:
  case TWPA_INVALIDATION:
  case TWPA_COMMAND:
    return 8;
  case TWPA_MESSAGE:
    return 16;
  case TWPA_TOAST_CHUNK:
    return 32;
  case TWPA_SPEC_CONFIRM:
  case TWPA_SPEC_ABORT:
    return 0;
  default:
    return SIZE_MAX;
  }
}

static uint32_t flags_of(uint32_t kind)
{
  switch (kind) {
  case TWPA_INSERT:
  case TWPA_SPEC_INSERT:
    return TWPA_CHANGE_MORE;
  case TWPA_UPDATE:
  case TWPA_DELETE:
    return TWPA_CHANGE_MORE | TWPA_CHANGE_QUIET;
  case TWPA_TRUNCATE:
    return TWPA_CHANGE_CASCADE | TWPA_CHANGE_RESTART_SEQS;
  case TWPA_MESSAGE:
    return TWPA_CHANGE_NONTRANSACTIONAL;
  default:
    return 0;
  }
}

static uint32_t row_parts(const twpa_record *record, const twpa_change *change)
{
  bool old = change->old_row.data != NULL;
  return (change->new_row.data != NULL ? TWPA__REC_NEW : 0) | (old ? TWPA__REC_OLD : 0) |
         (old || record->origin != 0 ? TWPA__REC_EXTRA : 0);
}

static uint32_t parts_of(const twpa_record *record, const twpa_change *change)
{
  if (twpa__kind_is_row(change->kind))
    return row_parts(record, change);
  bool content = change->content.data != NULL || change->kind == TWPA_INVALIDATION; /* absent is for all caches */
  return (content ? TWPA__REC_NEW : 0) | (change->prefix.data != NULL ? TWPA__REC_OLD : 0);
}

static bool bytes_ok(twpa_bytes bytes)
{
  return bytes.len <= BYTES_MAX && (bytes.data != NULL || bytes.len == 0);
}

/* Most of all changes. */
static twpa_status measure_row(size_t *size, size_t *payload, const twpa_record *record, const twpa_change *change)
{
  if ((change->flags & ~flags_of(change->kind)) != 0 || !bytes_ok(change->old_row) || !bytes_ok(change->new_row))
    return TWPA_E_INVAL;
  *payload = change->old_row.len + change->new_row.len;
  *size = sizeof(twpa__rec) + row_fixed_size(row_parts(record, change)) + round_up(change->old_row.len) +
          round_up(change->new_row.len);
  return TWPA_OK;
}

twpa_status twpa__change_measure(size_t *size, size_t *payload, const twpa_record *record, const twpa_change *change)
{
  uint32_t kind = change->kind;
  if (twpa__kind_is_row(kind))
    return measure_row(size, payload, record, change);
  size_t fixed = fixed_size(kind, parts_of(record, change));
  if (fixed == SIZE_MAX || (change->flags & ~flags_of(kind)) != 0)
    return TWPA_E_INVAL;
  size_t bytes = 0, padded = 0;
  if (kind == TWPA_TRUNCATE) {
    if (change->nrelations > RELATIONS_MAX || (change->relations == NULL && change->nrelations != 0))
      return TWPA_E_INVAL;
    bytes = padded = change->nrelations * sizeof(uint64_t);
  } else if (kind == TWPA_MESSAGE || kind == TWPA_TOAST_CHUNK || kind == TWPA_INVALIDATION) {
    if (!bytes_ok(change->content) || !bytes_ok(change->prefix))
      return TWPA_E_INVAL;
    if (kind != TWPA_MESSAGE && change->prefix.data != NULL)
      return TWPA_E_INVAL;
    bytes = change->prefix.len + change->content.len;
    padded = round_up(change->prefix.len) + round_up(change->content.len);
  } else if (kind == TWPA_COMMAND && change->command_id == TWPA_CID_NONE) {
    return TWPA_E_INVAL;
  }
  *payload = bytes;
  *size = sizeof(twpa__rec) + fixed + padded;
  return TWPA_OK;
}

static unsigned char *write_row(unsigned char *p, const twpa_record *record, const twpa_change *change, uint32_t parts)
{
  memcpy(p, &change->locator, sizeof change->locator);
  p = put32(p + sizeof change->locator, (uint32_t)change->new_row.len);
  if ((parts & TWPA__REC_EXTRA) != 0) {
    p = put32(p, (uint32_t)change->old_row.len);
    p = put32(p, record->origin);
  }
  p = put_bytes(p, change->new_row);
  return put_bytes(p, change->old_row);
}

void twpa__change_write(void *dst, size_t size, const twpa_record *record, const twpa_change *change, uint64_t seq)
{
  uint32_t parts = parts_of(record, change);
  twpa__rec *head = dst;
  head->size = (uint32_t)size;
  head->kind = (uint8_t)change->kind;
  head->parts = (uint8_t)parts;
  head->flags = (uint16_t)change->flags;
  head->lsn = record->lsn;
  head->seq = seq;
  unsigned char *p = (unsigned char *)(head + 1);
  switch (change->kind) {
  case TWPA_TRUNCATE:
    p = put32(p, (uint32_t)change->nrelations);
    p = put32(p, record->origin);
    p = put_bytes(p, (twpa_bytes){change->relations, change->nrelations * sizeof(uint64_t)});
    break;
  case TWPA_MESSAGE:
    p = put32(p, (uint32_t)change->prefix.len);
    p = put32(p, (uint32_t)change->content.len);
    p = put32(p, record->origin);
    p = put32(p, 0);
    p = put_bytes(p, change->prefix);
    p = put_bytes(p, change->content);
    break;
  case TWPA_TOAST_CHUNK:
    p = put64(p, change->toast_relation);
    p = put64(p, change->toast_value);
    p = put32(p, change->toast_sequence);
    p = put32(p, (uint32_t)change->content.len);
    p = put32(p, record->origin);
    p = put32(p, 0);
    p = put_bytes(p, change->content);
    break;
  case TWPA_INVALIDATION:
    p = put32(p, (uint32_t)change->content.len);
    p = put32(p, 0);
    p = put_bytes(p, change->content);
    break;
  case TWPA_COMMAND:
    p = put32(p, change->command_id);
    p = put32(p, 0);
    break;
  case TWPA_SPEC_CONFIRM:
  case TWPA_SPEC_ABORT:
    break;
  default:
    p = write_row(p, record, change, parts);
    break;
  }
  TWPA__ASSERT(p == (unsigned char *)dst + size);
  (void)p;
}

/* Takes `len` bytes and their padding off the front of what is left; absent unless `there`. */
static bool take(twpa_bytes *bytes, const unsigned char **p, size_t *left, size_t len, bool there)
{
  size_t padded = round_up(len);
  if (padded > *left || (!there && len != 0))
    return false;
  bytes->data = there ? *p : NULL;
  bytes->len = len;
  *p += padded;
  *left -= padded;
  return true;
}

static bool read_row(twpa_change *change, const unsigned char *p, size_t left, uint32_t parts)
{
  memcpy(&change->locator, p, sizeof change->locator);
  size_t new_len = get32(p + 12), old_len = 0;
  if ((parts & TWPA__REC_EXTRA) != 0) {
    old_len = get32(p + 16);
    change->origin = get32(p + 20);
    p += 8;
    left -= 8;
  }
  p += 16;
  left -= 16;
  return take(&change->new_row, &p, &left, new_len, (parts & TWPA__REC_NEW) != 0) &&
         take(&change->old_row, &p, &left, old_len, (parts & TWPA__REC_OLD) != 0) && left == 0;
}

static bool read_truncate(twpa_change *change, const unsigned char *p, size_t left)
{
  size_t n = get32(p);
  change->origin = get32(p + 4);
  if (n > RELATIONS_MAX || left - 8 != n * sizeof(uint64_t))
    return false;
  change->relations = (const uint64_t *)(const void *)(p + 8);
  change->nrelations = n;
  return true;
}

/* Kinds that carry a prefix, content, or neither. */
static bool read_bytes(twpa_change *change, const unsigned char *p, size_t left, uint32_t parts)
{
  size_t prefix = 0, content = 0, fixed = fixed_size(change->kind, parts);
  switch (change->kind) {
  case TWPA_MESSAGE:
    prefix = get32(p);
    content = get32(p + 4);
    change->origin = get32(p + 8);
    break;
  case TWPA_TOAST_CHUNK:
    change->toast_relation = get64(p);
    change->toast_value = get64(p + 8);
    change->toast_sequence = get32(p + 16);
    content = get32(p + 20);
    change->origin = get32(p + 24);
    break;
  case TWPA_INVALIDATION:
    content = get32(p);
    break;
  case TWPA_COMMAND:
    change->command_id = get32(p);
    break;
  default:
    break;
  }
  p += fixed;
  left -= fixed;
  return take(&change->prefix, &p, &left, prefix, (parts & TWPA__REC_OLD) != 0) &&
         take(&change->content, &p, &left, content, (parts & TWPA__REC_NEW) != 0) && left == 0;
}

static void set_absent(twpa_bytes *bytes)
{
  bytes->data = NULL;
  bytes->len = 0;
}

/*
 * Field by field: for an initialiser of this size compilers use string instructions, and for copies of structs loads
 * that wait for the stores before; either takes longer than all the rest of reading a record.
 */
static void begin_change(twpa_change *change, const twpa__rec *head)
{
  change->kind = head->kind;
  change->flags = head->flags;
  change->lsn = head->lsn;
  change->xid = TWPA_XID_NONE;
  change->origin = 0;
  change->locator.space = 0;
  change->locator.database = 0;
  change->locator.file = 0;
  set_absent(&change->old_row);
  set_absent(&change->new_row);
  change->relations = NULL;
  change->nrelations = 0;
  set_absent(&change->prefix);
  set_absent(&change->content);
  change->toast_relation = 0;
  change->toast_value = 0;
  change->toast_sequence = 0;
  change->command_id = 0;
  change->reserved[0] = 0;
  change->reserved[1] = 0;
}

bool twpa__change_read(twpa_change *change, const twpa__rec *rec, size_t avail)
{
  if (avail < sizeof *rec)
    return false;
  size_t fixed = fixed_size(rec->kind, rec->parts);
  if (rec->size > avail || rec->size % 8 != 0 || fixed == SIZE_MAX || rec->size < sizeof *rec + fixed)
    return false;
  begin_change(change, rec);
  const unsigned char *p = (const unsigned char *)(rec + 1);
  size_t left = rec->size - sizeof *rec;
  if (twpa__kind_is_row(rec->kind))
    return read_row(change, p, left, rec->parts);
  if (rec->kind == TWPA_TRUNCATE)
    return read_truncate(change, p, left);
  return read_bytes(change, p, left, rec->parts);
}
