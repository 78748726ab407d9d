/*
 * A change as it lies in an arena and in spill storage: one contiguous record without pointers, a multiple of 8 bytes
 * long, that begins with its length. A block of storage is a run of such records, and so is a chunk of an arena, so
 * that spilling writes what is there and restoring reads it into place.
 *
 * Header (24 bytes), then by kind:
 *   rows          locator, length of the new row; if there is an old row or an origin: length of the old row, origin;
 *                 new row, old row, each starting at a multiple of 8
 *   truncate      number of relations, origin; relations
 *   message       length of the prefix, length of the content, origin, 0; prefix, content
 *   toast chunk   relation, value, sequence, length, origin, 0; bytes
 *   invalidation  length, 0; bytes
 *   command       command id, 0
 *   confirm and abort of a speculative insert: nothing
 */
#ifndef TWPA_DECODE_CHANGE_H
#define TWPA_DECODE_CHANGE_H

#include <stdbool.h>
#include <twpa/change.h>
#include <twpa/status.h>

typedef struct twpa__rec {
  uint32_t size;  /* of the whole record, padding included */
  uint8_t kind;   /* TWPA_INSERT ... */
  uint8_t parts;  /* TWPA__REC_... */
  uint16_t flags; /* TWPA_CHANGE_... */
  uint64_t lsn;
  uint64_t seq; /* arrival, over the whole buffer; since positions never go back, the order of (lsn, arrival) */
} twpa__rec;

enum {
  TWPA__REC_NEW = 1u,   /* has a new row, or content */
  TWPA__REC_OLD = 2u,   /* has an old row, or a prefix */
  TWPA__REC_EXTRA = 4u  /* a row with an old row or an origin */
};

/* Checks a change of the host; tells the size of its record and of its payload. TWPA_E_INVAL if something is wrong. */
twpa_status twpa__change_measure(size_t *size, size_t *payload, const twpa_record *record, const twpa_change *change);

/* Writes the record into `size` bytes, 8-aligned, every byte of them. */
void twpa__change_write(void *dst, size_t size, const twpa_record *record, const twpa_change *change, uint64_t seq);

/*
 * Reads a record of which at most `avail` bytes are there. The change points into it; its xid is left 0. False if it is
 * no record: a length that does not fit, a kind that does not exist.
 */
bool twpa__change_read(twpa_change *change, const twpa__rec *rec, size_t avail);

/* True for what an output gets to see, in whatever form. */
static inline bool twpa__kind_is_row(uint32_t kind)
{
  return kind == TWPA_INSERT || kind == TWPA_UPDATE || kind == TWPA_DELETE || kind == TWPA_SPEC_INSERT;
}

#endif
