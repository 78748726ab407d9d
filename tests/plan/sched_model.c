/* The naive model of the scheduler and its toy target. */
#include "plan/sched_model.h"

#include "plan/kit.h"

#include <stdlib.h>

model_totals model_sum;

static unsigned choose_random(chooser *c, unsigned n)
{
  return (unsigned)rng_below(&c->random, n);
}

static unsigned choose_path(chooser *c, unsigned n)
{
  test_must(c->depth < sizeof c->path / sizeof c->path[0]);
  if (c->depth == c->length) {
    c->path[c->length] = 0;
    c->width[c->length++] = n;
  }
  test_must(c->width[c->depth] == n);
  return c->path[c->depth++];
}

chooser chooser_random(uint64_t seed)
{
  return (chooser){.choose = choose_random, .random = {seed}};
}

chooser chooser_all(void)
{
  return (chooser){.choose = choose_path};
}

bool chooser_next(chooser *c)
{
  c->depth = 0;
  while (c->length > 0) {
    if (++c->path[c->length - 1] < c->width[c->length - 1])
      return true;
    c->length--;
  }
  return false;
}

typedef struct model {
  const model_options *o;
  model_txn *t; /* t[0] is sequence number 1 */
  chooser *c;
  twpa_plan *plan;
  twpa_scheduler *sched;
  twpa_access_set *set;
  twpa_relation *relation;
  unsigned submitted, failures;
  uint64_t stop; /* 0: none */
  unsigned offered[MODEL_TXNS], noffered; /* given out for rollback, executed */
  uint64_t key[MODEL_KEYS], data[MODEL_KEYS];
} model;

static uint64_t mix(uint64_t a, uint64_t b)
{
  a ^= b + UINT64_C(0x9E3779B97F4A7C15) + (a << 6) + (a >> 2);
  return a * UINT64_C(0xD6E8FEB86659FD93);
}

static bool modes_conflict(unsigned a, unsigned b)
{
  return a != 0 && b != 0 && (a == TWPA_MODE_WRITE || b == TWPA_MODE_WRITE || (a == TWPA_MODE_UPDATE && b == a));
}

static bool conflicts(const model *m, unsigned i, unsigned j)
{
  for (unsigned k = 0; k < m->o->keys; k++)
    if (modes_conflict(m->t[i].mode[k], m->t[j].mode[k]))
      return true;
  return false;
}

/* Every conflict of the two is protected by a row lock that the earlier one holds. */
static bool protected_by_locks(const model *m, unsigned earlier, unsigned later)
{
  for (unsigned k = 0; k < m->o->keys; k++)
    if (modes_conflict(m->t[earlier].mode[k], m->t[later].mode[k]) && m->t[earlier].mode[k] != TWPA_MODE_UPDATE)
      return false;
  return true;
}

/* The plan waits for what is needed and nothing else. */
static bool is_exact(const model *m)
{
  return !m->o->lose_trust && !m->o->small_table && !m->o->early;
}

static bool is_open(const model *m, unsigned i)
{
  return m->t[i].state == M_RUNNING || m->t[i].state == M_EXECUTED || m->t[i].state == M_COMMITTING;
}

static unsigned count_open(const model *m)
{
  unsigned n = 0;
  for (unsigned i = 0; i < m->submitted; i++)
    n += is_open(m, i);
  return n;
}

static unsigned count_state(const model *m, int state)
{
  unsigned n = 0;
  for (unsigned i = 0; i < m->submitted; i++)
    n += m->t[i].state == state;
  return n;
}

static unsigned count_doomed(const model *m)
{
  unsigned n = 0;
  for (unsigned i = 0; i < m->submitted; i++)
    n += m->t[i].doomed;
  return n;
}

/* The lowest that is not done. */
static unsigned head_of(const model *m)
{
  unsigned i = 0;
  while (i < m->submitted && m->t[i].state == M_DONE)
    i++;
  return i;
}

static bool stopped(const model *m, unsigned i)
{
  return m->stop != 0 && i + 1 >= m->stop;
}

/* Nothing that it depends on is in the way. Exact, except that early start may be withheld where it is allowed. */
static bool may_run(const model *m, unsigned i)
{
  for (unsigned j = 0; j < i; j++) {
    if (m->t[j].state == M_DONE || !conflicts(m, j, i))
      continue;
    bool executed = (m->t[j].state == M_EXECUTED && !m->t[j].doomed) || m->t[j].state == M_COMMITTING;
    if (!m->o->early || !executed || !protected_by_locks(m, j, i))
      return false;
  }
  return true;
}

static bool alone_is_due(const model *m, unsigned *who)
{
  unsigned h = head_of(m);
  *who = h;
  return h < m->submitted && m->t[h].alone && !stopped(m, h) && (m->t[h].state == M_RETRY || is_open(m, h));
}

/* What a ready transaction is to the model: it could be given out if there were no limit. */
static bool is_ready(const model *m, unsigned i)
{
  const model_txn *t = &m->t[i];
  if (t->skip || stopped(m, i))
    return false;
  if (t->state == M_RETRY)
    return t->released;
  return t->state == M_WAITING && may_run(m, i);
}

static bool within_limits(const model *m, unsigned i)
{
  unsigned h = head_of(m);
  if (i == h)
    return true;
  if (m->o->running_max != 0 && count_state(m, M_RUNNING) >= m->o->running_max)
    return false;
  return m->o->open_max == 0 || count_open(m) + !is_open(m, h) < m->o->open_max;
}

/* ---- What follows from what ---------------------------------------------------------------------------------- */

static void doom(model *m, unsigned i)
{
  if (m->t[i].state == M_RUNNING || m->t[i].state == M_EXECUTED)
    m->t[i].doomed = true;
}

static void doom_behind(model *m, unsigned first)
{
  for (unsigned i = first; i < m->submitted; i++)
    doom(m, i);
}

/* Skipped ones whose predecessors are done are done; a head that has to run alone dooms what cannot commit before it. */
static void settle(model *m)
{
  for (unsigned i = 0; i < m->submitted; i++) {
    model_txn *t = &m->t[i];
    if (!t->skip || t->state != M_WAITING)
      continue;
    bool clear = !m->o->early || i == head_of(m);
    for (unsigned j = 0; j < i; j++)
      clear = clear && (m->t[j].state == M_DONE || !conflicts(m, j, i));
    uint32_t state;
    test_must(twpa_scheduler_state(m->sched, &state, NULL, i + 1) == TWPA_OK);
    bool done = state == TWPA_TASK_DONE;
    test_must(is_exact(m) || i == head_of(m) ? done == clear : !done || clear);
    if (done) {
      t->state = M_DONE;
      t->skipped = true;
      model_sum.skips++;
    }
  }
  unsigned h;
  if (alone_is_due(m, &h) && m->t[h].state == M_RETRY && m->o->commit_order != TWPA_COMMIT_ORDER_FREE)
    doom_behind(m, h + 1);
  if (h < m->submitted && m->t[h].state == M_RETRY && !stopped(m, h) && count_doomed(m) == 0 &&
      (!m->t[h].alone || count_open(m) == 0))
    m->t[h].released = true;
}

static void set_stop(model *m, uint64_t seq)
{
  if (m->stop == 0 || seq < m->stop) {
    m->stop = seq;
    doom_behind(m, (unsigned)(seq - 1));
  }
}

/* ---- The toy target ------------------------------------------------------------------------------------------ */

/* A lock of another open transaction is in the way of executing it. */
static bool is_blocked(const model *m, unsigned i)
{
  for (unsigned j = 0; j < m->submitted; j++)
    if (j != i && (m->t[j].state == M_EXECUTED || m->t[j].state == M_COMMITTING) && conflicts(m, i, j))
      return true;
  return false;
}

static void execute(model *m, unsigned i)
{
  model_txn *t = &m->t[i];
  t->seen = 0;
  for (unsigned k = 0; k < m->o->keys; k++) {
    if (t->mode[k] != 0)
      t->seen = mix(t->seen, m->key[k]);
    if (t->mode[k] >= TWPA_MODE_UPDATE)
      t->seen = mix(t->seen, m->data[k]);
    t->data_after[k] = mix(m->data[k], i + 1);
    t->key_after[k] = mix(m->key[k], i + 1);
  }
}

static void publish(model *m, const model_txn *t)
{
  for (unsigned k = 0; k < m->o->keys; k++) {
    if (t->mode[k] >= TWPA_MODE_UPDATE)
      m->data[k] = t->data_after[k];
    if (t->mode[k] == TWPA_MODE_WRITE)
      m->key[k] = t->key_after[k];
  }
}

static void check_result(model *m)
{
  uint64_t key[MODEL_KEYS], data[MODEL_KEYS];
  memcpy(key, m->key, sizeof key);
  memcpy(data, m->data, sizeof data);
  memset(m->key, 0, sizeof m->key);
  memset(m->data, 0, sizeof m->data);
  for (unsigned i = 0; i < m->submitted; i++) {
    if (m->t[i].state != M_DONE || m->t[i].skipped)
      continue;
    uint64_t seen = m->t[i].seen;
    execute(m, i);
    test_must(seen == m->t[i].seen);
    publish(m, &m->t[i]);
  }
  test_must(memcmp(key, m->key, sizeof key) == 0);
  test_must(memcmp(data, m->data, sizeof data) == 0);
}

/* ---- Checks after every step --------------------------------------------------------------------------------- */

static void check_state(const model *m, unsigned i)
{
  static const uint32_t want[] = {TWPA_TASK_WAITING, TWPA_TASK_RUNNING, TWPA_TASK_EXECUTED, TWPA_TASK_COMMITTING,
                                  TWPA_TASK_RETRY,   TWPA_TASK_STOPPED, TWPA_TASK_DONE};
  const model_txn *t = &m->t[i];
  uint32_t state;
  void *task = NULL;
  test_must(twpa_scheduler_state(m->sched, &state, &task, i + 1) == TWPA_OK);
  test_must(task == (t->state == M_DONE ? NULL : (void *)&m->t[i]));
  if (state == TWPA_TASK_READY)
    test_must(t->state == M_WAITING || t->state == M_RETRY);
  else
    test_must(state == want[t->state]);
  test_must(!!twpa_scheduler_is_doomed(m->sched, i + 1) == t->doomed);
  twpa_wait wait;
  test_must(twpa_scheduler_wait_of(m->sched, &wait, i + 1) == TWPA_OK);
  test_must(wait.waiter == i + 1 && wait.holder <= m->submitted && wait.holder != i + 1);
  if (state == TWPA_TASK_WAITING) {
    test_must(wait.kind == TWPA_WAIT_DEPENDENCY);
    test_must(wait.holder > 0 && wait.holder < i + 1);
    if (!m->o->small_table && !m->o->lose_trust)
      test_must(m->t[wait.holder - 1].state != M_DONE);
  }
  if (state == TWPA_TASK_RUNNING || state == TWPA_TASK_COMMITTING || state == TWPA_TASK_DONE)
    test_must(wait.kind == TWPA_WAIT_NONE);
}

static void check(model *m)
{
  settle(m);
  twpa_scheduler_counters n = {.struct_size = sizeof n};
  test_must(twpa_scheduler_stats(m->sched, &n) == TWPA_OK);
  test_must(n.open == count_open(m) && n.running == count_state(m, M_RUNNING));
  test_must(n.newest == m->submitted && n.stopped_before == m->stop);
  test_must(n.low_watermark == head_of(m));
  test_must(m->o->open_max == 0 || n.open <= m->o->open_max);
  test_must(m->o->running_max == 0 || n.running <= m->o->running_max + 1);
  bool idle = n.open == 0 && (head_of(m) == m->submitted || stopped(m, head_of(m)));
  test_must(!!twpa_scheduler_idle(m->sched) == idle);
  for (unsigned i = 0; i < m->submitted; i++)
    check_state(m, i);
}

/* ---- Actions ------------------------------------------------------------------------------------------------- */

static void fill_set(model *m, const model_txn *t)
{
  test_must(twpa_access_set_begin(m->set, 0, 0, 0) == TWPA_OK);
  for (unsigned k = 0; k < m->o->keys; k++) {
    int64_t values[2] = {k, 7};
    if (t->mode[k] == 0)
      continue;
    if (m->relation == NULL)
      test_must(twpa_access_set_access(m->set, 1000 + k, t->mode[k]) == TWPA_OK);
    else if (t->mode[k] == TWPA_MODE_UPDATE)
      test_must(change(m->set, m->relation, TWPA_OP_UPDATE, 2, NULL, values) == TWPA_OK);
    else
      test_must(change(m->set, m->relation, TWPA_OP_DELETE, 2, values, NULL) == TWPA_OK);
  }
}

static void do_submit(model *m)
{
  uint64_t seq = 0;
  model_txn *t = &m->t[m->submitted];
  fill_set(m, t);
  bool full = m->o->window_max != 0 && m->submitted - head_of(m) >= m->o->window_max;
  twpa_status st = twpa_scheduler_submit_groups(m->sched, &seq, m->set, t, t->groups);
  if (stopped(m, m->submitted)) {
    test_must(st == TWPA_E_STATE);
    return;
  }
  test_must(st == (full ? TWPA_E_LIMIT : TWPA_OK));
  model_sum.limits += full;
  if (full)
    return;
  test_must(seq == m->submitted + 1);
  t->state = M_WAITING;
  m->submitted++;
}

static void do_next(model *m)
{
  uint64_t seq = 0;
  void *task = NULL;
  unsigned lonely;
  bool alone = alone_is_due(m, &lonely);
  unsigned first = m->submitted;
  for (unsigned i = m->submitted; i-- > 0;)
    if (is_ready(m, i) && (!alone || i == lonely))
      first = i;
  bool limited = first < m->submitted && !within_limits(m, first);
  twpa_status st = m->o->hints ? twpa_scheduler_next_for(m->sched, &seq, &task, m->c->choose(m->c, 3))
                               : twpa_scheduler_next(m->sched, &seq, &task);
  if (st == TWPA_NONE) {
    /* The head is never refused, nor anything that the limits allow, where the plan is exact. */
    test_must(first == m->submitted || limited || (!is_exact(m) && first != head_of(m)));
    model_sum.held += limited;
    return;
  }
  test_must(st == TWPA_OK);
  unsigned i = (unsigned)seq - 1;
  test_must(task == &m->t[i] && is_ready(m, i) && within_limits(m, i) && !limited);
  test_must(!alone || i == lonely);
  if (!m->o->hints && is_exact(m))
    test_must(i == first);
  test_must(first != head_of(m) || i == first);
  for (unsigned j = 0; j < i; j++)
    if (conflicts(m, j, i) && m->t[j].state != M_DONE) {
      model_sum.early++;
      break;
    }
  m->t[i].state = M_RUNNING;
  m->t[i].released = false;
  model_sum.starts++;
}

static void do_applied(model *m, unsigned i)
{
  execute(m, i);
  test_must(twpa_scheduler_applied(m->sched, i + 1) == TWPA_OK);
  test_must(twpa_scheduler_applied(m->sched, i + 1) == TWPA_E_STATE);
  m->t[i].state = M_EXECUTED;
}

static bool has_turn(const model *m, unsigned i)
{
  if (m->t[i].state != M_EXECUTED || m->t[i].doomed || stopped(m, i))
    return false;
  for (unsigned j = 0; j < i && m->o->commit_order != TWPA_COMMIT_ORDER_FREE; j++)
    if (m->t[j].state != M_DONE &&
        (m->o->commit_order == TWPA_COMMIT_ORDER_GLOBAL || (m->t[i].groups & m->t[j].groups) != 0))
      return false;
  return true;
}

static void do_next_commit(model *m)
{
  uint64_t seq = 0;
  unsigned want = 0;
  void *task;
  while (want < m->submitted && !has_turn(m, want))
    want++;
  for (unsigned i = 0; i < m->submitted; i++)
    if (is_open(m, i) && m->t[i].state != M_COMMITTING && !has_turn(m, i))
      test_must(twpa_scheduler_committed(m->sched, i + 1) == TWPA_E_STATE);
  twpa_status st = twpa_scheduler_next_commit(m->sched, &seq, &task);
  test_must(st == (want < m->submitted ? TWPA_OK : TWPA_NONE));
  if (st == TWPA_OK) {
    test_must(seq == want + 1 && task == &m->t[want]);
    m->t[want].state = M_COMMITTING;
  }
}

static void do_committed(model *m, unsigned i)
{
  publish(m, &m->t[i]);
  test_must(twpa_scheduler_committed(m->sched, i + 1) == TWPA_OK);
  m->t[i].state = M_DONE;
  model_sum.commits++;
}

/* Whoever is open and conflicts with an uncommitted earlier one has started early behind it. */
static void doom_early(model *m, unsigned failed)
{
  bool gone[MODEL_TXNS] = {false};
  gone[failed] = true;
  for (unsigned i = failed; i < m->submitted; i++)
    for (unsigned j = i + 1; j < m->submitted && gone[i]; j++)
      if (is_open(m, j) && conflicts(m, i, j)) {
        gone[j] = m->t[j].state == M_EXECUTED && !m->t[j].doomed;
        doom(m, j);
      }
}

static void do_fail(model *m, unsigned i, uint32_t reason)
{
  model_txn *t = &m->t[i];
  bool doomed = t->doomed, executed = t->state != M_RUNNING;
  uint32_t verdict = 0;
  test_must(twpa_scheduler_failed(m->sched, i + 1, &verdict, reason) == TWPA_OK);
  for (unsigned k = 0; k < m->noffered; k++)
    if (m->offered[k] == i)
      m->offered[k] = m->offered[--m->noffered];
  t->doomed = t->offered = false;
  if (doomed) {
    test_must(verdict == (stopped(m, i) ? TWPA_VERDICT_STOP : TWPA_VERDICT_RETRY));
    t->state = t->alone ? M_RETRY : M_WAITING;
    model_sum.cancels++;
    return;
  }
  model_sum.failures++;
  t->state = M_RETRY;
  t->alone = false;
  if (executed)
    doom_early(m, i);
  if (reason != TWPA_FAIL_ERROR)
    t->tries++;
  if (reason == TWPA_FAIL_ERROR || t->tries > 3) {
    test_must(verdict == TWPA_VERDICT_STOP);
    t->state = M_STOPPED;
    set_stop(m, i + 1);
    model_sum.stops++;
  } else if (t->tries == 3) {
    test_must(verdict == TWPA_VERDICT_ALONE);
    t->alone = true;
    model_sum.alones++;
  } else {
    test_must(verdict == TWPA_VERDICT_RETRY);
  }
}

static void do_next_rollback(model *m)
{
  uint64_t seq = 0;
  void *task;
  uint32_t running = 9;
  unsigned want = m->submitted;
  for (unsigned i = 0; i < m->submitted; i++)
    if (m->t[i].doomed && !m->t[i].offered)
      want = i;
  twpa_status st = twpa_scheduler_next_rollback(m->sched, &seq, &task, &running);
  test_must(st == (want < m->submitted ? TWPA_OK : TWPA_NONE));
  if (st != TWPA_OK)
    return;
  test_must(seq == want + 1 && task == &m->t[want]);
  test_must(running == (m->t[want].state == M_RUNNING));
  m->t[want].offered = true;
  if (!running)
    m->offered[m->noffered++] = want;
}

static void do_rolled_back(model *m, unsigned at)
{
  unsigned i = m->offered[at];
  m->offered[at] = m->offered[--m->noffered];
  test_must(twpa_scheduler_rolled_back(m->sched, i + 1) == TWPA_OK);
  m->t[i].state = m->t[i].alone ? M_RETRY : M_WAITING;
  m->t[i].doomed = m->t[i].offered = false;
  model_sum.rollbacks++;
}

static void do_skip(model *m, unsigned i)
{
  model_txn *t = &m->t[i];
  uint32_t outcome = m->o->lose_trust ? TWPA_DONE_SKIPPED : TWPA_DONE_COMMITTED;
  twpa_status st = twpa_scheduler_skip(m->sched, i + 1, outcome);
  if (t->skip || is_open(m, i) || t->state == M_DONE) {
    test_must(st == TWPA_E_STATE);
    return;
  }
  test_must(st == TWPA_OK);
  if (t->state != M_WAITING && (!m->o->early || i == head_of(m))) {
    t->state = M_DONE;
    t->skipped = true;
    model_sum.skips++;
  } else {
    t->state = M_WAITING;
  }
  t->skip = true;
  t->alone = false;
}

static void do_resume(model *m)
{
  twpa_status st = twpa_scheduler_resume(m->sched);
  test_must(st == (m->stop == 0 || count_doomed(m) > 0 ? TWPA_E_STATE : TWPA_OK));
  if (st != TWPA_OK)
    return;
  m->stop = 0;
  for (unsigned i = 0; i < m->submitted; i++)
    if (m->t[i].state == M_STOPPED) {
      m->t[i].state = M_RETRY;
      m->t[i].tries = 0;
      m->t[i].alone = false;
    }
}

/* ---- The run ------------------------------------------------------------------------------------------------- */

enum { A_SUBMIT, A_NEXT, A_APPLIED, A_NEXT_COMMIT, A_COMMITTED, A_FAIL, A_NEXT_ROLLBACK, A_ROLLED_BACK, A_RESUME };

typedef struct action {
  int what;
  unsigned whom;
} action;

static unsigned list_actions(const model *m, action *out)
{
  unsigned n = 0, ready = 0, turns = 0, rollbacks = 0;
  if (m->submitted < m->o->txns && !stopped(m, m->submitted) &&
      (m->o->window_max == 0 || m->submitted - head_of(m) < m->o->window_max || m->o->running_max % 2 == 1))
    out[n++] = (action){A_SUBMIT, 0};
  for (unsigned i = 0; i < m->submitted; i++) {
    const model_txn *t = &m->t[i];
    ready += is_ready(m, i) && (m->c->choose == choose_random || within_limits(m, i));
    turns += has_turn(m, i);
    rollbacks += t->doomed && !t->offered;
    if (t->state == M_RUNNING && !is_blocked(m, i))
      out[n++] = (action){A_APPLIED, i};
    if (t->state == M_COMMITTING)
      out[n++] = (action){A_COMMITTED, i};
    if (is_open(m, i) && (m->failures < m->o->failures || t->doomed))
      out[n++] = (action){A_FAIL, i};
  }
  if (ready > 0)
    out[n++] = (action){A_NEXT, 0};
  if (turns > 0)
    out[n++] = (action){A_NEXT_COMMIT, 0};
  if (rollbacks > 0)
    out[n++] = (action){A_NEXT_ROLLBACK, 0};
  for (unsigned k = 0; k < m->noffered; k++)
    out[n++] = (action){A_ROLLED_BACK, k};
  if (m->stop != 0 && count_doomed(m) == 0)
    out[n++] = (action){A_RESUME, 0};
  return n;
}

static void act(model *m, action a)
{
  switch (a.what) {
  case A_SUBMIT: do_submit(m); break;
  case A_NEXT: do_next(m); break;
  case A_APPLIED:
    if (m->t[a.whom].offered) /* offered while running; once executed it is offered again */
      m->t[a.whom].offered = false;
    do_applied(m, a.whom);
    break;
  case A_NEXT_COMMIT: do_next_commit(m); break;
  case A_COMMITTED: do_committed(m, a.whom); break;
  case A_FAIL:
    m->failures += !m->t[a.whom].doomed;
    do_fail(m, a.whom, m->o->errors && m->c->choose(m->c, 4) == 0 ? TWPA_FAIL_ERROR
                       : m->t[a.whom].doomed                      ? TWPA_FAIL_CANCELLED
                                                                  : TWPA_FAIL_CONFLICT);
    break;
  case A_NEXT_ROLLBACK: do_next_rollback(m); break;
  case A_ROLLED_BACK: do_rolled_back(m, a.whom); break;
  case A_RESUME: do_resume(m); break;
  default: break;
  }
}

/* Things that may happen at any time in random runs. */
static void interfere(model *m)
{
  if (m->o->skips && m->submitted > 0 && m->c->choose(m->c, 30) == 0)
    do_skip(m, m->c->choose(m->c, m->submitted));
  if (m->o->hosts_stop && m->c->choose(m->c, 60) == 0) {
    uint64_t seq = 1 + m->c->choose(m->c, m->o->txns + 2);
    test_must(twpa_scheduler_stop_before(m->sched, seq) == TWPA_OK);
    set_stop(m, seq);
    model_sum.stops++;
  }
  if (m->o->hosts_stop && m->c->choose(m->c, 20) == 0)
    do_resume(m);
}

static void set_up(model *m)
{
  const model_options *o = m->o;
  twpa_plan_options po = {.struct_size = sizeof po,
                          .table_bytes = o->small_table ? 64 : 4096,
                          .wide_bytes = o->small_table ? 64 : 4096,
                          .free_commit_order = o->commit_order != TWPA_COMMIT_ORDER_GLOBAL,
                          .early_start = o->early ? TWPA_EARLY_START_NARROW : TWPA_EARLY_START_OFF};
  test_must(twpa_plan_new(&m->plan, &po, o->allocator) == TWPA_OK);
  test_must(twpa_access_set_new(&m->set, m->plan, o->allocator) == TWPA_OK);
  if (o->early || o->rows) {
    relation_kit kit;
    kit_begin(&kit, 5, 2);
    kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
    m->relation = kit_make(&kit);
  }
  twpa_scheduler_options so = {.struct_size = sizeof so,
                               .commit_order = o->commit_order,
                               .running_max = o->running_max,
                               .open_max = o->open_max,
                               .window_max = o->window_max};
  test_must(twpa_scheduler_new(&m->sched, m->plan, &so, o->allocator) == TWPA_OK);
}

void model_run(const model_options *options, model_txn *txns, chooser *c)
{
  model m = {.o = options, .t = txns, .c = c};
  set_up(&m);
  bool calm = options->failures == 0 && !options->skips && !options->hosts_stop;
  for (unsigned steps = 0;; steps++) {
    test_must(steps < 100000);
    check(&m);
    action actions[4 * MODEL_TXNS + 8];
    unsigned n = list_actions(&m, actions);
    if (m.stop == 0 && m.submitted == options->txns && twpa_scheduler_idle(m.sched))
      break;
    if (n == 0) { /* nothing to do and not done: somebody waits for ever */
      test_must(!calm && m.stop != 0);
      do_resume(&m);
      continue;
    }
    act(&m, actions[c->choose(c, n)]);
    model_sum.steps++;
    if (c->choose == choose_random) {
      check(&m);
      interfere(&m);
    }
  }
  for (unsigned i = 0; i < options->txns; i++)
    test_must(txns[i].state == M_DONE);
  check_result(&m);
  model_sum.runs++;
  twpa_scheduler_free(m.sched);
  twpa_access_set_free(m.set);
  twpa_relation_free(m.relation);
  twpa_plan_free(m.plan);
}
