/*
 * Spilling and restoring, against writing and reading the same bytes plainly: blocks of 64 KB, one file, no checksum,
 * nobody looks at what was read. Files are in a new directory below TMPDIR (or /tmp).
 *
 * Spilling is what lowering the memory limit does with what has been queued; restoring is the commit, with everything
 * that a commit does: reading, checking, giving each row to the consumer, removing the file. The plain reader removes its
 * file as well.
 *
 * Both are measured twice: with the device, where writing ends when everything is on it and reading finds nothing in the
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
  unsigned char *bytes; /* to be written, all of them different memory, as what is queued is */
  unsigned char *block; /* to be read into, again and again, as a block is restored */
  char path[240];
  bool device;
} plain_file;

static void plain_open(void *arg, size_t n)
{
  plain_file *f = arg;
  (void)n;
  snprintf(f->path, sizeof f->path, "%s/plain", directory);
  f->fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  must(f->fd >= 0, f->path);
}

static void plain_write(void *arg, size_t n)
{
  plain_file *f = arg;
  plain_open(arg, n);
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t len = n - at < BLOCK ? n - at : BLOCK;
    must(pwrite(f->fd, f->bytes + at, len, (off_t)at) == (ssize_t)len, "write");
  }
  if (f->device)
    settle(false);
}

static void plain_open_full(void *arg, size_t n)
{
  const plain_file *f = arg;
  plain_write(arg, n);
  if (f->device)
    settle(true);
}

static void plain_remove(void *arg, size_t n)
{
  plain_file *f = arg;
  (void)n;
  close(f->fd);
  unlink(f->path);
}

static void plain_read(void *arg, size_t n)
{
  plain_file *f = arg;
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t len = n - at < BLOCK ? n - at : BLOCK;
    must(pread(f->fd, f->block, len, (off_t)at) == (ssize_t)len, "read");
  }
  plain_remove(arg, n);
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

static void restore(void *arg, size_t n)
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
  for (size_t i = 0; i < ncases && cases[0].ns > 0; i++)
    bench_note(cases[i].name, 1e3 / cases[i].ns_min, "MB/s (fastest)");
}

static void compare(size_t txns, size_t row, bool device, double budget)
{
  size_t n = bench_size((size_t)(device ? 32 : 8) << 20, (size_t)1 << 20);
  plain_file plain = {.bytes = malloc(n), .block = malloc(BLOCK), .device = device};
  must(plain.bytes != NULL && plain.block != NULL, "memory");
  memset(plain.bytes, 7, n);
  spilling ours = {.txns = txns, .row = row, .device = device};
  const char *where = device ? "device" : "cache";
  char title[120];
  snprintf(title, sizeof title, "spill to the %s: %zu transactions, rows of %zu bytes", where, txns, row);
  bench_case out[] = {
    {.name = "plain write", .run = plain_write, .finish = plain_remove, .arg = &plain},
    {.name = "library", .prepare = fill, .run = spill, .finish = drop, .arg = &ours}};
  if (bench_compare(title, "byte", out, 2, n)) {
    show(out, 2);
    if (budget > 0)
      bench_want_ratio(&out[1], budget);
  }
  snprintf(title, sizeof title, "restore from the %s and replay: %zu transactions, rows of %zu bytes", where, txns, row);
  bench_case in[] = {
    {.name = "plain read", .prepare = plain_open_full, .run = plain_read, .arg = &plain},
    {.name = "library", .prepare = fill_and_spill, .run = restore, .finish = drop, .arg = &ours}};
  if (bench_compare(title, "byte", in, 2, n)) {
    show(in, 2);
    if (budget > 0)
      bench_want_ratio(&in[1], budget);
  }
  free(plain.bytes);
  free(plain.block);
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "spilling");
  const char *tmp = getenv("TMPDIR");
  snprintf(directory, sizeof directory, "%s/twpa-bench-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
  must(mkdtemp(directory) != NULL, directory);
  compare(1, 100, true, 0.7);
  compare(bench_size(1000, 5), 100, true, 0);
  compare(1, 100, false, 0.7);
  compare(1, 1000, false, 0);
  compare(bench_size(1000, 5), 100, false, 0);
  must(rmdir(directory) == 0, directory);
  return bench_end();
}
