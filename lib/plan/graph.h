/*
 * The graph of a plan: a node per transaction above the low watermark, edges from earlier to later ones, join nodes.
 *
 * Nodes lie in a ring by sequence number. A node counts its predecessors; each has it once in its list of edges, however
 * many reasons there are: the predecessor remembers the last successor that it was linked with (stamp), so that a second
 * reason only weakens the edge (early start needs every reason to allow it).
 *
 * A *join node* stands for many transactions that are waited for together: readers of a key, users of a relation, those
 * that gave something unknown free. Members have an edge into it, waiters one out of it; it is done when its members are.
 * Who takes an edge from a join node closes it; members that come later need a new one, chained behind it (rule 1.5).
 *
 * A dependency on everything up to a number is no edge: the waiter hangs in a list at the node of that number and is let
 * go when the low watermark passes it. One suffices, the highest.
 *
 * Edges, join nodes and the ring grow in pools and are recycled: nothing is allocated in the steady state. All growth
 * happens in twpa__graph_reserve, before a transaction enters.
 */
#ifndef TWPA_PLAN_GRAPH_H
#define TWPA_PLAN_GRAPH_H

#include "base/alloc.h"
#include "plan/conflicts.h"

#include <twpa/plan.h>

#define TWPA__NIL UINT32_MAX
#define TWPA__TO_JOIN UINT32_C(0x80000000) /* in a target: a join node; else the low bits of a sequence number */
#define TWPA__WINDOW_MAX (UINT32_C(1) << 27)

#define TWPA__META_TYPE UINT32_C(7)
#define TWPA__META_EARLY UINT32_C(8)

/*
 * An edge lies where it costs least: in the node of its successor, which has to be touched anyway when the edge is
 * fulfilled. A reference to such an edge is the successor's number and a position; only the link to the next edge of the
 * same predecessor is stored. What does not fit, edges into join nodes, and all edges with explain are in a pool.
 */
#define TWPA__EDGE_POOL UINT32_C(0x80000000) /* in a reference: position in the pool; else number << 3 | position */
#define TWPA__NODE_EDGES 7

typedef struct twpa__pool_edge {
  uint32_t next; /* of the same predecessor, a reference */
  uint32_t to;
  uint32_t meta;
} twpa__pool_edge;

/* An edge, looked at. */
typedef struct twpa__edge {
  uint32_t next, to, meta;
} twpa__edge;

/* With explain: beside each edge. */
typedef struct twpa__via {
  uint32_t from;    /* like twpa__edge.to */
  uint32_t next_in; /* of the same successor */
  uint32_t prev_in; /* likewise; NIL: the first. An edge must leave a long list (the users of a relation) in O(1) */
  uint16_t kind;
  uint8_t from_mode, to_mode;
  uint64_t relation, index, key;
} twpa__via;

enum { TWPA__WAITING, TWPA__RUNNING, TWPA__EXECUTED, TWPA__DONE }; /* RUNNING: no predecessor left */

typedef struct twpa__node {
  uint32_t edges; /* first to a successor, or NIL */
  uint32_t npred;
  uint32_t stamp;      /* low half of the last successor linked */
  uint32_t stamp_edge; /* that edge */
  uint32_t waiters;    /* low bits of the first that waits for the watermark to pass here, or NIL */
  uint32_t next;       /* in such a list of waiters, or in the queue of ready ones: low bits, or NIL */
  uint32_t prev;       /* waits: the number whose passing it waits for, low half; queued: the one before in the queue */
  uint8_t state;
  uint8_t waits;  /* hangs in a list of waiters */
  uint8_t queued; /* in the queue of ready ones */
  uint8_t nin;    /* edges into it that are stored here */
  uint32_t metas; /* of these edges, four bits each */
  uint32_t in[TWPA__NODE_EDGES]; /* of these edges: the next of the same predecessor */
} twpa__node;

/* What is seldom looked at. */
typedef struct twpa__node_info {
  uint64_t end_lsn, origin, keys, payload;
  uint32_t in_edges; /* with explain: first edge into it (position in the pool), or NIL */
  uint32_t blame;    /* the record of an index that optimism concerned, or NIL */
} twpa__node_info;

typedef struct twpa__join {
  uint32_t edges; /* first; chains free join nodes */
  uint32_t npred; /* members not done */
  uint32_t newest; /* number of the newest member, low half */
  uint32_t stamp, stamp_edge;
  uint32_t in_edges; /* with explain */
  uint8_t held;      /* somebody may still join or take */
  uint8_t closed;
  uint8_t used;
  uint8_t reserved;
} twpa__join;

typedef struct twpa__graph {
  twpa__mem *mem;
  bool explain;
  twpa__node *nodes;
  twpa__node_info *infos;
  uint64_t mask; /* of the ring */
  uint64_t low;  /* low watermark */
  uint64_t last; /* newest that entered */
  twpa__pool_edge *edges;
  twpa__via *vias;
  uint32_t edges_used, edge_free; /* used: high-water mark of the pool; free: chained by next */
  size_t edges_cap, vias_cap, pool_live;
  uint64_t edges_live; /* in the pool or not */
  twpa__join *joins;
  uint32_t joins_used, join_free;
  size_t joins_cap, joins_live;
  uint32_t ready_first, ready_last; /* queue */
  uint64_t ready;                   /* unfinished, without predecessor */
  uint64_t unfinished;
  uint64_t edges_made, by_type[8], joins_made;
  uint32_t wait; /* of the one that enters: the highest number waited for, low half */
  bool waits;
} twpa__graph;

void twpa__graph_init(twpa__graph *g, twpa__mem *mem, bool explain);
void twpa__graph_free(twpa__graph *g);
/* Room for one more node, so many edges and join nodes. TWPA_E_LIMIT, TWPA_E_NOMEM. */
twpa_status twpa__graph_reserve(twpa__graph *g, size_t edges, size_t joins);

static inline twpa__node *twpa__node_at(const twpa__graph *g, uint64_t seq)
{
  return &g->nodes[seq & g->mask];
}

static inline twpa__node_info *twpa__info_at(const twpa__graph *g, uint64_t seq)
{
  return &g->infos[seq & g->mask];
}

/* The full number of one above the low watermark, from its low bits. */
static inline uint64_t twpa__full_seq(const twpa__graph *g, uint32_t low_bits)
{
  return g->last - (((uint32_t)g->last - low_bits) & (TWPA__TO_JOIN - 1));
}

/* The full number from the bits in a reference. */
static inline uint64_t twpa__edge_seq(const twpa__graph *g, uint32_t ref)
{
  return g->last - (((uint32_t)g->last - (ref >> 3)) & (UINT32_MAX >> 4));
}

static inline twpa__edge twpa__edge_at(const twpa__graph *g, uint32_t ref)
{
  if ((ref & TWPA__EDGE_POOL) != 0) {
    const twpa__pool_edge *e = &g->edges[ref & ~TWPA__EDGE_POOL];
    return (twpa__edge){e->next, e->to, e->meta};
  }
  uint64_t seq = twpa__edge_seq(g, ref);
  const twpa__node *n = twpa__node_at(g, seq);
  return (twpa__edge){n->in[ref & 7], (uint32_t)seq & (TWPA__TO_JOIN - 1), n->metas >> (4 * (ref & 7)) & 15};
}

/* The next transaction: reserved before. All that follows until twpa__graph_enter_end is about it. */
uint64_t twpa__graph_enter(twpa__graph *g);
twpa__now twpa__graph_now(const twpa__graph *g);
/* It depends on another, live one (its own number is ignored). via may be NULL. */
void twpa__graph_after(twpa__graph *g, uint32_t seq, uint32_t meta, const twpa__via *via);
/* It depends on the members of a join node, which is closed by that. */
void twpa__graph_after_join(twpa__graph *g, uint32_t join, uint32_t meta, const twpa__via *via);
/* It depends on all up to a number; dead ones do nothing, its own means all before it. */
void twpa__graph_after_all(twpa__graph *g, uint32_t seq);
/* A new join node, held. */
uint32_t twpa__graph_join_new(twpa__graph *g);
/* An open join node in the place of *join (which may be NIL): the same, emptied, or one chained behind it. */
void twpa__graph_join_open(twpa__graph *g, uint32_t *join, uint32_t meta);
/* A live transaction (the one that enters, too) becomes a member. */
void twpa__graph_join_add(twpa__graph *g, uint32_t join, uint32_t seq, const twpa__via *via);
/* Nobody will join or take any more. */
void twpa__graph_join_drop(twpa__graph *g, uint32_t join);
/* Counts predecessors; returns how many. */
uint32_t twpa__graph_enter_end(twpa__graph *g);

static inline bool twpa__join_is_empty(const twpa__graph *g, uint32_t join)
{
  return g->joins[join].npred == 0;
}

/* Executed; back; done. The node is there and in the right state. */
void twpa__graph_executed(twpa__graph *g, uint64_t seq);
void twpa__graph_revoke(twpa__graph *g, uint64_t seq);
void twpa__graph_done(twpa__graph *g, uint64_t seq);
/* A later edge between two that are in the graph, neither of them done, the later not running. Reserve before. */
void twpa__graph_link(twpa__graph *g, uint64_t from, uint64_t to, uint32_t meta);
/* Takes the next that has become ready; 0: none. */
uint64_t twpa__graph_next_ready(twpa__graph *g);

#endif
