/* Figures of the buffer, and looking into it. */
#include "base/sized.h"
#include "decode/reorder.h"

twpa_status twpa_reorder_stats(const twpa_reorder *r, twpa_reorder_counters *counters)
{
  if (r == NULL || counters == NULL)
    return TWPA_E_INVAL;
  twpa_reorder_counters now = r->stats;
  now.memory_bytes = r->memory_bytes + twpa__walk_held(&r->walk);
  now.total_bytes = r->mem.live_bytes + r->walk.mem.live_bytes;
  now.storage_bytes = r->storage_bytes;
  now.storage_files = r->nfiles + r->nleftovers;
  now.storage_segments = r->storage_segments;
  now.open_tops = r->nopen;
  now.open_subs = r->nsubs;
  now.taken = r->ntaken;
  now.tuplecids = r->tuplecids;
  now.distributed_bytes = r->versions.held;
  return twpa__write_sized(counters, &now, sizeof now, sizeof now);
}

twpa_lsn twpa_reorder_oldest_lsn(const twpa_reorder *r)
{
  const twpa_txn *txn = r != NULL ? twpa_reorder_next_open(r, NULL) : NULL;
  return txn != NULL ? txn->first_lsn : TWPA_LSN_NONE;
}

twpa_lsn twpa_reorder_restart_lsn(const twpa_reorder *r)
{
  const twpa_txn *txn = twpa_reorder_next_open(r, NULL);
  if (txn != NULL)
    return txn->restart_lsn;
  return r != NULL ? r->restart_lsn : TWPA_LSN_NONE;
}

twpa_txn *twpa_reorder_next_open(const twpa_reorder *r, const twpa_txn *txn)
{
  if (r == NULL)
    return NULL;
  twpa__link *link = txn == NULL ? twpa__list_first(&r->open) : twpa__list_next(&r->open, &txn->node);
  return link != NULL ? TWPA__CONTAINER_OF(link, twpa_txn, node) : NULL;
}

twpa_txn *twpa_reorder_find(const twpa_reorder *r, twpa_xid xid)
{
  return r != NULL ? twpa__xidmap_get(&r->by_xid, xid) : NULL;
}
