/* The plain buffer. */
#include "plain_buffer.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef struct plain_txn {
  UT_hash_handle hh;
  uint64_t xid;
  plain_change *first, **end;
  size_t nchanges;
  struct plain_txn *top;
  struct plain_txn *subs, *next_sub; /* the newest first */
  size_t nsubs;
} plain_txn;

struct plain_buffer {
  plain_txn *txns;
  plain_txn *last;
  plain_output output;
  void *user;
  plain_change **heap; /* of the first changes of transactions */
  size_t heap_cap;
};

static void *must(void *p)
{
  if (p == NULL)
    abort();
  return p;
}

plain_buffer *plain_new(plain_output output, void *user)
{
  plain_buffer *b = must(calloc(1, sizeof *b));
  b->output = output;
  b->user = user;
  return b;
}

static plain_txn *find(plain_buffer *b, uint64_t xid)
{
  if (b->last != NULL && b->last->xid == xid)
    return b->last;
  plain_txn *txn;
  HASH_FIND(hh, b->txns, &xid, sizeof xid, txn);
  if (txn != NULL)
    b->last = txn;
  return txn;
}

static plain_txn *find_or_make(plain_buffer *b, uint64_t xid)
{
  plain_txn *txn = find(b, xid);
  if (txn != NULL)
    return txn;
  txn = must(calloc(1, sizeof *txn));
  txn->xid = xid;
  txn->end = &txn->first;
  HASH_ADD(hh, b->txns, xid, sizeof txn->xid, txn);
  b->last = txn;
  return txn;
}

void plain_queue(plain_buffer *b, uint64_t lsn, uint64_t xid, uint64_t top, uint32_t kind, const twpa_locator *locator,
                 const void *row, size_t len)
{
  plain_txn *txn = find_or_make(b, xid);
  if (top != 0 && top != xid && txn->top == NULL) {
    txn->top = find_or_make(b, top);
    txn->next_sub = txn->top->subs;
    txn->top->subs = txn;
    txn->top->nsubs++;
  }
  plain_change *change = must(malloc(sizeof *change + len));
  change->next = NULL;
  change->lsn = lsn;
  change->xid = xid;
  change->kind = kind;
  change->locator = *locator;
  change->origin = 0;
  change->len = (uint32_t)len;
  memcpy(change->row, row, len);
  *txn->end = change;
  txn->end = &change->next;
  txn->nchanges++;
}

static plain_change *give(plain_buffer *b, plain_change *change)
{
  plain_change *next = change->next;
  b->output(b->user, change);
  free(change);
  return next;
}

static void sift_down(plain_change **heap, size_t n, size_t at)
{
  plain_change *change = heap[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= n)
      break;
    if (child + 1 < n && heap[child + 1]->lsn < heap[child]->lsn)
      child++;
    if (heap[child]->lsn >= change->lsn)
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = change;
}

static void merge(plain_buffer *b, plain_txn *top)
{
  if (b->heap_cap <= top->nsubs) {
    b->heap_cap = top->nsubs + 1;
    b->heap = must(realloc(b->heap, b->heap_cap * sizeof *b->heap));
  }
  size_t n = 0;
  if (top->first != NULL)
    b->heap[n++] = top->first;
  for (plain_txn *sub = top->subs; sub != NULL; sub = sub->next_sub)
    if (sub->first != NULL)
      b->heap[n++] = sub->first;
  for (size_t i = n / 2; i-- > 0;)
    sift_down(b->heap, n, i);
  while (n > 0) {
    plain_change *next = give(b, b->heap[0]);
    b->heap[0] = next != NULL ? next : b->heap[--n];
    if (n > 1)
      sift_down(b->heap, n, 0);
  }
}

static void drop(plain_buffer *b, plain_txn *txn)
{
  if (b->last == txn)
    b->last = NULL;
  HASH_DEL(b->txns, txn);
  free(txn);
}

void plain_commit(plain_buffer *b, uint64_t xid)
{
  plain_txn *top = find(b, xid);
  if (top == NULL)
    return;
  if (top->subs != NULL)
    merge(b, top);
  else
    for (plain_change *change = top->first; change != NULL;)
      change = give(b, change);
  for (plain_txn *sub = top->subs; sub != NULL;) {
    plain_txn *next = sub->next_sub;
    drop(b, sub);
    sub = next;
  }
  drop(b, top);
}

void plain_free(plain_buffer *b)
{
  plain_txn *txn, *tmp;
  HASH_ITER(hh, b->txns, txn, tmp) {
    for (plain_change *change = txn->first; change != NULL;) {
      plain_change *next = change->next;
      free(change);
      change = next;
    }
    HASH_DEL(b->txns, txn);
    free(txn);
  }
  free(b->heap);
  free(b);
}
