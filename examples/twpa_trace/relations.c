/*
 * Relations, described line by line: relation, then its indexes and foreign keys. They are made when a transaction first
 * uses one. To describe one again is a change of its schema, and gives it a higher epoch.
 */
#include "planning.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

static const char classes[] = "unknown|bytes|integer|boolean|uuid|float|numeric|blank-padded|folded|timestamp|interval|"
                              "float4|unsigned|date|time|timetz|timestamptz";

trace_described *described_of(const trace *t, uint64_t number)
{
  const plan_half *p = t->plan;
  for (size_t i = 0; i < p->nrelations; i++)
    if (p->relations[i].number == number)
      return &p->relations[i];
  return NULL;
}

static void free_columns(trace_columns *c)
{
  free(c->at);
  *c = (trace_columns){0};
}

static void forget_description(trace_described *r)
{
  for (size_t i = 0; i < r->ncolumns; i++)
    free(r->columns[i]);
  for (size_t i = 0; i < r->nindexes; i++) {
    free(r->indexes[i].name);
    free_columns(&r->indexes[i].columns);
    free_columns(&r->indexes[i].where);
    free(r->indexes[i].prefix);
  }
  for (size_t i = 0; i < r->nfks; i++) {
    free(r->fks[i].name);
    free_columns(&r->fks[i].columns);
    free(r->fks[i].index);
  }
  free(r->columns);
  free(r->classes);
  free(r->descs);
  free(r->indexes);
  free(r->fks);
  free(r->affects);
  free(r->identity_index);
  twpa_relation_free(r->built);
  *r = (trace_described){.number = r->number, .epoch = r->epoch};
}

void relations_free(plan_half *p)
{
  for (size_t i = 0; i < p->nrelations; i++)
    forget_description(&p->relations[i]);
  free(p->relations);
}

static int column_of(const trace_described *r, const char *name)
{
  for (size_t i = 0; i < r->ncolumns; i++)
    if (strcmp(r->columns[i], name) == 0)
      return (int)i;
  return -1;
}

static const trace_index *index_of(const trace_described *r, const char *name)
{
  for (size_t i = 0; i < r->nindexes; i++)
    if (strcmp(r->indexes[i].name, name) == 0)
      return &r->indexes[i];
  return NULL;
}

static uint64_t index_id(const trace_described *r, const char *name)
{
  const trace_index *i = index_of(r, name);
  return i != NULL ? i->id : 0;
}

const char *index_name(const trace_described *r, uint64_t id)
{
  for (size_t i = 0; i < r->nindexes; i++)
    if (r->indexes[i].id == id)
      return r->indexes[i].name;
  return NULL;
}

/* NAME:CLASS[:generated],... */
static bool read_columns(trace *t, const trace_command *c, trace_described *r)
{
  trace_text item = {0};
  size_t cap[3] = {0, 0, 0};
  bool ok = true;
  const char *next = arg_of(c, "columns")->value;
  while (ok && trace_list_next(&next, &item)) {
    char *colon = strchr(item.data, ':');
    char *second = colon != NULL ? strchr(colon + 1, ':') : NULL;
    size_t len = colon == NULL ? 0 : second != NULL ? (size_t)(second - colon - 1) : strlen(colon + 1);
    int cls = colon != NULL ? choice_of(colon + 1, len, classes) : -1;
    if (cls < 0 || colon == item.data || (second != NULL && strcmp(second, ":generated") != 0)) {
      ok = arg_fail(t, c, "columns", "expected NAME:CLASS, CLASS one of %s, not '%.40s'", classes, item.data);
      break;
    }
    *colon = 0;
    r->columns = host_grow(r->columns, &cap[0], r->ncolumns, sizeof *r->columns);
    r->classes = host_grow(r->classes, &cap[1], r->ncolumns, sizeof *r->classes);
    r->descs = host_grow(r->descs, &cap[2], r->ncolumns, sizeof *r->descs);
    r->columns[r->ncolumns] = host_copy(item.data, strlen(item.data));
    r->classes[r->ncolumns] = (uint32_t)cls;
    r->descs[r->ncolumns++] = (twpa_column_desc){(uint32_t)cls, second != NULL ? TWPA_COLUMN_GENERATED : 0};
  }
  text_free(&item);
  return ok;
}

bool do_relation(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  uint64_t number = 0;
  if (!arg_need(t, c, "columns") || !arg_relation(t, c, NULL, &number))
    return false;
  trace_described *r = described_of(t, number);
  if (r == NULL) {
    p->relations = host_grow(p->relations, &p->relations_cap, p->nrelations, sizeof *p->relations);
    r = &p->relations[p->nrelations++];
    *r = (trace_described){.number = number};
  }
  forget_description(r);
  r->epoch++;
  const trace_word *identity = arg_of(c, "identity");
  if (identity != NULL) {
    int plain = choice_of(identity->value, strlen(identity->value), "default|?|full|nothing");
    r->identity = plain >= 0 ? (uint32_t)plain : TWPA_IDENTITY_INDEX;
    if (plain < 0)
      r->identity_index = host_copy(identity->value, strlen(identity->value));
  }
  return read_columns(t, c, r) && arg_relation(t, c, "root", &r->root) &&
         arg_flags(t, c, "flags", &r->flags, "side-effects|no-memory|serial") &&
         arg_relations(t, c, "affects", &r->affects, &r->naffects);
}

/* The relation that an index or a foreign key belongs to: described, and not in use. */
static trace_described *open_description(trace *t, const trace_command *c)
{
  uint64_t number = 0;
  if (!arg_need(t, c, "of") || !arg_relation(t, c, "of", &number))
    return NULL;
  trace_described *r = described_of(t, number);
  if (r == NULL)
    arg_fail(t, c, "of", "this relation is not described");
  else if (r->built != NULL)
    arg_fail(t, c, "of", "this relation is in use: describe it again");
  return r != NULL && r->built == NULL ? r : NULL;
}

static bool read_places(trace *t, const trace_command *c, const char *key, const trace_described *r,
                        trace_columns *out)
{
  trace_text item = {0};
  size_t cap = 0;
  bool ok = true;
  const trace_word *w = arg_of(c, key);
  const char *next = w != NULL && w->value[0] != 0 ? w->value : NULL;
  while (ok && trace_list_next(&next, &item)) {
    int at = column_of(r, item.data);
    if (at < 0) {
      ok = arg_fail(t, c, key, "there is no column '%.40s'", item.data);
      break;
    }
    out->at = host_grow(out->at, &cap, out->n, sizeof *out->at);
    out->at[out->n++] = (uint32_t)at;
  }
  text_free(&item);
  return ok;
}

static bool read_prefix(trace *t, const trace_command *c, trace_index *i)
{
  uint64_t *numbers;
  size_t n;
  if (!arg_numbers(t, c, "prefix", &numbers, &n))
    return false;
  bool fits = n == 0 || n == i->columns.n;
  if (n > 0)
    i->prefix = host_alloc(n, sizeof *i->prefix);
  for (size_t k = 0; k < n; k++) {
    fits = fits && numbers[k] <= UINT32_MAX;
    i->prefix[k] = (uint32_t)numbers[k];
  }
  free(numbers);
  return fits || arg_fail(t, c, "prefix", "expected one length for each column, 0 for all of it");
}

bool do_index(trace *t, const trace_command *c)
{
  trace_described *r = open_description(t, c);
  if (r == NULL)
    return false;
  const char *name = arg_of(c, NULL)->value;
  if (index_of(r, name) != NULL)
    return arg_fail(t, c, NULL, "this index is there already");
  r->indexes = host_grow(r->indexes, &r->indexes_cap, r->nindexes, sizeof *r->indexes);
  trace_index *i = &r->indexes[r->nindexes++];
  *i = (trace_index){.name = host_copy(name, strlen(name)), .id = r->nindexes, .has_where = arg_has(c, "where")};
  uint32_t flags = 0;
  if (!arg_number(t, c, "id", &i->id, 1, UINT64_MAX) ||
      !arg_flags(t, c, "flags", &flags,
                 "primary|nulls-not-distinct|partial|expression|deferrable|exclusion|prefix-utf8"))
    return false;
  i->flags = flags | (i->has_where ? TWPA_INDEX_PARTIAL : 0);
  return read_places(t, c, "columns", r, &i->columns) && read_places(t, c, "where", r, &i->where) &&
         read_prefix(t, c, i);
}

bool do_fk(trace *t, const trace_command *c)
{
  trace_described *r = open_description(t, c);
  uint64_t parent = 0;
  if (r == NULL || !arg_need(t, c, "parent") || !arg_need(t, c, "index") ||
      !arg_relation(t, c, "parent", &parent))
    return false;
  const trace_described *p = described_of(t, parent);
  if (p == NULL)
    return arg_fail(t, c, "parent", "this relation is not described");
  if (p->built != NULL)
    return arg_fail(t, c, "parent", "this relation is in use: describe it again");
  const char *index = arg_of(c, "index")->value, *name = arg_of(c, NULL)->value;
  r->fks = host_grow(r->fks, &r->fks_cap, r->nfks, sizeof *r->fks);
  trace_fk *fk = &r->fks[r->nfks++];
  *fk = (trace_fk){host_copy(name, strlen(name)), {NULL, 0}, parent, host_copy(index, strlen(index)), 0};
  if (index_of(p, index) == NULL)
    return arg_fail(t, c, "index", "there is no index '%.40s'", index);
  return arg_flags(t, c, "flags", &fk->flags, "enforced|cascade|match-full|deferrable") &&
         read_places(t, c, "columns", r, &fk->columns);
}

/* --- making them --- */

/* The foreign keys of all relations that reference `r`. */
static size_t references_to(const trace *t, const trace_described *r, twpa_reference_desc *out)
{
  const plan_half *p = t->plan;
  size_t n = 0;
  for (size_t i = 0; i < p->nrelations; i++)
    for (size_t k = 0; k < p->relations[i].nfks; k++) {
      const trace_described *child = &p->relations[i];
      const trace_fk *fk = &child->fks[k];
      uint64_t root = r->root != 0 ? r->root : r->number;
      if (fk->parent != root)
        continue;
      if (out != NULL)
        out[n] = (twpa_reference_desc){.child = child->root != 0 ? child->root : child->number,
                                       .index = index_id(r, fk->index), .flags = fk->flags};
      n++;
    }
  return n;
}

static void fill_indexes(const trace_described *r, twpa_index_desc *out)
{
  for (size_t i = 0; i < r->nindexes; i++) {
    const trace_index *from = &r->indexes[i];
    out[i] = (twpa_index_desc){.id = from->id, .columns = from->columns.at, .ncolumns = from->columns.n,
                               .prefix_len = from->prefix,
                               .predicate_columns = from->has_where ? from->where.at : NULL,
                               .npredicate_columns = from->where.n, .flags = from->flags};
  }
}

/* The classes of the parent's key columns, which are the child's where nothing else is known. */
static void fill_fks(const trace *t, const trace_described *r, twpa_fk_desc *out, uint32_t *parent_classes)
{
  for (size_t i = 0; i < r->nfks; i++) {
    const trace_fk *from = &r->fks[i];
    const trace_described *parent = described_of(t, from->parent);
    const trace_index *index = index_of(parent, from->index);
    out[i] = (twpa_fk_desc){.id = i + 1, .parent = from->parent, .parent_index = index_id(parent, from->index),
                            .columns = from->columns.at, .ncolumns = from->columns.n, .flags = from->flags};
    if (index == NULL || index->columns.n != from->columns.n)
      continue;
    out[i].parent_classes = parent_classes;
    for (size_t k = 0; k < from->columns.n; k++)
      *parent_classes++ = parent->classes[index->columns.at[k]];
  }
}

static bool build(trace *t, trace_described *r)
{
  size_t nreferences = references_to(t, r, NULL), nclasses = 0;
  for (size_t i = 0; i < r->nfks; i++)
    nclasses += r->fks[i].columns.n;
  twpa_reference_desc *references = host_alloc(nreferences, sizeof *references);
  twpa_index_desc *indexes = host_alloc(r->nindexes, sizeof *indexes);
  twpa_fk_desc *fks = host_alloc(r->nfks, sizeof *fks);
  uint32_t *parent_classes = host_alloc(nclasses, sizeof *parent_classes);
  references_to(t, r, references);
  fill_indexes(r, indexes);
  fill_fks(t, r, fks, parent_classes);
  twpa_relation_desc desc = {.struct_size = TWPA_RELATION_DESC_INIT,
                             .id = r->number,
                             .root = r->root,
                             .epoch = r->epoch,
                             .name = relation_name(t, r->number),
                             .columns = r->descs,
                             .ncolumns = r->ncolumns,
                             .indexes = indexes,
                             .nindexes = r->nindexes,
                             .fks = fks,
                             .nfks = r->nfks,
                             .references = references,
                             .nreferences = nreferences,
                             .affects = r->affects,
                             .naffects = r->naffects,
                             .identity = r->identity,
                             .flags = r->flags};
  if (r->identity_index != NULL)
    desc.identity_index = index_id(r, r->identity_index);
  twpa_status st = twpa_relation_new(&r->built, &desc, &t->allocator);
  free(references);
  free(indexes);
  free(fks);
  free(parent_classes);
  trace_status(t, st);
  return st == TWPA_OK;
}

trace_described *described_ready(trace *t, const trace_command *c, uint64_t number)
{
  trace_described *r = described_of(t, number);
  if (r == NULL) {
    trace_fail(t->err, c->at, "the relation '%s' is not described", relation_name(t, number));
    return NULL;
  }
  /* Neighbours are made with it: from then on neither can be described by further lines. */
  for (size_t i = 0; i < t->plan->nrelations; i++)
    if (t->plan->relations[i].built == NULL && !build(t, &t->plan->relations[i]) && &t->plan->relations[i] == r) {
      trace_fail(t->err, c->at, "the relation '%s' could not be made", relation_name(t, number));
      return NULL;
    }
  return r;
}

trace_described *arg_described(trace *t, const trace_command *c, const char *key)
{
  uint64_t number = 0;
  return arg_relation(t, c, key, &number) ? described_ready(t, c, number) : NULL;
}
