/* The graph of a plan: entering, finishing, pools. See the header for the idea. */
#include "plan/graph.h"

#include "base/assert.h"

#include <string.h>

#define SEQ_BITS (TWPA__TO_JOIN - 1)
#define RING_MIN 64

TWPA__STATIC_ASSERT(sizeof(twpa__node) == 64, "a node is a cache line");

void twpa__graph_init(twpa__graph *g, twpa__mem *mem, bool explain)
{
  memset(g, 0, sizeof *g);
  g->mem = mem;
  g->explain = explain;
  g->edge_free = g->join_free = g->ready_first = g->ready_last = TWPA__NIL;
}

void twpa__graph_free(twpa__graph *g)
{
  size_t ring = g->nodes != NULL ? (size_t)g->mask + 1 : 0;
  twpa__release(g->mem, g->nodes, ring * sizeof *g->nodes);
  twpa__release(g->mem, g->infos, ring * sizeof *g->infos);
  twpa__release(g->mem, g->edges, g->edges_cap * sizeof *g->edges);
  twpa__release(g->mem, g->vias, g->vias_cap * sizeof *g->vias);
  twpa__release(g->mem, g->joins, g->joins_cap * sizeof *g->joins);
}

/* --- pools ----------------------------------------------------------------------------------------------------- */

static twpa_status grow_ring(twpa__graph *g)
{
  size_t old = g->nodes != NULL ? (size_t)g->mask + 1 : 0;
  size_t ring = old > 0 ? old * 2 : RING_MIN;
  if (g->last + 1 - g->low < old)
    return TWPA_OK;
  if (ring > TWPA__WINDOW_MAX)
    return TWPA_E_LIMIT;
  twpa__node *nodes = twpa__alloc(g->mem, ring * sizeof *nodes);
  twpa__node_info *infos = nodes != NULL ? twpa__alloc(g->mem, ring * sizeof *infos) : NULL;
  if (infos == NULL) {
    twpa__release(g->mem, nodes, ring * sizeof *nodes);
    return TWPA_E_NOMEM;
  }
  memset(nodes, 0, ring * sizeof *nodes);
  memset(infos, 0, ring * sizeof *infos);
  for (uint64_t seq = g->low + 1; old > 0 && seq <= g->last; seq++) {
    nodes[seq & (ring - 1)] = g->nodes[seq & g->mask];
    infos[seq & (ring - 1)] = g->infos[seq & g->mask];
  }
  twpa__release(g->mem, g->nodes, old * sizeof *nodes);
  twpa__release(g->mem, g->infos, old * sizeof *infos);
  g->nodes = nodes;
  g->infos = infos;
  g->mask = ring - 1;
  return TWPA_OK;
}

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

twpa_status twpa__graph_reserve(twpa__graph *g, size_t edges, size_t joins)
{
  twpa_status st = grow_ring(g);
  /* What is free in the chain counts too: used - live of the high-water mark are free. */
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
static uint32_t pool_edge(twpa__graph *g, uint32_t *head, uint32_t to, uint32_t meta)
{
  uint32_t e = g->edge_free;
  if (e != TWPA__NIL)
    g->edge_free = g->edges[e].next;
  else
    e = g->edges_used++;
  TWPA__ASSERT(e < g->edges_cap);
  g->edges[e] = (twpa__pool_edge){*head, to, meta};
  *head = e | TWPA__EDGE_POOL;
  g->pool_live++;
  g->edges_live++;
  return e;
}

static void edge_free(twpa__graph *g, uint32_t ref)
{
  g->edges_live--;
  if ((ref & TWPA__EDGE_POOL) == 0)
    return;
  uint32_t e = ref & ~TWPA__EDGE_POOL;
  g->edges[e].next = g->edge_free;
  g->edge_free = e;
  g->pool_live--;
}

/* --- explain: edges by successor ------------------------------------------------------------------------------- */

static uint32_t *in_edges_of(twpa__graph *g, uint32_t target)
{
  if ((target & TWPA__TO_JOIN) != 0)
    return &g->joins[target & SEQ_BITS].in_edges;
  return &twpa__info_at(g, target)->in_edges;
}

static void via_set(twpa__graph *g, uint32_t e, uint32_t from, const twpa__via *via)
{
  if (!g->explain)
    return;
  twpa__via *v = &g->vias[e];
  uint32_t *head = in_edges_of(g, g->edges[e].to);
  memset(v, 0, sizeof *v);
  if (via != NULL)
    *v = *via;
  v->from = from;
  v->next_in = *head;
  v->prev_in = TWPA__NIL;
  if (*head != TWPA__NIL)
    g->vias[*head].prev_in = e;
  *head = e;
}

static void via_unlink(twpa__graph *g, uint32_t ref)
{
  if (!g->explain)
    return;
  uint32_t e = ref & ~TWPA__EDGE_POOL;
  const twpa__via *v = &g->vias[e];
  if (v->next_in != TWPA__NIL)
    g->vias[v->next_in].prev_in = v->prev_in;
  if (v->prev_in != TWPA__NIL)
    g->vias[v->prev_in].next_in = v->next_in;
  else
    *in_edges_of(g, g->edges[e].to) = v->next_in;
}

/* An edge to the one that enters, in front of a list of its predecessor. */
static void edge_to_self(twpa__graph *g, uint32_t *head, uint32_t meta, uint32_t from, const twpa__via *via)
{
  twpa__node *n = twpa__node_at(g, g->last);
  g->edges_made++;
  g->by_type[meta & TWPA__META_TYPE]++;
  if (!g->explain && n->nin < TWPA__NODE_EDGES) {
    uint32_t i = n->nin++;
    n->in[i] = *head;
    n->metas |= meta << (4 * i);
    *head = ((uint32_t)g->last & (UINT32_MAX >> 4)) << 3 | i;
    g->edges_live++;
    return;
  }
  via_set(g, pool_edge(g, head, (uint32_t)g->last & SEQ_BITS, meta), from, via);
}

static void never_early(twpa__graph *g, uint32_t ref)
{
  if ((ref & TWPA__EDGE_POOL) != 0)
    g->edges[ref & ~TWPA__EDGE_POOL].meta &= ~TWPA__META_EARLY;
  else
    twpa__node_at(g, twpa__edge_seq(g, ref))->metas &= ~(TWPA__META_EARLY << (4 * (ref & 7)));
}

/* --- entering -------------------------------------------------------------------------------------------------- */

uint64_t twpa__graph_enter(twpa__graph *g)
{
  uint64_t seq = ++g->last;
  twpa__node *n = twpa__node_at(g, seq);
  memset(n, 0, sizeof *n);
  n->edges = n->waiters = n->next = TWPA__NIL;
  n->state = TWPA__WAITING;
  n->stamp = (uint32_t)seq; /* no successor has its number */
  twpa__node_info *info = twpa__info_at(g, seq);
  memset(info, 0, sizeof *info);
  info->in_edges = info->blame = TWPA__NIL;
  g->wait = (uint32_t)g->low;
  g->waits = false;
  g->unfinished++;
  return seq;
}

twpa__now twpa__graph_now(const twpa__graph *g)
{
  return (twpa__now){(uint32_t)g->last, (uint32_t)(g->last - g->low)};
}

void twpa__graph_after(twpa__graph *g, uint32_t seq, uint32_t meta, const twpa__via *via)
{
  uint32_t self = (uint32_t)g->last;
  if (seq == self)
    return;
  twpa__node *p = twpa__node_at(g, seq);
  if (p->state == TWPA__DONE)
    return;
  twpa__node *n = twpa__node_at(g, g->last);
  if (p->stamp == self) {
    if ((meta & TWPA__META_EARLY) == 0 && (twpa__edge_at(g, p->stamp_edge).meta & TWPA__META_EARLY) != 0) {
      never_early(g, p->stamp_edge);
      n->npred += p->state == TWPA__EXECUTED;
    }
    return;
  }
  edge_to_self(g, &p->edges, meta, seq & SEQ_BITS, via);
  p->stamp = self;
  p->stamp_edge = p->edges;
  n->npred += !(p->state == TWPA__EXECUTED && (meta & TWPA__META_EARLY) != 0);
}

void twpa__graph_after_join(twpa__graph *g, uint32_t join, uint32_t meta, const twpa__via *via)
{
  uint32_t self = (uint32_t)g->last;
  twpa__join *j = &g->joins[join];
  if (j->npred == 0)
    return;
  j->closed = 1;
  if (j->edges != TWPA__NIL && j->stamp == self)
    return;
  edge_to_self(g, &j->edges, meta & ~TWPA__META_EARLY, join | TWPA__TO_JOIN, via);
  j->stamp = self;
  twpa__node_at(g, g->last)->npred++;
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

uint32_t twpa__graph_join_new(twpa__graph *g)
{
  uint32_t j = g->join_free;
  if (j != TWPA__NIL)
    g->join_free = g->joins[j].edges;
  else
    j = g->joins_used++;
  TWPA__ASSERT(j < g->joins_cap);
  memset(&g->joins[j], 0, sizeof g->joins[j]);
  g->joins[j].edges = g->joins[j].in_edges = TWPA__NIL;
  g->joins[j].held = g->joins[j].used = 1;
  g->joins[j].newest = (uint32_t)g->low;
  g->joins_live++;
  g->joins_made++;
  return j;
}

static void join_free(twpa__graph *g, uint32_t join)
{
  g->joins[join].used = 0;
  g->joins[join].edges = g->join_free;
  g->join_free = join;
  g->joins_live--;
}

void twpa__graph_join_add(twpa__graph *g, uint32_t join, uint32_t seq, const twpa__via *via)
{
  twpa__join *j = &g->joins[join];
  twpa__node *n = twpa__node_at(g, seq);
  TWPA__ASSERT(!j->closed);
  j->newest = twpa__newer(twpa__graph_now(g), j->newest, seq);
  if (n->state == TWPA__DONE)
    return;
  j->npred++;
  via_set(g, pool_edge(g, &n->edges, join | TWPA__TO_JOIN, 0), seq & SEQ_BITS, via);
}

static void join_chain(twpa__graph *g, uint32_t before, uint32_t join, uint32_t meta)
{
  twpa__join *b = &g->joins[before];
  g->joins[join].npred++;
  g->joins[join].newest = b->newest;
  via_set(g, pool_edge(g, &b->edges, join | TWPA__TO_JOIN, meta), before | TWPA__TO_JOIN, NULL);
}

void twpa__graph_join_open(twpa__graph *g, uint32_t *join, uint32_t meta)
{
  uint32_t old = *join;
  if (old == TWPA__NIL) {
    *join = twpa__graph_join_new(g);
  } else if (g->joins[old].npred == 0) {
    g->joins[old].closed = 0;
  } else if (g->joins[old].closed) {
    *join = twpa__graph_join_new(g);
    join_chain(g, old, *join, meta);
    twpa__graph_join_drop(g, old);
  }
}

void twpa__graph_join_drop(twpa__graph *g, uint32_t join)
{
  g->joins[join].held = 0;
  if (g->joins[join].npred == 0)
    join_free(g, join);
}

uint32_t twpa__graph_enter_end(twpa__graph *g)
{
  twpa__node *n = twpa__node_at(g, g->last);
  if (g->waits) {
    twpa__node *at = twpa__node_at(g, g->wait);
    n->prev = g->wait;
    n->waits = 1;
    n->next = at->waiters;
    at->waiters = (uint32_t)g->last & SEQ_BITS;
    n->npred++;
    g->edges_made++;
    g->by_type[TWPA_EDGE_UNKNOWN]++;
  }
  if (n->npred == 0) {
    n->state = TWPA__RUNNING;
    g->ready++;
  }
  return n->npred;
}

/* --- finishing ------------------------------------------------------------------------------------------------- */

static void enqueue(twpa__graph *g, uint64_t seq)
{
  uint32_t low_bits = (uint32_t)seq & SEQ_BITS;
  twpa__node *n = twpa__node_at(g, seq);
  n->queued = 1;
  n->next = TWPA__NIL;
  n->prev = g->ready_last;
  if (g->ready_last == TWPA__NIL)
    g->ready_first = low_bits;
  else
    twpa__node_at(g, g->ready_last)->next = low_bits;
  g->ready_last = low_bits;
}

static void dequeue(twpa__graph *g, uint64_t seq)
{
  twpa__node *n = twpa__node_at(g, seq);
  if (!n->queued)
    return;
  n->queued = 0;
  if (n->prev == TWPA__NIL)
    g->ready_first = n->next;
  else
    twpa__node_at(g, n->prev)->next = n->next;
  if (n->next == TWPA__NIL)
    g->ready_last = n->prev;
  else
    twpa__node_at(g, n->next)->prev = n->prev;
}

static void release_node(twpa__graph *g, uint32_t low_bits)
{
  uint64_t seq = twpa__full_seq(g, low_bits);
  twpa__node *n = twpa__node_at(g, seq);
  TWPA__ASSERT(n->npred > 0);
  if (--n->npred > 0)
    return;
  n->state = TWPA__RUNNING;
  g->ready++;
  enqueue(g, seq);
}

/* Fulfils the edges of a list. Join nodes that are done by it are chained through `newest` and worked off here. */
static void fulfil(twpa__graph *g, uint32_t e, bool early_are_fulfilled)
{
  uint32_t pending = TWPA__NIL;
  for (;;) {
    while (e != TWPA__NIL) {
      const twpa__edge edge = twpa__edge_at(g, e);
      via_unlink(g, e);
      edge_free(g, e);
      e = edge.next;
      if ((edge.to & TWPA__TO_JOIN) == 0) {
        if (!(early_are_fulfilled && (edge.meta & TWPA__META_EARLY) != 0))
          release_node(g, edge.to);
        continue;
      }
      twpa__join *j = &g->joins[edge.to & SEQ_BITS];
      TWPA__ASSERT(j->npred > 0);
      if (--j->npred == 0 && (j->edges != TWPA__NIL || !j->held)) {
        j->stamp = pending;
        pending = edge.to & SEQ_BITS;
      }
    }
    if (pending == TWPA__NIL)
      return;
    twpa__join *j = &g->joins[pending];
    uint32_t join = pending;
    pending = j->stamp;
    e = j->edges;
    j->edges = TWPA__NIL;
    early_are_fulfilled = false;
    if (!j->held)
      join_free(g, join);
  }
}

/* The low watermark passes what is done in front; whoever waited for that is let go. */
static void advance(twpa__graph *g)
{
  while (g->low < g->last && twpa__node_at(g, g->low + 1)->state == TWPA__DONE) {
    twpa__node *n = twpa__node_at(g, ++g->low);
    for (uint32_t w = n->waiters; w != TWPA__NIL;) {
      twpa__node *waiter = twpa__node_at(g, w);
      uint32_t next = waiter->next;
      waiter->waits = 0;
      release_node(g, w);
      w = next;
    }
    n->waiters = TWPA__NIL;
  }
}

/* Transactions mostly finish in their order: what the next ones will touch starts on its way into the cache. */
static void look_ahead(const twpa__graph *g, uint64_t seq)
{
#if defined(__GNUC__)
  if (seq + 6 > g->last)
    return;
  uint32_t far = twpa__node_at(g, seq + 6)->edges, near = twpa__node_at(g, seq + 3)->edges;
  if ((far & TWPA__EDGE_POOL) == 0)
    __builtin_prefetch(twpa__node_at(g, twpa__edge_seq(g, far)), 1);
  if ((near & TWPA__EDGE_POOL) == 0) {
    uint32_t second = twpa__node_at(g, twpa__edge_seq(g, near))->in[near & 7];
    if ((second & TWPA__EDGE_POOL) == 0)
      __builtin_prefetch(twpa__node_at(g, twpa__edge_seq(g, second)), 1);
  }
#else
  (void)g, (void)seq;
#endif
}

void twpa__graph_done(twpa__graph *g, uint64_t seq)
{
  twpa__node *n = twpa__node_at(g, seq);
  TWPA__ASSERT(n->npred == 0 && n->state != TWPA__DONE);
  bool executed = n->state == TWPA__EXECUTED;
  look_ahead(g, seq);
  dequeue(g, seq);
  n->state = TWPA__DONE;
  g->ready--;
  g->unfinished--;
  uint32_t e = n->edges;
  n->edges = TWPA__NIL;
  fulfil(g, e, executed);
  advance(g);
}

void twpa__graph_executed(twpa__graph *g, uint64_t seq)
{
  twpa__node *n = twpa__node_at(g, seq);
  dequeue(g, seq);
  n->state = TWPA__EXECUTED;
  for (uint32_t e = n->edges; e != TWPA__NIL;) {
    const twpa__edge edge = twpa__edge_at(g, e);
    if ((edge.to & TWPA__TO_JOIN) == 0 && (edge.meta & TWPA__META_EARLY) != 0)
      release_node(g, edge.to);
    e = edge.next;
  }
}

void twpa__graph_revoke(twpa__graph *g, uint64_t seq)
{
  twpa__node *n = twpa__node_at(g, seq);
  n->state = TWPA__RUNNING;
  for (uint32_t e = n->edges; e != TWPA__NIL;) {
    const twpa__edge edge = twpa__edge_at(g, e);
    e = edge.next;
    if ((edge.to & TWPA__TO_JOIN) != 0 || (edge.meta & TWPA__META_EARLY) == 0)
      continue;
    twpa__node *to = twpa__node_at(g, edge.to);
    if (to->npred++ == 0) {
      dequeue(g, twpa__full_seq(g, edge.to));
      to->state = TWPA__WAITING;
      g->ready--;
    }
  }
}

void twpa__graph_link(twpa__graph *g, uint64_t from, uint64_t to, uint32_t meta)
{
  twpa__node_at(g, to)->npred++;
  g->edges_made++;
  g->by_type[meta & TWPA__META_TYPE]++;
  via_set(g, pool_edge(g, &twpa__node_at(g, from)->edges, (uint32_t)to & SEQ_BITS, meta), (uint32_t)from & SEQ_BITS, NULL);
}

uint64_t twpa__graph_next_ready(twpa__graph *g)
{
  if (g->ready_first == TWPA__NIL)
    return 0;
  uint64_t seq = twpa__full_seq(g, g->ready_first);
  dequeue(g, seq);
  return seq;
}
