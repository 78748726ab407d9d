/*
 * Makes a failing history small: what can be dropped (transactions, statements, rows, foreign keys, indexes, properties of
 * them) is dropped as long as the history stays valid and still fails.
 */
#include "history.h"

#include <stddef.h>

/* --- smaller -------------------------------------------------------------------------------------------------------- */

/* Takes a smaller history if it is valid and as wrong. */
static bool try(history *h, history *smaller, history_test wrong, void *arg)
{
  if (!history_expand(smaller) || !wrong(smaller, arg))
    return false;
  *h = *smaller;
  return true;
}

static void drop_transaction(history *x, int t)
{
  x->n--;
  x->skipped -= x->skipped > t;
  for (int k = t; k < x->n; k++) {
    memcpy(x->src[k], x->src[k + 1], sizeof x->src[k]);
    x->nsrc[k] = x->nsrc[k + 1];
    x->end_of[k] = x->end_of[k + 1];
    x->rolls_back[k] = x->rolls_back[k + 1];
  }
  for (int k = 0; k < x->n; k++)
    x->end_of[k] = (uint8_t)(x->end_of[k] - (x->end_of[k] > t + 1));
}

static bool drop_transactions(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (int t = h->n - 1; t >= 0; t--) {
    if (t >= h->n || t == h->skipped || h->end_of[t] != 0)
      continue; /* the end of a prepared one goes with its beginning */
    history x = *h;
    int end = history_end_of(&x, t);
    if (end >= 0)
      drop_transaction(&x, end);
    drop_transaction(&x, t);
    any = try(h, &x, wrong, arg) || any;
  }
  return any;
}

/* A prepared transaction becomes a plain one; one that is rolled back goes, see above. */
static bool drop_preparing(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (int t = h->n - 1; t >= 0; t--) {
    if (t >= h->n || h->end_of[t] == 0 || h->rolls_back[t])
      continue;
    history x = *h;
    drop_transaction(&x, t);
    any = try(h, &x, wrong, arg) || any;
  }
  return any;
}

static bool drop_statements(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (int t = 0; t < h->n; t++)
    for (int i = h->nsrc[t] - 1; i >= 0; i--) {
      history x = *h;
      x.nsrc[t]--;
      for (int k = i; k < x.nsrc[t]; k++)
        x.src[t][k] = x.src[t][k + 1];
      any = try(h, &x, wrong, arg) || any;
    }
  return any;
}

static bool drop_rows(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = h->start.count[t] - 1; i >= 0; i--) {
      history x = *h;
      x.start.count[t]--;
      for (int k = i; k < x.start.count[t]; k++)
        x.start.rows[t][k] = x.start.rows[t][k + 1];
      x.start.rows[t][x.start.count[t]] = 0;
      any = try(h, &x, wrong, arg) || any;
    }
  return any;
}

/* Sets a byte of the history to zero if it is not. */
static bool clear_byte(history *h, size_t offset, history_test wrong, void *arg)
{
  history x = *h;
  unsigned char *at = (unsigned char *)&x + offset;
  if (*at == 0)
    return false;
  *at = 0;
  return try(h, &x, wrong, arg);
}

static bool simplify_schema(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (size_t f = 0; f < FKS; f++) {
    const size_t base = offsetof(history, sc.fks) + f * sizeof(foreign);
    any = clear_byte(h, base + offsetof(foreign, there), wrong, arg) || any;
    any = clear_byte(h, base + offsetof(foreign, match_full), wrong, arg) || any;
    any = clear_byte(h, base + offsetof(foreign, on_delete), wrong, arg) || any;
    any = clear_byte(h, base + offsetof(foreign, on_update), wrong, arg) || any;
  }
  for (size_t x = 0; x < (size_t)TABLES * INDEXES; x++) {
    const size_t base = offsetof(history, sc.indexes) + x * sizeof(unique);
    bool referenced = false;
    for (int f = 0; f < FKS; f++)
      referenced = referenced || (h->sc.fks[f].there && h->sc.fks[f].parent * INDEXES + h->sc.fks[f].index == (int)x);
    if (x % INDEXES != 0 && !referenced && h->sc.identity[x / INDEXES] != TWPA_IDENTITY_INDEX)
      any = clear_byte(h, base + offsetof(unique, n), wrong, arg) || any;
    any = clear_byte(h, base + offsetof(unique, nulls_are_values), wrong, arg) || any;
    any = clear_byte(h, base + offsetof(unique, partial), wrong, arg) || any;
    any = clear_byte(h, base + offsetof(unique, deferred), wrong, arg) || any;
  }
  return any;
}

/* Values that do not matter become 0, unchanged columns are sent. */
static bool simplify_values(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (int t = 0; t < h->n; t++)
    for (int i = 0; i < h->nsrc[t]; i++) {
      any = clear_byte(h, (size_t)((unsigned char *)&h->src[t][i].same - (unsigned char *)h), wrong, arg) || any;
      for (unsigned c = 0; c < COLS; c++) {
        history x = *h;
        x.src[t][i].new = with(x.src[t][i].new, c, 0);
        if (col(h->src[t][i].new, c) != 0 && h->src[t][i].op != ST_DELETE)
          any = try(h, &x, wrong, arg) || any;
      }
    }
  return any;
}

void history_minimise(history *h, history_test wrong, void *arg)
{
  bool again = true;
  while (again) {
    again = drop_transactions(h, wrong, arg);
    again = drop_preparing(h, wrong, arg) || again;
    again = drop_statements(h, wrong, arg) || again;
    again = drop_rows(h, wrong, arg) || again;
    again = simplify_schema(h, wrong, arg) || again;
    again = simplify_values(h, wrong, arg) || again;
  }
}
