/* What the planner's tests share. */
#include "kit.h"

#include <stdlib.h>

const uint32_t COL0[1] = {0}, COL1[1] = {1}, COL2[1] = {2}, COL01[2] = {0, 1}, COL12[2] = {1, 2};

const twpa_value *row_of(row *r, size_t n, const int64_t *numbers)
{
  if (numbers == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    int64_t v = r->numbers[i] = numbers[i];
    uint32_t state = v == NIL      ? TWPA_VALUE_NULL
                     : v == ABSENT ? TWPA_VALUE_ABSENT
                     : v == SAME   ? TWPA_VALUE_UNCHANGED
                                   : TWPA_VALUE_BINARY;
    r->values[i] = (twpa_value){TWPA_CLASS_INTEGER, state, {&r->numbers[i], sizeof(int64_t)}};
  }
  return r->values;
}

twpa_status change(twpa_access_set *set, twpa_relation *rel, uint32_t op, size_t n, const int64_t *old,
                   const int64_t *new)
{
  row a, b;
  return twpa_access_set_change(set, rel, op, row_of(&a, n, old), row_of(&b, n, new), n);
}

void kit_begin(relation_kit *kit, uint64_t id, size_t ncolumns)
{
  memset(kit, 0, sizeof *kit);
  for (size_t i = 0; i < ncolumns; i++)
    kit->columns[i].cls = TWPA_CLASS_INTEGER;
  kit->desc.struct_size = TWPA_RELATION_DESC_INIT;
  kit->desc.id = id;
  kit->desc.columns = kit->columns;
  kit->desc.ncolumns = ncolumns;
  kit->desc.indexes = kit->indexes;
  kit->desc.fks = kit->fks;
  kit->desc.references = kit->references;
}

twpa_index_desc *kit_index(relation_kit *kit, uint64_t id, const uint32_t *columns, size_t n, uint32_t flags)
{
  twpa_index_desc *x = &kit->indexes[kit->desc.nindexes++];
  *x = (twpa_index_desc){.id = id, .columns = columns, .ncolumns = n, .flags = flags};
  return x;
}

twpa_fk_desc *kit_fk(relation_kit *kit, uint64_t parent, uint64_t index, const uint32_t *columns, size_t n,
                     uint32_t flags)
{
  twpa_fk_desc *f = &kit->fks[kit->desc.nfks];
  *f = (twpa_fk_desc){.id = 100 + kit->desc.nfks++, .parent = parent, .parent_index = index, .columns = columns,
                      .ncolumns = n, .flags = flags};
  return f;
}

void kit_reference(relation_kit *kit, uint64_t child, uint64_t index, uint32_t flags)
{
  kit->references[kit->desc.nreferences++] = (twpa_reference_desc){.child = child, .index = index, .flags = flags};
}

twpa_relation *kit_make(relation_kit *kit)
{
  twpa_relation *rel = NULL;
  test_must(twpa_relation_new(&rel, &kit->desc, NULL) == TWPA_OK);
  return rel;
}

int depends(const twpa_plan *plan, uint64_t from, uint64_t to)
{
  size_t n = 0;
  int found = 0;
  test_must(twpa_plan_explain(plan, NULL, 0, &n, to) == TWPA_OK);
  twpa_edge *edges = calloc(n + 1, sizeof *edges);
  test_must(twpa_plan_explain(plan, edges, n, &n, to) == TWPA_OK);
  for (size_t i = 0; i < n; i++)
    found = found || edges[i].from == from || ((edges[i].flags & TWPA_EDGE_UP_TO) != 0 && from <= edges[i].from);
  free(edges);
  return found;
}

uint64_t enter_n(twpa_plan *plan, twpa_access_set *set, uint32_t *npredecessors)
{
  uint64_t seq = 0;
  test_must(twpa_plan_add(plan, &seq, npredecessors, set) == TWPA_OK);
  return seq;
}

uint64_t enter(twpa_plan *plan, twpa_access_set *set)
{
  uint32_t n;
  return enter_n(plan, set, &n);
}
