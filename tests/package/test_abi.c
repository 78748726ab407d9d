/*
 * Callers of other ages: every options struct, table of hooks and table of results, as a caller of the first version has it
 * (in a block of exactly that size, so that AddressSanitizer sees a look beyond it), as a newer one has it, and as one that
 * forgot the size. What the first version is, abi_sizes.c pins.
 */
#include "support/runner.h"

#include <stdlib.h>
#include <string.h>
#include <twpa/twpa.h>

typedef struct struct_case {
  const char *name;
  size_t size;                            /* of the first version */
  const void *content;                    /* input: a valid one; NULL: all zero */
  twpa_status (*call)(const void *block); /* input */
  twpa_status (*fill)(void *block);       /* output */
} struct_case;

static int nothing(void *user, twpa_txn *txn)
{
  (void)user, (void)txn;
  return TWPA_CALLBACK_OK;
}

static int no_change(void *user, twpa_txn *txn, const twpa_change *change)
{
  (void)user, (void)txn, (void)change;
  return TWPA_CALLBACK_OK;
}

static int no_write(void *user, uint64_t file, uint64_t offset, const void *data, size_t len)
{
  (void)user, (void)file, (void)offset, (void)data, (void)len;
  return 0;
}

static int no_read(void *user, uint64_t file, uint64_t offset, void *data, size_t len)
{
  (void)user, (void)file, (void)offset, (void)data, (void)len;
  return 0;
}

static int no_remove(void *user, uint64_t file)
{
  (void)user, (void)file;
  return 0;
}

static const twpa_output output = {TWPA_OUTPUT_INIT, .begin = nothing, .change = no_change, .commit = nothing};
static const twpa_storage storage = {TWPA_STORAGE_INIT, .write = no_write, .read = no_read, .remove = no_remove};
static const twpa_column_desc column = {TWPA_CLASS_INTEGER, 0};
static const twpa_relation_desc relation_desc = {TWPA_RELATION_DESC_INIT, .id = 1, .columns = &column, .ncolumns = 1};

static twpa_status reorder_with(const twpa_reorder_options *options, const void *out)
{
  twpa_reorder *reorder = NULL;
  twpa_status status = twpa_reorder_new(&reorder, options, out, NULL, NULL);
  twpa_reorder_free(reorder);
  return status;
}

static twpa_status with_output(const void *block)
{
  return reorder_with(NULL, block);
}

static twpa_status with_reorder_options(const void *block)
{
  return reorder_with(block, &output);
}

static twpa_status with_hooks(const void *block)
{
  const twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .hooks = block};
  return reorder_with(&options, &output);
}

static twpa_status with_storage(const void *block)
{
  const twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .storage = block};
  return reorder_with(&options, &output);
}

static const twpa_file_spill_options here = {TWPA_FILE_SPILL_OPTIONS_INIT, .directory = "."};

static twpa_status with_file_spill_options(const void *block)
{
  twpa_file_spill *spill = NULL;
  twpa_status status = twpa_file_spill_new(&spill, block, NULL);
  twpa_file_spill_free(spill);
  return status;
}

static twpa_status with_relation_desc(const void *block)
{
  twpa_relation *relation = NULL;
  twpa_status status = twpa_relation_new(&relation, block, NULL);
  twpa_relation_free(relation);
  return status;
}

static twpa_status with_plan_options(const void *block)
{
  twpa_plan *plan = NULL;
  twpa_status status = twpa_plan_new(&plan, block, NULL);
  twpa_plan_free(plan);
  return status;
}

static twpa_status with_scheduler_options(const void *block)
{
  twpa_plan *plan;
  twpa_scheduler *scheduler = NULL;
  ck_assert_int_eq(twpa_plan_new(&plan, NULL, NULL), TWPA_OK);
  twpa_status status = twpa_scheduler_new(&scheduler, plan, block, NULL);
  twpa_scheduler_free(scheduler);
  twpa_plan_free(plan);
  return status;
}

static twpa_status with_progress_options(const void *block)
{
  twpa_progress *progress = NULL;
  twpa_status status = twpa_progress_new(&progress, block, NULL);
  twpa_progress_free(progress);
  return status;
}

static twpa_status simulate(twpa_simulation *result, const void *options)
{
  twpa_recording *recording;
  ck_assert_int_eq(twpa_recording_new(&recording, NULL), TWPA_OK);
  twpa_status status = twpa_simulate(recording, result, NULL, 0, options, NULL);
  twpa_recording_free(recording);
  return status;
}

static twpa_status with_simulation_options(const void *block)
{
  twpa_simulation result = {TWPA_SIMULATION_INIT, .transactions = 0};
  return simulate(&result, block);
}

static twpa_status fill_simulation(void *block)
{
  return simulate(block, NULL);
}

static twpa_status fill_reorder_counters(void *block)
{
  twpa_reorder *reorder;
  ck_assert_int_eq(twpa_reorder_new(&reorder, NULL, &output, NULL, NULL), TWPA_OK);
  twpa_status status = twpa_reorder_stats(reorder, block);
  twpa_reorder_free(reorder);
  return status;
}

/* The results of the planning half, with one plan, access set, scheduler and progress below them. */
enum { SET_COUNTERS, REPORT, PLAN_COUNTERS, SCHEDULER_COUNTERS, PROGRESS_COUNTERS };

static twpa_status fill_planning(void *block, int which)
{
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_scheduler *scheduler;
  twpa_progress *progress;
  ck_assert_int_eq(twpa_plan_new(&plan, NULL, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plan, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_scheduler_new(&scheduler, plan, NULL, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_progress_new(&progress, NULL, NULL), TWPA_OK);
  twpa_status status = which == SET_COUNTERS         ? twpa_access_set_stats(set, block)
                       : which == REPORT             ? twpa_plan_report(plan, block)
                       : which == PLAN_COUNTERS      ? twpa_plan_stats(plan, block)
                       : which == SCHEDULER_COUNTERS ? twpa_scheduler_stats(scheduler, block)
                                                     : twpa_progress_stats(progress, block);
  twpa_progress_free(progress);
  twpa_scheduler_free(scheduler);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  return status;
}

static twpa_status fill_set_counters(void *block)
{
  return fill_planning(block, SET_COUNTERS);
}

static twpa_status fill_report(void *block)
{
  return fill_planning(block, REPORT);
}

static twpa_status fill_plan_counters(void *block)
{
  return fill_planning(block, PLAN_COUNTERS);
}

static twpa_status fill_scheduler_counters(void *block)
{
  return fill_planning(block, SCHEDULER_COUNTERS);
}

static twpa_status fill_progress_counters(void *block)
{
  return fill_planning(block, PROGRESS_COUNTERS);
}

static twpa_status fill_file_spill_storage(void *block)
{
  twpa_file_spill *spill;
  ck_assert_int_eq(twpa_file_spill_new(&spill, &here, NULL), TWPA_OK);
  twpa_status status = twpa_file_spill_storage(spill, block);
  twpa_file_spill_free(spill);
  return status;
}

static const struct_case inputs[] = {
  {"twpa_output", sizeof(twpa_output), &output, with_output, NULL},
  {"twpa_storage", sizeof(twpa_storage), &storage, with_storage, NULL},
  {"twpa_reorder_hooks", sizeof(twpa_reorder_hooks), NULL, with_hooks, NULL},
  {"twpa_reorder_options", sizeof(twpa_reorder_options), NULL, with_reorder_options, NULL},
  {"twpa_file_spill_options", sizeof(twpa_file_spill_options), &here, with_file_spill_options, NULL},
  {"twpa_relation_desc", sizeof(twpa_relation_desc), &relation_desc, with_relation_desc, NULL},
  {"twpa_plan_options", sizeof(twpa_plan_options), NULL, with_plan_options, NULL},
  {"twpa_scheduler_options", sizeof(twpa_scheduler_options), NULL, with_scheduler_options, NULL},
  {"twpa_progress_options", sizeof(twpa_progress_options), NULL, with_progress_options, NULL},
  {"twpa_simulation_options", sizeof(twpa_simulation_options), NULL, with_simulation_options, NULL},
};

static const struct_case outputs[] = {
  {"twpa_reorder_counters", sizeof(twpa_reorder_counters), NULL, NULL, fill_reorder_counters},
  {"twpa_access_set_counters", sizeof(twpa_access_set_counters), NULL, NULL, fill_set_counters},
  {"twpa_report", sizeof(twpa_report), NULL, NULL, fill_report},
  {"twpa_plan_counters", sizeof(twpa_plan_counters), NULL, NULL, fill_plan_counters},
  {"twpa_scheduler_counters", sizeof(twpa_scheduler_counters), NULL, NULL, fill_scheduler_counters},
  {"twpa_progress_counters", sizeof(twpa_progress_counters), NULL, NULL, fill_progress_counters},
  {"twpa_simulation", sizeof(twpa_simulation), NULL, NULL, fill_simulation},
  {"twpa_storage", sizeof(twpa_storage), NULL, NULL, fill_file_spill_storage},
};

/* Calls with a block of exactly `size` bytes on the heap, of which the first ones are the case's content. */
static twpa_status call_with(const struct_case *c, size_t size, size_t said, int tail)
{
  size_t room = size < sizeof said ? sizeof said : size;
  unsigned char *block = malloc(room);
  ck_assert_ptr_nonnull(block);
  memset(block, 0, room);
  if (c->content != NULL)
    memcpy(block, c->content, c->size < room ? c->size : room);
  memcpy(block, &said, sizeof said);
  if (tail != 0)
    block[room - 1] = (unsigned char)tail;
  twpa_status status = c->call(block);
  free(block);
  return status;
}

START_TEST(an_input_of_every_age)
{
  const struct_case *c = &inputs[_i];
  ck_assert_msg(call_with(c, c->size, c->size, 0) == TWPA_OK, "%s: the first version", c->name);
  ck_assert_msg(call_with(c, c->size + 8, c->size + 8, 0) == TWPA_OK, "%s: newer, nothing new used", c->name);
  ck_assert_msg(call_with(c, c->size + 8, c->size + 8, 1) == TWPA_E_UNSUPPORTED, "%s: newer, and used", c->name);
  ck_assert_msg(call_with(c, c->size, 0, 0) == TWPA_E_INVAL, "%s: no size", c->name);
  ck_assert_msg(call_with(c, c->size - 8, c->size - 8, 0) == TWPA_E_INVAL, "%s: below the first version", c->name);
  ck_assert_msg(call_with(c, c->size, SIZE_MAX, 0) == TWPA_E_INVAL, "%s: a size that cannot be", c->name);
}
END_TEST

START_TEST(an_output_of_every_age)
{
  const struct_case *c = &outputs[_i];
  const size_t sizes[] = {c->size, c->size + 24};
  for (size_t k = 0; k < 2; k++) {
    unsigned char *block = malloc(sizes[k]);
    ck_assert_ptr_nonnull(block);
    memset(block, 0xAA, sizes[k]);
    memcpy(block, &sizes[k], sizeof sizes[k]);
    ck_assert_msg(c->fill(block) == TWPA_OK, "%s", c->name);
    ck_assert_msg(memcmp(block, &sizes[k], sizeof sizes[k]) == 0, "%s: the size is the caller's", c->name);
    for (size_t i = c->size; i < sizes[k]; i++)
      ck_assert_msg(block[i] == 0, "%s: what the library does not know is zero", c->name);
    free(block);
  }
  const size_t wrong[] = {0, c->size - 8, SIZE_MAX};
  for (size_t k = 0; k < 3; k++) {
    unsigned char *block = malloc(c->size), *before = malloc(c->size);
    ck_assert(block != NULL && before != NULL);
    memset(block, 0xAA, c->size);
    memcpy(block, &wrong[k], sizeof wrong[k]);
    memcpy(before, block, c->size);
    ck_assert_msg(c->fill(block) == TWPA_E_INVAL, "%s: size %zu", c->name, wrong[k]);
    ck_assert_msg(memcmp(block, before, c->size) == 0, "%s: untouched", c->name);
    free(block);
    free(before);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("abi");
  TCase *tcase = tcase_create("sized structs");
  tcase_add_loop_test(tcase, an_input_of_every_age, 0, (int)(sizeof inputs / sizeof inputs[0]));
  tcase_add_loop_test(tcase, an_output_of_every_age, 0, (int)(sizeof outputs / sizeof outputs[0]));
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
