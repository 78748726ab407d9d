/*
 * Chunks in a list, bytes handed out from the last one; chunks that are free in a stack for each size. The sizes of
 * chunks, headers included, are powers of two, but for those made for one large request, which are never kept.
 */
#include "base/arena.h"

#include "base/assert.h"

TWPA__STATIC_ASSERT(sizeof(twpa__chunk) % 8 == 0, "what follows the header of a chunk is 8-aligned");
TWPA__STATIC_ASSERT(TWPA__ARENA_CHUNK_MIN << (TWPA__ARENA_SIZES - 1) == TWPA__ARENA_CHUNK_MAX, "a stack for each size");

static size_t round_up(size_t size)
{
  return (size + 7) & ~(size_t)7;
}

/* --- the store --- */

static size_t total_of(const twpa__chunk *chunk)
{
  return sizeof *chunk + chunk->cap;
}

static twpa__chunk **stack_for(twpa__chunks *chunks, size_t total)
{
  size_t i = 0;
  while (TWPA__ARENA_CHUNK_MIN << i < total)
    i++;
  return &chunks->spare[i];
}

static twpa__chunk *pop(twpa__chunks *chunks, twpa__chunk **stack)
{
  twpa__chunk *chunk = *stack;
  if (chunk != NULL) {
    *stack = chunk->next;
    chunks->spare_bytes -= total_of(chunk);
  }
  return chunk;
}

static twpa__chunk *take(twpa__chunks *chunks, size_t total)
{
  twpa__chunk *chunk = total <= TWPA__ARENA_CHUNK_MAX ? pop(chunks, stack_for(chunks, total)) : NULL;
  if (chunk == NULL)
    chunk = twpa__alloc(chunks->mem, total);
  if (chunk != NULL)
    chunk->cap = total - sizeof *chunk;
  return chunk;
}

static void give_back(twpa__chunks *chunks, twpa__chunk *chunk)
{
  size_t total = total_of(chunk);
  if (total > TWPA__ARENA_CHUNK_MAX || total > chunks->spare_limit - chunks->spare_bytes) {
    twpa__release(chunks->mem, chunk, total);
    return;
  }
  twpa__chunk **stack = stack_for(chunks, total);
  chunk->next = *stack;
  *stack = chunk;
  chunks->spare_bytes += total;
}

void twpa__chunks_init(twpa__chunks *chunks, twpa__mem *mem)
{
  *chunks = (twpa__chunks){.mem = mem};
}

void twpa__chunks_limit(twpa__chunks *chunks, size_t bytes)
{
  for (size_t i = TWPA__ARENA_SIZES; i-- > 0;)
    while (chunks->spare_bytes > bytes && chunks->spare[i] != NULL) {
      twpa__chunk *chunk = pop(chunks, &chunks->spare[i]);
      twpa__release(chunks->mem, chunk, total_of(chunk));
    }
  chunks->spare_limit = bytes;
}

/* --- the arena --- */

/* Doubles the arena while it is small; then an eighth of what there is: what is not used yet must not weigh much. */
static size_t next_size(const twpa__arena *arena)
{
  size_t wanted = arena->bytes / 8;
  if (wanted < TWPA__ARENA_CHUNK_SMALL)
    wanted = arena->bytes < TWPA__ARENA_CHUNK_SMALL ? arena->bytes : TWPA__ARENA_CHUNK_SMALL;
  size_t total = TWPA__ARENA_CHUNK_MIN;
  while (total < TWPA__ARENA_CHUNK_MAX && total * 2 <= wanted)
    total *= 2;
  return total;
}

/* Appends a chunk that has room for `room` bytes. */
static bool add_chunk(twpa__arena *arena, size_t room)
{
  size_t total = next_size(arena);
  while (total < sizeof(twpa__chunk) + room && total < TWPA__ARENA_CHUNK_MAX)
    total *= 2;
  if (total < sizeof(twpa__chunk) + room)
    total = sizeof(twpa__chunk) + room;
  twpa__chunk *chunk = take(arena->chunks, total);
  if (chunk == NULL)
    return false;
  chunk->next = NULL;
  chunk->prev = arena->last;
  if (arena->last != NULL) {
    arena->last->used = twpa__arena_chunk_used(arena, arena->last);
    arena->filled += arena->last->used;
    arena->last->next = chunk;
  } else {
    arena->first = chunk;
  }
  arena->last = chunk;
  arena->bytes += total;
  arena->at = twpa__chunk_data(chunk);
  arena->end = arena->at + chunk->cap;
  return true;
}

/* Gives the last chunk back, which is empty. */
static void remove_last(twpa__arena *arena)
{
  twpa__chunk *chunk = arena->last;
  arena->last = chunk->prev;
  arena->at = arena->end = NULL;
  if (arena->last == NULL) {
    arena->first = NULL;
  } else {
    arena->last->next = NULL;
    arena->at = twpa__chunk_data(arena->last) + arena->last->used;
    arena->end = twpa__chunk_data(arena->last) + arena->last->cap;
    arena->filled -= arena->last->used;
  }
  arena->bytes -= total_of(chunk);
  give_back(arena->chunks, chunk);
}

void twpa__arena_init(twpa__arena *arena, twpa__chunks *chunks)
{
  *arena = (twpa__arena){.chunks = chunks};
}

void *twpa__arena_alloc_slow(twpa__arena *arena, size_t size)
{
  if (size > SIZE_MAX - sizeof(twpa__chunk) - 7 || !add_chunk(arena, round_up(size)))
    return NULL;
  void *p = arena->at;
  arena->at += round_up(size);
  return p;
}

void twpa__arena_undo(twpa__arena *arena, void *p, size_t size)
{
  TWPA__ASSERT(arena->last != NULL && arena->at == (unsigned char *)p + round_up(size));
  (void)size;
  arena->at = p;
  if (arena->at == twpa__chunk_data(arena->last))
    remove_last(arena);
}

void twpa__arena_clear(twpa__arena *arena)
{
  for (twpa__chunk *chunk = arena->first; chunk != NULL;) {
    twpa__chunk *next = chunk->next;
    give_back(arena->chunks, chunk);
    chunk = next;
  }
  twpa__arena_init(arena, arena->chunks);
}

void twpa__arena_drop_before(twpa__arena *arena, const twpa__chunk *keep)
{
  while (arena->first != keep) {
    twpa__chunk *chunk = arena->first;
    TWPA__ASSERT(chunk != NULL && chunk->next != NULL);
    arena->first = chunk->next;
    arena->first->prev = NULL;
    arena->filled -= chunk->used;
    arena->bytes -= total_of(chunk);
    give_back(arena->chunks, chunk);
  }
}
