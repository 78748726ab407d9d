/*
 * One walk over the changes of a transaction: the only iterator there is, behind the callbacks and behind
 * twpa_txn_next() alike. It turns what the merge gives into what an output gets to see: chunks of long values are
 * put together until their row has been given out, a speculative insert waits for its confirmation and comes out as
 * an insert or not at all, commands move the command id on, and the catalog versions that others have committed
 * meanwhile come between the changes at their place.
 *
 * twpa__walk_step handles one record, or one version, and tells what it means for the output (kind 0: nothing). A step
 * that fails has done nothing and may be repeated. A walk changes nothing in the transaction: it can be started again.
 */
#ifndef TWPA_DECODE_WALK_H
#define TWPA_DECODE_WALK_H

#include "decode/merge.h"
#include "decode/toast.h"
#include "decode/tuplecid.h"
#include "decode/version.h"

/* The arrays of a walk over many subtransactions are not kept. */
#define TWPA__WALK_KEPT ((size_t)16 << 10)

typedef struct twpa__walk {
  twpa__mem mem; /* its own account: a taken transaction is walked on another thread than its owner's */
  twpa__merge merge;
  twpa__toast toast;
  twpa__tuplecids tuplecids; /* filled by the first question of a walk */
  twpa_txn *top;
  twpa__version *version; /* the last one passed */
  twpa_change spec;       /* the speculative insert that waits; kind 0: none */
  void *spec_rec;         /* its record */
  size_t spec_cap;
  twpa_txn *txn;    /* whose change was given out last */
  twpa_lsn lsn;     /* the position of that */
  twpa_cid command; /* the command that the transaction is in */
  uint64_t toast_dropped;
  bool given;      /* the change at the head of the merge was given out: go past it first */
  bool last_of_row; /* and with it the long values end */
  bool open;
  bool busy; /* on behalf of the host, inside twpa_txn_next(): the storage may be calling back */
} twpa__walk;

void twpa__walk_init(twpa__walk *walk, const twpa_allocator *hooks, const twpa_storage *storage);
/* Goes before the first change of `top`. TWPA_E_NOMEM: the walk is closed. */
twpa_status twpa__walk_start(twpa__walk *walk, twpa_txn *top);
/*
 * The next step. TWPA_OK: item->kind is 0, or an insert, update, delete, truncate, message or invalidation for the
 * output, which stays until the next step; an invalidation without content means everything. TWPA_NONE: the end.
 */
twpa_status twpa__walk_step(twpa__walk *walk, twpa_change *item);
/* What it holds of the transaction: blocks from storage, long values, a speculative insert; and its own arrays. */
static inline size_t twpa__walk_held(const twpa__walk *walk)
{
  return walk->open ? walk->mem.live_bytes : 0;
}
/* Ends the walk; a little memory stays for the next one. */
void twpa__walk_stop(twpa__walk *walk);
void twpa__walk_free(twpa__walk *walk);

#endif
