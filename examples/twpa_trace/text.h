/* A text that grows, and how bytes are shown in it. Never fails: without memory the program ends (support/memory.h). */
#ifndef TWPA_TRACE_TEXT_H
#define TWPA_TRACE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct trace_text {
  char *data; /* ends with a zero that does not count; NULL while empty */
  size_t len, cap;
} trace_text;

void text_add(trace_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_addv(trace_text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void text_bytes(trace_text *t, const void *data, size_t len);
void text_free(trace_text *t);
const char *text_get(const trace_text *t);

/* Can the bytes stand in a trace without quotes? */
bool text_is_plain(const char *data, size_t len);

/*
 * Bytes as a trace shows them: as they are if they are plain, in quotes with escapes otherwise. A byte that is there
 * 20 times or more in a row becomes x{N}; what is longer than 200 characters even so is cut, with its length and a
 * checksum behind it, so that no difference gets lost.
 */
void text_show(trace_text *t, const void *data, size_t len);
/* The same for a row: one in parentheses keeps its own form. */
void text_show_row(trace_text *t, const void *data, size_t len);

#endif
