/*
 * What one writes who needs a reorder buffer and has an afternoon: a malloc for each change, row included; a list of
 * them for each transaction; uthash to find the transaction, with the last one found kept at hand; a binary heap where
 * subtransactions must be woven in. It knows no memory limit, no storage, no streams, and it ends the process when
 * memory runs out. The baseline of the benchmarks of the reorder buffer.
 */
#ifndef BENCH_PLAIN_BUFFER_H
#define BENCH_PLAIN_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <twpa/types.h>

typedef struct plain_change {
  struct plain_change *next;
  uint64_t lsn;
  uint64_t xid;
  uint32_t kind;
  twpa_locator locator;
  uint32_t origin;
  uint32_t len;
  unsigned char row[];
} plain_change;

typedef void (*plain_output)(void *user, const plain_change *change);

typedef struct plain_buffer plain_buffer;

plain_buffer *plain_new(plain_output output, void *user);
void plain_free(plain_buffer *buffer);
/* A copy of the row goes to the transaction; top 0 or xid: it is a top-level one. */
void plain_queue(plain_buffer *buffer, uint64_t lsn, uint64_t xid, uint64_t top, uint32_t kind,
                 const twpa_locator *locator, const void *row, size_t len);
/* Gives the changes of the transaction and its subtransactions to the output, by position, and forgets them. */
void plain_commit(plain_buffer *buffer, uint64_t xid);

#endif
