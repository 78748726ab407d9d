/* One line that says what went wrong: how the example programs carry an error to their main function. */
#ifndef SUPPORT_ERROR_H
#define SUPPORT_ERROR_H

#include <stdbool.h>

typedef struct host_error {
  char text[768]; /* empty: no error */
} host_error;

/* Fills in the text (printf style) and returns false, so that a failing function can `return host_fail(...)`. */
bool host_fail(host_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
