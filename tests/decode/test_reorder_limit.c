/* Over the memory limit: spilling, streaming, dropping what is rolled back. */
#include "decode/fixture.h"

#include <stdlib.h>
#include <string.h>

/* --- spilling --- */

START_TEST(spilled_and_restored)
{
  r = fixture_make(1, false, false);
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 110, "b");
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  ck_assert_uint_eq(kit_stats(r).storage_segments, 2);
  ck_assert_uint_eq(kit_stats(r).storage_files, 1);
  message(r, 11, 110, "m", true);
  ins(r, 10, 0, 110, "c");
  commit(r, 10, 120, 1, (twpa_xid[]){11});
  expect("begin 10\nins 10 @100 new=a\nins 11 @110 new=b\nmsg 11 @110 m\nins 10 @110 new=c\ncommit 10\n");
  ck_assert_ptr_null(k.files);
  ck_assert_uint_eq(kit_stats(r).storage_bytes, 0);
  ck_assert_uint_eq(kit_stats(r).restored_blocks, 4);
  ck_assert_uint_eq(kit_stats(r).spilled_txns, 2);
}
END_TEST

/* --- the spill matrix --- */

/* Sizes of the top, of its first and of its second subtransaction; the second may be nested in the first. */
typedef struct spill_case {
  size_t sizes[3];
  bool rolled_back[3];
  bool early; /* rolled back before the last parts come */
  bool late;  /* the kinship is told by the end record */
  size_t limit;
} spill_case;

static void roll_back(const spill_case *c, twpa_lsn lsn)
{
  if (c->rolled_back[1] && c->rolled_back[2])
    ck_assert_int_eq(kit_abort(r, 11, lsn, (twpa_xid[]){12}, 1), TWPA_OK);
  else if (c->rolled_back[1] || c->rolled_back[2])
    abort_xid(r, c->rolled_back[1] ? 11 : 12, lsn);
  kit_check(r);
}

static void try_spill_case(const spill_case *c)
{
  static const unsigned parts[] = {0, 1, 2, 0, 1};
  text want = {0};
  twpa_xid subs[] = {11, 12};
  text_add(&want, "commit 10\n");
  r = fixture_make(c->limit, false, false);
  k.keep_log = false;
  for (unsigned i = 0; i < 5; i++) {
    unsigned who = parts[i];
    if (i == 3 && c->early)
      roll_back(c, 129);
    if (i == 4 && c->early && c->rolled_back[1])
      continue;
    fill(10 + who, who > 0 && !c->late ? 10 : 0, 100 + 10 * i, c->sizes[who]);
    for (size_t n = 0; n < c->sizes[who] && !c->rolled_back[who]; n++)
      text_add(&want, "ins %u @%u new=row\n", 10 + who, 100 + 10 * i);
  }
  if (!c->early)
    roll_back(c, 150);
  ins(r, 10, 0, 160, "last");
  text_add(&want, "ins 10 @160 new=last\n");
  commit(r, 10, 170, 2, subs);
  ck_assert_str_eq(text_get(&k.result), text_get(&want));
  ck_assert_uint_eq(kit_stats(r).memory_bytes + kit_stats(r).storage_bytes, 0);
  ck_assert_uint_eq(kit_stats(r).spilled_blocks > 0, kit_stats(r).limit_exceeded > 0);
  text_clear(&want);
  fixture_again();
}

/* Nothing, little or much of each; rolled back or not, early or late; nothing fits, some, or all. */
START_TEST(spill_matrix)
{
  static const size_t sizes[] = {0, 3, 60}, limits[] = {1, 3000, TWPA_MEMORY_UNLIMITED};
  for (int code = 0; code < 3 * 3 * 3 * 16; code++) {
    spill_case c = {.sizes = {sizes[code % 3], sizes[code / 3 % 3], sizes[code / 9 % 3]}, .limit = limits[_i]};
    int bits = code / 27;
    c.rolled_back[1] = bits & 1;
    c.rolled_back[2] = bits & 2;
    c.early = bits & 4;
    c.late = bits & 8;
    try_spill_case(&c);
  }
}
END_TEST

/* Only the sub is large; the tail of it in memory comes after what is in storage (a data loss in 2016). */
START_TEST(tail_of_a_spilled_sub)
{
  r = fixture_make(4000, false, false);
  fill(11, 10, 100, 100);
  ck_assert_uint_gt(kit_stats(r).storage_segments, 0);
  ins(r, 11, 10, 110, "tail");
  ins(r, 10, 0, 120, "top");
  commit(r, 10, 130, 1, (twpa_xid[]){11});
  ck_assert_ptr_nonnull(strstr(text_get(&k.log), "ins 11 @110 new=tail\nins 10 @120 new=top\ncommit 10\n"));
  ck_assert_uint_eq(count_word(text_get(&k.log), "ins 11"), 101);
}
END_TEST

START_TEST(damage_is_found)
{
  for (size_t where = 0; where < 200; where += 3) {
    r = fixture_make(1, false, false);
    ins(r, 10, 0, 100, "some row that is long enough");
    ck_assert_ptr_nonnull(k.files);
    size_t at = where % k.files->len;
    k.files->data[at] = (unsigned char)(k.files->data[at] ^ 1u << where % 8);
    ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CORRUPT);
    kit_check(r);
    k.files->data[at] = (unsigned char)(k.files->data[at] ^ 1u << where % 8);
    commit(r, 10, 110, 0, NULL);
    fixture_again();
  }
  r = fixture_make(1, false, false);
  ins(r, 10, 0, 100, "row");
  k.files->len--;
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CORRUPT);
  k.files->len++;
}
END_TEST

/* A block read from another place, or for another transaction, is damage too. */
START_TEST(misplaced_blocks_are_found)
{
  r = fixture_make(1, false, false);
  ins(r, 10, 0, 100, "same");
  ins(r, 11, 0, 100, "same");
  kit_file *f = k.files;
  ck_assert_uint_eq(kit_stats(r).storage_files, 1);
  size_t half = f->len / 2;
  unsigned char *first = malloc(f->len);
  ck_assert_ptr_nonnull(first);
  memcpy(first, f->data, f->len);
  memcpy(f->data, first + half, half);
  memcpy(f->data + half, first, half);
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CORRUPT);
  ck_assert_int_eq(kit_commit(r, 11, 110, NULL, 0), TWPA_E_CORRUPT);
  memcpy(f->data, first, f->len);
  free(first);
  commit(r, 10, 110, 0, NULL);
  commit(r, 11, 120, 0, NULL);
}
END_TEST

/* The limit is reached when the changes are as large as it. */
START_TEST(limit_is_inclusive)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  ins(r, 10, 0, 100, "a");
  size_t size = (size_t)kit_stats(r).memory_bytes;
  for (size_t more = 0; more < 2; more++) {
    fixture_again();
    r = fixture_make(size + more, false, false);
    ins(r, 10, 0, 100, "a");
    ck_assert_uint_eq(kit_stats(r).memory_bytes, more * size);
    ck_assert_uint_eq(kit_stats(r).limit_exceeded, 1 - more);
  }
}
END_TEST

START_TEST(limit_lowered_while_running)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  for (twpa_xid xid = 10; xid < 20; xid++)
    fill(xid, 0, 100, 50);
  ck_assert_uint_eq(kit_stats(r).storage_files, 0);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 9000), TWPA_OK);
  kit_check(r);
  ck_assert_uint_lt(kit_stats(r).memory_bytes, 9000);
  ck_assert_uint_eq(kit_stats(r).storage_files, 1);
  ck_assert_uint_gt(kit_stats(r).storage_segments, 5);
  for (twpa_xid xid = 10; xid < 20; xid++)
    commit(r, xid, 200, 0, NULL);
  ck_assert_uint_eq(count_word(text_get(&k.log), "ins "), 500);
}
END_TEST

/* Storage of a large sub goes with its rollback; that of small ones with the last block of the file. */
START_TEST(storage_goes_with_rollbacks)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  fill(11, 10, 100, 8000);
  fill(12, 10, 100, 10);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  ck_assert_uint_eq(kit_stats(r).storage_files, 2);
  abort_xid(r, 11, 110);
  ck_assert_uint_eq(kit_stats(r).storage_files, 1);
  abort_xid(r, 12, 110);
  ck_assert_uint_eq(kit_stats(r).storage_files, 0);
  ck_assert_ptr_null(k.files);
  abort_xid(r, 10, 120);
}
END_TEST

/* A removal that fails is no failure of the call, and is made up for. */
START_TEST(removal_is_tried_again)
{
  r = fixture_make(1, false, false);
  ins(r, 10, 0, 100, "a");
  k.store_fail_at = k.store_calls + 1;
  abort_xid(r, 10, 110);
  ck_assert_ptr_nonnull(k.files);
  ck_assert_uint_eq(kit_stats(r).storage_files, 1);
  k.store_fail_at = 0;
  ins(r, 11, 0, 120, "b"); /* into another file */
  ck_assert_uint_eq(kit_stats(r).storage_files, 2);
  abort_xid(r, 11, 130);
  ck_assert_uint_eq(kit_stats(r).storage_files, 0);
  ck_assert_ptr_null(k.files);
}
END_TEST

START_TEST(taken_from_storage)
{
  r = fixture_make(1, true, false);
  ck_assert_int_eq(twpa_reorder_set_streaming(r, 0), TWPA_OK);
  k.take = true;
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 100, "b");
  commit(r, 10, 110, 1, (twpa_xid[]){11});
  ck_assert_ptr_nonnull(k.files);
  kit_walk_taken(&k, NULL, NULL);
  ck_assert_ptr_null(k.files);
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @100 new=a\nins 11 @100 new=b\n");
}
END_TEST

/* --- what is rolled back already --- */

START_TEST(rolled_back_is_dropped_instead)
{
  r = fixture_make(4000, false, false);
  k.abort_by_status = true;
  k.aborted_xids[k.naborted++] = 10;
  fill(10, 0, 100, 500);
  ck_assert_uint_eq(kit_stats(r).spilled_blocks, 0);
  ck_assert_uint_lt(kit_stats(r).memory_bytes, 4000);
  ins(r, 10, 0, 110, "dropped on arrival");
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  /* The log must not contradict it. */
  ck_assert_int_eq(kit_commit(r, 10, 120, NULL, 0), TWPA_E_STATE);
  abort_xid(r, 10, 120);
  expect("");
}
END_TEST

/* What is known to be committed is not asked about again. */
START_TEST(committed_is_asked_once)
{
  r = fixture_make(1, false, false);
  k.committed_xid = 10;
  ins(r, 10, 0, 100, "a");
  ck_assert_uint_eq(k.status_calls, 1);
  ins(r, 10, 0, 110, "b");
  ck_assert_uint_eq(k.status_calls, 1);
  ins(r, 11, 0, 120, "c");
  ins(r, 11, 0, 130, "d");
  ck_assert_uint_gt(k.status_calls, 2);
  commit(r, 10, 140, 0, NULL);
  abort_xid(r, 11, 150);
}
END_TEST

/* A commit that lists one contradicts it. */
START_TEST(rolled_back_sub_is_committed)
{
  r = fixture_make(1, false, false);
  k.abort_by_status = true;
  k.aborted_xids[k.naborted++] = 11;
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 110, "b");
  ck_assert_int_eq(kit_commit(r, 10, 120, (twpa_xid[]){11}, 1), TWPA_E_STATE);
  kit_check(r);
  abort_xid(r, 11, 120);
  commit(r, 10, 130, 0, NULL);
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @100 new=a\n");
}
END_TEST

/* What a new subtransaction of a rolled-back one does is not wanted either. */
START_TEST(sub_of_a_rolled_back_top)
{
  r = fixture_make(4000, false, false);
  k.abort_by_status = true;
  k.aborted_xids[k.naborted++] = 10;
  fill(10, 0, 100, 200);
  ck_assert(twpa__txn_is(twpa_reorder_find(r, 10), TWPA__TXN_ABORTED));
  uint64_t queued = kit_stats(r).queued_changes;
  ins(r, 11, 10, 110, "dropped");
  ins(r, 11, 0, 120, "dropped");
  ck_assert_uint_eq(twpa_txn_changes(twpa_reorder_find(r, 10)), 0);
  ck_assert_uint_eq(kit_stats(r).queued_changes, queued);
  abort_xid(r, 10, 130);
  expect("");
}
END_TEST

/* Bug 19616: subs of a discarded top were marked as streamed, and a stream_abort came out of nothing. */
START_TEST(discarded_top_was_never_streamed)
{
  r = fixture_make(4000, true, false);
  k.abort_by_status = true;
  k.aborted_xids[k.naborted++] = 10;
  fill(10, 0, 100, 30);
  fill(11, 10, 110, 30);
  ck_assert_int_eq(kit_abort(r, 10, 120, (twpa_xid[]){11}, 1), TWPA_OK);
  expect("");
}
END_TEST

/* --- streaming --- */

START_TEST(streamed_row_by_row)
{
  r = fixture_make(1, true, false);
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 110, "b");
  ins(r, 20, 0, 115, "other");
  abort_xid(r, 11, 120);
  ins(r, 10, 0, 130, "c");
  commit(r, 10, 140, 0, NULL);
  abort_xid(r, 20, 150);
  ck_assert_uint_eq(k.abort_lsn, 151); /* where its record ends */
  expect("stream_start 10\nins 10 @100 new=a\nstream_stop 10\nstream_start 10\nins 11 @110 new=b\nstream_stop 10\n"
         "stream_start 20\nins 20 @115 new=other\nstream_stop 20\nstream_abort 10 11\n"
         "stream_start 10\nins 10 @130 new=c\nstream_stop 10\nstream_commit 10\nstream_abort 20 20\n");
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @100 new=a\nins 10 @130 new=c\n");
  ck_assert_uint_eq(kit_stats(r).streamed_txns, 2);
}
END_TEST

/* B01: rolling back a savepoint of a streamed transaction drops that savepoint, and those in it, only. */
START_TEST(savepoints_of_a_stream)
{
  r = fixture_make(4000, true, false);
  k.keep_log = false;
  fill(10, 0, 100, 500);
  fill(11, 10, 150, 500);
  fill(12, 10, 160, 500);
  fill(13, 10, 170, 500);
  ck_assert_int_eq(kit_abort(r, 12, 200, (twpa_xid[]){13}, 1), TWPA_OK);
  fill(10, 0, 210, 5);
  commit(r, 10, 220, 1, (twpa_xid[]){11});
  ck_assert_uint_eq(count_word(text_get(&k.result), "ins 10"), 505);
  ck_assert_uint_eq(count_word(text_get(&k.result), "ins 11"), 500);
  ck_assert_uint_eq(count_word(text_get(&k.result), "ins 1"), 1005);
}
END_TEST

/* O1: more changes than fit a batch were spilled, then streamed, then rolled back: the consumer must hear of it. */
START_TEST(abort_of_a_sub_streamed_from_storage)
{
  r = fixture_make(4000, true, false);
  ck_assert_int_eq(twpa_reorder_set_streaming(r, 0), TWPA_OK);
  k.keep_log = false;
  fill(11, 10, 100, 6000);
  fill(12, 10, 110, 1);
  ck_assert_uint_gt(kit_stats(r).storage_segments, 100);
  ck_assert_int_eq(twpa_reorder_set_streaming(r, 1), TWPA_OK);
  fill(12, 10, 120, 60);
  ck_assert_uint_eq(kit_stats(r).streamed_txns, 1);
  ck_assert_uint_eq(kit_stats(r).storage_segments, 0);
  k.keep_log = true;
  ck_assert_int_eq(kit_abort(r, 11, 130, (twpa_xid[]){12}, 1), TWPA_OK);
  expect("stream_abort 10 12\nstream_abort 10 11\n");
  ins(r, 10, 0, 140, "kept");
  commit(r, 10, 150, 0, NULL);
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @140 new=kept\n");
}
END_TEST

/* The other side: what had only invisible changes in a block is not aborted to the consumer. */
START_TEST(no_abort_for_what_was_not_delivered)
{
  r = fixture_make(1, true, false);
  ins(r, 10, 0, 100, "a");
  change(r, 11, 110, (twpa_change){.kind = TWPA_COMMAND, .command_id = 1});
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 110), TWPA_OK);
  ins(r, 10, 0, 120, "b");
  text_clear(&k.log);
  abort_xid(r, 11, 130);
  expect("");
  abort_xid(r, 10, 140);
  expect("stream_abort 10 10\n");
}
END_TEST

START_TEST(crash_of_a_streamed_transaction)
{
  r = fixture_make(1, true, false);
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 100, "a");
  text_clear(&k.log);
  k.abort_lsn = 1;
  ck_assert_int_eq(twpa_reorder_abort_before(r, 50), TWPA_OK);
  expect("stream_abort 10 11\nstream_abort 10 10\n");
  ck_assert_uint_eq(k.abort_lsn, 0);
}
END_TEST

/* An incomplete row is never torn apart: it is spilled, and streamed when it is complete. */
START_TEST(rows_are_not_torn_apart)
{
  r = fixture_make(1, true, false);
  toast(r, 10, 100, 1, 0, "abc");
  toast(r, 10, 101, 1, 1, "def");
  expect("");
  ck_assert_uint_eq(kit_stats(r).storage_segments, 2);
  ins(r, 10, 0, 102, "r^1=6");
  expect("stream_start 10\nins 10 @102 new=r^1=6 long=abcdef\nstream_stop 10\n");
  change(r, 10, 103, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s")});
  expect("");
  change(r, 10, 104, (twpa_change){.kind = TWPA_SPEC_CONFIRM});
  expect("stream_start 10\nins 10 @103 new=s\nstream_stop 10\n");
  toast(r, 10, 105, 1, 0, "abc");
  change(r, 10, 106, (twpa_change){.kind = TWPA_INSERT, .new_row = str("a^1=3"), .flags = TWPA_CHANGE_MORE});
  change(r, 10, 106, (twpa_change){.kind = TWPA_INSERT, .new_row = str("plain"), .flags = TWPA_CHANGE_MORE});
  expect("");
  change(r, 10, 106, (twpa_change){.kind = TWPA_INSERT, .new_row = str("b^1=3")});
  expect("stream_start 10\nins 10 @106 new=a^1=3 long=abc\nins 10 @106 new=plain\nins 10 @106 new=b^1=3 long=abc\n"
         "stream_stop 10\n");
  toast(r, 10, 107, 1, 0, "abc");
  change(r, 10, 108, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s")});
  change(r, 10, 109, (twpa_change){.kind = TWPA_SPEC_ABORT});
  ins(r, 10, 0, 110, "next");
  expect("stream_start 10\nins 10 @110 new=next\nstream_stop 10\n");
  toast(r, 10, 111, 1, 0, "abc");
  change(r, 10, 112, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s"), .flags = TWPA_CHANGE_MORE});
  change(r, 10, 113, (twpa_change){.kind = TWPA_SPEC_ABORT});
  message(r, 10, 114, "m", true);
  expect("stream_start 10\nmsg 10 @114 m\nstream_stop 10\n");
  commit(r, 10, 120, 0, NULL);
}
END_TEST

/* What had to be spilled because a row was incomplete is streamed with the rest of it, though it would fit now. */
START_TEST(completed_row_is_streamed)
{
  static char piece[9001];
  memset(piece, 'x', sizeof piece - 1);
  r = fixture_make(8000, true, false);
  toast(r, 10, 100, 1, 0, piece);
  ck_assert_uint_eq(kit_stats(r).storage_segments, 1);
  ins(r, 11, 0, 105, "other");
  ck_assert_uint_eq(kit_stats(r).streamed_txns, 0);
  ins(r, 10, 0, 110, "row");
  expect("stream_start 10\nins 10 @110 new=row\nstream_stop 10\n");
  ck_assert_uint_eq(kit_stats(r).storage_segments, 0);
  commit(r, 10, 120, 0, NULL);
  abort_xid(r, 11, 130);
}
END_TEST

/* O12: the sub with the incomplete row is rolled back: nothing holds up streaming any longer. */
START_TEST(incomplete_row_is_rolled_back)
{
  r = fixture_make(8000, true, false);
  fill(10, 0, 100, 20);
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 105), TWPA_OK);
  toast(r, 11, 110, 1, 0, "abc");
  abort_xid(r, 11, 120);
  expect("");
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  ck_assert_uint_eq(kit_stats(r).streamed_txns, 1);
  ck_assert_uint_eq(kit_stats(r).spilled_txns, 0);
  commit(r, 10, 130, 0, NULL);
}
END_TEST

/* The same where the host knows it before the log tells. */
START_TEST(incomplete_row_is_known_to_be_rolled_back)
{
  for (int speculative = 0; speculative < 2; speculative++) {
    r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
    k.abort_by_status = true;
    k.aborted_xids[k.naborted++] = 11;
    ins(r, 10, 0, 100, "a");
    ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 105), TWPA_OK);
    if (speculative)
      change(r, 11, 110, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s")});
    else
      toast(r, 11, 110, 1, 0, "abc");
    ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
    kit_check(r);
    expect("stream_start 10\nins 10 @100 new=a\nstream_stop 10\n");
    ck_assert_uint_eq(kit_stats(r).spilled_txns, 0);
    abort_xid(r, 11, 120);
    commit(r, 10, 130, 0, NULL);
    fixture_again();
  }
}
END_TEST

/* The largest is streamed, not the one that was touched last. */
START_TEST(the_largest_is_streamed)
{
  r = fixture_make(30000, true, false);
  k.keep_log = false;
  fill(10, 0, 100, 100);
  fill(11, 10, 100, 100);
  fill(20, 0, 100, 120);
  k.keep_log = true;
  while (kit_stats(r).streamed_txns == 0)
    fill(30, 0, 110, 1);
  ck_assert_int_eq(strncmp(text_get(&k.log), "stream_start 10\n", 16), 0);
  abort_xid(r, 10, 120);
}
END_TEST

/* Changes of catalogs, which nobody will see, are no reason to stream. */
START_TEST(quiet_changes_do_not_stream)
{
  r = fixture_make(1, true, false);
  change(r, 10, 100, (twpa_change){.kind = TWPA_DELETE, .flags = TWPA_CHANGE_QUIET});
  expect("");
  ins(r, 10, 0, 110, "a");
  expect("stream_start 10\ndel 10 @100\nins 10 @110 new=a\nstream_stop 10\n");
  abort_xid(r, 10, 120);
}
END_TEST

START_TEST(rolled_back_while_streaming)
{
  r = fixture_make(4000, true, false);
  k.abort_by_callback = true;
  k.aborted_xids[k.naborted++] = 11;
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 110, "b");
  ins(r, 11, 10, 120, "c");
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  expect("stream_start 10\nins 10 @100 new=a\nins 11 @110 new=b\nstream_stop 10\n");
  ins(r, 11, 10, 130, "dropped");
  abort_xid(r, 11, 140);
  expect("stream_abort 10 11\n");
  commit(r, 10, 150, 0, NULL);
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @100 new=a\n");
}
END_TEST

/* Outside of a stream or a prepare the same answer is a failure. */
START_TEST(rolled_back_at_the_wrong_place)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
  k.abort_by_callback = true;
  k.aborted_xids[k.naborted++] = 10;
  ins(r, 10, 0, 100, "a");
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CALLBACK);
  kit_check(r);
  k.naborted = 0;
  commit(r, 10, 110, 0, NULL);
}
END_TEST

/* O9: what was counted on the sub counts for the top, and may be streamed with it. */
START_TEST(late_kinship_is_merged)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
  ins(r, 11, 0, 100, "s");
  toast(r, 11, 105, 1, 0, "abc");
  change(r, 11, 106, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("i")});
  ck_assert_int_eq(twpa_reorder_touch(r, &(twpa_record){.lsn = 110, .xid = 10}), TWPA_OK);
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 120), TWPA_OK);
  kit_check(r);
  twpa_txn *top = twpa_reorder_find(r, 10);
  ck_assert(twpa__txn_is(top, TWPA__TXN_CONTENT) && twpa__txn_is(top, TWPA__TXN_STREAMABLE) &&
            twpa__txn_is(top, TWPA__TXN_CATALOG));
  ck_assert_uint_eq(top->toast_xid, 11);
  ck_assert_uint_eq(top->tree_bytes, kit_stats(r).memory_bytes);
  ins(r, 11, 0, 130, "r^1=3");
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  expect("stream_start 10\nins 11 @100 new=s\ninvalidate i\nins 11 @130 new=r^1=3 long=abc\nstream_stop 10\n"
         "invalidate i\n");
  commit(r, 10, 140, 1, (twpa_xid[]){11});
}
END_TEST

START_TEST(late_kinship_of_a_speculative_insert)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
  ins(r, 10, 0, 100, "t");
  change(r, 11, 110, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("s")});
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 120), TWPA_OK);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  kit_check(r);
  expect("");
  change(r, 11, 130, (twpa_change){.kind = TWPA_SPEC_CONFIRM});
  expect("stream_start 10\nins 10 @100 new=t\nins 11 @110 new=s\nstream_stop 10\n");
  /* Rolled back, it does not hold up the next. */
  change(r, 12, 140, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str("u")});
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 12, 140), TWPA_OK);
  abort_xid(r, 12, 150);
  ins(r, 10, 0, 160, "v");
  expect("stream_start 10\nins 10 @160 new=v\nstream_stop 10\n");
  commit(r, 10, 170, 1, (twpa_xid[]){11});
}
END_TEST

/* What was streamed under its own name cannot become a subtransaction, and nothing may come too late. */
START_TEST(too_late_kinship_is_refused)
{
  r = fixture_make(1, true, false);
  ins(r, 11, 0, 100, "s");
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 110), TWPA_E_STATE);
  abort_xid(r, 11, 110);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 5000), TWPA_OK);
  ins(r, 21, 0, 120, "s");
  fill(20, 0, 130, 100);
  ck_assert_int_eq(twpa_reorder_assign(r, 20, 21, 140), TWPA_E_STATE);
  kit_check(r);
  abort_xid(r, 20, 150);
}
END_TEST

/* O13: an empty sub of a spilled top is nothing special, whatever becomes of the top. */
START_TEST(empty_sub_of_a_spilled_top)
{
  for (int how = 0; how < 3; how++) {
    r = fixture_make(1, false, false);
    ins(r, 10, 0, 100, "a");
    ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 105), TWPA_OK);
    ins(r, 10, 0, 110, "b");
    ck_assert_uint_eq(kit_stats(r).spilled_txns, 1);
    if (how == 0)
      ck_assert_int_eq(twpa_reorder_abort_before(r, 99), TWPA_OK);
    else if (how == 1)
      commit(r, 10, 120, 1, (twpa_xid[]){11});
    else
      ins(r, 11, 10, 120, "c");
    ck_assert_uint_eq(kit_stats(r).spilled_txns, how == 2 ? 2 : 1);
    fixture_again();
  }
}
END_TEST

/* The origin of a block is that of its first change, or, where that has none, of an earlier block. */
START_TEST(origin_of_a_stream)
{
  r = fixture_make(1, true, false);
  static const uint32_t origins[] = {4, 0, 5}, want[] = {4, 4, 5};
  for (int i = 0; i < 3; i++) {
    twpa_record record = {.lsn = 100, .xid = 10, .origin = origins[i]};
    ck_assert_int_eq(twpa_reorder_queue(r, &record, &(twpa_change){.kind = TWPA_INSERT, .new_row = str("a")}), TWPA_OK);
    ck_assert_uint_eq(twpa_txn_origin(twpa_reorder_find(r, 10)), want[i]);
  }
  abort_xid(r, 10, 120);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_limit");
  TCase *t = tcase_create("limit");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
  tcase_add_test(t, spilled_and_restored);
  tcase_add_loop_test(t, spill_matrix, 0, 3);
  tcase_add_test(t, tail_of_a_spilled_sub);
  tcase_add_test(t, damage_is_found);
  tcase_add_test(t, misplaced_blocks_are_found);
  tcase_add_test(t, limit_is_inclusive);
  tcase_add_test(t, limit_lowered_while_running);
  tcase_add_test(t, storage_goes_with_rollbacks);
  tcase_add_test(t, removal_is_tried_again);
  tcase_add_test(t, taken_from_storage);
  tcase_add_test(t, rolled_back_is_dropped_instead);
  tcase_add_test(t, committed_is_asked_once);
  tcase_add_test(t, rolled_back_sub_is_committed);
  tcase_add_test(t, sub_of_a_rolled_back_top);
  tcase_add_test(t, discarded_top_was_never_streamed);
  tcase_add_test(t, streamed_row_by_row);
  tcase_add_test(t, savepoints_of_a_stream);
  tcase_add_test(t, abort_of_a_sub_streamed_from_storage);
  tcase_add_test(t, no_abort_for_what_was_not_delivered);
  tcase_add_test(t, crash_of_a_streamed_transaction);
  tcase_add_test(t, rows_are_not_torn_apart);
  tcase_add_test(t, completed_row_is_streamed);
  tcase_add_test(t, incomplete_row_is_rolled_back);
  tcase_add_test(t, incomplete_row_is_known_to_be_rolled_back);
  tcase_add_test(t, the_largest_is_streamed);
  tcase_add_test(t, quiet_changes_do_not_stream);
  tcase_add_test(t, rolled_back_while_streaming);
  tcase_add_test(t, rolled_back_at_the_wrong_place);
  tcase_add_test(t, late_kinship_is_merged);
  tcase_add_test(t, late_kinship_of_a_speculative_insert);
  tcase_add_test(t, too_late_kinship_is_refused);
  tcase_add_test(t, empty_sub_of_a_spilled_top);
  tcase_add_test(t, origin_of_a_stream);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
