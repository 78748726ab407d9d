/*
 * libtwpa on one page: a log with interleaved transactions goes in, whole transactions come out, the plan finds which of
 * them may run together, and the scheduler hands them out. The log is made by hand, and the "target" is printf.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <twpa/twpa.h>

typedef struct account { int32_t id, balance; } account; /* a row, as this log has it; the library only hands it on */

/* Ends the program if the call failed; otherwise true, or false for "nothing to give". */
static int must(twpa_status status, const char *what)
{
  if (status < 0) {
    fprintf(stderr, "%s: %s\n", what, twpa_status_text(status));
    exit(1);
  }
  return status == TWPA_OK;
}

/* The reorder buffer offers a committed transaction: we keep it, as an object to be walked. */
static int keep(void *user, twpa_txn *txn)
{
  *(twpa_txn **)user = txn;
  return TWPA_CALLBACK_OK;
}

/* What the transaction touches becomes its accesses; then it enters the plan and waits for its turn. */
static void plan_it(twpa_scheduler *scheduler, twpa_access_set *set, twpa_relation *accounts, twpa_txn *txn)
{
  uint64_t seq;
  must(twpa_access_set_begin(set, twpa_txn_end_lsn(txn), twpa_txn_origin(txn), 0), "begin");
  for (twpa_change change; must(twpa_txn_next(txn, &change), "next change");) {
    const account *row = change.new_row.data;
    twpa_value values[] = {{0, TWPA_VALUE_BINARY, {&row->id, sizeof row->id}},
                           {0, TWPA_VALUE_BINARY, {&row->balance, sizeof row->balance}}};
    must(twpa_access_set_change(set, accounts, TWPA_OP_UPDATE, NULL, values, 2), "change");
  }
  must(twpa_scheduler_submit(scheduler, &seq, set, txn), "submit");
  printf("xid %" PRIu64 " is transaction %" PRIu64 "\n", twpa_txn_xid(txn), seq);
}

/* Executes a transaction on the target: its changes, in order. */
static void apply(uint64_t seq, twpa_txn *txn)
{
  printf("transaction %" PRIu64 " may run:", seq);
  must(twpa_txn_rewind(txn), "rewind");
  for (twpa_change change; must(twpa_txn_next(txn, &change), "next change");) {
    const account *row = change.new_row.data;
    printf(" account %d = %d", (int)row->id, (int)row->balance);
  }
  printf("\n");
}

int main(void)
{
  /* The log: U = update a row, C = commit, A = abort. Transaction 12 is a subtransaction of 10. */
  static const struct { char what; twpa_xid xid, top; account row; } log[] = {
    {'U', 10, 0, {1, 100}}, {'U', 11, 0, {2, 250}}, {'U', 12, 10, {3, 300}}, {'U', 13, 0, {1, 999}}, {'C', 11, 0, {0, 0}},
    {'C', 10, 0, {0, 0}}, {'A', 13, 0, {0, 0}}, {'U', 14, 0, {1, 101}}, {'C', 14, 0, {0, 0}}};

  /* accounts(id primary key, balance), as the target has it */
  const twpa_column_desc columns[] = {{TWPA_CLASS_INTEGER, 0}, {TWPA_CLASS_INTEGER, 0}};
  const twpa_index_desc pkey = {.id = 1, .columns = &(const uint32_t){0}, .ncolumns = 1, .flags = TWPA_INDEX_PRIMARY};
  const twpa_relation_desc desc = {
    TWPA_RELATION_DESC_INIT, .id = 1, .columns = columns, .ncolumns = 2, .indexes = &pkey, .nindexes = 1};
  const twpa_output output = {TWPA_OUTPUT_INIT, .take = keep};
  twpa_txn *taken = NULL;
  twpa_reorder *reorder;
  twpa_relation *accounts;
  twpa_access_set *set;
  twpa_plan *plan;
  twpa_progress *progress;
  twpa_scheduler *scheduler;
  must(twpa_reorder_new(&reorder, NULL, &output, &taken, NULL), "reorder buffer");
  must(twpa_relation_new(&accounts, &desc, NULL), "relation");
  must(twpa_plan_new(&plan, NULL, NULL), "plan");
  must(twpa_progress_new(&progress, NULL, NULL), "progress");
  const twpa_scheduler_options options = {TWPA_SCHEDULER_OPTIONS_INIT, .running_max = 4, .progress = progress};
  must(twpa_scheduler_new(&scheduler, plan, &options, NULL), "scheduler");
  must(twpa_access_set_new(&set, plan, NULL), "access set");

  for (size_t i = 0; i < sizeof log / sizeof log[0]; i++) {
    twpa_record record = {.lsn = 100 + 10 * i, .end_lsn = 110 + 10 * i, .xid = log[i].xid, .top_xid = log[i].top};
    twpa_change change = {.kind = TWPA_UPDATE, .new_row = {&log[i].row, sizeof log[i].row}};
    twpa_commit end = {.time = (twpa_time)i};
    must(log[i].what == 'U'   ? twpa_reorder_queue(reorder, &record, &change)
         : log[i].what == 'C' ? twpa_reorder_commit(reorder, &record, &end)
                              : twpa_reorder_abort(reorder, &record, &end), "log");
    if (taken != NULL)
      plan_it(scheduler, set, accounts, taken);
    taken = NULL;
  }

  /* With threads, each worker would do this under a mutex, and apply and commit outside of it. */
  uint64_t seq;
  void *task;
  while (!twpa_scheduler_idle(scheduler)) {
    while (must(twpa_scheduler_next(scheduler, &seq, &task), "next")) {
      apply(seq, task);
      must(twpa_scheduler_applied(scheduler, seq), "applied");
    }
    while (must(twpa_scheduler_next_commit(scheduler, &seq, &task), "next commit")) {
      must(twpa_scheduler_committed(scheduler, seq), "committed");
      printf("transaction %" PRIu64 " is committed\n", seq);
      twpa_txn_release(task);
    }
  }
  twpa_lsn lsn;
  must(twpa_progress_low_watermark(progress, &seq, &lsn), "watermark");
  printf("everything up to transaction %" PRIu64 ", position %" PRIu64 ", is done\n", seq, lsn);
  twpa_access_set_free(set);
  twpa_scheduler_free(scheduler);
  twpa_progress_free(progress);
  twpa_plan_free(plan);
  twpa_relation_free(accounts);
  twpa_reorder_free(reorder);
}
