/*
 * Intrusive pairing heap: the element that goes before all others comes out first. Push O(1), pop and remove
 * O(log n) amortised; no allocation, no recursion. Which of two equal elements comes first depends only on the calls
 * made, but give the comparator a tie-breaker where the order matters.
 */
#ifndef TWPA_BASE_HEAP_H
#define TWPA_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct twpa__heap_node {
  struct twpa__heap_node *child; /* first child */
  struct twpa__heap_node *next;  /* next sibling */
  struct twpa__heap_node *prev;  /* previous sibling, or the parent of a first child */
} twpa__heap_node;

/* True if a goes before b. */
typedef bool (*twpa__heap_before)(const twpa__heap_node *a, const twpa__heap_node *b, void *arg);

typedef struct twpa__heap {
  twpa__heap_node *root;
  twpa__heap_before before;
  void *arg; /* handed to the comparator */
  size_t count;
} twpa__heap;

void twpa__heap_init(twpa__heap *heap, twpa__heap_before before, void *arg);
void twpa__heap_push(twpa__heap *heap, twpa__heap_node *node);
/* The first element, or NULL. */
twpa__heap_node *twpa__heap_first(const twpa__heap *heap);
/* Takes the first element out; NULL if there is none. */
twpa__heap_node *twpa__heap_pop(twpa__heap *heap);
/* Takes out any element of the heap. */
void twpa__heap_remove(twpa__heap *heap, twpa__heap_node *node);
/* Puts an element, whose key has changed in either direction, where it belongs. */
void twpa__heap_update(twpa__heap *heap, twpa__heap_node *node);

#endif
