/*
 * Reads the WAL from its beginning, so that every transaction is decoded whole, and keeps those that commit in the part
 * that was asked for. Taken transactions are converted as soon as the record that committed them has been fed.
 */
#include "twpa_replay/load.h"

#include "support/memory.h"
#include "support/wal/wal_feed.h"
#include "support/wal/wal_files.h"
#include "twpa_replay/convert.h"
#include "twpa_replay/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct loader {
  replay_model *m;
  const replay_options *o;
  twpa_txn *taken; /* by the record that is being fed */
  replay_progress progress;
} loader;

static int take(void *user, twpa_txn *txn)
{
  loader *l = user;
  l->taken = txn;
  return TWPA_CALLBACK_OK;
}

static bool finish_taken(loader *l, host_error *err)
{
  twpa_txn *txn = l->taken;
  bool ok = true;
  if (!txn)
    return true;
  l->taken = NULL;
  twpa_lsn lsn = twpa_txn_final_lsn(txn);
  if ((l->o->from && lsn < l->o->from) || (l->o->to && lsn > l->o->to))
    l->m->counts.outside++;
  else
    ok = replay_convert(l->m, txn, err);
  twpa_txn_release(txn);
  return ok;
}

static bool feed_all(loader *l, wal_reader *reader, wal_feed *feed, host_error *err)
{
  const wal_record *record;
  wal_result result = WAL_GOT;
  replay_model *m = l->m;
  bool ok = true;
  snprintf(m->end_reason, sizeof m->end_reason, "as asked for by --to");
  while (ok && (result = wal_reader_next(reader, &record, err)) == WAL_GOT) {
    if (l->o->to && record->start > l->o->to)
      break;
    m->end = record->end;
    replay_progress_show(&l->progress, record->start);
    ok = (wal_feed_record(feed, record, err) && finish_taken(l, err)) ||
         wal_reader_within(reader, record, err);
  }
  replay_progress_end(&l->progress);
  if (ok && result == WAL_END)
    snprintf(m->end_reason, sizeof m->end_reason, "%s", wal_reader_end_reason(reader));
  if (ok && result == WAL_END && l->o->from > m->end) {
    char from[WAL_LSN_BYTES], end[WAL_LSN_BYTES];
    return host_fail(err, "--from %s lies behind the end of the WAL at %s",
                     wal_lsn_text(from, l->o->from), wal_lsn_text(end, m->end));
  }
  return ok && result != WAL_FAILED;
}

static bool decode(loader *l, host_error *err)
{
  replay_model *m = l->m;
  twpa_output output = {.struct_size = TWPA_OUTPUT_INIT, .take = take};
  wal_feed_options fo = {.format = m->cluster->format,
                         .database = m->database->oid,
                         .next_xid = m->cluster->control.next_full_xid};
  twpa_reorder *reorder = NULL;
  wal_reader *reader = NULL;
  wal_feed *feed = NULL;
  twpa_status st = twpa_reorder_new(&reorder, NULL, &output, l, NULL);
  bool ok = st == TWPA_OK || host_fail(err, "no reorder buffer: %s", twpa_status_text(st));
  ok = ok && replay_open_log(&reader, m, m->decodable, err) &&
       wal_feed_new(&feed, reorder, &fo, err);
  ok = ok && feed_all(l, reader, feed, err);
  if (ok) {
    wal_feed_stats s = wal_feed_get_stats(feed);
    m->start = s.start_lsn; /* what lies before it was not decoded, so it does not count as read */
    m->counts.records = s.records;
    m->counts.before_start = s.before_start;
    m->counts.left_out = s.open_at_start;
    m->counts.left_out_commits = s.left_out_commits;
    m->counts.other_database = s.other_commits;
    m->counts.rolled_back = s.aborts;
    if (!s.start_lsn)
      ok =
          host_fail(err,
                    "%s: the WAL up to %s holds no record of running transactions to begin with; a "
                    "server writes one at each checkpoint and every 15 seconds",
                    m->cluster->path, l->o->to ? "--to" : "its end");
  }
  twpa_txn_release(l->taken); /* a failure came between */
  wal_feed_free(feed);
  wal_reader_close(reader);
  twpa_reorder_free(reorder);
  return ok;
}

bool replay_load(replay_model *m, const replay_options *o, host_error *err)
{
  loader l = {.m = m, .o = o};
  if (!pg_cluster_open(&m->cluster, o->data_dir, err) || !replay_survey(m, o, err) ||
      !pg_catalog_open(&m->catalog, m->cluster, m->database->oid, err))
    return false;
  replay_progress_begin(&l.progress, "decoding the WAL,", 0,
                        o->to ? o->to : m->cluster->control.checkpoint);
  return decode(&l, err);
}
