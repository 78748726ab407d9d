/*
 * Which blocks of storage belong to whom: files and segments of transactions. Dropping never fails; a file whose
 * removal fails is left over and tried again.
 */
#ifndef TWPA_DECODE_STORE_H
#define TWPA_DECODE_STORE_H

#include "decode/reorder.h"

/* The file that what a transaction holds is to be spilled into, made if need be. NULL: no memory. */
twpa__file *twpa__file_for(twpa_txn *txn);
/* Room for one more segment; the file stays until it is added, or given up. TWPA_E_NOMEM: nothing has happened. */
twpa_status twpa__segments_reserve(twpa_txn *txn, twpa__file *file);
void twpa__segments_unreserve(twpa__file *file);
/* Adds the segment that was written at the end of its file. */
void twpa__segments_add(twpa_txn *txn, const twpa__segment *segment);
/* Forgets all segments; files that nobody needs any more are removed. */
void twpa__segments_drop(twpa_txn *txn);
/* Tries to remove what is left over. */
void twpa__leftovers_retry(twpa_reorder *reorder);
/* Forgets what is left over. */
void twpa__leftovers_free(twpa_reorder *reorder);

#endif
