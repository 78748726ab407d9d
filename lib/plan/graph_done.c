/* The graph of a plan: executing, finishing, the queue of those that are ready. See the header for the idea. */
#include "plan/graph.h"

#include "base/assert.h"

#define LOOK_AHEAD 8

/* --- the queue --------------------------------------------------------------------------------------------------- */

static void enqueue(twpa__graph *g, uint64_t seq)
{
  uint32_t low_bits = (uint32_t)seq & TWPA__EDGE_SEQ;
  g->states[seq & g->mask] = TWPA__QUEUED;
  g->places[seq & g->mask] = (twpa__place){TWPA__NIL, g->ready_last};
  if (g->ready_last == TWPA__NIL)
    g->ready_first = low_bits;
  else
    g->places[g->ready_last & g->mask].next = low_bits;
  g->ready_last = low_bits;
}

static void dequeue(twpa__graph *g, uint64_t seq)
{
  if (twpa__state_of(g, seq) != TWPA__QUEUED)
    return;
  const twpa__place p = g->places[seq & g->mask];
  if (p.prev == TWPA__NIL)
    g->ready_first = p.next;
  else
    g->places[p.prev & g->mask].next = p.next;
  if (p.next == TWPA__NIL)
    g->ready_last = p.prev;
  else
    g->places[p.next & g->mask].prev = p.prev;
}

uint64_t twpa__graph_next_ready(twpa__graph *g)
{
  if (g->ready_first == TWPA__NIL)
    return 0;
  uint64_t seq = twpa__full_seq(g, g->ready_first);
  dequeue(g, seq);
  g->states[seq & g->mask] = TWPA__RUNNING;
  return seq;
}

/* --- letting go -------------------------------------------------------------------------------------------------- */

static void become_ready(twpa__graph *g, uint64_t seq)
{
  g->ready++;
  enqueue(g, seq);
}

/* What a list of waiters hung at is over: each hangs elsewhere or is ready. */
static void wake(twpa__graph *g, uint32_t w)
{
  while (w != TWPA__NIL) {
    uint64_t seq = twpa__full_seq(g, w);
    w = g->places[seq & g->mask].next;
    if (!twpa__graph_hang(g, seq))
      become_ready(g, seq);
  }
}

/*
 * The same for those that hung at a transaction that the low watermark has passed. It was the newest of their
 * predecessors, and all their other edges were fulfilled before: nothing is left, and nothing has to be looked at, but
 * with early start, and but for those that got an edge later.
 */
static void wake_passed(twpa__graph *g, uint32_t w)
{
  if (g->early) {
    wake(g, w);
    return;
  }
  while (w != TWPA__NIL) {
    uint64_t seq = twpa__full_seq(g, w);
    w = g->places[seq & g->mask].next;
    if (seq > g->linked || !twpa__graph_hang(g, seq))
      become_ready(g, seq);
  }
}

/* The last member is done. */
static void join_done(twpa__graph *g, uint32_t join)
{
  while (join != TWPA__NIL) {
    twpa__join *j = &g->joins[join];
    uint32_t w = j->waiters, behind = j->behind;
    j->waiters = j->behind = TWPA__NIL;
    wake(g, w);
    twpa__graph_free_join_if_unused(g, join);
    if (behind != TWPA__NIL) {
      g->joins[behind].before = TWPA__NIL;
      if (--g->joins[behind].npred > 0)
        behind = TWPA__NIL;
    }
    join = behind;
  }
}

static void leave_joins(twpa__graph *g, uint32_t e)
{
  while (e != TWPA__NIL) {
    const twpa__pool_edge m = g->edges[e];
    twpa__join *j = &g->joins[m.meta];
    if (m.prev_in == TWPA__NIL)
      j->members = m.next_in;
    else
      g->edges[m.prev_in].next_in = m.next_in;
    if (m.next_in != TWPA__NIL)
      g->edges[m.next_in].prev_in = m.prev_in;
    twpa__graph_free_edge(g, e);
    e = m.next;
    TWPA__ASSERT(j->npred > 0);
    if (--j->npred == 0)
      join_done(g, m.meta);
  }
}

/* --- finishing --------------------------------------------------------------------------------------------------- */

/* Below the low watermark: nobody asks for the edges into it any more. */
static void drop_edges(twpa__graph *g, twpa__node *n)
{
  g->inline_live -= n->nin;
  for (uint32_t e = n->more; e != TWPA__NIL;) {
    const twpa__pool_edge p = g->edges[e];
    twpa__graph_free_edge(g, e);
    e = p.next;
    if ((p.from & TWPA__TO_JOIN) != 0) {
      g->joins[p.from & ~TWPA__TO_JOIN].refs--;
      twpa__graph_free_join_if_unused(g, p.from & ~TWPA__TO_JOIN);
    }
  }
}

/* The low watermark passes what is done in front; whoever waited for that is let go. */
static void advance(twpa__graph *g)
{
  while (g->low < g->last && twpa__state_of(g, g->low + 1) == TWPA__DONE) {
    twpa__node *n = twpa__node_at(g, ++g->low);
    drop_edges(g, n);
    wake(g, n->passing);
  }
}

/* Transactions mostly finish in their order: who will be woken then? One that there is, anyway. */
static uint64_t woken_soon(const twpa__graph *g, uint64_t seq)
{
  uint32_t w = g->waiters[(seq + LOOK_AHEAD) & g->mask];
  return seq + LOOK_AHEAD <= g->last && w != TWPA__NIL ? w : seq;
}

void twpa__graph_done(twpa__graph *g, uint64_t seq)
{
  size_t at = seq & g->mask;
  TWPA__ASSERT(g->states[at] != TWPA__WAITING && g->states[at] != TWPA__DONE);
  const size_t soon = woken_soon(g, seq) & g->mask;
  TWPA__PREFETCH(&g->places[soon]);
  TWPA__PREFETCH(&g->states[soon]);
  if (g->unhung_at == seq)
    twpa__graph_settle(g);
  dequeue(g, seq);
  g->states[at] = TWPA__DONE;
  g->ready--;
  g->unfinished--;
  uint32_t w = g->waiters[at], e = g->nodes[at].member;
  g->waiters[at] = g->nodes[at].member = TWPA__NIL;
  leave_joins(g, e);
  if (seq == g->low + 1)
    advance(g);
  if (seq <= g->low)
    wake_passed(g, w);
  else
    wake(g, w);
}

/* --- early start ------------------------------------------------------------------------------------------------- */

void twpa__graph_executed(twpa__graph *g, uint64_t seq)
{
  size_t at = seq & g->mask;
  dequeue(g, seq);
  g->states[at] = TWPA__EXECUTED;
  if (!g->early) /* then everything is hung at once, too */
    return;
  uint32_t w = g->waiters[at];
  g->waiters[at] = TWPA__NIL;
  wake(g, w);
}

static bool is_early_behind(const twpa__graph *g, uint64_t to, uint64_t from)
{
  twpa__in_edge e;
  for (uint32_t cursor = 0; twpa__graph_next_in(g, &e, &cursor, to);)
    if (e.from == from && (e.meta & TWPA__META_EARLY) != 0)
      return true;
  return false;
}

bool twpa__graph_has_early_successor(const twpa__graph *g, uint64_t seq)
{
  if (!twpa__node_at(g, seq)->early_out)
    return false;
  for (uint64_t to = seq + 1; to <= g->last; to++)
    if (twpa__state_of(g, to) >= TWPA__EXECUTED && is_early_behind(g, to, seq))
      return true;
  return false;
}

void twpa__graph_revoke(twpa__graph *g, uint64_t seq)
{
  g->states[seq & g->mask] = TWPA__RUNNING;
  if (!twpa__node_at(g, seq)->early_out)
    return;
  for (uint64_t to = seq + 1; to <= g->last; to++) {
    uint8_t state = twpa__state_of(g, to);
    if ((state != TWPA__QUEUED && state != TWPA__RUNNING) || !is_early_behind(g, to, seq))
      continue;
    dequeue(g, to);
    g->states[to & g->mask] = TWPA__WAITING;
    g->ready--;
    (void)twpa__graph_hang(g, to);
  }
}
