/*
 * What became of a transaction: pg_xact, pg_subtrans and pg_multixact of a cold data directory.
 *
 * Files are loaded when they are first needed and kept; so one pg_xact is used by one thread at a time.
 */
#ifndef SUPPORT_PG_XACT_H
#define SUPPORT_PG_XACT_H

#include "support/pg/pg_control.h"

/* What became of it. A transaction without an end in the log (in progress at the stop, or prepared) is "in progress". */
enum {
  PG_XACT_IN_PROGRESS = 0,
  PG_XACT_COMMITTED = 1,
  PG_XACT_ABORTED = 2
};

typedef struct pg_xact pg_xact;

/* Opens nothing yet. Copies what it needs of the control file. */
bool pg_xact_open(pg_xact **out, const char *datadir, const pg_control *control, host_error *err);
void pg_xact_close(pg_xact *x);

/*
 * The status of a transaction or subtransaction. A subtransaction that is marked sub-committed gets the status of its
 * parent; if the parent is not known (pg_subtrans does not survive a crash), it did not commit. An xid that was never
 * given out is in progress. An xid whose part of the commit log has been removed is an error: rows of such transactions
 * carry their status themselves.
 */
bool pg_xact_status(pg_xact *x, uint32_t *status, uint32_t xid, host_error *err);

/* How many xids ago it was given out; the newest one has 1. */
uint32_t pg_xact_age(const pg_xact *x, uint32_t xid);

/* The member of a multixact that updated or deleted the row: *xid, or 0 if all members only lock it. */
bool pg_multixact_updater(pg_xact *x, uint32_t *xid, uint32_t multi, host_error *err);

#endif
