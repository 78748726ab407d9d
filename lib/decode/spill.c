/* Blocks of storage. */
#include "decode/spill.h"

#include "base/assert.h"
#include "base/hash.h"
#include "decode/change.h"

#include <string.h>

#define MARK UINT32_C(0x42505754) /* also tells the byte order */
#define VERSION UINT32_C(1)
#define PAGE ((size_t)4096)

typedef struct block_header {
  uint32_t mark;
  uint32_t version;
  uint64_t bytes; /* of the records */
  uint64_t first_seq;
  uint64_t checksum;
} block_header;

TWPA__STATIC_ASSERT(sizeof(block_header) == TWPA__BLOCK_HEADER, "records start right behind the header");

twpa_status twpa__storage_status(int result)
{
  if (result == TWPA_OK || result == TWPA_E_CORRUPT || result == TWPA_E_NOMEM)
    return result;
  return TWPA_E_CALLBACK;
}

static uint64_t checksum_of(const block_header *header, twpa_xid xid, uint64_t file, uint64_t offset,
                            const void *records)
{
  uint64_t place[6] = {(uint64_t)header->mark << 32 | header->version, header->bytes, header->first_seq, xid, file,
                       offset};
  return twpa__hash64_long(records, header->bytes, twpa__hash64(place, sizeof place, 0));
}

twpa_status twpa__block_read(const twpa_storage *storage, const twpa__segment *segment, twpa_xid xid, void *block)
{
  TWPA__ASSERT(storage != NULL && segment->bytes > TWPA__BLOCK_HEADER);
  twpa_status st =
    twpa__storage_status(storage->read(storage->user, segment->file->id, segment->offset, block, segment->bytes));
  if (st != TWPA_OK)
    return st;
  block_header header;
  memcpy(&header, block, sizeof header);
  const unsigned char *records = (const unsigned char *)block + sizeof header;
  if (header.mark != MARK || header.version != VERSION ||
      header.bytes != segment->bytes - sizeof header || header.first_seq != segment->first_seq ||
      header.checksum != checksum_of(&header, xid, segment->file->id, segment->offset, records))
    return TWPA_E_CORRUPT;
  return TWPA_OK;
}

/* Adds zeroes up to the next boundary, if they are not more than `most`. The size of the block with them, or 0. */
static size_t pad_to(size_t boundary, size_t most, const twpa__block *block, uint64_t offset)
{
  size_t padding = (size_t)(-(offset + block->bytes) % boundary);
  if (padding > most || padding > block->cap - block->bytes)
    return 0;
  memset((unsigned char *)block->at + block->bytes, 0, padding);
  return block->bytes + padding;
}

static size_t pad(const twpa__block *block, uint64_t offset)
{
  size_t third = block->bytes / 3;
  size_t size = pad_to(TWPA__BLOCK_BOUNDARY, block->padding > third ? block->padding : third, block, offset);
  if (size == 0)
    size = pad_to(PAGE, block->bytes / 8, block, offset);
  return size != 0 ? size : block->bytes;
}

twpa_status twpa__block_write(const twpa_storage *storage, twpa__segment *segment, twpa__file *file, twpa_xid xid,
                              const twpa__block *block)
{
  const unsigned char *records = (const unsigned char *)block->at + TWPA__BLOCK_HEADER;
  size_t bytes = block->bytes;
  TWPA__ASSERT(bytes > TWPA__BLOCK_HEADER && bytes <= block->cap && bytes <= UINT32_MAX - TWPA__BLOCK_BOUNDARY);
  block_header header = {.mark = MARK, .version = VERSION, .bytes = bytes - TWPA__BLOCK_HEADER};
  memcpy(&header.first_seq, records + offsetof(twpa__rec, seq), sizeof header.first_seq);
  header.checksum = checksum_of(&header, xid, file->id, file->size, records);
  memcpy(block->at, &header, sizeof header);
  size_t room = pad(block, file->size);
  twpa_status st = twpa__storage_status(storage->write(storage->user, file->id, file->size, block->at, room));
  if (st != TWPA_OK)
    return st;
  *segment = (twpa__segment){.file = file, .offset = file->size, .first_seq = header.first_seq,
                             .bytes = (uint32_t)bytes, .room = (uint32_t)room};
  return TWPA_OK;
}
