/* The WAL reader on logs made for the purpose: everything that is written is read back, from every position. */
#include "hosts/wal_maker.h"
#include "support/runner.h"
#include "support/wal/wal_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT (1u << 20)
#define BEGIN (UINT64_C(0x1FFFFF) << 20) /* the log crosses 2^41, so file names carry over */

/* What was written. */
typedef struct written {
  uint64_t start;
  uint32_t xid, top_xid;
  unsigned rmgr, info, origin, nblocks;
  size_t main_len;
  unsigned char fill;
  block_spec blocks[4];
  unsigned char block_fill;
} written;

typedef struct written_log {
  written *items;
  size_t len, cap;
} written_log;

static const pg_format *format;

static void setup(void)
{
  format = pg_format_by_major(15);
}

static wal_reader *open_log(const char *dir, uint64_t start)
{
  wal_reader_options options = {.data_dir = dir, .format = format, .start = start};
  wal_reader *r;
  host_error err = {""};
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  return r;
}

static void expect_end(wal_reader *r, uint64_t at)
{
  const wal_record *record;
  host_error err = {""};
  for (int again = 0; again < 2; again++) {
    ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_END);
    ck_assert_ptr_null(record);
    ck_assert_uint_eq(wal_reader_position(r), at);
    ck_assert_str_ne(wal_reader_end_reason(r), "");
  }
}

static size_t random_len(rng *r)
{
  switch (rng_below(r, 40)) {
  case 0:
    return (size_t)rng_below(r, 200000);
  case 1:
  case 2:
    return (size_t)rng_below(r, 20000);
  default:
    return (size_t)rng_below(r, 300);
  }
}

static unsigned char payload[65536];

static void add_random(wal_maker *m, written_log *log, rng *r)
{
  written w = {.xid = (uint32_t)rng_below(r, 5000), .rmgr = 11, .info = (unsigned)rng_below(r, 16) << 4};
  w.main_len = random_len(r);
  w.fill = (unsigned char)rng_next(r);
  w.block_fill = (unsigned char)rng_next(r);
  record_maker rm = record_begin(w.rmgr, w.info, w.xid);
  w.nblocks = rng_chance(r, 70) ? (unsigned)rng_below(r, 4) : 0;
  memset(payload, w.block_fill, sizeof payload);
  for (unsigned i = 0; i < w.nblocks; i++) {
    block_spec *b = &w.blocks[i];
    *b = (block_spec){.id = i * 3 + (unsigned)rng_below(r, 3), .fork = (unsigned)rng_below(r, 4), .space = 1663,
                      .database = 5, .file = (uint32_t)rng_next(r), .block = (uint32_t)rng_next(r), .data = payload};
    b->data_len = rng_chance(r, 80) ? (size_t)rng_below(r, rng_chance(r, 5) ? 60000 : 400) : 0;
    b->image = rng_chance(r, 10) ? (unsigned)rng_below(r, 5) : 0;
    b->will_init = rng_chance(r, 10) != 0;
    b->same_rel = i > 0 && rng_chance(r, 30) != 0;
    if (b->same_rel)
      b->file = w.blocks[i - 1].file;
    record_block(&rm, b);
  }
  if (rng_chance(r, 20))
    record_origin(&rm, w.origin = 1 + (unsigned)rng_below(r, 65535));
  if (rng_chance(r, 20))
    record_top_xid(&rm, w.top_xid = 1 + (uint32_t)rng_below(r, 5000));
  bytes_zero(&rm.main, w.main_len);
  if (w.main_len > 0)
    memset(rm.main.data, w.fill, w.main_len);
  w.start = wal_maker_add(m, &rm);
  if (log->len == log->cap) {
    log->cap = log->cap * 2 + 100;
    log->items = realloc(log->items, log->cap * sizeof *log->items);
  }
  log->items[log->len++] = w;
}

static void check_filled(const unsigned char *p, size_t len, unsigned char fill)
{
  size_t i = 0;
  while (i < len && p[i] == fill)
    i++;
  ck_assert_uint_eq(i, len);
}

static void check_record(const wal_record *got, const written *want)
{
  ck_assert_uint_eq(got->start, want->start);
  ck_assert_uint_eq(got->xid, want->xid);
  ck_assert_uint_eq(got->top_xid, want->top_xid);
  ck_assert_uint_eq(got->origin, want->origin);
  ck_assert_uint_eq(got->rmgr, want->rmgr);
  ck_assert_uint_eq(got->info, want->info);
  ck_assert_uint_eq(got->nblocks, want->nblocks);
  ck_assert_uint_eq(got->main_len, want->main_len);
  check_filled(got->main_data, got->main_len, want->fill);
  for (unsigned i = 0; i < want->nblocks; i++) {
    const wal_block *b = wal_record_block(got, want->blocks[i].id);
    const block_spec *w = &want->blocks[i];
    ck_assert_ptr_eq(b, &got->blocks[i]);
    ck_assert_uint_eq(b->fork, w->fork);
    ck_assert_uint_eq(b->locator.space, 1663);
    ck_assert_uint_eq(b->locator.database, 5);
    ck_assert_uint_eq(b->locator.file, w->file);
    ck_assert_uint_eq(b->block, w->block);
    ck_assert_uint_eq(b->has_image, w->image != 0);
    ck_assert_uint_eq(b->will_init, w->will_init);
    ck_assert_uint_eq(b->has_data, w->data_len != 0);
    ck_assert_uint_eq(b->data_len, w->data_len);
    check_filled(b->data, b->data_len, want->block_fill);
  }
  ck_assert_ptr_null(wal_record_block(got, 33));
}

static bool next_written(wal_reader *r, const wal_record **record)
{
  host_error err = {""};
  do {
    wal_result result = wal_reader_next(r, record, &err);
    ck_assert_msg(result != WAL_FAILED, "%s", err.text);
    if (result == WAL_END)
      return false;
  } while ((*record)->rmgr == 0);
  return true;
}

/* Random records, switches and abandoned records, read from the beginning and from many positions. */
START_TEST(what_is_written_is_read)
{
  rng r = {test_seed(1) + (uint64_t)_i * 1000};
  wal_maker m;
  wal_maker_init(&m, format, _i % 3 == 2 ? 4 * SEGMENT : SEGMENT, _i % 3 == 2 ? BEGIN - 3 * SEGMENT : BEGIN);
  written_log log = {0};
  uint64_t abandoned = 0;
  for (int i = 0; i < 700; i++) {
    if (rng_chance(&r, 1) && m.at % SEGMENT != 0)
      wal_maker_switch(&m);
    else if (rng_chance(&r, 1)) {
      wal_maker_abandon(&m, 3 * 8192 + (size_t)rng_below(&r, 40000), 1 + (unsigned)rng_below(&r, 2));
      abandoned++;
    } else
      add_random(&m, &log, &r);
  }
  const char *dir = wal_test_directory();
  wal_maker_write(&m, dir);
  wal_reader *reader = open_log(dir, 0);
  ck_assert_uint_eq(wal_reader_oldest(reader), m.begin);
  ck_assert_uint_eq(wal_reader_segment_bytes(reader), m.segment_bytes);
  const wal_record *record;
  uint64_t end = 0, prev = m.begin - 8;
  for (size_t i = 0; i < log.len; i++) {
    ck_assert(next_written(reader, &record));
    check_record(record, &log.items[i]);
    ck_assert_uint_gt(record->end, end);
    ck_assert_uint_ge(record->prev, prev);
    end = record->end;
    prev = record->start;
  }
  ck_assert(!next_written(reader, &record));
  expect_end(reader, m.at);
  ck_assert_uint_eq(wal_reader_abandoned(reader), abandoned);
  wal_reader_close(reader);
  /* From anywhere, the first record is the first one that starts there or later. */
  for (int i = 0; i < 60; i++) {
    size_t at = (size_t)rng_below(&r, log.len);
    uint64_t start = log.items[at].start;
    if (at > 0 && rng_chance(&r, 50))
      start -= rng_below(&r, start - log.items[at - 1].start);
    reader = open_log(dir, start);
    for (size_t k = at; k < log.len && k < at + 3; k++) {
      ck_assert(next_written(reader, &record));
      check_record(record, &log.items[k]);
    }
    wal_reader_close(reader);
  }
  free(log.items);
  wal_maker_free(&m);
  wal_test_remove(dir);
}
END_TEST

/* One record over several segments, and the position reported for a border. */
START_TEST(records_longer_than_segments)
{
  wal_maker m;
  wal_maker_init(&m, format, SEGMENT, BEGIN);
  uint64_t starts[4];
  starts[0] = wal_maker_fill(&m, 3, 100, 1);
  starts[1] = wal_maker_fill(&m, 4, 5 * SEGMENT + 17, 2);
  starts[2] = wal_maker_fill(&m, 5, 50, 3);
  /* up to the last byte of a page */
  starts[3] = wal_maker_fill(&m, 6, 8192 - m.at % 8192 - 29, 4);
  ck_assert_uint_eq(m.at % 8192, 0);
  const char *dir = wal_test_directory();
  wal_maker_write(&m, dir);
  for (int from = 0; from < 4; from++) {
    wal_reader *r = open_log(dir, from == 0 ? 0 : starts[from - 1] + 1);
    const wal_record *record;
    host_error err;
    for (int i = from; i < 4; i++) {
      ck_assert_int_eq(wal_reader_position(r) <= starts[i], 1);
      ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
      ck_assert_uint_eq(record->start, starts[i]);
      check_filled(record->main_data, record->main_len, (unsigned char)(i + 1));
      ck_assert_uint_eq(record->total_len, record->main_len + (i == 0 || i == 2 ? 26u : 29u));
      ck_assert_uint_eq(wal_reader_position(r), record->end);
    }
    ck_assert_uint_eq(record->end, m.at);
    expect_end(r, m.at);
    wal_reader_close(r);
  }
  wal_maker_free(&m);
  wal_test_remove(dir);
}
END_TEST

/* The log begins in the middle of a record, or on a page whose predecessor was abandoned. */
START_TEST(first_page_is_not_the_first)
{
  wal_maker m;
  wal_maker_init(&m, format, SEGMENT, BEGIN);
  wal_maker_fill(&m, 3, 3 * SEGMENT / 2, 1);
  uint64_t second = wal_maker_fill(&m, 4, 10, 2);
  while (m.at % SEGMENT < SEGMENT - 64)
    wal_maker_fill(&m, 6, 1, 3);
  wal_maker_abandon(&m, 9000, 1);
  uint64_t overwrite = BEGIN + 2 * SEGMENT + 40;
  uint64_t last = wal_maker_fill(&m, 7, 10, 4);
  const char *dir = wal_test_directory();
  wal_maker_write(&m, dir);
  char name[WAL_MAKER_NAME];
  const wal_record *record;
  host_error err;
  wal_test_unlink(dir, wal_maker_name(name, &m, BEGIN));
  wal_reader *r = open_log(dir, 0);
  ck_assert_uint_eq(wal_reader_oldest(r), BEGIN + SEGMENT);
  ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
  ck_assert_uint_eq(record->start, second);
  while (record->start < last)
    ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
  ck_assert_uint_eq(wal_reader_abandoned(r), 1);
  wal_reader_close(r);
  wal_test_unlink(dir, wal_maker_name(name, &m, BEGIN + SEGMENT));
  r = open_log(dir, 0);
  ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
  ck_assert_uint_eq(record->start, overwrite);
  ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
  ck_assert_uint_eq(record->start, last);
  expect_end(r, m.at);
  ck_assert_uint_eq(wal_reader_abandoned(r), 0);
  wal_reader_close(r);
  wal_maker_free(&m);
  wal_test_remove(dir);
}
END_TEST

/* Who uses a record and cannot go on says in which file it is. */
START_TEST(a_record_is_in_a_file)
{
  wal_maker m;
  wal_maker_init(&m, format, SEGMENT, BEGIN);
  while (m.at < BEGIN + SEGMENT + 1000)
    wal_maker_fill(&m, 3, 5000, 1);
  const char *dir = wal_test_directory();
  wal_maker_write(&m, dir);
  wal_reader *r = open_log(dir, 0);
  const wal_record *record;
  host_error err;
  size_t records = 0;
  while (wal_reader_next(r, &record, &err) == WAL_GOT) {
    char name[WAL_MAKER_NAME], want[600];
    host_fail(&err, "bad");
    ck_assert(!wal_reader_within(r, record, &err));
    snprintf(want, sizeof want, "%s/pg_wal/%s: bad", dir, wal_maker_name(name, &m, record->start));
    ck_assert_str_eq(err.text, want);
    records++;
  }
  ck_assert_uint_gt(records, 200);
  wal_reader_close(r);
  wal_maker_free(&m);
  wal_test_remove(dir);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_reader");
  TCase *t = tcase_create("reader");
  tcase_add_checked_fixture(t, setup, NULL);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, what_is_written_is_read, 0, 6);
  tcase_add_test(t, records_longer_than_segments);
  tcase_add_test(t, first_page_is_not_the_first);
  tcase_add_test(t, a_record_is_in_a_file);
  suite_add_tcase(s, t);
  return run_suite(s);
}
