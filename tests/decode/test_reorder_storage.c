/* Which file of the storage a transaction is spilled into, and when that goes. */
#include "decode/fixture.h"

#include <stdlib.h>
#include <string.h>

#define SHARED ((size_t)1 << 20) /* where a shared file is closed */
#define SMALL ((size_t)256 << 10) /* from here on a transaction has a file of its own */

static size_t files_now(void)
{
  return (size_t)kit_stats(r).storage_files;
}

static uint64_t file_of(twpa_xid xid)
{
  const twpa_txn *txn = twpa_reorder_find(r, xid);
  return txn->segments[txn->nsegments - 1].file->id;
}

static bool is_shared(twpa_xid xid)
{
  const twpa_txn *txn = twpa_reorder_find(r, xid);
  return txn->segments[txn->nsegments - 1].file->owner == NULL;
}

/* Spills what is in memory. */
static void spill_all(void)
{
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, TWPA_MEMORY_UNLIMITED), TWPA_OK);
  kit_check(r);
}

static void big_row(twpa_xid xid, twpa_xid top, twpa_lsn lsn, size_t len)
{
  char *row = malloc(len + 1);
  ck_assert_ptr_nonnull(row);
  memset(row, 'r', len);
  row[len] = '\0';
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, xid, top, lsn, row), TWPA_OK);
  free(row);
}

START_TEST(many_small_ones_are_few_files)
{
  enum { TXNS = 1000, BYTES = 4000 };
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  for (twpa_xid i = 0; i < TXNS; i++)
    big_row(10 + i, 0, 100 + i, BYTES);
  spill_all();
  uint64_t stored = kit_stats(r).storage_bytes;
  ck_assert_uint_ge(stored, TXNS * BYTES);
  ck_assert_uint_eq(files_now(), stored / SHARED + 1);
  /* Those of the first file end, one way and the other; the file goes with the last of them. */
  uint64_t first = file_of(10);
  size_t before = files_now();
  twpa_xid last = 10;
  while (file_of(last + 1) == first)
    last++;
  for (twpa_xid xid = 11; xid <= last; xid++) {
    ck_assert_uint_eq(files_now(), before);
    if (xid % 2 == 0)
      commit(r, xid, 2000 + xid, 0, NULL);
    else
      abort_xid(r, xid, 2000 + xid);
  }
  ck_assert_uint_eq(files_now(), before);
  commit(r, 10, 5000, 0, NULL);
  ck_assert_uint_eq(files_now(), before - 1);
  for (twpa_xid xid = last + 1; xid < 10 + TXNS; xid++)
    abort_xid(r, xid, 5000 + xid);
  ck_assert_uint_eq(files_now() + kit_stats(r).storage_bytes, 0);
  ck_assert_ptr_null(k.files);
  ck_assert_uint_eq(count_word(text_get(&k.log), "ins "), (last - 10) / 2 + 1);
}
END_TEST

/* It comes back to storage again and again, while others come and go: one shared file at most is kept for it. */
START_TEST(a_long_one_keeps_one_shared_file)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  twpa_lsn lsn = 100;
  twpa_xid xid = 20;
  size_t most = 0;
  for (int round = 0; round < 12; round++) {
    ins(r, 10, 0, lsn++, "a");
    ins(r, 11, 10, lsn++, "b");
    for (int i = 0; i < 4; i++, xid++)
      big_row(xid, 0, lsn++, SMALL / 3 * 2);
    spill_all();
    ck_assert(is_shared(xid - 1));
    for (twpa_xid other = xid - 4; other < xid; other++)
      commit(r, other, lsn++, 0, NULL);
    size_t bytes = 0, files = 0;
    for (const kit_file *f = k.files; f != NULL; f = f->next, files++) {
      ck_assert_uint_lt(f->len, SHARED + SMALL);
      bytes += f->len;
    }
    ck_assert_uint_eq(files, files_now());
    most = files > most ? files : most;
    /* The one that it began in, and the one of its own. The open one goes with those that were in it. */
    ck_assert_uint_le(files, 2);
    ck_assert_uint_lt(bytes, SHARED + SMALL + 12 * 400);
  }
  ck_assert_uint_eq(most, 2);
  ck_assert(!is_shared(10) && !is_shared(11));
  ck_assert(twpa_reorder_find(r, 10)->segments[0].file->owner == NULL);
  abort_xid(r, 11, lsn++);
  commit(r, 10, lsn++, 0, NULL);
  ck_assert_uint_eq(files_now(), 0);
  ck_assert_uint_eq(count_word(text_get(&k.result), "ins 10"), 12);
  ck_assert_uint_eq(count_word(text_get(&k.result), "ins 11"), 0);
}
END_TEST

/* A tree that is large has a file of its own, whatever the size of its subtransactions; a large one of these too. */
START_TEST(large_ones_have_their_own)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  for (twpa_xid i = 0; i < 20; i++)
    big_row(11 + i, 10, 100 + i, SMALL / 10);
  ins(r, 50, 0, 150, "small");
  big_row(60, 0, 160, SMALL);
  ins(r, 70, 0, 170, "top of a large one");
  big_row(71, 70, 170, SMALL);
  ins(r, 72, 70, 170, "and of a small one");
  spill_all();
  ck_assert(!is_shared(11) && is_shared(50) && !is_shared(60) && !is_shared(71));
  for (twpa_xid i = 1; i < 20; i++)
    ck_assert_uint_eq(file_of(11 + i), file_of(11));
  ck_assert_uint_ne(file_of(71), file_of(72));
  size_t files = files_now();
  ck_assert_uint_eq(files, 5 - is_shared(72));
  abort_xid(r, 71, 180);
  ck_assert_uint_eq(files_now(), files - 1);
  abort_xid(r, 60, 190);
  ck_assert_uint_eq(files_now(), files - 2);
  abort_xid(r, 50, 200);
  abort_xid(r, 70, 210);
  ck_assert_uint_eq(files_now(), 1);
  commit(r, 10, 220, 0, NULL);
  ck_assert_uint_eq(files_now(), 0);
}
END_TEST

/* Blocks of a subtransaction that was not known to be one stay where they are; those of it that follow go to the top. */
START_TEST(kinship_after_spilling)
{
  r = fixture_make(1, false, false);
  big_row(10, 0, 100, SMALL / 2);
  big_row(11, 0, 101, SMALL / 2);
  for (twpa_xid i = 0; i < 4; i++)
    big_row(20 + i, 0, 110 + i, SMALL - 10000); /* fills the file */
  ins(r, 11, 10, 120, "late");
  kit_check(r);
  ck_assert(!is_shared(11));
  ck_assert_uint_eq(file_of(11), twpa_reorder_find(r, 10)->file->id);
  ins(r, 10, 0, 121, "later");
  ck_assert_uint_eq(file_of(10), file_of(11));
  abort_xid(r, 11, 130);
  ck_assert_uint_eq(files_now(), 2);
  for (twpa_xid i = 0; i < 4; i++)
    abort_xid(r, 20 + i, 140 + i);
  ck_assert_uint_eq(files_now(), 2);
  commit(r, 10, 150, 0, NULL);
  ck_assert_uint_eq(files_now(), 0);
  ck_assert_uint_eq(count_word(text_get(&k.result), "ins 10"), 2);
}
END_TEST

/* --- blocks --- */

/* Those of a large transaction lie at the boundaries of large pages, whatever the size of the rows, with little waste. */
START_TEST(blocks_lie_well)
{
  const size_t boundary = 65536, lens[] = {50, 100, 333, 1000, 3000, 7000};
  for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
    k.keep_log = false;
    r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
    twpa_lsn lsn = 100;
    uint64_t held = 0;
    for (int round = 0; round < 3; round++) {
      size_t rows = 2500000 / (lens[i] + 40);
      for (size_t n = 0; n < rows; n++)
        big_row(10, 0, lsn, lens[i]);
      held += rows * (40 + (lens[i] + 7) / 8 * 8);
      lsn++;
      spill_all();
    }
    const twpa_txn *txn = twpa_reorder_find(r, 10);
    size_t well = 0;
    for (size_t n = 0; n < txn->nsegments; n++) {
      well += txn->segments[n].offset % boundary == 0;
      ck_assert_uint_le(txn->segments[n].bytes, boundary);
    }
    ck_assert_uint_ge(well * 10, txn->nsegments * 8);
    ck_assert_uint_le(kit_stats(r).storage_bytes, held + held / 10);
    ck_assert_int_eq(kit_commit(r, 10, lsn, NULL, 0), TWPA_OK);
    ck_assert_uint_eq(kit_stats(r).delivered_changes, 3 * (2500000 / (lens[i] + 40)));
    fixture_again();
  }
  r = fixture_make(1, false, false);
}
END_TEST

/* --- failures --- */

/* A write stops half-way; another transaction writes at that place; both come out whole. */
START_TEST(a_write_that_failed_is_written_over)
{
  for (int first = 0; first < 2; first++) {
    r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
    if (first == 0) {
      ins(r, 9, 0, 90, "before");
      spill_all();
    }
    big_row(10, 0, 100, 5000);
    k.store_fail_at = k.store_calls + 1;
    ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
    kit_check(r);
    ck_assert_uint_eq(files_now(), 1);
    size_t garbage = k.files->len;
    ck_assert_uint_gt(garbage, 2000);
    ck_assert_int_eq(twpa_reorder_set_memory_limit(r, TWPA_MEMORY_UNLIMITED), TWPA_OK);
    big_row(20, 0, 110, 7000); /* larger: it is spilled first */
    spill_all();
    ck_assert_uint_eq(files_now(), 1);
    ck_assert_uint_eq(file_of(10), file_of(20));
    ck_assert_uint_eq(k.files->len, kit_stats(r).storage_bytes);
    commit(r, 10, 120, 0, NULL);
    commit(r, 20, 130, 0, NULL);
    if (first == 0)
      commit(r, 9, 140, 0, NULL);
    ck_assert_uint_eq(files_now(), 0);
    ck_assert_uint_eq(count_word(text_get(&k.result), "ins "), first == 0 ? 3 : 2);
    fixture_again();
  }
  r = fixture_make(1, false, false);
}
END_TEST

/* A file that a failed write has left and nobody uses is removed when a transaction ends, whichever. */
START_TEST(nothing_is_left_of_a_failed_write)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 0, 110, "b");
  k.store_fail_at = k.store_calls + 1;
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, TWPA_MEMORY_UNLIMITED), TWPA_OK);
  ck_assert_ptr_nonnull(k.files);
  commit(r, 10, 120, 0, NULL);
  ck_assert_ptr_null(k.files);
  ck_assert_uint_eq(files_now(), 0);
  /* When the device is gone, what is kept for it does not grow. */
  k.store_fail_at = k.store_calls + 1;
  k.store_persistent = true;
  uint64_t held = 0;
  for (int i = 0; i < 50; i++) {
    ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
    kit_check(r);
    ck_assert_uint_eq(files_now(), 1);
    ck_assert(i == 0 || r->mem.live_bytes == held);
    held = r->mem.live_bytes;
  }
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, TWPA_MEMORY_UNLIMITED), TWPA_OK);
  commit(r, 11, 130, 0, NULL);
  ck_assert_uint_eq(files_now(), 1); /* left over */
  k.store_fail_at = 0;
  ins(r, 12, 0, 140, "c");
  spill_all();
  commit(r, 12, 150, 0, NULL);
  ck_assert_uint_eq(files_now(), 0);
  ck_assert_ptr_null(k.files);
}
END_TEST

static uint64_t stuck;    /* the file that cannot be removed */
static uint64_t hesitant; /* and one that cannot the first time */
static int (*remove_it)(void *user, uint64_t id);

static int remove_or_not(void *user, uint64_t id)
{
  if (id == stuck)
    return 5;
  if (id == hesitant) {
    hesitant = 0;
    return 5;
  }
  return remove_it(user, id);
}

/* One that never goes does not keep others, of which the removal has failed once, from going. */
START_TEST(a_file_that_stays_holds_up_no_other)
{
  remove_it = k.storage.remove;
  k.storage.remove = remove_or_not;
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  for (twpa_xid xid = 10; xid < 14; xid++)
    big_row(xid, 0, 90 + xid, SMALL);
  spill_all();
  ck_assert_uint_eq(files_now(), 4);
  stuck = file_of(10);
  hesitant = file_of(11);
  for (twpa_xid xid = 10; xid < 14; xid++)
    commit(r, xid, 200 + xid, 0, NULL);
  ck_assert_uint_eq(files_now(), 1);
  kit_check(r);
  stuck = 0;
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 20, 0, 300, "a"), TWPA_OK);
  spill_all();
  commit(r, 20, 310, 0, NULL);
  ck_assert_uint_eq(files_now(), 0);
}
END_TEST

/* Every call of the storage in turn; the outcome is the same, and nothing is left. */
START_TEST(every_call_fails_once)
{
  enum { TXNS = 12 };
  char *wanted = NULL;
  for (size_t fail = 0;; fail++) {
    r = fixture_make(20000, false, false);
    twpa_lsn lsn = 100;
    k.store_fail_at = fail;
    for (int round = 0; round < 5; round++)
      for (twpa_xid i = 0; i < TXNS; i++) {
        char row[600];
        memset(row, 'a' + (int)i, sizeof row - 1);
        row[sizeof row - 1] = '\0';
        twpa_xid top = i % 3 == 2 ? 9 + i : 0;
        twpa_status st = kit_row(r, TWPA_INSERT, 10 + i, top, lsn, row);
        kit_check(r);
        if (st != TWPA_OK) {
          ck_assert_int_eq(st, TWPA_E_CALLBACK);
          ck_assert_int_eq(kit_row(r, TWPA_INSERT, 10 + i, top, lsn, row), TWPA_OK);
        }
        lsn++;
      }
    for (twpa_xid i = 0; i < TXNS; i++) {
      if (i % 3 == 2)
        continue; /* a subtransaction of the one before */
      if (i % 4 == 1)
        abort_xid(r, 10 + i, lsn++);
      else if (kit_commit(r, 10 + i, lsn, NULL, 0) != TWPA_OK)
        commit(r, 10 + i, lsn, 0, NULL);
      lsn++;
      kit_check(r);
    }
    bool failed = fail > 0 && k.store_calls >= fail;
    ck_assert_uint_eq(kit_stats(r).storage_bytes + kit_stats(r).storage_segments, 0);
    ck_assert_uint_le(files_now(), failed); /* the last removal of all has nobody after it */
    if (wanted == NULL)
      wanted = strdup(text_get(&k.result));
    ck_assert(strcmp(text_get(&k.result), wanted) == 0);
    k.store_fail_at = 0;
    fixture_again();
    if (fail > 0 && !failed)
      break;
  }
  free(wanted);
  r = fixture_make(1, false, false);
}
END_TEST

/* What a spill has written before it failed is in storage, and the rest in memory; repeated, it goes on there. */
START_TEST(half_spilled)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  fill(10, 0, 100, 3000);
  uint64_t changes = twpa_txn_changes(twpa_reorder_find(r, 10));
  for (size_t n = 2;; n++) {
    k.store_fail_at = k.store_calls + n;
    twpa_status st = twpa_reorder_set_memory_limit(r, 1);
    kit_check(r);
    ck_assert_uint_eq(twpa_txn_changes(twpa_reorder_find(r, 10)), changes);
    if (st == TWPA_OK)
      break;
    ck_assert_int_eq(st, TWPA_E_CALLBACK);
    ck_assert_uint_gt(twpa_reorder_find(r, 10)->nmem, 0);
    ck_assert_uint_lt(twpa_reorder_find(r, 10)->nmem, changes);
  }
  k.store_fail_at = 0;
  ck_assert_uint_gt(kit_stats(r).storage_segments, 3);
  commit(r, 10, 200, 0, NULL);
  ck_assert_uint_eq(count_word(text_get(&k.log), "ins 10"), 3000);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_storage");
  TCase *t = tcase_create("files");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
  tcase_add_test(t, many_small_ones_are_few_files);
  tcase_add_test(t, a_long_one_keeps_one_shared_file);
  tcase_add_test(t, large_ones_have_their_own);
  tcase_add_test(t, kinship_after_spilling);
  tcase_add_test(t, blocks_lie_well);
  tcase_add_test(t, a_write_that_failed_is_written_over);
  tcase_add_test(t, nothing_is_left_of_a_failed_write);
  tcase_add_test(t, a_file_that_stays_holds_up_no_other);
  tcase_add_test(t, every_call_fails_once);
  tcase_add_test(t, half_spilled);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
