/*
 * The buffer against the model, on random histories: at memory limits from "nothing fits" to "everything fits",
 * with and without streaming, two-phase commit and taking, and with every allocation, storage call and callback
 * failing in turn. After each call the whole structure is verified; the outcome is always the same.
 */
#include "decode/script.h"

#include <stdlib.h>
#include <string.h>

typedef struct config {
  size_t limit; /* 0: changes all the time */
  bool streaming, two_phase, take, by_status, by_callback;
  size_t alloc_fail, store_fail, callback_fail;
  bool persistent;
} config;

typedef struct counts {
  size_t allocs, stores, callbacks, failures;
} counts;

typedef struct run_state {
  faultmem fm;
} run_state;

static void unfail(kit *k, void *arg)
{
  run_state *state = arg;
  state->fm.fail_at = 0;
  k->store_fail_at = 0;
  k->fail_at = 0;
}

static twpa_reorder *open_buffer(kit *k, const config *c, const twpa_allocator *mem)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = c->limit != 0 ? c->limit : 4000,
                                  .streaming = c->streaming, .two_phase = c->two_phase, .distributed_bytes = 100};
  return kit_new(k, &options, mem);
}

static counts run(const script *s, const config *c)
{
  kit k;
  kit_init(&k);
  k.keep_log = false;
  k.take = c->take;
  k.abort_by_status = c->by_status;
  k.abort_by_callback = c->by_callback;
  k.store_fail_at = c->store_fail;
  k.store_persistent = c->persistent;
  k.fail_at = c->callback_fail;
  run_state state;
  twpa_allocator mem = faultmem_init(&state.fm, c->alloc_fail, c->persistent);
  counts n = {0};
  twpa_reorder *r = open_buffer(&k, c, &mem);
  if (r == NULL) {
    n.failures++;
    unfail(&k, &state);
    r = open_buffer(&k, c, &mem);
  }
  ck_assert_ptr_nonnull(r);
  rng limits = {s->nops};
  for (size_t i = 0; i < s->nops; i++) {
    if (c->limit == 0 && i % 17 == 0 &&
        twpa_reorder_set_memory_limit(r, 1 + (size_t)rng_below(&limits, 20000)) != TWPA_OK)
      unfail(&k, &state);
    twpa_status st = script_feed(r, &k, &s->ops[i]);
    kit_check(r);
    if (st != TWPA_OK) {
      ck_assert_msg(st == TWPA_E_NOMEM || st == TWPA_E_CALLBACK, "op %zu kind %d xid %llu: %s", i, (int)s->ops[i].kind,
                    (unsigned long long)s->ops[i].xid, twpa_status_name(st));
      n.failures++;
      unfail(&k, &state);
      st = script_feed(r, &k, &s->ops[i]);
      kit_check(r);
    }
    ck_assert_msg(st == TWPA_OK, "op %zu kind %d xid %llu: %s", i, s->ops[i].kind, (unsigned long long)s->ops[i].xid,
                  twpa_status_name(st));
    kit_walk_taken(&k, unfail, &state);
  }
  ck_assert_str_eq(text_get(&k.result), text_get(&s->expected));
  n.allocs = state.fm.calls;
  n.stores = k.store_calls;
  n.callbacks = k.calls;
  kit_done(&k, r);
  kit_free(&k);
  faultmem_check_empty(&state.fm);
  return n;
}

static const size_t limits[] = {1, 700, 3000, 20000, TWPA_MEMORY_UNLIMITED, 0};
static const twpa_xid bases[] = {3, ((twpa_xid)1 << 31) - 10, ((twpa_xid)1 << 32) - 10};

START_TEST(random_histories)
{
  uint64_t seed = test_seed(0x5eed) + (uint64_t)_i * 1000;
  for (uint64_t n = 0; n < 40; n++) {
    script_options options = {.seed = seed + n, .steps = 40 + (size_t)(n * 15), .first_xid = bases[n % 3],
                              .late = n % 2 == 1, .row_bytes = n % 5 == 0 ? 3000 : 60};
    script s;
    script_make(&s, &options);
    config c = {.limit = limits[_i], .streaming = !options.late && n % 4 != 0, .two_phase = n % 3 != 0,
                .take = n % 5 == 2, .by_status = n % 3 == 1, .by_callback = n % 3 == 2};
    run(&s, &c);
    script_free(&s);
  }
}
END_TEST

/* Fails the calls that *which numbers, one after the other: all of a short history, some of a long one. */
static void fail_each(const script *s, config *c, size_t *which, size_t total, int modes)
{
  for (size_t n = 1; n <= total; n += 1 + total / 80) {
    for (int persistent = 0; persistent < modes; persistent++) {
      *which = n;
      c->persistent = persistent != 0;
      run(s, c);
    }
  }
  *which = 0;
  c->persistent = false;
}

START_TEST(every_failure)
{
  uint64_t seed = test_seed(0xfa11) + (uint64_t)_i * 1000;
  for (uint64_t n = 0; n < 6; n++) {
    script_options options = {.seed = seed + n, .steps = 50 + (size_t)(n * 30), .first_xid = bases[n % 3],
                              .late = n % 2 == 1, .row_bytes = n % 3 == 0 ? 900 : 60};
    script s;
    script_make(&s, &options);
    config c = {.limit = limits[_i], .streaming = !options.late, .two_phase = n % 3 != 0, .take = n % 3 == 1,
                .by_status = n % 3 == 1, .by_callback = n % 3 == 2};
    counts total = run(&s, &c);
    fail_each(&s, &c, &c.alloc_fail, total.allocs, 2);
    fail_each(&s, &c, &c.store_fail, total.stores, 2);
    fail_each(&s, &c, &c.callback_fail, total.callbacks, 1);
    script_free(&s);
  }
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_model");
  TCase *t = tcase_create("model");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, random_histories, 0, 6);
  tcase_add_loop_test(t, every_failure, 0, 6);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
