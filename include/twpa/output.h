/**
 * @file output.h
 * Where whole transactions go.
 */
#ifndef TWPA_OUTPUT_H
#define TWPA_OUTPUT_H

#include <twpa/txn.h>

/**
 * @defgroup output Output
 * A table of callbacks in the convention of PostgreSQL's output plugins. Transactions come
 * one after the other, in the order of their commit records; the changes of one in the order (lsn, arrival),
 * subtransactions woven in and those that were rolled back left out. The sequences are
 *
 *     begin (change | truncate | message)* commit
 *     begin_prepare (change | truncate | message)* prepare  ...later...  commit_prepared | rollback_prepared
 *     { stream_start (stream_change | stream_truncate | stream_message)* stream_stop }+
 *       ...between the blocks: stream_abort of subtransactions...
 *       stream_commit | stream_abort | stream_prepare ...later... commit_prepared | rollback_prepared
 *
 * A block of a stream is never inside another one. Messages outside of transactions come at any other place.
 *
 * **Result** of a callback: #TWPA_CALLBACK_OK; #TWPA_CALLBACK_ABORTED, see there; anything else makes the call that
 * led to it return #TWPA_E_CALLBACK. The transaction then stays in the buffer, and repeating the call delivers it
 * again from its `begin`, `begin_prepare` or `stream_start` on: what the consumer has got since that one counts for
 * nothing. What is complete is not repeated: a stream block whose `stream_stop` has succeeded, a transaction whose
 * `prepare` has, a `stream_abort` that has.
 *
 * Where it is the library that cannot go on (storage fails, there is no memory, long values are out of sequence), the
 * delivery or block just ends. So a `begin`, `begin_prepare` or `stream_start`, of whatever transaction, that comes
 * inside of another delivery or block says that this one counts for nothing.
 *
 * **What is required**: begin, change, commit. `truncate` and `message` may be missing; such changes are then left
 * out. With twpa_reorder_options.streaming: stream_start, stream_stop, stream_abort, stream_commit, stream_change, and
 * stream_truncate and stream_message exactly if there are `truncate` and `message` (stricter than PostgreSQL, where what
 * a consumer gets may depend on how much memory there is). With twpa_reorder_options.two_phase: begin_prepare, prepare,
 * commit_prepared, rollback_prepared; with both, stream_prepare.
 *
 * No callback may call a function of the buffer that called it (#TWPA_E_REENTRANT), statistics and accessors excepted,
 * and twpa_txn_release() of transactions that were taken before.
 * @{
 */

TWPA_BEGIN_DECLS

/** What a callback of twpa_output returns. */
enum {
  TWPA_CALLBACK_OK = 0,      /**< Done. */
  TWPA_CALLBACK_ABORTED = 1, /**< From change, truncate and message callbacks, of a transaction that is being streamed
                                  or prepared: the (sub)transaction was rolled back in the meantime, as reading the
                                  catalog has shown. The rest is dropped and the stream block closed; its abort record
                                  will follow. At any other place it is a failure. */
  TWPA_CALLBACK_DECLINED = 2 /**< From twpa_output.take: deliver it through the callbacks instead. */
};

/**
 * The callbacks. Initialise with #TWPA_OUTPUT_INIT. The first argument of each is the user pointer given along with the
 * table; `txn` is the top-level transaction and twpa_change.xid tells the subtransaction.
 */
typedef struct twpa_output {
  size_t struct_size; /**< Set by #TWPA_OUTPUT_INIT. */

  /** A committed transaction begins. */
  int (*begin)(void *user, twpa_txn *txn);
  /** A row: #TWPA_INSERT, #TWPA_UPDATE or #TWPA_DELETE. */
  int (*change)(void *user, twpa_txn *txn, const twpa_change *change);
  /** #TWPA_TRUNCATE. Optional. */
  int (*truncate)(void *user, twpa_txn *txn, const twpa_change *change);
  /** #TWPA_MESSAGE. For one that is not transactional `txn` is the transaction that it was sent in, if the log told and
   *  the buffer knows it, or NULL; it comes at once and belongs to none. Optional. */
  int (*message)(void *user, twpa_txn *txn, const twpa_change *change);
  /** The transaction is complete: twpa_txn_final_lsn(), twpa_txn_end_lsn(). */
  int (*commit)(void *user, twpa_txn *txn);

  /** Shall this transaction be decoded when it is committed rather than when it is prepared? 0: when prepared;
   *  anything else: when committed. Must give the same answer for the same arguments always. Optional. */
  int (*filter_prepare)(void *user, twpa_xid xid, twpa_bytes gid);
  /** A prepared transaction begins. */
  int (*begin_prepare)(void *user, twpa_txn *txn, twpa_bytes gid);
  /** The prepared transaction is complete. */
  int (*prepare)(void *user, twpa_txn *txn, twpa_bytes gid);
  /** A transaction that was prepared is committed. */
  int (*commit_prepared)(void *user, twpa_txn *txn, twpa_bytes gid);
  /** A transaction that was prepared, or whose prepare was skipped, is rolled back. `prepare_end_lsn` and
   *  `prepare_time` are those of its prepare record, to find out whether it was ever received. */
  int (*rollback_prepared)(void *user, twpa_txn *txn, twpa_bytes gid, twpa_lsn prepare_end_lsn, twpa_time prepare_time);

  /** Some changes of a transaction in progress follow; `first_lsn` is that of the first. */
  int (*stream_start)(void *user, twpa_txn *txn, twpa_lsn first_lsn);
  /** The block ends; `last_lsn` is that of the last change in it. */
  int (*stream_stop)(void *user, twpa_txn *txn, twpa_lsn last_lsn);
  /** As `change`. */
  int (*stream_change)(void *user, twpa_txn *txn, const twpa_change *change);
  /** As `truncate`. There if that is. */
  int (*stream_truncate)(void *user, twpa_txn *txn, const twpa_change *change);
  /** As `message`, transactional ones only. There if that is. */
  int (*stream_message)(void *user, twpa_txn *txn, const twpa_change *change);
  /** The subtransaction `xid` of `txn`, of which something was streamed, is rolled back at `lsn`; or all of `txn`, if
   *  `xid` is its own id. `lsn` is 0 if no abort record exists (the server crashed). */
  int (*stream_abort)(void *user, twpa_txn *txn, twpa_xid xid, twpa_lsn lsn);
  /** Everything was streamed, and the transaction is prepared. */
  int (*stream_prepare)(void *user, twpa_txn *txn, twpa_bytes gid);
  /** Everything was streamed, and the transaction is committed. */
  int (*stream_commit)(void *user, twpa_txn *txn);

  /** Shall what comes from this origin be left out? 0: keep; anything else: leave out. Asked for every change and for
   *  every end record. Must give the same answer for the same origin always. Optional. */
  int (*filter_origin)(void *user, uint32_t origin);
  /** Called after every 100 changes of one delivery, internal ones included, with the position of the last: time to
   *  show a sign of life. Optional. */
  int (*update_progress)(void *user, twpa_txn *txn, twpa_lsn lsn);

  /** A committed transaction is offered as an object, before `begin`. #TWPA_CALLBACK_OK: the host has taken it and will
   *  call twpa_txn_release(), and no callback follows; #TWPA_CALLBACK_DECLINED: begin..commit follow. Not offered: what
   *  was streamed or prepared. With `take` alone, and a host that never declines, begin, change and commit may be
   *  missing; declining is then a failure. Optional. */
  int (*take)(void *user, twpa_txn *txn);
} twpa_output;

/** Start of an initialiser of a #twpa_output: `twpa_output o = { TWPA_OUTPUT_INIT };`, or with further fields named. */
#define TWPA_OUTPUT_INIT sizeof(twpa_output)

TWPA_END_DECLS
/** @} */
#endif
