/*
 * Reads the WAL from its beginning, so that every transaction is decoded whole, and keeps those that commit in the part
 * that was asked for. Taken transactions are converted as soon as the record that committed them has been fed.
 */
#include "twpa_replay/load.h"

#include "support/memory.h"
#include "support/wal/wal_feed.h"
#include "support/wal/wal_files.h"
#include "twpa_replay/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct loader {
  replay_model *m;
  const replay_options *o;
  twpa_txn *taken; /* by the record that is being fed */
  bool progress;
  twpa_lsn shown;
} loader;

static bool open_reader(wal_reader **out, const replay_model *m, host_error *err)
{
  wal_reader_options o = wal_reader_options_of(m->cluster->path, &m->cluster->control);
  return wal_reader_open(out, &o, err);
}

/* Rows of user tables written per database, to find the one that is meant. */
static bool count_rows(uint64_t *counts, const replay_model *m, host_error *err)
{
  wal_reader *reader;
  const wal_record *record;
  wal_result result;
  if (!open_reader(&reader, m, err))
    return false;
  while ((result = wal_reader_next(reader, &record, err)) == WAL_GOT) {
    if ((record->rmgr != WAL_RM_HEAP && record->rmgr != WAL_RM_HEAP2) || !record->nblocks ||
        !record->xid)
      continue;
    const twpa_locator *l = &record->blocks[0].locator;
    for (size_t i = 0; l->file >= PG_FIRST_USER_OID && i < m->cluster->database_count; i++)
      counts[i] += m->cluster->databases[i].oid == l->database;
  }
  wal_reader_close(reader);
  return result == WAL_END;
}

static bool choose_database(replay_model *m, const replay_options *o, host_error *err)
{
  const pg_cluster *cluster = m->cluster;
  if (o->database)
    return pg_cluster_database(&m->database, cluster, o->database, err);
  uint64_t *counts = host_alloc(cluster->database_count, sizeof *counts), most = 0;
  char names[400] = "";
  size_t n = 0, at = 0;
  bool ok = count_rows(counts, m, err);
  for (size_t i = 0; ok && i < cluster->database_count; i++) {
    if (counts[i] >= most && (counts[i] || !m->database)) {
      most = counts[i];
      m->database = &cluster->databases[i];
    }
    if (!counts[i] || at + 80 >= sizeof names)
      continue;
    at += (size_t)snprintf(names + at, sizeof names - at, "%s\"%s\"", n ? ", " : "",
                           cluster->databases[i].name);
    n++;
  }
  free(counts);
  if (ok && n > 1)
    return host_fail(
        err, "%s: several databases have changes in the WAL: %s; choose one with --database",
        cluster->path, names);
  if (ok && !n)
    return host_fail(
        err, "%s: no database has changes of user tables in the WAL; name one with --database",
        cluster->path);
  return ok;
}

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

static void show_progress(loader *l, twpa_lsn at)
{
  char text[WAL_LSN_BYTES];
  twpa_lsn end = l->o->to ? l->o->to : l->m->cluster->control.checkpoint;
  if (!l->progress || at < l->shown + (1u << 20))
    return;
  l->shown = at;
  double part = end > l->m->start ? (double)(at - l->m->start) / (double)(end - l->m->start) : 1;
  fprintf(stderr, "\rreading WAL %s, %3.0f %%, %zu transactions", wal_lsn_text(text, at),
          part < 1 ? part * 100 : 100.0, l->m->ntxns);
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
    if (!m->start)
      m->start = record->start;
    m->end = record->end;
    show_progress(l, record->start);
    ok = (wal_feed_record(feed, record, err) && finish_taken(l, err)) ||
         wal_reader_within(reader, record, err);
  }
  if (l->progress)
    fprintf(stderr, "\r%*s\r", 78, "");
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
  ok = ok && open_reader(&reader, m, err) && wal_feed_new(&feed, reorder, &fo, err);
  ok = ok && feed_all(l, reader, feed, err);
  if (ok) {
    wal_feed_stats s = wal_feed_get_stats(feed);
    m->counts.records = s.records;
    m->counts.left_out = s.open_at_start;
    m->counts.left_out_commits = s.left_out_commits;
    m->counts.other_database = s.other_commits;
    m->counts.rolled_back = s.aborts;
    m->counts.below_logical = s.below_logical;
    if (!s.start_lsn && s.below_logical)
      ok = host_fail(err,
                     "%s: wal_level was below logical when this WAL was written (%llu commits): "
                     "its rows cannot be decoded",
                     m->cluster->path, (unsigned long long)s.below_logical);
    else if (!s.start_lsn)
      ok = host_fail(err,
                     "%s: the WAL up to %s holds no record of running transactions to begin with",
                     m->cluster->path, l->o->to ? "--to" : "its end");
  }
  wal_feed_free(feed);
  wal_reader_close(reader);
  twpa_reorder_free(reorder);
  return ok;
}

bool replay_load(replay_model *m, const replay_options *o, host_error *err)
{
  loader l = {.m = m, .o = o, .progress = !o->quiet && isatty(STDERR_FILENO)};
  return pg_cluster_open(&m->cluster, o->data_dir, err) && choose_database(m, o, err) &&
         pg_catalog_open(&m->catalog, m->cluster, m->database->oid, err) && decode(&l, err);
}
