/*
 * Pairing heap. A heap is a tree in which no element goes before its parent; joining two trees makes the root that goes
 * later the first child of the other. Taking the root out leaves a row of trees, joined in two passes: neighbours in
 * pairs from the left, then the pairs from the right. Both passes are loops: a row may be as long as the heap.
 */
#include "base/heap.h"

#include "base/assert.h"

/* Joins two roots; of equal ones a stays on top. */
static twpa__heap_node *join(const twpa__heap *heap, twpa__heap_node *a, twpa__heap_node *b)
{
  if (heap->before(b, a, heap->arg)) {
    twpa__heap_node *swap = a;
    a = b;
    b = swap;
  }
  b->prev = a;
  b->next = a->child;
  if (b->next != NULL)
    b->next->prev = b;
  a->child = b;
  return a;
}

/* Joins a row of siblings into one tree; NULL for an empty row. */
static twpa__heap_node *join_row(const twpa__heap *heap, twpa__heap_node *row)
{
  twpa__heap_node *pairs = NULL; /* the rightmost pair first */
  while (row != NULL) {
    twpa__heap_node *tree = row;
    twpa__heap_node *other = tree->next;
    row = other != NULL ? other->next : NULL;
    if (other != NULL)
      tree = join(heap, tree, other);
    tree->next = pairs;
    pairs = tree;
  }
  if (pairs == NULL)
    return NULL;
  twpa__heap_node *root = pairs;
  pairs = pairs->next;
  while (pairs != NULL) {
    twpa__heap_node *tree = pairs;
    pairs = pairs->next;
    root = join(heap, tree, root);
  }
  root->prev = root->next = NULL;
  return root;
}

void twpa__heap_init(twpa__heap *heap, twpa__heap_before before, void *arg)
{
  *heap = (twpa__heap){.root = NULL, .before = before, .arg = arg, .count = 0};
}

void twpa__heap_push(twpa__heap *heap, twpa__heap_node *node)
{
  node->child = node->next = node->prev = NULL;
  if (heap->root == NULL) {
    heap->root = node;
  } else {
    heap->root = join(heap, heap->root, node);
    heap->root->prev = heap->root->next = NULL;
  }
  heap->count++;
}

twpa__heap_node *twpa__heap_first(const twpa__heap *heap)
{
  return heap->root;
}

twpa__heap_node *twpa__heap_pop(twpa__heap *heap)
{
  twpa__heap_node *node = heap->root;
  if (node != NULL)
    twpa__heap_remove(heap, node);
  return node;
}

void twpa__heap_remove(twpa__heap *heap, twpa__heap_node *node)
{
  TWPA__ASSERT(heap->count > 0);
  twpa__heap_node *rest = join_row(heap, node->child);
  if (node == heap->root) {
    heap->root = rest;
  } else {
    TWPA__ASSERT(node->prev != NULL);
    if (node->prev->child == node)
      node->prev->child = node->next;
    else
      node->prev->next = node->next;
    if (node->next != NULL)
      node->next->prev = node->prev;
    if (rest != NULL) {
      heap->root = join(heap, heap->root, rest);
      heap->root->prev = heap->root->next = NULL;
    }
  }
  node->child = node->next = node->prev = NULL;
  heap->count--;
}

/* More children of the first element than this are not looked at one by one: there may be as many as elements. */
#define FEW_CHILDREN 4

/* True if that is easily seen. */
static bool still_first(const twpa__heap *heap, const twpa__heap_node *node)
{
  if (node != heap->root)
    return false;
  const twpa__heap_node *child = node->child;
  for (int i = 0; child != NULL && i < FEW_CHILDREN; i++, child = child->next)
    if (heap->before(child, node, heap->arg))
      return false;
  return child == NULL;
}

void twpa__heap_update(twpa__heap *heap, twpa__heap_node *node)
{
  if (still_first(heap, node))
    return;
  twpa__heap_remove(heap, node);
  twpa__heap_push(heap, node);
}
