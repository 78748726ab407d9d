/* The store as a whole: made, seeded, compared, freed. */
#include "support/apply/store_impl.h"

#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *copy_columns(const uint32_t *columns, uint32_t n)
{
  uint32_t *copy = host_alloc(n, sizeof *copy);
  if (n)
    memcpy(copy, columns, n * sizeof *copy);
  return copy;
}

static void copy_table(stored_table *tb, const store_table *from)
{
  store_table *to = &tb->desc;
  *to = *from;
  to->name = host_copy(from->name, strlen(from->name));
  uint8_t *classes = host_alloc(from->ncolumns, 1);
  if (from->ncolumns)
    memcpy(classes, from->classes, from->ncolumns);
  to->classes = classes;
  store_index *indexes = host_alloc(from->nindexes, sizeof *indexes);
  for (uint32_t i = 0; i < from->nindexes; i++) {
    indexes[i] = from->indexes[i];
    indexes[i].name = host_copy(from->indexes[i].name, strlen(from->indexes[i].name));
    indexes[i].columns = copy_columns(from->indexes[i].columns, from->indexes[i].ncolumns);
  }
  to->indexes = indexes;
  store_foreign_key *fks = host_alloc(from->nforeign_keys, sizeof *fks);
  for (uint32_t i = 0; i < from->nforeign_keys; i++) {
    fks[i] = from->foreign_keys[i];
    fks[i].name = host_copy(from->foreign_keys[i].name, strlen(from->foreign_keys[i].name));
    fks[i].columns = copy_columns(from->foreign_keys[i].columns, from->foreign_keys[i].ncolumns);
  }
  to->foreign_keys = fks;
  tb->nmaps = from->nindexes;
  tb->whole_map = UINT32_MAX;
  if (from->identity < 0)
    tb->whole_map = tb->nmaps++;
  tb->first_fk = tb->nmaps;
  tb->nmaps += from->nforeign_keys;
  tb->maps = host_alloc(tb->nmaps, sizeof *tb->maps);
  tb->referenced = host_alloc(from->nindexes, sizeof *tb->referenced);
  pthread_mutex_init(&tb->lock, NULL);
}

store *store_new(const store_table *tables, uint32_t ntables)
{
  store *s = host_alloc(1, sizeof *s);
  s->tables = host_alloc(ntables, sizeof *s->tables);
  s->ntables = ntables;
  for (uint32_t i = 0; i < ntables; i++)
    copy_table(&s->tables[i], &tables[i]);
  for (uint32_t i = 0; i < ntables; i++)
    for (uint32_t f = 0; f < tables[i].nforeign_keys; f++)
      s->tables[tables[i].foreign_keys[f].parent].referenced[tables[i].foreign_keys[f].parent_index] = true;
  return s;
}

/* What the description owns is const for everybody else. */
static void drop(const void *p)
{
  free((void *)(uintptr_t)p);
}

static void free_table(stored_table *tb)
{
  for (stored_row *r = tb->first, *next; r; r = next) {
    next = r->next;
    store_row_free(r);
  }
  for (uint32_t i = 0; i < tb->nmaps; i++)
    store_map_free(&tb->maps[i]);
  for (uint32_t i = 0; i < tb->desc.nindexes; i++) {
    drop(tb->desc.indexes[i].name);
    drop(tb->desc.indexes[i].columns);
  }
  for (uint32_t i = 0; i < tb->desc.nforeign_keys; i++) {
    drop(tb->desc.foreign_keys[i].name);
    drop(tb->desc.foreign_keys[i].columns);
  }
  drop(tb->desc.name);
  drop(tb->desc.classes);
  drop(tb->desc.indexes);
  drop(tb->desc.foreign_keys);
  free(tb->maps);
  free(tb->referenced);
  pthread_mutex_destroy(&tb->lock);
}

void store_free(store *s)
{
  if (!s)
    return;
  for (uint32_t i = 0; i < s->ntables; i++)
    free_table(&s->tables[i]);
  free(s->tables);
  free(s);
}

store_seeds *store_record_seeds(store *s)
{
  s->recording = host_alloc(1, sizeof *s->recording);
  s->recording->of = s;
  return s->recording;
}

void store_plant(store *s, const store_seeds *seeds)
{
  store_buf scratch = {0};
  for (size_t i = 0; i < seeds->count; i++) {
    const seed *sd = &seeds->list[i];
    stored_table *tb = &s->tables[sd->table];
    stored_row *r = store_row_new(tb, sd->values);
    r->assumed = sd->assumed >= 0 && sd->assumed != tb->desc.identity;
    store_attach(tb, r, &scratch);
  }
  free(scratch.data);
}

void store_seeds_count(const store_seeds *seeds, size_t *rows, size_t *parents)
{
  *rows = seeds->count - seeds->parents;
  *parents = seeds->parents;
}

void store_seeds_free(store_seeds *seeds)
{
  if (!seeds)
    return;
  for (size_t i = 0; i < seeds->count; i++)
    free(seeds->list[i].values);
  free(seeds->list);
  free(seeds);
}

/* A row with the bytes by which rows are sorted. */
typedef struct sorted {
  const stored_row *r;
  unsigned char *key;
  size_t len;
} sorted;

static int by_key(const void *a, const void *b)
{
  const sorted *x = a, *y = b;
  size_t len = x->len < y->len ? x->len : y->len;
  int c = len ? memcmp(x->key, y->key, len) : 0;
  return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* All rows of a table in one order that depends on the rows alone. */
static sorted *sort_rows(const stored_table *tb)
{
  sorted *list = host_alloc(tb->nrows, sizeof *list);
  store_buf key = {0};
  size_t n = 0;
  for (const stored_row *r = tb->first; r; r = r->next) {
    store_whole_key(&key, &tb->desc, r->values);
    unsigned char assumed = r->assumed;
    store_buf_add(&key, &assumed, 1);
    if (tb->desc.identity >= 0) /* of equal rows without a key, nobody can say which is which */
      store_buf_add(&key, &r->seq, sizeof r->seq);
    list[n++] = (sorted){.r = r, .key = host_copy(key.data, key.len), .len = key.len};
  }
  free(key.data);
  if (n)
    qsort(list, n, sizeof *list, by_key);
  return list;
}

static void free_sorted(sorted *list, uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    free(list[i].key);
  free(list);
}

static void note(store_difference *d, const char *side, const stored_table *tb, const stored_row *r)
{
  if (!d->count++) {
    char text[200];
    store_describe(text, sizeof text, &tb->desc, r->values);
    snprintf(d->first, sizeof d->first, "only %s: %s", side, text);
  }
}

bool store_equal(store *a, store *b, store_difference *difference)
{
  memset(difference, 0, sizeof *difference);
  for (uint32_t t = 0; t < a->ntables; t++) {
    const stored_table *x = &a->tables[t], *y = &b->tables[t];
    sorted *xs = sort_rows(x), *ys = sort_rows(y);
    uint64_t i = 0, j = 0;
    while (i < x->nrows || j < y->nrows) {
      int c = i == x->nrows ? 1 : j == y->nrows ? -1 : by_key(&xs[i], &ys[j]);
      if (c < 0)
        note(difference, "in the first", x, xs[i].r);
      if (c > 0)
        note(difference, "in the second", y, ys[j].r);
      i += c <= 0;
      j += c >= 0;
    }
    difference->rows += x->nrows + y->nrows;
    free_sorted(xs, x->nrows);
    free_sorted(ys, y->nrows);
  }
  return !difference->count;
}

uint64_t store_count(store *s, uint32_t table)
{
  return s->tables[table].nrows;
}

void store_each(store *s, uint32_t table, bool (*f)(void *user, const store_value *row, uint64_t seq), void *user)
{
  for (const stored_row *r = s->tables[table].first; r; r = r->next)
    if (!f(user, r->values, r->seq))
      return;
}
