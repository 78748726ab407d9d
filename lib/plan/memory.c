/* Row memory: a set-associative cache of values. See the header. */
#include "plan/memory.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

#define SET_BYTES 128

enum { FREE, NONE, KEY };

typedef struct entry {
  uint64_t name[2];
  uint64_t key;
  uint64_t check[2];
} entry;

typedef struct twpa__memory_set {
  entry entries[TWPA__MEMORY_WAYS];
  uint8_t state[TWPA__MEMORY_WAYS]; /* FREE, NONE, KEY */
  uint8_t order[TWPA__MEMORY_WAYS]; /* ways, the last used first */
  uint8_t reserved[2];
} memory_set;

TWPA__STATIC_ASSERT(sizeof(memory_set) == SET_BYTES, "two cache lines");

twpa_status twpa__memory_init(twpa__memory *m, twpa__mem *mem, size_t bytes)
{
  memset(m, 0, sizeof *m);
  if (bytes == 0)
    return TWPA_OK;
  size_t n = 1;
  while (n <= bytes / SET_BYTES / 2)
    n *= 2;
  m->block_size = n * SET_BYTES + SET_BYTES;
  m->block = twpa__zalloc(mem, m->block_size);
  if (m->block == NULL)
    return TWPA_E_NOMEM;
  m->sets = (memory_set *)(void *)((unsigned char *)m->block + (SET_BYTES - (uintptr_t)m->block % SET_BYTES) % SET_BYTES);
  m->mask = n - 1;
  for (size_t i = 0; i < n; i++)
    for (uint8_t way = 0; way < TWPA__MEMORY_WAYS; way++)
      m->sets[i].order[way] = way;
  return TWPA_OK;
}

void twpa__memory_free(twpa__memory *m, twpa__mem *mem)
{
  twpa__release(mem, m->block, m->block_size);
}

twpa__memory_name twpa__memory_name_of(const uint64_t row[2], uint32_t slot, uint64_t generation)
{
  uint64_t salt = twpa__mix64(generation * UINT64_C(0x100000001B3) + slot + 1);
  return (twpa__memory_name){{twpa__mix64(row[0] ^ salt), twpa__mix64(row[1] + salt)}};
}

static int find(const memory_set *set, const twpa__memory_name *name)
{
  for (int i = 0; i < TWPA__MEMORY_WAYS; i++)
    if (set->state[i] != FREE && set->entries[i].name[0] == name->id[0] && set->entries[i].name[1] == name->id[1])
      return i;
  return -1;
}

/* Moves a way to the front of the order, or to its end. */
static void reorder(memory_set *set, int way, bool front)
{
  int at = 0;
  while (set->order[at] != way)
    at++;
  if (front)
    for (; at > 0; at--)
      set->order[at] = set->order[at - 1];
  else
    for (; at < TWPA__MEMORY_WAYS - 1; at++)
      set->order[at] = set->order[at + 1];
  set->order[at] = (uint8_t)way;
}

bool twpa__memory_get(twpa__memory *m, twpa__memory_name name, twpa__remembered *value)
{
  if (m->sets == NULL)
    return false;
  memory_set *set = &m->sets[name.id[0] & m->mask];
  int i = find(set, &name);
  if (i < 0)
    return false;
  reorder(set, i, true);
  const entry *e = &set->entries[i];
  *value = (twpa__remembered){e->key, {e->check[0], e->check[1]}, set->state[i] == NONE};
  return true;
}

void twpa__memory_put(twpa__memory *m, twpa__memory_name name, const twpa__remembered *value)
{
  if (m->sets == NULL)
    return;
  memory_set *set = &m->sets[name.id[0] & m->mask];
  int i = find(set, &name);
  if (i < 0)
    i = set->order[TWPA__MEMORY_WAYS - 1];
  reorder(set, i, true);
  set->entries[i] = (entry){{name.id[0], name.id[1]}, value->key, {value->check[0], value->check[1]}};
  set->state[i] = value->none ? NONE : KEY;
}

void twpa__memory_remove(twpa__memory *m, twpa__memory_name name)
{
  if (m->sets == NULL)
    return;
  memory_set *set = &m->sets[name.id[0] & m->mask];
  int i = find(set, &name);
  if (i < 0)
    return;
  set->state[i] = FREE;
  reorder(set, i, false);
}
