/* The parts of one WAL record, whose bytes are complete and have the right checksum. */
#ifndef SUPPORT_WAL_DECODE_H
#define SUPPORT_WAL_DECODE_H

#include "support/wal/wal_reader.h"

#define WAL_RECORD_HEADER 24u
#define WAL_RECORD_MAX (UINT32_C(1020) << 20)
#define WAL_BLOCKS_MAX 33

/*
 * Fills in everything but start and end. Returns NULL, or what is wrong with the record as a static string.
 * blocks is the room that out->blocks will point to.
 */
const char *wal_decode(wal_record *out, wal_block blocks[WAL_BLOCKS_MAX], const unsigned char *raw, uint32_t len);

/* The checksum of a record as it should be. */
uint32_t wal_record_crc(const unsigned char *raw, uint32_t len);

#endif
