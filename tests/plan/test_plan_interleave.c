/*
 * The scheduler in a model of a real target (planning rules, 4.4 and 4.5): random histories, executed statement by statement
 * with row locks, key shares, waits of unique checks and the checks of foreign keys as PostgreSQL makes them, at random
 * speed. Demanded: the serial result; at every commit what a reader sees is a state that was there; no deadlock; no failure
 * that the policy does not foresee, and never one of the first unfinished transaction. Two streams with a progress of their own
 * are restarted in between, from what the target keeps of it.
 *
 *   TWPA_ORACLE_HISTORIES=n     how many histories of each kind
 *   TWPA_ORACLE_SECONDS=s       goes on with new seeds for so long: the soak command
 */
#include "interleave.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct kind {
  const char *name;
  uint32_t commit_order, early_start;
  bool aborts, optimistic, optimistic_references, memory, bounded, prepared, origins;
  int early_expected, failures_expected; /* that the kind is not idle */
} kind;

static const kind kinds[] = {
  {.name = "commit order", .commit_order = TWPA_COMMIT_ORDER_GLOBAL},
  {.name = "commit order, memory, bounded", .commit_order = TWPA_COMMIT_ORDER_GLOBAL, .memory = true, .bounded = true},
  {.name = "free order", .commit_order = TWPA_COMMIT_ORDER_FREE, .memory = true, .aborts = true},
  {.name = "groups", .commit_order = TWPA_COMMIT_ORDER_GROUPS, .aborts = true},
  {.name = "early start, narrow", .early_start = TWPA_EARLY_START_NARROW, .early_expected = 1},
  {.name = "early start, wide", .early_start = TWPA_EARLY_START_WIDE, .memory = true, .early_expected = 1},
  {.name = "early start, aborts", .early_start = TWPA_EARLY_START_WIDE, .aborts = true, .early_expected = 1},
  {.name = "optimistic", .commit_order = TWPA_COMMIT_ORDER_GLOBAL, .optimistic = true, .failures_expected = 1},
  {.name = "optimistic, free order", .commit_order = TWPA_COMMIT_ORDER_FREE, .optimistic = true, .memory = true,
   .aborts = true, .failures_expected = 1},
  {.name = "optimistic references", .commit_order = TWPA_COMMIT_ORDER_GLOBAL, .optimistic = true,
   .optimistic_references = true, .failures_expected = 1},
  {.name = "optimistic, early start", .early_start = TWPA_EARLY_START_WIDE, .optimistic = true, .aborts = true,
   .early_expected = 1, .failures_expected = 1},
  {.name = "optimistic, narrow early start", .early_start = TWPA_EARLY_START_NARROW, .optimistic = true, .memory = true,
   .aborts = true, .early_expected = 1, .failures_expected = 1},
  {.name = "prepared", .commit_order = TWPA_COMMIT_ORDER_GLOBAL, .prepared = true, .aborts = true},
  {.name = "prepared, free order", .commit_order = TWPA_COMMIT_ORDER_FREE, .memory = true, .prepared = true, .aborts = true},
  {.name = "prepared, groups", .commit_order = TWPA_COMMIT_ORDER_GROUPS, .prepared = true},
  {.name = "prepared, optimistic, early start", .early_start = TWPA_EARLY_START_WIDE, .optimistic = true, .prepared = true,
   .aborts = true, .early_expected = 1},
  {.name = "two streams", .commit_order = TWPA_COMMIT_ORDER_GLOBAL, .memory = true, .origins = true},
  {.name = "two streams, free order", .commit_order = TWPA_COMMIT_ORDER_FREE, .memory = true, .bounded = true,
   .origins = true, .aborts = true},
  {.name = "two streams, groups, prepared", .commit_order = TWPA_COMMIT_ORDER_GROUPS, .prepared = true, .origins = true},
  {.name = "two streams, optimistic, free order", .commit_order = TWPA_COMMIT_ORDER_FREE, .optimistic = true,
   .origins = true, .aborts = true, .failures_expected = 1},
  {.name = "two streams, early start", .early_start = TWPA_EARLY_START_WIDE, .aborts = true, .origins = true,
   .early_expected = 1},
};
#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static void settle(rng *r, const kind *k, setting *how, driving *d)
{
  memset(how, 0, sizeof *how);
  memset(d, 0, sizeof *d);
  how->options.struct_size = TWPA_PLAN_OPTIONS_INIT;
  how->options.seed = rng_next(r);
  how->options.table_bytes = how->options.wide_bytes = k->bounded ? (size_t)64 << rng_below(r, 3) : 4096;
  how->options.memory_bytes = k->memory ? (size_t)256 << rng_below(r, 6) : 0;
  how->options.unique_release = k->optimistic ? TWPA_UNKNOWN_OPTIMISTIC : TWPA_UNKNOWN_STRICT;
  how->options.reference_release = k->optimistic_references ? TWPA_REFERENCE_OPTIMISTIC : TWPA_REFERENCE_STRICT;
  how->options.free_commit_order = k->commit_order == TWPA_COMMIT_ORDER_FREE || k->commit_order == TWPA_COMMIT_ORDER_GROUPS;
  how->options.early_start = k->early_start;
  how->options.no_identity = TWPA_NO_IDENTITY_INSERT_FREE;
  how->seed_rows = rng_chance(r, 30);
  d->options.struct_size = TWPA_SCHEDULER_OPTIONS_INIT;
  d->options.commit_order = k->commit_order;
  d->options.running_max = rng_below(r, 4);
  d->options.open_max = rng_below(r, 5);
  d->aborts = k->aborts ? (unsigned)rng_below(r, 3) : 0;
  d->origins = k->origins;
  d->crashes = k->origins ? (unsigned)rng_below(r, 3) : 0;
  d->failures = k->optimistic || k->optimistic_references;
  d->dice = rng_next(r);
}

typedef struct trial {
  const setting *how;
  driving d;
  const char *why;
  interleaved sum;
} trial;

/* A smaller history meets other dice: some are tried. */
static bool is_wrong(const history *h, void *arg)
{
  trial *t = arg;
  uint64_t first = t->d.dice;
  for (int i = 0; i < 200; i++) {
    t->why = interleave(h, t->how, &t->d, &t->sum, NULL);
    if (t->why != NULL)
      return true;
    t->d.dice = first + (uint64_t)i * 977;
  }
  t->d.dice = first;
  return false;
}

static void report(history *h, trial *t, const kind *k)
{
  history_minimise(h, is_wrong, t);
  (void)is_wrong(h, t);
  const trace_log log = {stdout, NULL, NULL};
  printf("--- %s: %s; as a trace:\n", k->name, t->why);
  interleave(h, t->how, &t->d, &t->sum, &log);
  printf("--- end\n");
  fflush(stdout);
  ck_abort_msg("%s: %s", k->name, t->why);
}

static void run(uint64_t seed, int which, uint64_t want, interleaved *sum)
{
  const kind *k = &kinds[which];
  rng r = {seed * 1000 + (uint64_t)which};
  history h;
  for (uint64_t n = 0; n < want;) {
    setting how;
    trial t;
    int world = (int)rng_below(&r, WORLDS + 3);
    if (!history_random(&h, &r, world < WORLDS ? world : WORLD_FAMILY, TX, SOURCE_ST) || h.sc.trigger >= 0)
      continue;
    /* Of equal rows the target takes any, and a prepared transaction may hold just that one, also serially: not here. */
    if (k->prepared && (h.sc.indexes[0][0].n == 0 || !history_prepare(&h, &r, SOURCE_ST)))
      continue;
    settle(&r, k, &how, &t.d);
    for (int i = 0; i < 3; i++, n++) {
      t.d.dice++;
      t.how = &how;
      t.why = interleave(&h, &how, &t.d, sum, NULL);
      if (t.why != NULL)
        report(&h, &t, k);
    }
  }
}

START_TEST(every_interleaving_gives_the_serial_result)
{
  const kind *k = &kinds[_i];
  const char *seconds = getenv("TWPA_ORACLE_SECONDS");
  time_t until = time(NULL) + (seconds != NULL ? strtol(seconds, NULL, 10) : 0);
  uint64_t seed = test_seed(50);
  interleaved s = {0};
  do
    run(seed++, _i, histories_wanted(k->prepared || k->origins ? 10000 : 30000), &s);
  while (time(NULL) < until);
  printf("%s: %" PRIu64 " runs, %" PRIu64 " steps, %" PRIu64 " waits, %" PRIu64 " early, %" PRIu64 " aborts, %" PRIu64
         " failures, %" PRIu64 " deadlocks, %" PRIu64 " rollbacks, %" PRIu64 " crashes with %" PRIu64 " gaps\n",
         k->name, s.runs, s.steps, s.waits, s.early, s.aborts, s.failures, s.deadlocks, s.rollbacks, s.crashes, s.gaps);
  ck_assert(!k->origins || s.crashes > 0);
  ck_assert(!k->origins || k->commit_order != TWPA_COMMIT_ORDER_FREE || s.gaps > 0);
  ck_assert(k->early_expected == 0 || s.early > s.runs / 100);
  ck_assert(k->failures_expected == 0 || s.failures > 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_interleave");
  TCase *t = tcase_create("interleavings");
  tcase_set_timeout(t, 0);
  tcase_add_loop_test(t, every_interleaving_gives_the_serial_result, 0, KINDS);
  suite_add_tcase(s, t);
  return run_suite(s);
}
