/**
 * @file relation.h
 * What the planner must know of a relation: the keys of the target and the identity in the stream.
 */
#ifndef TWPA_RELATION_H
#define TWPA_RELATION_H

#include <twpa/key.h>

/**
 * @defgroup relation Relations
 * A relation tells which keys a change touches. Only constraints that exist **on the target** count, and all of those
 * that the target enforces must be named: a unique index that is not described is a conflict that is not seen.
 *
 * Foreign keys are described on both sides: the child names the parent's index, the parent's description lists the
 * reference. Both must be known to the plan with the same flags, or twpa_plan_add() refuses them.
 *
 * A relation object is immutable. When the schema changes, make a new one with the same id and a higher epoch: the plan
 * puts a barrier between what was derived with the old one and with the new one, and refuses the old one from then on.
 *
 * What cannot be turned into keys exactly degrades to something coarser that is correct: a column without known
 * equality is left out of its keys; an expression index, an exclusion constraint and a foreign key between types that are
 * not of one family make each change that concerns them a barrier on the relations involved. twpa_plan_report() counts
 * it.
 * @{
 */

TWPA_BEGIN_DECLS

/** Flags of a column. */
enum {
  TWPA_COLUMN_GENERATED = 1 /**< Computed by the target, not in the stream: takes no part in whole-row keys. */
};

/** A column, in the order in which a change gives its values. */
typedef struct twpa_column_desc {
  uint32_t cls;   /**< Equality class, TWPA_CLASS_*. */
  uint32_t flags; /**< 0 or TWPA_COLUMN_*. */
} twpa_column_desc;

/** Flags of an index. */
enum {
  TWPA_INDEX_PRIMARY = 1,            /**< The primary key of the target. At most one. */
  TWPA_INDEX_NULLS_NOT_DISTINCT = 2, /**< NULL is a value like any other. */
  TWPA_INDEX_PARTIAL = 4,            /**< Only rows that satisfy a predicate; see predicate_columns. */
  TWPA_INDEX_EXPRESSION = 8,         /**< Over something else than columns: every change of the relation is a barrier. */
  TWPA_INDEX_DEFERRABLE = 16,        /**< Checked at commit, or not at all under the replica role: never optimistic. */
  TWPA_INDEX_EXCLUSION = 32,         /**< An exclusion constraint: every change of the relation is a barrier. */
  TWPA_INDEX_PREFIX_UTF8 = 64        /**< prefix_len counts characters of UTF-8; without it, bytes. */
};

/** A unique index of the target. */
typedef struct twpa_index_desc {
  uint64_t id;                       /**< The host's id; unique within the relation. */
  const uint32_t *columns;           /**< Positions in twpa_relation_desc.columns, in the order of the index. */
  size_t ncolumns;                   /**< How many. At least 1, unless it is over expressions. */
  const uint32_t *prefix_len;        /**< How much of each column is in the index, 0: all. NULL: all of all columns. */
  const uint32_t *predicate_columns; /**< Partial: the columns its predicate looks at. NULL: could be any. */
  size_t npredicate_columns;         /**< How many. */
  uint32_t flags;                    /**< TWPA_INDEX_*. */
  uint32_t reserved;                 /**< 0. */
} twpa_index_desc;

/** Flags of a foreign key, as the target has it. */
enum {
  TWPA_FK_ENFORCED = 1,   /**< The target checks it while changes are applied (under PostgreSQL's replica role: ENABLE
                               ALWAYS or REPLICA triggers only). Without this and without an action it is ignored,
                               unless twpa_plan_options.foreign_keys says otherwise. */
  TWPA_FK_CASCADE = 2,    /**< The target itself deletes or changes child rows (CASCADE, SET NULL, SET DEFAULT). The
                               source must enforce such a foreign key, with the same actions, so that the stream has
                               what they do; if it does not, the parent needs TWPA_RELATION_SIDE_EFFECTS, with its
                               children near and far as what it affects. */
  TWPA_FK_MATCH_FULL = 4, /**< MATCH FULL. */
  TWPA_FK_DEFERRABLE = 8  /**< Checked at commit. */
};

/** A foreign key, seen from the child. */
typedef struct twpa_fk_desc {
  uint64_t id;                    /**< The host's id of the constraint; unique within the relation. */
  uint64_t parent;                /**< The id of the parent relation (of its root, if it is a partition). */
  uint64_t parent_index;          /**< The id of the referenced unique index of the parent. */
  const uint32_t *columns;        /**< Positions of the child's columns, **in the order of the parent's index**. */
  const uint32_t *parent_classes; /**< Class of each column of the parent's index; NULL: those of the child. */
  size_t ncolumns;                /**< How many columns. */
  uint32_t flags;                 /**< TWPA_FK_*. */
  uint32_t reserved;              /**< 0. */
} twpa_fk_desc;

/** A foreign key, seen from the parent. */
typedef struct twpa_reference_desc {
  uint64_t child;    /**< The id of the child relation (of its root, if it is a partition). */
  uint64_t index;    /**< The id of the index of this relation that the child references. */
  uint32_t flags;    /**< TWPA_FK_*: the same as on the child's side. */
  uint32_t reserved; /**< 0. */
} twpa_reference_desc;

/** Replica identity: what the stream says of the old row. Numbers of twpa_relation_desc.identity. */
enum {
  TWPA_IDENTITY_DEFAULT = 0, /**< The primary key; without one the same as NOTHING. */
  TWPA_IDENTITY_INDEX = 1,   /**< The columns of identity_index. */
  TWPA_IDENTITY_FULL = 2,    /**< The whole old row. */
  TWPA_IDENTITY_NOTHING = 3  /**< Nothing: only inserts are possible. */
};

/** Flags of a relation. */
enum {
  TWPA_RELATION_SIDE_EFFECTS = 1, /**< A change does more than it says (triggers): a barrier on the relation and on those
                                       in twpa_relation_desc.affects; if that is empty, on the whole database. To be
                                       given to parents too if the target's own foreign key actions fire triggers of a
                                       child: nobody else says that a change of the parent may come to that. */
  TWPA_RELATION_NO_MEMORY = 2,    /**< The plan's row memory leaves this relation out. */
  TWPA_RELATION_SERIAL = 4        /**< Every change is a barrier on the relation. */
};

/** Describes a relation. Everything is copied. */
typedef struct twpa_relation_desc {
  size_t struct_size;                    /**< Set by #TWPA_RELATION_DESC_INIT. */
  uint64_t id;                           /**< The host's id of the relation. */
  uint64_t root;                         /**< The id of the partitioned table it is a leaf of; 0: it is its own. Keys and
                                              barriers are those of the root, index ids are the root's. */
  uint64_t epoch;                        /**< Schema epoch; rises with every change of the schema. */
  const char *name;                      /**< For explanations; NULL: none. */
  const twpa_column_desc *columns;       /**< The columns, in the order in which changes give their values. */
  size_t ncolumns;                       /**< How many. */
  const twpa_index_desc *indexes;        /**< All unique indexes of the target. */
  size_t nindexes;                       /**< How many. */
  const twpa_fk_desc *fks;               /**< Foreign keys of which this relation is the child. */
  size_t nfks;                           /**< How many. */
  const twpa_reference_desc *references; /**< Foreign keys of which this relation is the parent. */
  size_t nreferences;                    /**< How many. */
  const uint64_t *affects;               /**< With SIDE_EFFECTS: ids of the other relations that may change. */
  size_t naffects;                       /**< How many. */
  uint64_t identity_index;               /**< With TWPA_IDENTITY_INDEX: the id of the index; it must be in indexes, plain
                                              (not partial, not deferrable, no expression, no exclusion). */
  uint32_t identity;                     /**< TWPA_IDENTITY_*. */
  uint32_t flags;                        /**< TWPA_RELATION_*. */
} twpa_relation_desc;

/** Initialises the first field of a #twpa_relation_desc; the others are zero. */
#define TWPA_RELATION_DESC_INIT sizeof(twpa_relation_desc)

/** A relation as the planner knows it. Immutable and counted; may be used by several plans and threads at a time. */
typedef struct twpa_relation twpa_relation;

/**
 * Makes a relation.
 *
 * @param[out] relation  the relation, held once
 * @param[in] desc       its description; copied
 * @param[in] allocator  where its memory comes from; NULL: the C library
 * @return #TWPA_OK; #TWPA_E_INVAL if the description contradicts itself (a column that does not exist, two primary keys,
 *         an id twice, an identity index that is missing or cannot identify, an unknown class or identity, a reference to
 *         an index that is missing); #TWPA_E_UNSUPPORTED for a flag or a field that this library does not know;
 *         #TWPA_E_NOMEM. Cost: linear in the description, indexes and foreign keys compared pairwise.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_relation_new(twpa_relation **relation, const twpa_relation_desc *desc,
                                                      const twpa_allocator *allocator);

/**
 * Holds a relation once more. Safe against concurrent holding and letting go by other threads.
 * @param[in] relation  a relation; NULL does nothing
 * @return the relation. O(1).
 */
TWPA_API twpa_relation *twpa_relation_ref(twpa_relation *relation);

/**
 * Lets go of a relation; the last holder frees it. Access sets and plans hold what they need.
 * @param[in] relation  a relation; NULL does nothing
 */
TWPA_API void twpa_relation_free(twpa_relation *relation);

/**
 * The id of a relation.
 * @param[in] relation  a relation
 * @return twpa_relation_desc.id; 0 for NULL. O(1).
 */
TWPA_API uint64_t twpa_relation_id(const twpa_relation *relation);

TWPA_END_DECLS
/** @} */
#endif
