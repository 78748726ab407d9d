/* From the catalog to the planner's and the store's idea of a table. */
#include "twpa_replay/tables.h"

#include "support/memory.h"
#include "support/pg/pg_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *replay_memory(replay_model *m, size_t size)
{
  size = (size + 7u) & ~(size_t)7u;
  if (!m->memory || m->memory->cap - m->memory->used < size) {
    size_t cap = size > (1u << 18) ? size : 1u << 18;
    replay_chunk *c = host_alloc(1, sizeof *c + cap);
    *c = (replay_chunk){.next = m->memory, .cap = cap};
    m->memory = c;
  }
  void *p = (char *)(m->memory + 1) + m->memory->used;
  m->memory->used += size;
  return p;
}

void replay_model_free(replay_model *m)
{
  for (uint32_t t = 0; t < m->ntables; t++)
    twpa_relation_free(m->tables[t].planned);
  for (replay_chunk *c = m->memory, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  free(m->tables);
  free(m->txns);
  pg_catalog_close(m->catalog);
  pg_cluster_close(m->cluster);
}

uint32_t replay_table_of(replay_model *m, const pg_relation *relation)
{
  for (uint32_t t = 0; t < m->ntables; t++)
    if (m->tables[t].relation == relation)
      return t;
  m->tables = host_grow(m->tables, &m->tables_cap, m->ntables, sizeof *m->tables);
  uint32_t number = m->ntables++;
  replay_table *t = &m->tables[number];
  memset(t, 0, sizeof *t);
  t->relation = relation;
  snprintf(t->name, sizeof t->name, "%s.%s", relation->schema, relation->name);
  for (uint16_t i = 0; i < relation->references_count; i++)
    replay_table_of(m, relation->references[i]->parent);
  for (uint16_t i = 0; i < relation->referenced_by_count; i++)
    replay_table_of(m, relation->referenced_by[i]->child);
  return number;
}

static uint8_t store_class(uint32_t cls)
{
  switch (cls) {
  case TWPA_CLASS_UNKNOWN:
    return STORE_AS_OPAQUE;
  case TWPA_CLASS_INTEGER:
    return STORE_AS_INTEGER;
  case TWPA_CLASS_FLOAT:
    return STORE_AS_FLOAT8;
  case TWPA_CLASS_FLOAT4:
    return STORE_AS_FLOAT4;
  case TWPA_CLASS_NUMERIC:
    return STORE_AS_NUMERIC;
  case TWPA_CLASS_BLANK_PADDED:
    return STORE_AS_BLANK_PADDED;
  case TWPA_CLASS_INTERVAL:
    return STORE_AS_INTERVAL;
  default:
    return STORE_AS_BYTES;
  }
}

static bool counts(const pg_index *index)
{
  return index->valid && (index->unique || index->exclusion);
}

static bool odd_columns(const pg_index *index)
{
  for (uint16_t k = 0; k < index->key_count; k++)
    if (index->keys[k].column <= 0)
      return true;
  return index->expressions || !index->key_count;
}

/* The store can tell equal values of this index from different ones, for every row. */
static bool checkable(const pg_index *index)
{
  return counts(index) && index->unique && !index->exclusion && !index->partial &&
         !odd_columns(index);
}

static uint32_t *key_columns(replay_model *m, const pg_index *index)
{
  uint32_t *columns = replay_memory(m, index->key_count * sizeof *columns);
  for (uint16_t k = 0; k < index->key_count; k++)
    columns[k] = (uint32_t)index->keys[k].column - 1;
  return columns;
}

/* Number of an index among those that the store checks; -1: none of them. */
static int32_t store_index_of(const pg_relation *r, const pg_index *index)
{
  int32_t n = 0;
  for (uint16_t i = 0; i < r->index_count; i++) {
    if (!checkable(r->indexes[i]))
      continue;
    if (r->indexes[i] == index)
      return n;
    n++;
  }
  return -1;
}

/*
 * A foreign key that planner and store can follow: equality decides, and the parent's rows are in the parent itself. A
 * partition as parent is left out: such a constraint usually is a part of one that names the partitioned table.
 */
static bool follows(const pg_foreign_key *fk)
{
  return fk->enforced && !fk->period && fk->parent_index && fk->child->kind == 'r' &&
         fk->parent->kind == 'r' && fk->parent->root == fk->parent && counts(fk->parent_index) &&
         !odd_columns(fk->parent_index) && fk->column_count == fk->parent_index->key_count;
}

/* The child's columns in the order of the parent's index. False if they do not fit together. */
static bool child_columns(uint32_t *out, const pg_foreign_key *fk)
{
  for (uint16_t k = 0; k < fk->parent_index->key_count; k++) {
    uint16_t i = 0;
    while (i < fk->column_count && fk->parent_columns[i] != fk->parent_index->keys[k].column)
      i++;
    if (i == fk->column_count)
      return false;
    out[k] = (uint32_t)fk->child_columns[i] - 1;
  }
  return true;
}

static uint32_t fk_flags(const pg_foreign_key *fk)
{
  return TWPA_FK_ENFORCED | (fk->match == 'f' ? (uint32_t)TWPA_FK_MATCH_FULL : 0u) |
         (fk->deferrable ? (uint32_t)TWPA_FK_DEFERRABLE : 0u);
}

static uint32_t *classes_of(replay_model *m, const pg_relation *r, const uint32_t *columns,
                            uint32_t n)
{
  uint32_t *classes = replay_memory(m, n * sizeof *classes);
  for (uint32_t i = 0; i < n; i++)
    classes[i] = pg_key_class(r, columns[i]);
  return classes;
}

static void plan_indexes(replay_model *m, const pg_relation *r, twpa_relation_desc *d)
{
  twpa_index_desc *list = replay_memory(m, (r->index_count + 1u) * sizeof *list);
  for (uint16_t i = 0; i < r->index_count; i++) {
    const pg_index *x = r->indexes[i];
    if (!counts(x))
      continue;
    bool odd = odd_columns(x);
    list[d->nindexes++] =
        (twpa_index_desc){.id = x->oid,
                          .columns = odd ? NULL : key_columns(m, x),
                          .ncolumns = odd ? 0 : x->key_count,
                          .flags = (x->primary ? (uint32_t)TWPA_INDEX_PRIMARY : 0u) |
                                   (x->nulls_equal ? (uint32_t)TWPA_INDEX_NULLS_NOT_DISTINCT : 0u) |
                                   (x->partial ? (uint32_t)TWPA_INDEX_PARTIAL : 0u) |
                                   (odd ? (uint32_t)TWPA_INDEX_EXPRESSION : 0u) |
                                   (x->immediate ? 0u : (uint32_t)TWPA_INDEX_DEFERRABLE) |
                                   (x->exclusion ? (uint32_t)TWPA_INDEX_EXCLUSION : 0u)};
  }
  d->indexes = list;
}

static void plan_foreign_keys(replay_model *m, const pg_relation *r, twpa_relation_desc *d)
{
  twpa_fk_desc *fks = replay_memory(m, (r->references_count + 1u) * sizeof *fks);
  twpa_reference_desc *refs = replay_memory(m, (r->referenced_by_count + 1u) * sizeof *refs);
  for (uint16_t i = 0; i < r->references_count; i++) {
    const pg_foreign_key *fk = r->references[i];
    uint32_t *columns = replay_memory(m, (fk->column_count + 1u) * sizeof *columns);
    if (!follows(fk) || !child_columns(columns, fk))
      continue;
    const uint32_t *parents = key_columns(m, fk->parent_index);
    fks[d->nfks++] =
        (twpa_fk_desc){.id = fk->oid,
                       .parent = fk->parent->oid,
                       .parent_index = fk->parent_index->oid,
                       .columns = columns,
                       .parent_classes = classes_of(m, fk->parent, parents, fk->column_count),
                       .ncolumns = fk->column_count,
                       .flags = fk_flags(fk)};
  }
  for (uint16_t i = 0; i < r->referenced_by_count; i++) {
    const pg_foreign_key *fk = r->referenced_by[i];
    uint32_t *columns = replay_memory(m, (fk->column_count + 1u) * sizeof *columns);
    if (follows(fk) && child_columns(columns, fk))
      refs[d->nreferences++] = (twpa_reference_desc){
          .child = fk->child->oid, .index = fk->parent_index->oid, .flags = fk_flags(fk)};
  }
  d->fks = fks;
  d->references = refs;
}

static uint32_t identity_kind(const pg_relation *r)
{
  switch (r->replica_identity) {
  case 'f':
    return TWPA_IDENTITY_FULL;
  case 'i':
    return r->identity ? TWPA_IDENTITY_INDEX : TWPA_IDENTITY_NOTHING;
  case 'd':
    return r->identity ? TWPA_IDENTITY_DEFAULT : TWPA_IDENTITY_NOTHING;
  default:
    return TWPA_IDENTITY_NOTHING;
  }
}

static bool describe_to_planner(replay_model *m, uint32_t number, host_error *err)
{
  replay_table *t = &m->tables[number];
  const pg_relation *r = t->relation;
  twpa_relation_desc d = {.struct_size = TWPA_RELATION_DESC_INIT, .id = r->oid, .name = t->name};
  twpa_column_desc *columns = replay_memory(m, (r->column_count + 1u) * sizeof *columns);
  for (uint32_t i = 0; i < r->column_count; i++)
    columns[i] = (twpa_column_desc){.cls = pg_key_class(r, i),
                                    .flags = r->columns[i].dropped || r->columns[i].generated == 'v'
                                                 ? (uint32_t)TWPA_COLUMN_GENERATED
                                                 : 0u};
  d.columns = columns;
  d.ncolumns = r->column_count;
  d.identity = identity_kind(r);
  if (d.identity == TWPA_IDENTITY_INDEX)
    d.identity_index = r->identity->oid;
  plan_indexes(m, r, &d);
  plan_foreign_keys(m, r, &d);
  twpa_status st = twpa_relation_new(&t->planned, &d, NULL);
  return st == TWPA_OK || host_fail(err, "%s: the planner does not take its description: %s",
                                    t->name, twpa_status_text(st));
}

/*
 * What is neither the one nor the other of `follows`: a foreign key between tables with rows that nobody can turn into keys,
 * mostly one whose parent is partitioned. All changes on the parent's side then conflict with all on the child's side, by
 * a key of our own: one for all partitions of both.
 */
static void add_coarse(replay_model *m, replay_table *t, const pg_foreign_key *fk, bool parent)
{
  if (!fk->enforced || fk->child->kind != 'r' || fk->parent->kind != 'r')
    return;
  uint32_t columns[PG_MAX_COLUMNS];
  if (follows(fk) && child_columns(columns, fk))
    return;
  uint64_t key =
      ((uint64_t)fk->parent->root->oid << 32 | fk->child->root->oid) * UINT64_C(0x9E3779B97F4A7C15);
  replay_coarse *last = NULL;
  for (replay_coarse *c = t->coarse; c; c = c->next) {
    if (c->key == key) {
      c->parent = c->parent || parent;
      return;
    }
    last = c;
  }
  replay_coarse *c = replay_memory(m, sizeof *c);
  *c = (replay_coarse){.key = key, .parent = parent};
  *(last ? &last->next : &t->coarse) = c;
}

static void find_coarse(replay_model *m, uint32_t number)
{
  replay_table *t = &m->tables[number];
  for (uint16_t i = 0; i < t->relation->references_count; i++)
    add_coarse(m, t, t->relation->references[i], false);
  for (uint16_t i = 0; i < t->relation->referenced_by_count; i++)
    add_coarse(m, t, t->relation->referenced_by[i], true);
}

static int32_t store_identity(const replay_model *m, uint32_t number)
{
  const pg_relation *r = m->tables[number].relation;
  int32_t index = -1;
  if (m->tables[number].loose)
    return STORE_BY_NOTHING;
  if (r->replica_identity == 'f') {
    index = r->primary ? store_index_of(r, r->primary) : -1;
    return index >= 0 ? index : STORE_BY_WHOLE_ROW;
  }
  if (r->replica_identity != 'n' && r->identity)
    index = store_index_of(r, r->identity);
  return index >= 0 ? index : STORE_BY_NOTHING;
}

/* The same equality on both sides, as far as the store knows: integers of any width, floats of any, else one type. */
static bool comparable(uint32_t a, uint32_t b)
{
  bool floats = (a == TWPA_CLASS_FLOAT || a == TWPA_CLASS_FLOAT4) &&
                (b == TWPA_CLASS_FLOAT || b == TWPA_CLASS_FLOAT4);
  return (a == b && a != TWPA_CLASS_UNKNOWN) || floats;
}

static bool store_foreign_key_of(replay_model *m, const pg_foreign_key *fk, store_foreign_key *out)
{
  uint32_t *columns = replay_memory(m, (fk->column_count + 1u) * sizeof *columns);
  if (!follows(fk) || !child_columns(columns, fk) || (fk->match != 's' && fk->column_count > 1))
    return false;
  uint32_t parent = replay_table_of(m, fk->parent);
  int32_t index = store_index_of(fk->parent, fk->parent_index);
  if (index < 0 || m->tables[parent].loose || fk->parent_index->nulls_equal)
    return false;
  for (uint16_t i = 0; i < fk->column_count; i++)
    if (!comparable(pg_key_class(fk->child, columns[i]),
                    pg_key_class(fk->parent, (uint32_t)fk->parent_index->keys[i].column - 1)))
      return false;
  *out = (store_foreign_key){.name = fk->name,
                             .parent = parent,
                             .parent_index = (uint32_t)index,
                             .columns = columns,
                             .ncolumns = fk->column_count};
  return true;
}

static void describe_to_store(replay_model *m, uint32_t number)
{
  const replay_table *t = &m->tables[number];
  const pg_relation *r = t->relation;
  store_table *d = &m->described[number];
  uint8_t *classes = replay_memory(m, r->column_count + 1u);
  for (uint32_t i = 0; i < r->column_count; i++)
    classes[i] = store_class(pg_key_class(r, i));
  *d = (store_table){.name = t->name, .ncolumns = r->column_count, .classes = classes};
  d->identity = store_identity(m, number);
  if (t->loose)
    return;
  store_index *indexes = replay_memory(m, (r->index_count + 1u) * sizeof *indexes);
  for (uint16_t i = 0; i < r->index_count; i++) {
    const pg_index *x = r->indexes[i];
    if (checkable(x))
      indexes[d->nindexes++] = (store_index){.name = x->name,
                                             .columns = key_columns(m, x),
                                             .ncolumns = x->key_count,
                                             .nulls_equal = x->nulls_equal,
                                             .deferred = !x->immediate};
    else
      m->constraints_unchecked += counts(x);
  }
  store_foreign_key *fks = replay_memory(m, (r->references_count + 1u) * sizeof *fks);
  for (uint16_t i = 0; i < r->references_count; i++) {
    if (store_foreign_key_of(m, r->references[i], &fks[d->nforeign_keys]))
      d->nforeign_keys++;
    else /* one per constraint, not one per partition */
      m->constraints_unchecked += !r->references[i]->from_partitioned;
  }
  d->indexes = indexes;
  d->foreign_keys = fks;
}

/* Only now it is known which tables are loose: one unreadable change is enough, wherever it is. */
static void mark_changes(replay_model *m)
{
  for (size_t i = 0; i < m->ntxns; i++)
    for (uint32_t k = 0; k < m->txns[i].nchanges; k++) {
      replay_change *c = &m->txns[i].changes[k];
      if (c->table == REPLAY_NO_TABLE)
        continue;
      replay_table *t = &m->tables[c->table];
      t->redefined = t->redefined || c->op == REPLAY_DDL;
      bool row = c->op == REPLAY_UPDATE || c->op == REPLAY_DELETE;
      if (!row || !t->loose || c->skip != REPLAY_APPLIED)
        continue;
      c->skip = REPLAY_LOOSE;
      t->skipped[REPLAY_LOOSE]++;
      m->counts.skipped[REPLAY_LOOSE]++;
    }
}

bool replay_describe(replay_model *m, host_error *err)
{
  mark_changes(m);
  m->described = replay_memory(m, (m->ntables + 1u) * sizeof *m->described);
  for (uint32_t t = 0; t < m->ntables; t++) {
    describe_to_store(m, t);
    find_coarse(m, t);
    if (!describe_to_planner(m, t, err))
      return false;
  }
  return true;
}

twpa_value *replay_values(const replay_model *m, uint32_t table, const store_value *row)
{
  static const uint32_t states[] = {[STORE_UNKNOWN] = TWPA_VALUE_ABSENT,
                                    [STORE_NULL] = TWPA_VALUE_NULL,
                                    [STORE_BYTES] = TWPA_VALUE_BINARY,
                                    [STORE_KEEP] = TWPA_VALUE_UNCHANGED};
  uint32_t n = m->described[table].ncolumns;
  twpa_value *values = host_alloc(n, sizeof *values);
  for (uint32_t i = 0; i < n; i++) {
    values[i].state = states[row[i].state];
    values[i].bytes = (twpa_bytes){.data = row[i].data, .len = row[i].len};
  }
  return values;
}

void replay_table_sizes(twpa_plan_options *o, const replay_model *m)
{
  uint64_t keys = 0;
  for (size_t i = 0; i < m->ntxns; i++)
    keys += m->txns[i].nchanges;
  keys *= 4;
  uint64_t most = UINT64_C(1) << 30, bytes = 256u << 10;
  while (bytes < keys * 20 && bytes < most)
    bytes *= 2;
  o->table_bytes = (size_t)bytes;
  o->wide_bytes = (size_t)(bytes / 2);
}
