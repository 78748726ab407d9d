/*
 * Makes a failing history small and prints it: what can be dropped (transactions, statements, rows, foreign keys, indexes,
 * properties of them) is dropped as long as the history stays valid and still fails.
 */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>

/* --- printing ------------------------------------------------------------------------------------------------------- */

static void print_row(tuple t)
{
  static const char *const names[COLS] = {"a", "b", "c", "d"};
  for (unsigned c = 0; c < COLS; c++) {
    printf(" %s=", names[c]);
    if (col(t, c) == NUL)
      printf("null");
    else
      printf("%u", col(t, c));
  }
}

static void print_columns(const uint8_t *cols, unsigned n)
{
  printf("(");
  for (unsigned i = 0; i < n; i++)
    printf("%s%c", i > 0 ? "," : "", "abcd"[cols[i]]);
  printf(")");
}

static void print_table(const schema *sc, int t)
{
  static const char *const identities[] = {"default", "index", "full", "nothing"};
  printf("relation t%d columns a,b,c,d identity %s\n", t, identities[sc->identity[t]]);
  for (int x = 0; x < INDEXES; x++) {
    const unique *u = &sc->indexes[t][x];
    if (u->n == 0)
      continue;
    printf("  index %d %s", x + 1, x == 0 ? "primary" : "unique");
    print_columns(u->cols, u->n);
    printf("%s%s%s%s\n", u->nulls_are_values ? " nulls-not-distinct" : "",
           !u->partial           ? ""
           : u->predicate_known ? " where d<>0"
                                 : " where d<>0 (columns not told)",
           u->deferred ? " deferrable" : "", u->expression ? " over (value = 0)" : "");
  }
}

static void print_schema(const schema *sc)
{
  static const char *const actions[] = {"", "cascade", "set-null"};
  for (int t = 0; t < sc->ntables; t++)
    print_table(sc, t);
  for (int f = 0; f < FKS; f++) {
    const foreign *fk = &sc->fks[f];
    if (!fk->there)
      continue;
    printf("foreign key t%d", fk->child);
    print_columns(fk->cols, fk->n);
    printf(" -> t%d index %d%s%s%s %s%s %s\n", fk->parent, fk->index + 1, fk->target ? "" : " not-enforced",
           fk->source ? "" : " not-at-source", fk->match_full ? " match-full" : "",
           fk->on_delete != NO_ACTION ? "on-delete " : "", actions[fk->on_delete],
           fk->on_update == CASCADE ? "on-update cascade" : fk->on_update == SET_NULL ? "on-update set-null" : "");
  }
  if (sc->trigger >= 0)
    printf("trigger t0 writes t%d\n", sc->trigger);
}

static void print_statement(const statement *s)
{
  static const char *const ops[] = {"", "insert", "update", "delete", "truncate"};
  printf("  %s t%d", ops[s->op], s->table);
  if (s->op == ST_UPDATE || s->op == ST_DELETE)
    print_row(s->old);
  if (s->op == ST_UPDATE)
    printf(" to");
  if (s->op == ST_UPDATE || s->op == ST_INSERT)
    print_row(s->new);
  for (unsigned c = 0; c < COLS; c++)
    if ((s->same & 1u << c) != 0)
      printf(" unchanged:%c", "abcd"[c]);
  printf("\n");
}

void history_print(const history *h)
{
  print_schema(&h->sc);
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = 0; i < h->start.count[t]; i++) {
      printf("start t%d", t);
      print_row(h->start.rows[t][i]);
      printf("\n");
    }
  for (int t = 0; t < h->n; t++) {
    printf("txn %d%s\n", t + 1, t == h->skipped ? " skipped" : "");
    for (int i = 0; i < h->nsrc[t]; i++)
      print_statement(&h->src[t][i]);
  }
  fflush(stdout);
}

/* --- smaller -------------------------------------------------------------------------------------------------------- */

/* Takes a smaller history if it is valid and as wrong. */
static bool try(history *h, history *smaller, history_test wrong, void *arg)
{
  if (!history_expand(smaller) || !wrong(smaller, arg))
    return false;
  *h = *smaller;
  return true;
}

static bool drop_transactions(history *h, history_test wrong, void *arg)
{
  bool any = false;
  for (int t = h->n - 1; t >= 0; t--) {
    history x = *h;
    if (t == x.skipped)
      continue;
    x.n--;
    x.skipped -= x.skipped > t;
    for (int k = t; k < x.n; k++) {
      memcpy(x.src[k], x.src[k + 1], sizeof x.src[k]);
      x.nsrc[k] = x.nsrc[k + 1];
    }
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
    again = drop_statements(h, wrong, arg) || again;
    again = drop_rows(h, wrong, arg) || again;
    again = simplify_schema(h, wrong, arg) || again;
    again = simplify_values(h, wrong, arg) || again;
  }
}
