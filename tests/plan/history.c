/* Histories: made at random, and worked out. */
#include "locks.h"

#include <stdlib.h>

const char *const world_names[WORLDS] = {"alone", "keyless", "self", "family", "chain", "append", "degrading"};

/* --- schemas -------------------------------------------------------------------------------------------------------- */

static unique index_on(uint8_t c)
{
  return (unique){.n = 1, .cols = {c, 0}};
}

static unique random_unique(rng *r, uint8_t c)
{
  unique u = index_on(c);
  u.nulls_are_values = rng_chance(r, 25);
  u.partial = rng_chance(r, 25);
  u.predicate_known = rng_chance(r, 70);
  u.deferred = rng_chance(r, 15);
  if (rng_chance(r, 20)) {
    u.n = 2;
    u.cols[1] = c == 1 ? 2 : 1;
  }
  return u;
}

static void random_identities(rng *r, schema *sc)
{
  static const uint8_t identities[] = {TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_FULL};
  for (int t = 0; t < TABLES; t++) {
    sc->identity[t] = identities[rng_below(r, 3)];
    sc->indexes[t][0] = index_on(0);
  }
}

/* A foreign key of columns from 2 on (1 on, if two) to one of the parent's indexes. */
static foreign random_fk(rng *r, schema *sc, uint8_t child, uint8_t parent)
{
  foreign fk = {.there = true, .child = child, .parent = parent};
  fk.target = !rng_chance(r, 10);
  fk.source = rng_chance(r, fk.target ? 85 : 50);
  fk.index = (uint8_t)rng_below(r, 2);
  const unique *u = &sc->indexes[parent][fk.index];
  fk.n = u->n;
  for (uint8_t i = 0; i < fk.n; i++)
    fk.cols[i] = (uint8_t)(fk.n == 1 ? 2 : 1 + i);
  if (fk.n == 2 && rng_chance(r, 50)) { /* crosswise */
    fk.cols[0] = 2;
    fk.cols[1] = 1;
  }
  fk.match_full = rng_chance(r, 20);
  if (fk.target && rng_chance(r, 30)) {
    fk.on_delete = (uint8_t)(CASCADE + rng_below(r, 2));
    fk.on_update = rng_chance(r, 40) ? (uint8_t)(CASCADE + rng_below(r, 2)) : NO_ACTION;
  }
  return fk;
}

static void parent_indexes(rng *r, schema *sc, int t)
{
  sc->indexes[t][1] = index_on(1);
  if (rng_chance(r, 30))
    sc->indexes[t][1] = (unique){.n = 2, .cols = {1, 2}};
  sc->indexes[t][1].nulls_are_values = rng_chance(r, 15);
}

static void random_degrading(rng *r, schema *sc)
{
  sc->indexes[0][1] = index_on(1);
  sc->indexes[0][1].expression = rng_chance(r, 60);
  if (!sc->indexes[0][1].expression || rng_chance(r, 30)) {
    sc->ntables = 2;
    sc->trigger = 1;
  }
}

static void random_schema(rng *r, schema *sc, int world)
{
  memset(sc, 0, sizeof *sc);
  random_identities(r, sc);
  sc->ntables = 1;
  sc->trigger = -1;
  switch (world) {
  case WORLD_ALONE:
    sc->indexes[0][1] = random_unique(r, 1);
    if (rng_chance(r, 50))
      sc->indexes[0][2] = random_unique(r, 2);
    if (rng_chance(r, 25)) {
      sc->indexes[0][1] = index_on(1);
      sc->identity[0] = TWPA_IDENTITY_INDEX;
    } else if (rng_chance(r, 15)) {
      sc->indexes[0][0] = (unique){.n = 2, .cols = {0, 3}};
    }
    break;
  case WORLD_KEYLESS:
    sc->indexes[0][0].n = 0;
    sc->identity[0] = TWPA_IDENTITY_FULL;
    if (rng_chance(r, 50))
      sc->indexes[0][1] = random_unique(r, 1);
    break;
  case WORLD_SELF:
    sc->indexes[0][1] = index_on(1);
    sc->fks[0] = random_fk(r, sc, 0, 0);
    break;
  case WORLD_FAMILY:
    sc->ntables = 2;
    parent_indexes(r, sc, 0);
    sc->fks[0] = random_fk(r, sc, 1, 0);
    if (rng_chance(r, 40) && sc->fks[0].n == 1)
      sc->indexes[1][1] = random_unique(r, 1);
    break;
  case WORLD_CHAIN:
    sc->ntables = 3;
    parent_indexes(r, sc, 0);
    sc->indexes[1][1] = index_on(1);
    sc->fks[0] = random_fk(r, sc, 1, 0);
    sc->fks[1] = random_fk(r, sc, 2, (uint8_t)rng_below(r, 2));
    break;
  case WORLD_APPEND:
    sc->identity[0] = TWPA_IDENTITY_NOTHING;
    sc->indexes[0][0].n = (uint8_t)rng_chance(r, 50);
    if (rng_chance(r, 50))
      sc->indexes[0][1] = random_unique(r, 1);
    break;
  default:
    random_degrading(r, sc);
    break;
  }
}

/* --- statements ----------------------------------------------------------------------------------------------------- */

static tuple random_tuple(rng *r)
{
  unsigned a = rng_chance(r, 20) ? NUL : (unsigned)rng_below(r, 3), b = rng_chance(r, 25) ? NUL : (unsigned)rng_below(r, 3);
  unsigned k = (unsigned)rng_below(r, 3), d = (unsigned)rng_below(r, 2);
  return (tuple)(k | a << 2 | b << 4 | d << 6);
}

static void random_start(rng *r, history *h)
{
  int left = 5;
  for (unsigned tries = (unsigned)rng_below(r, 9); tries > 0 && left > 0; tries--) {
    state next = h->start;
    statement s = {.op = ST_INSERT, .table = (uint8_t)rng_below(r, h->sc.ntables)};
    s.new = random_tuple(r);
    if (store_run(&h->sc, &next, &s, true, NULL) == DONE && store_valid(&h->sc, &next, true)) {
      h->start = next;
      left--;
    }
  }
}

static bool identity_is_null(const schema *sc, int t, tuple x)
{
  return sc->identity[t] == TWPA_IDENTITY_INDEX && col(x, 1) == NUL;
}

static bool random_statement(rng *r, const history *h, const state *now, statement *s)
{
  unsigned what = (unsigned)rng_below(r, 100);
  memset(s, 0, sizeof *s);
  s->table = (uint8_t)rng_below(r, h->sc.ntables);
  s->op = what < 35 ? ST_INSERT : what < 58 ? ST_DELETE : what < 97 ? ST_UPDATE : ST_TRUNCATE;
  if (h->sc.identity[s->table] == TWPA_IDENTITY_NOTHING && s->op != ST_INSERT)
    s->op = what < 70 ? ST_INSERT : ST_TRUNCATE;
  s->new = random_tuple(r);
  if (s->op == ST_INSERT || s->op == ST_TRUNCATE)
    return true;
  if (now->count[s->table] == 0)
    return false;
  s->old = now->rows[s->table][rng_below(r, now->count[s->table])];
  if (s->op != ST_UPDATE)
    return true;
  for (unsigned c = 0; c < COLS; c++)
    if (rng_chance(r, c == 0 ? 70 : 50))
      s->new = with(s->new, c, col(s->old, c));
  for (unsigned c = 0; c < COLS; c++)
    if (col(s->new, c) == col(s->old, c) && rng_chance(r, 15))
      s->same |= (uint8_t)(1u << c);
  return true;
}

/* The source runs statements until they make a valid transaction at position t. */
static bool random_transaction(rng *r, history *h, int t, state *now, int statements)
{
  state next = *now;
  int want = 1 + (int)rng_below(r, (uint64_t)statements);
  for (int n = 0; n < want; n++) {
    statement s;
    if (!random_statement(r, h, &next, &s) || store_run(&h->sc, &next, &s, true, NULL) != DONE)
      return false;
    h->src[t][n] = s;
  }
  if (store_commit(&h->sc, &next) != DONE)
    return false;
  h->nsrc[t] = (uint8_t)want;
  *now = next;
  return true;
}

bool history_random(history *h, rng *r, int world, int transactions, int statements)
{
  memset(h, 0, sizeof *h);
  h->skipped = -1;
  random_schema(r, &h->sc, world);
  random_start(r, h);
  state now = h->start;
  int want = transactions <= 3 ? transactions : 3 + (int)rng_below(r, (uint64_t)transactions - 2);
  for (int tries = 0; tries < 60 && h->n < want; tries++)
    h->n += random_transaction(r, h, h->n, &now, statements);
  return h->n >= 2 && history_expand(h);
}

/* --- what follows --------------------------------------------------------------------------------------------------- */

/* What the stream says of a transaction. */
static bool expand_tx(history *h, int t, state *now)
{
  h->len[t] = 0;
  for (int i = 0; i < h->nsrc[t]; i++) {
    const statement *s = &h->src[t][i];
    echoes echo = {.n = 0};
    bool changes = s->op == ST_INSERT || s->op == ST_UPDATE;
    if ((s->op == ST_UPDATE || s->op == ST_DELETE) && identity_is_null(&h->sc, s->table, s->old))
      return false;
    if (changes && identity_is_null(&h->sc, s->table, s->new))
      return false;
    for (unsigned c = 0; c < COLS && s->op == ST_UPDATE; c++)
      if ((s->same & 1u << c) != 0 && col(s->new, c) != col(s->old, c))
        return false;
    if (store_run(&h->sc, now, s, true, &echo) != DONE)
      return false;
    if (h->len[t] + 1 + echo.n > STREAM_ST)
      return false;
    h->st[t][h->len[t]++] = *s;
    for (int e = 0; e < echo.n; e++)
      h->st[t][h->len[t]++] = echo.st[e];
  }
  return store_commit(&h->sc, now) == DONE;
}

/* A prepared transaction changes nothing until its end, which gives the same changes once more. */
static bool expand_prepared(history *h, int t, state *now)
{
  if (h->end_of[t] == 0) {
    state hidden = *now;
    return expand_tx(h, t, &hidden) && h->len[t] > 0;
  }
  int p = h->end_of[t] - 1;
  state unseen = *now;
  statement first[STREAM_ST];
  uint8_t len = h->len[p];
  memcpy(first, h->st[p], sizeof first);
  if (!h->rolls_back[t] && (!expand_tx(h, p, now) || h->len[p] != len || memcmp(first, h->st[p], len * sizeof *first) != 0))
    return false; /* something that it had locked was changed in between */
  if (h->rolls_back[t] && !expand_tx(h, p, &unseen))
    return false;
  memcpy(h->st[p], first, sizeof first);
  memcpy(h->st[t], first, sizeof first);
  h->len[p] = h->len[t] = len;
  return true;
}

int history_end_of(const history *h, int t)
{
  for (int e = t + 1; e < h->n; e++)
    if (h->end_of[e] == t + 1)
      return e;
  return -1;
}

/* Makes room for a transaction at position t. */
static void make_room(history *h, int t)
{
  for (int k = h->n; k > t; k--) {
    memcpy(h->src[k], h->src[k - 1], sizeof h->src[k]);
    h->nsrc[k] = h->nsrc[k - 1];
    h->rolls_back[k] = h->rolls_back[k - 1];
    h->end_of[k] = h->end_of[k - 1];
  }
  memset(h->src[t], 0, sizeof h->src[t]);
  h->nsrc[t] = h->end_of[t] = 0;
  h->rolls_back[t] = false;
  h->n++;
  for (int k = 0; k < h->n; k++)
    h->end_of[k] = (uint8_t)(h->end_of[k] + (h->end_of[k] > t));
}

bool history_prepare(history *h, rng *r, int statements)
{
  bool rolls_back = rng_chance(r, 50);
  int t = (int)rng_below(r, (uint64_t)h->n);
  if (h->n + 1 + rolls_back > TX || h->skipped >= 0 || h->end_of[t] != 0 || history_end_of(h, t) >= 0)
    return false;
  if (rolls_back) {
    state now = h->start;
    for (int k = 0; k < t; k++)
      if (history_end_of(h, k) < 0 && !h->rolls_back[k] && !expand_tx(h, h->end_of[k] > 0 ? h->end_of[k] - 1 : k, &now))
        return false;
    make_room(h, t);
    if (!random_transaction(r, h, t, &now, statements))
      return false;
  }
  int e = t + 1 + (int)rng_below(r, (uint64_t)(h->n - t));
  make_room(h, e);
  h->end_of[e] = (uint8_t)(t + 1);
  h->rolls_back[e] = rolls_back;
  return history_expand(h); /* which looks at the locks that the prepared one keeps */
}

int history_run_tx(const history *h, int t, state *st, uint8_t *missing)
{
  state hidden = *st;
  *missing = 0;
  if (t == h->skipped || h->rolls_back[t])
    return DONE;
  if (history_end_of(h, t) >= 0) /* it can be done, but nobody sees it */
    st = &hidden;
  for (int i = 0; i < h->len[t]; i++) {
    int result = store_run(&h->sc, st, &h->st[t][i], false, NULL);
    if (result == MISSING)
      *missing |= (uint8_t)(1u << i);
    else if (result != DONE)
      return result;
  }
  return store_commit(&h->sc, st);
}

/* Does the target do things of its own, so that what the stream says of them may find nothing? */
static bool target_acts(const schema *sc)
{
  for (int f = 0; f < FKS; f++)
    if (sc->fks[f].there && sc->fks[f].target && (sc->fks[f].on_delete | sc->fks[f].on_update) != NO_ACTION)
      return true;
  return sc->trigger >= 0;
}

static bool has_prepared(const history *h)
{
  bool any = false;
  for (int t = 0; t < h->n; t++)
    any = any || h->end_of[t] != 0;
  return any;
}

bool history_expand(history *h)
{
  state now = h->start;
  if (!store_valid(&h->sc, &now, true) || !store_valid(&h->sc, &now, false))
    return false;
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = 0; i < now.count[t]; i++)
      if (identity_is_null(&h->sc, t, now.rows[t][i]))
        return false;
  for (int t = 0; t < h->n; t++)
    if (!(h->end_of[t] > 0 || history_end_of(h, t) >= 0 ? expand_prepared : expand_tx)(h, t, &now))
      return false;
  h->end = h->prefix[0] = h->start;
  for (int t = 0; t < h->n; t++) {
    if (history_run_tx(h, t, &h->end, &h->missing[t]) != DONE || (h->missing[t] != 0 && !target_acts(&h->sc)))
      return false;
    h->prefix[t + 1] = h->end;
  }
  return !has_prepared(h) || (h->sc.trigger < 0 && locks_serial(h));
}

unsigned histories_slowness(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  return 4;
#else
  return 1;
#endif
}

uint64_t histories_wanted(uint64_t standard)
{
  const char *text = getenv("TWPA_ORACLE_HISTORIES");
  return text != NULL ? strtoull(text, NULL, 10) : standard / histories_slowness();
}
