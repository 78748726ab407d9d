/* Making a plan, a scheduler and progress; carrying transactions out as the trace says. */
#include "planning.h"

#include "decode.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void on_wait(void *user, const twpa_wait *wait)
{
  trace_say(user, "wait seq=%" PRIu64 " for=%" PRIu64, wait->waiter, wait->holder);
}

void plan_close(trace *t)
{
  plan_half *p = t->plan;
  twpa_access_set_free(p->set);
  twpa_scheduler_free(p->scheduler);
  twpa_progress_free(p->progress);
  twpa_plan_free(p->plan);
  p->set = NULL;
  p->scheduler = NULL;
  p->progress = NULL;
  p->plan = NULL;
  p->in_txn = false;
}

static void drop_saved(plan_half *p)
{
  free(p->saved);
  p->saved = NULL;
  p->nsaved = 0;
}

bool do_plan(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  plan_close(t);
  drop_saved(p);
  p->scheduled = p->tracked = false;
  p->options = (twpa_plan_options){.struct_size = TWPA_PLAN_OPTIONS_INIT, .explain = 1};
  twpa_plan_options *o = &p->options;
  uint64_t table = 0, wide = 0, memory = 0;
  if (!arg_number(t, c, "seed", &o->seed, 0, UINT64_MAX) ||
      !arg_number(t, c, "table", &table, 64, UINT64_C(1) << 32) ||
      !arg_number(t, c, "wide", &wide, 64, UINT64_C(1) << 32) ||
      !arg_number(t, c, "memory", &memory, 0, UINT64_C(1) << 32) ||
      !arg_number(t, c, "max-transactions", &o->max_transactions, 1, UINT64_MAX) ||
      !arg_number(t, c, "max-keys", &o->max_keys, 1, UINT64_MAX) ||
      !arg_number(t, c, "txn-max-keys", &o->txn_max_keys, 1, UINT64_MAX) ||
      !arg_choice(t, c, "unique", &o->unique_release, "optimistic|strict") ||
      !arg_choice(t, c, "reference", &o->reference_release, "strict|optimistic") ||
      !arg_choice(t, c, "foreign-keys", &o->foreign_keys, "enforced|off|all") ||
      !arg_choice(t, c, "no-identity", &o->no_identity, "serial|insert-free") ||
      !arg_choice(t, c, "parent-update", &o->parent_update, "free|conflicts") ||
      !arg_choice(t, c, "early", &o->early_start, "off|narrow|wide") ||
      !arg_choice(t, c, "commit-order", &o->free_commit_order, "global|free") ||
      !arg_choice(t, c, "explain", &o->explain, "no|yes"))
    return false;
  o->table_bytes = (size_t)table;
  o->wide_bytes = (size_t)wide;
  o->memory_bytes = (size_t)memory;
  plan_ready(t);
  return true;
}

bool do_scheduler(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  p->schedule = (twpa_scheduler_options){.struct_size = TWPA_SCHEDULER_OPTIONS_INIT, .on_wait = on_wait, .user = t};
  twpa_scheduler_options *o = &p->schedule;
  twpa_scheduler_free(p->scheduler);
  p->scheduler = NULL;
  if (!arg_number(t, c, "running", &o->running_max, 1, UINT64_MAX) ||
      !arg_number(t, c, "open", &o->open_max, 1, UINT64_MAX) ||
      !arg_number(t, c, "window", &o->window_max, 1, UINT64_MAX) ||
      !arg_number(t, c, "retries", &o->retries_max, 1, UINT64_MAX) ||
      !arg_choice(t, c, "commit-order", &o->commit_order, "global|groups|free"))
    return false;
  p->scheduled = true;
  plan_ready(t);
  return true;
}

bool do_progress(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  p->track = (twpa_progress_options){.struct_size = TWPA_PROGRESS_OPTIONS_INIT};
  if (!arg_position(t, c, "start", &p->track.start) ||
      !arg_number(t, c, "stream", &p->track.stream, 0, UINT64_MAX) ||
      !arg_number(t, c, "span", &p->track.span_max, 1, UINT64_MAX))
    return false;
  if (p->scheduler != NULL)
    return trace_fail(t->err, c->at, "'progress' stands before 'scheduler'");
  twpa_progress_free(p->progress);
  p->progress = NULL;
  drop_saved(p);
  p->tracked = true;
  plan_ready(t);
  return true;
}

static bool need_scheduler(trace *t, const trace_command *c)
{
  return t->plan->scheduler != NULL || trace_fail(t->err, c->at, "there is no 'scheduler' before it");
}

static bool need_plan(trace *t, const trace_command *c)
{
  return t->plan->plan != NULL || trace_fail(t->err, c->at, "there is no 'plan' before it");
}

static bool need_progress(trace *t, const trace_command *c)
{
  return t->plan->progress != NULL || trace_fail(t->err, c->at, "there is no 'progress' before it");
}

/* Who has become ready in the plan since the last question. */
static bool tell_ready(trace *t)
{
  uint64_t seq;
  while (t->plan->scheduler == NULL && twpa_plan_next_ready(t->plan->plan, &seq) == TWPA_OK)
    trace_say(t, "ready seq=%" PRIu64, seq);
  return true;
}

bool do_complete(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  uint64_t seq = 0;
  uint32_t outcome = TWPA_DONE_COMMITTED;
  if (!need_plan(t, c) || !arg_number(t, c, NULL, &seq, 0, UINT64_MAX) ||
      !arg_choice(t, c, "how", &outcome, "committed|skipped"))
    return false;
  twpa_status st;
  if (strcmp(c->verb->name, "skip") == 0) {
    if (!need_scheduler(t, c))
      return false;
    st = twpa_scheduler_skip(p->scheduler, seq, outcome);
  } else
    st = twpa_plan_complete(p->plan, seq, outcome);
  return trace_status(t, st) && tell_ready(t);
}

bool do_step(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  uint64_t seq = 0;
  int what = choice_of(c->verb->name, strlen(c->verb->name),
                       "executed|revoke|retried|applied|committed|rolled-back|stop-before");
  if (!need_plan(t, c) || (what > 2 && !need_scheduler(t, c)) || !arg_number(t, c, NULL, &seq, 0, UINT64_MAX))
    return false;
  twpa_status st = TWPA_OK;
  switch (what) {
  case 0:
    st = twpa_plan_executed(p->plan, seq);
    break;
  case 1:
    st = twpa_plan_revoke(p->plan, seq);
    break;
  case 2:
    st = twpa_plan_retried(p->plan, seq);
    break;
  case 3:
    st = twpa_scheduler_applied(p->scheduler, seq);
    break;
  case 4:
    st = twpa_scheduler_committed(p->scheduler, seq);
    break;
  case 5:
    st = twpa_scheduler_rolled_back(p->scheduler, seq);
    break;
  default:
    st = twpa_scheduler_stop_before(p->scheduler, seq);
    break;
  }
  return trace_status(t, st) && tell_ready(t);
}

/* next, next-commit, next-rollback: all that there is, or count=N. */
bool do_next(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  uint64_t count = UINT64_MAX, worker = UINT64_MAX;
  int what = choice_of(c->verb->name, strlen(c->verb->name), "next|next-commit|next-rollback");
  if (!need_scheduler(t, c) || !arg_number(t, c, "count", &count, 0, UINT64_MAX) ||
      !arg_number(t, c, "worker", &worker, 0, UINT32_MAX))
    return false;
  uint64_t n = 0;
  for (; n < count; n++) {
    uint64_t seq = 0;
    uint32_t running = 0;
    twpa_status st;
    if (what == 1)
      st = twpa_scheduler_next_commit(p->scheduler, &seq, NULL);
    else if (what == 2)
      st = twpa_scheduler_next_rollback(p->scheduler, &seq, NULL, &running);
    else if (worker != UINT64_MAX)
      st = twpa_scheduler_next_for(p->scheduler, &seq, NULL, (uint32_t)worker);
    else
      st = twpa_scheduler_next(p->scheduler, &seq, NULL);
    if (st == TWPA_NONE)
      break;
    if (st != TWPA_OK)
      return trace_status(t, st);
    trace_say(t, "%s seq=%" PRIu64 "%s", what == 0 ? "run" : what == 1 ? "commit" : "roll-back", seq,
              running != 0 ? " running" : "");
  }
  if (n == 0)
    trace_say(t, "nobody");
  return true;
}

bool do_failed(trace *t, const trace_command *c)
{
  static const char *const verdicts[] = {"?", "retry", "alone", "stop"};
  uint64_t seq = 0;
  uint32_t why = TWPA_FAIL_CONFLICT, verdict = 0;
  if (!need_scheduler(t, c) || !arg_number(t, c, NULL, &seq, 0, UINT64_MAX) ||
      !arg_choice(t, c, "why", &why, "?|conflict|error|cancelled"))
    return false;
  twpa_status st = twpa_scheduler_failed(t->plan->scheduler, seq, &verdict, why);
  if (st == TWPA_OK)
    trace_say(t, "verdict %s", verdicts[verdict < 4 ? verdict : 0]);
  return trace_status(t, st);
}

bool do_simple(trace *t, const trace_command *c)
{
  if (strcmp(c->verb->name, "resume") == 0)
    return need_scheduler(t, c) && trace_status(t, twpa_scheduler_resume(t->plan->scheduler));
  return need_plan(t, c) && trace_status(t, twpa_plan_cut(t->plan->plan));
}

bool do_passed(trace *t, const trace_command *c)
{
  twpa_lsn lsn = 0;
  return need_progress(t, c) && arg_position(t, c, NULL, &lsn) &&
         trace_status(t, strcmp(c->verb->name, "passed") == 0
                           ? twpa_progress_passed(t->plan->progress, lsn)
                           : twpa_progress_note_applied(t->plan->progress, lsn));
}

/* with=SEQ: as it will be when that one is committed too. damage=yes: one bit of what is kept is wrong. */
bool do_checkpoint(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  uint64_t with = 0;
  uint32_t damage = 0;
  if (!need_progress(t, c) || !arg_number(t, c, "with", &with, 0, UINT64_MAX) ||
      !arg_choice(t, c, "damage", &damage, "no|yes"))
    return false;
  size_t len = 0;
  twpa_status st = twpa_progress_save(p->progress, NULL, 0, &len);
  size_t cap = len + 64;
  unsigned char *buf = host_alloc(cap, 1);
  st = arg_has(c, "with") ? twpa_progress_save_with(p->progress, buf, cap, &len, with)
                          : twpa_progress_save(p->progress, buf, cap, &len);
  if (st != TWPA_OK) {
    free(buf);
    return trace_status(t, st);
  }
  if (damage != 0)
    buf[len / 2] ^= 1;
  free(p->saved);
  p->saved = buf;
  p->nsaved = len;
  return true;
}

/* The process ends; another one begins with the last checkpoint. */
bool do_reload(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  if (!arg_number(t, c, "stream", &p->track.stream, 0, UINT64_MAX) ||
      !arg_position(t, c, "start", &p->track.start))
    return false;
  plan_close(t);
  plan_ready(t);
  return true;
}
