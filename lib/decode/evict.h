/* What happens over the memory limit: see evict.c. */
#ifndef TWPA_DECODE_EVICT_H
#define TWPA_DECODE_EVICT_H

#include "decode/reorder.h"

/* Brings the buffer below its limit, as far as that is possible. What was done before a failure stays done. */
twpa_status twpa__evict(twpa_reorder *reorder);
/* The same after a change of `txn` was queued, which may also complete a row that streaming has waited for. */
twpa_status twpa__evict_or_stream(twpa_txn *txn);

static inline twpa_status twpa__evict_after(twpa_txn *txn)
{
  const twpa_reorder *r = txn->owner;
  return r->memory_bytes < r->memory_limit && !r->streaming ? TWPA_OK : twpa__evict_or_stream(txn);
}

#endif
