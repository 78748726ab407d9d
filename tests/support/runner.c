/* Main of the Check programs, seed and random numbers. */
#include "support/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int run_suite(Suite *suite)
{
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int run = srunner_ntests_run(runner);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

uint64_t test_seed(uint64_t standard)
{
  const char *text = getenv("TWPA_SEED");
  uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : standard;
  printf("seed %" PRIu64 " (set TWPA_SEED to change it)\n", seed);
  fflush(stdout);
  return seed;
}

uint64_t rng_next(rng *r)
{
  uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

uint64_t rng_below(rng *r, uint64_t n)
{
  return rng_next(r) % n;
}

int rng_chance(rng *r, unsigned percent)
{
  return rng_below(r, 100) < percent;
}
