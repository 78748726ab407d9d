/* The tiny target of the oracle. */
#include "store.h"

#include <string.h>
#include <twpa/relation.h>

int store_key(const unique *u, tuple t)
{
  int key = 0;
  if (u->partial && col(t, 3) == 0)
    return -1;
  for (unsigned i = 0; i < u->n; i++) {
    unsigned v = col(t, u->cols[i]);
    if (v == NUL && !u->nulls_are_values)
      return -1;
    if (u->expression && v != NUL)
      v = v == 0;
    key = key * 4 + (int)v;
  }
  return key;
}

int store_reference(const schema *sc, const foreign *fk, tuple t)
{
  int key = 0;
  (void)sc;
  for (unsigned i = 0; i < fk->n; i++) {
    if (col(t, fk->cols[i]) == NUL)
      return -1;
    key = key * 4 + (int)col(t, fk->cols[i]);
  }
  return key;
}

static bool half_null(const foreign *fk, tuple t)
{
  return fk->n == 2 && (col(t, fk->cols[0]) == NUL) != (col(t, fk->cols[1]) == NUL);
}

/* Changes the row at i, or adds (i = count), and keeps the order. */
static void put(state *st, int t, int i, tuple row)
{
  tuple *rows = st->rows[t];
  if (i == st->count[t])
    st->count[t]++;
  rows[i] = row;
  for (; i > 0 && rows[i - 1] > rows[i]; i--) {
    tuple swap = rows[i - 1];
    rows[i - 1] = rows[i];
    rows[i] = swap;
  }
  for (; i + 1 < st->count[t] && rows[i] > rows[i + 1]; i++) {
    tuple swap = rows[i + 1];
    rows[i + 1] = rows[i];
    rows[i] = swap;
  }
}

static void take_out(state *st, int t, int i)
{
  tuple *rows = st->rows[t];
  st->count[t]--;
  for (; i < st->count[t]; i++)
    rows[i] = rows[i + 1];
  rows[st->count[t]] = 0;
}

static bool unique_holds(const unique *u, const state *st, int t)
{
  uint32_t seen = 0;
  for (int i = 0; i < st->count[t]; i++) {
    int key = store_key(u, st->rows[t][i]);
    if (key < 0)
      continue;
    if ((seen & UINT32_C(1) << key) != 0)
      return false;
    seen |= UINT32_C(1) << key;
  }
  return true;
}

static bool uniques_hold(const schema *sc, const state *st, bool deferred)
{
  for (int t = 0; t < sc->ntables; t++)
    for (int x = 0; x < INDEXES; x++) {
      const unique *u = &sc->indexes[t][x];
      if (u->n > 0 && u->deferred == deferred && !unique_holds(u, st, t))
        return false;
    }
  return true;
}

static bool applies(const foreign *fk, bool at_source)
{
  return fk->there && (at_source ? fk->source : fk->target);
}

static bool fks_hold(const schema *sc, const state *st, bool at_source)
{
  for (int f = 0; f < FKS; f++) {
    const foreign *fk = &sc->fks[f];
    uint32_t parents = 0;
    if (!applies(fk, at_source))
      continue;
    for (int i = 0; i < st->count[fk->parent]; i++) {
      int key = store_key(&sc->indexes[fk->parent][fk->index], st->rows[fk->parent][i]);
      parents |= key >= 0 ? UINT32_C(1) << key : 0;
    }
    for (int i = 0; i < st->count[fk->child]; i++) {
      tuple row = st->rows[fk->child][i];
      int key = store_reference(sc, fk, row);
      if ((key >= 0 && (parents & UINT32_C(1) << key) == 0) || (fk->match_full && half_null(fk, row)))
        return false;
    }
  }
  return true;
}

bool store_valid(const schema *sc, const state *st, bool at_source)
{
  return uniques_hold(sc, st, false) && uniques_hold(sc, st, true) && fks_hold(sc, st, at_source);
}

int store_commit(const schema *sc, const state *st)
{
  return uniques_hold(sc, st, true) ? DONE : DEFERRED_ERROR;
}

unsigned store_identity(const schema *sc, int table)
{
  const unique *u = &sc->indexes[table][sc->identity[table] == TWPA_IDENTITY_INDEX];
  return u->n == 0 ? 0 : u->n == 1 ? 1u << u->cols[0] : 1u << u->cols[0] | 1u << u->cols[1];
}

int store_find(const schema *sc, const state *st, const statement *s, bool at_source)
{
  unsigned cols = at_source ? 0 : store_identity(sc, s->table);
  tuple mask = 0;
  for (unsigned c = 0; c < COLS; c++)
    mask = (tuple)(mask | ((cols & 1u << c) != 0 || cols == 0 ? 3u << (2 * c) : 0));
  for (int i = 0; i < st->count[s->table]; i++)
    if (((st->rows[s->table][i] ^ s->old) & mask) == 0)
      return i;
  return -1;
}

unsigned store_truncates(const schema *sc, int table)
{
  unsigned all = 1u << table, before = 0;
  while (all != before) {
    before = all;
    for (int f = 0; f < FKS; f++)
      if (sc->fks[f].there && (all & 1u << sc->fks[f].parent) != 0)
        all |= 1u << sc->fks[f].child;
  }
  return all;
}

static bool acts(const foreign *fk)
{
  return fk->there && fk->target && (fk->on_delete | fk->on_update) != NO_ACTION;
}

unsigned store_affects(const schema *sc, int table)
{
  unsigned all = 0, before = 1;
  for (int f = 0; f < FKS; f++)
    if (acts(&sc->fks[f]) && !sc->fks[f].source && sc->fks[f].parent == table)
      all |= 1u << sc->fks[f].child;
  while (all != before) {
    before = all;
    for (int f = 0; f < FKS; f++)
      if (acts(&sc->fks[f]) && (all & 1u << sc->fks[f].parent) != 0)
        all |= 1u << sc->fks[f].child;
  }
  return table == 0 && sc->trigger >= 0 ? all | 1u << sc->trigger : all;
}

static void tell(echoes *echo, statement s)
{
  if (echo == NULL)
    return;
  if (echo->n < 8)
    echo->st[echo->n] = s;
  echo->n++;
}

/* What foreign keys do after a row became another one, or went (to == NULL); and what follows from that. */
static void act(const schema *sc, state *st, int table, tuple from, const tuple *to, bool at_source, echoes *echo)
{
  for (int f = 0; f < FKS; f++) {
    const foreign *fk = &sc->fks[f];
    int action = to == NULL ? fk->on_delete : fk->on_update;
    if (!applies(fk, at_source) || fk->parent != table || action == NO_ACTION)
      continue;
    const unique *u = &sc->indexes[table][fk->index];
    int lost = store_key(u, from);
    if (lost < 0 || (to != NULL && store_key(u, *to) == lost))
      continue;
    for (int i = 0; i < st->count[fk->child]; i++) {
      tuple was = st->rows[fk->child][i], now = was;
      if (store_reference(sc, fk, was) != lost)
        continue;
      for (unsigned k = 0; k < fk->n && (to != NULL || action == SET_NULL); k++)
        now = with(now, fk->cols[k], action == SET_NULL ? NUL : col(*to, u->cols[k]));
      take_out(st, fk->child, i);
      if (now != was)
        put(st, fk->child, st->count[fk->child], now);
      tell(echo, (statement){now != was ? ST_UPDATE : ST_DELETE, fk->child, was, now, 0});
      act(sc, st, fk->child, was, now != was ? &now : NULL, at_source, echo); /* a table that refers to itself */
      i = -1;
    }
  }
}

static void fire(const schema *sc, state *st, const statement *s)
{
  for (int i = 0; i < st->count[sc->trigger]; i++) {
    tuple was = st->rows[sc->trigger][i];
    tuple now = with(was, 3, s->op == ST_DELETE ? 0 : col(s->new, 1) & 1);
    if (now != was) {
      put(st, sc->trigger, i, now);
      i = -1;
    }
  }
}

static int truncate_tables(const schema *sc, state *st, int table, bool at_source)
{
  unsigned which = store_truncates(sc, table);
  for (int t = 0; t < TABLES; t++)
    if ((which & 1u << t) != 0) {
      memset(st->rows[t], 0, sizeof st->rows[t]);
      st->count[t] = 0;
    }
  return fks_hold(sc, st, at_source) ? DONE : FK_ERROR;
}

int store_run(const schema *sc, state *st, const statement *s, bool at_source, echoes *echo)
{
  int t = s->table;
  if (s->op == ST_TRUNCATE)
    return truncate_tables(sc, st, t, at_source);
  if (s->op == ST_INSERT) {
    if (st->count[t] == ROWS)
      return UNIQUE_ERROR;
    put(st, t, st->count[t], s->new);
  } else {
    int i = store_find(sc, st, s, at_source);
    if (i < 0)
      return MISSING;
    tuple was = st->rows[t][i], now = was;
    if (s->op == ST_UPDATE) {
      for (unsigned c = 0; c < COLS; c++)
        if ((s->same & 1u << c) == 0)
          now = with(now, c, col(s->new, c));
      put(st, t, i, now);
    } else {
      take_out(st, t, i);
    }
    if (!uniques_hold(sc, st, false))
      return UNIQUE_ERROR;
    act(sc, st, t, was, s->op == ST_UPDATE ? &now : NULL, at_source, echo);
  }
  if (t == 0 && sc->trigger >= 0 && !at_source)
    fire(sc, st, s);
  if (!uniques_hold(sc, st, false))
    return UNIQUE_ERROR;
  return fks_hold(sc, st, at_source) ? DONE : FK_ERROR;
}
