/* From WAL records to calls of the reorder buffer. */
#include "support/wal/wal_feed.h"

#include "support/pg/pg_catalog.h"
#include "support/pg/pg_tuple.h"
#include "support/wal/wal_files.h"
#include "support/wal/wal_xid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WAL_LEVEL_LOGICAL = 2,
};

typedef enum phase {
  BEFORE_START,  /* no running-xacts record so far */
  DECODING,
  BELOW_LOGICAL, /* until wal_level is raised */
} phase;

typedef struct image {
  uint8_t *data;
  size_t cap;
} image;

struct wal_feed {
  twpa_reorder *reorder;
  wal_feed_options options;
  wal_xid xids;
  phase phase;
  twpa_xid boundary; /* transactions below it are left out: they may have begun before the start */
  image old_row, new_row;
  uint64_t *ids; /* widened subtransactions, or oids of truncated relations */
  size_t ids_cap;
  wal_feed_stats stats;
};

/* The record that is being fed. */
typedef struct step {
  wal_feed *feed;
  const wal_record *record;
  const wal_content *content;
  twpa_record rec;
  host_error *err;
} step;

static bool fail_status(const step *s, twpa_status status)
{
  char lsn[WAL_LSN_BYTES];
  if (status == TWPA_E_CALLBACK && s->err->text[0] != '\0')
    return false;
  return host_fail(s->err, "WAL record at %s (%s, info %02X): %s", wal_lsn_text(lsn, s->record->start),
                   wal_rmgr_name(s->record->rmgr), s->record->info, twpa_status_text(status));
}

static bool check(const step *s, twpa_status status)
{
  return status == TWPA_OK || fail_status(s, status);
}

static twpa_xid widen(const step *s, uint32_t xid)
{
  return wal_xid_widen(&s->feed->xids, xid);
}

/* Its transaction was open at the start; a subtransaction that began later is dropped with the transaction. */
static bool left_out(const step *s)
{
  return s->rec.xid < s->feed->boundary;
}

static bool touch(const step *s)
{
  if (s->rec.xid < TWPA_XID_FIRST_NORMAL || left_out(s))
    return true;
  return check(s, twpa_reorder_touch(s->feed->reorder, &s->rec));
}

static bool queue(const step *s, const twpa_change *change)
{
  return check(s, twpa_reorder_queue(s->feed->reorder, &s->rec, change));
}

/* Room for n numbers in feed->ids. */
static bool reserve_ids(const step *s, size_t n)
{
  wal_feed *f = s->feed;
  if (n <= f->ids_cap)
    return true;
  uint64_t *grown = realloc(f->ids, n * sizeof *grown);
  if (grown == NULL)
    return fail_status(s, TWPA_E_NOMEM);
  f->ids = grown;
  f->ids_cap = n;
  return true;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Shall rows of this relation be queued, as far as the record tells? */
static bool wanted(const step *s, const twpa_locator *locator)
{
  return locator->database == s->feed->options.database && s->rec.xid >= TWPA_XID_FIRST_NORMAL && !left_out(s);
}

/*
 * Rows that are not wanted. A server changes rows of a user table only within a transaction: without its id nobody
 * could tell whether and when they count, and to drop them would lose them without a word. What initdb has made is told
 * by the number of its file (or its oid, where the record has no file).
 */
static bool pass_rows(const step *s, const twpa_locator *locator)
{
  if (s->rec.xid >= TWPA_XID_FIRST_NORMAL || locator->database != s->feed->options.database ||
      locator->file < PG_FIRST_USER_OID)
    return touch(s);
  char lsn[WAL_LSN_BYTES];
  return host_fail(s->err,
                   "WAL record at %s (%s, info %02X): a row of table %" PRIu32 " has no transaction (id %" PRIu64 ")",
                   wal_lsn_text(lsn, s->record->start), wal_rmgr_name(s->record->rmgr), s->record->info,
                   locator->file, s->rec.xid);
}

/* The row as it is stored; absent stays absent. */
static bool build_row(const step *s, image *im, const wal_row *row, twpa_bytes *out)
{
  *out = (twpa_bytes){NULL, 0};
  if (row->body == NULL)
    return true;
  size_t size = pg_tuple_wal_size(row->body_len);
  if (size > im->cap) {
    size_t cap = size + size / 2;
    uint8_t *grown = realloc(im->data, cap);
    if (grown == NULL)
      return fail_status(s, TWPA_E_NOMEM);
    im->data = grown;
    im->cap = cap;
  }
  host_error why = {""};
  if (!pg_tuple_from_wal(im->data, row->infomask2, row->infomask, row->hoff, row->body, row->body_len, &why)) {
    char lsn[WAL_LSN_BYTES];
    return host_fail(s->err, "WAL record at %s: %s", wal_lsn_text(lsn, s->record->start), why.text);
  }
  *out = (twpa_bytes){im->data, size};
  return true;
}

static bool bad_chunk(const step *s, const char *why)
{
  char lsn[WAL_LSN_BYTES];
  return host_fail(s->err, "WAL record at %s: a piece of a long value: %s", wal_lsn_text(lsn, s->record->start), why);
}

/* A row of a toast relation: value id, number of the piece, bytes. */
static bool queue_chunk(const step *s, const twpa_locator *locator, const wal_row *row)
{
  static const pg_attr columns[] = {{.len = 4, .align = 'i', .byval = 1}, {.len = 4, .align = 'i', .byval = 1},
                                    {.len = -1, .align = 'i'}};
  wal_feed *f = s->feed;
  twpa_bytes bytes;
  pg_tuple tuple;
  pg_value v[3];
  host_error why = {""};
  if (!build_row(s, &f->new_row, row, &bytes))
    return false;
  if (!pg_tuple_open(&tuple, bytes.data, bytes.len, &why) || !pg_tuple_deform(v, &tuple, columns, 3, &why))
    return bad_chunk(s, why.text);
  if (v[0].kind != PG_VALUE_PLAIN || v[1].kind != PG_VALUE_PLAIN || v[2].kind != PG_VALUE_PLAIN)
    return bad_chunk(s, "unexpected kind of value");
  twpa_change change = {
    .kind = TWPA_TOAST_CHUNK,
    .toast_value = (uint32_t)pg_value_int(&v[0]),
    .toast_sequence = (uint32_t)pg_value_int(&v[1]),
    .content = {v[2].data, v[2].len},
  };
  if (f->options.toast_relation != NULL)
    change.toast_relation = f->options.toast_relation(f->options.user, *locator, s->record->start);
  f->stats.chunks++;
  return queue(s, &change);
}

static bool feed_insert(const step *s)
{
  const wal_insert *in = &s->content->as.insert;
  if (in->row.body == NULL)
    return touch(s);
  if (!wanted(s, &in->locator))
    return pass_rows(s, &in->locator);
  if (in->is_toast)
    return queue_chunk(s, &in->locator, &in->row);
  twpa_change change = {.kind = in->speculative ? TWPA_SPEC_INSERT : TWPA_INSERT, .locator = in->locator};
  s->feed->stats.rows++;
  return build_row(s, &s->feed->new_row, &in->row, &change.new_row) && queue(s, &change);
}

static bool feed_multi_insert(const step *s)
{
  const wal_multi_insert *in = &s->content->as.multi_insert;
  if (!in->has_rows)
    return touch(s);
  if (!wanted(s, &in->locator))
    return pass_rows(s, &in->locator);
  wal_multi_position at = {0};
  wal_row row;
  twpa_tid tid;
  while (wal_multi_next(&row, &tid, &at, in)) {
    if (in->is_toast) {
      if (!queue_chunk(s, &in->locator, &row))
        return false;
      continue;
    }
    /* The long values of all rows of one call come before its first row: they are kept until its last row. */
    twpa_change change = {.kind = TWPA_INSERT, .locator = in->locator};
    change.flags = in->last && at.index == in->nrows ? 0 : TWPA_CHANGE_MORE;
    s->feed->stats.rows++;
    if (!build_row(s, &s->feed->new_row, &row, &change.new_row) || !queue(s, &change))
      return false;
  }
  return true;
}

/* An update without its new row is never one that is to be decoded. */
static bool feed_update(const step *s)
{
  const wal_update *up = &s->content->as.update;
  if (up->row.body == NULL)
    return touch(s);
  if (!wanted(s, &up->locator))
    return pass_rows(s, &up->locator);
  twpa_change change = {.kind = TWPA_UPDATE, .locator = up->locator};
  s->feed->stats.rows++;
  return build_row(s, &s->feed->old_row, &up->old_row, &change.old_row) &&
         build_row(s, &s->feed->new_row, &up->row, &change.new_row) && queue(s, &change);
}

/*
 * A delete without old row may be one of a catalog, of a table that does not identify its rows, or of a toast relation:
 * an update writes the pieces of the new long value, deletes those of the old one, and only then comes the row itself.
 * So what was collected has to stay.
 */
static bool feed_delete(const step *s)
{
  const wal_delete *del = &s->content->as.del;
  if (!wanted(s, &del->locator))
    return pass_rows(s, &del->locator);
  twpa_change change = {.kind = del->speculative ? TWPA_SPEC_ABORT : TWPA_DELETE, .locator = del->locator};
  if (del->speculative)
    return queue(s, &change);
  if (del->old_row.body == NULL)
    change.flags = TWPA_CHANGE_QUIET | TWPA_CHANGE_MORE;
  s->feed->stats.rows++;
  return build_row(s, &s->feed->old_row, &del->old_row, &change.old_row) && queue(s, &change);
}

static bool feed_confirm(const step *s)
{
  if (!wanted(s, &s->content->as.confirm.locator))
    return pass_rows(s, &s->content->as.confirm.locator);
  twpa_change change = {.kind = TWPA_SPEC_CONFIRM, .locator = s->content->as.confirm.locator};
  return queue(s, &change);
}

static bool feed_truncate(const step *s)
{
  const wal_truncate *tr = &s->content->as.truncate;
  twpa_locator where = {.database = tr->database};
  if (tr->relations.count > 0)
    where.file = wal_list_u32(tr->relations, 0); /* only its oid: it is looked at as a number */
  if (!wanted(s, &where))
    return pass_rows(s, &where);
  if (!reserve_ids(s, tr->relations.count))
    return false;
  for (uint32_t i = 0; i < tr->relations.count; i++)
    s->feed->ids[i] = wal_list_u32(tr->relations, i);
  twpa_change change = {.kind = TWPA_TRUNCATE, .relations = s->feed->ids, .nrelations = tr->relations.count};
  change.flags = (tr->cascade ? TWPA_CHANGE_CASCADE : 0) | (tr->restart_sequences ? TWPA_CHANGE_RESTART_SEQS : 0);
  return queue(s, &change);
}

static bool feed_message(step *s)
{
  const wal_message *m = &s->content->as.message;
  if (m->database != s->feed->options.database || (m->transactional && left_out(s)))
    return touch(s);
  if (left_out(s))
    s->rec.xid = s->rec.top_xid = TWPA_XID_NONE;
  twpa_change change = {.kind = TWPA_MESSAGE, .flags = m->transactional ? 0 : TWPA_CHANGE_NONTRANSACTIONAL};
  change.prefix = (twpa_bytes){m->prefix, strlen(m->prefix)};
  change.content = (twpa_bytes){m->content, m->content_len};
  return queue(s, &change);
}

/* What the transaction has changed in catalogs, in the words of the server's caches. */
static bool feed_invalidations(const step *s)
{
  const wal_list *list = &s->content->as.invalidations;
  if (s->rec.xid < TWPA_XID_FIRST_NORMAL || left_out(s) || list->count == 0)
    return touch(s);
  twpa_change change = {.kind = TWPA_INVALIDATION, .content = {list->data, (size_t)list->count * WAL_INVAL_BYTES}};
  return queue(s, &change);
}

/* --- ends of transactions ----------------------------------------------------------------------------------------- */

static bool end_of(const step *s, twpa_commit *out)
{
  const wal_end_record *end = &s->content->as.end;
  if (!reserve_ids(s, end->subxids.count))
    return false;
  for (uint32_t i = 0; i < end->subxids.count; i++)
    s->feed->ids[i] = widen(s, wal_list_u32(end->subxids, i));
  bool foreign = end->origin_lsn != 0;
  *out = (twpa_commit){
    .subxids = s->feed->ids,
    .nsubxids = end->subxids.count,
    .time = foreign ? end->origin_time : end->time,
    .origin_lsn = end->origin_lsn,
  };
  return true;
}

static bool feed_commit(step *s)
{
  const wal_end_record *end = &s->content->as.end;
  wal_feed *f = s->feed;
  twpa_commit commit;
  if (!end->has_database && f->stats.commits == 0) {
    f->phase = BELOW_LOGICAL;
    f->stats.start_lsn = 0;
    f->stats.below_logical++;
    return true;
  }
  if (!end->has_database) {
    char lsn[WAL_LSN_BYTES];
    return host_fail(s->err,
                     "the transaction that commits at %s was written while wal_level was below logical: its rows "
                     "cannot be decoded; begin at a later position", wal_lsn_text(lsn, s->record->start));
  }
  s->rec.xid = widen(s, end->xid);
  s->rec.top_xid = TWPA_XID_NONE;
  if (!end_of(s, &commit))
    return false;
  if (end->database != f->options.database) {
    f->stats.other_commits++;
    return check(s, twpa_reorder_forget(f->reorder, &s->rec, &commit));
  }
  if (left_out(s)) {
    f->stats.left_out_commits++;
    return check(s, twpa_reorder_forget(f->reorder, &s->rec, &commit));
  }
  f->stats.commits++;
  return check(s, twpa_reorder_commit(f->reorder, &s->rec, &commit));
}

static bool feed_abort(step *s)
{
  twpa_commit abort;
  s->rec.xid = widen(s, s->content->as.end.xid);
  s->rec.top_xid = TWPA_XID_NONE;
  s->feed->stats.aborts++;
  return end_of(s, &abort) && check(s, twpa_reorder_abort(s->feed->reorder, &s->rec, &abort));
}

static bool feed_running(const step *s)
{
  const wal_running_xacts *running = &s->content->as.running;
  return check(s, twpa_reorder_abort_before(s->feed->reorder, widen(s, running->oldest_running_xid)));
}

static bool feed_parameters(const step *s)
{
  if (s->content->as.parameter.wal_level >= WAL_LEVEL_LOGICAL)
    return true;
  char lsn[WAL_LSN_BYTES];
  return host_fail(s->err, "wal_level is below logical from %s on: what follows cannot be decoded; end before it",
                   wal_lsn_text(lsn, s->record->start));
}

/* --- records ------------------------------------------------------------------------------------------------------ */

static bool feed_content(step *s)
{
  switch (s->content->kind) {
  case WAL_INSERT:
    return feed_insert(s);
  case WAL_MULTI_INSERT:
    return feed_multi_insert(s);
  case WAL_UPDATE:
    return feed_update(s);
  case WAL_DELETE:
    return feed_delete(s);
  case WAL_CONFIRM:
    return feed_confirm(s);
  case WAL_TRUNCATE:
    return feed_truncate(s);
  case WAL_MESSAGE:
    return feed_message(s);
  case WAL_INVALIDATIONS:
    return feed_invalidations(s);
  case WAL_COMMIT:
  case WAL_COMMIT_PREPARED:
    return feed_commit(s);
  case WAL_ABORT:
  case WAL_ABORT_PREPARED:
    return feed_abort(s);
  case WAL_PREPARE:
    s->feed->stats.prepared++;
    return touch(s);
  case WAL_RUNNING_XACTS:
    return feed_running(s);
  case WAL_PARAMETER_CHANGE:
    return feed_parameters(s);
  default:
    return touch(s);
  }
}

/* The start: what is open here, or has got its id already, is left out. */
static bool start_here(const step *s)
{
  wal_feed *f = s->feed;
  const wal_running_xacts *running = &s->content->as.running;
  f->phase = DECODING;
  f->boundary = widen(s, running->next_xid);
  f->stats = (wal_feed_stats){
    .start_lsn = s->record->start,
    .open_at_start = running->nxids,
    .before_start = f->stats.before_start,
    .below_logical = f->stats.below_logical,
  };
  /* after a start that turned out to be below logical, nothing of it may be left */
  return check(s, twpa_reorder_abort_before(f->reorder, f->boundary));
}

/* Of the wanted database only, so that it can be added to the commits that are decoded. */
static void count_before_start(const step *s)
{
  const wal_end_record *end = &s->content->as.end;
  if (!end->has_database)
    s->feed->stats.below_logical++;
  else if (end->database == s->feed->options.database)
    s->feed->stats.before_start++;
}

/* A record that is not decoded. */
static bool pass_over(const step *s)
{
  wal_feed *f = s->feed;
  bool is_commit = s->content->kind == WAL_COMMIT || s->content->kind == WAL_COMMIT_PREPARED;
  if (s->content->kind == WAL_PARAMETER_CHANGE)
    f->phase = s->content->as.parameter.wal_level >= WAL_LEVEL_LOGICAL ? BEFORE_START : BELOW_LOGICAL;
  else if (f->phase == BELOW_LOGICAL && is_commit)
    f->stats.below_logical++;
  else if (is_commit)
    count_before_start(s);
  else if (f->phase == BEFORE_START && s->content->kind == WAL_RUNNING_XACTS)
    return start_here(s);
  return true;
}

bool wal_feed_record(wal_feed *feed, const wal_record *record, host_error *err)
{
  wal_content content;
  err->text[0] = '\0';
  if (!wal_parse(&content, record, feed->options.format, err) || !wal_xid_saw(&feed->xids, record, &content, err))
    return false;
  step s = {.feed = feed, .record = record, .content = &content, .err = err};
  if (feed->phase != DECODING && !pass_over(&s))
    return false;
  if (feed->phase != DECODING)
    return true;
  feed->stats.records++;
  s.rec = (twpa_record){
    .lsn = record->start,
    .end_lsn = record->end,
    .xid = widen(&s, record->xid),
    .top_xid = widen(&s, record->top_xid),
    .origin = record->origin,
  };
  return feed_content(&s);
}

bool wal_feed_new(wal_feed **out, twpa_reorder *reorder, const wal_feed_options *options, host_error *err)
{
  wal_feed *feed = calloc(1, sizeof *feed);
  if (feed == NULL)
    return host_fail(err, "out of memory");
  feed->reorder = reorder;
  feed->options = *options;
  wal_xid_init(&feed->xids, options->next_xid);
  *out = feed;
  return true;
}

void wal_feed_free(wal_feed *feed)
{
  if (feed == NULL)
    return;
  free(feed->old_row.data);
  free(feed->new_row.data);
  free(feed->ids);
  free(feed);
}

wal_feed_stats wal_feed_get_stats(const wal_feed *feed)
{
  return feed->stats;
}
