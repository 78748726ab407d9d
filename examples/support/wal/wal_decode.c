/*
 * A WAL record into block references, origin, toplevel transaction and main data. The list of announcements comes
 * first, then what was announced, in the same order, main data last; nothing is aligned and every length is checked.
 */
#include "support/wal/wal_decode.h"

#include "support/wal/crc32c.h"
#include "support/wal/wal_bytes.h"

enum {
  ID_TOP_XID = 252,
  ID_ORIGIN = 253,
  ID_MAIN_LONG = 254,
  ID_MAIN_SHORT = 255,
};

enum {
  BLOCK_FORK = 0x0F,
  BLOCK_HAS_IMAGE = 0x10,
  BLOCK_HAS_DATA = 0x20,
  BLOCK_WILL_INIT = 0x40,
  BLOCK_SAME_REL = 0x80,
};

enum {
  IMAGE_HAS_HOLE = 0x01,
  IMAGE_COMPRESSED = 0x04 | 0x08 | 0x10, /* pglz, lz4, zstd */
  IMAGE_KNOWN = 0x1F,
};

/* Bytes not yet looked at. */
typedef struct cursor {
  const unsigned char *p;
  uint32_t left;
} cursor;

static const unsigned char *take(cursor *c, uint32_t n)
{
  if (c->left < n)
    return NULL;
  const unsigned char *p = c->p;
  c->p += n;
  c->left -= n;
  return p;
}

uint32_t wal_record_crc(const unsigned char *raw, uint32_t len)
{
  uint32_t state = crc32c_add(CRC32C_BEGIN, raw + WAL_RECORD_HEADER, len - WAL_RECORD_HEADER);
  return ~crc32c_add(state, raw, 20);
}

/* The image header of a block reference; *bytes is the length of the image in the record. */
static const char *image_header(cursor *c, uint32_t *bytes)
{
  const unsigned char *p = take(c, 5);
  if (p == NULL)
    return "cut off in a page image header";
  uint16_t len = wal_u16(p), hole_offset = wal_u16(p + 2), hole_len = 0;
  uint8_t info = p[4];
  bool has_hole = (info & IMAGE_HAS_HOLE) != 0;
  uint8_t method = info & IMAGE_COMPRESSED;
  if ((info & ~IMAGE_KNOWN) != 0 || (method & (method - 1)) != 0)
    return "unknown kind of page image";
  if (method != 0 && has_hole) {
    p = take(c, 2);
    if (p == NULL)
      return "cut off in a page image header";
    hole_len = wal_u16(p);
  } else if (method == 0) {
    hole_len = (uint16_t)(len <= PG_BLOCK_SIZE ? PG_BLOCK_SIZE - len : 0);
  }
  bool hole_fits = has_hole ? hole_offset > 0 && hole_len > 0 && hole_offset + hole_len <= (int)PG_BLOCK_SIZE
                            : hole_offset == 0 && hole_len == 0;
  bool len_fits = has_hole || method != 0 ? len < PG_BLOCK_SIZE : len == PG_BLOCK_SIZE;
  if (!hole_fits || !len_fits)
    return "a page image whose length and hole do not fit";
  *bytes = len;
  return NULL;
}

/* A block reference, without its payload. */
static const char *block_header(cursor *c, wal_block *block, const wal_block *before, uint32_t *image_bytes)
{
  const unsigned char *p = take(c, 3);
  if (p == NULL)
    return "cut off in a block reference";
  uint8_t flags = p[0];
  block->fork = flags & BLOCK_FORK;
  block->has_image = (flags & BLOCK_HAS_IMAGE) != 0;
  block->has_data = (flags & BLOCK_HAS_DATA) != 0;
  block->will_init = (flags & BLOCK_WILL_INIT) != 0;
  block->data_len = wal_u16(p + 1);
  *image_bytes = 0;
  if (block->fork > 3)
    return "a block reference with an unknown fork";
  if (block->has_data != (block->data_len != 0))
    return "a block reference whose data flag and length do not fit";
  if (block->has_image) {
    const char *why = image_header(c, image_bytes);
    if (why != NULL)
      return why;
  }
  if ((flags & BLOCK_SAME_REL) == 0) {
    p = take(c, 12);
    if (p == NULL)
      return "cut off in a block reference";
    block->locator = (twpa_locator){wal_u32(p), wal_u32(p + 4), wal_u32(p + 8)};
  } else if (before != NULL) {
    block->locator = before->locator;
  } else {
    return "a block reference to the relation of the one before, and there is none";
  }
  p = take(c, 4);
  if (p == NULL)
    return "cut off in a block reference";
  block->block = wal_u32(p);
  return NULL;
}

/* One announcement other than a block reference. */
static const char *other_header(cursor *c, wal_record *out, uint8_t id)
{
  const unsigned char *p;
  switch (id) {
  case ID_MAIN_SHORT:
    p = take(c, 1);
    if (p != NULL)
      out->main_len = p[0];
    break;
  case ID_MAIN_LONG:
    p = take(c, 4);
    if (p != NULL)
      out->main_len = wal_u32(p);
    break;
  case ID_ORIGIN:
    p = take(c, 2);
    if (p != NULL)
      out->origin = wal_u16(p);
    break;
  case ID_TOP_XID:
    p = take(c, 4);
    if (p != NULL)
      out->top_xid = wal_u32(p);
    break;
  default:
    return "an unknown part";
  }
  return p == NULL ? "cut off in its header" : NULL;
}

const char *wal_decode(wal_record *out, wal_block blocks[WAL_BLOCKS_MAX], const unsigned char *raw, uint32_t len)
{
  uint32_t image_bytes[WAL_BLOCKS_MAX];
  out->raw = raw;
  out->total_len = len;
  out->xid = wal_u32(raw + 4);
  out->prev = wal_u64(raw + 8);
  out->info = raw[16];
  out->rmgr = raw[17];
  out->top_xid = 0;
  out->origin = 0;
  out->main_len = 0;
  out->nblocks = 0;
  out->blocks = blocks;
  cursor c = {raw + WAL_RECORD_HEADER, len - WAL_RECORD_HEADER};
  uint64_t announced = 0;
  for (bool main_seen = false; !main_seen && c.left > announced;) {
    uint8_t id = *take(&c, 1);
    const char *why;
    if (id < WAL_BLOCKS_MAX) {
      wal_block *block = &blocks[out->nblocks];
      wal_block *before = out->nblocks > 0 ? block - 1 : NULL;
      if (before != NULL && before->id >= id)
        return "block references out of order";
      block->id = id;
      why = block_header(&c, block, before, &image_bytes[out->nblocks]);
      if (why == NULL)
        announced += image_bytes[out->nblocks++] + (uint64_t)block->data_len;
    } else {
      why = other_header(&c, out, id);
      main_seen = id == ID_MAIN_SHORT || id == ID_MAIN_LONG;
      announced += main_seen ? out->main_len : 0;
    }
    if (why != NULL)
      return why;
  }
  if (announced != c.left)
    return "its parts are longer or shorter than the record";
  for (unsigned i = 0; i < out->nblocks; i++) {
    take(&c, image_bytes[i]);
    blocks[i].data = take(&c, blocks[i].data_len);
  }
  out->main_data = c.p;
  return NULL;
}

const wal_block *wal_record_block(const wal_record *record, unsigned id)
{
  for (unsigned i = 0; i < record->nblocks; i++)
    if (record->blocks[i].id == id)
      return &record->blocks[i];
  return NULL;
}

const char *wal_rmgr_name(uint8_t rmgr)
{
  static const char *const names[] = {"XLOG",  "XACT",  "SMGR",   "CLOG", "DBASE",   "TBLSPC",   "MULTIXACT", "RELMAP",
                                      "STANDBY", "HEAP2", "HEAP", "BTREE", "HASH", "GIN", "GIST", "SEQ",
                                      "SPGIST", "BRIN", "COMMIT_TS", "REPLORIGIN", "GENERIC", "LOGICALMSG"};
  if (rmgr <= WAL_RM_LAST)
    return names[rmgr];
  return rmgr >= WAL_RM_EXTENSION ? "extension" : "unknown";
}
