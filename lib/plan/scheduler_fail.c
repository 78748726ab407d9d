/*
 * What follows when a transaction fails, when the host stops, and when it goes on.
 *
 * A transaction that failed is gone from the target. If it had been executed, others may have started early behind it:
 * they saw what is gone. They are *doomed*: the plan takes back that they were executed at once, latest first; the host
 * rolls them back on the target, asked by twpa_scheduler_next_rollback(). Until all doomed ones are gone no failed
 * transaction runs again, because they may hold the rows it needs.
 *
 * The same way those open behind a stop are got rid of, and, under a commit order, those open behind a transaction that
 * has to run alone: they cannot commit before it, so waiting for them would never end. In free order they can, and are
 * waited for.
 *
 * One that is committing is never doomed: its outcome is on its way, and nothing that is doomed comes before it.
 */
#include "plan/scheduler.h"

#include "base/assert.h"
#include "plan/plan.h"

static void doom(twpa_scheduler *s, uint64_t seq)
{
  twpa__task *t = twpa__task_at(s, seq);
  if (t->doomed || (t->state != TWPA_TASK_RUNNING && t->state != TWPA_TASK_EXECUTED))
    return;
  t->doomed = true;
  s->doomed++;
  twpa__seqset_remove(&s->turns, seq);
  twpa__seqset_add(&s->rollbacks, seq);
}

/* What the plan let start behind one that is no longer executed waits again. */
static void revoke(twpa_scheduler *s, uint64_t seq)
{
  twpa_status st = twpa_plan_revoke(s->plan, seq);
  TWPA__ASSERT(st == TWPA_OK);
  (void)st;
  twpa__task_at(s, seq)->executed = false;
  if (!twpa__node_at(&s->plan->graph, seq)->early_out)
    return;
  twpa_edge edge;
  uint64_t cursor = 0;
  while (twpa_plan_next_successor(s->plan, &edge, &cursor, seq) == TWPA_OK)
    if ((edge.flags & TWPA_EDGE_EARLY) != 0 && twpa__task_at(s, edge.to)->state == TWPA_TASK_READY)
      twpa__reset_task(s, edge.to);
}

/* Takes back, latest first, that the doomed ones (and `also`) were executed. */
static void revoke_doomed(twpa_scheduler *s, uint64_t from, uint64_t also)
{
  for (uint64_t seq = s->last; seq >= from; seq--) {
    const twpa__task *t = twpa__task_at(s, seq);
    if (t->executed && (t->doomed || seq == also))
      revoke(s, seq);
  }
}

/* An executed transaction is gone: dooms all that started early behind it, directly or not. */
static void doom_early_starters(twpa_scheduler *s, uint64_t failed)
{
  for (uint64_t seq = failed; seq <= s->last; seq++) {
    const twpa__task *t = twpa__task_at(s, seq);
    if (!t->executed || (seq != failed && !t->doomed) || !twpa__node_at(&s->plan->graph, seq)->early_out)
      continue;
    twpa_edge edge;
    uint64_t cursor = 0;
    while (twpa_plan_next_successor(s->plan, &edge, &cursor, seq) == TWPA_OK)
      if ((edge.flags & TWPA_EDGE_EARLY) != 0)
        doom(s, edge.to);
  }
  revoke_doomed(s, failed, failed);
}

static void doom_all(twpa_scheduler *s, uint64_t from)
{
  if (from <= s->low)
    from = s->low + 1;
  for (uint64_t seq = from; seq <= s->last; seq++)
    doom(s, seq);
  revoke_doomed(s, from, 0);
}

void twpa__retry_failed_head(twpa_scheduler *s)
{
  uint64_t head = s->low + 1;
  twpa__task *t = twpa__task_at(s, head);
  if (twpa__is_stopped(s, head))
    return;
  if (t->alone && s->alone != head) {
    s->alone = head;
    if (s->options.commit_order != TWPA_COMMIT_ORDER_FREE)
      doom_all(s, head + 1);
  }
  if (s->doomed > 0 || (t->alone && s->open > 0))
    return;
  t->state = TWPA_TASK_READY;
  twpa__seqset_add(&s->ready, head);
}

static void set_stop(twpa_scheduler *s, uint64_t seq)
{
  if (s->stop != 0 && s->stop <= seq)
    return;
  s->stop = seq;
  doom_all(s, seq);
}

/* ---- Failures ------------------------------------------------------------------------------------------------ */

static void leave_target(twpa_scheduler *s, twpa__task *t, uint64_t seq)
{
  if (t->state == TWPA_TASK_RUNNING)
    s->running--;
  s->open--;
  if (s->alone == seq)
    s->alone = 0;
  twpa__seqset_remove(&s->turns, seq);
  twpa__seqset_remove(&s->rollbacks, seq);
  if (t->doomed) {
    t->doomed = false;
    s->doomed--;
  }
}

static uint32_t judge(twpa_scheduler *s, twpa__task *t, uint64_t seq, uint32_t reason)
{
  if (reason == TWPA_FAIL_ERROR) {
    s->counters.errors++;
    return TWPA_VERDICT_STOP;
  }
  s->counters.conflicts++;
  (void)twpa_plan_retried(s->plan, seq);
  t->tries++;
  if (t->tries <= s->options.retries_max) {
    s->counters.retries++;
    return TWPA_VERDICT_RETRY;
  }
  if (t->tries == s->options.retries_max + 1) {
    s->counters.alone++;
    return TWPA_VERDICT_ALONE;
  }
  return TWPA_VERDICT_STOP;
}

twpa_status twpa_scheduler_failed(twpa_scheduler *scheduler, uint64_t seq, uint32_t *verdict, uint32_t reason)
{
  twpa_scheduler *s = scheduler;
  twpa__task *t;
  bool known = reason >= TWPA_FAIL_CONFLICT && reason <= TWPA_FAIL_CANCELLED;
  twpa_status st = twpa__scheduler_enter_task(s, verdict != NULL && known, seq, &t);
  if (st != TWPA_OK)
    return st;
  if (!twpa__is_open(t))
    return TWPA_E_STATE;
  bool doomed = t->doomed;
  leave_target(s, t, seq);
  if (doomed) { /* it had to go anyway; what it ran into may come from what is gone */
    s->counters.cancels++;
    twpa__reset_task(s, seq);
    *verdict = twpa__is_stopped(s, seq) ? TWPA_VERDICT_STOP : TWPA_VERDICT_RETRY;
    twpa__retry_head(s);
    return TWPA_OK;
  }
  t->state = TWPA_TASK_RETRY;
  if (t->executed)
    doom_early_starters(s, seq);
  *verdict = judge(s, t, seq, reason);
  t->alone = *verdict == TWPA_VERDICT_ALONE;
  if (*verdict == TWPA_VERDICT_STOP) {
    t->state = TWPA_TASK_STOPPED;
    set_stop(s, seq);
  }
  twpa__retry_head(s);
  return TWPA_OK;
}

/* ---- Rolling back -------------------------------------------------------------------------------------------- */

twpa_status twpa_scheduler_next_rollback(twpa_scheduler *scheduler, uint64_t *seq, void **task, uint32_t *running)
{
  twpa_scheduler *s = scheduler;
  twpa_status st = twpa__scheduler_enter(s, seq != NULL && running != NULL);
  if (st != TWPA_OK)
    return st;
  uint64_t last = twpa__seqset_last(&s->rollbacks, s->low);
  if (last == 0)
    return TWPA_NONE;
  const twpa__task *t = twpa__task_at(s, last);
  twpa__seqset_remove(&s->rollbacks, last);
  *seq = last;
  if (task != NULL)
    *task = t->task;
  *running = t->state == TWPA_TASK_RUNNING;
  return TWPA_OK;
}

twpa_status twpa_scheduler_rolled_back(twpa_scheduler *scheduler, uint64_t seq)
{
  twpa_scheduler *s = scheduler;
  twpa__task *t;
  twpa_status st = twpa__scheduler_enter_task(s, true, seq, &t);
  if (st != TWPA_OK)
    return st;
  if (t->state != TWPA_TASK_EXECUTED || !t->doomed || twpa__seqset_has(&s->rollbacks, seq))
    return TWPA_E_STATE;
  leave_target(s, t, seq);
  s->counters.rollbacks++;
  twpa__reset_task(s, seq);
  twpa__retry_head(s);
  return TWPA_OK;
}

int twpa_scheduler_is_doomed(const twpa_scheduler *scheduler, uint64_t seq)
{
  if (scheduler == NULL)
    return 0;
  twpa_status st;
  const twpa__task *t = twpa__live_task(scheduler, seq, &st);
  return t != NULL && t->doomed;
}

/* ---- Stopping ------------------------------------------------------------------------------------------------ */

twpa_status twpa_scheduler_stop_before(twpa_scheduler *scheduler, uint64_t seq)
{
  twpa_scheduler *s = scheduler;
  twpa_status st = twpa__scheduler_enter(s, seq != 0);
  if (st == TWPA_OK)
    set_stop(s, seq);
  return st;
}

twpa_status twpa_scheduler_resume(twpa_scheduler *scheduler)
{
  twpa_scheduler *s = scheduler;
  twpa_status st = twpa__scheduler_enter(s, true);
  if (st != TWPA_OK)
    return st;
  if (s->stop == 0 || s->doomed > 0)
    return TWPA_E_STATE;
  s->stop = 0;
  for (uint64_t seq = s->low + 1; seq <= s->last; seq++) {
    twpa__task *t = twpa__task_at(s, seq);
    if (t->state == TWPA_TASK_STOPPED) {
      t->state = TWPA_TASK_RETRY;
      t->tries = 0;
      t->alone = false;
    }
  }
  twpa__retry_head(s);
  return TWPA_OK;
}
