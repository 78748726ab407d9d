/* Streaming of transactions in progress: see stream.c. */
#ifndef TWPA_DECODE_STREAM_H
#define TWPA_DECODE_STREAM_H

#include "decode/reorder.h"

/*
 * Gives what is held of the top and its subtransactions to the stream callbacks, as one block, and drops it; nothing to
 * show is no block. may_abort: the consumer may find that it was rolled back. On failure nothing has changed.
 */
twpa_status twpa__stream(twpa_txn *top, bool may_abort);
/* The rest, and the end, of a transaction of which something was streamed. */
twpa_status twpa__stream_commit(twpa_txn *top);

#endif
