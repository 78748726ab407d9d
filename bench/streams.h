/*
 * Streams of transactions for the benchmarks of the planning half: what they access, in commit order.
 *
 * An access is a row or value (index, id) and a mode. The keys of one index are either all exclusive (nobody ever reads
 * them) or all shared (foreign keys refer to them). Streams are made piece by piece and always the same way.
 */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include "common/bench.h"

#include <cstdint>
#include <vector>

#include <twpa/access_set.h>

namespace streams {

struct access {
  uint64_t key; /* its hash where the stream is hashed, else the id */
  uint32_t index;
  uint32_t mode; /* TWPA_MODE_* */
};

/* A piece: transaction i has accesses[ends[i - 1] .. ends[i]). */
struct piece {
  std::vector<access> accesses;
  std::vector<size_t> ends;

  const access *begin(size_t i) const { return accesses.data() + (i == 0 ? 0 : ends[i - 1]); }
  const access *end(size_t i) const { return accesses.data() + ends[i]; }
  size_t count() const { return ends.size(); }
};

enum kind {
  UNIFORM,     /* four keys */
  ZIPF,        /* four keys, 0.99 */
  APPEND,      /* four keys that nobody had before */
  HOT_PARENT,  /* four new children of a few parents, which are sometimes updated, rarely deleted */
  UPDATE_INDEX, /* two rows updated, each with an old and a new value in two further unique indexes */
  TPCC         /* new orders, payments and deliveries with their foreign keys */
};

struct source {
  kind what;
  uint64_t keyspace;
  bool hashed;
  uint64_t state = 42, fresh = 0;
  bench_zipf zipf = bench_zipf();

  source(kind w, uint64_t keys, bool h);
  void next(piece &p, size_t transactions);

private:
  void add(piece &p, uint32_t index, uint64_t id, uint32_t mode);
  uint64_t below(uint64_t n) { return bench_random(&state) % n; }
  void children(piece &p);
  void update(piece &p);
  void new_order(piece &p);
  void payment(piece &p);
  void delivery(piece &p);
  void tpcc(piece &p);
  std::vector<uint64_t> orders; /* TPC-C: next order of each district */
};

} // namespace streams

#endif
