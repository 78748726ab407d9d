/*
 * Trackers of the same function as the plan's, on general maps, as somebody would write them by hand with care: per key
 * the last write, the last update and the readers since; edges without duplicates; a graph that knows who is ready.
 * They are never cleaned up, which is in their favour, and their memory is not bounded (but for the first map).
 */
#ifndef BENCH_BASELINES_H
#define BENCH_BASELINES_H

#include "streams.h"

#include <cstdlib>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef HAVE_ABSL
#include <absl/container/flat_hash_map.h>
#endif
#include <uthash.h>

namespace baselines {

/* --- graphs ----------------------------------------------------------------------------------------------------- */

/* Nodes in a ring, edges in lists by predecessor, counts of predecessors, duplicates found by a stamp. */
class graph {
  struct node {
    uint32_t edges, waiters, npred;
    bool done;
    uint64_t stamp;
  };
  struct edge {
    uint32_t next;
    uint64_t to;
  };
  std::vector<node> ring;
  std::vector<edge> edges;
  uint64_t mask, up_to = 0;
  uint32_t spare = UINT32_MAX;

  void link(uint32_t &head)
  {
    uint32_t e = spare;
    if (e != UINT32_MAX) {
      spare = edges[e].next;
    } else {
      e = (uint32_t)edges.size();
      edges.push_back(edge());
    }
    edges[e] = edge{head, last};
    head = e;
    ring[last & mask].npred++;
    made++;
  }
  void fulfil(uint32_t &head)
  {
    for (uint32_t e = head, next; e != UINT32_MAX; e = next) {
      next = edges[e].next;
      if (--ring[edges[e].to & mask].npred == 0)
        ready++;
      edges[e].next = spare;
      spare = e;
    }
    head = UINT32_MAX;
  }

public:
  uint64_t low = 0, last = 0, made = 0, ready = 0;

  explicit graph(size_t window)
  {
    size_t n = 1;
    while (n < window + 2)
      n *= 2;
    ring.resize(n);
    mask = n - 1;
  }
  void enter()
  {
    ring[++last & mask] = node{UINT32_MAX, UINT32_MAX, 0, false, 0};
    up_to = 0;
  }
  void after(uint64_t seq)
  {
    if (seq <= low || seq == last)
      return;
    node &p = ring[seq & mask];
    if (p.done || p.stamp == last)
      return;
    p.stamp = last;
    link(p.edges);
  }
  void after_all(uint64_t seq) { up_to = seq > up_to ? seq : up_to; }
  void entered()
  {
    if (up_to == last)
      up_to--;
    if (up_to > low)
      link(ring[up_to & mask].waiters);
    if (ring[last & mask].npred == 0)
      ready++;
  }
  void done(uint64_t seq)
  {
    ring[seq & mask].done = true;
    fulfil(ring[seq & mask].edges);
    while (low < last && ring[(low + 1) & mask].done)
      fulfil(ring[++low & mask].waiters);
  }
};

/* Only says which edges there are and keeps none: less than the others do. For those that finish in order. */
class listing {
  std::vector<uint64_t> found;

public:
  uint64_t low = 0, last = 0, made = 0, ready = 0;

  explicit listing(size_t) {}
  void enter()
  {
    last++;
    found.clear();
  }
  void after(uint64_t seq)
  {
    if (seq <= low || seq == last)
      return;
    for (uint64_t f : found)
      if (f == seq)
        return;
    found.push_back(seq);
  }
  void after_all(uint64_t seq) { after(seq); }
  void entered() { made += found.size(); }
  void done(uint64_t seq) { low = seq; }
};

/* --- keys and maps ---------------------------------------------------------------------------------------------- */

struct row { /* a key that is not hashed yet */
  uint64_t id, index;
  bool operator==(const row &o) const { return id == o.id && index == o.index; }
  bool operator<(const row &o) const { return id < o.id || (id == o.id && index < o.index); }
};

inline uint64_t key_of(const streams::access &a, uint64_t *) { return a.key; }
inline row key_of(const streams::access &a, row *) { return row{a.key, a.index}; }

struct hasher {
  size_t operator()(uint64_t hash) const { return (size_t)hash; }
  size_t operator()(const row &r) const
  {
    uint64_t x = (r.id ^ r.index << 56) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (size_t)(x ^ x >> 32);
  }
};

/* Each map: at(key, fresh) finds or makes an entry; a fresh one waits for `horizon`. */
template <typename K, typename E> struct capped_map { /* MySQL 8.0 in shape: forgets everything when it is full */
  std::map<K, E> m;
  uint64_t horizon = 0;
  E &at(const K &k, bool &fresh, uint64_t last)
  {
    if (m.size() >= 25000) {
      m.clear();
      horizon = last;
    }
    auto r = m.try_emplace(k);
    fresh = r.second;
    return r.first->second;
  }
};

template <typename K, typename E> struct std_map {
  std::unordered_map<K, E, hasher> m;
  static constexpr uint64_t horizon = 0;
  E &at(const K &k, bool &, uint64_t) { return m[k]; }
};

template <typename K, typename E> struct ut_map {
  struct item {
    K key;
    E e;
    UT_hash_handle hh;
  };
  item *head = nullptr;
  static constexpr uint64_t horizon = 0;

  E &at(const K &k, bool &, uint64_t)
  {
    item *found;
    unsigned hash = (unsigned)hasher()(k);
    HASH_FIND_BYHASHVALUE(hh, head, &k, sizeof k, hash, found);
    if (found == nullptr) {
      found = new item();
      found->key = k;
      HASH_ADD_KEYPTR_BYHASHVALUE(hh, head, &found->key, sizeof k, hash, found);
    }
    return found->e;
  }
  ~ut_map()
  {
    item *e, *next;
    HASH_ITER(hh, head, e, next)
    {
      HASH_DELETE(hh, head, e);
      delete e;
    }
  }
};

#ifdef HAVE_ABSL
template <typename K, typename E> struct absl_map {
  absl::flat_hash_map<K, E, hasher> m;
  static constexpr uint64_t horizon = 0;
  E &at(const K &k, bool &, uint64_t) { return m[k]; }
};
#endif

/* --- the tracker ------------------------------------------------------------------------------------------------ */

struct shared { /* a key that is also read */
  uint64_t write = 0, update = 0;
  uint32_t readers = UINT32_MAX, nreaders = 0, prune_at = 64;
};

template <template <typename, typename> class Map, typename K, typename Graph> class tracker {
  struct reader {
    uint32_t next;
    uint64_t seq;
  };
  Map<K, uint64_t> exclusive_keys; /* last access */
  Map<K, shared> shared_keys;
  std::vector<reader> readers;
  uint32_t spare = UINT32_MAX;

  void add_reader(shared &e)
  {
    uint32_t r = spare;
    if (r != UINT32_MAX) {
      spare = readers[r].next;
    } else {
      r = (uint32_t)readers.size();
      readers.push_back(reader());
    }
    readers[r] = reader{e.readers, g.last};
    e.readers = r;
    if (++e.nreaders >= e.prune_at)
      prune(e);
  }
  void prune(shared &e) /* the list is newest first: cuts off the finished ones */
  {
    uint32_t *at = &e.readers;
    for (e.nreaders = 0; *at != UINT32_MAX && readers[*at].seq > g.low; e.nreaders++)
      at = &readers[*at].next;
    drop(*at, false);
    e.prune_at = e.nreaders * 2 + 64;
  }
  void drop(uint32_t &head, bool take)
  {
    for (uint32_t r = head, next; r != UINT32_MAX; r = next) {
      next = readers[r].next;
      if (take)
        g.after(readers[r].seq);
      readers[r].next = spare;
      spare = r;
    }
    head = UINT32_MAX;
  }
  void access_shared(const K &k, uint32_t mode)
  {
    bool fresh = false;
    shared &e = shared_keys.at(k, fresh, g.last);
    if (fresh && shared_keys.horizon > g.low)
      g.after_all(shared_keys.horizon);
    if (mode == TWPA_MODE_READ) {
      g.after(e.write);
      add_reader(e);
    } else if (mode == TWPA_MODE_UPDATE) {
      g.after(e.update > e.write ? e.update : e.write);
      e.update = g.last;
    } else {
      g.after(e.update > e.write ? e.update : e.write);
      drop(e.readers, true);
      e.nreaders = 0;
      e.write = g.last;
    }
  }

public:
  Graph g;

  explicit tracker(size_t window) : g(window) {}
  void access(const streams::access &a)
  {
    const K k = key_of(a, (K *)nullptr);
    if (a.mode != TWPA_MODE_EXCLUSIVE) {
      access_shared(k, a.mode);
      return;
    }
    bool fresh = false;
    uint64_t &last = exclusive_keys.at(k, fresh, g.last);
    if (fresh && exclusive_keys.horizon > g.low)
      g.after_all(exclusive_keys.horizon);
    g.after(last);
    last = g.last;
  }
};

} // namespace baselines

#endif
