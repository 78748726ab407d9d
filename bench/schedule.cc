/*
 * Plan and scheduler on one thread, against Intel TBB fed with the same dependencies.
 *
 * Ours gets accesses, finds the dependencies, gives out what is ready, is told of execution and commit, in commit order
 * or free. TBB gets the dependencies for nothing (they are found beforehand, not timed) and runs an empty body for each
 * transaction: once as a flow graph of continue_node, once as tasks of a task group with counters of predecessors made
 * by hand. TBB works through windows: a window of transactions is built, then run to its end, which is its best case;
 * ours keeps a window of the same size full.
 *
 * And how finishing grows with the number of those that wait at one.
 */
#include "streams.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>

#include <twpa/scheduler.h>

#ifdef HAVE_TBB
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace {

const size_t WINDOW = 4096, AHEAD = 8;

struct work {
  streams::piece txns;
  std::vector<size_t> ends;     /* transaction i depends on from[ends[i - 1] .. ends[i]) */
  std::vector<uint32_t> from;   /* numbers inside the same window */
  uint64_t free_order;
};

void check(twpa_status st)
{
  if (st == TWPA_OK || st == TWPA_NONE)
    return;
  fprintf(stderr, "%s\n", twpa_status_name(st));
  exit(1);
}

twpa_plan *new_plan(const work &w)
{
  twpa_plan *plan;
  twpa_plan_options o = twpa_plan_options();
  o.struct_size = TWPA_PLAN_OPTIONS_INIT;
  o.free_commit_order = (uint32_t)w.free_order;
  o.table_bytes = 1 << 18;
  check(twpa_plan_new(&plan, &o, nullptr));
  return plan;
}

void fill(twpa_access_set *set, const streams::piece &p, size_t i)
{
  check(twpa_access_set_begin(set, 0, 0, 0));
  for (const streams::access *a = p.begin(i); a < p.end(i); a++)
    check(twpa_access_set_access(set, a->key, a->mode));
}

/* The dependencies inside each window, for TBB. */
void find_dependencies(work &w)
{
  twpa_plan *plan = new_plan(w);
  twpa_access_set *set;
  check(twpa_access_set_new(&set, plan, nullptr));
  uint64_t base = 0, seq;
  uint32_t n;
  for (size_t i = 0; i < w.txns.count(); i++) {
    fill(set, w.txns, i);
    check(twpa_plan_add(plan, &seq, &n, set));
    twpa_edge edges[64];
    size_t count = 0;
    if (n > 0)
      check(twpa_plan_explain(plan, edges, 64, &count, seq));
    for (size_t e = 0; e < count && e < 64; e++)
      w.from.push_back((uint32_t)(edges[e].from - base - 1));
    w.ends.push_back(w.from.size());
    if (seq - base == WINDOW)
      for (; base < seq; base++)
        check(twpa_plan_complete(plan, base + 1, TWPA_DONE_COMMITTED));
    uint64_t ready;
    while (twpa_plan_next_ready(plan, &ready) == TWPA_OK)
      continue;
  }
  twpa_access_set_free(set);
  twpa_plan_free(plan);
}

/* --- ours ------------------------------------------------------------------------------------------------------- */

struct ours {
  const work *w;
  uint32_t order;
  twpa_plan *plan = nullptr;
  twpa_scheduler *scheduler = nullptr;
  twpa_access_set *sets[2 * AHEAD];

  static void prepare(void *arg, size_t)
  {
    ours *o = (ours *)arg;
    o->plan = new_plan(*o->w);
    for (auto &set : o->sets)
      check(twpa_access_set_new(&set, o->plan, nullptr));
    twpa_scheduler_options so = twpa_scheduler_options();
    so.struct_size = TWPA_SCHEDULER_OPTIONS_INIT;
    so.commit_order = o->order;
    check(twpa_scheduler_new(&o->scheduler, o->plan, &so, nullptr));
  }
  void drive(size_t until) /* executes and commits until no more than so many are unfinished */
  {
    uint64_t seq;
    while (open > until) {
      if (twpa_scheduler_next(scheduler, &seq, nullptr) == TWPA_OK)
        check(twpa_scheduler_applied(scheduler, seq));
      while (twpa_scheduler_next_commit(scheduler, &seq, nullptr) == TWPA_OK) {
        check(twpa_scheduler_committed(scheduler, seq));
        open--;
      }
    }
  }
  void build(size_t i)
  {
    fill(sets[i % (2 * AHEAD)], w->txns, i);
    twpa_plan_prefetch(plan, sets[i % (2 * AHEAD)]);
  }
  static void run(void *arg, size_t n)
  {
    ours *o = (ours *)arg;
    o->open = 0;
    for (size_t i = 0; i < n && i < AHEAD; i++)
      o->build(i);
    for (size_t i = 0; i < n; i++) {
      uint64_t seq;
      if (i + AHEAD < n)
        o->build(i + AHEAD);
      check(twpa_scheduler_submit(o->scheduler, &seq, o->sets[i % (2 * AHEAD)], nullptr));
      o->open++;
      o->drive(WINDOW);
    }
    o->drive(0);
  }
  static void finish(void *arg, size_t)
  {
    ours *o = (ours *)arg;
    twpa_scheduler_free(o->scheduler);
    for (auto &set : o->sets)
      twpa_access_set_free(set);
    twpa_plan_free(o->plan);
  }
  size_t open = 0;
};

/* --- TBB -------------------------------------------------------------------------------------------------------- */

#ifdef HAVE_TBB
struct flow {
  const work *w;

  static void run(void *arg, size_t n)
  {
    const work &w = *((flow *)arg)->w;
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
    uint64_t done = 0;
    for (size_t from = 0; from < n; from += WINDOW) {
      size_t count = n - from < WINDOW ? n - from : WINDOW;
      tbb::flow::graph g;
      std::deque<node> nodes;
      for (size_t i = 0; i < count; i++) {
        nodes.emplace_back(g, [&done](const tbb::flow::continue_msg &) { done++; });
        for (size_t e = from + i == 0 ? 0 : w.ends[from + i - 1]; e < w.ends[from + i]; e++)
          tbb::flow::make_edge(nodes[w.from[e]], nodes[i]);
      }
      for (size_t i = 0; i < count; i++)
        if ((from + i == 0 ? 0 : w.ends[from + i - 1]) == w.ends[from + i])
          nodes[i].try_put(tbb::flow::continue_msg());
      g.wait_for_all();
    }
    bench_use(done);
  }
};

struct group {
  const work *w;

  struct txn {
    std::atomic<uint32_t> npred{0};
    std::vector<uint32_t> successors;
  };
  static void execute(tbb::task_group &g, std::vector<txn> &txns, uint32_t i, std::atomic<uint64_t> &done)
  {
    done.fetch_add(1, std::memory_order_relaxed);
    for (uint32_t s : txns[i].successors)
      if (txns[s].npred.fetch_sub(1) == 1)
        g.run([&g, &txns, s, &done] { execute(g, txns, s, done); });
  }
  static void run(void *arg, size_t n)
  {
    const work &w = *((group *)arg)->w;
    std::atomic<uint64_t> done{0};
    for (size_t from = 0; from < n; from += WINDOW) {
      size_t count = n - from < WINDOW ? n - from : WINDOW;
      std::vector<txn> txns(count);
      tbb::task_group g;
      for (size_t i = 0; i < count; i++)
        for (size_t e = from + i == 0 ? 0 : w.ends[from + i - 1]; e < w.ends[from + i]; e++) {
          txns[w.from[e]].successors.push_back((uint32_t)i);
          txns[i].npred++;
        }
      for (uint32_t i = 0; i < count; i++)
        if ((from + i == 0 ? 0 : w.ends[from + i - 1]) == w.ends[from + i])
          g.run([&g, &txns, i, &done] { execute(g, txns, i, done); });
      g.wait();
    }
    bench_use(done);
  }
};
#endif

/* --- comparison --------------------------------------------------------------------------------------------------- */

bench_case case_of(const char *name, void (*run)(void *, size_t), void *arg)
{
  bench_case c = bench_case();
  c.name = name;
  c.run = run;
  c.arg = arg;
  return c;
}

void compare(const char *title, streams::kind what, uint64_t keyspace, double want_ratio, double want_ns)
{
  size_t n = bench_size(WINDOW * 25, WINDOW * 2);
  work w = {{}, {}, {}, 0}, free_w;
  streams::source source(what, keyspace, true);
  source.next(w.txns, n);
  find_dependencies(w);
  free_w = w;
  free_w.free_order = 1;
  std::vector<bench_case> cases;
#ifdef HAVE_TBB
  flow f = {&w};
  group g = {&w};
  cases.push_back(case_of("TBB flow graph, dependencies given", flow::run, &f));
  cases.push_back(case_of("TBB task group, dependencies given", group::run, &g));
#endif
  ours ordered = {}, unordered = {};
  ordered.w = &w;
  ordered.order = TWPA_COMMIT_ORDER_GLOBAL;
  unordered.w = &free_w;
  unordered.order = TWPA_COMMIT_ORDER_FREE;
  for (ours *o : {&ordered, &unordered}) {
    cases.push_back(case_of(o == &ordered ? "twpa, in commit order" : "twpa, free order", ours::run, o));
    cases.back().prepare = ours::prepare;
    cases.back().finish = ours::finish;
  }
  if (!bench_compare(title, "transaction", cases.data(), cases.size(), n))
    return;
  const bench_case &o = cases[cases.size() - 2];
  bench_note("edges", (double)w.from.size() / (double)n, "per transaction");
  bench_note("twpa, in commit order", 1000 / o.ns, "million transactions per second");
  if (cases.size() == 4 && want_ratio > 0) {
    double best = cases[0].ns_min < cases[1].ns_min ? cases[0].ns_min : cases[1].ns_min;
    bench_want("times as fast as the better of TBB (fastest rounds)", best / o.ns_min, true, want_ratio);
  }
  if (want_ns > 0)
    bench_want_ns(&o, want_ns);
}

/* --- many that wait at one ---------------------------------------------------------------------------------------- */

/* One writes a key, many read it, another writes it: finishing the first wakes all, finishing those each time asks what is
   left for the last. Entering is not timed. With explain, which keeps all edges and whom they go by. */
struct crowd {
  size_t n;
  twpa_plan *plan = nullptr;

  void enter(twpa_access_set *set, uint32_t mode)
  {
    uint64_t seq;
    uint32_t npredecessors;
    check(twpa_access_set_begin(set, 0, 0, 0));
    check(twpa_access_set_access(set, 7, mode));
    check(twpa_plan_add(plan, &seq, &npredecessors, set));
  }
  static void prepare(void *arg, size_t)
  {
    crowd *c = (crowd *)arg;
    twpa_access_set *set;
    twpa_plan_options o = twpa_plan_options();
    o.struct_size = TWPA_PLAN_OPTIONS_INIT;
    o.explain = 1;
    check(twpa_plan_new(&c->plan, &o, nullptr));
    check(twpa_access_set_new(&set, c->plan, nullptr));
    c->enter(set, TWPA_MODE_WRITE);
    for (size_t i = 0; i < c->n; i++)
      c->enter(set, TWPA_MODE_READ);
    c->enter(set, TWPA_MODE_WRITE);
    twpa_access_set_free(set);
  }
  static void run(void *arg, size_t)
  {
    crowd *c = (crowd *)arg;
    uint64_t seq;
    for (uint64_t i = 1; i <= c->n + 2; i++) {
      check(twpa_plan_complete(c->plan, i, TWPA_DONE_COMMITTED));
      while (twpa_plan_next_ready(c->plan, &seq) == TWPA_OK)
        continue;
    }
  }
  static void finish(void *arg, size_t) { twpa_plan_free(((crowd *)arg)->plan); }
};

void compare_crowds()
{
  const char *const names[] = {"1,000", "10,000", "100,000"};
  crowd crowds[3];
  bench_case cases[3];
  for (size_t i = 0, n = bench_size(1000, 10); i < 3; i++, n *= 10) {
    crowds[i].n = n;
    cases[i] = case_of(names[i], crowd::run, &crowds[i]);
    cases[i].prepare = crowd::prepare;
    cases[i].finish = crowd::finish;
    cases[i].units = (double)n;
  }
  if (bench_compare("so many wait at one, with explain", "transaction finished", cases, 3, 1))
    bench_want("100,000 against 1,000, per transaction (fastest rounds)", cases[2].ns_min / cases[0].ns_min, false, 3);
}

} // namespace

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "plan and scheduler");
#ifdef HAVE_TBB
  tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
#endif
  compare("uniform, 10 k keys", streams::UNIFORM, 10000, 0, 0);
  compare("uniform, 1 M keys", streams::UNIFORM, 1000000, 5, 200);
  compare("uniform, 10 M keys", streams::UNIFORM, 10000000, 0, 0);
  compare("zipf 0.99, 1 M keys", streams::ZIPF, 1000000, 0, 0);
  compare("append only", streams::APPEND, 1000000, 0, 0);
  compare_crowds();
  return bench_end();
}
