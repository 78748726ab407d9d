/*
 * From the log to the reorder buffer: each WAL record becomes the calls that the library wants for it, for one
 * database.
 *
 * What is decoded
 *   Reading starts at the first running-xacts record: there the log says which transactions are open, and what is open
 *   there may have written before, so it is left out as a whole, with its subtransactions, and counted. Everything that
 *   begins later is complete. What has committed before the start is passed over and counted. Rows of other databases
 *   and of shared relations are left out, and so are rows that are not logged in a decodable form (catalogs, the copies
 *   that a rewrite makes of long values). What remains can still belong to a catalog or a toast relation (a delete
 *   without old row looks the same everywhere) or to a rewrite in progress: who it belongs to is the business of
 *   whoever has the catalogs. A change of a user table without a transaction is refused.
 *
 * How rows come out
 *   As images of stored rows (pg_tuple.h): twpa_change.old_row and new_row. An old row may be the whole row or the key
 *   with NULL in all other columns; the replica identity of the relation tells which. Rows of toast relations come as
 *   TWPA_TOAST_CHUNK. A truncate has the oids of the relations. What a transaction has changed in catalogs comes as
 *   TWPA_INVALIDATION at its place: messages to the server's caches, of all databases, to be read with wal_list_inval;
 *   so a transaction that has changed nothing else comes out as well.
 *
 * Prepared transactions come out when they are committed.
 *
 * What was written while wal_level was below logical cannot be decoded. It is noticed by its commits, which then do not
 * say in which database they were. If that is so from the start, reading starts again where wal_level was raised, and
 * what was passed over is counted; later it is an error, for otherwise rows would be missing without a word.
 */
#ifndef SUPPORT_WAL_FEED_H
#define SUPPORT_WAL_FEED_H

#include "support/wal/wal_records.h"

#include <twpa/reorder.h>

typedef struct wal_feed wal_feed;

typedef struct wal_feed_options {
  const pg_format *format;
  uint32_t database; /* oid */
  twpa_xid next_xid; /* next full transaction id of the control file */
  /* Identity of a toast relation by its file, for twpa_change.toast_relation, such as its oid. NULL: 0 for all of them,
     which is enough to tell values apart within a row. */
  uint64_t (*toast_relation)(void *user, twpa_locator locator, twpa_lsn lsn);
  void *user;
} wal_feed_options;

typedef struct wal_feed_stats {
  twpa_lsn start_lsn;        /* of the first running-xacts record; 0 if there was none so far */
  uint64_t records;          /* from there on */
  uint64_t rows;             /* inserts, updates and deletes queued */
  uint64_t chunks;           /* pieces of long values queued */
  uint64_t commits;          /* of this database, handed to the reorder buffer */
  uint64_t other_commits;    /* of other databases */
  uint64_t aborts;           /* whole transactions and subtransactions */
  uint64_t open_at_start;    /* transactions that were open (or prepared) at start_lsn */
  uint64_t left_out_commits; /* of those, committed later, in this database */
  uint64_t before_start;     /* commits passed over before start_lsn, in this database */
  uint64_t prepared;         /* prepare records */
  uint64_t below_logical;    /* commits passed over because wal_level was below logical then */
} wal_feed_stats;

/* The reorder buffer is borrowed. options is copied. */
bool wal_feed_new(wal_feed **out, twpa_reorder *reorder, const wal_feed_options *options, host_error *err);
void wal_feed_free(wal_feed *feed); /* NULL is allowed */

/*
 * Feeds the next record of the log. After a failure nothing more can be fed. If a callback of the output failed, and
 * has filled in *err itself, that text stays.
 */
bool wal_feed_record(wal_feed *feed, const wal_record *record, host_error *err);

wal_feed_stats wal_feed_get_stats(const wal_feed *feed);

#endif
