/*
 * What was decoded: tables, and whole transactions in commit order with their changes as values.
 *
 * Some changes cannot be applied, because nobody can tell which row they are about or what is in it. They keep their
 * place in the transaction and in the plan (as a barrier on their table) and are counted, and the table is marked
 * `loose`: since its rows cannot be followed, its keys are not checked, and of all its changes,
 * also of those before that one, only inserts and truncates are applied. Its updates and deletes are counted as well.
 */
#ifndef TWPA_REPLAY_MODEL_H
#define TWPA_REPLAY_MODEL_H

#include "support/apply/store.h"
#include "support/pg/pg_catalog.h"

#include <twpa/relation.h>

/* Why a change is not applied. */
enum {
  REPLAY_APPLIED = 0,
  REPLAY_NO_IDENTITY = 1, /* update or delete without anything that says which row */
  REPLAY_UNREADABLE = 2,  /* the row does not fit the columns, or the file's layout is not known */
  REPLAY_NO_RELATION = 3, /* no catalog row for its file: it was dropped */
  REPLAY_PERHAPS_NONE =
      4, /* a delete without old row in such a file: perhaps of a part of a long value, so not counted */
  REPLAY_LOOSE = 5, /* readable, but another one of its table is not: set by replay_describe */
  REPLAY_SKIPS = 6
};

enum { REPLAY_INSERT = 1, REPLAY_UPDATE, REPLAY_DELETE, REPLAY_TRUNCATE, REPLAY_DDL };

#define REPLAY_NO_TABLE UINT32_MAX

typedef struct replay_change {
  uint32_t op;
  uint32_t skip;  /* REPLAY_APPLIED, or why not */
  uint32_t table; /* number; REPLAY_NO_TABLE: not known (a barrier on the whole database) */
  uint32_t met;   /* what serial apply met: the same is expected of every other apply */
  twpa_lsn lsn;
  const store_value *old_row, *new_row; /* all columns of the table; NULL: not in the WAL */
  const uint32_t *tables;               /* TRUNCATE */
  uint32_t ntables;
  uint32_t reserved;
} replay_change;

typedef struct replay_txn {
  uint64_t xid;
  twpa_lsn commit_lsn, end_lsn;
  replay_change *changes;
  uint32_t nchanges;
  uint32_t met;    /* serial apply at its end */
  store_txn *open; /* while it is open in the parallel store */
  uint64_t tries;
} replay_txn;

/* A foreign key that is not followed by its values: whoever changes the one side waits for whoever changes the other. */
typedef struct replay_coarse {
  struct replay_coarse *next;
  uint64_t key;
  bool parent; /* the table is on the parent's side, or on both */
} replay_coarse;

typedef struct replay_table {
  const pg_relation *relation;
  char name[132];
  uint64_t changes;
  uint64_t skipped[REPLAY_SKIPS];
  bool loose;
  bool redefined; /* its schema, or something near it, changed in the part that is applied */
  twpa_lsn ddl_in,
      truncated_in; /* the newest transaction that changed its schema, or emptied it: its final LSN */
  replay_coarse *coarse;
  twpa_relation *planned; /* as the plan knows it */
} replay_table;

/* Memory that lives as long as the model. */
typedef struct replay_chunk {
  struct replay_chunk *next;
  size_t used, cap;
} replay_chunk;

typedef struct replay_counts {
  uint64_t ops[8];  /* by REPLAY_INSERT ... REPLAY_DDL */
  uint64_t changes; /* rows and truncates of this database */
  uint64_t skipped[REPLAY_SKIPS];
  uint64_t messages;
  uint64_t records;
  uint64_t before_start;     /* transactions of this database committed before the start */
  uint64_t left_out;         /* transactions open at the start */
  uint64_t left_out_commits; /* of those, committed later */
  uint64_t other_database;   /* transactions of other databases */
  uint64_t outside;          /* transactions before --from or after --to */
  uint64_t rolled_back;      /* transactions and subtransactions */
  uint64_t below_logical;    /* transactions from before wal_level was logical */
  uint64_t empty;            /* committed without a change that counts */
} replay_counts;

typedef struct replay_model {
  pg_cluster *cluster;
  pg_catalog *catalog;
  const pg_database *database;
  twpa_lsn decodable;  /* where decoding may begin; 0: at the beginning of the WAL */
  twpa_lsn start, end; /* part of the WAL that was decoded */
  char end_reason[128];
  replay_table *tables;
  uint32_t ntables;
  size_t tables_cap;
  replay_txn *txns;
  size_t ntxns, txns_cap;
  replay_counts counts;
  replay_chunk *memory;
  store_table *described; /* for store_new; see tables.h */
  uint32_t constraints_unchecked;
} replay_model;

void *replay_memory(replay_model *m, size_t size);
void replay_model_free(replay_model *m);

#endif
