/*
 * The graph of a plan: a node per transaction above the low watermark, edges from earlier to later ones, join nodes.
 *
 * Nodes lie in a ring by sequence number. An edge is kept where it ends, in the node of the later transaction, once for
 * each predecessor, however many reasons there are (a second reason only weakens it: early start needs every reason to
 * allow it). A transaction that waits does not count its predecessors down. It *hangs* at one of them that is not done,
 * the newest, and looks again when that one is. Mostly nothing is left then: what commits in order is done up to the low
 * watermark. So a predecessor costs a comparison, not a visit, and a transaction is woken once instead of once for each
 * edge.
 *
 * A *join node* stands for many transactions that are waited for together: readers of a key, users of a relation, those
 * that gave something unknown free. It counts its members that are not done; waiters hang at it as a whole. Who takes an
 * edge from a join node closes it; members that come later need a new one, chained behind it (rule 1.5). It is used
 * again when no edge refers to it any more.
 *
 * A dependency on everything up to a number is an edge of its own kind; the waiter hangs in a second list at the node of
 * that number, and is let go when the low watermark passes it. One suffices, the highest.
 *
 * What a walk over all predecessors or members needs is there; a walk over successors looks through all later nodes.
 * Only failures need that, and drawings.
 *
 * The first edges lie in the node, further ones, memberships of join nodes, and all edges with explain in a pool. Pool,
 * join nodes and ring grow and are recycled: nothing is allocated in the steady state. All growth happens in
 * twpa__graph_reserve, before a transaction enters.
 */
#ifndef TWPA_PLAN_GRAPH_H
#define TWPA_PLAN_GRAPH_H

#include "base/alloc.h"
#include "plan/conflicts.h"

#include <twpa/plan.h>

#define TWPA__NIL UINT32_MAX
#define TWPA__TO_JOIN UINT32_C(0x80000000) /* in a predecessor: a join node; else the low bits of a sequence number */
#define TWPA__WINDOW_MAX (UINT32_C(1) << 27)

/*
 * An edge in 32 bits: 28 of the predecessor's number, 4 of meta. A predecessor was less than one window behind when the
 * edge was made, and the successor leaves the graph within another: 2^28 numbers tell them apart.
 */
#define TWPA__META_TYPE UINT32_C(7)
#define TWPA__META_EARLY UINT32_C(8)
#define TWPA__META_UP_TO UINT32_C(16) /* in the pool only */
#define TWPA__EDGE_SEQ (UINT32_MAX >> 4)
#define TWPA__NODE_EDGES 4

enum { TWPA__WAITING, TWPA__QUEUED, TWPA__RUNNING, TWPA__EXECUTED, TWPA__DONE };
/* QUEUED: nothing is left to wait for, and nobody has taken it from the queue. RUNNING: somebody has. */

typedef struct twpa__node {
  uint32_t in[TWPA__NODE_EDGES]; /* edges into it; those not in use: from itself */
  uint32_t more;                 /* further ones: first in the pool, or NIL */
  uint32_t member;               /* first of its memberships in the pool, or NIL */
  uint32_t passing;              /* first that waits for the low watermark to pass here: low bits, or NIL */
  uint8_t nin;
  uint8_t stamped;   /* its predecessors are stamped: there are many */
  uint8_t early_out; /* an edge out of it may be early */
  uint8_t reserved;
} twpa__node;

/* What is seldom looked at. */
typedef struct twpa__node_info {
  uint64_t end_lsn, origin, keys, payload;
  uint32_t blame; /* the record of an index that optimism concerned, or NIL */
  uint32_t reserved;
} twpa__node_info;

/* Neighbours in a list of waiters (next only), or in the queue of ready ones: low bits, or NIL. */
typedef struct twpa__place {
  uint32_t next, prev;
} twpa__place;

/* The last successor that a predecessor was linked with (low half), and by which edge: position in the node or pool. */
typedef struct twpa__stamp {
  uint32_t self, edge;
} twpa__stamp;

#define TWPA__IN_POOL UINT32_C(0x80000000) /* in twpa__stamp.edge */

/* An edge, or a membership of a join node. */
typedef struct twpa__pool_edge {
  uint32_t next; /* of the same node, or free */
  uint32_t from; /* edge: predecessor, low bits or TWPA__TO_JOIN | join node. Membership: the member, low bits */
  uint32_t meta; /* edge: TWPA__META_*. Membership: the join node */
  uint32_t next_in, prev_in; /* membership: the others of the join node, newest first */
} twpa__pool_edge;

/* With explain: beside each edge. */
typedef struct twpa__via {
  uint64_t relation, index, key;
  uint32_t kind;
  uint16_t from_mode, to_mode;
} twpa__via;

typedef struct twpa__join {
  uint32_t npred;   /* members not done, and the join node before */
  uint32_t newest;  /* number of the newest member, low half */
  uint32_t waiters; /* first that hangs here: low bits, or NIL */
  uint32_t members; /* newest, in the pool, or NIL */
  uint32_t before, behind; /* chained, or NIL; before also chains free ones */
  uint32_t refs;    /* edges that refer to it */
  uint32_t stamp;   /* with refs: low half of the last one that took an edge */
  uint8_t held;     /* somebody may still join or take */
  uint8_t closed;
  uint8_t used;
  uint8_t reserved;
} twpa__join;

typedef struct twpa__graph {
  twpa__mem *mem;
  bool explain;
  bool early;            /* there may be early edges */
  uint8_t *states;       /* these six by sequence number, all in one block */
  uint32_t *waiters;     /* first that hangs at it: low bits, or NIL */
  twpa__place *places;
  twpa__node *nodes;
  twpa__node_info *infos;
  twpa__stamp *stamps;
  uint64_t mask;         /* of the ring */
  uint64_t low;          /* low watermark */
  uint64_t last;         /* newest that entered */
  uint64_t linked;       /* newest that got an edge after it had entered */
  twpa__pool_edge *edges;
  twpa__via *vias;
  uint32_t edges_used, edge_free; /* used: high-water mark of the pool; free: chained by next */
  size_t edges_cap, vias_cap, pool_live;
  uint64_t inline_live;           /* edges in nodes */
  twpa__join *joins;
  uint32_t joins_used, join_free;
  size_t joins_cap, joins_live;
  uint32_t ready_first, ready_last; /* queue */
  uint64_t ready;                   /* unfinished, without predecessor */
  uint64_t unfinished;
  uint64_t edges_made, by_type[8], joins_made;
  uint64_t unhung;    /* the newest transaction, if it has yet to be hung, else 0 ... */
  uint64_t unhung_at; /* ... at this one */
  uint32_t wait; /* of the one that enters: the highest number waited for, low half */
  bool waits;
  bool gaps;     /* something above the low watermark is done */
} twpa__graph;

void twpa__graph_init(twpa__graph *g, twpa__mem *mem, bool explain, bool early);
void twpa__graph_free(twpa__graph *g);
/* Room for one more node, so many edges (memberships are edges too) and join nodes. TWPA_E_LIMIT, TWPA_E_NOMEM. */
twpa_status twpa__graph_grow(twpa__graph *g, size_t edges, size_t joins);

static inline twpa_status twpa__graph_reserve(twpa__graph *g, size_t edges, size_t joins)
{
  /* What is free in the chains counts too: used - live of the high-water mark are free. */
  if (g->last - g->low < g->mask && g->pool_live + edges <= g->edges_cap && g->joins_live + joins <= g->joins_cap &&
      (!g->explain || g->vias_cap >= g->edges_cap))
    return TWPA_OK;
  return twpa__graph_grow(g, edges, joins);
}

static inline twpa__node *twpa__node_at(const twpa__graph *g, uint64_t seq)
{
  return &g->nodes[seq & g->mask];
}

static inline twpa__node_info *twpa__info_at(const twpa__graph *g, uint64_t seq)
{
  return &g->infos[seq & g->mask];
}

/* TWPA__WAITING ...; of one above the low watermark. */
static inline uint8_t twpa__state_of(const twpa__graph *g, uint64_t seq)
{
  return g->states[seq & g->mask];
}

/* The full number from its low bits: 28 of them if it is not more than two windows behind the last one. */
static inline uint64_t twpa__full_seq(const twpa__graph *g, uint32_t low_bits)
{
  return g->last - (((uint32_t)g->last - low_bits) & TWPA__EDGE_SEQ);
}

/* Has the transaction nothing to wait for in an edge of this kind? */
static inline bool twpa__is_fulfilled(const twpa__graph *g, uint64_t seq, uint32_t meta)
{
  if (seq <= g->low)
    return true;
  if ((meta & TWPA__META_UP_TO) != 0)
    return false;
  uint8_t state = twpa__state_of(g, seq);
  return state == TWPA__DONE || (state == TWPA__EXECUTED && (meta & TWPA__META_EARLY) != 0);
}

/* A walk over the edges into a transaction. */
typedef struct twpa__in_edge {
  uint64_t from;        /* the predecessor; 0: a join node */
  uint32_t join;        /* if so: which */
  uint32_t meta;
  bool fulfilled;
  const twpa__via *via; /* NULL: not kept */
} twpa__in_edge;

/* The next edge into it; *cursor is 0 at the beginning. False at the end. Takes no notice of what is done. */
bool twpa__graph_next_in(const twpa__graph *g, twpa__in_edge *edge, uint32_t *cursor, uint64_t seq);
/* How many of these are not fulfilled. */
uint32_t twpa__graph_unfulfilled(const twpa__graph *g, uint64_t seq);
/* Is the transaction a member of this join node? */
bool twpa__graph_is_member(const twpa__graph *g, uint64_t seq, uint32_t join);

/* Hangs the one that has yet to be. Before anything is done about the one that it hangs at. */
static inline void twpa__graph_settle(twpa__graph *g)
{
  if (g->unhung == 0)
    return;
  uint32_t *head = &g->waiters[g->unhung_at & g->mask];
  g->places[g->unhung & g->mask].next = *head;
  *head = (uint32_t)g->unhung & TWPA__EDGE_SEQ;
  g->unhung = 0;
}

/* The next transaction: reserved before. All that follows until twpa__graph_enter_end is about it. */
static inline uint64_t twpa__graph_enter(twpa__graph *g)
{
  twpa__graph_settle(g);
  g->gaps = g->last - g->low != g->unfinished;
  uint64_t seq = ++g->last;
  size_t at = seq & g->mask;
  const uint32_t none = (uint32_t)seq << 4;
  g->nodes[at] = (twpa__node){.in = {none, none, none, none}, .more = TWPA__NIL, .member = TWPA__NIL, .passing = TWPA__NIL};
  g->waiters[at] = TWPA__NIL;
  g->states[at] = TWPA__WAITING;
  g->infos[at].blame = TWPA__NIL;
  g->stamps[at].self = (uint32_t)seq; /* no successor has its number */
  g->waits = false;
  g->unfinished++;
  return seq;
}

static inline twpa__now twpa__graph_now(const twpa__graph *g)
{
  return (twpa__now){(uint32_t)g->last, (uint32_t)(g->last - g->low)};
}

/*
 * Mostly nobody wants explanations or early starts, and nothing is done out of turn; and mostly the edges fit into the
 * node. Then twpa__graph_after_plain does what twpa__graph_after does, and has no branches: whether there is a
 * dependency at all, and whether it is known already, cannot be predicted. Returns the number of new edges, of which
 * twpa__graph_after_plain_end has to be told.
 */
static inline bool twpa__graph_is_plain(const twpa__graph *g)
{
  return !g->explain && !g->early && !g->gaps;
}

static inline uint32_t twpa__graph_after_plain(twpa__node *n, uint32_t self, uint32_t seq, uint32_t type, bool there)
{
  const uint32_t edge = seq << 4 | type;
  const uint32_t known = ((n->in[0] ^ edge) < 16) | ((n->in[1] ^ edge) < 16) | ((n->in[2] ^ edge) < 16) |
                         ((n->in[3] ^ edge) < 16); /* itself, too: that is what those not in use are */
  const uint32_t fresh = there & (known ^ 1);
  n->in[n->nin] = fresh != 0 ? edge : self << 4;
  n->nin = (uint8_t)(n->nin + fresh);
  return fresh;
}

static inline void twpa__graph_after_plain_end(twpa__graph *g, uint32_t type, uint32_t made)
{
  g->edges_made += made;
  g->by_type[type] += made;
  g->inline_live += made;
}

/* It depends on another, live one (its own number is ignored). via may be NULL. */
void twpa__graph_after(twpa__graph *g, uint32_t seq, uint32_t meta, const twpa__via *via);
/* It depends on the members of a join node, which is closed by that. */
void twpa__graph_after_join(twpa__graph *g, uint32_t join, uint32_t meta, const twpa__via *via);
/* It depends on all up to a number; dead ones do nothing, its own means all before it. */
void twpa__graph_after_all(twpa__graph *g, uint32_t seq);
/* A new join node, held. */
uint32_t twpa__graph_join_new(twpa__graph *g);
/* An open join node in the place of *join (which may be NIL): the same, emptied, or one chained behind it. */
void twpa__graph_join_open(twpa__graph *g, uint32_t *join);
/* A live transaction (the one that enters, too) becomes a member. */
void twpa__graph_join_add(twpa__graph *g, uint32_t join, uint32_t seq);
/* Nobody will join or take any more. */
void twpa__graph_join_drop(twpa__graph *g, uint32_t join);
/* Finds out whether it waits; returns for how many. */
uint32_t twpa__graph_enter_end_slow(twpa__graph *g);

static inline uint32_t twpa__graph_enter_end(twpa__graph *g)
{
  const uint64_t seq = g->last;
  const twpa__node *n = twpa__node_at(g, seq);
  if (g->waits || n->more != TWPA__NIL || g->early)
    return twpa__graph_enter_end_slow(g);
  if (n->nin == 0) {
    g->states[seq & g->mask] = TWPA__RUNNING;
    g->ready++;
    return 0;
  }
  /* Mostly: none of them is done, and it hangs at the newest when its place has come into the cache. */
  uint32_t nearest = UINT32_MAX;
  for (uint32_t i = 0; i < TWPA__NODE_EDGES; i++) {
    uint32_t behind = ((uint32_t)(seq - 1) - (n->in[i] >> 4)) & TWPA__EDGE_SEQ; /* of itself: large */
    nearest = behind < nearest ? behind : nearest;
  }
  g->unhung = seq;
  g->unhung_at = seq - 1 - nearest;
  TWPA__PREFETCH(&g->waiters[g->unhung_at & g->mask]);
  return n->nin;
}

static inline bool twpa__join_is_empty(const twpa__graph *g, uint32_t join)
{
  return g->joins[join].npred == 0;
}

/* Recycling; for graph.c and graph_done.c. */
void twpa__graph_free_edge(twpa__graph *g, uint32_t e);
void twpa__graph_free_join_if_unused(twpa__graph *g, uint32_t join);
/* The transaction hangs itself at something that it has to wait for; false if there is nothing. */
bool twpa__graph_hang(twpa__graph *g, uint64_t seq);

/* Executed; back; done. The node is there and in the right state. */
void twpa__graph_executed(twpa__graph *g, uint64_t seq);
void twpa__graph_revoke(twpa__graph *g, uint64_t seq);
void twpa__graph_done(twpa__graph *g, uint64_t seq);
/* Is one executed, or done, that started early behind this one? */
bool twpa__graph_has_early_successor(const twpa__graph *g, uint64_t seq);
/* One that waits depends on all before it from now on. Reserve an edge before. */
void twpa__graph_wait_for_all(twpa__graph *g, uint64_t seq);
/* Takes the next that has become ready; 0: none. */
uint64_t twpa__graph_next_ready(twpa__graph *g);

#endif
