/*
 * An append-only arena of chunks, for the changes of one transaction: bytes are handed out in order, 8-aligned, never
 * moved and never given back singly. Chunks start small (many transactions are tiny), double, and then grow with the
 * arena up to a limit, so that the part not used yet stays small; a larger request gets a chunk of its own.
 * arena->bytes is exactly what its chunks weigh, headers included.
 *
 * Arenas that come and go all the time share a store of chunks: what one gives back the next one takes, still warm in
 * the caches, and the allocator is not asked. The store keeps a limited number of bytes.
 *
 * Chunks can be walked in order, so that what is in an arena can be written out as it is. Walking writes nothing.
 */
#ifndef TWPA_BASE_ARENA_H
#define TWPA_BASE_ARENA_H

#include "base/alloc.h"

#define TWPA__ARENA_CHUNK_MIN ((size_t)512)
#define TWPA__ARENA_CHUNK_SMALL ((size_t)2048)
#define TWPA__ARENA_CHUNK_MAX ((size_t)65536)
#define TWPA__ARENA_SIZES 8 /* powers of two from the smallest to the largest */

typedef struct twpa__chunk {
  _Alignas(8) struct twpa__chunk *next; /* in the store: the next one of the same size */
  struct twpa__chunk *prev;
  size_t cap;  /* payload bytes */
  size_t used; /* of those, handed out; not kept up to date in the last chunk: see twpa__arena_chunk_used */
  /* payload follows */
} twpa__chunk;

typedef struct twpa__chunks {
  twpa__mem *mem;
  twpa__chunk *spare[TWPA__ARENA_SIZES];
  size_t spare_bytes; /* of the spare chunks, headers included */
  size_t spare_limit;
} twpa__chunks;

typedef struct twpa__arena {
  unsigned char *at, *end; /* the free part of the last chunk */
  size_t bytes;            /* what the chunks weigh, headers included */
  twpa__chunk *first, *last;
  size_t filled; /* handed out of all chunks but the last */
  twpa__chunks *chunks;
} twpa__arena;

/* mem outlives the store, and the store its arenas. Takes nothing yet. */
void twpa__chunks_init(twpa__chunks *chunks, twpa__mem *mem);
/* Keeps at most so many bytes from now on; 0 gives everything back. */
void twpa__chunks_limit(twpa__chunks *chunks, size_t bytes);

void twpa__arena_init(twpa__arena *arena, twpa__chunks *chunks);
/* What twpa__arena_alloc does when the last chunk has no room. */
void *twpa__arena_alloc_slow(twpa__arena *arena, size_t size);
/*
 * Takes back the newest allocation, `size` being what was asked for; for undoing a call that fails later. A chunk that
 * holds nothing any more is given back, so that the arena is as it was before. O(1).
 */
void twpa__arena_undo(twpa__arena *arena, void *p, size_t size);
/* Gives all chunks back. */
void twpa__arena_clear(twpa__arena *arena);
/* Gives the chunks before `keep` back (keep is a chunk of the arena). */
void twpa__arena_drop_before(twpa__arena *arena, const twpa__chunk *keep);

static inline unsigned char *twpa__chunk_data(twpa__chunk *chunk)
{
  return (unsigned char *)(chunk + 1);
}

/* Bytes handed out of a chunk of the arena. */
static inline size_t twpa__arena_chunk_used(const twpa__arena *arena, const twpa__chunk *chunk)
{
  return chunk == arena->last ? (size_t)(arena->at - (const unsigned char *)(chunk + 1)) : chunk->used;
}

/* Bytes handed out of all of it. */
static inline size_t twpa__arena_used(const twpa__arena *arena)
{
  return arena->last != NULL ? arena->filled + twpa__arena_chunk_used(arena, arena->last) : 0;
}

/*
 * Has the lines fetched that the next allocation will be written to, if it is about `size` bytes: when it comes, after
 * those of many other arenas, the processor does not wait for memory.
 */
static inline void twpa__arena_warm(const twpa__arena *arena, size_t size)
{
  const size_t line = 64, most = 4;
  for (size_t i = 1; i <= most && i * line < size + line; i++)
    __builtin_prefetch((const void *)((uintptr_t)arena->at + i * line), 1);
}

/* Has the lines fetched that an allocation of a usual size is going to be written to. */
static inline void twpa__arena_prefetch(const twpa__arena *arena)
{
  for (size_t i = 0; i < 3; i++)
    __builtin_prefetch((const void *)((uintptr_t)arena->at + i * 64), 1);
}

/* Would an allocation of so many bytes come from the last chunk? Of an arena without chunks, none does. */
static inline bool twpa__arena_has_room(const twpa__arena *arena, size_t size)
{
  return size <= (size_t)(arena->end - arena->at);
}

/* size bytes (at least 1, rounded up to 8), or NULL; the arena is then as it was. */
static inline void *twpa__arena_alloc(twpa__arena *arena, size_t size)
{
  if (!twpa__arena_has_room(arena, size)) /* which is a multiple of 8 */
    return twpa__arena_alloc_slow(arena, size);
  void *p = arena->at;
  arena->at += (size + 7) & ~(size_t)7;
  return p;
}

#endif
