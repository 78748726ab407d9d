/* A relation is held by whoever needs it; and loading the table ahead changes nothing of the plan. */
#include "support/faultmem.h"
#include "support/runner.h"

#include <twpa/plan.h>

static const twpa_column_desc columns[] = {{TWPA_CLASS_INTEGER, 0}};
static const uint32_t first = 0;
static const twpa_index_desc pkey = {.id = 1, .columns = &first, .ncolumns = 1, .flags = TWPA_INDEX_PRIMARY};
static const twpa_relation_desc desc = {
  TWPA_RELATION_DESC_INIT, .id = 4711, .columns = columns, .ncolumns = 1, .indexes = &pkey, .nindexes = 1};

START_TEST(it_lives_until_the_last_one_lets_go)
{
  faultmem memory;
  twpa_allocator allocator = faultmem_init(&memory, 0, false);
  twpa_relation *relation;
  ck_assert_int_eq(twpa_relation_new(&relation, &desc, &allocator), TWPA_OK);
  ck_assert_ptr_eq(twpa_relation_ref(relation), relation);
  ck_assert_uint_eq(twpa_relation_id(relation), 4711);
  twpa_relation_free(relation);
  ck_assert_uint_gt(memory.live_bytes, 0);
  ck_assert_uint_eq(twpa_relation_id(relation), 4711);
  twpa_relation_free(relation);
  ck_assert_uint_eq(memory.live_bytes, 0);

  ck_assert_ptr_null(twpa_relation_ref(NULL));
  ck_assert_uint_eq(twpa_relation_id(NULL), 0);
  twpa_relation_free(NULL);
}
END_TEST

/* A set holds the relations of its transaction until it is begun again. */
START_TEST(a_set_holds_it)
{
  faultmem memory;
  twpa_allocator allocator = faultmem_init(&memory, 0, false);
  twpa_relation *relation;
  twpa_access_set *set;
  twpa_plan *plan;
  const int32_t id = 7;
  const twpa_value row = {0, TWPA_VALUE_BINARY, {&id, sizeof id}};
  ck_assert_int_eq(twpa_relation_new(&relation, &desc, &allocator), TWPA_OK);
  ck_assert_int_eq(twpa_plan_new(&plan, NULL, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plan, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_change(set, relation, TWPA_OP_INSERT, NULL, &row, 1), TWPA_OK);
  twpa_relation_free(relation);
  ck_assert_uint_gt(memory.live_bytes, 0);
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
  ck_assert_uint_eq(memory.live_bytes, 0);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
}
END_TEST

/* The same transactions into two plans, one of them loaded ahead: the same dependencies. */
START_TEST(prefetch_changes_nothing)
{
  twpa_relation *relation;
  twpa_plan *plans[2];
  twpa_access_set *set;
  ck_assert_int_eq(twpa_relation_new(&relation, &desc, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_plan_new(&plans[0], NULL, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_plan_new(&plans[1], NULL, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plans[0], NULL), TWPA_OK);
  rng r = {test_seed(61)};
  uint64_t edges = 0;
  for (int t = 0; t < 500; t++) {
    ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
    for (int k = 0; k < 3; k++) {
      const int32_t id = (int32_t)rng_below(&r, 40);
      const twpa_value row = {0, TWPA_VALUE_BINARY, {&id, sizeof id}};
      ck_assert_int_eq(twpa_access_set_change(set, relation, TWPA_OP_UPDATE, NULL, &row, 1), TWPA_OK);
    }
    ck_assert_int_eq(twpa_access_set_access(set, rng_below(&r, 9), TWPA_MODE_READ), TWPA_OK);
    twpa_plan_prefetch(plans[1], set);
    uint64_t seq[2];
    uint32_t waits[2];
    for (int p = 0; p < 2; p++)
      ck_assert_int_eq(twpa_plan_add(plans[p], &seq[p], &waits[p], set), TWPA_OK);
    ck_assert_uint_eq(seq[0], seq[1]);
    ck_assert_uint_eq(waits[0], waits[1]);
    edges += waits[0];
  }
  ck_assert_uint_gt(edges, 500);
  twpa_plan_prefetch(NULL, set);
  twpa_plan_prefetch(plans[0], NULL);
  twpa_access_set_free(set);
  twpa_plan_free(plans[0]);
  twpa_plan_free(plans[1]);
  twpa_relation_free(relation);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("relation");
  TCase *tcase = tcase_create("holding");
  tcase_add_test(tcase, it_lives_until_the_last_one_lets_go);
  tcase_add_test(tcase, a_set_holds_it);
  tcase_add_test(tcase, prefetch_changes_nothing);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
