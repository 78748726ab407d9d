/* Files and segments. */
#include "decode/store.h"

#include "base/assert.h"

/* --- removing --- */

/* A file of size 0 may have been begun by a write that failed: it is removed too. */
static bool remove_now(twpa_reorder *r, twpa__file *file)
{
  r->removing = true; /* the hook may release a taken transaction, which has files of its own */
  int result = r->storage->remove(r->storage->user, file->id);
  r->removing = false;
  if (result != 0)
    return false;
  twpa__release(&r->mem, file, sizeof *file);
  return true;
}

/* Up to the first that fails again, which goes to the end: it must not keep those behind it from their turn. */
void twpa__leftovers_retry(twpa_reorder *r)
{
  if (r->removing)
    return;
  twpa__link *link;
  while ((link = twpa__list_first(&r->leftovers)) != NULL) {
    twpa__list_remove(link);
    if (!remove_now(r, TWPA__CONTAINER_OF(link, twpa__file, link))) {
      twpa__list_push_back(&r->leftovers, link);
      return;
    }
    r->nleftovers--;
  }
}

/* The file has no blocks any more. */
static void remove_file(twpa_reorder *r, twpa__file *file)
{
  TWPA__ASSERT(file->live_blocks == 0);
  if (file->owner != NULL)
    file->owner->file = NULL;
  else if (r->shared == file)
    r->shared = NULL;
  file->owner = NULL;
  twpa__list_remove(&file->link);
  r->nfiles--;
  twpa__leftovers_retry(r);
  if (!r->removing && remove_now(r, file))
    return;
  twpa__list_push_back(&r->leftovers, &file->link);
  r->nleftovers++;
}

/* A write that failed has left it: its first block would be that of the next transaction that is small. */
static void remove_empty_shared(twpa_reorder *r)
{
  if (r->shared != NULL && r->shared->live_blocks == 0)
    remove_file(r, r->shared);
}

void twpa__leftovers_free(twpa_reorder *r)
{
  remove_empty_shared(r);
  twpa__leftovers_retry(r);
  twpa__link *link;
  while ((link = twpa__list_first(&r->leftovers)) != NULL) {
    twpa__list_remove(link);
    twpa__release(&r->mem, TWPA__CONTAINER_OF(link, twpa__file, link), sizeof(twpa__file));
  }
  r->nleftovers = 0;
}

/* --- files and segments --- */

/* A transaction with so much to spill, in itself or over all of its tree, has a file of its own. */
#define OWN_FILE_BYTES ((size_t)256 << 10)
/* A shared file of this size takes no more transactions. */
#define SHARED_FILE_BYTES ((uint64_t)1 << 20)

static twpa__file *make_file(twpa_reorder *r, twpa_txn *owner)
{
  if (owner == NULL)
    remove_empty_shared(r); /* the one that is full: nobody else would remove it */
  twpa__file *file = twpa__zalloc(&r->mem, sizeof *file);
  if (file == NULL)
    return NULL;
  file->id = ++r->last_file;
  file->owner = owner;
  twpa__list_push_back(&r->files, &file->link);
  r->nfiles++;
  if (owner != NULL)
    owner->file = file;
  else
    r->shared = file;
  return file;
}

/* The shared file that a tree may write to: the one that it is in already, else the open one. NULL: none that is there. */
static twpa__file *open_shared(const twpa_reorder *r, const twpa_txn *top)
{
  twpa__file *file = r->shared;
  if (file == NULL || file->size >= SHARED_FILE_BYTES || (top->shared_id != 0 && top->shared_id != file->id))
    return NULL;
  return file;
}

twpa__file *twpa__file_for(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  twpa_txn *top = twpa__txn_top(txn);
  if (txn->file != NULL)
    return txn->file;
  if (twpa__arena_used(&txn->arena) >= OWN_FILE_BYTES)
    return make_file(r, txn);
  if (top->file != NULL)
    return top->file;
  twpa__file *file = open_shared(r, top);
  if (top->tree_bytes >= OWN_FILE_BYTES || (file == NULL && top->shared_id != 0))
    return make_file(r, top);
  return file != NULL ? file : make_file(r, NULL);
}

twpa_status twpa__segments_reserve(twpa_txn *txn, twpa__file *file)
{
  void *segments = txn->segments;
  twpa_status st = twpa__array_reserve(&txn->owner->mem, &segments, &txn->segments_cap, txn->nsegments + 1,
                                       sizeof *txn->segments);
  txn->segments = segments;
  file->live_blocks += st == TWPA_OK;
  return st;
}

void twpa__segments_unreserve(twpa__file *file)
{
  TWPA__ASSERT(file->live_blocks > 0);
  file->live_blocks--;
}

void twpa__segments_add(twpa_txn *txn, const twpa__segment *segment)
{
  twpa__file *file = segment->file;
  TWPA__ASSERT(txn->nsegments < txn->segments_cap && segment->offset == file->size && file->live_blocks > 0);
  txn->segments[txn->nsegments++] = *segment;
  file->size += segment->room;
  if (file->owner == NULL)
    twpa__txn_top(txn)->shared_id = file->id;
  txn->owner->storage_bytes += segment->room;
  txn->owner->storage_segments++;
}

void twpa__segments_drop(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  for (size_t i = 0; i < txn->nsegments; i++) {
    twpa__file *file = txn->segments[i].file;
    r->storage_bytes -= txn->segments[i].room;
    r->storage_segments--;
    if (--file->live_blocks == 0)
      remove_file(r, file);
  }
  txn->nsegments = 0;
  if (txn->file != NULL && txn->file->live_blocks == 0)
    remove_file(r, txn->file);
  remove_empty_shared(r);
  twpa__release(&r->mem, txn->segments, txn->segments_cap * sizeof *txn->segments);
  txn->segments = NULL;
  txn->segments_cap = 0;
}
