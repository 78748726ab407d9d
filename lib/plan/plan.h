/*
 * Inside of a plan: graph, conflict table, row memory, and the records of relations and indexes.
 */
#ifndef TWPA_PLAN_PLAN_H
#define TWPA_PLAN_PLAN_H

#include "plan/accesses.h"
#include "plan/conflicts.h"
#include "plan/graph.h"
#include "plan/key.h"
#include "plan/memory.h"

/* A relation in this plan (by the root's id). */
typedef struct twpa__relation_state {
  uint64_t id;
  uint64_t epoch;
  uint64_t generation; /* of its rows in row memory */
  uint32_t bar;        /* last barrier, low half */
  uint32_t join;       /* users since, or NIL */
  uint8_t described;   /* epoch is that of a description */
  uint8_t full;        /* one of its descriptions says identity FULL */
  uint8_t acted_on;    /* the target itself changes its rows, for a parent (CASCADE, SET NULL) */
  uint8_t distrusted;  /* a transaction was skipped: its rows are not those of the stream */
  uint8_t reserved[4];
} twpa__relation_state;

/* An index in this plan, by what its keys begin with. Only those that somebody gave something unknown free on. */
typedef struct twpa__index_state {
  uint64_t domain;
  uint64_t relation, index; /* ids */
  uint32_t rel, refu, ref;  /* join nodes of rule 1.5, or NIL */
  uint32_t last_release;    /* optimistic: the last that gave something unknown free, low half */
  uint64_t retries;
} twpa__index_state;

/* A description in use: the newest for the id of a relation or leaf. */
typedef struct twpa__known {
  uint64_t id;
  twpa_relation *relation; /* held */
} twpa__known;

typedef struct twpa__registry {
  twpa__mem *mem;
  twpa__relation_state *relations;
  twpa__index_state *indexes;
  twpa__known *known;
  size_t nrelations, nindexes, nknown;
  size_t relations_cap, indexes_cap, known_cap;
  twpa__posmap relation_map, index_map, known_map;
} twpa__registry;

struct twpa_plan {
  twpa__mem mem;
  twpa_plan_options options;
  twpa__policy policy;
  twpa__graph graph;
  twpa__narrow_table narrow;
  twpa__wide_table wide;
  twpa__memory memory;
  uint64_t generation;        /* the last one given out */
  uint64_t oldest_generation; /* of all relations: older ones are forgotten */
  twpa__registry registry;
  twpa__accesses scratch; /* a set that has to be finished before it enters */
  unsigned char *delta;   /* one, to work on */
  size_t delta_cap;
  uint32_t database_bar; /* last barrier on the database, low half */
  uint32_t cut;          /* last closing of the window, low half */
  uint64_t payload;      /* of the next to enter */
  size_t news;           /* descriptions not known yet that come with it */
  uint64_t live_keys, live_payload;
  uint64_t fallbacks[TWPA_FALLBACKS];
  int32_t last_status;
  bool skipped; /* a transaction was */
  bool busy; /* inside the sink of a drawing: nothing may change */
  twpa_plan_counters counters; /* those kept by hand */
};

/* --- registry.c ------------------------------------------------------------------------------------------------ */

void twpa__registry_init(twpa__registry *r, twpa__mem *mem);
void twpa__registry_free(twpa__registry *r);
/* Room for so many more of each. */
twpa_status twpa__registry_reserve(twpa__registry *r, size_t relations, size_t indexes, size_t known);
/* NIL if the plan has not met it. */
uint32_t twpa__registry_find_relation(const twpa__registry *r, uint64_t id);
uint32_t twpa__registry_find_index(const twpa__registry *r, uint64_t domain);
/* Found or made; reserved before. */
uint32_t twpa__registry_relation(twpa__registry *r, uint64_t id, uint32_t low);
uint32_t twpa__registry_index(twpa__registry *r, const twpa__idx *idx, uint32_t low);
/* May transactions with these descriptions enter? TWPA_E_STATE: too old. TWPA_E_INVAL: a foreign key that fits no
 * description of its other side. *news: how many are not known yet. */
twpa_status twpa__registry_check(const twpa__registry *r, const twpa__accesses *a, uint32_t fk_policy, size_t *news);
/* Takes the descriptions over; reserved before. */
void twpa__registry_learn(twpa__registry *r, const twpa__accesses *a);

/* --- finish.c -------------------------------------------------------------------------------------------------- */

/*
 * Makes room for finishing a set: what row memory is asked, what the plan alone knows (schema changes, closures, skipped
 * transactions), what makes it a barrier as a whole. *a is what will enter: the set's accesses, or plan->scratch, a copy
 * of them that twpa__finish completes by at most so many more accesses and touches.
 */
twpa_status twpa__finish_reserve(twpa_plan *plan, const twpa_access_set *set, const twpa__accesses **a,
                                 size_t *more_acc, size_t *more_touches);
/* Finishes it, row memory included; cannot fail. */
void twpa__finish(twpa_plan *plan, const twpa_access_set *set, const twpa__accesses *a);
/* Row memory learns of a row from outside: a delta of its insertion. */
void twpa__learn_row(twpa_plan *plan, const twpa_relation *r, const twpa__delta *delta);

/* --- skip.c ------------------------------------------------------------------------------------------------------ */

/* Before a transaction is finished without having been applied. TWPA_E_NOMEM leaves all as it was. */
twpa_status twpa__skip(twpa_plan *plan, uint64_t seq);

/* --- enter.c --------------------------------------------------------------------------------------------------- */

/*
 * Room for the most edges and join nodes that so much needs: two edges out of an entry of the table and one into a join
 * node; per relation one from its barrier, one from or into its join node; per index three taken, three joined, three
 * chained.
 */
static inline twpa_status twpa__enter_reserve(twpa_plan *plan, size_t nacc, size_t ntouches, size_t nidxs)
{
  size_t edges = 4 * nacc + 3 * ntouches + 9 * nidxs + 8;
  size_t joins = nacc + ntouches + 3 * nidxs;
  return twpa__graph_reserve(&plan->graph, edges, joins);
}
/* All dependencies of the transaction that has just been given its number. */
void twpa__enter_accesses(twpa_plan *plan, const twpa__accesses *a);
/* The newest member of a join node; for the conflict table. */
uint32_t twpa__newest_member(const void *graph, uint32_t join);

#endif
