/* The allocator of one object: hooks of the host or the default, counted. */
#include "base/alloc.h"

#include "base/assert.h"
#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

/* --- the default: malloc, and pages of the system for what is large ---------------------------------------------- */

static void *default_alloc(void *user, size_t size)
{
  (void)user;
  return twpa__pages_are_for(size) ? twpa__pages_map(size) : malloc(size);
}

static void default_release(void *user, void *p, size_t size)
{
  (void)user;
  if (twpa__pages_are_for(size))
    twpa__pages_unmap(p, size);
  else
    free(p);
}

static void *default_resize(void *user, void *p, size_t old_size, size_t new_size)
{
  if (!twpa__pages_are_for(old_size) && !twpa__pages_are_for(new_size))
    return realloc(p, new_size);
  void *q = default_alloc(user, new_size);
  if (q == NULL)
    return NULL;
  memcpy(q, p, old_size < new_size ? old_size : new_size);
  default_release(user, p, old_size);
  return q;
}

/* --- counting ---------------------------------------------------------------------------------------------------- */

twpa_status twpa__mem_init(twpa__mem *mem, const twpa_allocator *hooks)
{
  static const twpa_allocator by_default = {NULL, default_alloc, default_resize, default_release};
  if (hooks != NULL && (hooks->alloc == NULL || hooks->resize == NULL || hooks->release == NULL))
    return TWPA_E_INVAL;
  mem->hooks = hooks != NULL ? *hooks : by_default;
  mem->live_bytes = 0;
  return TWPA_OK;
}

void *twpa__alloc(twpa__mem *mem, size_t size)
{
  TWPA__ASSERT(size > 0);
  void *p = mem->hooks.alloc(mem->hooks.user, size);
  if (p != NULL)
    mem->live_bytes += size;
  return p;
}

void *twpa__zalloc(twpa__mem *mem, size_t size)
{
  void *p = twpa__alloc(mem, size);
  bool fresh = mem->hooks.alloc == default_alloc && twpa__pages_are_for(size); /* zeroed, and not there until written */
  if (p != NULL && !fresh)
    memset(p, 0, size);
  return p;
}

void *twpa__resize(twpa__mem *mem, void *p, size_t old_size, size_t new_size)
{
  TWPA__ASSERT(new_size > 0);
  if (p == NULL) {
    TWPA__ASSERT(old_size == 0);
    return twpa__alloc(mem, new_size);
  }
  void *q = mem->hooks.resize(mem->hooks.user, p, old_size, new_size);
  if (q != NULL)
    mem->live_bytes = mem->live_bytes - old_size + new_size;
  return q;
}

void twpa__release(twpa__mem *mem, void *p, size_t size)
{
  if (p == NULL)
    return;
  TWPA__ASSERT(mem->live_bytes >= size);
  mem->live_bytes -= size;
  mem->hooks.release(mem->hooks.user, p, size);
}

bool twpa__array_size(size_t *out, size_t n, size_t size)
{
  if (size != 0 && n > SIZE_MAX / size)
    return false;
  *out = n * size;
  return true;
}

twpa_status twpa__array_reserve(twpa__mem *mem, void **items, size_t *cap, size_t need, size_t size)
{
  if (need <= *cap)
    return TWPA_OK;
  size_t grown = *cap < 8 ? 8 : *cap > SIZE_MAX / 2 ? need : *cap * 2;
  if (grown < need)
    grown = need;
  size_t bytes;
  if (!twpa__array_size(&bytes, grown, size))
    return TWPA_E_NOMEM;
  void *p = twpa__resize(mem, *items, *cap * size, bytes);
  if (p == NULL)
    return TWPA_E_NOMEM;
  *items = p;
  *cap = grown;
  return TWPA_OK;
}
