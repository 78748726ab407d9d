/*
 * Which blocks of storage belong to whom: files and segments of transactions. Dropping never fails; a file whose
 * removal fails is left over and tried again.
 */
#ifndef TWPA_DECODE_STORE_H
#define TWPA_DECODE_STORE_H

#include "decode/reorder.h"

/* The file of a transaction, made if it has none. NULL: no memory. */
twpa__file *twpa__file_of(twpa_txn *txn);
/* Room for one more segment. */
twpa_status twpa__segments_reserve(twpa_txn *txn);
/* Adds the segment that was written at the end of its file. */
void twpa__segments_add(twpa_txn *txn, const twpa__segment *segment);
/* Forgets all segments; files that nobody needs any more are removed. */
void twpa__segments_drop(twpa_txn *txn);
/* Removes a file that has no blocks, if there is one. */
void twpa__file_remove(twpa_reorder *reorder, twpa__file *file);
/* Tries to remove what is left over. */
void twpa__leftovers_retry(twpa_reorder *reorder);
/* Forgets what is left over. */
void twpa__leftovers_free(twpa_reorder *reorder);

#endif
