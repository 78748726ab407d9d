/*
 * Where the log ends, and what is damage: each rule of the reader's header by itself, on logs made for it. Every case
 * says what the reader must answer, and that all records before the place are delivered.
 */
#include "hosts/wal_maker.h"
#include "support/runner.h"
#include "support/wal/wal_bytes.h"
#include "support/wal/wal_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT (1u << 20)
#define PAGE 8192u
#define BEGIN ((uint64_t)7 << 20)

static const pg_format *format;

/* A log: records of about 1000 bytes over a bit more than two segments, a long one in between, small ones last. */
typedef struct world {
  wal_maker m;
  uint64_t middle;      /* a record in the middle of the first segment */
  uint64_t long_one;    /* one that covers several pages, in the second segment */
  uint64_t last;        /* the last record; alone on the last page but one small one before it */
  uint64_t before_last; /* the one before */
  uint64_t cut;         /* a record that covers the last two pages, if the case asks for it */
  wal_reader_options options;
  const char *dir;
  char expect_file[WAL_MAKER_NAME];
} world;

static void add_records(wal_maker *m, uint64_t until)
{
  while (m->at < until)
    wal_maker_fill(m, 10, 1050, 0x55);
}

static void make_world(world *w)
{
  memset(w, 0, sizeof *w);
  wal_maker_init(&w->m, format, SEGMENT, BEGIN);
  add_records(&w->m, BEGIN + 40 * PAGE + 1000);
  w->middle = wal_maker_fill(&w->m, 11, 74, 0x66);
  add_records(&w->m, BEGIN + SEGMENT + 20 * PAGE + 3000);
  w->long_one = wal_maker_fill(&w->m, 12, 5 * PAGE, 0x77);
  add_records(&w->m, BEGIN + 2 * SEGMENT + 10 * PAGE + 2000);
  w->before_last = wal_maker_fill(&w->m, 13, 74, 0x88);
  w->last = wal_maker_fill(&w->m, 13, 74, 0x99);
  w->options = (wal_reader_options){.format = format};
}

/* The byte at lsn gets another value. */
static void flip(world *w, uint64_t lsn, unsigned mask)
{
  unsigned char *p = wal_maker_at(&w->m, lsn);
  *p = (unsigned char)(*p ^ mask);
}

static void put_u16(world *w, uint64_t lsn, unsigned v)
{
  uint16_t x = (uint16_t)v;
  memcpy(wal_maker_at(&w->m, lsn), &x, sizeof x);
}

static void put_u32(world *w, uint64_t lsn, uint32_t v)
{
  memcpy(wal_maker_at(&w->m, lsn), &v, sizeof v);
}

static void put_u64(world *w, uint64_t lsn, uint64_t v)
{
  memcpy(wal_maker_at(&w->m, lsn), &v, sizeof v);
}

static uint64_t page_of(uint64_t lsn)
{
  return lsn - lsn % PAGE;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static void none(world *w)
{
  (void)w;
}

static void garbage_behind_the_end(world *w)
{
  memset(wal_maker_at(&w->m, w->m.at), 0xEE, 300);
}

static void stale_record_behind_the_end(world *w)
{
  /* what a recycled segment leaves behind the end on a standby: a record of an earlier use of the page */
  memcpy(wal_maker_at(&w->m, w->m.at), wal_maker_at(&w->m, w->before_last), 104);
}

static void recycled_page_behind_the_end(world *w)
{
  bytes_zero(&w->m.log, PAGE);
  uint64_t next = page_of(w->last) + PAGE;
  memcpy(wal_maker_at(&w->m, next), wal_maker_at(&w->m, BEGIN + SEGMENT + next % SEGMENT), PAGE);
}

static void last_record_has_a_bad_checksum(world *w)
{
  flip(w, w->last + 40, 1);
}

static void last_record_is_half_written(world *w)
{
  memset(wal_maker_at(&w->m, w->last + 48), 0, 56);
}

static void last_record_continues_nowhere(world *w)
{
  w->cut = wal_maker_fill(&w->m, 14, 2 * PAGE, 0xAA);
  w->m.log.len = (size_t)(page_of(w->cut) + PAGE - BEGIN);
}

/* As a session leaves it that was still writing the record: some pages of it are there. */
static void last_record_misses_its_last_pages(world *w)
{
  w->cut = wal_maker_fill(&w->m, 14, 4 * PAGE, 0xAA);
  w->m.log.len = (size_t)(page_of(w->cut) + 3 * PAGE - BEGIN);
}

/* The same, and the pages that are missing would be in the next segment, which is not there. */
static void last_record_misses_the_next_segment(world *w)
{
  add_records(&w->m, BEGIN + 3 * SEGMENT - 3 * PAGE);
  w->cut = wal_maker_fill(&w->m, 14, 4 * PAGE, 0xAA);
  w->m.log.len = 3 * SEGMENT;
}

static void last_record_continues_on_a_recycled_page(world *w)
{
  last_record_continues_nowhere(w);
  uint64_t next = page_of(w->cut) + PAGE;
  bytes_zero(&w->m.log, PAGE);
  memcpy(wal_maker_at(&w->m, next), wal_maker_at(&w->m, BEGIN + SEGMENT + next % SEGMENT), PAGE);
}

/* The header of the last record does not fit on its page. */
static void last_header_is_cut(world *w)
{
  wal_maker_fill(&w->m, 14, PAGE - w->m.at % PAGE - 29 - 8, 1);
  ck_assert_uint_eq(w->m.at % PAGE, PAGE - 8);
  w->cut = wal_maker_fill(&w->m, 14, 100, 0xAA);
  w->m.log.len = (size_t)(page_of(w->cut) + PAGE - BEGIN);
}

static void hole_in_the_last_page(world *w)
{
  /* sessions fill a page in any order: the one before the last is missing */
  memset(wal_maker_at(&w->m, w->before_last), 0, 104);
}

static void shut_down_with_a_page_behind(world *w)
{
  w->options.shutdown_record = w->last;
  w->options.proven = w->last + 1;
  add_records(&w->m, page_of(w->last) + 3 * PAGE);
  memset(wal_maker_at(&w->m, w->last + 104), 0, PAGE - (w->last + 104) % PAGE);
}

static void next_segment_is_preallocated(world *w)
{
  bytes_zero(&w->m.log, SEGMENT);
}

static const struct {
  const char *name;
  void (*change)(world *w);
  int at; /* 0 end of the last record, 1 the last record, 2 the one before, 3 the cut record */
  const char *reason;
} ends[] = {
  {"intact", none, 0, "record length is 0"},
  {"garbage", garbage_behind_the_end, 0, "record length is"},
  {"stale record", stale_record_behind_the_end, 0, "does not name the one before"},
  {"recycled page", recycled_page_behind_the_end, 0, "record length is 0"},
  {"bad checksum of the last", last_record_has_a_bad_checksum, 1, "wrong checksum"},
  {"half of the last", last_record_is_half_written, 1, "wrong checksum"},
  {"cut record", last_record_continues_nowhere, 3, "where the page is empty"},
  {"cut long record", last_record_misses_its_last_pages, 3, "where the page is empty"},
  {"cut long record at a segment border", last_record_misses_the_next_segment, 3, "where the file is missing"},
  {"cut record, recycled page", last_record_continues_on_a_recycled_page, 3, "was last used for"},
  {"cut header", last_header_is_cut, 3, "where the page is empty"},
  {"hole", hole_in_the_last_page, 2, "record length is 0"},
  {"shutdown checkpoint", shut_down_with_a_page_behind, 0, "record length is 0"},
  {"preallocated", next_segment_is_preallocated, 0, "record length is 0"},
};

/* Reads to the end; returns what it was, and checks that it is not before `at_least`. */
static wal_result read_all(world *w, uint64_t *end, uint64_t *nrecords, host_error *err)
{
  w->options.data_dir = w->dir;
  wal_reader *r;
  *err = (host_error){""};
  *end = *nrecords = 0;
  if (!wal_reader_open(&r, &w->options, err))
    return WAL_FAILED;
  const wal_record *record;
  wal_result result;
  while ((result = wal_reader_next(r, &record, err)) == WAL_GOT)
    ++*nrecords;
  *end = wal_reader_position(r);
  if (result == WAL_END)
    snprintf(err->text, sizeof err->text, "%s", wal_reader_end_reason(r));
  host_error again = {""};
  ck_assert_int_eq(wal_reader_next(r, &record, &again), result);
  if (result == WAL_FAILED)
    ck_assert_str_eq(again.text, err->text);
  wal_reader_close(r);
  return result;
}

START_TEST(ends_where_the_server_ends)
{
  world w;
  make_world(&w);
  uint64_t end_of_last = w.m.at;
  ends[_i].change(&w);
  w.dir = wal_test_directory();
  wal_maker_write(&w.m, w.dir);
  uint64_t end, n;
  host_error err;
  wal_result result = read_all(&w, &end, &n, &err);
  ck_assert_msg(result == WAL_END, "%s: %s", ends[_i].name, err.text);
  const uint64_t at[] = {end_of_last, w.last, w.before_last, w.cut};
  ck_assert_msg(end == at[ends[_i].at], "%s: %jx", ends[_i].name, (uintmax_t)end);
  ck_assert_msg(strstr(err.text, ends[_i].reason) != NULL, "%s: %s", ends[_i].name, err.text);
  /* If the log is known to reach further, the same place is damage. */
  w.options.proven = end + 1;
  if (w.options.shutdown_record == 0) {
    ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_FAILED);
    ck_assert_ptr_nonnull(strstr(err.text, "but the control file shows that the log reaches"));
  }
  wal_maker_free(&w.m);
  wal_test_remove(w.dir);
}
END_TEST

/* --- damage ------------------------------------------------------------------------------------------------------- */

static void middle_body(world *w)
{
  flip(w, w->middle + 50, 0x10);
}

static void middle_prev(world *w)
{
  flip(w, w->middle + 8, 0x08);
}

static void middle_length_zero(world *w)
{
  put_u32(w, w->middle, 0);
}

static void middle_length_huge(world *w)
{
  put_u32(w, w->middle, 0x7FFFFFFF);
}

static void middle_length_one_page(world *w)
{
  put_u32(w, w->middle, 9000);
}

static void middle_crc(world *w)
{
  flip(w, w->middle + 20, 0x80);
}

static void middle_rmgr(world *w)
{
  *wal_maker_at(&w->m, w->middle + 17) = 77;
  wal_maker_seal(&w->m, w->middle);
}

static void middle_page_zero(world *w)
{
  memset(wal_maker_at(&w->m, page_of(w->middle)), 0, PAGE);
}

static void middle_pages_zero(world *w)
{
  memset(wal_maker_at(&w->m, page_of(w->middle)), 0, 60 * PAGE);
}

static void rest_of_segment_zero(world *w)
{
  memset(wal_maker_at(&w->m, page_of(w->middle)), 0, (size_t)(BEGIN + SEGMENT - page_of(w->middle)));
}

static void middle_page_old(world *w)
{
  put_u64(w, page_of(w->middle) + 8, page_of(w->middle) - 4 * SEGMENT);
}

static void header_zero(world *w)
{
  memset(wal_maker_at(&w->m, page_of(w->last)), 0, 24);
}

static void header_magic(world *w)
{
  put_u16(w, page_of(w->last), 0xD042);
}

static void header_other_version(world *w)
{
  put_u16(w, page_of(w->last), pg_format_by_major(18)->wal_magic);
}

static void header_flags(world *w)
{
  put_u16(w, page_of(w->last) + 2, 0x40);
}

static void header_address_higher(world *w)
{
  put_u64(w, page_of(w->last) + 8, page_of(w->last) + SEGMENT);
}

static void header_address_off(world *w)
{
  flip(w, page_of(w->last) + 9, 0x20);
}

static void header_address_older(world *w)
{
  /* as if recycled, but its first record follows one behind that address */
  put_u64(w, page_of(w->last) + 8, page_of(w->last) - SEGMENT);
}

static void header_timeline(world *w)
{
  put_u32(w, page_of(w->last) + 4, 9);
}

static void header_continues(world *w)
{
  put_u16(w, page_of(w->last) + 2, 0);
  put_u32(w, page_of(w->last) + 16, 0);
}

static void header_remaining(world *w)
{
  put_u32(w, page_of(w->last) + 16, wal_u32(wal_maker_at(&w->m, page_of(w->last) + 16)) + 8);
}

static void header_long_on_a_normal_page(world *w)
{
  put_u16(w, page_of(w->last) + 2, 0x3);
}

static void header_short_on_a_first_page(world *w)
{
  put_u16(w, BEGIN + 2 * SEGMENT + 2, 0x1);
}

static void other_cluster(world *w)
{
  put_u64(w, BEGIN + 2 * SEGMENT + 24, 42);
}

static void other_segment_size(world *w)
{
  put_u32(w, BEGIN + 2 * SEGMENT + 32, 2 * SEGMENT);
}

static void overwritten_without_record(world *w)
{
  put_u16(w, page_of(w->long_one) + PAGE + 2, 0x8);
  put_u32(w, page_of(w->long_one) + PAGE + 16, 0);
}

static void overwritten_and_continued(world *w)
{
  put_u16(w, page_of(w->long_one) + PAGE + 2, 0x9);
}

static void long_record_body(world *w)
{
  flip(w, w->long_one + 3 * PAGE, 1);
}

static void long_record_page_zero(world *w)
{
  memset(wal_maker_at(&w->m, page_of(w->long_one) + 2 * PAGE), 0, PAGE);
}

/* The page after the last one of the log has a header of its own: what came before was there once. */
static void page_behind_a_hole(world *w)
{
  add_records(&w->m, page_of(w->last) + 2 * PAGE);
  memset(wal_maker_at(&w->m, w->last), 0, PAGE - w->last % PAGE);
}

static const struct {
  const char *name;
  void (*change)(world *w);
  int segment; /* the file named */
  const char *message;
} damages[] = {
  {"body", middle_body, 0, "the record has a wrong checksum, but the log goes on at 0/752000"},
  {"prev", middle_prev, 0, "does not name the one before it, but the log goes on at"},
  {"length 0", middle_length_zero, 0, "the record length is 0, but the log goes on at"},
  {"length huge", middle_length_huge, 0, "the record length is 2147483647, but the log goes on at"},
  {"length over a page", middle_length_one_page, 0, "of the record follow at 0/752000 according to that page, not"},
  {"crc", middle_crc, 0, "wrong checksum"},
  {"rmgr", middle_rmgr, 0, "unknown resource manager"},
  {"zero page", middle_page_zero, 0, "the page is empty, but the log goes on at 0/752000"},
  {"zero pages", middle_pages_zero, 0, "the page is empty, but the log goes on at 0/7C8000"},
  {"zero segment", rest_of_segment_zero, 0, "the page is empty, but the log goes on at 0/800000"},
  {"old page", middle_page_old, 0, "page address 0/350000"},
  {"header zero", header_zero, 2, "the page header is empty, but the page is not"},
  {"magic", header_magic, 2, "page magic D042 instead of D110"},
  {"version", header_other_version, 2, "page written by PostgreSQL 18, not 15"},
  {"flags", header_flags, 2, "page flags 0040"},
  {"address higher", header_address_higher, 2, "page address"},
  {"address off", header_address_off, 2, "page address"},
  {"address older", header_address_older, 2, "page address"},
  {"timeline", header_timeline, 2, "page of timeline 9, which does not lead to timeline 1"},
  {"continues", header_continues, 2, "0 bytes of the record follow at 0/914000 according to that page, not"},
  {"remaining", header_remaining, 2, "bytes of the record follow at 0/914000 according to that page, not"},
  {"long header", header_long_on_a_normal_page, 2, "long page header"},
  {"short header", header_short_on_a_first_page, 2, "short page header"},
  {"system id", other_cluster, 2, "WAL of another cluster (system identifier 42, not 7311111111111111111)"},
  {"segment size", other_segment_size, 2, "page header with segment size 2097152 and page size 8192"},
  {"abandoned, not named", overwritten_without_record, 1, "the record length is"},
  {"abandoned and continued", overwritten_and_continued, 1, "page flags 0009 with"},
  {"long body", long_record_body, 1, "wrong checksum"},
  {"long page", long_record_page_zero, 1, "where the page is empty, but the log goes on at"},
  {"behind a hole", page_behind_a_hole, 2, "the record length is 0, but the log goes on at"},
};

START_TEST(damage_is_named)
{
  world w;
  make_world(&w);
  damages[_i].change(&w);
  w.dir = wal_test_directory();
  wal_maker_write(&w.m, w.dir);
  uint64_t end, n;
  host_error err;
  wal_result result = read_all(&w, &end, &n, &err);
  ck_assert_msg(result == WAL_FAILED, "%s: %s", damages[_i].name, err.text);
  ck_assert_msg(strstr(err.text, damages[_i].message) != NULL, "%s: %s", damages[_i].name, err.text);
  char file[WAL_MAKER_NAME];
  wal_maker_name(file, &w.m, BEGIN + (uint64_t)damages[_i].segment * SEGMENT);
  ck_assert_msg(strstr(err.text, file) != NULL, "%s: %s", damages[_i].name, err.text);
  ck_assert_msg(strstr(err.text, "damaged WAL at ") != NULL, "%s: %s", damages[_i].name, err.text);
  ck_assert_ptr_null(strchr(err.text, '\n'));
  /* A shutdown checkpoint that is never reached does not hide it. */
  w.options.shutdown_record = w.last + 8;
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_FAILED);
  wal_maker_free(&w.m);
  wal_test_remove(w.dir);
}
END_TEST

/* --- records whose parts do not fit, with a right checksum -------------------------------------------------------- */

typedef struct head_case {
  const char *head; /* bytes after the fixed header */
  size_t len;
  const char *message;
} head_case;

#define HEAD(bytes_, message_) {bytes_, sizeof(bytes_) - 1, message_}
#define REL "\x7F\x06\0\0\5\0\0\0\6\0\0\0"
#define BLK "\1\0\0\0"

static const head_case heads[] = {
  HEAD("\xFF", "cut off in its header"),
  HEAD("\xFE\1\0\0", "cut off in its header"),
  HEAD("\xFF\5abcd", "its parts are longer or shorter than the record"),
  HEAD("\xFF\3abcd", "its parts are longer or shorter than the record"),
  HEAD("\xFE\0\0\0\x70zzz", "its parts are longer or shorter than the record"),
  HEAD("\x21zzz", "an unknown part"),
  HEAD("\xFB", "an unknown part"),
  HEAD("\xFD\1", "cut off in its header"),
  HEAD("\xFC\1\2\3", "cut off in its header"),
  HEAD("\0\0\0", "cut off in a block reference"),
  HEAD("\0\0\0\0" REL "\1\0\0", "cut off in a block reference"),
  HEAD("\0\0\0\0\1\2\3", "cut off in a block reference"),
  HEAD("\0\4\0\0" REL BLK, "a block reference with an unknown fork"),
  HEAD("\0\x20\0\0" REL BLK, "a block reference whose data flag and length do not fit"),
  HEAD("\0\0\3\0" REL BLK "abc", "a block reference whose data flag and length do not fit"),
  HEAD("\0\x80\0\0" BLK, "a block reference to the relation of the one before, and there is none"),
  HEAD("\1\0\0\0" REL BLK "\1\x80\0\0" BLK, "block references out of order"),
  HEAD("\0\x10\0\0\1\0\0", "cut off in a page image header"),
  HEAD("\0\x10\0\0\1\0\1\0\5\1" REL BLK, "a page image whose length and hole do not fit"), /* compressed, a hole of 0 */
  HEAD("\0\x10\0\0\1\0\0\0\x20" REL BLK "a", "unknown kind of page image"),
  HEAD("\0\x10\0\0\1\0\0\0\x0C" REL BLK "a", "unknown kind of page image"),                  /* two methods */
  HEAD("\0\x10\0\0\1\0\0\0\1" REL BLK "a", "a page image whose length and hole do not fit"), /* hole at 0 */
  HEAD("\0\x10\0\0\1\0\1\0\0" REL BLK "a", "a page image whose length and hole do not fit"), /* no hole, but short */
  HEAD("\0\x10\0\0\0\x20\1\0\1" REL BLK, "a page image whose length and hole do not fit"),   /* hole of length 0 */
  HEAD("\0\x10\0\0\0\x20\0\0\4" REL BLK, "a page image whose length and hole do not fit"), /* compressed, not smaller */
  HEAD("\0\x10\0\0\1\0\1\0\5\xFF\xFF" REL BLK "a", "a page image whose length and hole do not fit"),
  HEAD("\0\x10\0\0\1\0\1\0\5", "cut off in a page image header"),
  HEAD("\0\x20\3\0" REL BLK "ab", "its parts are longer or shorter than the record"),
  HEAD("\0\x20\3\0" REL BLK "abcd", "cut off in a block reference"), /* the rest is taken for a reference to block 97 */
};

START_TEST(parts_that_do_not_fit)
{
  wal_maker m;
  wal_maker_init(&m, format, SEGMENT, BEGIN);
  wal_maker_fill(&m, 5, 10, 1);
  const head_case *c = &heads[_i];
  /* the bytes go where the announcements would be, and the length and checksum are made to fit */
  record_maker r = record_begin(10, 0, 7);
  bytes_add(&r.head, c->head, c->len);
  uint64_t start = wal_maker_add(&m, &r);
  wal_maker_fill(&m, 5, 10, 1);
  const char *dir = wal_test_directory();
  wal_maker_write(&m, dir);
  wal_reader_options options = {.data_dir = dir, .format = format};
  wal_reader *reader;
  const wal_record *record;
  host_error err = {""};
  ck_assert_msg(wal_reader_open(&reader, &options, &err), "%s", err.text);
  ck_assert_int_eq(wal_reader_next(reader, &record, &err), WAL_GOT);
  ck_assert_int_eq(wal_reader_next(reader, &record, &err), WAL_FAILED);
  if (_i + 1 < (int)(sizeof heads / sizeof *heads))
    ck_assert_msg(strstr(err.text, c->message) != NULL, "%d: %s", _i, err.text);
  ck_assert_ptr_nonnull(strstr(err.text, "a record of HEAP with info 00: "));
  ck_assert_uint_eq(wal_reader_position(reader), start);
  wal_reader_close(reader);
  wal_maker_free(&m);
  wal_test_remove(dir);
}
END_TEST

/* --- files -------------------------------------------------------------------------------------------------------- */

static void expect_open_error(const wal_reader_options *options, const char *message)
{
  wal_reader *r = NULL;
  host_error err = {""};
  ck_assert(!wal_reader_open(&r, options, &err));
  ck_assert_ptr_null(r);
  ck_assert_msg(strstr(err.text, message) != NULL, "%s", err.text);
}

START_TEST(files_that_do_not_fit)
{
  world w;
  make_world(&w);
  w.dir = wal_test_directory();
  w.options.data_dir = w.dir;
  char name[WAL_MAKER_NAME];
  expect_open_error(&w.options, "holds no WAL segment");
  wal_reader_options nowhere = {.data_dir = "/nonexistent", .format = format};
  expect_open_error(&nowhere, "/nonexistent/pg_wal: No such file or directory");
  wal_maker_write(&w.m, w.dir);
  wal_reader_options o = w.options;
  o.start = BEGIN - 8;
  expect_open_error(&o, "no WAL at 0/6FFFF8: the oldest segment begins at 0/700000");
  o.start = w.m.at + 8;
  expect_open_error(&o, "no WAL at 0/");
  o.start = BEGIN + 10 * SEGMENT;
  expect_open_error(&o, "no WAL at 0/1100000: the log ends at 0/");
  o = w.options;
  o.segment_bytes = 3 * SEGMENT;
  expect_open_error(&o, "3145728 bytes is not a segment size");
  o.segment_bytes = 2 * SEGMENT;
  expect_open_error(&o, "page header with segment size 1048576");
  o = w.options;
  o.timeline = 2;
  expect_open_error(&o, "00000002.history: missing, but there are WAL segments of older timelines");
  o = w.options;
  o.system_id = 5;
  expect_open_error(&o, "WAL of another cluster (system identifier 7311111111111111111, not 5)");
  o = w.options;
  o.format = pg_format_by_major(16);
  expect_open_error(&o, "page written by PostgreSQL 15, not 16");
  wal_test_file(w.dir, "000000010000000000001000", "", 0);
  expect_open_error(&w.options, "000000010000000000001000: not a name for segments of 1048576 bytes");
  wal_test_unlink(w.dir, "000000010000000000001000");
  /* A segment in the middle is missing. */
  uint64_t end, n;
  host_error err;
  wal_test_unlink(w.dir, wal_maker_name(name, &w.m, BEGIN + SEGMENT));
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_FAILED);
  ck_assert_msg(strstr(err.text, "the file is missing, but the log goes on at 0/900000") != NULL, "%s", err.text);
  /* The last one is missing: the end, unless something is known. */
  wal_maker_write(&w.m, w.dir);
  wal_test_unlink(w.dir, wal_maker_name(name, &w.m, BEGIN + 2 * SEGMENT));
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_END);
  ck_assert_ptr_nonnull(strstr(err.text, "the file is missing"));
  /* Its tail is missing. */
  wal_test_file(w.dir, name, wal_maker_at(&w.m, BEGIN + 2 * SEGMENT), 3 * PAGE + 100);
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_FAILED);
  ck_assert_msg(strstr(err.text, "the file has 24676 of 1048576 bytes") != NULL, "%s", err.text);
  wal_test_file(w.dir, name, "", 0);
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_FAILED);
  ck_assert_msg(strstr(err.text, "the file has 0 of 1048576 bytes") != NULL, "%s", err.text);
  /* An unfinished copy may be short. */
  wal_test_unlink(w.dir, name);
  char partial[WAL_MAKER_NAME + 8];
  snprintf(partial, sizeof partial, "%s.partial", name);
  wal_test_file(w.dir, partial, wal_maker_at(&w.m, BEGIN + 2 * SEGMENT),
                (size_t)(page_of(w.last) + PAGE - BEGIN - 2 * SEGMENT));
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_END);
  ck_assert_uint_eq(end, w.m.at);
  wal_maker_free(&w.m);
  wal_test_remove(w.dir);
}
END_TEST

/* Timeline 2 begins in the middle of a segment, after a while of timeline 1 that does not count. */
START_TEST(timelines_are_followed)
{
  wal_maker old, fresh;
  wal_maker_init(&old, format, SEGMENT, BEGIN);
  add_records(&old, BEGIN + SEGMENT + 30 * PAGE + 500);
  uint64_t fork = old.at;
  /* the new one takes over the segment up to the switch point */
  wal_maker_init(&fresh, format, SEGMENT, BEGIN + SEGMENT);
  fresh.timeline = 2;
  fresh.at = fork;
  fresh.prev = old.prev;
  bytes_add(&fresh.log, wal_maker_at(&old, BEGIN + SEGMENT), (size_t)(page_of(fork) + PAGE - BEGIN - SEGMENT));
  add_records(&fresh, BEGIN + 2 * SEGMENT + 5 * PAGE);
  uint64_t lost = wal_maker_fill(&old, 77, 74, 1);
  add_records(&old, BEGIN + 3 * SEGMENT + PAGE);
  world w = {.options = {.format = format}};
  w.dir = wal_test_directory();
  wal_maker_write(&old, w.dir);
  wal_maker_write(&fresh, w.dir);
  char history[200], name[WAL_MAKER_NAME];
  uint64_t end, n, n2;
  host_error err;
  /* the old one by itself */
  w.options.timeline = 1;
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_END);
  ck_assert_uint_eq(end, old.at);
  /* its descendant, asked for or found */
  snprintf(history, sizeof history, "# made by a test\n\n1\t%X/%X\tno reason\n", (unsigned)(fork >> 32),
           (unsigned)fork);
  wal_test_file(w.dir, "00000002.history", history, strlen(history));
  for (uint32_t timeline = 0; timeline <= 2; timeline += 2) {
    w.options.timeline = timeline;
    ck_assert_msg(read_all(&w, &end, &n2, &err) == WAL_END, "%s", err.text);
    ck_assert_uint_eq(end, fresh.at);
  }
  ck_assert_uint_lt(n2, n);
  /* Without the new file of the shared segment the old one counts, up to the switch point. */
  wal_test_unlink(w.dir, wal_maker_name(name, &fresh, BEGIN + SEGMENT));
  ck_assert_int_eq(read_all(&w, &end, &n2, &err), WAL_FAILED);
  ck_assert_msg(strstr(err.text, "timeline 1 was left here, and the file of the next one is missing, but the log "
                                 "goes on at 0/900000") != NULL, "%s", err.text);
  wal_test_unlink(w.dir, wal_maker_name(name, &fresh, BEGIN + 2 * SEGMENT));
  ck_assert_int_eq(read_all(&w, &end, &n2, &err), WAL_END);
  ck_assert_uint_eq(end, fork);
  ck_assert_uint_eq(end, lost);
  /* Histories that make no sense. */
  static const struct {
    const char *text, *message;
  } histories[] = {{"1 0/800000 x\n1 0/900000 y\n", "line 2 is out of order"},
                   {"2\t0/800000\tx\n", "line 1 is out of order"},
                   {"1\t0/900000\tx\n", NULL},
                   {"1\t900000\tx\n", "line 1 is not"},
                   {"hello\n", "line 1 is not"},
                   {"\n0\t0/900000\tx", "line 2 is not"}};
  wal_maker_write(&fresh, w.dir);
  for (size_t i = 0; i < sizeof histories / sizeof *histories; i++) {
    wal_test_file(w.dir, "00000002.history", histories[i].text, strlen(histories[i].text));
    w.options.data_dir = w.dir;
    if (histories[i].message != NULL)
      expect_open_error(&w.options, histories[i].message);
  }
  wal_maker_free(&old);
  wal_maker_free(&fresh);
  wal_test_remove(w.dir);
}
END_TEST

/* An old record where the first one is looked for is not believed, right as it is by itself. */
START_TEST(first_record_is_checked_too)
{
  wal_maker m;
  wal_maker_init(&m, format, SEGMENT, BEGIN);
  uint64_t old = wal_maker_fill(&m, 3, 230, 1), at = 0;
  while (m.at < BEGIN + 9 * PAGE) {
    uint64_t start = wal_maker_fill(&m, 3, 230, 2);
    if (start > BEGIN + 5 * PAGE + 24 && at == 0)
      at = start;
  }
  world w = {.options = {.format = format, .start = at - at % PAGE}};
  w.dir = wal_test_directory();
  w.options.data_dir = w.dir;
  wal_maker_write(&m, w.dir);
  uint64_t end, n;
  host_error err;
  ck_assert_int_eq(read_all(&w, &end, &n, &err), WAL_END);
  memcpy(wal_maker_at(&m, at), wal_maker_at(&m, old), 256);
  wal_maker_write(&m, w.dir);
  expect_open_error(&w.options, "the record does not name the one before it, but the log goes on at");
  wal_maker_free(&m);
  wal_test_remove(w.dir);
}
END_TEST

/* What the control file says about the log. */
START_TEST(options_of_the_control_file)
{
  pg_control c = {.format = format, .system_id = 5, .segment_size = SEGMENT, .timeline = 3, .checkpoint = 0x1000,
                  .state = PG_STATE_SHUT_DOWN};
  wal_reader_options o = wal_reader_options_of("x", &c);
  ck_assert_uint_eq(o.timeline, 3);
  ck_assert_uint_eq(o.proven, 0x1001);
  ck_assert_uint_eq(o.shutdown_record, 0x1000);
  c.state = PG_STATE_SHUT_DOWN_IN_RECOVERY; /* a standby, promoted since its last checkpoint */
  c.min_recovery = 0x2000;
  c.min_recovery_timeline = 4;
  o = wal_reader_options_of("x", &c);
  ck_assert_uint_eq(o.timeline, 4);
  ck_assert_uint_eq(o.proven, 0x2000);
  ck_assert_uint_eq(o.shutdown_record, 0);
}
END_TEST

/* The record that names an abandoned one must be there and be right. */
START_TEST(abandoned_records_are_named)
{
  for (int i = 0; i < 4; i++) {
    wal_maker m;
    wal_maker_init(&m, format, SEGMENT, BEGIN);
    add_records(&m, BEGIN + 3 * PAGE + 100);
    uint64_t cut = wal_maker_abandon(&m, 5 * PAGE, 1);
    uint64_t page = page_of(cut) + PAGE, record = page + 24;
    add_records(&m, BEGIN + 10 * PAGE);
    static const char *const messages[] = {NULL, "the record tells of an abandoned one at",
                                           "the page says that a record was abandoned, but no record tells of it",
                                           "a record tells of an abandoned one, but its page does not"};
    world w = {.options = {.format = format}};
    if (i == 1) {
      wal_maker_at(&m, record + 26)[0] ^= 8;
      wal_maker_seal(&m, record);
    } else if (i == 2) {
      *wal_maker_at(&m, record + 16) = 0x20;
      wal_maker_seal(&m, record);
    } else if (i == 3) {
      /* the same record somewhere else */
      record_maker r = record_begin(0, 0xD0, 0);
      bytes_u64(&r.main, cut);
      bytes_u64(&r.main, 0);
      wal_maker_add(&m, &r);
    }
    w.dir = wal_test_directory();
    wal_maker_write(&m, w.dir);
    uint64_t end, n;
    host_error err;
    wal_result result = read_all(&w, &end, &n, &err);
    ck_assert_int_eq(result, i == 0 ? WAL_END : WAL_FAILED);
    if (i > 0)
      ck_assert_msg(strstr(err.text, messages[i]) != NULL, "%d: %s", i, err.text);
    wal_maker_free(&m);
    wal_test_remove(w.dir);
  }
}
END_TEST

static void setup(void)
{
  format = pg_format_by_major(15);
}

int main(void)
{
  Suite *s = suite_create("wal_damage");
  TCase *t = tcase_create("damage");
  tcase_add_checked_fixture(t, setup, NULL);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, ends_where_the_server_ends, 0, sizeof ends / sizeof *ends);
  tcase_add_loop_test(t, damage_is_named, 0, sizeof damages / sizeof *damages);
  tcase_add_loop_test(t, parts_that_do_not_fit, 0, sizeof heads / sizeof *heads);
  tcase_add_test(t, files_that_do_not_fit);
  tcase_add_test(t, timelines_are_followed);
  tcase_add_test(t, first_record_is_checked_too);
  tcase_add_test(t, options_of_the_control_file);
  tcase_add_test(t, abandoned_records_are_named);
  suite_add_tcase(s, t);
  return run_suite(s);
}
