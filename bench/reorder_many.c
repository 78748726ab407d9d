/*
 * Many transactions: what a change costs when there are 1, 10, ... 100,000 subtransactions in one transaction, or open
 * transactions at the same time. It should hardly depend on their number: more than the caches hold is slower for
 * everybody, so the plain buffer runs beside it and shows how much of a slope is the machine's.
 *
 * Each has 10 rows of 100 bytes. Those of a subtransaction come one after the other, as one session writes them; those of
 * open transactions come in random order, which is the worst that can happen to caches.
 */
#include "contender.h"

#include <stdio.h>
#include <stdlib.h>

#define ROW 100
#define LENGTH 10
#define MOST 100000
#define SHORTEST ((size_t)100000) /* changes in a round: short, so that some rounds are undisturbed */

typedef struct many {
  contender c;
  int kind;
  size_t count;   /* subtransactions, or open transactions */
  size_t changes; /* in one round */
  struct slot {
    uint64_t xid;
    size_t left;
  } *slots;
  uint64_t seed, next_xid;
} many;

static void run_subs(void *arg, size_t n)
{
  many *m = arg;
  (void)n;
  for (size_t i = 0; i < m->changes;) {
    uint64_t top = m->next_xid++;
    for (size_t sub = 0; sub < m->count; sub++) {
      uint64_t xid = m->next_xid++;
      for (size_t j = 0; j < LENGTH; j++)
        contender_queue(&m->c, xid, top, contender_row(bench_random(&m->seed)), ROW);
    }
    contender_commit(&m->c, top);
    i += m->count * LENGTH;
  }
}

static void run_open(void *arg, size_t n)
{
  many *m = arg;
  for (size_t i = 0; i < n; i++) {
    uint64_t random = bench_random(&m->seed);
    struct slot *slot = &m->slots[(random >> 32) % m->count];
    contender_queue(&m->c, slot->xid, 0, contender_row(random), ROW);
    if (--slot->left == 0) {
      contender_commit(&m->c, slot->xid);
      slot->xid = m->next_xid++;
      slot->left = LENGTH;
    }
  }
}

static void run_round(void *arg, size_t n)
{
  const many *m = arg;
  (void)n;
  run_open(arg, m->changes);
}

static void many_open(many *m, int kind, size_t count, bool subs)
{
  size_t changes = count * LENGTH > SHORTEST ? count * LENGTH : bench_size(SHORTEST, LENGTH * count);
  *m = (many){.kind = kind, .count = count, .changes = changes, .seed = 11, .next_xid = 1000,
              .slots = calloc(count, sizeof *m->slots)};
  if (m->slots == NULL)
    abort();
  contender_open(&m->c, kind, NULL);
  if (subs)
    return;
  for (size_t i = 0; i < count; i++)
    m->slots[i] = (struct slot){m->next_xid++, 1 + i % LENGTH};
  run_open(m, count * LENGTH);
}

static void many_close(many *m)
{
  contender_close(&m->c);
  free(m->slots);
}

/* Counts 1, 10, ... take turns with one another and with the plain buffer. */
static void curve(const char *what, bool subs, size_t judged)
{
  enum { COUNTS = 6 };
  static many ours[COUNTS], plain[COUNTS];
  static bench_case cases[2 * COUNTS];
  static char names[2 * COUNTS][60];
  size_t ncases = 0, counts = 0, most = bench_size(MOST, 10);
  for (size_t count = 1; count <= most; count *= 10, counts++) {
    many_open(&ours[counts], CALLBACKS, count, subs);
    many_open(&plain[counts], PLAIN, count, subs);
  }
  for (size_t kind = 0; kind < 2; kind++)
    for (size_t i = 0, count = 1; i < counts; i++, count *= 10) {
      snprintf(names[ncases], sizeof names[ncases], "%s, %zu", kind == 0 ? "library" : "malloc for each change", count);
      cases[ncases] = (bench_case){.name = names[ncases], .run = subs ? run_subs : run_round,
                                   .arg = kind == 0 ? &ours[i] : &plain[i], .units = (double)ours[i].changes};
      ncases++;
    }
  bench_compare(what, "change", cases, ncases, most * LENGTH);
  for (size_t i = 0, count = 1; i < counts; i++, count *= 10)
    if (count == judged && cases[0].ns_min > 0) {
      char budget[100];
      snprintf(budget, sizeof budget, "the cost of %zu in that of 1 (fastest rounds)", count);
      bench_want(budget, cases[i].ns_min / cases[0].ns_min, false, 2);
      bench_note("the same of the plain buffer", cases[counts + i].ns_min / cases[counts].ns_min, "");
    }
  for (size_t i = 0; i < counts; i++) {
    many_close(&ours[i]);
    many_close(&plain[i]);
  }
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "many transactions in the reorder buffer");
  curve("subtransactions in one transaction", true, 100000);
  curve("open transactions", false, 10000);
  return bench_end();
}
