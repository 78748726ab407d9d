/**
 * @file progress.h
 * What has been committed on the target: a low watermark, what is committed above it, and the log positions of
 * both.
 */
#ifndef TWPA_PROGRESS_H
#define TWPA_PROGRESS_H

#include <twpa/status.h>

/**
 * @defgroup progress Progress
 *
 * Transactions are told to the object in commit order (twpa_progress_submitted()) and ticked off in any order
 * (twpa_progress_done()). Between restarts a transaction is known by the **end position of its commit record** and
 * by nothing else: begin positions and transaction ids are not in commit order, and sequence numbers are given
 * anew.
 *
 * What is saved is the low watermark (everything that ended at or before it is done) and the stretches of the log
 * above it in which everything is done. After a restart the host reads the log again from the watermark and asks
 * twpa_progress_is_applied() for every commit: nothing is lost and nothing applied twice.
 *
 * Where the saved bytes belong: **into the target transaction whose commit they report**. Under commit order the
 * watermark alone moves, and the bytes of twpa_progress_save_with() in each commit are exact. In free order two
 * commits that are under way at the same time would each leave out the other; so either the host lets one commit at
 * a time write the record, or each transaction stores its own end position as a row of its own and the host hands
 * those rows to twpa_progress_note_applied() after twpa_progress_load().
 *
 * One object belongs to one stream (one origin) and to one thread at a time. A scheduler that is given the object
 * calls twpa_progress_submitted() and twpa_progress_done() itself.
 * @{
 */

TWPA_BEGIN_DECLS

/** Progress of one stream. Opaque. */
typedef struct twpa_progress twpa_progress;

/** Options of twpa_progress_new(); zero means the default everywhere. */
typedef struct twpa_progress_options {
  size_t struct_size;  /**< sizeof(twpa_progress_options) of the caller. */
  /**
   * Identity of the stream (for example the source's system identifier mixed with the slot's): saved, and a record
   * with another identity is refused at load. 0 is an identity like any other.
   */
  uint64_t stream;
  /** The position to start from when there is no saved record: what ended at or before it counts as done. */
  twpa_lsn start;
  /**
   * How many transactions may lie between the low watermark and the newest one submitted; beyond it
   * twpa_progress_submitted() returns #TWPA_E_LIMIT. 0: 1,048,576.
   */
  uint64_t span_max;
  /**
   * How long a saved record may become, in bytes: a submission that could lead to a longer one is refused with
   * #TWPA_E_LIMIT, unless nothing is pending. 0: no limit. See twpa_progress_counters::save_bytes_max.
   */
  uint64_t save_bytes_max;
} twpa_progress_options;

/** Initialiser of #twpa_progress_options. */
#define TWPA_PROGRESS_OPTIONS_INIT sizeof(twpa_progress_options)

/** Numbers of twpa_progress_stats(). */
typedef struct twpa_progress_counters {
  size_t struct_size;      /**< sizeof(twpa_progress_counters) of the caller. */
  uint64_t submitted;      /**< Transactions told to this object. */
  uint64_t done;           /**< Of those, ticked off. */
  uint64_t span;           /**< Transactions above the low watermark: pending ones and those done among them. */
  uint64_t runs;           /**< Stretches above the low watermark that are done, those of a loaded record included. */
  uint64_t save_bytes;     /**< Length of the record that twpa_progress_save() would write now. */
  uint64_t save_bytes_max; /**< The longest that the record can become without another submission. */
  uint64_t bytes_live;     /**< Memory in use, in bytes. */
} twpa_progress_counters;

/** Initialiser of #twpa_progress_counters. */
#define TWPA_PROGRESS_COUNTERS_INIT sizeof(twpa_progress_counters)

/**
 * Creates a progress object.
 * @param[out] progress   the object
 * @param[in]  options    copied; NULL for the defaults
 * @param[in]  allocator  copied; NULL for the C library's
 * @return #TWPA_OK; #TWPA_E_INVAL for wrong options or allocator; #TWPA_E_UNSUPPORTED for options that this build
 *         does not know; #TWPA_E_NOMEM.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_new(twpa_progress **progress, const twpa_progress_options *options,
                                                      const twpa_allocator *allocator);

/**
 * Frees the object. A scheduler that uses it must be freed before.
 * @param[in] progress  the object, or NULL
 */
TWPA_API void twpa_progress_free(twpa_progress *progress);

/**
 * Restores a saved record into an object to which nothing has been told yet.
 * @param[in,out] progress  the object
 * @param[in]     buf       the record; NULL only with @p len 0, which is #TWPA_E_CORRUPT
 * @param[in]     len       its length in bytes, exactly as saved
 * @return #TWPA_OK; #TWPA_E_CORRUPT if the record is damaged in any way; #TWPA_E_UNSUPPORTED if it is sound but of
 *         a later version; #TWPA_E_NOTFOUND if it is sound but belongs to another stream (then it must not be
 *         used); #TWPA_E_STATE if transactions or positions were told to the object before; #TWPA_E_NOMEM. On
 *         failure the object is as it was.
 * @note O(length). The byte order of the machine does not matter.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_load(twpa_progress *progress, const void *buf, size_t len);

/**
 * Says that the transaction that ended at @p lsn is on the target already, as the host knows from records of its
 * own. For use after twpa_progress_load() and before the first submission.
 * @param[in,out] progress  the object
 * @param[in]     lsn       end position of its commit record
 * @return #TWPA_OK (also if it was known); #TWPA_E_INVAL for position 0; #TWPA_E_STATE after the first submission;
 *         #TWPA_E_NOMEM.
 * @note O(log n) and the move of an array.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_note_applied(twpa_progress *progress, twpa_lsn lsn);

/**
 * Tells the next transaction, in commit order, before it can be applied.
 * @param[in,out] progress  the object
 * @param[in]     seq       its sequence number, above 0 and above all told before
 * @param[in]     lsn       end position of its commit record, above all told before
 * @return #TWPA_OK; #TWPA_E_INVAL if @p seq or @p lsn is not above everything told before; #TWPA_E_EXISTS if it is
 *         applied already (skip it); #TWPA_E_LIMIT if the span or the length of the record would exceed its limit
 *         (apply some first; never while nothing is pending); #TWPA_E_NOMEM. On failure the object is as it was.
 * @note O(1) amortised. Reserves what twpa_progress_done() needs.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_submitted(twpa_progress *progress, uint64_t seq, twpa_lsn lsn);

/**
 * Ticks a transaction off: it is committed on the target (or there is nothing to commit). Never allocates.
 * @param[in,out] progress  the object
 * @param[in]     seq       its sequence number
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it was never told; #TWPA_E_EXISTS if it was ticked off before.
 * @note O(log runs) and the move of an array; O(1) amortised when the lowest one is ticked off.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_done(twpa_progress *progress, uint64_t seq);

/**
 * Says that the log has been read up to @p lsn and that every transaction that ended at or before it has been told,
 * was applied already, or needs nothing (an idle source, filtered transactions). The low watermark follows as soon
 * as nothing before it is pending. Which position the *log reader* must start from when a transaction is open
 * across it is the reader's business.
 * @param[in,out] progress  the object
 * @param[in]     lsn       the position; one below what was told before does nothing
 * @return #TWPA_OK. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_passed(twpa_progress *progress, twpa_lsn lsn);

/**
 * The low watermark: all transactions up to it are done. It never moves back.
 * @param[in]  progress  the object
 * @param[out] seq       the highest sequence number with everything up to it done; one below the first told if none
 *                       is; 0 before the first submission
 * @param[out] lsn       the highest position with everything that ended at or before it done; #TWPA_LSN_NONE if
 *                       none
 * @return #TWPA_OK. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_low_watermark(const twpa_progress *progress, uint64_t *seq,
                                                                twpa_lsn *lsn);

/**
 * Is the transaction that ended at @p lsn on the target?
 * @param[in] progress  the object
 * @param[in] lsn       end position of its commit record
 * @return 1 if it is, 0 if not. O(log span).
 */
TWPA_API int twpa_progress_is_applied(const twpa_progress *progress, twpa_lsn lsn);

/**
 * Writes the record: one consistent snapshot of watermark, stretches and positions, with version and checksum.
 * Equal states give equal bytes.
 * @param[in]  progress  the object
 * @param[out] buf       where to; NULL only with @p cap 0
 * @param[in]  cap       room, in bytes
 * @param[out] len       the length of the record, also on #TWPA_E_LIMIT; never above
 *                       twpa_progress_counters::save_bytes_max
 * @return #TWPA_OK; #TWPA_E_LIMIT if @p cap is too small, with nothing written.
 * @note O(runs). Allocates nothing.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_save(const twpa_progress *progress, void *buf, size_t cap,
                                                       size_t *len);

/**
 * Like twpa_progress_save(), but as it will be when @p seq is done too: what belongs into the target transaction
 * that is about to commit.
 * @param[in]  progress  the object
 * @param[out] buf       where to; NULL only with @p cap 0
 * @param[in]  cap       room, in bytes
 * @param[out] len       the length of the record, also on #TWPA_E_LIMIT
 * @param[in]  seq       a transaction that was told; one that is done already changes nothing
 * @return #TWPA_OK; #TWPA_E_LIMIT if @p cap is too small, with nothing written; #TWPA_E_NOTFOUND if @p seq was
 *         never told.
 * @note O(runs). Allocates nothing.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_progress_save_with(const twpa_progress *progress, void *buf, size_t cap,
                                                            size_t *len, uint64_t seq);

/**
 * Reads the numbers.
 * @param[in]     progress  the object
 * @param[in,out] counters     filled in up to its struct_size
 * @return #TWPA_OK; #TWPA_E_INVAL for a wrong struct_size. O(runs).
 */
TWPA_API twpa_status twpa_progress_stats(const twpa_progress *progress, twpa_progress_counters *counters);

TWPA_END_DECLS
/** @} */
#endif
