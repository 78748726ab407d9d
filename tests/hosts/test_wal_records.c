/*
 * What records of rows say, with known content in the layouts of 15 and 18; every length that is wrong by one; and real
 * records of all kinds with random damage, on buffers of exactly their size, so that a look beyond the end is noticed.
 */
#include "hosts/record_maker.h"
#include "support/pg/pg_tuple.h"
#include "support/runner.h"
#include "support/wal/wal_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of 3 columns with nulls: bitmap, no padding, 4 bytes. */
static void add_row(bytes *b, unsigned natts)
{
  bytes_u16(b, natts);
  bytes_u16(b, 0x0801);
  bytes_u8(b, 24);
  bytes_u8(b, 5);
  bytes_u32(b, 0xCAFE);
}

static void check_row(const wal_row *row, unsigned natts)
{
  ck_assert_uint_eq(row->infomask2, natts);
  ck_assert_uint_eq(row->infomask, 0x0801);
  ck_assert_uint_eq(row->hoff, 24);
  ck_assert_uint_eq(row->body_len, 5);
  unsigned char image[28];
  host_error err;
  ck_assert_uint_eq(pg_tuple_wal_size(row->body_len), sizeof image);
  ck_assert(pg_tuple_from_wal(image, row->infomask2, row->infomask, row->hoff, row->body, row->body_len, &err));
  ck_assert_uint_eq(image[22], 24);
  ck_assert_uint_eq(image[23], 5);
  ck_assert_uint_eq(image[24], 0xFE);
}

START_TEST(heap_insert)
{
  made m = make(WAL_RM_HEAP, 0x80);
  wal_content c;
  bytes_u16(&m.main, 12);
  bytes_u8(&m.main, 0x08 | 0x10);
  refuse(&m, "it refers to no page");
  with_page(&m);
  add_row(&m.data, 3);
  expect(&c, &m, WAL_INSERT);
  ck_assert_uint_eq(c.as.insert.locator.file, 4000);
  ck_assert_uint_eq(c.as.insert.tid.block, 77);
  ck_assert_uint_eq(c.as.insert.tid.line, 12);
  ck_assert(c.as.insert.is_toast && !c.as.insert.speculative);
  check_row(&c.as.insert.row, 3);
  refuse_lengths(&m);
  m.data.data[4] = 16; /* the offset of column data lies in the header */
  refuse(&m, "a row whose header and length do not fit");
  m.data.data[4] = 32; /* behind the end */
  refuse(&m, "a row whose header and length do not fit");
  m.data.data[4] = 25;
  refuse(&m, "a row whose header and length do not fit");
  m.data.data[4] = 24;
  m.data.data[0] = 9; /* nine columns: two bytes of bitmap */
  refuse(&m, "a row whose header and length do not fit");
  m.data.len = 4;
  refuse(&m, "a row whose header and length do not fit");
  m.main.data[2] = 0x04; /* speculative, of a relation that is not decoded */
  expect(&c, &m, WAL_INSERT);
  ck_assert_ptr_null(c.as.insert.row.body);
  ck_assert(c.as.insert.speculative && !c.as.insert.is_toast);
  done(&m);
}
END_TEST

START_TEST(heap_multi_insert)
{
  for (int init = 0; init < 2; init++) {
    made m = make(WAL_RM_HEAP2, init ? 0xD0 : 0x50);
    wal_content c;
    bytes_u8(&m.main, 0x08 | 0x02);
    bytes_u8(&m.main, 0);
    bytes_u16(&m.main, 3);
    for (unsigned i = 0; i < 3 && !init; i++)
      bytes_u16(&m.main, 40 + i);
    refuse(&m, "it refers to no page");
    with_page(&m);
    for (unsigned i = 0; i < 3; i++) {
      if (m.data.len % 2 != 0)
        bytes_u8(&m.data, 0);
      bytes_u16(&m.data, 5 + i);
      bytes row = {0};
      add_row(&row, i + 1);
      bytes_add(&m.data, row.data, row.len);
      bytes_zero(&m.data, i);
      bytes_free(&row);
    }
    expect(&c, &m, WAL_MULTI_INSERT);
    wal_multi_insert *mi = &c.as.multi_insert;
    ck_assert(mi->last && mi->has_rows && !mi->is_toast);
    wal_row row;
    twpa_tid tid;
    wal_multi_position at = {0};
    for (unsigned i = 0; i < 3; i++) {
      ck_assert(wal_multi_next(&row, &tid, &at, mi));
      ck_assert_uint_eq(row.infomask2, i + 1);
      ck_assert_uint_eq(row.body_len, 5 + i);
      ck_assert_uint_eq(row.body[0], 5);
      ck_assert_uint_eq(tid.block, 77);
      ck_assert_uint_eq(tid.line, init ? i + 1 : 40 + i);
    }
    ck_assert(!wal_multi_next(&row, &tid, &at, mi));
    refuse_lengths(&m);
    bytes_u8(&m.data, 0);
    refuse(&m, "more block data than rows");
    m.data.len -= 2;
    refuse(&m, "a row whose header and length do not fit");
    m.main.data[0] = 0;
    expect(&c, &m, WAL_MULTI_INSERT);
    at = (wal_multi_position){0};
    ck_assert(!wal_multi_next(&row, &tid, &at, mi));
    m.main.len = 3;
    refuse(&m, "its main data has the wrong length");
    done(&m);
  }
}
END_TEST

static void update_main(made *m, unsigned flags)
{
  m->main.len = 0;
  bytes_u32(&m->main, 700);
  bytes_u16(&m->main, 5);
  bytes_u8(&m->main, 0);
  bytes_u8(&m->main, flags);
  bytes_u32(&m->main, 0);
  bytes_u16(&m->main, 6);
}

START_TEST(heap_update)
{
  made m = make(WAL_RM_HEAP, 0x20);
  wal_content c;
  update_main(&m, 0x10);
  refuse(&m, "it refers to no page");
  with_page(&m);
  add_row(&m.data, 3);
  expect(&c, &m, WAL_UPDATE);
  wal_update *u = &c.as.update;
  ck_assert(!u->hot && !u->old_is_key);
  ck_assert_uint_eq(u->old_tid.block, 77);
  ck_assert_uint_eq(u->old_tid.line, 5);
  ck_assert_uint_eq(u->tid.line, 6);
  check_row(&u->row, 3);
  ck_assert_ptr_null(u->old_row.body);
  refuse_lengths(&m);
  update_main(&m, 0x10 | 0x08);
  refuse(&m, "a row whose header and length do not fit");
  add_row(&m.main, 2);
  m.record.info = 0x40;
  m.record.nblocks = 2;
  m.block[1] = (wal_block){.id = 1, .locator = m.block[0].locator, .block = 99};
  expect(&c, &m, WAL_UPDATE);
  ck_assert(u->hot && u->old_is_key);
  ck_assert_uint_eq(u->old_tid.block, 99);
  check_row(&u->old_row, 2);
  check_row(&u->row, 3);
  m.main.data[7] = 0x10 | 0x0C;
  refuse(&m, "flags say that it has the old row and the old key");
  m.main.data[7] = 0x10 | 0x20 | 0x04;
  refuse(&m, "is shortened against the old one");
  m.main.data[7] = 0x60 | 0x04;
  expect(&c, &m, WAL_UPDATE);
  ck_assert_ptr_null(u->row.body);
  m.main.len = 13;
  refuse(&m, "its main data has the wrong length");
  done(&m);
}
END_TEST

START_TEST(heap_delete)
{
  made m = make(WAL_RM_HEAP, 0x10);
  wal_content c;
  bytes_u32(&m.main, 700);
  bytes_u16(&m.main, 5);
  bytes_u8(&m.main, 0);
  bytes_u8(&m.main, 0x08);
  refuse(&m, "it refers to no page");
  with_page(&m);
  expect(&c, &m, WAL_DELETE);
  ck_assert(c.as.del.speculative && !c.as.del.partition_move);
  ck_assert_ptr_null(c.as.del.old_row.body);
  refuse_lengths(&m);
  m.main.data[7] = 0x02 | 0x10;
  refuse(&m, "a row whose header and length do not fit");
  add_row(&m.main, 3);
  expect(&c, &m, WAL_DELETE);
  ck_assert(c.as.del.partition_move && !c.as.del.old_is_key);
  check_row(&c.as.del.old_row, 3);
  m.main.data[7] = 0x04;
  expect(&c, &m, WAL_DELETE);
  ck_assert(c.as.del.old_is_key);
  m.main.data[7] = 0x06;
  refuse(&m, "flags say that it has the old row and the old key");
  m.main.len = 7;
  refuse(&m, "its main data has the wrong length");
  done(&m);
}
END_TEST

START_TEST(heap_others)
{
  wal_content c;
  made t = make(WAL_RM_HEAP, 0x30);
  bytes_u32(&t.main, 5);
  bytes_u32(&t.main, 2);
  bytes_u8(&t.main, 3);
  bytes_zero(&t.main, 3);
  bytes_u32(&t.main, 16384);
  bytes_u32(&t.main, 16390);
  expect(&c, &t, WAL_TRUNCATE);
  ck_assert_uint_eq(c.as.truncate.database, 5);
  ck_assert(c.as.truncate.cascade && c.as.truncate.restart_sequences);
  ck_assert_uint_eq(c.as.truncate.relations.count, 2);
  ck_assert_uint_eq(wal_list_u32(c.as.truncate.relations, 1), 16390);
  refuse_lengths(&t);
  memset(t.main.data + 4, 0xFF, 4);
  refuse(&t, "its main data has the wrong length");
  done(&t);

  made m = make(WAL_RM_HEAP, 0x50);
  bytes_u16(&m.main, 9);
  refuse(&m, "it refers to no page");
  with_page(&m);
  expect(&c, &m, WAL_CONFIRM);
  ck_assert_uint_eq(c.as.confirm.tid.line, 9);
  refuse_lengths(&m);
  m.record.info = 0x70;
  expect(&c, &m, WAL_INPLACE);
  ck_assert_uint_eq(c.as.inplace.tid.line, 9);
  refuse_lengths(&m);
  made_format = pg_format_by_major(18);
  refuse(&m, "its main data has the wrong length");
  bytes_zero(&m.main, 2);
  bytes_u32(&m.main, 5);
  bytes_u32(&m.main, 1663);
  bytes_u32(&m.main, 0);
  bytes_u32(&m.main, 1);
  bytes_u8(&m.main, 0xFE);
  bytes_zero(&m.main, 3);
  bytes_u32(&m.main, 5);
  bytes_u32(&m.main, 1259);
  bytes_u32(&m.main, 0);
  expect(&c, &m, WAL_INPLACE);
  ck_assert_uint_eq(c.as.inplace.database, 5);
  wal_inval v = wal_list_inval(c.as.inplace.invalidations, 0);
  ck_assert_int_eq(v.type, -2);
  ck_assert_uint_eq(v.object, 1259);
  ck_assert_uint_eq(v.database, 5);
  refuse_lengths(&m);
  done(&m);

  made l = make(WAL_RM_HEAP, 0x60);
  bytes_zero(&l.main, 8);
  expect(&c, &l, WAL_OTHER);
  refuse_lengths(&l);
  done(&l);
}
END_TEST

START_TEST(new_cid)
{
  made m = make(WAL_RM_HEAP2, 0x70);
  wal_content c;
  const uint32_t fields[] = {701, 4, UINT32_MAX, 5, 1663, 5, 1259};
  for (size_t i = 0; i < 7; i++)
    bytes_u32(&m.main, fields[i]);
  bytes_u16(&m.main, 1);
  bytes_u16(&m.main, 2);
  bytes_u16(&m.main, 3);
  expect(&c, &m, WAL_NEW_CID);
  const wal_new_cid *n = &c.as.new_cid;
  ck_assert_uint_eq(n->top_xid, 701);
  ck_assert_uint_eq(n->cmin, 4);
  ck_assert_uint_eq(n->cmax, TWPA_CID_NONE);
  ck_assert_uint_eq(n->combo_cid, 5);
  ck_assert_uint_eq(n->locator.file, 1259);
  ck_assert_uint_eq(n->tid.block, 0x10002);
  ck_assert_uint_eq(n->tid.line, 3);
  refuse_lengths(&m);
  done(&m);
  /* what decoding does not look at */
  for (unsigned info = 0; info < 0x50; info += 0x10) {
    made other = make(WAL_RM_HEAP2, info);
    expect(&c, &other, WAL_OTHER);
    done(&other);
  }
}
END_TEST

/* Looks at every byte that a parsed record refers to; the sum keeps the compiler from leaving it out. */
static unsigned touch(const unsigned char *p, size_t len)
{
  unsigned sum = 0;
  for (size_t i = 0; i < len; i++)
    sum = sum * 31 + p[i];
  return sum;
}

static unsigned touch_row(const wal_row *row)
{
  if (row->body == NULL)
    return 0;
  size_t size = pg_tuple_wal_size(row->body_len);
  unsigned char *image = malloc(size);
  host_error err;
  /* what the parser accepts, the tuple builder accepts */
  ck_assert_msg(pg_tuple_from_wal(image, row->infomask2, row->infomask, row->hoff, row->body, row->body_len, &err),
                "%s", err.text);
  unsigned sum = touch(image, size);
  free(image);
  return sum;
}

static unsigned touch_content(const wal_content *c)
{
  wal_row row;
  twpa_tid tid;
  wal_multi_position at = {0};
  unsigned sum = 0;
  switch (c->kind) {
  case WAL_INSERT:
    return touch_row(&c->as.insert.row);
  case WAL_MULTI_INSERT:
    while (wal_multi_next(&row, &tid, &at, &c->as.multi_insert))
      sum += touch_row(&row) + tid.line;
    ck_assert(!c->as.multi_insert.has_rows || at.index == c->as.multi_insert.nrows);
    return sum;
  case WAL_UPDATE:
    return touch_row(&c->as.update.row) + touch_row(&c->as.update.old_row);
  case WAL_DELETE:
    return touch_row(&c->as.del.old_row);
  case WAL_TRUNCATE:
    return touch(c->as.truncate.relations.data, c->as.truncate.relations.count * (size_t)4);
  case WAL_COMMIT:
  case WAL_ABORT:
  case WAL_COMMIT_PREPARED:
  case WAL_ABORT_PREPARED:
  case WAL_PREPARE:
    sum = touch(c->as.end.subxids.data, c->as.end.subxids.count * (size_t)4);
    sum += touch(c->as.end.invalidations.data, c->as.end.invalidations.count * (size_t)WAL_INVAL_BYTES);
    return sum + (c->as.end.gid != NULL ? (unsigned)strlen(c->as.end.gid) : 0);
  case WAL_INVALIDATIONS:
    return touch(c->as.invalidations.data, c->as.invalidations.count * (size_t)WAL_INVAL_BYTES);
  case WAL_RUNNING_XACTS:
    return touch(c->as.running.xids.data, c->as.running.xids.count * (size_t)4);
  case WAL_MESSAGE:
    return touch(c->as.message.content, c->as.message.content_len) + (unsigned)strlen(c->as.message.prefix);
  default:
    return 0;
  }
}

/* One real record, damaged: taken apart or refused, without a look beyond its end. */
static unsigned try_damaged(const wal_record *record, rng *r)
{
  uint32_t len = record->total_len;
  if (rng_chance(r, 40))
    len = WAL_RECORD_HEADER + (uint32_t)rng_below(r, record->total_len - WAL_RECORD_HEADER + 1);
  unsigned char *copy = malloc(len);
  memcpy(copy, record->raw, len);
  for (uint64_t flips = rng_below(r, 4); flips > 0; flips--)
    copy[rng_below(r, len)] ^= (unsigned char)(1u << rng_below(r, 8));
  wal_record damaged = {.start = record->start};
  wal_block blocks[WAL_BLOCKS_MAX];
  wal_content content;
  host_error err;
  unsigned sum = 0;
  if (wal_decode(&damaged, blocks, copy, len) == NULL) {
    for (unsigned i = 0; i < damaged.nblocks; i++)
      sum += touch(blocks[i].data, blocks[i].data_len);
    sum += touch(damaged.main_data, damaged.main_len);
    if (wal_parse(&content, &damaged, made_format, &err))
      sum += touch_content(&content) | 1;
  }
  free(copy);
  return sum;
}

START_TEST(damaged_records)
{
  static const char *const names[] = {"pg15-sample", "pg18-dml", "pg18-ddl"};
  char dir[1024];
  snprintf(dir, sizeof dir, "%s/%s/data", getenv("TWPA_DATA_DIR"), names[_i]);
  made_format = pg_format_by_major(_i == 0 ? 15 : 18);
  wal_reader_options options = {.data_dir = dir, .format = made_format};
  wal_reader *reader;
  host_error err = {""};
  ck_assert_msg(wal_reader_open(&reader, &options, &err), "%s", err.text);
  rng r = {test_seed(3) + (uint64_t)_i};
  const wal_record *record;
  unsigned tried = 0, survived = 0;
  while (wal_reader_next(reader, &record, &err) == WAL_GOT) {
    wal_content content;
    ck_assert_msg(wal_parse(&content, record, made_format, &err), "%s", err.text);
    bool rare = content.kind >= WAL_TRUNCATE && content.kind != WAL_COMMIT;
    unsigned times = content.kind == WAL_OTHER ? 1 : rare ? 30 : 3;
    for (; times > 0; times--, tried++)
      survived += try_damaged(record, &r) != 0;
  }
  ck_assert_uint_gt(tried, 50000);
  ck_assert_uint_gt(survived, tried / 10);
  ck_assert_uint_lt(survived, tried);
  wal_reader_close(reader);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_records");
  TCase *t = tcase_create("records");
  tcase_add_checked_fixture(t, record_maker_setup, NULL);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, heap_insert);
  tcase_add_test(t, heap_multi_insert);
  tcase_add_test(t, heap_update);
  tcase_add_test(t, heap_delete);
  tcase_add_test(t, heap_others);
  tcase_add_test(t, new_cid);
  tcase_add_loop_test(t, damaged_records, 0, 3);
  suite_add_tcase(s, t);
  return run_suite(s);
}
