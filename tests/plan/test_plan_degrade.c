/*
 * What is not planned by keys, reason by reason: two transactions that a plan by keys would let run side by side are ordered,
 * and the reason is counted; without the reason they are not, and nothing is counted. Among the reasons is everything that no
 * model of the oracle has shown to be safe by keys: expression indexes, exclusion constraints, triggers, prepared transactions.
 */
#include "fixture.h"

#include <string.h>

/* A relation x(k, u, x) with a unique index on u, or as its case likes it. */
static twpa_relation *x;
static const uint64_t affected[1] = {77};
static const uint32_t bytes_class[1] = {TWPA_CLASS_BYTES};

static void make_plain(void)
{
  kit_begin(&kit, 50, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
}

static void make_unique(uint32_t flags)
{
  make_plain();
  kit_index(&kit, 2, COL1, 1, flags);
}

static void insert_1(void)
{
  insert(x, 1, 1, 0);
}

static void insert_2(void)
{
  insert(x, 2, 2, 0);
}

/* --- the reasons: how the relation is made, and what the two transactions do ------------------------------------------ */

static void of_unknown_class(bool with)
{
  make_plain();
  kit.columns[0].cls = with ? TWPA_CLASS_UNKNOWN : TWPA_CLASS_INTEGER;
}

static bool unreadable; /* the first transaction's value of u has three bytes */

static void with_a_value(bool with)
{
  unreadable = with;
  make_unique(0);
}

static void insert_value(void)
{
  row r;
  const int64_t numbers[3] = {1, 1, 0};
  twpa_value v[3];
  memcpy(v, row_of(&r, 3, numbers), sizeof v);
  v[1].bytes.len = unreadable ? 3 : 8;
  ck_assert_int_eq(twpa_access_set_change(set, x, INS, NULL, v, 3), TWPA_OK);
}

static bool not_sent;

static void with_a_key_of_two(bool with)
{
  not_sent = with;
  make_plain();
  kit_index(&kit, 2, COL12, 2, 0);
  kit.desc.identity = TWPA_IDENTITY_DEFAULT;
}

/* One column of the unique key is not sent, the other one is new; its old value is unknown in any case. */
static void update_half(void)
{
  const int64_t v[3] = {1, 1, not_sent ? SAME : 1};
  ck_assert_int_eq(change(set, x, UPD, 3, NULL, v), TWPA_OK);
}

static void delete_2(void)
{
  const int64_t v[3] = {2, NIL, NIL};
  ck_assert_int_eq(change(set, x, DEL, 3, v, NULL), TWPA_OK);
}

static void without_identity(bool with)
{
  make_plain();
  kit.desc.identity = with ? TWPA_IDENTITY_NOTHING : TWPA_IDENTITY_DEFAULT;
}

static void delete_1(void)
{
  const int64_t v[3] = {1, NIL, NIL};
  ck_assert_int_eq(change(set, x, DEL, 3, v, NULL), TWPA_OK);
}

static void with_an_expression(bool with)
{
  make_unique(with ? TWPA_INDEX_EXPRESSION : 0);
}

static void with_an_exclusion(bool with)
{
  make_unique(with ? TWPA_INDEX_EXCLUSION : 0);
}

static void with_a_foreign_key(bool with)
{
  kit_begin(&kit, 2, 3); /* the child that p knows */
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 1, COL1, 1, ENF);
  kit.fks[0].parent_classes = with ? bytes_class : NULL; /* no equality for both sides */
}

static void with_a_trigger(bool with)
{
  make_plain();
  kit.desc.flags = with ? TWPA_RELATION_SIDE_EFFECTS : 0;
  kit.desc.affects = affected;
  kit.desc.naffects = with;
}

static void serial(bool with)
{
  make_plain();
  kit.desc.flags = with ? TWPA_RELATION_SERIAL : 0;
}

static void with_unknown_old_values(bool with)
{
  make_unique(0);
  kit.desc.identity = with ? TWPA_IDENTITY_DEFAULT : TWPA_IDENTITY_FULL;
}

static void change_1(void)
{
  update(x, 1, 5, 0, 1, 6, 0);
}

static void of_a_parent(bool with)
{
  kit_begin(&kit, 2, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_fk(&kit, 1, 1, COL1, 1, ENF);
  kit.desc.identity = with ? TWPA_IDENTITY_DEFAULT : TWPA_IDENTITY_FULL;
}

static void delete_child(void)
{
  delete_row(x, 1, 5, 0); /* refers to 5, if anybody knows */
}

static void delete_parent(void)
{
  delete_row(p, 6, 6, 0);
}

static void within_budget(bool with)
{
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT, .txn_max_keys = with ? 3 : 0});
  make_plain();
}

static void insert_many(void)
{
  for (int64_t i = 10; i < 20; i++)
    insert(x, i, i, 0);
}

static uint32_t flags_of_first;

static void as_prepared(bool with)
{
  flags_of_first = with ? TWPA_TXN_PREPARED : 0;
  make_plain();
}

typedef struct reason {
  const char *name;
  uint32_t fallback;
  void (*make)(bool with);
  void (*first)(void), (*second)(void);
} reason;

static const reason reasons[] = {
  {"a key column without an equality", TWPA_FALLBACK_CLASS, of_unknown_class, insert_1, insert_2},
  {"an unreadable value", TWPA_FALLBACK_VALUE, with_a_value, insert_value, insert_2},
  {"a part of a key that was not sent", TWPA_FALLBACK_MISSING, with_a_key_of_two, update_half, delete_2},
  {"a change without identity", TWPA_FALLBACK_IDENTITY, without_identity, delete_1, insert_2},
  {"an expression index", TWPA_FALLBACK_INDEX, with_an_expression, insert_1, insert_2},
  {"an exclusion constraint", TWPA_FALLBACK_INDEX, with_an_exclusion, insert_1, insert_2},
  {"a foreign key without a common equality", TWPA_FALLBACK_FOREIGN_KEY, with_a_foreign_key, insert_1, delete_parent},
  {"a trigger", TWPA_FALLBACK_SIDE_EFFECTS, with_a_trigger, insert_1, insert_2},
  {"a serial relation", TWPA_FALLBACK_SERIAL, serial, insert_1, insert_2},
  {"an unknown unique value", TWPA_FALLBACK_UNKNOWN_RELEASE, with_unknown_old_values, change_1, insert_2},
  {"an unknown reference", TWPA_FALLBACK_UNKNOWN_REFERENCE, of_a_parent, delete_child, delete_parent},
  {"too many keys", TWPA_FALLBACK_BUDGET, within_budget, insert_many, insert_2},
  {"a prepared transaction", TWPA_FALLBACK_PREPARED, as_prepared, insert_1, insert_2},
};
#define REASONS ((int)(sizeof reasons / sizeof *reasons))

static void try_reason(const reason *r, bool with)
{
  twpa_report report = {.struct_size = TWPA_REPORT_INIT};
  flags_of_first = 0;
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT});
  r->make(with);
  x = kit_make(&kit);
  begin(); /* both sides of a foreign key are to be known */
  ck_assert_int_eq(twpa_access_set_touch(set, p), TWPA_OK);
  enter(plan, set);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, flags_of_first), TWPA_OK);
  r->first();
  uint64_t t1 = enter(plan, set);
  begin();
  r->second();
  uint64_t t2 = enter(plan, set);
  ck_assert_msg(depends(plan, t1, t2) == (int)with, "%s: %s", r->name, with ? "is overlooked" : "matters without being there");
  ck_assert_int_eq(twpa_plan_report(plan, &report), TWPA_OK);
  for (uint32_t i = 0; i < TWPA_FALLBACKS && !with; i++)
    ck_assert_msg(report.fallbacks[i] == 0 || r->fallback != i, "%s is counted without being there", r->name);
  ck_assert_msg(!with || report.fallbacks[r->fallback] > 0, "%s is not counted", r->name);
  ck_assert_uint_le(report.fallbacks[r->fallback], report.fallback_count);
  twpa_relation_free(x);
}

START_TEST(every_reason_orders_and_is_counted)
{
  try_reason(&reasons[_i], true);
  try_reason(&reasons[_i], false);
}
END_TEST

/* What a trigger writes to is as good as changed; and who has named no such relation is a barrier for all. */
START_TEST(triggers_reach_what_they_write_to)
{
  with_a_trigger(true);
  x = kit_make(&kit);
  kit_begin(&kit, 77, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  twpa_relation *written = kit_make(&kit);
  begin();
  insert_1();
  uint64_t t1 = enter(plan, set);
  begin();
  insert(written, 1, 1, 1);
  uint64_t t2 = enter(plan, set);
  begin();
  insert(t, 1, 1, 1);
  uint64_t t3 = enter(plan, set);
  ck_assert(depends(plan, t1, t2) && !depends(plan, t1, t3));
  twpa_relation_free(x);
  with_a_trigger(true);
  kit.desc.naffects = 0;
  kit.desc.id = 51;
  x = kit_make(&kit);
  begin();
  insert_1();
  uint64_t t4 = enter(plan, set);
  ck_assert(depends(plan, t3, t4));
  ck_assert(depends(plan, t4, key_tx(1, TWPA_MODE_READ)));
  twpa_relation_free(x);
  twpa_relation_free(written);
}
END_TEST

/* A child that the target changes on behalf of its parent, which nobody trusts after a skip, comes in only when row memory
   has been asked: its neighbours, more than all that the change itself names, are barriers then. */
#define CHAIN 40

static twpa_relation *link_of_chain(uint64_t id, bool last)
{
  const uint32_t flags = id == 201 ? TWPA_FK_ENFORCED | TWPA_FK_CASCADE : TWPA_FK_ENFORCED;
  kit_begin(&kit, id, 3);
  kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
  kit_index(&kit, 2, COL1, 1, 0);
  if (id > 200)
    kit_fk(&kit, id - 1, 2, COL2, 1, flags);
  if (!last)
    kit_reference(&kit, id + 1, 2, id == 200 ? TWPA_FK_ENFORCED | TWPA_FK_CASCADE : TWPA_FK_ENFORCED);
  return kit_make(&kit);
}

START_TEST(distrust_found_late_reaches_all_neighbours)
{
  twpa_relation *chain[CHAIN];
  uint64_t seqs[CHAIN];
  open_plan((twpa_plan_options){.memory_bytes = 65536});
  for (uint64_t i = 0; i < CHAIN; i++) {
    chain[i] = link_of_chain(200 + i, i + 1 == CHAIN);
    begin();
    insert(chain[i], 1, 1, N);
    seqs[i] = enter(plan, set);
  }
  ck_assert_int_eq(twpa_plan_complete(plan, seqs[1], TWPA_DONE_SKIPPED), TWPA_OK);
  begin();
  update(chain[0], 7, N, N, 7, 7, N); /* what it was before is not known: its children are concerned */
  uint64_t late = enter(plan, set);
  for (size_t i = 0; i < CHAIN; i++)
    ck_assert(i == 1 || depends(plan, seqs[i], late));
  for (size_t i = 0; i < CHAIN; i++)
    twpa_relation_free(chain[i]);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_degrade");
  TCase *tc = tcase_create("reasons");
  tcase_add_checked_fixture(tc, setup, teardown);
  tcase_add_loop_test(tc, every_reason_orders_and_is_counted, 0, REASONS);
  tcase_add_test(tc, triggers_reach_what_they_write_to);
  tcase_add_test(tc, distrust_found_late_reaches_all_neighbours);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
