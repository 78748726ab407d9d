/*
 * Catalogs of cold data directories: the sample (PostgreSQL 15), the two of PostgreSQL 18, and damaged copies. What a
 * server says about its own catalogs is compared in test_pg_server.
 */
#include "hosts/datadir.h"
#include "support/pg/pg_catalog.h"
#include "support/pg/pg_key.h"
#include "support/pg/pg_page.h"
#include "support/runner.h"
#include "support/wal/crc32c.h"
#include "support/wal/wal_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct opened {
  pg_cluster *cluster;
  pg_catalog *cat;
} opened;

static opened open_database(const char *dir, const char *name)
{
  opened o;
  host_error err = {{0}};
  const pg_database *db;
  ck_assert_msg(pg_cluster_open(&o.cluster, dir, &err), "%s", err.text);
  ck_assert_msg(pg_cluster_database(&db, o.cluster, name, &err), "%s", err.text);
  ck_assert_msg(pg_catalog_open(&o.cat, o.cluster, db->oid, &err), "%s", err.text);
  ck_assert_str_eq(pg_catalog_database(o.cat)->name, name);
  return o;
}

static void close_database(opened *o)
{
  pg_catalog_close(o->cat);
  pg_cluster_close(o->cluster);
}

static void expect(const host_error *err, const char *part)
{
  ck_assert_msg(strstr(err->text, part) != NULL, "\"%s\" is not in: %s", part, err->text);
}

static const pg_relation *table(const opened *o, const char *name)
{
  const pg_relation *r = pg_catalog_by_name(o->cat, "public", name);
  ck_assert_msg(r != NULL, "%s", name);
  return r;
}

static const pg_index *index_of(const pg_relation *r, const char *name)
{
  for (size_t i = 0; i < r->index_count; i++)
    if (strcmp(r->indexes[i]->name, name) == 0)
      return r->indexes[i];
  ck_abort_msg("%s has no index %s", r->name, name);
  return NULL;
}

START_TEST(databases)
{
  host_error err = {{0}};
  pg_cluster *c;
  const pg_database *db;
  ck_assert_msg(pg_cluster_open(&c, data_path("pg15-sample/data"), &err), "%s", err.text);
  ck_assert_uint_eq(c->format->major, 15);
  ck_assert_uint_ge(c->database_count, 4);
  for (size_t i = 1; i < c->database_count; i++)
    ck_assert_uint_lt(c->databases[i - 1].oid, c->databases[i].oid);
  ck_assert(pg_cluster_database(&db, c, "sample", &err));
  ck_assert_uint_eq(db->tablespace, 1663);
  ck_assert_ptr_eq(pg_cluster_database_by_oid(c, db->oid), db);
  ck_assert_ptr_null(pg_cluster_database_by_oid(c, 99));
  ck_assert(!pg_cluster_database(&db, c, "nobody", &err));
  expect(&err, "there is no database \"nobody\" in ");
  expect(&err, "; there are: template1, template0, postgres, sample");
  pg_catalog *cat;
  ck_assert(!pg_catalog_open(&cat, c, 99, &err));
  ck_assert_ptr_null(cat);
  expect(&err, "no database with the oid 99");
  ck_assert(!pg_catalog_open(&cat, c, 1, &err)); /* template1 was left out of the sample */
  expect(&err, "base/1/pg_filenode.map: No such file");
  pg_cluster_close(c);
}
END_TEST

START_TEST(tables_of_the_sample)
{
  opened o = open_database(data_path("pg15-sample/data"), "sample");
  const pg_relation *r = table(&o, "order_lines");
  ck_assert(r->kind == 'r' && r->persistence == 'p' && r->logically_logged && !r->system_catalog && !r->dropped);
  ck_assert_uint_eq(r->column_count, 4);
  ck_assert_str_eq(r->columns[1].name, "line_no");
  ck_assert(r->columns[1].type == 21 && r->columns[1].num == 2 && r->columns[1].notnull && r->attrs[1].len == 2);
  ck_assert(r->columns[2].type == 25 && r->columns[2].collation == 100 && !r->columns[2].nondeterministic);
  ck_assert_ptr_nonnull(r->primary);
  ck_assert_ptr_eq(r->identity, r->primary);
  ck_assert(r->primary->unique && r->primary->immediate && r->primary->valid && r->primary->key_count == 2);
  ck_assert(r->primary->keys[0].column == 1 && r->primary->keys[1].column == 2 && r->primary->keys[0].builtin_class);
  ck_assert_ptr_eq(r->primary->relation, r);
  ck_assert_uint_eq(r->references_count, 2);
  ck_assert_uint_eq(r->referenced_by_count, 0);
  const pg_foreign_key *k = r->references[0];
  ck_assert_ptr_eq(k->parent, table(&o, "orders"));
  ck_assert_ptr_eq(k->parent_index, table(&o, "orders")->primary);
  ck_assert(k->on_delete == 'c' && k->on_update == 'a' && k->match == 's' && k->column_count == 1);
  ck_assert(k->child_columns[0] == 1 && k->parent_columns[0] == 1 && k->enforced && k->validated && !k->period);
  ck_assert_uint_eq(table(&o, "orders")->referenced_by_count, 2);
  const pg_relation *toast = pg_catalog_by_oid(o.cat, r->toast, 0);
  ck_assert(toast != NULL && toast->kind == 't' && toast->toast_owner == r->oid && toast->column_count == 3);
  close_database(&o);
}
END_TEST

START_TEST(identities_of_the_sample)
{
  opened o = open_database(data_path("pg15-sample/data"), "sample");
  const pg_relation *r = table(&o, "parcels");
  ck_assert(r->replica_identity == 'i' && r->identity == index_of(r, "parcels_code") && r->primary != NULL);
  ck_assert(r->identity != r->primary && r->identity->identity);
  r = table(&o, "audit_full");
  ck_assert(r->replica_identity == 'f' && r->identity == NULL && r->primary == NULL && r->index_count == 0);
  r = table(&o, "ledger_full");
  ck_assert(r->replica_identity == 'f' && r->identity == NULL && r->primary != NULL && r->index_count == 2);
  r = table(&o, "silent");
  ck_assert(r->replica_identity == 'n' && r->identity == NULL && r->primary != NULL);
  r = table(&o, "history");
  ck_assert(r->replica_identity == 'd' && r->identity == NULL);
  r = table(&o, "batch_log");
  ck_assert(r->column_count == 3 && r->columns[1].dropped && r->columns[1].type == 0 && !r->columns[2].dropped);
  r = table(&o, "metrics_low");
  ck_assert_ptr_eq(r->parent, table(&o, "metrics"));
  ck_assert_ptr_eq(r->root, table(&o, "metrics"));
  r = table(&o, "metrics");
  ck_assert(r->kind == 'p' && r->parent == NULL && r->root == r && r->locator.file == 0 && !r->logically_logged);
  r = pg_catalog_by_name(o.cat, "pg_catalog", "pg_class");
  ck_assert(r != NULL && r->oid == 1259 && r->system_catalog && !r->logically_logged && r->locator.file != 0);
  r = pg_catalog_by_name(o.cat, "pg_catalog", "pg_database");
  ck_assert(r != NULL && r->shared && r->locator.space == 1664 && r->locator.database == 0 && r->locator.file != 0);
  ck_assert_ptr_null(pg_catalog_by_name(o.cat, "public", "pg_class"));
  ck_assert_ptr_null(pg_catalog_by_name(o.cat, "nowhere", "orders"));
  ck_assert_ptr_null(pg_catalog_by_oid(o.cat, 3, 0));
  const pg_type *type = pg_catalog_type(o.cat, 1007);
  ck_assert(type != NULL && type->element == 23 && type->true_array && type->len == -1 && type->base == 1007);
  ck_assert_ptr_null(pg_catalog_type(o.cat, 3));
  ck_assert_ptr_null(pg_catalog_enum_label(o.cat, 3));
  close_database(&o);
}
END_TEST

/* Equality classes, and values of the planner made with them. */
START_TEST(keys_of_the_sample)
{
  opened o = open_database(data_path("pg15-sample/data"), "sample");
  static const struct {
    const char *table;
    size_t column;
    uint32_t cls;
  } cases[] = {{"devices", 0, TWPA_CLASS_UUID},  {"switches", 0, TWPA_CLASS_INTEGER}, {"switches", 1, TWPA_CLASS_BOOLEAN},
               {"rates", 0, TWPA_CLASS_NUMERIC}, {"ticks", 0, TWPA_CLASS_TIMESTAMP},  {"ticks", 1, TWPA_CLASS_FLOAT},
               {"tags", 0, TWPA_CLASS_BYTES},    {"customers", 1, TWPA_CLASS_BYTES},  {"batch_log", 1, TWPA_CLASS_UNKNOWN},
               {"accounts", 3, TWPA_CLASS_BLANK_PADDED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    ck_assert_msg(pg_key_class(table(&o, cases[i].table), cases[i].column) == cases[i].cls, "case %zu", i);
  close_database(&o);
  pg_value v = {.kind = PG_VALUE_PLAIN, .data = (const uint8_t *)"\1\0\0\0\0\0\0\0", .len = 8, .raw_len = 8};
  twpa_value a = pg_key_value(TWPA_CLASS_INTEGER, &v);
  v.len = 4;
  twpa_value b = pg_key_value(TWPA_CLASS_INTEGER, &v);
  twpa_key ka = 0, kb = 1;
  ck_assert(a.state == TWPA_VALUE_BINARY && a.bytes.len == 8 && b.bytes.len == 4);
  ck_assert_int_eq(twpa_key_of(&ka, 1, 2, 3, 0, &a, 1), TWPA_OK);
  ck_assert_int_eq(twpa_key_of(&kb, 1, 2, 3, 0, &b, 1), TWPA_OK);
  ck_assert_uint_eq(ka, kb);
  v.kind = PG_VALUE_NULL;
  ck_assert_uint_eq(pg_key_value(TWPA_CLASS_INTEGER, &v).state, TWPA_VALUE_NULL);
  v.kind = PG_VALUE_EXTERNAL;
  ck_assert_uint_eq(pg_key_value(TWPA_CLASS_BYTES, &v).state, TWPA_VALUE_ABSENT);
}
END_TEST

static const struct {
  const char *dir, *database;
} samples[] = {{"pg15-sample/data", "sample"}, {"pg18-dml/data", "postgres"}, {"pg18-ddl/data", "postgres"}};

/* Everything is in order, points at something, and is found again. */
START_TEST(everything_fits_together)
{
  opened o = open_database(data_path(samples[_i].dir), samples[_i].database);
  size_t n, files = 0;
  const pg_relation *const *all = pg_catalog_relations(o.cat, &n);
  ck_assert_uint_gt(n, 300);
  for (size_t i = 0; i < n; i++) {
    const pg_relation *r = all[i];
    ck_assert(i == 0 || all[i - 1]->oid < r->oid);
    ck_assert_ptr_eq(pg_catalog_by_oid(o.cat, r->oid, 0), r);
    ck_assert_int_ne(r->name[0], 0);
    for (size_t c = 0; c < r->column_count; c++)
      ck_assert_uint_eq((size_t)r->columns[c].num, c + 1);
    for (size_t k = 0; k < r->index_count; k++)
      ck_assert(r->indexes[k]->relation == r && r->indexes[k]->key_count > 0 && r->indexes[k]->name[0] != 0);
    for (size_t k = 0; k < r->references_count; k++)
      ck_assert(r->references[k]->child == r && r->references[k]->parent_index != NULL);
    for (size_t k = 0; k < r->referenced_by_count; k++)
      ck_assert(r->referenced_by[k]->parent == r);
    ck_assert(r->kind != 't' || r->dropped || r->toast_owner != 0);
    if (r->dropped)
      continue;
    ck_assert_ptr_eq(pg_catalog_by_name(o.cat, r->schema, r->name), r);
    ck_assert(r->locator.file != 0 || strchr("vcpIf", r->kind) != NULL);
    if (r->locator.file == 0)
      continue;
    files++;
    pg_file_owner owner;
    ck_assert(pg_catalog_file_owner(&owner, o.cat, r->locator, 1));
    ck_assert(owner.relation == r && owner.current && owner.layout_known);
    ck_assert_ptr_eq(pg_catalog_by_file(o.cat, r->locator, 1), r);
  }
  ck_assert_uint_gt(files, 200);
  ck_assert_ptr_null(pg_catalog_by_file(o.cat, (twpa_locator){1663, pg_catalog_database(o.cat)->oid, 1}, 1));
  ck_assert_ptr_null(pg_catalog_by_file(o.cat, (twpa_locator){1663, 99, all[0]->locator.file}, 1));
  close_database(&o);
}
END_TEST

/* --- against the WAL -------------------------------------------------------------------------------------------- */

typedef struct wal_count {
  size_t rows, old_files, layout_unknown, copies, of_dropped;
} wal_count;

/* A row that a record inserts: its file must have an owner, and the row must fit the columns. */
static void check_insert(const opened *o, const wal_record *rec, wal_count *count)
{
  const wal_block *block = wal_record_block(rec, 0);
  if (block == NULL || rec->main_len < 3 || (rec->main_data[2] & 0x08) == 0 ||
      block->locator.database != pg_catalog_database(o->cat)->oid)
    return;
  host_error err = {{0}};
  uint32_t status;
  ck_assert_msg(pg_xact_status(o->cluster->xact, &status, rec->xid, &err), "%s", err.text);
  if (status != PG_XACT_COMMITTED)
    return;
  pg_file_owner owner;
  ck_assert_msg(pg_catalog_file_owner(&owner, o->cat, block->locator, rec->start), "file %u, xid %u",
                block->locator.file, rec->xid);
  count->rows++;
  count->old_files += owner.current == 0;
  count->layout_unknown += owner.layout_known == 0;
  count->copies += owner.rewrite && owner.rewrite_xid == rec->xid;
  count->of_dropped += owner.relation->dropped;
  if (!owner.layout_known)
    return;
  ck_assert_uint_ge(block->data_len, 5);
  static uint8_t image[16384];
  static pg_value values[PG_MAX_COLUMNS];
  pg_tuple t;
  const uint8_t *d = block->data;
  size_t body = block->data_len - 5u;
  ck_assert(pg_tuple_from_wal(image, pg_u16(d), pg_u16(d + 2), d[4], d + 5, body, &err));
  ck_assert(pg_tuple_open(&t, image, pg_tuple_wal_size(body), &err));
  ck_assert_msg(pg_tuple_deform(values, &t, owner.relation->attrs, owner.relation->column_count, &err), "%s: %s",
                owner.relation->name, err.text);
}

START_TEST(every_row_of_the_log_has_a_relation)
{
  opened o = open_database(data_path(samples[_i].dir), samples[_i].database);
  const pg_control *c = &o.cluster->control;
  const wal_reader_options options = {.data_dir = data_path(samples[_i].dir), .format = c->format,
                                      .system_id = c->system_id, .segment_bytes = c->segment_size,
                                      .timeline = c->timeline, .proven = c->checkpoint + 1,
                                      .shutdown_record = c->checkpoint};
  wal_reader *r;
  const wal_record *rec;
  host_error err = {{0}};
  wal_count count = {0};
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  while (wal_reader_next(r, &rec, &err) == WAL_GOT)
    if (rec->rmgr == WAL_RM_HEAP && (rec->info & 0x70) == 0)
      check_insert(&o, rec, &count);
  ck_assert_msg(err.text[0] == 0, "%s", err.text);
  wal_reader_close(r);
  printf("%s: %zu rows, %zu in old files, %zu of unknown layout, %zu copies, %zu of dropped relations\n",
         samples[_i].dir, count.rows, count.old_files, count.layout_unknown, count.copies, count.of_dropped);
  fflush(stdout);
  ck_assert_uint_gt(count.rows, 300);
  ck_assert_uint_gt(count.old_files, 0); /* all of them truncate tables */
  ck_assert_uint_eq(count.copies, 0); /* tables were rewritten by VACUUM FULL only, which logs pages, not rows */
  ck_assert(_i == 2 || count.layout_unknown == 0); /* only one of them changes its tables under load */
  close_database(&o);
}
END_TEST

/* --- damage ----------------------------------------------------------------------------------------------------- */

/* Opens what may be damaged; false, with a message of one line, if it says no. */
static bool try_open(const char *dir, const char *database, host_error *err)
{
  pg_cluster *c;
  pg_catalog *cat = NULL;
  const pg_database *db;
  err->text[0] = 0;
  bool ok = pg_cluster_open(&c, dir, err) && pg_cluster_database(&db, c, database, err) &&
            pg_catalog_open(&cat, c, db->oid, err);
  if (!ok) {
    ck_assert_uint_gt(strlen(err->text), 10);
    ck_assert_ptr_null(strchr(err->text, '\n'));
  }
  pg_catalog_close(cat);
  pg_cluster_close(c);
  return ok;
}

/* Where a catalog of the sample is, as a path below the directory. */
static const char *catalog_file(uint32_t oid)
{
  static char path[64];
  opened o = open_database(data_path("pg15-sample/data"), "sample");
  const pg_relation *r = pg_catalog_by_oid(o.cat, oid, 0);
  ck_assert_ptr_nonnull(r);
  if (r->shared)
    snprintf(path, sizeof path, "global/%u", r->locator.file);
  else
    snprintf(path, sizeof path, "base/%u/%u", r->locator.database, r->locator.file);
  close_database(&o);
  return path;
}

static const uint32_t needed[] = {1247, 1249, 1259, 1262, 2606, 2610, 2611, 2615, 2616, 3456};
#define NEEDED ((int)(sizeof needed / sizeof *needed))

START_TEST(damaged_catalog)
{
  char *dir = make_tree();
  copy_tree(data_path("pg15-sample/data"), dir);
  const char *file = catalog_file(needed[_i]);
  host_error err;
  size_t len;
  uint8_t *good = read_file(dir, file, &len);
  ck_assert_uint_gt(len, 0);

  uint8_t garbage[8192];
  memset(garbage, 0xA5, sizeof garbage);
  patch_file(dir, file, 0, garbage, sizeof garbage);
  ck_assert(!try_open(dir, "sample", &err));
  expect(&err, file);
  expect(&err, "block 0");

  write_file(dir, file, good, len);
  cut_file(dir, file, len - 1);
  ck_assert(!try_open(dir, "sample", &err));
  expect(&err, file);
  expect(&err, "is cut off after 8191 bytes");

  delete_file(dir, file);
  ck_assert(!try_open(dir, "sample", &err));
  expect(&err, file);
  expect(&err, "No such file or directory");

  /* A page of zeroes is a valid empty page: what is missing shows by what refers to it. Types, operator classes and
     collations that nothing refers to are not missed. */
  bool all = needed[_i] != 1247 && needed[_i] != 2616 && needed[_i] != 3456;
  size_t noticed = 0;
  memset(garbage, 0, sizeof garbage);
  for (size_t at = 0; at < len; at += 8192) {
    write_file(dir, file, good, len);
    if (pg_u16(good + at + 12) <= 24)
      continue;
    patch_file(dir, file, at, garbage, sizeof garbage);
    bool refused = !try_open(dir, "sample", &err);
    ck_assert_msg(refused || !all, "page %zu of %s", at / 8192, file);
    noticed += refused;
  }
  ck_assert_uint_gt(noticed, 0);
  write_file(dir, file, "", 0);
  ck_assert(!try_open(dir, "sample", &err));
  free(good);
  remove_tree(dir);
  free(dir);
}
END_TEST

static size_t foreign_keys(const char *dir, const char *database)
{
  opened o = open_database(dir, database);
  size_t n, keys = 0;
  const pg_relation *const *all = pg_catalog_relations(o.cat, &n);
  for (size_t i = 0; i < n; i++)
    keys += all[i]->references_count;
  close_database(&o);
  return keys;
}

/* Writes a page anew, with a right checksum. */
static void put_page(const char *dir, const char *file, size_t at, uint8_t *page)
{
  uint16_t sum = pg_page_checksum(page, (uint32_t)(at / 8192));
  page[8] = (uint8_t)sum;
  page[9] = (uint8_t)(sum >> 8);
  patch_file(dir, file, at, page, 8192);
}

/* Every row of pg_constraint is lost once, and every page: foreign keys never become fewer without an error. */
START_TEST(lost_constraints)
{
  char *dir = make_tree();
  copy_tree(data_path(samples[_i].dir), dir);
  const char *database = samples[_i].database, *file = _i == 0 ? "base/16384/2606" : "base/5/2606";
  size_t len, keys = foreign_keys(dir, database), refused = 0;
  ck_assert_uint_gt(keys, 0);
  uint8_t *good = read_file(dir, file, &len), page[8192];
  host_error err;
  for (size_t at = 0; at < len; at += 8192) {
    static const uint8_t unused[4];
    unsigned lower = pg_u16(good + at + 12);
    /* Without pg_trigger only the loss of all constraints of a table is noticed: see pg_catalog_check.c. */
    for (size_t line = at / 8192 < 3 ? lower - 4 : 24; line < lower && _i != 0; line += 4) {
      memcpy(page, good + at, sizeof page);
      memcpy(page + line, unused, sizeof unused);
      put_page(dir, file, at, page);
      bool opens = try_open(dir, database, &err);
      ck_assert_msg(!opens || foreign_keys(dir, database) == keys, "page %zu, byte %zu", at / 8192, line);
      refused += !opens;
    }
    for (int zero = 0; zero <= 1; zero++) {
      memcpy(page, good + at, sizeof page);
      if (zero)
        memset(page, 0, sizeof page);
      else
        page[12] = 24, page[13] = 0; /* a header and no rows */
      if (zero)
        patch_file(dir, file, at, page, sizeof page);
      else
        put_page(dir, file, at, page);
      bool opens = try_open(dir, database, &err);
      ck_assert_msg(!opens || foreign_keys(dir, database) == keys, "page %zu, zero %d", at / 8192, zero);
      refused += !opens;
    }
    write_file(dir, file, good, len);
  }
  for (size_t left = 0; left < len; left += 8192) {
    cut_file(dir, file, len - 8192 - left);
    bool opens = try_open(dir, database, &err);
    ck_assert_msg(!opens || foreign_keys(dir, database) == keys, "%zu bytes cut off", left + 8192);
  }
  write_file(dir, file, good, len);
  ck_assert_msg(try_open(dir, database, &err), "%s", err.text);
  printf("%s: %zu foreign keys, %zu losses refused\n", samples[_i].dir, keys, refused);
  fflush(stdout);
  ck_assert_uint_gt(refused, 0);
  free(good);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* Triggers and foreign keys prove each other: what lost the one says so by the other. */
START_TEST(lost_triggers)
{
  char *dir = make_tree();
  copy_tree(data_path(samples[_i].dir), dir);
  host_error err;
  static const uint8_t zero[8192];
  patch_file(dir, "base/5/2620", 0, zero, sizeof zero);
  ck_assert(!try_open(dir, samples[_i].database, &err));
  expect(&err, "pg_trigger has no row for foreign key ");
  size_t len;
  uint8_t *good = read_file(dir, "base/5/2606", &len);
  delete_file(dir, "base/5/2620"); /* not read then: the hints in pg_class must do */
  ck_assert_msg(try_open(dir, samples[_i].database, &err), "%s", err.text);
  size_t keys = 0;
  for (size_t at = len - 2 * 8192; at < len; at += 8192) { /* where the keys of users are */
    for (size_t line = 24; line < pg_u16(good + at + 12); line += 4) {
      uint8_t page[8192];
      memcpy(page, good + at, sizeof page);
      memcpy(page + line, zero, 4);
      put_page(dir, "base/5/2606", at, page);
      if (!try_open(dir, samples[_i].database, &err))
        keys += strstr(err.text, "without pg_trigger") != NULL;
    }
    write_file(dir, "base/5/2606", good, len);
  }
  ck_assert_uint_eq(keys, 1);
  patch_file(dir, "base/5/2606", 0, zero, sizeof zero);
  ck_assert(!try_open(dir, samples[_i].database, &err));
  free(good);
  remove_tree(dir);
  free(dir);
}
END_TEST

START_TEST(wrong_directory)
{
  char *dir = make_tree();
  copy_tree(data_path("pg15-sample/data"), dir);
  host_error err;
  delete_file(dir, "PG_VERSION");
  ck_assert(!try_open(dir, "sample", &err));
  expect(&err, "is this a PostgreSQL data directory?");
  write_file(dir, "PG_VERSION", "14\n", 3);
  ck_assert(!try_open(dir, "sample", &err));
  expect(&err, "PG_VERSION: PostgreSQL 14 is not supported; supported: 15, 16, 17, 18");
  write_file(dir, "PG_VERSION", "15\n", 3);
  ck_assert(try_open(dir, "sample", &err));
  char file[4200];
  snprintf(file, sizeof file, "%s/PG_VERSION", dir);
  ck_assert(!try_open(file, "sample", &err));
  expect(&err, "is not a directory");
  ck_assert(!try_open("/nonexistent", "sample", &err));
  expect(&err, "/nonexistent/PG_VERSION: No such file or directory");
  remove_tree(dir);
  free(dir);
}
END_TEST

/* Every state but the one in which all is on disk is refused. */
START_TEST(state_of_the_directory)
{
  char *dir = make_tree();
  copy_tree(data_path("pg15-sample/data"), dir);
  size_t len;
  uint8_t *bytes = read_file(dir, "global/pg_control", &len);
  host_error err;
  for (uint8_t state = 0; state <= PG_STATE_IN_PRODUCTION; state++) {
    bytes[16] = state;
    uint32_t crc = crc32c(bytes, 288);
    for (int i = 0; i < 4; i++, crc >>= 8)
      bytes[288 + i] = (uint8_t)crc;
    write_file(dir, "global/pg_control", bytes, len);
    ck_assert_msg(try_open(dir, "sample", &err) == (state == PG_STATE_SHUT_DOWN), "state %u", state);
    if (state != PG_STATE_SHUT_DOWN) {
      expect(&err, "was not stopped cleanly");
      expect(&err, pg_control_state_name(state));
      expect(&err, dir);
    }
  }
  free(bytes);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* Random bytes in the catalogs of a cluster without checksums: any answer, no crash, no read beyond an end. */
START_TEST(random_damage)
{
  rng r = {test_seed(31 + (uint64_t)_i)};
  char *dir = make_tree();
  copy_tree(data_path("pg15-sample/data"), dir);
  size_t refused = 0, accepted = 0;
  for (int round = 0; round < 40; round++) {
    char file[64];
    snprintf(file, sizeof file, "%s", catalog_file(needed[rng_below(&r, NEEDED)]));
    size_t len;
    uint8_t *good = read_file(dir, file, &len);
    size_t page = rng_below(&r, len / 8192) * 8192;
    for (uint64_t n = 1 + rng_below(&r, 20); n > 0; n--) {
      uint8_t byte = (uint8_t)rng_next(&r);
      /* Page header and line pointers, or rows. */
      patch_file(dir, file, page + (rng_chance(&r, 30) ? rng_below(&r, 200) : 200 + rng_below(&r, 7992)), &byte, 1);
    }
    host_error err;
    if (try_open(dir, "sample", &err))
      accepted++;
    else
      refused++;
    write_file(dir, file, good, len);
    free(good);
  }
  host_error err;
  ck_assert_msg(try_open(dir, "sample", &err), "%s", err.text);
  ck_assert_uint_gt(refused, 5);
  ck_assert_uint_gt(accepted, 0);
  remove_tree(dir);
  free(dir);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_catalog");
  TCase *tc = tcase_create("catalogs");
  tcase_add_test(tc, databases);
  tcase_add_test(tc, tables_of_the_sample);
  tcase_add_test(tc, identities_of_the_sample);
  tcase_add_test(tc, keys_of_the_sample);
  tcase_add_loop_test(tc, everything_fits_together, 0, 3);
  tcase_add_loop_test(tc, every_row_of_the_log_has_a_relation, 0, 3);
  tcase_add_loop_test(tc, damaged_catalog, 0, NEEDED);
  tcase_add_loop_test(tc, lost_constraints, 0, 3);
  tcase_add_loop_test(tc, lost_triggers, 1, 3);
  tcase_add_test(tc, wrong_directory);
  tcase_add_test(tc, state_of_the_directory);
  tcase_add_loop_test(tc, random_damage, 0, 2);
  tcase_set_timeout(tc, 60);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
