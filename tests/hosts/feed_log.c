/* What comes out of a reorder buffer, as text. */
#include "hosts/feed_log.h"

#include "support/runner.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int say(feed_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int say(feed_log *log, const char *format, ...)
{
  va_list args;
  if (++log->calls == log->fail_at)
    return -1;
  if (log->len > 0)
    log->text[log->len++] = ' ';
  va_start(args, format);
  log->len += (size_t)vsnprintf(log->text + log->len, sizeof log->text - log->len, format, args);
  va_end(args);
  ck_assert_uint_lt(log->len, sizeof log->text - 1);
  return 0;
}

static int on_begin(void *user, twpa_txn *txn)
{
  return say(user, "B%" PRIu64, twpa_txn_xid(txn));
}

static int on_commit(void *user, twpa_txn *txn)
{
  return say(user, "C%" PRIu64, twpa_txn_xid(txn));
}

static int on_change(void *user, twpa_txn *txn, const twpa_change *change)
{
  (void)txn;
  switch (change->kind) {
  case TWPA_INSERT:
    return say(user, "i");
  case TWPA_UPDATE:
    return say(user, "u");
  default:
    return say(user, change->old_row.data != NULL ? "d" : "n");
  }
}

static int on_truncate(void *user, twpa_txn *txn, const twpa_change *change)
{
  (void)txn;
  return say(user, "T%zu%s%s", change->nrelations, (change->flags & TWPA_CHANGE_CASCADE) != 0 ? "c" : "",
             (change->flags & TWPA_CHANGE_RESTART_SEQS) != 0 ? "r" : "");
}

static int on_message(void *user, twpa_txn *txn, const twpa_change *change)
{
  (void)txn;
  return say(user, (change->flags & TWPA_CHANGE_NONTRANSACTIONAL) != 0 ? "M" : "m");
}

feed_log *feed_log_new(void)
{
  feed_log *log = calloc(1, sizeof *log);
  const twpa_output output = {TWPA_OUTPUT_INIT, .begin = on_begin, .commit = on_commit, .change = on_change,
                              .truncate = on_truncate, .message = on_message};
  ck_assert_ptr_nonnull(log);
  ck_assert_int_eq(twpa_reorder_new(&log->reorder, NULL, &output, log, NULL), TWPA_OK);
  return log;
}

void feed_log_free(feed_log *log)
{
  twpa_reorder_free(log->reorder);
  free(log);
}

const char *feed_log_take(feed_log *log)
{
  log->text[log->len] = '\0';
  log->len = 0;
  return log->text;
}
