/*
 * Relations: checking a description and digesting it into one immutable block. All questions that do not depend on a
 * change are answered here once: where the row key comes from, which old values the stream always has, what is exact.
 */
#include "plan/relation.h"

#include "base/assert.h"
#include "base/sized.h"
#include "plan/canonical.h"

#include <string.h>
#include <twpa/plan.h>

#define INDEX_FLAGS \
  (TWPA_INDEX_PRIMARY | TWPA_INDEX_NULLS_NOT_DISTINCT | TWPA_INDEX_PARTIAL | TWPA_INDEX_EXPRESSION | \
   TWPA_INDEX_DEFERRABLE | TWPA_INDEX_EXCLUSION | TWPA_INDEX_PREFIX_UTF8)
#define FK_FLAGS (TWPA_FK_ENFORCED | TWPA_FK_CASCADE | TWPA_FK_MATCH_FULL | TWPA_FK_DEFERRABLE)
#define RELATION_FLAGS (TWPA_RELATION_SIDE_EFFECTS | TWPA_RELATION_NO_MEMORY | TWPA_RELATION_SERIAL)
#define COUNT_MAX ((size_t)65535) /* columns, indexes, foreign keys of one relation */

bool twpa__fk_counts(uint32_t fk_flags, uint32_t policy)
{
  if (policy == TWPA_FOREIGN_KEYS_ALL)
    return true;
  return policy == TWPA_FOREIGN_KEYS_ENFORCED && (fk_flags & (TWPA_FK_ENFORCED | TWPA_FK_CASCADE)) != 0;
}

bool twpa__index_referenced(const twpa__index *index, uint32_t policy)
{
  if (policy == TWPA_FOREIGN_KEYS_ALL)
    return index->ref_any;
  return policy == TWPA_FOREIGN_KEYS_ENFORCED && index->ref_enforced;
}

/* --- checking -------------------------------------------------------------------------------------------------- */

static bool columns_exist(const uint32_t *columns, size_t n, size_t ncolumns)
{
  if (n > COUNT_MAX || (columns == NULL && n > 0))
    return false;
  for (size_t i = 0; i < n; i++)
    if (columns[i] >= ncolumns)
      return false;
  return true;
}

static twpa_status check_columns(const twpa_relation_desc *d)
{
  if (d->ncolumns > COUNT_MAX || (d->columns == NULL && d->ncolumns > 0))
    return TWPA_E_INVAL;
  for (size_t i = 0; i < d->ncolumns; i++) {
    if (!twpa__canonical_known(d->columns[i].cls))
      return TWPA_E_INVAL;
    if ((d->columns[i].flags & ~(uint32_t)TWPA_COLUMN_GENERATED) != 0)
      return TWPA_E_UNSUPPORTED;
  }
  return TWPA_OK;
}

static twpa_status check_indexes(const twpa_relation_desc *d)
{
  size_t primaries = 0;
  if (d->nindexes > COUNT_MAX || (d->indexes == NULL && d->nindexes > 0))
    return TWPA_E_INVAL;
  for (size_t i = 0; i < d->nindexes; i++) {
    const twpa_index_desc *x = &d->indexes[i];
    if ((x->flags & ~(uint32_t)INDEX_FLAGS) != 0 || x->reserved != 0)
      return TWPA_E_UNSUPPORTED;
    bool inexact = (x->flags & (TWPA_INDEX_EXPRESSION | TWPA_INDEX_EXCLUSION)) != 0;
    if (!columns_exist(x->columns, x->ncolumns, d->ncolumns) || (x->ncolumns == 0 && !inexact) ||
        !columns_exist(x->predicate_columns, x->npredicate_columns, d->ncolumns))
      return TWPA_E_INVAL;
    if ((x->flags & TWPA_INDEX_PRIMARY) != 0 && (++primaries > 1 || inexact || (x->flags & TWPA_INDEX_PARTIAL) != 0))
      return TWPA_E_INVAL;
    for (size_t j = 0; j < i; j++)
      if (d->indexes[j].id == x->id)
        return TWPA_E_INVAL;
  }
  return TWPA_OK;
}

static size_t find_index(const twpa_relation_desc *d, uint64_t id)
{
  size_t i = 0;
  while (i < d->nindexes && d->indexes[i].id != id)
    i++;
  return i;
}

static twpa_status check_fks(const twpa_relation_desc *d)
{
  if (d->nfks > COUNT_MAX || (d->fks == NULL && d->nfks > 0) || d->nreferences > COUNT_MAX ||
      (d->references == NULL && d->nreferences > 0) || d->naffects > COUNT_MAX ||
      (d->affects == NULL && d->naffects > 0))
    return TWPA_E_INVAL;
  for (size_t i = 0; i < d->nfks; i++) {
    const twpa_fk_desc *f = &d->fks[i];
    if ((f->flags & ~(uint32_t)FK_FLAGS) != 0 || f->reserved != 0)
      return TWPA_E_UNSUPPORTED;
    if (f->ncolumns == 0 || !columns_exist(f->columns, f->ncolumns, d->ncolumns))
      return TWPA_E_INVAL;
    for (size_t j = 0; j < i; j++)
      if (d->fks[j].id == f->id)
        return TWPA_E_INVAL;
  }
  for (size_t i = 0; i < d->nreferences; i++) {
    const twpa_reference_desc *r = &d->references[i];
    if ((r->flags & ~(uint32_t)FK_FLAGS) != 0 || r->reserved != 0)
      return TWPA_E_UNSUPPORTED;
    if (find_index(d, r->index) == d->nindexes)
      return TWPA_E_INVAL;
  }
  return TWPA_OK;
}

static twpa_status check_identity(const twpa_relation_desc *d)
{
  const uint32_t unfit = TWPA_INDEX_PARTIAL | TWPA_INDEX_EXPRESSION | TWPA_INDEX_DEFERRABLE | TWPA_INDEX_EXCLUSION;
  if (d->identity > TWPA_IDENTITY_NOTHING)
    return TWPA_E_INVAL;
  if ((d->flags & ~(uint32_t)RELATION_FLAGS) != 0)
    return TWPA_E_UNSUPPORTED;
  if (d->identity == TWPA_IDENTITY_INDEX) {
    size_t i = find_index(d, d->identity_index);
    if (i == d->nindexes || (d->indexes[i].flags & unfit) != 0)
      return TWPA_E_INVAL;
  }
  return TWPA_OK;
}

static twpa_status check(const twpa_relation_desc *d)
{
  twpa_status st = check_columns(d);
  if (st == TWPA_OK)
    st = check_indexes(d);
  if (st == TWPA_OK)
    st = check_fks(d);
  if (st == TWPA_OK)
    st = check_identity(d);
  return st;
}

/* --- one block ------------------------------------------------------------------------------------------------- */

/* Hands out pieces of the block; with base == NULL it only counts, and stays at SIZE_MAX when that is too small. */
typedef struct cutter {
  unsigned char *base;
  size_t used;
} cutter;

static void *cut(cutter *c, size_t size)
{
  size_t at = c->used;
  c->used = twpa__size_add(at, twpa__size_add(size, -size & 7));
  return c->base != NULL ? c->base + at : NULL;
}

static const void *cut_copy(cutter *c, const void *from, size_t size)
{
  void *to = cut(c, size);
  if (to != NULL && size > 0)
    memcpy(to, from, size);
  return size > 0 ? to : NULL;
}

static bool all_identity(const twpa_relation *r, const uint32_t *columns, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!r->identity_column[columns[i]])
      return false;
  return true;
}

static void digest_row_key(twpa_relation *r, const twpa_relation_desc *d, bool *identity_column)
{
  size_t primary = 0, at;
  while (primary < d->nindexes && (d->indexes[primary].flags & TWPA_INDEX_PRIMARY) == 0)
    primary++;
  if (primary < d->nindexes && (d->indexes[primary].flags & TWPA_INDEX_DEFERRABLE) != 0)
    primary = d->nindexes; /* not an identity, and not a key to find a row by */
  at = d->identity == TWPA_IDENTITY_INDEX ? find_index(d, d->identity_index) : primary;
  r->row_kind = TWPA__ROW_NONE;
  if (at < d->nindexes)
    r->row_kind = TWPA__ROW_INDEX;
  else if (d->identity == TWPA_IDENTITY_FULL)
    r->row_kind = TWPA__ROW_WHOLE;
  r->row_index = at < d->nindexes ? (uint32_t)at : 0;
  memset(identity_column, 0, d->ncolumns * sizeof *identity_column);
  if (r->row_kind == TWPA__ROW_INDEX && (d->identity == TWPA_IDENTITY_DEFAULT || d->identity == TWPA_IDENTITY_INDEX))
    for (size_t i = 0; i < d->indexes[at].ncolumns; i++)
      identity_column[d->indexes[at].columns[i]] = true;
}

static void digest_index(twpa_relation *r, twpa__index *x, const twpa_index_desc *d, cutter *c)
{
  memset(x, 0, sizeof *x);
  x->id = d->id;
  x->flags = d->flags;
  x->ncolumns = d->ncolumns;
  x->columns = cut_copy(c, d->columns, d->ncolumns * sizeof *d->columns);
  x->prefix = d->prefix_len != NULL ? cut_copy(c, d->prefix_len, d->ncolumns * sizeof *d->prefix_len) : NULL;
  x->exact = (d->flags & (TWPA_INDEX_EXPRESSION | TWPA_INDEX_EXCLUSION)) == 0;
  x->full = (d->flags & (TWPA_INDEX_EXPRESSION | TWPA_INDEX_EXCLUSION | TWPA_INDEX_PARTIAL)) == 0;
  if ((d->flags & TWPA_INDEX_PARTIAL) != 0) {
    bool any = d->predicate_columns == NULL; /* could look at every column */
    x->npredicate = any ? r->ncolumns : d->npredicate_columns;
    uint32_t *predicate = cut(c, x->npredicate * sizeof *predicate);
    for (size_t i = 0; predicate != NULL && i < x->npredicate; i++)
      predicate[i] = any ? (uint32_t)i : d->predicate_columns[i];
    x->predicate = predicate;
  }
  x->in_identity = x->exact && all_identity(r, x->columns, x->ncolumns) &&
                   all_identity(r, x->predicate, x->npredicate);
  x->in_bytes = x->known = true;
  for (size_t i = 0; i < x->ncolumns; i++) {
    uint32_t cls = r->columns[x->columns[i]].cls;
    x->known = x->known && cls != TWPA_CLASS_UNKNOWN;
    x->in_bytes = x->in_bytes && cls != TWPA_CLASS_UNKNOWN && twpa__canonical_is_bytes(cls);
  }
  r->inexact_index = r->inexact_index || !x->exact;
  r->unknown_class = r->unknown_class || !x->known;
}

static void digest_fk(twpa_relation *r, twpa__fk *f, const twpa_fk_desc *d, cutter *c)
{
  memset(f, 0, sizeof *f);
  f->id = d->id;
  f->parent = d->parent;
  f->parent_index = d->parent_index;
  f->flags = d->flags;
  f->ncolumns = d->ncolumns;
  f->columns = cut_copy(c, d->columns, d->ncolumns * sizeof *d->columns);
  f->exact = true; /* MATCH FULL too: a row with some NULLs only is an error at both ends, and refers to nothing */
  f->in_identity = all_identity(r, f->columns, f->ncolumns);
  for (size_t i = 0; i < d->ncolumns; i++) {
    uint32_t cls = r->columns[f->columns[i]].cls;
    if (!twpa__canonical_joins(cls, d->parent_classes != NULL ? d->parent_classes[i] : cls))
      f->exact = false; /* no hash domain for both */
    if (cls == TWPA_CLASS_UNKNOWN)
      r->unknown_class = true;
  }
}

static void digest_references(twpa_relation *r, twpa__index *indexes, const twpa_relation_desc *d, cutter *c)
{
  twpa__reference *refs = cut(c, d->nreferences * sizeof *refs);
  for (size_t i = 0; i < d->nreferences; i++) {
    size_t at = find_index(d, d->references[i].index);
    refs[i] = (twpa__reference){d->references[i].child, (uint32_t)at, d->references[i].flags};
    indexes[at].ref_any = true;
    if (twpa__fk_counts(refs[i].flags, TWPA_FOREIGN_KEYS_ENFORCED))
      indexes[at].ref_enforced = true;
  }
  r->references = refs;
}

/* Fills r, whose trailing pieces are cut from c. */
static void digest(twpa_relation *r, const twpa_relation_desc *d, cutter *c)
{
  r->columns = cut_copy(c, d->columns, d->ncolumns * sizeof *d->columns);
  bool *identity_column = cut(c, d->ncolumns * sizeof *identity_column);
  r->identity_column = identity_column;
  digest_row_key(r, d, identity_column);
  twpa__index *indexes = cut(c, d->nindexes * sizeof *indexes);
  r->indexes = indexes;
  for (size_t i = 0; i < d->nindexes; i++)
    digest_index(r, &indexes[i], &d->indexes[i], c);
  twpa__fk *fks = cut(c, d->nfks * sizeof *fks);
  r->fks = fks;
  for (size_t i = 0; i < d->nfks; i++)
    digest_fk(r, &fks[i], &d->fks[i], c);
  digest_references(r, indexes, d, c);
  r->affects = cut_copy(c, d->affects, d->naffects * sizeof *d->affects);
  r->name = d->name != NULL ? cut_copy(c, d->name, strlen(d->name) + 1) : NULL;
  /* Row memory is for what neither the identity nor a full old row tells. An identity of unknown equality could name
     one row in two ways; whole rows have no name at all. */
  bool asks = false;
  for (size_t i = 0; i < d->nindexes; i++)
    asks = asks || (indexes[i].exact && !indexes[i].in_identity);
  for (size_t i = 0; i < d->nfks; i++)
    asks = asks || (fks[i].exact && !fks[i].in_identity);
  r->can_remember = asks && r->row_kind == TWPA__ROW_INDEX && indexes[r->row_index].known &&
                    (d->identity == TWPA_IDENTITY_DEFAULT || d->identity == TWPA_IDENTITY_INDEX) &&
                    (d->flags & TWPA_RELATION_NO_MEMORY) == 0;
}

/* The size of all pieces: what digest cuts, counted from the description. */
static size_t pieces(const twpa_relation_desc *d)
{
  cutter c = {NULL, 0};
  cut(&c, d->ncolumns * sizeof *d->columns);
  cut(&c, d->ncolumns * sizeof(bool));
  cut(&c, d->nindexes * sizeof(twpa__index));
  for (size_t i = 0; i < d->nindexes; i++) {
    const twpa_index_desc *x = &d->indexes[i];
    cut(&c, x->ncolumns * sizeof *x->columns);
    if (x->prefix_len != NULL)
      cut(&c, x->ncolumns * sizeof *x->prefix_len);
    if ((x->flags & TWPA_INDEX_PARTIAL) != 0)
      cut(&c, (x->predicate_columns == NULL ? d->ncolumns : x->npredicate_columns) * sizeof(uint32_t));
  }
  cut(&c, d->nfks * sizeof(twpa__fk));
  for (size_t i = 0; i < d->nfks; i++)
    cut(&c, d->fks[i].ncolumns * sizeof *d->fks[i].columns);
  cut(&c, d->nreferences * sizeof(twpa__reference));
  cut(&c, d->naffects * sizeof *d->affects);
  if (d->name != NULL)
    cut(&c, strlen(d->name) + 1);
  return c.used;
}

twpa_status twpa_relation_new(twpa_relation **out, const twpa_relation_desc *desc, const twpa_allocator *allocator)
{
  twpa_relation_desc d;
  twpa__mem mem;
  if (out == NULL || desc == NULL)
    return TWPA_E_INVAL;
  twpa_status st = twpa__read_sized(&d, sizeof d, desc, sizeof d);
  if (st == TWPA_OK)
    st = check(&d);
  if (st == TWPA_OK)
    st = twpa__mem_init(&mem, allocator);
  if (st != TWPA_OK)
    return st;
  size_t head = (sizeof(twpa_relation) + 7) & ~(size_t)7;
  size_t size = twpa__size_add(head, pieces(&d)); /* where size_t has 32 bits, descriptions can be too large */
  twpa_relation *r = size < SIZE_MAX ? twpa__zalloc(&mem, size) : NULL;
  if (r == NULL)
    return TWPA_E_NOMEM;
  atomic_init(&r->refs, 1);
  r->mem = mem;
  r->size = size;
  r->id = d.id;
  r->plan_id = d.root != 0 ? d.root : d.id;
  r->epoch = d.epoch;
  r->ncolumns = d.ncolumns;
  r->nindexes = d.nindexes;
  r->nfks = d.nfks;
  r->nreferences = d.nreferences;
  r->naffects = d.naffects;
  r->identity = d.identity;
  r->flags = d.flags;
  cutter c = {(unsigned char *)r + head, 0};
  digest(r, &d, &c);
  TWPA__ASSERT(head + c.used == size);
  *out = r;
  return TWPA_OK;
}

twpa_relation *twpa_relation_ref(twpa_relation *relation)
{
  if (relation != NULL)
    atomic_fetch_add_explicit(&relation->refs, 1, memory_order_relaxed);
  return relation;
}

void twpa_relation_free(twpa_relation *relation)
{
  if (relation == NULL || atomic_fetch_sub_explicit(&relation->refs, 1, memory_order_acq_rel) != 1)
    return;
  twpa__mem mem = relation->mem;
  twpa__release(&mem, relation, relation->size);
}

uint64_t twpa_relation_id(const twpa_relation *relation)
{
  return relation != NULL ? relation->id : 0;
}
