/*
 * Running out of memory at every allocation: a call that fails leaves everything as it was, so the same call repeated
 * succeeds and the outcome is that of the undisturbed run, byte for byte. Which also says that a plan is a function of
 * its input: the undisturbed run is compared with itself under another allocator.
 */
#include "kit.h"
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#define ENF TWPA_FK_ENFORCED

typedef struct world {
  const twpa_allocator *mem;
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_relation *rels[3];
  rng r;
  char *text; /* everything that the plan said */
  size_t len, cap;
  uint64_t last;
} world;

static int take(void *user, const char *text, size_t len)
{
  world *w = user;
  if (w->len + len > w->cap) {
    w->cap = (w->len + len) * 2;
    w->text = realloc(w->text, w->cap);
    ck_assert_ptr_nonnull(w->text);
  }
  memcpy(w->text + w->len, text, len);
  w->len += len;
  return 0;
}

static void say(world *w, uint64_t a, uint64_t b)
{
  char line[64];
  int n = snprintf(line, sizeof line, "%llu %llu\n", (unsigned long long)a, (unsigned long long)b);
  take(w, line, (size_t)n);
}

/* A call that may run out of memory is made again, once. */
#define TRY(call)                 \
  do {                            \
    twpa_status st_ = (call);     \
    if (st_ == TWPA_E_NOMEM)      \
      st_ = (call);               \
    if (st_ == TWPA_E_NOMEM)      \
      return st_;                 \
    ck_assert_int_eq(st_, TWPA_OK); \
  } while (0)

static twpa_status make_relation(world *w, int i, uint64_t epoch)
{
  relation_kit kit;
  kit_begin(&kit, (uint64_t)i + 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, i == 2 ? TWPA_INDEX_PARTIAL : 0);
  if (i == 0)
    kit_reference(&kit, 2, 1, ENF);
  if (i == 1)
    kit_fk(&kit, 1, 1, COL2, 1, ENF);
  kit.desc.epoch = epoch;
  kit.desc.name = "relation";
  kit.desc.identity = i == 1 ? TWPA_IDENTITY_FULL : TWPA_IDENTITY_DEFAULT;
  twpa_relation *fresh = NULL;
  TRY(twpa_relation_new(&fresh, &kit.desc, w->mem));
  twpa_relation_free(w->rels[i]);
  w->rels[i] = fresh;
  return TWPA_OK;
}

static twpa_status one_change(world *w)
{
  twpa_relation *rel = w->rels[rng_below(&w->r, 3)];
  bool full = rel->identity == TWPA_IDENTITY_FULL;
  uint32_t op = 1 + (uint32_t)rng_below(&w->r, 3);
  int64_t old[3], new[3];
  for (int i = 0; i < 3; i++) {
    old[i] = (int64_t)rng_below(&w->r, 12);
    new[i] = rng_chance(&w->r, 50) ? old[i] : (int64_t)rng_below(&w->r, 12);
  }
  bool sent = full || op == TWPA_OP_DELETE || old[0] != new[0];
  TRY(change(w->set, rel, op, 3, sent ? old : NULL, op != TWPA_OP_DELETE ? new : NULL));
  return TWPA_OK;
}

static twpa_status fill(world *w, uint64_t i)
{
  ck_assert_int_eq(twpa_access_set_begin(w->set, i, 0, i % 17 == 16 ? TWPA_TXN_PREPARED : 0), TWPA_OK);
  size_t n = i % 23 == 22 ? 60 : rng_below(&w->r, 4);
  while (n-- > 0) {
    twpa_status st = one_change(w);
    if (st != TWPA_OK)
      return st;
  }
  if (i % 11 == 10)
    TRY(twpa_access_set_truncate(w->set, w->rels, 2));
  if (i % 19 == 18)
    TRY(twpa_access_set_barrier(w->set, w->rels[i % 3]));
  if (i % 7 == 6)
    TRY(twpa_access_set_touch(w->set, w->rels[i % 3]));
  for (uint32_t mode = 1; mode <= 4; mode++)
    TRY(twpa_access_set_access(w->set, rng_below(&w->r, 9), mode));
  return TWPA_OK;
}

static twpa_status complete_some(world *w)
{
  for (uint64_t seq = twpa_plan_low_watermark(w->plan) + 1; seq <= w->last; seq++) {
    twpa_node node;
    if (twpa_plan_node(w->plan, &node, seq) != TWPA_OK || node.state != TWPA_NODE_READY || !rng_chance(&w->r, 30))
      continue;
    TRY(twpa_plan_complete(w->plan, seq, seq % 13 == 12 ? TWPA_DONE_SKIPPED : TWPA_DONE_COMMITTED));
    uint64_t ready;
    while (twpa_plan_next_ready(w->plan, &ready) == TWPA_OK)
      say(w, seq, ready);
  }
  return TWPA_OK;
}

static twpa_status seed_one(world *w, uint64_t i)
{
  row r;
  const int64_t v[3] = {(int64_t)(i % 12), 3, 4};
  twpa_status st = twpa_plan_seed_row(w->plan, w->rels[0], row_of(&r, 3, v), 3);
  if (st == TWPA_E_NOMEM)
    st = twpa_plan_seed_row(w->plan, w->rels[0], row_of(&r, 3, v), 3);
  say(w, 1000 + i, (uint64_t)(st + 100));
  return st == TWPA_E_NOMEM ? st : TWPA_OK;
}

static twpa_status scenario(world *w, bool explain, size_t table_bytes)
{
  twpa_plan_options o = {TWPA_PLAN_OPTIONS_INIT, .seed = 1, .table_bytes = table_bytes, .memory_bytes = 1024,
                         .txn_max_keys = 50, .explain = explain, .unique_release = TWPA_UNKNOWN_STRICT};
  TRY(twpa_plan_new(&w->plan, &o, w->mem));
  TRY(twpa_access_set_new(&w->set, w->plan, w->mem));
  for (int i = 0; i < 3; i++) {
    twpa_status st = make_relation(w, i, 1);
    if (st != TWPA_OK)
      return st;
  }
  for (uint64_t i = 0; i < 80; i++) {
    uint32_t n = 0;
    twpa_status st = i == 60 ? make_relation(w, 2, 2) : TWPA_OK;
    if (st == TWPA_OK && i % 9 == 8)
      st = seed_one(w, i);
    if (st == TWPA_OK)
      st = fill(w, i);
    if (st != TWPA_OK)
      return st;
    TRY(twpa_plan_add(w->plan, &w->last, &n, w->set));
    say(w, w->last, n);
    if (i % 8 == 7)
      twpa_plan_write_dot(w->plan, take, w);
    st = complete_some(w);
    if (st != TWPA_OK)
      return st;
  }
  return TWPA_OK;
}

static twpa_status run(world *w, const twpa_allocator *mem, bool explain, size_t table_bytes)
{
  memset(w, 0, sizeof *w);
  w->mem = mem;
  w->r.state = 99;
  twpa_status st = scenario(w, explain, table_bytes);
  twpa_access_set_free(w->set);
  twpa_plan_free(w->plan);
  for (int i = 0; i < 3; i++)
    twpa_relation_free(w->rels[i]);
  return st;
}

START_TEST(every_allocation_fails_once)
{
  bool persistent = (_i & 1) != 0, explain = (_i & 2) != 0;
  size_t table_bytes = (_i & 4) != 0 ? 64 : 2048;
  world calm, w;
  ck_assert_int_eq(run(&calm, NULL, explain, table_bytes), TWPA_OK);
  ck_assert_uint_gt(calm.len, 1000);
  for (size_t n = 1;; n++) {
    faultmem fm;
    twpa_allocator mem = faultmem_init(&fm, n, persistent);
    twpa_status st = run(&w, &mem, explain, table_bytes);
    faultmem_check_empty(&fm);
    bool injected = fm.calls >= n;
    if (!injected || !persistent) {
      ck_assert_int_eq(st, TWPA_OK);
      ck_assert_uint_eq(w.len, calm.len);
      ck_assert(memcmp(w.text, calm.text, calm.len) == 0);
    } else {
      ck_assert_int_eq(st, TWPA_E_NOMEM);
    }
    free(w.text);
    if (!injected)
      break;
  }
  free(calm.text);
}
END_TEST

/* The steady state allocates nothing. */
START_TEST(the_steady_state_allocates_nothing)
{
  faultmem fm;
  twpa_allocator mem = faultmem_init(&fm, 0, false);
  twpa_plan *plan;
  twpa_access_set *set;
  uint64_t seq;
  uint32_t n;
  size_t calls = 0;
  rng r = {5};
  ck_assert_int_eq(twpa_plan_new(&plan, &(twpa_plan_options){TWPA_PLAN_OPTIONS_INIT, .table_bytes = 65536}, &mem), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plan, &mem), TWPA_OK);
  for (int i = 0; i < 60000; i++) {
    if (i == 30000)
      calls = fm.calls;
    ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
    for (uint32_t k = 0; k < 4; k++)
      ck_assert_int_eq(twpa_access_set_access(set, rng_below(&r, 3000), 1 + k), TWPA_OK);
    ck_assert_int_eq(twpa_plan_add(plan, &seq, &n, set), TWPA_OK);
    while (seq - twpa_plan_low_watermark(plan) >= 100)
      ck_assert_int_eq(twpa_plan_complete(plan, twpa_plan_low_watermark(plan) + 1, 0), TWPA_OK);
    while (twpa_plan_next_ready(plan, &seq) == TWPA_OK)
      continue;
  }
  ck_assert_uint_eq(fm.calls, calls);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  faultmem_check_empty(&fm);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_faults");
  TCase *t = tcase_create("faults");
  tcase_add_loop_test(t, every_allocation_fails_once, 0, 8);
  tcase_add_test(t, the_steady_state_allocates_nothing);
  suite_add_tcase(s, t);
  return run_suite(s);
}
