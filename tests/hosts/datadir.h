/* Data directories for tests: throw-away copies that can be damaged, and those that the build has unpacked. */
#ifndef TESTS_HOSTS_DATADIR_H
#define TESTS_HOSTS_DATADIR_H

#include <stddef.h>
#include <stdint.h>

/* A fresh directory; remove_tree takes it away. The result is for the caller to free. */
char *make_tree(void);
void remove_tree(const char *dir);

/* Copies a directory with all below it, pg_wal excepted. */
void copy_tree(const char *from, const char *to);

/* Writes DIR/NAME; directories in NAME are made. */
void write_file(const char *dir, const char *name, const void *data, size_t len);
/* Reads it; the result is for the caller to free. */
uint8_t *read_file(const char *dir, const char *name, size_t *len);
/* Writes `len` bytes at an offset of an existing file. */
void patch_file(const char *dir, const char *name, size_t at, const void *data, size_t len);
void cut_file(const char *dir, const char *name, size_t len);
void delete_file(const char *dir, const char *name);

/* The path of an unpacked archive below TWPA_DATA_DIR, such as "pg15-sample/data"; fails the test if it is not there. */
const char *data_path(const char *name);

#endif
