/* One walk over a transaction. */
#include "decode/walk.h"

#include "base/assert.h"

#include <string.h>

void twpa__walk_init(twpa__walk *walk, const twpa_allocator *hooks, const twpa_storage *storage)
{
  memset(walk, 0, sizeof *walk);
  walk->mem.hooks = *hooks;
  twpa__merge_init(&walk->merge, &walk->mem, storage);
  twpa__toast_init(&walk->toast, &walk->mem);
  twpa__tuplecids_init(&walk->tuplecids, &walk->mem);
}

/* All memory of a walk that is not open. */
static void give_up_memory(twpa__walk *walk)
{
  twpa__merge_free(&walk->merge);
  twpa__toast_free(&walk->toast);
  twpa__release(&walk->mem, walk->spec_rec, walk->spec_cap);
  walk->spec_rec = NULL;
  walk->spec_cap = 0;
}

twpa_status twpa__walk_start(twpa__walk *walk, twpa_txn *top)
{
  twpa__walk_stop(walk);
  twpa_status st = twpa__merge_start(&walk->merge, top);
  if (st != TWPA_OK) {
    give_up_memory(walk);
    return st;
  }
  walk->top = top;
  walk->version = twpa__txn_version(top);
  walk->txn = NULL;
  walk->lsn = TWPA_LSN_NONE;
  walk->command = top->command;
  walk->given = walk->last_of_row = false;
  walk->open = true;
  top->walk = walk;
  return TWPA_OK;
}

static void drop_toast(twpa__walk *walk)
{
  walk->toast_dropped += walk->toast.chunks;
  twpa__toast_reset(&walk->toast);
}

/* The change given out last is done with. */
static inline void settle(twpa__walk *walk)
{
  if (walk->last_of_row && walk->toast.values != NULL)
    twpa__toast_reset(&walk->toast);
  walk->given = walk->last_of_row = false;
  twpa__merge_step(&walk->merge);
}

/* The version that comes before the change, or NULL. */
static inline twpa__version *version_before(const twpa__walk *walk, const twpa__rec *rec)
{
  if (walk->version == NULL || walk->version == walk->top->last)
    return NULL;
  twpa__version *next = walk->version->next;
  return next != NULL && next->seq < rec->seq ? next : NULL;
}

static void pass_version(twpa__walk *walk, twpa__version *version, twpa_change *item)
{
  walk->version = version;
  walk->lsn = version->lsn;
  uint32_t kind = version->invals_len > 0 ? TWPA_INVALIDATION : 0;
  *item = (twpa_change){.kind = kind, .lsn = version->lsn, .xid = version->xid};
  if (version->invals != NULL)
    item->content = (twpa_bytes){version->invals, version->invals_len};
}

/* Keeps a speculative insert until it is confirmed. An earlier one that never was is dropped. */
static twpa_status hold_spec(twpa__walk *walk, const twpa_change *change, const twpa__rec *rec)
{
  void *copy = walk->spec_rec;
  twpa_status st = twpa__array_reserve(&walk->mem, &copy, &walk->spec_cap, rec->size, 1);
  walk->spec_rec = copy;
  if (st != TWPA_OK)
    return st;
  memcpy(copy, rec, rec->size);
  twpa_change held;
  if (!twpa__change_read(&held, copy, rec->size))
    return TWPA_E_CORRUPT;
  held.xid = change->xid;
  walk->spec = held;
  return TWPA_OK;
}

static twpa_status confirm_spec(twpa__walk *walk, twpa_change *item)
{
  if (walk->spec.kind == 0 || walk->spec.xid != item->xid)
    return TWPA_E_CORRUPT;
  *item = walk->spec;
  item->kind = TWPA_INSERT;
  walk->spec.kind = 0;
  return TWPA_OK;
}

static void abort_spec(twpa__walk *walk)
{
  if (walk->spec.kind == 0)
    return;
  walk->spec.kind = 0;
  drop_toast(walk);
}

/* The change is for the output; the walk stays at it until the next step. Rows are inserts, updates and deletes. */
static inline void give(twpa__walk *walk, const twpa_change *item, twpa_txn *txn)
{
  walk->given = true;
  walk->txn = txn;
  if (item->kind <= TWPA_DELETE) {
    walk->last_of_row = (item->flags & TWPA_CHANGE_MORE) == 0;
    if (item->kind == TWPA_DELETE && walk->last_of_row)
      walk->toast_dropped += walk->toast.chunks;
  }
}

/* A change that is no row which goes out as it is. */
static twpa_status step_other(twpa__walk *walk, twpa_change *item, twpa_txn *txn, const twpa__rec *rec)
{
  twpa_status st = TWPA_OK;
  switch (item->kind) {
  case TWPA_TOAST_CHUNK:
    st = twpa__toast_add(&walk->toast, item);
    break;
  case TWPA_SPEC_INSERT:
    st = hold_spec(walk, item, rec);
    break;
  case TWPA_SPEC_CONFIRM:
    walk->lsn = item->lsn;
    st = confirm_spec(walk, item);
    if (st == TWPA_OK)
      give(walk, item, txn);
    return st;
  case TWPA_SPEC_ABORT:
    abort_spec(walk);
    break;
  case TWPA_COMMAND:
    if (walk->command < item->command_id)
      walk->command = item->command_id;
    break;
  default:
    walk->lsn = item->lsn;
    give(walk, item, txn);
    return TWPA_OK;
  }
  if (st != TWPA_OK)
    return st;
  walk->lsn = item->lsn;
  *item = (twpa_change){.kind = 0, .lsn = item->lsn, .xid = item->xid, .origin = item->origin};
  twpa__merge_step(&walk->merge);
  return TWPA_OK;
}

twpa_status twpa__walk_step(twpa__walk *walk, twpa_change *item)
{
  if (walk->given)
    settle(walk);
  twpa_txn *txn;
  const twpa__rec *rec;
  twpa_status st = twpa__merge_peek(&walk->merge, item, &txn, &rec);
  if (st != TWPA_OK)
    return st;
  twpa__version *version = version_before(walk, rec);
  if (version != NULL) {
    pass_version(walk, version, item);
    return TWPA_OK;
  }
  if (item->kind > TWPA_DELETE)
    return step_other(walk, item, txn, rec);
  walk->lsn = item->lsn;
  give(walk, item, txn);
  return TWPA_OK;
}

void twpa__walk_stop(twpa__walk *walk)
{
  if (!walk->open)
    return;
  drop_toast(walk);
  twpa__tuplecids_clear(&walk->tuplecids);
  walk->spec.kind = 0;
  twpa__merge_stop(&walk->merge);
  if (!walk->top->taken)
    walk->top->walk = NULL;
  walk->top = NULL;
  walk->open = false;
  if (walk->mem.live_bytes > TWPA__WALK_KEPT)
    give_up_memory(walk);
}

void twpa__walk_free(twpa__walk *walk)
{
  twpa__walk_stop(walk);
  give_up_memory(walk);
}
