/*
 * The plan against a reference by pairs (planning rules, 4.1): the accesses of every two transactions are compared with
 * the conflict matrix, and the closure must be that of the plan; with a table that is too small the plan's may be larger.
 * Transactions commit in between, in every order the plan allows; who is ready is recomputed after each step.
 */
#include "kit.h"
#include "plan/plan.h"

#include <stdlib.h>

#define N 48 /* transactions of a world: a set of them is one word */

typedef struct copy { /* the accesses of one transaction */
  twpa__access acc[128];
  twpa__idx idxs[32];
  twpa__touch touches[16];
  size_t nacc, nidxs, ntouches;
  bool database;
} copy;

typedef struct world {
  rng *r;
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_relation *rels[4];
  size_t nrels;
  copy tx[N + 1];
  uint64_t preds[N + 1]; /* as the plan says right after entering: bit i = transaction i */
  uint64_t must[N + 1];  /* conflicting pairs, earlier one unfinished when the later entered */
  uint64_t all[N + 1];   /* conflicting pairs */
  uint64_t done;
  unsigned n;
  bool strict, strict_refs, exact;
} world;

static uint64_t bit(uint64_t i)
{
  return UINT64_C(1) << i;
}

static void take_copy(copy *c, const twpa_access_set *set)
{
  const twpa__accesses *a = &set->acc;
  ck_assert(a->nacc <= 128 && a->nidxs <= 32 && a->ntouches <= 16);
  if (a->nacc > 0)
    memcpy(c->acc, a->acc, a->nacc * sizeof *a->acc);
  if (a->nidxs > 0)
    memcpy(c->idxs, a->idxs, a->nidxs * sizeof *a->idxs);
  if (a->ntouches > 0)
    memcpy(c->touches, a->touches, a->ntouches * sizeof *a->touches);
  c->nacc = a->nacc;
  c->nidxs = a->nidxs;
  c->ntouches = a->ntouches;
  c->database = a->database_barrier;
}

/* The conflict matrix of rule 1.4, cell by cell. */
static bool keys_conflict(uint32_t before, uint32_t after)
{
  static const bool matrix[4][4] = {[TWPA_MODE_READ] = {[TWPA_MODE_WRITE] = true},
                                    [TWPA_MODE_UPDATE] = {[TWPA_MODE_UPDATE] = true, [TWPA_MODE_WRITE] = true},
                                    [TWPA_MODE_WRITE] = {false, true, true, true}};
  return matrix[before & 3][after & 3];
}

static bool indexes_conflict(const world *w, uint32_t before, uint32_t after)
{
  bool release = w->strict || (before & TWPA__IDX_DETECTOR) == 0;
  bool refs = w->strict_refs || (before & TWPA__IDX_FK_DETECTED) == 0;
  if (release && (before & TWPA__IDX_RELEASE_UNKNOWN) != 0 && (after & TWPA__IDX_CLAIM) != 0)
    return true;
  if (refs && (before & TWPA__IDX_REF_RELEASE) != 0 && (after & TWPA__IDX_RELEASE_UNKNOWN) != 0)
    return true;
  return refs && (before & TWPA__IDX_REF_RELEASE_UNKNOWN) != 0 &&
         (after & (TWPA__IDX_RELEASE_UNKNOWN | TWPA__IDX_KEYLOSS)) != 0;
}

static bool conflict(const world *w, const copy *x, const copy *y)
{
  if (x->database || y->database)
    return true;
  for (size_t i = 0; i < x->ntouches; i++)
    for (size_t k = 0; k < y->ntouches; k++)
      if (x->touches[i].id == y->touches[k].id &&
          ((x->touches[i].flags | y->touches[k].flags) & TWPA__TOUCH_BARRIER) != 0)
        return true;
  const uint32_t space = TWPA__ACC_WIDE | TWPA__ACC_RAW;
  for (size_t i = 0; i < x->nacc; i++)
    for (size_t k = 0; k < y->nacc; k++)
      if (x->acc[i].key == y->acc[k].key && ((x->acc[i].bits ^ y->acc[k].bits) & space) == 0 &&
          keys_conflict(x->acc[i].bits, y->acc[k].bits))
        return true;
  for (size_t i = 0; i < x->nidxs; i++)
    for (size_t k = 0; k < y->nidxs; k++)
      if (x->idxs[i].domain == y->idxs[k].domain && indexes_conflict(w, x->idxs[i].flags, y->idxs[k].flags))
        return true;
  return false;
}

/* --- a transaction ---------------------------------------------------------------------------------------------- */

static int64_t some(world *w, bool null)
{
  return null && rng_chance(w->r, 20) ? NIL : (int64_t)rng_below(w->r, 3);
}

static void random_change(world *w)
{
  twpa_relation *rel = w->rels[rng_below(w->r, w->nrels)];
  int64_t old[3] = {some(w, false), some(w, true), some(w, true)};
  int64_t new[3] = {old[0], some(w, true), some(w, true)};
  bool full = rel->identity == TWPA_IDENTITY_FULL;
  uint32_t op = 1 + (uint32_t)rng_below(w->r, 3);
  if (rng_chance(w->r, 30))
    new[0] = some(w, false);
  if (op == TWPA_OP_UPDATE && rng_chance(w->r, 20))
    new[1 + rng_below(w->r, 2)] = SAME;
  bool sent = full || op == TWPA_OP_DELETE || new[0] != old[0];
  ck_assert_int_eq(change(w->set, rel, op, 3, sent ? old : NULL, op != TWPA_OP_DELETE ? new : NULL), TWPA_OK);
}

static void random_transaction(world *w)
{
  size_t n = rng_below(w->r, 4);
  test_must(twpa_access_set_begin(w->set, w->n, 0, 0) == TWPA_OK);
  for (size_t i = 0; i < n; i++) {
    twpa_relation *rel = w->rels[rng_below(w->r, w->nrels)];
    unsigned what = (unsigned)rng_below(w->r, 100);
    if (what < 60)
      random_change(w);
    else if (what < 85)
      ck_assert_int_eq(twpa_access_set_access(w->set, rng_below(w->r, 12), 1 + (uint32_t)rng_below(w->r, 4)), TWPA_OK);
    else if (what < 90)
      ck_assert_int_eq(twpa_access_set_touch(w->set, rel), TWPA_OK);
    else if (what < 94)
      ck_assert_int_eq(twpa_access_set_truncate(w->set, &rel, 1), TWPA_OK);
    else if (what < 95)
      ck_assert_int_eq(twpa_access_set_barrier(w->set, NULL), TWPA_OK);
  }
}

/* --- relations --------------------------------------------------------------------------------------------------- */

/* p(k, u, x) and c(k, r -> p.k, s -> p.u), and a table of its own; identity and deferrability as they come. */
static void make_relations(world *w)
{
  relation_kit kit;
  const uint32_t identities[] = {TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_FULL, TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_NOTHING};
  uint32_t deferrable = rng_chance(w->r, 30) ? TWPA_INDEX_DEFERRABLE : 0;
  uint32_t fk = TWPA_FK_ENFORCED | (rng_chance(w->r, 30) ? TWPA_FK_DEFERRABLE : 0);
  kit_begin(&kit, 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, deferrable);
  kit_reference(&kit, 2, 1, fk);
  kit_reference(&kit, 2, 2, TWPA_FK_ENFORCED);
  kit.desc.identity = identities[rng_below(w->r, 4)];
  w->rels[0] = kit_make(&kit);
  kit_begin(&kit, 2, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 1, COL1, 1, fk);
  kit_fk(&kit, 1, 2, COL2, 1, TWPA_FK_ENFORCED);
  kit.desc.identity = identities[rng_below(w->r, 4)];
  w->rels[1] = kit_make(&kit);
  kit_begin(&kit, 3, 3);
  kit_index(&kit, 1, COL12, 2, TWPA_INDEX_NULLS_NOT_DISTINCT);
  kit.desc.identity = TWPA_IDENTITY_FULL;
  w->rels[2] = kit_make(&kit);
  kit_begin(&kit, 4, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, TWPA_INDEX_PARTIAL)->predicate_columns = COL2;
  kit.indexes[1].npredicate_columns = 1;
  kit_fk(&kit, 4, 1, COL2, 1, TWPA_FK_ENFORCED);
  kit_reference(&kit, 4, 1, TWPA_FK_ENFORCED);
  w->rels[3] = kit_make(&kit);
  w->nrels = 4;
}

/* --- checking ---------------------------------------------------------------------------------------------------- */

static void read_predecessors(world *w, uint32_t count)
{
  static twpa_edge edges[4096];
  size_t n;
  ck_assert_int_eq(twpa_plan_explain(w->plan, edges, 4096, &n, w->n), TWPA_OK);
  ck_assert_uint_le(n, 4096);
  w->preds[w->n] = 0;
  for (size_t i = 0; i < n; i++) {
    ck_assert_uint_lt(edges[i].from, w->n);
    ck_assert_uint_eq(edges[i].to, w->n);
    w->preds[w->n] |= (edges[i].flags & TWPA_EDGE_UP_TO) != 0 ? bit(edges[i].from + 1) - 2 : bit(edges[i].from);
  }
  ck_assert_int_eq(count == 0, (w->preds[w->n] & ~w->done) == 0);
}

/* Ready is who has no unfinished predecessor, by what the plan said when he entered. */
static void check_ready(const world *w)
{
  for (unsigned i = 1; i <= w->n; i++) {
    twpa_node node;
    twpa_status st = twpa_plan_node(w->plan, &node, i);
    if (st == TWPA_E_NOTFOUND) {
      ck_assert((w->done & bit(i)) != 0);
      continue;
    }
    ck_assert_int_eq(st, TWPA_OK);
    uint32_t state = (w->done & bit(i)) != 0             ? TWPA_NODE_COMMITTED
                     : (w->preds[i] & ~w->done) != 0     ? TWPA_NODE_WAITING
                                                         : TWPA_NODE_READY;
    ck_assert_uint_eq(node.state, state);
  }
}

static void complete_some(world *w)
{
  while (rng_chance(w->r, 50)) {
    unsigned i = 1 + (unsigned)rng_below(w->r, w->n);
    if ((w->done & bit(i)) != 0 || (w->preds[i] & ~w->done) != 0)
      continue;
    ck_assert_int_eq(twpa_plan_complete(w->plan, i, TWPA_DONE_COMMITTED), TWPA_OK);
    w->done |= bit(i);
    uint64_t seq;
    while (twpa_plan_next_ready(w->plan, &seq) == TWPA_OK)
      ck_assert((w->preds[seq] & ~w->done) == 0);
    check_ready(w);
  }
}

static void closures(uint64_t *reach, const uint64_t *direct, unsigned n)
{
  for (unsigned i = 1; i <= n; i++) {
    reach[i] = 0;
    for (unsigned k = 1; k < i; k++)
      if ((direct[i] & bit(k)) != 0)
        reach[i] |= bit(k) | reach[k];
  }
}

static void check_closure(const world *w)
{
  uint64_t plan[N + 1], must[N + 1], may[N + 1];
  closures(plan, w->preds, w->n);
  closures(must, w->must, w->n);
  closures(may, w->all, w->n);
  for (unsigned i = 1; i <= w->n; i++) {
    ck_assert_msg((w->must[i] & ~plan[i]) == 0, "transaction %u misses predecessors %llx", i,
                  (unsigned long long)(w->must[i] & ~plan[i]));
    if (w->exact)
      ck_assert_msg((w->preds[i] & ~may[i]) == 0, "transaction %u has needless predecessors %llx", i,
                    (unsigned long long)(w->preds[i] & ~may[i]));
  }
}

static void one_world(rng *r, size_t table_bytes, bool completions, bool explain)
{
  static world w;
  memset(&w, 0, sizeof w);
  w.r = r;
  w.exact = table_bytes > 4096;
  bool optimistic = rng_chance(r, 50), optimistic_refs = rng_chance(r, 30);
  w.strict = !optimistic;
  w.strict_refs = !optimistic_refs;
  twpa_plan_options o = {TWPA_PLAN_OPTIONS_INIT, .seed = rng_next(r), .table_bytes = table_bytes,
                         .wide_bytes = table_bytes, .unique_release = optimistic ? 0 : TWPA_UNKNOWN_STRICT,
                         .reference_release = optimistic_refs, .explain = explain,
                         .no_identity = TWPA_NO_IDENTITY_INSERT_FREE};
  ck_assert_int_eq(twpa_plan_new(&w.plan, &o, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&w.set, w.plan, NULL), TWPA_OK);
  make_relations(&w);
  while (w.n < N) {
    uint32_t count;
    uint64_t seq;
    w.n++;
    random_transaction(&w);
    take_copy(&w.tx[w.n], w.set);
    ck_assert_int_eq(twpa_plan_add(w.plan, &seq, &count, w.set), TWPA_OK);
    ck_assert_uint_eq(seq, w.n);
    for (unsigned i = 1; i < w.n; i++)
      if (conflict(&w, &w.tx[i], &w.tx[w.n])) {
        w.all[w.n] |= bit(i);
        if ((w.done & bit(i)) == 0)
          w.must[w.n] |= bit(i);
      }
    read_predecessors(&w, count);
    if (completions)
      complete_some(&w);
  }
  check_ready(&w);
  check_closure(&w);
  twpa_access_set_free(w.set);
  twpa_plan_free(w.plan);
  for (size_t i = 0; i < w.nrels; i++)
    twpa_relation_free(w.rels[i]);
}

START_TEST(closure_equals_that_of_pairs)
{
  rng r = {test_seed(1) + (uint64_t)_i};
  for (int i = 0; i < 150; i++)
    one_world(&r, 65536, (_i & 1) != 0, (_i & 2) != 0);
}
END_TEST

START_TEST(small_tables_only_add)
{
  rng r = {test_seed(2) + (uint64_t)_i};
  for (int i = 0; i < 150; i++)
    one_world(&r, (size_t)64 << rng_below(&r, 4), (_i & 1) != 0, (_i & 2) != 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_pairs");
  TCase *t = tcase_create("pairs");
  tcase_add_loop_test(t, closure_equals_that_of_pairs, 0, 4);
  tcase_add_loop_test(t, small_tables_only_add, 0, 4);
  suite_add_tcase(s, t);
  return run_suite(s);
}
