/*
 * What the benchmarks share. A benchmark compares contenders that do the same work, in turns: one run of each, then again,
 * so that whatever else the machine does meets all of them alike. What counts is a ratio inside one run of the program:
 * the median, over the rounds, of the baseline's time divided by the contender's. Absolute times are printed beside it.
 *
 *   int main(int argc, char **argv)
 *   {
 *     bench_begin(argc, argv, "sums");
 *     size_t n = bench_size(10000000, 1000);
 *     bench_case cases[] = {{.name = "naive", .run = naive, .arg = &x}, {.name = "ours", .run = ours, .arg = &x}};
 *     bench_compare("sum of a row", "number", cases, 2, n);
 *     bench_want_ratio(&cases[1], 2.0);
 *     bench_want_ns(&cases[1], 10.0);
 *     return bench_end();
 *   }
 *
 * Options of every benchmark: --smoke (small sizes, one round, budgets not judged: does it run?), --rounds N,
 * --only WORDS (comparisons whose title contains them), --cpu (CPU time of the thread instead of time by the clock; for
 * single-threaded work on a busy machine), --check (exit 1 if a budget is missed; without it misses are only shown).
 */
#ifndef BENCH_COMMON_BENCH_H
#define BENCH_COMMON_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twpa/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_MAX_ROUNDS 101

typedef struct bench_case {
  const char *name;
  void (*prepare)(void *arg, size_t n); /* before each round, not timed; NULL: nothing */
  void (*run)(void *arg, size_t n);     /* does n units of work */
  void (*finish)(void *arg, size_t n);  /* after each round, not timed; NULL: nothing */
  void *arg;
  double units; /* > 0: units of work in one call of run instead of n, where they are not the same */

  /* Results, per unit. */
  double ns;     /* median */
  double ns_min; /* the fastest round */
  double ratio;  /* how many times as fast as the first case: median over the rounds */
  double ratio_min; /* the same of the fastest rounds: what is left where others use the machine as well */
  double rounds_ns[BENCH_MAX_ROUNDS];
} bench_case;

/* Reads the options; says what is measured where. */
void bench_begin(int argc, char **argv, const char *title);
/* `full`, or `smoke` in the smoke mode. */
size_t bench_size(size_t full, size_t smoke);
bool bench_is_smoke(void);

/*
 * Runs the cases in turns and prints a table; the first case is the baseline. False if --only leaves it out: the results
 * are then zero and wants are ignored.
 */
bool bench_compare(const char *title, const char *unit, bench_case *cases, size_t ncases, size_t n);

/* Budgets: at least so many times as fast as the first case; at most so many nanoseconds per unit. */
void bench_want_ratio(const bench_case *c, double at_least);
void bench_want_ns(const bench_case *c, double at_most);
/* A budget of any other kind: `value` compared with `limit`. */
void bench_want(const char *what, double value, bool at_least, double limit);
/* A figure to be shown beside the times, such as bytes per entry. */
void bench_note(const char *what, double value, const char *unit);

/* The exit status of main. */
int bench_end(void);

/* Keeps the compiler from leaving out what computes the value. */
void bench_use(uint64_t value);
/* Nanoseconds of a clock that never goes back; of the CPU time of this thread under --cpu. */
uint64_t bench_now(void);
/* SplitMix64. */
uint64_t bench_random(uint64_t *state);

/* The C library's allocator, counted. */
typedef struct bench_memory {
  uint64_t calls; /* allocations and resizes */
  size_t live;    /* bytes handed out, not given back */
  size_t peak;
} bench_memory;
twpa_allocator bench_allocator(bench_memory *memory);

/*
 * Numbers 0..n-1 with the skew of Zipf's law, number 0 the most frequent. theta 0 is uniform, 0.99 the usual skew; below
 * 1. One draw is O(1) (the method of Gray et al., "Quickly generating billion-record synthetic databases").
 */
typedef struct bench_zipf {
  uint64_t n;
  double theta, alpha, zetan, eta;
} bench_zipf;
void bench_zipf_init(bench_zipf *z, uint64_t n, double theta);
uint64_t bench_zipf_next(const bench_zipf *z, uint64_t *state);

#ifdef __cplusplus
}
#endif

#endif
