/*
 * How much parallelism a plan finds: work divided by critical path, all transactions taking one unit of time. No times
 * are measured here; the figures are the same on every machine.
 *
 * Transactions enter in commit order and at most a window of them is unfinished: number i starts when all that it
 * depends on are finished, and all up to number i - window. Contenders get the same stream:
 *
 *   - the exact graph: unbounded maps of last write, last update and readers since;
 *   - one watermark per transaction, the form in which MySQL (WRITESET) and Galera give their result: wait for everything
 *     up to the newest conflicting one. The map of last writers is forgotten as a whole when it is full, and whoever
 *     comes later waits for all before;
 *   - the plan, with a table of the same number of bytes as the map (64 bytes per entry of a std::map).
 *
 * The second part: updates of a table with two secondary unique indexes under identity DEFAULT, where the stream does
 * not say which unique values are given free. A tenth of the updates change one of the unique values.
 */
#include "streams.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include <twpa/plan.h>

namespace {

void check(twpa_status st)
{
  if (st == TWPA_OK || st == TWPA_NONE)
    return;
  fprintf(stderr, "%s\n", twpa_status_name(st));
  exit(1);
}

/* When each transaction finishes. */
class clock_of {
  std::vector<uint64_t> finish{0}, up_to{0}; /* of number i; latest of all up to i */
  size_t window;
  uint64_t start = 0;

public:
  explicit clock_of(size_t w) : window(w) {}
  void enter() { start = up_to.size() > window ? up_to[up_to.size() - window] : 0; }
  void after(uint64_t seq) { start = finish[seq] > start ? finish[seq] : start; }
  void after_all(uint64_t seq) { start = up_to[seq] > start ? up_to[seq] : start; }
  void entered()
  {
    finish.push_back(start + 1);
    up_to.push_back(up_to.back() > start + 1 ? up_to.back() : start + 1);
  }
  uint64_t last() const { return finish.size() - 1; }
  double parallelism() const { return (double)last() / (double)up_to.back(); }
};

/* --- contenders of the first part --------------------------------------------------------------------------------- */

struct entry {
  uint64_t write = 0, update = 0;
  std::vector<uint64_t> readers;
};

double exact(const streams::piece &p, size_t window)
{
  clock_of t(window);
  std::unordered_map<uint64_t, entry> map;
  for (size_t i = 0; i < p.count(); i++) {
    uint64_t self = i + 1;
    t.enter();
    for (const streams::access *a = p.begin(i); a < p.end(i); a++) {
      entry &e = map[a->key];
      if (e.write != self)
        t.after(e.write);
      if (a->mode != TWPA_MODE_READ && e.update != self)
        t.after(e.update);
      if (a->mode >= TWPA_MODE_WRITE) {
        for (uint64_t r : e.readers)
          if (r != self)
            t.after(r);
        e.readers.clear();
        e.update = 0;
        e.write = self;
      } else if (a->mode == TWPA_MODE_UPDATE) {
        e.update = self;
      } else {
        e.readers.push_back(self);
      }
    }
    t.entered();
  }
  return t.parallelism();
}

/* MySQL's writesets know no modes: a parent's key is in the set of the child, and what is in both sets conflicts. */
double one_watermark(const streams::piece &p, size_t window, size_t bytes)
{
  clock_of t(window);
  std::unordered_map<uint64_t, uint64_t> map;
  uint64_t horizon = 0;
  for (size_t i = 0; i < p.count(); i++) {
    uint64_t self = i + 1, up_to = horizon;
    t.enter();
    for (const streams::access *a = p.begin(i); a < p.end(i); a++) {
      auto found = map.find(a->key);
      if (found != map.end() && found->second != self && found->second > up_to)
        up_to = found->second;
    }
    t.after_all(up_to);
    t.entered();
    if (map.size() + (size_t)(p.end(i) - p.begin(i)) > bytes / 64) {
      map.clear();
      horizon = self;
    }
    for (const streams::access *a = p.begin(i); a < p.end(i); a++)
      map[a->key] = self;
  }
  return t.parallelism();
}

/* What a plan says of the transaction that has just entered. */
void take(clock_of &t, const twpa_plan *plan, uint64_t seq, uint32_t n)
{
  static std::vector<twpa_edge> edges(16);
  size_t count = 0;
  t.enter();
  if (n > 0)
    check(twpa_plan_explain(plan, edges.data(), edges.size(), &count, seq));
  if (count > edges.size()) {
    edges.resize(count * 2);
    check(twpa_plan_explain(plan, edges.data(), edges.size(), &count, seq));
  }
  for (size_t i = 0; i < count; i++) {
    if ((edges[i].flags & TWPA_EDGE_UP_TO) != 0)
      t.after_all(edges[i].from);
    else
      t.after(edges[i].from);
  }
  t.entered();
}

void finish_oldest(twpa_plan *plan, uint64_t last, size_t window)
{
  uint64_t ready;
  if (last > window)
    check(twpa_plan_complete(plan, last - window, TWPA_DONE_COMMITTED));
  while (twpa_plan_next_ready(plan, &ready) == TWPA_OK)
    continue;
}

double planned(const streams::piece &p, size_t window, size_t exclusive_bytes, size_t shared_bytes)
{
  clock_of t(window);
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_plan_options o = twpa_plan_options();
  o.struct_size = TWPA_PLAN_OPTIONS_INIT;
  o.table_bytes = exclusive_bytes;
  o.wide_bytes = shared_bytes;
  check(twpa_plan_new(&plan, &o, nullptr));
  check(twpa_access_set_new(&set, plan, nullptr));
  for (size_t i = 0; i < p.count(); i++) {
    uint64_t seq;
    uint32_t n;
    check(twpa_access_set_begin(set, 0, 0, 0));
    for (const streams::access *a = p.begin(i); a < p.end(i); a++)
      check(twpa_access_set_access(set, a->key, a->mode));
    check(twpa_plan_add(plan, &seq, &n, set));
    take(t, plan, seq, n);
    finish_oldest(plan, seq, window - 1);
  }
  twpa_access_set_free(set);
  twpa_plan_free(plan);
  return t.parallelism();
}

/* How much of the memory goes to which table: by the kinds of keys in the stream. */
double planned_in(const streams::piece &p, size_t window, size_t bytes)
{
  size_t exclusive = 0;
  for (const streams::access &a : p.accesses)
    exclusive += a.mode == TWPA_MODE_EXCLUSIVE;
  if (exclusive == p.accesses.size())
    return planned(p, window, bytes, 64);
  return planned(p, window, bytes / 2, bytes / 2);
}

void graphs(const char *name, streams::kind what, uint64_t keyspace, size_t window)
{
  size_t n = bench_size(40000, 1000);
  streams::source source(what, keyspace, true);
  streams::piece p;
  source.next(p, n);
  printf("\n%s, window of %zu transactions\n  %-12s %14s %14s %14s\n", name, window, "memory", "one watermark", "twpa plan",
         "exact graph");
  double best = exact(p, window);
  for (size_t bytes : {16 << 10, 64 << 10, 256 << 10, 4 << 20})
    printf("  %8zu KiB %14.1f %14.1f %14.1f\n", bytes >> 10, one_watermark(p, window, bytes), planned_in(p, window, bytes),
           best);
}

/* --- the second part ------------------------------------------------------------------------------------------------ */

struct table {
  twpa_relation *relation;

  explicit table(uint32_t identity)
  {
    static const twpa_column_desc columns[] = {
      {TWPA_CLASS_INTEGER, 0}, {TWPA_CLASS_INTEGER, 0}, {TWPA_CLASS_INTEGER, 0}, {TWPA_CLASS_INTEGER, 0}};
    static const uint32_t at[] = {0, 1, 2};
    twpa_index_desc indexes[3] = {};
    for (uint32_t i = 0; i < 3; i++) {
      indexes[i].id = i + 1;
      indexes[i].columns = &at[i];
      indexes[i].ncolumns = 1;
    }
    indexes[0].flags = TWPA_INDEX_PRIMARY;
    twpa_relation_desc d = twpa_relation_desc();
    d.struct_size = TWPA_RELATION_DESC_INIT;
    d.id = 1;
    d.columns = columns;
    d.ncolumns = 4;
    d.indexes = indexes;
    d.nindexes = 3;
    d.identity = identity;
    check(twpa_relation_new(&relation, &d, nullptr));
  }
  ~table() { twpa_relation_free(relation); }
};

struct policy {
  const char *name;
  uint32_t identity, unique_release;
  double remembered; /* share of the rows that row memory has room for */
};

void updates(const policy &w, size_t window)
{
  const uint64_t ROWS = 20000;
  size_t n = bench_size(40000, 1000);
  table t(w.identity);
  std::vector<uint64_t> rows(ROWS * 4); /* every value once */
  for (uint64_t i = 0; i < ROWS * 4; i++)
    rows[i] = i;
  twpa_plan_options o = twpa_plan_options();
  o.struct_size = TWPA_PLAN_OPTIONS_INIT;
  o.unique_release = w.unique_release;
  o.memory_bytes = (size_t)(w.remembered * (double)ROWS * 2 * 64);
  twpa_plan *plan;
  twpa_access_set *set;
  check(twpa_plan_new(&plan, &o, nullptr));
  check(twpa_access_set_new(&set, plan, nullptr));
  clock_of clock(window);
  uint64_t state = 7, fresh = ROWS * 4;
  twpa_value old_row[4], new_row[4];
  auto set_values = [](twpa_value *v, const uint64_t *row) {
    for (int c = 0; c < 4; c++)
      v[c] = twpa_value{TWPA_CLASS_INTEGER, TWPA_VALUE_BINARY, {&row[c], sizeof row[c]}};
  };
  for (uint64_t r = 0; r < ROWS && o.memory_bytes > 0; r++) { /* memory begins full, as after a first copy */
    set_values(new_row, &rows[r * 4]);
    check(twpa_plan_seed_row(plan, t.relation, new_row, 4));
  }
  for (size_t i = 0; i < n; i++) {
    uint64_t seq, *row = &rows[bench_random(&state) % ROWS * 4], old[4];
    uint32_t npred;
    memcpy(old, row, sizeof old);
    row[3]++;
    if (bench_random(&state) % 10 == 0)
      row[1 + bench_random(&state) % 2] = fresh++;
    set_values(old_row, old);
    set_values(new_row, row);
    check(twpa_access_set_begin(set, 0, 0, 0));
    check(twpa_access_set_change(set, t.relation, TWPA_OP_UPDATE, w.identity == TWPA_IDENTITY_FULL ? old_row : nullptr,
                                 new_row, 4));
    check(twpa_plan_add(plan, &seq, &npred, set));
    take(clock, plan, seq, npred);
    finish_oldest(plan, seq, window - 1);
  }
  twpa_plan_counters c = twpa_plan_counters();
  c.struct_size = TWPA_PLAN_COUNTERS_INIT;
  check(twpa_plan_stats(plan, &c));
  double asked = (double)(c.memory_hits + c.memory_misses);
  printf("  %-58s %10.1f %11.1f %% %12.2f\n", w.name, clock.parallelism(),
         asked > 0 ? 100.0 * (double)c.memory_hits / asked : 0, (double)c.optimistic / (double)n);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
}

} // namespace

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "parallelism: work / critical path (not a measurement of time)");
  graphs("uniform, 1 M keys", streams::UNIFORM, 1000000, 1000);
  graphs("zipf 0.99, 1 M keys", streams::ZIPF, 1000000, 1000);
  graphs("hot parents", streams::HOT_PARENT, 1000, 1000);
  graphs("update of two indexes, 100,000 rows", streams::UPDATE_INDEX, 100000, 1000);
  graphs("TPC-C like, 20 warehouses", streams::TPCC, 2600000, 1000);
  const size_t window = 1000;
  printf("\nupdates of a table with two secondary unique indexes, window of %zu transactions\n  %-58s %10s %13s %12s\n", window,
         "", "parallel", "remembered", "left out *");
  const policy policies[] = {
    {"identity DEFAULT, strict, no row memory", TWPA_IDENTITY_DEFAULT, TWPA_UNKNOWN_STRICT, 0},
    {"identity DEFAULT, strict, memory for half of the rows", TWPA_IDENTITY_DEFAULT, TWPA_UNKNOWN_STRICT, 0.5},
    {"identity DEFAULT, strict, memory for four times the rows", TWPA_IDENTITY_DEFAULT, TWPA_UNKNOWN_STRICT, 4},
    {"identity DEFAULT, strict, memory for eight times the rows", TWPA_IDENTITY_DEFAULT, TWPA_UNKNOWN_STRICT, 8},
    {"identity DEFAULT, optimistic, no row memory", TWPA_IDENTITY_DEFAULT, TWPA_UNKNOWN_OPTIMISTIC, 0},
    {"identity DEFAULT, optimistic, memory for half of the rows", TWPA_IDENTITY_DEFAULT, TWPA_UNKNOWN_OPTIMISTIC, 0.5},
    {"identity FULL", TWPA_IDENTITY_FULL, TWPA_UNKNOWN_STRICT, 0},
  };
  for (const policy &w : policies)
    updates(w, window);
  printf("  (* dependencies per transaction left out in the hope that the target would notice; no retry here: nobody takes a\n"
         "  value that was given free)\n");
  return bench_end();
}
