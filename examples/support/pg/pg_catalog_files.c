/*
 * To whom the files belong. Every stored row version of pg_class that has a file number is a claim on that file.
 *
 * A file that a living version has now belongs to that relation. Else the claims must agree; what several relations
 * claim belongs to nobody we could name.
 *
 * A rewrite (ALTER TABLE with a new column type, REFRESH) makes a transient relation, fills its file, and then swaps the
 * files of the two. So the transient relation's claims are claims of the relation that it rewrites. A file that it had
 * and that the relation did not have before was filled by the rewrite: inserts into it may be copies of rows.
 *
 * Whether rows in an old file are laid out as the columns say now: yes, if all columns are as old as a row version that
 * had the file, and no stored older version of a column differs. Else it is not known.
 */
#include "support/pg/pg_catalog_internal.h"

#include <stdlib.h>

enum {
  SPACE_GLOBAL = 1664
};

typedef struct claim {
  twpa_locator locator;
  const pg_class_row *row;
  uint32_t target; /* the relation that claims */
} claim;

static int compare_claims(const void *pa, const void *pb)
{
  const claim *a = pa, *b = pb;
  int order = pg_locator_compare(&a->locator, &b->locator);
  return order != 0 ? order : pg_fate_compare(&a->row->fate, &b->row->fate);
}

/* The claims of one file, the strongest first. */
static pg_file_owner judge(const pg_catalog *cat, const claim *claims, size_t n, const uint32_t *column_ages,
                           const uint8_t *columns_changed)
{
  pg_file_owner owner = {0};
  uint32_t target = claims[0].target;
  bool current = claims[0].row->fate.ended_by == 0;
  for (size_t i = 1; i < n; i++)
    if (claims[i].target != target && (!current || claims[i].row->fate.ended_by == 0))
      return owner;
  owner.relation = pg_catalog_find(cat, target);
  if (owner.relation == NULL)
    return owner;
  const size_t at = (size_t)(owner.relation - cat->items);
  owner.current = current;
  const pg_class_row *filler = NULL;
  uint32_t age = UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    const pg_class_row *row = claims[i].row;
    if (claims[i].target == target && row->fate.age < age)
      age = row->fate.age;
    if (claims[i].target == target && row->rewrite != 0 && row->fate.xmin != 0)
      filler = row;
  }
  for (size_t i = 0; filler != NULL && i < n; i++)
    if (claims[i].row->oid == target && claims[i].row->fate.xmin != filler->fate.xmin)
      filler = NULL; /* the relation had the file before: this is the one that was swapped away */
  owner.rewrite = filler != NULL;
  owner.rewrite_xid = filler != NULL ? filler->fate.xmin : 0;
  owner.layout_known = current || (columns_changed[at] == 0 && column_ages[at] >= age);
  return owner;
}

static bool gather(pg_vec *claims, const pg_catalog *cat, const pg_rows *rows, const pg_class_row *const *chosen,
                   host_error *err)
{
  const pg_class_row *classes = rows->classes.items;
  for (size_t i = 0; i < rows->classes.count; i++) {
    const pg_class_row *c = &classes[i];
    twpa_locator where = {.space = c->space != 0 ? c->space : cat->database.tablespace,
                          .database = cat->database.oid,
                          .file = c->file};
    const pg_relation *r = pg_catalog_find(cat, c->oid);
    if (r == NULL)
      continue;
    if (c->shared)
      where = (twpa_locator){.space = SPACE_GLOBAL, .file = c->file};
    if (c->file == 0 && c->fate.ended_by == 0)
      where = r->locator; /* mapped */
    if (where.file == 0)
      continue;
    claim *made = pg_vec_add(claims, sizeof *made);
    if (made == NULL)
      return pg_no_memory(err);
    const pg_class_row *last = chosen[r - cat->items];
    *made = (claim){.locator = where, .row = c, .target = last->rewrite != 0 ? last->rewrite : c->oid};
  }
  return true;
}

bool pg_catalog_map_files(pg_catalog *cat, const pg_rows *rows, const pg_class_row *const *chosen,
                          const uint32_t *column_ages, const uint8_t *columns_changed, host_error *err)
{
  pg_vec all = {0};
  bool ok = gather(&all, cat, rows, chosen, err);
  const claim *claims = all.items;
  if (ok && all.count > 0)
    qsort(all.items, all.count, sizeof(claim), compare_claims);
  cat->files = ok ? pg_pool_array(&cat->pool, all.count, sizeof *cat->files) : NULL;
  ok = ok && (cat->files != NULL || pg_no_memory(err));
  for (size_t i = 0, n; ok && i < all.count; i += n) {
    for (n = 1; i + n < all.count && pg_locator_compare(&claims[i].locator, &claims[i + n].locator) == 0;)
      n++;
    cat->files[cat->file_count++] =
      (pg_file_entry){.locator = claims[i].locator, .owner = judge(cat, claims + i, n, column_ages, columns_changed)};
  }
  pg_vec_free(&all);
  return ok;
}
