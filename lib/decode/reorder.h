/*
 * The inside of the reorder buffer.
 *
 * Lists and heaps over the transactions:
 *   by_xid   every transaction, top-level and sub
 *   open     those that are, or may be, top-level, by the position where they began: the restart point, the versions of
 *            the catalog, abort_before
 *   catalog  those that change the catalog
 *   sizes    tops with changes in memory, the largest tree first: whom to spill
 *   streams  of these, the ones that may be streamed
 *   touched  those that are not where they belong in the heaps: see account.c
 * Each top has lists of its own: subs; busy (it and subs that have changes); mem (that have changes in memory). So a
 * delivery costs nothing for subtransactions that are empty, and a spill nothing for those that are in storage already.
 *
 * How a call is made safe against failure: everything that can fail is reserved first, what was reserved is given back
 * on failure, and then the result is published. Where a call has to do several things one after the other (spill one
 * transaction, then the next), each is complete by itself, and repeating the call goes on where it stopped.
 */
#ifndef TWPA_DECODE_REORDER_H
#define TWPA_DECODE_REORDER_H

#include "base/xidmap.h"
#include "decode/version.h"
#include "decode/walk.h"

#include <twpa/reorder.h>

#define TWPA__EXPECTED 8 /* a power of two */

struct twpa_reorder {
  twpa__mem mem;
  twpa_output output;
  void *output_user;
  twpa_reorder_hooks hooks;
  twpa_storage storage_hooks;
  const twpa_storage *storage; /* &storage_hooks, or NULL */
  bool can_stream, streaming;  /* the output streams; and it may start */
  bool two_phase;
  bool busy;   /* inside a call */
  bool closed; /* freed by the host, but transactions are out */
  twpa_lsn two_phase_at;

  twpa__chunks chunks; /* of all arenas */
  twpa_txn *spare;     /* records of transactions that have ended, linked by top */
  size_t nspare;

  twpa__xidmap by_xid;
  twpa_xid expected[TWPA__EXPECTED]; /* what twpa_reorder_prefetch has been told last */
  uint32_t nexpected;                /* how often it was called */
  twpa__list open, catalog;
  twpa__heap sizes, streams;
  twpa__list touched; /* tops whose places in the heaps are to be looked at */
  size_t nopen, nsubs, ntaken;
  twpa_txn *offered; /* being offered to the host; it is until the commit is over */

  twpa_lsn last_lsn;    /* where the newest record starts */
  twpa_lsn restart_lsn; /* given to transactions that begin */
  uint64_t next_seq;
  uint64_t run; /* number of the last run of a delivery */

  size_t memory_bytes, memory_limit;
  uint64_t tuplecids, tuplecids_max;
  twpa__versions versions;

  twpa__list files, leftovers;
  bool removing; /* inside the storage's remove: a file that is to go meanwhile is put to the leftovers */
  twpa__file *shared; /* of the files, the one that small transactions are spilled into; or NULL */
  uint64_t nfiles, nleftovers, last_file;
  uint64_t storage_bytes, storage_segments;

  twpa__walk walk; /* for deliveries by callback */
  twpa_reorder_counters stats; /* the counters; what is "now" is filled in when asked for */
};

/* --- calls --- */

/* Begins a call that feeds a record; record may be NULL. Fails without beginning. */
static inline twpa_status twpa__reorder_enter(twpa_reorder *r, const twpa_record *record)
{
  if (r == NULL || r->closed)
    return TWPA_E_INVAL;
  if (r->busy)
    return TWPA_E_REENTRANT;
  if (record != NULL) {
    if (record->lsn == TWPA_LSN_NONE || (record->end_lsn != TWPA_LSN_NONE && record->end_lsn < record->lsn))
      return TWPA_E_INVAL;
    if (record->lsn < r->last_lsn)
      return TWPA_E_STATE;
  }
  r->busy = true;
  return TWPA_OK;
}

/* Ends a call; on success the position of the record is the newest. Returns st. */
static inline twpa_status twpa__reorder_leave(twpa_reorder *r, const twpa_record *record, twpa_status st)
{
  if (st == TWPA_OK && record != NULL)
    r->last_lsn = record->lsn;
  r->busy = false;
  return st;
}

/* --- reorder.c: looking up, making and dropping of transactions --- */

/* NULL if it is not there. */
static inline twpa_txn *twpa__txn_find(const twpa_reorder *reorder, twpa_xid xid)
{
  return twpa__xidmap_get(&reorder->by_xid, xid);
}

/* Makes one that is not there; it is in the map, but in no list yet. NULL: no memory. */
twpa_txn *twpa__txn_make(twpa_reorder *reorder, twpa_xid xid, twpa_lsn lsn);
/* Undoes twpa__txn_make for a transaction that is in no list. */
void twpa__txn_unmake(twpa_txn *txn);
/* Puts it at the end of the open ones. */
void twpa__txn_open(twpa_txn *txn);
/* Forgets the changes of one (sub)transaction: memory and storage. */
void twpa__txn_drop_changes(twpa_txn *txn);
/* Forgets the changes of a top and all its subtransactions. */
void twpa__tree_drop_changes(twpa_txn *top);
/* Removes a transaction, and its subtransactions if it is a top. */
void twpa__txn_drop(twpa_txn *txn);
/* It was rolled back, as somebody says: what it told about its rows is forgotten; its changes are for the caller. */
void twpa__txn_mark_aborted(twpa_txn *txn);
/* Forgets what a top and its subtransactions told about their rows. */
void twpa__tree_drop_tuplecids(twpa_txn *top);
/* A top begins at no version of the catalog any more; `trim`: nobody looks at the bytes of versions at the moment. */
void twpa__txn_unuse_base(twpa_txn *top, bool trim);
/* Takes a top out of everything but keeps what is needed to walk it. */
void twpa__txn_detach(twpa_txn *top);
/* Gives back what twpa__txn_detach has left; `trim` as above. */
void twpa__txn_release_taken(twpa_txn *top, bool trim);
/* Frees a buffer that the host has freed, when the last taken transaction is back. */
void twpa__reorder_close(twpa_reorder *reorder);

/* --- account.c: sizes, heaps and lists that follow the changes of a transaction --- */

/* The arena of txn has not the weight any more that it had. */
void twpa__account_weight(twpa_txn *txn, size_t old_bytes);
/* The arena of txn had old_bytes before; a change more or none. Keeps everything in step. */
static inline void twpa__account_arena(twpa_txn *txn, size_t old_bytes)
{
  if (txn->arena.bytes != old_bytes)
    twpa__account_weight(txn, old_bytes);
}

/* How much memory may be kept for what comes next follows the limit. */
void twpa__account_spares(twpa_reorder *reorder);
/* The size or the state of the top has changed: its place in the heaps is not right any more. */
void twpa__account_heaps(twpa_txn *top);
/* Puts all of those where they belong; to be called before a heap is asked for its first. */
void twpa__account_settle(twpa_reorder *reorder);
/* Has it something, and nothing that forbids to stream it? */
bool twpa__txn_may_stream(const twpa_txn *top);
/* The transaction is in the lists of the top that it should be in. */
void twpa__account_lists(twpa_txn *txn);
/* The transaction changes the catalog. */
void twpa__account_catalog(twpa_txn *txn);
/* ... and so does its top. */
void twpa__account_catalog_of(twpa_txn *txn);

/* --- kin.c: kinship --- */

/* May `sub` hang below `top`? (Either may be NULL: not known yet.) TWPA_OK or TWPA_E_STATE. */
twpa_status twpa__kin_check(const twpa_txn *top, const twpa_txn *sub);
/*
 * Makes `sub` a subtransaction of `top_xid`, which is made at `lsn` if it is not there. A sub that is in no list yet is
 * put in. TWPA_E_STATE, TWPA_E_NOMEM: nothing has happened.
 */
twpa_status twpa__kin_link(twpa_reorder *reorder, twpa_xid top_xid, twpa_txn *sub, twpa_lsn lsn);
/* Checks, then links, the subtransactions that an end record lists. The top is made if only some of them are known. */
twpa_status twpa__kin_end(twpa_reorder *reorder, twpa_txn **top, twpa_xid xid, const twpa_record *record,
                          const twpa_commit *end);

/* --- queue.c --- */

/* The (sub)transaction of a record is known from now on, and linked to its top. */
twpa_status twpa__reorder_touch(twpa_reorder *reorder, const twpa_record *record);
bool twpa__origin_filtered(const twpa_reorder *reorder, uint32_t origin);

/* --- deliver.c --- */

/* Executes the invalidations of one (sub)transaction. */
void twpa__invalidate_txn(const twpa_txn *txn);
/* Executes those of a top and its subtransactions. */
void twpa__invalidate_tree(const twpa_txn *top);
/* Executes those of the versions that follow `from`, as far as they concern the top. `from` may be NULL: none. */
void twpa__invalidate_versions(const twpa_txn *top, const twpa__version *from);
/* After the changes were given out, or some of them: own and others' invalidations, lest caches keep what it saw. */
void twpa__invalidate_after(const twpa_txn *top);
/* What a callback's result becomes. */
twpa_status twpa__callback_status(int result);
/* Gives a committed transaction to the output. *taken: it is the host's now. */
twpa_status twpa__deliver_commit(twpa_txn *top, bool *taken);

/* --- end.c --- */

/* Has somebody said that the transaction, or a listed subtransaction, was rolled back? Then its changes are gone. */
bool twpa__any_aborted(twpa_reorder *reorder, const twpa_txn *top, const twpa_commit *end);
/* Committed, but nobody wants it: its invalidations are executed, and it goes. TWPA_E_STATE if it was streamed. */
twpa_status twpa__txn_forget(twpa_txn *top);
/* A commit of a transaction that is not prepared. */
twpa_status twpa__txn_commit(twpa_txn *top, const twpa_record *record, const twpa_commit *end);

/* What an end record says, to be put back if the call fails. */
typedef struct twpa__end {
  twpa_lsn final_lsn, end_lsn, origin_lsn;
  twpa_time time;
  uint32_t origin;
} twpa__end;

/* Sets what the record says, and tells what was there. */
twpa__end twpa__txn_set_end(twpa_txn *top, const twpa_record *record, const twpa_commit *end);
void twpa__txn_restore_end(twpa_txn *top, const twpa__end *end);
/* Drops a transaction as rolled back; `lsn` is told to a stream. */
twpa_status twpa__txn_abort(twpa_txn *txn, twpa_lsn lsn);

/* --- check.c: for tests --- */

/* Walks over everything and compares it with what it should be. NULL, or which promise is broken. */
const char *twpa__reorder_check(const twpa_reorder *reorder);

#endif
