/*
 * Blocks of storage: how they are written, read and checked. A block is a header and a run of change records as
 * they lie in an arena. The header holds a mark, a version, the length and the number of the records, and a
 * checksum over these, the records, the transaction id and the place of the block, so that a block that was
 * damaged, cut short, or read from the wrong place is found out.
 *
 * Which file: a transaction that has much to spill, or is not known to be a subtransaction, has a file of its own,
 * so that its space is given back when it is rolled back; small subtransactions write into the file of their top,
 * so that a hundred thousand of them are one file. A file is removed when no block in it is wanted any more. A
 * removal that fails is tried again with every later one, and when the buffer is freed.
 */
#ifndef TWPA_DECODE_SPILL_H
#define TWPA_DECODE_SPILL_H

#include "decode/txn.h"

#include <twpa/storage.h>

#define TWPA__BLOCK_HEADER ((size_t)32)

/* What a storage hook's result becomes. */
twpa_status twpa__storage_status(int result);

/* Reads and checks a block of `xid` into `block`, which has room for segment->bytes. */
twpa_status twpa__block_read(const twpa_storage *storage, const twpa__segment *segment, twpa_xid xid, void *block);

/*
 * Writes a block of `xid` at the end of the file; *segment describes it. In `block` are `bytes` bytes: room for the header,
 * which is filled in, and the records, at least one.
 */
twpa_status twpa__block_write(const twpa_storage *storage, twpa__segment *segment, twpa__file *file, twpa_xid xid,
                              void *block, size_t bytes);

#endif
