/* The graph of a plan: pools, entering. See the header for the idea. */
#include "plan/graph.h"

#include "base/assert.h"

#include <string.h>

#define RING_MIN 64

TWPA__STATIC_ASSERT(sizeof(twpa__node) == 32, "two nodes are a cache line");
TWPA__STATIC_ASSERT(TWPA__NODE_EDGES == 4, "twpa__graph_enter and twpa__graph_after_plain name each");

void twpa__graph_init(twpa__graph *g, twpa__mem *mem, bool explain, bool early)
{
  memset(g, 0, sizeof *g);
  g->mem = mem;
  g->explain = explain;
  g->early = early;
  g->edge_free = g->join_free = g->ready_first = g->ready_last = TWPA__NIL;
}

/* --- the ring: its arrays one after the other in one block ------------------------------------------------------ */

#define BYTES_PER_NODE                                                                                                 \
  (sizeof(twpa__node) + sizeof(twpa__node_info) + sizeof(twpa__place) + sizeof(twpa__stamp) + sizeof(uint32_t) + 1)

static void carve(twpa__graph *g, unsigned char *block, size_t ring)
{
  g->nodes = (twpa__node *)(void *)block;
  block += ring * sizeof(twpa__node);
  g->infos = (twpa__node_info *)(void *)block;
  block += ring * sizeof(twpa__node_info);
  g->places = (twpa__place *)(void *)block;
  block += ring * sizeof(twpa__place);
  g->stamps = (twpa__stamp *)(void *)block;
  block += ring * sizeof(twpa__stamp);
  g->waiters = (uint32_t *)(void *)block;
  g->states = block + ring * sizeof(uint32_t);
  g->mask = ring - 1;
}

void twpa__graph_free(twpa__graph *g)
{
  size_t ring = g->nodes != NULL ? (size_t)g->mask + 1 : 0;
  twpa__release(g->mem, g->nodes, ring * BYTES_PER_NODE);
  twpa__release(g->mem, g->edges, g->edges_cap * sizeof *g->edges);
  twpa__release(g->mem, g->vias, g->vias_cap * sizeof *g->vias);
  twpa__release(g->mem, g->joins, g->joins_cap * sizeof *g->joins);
}

static twpa_status grow_ring(twpa__graph *g)
{
  size_t old = g->nodes != NULL ? (size_t)g->mask + 1 : 0;
  size_t ring = old > 0 ? old * 2 : RING_MIN;
  if (g->last + 1 - g->low < old)
    return TWPA_OK;
  if (ring > TWPA__WINDOW_MAX)
    return TWPA_E_LIMIT;
  unsigned char *block = twpa__zalloc(g->mem, ring * BYTES_PER_NODE);
  if (block == NULL)
    return TWPA_E_NOMEM;
  const twpa__graph from = *g;
  carve(g, block, ring);
  for (uint64_t seq = g->low + 1; old > 0 && seq <= g->last; seq++) {
    size_t to = seq & g->mask, at = seq & from.mask;
    g->nodes[to] = from.nodes[at];
    g->infos[to] = from.infos[at];
    g->places[to] = from.places[at];
    g->stamps[to] = from.stamps[at];
    g->waiters[to] = from.waiters[at];
    g->states[to] = from.states[at];
  }
  twpa__release(g->mem, from.nodes, old * BYTES_PER_NODE);
  return TWPA_OK;
}

/* --- pools ------------------------------------------------------------------------------------------------------- */

static twpa_status grow(twpa__mem *mem, void *items_ptr, size_t *cap, size_t need, size_t size)
{
  void *items;
  if (need <= *cap)
    return TWPA_OK;
  if (need >= TWPA__TO_JOIN)
    return TWPA_E_LIMIT;
  memcpy(&items, items_ptr, sizeof items);
  twpa_status st = twpa__array_reserve(mem, &items, cap, need, size);
  memcpy(items_ptr, &items, sizeof items);
  return st;
}

twpa_status twpa__graph_grow(twpa__graph *g, size_t edges, size_t joins)
{
  twpa_status st = grow_ring(g);
  size_t edge_need = g->pool_live + edges, join_need = g->joins_live + joins;
  if (st == TWPA_OK)
    st = grow(g->mem, &g->edges, &g->edges_cap, edge_need, sizeof *g->edges);
  if (st == TWPA_OK && g->explain)
    st = grow(g->mem, &g->vias, &g->vias_cap, g->edges_cap, sizeof *g->vias);
  if (st == TWPA_OK)
    st = grow(g->mem, &g->joins, &g->joins_cap, join_need, sizeof *g->joins);
  return st;
}

/* A new edge of the pool, in front of a list. */
static uint32_t pool_edge(twpa__graph *g, uint32_t *head, uint32_t from, uint32_t meta)
{
  uint32_t e = g->edge_free;
  if (e != TWPA__NIL)
    g->edge_free = g->edges[e].next;
  else
    e = g->edges_used++;
  TWPA__ASSERT(e < g->edges_cap);
  g->edges[e] = (twpa__pool_edge){*head, from, meta, TWPA__NIL, TWPA__NIL};
  *head = e;
  g->pool_live++;
  return e;
}

void twpa__graph_free_edge(twpa__graph *g, uint32_t e)
{
  g->edges[e].next = g->edge_free;
  g->edge_free = e;
  g->pool_live--;
}

/* --- walking over edges ------------------------------------------------------------------------------------------ */

/* The cursor: 0, then the number of edges in the node that are passed, then IN_POOL | position of the last one. */
bool twpa__graph_next_in(const twpa__graph *g, twpa__in_edge *edge, uint32_t *cursor, uint64_t seq)
{
  const twpa__node *n = twpa__node_at(g, seq);
  edge->join = TWPA__NIL;
  edge->via = NULL;
  if (*cursor < n->nin) {
    uint32_t e = n->in[(*cursor)++];
    edge->from = twpa__full_seq(g, e >> 4);
    edge->meta = e & 15;
    edge->fulfilled = twpa__is_fulfilled(g, edge->from, edge->meta);
    return true;
  }
  uint32_t e = (*cursor & TWPA__IN_POOL) != 0 ? g->edges[*cursor & ~TWPA__IN_POOL].next : n->more;
  if (e == TWPA__NIL)
    return false;
  *cursor = e | TWPA__IN_POOL;
  const twpa__pool_edge *p = &g->edges[e];
  edge->meta = p->meta;
  edge->via = g->explain ? &g->vias[e] : NULL;
  if ((p->from & TWPA__TO_JOIN) != 0) {
    edge->from = 0;
    edge->join = p->from & ~TWPA__TO_JOIN;
    edge->fulfilled = g->joins[edge->join].npred == 0;
  } else {
    edge->from = twpa__full_seq(g, p->from);
    edge->fulfilled = twpa__is_fulfilled(g, edge->from, p->meta);
  }
  return true;
}

uint32_t twpa__graph_unfulfilled(const twpa__graph *g, uint64_t seq)
{
  twpa__in_edge e;
  uint32_t cursor = 0, n = 0;
  while (twpa__state_of(g, seq) == TWPA__WAITING && twpa__graph_next_in(g, &e, &cursor, seq))
    n += !e.fulfilled;
  return n;
}

bool twpa__graph_is_member(const twpa__graph *g, uint64_t seq, uint32_t join)
{
  for (uint32_t e = twpa__node_at(g, seq)->member; e != TWPA__NIL; e = g->edges[e].next)
    if (g->edges[e].meta == join)
      return true;
  return false;
}

/* --- entering ---------------------------------------------------------------------------------------------------- */

/* An edge into the one that enters. */
static void add_edge(twpa__graph *g, twpa__node *n, uint32_t from, uint32_t meta, const twpa__via *via)
{
  g->edges_made++;
  g->by_type[meta & TWPA__META_TYPE]++;
  if (!g->explain && n->nin < TWPA__NODE_EDGES && (from & TWPA__TO_JOIN) == 0 && (meta & TWPA__META_UP_TO) == 0) {
    n->in[n->nin++] = from << 4 | meta;
    g->inline_live++;
    return;
  }
  uint32_t e = pool_edge(g, &n->more, from, meta);
  if (g->explain)
    g->vias[e] = via != NULL ? *via : (twpa__via){0};
}

/* Many predecessors: from now on each is stamped with its edge. (With explain from the first on.) */
static void stamp_all(twpa__graph *g, twpa__node *n)
{
  n->stamped = 1;
  for (uint32_t i = 0; i < n->nin; i++)
    g->stamps[twpa__full_seq(g, n->in[i] >> 4) & g->mask] = (twpa__stamp){(uint32_t)g->last, i};
}

/* The meta of the edge that there already is, or NULL. */
static uint32_t *edge_from(twpa__graph *g, twpa__node *n, uint32_t seq, bool *in_node)
{
  *in_node = true;
  if (!n->stamped) {
    for (uint32_t i = 0; i < n->nin; i++)
      if (n->in[i] >> 4 == (seq & TWPA__EDGE_SEQ))
        return &n->in[i];
    if (!g->explain && n->nin < TWPA__NODE_EDGES)
      return NULL;
    stamp_all(g, n);
  }
  const twpa__stamp *s = &g->stamps[seq & g->mask];
  if (s->self != (uint32_t)g->last)
    return NULL;
  *in_node = (s->edge & TWPA__IN_POOL) == 0;
  return *in_node ? &n->in[s->edge] : &g->edges[s->edge & ~TWPA__IN_POOL].meta;
}

void twpa__graph_after(twpa__graph *g, uint32_t seq, uint32_t meta, const twpa__via *via)
{
  if (seq == (uint32_t)g->last || (g->gaps && twpa__state_of(g, seq) == TWPA__DONE))
    return;
  twpa__node *n = twpa__node_at(g, g->last);
  bool in_node;
  uint32_t *there = edge_from(g, n, seq, &in_node);
  if (there != NULL) { /* two reasons: early only if both allow it */
    *there &= (meta & TWPA__META_EARLY) != 0 ? UINT32_MAX : ~TWPA__META_EARLY;
    return;
  }
  uint32_t i = n->nin;
  add_edge(g, n, seq & TWPA__EDGE_SEQ, meta, via);
  if (n->stamped)
    g->stamps[seq & g->mask] = (twpa__stamp){(uint32_t)g->last, i < n->nin ? i : n->more | TWPA__IN_POOL};
  if ((meta & TWPA__META_EARLY) != 0)
    twpa__node_at(g, seq)->early_out = 1;
}

void twpa__graph_after_join(twpa__graph *g, uint32_t join, uint32_t meta, const twpa__via *via)
{
  uint32_t self = (uint32_t)g->last;
  twpa__join *j = &g->joins[join];
  if (j->npred == 0)
    return;
  j->closed = 1;
  if (j->refs > 0 && j->stamp == self)
    return;
  j->refs++;
  j->stamp = self;
  add_edge(g, twpa__node_at(g, g->last), join | TWPA__TO_JOIN, meta & ~TWPA__META_EARLY, via);
}

void twpa__graph_after_all(twpa__graph *g, uint32_t seq)
{
  twpa__now now = twpa__graph_now(g);
  if (seq == now.seq)
    seq--;
  if (!twpa__is_live(now, seq))
    return;
  g->wait = g->waits ? twpa__newer(now, g->wait, seq) : seq;
  g->waits = true;
}

/* --- join nodes -------------------------------------------------------------------------------------------------- */

uint32_t twpa__graph_join_new(twpa__graph *g)
{
  uint32_t j = g->join_free;
  if (j != TWPA__NIL)
    g->join_free = g->joins[j].before;
  else
    j = g->joins_used++;
  TWPA__ASSERT(j < g->joins_cap);
  g->joins[j] = (twpa__join){.newest = (uint32_t)g->low,
                             .waiters = TWPA__NIL,
                             .members = TWPA__NIL,
                             .before = TWPA__NIL,
                             .behind = TWPA__NIL,
                             .held = 1,
                             .used = 1};
  g->joins_live++;
  g->joins_made++;
  return j;
}

void twpa__graph_free_join_if_unused(twpa__graph *g, uint32_t join)
{
  twpa__join *j = &g->joins[join];
  if (j->held || j->npred > 0 || j->refs > 0)
    return;
  j->used = 0;
  j->before = g->join_free;
  g->join_free = join;
  g->joins_live--;
}

void twpa__graph_join_add(twpa__graph *g, uint32_t join, uint32_t seq)
{
  twpa__join *j = &g->joins[join];
  TWPA__ASSERT(!j->closed);
  j->newest = twpa__newer(twpa__graph_now(g), j->newest, seq);
  if (twpa__state_of(g, seq) == TWPA__DONE)
    return;
  j->npred++;
  uint32_t e = pool_edge(g, &twpa__node_at(g, seq)->member, seq & TWPA__EDGE_SEQ, join);
  g->edges[e].next_in = j->members;
  if (j->members != TWPA__NIL)
    g->edges[j->members].prev_in = e;
  j->members = e;
}

void twpa__graph_join_open(twpa__graph *g, uint32_t *join)
{
  uint32_t old = *join;
  if (old == TWPA__NIL) {
    *join = twpa__graph_join_new(g);
    return;
  }
  twpa__join *j = &g->joins[old];
  if (!j->closed)
    return;
  if (j->npred == 0 && j->refs == 0) {
    j->closed = 0;
    return;
  }
  uint32_t fresh = twpa__graph_join_new(g);
  if (j->npred > 0) {
    g->joins[fresh].npred = 1;
    g->joins[fresh].newest = j->newest;
    g->joins[fresh].before = old;
    j->behind = fresh;
  }
  *join = fresh;
  twpa__graph_join_drop(g, old);
}

void twpa__graph_join_drop(twpa__graph *g, uint32_t join)
{
  g->joins[join].held = 0;
  twpa__graph_free_join_if_unused(g, join);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

static void hang_in(twpa__graph *g, uint32_t *head, uint64_t seq)
{
  g->places[seq & g->mask].next = *head;
  *head = (uint32_t)seq & TWPA__EDGE_SEQ;
}

/* The newest predecessor that is not done; 0: none. */
static uint64_t newest_in_node(const twpa__graph *g, const twpa__node *n, uint64_t newest)
{
  for (uint32_t i = 0; i < n->nin; i++) {
    uint64_t from = twpa__full_seq(g, n->in[i] >> 4);
    if (from > newest && !twpa__is_fulfilled(g, from, n->in[i] & 15))
      newest = from;
  }
  return newest;
}

bool twpa__graph_hang(twpa__graph *g, uint64_t seq)
{
  const twpa__node *n = twpa__node_at(g, seq);
  uint64_t newest = 0;
  for (uint32_t e = n->more; e != TWPA__NIL; e = g->edges[e].next) {
    const twpa__pool_edge *p = &g->edges[e];
    if ((p->from & TWPA__TO_JOIN) != 0) {
      twpa__join *j = &g->joins[p->from & ~TWPA__TO_JOIN];
      if (j->npred == 0)
        continue;
      hang_in(g, &j->waiters, seq);
      return true;
    }
    uint64_t from = twpa__full_seq(g, p->from);
    if (twpa__is_fulfilled(g, from, p->meta))
      continue;
    if ((p->meta & TWPA__META_UP_TO) != 0) {
      hang_in(g, &twpa__node_at(g, from)->passing, seq);
      return true;
    }
    newest = from > newest ? from : newest;
  }
  newest = newest_in_node(g, n, newest);
  if (newest == 0)
    return false;
  hang_in(g, &g->waiters[newest & g->mask], seq);
  return true;
}

void twpa__graph_wait_for_all(twpa__graph *g, uint64_t seq)
{
  const uint32_t from = (uint32_t)(seq - 1) & TWPA__EDGE_SEQ;
  twpa__node *n = twpa__node_at(g, seq);
  if (n->more != TWPA__NIL && g->edges[n->more].from == from && (g->edges[n->more].meta & TWPA__META_UP_TO) != 0)
    return; /* it does already */
  uint32_t e = pool_edge(g, &n->more, from, TWPA_EDGE_UNKNOWN | TWPA__META_UP_TO);
  if (g->explain)
    g->vias[e] = (twpa__via){0};
  g->edges_made++;
  g->by_type[TWPA_EDGE_UNKNOWN]++;
  if (seq > g->linked)
    g->linked = seq;
}

uint32_t twpa__graph_enter_end_slow(twpa__graph *g)
{
  uint64_t seq = g->last;
  twpa__node *n = twpa__node_at(g, seq);
  if (g->waits)
    add_edge(g, n, g->wait & TWPA__EDGE_SEQ, TWPA_EDGE_UNKNOWN | TWPA__META_UP_TO, NULL);
  if (!twpa__graph_hang(g, seq)) {
    g->states[seq & g->mask] = TWPA__RUNNING;
    g->ready++;
    return 0;
  }
  return twpa__graph_unfulfilled(g, seq);
}
