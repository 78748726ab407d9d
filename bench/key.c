/*
 * Conflict keys of one to three columns. The baseline does what every key maker does that hashes with one call: it
 * gathers relation, index and columns (length first, so that borders are kept) into a buffer and hashes that, with XXH3
 * inlined. It knows nothing of canonical forms: two numbers of different widths are different for it.
 */
#include "common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twpa/key.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ROWS 128 /* 24 KB: all in the first cache */
#define MAX_COLUMNS 3

/* How values of a column are made. */
typedef struct shape {
  const char *name;
  uint32_t cls, state;
  size_t len;
} shape;

static const shape int4 = {"int4", TWPA_CLASS_INTEGER, TWPA_VALUE_BINARY, 4};
static const shape int8 = {"int8", TWPA_CLASS_INTEGER, TWPA_VALUE_BINARY, 8};
static const shape uuid = {"uuid", TWPA_CLASS_UUID, TWPA_VALUE_BINARY, 16};
static const shape text24 = {"text(24)", TWPA_CLASS_BYTES, TWPA_VALUE_BINARY, 24};
static const shape numeric = {"numeric", TWPA_CLASS_NUMERIC, TWPA_VALUE_BINARY, 6};
static const shape int_text = {"int as text", TWPA_CLASS_INTEGER, TWPA_VALUE_TEXT, 7};
static const shape stamp_text = {"timestamp as text", TWPA_CLASS_TIMESTAMP, TWPA_VALUE_TEXT, 26};

typedef struct rows {
  size_t ncolumns;
  twpa_value values[ROWS][MAX_COLUMNS];
  unsigned char bytes[ROWS][MAX_COLUMNS][40];
} rows;

static void fill_value(unsigned char *out, const shape *s, uint64_t random)
{
  if (s == &numeric) {
    const uint16_t stored[3] = {0x8000 | 2 << 7 | 1, (uint16_t)(1 + random % 9999), (uint16_t)((random >> 32) % 10000)};
    memcpy(out, stored, sizeof stored);
  } else if (s == &int_text) {
    snprintf((char *)out, 40, "%07u", (unsigned)(random % 10000000));
  } else if (s == &stamp_text) {
    snprintf((char *)out, 40, "2024-%02u-%02u 12:%02u:07.%06u", (unsigned)(random % 12 + 1),
             (unsigned)((random >> 8) % 28 + 1), (unsigned)((random >> 16) % 60), (unsigned)((random >> 24) % 1000000));
  } else {
    for (size_t i = 0; i < s->len; i++)
      out[i] = (unsigned char)(random >> (8 * (i % 8)));
  }
}

static void fill(rows *r, const shape *const *columns, size_t ncolumns)
{
  uint64_t seed = 7;
  r->ncolumns = ncolumns;
  for (size_t i = 0; i < ROWS; i++)
    for (size_t c = 0; c < ncolumns; c++) {
      fill_value(r->bytes[i][c], columns[c], bench_random(&seed));
      r->values[i][c] = (twpa_value){.cls = columns[c]->cls, .state = columns[c]->state,
                                     .bytes = {r->bytes[i][c], columns[c]->len}};
    }
}

static void gathered(void *arg, size_t n)
{
  const rows *r = arg;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    const twpa_value *values = r->values[i % ROWS];
    unsigned char buffer[16 + MAX_COLUMNS * 44];
    const uint64_t domain[2] = {16384, 16390};
    size_t at = sizeof domain;
    memcpy(buffer, domain, sizeof domain);
    for (size_t c = 0; c < r->ncolumns; c++) {
      uint32_t len = (uint32_t)values[c].bytes.len;
      memcpy(buffer + at, &len, sizeof len);
      memcpy(buffer + at + sizeof len, values[c].bytes.data, len);
      at += sizeof len + len;
    }
    sum += XXH3_64bits_withSeed(buffer, at, 42);
  }
  bench_use(sum);
}

static void one_call(void *arg, size_t n)
{
  const rows *r = arg;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    twpa_key key = 0;
    if (twpa_key_of(&key, 42, 16384, 16390, 0, r->values[i % ROWS], r->ncolumns) != TWPA_OK)
      abort();
    sum += key;
  }
  bench_use(sum);
}

static void by_column(void *arg, size_t n)
{
  const rows *r = arg;
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++) {
    twpa_keyer keyer;
    twpa_key key = 0;
    twpa_status st = twpa_keyer_begin(&keyer, 42, 16384, 16390, 0);
    for (size_t c = 0; c < r->ncolumns; c++)
      st |= twpa_keyer_add(&keyer, &r->values[i % ROWS][c]);
    st |= twpa_keyer_end(&keyer, &key);
    if (st != TWPA_OK)
      abort();
    sum += key;
  }
  bench_use(sum);
}

static void compare(const shape *const *columns, size_t ncolumns, double budget)
{
  rows *r = malloc(sizeof *r);
  if (r == NULL)
    abort();
  fill(r, columns, ncolumns);
  char title[100] = "";
  for (size_t c = 0; c < ncolumns; c++)
    snprintf(title + strlen(title), sizeof title - strlen(title), "%s%s", c > 0 ? ", " : "", columns[c]->name);
  bench_case cases[] = {{.name = "gathered, XXH3 in one call", .run = gathered, .arg = r},
                        {.name = "twpa_key_of", .run = one_call, .arg = r},
                        {.name = "twpa_keyer_begin, _add, _end", .run = by_column, .arg = r}};
  bench_compare(title, "key", cases, 3, bench_size(2000000, 2000));
  if (budget > 0)
    bench_want_ns(&cases[1], budget);
  free(r);
}

#define COMPARE(budget, ...)                                    \
  do {                                                          \
    const shape *const columns[] = {__VA_ARGS__};               \
    compare(columns, sizeof columns / sizeof *columns, budget); \
  } while (0)

int main(int argc, char **argv)
{
  bench_begin(argc, argv, "conflict keys");
  COMPARE(10, &int8);
  COMPARE(10, &int4, &int8);
  COMPARE(10, &int4, &int4, &int8);
  COMPARE(10, &uuid);
  COMPARE(10, &text24);
  COMPARE(0, &int4, &text24, &uuid);
  COMPARE(0, &numeric);
  COMPARE(0, &int_text);
  COMPARE(0, &stamp_text);
  return bench_end();
}
