/* Running programs, reading JSON, spoiling copies. */
#define _XOPEN_SOURCE 700 /* nftw, realpath */
#include "hosts/program.h"

#include "support/runner.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *slurp(int fd, size_t *size)
{
  off_t end = lseek(fd, 0, SEEK_END);
  ck_assert(end >= 0);
  char *text = malloc((size_t)end + 1);
  ck_assert(text != NULL);
  ck_assert(pread(fd, text, (size_t)end, 0) == (ssize_t)end);
  text[end] = 0;
  if (size)
    *size = (size_t)end;
  return text;
}

static int scratch_file(void)
{
  char path[] = "/tmp/twpa-test-XXXXXX";
  int fd = mkstemp(path);
  ck_assert_msg(fd >= 0, "no temporary file");
  unlink(path);
  return fd;
}

static char **copy_args(const char *const *argv)
{
  char **args = calloc(32, sizeof *args);
  ck_assert(args != NULL);
  for (size_t n = 0; argv[n] && n < 31; n++)
    args[n] = strdup(argv[n]);
  return args;
}

/* The child's side: never returns. */
static void become(const char *const *argv, int out, int err)
{
  char **args = copy_args(argv);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv(args[0], args);
  _exit(127);
}

static int wait_for(pid_t pid)
{
  int status;
  ck_assert(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

program_run program(const char *const *argv)
{
  program_run r = {0};
  int out = scratch_file(), err = scratch_file();
  pid_t pid = fork();
  ck_assert(pid >= 0);
  if (!pid)
    become(argv, out, err);
  r.status = wait_for(pid);
  r.out = slurp(out, NULL);
  r.err = slurp(err, NULL);
  for (const char *p = r.err; *p; p++)
    r.err_lines += *p == '\n';
  close(out);
  close(err);
  return r;
}

program_run program_on_terminal(const char *const *argv)
{
  program_run r = {0};
  int out = scratch_file(), master = posix_openpt(O_RDWR | O_NOCTTY);
  ck_assert_msg(master >= 0 && !grantpt(master) && !unlockpt(master), "no pseudo-terminal");
  int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  ck_assert(slave >= 0);
  pid_t pid = fork();
  ck_assert(pid >= 0);
  if (!pid)
    become(argv, out, slave);
  close(slave);
  size_t len = 0;
  r.err = calloc(1, 1u << 20);
  ck_assert(r.err != NULL);
  for (ssize_t got;
       len < (1u << 20) - 1 && (got = read(master, r.err + len, (1u << 20) - 1 - len)) > 0;)
    len += (size_t)got;
  r.status = wait_for(pid);
  r.out = slurp(out, NULL);
  close(out);
  close(master);
  return r;
}

void program_free(program_run *r)
{
  free(r->out);
  free(r->err);
}

/* A recursive reader of JSON: each returns the place behind the value, or NULL. */
static const char *value(const char *p, int depth);

static const char *blank(const char *p)
{
  return p + strspn(p, " \t\r\n");
}

static const char *string(const char *p)
{
  if (*p++ != '"')
    return NULL;
  while (*p != '"') {
    if ((unsigned char)*p < 0x20)
      return NULL;
    if (*p++ != '\\')
      continue;
    if (*p == 'u') {
      if (strspn(p + 1, "0123456789abcdefABCDEF") < 4)
        return NULL;
      p += 5;
    } else if (*p && strchr("\"\\/bfnrt", *p)) {
      p++;
    } else {
      return NULL;
    }
  }
  return p + 1;
}

static const char *number(const char *p)
{
  p += *p == '-';
  size_t n = strspn(p, "0123456789");
  if (!n || (*p == '0' && n > 1))
    return NULL;
  p += n;
  if (*p == '.') {
    n = strspn(++p, "0123456789");
    if (!n)
      return NULL;
    p += n;
  }
  return p;
}

static const char *items(const char *p, char end, int depth)
{
  p = blank(p + 1);
  if (*p == end)
    return p + 1;
  for (;;) {
    if (end == '}') {
      p = string(p);
      if (!p)
        return NULL;
      p = blank(p);
      if (*p++ != ':')
        return NULL;
      p = blank(p);
    }
    p = value(p, depth + 1);
    if (!p)
      return NULL;
    p = blank(p);
    if (*p == end)
      return p + 1;
    if (*p++ != ',')
      return NULL;
    p = blank(p);
  }
}

static const char *value(const char *p, int depth)
{
  static const char *const words[] = {"true", "false", "null"};
  if (depth > 20)
    return NULL;
  if (*p == '{')
    return items(p, '}', depth);
  if (*p == '[')
    return items(p, ']', depth);
  if (*p == '"')
    return string(p);
  for (int i = 0; i < 3; i++)
    if (!strncmp(p, words[i], strlen(words[i])))
      return p + strlen(words[i]);
  return number(p);
}

bool is_json(const char *text)
{
  const char *p = value(blank(text), 0);
  return p && !*blank(p);
}

double json_number(const char *text, const char *name)
{
  char key[80];
  snprintf(key, sizeof key, "\n  \"%s\": ", name);
  const char *at = strstr(text, key);
  ck_assert_msg(at != NULL, "no %s in %s", name, text);
  return strtod(at + strlen(key), NULL);
}

static char copied[256];
static char source[1024];

static int link_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
  char to[2048];
  (void)st;
  (void)ftw;
  snprintf(to, sizeof to, "%s%s", copied, path + strlen(source));
  if (type == FTW_D)
    return mkdir(to, 0777) && strcmp(to, copied) ? -1 : 0;
  return symlink(path, to);
}

const char *copy_tree(const char *from)
{
  snprintf(copied, sizeof copied, "/tmp/twpa-copy-XXXXXX");
  ck_assert(mkdtemp(copied) != NULL);
  ck_assert(realpath(from, source) != NULL);
  ck_assert_int_eq(nftw(source, link_one, 16, FTW_PHYS), 0);
  return copied;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
  (void)st;
  (void)type;
  (void)ftw;
  return remove(path);
}

void copy_free(void)
{
  if (*copied)
    nftw(copied, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  *copied = 0;
}

static void path_of(char out[2048], const char *file)
{
  snprintf(out, 2048, "%s/%s", copied, file);
}

unsigned char *copy_open(const char *file, size_t *size)
{
  char path[2048];
  path_of(path, file);
  int fd = open(path, O_RDONLY);
  ck_assert_msg(fd >= 0, "%s cannot be read", path);
  char *content = slurp(fd, size);
  close(fd);
  return (unsigned char *)content;
}

void copy_close(const char *file, unsigned char *content, size_t size)
{
  char path[2048];
  path_of(path, file);
  unlink(path);
  FILE *f = fopen(path, "wb");
  ck_assert(f != NULL);
  ck_assert(fwrite(content, 1, size, f) == size);
  ck_assert_int_eq(fclose(f), 0);
  free(content);
}

void copy_remove(const char *file)
{
  char path[2048];
  path_of(path, file);
  ck_assert_int_eq(unlink(path), 0);
}
