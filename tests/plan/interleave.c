/* Driving the scheduler through a history on a target with locks. */
#include "interleave.h"

#include <inttypes.h>

typedef struct stream { /* one of two */
  twpa_progress *progress;
  unsigned char record[4096]; /* what the target keeps */
  size_t len;
} stream;

typedef struct run {
  const history *h;
  const setting *how;
  const driving *d;
  interleaved *sum;
  const trace_log *log;
  rng r;
  locks target;
  twpa_plan *plan;
  twpa_scheduler *sched;
  twpa_access_set *set;
  twpa_relation *rels[TABLES];
  stream streams[2];
  int submitted;         /* transactions that have been submitted, or were there already */
  uint64_t numbers[TX];  /* the numbers they have */
  int of_number[TX + 1]; /* and the other way round */
  unsigned aborts, crashes;
  uint8_t running, executed, committed; /* transactions, as bits */
  uint8_t excused; /* running while one that was executed went away: what they meet may not be foreseen */
  uint8_t groups[TX]; /* tables that a transaction changes */
  const char *wrong;
} run;

static uint64_t seq_of(const run *x, int t)
{
  return x->numbers[t];
}

static int tx_of(const run *x, uint64_t seq)
{
  return x->of_number[seq];
}

/* Which of the target's transactions it is about: COMMIT PREPARED is about another one. */
static int on_target(const run *x, int t)
{
  return x->h->end_of[t] != 0 ? x->h->end_of[t] - 1 : t;
}

/* --- moves: each returns true if it did something ------------------------------------------------------------------- */

/* Does the transaction's stream say that the target has it? Then it must have it, and the other way round. */
static bool was_applied(run *x, int t)
{
  if (!x->d->origins)
    return false;
  bool applied = twpa_progress_is_applied(x->streams[t & 1].progress, (twpa_lsn)t + 1) != 0;
  if (applied != ((x->committed & 1u << t) != 0))
    x->wrong = "progress is not what the target has";
  if (applied)
    test_must(twpa_progress_passed(x->streams[t & 1].progress, (twpa_lsn)t + 1) == TWPA_OK);
  return applied;
}

/* With the commit, the target keeps how far the stream has come. */
static void keep_progress(run *x, int t)
{
  stream *s = &x->streams[t & 1];
  if (x->d->origins)
    test_must(twpa_progress_save_with(s->progress, s->record, sizeof s->record, &s->len, seq_of(x, t)) == TWPA_OK);
}

static void log_groups(const run *x, int t)
{
  char more[32];
  snprintf(more, sizeof more, " groups=%u", x->groups[t]);
  log_transaction(x->log, x->h, t, more);
}

static bool submit(run *x)
{
  uint64_t seq;
  if (x->submitted < x->h->n && was_applied(x, x->submitted)) {
    x->submitted++;
    return true;
  }
  if (x->submitted == x->h->n)
    return false;
  history_fill(x->h, x->submitted, x->set, x->rels, 0);
  twpa_status st = twpa_scheduler_submit_groups(x->sched, &seq, x->set, NULL, x->groups[x->submitted]);
  if (st == TWPA_E_LIMIT)
    return false;
  test_must(st == TWPA_OK && seq <= TX);
  x->numbers[x->submitted] = seq;
  x->of_number[seq] = x->submitted;
  log_groups(x, x->submitted);
  log_entered(x->log, x->plan, x->submitted, seq);
  x->submitted++;
  return true;
}

static bool start(run *x)
{
  uint64_t seq;
  if (twpa_scheduler_next(x->sched, &seq, NULL) != TWPA_OK)
    return false;
  log_line(x->log, "next count=1\n> run seq=%" PRIu64, seq);
  int t = tx_of(x, seq);
  if (x->h->end_of[t] == 0)
    locks_begin(&x->target, t);
  x->running |= (uint8_t)(1u << t);
  x->excused &= (uint8_t)~(1u << t);
  return true;
}

static void gone(run *x, int t)
{
  if (x->h->end_of[t] == 0) /* what is prepared stays */
    locks_abort(&x->target, t);
  x->running &= (uint8_t)~(1u << t);
  x->executed &= (uint8_t)~(1u << t);
}

static uint64_t head(const run *x)
{
  return twpa_plan_low_watermark(x->plan) + 1;
}

/* A transaction was rolled back on the target for a reason of its own. */
static void fails(run *x, int t)
{
  uint32_t verdict;
  bool doomed = twpa_scheduler_is_doomed(x->sched, seq_of(x, t));
  gone(x, t);
  test_must(twpa_scheduler_failed(x->sched, seq_of(x, t), &verdict, doomed ? TWPA_FAIL_CANCELLED : TWPA_FAIL_CONFLICT) ==
            TWPA_OK);
  log_line(x->log, "failed %d why=%s\n> verdict %s", (int)seq_of(x, t), doomed ? "cancelled" : "conflict",
           verdict == TWPA_VERDICT_RETRY ? "retry" : verdict == TWPA_VERDICT_ALONE ? "alone" : "stop");
  if (verdict == TWPA_VERDICT_STOP)
    x->wrong = "retries are used up";
}

/* May the target refuse what this one does? */
static bool may_fail(const run *x, int t)
{
  return (x->excused & 1u << t) != 0 || twpa_scheduler_is_doomed(x->sched, seq_of(x, t)) ||
         (x->d->failures && seq_of(x, t) != head(x));
}

static bool executed(run *x, int t)
{
  if (x->h->end_of[t] == 0 && x->target.tx[t].missing != x->h->missing[t]) {
    if (!may_fail(x, t))
      x->wrong = "a row is missing, or is not";
    x->sum->failures++;
    fails(x, t); /* a row that is not there is a conflict */
    return true;
  }
  x->running &= (uint8_t)~(1u << t);
  x->executed |= (uint8_t)(1u << t);
  log_line(x->log, "applied %d", (int)seq_of(x, t));
  test_must(twpa_scheduler_applied(x->sched, seq_of(x, t)) == TWPA_OK);
  return true;
}

static bool step(run *x, int t)
{
  int holder = -1;
  int result = x->h->end_of[t] != 0 ? STEP_FINISHED : locks_step(&x->target, t, &holder);
  x->sum->steps++;
  switch (result) {
  case STEP_GOES_ON:
    return true;
  case STEP_WAITS:
    x->sum->waits++;
    return false;
  case STEP_FINISHED:
    return executed(x, t);
  default:
    if (!may_fail(x, t))
      x->wrong = result == STEP_FK ? "foreign key violated" : "unique index violated";
    x->sum->failures++;
    fails(x, t);
    return true;
  }
}

static void check_prefix(run *x)
{
  state now;
  locks_state(&x->target, &now);
  if (x->d->options.commit_order == TWPA_COMMIT_ORDER_FREE)
    return;
  for (int t = 0; t < x->h->sc.ntables; t++) {
    int n = 0, last = 0; /* those that change this table come in order */
    for (int k = 0; k < x->h->n; k++)
      if ((x->groups[k] & 1u << t) != 0 && (x->committed & 1u << k) != 0)
        last = k + 1;
    for (int k = 0; k < last; k++)
      n += (x->groups[k] & 1u << t) != 0 && (x->committed & 1u << k) == 0;
    const state *should = &x->h->prefix[last];
    if (n > 0)
      x->wrong = "committed out of order";
    else if (now.count[t] != should->count[t] || memcmp(now.rows[t], should->rows[t], sizeof now.rows[t]) != 0)
      x->wrong = "a reader sees something that never was";
  }
}

/* PREPARE, COMMIT and ROLLBACK PREPARED, or COMMIT. */
static int end_on_target(run *x, int t)
{
  int on = on_target(x, t);
  if (on != t && (x->committed & 1u << on) == 0)
    x->wrong = "the end of a transaction that is not prepared";
  if (x->h->rolls_back[t])
    locks_abort(&x->target, on);
  else if (history_end_of(x->h, t) >= 0)
    return locks_prepare(&x->target, t);
  else
    return locks_commit(&x->target, on);
  return DONE;
}

static bool commit(run *x)
{
  uint64_t seq;
  if (x->d->options.commit_order == TWPA_COMMIT_ORDER_FREE && x->executed != 0) { /* any of them */
    unsigned t = (unsigned)rng_below(&x->r, TX);
    if ((x->executed & 1u << t) == 0)
      return false;
    seq = seq_of(x, (int)t);
  } else if (twpa_scheduler_next_commit(x->sched, &seq, NULL) != TWPA_OK) {
    return false;
  } else {
    log_line(x->log, "next-commit count=1\n> commit seq=%" PRIu64, seq);
  }
  int t = tx_of(x, seq);
  if (end_on_target(x, t) != DONE) {
    if (on_target(x, t) != t || (x->excused & 1u << t) == 0) /* under the replica role the target would not notice */
      x->wrong = "deferred unique index violated";
    fails(x, t);
    return true;
  }
  x->executed &= (uint8_t)~(1u << t);
  x->committed |= (uint8_t)(1u << t);
  keep_progress(x, t);
  log_line(x->log, "committed %" PRIu64, seq);
  test_must(twpa_scheduler_committed(x->sched, seq) == TWPA_OK);
  check_prefix(x);
  return true;
}

static bool roll_back(run *x)
{
  uint64_t seq;
  uint32_t running;
  if (twpa_scheduler_next_rollback(x->sched, &seq, NULL, &running) != TWPA_OK)
    return false;
  log_line(x->log, "next-rollback count=1\n> roll-back seq=%" PRIu64 "%s", seq, running != 0 ? " running" : "");
  x->sum->rollbacks++;
  if (running != 0) {
    fails(x, tx_of(x, seq));
    return true;
  }
  gone(x, tx_of(x, seq));
  log_line(x->log, "rolled-back %" PRIu64, seq);
  test_must(twpa_scheduler_rolled_back(x->sched, seq) == TWPA_OK);
  return true;
}

/* Somebody kills a transaction. The others may go on before the scheduler hears of it. */
static bool kill_one(run *x)
{
  unsigned t = (unsigned)rng_below(&x->r, TX);
  if (x->aborts == x->d->aborts || ((x->running | x->executed) & 1u << t) == 0 || !rng_chance(&x->r, 15))
    return false;
  x->aborts++;
  x->sum->aborts++;
  bool was_executed = (x->executed & 1u << t) != 0;
  if (x->h->end_of[t] == 0)
    locks_abort(&x->target, (int)t);
  if (was_executed)
    x->excused = (uint8_t)(x->excused | (x->running & ~((2u << t) - 1)));
  for (int k = (int)t + 1; k < TX && was_executed && rng_chance(&x->r, 70); k++)
    while (x->wrong == NULL && (x->running & 1u << k) != 0 && rng_chance(&x->r, 60) && step(x, k))
      ;
  fails(x, (int)t);
  return true;
}

/* --- the process ------------------------------------------------------------------------------------------------- */

static void on_wait(void *user, const twpa_wait *wait)
{
  log_line(((const run *)user)->log, "> wait seq=%" PRIu64 " for=%" PRIu64, wait->waiter, wait->holder);
}

static void begin_streams(run *x)
{
  for (uint64_t i = 0; i < 2 && x->d->origins; i++) {
    stream *s = &x->streams[i];
    const twpa_progress_options o = {.struct_size = TWPA_PROGRESS_OPTIONS_INIT, .stream = 70 + i};
    test_must(twpa_progress_new(&s->progress, &o, NULL) == TWPA_OK);
    test_must(s->len == 0 || twpa_progress_load(s->progress, s->record, s->len) == TWPA_OK);
    test_must(twpa_scheduler_set_progress(x->sched, i, s->progress) == TWPA_OK);
  }
}

/* Everything is submitted once more, but what the streams say is there. */
static void begin_process(run *x)
{
  state now;
  twpa_scheduler_options options = x->d->options;
  options.on_wait = on_wait;
  options.user = x;
  x->submitted = 0;
  x->running = x->executed = x->excused = 0;
  test_must(twpa_plan_new(&x->plan, &x->how->options, NULL) == TWPA_OK);
  test_must(twpa_access_set_new(&x->set, x->plan, NULL) == TWPA_OK);
  test_must(twpa_scheduler_new(&x->sched, x->plan, &options, NULL) == TWPA_OK);
  begin_streams(x);
  log_plan(x->log, &x->how->options);
  log_scheduler(x->log, &x->d->options);
  locks_state(&x->target, &now);
  if (x->how->seed_rows)
    history_seed_rows(&x->h->sc, &now, x->plan, x->rels, x->log);
}

static void end_process(run *x)
{
  twpa_scheduler_free(x->sched);
  for (int i = 0; i < 2; i++)
    twpa_progress_free(x->streams[i].progress);
  twpa_access_set_free(x->set);
  twpa_plan_free(x->plan);
}

/* It ends; what is open on the target is gone, what is prepared stays. */
static bool crash(run *x)
{
  if (x->crashes == x->d->crashes || !rng_chance(&x->r, 5))
    return false;
  x->crashes++;
  x->sum->crashes++;
  for (int t = 0; t < x->h->n; t++) {
    if (((x->running | x->executed) & 1u << t) != 0 && x->h->end_of[t] == 0)
      locks_abort(&x->target, t);
    x->sum->gaps += (x->committed & 1u << t) == 0 && x->committed >> t != 0;
  }
  end_process(x);
  log_comment(x->log, "The process ends, and another one goes on.");
  begin_process(x);
  return true;
}

/* --- deadlocks ------------------------------------------------------------------------------------------------------ */

/* Nobody can go on. The latest transaction that an earlier one waits for yields; -1: nobody is waited for. */
static int victim(run *x)
{
  int found = -1;
  for (int t = 0; t < x->h->n; t++) {
    int holder = -1;
    if ((x->running & 1u << t) != 0 && locks_step(&x->target, t, &holder) == STEP_WAITS && holder > found &&
        (x->committed & 1u << holder) == 0) /* what is prepared cannot yield */
      found = holder;
  }
  return found;
}

static bool resolve(run *x)
{
  int t = victim(x);
  if (t < 0) {
    x->wrong = "nobody can go on";
    return false;
  }
  x->sum->deadlocks++;
  if (!x->d->failures || seq_of(x, t) == head(x)) {
    x->wrong = "deadlock";
    return false;
  }
  fails(x, t);
  return true;
}

/* --- a run ---------------------------------------------------------------------------------------------------------- */

static bool move(run *x, unsigned which)
{
  switch (which) {
  case 0:
    return submit(x);
  case 1:
    return start(x);
  case 2:
    return commit(x);
  case 3:
    return roll_back(x);
  case 4:
    return kill_one(x);
  case 5:
    return crash(x);
  default:
    return (x->running & 1u << (which - 6)) != 0 && step(x, (int)which - 6);
  }
}

#define MOVES (6 + TX)

/* One of the possible moves; false: there is none. */
static bool any_move(run *x)
{
  unsigned left = (1u << MOVES) - 1;
  while (left != 0) {
    unsigned which = (unsigned)rng_below(&x->r, MOVES);
    if ((left & 1u << which) == 0)
      continue;
    if (move(x, which))
      return true;
    if (which == 2 && x->d->options.commit_order == TWPA_COMMIT_ORDER_FREE && x->executed != 0)
      continue; /* it was the dice that said no */
    left &= ~(1u << which);
  }
  return false;
}

/* The tables that a transaction changes: those of its statements, and what the target changes in addition. */
static void find_groups(run *x)
{
  for (int t = 0; t < x->h->n; t++) {
    for (int i = 0; i < x->h->len[t]; i++) {
      const statement *s = &x->h->st[t][i];
      x->groups[t] |= (uint8_t)(s->op == ST_TRUNCATE ? store_truncates(&x->h->sc, s->table) : 1u << s->table);
    }
    for (int k = 0; k < x->h->sc.ntables; k++)
      if (x->h->prefix[t].count[k] != x->h->prefix[t + 1].count[k] ||
          memcmp(x->h->prefix[t].rows[k], x->h->prefix[t + 1].rows[k], sizeof x->h->end.rows[k]) != 0)
        x->groups[t] |= (uint8_t)(1u << k);
  }
}

static void drive(run *x)
{
  uint8_t all = (uint8_t)((1u << x->h->n) - 1);
  for (unsigned guard = 0; x->wrong == NULL && x->committed != all; guard++) {
    if (guard > 20000)
      x->wrong = "it does not end";
    else if (!any_move(x) && x->wrong == NULL)
      resolve(x);
  }
  if (x->wrong != NULL)
    return;
  state end;
  locks_state(&x->target, &end);
  if (memcmp(&end, &x->h->end, sizeof end) != 0)
    x->wrong = "the result differs";
  twpa_scheduler_counters c = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  test_must(twpa_scheduler_stats(x->sched, &c) == TWPA_OK);
  test_must(twpa_scheduler_idle(x->sched) == 1 && (x->crashes > 0 || c.committed == (uint64_t)x->h->n));
  x->sum->early += c.early;
}

/* At the end each stream is where it should be. */
static void check_streams(run *x)
{
  while (x->submitted < x->h->n && was_applied(x, x->submitted)) /* the rest of the streams is read */
    x->submitted++;
  for (int i = 0; i < 2 && x->d->origins; i++) {
    twpa_lsn lsn;
    uint64_t seq;
    int last = -1;
    for (int t = 0; t < x->h->n; t++)
      last = (t & 1) == i ? t : last;
    test_must(twpa_progress_low_watermark(x->streams[i].progress, &seq, &lsn) == TWPA_OK);
    if (lsn != (twpa_lsn)last + 1)
      x->wrong = "a stream is not where it should be";
  }
}

const char *interleave(const history *h, const setting *how, const driving *d, interleaved *sum, const trace_log *log)
{
  run x = {.h = h, .how = how, .d = d, .sum = sum, .log = log, .r = {d->dice}};
  sum->runs++;
  locks_init(&x.target, h);
  history_relations(&h->sc, x.rels);
  log_line(log, "print edges=plain");
  log_target(log, h);
  begin_process(&x);
  find_groups(&x);
  drive(&x);
  if (x.wrong == NULL)
    check_streams(&x);
  if (x.wrong != NULL)
    log_comment(log, "%s", x.wrong);
  end_process(&x);
  history_relations_free(&h->sc, x.rels);
  return x.wrong;
}
