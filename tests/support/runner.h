/* What every Check program needs: a main for one suite, a seed that is printed, a small random generator. */
#ifndef TESTS_SUPPORT_RUNNER_H
#define TESTS_SUPPORT_RUNNER_H

#include <check.h>
#include <stdint.h>

/* Runs the suite; the result of main. */
int run_suite(Suite *suite);

/* The seed of this run: TWPA_SEED from the environment, else the given one. Printed once. */
uint64_t test_seed(uint64_t standard);

/* ck_assert reports every success to the parent process, too; this one is for the millionth time in a loop. */
#define test_must(cond)                      \
  do {                                       \
    if (!(cond))                             \
      ck_abort_msg("'%s' is not so", #cond); \
  } while (0)

/* SplitMix64: small, good enough, the same everywhere. */
typedef struct rng {
  uint64_t state;
} rng;
uint64_t rng_next(rng *r);
/* Uniform in 0..n-1, n > 0. */
uint64_t rng_below(rng *r, uint64_t n);
/* True in `percent` of 100 cases. */
int rng_chance(rng *r, unsigned percent);

#endif
