/*
 * The contenders of the benchmarks of the reorder buffer, behind one face: the plain buffer, the library with
 * callbacks, the library with transactions taken and walked. The consumer looks at both ends of each row.
 */
#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#include "common/bench.h"

#include <twpa/reorder.h>

enum { PLAIN, CALLBACKS, TAKEN, ANNOUNCED /* CALLBACKS, and records are announced */ };

typedef struct contender {
  int kind;
  void *buffer; /* plain_buffer or twpa_reorder */
  twpa_txn *taken;     /* to be walked */
  twpa_change change;  /* all but the row */
  bench_memory memory; /* of the library: what it has asked for */
  uint64_t lsn;        /* of the last record */
  uint64_t sum;        /* what the consumer has seen */
  uint64_t given;      /* changes it has got */
} contender;

/* storage may be NULL; the memory limit is out of reach. */
void contender_open(contender *c, int kind, const twpa_storage *storage);
void contender_close(contender *c);
/* A record of this transaction comes soon. */
void contender_announce(contender *c, uint64_t xid);
/* Queues a row at the next position; top 0: a top-level transaction. */
void contender_queue(contender *c, uint64_t xid, uint64_t top, const void *row, size_t len);
void contender_commit(contender *c, uint64_t xid);

/* Some bytes: rows begin anywhere in the first half. */
#define CONTENDER_BYTES ((size_t)32 << 10)
const unsigned char *contender_row(uint64_t random);

#endif
