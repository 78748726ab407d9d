/*
 * What a transaction holds besides rows: commands, states of the catalog, row versions, invalidations. Wherever they
 * lie meanwhile, and however the transaction comes out, each row sees the same. And what it takes to give it out.
 */
#include "decode/fixture.h"

#include <stdlib.h>
#include <string.h>

static void command(twpa_xid xid, twpa_lsn lsn, twpa_cid id)
{
  change(r, xid, lsn, (twpa_change){.kind = TWPA_COMMAND, .command_id = id});
}

static void distribute(twpa_lsn lsn, const char *content)
{
  ck_assert_int_eq(twpa_reorder_distribute(r, &(twpa_record){.lsn = lsn, .xid = 9}, str(content)), TWPA_OK);
  kit_check(r);
}

static void new_cid(twpa_xid xid, twpa_lsn lsn, twpa_cid cmin)
{
  twpa_new_cid cid = {.top_xid = 10, .locator = {1, 2, 3}, .tid = {.block = 1, .line = 1}, .cmin = cmin,
                      .cmax = TWPA_CID_NONE, .combo_cid = TWPA_CID_NONE};
  ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = lsn, .xid = xid}, &cid), TWPA_OK);
  kit_check(r);
}

enum { TOLD_FIRST, TOLD_LATER, TOLD_AT_THE_END };
enum { IN_MEMORY, SPILLED, SPILLED_HALF, STREAMED, STREAMED_AT_ONCE, PREPARED, TAKEN, TAKEN_SPILLED, WAYS };

static twpa_xid top_if(int told, int when)
{
  return told == when || (told == TOLD_FIRST && when == TOLD_LATER) ? 10 : 0;
}

static void limit(size_t bytes)
{
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, bytes), TWPA_OK);
  kit_check(r);
}

/* Transaction 10 with subtransactions 11, 12 and 13; the last one is rolled back. */
static void tell(int told, int way)
{
  distribute(90, "before");
  ins(r, 10, 0, 100, "a");
  distribute(110, "x");
  if (told == TOLD_FIRST)
    ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 115), TWPA_OK);
  command(11, 120, 3);
  if (told != TOLD_AT_THE_END)
    new_cid(11, 125, 3); /* tells the kinship of 11 */
  ins(r, 11, 0, 130, "b");
  distribute(140, "");
  change(r, 11, 150, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("own")});
  command(10, 160, 2);
  ins(r, 10, 0, 170, "c");
  if (way == SPILLED_HALF)
    limit(1), limit(TWPA_MEMORY_UNLIMITED);
  command(13, 172, 0);
  ins(r, 13, top_if(told, TOLD_FIRST), 173, "gone");
  distribute(175, "y");
  abort_xid(r, 13, 180);
  command(11, 190, 7);
  ins(r, 12, top_if(told, TOLD_LATER), 200, "d");
  if (told == TOLD_AT_THE_END)
    new_cid(10, 205, 3);
  ins(r, 11, 0, 210, "e");
}

static void end(int way)
{
  static const twpa_xid subs[] = {11, 12};
  twpa_record record = {.lsn = 700, .end_lsn = 701, .xid = 10};
  twpa_commit said = {.subxids = subs, .nsubxids = 2};
  if (way == STREAMED_AT_ONCE)
    limit(1);
  if (way != PREPARED) {
    commit(r, 10, 700, 2, subs);
    kit_walk_taken(&k, NULL, NULL);
    return;
  }
  ck_assert_int_eq(twpa_reorder_prepare(r, &record, &said, str("g")), TWPA_OK);
  ck_assert_int_eq(twpa_reorder_commit_prepared(r, &record, &said, str("g")), TWPA_OK);
}

static const char *const seen = "commit 10\n"
                                "ins 10 @100 new=a sees 0 90 3\n"
                                "ins 11 @130 new=b sees 3 110 3\n"
                                "ins 10 @170 new=c sees 3 140 3\n"
                                "ins 12 @200 new=d sees 7 175 3\n"
                                "ins 11 @210 new=e sees 7 175 3\n";

/* What is streamed row by row does not know yet what comes later. */
static const char *const seen_early = "commit 10\n"
                                      "ins 10 @100 new=a sees 0 90 -1\n"
                                      "ins 11 @130 new=b sees 3 110 3\n"
                                      "ins 10 @170 new=c sees 3 140 3\n"
                                      "ins 12 @200 new=d sees 7 175 3\n"
                                      "ins 11 @210 new=e sees 7 175 3\n";

START_TEST(every_row_sees_the_same)
{
  for (int told = TOLD_FIRST; told <= TOLD_AT_THE_END; told++) {
    for (int way = 0; way < WAYS; way++) {
      bool streams = way == STREAMED || way == STREAMED_AT_ONCE;
      if ((way == STREAMED && told != TOLD_FIRST) || (way == STREAMED_AT_ONCE && told == TOLD_AT_THE_END))
        continue;
      size_t bytes = way == SPILLED || way == STREAMED || way == TAKEN_SPILLED ? 1 : TWPA_MEMORY_UNLIMITED;
      r = fixture_make(bytes, streams, way == PREPARED);
      k.take = way == TAKEN || way == TAKEN_SPILLED;
      k.show_view = true;
      tell(told, way);
      end(way);
      ck_assert_str_eq(text_get(&k.result), way == STREAMED ? seen_early : seen);
      /* Invalidations come in their places too; what was before the first change concerns nobody. */
      ck_assert_ptr_null(strstr(text_get(&k.log), "before"));
      if (!streams && !k.take)
        ck_assert_ptr_nonnull(strstr(text_get(&k.log), "invalidate x\nins 11"));
      ck_assert_uint_eq(kit_stats(r).tuplecids, 0);
      fixture_again();
    }
  }
}
END_TEST

/* Between blocks a transaction tells what the next change will see, others' changes in between apart. */
START_TEST(view_between_blocks)
{
  r = fixture_make(1, true, false);
  distribute(90, "before");
  ck_assert_int_eq(twpa_reorder_touch(r, &(twpa_record){.lsn = 95, .xid = 10}), TWPA_OK);
  const twpa_txn *txn = twpa_reorder_find(r, 10);
  ck_assert_uint_eq(twpa_txn_catalog_lsn(txn), 0);
  ins(r, 10, 0, 100, "a");
  ck_assert_uint_eq(twpa_txn_catalog_lsn(txn), 90);
  command(10, 110, 4);
  distribute(120, "x");
  ins(r, 10, 0, 130, "b");
  ck_assert_uint_eq(twpa_txn_command_id(txn), 4);
  ck_assert_uint_eq(twpa_txn_catalog_lsn(txn), 120);
  abort_xid(r, 10, 140);
}
END_TEST

START_TEST(row_versions_are_limited)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .tuplecids_max = 2};
  r = kit_new(&k, &options, NULL);
  twpa_new_cid cid = {.top_xid = 10, .cmin = 1, .cmax = TWPA_CID_NONE};
  for (twpa_xid xid = 10; xid < 13; xid++)
    ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = 100, .xid = xid}, &cid),
                     xid < 12 ? TWPA_OK : TWPA_E_LIMIT);
  kit_check(r);
  ck_assert_ptr_null(twpa_reorder_find(r, 12));
  abort_xid(r, 11, 110);
  ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = 120, .xid = 12}, &cid), TWPA_OK);
  abort_xid(r, 10, 130);
  ck_assert_uint_eq(kit_stats(r).tuplecids, 0);
}
END_TEST

/* The restart point is the one of the oldest transaction, and a late sub that is older lowers it. */
START_TEST(restart_points)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  ck_assert_uint_eq(twpa_reorder_restart_lsn(r), 0);
  ck_assert_uint_eq(twpa_reorder_restart_lsn(NULL), 0);
  ins(r, 11, 0, 100, "before anything was saved");
  ck_assert_int_eq(twpa_reorder_set_restart_lsn(r, 100), TWPA_OK);
  ck_assert_int_eq(twpa_reorder_set_restart_lsn(r, 99), TWPA_E_STATE);
  ins(r, 20, 0, 110, "x");
  ck_assert_int_eq(twpa_reorder_set_restart_lsn(r, 120), TWPA_OK);
  ck_assert_uint_eq(twpa_reorder_restart_lsn(r), 0);
  ins(r, 10, 0, 130, "top");
  ck_assert_uint_eq(twpa_txn_restart_lsn(twpa_reorder_find(r, 10)), 120);
  ck_assert_uint_eq(twpa_txn_restart_lsn(twpa_reorder_find(r, 20)), 100);
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 140), TWPA_OK);
  kit_check(r);
  ck_assert_uint_eq(twpa_txn_restart_lsn(twpa_reorder_find(r, 10)), 0);
  commit(r, 10, 150, 0, NULL);
  ck_assert_uint_eq(twpa_reorder_restart_lsn(r), 100);
  commit(r, 20, 160, 0, NULL);
  ck_assert_uint_eq(twpa_reorder_restart_lsn(r), 120);
}
END_TEST

/* --- what a delivery takes --- */

static faultmem memory;
static uint64_t highest;
static size_t sampled;

static int sample(void *user, twpa_txn *txn, const twpa_change *c)
{
  (void)user;
  (void)txn;
  (void)c;
  twpa_reorder_counters now = kit_stats(r);
  ck_assert_uint_eq(now.total_bytes, memory.live_bytes);
  ck_assert_uint_le(now.memory_bytes, now.total_bytes);
  if (now.memory_bytes > highest)
    highest = now.memory_bytes;
  sampled++;
  return 0;
}

static twpa_reorder *make_sampled(size_t limit)
{
  static twpa_allocator mem;
  mem = faultmem_init(&memory, 0, false);
  highest = sampled = 0;
  k.output.change = sample;
  k.output.message = NULL;
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = limit};
  return kit_new(&k, &options, &mem);
}

/* Restored blocks count while they are held: one of each subtransaction with changes in storage, and no more. */
START_TEST(restored_blocks_are_counted)
{
  enum { SUBS = 20, ROWS = 2000, LIMIT = 40000 };
  r = make_sampled(LIMIT);
  twpa_xid subs[SUBS];
  for (twpa_xid i = 0; i < SUBS; i++)
    subs[i] = 11 + i;
  for (int round = 0; round < 4; round++)
    for (twpa_xid i = 0; i < SUBS; i++)
      fill(subs[i], 10, 100, ROWS / 4);
  fill(99, 0, 100, 100); /* somebody else, in memory */
  uint64_t before = kit_stats(r).memory_bytes, largest = 0, stored = 0;
  ck_assert_uint_lt(before, LIMIT);
  for (int i = 0; i < SUBS; i++) {
    const twpa_txn *sub = twpa_reorder_find(r, subs[i]);
    stored += sub->nsegments;
    for (size_t n = 0; n < sub->nsegments; n++)
      largest = sub->segments[n].bytes > largest ? sub->segments[n].bytes : largest;
  }
  commit(r, 10, 110, SUBS, subs);
  ck_assert_uint_eq(sampled, SUBS * ROWS);
  ck_assert_uint_eq(kit_stats(r).restored_blocks, stored);
  ck_assert_uint_gt(highest, before + largest);
  ck_assert_uint_le(highest, before + SUBS * (largest + 200));
  /* Nothing is left of it. */
  ck_assert_uint_lt(kit_stats(r).memory_bytes, LIMIT);
  ck_assert_uint_le(r->walk.mem.live_bytes, TWPA__WALK_KEPT);
  abort_xid(r, 99, 120);
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
}
END_TEST

/* What has been read to its end is given up: subtransactions one after the other take no more than one. */
START_TEST(restored_blocks_are_given_up)
{
  r = make_sampled(1);
  twpa_xid subs[20];
  for (twpa_xid i = 0; i < 20; i++) {
    subs[i] = 11 + i;
    fill(subs[i], 10, 100 + i, 3);
  }
  size_t largest = twpa_reorder_find(r, 11)->segments[0].bytes;
  commit(r, 10, 200, 20, subs);
  ck_assert_uint_le(highest, 2 * largest + 20 * (sizeof(twpa__source) + sizeof(twpa__merge_slot)) * 2 + 512);
}
END_TEST

/* Long values count until their row has been given out; so does a speculative insert that waits. */
START_TEST(long_values_are_counted)
{
  static char piece[2001];
  memset(piece, 'x', sizeof piece - 1);
  r = make_sampled(TWPA_MEMORY_UNLIMITED);
  for (uint32_t i = 0; i < 100; i++)
    toast(r, 10, 100, 1, i, piece);
  ins(r, 10, 0, 110, "row");
  uint64_t held = kit_stats(r).memory_bytes;
  commit(r, 10, 120, 0, NULL);
  ck_assert_uint_ge(highest, held + 200000);
  ck_assert_uint_le(highest, held + 2 * 200000 + 4096); /* an array grows by doubling */
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  highest = 0;
  change(r, 11, 130, (twpa_change){.kind = TWPA_SPEC_INSERT, .new_row = str(piece)});
  ins(r, 11, 0, 140, "between");
  change(r, 11, 150, (twpa_change){.kind = TWPA_SPEC_CONFIRM});
  held = kit_stats(r).memory_bytes;
  commit(r, 11, 160, 0, NULL);
  ck_assert_uint_ge(highest, held + 2000);
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_internal");
  TCase *t = tcase_create("internal");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
  tcase_add_test(t, every_row_sees_the_same);
  tcase_add_test(t, view_between_blocks);
  tcase_add_test(t, row_versions_are_limited);
  tcase_add_test(t, restart_points);
  tcase_add_test(t, restored_blocks_are_counted);
  tcase_add_test(t, restored_blocks_are_given_up);
  tcase_add_test(t, long_values_are_counted);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
