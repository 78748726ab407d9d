/* Accessors of transactions, and the taken ones. */
#include "decode/reorder.h"

twpa_xid twpa_txn_xid(const twpa_txn *txn)
{
  return txn != NULL ? txn->xid : TWPA_XID_NONE;
}

twpa_xid twpa_txn_top_xid(const twpa_txn *txn)
{
  if (txn == NULL)
    return TWPA_XID_NONE;
  return txn->top != NULL ? txn->top->xid : txn->xid;
}

twpa_lsn twpa_txn_first_lsn(const twpa_txn *txn)
{
  return txn != NULL ? txn->first_lsn : TWPA_LSN_NONE;
}

twpa_lsn twpa_txn_final_lsn(const twpa_txn *txn)
{
  return txn != NULL ? txn->final_lsn : TWPA_LSN_NONE;
}

twpa_lsn twpa_txn_end_lsn(const twpa_txn *txn)
{
  return txn != NULL ? txn->end_lsn : TWPA_LSN_NONE;
}

twpa_time twpa_txn_time(const twpa_txn *txn)
{
  return txn != NULL ? txn->time : 0;
}

uint32_t twpa_txn_origin(const twpa_txn *txn)
{
  return txn != NULL ? txn->origin : 0;
}

twpa_lsn twpa_txn_origin_lsn(const twpa_txn *txn)
{
  return txn != NULL ? txn->origin_lsn : TWPA_LSN_NONE;
}

twpa_lsn twpa_txn_restart_lsn(const twpa_txn *txn)
{
  return txn != NULL ? txn->restart_lsn : TWPA_LSN_NONE;
}

twpa_cid twpa_txn_command_id(const twpa_txn *txn)
{
  if (txn == NULL)
    return 0;
  return txn->walk != NULL && txn->walk->open ? txn->walk->command : txn->command;
}

twpa_lsn twpa_txn_catalog_lsn(const twpa_txn *txn)
{
  if (txn == NULL)
    return TWPA_LSN_NONE;
  const twpa__version *version = txn->walk != NULL && txn->walk->open ? txn->walk->version : twpa__txn_version(txn);
  return version != NULL ? version->lsn : TWPA_LSN_NONE;
}

uint64_t twpa_txn_changes(const twpa_txn *txn)
{
  if (txn == NULL)
    return 0;
  return txn->top != NULL ? twpa__txn_changes(txn) : txn->tree_changes;
}

void twpa_txn_set_user(twpa_txn *txn, void *user)
{
  if (txn != NULL)
    txn->user = user;
}

void *twpa_txn_user(const twpa_txn *txn)
{
  return txn != NULL ? txn->user : NULL;
}

twpa_status twpa_txn_toast(const twpa_txn *txn, twpa_bytes *value, uint64_t relation, uint64_t value_id, size_t len)
{
  if (txn == NULL || value == NULL)
    return TWPA_E_INVAL;
  if (txn->walk == NULL)
    return TWPA_E_NOTFOUND;
  const twpa__toast_value *v = twpa__toast_find(&txn->walk->toast, relation, value_id);
  if (v == NULL)
    return TWPA_E_NOTFOUND;
  if (v->len != len)
    return TWPA_E_CORRUPT;
  *value = (twpa_bytes){v->data, v->len};
  return TWPA_OK;
}

twpa_status twpa_txn_next(twpa_txn *txn, twpa_change *change)
{
  if (txn == NULL || change == NULL)
    return TWPA_E_INVAL;
  twpa__walk *walk = txn->walk;
  if (!txn->taken || walk == NULL) /* NULL: it is being given back */
    return TWPA_E_STATE;
  if (walk->busy)
    return TWPA_E_REENTRANT;
  walk->busy = true;
  twpa_status st = walk->open ? TWPA_OK : twpa__walk_start(walk, txn);
  if (st == TWPA_OK)
    do
      st = twpa__walk_step(walk, change);
    while (st == TWPA_OK && change->kind == 0);
  walk->busy = false;
  return st;
}

twpa_status twpa_txn_rewind(twpa_txn *txn)
{
  if (txn == NULL)
    return TWPA_E_INVAL;
  if (!txn->taken || txn->walk == NULL)
    return TWPA_E_STATE;
  if (txn->walk->busy)
    return TWPA_E_REENTRANT;
  twpa__walk_stop(txn->walk);
  return TWPA_OK;
}

/*
 * Inside a callback of the owner, or a removal of another one's files, the owner is busy and stays so. Otherwise it is
 * made busy, because removing files calls the host, and the last one takes a closed owner with it.
 */
void twpa_txn_release(twpa_txn *txn)
{
  if (txn == NULL || !txn->taken || txn->owner->offered == txn || txn->walk == NULL || txn->walk->busy)
    return;
  twpa_reorder *r = txn->owner;
  twpa__walk *walk = txn->walk;
  bool was_busy = r->busy;
  r->busy = true;
  txn->walk = NULL; /* from here on it is as good as gone */
  twpa__walk_free(walk);
  twpa__release(&r->mem, walk, sizeof *walk);
  twpa__txn_release_taken(txn, !was_busy);
  r->busy = was_busy;
  if (!was_busy)
    twpa__reorder_close(r);
}

twpa_status twpa_txn_tuplecid(twpa_txn *txn, twpa_cid *cmin, twpa_cid *cmax, const twpa_locator *locator,
                              const twpa_tid *tid)
{
  if (txn == NULL || cmin == NULL || cmax == NULL || locator == NULL || tid == NULL)
    return TWPA_E_INVAL;
  if (txn->walk == NULL || !txn->walk->open)
    return TWPA_E_STATE;
  twpa_status st = twpa__tuplecids_build(&txn->walk->tuplecids, txn);
  if (st != TWPA_OK)
    return st;
  const twpa__tuplecid *found = twpa__tuplecids_find(&txn->walk->tuplecids, locator, tid);
  if (found == NULL)
    return TWPA_E_NOTFOUND;
  *cmin = found->cid.cmin;
  *cmax = found->cid.cmax;
  return TWPA_OK;
}
