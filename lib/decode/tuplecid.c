/* A sorted array. Heap sort: in place, no recursion, no worst case. */
#include "decode/tuplecid.h"

#include <string.h>

void twpa__tuplecids_init(twpa__tuplecids *cids, twpa__mem *mem)
{
  *cids = (twpa__tuplecids){.mem = mem};
}

static int compare_u32(uint32_t a, uint32_t b)
{
  return (a > b) - (a < b);
}

static int compare_place(const twpa_new_cid *a, const twpa_locator *locator, const twpa_tid *tid)
{
  int c = compare_u32(a->locator.space, locator->space);
  if (c == 0)
    c = compare_u32(a->locator.database, locator->database);
  if (c == 0)
    c = compare_u32(a->locator.file, locator->file);
  if (c == 0)
    c = compare_u32(a->tid.block, tid->block);
  return c != 0 ? c : compare_u32(a->tid.line, tid->line);
}

static bool less(const twpa__tuplecid *a, const twpa__tuplecid *b)
{
  int c = compare_place(&a->cid, &b->cid.locator, &b->cid.tid);
  return c != 0 ? c < 0 : a->seq < b->seq;
}

/* Lets the element at i sink in a heap whose largest element is at 0. */
static void sink(twpa__tuplecid *heap, size_t n, size_t i)
{
  twpa__tuplecid held = heap[i];
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= n)
      break;
    if (child + 1 < n && less(&heap[child], &heap[child + 1]))
      child++;
    if (!less(&held, &heap[child]))
      break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = held;
}

static void sort(twpa__tuplecid *items, size_t n)
{
  for (size_t i = n / 2; i-- > 0;)
    sink(items, n, i);
  while (n-- > 1) {
    twpa__tuplecid last = items[n];
    items[n] = items[0];
    items[0] = last;
    sink(items, n, 0);
  }
}

static size_t copy(twpa__tuplecid *to, const twpa_txn *txn)
{
  if (to != NULL && txn->ntuplecids > 0)
    memcpy(to, txn->tuplecids, txn->ntuplecids * sizeof *to);
  return txn->ntuplecids;
}

/* Copies all records of a tree to `to`, if that is not NULL; how many there are. */
static size_t collect(twpa__tuplecid *to, const twpa_txn *top)
{
  size_t n = copy(to, top);
  for (const twpa__link *it = top->subs.next; it != &top->subs; it = it->next) {
    const twpa_txn *sub = (const twpa_txn *)(const void *)((const char *)it - offsetof(twpa_txn, node));
    n += copy(to != NULL ? to + n : NULL, sub);
  }
  return n;
}

twpa_status twpa__tuplecids_build(twpa__tuplecids *cids, const twpa_txn *top)
{
  if (cids->built)
    return TWPA_OK;
  size_t n = collect(NULL, top);
  if (n > 0) {
    cids->sorted = twpa__alloc(cids->mem, n * sizeof *cids->sorted);
    if (cids->sorted == NULL)
      return TWPA_E_NOMEM;
    collect(cids->sorted, top);
    sort(cids->sorted, n);
  }
  cids->count = n;
  cids->built = true;
  return TWPA_OK;
}

const twpa__tuplecid *twpa__tuplecids_find(const twpa__tuplecids *cids, const twpa_locator *locator,
                                           const twpa_tid *tid)
{
  size_t low = 0, high = cids->count; /* the first one behind the row version */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_place(&cids->sorted[middle].cid, locator, tid) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || compare_place(&cids->sorted[low - 1].cid, locator, tid) != 0)
    return NULL;
  return &cids->sorted[low - 1];
}

void twpa__tuplecids_clear(twpa__tuplecids *cids)
{
  twpa__release(cids->mem, cids->sorted, cids->count * sizeof *cids->sorted);
  *cids = (twpa__tuplecids){.mem = cids->mem};
}
