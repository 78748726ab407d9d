/* Running a program as a user would, and cold directories with something wrong in them. */
#ifndef TESTS_HOSTS_PROGRAM_H
#define TESTS_HOSTS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct program_run {
  int status; /* exit status, or -signal */
  char *out, *err;
  size_t err_lines;
} program_run;

/* Runs argv (NULL at the end; argv[0] is a path) and waits. Free with program_free. */
program_run program(const char *const *argv);
/* The same with stderr on a terminal; err_lines is not counted. */
program_run program_on_terminal(const char *const *argv);
void program_free(program_run *r);

/* Whether text is one well-formed JSON value. */
bool is_json(const char *text);
/* The number behind "name": at the top level of a JSON object as this project prints it; fails the test if absent. */
double json_number(const char *text, const char *name);

/*
 * A copy of a directory tree whose files are links to the original ones, in a fresh directory below /tmp; returns its
 * path, valid until the next call. copy_free removes it.
 */
const char *copy_tree(const char *from);
void copy_free(void);
/* Makes a file of the copy (relative path) a real one, so that it may be changed; its content. Fails the test. */
unsigned char *copy_open(const char *file, size_t *size);
/* Writes the content back and frees it. */
void copy_close(const char *file, unsigned char *content, size_t size);
void copy_remove(const char *file);

#endif
