/* Transactions go out. */
#include "decode/run.h"

#include "base/assert.h"

#include <string.h>

/* A sign of life after so many changes of one run. */
#define PROGRESS_EVERY 100u

twpa_status twpa__callback_status(int result)
{
  return result == TWPA_CALLBACK_OK ? TWPA_OK : TWPA_E_CALLBACK;
}

/* --- invalidations --- */

void twpa__invalidate_txn(const twpa_txn *txn)
{
  const twpa_reorder_hooks *hooks = &txn->owner->hooks;
  if (hooks->invalidate == NULL)
    return;
  for (size_t at = 0; at < txn->invals_len;) {
    uint32_t len;
    memcpy(&len, txn->invals + at, sizeof len);
    at += sizeof len;
    hooks->invalidate(hooks->user, (twpa_bytes){txn->invals + at, len});
    at += len;
  }
}

void twpa__invalidate_tree(const twpa_txn *top)
{
  if (!twpa__txn_is(top, TWPA__TXN_CATALOG))
    return;
  twpa__invalidate_txn(top);
  for (const twpa__link *it = top->subs.next; it != &top->subs; it = it->next)
    twpa__invalidate_txn((const twpa_txn *)(const void *)((const char *)it - offsetof(twpa_txn, node)));
}

static void invalidate(const twpa_reorder *r, twpa_bytes content)
{
  if (content.data == NULL) {
    if (r->hooks.invalidate_all != NULL)
      r->hooks.invalidate_all(r->hooks.user);
  } else if (r->hooks.invalidate != NULL) {
    r->hooks.invalidate(r->hooks.user, content);
  }
}

void twpa__invalidate_versions(const twpa_txn *top, const twpa__version *from)
{
  for (const twpa__version *v = from; v != NULL && v != top->last && v->next != NULL;) {
    v = v->next;
    if (v->invals_len > 0)
      invalidate(top->owner, (twpa_bytes){v->invals, v->invals_len});
  }
}

void twpa__invalidate_after(const twpa_txn *top)
{
  twpa__invalidate_tree(top);
  twpa__invalidate_versions(top, top->base);
}

/* --- a run --- */

static twpa__change_fn callback_for(const twpa__run *run, uint32_t kind)
{
  if (kind == TWPA_TRUNCATE)
    return run->truncate;
  return kind == TWPA_MESSAGE ? run->message : run->change;
}

static twpa_status open_block(twpa__run *run, twpa_txn *top, const twpa_change *change)
{
  twpa_reorder *r = top->owner;
  if (change->origin != 0)
    top->origin = change->origin;
  twpa_status st = twpa__callback_status(r->output.stream_start(r->output_user, top, change->lsn));
  if (st == TWPA_OK)
    run->opened = true;
  return st;
}

static twpa_status give(twpa__run *run, twpa_txn *top, const twpa_change *change)
{
  twpa_reorder *r = top->owner;
  if (change->kind == TWPA_INVALIDATION) {
    invalidate(r, change->content);
    return TWPA_OK;
  }
  twpa__change_fn fn = callback_for(run, change->kind);
  if (fn == NULL)
    return TWPA_OK;
  if (run->streaming && !run->opened) {
    twpa_status st = open_block(run, top, change);
    if (st != TWPA_OK)
      return st;
  }
  twpa_txn *txn = r->walk.txn;
  txn->run = r->run;
  r->stats.delivered_changes++;
  int result = fn(r->output_user, top, change);
  if (result == TWPA_CALLBACK_ABORTED && run->may_abort) {
    run->aborted = txn;
    return TWPA_NONE;
  }
  return twpa__callback_status(result);
}

twpa_status twpa__run_changes(twpa__run *run, twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  twpa__walk *walk = &r->walk;
  run->opened = false;
  run->aborted = NULL;
  r->run++;
  twpa_status st = twpa__walk_start(walk, top);
  for (uint32_t n = 1; st == TWPA_OK; n++) {
    twpa_change change;
    st = twpa__walk_step(walk, &change);
    if (st == TWPA_OK && change.kind != 0)
      st = give(run, top, &change);
    if (st == TWPA_OK && n % PROGRESS_EVERY == 0 && r->output.update_progress != NULL)
      st = twpa__callback_status(r->output.update_progress(r->output_user, top, walk->lsn));
  }
  run->last_lsn = walk->lsn;
  run->version = walk->version;
  run->command = walk->command;
  run->toast_dropped = walk->toast_dropped; /* who says "aborted" has got the row of the chunks that are left */
  twpa__walk_stop(walk);
  if (run->aborted == NULL)
    run->toast_dropped = walk->toast_dropped;
  r->stats.restored_blocks += walk->merge.restored_blocks;
  walk->merge.restored_blocks = walk->toast_dropped = 0;
  return st == TWPA_NONE ? TWPA_OK : st;
}

/* --- committed transactions --- */

static twpa_status by_callbacks(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  const twpa_output *o = &r->output;
  if (o->begin == NULL || o->change == NULL || o->commit == NULL)
    return TWPA_E_CALLBACK;
  twpa_status st = twpa__callback_status(o->begin(r->output_user, top));
  if (st != TWPA_OK)
    return st;
  twpa__run run = {.change = o->change, .truncate = o->truncate, .message = o->message};
  st = twpa__run_changes(&run, top);
  if (st == TWPA_OK)
    st = twpa__callback_status(o->commit(r->output_user, top));
  if (st == TWPA_OK)
    r->stats.toast_dropped += run.toast_dropped;
  return st;
}

/* Offers it; one that is accepted stays offered until the call is done with it. TWPA_NONE: declined. */
static twpa_status by_taking(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  twpa__walk *walk = twpa__alloc(&r->mem, sizeof *walk);
  if (walk == NULL)
    return TWPA_E_NOMEM;
  twpa__walk_init(walk, &r->mem.hooks, r->storage);
  twpa_status st = twpa__walk_start(walk, top);
  if (st == TWPA_OK) {
    top->taken = true;
    top->last = r->versions.last;
    r->offered = top;
    int result = r->output.take(r->output_user, top);
    st = result == TWPA_CALLBACK_DECLINED ? TWPA_NONE : twpa__callback_status(result);
  }
  if (st == TWPA_OK)
    return TWPA_OK;
  r->offered = NULL;
  top->taken = false;
  top->last = NULL;
  twpa__walk_free(walk);
  twpa__release(&r->mem, walk, sizeof *walk);
  return st;
}

twpa_status twpa__deliver_commit(twpa_txn *top, bool *taken)
{
  twpa_reorder *r = top->owner;
  *taken = false;
  if (!twpa__txn_is(top, TWPA__TXN_CONTENT))
    return TWPA_OK;
  twpa_status st = r->output.take != NULL ? by_taking(top) : TWPA_NONE;
  *taken = st == TWPA_OK;
  if (st == TWPA_NONE)
    st = by_callbacks(top);
  if (st == TWPA_OK)
    r->stats.delivered_txns++;
  return st;
}
