/*
 * First step of loading a catalog: every stored and committed row version of the catalog tables that matter, dead or
 * alive, as plain arrays. Nothing is chosen or joined here. Used by pg_catalog only.
 */
#ifndef SUPPORT_PG_ROWS_H
#define SUPPORT_PG_ROWS_H

#include "support/pg/pg_catalog.h"
#include "support/pg/pg_table.h"

typedef struct pg_namespace_row {
  pg_fate fate;
  uint32_t oid;
  char name[64];
} pg_namespace_row;

typedef struct pg_class_row {
  pg_fate fate;
  uint32_t oid, schema, file, space, toast;
  uint32_t rewrite; /* the relation that this transient one is a rewrite of; else 0 */
  char name[64];
  char kind, persistence, replica_identity;
  int16_t natts;
  bool shared, partition, user_catalog, triggers; /* `triggers` may be true when the last one is gone already */
} pg_class_row;

typedef struct pg_attribute_row {
  pg_fate fate;
  uint32_t relation;
  pg_column column;
  pg_attr attr;
} pg_attribute_row;

typedef struct pg_type_row {
  pg_fate fate;
  uint32_t relation;
  pg_type type;
} pg_type_row;

typedef struct pg_index_row {
  pg_fate fate;
  uint32_t relation;
  pg_index index; /* name, relation and the collations' determinism are still missing */
  pg_index_key *keys;
} pg_index_row;

typedef struct pg_constraint_row {
  pg_fate fate;
  uint32_t child, parent, parent_index;
  pg_foreign_key key; /* the pointers to relations and index are still missing */
} pg_constraint_row;

/* Any constraint, foreign keys included: by these pg_constraint is found complete, or not. */
typedef struct pg_mark_row {
  pg_fate fate;
  uint32_t oid, relation, referenced, index;
  char type; /* p primary key, u unique, x exclusion, f foreign key, c check, t trigger, n not null */
  bool deferrable;
} pg_mark_row;

/* A trigger that a constraint owns. */
typedef struct pg_trigger_row {
  pg_fate fate;
  uint32_t relation, constraint;
} pg_trigger_row;

typedef struct pg_inherits_row {
  pg_fate fate;
  uint32_t child, parent;
} pg_inherits_row;

typedef struct pg_collation_row {
  pg_fate fate;
  uint32_t oid;
  bool deterministic;
} pg_collation_row;

typedef struct pg_opclass_row {
  pg_fate fate;
  uint32_t oid, type;
} pg_opclass_row;

typedef struct pg_enum_row {
  pg_fate fate;
  uint32_t oid;
  char label[64];
} pg_enum_row;

typedef struct pg_rows {
  pg_pool *pool; /* holds missing values and key vectors */
  pg_vec namespaces;  /* of pg_namespace_row */
  pg_vec classes;     /* of pg_class_row */
  pg_vec attributes;  /* of pg_attribute_row */
  pg_vec types;       /* of pg_type_row */
  pg_vec indexes;     /* of pg_index_row */
  pg_vec constraints; /* of pg_constraint_row */
  pg_vec marks;       /* of pg_mark_row */
  pg_vec triggers;    /* of pg_trigger_row */
  pg_vec inherits;    /* of pg_inherits_row */
  pg_vec collations;  /* of pg_collation_row */
  pg_vec opclasses;   /* of pg_opclass_row */
  pg_vec enums;       /* of pg_enum_row */
  char directory[PG_PATH_MAX]; /* of the database */
  pg_relmap map;               /* of the database */
  uint32_t new_pages;          /* of pg_constraint: nothing but zeroes */
  bool no_triggers;            /* pg_trigger is not there */
} pg_rows;

/* Reads everything. The rows hold memory also if this fails. */
bool pg_rows_load(pg_rows *rows, pg_pool *pool, const pg_cluster *cluster, const pg_database *database,
                  host_error *err);
void pg_rows_free(pg_rows *rows);

#endif
