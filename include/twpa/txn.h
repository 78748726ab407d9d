/**
 * @file txn.h
 * A transaction, as callbacks get it and as the host may take it.
 */
#ifndef TWPA_TXN_H
#define TWPA_TXN_H

#include <twpa/change.h>
#include <twpa/status.h>

/**
 * @defgroup txn Transactions
 * A #twpa_txn belongs to the library; a callback gets it borrowed. One exception: the
 * callback twpa_output.take may keep a committed transaction. It is then an object by itself, which is walked with
 * twpa_txn_next(), rewound for another try, and given back with twpa_txn_release().
 *
 * A taken transaction may be walked on another thread while its owner goes on, one thread at a time; the allocator
 * of the owner must then be safe for that (the C library's is), and so must twpa_storage.read. It is released on
 * the thread that uses its owner, at the latest before the owner's storage hooks cease to work; it may outlive the
 * owner.
 *
 * Accessors take O(1), change nothing and may be called inside every callback. Those for NULL are 0 or NULL.
 * @{
 */

TWPA_BEGIN_DECLS

/** A transaction or subtransaction. Opaque. */
typedef struct twpa_txn twpa_txn;

/** The id. @param[in] txn a transaction @return its own id. */
TWPA_API twpa_xid twpa_txn_xid(const twpa_txn *txn);

/**
 * The id of the top-level transaction.
 * @param[in] txn  a transaction
 * @return the id of its top-level transaction; its own if it is one or is not known to be a subtransaction
 */
TWPA_API twpa_xid twpa_txn_top_xid(const twpa_txn *txn);

/** Where it began. @param[in] txn a transaction @return start of the first record that was fed for it or for a
 * subtransaction of it. */
TWPA_API twpa_lsn twpa_txn_first_lsn(const twpa_txn *txn);

/** Where it ended. @param[in] txn a transaction @return start of the record that commits or prepares it; 0 before. */
TWPA_API twpa_lsn twpa_txn_final_lsn(const twpa_txn *txn);

/** Where its last record ends. @param[in] txn a transaction @return first position after the record that ended it; 0
 * before, or if the log does not tell. Among commits this is the order of the log. */
TWPA_API twpa_lsn twpa_txn_end_lsn(const twpa_txn *txn);

/** When it ended. @param[in] txn a transaction @return the time of its last end record: prepare, then commit. */
TWPA_API twpa_time twpa_txn_time(const twpa_txn *txn);

/** Where it was first made. @param[in] txn a transaction @return origin of its end record; while a transaction in
 * progress is streamed, that of the first change of the block, or, where that has none, of an earlier block. */
TWPA_API uint32_t twpa_txn_origin(const twpa_txn *txn);

/** Where in the log of its origin it ended. @param[in] txn a transaction @return that position, 0 for none. */
TWPA_API twpa_lsn twpa_txn_origin_lsn(const twpa_txn *txn);

/** Where a restart may begin to see all of it. @param[in] txn a transaction @return what twpa_reorder_set_restart_lsn()
 * had been told when it, or the first subtransaction of it, began; 0 if nothing. */
TWPA_API twpa_lsn twpa_txn_restart_lsn(const twpa_txn *txn);

/**
 * In which command it is: what it has written itself before this one counts as done, for the historic visibility of
 * its own catalog rows.
 * @param[in] txn  the transaction being delivered; a taken one
 * @return the highest #TWPA_COMMAND, of it or a subtransaction, before the change that was given out last, and 0 before
 *         the first; in callbacks that stand before or after all changes, that of the end of the last stream block
 */
TWPA_API twpa_cid twpa_txn_command_id(const twpa_txn *txn);

/**
 * Which state of the catalog it sees, its own changes apart: everything that was committed up to a place in the log,
 * whether the transaction had begun already or not.
 * @param[in] txn  the transaction being delivered; a taken one
 * @return record of the last twpa_reorder_distribute() before the change that was given out last; 0 if there was none
 *         before its first row, truncate or message, or ever. In callbacks that stand before or after all changes, that
 *         of the end of the last stream block, or of the beginning.
 */
TWPA_API twpa_lsn twpa_txn_catalog_lsn(const twpa_txn *txn);

/**
 * How many changes it holds.
 * @param[in] txn  a transaction
 * @return changes of it and of its known subtransactions that are held, in memory or in storage, internal ones included
 */
TWPA_API uint64_t twpa_txn_changes(const twpa_txn *txn);

/**
 * Puts a value of the host's onto the transaction; it starts as NULL and is forgotten with the transaction.
 * @param[in] txn   a transaction
 * @param[in] user  anything
 */
TWPA_API void twpa_txn_set_user(twpa_txn *txn, void *user);

/** The value of twpa_txn_set_user(). @param[in] txn a transaction @return the value, at first NULL. */
TWPA_API void *twpa_txn_user(const twpa_txn *txn);

/**
 * A long value of the row that has just been handed out, put together from its chunks.
 *
 * To be called in the change callbacks, or after twpa_txn_next(); the bytes stay until the next change.
 *
 * @param[in]  txn       the transaction being delivered
 * @param[out] value     the bytes, all chunks in a row
 * @param[in]  relation  twpa_change.toast_relation of its chunks
 * @param[in]  value_id  twpa_change.toast_value of its chunks
 * @param[in]  len       the length that the row says it has
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if no chunk of it came with the row (the value has not been changed);
 *         #TWPA_E_CORRUPT if the chunks are not @p len bytes together. O(1) on average.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_txn_toast(const twpa_txn *txn, twpa_bytes *value, uint64_t relation,
                                                   uint64_t value_id, size_t len);

/**
 * In which commands of this transaction a row version was written (twpa_reorder_new_cid()), for the historic visibility
 * of its own catalog rows. To be called while the transaction is given out (from the callbacks for its changes; not yet
 * from twpa_output.begin, when there is no change to look at), or after twpa_txn_next().
 *
 * What was told last about a row version is what counts; what a rolled-back subtransaction has written does not.
 *
 * @param[in]  txn      the transaction being delivered
 * @param[out] cmin     the command that inserted it, or #TWPA_CID_NONE
 * @param[out] cmax     the command that deleted it, or #TWPA_CID_NONE
 * @param[in]  locator  the relation
 * @param[in]  tid      the row version
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if nothing was told about it; #TWPA_E_STATE if the transaction is not being
 *         delivered; #TWPA_E_NOMEM. O(log n) of the n records; the first call of a delivery sorts them, O(n log n).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_txn_tuplecid(twpa_txn *txn, twpa_cid *cmin, twpa_cid *cmax,
                                                      const twpa_locator *locator, const twpa_tid *tid);

/**
 * The next change of a taken transaction, in the order (lsn, arrival) over the transaction and all its subtransactions.
 * Gives rows, truncates, messages and invalidations.
 *
 * @param[in]  txn     a taken transaction
 * @param[out] change  the change, borrowed until the next call with @p txn
 * @return #TWPA_OK; #TWPA_NONE after the last change; #TWPA_E_STATE if it is not taken, or is inside
 *         twpa_txn_release(); #TWPA_E_REENTRANT from inside twpa_storage.read called by this function with @p txn;
 *         #TWPA_E_NOMEM, #TWPA_E_CALLBACK (storage hook), #TWPA_E_CORRUPT (storage, long values out of sequence, a
 *         confirmation without its speculative insert): the same call may be repeated, and goes on where it was.
 *         O(log of the number of subtransactions).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_txn_next(twpa_txn *txn, twpa_change *change);

/**
 * Goes back to before the first change.
 * @param[in] txn  a taken transaction
 * @return #TWPA_OK; #TWPA_E_STATE, #TWPA_E_REENTRANT as twpa_txn_next(). O(number of subtransactions).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_txn_rewind(twpa_txn *txn);

/**
 * Gives a taken transaction back: its memory and storage are freed. On the thread of its owner. Calls
 * twpa_storage.remove.
 *
 * May be called inside every callback and hook of the owner, for another transaction than the one that is being
 * offered, which it is until twpa_reorder_commit() returns: a host that keeps only so many can let go of the oldest in
 * twpa_output.take.
 *
 * @param[in] txn  a taken transaction; NULL does nothing; one that is not taken, is being offered, or is inside
 *                 twpa_txn_next() or this function, is left alone
 */
TWPA_API void twpa_txn_release(twpa_txn *txn);

TWPA_END_DECLS
/** @} */
#endif
