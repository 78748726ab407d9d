/*
 * Is pg_constraint complete? A foreign key that is lost with its page is one that a planner never orders by, so somebody
 * else must tell that it was there:
 *
 * - pg_index: every primary key has a constraint of its own (those of toast relations have none).
 * - pg_trigger: a foreign key is enforced by triggers on the child or the parent, and each of them names it. Nothing but
 *   a row of pg_constraint can be named there, and every enforced foreign key has at least one trigger; so the two
 *   catalogs prove each other.
 * - A cut-down copy without pg_trigger leaves pg_class.relhastriggers: what has triggers needs a constraint that makes
 *   some. The flag may be set when the last trigger is gone already (until VACUUM), and by triggers of the user; whether
 *   it is so cannot be known here, so it is refused. A page of zeroes cannot be told from a lost one either.
 */
#include "support/pg/pg_catalog_internal.h"

#include <stdlib.h>

/* The oids of something, sorted. */
typedef struct oids {
  uint32_t *items;
  size_t count;
} oids;

static int compare_oids(const void *pa, const void *pb)
{
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  return a < b ? -1 : a > b;
}

static bool has(const oids *set, uint32_t oid)
{
  return set->count > 0 && bsearch(&oid, set->items, set->count, sizeof oid, compare_oids) != NULL;
}

static void sort(oids *set)
{
  if (set->count > 0)
    qsort(set->items, set->count, sizeof *set->items, compare_oids);
}

static bool check_primary_keys(const pg_rows *rows, const pg_catalog *cat, const oids *keys, host_error *err)
{
  const pg_index_row *indexes = rows->indexes.items;
  for (size_t i = 0; i < rows->indexes.count; i++) {
    const pg_index_row *row = &indexes[i];
    const pg_relation *r = pg_catalog_find(cat, row->relation);
    if (row->fate.ended_by == 0 && row->index.primary && r != NULL && r->kind != 't' && !has(keys, row->index.oid))
      return host_fail(err, "%.400s: pg_constraint has no row for the primary key of \"%s\" (index %u)",
                       rows->directory, r->name, row->index.oid);
  }
  return true;
}

static bool check_triggers(const pg_rows *rows, const oids *constraints, const oids *owners, host_error *err)
{
  const pg_trigger_row *triggers = rows->triggers.items;
  for (size_t i = 0; i < rows->triggers.count; i++)
    if (triggers[i].fate.ended_by == 0 && !has(constraints, triggers[i].constraint))
      return host_fail(err, "%.400s: pg_constraint has no row for constraint %u, pg_trigger has its trigger on relation %u",
                       rows->directory, triggers[i].constraint, triggers[i].relation);
  const pg_constraint_row *keys = rows->constraints.items;
  for (size_t i = 0; i < rows->constraints.count; i++)
    if (keys[i].fate.ended_by == 0 && keys[i].key.enforced && !has(owners, keys[i].key.oid))
      return host_fail(err, "%.400s: pg_trigger has no row for foreign key \"%s\" of relation %u", rows->directory,
                       keys[i].key.name, keys[i].child);
  return true;
}

/* Without pg_trigger: `explained` are the relations that have triggers because of a constraint. */
static bool check_hints(const pg_rows *rows, const oids *explained, host_error *err)
{
  if (rows->new_pages > 0)
    return host_fail(err, "%.400s: pg_constraint has %u pages of zeroes; without pg_trigger, which is not there, it is not "
                     "known whether foreign keys are lost", rows->directory, rows->new_pages);
  const pg_class_row *classes = rows->classes.items;
  for (size_t i = 0; i < rows->classes.count; i++)
    if (classes[i].fate.ended_by == 0 && classes[i].triggers && !has(explained, classes[i].oid))
      return host_fail(err, "%.400s: \"%s\" has triggers and no constraint that would make any; without pg_trigger, which is "
                       "not there, it is not known whether a foreign key is lost", rows->directory, classes[i].name);
  return true;
}

bool pg_catalog_check_constraints(const pg_catalog *cat, pg_rows *rows, host_error *err)
{
  pg_pool scratch = {0};
  const pg_mark_row *marks = rows->marks.items;
  size_t n = rows->marks.count;
  oids all = {.items = pg_pool_array(&scratch, n, sizeof(uint32_t))};
  oids keys = {.items = pg_pool_array(&scratch, n, sizeof(uint32_t))};
  oids explained = {.items = pg_pool_array(&scratch, 2 * n, sizeof(uint32_t))};
  oids owners = {.items = pg_pool_array(&scratch, rows->triggers.count, sizeof(uint32_t))};
  if (all.items == NULL || keys.items == NULL || explained.items == NULL || owners.items == NULL) {
    pg_pool_free(&scratch);
    return pg_no_memory(err);
  }
  for (size_t i = 0; i < n; i++) {
    const pg_mark_row *m = &marks[i];
    if (m->fate.ended_by != 0)
      continue;
    all.items[all.count++] = m->oid;
    if (m->type == 'p')
      keys.items[keys.count++] = m->index;
    if (m->type == 'f' || m->type == 't' || m->deferrable) {
      explained.items[explained.count++] = m->relation;
      explained.items[explained.count++] = m->referenced;
    }
  }
  const pg_trigger_row *triggers = rows->triggers.items;
  for (size_t i = 0; i < rows->triggers.count; i++)
    if (triggers[i].fate.ended_by == 0)
      owners.items[owners.count++] = triggers[i].constraint;
  sort(&all);
  sort(&keys);
  sort(&explained);
  sort(&owners);
  bool ok = check_primary_keys(rows, cat, &keys, err) &&
            (rows->no_triggers ? check_hints(rows, &explained, err) : check_triggers(rows, &all, &owners, err));
  pg_pool_free(&scratch);
  return ok;
}
