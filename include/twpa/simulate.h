/**
 * @file simulate.h
 * What-if: a recorded plan carried out in virtual time.
 */
#ifndef TWPA_SIMULATE_H
#define TWPA_SIMULATE_H

#include <twpa/status.h>

/**
 * @defgroup simulate Simulation
 *
 * A **recording** holds what a plan found: transactions in commit order, their predecessors, and what each costs.
 * It is filled by a scheduler (twpa_scheduler_options::recording) or by hand. twpa_simulate() carries it out in
 * virtual time under given limits, by the same rules as the scheduler, and says how long it takes and which limit
 * held it back for how much of that time. Costs are in units that the host chooses (one per change and one per
 * commit, or measured microseconds).
 *
 * The model: an idle worker takes a commit turn before it starts a transaction, and the ready transaction with the
 * smallest sequence number before any other. Executing and committing each occupy one worker; between the two a
 * transaction is open but occupies none. With one worker the makespan is therefore the sum of all costs, whatever
 * else is set. Transactions are submitted as soon as the window has room. Nothing fails in the simulation.
 * @{
 */

TWPA_BEGIN_DECLS

/** Who must commit in which order. */
enum twpa_commit_order {
  TWPA_COMMIT_ORDER_GLOBAL = 0, /**< All transactions commit in the order of their sequence numbers (the default). */
  /**
   * Transactions that have a commit-order group in common commit in order; one without groups commits when it
   * likes.
   */
  TWPA_COMMIT_ORDER_GROUPS = 1,
  TWPA_COMMIT_ORDER_FREE = 2 /**< A transaction commits when it has been executed. */
};

/** What holds a schedule back at one moment; index into twpa_simulation::bound. */
enum twpa_bound {
  TWPA_BOUND_NONE = 0,         /**< Nothing: every worker is busy and no transaction waits for one. */
  TWPA_BOUND_DEPENDENCIES = 1, /**< Workers are idle; all else waits for predecessors under way. */
  TWPA_BOUND_EXECUTING = 2,    /**< A ready transaction (or a commit) waits for a worker. */
  TWPA_BOUND_OPEN = 3,         /**< Workers are idle; a ready transaction waits because `open_max` are open. */
  /** Workers are idle, nothing is ready, and an executed transaction waits for an earlier one to commit. */
  TWPA_BOUND_COMMIT_ORDER = 4,
  TWPA_BOUND_WINDOW = 5, /**< Workers are idle; `window_max` keeps one out that could run. */
  TWPA_BOUND_COUNT = 6   /**< Number of values. */
};

/** A plan, recorded. Opaque; one thread at a time, but any number of simulations may read it at once. */
typedef struct twpa_recording twpa_recording;

/** Options of twpa_simulate(); zero means the default everywhere. */
typedef struct twpa_simulation_options {
  size_t struct_size;    /**< sizeof(twpa_simulation_options) of the caller. */
  uint64_t running_max;  /**< Workers: how many transactions execute or commit at the same time. 0: no limit. */
  uint64_t open_max;     /**< How many may be open (executing, or executed and not yet committed). 0: no limit. */
  uint64_t window_max;   /**< How many may lie between the low watermark and the newest one submitted. 0: no limit. */
  uint32_t commit_order; /**< One of #twpa_commit_order. */
  uint32_t early_start;  /**< 1: over early edges start when the predecessor is executed; global order. */
} twpa_simulation_options;

/** Initialiser of #twpa_simulation_options. */
#define TWPA_SIMULATION_OPTIONS_INIT sizeof(twpa_simulation_options)

/** Outcome of twpa_simulate(). */
typedef struct twpa_simulation {
  size_t struct_size;     /**< sizeof(twpa_simulation) of the caller. */
  uint64_t transactions;  /**< How many were carried out. */
  uint64_t edges;         /**< Their direct dependencies. */
  uint64_t work;          /**< Sum of all costs. */
  uint64_t critical_path; /**< The longest chain of dependent costs: the makespan without any limit, in free order. */
  uint64_t makespan;      /**< When the last one was committed. */
  uint64_t running_high;  /**< The most that executed or committed at the same time. */
  uint64_t open_high;     /**< The most that were open at the same time. */
  uint64_t bound[TWPA_BOUND_COUNT]; /**< How long each limit held the schedule back; the sum is the makespan. */
} twpa_simulation;

/** Initialiser of #twpa_simulation. */
#define TWPA_SIMULATION_INIT sizeof(twpa_simulation)

/** When one transaction did what in a simulation. */
typedef struct twpa_simulated {
  uint64_t ready_at;     /**< Submitted, and all predecessors done. */
  uint64_t started_at;   /**< A worker began to execute it. */
  uint64_t executed_at;  /**< It was executed. */
  uint64_t turn_at;      /**< A worker began to commit it. */
  uint64_t committed_at; /**< It was committed. */
  uint64_t worker;       /**< Who executed it: a number from 0. */
} twpa_simulated;

/**
 * Creates an empty recording.
 * @param[out] recording  the object
 * @param[in]  allocator  copied; NULL for the C library's
 * @return #TWPA_OK; #TWPA_E_INVAL for a wrong allocator; #TWPA_E_NOMEM.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_recording_new(twpa_recording **recording, const twpa_allocator *allocator);

/**
 * Frees a recording. A scheduler that fills it must be freed before.
 * @param[in] recording  the object, or NULL
 */
TWPA_API void twpa_recording_free(twpa_recording *recording);

/**
 * Appends the next transaction, without predecessors and with costs of 1 and 0.
 * @param[in,out] recording  the object
 * @param[in]     seq        its sequence number: any (but not 0) for the first one, then each one more than the
 *                           last
 * @param[in]     groups     its commit-order groups, one bit each
 * @param[in]     floor      every transaction up to this sequence number must be committed first; 0 for none
 * @return #TWPA_OK; #TWPA_E_INVAL if @p seq is not the next or @p floor not below it; #TWPA_E_LIMIT if the sum of
 *         all costs would not fit into 64 bits; #TWPA_E_NOMEM.
 * @note O(1) amortised.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_recording_add(twpa_recording *recording, uint64_t seq, uint64_t groups,
                                                       uint64_t floor);

/**
 * Gives the transaction that was appended last a predecessor.
 * @param[in,out] recording  the object
 * @param[in]     from       sequence number of the predecessor; one from before the recording is ignored
 * @param[in]     early      1 if the successor may start when @p from has been executed; twice the same
 *                           predecessor: the edge is early only if both are
 * @return #TWPA_OK; #TWPA_E_INVAL if @p from is not below the last one; #TWPA_E_STATE if there is none;
 *         #TWPA_E_NOMEM.
 * @note O(1) amortised.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_recording_edge(twpa_recording *recording, uint64_t from, uint32_t early);

/**
 * Says what a transaction costs.
 * @param[in,out] recording  the object
 * @param[in]     seq        its sequence number
 * @param[in]     apply      units to execute it
 * @param[in]     commit     units to commit it
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it is not recorded; #TWPA_E_LIMIT if the sum of all costs would not fit
 *         into 64 bits.
 * @note O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_recording_set_cost(twpa_recording *recording, uint64_t seq, uint64_t apply,
                                                            uint64_t commit);

/**
 * How many transactions are recorded.
 * @param[in] recording  the object
 * @return the number. O(1).
 */
TWPA_API uint64_t twpa_recording_count(const twpa_recording *recording);

/**
 * Carries a recording out in virtual time. A pure function: equal input gives equal output.
 * @param[in]     recording  what to carry out; not changed
 * @param[in,out] result     filled in up to its struct_size
 * @param[out]    schedule   one element per transaction, in order; NULL if it is not wanted
 * @param[in]     count      number of elements of @p schedule, at least the number of transactions; ignored for
 *                           NULL
 * @param[in]     options    the limits; NULL for none at all, under global commit order
 * @param[in]     allocator  for the working memory, given back before the return; NULL for the C library's
 * @return #TWPA_OK; #TWPA_E_INVAL for wrong options, a wrong struct_size or too small a @p count;
 *         #TWPA_E_UNSUPPORTED for options that this build does not know; #TWPA_E_STATE if a scheduler could not
 *         record everything for want of memory; #TWPA_E_NOMEM. On failure nothing is written to @p result.
 * @note O((n + edges) log n) for n transactions.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_simulate(const twpa_recording *recording, twpa_simulation *result,
                                                  twpa_simulated *schedule, size_t count,
                                                  const twpa_simulation_options *options,
                                                  const twpa_allocator *allocator);

TWPA_END_DECLS
/** @} */
#endif
