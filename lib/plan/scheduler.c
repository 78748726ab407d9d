/*
 * The scheduler: from a plan to work.
 *
 * The plan counts predecessors; what is ready it gives to the scheduler, which keeps the state of each transaction in a
 * ring by sequence number and, as bitmaps over the ring, what may be given out: to execute (`ready`), to commit
 * (`turns`), to roll back (`rollbacks`), to complete without running (`skips`). The smallest number goes first in all
 * but the rollbacks.
 *
 * Why nobody waits for ever. The head, the lowest transaction that is not done, has no unfinished predecessor; it is
 * the first in every order; running_max does not apply to it and open_max keeps a place for it. So it is being
 * executed or committed, or is given out to whoever asks first; or it has failed and waits for rollbacks that the host
 * has been asked for. The place of open_max: while the head is not open, the others are at most open_max - 1; while it
 * is, they are that too, because it counts. When it is done the next head either is one of them, or finds its place
 * free.
 *
 * What failed is retried as the head only. Then everything before it is committed and nothing that the serial order
 * shows it can be missing. (In free order "behind the direct predecessor" would not do: the culprit may be earlier and
 * not have run at all.)
 *
 * What is skipped stays in the order until its predecessors are done: with edges a -> b -> c on one key, c must not
 * overtake a because b is left out. Where transactions start early, ready does not mean that; there it is done as the
 * head.
 *
 * Submitting reserves all memory; reports allocate nothing. (The exception is a skip, for which the plan may need
 * memory; it is kept and tried again.) Everything is O(1) per call and edge, except what follows a failure or a stop,
 * which walks over the window.
 */
#include "plan/scheduler.h"

#include "base/assert.h"
#include "base/sized.h"
#include "plan/plan.h"
#include "plan/progress.h"
#include "plan/recording.h"

#include <string.h>

#define WINDOW_DEFAULT ((uint64_t)65536)
#define WINDOW_MAX ((uint64_t)1 << 30)
#define RETRIES_DEFAULT ((uint64_t)2)
#define RING_MIN ((size_t)64)
#define ORIGINS_MAX ((size_t)65000)
#define HINT_LOOKS 8 /* how many ready ones are looked at for a worker's sake */
#define HINT_PASSES 4

/* ---- Making and freeing -------------------------------------------------------------------------------------- */

static twpa_status ring_init(twpa_scheduler *s, size_t cap)
{
  size_t bytes;
  if (!twpa__array_size(&bytes, cap, sizeof(twpa__task)))
    return TWPA_E_NOMEM;
  twpa__task *tasks = twpa__alloc(&s->mem, bytes);
  twpa__seqset sets[4] = {{.cap = 0}};
  twpa_status st = tasks != NULL ? TWPA_OK : TWPA_E_NOMEM;
  for (size_t i = 0; i < 4 && st == TWPA_OK; i++)
    st = twpa__seqset_init(&sets[i], &s->mem, cap);
  if (st != TWPA_OK) {
    for (size_t i = 0; i < 4; i++)
      twpa__seqset_clear(&sets[i], &s->mem);
    twpa__release(&s->mem, tasks, bytes);
    return st;
  }
  twpa__seqset *own[4] = {&s->ready, &s->turns, &s->rollbacks, &s->skips};
  for (size_t i = 0; i < 4; i++) {
    twpa__seqset_move(&sets[i], own[i], s->low);
    twpa__seqset_clear(own[i], &s->mem);
    *own[i] = sets[i];
  }
  for (uint64_t seq = s->low + 1; seq <= s->last; seq++)
    tasks[seq & (cap - 1)] = *twpa__task_at(s, seq);
  twpa__release(&s->mem, s->tasks, s->cap * sizeof(twpa__task));
  s->tasks = tasks;
  s->cap = cap;
  return TWPA_OK;
}

static twpa_status check_options(twpa_scheduler_options *own, const twpa_scheduler_options *options,
                                 const twpa_plan *plan)
{
  twpa_status st = twpa__read_sized(own, sizeof *own, options, sizeof(twpa_scheduler_options));
  if (st != TWPA_OK)
    return st;
  if (own->commit_order > TWPA_COMMIT_ORDER_FREE || own->reserved != 0 || own->window_max > WINDOW_MAX)
    return TWPA_E_INVAL;
  if (own->commit_order != TWPA_COMMIT_ORDER_GLOBAL && !plan->options.free_commit_order)
    return TWPA_E_INVAL;
  if (own->window_max == 0)
    own->window_max = WINDOW_DEFAULT;
  if (own->retries_max == 0)
    own->retries_max = RETRIES_DEFAULT;
  return TWPA_OK;
}

twpa_status twpa_scheduler_new(twpa_scheduler **scheduler, twpa_plan *plan, const twpa_scheduler_options *options,
                               const twpa_allocator *allocator)
{
  if (scheduler == NULL || plan == NULL)
    return TWPA_E_INVAL;
  twpa_scheduler_options own;
  twpa_status st = check_options(&own, options, plan);
  twpa__mem mem;
  if (st == TWPA_OK)
    st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  if (plan->graph.last != plan->graph.low)
    return TWPA_E_STATE;
  twpa_scheduler *s = twpa__zalloc(&mem, sizeof *s);
  if (s == NULL)
    return TWPA_E_NOMEM;
  s->mem = mem;
  s->plan = plan;
  s->options = own;
  s->low = s->last = plan->graph.last;
  st = ring_init(s, RING_MIN);
  if (st == TWPA_OK && own.commit_order == TWPA_COMMIT_ORDER_GROUPS) {
    s->orders = twpa__zalloc(&s->mem, TWPA__GROUPS * sizeof(twpa__order));
    st = s->orders != NULL ? TWPA_OK : TWPA_E_NOMEM;
  }
  if (st != TWPA_OK) {
    twpa_scheduler_free(s);
    return st;
  }
  *scheduler = s;
  return TWPA_OK;
}

void twpa_scheduler_free(twpa_scheduler *scheduler)
{
  if (scheduler == NULL || scheduler->busy)
    return;
  twpa_scheduler *s = scheduler;
  twpa__seqset_clear(&s->ready, &s->mem);
  twpa__seqset_clear(&s->turns, &s->mem);
  twpa__seqset_clear(&s->rollbacks, &s->mem);
  twpa__seqset_clear(&s->skips, &s->mem);
  for (size_t g = 0; g < TWPA__GROUPS && s->orders != NULL; g++)
    twpa__release(&s->mem, s->orders[g].seqs, s->orders[g].cap * sizeof(uint64_t));
  twpa__release(&s->mem, s->orders, TWPA__GROUPS * sizeof(twpa__order));
  twpa__release(&s->mem, s->origins, s->origins_cap * sizeof(twpa__origin));
  twpa__release(&s->mem, s->tasks, s->cap * sizeof(twpa__task));
  twpa__mem mem = s->mem;
  twpa__release(&mem, s, sizeof *s);
}

twpa_status twpa_scheduler_set_progress(twpa_scheduler *scheduler, uint64_t origin, twpa_progress *progress)
{
  twpa_scheduler *s = scheduler;
  twpa_status st = twpa__scheduler_enter(s, true);
  if (st != TWPA_OK)
    return st;
  if (s->counters.submitted != 0)
    return TWPA_E_STATE;
  for (size_t i = 0; i < s->norigins; i++)
    if (s->origins[i].origin == origin)
      return TWPA_E_EXISTS;
  if (s->norigins == ORIGINS_MAX)
    return TWPA_E_LIMIT;
  void *p = s->origins;
  st = twpa__array_reserve(&s->mem, &p, &s->origins_cap, s->norigins + 1, sizeof(twpa__origin));
  s->origins = p;
  if (st == TWPA_OK)
    s->origins[s->norigins++] = (twpa__origin){origin, progress};
  return st;
}

/* ---- Progress ------------------------------------------------------------------------------------------------ */

/* Which object tracks an origin: its position in origins, norigins for the common one, or none. */
static uint16_t progress_for(const twpa_scheduler *s, uint64_t origin)
{
  for (size_t i = 0; i < s->norigins; i++)
    if (s->origins[i].origin == origin)
      return s->origins[i].progress != NULL ? (uint16_t)i : TWPA__NO_PROGRESS;
  return s->options.progress != NULL ? (uint16_t)s->norigins : TWPA__NO_PROGRESS;
}

static twpa_progress *progress_at(const twpa_scheduler *s, uint16_t which)
{
  return which < s->norigins ? s->origins[which].progress : s->options.progress;
}

/* ---- Small things -------------------------------------------------------------------------------------------- */

twpa__task *twpa__live_task(const twpa_scheduler *s, uint64_t seq, twpa_status *st)
{
  *st = TWPA_E_NOTFOUND;
  if (seq == 0 || seq > s->last)
    return NULL;
  *st = TWPA_E_STATE;
  if (twpa__is_done(s, seq))
    return NULL;
  return twpa__task_at(s, seq);
}

static void become_ready(twpa_scheduler *s, twpa__task *t, uint64_t seq)
{
  t->state = TWPA_TASK_READY;
  twpa__seqset_add(t->skip ? &s->skips : &s->ready, seq);
}

void twpa__take_ready(twpa_scheduler *s, uint32_t worker, bool early)
{
  uint64_t seq;
  while (twpa_plan_next_ready(s->plan, &seq) == TWPA_OK) {
    twpa__task *t = twpa__task_at(s, seq);
    t->hint = worker;
    if (t->state != TWPA_TASK_WAITING)
      continue; /* still open on the target, to be rolled back first */
    s->waiting--;
    s->counters.early += early;
    become_ready(s, t, seq);
  }
}

void twpa__reset_task(twpa_scheduler *s, uint64_t seq)
{
  twpa__task *t = twpa__task_at(s, seq);
  if (t->alone) { /* interrupted by a stop: that it has to run alone still holds */
    t->state = TWPA_TASK_RETRY;
    return;
  }
  twpa_node node;
  twpa_status st = twpa_plan_node(s->plan, &node, seq);
  TWPA__ASSERT(st == TWPA_OK && node.state != TWPA_NODE_COMMITTED);
  (void)st;
  if (node.state != TWPA_NODE_WAITING) {
    become_ready(s, t, seq);
    return;
  }
  twpa__seqset_remove(&s->ready, seq);
  twpa__seqset_remove(&s->skips, seq);
  t->state = TWPA_TASK_WAITING;
  s->waiting++;
}

/* ---- Submitting ---------------------------------------------------------------------------------------------- */

static twpa_status reserve(twpa_scheduler *s, const twpa_access_set *set, uint64_t groups, uint16_t *progress)
{
  if (twpa__is_stopped(s, s->last + 1))
    return TWPA_E_STATE;
  if (s->last - s->low >= s->options.window_max)
    return TWPA_E_LIMIT;
  twpa_status st = TWPA_OK;
  *progress = progress_for(s, set->origin);
  if (*progress != TWPA__NO_PROGRESS)
    st = twpa__progress_reserve(progress_at(s, *progress), set->end_lsn);
  if (st == TWPA_OK && s->last - s->low == s->cap)
    st = ring_init(s, s->cap * 2);
  if (st == TWPA_OK && s->orders != NULL)
    st = twpa__orders_reserve(s, groups);
  return st;
}

twpa_status twpa_scheduler_submit_groups(twpa_scheduler *scheduler, uint64_t *seq, const twpa_access_set *set,
                                         void *task, uint64_t groups)
{
  twpa_scheduler *s = scheduler;
  uint16_t progress;
  uint32_t npredecessors;
  uint64_t number;
  twpa_status st = twpa__scheduler_enter(s, seq != NULL && set != NULL);
  if (st == TWPA_OK)
    st = reserve(s, set, groups, &progress);
  if (st == TWPA_OK)
    st = twpa_plan_add(s->plan, &number, &npredecessors, set);
  if (st != TWPA_OK)
    return st;
  TWPA__ASSERT(number == s->last + 1);
  s->last = number;
  twpa__task *t = twpa__task_at(s, number);
  *t = (twpa__task){.task = task,
                    .groups = groups,
                    .hint = TWPA__NO_WORKER,
                    .worker = TWPA__NO_WORKER,
                    .progress = progress,
                    .state = TWPA_TASK_WAITING};
  if (s->orders != NULL)
    twpa__orders_push(s, t, number);
  if (progress != TWPA__NO_PROGRESS) {
    st = twpa_progress_submitted(progress_at(s, progress), number, set->end_lsn);
    TWPA__ASSERT(st == TWPA_OK);
  }
  if (npredecessors == 0)
    become_ready(s, t, number);
  else
    s->waiting++;
  s->counters.submitted++;
  if (s->options.recording != NULL)
    twpa__record(s->options.recording, s->plan, number, groups);
  *seq = number;
  return TWPA_OK;
}

twpa_status twpa_scheduler_submit(twpa_scheduler *scheduler, uint64_t *seq, const twpa_access_set *set, void *task)
{
  return twpa_scheduler_submit_groups(scheduler, seq, set, task, UINT64_MAX);
}

/* ---- Giving out ---------------------------------------------------------------------------------------------- */

/* May this ready one start? The reason why not, or TWPA_WAIT_WORKER if it may. */
static uint32_t may_start(const twpa_scheduler *s, uint64_t seq)
{
  uint64_t head = s->low + 1;
  if (twpa__is_stopped(s, seq))
    return TWPA_WAIT_STOPPED;
  if (s->alone != 0 && seq != s->alone)
    return TWPA_WAIT_ALONE;
  if (seq == head)
    return TWPA_WAIT_WORKER;
  if (s->options.running_max != 0 && s->running >= s->options.running_max)
    return TWPA_WAIT_RUNNING;
  uint64_t kept = twpa__is_open(twpa__task_at(s, head)) ? 0 : 1;
  if (s->options.open_max != 0 && s->open + kept >= s->options.open_max)
    return TWPA_WAIT_OPEN;
  return TWPA_WAIT_WORKER;
}

static uint64_t ready_after(const twpa_scheduler *s, uint64_t from)
{
  uint64_t seq = twpa__seqset_first(&s->ready, from);
  return seq <= s->last ? seq : 0;
}

/* Among the next few: one that this worker's hands are warm for. The head goes first in any case. */
static uint64_t prefer(twpa_scheduler *s, uint64_t first, uint32_t worker)
{
  twpa__task *t = twpa__task_at(s, first);
  if (worker == TWPA__NO_WORKER || first == s->low + 1 || t->hint == worker || t->hint == TWPA__NO_WORKER ||
      t->passed >= HINT_PASSES)
    return first;
  uint64_t seq = first;
  for (int i = 1; i < HINT_LOOKS; i++) {
    seq = ready_after(s, seq + 1);
    if (seq == 0 || twpa__is_stopped(s, seq))
      return first;
    if (twpa__task_at(s, seq)->hint == worker) {
      for (uint64_t p = first; p != seq && p != 0; p = ready_after(s, p + 1))
        twpa__task_at(s, p)->passed++;
      return seq;
    }
    if (twpa__task_at(s, seq)->passed >= HINT_PASSES)
      return first;
  }
  return first;
}

static void start(twpa_scheduler *s, uint64_t seq, uint32_t worker)
{
  twpa__task *t = twpa__task_at(s, seq);
  twpa__seqset_remove(&s->ready, seq);
  t->state = TWPA_TASK_RUNNING;
  t->worker = worker;
  t->passed = 0;
  s->counters.starts++;
  if (++s->running > s->counters.running_high)
    s->counters.running_high = s->running;
  if (++s->open > s->counters.open_high)
    s->counters.open_high = s->open;
}

static twpa_status next(twpa_scheduler *s, uint64_t *seq, void **task, uint32_t worker)
{
  twpa_status st = twpa__scheduler_enter(s, seq != NULL);
  if (st != TWPA_OK)
    return st;
  twpa__run_skips(s);
  uint64_t first = twpa__seqset_first(&s->ready, s->low + 1);
  uint32_t why = first != 0 ? may_start(s, first) : TWPA_WAIT_NONE;
  if (why != TWPA_WAIT_WORKER) {
    s->counters.held_running += why == TWPA_WAIT_RUNNING;
    s->counters.held_open += why == TWPA_WAIT_OPEN;
    return TWPA_NONE;
  }
  *seq = prefer(s, first, worker);
  start(s, *seq, worker);
  if (task != NULL)
    *task = twpa__task_at(s, *seq)->task;
  return TWPA_OK;
}

twpa_status twpa_scheduler_next(twpa_scheduler *scheduler, uint64_t *seq, void **task)
{
  return next(scheduler, seq, task, TWPA__NO_WORKER);
}

twpa_status twpa_scheduler_next_for(twpa_scheduler *scheduler, uint64_t *seq, void **task, uint32_t worker)
{
  return worker == TWPA__NO_WORKER ? TWPA_E_INVAL : next(scheduler, seq, task, worker);
}

twpa_status twpa_scheduler_next_commit(twpa_scheduler *scheduler, uint64_t *seq, void **task)
{
  twpa_scheduler *s = scheduler;
  twpa_status st = twpa__scheduler_enter(s, seq != NULL);
  if (st != TWPA_OK)
    return st;
  twpa__run_skips(s);
  uint64_t first = twpa__seqset_first(&s->turns, s->low + 1);
  if (first == 0)
    return TWPA_NONE;
  twpa__task *t = twpa__task_at(s, first);
  TWPA__ASSERT(t->state == TWPA_TASK_EXECUTED && !t->doomed);
  twpa__seqset_remove(&s->turns, first);
  t->state = TWPA_TASK_COMMITTING;
  *seq = first;
  if (task != NULL)
    *task = t->task;
  return TWPA_OK;
}

/* ---- Reports ------------------------------------------------------------------------------------------------- */

twpa_status twpa_scheduler_applied(twpa_scheduler *scheduler, uint64_t seq)
{
  twpa_scheduler *s = scheduler;
  twpa__task *t;
  twpa_status st = twpa__scheduler_enter_task(s, true, seq, &t);
  if (st != TWPA_OK)
    return st;
  if (t->state != TWPA_TASK_RUNNING)
    return TWPA_E_STATE;
  t->state = TWPA_TASK_EXECUTED;
  s->running--;
  if (t->doomed) {
    twpa__seqset_add(&s->rollbacks, seq);
    return TWPA_OK;
  }
  st = twpa_plan_executed(s->plan, seq);
  TWPA__ASSERT(st == TWPA_OK);
  t->executed = true;
  twpa__take_ready(s, t->worker, true);
  twpa__offer_turn(s, seq);
  if (!twpa__seqset_has(&s->turns, seq)) {
    s->counters.turn_waits++;
    twpa__tell_waits(s, seq);
  }
  return TWPA_OK;
}

/* It is done: the plan, the progress, the order, and whoever has been waiting for that. */
static twpa_status finish(twpa_scheduler *s, uint64_t seq, uint32_t outcome)
{
  twpa__task *t = twpa__task_at(s, seq);
  twpa_status st = twpa_plan_complete(s->plan, seq, outcome);
  if (st != TWPA_OK) {
    TWPA__ASSERT(st == TWPA_E_NOMEM && outcome == TWPA_DONE_SKIPPED);
    return st;
  }
  t->state = TWPA_TASK_DONE;
  if (t->progress != TWPA__NO_PROGRESS) {
    st = twpa_progress_done(progress_at(s, t->progress), seq);
    TWPA__ASSERT(st == TWPA_OK);
  }
  twpa__take_ready(s, t->worker, false);
  uint64_t low = s->low;
  s->low = twpa_plan_low_watermark(s->plan);
  if (s->orders != NULL)
    twpa__orders_pop(s, t->groups, seq);
  if (s->low != low && s->low < s->last) {
    if (s->options.commit_order == TWPA_COMMIT_ORDER_GLOBAL)
      twpa__offer_turn(s, s->low + 1);
    twpa__retry_head(s);
  }
  if (seq > s->low)
    twpa__tell_waits_behind(s, seq);
  return TWPA_OK;
}

void twpa__run_skips(twpa_scheduler *s)
{
  uint64_t seq;
  if (s->skips.count == 0)
    return;
  while ((seq = twpa__seqset_first(&s->skips, s->low + 1)) != 0) {
    if (s->plan->options.early_start != TWPA_EARLY_START_OFF && seq != s->low + 1)
      return;
    twpa__seqset_remove(&s->skips, seq);
    if (finish(s, seq, twpa__task_at(s, seq)->outcome) != TWPA_OK) {
      twpa__seqset_add(&s->skips, seq);
      return;
    }
    s->counters.skipped++;
  }
}

twpa_status twpa_scheduler_committed(twpa_scheduler *scheduler, uint64_t seq)
{
  twpa_scheduler *s = scheduler;
  twpa__task *t;
  twpa_status st = twpa__scheduler_enter_task(s, true, seq, &t);
  if (st != TWPA_OK)
    return st;
  if (t->state != TWPA_TASK_COMMITTING) {
    if (!twpa__seqset_has(&s->turns, seq))
      return TWPA_E_STATE;
    twpa__seqset_remove(&s->turns, seq);
  }
  s->open--;
  if (s->alone == seq)
    s->alone = 0;
  st = finish(s, seq, TWPA_DONE_COMMITTED);
  TWPA__ASSERT(st == TWPA_OK);
  s->counters.committed++;
  twpa__run_skips(s);
  twpa__retry_head(s);
  return TWPA_OK;
}

twpa_status twpa_scheduler_skip(twpa_scheduler *scheduler, uint64_t seq, uint32_t outcome)
{
  twpa_scheduler *s = scheduler;
  twpa__task *t;
  bool known = outcome == TWPA_DONE_COMMITTED || outcome == TWPA_DONE_SKIPPED;
  twpa_status st = twpa__scheduler_enter_task(s, known, seq, &t);
  if (st != TWPA_OK)
    return st;
  if (t->skip || twpa__is_open(t))
    return TWPA_E_STATE;
  bool early = s->plan->options.early_start != TWPA_EARLY_START_OFF;
  if (t->state != TWPA_TASK_WAITING && (!early || seq == s->low + 1)) {
    st = finish(s, seq, outcome);
    if (st != TWPA_OK)
      return st;
    twpa__seqset_remove(&s->ready, seq);
    if (s->alone == seq)
      s->alone = 0;
    s->counters.skipped++;
    twpa__run_skips(s);
    twpa__retry_head(s);
    return TWPA_OK;
  }
  t->skip = true;
  t->alone = false;
  t->outcome = (uint8_t)outcome;
  if (t->state != TWPA_TASK_WAITING) {
    twpa__seqset_remove(&s->ready, seq);
    become_ready(s, t, seq);
  }
  return TWPA_OK;
}

/* ---- Asking -------------------------------------------------------------------------------------------------- */

int twpa_scheduler_idle(const twpa_scheduler *scheduler)
{
  const twpa_scheduler *s = scheduler;
  return s != NULL && s->open == 0 && (s->low == s->last || twpa__is_stopped(s, s->low + 1));
}

twpa_status twpa_scheduler_state(const twpa_scheduler *scheduler, uint32_t *state, void **task, uint64_t seq)
{
  if (scheduler == NULL || state == NULL)
    return TWPA_E_INVAL;
  twpa_status st;
  const twpa__task *t = twpa__live_task(scheduler, seq, &st);
  if (t == NULL && st == TWPA_E_NOTFOUND)
    return st;
  *state = t != NULL ? t->state : (uint32_t)TWPA_TASK_DONE;
  if (task != NULL)
    *task = t != NULL ? t->task : NULL;
  return TWPA_OK;
}

/* The latest of the predecessors, as far as they fit. */
static uint64_t dependency_of(const twpa_scheduler *s, uint64_t seq)
{
  twpa_edge edges[64];
  size_t count;
  uint64_t from = 0;
  if (twpa_plan_explain(s->plan, edges, 64, &count, seq) != TWPA_OK)
    return 0;
  for (size_t i = 0; i < count && i < 64; i++)
    from = edges[i].from > from ? edges[i].from : from;
  return from;
}

twpa_status twpa_scheduler_wait_of(const twpa_scheduler *scheduler, twpa_wait *wait, uint64_t seq)
{
  const twpa_scheduler *s = scheduler;
  if (s == NULL || wait == NULL)
    return TWPA_E_INVAL;
  twpa_status st;
  const twpa__task *t = twpa__live_task(s, seq, &st);
  if (t == NULL && st == TWPA_E_NOTFOUND)
    return st;
  *wait = (twpa_wait){.waiter = seq, .kind = TWPA_WAIT_NONE};
  if (t == NULL)
    return TWPA_OK;
  switch (t->state) {
  case TWPA_TASK_WAITING:
    wait->kind = TWPA_WAIT_DEPENDENCY;
    wait->holder = dependency_of(s, seq);
    break;
  case TWPA_TASK_READY:
    wait->kind = t->skip ? (uint32_t)TWPA_WAIT_NONE : may_start(s, seq);
    if (wait->kind == TWPA_WAIT_ALONE)
      wait->holder = s->alone;
    break;
  case TWPA_TASK_EXECUTED:
    if (t->doomed) {
      wait->kind = TWPA_WAIT_ROLLBACK;
    } else if (!twpa__seqset_has(&s->turns, seq)) {
      wait->kind = TWPA_WAIT_COMMIT_TURN;
      wait->holder = twpa__turn_holder(s, seq);
    }
    break;
  case TWPA_TASK_RETRY:
    wait->kind = seq != s->low + 1    ? TWPA_WAIT_RETRY
                 : s->doomed > 0      ? TWPA_WAIT_ROLLBACK
                 : s->alone == seq    ? TWPA_WAIT_ALONE
                                      : TWPA_WAIT_STOPPED;
    wait->holder = seq != s->low + 1 ? seq - 1 : 0;
    break;
  case TWPA_TASK_STOPPED: wait->kind = TWPA_WAIT_STOPPED; break;
  default: break;
  }
  return TWPA_OK;
}

twpa_status twpa_scheduler_stats(const twpa_scheduler *scheduler, twpa_scheduler_counters *counters)
{
  if (scheduler == NULL || counters == NULL)
    return TWPA_E_INVAL;
  const twpa_scheduler *s = scheduler;
  twpa_scheduler_counters now = s->counters;
  now.low_watermark = s->low;
  now.newest = s->last;
  now.stopped_before = s->stop;
  now.waiting = s->waiting;
  now.ready = s->ready.count;
  now.running = s->running;
  now.open = s->open;
  now.bytes_live = s->mem.live_bytes;
  return twpa__write_sized(counters, &now, sizeof now, sizeof(twpa_scheduler_counters));
}
