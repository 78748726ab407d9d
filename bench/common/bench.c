/* Rounds, medians, tables, budgets. */
#include "common/bench.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

static struct {
  const char *title, *only;
  bool smoke, cpu, check;
  size_t rounds;
  bool left_out; /* the last comparison was not wanted */
  size_t wants, missed;
} self = {.rounds = 11};

static volatile uint64_t sink;

void bench_use(uint64_t value)
{
  sink ^= value;
}

uint64_t bench_now(void)
{
  struct timespec t;
  clock_gettime(self.cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t bench_random(uint64_t *state)
{
  uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static void usage(const char *program)
{
  fprintf(stderr, "usage: %s [--smoke] [--rounds N] [--only WORDS] [--cpu] [--check]\n", program);
  exit(2);
}

/*
 * What is freed stays with malloc: how long the system takes to hand out a page is a matter of the machine, up to ten
 * times as long in a virtual one, and would be counted here or there as chance has it.
 */
static void keep_memory(void)
{
#if defined(__GLIBC__)
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_MMAP_MAX, 0);
#endif
}

void bench_begin(int argc, char **argv, const char *title)
{
  self.title = title;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--smoke") == 0) {
      self.smoke = true;
    } else if (strcmp(argv[i], "--cpu") == 0) {
      self.cpu = true;
    } else if (strcmp(argv[i], "--check") == 0) {
      self.check = true;
    } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      self.only = argv[++i];
    } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      char *end;
      unsigned long rounds = strtoul(argv[++i], &end, 10);
      if (*end != '\0' || rounds < 1 || rounds > BENCH_MAX_ROUNDS) {
        fprintf(stderr, "%s: --rounds takes a number from 1 to %d\n", argv[0], BENCH_MAX_ROUNDS);
        exit(2);
      }
      self.rounds = rounds;
    } else {
      usage(argv[0]);
    }
  }
  keep_memory();
  if (self.smoke)
    self.rounds = 1;
  printf("%s: %s%s\n", title, self.smoke ? "smoke run, the figures mean nothing" : "median of rounds in turns",
         self.cpu ? ", CPU time" : "");
#if !defined(__OPTIMIZE__)
  printf("built without optimisation: the figures mean nothing\n");
#endif
}

bool bench_is_smoke(void)
{
  return self.smoke;
}

size_t bench_size(size_t full, size_t smoke)
{
  return self.smoke ? smoke : full;
}

static int compare_doubles(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, size_t n)
{
  qsort(values, n, sizeof *values, compare_doubles);
  return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void run_once(bench_case *c, size_t n, size_t round)
{
  if (c->prepare != NULL)
    c->prepare(c->arg, n);
  uint64_t start = bench_now();
  c->run(c->arg, n);
  uint64_t end = bench_now();
  if (c->finish != NULL)
    c->finish(c->arg, n);
  double units = c->units > 0 ? c->units : (double)n;
  c->rounds_ns[round] = (double)(end - start) / units;
}

bool bench_compare(const char *title, const char *unit, bench_case *cases, size_t ncases, size_t n)
{
  self.left_out = self.only != NULL && strstr(title, self.only) == NULL;
  if (self.left_out)
    return false;
  /* One round more than is counted: the first one warms up. Every second round goes the other way round. */
  for (size_t round = 0; round <= self.rounds; round++)
    for (size_t i = 0; i < ncases; i++)
      run_once(&cases[round % 2 == 0 ? i : ncases - 1 - i], n, round > 0 ? round - 1 : 0);
  double base[BENCH_MAX_ROUNDS];
  memcpy(base, cases[0].rounds_ns, sizeof base);
  printf("\n%s\n  %-44s %12s %12s %9s %9s\n", title, "", "median", "fastest", "ratio", "fastest");
  double base_min = 0;
  for (size_t i = 0; i < ncases; i++) {
    double ratios[BENCH_MAX_ROUNDS], sorted[BENCH_MAX_ROUNDS];
    for (size_t r = 0; r < self.rounds; r++) {
      ratios[r] = cases[i].rounds_ns[r] > 0 ? base[r] / cases[i].rounds_ns[r] : 0;
      sorted[r] = cases[i].rounds_ns[r];
    }
    cases[i].ratio = median(ratios, self.rounds);
    cases[i].ns = median(sorted, self.rounds);
    cases[i].ns_min = sorted[0];
    base_min = i == 0 ? sorted[0] : base_min;
    cases[i].ratio_min = sorted[0] > 0 ? base_min / sorted[0] : 0;
    printf("  %-44s %9.2f ns %9.2f ns %8.2fx %8.2fx\n", cases[i].name, cases[i].ns, cases[i].ns_min, cases[i].ratio,
           cases[i].ratio_min);
  }
  printf("  (per %s)\n", unit);
  fflush(stdout);
  return true;
}

void bench_want(const char *what, double value, bool at_least, double limit)
{
  if (self.left_out)
    return;
  bool met = at_least ? value >= limit : value <= limit;
  printf("  budget: %s %.2f, wanted %s %.2f%s\n", what, value, at_least ? ">=" : "<=", limit,
         self.smoke ? "" : met ? ": met" : ": MISSED");
  if (self.smoke)
    return;
  self.wants++;
  self.missed += !met;
}

void bench_want_ratio(const bench_case *c, double at_least)
{
  char what[200];
  snprintf(what, sizeof what, "%s, times as fast as the first", c->name);
  bench_want(what, c->ratio, true, at_least);
}

void bench_want_ns(const bench_case *c, double at_most)
{
  char what[200];
  snprintf(what, sizeof what, "%s, ns", c->name);
  bench_want(what, c->ns, false, at_most);
}

void bench_note(const char *what, double value, const char *unit)
{
  if (!self.left_out)
    printf("  %-44s %9.2f %s\n", what, value, unit);
}

int bench_end(void)
{
  if (self.wants > 0)
    printf("\n%s: %zu of %zu budgets met\n", self.title, self.wants - self.missed, self.wants);
  return self.check && self.missed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void count(bench_memory *m, size_t taken, size_t given)
{
  m->live = m->live + taken - given;
  if (m->live > m->peak)
    m->peak = m->live;
}

static void *counted_alloc(void *user, size_t size)
{
  bench_memory *m = user;
  void *p = malloc(size);
  m->calls++;
  if (p != NULL)
    count(m, size, 0);
  return p;
}

static void *counted_resize(void *user, void *p, size_t old_size, size_t new_size)
{
  bench_memory *m = user;
  void *q = realloc(p, new_size);
  m->calls++;
  if (q != NULL)
    count(m, new_size, old_size);
  return q;
}

static void counted_release(void *user, void *p, size_t size)
{
  free(p);
  count(user, 0, size);
}

twpa_allocator bench_allocator(bench_memory *memory)
{
  *memory = (bench_memory){0};
  return (twpa_allocator){memory, counted_alloc, counted_resize, counted_release};
}

/* The sum of 1/i^theta; its tail as an integral, which is exact enough and does not take a second for each 100 million. */
static double zeta(uint64_t n, double theta)
{
  const uint64_t exact = n < 1000000 ? n : 1000000;
  double sum = 0;
  for (uint64_t i = 1; i <= exact; i++)
    sum += pow((double)i, -theta);
  if (n > exact)
    sum += (pow((double)n + 0.5, 1 - theta) - pow((double)exact + 0.5, 1 - theta)) / (1 - theta);
  return sum;
}

void bench_zipf_init(bench_zipf *z, uint64_t n, double theta)
{
  z->n = n;
  z->theta = theta;
  z->alpha = 1 / (1 - theta);
  z->zetan = zeta(n, theta);
  z->eta = (1 - pow(2.0 / (double)n, 1 - theta)) / (1 - zeta(2, theta) / z->zetan);
}

uint64_t bench_zipf_next(const bench_zipf *z, uint64_t *state)
{
  double u = (double)(bench_random(state) >> 11) * 0x1p-53;
  if (z->n <= 2 || z->theta <= 0)
    return (uint64_t)(u * (double)z->n);
  double uz = u * z->zetan;
  if (uz < 1)
    return 0;
  if (uz < 1 + pow(0.5, z->theta))
    return 1;
  uint64_t v = (uint64_t)((double)z->n * pow(z->eta * u - z->eta + 1, z->alpha));
  return v < z->n ? v : z->n - 1;
}
