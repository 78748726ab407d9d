/*
 * The same input and the same completions give the same plan, byte for byte, in every build: all that a plan says of some
 * thousand histories goes into one number, which stands here. Whoever changes what is planned on purpose changes the number.
 */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>

#define EXPECTED UINT64_C(0x5CE803BA0DD35269)

static void take(uint64_t *digest, uint64_t x)
{
  for (int i = 0; i < 8; i++)
    *digest = (*digest ^ (x >> (8 * i) & 255)) * UINT64_C(0x100000001B3);
}

static int take_text(void *user, const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    take(user, (unsigned char)text[i]);
  return 0;
}

static void take_edges(uint64_t *digest, const twpa_plan *plan, uint64_t seq)
{
  twpa_edge e[64];
  size_t n;
  test_must(twpa_plan_explain(plan, e, 64, &n, seq) == TWPA_OK && n <= 64);
  for (size_t i = 0; i < n; i++) {
    const uint64_t fields[] = {e[i].from, e[i].to, e[i].type, e[i].flags, e[i].relation, e[i].index, e[i].key, e[i].kind,
                               e[i].from_mode, e[i].to_mode};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
      take(digest, fields[k]);
  }
}

static void take_numbers(uint64_t *digest, const twpa_plan *plan)
{
  twpa_report r = {.struct_size = TWPA_REPORT_INIT};
  twpa_plan_counters c = {.struct_size = TWPA_PLAN_COUNTERS_INIT};
  test_must(twpa_plan_report(plan, &r) == TWPA_OK && twpa_plan_stats(plan, &c) == TWPA_OK);
  const uint64_t numbers[] = {r.low_watermark, r.last, r.ready, r.waiting, r.finished, r.fallback_count, c.keys, c.edges,
                              c.barriers, c.hits, c.evicted, c.conservative, c.memory_hits, c.memory_misses, c.optimistic};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    take(digest, numbers[i]);
}

/* Plans a history; some are finished in between, in the order in which the plan makes them ready. */
static void take_history(uint64_t *digest, const history *h, const twpa_plan_options *o, rng *r)
{
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_relation *rels[TABLES];
  uint64_t ready[TX], seq;
  size_t nready = 0;
  test_must(twpa_plan_new(&plan, o, NULL) == TWPA_OK && twpa_access_set_new(&set, plan, NULL) == TWPA_OK);
  history_relations(&h->sc, rels);
  for (int t = 0; t < h->n; t++) {
    uint32_t n;
    history_fill(h, t, set, rels, 0);
    seq = enter_n(plan, set, &n);
    take(digest, n);
    take_edges(digest, plan, seq);
    if (n == 0)
      ready[nready++] = seq;
    while (nready > 0 && rng_chance(r, 30)) {
      test_must(twpa_plan_complete(plan, ready[--nready], TWPA_DONE_COMMITTED) == TWPA_OK);
      while (twpa_plan_next_ready(plan, &seq) == TWPA_OK) {
        take(digest, seq);
        ready[nready++] = seq;
      }
    }
  }
  take_numbers(digest, plan);
  test_must(twpa_plan_write_dot(plan, take_text, digest) == TWPA_OK);
  history_relations_free(&h->sc, rels);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
}

static uint64_t digest_of_all(void)
{
  uint64_t digest = UINT64_C(0xCBF29CE484222325);
  rng r = {4711};
  history h;
  for (int n = 0; n < 3000;) {
    if (!history_random(&h, &r, (int)rng_below(&r, WORLDS), TX, SOURCE_ST))
      continue;
    twpa_plan_options o = {TWPA_PLAN_OPTIONS_INIT, .seed = rng_next(&r), .explain = 1};
    o.table_bytes = o.wide_bytes = rng_chance(&r, 50) ? 64 : 4096;
    o.memory_bytes = rng_chance(&r, 50) ? 1024 : 0;
    o.unique_release = (uint32_t)rng_below(&r, 2);
    o.early_start = (uint32_t)rng_below(&r, 3);
    take_history(&digest, &h, &o, &r);
    n++;
  }
  return digest;
}

START_TEST(plans_are_the_same_in_every_build)
{
  uint64_t once = digest_of_all(), again = digest_of_all();
  ck_assert_uint_eq(once, again);
  ck_assert_msg(once == EXPECTED, "the plans give 0x%" PRIX64 ": if what is planned has changed on purpose, say so here", once);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_determinism");
  TCase *t = tcase_create("digest");
  tcase_add_test(t, plans_are_the_same_in_every_build);
  suite_add_tcase(s, t);
  return run_suite(s);
}
