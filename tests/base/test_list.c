/* Intrusive list: examples, and random calls against an array. */
#include "base/list.h"
#include "support/runner.h"

#include <string.h>

typedef struct item {
  int id;
  twpa__link link;
} item;

static int id_of(twpa__link *link)
{
  return link != NULL ? TWPA__CONTAINER_OF(link, item, link)->id : -1;
}

START_TEST(an_empty_list)
{
  twpa__list head;
  twpa__list_init(&head);
  ck_assert(twpa__list_empty(&head));
  ck_assert_ptr_null(twpa__list_first(&head));
  ck_assert_ptr_null(twpa__list_last(&head));
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&head, it, tmp)
    ck_abort_msg("nothing to walk over");
}
END_TEST

START_TEST(order_and_neighbours)
{
  twpa__list head;
  twpa__list_init(&head);
  item a = {1, {NULL, NULL}}, b = {2, {NULL, NULL}}, c = {3, {NULL, NULL}};
  ck_assert(!twpa__link_is_linked(&a.link));
  twpa__list_push_back(&head, &b.link);
  twpa__list_push_front(&head, &a.link);
  twpa__list_push_back(&head, &c.link);
  ck_assert(twpa__link_is_linked(&a.link));
  ck_assert_int_eq(id_of(twpa__list_first(&head)), 1);
  ck_assert_int_eq(id_of(twpa__list_next(&head, &a.link)), 2);
  ck_assert_int_eq(id_of(twpa__list_last(&head)), 3);
  ck_assert_ptr_null(twpa__list_next(&head, &c.link));
  twpa__list_remove(&b.link);
  ck_assert(!twpa__link_is_linked(&b.link));
  ck_assert_int_eq(id_of(twpa__list_next(&head, &a.link)), 3);
  twpa__list_insert_before(&a.link, &b.link);
  ck_assert_int_eq(id_of(twpa__list_first(&head)), 2);
}
END_TEST

START_TEST(the_current_element_may_be_removed)
{
  twpa__list head;
  twpa__list_init(&head);
  item items[5] = {{0}};
  for (int i = 0; i < 5; i++) {
    items[i].id = i;
    twpa__list_push_back(&head, &items[i].link);
  }
  int seen = 0;
  twpa__link *it, *tmp;
  TWPA__LIST_FOREACH(&head, it, tmp) {
    ck_assert_int_eq(id_of(it), seen);
    seen++;
    if (id_of(it) != 2)
      twpa__list_remove(it);
  }
  ck_assert_int_eq(seen, 5);
  ck_assert_int_eq(id_of(twpa__list_first(&head)), 2);
  ck_assert_int_eq(id_of(twpa__list_last(&head)), 2);
}
END_TEST

#define ITEMS 24

/* The model is the row of ids. */
START_TEST(like_an_array)
{
  rng r = {test_seed(1)};
  twpa__list head;
  twpa__list_init(&head);
  item items[ITEMS] = {{0}};
  int row[ITEMS];
  size_t n = 0;
  for (int i = 0; i < ITEMS; i++)
    items[i].id = i;
  for (int step = 0; step < 20000; step++) {
    int id = (int)rng_below(&r, ITEMS);
    twpa__link *link = &items[id].link;
    size_t at = 0;
    while (at < n && row[at] != id)
      at++;
    test_must(twpa__link_is_linked(link) == (at < n));
    if (at < n) {
      twpa__list_remove(link);
      memmove(row + at, row + at + 1, (n - at - 1) * sizeof *row);
      n--;
    } else {
      size_t to = rng_below(&r, 3);
      if (to == 0 || n == 0) {
        twpa__list_push_back(&head, link);
        to = n;
      } else if (to == 1) {
        twpa__list_push_front(&head, link);
        to = 0;
      } else {
        to = rng_below(&r, n);
        twpa__list_insert_before(&items[row[to]].link, link);
      }
      memmove(row + to + 1, row + to, (n - to) * sizeof *row);
      row[to] = id;
      n++;
    }
    size_t i = 0;
    twpa__link *it, *tmp;
    TWPA__LIST_FOREACH(&head, it, tmp) {
      test_must(i < n);
      test_must(id_of(it) == row[i]);
      test_must(it->next->prev == it);
      i++;
    }
    test_must(i == n);
    test_must(twpa__list_empty(&head) == (n == 0));
    test_must(id_of(twpa__list_last(&head)) == (n > 0 ? row[n - 1] : -1));
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("list");
  TCase *t = tcase_create("list");
  tcase_add_test(t, an_empty_list);
  tcase_add_test(t, order_and_neighbours);
  tcase_add_test(t, the_current_element_may_be_removed);
  tcase_add_test(t, like_an_array);
  suite_add_tcase(s, t);
  return run_suite(s);
}
