/*
 * The whole tracker, accesses in and edges out, against trackers of the same function on general maps: std::map cleared
 * at 25,000 entries (MySQL 8.0 in shape), std::unordered_map, uthash, absl::flat_hash_map. All are fed the same
 * transactions; a window of them is unfinished, the oldest commits when the next one enters. Every contender lives
 * through the whole run, so that each round finds warm tables. See baselines.h for what the others do and do not do.
 */
#include "baselines.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <twpa/plan.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

/* The operator new of the whole program is malloc; large blocks are in huge pages on demand (Linux). */
static bool large_blocks_are_huge;

void *operator new(size_t size)
{
#ifdef __linux__
  const size_t huge = (size_t)2 << 20, rounded = (size + huge - 1) / huge * huge;
  if (large_blocks_are_huge && size >= huge) {
    void *p = aligned_alloc(huge, rounded);
    if (p == nullptr)
      throw std::bad_alloc();
    (void)madvise(p, rounded, MADV_HUGEPAGE);
    return p;
  }
#endif
  void *p = malloc(size);
  if (p == nullptr)
    throw std::bad_alloc();
  return p;
}

void operator delete(void *p) noexcept
{
  free(p);
}

void operator delete(void *p, size_t) noexcept
{
  free(p);
}

namespace {

using streams::piece;

/* The pieces of one comparison, the same for every contender: number 0 warms up, each round has one. */
struct feed {
  streams::source source;
  piece current;
  size_t warm, per_round, number = SIZE_MAX, window;
  size_t shared_bytes, exclusive_bytes;
  bool hashed;

  const piece &at(size_t wanted)
  {
    for (; number == SIZE_MAX || number < wanted; number++)
      source.next(current, number == SIZE_MAX ? warm : per_round);
    return current;
  }
};

/* A contender: pieces in. */
struct contender {
  virtual ~contender() {}
  virtual void pass(const piece &p) = 0;
};

template <template <typename, typename> class Map, typename K, typename Graph> struct other : contender {
  baselines::tracker<Map, K, Graph> t;
  size_t window;

  explicit other(const feed &f) : t(f.window), window(f.window) {}
  void pass(const piece &p) override
  {
    for (size_t i = 0; i < p.count(); i++) {
      t.g.enter();
      for (const streams::access *a = p.begin(i); a < p.end(i); a++)
        t.access(*a);
      t.g.entered();
      if (t.g.last > window)
        t.g.done(t.g.last - window);
    }
    bench_use(t.g.made + t.g.ready);
  }
};

void check(twpa_status st)
{
  if (st == TWPA_OK)
    return;
  fprintf(stderr, "%s\n", twpa_status_name(st));
  exit(1);
}

/* An allocator of the host's that knows nothing of pages: what the library would get from malloc. */
void *plain_alloc(void *, size_t size)
{
  return malloc(size);
}

void *plain_resize(void *, void *p, size_t, size_t new_size)
{
  return realloc(p, new_size);
}

void plain_release(void *, void *p, size_t)
{
  free(p);
}

const twpa_allocator plain = {nullptr, plain_alloc, plain_resize, plain_release};

struct ours : contender {
  static const size_t AHEAD = 8; /* transactions whose place in the table is being loaded */
  twpa_plan *plan = nullptr;
  twpa_access_set *sets[2 * AHEAD];
  size_t window;
  bool hashed;
  uint64_t last = 0;

  explicit ours(const feed &f, const twpa_allocator *allocator = nullptr) : window(f.window), hashed(f.hashed)
  {
    twpa_plan_options options = twpa_plan_options();
    options.struct_size = TWPA_PLAN_OPTIONS_INIT;
    options.table_bytes = f.exclusive_bytes;
    options.wide_bytes = f.shared_bytes;
    options.max_transactions = UINT64_C(1) << 26;
    check(twpa_plan_new(&plan, &options, allocator));
    for (auto &set : sets)
      check(twpa_access_set_new(&set, plan, nullptr));
  }
  ~ours() override
  {
    for (auto &set : sets)
      twpa_access_set_free(set);
    twpa_plan_free(plan);
  }
  void build(const piece &p, size_t i)
  {
    twpa_access_set *set = sets[i % (2 * AHEAD)];
    check(twpa_access_set_begin(set, 0, 0, 0));
    for (const streams::access *a = p.begin(i); a < p.end(i); a++) {
      twpa_key key = a->key;
      if (!hashed) {
        const twpa_value value = {TWPA_CLASS_INTEGER, TWPA_VALUE_BINARY, {&a->key, sizeof a->key}};
        check(twpa_key_of(&key, 0, a->index, a->index, 0, &value, 1));
      }
      check(twpa_access_set_access(set, key, a->mode));
    }
    twpa_plan_prefetch(plan, set);
  }
  void pass(const piece &p) override
  {
    uint64_t seq;
    uint32_t n;
    for (size_t i = 0; i < p.count() && i < AHEAD; i++)
      build(p, i);
    for (size_t i = 0; i < p.count(); i++) {
      if (i + AHEAD < p.count())
        build(p, i + AHEAD);
      check(twpa_plan_add(plan, &last, &n, sets[i % (2 * AHEAD)]));
      if (last > window)
        check(twpa_plan_complete(plan, last - window, TWPA_DONE_COMMITTED));
      while (twpa_plan_next_ready(plan, &seq) == TWPA_OK)
        bench_use(seq);
    }
  }
};

struct ours_with_malloc : ours {
  explicit ours_with_malloc(const feed &f) : ours(f, &plain) {}
};

/* A contender whose large arrays are in huge pages as well. */
template <typename Contender> struct in_huge_pages : contender {
  Contender *c;
  explicit in_huge_pages(const feed &f)
  {
    large_blocks_are_huge = true;
    c = new Contender(f);
    large_blocks_are_huge = false;
  }
  ~in_huge_pages() override { delete c; }
  void pass(const piece &p) override
  {
    large_blocks_are_huge = true;
    c->pass(p);
    large_blocks_are_huge = false;
  }
};

/* What the harness calls. */
struct table;
struct seat {
  const char *name;
  contender *(*make)(const feed &);
  contender *c;
  size_t round;
  table *t;
  bench_case *result;
};

struct table {
  feed f;
  std::vector<seat> seats;

  static void prepare(void *arg, size_t)
  {
    seat *s = (seat *)arg;
    table *t = s->t;
    if (s->c == nullptr) { /* before the first round: all are made, and warm up with the same piece */
      for (seat &x : t->seats) {
        x.c = x.make(t->f);
        x.c->pass(t->f.at(0));
      }
    }
    s->result->units = (double)t->f.at(++s->round).accesses.size();
  }
  static void run(void *arg, size_t)
  {
    seat *s = (seat *)arg;
    s->c->pass(s->t->f.current);
  }
  ~table()
  {
    for (seat &s : seats)
      delete s.c;
  }
};

template <typename C> contender *make(const feed &f)
{
  return new C(f);
}

struct comparison {
  const char *name;
  streams::kind what;
  uint64_t keyspace;
  size_t window, shared_bytes, exclusive_bytes;
  double want_std, want_best, want_ns; /* 0: not judged */
};

const size_t STD = 0, UT = 2, OURS = 3;
const char *const ABSL = "absl::flat_hash_map";

template <typename K> std::vector<seat> all_seats(table *t)
{
  using graph = baselines::graph;
  return {
    {"std::unordered_map", make<other<baselines::std_map, K, graph>>, nullptr, 0, t, nullptr},
    {"std::map, cleared at 25,000", make<other<baselines::capped_map, K, graph>>, nullptr, 0, t, nullptr},
    {"uthash", make<other<baselines::ut_map, K, graph>>, nullptr, 0, t, nullptr},
    {"twpa plan", make<ours>, nullptr, 0, t, nullptr},
    {"twpa plan, memory from malloc", make<ours_with_malloc>, nullptr, 0, t, nullptr},
#ifdef HAVE_ABSL
    {ABSL, make<other<baselines::absl_map, K, graph>>, nullptr, 0, t, nullptr},
    {"absl::flat_hash_map in huge pages", make<in_huge_pages<other<baselines::absl_map, K, graph>>>, nullptr, 0, t, nullptr},
    {"absl::flat_hash_map, edges not kept", make<other<baselines::absl_map, K, baselines::listing>>, nullptr, 0, t, nullptr},
#endif
  };
}

void judge(const comparison &c, const table &t, const std::vector<bench_case> &cases, size_t n)
{
  twpa_plan_counters k = twpa_plan_counters();
  k.struct_size = TWPA_PLAN_COUNTERS_INIT;
  check(twpa_plan_stats(((const ours *)t.seats[OURS].c)->plan, &k));
  bench_note("accesses", cases[OURS].units / (double)n, "per transaction");
  bench_note("twpa: dependencies on a horizon", 100.0 * (double)k.conservative / (double)k.keys, "% of the accesses");
  bench_note("twpa: edges", (double)k.edges / (double)k.transactions, "per transaction");
  bench_note("twpa: memory in all", (double)k.bytes / 1048576, "MiB");
  double best = cases[STD].ns_min < cases[UT].ns_min ? cases[STD].ns_min : cases[UT].ns_min;
  for (const bench_case &b : cases)
    if (strcmp(b.name, ABSL) == 0 && b.ns_min < best)
      best = b.ns_min;
  if (c.want_std > 0)
    bench_want_ratio(&cases[OURS], c.want_std);
  if (c.want_best > 0)
    bench_want("times as fast as the best of the others (fastest rounds)", best / cases[OURS].ns_min, true, c.want_best);
  if (c.want_ns > 0)
    bench_want_ns(&cases[OURS], c.want_ns);
}

template <typename K> void compare(const comparison &c, bool hashed)
{
  std::string title = std::string(c.name) + (hashed ? "" : ", unhashed");
  uint64_t keyspace = bench_is_smoke() && c.keyspace > 1000 ? 1000 : c.keyspace;
  size_t window = bench_is_smoke() ? 100 : c.window, n = bench_size(100000, 500);
  table t = {{streams::source(c.what, keyspace, hashed), piece(), window + (size_t)keyspace / 8, n, SIZE_MAX, window,
              bench_is_smoke() ? 65536 : c.shared_bytes, bench_is_smoke() ? 65536 : c.exclusive_bytes, hashed},
             {}};
  t.seats = all_seats<K>(&t);
  std::vector<bench_case> cases(t.seats.size());
  for (size_t i = 0; i < cases.size(); i++) {
    t.seats[i].result = &cases[i];
    cases[i].name = t.seats[i].name;
    cases[i].prepare = table::prepare;
    cases[i].run = table::run;
    cases[i].arg = &t.seats[i];
  }
  if (bench_compare(title.c_str(), "access", cases.data(), cases.size(), n))
    judge(c, t, cases, n);
}

} // namespace

int main(int argc, char **argv)
{
  const size_t M = 1 << 20;
  const size_t SMALL = M / 4; /* where it would not matter, if it were smaller still */
  const comparison all[] = {
    {"uniform, 10 k keys", streams::UNIFORM, 10000, 2500, 64, SMALL, 0, 0, 0},
    {"uniform, 1 M keys", streams::UNIFORM, 1000000, 250000, 64, 16 * M, 5, 2, 20},
    {"uniform, 10 M keys", streams::UNIFORM, 10000000, 2500000, 64, 128 * M, 5, 2, 30},
    {"zipf 0.99, 10 k keys", streams::ZIPF, 10000, 2500, 64, SMALL, 0, 0, 0},
    {"zipf 0.99, 1 M keys", streams::ZIPF, 1000000, 250000, 64, 16 * M, 0, 0, 0},
    {"zipf 0.99, 10 M keys", streams::ZIPF, 10000000, 2500000, 64, 128 * M, 0, 0, 0},
    {"append only, 10 k live keys", streams::APPEND, 10000, 2500, 64, SMALL, 0, 0, 0},
    {"append only, 1 M live keys", streams::APPEND, 1000000, 250000, 64, 16 * M, 0, 0, 0},
    {"append only, 10 M live keys", streams::APPEND, 10000000, 2500000, 64, 128 * M, 0, 0, 0},
    {"hot parents, 10 k", streams::HOT_PARENT, 10000, 10000, M, M, 0, 0, 0},
    {"hot parents, 1 M", streams::HOT_PARENT, 1000000, 10000, M, M, 0, 0, 0},
    {"hot parents, 10 M", streams::HOT_PARENT, 10000000, 10000, M, M, 0, 0, 0},
    {"update of two indexes, 10 k rows", streams::UPDATE_INDEX, 10000, 1000, 64, SMALL, 0, 0, 0},
    {"update of two indexes, 1 M rows", streams::UPDATE_INDEX, 1000000, 100000, 64, 16 * M, 0, 0, 0},
    {"update of two indexes, 10 M rows", streams::UPDATE_INDEX, 10000000, 1000000, 64, 128 * M, 0, 0, 0},
    {"TPC-C like, 1 warehouse", streams::TPCC, 10000, 10000, 8 * M, 4 * M, 0, 0, 0},
    {"TPC-C like, 1 M keys", streams::TPCC, 1000000, 10000, 8 * M, 4 * M, 0, 0, 0},
    {"TPC-C like, 10 M keys", streams::TPCC, 10000000, 10000, 8 * M, 4 * M, 0, 0, 0},
  };
  bench_begin(argc, argv, "conflict trackers");
  for (const comparison &c : all) {
    compare<uint64_t>(c, true);
    compare<baselines::row>(c, false);
  }
  return bench_end();
}
