/*
 * A tiny target for the oracle (planning rules, 4.2): three tables, four columns, real unique indexes and foreign keys.
 * It knows both images of every change and shares no code with the planner.
 */
#ifndef TESTS_PLAN_STORE_H
#define TESTS_PLAN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#define TABLES 3
#define COLS 4
#define ROWS 24 /* more than a history can make */
#define NUL (-1) /* NULL */

typedef struct tuple {
  int8_t c[COLS];
} tuple;

typedef struct state { /* rows of a table are kept sorted: equal states are equal bytes */
  tuple rows[TABLES][ROWS];
  int8_t count[TABLES];
} state;

typedef struct unique {
  int8_t col;           /* -1: none */
  int8_t col2;          /* -1: of one column */
  bool nulls_distinct;  /* false: NULL is a value */
  bool partial;         /* only rows with c[3] != 0 */
  bool deferred;        /* checked at the end of the transaction */
} unique;

typedef struct foreign {
  int8_t child, child_col, parent, parent_col; /* child -1: none */
  bool enforced;
  bool cascade; /* on delete */
} foreign;

typedef struct schema {
  int ntables;
  bool primary[TABLES];     /* c[0] is a primary key */
  unique uniques[TABLES][2];
  foreign fks[2];
  uint32_t identity[TABLES]; /* TWPA_IDENTITY_* */
} schema;

enum { ST_INSERT = 1, ST_UPDATE, ST_DELETE, ST_TRUNCATE };

typedef struct statement {
  int8_t op, table;
  tuple old, new;
  uint8_t same; /* update: columns the stream leaves out because they did not change */
} statement;

enum { DONE, MISSING, UNIQUE_ERROR, FK_ERROR };

/* One statement. by_identity: find the row as a target does, else as the source does, by the whole old row. */
int store_run(const schema *sc, state *st, const statement *s, bool by_identity);
/* Has the child a foreign key to the parent? */
bool store_refers(const schema *sc, int child, int parent);
/* Constraints checked at commit. */
int store_commit(const schema *sc, const state *st);
/* All constraints hold. */
bool store_valid(const schema *sc, const state *st);

#endif
