/*
 * An append-only arena of chunks, for the changes of one transaction: bytes are handed out in order, 8-aligned, never
 * moved and never given back singly. Chunks start small (many transactions are tiny), double, and then grow with the
 * arena up to a limit, so that the part not used yet stays small; a larger request gets a chunk of its own.
 * arena->bytes is exactly what the allocator was asked for.
 *
 * Chunks can be walked in order, so that what is in an arena can be written out as it is.
 */
#ifndef TWPA_BASE_ARENA_H
#define TWPA_BASE_ARENA_H

#include "base/alloc.h"

#define TWPA__ARENA_CHUNK_MIN ((size_t)512)
#define TWPA__ARENA_CHUNK_SMALL ((size_t)4096)
#define TWPA__ARENA_CHUNK_MAX ((size_t)65536)

typedef struct twpa__chunk {
  _Alignas(8) struct twpa__chunk *next;
  struct twpa__chunk *prev;
  size_t cap;  /* payload bytes */
  size_t used; /* of those, handed out */
  /* payload follows */
} twpa__chunk;

typedef struct twpa__arena {
  twpa__mem *mem;
  twpa__chunk *first, *last;
  size_t bytes; /* taken from the allocator, headers included */
  size_t used;  /* handed out */
} twpa__arena;

static inline unsigned char *twpa__chunk_data(twpa__chunk *chunk)
{
  return (unsigned char *)(chunk + 1);
}

void twpa__arena_init(twpa__arena *arena, twpa__mem *mem);
/* size bytes (rounded up to 8), or NULL; the arena is then as it was. */
void *twpa__arena_alloc(twpa__arena *arena, size_t size);
/*
 * Takes back the newest allocation, `size` being what was asked for; for undoing a call that fails later. A chunk that
 * holds nothing any more is given back, so that the arena is as it was before. O(1).
 */
void twpa__arena_undo(twpa__arena *arena, void *p, size_t size);
/* Gives everything back to the allocator. */
void twpa__arena_clear(twpa__arena *arena);
/* Gives the chunks before `keep` back (keep is a chunk of the arena). */
void twpa__arena_drop_before(twpa__arena *arena, const twpa__chunk *keep);

#endif
