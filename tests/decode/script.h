/*
 * Random histories for the model test and the outcome they must have. A history is what a log would hold:
 * transactions interleaved, each with nested savepoints that are released or rolled back, rows in one or several
 * pieces, aborts that are known before the log tells them, transactions that vanish in a crash, prepared ones. The
 * expected outcome comes from the simplest possible model: keep the lines of everybody in the order of arrival,
 * strike out what is rolled back, print at the commit.
 */
#ifndef TESTS_DECODE_SCRIPT_H
#define TESTS_DECODE_SCRIPT_H

#include "decode/kit.h"

enum op_kind {
  OP_CHANGE,
  OP_NEW_CID,
  OP_TOUCH,
  OP_ASSIGN,
  OP_COMMIT,
  OP_FORGET,
  OP_ABORT,
  OP_ABORT_BEFORE,
  OP_PREPARE,
  OP_COMMIT_PREPARED,
  OP_ROLLBACK_PREPARED,
  OP_DISTRIBUTE,
  OP_MARK /* the listed ones and xid are rolled back, as the host can find out */
};

typedef struct op {
  enum op_kind kind;
  twpa_xid xid, top;
  twpa_lsn lsn;
  twpa_change change; /* its bytes are in text */
  char *text, *text2;
  uint64_t relations[3];
  twpa_xid *subs;
  size_t nsubs;
} op;

typedef struct script {
  op *ops;
  size_t nops, cap;
  text expected;
} script;

typedef struct script_options {
  uint64_t seed;
  size_t steps;
  twpa_xid first_xid;
  bool late;         /* kinship may be told late, or by the end record only */
  unsigned row_bytes; /* longest filler of a row */
} script_options;

void script_make(script *s, const script_options *options);
void script_free(script *s);
/* Feeds one operation. */
twpa_status script_feed(twpa_reorder *r, kit *k, const op *o);

#endif
