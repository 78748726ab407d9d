/*
 * Spilling and restoring, against writing and reading the same bytes plainly: blocks of 64 KB, one file, no checksum. Files
 * are in a new directory below TMPDIR (or /tmp), and making and removing them counts everywhere.
 *
 * Spilling is what lowering the memory limit does with what has been queued. Restoring is part of the commit, which also
 * gives each row to the consumer and drops the transaction. Beside the commit from storage stand three things:
 *
 *   plain read                 nobody looks at what was read
 *   plain read, rows           each row is given to a consumer that looks at both its ends, as the library's consumer does
 *   commit from memory         the same commit of the same transactions, which were not spilled
 *
 * The budget is about the bytes: what restoring adds, which is the commit from storage less the commit from memory,
 * against the plain read. Giving out the rows is done either way and has a budget of its own (bench_reorder). It favours
 * restoring that a commit from memory gives memory back and meets its rows in no cache, which spilling has paid for; so the
 * commit from storage as a whole is compared with both plain readers as well.
 *
 * All is measured twice: with the device, where writing ends when everything is on it and reading finds nothing in the
 * cache of the system; and within that cache, which shows what the library does by itself, and leaves it the time of a
 * copy in memory for it.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1
#include "contender.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twpa/file_spill.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)
#define TXNS_MAX 1000

static char directory[200];

static void must(bool ok, const char *what)
{
  if (ok)
    return;
  perror(what);
  exit(1);
}

/* Everything in the directory is on the device; with `forget`, and not in the cache any more. */
static void settle(bool forget)
{
  DIR *d = opendir(directory);
  must(d != NULL, directory);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    int fd = e->d_name[0] != '.' ? openat(dirfd(d), e->d_name, O_RDWR) : -1;
    if (fd < 0)
      continue;
    must(fdatasync(fd) == 0, "fdatasync");
    if (forget)
      must(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "fadvise");
    close(fd);
  }
  closedir(d);
}

/* --- plainly --- */

typedef struct plain_file {
  int fd;
  unsigned char *bytes;   /* what is to be written: records, none across blocks */
  unsigned char **queued; /* a copy, block by block in memory of its own, as what the library has queued is */
  unsigned char *block; /* to be read into, again and again, as a block is restored */
  char path[240];
  bool device;
  void (*consumer)(void *arg, const void *row, size_t len);
  uint64_t sum;
} plain_file;

#define HEADER ((size_t)40) /* of a record: what the library has before an inserted row */

/* Fills the memory with records: their length, the length of the row, the row. */
static void plain_fill(plain_file *f, size_t n, size_t row)
{
  uint64_t seed = 17;
  size_t len = HEADER + (row + 7) / 8 * 8;
  memset(f->bytes, 0, n);
  for (size_t block = 0; block < n; block += BLOCK)
    for (size_t at = block; at + len <= n && at + len <= block + BLOCK; at += len) {
      uint32_t sizes[2] = {(uint32_t)len, (uint32_t)row};
      memcpy(f->bytes + at, sizes, sizeof sizes);
      memcpy(f->bytes + at + HEADER, contender_row(bench_random(&seed)), row);
    }
}

static void plain_consumer(void *arg, const void *row, size_t len)
{
  plain_file *f = arg;
  uint64_t first, last;
  memcpy(&first, row, sizeof first);
  memcpy(&last, (const unsigned char *)row + len - sizeof last, sizeof last);
  f->sum += first ^ last;
}

static size_t block_len(size_t n, size_t at)
{
  return n - at < BLOCK ? n - at : BLOCK;
}

static void plain_queue(void *arg, size_t n)
{
  plain_file *f = arg;
  for (size_t at = 0; at < n; at += BLOCK) {
    f->queued[at / BLOCK] = malloc(BLOCK);
    must(f->queued[at / BLOCK] != NULL, "memory");
    memcpy(f->queued[at / BLOCK], f->bytes + at, block_len(n, at));
  }
}

static void plain_drop(plain_file *f, size_t n)
{
  for (size_t at = 0; at < n; at += BLOCK)
    free(f->queued[at / BLOCK]);
}

static void plain_write(void *arg, size_t n)
{
  plain_file *f = arg;
  snprintf(f->path, sizeof f->path, "%s/plain", directory);
  f->fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  must(f->fd >= 0, f->path);
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t len = block_len(n, at);
    must(pwrite(f->fd, f->queued[at / BLOCK], len, (off_t)at) == (ssize_t)len, "write");
  }
  if (f->device)
    settle(false);
}

static void plain_queue_and_write(void *arg, size_t n)
{
  plain_file *f = arg;
  plain_queue(f, n);
  plain_write(f, n);
  plain_drop(f, n);
  if (f->device)
    settle(true);
}

static void plain_remove(plain_file *f)
{
  close(f->fd);
  unlink(f->path);
}

static void plain_remove_and_drop(void *arg, size_t n)
{
  plain_remove(arg);
  plain_drop(arg, n);
}

static void plain_give(plain_file *f, size_t len)
{
  for (size_t at = 0; at + HEADER <= len;) {
    uint32_t sizes[2];
    memcpy(sizes, f->block + at, sizeof sizes);
    if (sizes[0] == 0)
      break;
    f->consumer(f, f->block + at + HEADER, sizes[1]);
    at += sizes[0];
  }
}

static void read_blocks(plain_file *f, size_t n, bool give)
{
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t len = block_len(n, at);
    must(pread(f->fd, f->block, len, (off_t)at) == (ssize_t)len, "read");
    if (give)
      plain_give(f, len);
  }
  plain_remove(f);
}

static void plain_read(void *arg, size_t n)
{
  read_blocks(arg, n, false);
}

static void plain_read_rows(void *arg, size_t n)
{
  plain_file *f = arg;
  read_blocks(f, n, true);
  bench_use(f->sum);
}

/* --- the library --- */

typedef struct spilling {
  contender c;
  twpa_file_spill *spill;
  size_t txns, row;
  bool device;
} spilling;

static uint64_t stored_bytes(const spilling *s)
{
  twpa_reorder_counters stats = {.struct_size = TWPA_REORDER_COUNTERS_INIT};
  must(twpa_reorder_stats(s->c.buffer, &stats) == TWPA_OK, "statistics");
  return stats.storage_bytes;
}

/* Queues what makes about n bytes in storage. */
static void fill(void *arg, size_t n)
{
  spilling *s = arg;
  const twpa_file_spill_options options = {TWPA_FILE_SPILL_OPTIONS_INIT, .directory = directory};
  twpa_storage storage = {.struct_size = TWPA_STORAGE_INIT};
  must(twpa_file_spill_new(&s->spill, &options, NULL) == TWPA_OK, directory);
  must(twpa_file_spill_storage(s->spill, &storage) == TWPA_OK, "storage");
  contender_open(&s->c, CALLBACKS, &storage);
  uint64_t seed = 17;
  for (size_t i = 0; i < n / (s->row + 44); i++)
    contender_queue(&s->c, 1000 + i % s->txns, 0, contender_row(bench_random(&seed)), s->row);
}

static void spill(void *arg, size_t n)
{
  spilling *s = arg;
  (void)n;
  must(twpa_reorder_set_memory_limit(s->c.buffer, 1) == TWPA_OK, "spill");
  if (s->device)
    settle(false);
}

static void fill_and_spill(void *arg, size_t n)
{
  spilling *s = arg;
  fill(arg, n);
  spill(arg, n);
  uint64_t stored = stored_bytes(s);
  must(stored >= n / 10 * 9 && stored <= n / 10 * 11, "size");
  if (s->device)
    settle(true);
}

static void commit_all(void *arg, size_t n)
{
  spilling *s = arg;
  (void)n;
  for (size_t i = 0; i < s->txns; i++)
    contender_commit(&s->c, 1000 + i);
}

static void drop(void *arg, size_t n)
{
  spilling *s = arg;
  (void)n;
  contender_close(&s->c);
  twpa_file_spill_free(s->spill);
}

static void show(const bench_case *cases, size_t ncases)
{
  for (size_t i = 0; i < ncases; i++)
    bench_note(cases[i].name, 1e3 / cases[i].ns_min, "MB/s (fastest)");
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* How many times as fast as the plain read is what restoring adds: the median over the rounds, and of the fastest. */
static void show_added(const bench_case *plain, const bench_case *storage, const bench_case *memory, bool budget)
{
  double ratio[BENCH_MAX_ROUNDS];
  size_t n = 0;
  for (; n < BENCH_MAX_ROUNDS && plain->rounds_ns[n] > 0; n++)
    ratio[n] = plain->rounds_ns[n] / (storage->rounds_ns[n] - memory->rounds_ns[n]);
  qsort(ratio, n, sizeof *ratio, by_value);
  double added = storage->ns_min - memory->ns_min;
  bench_note("what restoring adds", 1e3 / added, "MB/s (fastest)");
  bench_note("... as fast as the plain read (fastest)", plain->ns_min / added, "x");
  if (budget && n > 0)
    bench_want("what restoring adds, times as fast as the plain read", ratio[n / 2], true, 0.7);
}

static void compare_spill(plain_file *plain, spilling *ours, const char *what, size_t n, bool budget)
{
  char title[120];
  snprintf(title, sizeof title, "spill to the %s", what);
  bench_case cases[] = {{.name = "plain write", .prepare = plain_queue, .run = plain_write, .finish = plain_remove_and_drop,
                         .arg = plain},
                        {.name = "library", .prepare = fill, .run = spill, .finish = drop, .arg = ours}};
  if (!bench_compare(title, "byte", cases, 2, n))
    return;
  show(cases, 2);
  if (budget)
    bench_want_ratio(&cases[1], 0.7);
}

static void compare_restore(plain_file *plain, spilling *ours, const char *what, size_t n, bool budget)
{
  char title[120];
  snprintf(title, sizeof title, "restore from the %s", what);
  bench_case cases[] = {
    {.name = "plain read", .prepare = plain_queue_and_write, .run = plain_read, .arg = plain},
    {.name = "plain read, rows", .prepare = plain_queue_and_write, .run = plain_read_rows, .arg = plain},
    {.name = "commit from storage", .prepare = fill_and_spill, .run = commit_all, .finish = drop, .arg = ours},
    {.name = "commit from memory", .prepare = fill, .run = commit_all, .finish = drop, .arg = ours}};
  if (!bench_compare(title, "byte", cases, 4, n))
    return;
  show(cases, 4);
  bench_note("commit from storage, as fast as plain rows", cases[1].ns_min / cases[2].ns_min, "x (fastest)");
  show_added(&cases[0], &cases[2], &cases[3], budget);
}

static void compare(size_t txns, size_t row, bool device, bool budget)
{
  size_t n = bench_size((size_t)(device ? 32 : 8) << 20, (size_t)1 << 20);
  plain_file plain = {.bytes = malloc(n), .queued = malloc((n / BLOCK + 1) * sizeof *plain.queued),
                      .block = malloc(BLOCK), .device = device, .consumer = plain_consumer};
  must(plain.bytes != NULL && plain.queued != NULL && plain.block != NULL, "memory");
  plain_fill(&plain, n, row);
  spilling ours = {.txns = txns, .row = row, .device = device};
  char what[80];
  snprintf(what, sizeof what, "%s: %zu transactions, rows of %zu bytes", device ? "device" : "cache", txns, row);
  compare_spill(&plain, &ours, what, n, budget);
  compare_restore(&plain, &ours, what, n, budget);
  free(plain.bytes);
  free(plain.queued);
  free(plain.block);
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "spilling");
  const char *tmp = getenv("TMPDIR");
  snprintf(directory, sizeof directory, "%s/twpa-bench-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
  must(mkdtemp(directory) != NULL, directory);
  compare(1, 100, true, true);
  compare(bench_size(1000, 5), 100, true, false);
  compare(1, 100, false, true);
  compare(1, 1000, false, false);
  compare(bench_size(1000, 5), 100, false, false);
  must(rmdir(directory) == 0, directory);
  return bench_end();
}
