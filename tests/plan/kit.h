/* What the planner's tests share: relations of integer columns in a few words, sets, and reading a plan back. */
#ifndef TESTS_PLAN_KIT_H
#define TESTS_PLAN_KIT_H

#include <check.h>
#include <string.h>
#include <twpa/plan.h>

#include "support/faultmem.h"
#include "support/runner.h"

/* A value of an integer column: NIL (NULL), ABSENT and SAME (unchanged) are outside of the range that tests use. */
#define NIL INT64_MIN
#define ABSENT (INT64_MIN + 1)
#define SAME (INT64_MIN + 2)

#define COLUMNS_MAX 8

/* Values for the plan, made of integers; good until the next call with the same buffer. */
typedef struct row {
  int64_t numbers[COLUMNS_MAX];
  twpa_value values[COLUMNS_MAX];
} row;

const twpa_value *row_of(row *r, size_t n, const int64_t *numbers);

/* Adds a change of integers; old or new may be NULL. */
twpa_status change(twpa_access_set *set, twpa_relation *rel, uint32_t op, size_t n, const int64_t *old,
                   const int64_t *new);

/* Columns: k (primary key), u (unique, index 2), x. Relation `id`; further settings may be changed before making it. */
typedef struct relation_kit {
  twpa_column_desc columns[COLUMNS_MAX];
  twpa_index_desc indexes[4];
  twpa_fk_desc fks[4];
  twpa_reference_desc references[4];
  twpa_relation_desc desc;
} relation_kit;

void kit_begin(relation_kit *kit, uint64_t id, size_t ncolumns);
twpa_index_desc *kit_index(relation_kit *kit, uint64_t id, const uint32_t *columns, size_t n, uint32_t flags);
twpa_fk_desc *kit_fk(relation_kit *kit, uint64_t parent, uint64_t index, const uint32_t *columns, size_t n,
                     uint32_t flags);
void kit_reference(relation_kit *kit, uint64_t child, uint64_t index, uint32_t flags);
twpa_relation *kit_make(relation_kit *kit);

/* True if `from` is among the dependencies of `to`, directly, through a join node, or by "all up to". */
int depends(const twpa_plan *plan, uint64_t from, uint64_t to);
/* Enters the set; the number it got. */
uint64_t enter(twpa_plan *plan, twpa_access_set *set);
uint64_t enter_n(twpa_plan *plan, twpa_access_set *set, uint32_t *npredecessors);

extern const uint32_t COL0[1], COL1[1], COL2[1], COL01[2], COL12[2];

#endif
