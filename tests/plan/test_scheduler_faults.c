/* Scheduler: whatever allocation fails, the call repeated succeeds, and the outcome is that of an undisturbed run. */
#include "plan/kit.h"

#include <twpa/scheduler.h>

static const twpa_plan_options free_plan = {.struct_size = TWPA_PLAN_OPTIONS_INIT, .free_commit_order = 1};

typedef struct script {
  uint64_t order[256];
  size_t n;
} script;

#define RETRY(call) \
  do { \
    twpa_status st_; \
    size_t failed_; \
    do { \
      failed_ = fm.failed; \
      st_ = (call); \
    } while (st_ == TWPA_E_NOMEM && fm.failed != failed_); \
    test_must(st_ == TWPA_OK); \
  } while (0)

/* A run with skips, early ends and a growing ring; whatever fails for want of memory is repeated. */
static bool scripted(script *out, size_t fail_at)
{
  faultmem fm;
  twpa_allocator mem = faultmem_init(&fm, fail_at, false);
  twpa_plan *plan;
  twpa_scheduler *s;
  twpa_access_set *set;
  twpa_progress *p;
  twpa_recording *rec;
  out->n = 0;
  twpa_plan_options po = free_plan;
  po.table_bytes = po.wide_bytes = 1024;
  RETRY(twpa_plan_new(&plan, &po, &mem));
  RETRY(twpa_access_set_new(&set, plan, &mem));
  RETRY(twpa_progress_new(&p, NULL, &mem));
  RETRY(twpa_recording_new(&rec, &mem));
  twpa_scheduler_options so = {
    .struct_size = sizeof so, .commit_order = TWPA_COMMIT_ORDER_GROUPS, .progress = p, .recording = rec};
  RETRY(twpa_scheduler_new(&s, plan, &so, &mem));
  RETRY(twpa_scheduler_set_progress(s, 3, NULL));
  for (uint64_t i = 1; i <= 150; i++) {
    uint64_t seq;
    RETRY(twpa_access_set_begin(set, i * 10, 0, 0));
    RETRY(twpa_access_set_access(set, i % 40, TWPA_MODE_WRITE));
    RETRY(twpa_scheduler_submit_groups(s, &seq, set, NULL, i % 4));
    test_must(seq == i);
    if (i % 10 == 0)
      RETRY(twpa_scheduler_skip(s, i, TWPA_DONE_SKIPPED));
  }
  size_t calls = fm.calls;
  uint64_t seq;
  uint64_t running[8];
  size_t n = 0;
  while (!twpa_scheduler_idle(s)) {
    while (n < 8 && twpa_scheduler_next(s, &seq, NULL) == TWPA_OK)
      running[n++] = seq;
    if (n > 0)
      test_must(twpa_scheduler_applied(s, running[--n]) == TWPA_OK);
    while (twpa_scheduler_next_commit(s, &seq, NULL) == TWPA_OK) {
      out->order[out->n++] = seq;
      test_must(twpa_scheduler_committed(s, seq) == TWPA_OK);
    }
  }
  (void)calls;
  twpa_lsn lsn;
  test_must(twpa_progress_low_watermark(p, &seq, &lsn) == TWPA_OK && seq == 150 && lsn == 1500);
  twpa_scheduler_free(s);
  twpa_recording_free(rec);
  twpa_progress_free(p);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  faultmem_check_empty(&fm);
  return fm.failed > 0;
}

START_TEST(every_allocation_may_fail)
{
  script undisturbed, disturbed;
  scripted(&undisturbed, 0);
  ck_assert_uint_eq(undisturbed.n, 135);
  for (size_t n = 1; scripted(&disturbed, n); n++) {
    ck_assert_uint_eq(disturbed.n, undisturbed.n);
    ck_assert_mem_eq(disturbed.order, undisturbed.order, undisturbed.n * sizeof undisturbed.order[0]);
  }
}
END_TEST

START_TEST(no_memory_at_all)
{
  for (size_t n = 1;; n++) {
    faultmem fm;
    twpa_allocator mem = faultmem_init(&fm, n, true);
    twpa_plan *plan = NULL;
    twpa_scheduler *s = NULL;
    twpa_access_set *set = NULL;
    uint64_t seq;
    twpa_plan_options po = free_plan;
    po.table_bytes = po.wide_bytes = 1024;
    twpa_scheduler_options so = {.struct_size = sizeof so, .commit_order = TWPA_COMMIT_ORDER_GROUPS};
    twpa_status st = twpa_plan_new(&plan, &po, &mem);
    if (st == TWPA_OK)
      st = twpa_access_set_new(&set, plan, &mem);
    if (st == TWPA_OK)
      st = twpa_scheduler_new(&s, plan, &so, &mem);
    for (int i = 0; i < 100 && st == TWPA_OK; i++) {
      st = twpa_access_set_begin(set, 0, 0, 0);
      if (st == TWPA_OK)
        st = twpa_scheduler_submit(s, &seq, set, NULL);
    }
    twpa_scheduler_free(s);
    twpa_access_set_free(set);
    twpa_plan_free(plan);
    faultmem_check_empty(&fm);
    ck_assert_int_eq(st, fm.failed > 0 ? TWPA_E_NOMEM : TWPA_OK);
    if (fm.failed == 0)
      break;
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("scheduler_faults");
  TCase *c = tcase_create("memory");
  tcase_add_test(c, every_allocation_may_fail);
  tcase_add_test(c, no_memory_at_all);
  suite_add_tcase(s, c);
  return run_suite(s);
}
