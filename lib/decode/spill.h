/*
 * Blocks of storage: how they are written, read and checked. A block is a header and a run of change records as
 * they lie in an arena. The header holds a mark, a version, the length of the records, the number of the first one, and
 * a checksum over these, the records, the transaction id and the place of the block, so that a block that was damaged, cut
 * short, or read from the wrong place is found out.
 *
 * Blocks end at multiples of 64 KB of the file where that costs little, or at least at the end of a page: a full chunk
 * is nearly so long, and systems take half as long again for writing what begins in the middle of a page, and as
 * much for writing and reading what does not fill large pieces of their cache.
 *
 * Which file (store.c): making and removing a file takes as long as writing 100 KB, so small transactions share files. A
 * transaction with much to spill has a file of its own, and so has a subtransaction: its space is given back when it
 * is rolled back. Subtransactions that are small write where their top does. A file is removed when no block in it is
 * wanted any more. A removal that fails is tried again with every later one, and when the buffer is freed.
 *
 * What sharing wastes: blocks of transactions that have ended stay until the last of their file ends. A shared file
 * takes no new transactions from 1 MB on, and what one that is small adds is less than 256 KB. A top-level transaction
 * whose shared file takes no more has a file of its own from then on. So an open one keeps less than 1.25 MB of others'
 * blocks from going, and n of them are in at most n shared files, besides their own. (One that turns out to be a
 * subtransaction counts by itself if it was spilled before.) Not bounded is what an open one keeps of its own: blocks of
 * subtransactions that were spilled while they were small and then rolled back stay in the file of their top as long
 * as that has any other, at most 256 KB for each time that such a one was spilled.
 *
 * A write that fails may have left anything behind the end of the file; the next block goes to the same place, whosever it
 * is. While it is written, a block counts as one of the file's: the storage's hook may give back a taken transaction,
 * which must not take the file with it.
 */
#ifndef TWPA_DECODE_SPILL_H
#define TWPA_DECODE_SPILL_H

#include "decode/txn.h"

#include <twpa/storage.h>

#define TWPA__BLOCK_HEADER ((size_t)32)
#define TWPA__BLOCK_BOUNDARY ((size_t)64 << 10)

/* What a storage hook's result becomes. */
twpa_status twpa__storage_status(int result);

/* Reads and checks a block of `xid` into `block`, which has room for segment->bytes. */
twpa_status twpa__block_read(const twpa_storage *storage, const twpa__segment *segment, twpa_xid xid, void *block);

/* A block to be written. */
typedef struct twpa__block {
  void *at;       /* room for the header, which is filled in, and the records, at least one */
  size_t bytes;   /* of both */
  size_t cap;     /* so much room there is, for padding */
  size_t padding; /* so much of it may be added to come to a boundary; or what is little against the block */
} twpa__block;

/* Writes a block of `xid` at the end of the file; *segment describes it. */
twpa_status twpa__block_write(const twpa_storage *storage, twpa__segment *segment, twpa__file *file, twpa_xid xid,
                              const twpa__block *block);

#endif
