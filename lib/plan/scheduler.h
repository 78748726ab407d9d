/* Inside of a scheduler: shared by the part that hands out work and the part that deals with failures. */
#ifndef TWPA_PLAN_SCHEDULER_H
#define TWPA_PLAN_SCHEDULER_H

#include "plan/plan.h"
#include "plan/seqset.h"

#include <twpa/scheduler.h>

#define TWPA__NO_WORKER UINT32_MAX
#define TWPA__GROUPS 64u
#define TWPA__NO_PROGRESS UINT16_MAX

typedef struct twpa__task {
  void *task;
  uint64_t groups;      /* commit-order groups */
  uint64_t tries;       /* failures that counted */
  uint32_t hint;        /* the worker that executed its last predecessor */
  uint32_t worker;      /* who executes it */
  uint32_t groups_left; /* groups in which it is not the first */
  uint16_t progress;    /* which progress object is told, or none */
  uint8_t state;        /* enum twpa_task_state */
  uint8_t passed;       /* how often another one was preferred */
  bool skip;            /* completes without being run */
  uint8_t outcome;      /* of a skip */
  bool doomed;          /* open, and must be rolled back */
  bool executed;        /* the plan was told so */
  bool alone;           /* its next run is alone */
  uint8_t reserved[3];
} twpa__task;

/* The transactions of one commit-order group that are not done, in order; some behind the first may be. */
typedef struct twpa__order {
  uint64_t *seqs; /* a ring */
  size_t cap;     /* a power of two, or 0 */
  size_t head, count;
} twpa__order;

typedef struct twpa__origin {
  uint64_t origin;
  twpa_progress *progress;
} twpa__origin;

struct twpa_scheduler {
  twpa__mem mem;
  twpa_plan *plan;
  twpa_scheduler_options options;
  twpa__task *tasks; /* ring by sequence number */
  size_t cap;        /* its length, a power of two */
  uint64_t low;      /* low watermark: everything up to here is done */
  uint64_t last;     /* newest submitted */
  uint64_t stop;     /* nothing from here on; 0: no stop */
  uint64_t alone;    /* the head that has to run alone; 0: none */
  twpa__seqset ready;      /* state READY */
  twpa__seqset turns;      /* EXECUTED, may commit */
  twpa__seqset rollbacks;  /* doomed and not given out for rollback yet */
  twpa__seqset skips;      /* ready to be completed without being run */
  twpa__order *orders;     /* 64, by group; NULL unless commits are ordered by groups */
  twpa__origin *origins;
  size_t norigins, origins_cap;
  uint64_t doomed;  /* how many are open and doomed */
  uint64_t waiting; /* in this state */
  uint64_t running, open;
  bool busy; /* inside the callback */
  twpa_scheduler_counters counters; /* those kept by hand */
};

static inline twpa__task *twpa__task_at(const twpa_scheduler *s, uint64_t seq)
{
  return &s->tasks[seq & (s->cap - 1)];
}

static inline bool twpa__is_open(const twpa__task *t)
{
  return t->state == TWPA_TASK_RUNNING || t->state == TWPA_TASK_EXECUTED || t->state == TWPA_TASK_COMMITTING;
}

/* Inside a callback of it, or of its plan. */
static inline bool twpa__scheduler_is_busy(const twpa_scheduler *s)
{
  return s->busy || s->plan->busy;
}

/* The opening of a call: wrong arguments, or a call from inside a callback. */
static inline twpa_status twpa__scheduler_enter(const twpa_scheduler *s, bool arguments)
{
  if (s == NULL || !arguments)
    return TWPA_E_INVAL;
  return twpa__scheduler_is_busy(s) ? TWPA_E_REENTRANT : TWPA_OK;
}

/* May not start or commit because of a stop. */
static inline bool twpa__is_stopped(const twpa_scheduler *s, uint64_t seq)
{
  return s->stop != 0 && seq >= s->stop;
}

/* --- scheduler.c ------------------------------------------------------------------------------------------------- */

/* A task that was submitted and is not done, else NULL with *st saying why (NOTFOUND, or STATE if it is done). */
twpa__task *twpa__live_task(const twpa_scheduler *s, uint64_t seq, twpa_status *st);
/* The opening of a call about a transaction that is not done. */
static inline twpa_status twpa__scheduler_enter_task(const twpa_scheduler *s, bool arguments, uint64_t seq,
                                                     twpa__task **task)
{
  twpa_status st = twpa__scheduler_enter(s, arguments), why;
  if (st != TWPA_OK)
    return st;
  *task = twpa__live_task(s, seq, &why);
  return *task != NULL ? TWPA_OK : why;
}

/* Takes what the plan has made ready; worker: who executed what made it so. */
void twpa__take_ready(twpa_scheduler *s, uint32_t worker, bool early);
/* No longer on the target, and not for its own fault: READY or WAITING, as the plan has it. */
void twpa__reset_task(twpa_scheduler *s, uint64_t seq);
/* Completes what is skipped and ready; what there is no memory for stays for the next time. */
void twpa__run_skips(twpa_scheduler *s);

/* --- scheduler_turn.c -------------------------------------------------------------------------------------------- */

static inline bool twpa__is_done(const twpa_scheduler *s, uint64_t seq)
{
  return seq <= s->low || twpa__task_at(s, seq)->state == TWPA_TASK_DONE;
}

/* Room for one more in each of these groups. */
twpa_status twpa__orders_reserve(twpa_scheduler *s, uint64_t groups);
void twpa__orders_push(twpa_scheduler *s, twpa__task *t, uint64_t seq);
/* Done: where it was the first, whoever is first now may be up for commit. */
void twpa__orders_pop(twpa_scheduler *s, uint64_t groups, uint64_t done);
/* It may commit if it is executed, not doomed, not stopped, and first in its order. */
void twpa__offer_turn(twpa_scheduler *s, uint64_t seq);
/* The nearest one that an executed transaction waits for; 0: none. */
uint64_t twpa__turn_holder(const twpa_scheduler *s, uint64_t seq);
/* The host is told for whom it waits, */
void twpa__tell_waits(twpa_scheduler *s, uint64_t seq);
/* and, of one that was done before its turn, for whom those wait now that waited for it. */
void twpa__tell_waits_behind(twpa_scheduler *s, uint64_t seq);

/* --- scheduler_fail.c -------------------------------------------------------------------------------------------- */

void twpa__retry_failed_head(twpa_scheduler *s);

/* A failed head becomes ready if nothing that must be rolled back is left, and, to run alone, nothing open. */
static inline void twpa__retry_head(twpa_scheduler *s)
{
  if (s->low < s->last && twpa__task_at(s, s->low + 1)->state == TWPA_TASK_RETRY)
    twpa__retry_failed_head(s);
}

#endif
