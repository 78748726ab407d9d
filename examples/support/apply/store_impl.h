/* The insides of the store, for its own files only. */
#ifndef SUPPORT_APPLY_STORE_IMPL_H
#define SUPPORT_APPLY_STORE_IMPL_H

#include "support/apply/store.h"

#include <pthread.h>

/* Growing bytes. */
typedef struct store_buf {
  unsigned char *data;
  size_t len, cap;
} store_buf;

typedef struct stored_row stored_row;
typedef struct entry entry;

/* A row in the list of one entry. */
typedef struct link {
  entry *in; /* NULL: not in this map */
  stored_row *prev, *next;
} link;

/*
 * A value of a map: who has it, and who was here. It stays when its last row has gone: a later transaction that
 * removed a row must be known to an earlier one that comes too late.
 */
struct entry {
  entry *chain;
  uint64_t hash;
  stored_row *first;
  uint32_t nrows;
  uint32_t len;
  uint64_t write_seq; /* newest transaction that made, removed or moved a stored_row */
  uint64_t touch_seq; /* newest that did that or updated the stored_row */
  uint64_t read_seq;  /* newest committed one that relies on it being there, or (whole rows) that made a copy */
  store_txn *owner;   /* open transaction that touched it */
  bool owner_wrote;
  struct mark *marks;   /* foreign keys: open transactions that changed children */
  struct mark *readers; /* open transactions that count for read_seq once they commit */
  unsigned char key[];
};

typedef struct mark {
  struct mark *next;
  store_txn *txn;
} mark;

typedef struct map {
  entry **buckets;
  size_t nbuckets, count;
} map;

/*
 * Maps of a table: the unique indexes, then the whole row (if rows are found by it, or not at all), then the foreign
 * keys of the child side (value -> children).
 */
struct stored_row {
  stored_row *prev, *next; /* all rows of the stored_table */
  uint64_t seq;     /* who wrote it; 0: seeded */
  store_txn *owner; /* open transaction that made it */
  bool assumed;     /* known only by a reference to it: one index has it */
  store_value *values;
  link links[];
};

typedef struct stored_table {
  store_table desc;
  uint32_t nmaps, whole_map, first_fk; /* whole_map == nmaps: none */
  map *maps;
  stored_row *first;
  uint64_t nrows;
  pthread_mutex_t lock;
  uint64_t touch_seq;    /* newest committed one that touched it */
  uint64_t truncate_seq; /* newest one that emptied it, `truncating` included */
  store_txn *truncating; /* open transaction that emptied it */
  uint32_t open;         /* open transactions that touched it */
  bool *referenced;      /* per index: by a foreign key */
} stored_table;

struct store {
  stored_table *tables;
  uint32_t ntables;
  store_seeds *recording;
};

typedef struct seed {
  uint32_t table;
  int32_t assumed; /* index number, or -1 */
  store_value *values;
} seed;

struct store_seeds {
  store *of;
  seed *list;
  size_t count, cap;
  size_t parents;
};

/* One step of a transaction, for undoing it. */
enum { STEP_ATTACH, STEP_DETACH, STEP_ENTRY, STEP_MARK, STEP_READ, STEP_TRUNCATE };

typedef struct step {
  uint32_t kind; /* STEP_... */
  uint32_t table;
  stored_row *row;     /* STEP_ATTACH, STEP_DETACH */
  entry *entry; /* STEP_ENTRY: with what it was before; STEP_MARK, STEP_READ */
  uint64_t write_seq, touch_seq, truncate_seq; /* as they were: STEP_ENTRY, STEP_TRUNCATE */
  bool owned, owner_wrote;
} step;

/* Something to look at when the transaction has been executed. */
enum { CHECK_PARENT, CHECK_CHILDREN, CHECK_UNIQUE };

typedef struct check {
  uint32_t kind;  /* CHECK_... */
  uint32_t table; /* CHECK_PARENT: the child; else the table of the index */
  uint32_t which; /* foreign key of the child, or index */
  uint32_t len;
  size_t offset; /* of the key in check_keys */
} check;

struct store_txn {
  store *s;
  uint64_t seq;
  step *steps;
  size_t nsteps, steps_cap;
  check *checks;
  size_t nchecks, checks_cap;
  store_buf check_keys;
  bool *touched; /* per stored_table */
  store_buf key; /* scratch */
  char detail[256];
  store_finding *findings; /* of the newest call, as is detail */
  size_t nfindings, findings_cap;
};

/* store_key.c */
enum { KEY_NONE, KEY_UNKNOWN, KEY_KNOWN };
void store_buf_add(store_buf *b, const void *data, size_t len);
/* The key of some columns, canonical. KEY_NONE: a NULL makes it no key. */
int store_key(store_buf *out, const store_table *desc, const uint32_t *columns, uint32_t ncolumns, bool nulls_equal,
              const store_value *values);
/* The whole row, exact. */
void store_whole_key(store_buf *out, const store_table *desc, const store_value *values);
bool store_same(const store_value *a, const store_value *b);
/* " (id 7, name abc)" as far as it can be shown. */
void store_describe(char *out, size_t cap, const store_table *desc, const store_value *values);
store_value *store_values_copy(const store_value *values, uint32_t n);

/* store_rows.c */
entry *store_entry_of(map *m, const unsigned char *key, size_t len, bool create);
entry *store_entry(map *m, const store_buf *key, bool create);
/* Puts a row into its maps, or takes it out. Under the lock of the table. */
void store_attach(stored_table *tb, stored_row *r, store_buf *scratch);
void store_detach(stored_table *tb, stored_row *r);
stored_row *store_row_new(const stored_table *tb, const store_value *values);
void store_row_free(stored_row *r);
void store_map_free(map *m);

#endif
