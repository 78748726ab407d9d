/**
 * @file change.h
 * What the log says, as values: records, changes, and what end records hold.
 */
#ifndef TWPA_CHANGE_H
#define TWPA_CHANGE_H

#include <twpa/types.h>

/**
 * @defgroup change Changes
 * Values that a host fills from its log and that the library hands back in whole transactions. There are no functions
 * here. Rows, messages and invalidations are opaque bytes to the library. Everything given to the library is borrowed
 * for the call and copied where it is kept; everything the library gives is borrowed until the callback returns or the
 * next change is asked for. Zero the structs before filling them: what is not used stays zero, and so does `reserved`.
 * @{
 */

TWPA_BEGIN_DECLS

/** The record of the log that is being fed: every call that feeds one starts with it. */
typedef struct twpa_record {
  twpa_lsn lsn;      /**< Where the record starts. Never 0, and never before that of an earlier call. */
  twpa_lsn end_lsn;  /**< First position after the record; 0 if the log does not tell, else not before #lsn. */
  twpa_xid xid;      /**< The (sub)transaction that wrote it; #TWPA_XID_NONE for records outside of transactions. */
  twpa_xid top_xid;  /**< Its top-level transaction if the record tells, else #TWPA_XID_NONE. */
  uint32_t origin;   /**< Where the change was first made (PostgreSQL: replication origin); 0 here. */
  uint32_t reserved; /**< 0. */
} twpa_record;

/** The values of twpa_change.kind. The first five are what an output gets to see; the others are for the library. */
enum {
  TWPA_INSERT = 1,         /**< A row is inserted: twpa_change.new_row. */
  TWPA_UPDATE = 2,         /**< A row is changed: old_row (if the log has it) and new_row. */
  TWPA_DELETE = 3,         /**< A row is deleted: old_row (if the log has it). */
  TWPA_TRUNCATE = 4,       /**< Relations are emptied: relations. */
  TWPA_MESSAGE = 5,        /**< A message of the application: prefix and content. */
  TWPA_SPEC_INSERT = 6,    /**< As #TWPA_INSERT, but it counts only if #TWPA_SPEC_CONFIRM follows; then it comes out as
                                an insert (PostgreSQL: INSERT ... ON CONFLICT). */
  TWPA_SPEC_CONFIRM = 7,   /**< The speculative insert before counts. */
  TWPA_SPEC_ABORT = 8,     /**< The speculative insert before does not count; without one it says nothing. */
  TWPA_TOAST_CHUNK = 9,    /**< A piece of a long value of the row that follows: toast_relation, toast_value,
                                toast_sequence, content. Put together by twpa_txn_toast(). */
  TWPA_INVALIDATION = 10,  /**< The host's caches change at this place: content. A taken transaction gives these out,
                                a callback table does not (the hook twpa_reorder_hooks.invalidate is called). */
  TWPA_COMMAND = 11        /**< The transaction goes on to a new command: command_id. */
};

/** The bits of twpa_change.flags. */
enum {
  TWPA_CHANGE_MORE = 1u,             /**< On a row: more rows of the same record follow; keep the long values collected
                                          so far (all rows of a multi-insert but the last). */
  TWPA_CHANGE_CASCADE = 2u,          /**< On #TWPA_TRUNCATE: CASCADE was asked for. */
  TWPA_CHANGE_RESTART_SEQS = 4u,     /**< On #TWPA_TRUNCATE: RESTART IDENTITY was asked for. */
  TWPA_CHANGE_NONTRANSACTIONAL = 8u, /**< On #TWPA_MESSAGE: deliver at once, whatever becomes of the transaction. */
  TWPA_CHANGE_QUIET = 16u            /**< On #TWPA_UPDATE and #TWPA_DELETE: this change alone is no reason to stream the
                                          transaction (rows of catalogs, which no consumer will see). */
};

/** One change. Which fields count depends on #kind; the others are zero. */
typedef struct twpa_change {
  uint32_t kind;           /**< #TWPA_INSERT and so on. */
  uint32_t flags;          /**< #TWPA_CHANGE_MORE and so on. */
  twpa_lsn lsn;            /**< Out: start of the record it came from. Not read by the library: the record says it. */
  twpa_xid xid;            /**< Out: the (sub)transaction that made it. Not read by the library. */
  uint32_t origin;         /**< Out: origin of the record. Not read by the library. */
  twpa_locator locator;    /**< Rows: where the relation is stored. */
  twpa_bytes old_row;      /**< Rows: the old image or key; absent if the log has none. At most 2^30 bytes. Given out at
                                an address that is a multiple of 8. */
  twpa_bytes new_row;      /**< Rows: the new image; absent if the log has none. As #old_row. */
  const uint64_t *relations; /**< #TWPA_TRUNCATE: identities of the relations. */
  size_t nrelations;       /**< #TWPA_TRUNCATE: how many; at most 2^24. */
  twpa_bytes prefix;       /**< #TWPA_MESSAGE: which application. At most 2^30 bytes. */
  twpa_bytes content;      /**< #TWPA_MESSAGE, #TWPA_TOAST_CHUNK, #TWPA_INVALIDATION: the bytes. At most 2^30 bytes.
                                Absent in an invalidation that a taken transaction gives out: all caches, as with
                                twpa_reorder_hooks.invalidate_all. */
  uint64_t toast_relation; /**< #TWPA_TOAST_CHUNK: the relation of the long value, by any identity the host likes. */
  uint64_t toast_value;    /**< #TWPA_TOAST_CHUNK: which value (PostgreSQL: chunk_id). */
  uint32_t toast_sequence; /**< #TWPA_TOAST_CHUNK: 0, 1, 2, ... within a value. */
  twpa_cid command_id;     /**< #TWPA_COMMAND: the command that begins. */
  uint64_t reserved[2];    /**< 0. */
} twpa_change;

/** What a record that ends a transaction says: a commit, an abort, a prepare, the end of a prepared transaction. */
typedef struct twpa_commit {
  const twpa_xid *subxids; /**< Subtransactions that end with it; those the library does not know do not matter. */
  size_t nsubxids;         /**< How many. */
  twpa_time time;          /**< When. */
  twpa_lsn origin_lsn;     /**< Where in the log of the origin; 0 if it was made here. */
  uint64_t reserved[2];    /**< 0. */
} twpa_commit;

/** Which transactions were running when the record was written (PostgreSQL: XLOG_RUNNING_XACTS). */
typedef struct twpa_running_xacts {
  twpa_xid next_xid;             /**< The next id that will be given out. */
  twpa_xid oldest_running_xid;   /**< Everything before it has ended. */
  twpa_xid latest_completed_xid; /**< The newest that has ended. */
  const twpa_xid *xids;          /**< Running transactions, then running subtransactions. */
  size_t nxids;                  /**< Running transactions. */
  size_t nsubxids;               /**< Running subtransactions. */
  uint32_t subxids_overflow;     /**< 1 if subtransactions are missing. */
  uint32_t reserved;             /**< 0. */
} twpa_running_xacts;

/** A catalog row was written: in which command, for historic visibility (PostgreSQL: XLOG_HEAP2_NEW_CID). */
typedef struct twpa_new_cid {
  twpa_xid top_xid;     /**< The top-level transaction that the record names. */
  twpa_locator locator; /**< Which relation. */
  twpa_tid tid;         /**< Which row version. */
  twpa_cid cmin;        /**< The command that inserted it, or #TWPA_CID_NONE. */
  twpa_cid cmax;        /**< The command that deleted it, or #TWPA_CID_NONE. */
  twpa_cid combo_cid;   /**< The number that stands for both in the row, or #TWPA_CID_NONE. For information. */
} twpa_new_cid;

TWPA_END_DECLS
/** @} */
#endif
