/* The tiny target of the oracle. */
#include "store.h"

#include <string.h>
#include <twpa/relation.h>

static bool same_tuple(const tuple *a, const tuple *b)
{
  return memcmp(a, b, sizeof *a) == 0;
}

static void sort(state *st, int t)
{
  for (int i = 1; i < st->count[t]; i++)
    for (int k = i; k > 0 && memcmp(&st->rows[t][k - 1], &st->rows[t][k], sizeof(tuple)) > 0; k--) {
      tuple swap = st->rows[t][k];
      st->rows[t][k] = st->rows[t][k - 1];
      st->rows[t][k - 1] = swap;
    }
}

static bool equal_under(const unique *u, const tuple *a, const tuple *b)
{
  if (u->partial && (a->c[3] == 0 || b->c[3] == 0))
    return false;
  if (u->nulls_distinct && (a->c[u->col] == NUL || (u->col2 >= 0 && a->c[u->col2] == NUL)))
    return false;
  return a->c[u->col] == b->c[u->col] && (u->col2 < 0 || a->c[u->col2] == b->c[u->col2]);
}

static bool uniques_hold(const schema *sc, const state *st, bool deferred)
{
  for (int t = 0; t < sc->ntables; t++)
    for (int i = 0; i < st->count[t]; i++)
      for (int k = i + 1; k < st->count[t]; k++) {
        const tuple *a = &st->rows[t][i], *b = &st->rows[t][k];
        if (!deferred && sc->primary[t] && a->c[0] == b->c[0])
          return false;
        for (int u = 0; u < 2; u++)
          if (sc->uniques[t][u].col >= 0 && sc->uniques[t][u].deferred == deferred && equal_under(&sc->uniques[t][u], a, b))
            return false;
      }
  return true;
}

static bool fks_hold(const schema *sc, const state *st)
{
  for (int f = 0; f < 2; f++) {
    const foreign *fk = &sc->fks[f];
    if (fk->child < 0 || !fk->enforced)
      continue;
    for (int i = 0; i < st->count[fk->child]; i++) {
      int8_t v = st->rows[fk->child][i].c[fk->child_col];
      bool found = v == NUL;
      for (int k = 0; k < st->count[fk->parent] && !found; k++)
        found = st->rows[fk->parent][k].c[fk->parent_col] == v;
      if (!found)
        return false;
    }
  }
  return true;
}

bool store_valid(const schema *sc, const state *st)
{
  return uniques_hold(sc, st, false) && uniques_hold(sc, st, true) && fks_hold(sc, st);
}

int store_commit(const schema *sc, const state *st)
{
  return uniques_hold(sc, st, true) ? DONE : UNIQUE_ERROR;
}

static int find(const schema *sc, const state *st, const statement *s, bool by_identity)
{
  for (int i = 0; i < st->count[s->table]; i++) {
    const tuple *row = &st->rows[s->table][i];
    int col = sc->identity[s->table] == TWPA_IDENTITY_INDEX ? sc->uniques[s->table][0].col
              : sc->primary[s->table]                       ? 0
                                                            : -1;
    if (by_identity && col >= 0 ? row->c[col] == s->old.c[col] : same_tuple(row, &s->old))
      return i;
  }
  return -1;
}

static void remove_row(state *st, int t, int i)
{
  st->count[t]--;
  st->rows[t][i] = st->rows[t][st->count[t]];
  memset(&st->rows[t][st->count[t]], 0, sizeof(tuple));
  sort(st, t);
}

/* Children of a value that is gone go too. One level: a child of a cascade is nobody's parent, but for itself. */
static void cascade(const schema *sc, state *st, int parent, const tuple *gone)
{
  for (int f = 0; f < 2; f++) {
    const foreign *fk = &sc->fks[f];
    if (fk->child < 0 || !fk->cascade || fk->parent != parent || gone->c[fk->parent_col] == NUL)
      continue;
    for (int i = 0; i < st->count[fk->child]; i++)
      if (st->rows[fk->child][i].c[fk->child_col] == gone->c[fk->parent_col]) {
        remove_row(st, fk->child, i);
        i = -1;
      }
  }
}

bool store_refers(const schema *sc, int child, int parent)
{
  for (int f = 0; f < 2; f++)
    if (sc->fks[f].child == child && sc->fks[f].parent == parent)
      return true;
  return false;
}

int store_run(const schema *sc, state *st, const statement *s, bool by_identity)
{
  int t = s->table;
  if (s->op == ST_TRUNCATE) {
    for (int k = 0; k < sc->ntables; k++)
      if (k == t || store_refers(sc, k, t)) { /* with CASCADE: a referenced table cannot be emptied alone */
        memset(st->rows[k], 0, sizeof st->rows[k]);
        st->count[k] = 0;
      }
    return fks_hold(sc, st) ? DONE : FK_ERROR;
  }
  if (s->op == ST_INSERT) {
    if (st->count[t] == ROWS)
      return UNIQUE_ERROR;
    st->rows[t][st->count[t]++] = s->new;
    sort(st, t);
  } else {
    int i = find(sc, st, s, by_identity);
    if (i < 0)
      return MISSING;
    tuple was = st->rows[t][i];
    if (s->op == ST_UPDATE) {
      for (int c = 0; c < COLS; c++)
        if ((s->same & 1u << c) == 0)
          st->rows[t][i].c[c] = s->new.c[c];
      sort(st, t);
    } else {
      remove_row(st, t, i);
      cascade(sc, st, t, &was);
    }
  }
  if (!uniques_hold(sc, st, false))
    return UNIQUE_ERROR;
  return fks_hold(sc, st) ? DONE : FK_ERROR;
}
