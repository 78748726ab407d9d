/* Pages of the log: loading, checking, and the search for evidence behind a hole. */
#include "support/wal/wal_pages.h"

#include "support/wal/wal_bytes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW_BYTES (256u * 1024)
#define SHORT_HEADER 24u
#define LONG_HEADER 40u
/* Behind a hole every page is looked at over this many bytes, then only the first page of each segment. */
#define FULL_SEARCH_BYTES (UINT64_C(256) << 20)

static wal_page_state because(wal_pages *pages, wal_page_state state, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

static wal_page_state because(wal_pages *pages, wal_page_state state, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  vsnprintf(pages->why, sizeof pages->why, format, args);
  va_end(args);
  return state;
}

bool wal_pages_open(wal_pages *out, const char *data_dir, const pg_format *format, uint32_t timeline,
                    uint32_t segment_bytes, uint64_t system_id, host_error *err)
{
  wal_pages pages = {.format = format, .system_id = system_id};
  if (!wal_files_open(&pages.files, data_dir, timeline, segment_bytes, err))
    return false;
  pages.window = malloc(WINDOW_BYTES);
  if (pages.window == NULL) {
    wal_files_close(&pages.files);
    return host_fail(err, "%s: out of memory", data_dir);
  }
  *out = pages;
  return true;
}

void wal_pages_close(wal_pages *pages)
{
  wal_files_close(&pages->files);
  free(pages->window);
  pages->window = NULL;
}

static bool all_zero(const unsigned char *p, size_t len)
{
  return p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/*
 * A page says it belongs to an earlier position, as the pages of recycled segments do. If its first record says that
 * the one before it starts behind this page, the address in the header is wrong instead.
 */
static bool contradicts_its_address(const unsigned char *p, twpa_lsn address)
{
  uint32_t at = (wal_u16(p + 2) & WAL_PAGE_LONG) != 0 ? LONG_HEADER : SHORT_HEADER;
  uint32_t remaining = wal_u32(p + 16);
  if (remaining >= WAL_PAGE_BYTES)
    return false;
  at += (remaining + 7) & ~7u;
  return at + 24 <= WAL_PAGE_BYTES && wal_u32(p + at) >= 24 && wal_u64(p + at + 8) >= address + WAL_PAGE_BYTES;
}

static bool in_descent(const wal_pages *pages, uint32_t timeline)
{
  for (size_t i = 0; i < pages->files.nspans; i++)
    if (pages->files.spans[i].timeline == timeline)
      return true;
  return false;
}

/* The part of the check that needs nothing but the page. */
static wal_page_state check_header(wal_pages *pages, const unsigned char *p, twpa_lsn lsn)
{
  uint32_t segment_bytes = pages->files.segment_bytes;
  uint16_t magic = wal_u16(p), flags = wal_u16(p + 2);
  twpa_lsn address = wal_u64(p + 8);
  if (all_zero(p, SHORT_HEADER)) {
    if (all_zero(p, WAL_PAGE_BYTES))
      return because(pages, WAL_PAGE_UNWRITTEN, "the page is empty");
    return because(pages, WAL_PAGE_DAMAGED, "the page header is empty, but the page is not");
  }
  if (magic != pages->format->wal_magic) {
    host_error ignored;
    const pg_format *other;
    if (pg_format_by_wal_magic(&other, magic, &ignored))
      return because(pages, WAL_PAGE_DAMAGED, "page written by PostgreSQL %" PRIu32 ", not %" PRIu32, other->major,
                     pages->format->major);
    return because(pages, WAL_PAGE_DAMAGED, "page magic %04X instead of %04X", magic, pages->format->wal_magic);
  }
  if ((flags & ~WAL_PAGE_FLAGS) != 0)
    return because(pages, WAL_PAGE_DAMAGED, "page flags %04X", flags);
  if ((lsn % segment_bytes == 0) != ((flags & WAL_PAGE_LONG) != 0))
    return because(pages, WAL_PAGE_DAMAGED, "%s page header", lsn % segment_bytes == 0 ? "short" : "long");
  if ((flags & WAL_PAGE_LONG) != 0) {
    uint64_t system_id = wal_u64(p + 24);
    if (pages->system_id != 0 && system_id != pages->system_id)
      return because(pages, WAL_PAGE_DAMAGED, "WAL of another cluster (system identifier %" PRIu64 ", not %" PRIu64 ")",
                     system_id, pages->system_id);
    if (wal_u32(p + 32) != segment_bytes || wal_u32(p + 36) != WAL_PAGE_BYTES)
      return because(pages, WAL_PAGE_DAMAGED, "page header with segment size %" PRIu32 " and page size %" PRIu32,
                     wal_u32(p + 32), wal_u32(p + 36));
  }
  if (address != lsn) {
    char text[WAL_LSN_BYTES];
    if (address < lsn && (lsn - address) % segment_bytes == 0 && !contradicts_its_address(p, address))
      return because(pages, WAL_PAGE_UNWRITTEN, "the page was last used for %s", wal_lsn_text(text, address));
    return because(pages, WAL_PAGE_DAMAGED, "page address %s", wal_lsn_text(text, address));
  }
  bool continues = (flags & WAL_PAGE_CONTINUES) != 0;
  if (continues != (wal_u32(p + 16) != 0) || (continues && (flags & WAL_PAGE_OVERWRITTEN) != 0))
    return because(pages, WAL_PAGE_DAMAGED, "page flags %04X with %" PRIu32 " bytes to come", flags, wal_u32(p + 16));
  if (!in_descent(pages, wal_u32(p + 4)))
    return because(pages, WAL_PAGE_DAMAGED, "page of timeline %" PRIu32 ", which does not lead to timeline %" PRIu32,
                   wal_u32(p + 4), pages->files.spans[pages->files.nspans - 1].timeline);
  return WAL_PAGE_VALID;
}

/* Fills the window from lsn to its size or the end of the segment. */
static bool fill_window(wal_pages *pages, const wal_file *file, twpa_lsn lsn, host_error *err)
{
  uint32_t segment_bytes = pages->files.segment_bytes;
  uint64_t offset = lsn % segment_bytes;
  size_t len = segment_bytes - offset < WINDOW_BYTES ? (size_t)(segment_bytes - offset) : WINDOW_BYTES;
  pages->page.data = NULL;
  pages->window_file = NULL;
  if (!wal_files_read(&pages->files, file, offset, pages->window, len, &pages->window_len, err))
    return false;
  pages->window_lsn = lsn;
  pages->window_file = file;
  return true;
}

/* The bytes of a page of a file; NULL if they cannot be had, with the state that this means. */
static const unsigned char *page_bytes(wal_pages *pages, const wal_file *file, twpa_lsn lsn, wal_page_state *state,
                                       host_error *err)
{
  if (pages->window_file != file || lsn < pages->window_lsn ||
      lsn - pages->window_lsn + WAL_PAGE_BYTES > pages->window_len) {
    if (!fill_window(pages, file, lsn, err)) {
      *state = WAL_PAGE_FAILED;
      return NULL;
    }
    if (pages->window_len < WAL_PAGE_BYTES) {
      uint64_t bytes = pages->files.open_bytes;
      *state = because(pages, file->partial ? WAL_PAGE_UNWRITTEN : WAL_PAGE_DAMAGED,
                       "the file has %" PRIu64 " of %" PRIu32 " bytes", bytes, pages->files.segment_bytes);
      return NULL;
    }
  }
  return pages->window + (lsn - pages->window_lsn);
}

wal_page_state wal_pages_load(wal_pages *pages, twpa_lsn lsn, host_error *err)
{
  if (pages->page.data != NULL && pages->page.lsn == lsn)
    return WAL_PAGE_VALID;
  pages->page.data = NULL;
  const wal_file *file = wal_files_find(&pages->files, lsn / pages->files.segment_bytes);
  if (file == NULL)
    return because(pages, WAL_PAGE_UNWRITTEN, "the file is missing");
  if (lsn >= file->limit)
    return because(pages, WAL_PAGE_UNWRITTEN, "the file is missing on the timeline that begins here");
  wal_page_state state;
  const unsigned char *p = page_bytes(pages, file, lsn, &state, err);
  if (p == NULL)
    return state;
  state = check_header(pages, p, lsn);
  if (state != WAL_PAGE_VALID)
    return state;
  uint32_t timeline = wal_u32(p + 4);
  if (lsn >= pages->timeline_lsn && timeline < pages->timeline)
    return because(pages, WAL_PAGE_DAMAGED, "page of timeline %" PRIu32 " after one of timeline %" PRIu32, timeline,
                   pages->timeline);
  pages->timeline = timeline;
  pages->timeline_lsn = lsn;
  uint16_t flags = wal_u16(p + 2);
  if ((flags & WAL_PAGE_LONG) != 0)
    pages->system_id = wal_u64(p + 24);
  pages->page = (wal_page){
    .lsn = lsn,
    .data = p,
    .file = file,
    .timeline = timeline,
    .remaining = wal_u32(p + 16),
    .flags = flags,
    .header = (flags & WAL_PAGE_LONG) != 0 ? LONG_HEADER : SHORT_HEADER,
  };
  return WAL_PAGE_VALID;
}

uint16_t wal_page_header(const wal_pages *pages, twpa_lsn lsn)
{
  return lsn % pages->files.segment_bytes == 0 ? LONG_HEADER : SHORT_HEADER;
}

bool wal_pages_find_later(wal_pages *pages, twpa_lsn from, twpa_lsn *where, host_error *err)
{
  uint32_t segment_bytes = pages->files.segment_bytes;
  uint64_t segment = from / segment_bytes;
  const wal_file *file = wal_files_find(&pages->files, segment);
  if (file == NULL)
    file = wal_files_after(&pages->files, segment);
  *where = 0;
  for (; file != NULL; file = wal_files_after(&pages->files, file->segment)) {
    twpa_lsn begin = file->segment * segment_bytes;
    twpa_lsn lsn = begin < from ? from : begin;
    twpa_lsn end = begin - from > FULL_SEARCH_BYTES && begin > from ? begin + WAL_PAGE_BYTES : begin + segment_bytes;
    for (; lsn < end && lsn < file->limit; lsn += WAL_PAGE_BYTES) {
      wal_page_state state;
      const unsigned char *p = page_bytes(pages, file, lsn, &state, err);
      if (p == NULL && state == WAL_PAGE_FAILED)
        return false;
      if (p == NULL)
        break;
      if (check_header(pages, p, lsn) == WAL_PAGE_VALID) {
        *where = lsn;
        return true;
      }
    }
  }
  return true;
}
