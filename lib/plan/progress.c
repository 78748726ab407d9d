/*
 * Progress: what is committed on the target.
 *
 * Two kinds of facts. What was told in this life is a ring of entries in commit order, numbered by ordinals 1, 2, 3...;
 * everything up to `base` is done, and `done` holds the ordinals above it that are done, as runs. What an earlier life
 * left behind is `restored`: stretches of the log in which every commit is applied. A transaction is identified across
 * lives by the end of its commit record alone.
 *
 * The watermark as a position is not the end of the last transaction done: log that needs nothing (idle, filtered,
 * applied before) counts as well. So every entry remembers how far everything had been told *before* it, and the
 * watermark is that of the first entry not done, or `fed` if there is none. It cannot move back, because `fed` rises
 * and entries are told in order.
 *
 * A stretch is saved as [end of its first transaction, end of its last]. That is sound because all commits between two
 * neighbours in the ring were told, applied before, or need nothing: the same reason for which a watermark is sound.
 *
 * Memory is reserved when a transaction is told: in the ring, and in `done`, which never holds more runs than the ring
 * has entries. Ticking off cannot fail.
 */
#include "plan/progress.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/runs.h"
#include "base/sized.h"

#include <string.h>

#define SPAN_MAX_DEFAULT ((uint64_t)1 << 20)
#define RING_MIN ((size_t)16)

/*
 * Version 1; numbers little-endian:
 *   0  "TWPP"   4 u16 version   6 u16 0   8 u32 length of all   12 u32 number of stretches
 *   16 u64 stream   24 u64 watermark   32 stretches   length - 8: u64 XXH3 of everything before
 * A stretch is two variable-length numbers (7 bits per byte, low ones first, no superfluous bytes): the distance of its
 * first position from the end of the one before (from the watermark), and the distance of its last from its first.
 */
#define HEAD_BYTES ((size_t)32)
#define SUM_BYTES ((size_t)8)
#define VARINT_MAX ((size_t)10)
#define RECORD_VERSION 1u

static const unsigned char record_magic[4] = {'T', 'W', 'P', 'P'};

typedef struct entry {
  uint64_t seq;
  twpa_lsn lsn;    /* end of its commit record */
  twpa_lsn before; /* everything that ended up to here had been told before it */
} entry;

struct twpa_progress {
  twpa__mem mem;
  twpa_progress_options options;
  entry *ring;
  size_t ring_cap;    /* a power of two, or 0 */
  uint64_t base;      /* ordinals up to here are done */
  uint64_t next;      /* ordinal of the next one told */
  uint64_t base_seq;  /* sequence number of `base` */
  uint64_t last_seq;  /* of the last one told */
  twpa_lsn fed;       /* everything that ended up to here has been told */
  uint64_t done_ones; /* how many ordinals `done` holds */
  uint64_t done_total;
  twpa__runs done;     /* ordinals above base */
  twpa__runs restored; /* positions above the watermark */
  bool touched;        /* something was told: no load any more */
};

static entry *entry_at(const twpa_progress *p, uint64_t ordinal)
{
  return &p->ring[ordinal & (p->ring_cap - 1)];
}

static uint64_t span(const twpa_progress *p)
{
  return p->next - 1 - p->base;
}

static uint64_t pending(const twpa_progress *p)
{
  return span(p) - p->done_ones;
}

static twpa_lsn watermark_after(const twpa_progress *p, uint64_t base)
{
  return base + 1 < p->next ? entry_at(p, base + 1)->before : p->fed;
}

/* How long a record can become when `more` others are told: above the watermark every stretch follows a pending one. */
static uint64_t save_bytes_bound(const twpa_progress *p, uint64_t more)
{
  return HEAD_BYTES + SUM_BYTES + 2 * VARINT_MAX * (p->restored.count + pending(p) + more);
}

/* ---- Making and freeing --------------------------------------------------------------------------------------- */

twpa_status twpa_progress_new(twpa_progress **progress, const twpa_progress_options *options,
                              const twpa_allocator *allocator)
{
  if (progress == NULL)
    return TWPA_E_INVAL;
  twpa_progress_options own;
  twpa_status st = twpa__read_sized(&own, sizeof own, options, sizeof(twpa_progress_options));
  if (st != TWPA_OK)
    return st;
  if (own.span_max == 0)
    own.span_max = SPAN_MAX_DEFAULT;
  twpa__mem mem;
  st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  twpa_progress *p = twpa__zalloc(&mem, sizeof *p);
  if (p == NULL)
    return TWPA_E_NOMEM;
  p->mem = mem;
  p->options = own;
  p->next = 1;
  p->fed = own.start;
  twpa__runs_init(&p->done, &p->mem);
  twpa__runs_init(&p->restored, &p->mem);
  *progress = p;
  return TWPA_OK;
}

void twpa_progress_free(twpa_progress *progress)
{
  if (progress == NULL)
    return;
  twpa__runs_clear(&progress->done);
  twpa__runs_clear(&progress->restored);
  twpa__release(&progress->mem, progress->ring, progress->ring_cap * sizeof(entry));
  twpa__mem mem = progress->mem;
  twpa__release(&mem, progress, sizeof *progress);
}

/* ---- Telling and ticking off ---------------------------------------------------------------------------------- */

/* The ring holds at least one more entry, and `done` as many runs as the ring has entries. */
static twpa_status ring_reserve(twpa_progress *p)
{
  if (span(p) < p->ring_cap)
    return TWPA_OK;
  size_t cap = p->ring_cap == 0 ? RING_MIN : p->ring_cap * 2;
  size_t bytes;
  if (cap < p->ring_cap || !twpa__array_size(&bytes, cap, sizeof(entry)))
    return TWPA_E_NOMEM;
  twpa_status st = twpa__runs_reserve(&p->done, cap);
  if (st != TWPA_OK)
    return st;
  entry *ring = twpa__alloc(&p->mem, bytes);
  if (ring == NULL)
    return TWPA_E_NOMEM;
  for (uint64_t o = p->base + 1; o < p->next; o++)
    ring[o & (cap - 1)] = *entry_at(p, o);
  twpa__release(&p->mem, p->ring, p->ring_cap * sizeof(entry));
  p->ring = ring;
  p->ring_cap = cap;
  return TWPA_OK;
}

/* The end of the last restored stretch below lsn, or 0. */
static twpa_lsn restored_below(const twpa_progress *p, twpa_lsn lsn)
{
  size_t low = 0, high = p->restored.count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (p->restored.runs[mid].last < lsn)
      low = mid + 1;
    else
      high = mid;
  }
  return low > 0 ? p->restored.runs[low - 1].last : 0;
}

twpa_status twpa__progress_reserve(twpa_progress *p, twpa_lsn lsn)
{
  if (lsn == TWPA_LSN_NONE)
    return TWPA_E_INVAL;
  if (twpa_progress_is_applied(p, lsn))
    return TWPA_E_EXISTS;
  if (lsn <= p->fed)
    return TWPA_E_INVAL;
  if (pending(p) > 0) {
    if (span(p) >= p->options.span_max)
      return TWPA_E_LIMIT;
    if (p->options.save_bytes_max != 0 && save_bytes_bound(p, 1) > p->options.save_bytes_max)
      return TWPA_E_LIMIT;
  }
  return ring_reserve(p);
}

twpa_status twpa_progress_submitted(twpa_progress *progress, uint64_t seq, twpa_lsn lsn)
{
  if (progress == NULL || seq == 0 || seq <= progress->last_seq)
    return TWPA_E_INVAL;
  twpa_status st = twpa__progress_reserve(progress, lsn);
  if (st != TWPA_OK)
    return st;
  twpa_lsn before = restored_below(progress, lsn);
  if (before < progress->fed)
    before = progress->fed;
  *entry_at(progress, progress->next) = (entry){.seq = seq, .lsn = lsn, .before = before};
  if (!progress->touched || progress->next == 1)
    progress->base_seq = seq - 1;
  progress->touched = true;
  progress->last_seq = seq;
  progress->fed = lsn;
  progress->next++;
  if (span(progress) == 1)
    twpa__runs_drop_through(&progress->restored, before);
  return TWPA_OK;
}

/* The ordinal of a sequence number that is in the ring, or 0. Numbers without gaps are found at once. */
static uint64_t find_seq(const twpa_progress *p, uint64_t seq)
{
  uint64_t low = p->base + 1, high = p->next;
  if (low == high || seq < entry_at(p, low)->seq)
    return 0;
  uint64_t ahead = seq - entry_at(p, low)->seq;
  if (ahead < high - low && entry_at(p, low + ahead)->seq == seq)
    return low + ahead;
  while (low < high) {
    uint64_t mid = low + (high - low) / 2;
    if (entry_at(p, mid)->seq < seq)
      low = mid + 1;
    else
      high = mid;
  }
  return low < p->next && entry_at(p, low)->seq == seq ? low : 0;
}

twpa_status twpa_progress_done(twpa_progress *progress, uint64_t seq)
{
  if (progress == NULL)
    return TWPA_E_INVAL;
  uint64_t ordinal = find_seq(progress, seq);
  if (ordinal == 0)
    return progress->next > 1 && seq != 0 && seq <= progress->base_seq ? TWPA_E_EXISTS : TWPA_E_NOTFOUND;
  if (ordinal > progress->base + 1) {
    twpa_status st = twpa__runs_add(&progress->done, ordinal);
    TWPA__ASSERT(st == TWPA_OK || st == TWPA_E_EXISTS);
    if (st != TWPA_OK)
      return st;
    progress->done_ones++;
    progress->done_total++;
    return TWPA_OK;
  }
  uint64_t base = ordinal;
  if (progress->done.count > 0 && progress->done.runs[0].first == base + 1) {
    base = progress->done.runs[0].last;
    progress->done_ones -= base - ordinal;
    twpa__runs_drop_through(&progress->done, base);
  }
  progress->base_seq = entry_at(progress, base)->seq;
  progress->base = base;
  progress->done_total++;
  twpa__runs_drop_through(&progress->restored, watermark_after(progress, base));
  return TWPA_OK;
}

twpa_status twpa_progress_passed(twpa_progress *progress, twpa_lsn lsn)
{
  if (progress == NULL)
    return TWPA_E_INVAL;
  if (lsn <= progress->fed)
    return TWPA_OK;
  progress->touched = true;
  progress->fed = lsn;
  if (span(progress) == 0)
    twpa__runs_drop_through(&progress->restored, lsn);
  return TWPA_OK;
}

twpa_status twpa_progress_note_applied(twpa_progress *progress, twpa_lsn lsn)
{
  if (progress == NULL || lsn == TWPA_LSN_NONE)
    return TWPA_E_INVAL;
  if (progress->next != 1)
    return TWPA_E_STATE;
  if (!twpa_progress_is_applied(progress, lsn)) {
    twpa_status st = twpa__runs_add(&progress->restored, lsn);
    if (st != TWPA_OK)
      return st;
  }
  progress->touched = true;
  return TWPA_OK;
}

/* ---- Asking --------------------------------------------------------------------------------------------------- */

twpa_status twpa_progress_low_watermark(const twpa_progress *progress, uint64_t *seq, twpa_lsn *lsn)
{
  if (progress == NULL || seq == NULL || lsn == NULL)
    return TWPA_E_INVAL;
  *seq = progress->base_seq;
  *lsn = watermark_after(progress, progress->base);
  return TWPA_OK;
}

int twpa_progress_is_applied(const twpa_progress *progress, twpa_lsn lsn)
{
  if (progress == NULL || lsn == TWPA_LSN_NONE)
    return 0;
  if (lsn <= watermark_after(progress, progress->base) || twpa__runs_contains(&progress->restored, lsn))
    return 1;
  /* The first entry that ends after lsn: the one before it is lsn's own, or the neighbour on the left. */
  uint64_t low = progress->base + 1, high = progress->next;
  while (low < high) {
    uint64_t mid = low + (high - low) / 2;
    if (entry_at(progress, mid)->lsn <= lsn)
      low = mid + 1;
    else
      high = mid;
  }
  if (low == progress->base + 1 || !twpa__runs_contains(&progress->done, low - 1))
    return 0;
  return entry_at(progress, low - 1)->lsn == lsn || (low < progress->next && twpa__runs_contains(&progress->done, low));
}

/* ---- The record ----------------------------------------------------------------------------------------------- */

typedef struct writer {
  unsigned char *buf; /* NULL: only count */
  size_t len;
} writer;

static void put_fixed(writer *w, uint64_t n, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++) {
    if (w->buf != NULL)
      w->buf[w->len] = (unsigned char)(n >> (8 * i));
    w->len++;
  }
}

static void put_varint(writer *w, uint64_t n)
{
  while (n >= 0x80) {
    put_fixed(w, (n & 0x7F) | 0x80, 1);
    n >>= 7;
  }
  put_fixed(w, n, 1);
}

static uint64_t get_fixed(const unsigned char *buf, unsigned bytes)
{
  uint64_t n = 0;
  for (unsigned i = 0; i < bytes; i++)
    n |= (uint64_t)buf[i] << (8 * i);
  return n;
}

/* Reads a number from *at on, not beyond end; false if it is cut off, too large, or longer than it must be. */
static bool get_varint(uint64_t *n, const unsigned char *buf, size_t *at, size_t end)
{
  *n = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (*at >= end)
      return false;
    unsigned char byte = buf[(*at)++];
    if (shift == 63 && byte > 1)
      return false;
    *n |= (uint64_t)(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0)
      return byte != 0 || shift == 0;
  }
  return false;
}

/* Walks the stretches above a watermark: those of this life (one more transaction taken as done) and the restored. */
typedef struct walk {
  const twpa_progress *p;
  uint64_t extra;  /* an ordinal taken as done, or 0 */
  size_t run;      /* next of p->done */
  size_t restored; /* next of p->restored */
  twpa_lsn watermark;
  bool have_own, have_old;
  twpa__run own, old; /* next of either kind, as positions */
} walk;

/* Takes the next run of ordinals, the extra one merged in, as positions. */
static void walk_own(walk *w)
{
  const twpa__runs *done = &w->p->done;
  bool extra_first = w->extra != 0 && (w->run == done->count || w->extra < done->runs[w->run].first);
  w->have_own = extra_first || w->run < done->count;
  if (!w->have_own)
    return;
  twpa__run r = extra_first ? (twpa__run){w->extra, w->extra} : done->runs[w->run];
  if (extra_first)
    w->extra = 0;
  else
    w->run++;
  for (;;) {
    if (w->extra != 0 && w->extra <= r.last + 1) {
      if (w->extra == r.last + 1)
        r.last = w->extra;
      w->extra = 0;
    } else if (w->run < done->count && done->runs[w->run].first <= r.last + 1) {
      r.last = done->runs[w->run++].last;
    } else {
      break;
    }
  }
  w->own = (twpa__run){entry_at(w->p, r.first)->lsn, entry_at(w->p, r.last)->lsn};
}

static void walk_old(walk *w)
{
  const twpa__runs *restored = &w->p->restored;
  while (w->restored < restored->count && restored->runs[w->restored].last <= w->watermark)
    w->restored++;
  w->have_old = w->restored < restored->count;
  if (!w->have_old)
    return;
  w->old = restored->runs[w->restored++];
  if (w->old.first <= w->watermark)
    w->old.first = w->watermark + 1;
}

static void walk_begin(walk *w, const twpa_progress *p, uint64_t extra)
{
  *w = (walk){.p = p, .extra = extra > p->base ? extra : 0};
  uint64_t base = p->base;
  if (w->extra == base + 1) {
    base = w->extra;
    w->extra = 0;
    if (p->done.count > 0 && p->done.runs[0].first == base + 1)
      base = p->done.runs[w->run++].last;
  }
  w->watermark = watermark_after(p, base);
  walk_own(w);
  walk_old(w);
}

static bool walk_next(walk *w, twpa__run *out)
{
  if (!w->have_own && !w->have_old)
    return false;
  bool own = w->have_own && (!w->have_old || w->own.first <= w->old.first);
  *out = own ? w->own : w->old;
  if (own)
    walk_own(w);
  else
    walk_old(w);
  for (;;) {
    if (w->have_own && w->own.first - 1 <= out->last) {
      if (w->own.last > out->last)
        out->last = w->own.last;
      walk_own(w);
    } else if (w->have_old && w->old.first - 1 <= out->last) {
      if (w->old.last > out->last)
        out->last = w->old.last;
      walk_old(w);
    } else {
      return true;
    }
  }
}

static void write_record(const twpa_progress *p, writer *w, uint64_t extra, size_t total, uint32_t stretches)
{
  walk at;
  walk_begin(&at, p, extra);
  for (size_t i = 0; i < sizeof record_magic; i++)
    put_fixed(w, record_magic[i], 1);
  put_fixed(w, RECORD_VERSION, 2);
  put_fixed(w, 0, 2);
  put_fixed(w, total, 4);
  put_fixed(w, stretches, 4);
  put_fixed(w, p->options.stream, 8);
  put_fixed(w, at.watermark, 8);
  twpa_lsn end = at.watermark;
  twpa__run r;
  while (walk_next(&at, &r)) {
    put_varint(w, r.first - end);
    put_varint(w, r.last - r.first);
    end = r.last;
  }
  put_fixed(w, w->buf != NULL ? twpa__checksum64(w->buf, w->len) : 0, (unsigned)SUM_BYTES);
}

static uint32_t count_stretches(const twpa_progress *p, uint64_t extra)
{
  walk at;
  walk_begin(&at, p, extra);
  uint32_t n = 0;
  twpa__run r;
  while (walk_next(&at, &r))
    n++;
  return n;
}

static twpa_status save(const twpa_progress *p, void *buf, size_t cap, size_t *len, uint64_t extra)
{
  writer count = {NULL, 0};
  write_record(p, &count, extra, 0, 0);
  if (count.len > UINT32_MAX)
    return TWPA_E_LIMIT;
  *len = count.len;
  if (buf == NULL || cap < count.len)
    return TWPA_E_LIMIT;
  writer out = {buf, 0};
  write_record(p, &out, extra, count.len, count_stretches(p, extra));
  TWPA__ASSERT(out.len == count.len);
  return TWPA_OK;
}

twpa_status twpa_progress_save(const twpa_progress *progress, void *buf, size_t cap, size_t *len)
{
  if (progress == NULL || len == NULL || (buf == NULL && cap != 0))
    return TWPA_E_INVAL;
  return save(progress, buf, cap, len, 0);
}

twpa_status twpa_progress_save_with(const twpa_progress *progress, void *buf, size_t cap, size_t *len, uint64_t seq)
{
  if (progress == NULL || len == NULL || (buf == NULL && cap != 0))
    return TWPA_E_INVAL;
  uint64_t ordinal = find_seq(progress, seq);
  if (ordinal == 0 && (progress->next == 1 || seq == 0 || seq > progress->base_seq))
    return TWPA_E_NOTFOUND;
  return save(progress, buf, cap, len, ordinal);
}

/* Reads the stretches of a sound record into `out`. */
static twpa_status read_stretches(twpa__runs *out, const unsigned char *buf, size_t end, uint64_t stretches,
                                  twpa_lsn watermark)
{
  size_t at = HEAD_BYTES;
  twpa_lsn last = watermark;
  for (uint64_t i = 0; i < stretches; i++) {
    uint64_t gap, length;
    if (!get_varint(&gap, buf, &at, end) || !get_varint(&length, buf, &at, end))
      return TWPA_E_CORRUPT;
    if (gap < (i == 0 ? 1u : 2u) || gap > UINT64_MAX - last || length > UINT64_MAX - (last + gap))
      return TWPA_E_CORRUPT;
    twpa_lsn first = last + gap;
    last = first + length;
    twpa_status st = twpa__runs_add_range(out, first, last);
    if (st != TWPA_OK)
      return st;
  }
  return at == end ? TWPA_OK : TWPA_E_CORRUPT;
}

twpa_status twpa_progress_load(twpa_progress *progress, const void *buf, size_t len)
{
  if (progress == NULL || (buf == NULL && len != 0))
    return TWPA_E_INVAL;
  if (progress->touched)
    return TWPA_E_STATE;
  const unsigned char *b = buf;
  if (len < HEAD_BYTES + SUM_BYTES || memcmp(b, record_magic, sizeof record_magic) != 0)
    return TWPA_E_CORRUPT;
  size_t end = len - SUM_BYTES;
  if (get_fixed(b + 8, 4) != len || get_fixed(b + end, 8) != twpa__checksum64(b, end))
    return TWPA_E_CORRUPT;
  if (get_fixed(b + 4, 2) != RECORD_VERSION)
    return TWPA_E_UNSUPPORTED;
  if (get_fixed(b + 6, 2) != 0)
    return TWPA_E_CORRUPT;
  twpa_lsn watermark = get_fixed(b + 24, 8);
  twpa__runs restored;
  twpa__runs_init(&restored, &progress->mem);
  twpa_status st = read_stretches(&restored, b, end, get_fixed(b + 12, 4), watermark);
  if (st == TWPA_OK && get_fixed(b + 16, 8) != progress->options.stream)
    st = TWPA_E_NOTFOUND;
  if (st != TWPA_OK) {
    twpa__runs_clear(&restored);
    return st;
  }
  twpa__runs_clear(&progress->restored);
  progress->restored = restored;
  progress->fed = watermark;
  progress->touched = true;
  return TWPA_OK;
}

twpa_status twpa_progress_stats(const twpa_progress *progress, twpa_progress_counters *counters)
{
  if (progress == NULL || counters == NULL)
    return TWPA_E_INVAL;
  writer count = {NULL, 0};
  write_record(progress, &count, 0, 0, 0);
  twpa_progress_counters now = {
    .submitted = progress->next - 1,
    .done = progress->done_total,
    .span = span(progress),
    .runs = count_stretches(progress, 0),
    .save_bytes = count.len,
    .save_bytes_max = save_bytes_bound(progress, 0),
    .bytes_live = progress->mem.live_bytes,
  };
  return twpa__write_sized(counters, &now, sizeof now, sizeof(twpa_progress_counters));
}
