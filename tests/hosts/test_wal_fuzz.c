/*
 * Real logs with random damage: flipped bits, zeroed and torn pages, pages and segments in the wrong place, files cut
 * short or missing. Whatever happens,
 *   - every record that is delivered is the one of the undamaged log at that place, byte for byte, and none is left
 *   out; - the log ends early only if the control file is not asked and nothing that was left alone lies behind;
 *   - everything else is an error that names file and position.
 */
#include "hosts/wal_maker.h"
#include "support/runner.h"
#include "support/wal/wal_bytes.h"
#include "support/wal/wal_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 8192u
#define SEGMENT (1u << 20)
#define SECTOR 512u
#define MAX_SEGMENTS 8u

typedef struct original {
  uint64_t start, end;
  size_t at; /* of its bytes */
  uint32_t len;
} original;

typedef struct world {
  const char *name;
  const char *dir;
  const pg_format *format;
  unsigned nsegments;
  char files[MAX_SEGMENTS][64];
  unsigned char *map[MAX_SEGMENTS]; /* the files, shared: what is written is damage */
  unsigned char *good;              /* their content as it was */
  uint64_t cut; /* position at which a file was cut; no more damage is written to it. 0 none */
  bool touched[MAX_SEGMENTS * (SEGMENT / PAGE)];
  uint64_t begin, end; /* of the log */
  uint64_t proven;
  original *records;
  size_t nrecords;
  bytes raw;
  rng r;
} world;

static const struct {
  const char *name;
  uint32_t major;
} samples[] = {{"pg15-sample", 15}, {"pg18-dml", 18}, {"pg18-ddl", 18}};

#define NSAMPLES ((int)(sizeof samples / sizeof *samples))

/* --- the undamaged log -------------------------------------------------------------------------------------------- */

static void map_segment(world *w, const char *source, unsigned number, uint64_t segment)
{
  char from[1200], to[1200];
  snprintf(w->files[number], sizeof w->files[number], "%08X%08X%08" PRIX64, 1u, 0u, segment);
  snprintf(from, sizeof from, "%s/pg_wal/%s", source, w->files[number]);
  snprintf(to, sizeof to, "%s/pg_wal/%s", w->dir, w->files[number]);
  FILE *f = fopen(from, "rb");
  ck_assert_msg(f != NULL, "%s", from);
  ck_assert_uint_eq(fread(w->good + (size_t)number * SEGMENT, 1, SEGMENT, f), SEGMENT);
  fclose(f);
  wal_test_file(w->dir, w->files[number], w->good + (size_t)number * SEGMENT, SEGMENT);
  int fd = open(to, O_RDWR);
  ck_assert_int_ge(fd, 0);
  w->map[number] = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ck_assert_ptr_ne(w->map[number], MAP_FAILED);
  close(fd);
}

static wal_reader_options options_of(const world *w)
{
  return (wal_reader_options){.data_dir = w->dir, .format = w->format};
}

static void remember(world *w)
{
  wal_reader_options options = options_of(w);
  wal_reader *reader;
  host_error err = {""};
  ck_assert_msg(wal_reader_open(&reader, &options, &err), "%s", err.text);
  const wal_record *record;
  size_t cap = 0;
  while (wal_reader_next(reader, &record, &err) == WAL_GOT) {
    if (w->nrecords == cap) {
      cap = cap * 2 + 1000;
      w->records = realloc(w->records, cap * sizeof *w->records);
      ck_assert_ptr_nonnull(w->records);
    }
    w->records[w->nrecords++] = (original){record->start, record->end, w->raw.len, record->total_len};
    bytes_add(&w->raw, record->raw, record->total_len);
    w->end = record->end;
  }
  wal_reader_close(reader);
  ck_assert_uint_gt(w->nrecords, 10000);
}

static void open_world(world *w, int sample, uint64_t seed)
{
  char source[1024], path[1100];
  *w = (world){.name = samples[sample].name, .format = pg_format_by_major(samples[sample].major), .r = {seed}};
  w->dir = wal_test_directory();
  snprintf(source, sizeof source, "%s/%s/data", getenv("TWPA_DATA_DIR"), w->name);
  snprintf(path, sizeof path, "%s/global/pg_control", source);
  unsigned char control[256];
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  ck_assert_uint_eq(fread(control, 1, sizeof control, f), sizeof control);
  fclose(f);
  uint64_t last = wal_u64(control + 32) / SEGMENT, first = last;
  ck_assert_uint_eq(wal_u32(control + 228), SEGMENT);
  w->proven = wal_u64(control + 32) + 1;
  for (; first > 0 && last - first + 1 < MAX_SEGMENTS; first--) {
    snprintf(path, sizeof path, "%s/pg_wal/%08X%08X%08" PRIX64, source, 1u, 0u, first - 1);
    if (access(path, R_OK) != 0)
      break;
  }
  w->nsegments = (unsigned)(last - first + 1);
  w->begin = first * SEGMENT;
  w->good = malloc((size_t)w->nsegments * SEGMENT);
  ck_assert_ptr_nonnull(w->good);
  for (unsigned i = 0; i < w->nsegments; i++)
    map_segment(w, source, i, first + i);
  remember(w);
}

static void close_world(world *w)
{
  for (unsigned i = 0; i < w->nsegments; i++)
    munmap(w->map[i], SEGMENT);
  free(w->good);
  free(w->records);
  bytes_free(&w->raw);
  wal_test_remove(w->dir);
}

/* --- damage ------------------------------------------------------------------------------------------------------- */

/* Writes to the log and notes which pages are touched. */
static void put(world *w, uint64_t lsn, const unsigned char *p, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    uint64_t at = lsn - w->begin + i;
    if (at >= (uint64_t)w->nsegments * SEGMENT || (w->cut != 0 && at / SEGMENT == (w->cut - w->begin) / SEGMENT))
      return;
    unsigned char *byte = w->map[at / SEGMENT] + at % SEGMENT;
    if (*byte != p[i])
      w->touched[at / PAGE] = true;
    *byte = p[i];
  }
}

static const unsigned char *good(const world *w, uint64_t lsn)
{
  return w->good + (lsn - w->begin);
}

static void flip_bits(world *w, uint64_t at)
{
  for (uint64_t n = 1 + rng_below(&w->r, 3); n > 0; n--) {
    uint64_t lsn = at + rng_below(&w->r, 16);
    if (lsn - w->begin >= (uint64_t)w->nsegments * SEGMENT)
      return;
    unsigned char byte = (unsigned char)(*good(w, lsn) ^ 1u << rng_below(&w->r, 8));
    put(w, lsn, &byte, 1);
  }
}

static void flip_in_page_header(world *w, uint64_t at)
{
  flip_bits(w, at - at % PAGE + rng_below(&w->r, 24));
}

static void fill(world *w, uint64_t at, size_t len, unsigned value)
{
  unsigned char *p = malloc(len);
  memset(p, (int)value, len);
  put(w, at, p, len);
  free(p);
}

static void zero_bytes(world *w, uint64_t at)
{
  fill(w, at, 1 + (size_t)rng_below(&w->r, 300), 0);
}

static void random_bytes(world *w, uint64_t at)
{
  unsigned char p[64];
  for (size_t i = 0; i < sizeof p; i++)
    p[i] = (unsigned char)rng_next(&w->r);
  put(w, at, p, 1 + (size_t)rng_below(&w->r, sizeof p));
}

static void zero_pages(world *w, uint64_t at)
{
  fill(w, at - at % PAGE, PAGE * (1 + (size_t)rng_below(&w->r, rng_chance(&w->r, 10) ? 200 : 4)), 0);
}

static void zero_sectors(world *w, uint64_t at)
{
  fill(w, at - at % SECTOR, SECTOR * (1 + (size_t)rng_below(&w->r, 4)), 0);
}

/* Some sectors of a page, or pages, are still those of an earlier use of the file, or of another place. */
static void torn(world *w, uint64_t at, size_t unit)
{
  uint64_t from = at - at % unit;
  size_t len = unit * (1 + (size_t)rng_below(&w->r, 3));
  uint64_t source = from >= w->begin + SEGMENT && rng_chance(&w->r, 60)
                      ? from - SEGMENT
                      : w->begin + rng_below(&w->r, (w->end - w->begin) / unit) * unit;
  if (source + len > w->begin + (uint64_t)w->nsegments * SEGMENT)
    len = unit;
  put(w, from, good(w, source), len);
}

static void torn_sectors(world *w, uint64_t at)
{
  torn(w, at, SECTOR);
}

static void torn_pages(world *w, uint64_t at)
{
  torn(w, at, PAGE);
}

static void swap_segments(world *w, uint64_t at)
{
  unsigned a = (unsigned)((at - w->begin) / SEGMENT), b = (unsigned)rng_below(&w->r, w->nsegments);
  put(w, w->begin + (uint64_t)a * SEGMENT, w->good + (size_t)b * SEGMENT, SEGMENT);
  put(w, w->begin + (uint64_t)b * SEGMENT, w->good + (size_t)a * SEGMENT, SEGMENT);
}

static void touch_from(world *w, uint64_t at)
{
  for (uint64_t page = (at - w->begin) / PAGE; page < ((at - w->begin) / SEGMENT + 1) * (SEGMENT / PAGE); page++)
    w->touched[page] = true;
}

static void path_of(char path[1200], const world *w, unsigned segment, const char *suffix)
{
  snprintf(path, 1200, "%s/pg_wal/%s%s", w->dir, w->files[segment], suffix);
}

/* The file ends there. A short file is an error even where nothing of the log is missing, so it is not "touched". */
static void cut_file(world *w, uint64_t at)
{
  char path[1200];
  path_of(path, w, (unsigned)((at - w->begin) / SEGMENT), "");
  ck_assert_int_eq(truncate(path, (off_t)(at % SEGMENT)), 0);
  w->cut = at;
}

static void remove_file(world *w, uint64_t at)
{
  char path[1200], away[1200];
  unsigned segment = (unsigned)((at - w->begin) / SEGMENT);
  path_of(path, w, segment, "");
  path_of(away, w, segment, ".away");
  ck_assert_int_eq(rename(path, away), 0);
  touch_from(w, w->begin + (uint64_t)segment * SEGMENT);
}

static const struct {
  const char *name;
  void (*damage)(world *w, uint64_t at);
  unsigned weight;
} ways[] = {
  {"flipped bits", flip_bits, 30},    {"flipped bits in a page header", flip_in_page_header, 20},
  {"zeroed bytes", zero_bytes, 10},   {"random bytes", random_bytes, 10},
  {"zeroed pages", zero_pages, 8},    {"zeroed sectors", zero_sectors, 8},
  {"torn sectors", torn_sectors, 10}, {"torn pages", torn_pages, 8},
  {"swapped segments", swap_segments, 1}, {"cut file", cut_file, 3},
  {"missing file", remove_file, 2},
};

#define NWAYS (sizeof ways / sizeof *ways)

static void repair(world *w)
{
  w->cut = 0;
  for (unsigned i = 0; i < w->nsegments; i++) {
    char path[1200], away[1200];
    path_of(path, w, i, "");
    path_of(away, w, i, ".away");
    if (access(path, F_OK) != 0)
      ck_assert_int_eq(rename(away, path), 0);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    if (st.st_size != SEGMENT) {
      ck_assert_int_eq(truncate(path, SEGMENT), 0);
      memcpy(w->map[i], w->good + (size_t)i * SEGMENT, SEGMENT);
    }
  }
  for (unsigned page = 0; page < w->nsegments * (SEGMENT / PAGE); page++)
    if (w->touched[page]) {
      memcpy(w->map[page / (SEGMENT / PAGE)] + page % (SEGMENT / PAGE) * PAGE, w->good + (size_t)page * PAGE, PAGE);
      w->touched[page] = false;
    }
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static size_t first_at_or_after(const world *w, uint64_t lsn)
{
  size_t low = 0, high = w->nrecords;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (w->records[mid].start < lsn)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/*
 * The reader says that the log ends at a record. Was a page of the log left as it was, behind the first page of that
 * record that was not?
 */
static bool something_behind(const world *w, const original *record)
{
  uint64_t page = (record->start - w->begin) / PAGE, last = (record->end - 1 - w->begin) / PAGE;
  while (page < last && !w->touched[page])
    page++;
  for (page++; w->begin + page * PAGE < w->end; page++)
    if (!w->touched[page])
      return true;
  return false;
}

typedef enum outcome {
  PASSED, /* the damage was read over: it hit nothing that matters */
  ENDED,
  REFUSED,
} outcome;

static void check_refusal(const world *w, const host_error *err, const char *what)
{
  ck_assert_msg(strstr(err->text, w->dir) != NULL && strstr(err->text, "/pg_wal") != NULL, "%s: %s", what, err->text);
  ck_assert_msg(strstr(err->text, " at 0/") != NULL || strstr(err->text, "does not state a segment size") != NULL,
                "%s: %s", what, err->text);
  ck_assert_msg(strchr(err->text, '\n') == NULL, "%s: %s", what, err->text);
}

/* Reads from `from` to behind `until`. */
static outcome read_damaged(const world *w, uint64_t from, uint64_t until, bool prove, const char *what,
                            host_error *err)
{
  wal_reader_options options = options_of(w);
  options.start = from;
  options.proven = prove ? w->proven : 0;
  options.segment_bytes = rng_chance((rng[]){w->r}, 90) ? SEGMENT : 0;
  wal_reader *reader;
  *err = (host_error){""};
  if (!wal_reader_open(&reader, &options, err)) {
    check_refusal(w, err, what);
    return REFUSED;
  }
  size_t i = first_at_or_after(w, from);
  const wal_record *record;
  wal_result result;
  while ((result = wal_reader_next(reader, &record, err)) == WAL_GOT) {
    /* an assertion of Check costs too much to be made for every record */
    const original *o = &w->records[i++];
    if (i > w->nrecords)
      ck_abort_msg("%s: a record behind the end", what);
    if (record->start != o->start || record->end != o->end)
      ck_abort_msg("%s: a record at %" PRIX64 ", not at %" PRIX64, what, record->start, o->start);
    if (record->total_len != o->len || memcmp(record->raw, w->raw.data + o->at, o->len) != 0)
      ck_abort_msg("%s: another record at %" PRIX64, what, o->start);
    if (record->start > until)
      break;
  }
  uint64_t position = wal_reader_position(reader);
  wal_reader_close(reader);
  if (result == WAL_GOT)
    return PASSED;
  if (result == WAL_FAILED) {
    check_refusal(w, err, what);
    return REFUSED;
  }
  if (i == w->nrecords)
    return PASSED;
  ck_assert_msg(w->records[i].start - position <= 40, "%s: ends at %" PRIX64, what, position);
  ck_assert_msg(!prove, "%s: ends at %" PRIX64 " although the log is known to go on", what, position);
  ck_assert_msg(!something_behind(w, &w->records[i]), "%s: ends at %" PRIX64 " although something lies behind", what,
                position);
  return ENDED;
}

static unsigned pick_way(rng *r)
{
  unsigned total = 0;
  for (unsigned i = 0; i < NWAYS; i++)
    total += ways[i].weight;
  unsigned at = (unsigned)rng_below(r, total), way = 0;
  while (at >= ways[way].weight)
    at -= ways[way++].weight;
  return way;
}

/* A place for damage: anywhere, or in the last pages, or close to where a record starts. */
static uint64_t pick_place(world *w)
{
  switch (rng_below(&w->r, 4)) {
  case 0:
    return w->begin + rng_below(&w->r, w->end - w->begin);
  case 1:
    return w->end - 1 - rng_below(&w->r, 3 * PAGE);
  default:
    return w->records[rng_below(&w->r, w->nrecords)].start + rng_below(&w->r, 28);
  }
}

START_TEST(damage_never_alters_and_never_hides)
{
  world w;
  open_world(&w, _i, test_seed(1) + (uint64_t)_i * 7919);
  const char *text = getenv("TWPA_FUZZ_RUNS");
  unsigned runs = text != NULL ? (unsigned)atoi(text) : 2000, counts[3] = {0};
  for (unsigned run = 0; run < runs; run++) {
    uint64_t seed = w.r.state, at = pick_place(&w);
    unsigned way = pick_way(&w.r);
    ways[way].damage(&w, at);
    if (rng_chance(&w.r, 10))
      ways[1].damage(&w, pick_place(&w));
    char what[200];
    snprintf(what, sizeof what, "%s, run %u (state %" PRIu64 "), %s at %" PRIX64, w.name, run, seed, ways[way].name,
             at);
    /* begin a bit before the damage; sometimes in it */
    uint64_t back = rng_chance(&w.r, 5) ? 0 : PAGE + rng_below(&w.r, 3 * PAGE);
    uint64_t from = at < w.begin + back ? w.begin : at - back;
    bool prove = rng_chance(&w.r, 50) != 0;
    host_error err;
    counts[read_damaged(&w, from, at + 4 * PAGE, prove, what, &err)]++;
    repair(&w);
  }
  printf("%s: %u times damaged: %u read over, %u ended early, %u refused\n", w.name, runs, counts[PASSED],
         counts[ENDED], counts[REFUSED]);
  ck_assert_uint_gt(counts[REFUSED], runs / 2);
  if (runs >= 1000) {
    ck_assert_uint_gt(counts[PASSED], 0);
    ck_assert_uint_gt(counts[ENDED], 0);
  }
  close_world(&w);
}
END_TEST

/* Without damage, any start gives the first record from there on. */
START_TEST(any_start)
{
  world w;
  open_world(&w, _i, test_seed(2) + (uint64_t)_i);
  for (int i = 0; i < 300; i++) {
    uint64_t from = w.begin + rng_below(&w.r, w.end - w.begin + 1);
    host_error err;
    ck_assert_int_eq(read_damaged(&w, from, from + 2 * PAGE, true, "undamaged", &err), PASSED);
  }
  close_world(&w);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_fuzz");
  TCase *t = tcase_create("fuzz");
  tcase_set_timeout(t, 600);
  tcase_add_loop_test(t, damage_never_alters_and_never_hides, 0, NSAMPLES);
  tcase_add_loop_test(t, any_start, 0, NSAMPLES);
  suite_add_tcase(s, t);
  return run_suite(s);
}
