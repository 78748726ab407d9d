/*
 * What the oracle prints when it finds something is a trace that twpa-trace can run: for histories of all kinds, the trace
 * gives what the plan gave. And it finds what a plan lacks: dependencies are hidden from it until a history goes wrong, which
 * is made small and printed; run by the real planner, the trace then expects what happens, and without what was lacking it
 * does not.
 */
#include "interleave.h"

#include "twpa_trace/trace.h"

#include <stdlib.h>

/* How many differences there are between what a trace says and what happens; what they are goes to *diff. */
static size_t differences(const char *text, size_t len, trace_text *diff)
{
  host_error err = {""};
  trace_source source;
  trace_result result;
  if (!trace_source_parse(&source, "printed", text, len, &err))
    ck_abort_msg("%s\n%s", err.text, text);
  if (!trace_run(&result, &source, NULL, &err))
    ck_abort_msg("%s\n%s", err.text, text);
  ck_assert(trace_has_expectation(&source));
  size_t n = trace_compare(diff, &source, &result);
  trace_result_free(&result);
  trace_source_free(&source);
  return n;
}

typedef struct text {
  char *data;
  size_t len;
  FILE *out;
} text;

static void text_open(text *t)
{
  t->out = open_memstream(&t->data, &t->len);
  test_must(t->out != NULL);
}

static void must_be_true(text *t)
{
  trace_text diff = {0};
  fclose(t->out);
  if (differences(t->data, t->len, &diff) != 0)
    ck_abort_msg("%s\n%s", text_get(&diff), t->data);
  text_free(&diff);
  free(t->data);
}

static void settle(rng *r, setting *how)
{
  memset(how, 0, sizeof *how);
  how->options.struct_size = TWPA_PLAN_OPTIONS_INIT;
  how->options.seed = rng_next(r);
  how->options.table_bytes = (size_t)64 << rng_below(r, 7);
  how->options.wide_bytes = (size_t)64 << rng_below(r, 7);
  how->options.explain = (uint32_t)rng_below(r, 2);
  how->options.memory_bytes = rng_chance(r, 50) ? (size_t)128 << rng_below(r, 8) : 0;
  how->options.unique_release = (uint32_t)rng_below(r, 2);
  how->options.free_commit_order = (uint32_t)rng_below(r, 2);
  how->options.no_identity = (uint32_t)rng_below(r, 2);
  how->options.foreign_keys = (uint32_t)rng_below(r, 3);
  how->options.parent_update = (uint32_t)rng_below(r, 2);
  how->options.early_start = how->options.free_commit_order ? 0 : (uint32_t)rng_below(r, 3);
  how->options.txn_max_keys = rng_chance(r, 10) ? 1 + rng_below(r, 6) : 0;
  how->seed_rows = rng_chance(r, 50);
  how->complete = rng_chance(r, 50);
  how->skip = rng_chance(r, 20) && how->options.early_start == 0;
  how->dice = rng_next(r);
}

static void random_history(rng *r, history *h, setting *how)
{
  for (;;) {
    if (!history_random(h, r, (int)rng_below(r, WORLDS), TX, SOURCE_ST))
      continue;
    settle(r, how);
    if (!how->skip && rng_chance(r, 80))
      return;
    if (!how->skip && history_prepare(h, r, SOURCE_ST))
      return;
    if (!how->skip)
      continue;
    h->skipped = (int)rng_below(r, (uint64_t)h->n);
    if (history_expand(h))
      return;
  }
}

START_TEST(what_is_planned_is_what_the_trace_gives)
{
  rng r = {test_seed(81)};
  uint32_t preds[TX];
  for (uint64_t n = histories_wanted(4000); n > 0; n--) {
    history h;
    setting how;
    text t;
    random_history(&r, &h, &how);
    text_open(&t);
    const trace_log log = {t.out, NULL, NULL};
    history_plan_logged(&h, &how, preds, &log);
    must_be_true(&t);
  }
}
END_TEST

START_TEST(what_is_scheduled_is_what_the_trace_gives)
{
  rng r = {test_seed(82)};
  interleaved sum = {0};
  for (uint64_t n = histories_wanted(12000); n > 0;) {
    history h;
    setting how;
    driving d = {.options = {.struct_size = TWPA_SCHEDULER_OPTIONS_INIT}};
    text t;
    random_history(&r, &h, &how);
    if (h.skipped >= 0 || h.sc.trigger >= 0 || h.sc.indexes[0][0].n == 0)
      continue;
    how.options.unique_release = how.options.free_commit_order ? TWPA_UNKNOWN_STRICT : TWPA_UNKNOWN_OPTIMISTIC;
    how.options.foreign_keys = TWPA_FOREIGN_KEYS_ENFORCED;
    how.options.no_identity = TWPA_NO_IDENTITY_INSERT_FREE;
    d.options.commit_order = how.options.free_commit_order ? (uint32_t)(1 + rng_below(&r, 2)) : TWPA_COMMIT_ORDER_GLOBAL;
    d.options.running_max = rng_below(&r, 4);
    d.options.open_max = rng_below(&r, 5);
    d.aborts = (unsigned)rng_below(&r, 3);
    d.failures = true;
    d.origins = rng_chance(&r, 30);
    d.crashes = d.origins;
    d.dice = rng_next(&r);
    text_open(&t);
    const trace_log log = {t.out, NULL, NULL};
    const char *wrong = interleave(&h, &how, &d, &sum, &log);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    must_be_true(&t);
    n--;
  }
  ck_assert_uint_gt(sum.failures, 0); /* so that what follows a failure has been written down */
  ck_assert_uint_gt(sum.rollbacks, 0);
}
END_TEST

/* --- a plan that lacks something ------------------------------------------------------------------------------------- */

/* All dependencies of the last transaction are hidden. */
typedef struct blind {
  const setting *how;
  uint32_t hidden[TX];
} blind;

static bool is_wrong(const history *h, void *arg)
{
  blind *b = arg;
  uint32_t preds[TX];
  uint64_t steps = 0;
  char order[TX + 1];
  history_plan(h, b->how, preds);
  memset(b->hidden, 0, sizeof b->hidden);
  b->hidden[h->n - 1] = UINT32_MAX;
  preds[h->n - 1] = 0;
  return history_all_orders(h, preds, false, &steps, order) != NULL;
}

static bool in_text(const text *t, const char *words)
{
  return strstr(t->data, words) != NULL;
}

/* The history is wrong, and small. Its trace expects what is lacking; without that it does not fit. */
static void check_report(const history *h, const blind *b)
{
  uint32_t preds[TX], lacking[TX];
  trace_text diff = {0};
  text t;
  text_open(&t);
  history_report(t.out, h, b->how, b->hidden);
  fclose(t.out);
  history_plan(h, b->how, preds);
  for (int k = 0; k < h->n; k++)
    preds[k] &= ~b->hidden[k];
  history_lacking(h, preds, false, lacking);
  bool any = false;
  for (int to = 0; to < h->n; to++)
    for (int from = 0; from < to; from++)
      if ((lacking[to] & 1u << from) != 0) {
        char line[64];
        snprintf(line, sizeof line, "\n> edge from=%d to=%d\n", from + 1, to + 1);
        ck_assert_msg(in_text(&t, line), "no '%s' in\n%s", line, t.data);
        any = true;
      }
  ck_assert_msg(any && in_text(&t, ", in the order "), "%s", t.data);
  if (differences(t.data, t.len, &diff) != 0)
    ck_abort_msg("%s\n%s", text_get(&diff), t.data);
  free(t.data);
  text_open(&t);
  const trace_log log = {t.out, NULL, b->hidden};
  history_plan_logged(h, b->how, preds, &log);
  fclose(t.out);
  ck_assert_uint_gt(differences(t.data, t.len, &diff), 0);
  ck_assert_msg(strstr(text_get(&diff), "edge from=") != NULL, "%s", text_get(&diff));
  text_free(&diff);
  free(t.data);
}

START_TEST(what_a_plan_lacks_is_in_the_trace)
{
  rng r = {test_seed(83)};
  unsigned found = 0;
  while (found < 100 / histories_slowness()) {
    history h;
    setting how;
    if (!history_random(&h, &r, (int)rng_below(&r, WORLD_DEGRADING), TX, SOURCE_ST))
      continue;
    how = (setting){.options = {TWPA_PLAN_OPTIONS_INIT, .seed = rng_next(&r), .table_bytes = 4096, .wide_bytes = 4096,
                                .unique_release = TWPA_UNKNOWN_STRICT, .free_commit_order = 1,
                                .no_identity = TWPA_NO_IDENTITY_INSERT_FREE}};
    blind b = {.how = &how};
    if (!is_wrong(&h, &b))
      continue;
    history_minimise(&h, is_wrong, &b);
    test_must(is_wrong(&h, &b));
    ck_assert_int_le(h.n, 3);
    check_report(&h, &b);
    found++;
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_trace");
  TCase *t = tcase_create("traces");
  tcase_set_timeout(t, 0);
  tcase_add_test(t, what_is_planned_is_what_the_trace_gives);
  tcase_add_test(t, what_is_scheduled_is_what_the_trace_gives);
  tcase_add_test(t, what_a_plan_lacks_is_in_the_trace);
  suite_add_tcase(s, t);
  return run_suite(s);
}
