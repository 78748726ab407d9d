/**
 * @file reorder.h
 * The reorder buffer: interleaved changes in, whole transactions out.
 */
#ifndef TWPA_REORDER_H
#define TWPA_REORDER_H

#include <twpa/output.h>
#include <twpa/storage.h>

/**
 * @defgroup reorder Reorder buffer
 * A log holds the changes of many transactions, interleaved. The buffer collects them by transaction and, when the
 * commit record comes, gives the transaction to the output with its subtransactions woven in. It is what a host uses
 * whose log is not PostgreSQL's, or that knows by itself which changes to keep.
 *
 * **Order.** Records are fed in the order of the log. A record that starts before an earlier one is refused
 * (#TWPA_E_STATE). Changes at the same position stay in the order in which they were fed.
 *
 * **Kinship.** That a transaction is a subtransaction may become known with its first record (twpa_record.top_xid),
 * later, or only from the commit record; the result is the same. Subtransactions of every depth hang directly below
 * the top-level one. What contradicts something known is refused (#TWPA_E_STATE).
 *
 * **Failure.** A call that fails leaves the transactions as they were, and repeating it has the outcome that it would
 * have had at first, with three exceptions.
 * - What is true of a record whatever becomes of the call may be known afterwards: that its transaction exists and
 *   whose subtransaction it is, as if twpa_reorder_touch() had been called with it, or twpa_reorder_assign() for the
 *   known subtransactions that an end record lists. Nothing may be fed then that lies before it.
 * - What the memory limit asks for is done in steps. Those that were completed (a transaction, or a part of it, is in
 *   storage; a block was streamed; what is rolled back was dropped) are not undone.
 * - What a call has reported to the output and need not report again is done: an abort of several transactions goes
 *   on with the first that the output has not heard of. The description of the output says what is repeated.
 *
 * After a delivery that fails, invalidations are executed as after one that succeeds.
 *
 * Unless a function says otherwise, each may return #TWPA_E_INVAL (NULL, or a record without position),
 * #TWPA_E_REENTRANT, #TWPA_E_NOMEM, and #TWPA_E_STATE (order or kinship as above).
 * @{
 */

TWPA_BEGIN_DECLS

/** A reorder buffer. Used by one thread at a time. Opaque. */
typedef struct twpa_reorder twpa_reorder;

/** What twpa_reorder_hooks.xid_status returns. */
enum {
  TWPA_XID_IN_PROGRESS = 0, /**< Not ended, or not known. */
  TWPA_XID_COMMITTED = 1,   /**< Committed. */
  TWPA_XID_ABORTED = 2      /**< Rolled back, or lost in a crash. */
};

/** What the buffer asks its host for. All are optional. Initialise with #TWPA_REORDER_HOOKS_INIT. */
typedef struct twpa_reorder_hooks {
  size_t struct_size; /**< Set by #TWPA_REORDER_HOOKS_INIT. */
  void *user;         /**< First argument of the hooks. */
  /** How a (sub)transaction stands at this moment, which may be later than the log has been read. Asked before it is
   *  spilled or streamed, so that what was rolled back is dropped instead. Must know every commit that was fed. */
  uint32_t (*xid_status)(void *user, twpa_xid xid);
  /** Caches change: twpa_change.content of a #TWPA_INVALIDATION. Cannot fail. */
  void (*invalidate)(void *user, twpa_bytes content);
  /** Too many caches have changed to tell which: all of them. Cannot fail. */
  void (*invalidate_all)(void *user);
} twpa_reorder_hooks;

/** Start of an initialiser of a #twpa_reorder_hooks. */
#define TWPA_REORDER_HOOKS_INIT sizeof(twpa_reorder_hooks)

/** A memory limit that is never reached. */
#define TWPA_MEMORY_UNLIMITED SIZE_MAX

/** The memory limit if none is set: 64 MB (PostgreSQL: logical_decoding_work_mem). */
#define TWPA_MEMORY_DEFAULT ((size_t)64 << 20)

/** Options of a buffer; zero is the default of each. Initialise with #TWPA_REORDER_OPTIONS_INIT. */
typedef struct twpa_reorder_options {
  size_t struct_size;              /**< Set by #TWPA_REORDER_OPTIONS_INIT. */
  size_t memory_bytes;             /**< Limit for the changes held in memory, their overhead included; 0:
                                        #TWPA_MEMORY_DEFAULT. Has an effect only with #storage or #streaming; see
                                        twpa_reorder_set_memory_limit(). Giving a transaction out takes more for the
                                        time being: for each (sub)transaction with changes in storage one block, and
                                        the long values of the rows that share them. */
  const twpa_reorder_hooks *hooks; /**< Copied; NULL for none. */
  const twpa_storage *storage;     /**< Copied; NULL: nothing is spilled. */
  uint32_t streaming;              /**< 1: over the limit, give the largest transaction in progress to the stream
                                        callbacks. Kinship must then be known with the first change: what was
                                        given out under a wrong name or too early is found out
                                        (#TWPA_E_STATE), but cannot be repaired. */
  uint32_t two_phase;              /**< 1: give prepared transactions to the output when they are prepared. */
  twpa_lsn two_phase_at;           /**< Position from which on two-phase was on: what was prepared before is given out
                                        when it is committed, together with its prepare. */
  size_t distributed_bytes;        /**< How many bytes of other transactions' invalidations may follow a transaction
                                        before everything is invalidated instead; 0: 8 MB. */
  size_t tuplecids_max;            /**< How many records of twpa_reorder_new_cid() may be held; 0: any number. They stay
                                        in memory and do not count as changes. */
  uint64_t reserved;               /**< 0. */
} twpa_reorder_options;

/** Start of an initialiser of a #twpa_reorder_options. */
#define TWPA_REORDER_OPTIONS_INIT sizeof(twpa_reorder_options)

/** Figures of a buffer. Initialise with #TWPA_REORDER_COUNTERS_INIT. Counters start at 0 and never go back. */
typedef struct twpa_reorder_counters {
  size_t struct_size;          /**< Set by #TWPA_REORDER_COUNTERS_INIT. */
  uint64_t memory_bytes;       /**< Now: memory of the changes held, overhead included: what the limit is about. In a
                                    callback also what was read back from storage and put together for it. */
  uint64_t total_bytes;        /**< Now: all memory taken from the allocator, taken transactions included, but not what
                                    twpa_txn_next() has taken for the place where it stands in them. */
  uint64_t storage_bytes;      /**< Now: bytes in storage that belong to open transactions. Files are larger: what has ended
                                    stays in them until the last block of the file has, small subtransactions that were
                                    rolled back included. */
  uint64_t storage_files;      /**< Now: files in storage, those included whose removal has failed so far. */
  uint64_t storage_segments;   /**< Now: blocks in storage that belong to open transactions. */
  uint64_t open_tops;          /**< Now: transactions that are, or may be, top-level ones. */
  uint64_t open_subs;          /**< Now: known subtransactions. */
  uint64_t taken;              /**< Now: transactions taken and not yet released. */
  uint64_t tuplecids;          /**< Now: records of twpa_reorder_new_cid() held. */
  uint64_t distributed_bytes;  /**< Now: invalidations of other transactions held. */
  uint64_t queued_changes;     /**< Changes queued. */
  uint64_t queued_bytes;       /**< Their payload: rows, messages, chunks. */
  uint64_t delivered_txns;     /**< Transactions given out: committed, prepared, taken, or streamed the first time. */
  uint64_t delivered_changes;  /**< Rows, truncates and messages given out by callback, repetitions included. */
  uint64_t aborted_txns;       /**< Top-level transactions and subtransactions that were dropped as rolled back. */
  uint64_t spilled_txns;       /**< Transactions of which something was spilled, each subtransaction by itself. */
  uint64_t spilled_blocks;     /**< Blocks written to storage. */
  uint64_t spilled_bytes;      /**< Their bytes. */
  uint64_t restored_blocks;    /**< Blocks read back by deliveries through callbacks. */
  uint64_t streamed_txns;      /**< Transactions that were streamed before their end. */
  uint64_t streamed_blocks;    /**< Stream blocks given out. */
  uint64_t limit_exceeded;     /**< Calls that found the memory limit exceeded. */
  uint64_t toast_dropped;      /**< Chunks of long values that no row followed, in deliveries through callbacks. */
} twpa_reorder_counters;

/** Start of an initialiser of a #twpa_reorder_counters. */
#define TWPA_REORDER_COUNTERS_INIT sizeof(twpa_reorder_counters)

/**
 * Makes a buffer.
 * @param[out] reorder    the buffer; unchanged on failure
 * @param[in]  options    copied; NULL for the defaults
 * @param[in]  output     where transactions go; copied
 * @param[in]  user       first argument of the output's callbacks
 * @param[in]  allocator  copied; NULL for the C library's
 * @return #TWPA_OK; #TWPA_E_INVAL if a required callback or hook is missing; #TWPA_E_UNSUPPORTED if a table is
 *         newer than the library and uses what it does not have; #TWPA_E_NOMEM
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_new(twpa_reorder **reorder, const twpa_reorder_options *options,
                                                     const twpa_output *output, void *user,
                                                     const twpa_allocator *allocator);

/**
 * Frees a buffer and all it holds, without telling the output. Taken transactions stay good until they are released.
 * @param[in] reorder  a buffer; NULL does nothing. Must not be called from a callback of the buffer: nothing
 *                     happens then.
 */
TWPA_API void twpa_reorder_free(twpa_reorder *reorder);

/**
 * Tells that a record with this transaction id exists, whatever is in it. To be called for every record of the log that
 * no other call is made for: where a transaction began depends on it, and so does the restart point.
 * @param[in] reorder  a buffer
 * @param[in] record   the record; without a transaction id only its position is noted
 * @return #TWPA_OK or as described above. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_touch(twpa_reorder *reorder, const twpa_record *record);

/**
 * Starts loading into the cache what a call for a (sub)transaction will look at. With thousands of open transactions,
 * waiting for memory is most of what a change costs; a host that has the next records at hand and announces the ids of
 * all, in their order and about ten records ahead, saves that. Changes nothing else, needs no position, and may be left
 * out, or be wrong.
 *
 * @param[in] reorder  a buffer; NULL: nothing happens
 * @param[in] xid      the transaction id of a record that comes soon. O(1), calls nothing
 */
TWPA_API void twpa_reorder_prefetch(twpa_reorder *reorder, twpa_xid xid);

/**
 * Queues a change: it is copied, and comes out when its transaction is committed.
 *
 * A message with #TWPA_CHANGE_NONTRANSACTIONAL is handed to twpa_output.message before the call returns, and an
 * invalidation without a transaction id to twpa_reorder_hooks.invalidate. What twpa_output.filter_origin leaves out is
 * not queued, but its transaction is known from then on.
 *
 * Over the memory limit, the call streams, spills or drops transactions before it returns, and calls the hooks and
 * stream callbacks for that. If that fails when the change itself has gone out already, the call has succeeded, and the
 * next one tries again.
 *
 * @param[in] reorder  a buffer
 * @param[in] record   the record it is in; several changes may have the same
 * @param[in] change   the change
 * @return #TWPA_OK; #TWPA_E_INVAL also for an unknown kind, flags that do not belong to it, or lengths beyond the
 *         limits; #TWPA_E_STATE also for a transaction that is prepared or whose top-level one is; #TWPA_E_CALLBACK,
 *         #TWPA_E_CORRUPT (from streaming). A failure means that the change is not queued. O(size of the change), plus
 *         what the limit asks for.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_queue(twpa_reorder *reorder, const twpa_record *record,
                                                       const twpa_change *change);

/**
 * Tells that a catalog row was written. The transaction counts as one that changes the catalog from then on.
 * @param[in] reorder  a buffer
 * @param[in] record   the record; its xid is the (sub)transaction that wrote the row
 * @param[in] new_cid  what the record says; copied
 * @return #TWPA_OK; #TWPA_E_INVAL also if it has neither cmin nor cmax, or no top-level transaction; #TWPA_E_STATE also
 *         for a transaction that is prepared; #TWPA_E_LIMIT if twpa_reorder_options.tuplecids_max are held. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_new_cid(twpa_reorder *reorder, const twpa_record *record,
                                                         const twpa_new_cid *new_cid);

/**
 * Tells that a transaction is a subtransaction. Either may be unknown so far. Saying it again changes nothing.
 * @param[in] reorder  a buffer
 * @param[in] top      the top-level transaction
 * @param[in] sub      the subtransaction, of any depth
 * @param[in] lsn      start of the record that says so
 * @return #TWPA_OK; #TWPA_E_INVAL also if both are the same; #TWPA_E_STATE also if @p sub belongs to another one, has
 *         subtransactions itself, was streamed or prepared as a top-level one, or if @p top is a subtransaction. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_assign(twpa_reorder *reorder, twpa_xid top, twpa_xid sub,
                                                        twpa_lsn lsn);

/**
 * The transaction is committed: the output gets it, before the call returns, and it is gone. One that is not known,
 * or of which no change was queued, is not shown to the output; if twpa_output.filter_origin leaves the origin of
 * the record out, it is as twpa_reorder_forget().
 * @param[in] reorder  a buffer
 * @param[in] record   the commit record; its xid is the top-level transaction
 * @param[in] commit   what the record says
 * @return #TWPA_OK; #TWPA_E_STATE also if it is known as a subtransaction, or is prepared, or if the host has said of it
 *         or of a listed one that it was rolled back (twpa_reorder_hooks.xid_status, #TWPA_CALLBACK_ABORTED);
 *         #TWPA_E_CALLBACK; #TWPA_E_CORRUPT as in twpa_txn_next(). O(n log s) for n changes of s subtransactions.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_commit(twpa_reorder *reorder, const twpa_record *record,
                                                        const twpa_commit *commit);

/**
 * The transaction is committed, but nobody wants it (another database, an origin that is filtered, before the start
 * position): its invalidations are executed and it is gone. Also for the commit of a prepared transaction whose prepare
 * was skipped.
 * @param[in] reorder  a buffer
 * @param[in] record   the commit record
 * @param[in] commit   what the record says
 * @return #TWPA_OK; #TWPA_E_STATE also if something of it was streamed, or given out as prepared. O(what it holds).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_forget(twpa_reorder *reorder, const twpa_record *record,
                                                        const twpa_commit *commit);

/**
 * A transaction or subtransaction is rolled back, and the listed ones with it; for a top-level one, all that are
 * known as its subtransactions. It is gone, as if it had never been. If something of it was streamed,
 * twpa_output.stream_abort is called for each one concerned, and its invalidations are executed. Also for the rollback
 * of a prepared transaction whose prepare was skipped, if the output is not to hear of it.
 * @param[in] reorder  a buffer
 * @param[in] record   the abort record
 * @param[in] abort    what the record says
 * @return #TWPA_OK, also if it is not known; #TWPA_E_STATE also if it was given out as prepared, or a listed one or
 *         its top-level transaction is prepared; #TWPA_E_CALLBACK.
 *         O(what it holds).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_abort(twpa_reorder *reorder, const twpa_record *record,
                                                       const twpa_commit *abort);

/**
 * All transactions before @p oldest_running have ended: those that are still in the buffer were lost in a crash,
 * without an abort record, and are dropped as in twpa_reorder_abort(), with position 0. As in PostgreSQL, the
 * search goes from the one that began first and stops at the first that may be running.
 * @param[in] reorder         a buffer
 * @param[in] oldest_running  twpa_running_xacts.oldest_running_xid
 * @return #TWPA_OK; #TWPA_E_STATE if one of them is prepared, which does not end in a crash: nothing is dropped then;
 *         #TWPA_E_CALLBACK. O(what is dropped).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_abort_before(twpa_reorder *reorder, twpa_xid oldest_running);

/**
 * The transaction is prepared for a two-phase commit. With twpa_reorder_options.two_phase, and unless
 * twpa_output.filter_prepare says otherwise, the output gets it before the call returns; it stays in the buffer,
 * without its changes, until its end. One that is empty is not shown, neither now nor at its end. If
 * twpa_output.filter_origin leaves the origin of the record out, it is as twpa_reorder_skip_prepare(). If two-phase
 * is off or the filter says so, only the transaction is known from then on, and its end is an ordinary one.
 *
 * @param[in] reorder  a buffer
 * @param[in] record   the prepare record; its xid is the transaction
 * @param[in] prepare  what the record says
 * @param[in] gid      the name given to it; not empty; copied
 * @return #TWPA_OK, also if it is not known; #TWPA_E_INVAL also for an empty name; #TWPA_E_STATE also if it is prepared
 *         already; #TWPA_E_CALLBACK, #TWPA_E_CORRUPT as for twpa_reorder_commit(). O(n log s).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_prepare(twpa_reorder *reorder, const twpa_record *record,
                                                         const twpa_commit *prepare, twpa_bytes gid);

/**
 * The transaction is prepared, but the output has had it before a restart, or cannot get it yet: it is not given
 * out. If it is committed, and was prepared before twpa_reorder_options.two_phase_at, both are given out then. Its
 * invalidations are executed at once.
 * @param[in] reorder  a buffer
 * @param[in] record   the prepare record
 * @param[in] prepare  what the record says
 * @param[in] gid      the name given to it; not empty; copied
 * @return as twpa_reorder_prepare(), but never #TWPA_E_CALLBACK; #TWPA_E_STATE also if something of it was streamed
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_skip_prepare(twpa_reorder *reorder, const twpa_record *record,
                                                              const twpa_commit *prepare, twpa_bytes gid);

/**
 * A prepared transaction is committed. If twpa_output.filter_prepare says so, or two-phase is off, this is
 * twpa_reorder_commit().
 * @param[in] reorder  a buffer
 * @param[in] record   the record; its xid is the transaction that was prepared
 * @param[in] commit   what the record says
 * @param[in] gid      the name given to it
 * @return #TWPA_OK, also if it is not known; #TWPA_E_STATE also if it is known but not prepared, or under another name,
 *         or was rolled back as in twpa_reorder_commit();
 *         #TWPA_E_CALLBACK, #TWPA_E_CORRUPT. O(what it holds).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_commit_prepared(twpa_reorder *reorder, const twpa_record *record,
                                                                 const twpa_commit *commit, twpa_bytes gid);

/**
 * A prepared transaction is rolled back. twpa_output.rollback_prepared is called also if its prepare was skipped: the
 * consumer knows whether it has it. If twpa_output.filter_prepare says so, or two-phase is off, this is
 * twpa_reorder_abort().
 * @param[in] reorder  a buffer
 * @param[in] record   the record; its xid is the transaction that was prepared
 * @param[in] abort    what the record says
 * @param[in] gid      the name given to it
 * @return as twpa_reorder_commit_prepared()
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_rollback_prepared(twpa_reorder *reorder, const twpa_record *record,
                                                                   const twpa_commit *abort, twpa_bytes gid);

/**
 * Changes twpa_reorder_options.two_phase_at.
 * @param[in] reorder  a buffer
 * @param[in] lsn      the position
 * @return #TWPA_OK. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_set_two_phase_at(twpa_reorder *reorder, twpa_lsn lsn);

/**
 * Tells all open transactions that another one has changed the catalog: each executes these invalidations at its
 * place between its changes, and again when it has been given out. They are kept once, whatever the number of
 * transactions. To be called when the commit record has been read, before twpa_reorder_commit() or
 * twpa_reorder_forget() for it.
 *
 * They concern the transactions of which a change was queued before and that are not prepared. Of those that are
 * followed by more than twpa_reorder_options.distributed_bytes, the oldest invalidations are given up, and
 * twpa_reorder_hooks.invalidate_all is called in their place.
 *
 * @param[in] reorder  a buffer
 * @param[in] record   the commit record of the transaction that has changed the catalog
 * @param[in] content  what changes, as in twpa_change.content of #TWPA_INVALIDATION; copied. Empty: no cache changes, but
 *                     twpa_txn_catalog_lsn() does
 * @return #TWPA_OK or as described above. O(size of the content).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_distribute(twpa_reorder *reorder, const twpa_record *record,
                                                            twpa_bytes content);

/**
 * Switches streaming on or off for the time being, for a buffer made with twpa_reorder_options.streaming: a host
 * that has not reached its start position may collect, but not stream.
 * @param[in] reorder  a buffer
 * @param[in] on       1 or 0
 * @return #TWPA_OK; #TWPA_E_INVAL for another value; #TWPA_E_STATE if the buffer was made without streaming. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_set_streaming(twpa_reorder *reorder, uint32_t on);

/**
 * Changes the memory limit; what is over the new one is streamed, spilled or dropped at once.
 *
 * The limit is reached when the changes in memory are as large as it: a limit of 1 keeps nothing. Without storage, and
 * where nothing can be streamed, the buffer goes beyond it.
 *
 * @param[in] reorder  a buffer
 * @param[in] bytes    the limit, at least 1; #TWPA_MEMORY_UNLIMITED for none
 * @return #TWPA_OK; #TWPA_E_INVAL for 0; #TWPA_E_CALLBACK, #TWPA_E_CORRUPT, #TWPA_E_NOMEM: the new limit stands,
 *         and the next call that queues something tries again
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_set_memory_limit(twpa_reorder *reorder, size_t bytes);

/**
 * Where the oldest open transaction began: what a restart must read from, at the latest.
 * @param[in] reorder  a buffer; may be called inside callbacks
 * @return that position; 0 if no transaction is open. O(1).
 */
TWPA_API twpa_lsn twpa_reorder_oldest_lsn(const twpa_reorder *reorder);

/**
 * Tells from where on the host can read the log again and know the catalog (PostgreSQL: the newest snapshot that the
 * builder has saved or loaded). Transactions that begin from now on can be restarted there.
 * @param[in] reorder  a buffer
 * @param[in] lsn      the position; not before that of an earlier call
 * @return #TWPA_OK; #TWPA_E_STATE also if it is before that. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_reorder_set_restart_lsn(twpa_reorder *reorder, twpa_lsn lsn);

/**
 * From where on the log must be kept.
 * @param[in] reorder  a buffer; may be called inside callbacks
 * @return twpa_txn_restart_lsn() of the oldest open transaction; if none is open, what was told last; 0 if that is
 *         not known, or NULL. O(1).
 */
TWPA_API twpa_lsn twpa_reorder_restart_lsn(const twpa_reorder *reorder);

/**
 * Walks over the open top-level transactions, from the one that began first.
 * @param[in] reorder  a buffer; may be called inside callbacks
 * @param[in] txn      the transaction given last; NULL at the start
 * @return the next one, NULL at the end; borrowed until the buffer is used again. O(1).
 */
TWPA_API twpa_txn *twpa_reorder_next_open(const twpa_reorder *reorder, const twpa_txn *txn);

/**
 * The open transaction or subtransaction with an id.
 * @param[in] reorder  a buffer; may be called inside callbacks
 * @param[in] xid      an id
 * @return the transaction, NULL if none is open; borrowed until the buffer is used again. O(1).
 */
TWPA_API twpa_txn *twpa_reorder_find(const twpa_reorder *reorder, twpa_xid xid);

/**
 * Figures of the buffer.
 * @param[in]     reorder   a buffer; may be called inside callbacks
 * @param[in,out] counters  filled in up to its struct_size
 * @return #TWPA_OK; #TWPA_E_INVAL for a NULL or a wrong size. O(1).
 */
TWPA_API twpa_status twpa_reorder_stats(const twpa_reorder *reorder, twpa_reorder_counters *counters);

TWPA_END_DECLS
/** @} */
#endif
