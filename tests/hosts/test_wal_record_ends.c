/*
 * What the other records say: ends of transactions with every combination of parts, in the layouts of 15 and 18, and
 * the small ones; every length that is wrong by one; which operation codes exist; widening of transaction ids.
 */
#include "hosts/record_maker.h"
#include "support/runner.h"
#include "support/wal/wal_xid.h"

#include <string.h>

static void put_commit(bytes *b, uint32_t xinfo, uint32_t stats_size)
{
  bytes_u64(b, 123456789);
  bytes_u32(b, xinfo);
  if ((xinfo & 0x001) != 0) {
    bytes_u32(b, 5);
    bytes_u32(b, 1663);
  }
  if ((xinfo & 0x002) != 0) {
    bytes_u32(b, 2);
    bytes_u32(b, 801);
    bytes_u32(b, 802);
  }
  if ((xinfo & 0x004) != 0) {
    bytes_u32(b, 3);
    bytes_zero(b, 36);
  }
  if ((xinfo & 0x100) != 0) {
    bytes_u32(b, 2);
    bytes_zero(b, 2 * stats_size);
  }
  if ((xinfo & 0x008) != 0) {
    bytes_u32(b, 1);
    bytes_u8(b, 54);
    bytes_zero(b, 3);
    bytes_u32(b, 5);
    bytes_u32(b, 0xABCD);
    bytes_zero(b, 4);
  }
  if ((xinfo & 0x010) != 0)
    bytes_u32(b, 900);
  if ((xinfo & 0x080) != 0)
    bytes_add(b, "g1", 3);
  if ((xinfo & 0x020) != 0) {
    bytes_u64(b, 0x777);
    bytes_u64(b, 42);
  }
}

/* Every combination of parts, as commit, abort and their prepared forms, in both layouts. */
START_TEST(ends_of_transactions)
{
  static const unsigned ops[] = {0x00, 0x20, 0x30, 0x40};
  static const wal_kind kinds[] = {WAL_COMMIT, WAL_ABORT, WAL_COMMIT_PREPARED, WAL_ABORT_PREPARED};
  made_format = pg_format_by_major(_i % 2 == 0 ? 15 : 18);
  int op = _i / 2;
  bool prepared = op >= 2, commit = op % 2 == 0;
  for (uint32_t xinfo = 0; xinfo < 0x200; xinfo++) {
    made m = make(WAL_RM_XACT, ops[op] | 0x80);
    wal_content c;
    put_commit(&m.main, xinfo, made_format->stats_size);
    if (prepared != ((xinfo & 0x10) != 0)) {
      refuse(&m, "it ");
    } else if (!commit && (xinfo & 8) != 0) {
      refuse(&m, "it has parts that are not known");
    } else {
      expect(&c, &m, kinds[op]);
      const wal_end_record *e = &c.as.end;
      ck_assert_int_eq(e->time, 123456789);
      ck_assert_uint_eq(e->xid, prepared ? 900 : 700);
      ck_assert_uint_eq(e->xinfo, xinfo);
      ck_assert_uint_eq(e->has_database, xinfo & 1);
      ck_assert_uint_eq(e->database, (xinfo & 1) != 0 ? 5 : 0);
      ck_assert_uint_eq(e->subxids.count, (xinfo & 2) != 0 ? 2 : 0);
      if ((xinfo & 2) != 0)
        ck_assert_uint_eq(wal_list_u32(e->subxids, 1), 802);
      ck_assert_uint_eq(e->invalidations.count, (xinfo & 8) != 0 ? 1 : 0);
      if ((xinfo & 8) != 0)
        ck_assert_uint_eq(wal_list_inval(e->invalidations, 0).hash, 0xABCD);
      ck_assert_int_eq(e->gid != NULL, (xinfo & 0x80) != 0);
      if (e->gid != NULL)
        ck_assert_str_eq(e->gid, "g1");
      ck_assert_uint_eq(e->origin_lsn, (xinfo & 0x20) != 0 ? 0x777 : 0);
      ck_assert_int_eq(e->origin_time, (xinfo & 0x20) != 0 ? 42 : 0);
      refuse_lengths(&m);
    }
    done(&m);
  }
  made m = make(WAL_RM_XACT, ops[op]);
  wal_content c;
  bytes_u64(&m.main, 99);
  if (prepared) {
    refuse(&m, "it does not name the prepared transaction");
  } else {
    expect(&c, &m, kinds[op]);
    ck_assert_int_eq(c.as.end.time, 99);
    refuse_lengths(&m);
  }
  done(&m);
}
END_TEST

START_TEST(ends_that_lie)
{
  made m = make(WAL_RM_XACT, 0x80);
  bytes_u64(&m.main, 1);
  bytes_u32(&m.main, 0x400);
  refuse(&m, "it has parts that are not known");
  m.main.len = 8;
  refuse(&m, "it is cut off");
  bytes_u32(&m.main, 0x002);
  bytes_u32(&m.main, 0x7FFFFFFF);
  refuse(&m, "it announces more than it holds");
  m.main.len -= 4;
  bytes_u32(&m.main, UINT32_MAX);
  refuse(&m, "it announces more than it holds");
  m.main.len = 8;
  bytes_u32(&m.main, 0x080);
  bytes_add(&m.main, "abc", 3);
  refuse(&m, "its global identifier has no end");
  bytes_zero(&m.main, 1);
  wal_content c;
  expect(&c, &m, WAL_COMMIT);
  m.main.len = 12;
  for (int i = 0; i < 200; i++)
    bytes_u8(&m.main, 'x');
  bytes_zero(&m.main, 1);
  refuse(&m, "its global identifier has no end");
  done(&m);
}
END_TEST

START_TEST(prepares)
{
  made_format = pg_format_by_major(_i == 0 ? 15 : 18);
  made m = make(WAL_RM_XACT, 0x10);
  wal_content c;
  bytes_u32(&m.main, 0x57F94534);
  bytes_u32(&m.main, 0); /* the length, below */
  bytes_u32(&m.main, 700);
  bytes_u32(&m.main, 5);
  bytes_u64(&m.main, 4711);
  bytes_u32(&m.main, 10);
  const uint32_t counts[] = {3, 1, 0, 1, 1, 1};
  for (size_t i = 0; i < 6; i++)
    bytes_u32(&m.main, counts[i]);
  bytes_u16(&m.main, 0);
  bytes_u16(&m.main, 6);
  bytes_u64(&m.main, 0x888);
  bytes_u64(&m.main, 43);
  ck_assert_uint_eq(m.main.len, 72);
  bytes_add(&m.main, "gid-1\0\0", 8);
  for (uint32_t i = 0; i < 4; i++)
    bytes_u32(&m.main, 701 + i);
  bytes_zero(&m.main, 16);                              /* a file */
  bytes_zero(&m.main, 16);               /* statistics to drop on commit */
  bytes_zero(&m.main, 16);               /* on abort */
  bytes_u8(&m.main, 0xFB);                              /* -5 */
  bytes_zero(&m.main, 3);
  bytes_u32(&m.main, 5);
  bytes_u32(&m.main, 2601);
  bytes_zero(&m.main, 4);
  uint32_t need = (uint32_t)m.main.len;
  bytes_zero(&m.main, 40);                              /* records of resource managers */
  uint32_t total = (uint32_t)m.main.len + 4;
  memcpy(m.main.data + 4, &total, 4);
  expect(&c, &m, WAL_PREPARE);
  const wal_end_record *e = &c.as.end;
  ck_assert_uint_eq(e->xid, 700);
  ck_assert_int_eq(e->time, 4711);
  ck_assert(e->has_database && e->database == 5);
  ck_assert_str_eq(e->gid, "gid-1");
  ck_assert_uint_eq(e->subxids.count, 3);
  ck_assert_uint_eq(wal_list_u32(e->subxids, 2), 703);
  ck_assert_uint_eq(e->origin_lsn, 0x888);
  ck_assert_int_eq(e->origin_time, 43);
  ck_assert_int_eq(wal_list_inval(e->invalidations, 0).type, -5);
  ck_assert_uint_eq(wal_list_inval(e->invalidations, 0).object, 2601);
  refuse_lengths(&m);
  /* cut at every place before the last part that is needed, with the length field adjusted */
  for (uint32_t len = 0; len < need; len++) {
    m.main.len = len;
    total = len + 4;
    if (len >= 8)
      memcpy(m.main.data + 4, &total, 4);
    refuse(&m, "it");
  }
  done(&m);
}
END_TEST

START_TEST(small_records_of_transactions)
{
  wal_content c;
  made a = make(WAL_RM_XACT, 0x50);
  bytes_u32(&a.main, 650);
  bytes_u32(&a.main, 2);
  bytes_u32(&a.main, 651);
  bytes_u32(&a.main, 652);
  expect(&c, &a, WAL_ASSIGNMENT);
  ck_assert_uint_eq(c.as.assignment.top_xid, 650);
  ck_assert_uint_eq(wal_list_u32(c.as.assignment.subxids, 1), 652);
  refuse_lengths(&a);
  done(&a);

  made i = make(WAL_RM_XACT, 0x60);
  bytes_u32(&i.main, 1);
  bytes_u8(&i.main, 0xFD); /* -3 */
  bytes_zero(&i.main, 3);
  bytes_u32(&i.main, 1663);
  bytes_u32(&i.main, 5);
  bytes_u32(&i.main, 777);
  expect(&c, &i, WAL_INVALIDATIONS);
  ck_assert_uint_eq(c.as.invalidations.count, 1);
  ck_assert_uint_eq(wal_list_inval(c.as.invalidations, 0).locator.file, 777);
  refuse_lengths(&i);
  done(&i);

  made m = make(WAL_RM_LOGICALMSG, 0);
  bytes_u32(&m.main, 5);
  bytes_u32(&m.main, 1);
  bytes_u64(&m.main, 4);
  bytes_u64(&m.main, 5);
  bytes_add(&m.main, "abc\0hello", 9);
  expect(&c, &m, WAL_MESSAGE);
  ck_assert_str_eq(c.as.message.prefix, "abc");
  ck_assert(c.as.message.transactional);
  ck_assert_uint_eq(c.as.message.content_len, 5);
  ck_assert_mem_eq(c.as.message.content, "hello", 5);
  refuse_lengths(&m);
  m.main.data[25] = 0;
  refuse(&m, "its prefix has no end");
  m.main.data[25] = 'b';
  m.main.data[27] = 'd';
  refuse(&m, "its prefix has no end");
  memset(m.main.data + 8, 0xFF, 8);
  refuse(&m, "its main data has the wrong length");
  done(&m);
}
END_TEST

START_TEST(small_records_of_others)
{
  wal_content c;
  made e = make(WAL_RM_XLOG, 0x90);
  bytes_u64(&e.main, 5);
  bytes_u32(&e.main, 3);
  bytes_u32(&e.main, 2);
  expect(&c, &e, WAL_END_OF_RECOVERY);
  ck_assert_uint_eq(c.as.end_of_recovery.timeline, 3);
  refuse_lengths(&e);
  made_format = pg_format_by_major(18);
  refuse(&e, "its main data has the wrong length");
  bytes_u64(&e.main, 2);
  expect(&c, &e, WAL_END_OF_RECOVERY);
  done(&e);

  made p = make(WAL_RM_XLOG, 0x60);
  bytes_zero(&p.main, 20);
  bytes_u32(&p.main, 2);
  bytes_zero(&p.main, 4);
  expect(&c, &p, WAL_PARAMETER_CHANGE);
  ck_assert_int_eq(c.as.parameter.wal_level, 2);
  refuse_lengths(&p);
  done(&p);

  made s = make(WAL_RM_SMGR, 0x11);
  for (uint32_t k = 1; k <= 4; k++)
    bytes_u32(&s.main, k);
  expect(&c, &s, WAL_SMGR_CREATE);
  ck_assert_uint_eq(c.as.smgr_create.locator.file, 3);
  ck_assert_uint_eq(c.as.smgr_create.fork, 4);
  refuse_lengths(&s);
  done(&s);

  for (uint32_t major = 15; major <= 16; major++) {
    made_format = pg_format_by_major(major);
    made r = make(WAL_RM_RELMAP, 0);
    bytes_u32(&r.main, 5);
    bytes_u32(&r.main, 1663);
    bytes_u32(&r.main, major == 15 ? 512 : 524);
    bytes_zero(&r.main, major == 15 ? 512 : 524);
    expect(&c, &r, WAL_RELMAP);
    ck_assert_uint_eq(c.as.relmap.map.count, made_format->relmap_size);
    refuse_lengths(&r);
    done(&r);
  }
}
END_TEST

START_TEST(running_xacts)
{
  for (int tops = 0; tops < 3; tops++)
    for (int subs = 0; subs < 3; subs++) {
      made m = make(WAL_RM_STANDBY, 0x10);
      wal_content c;
      bytes_u32(&m.main, (uint32_t)tops);
      bytes_u32(&m.main, (uint32_t)subs);
      bytes_u32(&m.main, tops == 2);
      bytes_u32(&m.main, 1000);
      bytes_u32(&m.main, 900);
      bytes_u32(&m.main, 999);
      for (int i = 0; tops > 0 && i < tops + subs; i++)
        bytes_u32(&m.main, 900 + (uint32_t)i);
      expect(&c, &m, WAL_RUNNING_XACTS);
      const wal_running_xacts *x = &c.as.running;
      ck_assert_uint_eq(x->nxids, (unsigned)tops);
      ck_assert_uint_eq(x->nsubxids, tops > 0 ? (unsigned)subs : 0);
      ck_assert_uint_eq(x->xids.count, x->nxids + x->nsubxids);
      ck_assert_uint_eq(x->overflow, tops == 2);
      ck_assert_uint_eq(x->next_xid, 1000);
      ck_assert_uint_eq(x->oldest_running_xid, 900);
      ck_assert_uint_eq(x->latest_completed_xid, 999);
      refuse_lengths(&m);
      memset(m.main.data + 4, 0xFF, 4);
      refuse(&m, "its main data has the wrong length");
      done(&m);
    }
}
END_TEST

/* Which operation codes exist, by resource manager and version. */
START_TEST(operation_codes)
{
  static const struct {
    unsigned rmgr, mask;
    unsigned known; /* a bit for each code */
    unsigned since17;
  } rows[] = {{WAL_RM_XLOG, 0xF0, 0x2FFF, 0x4000}, {WAL_RM_XACT, 0x70, 0x7F, 0}, {WAL_RM_STANDBY, 0xF0, 0x7, 0},
              {WAL_RM_HEAP, 0x70, 0xFF, 0},        {WAL_RM_HEAP2, 0x70, 0xFF, 0}, {WAL_RM_LOGICALMSG, 0xF0, 1, 0},
              {WAL_RM_RELMAP, 0xF0, 1, 0}};
  for (uint32_t major = 15; major <= 18; major++) {
    made_format = pg_format_by_major(major);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
      for (unsigned code = 0; code < 16; code++) {
        if (((code << 4) & rows[i].mask) != code << 4)
          continue;
        unsigned known = rows[i].known | (major >= 17 ? rows[i].since17 : 0);
        made m = make(rows[i].rmgr, code << 4 | 1);
        wal_content c;
        host_error err;
        bool unknown = !made_parse(&c, &m, &err) && strstr(err.text, "unknown operation") != NULL;
        ck_assert_msg(unknown == ((known >> code & 1) == 0), "PostgreSQL %u, %s, code %X", (unsigned)major,
                      wal_rmgr_name((uint8_t)rows[i].rmgr), code);
        done(&m);
      }
    made other = make(11, 0xF0);
    wal_content c;
    expect(&c, &other, WAL_OTHER);
    done(&other);
  }
}
END_TEST

/* The epoch is kept over the border, and a wrong start is noticed at the next checkpoint. */
START_TEST(xids_are_widened)
{
  const uint64_t E = UINT64_C(1) << 32;
  wal_xid x;
  host_error err = {""};
  wal_xid_init(&x, 7 * E + 100); /* of the control file: a little later than what is read */
  wal_record record = {.start = 0x1000, .xid = 0xFFFFFF00u};
  wal_content other = {.kind = WAL_OTHER};
  ck_assert(wal_xid_saw(&x, &record, &other, &err));
  ck_assert_uint_eq(wal_xid_widen(&x, record.xid), 6 * E + 0xFFFFFF00u);
  ck_assert_uint_eq(wal_xid_widen(&x, 0), 0);
  ck_assert_uint_eq(wal_xid_widen(&x, 2), 2);
  wal_content running = {.kind = WAL_RUNNING_XACTS, .as.running = {.next_xid = 0xFFFFFFF0u}};
  record.xid = 0;
  ck_assert(wal_xid_saw(&x, &record, &running, &err));
  ck_assert_uint_eq(wal_xid_widen(&x, 5), 7 * E + 5);
  wal_content checkpoint = {.kind = WAL_CHECKPOINT, .as.checkpoint = {.next_xid = 7 * E + 50}};
  ck_assert(wal_xid_saw(&x, &record, &checkpoint, &err));
  ck_assert_uint_eq(wal_xid_widen(&x, 0xFFFFFFFFu), 6 * E + 0xFFFFFFFFu);
  /* ids that are used move it on, even without any record that tells */
  for (uint64_t at = 7 * E + 50; at < 9 * E; at += E / 4) {
    record.xid = (uint32_t)at;
    ck_assert(wal_xid_saw(&x, &record, &other, &err));
    ck_assert_uint_eq(wal_xid_widen(&x, record.xid), at);
  }
  checkpoint.as.checkpoint.next_xid = 5 * E;
  ck_assert(!wal_xid_saw(&x, &record, &checkpoint, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "checkpoint at 0/1000: its next transaction id is 21474836480, not "));
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_record_ends");
  TCase *t = tcase_create("records");
  tcase_add_checked_fixture(t, record_maker_setup, NULL);
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, ends_of_transactions, 0, 8);
  tcase_add_test(t, ends_that_lie);
  tcase_add_loop_test(t, prepares, 0, 2);
  tcase_add_test(t, small_records_of_transactions);
  tcase_add_test(t, small_records_of_others);
  tcase_add_test(t, running_xacts);
  tcase_add_test(t, operation_codes);
  tcase_add_test(t, xids_are_widened);
  suite_add_tcase(s, t);
  return run_suite(s);
}
