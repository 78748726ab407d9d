/*
 * A relation, digested: what the derivation of accesses asks of it. Immutable, one block of memory, counted.
 */
#ifndef TWPA_PLAN_RELATION_H
#define TWPA_PLAN_RELATION_H

#include "base/alloc.h"

#include <stdatomic.h>
#include <twpa/relation.h>

typedef struct twpa__index {
  uint64_t id;
  const uint32_t *columns;
  const uint32_t *prefix;    /* per column, 0: all; NULL: all of all */
  const uint32_t *predicate; /* columns the predicate looks at */
  size_t ncolumns, npredicate;
  uint32_t flags;
  bool exact;         /* made of columns: neither expression nor exclusion */
  bool full;          /* for the strength of row locks: unique over columns, no predicate */
  bool in_identity;   /* its columns, and those of its predicate, are identity columns of a DEFAULT or INDEX identity */
  bool in_bytes;      /* equal values have equal bytes */
  bool known;         /* no column of unknown class */
  bool ref_enforced;  /* a foreign key that the target enforces or acts on references it */
  bool ref_any;       /* any foreign key does */
} twpa__index;

typedef struct twpa__fk {
  uint64_t id, parent, parent_index;
  const uint32_t *columns;
  size_t ncolumns;
  uint32_t flags;
  bool exact;       /* can be turned into keys */
  bool in_identity;
} twpa__fk;

typedef struct twpa__reference {
  uint64_t child;
  uint32_t index; /* position in indexes */
  uint32_t flags;
} twpa__reference;

/* Where the row key of a relation comes from. */
enum { TWPA__ROW_NONE, TWPA__ROW_INDEX, TWPA__ROW_WHOLE };

struct twpa_relation {
  atomic_size_t refs;
  twpa__mem mem;
  size_t size; /* of this block */
  uint64_t id;
  uint64_t plan_id; /* the root's id: what keys and barriers go by */
  uint64_t epoch;
  const char *name; /* or NULL */
  const twpa_column_desc *columns;
  const twpa__index *indexes;
  const twpa__fk *fks;
  const twpa__reference *references;
  const uint64_t *affects;
  const bool *identity_column; /* per column */
  size_t ncolumns, nindexes, nfks, nreferences, naffects;
  uint32_t identity;
  uint32_t flags;
  uint32_t row_kind;  /* TWPA__ROW_* */
  uint32_t row_index; /* position, with TWPA__ROW_INDEX */
  bool inexact_index; /* an expression index or exclusion constraint: every change is a barrier */
  bool unknown_class; /* a key column of unknown class */
  bool can_remember;  /* row memory may know its rows */
};

/* Does a foreign key with these flags count under the policy TWPA_FOREIGN_KEYS_*? (Numbers of twpa/plan.h.) */
bool twpa__fk_counts(uint32_t fk_flags, uint32_t policy);
/* Is the index referenced by a foreign key that counts? */
bool twpa__index_referenced(const twpa__index *index, uint32_t policy);

#endif
