/* Large blocks straight from the system. See the header for the idea. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#endif

#include "base/pages.h"

#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(SANITIZED)

#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

bool twpa__pages_are_for(size_t size)
{
  return size >= TWPA__PAGES_MIN;
}

static size_t rounded(size_t size)
{
  return (size + TWPA__PAGES_UNIT - 1) & ~(TWPA__PAGES_UNIT - 1);
}

static unsigned char *map(size_t size)
{
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p != MAP_FAILED ? p : NULL;
}

/* Mapped with room on both sides, which goes back at once. Where there is no such room, alignment is left to chance. */
static unsigned char *map_aligned(size_t size)
{
  unsigned char *p = map(size + HUGE_PAGE);
  if (p == NULL)
    return map(size);
  size_t before = (HUGE_PAGE - (size_t)((uintptr_t)p % HUGE_PAGE)) % HUGE_PAGE;
  if (before > 0)
    (void)munmap(p, before);
  if (before < HUGE_PAGE)
    (void)munmap(p + before + size, HUGE_PAGE - before);
  return p + before;
}

void *twpa__pages_map(size_t size)
{
  if (size > SIZE_MAX / 2)
    return NULL;
  size = rounded(size);
  unsigned char *p = map_aligned(size);
#ifdef MADV_HUGEPAGE
  if (p != NULL)
    (void)madvise(p, size, MADV_HUGEPAGE); /* a wish */
#endif
  return p;
}

void twpa__pages_unmap(void *block, size_t size)
{
  (void)munmap(block, rounded(size));
}

#else

bool twpa__pages_are_for(size_t size)
{
  (void)size;
  return false;
}

void *twpa__pages_map(size_t size)
{
  (void)size;
  return NULL;
}

void twpa__pages_unmap(void *block, size_t size)
{
  (void)block;
  (void)size;
}

#endif
