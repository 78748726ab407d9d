/* Catalog tables into arrays. The order matters: pg_attribute describes all others, pg_class names their files. */
#include "support/pg/pg_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  OID_TYPE = 1247,
  OID_ATTRIBUTE = 1249,
  OID_CLASS = 1259,
  OID_CONSTRAINT = 2606,
  OID_INDEX = 2610,
  OID_INHERITS = 2611,
  OID_NAMESPACE = 2615,
  OID_OPCLASS = 2616,
  OID_TRIGGER = 2620,
  OID_COLLATION = 3456,
  OID_ENUM = 3501,
  SPACE_DEFAULT = 1663
};

typedef struct loader {
  pg_rows *rows;
  const pg_cluster *cluster;
} loader;

/* --- where a catalog is --------------------------------------------------------------------------------------- */

static bool database_directory(char *out, const pg_cluster *cluster, const pg_database *db, host_error *err)
{
  if (db->tablespace == SPACE_DEFAULT)
    return pg_path(out, err, "%s/base/%u", cluster->path, db->oid);
  return pg_path(out, err, "%s/pg_tblspc/%u/PG_%u_%u/%u", cluster->path, db->tablespace, cluster->format->major,
                 cluster->format->catalog_version, db->oid);
}

/* File number of a catalog: from the map, else from its living row of pg_class. 0 if there is none. */
static uint32_t catalog_file(const pg_rows *rows, uint32_t oid)
{
  uint32_t file = pg_relmap_file(&rows->map, oid);
  const pg_class_row *classes = rows->classes.items;
  for (size_t i = 0; file == 0 && i < rows->classes.count; i++)
    if (classes[i].oid == oid && classes[i].fate.ended_by == 0)
      file = classes[i].file;
  return file;
}

static bool catalog_path(char *path, const loader *l, uint32_t oid, const char *name, host_error *err)
{
  uint32_t file = catalog_file(l->rows, oid);
  if (file == 0)
    return host_fail(err, "%.500s: the file of %s is not known", l->rows->directory, name);
  return pg_path(path, err, "%s/%u", l->rows->directory, file);
}

/* The columns of a catalog, out of the rows of pg_attribute. */
static bool catalog_shape(pg_table_shape *shape, const loader *l, uint32_t oid, const char *name, host_error *err)
{
  const pg_rows *rows = l->rows;
  const pg_attribute_row *attributes = rows->attributes.items;
  size_t count = 0;
  for (size_t i = 0; i < rows->attributes.count; i++)
    if (attributes[i].relation == oid && (size_t)attributes[i].column.num > count)
      count = (size_t)attributes[i].column.num;
  char(*names)[64] = pg_pool_array(rows->pool, count, sizeof *names);
  pg_attr *attrs = pg_pool_array(rows->pool, count, sizeof *attrs);
  if (names == NULL || attrs == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < rows->attributes.count; i++) {
    const pg_attribute_row *a = &attributes[i];
    if (a->relation != oid || a->fate.ended_by != 0)
      continue;
    memcpy(names[a->column.num - 1], a->column.name, 64);
    attrs[a->column.num - 1] = a->attr;
  }
  for (size_t i = 0; i < count; i++)
    if (attrs[i].align == 0)
      return host_fail(err, "%.500s: pg_attribute has no living row for column %zu of %s", rows->directory, i + 1, name);
  if (count == 0)
    return host_fail(err, "%.500s: pg_attribute has no rows for %s", rows->directory, name);
  *shape = (pg_table_shape){.names = (const char(*)[64])names, .attrs = attrs, .count = count};
  return true;
}

static bool open_catalog(pg_table *t, const loader *l, uint32_t oid, const char *name, const char *const *wanted,
                         size_t n, host_error *err)
{
  char path[PG_PATH_MAX];
  pg_table_shape shape;
  return catalog_path(path, l, oid, name, err) && catalog_shape(&shape, l, oid, name, err) &&
         pg_table_open(t, path, &shape, wanted, n, l->cluster->xact, l->cluster->control.checksums != 0, err);
}

/* Opens a catalog, gives each row to `take`, closes it. */
typedef bool (*take_row)(loader *l, pg_table *t, host_error *err);

static bool read_catalog(loader *l, uint32_t oid, const char *name, const char *const *wanted, size_t n, take_row take,
                         host_error *err)
{
  pg_table t;
  if (!open_catalog(&t, l, oid, name, wanted, n, err))
    return false;
  bool ok, found = false;
  while ((ok = pg_table_next(&t, &found, err)) && found) {
    ok = take(l, &t, err) || pg_table_fail(&t, err);
    if (!ok)
      break;
  }
  if (oid == OID_CONSTRAINT)
    l->rows->new_pages = t.scan.new_pages;
  pg_table_close(&t);
  return ok;
}

/* --- pg_attribute --------------------------------------------------------------------------------------------- */

/* The part of a pg_attribute row that is never NULL lies at fixed places: that is how reading begins. */
static bool attribute_from_fixed(pg_attribute_row *a, const pg_row *row, const pg_attribute_offsets *at,
                                 host_error *err)
{
  const uint8_t *p = row->tuple.data + row->tuple.hoff;
  if (row->tuple.len - row->tuple.hoff < at->end)
    return host_fail(err, "a row of pg_attribute is too short");
  a->relation = pg_u32(p + at->relid);
  pg_column *c = &a->column;
  memcpy(c->name, p + at->name, 63);
  c->type = c->base_type = pg_u32(p + at->type);
  c->typmod = (int32_t)pg_u32(p + at->typmod);
  c->collation = pg_u32(p + at->collation);
  c->num = (int16_t)pg_u16(p + at->num);
  c->notnull = p[at->notnull];
  c->dropped = p[at->dropped];
  c->generated = (char)p[at->generated];
  a->attr = (pg_attr){.len = (int16_t)pg_u16(p + at->len), .align = (char)p[at->align], .byval = p[at->byval]};
  bool sound = (a->attr.len > 0 || a->attr.len == -1 || a->attr.len == -2) && a->attr.align != 0 &&
               strchr("csid", a->attr.align) != NULL && c->num <= (int)PG_MAX_COLUMNS;
  return sound || host_fail(err, "a row of pg_attribute describes no possible column (relation %u, number %d)",
                            a->relation, c->num);
}

static bool scan_fail(const pg_heap_scan *scan, const pg_row *row, host_error *err)
{
  host_error inner = *err;
  return host_fail(err, "%.500s: block %u, line %u: %s", scan->path, row->block, row->line, inner.text);
}

/* First pass: only the columns of pg_attribute itself, made by initdb. */
static bool scan_own_columns(loader *l, pg_heap_scan *scan, host_error *err)
{
  for (;;) {
    pg_row row;
    bool found;
    if (!pg_heap_scan_next(scan, &found, &row, err))
      return false;
    if (!found)
      return true;
    bool made;
    uint32_t ended_by;
    pg_attribute_row a = {.fate = {.age = UINT32_MAX, .last = true}}; /* made by initdb */
    if (!pg_row_fate(l->cluster->xact, &made, &ended_by, &row, err))
      return scan_fail(scan, &row, err);
    if (!made || ended_by != 0)
      continue;
    if (!attribute_from_fixed(&a, &row, &l->cluster->format->attribute, err))
      return scan_fail(scan, &row, err);
    if (a.relation != OID_ATTRIBUTE || a.column.num <= 0)
      continue;
    pg_attribute_row *slot = pg_vec_add(&l->rows->attributes, sizeof(pg_attribute_row));
    if (slot == NULL)
      return pg_no_memory(err);
    *slot = a;
  }
}

/* pg_attribute's description of itself must say what the version table says. */
static bool check_offsets(const loader *l, host_error *err)
{
  const pg_attribute_offsets *at = &l->cluster->format->attribute;
  const struct {
    const char *name;
    size_t at;
  } known[] = {{"attrelid", at->relid},         {"attname", at->name},           {"atttypid", at->type},
               {"attlen", at->len},             {"attnum", at->num},             {"atttypmod", at->typmod},
               {"attbyval", at->byval},         {"attalign", at->align},         {"attstorage", at->storage},
               {"attcompression", at->compression}, {"attnotnull", at->notnull}, {"atthasmissing", at->hasmissing},
               {"attgenerated", at->generated}, {"attisdropped", at->dropped},   {"attcollation", at->collation}};
  pg_table_shape shape;
  if (!catalog_shape(&shape, l, OID_ATTRIBUTE, "pg_attribute", err))
    return false;
  size_t offset = 0, matched = 0;
  for (size_t i = 0; i < shape.count && shape.attrs[i].len > 0; i++) {
    size_t align = shape.attrs[i].align == 'd' ? 8 : shape.attrs[i].align == 'i' ? 4 : shape.attrs[i].align == 's' ? 2 : 1;
    offset = (offset + align - 1) / align * align;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
      matched += strcmp(known[k].name, shape.names[i]) == 0 && known[k].at == offset;
    offset += (size_t)shape.attrs[i].len;
  }
  return matched == sizeof known / sizeof *known ||
         host_fail(err, "%.500s: pg_attribute is not laid out as in PostgreSQL %u", l->rows->directory,
                   l->cluster->format->major);
}

static bool load_own_columns(loader *l, host_error *err)
{
  char path[PG_PATH_MAX];
  pg_heap_scan scan;
  if (!catalog_path(path, l, OID_ATTRIBUTE, "pg_attribute", err) ||
      !pg_heap_scan_begin(&scan, path, l->cluster->control.checksums != 0, err))
    return false;
  bool ok = scan_own_columns(l, &scan, err);
  pg_heap_scan_end(&scan);
  return ok && check_offsets(l, err);
}

/* The one element of an attmissingval array, laid out as the column is. */
static bool missing_value(pg_attribute_row *a, pg_pool *pool, const pg_value *stored, host_error *err)
{
  pg_value array, read;
  const uint8_t *data;
  size_t bytes, next;
  uint32_t n;
  if (!pg_plain(&array, pool, stored, err) || !pg_array_open(&data, &bytes, &n, &array, err))
    return false;
  if (n != 1)
    return host_fail(err, "a missing value with %u elements", n);
  pg_attr attr = a->attr;
  if (!pg_value_read(&read, &next, data, 0, bytes, &attr, err))
    return false;
  pg_value *kept = pg_pool_alloc(pool, sizeof *kept);
  uint8_t *copy = pg_pool_alloc(pool, read.len);
  if (kept == NULL || copy == NULL)
    return pg_no_memory(err);
  if (read.kind != PG_VALUE_PLAIN && read.kind != PG_VALUE_COMPRESSED)
    return host_fail(err, "a missing value that is stored out of line");
  if (read.len > 0)
    memcpy(copy, read.data, read.len);
  *kept = read;
  kept->data = copy;
  a->attr.missing = kept;
  return true;
}

enum {
  ATT_HASMISSING,
  ATT_MISSING
};

static bool take_attribute(loader *l, pg_table *t, host_error *err)
{
  pg_attribute_row a = {.fate = t->fate};
  if (!attribute_from_fixed(&a, &t->row, &l->cluster->format->attribute, err))
    return false;
  if (a.column.num <= 0 || a.relation == OID_ATTRIBUTE) /* system columns; and what the first pass has read */
    return true;
  if (pg_table_flag(t, ATT_HASMISSING) && pg_table_has(t, ATT_MISSING) &&
      !missing_value(&a, l->rows->pool, pg_table_value(t, ATT_MISSING), err))
    return false;
  pg_attribute_row *slot = pg_vec_add(&l->rows->attributes, sizeof(pg_attribute_row));
  if (slot == NULL)
    return pg_no_memory(err);
  *slot = a;
  return true;
}

/* --- the others ----------------------------------------------------------------------------------------------- */

enum {
  CLASS_OID,
  CLASS_NAME,
  CLASS_SCHEMA,
  CLASS_FILE,
  CLASS_SPACE,
  CLASS_TOAST,
  CLASS_SHARED,
  CLASS_PERSISTENCE,
  CLASS_KIND,
  CLASS_IDENTITY,
  CLASS_PARTITION,
  CLASS_REWRITE,
  CLASS_NATTS,
  CLASS_TRIGGERS,
  CLASS_OPTIONS
};

/* True if the array of options has user_catalog_table set to something that means yes. */
static bool is_user_catalog(bool *yes, pg_pool *pool, const pg_value *options, host_error *err)
{
  static const char key[] = "user_catalog_table=";
  static const pg_attr text = {.len = -1, .align = 'i'};
  pg_value array;
  const uint8_t *data;
  size_t bytes, at = 0;
  uint32_t n;
  *yes = false;
  if (!pg_plain(&array, pool, options, err) || !pg_array_open(&data, &bytes, &n, &array, err))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    pg_value v;
    if (!pg_value_read(&v, &at, data, at, bytes, &text, err))
      return false;
    size_t len = sizeof key - 1;
    if (v.kind != PG_VALUE_PLAIN || v.len <= len || memcmp(v.data, key, len) != 0)
      continue;
    char first = (char)v.data[len]; /* true, yes, on, 1 and their beginnings; "of" and "off" are not "on" */
    *yes = first == 't' || first == 'T' || first == 'y' || first == 'Y' || first == '1' ||
           ((first == 'o' || first == 'O') && v.len > len + 1 && (v.data[len + 1] | 0x20) == 'n');
  }
  return true;
}

static bool take_class(loader *l, pg_table *t, host_error *err)
{
  pg_class_row *c = pg_vec_add(&l->rows->classes, sizeof(pg_class_row));
  if (c == NULL)
    return pg_no_memory(err);
  c->fate = t->fate;
  c->oid = pg_table_u32(t, CLASS_OID);
  pg_table_name(c->name, t, CLASS_NAME);
  c->schema = pg_table_u32(t, CLASS_SCHEMA);
  c->file = pg_table_u32(t, CLASS_FILE);
  c->space = pg_table_u32(t, CLASS_SPACE);
  c->toast = pg_table_u32(t, CLASS_TOAST);
  c->shared = pg_table_flag(t, CLASS_SHARED);
  c->persistence = pg_table_char(t, CLASS_PERSISTENCE);
  c->kind = pg_table_char(t, CLASS_KIND);
  c->replica_identity = pg_table_char(t, CLASS_IDENTITY);
  c->partition = pg_table_flag(t, CLASS_PARTITION);
  c->rewrite = pg_table_u32(t, CLASS_REWRITE);
  c->natts = pg_table_i16(t, CLASS_NATTS);
  c->triggers = pg_table_flag(t, CLASS_TRIGGERS);
  return !pg_table_has(t, CLASS_OPTIONS) ||
         is_user_catalog(&c->user_catalog, l->rows->pool, pg_table_value(t, CLASS_OPTIONS), err);
}

static bool take_namespace(loader *l, pg_table *t, host_error *err)
{
  pg_namespace_row *n = pg_vec_add(&l->rows->namespaces, sizeof(pg_namespace_row));
  if (n == NULL)
    return pg_no_memory(err);
  n->fate = t->fate;
  n->oid = pg_table_u32(t, 0);
  pg_table_name(n->name, t, 1);
  return true;
}

enum {
  TYPE_OID,
  TYPE_NAME,
  TYPE_SCHEMA,
  TYPE_LEN,
  TYPE_BYVAL,
  TYPE_KIND,
  TYPE_RELATION,
  TYPE_ELEMENT,
  TYPE_ALIGN,
  TYPE_BASE
};

static bool take_type(loader *l, pg_table *t, host_error *err)
{
  pg_type_row *row = pg_vec_add(&l->rows->types, sizeof(pg_type_row));
  if (row == NULL)
    return pg_no_memory(err);
  row->fate = t->fate;
  row->relation = pg_table_u32(t, TYPE_RELATION);
  pg_type *type = &row->type;
  type->oid = pg_table_u32(t, TYPE_OID);
  pg_table_name(type->name, t, TYPE_NAME);
  type->namespace_oid = pg_table_u32(t, TYPE_SCHEMA);
  type->len = pg_table_i16(t, TYPE_LEN);
  type->byval = pg_table_flag(t, TYPE_BYVAL);
  type->kind = pg_table_char(t, TYPE_KIND);
  type->element = pg_table_u32(t, TYPE_ELEMENT);
  type->align = pg_table_char(t, TYPE_ALIGN);
  type->base = type->kind == 'd' ? pg_table_u32(t, TYPE_BASE) : type->oid;
  type->true_array = type->len == -1 && type->element != 0;
  return true;
}

enum {
  IND_OID,
  IND_RELATION,
  IND_KEYS,
  IND_UNIQUE,
  IND_NULLS,
  IND_PRIMARY,
  IND_EXCLUSION,
  IND_IMMEDIATE,
  IND_VALID,
  IND_READY,
  IND_LIVE,
  IND_IDENTITY,
  IND_COLUMNS,
  IND_COLLATIONS,
  IND_CLASSES,
  IND_EXPRESSIONS,
  IND_PREDICATE
};

static bool take_index_keys(pg_index_row *row, pg_pool *pool, pg_table *t, size_t count, host_error *err)
{
  const uint8_t *columns, *collations, *classes;
  uint32_t n_columns, n_collations, n_classes;
  pg_value v[3];
  const size_t wanted[3] = {IND_COLUMNS, IND_COLLATIONS, IND_CLASSES};
  for (size_t i = 0; i < 3; i++)
    if (!pg_plain(&v[i], pool, pg_table_value(t, wanted[i]), err))
      return false;
  if (!pg_array_fixed(&columns, &n_columns, 2, &v[0], err) ||
      !pg_array_fixed(&collations, &n_collations, 4, &v[1], err) ||
      !pg_array_fixed(&classes, &n_classes, 4, &v[2], err))
    return false;
  if (count > n_columns || count > n_collations || count > n_classes)
    return host_fail(err, "index %u says that it has %zu keys, it describes fewer", row->index.oid, count);
  row->keys = pg_pool_array(pool, count, sizeof *row->keys);
  if (row->keys == NULL)
    return pg_no_memory(err);
  for (size_t i = 0; i < count; i++) {
    pg_index_key *k = &row->keys[i];
    k->column = (int16_t)pg_u16(columns + 2 * i);
    k->collation = pg_u32(collations + 4 * i);
    k->operator_class = pg_u32(classes + 4 * i);
    row->index.expressions |= k->column == 0;
  }
  row->index.key_count = (uint16_t)count;
  row->index.keys = row->keys;
  return true;
}

static bool take_index(loader *l, pg_table *t, host_error *err)
{
  pg_index_row *row = pg_vec_add(&l->rows->indexes, sizeof(pg_index_row));
  if (row == NULL)
    return pg_no_memory(err);
  row->fate = t->fate;
  row->relation = pg_table_u32(t, IND_RELATION);
  pg_index *i = &row->index;
  i->oid = pg_table_u32(t, IND_OID);
  i->unique = pg_table_flag(t, IND_UNIQUE);
  i->nulls_equal = pg_table_flag(t, IND_NULLS);
  i->primary = pg_table_flag(t, IND_PRIMARY);
  i->exclusion = pg_table_flag(t, IND_EXCLUSION);
  i->immediate = pg_table_flag(t, IND_IMMEDIATE);
  i->valid = pg_table_flag(t, IND_VALID) && pg_table_flag(t, IND_READY) && pg_table_flag(t, IND_LIVE);
  i->identity = pg_table_flag(t, IND_IDENTITY);
  i->partial = pg_table_has(t, IND_PREDICATE);
  i->expressions = pg_table_has(t, IND_EXPRESSIONS);
  int16_t keys = pg_table_i16(t, IND_KEYS);
  return take_index_keys(row, l->rows->pool, t, keys > 0 ? (size_t)keys : 0, err);
}

enum {
  CON_OID,
  CON_NAME,
  CON_TYPE,
  CON_DEFERRABLE,
  CON_DEFERRED,
  CON_VALIDATED,
  CON_ENFORCED,
  CON_RELATION,
  CON_INDEX,
  CON_PARENT_CONSTRAINT,
  CON_REFERENCED,
  CON_UPDATE,
  CON_DELETE,
  CON_MATCH,
  CON_PERIOD,
  CON_KEY,
  CON_REFERENCED_KEY
};

static bool take_key_pairs(pg_foreign_key *k, pg_pool *pool, pg_table *t, host_error *err)
{
  pg_value child, parent;
  const uint8_t *c, *p;
  uint32_t n_child, n_parent;
  if (!pg_plain(&child, pool, pg_table_value(t, CON_KEY), err) ||
      !pg_plain(&parent, pool, pg_table_value(t, CON_REFERENCED_KEY), err) ||
      !pg_array_fixed(&c, &n_child, 2, &child, err) || !pg_array_fixed(&p, &n_parent, 2, &parent, err))
    return false;
  if (n_child != n_parent || n_child == 0 || n_child > PG_MAX_COLUMNS)
    return host_fail(err, "foreign key %u has %u columns for %u", k->oid, n_child, n_parent);
  int16_t *columns = pg_pool_array(pool, 2 * (size_t)n_child, sizeof *columns);
  if (columns == NULL)
    return pg_no_memory(err);
  for (uint32_t i = 0; i < n_child; i++) {
    columns[i] = (int16_t)pg_u16(c + 2 * i);
    columns[n_child + i] = (int16_t)pg_u16(p + 2 * i);
  }
  k->column_count = (uint16_t)n_child;
  k->child_columns = columns;
  k->parent_columns = columns + n_child;
  return true;
}

static bool take_foreign_key(loader *l, pg_table *t, host_error *err)
{
  pg_constraint_row *row = pg_vec_add(&l->rows->constraints, sizeof(pg_constraint_row));
  if (row == NULL)
    return pg_no_memory(err);
  row->fate = t->fate;
  row->child = pg_table_u32(t, CON_RELATION);
  row->parent = pg_table_u32(t, CON_REFERENCED);
  row->parent_index = pg_table_u32(t, CON_INDEX);
  pg_foreign_key *k = &row->key;
  k->oid = pg_table_u32(t, CON_OID);
  pg_table_name(k->name, t, CON_NAME);
  k->deferrable = pg_table_flag(t, CON_DEFERRABLE);
  k->deferred = pg_table_flag(t, CON_DEFERRED);
  k->validated = pg_table_flag(t, CON_VALIDATED);
  k->enforced = pg_table_value(t, CON_ENFORCED) == NULL || pg_table_flag(t, CON_ENFORCED);
  k->period = pg_table_flag(t, CON_PERIOD);
  k->from_partitioned = pg_table_u32(t, CON_PARENT_CONSTRAINT);
  k->on_update = pg_table_char(t, CON_UPDATE);
  k->on_delete = pg_table_char(t, CON_DELETE);
  k->match = pg_table_char(t, CON_MATCH);
  return take_key_pairs(k, l->rows->pool, t, err);
}

static bool take_constraint(loader *l, pg_table *t, host_error *err)
{
  pg_mark_row *row = pg_vec_add(&l->rows->marks, sizeof(pg_mark_row));
  if (row == NULL)
    return pg_no_memory(err);
  row->fate = t->fate;
  row->oid = pg_table_u32(t, CON_OID);
  row->relation = pg_table_u32(t, CON_RELATION);
  row->referenced = pg_table_u32(t, CON_REFERENCED);
  row->index = pg_table_u32(t, CON_INDEX);
  row->type = pg_table_char(t, CON_TYPE);
  row->deferrable = pg_table_flag(t, CON_DEFERRABLE);
  return row->type != 'f' || take_foreign_key(l, t, err);
}

static bool take_trigger(loader *l, pg_table *t, host_error *err)
{
  uint32_t constraint = pg_table_u32(t, 1);
  if (constraint == 0)
    return true;
  pg_trigger_row *row = pg_vec_add(&l->rows->triggers, sizeof(pg_trigger_row));
  if (row == NULL)
    return pg_no_memory(err);
  *row = (pg_trigger_row){.fate = t->fate, .relation = pg_table_u32(t, 0), .constraint = constraint};
  return true;
}

static bool take_inherits(loader *l, pg_table *t, host_error *err)
{
  pg_inherits_row *row = pg_vec_add(&l->rows->inherits, sizeof(pg_inherits_row));
  if (row == NULL)
    return pg_no_memory(err);
  *row = (pg_inherits_row){.fate = t->fate, .child = pg_table_u32(t, 0), .parent = pg_table_u32(t, 1)};
  return true;
}

static bool take_collation(loader *l, pg_table *t, host_error *err)
{
  pg_collation_row *row = pg_vec_add(&l->rows->collations, sizeof(pg_collation_row));
  if (row == NULL)
    return pg_no_memory(err);
  *row = (pg_collation_row){.fate = t->fate, .oid = pg_table_u32(t, 0), .deterministic = pg_table_flag(t, 1)};
  return true;
}

static bool take_opclass(loader *l, pg_table *t, host_error *err)
{
  pg_opclass_row *row = pg_vec_add(&l->rows->opclasses, sizeof(pg_opclass_row));
  if (row == NULL)
    return pg_no_memory(err);
  *row = (pg_opclass_row){.fate = t->fate, .oid = pg_table_u32(t, 0), .type = pg_table_u32(t, 1)};
  return true;
}

static bool take_enum(loader *l, pg_table *t, host_error *err)
{
  pg_enum_row *row = pg_vec_add(&l->rows->enums, sizeof(pg_enum_row));
  if (row == NULL)
    return pg_no_memory(err);
  row->fate = t->fate;
  row->oid = pg_table_u32(t, 0);
  pg_table_name(row->label, t, 1);
  return true;
}

/* --- all of it ------------------------------------------------------------------------------------------------ */

static bool load_described(loader *l, host_error *err)
{
  static const char *const type[] = {"oid",      "typname",  "typnamespace", "typlen",   "typbyval",
                                     "typtype",  "typrelid", "typelem",      "typalign", "typbasetype"};
  static const char *const index[] = {
    "indexrelid",     "indrelid",   "indnkeyatts", "indisunique", "?indnullsnotdistinct", "indisprimary",
    "indisexclusion", "indimmediate", "indisvalid", "indisready",  "indislive",            "indisreplident",
    "indkey",         "indcollation", "indclass",   "indexprs",    "indpred"};
  static const char *const constraint[] = {
    "oid",         "conname",   "contype",     "condeferrable", "condeferred", "convalidated",
    "?conenforced", "conrelid", "conindid",    "conparentid",   "confrelid",   "confupdtype",
    "confdeltype", "confmatchtype", "?conperiod", "conkey",      "confkey"};
#define READ(oid, name, columns, take) read_catalog(l, oid, name, columns, sizeof columns / sizeof *columns, take, err)
  static const char *const inherits[] = {"inhrelid", "inhparent"};
  static const char *const collation[] = {"oid", "collisdeterministic"};
  static const char *const opclass[] = {"oid", "opcintype"};
  static const char *const namespace[] = {"oid", "nspname"};
  return READ(OID_NAMESPACE, "pg_namespace", namespace, take_namespace) && READ(OID_TYPE, "pg_type", type, take_type) &&
         READ(OID_INDEX, "pg_index", index, take_index) &&
         READ(OID_CONSTRAINT, "pg_constraint", constraint, take_constraint) &&
         READ(OID_INHERITS, "pg_inherits", inherits, take_inherits) &&
         READ(OID_COLLATION, "pg_collation", collation, take_collation) &&
         READ(OID_OPCLASS, "pg_opclass", opclass, take_opclass);
#undef READ
}

/*
 * Labels are for printing only, and triggers tell of pg_constraint only that nothing of it is lost: a cut-down copy of a
 * data directory may do without these catalogs.
 */
static bool load_optional(loader *l, host_error *err)
{
  static const char *const label[] = {"oid", "enumlabel"};
  static const char *const trigger[] = {"tgrelid", "tgconstraint"};
  char enums[PG_PATH_MAX], triggers[PG_PATH_MAX];
  if (!catalog_path(enums, l, OID_ENUM, "pg_enum", err) ||
      !catalog_path(triggers, l, OID_TRIGGER, "pg_trigger", err))
    return false;
  bool no_enums = access(enums, F_OK) != 0 && errno == ENOENT;
  l->rows->no_triggers = access(triggers, F_OK) != 0 && errno == ENOENT;
  return (no_enums || read_catalog(l, OID_ENUM, "pg_enum", label, 2, take_enum, err)) &&
         (l->rows->no_triggers || read_catalog(l, OID_TRIGGER, "pg_trigger", trigger, 2, take_trigger, err));
}

bool pg_rows_load(pg_rows *rows, pg_pool *pool, const pg_cluster *cluster, const pg_database *database,
                  host_error *err)
{
  static const char *const attribute[] = {"atthasmissing", "attmissingval"};
  static const char *const class[] = {"oid",         "relname",        "relnamespace", "relfilenode",  "reltablespace",
                                      "reltoastrelid", "relisshared",  "relpersistence", "relkind",    "relreplident",
                                      "relispartition", "relrewrite",  "relnatts",     "relhastriggers", "reloptions"};
  memset(rows, 0, sizeof *rows);
  rows->pool = pool;
  loader l = {.rows = rows, .cluster = cluster};
  return database_directory(rows->directory, cluster, database, err) &&
         pg_relmap_read(&rows->map, rows->directory, cluster->format, err) && load_own_columns(&l, err) &&
         read_catalog(&l, OID_ATTRIBUTE, "pg_attribute", attribute, 2, take_attribute, err) &&
         read_catalog(&l, OID_CLASS, "pg_class", class, sizeof class / sizeof *class, take_class, err) &&
         load_described(&l, err) && load_optional(&l, err);
}

void pg_rows_free(pg_rows *rows)
{
  pg_vec_free(&rows->namespaces);
  pg_vec_free(&rows->classes);
  pg_vec_free(&rows->attributes);
  pg_vec_free(&rows->types);
  pg_vec_free(&rows->indexes);
  pg_vec_free(&rows->constraints);
  pg_vec_free(&rows->marks);
  pg_vec_free(&rows->triggers);
  pg_vec_free(&rows->inherits);
  pg_vec_free(&rows->collations);
  pg_vec_free(&rows->opclasses);
  pg_vec_free(&rows->enums);
}
