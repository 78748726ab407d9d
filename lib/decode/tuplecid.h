/*
 * Who wrote a row version in which command: what twpa_reorder_new_cid() has told, of a whole transaction, sorted
 * for looking up. The records stay with the (sub)transaction that wrote them and vanish with it, so that a place on
 * a page that is used again after a rollback does not bring the old commands back. Of several records about one row
 * version the newest counts.
 */
#ifndef TWPA_DECODE_TUPLECID_H
#define TWPA_DECODE_TUPLECID_H

#include "decode/txn.h"

typedef struct twpa__tuplecids {
  twpa__mem *mem;
  twpa__tuplecid *sorted; /* by relation, row version, age */
  size_t count;
  bool built;
} twpa__tuplecids;

void twpa__tuplecids_init(twpa__tuplecids *cids, twpa__mem *mem);
/* Collects and sorts those of a top and its subtransactions. TWPA_E_NOMEM: it is as before. */
twpa_status twpa__tuplecids_build(twpa__tuplecids *cids, const twpa_txn *top);
/* The newest one about a row version, or NULL. */
const twpa__tuplecid *twpa__tuplecids_find(const twpa__tuplecids *cids, const twpa_locator *locator,
                                           const twpa_tid *tid);
void twpa__tuplecids_clear(twpa__tuplecids *cids);

#endif
