/* Files and segments. */
#include "decode/store.h"

#include "base/assert.h"

twpa__file *twpa__file_of(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  if (txn->file != NULL)
    return txn->file;
  twpa__file *file = twpa__zalloc(&r->mem, sizeof *file);
  if (file == NULL)
    return NULL;
  file->id = r->next_file++;
  file->owner = txn;
  twpa__list_push_back(&r->files, &file->link);
  r->nfiles++;
  txn->file = file;
  return file;
}

twpa_status twpa__segments_reserve(twpa_txn *txn)
{
  void *segments = txn->segments;
  twpa_status st = twpa__array_reserve(&txn->owner->mem, &segments, &txn->segments_cap, txn->nsegments + 1,
                                       sizeof *txn->segments);
  txn->segments = segments;
  return st;
}

void twpa__segments_add(twpa_txn *txn, const twpa__segment *segment)
{
  TWPA__ASSERT(txn->nsegments < txn->segments_cap && segment->offset == segment->file->size);
  txn->segments[txn->nsegments++] = *segment;
  segment->file->size += segment->bytes;
  segment->file->live_blocks++;
  txn->owner->storage_bytes += segment->bytes;
  txn->owner->storage_segments++;
}

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

void twpa__leftovers_retry(twpa_reorder *r)
{
  if (r->removing)
    return;
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&r->leftovers, it, tmp) {
    twpa__list_remove(it);
    twpa__file *file = TWPA__CONTAINER_OF(it, twpa__file, link);
    if (!remove_now(r, file)) {
      twpa__list_insert_before(tmp, it);
      return;
    }
    r->nleftovers--;
  }
}

void twpa__leftovers_free(twpa_reorder *r)
{
  twpa__leftovers_retry(r);
  twpa__link *link;
  while ((link = twpa__list_first(&r->leftovers)) != NULL) {
    twpa__list_remove(link);
    twpa__release(&r->mem, TWPA__CONTAINER_OF(link, twpa__file, link), sizeof(twpa__file));
  }
  r->nleftovers = 0;
}

void twpa__file_remove(twpa_reorder *r, twpa__file *file)
{
  TWPA__ASSERT(file->live_blocks == 0);
  file->owner->file = NULL;
  file->owner = NULL;
  twpa__list_remove(&file->link);
  r->nfiles--;
  twpa__leftovers_retry(r);
  if (!r->removing && remove_now(r, file))
    return;
  twpa__list_push_back(&r->leftovers, &file->link);
  r->nleftovers++;
}

void twpa__segments_drop(twpa_txn *txn)
{
  twpa_reorder *r = txn->owner;
  for (size_t i = 0; i < txn->nsegments; i++) {
    twpa__file *file = txn->segments[i].file;
    r->storage_bytes -= txn->segments[i].bytes;
    r->storage_segments--;
    if (--file->live_blocks == 0)
      twpa__file_remove(r, file);
  }
  txn->nsegments = 0;
  if (txn->file != NULL && txn->file->live_blocks == 0)
    twpa__file_remove(r, txn->file);
  twpa__release(&r->mem, txn->segments, txn->segments_cap * sizeof *txn->segments);
  txn->segments = NULL;
  txn->segments_cap = 0;
}
