/*
 * The reorder buffer: calls, and making, finding and dropping of transactions.
 *
 * A transaction comes into being with the first record that names it and ends with a commit, an abort, being
 * forgotten, or being taken. In between it collects changes in an arena of its own, which may be emptied by
 * spilling (the changes are in storage then) or by streaming (the consumer has them). Giving it out reads what is
 * there without changing it, so that a delivery that fails can be repeated; only success drops the changes.
 *
 * Cost: a change is one copy into an arena; finding its transaction is one probe of a table. Giving out
 * n changes of s subtransactions is O(n log s). Chunks and records of transactions that have ended are kept for the next
 * ones, within limits, so that transactions that come and go do not ask the allocator.
 */
#include "decode/reorder.h"

#include "base/assert.h"
#include "base/sized.h"
#include "decode/store.h"

#include <string.h>

#define DISTRIBUTED_DEFAULT ((size_t)8 << 20)

static bool larger_tree(const twpa_txn *a, const twpa_txn *b)
{
  return a->tree_bytes != b->tree_bytes ? a->tree_bytes > b->tree_bytes : a->xid < b->xid;
}

static bool sizes_before(const twpa__heap_node *a, const twpa__heap_node *b, void *arg)
{
  (void)arg;
  return larger_tree((const twpa_txn *)(const void *)((const char *)a - offsetof(twpa_txn, in_sizes)),
                     (const twpa_txn *)(const void *)((const char *)b - offsetof(twpa_txn, in_sizes)));
}

static bool streams_before(const twpa__heap_node *a, const twpa__heap_node *b, void *arg)
{
  (void)arg;
  return larger_tree((const twpa_txn *)(const void *)((const char *)a - offsetof(twpa_txn, in_streams)),
                     (const twpa_txn *)(const void *)((const char *)b - offsetof(twpa_txn, in_streams)));
}

/* --- the buffer --- */

static twpa_status check_output(const twpa_output *o, const twpa_reorder_options *options)
{
  if (o->take == NULL && (o->begin == NULL || o->change == NULL || o->commit == NULL))
    return TWPA_E_INVAL;
  if (options->streaming != 0 && (o->stream_start == NULL || o->stream_stop == NULL || o->stream_abort == NULL ||
                                  o->stream_commit == NULL || o->stream_change == NULL))
    return TWPA_E_INVAL;
  /* What is given out with a commit and left out of a stream, or the other way, would hang on how much memory there is. */
  if (options->streaming != 0 && ((o->truncate == NULL) != (o->stream_truncate == NULL) ||
                                  (o->message == NULL) != (o->stream_message == NULL)))
    return TWPA_E_INVAL;
  if (options->two_phase != 0 && (o->begin_prepare == NULL || o->prepare == NULL || o->commit_prepared == NULL ||
                                  o->rollback_prepared == NULL || o->change == NULL))
    return TWPA_E_INVAL;
  if (options->two_phase != 0 && options->streaming != 0 && o->stream_prepare == NULL)
    return TWPA_E_INVAL;
  return options->streaming > 1 || options->two_phase > 1 ? TWPA_E_INVAL : TWPA_OK;
}

/* Reads all tables of the caller into a buffer that is not on the heap yet. */
static twpa_status read_options(twpa_reorder *r, const twpa_reorder_options *options, const twpa_output *output)
{
  twpa_reorder_options own;
  twpa_status st = twpa__read_sized(&own, sizeof own, options, sizeof own);
  if (st == TWPA_OK)
    st = twpa__read_sized(&r->output, sizeof r->output, output, sizeof r->output);
  if (st == TWPA_OK)
    st = twpa__read_sized(&r->hooks, sizeof r->hooks, own.hooks, sizeof r->hooks);
  if (st == TWPA_OK)
    st = twpa__read_sized(&r->storage_hooks, sizeof r->storage_hooks, own.storage, sizeof r->storage_hooks);
  if (st != TWPA_OK)
    return st;
  if (own.reserved != 0)
    return TWPA_E_INVAL;
  if (own.storage != NULL && (r->storage_hooks.write == NULL || r->storage_hooks.read == NULL ||
                              r->storage_hooks.remove == NULL))
    return TWPA_E_INVAL;
  r->storage = own.storage != NULL ? &r->storage_hooks : NULL;
  r->can_stream = r->streaming = own.streaming != 0;
  r->two_phase = own.two_phase != 0;
  r->two_phase_at = own.two_phase_at;
  r->memory_limit = own.memory_bytes != 0 ? own.memory_bytes : TWPA_MEMORY_DEFAULT;
  r->tuplecids_max = own.tuplecids_max != 0 ? own.tuplecids_max : UINT64_MAX;
  r->versions.limit = own.distributed_bytes != 0 ? own.distributed_bytes : DISTRIBUTED_DEFAULT;
  return check_output(&r->output, &own);
}

twpa_status twpa_reorder_new(twpa_reorder **reorder, const twpa_reorder_options *options, const twpa_output *output,
                             void *user, const twpa_allocator *allocator)
{
  if (reorder == NULL || output == NULL)
    return TWPA_E_INVAL;
  twpa_reorder own;
  memset(&own, 0, sizeof own);
  twpa_status st = twpa__mem_init(&own.mem, allocator);
  if (st == TWPA_OK)
    st = read_options(&own, options, output);
  if (st != TWPA_OK)
    return st;
  twpa_reorder *r = twpa__alloc(&own.mem, sizeof *r);
  if (r == NULL)
    return TWPA_E_NOMEM;
  *r = own;
  if (own.storage != NULL)
    r->storage = &r->storage_hooks;
  st = twpa__versions_init(&r->versions, &r->mem, own.versions.limit);
  if (st != TWPA_OK) {
    twpa__release(&own.mem, r, sizeof *r);
    return st;
  }
  r->output_user = user;
  twpa__chunks_init(&r->chunks, &r->mem);
  twpa__account_spares(r);
  twpa__xidmap_init(&r->by_xid, &r->mem);
  twpa__list_init(&r->open);
  twpa__list_init(&r->catalog);
  twpa__list_init(&r->touched);
  twpa__list_init(&r->files);
  twpa__list_init(&r->leftovers);
  twpa__heap_init(&r->sizes, sizes_before, NULL);
  twpa__heap_init(&r->streams, streams_before, NULL);
  twpa__walk_init(&r->walk, &r->mem.hooks, r->storage);
  *reorder = r;
  return TWPA_OK;
}

/* Records of transactions that are kept for the next ones. */
#define SPARE_RECORDS 32

static twpa_txn *take_record(twpa_reorder *r)
{
  twpa_txn *txn = r->spare;
  if (txn == NULL)
    return twpa__zalloc(&r->mem, sizeof *txn);
  r->spare = txn->top;
  r->nspare--;
  memset(txn, 0, sizeof *txn);
  return txn;
}

static void give_record_back(twpa_reorder *r, twpa_txn *txn)
{
  if (r->closed || r->nspare == SPARE_RECORDS) {
    twpa__release(&r->mem, txn, sizeof *txn);
    return;
  }
  txn->top = r->spare;
  r->spare = txn;
  r->nspare++;
}

void twpa__reorder_close(twpa_reorder *r)
{
  if (!r->closed || r->ntaken > 0)
    return;
  if (r->storage != NULL)
    twpa__leftovers_free(r);
  twpa__versions_free(&r->versions);
  TWPA__ASSERT(r->nfiles == 0 && r->mem.live_bytes == sizeof *r);
  twpa__mem mem = r->mem;
  twpa__release(&mem, r, sizeof *r);
}

void twpa_reorder_free(twpa_reorder *r)
{
  if (r == NULL || r->busy || r->closed)
    return;
  r->busy = true; /* removing files calls the host */
  twpa__link *link;
  while ((link = twpa__list_first(&r->open)) != NULL)
    twpa__txn_drop(TWPA__CONTAINER_OF(link, twpa_txn, node));
  TWPA__ASSERT(r->by_xid.count == 0);
  twpa__xidmap_clear(&r->by_xid);
  twpa__walk_free(&r->walk);
  twpa__chunks_limit(&r->chunks, 0);
  r->closed = true;
  while (r->spare != NULL) {
    twpa_txn *txn = r->spare;
    r->spare = txn->top;
    twpa__release(&r->mem, txn, sizeof *txn);
  }
  r->busy = false;
  twpa__reorder_close(r);
}

/* --- transactions --- */

/*
 * What has to be fetched are three things, each of which tells where the next one is. So an id that is announced goes
 * through three steps, one with every call: when a step is done, what the one before has asked for is there.
 */
void twpa_reorder_prefetch(twpa_reorder *r, twpa_xid xid)
{
  if (r == NULL)
    return;
  const twpa__xidmap *map = &r->by_xid;
  twpa__xidmap_prefetch(map, xid);
  const twpa_txn *next = twpa__xidmap_peek(map, r->expected[(r->nexpected - TWPA__EXPECTED / 2) % TWPA__EXPECTED]);
  if (next != NULL)
    twpa__txn_prefetch(next);
  const twpa_txn *now = twpa__xidmap_peek(map, r->expected[r->nexpected % TWPA__EXPECTED]);
  if (now != NULL)
    twpa__arena_prefetch(&now->arena);
  r->expected[r->nexpected++ % TWPA__EXPECTED] = xid;
}

twpa_txn *twpa__txn_make(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn)
{
  twpa_txn *txn = take_record(r);
  if (txn == NULL)
    return NULL;
  if (twpa__xidmap_add(&r->by_xid, xid, txn) != TWPA_OK) {
    give_record_back(r, txn);
    return NULL;
  }
  txn->owner = r;
  txn->xid = xid;
  txn->first_lsn = lsn;
  txn->restart_lsn = r->restart_lsn;
  twpa__list_init(&txn->subs);
  twpa__list_init(&txn->busy);
  twpa__list_init(&txn->mem);
  twpa__arena_init(&txn->arena, &r->chunks);
  return txn;
}

void twpa__txn_unmake(twpa_txn *txn)
{
  TWPA__ASSERT(!twpa__link_is_linked(&txn->node) && txn->arena.first == NULL);
  twpa__xidmap_remove(&txn->owner->by_xid, txn->xid);
  give_record_back(txn->owner, txn);
}

void twpa__txn_open(twpa_txn *txn)
{
  twpa__list_push_back(&txn->owner->open, &txn->node);
  txn->owner->nopen++;
}

void twpa__txn_drop_changes(twpa_txn *txn)
{
  size_t bytes = txn->arena.bytes;
  twpa__arena_clear(&txn->arena);
  txn->epoch++;
  twpa__txn_top(txn)->tree_changes -= twpa__txn_changes(txn);
  txn->nmem = txn->nstored = 0;
  twpa__account_lists(txn);
  twpa__account_arena(txn, bytes);
  twpa__segments_drop(txn);
}

void twpa__tree_drop_changes(twpa_txn *top)
{
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->busy, it, tmp)
    twpa__txn_drop_changes(TWPA__CONTAINER_OF(it, twpa_txn, in_busy));
  twpa__segments_drop(top); /* a file of it that holds nothing */
}

static void drop_tuplecids(twpa_txn *txn)
{
  if (!twpa__txn_top(txn)->taken)
    txn->owner->tuplecids -= txn->ntuplecids;
  twpa__release(&txn->owner->mem, txn->tuplecids, txn->tuplecids_cap * sizeof *txn->tuplecids);
  txn->tuplecids = NULL;
  txn->ntuplecids = txn->tuplecids_cap = 0;
}

void twpa__tree_drop_tuplecids(twpa_txn *top)
{
  drop_tuplecids(top);
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->subs, it, tmp)
    drop_tuplecids(TWPA__CONTAINER_OF(it, twpa_txn, node));
}

void twpa__txn_mark_aborted(twpa_txn *txn)
{
  txn->flags |= TWPA__TXN_ABORTED;
  twpa__tree_drop_tuplecids(txn);
}

/* Frees the record of a transaction that is in no list and has no changes. */
static void free_record(twpa_txn *txn)
{
  twpa__mem *mem = &txn->owner->mem;
  drop_tuplecids(txn);
  twpa__release(mem, txn->invals, txn->invals_cap);
  twpa__release(mem, txn->gid, txn->gid_len);
  give_record_back(txn->owner, txn);
}

/* Counted no longer: it is the host's now. */
static void uncount(twpa_txn *txn)
{
  txn->owner->tuplecids -= txn->ntuplecids;
}

/* Out of the map and the list of catalog changes. */
static void hide(twpa_txn *txn)
{
  twpa__xidmap_remove(&txn->owner->by_xid, txn->xid);
  if (twpa__link_is_linked(&txn->in_catalog))
    twpa__list_remove(&txn->in_catalog);
}

static void drop_sub(twpa_txn *sub)
{
  twpa_txn *top = sub->top;
  twpa__txn_drop_changes(sub);
  if (top->toast_xid == sub->xid)
    top->toast_xid = TWPA_XID_NONE;
  if (top->spec_xid == sub->xid)
    top->spec_xid = TWPA_XID_NONE;
  twpa__list_remove(&sub->node);
  top->nsubs--;
  sub->owner->nsubs--;
  hide(sub);
  free_record(sub);
  twpa__account_heaps(top);
}

void twpa__txn_unuse_base(twpa_txn *top, bool trim)
{
  twpa_reorder *r = top->owner;
  if (top->base == NULL)
    return;
  top->base->users--;
  top->base = NULL;
  twpa__versions_trim(&r->versions, trim && r->ntaken == 0);
}

void twpa__txn_drop(twpa_txn *txn)
{
  if (txn->top != NULL) {
    drop_sub(txn);
    return;
  }
  twpa__link *link;
  while ((link = twpa__list_first(&txn->subs)) != NULL)
    drop_sub(TWPA__CONTAINER_OF(link, twpa_txn, node));
  twpa__txn_drop_changes(txn);
  twpa__txn_unuse_base(txn, true);
  twpa__list_remove(&txn->node);
  txn->owner->nopen--;
  hide(txn);
  free_record(txn);
}

void twpa__txn_detach(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->subs, it, tmp) {
    twpa_txn *sub = TWPA__CONTAINER_OF(it, twpa_txn, node);
    uncount(sub);
    hide(sub);
  }
  uncount(top);
  hide(top);
  twpa__list_remove(&top->node);
  r->nopen--;
  r->nsubs -= top->nsubs;
  r->memory_bytes -= top->tree_bytes;
  r->ntaken++;
  TWPA__ASSERT(top->taken);
  twpa__account_heaps(top);
}

static void free_taken(twpa_txn *txn)
{
  twpa__arena_clear(&txn->arena);
  twpa__segments_drop(txn);
  free_record(txn);
}

void twpa__txn_release_taken(twpa_txn *top, bool trim)
{
  twpa_reorder *r = top->owner;
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->subs, it, tmp)
    free_taken(TWPA__CONTAINER_OF(it, twpa_txn, node));
  r->ntaken--;
  twpa__txn_unuse_base(top, trim);
  free_taken(top);
}
