/*
 * From changes to accesses: the tables of planning rules 1.2 and 1.3, row by row. The accesses of a change are printed
 * as text, "relation.index mode value", and compared with what the table says.
 */
#include "kit.h"
#include "plan/plan.h"

#include <stdio.h>

#define SEED 7
#define ENF TWPA_FK_ENFORCED

static char text[2048];

/* The small integers whose key it is, or "*". */
static void put_value(const twpa__idx *x, uint64_t key)
{
  for (int64_t v = -1; v < 10; v++)
    for (int64_t w = -1; w < 10; w++) {
      int64_t pair[2] = {v < 0 ? NIL : v, w < 0 ? NIL : w};
      row r;
      twpa_key k;
      for (size_t n = 1; n <= 2; n++)
        if (twpa_key_of(&k, SEED, x->relation, x->index, TWPA_KEYER_NULLS_NOT_DISTINCT, row_of(&r, n, pair), n) ==
              TWPA_OK &&
            k == key) {
          sprintf(text + strlen(text), n == 1 ? "%d" : "%d,%d", (int)v, (int)w);
          return;
        }
    }
  strcat(text, "*");
}

static const char *dump(const twpa_access_set *set)
{
  static const char *const flags[] = {"claim", "release?", "keyloss", "ref", "ref?"};
  const twpa__accesses *a = &set->acc;
  text[0] = '\0';
  for (size_t i = 0; i < a->nacc; i++) {
    const twpa__idx *x = &a->idxs[a->acc[i].idx];
    if ((a->acc[i].bits & TWPA__ACC_RAW) != 0) {
      sprintf(text + strlen(text), "raw%c%u ", "-RUW"[a->acc[i].bits & 3], (unsigned)twpa__raw_key(a->acc[i].key));
      continue;
    }
    char mode = "-RUW"[a->acc[i].bits & 3];
    if (x->index == TWPA__WHOLE_ROW)
      sprintf(text + strlen(text), "%u.row%c", (unsigned)x->relation, mode);
    else
      sprintf(text + strlen(text), "%u.%u%c", (unsigned)x->relation, (unsigned)x->index, mode);
    if (x->index != TWPA__WHOLE_ROW)
      put_value(x, a->acc[i].key);
    strcat(text, " ");
  }
  for (size_t i = 0; i < a->nidxs; i++)
    for (int b = 0; b < 5; b++)
      if ((a->idxs[i].flags & 1u << b) != 0)
        sprintf(text + strlen(text), "%u.%u:%s ", (unsigned)a->idxs[i].relation, (unsigned)a->idxs[i].index, flags[b]);
  for (size_t i = 0; i < a->ntouches; i++)
    sprintf(text + strlen(text), (a->touches[i].flags & TWPA__TOUCH_BARRIER) != 0 ? "%u! " : "%u ",
            (unsigned)a->touches[i].id);
  if (a->database_barrier)
    strcat(text, "db! ");
  if (text[0] != '\0')
    text[strlen(text) - 1] = '\0';
  return text;
}

static twpa_plan *plan;
static twpa_access_set *set;
static relation_kit kit;
static twpa_relation *rel;

static void begin_with(twpa_plan_options o)
{
  o.struct_size = TWPA_PLAN_OPTIONS_INIT;
  o.seed = SEED;
  o.table_bytes = 4096;
  ck_assert_int_eq(twpa_plan_new(&plan, &o, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plan, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
}

static void setup(void)
{
  begin_with((twpa_plan_options){.struct_size = 0});
  rel = NULL;
}

static void teardown(void)
{
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  twpa_relation_free(rel);
}

/* --- t(k primary, u unique, x), alone or referenced ------------------------------------------------------------- */

#define N NIL
#define A ABSENT
#define S SAME

typedef struct expectation {
  uint32_t identity;
  uint32_t op;
  int64_t old[3], new[3];
  const char *accesses;
} expectation;

enum { INS = TWPA_OP_INSERT, UPD = TWPA_OP_UPDATE, DEL = TWPA_OP_DELETE };
#define NOTHING_SENT {N, N, N}

static void expect(const expectation *e)
{
  bool sent = e->old[0] != N || e->old[1] != N || e->old[2] != N;
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  ck_assert_int_eq(change(set, rel, e->op, 3, sent ? e->old : NULL, e->op != DEL ? e->new : NULL), TWPA_OK);
  ck_assert_str_eq(dump(set), e->accesses);
}

static void alone(uint32_t identity, uint32_t u_flags)
{
  twpa_relation_free(rel);
  kit_begin(&kit, 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, u_flags);
  kit.desc.identity = identity;
  if (identity == TWPA_IDENTITY_INDEX)
    kit.desc.identity_index = 2;
  rel = kit_make(&kit);
}

static const expectation rows[] = {
  /* identity DEFAULT: the old unique value is unknown */
  {TWPA_IDENTITY_DEFAULT, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1"},
  {TWPA_IDENTITY_DEFAULT, INS, NOTHING_SENT, {1, N, 3}, "1.1W1 1"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, 2, 3}, "1.1U1 1.2W2 1.2:claim 1.2:release? 1"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, N, 3}, "1.1U1 1.2:release? 1"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, S, 3}, "1.1U1 1"},
  {TWPA_IDENTITY_DEFAULT, UPD, {1, N, N}, {4, 2, 3}, "1.1W1 1.1W4 1.2W2 1.2:claim 1.2:release? 1"},
  {TWPA_IDENTITY_DEFAULT, UPD, {1, N, N}, {1, S, 3}, "1.1U1 1"},
  {TWPA_IDENTITY_DEFAULT, DEL, {1, N, N}, NOTHING_SENT, "1.1W1 1.2:release? 1"},
  /* FULL with a primary key: everything is known */
  {TWPA_IDENTITY_FULL, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, 2, 4}, "1.1U1 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, 5, 3}, "1.1U1 1.2W2 1.2W5 1.2:claim 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, N, 3}, {1, 5, 3}, "1.1U1 1.2W5 1.2:claim 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, N, 3}, "1.1U1 1.2W2 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, N, 3}, {1, N, 4}, "1.1U1 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, S, 4}, "1.1U1 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {S, 4, S}, "1.1U1 1.2W2 1.2W4 1.2:claim 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {4, 2, 3}, "1.1W1 1.1W4 1"},
  {TWPA_IDENTITY_FULL, DEL, {1, 2, 3}, NOTHING_SENT, "1.1W1 1.2W2 1"},
  {TWPA_IDENTITY_FULL, DEL, {1, N, 3}, NOTHING_SENT, "1.1W1 1"},
  /* INDEX over u: the primary key is the one that is not known */
  {TWPA_IDENTITY_INDEX, INS, NOTHING_SENT, {1, 2, 3}, "1.2W2 1.1W1 1.1:claim 1"},
  {TWPA_IDENTITY_INDEX, UPD, NOTHING_SENT, {1, 2, 3}, "1.2U2 1.1W1 1.1:claim 1.1:release? 1"},
  {TWPA_IDENTITY_INDEX, DEL, {N, 2, N}, NOTHING_SENT, "1.2W2 1.1:release? 1"},
  /* NOTHING: inserts only */
  {TWPA_IDENTITY_NOTHING, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1"},
  {TWPA_IDENTITY_NOTHING, DEL, {1, 2, 3}, NOTHING_SENT, "1.2:release? 1!"},
  /* what is missing becomes a barrier */
  {TWPA_IDENTITY_DEFAULT, INS, NOTHING_SENT, {1, A, 3}, "1.1W1 1!"},
  {TWPA_IDENTITY_DEFAULT, INS, NOTHING_SENT, {A, 2, 3}, "1.2W2 1.2:claim 1!"},
  {TWPA_IDENTITY_DEFAULT, DEL, NOTHING_SENT, NOTHING_SENT, "1.2:release? 1!"},
  {TWPA_IDENTITY_FULL, UPD, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1.2:release? 1!"},
};

START_TEST(rows_of_a_table_alone)
{
  alone(rows[_i].identity, 0);
  expect(&rows[_i]);
}
END_TEST

START_TEST(partial_index)
{
  alone(TWPA_IDENTITY_FULL, TWPA_INDEX_PARTIAL);
  twpa_relation_free(rel);
  kit.indexes[1].predicate_columns = COL2;
  kit.indexes[1].npredicate_columns = 1;
  rel = kit_make(&kit);
  /* no shortcut when the predicate may have changed: the row enters or leaves the index */
  expect(&(expectation){0, UPD, {1, 2, 0}, {1, 2, 1}, "1.1U1 1.2W2 1.2:claim 1"});
  expect(&(expectation){0, UPD, {1, 2, 1}, {1, 2, 1}, "1.1U1 1"});
}
END_TEST

START_TEST(nulls_not_distinct)
{
  alone(TWPA_IDENTITY_FULL, TWPA_INDEX_NULLS_NOT_DISTINCT);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, N, 3}, "1.1W1 1.2W-1 1.2:claim 1"});
  expect(&(expectation){0, UPD, {1, N, 3}, {1, 4, 3}, "1.1U1 1.2W-1 1.2W4 1.2:claim 1"});
}
END_TEST

START_TEST(keyless_full_and_keyless_nothing)
{
  kit_begin(&kit, 1, 3);
  kit.desc.identity = TWPA_IDENTITY_FULL;
  rel = kit_make(&kit);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1.rowR 1"});
  expect(&(expectation){0, UPD, {1, 2, 3}, {1, 2, 4}, "1.rowW 1.rowR 1"});
  expect(&(expectation){0, UPD, {1, 2, 3}, {1, 2, 3}, "1.rowW 1"});
  expect(&(expectation){0, DEL, {1, 2, 3}, NOTHING_SENT, "1.rowW 1"});
  twpa_relation_free(rel);
  kit.desc.identity = TWPA_IDENTITY_NOTHING;
  rel = kit_make(&kit);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1!"});
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  begin_with((twpa_plan_options){.no_identity = TWPA_NO_IDENTITY_INSERT_FREE});
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1"});
  expect(&(expectation){0, DEL, {1, 2, 3}, NOTHING_SENT, "1!"});
}
END_TEST

/* --- a parent p(k primary, u unique, x), both referenced by relation 2 ------------------------------------------ */

static void parent(uint32_t identity, uint32_t fk)
{
  twpa_relation_free(rel);
  kit_begin(&kit, 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, 0);
  kit_reference(&kit, 2, 1, fk);
  kit_reference(&kit, 3, 2, fk);
  kit.desc.identity = identity;
  rel = kit_make(&kit);
}

static const expectation parent_rows[] = {
  {TWPA_IDENTITY_FULL, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, 2, 4}, "1.1U1 1"},
  {TWPA_IDENTITY_FULL, DEL, {1, 2, 3}, NOTHING_SENT, "1.1W1 1.2W2 1.1:keyloss 1.2:keyloss 1 2 3"},
  {TWPA_IDENTITY_FULL, DEL, {1, N, 3}, NOTHING_SENT, "1.1W1 1.1:keyloss 1 2"},
  /* lock strength: a change of u takes the strong lock, so the key of the row is written */
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, 5, 3}, "1.1W1 1.2W2 1.2W5 1.2:claim 1.2:keyloss 1 3"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, N, 3}, "1.1W1 1.2W2 1.2:keyloss 1 3"},
  {TWPA_IDENTITY_FULL, UPD, {1, N, 3}, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1"},
  /* and so does a change of k: u, unchanged, is written */
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {4, 2, 3}, "1.1W1 1.1W4 1.2W2 1.1:keyloss 1 2"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.2W2 1.2:claim 1.2:release? 1 3"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, S, 3}, "1.1U1 1"},
  {TWPA_IDENTITY_DEFAULT, DEL, {1, N, N}, NOTHING_SENT, "1.1W1 1.1:keyloss 1.2:release? 1 2 3"},
};

START_TEST(rows_of_a_parent)
{
  parent(parent_rows[_i].identity, ENF);
  expect(&parent_rows[_i]);
}
END_TEST

START_TEST(references_that_do_not_count)
{
  parent(TWPA_IDENTITY_FULL, 0);
  expect(&(expectation){0, UPD, {1, 2, 3}, {1, 5, 3}, "1.1U1 1.2W2 1.2W5 1.2:claim 1"});
  expect(&(expectation){0, DEL, {1, 2, 3}, NOTHING_SENT, "1.1W1 1.2W2 1"});
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  begin_with((twpa_plan_options){.foreign_keys = TWPA_FOREIGN_KEYS_ALL});
  expect(&(expectation){0, DEL, {1, 2, 3}, NOTHING_SENT, "1.1W1 1.2W2 1.1:keyloss 1.2:keyloss 1 2 3"});
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  begin_with((twpa_plan_options){.foreign_keys = TWPA_FOREIGN_KEYS_OFF});
  parent(TWPA_IDENTITY_FULL, ENF | TWPA_FK_CASCADE);
  expect(&(expectation){0, DEL, {1, 2, 3}, NOTHING_SENT, "1.1W1 1.2W2 1"});
}
END_TEST

START_TEST(parent_update_conflicts_by_policy)
{
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  begin_with((twpa_plan_options){.parent_update = TWPA_PARENT_UPDATE_CONFLICTS});
  parent(TWPA_IDENTITY_FULL, ENF);
  expect(&(expectation){0, UPD, {1, 2, 3}, {1, 2, 4}, "1.1W1 1.2W2 1"});
}
END_TEST

/* --- a child c(k primary, r -> p.k, x) --------------------------------------------------------------------------- */

static void child(uint32_t identity, uint32_t fk)
{
  twpa_relation_free(rel);
  kit_begin(&kit, 2, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 1, COL1, 1, fk);
  kit.desc.identity = identity;
  rel = kit_make(&kit);
}

static const expectation child_rows[] = {
  {TWPA_IDENTITY_FULL, INS, NOTHING_SENT, {1, 2, 3}, "2.1W1 1.1R2 2 1"},
  {TWPA_IDENTITY_FULL, INS, NOTHING_SENT, {1, N, 3}, "2.1W1 2"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, 2, 4}, "2.1U1 2 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, 5, 3}, "2.1U1 1.1R2 1.1R5 1.1:ref 2 1"},
  {TWPA_IDENTITY_FULL, UPD, {1, 2, 3}, {1, N, 3}, "2.1U1 1.1R2 1.1:ref 2"},
  {TWPA_IDENTITY_FULL, UPD, {1, N, 3}, {1, 2, 3}, "2.1U1 1.1R2 2 1"},
  {TWPA_IDENTITY_FULL, DEL, {1, 2, 3}, NOTHING_SENT, "2.1W1 1.1R2 1.1:ref 2"},
  {TWPA_IDENTITY_FULL, DEL, {1, N, 3}, NOTHING_SENT, "2.1W1 2"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, 2, 3}, "2.1U1 1.1R2 1.1:ref? 2 1"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, N, 3}, "2.1U1 1.1:ref? 2"},
  {TWPA_IDENTITY_DEFAULT, UPD, NOTHING_SENT, {1, S, 3}, "2.1U1 2 1"},
  {TWPA_IDENTITY_DEFAULT, DEL, {1, N, N}, NOTHING_SENT, "2.1W1 1.1:ref? 2"},
  {TWPA_IDENTITY_DEFAULT, INS, NOTHING_SENT, {1, A, 3}, "2.1W1 2! 1!"},
};

START_TEST(rows_of_a_child)
{
  child(child_rows[_i].identity, ENF);
  expect(&child_rows[_i]);
}
END_TEST

START_TEST(foreign_keys_of_several_columns)
{
  for (uint32_t full = 0; full <= TWPA_FK_MATCH_FULL; full += TWPA_FK_MATCH_FULL) {
    child(TWPA_IDENTITY_FULL, ENF | full);
    twpa_relation_free(rel);
    kit.fks[0].columns = COL12;
    kit.fks[0].ncolumns = 2;
    rel = kit_make(&kit);
    expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, N}, "2.1W1 2"}); /* any NULL: no reference */
    expect(&(expectation){0, UPD, {1, N, 3}, {1, 2, N}, "2.1U1 2"});
    ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
    const int64_t old[3] = {1, 2, 3}, new[3] = {1, 2, 4};
    ck_assert_int_eq(change(set, rel, UPD, 3, old, new), TWPA_OK);
    ck_assert_uint_eq(set->acc.nacc, 3); /* the row, and two references in the parent's domain */
    twpa_access_set_counters c = {.struct_size = TWPA_ACCESS_SET_COUNTERS_INIT};
    ck_assert_int_eq(twpa_access_set_stats(set, &c), TWPA_OK);
    ck_assert_uint_eq(c.barriers, 0);
    ck_assert_uint_eq(c.fallbacks[TWPA_FALLBACK_FOREIGN_KEY], 0);
  }
}
END_TEST

START_TEST(foreign_keys_that_are_no_keys)
{
  const expectation e = {0, INS, NOTHING_SENT, {1, 2, 3}, "2.1W1 2! 1!"};
  child(TWPA_IDENTITY_FULL, 0);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "2.1W1 2"});
  const uint32_t text_class[1] = {TWPA_CLASS_BYTES};
  child(TWPA_IDENTITY_FULL, ENF);
  twpa_relation_free(rel);
  kit.fks[0].parent_classes = text_class;
  rel = kit_make(&kit);
  expect(&e);
  twpa_access_set_counters c = {.struct_size = TWPA_ACCESS_SET_COUNTERS_INIT};
  ck_assert_int_eq(twpa_access_set_stats(set, &c), TWPA_OK);
  ck_assert_uint_eq(c.fallbacks[TWPA_FALLBACK_FOREIGN_KEY], 1);
  ck_assert_uint_eq(c.barriers, 2);
}
END_TEST

/* --- relations as a whole ---------------------------------------------------------------------------------------- */

START_TEST(what_makes_a_relation_serial)
{
  const expectation e = {0, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1!"};
  kit_begin(&kit, 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 0, TWPA_INDEX_EXPRESSION);
  rel = kit_make(&kit);
  expect(&e);
  kit.indexes[1].flags = TWPA_INDEX_EXCLUSION;
  twpa_relation_free(rel);
  rel = kit_make(&kit);
  expect(&e);
  kit.desc.nindexes = 1;
  kit.desc.flags = TWPA_RELATION_SERIAL;
  twpa_relation_free(rel);
  rel = kit_make(&kit);
  expect(&e);
  kit.desc.flags = TWPA_RELATION_SIDE_EFFECTS;
  twpa_relation_free(rel);
  rel = kit_make(&kit);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1! db!"});
  const uint64_t affects[2] = {8, 9};
  kit.desc.affects = affects;
  kit.desc.naffects = 2;
  twpa_relation_free(rel);
  rel = kit_make(&kit);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1! 8! 9!"});
}
END_TEST

START_TEST(unreadable_values_are_barriers)
{
  alone(TWPA_IDENTITY_DEFAULT, 0);
  row r;
  const int64_t numbers[3] = {1, 2, 3};
  twpa_value v[3];
  memcpy(v, row_of(&r, 3, numbers), sizeof v);
  v[1].bytes.len = 3; /* no width of an integer */
  ck_assert_int_eq(twpa_access_set_change(set, rel, INS, NULL, v, 3), TWPA_OK);
  ck_assert_str_eq(dump(set), "1.1W1 1!");
  v[0].bytes = (twpa_bytes){NULL, 8};
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_change(set, rel, UPD, v, v, 3), TWPA_OK);
  ck_assert_str_eq(dump(set), "1.2:release? 1!");
}
END_TEST

START_TEST(a_column_of_unknown_class_is_left_out)
{
  kit_begin(&kit, 1, 3);
  kit.columns[2].cls = TWPA_CLASS_UNKNOWN;
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL2, 1, 0);
  kit_index(&kit, 3, COL12, 2, 0);
  rel = kit_make(&kit);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  const int64_t x[3] = {1, 2, 3}, y[3] = {4, 2, 5};
  ck_assert_int_eq(change(set, rel, INS, 3, NULL, x), TWPA_OK);
  ck_assert_int_eq(change(set, rel, INS, 3, NULL, y), TWPA_OK);
  ck_assert_str_eq(dump(set), "1.1W1 1.2W* 1.3W2 1.1W4 1.2:claim 1.3:claim 1");
}
END_TEST

START_TEST(one_transaction_merges)
{
  alone(TWPA_IDENTITY_FULL, 0);
  const int64_t a[3] = {1, 2, 3}, b[3] = {1, 4, 3}, c[3] = {1, 5, 3};
  ck_assert_int_eq(change(set, rel, UPD, 3, a, b), TWPA_OK); /* intermediate values count */
  ck_assert_int_eq(change(set, rel, UPD, 3, b, c), TWPA_OK);
  ck_assert_int_eq(change(set, rel, DEL, 3, c, NULL), TWPA_OK);
  ck_assert_str_eq(dump(set), "1.1W1 1.2W2 1.2W4 1.2W5 1.2:claim 1");
  ck_assert_int_eq(twpa_access_set_truncate(set, &rel, 1), TWPA_OK);
  ck_assert_str_eq(dump(set), "1.1W1 1.2W2 1.2W4 1.2W5 1.2:claim 1!");
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  for (uint32_t mode = 1; mode <= 3; mode++)
    ck_assert_int_eq(twpa_access_set_access(set, 5, mode), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_access(set, 5, TWPA_MODE_EXCLUSIVE), TWPA_OK);
  ck_assert_str_eq(dump(set), "rawW5 rawW5");
}
END_TEST

START_TEST(merging_many_is_the_same_as_merging_few)
{
  alone(TWPA_IDENTITY_FULL, 0);
  for (int round = 0; round < 2; round++)
    for (int64_t k = 0; k < 3000; k++) {
      const int64_t v[3] = {k, k + 1, 0};
      ck_assert_int_eq(change(set, rel, INS, 3, NULL, v), TWPA_OK);
    }
  ck_assert_uint_eq(set->acc.nacc, 6000);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  const int64_t v[3] = {1, 2, 3};
  ck_assert_int_eq(change(set, rel, INS, 3, NULL, v), TWPA_OK);
  ck_assert_str_eq(dump(set), "1.1W1 1.2W2 1.2:claim 1");
}
END_TEST

START_TEST(leaves_share_the_domains_of_the_root)
{
  kit_begin(&kit, 11, 3);
  kit.desc.root = 1;
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  rel = kit_make(&kit);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.1:claim 1"});
  expect(&(expectation){0, DEL, {1, N, N}, NOTHING_SENT, "1.1W1 1"});
}
END_TEST

START_TEST(deferrable_primary_key_identifies_nothing)
{
  kit_begin(&kit, 1, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY | TWPA_INDEX_DEFERRABLE);
  rel = kit_make(&kit);
  expect(&(expectation){0, INS, NOTHING_SENT, {1, 2, 3}, "1.1W1 1.1:claim 1!"});
  expect(&(expectation){0, UPD, {1, N, N}, {2, 2, 3}, "1.1W2 1.1:claim 1.1:release? 1!"});
}
END_TEST

START_TEST(prefix_and_equality_classes_share_keys)
{
  const uint32_t prefix[1] = {2};
  kit_begin(&kit, 1, 1);
  kit.columns[0].cls = TWPA_CLASS_BYTES;
  twpa_index_desc *x = kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY | TWPA_INDEX_PREFIX_UTF8);
  x->prefix_len = prefix;
  rel = kit_make(&kit);
  static const char *const same[] = {"\xC3\xA9\xC3\xA9", "\xC3\xA9\xC3\xA9x", "\xC3\xA9\xC3\xA9\xC3\xA9"};
  for (size_t i = 0; i < 3; i++) {
    twpa_value v = {0, TWPA_VALUE_BINARY, {same[i], strlen(same[i])}};
    ck_assert_int_eq(twpa_access_set_change(set, rel, INS, NULL, &v, 1), TWPA_OK);
  }
  ck_assert_uint_eq(set->acc.nacc, 1);
  twpa_value v = {0, TWPA_VALUE_BINARY, {"\xC3\xA9x", 3}};
  ck_assert_int_eq(twpa_access_set_change(set, rel, INS, NULL, &v, 1), TWPA_OK);
  ck_assert_uint_eq(set->acc.nacc, 2);
}
END_TEST

START_TEST(wrong_arguments)
{
  row r;
  const int64_t v[3] = {1, 2, 3};
  alone(TWPA_IDENTITY_DEFAULT, 0);
  const twpa_value *values = row_of(&r, 3, v);
  ck_assert_int_eq(twpa_access_set_change(NULL, rel, INS, NULL, values, 3), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_change(set, NULL, INS, NULL, values, 3), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_change(set, rel, 0, NULL, values, 3), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_change(set, rel, 4, NULL, values, 3), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_change(set, rel, INS, NULL, values, 2), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_change(set, rel, INS, values, NULL, 3), TWPA_E_INVAL);
  r.values[2].state = 9;
  ck_assert_int_eq(twpa_access_set_change(set, rel, INS, NULL, values, 3), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_access(set, 1, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_access(set, 1, 5), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 2), TWPA_E_UNSUPPORTED);
  ck_assert_int_eq(twpa_access_set_begin(NULL, 0, 0, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_touch(set, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_truncate(set, NULL, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_truncate(set, NULL, 0), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_barrier(NULL, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_access_set_stats(set, NULL), TWPA_E_INVAL);
  ck_assert_str_eq(dump(set), "");
}
END_TEST

int main(void)
{
  Suite *s = suite_create("access_set");
  TCase *t = tcase_create("tables");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, rows_of_a_table_alone, 0, (int)(sizeof rows / sizeof *rows));
  tcase_add_loop_test(t, rows_of_a_parent, 0, (int)(sizeof parent_rows / sizeof *parent_rows));
  tcase_add_loop_test(t, rows_of_a_child, 0, (int)(sizeof child_rows / sizeof *child_rows));
  tcase_add_test(t, partial_index);
  tcase_add_test(t, nulls_not_distinct);
  tcase_add_test(t, keyless_full_and_keyless_nothing);
  tcase_add_test(t, references_that_do_not_count);
  tcase_add_test(t, parent_update_conflicts_by_policy);
  tcase_add_test(t, foreign_keys_of_several_columns);
  tcase_add_test(t, foreign_keys_that_are_no_keys);
  tcase_add_test(t, what_makes_a_relation_serial);
  tcase_add_test(t, unreadable_values_are_barriers);
  tcase_add_test(t, a_column_of_unknown_class_is_left_out);
  tcase_add_test(t, one_transaction_merges);
  tcase_add_test(t, merging_many_is_the_same_as_merging_few);
  tcase_add_test(t, leaves_share_the_domains_of_the_root);
  tcase_add_test(t, deferrable_primary_key_identifies_nothing);
  tcase_add_test(t, prefix_and_equality_classes_share_keys);
  tcase_add_test(t, wrong_arguments);
  suite_add_tcase(s, t);
  return run_suite(s);
}
