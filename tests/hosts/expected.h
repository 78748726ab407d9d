/* The server's own answer: what test_decoding printed, transaction by transaction. */
#ifndef TESTS_HOSTS_EXPECTED_H
#define TESTS_HOSTS_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

typedef struct expected_change {
  char op;            /* I insert, U update, D delete, T truncate */
  const char *tables; /* "public.a", or "public.a, public.b" for a truncate */
  const char *text;   /* what follows "INSERT: " and so on, continuation lines included */
} expected_change;

typedef struct expected_txn {
  uint32_t xid;
  expected_change *changes;
  size_t nchanges;
} expected_txn;

typedef struct expected {
  char *text;
  expected_txn *txns;
  size_t ntxns;
  size_t nmessages;
} expected;

/* Reads $TWPA_DATA_DIR/NAME/expected.txt; fails the running test if that is not possible. */
void expected_read(expected *e, const char *name);
void expected_free(expected *e);

/* Path of the cold directory of a sample: $TWPA_DATA_DIR/NAME/data. Valid until the next call. */
const char *sample_path(const char *name);

#endif
