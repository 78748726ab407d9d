/*
 * The whole tracker, accesses in and edges out, against trackers of the same function on general maps: std::map cleared at
 * 25,000 entries (MySQL 8.0 in shape), std::unordered_map, uthash, absl::flat_hash_map. All are fed the same transactions
 * of four keys that are hashed already; a window of them is unfinished, the oldest commits when the next one enters. The
 * contenders keep, per key, the last writer and the readers since, and share one graph: a ring of nodes, edges without
 * duplicates by a stamp, counts of predecessors. They are unbounded (but the first) and never clean up, which is in their
 * favour; ours is bounded.
 */
#include "common/bench.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unordered_map>
#include <vector>

#include <twpa/plan.h>

#ifdef HAVE_ABSL
#include <absl/container/flat_hash_map.h>
#endif
#include <uthash.h>

namespace {

const unsigned KEYS = 4; /* per transaction */

/* --- the stream -------------------------------------------------------------------------------------------------- */

struct stream {
  const char *name;
  uint64_t keyspace;
  double theta;    /* of Zipf's law; 0: uniform */
  unsigned reads;  /* of a hundred accesses */
  bool append;     /* every key is new */
  size_t window;   /* unfinished transactions */
  size_t table_bytes;
  std::vector<uint64_t> keys;   /* hashed */
  std::vector<uint8_t> is_read;
};

uint64_t mix(uint64_t x)
{
  return bench_random(&x);
}

void make_stream(stream &s, size_t transactions)
{
  bench_zipf zipf;
  uint64_t state = 42;
  if (s.theta > 0)
    bench_zipf_init(&zipf, s.keyspace, s.theta);
  s.keys.resize(transactions * KEYS);
  s.is_read.resize(transactions * KEYS);
  for (size_t i = 0; i < s.keys.size(); i++) {
    uint64_t k = s.append      ? i
                 : s.theta > 0 ? bench_zipf_next(&zipf, &state)
                               : bench_random(&state) % s.keyspace;
    bool read = s.reads > 0 && bench_random(&state) % 100 < s.reads;
    s.is_read[i] = read;
    s.keys[i] = mix(read || s.reads == 0 ? k : k + s.keyspace / 2 * (k % 16 != 0)); /* few parents are written */
  }
}

/* --- the graph that the contenders share -------------------------------------------------------------------------- */

struct graph {
  struct node {
    uint32_t edges, npred;
    uint64_t stamp;
    bool done;
  };
  struct edge {
    uint32_t next;
    uint64_t to;
  };
  std::vector<node> ring;
  std::vector<edge> edges;
  uint64_t mask, low = 0, last = 0, made = 0;
  uint32_t spare = UINT32_MAX;

  explicit graph(size_t window)
  {
    size_t n = 1;
    while (n < window + 2)
      n *= 2;
    ring.resize(n);
    mask = n - 1;
  }
  uint64_t enter()
  {
    ring[++last & mask] = node{UINT32_MAX, 0, 0, false};
    return last;
  }
  void after(uint64_t seq)
  {
    if (seq <= low || seq == last)
      return;
    node &p = ring[seq & mask];
    if (p.done || p.stamp == last)
      return;
    p.stamp = last;
    uint32_t e = spare;
    if (e != UINT32_MAX) {
      spare = edges[e].next;
    } else {
      e = (uint32_t)edges.size();
      edges.push_back(edge());
    }
    edges[e] = edge{p.edges, last};
    p.edges = e;
    ring[last & mask].npred++;
    made++;
  }
  void done(uint64_t seq)
  {
    node &n = ring[seq & mask];
    n.done = true;
    for (uint32_t e = n.edges, next; e != UINT32_MAX; e = next) {
      next = edges[e].next;
      ring[edges[e].to & mask].npred--;
      edges[e].next = spare;
      spare = e;
    }
    while (low < last && ring[(low + 1) & mask].done)
      low++;
  }
};

/* What a map holds per key. Readers since the last write in a list. */
struct entry {
  uint64_t writer = 0;
  uint32_t readers = UINT32_MAX;
};

template <typename Map> struct tracker {
  graph g;
  Map map;
  struct reader {
    uint32_t next;
    uint64_t seq;
  };
  std::vector<reader> readers;
  uint32_t spare = UINT32_MAX;

  explicit tracker(const stream &s) : g(s.window) {}
  void access(uint64_t key, bool read)
  {
    entry &e = map.at_key(key);
    if (read) {
      g.after(e.writer);
      uint32_t r = spare;
      if (r != UINT32_MAX) {
        spare = readers[r].next;
      } else {
        r = (uint32_t)readers.size();
        readers.push_back(reader());
      }
      readers[r] = reader{e.readers, g.last};
      e.readers = r;
      return;
    }
    if (e.readers == UINT32_MAX)
      g.after(e.writer);
    for (uint32_t r = e.readers, next; r != UINT32_MAX; r = next) {
      next = readers[r].next;
      g.after(readers[r].seq);
      readers[r].next = spare;
      spare = r;
    }
    e.readers = UINT32_MAX;
    e.writer = g.last;
  }
};

struct capped_map { /* forgets everything when it is full; whoever comes later waits for all before (not done here) */
  std::map<uint64_t, entry> m;
  entry &at_key(uint64_t key)
  {
    if (m.size() >= 25000)
      m.clear();
    return m[key];
  }
};

struct std_map {
  std::unordered_map<uint64_t, entry> m;
  entry &at_key(uint64_t key) { return m[key]; }
};

struct ut_entry {
  uint64_t key;
  entry e;
  UT_hash_handle hh;
};

struct ut_map {
  ut_entry *head = nullptr;
  entry &at_key(uint64_t key)
  {
    ut_entry *found;
    unsigned hash = (unsigned)key;
    HASH_FIND_BYHASHVALUE(hh, head, &key, sizeof key, hash, found);
    if (found == nullptr) {
      found = new ut_entry();
      found->key = key;
      HASH_ADD_KEYPTR_BYHASHVALUE(hh, head, &found->key, sizeof key, hash, found);
    }
    return found->e;
  }
  ~ut_map()
  {
    ut_entry *e, *next;
    HASH_ITER(hh, head, e, next)
    {
      HASH_DELETE(hh, head, e);
      delete e;
    }
  }
};

#ifdef HAVE_ABSL
struct absl_map {
  absl::flat_hash_map<uint64_t, entry> m;
  entry &at_key(uint64_t key) { return m[key]; }
};
#endif

/* --- contenders ----------------------------------------------------------------------------------------------------- */

size_t warm; /* transactions that fill the window, not timed */

template <typename Map> struct contender {
  const stream *s;
  tracker<Map> *t = nullptr;

  void one(size_t i)
  {
    t->g.enter();
    for (unsigned k = 0; k < KEYS; k++)
      t->access(s->keys[i * KEYS + k], s->is_read[i * KEYS + k]);
    if (i >= s->window)
      t->g.done(i - s->window + 1);
  }
  static void prepare(void *arg, size_t)
  {
    contender *c = (contender *)arg;
    c->t = new tracker<Map>(*c->s);
    for (size_t i = 0; i < warm; i++)
      c->one(i);
  }
  static void run(void *arg, size_t n)
  {
    contender *c = (contender *)arg;
    for (size_t i = warm; i < warm + n; i++)
      c->one(i);
    bench_use(c->t->g.made);
  }
  static void finish(void *arg, size_t)
  {
    contender *c = (contender *)arg;
    delete c->t;
  }
};

struct ours {
  const stream *s;
  twpa_plan *plan = nullptr;
  twpa_access_set *sets[8] = {};
  double hits = 0, conservative = 0, edges = 0, bytes = 0;

  void build(size_t i)
  {
    twpa_access_set *set = sets[i % 8];
    twpa_access_set_begin(set, 0, 0, 0);
    for (unsigned k = 0; k < KEYS; k++) {
      uint32_t write = s->reads > 0 ? TWPA_MODE_WRITE : TWPA_MODE_EXCLUSIVE;
      twpa_status st = twpa_access_set_access(set, s->keys[i * KEYS + k], s->is_read[i * KEYS + k] ? TWPA_MODE_READ : write);
      if (st != TWPA_OK)
        abort();
    }
    twpa_plan_prefetch(plan, set);
  }
  void one(size_t i)
  {
    uint64_t seq;
    uint32_t n;
    if (twpa_plan_add(plan, &seq, &n, sets[i % 8]) != TWPA_OK)
      abort();
    if (i >= s->window) {
      if (twpa_plan_complete(plan, i - s->window + 1, TWPA_DONE_COMMITTED) != TWPA_OK)
        abort();
      while (twpa_plan_next_ready(plan, &seq) == TWPA_OK)
        continue;
    }
  }
  void many(size_t from, size_t to)
  {
    for (size_t i = from; i < to && i < from + 6; i++)
      build(i);
    for (size_t i = from; i < to; i++) {
      if (i + 6 < to)
        build(i + 6);
      one(i);
    }
  }
  static void prepare(void *arg, size_t)
  {
    ours *o = (ours *)arg;
    twpa_plan_options options = twpa_plan_options();
    options.struct_size = TWPA_PLAN_OPTIONS_INIT;
    options.table_bytes = o->s->reads > 0 ? 64 : o->s->table_bytes;
    options.wide_bytes = o->s->reads > 0 ? o->s->table_bytes : 64;
    options.max_transactions = UINT64_C(1) << 26;
    if (twpa_plan_new(&o->plan, &options, nullptr) != TWPA_OK)
      abort();
    for (auto &set : o->sets)
      if (twpa_access_set_new(&set, o->plan, nullptr) != TWPA_OK)
        abort();
    o->many(0, warm);
  }
  static void run(void *arg, size_t n)
  {
    ours *o = (ours *)arg;
    o->many(warm, warm + n);
  }
  static void finish(void *arg, size_t)
  {
    ours *o = (ours *)arg;
    twpa_plan_counters c = twpa_plan_counters();
    c.struct_size = TWPA_PLAN_COUNTERS_INIT;
    if (twpa_plan_stats(o->plan, &c) != TWPA_OK)
      abort();
    o->conservative = 100.0 * (double)c.conservative / (double)c.keys;
    o->edges = (double)c.edges / (double)c.transactions;
    o->bytes = (double)c.bytes / 1048576;
    for (auto &set : o->sets)
      twpa_access_set_free(set);
    twpa_plan_free(o->plan);
  }
};

template <typename Map> bench_case case_of(const char *name, contender<Map> &c)
{
  bench_case b = bench_case();
  b.name = name;
  b.prepare = contender<Map>::prepare;
  b.run = contender<Map>::run;
  b.finish = contender<Map>::finish;
  b.arg = &c;
  return b;
}

/* Costs are per key. */
void compare(stream s, size_t n, double want_std, double want_best, double want_ns)
{
  if (bench_is_smoke()) {
    s.keyspace = s.keyspace > 1000 ? 1000 : s.keyspace;
    s.window = 100;
    s.table_bytes = 65536;
  }
  warm = s.window + s.keyspace / KEYS;
  make_stream(s, warm + n);
  contender<std_map> std_c{&s};
  contender<capped_map> map_c{&s};
  contender<ut_map> ut_c{&s};
  ours us{&s};
  bench_case cases[5];
  size_t ncases = 0;
  cases[ncases++] = case_of("std::unordered_map", std_c);
  cases[ncases++] = case_of("std::map, cleared at 25,000", map_c);
  cases[ncases++] = case_of("uthash", ut_c);
#ifdef HAVE_ABSL
  contender<absl_map> absl_c{&s};
  cases[ncases++] = case_of("absl::flat_hash_map", absl_c);
#endif
  bench_case &b = cases[ncases++];
  b = bench_case();
  b.name = "twpa plan";
  b.prepare = ours::prepare;
  b.run = ours::run;
  b.finish = ours::finish;
  b.arg = &us;
  for (size_t i = 0; i < ncases; i++)
    cases[i].units = (double)(n * KEYS);
  if (!bench_compare(s.name, "key", cases, ncases, n))
    return;
  bench_note("twpa: dependencies on a horizon", us.conservative, "% of the keys");
  bench_note("twpa: edges", us.edges, "per transaction");
  bench_note("twpa: memory in all", us.bytes, "MiB");
  if (want_std > 0)
    bench_want_ratio(&b, want_std);
#ifdef HAVE_ABSL
  if (want_best > 0)
    bench_want("times as fast as absl::flat_hash_map", cases[3].ns / b.ns, true, want_best);
#endif
  if (want_ns > 0)
    bench_want_ns(&b, want_ns);
}

} // namespace

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "conflict trackers");
  size_t n = bench_size(500000, 2000);
  compare({"uniform, 10 k keys", 10000, 0, 0, false, 2500, 1 << 20, {}, {}}, n, 0, 0, 0);
  compare({"uniform, 1 M keys", 1000000, 0, 0, false, 250000, 32 << 20, {}, {}}, n, 5, 2, 20);
  compare({"uniform, 10 M keys", 10000000, 0, 0, false, 2500000, 256 << 20, {}, {}}, n, 5, 2, 30);
  compare({"zipf 0.99, 1 M keys", 1000000, 0.99, 0, false, 250000, 32 << 20, {}, {}}, n, 0, 0, 0);
  compare({"append only", 1000000, 0, 0, true, 250000, 32 << 20, {}, {}}, n, 0, 0, 0);
  compare({"parents read, children written, 1 M keys", 1000000, 0, 50, false, 250000, 64 << 20, {}, {}}, n, 0, 0, 0);
  return bench_end();
}
