/* Pages, line pointers, row versions and what became of them. */
#include "support/pg/pg_page.h"

#include "support/pg/pg_file.h"

#include <errno.h>
#include <string.h>

#define PAGE_HEADER 24u
#define PAGE_VERSION 0x2004u /* size 8192, layout 4 */
#define PAGE_FLAGS 0x0007u   /* has free lines, full, all visible */
#define MOVED 0xC000u        /* by a VACUUM FULL of before 9.0 */

enum {
  LINE_NORMAL = 1
};

bool pg_row_is_last(const pg_row *row)
{
  return row->next_block == row->block && row->next_line == row->line;
}

static bool committed(pg_xact *x, bool *yes, uint32_t xid, host_error *err)
{
  uint32_t status;
  if (!pg_xact_status(x, &status, xid, err))
    return false;
  *yes = status == PG_XACT_COMMITTED;
  return true;
}

static bool only_locked(uint16_t infomask)
{
  return (infomask & PG_XMAX_LOCK_ONLY) != 0 ||
         (infomask & (PG_XMAX_IS_MULTI | PG_XMAX_KEYSHR_LOCK | PG_XMAX_EXCL_LOCK)) == PG_XMAX_EXCL_LOCK;
}

bool pg_row_fate(pg_xact *x, bool *made, uint32_t *ended_by, const pg_row *row, host_error *err)
{
  uint16_t mask = row->tuple.infomask;
  *ended_by = 0;
  if ((mask & MOVED) != 0)
    return host_fail(err, "a row was moved by a VACUUM FULL of before PostgreSQL 9.0");
  if ((mask & PG_XMIN_COMMITTED) != 0)
    *made = true; /* also frozen */
  else if ((mask & PG_XMIN_INVALID) != 0)
    *made = false;
  else if (!committed(x, made, row->xmin, err))
    return false;
  if (!*made || (mask & PG_XMAX_INVALID) != 0 || row->xmax == 0 || only_locked(mask))
    return true;
  uint32_t xid = row->xmax;
  if ((mask & PG_XMAX_IS_MULTI) != 0) {
    if (!pg_multixact_updater(x, &xid, row->xmax, err))
      return false;
    if (xid == 0)
      return true;
  } else if ((mask & PG_XMAX_COMMITTED) != 0) {
    *ended_by = xid;
    return true;
  }
  bool ended;
  if (!committed(x, &ended, xid, err))
    return false;
  *ended_by = ended ? xid : 0;
  return true;
}

/* FNV-1a, with one more shift mixed in, in 32 columns side by side, joined by exclusive or. */
uint16_t pg_page_checksum(const uint8_t *page, uint32_t block)
{
  static const uint32_t begin[32] = {
    0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C,
    0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB,
    0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4,
    0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756};
  uint32_t sums[32];
  memcpy(sums, begin, sizeof sums);
  for (size_t at = 0; at < PG_BLOCK_SIZE + 2 * sizeof sums; at += 4) { /* two rows of zeroes at the end */
    uint32_t word = at < PG_BLOCK_SIZE ? pg_u32(page + at) : 0;
    if (at == 8)
      word &= 0xFFFF0000u; /* the checksum itself */
    uint32_t *sum = &sums[at / 4 % 32];
    uint32_t mixed = *sum ^ word;
    *sum = mixed * 16777619u ^ mixed >> 17;
  }
  uint32_t joined = block;
  for (int i = 0; i < 32; i++)
    joined ^= sums[i];
  return (uint16_t)(joined % 65535 + 1);
}

bool pg_page_check(unsigned *lines, const uint8_t *page, uint32_t block, bool checksums, host_error *err)
{
  *lines = 0;
  unsigned lower = pg_u16(page + 12), upper = pg_u16(page + 14), special = pg_u16(page + 16);
  if (upper == 0) {
    if (page[0] != 0 || memcmp(page, page + 1, PG_BLOCK_SIZE - 1) != 0) /* all bytes are 0 */
      return host_fail(err, "block %u has no header but is not empty", block);
    return true;
  }
  if (checksums && pg_u16(page + 8) != pg_page_checksum(page, block))
    return host_fail(err, "block %u has the checksum %04X, computed %04X", block, pg_u16(page + 8),
                     pg_page_checksum(page, block));
  if (pg_u16(page + 18) != PAGE_VERSION)
    return host_fail(err, "block %u has the page size and version %04X", block, pg_u16(page + 18));
  if (lower < PAGE_HEADER || lower > upper || upper > special || special > PG_BLOCK_SIZE ||
      (lower - PAGE_HEADER) % 4 != 0 || (pg_u16(page + 10) & ~PAGE_FLAGS) != 0)
    return host_fail(err, "block %u has a damaged header (lower %u, upper %u, special %u, flags %04X)", block, lower,
                     upper, special, pg_u16(page + 10));
  *lines = (lower - PAGE_HEADER) / 4;
  return true;
}

bool pg_page_row(pg_row *row, bool *has, const uint8_t *page, uint32_t block, unsigned line, host_error *err)
{
  uint32_t pointer = pg_u32(page + PAGE_HEADER + 4 * (line - 1));
  unsigned at = pointer & 0x7FFF, state = pointer >> 15 & 3, len = pointer >> 17;
  *has = state == LINE_NORMAL;
  if (!*has)
    return true;
  if (at < pg_u16(page + 14) || at % 8 != 0 || at + len > pg_u16(page + 16))
    return host_fail(err, "block %u, line %u: a row of %u bytes at %u is outside of the page's rows", block, line, len,
                     at);
  if (!pg_tuple_open(&row->tuple, page + at, len, err)) {
    host_error inner = *err;
    return host_fail(err, "block %u, line %u: %.600s", block, line, inner.text);
  }
  const uint8_t *p = page + at;
  row->block = block;
  row->line = (uint16_t)line;
  row->xmin = pg_u32(p);
  row->xmax = pg_u32(p + 4);
  row->next_block = (uint32_t)pg_u16(p + 12) << 16 | pg_u16(p + 14);
  row->next_line = pg_u16(p + 16);
  return true;
}

bool pg_heap_scan_begin(pg_heap_scan *scan, const char *path, bool checksums, host_error *err)
{
  size_t len = strlen(path);
  if (len >= sizeof scan->path)
    return host_fail(err, "%.200s...: the path is too long", path);
  memcpy(scan->path, path, len + 1);
  scan->part = 0;
  scan->block = 0;
  scan->line = scan->lines = 0;
  scan->new_pages = 0;
  scan->checksums = checksums;
  scan->file = fopen(path, "rb");
  return scan->file != NULL || host_fail(err, "%.500s: %s", path, strerror(errno));
}

void pg_heap_scan_end(pg_heap_scan *scan)
{
  if (scan->file != NULL)
    fclose(scan->file);
  scan->file = NULL;
}

/* Path of the part that is being read. */
static bool part_path(char *path, const pg_heap_scan *scan, host_error *err)
{
  return scan->part == 0 ? pg_path(path, err, "%s", scan->path) : pg_path(path, err, "%s.%u", scan->path, scan->part);
}

/* Goes on to the next part, if there is one. Called when a part was read in full: only such a part has a next one. */
static bool next_part(pg_heap_scan *scan, bool *more, host_error *err)
{
  char path[PG_PATH_MAX];
  pg_heap_scan_end(scan);
  scan->part++;
  if (!part_path(path, scan, err))
    return false;
  scan->file = fopen(path, "rb");
  if (scan->file == NULL && errno != ENOENT)
    return host_fail(err, "%.500s: %s", path, strerror(errno));
  *more = scan->file != NULL;
  return true;
}

/* The next page; *more is false at the end. */
static bool next_page(pg_heap_scan *scan, bool *more, host_error *err)
{
  char path[PG_PATH_MAX];
  *more = scan->file != NULL;
  if (*more && scan->block == (scan->part + 1) * PG_SEGMENT_BLOCKS && !next_part(scan, more, err))
    return false;
  if (!*more)
    return true;
  size_t n = fread(scan->page, 1, PG_BLOCK_SIZE, scan->file);
  if (n == 0 && feof(scan->file)) {
    pg_heap_scan_end(scan);
    *more = false;
    return true;
  }
  if (n != PG_BLOCK_SIZE) {
    int why = errno;
    if (!part_path(path, scan, err))
      return false;
    return ferror(scan->file) ? host_fail(err, "%.500s: %s", path, strerror(why))
                              : host_fail(err, "%.500s: block %u is cut off after %zu bytes", path, scan->block, n);
  }
  if (!pg_page_check(&scan->lines, scan->page, scan->block, scan->checksums, err))
    return part_path(path, scan, err) && pg_within(err, path);
  scan->new_pages += pg_u16(scan->page + 14) == 0; /* pd_upper: 0 in a page that was never filled */
  scan->line = 0;
  scan->block++;
  return true;
}

bool pg_heap_scan_next(pg_heap_scan *scan, bool *found, pg_row *row, host_error *err)
{
  char path[PG_PATH_MAX];
  for (;;) {
    while (scan->line < scan->lines) {
      scan->line++;
      if (!pg_page_row(row, found, scan->page, scan->block - 1, scan->line, err))
        return part_path(path, scan, err) && pg_within(err, path);
      if (*found)
        return true;
    }
    bool more;
    if (!next_page(scan, &more, err))
      return false;
    if (!more) {
      scan->lines = scan->line = 0;
      *found = false;
      return true;
    }
  }
}
