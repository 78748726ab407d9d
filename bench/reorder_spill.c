/*
 * Spilling and restoring, against writing and reading the same bytes plainly: blocks of 64 KB, one file, no checksum,
 * nobody looks at what was read. Both go to the cache of the system, in a new directory below TMPDIR (or /tmp): a disk
 * would only hide what the library costs.
 *
 * Spilling is what lowering the memory limit does with what has been queued; restoring is the commit, with everything
 * that a commit does: reading, checking, and giving each row to the consumer.
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1
#include "contender.h"

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

/* --- plainly --- */

typedef struct plain_file {
  int fd;
  unsigned char *block;
  char path[240];
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
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t len = n - at < BLOCK ? n - at : BLOCK;
    must(pwrite(f->fd, f->block, len, (off_t)at) == (ssize_t)len, "write");
  }
}

static void plain_open_full(void *arg, size_t n)
{
  plain_open(arg, n);
  plain_write(arg, n);
}

static void plain_read(void *arg, size_t n)
{
  plain_file *f = arg;
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t len = n - at < BLOCK ? n - at : BLOCK;
    must(pread(f->fd, f->block, len, (off_t)at) == (ssize_t)len, "read");
  }
}

static void plain_close(void *arg, size_t n)
{
  plain_file *f = arg;
  (void)n;
  close(f->fd);
  unlink(f->path);
}

/* --- the library --- */

typedef struct spilling {
  contender c;
  twpa_file_spill *spill;
  size_t txns, row;
  uint64_t stored; /* bytes */
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
}

static void fill_and_spill(void *arg, size_t n)
{
  spilling *s = arg;
  fill(arg, n);
  spill(arg, n);
  s->stored = stored_bytes(s);
  must(s->stored >= n / 10 * 9 && s->stored <= n / 10 * 11, "size");
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

static void compare(size_t txns, size_t row, double budget)
{
  plain_file plain = {.block = malloc(BLOCK)};
  must(plain.block != NULL, "memory");
  memset(plain.block, 7, BLOCK);
  spilling ours = {.txns = txns, .row = row};
  size_t n = bench_size((size_t)64 << 20, (size_t)1 << 20);
  char title[120];
  snprintf(title, sizeof title, "spill: %zu transactions, rows of %zu bytes", txns, row);
  bench_case out[] = {
    {.name = "plain write", .prepare = plain_open, .run = plain_write, .finish = plain_close, .arg = &plain},
    {.name = "library", .prepare = fill, .run = spill, .finish = drop, .arg = &ours}};
  if (bench_compare(title, "byte", out, 2, n)) {
    show(out, 2);
    if (budget > 0)
      bench_want_ratio(&out[1], budget);
  }
  snprintf(title, sizeof title, "restore and replay: %zu transactions, rows of %zu bytes", txns, row);
  bench_case in[] = {
    {.name = "plain read", .prepare = plain_open_full, .run = plain_read, .finish = plain_close, .arg = &plain},
    {.name = "library", .prepare = fill_and_spill, .run = restore, .finish = drop, .arg = &ours}};
  if (bench_compare(title, "byte", in, 2, n)) {
    show(in, 2);
    if (budget > 0)
      bench_want_ratio(&in[1], budget);
  }
  free(plain.block);
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "spilling");
  const char *tmp = getenv("TMPDIR");
  snprintf(directory, sizeof directory, "%s/twpa-bench-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
  must(mkdtemp(directory) != NULL, directory);
  compare(1, 100, 0.7);
  compare(1, 1000, 0.7);
  compare(bench_size(1000, 5), 100, 0);
  must(rmdir(directory) == 0, directory);
  return bench_end();
}
