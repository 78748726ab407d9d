/* Reads the output of test_decoding. */
#include "hosts/expected.h"

#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *data_dir(void)
{
  const char *dir = getenv("TWPA_DATA_DIR");
  ck_assert_msg(dir != NULL, "TWPA_DATA_DIR is not set");
  return dir;
}

const char *sample_path(const char *name)
{
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s/data", data_dir(), name);
  return path;
}

static char *read_all(const char *path)
{
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s cannot be read", path);
  fseek(f, 0, SEEK_END);
  size_t size = (size_t)ftell(f);
  rewind(f);
  char *text = malloc(size + 1);
  ck_assert(text && fread(text, 1, size, f) == size);
  fclose(f);
  text[size] = 0;
  return text;
}

/* Whether a line of output begins here; other lines belong to the value before. */
static int begins(const char *line)
{
  return !strncmp(line, "BEGIN ", 6) || !strncmp(line, "COMMIT ", 7) ||
         !strncmp(line, "table ", 6) || !strncmp(line, "message: ", 9);
}

static void add_change(expected *e, char *line)
{
  static const struct {
    const char *word;
    char op;
  } ops[] = {{": INSERT: ", 'I'}, {": UPDATE: ", 'U'}, {": DELETE: ", 'D'}, {": TRUNCATE: ", 'T'}};
  expected_txn *t = &e->txns[e->ntxns - 1];
  ck_assert_uint_gt(e->ntxns, 0);
  t->changes = realloc(t->changes, (t->nchanges + 1) * sizeof *t->changes);
  expected_change *c = &t->changes[t->nchanges++];
  char *best = NULL;
  for (size_t i = 0; i < 4; i++) {
    char *at = strstr(line, ops[i].word);
    if (at && (!best || at < best)) {
      best = at;
      *c = (expected_change){.op = ops[i].op, .tables = line + 6, .text = at + strlen(ops[i].word)};
    }
  }
  ck_assert_msg(best != NULL, "not understood: %s", line);
  *best = 0;
}

void expected_read(expected *e, const char *name)
{
  char path[1024];
  memset(e, 0, sizeof *e);
  snprintf(path, sizeof path, "%s/%s/expected.txt", data_dir(), name);
  e->text = read_all(path);
  for (char *line = e->text; *line;) {
    char *end = strchr(line, '\n');
    while (end && end[1] && !begins(end + 1))
      end = strchr(end + 1, '\n');
    char *next = end ? end + 1 : line + strlen(line);
    if (end)
      *end = 0;
    if (!strncmp(line, "BEGIN ", 6)) {
      e->txns = realloc(e->txns, (e->ntxns + 1) * sizeof *e->txns);
      e->txns[e->ntxns++] = (expected_txn){.xid = (uint32_t)strtoul(line + 6, NULL, 10)};
    } else if (!strncmp(line, "table ", 6)) {
      add_change(e, line);
    } else {
      e->nmessages += !strncmp(line, "message: ", 9);
    }
    line = next;
  }
}

void expected_free(expected *e)
{
  for (size_t i = 0; i < e->ntxns; i++)
    free(e->txns[i].changes);
  free(e->txns);
  free(e->text);
}
