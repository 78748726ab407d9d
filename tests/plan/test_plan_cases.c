/* The counterexamples of planning rules section 2 and reports of the field as permanent cases; barriers. */
#include "plan/plan.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* --- counterexamples of section 2 ---------------------------------------------------------------------------------- */

START_TEST(truncate_of_a_child_before_delete_of_the_parent) /* 2.1 */
{
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, &c, 1), TWPA_OK);
  uint64_t t1 = enter(plan, set);
  begin();
  delete_row(p, 1, N, 0);
  ck_assert(depends(plan, t1, enter(plan, set)));
}
END_TEST

START_TEST(horizon_is_not_forgotten_after_the_first_miss) /* 2.3 */
{
  open_plan((twpa_plan_options){.wide_bytes = 64, .table_bytes = 64});
  begin();
  insert(p, 2, N, 0);
  uint64_t t1 = enter(plan, set);
  for (int64_t k = 10; k < 30; k++) { /* pushes the entry of p 2 out */
    begin();
    insert(p, k, N, 0);
    enter(plan, set);
  }
  begin();
  insert(c, 1, 2, 0);
  uint64_t t2 = enter(plan, set);
  ck_assert(depends(plan, t1, t2));
  begin();
  insert(c, 3, 2, 0);
  ck_assert(depends(plan, t1, enter(plan, set)));
}
END_TEST

START_TEST(eviction_counts_readers) /* 2.4 */
{
  open_plan((twpa_plan_options){.wide_bytes = 64, .table_bytes = 64});
  begin();
  delete_row(c, 1, 2, 0);
  uint64_t t1 = enter(plan, set);
  for (int64_t k = 10; k < 30; k++)
    key_tx((twpa_key)k, TWPA_MODE_WRITE);
  begin();
  delete_row(p, 2, N, 0);
  ck_assert(depends(plan, t1, enter(plan, set)));
}
END_TEST

START_TEST(barrier_after_barrier) /* 2.5 */
{
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, &t, 1), TWPA_OK);
  insert(t, 2, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, &t, 1), TWPA_OK);
  ck_assert(depends(plan, t1, enter(plan, set)));
}
END_TEST

START_TEST(modes_follow_the_real_row_lock) /* 2.6 */
{
  begin();
  update(p, 1, 2, 0, 1, N, 0); /* a unique column changes: strong lock */
  uint64_t t1 = enter(plan, set);
  begin();
  insert(c, 2, 1, 0);
  uint64_t t2 = enter(plan, set);
  ck_assert(depends(plan, t1, t2));
  begin();
  update(p, 1, N, 0, 1, N, 5); /* a plain update: goes with readers */
  uint64_t t3 = enter(plan, set);
  ck_assert(!depends(plan, t2, t3));
  begin();
  insert(c, 3, 1, 0);
  uint64_t t4 = enter(plan, set);
  ck_assert(!depends(plan, t3, t4));
  ck_assert(!depends(plan, t2, t4));
  ck_assert(depends(plan, t1, t4));
}
END_TEST

START_TEST(rows_with_memory_are_exact) /* 2.2 */
{
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT, .memory_bytes = 4096});
  begin();
  insert(t, 0, 0, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  delete_row(t, 0, N, N);
  uint64_t t2 = enter(plan, set);
  ck_assert(depends(plan, t1, t2));
  begin();
  insert(t, 1, 0, 0); /* takes what t2 gives free: known through memory */
  ck_assert(depends(plan, t2, enter(plan, set)));
  begin();
  insert(t, 2, 7, 0); /* and this one does not wait */
  uint32_t n;
  enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(release_and_claim_on_one_index) /* 2.13: joins after taking, closes what was taken from */
{
  uint64_t before = 0;
  for (int64_t k = 0; k < 20; k++) {
    begin();
    update(t, k, N, N, k, 100 + k, 0);
    uint32_t n;
    uint64_t seq = enter_n(plan, set, &n);
    ck_assert_uint_eq(n, k > 0 ? 1 : 0);
    ck_assert(before == 0 || depends(plan, before, seq));
    before = seq;
  }
  for (uint64_t seq = 1; seq <= before; seq++) { /* a chain, not a cycle */
    done(seq);
    uint64_t next;
    ck_assert_int_eq(twpa_plan_next_ready(plan, &next), seq < before ? TWPA_OK : TWPA_NONE);
    ck_assert(seq == before || next == seq + 1);
  }
}
END_TEST

START_TEST(deferrable_unique_is_never_optimistic) /* 2.11 */
{
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_OPTIMISTIC});
  for (int deferrable = 0; deferrable < 2; deferrable++) {
    kit_begin(&kit, 10 + (uint64_t)deferrable, 3);
    kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
    kit_index(&kit, 2, COL1, 1, deferrable ? TWPA_INDEX_DEFERRABLE : 0);
    twpa_relation *rel = kit_make(&kit);
    begin();
    delete_row(rel, 1, N, N);
    uint64_t t1 = enter(plan, set);
    begin();
    insert(rel, 2, 5, 0);
    uint64_t t2 = enter(plan, set);
    ck_assert_int_eq(depends(plan, t1, t2), deferrable);
    twpa_relation_free(rel);
  }
}
END_TEST

START_TEST(skipped_transactions_leave_no_trust) /* 2.12 */
{
  begin();
  update(p, 2, 0, 0, 2, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  delete_row(p, 2, N, 0);
  uint64_t t2 = enter(plan, set);
  begin();
  insert(p, 1, 0, 0);
  uint64_t t3 = enter(plan, set);
  ck_assert(!depends(plan, t2, t3));
  ck_assert_int_eq(twpa_plan_complete(plan, t1, TWPA_DONE_SKIPPED), TWPA_OK);
  ck_assert(depends(plan, t2, t3));
  begin();
  update(p, 7, 7, 0, 7, 7, 1); /* old rows of p: a barrier until its schema changes */
  uint64_t t4 = enter(plan, set);
  ck_assert(depends(plan, t3, t4));
  twpa_report r = {.struct_size = TWPA_REPORT_INIT};
  ck_assert_int_eq(twpa_plan_report(plan, &r), TWPA_OK);
  ck_assert_uint_eq(r.fallbacks[TWPA_FALLBACK_DISTRUST], 1);
  begin();
  delete_row(c, 8, N, N); /* may refer to what the next one takes away, though its old row does not say that */
  uint64_t t5 = enter(plan, set);
  begin();
  delete_row(t, 8, N, N);
  uint64_t t6 = enter(plan, set);
  begin();
  update(p, 7, 7, 1, 7, 7, 0);
  uint64_t t7 = enter(plan, set);
  ck_assert(depends(plan, t5, t7) && !depends(plan, t6, t7));
}
END_TEST

/* A value made of a column that was sent and one that was not: after a skip it is another one than the full old row says,
   and may be held by a transaction that is older than the skipped one. */
START_TEST(skipped_transactions_change_what_unchanged_columns_are)
{
  kit_begin(&kit, 9, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL12, 2, 0);
  kit.desc.identity = TWPA_IDENTITY_FULL;
  twpa_relation *rel = kit_make(&kit);
  begin();
  delete_row(rel, 0, 0, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  update(rel, 2, 0, 1, 2, 1, N);
  uint64_t t2 = enter(plan, set);
  begin();
  update(rel, 2, 1, N, 2, SAME, 0); /* gives (1, 0), and (0, 0) if t2 is skipped */
  uint64_t t3 = enter(plan, set);
  ck_assert(!depends(plan, t1, t2) && !depends(plan, t1, t3) && depends(plan, t2, t3));
  ck_assert_int_eq(twpa_plan_complete(plan, t2, TWPA_DONE_SKIPPED), TWPA_OK);
  ck_assert(depends(plan, t1, t3));
  twpa_relation_free(rel);
}
END_TEST

/* --- reports of the field --------------------------------------------------------------------------------------------- */

START_TEST(one_key_twice_in_a_transaction) /* no transaction waits for itself */
{
  open_plan((twpa_plan_options){.wide_bytes = 64, .table_bytes = 64});
  begin();
  for (int64_t i = 0; i < 40; i++) {
    insert(t, i, i, 0);
    ck_assert_int_eq(twpa_access_set_access(set, (twpa_key)i, TWPA_MODE_READ), TWPA_OK);
    ck_assert_int_eq(twpa_access_set_access(set, (twpa_key)i / 2, TWPA_MODE_WRITE), TWPA_OK);
  }
  uint32_t n;
  enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(unknown_old_unique_value_waits_for_every_taker)
{
  begin();
  delete_row(t, 1, N, N);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(t, 3, 2, 0);
  uint64_t t2 = enter(plan, set);
  begin();
  update(t, 4, N, N, 4, 7, 0);
  uint64_t t3 = enter(plan, set);
  begin();
  insert(t, 5, 9, 0);
  uint64_t t4 = enter(plan, set);
  ck_assert(depends(plan, t1, t2) && depends(plan, t1, t3) && depends(plan, t3, t4));
}
END_TEST

START_TEST(foreign_keys_between_parent_and_child)
{
  begin();
  insert(p, 1, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(c, 1, 1, 0);
  uint64_t t2 = enter(plan, set);
  begin();
  delete_row(c, 1, 1, 0);
  uint64_t t3 = enter(plan, set);
  begin();
  delete_row(p, 1, N, 0);
  uint64_t t4 = enter(plan, set);
  ck_assert(depends(plan, t1, t2) && depends(plan, t2, t3) && depends(plan, t3, t4));
}
END_TEST

START_TEST(children_of_one_parent_are_free_of_each_other)
{
  begin();
  insert(p, 1, N, 0);
  uint64_t t1 = enter(plan, set), children[100];
  for (int64_t i = 0; i < 100; i++) {
    uint32_t n;
    begin();
    insert(c, i, 1, 0);
    children[i] = enter_n(plan, set, &n);
    ck_assert_uint_eq(n, 1);
  }
  begin();
  delete_row(p, 1, N, 0);
  uint32_t n;
  uint64_t last = enter_n(plan, set, &n);
  ck_assert_uint_le(n, 4); /* readers and the relation's users, each through a join node */
  done(t1);
  for (int i = 0; i < 100; i++) {
    twpa_node node;
    ck_assert_int_eq(twpa_plan_node(plan, &node, last), TWPA_OK);
    ck_assert_uint_eq(node.state, TWPA_NODE_WAITING);
    ck_assert(depends(plan, children[i], last));
    done(children[i]);
  }
  uint64_t seq;
  while (twpa_plan_next_ready(plan, &seq) == TWPA_OK && seq != last)
    continue;
  ck_assert_uint_eq(seq, last);
}
END_TEST

START_TEST(inserts_without_any_key_are_free)
{
  open_plan((twpa_plan_options){.no_identity = TWPA_NO_IDENTITY_INSERT_FREE});
  kit_begin(&kit, 9, 3);
  twpa_relation *rel = kit_make(&kit);
  for (int64_t i = 0; i < 50; i++) {
    uint32_t n;
    begin();
    insert(rel, i, 1, 1);
    enter_n(plan, set, &n);
    ck_assert_uint_eq(n, 0);
  }
  twpa_relation_free(rel);
}
END_TEST

START_TEST(key_moves_inside_a_transaction)
{
  begin();
  update(t, 1, N, N, 9, 0, 0);
  update(t, 2, N, N, 1, 0, 0);
  update(t, 9, N, N, 2, 0, 0);
  uint64_t t1 = enter(plan, set);
  for (int64_t k = 1; k <= 9; k += k == 2 ? 7 : 1) {
    begin();
    delete_row(t, k, N, N);
    ck_assert(depends(plan, t1, enter(plan, set)));
  }
}
END_TEST

START_TEST(truncate_of_several)
{
  twpa_relation *both[2] = {p, c};
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, both, 2), TWPA_OK);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(p, 1, N, 0);
  uint64_t t2 = enter(plan, set);
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, &c, 1), TWPA_OK);
  uint64_t t3 = enter(plan, set);
  ck_assert(depends(plan, t1, t2) && depends(plan, t1, t3));
  ck_assert(!depends(plan, t2, t3));
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, NULL, 0), TWPA_OK);
  uint32_t n;
  enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 0);
}
END_TEST

/* --- barriers -------------------------------------------------------------------------------------------------------- */

START_TEST(a_barrier_costs_one_edge)
{
  for (int64_t i = 0; i < 1000; i++) {
    begin();
    insert(t, i, N, 0);
    enter(plan, set);
  }
  uint32_t n;
  begin();
  ck_assert_int_eq(twpa_access_set_truncate(set, &t, 1), TWPA_OK);
  uint64_t b = enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 1);
  begin();
  insert(t, 5000, N, 0);
  uint64_t after = enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 1);
  ck_assert(depends(plan, b, after));
  ck_assert(depends(plan, 1, b) && depends(plan, 1000, b));
}
END_TEST

START_TEST(database_barrier_and_cut)
{
  key_tx(1, TWPA_MODE_WRITE);
  key_tx(2, TWPA_MODE_WRITE);
  begin();
  ck_assert_int_eq(twpa_access_set_barrier(set, NULL), TWPA_OK);
  uint32_t n;
  uint64_t b = enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 1);
  ck_assert(depends(plan, 1, b) && depends(plan, 2, b));
  ck_assert(depends(plan, b, key_tx(3, TWPA_MODE_WRITE)));
  ck_assert_int_eq(twpa_plan_cut(plan), TWPA_OK);
  begin();
  uint64_t after = enter_n(plan, set, &n);
  ck_assert(depends(plan, 4, after));
  for (uint64_t seq = 1; seq <= 4; seq++) {
    twpa_node node;
    ck_assert_int_eq(twpa_plan_node(plan, &node, after), TWPA_OK);
    ck_assert_uint_eq(node.state, TWPA_NODE_WAITING);
    done(seq);
  }
  done(after);
  ck_assert_uint_eq(twpa_plan_low_watermark(plan), after);
}
END_TEST

START_TEST(a_closure_reaches_neighbours_of_neighbours)
{
  kit_begin(&kit, 5, 3); /* 5 refers to c's key, c to p */
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 2, 1, COL1, 1, ENF);
  twpa_relation *grandchild = kit_make(&kit);
  twpa_relation_free(c);
  kit_begin(&kit, 2, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 1, COL1, 1, ENF);
  kit_reference(&kit, 5, 1, ENF);
  kit.desc.identity = TWPA_IDENTITY_FULL;
  c = kit_make(&kit);
  begin();
  insert(c, 77, N, 0); /* the plan learns of c */
  uint64_t t0 = enter(plan, set);
  begin();
  delete_row(grandchild, 1, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(t, 1, N, 0);
  uint64_t alone = enter(plan, set);
  begin();
  ck_assert_int_eq(twpa_access_set_barrier(set, p), TWPA_OK);
  uint64_t ddl = enter(plan, set);
  ck_assert(depends(plan, t0, ddl) && depends(plan, t1, ddl) && !depends(plan, alone, ddl));
  begin();
  delete_row(grandchild, 2, N, 0);
  ck_assert(depends(plan, ddl, enter(plan, set)));
  twpa_relation_free(grandchild);
}
END_TEST

START_TEST(schema_epoch_is_a_barrier_and_old_ones_are_refused)
{
  begin();
  insert(t, 1, N, 0);
  uint64_t t1 = enter(plan, set);
  kit.desc.epoch = 2; /* still the description of t */
  twpa_relation *newer = kit_make(&kit);
  begin();
  insert(newer, 2, N, 0);
  uint64_t t2 = enter(plan, set);
  ck_assert(depends(plan, t1, t2));
  begin();
  insert(newer, 3, N, 0);
  ck_assert(depends(plan, t2, enter(plan, set)));
  begin();
  insert(t, 4, N, 0);
  uint64_t seq;
  uint32_t n;
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_STATE);
  begin();
  insert(t, 4, N, 0);
  insert(newer, 5, N, 0);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_STATE);
  twpa_report r = {.struct_size = TWPA_REPORT_INIT};
  ck_assert_int_eq(twpa_plan_report(plan, &r), TWPA_OK);
  ck_assert_uint_eq(r.fallbacks[TWPA_FALLBACK_EPOCH], 1);
  ck_assert_int_eq(r.status, TWPA_E_STATE);
  twpa_relation_free(newer);
}
END_TEST

START_TEST(both_sides_of_a_foreign_key_must_fit)
{
  uint64_t seq;
  uint32_t n;
  begin();
  insert(p, 1, N, 0);
  enter(plan, set);
  kit_begin(&kit, 8, 3); /* refers to p.u, which p does not say */
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 2, COL1, 1, ENF);
  twpa_relation *stranger = kit_make(&kit);
  begin();
  insert(stranger, 1, 1, 0);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_INVAL);
  begin();
  insert(c, 1, 1, 0);
  enter(plan, set);
  twpa_relation_free(stranger);
}
END_TEST

START_TEST(prepared_transactions_are_barriers)
{
  begin();
  insert(t, 1, N, 0);
  uint64_t t1 = enter(plan, set);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, TWPA_TXN_PREPARED), TWPA_OK);
  insert(t, 2, N, 0);
  uint64_t prepare = enter(plan, set);
  uint64_t commit = enter(plan, set); /* the same changes again */
  begin();
  insert(t, 3, N, 0);
  uint64_t after = enter(plan, set);
  ck_assert(depends(plan, t1, prepare) && depends(plan, prepare, commit) && depends(plan, commit, after));
}
END_TEST

START_TEST(over_the_budget_a_transaction_is_a_barrier)
{
  open_plan((twpa_plan_options){.txn_max_keys = 10});
  begin();
  insert(t, 1000, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(c, 1000, 1, 0);
  ck_assert_int_eq(twpa_access_set_access(set, 5, TWPA_MODE_WRITE), TWPA_OK);
  for (int64_t i = 0; i < 100; i++)
    insert(t, i, i, 0);
  uint64_t big = enter(plan, set);
  ck_assert(depends(plan, t1, big));
  twpa_node node;
  ck_assert_int_eq(twpa_plan_node(plan, &node, big), TWPA_OK);
  ck_assert_uint_eq(node.keys, 1); /* the host's own stays */
  ck_assert(depends(plan, big, key_tx(5, TWPA_MODE_READ)));
  begin();
  insert(t, 2000, N, 0);
  ck_assert(depends(plan, big, enter(plan, set)));
  begin();
  delete_row(p, 1, N, 0); /* the big one referred to p */
  ck_assert(depends(plan, big, enter(plan, set)));
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_cases");
  TCase *tc = tcase_create("examples");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_test(tc, truncate_of_a_child_before_delete_of_the_parent);
  tcase_add_test(tc, horizon_is_not_forgotten_after_the_first_miss);
  tcase_add_test(tc, eviction_counts_readers);
  tcase_add_test(tc, barrier_after_barrier);
  tcase_add_test(tc, modes_follow_the_real_row_lock);
  tcase_add_test(tc, rows_with_memory_are_exact);
  tcase_add_test(tc, release_and_claim_on_one_index);
  tcase_add_test(tc, deferrable_unique_is_never_optimistic);
  tcase_add_test(tc, skipped_transactions_leave_no_trust);
  tcase_add_test(tc, skipped_transactions_change_what_unchanged_columns_are);
  tcase_add_test(tc, one_key_twice_in_a_transaction);
  tcase_add_test(tc, unknown_old_unique_value_waits_for_every_taker);
  tcase_add_test(tc, foreign_keys_between_parent_and_child);
  tcase_add_test(tc, children_of_one_parent_are_free_of_each_other);
  tcase_add_test(tc, inserts_without_any_key_are_free);
  tcase_add_test(tc, key_moves_inside_a_transaction);
  tcase_add_test(tc, truncate_of_several);
  tcase_add_test(tc, a_barrier_costs_one_edge);
  tcase_add_test(tc, database_barrier_and_cut);
  tcase_add_test(tc, a_closure_reaches_neighbours_of_neighbours);
  tcase_add_test(tc, schema_epoch_is_a_barrier_and_old_ones_are_refused);
  tcase_add_test(tc, both_sides_of_a_foreign_key_must_fit);
  tcase_add_test(tc, prepared_transactions_are_barriers);
  tcase_add_test(tc, over_the_budget_a_transaction_is_a_barrier);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
