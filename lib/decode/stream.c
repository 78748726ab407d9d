/*
 * Streaming. A transaction in progress that is the largest one over the memory limit is given out in blocks, and
 * what was given out is dropped. The consumer keeps it until it hears of the end.
 *
 * The consumer must hear of the abort of exactly those subtransactions of which it has got something. So each one
 * is marked when a change of it was handed to a callback in a block that was completed, and only then; how much of
 * it was in memory, in storage, or dropped meanwhile does not matter.
 */
#include "decode/stream.h"

#include "decode/run.h"

static void mark_delivered(twpa_txn *top)
{
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&top->busy, it, tmp) {
    twpa_txn *txn = TWPA__CONTAINER_OF(it, twpa_txn, in_busy);
    if (txn->run == txn->owner->run)
      txn->flags |= TWPA__TXN_DELIVERED;
  }
}

twpa_status twpa__stream(twpa_txn *top, bool may_abort)
{
  twpa_reorder *r = top->owner;
  const twpa_output *o = &r->output;
  twpa__run run = {
    .change = o->stream_change, .truncate = o->stream_truncate, .message = o->stream_message,
    .streaming = true, .may_abort = may_abort,
  };
  uint32_t origin = top->origin;
  twpa_status st = twpa__run_changes(&run, top);
  if (st == TWPA_OK && run.opened)
    st = twpa__callback_status(o->stream_stop(r->output_user, top, run.last_lsn));
  if (st != TWPA_OK) {
    top->origin = origin;
    return st;
  }
  if (run.opened) {
    mark_delivered(top);
    r->stats.streamed_blocks++;
    if (!twpa__txn_is(top, TWPA__TXN_STREAMED)) {
      r->stats.streamed_txns++;
      r->stats.delivered_txns++;
    }
    top->flags |= TWPA__TXN_STREAMED;
  }
  r->stats.toast_dropped += run.toast_dropped;
  top->passed = run.version;
  top->command = run.command;
  top->given_seq = r->next_seq;
  if (run.aborted != NULL)
    twpa__txn_mark_aborted(run.aborted);
  twpa__tree_drop_changes(top);
  twpa__account_heaps(top);
  return TWPA_OK;
}

twpa_status twpa__stream_commit(twpa_txn *top)
{
  twpa_reorder *r = top->owner;
  twpa_status st = twpa__stream(top, false);
  if (st != TWPA_OK)
    return st;
  return twpa__callback_status(r->output.stream_commit(r->output_user, top));
}
