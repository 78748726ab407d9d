/* A plan and three relations to try it with. */
#include "plan/relation.h"

#include "fixture.h"

twpa_plan *plan;
twpa_access_set *set;
twpa_relation *p, *c, *t;
relation_kit kit;

void open_plan(twpa_plan_options o)
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

void setup(void)
{
  plan = NULL;
  set = NULL;
  p = c = t = NULL;
  open_plan((twpa_plan_options){.unique_release = TWPA_UNKNOWN_STRICT});
  make_relations(TWPA_IDENTITY_FULL);
}

void teardown(void)
{
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  twpa_relation_free(p);
  twpa_relation_free(c);
  twpa_relation_free(t);
}

void begin(void)
{
  ck_assert_int_eq(twpa_access_set_begin(set, 0, 0, 0), TWPA_OK);
}

void insert(twpa_relation *rel, int64_t a, int64_t b, int64_t d)
{
  const int64_t v[3] = {a, b, d};
  ck_assert_int_eq(change(set, rel, INS, 3, NULL, v), TWPA_OK);
}

void delete_row(twpa_relation *rel, int64_t a, int64_t b, int64_t d)
{
  const int64_t v[3] = {a, b, d};
  ck_assert_int_eq(change(set, rel, DEL, 3, v, NULL), TWPA_OK);
}

void update(twpa_relation *rel, int64_t a, int64_t b, int64_t d, int64_t a2, int64_t b2, int64_t d2)
{
  const int64_t v[3] = {a, b, d}, w[3] = {a2, b2, d2};
  bool sent = rel->identity == TWPA_IDENTITY_FULL || a != a2;
  ck_assert_int_eq(change(set, rel, UPD, 3, sent ? v : NULL, w), TWPA_OK);
}

uint64_t key_tx(twpa_key key, uint32_t mode)
{
  begin();
  ck_assert_int_eq(twpa_access_set_access(set, key, mode), TWPA_OK);
  return enter(plan, set);
}

void done(uint64_t seq)
{
  ck_assert_int_eq(twpa_plan_complete(plan, seq, TWPA_DONE_COMMITTED), TWPA_OK);
}
