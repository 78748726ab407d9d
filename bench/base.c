/*
 * The base modules against what one would write without them: the pairing heap against a binary heap in an array (which
 * moves elements and cannot remove one by its address), the map of transaction ids against a binary search in a sorted
 * array (which costs a move of half the array to insert).
 */
#include "base/heap.h"
#include "base/xidmap.h"
#include "common/bench.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct item {
  twpa__heap_node node; /* first */
  uint64_t key;
} item;

typedef struct heaps {
  size_t size;
  item *items;
  item **array; /* binary heap */
  uint64_t seed;
  twpa__heap heap;
} heaps;

static uint64_t key_of(const twpa__heap_node *node)
{
  return ((const item *)node)->key;
}

static bool before(const twpa__heap_node *a, const twpa__heap_node *b, void *arg)
{
  (void)arg;
  return key_of(a) < key_of(b);
}

static void sift_down(item **array, size_t n, size_t at)
{
  item *it = array[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= n)
      break;
    if (child + 1 < n && array[child + 1]->key < array[child]->key)
      child++;
    if (array[child]->key >= it->key)
      break;
    array[at] = array[child];
    at = child;
  }
  array[at] = it;
}

/* What a merge of streams does: the first one comes out and goes in again with a later key; streams run in stretches. */
static uint64_t later(heaps *h)
{
  uint64_t r = bench_random(&h->seed);
  return (r & 7) != 0 ? 0 : r >> 40;
}

static void run_array(void *arg, size_t n)
{
  heaps *h = arg;
  for (size_t i = 0; i < n; i++) {
    h->array[0]->key += later(h);
    sift_down(h->array, h->size, 0);
  }
  bench_use(h->array[0]->key);
}

static void run_pairing(void *arg, size_t n)
{
  heaps *h = arg;
  for (size_t i = 0; i < n; i++) {
    twpa__heap_node *first = twpa__heap_first(&h->heap);
    ((item *)first)->key += later(h);
    twpa__heap_update(&h->heap, first);
  }
  bench_use(key_of(twpa__heap_first(&h->heap)));
}

static void fill_heaps(void *arg, size_t n)
{
  heaps *h = arg;
  (void)n;
  h->seed = 1;
  twpa__heap_init(&h->heap, before, NULL);
  for (size_t i = 0; i < h->size; i++) {
    h->items[i].key = i;
    h->array[i] = &h->items[i];
    twpa__heap_push(&h->heap, &h->items[i].node);
  }
}

static void compare_heaps(size_t size)
{
  heaps h = {.size = size, .items = calloc(size, sizeof(item)), .array = calloc(size, sizeof(item *))};
  if (h.items == NULL || h.array == NULL)
    abort();
  char title[100];
  snprintf(title, sizeof title, "heap: merging %zu streams", size);
  bench_case cases[] = {{.name = "binary heap in an array", .prepare = fill_heaps, .run = run_array, .arg = &h},
                        {.name = "pairing heap", .prepare = fill_heaps, .run = run_pairing, .arg = &h}};
  bench_compare(title, "step", cases, 2, bench_size(1000000, 1000));
  free(h.items);
  free(h.array);
}

typedef struct maps {
  size_t size;
  uint64_t *sorted;
  uint64_t seed;
  twpa__mem mem;
  twpa__xidmap map;
  bench_memory memory;
} maps;

static void run_search(void *arg, size_t n)
{
  maps *m = arg;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t key = bench_random(&m->seed) % m->size * 3;
    size_t lo = 0, hi = m->size;
    while (lo < hi) {
      size_t mid = lo + (hi - lo) / 2;
      if (m->sorted[mid] < key)
        lo = mid + 1;
      else
        hi = mid;
    }
    sum += lo;
  }
  bench_use(sum);
}

static void run_map(void *arg, size_t n)
{
  maps *m = arg;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += (uintptr_t)twpa__xidmap_get(&m->map, bench_random(&m->seed) % m->size * 3);
  bench_use(sum);
}

/* The oldest transaction ends, a new one begins. */
static void run_churn(void *arg, size_t n)
{
  maps *m = arg;
  for (size_t i = 0; i < n; i++) {
    void *value = twpa__xidmap_remove(&m->map, i * 3);
    if (value == NULL || twpa__xidmap_add(&m->map, (i + m->size) * 3, value) != TWPA_OK)
      abort();
  }
}

static void fill_map(void *arg, size_t n)
{
  maps *m = arg;
  (void)n;
  twpa__xidmap_clear(&m->map);
  for (size_t i = 0; i < m->size; i++)
    if (twpa__xidmap_add(&m->map, i * 3, &m->sorted[i]) != TWPA_OK)
      abort();
  m->memory.calls = 0;
}

static void compare_maps(size_t size)
{
  maps m = {.size = size, .sorted = calloc(size, sizeof(uint64_t)), .seed = 1};
  twpa_allocator hooks = bench_allocator(&m.memory);
  if (m.sorted == NULL || twpa__mem_init(&m.mem, &hooks) != TWPA_OK)
    abort();
  for (size_t i = 0; i < size; i++)
    m.sorted[i] = i * 3;
  twpa__xidmap_init(&m.map, &m.mem);
  fill_map(&m, 0);
  char title[100];
  snprintf(title, sizeof title, "xid map: %zu open transactions", size);
  bench_case cases[] = {{.name = "search in a sorted array", .run = run_search, .arg = &m},
                        {.name = "map: look up", .run = run_map, .arg = &m},
                        {.name = "map: remove one and add one", .prepare = fill_map, .run = run_churn, .arg = &m}};
  size_t n = bench_size(1000000, 1000);
  if (bench_compare(title, "call", cases, 3, n)) {
    bench_note("memory", (double)m.memory.live / (double)size, "bytes per entry");
    bench_want("allocations per 1000 calls of the churn", (double)m.memory.calls * 1000 / (double)n, false, 0.01);
  }
  twpa__xidmap_clear(&m.map);
  free(m.sorted);
}

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "base modules");
  compare_heaps(8);
  compare_heaps(1000);
  compare_maps(100);
  compare_maps(100000);
  return bench_end();
}
