/* Chunks in a list, bytes handed out from the last one. The sizes of chunks, headers included, are powers of two. */
#include "base/arena.h"

#include "base/assert.h"

TWPA__STATIC_ASSERT(sizeof(twpa__chunk) % 8 == 0, "what follows the header of a chunk is 8-aligned");

static size_t round_up(size_t size)
{
  return (size + 7) & ~(size_t)7;
}

/* Doubles while small; then an eighth of what there is: what is not used yet must not weigh much. */
static size_t next_size(const twpa__arena *arena)
{
  if (arena->last == NULL)
    return TWPA__ARENA_CHUNK_MIN;
  size_t last = sizeof(twpa__chunk) + arena->last->cap;
  if (last < TWPA__ARENA_CHUNK_SMALL)
    return last * 2;
  size_t total = TWPA__ARENA_CHUNK_SMALL;
  while (total < TWPA__ARENA_CHUNK_MAX && total * 2 <= arena->bytes / 8)
    total *= 2;
  return total;
}

/* Appends a chunk that has room for `room` bytes. */
static twpa__chunk *add_chunk(twpa__arena *arena, size_t room)
{
  size_t total = next_size(arena);
  while (total < sizeof(twpa__chunk) + room && total < TWPA__ARENA_CHUNK_MAX)
    total *= 2;
  if (total < sizeof(twpa__chunk) + room || total > TWPA__ARENA_CHUNK_MAX)
    total = sizeof(twpa__chunk) + room;
  twpa__chunk *chunk = twpa__alloc(arena->mem, total);
  if (chunk == NULL)
    return NULL;
  chunk->next = NULL;
  chunk->prev = arena->last;
  chunk->cap = total - sizeof *chunk;
  chunk->used = 0;
  if (arena->last != NULL)
    arena->last->next = chunk;
  else
    arena->first = chunk;
  arena->last = chunk;
  arena->bytes += total;
  return chunk;
}

/* Gives back a chunk at either end of the list. */
static void remove_chunk(twpa__arena *arena, twpa__chunk *chunk)
{
  TWPA__ASSERT(chunk == arena->first || chunk == arena->last);
  if (chunk->prev != NULL)
    chunk->prev->next = chunk->next;
  else
    arena->first = chunk->next;
  if (chunk->next != NULL)
    chunk->next->prev = chunk->prev;
  else
    arena->last = chunk->prev;
  size_t total = sizeof *chunk + chunk->cap;
  arena->bytes -= total;
  arena->used -= chunk->used;
  twpa__release(arena->mem, chunk, total);
}

void twpa__arena_init(twpa__arena *arena, twpa__mem *mem)
{
  *arena = (twpa__arena){.mem = mem, .first = NULL, .last = NULL, .bytes = 0, .used = 0};
}

void *twpa__arena_alloc(twpa__arena *arena, size_t size)
{
  if (size > SIZE_MAX - sizeof(twpa__chunk) - 7)
    return NULL;
  size_t room = round_up(size);
  twpa__chunk *chunk = arena->last;
  if (chunk == NULL || chunk->cap - chunk->used < room)
    chunk = add_chunk(arena, room);
  if (chunk == NULL)
    return NULL;
  void *p = twpa__chunk_data(chunk) + chunk->used;
  chunk->used += room;
  arena->used += room;
  return p;
}

void twpa__arena_undo(twpa__arena *arena, void *p, size_t size)
{
  twpa__chunk *chunk = arena->last;
  size_t room = round_up(size);
  TWPA__ASSERT(chunk != NULL && chunk->used >= room);
  TWPA__ASSERT(twpa__chunk_data(chunk) + chunk->used == (unsigned char *)p + room);
  (void)p;
  chunk->used -= room;
  arena->used -= room;
  if (chunk->used == 0)
    remove_chunk(arena, chunk);
}

void twpa__arena_clear(twpa__arena *arena)
{
  while (arena->first != NULL)
    remove_chunk(arena, arena->first);
}

void twpa__arena_drop_before(twpa__arena *arena, const twpa__chunk *keep)
{
  while (arena->first != keep) {
    TWPA__ASSERT(arena->first != NULL);
    remove_chunk(arena, arena->first);
  }
}
