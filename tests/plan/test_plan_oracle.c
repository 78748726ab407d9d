/*
 * The plan against execution (planning rules, section 4): random valid histories, each planned, then applied in *every*
 * order that the plan allows to a target that checks its constraints. The result must be that of serial apply, no
 * statement may fail, and exactly those may find no row that find none serially.
 *
 *   TWPA_ORACLE_HISTORIES=n  for more of them than a build runs
 */
#include "kit.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TX 6
#define STATEMENTS 3

typedef struct history {
  schema sc;
  state start;
  statement st[TX][STATEMENTS];
  int len[TX];
  int n;
  state end;             /* serially */
  uint8_t missing[TX];   /* statements that find no row serially */
  uint32_t preds[TX];    /* what the plan says */
  int skipped;           /* a transaction that is never applied; -1: none */
  bool optimistic;
  const char *what;
} history;

/* --- making a history -------------------------------------------------------------------------------------------- */

static int8_t value(rng *r, int nulls)
{
  return rng_chance(r, (unsigned)nulls) ? NUL : (int8_t)rng_below(r, 3);
}

static tuple random_tuple(rng *r)
{
  return (tuple){{(int8_t)rng_below(r, 3), value(r, 20), value(r, 25), (int8_t)rng_below(r, 2)}};
}

static void random_unique(rng *r, unique *u, int8_t col)
{
  *u = (unique){col, -1, !rng_chance(r, 25), rng_chance(r, 25), rng_chance(r, 15)};
}

static const uint32_t identities[] = {TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_FULL};

static void random_schema(rng *r, schema *sc)
{
  memset(sc, 0, sizeof *sc);
  for (int t = 0; t < TABLES; t++) {
    sc->primary[t] = true;
    sc->uniques[t][0].col = sc->uniques[t][1].col = -1;
    sc->identity[t] = identities[rng_below(r, 3)];
  }
  sc->fks[0].child = sc->fks[1].child = -1;
  sc->ntables = 1;
  switch (rng_below(r, 5)) {
  case 0: /* alone, one or two unique indexes */
    random_unique(r, &sc->uniques[0][0], 1);
    if (rng_chance(r, 50))
      random_unique(r, &sc->uniques[0][1], 2);
    if (rng_chance(r, 25)) {
      sc->uniques[0][0] = (unique){1, -1, true, false, false};
      sc->identity[0] = TWPA_IDENTITY_INDEX;
    }
    break;
  case 1: /* keyless */
    sc->primary[0] = false;
    sc->identity[0] = TWPA_IDENTITY_FULL;
    if (rng_chance(r, 50))
      random_unique(r, &sc->uniques[0][0], 1);
    break;
  case 2: /* refers to itself */
    random_unique(r, &sc->uniques[0][0], 1);
    sc->uniques[0][0].partial = sc->uniques[0][0].deferred = false;
    sc->fks[0] = (foreign){0, 2, 0, (int8_t)rng_below(r, 2), true, false};
    break;
  default: /* parent and child */
    sc->ntables = 2;
    sc->uniques[0][0] = (unique){1, -1, true, false, false};
    sc->fks[0] = (foreign){1, 2, 0, (int8_t)rng_below(r, 2), !rng_chance(r, 10), false};
    sc->fks[0].cascade = sc->fks[0].enforced && rng_chance(r, 25);
    if (rng_chance(r, 40))
      sc->fks[1] = (foreign){1, 1, 0, (int8_t)(1 - sc->fks[0].parent_col), true, false};
    else if (rng_chance(r, 40))
      random_unique(r, &sc->uniques[1][0], 1);
    break;
  }
}

static void random_start(rng *r, history *h)
{
  memset(&h->start, 0, sizeof h->start);
  for (int i = 0; i < 6; i++) {
    statement s = {ST_INSERT, (int8_t)rng_below(r, (uint64_t)h->sc.ntables), random_tuple(r), random_tuple(r), 0};
    state next = h->start;
    if (store_run(&h->sc, &next, &s, false) == DONE && store_valid(&h->sc, &next))
      h->start = next;
  }
}

static bool random_statement(rng *r, const history *h, const state *now, statement *s)
{
  unsigned what = (unsigned)rng_below(r, 100);
  memset(s, 0, sizeof *s);
  s->table = (int8_t)rng_below(r, (uint64_t)h->sc.ntables);
  s->op = what < 35 ? ST_INSERT : what < 58 ? ST_DELETE : what < 97 ? ST_UPDATE : ST_TRUNCATE;
  s->new = random_tuple(r);
  if (s->op == ST_INSERT || s->op == ST_TRUNCATE)
    return true;
  if (now->count[s->table] == 0)
    return false;
  s->old = now->rows[s->table][rng_below(r, (uint64_t)now->count[s->table])];
  if (s->op != ST_UPDATE)
    return true;
  for (int c = 0; c < COLS; c++)
    if (rng_chance(r, c == 0 ? 70 : 50))
      s->new.c[c] = s->old.c[c];
  if (h->sc.identity[s->table] == TWPA_IDENTITY_INDEX && s->new.c[1] == NUL)
    return false; /* an identity is NOT NULL */
  for (int c = 1; c < COLS; c++)
    if (s->new.c[c] == s->old.c[c] && rng_chance(r, 15))
      s->same |= (uint8_t)(1u << c);
  return true;
}

/* The source runs statements until they make a valid transaction. What it cascades is in the stream too. */
static bool random_transaction(rng *r, history *h, state *now)
{
  state next = *now;
  int want = 1 + (int)rng_below(r, STATEMENTS), n = 0;
  statement *out = h->st[h->n];
  while (n < want) {
    statement s;
    state before = next;
    if (!random_statement(r, h, &next, &s))
      return false;
    if (h->sc.identity[0] == TWPA_IDENTITY_INDEX && s.op == ST_INSERT && s.new.c[1] == NUL)
      return false;
    if (store_run(&h->sc, &next, &s, false) != DONE)
      return false;
    out[n++] = s;
    for (int f = 0; f < 2 && s.op == ST_DELETE; f++) {
      const foreign *fk = &h->sc.fks[f];
      if (fk->child < 0 || !fk->cascade || fk->parent != s.table)
        continue;
      for (int i = 0; i < before.count[fk->child]; i++)
        if (s.old.c[fk->parent_col] != NUL && before.rows[fk->child][i].c[fk->child_col] == s.old.c[fk->parent_col]) {
          if (n == STATEMENTS)
            return false;
          out[n++] = (statement){ST_DELETE, fk->child, before.rows[fk->child][i], s.new, 0};
        }
    }
  }
  if (store_commit(&h->sc, &next) != DONE)
    return false;
  h->len[h->n] = n;
  *now = next;
  h->n++;
  return true;
}

/* A transaction on a target: DONE, or the error; what found no row is counted. */
static int run_tx(const history *h, int t, state *st, uint8_t *missing)
{
  *missing = 0;
  if (t == h->skipped)
    return DONE;
  for (int i = 0; i < h->len[t]; i++) {
    int result = store_run(&h->sc, st, &h->st[t][i], true);
    if (result == MISSING)
      *missing |= (uint8_t)(1u << i);
    else if (result != DONE)
      return result;
  }
  return store_commit(&h->sc, st);
}

/* Serial apply must work, or the history says nothing. */
static bool serial(history *h)
{
  h->end = h->start;
  for (int t = 0; t < h->n; t++) {
    if (run_tx(h, t, &h->end, &h->missing[t]) != DONE)
      return false;
    bool cascades = h->sc.fks[0].child >= 0 && h->sc.fks[0].cascade;
    if (h->missing[t] != 0 && !cascades)
      return false;
  }
  return true;
}

static bool make_history(rng *r, history *h)
{
  memset(h, 0, sizeof *h);
  h->skipped = -1;
  random_schema(r, &h->sc);
  random_start(r, h);
  if (h->sc.identity[0] == TWPA_IDENTITY_INDEX)
    for (int i = 0; i < h->start.count[0]; i++)
      if (h->start.rows[0][i].c[1] == NUL)
        return false;
  state now = h->start;
  int want = 3 + (int)rng_below(r, TX - 2);
  for (int tries = 0; tries < 60 && h->n < want; tries++)
    random_transaction(r, h, &now);
  return h->n >= 3;
}

/* --- planning it -------------------------------------------------------------------------------------------------- */

static uint64_t index_id(int col)
{
  return (uint64_t)col + 1;
}

static const uint32_t COLUMN[COLS][1] = {{0}, {1}, {2}, {3}};

static twpa_relation *relation_of(const schema *sc, int t)
{
  relation_kit kit;
  kit_begin(&kit, (uint64_t)t + 1, COLS);
  if (sc->primary[t])
    kit_index(&kit, index_id(0), COLUMN[0], 1, TWPA_INDEX_PRIMARY);
  for (int u = 0; u < 2; u++) {
    const unique *x = &sc->uniques[t][u];
    if (x->col < 0)
      continue;
    twpa_index_desc *d = kit_index(&kit, index_id(x->col), COLUMN[x->col], 1, 0);
    d->flags = (x->nulls_distinct ? 0 : TWPA_INDEX_NULLS_NOT_DISTINCT) | (x->partial ? TWPA_INDEX_PARTIAL : 0) |
               (x->deferred ? TWPA_INDEX_DEFERRABLE : 0);
    d->predicate_columns = x->partial ? COLUMN[3] : NULL;
    d->npredicate_columns = x->partial;
  }
  for (int f = 0; f < 2; f++) {
    const foreign *fk = &sc->fks[f];
    uint32_t flags = (fk->enforced ? TWPA_FK_ENFORCED : 0) | (fk->cascade ? TWPA_FK_CASCADE : 0);
    if (fk->child == t)
      kit_fk(&kit, (uint64_t)fk->parent + 1, index_id(fk->parent_col), COLUMN[fk->child_col], 1, flags);
    if (fk->child >= 0 && fk->parent == t)
      kit_reference(&kit, (uint64_t)fk->child + 1, index_id(fk->parent_col), flags);
  }
  kit.desc.identity = sc->identity[t];
  kit.desc.identity_index = index_id(1);
  return kit_make(&kit);
}

static void numbers_of(const tuple *t, int64_t *out)
{
  for (int c = 0; c < COLS; c++)
    out[c] = t->c[c] == NUL ? NIL : t->c[c];
}

static void add_statement(const history *h, twpa_access_set *set, twpa_relation *const *rels, const statement *s)
{
  int64_t old[COLS], new[COLS];
  twpa_relation *rel = rels[s->table];
  numbers_of(&s->old, old);
  numbers_of(&s->new, new);
  if (s->op == ST_TRUNCATE) {
    twpa_relation *list[TABLES];
    size_t n = 0;
    for (int t = 0; t < h->sc.ntables; t++)
      if (t == s->table || store_refers(&h->sc, t, s->table))
        list[n++] = rels[t];
    ck_assert_int_eq(twpa_access_set_truncate(set, list, n), TWPA_OK);
    return;
  }
  int key = h->sc.identity[s->table] == TWPA_IDENTITY_INDEX ? 1 : 0;
  bool full = h->sc.identity[s->table] == TWPA_IDENTITY_FULL;
  bool sent = full || s->op == ST_DELETE || (s->op == ST_UPDATE && old[key] != new[key]);
  for (int c = 0; c < COLS; c++) {
    if (!full && c != key)
      old[c] = NIL; /* "n" in a key-only old row is not NULL */
    if (s->op == ST_UPDATE && (s->same & 1u << c) != 0)
      new[c] = SAME;
  }
  ck_assert_int_eq(change(set, rel, (uint32_t)s->op, COLS, sent ? old : NULL, s->op != ST_DELETE ? new : NULL), TWPA_OK);
}

static void read_preds(const twpa_plan *plan, history *h, int t)
{
  twpa_edge edges[64];
  size_t n;
  ck_assert_int_eq(twpa_plan_explain(plan, edges, 64, &n, (uint64_t)t + 1), TWPA_OK);
  ck_assert_uint_le(n, 64);
  for (size_t i = 0; i < n; i++) {
    uint32_t one = 1u << (edges[i].from - 1);
    h->preds[t] |= (edges[i].flags & TWPA_EDGE_UP_TO) != 0 ? one | (one - 1) : one;
  }
}

/* How a history is planned. */
typedef struct setting {
  twpa_plan_options options;
  bool seed_rows, complete, skip;
} setting;

static void seed_rows(const history *h, twpa_plan *plan, twpa_relation *const *rels)
{
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = 0; i < h->start.count[t]; i++) {
      int64_t numbers[COLS];
      row r;
      numbers_of(&h->start.rows[t][i], numbers);
      twpa_status st = twpa_plan_seed_row(plan, rels[t], row_of(&r, COLS, numbers), COLS);
      ck_assert(st == TWPA_OK || st == TWPA_NONE);
    }
}

static void make_plan(rng *r, history *h, const setting *how)
{
  twpa_plan *plan;
  twpa_access_set *set;
  twpa_relation *rels[TABLES];
  uint32_t done = 0;
  memset(h->preds, 0, sizeof h->preds);
  ck_assert_int_eq(twpa_plan_new(&plan, &how->options, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_access_set_new(&set, plan, NULL), TWPA_OK);
  for (int t = 0; t < h->sc.ntables; t++)
    rels[t] = relation_of(&h->sc, t);
  if (how->seed_rows)
    seed_rows(h, plan, rels);
  for (int t = 0; t < h->n; t++) {
    twpa_access_set_begin(set, 0, 0, 0);
    for (int i = 0; i < h->len[t]; i++)
      add_statement(h, set, rels, &h->st[t][i]);
    ck_assert_uint_eq(enter(plan, set), (uint64_t)t + 1);
    read_preds(plan, h, t);
    h->preds[t] |= done; /* what was done before it entered */
    for (int k = 0; k <= t && how->complete; k++)
      if (k != h->skipped && (done & 1u << k) == 0 && (h->preds[k] & ~done) == 0 && rng_chance(r, 40)) {
        ck_assert_int_eq(twpa_plan_complete(plan, (uint64_t)k + 1, TWPA_DONE_COMMITTED), TWPA_OK);
        done |= 1u << k;
      }
    if (t == h->skipped && rng_chance(r, 50) && (h->preds[t] & ~done) == 0) { /* early: the later ones enter after it */
      ck_assert_int_eq(twpa_plan_complete(plan, (uint64_t)t + 1, TWPA_DONE_SKIPPED), TWPA_OK);
      done |= 1u << t;
    }
  }
  if (h->skipped >= 0 && (done & 1u << h->skipped) == 0) {
    for (int k = 0; k < h->skipped; k++)
      if ((done & 1u << k) == 0)
        ck_assert_int_eq(twpa_plan_complete(plan, (uint64_t)k + 1, TWPA_DONE_COMMITTED), TWPA_OK);
    ck_assert_int_eq(twpa_plan_complete(plan, (uint64_t)h->skipped + 1, TWPA_DONE_SKIPPED), TWPA_OK);
    for (int t = h->skipped + 1; t < h->n; t++)
      if ((done & 1u << t) == 0)
        read_preds(plan, h, t);
  }
  for (int t = 0; t < h->sc.ntables; t++)
    twpa_relation_free(rels[t]);
  twpa_access_set_free(set);
  twpa_plan_free(plan);
}

/* --- every order --------------------------------------------------------------------------------------------------- */

typedef struct seen {
  uint32_t mask;
  state st;
} seen;

#define SEEN 4096

typedef struct search {
  history *h;
  seen stack[SEEN];
  int depth;
  seen known[SEEN];
  int nknown;
  uint64_t steps;
} search;

static void print_history(const history *h)
{
  static const char *const ops[] = {"", "insert", "update", "delete", "truncate"};
  printf("%s: tables %d", h->what, h->sc.ntables);
  for (int t = 0; t < h->sc.ntables; t++) {
    printf("; %d identity %u", t, h->sc.identity[t]);
    for (int u = 0; u < 2; u++)
      if (h->sc.uniques[t][u].col >= 0)
        printf(" unique(%d%s%s%s)", h->sc.uniques[t][u].col, h->sc.uniques[t][u].nulls_distinct ? "" : " nnd",
               h->sc.uniques[t][u].partial ? " partial" : "", h->sc.uniques[t][u].deferred ? " deferred" : "");
  }
  for (int f = 0; f < 2; f++)
    if (h->sc.fks[f].child >= 0)
      printf("; fk %d.%d -> %d.%d%s%s", h->sc.fks[f].child, h->sc.fks[f].child_col, h->sc.fks[f].parent,
             h->sc.fks[f].parent_col, h->sc.fks[f].enforced ? "" : " off", h->sc.fks[f].cascade ? " cascade" : "");
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = 0; i < h->start.count[t]; i++)
      printf("\n  row %d (%d %d %d %d)", t, h->start.rows[t][i].c[0], h->start.rows[t][i].c[1], h->start.rows[t][i].c[2],
             h->start.rows[t][i].c[3]);
  for (int t = 0; t < h->n; t++) {
    printf("\n  T%d preds %x%s:", t, h->preds[t], t == h->skipped ? " skipped" : "");
    for (int i = 0; i < h->len[t]; i++) {
      const statement *s = &h->st[t][i];
      printf(" %s %d (%d %d %d %d)->(%d %d %d %d)/%x;", ops[s->op], s->table, s->old.c[0], s->old.c[1], s->old.c[2],
             s->old.c[3], s->new.c[0], s->new.c[1], s->new.c[2], s->new.c[3], s->same);
    }
  }
  printf("\n");
  fflush(stdout);
}

static bool is_known(search *s, const seen *x)
{
  for (int i = 0; i < s->nknown; i++)
    if (s->known[i].mask == x->mask && memcmp(&s->known[i].st, &x->st, sizeof x->st) == 0)
      return true;
  ck_assert_int_lt(s->nknown, SEEN);
  s->known[s->nknown++] = *x;
  return false;
}

static void wrong(const search *s, uint32_t mask, int t, const char *why)
{
  print_history(s->h);
  ck_abort_msg("%s: transaction %d after those of mask %x", why, t, mask);
}

static void all_orders(search *s, history *h)
{
  uint32_t all = (1u << h->n) - 1;
  s->h = h;
  s->nknown = 0;
  s->depth = 1;
  s->stack[0] = (seen){0, h->start};
  while (s->depth > 0) {
    seen at = s->stack[--s->depth];
    if (at.mask == all && memcmp(&at.st, &h->end, sizeof at.st) != 0)
      wrong(s, at.mask, -1, "final state differs");
    bool head = true;
    for (int t = 0; t < h->n; t++) {
      if ((at.mask & 1u << t) != 0)
        continue;
      bool is_head = head;
      head = false;
      if ((h->preds[t] & ~at.mask) != 0) {
        if (is_head)
          wrong(s, at.mask, t, "the head waits");
        continue;
      }
      seen next = {at.mask | 1u << t, at.st};
      uint8_t missing;
      int result = run_tx(h, t, &next.st, &missing);
      s->steps++;
      if (result == UNIQUE_ERROR && h->optimistic && !is_head)
        continue; /* detected: it will run again */
      if (result != DONE)
        wrong(s, at.mask, t, result == FK_ERROR ? "foreign key" : "unique");
      if (missing != h->missing[t])
        wrong(s, at.mask, t, "row missing");
      if (!is_known(s, &next)) {
        ck_assert_int_lt(s->depth, SEEN);
        s->stack[s->depth++] = next;
      }
    }
  }
}

/* --- tests ----------------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"strict", "strict, bounded", "memory", "memory, bounded", "optimistic",
                                    "optimistic, memory", "memory, moving", "skip", "skip, optimistic"};

static void settle(rng *r, setting *how, int kind)
{
  static const size_t memories[] = {128, 256, 65536};
  memset(how, 0, sizeof *how);
  how->options.struct_size = TWPA_PLAN_OPTIONS_INIT;
  how->options.seed = rng_next(r);
  how->options.table_bytes = kind == 1 || kind == 3 || kind == 6 ? 64 : 4096;
  how->options.wide_bytes = how->options.table_bytes;
  how->options.explain = (uint32_t)rng_chance(r, 20);
  how->options.memory_bytes = kind == 2 || kind == 3 || kind >= 5 ? memories[rng_below(r, 3)] : 0;
  how->options.unique_release = kind == 4 || kind == 5 || kind == 8 ? TWPA_UNKNOWN_OPTIMISTIC : TWPA_UNKNOWN_STRICT;
  how->options.free_commit_order = 1;
  how->options.no_identity = TWPA_NO_IDENTITY_INSERT_FREE;
  how->seed_rows = rng_chance(r, 30);
  how->complete = kind == 6 || kind == 1;
  how->skip = kind >= 7;
}

static uint64_t histories_wanted(uint64_t standard)
{
  const char *text = getenv("TWPA_ORACLE_HISTORIES");
  return text != NULL ? strtoull(text, NULL, 10) : standard;
}

START_TEST(every_order_gives_the_serial_result)
{
  static search s;
  static history h;
  rng r = {test_seed(20) * 1000 + (uint64_t)_i};
  uint64_t run = 0, want = histories_wanted(3000);
  memset(&s, 0, sizeof s);
  while (run < want) {
    setting how;
    if (!make_history(&r, &h))
      continue;
    settle(&r, &how, _i);
    if (how.skip)
      h.skipped = (int)rng_below(&r, (uint64_t)h.n);
    if (!serial(&h))
      continue;
    h.what = names[_i];
    h.optimistic = how.options.unique_release == TWPA_UNKNOWN_OPTIMISTIC;
    make_plan(&r, &h, &how);
    all_orders(&s, &h);
    run++;
  }
  printf("%s: %" PRIu64 " histories, %" PRIu64 " steps\n", names[_i], run, s.steps);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_oracle");
  TCase *t = tcase_create("oracle");
  tcase_set_timeout(t, 3600);
  tcase_add_loop_test(t, every_order_gives_the_serial_result, 0, (int)(sizeof names / sizeof *names));
  suite_add_tcase(s, t);
  return run_suite(s);
}
