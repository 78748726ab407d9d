/*
 * The form of a trace: lines of words. This file knows what a line looks like, not what it means (docs/trace.md has the
 * grammar). A trace is split into lines as a whole, before anything of it is carried out, so that a file with a wrong
 * form does nothing at all.
 *
 *     verb subject key=value key=value   # comment
 *     > what the verb before prints
 *
 * Values stay text until the verb asks for a number, a list, bytes or a row; only then are the variables of loops put
 * in. Every message carries line and column.
 */
#ifndef TWPA_TRACE_SYNTAX_H
#define TWPA_TRACE_SYNTAX_H

#include "support/error.h"
#include "text.h"

#include <stdint.h>
#include <twpa/types.h>

#define TRACE_LINE_MAX ((size_t)1 << 20)  /* bytes of a line */
#define TRACE_VALUE_MAX ((size_t)1 << 26) /* bytes of a value when repetitions are carried out */

/* One word of a line: subject (without key) or key=value. */
typedef struct trace_word {
  char *key;       /* NULL: the subject */
  char *value;     /* as written, ends with a zero */
  unsigned column; /* of the value, from 1 */
  unsigned key_column;
} trace_word;

enum trace_line_kind { TRACE_BLANK, TRACE_COMMAND, TRACE_EXPECTED };

typedef struct trace_line {
  enum trace_line_kind kind;
  unsigned number;   /* from 1 */
  unsigned column;   /* of the verb */
  const char *raw;   /* borrowed from the input */
  size_t raw_len;
  char *verb;
  trace_word *words;
  size_t nwords;
} trace_line;

/* Where a message points to. */
typedef struct trace_place {
  const char *file;
  unsigned line, column;
} trace_place;

/* Fills in "file:line:column: text" and returns false. */
bool trace_fail(host_error *err, trace_place at, const char *format, ...) __attribute__((format(printf, 3, 4)));

typedef struct trace_source {
  const char *name; /* as given by the user */
  trace_line *lines;
  size_t nlines, cap;
} trace_source;

/* Splits a text into lines. `text` must live as long as the source. False: err says where and why. */
bool trace_source_parse(trace_source *source, const char *name, const char *text, size_t len, host_error *err);
void trace_source_free(trace_source *source);

/* Values; `at` is where the value begins. `what` names it in messages. */
bool trace_number(const char *value, uint64_t *n, uint64_t min, uint64_t max, trace_place at, host_error *err);
/* Also HIGH/LOW in hexadecimal, as PostgreSQL writes positions. */
bool trace_position(const char *value, twpa_lsn *lsn, trace_place at, host_error *err);
/* Bytes: pieces as they are or in quotes, a quoted one may be followed by *N. Appended to `bytes`. */
bool trace_bytes(const char *value, trace_text *bytes, trace_place at, host_error *err);
/* A row: (value,value,...) in its own form with repetitions carried out; or bytes. */
bool trace_row(const char *value, trace_text *bytes, trace_place at, host_error *err);
/* Cuts the next item off a list with commas; quotes and parentheses are respected. False: no more. The item is copied
   into `item`; *next moves behind the comma. */
bool trace_list_next(const char **next, trace_text *item);

#endif
