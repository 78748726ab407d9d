/* Makes write-ahead logs for tests. */
#include "hosts/wal_maker.h"

#include "support/runner.h"
#include "support/wal/crc32c.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 8192u

void bytes_zero(bytes *b, size_t len)
{
  if (b->len + len > b->cap) {
    b->cap = (b->len + len) * 2 + 64;
    b->data = realloc(b->data, b->cap);
    ck_assert_ptr_nonnull(b->data);
  }
  if (len > 0)
    memset(b->data + b->len, 0, len);
  b->len += len;
}

void bytes_add(bytes *b, const void *data, size_t len)
{
  bytes_zero(b, len);
  if (len > 0)
    memcpy(b->data + b->len - len, data, len);
}

void bytes_u8(bytes *b, unsigned v)
{
  uint8_t x = (uint8_t)v;
  bytes_add(b, &x, sizeof x);
}

void bytes_u16(bytes *b, unsigned v)
{
  uint16_t x = (uint16_t)v;
  bytes_add(b, &x, sizeof x);
}

void bytes_u32(bytes *b, uint32_t v)
{
  bytes_add(b, &v, sizeof v);
}

void bytes_u64(bytes *b, uint64_t v)
{
  bytes_add(b, &v, sizeof v);
}

void bytes_free(bytes *b)
{
  free(b->data);
  *b = (bytes){0};
}

record_maker record_begin(unsigned rmgr, unsigned info, uint32_t xid)
{
  return (record_maker){.rmgr = (uint8_t)rmgr, .info = (uint8_t)info, .xid = xid};
}

void record_block(record_maker *r, const block_spec *spec)
{
  unsigned flags = spec->fork | (spec->image != 0 ? 0x10u : 0) | (spec->data_len > 0 ? 0x20u : 0) |
                   (spec->will_init ? 0x40u : 0) | (spec->same_rel ? 0x80u : 0);
  bytes_u8(&r->head, spec->id);
  bytes_u8(&r->head, flags);
  bytes_u16(&r->head, (unsigned)spec->data_len);
  if (spec->image != 0) {
    static const unsigned lens[] = {0, PAGE, PAGE - 100, 500, 700}, infos[] = {0, 0x02, 0x03, 0x0A, 0x07};
    bool hole = spec->image == 2 || spec->image == 4;
    bytes_u16(&r->head, lens[spec->image]);
    bytes_u16(&r->head, hole ? 40 : 0);
    bytes_u8(&r->head, infos[spec->image]);
    if (spec->image == 4)
      bytes_u16(&r->head, 100);
    size_t at = r->payload.len;
    bytes_zero(&r->payload, lens[spec->image]);
    memset(r->payload.data + at, 0xAB, lens[spec->image]);
  }
  if (!spec->same_rel) {
    bytes_u32(&r->head, spec->space);
    bytes_u32(&r->head, spec->database);
    bytes_u32(&r->head, spec->file);
  }
  bytes_u32(&r->head, spec->block);
  bytes_add(&r->payload, spec->data, spec->data_len);
}

void record_origin(record_maker *r, unsigned origin)
{
  bytes_u8(&r->head, 253);
  bytes_u16(&r->head, origin);
}

void record_top_xid(record_maker *r, uint32_t top)
{
  bytes_u8(&r->head, 252);
  bytes_u32(&r->head, top);
}

void wal_maker_init(wal_maker *m, const pg_format *format, uint32_t segment_bytes, uint64_t begin)
{
  *m = (wal_maker){.format = format,
                   .segment_bytes = segment_bytes,
                   .timeline = 1,
                   .system_id = UINT64_C(7311111111111111111),
                   .begin = begin,
                   .at = begin,
                   .prev = begin - 8};
}

void wal_maker_free(wal_maker *m)
{
  bytes_free(&m->log);
}

unsigned char *wal_maker_at(wal_maker *m, uint64_t lsn)
{
  ck_assert_uint_ge(lsn, m->begin);
  ck_assert_uint_lt(lsn - m->begin, m->log.len);
  return m->log.data + (lsn - m->begin);
}

/* Adds the page at m->at, which is a page border, and moves behind its header. */
static void add_page(wal_maker *m, unsigned flags, uint32_t remaining)
{
  bytes page = {0};
  bool is_long = m->at % m->segment_bytes == 0;
  bytes_u16(&page, m->format->wal_magic);
  bytes_u16(&page, flags | (is_long ? 2u : 0));
  bytes_u32(&page, m->timeline);
  bytes_u64(&page, m->at);
  bytes_u32(&page, remaining);
  bytes_u32(&page, 0);
  if (is_long) {
    bytes_u64(&page, m->system_id);
    bytes_u32(&page, m->segment_bytes);
    bytes_u32(&page, PAGE);
  }
  m->at += page.len;
  bytes_zero(&page, PAGE - page.len);
  bytes_add(&m->log, page.data, page.len);
  bytes_free(&page);
}

/* Writes bytes of a record from m->at on, over at most `pages` pages. */
static void put(wal_maker *m, const unsigned char *p, size_t len, unsigned pages)
{
  if (m->at % PAGE == 0)
    add_page(m, 0, 0);
  for (size_t done = 0; done < len;) {
    if (m->at % PAGE == 0) {
      if (--pages == 0)
        return;
      add_page(m, 1, (uint32_t)(len - done));
    }
    size_t part = PAGE - m->at % PAGE;
    part = len - done < part ? len - done : part;
    memcpy(wal_maker_at(m, m->at), p + done, part);
    done += part;
    m->at += part;
  }
  m->at = (m->at + 7) & ~UINT64_C(7);
}

static void make_bytes(const wal_maker *m, bytes *out, record_maker *r)
{
  size_t main_len = r->main.len;
  if (main_len > 255) {
    bytes_u8(&r->head, 254);
    bytes_u32(&r->head, (uint32_t)main_len);
  } else if (main_len > 0) {
    bytes_u8(&r->head, 255);
    bytes_u8(&r->head, (unsigned)main_len);
  }
  bytes_u32(out, (uint32_t)(24 + r->head.len + r->payload.len + main_len));
  bytes_u32(out, r->xid);
  bytes_u64(out, m->prev);
  bytes_u8(out, r->info);
  bytes_u8(out, r->rmgr);
  bytes_u16(out, 0);
  bytes_u32(out, 0);
  bytes_add(out, r->head.data, r->head.len);
  bytes_add(out, r->payload.data, r->payload.len);
  bytes_add(out, r->main.data, main_len);
  uint32_t crc = ~crc32c_add(crc32c_add(CRC32C_BEGIN, out->data + 24, out->len - 24), out->data, 20);
  memcpy(out->data + 20, &crc, sizeof crc);
  bytes_free(&r->head);
  bytes_free(&r->payload);
  bytes_free(&r->main);
}

static uint64_t record_start(const wal_maker *m)
{
  if (m->at % PAGE != 0)
    return m->at;
  return m->at + (m->at % m->segment_bytes == 0 ? 40 : 24);
}

uint64_t wal_maker_add(wal_maker *m, record_maker *r)
{
  bytes raw = {0};
  make_bytes(m, &raw, r);
  uint64_t start = record_start(m);
  put(m, raw.data, raw.len, UINT32_MAX);
  m->prev = start;
  bytes_free(&raw);
  return start;
}

uint64_t wal_maker_fill(wal_maker *m, uint32_t xid, size_t len, unsigned fill)
{
  record_maker r = record_begin(11, 0, xid);
  bytes_zero(&r.main, len);
  memset(r.main.data, (int)fill, len);
  return wal_maker_add(m, &r);
}

uint64_t wal_maker_switch(wal_maker *m)
{
  record_maker r = record_begin(0, 0x40, 0);
  uint64_t start = wal_maker_add(m, &r);
  uint64_t end = (m->at + m->segment_bytes - 1) & ~(uint64_t)(m->segment_bytes - 1);
  m->at = (m->at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  while (m->at < end) {
    add_page(m, 0, 0);
    m->at = (m->at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  }
  return start;
}

uint64_t wal_maker_abandon(wal_maker *m, size_t len, unsigned pages)
{
  record_maker r = record_begin(11, 0, 99);
  bytes_zero(&r.main, len);
  bytes raw = {0};
  make_bytes(m, &raw, &r);
  uint64_t start = record_start(m);
  put(m, raw.data, raw.len, pages);
  bytes_free(&raw);
  ck_assert_uint_eq(m->at % PAGE, 0);
  add_page(m, 8, 0);
  record_maker o = record_begin(0, 0xD0, 0);
  bytes_u64(&o.main, start);
  bytes_u64(&o.main, 0);
  wal_maker_add(m, &o);
  return start;
}

char *wal_maker_name(char buf[WAL_MAKER_NAME], const wal_maker *m, uint64_t lsn)
{
  uint64_t number = lsn / m->segment_bytes, per_id = (UINT64_C(1) << 32) / m->segment_bytes;
  snprintf(buf, WAL_MAKER_NAME, "%08" PRIX32 "%08" PRIX64 "%08" PRIX64, m->timeline, number / per_id, number % per_id);
  return buf;
}

void wal_maker_seal(wal_maker *m, uint64_t lsn)
{
  unsigned char *p = wal_maker_at(m, lsn);
  uint32_t len;
  memcpy(&len, p, sizeof len);
  ck_assert_uint_le(lsn % PAGE + len, PAGE);
  uint32_t crc = ~crc32c_add(crc32c_add(CRC32C_BEGIN, p + 24, len - 24), p, 20);
  memcpy(p + 20, &crc, sizeof crc);
}

const char *wal_test_directory(void)
{
  static char names[2][512];
  static unsigned turn;
  char *name = names[turn++ % 2];
  const char *base = getenv("TWPA_DATA_DIR");
  snprintf(name, sizeof names[0], "%s/wal-XXXXXX", base != NULL ? base : "/tmp");
  ck_assert_ptr_nonnull(mkdtemp(name));
  char wal[600];
  snprintf(wal, sizeof wal, "%s/pg_wal", name);
  ck_assert_int_eq(mkdir(wal, 0700), 0);
  return name;
}

void wal_test_remove(const char *dir)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/pg_wal", dir);
  DIR *d = opendir(path);
  if (d != NULL) {
    for (struct dirent *e; (e = readdir(d)) != NULL;)
      if (e->d_name[0] != '.')
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
  }
  rmdir(path);
  rmdir(dir);
}

void wal_test_file(const char *dir, const char *name, const void *data, size_t len)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/pg_wal/%s", dir, name);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
  close(fd);
}

void wal_test_unlink(const char *dir, const char *name)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/pg_wal/%s", dir, name);
  ck_assert_int_eq(unlink(path), 0);
}

void wal_maker_write(const wal_maker *m, const char *dir)
{
  unsigned char *segment = malloc(m->segment_bytes);
  ck_assert_ptr_nonnull(segment);
  for (size_t done = 0; done < m->log.len; done += m->segment_bytes) {
    size_t part = m->log.len - done < m->segment_bytes ? m->log.len - done : m->segment_bytes;
    memcpy(segment, m->log.data + done, part);
    memset(segment + part, 0, m->segment_bytes - part);
    char name[WAL_MAKER_NAME];
    wal_test_file(dir, wal_maker_name(name, m, m->begin + done), segment, m->segment_bytes);
  }
  free(segment);
}
