/*
 * Choosing and joining the rows of the catalog tables.
 *
 * A relation is described by its living row of pg_class, or else by the one that was deleted last. What belongs to it
 * (columns, indexes, foreign keys) is what lives, or, if the relation was dropped, what the same (sub)transaction
 * deleted: dropping a relation deletes all of it in one command. A dropped relation of which not every column is left
 * (vacuum may take rows away) is not described at all; a living one that is incomplete is damage.
 */
#include "support/pg/pg_catalog_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
  SPACE_DEFAULT = 1663,
  SPACE_GLOBAL = 1664,
  TYPE_TEXT = 25,
  TYPE_CIDR = 650,
  TYPE_INET = 869,
  TYPE_VARCHAR = 1043,
  TYPE_ANYARRAY = 2277,
  TYPE_ANYENUM = 3500,
  TYPE_ANYRANGE = 3831,
  DEPTH_MAX = 1000 /* of partitions and of domains over domains */
};

typedef struct builder {
  pg_catalog *cat;
  pg_rows *rows;
  const pg_cluster *cluster;
  pg_pool scratch;
  const pg_class_row **chosen; /* by relation */
  uint32_t *column_ages;       /* by relation: of the youngest column row */
  uint8_t *columns_changed;    /* by relation: an older version of a column is stored otherwise */
} builder;

int pg_fate_compare(const pg_fate *a, const pg_fate *b)
{
  bool a_lives = a->ended_by == 0, b_lives = b->ended_by == 0;
  if (a_lives != b_lives)
    return a_lives ? -1 : 1;
  if (a->last != b->last)
    return a->last ? -1 : 1;
  return a->age < b->age ? -1 : a->age > b->age;
}

bool pg_fate_goes_with(const pg_fate *fate, uint32_t dropped_by)
{
  return fate->ended_by == dropped_by && fate->last;
}

/* qsort comparators: by key, then as pg_fate_compare prefers. */
#define COMPARE_ROWS(function, type, key)                                   \
  static int function(const void *pa, const void *pb)                       \
  {                                                                         \
    const type *a = pa, *b = pb;                                            \
    if (a->key != b->key)                                                   \
      return a->key < b->key ? -1 : 1;                                      \
    return pg_fate_compare(&a->fate, &b->fate);                             \
  }

COMPARE_ROWS(compare_namespaces, pg_namespace_row, oid)
COMPARE_ROWS(compare_classes, pg_class_row, oid)
COMPARE_ROWS(compare_types, pg_type_row, type.oid)
COMPARE_ROWS(compare_indexes, pg_index_row, index.oid)
COMPARE_ROWS(compare_constraints, pg_constraint_row, key.oid)
COMPARE_ROWS(compare_inherits, pg_inherits_row, child)
COMPARE_ROWS(compare_opclasses, pg_opclass_row, oid)
COMPARE_ROWS(compare_collations, pg_collation_row, oid)
COMPARE_ROWS(compare_enums, pg_enum_row, oid)

static int compare_attributes(const void *pa, const void *pb)
{
  const pg_attribute_row *a = pa, *b = pb;
  if (a->relation != b->relation)
    return a->relation < b->relation ? -1 : 1;
  if (a->column.num != b->column.num)
    return a->column.num < b->column.num ? -1 : 1;
  return pg_fate_compare(&a->fate, &b->fate);
}

static int compare_names(const void *pa, const void *pb)
{
  const pg_relation *a = *(const pg_relation *const *)pa, *b = *(const pg_relation *const *)pb;
  int order = strcmp(a->schema, b->schema);
  return order != 0 ? order : strcmp(a->name, b->name);
}

static void sort(pg_vec *v, size_t size, int (*compare)(const void *, const void *))
{
  if (v->count > 0)
    qsort(v->items, v->count, size, compare);
}

/* --- types, labels, names of schemas -------------------------------------------------------------------------- */

static bool build_types(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  sort(&b->rows->types, sizeof(pg_type_row), compare_types);
  const pg_type_row *rows = b->rows->types.items;
  cat->types = pg_pool_array(&cat->pool, b->rows->types.count, sizeof *cat->types);
  if (cat->types == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < b->rows->types.count; i++)
    if (i == 0 || rows[i].type.oid != rows[i - 1].type.oid)
      cat->types[cat->type_count++] = rows[i].type;
  for (size_t i = 0; i < cat->type_count; i++) {
    pg_type *type = &cat->types[i];
    for (int depth = 0; type->kind == 'd'; depth++) {
      const pg_type *below = pg_catalog_type(cat, type->base);
      if (below == NULL || below->kind != 'd')
        break;
      if (depth == DEPTH_MAX)
        return host_fail(err, "%.500s: the domains below type %u form a circle", b->rows->directory, type->oid);
      type->base = below->base;
    }
  }
  return true;
}

static bool build_labels(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  sort(&b->rows->enums, sizeof(pg_enum_row), compare_enums);
  const pg_enum_row *rows = b->rows->enums.items;
  cat->labels = pg_pool_array(&cat->pool, b->rows->enums.count, sizeof *cat->labels);
  if (cat->labels == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < b->rows->enums.count; i++) {
    if (i > 0 && rows[i].oid == rows[i - 1].oid)
      continue;
    pg_enum_label *label = &cat->labels[cat->label_count++];
    label->oid = rows[i].oid;
    memcpy(label->label, rows[i].label, sizeof label->label);
  }
  return true;
}

static bool schema_name(char out[64], const builder *b, uint32_t oid)
{
  const pg_namespace_row *rows = b->rows->namespaces.items;
  size_t low = 0, high = b->rows->namespaces.count; /* the first row with this oid: the preferred one */
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (rows[mid].oid < oid)
      low = mid + 1;
    else
      high = mid;
  }
  if (low == b->rows->namespaces.count || rows[low].oid != oid)
    return false;
  memcpy(out, rows[low].name, 64);
  return true;
}

/* The first row of a collation, and whether there is one. */
static size_t first_collation(const builder *b, uint32_t collation, bool *exists)
{
  const pg_collation_row *rows = b->rows->collations.items;
  size_t low = 0, high = b->rows->collations.count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (rows[mid].oid < collation)
      low = mid + 1;
    else
      high = mid;
  }
  *exists = low < b->rows->collations.count && rows[low].oid == collation;
  return low;
}

static bool collation_exists(const builder *b, uint32_t collation)
{
  bool exists;
  first_collation(b, collation, &exists);
  return exists;
}

/* The collation tells equal from different by more than the bytes, in any of its stored versions. */
static bool is_nondeterministic(const builder *b, uint32_t collation)
{
  const pg_collation_row *rows = b->rows->collations.items;
  bool exists;
  size_t i = first_collation(b, collation, &exists);
  for (; exists && i < b->rows->collations.count && rows[i].oid == collation; i++)
    if (!rows[i].deterministic)
      return true;
  return false;
}

/* --- relations and their columns ------------------------------------------------------------------------------ */

/* The first attribute row of a relation. */
static size_t first_attribute(const builder *b, uint32_t relation)
{
  const pg_attribute_row *rows = b->rows->attributes.items;
  size_t low = 0, high = b->rows->attributes.count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (rows[mid].relation < relation)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static bool stored_otherwise(const pg_attribute_row *a, const pg_column *column, const pg_attr *attr)
{
  return a->attr.len != attr->len || a->attr.align != attr->align || a->attr.byval != attr->byval ||
         (a->column.type != column->type && a->column.type != 0 && column->type != 0);
}

/* Marks relations some column of which was stored otherwise before. */
static void find_changed(builder *b, size_t at, const pg_relation *r, size_t i)
{
  const pg_attribute_row *rows = b->rows->attributes.items;
  for (; i < b->rows->attributes.count && rows[i].relation == r->oid; i++)
    if (rows[i].column.num <= (int)r->column_count &&
        stored_otherwise(&rows[i], &r->columns[rows[i].column.num - 1], &r->attrs[rows[i].column.num - 1]))
      b->columns_changed[at] = 1;
}

/* Fills in the columns; *complete says whether all `natts` are there. */
static bool fill_columns(builder *b, size_t at, pg_relation *r, int natts, bool *complete, host_error *err)
{
  const pg_attribute_row *rows = b->rows->attributes.items;
  size_t n = natts > 0 ? (size_t)natts : 0, found = 0, first = first_attribute(b, r->oid);
  pg_column *columns = pg_pool_array(&b->cat->pool, n, sizeof *columns);
  pg_attr *attrs = pg_pool_array(&b->cat->pool, n, sizeof *attrs);
  if (columns == NULL || attrs == NULL)
    return pg_no_memory(err);
  r->columns = columns;
  r->attrs = attrs;
  r->column_count = (uint16_t)n;
  b->column_ages[at] = UINT32_MAX;
  for (size_t i = first; i < b->rows->attributes.count && rows[i].relation == r->oid; i++) {
    size_t c = (size_t)rows[i].column.num - 1;
    if (!pg_fate_goes_with(&rows[i].fate, r->dropped_by) || c >= n)
      continue;
    if (columns[c].num != 0) {
      if (r->dropped == 0)
        return host_fail(err, "%.400s: pg_attribute has two living rows for column %zu of \"%s\"", b->rows->directory,
                         c + 1, r->name);
      continue;
    }
    columns[c] = rows[i].column;
    attrs[c] = rows[i].attr;
    const pg_type *type = pg_catalog_type(b->cat, columns[c].type);
    if (type != NULL) {
      const pg_type *base = pg_catalog_type(b->cat, type->base);
      columns[c].base_type = type->base;
      columns[c].base_kind = base != NULL ? base->kind : 0;
    }
    columns[c].nondeterministic = is_nondeterministic(b, columns[c].collation);
    if (rows[i].fate.age < b->column_ages[at])
      b->column_ages[at] = rows[i].fate.age;
    found++;
  }
  *complete = found == n;
  if (*complete)
    find_changed(b, at, r, first);
  return true;
}

static bool fill_relation(builder *b, pg_relation *r, const pg_class_row *c, host_error *err)
{
  r->oid = c->oid;
  memcpy(r->name, c->name, sizeof r->name);
  r->kind = c->kind;
  r->persistence = c->persistence;
  r->replica_identity = c->replica_identity;
  r->shared = c->shared;
  r->user_catalog = c->user_catalog;
  r->system_catalog = c->oid < PG_FIRST_UNPINNED_OID;
  r->logically_logged = c->persistence == 'p' && !r->system_catalog && (c->kind == 'r' || c->kind == 'm' || c->kind == 't');
  r->dropped = c->fate.ended_by != 0;
  r->dropped_by = c->fate.ended_by;
  r->toast = c->toast;
  uint32_t file = c->file;
  if (file == 0)
    file = pg_relmap_file(c->shared ? &b->cluster->shared_map : &b->rows->map, c->oid);
  if (file != 0 && !r->dropped) {
    uint32_t space = c->space != 0 ? c->space : b->cat->database.tablespace;
    r->locator = (twpa_locator){.space = c->shared ? (uint32_t)SPACE_GLOBAL : space,
                                .database = c->shared ? 0 : b->cat->database.oid,
                                .file = file};
  }
  return schema_name(r->schema, b, c->schema) || r->dropped ||
         host_fail(err, "%.400s: pg_namespace has no row for schema %u of \"%s\"", b->rows->directory, c->schema, r->name);
}

/*
 * A page that lost its rows looks like one that never had any. So what refers to each other must be there: relation and
 * schema of a column, its type, its collation.
 */
static bool check_columns(const builder *b, host_error *err)
{
  const pg_attribute_row *rows = b->rows->attributes.items;
  for (size_t i = 0; i < b->rows->attributes.count; i++) {
    const pg_column *c = &rows[i].column;
    if (rows[i].fate.ended_by != 0)
      continue;
    const pg_relation *r = pg_catalog_find(b->cat, rows[i].relation);
    if (r == NULL || r->dropped)
      return host_fail(err, "%.400s: pg_attribute has column \"%s\" of relation %u, pg_class has no such relation",
                       b->rows->directory, c->name, rows[i].relation);
    if (c->dropped == 0 && pg_catalog_type(b->cat, c->type) == NULL)
      return host_fail(err, "%.400s: pg_type has no row for type %u of column \"%s\" of \"%s\"", b->rows->directory,
                       c->type, c->name, r->name);
    if (c->collation != 0 && !collation_exists(b, c->collation))
      return host_fail(err, "%.400s: pg_collation has no row for collation %u of column \"%s\" of \"%s\"",
                       b->rows->directory, c->collation, c->name, r->name);
  }
  return true;
}

/* One relation per oid, with its columns. */
static bool build_relations(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  sort(&b->rows->classes, sizeof(pg_class_row), compare_classes);
  sort(&b->rows->attributes, sizeof(pg_attribute_row), compare_attributes);
  const pg_class_row *rows = b->rows->classes.items;
  size_t n = b->rows->classes.count;
  cat->items = pg_pool_array(&cat->pool, n, sizeof *cat->items);
  b->chosen = pg_pool_array(&b->scratch, n, sizeof *b->chosen);
  b->column_ages = pg_pool_array(&b->scratch, n, sizeof *b->column_ages);
  b->columns_changed = pg_pool_array(&b->scratch, n, 1);
  if (cat->items == NULL || b->chosen == NULL || b->column_ages == NULL || b->columns_changed == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < n; i++) {
    if (i > 0 && rows[i].oid == rows[i - 1].oid) {
      if (rows[i].fate.ended_by == 0)
        return host_fail(err, "%.500s: pg_class has two living rows with the oid %u", b->rows->directory, rows[i].oid);
      continue;
    }
    if (!rows[i].fate.last)
      continue;
    size_t at = cat->relation_count;
    pg_relation *r = &cat->items[at];
    memset(r, 0, sizeof *r);
    b->columns_changed[at] = 0;
    b->chosen[at] = &rows[i];
    bool complete = false;
    if (!fill_relation(b, r, &rows[i], err) || !fill_columns(b, at, r, rows[i].natts, &complete, err))
      return false;
    if (!complete && r->dropped == 0)
      return host_fail(err, "%.400s: pg_attribute does not have all %d columns of \"%s\"", b->rows->directory,
                       rows[i].natts, r->name);
    cat->relation_count += complete ? 1 : 0;
  }
  return check_columns(b, err);
}

static bool build_lists(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  cat->relations = pg_pool_array(&cat->pool, cat->relation_count, sizeof *cat->relations);
  cat->by_name = pg_pool_array(&cat->pool, cat->relation_count, sizeof *cat->by_name);
  if (cat->relations == NULL || cat->by_name == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < cat->relation_count; i++) {
    cat->relations[i] = &cat->items[i];
    if (cat->items[i].dropped == 0)
      cat->by_name[cat->by_name_count++] = &cat->items[i];
  }
  if (cat->by_name_count > 0)
    qsort(cat->by_name, cat->by_name_count, sizeof *cat->by_name, compare_names);
  return true;
}

/* --- indexes -------------------------------------------------------------------------------------------------- */

static bool check_index(const builder *b, const pg_index *i, const pg_relation *r, host_error *err)
{
  for (size_t k = 0; k < i->key_count; k++)
    if (i->keys[k].column > (int)r->column_count)
      return host_fail(err, "%.400s: index %u has a key column %d, \"%s\" has only %u", b->rows->directory, i->oid,
                       i->keys[k].column, r->name, r->column_count);
  return true;
}

/* Does this row describe an index of a relation that we have? */
static pg_relation *owner_of_index(const builder *b, const pg_index_row *row)
{
  pg_relation *r = pg_catalog_find(b->cat, row->relation);
  return r != NULL && pg_fate_goes_with(&row->fate, r->dropped_by) ? r : NULL;
}

/* The type that an operator class is for; 0 if it is not known. */
static uint32_t class_type(const builder *b, uint32_t opclass)
{
  const pg_opclass_row *rows = b->rows->opclasses.items;
  size_t low = 0, high = b->rows->opclasses.count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (rows[mid].oid < opclass)
      low = mid + 1;
    else
      high = mid;
  }
  return low < b->rows->opclasses.count && rows[low].oid == opclass ? rows[low].type : 0;
}

/* Each living row names a living relation, and each living index has a row. */
static bool check_indexes(const builder *b, host_error *err)
{
  const pg_index_row *rows = b->rows->indexes.items;
  size_t living = 0, described = 0;
  for (size_t i = 0; i < b->rows->indexes.count; i++) {
    if (rows[i].fate.ended_by != 0)
      continue;
    const pg_relation *self = pg_catalog_find(b->cat, rows[i].index.oid);
    if (self == NULL || self->dropped || owner_of_index(b, &rows[i]) == NULL)
      return host_fail(err, "%.400s: pg_index has index %u of relation %u, pg_class does not have both",
                       b->rows->directory, rows[i].index.oid, rows[i].relation);
    for (size_t k = 0; k < rows[i].index.key_count; k++) {
      const pg_index_key *key = &rows[i].keys[k];
      if (key->collation != 0 && !collation_exists(b, key->collation))
        return host_fail(err, "%.400s: pg_collation has no row for collation %u of index \"%s\"", b->rows->directory,
                         key->collation, self->name);
      if (class_type(b, key->operator_class) == 0)
        return host_fail(err, "%.400s: pg_opclass has no row for operator class %u of index \"%s\"",
                         b->rows->directory, key->operator_class, self->name);
    }
    described++;
  }
  for (size_t i = 0; i < b->cat->relation_count; i++) {
    const pg_relation *r = &b->cat->items[i];
    living += (r->kind == 'i' || r->kind == 'I') && r->dropped == 0;
  }
  return living == described || host_fail(err, "%.400s: pg_class has %zu indexes, pg_index %zu", b->rows->directory,
                                          living, described);
}

/* Does a class for `type` compare values of the column as the column's own type does? */
static bool is_own_class(const pg_column *c, uint32_t type)
{
  return type == c->base_type || (c->base_type == TYPE_VARCHAR && type == TYPE_TEXT) ||
         (c->base_type == TYPE_CIDR && type == TYPE_INET) || (c->base_kind == 'e' && type == TYPE_ANYENUM) ||
         (type == TYPE_ANYARRAY && c->base_kind == 'b') || (type == TYPE_ANYRANGE && c->base_kind == 'r');
}

static void finish_keys(const builder *b, pg_index_key *keys, size_t n, const pg_relation *r)
{
  for (size_t i = 0; i < n; i++) {
    pg_index_key *k = &keys[i];
    k->nondeterministic = is_nondeterministic(b, k->collation);
    k->class_type = class_type(b, k->operator_class);
    k->builtin_class = k->operator_class != 0 && k->operator_class < PG_FIRST_USER_OID &&
                       (k->column <= 0 || is_own_class(&r->columns[k->column - 1], k->class_type));
  }
}

static void finish_relation(pg_relation *r)
{
  for (size_t i = 0; i < r->index_count; i++) {
    const pg_index *index = r->indexes[i];
    if (index->primary)
      r->primary = index;
    if (r->replica_identity == 'i' && index->identity)
      r->identity = index;
  }
  /* A deferrable key does not identify rows. */
  if (r->replica_identity == 'd' && r->primary != NULL && r->primary->immediate)
    r->identity = r->primary;
}

static bool build_indexes(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  sort(&b->rows->indexes, sizeof(pg_index_row), compare_indexes);
  sort(&b->rows->opclasses, sizeof(pg_opclass_row), compare_opclasses);
  pg_index_row *rows = b->rows->indexes.items;
  if (!check_indexes(b, err))
    return false;
  for (size_t i = 0; i < b->rows->indexes.count; i++) {
    pg_relation *r = owner_of_index(b, &rows[i]);
    if (r != NULL)
      r->index_count++;
  }
  const pg_index ***lists = pg_pool_array(&b->scratch, cat->relation_count, sizeof *lists);
  if (lists == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < cat->relation_count; i++) {
    lists[i] = pg_pool_array(&cat->pool, cat->items[i].index_count, sizeof **lists);
    if (lists[i] == NULL)
      return pg_no_memory(err);
    cat->items[i].indexes = lists[i];
    cat->items[i].index_count = 0;
  }
  for (size_t i = 0; i < b->rows->indexes.count; i++) {
    pg_relation *r = owner_of_index(b, &rows[i]);
    if (r == NULL)
      continue;
    pg_index *index = pg_pool_alloc(&cat->pool, sizeof *index);
    if (index == NULL)
      return pg_no_memory(err);
    *index = rows[i].index;
    index->relation = r;
    const pg_relation *self = pg_catalog_find(cat, index->oid);
    if (self != NULL)
      memcpy(index->name, self->name, sizeof index->name);
    if (!check_index(b, index, r, err))
      return false;
    finish_keys(b, rows[i].keys, index->key_count, r);
    lists[r - cat->items][r->index_count++] = index;
  }
  for (size_t i = 0; i < cat->relation_count; i++)
    finish_relation(&cat->items[i]);
  return true;
}

/* --- foreign keys --------------------------------------------------------------------------------------------- */

/* Does this row describe a foreign key between relations that we have? */
static bool ends_of_key(const builder *b, const pg_constraint_row *row, pg_relation **child, pg_relation **parent)
{
  *child = pg_catalog_find(b->cat, row->child);
  *parent = pg_catalog_find(b->cat, row->parent);
  if (*child == NULL || *parent == NULL)
    return false;
  uint32_t end = row->fate.ended_by;
  return row->fate.last && (end == 0 || end == (*child)->dropped_by || end == (*parent)->dropped_by);
}

static const pg_index *find_index(const pg_relation *r, uint32_t oid)
{
  for (size_t i = 0; i < r->index_count; i++)
    if (r->indexes[i]->oid == oid)
      return r->indexes[i];
  return NULL;
}

static bool check_key(const builder *b, const pg_foreign_key *k, host_error *err)
{
  for (size_t i = 0; i < k->column_count; i++)
    if (k->child_columns[i] < 1 || k->child_columns[i] > (int)k->child->column_count || k->parent_columns[i] < 1 ||
        k->parent_columns[i] > (int)k->parent->column_count)
      return host_fail(err, "%.400s: foreign key %u names a column that is not there", b->rows->directory, k->oid);
  return true;
}

/* Room for the lists of every relation; the counts start again at 0. */
static bool key_lists(builder *b, const pg_foreign_key ***out, const pg_foreign_key ***in, host_error *err)
{
  for (size_t i = 0; i < b->cat->relation_count; i++) {
    pg_relation *r = &b->cat->items[i];
    out[i] = pg_pool_array(&b->cat->pool, r->references_count, sizeof **out);
    in[i] = pg_pool_array(&b->cat->pool, r->referenced_by_count, sizeof **in);
    if (out[i] == NULL || in[i] == NULL)
      return pg_no_memory(err);
    r->references = out[i];
    r->referenced_by = in[i];
    r->references_count = r->referenced_by_count = 0;
  }
  return true;
}

static bool build_foreign_keys(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  sort(&b->rows->constraints, sizeof(pg_constraint_row), compare_constraints);
  const pg_constraint_row *rows = b->rows->constraints.items;
  pg_relation *child, *parent;
  for (size_t i = 0; i < b->rows->constraints.count; i++)
    if (ends_of_key(b, &rows[i], &child, &parent)) {
      child->references_count++;
      parent->referenced_by_count++;
    } else if (rows[i].fate.ended_by == 0) {
      return host_fail(err, "%.400s: pg_constraint has foreign key \"%s\", pg_class does not have both of its relations",
                       b->rows->directory, rows[i].key.name);
    }
  const pg_foreign_key ***out = pg_pool_array(&b->scratch, cat->relation_count, sizeof *out);
  const pg_foreign_key ***in = pg_pool_array(&b->scratch, cat->relation_count, sizeof *in);
  if (out == NULL || in == NULL)
    return pg_no_memory(err);
  if (!key_lists(b, out, in, err))
    return false;
  for (size_t i = 0; i < b->rows->constraints.count; i++) {
    if (!ends_of_key(b, &rows[i], &child, &parent))
      continue;
    pg_foreign_key *k = pg_pool_alloc(&cat->pool, sizeof *k);
    if (k == NULL)
      return pg_no_memory(err);
    *k = rows[i].key;
    k->child = child;
    k->parent = parent;
    k->parent_index = find_index(parent, rows[i].parent_index);
    k->dropped = rows[i].fate.ended_by != 0;
    if (!check_key(b, k, err))
      return false;
    out[child - cat->items][child->references_count++] = k;
    in[parent - cat->items][parent->referenced_by_count++] = k;
  }
  return true;
}

/* --- partitions, toast relations ------------------------------------------------------------------------------ */

static bool build_partitions(builder *b, host_error *err)
{
  pg_catalog *cat = b->cat;
  sort(&b->rows->inherits, sizeof(pg_inherits_row), compare_inherits);
  const pg_inherits_row *rows = b->rows->inherits.items;
  for (size_t i = 0; i < b->rows->inherits.count; i++) {
    pg_relation *r = pg_catalog_find(cat, rows[i].child);
    if (r != NULL && b->chosen[r - cat->items]->partition && pg_fate_goes_with(&rows[i].fate, r->dropped_by))
      r->parent = pg_catalog_find(cat, rows[i].parent);
  }
  for (size_t i = 0; i < cat->relation_count; i++) {
    pg_relation *r = &cat->items[i];
    if (b->chosen[i]->partition && r->parent == NULL && r->dropped == 0)
      return host_fail(err, "%.400s: pg_inherits has no row for the partition \"%s\"", b->rows->directory, r->name);
    r->root = r;
    for (int depth = 0; r->root->parent != NULL; depth++) {
      if (depth == DEPTH_MAX)
        return host_fail(err, "%.400s: the partitioned tables above \"%s\" form a circle", b->rows->directory, r->name);
      r->root = r->root->parent;
    }
  }
  return true;
}

/* What a transient relation is a rewrite of; any other relation is itself. */
static uint32_t target_of(const builder *b, uint32_t oid)
{
  const pg_relation *r = pg_catalog_find(b->cat, oid);
  const pg_class_row *row = r != NULL ? b->chosen[r - b->cat->items] : NULL;
  return row != NULL && row->rewrite != 0 ? row->rewrite : oid;
}

/* Every stored version counts, the living ones most: a rewrite may have given the owner another toast relation. */
static void build_toast_owners(builder *b)
{
  const pg_class_row *rows = b->rows->classes.items;
  for (int living = 0; living <= 1; living++)
    for (size_t i = 0; i < b->rows->classes.count; i++) {
      pg_relation *toast = rows[i].toast != 0 ? pg_catalog_find(b->cat, rows[i].toast) : NULL;
      if (toast != NULL && (rows[i].fate.ended_by == 0) == (living == 1))
        toast->toast_owner = target_of(b, rows[i].oid);
    }
}

bool pg_catalog_build(pg_catalog *cat, pg_rows *rows, const pg_cluster *cluster, host_error *err)
{
  builder b = {.cat = cat, .rows = rows, .cluster = cluster};
  sort(&rows->namespaces, sizeof(pg_namespace_row), compare_namespaces);
  sort(&rows->collations, sizeof(pg_collation_row), compare_collations);
  bool ok = build_types(&b, err) && build_labels(&b, err) && build_relations(&b, err) && build_lists(&b, err) &&
            build_indexes(&b, err) && build_foreign_keys(&b, err) && build_partitions(&b, err) &&
            pg_catalog_check_constraints(cat, rows, err);
  if (ok) {
    build_toast_owners(&b);
    ok = pg_catalog_map_files(cat, rows, (const pg_class_row *const *)b.chosen, b.column_ages, b.columns_changed, err);
  }
  pg_pool_free(&b.scratch);
  return ok;
}
