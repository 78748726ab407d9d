/* What each function of twpa/plan.h promises, by examples; early start. */
#include "plan/plan.h"

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <twpa/scheduler.h>

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

/* What asks row memory becomes accesses when the transaction enters, after those that ask nothing: the delete comes first
   all the same, and the key is not left free. */
START_TEST(wide_early_start_knows_the_order_of_changes)
{
  open_plan((twpa_plan_options){.early_start = TWPA_EARLY_START_WIDE, .memory_bytes = 4096});
  uint64_t seq[2];
  begin();
  insert(t, 2, N, 0);
  done(enter(plan, set));
  for (int i = 0; i < 2; i++) {
    begin();
    delete_row(t, 2, N, N);
    insert(t, 2, N, 0);
    seq[i] = enter(plan, set);
  }
  ck_assert(depends(plan, seq[0], seq[1]));
  ck_assert_uint_eq(early_flag(seq[0], seq[1]), 0);
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
  ck_assert_int_eq(twpa_access_set_barrier(set, NULL), TWPA_OK);
  enter(plan, set);
  ck_assert_int_eq(twpa_plan_write_dot(plan, collect, &at), TWPA_OK);
  ck_assert(strstr(buffer, "digraph plan {") == buffer);
  ck_assert(strstr(buffer, "  t1 -> t2;\n") != NULL);
  ck_assert(strstr(buffer, "  t2 -> t3 [color=orange") != NULL);
  ck_assert_int_eq(twpa_plan_write_dot(plan, refuse, NULL), TWPA_E_CALLBACK);
}
END_TEST

/* A sink that tries everything that changes a plan; a growing window would pull the graph from under the writer. */
static int meddle(void *user, const char *text, size_t len)
{
  twpa_scheduler *scheduler = user;
  uint64_t seq;
  uint32_t n;
  size_t count;
  twpa_node node;
  (void)text, (void)len;
  for (int i = 0; i < 200; i++)
    ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_set_payload(plan, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_cut(plan), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_executed(plan, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_revoke(plan, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_complete(plan, 1, TWPA_DONE_COMMITTED), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_next_ready(plan, &seq), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_retried(plan, 1), TWPA_E_REENTRANT);
  row r;
  const int64_t numbers[3] = {1, 2, 3};
  ck_assert_int_eq(twpa_plan_seed_row(plan, t, row_of(&r, 3, numbers), 3), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_plan_write_dot(plan, refuse, NULL), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_submit(scheduler, &seq, set, NULL), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_next(scheduler, &seq, NULL), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_applied(scheduler, 1), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_skip(scheduler, 1, TWPA_DONE_SKIPPED), TWPA_E_REENTRANT);
  ck_assert_int_eq(twpa_scheduler_failed(scheduler, 1, &n, TWPA_FAIL_CONFLICT), TWPA_E_REENTRANT);
  twpa_plan_free(plan);
  ck_assert_int_eq(twpa_plan_node(plan, &node, 1), TWPA_OK);
  ck_assert_int_eq(twpa_plan_explain(plan, NULL, 0, &count, 1), TWPA_OK);
  ck_assert_uint_eq(twpa_plan_low_watermark(plan), 0);
  return 0;
}

START_TEST(sinks_change_nothing)
{
  twpa_scheduler *scheduler;
  uint64_t seq;
  ck_assert_int_eq(twpa_scheduler_new(&scheduler, plan, NULL, NULL), TWPA_OK);
  begin();
  ck_assert_int_eq(twpa_access_set_access(set, 1, TWPA_MODE_WRITE), TWPA_OK);
  for (int i = 0; i < 60; i++)
    ck_assert_int_eq(twpa_scheduler_submit(scheduler, &seq, set, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_plan_write_dot(plan, meddle, scheduler), TWPA_OK);
  ck_assert_int_eq(twpa_plan_write_dot(plan, refuse, NULL), TWPA_E_CALLBACK);
  ck_assert_int_eq(twpa_scheduler_submit(scheduler, &seq, set, NULL), TWPA_OK); /* it is over when the writer is */
  ck_assert_uint_eq(seq, 61);
  twpa_scheduler_free(scheduler);
}
END_TEST

/* The users of a relation may be over in any order; a barrier that comes then waits for those that are left. */
START_TEST(users_of_a_relation_leave_in_any_order)
{
  enum { LIVE = 300, LEAVES = 150 };
  open_plan((twpa_plan_options){.explain = 1});
  for (int i = 1; i <= LIVE; i++) {
    begin();
    insert(t, i, N, 0);
    enter(plan, set);
  }
  done(LEAVES);
  for (int i = LIVE; i > LIVE - 3; i--)
    done((uint64_t)i);
  begin();
  ck_assert_int_eq(twpa_access_set_barrier(set, t), TWPA_OK);
  uint64_t barrier = enter(plan, set);
  size_t n;
  ck_assert_int_eq(twpa_plan_explain(plan, NULL, 0, &n, barrier), TWPA_OK);
  ck_assert_uint_eq(n, LIVE - 4);
  for (int i = 1; i <= LIVE - 3; i++)
    if (i != LEAVES)
      done((uint64_t)i);
  uint64_t seq;
  ck_assert_int_eq(twpa_plan_next_ready(plan, &seq), TWPA_OK);
  ck_assert_uint_eq(seq, barrier);
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
  ck_assert_int_eq(twpa_access_set_truncate(set, &t, 1), TWPA_OK);
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

/* Places that were never written look like the number 2^32 and the key whose bits are all 0: the entry that the key has is
   what counts, not they. */
START_TEST(unused_places_are_nobodys_entry)
{
  const twpa_key zero = twpa__raw_key(0);
  for (uint32_t mode = TWPA_MODE_WRITE; mode <= TWPA_MODE_EXCLUSIVE; mode++) {
    open_plan((twpa_plan_options){.table_bytes = 64});
    plan->graph.low = plan->graph.last = (UINT64_C(1) << 32) - 5;
    done(key_tx(zero, mode));
    uint64_t seqs[5];
    for (int i = 0; i < 5; i++) { /* without keys, and not done */
      begin();
      seqs[i] = enter(plan, set);
    }
    uint64_t again = key_tx(zero, mode); /* waits for a number that looks live, like all that was never set */
    for (int i = 0; i < 5; i++)
      done(seqs[i]);
    twpa_node node;
    ck_assert_int_eq(twpa_plan_node(plan, &node, again), TWPA_OK);
    ck_assert_int_eq(node.state, TWPA_NODE_READY);
    done(again);
    twpa_plan_counters k = {.struct_size = TWPA_PLAN_COUNTERS_INIT};
    ck_assert_int_eq(twpa_plan_stats(plan, &k), TWPA_OK);
    ck_assert_uint_eq(k.hits, 0);
  }
}
END_TEST

START_TEST(wrong_options)
{
  twpa_plan *x;
  twpa_plan_options o = {TWPA_PLAN_OPTIONS_INIT, .unique_release = 2};
  ck_assert_int_eq(twpa_plan_new(&x, &o, NULL), TWPA_E_INVAL);
  o.unique_release = 0;
  o.max_transactions = (UINT64_C(1) << 27) + 1;
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
  tcase_add_test(tc, early_start_after_an_update_of_the_row);
  tcase_add_test(tc, every_reason_must_allow_an_early_start);
  tcase_add_test(tc, wide_early_start_after_a_value_left_free);
  tcase_add_test(tc, wide_early_start_knows_the_order_of_changes);
  tcase_add_test(tc, foreign_keys_never_start_early);
  tcase_add_test(tc, windows_limit_admission);
  tcase_add_test(tc, states_of_a_transaction);
  tcase_add_test(tc, explanations_name_the_key);
  tcase_add_test(tc, drawing);
  tcase_add_test(tc, sinks_change_nothing);
  tcase_add_test(tc, users_of_a_relation_leave_in_any_order);
  tcase_add_test(tc, optimism_is_counted_and_blamed);
  tcase_add_test(tc, seeding_is_refused_when_the_row_is_in_flight);
  tcase_add_test(tc, memory_carries_unsent_values_over);
  tcase_add_test(tc, sets_of_another_plan_are_refused);
  tcase_add_test(tc, sequence_numbers_are_64_bits_wide);
  tcase_add_test(tc, unused_places_are_nobodys_entry);
  tcase_add_test(tc, wrong_options);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
