/* The store's maps and rows: hash maps that never forget a value, rows that are in several of them. */
#include "support/apply/store_impl.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(const unsigned char *p, size_t len)
{
  uint64_t h = UINT64_C(0xCBF29CE484222325) ^ len; /* FNV-1a, finished by a mix */
  for (size_t i = 0; i < len; i++)
    h = (h ^ p[i]) * UINT64_C(0x100000001B3);
  h ^= h >> 31;
  h *= UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 29;
}

static void map_grow(map *m)
{
  size_t want = m->nbuckets ? m->nbuckets * 2 : 16;
  entry **buckets = host_alloc(want, sizeof *buckets);
  for (size_t i = 0; i < m->nbuckets; i++)
    for (entry *e = m->buckets[i], *next; e; e = next) {
      next = e->chain;
      e->chain = buckets[e->hash & (want - 1)];
      buckets[e->hash & (want - 1)] = e;
    }
  free(m->buckets);
  m->buckets = buckets;
  m->nbuckets = want;
}

entry *store_entry(map *m, const store_buf *key, bool create)
{
  return store_entry_of(m, key->data, key->len, create);
}

entry *store_entry_of(map *m, const unsigned char *key, size_t len, bool create)
{
  uint64_t hash = hash_bytes(key, len);
  if (m->nbuckets)
    for (entry *e = m->buckets[hash & (m->nbuckets - 1)]; e; e = e->chain)
      if (e->hash == hash && e->len == len && (!len || !memcmp(e->key, key, len)))
        return e;
  if (!create)
    return NULL;
  if (m->count >= m->nbuckets)
    map_grow(m);
  entry *e = host_alloc(1, sizeof *e + len);
  e->hash = hash;
  e->len = (uint32_t)len;
  if (len)
    memcpy(e->key, key, len);
  e->chain = m->buckets[hash & (m->nbuckets - 1)];
  m->buckets[hash & (m->nbuckets - 1)] = e;
  m->count++;
  return e;
}

void store_map_free(map *m)
{
  for (size_t i = 0; i < m->nbuckets; i++)
    for (entry *e = m->buckets[i], *next; e; e = next) {
      next = e->chain;
      for (mark *m2 = e->marks, *after; m2; m2 = after) {
        after = m2->next;
        free(m2);
      }
      free(e);
    }
  free(m->buckets);
}

stored_row *store_row_new(const stored_table *tb, const store_value *values)
{
  stored_row *r = host_alloc(1, sizeof *r + tb->nmaps * sizeof(link));
  r->values = store_values_copy(values, tb->desc.ncolumns);
  return r;
}

void store_row_free(stored_row *r)
{
  free(r->values);
  free(r);
}

/* The key of a row in map number i; KEY_KNOWN if the row belongs into it. */
static int key_in_map(const stored_table *tb, uint32_t i, const stored_row *r, store_buf *key)
{
  const store_table *desc = &tb->desc;
  if (i == tb->whole_map) {
    store_whole_key(key, desc, r->values);
    return r->assumed ? KEY_NONE : KEY_KNOWN;
  }
  if (i < desc->nindexes) {
    const store_index *index = &desc->indexes[i];
    return store_key(key, desc, index->columns, index->ncolumns, index->nulls_equal, r->values);
  }
  const store_foreign_key *fk = &desc->foreign_keys[i - tb->first_fk];
  return store_key(key, desc, fk->columns, fk->ncolumns, false, r->values);
}

void store_attach(stored_table *tb, stored_row *r, store_buf *scratch)
{
  for (uint32_t i = 0; i < tb->nmaps; i++) {
    link *l = &r->links[i];
    if (key_in_map(tb, i, r, scratch) != KEY_KNOWN) {
      l->in = NULL;
      continue;
    }
    entry *e = store_entry(&tb->maps[i], scratch, true);
    *l = (link){.in = e, .prev = NULL, .next = e->first};
    if (e->first)
      e->first->links[i].prev = r;
    e->first = r;
    e->nrows++;
  }
  r->prev = NULL;
  r->next = tb->first;
  if (tb->first)
    tb->first->prev = r;
  tb->first = r;
  tb->nrows++;
}

void store_detach(stored_table *tb, stored_row *r)
{
  for (uint32_t i = 0; i < tb->nmaps; i++) {
    link *l = &r->links[i];
    if (!l->in)
      continue;
    if (l->prev)
      l->prev->links[i].next = l->next;
    else
      l->in->first = l->next;
    if (l->next)
      l->next->links[i].prev = l->prev;
    l->in->nrows--;
    l->in = NULL;
  }
  if (r->prev)
    r->prev->next = r->next;
  else
    tb->first = r->next;
  if (r->next)
    r->next->prev = r->prev;
  tb->nrows--;
}
