/* What a transaction tells of itself: inside the callbacks, taken, and after its buffer is gone. */
#include "support/runner.h"

#include <stdbool.h>
#include <twpa/twpa.h>

typedef struct consumer {
  twpa_txn *taken;
  bool take;
  int begun, changed, committed;
  int mark; /* its address is what is put onto the transaction */
} consumer;

static void look(const twpa_txn *txn)
{
  ck_assert_uint_eq(twpa_txn_xid(txn), 100);
  ck_assert_uint_eq(twpa_txn_top_xid(txn), 100);
  ck_assert_uint_eq(twpa_txn_first_lsn(txn), 1000);
  ck_assert_uint_eq(twpa_txn_final_lsn(txn), 1300);
  ck_assert_uint_eq(twpa_txn_end_lsn(txn), 1350);
  ck_assert_int_eq(twpa_txn_time(txn), 77);
  ck_assert_uint_eq(twpa_txn_origin(txn), 5);
  ck_assert_uint_eq(twpa_txn_origin_lsn(txn), 9000);
}

static int begin(void *user, twpa_txn *txn)
{
  consumer *c = user;
  look(txn);
  ck_assert_ptr_null(twpa_txn_user(txn));
  twpa_txn_set_user(txn, &c->mark);
  c->begun++;
  return TWPA_CALLBACK_OK;
}

static int change(void *user, twpa_txn *txn, const twpa_change *row)
{
  consumer *c = user;
  look(txn);
  ck_assert_ptr_eq(twpa_txn_user(txn), &c->mark);
  ck_assert_uint_eq(row->xid, c->changed == 0 ? 100 : 101);
  c->changed++;
  return TWPA_CALLBACK_OK;
}

static int commit(void *user, twpa_txn *txn)
{
  consumer *c = user;
  look(txn);
  ck_assert_ptr_eq(twpa_txn_user(txn), &c->mark);
  c->committed++;
  return TWPA_CALLBACK_OK;
}

static int take(void *user, twpa_txn *txn)
{
  consumer *c = user;
  if (!c->take)
    return TWPA_CALLBACK_DECLINED;
  c->taken = txn;
  return TWPA_CALLBACK_OK;
}

static const twpa_output output = {
  TWPA_OUTPUT_INIT, .begin = begin, .change = change, .commit = commit, .take = take};

/* Transaction 100 with subtransaction 101, a row each, committed at 1300. */
static twpa_reorder *feed(consumer *c)
{
  twpa_reorder *reorder;
  const twpa_change row = {.kind = TWPA_INSERT, .new_row = {"row", 3}};
  const twpa_commit end = {.time = 77, .origin_lsn = 9000};
  const twpa_record records[] = {{.lsn = 1000, .end_lsn = 1050, .xid = 100},
                                 {.lsn = 1100, .end_lsn = 1150, .xid = 101, .top_xid = 100},
                                 {.lsn = 1300, .end_lsn = 1350, .xid = 100, .origin = 5}};
  ck_assert_int_eq(twpa_reorder_new(&reorder, NULL, &output, c, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_reorder_queue(reorder, &records[0], &row), TWPA_OK);

  twpa_txn *open = twpa_reorder_find(reorder, 100);
  ck_assert_ptr_nonnull(open);
  ck_assert_uint_eq(twpa_txn_final_lsn(open), 0);
  ck_assert_uint_eq(twpa_txn_end_lsn(open), 0);
  ck_assert_uint_eq(twpa_txn_origin_lsn(open), 0);
  ck_assert_ptr_null(twpa_txn_user(open));

  ck_assert_int_eq(twpa_reorder_queue(reorder, &records[1], &row), TWPA_OK);
  ck_assert_uint_eq(twpa_txn_changes(open), 2);
  ck_assert_uint_eq(twpa_txn_top_xid(twpa_reorder_find(reorder, 101)), 100);
  ck_assert_int_eq(twpa_reorder_commit(reorder, &records[2], &end), TWPA_OK);
  return reorder;
}

START_TEST(callbacks_see_it_whole)
{
  consumer c = {.take = false};
  twpa_reorder_free(feed(&c));
  ck_assert_int_eq(c.begun, 1);
  ck_assert_int_eq(c.changed, 2);
  ck_assert_int_eq(c.committed, 1);
}
END_TEST

START_TEST(a_taken_one_outlives_its_buffer)
{
  consumer c = {.take = true};
  twpa_reorder_free(feed(&c));
  ck_assert_int_eq(c.begun, 0);
  look(c.taken);
  ck_assert_ptr_null(twpa_txn_user(c.taken));
  twpa_txn_set_user(c.taken, &c);
  for (int round = 0; round < 2; round++) {
    twpa_change row;
    for (unsigned i = 0; i < 2; i++) {
      ck_assert_int_eq(twpa_txn_next(c.taken, &row), TWPA_OK);
      ck_assert_uint_eq(row.xid, 100 + i);
      ck_assert_uint_eq(row.new_row.len, 3);
      ck_assert_mem_eq(row.new_row.data, "row", 3);
    }
    ck_assert_int_eq(twpa_txn_next(c.taken, &row), TWPA_NONE);
    ck_assert_int_eq(twpa_txn_rewind(c.taken), TWPA_OK);
    ck_assert_ptr_eq(twpa_txn_user(c.taken), &c);
  }
  twpa_txn_release(c.taken);
  twpa_txn_release(NULL);
}
END_TEST

/* The rule of types.h: what returns no status returns 0 or NULL, or does nothing. The whole library's are here. */
START_TEST(nothing_is_asked_of_nobody)
{
  ck_assert_uint_eq(twpa_txn_xid(NULL), 0);
  ck_assert_uint_eq(twpa_txn_top_xid(NULL), 0);
  ck_assert_uint_eq(twpa_txn_first_lsn(NULL), 0);
  ck_assert_uint_eq(twpa_txn_final_lsn(NULL), 0);
  ck_assert_uint_eq(twpa_txn_end_lsn(NULL), 0);
  ck_assert_int_eq(twpa_txn_time(NULL), 0);
  ck_assert_uint_eq(twpa_txn_origin(NULL), 0);
  ck_assert_uint_eq(twpa_txn_origin_lsn(NULL), 0);
  ck_assert_uint_eq(twpa_txn_restart_lsn(NULL), 0);
  ck_assert_uint_eq(twpa_txn_command_id(NULL), 0);
  ck_assert_uint_eq(twpa_txn_catalog_lsn(NULL), 0);
  ck_assert_uint_eq(twpa_txn_changes(NULL), 0);
  ck_assert_ptr_null(twpa_txn_user(NULL));
  twpa_txn_set_user(NULL, NULL);
  twpa_txn_release(NULL);
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(NULL), 0);
  ck_assert_ptr_null(twpa_reorder_next_open(NULL, NULL));
  ck_assert_ptr_null(twpa_reorder_find(NULL, 10));
  ck_assert_int_eq(twpa_file_spill_errno(NULL), 0);
  ck_assert_ptr_null(twpa_relation_ref(NULL));
  ck_assert_uint_eq(twpa_relation_id(NULL), 0);
  twpa_plan_prefetch(NULL, NULL);
  ck_assert_uint_eq(twpa_plan_low_watermark(NULL), 0);
  ck_assert_int_eq(twpa_progress_is_applied(NULL, 10), 0);
  ck_assert_int_eq(twpa_scheduler_is_doomed(NULL, 1), 0);
  ck_assert_int_eq(twpa_scheduler_idle(NULL), 0);
  ck_assert_uint_eq(twpa_recording_count(NULL), 0);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("txn");
  TCase *tcase = tcase_create("accessors");
  tcase_add_test(tcase, callbacks_see_it_whole);
  tcase_add_test(tcase, a_taken_one_outlives_its_buffer);
  tcase_add_test(tcase, nothing_is_asked_of_nobody);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
