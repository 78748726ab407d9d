/* What is drawn: a part that shows something and is small enough to be read. */
#include "twpa_replay/drawings.h"

#include "support/draw/svg_graph.h"
#include "support/draw/svg_timeline.h"
#include "support/memory.h"
#include "support/wal/wal_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPLAY_PATH_MAX 4096

#define WINDOW 56u      /* transactions of the graph; fewer if they have too many dependencies */
#define EDGES_LIKED 90u /* more cannot be followed by the eye */
#define BARS 160u       /* executions on the timeline */

/* Colours that can be told apart by everybody. */
static const svg_graph_kind kinds[] = {
    {"", "#000000"},           {"write-write", "#0072b2"},
    {"read-write", "#56b4e9"}, {"foreign key", "#009e73"},
    {"barrier", "#d55e00"},    {"unknown value", "#cc79a7"},
};

/* The first edge that leads to this transaction or a later one. */
static size_t first_edge(const replay_plan *p, uint32_t to)
{
  size_t low = 0, high = p->nedges;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (p->edges[middle].to < to)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/*
 * The window of this width with the most dependencies inside that are not too many. Transactions are numbered from 0. False
 * if everywhere they are too many.
 */
static bool choose_window(uint32_t *out, const replay_plan *p, uint32_t ntxns, uint32_t width)
{
  uint32_t most = 0;
  bool found = false;
  for (uint32_t begin = 0; begin + width <= ntxns; begin += width / 4 + 1) {
    uint32_t n = 0;
    for (size_t e = first_edge(p, begin); e < p->nedges && p->edges[e].to < begin + width; e++)
      n += p->edges[e].from >= begin;
    if (n <= EDGES_LIKED && (n > most || !found)) {
      found = true;
      most = n;
      *out = begin;
    }
  }
  return found;
}

static void describe_txn(char *out, size_t cap, const replay_model *m, const replay_txn *txn,
                         uint32_t seq)
{
  char at[WAL_LSN_BYTES];
  size_t n = (size_t)snprintf(out, cap, "transaction %u (xid %llu), commit at %s", seq,
                              (unsigned long long)txn->xid, wal_lsn_text(at, txn->commit_lsn));
  static const char *const ops[] = {"", "insert", "update", "delete", "truncate", "catalog change"};
  for (uint32_t i = 0; i < txn->nchanges && i < 12 && n + 1 < cap; i++) {
    const replay_change *c = &txn->changes[i];
    n += (size_t)snprintf(out + n, cap - n, "\n%s %s", ops[c->op],
                          c->table == REPLAY_NO_TABLE ? "(unknown)" : m->tables[c->table].name);
  }
  if (txn->nchanges > 12 && n + 1 < cap)
    snprintf(out + n, cap - n, "\n... %u more", txn->nchanges - 12);
}

static bool draw_graph(const replay_report *r, const char *path, host_error *err)
{
  const replay_model *m = r->model;
  const replay_plan *p = r->plan;
  uint32_t ntxns = (uint32_t)m->ntxns, width = ntxns < WINDOW ? ntxns : WINDOW, begin = 0;
  while (width > 12 && !choose_window(&begin, p, ntxns, width))
    width -= width / 6;
  svg_graph_node *nodes = host_alloc(width, sizeof *nodes);
  svg_graph_edge *edges = NULL;
  size_t nedges = 0, cap = 0;
  char(*texts)[1024] = host_alloc(width, sizeof *texts);
  char title[160], subtitle[200];
  for (uint32_t i = 0; i < width; i++) {
    const replay_txn *txn = &m->txns[begin + i];
    snprintf(nodes[i].label, sizeof nodes[i].label, "%u", begin + i + 1);
    snprintf(nodes[i].below, sizeof nodes[i].below, "%u change%s", txn->nchanges,
             txn->nchanges == 1 ? "" : "s");
    describe_txn(texts[i], sizeof texts[i], m, txn, begin + i + 1);
    nodes[i].title = texts[i];
  }
  uint32_t outside = 0;
  for (size_t e = first_edge(p, begin); e < p->nedges && p->edges[e].to < begin + width; e++) {
    const replay_edge *x = &p->edges[e];
    if (x->from < begin || x->flags & TWPA_EDGE_UP_TO) {
      outside++;
      continue;
    }
    edges = host_grow(edges, &cap, nedges, sizeof *edges);
    edges[nedges++] =
        (svg_graph_edge){.from = x->from - begin, .to = x->to - begin, .kind = x->type};
  }
  snprintf(title, sizeof title, "Dependencies of transactions %u to %u", begin + 1, begin + width);
  snprintf(subtitle, sizeof subtitle,
           "Database \"%.60s\", %u of %u transactions; %u more dependencies on earlier ones are "
           "not drawn.",
           m->database->name, width, ntxns, outside);
  svg_graph g = {.title = title,
                 .subtitle = subtitle,
                 .nodes = nodes,
                 .nnodes = width,
                 .edges = edges,
                 .nedges = (uint32_t)nedges,
                 .kinds = kinds,
                 .nkinds = sizeof kinds / sizeof *kinds};
  bool ok = svg_graph_write(&g, path, err);
  free(nodes);
  free(edges);
  free(texts);
  return ok;
}

static int by_start(const void *a, const void *b)
{
  const replay_span *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

/* The end of execution and the begin of commit of a transaction, for the waits between. */
typedef struct turn {
  uint64_t executed, committing;
  uint32_t worker;
} turn;

static turn *find_turns(const replay_result *x, size_t ntxns)
{
  turn *turns = host_alloc(ntxns + 1, sizeof *turns);
  for (size_t i = 0; i < x->nspans; i++) {
    const replay_span *s = &x->spans[i];
    if (!s->seq || s->seq > ntxns)
      continue;
    turn *t = &turns[s->seq];
    if (s->kind == EXECUTOR_SPAN_APPLY && s->end > t->executed) {
      t->executed = s->end;
      t->worker = s->worker;
    } else if (s->kind == EXECUTOR_SPAN_COMMIT) {
      t->committing = s->start;
    }
  }
  return turns;
}

static int waits_by_start(const void *a, const void *b)
{
  const svg_wait *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

/* Cuts out of the sorted spans the stretch of time in which BARS executions begin, in the middle of the run. */
static void choose_time(const replay_span *spans, size_t n, uint64_t *begin, uint64_t *end)
{
  size_t applies = 0, seen = 0;
  for (size_t i = 0; i < n; i++)
    applies += spans[i].kind == EXECUTOR_SPAN_APPLY;
  size_t first = applies > BARS ? (applies - BARS) / 2 : 0;
  *begin = n ? spans[0].start : 0;
  *end = UINT64_MAX;
  for (size_t i = 0; i < n; i++) {
    if (spans[i].kind != EXECUTOR_SPAN_APPLY)
      continue;
    if (seen == first)
      *begin = spans[i].start;
    if (seen == first + BARS)
      *end = spans[i].start;
    seen++;
  }
}

static bool draw_timeline(const replay_report *r, const char *path, host_error *err)
{
  const replay_result *x = r->result;
  const replay_model *m = r->model;
  replay_span *spans = host_alloc(x->nspans, sizeof *spans);
  size_t n = 0, bars_cap = 0, waits_cap = 0;
  for (size_t i = 0; i < x->nspans; i++)
    if (x->spans[i].kind != EXECUTOR_SPAN_IDLE)
      spans[n++] = x->spans[i];
  if (n)
    qsort(spans, n, sizeof *spans, by_start);
  uint64_t begin, end;
  choose_time(spans, n, &begin, &end);
  svg_timeline t = {.nlanes = r->options->workers, .unit = "ms", .scale = 1e6};
  svg_bar *bars = NULL;
  svg_wait *waits = NULL;
  turn *turns = find_turns(x, m->ntxns);
  uint64_t last = begin;
  for (size_t i = 0; i < n; i++) {
    if (spans[i].end <= begin || spans[i].start >= end)
      continue;
    bars = host_grow(bars, &bars_cap, t.nbars, sizeof *bars);
    uint64_t from = spans[i].start < begin ? begin : spans[i].start,
             to = spans[i].end < end ? spans[i].end : end;
    last = to > last ? to : last;
    svg_bar *b = &bars[t.nbars++];
    *b = (svg_bar){.start = from - begin, .end = to - begin, .lane = spans[i].worker};
    b->kind = spans[i].kind == EXECUTOR_SPAN_APPLY    ? SVG_BAR_EXECUTE
              : spans[i].kind == EXECUTOR_SPAN_COMMIT ? SVG_BAR_COMMIT
                                                      : SVG_BAR_ROLLBACK;
    snprintf(b->label, sizeof b->label, "%llu", (unsigned long long)spans[i].seq);
  }
  for (size_t seq = 1; seq <= m->ntxns; seq++) {
    uint64_t from = turns[seq].executed, to = turns[seq].committing;
    if (!from || to <= from || to <= begin || from >= last)
      continue;
    waits = host_grow(waits, &waits_cap, t.nwaits, sizeof *waits);
    waits[t.nwaits++] = (svg_wait){.start = (from < begin ? begin : from) - begin,
                                   .end = (to > last ? last : to) - begin,
                                   .lane = turns[seq].worker};
  }
  if (t.nwaits)
    qsort(waits, t.nwaits, sizeof *waits, waits_by_start);
  const char **lanes = host_alloc(t.nlanes, sizeof *lanes);
  char(*names)[24] = host_alloc(t.nlanes, sizeof *names);
  for (uint32_t i = 0; i < t.nlanes; i++) {
    snprintf(names[i], sizeof names[i], "worker %u", i + 1);
    lanes[i] = names[i];
  }
  char title[120], subtitle[200];
  snprintf(title, sizeof title, "%u worker%s, commit order %s", r->options->workers,
           r->options->workers == 1 ? "" : "s", r->options->commit_order ? "on" : "off");
  snprintf(subtitle, sizeof subtitle,
           "As measured, %.2f of %.1f ms in the middle of the run; the numbers are places in the "
           "commit order.",
           (double)(last - begin) / 1e6, (double)x->parallel_ns / 1e6);
  t.title = title;
  t.subtitle = subtitle;
  t.lanes = lanes;
  t.bars = bars;
  t.waits = waits;
  bool ok = svg_timeline_write(&t, path, err);
  free(spans);
  free(bars);
  free(waits);
  free(turns);
  free(lanes);
  free(names);
  return ok;
}

static bool path_in(char path[REPLAY_PATH_MAX], const char *dir, const char *name, host_error *err)
{
  int n = snprintf(path, REPLAY_PATH_MAX, "%s/%s", dir, name);
  return (n > 0 && n < REPLAY_PATH_MAX) || host_fail(err, "%.300s...: path too long", dir);
}

bool replay_draw_begin(const char *dir, host_error *err)
{
  char path[REPLAY_PATH_MAX];
  if (!path_in(path, dir, "timeline.svg", err))
    return false;
  if (mkdir(dir, 0777) && errno != EEXIST)
    return host_fail(err, "%s: cannot be made: %s", dir, strerror(errno));
  return access(dir, W_OK | X_OK) == 0 || host_fail(err, "%s: %s", dir, strerror(errno));
}

bool replay_draw(const replay_report *r, const char *dir, host_error *err)
{
  char path[REPLAY_PATH_MAX];
  return path_in(path, dir, "graph.svg", err) && draw_graph(r, path, err) &&
         path_in(path, dir, "timeline.svg", err) && draw_timeline(r, path, err);
}
