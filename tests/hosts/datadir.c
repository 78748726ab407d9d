/* Throw-away directories. */
#include "hosts/datadir.h"

#include "support/runner.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PATH = 4096
};

static const char *join(char *out, const char *dir, const char *name)
{
  ck_assert_int_lt(snprintf(out, PATH, "%s/%s", dir, name), PATH);
  return out;
}

char *make_tree(void)
{
  const char *tmp = getenv("TMPDIR");
  char *dir = malloc(PATH);
  ck_assert_ptr_nonnull(dir);
  join(dir, tmp != NULL ? tmp : "/tmp", "twpa-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  return dir;
}

/* Calls `visit` for each entry of a directory. */
static void each_entry(const char *dir, void (*visit)(const char *path, const char *name, void *arg), void *arg)
{
  DIR *d = opendir(dir);
  ck_assert_msg(d != NULL, "%s: %s", dir, strerror(errno));
  char path[PATH];
  for (const struct dirent *e; (e = readdir(d)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      visit(join(path, dir, e->d_name), e->d_name, arg);
  closedir(d);
}

static int is_directory(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void remove_entry(const char *path, const char *name, void *arg)
{
  (void)name;
  (void)arg;
  if (is_directory(path))
    remove_tree(path);
  else
    unlink(path);
}

void remove_tree(const char *dir)
{
  each_entry(dir, remove_entry, NULL);
  rmdir(dir);
}

static void make_parents(char *path)
{
  for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
    *p = 0;
    ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
    *p = '/';
  }
}

void write_file(const char *dir, const char *name, const void *data, size_t len)
{
  char path[PATH];
  join(path, dir, name);
  make_parents(path);
  FILE *f = fopen(path, "wb");
  ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
  ck_assert_uint_eq(fwrite(data, 1, len, f), len);
  ck_assert_int_eq(fclose(f), 0);
}

uint8_t *read_file(const char *dir, const char *name, size_t *len)
{
  char path[PATH];
  FILE *f = fopen(join(path, dir, name), "rb");
  ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
  struct stat st;
  ck_assert_int_eq(fstat(fileno(f), &st), 0);
  *len = (size_t)st.st_size;
  uint8_t *bytes = malloc(*len + 1);
  ck_assert_ptr_nonnull(bytes);
  ck_assert_uint_eq(fread(bytes, 1, *len, f), *len);
  bytes[*len] = 0;
  fclose(f);
  return bytes;
}

void patch_file(const char *dir, const char *name, size_t at, const void *data, size_t len)
{
  char path[PATH];
  FILE *f = fopen(join(path, dir, name), "r+b");
  ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
  ck_assert_int_eq(fseek(f, (long)at, SEEK_SET), 0);
  ck_assert_uint_eq(fwrite(data, 1, len, f), len);
  ck_assert_int_eq(fclose(f), 0);
}

void cut_file(const char *dir, const char *name, size_t len)
{
  char path[PATH];
  ck_assert_int_eq(truncate(join(path, dir, name), (off_t)len), 0);
}

void delete_file(const char *dir, const char *name)
{
  char path[PATH];
  ck_assert_int_eq(unlink(join(path, dir, name)), 0);
}

static void copy_entry(const char *path, const char *name, void *arg)
{
  const char *to = arg;
  char target[PATH];
  join(target, to, name);
  if (is_directory(path)) {
    if (strcmp(name, "pg_wal") == 0)
      return;
    ck_assert_int_eq(mkdir(target, 0700), 0);
    each_entry(path, copy_entry, target);
    return;
  }
  size_t len;
  char dir[PATH];
  join(dir, path, "");
  dir[strlen(path) - strlen(name) - 1] = 0;
  uint8_t *bytes = read_file(dir, name, &len);
  write_file(to, name, bytes, len);
  free(bytes);
}

void copy_tree(const char *from, const char *to)
{
  char target[PATH];
  ck_assert_int_lt(snprintf(target, sizeof target, "%s", to), PATH);
  each_entry(from, copy_entry, target);
}

const char *data_path(const char *name)
{
  static char path[PATH];
  const char *dir = getenv("TWPA_DATA_DIR");
  ck_assert_msg(dir != NULL, "TWPA_DATA_DIR is not set: run through ctest, or set it to BUILD/data");
  join(path, dir, name);
  ck_assert_msg(access(path, R_OK) == 0, "%s: %s", path, strerror(errno));
  return path;
}
