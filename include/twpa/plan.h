/**
 * @file plan.h
 * The plan: which transactions have to wait for which.
 */
#ifndef TWPA_PLAN_H
#define TWPA_PLAN_H

#include <twpa/access_set.h>

/**
 * @defgroup plan Plan
 * The plan is an ordered lock manager. Transactions enter in commit order and get sequence numbers 1, 2, 3...; each
 * depends on those earlier, unfinished ones whose accesses conflict with its own. Any order of execution that respects
 * the dependencies gives the result of serial apply, if nothing is left out optimistically: with #TWPA_UNKNOWN_STRICT
 * and #TWPA_REFERENCE_STRICT.
 *
 * With #TWPA_UNKNOWN_OPTIMISTIC, which is the default, one dependency is left out: of whoever takes a value of a unique
 * index on whoever gave a value free that the stream does not tell. The order then holds only for a target that checks
 * the index at once, row by row, and for a host that runs a transaction again that was refused there (a scheduler does):
 * refused, or in the right order, but never in the wrong one. A host whose target does not check, or that cannot run a
 * transaction twice, must choose #TWPA_UNKNOWN_STRICT. #TWPA_REFERENCE_OPTIMISTIC asks the same of foreign keys.
 *
 * Memory is bounded: the conflict table has a fixed size, is never cleared, and what it has to forget leaves a horizon
 * behind ("wait for everything up to here"), which costs parallelism and never correctness. Nothing is allocated in the
 * steady state.
 *
 * The plan is a function of its input and of the completions seen before each transaction enters: the same calls in the
 * same order give the same plan. Who runs transactions in threads puts a twpa_scheduler on top, which calls the
 * functions of this header for its host.
 *
 * One function calls back: twpa_plan_write_dot(). Its sink may ask the plan (functions that take a `const` plan); those
 * that change it return #TWPA_E_REENTRANT there, and so do those of a scheduler over it.
 * @{
 */

TWPA_BEGIN_DECLS

/** What to do about a unique value that is given free and not known. Numbers of twpa_plan_options.unique_release. */
enum {
  TWPA_UNKNOWN_OPTIMISTIC = 0, /**< No dependency if the index is immediate: the target detects a violation, and the later
                                    transaction yields and runs again. */
  TWPA_UNKNOWN_STRICT = 1      /**< Whoever takes a value of the index waits for whoever gave an unknown one free. */
};

/** The same for references. Numbers of twpa_plan_options.reference_release. */
enum {
  TWPA_REFERENCE_STRICT = 0,    /**< Whoever removes a referenced key waits for whoever gave up an unknown reference. */
  TWPA_REFERENCE_OPTIMISTIC = 1 /**< No dependency if the foreign key is enforced and immediate, and transactions
                                     commit in order. Not together with early start. */
};

/** Which foreign keys count. Numbers of twpa_plan_options.foreign_keys (`conflict_detection_mode`). */
enum {
  TWPA_FOREIGN_KEYS_ENFORCED = 0, /**< Those that the target enforces or acts upon. */
  TWPA_FOREIGN_KEYS_OFF = 1,      /**< None; only for targets that enforce none. */
  TWPA_FOREIGN_KEYS_ALL = 2       /**< All, so that readers of the target see no child without its parent. */
};

/** Inserts into a relation that has neither identity nor primary key. Numbers of twpa_plan_options.no_identity. */
enum {
  TWPA_NO_IDENTITY_SERIAL = 0,     /**< A barrier on the relation. */
  TWPA_NO_IDENTITY_INSERT_FREE = 1 /**< They conflict by their unique values only. */
};

/** A parent's plain update against a child's reference. Numbers of twpa_plan_options.parent_update. */
enum {
  TWPA_PARENT_UPDATE_FREE = 0,     /**< They go together (PostgreSQL). */
  TWPA_PARENT_UPDATE_CONFLICTS = 1 /**< The target makes one wait for the other. */
};

/**
 * May a transaction start when its predecessor is executed and not committed? For twpa_plan_options.early_start. Only
 * for a target that goes on with the new version of a row after it has waited for its lock: in PostgreSQL READ
 * COMMITTED; above that level the wait ends in a serialization failure (planning rules 1.8).
 */
enum {
  TWPA_EARLY_START_OFF = 0,    /**< Never. */
  TWPA_EARLY_START_NARROW = 1, /**< After an update of the same row. */
  TWPA_EARLY_START_WIDE = 2    /**< Also where the check of an immediate unique index makes the target wait. */
};

/** How a plan works. */
typedef struct twpa_plan_options {
  size_t struct_size;        /**< Set by #TWPA_PLAN_OPTIONS_INIT. */
  uint64_t seed;             /**< Seed of the hashes; the same seed gives the same plan. */
  size_t table_bytes;        /**< Size of the table of keys that no foreign key references, rounded down to a power of two,
                                  64 at least; 7 keys per 64 bytes. 0: 8 MiB. Two places per live key are plenty. */
  size_t wide_bytes;         /**< The same for referenced keys, whole rows and keys of the host's own; 4 keys per 64
                                  bytes. 0: a quarter of table_bytes. */
  size_t memory_bytes;       /**< Size of the row memory. 0: none. */
  uint64_t max_transactions; /**< Window: most transactions above the low watermark. 0: 1,048,576; at most 2^27. */
  uint64_t max_keys;         /**< Window: most keys of unfinished transactions. 0: no limit. */
  uint64_t max_bytes;        /**< Window: most payload bytes of unfinished transactions, as given to
                                  twpa_plan_set_payload(). 0: no limit. */
  uint64_t txn_max_keys;     /**< A transaction with more keys becomes a barrier on its relations. 0: no limit. */
  uint32_t unique_release;   /**< TWPA_UNKNOWN_*. */
  uint32_t reference_release; /**< TWPA_REFERENCE_*. */
  uint32_t foreign_keys;     /**< TWPA_FOREIGN_KEYS_*. */
  uint32_t no_identity;      /**< TWPA_NO_IDENTITY_*. */
  uint32_t parent_update;    /**< TWPA_PARENT_UPDATE_*. */
  uint32_t early_start;      /**< TWPA_EARLY_START_*; needs commit order. */
  uint32_t free_commit_order; /**< Not 0: transactions may commit in any order that the plan allows. */
  uint32_t explain;          /**< Not 0: keep via which key each dependency came. Costs 52 bytes per dependency instead
                                  of 4 and a little time. */
} twpa_plan_options;

/** Initialises the first field of a #twpa_plan_options; the others are zero. */
#define TWPA_PLAN_OPTIONS_INIT sizeof(twpa_plan_options)

/** Types of dependencies. */
enum {
  TWPA_EDGE_WRITE_WRITE = 1, /**< Both change the same key. */
  TWPA_EDGE_READ_WRITE = 2,  /**< One relies on, the other changes the same key. */
  TWPA_EDGE_FK_DML = 3,      /**< A parent's and a child's change. */
  TWPA_EDGE_DDL_BARRIER = 4, /**< A barrier: TRUNCATE, DDL, a closed window, a fallback to a barrier. */
  TWPA_EDGE_UNKNOWN = 5      /**< Something unknown: an index as a whole, or a horizon of the conflict table. */
};

/** Flags of a dependency. */
enum {
  TWPA_EDGE_EARLY = 1,    /**< The successor may start when the predecessor is executed. */
  TWPA_EDGE_UP_TO = 2,    /**< On all transactions up to `from`, not only on it. */
  TWPA_EDGE_INDIRECT = 4, /**< Through a join node: one of many transactions that were waited for together. */
  TWPA_EDGE_VIA = 8       /**< The fields of the key are filled in. */
};

/** One dependency. */
typedef struct twpa_edge {
  uint64_t from;      /**< The predecessor. */
  uint64_t to;        /**< The successor. */
  uint32_t type;      /**< TWPA_EDGE_*; of several reasons the first found. */
  uint32_t flags;     /**< TWPA_EDGE_* flags. */
  uint64_t relation;  /**< With TWPA_EDGE_VIA: the relation; 0: a key of the host's own, or the database. */
  uint64_t index;     /**< With TWPA_EDGE_VIA: the index, or 0. */
  twpa_key key;       /**< With TWPA_EDGE_VIA: the key, or 0. */
  uint32_t kind;      /**< With TWPA_EDGE_VIA: TWPA_KIND_*. */
  uint32_t from_mode; /**< With TWPA_EDGE_VIA: TWPA_MODE_* of the predecessor, 0 where there is none. */
  uint32_t to_mode;   /**< With TWPA_EDGE_VIA: TWPA_MODE_* of the successor, 0 where there is none. */
  uint32_t reserved;  /**< 0. */
} twpa_edge;

/** States of a transaction in the plan. */
enum {
  TWPA_NODE_WAITING = 1,  /**< Has predecessors that are not finished. */
  TWPA_NODE_READY = 2,    /**< Has none; may run, or runs. */
  TWPA_NODE_EXECUTED = 3, /**< twpa_plan_executed() was called. */
  TWPA_NODE_COMMITTED = 4 /**< Finished, with an unfinished one before it. */
};

/** One transaction of the plan. */
typedef struct twpa_node {
  uint64_t seq;           /**< Sequence number. */
  twpa_lsn end_lsn;       /**< As given to twpa_access_set_begin(). */
  uint64_t origin;        /**< As given to twpa_access_set_begin(). */
  uint64_t keys;          /**< Accesses to keys. */
  uint32_t npredecessors; /**< Dependencies not fulfilled. */
  uint32_t state;         /**< TWPA_NODE_*. */
} twpa_node;

/** How a transaction ended; for twpa_plan_complete(). */
enum {
  TWPA_DONE_COMMITTED = 0, /**< Applied as planned, or there was nothing to apply. */
  TWPA_DONE_SKIPPED = 1    /**< Not applied, or the target did something else than the stream says. What waits for
                                predecessors then runs one by one, after all before it; row memory forgets its
                                relations, and those with identity FULL, or changed by the target on behalf of a parent,
                                are serial, with all neighbours by foreign keys, until their schema epoch rises. Not for
                                one that is executed while early start is on. What has been applied already, ahead of
                                others in free commit order, is not taken back: if a later column was not sent because
                                it did not change, in a key of which another part changes, the target may refuse what
                                it makes now. */
};

/** The state of the analysis as a whole: AnalyzerResult. */
typedef struct twpa_report {
  size_t struct_size;                 /**< Set by #TWPA_REPORT_INIT. */
  uint64_t low_watermark;             /**< All transactions up to here are finished. */
  uint64_t last;                      /**< The last transaction that entered. */
  uint64_t ready;                     /**< Unfinished without unfinished predecessor. */
  uint64_t waiting;                   /**< Waiting for predecessors. */
  uint64_t finished;                  /**< Finished above the low watermark. */
  uint64_t fallbacks[TWPA_FALLBACKS]; /**< Fallbacks so far by reason, TWPA_FALLBACK_*. */
  uint64_t fallback_count;            /**< Their sum. */
  int32_t status;                     /**< #TWPA_OK, or the status of the last call of twpa_plan_add() if it refused. */
  uint32_t reserved;                  /**< 0. */
} twpa_report;

/** Initialises the first field of a #twpa_report; the others are zero. */
#define TWPA_REPORT_INIT sizeof(twpa_report)

/** Statistics since the plan was made, except what says "now". */
typedef struct twpa_plan_counters {
  size_t struct_size;         /**< Set by #TWPA_PLAN_COUNTERS_INIT. */
  uint64_t transactions;      /**< Entered. */
  uint64_t completed;         /**< Finished. */
  uint64_t keys;              /**< Accesses to keys. */
  uint64_t edges;             /**< Dependencies made: predecessor counts summed up. */
  uint64_t edges_by_type[8];  /**< By TWPA_EDGE_* type. */
  uint64_t barriers;          /**< Barriers on relations and the database. */
  uint64_t hits;              /**< Accesses that found a live entry of their key. */
  uint64_t evicted;           /**< Live entries evicted. */
  uint64_t conservative;      /**< Dependencies on everything up to a horizon. */
  uint64_t joins;             /**< Join nodes made. */
  uint64_t memory_hits;       /**< Old values that row memory knew. */
  uint64_t memory_misses;     /**< Old values that it did not know. */
  uint64_t optimistic;        /**< Dependencies left out by the optimistic policy. */
  uint64_t retries;           /**< Calls of twpa_plan_retried(). */
  uint64_t live_transactions; /**< Now: above the low watermark. */
  uint64_t live_keys;         /**< Now: keys of unfinished transactions. */
  uint64_t live_edges;        /**< Now: edges held. */
  uint64_t bytes;             /**< Now: memory held, tables included. */
} twpa_plan_counters;

/** Initialises the first field of a #twpa_plan_counters; the others are zero. */
#define TWPA_PLAN_COUNTERS_INIT sizeof(twpa_plan_counters)

/**
 * Makes a plan.
 *
 * @param[out] plan      the plan
 * @param[in] options    how it works, copied; NULL: all defaults
 * @param[in] allocator  where its memory comes from; NULL: the C library
 * @return #TWPA_OK; #TWPA_E_INVAL for a value out of range, or early start together with free commit order;
 *         #TWPA_E_UNSUPPORTED; #TWPA_E_NOMEM. Cost: the size of the tables.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_new(twpa_plan **plan, const twpa_plan_options *options,
                                                  const twpa_allocator *allocator);

/**
 * Frees a plan. Inside a sink of it: does nothing.
 * @param[in] plan  a plan; NULL does nothing
 */
TWPA_API void twpa_plan_free(twpa_plan *plan);

/**
 * Enters a transaction, in commit order.
 *
 * @param[in] plan            the plan
 * @param[out] seq            its sequence number, one more than the last
 * @param[out] npredecessors  how many dependencies it has to wait for; 0: it is ready (and not given out by
 *                            twpa_plan_next_ready())
 * @param[in] set             its accesses; may be reused as soon as the call returns
 * @return #TWPA_OK; #TWPA_E_LIMIT if the window is full (a window that is empty takes any transaction);
 *         #TWPA_E_STATE if the set was made with a relation older than the newest that the plan knows, or for another
 *         seed or policies; #TWPA_E_INVAL if the two descriptions of a foreign key do not fit together;
 *         #TWPA_E_NOMEM. The plan is as it was unless the result is #TWPA_OK.
 *         Cost: linear in the accesses, one cache line of the table each; no allocation in the steady state.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_add(twpa_plan *plan, uint64_t *seq, uint32_t *npredecessors,
                                                  const twpa_access_set *set);

/**
 * Starts loading into the cache what twpa_plan_add() will look at. Worth it a few transactions ahead if the table does
 * not fit into the cache; changes nothing.
 *
 * @param[in] plan  the plan
 * @param[in] set   accesses that will be added soon
 */
TWPA_API void twpa_plan_prefetch(const twpa_plan *plan, const twpa_access_set *set);

/**
 * Says how many bytes of payload the host holds for the transaction that will be added next; for
 * twpa_plan_options.max_bytes. Counts for one successful call of twpa_plan_add().
 *
 * @param[in] plan   the plan
 * @param[in] bytes  its payload
 * @return #TWPA_OK, #TWPA_E_INVAL. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_set_payload(twpa_plan *plan, uint64_t bytes);

/**
 * Says that a transaction is executed and holds its locks until it commits. With early start, successors whose every
 * reason allows it become ready. Without early start nothing changes but the state.
 *
 * @param[in] plan  the plan
 * @param[in] seq   a transaction that is ready
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it is not in the plan; #TWPA_E_STATE if it is not ready. O(1); with early start
 *         the dependencies of those that hang at it.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_executed(twpa_plan *plan, uint64_t seq);

/**
 * Takes twpa_plan_executed() back: the transaction was rolled back. Roll back first, transitively, every successor that
 * started early behind it (twpa_plan_next_successor() with #TWPA_EDGE_EARLY says which these can be).
 *
 * @param[in] plan  the plan
 * @param[in] seq   a transaction that is executed
 * @return #TWPA_OK; #TWPA_E_NOTFOUND; #TWPA_E_STATE if it is not executed, or an early successor is executed. Successors
 *         made ready by it wait again; those not yet taken by twpa_plan_next_ready() are no longer given out. Cost:
 *         with early successors, the transactions behind it; else O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_revoke(twpa_plan *plan, uint64_t seq);

/**
 * Finishes a transaction: it has committed on the target, or will never be applied.
 *
 * @param[in] plan     the plan
 * @param[in] seq      a transaction that is ready or executed
 * @param[in] outcome  TWPA_DONE_*
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it is not in the plan or finished; #TWPA_E_STATE if it still waits;
 *         #TWPA_E_INVAL for an unknown outcome; #TWPA_E_NOMEM, possible for #TWPA_DONE_SKIPPED only. Cost: the
 *         dependencies of those that hang at it, O(1) each if all before it is finished; when skipped, all unfinished
 *         transactions.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_complete(twpa_plan *plan, uint64_t seq, uint32_t outcome);

/**
 * Takes the next transaction that has become ready since it entered, in the order in which they did.
 *
 * @param[in] plan  the plan
 * @param[out] seq  the transaction
 * @return #TWPA_OK; #TWPA_NONE if there is none; #TWPA_E_INVAL. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_next_ready(twpa_plan *plan, uint64_t *seq);

/**
 * Walks over the dependencies that lead from a transaction to later ones; those through a join node are given one by
 * one, those on "everything up to" are left out.
 *
 * @param[in] plan        the plan; must not change during the walk
 * @param[out] edge       the dependency
 * @param[in,out] cursor  where the walk is; 0 at the beginning
 * @param[in] seq         the transaction
 * @return #TWPA_OK; #TWPA_NONE at the end; #TWPA_E_NOTFOUND if it is not in the plan; #TWPA_E_INVAL. Cost of a whole
 *         walk: all dependencies of the transactions behind it.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_next_successor(const twpa_plan *plan, twpa_edge *edge, uint64_t *cursor,
                                                             uint64_t seq);

/**
 * Says why a transaction waits: its unfulfilled dependencies, by whom and, with twpa_plan_options.explain, via which key.
 * Right after twpa_plan_add() these are all its dependencies. Those through join nodes are given one by one.
 *
 * @param[in] plan    the plan
 * @param[out] edges  room for them; may be NULL if cap is 0
 * @param[in] cap     how many fit
 * @param[out] count  how many there are, maybe more than fit
 * @param[in] seq     the transaction
 * @return #TWPA_OK; #TWPA_E_NOTFOUND; #TWPA_E_INVAL. Cost: its dependencies.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_explain(const twpa_plan *plan, twpa_edge *edges, size_t cap,
                                                      size_t *count, uint64_t seq);

/**
 * Looks up a transaction.
 * @param[in] plan   the plan
 * @param[out] node  what is known of it
 * @param[in] seq    the transaction
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it never entered or is at or below the low watermark; #TWPA_E_INVAL. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_node(const twpa_plan *plan, twpa_node *node, uint64_t seq);

/**
 * The low watermark.
 * @param[in] plan  the plan
 * @return the largest number such that all transactions up to it are finished; 0 if none is. O(1).
 */
TWPA_API uint64_t twpa_plan_low_watermark(const twpa_plan *plan);

/**
 * Closes the window: whatever enters from now on waits for everything that is in the plan.
 * @param[in] plan  the plan
 * @return #TWPA_OK, #TWPA_E_INVAL. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_plan_cut(twpa_plan *plan);

/**
 * Counts that a transaction had to be run again because of a conflict on the target, and blames the last index on which
 * the optimistic policy left out a dependency of it.
 *
 * @param[in] plan  the plan
 * @param[in] seq   the transaction
 * @return #TWPA_OK, #TWPA_E_NOTFOUND, #TWPA_E_INVAL. O(1).
 */
TWPA_API twpa_status twpa_plan_retried(twpa_plan *plan, uint64_t seq);

/**
 * How many retries an index is blamed for: when this grows, row memory is too small.
 *
 * @param[in] plan      the plan
 * @param[out] retries  the number
 * @param[in] relation  id of the relation
 * @param[in] index     id of the index
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if the plan has not met the index; #TWPA_E_INVAL. O(1).
 */
TWPA_API twpa_status twpa_plan_index_retries(const twpa_plan *plan, uint64_t *retries, uint64_t relation,
                                             uint64_t index);

/**
 * Tells row memory of a row of the target, so that the first change of it finds its old values.
 *
 * @param[in] plan      the plan
 * @param[in] relation  the relation
 * @param[in] values    the whole row
 * @param[in] nvalues   the number of the relation's columns
 * @return #TWPA_OK; #TWPA_NONE if there is no row memory, the relation takes no part in it, or a value cannot be kept;
 *         #TWPA_E_STATE if an unfinished transaction may have touched the row, so that what the target shows is not what
 *         the next transaction will find; #TWPA_E_INVAL; #TWPA_E_NOMEM. Cost: the length of the values.
 */
TWPA_API twpa_status twpa_plan_seed_row(twpa_plan *plan, twpa_relation *relation, const twpa_value *values,
                                        size_t nvalues);

/**
 * The state of the analysis.
 * @param[in] plan     the plan
 * @param[out] report  the report, its struct_size set by the caller
 * @return #TWPA_OK, #TWPA_E_INVAL. O(1).
 */
TWPA_API twpa_status twpa_plan_report(const twpa_plan *plan, twpa_report *report);

/**
 * Statistics.
 * @param[in] plan       the plan
 * @param[out] counters  the statistics, its struct_size set by the caller
 * @return #TWPA_OK, #TWPA_E_INVAL. O(1).
 */
TWPA_API twpa_status twpa_plan_stats(const twpa_plan *plan, twpa_plan_counters *counters);

/**
 * Takes a piece of text.
 * @param[in] user  as given
 * @param[in] text  the piece; not terminated
 * @param[in] len   its length in bytes
 * @return 0; anything else stops the writer, which then returns #TWPA_E_CALLBACK
 */
typedef int (*twpa_text_sink)(void *user, const char *text, size_t len);

/**
 * Writes the unfinished transactions and their dependencies as a Graphviz graph.
 *
 * @param[in] plan  the plan; not changed, but marked as being read while the sink is called
 * @param[in] sink  takes the text; must not change the plan
 * @param[in] user  first argument of the sink
 * @return #TWPA_OK; #TWPA_E_CALLBACK if the sink refused; #TWPA_E_REENTRANT from inside a sink; #TWPA_E_INVAL. Cost: all
 *         nodes and edges. Calls the sink.
 */
TWPA_API twpa_status twpa_plan_write_dot(twpa_plan *plan, twpa_text_sink sink, void *user);

TWPA_END_DECLS
/** @} */
#endif
