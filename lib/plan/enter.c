/*
 * A transaction enters: its accesses meet those of the earlier ones (rules 1.4 and 1.5). In three rounds: first it takes
 * its dependencies from the records of relations and indexes, then key by key from the conflict table, whose entries it
 * becomes part of at once; then it joins the records. Taking first and joining afterwards is what keeps a transaction
 * that gives free and takes on one index from waiting for itself.
 */
#include "plan/plan.h"

#include "base/assert.h"

#include <string.h>

uint32_t twpa__newest_member(const void *graph, uint32_t join)
{
  return ((const twpa__graph *)graph)->joins[join].newest;
}

/* Policies that a dependency can be left out by. */
static bool strict_release(const twpa_plan *plan, const twpa__idx *idx)
{
  return plan->options.unique_release == TWPA_UNKNOWN_STRICT || (idx->flags & TWPA__IDX_DETECTOR) == 0;
}

static bool strict_reference(const twpa_plan *plan, const twpa__idx *idx)
{
  return plan->options.reference_release == TWPA_REFERENCE_STRICT || plan->options.free_commit_order != 0 ||
         plan->options.early_start != TWPA_EARLY_START_OFF || (idx->flags & TWPA__IDX_FK_DETECTED) == 0;
}

/* --- relations and indexes ------------------------------------------------------------------------------------- */

static void after_join_of_index(twpa_plan *plan, uint32_t join, const twpa__idx *idx, uint32_t type)
{
  if (join == TWPA__NIL)
    return;
  const twpa__via via = {.relation = idx->relation, .index = idx->index, .kind = TWPA_KIND_UNKNOWN};
  twpa__graph_after_join(&plan->graph, join, type, &via);
}

static void take_index(twpa_plan *plan, const twpa__idx *idx, twpa__now now)
{
  if ((idx->flags & (TWPA__IDX_CLAIM | TWPA__IDX_RELEASE_UNKNOWN | TWPA__IDX_KEYLOSS)) == 0)
    return;
  uint32_t pos = twpa__registry_find_index(&plan->registry, idx->domain);
  if (pos == TWPA__NIL)
    return;
  const twpa__index_state *x = &plan->registry.indexes[pos];
  if ((idx->flags & TWPA__IDX_CLAIM) != 0) {
    after_join_of_index(plan, x->rel, idx, TWPA_EDGE_UNKNOWN);
    if (twpa__is_live(now, x->last_release)) {
      plan->counters.optimistic++;
      twpa__info_at(&plan->graph, plan->graph.last)->blame = pos;
    }
  }
  if ((idx->flags & (TWPA__IDX_RELEASE_UNKNOWN | TWPA__IDX_KEYLOSS)) != 0)
    after_join_of_index(plan, x->refu, idx, TWPA_EDGE_FK_DML);
  if ((idx->flags & TWPA__IDX_RELEASE_UNKNOWN) != 0)
    after_join_of_index(plan, x->ref, idx, TWPA_EDGE_FK_DML);
}

static void join_index(twpa_plan *plan, uint32_t *join)
{
  twpa__graph_join_open(&plan->graph, join);
  twpa__graph_join_add(&plan->graph, *join, (uint32_t)plan->graph.last);
}

static void enter_index(twpa_plan *plan, const twpa__idx *idx)
{
  const uint32_t joining = TWPA__IDX_RELEASE_UNKNOWN | TWPA__IDX_REF_RELEASE | TWPA__IDX_REF_RELEASE_UNKNOWN;
  if ((idx->flags & joining) == 0)
    return;
  uint32_t pos = twpa__registry_index(&plan->registry, idx, (uint32_t)plan->graph.low);
  twpa__index_state *x = &plan->registry.indexes[pos];
  if ((idx->flags & TWPA__IDX_RELEASE_UNKNOWN) != 0) {
    if (strict_release(plan, idx))
      join_index(plan, &x->rel);
    else
      x->last_release = (uint32_t)plan->graph.last;
  }
  if (!strict_reference(plan, idx))
    return;
  if ((idx->flags & TWPA__IDX_REF_RELEASE) != 0)
    join_index(plan, &x->ref);
  if ((idx->flags & TWPA__IDX_REF_RELEASE_UNKNOWN) != 0)
    join_index(plan, &x->refu);
}

static void take_relation(twpa_plan *plan, const twpa__touch *touch, twpa__now now)
{
  uint32_t pos = twpa__registry_find_relation(&plan->registry, touch->id);
  if (pos == TWPA__NIL)
    return;
  const twpa__relation_state *r = &plan->registry.relations[pos];
  const twpa__via via = {.relation = touch->id, .kind = TWPA_KIND_BARRIER};
  if (twpa__is_live(now, r->bar))
    twpa__graph_after(&plan->graph, r->bar, TWPA_EDGE_DDL_BARRIER, &via);
  if ((touch->flags & TWPA__TOUCH_BARRIER) != 0 && r->join != TWPA__NIL)
    twpa__graph_after_join(&plan->graph, r->join, TWPA_EDGE_DDL_BARRIER, &via);
}

static void enter_relation(twpa_plan *plan, const twpa__touch *touch)
{
  uint32_t pos = twpa__registry_relation(&plan->registry, touch->id, (uint32_t)plan->graph.low);
  twpa__relation_state *r = &plan->registry.relations[pos];
  if ((touch->flags & TWPA__TOUCH_BARRIER) == 0) {
    twpa__graph_join_open(&plan->graph, &r->join);
    twpa__graph_join_add(&plan->graph, r->join, (uint32_t)plan->graph.last);
    return;
  }
  if (r->join != TWPA__NIL)
    twpa__graph_join_drop(&plan->graph, r->join);
  r->join = TWPA__NIL;
  r->bar = (uint32_t)plan->graph.last;
  plan->counters.barriers++;
}

static void take_database(twpa_plan *plan, const twpa__accesses *a, twpa__now now)
{
  if (twpa__is_live(now, plan->database_bar)) {
    const twpa__via via = {.kind = TWPA_KIND_BARRIER};
    twpa__graph_after(&plan->graph, plan->database_bar, TWPA_EDGE_DDL_BARRIER, &via);
  }
  if (a->database_barrier) {
    twpa__graph_after_all(&plan->graph, now.seq);
    plan->database_bar = now.seq;
    plan->counters.barriers++;
  }
  if (twpa__is_live(now, plan->cut))
    twpa__graph_after_all(&plan->graph, plan->cut);
}

/* --- keys ------------------------------------------------------------------------------------------------------ */

/* One key on its way through the table. */
typedef struct keying {
  twpa_plan *plan;
  const twpa__access *acc;
  const twpa__idx *idx; /* NULL for a raw key */
  uint32_t mode;
  uint32_t kind;
} keying;

/* As the host knows it. */
static uint64_t key_of(const twpa__access *acc)
{
  return (acc->bits & TWPA__ACC_RAW) != 0 ? twpa__raw_key(acc->key) : acc->key;
}

static keying keying_of(twpa_plan *plan, const twpa__accesses *a, const twpa__access *acc)
{
  return (keying){.plan = plan,
                  .acc = acc,
                  .idx = (acc->bits & TWPA__ACC_RAW) != 0 ? NULL : &a->idxs[acc->idx],
                  .mode = acc->bits & TWPA__ACC_MODE,
                  .kind = acc->bits >> TWPA__ACC_KIND_SHIFT};
}

static void after(const keying *k, uint32_t seq, uint32_t meta, uint32_t from_mode)
{
  twpa__graph *g = &k->plan->graph;
  if (!g->explain) {
    twpa__graph_after(g, seq, meta, NULL);
    return;
  }
  twpa__via via = {.key = key_of(k->acc), .kind = (uint16_t)k->kind, .from_mode = (uint8_t)from_mode,
                   .to_mode = (uint8_t)k->mode};
  if (k->idx != NULL) {
    via.relation = k->idx->relation;
    via.index = k->idx->index == TWPA__WHOLE_ROW ? 0 : k->idx->index;
  }
  twpa__graph_after(g, seq, meta, &via);
}

/* May the edge be early (rule 1.8)? An update before, or a key left free before and taken first now. */
static uint32_t early(const keying *k, bool updated, bool left_free)
{
  uint32_t policy = k->plan->options.early_start;
  if (policy == TWPA_EARLY_START_OFF || (k->acc->bits & TWPA__ACC_NO_EARLY) != 0)
    return 0;
  if (updated && k->mode >= TWPA_MODE_UPDATE)
    return TWPA__META_EARLY;
  if (policy == TWPA_EARLY_START_WIDE && left_free && (k->acc->bits & TWPA__ACC_FIRST_CLAIM) != 0)
    return TWPA__META_EARLY;
  return 0;
}

static bool leaves_free(const twpa__access *acc)
{
  return (acc->bits & (TWPA__ACC_LAST_FREE | TWPA__ACC_NO_EARLY)) == TWPA__ACC_LAST_FREE;
}

TWPA__APART
static void after_horizon(twpa_plan *plan, uint32_t horizon, twpa__now now)
{
  if (!twpa__is_live(now, horizon))
    return;
  plan->counters.conservative++;
  twpa__graph_after_all(&plan->graph, horizon);
}

/* The other things that a narrow entry says of the last access. */
static uint32_t narrow_bits(const twpa__access *acc)
{
  bool update = (acc->bits & TWPA__ACC_MODE) == TWPA_MODE_UPDATE && (acc->bits & TWPA__ACC_NO_EARLY) == 0;
  return (update ? TWPA__NARROW_UPDATE : 0) | (leaves_free(acc) ? TWPA__NARROW_FREE : 0);
}

/* The last accessor of a narrow entry goes first. */
TWPA__APART
static void after_narrow(twpa_plan *plan, const twpa__accesses *a, const twpa__access *acc, uint32_t before,
                                     uint32_t bits)
{
  const keying k = keying_of(plan, a, acc);
  bool updated = (bits & TWPA__NARROW_UPDATE) != 0;
  after(&k, before, TWPA_EDGE_WRITE_WRITE | early(&k, updated, (bits & TWPA__NARROW_FREE) != 0),
        updated ? TWPA_MODE_UPDATE : TWPA_MODE_WRITE);
}

/* The type of an edge between a reader and a writer. */
static uint32_t reading(const keying *k)
{
  return k->idx != NULL && k->kind != TWPA_KIND_FULL ? TWPA_EDGE_FK_DML : TWPA_EDGE_READ_WRITE;
}

static void add_reader(const keying *k, twpa__wide_bucket *b, int way, twpa__now now)
{
  twpa__graph *g = &k->plan->graph;
  if ((twpa__wide_flags(b, way) & TWPA__WIDE_JOIN) != 0) {
    twpa__graph_join_open(g, &b->r[way]);
    twpa__graph_join_add(g, b->r[way], now.seq);
    return;
  }
  uint32_t before = b->r[way];
  b->r[way] = now.seq;
  if (!twpa__is_live(now, before) || before == now.seq || twpa__state_of(g, before) == TWPA__DONE)
    return;
  uint32_t join = twpa__graph_join_new(g);
  twpa__graph_join_add(g, join, before);
  twpa__graph_join_add(g, join, now.seq);
  b->r[way] = join;
  twpa__wide_set_flags(b, way, TWPA__WIDE_JOIN, 0);
}

static void write_wide(const keying *k, twpa__wide_bucket *b, int way, twpa__now now)
{
  twpa__graph *g = &k->plan->graph;
  uint32_t flags = twpa__wide_flags(b, way);
  bool updates = twpa__is_live(now, b->u[way]);
  bool readers = (flags & TWPA__WIDE_JOIN) != 0 ? !twpa__join_is_empty(g, b->r[way]) : twpa__is_live(now, b->r[way]);
  if (updates)
    after(k, b->u[way], TWPA_EDGE_WRITE_WRITE | early(k, true, false), TWPA_MODE_UPDATE);
  if (readers && (flags & TWPA__WIDE_JOIN) != 0) {
    const twpa__via via = {.relation = k->idx != NULL ? k->idx->relation : 0,
                           .index = k->idx != NULL && k->idx->index != TWPA__WHOLE_ROW ? k->idx->index : 0,
                           .key = key_of(k->acc),
                           .kind = (uint16_t)k->kind,
                           .from_mode = TWPA_MODE_READ,
                           .to_mode = (uint8_t)k->mode};
    twpa__graph_after_join(g, b->r[way], reading(k), &via);
  } else if (readers) {
    after(k, b->r[way], reading(k), TWPA_MODE_READ);
  }
  if (!updates && !readers && (flags & TWPA__WIDE_FLOOR) == 0 && twpa__is_live(now, b->w[way]))
    after(k, b->w[way], TWPA_EDGE_WRITE_WRITE | early(k, false, (flags & TWPA__WIDE_FREE) != 0), TWPA_MODE_WRITE);
  if ((flags & TWPA__WIDE_JOIN) != 0)
    twpa__graph_join_drop(g, b->r[way]);
  b->w[way] = now.seq;
  b->u[way] = b->r[way] = (uint32_t)g->low;
  twpa__wide_set_flags(b, way, leaves_free(k->acc) ? TWPA__WIDE_FREE : 0,
                       TWPA__WIDE_FLOOR | TWPA__WIDE_JOIN | TWPA__WIDE_FREE);
}

/* Has this transaction been here already, by a collision of two of its keys? */
static bool is_own(const twpa__graph *g, const twpa__wide_bucket *b, int way, uint32_t self)
{
  bool join = (twpa__wide_flags(b, way) & TWPA__WIDE_JOIN) != 0;
  return b->w[way] == self || b->u[way] == self || (join ? g->joins[b->r[way]].newest : b->r[way]) == self;
}

TWPA__APART
static void enter_wide(twpa_plan *plan, const twpa__accesses *a, const twpa__access *acc, twpa__now now)
{
  twpa__graph *g = &plan->graph;
  const keying here = keying_of(plan, a, acc), *k = &here;
  twpa__wide_found f = twpa__wide_find(&plan->wide, acc->key, now, twpa__newest_member, g);
  twpa__wide_bucket *b = f.bucket;
  int way = f.way;
  if (f.had_join)
    twpa__graph_join_drop(g, f.join);
  plan->counters.evicted += f.evicted;
  plan->counters.hits += f.hit;
  if (is_own(g, b, way, now.seq)) { /* what it stands for here is mixed up with another key: wait for all before */
    plan->counters.conservative++;
    twpa__graph_after_all(g, now.seq);
    twpa__wide_set_flags(b, way, 0, TWPA__WIDE_FREE);
    if ((twpa__wide_flags(b, way) & TWPA__WIDE_JOIN) != 0)
      twpa__graph_join_drop(g, b->r[way]);
    twpa__wide_set_flags(b, way, 0, TWPA__WIDE_FLOOR | TWPA__WIDE_JOIN);
    b->w[way] = now.seq;
    b->u[way] = b->r[way] = (uint32_t)g->low;
    return;
  }
  bool floor = (twpa__wide_flags(b, way) & TWPA__WIDE_FLOOR) != 0;
  if (floor)
    after_horizon(plan, b->w[way], now);
  if (k->mode == TWPA_MODE_WRITE) {
    write_wide(k, b, way, now);
    return;
  }
  bool written = !floor && twpa__is_live(now, b->w[way]);
  if (k->mode == TWPA_MODE_READ) {
    if (written)
      after(k, b->w[way], reading(k), TWPA_MODE_WRITE);
    add_reader(k, b, way, now);
    return;
  }
  if (twpa__is_live(now, b->u[way]))
    after(k, b->u[way], TWPA_EDGE_WRITE_WRITE | early(k, true, false), TWPA_MODE_UPDATE);
  else if (written)
    after(k, b->w[way], TWPA_EDGE_WRITE_WRITE, TWPA_MODE_WRITE);
  b->u[way] = now.seq;
}

/* Where in the table the key lives. */
static const void *place_of(const twpa_plan *plan, const twpa__access *acc)
{
  if ((acc->bits & TWPA__ACC_WIDE) != 0)
    return twpa__wide_bucket_of(&plan->wide, acc->key);
  return twpa__narrow_bucket_of(&plan->narrow, acc->key);
}

#define AHEAD 6 /* keys of a large transaction that are on their way; those of a small one the processor overlaps itself */

/*
 * All keys, one after the other. Which of them are in the table, and which of the edges are there already, cannot be
 * predicted: what all transactions do with narrow entries has no branches that depend on it.
 */
static void enter_keys(twpa_plan *plan, const twpa__accesses *a, twpa__now now)
{
  twpa__graph *g = &plan->graph;
  twpa__node *n = twpa__node_at(g, g->last);
  const uint32_t room = twpa__graph_is_plain(g) ? TWPA__NODE_EDGES : 0;
  const bool bits = g->explain || g->early; /* somebody asks for them */
  uint32_t hits = 0, evicted = 0, made = 0;
  for (const twpa__access *acc = a->acc, *end = acc + a->nacc; acc < end; acc++) {
    if (end - acc > AHEAD)
      TWPA__PREFETCH(place_of(plan, acc + AHEAD));
    if ((acc->bits & TWPA__ACC_WIDE) != 0) {
      enter_wide(plan, a, acc, now);
      continue;
    }
    const twpa__narrow_found f = twpa__narrow_access(&plan->narrow, acc->key, bits ? narrow_bits(acc) : 0, now);
    hits += f.hit;
    evicted += f.evicted;
    if (twpa__is_live(now, f.horizon) && !f.hit)
      after_horizon(plan, f.horizon, now);
    if (n->nin < room)
      made += twpa__graph_after_plain(n, now.seq, f.before, TWPA_EDGE_WRITE_WRITE, f.hit);
    else if (f.hit)
      after_narrow(plan, a, acc, f.before, f.bits);
  }
  plan->counters.hits += hits;
  plan->counters.evicted += evicted;
  twpa__graph_after_plain_end(g, TWPA_EDGE_WRITE_WRITE, made);
}

void twpa__enter_accesses(twpa_plan *plan, const twpa__accesses *a)
{
  twpa__now now = twpa__graph_now(&plan->graph);
  take_database(plan, a, now);
  for (size_t i = 0; i < a->ntouches; i++)
    take_relation(plan, &a->touches[i], now);
  for (size_t i = 0; i < a->nidxs; i++)
    take_index(plan, &a->idxs[i], now);
  enter_keys(plan, a, now);
  for (size_t i = 0; i < a->nidxs; i++)
    enter_index(plan, &a->idxs[i]);
  for (size_t i = 0; i < a->ntouches; i++)
    enter_relation(plan, &a->touches[i]);
}

void twpa_plan_prefetch(const twpa_plan *plan, const twpa_access_set *set)
{
  if (plan == NULL || set == NULL)
    return;
  for (size_t i = 0; i < set->acc.nacc; i++)
    TWPA__PREFETCH(place_of(plan, &set->acc.acc[i]));
}
