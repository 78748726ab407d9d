/*
 * The catalogs of one database of a cold data directory, as the host of a decoder needs them: which relation a file
 * belongs to, its columns, its keys, its foreign keys.
 *
 * Answers are those of the end of the WAL, with two exceptions, because the WAL in hand was written before:
 *
 * - A file number belongs to a relation if any stored row version of pg_class says so, dead or alive, because TRUNCATE
 *   and rewrites give a relation a new file. pg_file_owner tells what is not certain about an old file.
 * - A relation that was dropped is still described, as it was when it was dropped (`dropped` is set), as long as its
 *   rows have not been vacuumed away.
 *
 * Functions take the LSN of the change that asks. A catalog of the end of the WAL gives the same answer for every LSN;
 * a historic catalog gives the answer that was right there. Callers pass it always.
 *
 * A catalog does not change once it is loaded: any number of threads may read it.
 */
#ifndef SUPPORT_PG_CATALOG_H
#define SUPPORT_PG_CATALOG_H

#include "support/pg/pg_cluster.h"
#include "support/pg/pg_tuple.h"

#include <twpa/types.h>

#define PG_FIRST_USER_OID 16384u   /* lower ones are made by initdb */
#define PG_FIRST_UNPINNED_OID 12000u /* relations below it are system catalogs */

typedef struct pg_relation pg_relation;

typedef struct pg_type {
  uint32_t oid;
  uint32_t base;      /* a domain: the type below all domains; else the oid itself */
  uint32_t element;   /* an array: the type of its elements; else 0 */
  uint32_t namespace_oid;
  int16_t len;
  char align;
  uint8_t byval;
  char kind;          /* b base, c composite, d domain, e enum, m multirange, p pseudo, r range */
  uint8_t true_array; /* len -1 and element != 0 */
  char name[64];
} pg_type;

typedef struct pg_column {
  char name[64];
  uint32_t type;      /* 0 if dropped */
  uint32_t base_type; /* domains resolved */
  int32_t typmod;
  uint32_t collation; /* 0: the type has none */
  int16_t num;        /* from 1; columns[num - 1] */
  uint8_t notnull;
  uint8_t dropped;
  char generated;     /* 0; s stored: in the row; v virtual: not in the row */
  uint8_t nondeterministic; /* equal values may differ in their bytes, because of the collation */
  char base_kind;     /* of base_type, as in pg_type; 0 if dropped */
  uint8_t reserved[1];
} pg_column;

typedef struct pg_index_key {
  int16_t column;     /* from 1; 0: an expression; negative: a system column */
  uint8_t nondeterministic; /* by the collation of the index, which may differ from the column's */
  uint8_t builtin_class;    /* the operator class came with PostgreSQL and is for the column's own type: equality is that of
                               the type (an index on text may be of the class for char(n), which ignores blanks) */
  uint32_t collation;
  uint32_t operator_class;
  uint32_t class_type;      /* the type that the operator class is for; 0 if it is not known (a dropped one) */
} pg_index_key;

typedef struct pg_index {
  uint32_t oid;
  char name[64];
  const pg_relation *relation;
  uint8_t unique;
  uint8_t primary;
  uint8_t immediate;    /* uniqueness is checked at once, not at the end of the statement or transaction */
  uint8_t valid;        /* complete and in use: what is not yet, or no longer, protects nothing */
  uint8_t identity;     /* marked by REPLICA IDENTITY USING INDEX */
  uint8_t exclusion;    /* of an exclusion constraint (or a temporal key): equality does not decide */
  uint8_t nulls_equal;  /* NULLS NOT DISTINCT */
  uint8_t partial;      /* only rows that fulfil a predicate */
  uint8_t expressions;  /* at least one key is an expression */
  uint8_t reserved[1];
  uint16_t key_count;   /* without INCLUDE columns */
  const pg_index_key *keys;
} pg_index;

typedef struct pg_foreign_key {
  uint32_t oid;
  char name[64];
  const pg_relation *child, *parent; /* `parent` is the referenced relation; child == parent is possible */
  const pg_index *parent_index;      /* the unique index that the reference uses; NULL if it is not known */
  uint16_t column_count;
  const int16_t *child_columns, *parent_columns; /* from 1, in pairs */
  char on_update, on_delete; /* a no action, r restrict, c cascade, n set null, d set default */
  char match;                /* s simple, f full, p partial */
  uint8_t deferrable, deferred, validated;
  uint8_t enforced; /* 0: NOT ENFORCED (18) */
  uint8_t period;   /* temporal: containment decides, not equality (18) */
  uint8_t dropped;  /* went together with a relation that was dropped */
  uint8_t reserved[3];
  uint32_t from_partitioned; /* oid of the constraint of a partitioned table that this one belongs to; 0 if none */
} pg_foreign_key;

struct pg_relation {
  uint32_t oid;
  char schema[64];
  char name[64];
  twpa_locator locator;  /* its present file; all zero if it has none */
  char kind;             /* r table, p partitioned table, m materialized view, t toast, i index, S sequence, ... */
  char persistence;      /* p permanent, u unlogged, t temporary */
  char replica_identity; /* d default, n nothing, f full, i index */
  uint8_t shared;
  uint8_t system_catalog; /* pg_catalog and its toast relations: changes are not given to the user */
  uint8_t user_catalog;   /* marked user_catalog_table: decoded, and its rows have new-cid records */
  uint8_t logically_logged; /* its changes are in the WAL in a decodable form: permanent, not a catalog, has rows */
  uint8_t dropped;        /* gone at the end of the WAL */
  uint32_t dropped_by;    /* by this (sub)transaction */
  uint32_t toast;         /* oid of its toast relation; 0 if none */
  uint32_t toast_owner;   /* a toast relation: whose */
  const pg_relation *parent; /* a partition: its partitioned table */
  const pg_relation *root;   /* a partition: the uppermost one; else itself */

  uint16_t column_count;  /* dropped columns included */
  const pg_column *columns;
  const pg_attr *attrs;   /* how they are stored, same order: for pg_tuple_deform */

  uint16_t index_count;
  const pg_index *const *indexes; /* by oid, rising */
  const pg_index *primary;        /* NULL if none */
  const pg_index *identity;       /* what identifies old rows (identity d: the primary key, i: the index); else NULL */

  uint16_t references_count;
  const pg_foreign_key *const *references;    /* this relation is the child */
  uint16_t referenced_by_count;
  const pg_foreign_key *const *referenced_by; /* this relation is the parent */
};

/* To whom a file belongs. */
typedef struct pg_file_owner {
  const pg_relation *relation;
  uint8_t current;      /* the relation's file at the end of the WAL */
  uint8_t layout_known; /* rows in the file are laid out as `columns` say; 0: the columns may have changed since */
  uint8_t rewrite;      /* a rewrite of the table filled the file: see rewrite_xid */
  uint8_t reserved;
  uint32_t rewrite_xid; /* inserts by this (sub)transaction may be copies made by the rewrite, not new rows */
} pg_file_owner;

typedef struct pg_catalog pg_catalog;

/*
 * Loads the catalogs of a database. The cluster must stay open as long as the catalog. On failure *out is NULL and the
 * message names the file and what is wrong. What refers to each other must be there: rows that were lost with a page of
 * zeroes are found so, foreign keys too (by pg_trigger; a cut-down copy without it is refused where it cannot be known).
 */
bool pg_catalog_open(pg_catalog **out, pg_cluster *cluster, uint32_t database, host_error *err);
void pg_catalog_close(pg_catalog *cat);

/* False if no stored row version knows the file, or if two relations claim it and none of them has it now. */
bool pg_catalog_file_owner(pg_file_owner *out, const pg_catalog *cat, twpa_locator locator, twpa_lsn lsn);

/* The relation of pg_catalog_file_owner, or NULL. */
const pg_relation *pg_catalog_by_file(const pg_catalog *cat, twpa_locator locator, twpa_lsn lsn);

/* NULL if there is none. */
const pg_relation *pg_catalog_by_oid(const pg_catalog *cat, uint32_t oid, twpa_lsn lsn);

/* Relations that exist at the end of the WAL only. NULL if there is none. */
const pg_relation *pg_catalog_by_name(const pg_catalog *cat, const char *schema, const char *name);

/* All relations, by oid, rising. */
const pg_relation *const *pg_catalog_relations(const pg_catalog *cat, size_t *count);

/* NULL if there is none. */
const pg_type *pg_catalog_type(const pg_catalog *cat, uint32_t oid);

/* The label of an enum value, or NULL. */
const char *pg_catalog_enum_label(const pg_catalog *cat, uint32_t value_oid);

/* The database that was loaded. */
const pg_database *pg_catalog_database(const pg_catalog *cat);

#endif
