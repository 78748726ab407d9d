/*
 * The reorder buffer against a plain one (plain_buffer.h): rows of 100 bytes are queued, and their transactions committed
 * and replayed. Three questions: how long does a change take, how many bytes does it hold while it waits, and what does
 * it cost to weave subtransactions in.
 */
#include "contender.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROW 100

/* --- time: transactions interleaved at random --- */

/*
 * `open` transactions at any time; each change belongs to a random one of them. One that has its `length` changes is
 * committed, and another one begins. They start at different lengths, so that all the time some are short and some long.
 */
typedef struct rolling {
  contender c;
  int kind;
  size_t open, length;
  struct slot {
    uint64_t xid;
    size_t left;
  } *slots;
  uint64_t seed, next_xid;
} rolling;

static void run_rolling(void *arg, size_t n)
{
  rolling *w = arg;
  for (size_t i = 0; i < n; i++) {
    uint64_t random = bench_random(&w->seed);
    struct slot *slot = &w->slots[(random >> 32) % w->open];
    contender_queue(&w->c, slot->xid, 0, contender_row(random), ROW);
    if (--slot->left == 0) {
      contender_commit(&w->c, slot->xid);
      slot->xid = w->next_xid++;
      slot->left = w->length;
    }
  }
}

/* Brings the buffer to where it is always: the transactions half full. */
static void rolling_open(rolling *w, int kind, size_t open, size_t length)
{
  *w = (rolling){.kind = kind, .open = open, .length = length, .slots = calloc(open, sizeof *w->slots), .seed = 11,
                 .next_xid = 1000};
  if (w->slots == NULL)
    abort();
  contender_open(&w->c, kind, NULL);
  for (size_t i = 0; i < open; i++)
    w->slots[i] = (struct slot){w->next_xid++, 1 + i * length / open};
  run_rolling(w, open * length);
}

static void rolling_close(rolling *w)
{
  contender_close(&w->c);
  free(w->slots);
}

static void compare_rolling(size_t open, size_t length, double budget)
{
  rolling plain, callbacks, taken;
  char title[120];
  snprintf(title, sizeof title, "queue, commit, replay: %zu interleaved transactions of %zu rows", open, length);
  rolling_open(&plain, PLAIN, open, length);
  rolling_open(&callbacks, CALLBACKS, open, length);
  rolling_open(&taken, TAKEN, open, length);
  bench_case cases[] = {{.name = "malloc for each change", .run = run_rolling, .arg = &plain},
                        {.name = "library, callbacks", .run = run_rolling, .arg = &callbacks},
                        {.name = "library, taken and walked", .run = run_rolling, .arg = &taken}};
  size_t n = bench_size(200000, 1000);
  callbacks.c.memory.calls = 0;
  if (bench_compare(title, "change", cases, 3, n)) {
    double changes = (double)callbacks.c.given;
    bench_note("allocations per 1000 changes", (double)callbacks.c.memory.calls * 1000 / changes, "");
    if (budget > 0)
      bench_want_ratio(&cases[1], budget);
  }
  rolling_close(&plain);
  rolling_close(&callbacks);
  rolling_close(&taken);
}

/* --- memory --- */

typedef struct held {
  double asked, taken, resident; /* bytes for each change: asked of malloc, used by it, resident in memory */
} held;

static double resident_bytes(void)
{
  unsigned long size = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f != NULL && fscanf(f, "%lu %lu", &size, &resident) != 2)
    resident = 0;
  if (f != NULL)
    fclose(f);
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double malloc_bytes(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
#else
  return 0;
#endif
}

static void measure_held(held *h, int kind, size_t open, size_t length)
{
  contender c;
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  double before = malloc_bytes(), resident = resident_bytes(), n = (double)(open * length);
  contender_open(&c, kind, NULL);
  uint64_t seed = 5;
  for (size_t i = 0; i < open * length; i++)
    contender_queue(&c, 1000 + i % open, 0, contender_row(bench_random(&seed)), ROW);
  *h = (held){(double)c.memory.live / n, (malloc_bytes() - before) / n, (resident_bytes() - resident) / n};
  contender_close(&c);
}

static void compare_held(size_t open, size_t length, bool budget)
{
  held plain, ours;
  measure_held(&plain, PLAIN, open, length);
  measure_held(&ours, CALLBACKS, open, length);
  printf("  %7zu transactions of %6zu rows %10s %9.1f %9.1f   plain %9.1f %9.1f\n", open, length, "", ours.taken,
         ours.resident, plain.taken, plain.resident);
  bench_note("    asked for, to the byte", ours.asked, "bytes per change");
  if (budget)
    bench_want("bytes held per change of 100", ours.asked, false, 1.3 * ROW + 32);
}

/* --- weaving --- */

typedef struct weaving {
  contender c;
  int kind;
  size_t subs;
} weaving;

static void fill_subs(void *arg, size_t n)
{
  weaving *w = arg;
  uint64_t seed = 13;
  contender_open(&w->c, w->kind, NULL);
  for (size_t i = 0; i < n; i++) {
    uint64_t random = bench_random(&seed);
    contender_queue(&w->c, 2000 + (random >> 32) % w->subs, 1000, contender_row(random), ROW);
  }
}

static void run_commit(void *arg, size_t n)
{
  weaving *w = arg;
  (void)n;
  contender_commit(&w->c, 1000);
}

static void close_subs(void *arg, size_t n)
{
  weaving *w = arg;
  if (w->c.given != n)
    abort();
  contender_close(&w->c);
}

static void compare_weaving(size_t subs)
{
  weaving plain = {.kind = PLAIN, .subs = subs}, callbacks = {.kind = CALLBACKS, .subs = subs};
  char title[120];
  snprintf(title, sizeof title, "commit and replay: %zu subtransactions woven together", subs);
  bench_case cases[] = {
    {.name = "malloc for each change", .prepare = fill_subs, .run = run_commit, .finish = close_subs, .arg = &plain},
    {.name = "library", .prepare = fill_subs, .run = run_commit, .finish = close_subs, .arg = &callbacks}};
  bench_compare(title, "change", cases, 2, bench_size(200000, 2000));
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "reorder buffer");
  compare_rolling(1000, bench_size(1000, 3), 3);
  compare_rolling(1000, bench_size(100, 3), 3);
  compare_rolling(1000, bench_size(10, 3), 0);
  compare_rolling(1, bench_size(100, 3), 0);
  printf("\nbytes held for each change of %d bytes: used by malloc, resident\n", ROW);
  compare_held(1000, bench_size(1000, 3), true);
  compare_held(1000, bench_size(100, 3), true);
  compare_held(1000, bench_size(10, 3), false);
  compare_held(1, bench_size(1000000, 300), true);
  compare_weaving(1);
  compare_weaving(10);
  compare_weaving(1000);
  return bench_end();
}
