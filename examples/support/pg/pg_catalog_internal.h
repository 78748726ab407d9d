/* Insides of a catalog. Used by pg_catalog only. */
#ifndef SUPPORT_PG_CATALOG_INTERNAL_H
#define SUPPORT_PG_CATALOG_INTERNAL_H

#include "support/pg/pg_catalog.h"
#include "support/pg/pg_rows.h"

typedef struct pg_file_entry {
  twpa_locator locator;
  pg_file_owner owner; /* relation NULL: claimed by several */
} pg_file_entry;

typedef struct pg_enum_label {
  uint32_t oid;
  char label[64];
} pg_enum_label;

struct pg_catalog {
  pg_database database;
  pg_pool pool;
  pg_relation *items;            /* by oid, rising */
  const pg_relation **relations; /* the same, as pointers */
  const pg_relation **by_name;   /* those that live, by schema and name */
  size_t relation_count, by_name_count;
  pg_type *types; /* by oid, rising */
  size_t type_count;
  pg_enum_label *labels; /* by oid, rising */
  size_t label_count;
  pg_file_entry *files; /* by locator, rising */
  size_t file_count;
};

/* Second step of loading: chooses and joins the rows. */
bool pg_catalog_build(pg_catalog *cat, pg_rows *rows, const pg_cluster *cluster, host_error *err);

/*
 * Third step: to whom the files belong. By relation, in the order of `items`: the row of pg_class that describes it, the
 * age of its youngest column, whether a column was stored otherwise before.
 */
bool pg_catalog_map_files(pg_catalog *cat, const pg_rows *rows, const pg_class_row *const *chosen,
                          const uint32_t *column_ages, const uint8_t *columns_changed, host_error *err);

/*
 * Between the two: is pg_constraint complete? A page that lost its rows looks like one that never had any, and nothing
 * that is read for its own sake refers to a foreign key.
 */
bool pg_catalog_check_constraints(const pg_catalog *cat, pg_rows *rows, host_error *err);

/* How rows with the same oid are preferred: what lives, then what was deleted, newest first. */
int pg_fate_compare(const pg_fate *a, const pg_fate *b);
/* True if the row belongs to a relation that lives (dropped_by 0), or went together with a dropped one. */
bool pg_fate_goes_with(const pg_fate *fate, uint32_t dropped_by);

int pg_locator_compare(const twpa_locator *a, const twpa_locator *b);

/* The relation to fill in, or NULL. */
pg_relation *pg_catalog_find(const pg_catalog *cat, uint32_t oid);

#endif
