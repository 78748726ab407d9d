/*
 * Keeps the epoch of transaction ids straight while the log is read: the log has 32 bits of each, the library 64.
 *
 * An id is widened to the full id closest to the next one to be given out, as far as that is known at the place that is
 * being read: from the control file at first, then from every record that tells (running transactions, checkpoints) and
 * from every id that is used. A checkpoint has the full id; if it contradicts, the reading began more than 2^31
 * transactions before the place that the first guess came from, and ids widened so far are wrong.
 */
#ifndef SUPPORT_WAL_XID_H
#define SUPPORT_WAL_XID_H

#include "support/wal/wal_records.h"

typedef struct wal_xid {
  twpa_xid near; /* the next id to be given out, or close to it */
} wal_xid;

/* next_full_xid: of the control file, or of a checkpoint not far away. */
void wal_xid_init(wal_xid *x, twpa_xid next_full_xid);

/* An id that is used (or was used shortly before) at the place being read. */
twpa_xid wal_xid_widen(const wal_xid *x, uint32_t xid);

/* To be called for every record before its ids are widened. */
bool wal_xid_saw(wal_xid *x, const wal_record *record, const wal_content *content, host_error *err);

#endif
