/*
 * A tiny target for the oracle (planning rules, 4.2): up to three tables of four columns, real unique indexes and foreign
 * keys. It knows both images of every change and shares no code with the planner.
 *
 * A row is one byte, two bits a column: values 0, 1, 2 and NULL. A state is small enough to be copied and compared by the
 * million.
 */
#ifndef TESTS_PLAN_STORE_H
#define TESTS_PLAN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#define TABLES 3
#define COLS 4
#define ROWS 25 /* more than a history can make */
#define NUL 3u  /* NULL */
#define INDEXES 3 /* of a table; the first is its primary key */
#define FKS 2

typedef uint8_t tuple;

static inline unsigned col(tuple t, unsigned c)
{
  return (unsigned)t >> (2 * c) & 3u;
}

static inline tuple with(tuple t, unsigned c, unsigned v)
{
  return (tuple)(((unsigned)t & ~(3u << (2 * c))) | v << (2 * c));
}

typedef struct state { /* rows of a table are kept sorted: equal states are equal bytes */
  uint8_t count[TABLES];
  tuple rows[TABLES][ROWS];
} state;

typedef struct unique {
  uint8_t n; /* columns; 0: there is no such index */
  uint8_t cols[2];
  bool nulls_are_values;
  bool partial;         /* only rows whose column 3 is not 0 */
  bool predicate_known; /* the planner is told which column the predicate looks at */
  bool deferred;        /* checked at the end of the transaction */
  bool expression;      /* over (value = 0) instead of the value */
} unique;

enum { NO_ACTION, CASCADE, SET_NULL };

typedef struct foreign {
  bool there, source, target; /* exists; enforced at the source; at the target */
  uint8_t child, parent;
  uint8_t index; /* of the parent */
  uint8_t n, cols[2]; /* of the child, in the order of the index */
  bool match_full;
  uint8_t on_delete, on_update;
} foreign;

typedef struct schema {
  uint8_t ntables;
  unique indexes[TABLES][INDEXES];
  foreign fks[FKS];
  uint8_t identity[TABLES]; /* TWPA_IDENTITY_*; INDEX: indexes[1] */
  int8_t trigger;           /* a change of table 0 writes to this one, at the target; -1: none */
} schema;

enum { ST_INSERT = 1, ST_UPDATE, ST_DELETE, ST_TRUNCATE };

typedef struct statement {
  uint8_t op, table;
  tuple old, new;
  uint8_t same; /* update: columns the stream leaves out because they did not change */
} statement;

enum { DONE, MISSING, UNIQUE_ERROR, FK_ERROR, DEFERRED_ERROR };

/* What else the source did because of a statement: the changes of its foreign keys' actions. */
typedef struct echoes {
  statement st[8];
  int n; /* more than 8: too many */
} echoes;

/* The value of a row in an index: -1 if it has none. */
int store_key(const unique *u, tuple t);
/* The value a row refers to; -1: none. */
int store_reference(const schema *sc, const foreign *fk, tuple t);
/* Position of the row that a statement means, or -1. */
int store_find(const schema *sc, const state *st, const statement *s, bool at_source);
/* One statement, at the source (which finds its row by the whole old row) or at the target (by the identity). */
int store_run(const schema *sc, state *st, const statement *s, bool at_source, echoes *echo);
/* Constraints checked at commit: DONE or DEFERRED_ERROR, which a target under the replica role would not see. */
int store_commit(const schema *sc, const state *st);
/* All constraints hold. */
bool store_valid(const schema *sc, const state *st, bool at_source);
/* The tables that TRUNCATE of a table with CASCADE empties, as bits. */
unsigned store_truncates(const schema *sc, int table);
/*
 * The tables that the target changes on its own when this one changes, and the stream does not say so: by a trigger, or by
 * actions of a foreign key that the source does not have, near and far.
 */
unsigned store_affects(const schema *sc, int table);
/* Columns of the identity of a table as bits; 0: none, the whole row. */
unsigned store_identity(const schema *sc, int table);

#endif
