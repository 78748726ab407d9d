/*
 * Large blocks straight from the system, in huge pages where there are any.
 *
 * A table that is met at random costs a walk through the page tables for each access once it is larger than what the
 * processor keeps of them, a few megabytes in small pages: as much as the cache line itself. Linux gives huge pages to
 * whoever asks (madvise), but only whole and aligned ones, which malloc does not aim at. So blocks from
 * TWPA__PAGES_MIN on are mapped here, aligned to a huge page. They come zeroed, and cost memory only where they are
 * written, up to the size that was asked for, rounded up to TWPA__PAGES_UNIT: what is left over at the end of the last
 * huge page is not mapped.
 *
 * That the system has no huge pages, or none to spare, changes speed and nothing else. Where this is not Linux, and
 * under a sanitizer, which sees overruns only in malloc's blocks, everything is left to malloc.
 */
#ifndef TWPA_BASE_PAGES_H
#define TWPA_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#define TWPA__PAGES_MIN ((size_t)2 << 20)
#define TWPA__PAGES_UNIT ((size_t)64 << 10) /* a multiple of the page size of all that there is */

/* Are blocks of this size to be mapped? The same for taking and giving back. */
bool twpa__pages_are_for(size_t size);
/* A zeroed block of such a size, or NULL. */
void *twpa__pages_map(size_t size);
/* Gives it back; the size is that of twpa__pages_map. */
void twpa__pages_unmap(void *block, size_t size);

#endif
