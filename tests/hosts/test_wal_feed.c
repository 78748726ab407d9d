/*
 * The feed on records made by hand: what is left out, what is woven in, what is refused. The whole way from the logs of
 * real servers is in test_wal_feed_samples.c.
 */
#include "hosts/feed_log.h"
#include "hosts/record_maker.h"
#include "support/pg/pg_tuple.h"
#include "support/runner.h"
#include "support/wal/wal_decode.h"
#include "support/wal/wal_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DB 5u

typedef struct world {
  feed_log *log;
  wal_feed *feed;
  uint64_t lsn;
  uint32_t next_top; /* top-level transaction that the next record names; 0 none */
  host_error err;
} world;

static uint32_t file; /* that rows are of; 0: the one of with_page */

static uint64_t toast_identity(void *user, twpa_locator locator, twpa_lsn lsn)
{
  (void)user;
  ck_assert_uint_gt(lsn, 0);
  return locator.file + UINT64_C(1000000);
}

static world open_feed(twpa_xid next_xid)
{
  world w = {.log = feed_log_new(), .lsn = 0x1000};
  wal_feed_options options = {
    .format = made_format, .database = DB, .next_xid = next_xid, .toast_relation = toast_identity};
  ck_assert(wal_feed_new(&w.feed, w.log->reorder, &options, &w.err));
  return w;
}

static void close_feed(world *w)
{
  wal_feed_free(w->feed);
  feed_log_free(w->log);
}

/* Feeds the record and frees it. */
static bool give(world *w, made *m, uint32_t xid)
{
  m->record.start = w->lsn;
  m->record.end = w->lsn += 0x100;
  m->record.xid = xid;
  m->record.top_xid = w->next_top;
  w->next_top = 0;
  m->record.main_data = m->main.data;
  m->record.main_len = (uint32_t)m->main.len;
  m->record.blocks = m->block;
  m->block[0].data = m->data.data;
  if (file != 0)
    m->block[0].locator.file = file;
  m->block[0].data_len = (uint32_t)m->data.len;
  bool ok = wal_feed_record(w->feed, &m->record, &w->err);
  done(m);
  return ok;
}

static void must(world *w, bool ok)
{
  ck_assert_msg(ok, "%s", w->err.text);
}

static void refused(world *w, bool ok, const char *why)
{
  ck_assert(!ok);
  ck_assert_msg(strstr(w->err.text, why) != NULL, "%s", w->err.text);
}

static void log_is(world *w, const char *want)
{
  ck_assert_str_eq(feed_log_take(w->log), want);
}

static bool running(world *w, uint32_t next, uint32_t oldest, uint32_t nrunning)
{
  made m = make(WAL_RM_STANDBY, 0x10);
  bytes_u32(&m.main, nrunning);
  bytes_u32(&m.main, 0);
  bytes_u32(&m.main, 0);
  bytes_u32(&m.main, next);
  bytes_u32(&m.main, oldest);
  bytes_u32(&m.main, next - 1);
  for (uint32_t i = 0; i < nrunning; i++)
    bytes_u32(&m.main, oldest + i);
  return give(w, &m, 0);
}

static void add_row(bytes *b)
{
  bytes_u16(b, 1);
  bytes_u16(b, 0x0800);
  bytes_u8(b, 24);
  bytes_u8(b, 0);
  bytes_u32(b, 42);
}

static bool insert_into(world *w, uint32_t xid, uint32_t database, unsigned flags)
{
  made m = make(WAL_RM_HEAP, 0x00);
  bytes_u16(&m.main, 1);
  bytes_u8(&m.main, flags);
  with_page(&m);
  m.block[0].locator.database = database;
  add_row(&m.data);
  return give(w, &m, xid);
}

static bool insert(world *w, uint32_t xid)
{
  return insert_into(w, xid, DB, 0x08);
}

static bool update(world *w, uint32_t xid, bool new_row)
{
  made m = make(WAL_RM_HEAP, 0x20);
  bytes_u32(&m.main, xid);
  bytes_u16(&m.main, 5);
  bytes_u8(&m.main, 0);
  bytes_u8(&m.main, new_row ? 0x10 : 0);
  bytes_u32(&m.main, 0);
  bytes_u16(&m.main, 6);
  with_page(&m);
  add_row(&m.data);
  return give(w, &m, xid);
}

static bool delete(world *w, uint32_t xid, unsigned flags)
{
  made m = make(WAL_RM_HEAP, 0x10);
  bytes_u32(&m.main, xid);
  bytes_u16(&m.main, 5);
  bytes_u8(&m.main, 0);
  bytes_u8(&m.main, flags);
  if ((flags & 0x06) != 0)
    add_row(&m.main);
  with_page(&m);
  return give(w, &m, xid);
}

static bool confirm(world *w, uint32_t xid)
{
  made m = make(WAL_RM_HEAP, 0x50);
  bytes_u16(&m.main, 1);
  with_page(&m);
  return give(w, &m, xid);
}

static bool truncate_two(world *w, uint32_t xid, uint32_t database, unsigned flags)
{
  made m = make(WAL_RM_HEAP, 0x30);
  bytes_u32(&m.main, database);
  bytes_u32(&m.main, 2);
  bytes_u8(&m.main, flags);
  bytes_zero(&m.main, 3);
  bytes_u32(&m.main, 16384);
  bytes_u32(&m.main, 16390);
  return give(w, &m, xid);
}

static bool message(world *w, uint32_t xid, uint32_t database, bool transactional)
{
  made m = make(WAL_RM_LOGICALMSG, 0);
  bytes_u32(&m.main, database);
  bytes_u32(&m.main, transactional);
  bytes_u64(&m.main, 4);
  bytes_u64(&m.main, 5);
  bytes_add(&m.main, "abc\0hello", 9);
  return give(w, &m, xid);
}

/* op: 0 commit, 0x20 abort, 0x30 and 0x40 of a prepared transaction. sub 0: none. */
static bool end(world *w, unsigned op, uint32_t xid, uint32_t sub, uint32_t database)
{
  bool prepared = op >= 0x30;
  made m = make(WAL_RM_XACT, op | 0x80);
  bytes_u64(&m.main, 77);
  bytes_u32(&m.main, (database != 0 ? 1u : 0) | (sub != 0 ? 2u : 0) | (prepared ? 0x10u : 0));
  if (database != 0) {
    bytes_u32(&m.main, database);
    bytes_u32(&m.main, 1663);
  }
  if (sub != 0) {
    bytes_u32(&m.main, 1);
    bytes_u32(&m.main, sub);
  }
  if (prepared)
    bytes_u32(&m.main, xid);
  return give(w, &m, prepared ? 0 : xid);
}

static bool commit(world *w, uint32_t xid)
{
  return end(w, 0, xid, 0, DB);
}

static bool parameters(world *w, uint32_t wal_level)
{
  made m = make(WAL_RM_XLOG, 0x60);
  bytes_zero(&m.main, 20);
  bytes_u32(&m.main, wal_level);
  bytes_zero(&m.main, 4);
  return give(w, &m, 0);
}

/* A record that is nobody's business but its transaction's. */
static bool other(world *w, uint32_t xid)
{
  made m = make(11, 0);
  return give(w, &m, xid);
}

START_TEST(nothing_before_the_start)
{
  world w = open_feed(800);
  must(&w, insert(&w, 700) && commit(&w, 700) && end(&w, 0, 699, 0, 6) && end(&w, 0x30, 698, 0, DB));
  must(&w, message(&w, 0, DB, false));
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).start_lsn, 0);
  must(&w, insert(&w, 701));
  must(&w, running(&w, 705, 701, 2)); /* 701 and 702 are open */
  must(&w, insert(&w, 705) && insert(&w, 701) && insert(&w, 704));
  must(&w, commit(&w, 701) && commit(&w, 705) && commit(&w, 704));
  log_is(&w, "B705 i C705");
  wal_feed_stats s = wal_feed_get_stats(w.feed);
  ck_assert_uint_gt(s.start_lsn, 0x1000);
  ck_assert_uint_eq(s.open_at_start, 2);
  ck_assert_uint_eq(s.left_out_commits, 2);
  ck_assert_uint_eq(s.commits, 1);
  ck_assert_uint_eq(s.rows, 1);
  ck_assert_uint_eq(s.records, 7);
  ck_assert_uint_eq(s.before_start, 2); /* 699 was of another database */
  close_feed(&w);
}
END_TEST

/* A subtransaction that begins after the start belongs to one that is left out: it goes with it. */
START_TEST(late_subtransactions_of_what_is_left_out)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 701, 1));
  w.next_top = 701;
  must(&w, insert(&w, 706));
  must(&w, insert(&w, 706) && insert(&w, 707));
  w.next_top = 701;
  must(&w, insert(&w, 708));
  must(&w, end(&w, 0x20, 708, 0, 0)); /* rolled back to a savepoint */
  must(&w, end(&w, 0, 701, 706, DB) && commit(&w, 707));
  log_is(&w, "B707 i C707");
  twpa_reorder_counters stats = {.struct_size = TWPA_REORDER_COUNTERS_INIT};
  ck_assert_int_eq(twpa_reorder_stats(w.log->reorder, &stats), TWPA_OK);
  ck_assert_uint_eq(stats.open_tops + stats.open_subs, 0);
  close_feed(&w);
}
END_TEST

START_TEST(subtransactions_are_woven_in)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 705, 0));
  must(&w, insert(&w, 705));
  w.next_top = 705;
  must(&w, update(&w, 706, true));
  must(&w, delete(&w, 705, 0x02));
  w.next_top = 705;
  must(&w, other(&w, 707)); /* the first record of 707, which says whose it is, is of no interest by itself */
  must(&w, insert(&w, 707) && insert(&w, 708)); /* 708's kinship comes with the commit only */
  must(&w, end(&w, 0x20, 707, 0, 0));
  must(&w, update(&w, 706, true) && truncate_two(&w, 705, DB, 3) && truncate_two(&w, 705, 6, 0));
  must(&w, end(&w, 0, 705, 708, DB));
  log_is(&w, "B705 i u d i u T2cr C705");
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).aborts, 1);
  close_feed(&w);
}
END_TEST

/* Rows that are not decodable, other databases, shared relations. */
START_TEST(what_is_filtered)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 705, 0));
  must(&w, insert_into(&w, 705, DB, 0) && insert_into(&w, 705, 6, 8) && insert_into(&w, 705, 0, 8));
  must(&w, update(&w, 705, false) && message(&w, 705, 6, true) && message(&w, 705, 6, false));
  must(&w, delete(&w, 705, 0) && commit(&w, 705));
  log_is(&w, "B705 n C705");
  must(&w, insert(&w, 706) && end(&w, 0, 706, 0, 6)); /* a commit in another database */
  must(&w, insert_into(&w, 707, DB, 0) && commit(&w, 707));
  log_is(&w, "");
  wal_feed_stats s = wal_feed_get_stats(w.feed);
  ck_assert_uint_eq(s.other_commits, 1);
  ck_assert_uint_eq(s.commits, 2);
  close_feed(&w);
}
END_TEST

/* A row of a user table, told by the number of its file, must be somebody's; one of a catalog is of no interest. */
START_TEST(rows_without_transaction)
{
  for (uint32_t xid = 0; xid < 3; xid++) {
    for (unsigned op = 0; op < 4; op++) {
      world w = open_feed(800);
      must(&w, running(&w, 705, 705, 0) && insert(&w, xid) && update(&w, xid, true) && delete(&w, xid, 0));
      must(&w, truncate_two(&w, xid, 6, 0));
      file = 16384;
      must(&w, insert_into(&w, xid, 6, 8) && insert_into(&w, xid, DB, 0)); /* another database; not to be decoded */
      bool ok = op == 0   ? insert(&w, xid)
                : op == 1 ? update(&w, xid, true)
                : op == 2 ? delete(&w, xid, 0x02)
                          : truncate_two(&w, xid, DB, 0);
      refused(&w, ok, "WAL record at 0/");
      refused(&w, false, "a row of table 16384 has no transaction");
      file = 0;
      log_is(&w, "");
      close_feed(&w);
    }
  }
}
END_TEST

START_TEST(speculative_inserts)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 705, 0));
  must(&w, insert_into(&w, 705, DB, 0x0C) && confirm(&w, 705));         /* counts */
  must(&w, insert_into(&w, 705, DB, 0x0C) && delete(&w, 705, 0x08));    /* does not */
  must(&w, delete(&w, 705, 0x08));                                      /* of its long values: says nothing */
  must(&w, update(&w, 705, true) && commit(&w, 705));
  log_is(&w, "B705 i u C705");
  close_feed(&w);
}
END_TEST

START_TEST(messages)
{
  world w = open_feed(800);
  must(&w, message(&w, 0, DB, false)); /* before the start */
  must(&w, running(&w, 705, 701, 1));
  must(&w, message(&w, 0, DB, false));
  log_is(&w, "M");
  must(&w, message(&w, 701, DB, false)); /* sent in a transaction that is left out: it counts by itself */
  log_is(&w, "M");
  must(&w, message(&w, 701, DB, true) && message(&w, 705, DB, true) && message(&w, 705, DB, false));
  log_is(&w, "M");
  must(&w, commit(&w, 701) && end(&w, 0x20, 705, 0, 0));
  log_is(&w, "");
  must(&w, message(&w, 706, DB, true) && commit(&w, 706));
  log_is(&w, "B706 m C706");
  close_feed(&w);
}
END_TEST

START_TEST(prepared_transactions)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 701, 1)); /* 701 may be a prepared one */
  must(&w, end(&w, 0x30, 701, 0, DB));
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).left_out_commits, 1);
  for (uint32_t xid = 705; xid <= 706; xid++) {
    must(&w, insert(&w, xid));
    made m = make(WAL_RM_XACT, 0x10);
    bytes_u32(&m.main, 0x57F94534);
    bytes_u32(&m.main, 84);
    bytes_u32(&m.main, xid);
    bytes_u32(&m.main, DB);
    bytes_zero(&m.main, 38);
    bytes_u16(&m.main, 6);
    bytes_zero(&m.main, 16);
    bytes_add(&m.main, "gid-1\0\0", 8);
    must(&w, give(&w, &m, xid));
    must(&w, running(&w, 710, 705, 1)); /* a prepared transaction counts as running */
  }
  log_is(&w, "");
  must(&w, end(&w, 0x40, 705, 0, DB) && end(&w, 0x30, 706, 0, DB));
  log_is(&w, "B706 i C706");
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).prepared, 2);
  close_feed(&w);
}
END_TEST

/* A crash leaves transactions without an end; the next running-xacts record shows that they are gone. */
START_TEST(transactions_lost_in_a_crash)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 705, 0) && insert(&w, 705) && insert(&w, 706));
  must(&w, running(&w, 720, 720, 0));
  twpa_reorder_counters stats = {.struct_size = TWPA_REORDER_COUNTERS_INIT};
  ck_assert_int_eq(twpa_reorder_stats(w.log->reorder, &stats), TWPA_OK);
  ck_assert_uint_eq(stats.open_tops, 0);
  log_is(&w, "");
  close_feed(&w);
}
END_TEST

/* The log goes over the end of the 32-bit ids. */
START_TEST(epochs)
{
  world w = open_feed((UINT64_C(3) << 32) + 50);
  must(&w, running(&w, 0xFFFFFFF0, 0xFFFFFFEF, 1));
  must(&w, insert(&w, 0xFFFFFFF1) && insert(&w, 7));
  w.next_top = 0xFFFFFFF1;
  must(&w, insert(&w, 8));
  must(&w, commit(&w, 7) && end(&w, 0, 0xFFFFFFF1, 8, DB));
  log_is(&w, "B12884901895 i C12884901895 B12884901873 i i C12884901873");
  must(&w, commit(&w, 0xFFFFFFEF));
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).left_out_commits, 1);
  close_feed(&w);
}
END_TEST

/* Below wal_level logical commits do not say their database, and rows are missing. */
START_TEST(wal_level_below_logical)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 705, 0));
  must(&w, insert_into(&w, 705, DB, 0) && delete(&w, 706, 0) && end(&w, 0, 705, 0, 0)); /* no database */
  must(&w, insert(&w, 707) && commit(&w, 707));
  must(&w, running(&w, 708, 706, 1));
  must(&w, insert(&w, 708) && commit(&w, 708));
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).start_lsn, 0);
  must(&w, parameters(&w, 2)); /* the server was started again */
  must(&w, insert(&w, 709) && running(&w, 711, 711, 0));
  must(&w, insert(&w, 711) && commit(&w, 709) && commit(&w, 711) && commit(&w, 706));
  log_is(&w, "B711 i C711");
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).below_logical, 3);
  must(&w, parameters(&w, 2));
  refused(&w, end(&w, 0, 712, 0, 0), "was written while wal_level was below logical");
  refused(&w, parameters(&w, 1), "wal_level is below logical from 0/2200 on");
  close_feed(&w);
}
END_TEST

static bool multi_insert(world *w, uint32_t xid, unsigned flags, unsigned nrows)
{
  made m = make(WAL_RM_HEAP2, 0xD0);
  bytes_u8(&m.main, flags);
  bytes_u8(&m.main, 0);
  bytes_u16(&m.main, nrows);
  with_page(&m);
  for (unsigned i = 0; i < nrows; i++) {
    if (m.data.len % 2 != 0)
      bytes_u8(&m.data, 0);
    bytes_u16(&m.data, 5);
    add_row(&m.data);
  }
  return give(w, &m, xid);
}

/* id, number, 3 bytes with a header of one byte (header 1) or four. */
static bool chunk(world *w, uint32_t xid, uint32_t id, uint32_t number, int header)
{
  made m = make(WAL_RM_HEAP, 0x00);
  bytes_u16(&m.main, 1);
  bytes_u8(&m.main, 0x18);
  with_page(&m);
  m.block[0].locator.file = 4001;
  bytes_u16(&m.data, 3);
  bytes_u16(&m.data, 0x0800);
  bytes_u8(&m.data, 24);
  bytes_u8(&m.data, 0);
  bytes_u32(&m.data, id);
  bytes_u32(&m.data, number);
  if (header == 1)
    bytes_u8(&m.data, 4 << 1 | 1);
  else
    bytes_u32(&m.data, (7u << 2) | (header == 4 ? 0 : 2u));
  bytes_add(&m.data, "xyz", 3);
  return give(w, &m, xid);
}

typedef struct toast_log {
  twpa_reorder *reorder;
  char text[1000];
} toast_log;

/* Writes down which of the values 90 and 91 can be had with each row. */
static int on_toast_change(void *user, twpa_txn *txn, const twpa_change *change)
{
  toast_log *log = user;
  strcat(log->text, change->kind == TWPA_INSERT ? " i" : change->kind == TWPA_UPDATE ? " u" : " n");
  for (uint64_t id = 90; id <= 91; id++) {
    twpa_bytes value;
    if (twpa_txn_toast(txn, &value, 1004001, id, id == 90 ? 6 : 3) == TWPA_OK) {
      char part[40];
      snprintf(part, sizeof part, "%u:%.*s", (unsigned)id, (int)value.len, (const char *)value.data);
      strcat(log->text, part);
    }
  }
  return 0;
}

static int nothing(void *user, twpa_txn *txn)
{
  (void)user;
  (void)txn;
  return 0;
}

/* Long values stay for all rows of one multi-insert call, and for one row else. */
START_TEST(long_values)
{
  toast_log log = {0};
  const twpa_output output = {TWPA_OUTPUT_INIT, .begin = nothing, .commit = nothing, .change = on_toast_change};
  ck_assert_int_eq(twpa_reorder_new(&log.reorder, NULL, &output, &log, NULL), TWPA_OK);
  world w = open_feed(800);
  wal_feed_free(w.feed);
  wal_feed_options options = {.format = made_format, .database = DB, .next_xid = 800, .toast_relation = toast_identity};
  ck_assert(wal_feed_new(&w.feed, log.reorder, &options, &w.err));
  must(&w, running(&w, 705, 705, 0));
  must(&w, chunk(&w, 705, 90, 0, 4) && chunk(&w, 705, 90, 1, 1) && chunk(&w, 705, 91, 0, 4));
  must(&w, multi_insert(&w, 705, 0x08, 2) && multi_insert(&w, 705, 0x08 | 0x02, 2) && update(&w, 705, true));
  /* an update deletes the pieces of the old value between those of the new one and the row */
  must(&w, chunk(&w, 705, 91, 0, 4) && delete(&w, 705, 0) && insert(&w, 705) && insert(&w, 705) && commit(&w, 705));
  ck_assert_str_eq(log.text,
                   " i90:xyzxyz91:xyz i90:xyzxyz91:xyz i90:xyzxyz91:xyz i90:xyzxyz91:xyz u n91:xyz i91:xyz i");
  ck_assert_uint_eq(wal_feed_get_stats(w.feed).chunks, 4);
  refused(&w, chunk(&w, 706, 90, 0, 0), "a piece of a long value: ");
  wal_feed_free(w.feed);
  wal_feed_options plain = {.format = made_format, .database = DB, .next_xid = 800};
  ck_assert(wal_feed_new(&w.feed, log.reorder, &plain, &w.err));
  must(&w, running(&w, 705, 705, 0) && chunk(&w, 705, 90, 0, 1)); /* without identities of toast relations */
  close_feed(&w);
  twpa_reorder_free(log.reorder);
}
END_TEST

START_TEST(failures_are_reported)
{
  world w = open_feed(800);
  must(&w, running(&w, 705, 705, 0) && insert(&w, 705));
  w.log->fail_at = 2;
  refused(&w, commit(&w, 705), "WAL record at 0/1200 (XACT, info 80): ");
  made unknown = make(WAL_RM_STANDBY, 0x70);
  refused(&w, give(&w, &unknown, 0), "unknown operation");
  /* the same transaction as a subtransaction of two others */
  w.next_top = 710;
  must(&w, insert(&w, 712));
  w.next_top = 711;
  refused(&w, insert(&w, 712), "WAL record at ");
  close_feed(&w);
  wal_feed_free(NULL);
}
END_TEST

/*
 * Real records whose content is damaged (and whose checksum nobody looks at here): fed or refused, never a crash.
 * After a refusal a new feed begins.
 */
START_TEST(damaged_content)
{
  static const char *const names[] = {"pg15-sample", "pg18-dml", "pg18-ddl"};
  char dir[1024];
  snprintf(dir, sizeof dir, "%s/%s/data", getenv("TWPA_DATA_DIR"), names[_i]);
  made_format = pg_format_by_major(_i == 0 ? 15 : 18);
  wal_reader_options options = {.data_dir = dir, .format = made_format};
  wal_reader *reader;
  world w = open_feed(800);
  ck_assert_msg(wal_reader_open(&reader, &options, &w.err), "%s", w.err.text);
  rng r = {test_seed(4) + (uint64_t)_i};
  const wal_record *record;
  unsigned refusals = 0, damages = 0;
  must(&w, running(&w, 3, 3, 0));
  while (wal_reader_next(reader, &record, &w.err) == WAL_GOT) {
    unsigned char *copy = malloc(record->total_len);
    memcpy(copy, record->raw, record->total_len);
    if (rng_chance(&r, 20)) {
      damages++;
      for (uint64_t n = 1 + rng_below(&r, 3); n > 0; n--)
        copy[4 + rng_below(&r, record->total_len - 4)] ^= (unsigned char)(1u << rng_below(&r, 8));
    }
    wal_record damaged = {.start = record->start, .end = record->end};
    wal_block blocks[WAL_BLOCKS_MAX];
    bool ok = wal_decode(&damaged, blocks, copy, record->total_len) == NULL &&
              wal_feed_record(w.feed, &damaged, &w.err);
    free(copy);
    if (ok)
      continue;
    refusals++;
    close_feed(&w);
    w = open_feed(800);
    must(&w, running(&w, 3, 3, 0));
  }
  ck_assert_uint_gt(refusals, 100);
  ck_assert_uint_lt(refusals, damages);
  wal_reader_close(reader);
  close_feed(&w);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_feed");
  TCase *t = tcase_create("feed");
  tcase_add_checked_fixture(t, record_maker_setup, NULL);
  tcase_add_test(t, nothing_before_the_start);
  tcase_add_test(t, late_subtransactions_of_what_is_left_out);
  tcase_add_test(t, subtransactions_are_woven_in);
  tcase_add_test(t, what_is_filtered);
  tcase_add_test(t, rows_without_transaction);
  tcase_add_test(t, speculative_inserts);
  tcase_add_test(t, messages);
  tcase_add_test(t, prepared_transactions);
  tcase_add_test(t, transactions_lost_in_a_crash);
  tcase_add_test(t, epochs);
  tcase_add_test(t, wal_level_below_logical);
  tcase_add_test(t, long_values);
  tcase_add_test(t, failures_are_reported);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, damaged_content, 0, 3);
  suite_add_tcase(s, t);
  return run_suite(s);
}
