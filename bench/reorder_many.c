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
#define LONGEST ((size_t)1000000)
#define TURNS 3 /* of open transactions in a round, or others' rounds before would be most of what is measured */
#define AHEAD 10 /* records that the host knows already */
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
  uint64_t coming[AHEAD]; /* a random number for each of the next records, in a ring */
  size_t next;
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
    uint64_t random = m->coming[m->next];
    m->coming[m->next] = bench_random(&m->seed);
    contender_announce(&m->c, m->slots[(m->coming[m->next] >> 32) % m->count].xid);
    m->next = (m->next + 1) % AHEAD;
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

/* Changes in a round: one transaction with all its subtransactions, or each of the open ones some times over. */
static size_t round_of(size_t count, bool subs)
{
  size_t changes = count * LENGTH, least = bench_size(SHORTEST, changes);
  if (!subs)
    changes = changes * TURNS < LONGEST ? changes * TURNS : LONGEST;
  return changes > least ? changes : least;
}

static void many_open(many *m, int kind, size_t count, bool subs)
{
  size_t changes = round_of(count, subs);
  *m = (many){.kind = kind, .count = count, .changes = changes, .seed = 11, .next_xid = 1000,
              .slots = calloc(count, sizeof *m->slots)};
  if (m->slots == NULL)
    abort();
  contender_open(&m->c, kind, NULL);
  if (subs)
    return;
  for (size_t i = 0; i < count; i++)
    m->slots[i] = (struct slot){m->next_xid++, 1 + i % LENGTH};
  for (size_t i = 0; i < AHEAD; i++)
    m->coming[i] = bench_random(&m->seed);
  run_open(m, count * LENGTH);
}

static void many_close(many *m)
{
  contender_close(&m->c);
  free(m->slots);
}

enum { COUNTS = 6, KINDS = 3 };
static const int kinds[KINDS] = {CALLBACKS, ANNOUNCED, PLAIN};
static const char *const kind_names[KINDS] = {"library", "library, announced", "malloc for each change"};

/* What the last and the first of a contender's curve cost. */
static double slope(const bench_case *curve, size_t judged)
{
  return curve[0].ns_min > 0 ? curve[judged].ns_min / curve[0].ns_min : 0;
}

/*
 * Counts 1, 10, ... take turns with one another and with the other contenders. Budget: the cost of `judged` in that of 1,
 * by the way that the manual tells hosts to go. Subtransactions come one after the other, and are not announced.
 */
static void curve(const char *what, bool subs, size_t judged)
{
  static many all[KINDS * COUNTS];
  static bench_case cases[KINDS * COUNTS];
  static char names[KINDS * COUNTS][60];
  size_t counts = 0, most = bench_size(MOST, 10), ncases = 0, at = 0;
  for (size_t count = 1; count <= most; count *= 10)
    counts++;
  for (size_t kind = 0; kind < KINDS; kind++)
    for (size_t i = 0, count = 1; i < counts; i++, count *= 10) {
      if (subs && kinds[kind] == ANNOUNCED)
        continue;
      many *m = &all[ncases];
      many_open(m, kinds[kind], count, subs);
      snprintf(names[ncases], sizeof names[ncases], "%s, %zu", kind_names[kind], count);
      cases[ncases] = (bench_case){.name = names[ncases], .run = subs ? run_subs : run_round, .arg = m,
                                   .units = (double)m->changes};
      if (count == judged)
        at = i;
      ncases++;
    }
  if (bench_compare(what, "change", cases, ncases, most * LENGTH) && at > 0) {
    char budget[100];
    snprintf(budget, sizeof budget, "the cost of %zu in that of 1 (fastest rounds)%s", judged,
             subs ? "" : ", announced");
    bench_want(budget, slope(subs ? cases : &cases[counts], at), false, 2);
    if (!subs)
      bench_note("the same without announcing", slope(cases, at), "");
    bench_note("the same of the plain buffer", slope(&cases[ncases - counts], at), "");
  }
  for (size_t i = 0; i < ncases; i++)
    many_close(&all[i]);
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "many transactions in the reorder buffer");
  curve("subtransactions in one transaction", true, 100000);
  curve("open transactions", false, 10000);
  return bench_end();
}
