/*
 * A server's own opinion: server15.sh makes a cluster with about everything that catalogs can hold, asks the server what
 * is in it, and stops it; then this reader must say the same, line by line. Skipped (status 77) where there is no
 * PostgreSQL 15 server to ask.
 */
#include "hosts/datadir.h"
#include "support/pg/pg_catalog.h"
#include "support/pg/pg_key.h"
#include "support/pg/pg_page.h"
#include "support/pg/pg_text.h"
#include "support/runner.h"
#include "support/wal/wal_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char *top; /* what server15.sh made */
static char data_dir[4200];

/* --- lines ------------------------------------------------------------------------------------------------------ */

typedef struct lines {
  char **items;
  size_t count, cap;
} lines;

static void add_line(lines *l, const char *text, size_t len)
{
  if (l->count == l->cap) {
    l->cap = l->cap == 0 ? 1024 : 2 * l->cap;
    l->items = realloc(l->items, l->cap * sizeof *l->items);
    ck_assert_ptr_nonnull(l->items);
  }
  char *copy = malloc(len + 1);
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, text, len);
  copy[len] = 0;
  l->items[l->count++] = copy;
}

/* Adds what is in the buffer and empties it. */
static void add_buf(lines *l, pg_buf *b)
{
  ck_assert(!b->failed && b->len > 0);
  add_line(l, b->data, b->len);
  b->len = 0;
}

static void free_lines(lines *l)
{
  for (size_t i = 0; i < l->count; i++)
    free(l->items[i]);
  free(l->items);
  *l = (lines){0};
}

static lines read_lines(const char *name)
{
  lines l = {0};
  size_t len;
  uint8_t *bytes = read_file(top, name, &len);
  for (char *p = (char *)bytes, *end = p + len; p < end;) {
    char *stop = memchr(p, '\n', (size_t)(end - p));
    ck_assert_ptr_nonnull(stop);
    add_line(&l, p, (size_t)(stop - p));
    p = stop + 1;
  }
  free(bytes);
  return l;
}

static int compare_strings(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Both as sets; the first difference fails the test. */
static void same_lines(const char *name, lines *got)
{
  lines want = read_lines(name);
  ck_assert_uint_gt(want.count, 0);
  qsort(want.items, want.count, sizeof *want.items, compare_strings);
  qsort(got->items, got->count, sizeof *got->items, compare_strings);
  for (size_t i = 0; i < want.count || i < got->count; i++) {
    const char *w = i < want.count ? want.items[i] : "(nothing more)";
    const char *g = i < got->count ? got->items[i] : "(nothing more)";
    ck_assert_msg(strcmp(w, g) == 0, "%s:\nserver: %.800s\nreader: %.800s", name, w, g);
  }
  free_lines(&want);
  free_lines(got);
}

/* --- the database ------------------------------------------------------------------------------------------------ */

static pg_cluster *cluster;
static pg_catalog *cat;

static void open_home(void)
{
  host_error err = {{0}};
  const pg_database *db;
  ck_assert_msg(pg_cluster_open(&cluster, data_dir, &err), "%s", err.text);
  ck_assert_msg(pg_cluster_database(&db, cluster, "home", &err), "%s", err.text);
  ck_assert_uint_ne(db->tablespace, 1663);
  ck_assert_msg(pg_catalog_open(&cat, cluster, db->oid, &err), "%s", err.text);
}

static void close_home(void)
{
  pg_catalog_close(cat);
  pg_cluster_close(cluster);
}

/* Calls for each relation that lives. */
static void each_relation(void (*visit)(lines *out, const pg_relation *r), lines *out)
{
  size_t n;
  const pg_relation *const *all = pg_catalog_relations(cat, &n);
  for (size_t i = 0; i < n; i++)
    if (!all[i]->dropped && all[i]->persistence != 't')
      visit(out, all[i]);
}

static void relation_line(lines *out, const pg_relation *r)
{
  pg_buf b = {0};
  pg_buf_format(&b, "%u|%s|%s|%c|%c|%c|%d", r->oid, r->schema, r->name, r->kind, r->persistence, r->replica_identity,
                r->shared);
  pg_buf_format(&b, "|%u|%u|%u|%u", r->locator.file, r->locator.space, r->toast, (unsigned)r->column_count);
  pg_buf_format(&b, "|%u|%u|%d|%u|%u", r->parent != NULL ? r->parent->oid : 0, r->root->oid, r->user_catalog,
                r->toast_owner, r->identity != NULL ? r->identity->oid : 0);
  add_buf(out, &b);
  pg_buf_free(&b);
}

static void column_lines(lines *out, const pg_relation *r)
{
  pg_buf b = {0};
  for (size_t i = 0; i < r->column_count; i++) {
    const pg_column *c = &r->columns[i];
    const pg_attr *a = &r->attrs[i];
    pg_buf_format(&b, "%u|%d|%s|%u|%u|%d", r->oid, c->num, c->name, c->type, c->base_type, c->typmod);
    pg_buf_format(&b, "|%d|%c|%d|%d|%d|%.1s|%u|%d|", a->len, a->align, a->byval, c->notnull, c->dropped, &c->generated,
                  c->collation, c->nondeterministic);
    if (a->missing != NULL) {
      pg_buf text = {0};
      host_error err = {{0}};
      ck_assert_msg(pg_text_value(&text, cat, c->type, a->missing, &err), "%s", err.text);
      bool quoted = text.len == 0 || strpbrk(text.data, " ,\"{}") != NULL;
      pg_buf_text(&b, quoted ? "{\"" : "{");
      for (size_t k = 0; k < text.len; k++)
        pg_buf_format(&b, text.data[k] == '"' ? "\\%c" : "%c", text.data[k]);
      pg_buf_text(&b, quoted ? "\"}" : "}");
      pg_buf_free(&text);
    }
    add_buf(out, &b);
  }
  pg_buf_free(&b);
}

static void index_lines(lines *out, const pg_relation *r)
{
  pg_buf b = {0};
  for (size_t i = 0; i < r->index_count; i++) {
    const pg_index *x = r->indexes[i];
    pg_buf_format(&b, "%u|%s|%u|%d|%d|%d|%d|%d", x->oid, x->name, r->oid, x->unique, x->primary, x->immediate, x->valid,
                  x->identity);
    pg_buf_format(&b, "|%d|%d|%d|%d|%u|", x->exclusion, x->nulls_equal, x->partial, x->expressions,
                  (unsigned)x->key_count);
    for (size_t k = 0; k < x->key_count; k++)
      pg_buf_format(&b, "%s%d:%u:%u:%u:%d", k > 0 ? " " : "", x->keys[k].column, x->keys[k].collation,
                    x->keys[k].operator_class, x->keys[k].class_type, x->keys[k].nondeterministic);
    add_buf(out, &b);
  }
  pg_buf_free(&b);
}

static void key_lines(lines *out, const pg_relation *r)
{
  pg_buf b = {0};
  for (size_t i = 0; i < r->references_count; i++) {
    const pg_foreign_key *k = r->references[i];
    if (k->dropped)
      continue;
    ck_assert(k->enforced && !k->period);
    pg_buf_format(&b, "%u|%s|%u|%u|%u|", k->oid, k->name, k->child->oid, k->parent->oid,
                  k->parent_index != NULL ? k->parent_index->oid : 0);
    for (size_t c = 0; c < k->column_count; c++)
      pg_buf_format(&b, "%s%d", c > 0 ? " " : "", k->child_columns[c]);
    pg_buf_char(&b, '|');
    for (size_t c = 0; c < k->column_count; c++)
      pg_buf_format(&b, "%s%d", c > 0 ? " " : "", k->parent_columns[c]);
    pg_buf_format(&b, "|%c|%c|%c|%d|%d|%d|%u", k->on_update, k->on_delete, k->match, k->deferrable, k->deferred,
                  k->validated, k->from_partitioned);
    add_buf(out, &b);
  }
  pg_buf_free(&b);
}

START_TEST(same_catalogs)
{
  static const struct {
    const char *file;
    void (*visit)(lines *out, const pg_relation *r);
  } cases[] = {{"relations.txt", relation_line}, {"columns.txt", column_lines}, {"indexes.txt", index_lines},
               {"keys.txt", key_lines}};
  lines got = {0};
  open_home();
  each_relation(cases[_i].visit, &got);
  same_lines(cases[_i].file, &got);
  close_home();
}
END_TEST

START_TEST(same_types)
{
  open_home();
  lines want = read_lines("types.txt");
  ck_assert_uint_gt(want.count, 500);
  for (size_t i = 0; i < want.count; i++) {
    pg_buf b = {0};
    const pg_type *t = pg_catalog_type(cat, (uint32_t)strtoul(want.items[i], NULL, 10));
    ck_assert_msg(t != NULL, "%s", want.items[i]);
    pg_buf_format(&b, "%u|%s|%d|%c|%d|%c|%u", t->oid, t->name, t->len, t->align, t->byval, t->kind, t->element);
    ck_assert_str_eq(b.data, want.items[i]);
    pg_buf_free(&b);
  }
  free_lines(&want);
  close_home();
}
END_TEST

/* What the planner may hash. */
START_TEST(classes_of_columns)
{
  static const struct {
    const char *column;
    uint32_t cls;
  } cases[] = {
    {"t", TWPA_CLASS_BYTES},     {"v", TWPA_CLASS_BYTES},     {"c", TWPA_CLASS_BLANK_PADDED},
    {"e", TWPA_CLASS_BYTES},     {"d", TWPA_CLASS_INTEGER},   {"n", TWPA_CLASS_NUMERIC},
    {"nm", TWPA_CLASS_UNKNOWN},  {"a", TWPA_CLASS_UNKNOWN},   {"r", TWPA_CLASS_UNKNOWN},
    {"ip", TWPA_CLASS_BYTES},    {"net", TWPA_CLASS_BYTES},   {"ci", TWPA_CLASS_UNKNOWN},
    {"trimmed", TWPA_CLASS_UNKNOWN}, {"exact", TWPA_CLASS_BYTES}, {"oid", TWPA_CLASS_UNSIGNED},
    {"pair", TWPA_CLASS_UNKNOWN}, {"vb", TWPA_CLASS_BYTES},   {"plain_ci", TWPA_CLASS_UNKNOWN},
  };
  open_home();
  const pg_relation *r = pg_catalog_by_name(cat, "public", "keyed");
  ck_assert_ptr_nonnull(r);
  ck_assert_uint_eq(r->column_count, sizeof cases / sizeof *cases);
  for (size_t i = 0; i < r->column_count; i++) {
    ck_assert_str_eq(r->columns[i].name, cases[i].column);
    ck_assert_msg(pg_key_class(r, i) == cases[i].cls, "%s: %u", cases[i].column, pg_key_class(r, i));
  }
  r = pg_catalog_by_name(cat, "public", "lost");
  ck_assert(r != NULL && pg_key_class(r, 1) == TWPA_CLASS_UNKNOWN); /* dropped */
  close_home();
}
END_TEST

/* Old and new files of tables that were truncated, rewritten and dropped. */
START_TEST(same_files)
{
  open_home();
  lines want = read_lines("files.txt"), got = {0};
  for (size_t i = 0; i < want.count; i++) {
    pg_file_owner owner;
    uint32_t file = (uint32_t)strtoul(want.items[i], NULL, 10);
    const twpa_locator where = {pg_catalog_database(cat)->tablespace, pg_catalog_database(cat)->oid, file};
    ck_assert_msg(pg_catalog_file_owner(&owner, cat, where, 1), "%s", want.items[i]);
    pg_buf b = {0};
    pg_buf_format(&b, "%u|%s|%d|%d|%d", file, owner.relation->name, owner.current, owner.layout_known, owner.rewrite);
    add_buf(&got, &b);
    pg_buf_free(&b);
    if (strcmp(owner.relation->name, "dropped_later") == 0) {
      ck_assert(owner.relation->dropped && owner.relation->dropped_by != 0 && owner.relation->index_count == 2);
      ck_assert(owner.relation->primary != NULL && owner.relation->identity == owner.relation->primary);
    }
  }
  free_lines(&want);
  same_lines("files.txt", &got);
  close_home();
}
END_TEST

/* ALTER TABLE logs the copies that it makes as inserts: all 50 are told apart from the row that came later. */
START_TEST(copies_of_a_rewrite)
{
  open_home();
  const pg_control *c = &cluster->control;
  const wal_reader_options options = {.data_dir = data_dir, .format = c->format, .system_id = c->system_id,
                                      .segment_bytes = c->segment_size, .timeline = c->timeline,
                                      .proven = c->checkpoint + 1, .shutdown_record = c->checkpoint};
  const pg_relation *retyped = pg_catalog_by_name(cat, "public", "retyped");
  wal_reader *r;
  const wal_record *rec;
  host_error err = {{0}};
  size_t copies = 0, rows = 0;
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  while (wal_reader_next(r, &rec, &err) == WAL_GOT) {
    const wal_block *block = wal_record_block(rec, 0);
    pg_file_owner owner;
    if (rec->rmgr != WAL_RM_HEAP || (rec->info & 0x70) != 0 || block == NULL ||
        !pg_catalog_file_owner(&owner, cat, block->locator, rec->start) || owner.relation != retyped || !owner.current)
      continue;
    if (owner.rewrite && owner.rewrite_xid == rec->xid)
      copies++;
    else
      rows++;
  }
  ck_assert_msg(err.text[0] == 0, "%s", err.text);
  ck_assert_uint_eq(copies, 50);
  ck_assert_uint_eq(rows, 1);
  wal_reader_close(r);
  close_home();
}
END_TEST

/* --- values ------------------------------------------------------------------------------------------------------ */

static void file_path(char *path, const pg_relation *r)
{
  const twpa_locator *l = &r->locator;
  if (l->space == 1663)
    snprintf(path, 4300, "%s/base/%u/%u", data_dir, l->database, l->file);
  else
    snprintf(path, 4300, "%s/pg_tblspc/%u/PG_15_202209061/%u/%u", data_dir, l->space, l->database, l->file);
}

/* The chunks of a value in a toast relation, joined: v->toast_len bytes. */
static uint8_t *fetch_toast(const pg_value *v)
{
  const pg_relation *toast = pg_catalog_by_oid(cat, v->toast_rel, 0);
  ck_assert(toast != NULL && toast->column_count == 3);
  char path[4300];
  file_path(path, toast);
  uint8_t *bytes = calloc(1, v->toast_len + 1u);
  ck_assert_ptr_nonnull(bytes);
  pg_heap_scan scan;
  pg_row row;
  host_error err = {{0}};
  bool found;
  size_t have = 0;
  ck_assert(pg_heap_scan_begin(&scan, path, true, &err));
  while (pg_heap_scan_next(&scan, &found, &row, &err) && found) {
    pg_value chunk[3];
    ck_assert_msg(pg_tuple_deform(chunk, &row.tuple, toast->attrs, 3, &err), "%s", err.text);
    if ((uint32_t)pg_value_int(&chunk[0]) != v->toast_id)
      continue;
    size_t at = (size_t)pg_value_int(&chunk[1]) * 1996;
    ck_assert(chunk[2].kind == PG_VALUE_PLAIN && at + chunk[2].len <= v->toast_len);
    memcpy(bytes + at, chunk[2].data, chunk[2].len);
    have += chunk[2].len;
  }
  ck_assert_msg(err.text[0] == 0, "%s", err.text);
  ck_assert_uint_eq(have, v->toast_len);
  pg_heap_scan_end(&scan);
  return bytes;
}

typedef struct seen {
  size_t compressed[2], external[2], external_plain, missing;
} seen;

static void value_line(lines *out, const pg_relation *r, const pg_row *row, size_t column, const pg_value *value, seen *s)
{
  host_error err = {{0}};
  uint8_t *chunks = NULL;
  pg_value v = *value;
  s->missing += value == r->attrs[column].missing || column >= row->tuple.natts;
  if (v.kind == PG_VALUE_COMPRESSED)
    s->compressed[v.method]++;
  if (v.kind == PG_VALUE_EXTERNAL) {
    chunks = fetch_toast(&v);
    if (v.toast_compressed)
      s->external[v.method]++;
    else
      s->external_plain++;
    ck_assert_msg(pg_value_from_toast(&v, value, chunks, value->toast_len, &err), "%s", err.text);
  }
  pg_buf text = {0}, b = {0};
  const char *name = r->columns[column].name;
  ck_assert_msg(pg_text_value(&text, cat, r->columns[column].type, &v, &err), "%s.%s: %s", r->name, name, err.text);
  pg_buf_format(&b, "%s|(%u,%u)|%s|", r->name, row->block, row->line, name);
  for (size_t i = 0; i < text.len; i++)
    pg_buf_format(&b, "%02x", (unsigned char)text.data[i]);
  add_buf(out, &b);
  pg_buf_free(&b);
  pg_buf_free(&text);
  free(chunks);
}

static void value_lines(lines *out, const char *table, seen *s)
{
  const pg_relation *r = pg_catalog_by_name(cat, "public", table);
  ck_assert_msg(r != NULL, "%s", table);
  char path[4300];
  file_path(path, r);
  pg_heap_scan scan;
  pg_row row;
  host_error err = {{0}};
  bool found, made;
  uint32_t ended_by;
  ck_assert_msg(pg_heap_scan_begin(&scan, path, true, &err), "%s", err.text);
  while (pg_heap_scan_next(&scan, &found, &row, &err) && found) {
    pg_value values[32];
    ck_assert_uint_le(r->column_count, 32);
    ck_assert_msg(pg_row_fate(cluster->xact, &made, &ended_by, &row, &err), "%s", err.text);
    if (!made || ended_by != 0)
      continue;
    ck_assert_msg(pg_tuple_deform(values, &row.tuple, r->attrs, r->column_count, &err), "%s", err.text);
    for (size_t i = 0; i < r->column_count; i++)
      if (!r->columns[i].dropped)
        value_line(out, r, &row, i, &values[i], s);
  }
  ck_assert_msg(err.text[0] == 0, "%s", err.text);
  pg_heap_scan_end(&scan);
}

START_TEST(same_values)
{
  static const char *const tables[] = {"numbers", "texts", "times", "others", "documents", "grown", "retyped", "moved"};
  open_home();
  lines got = {0};
  seen s = {{0}, {0}, 0, 0};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    value_lines(&got, tables[i], &s);
  same_lines("values.txt", &got);
  /* Every way in which a value can be stored has been met. */
  ck_assert(s.compressed[PG_PGLZ] > 0 && s.compressed[PG_LZ4] > 0 && s.external[PG_PGLZ] > 0 && s.external[PG_LZ4] > 0);
  ck_assert(s.external_plain > 0 && s.missing > 0);
  close_home();
}
END_TEST

/* Outside of the tests nothing of Check may be used. */
static int run(const char *format, const char *argument)
{
  char command[8600];
  const char *source = getenv("TWPA_SOURCE_DIR");
  snprintf(command, sizeof command, format, source != NULL ? source : ".", argument);
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void)
{
  const char *tmp = getenv("TMPDIR");
  static char dir[4096];
  snprintf(dir, sizeof dir, "%s/twpa-server-XXXXXX", tmp != NULL ? tmp : "/tmp");
  top = mkdtemp(dir);
  if (top == NULL) {
    perror(dir);
    return EXIT_FAILURE;
  }
  snprintf(data_dir, sizeof data_dir, "%s/data", top);
  int code = run("sh '%s/tests/hosts/server15.sh' '%s'", top);
  int result = code == 77 ? 77 : EXIT_FAILURE;
  if (code == 0) {
    Suite *suite = suite_create("pg_server");
    TCase *tc = tcase_create("opinions");
    tcase_add_loop_test(tc, same_catalogs, 0, 4);
    tcase_add_test(tc, same_types);
    tcase_add_test(tc, classes_of_columns);
    tcase_add_test(tc, same_files);
    tcase_add_test(tc, copies_of_a_rewrite);
    tcase_add_test(tc, same_values);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    result = run_suite(suite);
  } else {
    printf("server15.sh: exit status %d\n", code);
  }
  (void)run("cd '%s' && rm -rf '%s'", top);
  return result;
}
