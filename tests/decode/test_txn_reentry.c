/*
 * Taken transactions inside callbacks: what may be given back there, and what is refused. The storage is that of the
 * kit, with a detour on the way.
 */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

#define ROW "a row of some length, so that a few of them do not fit into the memory that there is"

static kit k;
static twpa_reorder *r;
static twpa_storage plain; /* the kit's */
static twpa_txn *inside;   /* whose files are read or removed, for the detours */
static twpa_txn *other;    /* another one that is taken */
static size_t detours;
static bool freed; /* the buffer, by the host */
static bool fails; /* a write that has given one back */

/* Each is given back once only: files that could not be removed inside a removal are removed later. */
static void give_back(twpa_txn **txn)
{
  twpa_txn *self = *txn;
  *txn = NULL;
  twpa_txn_release(self);
}

static int read_hook(void *user, uint64_t file, uint64_t offset, void *data, size_t len)
{
  twpa_change c;
  ck_assert_int_eq(twpa_txn_next(inside, &c), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_txn_rewind(inside), TWPA_E_REENTRANT);
  twpa_txn_release(inside);
  give_back(&other);
  ck_assert_uint_eq(twpa_txn_xid(inside), 10);
  detours++;
  return plain.read(user, file, offset, data, len);
}

static int remove_hook(void *user, uint64_t file)
{
  twpa_record record = {.lsn = 100000, .xid = 50};
  twpa_status st = twpa_reorder_touch(r, &record);
  ck_assert(st == TWPA_E_REENTRANT || (st == TWPA_E_INVAL && freed));
  twpa_reorder_free(r);
  twpa_change c;
  ck_assert_int_eq(inside != NULL ? twpa_txn_next(inside, &c) : TWPA_E_STATE, TWPA_E_STATE);
  ck_assert_int_eq(inside != NULL ? twpa_txn_rewind(inside) : TWPA_E_STATE, TWPA_E_STATE);
  give_back(&inside); /* does nothing: it is being given back */
  give_back(&other);
  detours++;
  return plain.remove(user, file);
}

static int write_hook(void *user, uint64_t file, uint64_t offset, const void *data, size_t len)
{
  bool first = other != NULL;
  give_back(&other);
  detours += first;
  int result = plain.write(user, file, offset, data, len);
  return first && fails ? 1 : result;
}

static void setup(void)
{
  kit_init(&k);
  plain = k.storage;
  k.take = true;
  inside = other = NULL;
  detours = 0;
  freed = false;
  twpa_reorder_options o = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = 1, .distributed_bytes = 30, .storage = &k.storage};
  r = kit_new(&k, &o, NULL);
}

static void teardown(void)
{
  kit_free(&k);
}

/* The storage hooks are copied when a buffer is made. */
static void again_with(twpa_storage storage)
{
  twpa_reorder_options o = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = 1, .storage = &k.storage};
  twpa_reorder_free(r);
  k.storage = storage;
  r = kit_new(&k, &o, NULL);
}

/* A transaction that is large enough for a file of its own, in storage and taken. */
static twpa_txn *taken_large(twpa_xid xid, twpa_lsn lsn)
{
  static char row[(256 << 10) + 1];
  memset(row, 'r', sizeof row - 1);
  ins(r, xid, 0, lsn, row);
  commit(r, xid, lsn + 1, 0, NULL);
  ck_assert_uint_gt(k.ntaken, 0);
  return k.taken[--k.ntaken];
}

/* A transaction with a subtransaction, in storage and taken. */
static twpa_txn *taken(twpa_xid xid, twpa_lsn lsn)
{
  ins(r, xid, 0, lsn, ROW);
  ins(r, xid + 1, xid, lsn + 1, ROW);
  ins(r, xid, 0, lsn + 2, ROW);
  commit(r, xid, lsn + 3, 0, NULL);
  ck_assert_uint_gt(k.ntaken, 0);
  return k.taken[--k.ntaken];
}

static void walks(twpa_txn *txn, size_t n)
{
  twpa_change c;
  for (size_t i = 0; i < n; i++) {
    ck_assert_int_eq(twpa_txn_next(txn, &c), TWPA_OK);
    ck_assert_mem_eq(c.new_row.data, ROW, sizeof ROW - 1);
  }
  ck_assert_int_eq(twpa_txn_next(txn, &c), TWPA_NONE);
}

START_TEST(reading_does_not_walk_itself)
{
  twpa_storage s = plain;
  s.read = read_hook;
  again_with(s);
  inside = taken(10, 100);
  other = taken(20, 200);
  walks(inside, 3);
  ck_assert_uint_gt(detours, 0);
  ck_assert_int_eq(twpa_txn_rewind(inside), TWPA_OK);
  walks(inside, 3);
  twpa_txn_release(inside);
  kit_done(&k, r);
}
END_TEST

START_TEST(removing_gives_others_back)
{
  twpa_storage s = plain;
  s.remove = remove_hook;
  again_with(s);
  inside = taken_large(10, 100);
  other = taken_large(20, 200);
  twpa_txn_release(inside);
  ck_assert_ptr_null(other);
  ck_assert_uint_gt(detours, 0);
  twpa_record record = {.lsn = 100000, .xid = 50};
  ck_assert_int_eq(twpa_reorder_touch(r, &record), TWPA_OK); /* it is over */

  other = taken_large(70, 100100);
  ins(r, 80, 0, 100200, ROW);
  ins(r, 80, 0, 100201, ROW);
  abort_xid(r, 80, 100202);
  ck_assert_ptr_null(other);

  other = taken_large(90, 100300);
  ins(r, 92, 0, 100400, ROW);
  ins(r, 92, 0, 100401, ROW);
  freed = true;
  kit_done(&k, r); /* removes the files of 92, and 90 while it does */
  ck_assert_ptr_null(other);
}
END_TEST

/* What is given back was the last that was in the file. */
START_TEST(writing_gives_others_back)
{
  twpa_storage s = plain;
  s.write = write_hook;
  for (int round = 0; round < 2; round++) {
    again_with(s);
    fails = round > 0;
    other = taken(10, 100);
    uint64_t id = k.files->id;
    twpa_record record = {.lsn = 200, .xid = 20};
    twpa_change row = {.kind = TWPA_INSERT, .locator = {1, 2, 3}, .new_row = str(ROW)};
    ck_assert_int_eq(twpa_reorder_queue(r, &record, &row), fails ? TWPA_E_CALLBACK : TWPA_OK);
    ck_assert_ptr_null(other);
    kit_check(r);
    ck_assert_uint_eq(k.files->id, id);
    ck_assert_uint_eq(kit_stats(r).storage_segments, fails ? 0 : 1);
    ins(r, 20, 0, 201, ROW);
    k.take = false;
    commit(r, 20, 202, 0, NULL);
    k.take = true;
    ck_assert_ptr_null(k.files);
    ck_assert_uint_eq(kit_stats(r).storage_files, 0);
  }
  ck_assert_uint_eq(detours, 2);
  kit_done(&k, r);
}
END_TEST

START_TEST(the_last_one_takes_the_buffer_with_it)
{
  twpa_storage s = plain;
  s.remove = remove_hook;
  again_with(s);
  inside = taken_large(10, 100);
  other = taken_large(20, 200);
  twpa_reorder_free(r);
  freed = true;
  twpa_txn_release(inside);
  ck_assert_ptr_null(other);
  ck_assert_ptr_null(k.files);
}
END_TEST

/* --- a host that keeps only so many ------------------------------------------------------------------------------- */

#define KEEP 3

typedef struct cache {
  twpa_txn *kept[KEEP];
  size_t n, given_back;
} cache;

static int take_into_cache(void *user, twpa_txn *txn)
{
  cache *c = user;
  twpa_txn_release(txn); /* the one that is offered is left alone */
  twpa_txn **place = &c->kept[c->n++ % KEEP];
  c->given_back += *place != NULL;
  twpa_txn_release(*place);
  *place = txn;
  return TWPA_CALLBACK_OK;
}

START_TEST(a_bounded_cache_inside_take)
{
  cache c = {.n = 0};
  twpa_output output = {TWPA_OUTPUT_INIT, .take = take_into_cache};
  twpa_reorder_options o = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = 1, .storage = &k.storage};
  twpa_reorder *buffer;
  ck_assert_int_eq(twpa_reorder_new(&buffer, &o, &output, &c, NULL), TWPA_OK);
  for (twpa_xid xid = 10; xid < 30; xid++) {
    ins(buffer, xid, 0, xid * 100, ROW);
    ins(buffer, xid, 0, xid * 100 + 1, ROW);
    commit(buffer, xid, xid * 100 + 2, 0, NULL);
  }
  ck_assert_uint_eq(c.given_back, 20 - KEEP);
  for (size_t i = 0; i < KEEP; i++) {
    walks(c.kept[i], 2);
    twpa_txn_release(c.kept[i]);
  }
  kit_done(&k, buffer);
  kit_done(&k, r);
}
END_TEST

/* --- invalidations ------------------------------------------------------------------------------------------------ */

#define INVALIDATION "invalidation of some length"

static size_t reads; /* the hooks' user is the kit, which has hooks of its own */

static void give_back_and_read(void *user, twpa_bytes content)
{
  (void)user;
  twpa_txn_release(other);
  other = NULL;
  ck_assert_uint_eq(content.len, sizeof INVALIDATION - 1);
  ck_assert_mem_eq(content.data, INVALIDATION, content.len);
  reads++;
}

START_TEST(what_a_hook_is_given_outlives_a_release)
{
  reads = 0;
  kit_done(&k, r);
  k.hooks.invalidate = give_back_and_read;
  twpa_reorder_options o = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = 1, .distributed_bytes = 30};
  r = kit_new(&k, &o, NULL);
  other = taken(10, 100);
  ins(r, 20, 0, 200, ROW);
  for (twpa_lsn lsn = 210; lsn < 213; lsn++) { /* more than the limit, which holds when nothing is taken */
    twpa_record record = {.lsn = lsn, .xid = 5};
    ck_assert_int_eq(twpa_reorder_distribute(r, &record, str(INVALIDATION)), TWPA_OK);
  }
  ins(r, 20, 0, 220, ROW);
  k.take = false;
  commit(r, 20, 230, 0, NULL);
  ck_assert_uint_gt(reads, 0);
  ck_assert_ptr_null(other);
  kit_done(&k, r);
}
END_TEST

/* The newest one goes when a cache changes: after it was taken, but before its commit is over. */
static void give_back_the_newest(void *user, twpa_bytes content)
{
  (void)user;
  (void)content;
  ck_assert_uint_eq(k.ntaken, 1);
  twpa_txn_release(k.taken[0]);
  reads++;
}

START_TEST(what_is_just_being_taken_stays)
{
  reads = 0;
  kit_done(&k, r);
  k.hooks.invalidate = give_back_the_newest;
  twpa_reorder_options o = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = TWPA_MEMORY_UNLIMITED};
  r = kit_new(&k, &o, NULL);
  for (twpa_xid xid = 40; xid < 90; xid++) /* their records are kept for those that come */
    ins(r, xid, 0, xid, ROW);
  for (twpa_xid xid = 40; xid < 90; xid++)
    abort_xid(r, xid, 90);
  change(r, 10, 100, (twpa_change){.kind = TWPA_INVALIDATION, .content = str(INVALIDATION)});
  twpa_txn *txn = taken(10, 100);
  ck_assert_uint_eq(reads, 1);
  ck_assert_uint_eq(kit_stats(r).taken, 1);
  kit_check(r);
  twpa_change c;
  ck_assert_int_eq(twpa_txn_next(txn, &c), TWPA_OK);
  ck_assert_uint_eq(c.kind, TWPA_INVALIDATION);
  walks(txn, 3);
  twpa_txn_release(txn);
  ck_assert_uint_eq(kit_stats(r).taken, 0);
  kit_done(&k, r);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("txn_reentry");
  TCase *t = tcase_create("callbacks");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, reading_does_not_walk_itself);
  tcase_add_test(t, removing_gives_others_back);
  tcase_add_test(t, writing_gives_others_back);
  tcase_add_test(t, the_last_one_takes_the_buffer_with_it);
  tcase_add_test(t, a_bounded_cache_inside_take);
  tcase_add_test(t, what_a_hook_is_given_outlives_a_release);
  tcase_add_test(t, what_is_just_being_taken_stays);
  suite_add_tcase(suite, t);
  return run_suite(suite);
}
