/* Two-phase commit, row versions of a transaction, catalog changes of others. */
#include "decode/fixture.h"

#include <stdio.h>
#include <string.h>

/* --- row versions --- */

static twpa_status cid_of(twpa_txn *txn, uint32_t block, twpa_cid *cmin, twpa_cid *cmax)
{
  return twpa_txn_tuplecid(txn, cmin, cmax, &(twpa_locator){1, 2, 3}, &(twpa_tid){.block = block, .line = 1});
}

static twpa_status got[3];
static twpa_cid cmins[3], cmaxs[3];

static int look(void *user, twpa_txn *txn, const twpa_change *c)
{
  (void)user;
  (void)c;
  for (uint32_t i = 0; i < 3; i++)
    got[i] = cid_of(txn, i, &cmins[i], &cmaxs[i]);
  return 0;
}

static void new_cid(twpa_xid xid, twpa_lsn lsn, uint32_t block, twpa_cid cmin, twpa_cid cmax)
{
  twpa_new_cid cid = {.top_xid = 10, .locator = {1, 2, 3}, .tid = {.block = block, .line = 1}, .cmin = cmin,
                      .cmax = cmax, .combo_cid = TWPA_CID_NONE};
  ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = lsn, .xid = xid}, &cid), TWPA_OK);
  kit_check(r);
}

/* O7, bug 19555: what a rolled-back sub has written is forgotten, and a place that is used again is seen anew. */
START_TEST(row_versions_of_rolled_back_subs)
{
  k.output.change = look;
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  new_cid(10, 100, 0, 1, TWPA_CID_NONE);
  new_cid(11, 110, 0, 1, 2);
  new_cid(11, 110, 1, 2, TWPA_CID_NONE);
  new_cid(11, 110, 2, 2, TWPA_CID_NONE);
  ck_assert_uint_eq(kit_stats(r).tuplecids, 4);
  abort_xid(r, 11, 120);
  ck_assert_uint_eq(kit_stats(r).tuplecids, 1);
  new_cid(12, 130, 1, 5, TWPA_CID_NONE);
  new_cid(10, 140, 1, 5, 7);
  ins(r, 10, 0, 150, "a");
  commit(r, 10, 160, 1, (twpa_xid[]){12});
  ck_assert_int_eq(got[0], TWPA_OK);
  ck_assert_uint_eq(cmins[0], 1);
  ck_assert_uint_eq(cmaxs[0], TWPA_CID_NONE);
  ck_assert_int_eq(got[1], TWPA_OK);
  ck_assert_uint_eq(cmins[1], 5);
  ck_assert_uint_eq(cmaxs[1], 7);
  ck_assert_int_eq(got[2], TWPA_E_NOTFOUND);
  ck_assert_uint_eq(kit_stats(r).tuplecids, 0);
}
END_TEST

/* Of many records about one row version the newest counts; and each delivery looks at its own. */
START_TEST(newest_record_counts)
{
  k.output.change = look;
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  for (twpa_cid n = 1; n <= 40; n++) {
    new_cid(10 + n % 3, 100, 0, n, n + 1);
    new_cid(10, 100, 5 + n % 7, 99, TWPA_CID_NONE);
  }
  ins(r, 10, 0, 110, "a");
  commit(r, 10, 120, 2, (twpa_xid[]){11, 12});
  ck_assert_uint_eq(cmins[0], 40);
  ck_assert_uint_eq(cmaxs[0], 41);
  ck_assert_int_eq(got[1], TWPA_E_NOTFOUND);
  ins(r, 13, 0, 130, "another");
  commit(r, 13, 140, 0, NULL);
  ck_assert_int_eq(got[0], TWPA_E_NOTFOUND);
}
END_TEST

/* --- catalog changes of others --- */

static void distribute(twpa_xid xid, twpa_lsn lsn, const char *content)
{
  twpa_record record = {.lsn = lsn, .xid = xid};
  ck_assert_int_eq(twpa_reorder_distribute(r, &record, str(content)), TWPA_OK);
  kit_check(r);
}

START_TEST(invalidations_of_others)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  distribute(9, 90, "before");
  ins(r, 10, 0, 100, "a");
  distribute(9, 110, "x");
  ins(r, 11, 0, 115, "other");
  ins(r, 10, 0, 120, "b");
  distribute(9, 130, "y");
  commit(r, 10, 140, 0, NULL);
  expect("begin 10\nins 10 @100 new=a\ninvalidate x\nins 10 @120 new=b\ncommit 10\ninvalidate x\ninvalidate y\n");
  commit(r, 11, 150, 0, NULL);
  expect("begin 11\nins 11 @115 new=other\ncommit 11\ninvalidate y\n");
  ck_assert_uint_eq(kit_stats(r).distributed_bytes, 0);
}
END_TEST

/* Between blocks others are given out, who see the catalog without this one's changes. */
START_TEST(invalidations_between_blocks)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
  ins(r, 10, 0, 100, "a");
  distribute(9, 110, "x");
  change(r, 10, 120, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("own")});
  ins(r, 10, 0, 130, "b");
  distribute(9, 140, "y");
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  expect("stream_start 10\nins 10 @100 new=a\ninvalidate x\ninvalidate own\nins 10 @130 new=b\nstream_stop 10\n"
         "invalidate own\ninvalidate y\n");
  ins(r, 10, 0, 150, "c");
  expect("invalidate y\nstream_start 10\nins 10 @150 new=c\nstream_stop 10\ninvalidate own\n");
  abort_xid(r, 10, 160);
  expect("stream_abort 10 10\ninvalidate own\n");
}
END_TEST

/* A sign of life tells a position even where nothing but changes of others has come so far. */
START_TEST(progress_through_changes_of_others)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  ins(r, 11, 10, 100, "rolled back");
  for (twpa_lsn lsn = 200; lsn < 400; lsn++)
    distribute(9, lsn, "x");
  abort_xid(r, 11, 400);
  ins(r, 10, 0, 500, "a");
  commit(r, 10, 600, 0, NULL);
  ck_assert_uint_eq(k.progress, 2);
  ck_assert_uint_eq(k.progress_lsn, 399);
}
END_TEST

/* As many as the limit allows are kept as they are. */
START_TEST(just_as_many_invalidations_of_others)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .distributed_bytes = 30};
  r = kit_new(&k, &options, NULL);
  ins(r, 10, 0, 100, "a");
  distribute(9, 110, "invalidation 01");
  distribute(9, 120, "invalidation 02");
  ck_assert_uint_eq(kit_stats(r).distributed_bytes, 30);
  commit(r, 10, 130, 0, NULL);
  ck_assert_uint_eq(k.invalidate_alls, 0);
  ck_assert_uint_eq(k.invalidations, 2);
}
END_TEST

START_TEST(too_many_invalidations_of_others)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .distributed_bytes = 100};
  r = kit_new(&k, &options, NULL);
  k.keep_log = false;
  ins(r, 10, 0, 100, "a");
  char name[32];
  for (twpa_lsn i = 0; i < 50; i++) {
    snprintf(name, sizeof name, "invalidation %02u", (unsigned)i);
    distribute(9, 110 + i, name);
    ck_assert_uint_le(kit_stats(r).distributed_bytes, 100);
  }
  ins(r, 10, 0, 200, "b");
  commit(r, 10, 210, 0, NULL);
  ck_assert_uint_gt(k.invalidate_alls, 0);
  ck_assert_uint_eq(k.invalidate_alls + k.invalidations, 100);
  ck_assert_uint_eq(k.invalidations, 2 * (100 / 15));
}
END_TEST

/* An invalidation without content is not one of all caches, but a taken transaction gives out one of these so. */
START_TEST(invalidations_without_content)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .distributed_bytes = 4};
  r = kit_new(&k, &options, NULL);
  ins(r, 10, 0, 100, "a");
  change(r, 10, 110, (twpa_change){.kind = TWPA_INVALIDATION});
  change(r, 0, 110, (twpa_change){.kind = TWPA_INVALIDATION});
  ck_assert_uint_eq(k.invalidations, 1);
  distribute(9, 120, "given up");
  ins(r, 10, 0, 130, "b");
  k.take = true;
  commit(r, 10, 140, 0, NULL);
  ck_assert_uint_eq(k.invalidations, 2);
  ck_assert_uint_eq(k.invalidate_alls, 1);
  const uint32_t kinds[] = {TWPA_INSERT, TWPA_INVALIDATION, TWPA_INVALIDATION, TWPA_INSERT};
  for (size_t i = 0; i < 4; i++) {
    twpa_change c;
    ck_assert_int_eq(twpa_txn_next(k.taken[0], &c), TWPA_OK);
    ck_assert_uint_eq(c.kind, kinds[i]);
    ck_assert_uint_eq(c.content.len, 0);
    ck_assert(kinds[i] != TWPA_INVALIDATION || (c.content.data == NULL) == (i == 2));
  }
  twpa_txn_release(k.taken[0]);
  k.take = false;
  k.ntaken = 0;
  k.invalidations = k.invalidate_alls = 0;
  ins(r, 20, 0, 200, "a");
  change(r, 20, 210, (twpa_change){.kind = TWPA_INVALIDATION});
  commit(r, 20, 220, 0, NULL);
  ck_assert_uint_eq(k.invalidations, 2);
  ck_assert_uint_eq(k.invalidate_alls, 0);
}
END_TEST

/* --- two-phase commit --- */

static void prepare(twpa_xid xid, twpa_lsn lsn, bool skip)
{
  twpa_record record = {.lsn = lsn, .end_lsn = lsn + 1, .xid = xid};
  twpa_commit end = {.time = (twpa_time)lsn};
  twpa_status st = skip ? twpa_reorder_skip_prepare(r, &record, &end, str("g"))
                        : twpa_reorder_prepare(r, &record, &end, str("g"));
  ck_assert_int_eq(st, TWPA_OK);
  kit_check(r);
}

static twpa_status finish(twpa_xid xid, twpa_lsn lsn, bool committed)
{
  twpa_record record = {.lsn = lsn, .end_lsn = lsn + 1, .xid = xid};
  twpa_commit end = {.time = (twpa_time)lsn};
  twpa_status st = committed ? twpa_reorder_commit_prepared(r, &record, &end, str("g"))
                             : twpa_reorder_rollback_prepared(r, &record, &end, str("g"));
  kit_check(r);
  return st;
}

START_TEST(prepared)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  ins(r, 10, 0, 600, "a");
  ins(r, 11, 10, 610, "b");
  prepare(10, 620, false);
  expect("begin_prepare 10\nins 10 @600 new=a\nins 11 @610 new=b\nprepare 10\n");
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 600);
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 10, 0, 630, "x"), TWPA_E_STATE);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 12, 10, 630, "x"), TWPA_E_STATE);
  ck_assert_int_eq(kit_commit(r, 10, 630, NULL, 0), TWPA_E_STATE);
  ck_assert_int_eq(kit_abort(r, 10, 630, NULL, 0), TWPA_E_STATE);
  ck_assert_uint_eq(kit_stats(r).open_subs, 1);
  ck_assert_int_eq(finish(10, 640, true), TWPA_OK);
  expect("commit_prepared 10\n");
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 0);
  ins(r, 20, 0, 650, "c");
  prepare(20, 660, false);
  ck_assert_int_eq(finish(20, 670, false), TWPA_OK);
  expect("begin_prepare 20\nins 20 @650 new=c\nprepare 20\nrollback_prepared 20\n");
  ck_assert_uint_eq(k.rollback_lsn, 661); /* where its prepare record ends */
  ck_assert_int_eq(k.rollback_time, 660);
  ck_assert_int_eq(finish(99, 680, true), TWPA_OK);
  expect("");
}
END_TEST

/* Prepare before or after two_phase_at, given out or skipped, committed or rolled back. */
START_TEST(prepared_and_restarts)
{
  struct {
    twpa_lsn at;
    bool skip, committed;
    const char *log;
  } cases[] = {
    {400, true, true, "begin_prepare 10\nins 10 @300 new=a\nprepare 10\ncommit_prepared 10\n"},
    {400, true, false, "rollback_prepared 10\n"},
    {500, true, true, "commit_prepared 10\n"},
    {600, true, true, "commit_prepared 10\n"},
    {600, true, false, "rollback_prepared 10\n"},
    {400, false, true, "begin_prepare 10\nins 10 @300 new=a\nprepare 10\ncommit_prepared 10\n"},
    {600, false, true, "begin_prepare 10\nins 10 @300 new=a\nprepare 10\ncommit_prepared 10\n"},
    {600, false, false, "begin_prepare 10\nins 10 @300 new=a\nprepare 10\nrollback_prepared 10\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    r = fixture_make(TWPA_MEMORY_UNLIMITED, false, true);
    ins(r, 10, 0, 300, "a");
    prepare(10, cases[i].at, cases[i].skip);
    ck_assert_int_eq(finish(10, 700, cases[i].committed), TWPA_OK);
    expect(cases[i].log);
    fixture_again();
  }
}
END_TEST

/* Bug 19556: an id but no change; prepared and committed in silence. */
START_TEST(empty_prepared_is_silent)
{
  for (int skip = 0; skip < 2; skip++)
    for (int committed = 0; committed < 2; committed++) {
      r = fixture_make(1, true, true);
      ck_assert_int_eq(twpa_reorder_touch(r, &(twpa_record){.lsn = 300, .xid = 10}), TWPA_OK);
      prepare(10, 400, skip != 0);
      ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 300);
      ck_assert_int_eq(finish(10, 700, committed != 0), TWPA_OK);
      expect("");
      fixture_again();
    }
}
END_TEST

START_TEST(prepare_is_filtered)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  k.filter_gid = "g";
  ins(r, 10, 0, 600, "a");
  prepare(10, 610, false);
  expect("");
  ck_assert_int_eq(finish(10, 620, true), TWPA_OK);
  expect("begin 10\nins 10 @600 new=a\ncommit 10\n");
  ins(r, 11, 0, 630, "a");
  prepare(11, 640, false);
  ck_assert_int_eq(finish(11, 650, false), TWPA_OK);
  expect("");
  /* A filter that changes its mind. */
  ins(r, 12, 0, 660, "a");
  prepare(12, 670, false);
  k.filter_gid = NULL;
  ck_assert_int_eq(finish(12, 680, true), TWPA_E_STATE);
  abort_xid(r, 12, 690);
}
END_TEST

START_TEST(streamed_and_prepared)
{
  r = fixture_make(1, true, true);
  ins(r, 10, 0, 600, "a");
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 100000), TWPA_OK);
  ins(r, 10, 0, 610, "b");
  text_clear(&k.log);
  prepare(10, 620, false);
  expect("stream_start 10\nins 10 @610 new=b\nstream_stop 10\nstream_prepare 10\n");
  ck_assert_int_eq(finish(10, 630, true), TWPA_OK);
  expect("commit_prepared 10\n");
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @600 new=a\nins 10 @610 new=b\n");
}
END_TEST

/* Rolled back while it is given out as prepared: the prepare is told, so that the rollback has a name. */
START_TEST(prepared_and_rolled_back_meanwhile)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  k.abort_by_callback = true;
  k.aborted_xids[k.naborted++] = 10;
  ins(r, 10, 0, 600, "a");
  ins(r, 10, 0, 605, "b");
  prepare(10, 610, false);
  expect("begin_prepare 10\nins 10 @600 new=a\nprepare 10\n");
  ck_assert_int_eq(finish(10, 620, true), TWPA_E_STATE);
  ck_assert_int_eq(finish(10, 620, false), TWPA_OK);
  expect("rollback_prepared 10\n");
}
END_TEST

/* What others change after the prepare does not concern it, though it is given out later. */
START_TEST(prepared_sees_nothing_new)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, true);
  ins(r, 10, 0, 300, "a");
  distribute(9, 310, "x");
  prepare(10, 400, true);
  distribute(9, 410, "y");
  ck_assert_int_eq(finish(10, 700, true), TWPA_OK);
  expect("begin_prepare 10\nins 10 @300 new=a\nprepare 10\ninvalidate x\ncommit_prepared 10\n");
}
END_TEST

/* What is prepared is complete: it is not streamed, and ends with an end of its own only. */
START_TEST(prepared_is_not_streamed)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  ins(r, 10, 0, 300, "a");
  prepare(10, 400, true);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  kit_check(r);
  expect("");
  ck_assert_uint_eq(kit_stats(r).spilled_txns, 1);
  ck_assert_int_eq(finish(10, 700, true), TWPA_OK);
  expect("begin_prepare 10\nins 10 @300 new=a\nprepare 10\ncommit_prepared 10\n");
}
END_TEST

/* A prepare that is to be skipped, of a transaction of which the consumer has a part. */
START_TEST(streamed_cannot_be_skipped)
{
  r = fixture_make(1, true, true);
  ins(r, 10, 0, 600, "a");
  twpa_record record = {.lsn = 610, .xid = 10, .origin = 3};
  ck_assert_int_eq(twpa_reorder_skip_prepare(r, &record, &(twpa_commit){.time = 1}, str("g")), TWPA_E_STATE);
  k.filter_origin = 3;
  ck_assert_int_eq(twpa_reorder_prepare(r, &record, &(twpa_commit){.time = 1}, str("g")), TWPA_E_STATE);
  kit_check(r);
  prepare(10, 620, false);
  ck_assert_int_eq(finish(10, 630, true), TWPA_OK);
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @600 new=a\n");
}
END_TEST

/* The consumer has it: its end is told, wherever that comes from. */
START_TEST(end_of_prepared_with_filtered_origin)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  k.filter_origin = 3;
  for (int skip = 0; skip < 2; skip++)
    for (int committed = 0; committed < 2; committed++) {
      ins(r, 10, 0, 600, "a");
      prepare(10, 600, skip != 0);
      text_clear(&k.log);
      twpa_record record = {.lsn = 600, .xid = 10, .origin = 3};
      ck_assert_int_eq(committed ? twpa_reorder_commit_prepared(r, &record, &(twpa_commit){.time = 1}, str("g"))
                                 : twpa_reorder_rollback_prepared(r, &record, &(twpa_commit){.time = 1}, str("g")),
                       TWPA_OK);
      kit_check(r);
      expect(skip ? "" : committed ? "commit_prepared 10\n" : "rollback_prepared 10\n");
    }
}
END_TEST

START_TEST(prepared_is_lost_in_no_crash)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  ins(r, 9, 0, 590, "lost");
  ins(r, 10, 0, 600, "a");
  ins(r, 11, 10, 600, "b");
  prepare(10, 610, false);
  text_clear(&k.log);
  ck_assert_int_eq(twpa_reorder_abort_before(r, 20), TWPA_E_STATE);
  ck_assert_ptr_nonnull(twpa_reorder_find(r, 9));
  ck_assert_int_eq(twpa_reorder_abort_before(r, 10), TWPA_OK);
  ck_assert_ptr_null(twpa_reorder_find(r, 9));
  /* Nor does it, or a subtransaction, end with another one. */
  for (twpa_xid listed = 10; listed < 12; listed++)
    ck_assert_int_eq(kit_abort(r, 77, 620, &listed, 1), TWPA_E_STATE);
  ck_assert_int_eq(kit_abort(r, 11, 620, NULL, 0), TWPA_E_STATE);
  kit_check(r);
  ck_assert_int_eq(finish(10, 630, true), TWPA_OK);
  expect("commit_prepared 10\n");
}
END_TEST

START_TEST(row_versions_of_prepared_and_rolled_back)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  new_cid(10, 600, 0, 1, TWPA_CID_NONE);
  new_cid(11, 600, 1, 1, TWPA_CID_NONE);
  ins(r, 10, 0, 600, "a");
  prepare(10, 610, false);
  ck_assert_uint_eq(kit_stats(r).tuplecids, 0);
  twpa_new_cid cid = {.top_xid = 10, .cmin = 1, .cmax = TWPA_CID_NONE};
  for (twpa_xid xid = 10; xid < 13; xid++)
    ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = 620, .xid = xid}, &cid), TWPA_E_STATE);
  kit_check(r);
  ck_assert_int_eq(finish(10, 630, true), TWPA_OK);
  /* Known to be rolled back: what it says about its rows is not wanted, but that it changes the catalog is noted. */
  k.abort_by_status = true;
  k.aborted_xids[k.naborted++] = 12;
  ins(r, 10, 0, 640, "a");
  ins(r, 12, 10, 640, "b");
  ck_assert_int_eq(twpa_reorder_set_streaming(r, 0), TWPA_OK);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  new_cid(12, 650, 0, 1, TWPA_CID_NONE);
  ck_assert_uint_eq(kit_stats(r).tuplecids, 0);
  ck_assert(twpa__txn_is(twpa_reorder_find(r, 10), TWPA__TXN_CATALOG));
  abort_xid(r, 12, 660);
  commit(r, 10, 670, 0, NULL);
}
END_TEST

/* A list of subtransactions that has a length only, at each kind of end. */
START_TEST(ends_with_a_broken_list)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  const twpa_commit broken = {.nsubxids = 2};
  ins(r, 10, 0, 600, "a");
  ins(r, 11, 10, 600, "b");
  twpa_record record = {.lsn = 610, .xid = 10};
  ck_assert_int_eq(twpa_reorder_commit(r, &record, &broken), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_forget(r, &record, &broken), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_abort(r, &record, &broken), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_prepare(r, &record, &broken, str("g")), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_skip_prepare(r, &record, &broken, str("g")), TWPA_E_INVAL);
  prepare(10, 610, false);
  text_clear(&k.log);
  ck_assert_int_eq(twpa_reorder_commit_prepared(r, &record, &broken, str("g")), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_rollback_prepared(r, &record, &broken, str("g")), TWPA_E_INVAL);
  expect("");
  kit_check(r);
  /* All of it is counted as rolled back. */
  uint64_t aborted = kit_stats(r).aborted_txns;
  ck_assert_int_eq(finish(10, 620, false), TWPA_OK);
  ck_assert_uint_eq(kit_stats(r).aborted_txns, aborted + 2);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_prepare");
  TCase *t = tcase_create("prepare");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
  tcase_add_test(t, row_versions_of_rolled_back_subs);
  tcase_add_test(t, newest_record_counts);
  tcase_add_test(t, invalidations_of_others);
  tcase_add_test(t, invalidations_between_blocks);
  tcase_add_test(t, progress_through_changes_of_others);
  tcase_add_test(t, just_as_many_invalidations_of_others);
  tcase_add_test(t, too_many_invalidations_of_others);
  tcase_add_test(t, invalidations_without_content);
  tcase_add_test(t, prepared);
  tcase_add_test(t, prepared_and_restarts);
  tcase_add_test(t, empty_prepared_is_silent);
  tcase_add_test(t, prepare_is_filtered);
  tcase_add_test(t, streamed_and_prepared);
  tcase_add_test(t, prepared_and_rolled_back_meanwhile);
  tcase_add_test(t, prepared_sees_nothing_new);
  tcase_add_test(t, prepared_is_not_streamed);
  tcase_add_test(t, streamed_cannot_be_skipped);
  tcase_add_test(t, end_of_prepared_with_filtered_origin);
  tcase_add_test(t, prepared_is_lost_in_no_crash);
  tcase_add_test(t, row_versions_of_prepared_and_rolled_back);
  tcase_add_test(t, ends_with_a_broken_list);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
