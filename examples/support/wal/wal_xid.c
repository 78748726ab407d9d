/* Widening of transaction ids while the log is read. */
#include "support/wal/wal_xid.h"

#include "support/wal/wal_files.h"

#include <inttypes.h>

void wal_xid_init(wal_xid *x, twpa_xid next_full_xid)
{
  x->near = next_full_xid;
}

twpa_xid wal_xid_widen(const wal_xid *x, uint32_t xid)
{
  return twpa_xid_widen(xid, x->near);
}

bool wal_xid_saw(wal_xid *x, const wal_record *record, const wal_content *content, host_error *err)
{
  if (content->kind == WAL_RUNNING_XACTS) {
    x->near = wal_xid_widen(x, content->as.running.next_xid);
  } else if (content->kind == WAL_CHECKPOINT) {
    twpa_xid full = content->as.checkpoint.next_xid;
    if (wal_xid_widen(x, (uint32_t)full) != full) {
      char lsn[WAL_LSN_BYTES];
      return host_fail(err, "checkpoint at %s: its next transaction id is %" PRIu64 ", not %" PRIu64
                       ": reading began too far back, begin at a later position", wal_lsn_text(lsn, record->start),
                       full, wal_xid_widen(x, (uint32_t)full));
    }
    x->near = full;
  }
  if (record->xid >= TWPA_XID_FIRST_NORMAL) {
    twpa_xid wide = wal_xid_widen(x, record->xid);
    if (wide >= x->near)
      x->near = wide + 1;
  }
  return true;
}
