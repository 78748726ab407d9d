/*
 * An embedded store in memory that notices every wrong order.
 *
 * It holds the rows of tables with their real keys: unique indexes, foreign keys, the identity by which updates and
 * deletes find their row. Transactions carry their place in the commit order, and several may be open at the same
 * time, each on a thread of its own. The store trusts nobody: with every change it looks whether the change could have
 * happened at this place of the order. Its findings are a set of STORE_* bits:
 *
 *   what the data say: a key that exists already, a row that is missing, an old image that differs from the stored
 *     row, a unique value held twice, a child without its parent, a parent gone while children are left;
 *   what the order says: something is touched that another open transaction has changed (DIRTY, BUSY), or something that a
 *     later transaction has changed, read or emptied before (BACKWARDS).
 *
 * A change is carried out whatever is found (an insert takes the place of the row that has its key, an update of a
 * missing row makes it), so that two stores given the same changes in the same order hold the same rows.
 *
 * Rows are seeded: a store that records notes every row that is changed before it was ever inserted, and every parent
 * that is referred to before it was ever touched. Such rows were there before the first transaction. Planted into
 * another store, they let the same transactions run from their beginning. A column that nobody knows is UNKNOWN and
 * equals anything.
 *
 * Which transactions must not change places (what BACKWARDS means), per thing touched; w, t, r are the newest
 * transactions that wrote (made, removed, moved) it, touched it at all, and read it:
 *
 *   a value of a unique index    read: after w.   update of the row: after t.   write: after t and r.
 *   a whole row, without a key   made: after w.   removed: after w.
 *   a table                      any change: after the newest truncate.   truncate: after every change.
 *
 * Locks: one mutex per table, never two at a time. Foreign keys are looked at when a transaction has been executed
 * (store_finish), each side under the lock of its own table: of two transactions that break a reference together, at
 * least one finds the other.
 */
#ifndef SUPPORT_APPLY_STORE_H
#define SUPPORT_APPLY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct store store;
typedef struct store_txn store_txn;
typedef struct store_seeds store_seeds;

/* The state of a value. */
enum {
  STORE_UNKNOWN = 0, /* nobody knows */
  STORE_NULL,
  STORE_BYTES, /* data, len */
  STORE_KEEP   /* only in the new row of an update: as it was */
};

typedef struct store_value {
  uint32_t state;
  uint32_t len;
  const unsigned char *data;
} store_value;

/* How values of a column are equal. Integers are little-endian, of 1, 2, 4 or 8 bytes, and equal across widths. */
enum {
  STORE_AS_BYTES = 0,
  STORE_AS_INTEGER,
  STORE_AS_FLOAT4, /* -0 equals 0, any NaN equals any NaN */
  STORE_AS_FLOAT8,
  STORE_AS_NUMERIC, /* PostgreSQL's stored form: 1.0 equals 1.00 */
  STORE_AS_BLANK_PADDED,
  STORE_AS_INTERVAL, /* PostgreSQL's 16 bytes: 30 days are a month, 24 hours a day */
  STORE_AS_OPAQUE /* equality not known here: equal bytes are equal, different bytes may be */
};

typedef struct store_index {
  const char *name;
  const uint32_t *columns; /* column numbers, from 0 */
  uint32_t ncolumns;
  bool nulls_equal; /* NULLS NOT DISTINCT */
  bool deferred;    /* looked at when the transaction has been executed */
} store_index;

typedef struct store_foreign_key {
  const char *name;
  uint32_t parent;         /* table number */
  uint32_t parent_index;   /* number of a unique index of the parent */
  const uint32_t *columns; /* of the child, in the order of the parent's index columns */
  uint32_t ncolumns;
} store_foreign_key;

/* How an update or delete finds its row, instead of an index number. */
enum {
  STORE_BY_WHOLE_ROW = -1, /* one of the rows that equal the old image */
  STORE_BY_NOTHING = -2    /* not at all: rows can only be inserted */
};

typedef struct store_table {
  const char *name;
  uint32_t ncolumns;
  const uint8_t *classes; /* STORE_AS_..., one per column */
  const store_index *indexes;
  uint32_t nindexes;
  const store_foreign_key *foreign_keys;
  uint32_t nforeign_keys;
  int32_t identity; /* number of an index, or STORE_BY_... */
} store_table;

/* What a change met: bits. 0 is a change that fits. */
enum {
  STORE_EXISTS = 1u << 0,    /* insert of a key that is there */
  STORE_MISSING = 1u << 1,   /* update or delete of a row that is not there */
  STORE_MISMATCH = 1u << 2,  /* the old image is not what is stored */
  STORE_DUPLICATE = 1u << 3, /* a unique value held twice */
  STORE_NO_PARENT = 1u << 4, /* a reference to nothing */
  STORE_CHILDREN = 1u << 5,  /* a referenced key is gone, references to it are left */
  STORE_DIRTY = 1u << 6,     /* another open transaction has changed it */
  STORE_BUSY = 1u << 7,      /* the same for the value of a unique index that is not the identity */
  STORE_BACKWARDS = 1u << 8, /* a later transaction was here before */
  STORE_KINDS = 9
};

/* A word for a bit, such as "row missing". */
const char *store_kind_name(uint32_t bit);

/* The description is copied. */
store *store_new(const store_table *tables, uint32_t ntables);
void store_free(store *s);

/* Begins a transaction at place seq (from 1) of the commit order. Any number may be open. */
store_txn *store_begin(store *s, uint64_t seq);

/* The changes. Values are copied. Each returns what it met. */
uint32_t store_insert(store_txn *t, uint32_t table, const store_value *row);
/* old may be NULL: the identity did not change, the new row has it. */
uint32_t store_update(store_txn *t, uint32_t table, const store_value *old, const store_value *row);
uint32_t store_delete(store_txn *t, uint32_t table, const store_value *old);
uint32_t store_truncate(store_txn *t, const uint32_t *tables, uint32_t ntables);
/* All changes are done: looks at foreign keys and deferred indexes. */
uint32_t store_finish(store_txn *t);

/* One line about the first finding of the newest call that returned not 0, such as "row missing: public.t (id 7)". */
const char *store_txn_detail(const store_txn *t);

/* What the newest call that returned not 0 met, one by one. A foreign key has a table at its other side. */
typedef struct store_finding {
  uint32_t bit;
  uint32_t table;
  uint32_t other; /* the parent, if a foreign key is broken; else the same table */
} store_finding;

const store_finding *store_txn_findings(const store_txn *t, size_t *count);

/* The end of a transaction: what it did stays, or is undone, its place in the order included. Both free t. */
void store_commit(store_txn *t);
void store_rollback(store_txn *t);

/* From now on the store notes rows that must have been there before, and takes them as being there. */
store_seeds *store_record_seeds(store *s);
void store_plant(store *s, const store_seeds *seeds);
/* How many rows are known by an own change, and how many only because somebody refers to them. */
void store_seeds_count(const store_seeds *seeds, size_t *rows, size_t *parents);
void store_seeds_free(store_seeds *seeds);

typedef struct store_difference {
  uint64_t rows;  /* rows compared, of both sides */
  uint64_t count; /* rows that are on one side only, or differ */
  char first[256];
} store_difference;

/*
 * Compares two stores of the same description row for row, whatever order the rows are in: all values, and for rows
 * with a key the transaction that wrote them last. No transaction may be open. Returns whether they are equal.
 */
bool store_equal(store *a, store *b, store_difference *difference);

/* Rows of a table. No transaction may be open. */
uint64_t store_count(store *s, uint32_t table);
/* Calls f with every row of a table, in no particular order; stops when f returns false. */
void store_each(store *s, uint32_t table, bool (*f)(void *user, const store_value *row, uint64_t seq), void *user);

#endif
