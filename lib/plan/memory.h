/*
 * Row memory (rule 1.6): for a row, which value it last had in each further unique index and each foreign key. Filled
 * from the stream in commit order, it turns unknown old values into known ones.
 *
 * A bounded cache of single values: the name of an entry is 128 bits made of (row, slot, generation), the value is the
 * conflict key and 128 bits more of which equality is decided. What falls out is unknown again, which is always right.
 * Forgetting a relation is a new generation: no old name is ever asked for again. Sets of three entries in two cache
 * lines; in a set the one that has not been used longest goes.
 */
#ifndef TWPA_PLAN_MEMORY_H
#define TWPA_PLAN_MEMORY_H

#include "base/alloc.h"

#define TWPA__MEMORY_WAYS 3

typedef struct twpa__remembered {
  uint64_t key;      /* conflict key */
  uint64_t check[2]; /* equality */
  bool none;         /* known to have no value: NULL, or outside of the index */
} twpa__remembered;

typedef struct twpa__memory {
  struct twpa__memory_set *sets;
  void *block;
  size_t block_size;
  uint64_t mask;
} twpa__memory;

/* bytes is rounded down to a power of two of sets; 0: no memory, which knows nothing. */
twpa_status twpa__memory_init(twpa__memory *m, twpa__mem *mem, size_t bytes);
void twpa__memory_free(twpa__memory *m, twpa__mem *mem);

/* The name of a value: row id, position of the index or foreign key, generation of the relation. */
typedef struct twpa__memory_name {
  uint64_t id[2];
} twpa__memory_name;

twpa__memory_name twpa__memory_name_of(const uint64_t row[2], uint32_t slot, uint64_t generation);
bool twpa__memory_get(twpa__memory *m, twpa__memory_name name, twpa__remembered *value);
void twpa__memory_put(twpa__memory *m, twpa__memory_name name, const twpa__remembered *value);
void twpa__memory_remove(twpa__memory *m, twpa__memory_name name);

#endif
