/*
 * Intrusive doubly linked list: the link lives in the element, the head is a link of its own, closed into a ring.
 * Nothing allocates, nothing fails. An element that is in no list has a NULL next.
 */
#ifndef TWPA_BASE_LIST_H
#define TWPA_BASE_LIST_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>

#define TWPA__CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

typedef struct twpa__link {
  struct twpa__link *prev, *next;
} twpa__link;

typedef twpa__link twpa__list; /* the head */

static inline void twpa__list_init(twpa__list *head)
{
  head->prev = head->next = head;
}

static inline bool twpa__list_empty(const twpa__list *head)
{
  return head->next == head;
}

static inline bool twpa__link_is_linked(const twpa__link *link)
{
  return link->next != NULL;
}

static inline void twpa__list_insert_before(twpa__link *pos, twpa__link *link)
{
  link->prev = pos->prev;
  link->next = pos;
  pos->prev->next = link;
  pos->prev = link;
}

static inline void twpa__list_push_back(twpa__list *head, twpa__link *link)
{
  twpa__list_insert_before(head, link);
}

static inline void twpa__list_push_front(twpa__list *head, twpa__link *link)
{
  twpa__list_insert_before(head->next, link);
}

static inline void twpa__list_remove(twpa__link *link)
{
  TWPA__ASSERT(twpa__link_is_linked(link));
  link->prev->next = link->next;
  link->next->prev = link->prev;
  link->prev = link->next = NULL;
}

/* First and last element's link, or NULL if the list is empty. */
static inline twpa__link *twpa__list_first(const twpa__list *head)
{
  return head->next != head ? head->next : NULL;
}

static inline twpa__link *twpa__list_last(const twpa__list *head)
{
  return head->prev != head ? head->prev : NULL;
}

/* The neighbour of an element, or NULL at the end. */
static inline twpa__link *twpa__list_next(const twpa__list *head, const twpa__link *link)
{
  return link->next != head ? link->next : NULL;
}

/* Walks with the current element's link in `it`; the current element may be removed; `tmp` is another link pointer. */
#define TWPA__LIST_FOREACH(head, it, tmp) \
  for ((it) = (head)->next; (it) != (head) && ((tmp) = (it)->next, true); (it) = (tmp))

#endif
