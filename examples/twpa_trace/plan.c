/* The verbs of the planning half, and its life. */
#include "decode.h"
#include "planning.h"

#include "support/memory.h"

#include <stdlib.h>

const trace_verb plan_verbs[] = {
  {"relation", "NAME", "columns identity root flags affects", do_relation, 0, NULL},
  {"index", "NAME", "of columns flags where prefix id", do_index, 0, NULL},
  {"fk", "NAME", "of columns parent index flags", do_fk, 0, NULL},
  {"plan", NULL,
   "seed table wide memory max-transactions max-keys txn-max-keys unique reference foreign-keys no-identity "
   "parent-update early commit-order explain",
   do_plan, 0, NULL},
  {"scheduler", NULL, "running open window retries commit-order", do_scheduler, 0, NULL},
  {"progress", NULL, "start stream span", do_progress, 0, NULL},
  {"txn", NULL, "end origin flags groups", do_txn, 0, NULL},
  {"barrier", "?RELATION", "", do_barrier, 0, NULL},
  {"access", "KEY", "mode", do_access, 0, NULL},
  {"enter", NULL, "", do_enter, 0, NULL},
  {"seed", "RELATION", "new", do_seed, 0, NULL},
  {"cut", NULL, "", do_simple, 0, NULL},
  {"complete", "SEQ", "how", do_complete, 0, NULL},
  {"executed", "SEQ", "", do_step, 0, NULL},
  {"revoke", "SEQ", "", do_step, 0, NULL},
  {"retried", "SEQ", "", do_step, 0, NULL},
  {"next", NULL, "count worker", do_next, 0, NULL},
  {"applied", "SEQ", "", do_step, 0, NULL},
  {"next-commit", NULL, "count", do_next, 0, NULL},
  {"committed", "SEQ", "", do_step, 0, NULL},
  {"failed", "SEQ", "why", do_failed, 0, NULL},
  {"next-rollback", NULL, "count", do_next, 0, NULL},
  {"rolled-back", "SEQ", "", do_step, 0, NULL},
  {"skip", "SEQ", "how", do_complete, 0, NULL},
  {"stop-before", "SEQ", "", do_step, 0, NULL},
  {"resume", NULL, "", do_simple, 0, NULL},
  {"passed", "LSN", "", do_passed, 0, NULL},
  {"note-applied", "LSN", "", do_passed, 0, NULL},
  {"is-applied", "LSN", "", do_ask, 0, NULL},
  {"checkpoint", NULL, "with damage", do_checkpoint, 0, NULL},
  {"reload", NULL, "stream start", do_reload, 0, NULL},
  {"explain", "SEQ", "", do_explain, 0, NULL},
  {NULL, NULL, NULL, NULL, 0, NULL},
};

struct plan_half *plan_new(void)
{
  plan_half *p = host_alloc(1, sizeof *p);
  p->options = (twpa_plan_options){.struct_size = TWPA_PLAN_OPTIONS_INIT, .explain = 1};
  return p;
}

void plan_finish(trace *t)
{
  plan_close(t);
  relations_free(t->plan);
  free(t->plan->saved);
  free(t->plan);
  t->plan = NULL;
}
