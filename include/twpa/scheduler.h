/**
 * @file scheduler.h
 * Which transaction may run now, which may commit now, and what to do with one that failed.
 */
#ifndef TWPA_SCHEDULER_H
#define TWPA_SCHEDULER_H

#include <twpa/plan.h>
#include <twpa/progress.h>
#include <twpa/simulate.h>

/**
 * @defgroup scheduler Scheduler
 *
 * A scheduler turns one plan into work. The host submits transactions in commit order, asks for one that may run,
 * and reports what became of it; it asks for commit turns, commits, and reports that. The scheduler starts no
 * thread, never blocks and never calls a worker: a host with threads puts one mutex around it.
 *
 * @dot
 * digraph states {
 *   rankdir=LR; node [shape=box, style=rounded, fontsize=10]; edge [fontsize=9];
 *   WAITING -> READY [label="predecessors committed"]; READY -> RUNNING [label="next"];
 *   RUNNING -> EXECUTED [label="applied"]; EXECUTED -> COMMITTING [label="next_commit"];
 *   COMMITTING -> DONE [label="committed"]; RUNNING -> RETRY [label="failed"]; EXECUTED -> RETRY [label="failed"];
 *   COMMITTING -> RETRY [label="failed"]; RETRY -> READY [label="low watermark reached its predecessor"];
 *   RUNNING -> STOPPED [label="failed: error, or tries used up"]; EXECUTED -> STOPPED; COMMITTING -> STOPPED;
 *   STOPPED -> RETRY [label="resume"];
 *   RUNNING -> READY [label="cancelled"]; RUNNING -> WAITING [label="cancelled"]; RUNNING -> RETRY;
 *   EXECUTED -> READY [label="rolled_back"]; EXECUTED -> WAITING [label="rolled_back"]; EXECUTED -> RETRY;
 *   READY -> WAITING [label="early start revoked"];
 *   WAITING -> DONE [label="skip"]; READY -> DONE [label="skip"]; RETRY -> DONE [label="skip"];
 *   STOPPED -> DONE [label="skip"]; EXECUTED -> DONE [label="committed, its turn not asked for"];
 * }
 * @enddot
 *
 * One that is skipped goes to DONE when its predecessors are there, with early start when it is the head; until then it
 * is WAITING or READY. One that was to run alone and had to go because of a stop goes back to RETRY.
 *
 * **Who may run.** A transaction is ready when all its predecessors have committed (with
 * twpa_plan_options::early_start: when those whose edge the target's own locks protect have been executed). Of the
 * ready ones the smallest sequence number goes first. Two limits hold others back: `running_max`, how many are
 * being executed, and `open_max`, how many are open on the target (executing, or executed and waiting for their
 * commit turn). The *head*, which is the lowest transaction that is not done, is exempt from `running_max`, and a
 * place of `open_max` is kept for it as long as it is not open: no limit can ever keep the head from running, and
 * there are never more than `open_max` open.
 *
 * **Who may commit.** Under global commit order only the head; by groups, the first of each group it belongs to; in
 * free order everybody who has been executed.
 *
 * **What fails** has been rolled back on the target by the host and runs again when the low watermark has reached
 * its predecessor, that is, as the head. It then sees exactly what the serial order shows it. After `retries_max`
 * such retries it is run alone (others that are open and wait for their turn are rolled back before); if that fails
 * too, the scheduler stops *before* it: everything earlier still commits, nothing later does, unless it did in free
 * order. Transactions that started early behind the failed one are rolled back first
 * (twpa_scheduler_next_rollback()).
 *
 * **Back-pressure** exists at twpa_scheduler_submit() only. Reports (applied, committed, failed, rolled back) need
 * no memory and no room and are never refused for a limit.
 *
 * **Deterministic:** equal calls give equal answers. The rules are those of PostgreSQL-shaped targets as stated in
 * the project's planning rules 1.7 (retry), 1.8 (early start) and 1.9 (missing rows).
 * @{
 */

TWPA_BEGIN_DECLS

/** A scheduler over one plan. Opaque; one thread at a time. */
typedef struct twpa_scheduler twpa_scheduler;

/** Why a transaction failed; all of them mean that it has been rolled back on the target. */
enum twpa_fail {
  /**
   * Something that another transaction may have caused: unique or foreign-key violation, deadlock, serialization
   * failure, lock time-out, a row to update or delete that is not there, a lost connection. Worth a retry.
   * Not a conflict is a missing row of a child after the same transaction has removed or changed a key of its parent,
   * where the target itself deletes or changes the children (#TWPA_FK_CASCADE): it has just done what the stream asks.
   */
  TWPA_FAIL_CONFLICT = 1,
  /** Something that no retry cures (the host's judgement): stop before it at once. */
  TWPA_FAIL_ERROR = 2,
  /**
   * It was interrupted because twpa_scheduler_next_rollback() or twpa_scheduler_is_doomed() said so. Does not count
   * as a try. From a transaction that nobody asked to roll back it counts as #TWPA_FAIL_CONFLICT.
   */
  TWPA_FAIL_CANCELLED = 3
};

/** What happens to a transaction that failed. */
enum twpa_verdict {
  TWPA_VERDICT_RETRY = 1, /**< It will be given out again, as the head or once its predecessors allow it. */
  TWPA_VERDICT_ALONE = 2, /**< It will be given out again when nothing else is open, and nothing beside it. */
  TWPA_VERDICT_STOP = 3   /**< The scheduler has stopped before it. */
};

/** Where a transaction stands. */
enum twpa_task_state {
  TWPA_TASK_DONE = 0,       /**< Committed, or skipped; or older than the scheduler remembers. */
  TWPA_TASK_WAITING = 1,    /**< Predecessors are not done. */
  TWPA_TASK_READY = 2,      /**< May run; waits for a worker or for a limit. */
  TWPA_TASK_RUNNING = 3,    /**< Given out by twpa_scheduler_next(). */
  TWPA_TASK_EXECUTED = 4,   /**< Waits for its commit turn. */
  TWPA_TASK_COMMITTING = 5, /**< Given out by twpa_scheduler_next_commit(). */
  TWPA_TASK_RETRY = 6,      /**< Failed; waits until everything before it is done. */
  TWPA_TASK_STOPPED = 7     /**< Failed for good: the scheduler has stopped before it. */
};

/** What a transaction waits for; see #twpa_wait. */
enum twpa_wait_kind {
  TWPA_WAIT_NONE = 0,        /**< Nothing: it runs, commits, or is done. */
  TWPA_WAIT_DEPENDENCY = 1,  /**< A predecessor in the plan that is not done (twpa_plan's explain says why). */
  TWPA_WAIT_WORKER = 2,      /**< It is ready and will be given out when the host asks. */
  TWPA_WAIT_RUNNING = 3,     /**< It is ready, and `running_max` transactions are being executed. */
  TWPA_WAIT_OPEN = 4,        /**< It is ready, and `open_max` transactions are open. */
  TWPA_WAIT_COMMIT_TURN = 5, /**< It is executed; an earlier one must commit first. */
  TWPA_WAIT_RETRY = 6,       /**< It failed; everything before it must be done first. */
  TWPA_WAIT_ROLLBACK = 7,    /**< Others must be rolled back before it may run again, or it must be itself. */
  TWPA_WAIT_ALONE = 8,       /**< A transaction that has to run alone is before it, or others must finish first. */
  TWPA_WAIT_STOPPED = 9      /**< The scheduler has stopped before it. */
};

/** A wait, as given to twpa_scheduler_options::on_wait and by twpa_scheduler_wait_of(). */
typedef struct twpa_wait {
  uint64_t waiter;   /**< Who waits. */
  uint64_t holder;   /**< For whom: the nearest one, if there are several; 0 if for nobody in particular. */
  uint32_t kind;     /**< One of #twpa_wait_kind. */
  uint32_t reserved; /**< 0. */
} twpa_wait;

/** Options of twpa_scheduler_new(); zero means the default everywhere. */
typedef struct twpa_scheduler_options {
  size_t struct_size;    /**< sizeof(twpa_scheduler_options) of the caller. */
  /**
   * One of #twpa_commit_order; 0 is global. Anything else needs a plan made with
   * twpa_plan_options::free_commit_order, so that the plan leaves out nothing that only a global order protects.
   */
  uint32_t commit_order;
  uint32_t reserved;    /**< 0. */
  uint64_t running_max; /**< How many may be executed at the same time. 0: no limit. */
  uint64_t open_max;    /**< How many may be open on the target, executing ones included. 0: no limit. */
  /**
   * How many may lie between the low watermark and the newest one submitted; beyond it twpa_scheduler_submit()
   * returns #TWPA_E_LIMIT. 0: 65,536. The plan has limits of its own (keys, bytes).
   */
  uint64_t window_max;
  /** How often a transaction is retried as the head before it has to run alone. 0: twice. */
  uint64_t retries_max;
  /** Borrowed, told of every submission and every commit; NULL: none. See twpa_scheduler_set_progress(). */
  twpa_progress *progress;
  /**
   * Borrowed, filled with every submission and its dependencies; NULL: none. Costs memory without bound, and much
   * time unless the plan has twpa_plan_options::explain. If memory runs out, submissions go on and the recording is
   * spoiled: twpa_simulate() then refuses it.
   */
  twpa_recording *recording;
  /**
   * Told when an executed transaction begins to wait for its commit turn (#TWPA_WAIT_COMMIT_TURN: it keeps its
   * locks on the target while it waits), so that a database host can feed its own deadlock detector. It waits for
   * the holder and, through it, for every earlier transaction of its commit order that is not done. By groups it is
   * called once for each holder: the nearest one before the waiter in each of its groups. If a holder is skipped
   * before its turn and somebody earlier is left, it is called again for whoever is the nearest now; a holder that
   * commits leaves nobody before it. All waits of a waiter are
   * over when twpa_scheduler_next_commit() or twpa_scheduler_next_rollback() gives it out. In a cycle the
   * victim is always the *later* transaction: interrupt it, roll it back and report #TWPA_FAIL_CONFLICT. NULL:
   * nobody is told.
   * @param[in] user  twpa_scheduler_options::user
   * @param[in] wait  who waits for whom; borrowed
   */
  void (*on_wait)(void *user, const twpa_wait *wait);
  void *user; /**< First argument of the callback. */
} twpa_scheduler_options;

/** Initialiser of #twpa_scheduler_options. */
#define TWPA_SCHEDULER_OPTIONS_INIT sizeof(twpa_scheduler_options)

/** Numbers of twpa_scheduler_stats(). */
typedef struct twpa_scheduler_counters {
  size_t struct_size;      /**< sizeof(twpa_scheduler_counters) of the caller. */
  uint64_t submitted;      /**< Transactions submitted. */
  uint64_t committed;      /**< Of those, committed. */
  uint64_t skipped;        /**< Of those, completed without being run. */
  uint64_t low_watermark;  /**< Every transaction up to this sequence number is done. */
  uint64_t newest;         /**< The last sequence number in the plan; 0 if none. */
  uint64_t stopped_before; /**< The scheduler has stopped before this one; 0: it has not. */
  uint64_t waiting;        /**< Now waiting for predecessors. */
  uint64_t ready;          /**< Now ready. */
  uint64_t running;        /**< Now being executed. */
  uint64_t open;           /**< Now open on the target: executing, executed, committing. */
  uint64_t running_high;   /**< The most that were executed at the same time. */
  uint64_t open_high;      /**< The most that were open at the same time. */
  uint64_t starts;         /**< How often a transaction was given out to be executed. */
  uint64_t early;          /**< How often one became ready before all its predecessors had committed. */
  uint64_t conflicts;      /**< Reports of #TWPA_FAIL_CONFLICT, or counted as such. */
  uint64_t errors;         /**< Reports of #TWPA_FAIL_ERROR. */
  uint64_t cancels;        /**< Reports of #TWPA_FAIL_CANCELLED from transactions that had to be rolled back. */
  uint64_t retries;        /**< Verdicts #TWPA_VERDICT_RETRY. */
  uint64_t alone;          /**< Verdicts #TWPA_VERDICT_ALONE. */
  uint64_t rollbacks;      /**< Executed transactions rolled back on request. */
  uint64_t held_running;   /**< How often nothing was given out because of `running_max`. */
  uint64_t held_open;      /**< How often nothing was given out because of `open_max`. */
  uint64_t turn_waits;     /**< How often an executed transaction had to wait for its commit turn. */
  uint64_t bytes_live;     /**< Memory in use, in bytes, without the plan's. */
} twpa_scheduler_counters;

/** Initialiser of #twpa_scheduler_counters. */
#define TWPA_SCHEDULER_COUNTERS_INIT sizeof(twpa_scheduler_counters)

/**
 * Creates a scheduler over a plan in which nothing is unfinished and that has no other scheduler.
 * @param[out]    scheduler  the object
 * @param[in,out] plan       borrowed until the scheduler is freed; the host no longer adds to it or completes in it
 * @param[in]     options    copied; NULL for the defaults
 * @param[in]     allocator  copied; NULL for the C library's
 * @return #TWPA_OK; #TWPA_E_INVAL for wrong options or allocator, or a commit order that does not fit the plan;
 *         #TWPA_E_UNSUPPORTED for options that this build does not know; #TWPA_E_STATE if something in the plan is
 *         unfinished; #TWPA_E_NOMEM.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_new(twpa_scheduler **scheduler, twpa_plan *plan,
                                                       const twpa_scheduler_options *options,
                                                       const twpa_allocator *allocator);

/**
 * Frees a scheduler; the plan stays. Tasks of transactions that are not done remain the host's. Inside its callback: does
 * nothing.
 * @param[in] scheduler  the object, or NULL
 */
TWPA_API void twpa_scheduler_free(twpa_scheduler *scheduler);

/**
 * Submits the next transaction in commit order.
 * @param[in,out] scheduler  the object
 * @param[out]    seq        its sequence number: one more than the last
 * @param[in]     set        its accesses; may be emptied and used again after the return
 * @param[in]     task       handed back when it is given out; never looked at
 * @return #TWPA_OK; #TWPA_E_LIMIT if a window is full (scheduler, plan or progress): apply some and call again;
 *         #TWPA_E_INVAL if the end position of the set is not above the last one's; #TWPA_E_EXISTS if the progress
 *         says that it is applied already; #TWPA_E_STATE after a stop; #TWPA_E_NOMEM; #TWPA_E_REENTRANT. Whatever
 *         twpa_plan_add() returns besides. On failure everything is as it was.
 * @note The cost of adding to the plan, plus O(1) amortised.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_submit(twpa_scheduler *scheduler, uint64_t *seq,
                                                          const twpa_access_set *set, void *task);

/**
 * Like twpa_scheduler_submit(), with commit-order groups (for example one per set of tables that readers look at
 * together). Under #TWPA_COMMIT_ORDER_GROUPS, transactions with a group in common commit in order;
 * twpa_scheduler_submit() gives a transaction all groups. Under the other orders the groups are only recorded.
 * @param[in,out] scheduler  the object
 * @param[out]    seq        its sequence number
 * @param[in]     set        its accesses
 * @param[in]     task       handed back when it is given out
 * @param[in]     groups     its groups, one bit each; 0: it commits when it likes
 * @return as twpa_scheduler_submit().
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_submit_groups(twpa_scheduler *scheduler, uint64_t *seq,
                                                                 const twpa_access_set *set, void *task,
                                                                 uint64_t groups);

/**
 * Gives one of several streams that share the plan a progress object of its own: it is told of the transactions
 * whose set was begun with this origin, instead of twpa_scheduler_options::progress.
 * @param[in,out] scheduler  the object
 * @param[in]     origin     the host's number for the stream
 * @param[in]     progress   borrowed until the scheduler is freed; NULL: its transactions are not tracked
 * @return #TWPA_OK; #TWPA_E_EXISTS if the origin has one; #TWPA_E_STATE after the first submission; #TWPA_E_LIMIT
 *         for more than 65,000 of them; #TWPA_E_NOMEM; #TWPA_E_REENTRANT.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_set_progress(twpa_scheduler *scheduler, uint64_t origin,
                                                                twpa_progress *progress);

/**
 * Gives out the ready transaction with the smallest sequence number, to be executed and left open.
 * @param[in,out] scheduler  the object
 * @param[out]    seq        its sequence number
 * @param[out]    task       what was submitted with it; NULL if not wanted
 * @return #TWPA_OK; #TWPA_NONE if nothing may run now (see twpa_scheduler_wait_of()); #TWPA_E_REENTRANT. O(1).
 * @note May call twpa_scheduler_options::on_wait if it completes what was skipped, and so may every call that does.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_next(twpa_scheduler *scheduler, uint64_t *seq, void **task);

/**
 * Like twpa_scheduler_next(), but prefers, among the next few ready ones, one whose last predecessor was executed
 * by the same worker. The head is never passed over, any other transaction at most four times.
 * @param[in,out] scheduler  the object
 * @param[out]    seq        its sequence number
 * @param[out]    task       what was submitted with it; NULL if not wanted
 * @param[in]     worker     who asks: any number below 2^32 - 1
 * @return #TWPA_OK; #TWPA_NONE; #TWPA_E_INVAL for a wrong @p worker; #TWPA_E_REENTRANT. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_next_for(twpa_scheduler *scheduler, uint64_t *seq, void **task,
                                                            uint32_t worker);

/**
 * Reports that a transaction has been executed on the target and is open there.
 * @param[in,out] scheduler  the object
 * @param[in]     seq        a transaction that is being executed
 * @return #TWPA_OK, also if it must be rolled back (ask twpa_scheduler_next_rollback()); #TWPA_E_STATE if it is not
 *         being executed; #TWPA_E_NOTFOUND if there is no such transaction; #TWPA_E_REENTRANT.
 * @note May call twpa_scheduler_options::on_wait. O(1), with early start O(successors).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_applied(twpa_scheduler *scheduler, uint64_t seq);

/**
 * Gives out an executed transaction whose commit turn has come, smallest sequence number first.
 * @param[in,out] scheduler  the object
 * @param[out]    seq        its sequence number
 * @param[out]    task       what was submitted with it; NULL if not wanted
 * @return #TWPA_OK; #TWPA_NONE if nobody may commit now; #TWPA_E_REENTRANT. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_next_commit(twpa_scheduler *scheduler, uint64_t *seq, void **task);

/**
 * Reports that a transaction has been committed on the target: its successors are released, progress moves. A
 * transaction that is executed and whose turn it is may be reported without having been given out for commit.
 * @param[in,out] scheduler  the object
 * @param[in]     seq        its sequence number
 * @return #TWPA_OK; #TWPA_E_STATE if it may not commit now; #TWPA_E_NOTFOUND if there is no such transaction;
 *         #TWPA_E_REENTRANT.
 * @note May call twpa_scheduler_options::on_wait. O(successors), amortised O(1) per edge. Allocates nothing.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_committed(twpa_scheduler *scheduler, uint64_t seq);

/**
 * Reports that a transaction failed and **has been rolled back completely** on the target. If the outcome is
 * unknown (the connection was lost during the commit), find it out first, by the progress stored on the target.
 * @param[in,out] scheduler  the object
 * @param[in]     seq        a transaction that is open: being executed, executed, or committing
 * @param[out]    verdict    one of #twpa_verdict
 * @param[in]     reason     one of #twpa_fail
 * @return #TWPA_OK; #TWPA_E_INVAL for a wrong @p reason; #TWPA_E_STATE if it is not open; #TWPA_E_NOTFOUND if there
 *         is no such transaction; #TWPA_E_REENTRANT.
 * @note O(1); if it had been executed, or makes others go, all transactions behind it in the window. Allocates nothing.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_failed(twpa_scheduler *scheduler, uint64_t seq, uint32_t *verdict,
                                                          uint32_t reason);

/**
 * Gives out an open transaction that must be rolled back because an earlier one failed: largest sequence number
 * first, each once per state.
 * @param[in,out] scheduler  the object
 * @param[out]    seq        its sequence number
 * @param[out]    task       what was submitted with it; NULL if not wanted
 * @param[out]    running    0: it is executed; roll it back and call twpa_scheduler_rolled_back(). 1: it is still
 *                           being executed; interrupt it if it may be blocked on the target, and let its worker
 *                           report #TWPA_FAIL_CANCELLED (or applied, then it is given out again with 0)
 * @return #TWPA_OK; #TWPA_NONE if there is none; #TWPA_E_REENTRANT. O(open transactions).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_next_rollback(twpa_scheduler *scheduler, uint64_t *seq,
                                                                 void **task, uint32_t *running);

/**
 * Reports that a transaction given out by twpa_scheduler_next_rollback() has been rolled back. It will run again.
 * @param[in,out] scheduler  the object
 * @param[in]     seq        its sequence number
 * @return #TWPA_OK; #TWPA_E_STATE if it is not executed or nobody asked for it; #TWPA_E_NOTFOUND;
 *         #TWPA_E_REENTRANT. O(successors).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_rolled_back(twpa_scheduler *scheduler, uint64_t seq);

/**
 * Must this transaction be rolled back? For workers that like to give up early.
 * @param[in] scheduler  the object
 * @param[in] seq        its sequence number
 * @return 1 if it is open and must be rolled back, else 0. O(1).
 */
TWPA_API int twpa_scheduler_is_doomed(const twpa_scheduler *scheduler, uint64_t seq);

/**
 * Completes a transaction without running it: an empty one, or one that the host decides to leave out. It still
 * takes its place: it is done when its predecessors are, because chains of dependencies run through it. The task is
 * not given out any more. Skipping the transaction before which the scheduler has stopped lets
 * twpa_scheduler_resume() go on behind it.
 * @param[in,out] scheduler  the object
 * @param[in]     seq        a transaction that is not open
 * @param[in]     outcome    #TWPA_DONE_COMMITTED if there was nothing to apply, or the target has it already;
 *                           #TWPA_DONE_SKIPPED if it is left out although it has changes
 * @return #TWPA_OK; #TWPA_E_INVAL for a wrong @p outcome; #TWPA_E_STATE if it is open, done, or skipped already;
 *         #TWPA_E_NOTFOUND if there is no such transaction; #TWPA_E_NOMEM (only for #TWPA_DONE_SKIPPED, with
 *         nothing changed); #TWPA_E_REENTRANT.
 * @note May call twpa_scheduler_options::on_wait. O(1), plus what becomes ready and is skipped too. If memory runs
 *       out later, when its turn comes, it is tried again at every report and question until it succeeds.
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_skip(twpa_scheduler *scheduler, uint64_t seq, uint32_t outcome);

/**
 * Stops before a transaction: it and all later ones are neither started nor committed any more; those among them
 * that are open are given out by twpa_scheduler_next_rollback(), except one that is committing already. Everything
 * earlier goes on. Of two stops the earlier one holds.
 * @param[in,out] scheduler  the object
 * @param[in]     seq        the first one to leave out; one that is done already means "as soon as possible"
 * @return #TWPA_OK; #TWPA_E_INVAL for 0; #TWPA_E_REENTRANT. O(transactions from there on in the window).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_stop_before(twpa_scheduler *scheduler, uint64_t seq);

/**
 * Takes a stop back. A transaction that had failed for good runs again as if it had not failed yet, unless it was
 * skipped.
 * @param[in,out] scheduler  the object
 * @return #TWPA_OK; #TWPA_E_STATE if there is no stop, or if some that have to be rolled back still are open;
 *         #TWPA_E_REENTRANT. O(transactions in the window).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_resume(twpa_scheduler *scheduler);

/**
 * Is there nothing left to do: nothing open, nothing ready, nothing that could become ready without a submission?
 * @param[in] scheduler  the object
 * @return 1 if so (then everything submitted is done, or the scheduler has stopped and everything before the stop
 *         is done), else 0. O(1).
 */
TWPA_API int twpa_scheduler_idle(const twpa_scheduler *scheduler);

/**
 * Where a transaction stands, and its task.
 * @param[in]  scheduler  the object
 * @param[out] state      one of #twpa_task_state
 * @param[out] task       its task; NULL if not wanted; NULL is written for one that is done
 * @param[in]  seq        its sequence number
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it was never submitted. O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_state(const twpa_scheduler *scheduler, uint32_t *state,
                                                         void **task, uint64_t seq);

/**
 * What a transaction waits for at this moment.
 * @param[in]  scheduler  the object
 * @param[out] wait       filled in; kind #TWPA_WAIT_NONE if it does not wait
 * @param[in]  seq        its sequence number
 * @return #TWPA_OK; #TWPA_E_NOTFOUND if it was never submitted. For dependencies as twpa_plan_explain(), else O(1).
 */
TWPA_API TWPA_NODISCARD twpa_status twpa_scheduler_wait_of(const twpa_scheduler *scheduler, twpa_wait *wait,
                                                           uint64_t seq);

/**
 * Reads the numbers. May be called from inside the callback.
 * @param[in]     scheduler  the object
 * @param[in,out] counters      filled in up to its struct_size
 * @return #TWPA_OK; #TWPA_E_INVAL for a wrong struct_size. O(1).
 */
TWPA_API twpa_status twpa_scheduler_stats(const twpa_scheduler *scheduler, twpa_scheduler_counters *counters);

TWPA_END_DECLS
/** @} */
#endif
