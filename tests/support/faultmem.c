/* An allocator that fails on demand and checks sizes. */
#include "support/faultmem.h"
#include "support/runner.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A block carries its size in front, at the strictest alignment. */
typedef union header {
  size_t size;
  max_align_t align;
} header;

static bool refuse(faultmem *fm)
{
  fm->calls++;
  if (fm->fail_at == 0 || (fm->persistent ? fm->calls < fm->fail_at : fm->calls != fm->fail_at))
    return false;
  fm->failed++;
  return true;
}

static void *fm_alloc(void *user, size_t size)
{
  faultmem *fm = user;
  test_must(size > 0);
  if (refuse(fm))
    return NULL;
  header *h = malloc(sizeof *h + size);
  test_must(h != NULL);
  h->size = size;
  memset(h + 1, 0xA5, size);
  fm->live_bytes += size;
  fm->live_blocks++;
  if (fm->live_bytes > fm->peak_bytes)
    fm->peak_bytes = fm->live_bytes;
  return h + 1;
}

static void fm_release(void *user, void *p, size_t size)
{
  faultmem *fm = user;
  test_must(p != NULL);
  header *h = (header *)p - 1;
  test_must(h->size == size);
  fm->live_bytes -= size;
  fm->live_blocks--;
  memset(p, 0x5A, size);
  free(h);
}

/* Always moves, so that a pointer kept across a resize shows. */
static void *fm_resize(void *user, void *p, size_t old_size, size_t new_size)
{
  void *q = fm_alloc(user, new_size);
  if (q == NULL)
    return NULL;
  memcpy(q, p, old_size < new_size ? old_size : new_size);
  fm_release(user, p, old_size);
  return q;
}

twpa_allocator faultmem_init(faultmem *fm, size_t fail_at, bool persistent)
{
  memset(fm, 0, sizeof *fm);
  fm->fail_at = fail_at;
  fm->persistent = persistent;
  return (twpa_allocator){fm, fm_alloc, fm_resize, fm_release};
}

void faultmem_check_empty(const faultmem *fm)
{
  ck_assert_uint_eq(fm->live_blocks, 0);
  ck_assert_uint_eq(fm->live_bytes, 0);
}
