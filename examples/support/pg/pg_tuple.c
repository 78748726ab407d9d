/* Row images: rebuilding, opening, reading columns. */
#include "support/pg/pg_tuple.h"

#include "support/pg/pg_compress.h"

#include <string.h>

#define EXTERNAL_SIZE 18u   /* of a pointer into the toast relation, its two header bytes included */
#define EXTERNAL_ON_DISK 18u /* its tag */

uint16_t pg_u16(const void *p)
{
  const uint8_t *b = p;
  return (uint16_t)(b[0] | b[1] << 8);
}

uint32_t pg_u32(const void *p)
{
  const uint8_t *b = p;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t pg_u64(const void *p)
{
  const uint8_t *b = p;
  return (uint64_t)pg_u32(b) | (uint64_t)pg_u32(b + 4) << 32;
}

static void put_u16(uint8_t *p, uint16_t n)
{
  p[0] = (uint8_t)n;
  p[1] = (uint8_t)(n >> 8);
}

size_t pg_tuple_wal_size(size_t body_len)
{
  return PG_TUPLE_HEADER + body_len;
}

bool pg_tuple_from_wal(uint8_t *out, uint16_t infomask2, uint16_t infomask, uint8_t hoff, const void *body,
                       size_t body_len, host_error *err)
{
  memset(out, 0, PG_TUPLE_HEADER);
  put_u16(out + 18, infomask2);
  put_u16(out + 20, infomask);
  out[22] = hoff;
  if (body_len > 0)
    memcpy(out + PG_TUPLE_HEADER, body, body_len);
  pg_tuple t;
  return pg_tuple_open(&t, out, PG_TUPLE_HEADER + body_len, err);
}

bool pg_tuple_open(pg_tuple *t, const void *data, size_t len, host_error *err)
{
  if (len < PG_TUPLE_HEADER)
    return host_fail(err, "a row of %zu bytes is shorter than its header", len);
  const uint8_t *bytes = data;
  uint16_t infomask2 = pg_u16(bytes + 18);
  uint16_t infomask = pg_u16(bytes + 20);
  size_t natts = infomask2 & PG_NATTS_MASK;
  size_t hoff = bytes[22];
  size_t need = PG_TUPLE_HEADER + ((infomask & PG_HAS_NULLS) != 0 ? (natts + 7) / 8 : 0);
  if (hoff < need || hoff % 8 != 0)
    return host_fail(err, "the header of a row of %zu columns says that its data starts at byte %zu", natts, hoff);
  if (hoff > len)
    return host_fail(err, "a row of %zu bytes says that its data starts at byte %zu", len, hoff);
  if (natts > PG_MAX_COLUMNS)
    return host_fail(err, "a row says that it has %zu columns", natts);
  *t = (pg_tuple){.data = bytes, .len = len, .infomask = infomask, .infomask2 = infomask2, .natts = (uint16_t)natts,
                  .hoff = (uint16_t)hoff};
  return true;
}

static bool align_at(size_t *at, char align, host_error *err)
{
  size_t to;
  switch (align) {
  case 'c':
    to = 1;
    break;
  case 's':
    to = 2;
    break;
  case 'i':
    to = 4;
    break;
  case 'd':
    to = 8;
    break;
  default:
    return host_fail(err, "the alignment of the type is '%c'", align >= ' ' && align < 127 ? align : '?');
  }
  *at = (*at + to - 1) & ~(to - 1);
  return true;
}

static bool too_short(size_t at, size_t need, size_t end, host_error *err)
{
  return host_fail(err, "%zu bytes at offset %zu are needed, the data ends at %zu", need, at, end);
}

/* Compressed data of a value: u32 raw size and method, then the bytes. */
static bool set_compressed(pg_value *v, uint32_t info, const uint8_t *data, size_t len, host_error *err)
{
  uint32_t raw = info & PG_MAX_VALUE;
  uint32_t method = info >> 30;
  if (method != PG_PGLZ && method != PG_LZ4)
    return host_fail(err, "unknown compression method %u", method);
  if (method == PG_PGLZ ? !pg_pglz_plausible(raw, len) : !pg_lz4_plausible(raw, len))
    return host_fail(err, "%zu compressed bytes claim to be %u bytes", len, raw);
  *v = (pg_value){.data = data, .len = (uint32_t)len, .raw_len = raw, .kind = PG_VALUE_COMPRESSED, .method = method};
  return true;
}

static void set_plain(pg_value *v, const uint8_t *data, size_t len)
{
  *v = (pg_value){.data = data, .len = (uint32_t)len, .raw_len = (uint32_t)len, .kind = PG_VALUE_PLAIN};
}

static bool read_external(pg_value *v, const uint8_t *p, host_error *err)
{
  if (p[1] != EXTERNAL_ON_DISK)
    return host_fail(err, "a pointer to an external value has the unknown tag %u", p[1]);
  uint32_t raw = pg_u32(p + 2);
  uint32_t info = pg_u32(p + 6);
  if (raw < 4 || raw > PG_MAX_VALUE)
    return host_fail(err, "a pointer to an external value says that it has %u bytes", raw);
  uint32_t stored = info & PG_MAX_VALUE;
  *v = (pg_value){.kind = PG_VALUE_EXTERNAL, .raw_len = raw - 4, .toast_len = stored, .method = info >> 30,
                  .toast_id = pg_u32(p + 10), .toast_rel = pg_u32(p + 14)};
  if (stored > v->raw_len)
    return host_fail(err, "a pointer to an external value of %u bytes says that %u are stored", v->raw_len, stored);
  v->toast_compressed = stored < v->raw_len;
  if (v->toast_compressed && v->method != PG_PGLZ && v->method != PG_LZ4)
    return host_fail(err, "unknown compression method %u", v->method);
  return true;
}

/* A value with a length header. */
static bool read_varlena(pg_value *v, size_t *next, const uint8_t *base, size_t at, size_t end, char align,
                         host_error *err)
{
  if (at >= end)
    return too_short(at, 1, end, err);
  size_t aligned = at;
  if (!align_at(&aligned, align, err))
    return false;
  if (base[at] == 0)
    at = aligned;
  if (at >= end)
    return too_short(at, 1, end, err);
  uint8_t first = base[at];
  if (first == 1) {
    if (end - at < EXTERNAL_SIZE)
      return too_short(at, EXTERNAL_SIZE, end, err);
    *next = at + EXTERNAL_SIZE;
    return read_external(v, base + at, err);
  }
  if ((first & 1) != 0) {
    size_t total = first >> 1; /* >= 1 */
    if (total > end - at)
      return too_short(at, total, end, err);
    set_plain(v, base + at + 1, total - 1);
    *next = at + total;
    return true;
  }
  if (at != aligned)
    return host_fail(err, "a value with a four-byte header stands unaligned at offset %zu", at);
  if (end - at < 4)
    return too_short(at, 4, end, err);
  uint32_t header = pg_u32(base + at);
  size_t total = header >> 2;
  bool compressed = (header & 3) == 2;
  if (total < (compressed ? 8u : 4u))
    return host_fail(err, "the header of the value at offset %zu says %zu bytes", at, total);
  if (total > end - at)
    return too_short(at, total, end, err);
  *next = at + total;
  if (compressed)
    return set_compressed(v, pg_u32(base + at + 4), base + at + 8, total - 8, err);
  set_plain(v, base + at + 4, total - 4);
  return true;
}

bool pg_value_read(pg_value *v, size_t *next, const uint8_t *base, size_t at, size_t end, const pg_attr *attr,
                   host_error *err)
{
  if (attr->len == -1)
    return read_varlena(v, next, base, at, end, attr->align, err);
  if (!align_at(&at, attr->align, err))
    return false;
  if (attr->len > 0) {
    size_t len = (size_t)attr->len;
    if (at > end || len > end - at)
      return too_short(at, len, end, err);
    set_plain(v, base + at, len);
    *next = at + len;
    return true;
  }
  if (attr->len != -2)
    return host_fail(err, "the type has the length %d", attr->len);
  if (at >= end)
    return too_short(at, 1, end, err);
  const uint8_t *nul = memchr(base + at, 0, end - at);
  if (nul == NULL)
    return host_fail(err, "the C string at offset %zu does not end", at);
  set_plain(v, base + at, (size_t)(nul - base) - at);
  *next = (size_t)(nul - base) + 1;
  return true;
}

bool pg_tuple_deform(pg_value *values, const pg_tuple *t, const pg_attr *attrs, size_t ncols, host_error *err)
{
  if (t->natts > ncols)
    return host_fail(err, "the row has %u columns, the relation only %zu", t->natts, ncols);
  const uint8_t *base = t->data + t->hoff;
  const uint8_t *bitmap = (t->infomask & PG_HAS_NULLS) != 0 ? t->data + PG_TUPLE_HEADER : NULL;
  size_t end = t->len - t->hoff;
  size_t at = 0;
  for (size_t i = 0; i < ncols; i++) {
    if (i >= t->natts) {
      values[i] = attrs[i].missing != NULL ? *attrs[i].missing : (pg_value){.kind = PG_VALUE_NULL};
      continue;
    }
    if (bitmap != NULL && (bitmap[i / 8] >> (i % 8) & 1) == 0) {
      values[i] = (pg_value){.kind = PG_VALUE_NULL};
      continue;
    }
    host_error inner;
    if (!pg_value_read(&values[i], &at, base, at, end, &attrs[i], &inner))
      return host_fail(err, "column %zu: %.600s", i + 1, inner.text);
  }
  return true;
}

bool pg_value_expand(uint8_t *out, const pg_value *v, host_error *err)
{
  if (v->kind == PG_VALUE_PLAIN) {
    if (v->len > 0)
      memcpy(out, v->data, v->len);
    return true;
  }
  if (v->kind != PG_VALUE_COMPRESSED)
    return host_fail(err, "only a plain or compressed value can be expanded");
  bool ok = v->method == PG_PGLZ ? pg_pglz_decompress(out, v->raw_len, v->data, v->len)
                                 : pg_lz4_decompress(out, v->raw_len, v->data, v->len);
  return ok || host_fail(err, "compressed data (%s, %u bytes for %u) is damaged",
                         v->method == PG_PGLZ ? "pglz" : "lz4", v->len, v->raw_len);
}

bool pg_value_from_toast(pg_value *out, const pg_value *v, const void *chunks, size_t len, host_error *err)
{
  if (v->kind != PG_VALUE_EXTERNAL)
    return host_fail(err, "the value is not an external one");
  if (len != v->toast_len)
    return host_fail(err, "external value %u of relation %u has %zu bytes stored, its pointer says %u", v->toast_id,
                     v->toast_rel, len, v->toast_len);
  if (v->toast_compressed == 0) {
    set_plain(out, chunks, len);
    return true;
  }
  if (len < 4)
    return host_fail(err, "external value %u of relation %u is too short to be compressed", v->toast_id, v->toast_rel);
  const uint8_t *bytes = chunks;
  pg_value made;
  if (!set_compressed(&made, pg_u32(bytes), bytes + 4, len - 4, err))
    return false;
  if (made.raw_len != v->raw_len || made.method != v->method)
    return host_fail(err, "external value %u of relation %u does not match its pointer", v->toast_id, v->toast_rel);
  *out = made;
  return true;
}

int64_t pg_value_int(const pg_value *v)
{
  if (v->kind != PG_VALUE_PLAIN)
    return 0;
  switch (v->len) {
  case 1:
    return (int8_t)v->data[0];
  case 2:
    return (int16_t)pg_u16(v->data);
  case 4:
    return (int32_t)pg_u32(v->data);
  case 8:
    return (int64_t)pg_u64(v->data);
  default:
    return 0;
  }
}
