/*
 * The tiny target again, this time statement by statement, with what PostgreSQL does at READ COMMITTED while several
 * transactions are open (planning rules, 4.4): versions of rows, row locks in two strengths and key shares, waits of unique
 * checks, checks of foreign keys as their triggers make them, locks on relations.
 *
 * A transaction is a list of small operations. locks_step() does the next one, or says for whom it waits, or how it failed;
 * the caller decides who goes on when. What the model assumes of the server is checked by test_plan_server.c.
 */
#ifndef TESTS_PLAN_LOCKS_H
#define TESTS_PLAN_LOCKS_H

#include "history.h"

#define VROWS 64
#define OPS 64

typedef struct vrow {
  bool there; /* the committed version: c */
  bool gone;  /* the owner has removed it; else o is his version */
  bool strong; /* the owner's lock: made, removed, or changed a key column */
  uint8_t table;
  int8_t owner; /* the open transaction that changed or made it; -1: none */
  tuple c, o;
  uint8_t share; /* open transactions that hold a key share of it */
} vrow;

enum { OP_STATEMENT, OP_CHANGE, OP_CLAIM, OP_REFERENCE, OP_LOSS, OP_ACT, OP_TRUNCATE };

typedef struct lop {
  uint8_t kind;
  uint8_t op;       /* ST_UPDATE, ST_DELETE */
  int8_t fk;        /* OP_REFERENCE, OP_LOSS, OP_ACT, and OP_CHANGE on behalf of one; else -1 */
  int8_t statement; /* position in the transaction's stream */
  int8_t row;       /* in rows; -1: to be found */
  int8_t of;        /* OP_REFERENCE: the child, in rows */
  uint8_t index;    /* OP_CLAIM */
  uint8_t table;    /* OP_TRUNCATE */
  int8_t key;       /* referenced value */
  bool has_to;      /* OP_ACT: the parent became `to`, and is not gone */
  tuple to;
} lop;

typedef struct ltx {
  bool open;
  lop ops[OPS];
  uint8_t nops; /* ops[0] is next */
  uint16_t claims[TABLES][INDEXES]; /* every value it put into an index */
  uint8_t shared, exclusive;        /* relations locked, as bits */
  uint8_t missing;                  /* statements that found no row */
} ltx;

typedef struct locks {
  const history *h;
  vrow rows[VROWS];
  int nrows;
  ltx tx[TX];
} locks;

enum { STEP_GOES_ON, STEP_FINISHED, STEP_WAITS, STEP_UNIQUE, STEP_FK };

void locks_init(locks *l, const history *h);
void locks_begin(locks *l, int t);
/* The next operation of an open transaction. STEP_WAITS: nothing changed that matters; *holder is waited for. */
int locks_step(locks *l, int t, int *holder);
/* DONE, or UNIQUE_ERROR: a deferred index is violated, or would be waited for. Then it is still open. */
int locks_commit(locks *l, int t);
void locks_abort(locks *l, int t);
/* PREPARE TRANSACTION: as locks_commit(), but everything is kept until locks_commit() or locks_abort() of the same one. */
int locks_prepare(const locks *l, int t);
/* One after the other, with what is prepared kept open: false if somebody has to wait, or fails. */
bool locks_serial(const history *h);
/* What is committed. */
void locks_state(const locks *l, state *st);

#endif
