/*
 * The decoding half of a trace: one reorder buffer with its options, the consumer that prints every callback, the
 * storage that keeps what is spilled, and the host's knowledge of how transactions have ended.
 */
#ifndef TWPA_TRACE_DECODE_H
#define TWPA_TRACE_DECODE_H

#include "run.h"

enum trace_storage_kind { STORAGE_NONE, STORAGE_MEMORY, STORAGE_FILES };
enum trace_delivery { DELIVER_CALLBACKS, DELIVER_TAKE, DELIVER_PLAN };
enum trace_printing { PRINT_ALL, PRINT_RUNS, PRINT_NONE };

/* A file of the storage in memory. */
typedef struct trace_file {
  uint64_t number;
  unsigned char *data;
  size_t len, cap;
} trace_file;

/* How a transaction stands, as the host knows. */
typedef struct trace_xid_status {
  twpa_xid xid;
  uint32_t status; /* TWPA_XID_* */
  bool hook, callback; /* who tells: the status hook, the answer of a change callback */
} trace_xid_status;

/* Row versions that deliveries are asked about. */
typedef struct trace_watch {
  uint64_t relation;
  twpa_tid tid;
} trace_watch;

/* Changes of one kind in a row, printed as one line. */
typedef struct trace_run_of_changes {
  uint64_t count;
  char name[24]; /* of the callback */
  uint32_t kind;
  twpa_xid xid;
  uint64_t relation;
  twpa_lsn first, last;
} trace_run_of_changes;

typedef struct decode_half {
  twpa_reorder *reorder; /* made with the first event */
  twpa_output output;
  twpa_reorder_hooks hooks;
  twpa_storage storage;

  /* options */
  uint64_t memory; /* 0: unlimited */
  uint32_t streaming, two_phase, storage_kind, delivery, use_hooks;
  twpa_lsn two_phase_at, start;
  uint64_t distributed;
  uint64_t filter_origin;
  char *filter_gid;
  uint32_t print_changes, print_storage, print_progress;

  bool streaming_on;
  bool ask; /* the delivery has not been asked about the watched row versions so far */
  trace_xid_status *statuses;
  size_t nstatuses, statuses_cap;
  trace_watch *watches;
  size_t nwatches, watches_cap;
  twpa_txn **taken;
  size_t ntaken, taken_cap;
  trace_run_of_changes run;

  trace_file *files; /* storage in memory */
  size_t nfiles, files_cap;
  twpa_file_spill *spill; /* storage in files */
  char *directory;
  bool crashed; /* the storage does nothing any more */
} decode_half;

/* --- buffer.c --- */
bool decode_open(trace *t); /* makes the buffer if there is none; false: it could not be made, and that was printed */
void decode_close(trace *t);
bool decode_hand_on(trace *t, trace_place at);

/* --- consumer.c --- */
void consumer_init(trace *t);
/* Ends a run of changes that is printed as one line. */
void consumer_flush(trace *t);
void consumer_change(trace *t, const char *name, twpa_txn *txn, const twpa_change *change);
trace_xid_status *consumer_status(const decode_half *d, twpa_xid xid);

/* --- storage.c --- */
/* Readies the storage that the options ask for; false: printed why not. */
bool storage_open(trace *t);
/* The hooks for the buffer; NULL without storage. */
const twpa_storage *storage_hooks(trace *t, twpa_storage *hooks);
/* After the buffer. `crash` leaves what is there for the next one to find. */
void storage_close(trace *t, bool crash);
void storage_remove(trace *t);
/* Files in the storage right now, whoever has left them there. */
size_t storage_files(const decode_half *d);

/* --- events.c, buffer.c, show.c: the verbs --- */
bool event_touch(trace *t, const trace_command *c);
bool event_row(trace *t, const trace_command *c);
bool event_spec_end(trace *t, const trace_command *c);
bool event_truncate(trace *t, const trace_command *c);
bool event_message(trace *t, const trace_command *c);
bool event_toast(trace *t, const trace_command *c);
bool event_invalidation(trace *t, const trace_command *c);
bool event_command_id(trace *t, const trace_command *c);
bool event_new_cid(trace *t, const trace_command *c);
bool event_assign(trace *t, const trace_command *c);
bool event_end(trace *t, const trace_command *c);
bool event_prepare(trace *t, const trace_command *c);
bool event_end_prepared(trace *t, const trace_command *c);
bool event_running(trace *t, const trace_command *c);
bool event_distribute(trace *t, const trace_command *c);

bool do_reorder(trace *t, const trace_command *c);
bool do_restart(trace *t, const trace_command *c);
bool do_memory(trace *t, const trace_command *c);
bool do_streaming(trace *t, const trace_command *c);
bool do_two_phase_at(trace *t, const trace_command *c);
bool do_again(trace *t, const trace_command *c);
bool do_fail(trace *t, const trace_command *c);
bool do_status(trace *t, const trace_command *c);
bool do_watch_cid(trace *t, const trace_command *c);
bool do_print(trace *t, const trace_command *c);
bool do_walk(trace *t, const trace_command *c);
bool do_rewind(trace *t, const trace_command *c);
bool do_release(trace *t, const trace_command *c);
bool do_show(trace *t, const trace_command *c);
bool do_expect(trace *t, const trace_command *c);

#endif
