/*
 * Histories for the oracle: a schema, a start, and transactions that ran one after the other at a source; what the stream
 * says of them; the plan made of that; and ways to run, shrink and print them.
 */
#ifndef TESTS_PLAN_HISTORY_H
#define TESTS_PLAN_HISTORY_H

#include "kit.h"
#include "store.h"

#include <stdio.h>

#define TX 6
#define SOURCE_ST 3 /* statements of a transaction at the source */
#define STREAM_ST 8 /* in the stream: with those of foreign keys' actions */

typedef struct history {
  schema sc;
  state start;
  statement src[TX][SOURCE_ST];
  uint8_t nsrc[TX];
  int n;
  int skipped; /* a transaction that is never applied; -1: none */
  uint8_t end_of[TX];  /* COMMIT PREPARED, or ROLLBACK PREPARED, of the transaction with this number, from 1; 0: neither */
  bool rolls_back[TX]; /* the latter */
  /* Made by expand(): */
  statement st[TX][STREAM_ST];
  uint8_t len[TX];
  state end;            /* serially, at the target */
  state prefix[TX + 1]; /* after so many transactions, at the target */
  uint8_t missing[TX];  /* statements that find no row serially */
} history;

/* What kind of schema a history has. */
enum {
  WORLD_ALONE,     /* one table with unique indexes */
  WORLD_KEYLESS,   /* no primary key, whole rows */
  WORLD_SELF,      /* a table that refers to itself */
  WORLD_FAMILY,    /* parent and child */
  WORLD_CHAIN,     /* three tables, two foreign keys */
  WORLD_APPEND,    /* identity NOTHING: inserts and TRUNCATE only */
  WORLD_DEGRADING, /* what the library turns into barriers: expressions, triggers */
  WORLDS
};
extern const char *const world_names[WORLDS];

/* A random one; false: the dice fell badly, try again. */
bool history_random(history *h, rng *r, int world, int transactions, int statements);
/*
 * Makes one of its transactions a prepared one, which is committed later, or adds one that is rolled back. False: it does
 * not fit, try again with another history.
 */
bool history_prepare(history *h, rng *r, int statements);
/* The position of COMMIT or ROLLBACK PREPARED of a transaction that is prepared; -1: it is not. */
int history_end_of(const history *h, int t);
/* Runs the source's statements and fills in what follows from them. False if the history says nothing: it is not valid
   at the source, or serial apply at the target fails. */
bool history_expand(history *h);
/* A transaction on a target: DONE, or the error; the statements that found no row are collected. */
int history_run_tx(const history *h, int t, state *st, uint8_t *missing);

/* How a history is planned. Everything that is left to chance comes from `dice`. */
typedef struct setting {
  twpa_plan_options options;
  bool seed_rows;    /* row memory is offered the start, and later what the target then has */
  bool complete;     /* some are finished before others enter */
  bool skip;         /* one of them is skipped */
  uint64_t dice;
} setting;

/* Relations as the schema has them. */
void history_relations(const schema *sc, twpa_relation **rels);
void history_relations_free(const schema *sc, twpa_relation **rels);
/* The accesses of a transaction. */
void history_fill(const history *h, int t, twpa_access_set *set, twpa_relation *const *rels, uint32_t flags);
struct trace_log; /* history_trace.h; NULL: nothing is written down */
/* Offers rows of the target to row memory. */
void history_seed_rows(const schema *sc, const state *rows, twpa_plan *plan, twpa_relation *const *rels,
                       const struct trace_log *log);
/* Plans the history: for each transaction those it waits for, as bits. */
void history_plan(const history *h, const setting *how, uint32_t preds[TX]);
void history_plan_logged(const history *h, const setting *how, uint32_t preds[TX], const struct trace_log *log);

/* Executes every order that preds allow. NULL: all of them are right; otherwise what is wrong with one, its transactions
   in `order`. optimistic: a unique violation is allowed in all but the first unfinished one. */
const char *history_all_orders(const history *h, const uint32_t preds[TX], bool optimistic, uint64_t *steps, char *order);

/* What a plan lacks, so that all orders are right: a smallest set of dependencies, as bits. */
void history_lacking(const history *h, const uint32_t preds[TX], bool optimistic, uint32_t lacking[TX]);
/*
 * Prints a history that went wrong as a trace (docs/trace.md) which expects of the plan what it lacks. hidden: see trace_log.
 */
void history_report(FILE *out, const history *h, const setting *how, const uint32_t hidden[TX]);
/* Is it still wrong? Called with expanded histories. */
typedef bool (*history_test)(const history *h, void *arg);
/* Drops whatever can be dropped while the history stays valid and `wrong` says yes. */
void history_minimise(history *h, history_test wrong, void *arg);

/* How many histories to run: TWPA_ORACLE_HISTORIES, or the standard, a quarter of it under sanitizers. */
uint64_t histories_wanted(uint64_t standard);
unsigned histories_slowness(void);

#endif
