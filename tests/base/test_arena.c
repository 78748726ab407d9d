/* Arena: alignment, order, chunk sizes, undoing, dropping; exact accounting; memory refused. */
#include "base/arena.h"
#include "support/faultmem.h"
#include "support/runner.h"

#include <string.h>

static faultmem fm;
static twpa__mem mem;
static twpa__chunks chunks;

static void setup(twpa__arena *arena)
{
  twpa_allocator hooks = faultmem_init(&fm, 0, false);
  ck_assert_int_eq(twpa__mem_init(&mem, &hooks), TWPA_OK);
  twpa__chunks_init(&chunks, &mem);
  twpa__arena_init(arena, &chunks);
}

static void finish(twpa__arena *arena)
{
  twpa__arena_clear(arena);
  ck_assert_ptr_null(arena->first);
  ck_assert_ptr_null(arena->last);
  ck_assert_uint_eq(twpa__arena_used(arena), 0);
  ck_assert_uint_eq(arena->bytes, 0);
  faultmem_check_empty(&fm);
}

static size_t count_chunks(twpa__arena *arena)
{
  size_t count = 0, bytes = 0, used = 0;
  const twpa__chunk *before = NULL;
  for (twpa__chunk *c = arena->first; c != NULL; c = c->next) {
    size_t in_it = twpa__arena_chunk_used(arena, c);
    test_must(c->prev == before);
    test_must(in_it > 0 && in_it <= c->cap);
    test_must((uintptr_t)twpa__chunk_data(c) % 8 == 0);
    bytes += sizeof *c + c->cap;
    used += in_it;
    before = c;
    count++;
  }
  test_must(arena->last == before);
  test_must(arena->bytes == bytes);
  test_must(twpa__arena_used(arena) == used);
  test_must(fm.live_bytes == bytes + chunks.spare_bytes);
  test_must(mem.live_bytes == bytes + chunks.spare_bytes);
  test_must(chunks.spare_bytes <= chunks.spare_limit);
  if (chunks.spare_bytes == 0)
    test_must(fm.live_blocks == count);
  return count;
}

START_TEST(nothing_is_taken_before_it_is_needed)
{
  twpa__arena arena;
  setup(&arena);
  ck_assert_uint_eq(count_chunks(&arena), 0);
  ck_assert_uint_eq(fm.calls, 0);
  ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 1));
  ck_assert_uint_eq(twpa__arena_used(&arena), 8);
  ck_assert_uint_eq(arena.bytes, TWPA__ARENA_CHUNK_MIN);
  finish(&arena);
}
END_TEST

START_TEST(chunks_grow_up_to_a_limit)
{
  twpa__arena arena;
  setup(&arena);
  for (int i = 0; i < 100000; i++) {
    ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 16));
    /* What is not used yet: an eighth at most, once the arena is not small any more. */
    if (arena.bytes > 16 * TWPA__ARENA_CHUNK_SMALL)
      ck_assert_uint_le((arena.bytes - twpa__arena_used(&arena)) * 100, arena.bytes * 13);
  }
  count_chunks(&arena);
  size_t last = 0;
  for (const twpa__chunk *c = arena.first; c != NULL; c = c->next) {
    size_t total = sizeof *c + c->cap;
    ck_assert_uint_eq(total & (total - 1), 0);
    ck_assert_uint_ge(total, last);
    ck_assert_uint_le(total, last == 0 ? TWPA__ARENA_CHUNK_MIN : last * 2);
    if (c->next != NULL)
      ck_assert_uint_lt(c->cap - c->used, 16);
    last = total;
  }
  ck_assert_uint_eq(last, TWPA__ARENA_CHUNK_MAX);
  finish(&arena);
}
END_TEST

START_TEST(a_large_request_gets_a_chunk_of_its_own)
{
  twpa__arena arena;
  setup(&arena);
  ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 8));
  const size_t large = 700001;
  unsigned char *p = twpa__arena_alloc(&arena, large);
  ck_assert_ptr_nonnull(p);
  memset(p, 1, large);
  ck_assert_uint_eq(arena.last->cap, 700008);
  ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 8));
  ck_assert_uint_eq(sizeof *arena.last + arena.last->cap, TWPA__ARENA_CHUNK_MAX);
  ck_assert_uint_eq(count_chunks(&arena), 3);
  /* The largest request of a chunk of the usual size, and one byte more. */
  const size_t most = TWPA__ARENA_CHUNK_MAX - sizeof(twpa__chunk);
  ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, most));
  ck_assert_uint_eq(arena.last->cap, most);
  ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, most + 1));
  ck_assert_uint_eq(arena.last->cap, most + 8);
  finish(&arena);
}
END_TEST

START_TEST(a_senseless_request_is_refused)
{
  twpa__arena arena;
  setup(&arena);
  for (size_t less = 0; less < 64; less++)
    if (SIZE_MAX - less > SIZE_MAX - sizeof(twpa__chunk) - 7)
      ck_assert_ptr_null(twpa__arena_alloc(&arena, SIZE_MAX - less));
  ck_assert_uint_eq(count_chunks(&arena), 0);
  ck_assert_uint_eq(fm.calls, 0);
  finish(&arena);
}
END_TEST

START_TEST(undoing_gives_the_chunk_back)
{
  twpa__arena arena;
  setup(&arena);
  for (int i = 0; i < 3; i++) {
    void *p = twpa__arena_alloc(&arena, 100);
    ck_assert_uint_eq(count_chunks(&arena), 1);
    twpa__arena_undo(&arena, p, 100);
    ck_assert_uint_eq(count_chunks(&arena), 0);
  }
  void *first = twpa__arena_alloc(&arena, 20);
  void *second = twpa__arena_alloc(&arena, 5000);
  ck_assert_uint_eq(count_chunks(&arena), 2);
  twpa__arena_undo(&arena, second, 5000);
  ck_assert_uint_eq(count_chunks(&arena), 1);
  twpa__arena_undo(&arena, first, 20);
  ck_assert_uint_eq(count_chunks(&arena), 0);
  finish(&arena);
}
END_TEST

START_TEST(chunks_come_back_from_the_store)
{
  twpa__arena arena;
  setup(&arena);
  twpa__chunks_limit(&chunks, 20000);
  for (int round = 0; round < 5; round++) {
    size_t calls = fm.calls;
    for (int i = 0; i < 90; i++)
      ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 104));
    count_chunks(&arena);
    size_t bytes = arena.bytes;
    ck_assert_uint_lt(bytes, 20000);
    if (round > 0)
      ck_assert_uint_eq(fm.calls, calls);
    twpa__arena_clear(&arena);
    ck_assert_uint_eq(chunks.spare_bytes, bytes);
    count_chunks(&arena);
  }
  /* Of what is beyond the limit, and of large requests, nothing is kept. */
  for (int i = 0; i < 10000; i++)
    ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 104));
  ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 1 << 20));
  twpa__arena_clear(&arena);
  count_chunks(&arena);
  ck_assert_uint_gt(chunks.spare_bytes, 20000 - TWPA__ARENA_CHUNK_SMALL);
  twpa__chunks_limit(&chunks, 3000);
  ck_assert_uint_le(chunks.spare_bytes, 3000);
  count_chunks(&arena);
  twpa__chunks_limit(&chunks, 0);
  ck_assert_uint_eq(chunks.spare_bytes, 0);
  finish(&arena);
}
END_TEST

#define PIECES 4000

static struct {
  unsigned char *p;
  size_t size, room;
} pieces[PIECES];

/* Pieces must lie in the chunks one after the other, without gaps and unharmed. */
static void check_pieces(twpa__arena *arena, size_t from, size_t n)
{
  count_chunks(arena);
  twpa__chunk *c = arena->first;
  size_t at = 0;
  for (size_t i = from; i < n; i++) {
    while (c != NULL && at == twpa__arena_chunk_used(arena, c)) {
      c = c->next;
      at = 0;
    }
    test_must(c != NULL);
    test_must(pieces[i].p == twpa__chunk_data(c) + at);
    at += pieces[i].room;
    for (size_t b = 0; b < pieces[i].size; b += 13)
      test_must(pieces[i].p[b] == (unsigned char)i);
  }
  test_must(c == NULL ? n == from : at == twpa__arena_chunk_used(arena, c) && c->next == NULL);
}

START_TEST(like_a_row_of_pieces)
{
  uint64_t seed = test_seed(10);
  for (unsigned refuse = 0; refuse <= 40; refuse += 40) {
    rng r = {seed + refuse};
    twpa__arena arena;
    setup(&arena);
    twpa__chunks_limit(&chunks, rng_below(&r, 2) * 100000);
    size_t from = 0, n = 0;
    for (int step = 0; step < 5000 && n < PIECES; step++) {
      unsigned what = (unsigned)rng_below(&r, 100);
      fm.calls = fm.failed = 0;
      fm.fail_at = rng_chance(&r, refuse) ? 1 : 0;
      if (what < 75) {
        size_t size = 1 + rng_below(&r, what < 70 ? 200 : what < 74 ? 9000 : 100000);
        size_t bytes = arena.bytes, used = twpa__arena_used(&arena);
        unsigned char *p = twpa__arena_alloc(&arena, size);
        if (fm.failed > 0) {
          test_must(p == NULL);
          test_must(arena.bytes == bytes);
          test_must(twpa__arena_used(&arena) == used);
          continue;
        }
        test_must(p != NULL);
        test_must((uintptr_t)p % 8 == 0);
        memset(p, (unsigned char)n, size);
        pieces[n].p = p;
        pieces[n].size = size;
        pieces[n++].room = (size + 7) / 8 * 8;
      } else if (what < 99 && n > from) {
        n--;
        twpa__arena_undo(&arena, pieces[n].p, pieces[n].size);
      } else if (arena.last != NULL) {
        twpa__arena_drop_before(&arena, arena.last);
        from = n;
        for (size_t room = 0; room < twpa__arena_chunk_used(&arena, arena.last); room += pieces[from].room)
          from--;
      }
      if (step % 50 == 0)
        check_pieces(&arena, from, n);
    }
    check_pieces(&arena, from, n);
    test_must(n > 1000);
    twpa__chunks_limit(&chunks, 0);
    finish(&arena);
  }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
  for (int persistent = 0; persistent < 2; persistent++)
    for (size_t n = 1;; n++) {
      twpa__arena arena;
      setup(&arena);
      fm.fail_at = n;
      fm.persistent = persistent;
      for (size_t i = 0; i < 300; i++) {
        if (twpa__arena_alloc(&arena, 1000) != NULL)
          continue;
        ck_assert_uint_eq(twpa__arena_used(&arena), i * 1000);
        count_chunks(&arena);
        fm.fail_at = 0;
        ck_assert_ptr_nonnull(twpa__arena_alloc(&arena, 1000));
      }
      ck_assert_uint_eq(twpa__arena_used(&arena), 300000);
      size_t failed = fm.failed;
      finish(&arena);
      if (failed == 0) {
        ck_assert_uint_gt(n, 8);
        break;
      }
    }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("arena");
  TCase *t = tcase_create("arena");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, nothing_is_taken_before_it_is_needed);
  tcase_add_test(t, chunks_grow_up_to_a_limit);
  tcase_add_test(t, a_large_request_gets_a_chunk_of_its_own);
  tcase_add_test(t, a_senseless_request_is_refused);
  tcase_add_test(t, undoing_gives_the_chunk_back);
  tcase_add_test(t, chunks_come_back_from_the_store);
  tcase_add_test(t, like_a_row_of_pieces);
  tcase_add_test(t, every_allocation_may_fail);
  suite_add_tcase(s, t);
  return run_suite(s);
}
