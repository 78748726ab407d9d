/*
 * Walks the log: finds the next record, puts it together from its pages, checks it, and decides what a place without a
 * valid record is (the header says how). A record that lies within one page is given out where it was read.
 */
#include "support/wal/wal_reader.h"

#include "support/wal/wal_bytes.h"
#include "support/wal/wal_decode.h"
#include "support/wal/wal_pages.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  XLOG_SWITCH = 0x40,
  XLOG_OVERWRITE_CONTRECORD = 0xD0,
  OPERATION = 0xF0, /* the part of the info byte that names the operation */
};

struct wal_reader {
  wal_pages pages;
  twpa_lsn proven, shutdown_record;
  twpa_lsn next;      /* where the next record starts; a page border stands for the place behind the page header */
  twpa_lsn last;      /* start of the record before, 0 after a jump */
  twpa_lsn abandoned; /* start of the record abandoned just now, 0 if it is not known */
  bool overwriting;   /* the next record must be the one that names the abandoned record */
  bool pending;       /* record holds the next one already */
  uint64_t nabandoned;
  unsigned char *assembly; /* a record that crosses pages */
  size_t assembly_cap;
  wal_result ended; /* WAL_END or WAL_FAILED once the walk is over */
  host_error end_text;
  wal_record record;
  wal_block blocks[WAL_BLOCKS_MAX];
};

/* What is known about a record that is being put together. */
typedef struct piece {
  twpa_lsn start, end;
  const unsigned char *raw;
  uint32_t len;
} piece;

static wal_result fail(wal_reader *r, host_error *err)
{
  r->ended = WAL_FAILED;
  r->end_text = *err;
  return WAL_FAILED;
}

char *wal_reader_path(char buf[WAL_PATH_BYTES], const wal_reader *r, twpa_lsn lsn)
{
  char name[WAL_NAME_BYTES];
  const wal_files *files = &r->pages.files;
  uint64_t segment = lsn / files->segment_bytes;
  const wal_file *file = wal_files_find(files, segment);
  if (file != NULL)
    wal_file_name(name, files, file);
  else
    wal_segment_name(name, files, wal_files_span(files, lsn)->timeline, segment);
  snprintf(buf, WAL_PATH_BYTES, "%s/%s", files->dir, name);
  return buf;
}

bool wal_reader_within(const wal_reader *r, const wal_record *record, host_error *err)
{
  char path[WAL_PATH_BYTES];
  host_error inner = *err;
  return host_fail(err, "%s: %s", wal_reader_path(path, r, record->start), inner.text);
}

/* Damage, for certain. */
static wal_result damaged(wal_reader *r, twpa_lsn at, host_error *err, const char *format, ...)
  __attribute__((format(printf, 4, 5)));

static wal_result damaged(wal_reader *r, twpa_lsn at, host_error *err, const char *format, ...)
{
  char why[400], path[WAL_PATH_BYTES], lsn[WAL_LSN_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  host_fail(err, "%s: damaged WAL at %s: %s", wal_reader_path(path, r, at), wal_lsn_text(lsn, at), why);
  return fail(r, err);
}

/*
 * There is no valid record at `at`: the end of the log, unless something shows that the log goes on. What could show
 * it are the pages behind the one at `hole`: the page of `at`, or the first page that a long record misses.
 */
static wal_result no_record(wal_reader *r, twpa_lsn at, twpa_lsn hole, host_error *err, const char *format, ...)
  __attribute__((format(printf, 5, 6)));

static wal_result no_record(wal_reader *r, twpa_lsn at, twpa_lsn hole, host_error *err, const char *format, ...)
{
  char why[300], text[WAL_LSN_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  bool shut_down = r->shutdown_record != 0 && r->last == r->shutdown_record;
  if (!shut_down) {
    if (at < r->proven)
      return damaged(r, at, err, "%s, but the control file shows that the log reaches %s", why,
                     wal_lsn_text(text, r->proven));
    twpa_lsn where;
    if (!wal_pages_find_later(&r->pages, hole + WAL_PAGE_BYTES, &where, err))
      return fail(r, err);
    if (where != 0)
      return damaged(r, at, err, "%s, but the log goes on at %s", why, wal_lsn_text(text, where));
  }
  r->ended = WAL_END;
  r->next = at;
  host_fail(&r->end_text, "%s", why);
  return WAL_END;
}

/* The page at `page` could not be loaded, and the record at `at` (the page itself: none yet) needs it. */
static wal_result no_page(wal_reader *r, wal_page_state state, twpa_lsn at, twpa_lsn page, host_error *err)
{
  char text[WAL_LSN_BYTES];
  if (state == WAL_PAGE_FAILED)
    return fail(r, err);
  bool shut_down = r->shutdown_record != 0 && r->last == r->shutdown_record;
  if (state == WAL_PAGE_DAMAGED && !shut_down)
    return damaged(r, page, err, "%s", r->pages.why);
  if (at - at % WAL_PAGE_BYTES == page)
    return no_record(r, at, page, err, "%s", r->pages.why);
  return no_record(r, at, page, err, "the record continues at %s, where %s", wal_lsn_text(text, page), r->pages.why);
}

static bool reserve(wal_reader *r, size_t bytes, host_error *err)
{
  if (bytes <= r->assembly_cap)
    return true;
  size_t cap = r->assembly_cap < 65536 ? 65536 : r->assembly_cap;
  while (cap < bytes)
    cap *= 2;
  unsigned char *grown = realloc(r->assembly, cap);
  if (grown == NULL)
    return host_fail(err, "out of memory for a WAL record of %zu bytes", bytes);
  r->assembly = grown;
  r->assembly_cap = cap;
  return true;
}

/*
 * The rest of a record whose first part stands at the end of the current page. *overwritten: the continuation page says
 * that the record was abandoned; then that page is the current one.
 */
static wal_result assemble(wal_reader *r, piece *p, bool *overwritten, host_error *err)
{
  const wal_page *page = &r->pages.page;
  twpa_lsn at = page->lsn;
  size_t have = (size_t)(at + WAL_PAGE_BYTES - p->start);
  *overwritten = false;
  if (!reserve(r, have, err))
    return fail(r, err);
  memcpy(r->assembly, page->data + (p->start - at), have);
  while (have < p->len) {
    at += WAL_PAGE_BYTES;
    wal_page_state state = wal_pages_load(&r->pages, at, err);
    if (state != WAL_PAGE_VALID)
      return no_page(r, state, p->start, at, err);
    if ((page->flags & WAL_PAGE_OVERWRITTEN) != 0) {
      *overwritten = true;
      return WAL_GOT;
    }
    if (page->remaining != p->len - have) {
      char text[WAL_LSN_BYTES];
      return damaged(r, p->start, err, "%" PRIu32 " bytes of the record follow at %s according to that page, not %zu",
                     page->remaining, wal_lsn_text(text, at), p->len - have);
    }
    size_t part = WAL_PAGE_BYTES - page->header;
    part = page->remaining < part ? page->remaining : part;
    if (!reserve(r, have + part, err))
      return fail(r, err);
    memcpy(r->assembly + have, page->data + page->header, part);
    have += part;
    p->end = at + page->header + ((part + 7) & ~(size_t)7);
  }
  p->raw = r->assembly;
  return WAL_GOT;
}

/* What the header of a record must look like before its checksum is worth computing; NULL if it does. */
static const char *check_header(const wal_reader *r, twpa_lsn start, const unsigned char *raw)
{
  twpa_lsn prev = wal_u64(raw + 8);
  if (r->last != 0 ? prev != r->last : prev >= start)
    return "the record does not name the one before it";
  if (raw[17] > WAL_RM_LAST && raw[17] < WAL_RM_EXTENSION)
    return "unknown resource manager";
  return NULL;
}

/* Loads the page on which the next record starts and finds its first byte. */
static wal_result find_start(wal_reader *r, twpa_lsn *start, host_error *err)
{
  twpa_lsn lsn = r->next - r->next % WAL_PAGE_BYTES;
  wal_page_state state = wal_pages_load(&r->pages, lsn, err);
  if (state != WAL_PAGE_VALID)
    return no_page(r, state, r->next, lsn, err);
  const wal_page *page = &r->pages.page;
  *start = r->next;
  if (r->next == lsn) {
    if ((page->flags & WAL_PAGE_CONTINUES) != 0)
      return damaged(r, lsn, err, "the page starts with the rest of a record, but none is open");
    if ((page->flags & WAL_PAGE_OVERWRITTEN) != 0 && !r->overwriting)
      return damaged(r, lsn, err, "the page says that a record before it was abandoned, but none is open");
    *start = lsn + page->header;
  }
  if (*start >= page->file->limit)
    return no_record(r, *start, lsn, err, "timeline %" PRIu32 " was left here, and the file of the next one is missing",
                     page->file->timeline);
  return WAL_GOT;
}

/* The bytes of the next record, complete and with the right checksum. */
static wal_result next_bytes(wal_reader *r, piece *p, host_error *err)
{
  for (;;) {
    wal_result result = find_start(r, &p->start, err);
    if (result != WAL_GOT)
      return result;
    const wal_page *page = &r->pages.page;
    p->raw = page->data + (p->start - page->lsn);
    p->len = wal_u32(p->raw);
    uint32_t space = (uint32_t)(page->lsn + WAL_PAGE_BYTES - p->start);
    twpa_lsn first = page->lsn;
    if (p->len < WAL_RECORD_HEADER || p->len > WAL_RECORD_MAX)
      return no_record(r, p->start, first, err, "the record length is %" PRIu32, p->len);
    const char *why = space >= WAL_RECORD_HEADER ? check_header(r, p->start, p->raw) : NULL;
    if (why != NULL)
      return no_record(r, p->start, first, err, "%s", why);
    bool overwritten = false;
    p->end = p->start + ((p->len + 7) & ~7u);
    if (p->len > space && (result = assemble(r, p, &overwritten, err)) != WAL_GOT)
      return result;
    if (overwritten) {
      r->abandoned = p->start;
      r->overwriting = true;
      r->next = r->pages.page.lsn;
      r->nabandoned++;
      continue;
    }
    why = check_header(r, p->start, p->raw);
    if (why == NULL && wal_record_crc(p->raw, p->len) != wal_u32(p->raw + 20))
      why = "the record has a wrong checksum";
    return why == NULL ? WAL_GOT : no_record(r, p->start, first, err, "%s", why);
  }
}

/* The record that names an abandoned one stands where the page says so, and nowhere else. */
static wal_result check_overwrite(wal_reader *r, const wal_record *record, host_error *err)
{
  bool is_it = record->rmgr == WAL_RM_XLOG && (record->info & OPERATION) == XLOG_OVERWRITE_CONTRECORD;
  if (is_it != r->overwriting)
    return damaged(r, record->start, err, "%s",
                   is_it ? "a record tells of an abandoned one, but its page does not"
                         : "the page says that a record was abandoned, but no record tells of it");
  if (!is_it)
    return WAL_GOT;
  if (record->main_len < 8)
    return damaged(r, record->start, err, "a record of XLOG that is too short");
  twpa_lsn named = wal_u64(record->main_data);
  char text[WAL_LSN_BYTES];
  if (r->abandoned != 0 ? named != r->abandoned : named >= record->start)
    return damaged(r, record->start, err, "the record tells of an abandoned one at %s", wal_lsn_text(text, named));
  r->overwriting = false;
  r->abandoned = 0;
  return WAL_GOT;
}

static wal_result read_record(wal_reader *r, host_error *err)
{
  piece p = {0};
  wal_result result = next_bytes(r, &p, err);
  if (result != WAL_GOT)
    return result;
  wal_record *record = &r->record;
  record->start = p.start;
  const char *why = wal_decode(record, r->blocks, p.raw, p.len);
  if (why != NULL)
    return damaged(r, p.start, err, "a record of %s with info %02X: %s", wal_rmgr_name(p.raw[17]), p.raw[16], why);
  if (record->rmgr == WAL_RM_XLOG) {
    result = check_overwrite(r, record, err);
    if (result != WAL_GOT)
      return result;
    if ((record->info & OPERATION) == XLOG_SWITCH) {
      uint32_t segment_bytes = r->pages.files.segment_bytes;
      p.end = (p.end + segment_bytes - 1) & ~(twpa_lsn)(segment_bytes - 1);
    }
  } else if (r->overwriting) {
    return check_overwrite(r, record, err);
  }
  record->end = p.end;
  r->last = p.start;
  r->next = p.end;
  return WAL_GOT;
}

wal_result wal_reader_next(wal_reader *r, const wal_record **out, host_error *err)
{
  *out = NULL;
  if (r->pending) {
    r->pending = false;
    *out = &r->record;
    return WAL_GOT;
  }
  if (r->ended != WAL_GOT) {
    if (r->ended == WAL_FAILED)
      *err = r->end_text;
    return r->ended;
  }
  wal_result result = read_record(r, err);
  if (result == WAL_GOT)
    *out = &r->record;
  return result;
}

/* Sets next to the first record that starts on the page at `lsn` or, if a record covers it, behind that record. */
static wal_result skip_continuation(wal_reader *r, twpa_lsn lsn, host_error *err)
{
  uint32_t expected = 0;
  for (;; lsn += WAL_PAGE_BYTES) {
    r->next = lsn;
    wal_page_state state = wal_pages_load(&r->pages, lsn, err);
    if (state != WAL_PAGE_VALID)
      return no_page(r, state, lsn, lsn, err);
    const wal_page *page = &r->pages.page;
    if ((page->flags & WAL_PAGE_OVERWRITTEN) != 0) {
      r->overwriting = true;
      return WAL_GOT;
    }
    if (expected != 0 && page->remaining != expected)
      return damaged(r, lsn, err, "the page starts with %" PRIu32 " bytes of a record, not %" PRIu32, page->remaining,
                     expected);
    uint32_t space = WAL_PAGE_BYTES - page->header;
    if (page->remaining == 0)
      return WAL_GOT;
    if (page->remaining <= space) {
      r->next = lsn + page->header + ((page->remaining + 7) & ~7u);
      return WAL_GOT;
    }
    expected = page->remaining - space;
  }
}

/* Where a record of `len` bytes that starts at `start` ends, and the next one starts. */
static twpa_lsn follow(const wal_reader *r, twpa_lsn start, uint32_t len, bool is_switch)
{
  uint32_t segment_bytes = r->pages.files.segment_bytes;
  twpa_lsn page = start - start % WAL_PAGE_BYTES;
  uint32_t at = (uint32_t)(start % WAL_PAGE_BYTES);
  while (len > WAL_PAGE_BYTES - at) {
    len -= WAL_PAGE_BYTES - at;
    page += WAL_PAGE_BYTES;
    at = wal_page_header(&r->pages, page);
  }
  twpa_lsn end = page + ((at + len + 7) & ~7u);
  if (is_switch)
    end = (end + segment_bytes - 1) & ~(twpa_lsn)(segment_bytes - 1);
  return end % WAL_PAGE_BYTES == 0 ? end + wal_page_header(&r->pages, end) : end;
}

/*
 * Does a record end at `must_end` that starts at `prev`, or of which the log has only the rest, if it starts before the
 * log? A page that cannot be read answers yes: it is not what is asked about.
 */
static bool ends_there(wal_reader *r, twpa_lsn prev, twpa_lsn must_end, wal_page_state *state, host_error *err)
{
  twpa_lsn oldest = wal_reader_oldest(r);
  bool cut = prev < oldest;
  *state = wal_pages_load(&r->pages, cut ? oldest : prev - prev % WAL_PAGE_BYTES, err);
  const wal_page *page = &r->pages.page;
  if (*state != WAL_PAGE_VALID || must_end < oldest)
    return true;
  if (cut) {
    twpa_lsn rest = oldest + page->header;
    return follow(r, rest, page->remaining, false) == must_end ||
           (page->remaining < WAL_RECORD_HEADER && follow(r, rest, page->remaining, true) == must_end);
  }
  uint32_t at = (uint32_t)(prev % WAL_PAGE_BYTES), space = WAL_PAGE_BYTES - at;
  if (at < page->header || at % 8 != 0)
    return false;
  const unsigned char *raw = page->data + at;
  uint32_t len = wal_u32(raw);
  if (len < WAL_RECORD_HEADER || len > WAL_RECORD_MAX)
    return false;
  bool maybe_switch = len == WAL_RECORD_HEADER && (space < len || (raw[17] == WAL_RM_XLOG && raw[16] == XLOG_SWITCH));
  return follow(r, prev, len, false) == must_end || (maybe_switch && follow(r, prev, len, true) == must_end);
}

/*
 * The first record after a jump has none before it that it could be compared with, so an old record that happens to
 * stand where one is looked for (a sector that was not written, in a recycled file) would be believed. But it names
 * the record before it, and that one must end where this one starts.
 */
static wal_result check_before_first(wal_reader *r, host_error *err)
{
  twpa_lsn start = r->record.start, must_end = start;
  wal_page_state state;
  if (r->record.rmgr == WAL_RM_XLOG && (r->record.info & OPERATION) == XLOG_OVERWRITE_CONTRECORD)
    must_end = wal_u64(r->record.main_data);
  bool ends = ends_there(r, r->record.prev, must_end, &state, err);
  if (state == WAL_PAGE_FAILED)
    return fail(r, err);
  return ends ? WAL_GOT : damaged(r, start, err, "the record does not name the one before it");
}

/* Reads the record at r->next, the first after a jump; r->next is then behind it. */
static wal_result read_first(wal_reader *r, host_error *err)
{
  twpa_lsn at = r->next;
  bool overwriting = r->overwriting;
  wal_result result = read_record(r, err);
  if (result != WAL_GOT)
    return result;
  twpa_lsn prev = r->record.prev;
  result = check_before_first(r, err);
  if (result != WAL_GOT)
    return result;
  /* once more: its bytes may have made room for those of the one before */
  r->next = at;
  r->last = prev;
  r->overwriting = overwriting;
  return read_record(r, err);
}

/*
 * Walks from the page at `page` to the first record that starts at `want` or later, and keeps that one for the first
 * call of wal_reader_next. *walked: at least one record was found.
 */
static wal_result walk_to(wal_reader *r, twpa_lsn page, twpa_lsn want, bool *walked, host_error *err)
{
  r->ended = WAL_GOT;
  r->last = r->abandoned = r->nabandoned = 0;
  r->overwriting = *walked = false;
  wal_result result = skip_continuation(r, page, err);
  while (result == WAL_GOT) {
    result = *walked ? read_record(r, err) : read_first(r, err);
    *walked |= result == WAL_GOT;
    if (result == WAL_GOT && r->record.start >= want) {
      r->pending = true;
      break;
    }
  }
  return result;
}

/*
 * Finds the record to begin with. Usually the page that holds `want` shows where its records start. Behind an
 * XLOG_SWITCH there are only empty pages up to the end of the segment; then the walk has to begin before the switch,
 * at the latest in the segment before (the switch itself may cross the border).
 */
static bool seek(wal_reader *r, twpa_lsn want, host_error *err)
{
  uint32_t segment_bytes = r->pages.files.segment_bytes;
  twpa_lsn oldest = wal_reader_oldest(r), segment = want - want % segment_bytes;
  bool walked;
  wal_result result = walk_to(r, want - want % WAL_PAGE_BYTES, want, &walked, err);
  for (int back = 0; back < 2 && result != WAL_GOT && !walked && segment >= oldest; back++, segment -= segment_bytes) {
    host_error other = {""};
    wal_result from_here = walk_to(r, segment, want, &walked, &other);
    if (walked) {
      result = from_here;
      *err = other;
    }
  }
  char start[WAL_LSN_BYTES], end[WAL_LSN_BYTES];
  if (result == WAL_END && r->next < want)
    return host_fail(err, "%s: no WAL at %s: the log ends at %s (%s)", r->pages.files.dir, wal_lsn_text(start, want),
                     wal_lsn_text(end, r->next), r->end_text.text);
  return result != WAL_FAILED;
}

wal_reader_options wal_reader_options_of(const char *data_dir, const pg_control *control)
{
  bool later = control->min_recovery_timeline > control->timeline;
  return (wal_reader_options){
    .data_dir = data_dir,
    .format = control->format,
    .system_id = control->system_id,
    .segment_bytes = control->segment_size,
    .timeline = later ? control->min_recovery_timeline : control->timeline,
    /* the checkpoint record itself must be there */
    .proven = control->checkpoint >= control->min_recovery ? control->checkpoint + 1 : control->min_recovery,
    .shutdown_record = control->state == PG_STATE_SHUT_DOWN ? control->checkpoint : 0,
  };
}

bool wal_reader_open(wal_reader **out, const wal_reader_options *options, host_error *err)
{
  wal_reader *r = calloc(1, sizeof *r);
  if (r == NULL)
    return host_fail(err, "%s: out of memory", options->data_dir);
  if (!wal_pages_open(&r->pages, options->data_dir, options->format, options->timeline, options->segment_bytes,
                      options->system_id, err)) {
    free(r);
    return false;
  }
  r->ended = WAL_GOT;
  r->proven = options->proven;
  r->shutdown_record = options->shutdown_record;
  twpa_lsn oldest = wal_reader_oldest(r), start = options->start != 0 ? options->start : oldest;
  char text[WAL_LSN_BYTES], first[WAL_LSN_BYTES];
  bool ok;
  if (start < oldest)
    ok = host_fail(err, "%s: no WAL at %s: the oldest segment begins at %s", r->pages.files.dir,
                   wal_lsn_text(text, start), wal_lsn_text(first, oldest));
  else
    ok = seek(r, start, err);
  if (!ok) {
    wal_reader_close(r);
    return false;
  }
  *out = r;
  return true;
}

void wal_reader_close(wal_reader *r)
{
  if (r == NULL)
    return;
  wal_pages_close(&r->pages);
  free(r->assembly);
  free(r);
}

twpa_lsn wal_reader_position(const wal_reader *r)
{
  return r->pending ? r->record.start : r->next;
}

const char *wal_reader_end_reason(const wal_reader *r)
{
  return r->ended == WAL_END ? r->end_text.text : "";
}

uint32_t wal_reader_segment_bytes(const wal_reader *r)
{
  return r->pages.files.segment_bytes;
}

twpa_lsn wal_reader_oldest(const wal_reader *r)
{
  return r->pages.files.files[0].segment * r->pages.files.segment_bytes;
}

uint64_t wal_reader_abandoned(const wal_reader *r)
{
  return r->nabandoned;
}
