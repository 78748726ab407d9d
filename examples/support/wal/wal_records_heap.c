/* Records of the resource managers HEAP and HEAP2: rows. */
#include "support/wal/wal_records_internal.h"

#include "support/pg/pg_tuple.h"

enum {
  PAGE_INITIALISED = 0x80,
  OPERATION = 0x70,
};

enum {
  HEAP_INSERT = 0x00,
  HEAP_DELETE = 0x10,
  HEAP_UPDATE = 0x20,
  HEAP_TRUNCATE = 0x30,
  HEAP_HOT_UPDATE = 0x40,
  HEAP_CONFIRM = 0x50,
  HEAP_LOCK = 0x60,
  HEAP_INPLACE = 0x70,
};

enum {
  HEAP2_MULTI_INSERT = 0x50,
  HEAP2_NEW_CID = 0x70,
};

enum {
  INSERT_LAST_IN_MULTI = 0x02,
  INSERT_SPECULATIVE = 0x04,
  INSERT_HAS_ROW = 0x08,
  INSERT_ON_TOAST = 0x10,
};

enum {
  UPDATE_HAS_OLD_ROW = 0x04,
  UPDATE_HAS_OLD_KEY = 0x08,
  UPDATE_HAS_ROW = 0x10,
  UPDATE_PREFIX = 0x20,
  UPDATE_SUFFIX = 0x40,
};

enum {
  DELETE_HAS_OLD_ROW = 0x02,
  DELETE_HAS_OLD_KEY = 0x04,
  DELETE_SPECULATIVE = 0x08,
  DELETE_PARTITION_MOVE = 0x10,
};

#define ROW_HEADER 5u        /* infomask2, infomask, hoff */
#define MULTI_ROW_HEADER 7u  /* body length before them */
#define TRUNCATE_CASCADE 1u
#define TRUNCATE_RESTART 2u

static const char short_record[] = "its main data has the wrong length";
static const char no_page[] = "it refers to no page";
static const char bad_row[] = "a row whose header and length do not fit";

/* Header fields and body of a row; false if they cannot belong together. */
static bool make_row(wal_row *row, const unsigned char *header, const unsigned char *body, size_t body_len)
{
  row->infomask2 = wal_u16(header);
  row->infomask = wal_u16(header + 2);
  row->hoff = header[4];
  row->body = body;
  row->body_len = (uint32_t)body_len;
  unsigned bitmap = (row->infomask & PG_HAS_NULLS) != 0 ? ((row->infomask2 & PG_NATTS_MASK) + 7u) / 8 : 0;
  return row->hoff % 8 == 0 && row->hoff >= PG_TUPLE_HEADER + bitmap && body_len >= row->hoff - PG_TUPLE_HEADER;
}

/* Row header, then body to the end. */
static bool take_row(wal_row *row, const unsigned char *p, size_t len)
{
  return len >= ROW_HEADER && make_row(row, p, p + ROW_HEADER, len - ROW_HEADER);
}

static const char *parse_insert(wal_insert *out, const wal_record *r)
{
  const wal_block *page = wal_record_block(r, 0);
  if (r->main_len != 3)
    return short_record;
  if (page == NULL)
    return no_page;
  uint8_t flags = r->main_data[2];
  out->locator = page->locator;
  out->tid = (twpa_tid){.block = page->block, .line = wal_u16(r->main_data)};
  out->speculative = (flags & INSERT_SPECULATIVE) != 0;
  out->is_toast = (flags & INSERT_ON_TOAST) != 0;
  if ((flags & INSERT_HAS_ROW) != 0 && !take_row(&out->row, page->data, page->data_len))
    return bad_row;
  return NULL;
}

/* The row at an offset of the block data; *offset moves behind it. */
static bool multi_row(wal_row *row, const unsigned char *data, uint32_t len, uint32_t *offset)
{
  uint32_t at = (*offset + 1) & ~1u;
  if (at > len || len - at < MULTI_ROW_HEADER)
    return false;
  uint32_t body_len = wal_u16(data + at);
  if (len - at - MULTI_ROW_HEADER < body_len)
    return false;
  *offset = at + MULTI_ROW_HEADER + body_len;
  return make_row(row, data + at + 2, data + at + MULTI_ROW_HEADER, body_len);
}

bool wal_multi_next(wal_row *row, twpa_tid *tid, wal_multi_position *at, const wal_multi_insert *insert)
{
  if (!insert->has_rows || at->index == insert->nrows)
    return false;
  if (!multi_row(row, insert->rows.data, insert->rows.count, &at->offset))
    return false; /* cannot happen: the record was parsed */
  *tid = (twpa_tid){.block = insert->block};
  tid->line = insert->lines == NULL ? (uint16_t)(at->index + 1) : wal_u16(insert->lines + (size_t)2 * at->index);
  at->index++;
  return true;
}

static const char *parse_multi_insert(wal_multi_insert *out, const wal_record *r)
{
  const wal_block *page = wal_record_block(r, 0);
  if (r->main_len < 4)
    return short_record;
  uint8_t flags = r->main_data[0];
  bool initialised = (r->info & PAGE_INITIALISED) != 0;
  out->nrows = wal_u16(r->main_data + 2);
  if (r->main_len != 4 + (initialised ? 0 : 2 * out->nrows))
    return short_record;
  if (page == NULL)
    return no_page;
  out->locator = page->locator;
  out->block = page->block;
  out->lines = initialised ? NULL : r->main_data + 4;
  out->has_rows = (flags & INSERT_HAS_ROW) != 0;
  out->last = (flags & INSERT_LAST_IN_MULTI) != 0;
  out->is_toast = (flags & INSERT_ON_TOAST) != 0;
  if (!out->has_rows)
    return NULL;
  out->rows = (wal_list){page->data, page->data_len};
  uint32_t offset = 0;
  wal_row row;
  for (uint32_t i = 0; i < out->nrows; i++)
    if (!multi_row(&row, page->data, page->data_len, &offset))
      return bad_row;
  return offset == page->data_len ? NULL : "more block data than rows";
}

static const char *parse_update(wal_update *out, const wal_record *r, bool hot)
{
  const wal_block *page = wal_record_block(r, 0), *old_page = wal_record_block(r, 1);
  if (r->main_len < 14)
    return short_record;
  if (page == NULL)
    return no_page;
  const unsigned char *p = r->main_data;
  uint8_t flags = p[7];
  out->hot = hot;
  out->locator = page->locator;
  out->tid = (twpa_tid){.block = page->block, .line = wal_u16(p + 12)};
  out->old_tid = (twpa_tid){.block = old_page != NULL ? old_page->block : page->block, .line = wal_u16(p + 4)};
  bool old_row = (flags & UPDATE_HAS_OLD_ROW) != 0;
  out->old_is_key = (flags & UPDATE_HAS_OLD_KEY) != 0;
  if (old_row && out->old_is_key)
    return "flags say that it has the old row and the old key";
  if (old_row || out->old_is_key) {
    if (!take_row(&out->old_row, p + 14, r->main_len - 14))
      return bad_row;
  } else if (r->main_len != 14) {
    return short_record;
  }
  if ((flags & UPDATE_HAS_ROW) == 0)
    return NULL;
  if ((flags & (UPDATE_PREFIX | UPDATE_SUFFIX)) != 0)
    return "a row that is to be decoded, but is shortened against the old one";
  return take_row(&out->row, page->data, page->data_len) ? NULL : bad_row;
}

static const char *parse_delete(wal_delete *out, const wal_record *r)
{
  const wal_block *page = wal_record_block(r, 0);
  if (r->main_len < 8)
    return short_record;
  if (page == NULL)
    return no_page;
  const unsigned char *p = r->main_data;
  uint8_t flags = p[7];
  out->locator = page->locator;
  out->tid = (twpa_tid){.block = page->block, .line = wal_u16(p + 4)};
  out->speculative = (flags & DELETE_SPECULATIVE) != 0;
  out->partition_move = (flags & DELETE_PARTITION_MOVE) != 0;
  bool old_row = (flags & DELETE_HAS_OLD_ROW) != 0;
  out->old_is_key = (flags & DELETE_HAS_OLD_KEY) != 0;
  if (old_row && out->old_is_key)
    return "flags say that it has the old row and the old key";
  if (old_row || out->old_is_key)
    return take_row(&out->old_row, p + 8, r->main_len - 8) ? NULL : bad_row;
  return r->main_len == 8 ? NULL : short_record;
}

static const char *parse_truncate(wal_truncate *out, const wal_record *r)
{
  if (r->main_len < 12 || !wal_fits(r->main_len, 12, wal_i32(r->main_data + 4), 4))
    return short_record;
  const unsigned char *p = r->main_data;
  out->database = wal_u32(p);
  out->relations = (wal_list){p + 12, wal_u32(p + 4)};
  out->cascade = (p[8] & TRUNCATE_CASCADE) != 0;
  out->restart_sequences = (p[8] & TRUNCATE_RESTART) != 0;
  return NULL;
}

static const char *parse_confirm(wal_confirm *out, const wal_record *r)
{
  const wal_block *page = wal_record_block(r, 0);
  if (r->main_len != 2)
    return short_record;
  if (page == NULL)
    return no_page;
  out->locator = page->locator;
  out->tid = (twpa_tid){.block = page->block, .line = wal_u16(r->main_data)};
  return NULL;
}

static const char *parse_inplace(wal_inplace *out, const wal_record *r, const pg_format *format)
{
  const wal_block *page = wal_record_block(r, 0);
  const unsigned char *p = r->main_data;
  if (r->main_len < format->inplace_size)
    return short_record;
  if (page == NULL)
    return no_page;
  out->locator = page->locator;
  out->tid = (twpa_tid){.block = page->block, .line = wal_u16(p)};
  if (!format->inplace_has_inval)
    return r->main_len == format->inplace_size ? NULL : short_record;
  if (!wal_fits(r->main_len, format->inplace_size, wal_i32(p + 16), WAL_INVAL_BYTES))
    return short_record;
  out->database = wal_u32(p + 4);
  out->tablespace = wal_u32(p + 8);
  out->invalidations = (wal_list){p + format->inplace_size, wal_u32(p + 16)};
  return NULL;
}

static const char *parse_new_cid(wal_new_cid *out, const wal_record *r)
{
  if (r->main_len != 34)
    return short_record;
  const unsigned char *p = r->main_data;
  out->top_xid = wal_u32(p);
  out->cmin = wal_u32(p + 4);
  out->cmax = wal_u32(p + 8);
  out->combo_cid = wal_u32(p + 12);
  out->locator = wal_locator(p + 16);
  out->tid = wal_tid(p + 28);
  return NULL;
}

const char *wal_parse_heap(wal_content *out, const wal_record *record, const pg_format *format)
{
  switch (record->info & OPERATION) {
  case HEAP_INSERT:
    out->kind = WAL_INSERT;
    return parse_insert(&out->as.insert, record);
  case HEAP_UPDATE:
  case HEAP_HOT_UPDATE:
    out->kind = WAL_UPDATE;
    return parse_update(&out->as.update, record, (record->info & OPERATION) == HEAP_HOT_UPDATE);
  case HEAP_DELETE:
    out->kind = WAL_DELETE;
    return parse_delete(&out->as.del, record);
  case HEAP_TRUNCATE:
    out->kind = WAL_TRUNCATE;
    return parse_truncate(&out->as.truncate, record);
  case HEAP_CONFIRM:
    out->kind = WAL_CONFIRM;
    return parse_confirm(&out->as.confirm, record);
  case HEAP_INPLACE:
    out->kind = WAL_INPLACE;
    return parse_inplace(&out->as.inplace, record, format);
  default: /* HEAP_LOCK */
    return record->main_len == 8 ? NULL : short_record;
  }
}

/* Rewrite mappings, pruning, visibility and locks do not matter; all eight operation codes are in use. */
const char *wal_parse_heap2(wal_content *out, const wal_record *record, const pg_format *format)
{
  (void)format;
  switch (record->info & OPERATION) {
  case HEAP2_MULTI_INSERT:
    out->kind = WAL_MULTI_INSERT;
    return parse_multi_insert(&out->as.multi_insert, record);
  case HEAP2_NEW_CID:
    out->kind = WAL_NEW_CID;
    return parse_new_cid(&out->as.new_cid, record);
  default:
    return NULL;
  }
}
