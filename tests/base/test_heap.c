/* Pairing heap: order, removal and key changes against a naive model; structure; extreme shapes. */
#include "base/heap.h"
#include "base/list.h"
#include "support/runner.h"

#include <stdlib.h>

typedef struct item {
  uint64_t key;
  uint64_t id; /* breaks ties */
  bool inside;
  twpa__heap_node node;
} item;

static item *item_of(const twpa__heap_node *node)
{
  return (item *)((uintptr_t)node - offsetof(item, node));
}

static bool goes_before(const twpa__heap_node *a, const twpa__heap_node *b, void *arg)
{
  if (arg != NULL)
    ++*(uint64_t *)arg;
  const item *x = item_of(a), *y = item_of(b);
  return x->key != y->key ? x->key < y->key : x->id < y->id;
}

/* Walks the tree without recursion; every link must agree with its counterpart and no child go before its parent. */
static void check_structure(const twpa__heap *heap)
{
  size_t seen = 0;
  const twpa__heap_node *n = heap->root;
  if (n != NULL) {
    test_must(n->prev == NULL);
    test_must(n->next == NULL);
  }
  while (n != NULL) {
    seen++;
    test_must(seen <= heap->count);
    if (n->child != NULL) {
      test_must(n->child->prev == n);
      for (const twpa__heap_node *c = n->child; c != NULL; c = c->next) {
        test_must(!heap->before(c, n, NULL));
        if (c->next != NULL)
          test_must(c->next->prev == c);
      }
      n = n->child;
      continue;
    }
    while (n != NULL && n->next == NULL) {
      while (n->prev != NULL && n->prev->child != n)
        n = n->prev;
      n = n->prev;
    }
    n = n != NULL ? n->next : NULL;
  }
  test_must(seen == heap->count);
}

START_TEST(an_empty_heap)
{
  twpa__heap heap;
  twpa__heap_init(&heap, goes_before, NULL);
  ck_assert_ptr_null(twpa__heap_first(&heap));
  ck_assert_ptr_null(twpa__heap_pop(&heap));
  ck_assert_uint_eq(heap.count, 0);
}
END_TEST

START_TEST(comes_out_in_order)
{
  twpa__heap heap;
  uint64_t compared = 0;
  twpa__heap_init(&heap, goes_before, &compared);
  const uint64_t keys[] = {5, 3, 9, 3, 1, 7, 0, 9, 2};
  enum { N = sizeof keys / sizeof *keys };
  item items[N];
  for (size_t i = 0; i < N; i++) {
    items[i] = (item){.key = keys[i], .id = i};
    twpa__heap_push(&heap, &items[i].node);
    check_structure(&heap);
  }
  ck_assert_uint_gt(compared, 0);
  const item *last = NULL;
  for (size_t i = 0; i < N; i++) {
    twpa__heap_node *first = twpa__heap_first(&heap);
    ck_assert_ptr_eq(twpa__heap_pop(&heap), first);
    check_structure(&heap);
    if (last != NULL)
      ck_assert(goes_before(&last->node, first, NULL));
    last = item_of(first);
  }
  ck_assert_ptr_null(twpa__heap_pop(&heap));
}
END_TEST

#define ITEMS 64

static item *model_first(item *items)
{
  item *best = NULL;
  for (size_t i = 0; i < ITEMS; i++)
    if (items[i].inside && (best == NULL || goes_before(&items[i].node, &best->node, NULL)))
      best = &items[i];
  return best;
}

START_TEST(like_a_search_for_the_smallest)
{
  rng r = {test_seed(2)};
  static item items[ITEMS];
  twpa__heap heap;
  twpa__heap_init(&heap, goes_before, NULL);
  size_t inside = 0;
  for (size_t i = 0; i < ITEMS; i++)
    items[i].id = i;
  for (int step = 0; step < 100000; step++) {
    item *it = &items[rng_below(&r, ITEMS)];
    item *first = model_first(items);
    test_must(twpa__heap_first(&heap) == (first != NULL ? &first->node : NULL));
    switch (rng_below(&r, 5)) {
    case 0:
      test_must(twpa__heap_pop(&heap) == (first != NULL ? &first->node : NULL));
      if (first != NULL) {
        first->inside = false;
        inside--;
      }
      break;
    case 1:
      if (it->inside) {
        twpa__heap_remove(&heap, &it->node);
        it->inside = false;
        inside--;
      }
      break;
    case 2:
      if (it->inside) {
        it->key = rng_below(&r, 40);
        twpa__heap_update(&heap, &it->node);
      }
      break;
    default:
      if (!it->inside) {
        it->key = rng_below(&r, 40);
        it->inside = true;
        twpa__heap_push(&heap, &it->node);
        inside++;
      }
    }
    test_must(heap.count == inside);
    check_structure(&heap);
  }
}
END_TEST

/* A million children of one root, and a chain a million deep: neither may need the stack, nor quadratic time. */
START_TEST(extreme_shapes)
{
  enum { N = 1000000 };
  item *items = calloc(N, sizeof *items);
  test_must(items != NULL);
  for (int falling = 0; falling < 2; falling++) {
    uint64_t compared = 0;
    twpa__heap heap;
    twpa__heap_init(&heap, goes_before, &compared);
    for (size_t i = 0; i < N; i++) {
      items[i].key = falling ? N - i : i;
      items[i].id = i;
      twpa__heap_push(&heap, &items[i].node);
    }
    test_must(compared == N - 1);
    for (uint64_t i = 0; i < N; i++) {
      const twpa__heap_node *node = twpa__heap_pop(&heap);
      test_must(node != NULL);
      if (item_of(node)->key != i + (falling ? 1 : 0))
        ck_abort_msg("wrong order");
    }
    test_must(twpa__heap_first(&heap) == NULL);
    test_must(compared < (uint64_t)N * 40);
  }
  free(items);
}
END_TEST

/* Which of two equal elements comes first depends only on the calls: two heaps fed alike give alike. */
static bool by_key_only(const twpa__heap_node *a, const twpa__heap_node *b, void *arg)
{
  (void)arg;
  return item_of(a)->key < item_of(b)->key;
}

START_TEST(equal_elements_come_out_the_same_way_every_time)
{
  static item x[ITEMS], y[ITEMS];
  twpa__heap hx, hy;
  twpa__heap_init(&hx, by_key_only, NULL);
  twpa__heap_init(&hy, by_key_only, NULL);
  rng r = {test_seed(3)};
  for (size_t i = 0; i < ITEMS; i++) {
    x[i] = y[i] = (item){.key = rng_below(&r, 4), .id = i};
    twpa__heap_push(&hx, &x[i].node);
    twpa__heap_push(&hy, &y[i].node);
  }
  for (size_t i = 0; i < ITEMS; i++)
    ck_assert_uint_eq(item_of(twpa__heap_pop(&hx))->id, item_of(twpa__heap_pop(&hy))->id);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("heap");
  TCase *t = tcase_create("heap");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, an_empty_heap);
  tcase_add_test(t, comes_out_in_order);
  tcase_add_test(t, like_a_search_for_the_smallest);
  tcase_add_test(t, extreme_shapes);
  tcase_add_test(t, equal_elements_come_out_the_same_way_every_time);
  suite_add_tcase(s, t);
  return run_suite(s);
}
