/* Long values: a list of them, and a map to find one. */
#include "decode/toast.h"

#include "base/hash.h"

#include <string.h>

static uint64_t hash_of(uint64_t relation, uint64_t value)
{
  return twpa__mix64(twpa__mix64(relation) + value);
}

void twpa__toast_init(twpa__toast *toast, twpa__mem *mem)
{
  *toast = (twpa__toast){.mem = mem};
  twpa__xidmap_init(&toast->map, mem);
}

static twpa__toast_value *find(const twpa__toast *toast, uint64_t relation, uint64_t value)
{
  twpa__toast_value *v = twpa__xidmap_get(&toast->map, hash_of(relation, value));
  while (v != NULL && (v->relation != relation || v->value != value))
    v = v->other;
  return v;
}

const twpa__toast_value *twpa__toast_find(const twpa__toast *toast, uint64_t relation, uint64_t value)
{
  return toast->values != NULL ? find(toast, relation, value) : NULL;
}

static twpa_status append(twpa__toast *toast, twpa__toast_value *v, twpa_bytes bytes)
{
  if (bytes.len > SIZE_MAX - v->len)
    return TWPA_E_NOMEM;
  twpa_status st = twpa__array_reserve(toast->mem, &v->data, &v->cap, v->len + bytes.len, 1);
  if (st != TWPA_OK)
    return st;
  if (bytes.len > 0)
    memcpy((unsigned char *)v->data + v->len, bytes.data, bytes.len);
  v->len += bytes.len;
  v->chunks++;
  toast->chunks++;
  return TWPA_OK;
}

static void free_value(twpa__toast *toast, twpa__toast_value *v)
{
  twpa__release(toast->mem, v->data, v->cap);
  twpa__release(toast->mem, v, sizeof *v);
}

/* A value with its first chunk. Where the map has a value with the same hash, the new one hangs behind it. */
static twpa_status add_value(twpa__toast *toast, const twpa_change *chunk)
{
  twpa__toast_value *v = twpa__zalloc(toast->mem, sizeof *v);
  if (v == NULL)
    return TWPA_E_NOMEM;
  v->relation = chunk->toast_relation;
  v->value = chunk->toast_value;
  uint64_t hash = hash_of(v->relation, v->value);
  twpa__toast_value *same = twpa__xidmap_get(&toast->map, hash);
  twpa_status st = append(toast, v, chunk->content);
  if (st == TWPA_OK && same == NULL) {
    st = twpa__xidmap_add(&toast->map, hash, v);
    if (st != TWPA_OK)
      toast->chunks--;
  }
  if (st != TWPA_OK) {
    free_value(toast, v);
    return st;
  }
  if (same != NULL) {
    v->other = same->other;
    same->other = v;
  }
  v->next = toast->values;
  toast->values = v;
  return TWPA_OK;
}

twpa_status twpa__toast_add(twpa__toast *toast, const twpa_change *chunk)
{
  twpa__toast_value *v = find(toast, chunk->toast_relation, chunk->toast_value);
  if (chunk->toast_sequence != (v != NULL ? v->chunks : 0))
    return TWPA_E_CORRUPT;
  return v != NULL ? append(toast, v, chunk->content) : add_value(toast, chunk);
}

void twpa__toast_reset(twpa__toast *toast)
{
  while (toast->values != NULL) {
    twpa__toast_value *v = toast->values;
    toast->values = v->next;
    twpa__xidmap_remove(&toast->map, hash_of(v->relation, v->value));
    free_value(toast, v);
  }
  toast->chunks = 0;
}

void twpa__toast_free(twpa__toast *toast)
{
  twpa__toast_reset(toast);
  twpa__xidmap_clear(&toast->map);
}
