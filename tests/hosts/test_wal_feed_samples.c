/*
 * The whole way from the log of a real server to whole transactions, against what the server's own test_decoding said:
 * order of transactions, their ids, every change in order with its table, the values of integer, boolean and text
 * columns of new and old rows (long values put together from their pieces), truncated tables, messages. Transactions
 * without changes are passed over.
 */
#include "support/memory.h"
#include "support/pg/pg_catalog.h"
#include "support/runner.h"
#include "support/wal/wal_feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  const char *database;
  bool catalog_is_right; /* no table has changed its form during the log */
} samples[] = {{"pg15-sample", "sample", true}, {"pg18-dml", "postgres", true}, {"pg18-ddl", "postgres", false}};

#define NSAMPLES ((int)(sizeof samples / sizeof *samples))

typedef struct world {
  int sample;
  char dir[1000];
  char *text;    /* of expected.txt, cut into entries */
  char **entries; /* an entry may hold line ends: it begins with one of four words */
  size_t nentries, at;
  uint64_t from;  /* where the slot begins to decode */
  pg_cluster *cluster;
  pg_catalog *catalog;
  twpa_reorder *reorder;
  wal_feed *feed;
  bool open; /* the BEGIN of the current transaction has been compared */
  size_t changes, values, long_values;
  twpa_lsn last_commit;
} world;

/* --- what the server said ----------------------------------------------------------------------------------------- */

static bool begins_entry(const char *line)
{
  return strncmp(line, "BEGIN ", 6) == 0 || strncmp(line, "COMMIT ", 7) == 0 || strncmp(line, "table ", 6) == 0 ||
         strncmp(line, "message: ", 9) == 0;
}

static void read_expected(world *w)
{
  char path[1100];
  snprintf(path, sizeof path, "%s/expected.txt", w->dir);
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
  size_t len = (size_t)ftell(f);
  rewind(f);
  w->text = host_alloc(len + 1, 1);
  ck_assert_uint_eq(fread(w->text, 1, len, f), len);
  fclose(f);
  size_t cap = 0;
  for (char *line = w->text; line != NULL && *line != '\0';) {
    char *end = strchr(line, '\n');
    ck_assert(w->nentries > 0 || begins_entry(line));
    if (begins_entry(line)) {
      if (w->nentries > 0)
        line[-1] = '\0';
      w->entries = host_grow(w->entries, &cap, w->nentries, sizeof *w->entries);
      w->entries[w->nentries++] = line;
    }
    line = end == NULL ? NULL : end + 1;
  }
  if (len > 0 && w->text[len - 1] == '\n')
    w->text[len - 1] = '\0';
}

static void read_slot(world *w)
{
  char path[1100], line[200] = "";
  unsigned high, low;
  snprintf(path, sizeof path, "%s/slot", w->dir);
  FILE *f = fopen(path, "r");
  ck_assert_msg(f != NULL, "%s", path);
  ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
  fclose(f);
  char *at = strpbrk(line, "|,");
  ck_assert_ptr_nonnull(at);
  ck_assert_int_eq(sscanf(at + 1, "%X/%X", &high, &low), 2);
  w->from = (uint64_t)high << 32 | low;
}

/* The next thing the server said; transactions without changes are passed over. */
static const char *expected(world *w)
{
  while (!w->open && w->at + 1 < w->nentries && strncmp(w->entries[w->at], "BEGIN ", 6) == 0 &&
         strncmp(w->entries[w->at + 1], "COMMIT ", 7) == 0)
    w->at += 2;
  return w->at < w->nentries ? w->entries[w->at] : "the end";
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The bytes of a value, expanded; NULL if it is a long value that has not been changed. */
static char *value_text(world *w, twpa_txn *txn, const pg_value *v, uint32_t *len)
{
  host_error err = {""};
  pg_value whole = *v;
  if (v->kind == PG_VALUE_EXTERNAL) {
    twpa_bytes bytes;
    twpa_status status = twpa_txn_toast(txn, &bytes, v->toast_rel, v->toast_id, v->toast_len);
    if (status == TWPA_E_NOTFOUND)
      return NULL;
    ck_assert_int_eq(status, TWPA_OK);
    ck_assert_msg(pg_value_from_toast(&whole, v, bytes.data, bytes.len, &err), "%s", err.text);
    w->long_values++;
  }
  char *text = host_alloc((size_t)whole.raw_len + 1, 1);
  ck_assert_msg(pg_value_expand((uint8_t *)text, &whole, &err), "%s", err.text);
  *len = whole.raw_len;
  return text;
}

/* " name[type]:value" as test_decoding writes it; NULL if this type is not compared. */
static char *column_text(world *w, twpa_txn *txn, const pg_column *column, const pg_value *v)
{
  static const struct {
    uint32_t oid;
    const char *name;
  } types[] = {{16, "boolean"}, {20, "bigint"}, {21, "smallint"}, {23, "integer"}, {25, "text"},
               {1043, "character varying"}};
  size_t t = 0;
  while (t < 6 && types[t].oid != column->type)
    t++;
  if (t == 6)
    return NULL;
  uint32_t len = 0;
  char *bytes = t >= 4 && v->kind != PG_VALUE_NULL ? value_text(w, txn, v, &len) : NULL;
  char *out = host_alloc(2 * (size_t)len + 200, 1);
  int n = sprintf(out, " %s[%s]:", column->name, types[t].name);
  if (v->kind == PG_VALUE_NULL) {
    sprintf(out + n, "null");
  } else if (t == 0) {
    sprintf(out + n, pg_value_int(v) != 0 ? "true" : "false");
  } else if (t < 4) {
    sprintf(out + n, "%" PRId64, pg_value_int(v));
  } else if (bytes == NULL) {
    sprintf(out + n, "unchanged-toast-datum");
  } else {
    char *p = out + n;
    *p++ = '\'';
    for (uint32_t i = 0; i < len; i++) {
      if (bytes[i] == '\'')
        *p++ = '\'';
      *p++ = bytes[i];
    }
    *p = '\'';
  }
  free(bytes);
  return out;
}

/* Every column that is compared must stand in the text, in order. Of an old key only what is not null is written. */
static void check_row(world *w, twpa_txn *txn, const pg_relation *rel, twpa_bytes row, const char *text, bool old)
{
  pg_tuple tuple;
  pg_value values[PG_MAX_COLUMNS];
  host_error err = {""};
  ck_assert_msg(pg_tuple_open(&tuple, row.data, row.len, &err), "%s", err.text);
  ck_assert_msg(pg_tuple_deform(values, &tuple, rel->attrs, rel->column_count, &err), "%s: %s", rel->name, err.text);
  for (unsigned i = 0; i < rel->column_count; i++) {
    if (rel->columns[i].dropped || (old && values[i].kind == PG_VALUE_NULL))
      continue;
    char *column = column_text(w, txn, &rel->columns[i], &values[i]);
    if (column == NULL)
      continue;
    const char *found = strstr(text, column);
    ck_assert_msg(found != NULL, "%.200s: not in \"%.500s\"", column, text);
    size_t len = strlen(column);
    ck_assert_msg(found[len] == '\0' || found[len] == ' ', "%.200s: not in \"%.500s\"", column, text);
    text = found;
    free(column);
    w->values++;
  }
}

static void check_change(world *w, twpa_txn *txn, const twpa_change *change, const pg_relation *rel, char *line)
{
  static const char *const kinds[] = {"", "INSERT", "UPDATE", "DELETE"};
  char head[300];
  if (!samples[w->sample].catalog_is_right) {
    snprintf(head, sizeof head, ": %s:", kinds[change->kind]);
    ck_assert_msg(strncmp(line, "table ", 6) == 0 && strstr(line, head) != NULL, "%s: %s", head, line);
    return;
  }
  snprintf(head, sizeof head, "table %s.%s: %s:", rel->schema, rel->name, kinds[change->kind]);
  ck_assert_msg(strncmp(line, head, strlen(head)) == 0, "%s: not \"%s\"", head, line);
  char *text = line + strlen(head), *split = strstr(text, " new-tuple:");
  bool has_old = strncmp(text, " old-key:", 9) == 0;
  ck_assert_msg(change->kind == TWPA_DELETE || has_old == (change->old_row.data != NULL), "%s", line);
  if (has_old) {
    ck_assert_ptr_nonnull(split);
    *split = '\0';
    check_row(w, txn, rel, change->old_row, text, true);
    text = split + 1;
  }
  if (change->kind == TWPA_DELETE && change->old_row.data != NULL)
    check_row(w, txn, rel, change->old_row, text, true);
  if (change->new_row.data != NULL)
    check_row(w, txn, rel, change->new_row, text, false);
}

/* --- what comes out ----------------------------------------------------------------------------------------------- */

static void take_begin(world *w, twpa_txn *txn)
{
  char line[60];
  if (w->open)
    return;
  snprintf(line, sizeof line, "BEGIN %" PRIu64, twpa_txn_xid(txn));
  ck_assert_str_eq(expected(w), line);
  w->open = true;
  w->at++;
}

static bool before_slot(const world *w, const twpa_txn *txn)
{
  return twpa_txn_final_lsn(txn) < w->from;
}

static int on_begin(void *user, twpa_txn *txn)
{
  world *w = user;
  ck_assert(!w->open);
  ck_assert_uint_gt(twpa_txn_final_lsn(txn), w->last_commit);
  w->last_commit = twpa_txn_final_lsn(txn);
  return 0;
}

static int on_commit(void *user, twpa_txn *txn)
{
  world *w = user;
  char line[60];
  snprintf(line, sizeof line, "COMMIT %" PRIu64, twpa_txn_xid(txn));
  if (w->open) {
    ck_assert_str_eq(expected(w), line);
    w->at++;
  }
  w->open = false;
  return 0;
}

static int on_change(void *user, twpa_txn *txn, const twpa_change *change)
{
  world *w = user;
  const pg_relation *rel = pg_catalog_by_file(w->catalog, change->locator, change->lsn);
  if (before_slot(w, txn) || (rel != NULL && (rel->system_catalog || rel->kind == 't')))
    return 0;
  /* Of a table that is gone without a trace, a delete without old row may have been one of its toast relation. */
  if (rel == NULL && change->kind == TWPA_DELETE && change->old_row.data == NULL)
    return 0;
  ck_assert_msg(rel != NULL || !samples[w->sample].catalog_is_right, "file %u at %" PRIX64,
                (unsigned)change->locator.file, change->lsn);
  take_begin(w, txn);
  check_change(w, txn, change, rel, w->entries[w->at]);
  w->at++;
  w->changes++;
  return 0;
}

static int on_truncate(void *user, twpa_txn *txn, const twpa_change *change)
{
  world *w = user;
  if (before_slot(w, txn))
    return 0;
  take_begin(w, txn);
  const char *line = expected(w);
  ck_assert_msg(strstr(line, ": TRUNCATE: ") != NULL, "%s", line);
  ck_assert_uint_gt(change->nrelations, 0);
  for (size_t i = 0; i < change->nrelations && samples[w->sample].catalog_is_right; i++) {
    const pg_relation *rel = pg_catalog_by_oid(w->catalog, (uint32_t)change->relations[i], change->lsn);
    ck_assert_ptr_nonnull(rel);
    ck_assert_msg(strstr(line, rel->name) != NULL, "%s: %s", rel->name, line);
  }
  w->at++;
  w->changes++;
  return 0;
}

static int on_message(void *user, twpa_txn *txn, const twpa_change *change)
{
  world *w = user;
  bool transactional = (change->flags & TWPA_CHANGE_NONTRANSACTIONAL) == 0;
  char line[2000];
  if (transactional ? before_slot(w, txn) : change->lsn < w->from)
    return 0;
  if (transactional)
    take_begin(w, txn);
  snprintf(line, sizeof line, "message: transactional: %d prefix: %.*s, sz: %zu content:%.*s", transactional,
           (int)change->prefix.len, (const char *)change->prefix.data, change->content.len, (int)change->content.len,
           (const char *)change->content.data);
  ck_assert_str_eq(expected(w), line);
  w->at++;
  w->changes++;
  return 0;
}

/* The catalog knows which relation a toast file belongs to. */
static uint64_t toast_relation(void *user, twpa_locator locator, twpa_lsn lsn)
{
  const world *w = user;
  const pg_relation *rel = pg_catalog_by_file(w->catalog, locator, lsn);
  return rel != NULL ? rel->oid : 0;
}

static void open_world(world *w, int sample)
{
  static const twpa_output output = {TWPA_OUTPUT_INIT, .begin = on_begin, .commit = on_commit, .change = on_change,
                                     .truncate = on_truncate, .message = on_message};
  char data[1100];
  host_error err = {""};
  const pg_database *database;
  *w = (world){.sample = sample};
  snprintf(w->dir, sizeof w->dir, "%s/%s", getenv("TWPA_DATA_DIR"), samples[sample].name);
  read_expected(w);
  read_slot(w);
  snprintf(data, sizeof data, "%s/data", w->dir);
  ck_assert_msg(pg_cluster_open(&w->cluster, data, &err), "%s", err.text);
  ck_assert_msg(pg_cluster_database(&database, w->cluster, samples[sample].database, &err), "%s", err.text);
  ck_assert_msg(pg_catalog_open(&w->catalog, w->cluster, database->oid, &err), "%s", err.text);
  ck_assert_int_eq(twpa_reorder_new(&w->reorder, NULL, &output, w, NULL), TWPA_OK);
  wal_feed_options options = {.format = w->cluster->format,
                              .database = database->oid,
                              .next_xid = w->cluster->control.next_full_xid,
                              .toast_relation = toast_relation,
                              .user = w};
  ck_assert_msg(wal_feed_new(&w->feed, w->reorder, &options, &err), "%s", err.text);
}

static void close_world(world *w)
{
  wal_feed_free(w->feed);
  twpa_reorder_free(w->reorder);
  pg_catalog_close(w->catalog);
  pg_cluster_close(w->cluster);
  free(w->entries);
  free(w->text);
}

START_TEST(as_test_decoding_says)
{
  static world w;
  open_world(&w, _i);
  wal_reader_options options = wal_reader_options_of(w.cluster->path, &w.cluster->control);
  wal_reader *reader;
  host_error err = {""};
  ck_assert_msg(wal_reader_open(&reader, &options, &err), "%s", err.text);
  const wal_record *record;
  wal_result result;
  while ((result = wal_reader_next(reader, &record, &err)) == WAL_GOT)
    ck_assert_msg(wal_feed_record(w.feed, record, &err), "%s", err.text);
  ck_assert_msg(result == WAL_END, "%s", err.text);
  ck_assert_str_eq(expected(&w), "the end");
  wal_feed_stats stats = wal_feed_get_stats(w.feed);
  ck_assert_uint_gt(stats.start_lsn, 0);
  ck_assert_uint_eq(stats.left_out_commits, 0);
  ck_assert_uint_eq(stats.below_logical, 0);
  printf("%s: %" PRIu64 " commits, %zu changes and %zu values compared, %zu of them long ones\n", samples[_i].name,
         stats.commits, w.changes, w.values, w.long_values);
  ck_assert_uint_gt(w.changes, 2000);
  if (samples[_i].catalog_is_right) {
    ck_assert_uint_gt(w.values, 2000);
    ck_assert_uint_gt(w.long_values, 0);
  }
  wal_reader_close(reader);
  close_world(&w);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_feed_samples");
  TCase *t = tcase_create("samples");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, as_test_decoding_says, 0, NSAMPLES);
  suite_add_tcase(s, t);
  return run_suite(s);
}
