/**
 * @file access_set.h
 * What one transaction touches: from its changes to accesses.
 */
#ifndef TWPA_ACCESS_SET_H
#define TWPA_ACCESS_SET_H

#include <twpa/relation.h>

/**
 * @defgroup access_set Access sets
 * An access set collects the accesses of one transaction, change by change in the order of the stream, and is then given
 * to twpa_plan_add(). It can be built early, on another thread than the plan's, dropped, or kept and given again after a
 * refusal; twpa_access_set_begin() empties it for the next transaction and keeps its memory.
 *
 * Every applicable key of a change becomes an access: the row, the values of further unique indexes that it takes and
 * gives free, references to parents, the relations touched. Which ones and in which mode is the table of rule 1.3 of the
 * project's planning rules. Accesses of one transaction to one resource are merged, the stronger mode wins.
 *
 * What the stream does not say is treated as a conflict, and counted by reason (#twpa_access_set_counters.fallbacks).
 * @{
 */

TWPA_BEGIN_DECLS

/** The plan that access sets are made for; see twpa/plan.h. */
typedef struct twpa_plan twpa_plan;

/** The accesses of one transaction. Used by one thread at a time. */
typedef struct twpa_access_set twpa_access_set;

/** Operations on a row. */
enum {
  TWPA_OP_INSERT = 1, /**< A new row. */
  TWPA_OP_UPDATE = 2, /**< A changed row. */
  TWPA_OP_DELETE = 3  /**< A removed row. */
};

/** Modes of an access to a key; a larger number is a stronger mode. They follow the row locks that the target takes. */
enum {
  TWPA_MODE_READ = 1,   /**< Key share: relies on the key being there. READ and READ, READ and UPDATE go together. */
  TWPA_MODE_UPDATE = 2, /**< Changes the row and leaves its keys alone. */
  TWPA_MODE_WRITE = 3,  /**< Makes, removes or changes the key. */
  TWPA_MODE_EXCLUSIVE = 4 /**< For twpa_access_set_access(): a key that is never read, only written, by anybody. Takes
                               less memory. Such keys do not meet those given with the other modes. */
};

/** Flags of twpa_access_set_begin(). */
enum {
  TWPA_TXN_PREPARED = 1 /**< PREPARE TRANSACTION, or COMMIT or ROLLBACK PREPARED of one: give the same changes at both.
                             It becomes a barrier on every relation it touches, because after a rollback nobody says who
                             has a value again, and row memory forgets its rows. */
};

/** Why something coarser than an exact key was used. Indexes of twpa_access_set_counters.fallbacks. */
enum {
  TWPA_FALLBACK_CLASS = 0,             /**< A key column has no known equality and was left out of the key. */
  TWPA_FALLBACK_VALUE = 1,             /**< A key value could not be read: barrier on the relation. */
  TWPA_FALLBACK_MISSING = 2,           /**< A key value was not sent: barrier on the relation. */
  TWPA_FALLBACK_IDENTITY = 3,          /**< A change without usable identity: barrier on the relation. */
  TWPA_FALLBACK_INDEX = 4,             /**< An expression index or exclusion constraint: barrier on the relation. */
  TWPA_FALLBACK_FOREIGN_KEY = 5,       /**< A foreign key not turned into keys: barrier on child and parent. */
  TWPA_FALLBACK_SIDE_EFFECTS = 6,      /**< TWPA_RELATION_SIDE_EFFECTS: barrier. */
  TWPA_FALLBACK_SERIAL = 7,            /**< TWPA_RELATION_SERIAL: barrier on the relation. */
  TWPA_FALLBACK_UNKNOWN_RELEASE = 8,   /**< A unique value given free is unknown: the index as a whole. */
  TWPA_FALLBACK_UNKNOWN_REFERENCE = 9, /**< A reference given up is unknown: the parent's index as a whole. */
  TWPA_FALLBACK_BUDGET = 10,           /**< Too many keys in one transaction: barriers on its relations. */
  TWPA_FALLBACK_EPOCH = 11,            /**< A relation's schema changed: barrier on the relation. */
  TWPA_FALLBACK_PREPARED = 12,         /**< TWPA_TXN_PREPARED: barriers on its relations. */
  TWPA_FALLBACK_DISTRUST = 13,         /**< Old rows are not trusted after a skipped transaction. */
  TWPA_FALLBACKS = 16                  /**< How many counters there are; those not named are zero. */
};

/** What is in an access set. */
typedef struct twpa_access_set_counters {
  size_t struct_size;                 /**< Set by #TWPA_ACCESS_SET_COUNTERS_INIT. */
  uint64_t changes;                   /**< Changes given. */
  uint64_t accesses;                  /**< Accesses to keys, merged. */
  uint64_t relations;                 /**< Relations touched. */
  uint64_t barriers;                  /**< Of those, with a barrier; the database counts as one. */
  uint64_t bytes;                     /**< Memory held. */
  uint64_t fallbacks[TWPA_FALLBACKS]; /**< Fallbacks by reason. */
} twpa_access_set_counters;

/** Initialises the first field of a #twpa_access_set_counters; the others are zero. */
#define TWPA_ACCESS_SET_COUNTERS_INIT sizeof(twpa_access_set_counters)

/**
 * Makes an empty access set for transactions of one plan, whose seed and policies it copies.
 *
 * @param[out] set       the access set
 * @param[in] plan       the plan; only read during this call
 * @param[in] allocator  where its memory comes from; NULL: the C library
 * @return #TWPA_OK, #TWPA_E_INVAL, #TWPA_E_NOMEM
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_new(twpa_access_set **set, const twpa_plan *plan,
                                                        const twpa_allocator *allocator);

/**
 * Frees an access set.
 * @param[in] set  an access set; NULL does nothing
 */
TWPA_API void twpa_access_set_free(twpa_access_set *set);

/**
 * Begins a transaction: empties the set.
 *
 * @param[in] set      the access set
 * @param[in] end_lsn  the end of the transaction's commit record; goes along to the plan, 0: none
 * @param[in] origin   the host's number for the stream it comes from; goes along to the plan
 * @param[in] flags    0 or TWPA_TXN_*
 * @return #TWPA_OK; #TWPA_E_INVAL for NULL; #TWPA_E_UNSUPPORTED for an unknown flag. O(1) amortised.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_begin(twpa_access_set *set, twpa_lsn end_lsn, uint64_t origin,
                                                          uint32_t flags);

/**
 * Adds the accesses of one change.
 *
 * Give the values in the order of the relation's columns. Of the old row only what its replica identity promises is
 * looked at: everything with FULL, the identity columns otherwise. For an update without old row the identity columns
 * did not change. In the new row of an update, mark what was not sent because it is as before as #TWPA_VALUE_UNCHANGED.
 *
 * A value that cannot be read is no error: the change degrades to a barrier and is counted.
 *
 * @param[in] set         the access set
 * @param[in] relation    the relation changed; held until the set is begun again or freed
 * @param[in] op          TWPA_OP_*
 * @param[in] old_values  the old row, or its identity; NULL: not sent
 * @param[in] new_values  the new row; NULL for a delete
 * @param[in] nvalues     length of each of the arrays: the number of the relation's columns
 * @return #TWPA_OK; #TWPA_E_INVAL for a NULL, a wrong number of values, an unknown operation or state of a value, an
 *         insert or update without new row; #TWPA_E_NOMEM: the set has the accesses it had, and is to be repeated or begun
 *         anew (the relation may count as used already, which can only make it wait for more). Cost: the length of the
 *         key values.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_change(twpa_access_set *set, twpa_relation *relation, uint32_t op,
                                                           const twpa_value *old_values, const twpa_value *new_values,
                                                           size_t nvalues);

/**
 * Adds a TRUNCATE: a barrier on each of the relations. Name all relations that the target empties (its CASCADE).
 *
 * @param[in] set         the access set
 * @param[in] relations   the relations emptied
 * @param[in] nrelations  how many; 0 adds nothing
 * @return #TWPA_OK, #TWPA_E_INVAL, #TWPA_E_NOMEM: the set is as it was
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_truncate(twpa_access_set *set, twpa_relation *const *relations,
                                                             size_t nrelations);

/**
 * Adds an access to a key of the host's own, for conflicts the library does not know of. Keys made with twpa_key_of()
 * for a relation that changes also touch do not meet the library's own accesses: use another index id.
 *
 * @param[in] set   the access set
 * @param[in] key   any number; twpa_key_of() makes good ones
 * @param[in] mode  TWPA_MODE_*
 * @return #TWPA_OK, #TWPA_E_INVAL, #TWPA_E_NOMEM: the set is as it was. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_access(twpa_access_set *set, twpa_key key, uint32_t mode);

/**
 * Says that the transaction uses a relation without changing rows that are in the stream. It does not pass a barrier.
 *
 * @param[in] set       the access set
 * @param[in] relation  the relation
 * @return #TWPA_OK, #TWPA_E_INVAL, #TWPA_E_NOMEM: the set is as it was. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_touch(twpa_access_set *set, twpa_relation *relation);

/**
 * Adds a barrier: for DDL, and for whatever the host cannot describe. Nothing of the relation, or of its neighbours by
 * foreign keys, near and far, passes it in either direction.
 *
 * @param[in] set       the access set
 * @param[in] relation  the relation; NULL: the whole database
 * @return #TWPA_OK, #TWPA_E_INVAL, #TWPA_E_NOMEM: the set is as it was. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_access_set_barrier(twpa_access_set *set, twpa_relation *relation);

/**
 * Counts what is in a set.
 * @param[in] set         the access set
 * @param[out] counters   the counters, its struct_size set by the caller
 * @return #TWPA_OK, #TWPA_E_INVAL. Cost: the relations.
 */
TWPA_API twpa_status twpa_access_set_stats(const twpa_access_set *set, twpa_access_set_counters *counters);

TWPA_END_DECLS
/** @} */
#endif
