/*
 * Histories as traces (docs/trace.md): whatever a test does with a plan is written down as the lines that make twpa-trace do
 * the same, with what the plan answered behind them. Put into tests/traces, such a file is a test.
 */
#ifndef TESTS_PLAN_HISTORY_TRACE_H
#define TESTS_PLAN_HISTORY_TRACE_H

#include "history.h"

#include <stdio.h>
#include <twpa/scheduler.h>

/* Each does nothing without a file. */
typedef struct trace_log {
  FILE *out;
  const uint32_t *lacking; /* per transaction: those it should wait for, as bits; NULL: what the plan says is right */
  const uint32_t *hidden;  /* a plan that is to look wrong: dependencies that are not shown; NULL: none */
} trace_log;

/* A line that is no command. */
void log_comment(const trace_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Any command, or what one prints, without the end of the line. */
void log_line(const trace_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "> status ..." if it is not TWPA_OK. */
void log_status(const trace_log *log, twpa_status st);

/* The target: its relations, and as comments the rows it has. */
void log_target(const trace_log *log, const history *h);
void log_plan(const trace_log *log, const twpa_plan_options *o);
void log_scheduler(const trace_log *log, const twpa_scheduler_options *o);
void log_seed(const trace_log *log, int table, tuple t);
/* "txn" and what a transaction does, as the stream says it; `more` goes to the line of "txn". */
void log_transaction(const trace_log *log, const history *h, int t, const char *more);
/* What "enter" prints. With scheduler: `group` is written to the line of "txn" by the caller. */
void log_entered(const trace_log *log, const twpa_plan *plan, int t, uint64_t seq);
/* What "explain" prints, without a scheduler. */
void log_explained(const trace_log *log, const twpa_plan *plan, int t, uint64_t seq);

/*
 * What of the stream a statement has: old row and new row as values of columns. False: the image is not sent. The planner's
 * tests and the traces must not differ in this.
 */
typedef struct images {
  int64_t old_values[COLS], new_values[COLS];
  bool has_old, has_new;
} images;
void history_images(const history *h, const statement *s, images *out);

#endif
