/*
 * The inside of a transaction. A subtransaction is one too, hanging below its top-level transaction once it is known to
 * be one; subtransactions of every depth hang directly below the top.
 *
 * Changes of a transaction are, in the order of arrival: what its segments say is in storage, then what its arena
 * holds.
 */
#ifndef TWPA_DECODE_TXN_H
#define TWPA_DECODE_TXN_H

#include "base/arena.h"
#include "base/heap.h"
#include "base/list.h"

#include <twpa/txn.h>

/*
 * A taken transaction may be walked on another thread from the moment its owner has offered it. Of the fields that the
 * walk reads, the owner writes none after that: what it does to a taken transaction are links, heaps and flags.
 */

struct twpa__walk;
struct twpa__version;

/* States of a transaction, in PostgreSQL's words where it has them. */
enum {
  TWPA__TXN_CATALOG = 1u << 0,    /* changes the catalog (HAS_CATALOG_CHANGES); linked in reorder->catalog */
  TWPA__TXN_CONTENT = 1u << 1,    /* top: something was queued in it or below: the output will see it */
  TWPA__TXN_STREAMABLE = 1u << 2, /* top: so will a stream (HAS_STREAMABLE_CHANGE) */
  TWPA__TXN_SPILLED = 1u << 3,    /* something of it was spilled once; for counting */
  TWPA__TXN_STREAMED = 1u << 4,   /* top: a block of it was given out (IS_STREAMED) */
  TWPA__TXN_DELIVERED = 1u << 5,  /* this very xid had a change in a block: the consumer must hear of its abort */
  TWPA__TXN_COMMITTED = 1u << 6,  /* xid_status said so; saves asking again (IS_COMMITTED) */
  TWPA__TXN_ABORTED = 1u << 7,    /* xid_status or the consumer said so: what comes is dropped (IS_ABORTED) */
  TWPA__TXN_PREPARED = 1u << 8,   /* top: its prepare record was seen and not filtered (IS_PREPARED) */
  TWPA__TXN_SKIPPED = 1u << 9,    /* top: ... but was not given out (SKIPPED_PREPARE) */
  TWPA__TXN_SENT = 1u << 10,      /* top: ... and was given out (SENT_PREPARE) */
  TWPA__TXN_IN_SIZES = 1u << 11,  /* top: in reorder->sizes */
  TWPA__TXN_IN_STREAMS = 1u << 12 /* top: in reorder->streams */
};

/*
 * A file in storage. Its owner is a transaction, and segments of its subtransactions may be in it too; or it has none and
 * holds segments of many small ones.
 */
typedef struct twpa__file {
  twpa__link link; /* in reorder->files, or in reorder->leftovers when its removal has failed */
  uint64_t id;          /* never 0 */
  uint64_t size;        /* where the next block goes */
  uint64_t live_blocks; /* segments in it, and the one being written; it is removed when there are none left */
  struct twpa_txn *owner; /* NULL: shared */
} twpa__file;

/* A block in storage. */
typedef struct twpa__segment {
  twpa__file *file;
  uint64_t offset;
  uint64_t first_seq; /* of its first change */
  uint32_t bytes;     /* header included */
  uint32_t room;      /* what it takes up in the file: there may be padding behind it */
} twpa__segment;

/* One twpa_reorder_new_cid(). */
typedef struct twpa__tuplecid {
  twpa_new_cid cid;
  uint64_t seq;
} twpa__tuplecid;

/*
 * The order of the fields is that of their use: with many open transactions each is in memory that no cache holds, and
 * what counts is how many lines a call touches. First what every change reads and writes, one line of it; then what
 * the first change and the end do; links to neighbours in lists, which the end of these writes too, stand together.
 */
struct twpa_txn {
  struct twpa_txn *top; /* NULL: top-level, or not known to be a subtransaction */
  uint32_t flags;
  uint32_t origin;
  twpa_xid toast_xid;    /* top: whose long values wait for their row; 0 */
  twpa_xid spec_xid;     /* top: whose speculative insert waits for its confirmation; 0 */
  uint64_t tree_changes; /* top: all that are held, of itself and its subtransactions */
  uint64_t nmem;         /* changes in the arena */
  twpa__arena arena;
  size_t tree_bytes; /* top: arena.bytes, of itself and its subtransactions */

  twpa__link node;       /* in reorder->open, or in top->subs */
  twpa__link in_touched; /* in reorder->touched */
  twpa__link in_busy;    /* has changes: in top->busy (its own, if it is a top) */
  twpa__link in_mem;     /* has changes in memory: in top->mem (likewise) */

  struct twpa_reorder *owner;
  struct twpa__version *base; /* top: the version of the catalog after which it began */
  uint64_t nstored;           /* changes in storage */
  twpa__segment *segments;
  size_t nsegments, segments_cap;
  uint64_t epoch;   /* counts how often the arena was emptied */
  twpa__file *file; /* the one it owns */

  uint64_t shared_id; /* as a top: the shared file that it was spilled into, which need not be there any more; 0 */

  twpa_xid xid;
  twpa_lsn first_lsn, final_lsn, end_lsn, restart_lsn, origin_lsn;
  twpa_time time;

  twpa__list subs;     /* known subtransactions */
  size_t nsubs;
  twpa__link in_catalog; /* in reorder->catalog */

  /* What goes with this very (sub)transaction: an abort of it takes it away. */
  unsigned char *invals; /* own invalidations: each a 32-bit length, then the bytes */
  size_t invals_len, invals_cap;
  twpa__tuplecid *tuplecids;
  size_t ntuplecids, tuplecids_cap;

  /* Of a top, over itself and its subtransactions. */
  twpa__list busy, mem;
  twpa__heap_node in_sizes, in_streams;
  uint64_t given_seq;    /* what arrived before was streamed */
  struct twpa__version *passed; /* the one that streaming has come to; NULL: the base */
  struct twpa__version *last;   /* the one up to which it goes; NULL: the newest */
  twpa_cid command;             /* the command that streaming has come to */

  /* Two-phase commit. */
  char *gid;
  size_t gid_len;
  twpa_lsn prepare_end_lsn;
  twpa_time prepare_time;

  bool taken;              /* the host has it, or is being offered it */
  uint64_t run;            /* the last run that gave out a change of it */
  struct twpa__walk *walk; /* while it is given out, or taken */
  void *user;
};

/* The top-level transaction, as far as is known. */
static inline twpa_txn *twpa__txn_top(twpa_txn *txn)
{
  return txn->top != NULL ? txn->top : txn;
}

/* Has the lines fetched that every change needs. */
static inline void twpa__txn_prefetch(const twpa_txn *txn)
{
  __builtin_prefetch(txn, 1);
  __builtin_prefetch(&txn->arena.bytes, 1);
  __builtin_prefetch(&txn->in_touched, 1);
}

/* Has the rest of it fetched, which its end needs, and where it begins to be read. */
static inline void twpa__txn_prefetch_end(const twpa_txn *txn)
{
  const size_t line = 64;
  for (size_t at = offsetof(twpa_txn, node); at < sizeof *txn; at += line)
    __builtin_prefetch((const char *)txn + at, 1);
  for (size_t at = 0; at < 4 * line; at += line)
    __builtin_prefetch((const void *)((uintptr_t)txn->arena.first + at), 0);
}

/* The changes that it holds, in memory and in storage. */
static inline uint64_t twpa__txn_changes(const twpa_txn *txn)
{
  return txn->nmem + txn->nstored;
}

/* The version of the catalog before its next change. NULL: it has no base. */
static inline struct twpa__version *twpa__txn_version(const twpa_txn *top)
{
  return top->passed != NULL ? top->passed : top->base;
}

static inline bool twpa__txn_is(const twpa_txn *txn, uint32_t flag)
{
  return (txn->flags & flag) != 0;
}

#endif
