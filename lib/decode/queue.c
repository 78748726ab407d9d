/* Changes come in. */
#include "decode/reorder.h"

#include "base/assert.h"
#include "decode/evict.h"

#include <string.h>

bool twpa__origin_filtered(const twpa_reorder *r, uint32_t origin)
{
  return r->output.filter_origin != NULL && r->output.filter_origin(r->output_user, origin) != 0;
}

/* A transaction that a record is about, before anything has happened to it. */
typedef struct place {
  twpa_txn *txn;
  bool made;
} place;

static twpa_status place_find(place *p, twpa_reorder *r, const twpa_record *record)
{
  if (record->xid < TWPA_XID_FIRST_NORMAL)
    return TWPA_E_INVAL;
  p->txn = twpa__txn_find(r, record->xid);
  p->made = p->txn == NULL;
  if (p->made)
    p->txn = twpa__txn_make(r, record->xid, record->lsn);
  return p->txn != NULL ? TWPA_OK : TWPA_E_NOMEM;
}

/*
 * Kinship; then the transaction is in its list. What a call does after that may fail, but this stays: it is true
 * whatever becomes of the call. So nothing may be fed from now on that lies before the record.
 */
static twpa_status place_settle(place *p, twpa_reorder *r, const twpa_record *record)
{
  twpa_status st = TWPA_OK;
  if (record->top_xid == record->xid && p->txn->top != NULL)
    return TWPA_E_STATE;
  if (record->top_xid != TWPA_XID_NONE && record->top_xid != record->xid)
    st = twpa__kin_link(r, record->top_xid, p->txn, record->lsn);
  else if (p->made)
    twpa__txn_open(p->txn);
  if (st == TWPA_OK)
    r->last_lsn = record->lsn;
  return st;
}

static void place_undo(place *p)
{
  if (p->made)
    twpa__txn_unmake(p->txn);
}

/* The top that the transaction has, or will have once it is settled; NULL: one that is not there yet. */
static twpa_txn *place_top(const place *p, twpa_reorder *r, const twpa_record *record)
{
  if (p->txn->top != NULL || record->top_xid == TWPA_XID_NONE || record->top_xid == record->xid)
    return twpa__txn_top(p->txn);
  return twpa__txn_find(r, record->top_xid);
}

twpa_status twpa__reorder_touch(twpa_reorder *r, const twpa_record *record)
{
  place p;
  twpa_status st = place_find(&p, r, record);
  if (st != TWPA_OK)
    return st;
  st = place_settle(&p, r, record);
  if (st != TWPA_OK)
    place_undo(&p);
  return st;
}

twpa_status twpa_reorder_touch(twpa_reorder *r, const twpa_record *record)
{
  if (record == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  if (record->xid != TWPA_XID_NONE)
    st = twpa__reorder_touch(r, record);
  return twpa__reorder_leave(r, record, st);
}

twpa_status twpa_reorder_assign(twpa_reorder *r, twpa_xid top, twpa_xid sub, twpa_lsn lsn)
{
  if (sub < TWPA_XID_FIRST_NORMAL || top < TWPA_XID_FIRST_NORMAL || top == sub)
    return TWPA_E_INVAL;
  twpa_record record = {.lsn = lsn, .xid = sub, .top_xid = top};
  return twpa_reorder_touch(r, &record);
}

/* --- what a change does to the states of its top --- */

/* The states that a change may alter, to put them back. */
typedef struct states {
  uint32_t flags;
  twpa_xid toast_xid, spec_xid;
  bool based;
} states;

static const uint32_t of_change = TWPA__TXN_CONTENT | TWPA__TXN_STREAMABLE;

static states states_of(const twpa_txn *top)
{
  return (states){top->flags & of_change, top->toast_xid, top->spec_xid, top->base != NULL};
}

/* Whose incomplete row it was, unless that was dropped in the meantime. */
static twpa_xid still_partial(twpa_reorder *r, twpa_xid xid)
{
  const twpa_txn *txn = xid != TWPA_XID_NONE ? twpa__txn_find(r, xid) : NULL;
  return txn != NULL && !twpa__txn_is(txn, TWPA__TXN_ABORTED) ? xid : TWPA_XID_NONE;
}

static void states_restore(twpa_txn *top, const states *old)
{
  top->flags = (top->flags & ~of_change) | old->flags;
  top->toast_xid = still_partial(top->owner, old->toast_xid);
  top->spec_xid = still_partial(top->owner, old->spec_xid);
  if (!old->based)
    twpa__txn_unuse_base(top, true);
}

static void use_base(twpa_txn *top)
{
  if (top->base != NULL)
    return;
  top->base = top->owner->versions.last;
  top->base->users++;
}

/* A row in several pieces must not be torn apart by streaming: remembers whose it is. */
static void note_partial(twpa_txn *top, const twpa_txn *txn, const twpa_change *change)
{
  if (change->kind == TWPA_TOAST_CHUNK)
    top->toast_xid = txn->xid;
  else if (twpa__kind_is_row(change->kind) && (change->flags & TWPA_CHANGE_MORE) == 0)
    top->toast_xid = TWPA_XID_NONE;
  if (change->kind == TWPA_SPEC_INSERT) {
    top->spec_xid = txn->xid;
  } else if (change->kind == TWPA_SPEC_CONFIRM) {
    top->spec_xid = TWPA_XID_NONE;
  } else if (change->kind == TWPA_SPEC_ABORT && top->spec_xid != TWPA_XID_NONE) {
    top->spec_xid = TWPA_XID_NONE;
    top->toast_xid = TWPA_XID_NONE;
  }
}

static void note_states(twpa_txn *top, const twpa_txn *txn, const twpa_change *change)
{
  states old = states_of(top);
  bool row = twpa__kind_is_row(change->kind);
  if (row || change->kind == TWPA_TRUNCATE || change->kind == TWPA_MESSAGE) {
    use_base(top);
    top->flags |= TWPA__TXN_CONTENT;
    if ((change->flags & TWPA_CHANGE_QUIET) == 0)
      top->flags |= TWPA__TXN_STREAMABLE;
  }
  note_partial(top, txn, change);
  states now = states_of(top);
  if (old.flags != now.flags || old.toast_xid != now.toast_xid || old.spec_xid != now.spec_xid)
    twpa__account_heaps(top);
}

/* --- queueing --- */

/* Room for one more own invalidation. */
static twpa_status invals_reserve(twpa_txn *txn, size_t len)
{
  void *invals = txn->invals;
  twpa_status st = twpa__array_reserve(&txn->owner->mem, &invals, &txn->invals_cap,
                                       txn->invals_len + sizeof(uint32_t) + len, 1);
  txn->invals = invals;
  return st;
}

static void invals_add(twpa_txn *txn, twpa_bytes content)
{
  uint32_t len = (uint32_t)content.len;
  memcpy(txn->invals + txn->invals_len, &len, sizeof len);
  if (len > 0)
    memcpy(txn->invals + txn->invals_len + sizeof len, content.data, len);
  txn->invals_len += sizeof len + len;
}

static void count_in(twpa_txn *txn)
{
  txn->nmem++;
  twpa__txn_top(txn)->tree_changes++;
  if (txn->nmem == 1)
    twpa__account_lists(txn);
}

static void count_out(twpa_txn *txn)
{
  txn->nmem--;
  twpa__txn_top(txn)->tree_changes--;
  twpa__account_lists(txn);
}

/*
 * After the change is in, what is over the limit goes out. If that fails while the change is still in memory, it is
 * taken back and the call fails; if the change has gone out already, the call has done its work, and the next one
 * will find the limit exceeded again.
 */
static twpa_status limit_after(twpa_txn *txn, void *slot, size_t size, const states *old)
{
  twpa_txn *top = twpa__txn_top(txn);
  uint64_t epoch = txn->epoch;
  twpa_status st = twpa__evict_after(txn);
  if (st == TWPA_OK || txn->epoch != epoch)
    return TWPA_OK;
  size_t bytes = txn->arena.bytes;
  twpa__arena_undo(&txn->arena, slot, size);
  count_out(txn);
  states_restore(top, old);
  twpa__account_arena(txn, bytes);
  twpa__account_heaps(top);
  return st;
}

static twpa_status queue_stored(place *p, const twpa_record *record, const twpa_change *change, size_t size)
{
  twpa_txn *txn = p->txn;
  twpa_reorder *r = txn->owner;
  size_t old_bytes = txn->arena.bytes;
  void *slot = twpa__arena_alloc(&txn->arena, size);
  if (slot == NULL)
    return TWPA_E_NOMEM;
  twpa_status st = place_settle(p, r, record);
  if (st != TWPA_OK) {
    twpa__arena_undo(&txn->arena, slot, size);
    return st;
  }
  twpa_txn *top = twpa__txn_top(txn);
  states old = states_of(top);
  twpa__change_write(slot, size, record, change, r->next_seq++);
  twpa__arena_warm(&txn->arena, size);
  count_in(txn);
  twpa__account_arena(txn, old_bytes);
  note_states(top, txn, change);
  p->made = false;
  return limit_after(txn, slot, size, &old);
}

/* Rolled back, as somebody has said already: what comes is dropped; but the transaction is known, and caches change. */
static bool dead(const twpa_txn *txn, const twpa_txn *top)
{
  return twpa__txn_is(txn, TWPA__TXN_ABORTED) || (top != NULL && twpa__txn_is(top, TWPA__TXN_ABORTED));
}

static void count_queued(twpa_reorder *r, size_t payload)
{
  r->stats.queued_changes++;
  r->stats.queued_bytes += payload;
}

/*
 * What nearly every change is: a row, whole, of a transaction that has some already, with nothing about it to be found
 * out or to be noted, in a buffer that is not over its limit. Does for it what queue_change does; nothing can fail. False:
 * it is another kind of change, and nothing has happened.
 */
static bool queue_next_row(twpa_reorder *r, const twpa_record *record, const twpa_change *change, size_t size)
{
  const uint32_t noted = TWPA__TXN_CONTENT | TWPA__TXN_STREAMABLE;
  const uint32_t special = TWPA__TXN_ABORTED | TWPA__TXN_PREPARED;
  if (!twpa__kind_is_row(change->kind) || change->kind == TWPA_SPEC_INSERT || change->flags != 0)
    return false;
  twpa_txn *txn = twpa__txn_find(r, record->xid);
  if (txn == NULL || r->streaming || r->memory_bytes >= r->memory_limit)
    return false;
  twpa_txn *top = twpa__txn_top(txn);
  if (record->top_xid != TWPA_XID_NONE && record->top_xid != top->xid)
    return false;
  if ((top->flags & (noted | special)) != noted || twpa__txn_is(txn, TWPA__TXN_ABORTED) ||
      (top->toast_xid | top->spec_xid) != TWPA_XID_NONE || !twpa__arena_has_room(&txn->arena, size))
    return false;
  twpa__change_write(twpa__arena_alloc(&txn->arena, size), size, record, change, r->next_seq++);
  twpa__arena_warm(&txn->arena, size);
  txn->nmem++;
  top->tree_changes++;
  return true;
}

static twpa_status queue_change(twpa_reorder *r, const twpa_record *record, const twpa_change *change, size_t size,
                                size_t payload)
{
  place p;
  twpa_status st = place_find(&p, r, record);
  if (st != TWPA_OK)
    return st;
  twpa_txn *txn = p.txn;
  const twpa_txn *top = place_top(&p, r, record);
  if (top != NULL && twpa__txn_is(top, TWPA__TXN_PREPARED))
    st = TWPA_E_STATE;
  if (st == TWPA_OK && change->kind == TWPA_INVALIDATION)
    st = invals_reserve(txn, change->content.len);
  bool dropped = dead(txn, top);
  if (st == TWPA_OK)
    st = dropped ? place_settle(&p, r, record) : queue_stored(&p, record, change, size);
  if (st == TWPA_OK && !dropped)
    count_queued(r, payload);
  if (st == TWPA_OK && change->kind == TWPA_INVALIDATION) {
    invals_add(txn, change->content);
    twpa__account_catalog_of(txn);
  }
  if (st != TWPA_OK && p.made) {
    twpa__release(&r->mem, txn->invals, txn->invals_cap);
    place_undo(&p);
  }
  return st;
}

/* A message that does not wait for its transaction. */
static twpa_status message_now(twpa_reorder *r, const twpa_record *record, const twpa_change *change)
{
  twpa_txn *txn = NULL;
  if (record->xid != TWPA_XID_NONE) {
    twpa_status st = twpa__reorder_touch(r, record);
    if (st != TWPA_OK)
      return st;
    txn = twpa__txn_top(twpa__txn_find(r, record->xid));
  }
  if (r->output.message == NULL || twpa__origin_filtered(r, record->origin))
    return TWPA_OK;
  twpa_change out = *change;
  out.lsn = record->lsn;
  out.xid = record->xid;
  out.origin = record->origin;
  r->stats.delivered_changes++;
  return r->output.message(r->output_user, txn, &out) == TWPA_CALLBACK_OK ? TWPA_OK : TWPA_E_CALLBACK;
}

static twpa_status queue_inside(twpa_reorder *r, const twpa_record *record, const twpa_change *change)
{
  size_t size, payload;
  twpa_status st = twpa__change_measure(&size, &payload, record, change);
  if (st != TWPA_OK)
    return st;
  if ((change->flags & TWPA_CHANGE_NONTRANSACTIONAL) != 0)
    return message_now(r, record, change);
  bool internal = change->kind == TWPA_INVALIDATION || change->kind == TWPA_COMMAND;
  if (change->kind == TWPA_INVALIDATION && record->xid == TWPA_XID_NONE) {
    if (r->hooks.invalidate != NULL)
      r->hooks.invalidate(r->hooks.user, (twpa_bytes){change->content.data != NULL ? change->content.data : "",
                                                      change->content.len});
    return TWPA_OK;
  }
  if (!internal && twpa__origin_filtered(r, record->origin))
    return twpa__reorder_touch(r, record);
  if (queue_next_row(r, record, change, size)) {
    count_queued(r, payload);
    return TWPA_OK;
  }
  return queue_change(r, record, change, size, payload);
}

twpa_status twpa_reorder_queue(twpa_reorder *r, const twpa_record *record, const twpa_change *change)
{
  if (record == NULL || change == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  return twpa__reorder_leave(r, record, queue_inside(r, record, change));
}

static twpa_status tuplecids_reserve(twpa_txn *txn)
{
  if (txn->owner->tuplecids >= txn->owner->tuplecids_max)
    return TWPA_E_LIMIT;
  void *tuplecids = txn->tuplecids;
  twpa_status st = twpa__array_reserve(&txn->owner->mem, &tuplecids, &txn->tuplecids_cap, txn->ntuplecids + 1,
                                       sizeof *txn->tuplecids);
  txn->tuplecids = tuplecids;
  return st;
}

twpa_status twpa_reorder_set_restart_lsn(twpa_reorder *r, twpa_lsn lsn)
{
  twpa_status st = twpa__reorder_enter(r, NULL);
  if (st != TWPA_OK)
    return st;
  st = lsn >= r->restart_lsn ? TWPA_OK : TWPA_E_STATE;
  if (st == TWPA_OK)
    r->restart_lsn = lsn;
  return twpa__reorder_leave(r, NULL, st);
}

static twpa_status new_cid_inside(twpa_reorder *r, const twpa_record *record, const twpa_new_cid *new_cid)
{
  place p;
  twpa_record named = *record;
  named.top_xid = new_cid->top_xid;
  twpa_status st = place_find(&p, r, &named);
  if (st != TWPA_OK)
    return st;
  twpa_txn *txn = p.txn;
  const twpa_txn *top = place_top(&p, r, &named);
  if (top != NULL && twpa__txn_is(top, TWPA__TXN_PREPARED))
    st = TWPA_E_STATE;
  bool dropped = dead(txn, top);
  if (st == TWPA_OK && !dropped)
    st = tuplecids_reserve(txn);
  if (st == TWPA_OK)
    st = place_settle(&p, r, &named);
  if (st != TWPA_OK) {
    if (p.made) {
      twpa__release(&r->mem, txn->tuplecids, txn->tuplecids_cap * sizeof *txn->tuplecids);
      place_undo(&p);
    }
    return st;
  }
  twpa__account_catalog_of(txn);
  if (dropped)
    return TWPA_OK;
  txn->tuplecids[txn->ntuplecids++] = (twpa__tuplecid){.cid = *new_cid, .seq = r->next_seq++};
  r->tuplecids++;
  return TWPA_OK;
}

twpa_status twpa_reorder_new_cid(twpa_reorder *r, const twpa_record *record, const twpa_new_cid *new_cid)
{
  if (record == NULL || new_cid == NULL || new_cid->top_xid < TWPA_XID_FIRST_NORMAL ||
      (new_cid->cmin == TWPA_CID_NONE && new_cid->cmax == TWPA_CID_NONE))
    return TWPA_E_INVAL;
  twpa_status st = twpa__reorder_enter(r, record);
  if (st != TWPA_OK)
    return st;
  return twpa__reorder_leave(r, record, new_cid_inside(r, record, new_cid));
}
