/*
 * What the tests of the decoding half share: a consumer that follows the protocol of the output callbacks and
 * checks its grammar, storage in memory that can fail and be damaged, and short ways to feed records.
 *
 * The consumer keeps two texts. `log` has a line for every callback, in the order of the calls. `result` has what a
 * consumer ends up with: committed transactions with their changes, streams put together, what was aborted taken
 * out, and what a failed delivery has left dropped.
 */
#ifndef TESTS_DECODE_KIT_H
#define TESTS_DECODE_KIT_H

#include "support/faultmem.h"
#include "support/runner.h"

#include "decode/reorder.h"

#include <stdbool.h>
#include <twpa/reorder.h>

typedef struct text {
  char *data;
  size_t len, cap;
} text;

void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(text *t);
const char *text_get(const text *t);

typedef struct kit_line {
  twpa_xid xid;
  char *line;
} kit_line;

/* A transaction that the consumer has got something of. */
typedef struct kit_txn {
  twpa_xid xid;
  kit_line *lines;
  size_t nlines, cap, block; /* block: where the open block, or the delivery, began */
  bool in_block, delivering, streamed, prepared;
  struct kit_txn *next;
} kit_txn;

typedef struct kit_file {
  uint64_t id;
  unsigned char *data;
  size_t len, cap;
  struct kit_file *next;
} kit_file;

typedef struct kit {
  twpa_output output;
  twpa_storage storage;
  twpa_reorder_hooks hooks;
  text log, result;
  kit_txn *txns;
  kit_file *files;
  const twpa_reorder *reorder; /* for the re-entrancy test */
  twpa_txn *taken[64];
  size_t ntaken;
  bool keep_log;               /* write the log */
  bool show_view;              /* add to each line what the change sees of the catalog */
  bool take;                   /* take what is offered */
  twpa_xid aborted_xids[512];  /* what is rolled back already, before the log says so */
  size_t naborted;
  bool abort_by_status;        /* xid_status knows them */
  bool abort_by_callback;      /* changes of them are answered with "aborted" */
  uint32_t filter_origin;      /* leave this one out; 0: none */
  const char *filter_gid;      /* filter the prepare of this one */
  size_t calls, fail_at;       /* the callback that fails, from 1; 0: none */
  size_t store_calls, store_fail_at;
  bool store_persistent;
  size_t invalidations, invalidate_alls, progress;
  twpa_lsn progress_lsn;
  twpa_lsn abort_lsn, rollback_lsn; /* what the last stream_abort, the last rollback_prepared said */
  twpa_time rollback_time;
  twpa_xid committed_xid; /* xid_status says so; 0: none */
  size_t status_calls;
  size_t max_files;
} kit;

/* All callbacks, storage, no faults. Streaming and two-phase callbacks are always there. */
void kit_init(kit *k);
/* Walks what was taken since, as the consumer does with deliveries; gives it back. Steps that fail are repeated. */
void kit_walk_taken(kit *k, void (*unfail)(kit *k, void *arg), void *arg);
void kit_free(kit *k);
/* The consumer has lost the connection: what is not complete or prepared is dropped. */
void kit_disconnect(kit *k);
twpa_reorder *kit_new(kit *k, const twpa_reorder_options *options, const twpa_allocator *mem);
/* Frees the buffer after checking it, and that nothing is left in storage. */
void kit_done(kit *k, twpa_reorder *r);
/* Fails the test if a promise of section 9 is broken. */
void kit_check(const twpa_reorder *r);
twpa_reorder_counters kit_stats(const twpa_reorder *r);

/* One record at `lsn`, ending right behind itself. Each returns the status. */
twpa_status kit_row(twpa_reorder *r, uint32_t kind, twpa_xid xid, twpa_xid top, twpa_lsn lsn, const char *row);
twpa_status kit_change(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, twpa_change change);
twpa_status kit_commit(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, const twpa_xid *subs, size_t nsubs);
twpa_status kit_abort(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, const twpa_xid *subs, size_t nsubs);

/* The same, which must succeed and leave everything in order. */
void ins(twpa_reorder *r, twpa_xid xid, twpa_xid top, twpa_lsn lsn, const char *row);
void change(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, twpa_change c);
void toast(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, uint64_t value, uint32_t seq, const char *bytes);
void message(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, const char *content, bool transactional);
void commit(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, size_t nsubs, const twpa_xid *subs);
void abort_xid(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn);

twpa_bytes str(const char *s);

#endif
