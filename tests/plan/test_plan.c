/*
 * The plan by examples: the counterexamples of planning rules section 2 as permanent cases, reports of the field, and
 * what each function of twpa/plan.h promises.
 */
#include "kit.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#define N NIL
#define ENF TWPA_FK_ENFORCED

enum { INS = TWPA_OP_INSERT, UPD = TWPA_OP_UPDATE, DEL = TWPA_OP_DELETE };

static twpa_plan *plan;
static twpa_access_set *set;
static twpa_relation *p, *c, *t;
static relation_kit kit;

static void open_plan(twpa_plan_options o)
{
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  o.struct_size = TWPA_PLAN_OPTIONS_INIT;
  if (o.table_bytes == 0)
    o.table_bytes = 65536;
  if (o.wide_bytes == 0)
    o.wide_bytes = o.table_bytes;
  ck_assert_int_eq(twpa_plan_new(&plan, &o, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plan, NULL), TWPA_OK);
}

/* p(k, u, x) referenced by c(k, r -> p.k, x); t(k, u, x) alone. All FULL, but t. */
static void make_relations(uint32_t identity)
{
  twpa_relation_free(p);
  twpa_relation_free(c);
  twpa_relation_free(t);
  kit_begin(&kit, 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, 0);
  kit_reference(&kit, 2, 1, ENF);
  kit.desc.identity = identity;
  p = kit_make(&kit);
  kit_begin(&kit, 2, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 1, COL1, 1, ENF);
  kit.desc.identity = identity;
  c = kit_make(&kit);
  kit_begin(&kit, 3, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, 0);
  t = kit_make(&kit);
}

static void setup(void)
{
  plan = NULL;
  set = NULL;
  p = c = t = NULL;
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT});
  make_relations(TWPA_IDENTITY_FULL);
}

static void teardown(void)
{
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  twpa_relation_free(p);
  twpa_relation_free(c);
  twpa_relation_free(t);
}

static void begin(void)
{
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
}

static void insert(twpa_relation *rel, int64_t a, int64_t b, int64_t d)
{
  const int64_t v[3] = {a, b, d};
  ck_assert_int_eq(change(set, rel, INS, 3, NULL, v), TWPA_OK);
}

static void delete_row(twpa_relation *rel, int64_t a, int64_t b, int64_t d)
{
  const int64_t v[3] = {a, b, d};
  ck_assert_int_eq(change(set, rel, DEL, 3, v, NULL), TWPA_OK);
}

static void update(twpa_relation *rel, int64_t a, int64_t b, int64_t d, int64_t a2, int64_t b2, int64_t d2)
{
  const int64_t v[3] = {a, b, d}, w[3] = {a2, b2, d2};
  bool sent = rel->identity == TWPA_IDENTITY_FULL || a != a2;
  ck_assert_int_eq(change(set, rel, UPD, 3, sent ? v : NULL, w), TWPA_OK);
}

static uint64_t key_tx(twpa_key key, uint32_t mode)
{
  begin();
  ck_assert_int_eq(twpa_access_set_access(set, key, mode), TWPA_OK);
  return enter(plan, set);
}

static void done(uint64_t seq)
{
  ck_assert_int_eq(twpa_plan_complete(plan, seq, TWPA_DONE_COMMITTED), TWPA_OK);
}

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
  twpa_access_set_truncate(set, &t, 1);
  insert(t, 2, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  twpa_access_set_truncate(set, &t, 1);
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
  twpa_access_set_truncate(set, &t, 1);
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

/* --- early start ------------------------------------------------------------------------------------------------------ */

static uint32_t early_flag(uint64_t from, uint64_t to)
{
  twpa_edge e;
  uint64_t cursor = 0;
  while (twpa_plan_next_successor(plan, &e, &cursor, from) == TWPA_OK)
    if (e.to == to)
      return e.flags & TWPA_EDGE_EARLY;
  ck_abort_msg("no edge");
  return 0;
}

START_TEST(early_start_after_an_update_of_the_row)
{
  open_plan((twpa_plan_options){.early_start = TWPA_EARLY_START_NARROW});
  begin();
  update(t, 1, N, N, 1, SAME, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  update(t, 1, N, N, 1, SAME, 1);
  uint64_t t2 = enter(plan, set);
  begin();
  insert(t, 8, N, 0);
  uint64_t t3 = enter(plan, set);
  begin();
  update(t, 8, N, N, 8, SAME, 1);
  update(t, 1, N, N, 1, SAME, 1);
  uint64_t t4 = enter(plan, set);
  ck_assert_uint_eq(early_flag(t1, t2), TWPA_EDGE_EARLY);
  ck_assert_uint_eq(early_flag(t2, t4), TWPA_EDGE_EARLY);
  ck_assert_uint_eq(early_flag(t3, t4), 0); /* never after an insert */
  uint64_t seq;
  ck_assert_int_eq(twpa_plan_executed(plan, t1), TWPA_OK);
  ck_assert_int_eq(twpa_plan_next_ready(plan, &seq), TWPA_OK);
  ck_assert_uint_eq(seq, t2);
  ck_assert_int_eq(twpa_plan_executed(plan, t2), TWPA_OK);
  ck_assert_int_eq(twpa_plan_next_ready(plan, &seq), TWPA_NONE);
  ck_assert_int_eq(twpa_plan_revoke(plan, t1), TWPA_E_STATE); /* t2 first */
  ck_assert_int_eq(twpa_plan_revoke(plan, t2), TWPA_OK);
  ck_assert_int_eq(twpa_plan_revoke(plan, t1), TWPA_OK);
  twpa_node node;
  ck_assert_int_eq(twpa_plan_node(plan, &node, t2), TWPA_OK);
  ck_assert_uint_eq(node.state, TWPA_NODE_WAITING);
  ck_assert_int_eq(twpa_plan_executed(plan, t2), TWPA_E_STATE);
  ck_assert_int_eq(twpa_plan_executed(plan, t1), TWPA_OK);
  done(t1);
  done(t2);
  ck_assert_int_eq(twpa_plan_node(plan, &node, t4), TWPA_OK);
  ck_assert_uint_eq(node.state, TWPA_NODE_WAITING);
  done(t3);
  done(t4);
}
END_TEST

START_TEST(every_reason_must_allow_an_early_start)
{
  open_plan((twpa_plan_options){.early_start = TWPA_EARLY_START_NARROW});
  begin();
  update(t, 1, N, N, 1, SAME, 0);
  insert(t, 2, N, 0);
  uint64_t t1 = enter(plan, set);
  ck_assert_int_eq(twpa_plan_executed(plan, t1), TWPA_OK);
  begin();
  update(t, 1, N, N, 1, SAME, 0); /* alone: early, so fulfilled at once */
  uint32_t n;
  uint64_t t2 = enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 0);
  done(t2);
  begin();
  update(t, 2, N, N, 2, SAME, 0);
  enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 1);
  open_plan((twpa_plan_options){.early_start = TWPA_EARLY_START_NARROW});
  begin();
  update(t, 1, N, N, 1, SAME, 0);
  insert(t, 2, N, 0);
  t1 = enter(plan, set);
  ck_assert_int_eq(twpa_plan_executed(plan, t1), TWPA_OK);
  begin();
  update(t, 1, N, N, 1, SAME, 0);
  update(t, 2, N, N, 2, SAME, 0);
  t2 = enter_n(plan, set, &n);
  ck_assert_uint_eq(n, 1);
  ck_assert_uint_eq(early_flag(t1, t2), 0);
  done(t1);
  done(t2);
}
END_TEST

START_TEST(wide_early_start_after_a_value_left_free)
{
  for (uint32_t policy = TWPA_EARLY_START_NARROW; policy <= TWPA_EARLY_START_WIDE; policy++) {
    open_plan((twpa_plan_options){.early_start = policy});
    begin();
    delete_row(t, 1, N, N);
    uint64_t t1 = enter(plan, set);
    begin();
    insert(t, 1, N, 0);
    uint64_t t2 = enter(plan, set);
    begin();
    insert(t, 2, N, 0);
    delete_row(t, 2, N, N); /* taken and left free */
    uint64_t t3 = enter(plan, set);
    begin();
    insert(t, 2, N, 0);
    uint64_t t4 = enter(plan, set);
    uint32_t wide = policy == TWPA_EARLY_START_WIDE ? TWPA_EDGE_EARLY : 0;
    ck_assert_uint_eq(early_flag(t1, t2), wide);
    ck_assert_uint_eq(early_flag(t3, t4), wide);
  }
  ck_assert_int_eq(twpa_plan_new(&plan, &(twpa_plan_options){TWPA_PLAN_OPTIONS_INIT, .early_start = 1,
                                                             .free_commit_order = 1}, NULL), TWPA_E_INVAL);
}
END_TEST

START_TEST(foreign_keys_never_start_early) /* 2.10 */
{
  open_plan((twpa_plan_options){.early_start = TWPA_EARLY_START_WIDE});
  begin();
  update(c, 1, 1, 0, 1, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  delete_row(p, 1, N, 0);
  uint64_t t2 = enter(plan, set);
  ck_assert_uint_eq(early_flag(t1, t2), 0);
}
END_TEST

/* --- the rest of the promises -------------------------------------------------------------------------------------------- */

START_TEST(windows_limit_admission)
{
  uint64_t seq;
  uint32_t n;
  open_plan((twpa_plan_options){.max_transactions = 3});
  for (uint64_t i = 1; i <= 3; i++)
    key_tx(i, TWPA_MODE_WRITE);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_LIMIT);
  done(2);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_LIMIT); /* the low watermark counts */
  done(1);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_OK);
  ck_assert_uint_eq(seq, 4);
  open_plan((twpa_plan_options){.max_keys = 3});
  begin();
  for (twpa_key k = 0; k < 10; k++)
    ck_assert_int_eq(twpa_access_set_access(set, k, TWPA_MODE_WRITE), TWPA_OK);
  enter(plan, set); /* an empty window takes anything */
  begin();
  ck_assert_int_eq(twpa_access_set_access(set, 99, TWPA_MODE_WRITE), TWPA_OK);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_LIMIT);
  done(1);
  enter(plan, set);
  open_plan((twpa_plan_options){.max_bytes = 100});
  begin();
  ck_assert_int_eq(twpa_plan_set_payload(plan, 60), TWPA_OK);
  enter(plan, set);
  ck_assert_int_eq(twpa_plan_set_payload(plan, 60), TWPA_OK);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_LIMIT);
  ck_assert_int_eq(twpa_plan_set_payload(plan, 40), TWPA_OK);
  enter(plan, set);
}
END_TEST

START_TEST(states_of_a_transaction)
{
  uint64_t t1 = key_tx(1, TWPA_MODE_WRITE), t2 = key_tx(1, TWPA_MODE_WRITE), seq;
  ck_assert_int_eq(twpa_plan_complete(plan, t2, 0), TWPA_E_STATE);
  ck_assert_int_eq(twpa_plan_complete(plan, t1, 2), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_plan_complete(plan, 3, 0), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_plan_complete(plan, 0, 0), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_plan_executed(plan, t2), TWPA_E_STATE);
  ck_assert_int_eq(twpa_plan_revoke(plan, t1), TWPA_E_STATE);
  ck_assert_int_eq(twpa_plan_next_ready(plan, &seq), TWPA_NONE);
  ck_assert_int_eq(twpa_plan_executed(plan, t1), TWPA_OK);
  ck_assert_int_eq(twpa_plan_executed(plan, t1), TWPA_E_STATE);
  ck_assert_int_eq(twpa_plan_revoke(plan, t1), TWPA_OK);
  done(t1);
  ck_assert_int_eq(twpa_plan_complete(plan, t1, 0), TWPA_E_NOTFOUND);
  done(t2); /* without having been taken as ready */
  ck_assert_int_eq(twpa_plan_next_ready(plan, &seq), TWPA_NONE);
  twpa_node node;
  ck_assert_int_eq(twpa_plan_node(plan, &node, t2), TWPA_E_NOTFOUND);
  ck_assert_uint_eq(twpa_plan_low_watermark(plan), 2);
  twpa_plan_counters k = {.struct_size = TWPA_PLAN_COUNTERS_INIT};
  ck_assert_int_eq(twpa_plan_stats(plan, &k), TWPA_OK);
  ck_assert_uint_eq(k.transactions, 2);
  ck_assert_uint_eq(k.completed, 2);
  ck_assert_uint_eq(k.edges, 1);
  ck_assert_uint_eq(k.live_edges, 0);
  ck_assert_uint_eq(k.live_keys, 0);
}
END_TEST

START_TEST(explanations_name_the_key)
{
  open_plan((twpa_plan_options){.explain = 1, .unique_release = TWPA_UNKNOWN_STRICT});
  begin();
  insert(p, 1, N, 0);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(c, 5, 1, 0);
  uint64_t t2 = enter(plan, set);
  twpa_edge e[4];
  size_t n;
  ck_assert_int_eq(twpa_plan_explain(plan, e, 4, &n, t2), TWPA_OK);
  ck_assert_uint_eq(n, 1);
  ck_assert_uint_eq(e[0].from, t1);
  ck_assert_uint_eq(e[0].type, TWPA_EDGE_FK_DML);
  ck_assert_uint_eq(e[0].flags, TWPA_EDGE_VIA);
  ck_assert_uint_eq(e[0].relation, 1);
  ck_assert_uint_eq(e[0].index, 1);
  ck_assert_uint_eq(e[0].kind, TWPA_KIND_FK);
  ck_assert_uint_eq(e[0].from_mode, TWPA_MODE_WRITE);
  ck_assert_uint_eq(e[0].to_mode, TWPA_MODE_READ);
  row r;
  const int64_t one = 1;
  twpa_key key;
  ck_assert_int_eq(twpa_key_of(&key, 0, 1, 1, 0, row_of(&r, 1, &one), 1), TWPA_OK);
  ck_assert_uint_eq(e[0].key, key);
  ck_assert_int_eq(twpa_plan_explain(plan, NULL, 0, &n, t2), TWPA_OK);
  ck_assert_uint_eq(n, 1);
  done(t1);
  ck_assert_int_eq(twpa_plan_explain(plan, e, 4, &n, t2), TWPA_OK);
  ck_assert_uint_eq(n, 0);
  ck_assert_int_eq(twpa_plan_explain(plan, e, 4, &n, 77), TWPA_E_NOTFOUND);
}
END_TEST

static int collect(void *user, const char *text, size_t len)
{
  char **at = user;
  memcpy(*at, text, len);
  *at += len;
  **at = '\0';
  return 0;
}

static int refuse(void *user, const char *text, size_t len)
{
  (void)user, (void)text, (void)len;
  return 1;
}

START_TEST(drawing)
{
  char buffer[4096], *at = buffer;
  key_tx(1, TWPA_MODE_WRITE);
  key_tx(1, TWPA_MODE_WRITE);
  begin();
  twpa_access_set_barrier(set, NULL);
  enter(plan, set);
  ck_assert_int_eq(twpa_plan_write_dot(plan, collect, &at), TWPA_OK);
  ck_assert(strstr(buffer, "digraph plan {") == buffer);
  ck_assert(strstr(buffer, "  t1 -> t2;\n") != NULL);
  ck_assert(strstr(buffer, "  t2 -> t3 [color=orange") != NULL);
  ck_assert_int_eq(twpa_plan_write_dot(plan, refuse, NULL), TWPA_E_CALLBACK);
}
END_TEST

START_TEST(optimism_is_counted_and_blamed)
{
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_OPTIMISTIC});
  begin();
  delete_row(t, 1, N, N);
  uint64_t t1 = enter(plan, set);
  begin();
  insert(t, 2, 5, 0);
  uint64_t t2 = enter(plan, set), retries;
  ck_assert(!depends(plan, t1, t2));
  ck_assert_int_eq(twpa_plan_retried(plan, t2), TWPA_OK);
  ck_assert_int_eq(twpa_plan_retried(plan, 9), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_plan_index_retries(plan, &retries, 3, 2), TWPA_OK);
  ck_assert_uint_eq(retries, 1);
  ck_assert_int_eq(twpa_plan_index_retries(plan, &retries, 3, 1), TWPA_E_NOTFOUND);
  twpa_plan_counters k = {.struct_size = TWPA_PLAN_COUNTERS_INIT};
  ck_assert_int_eq(twpa_plan_stats(plan, &k), TWPA_OK);
  ck_assert_uint_eq(k.optimistic, 1);
  ck_assert_uint_eq(k.retries, 1);
}
END_TEST

START_TEST(seeding_is_refused_when_the_row_is_in_flight) /* 1.6.6 */
{
  row r;
  const int64_t v[3] = {1, 5, 0}, w[3] = {2, 6, 0};
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, v), 3), TWPA_NONE);
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT, .memory_bytes = 4096});
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, v), 3), TWPA_OK);
  ck_assert_int_eq(twpa_plan_seed_row(plan, p, row_of(&r, 3, v), 3), TWPA_NONE); /* FULL needs none */
  begin();
  update(t, 1, N, N, 1, 5, 1); /* known to be unchanged */
  ck_assert_uint_eq(set->acc.nacc, 0);
  uint64_t t1 = enter(plan, set);
  twpa_node node;
  ck_assert_int_eq(twpa_plan_node(plan, &node, t1), TWPA_OK);
  ck_assert_uint_eq(node.keys, 1);
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, v), 3), TWPA_E_STATE);
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, w), 3), TWPA_OK);
  begin();
  twpa_access_set_truncate(set, &t, 1);
  uint64_t t2 = enter(plan, set);
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, w), 3), TWPA_E_STATE);
  done(t1);
  done(t2);
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, w), 3), TWPA_OK);
}
END_TEST

START_TEST(memory_carries_unsent_values_over)
{
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT, .memory_bytes = 4096});
  begin();
  insert(t, 1, 5, 0);
  done(enter(plan, set));
  begin();
  update(t, 1, N, N, 2, SAME, 1); /* the row moves, u is not sent */
  done(enter(plan, set));
  begin();
  delete_row(t, 2, N, N);
  uint64_t t3 = enter(plan, set);
  begin();
  insert(t, 9, 5, 0);
  ck_assert(depends(plan, t3, enter(plan, set)));
  begin();
  insert(t, 8, 6, 0);
  ck_assert(!depends(plan, t3, enter(plan, set)));
  twpa_plan_counters k = {.struct_size = TWPA_PLAN_COUNTERS_INIT};
  ck_assert_int_eq(twpa_plan_stats(plan, &k), TWPA_OK);
  ck_assert_uint_eq(k.memory_misses, 0);
  ck_assert_uint_eq(k.memory_hits, 1);
}
END_TEST

START_TEST(sets_of_another_plan_are_refused)
{
  twpa_plan *other;
  twpa_access_set *foreign;
  uint64_t seq;
  uint32_t n;
  ck_assert_int_eq(twpa_plan_new(&other, &(twpa_plan_options){TWPA_PLAN_OPTIONS_INIT, .seed = 5}, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&foreign, other, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, foreign), TWPA_E_STATE);
  twpa_access_set_free(foreign);
  twpa_plan_free(other);
}
END_TEST

/* Numbers pass 2^32 on a plan that lives long enough: set by hand, just before. */
START_TEST(sequence_numbers_are_64_bits_wide)
{
  const uint64_t start = (UINT64_C(1) << 32) - 20;
  uint64_t last[4] = {0};
  for (int tables = 0; tables < 2; tables++) {
    open_plan((twpa_plan_options){.table_bytes = tables ? 64 : 65536});
    plan->graph.low = plan->graph.last = start;
    rng r = {(uint64_t)tables};
    memset(last, 0, sizeof last);
    for (uint64_t i = 0; i < 60; i++) {
      twpa_key key = rng_below(&r, 4);
      uint64_t seq = key_tx(key, tables ? TWPA_MODE_EXCLUSIVE : TWPA_MODE_WRITE);
      ck_assert_uint_eq(seq, start + 1 + i);
      if (last[key] > twpa_plan_low_watermark(plan))
        ck_assert(depends(plan, last[key], seq));
      last[key] = seq;
      if (i >= 10)
        done(start + 1 + i - 10);
    }
  }
}
END_TEST

START_TEST(wrong_options)
{
  twpa_plan *x;
  twpa_plan_options o = {TWPA_PLAN_OPTIONS_INIT, .unique_release = 2};
  ck_assert_int_eq(twpa_plan_new(&x, &o, NULL), TWPA_E_INVAL);
  o.unique_release = 0;
  o.max_transactions = (UINT64_C(1) << 30) + 1;
  ck_assert_int_eq(twpa_plan_new(&x, &o, NULL), TWPA_E_INVAL);
  o.struct_size = 4;
  ck_assert_int_eq(twpa_plan_new(&x, &o, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_plan_new(NULL, NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_plan_new(&x, NULL, NULL), TWPA_OK);
  twpa_plan_free(x);
  twpa_plan_free(NULL);
  twpa_access_set_free(NULL);
  twpa_relation_free(NULL);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan");
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
  tcase_add_test(tc, early_start_after_an_update_of_the_row);
  tcase_add_test(tc, every_reason_must_allow_an_early_start);
  tcase_add_test(tc, wide_early_start_after_a_value_left_free);
  tcase_add_test(tc, foreign_keys_never_start_early);
  tcase_add_test(tc, windows_limit_admission);
  tcase_add_test(tc, states_of_a_transaction);
  tcase_add_test(tc, explanations_name_the_key);
  tcase_add_test(tc, drawing);
  tcase_add_test(tc, optimism_is_counted_and_blamed);
  tcase_add_test(tc, seeding_is_refused_when_the_row_is_in_flight);
  tcase_add_test(tc, memory_carries_unsent_values_over);
  tcase_add_test(tc, sets_of_another_plan_are_refused);
  tcase_add_test(tc, sequence_numbers_are_64_bits_wide);
  tcase_add_test(tc, wrong_options);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
