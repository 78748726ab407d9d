/* The reorder buffer by example: what goes in, and every callback that comes out. */
#include "decode/fixture.h"

#include <stdlib.h>
#include <string.h>

static void setup(void)
{
  fixture_setup();
  r = kit_new(&k, NULL, NULL);
}

START_TEST(interleaved)
{
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 0, 110, "b");
  ins(r, 10, 0, 120, "c");
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 100);
  commit(r, 11, 130, 0, NULL);
  expect("begin 11\nins 11 @110 new=b\ncommit 11\n");
  ck_assert_int_eq(kit_row(r, TWPA_DELETE, 10, 0, 140, "a"), TWPA_OK);
  commit(r, 10, 150, 0, NULL);
  expect("begin 10\nins 10 @100 new=a\nins 10 @120 new=c\ndel 10 @140 old=a\ncommit 10\n");
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 0);
  twpa_reorder_counters s = kit_stats(r);
  ck_assert_uint_eq(s.queued_changes, 4);
  ck_assert_uint_eq(s.delivered_txns, 2);
  ck_assert_uint_eq(s.memory_bytes, 0);
}
END_TEST

START_TEST(every_kind)
{
  change(r, 10, 100, (twpa_change){.kind = TWPA_UPDATE, .old_row = str("o"), .new_row = str("n")});
  change(r, 10, 110, (twpa_change){.kind = TWPA_UPDATE, .new_row = str("only new")});
  change(r, 10, 120, (twpa_change){.kind = TWPA_DELETE});
  uint64_t rels[] = {7, 8, 9};
  change(r, 10, 130, (twpa_change){.kind = TWPA_TRUNCATE, .relations = rels, .nrelations = 3,
                                   .flags = TWPA_CHANGE_CASCADE});
  message(r, 10, 140, "hello", true);
  change(r, 10, 150, (twpa_change){.kind = TWPA_COMMAND, .command_id = 4});
  change(r, 10, 160, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("rel7")});
  change(r, 10, 170, (twpa_change){.kind = TWPA_INSERT, .new_row = str("")});
  commit(r, 10, 180, 0, NULL);
  expect("begin 10\nupd 10 @100 old=o new=n\nupd 10 @110 new=only new\ndel 10 @120\ntrunc 10 @130 7 8 9\n"
         "msg 10 @140 hello\ninvalidate rel7\nins 10 @170 new=\ncommit 10\ninvalidate rel7\n");
}
END_TEST

START_TEST(messages_at_once)
{
  message(r, 0, 100, "nobody's", false);
  ins(r, 10, 0, 110, "a");
  message(r, 10, 120, "now", false);
  change(r, 0, 130, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("rel")});
  expect("now 0 nobody's\nnow 10 now\ninvalidate rel\n");
  abort_xid(r, 10, 140);
  expect("");
}
END_TEST

/* B04: commit order, not begin order. */
START_TEST(begin_and_commit_order_differ)
{
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 0, 108, "b");
  ins(r, 10, 0, 112, "c");
  commit(r, 11, 118, 0, NULL);
  ins(r, 10, 0, 124, "d");
  commit(r, 10, 130, 0, NULL);
  expect("begin 11\nins 11 @108 new=b\ncommit 11\n"
         "begin 10\nins 10 @100 new=a\nins 10 @112 new=c\nins 10 @124 new=d\ncommit 10\n");
}
END_TEST

START_TEST(empty_transactions_are_silent)
{
  ck_assert_int_eq(twpa_reorder_touch(r, &(twpa_record){.lsn = 100, .xid = 10}), TWPA_OK);
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 100);
  change(r, 10, 110, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("x")});
  commit(r, 10, 120, 0, NULL);
  commit(r, 77, 130, 0, NULL);
  expect("invalidate x\n");
}
END_TEST

/* Kinship: known before, between, or only at the commit; the sub's changes before or after the top's. */
START_TEST(kinship_in_every_order)
{
  const char *want = "begin 10\nins 11 @100 new=s1\nins 10 @110 new=t1\nins 11 @120 new=s2\ncommit 10\n";
  const char *want_top_first = "begin 10\nins 10 @100 new=t0\nins 11 @101 new=s1\nins 10 @110 new=t1\n"
                               "ins 11 @120 new=s2\ncommit 10\n";
  twpa_xid sub = 11;
  for (int when = 0; when < 5; when++) {
    for (int top_first = 0; top_first < 2; top_first++) {
      twpa_reorder_free(r);
      r = kit_new(&k, NULL, NULL);
      if (top_first)
        ins(r, 10, 0, 100, "t0");
      if (when == 0)
        ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 100), TWPA_OK);
      ins(r, 11, when == 1 ? 10 : 0, top_first ? 101 : 100, "s1");
      if (when == 2)
        ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 105), TWPA_OK);
      ins(r, 10, 0, 110, "t1");
      kit_check(r);
      ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 100);
      ins(r, 11, when == 3 ? 10 : 0, 120, "s2");
      kit_check(r);
      ck_assert_uint_eq(kit_stats(r).open_tops, when == 4 ? 2 : 1);
      commit(r, 10, 130, 1, &sub);
      expect(top_first ? want_top_first : want);
      ck_assert_uint_eq(kit_stats(r).open_tops, 0);
      ck_assert_uint_eq(kit_stats(r).open_subs, 0);
    }
  }
}
END_TEST

/* The sub is known, the top appears only in the commit record: its place is the sub's. */
START_TEST(top_known_from_the_commit_only)
{
  ins(r, 9, 0, 90, "other");
  ins(r, 11, 0, 100, "s");
  ins(r, 12, 0, 105, "s2");
  commit(r, 10, 130, 3, (twpa_xid[]){11, 12, 13});
  expect("begin 10\nins 11 @100 new=s\nins 12 @105 new=s2\ncommit 10\n");
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 90);
}
END_TEST

START_TEST(late_kinship_lowers_the_restart_point)
{
  ins(r, 11, 0, 100, "s");
  ins(r, 20, 0, 110, "x");
  ins(r, 10, 0, 120, "t");
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 130), TWPA_OK);
  kit_check(r);
  twpa_txn *first = twpa_reorder_next_open(r, NULL);
  ck_assert_uint_eq(twpa_txn_xid(first), 10);
  ck_assert_uint_eq(twpa_txn_first_lsn(first), 100);
  ck_assert_uint_eq(twpa_txn_changes(first), 2);
  ck_assert_uint_eq(twpa_txn_xid(twpa_reorder_next_open(r, first)), 20);
  ck_assert_uint_eq(twpa_txn_top_xid(twpa_reorder_find(r, 11)), 10);
}
END_TEST

START_TEST(contradicting_kinship_is_refused)
{
  ins(r, 11, 10, 100, "s");
  ck_assert_int_eq(twpa_reorder_assign(r, 12, 11, 100), TWPA_E_STATE);
  ck_assert_int_eq(twpa_reorder_assign(r, 11, 13, 100), TWPA_E_STATE);
  ck_assert_int_eq(twpa_reorder_assign(r, 12, 10, 100), TWPA_E_STATE);
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 10, 100), TWPA_E_INVAL);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 11, 12, 100, "x"), TWPA_E_STATE);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 11, 11, 100, "x"), TWPA_E_STATE);
  twpa_xid sub = 11;
  ins(r, 12, 0, 110, "y");
  ck_assert_int_eq(kit_commit(r, 12, 120, &sub, 1), TWPA_E_STATE);
  ck_assert_int_eq(kit_commit(r, 11, 120, NULL, 0), TWPA_E_STATE);
  ins(r, 13, 12, 110, "z");
  ck_assert_int_eq(kit_abort(r, 12, 120, &sub, 1), TWPA_E_STATE);
  ck_assert_int_eq(kit_abort(r, 13, 120, &sub, 1), TWPA_E_STATE);
  ck_assert_int_eq(kit_abort(r, 11, 120, (twpa_xid[]){12}, 1), TWPA_E_STATE);
  kit_check(r);
  ck_assert_uint_eq(kit_stats(r).open_tops, 2);
  commit(r, 10, 130, 1, &sub);
  expect("begin 10\nins 11 @100 new=s\ncommit 10\n");
}
END_TEST

START_TEST(wrong_input_is_refused)
{
  ins(r, 10, 0, 100, "a");
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 10, 0, 99, "b"), TWPA_E_STATE);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 10, 0, 0, "b"), TWPA_E_INVAL);
  ck_assert_int_eq(kit_row(r, 99, 10, 0, 100, "b"), TWPA_E_INVAL);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 0, 0, 100, "b"), TWPA_E_INVAL);
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 2, 0, 100, "b"), TWPA_E_INVAL);
  ck_assert_int_eq(kit_change(r, 10, 100, (twpa_change){.kind = TWPA_INSERT, .flags = TWPA_CHANGE_CASCADE}),
                   TWPA_E_INVAL);
  ck_assert_int_eq(kit_change(r, 10, 100, (twpa_change){.kind = TWPA_INSERT, .new_row = {"x", (size_t)1 << 31}}),
                   TWPA_E_INVAL);
  ck_assert_int_eq(kit_change(r, 10, 100, (twpa_change){.kind = TWPA_TRUNCATE, .nrelations = 3}), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_queue(r, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_touch(NULL, &(twpa_record){.lsn = 1}), TWPA_E_INVAL);
  twpa_new_cid nothing = {.top_xid = 10, .cmin = TWPA_CID_NONE, .cmax = TWPA_CID_NONE};
  ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = 100, .xid = 10}, &nothing), TWPA_E_INVAL);
  ck_assert_int_eq(kit_commit(r, 10, 100, (twpa_xid[]){10}, 1), TWPA_E_INVAL);
  ck_assert_int_eq(kit_commit(r, 10, 100, NULL, 1), TWPA_E_INVAL);
  kit_check(r);
  commit(r, 10, 110, 0, NULL);
  expect("begin 10\nins 10 @100 new=a\ncommit 10\n");
}
END_TEST

/* Announced: none that is known, one that is, one that has gone; with and without anything in the buffer. */
START_TEST(an_announcement_changes_nothing)
{
  twpa_reorder_prefetch(NULL, 10);
  for (int when = 0; when < 4; when++) {
    for (twpa_xid xid = 0; xid < 100; xid++)
      twpa_reorder_prefetch(r, when % 2 == 0 ? xid % 15 : 10);
    kit_check(r);
    ck_assert_uint_eq(kit_stats(r).open_tops, when == 1 || when == 2);
    if (when < 2)
      ins(r, 10, 0, 100 + (twpa_lsn)when, when == 0 ? "a" : "b");
    else if (when == 2)
      commit(r, 10, 120, 0, NULL);
  }
  expect("begin 10\nins 10 @100 new=a\nins 10 @101 new=b\ncommit 10\n");
}
END_TEST

/* O2: a message that is filed under the end of its record, which is where the next record starts. */
START_TEST(ties_stay_in_order_of_arrival)
{
  ins(r, 10, 0, 100, "t");
  ins(r, 11, 10, 110, "s");
  message(r, 11, 120, "m", true);
  ins(r, 10, 0, 120, "u");
  message(r, 11, 120, "n", true);
  commit(r, 10, 130, 0, NULL);
  expect("begin 10\nins 10 @100 new=t\nins 11 @110 new=s\nmsg 11 @120 m\nins 10 @120 new=u\nmsg 11 @120 n\n"
         "commit 10\n");
}
END_TEST

START_TEST(aborts)
{
  ins(r, 10, 0, 100, "t");
  ins(r, 11, 10, 110, "s");
  ins(r, 12, 10, 120, "u");
  ins(r, 13, 10, 125, "v");
  ck_assert_int_eq(kit_abort(r, 12, 130, (twpa_xid[]){13}, 1), TWPA_OK);
  kit_check(r);
  abort_xid(r, 55, 140);
  ins(r, 20, 0, 150, "w");
  ins(r, 21, 20, 160, "x");
  abort_xid(r, 20, 170);
  ck_assert_ptr_null(twpa_reorder_find(r, 21));
  commit(r, 10, 180, 1, (twpa_xid[]){11});
  expect("begin 10\nins 10 @100 new=t\nins 11 @110 new=s\ncommit 10\n");
  ck_assert_uint_eq(kit_stats(r).aborted_txns, 4);
}
END_TEST

/* A listed subtransaction may be one that is not known to be one yet. */
START_TEST(abort_lists_a_stranger)
{
  ins(r, 10, 0, 100, "t");
  ins(r, 11, 10, 110, "s");
  ins(r, 12, 0, 120, "u");
  ck_assert_int_eq(kit_abort(r, 10, 130, (twpa_xid[]){11, 12}, 2), TWPA_OK);
  kit_check(r);
  ck_assert_uint_eq(kit_stats(r).open_tops, 0);
}
END_TEST

/* B-like: lost in a crash; the search stops at the first that may be running. */
START_TEST(abort_before_oldest_running)
{
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 105, "b");
  ins(r, 15, 0, 110, "c");
  ins(r, 12, 0, 120, "d");
  ck_assert_int_eq(twpa_reorder_abort_before(r, 14), TWPA_OK);
  kit_check(r);
  ck_assert_ptr_null(twpa_reorder_find(r, 10));
  ck_assert_ptr_null(twpa_reorder_find(r, 11));
  ck_assert_ptr_nonnull(twpa_reorder_find(r, 12));
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 110);
  ck_assert_int_eq(twpa_reorder_abort_before(r, 20), TWPA_OK);
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 0);
  expect("");
}
END_TEST

START_TEST(forgotten)
{
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 101, "b");
  change(r, 11, 102, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("i")});
  twpa_record record = {.lsn = 110, .xid = 10};
  ck_assert_int_eq(twpa_reorder_forget(r, &record, &(twpa_commit){.time = 1}), TWPA_OK);
  kit_check(r);
  expect("invalidate i\n");
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 0);
}
END_TEST

START_TEST(origins_are_filtered)
{
  k.filter_origin = 3;
  twpa_record record = {.lsn = 100, .xid = 10, .origin = 3};
  twpa_change c = {.kind = TWPA_INSERT, .new_row = str("foreign")};
  ck_assert_int_eq(twpa_reorder_queue(r, &record, &c), TWPA_OK);
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), 100);
  ins(r, 10, 0, 110, "own");
  commit(r, 10, 120, 0, NULL);
  expect("begin 10\nins 10 @110 new=own\ncommit 10\n");
  ins(r, 11, 0, 130, "x");
  record = (twpa_record){.lsn = 140, .xid = 11, .origin = 3};
  ck_assert_int_eq(twpa_reorder_commit(r, &record, &(twpa_commit){.time = 1}), TWPA_OK);
  expect("");
  kit_check(r);
}
END_TEST

/* --- long values and speculative inserts --- */

START_TEST(long_values)
{
  toast(r, 10, 100, 1, 0, "abc");
  toast(r, 10, 101, 1, 1, "def");
  toast(r, 10, 102, 2, 0, "second");
  ins(r, 10, 0, 103, "row^1=6");
  toast(r, 10, 104, 1, 0, "again");
  ins(r, 10, 0, 105, "row^1=5");
  commit(r, 10, 110, 0, NULL);
  expect("begin 10\nins 10 @103 new=row^1=6 long=abcdef\nins 10 @105 new=row^1=5 long=again\ncommit 10\n");
}
END_TEST

/* All rows of a multi-insert but the last keep what was collected. */
START_TEST(long_values_of_a_multi_insert)
{
  toast(r, 10, 100, 1, 0, "one");
  toast(r, 10, 100, 2, 0, "two");
  change(r, 10, 101, (twpa_change){.kind = TWPA_INSERT, .new_row = str("r^1=3"), .flags = TWPA_CHANGE_MORE});
  change(r, 10, 101, (twpa_change){.kind = TWPA_INSERT, .new_row = str("plain"), .flags = TWPA_CHANGE_MORE});
  change(r, 10, 101, (twpa_change){.kind = TWPA_INSERT, .new_row = str("r^2=3")});
  toast(r, 10, 102, 1, 0, "new");
  ins(r, 10, 0, 103, "r^1=3");
  commit(r, 10, 110, 0, NULL);
  expect("begin 10\nins 10 @101 new=r^1=3 long=one\nins 10 @101 new=plain\nins 10 @101 new=r^2=3 long=two\n"
         "ins 10 @103 new=r^1=3 long=new\ncommit 10\n");
}
END_TEST

START_TEST(long_values_out_of_sequence)
{
  toast(r, 10, 100, 1, 1, "abc");
  ins(r, 10, 0, 103, "row");
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CORRUPT);
  kit_check(r);
  ck_assert_uint_eq(kit_stats(r).open_tops, 1);
  abort_xid(r, 10, 110);
}
END_TEST

/* What is counted is what has come out in the end. */
START_TEST(chunks_of_failed_deliveries_are_not_dropped)
{
  toast(r, 10, 100, 1, 0, "abc");
  ins(r, 10, 0, 101, "r^1=3");
  toast(r, 10, 102, 3, 0, "x");
  for (k.fail_at = 1; k.fail_at <= 3; k.fail_at++) { /* begin, change, commit */
    k.calls = 0;
    ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CALLBACK);
    ck_assert_uint_eq(kit_stats(r).toast_dropped, 0);
  }
  k.fail_at = 0;
  commit(r, 10, 110, 0, NULL);
  ck_assert_uint_eq(kit_stats(r).toast_dropped, 1);
}
END_TEST

START_TEST(leftover_chunks_are_dropped)
{
  toast(r, 10, 100, 1, 0, "abc");
  ck_assert_int_eq(kit_row(r, TWPA_DELETE, 10, 0, 103, "row"), TWPA_OK);
  toast(r, 10, 104, 1, 0, "fresh");
  ins(r, 10, 0, 105, "r^1=5");
  toast(r, 10, 106, 3, 0, "x");
  commit(r, 10, 110, 0, NULL);
  expect("begin 10\ndel 10 @103 old=row\nins 10 @105 new=r^1=5 long=fresh\ncommit 10\n");
  ck_assert_uint_eq(kit_stats(r).toast_dropped, 2);
}
END_TEST

static int ask_for_toast(void *user, twpa_txn *txn, const twpa_change *c)
{
  twpa_status *st = user;
  twpa_bytes bytes;
  (void)c;
  st[0] = twpa_txn_toast(txn, &bytes, 9, 1, 3);
  st[1] = twpa_txn_toast(txn, &bytes, 9, 1, 4);
  st[2] = twpa_txn_toast(txn, &bytes, 8, 1, 3);
  return 0;
}

static int nothing(void *user, twpa_txn *txn)
{
  (void)user;
  (void)txn;
  return 0;
}

START_TEST(long_values_are_checked)
{
  twpa_status st[3] = {1, 1, 1};
  twpa_output o = {TWPA_OUTPUT_INIT, .begin = nothing, .change = ask_for_toast, .commit = nothing};
  twpa_reorder *other;
  ck_assert_int_eq(twpa_reorder_new(&other, NULL, &o, st, NULL), TWPA_OK);
  toast(other, 10, 100, 1, 0, "abc");
  ins(other, 10, 0, 101, "row");
  message(other, 10, 102, "no callback for it", true);
  commit(other, 10, 110, 0, NULL);
  ck_assert_int_eq(st[0], TWPA_OK);
  ck_assert_int_eq(st[1], TWPA_E_CORRUPT);
  ck_assert_int_eq(st[2], TWPA_E_NOTFOUND);
  twpa_reorder_free(other);
}
END_TEST

START_TEST(speculative_inserts)
{
  toast(r, 10, 100, 1, 0, "abc");
  change(r, 10, 101, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s^1=3")});
  message(r, 10, 102, "between", true);
  change(r, 10, 103, (twpa_change){.kind = TWPA_SPEC_CONFIRM});
  toast(r, 10, 104, 1, 0, "gone");
  change(r, 10, 105, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("lost")});
  change(r, 10, 106, (twpa_change){.kind = TWPA_SPEC_ABORT});
  change(r, 10, 107, (twpa_change){.kind = TWPA_SPEC_ABORT});
  toast(r, 10, 108, 1, 0, "kept");
  ins(r, 10, 0, 109, "r^1=4");
  commit(r, 10, 110, 0, NULL);
  expect("begin 10\nmsg 10 @102 between\nins 10 @101 new=s^1=3 long=abc\nins 10 @109 new=r^1=4 long=kept\ncommit 10\n");
}
END_TEST

START_TEST(confirmation_without_insert)
{
  ins(r, 10, 0, 100, "a");
  change(r, 10, 101, (twpa_change){.kind = TWPA_SPEC_CONFIRM});
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CORRUPT);
  abort_xid(r, 10, 120);
  /* Nor does that of another subtransaction count. */
  change(r, 20, 130, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s")});
  ins(r, 21, 20, 131, "a");
  change(r, 21, 132, (twpa_change){.kind = TWPA_SPEC_CONFIRM});
  ck_assert_int_eq(kit_commit(r, 20, 140, NULL, 0), TWPA_E_CORRUPT);
  abort_xid(r, 20, 150);
}
END_TEST

/* A long series of changes that the output does not see gives signs of life nevertheless. */
START_TEST(progress_is_shown)
{
  ins(r, 10, 0, 99, "a");
  for (twpa_lsn lsn = 100; lsn < 1100; lsn++)
    change(r, 10, lsn, (twpa_change){.kind = TWPA_COMMAND, .command_id = (twpa_cid)lsn});
  commit(r, 10, 2000, 0, NULL);
  ck_assert_uint_eq(k.progress, 10);
}
END_TEST

/* --- failures of the consumer --- */

START_TEST(a_failed_delivery_is_repeated)
{
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 101, "b");
  toast(r, 10, 102, 1, 0, "abc");
  ins(r, 10, 0, 103, "c^1=3");
  for (size_t n = 1; n <= 5; n++) {
    k.calls = 0;
    k.fail_at = n;
    ck_assert_int_eq(kit_commit(r, 10, 110, (twpa_xid[]){11}, 1), TWPA_E_CALLBACK);
    kit_check(r);
    ck_assert_ptr_nonnull(twpa_reorder_find(r, 10));
  }
  k.fail_at = 0;
  commit(r, 10, 110, 1, (twpa_xid[]){11});
  ck_assert_str_eq(text_get(&k.result),
                   "commit 10\nins 10 @100 new=a\nins 11 @101 new=b\nins 10 @103 new=c^1=3 long=abc\n");
}
END_TEST

static int reenter(void *user, twpa_txn *txn, const twpa_change *c)
{
  twpa_reorder *self = *(twpa_reorder **)user;
  twpa_record record = {.lsn = 1000, .xid = 10};
  twpa_commit end = {.time = 0};
  (void)c;
  ck_assert_int_eq(twpa_reorder_queue(self, &record, &(twpa_change){.kind = TWPA_INSERT}), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_touch(self, &record), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_assign(self, 10, 11, 1000), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_commit(self, &record, &end), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_forget(self, &record, &end), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_abort(self, &record, &end), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_abort_before(self, 100), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(self, 100), TWPA_E_REENTRANT);
  twpa_new_cid cid = {.top_xid = 10, .cmin = 1, .cmax = TWPA_CID_NONE};
  ck_assert_int_eq(twpa_reorder_new_cid(self, &record, &cid), TWPA_E_REENTRANT);
  twpa_reorder_free(self);
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(self), 100);
  ck_assert_ptr_eq(twpa_reorder_find(self, 10), txn);
  ck_assert_uint_eq(kit_stats(self).open_tops, 1);
  twpa_change next;
  ck_assert_int_eq(twpa_txn_next(txn, &next), TWPA_E_STATE);
  ck_assert_int_eq(twpa_txn_rewind(txn), TWPA_E_STATE);
  twpa_txn_release(txn);
  return 0;
}

START_TEST(callbacks_cannot_feed)
{
  twpa_reorder *other;
  twpa_output o = {TWPA_OUTPUT_INIT, .begin = nothing, .change = reenter, .commit = nothing};
  ck_assert_int_eq(twpa_reorder_new(&other, NULL, &o, &other, NULL), TWPA_OK);
  ins(other, 10, 0, 100, "a");
  commit(other, 10, 110, 0, NULL);
  twpa_reorder_free(other);
}
END_TEST

START_TEST(options_are_checked)
{
  twpa_reorder *other = NULL;
  twpa_output o = {TWPA_OUTPUT_INIT, .begin = nothing, .change = ask_for_toast};
  ck_assert_int_eq(twpa_reorder_new(&other, NULL, &o, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_new(&other, NULL, NULL, NULL, NULL), TWPA_E_INVAL);
  o.commit = nothing;
  twpa_reorder_options opt = {TWPA_REORDER_OPTIONS_INIT, .streaming = 1};
  ck_assert_int_eq(twpa_reorder_new(&other, &opt, &o, NULL, NULL), TWPA_E_INVAL);
  opt = (twpa_reorder_options){TWPA_REORDER_OPTIONS_INIT, .two_phase = 1};
  ck_assert_int_eq(twpa_reorder_new(&other, &opt, &o, NULL, NULL), TWPA_E_INVAL);
  twpa_storage half = k.storage;
  half.remove = NULL;
  opt = (twpa_reorder_options){TWPA_REORDER_OPTIONS_INIT, .storage = &half};
  ck_assert_int_eq(twpa_reorder_new(&other, &opt, &o, NULL, NULL), TWPA_E_INVAL);
  opt = (twpa_reorder_options){TWPA_REORDER_OPTIONS_INIT, .reserved = 1};
  ck_assert_int_eq(twpa_reorder_new(&other, &opt, &o, NULL, NULL), TWPA_E_INVAL);
  opt = (twpa_reorder_options){.struct_size = 3};
  ck_assert_int_eq(twpa_reorder_new(&other, &opt, &o, NULL, NULL), TWPA_E_INVAL);
  ck_assert_ptr_null(other);
  twpa_reorder_counters old = {.struct_size = 4};
  ck_assert_int_eq(twpa_reorder_stats(r, &old), TWPA_E_INVAL);
}
END_TEST

/* What a consumer gets must not hang on how much memory there is: what commits show, streams show, and nothing else. */
START_TEST(streams_show_what_commits_show)
{
  const twpa_reorder_options opt = {TWPA_REORDER_OPTIONS_INIT, .streaming = 1};
  for (unsigned without = 0; without < 16; without++) {
    twpa_output o = k.output;
    o.message = (without & 1) != 0 ? NULL : o.message;
    o.stream_message = (without & 2) != 0 ? NULL : o.stream_message;
    o.truncate = (without & 4) != 0 ? NULL : o.truncate;
    o.stream_truncate = (without & 8) != 0 ? NULL : o.stream_truncate;
    bool ok = (without & 3) % 3 == 0 && (without >> 2) % 3 == 0;
    twpa_reorder *other = NULL;
    ck_assert_int_eq(twpa_reorder_new(&other, &opt, &o, &k, NULL), ok ? TWPA_OK : TWPA_E_INVAL);
    twpa_reorder_free(other);
    other = NULL;
    ck_assert_int_eq(twpa_reorder_new(&other, NULL, &o, &k, NULL), TWPA_OK);
    twpa_reorder_free(other);
  }
}
END_TEST

/* --- taken transactions --- */

static void expect_walk(twpa_txn *txn, const char *want)
{
  text got = {0};
  twpa_change c;
  twpa_status st;
  while ((st = twpa_txn_next(txn, &c)) == TWPA_OK) {
    twpa_bytes b = c.kind == TWPA_INVALIDATION || c.kind == TWPA_MESSAGE ? c.content : c.new_row;
    text_add(&got, "%u %llu %.*s\n", c.kind, (unsigned long long)c.xid, (int)b.len, (const char *)b.data);
  }
  ck_assert_int_eq(st, TWPA_NONE);
  ck_assert_int_eq(twpa_txn_next(txn, &c), TWPA_NONE);
  ck_assert_str_eq(text_get(&got), want);
  text_clear(&got);
}

START_TEST(taken)
{
  k.take = true;
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 101, "b");
  change(r, 10, 102, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("i")});
  message(r, 11, 103, "m", true);
  commit(r, 10, 110, 1, (twpa_xid[]){11});
  expect("take 10\ninvalidate i\n");
  ck_assert_uint_eq(k.ntaken, 1);
  ck_assert_uint_eq(kit_stats(r).taken, 1);
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  ck_assert_ptr_null(twpa_reorder_find(r, 10));
  /* The same ids may come again meanwhile. */
  ins(r, 12, 0, 120, "c");
  twpa_txn *txn = k.taken[0];
  ck_assert_uint_eq(twpa_txn_final_lsn(txn), 110);
  ck_assert_uint_eq(twpa_txn_end_lsn(txn), 111);
  ck_assert_int_eq(twpa_txn_time(txn), 1100);
  const char *want = "1 10 a\n1 11 b\n10 10 i\n5 11 m\n";
  expect_walk(txn, want);
  ck_assert_int_eq(twpa_txn_rewind(txn), TWPA_OK);
  twpa_change c;
  ck_assert_int_eq(twpa_txn_next(txn, &c), TWPA_OK);
  ck_assert_int_eq(twpa_txn_rewind(txn), TWPA_OK);
  expect_walk(txn, want);
  twpa_txn_release(txn);
  k.ntaken = 0;
  ck_assert_uint_eq(kit_stats(r).taken, 0);
}
END_TEST

START_TEST(taken_outlives_its_owner)
{
  k.take = true;
  ins(r, 10, 0, 100, "a");
  commit(r, 10, 110, 0, NULL);
  twpa_reorder_free(r);
  expect_walk(k.taken[0], "1 10 a\n");
  twpa_txn_release(k.taken[0]);
  k.ntaken = 0;
  r = kit_new(&k, NULL, NULL);
}
END_TEST

START_TEST(taking_may_fail_or_be_declined)
{
  k.take = true;
  k.fail_at = 1;
  ins(r, 10, 0, 100, "a");
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CALLBACK);
  kit_check(r);
  k.take = false;
  k.fail_at = 0;
  text_clear(&k.log);
  /* It is as if it had not been offered: what comes now belongs to it. */
  ck_assert_int_eq(twpa_reorder_distribute(r, &(twpa_record){.lsn = 110, .xid = 9}, str("x")), TWPA_OK);
  ins(r, 10, 0, 110, "b");
  commit(r, 10, 110, 0, NULL);
  expect("begin 10\nins 10 @100 new=a\ninvalidate x\nins 10 @110 new=b\ncommit 10\ninvalidate x\n");
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder");
  TCase *t = tcase_create("examples");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, setup, fixture_teardown);
  tcase_add_test(t, interleaved);
  tcase_add_test(t, an_announcement_changes_nothing);
  tcase_add_test(t, every_kind);
  tcase_add_test(t, messages_at_once);
  tcase_add_test(t, begin_and_commit_order_differ);
  tcase_add_test(t, empty_transactions_are_silent);
  tcase_add_test(t, kinship_in_every_order);
  tcase_add_test(t, top_known_from_the_commit_only);
  tcase_add_test(t, late_kinship_lowers_the_restart_point);
  tcase_add_test(t, contradicting_kinship_is_refused);
  tcase_add_test(t, wrong_input_is_refused);
  tcase_add_test(t, ties_stay_in_order_of_arrival);
  tcase_add_test(t, aborts);
  tcase_add_test(t, abort_lists_a_stranger);
  tcase_add_test(t, abort_before_oldest_running);
  tcase_add_test(t, forgotten);
  tcase_add_test(t, origins_are_filtered);
  tcase_add_test(t, long_values);
  tcase_add_test(t, long_values_of_a_multi_insert);
  tcase_add_test(t, long_values_out_of_sequence);
  tcase_add_test(t, chunks_of_failed_deliveries_are_not_dropped);
  tcase_add_test(t, leftover_chunks_are_dropped);
  tcase_add_test(t, long_values_are_checked);
  tcase_add_test(t, speculative_inserts);
  tcase_add_test(t, confirmation_without_insert);
  tcase_add_test(t, progress_is_shown);
  tcase_add_test(t, a_failed_delivery_is_repeated);
  tcase_add_test(t, callbacks_cannot_feed);
  tcase_add_test(t, options_are_checked);
  tcase_add_test(t, streams_show_what_commits_show);
  tcase_add_test(t, taken);
  tcase_add_test(t, taken_outlives_its_owner);
  tcase_add_test(t, taking_may_fail_or_be_declined);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
