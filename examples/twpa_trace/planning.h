/*
 * The planning half of a trace: relations described line by line, transactions entered by their changes or by raw
 * accesses, a plan, and on top of it a scheduler and progress if the trace wants them. The host's part, carrying
 * transactions out, is what the trace says: applied, committed, failed.
 */
#ifndef TWPA_TRACE_PLANNING_H
#define TWPA_TRACE_PLANNING_H

#include "run.h"

/* A list of places of columns. */
typedef struct trace_columns {
  uint32_t *at;
  size_t n;
} trace_columns;

typedef struct trace_index {
  char *name;
  trace_columns columns, where;
  uint32_t *prefix;
  uint64_t id; /* its place from 1, if the trace says nothing else */
  uint32_t flags;
  bool has_where;
} trace_index;

typedef struct trace_fk {
  char *name;
  trace_columns columns;
  uint64_t parent; /* number of the relation */
  char *index;     /* name of the parent's index */
  uint32_t flags;
} trace_fk;

/* A relation as the trace describes it; number and name are those of run.h. */
typedef struct trace_described {
  uint64_t number, root, epoch;
  char **columns;
  uint32_t *classes;
  twpa_column_desc *descs;
  size_t ncolumns;
  trace_index *indexes;
  size_t nindexes, indexes_cap;
  trace_fk *fks;
  size_t nfks, fks_cap;
  uint64_t *affects;
  size_t naffects;
  uint32_t identity, flags;
  char *identity_index; /* with TWPA_IDENTITY_INDEX */
  twpa_relation *built; /* NULL: not made, or described anew */
} trace_described;

typedef struct plan_half {
  trace_described *relations;
  size_t nrelations, relations_cap;

  twpa_plan *plan; /* made with the first transaction */
  twpa_plan_options options;
  bool scheduled;  /* a scheduler is wanted */
  twpa_scheduler *scheduler;
  twpa_scheduler_options schedule;
  bool tracked;    /* progress is wanted */
  twpa_progress *progress;
  twpa_progress_options track;
  unsigned char *saved; /* the last checkpoint */
  size_t nsaved;

  twpa_access_set *set;
  bool in_txn;
  uint64_t groups;
  bool has_groups;
  uint32_t print_edges; /* via, plain, none */
} plan_half;

/* --- relations.c --- */
trace_described *described_of(const trace *t, uint64_t number);
/* The relation of a key, described and made; NULL: wrong input, or it could not be made (both are told). */
trace_described *arg_described(trace *t, const trace_command *c, const char *key);
trace_described *described_ready(trace *t, const trace_command *c, uint64_t number);
const char *index_name(const trace_described *r, uint64_t id);
void relations_free(plan_half *p);
bool do_relation(trace *t, const trace_command *c);
bool do_index(trace *t, const trace_command *c);
bool do_fk(trace *t, const trace_command *c);

/* --- rows.c --- */
typedef struct trace_values {
  twpa_value *values;
  trace_text *texts;
  size_t n;
} trace_values;

/* A row in parentheses as values; `txn` knows long values, may be NULL. Missing ones at the end of an old row are
   absent. */
bool values_of_row(trace *t, trace_values *out, const trace_described *r, const char *row, size_t len, twpa_txn *txn,
                   bool old_row, trace_place at);
void values_free(trace_values *v);

/* --- txns.c --- */
bool plan_ready(trace *t); /* the plan is there; false: printed why not */
bool do_txn(trace *t, const trace_command *c);
bool txn_row(trace *t, const trace_command *c);
bool txn_truncate(trace *t, const trace_command *c);
bool txn_touch(trace *t, const trace_command *c);
bool do_barrier(trace *t, const trace_command *c);
bool do_access(trace *t, const trace_command *c);
bool do_enter(trace *t, const trace_command *c);
bool do_seed(trace *t, const trace_command *c);
/* A transaction of the decoding half, taken: enters and is given back. */
bool plan_take(trace *t, twpa_txn *txn, trace_place at);

/* --- work.c --- */
bool do_plan(trace *t, const trace_command *c);
bool do_scheduler(trace *t, const trace_command *c);
bool do_progress(trace *t, const trace_command *c);
bool do_complete(trace *t, const trace_command *c);
bool do_step(trace *t, const trace_command *c); /* executed, revoke, applied, committed, rolled-back, stop */
bool do_next(trace *t, const trace_command *c);
bool do_failed(trace *t, const trace_command *c);
bool do_simple(trace *t, const trace_command *c); /* cut, resume */
bool do_passed(trace *t, const trace_command *c);
bool do_checkpoint(trace *t, const trace_command *c);
bool do_reload(trace *t, const trace_command *c);
void plan_close(trace *t);

/* --- look.c --- */
void show_edges_of(trace *t, uint64_t seq);
bool do_explain(trace *t, const trace_command *c);
bool plan_show(trace *t, const trace_command *c, const char *what, bool *known);
bool do_ask(trace *t, const trace_command *c);
/* A figure "plan.x", "scheduler.x", "progress.x", "fallback.x"; false: there is none of that name. */
bool plan_figure(trace *t, const char *name, uint64_t *value);

#endif
