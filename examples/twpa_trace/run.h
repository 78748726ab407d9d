/*
 * Inside of a run: what all verbs share. A verb is a name, the keys it takes, and a function; run.c looks it up, puts
 * the variables of loops in, and calls it. The function reads its values (arg_*), calls the library, and prints with
 * trace_say(). A verb returns false for wrong input only; a status of the library that is not TWPA_OK is output.
 */
#ifndef TWPA_TRACE_RUN_H
#define TWPA_TRACE_RUN_H

#include "trace.h"

#include <twpa/twpa.h>

typedef struct trace trace;
typedef struct trace_verb trace_verb;

/* A line that is carried out, its variables put in. */
typedef struct trace_command {
  const trace_verb *verb;
  trace_place at;
  trace_word *words;
  size_t nwords;
  twpa_lsn lsn, end_lsn; /* of an event: where its record is */
} trace_command;

enum {
  VERB_EVENT = 1, /* a record of the log: has lsn= and end=, is fed again by a restart from a position */
  VERB_LOOP = 2,
  VERB_END = 4
};

struct trace_verb {
  const char *name;
  const char *subject; /* what the subject is, for messages; NULL: none; with '?' in front: may be missing */
  const char *keys;    /* separated by blanks; an event has lsn and end besides */
  bool (*run)(trace *t, const trace_command *c);
  unsigned flags;
  bool (*in_txn)(trace *t, const trace_command *c); /* of an event: if the subject is no number; NULL: it has to be one */
};

/* What can be made to fail, and how. */
enum trace_fault_kind { FAULT_STORAGE, FAULT_CALLBACK, FAULT_ALLOCATION, FAULT_KINDS };
enum trace_fault_how { HOW_ERROR, HOW_NOMEM, HOW_CORRUPT, HOW_DAMAGE, HOW_ABORTED };

typedef struct trace_fault {
  bool armed, always, fired;
  uint64_t left; /* calls until it fires, from 1 */
  enum trace_fault_how how;
  char of[24];   /* only this call; empty: any */
} trace_fault;

typedef struct trace_relation {
  char *name;
  uint64_t number;
} trace_relation;

typedef struct trace_variable {
  const char *name;
  uint64_t value;
} trace_variable;

#define LOOP_DEPTH 8

struct decode_half;
struct plan_half;

struct trace {
  const trace_source *source;
  trace_result *result;
  host_error *err;
  trace_text out; /* what the command has printed */
  trace_variable variables[LOOP_DEPTH];
  size_t nvariables;
  uint64_t steps_left;
  uint64_t memory, memory_max; /* given out by the allocator, and the most that it gives */
  trace_fault faults[FAULT_KINDS];
  twpa_allocator allocator;
  trace_relation *relations;
  size_t nrelations, relations_cap;
  twpa_lsn next_lsn;
  trace_command *log; /* the events so far */
  size_t nlog, log_cap;
  bool repeating; /* events are fed again */
  struct decode_half *decode;
  struct plan_half *plan;
};

/* --- run.c --- */

void trace_say(trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A status that is not TWPA_OK is printed. Returns true, so that a verb can end with it. */
bool trace_status(trace *t, twpa_status status);
/* Carries out the events of the log from a position on once more. */
bool trace_feed_again(trace *t, twpa_lsn from);
/* Forgets the events so far: the next one is the first of a log. */
void trace_new_log(trace *t);
/* Does this call fail? Counts it. */
bool trace_fault_hits(trace *t, enum trace_fault_kind kind, const char *name);

/* --- args.c --- */

const trace_word *arg_of(const trace_command *c, const char *key); /* NULL: the subject */
bool arg_has(const trace_command *c, const char *key);
trace_place arg_place(const trace_command *c, const char *key);
bool arg_fail(trace *t, const trace_command *c, const char *key, const char *format, ...)
  __attribute__((format(printf, 4, 5)));
/* The following leave the value alone if the key is not there, and return false for wrong input. */
bool arg_need(trace *t, const trace_command *c, const char *key);
bool arg_number(trace *t, const trace_command *c, const char *key, uint64_t *n, uint64_t min, uint64_t max);
bool arg_u32(trace *t, const trace_command *c, const char *key, uint32_t *n);
bool arg_position(trace *t, const trace_command *c, const char *key, twpa_lsn *lsn);
bool arg_bytes(trace *t, const trace_command *c, const char *key, trace_text *bytes, bool *present);
bool arg_row(trace *t, const trace_command *c, const char *key, trace_text *row, bool *present);
/* One of the words in "no|yes": its place. */
bool arg_choice(trace *t, const trace_command *c, const char *key, uint32_t *choice, const char *words);
/* Several of the words, with commas: the bits of their places. */
bool arg_flags(trace *t, const trace_command *c, const char *key, uint32_t *flags, const char *words);
bool arg_numbers(trace *t, const trace_command *c, const char *key, uint64_t **numbers, size_t *n);
/* The number of a relation; a name that is new becomes one. */
bool arg_relation(trace *t, const trace_command *c, const char *key, uint64_t *number);
bool arg_relations(trace *t, const trace_command *c, const char *key, uint64_t **numbers, size_t *n);
const char *relation_name(const trace *t, uint64_t number); /* NULL: none */
/* Is `word` one of the words in "a|b|c"? Its place, or -1. */
int choice_of(const char *word, size_t len, const char *words);

/* --- the halves --- */

extern const trace_verb decode_verbs[], plan_verbs[];
struct plan_half *plan_new(void);
void plan_finish(trace *t);
struct decode_half *decode_new(void);
/* Ends what is open; prints what should not be left. */
void decode_finish(trace *t);

#endif
