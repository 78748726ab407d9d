/*
 * Virtual time: a recorded plan carried out event by event.
 *
 * At each moment idle workers are given what may be done, a commit turn before a start, the smallest number first; then
 * time jumps to the next end of an execution or a commit. What keeps more from happening between two moments is
 * looked at once per jump and charged with its length. Nodes are numbered 1..n by position; a node has one event at
 * most, so the queue of events is a heap through the nodes.
 *
 * The sum of all costs fits into 64 bits and somebody is busy at every moment, so times do not overflow.
 */
#include "base/assert.h"
#include "base/heap.h"
#include "base/sized.h"
#include "plan/recording.h"
#include "plan/seqset.h"

#include <string.h>

#define LOOK_BEHIND_WINDOW 64 /* how many kept out by the window are looked at for one that could run */

enum { NOT_SUBMITTED, WAITING, READY, RUNNING, EXECUTED, COMMITTING, DONE };

typedef struct node {
  twpa__heap_node event; /* first; its end of execution or commit, by `at` and number */
  uint64_t at;
  uint64_t chain;     /* the longest chain of costs up to here */
  size_t left;        /* predecessors whose edge is not fulfilled */
  size_t succ_end;    /* its successors end here and begin where those of the one before end */
  size_t floor_first; /* first of those that wait for the watermark to reach it, or 0 */
  size_t floor_next;  /* next in such a list */
  size_t worker;
  uint32_t groups_left; /* groups in which it is not the next to commit */
  uint8_t state;
  bool floored; /* waits for the watermark */
} node;

typedef struct sim {
  const twpa_recording *r;
  twpa_simulation_options o;
  twpa__mem mem;
  node *nodes; /* by number, from 1 */
  size_t n;
  size_t *succs; /* number of the successor * 2, + 1 if early */
  twpa__seqset ready, turns, workers; /* workers: the idle ones, from 1 */
  size_t workers_made, workers_max;
  twpa__heap events;
  size_t low, submitted;
  uint64_t running, open, stuck; /* stuck: executed, without a commit turn */
  uint64_t now;
  twpa_simulated *schedule;
  twpa_simulation out;
} sim;

static bool event_before(const twpa__heap_node *a, const twpa__heap_node *b, void *arg)
{
  (void)arg;
  const node *x = (const node *)(const void *)a, *y = (const node *)(const void *)b;
  return x->at != y->at ? x->at < y->at : x < y;
}

static const twpa__recorded *recorded(const sim *s, size_t i)
{
  return &s->r->nodes[i - 1];
}

/* ---- Setting up ---------------------------------------------------------------------------------------------- */

static size_t power_of_two(size_t n)
{
  size_t cap = 64;
  while (cap < n)
    cap *= 2;
  return cap;
}

static twpa_status allocate(sim *s)
{
  size_t bytes;
  if (!twpa__array_size(&bytes, s->n + 1, sizeof(node)))
    return TWPA_E_NOMEM;
  s->nodes = twpa__zalloc(&s->mem, bytes);
  if (s->nodes == NULL)
    return TWPA_E_NOMEM;
  if (s->r->nedges > 0) {
    s->succs = twpa__alloc(&s->mem, s->r->nedges * sizeof(size_t));
    if (s->succs == NULL)
      return TWPA_E_NOMEM;
  }
  size_t cap = power_of_two(s->n);
  twpa_status st = twpa__seqset_init(&s->ready, &s->mem, cap);
  if (st == TWPA_OK)
    st = twpa__seqset_init(&s->turns, &s->mem, cap);
  if (st == TWPA_OK)
    st = twpa__seqset_init(&s->workers, &s->mem, power_of_two(s->workers_max));
  return st;
}

static void release(sim *s)
{
  twpa__release(&s->mem, s->nodes, (s->n + 1) * sizeof(node));
  twpa__release(&s->mem, s->succs, s->r->nedges * sizeof(size_t));
  twpa__seqset_clear(&s->ready, &s->mem);
  twpa__seqset_clear(&s->turns, &s->mem);
  twpa__seqset_clear(&s->workers, &s->mem);
}

/* Turns the lists of predecessors into lists of successors, by counting. */
static void turn_edges(sim *s)
{
  const twpa_recording *r = s->r;
  for (size_t e = 0; e < r->nedges; e++)
    s->nodes[r->edges[e] / 2 + 1].succ_end++;
  size_t begin = 0;
  for (size_t i = 1; i <= s->n; i++) {
    size_t own = s->nodes[i].succ_end;
    s->nodes[i].succ_end = begin;
    begin += own;
  }
  size_t e = 0;
  for (size_t i = 1; i <= s->n; i++)
    for (; e < recorded(s, i)->edges_end; e++) {
      node *from = &s->nodes[r->edges[e] / 2 + 1];
      s->succs[from->succ_end++] = i * 2 + (r->edges[e] & 1);
      s->nodes[i].left++;
    }
}

static unsigned bits_of(uint64_t word)
{
  unsigned n = 0;
  for (; word != 0; word &= word - 1)
    n++;
  return n;
}

static void set_up(sim *s)
{
  turn_edges(s);
  uint64_t seen = 0;
  for (size_t i = 1; i <= s->n; i++) {
    const twpa__recorded *r = recorded(s, i);
    node *me = &s->nodes[i];
    me->groups_left = bits_of(r->groups & seen);
    seen |= r->groups;
    if (r->floor != 0) {
      me->floored = true;
      me->floor_next = s->nodes[r->floor].floor_first;
      s->nodes[r->floor].floor_first = i;
    }
  }
}

/* The longest chain of costs. Uses `at` of the nodes, which is set again before it is looked at. */
static uint64_t critical_path(sim *s)
{
  uint64_t longest = 0;
  size_t e = 0;
  for (size_t i = 1; i <= s->n; i++) {
    const twpa__recorded *r = recorded(s, i);
    uint64_t begin = 0;
    for (; e < r->edges_end; e++) {
      uint64_t end = s->nodes[s->r->edges[e] / 2 + 1].at;
      begin = end > begin ? end : begin;
    }
    if (r->floor != 0 && s->nodes[r->floor].chain > begin)
      begin = s->nodes[r->floor].chain;
    s->nodes[i].at = begin + r->apply + r->commit;
    longest = s->nodes[i].at > longest ? s->nodes[i].at : longest;
    s->nodes[i].chain = longest; /* of all up to here */
  }
  return longest;
}

/* ---- Rules --------------------------------------------------------------------------------------------------- */

static bool is_open(const node *n)
{
  return n->state == RUNNING || n->state == EXECUTED || n->state == COMMITTING;
}

static bool has_worker(const sim *s)
{
  return s->o.running_max == 0 || s->running < s->o.running_max;
}

static bool may_open(const sim *s, size_t i)
{
  size_t head = s->low + 1;
  uint64_t kept = is_open(&s->nodes[head]) ? 0 : 1;
  return i == head || s->o.open_max == 0 || s->open + kept < s->o.open_max;
}

static bool has_turn(const sim *s, size_t i)
{
  switch (s->o.commit_order) {
  case TWPA_COMMIT_ORDER_GLOBAL: return i == s->low + 1;
  case TWPA_COMMIT_ORDER_GROUPS: return s->nodes[i].groups_left == 0;
  default: return true;
  }
}

static void check_ready(sim *s, size_t i)
{
  node *me = &s->nodes[i];
  if (me->state != WAITING || me->left > 0 || me->floored)
    return;
  me->state = READY;
  twpa__seqset_add(&s->ready, i);
  if (s->schedule != NULL)
    s->schedule[i - 1].ready_at = s->now;
}

static void check_turn(sim *s, size_t i)
{
  if (s->nodes[i].state == EXECUTED && !twpa__seqset_has(&s->turns, i) && has_turn(s, i)) {
    twpa__seqset_add(&s->turns, i);
    s->stuck--;
  }
}

static bool window_full(const sim *s)
{
  return s->o.window_max != 0 && s->submitted - s->low >= s->o.window_max;
}

static void submit(sim *s)
{
  while (s->submitted < s->n && !window_full(s)) {
    size_t i = ++s->submitted;
    s->nodes[i].state = WAITING;
    check_ready(s, i);
  }
}

/* An edge of each of these is fulfilled: the early ones, or the others, or both. */
static void let_go(sim *s, size_t i, bool early, bool others)
{
  size_t begin = i > 1 ? s->nodes[i - 1].succ_end : 0;
  for (size_t e = begin; e < s->nodes[i].succ_end; e++) {
    bool is_early = s->o.early_start && (s->succs[e] & 1) != 0;
    if (is_early ? early : others) {
      s->nodes[s->succs[e] / 2].left--;
      check_ready(s, s->succs[e] / 2);
    }
  }
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

static void occupy(sim *s, size_t i, uint64_t cost)
{
  node *me = &s->nodes[i];
  me->worker = (size_t)twpa__seqset_first(&s->workers, 1);
  if (me->worker == 0)
    me->worker = ++s->workers_made;
  else
    twpa__seqset_remove(&s->workers, me->worker);
  me->at = s->now + cost;
  twpa__heap_push(&s->events, &me->event);
  if (++s->running > s->out.running_high)
    s->out.running_high = s->running;
}

static void start(sim *s, size_t i)
{
  twpa__seqset_remove(&s->ready, i);
  s->nodes[i].state = RUNNING;
  occupy(s, i, recorded(s, i)->apply);
  if (++s->open > s->out.open_high)
    s->out.open_high = s->open;
  if (s->schedule != NULL) {
    s->schedule[i - 1].started_at = s->now;
    s->schedule[i - 1].worker = s->nodes[i].worker - 1;
  }
}

static void commit(sim *s, size_t i)
{
  twpa__seqset_remove(&s->turns, i);
  s->nodes[i].state = COMMITTING;
  occupy(s, i, recorded(s, i)->commit);
  if (s->schedule != NULL)
    s->schedule[i - 1].turn_at = s->now;
}

static void assign(sim *s)
{
  while (has_worker(s)) {
    size_t i = (size_t)twpa__seqset_first(&s->turns, s->low + 1);
    if (i != 0) {
      commit(s, i);
      continue;
    }
    i = (size_t)twpa__seqset_first(&s->ready, s->low + 1);
    if (i == 0 || !may_open(s, i))
      return;
    start(s, i);
  }
}

static void executed(sim *s, size_t i)
{
  s->nodes[i].state = EXECUTED;
  s->stuck++;
  if (s->schedule != NULL)
    s->schedule[i - 1].executed_at = s->now;
  let_go(s, i, true, false);
  check_turn(s, i);
}

/* In each of its groups the next one is first now. */
static void pass_groups(sim *s, size_t i)
{
  for (uint64_t groups = recorded(s, i)->groups; groups != 0; groups &= groups - 1) {
    uint64_t group = groups & (~groups + 1);
    size_t next = i + 1;
    while (next <= s->n && (recorded(s, next)->groups & group) == 0)
      next++;
    if (next <= s->n) {
      s->nodes[next].groups_left--;
      check_turn(s, next);
    }
  }
}

static void committed(sim *s, size_t i)
{
  s->nodes[i].state = DONE;
  s->open--;
  if (s->schedule != NULL)
    s->schedule[i - 1].committed_at = s->now;
  let_go(s, i, false, true);
  while (s->low < s->n && s->nodes[s->low + 1].state == DONE) {
    s->low++;
    for (size_t w = s->nodes[s->low].floor_first; w != 0; w = s->nodes[w].floor_next) {
      s->nodes[w].floored = false;
      check_ready(s, w);
    }
  }
  if (s->o.commit_order == TWPA_COMMIT_ORDER_GROUPS)
    pass_groups(s, i);
  else if (s->low < s->n)
    check_turn(s, s->low + 1);
  submit(s);
}

/* Could one of the next that the window keeps out run? */
static bool window_binds(const sim *s)
{
  if (!window_full(s))
    return false;
  for (size_t i = s->submitted + 1; i <= s->n && i <= s->submitted + LOOK_BEHIND_WINDOW; i++)
    if (s->nodes[i].left == 0 && !s->nodes[i].floored)
      return may_open(s, i);
  return false;
}

static uint32_t what_binds(const sim *s)
{
  size_t first = (size_t)twpa__seqset_first(&s->ready, s->low + 1);
  if (s->turns.count > 0)
    return TWPA_BOUND_EXECUTING;
  if (first != 0)
    return may_open(s, first) ? TWPA_BOUND_EXECUTING : TWPA_BOUND_OPEN;
  if (!has_worker(s))
    return TWPA_BOUND_NONE;
  if (window_binds(s))
    return TWPA_BOUND_WINDOW;
  return s->stuck > 0 ? TWPA_BOUND_COMMIT_ORDER : TWPA_BOUND_DEPENDENCIES;
}

static void run(sim *s)
{
  submit(s);
  assign(s);
  twpa__heap_node *top;
  while ((top = twpa__heap_first(&s->events)) != NULL) {
    uint64_t at = ((const node *)(const void *)top)->at;
    if (at > s->now)
      s->out.bound[what_binds(s)] += at - s->now;
    s->now = at;
    while ((top = twpa__heap_first(&s->events)) != NULL && ((const node *)(const void *)top)->at == at) {
      node *me = (node *)(void *)twpa__heap_pop(&s->events);
      size_t i = (size_t)(me - s->nodes);
      twpa__seqset_add(&s->workers, me->worker);
      s->running--;
      if (me->state == RUNNING)
        executed(s, i);
      else
        committed(s, i);
    }
    assign(s);
  }
  TWPA__ASSERT(s->low == s->n);
}

twpa_status twpa_simulate(const twpa_recording *recording, twpa_simulation *result, twpa_simulated *schedule,
                          size_t count, const twpa_simulation_options *options, const twpa_allocator *allocator)
{
  if (recording == NULL || result == NULL)
    return TWPA_E_INVAL;
  sim s = {.r = recording, .n = recording->count, .schedule = schedule};
  twpa_status st = twpa__read_sized(&s.o, sizeof s.o, options, sizeof(twpa_simulation_options));
  if (st == TWPA_OK && (s.o.commit_order > TWPA_COMMIT_ORDER_FREE || s.o.early_start > 1 ||
                        (schedule != NULL && count < recording->count)))
    st = TWPA_E_INVAL;
  if (st == TWPA_OK && s.o.early_start && s.o.commit_order != TWPA_COMMIT_ORDER_GLOBAL)
    st = TWPA_E_INVAL;
  if (st == TWPA_OK)
    st = twpa__mem_init(&s.mem, allocator);
  if (st == TWPA_OK && (result->struct_size < sizeof *result || result->struct_size > TWPA__SIZED_MAX))
    st = TWPA_E_INVAL;
  if (st != TWPA_OK)
    return st;
  if (recording->spoiled)
    return TWPA_E_STATE;
  s.workers_max = s.o.running_max != 0 && s.o.running_max < s.n ? (size_t)s.o.running_max : s.n;
  twpa__heap_init(&s.events, event_before, NULL);
  st = allocate(&s);
  if (st == TWPA_OK) {
    s.out.critical_path = critical_path(&s);
    set_up(&s);
    run(&s);
    s.out.transactions = s.n;
    s.out.edges = recording->nedges;
    s.out.work = recording->total;
    s.out.makespan = s.now;
    st = twpa__write_sized(result, &s.out, sizeof s.out, sizeof s.out);
  }
  release(&s);
  return st;
}
