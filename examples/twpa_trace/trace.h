/*
 * A trace carried out and compared: what the program twpa-trace is made of, as a library, so that tests can use it.
 * What the language means is in docs/trace.md.
 */
#ifndef TWPA_TRACE_TRACE_H
#define TWPA_TRACE_TRACE_H

#include "syntax.h"

typedef struct trace_limits {
  uint64_t steps; /* commands carried out, loops included; 0: ten million */
  uint64_t bytes; /* memory for the library; 0: as much as there is */
} trace_limits;

/* What each line has printed; lines end with a newline. outputs[nlines] is what the end of the trace has printed. */
typedef struct trace_result {
  trace_text *outputs;
  size_t noutputs;
} trace_result;

/* Carries a trace out. False: wrong input, err says where; the result has what was printed before. */
bool trace_run(trace_result *result, const trace_source *source, const trace_limits *limits, host_error *err);
void trace_result_free(trace_result *result);

/* The trace with what it prints put behind each command, in the place of what stood there. */
void trace_annotate(trace_text *out, const trace_source *source, const trace_result *result);
/* What differs from what stands in the trace, for reading; returns the number of places. */
size_t trace_compare(trace_text *diff, const trace_source *source, const trace_result *result);
/* Does the trace say anything of what it prints? */
bool trace_has_expectation(const trace_source *source);

#endif
