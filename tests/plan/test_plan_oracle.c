/*
 * The plan against execution (planning rules, section 4): random valid histories, each planned, then applied in *every*
 * order that the plan allows to a target that checks its constraints. The result must be that of serial apply, no
 * statement may fail, and exactly those may find no row that find none serially.
 *
 *   TWPA_ORACLE_HISTORIES=n     how many histories of each kind
 *   TWPA_ORACLE_SECONDS=s       goes on with new seeds for so long: the soak command
 *   TWPA_ORACLE_KIND=k          only this kind of plan, from 0
 */
#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STRICT, STRICT_BOUNDED, MEMORY, MEMORY_BOUNDED, OPTIMISTIC, OPTIMISTIC_MEMORY, MOVING, SKIP, SKIP_OPTIMISTIC, PREPARED,
       PREPARED_OPTIMISTIC, KINDS };
static const char *const kinds[KINDS] = {"strict", "strict, bounded", "memory", "memory, bounded", "optimistic",
                                         "optimistic, memory", "memory, bounded, moving", "skip", "skip, optimistic",
                                         "prepared", "prepared, optimistic"};

static void settle(rng *r, setting *how, int kind)
{
  static const size_t memories[] = {128, 256, 65536};
  bool bounded = kind == STRICT_BOUNDED || kind == MEMORY_BOUNDED || kind == MOVING;
  bool memory = kind == MEMORY || kind == MEMORY_BOUNDED || kind == MOVING || kind == OPTIMISTIC_MEMORY || kind == SKIP ||
                kind == SKIP_OPTIMISTIC || kind == PREPARED;
  bool optimistic = kind == OPTIMISTIC || kind == OPTIMISTIC_MEMORY || kind == SKIP_OPTIMISTIC || kind == PREPARED_OPTIMISTIC;
  memset(how, 0, sizeof *how);
  how->options.struct_size = TWPA_PLAN_OPTIONS_INIT;
  how->options.seed = rng_next(r);
  how->options.table_bytes = bounded ? (size_t)64 << rng_below(r, 4) : 4096; /* 1 to 8 buckets */
  how->options.wide_bytes = bounded ? (size_t)64 << rng_below(r, 4) : 4096;
  how->options.explain = (uint32_t)rng_chance(r, 20);
  how->options.memory_bytes = memory ? memories[rng_below(r, 3)] : 0;
  how->options.unique_release = optimistic ? TWPA_UNKNOWN_OPTIMISTIC : TWPA_UNKNOWN_STRICT;
  how->options.free_commit_order = 1;
  how->options.no_identity = TWPA_NO_IDENTITY_INSERT_FREE;
  how->options.foreign_keys = rng_chance(r, 10) ? TWPA_FOREIGN_KEYS_ALL : TWPA_FOREIGN_KEYS_ENFORCED;
  how->options.txn_max_keys = rng_chance(r, 5) ? 1 + rng_below(r, 6) : 0;
  how->seed_rows = rng_chance(r, 30);
  how->complete = kind == MOVING || kind == STRICT_BOUNDED || kind == PREPARED;
  how->skip = kind == SKIP || kind == SKIP_OPTIMISTIC;
  how->dice = rng_next(r);
}

typedef struct trial {
  const setting *how;
  uint64_t steps;
  const char *why;
  char order[TX + 1];
  uint32_t preds[TX];
} trial;

static bool is_wrong(const history *h, void *arg)
{
  trial *t = arg;
  history_plan(h, t->how, t->preds);
  t->why = history_all_orders(h, t->preds, t->how->options.unique_release == TWPA_UNKNOWN_OPTIMISTIC, &t->steps, t->order);
  return t->why != NULL;
}

static void report(history *h, trial *t, int kind)
{
  history_minimise(h, is_wrong, t);
  is_wrong(h, t);
  printf("--- %s: %s, in the order %s; as a trace:\n", kinds[kind], t->why, t->order);
  history_report(stdout, h, t->how, NULL);
  printf("--- end\n");
  fflush(stdout);
  ck_abort_msg("%s: %s, in the order %s", kinds[kind], t->why, t->order);
}

/*
 * A column that is not sent because it did not change, in a key of which another part changes, makes a value that nobody has
 * named if a transaction before it is skipped. Somebody later may have taken that value before the skip was known: no plan can
 * help, and the target refuses it. (TWPA_DONE_SKIPPED says so.)
 */
static void send_all(history *h)
{
  bool composed = false;
  for (int t = 0; t < h->sc.ntables; t++)
    for (int x = 0; x < INDEXES; x++)
      composed = composed || h->sc.indexes[t][x].n > 1 || h->sc.indexes[t][x].partial;
  for (int t = 0; t < h->n && composed; t++)
    for (int i = 0; i < h->nsrc[t]; i++)
      h->src[t][i].same = 0;
}

/* A second prepared transaction, if it fits. */
static void with_another(history *h, rng *r)
{
  history two = *h;
  if (history_prepare(&two, r, SOURCE_ST))
    *h = two;
}

static uint64_t run(uint64_t seed, int kind, uint64_t want, uint64_t *steps)
{
  history h;
  rng r = {seed * 1000 + (uint64_t)kind};
  uint64_t n = 0;
  while (n < want) {
    setting how;
    int world = (int)rng_below(&r, WORLDS + 2);
    if (!history_random(&h, &r, world < WORLDS ? world : WORLD_FAMILY, TX, SOURCE_ST))
      continue;
    settle(&r, &how, kind);
    if (how.skip) {
      send_all(&h);
      h.skipped = (int)rng_below(&r, (uint64_t)h.n);
      if (!history_expand(&h))
        continue;
    }
    if (kind >= PREPARED && !history_prepare(&h, &r, SOURCE_ST))
      continue;
    if (kind >= PREPARED && rng_chance(&r, 30))
      with_another(&h, &r);
    trial t = {.how = &how, .steps = 0};
    if (is_wrong(&h, &t))
      report(&h, &t, kind);
    *steps += t.steps;
    n++;
  }
  return n;
}

START_TEST(every_order_gives_the_serial_result)
{
  const char *seconds = getenv("TWPA_ORACLE_SECONDS"), *only = getenv("TWPA_ORACLE_KIND");
  if (only != NULL && strtol(only, NULL, 10) != _i)
    return;
  time_t until = time(NULL) + (seconds != NULL ? strtol(seconds, NULL, 10) : 0);
  uint64_t seed = test_seed(20), n = 0, steps = 0;
  do
    n += run(seed++, _i, histories_wanted(20000), &steps);
  while (time(NULL) < until);
  printf("%s: %" PRIu64 " histories, %" PRIu64 " steps\n", kinds[_i], n, steps);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_oracle");
  TCase *t = tcase_create("oracle");
  tcase_set_timeout(t, 0);
  tcase_add_loop_test(t, every_order_gives_the_serial_result, 0, KINDS);
  suite_add_tcase(s, t);
  return run_suite(s);
}
