/* Look-ups. Everything is sorted when the catalog is loaded; then nothing changes any more. */
#include "support/pg/pg_catalog_internal.h"

#include <stdlib.h>
#include <string.h>

bool pg_catalog_open(pg_catalog **out, pg_cluster *cluster, uint32_t database, host_error *err)
{
  *out = NULL;
  const pg_database *db = pg_cluster_database_by_oid(cluster, database);
  if (db == NULL)
    return host_fail(err, "%.500s: there is no database with the oid %u", cluster->path, database);
  pg_catalog *cat = calloc(1, sizeof *cat);
  pg_rows *rows = calloc(1, sizeof *rows);
  bool ok = (cat != NULL && rows != NULL) || pg_no_memory(err);
  if (ok) {
    cat->database = *db;
    ok = pg_rows_load(rows, &cat->pool, cluster, db, err) && pg_catalog_build(cat, rows, cluster, err);
    pg_rows_free(rows);
  }
  free(rows);
  if (!ok) {
    pg_catalog_close(cat);
    return false;
  }
  *out = cat;
  return true;
}

void pg_catalog_close(pg_catalog *cat)
{
  if (cat == NULL)
    return;
  pg_pool_free(&cat->pool);
  free(cat);
}

int pg_locator_compare(const twpa_locator *a, const twpa_locator *b)
{
  if (a->space != b->space)
    return a->space < b->space ? -1 : 1;
  if (a->database != b->database)
    return a->database < b->database ? -1 : 1;
  return a->file < b->file ? -1 : a->file > b->file;
}

bool pg_catalog_file_owner(pg_file_owner *out, const pg_catalog *cat, twpa_locator locator, twpa_lsn lsn)
{
  (void)lsn; /* the end of the WAL, whatever is asked for */
  size_t low = 0, high = cat->file_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int order = pg_locator_compare(&cat->files[mid].locator, &locator);
    if (order == 0) {
      *out = cat->files[mid].owner;
      return out->relation != NULL;
    }
    if (order < 0)
      low = mid + 1;
    else
      high = mid;
  }
  *out = (pg_file_owner){0};
  return false;
}

const pg_relation *pg_catalog_by_file(const pg_catalog *cat, twpa_locator locator, twpa_lsn lsn)
{
  pg_file_owner owner;
  return pg_catalog_file_owner(&owner, cat, locator, lsn) ? owner.relation : NULL;
}

pg_relation *pg_catalog_find(const pg_catalog *cat, uint32_t oid)
{
  size_t low = 0, high = cat->relation_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (cat->items[mid].oid == oid)
      return &cat->items[mid];
    if (cat->items[mid].oid < oid)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

const pg_relation *pg_catalog_by_oid(const pg_catalog *cat, uint32_t oid, twpa_lsn lsn)
{
  (void)lsn;
  return pg_catalog_find(cat, oid);
}

const pg_relation *pg_catalog_by_name(const pg_catalog *cat, const char *schema, const char *name)
{
  size_t low = 0, high = cat->by_name_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    const pg_relation *r = cat->by_name[mid];
    int order = strcmp(r->schema, schema);
    order = order != 0 ? order : strcmp(r->name, name);
    if (order == 0)
      return r;
    if (order < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

const pg_relation *const *pg_catalog_relations(const pg_catalog *cat, size_t *count)
{
  *count = cat->relation_count;
  return cat->relations;
}

const pg_type *pg_catalog_type(const pg_catalog *cat, uint32_t oid)
{
  size_t low = 0, high = cat->type_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (cat->types[mid].oid == oid)
      return &cat->types[mid];
    if (cat->types[mid].oid < oid)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

const char *pg_catalog_enum_label(const pg_catalog *cat, uint32_t value_oid)
{
  size_t low = 0, high = cat->label_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (cat->labels[mid].oid == value_oid)
      return cat->labels[mid].label;
    if (cat->labels[mid].oid < value_oid)
      low = mid + 1;
    else
      high = mid;
  }
  return NULL;
}

const pg_database *pg_catalog_database(const pg_catalog *cat)
{
  return &cat->database;
}
