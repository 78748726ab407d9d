/*
 * Small worlds, all of them: every combination of modes of up to four transactions on three keys against the conflict matrix;
 * every combination of touches and barriers; and every history of three or four statements over a few values, cut into
 * transactions in every way and executed in every order (planning rules, 4.3).
 *
 *   TWPA_ORACLE_STRIDE=n  only every n-th world; 1: all, which takes a while. The standard takes some seconds.
 */
#include "history_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t stride(uint64_t standard)
{
  const char *text = getenv("TWPA_ORACLE_STRIDE");
  uint64_t n = text != NULL ? strtoull(text, NULL, 10) : standard * histories_slowness();
  return n > 0 ? n : 1;
}

/* --- modes ---------------------------------------------------------------------------------------------------------- */

#define TXNS 4
#define KEYS 3

typedef struct modes { /* all worlds go through one plan: a world leaves nothing behind */
  twpa_plan *plan;
  twpa_access_set *set;
  uint64_t first;          /* number before the world's first transaction */
  uint32_t noise;          /* transactions before it that stay */
  uint32_t preds[TXNS], must[TXNS], done;
  /* For printing: what the plan said when each entered, and who was finished right after that. */
  twpa_edge edges[TXNS][64];
  size_t nedges[TXNS];
  uint32_t finished[TXNS];
  size_t table;
} modes;

static void modes_open(modes *m, size_t table, uint32_t noise)
{
  twpa_plan_options o = {TWPA_PLAN_OPTIONS_INIT, .seed = 3, .table_bytes = table, .wide_bytes = table, .explain = 1,
                         .unique_release = TWPA_UNKNOWN_STRICT};
  memset(m, 0, sizeof *m);
  m->noise = noise;
  m->table = table;
  test_must(twpa_plan_new(&m->plan, &o, NULL) == TWPA_OK);
  test_must(twpa_access_set_new(&m->set, m->plan, NULL) == TWPA_OK);
}

static void modes_close(modes *m)
{
  twpa_access_set_free(m->set);
  twpa_plan_free(m->plan);
}

static bool conflict(unsigned before, unsigned after)
{
  return before != 0 && after != 0 && (before == TWPA_MODE_WRITE || after == TWPA_MODE_WRITE ||
                                       (before == TWPA_MODE_UPDATE && after == TWPA_MODE_UPDATE));
}

static void read_preds(modes *m, unsigned t, uint32_t count)
{
  twpa_edge *edges = m->edges[t];
  size_t n;
  test_must(twpa_plan_explain(m->plan, edges, 64, &n, m->first + t + 1) == TWPA_OK && n <= 64);
  m->preds[t] = m->done;
  m->nedges[t] = n;
  for (size_t i = 0; i < n; i++) {
    if (edges[i].from <= m->first)
      continue;
    uint32_t one = 1u << (edges[i].from - m->first - 1);
    m->preds[t] |= (edges[i].flags & TWPA_EDGE_UP_TO) != 0 ? one | (one - 1) : one;
  }
  test_must(m->noise > 0 || (count == 0) == ((m->preds[t] & ~m->done) == 0));
}

static void finish(modes *m, unsigned t)
{
  test_must(twpa_plan_complete(m->plan, m->first + t + 1, TWPA_DONE_COMMITTED) == TWPA_OK);
  m->done |= 1u << t;
}

/* The sets of predecessors, and theirs. */
static void closure(const uint32_t *direct, uint32_t *all)
{
  for (unsigned t = 0; t < TXNS; t++) {
    all[t] = direct[t];
    for (unsigned k = 0; k < t; k++)
      all[t] |= (direct[t] & 1u << k) != 0 ? all[k] : 0;
  }
}

/* What the plan said of a transaction, and what it should have said in addition; the world's numbers begin with 1. */
static void print_edges(const modes *m, unsigned t, uint32_t lacking)
{
  const uint64_t before = m->first - m->noise;
  for (uint64_t from = before + 1; from < m->first + t + 1; from++) {
    bool there = from > m->first && (lacking >> (from - m->first - 1) & 1) != 0;
    const char *up_to = "";
    for (size_t i = 0; i < m->nedges[t] && !there; i++) {
      there = m->edges[t][i].from == from;
      up_to = there && (m->edges[t][i].flags & TWPA_EDGE_UP_TO) != 0 ? ".." : "";
    }
    if (there)
      printf("> edge from=%s%u to=%u\n", up_to, (unsigned)(from - before), m->noise + t + 1);
  }
}

/* Finished in the order of the numbers; who gets ready by that is printed as twpa-trace does. */
static void print_finished(const modes *m, unsigned t, const uint32_t *should, uint32_t *done)
{
  for (unsigned k = 0; k <= t; k++) {
    if ((m->finished[t] & 1u << k) == 0)
      continue;
    printf("complete %u\n", m->noise + k + 1);
    for (unsigned i = k + 1; i <= t; i++)
      if ((should[i] & ~*done) == 1u << k)
        printf("> ready seq=%u\n", m->noise + i + 1);
    *done |= 1u << k;
  }
}

/* A world that went wrong, as a trace that expects what is right. `body` prints what a transaction does. */
static void print_world(const modes *m, const uint32_t *plan, const uint32_t *must, uint64_t world,
                        void (*body)(uint64_t world, unsigned t))
{
  uint32_t should[TXNS], done = 0;
  printf("--- world %" PRIu64 "; as a trace:\nprint edges=none\n", world);
  printf("relation r0 columns=a:integer\nindex r0_1 of=r0 columns=a flags=primary\n");
  printf("relation r1 columns=a:integer\nindex r1_1 of=r1 columns=a flags=primary\n");
  printf("plan seed=3 table=%zu wide=%zu unique=strict\n", m->table, m->table);
  for (unsigned i = 0; i < m->noise; i++)
    printf("txn\naccess %u mode=write\nenter\n", 1000 + i);
  printf("print edges=plain\n");
  for (unsigned t = 0; t < TXNS; t++) {
    uint32_t lacking = must[t] & ~plan[t] & ~done;
    should[t] = m->preds[t] | lacking;
    printf("txn\n");
    body(world, t);
    printf("enter\n> enter seq=%u\n", m->noise + t + 1);
    print_edges(m, t, lacking);
    print_finished(m, t, should, &done);
  }
  printf("--- end\n");
  fflush(stdout);
}

/* Those in front, which hold other keys, so that a small table has to forget. */
static void make_noise(modes *m)
{
  for (uint32_t i = 0; i < m->noise; i++) {
    test_must(twpa_access_set_begin(m->set, 0, 0, 0) == TWPA_OK);
    test_must(twpa_access_set_access(m->set, 1000 + i, TWPA_MODE_WRITE) == TWPA_OK);
    enter(m->plan, m->set);
  }
  m->first += m->noise;
}

static void end_noise(modes *m)
{
  for (uint32_t i = m->noise; i > 0; i--)
    test_must(twpa_plan_complete(m->plan, m->first - i + 1, TWPA_DONE_COMMITTED) == TWPA_OK);
}

static void end_world(modes *m)
{
  uint64_t ready;
  for (unsigned t = 0; t < TXNS; t++)
    if ((m->done & 1u << t) == 0)
      finish(m, t);
  m->first += TXNS;
  while (twpa_plan_next_ready(m->plan, &ready) == TWPA_OK)
    ;
}

static void print_modes(uint64_t world, unsigned t)
{
  static const char *const names[] = {"", "read", "update", "write"};
  for (unsigned k = 0; k < KEYS; k++) {
    unsigned mode = (unsigned)(world >> (2 * (t * KEYS + k))) & 3;
    if (mode != 0)
      printf("access %u mode=%s\n", k + (unsigned)(world % 7), names[mode]);
  }
}

static void one_world(modes *m, uint64_t world, unsigned completions)
{
  uint32_t plan[TXNS], must[TXNS];
  m->done = 0;
  memset(m->must, 0, sizeof m->must);
  memset(m->finished, 0, sizeof m->finished);
  make_noise(m);
  for (unsigned t = 0; t < TXNS; t++) {
    uint32_t count;
    test_must(twpa_access_set_begin(m->set, 0, 0, 0) == TWPA_OK);
    for (unsigned k = 0; k < KEYS; k++) {
      unsigned mode = (unsigned)(world >> (2 * (t * KEYS + k))) & 3;
      if (mode != 0)
        test_must(twpa_access_set_access(m->set, k + world % 7, mode) == TWPA_OK);
      for (unsigned b = 0; b < t; b++)
        if (conflict((unsigned)(world >> (2 * (b * KEYS + k))) & 3, mode))
          m->must[t] |= 1u << b;
    }
    enter_n(m->plan, m->set, &count);
    m->must[t] |= m->done;
    read_preds(m, t, count);
    for (unsigned k = 0; k <= t && m->noise == 0; k++)
      if ((completions >> (t * TXNS + k) & 1) != 0 && (m->done & 1u << k) == 0 && (m->preds[k] & ~m->done) == 0) {
        finish(m, k);
        m->finished[t] |= 1u << k;
      }
  }
  closure(m->preds, plan);
  closure(m->must, must);
  for (unsigned t = 0; t < TXNS; t++)
    if ((must[t] & ~plan[t]) != 0 || (m->noise == 0 && plan[t] != must[t])) {
      print_world(m, plan, must, world, print_modes);
      ck_abort_msg("world %" PRIu64 ": transaction %u has predecessors %x instead of %x", world, t, plan[t], must[t]);
    }
  end_noise(m);
  end_world(m);
}

START_TEST(all_modes_of_four_transactions_on_three_keys)
{
  static const struct {
    size_t table;
    uint32_t noise;
  } tables[] = {{4096, 0}, {64, 0}, {64, 4}, {512, 30}};
  modes m;
  rng r = {test_seed(70)};
  modes_open(&m, tables[_i].table, tables[_i].noise);
  const uint64_t all = UINT64_C(1) << (2 * TXNS * KEYS);
  uint64_t n = 0, step = stride(64) * (tables[_i].noise > 0 ? tables[_i].noise : 1);
  for (uint64_t world = rng_below(&r, step); world < all; world += 1 + rng_below(&r, 2 * step - 1)) {
    one_world(&m, world, (unsigned)rng_next(&r));
    n++;
  }
  printf("%" PRIu64 " worlds\n", n);
  modes_close(&m);
}
END_TEST

/* --- touches and barriers ------------------------------------------------------------------------------------------- */

/* Per transaction: on each of two relations nothing, a touch or a barrier; or a barrier on the database. */
#define CHOICES 10

static bool barrier_conflict(unsigned a, unsigned b)
{
  if (a == 9 || b == 9)
    return true;
  for (unsigned x = a, y = b, i = 0; i < 2; x /= 3, y /= 3, i++)
    if (x % 3 != 0 && y % 3 != 0 && (x % 3 == 2 || y % 3 == 2))
      return true;
  return false;
}

/* The accesses of one of the choices. */
static void add_choice(modes *m, twpa_relation **rels, unsigned what)
{
  test_must(twpa_access_set_begin(m->set, 0, 0, 0) == TWPA_OK);
  if (what == 9)
    test_must(twpa_access_set_barrier(m->set, NULL) == TWPA_OK);
  for (int i = 0; i < 2 && what != 9; i++) {
    unsigned how = i == 0 ? what % 3 : what / 3;
    if (how == 1)
      test_must(twpa_access_set_touch(m->set, rels[i]) == TWPA_OK);
    else if (how == 2)
      test_must(twpa_access_set_truncate(m->set, &rels[i], 1) == TWPA_OK);
  }
}

static void print_choice(uint64_t world, unsigned t)
{
  static const char *const verbs[] = {"", "touch", "truncate"};
  static const unsigned scale[TXNS] = {1, 10, 100, 1000};
  unsigned what = (unsigned)world / scale[t] % 10;
  if (what == 9)
    printf("barrier\n");
  for (unsigned i = 0; i < 2 && what != 9; i++) {
    unsigned how = i == 0 ? what % 3 : what / 3;
    if (how != 0)
      printf("%s r%u\n", verbs[how], i);
  }
}

static void one_world_of_barriers(modes *m, twpa_relation **rels, unsigned world)
{
  const unsigned what[TXNS] = {world % 10, world / 10 % 10, world / 100 % 10, world / 1000};
  uint32_t plan[TXNS], must[TXNS], count;
  memset(m->must, 0, sizeof m->must);
  m->done = 0;
  for (unsigned t = 0; t < TXNS; t++) {
    add_choice(m, rels, what[t]);
    for (unsigned b = 0; b < t; b++)
      m->must[t] |= barrier_conflict(what[b], what[t]) ? 1u << b : 0;
    enter_n(m->plan, m->set, &count);
    read_preds(m, t, count);
  }
  closure(m->preds, plan);
  closure(m->must, must);
  if (memcmp(plan, must, sizeof plan) != 0) {
    print_world(m, plan, must, world, print_choice);
    ck_abort_msg("world %u", world);
  }
  end_world(m);
}

START_TEST(all_touches_and_barriers_of_four_transactions)
{
  modes m;
  relation_kit kit;
  twpa_relation *rels[2];
  modes_open(&m, 4096, 0);
  for (uint64_t i = 0; i < 2; i++) {
    kit_begin(&kit, i + 1, 1);
    kit_index(&kit, 1, COL0, 1, TWPA_INDEX_PRIMARY);
    rels[i] = kit_make(&kit);
  }
  for (unsigned world = 0; world < CHOICES * CHOICES * CHOICES * CHOICES; world++)
    one_world_of_barriers(&m, rels, world);
  modes_close(&m);
  twpa_relation_free(rels[0]);
  twpa_relation_free(rels[1]);
}
END_TEST

/* --- histories ------------------------------------------------------------------------------------------------------ */

#define DEPTH 4

typedef struct small {
  const char *name;
  int depth; /* statements */
  unsigned keys, values; /* column 0 below keys; columns 1 and 2 below values, or NULL */
  bool predicate;        /* column 3 varies */
  bool few;              /* it has not many histories: take more of them */
  schema sc;
} small;

#define PK {.n = 1, .cols = {0}}
#define U(...) {.n = 1, .cols = {1}, __VA_ARGS__}
#define FK_TO(i, ...) \
  {.there = true, .source = true, .target = true, .child = 1, .parent = 0, .index = i, .n = 1, .cols = {2}, __VA_ARGS__}
#define ALONE(...) .ntables = 1, .trigger = -1, .indexes = {{PK, __VA_ARGS__}}
#define TWO(...) \
  .ntables = 2, .trigger = -1, .indexes = {{PK, U(.deferred = false)}, {PK}}, .fks = {FK_TO(__VA_ARGS__)}

static const small worlds[] = {
  {"default", 4, 2, 2, false, true, {ALONE(U(.deferred = false))}},
  {"default, three values", 4, 3, 3, false, false, {ALONE(U(.deferred = false))}},
  {"full", 4, 2, 2, false, true, {ALONE(U(.deferred = false)), .identity = {TWPA_IDENTITY_FULL}}},
  {"index", 4, 2, 2, false, true, {ALONE(U(.deferred = false)), .identity = {TWPA_IDENTITY_INDEX}}},
  {"nulls not distinct", 4, 2, 2, false, true, {ALONE(U(.nulls_are_values = true))}},
  {"deferred", 4, 2, 2, false, true, {ALONE(U(.deferred = true))}},
  {"partial", 4, 2, 2, true, false, {ALONE(U(.partial = true, .predicate_known = true))}},
  {"partial, not told", 4, 2, 2, true, false, {ALONE(U(.partial = true))}},
  {"expression", 3, 2, 2, false, true, {ALONE(U(.expression = true))}},
  {"keyless", 4, 2, 2, false, false, {.ntables = 1, .trigger = -1, .identity = {TWPA_IDENTITY_FULL}}},
  {"append", 4, 2, 2, false, true, {ALONE(U(.deferred = false)), .identity = {TWPA_IDENTITY_NOTHING}}},
  {"child", 4, 2, 1, false, false, {TWO(0, .match_full = false)}},
  {"child of a unique key", 4, 2, 2, false, false, {TWO(1, .match_full = false)}},
  {"cascade", 4, 2, 1, false, false, {TWO(0, .on_delete = CASCADE)}},
  {"set null, update cascade", 4, 2, 1, false, false, {TWO(0, .on_delete = SET_NULL, .on_update = CASCADE)}},
  {"child, full parent", 3, 2, 2, false, true, {TWO(1, .match_full = false), .identity = {TWPA_IDENTITY_FULL}}},
  {"child, full child", 3, 2, 2, false, true,
   {TWO(1, .match_full = false), .identity = {TWPA_IDENTITY_DEFAULT, TWPA_IDENTITY_FULL}}},
  {"self", 4, 2, 1, false, false,
   {ALONE(U(.deferred = false)),
    .fks = {{.there = true, .source = true, .target = true, .index = 0, .n = 1, .cols = {2}}}}},
  {"self, cascade", 3, 2, 2, false, true,
   {ALONE(U(.deferred = false)),
    .fks = {{.there = true, .source = true, .target = true, .index = 1, .n = 1, .cols = {2}, .on_delete = CASCADE}}}},
};
#define NWORLDS ((int)(sizeof worlds / sizeof *worlds))

typedef struct walk {
  const small *w;
  history h;
  state at[DEPTH + 1];
  statement st[DEPTH];
  tuple tuples[TABLES][256];
  int ntuples[TABLES];
  rng r;
  uint64_t step, countdown, histories, steps;
} walk;

static bool uses_column(const schema *sc, int t, unsigned c)
{
  for (int x = 0; x < INDEXES; x++)
    for (unsigned i = 0; i < sc->indexes[t][x].n; i++)
      if (sc->indexes[t][x].cols[i] == c)
        return true;
  for (int f = 0; f < FKS; f++)
    if (sc->fks[f].there && sc->fks[f].child == t && c == 2)
      return true;
  return sc->indexes[t][0].n == 0 && c < 2; /* keyless: two columns that vary */
}

static void all_tuples(walk *x, int t)
{
  for (unsigned v = 0; v < 256; v++) {
    tuple one = (tuple)v;
    bool fits = col(one, 0) < x->w->keys && col(one, 3) <= (unsigned)x->w->predicate;
    for (unsigned c = 0; c < 3; c++)
      if (!uses_column(&x->w->sc, t, c))
        fits = fits && col(one, c) == 0;
      else if (c > 0)
        fits = fits && (col(one, c) == NUL || col(one, c) < x->w->values || (c == 2 && col(one, c) < x->w->keys));
    if (fits)
      x->tuples[t][x->ntuples[t]++] = one;
  }
}

typedef struct trial {
  setting how;
  uint64_t steps;
  const char *why;
  char order[TX + 1];
} trial;

static bool is_wrong(const history *h, void *arg)
{
  trial *t = arg;
  uint32_t preds[TX];
  history_plan(h, &t->how, preds);
  t->why = history_all_orders(h, preds, t->how.options.unique_release == TWPA_UNKNOWN_OPTIMISTIC, &t->steps, t->order);
  return t->why != NULL;
}

static void check(walk *x)
{
  static const size_t memories[] = {0, 128, 65536};
  trial t = {.why = NULL};
  if (!history_expand(&x->h))
    return;
  t.how.options = (twpa_plan_options){TWPA_PLAN_OPTIONS_INIT, .seed = 5, .table_bytes = 4096, .wide_bytes = 4096,
                                      .free_commit_order = 1, .unique_release = (uint32_t)(x->histories & 1),
                                      .memory_bytes = memories[x->histories % 3],
                                      .no_identity = TWPA_NO_IDENTITY_INSERT_FREE};
  t.how.seed_rows = (x->histories & 4) != 0;
  x->histories++;
  if (is_wrong(&x->h, &t)) {
    history_minimise(&x->h, is_wrong, &t);
    is_wrong(&x->h, &t);
    printf("--- %s: %s, in the order %s; as a trace:\n", x->w->name, t.why, t.order);
    history_report(stdout, &x->h, &t.how, NULL);
    printf("--- end\n");
    fflush(stdout);
    ck_abort_msg("%s: %s, in the order %s", x->w->name, t.why, t.order);
  }
  x->steps += t.steps;
}

/* The statements, cut into transactions in one way. */
static void cut(walk *x, unsigned cuts)
{
  x->h.n = 0;
  memset(x->h.nsrc, 0, sizeof x->h.nsrc);
  for (int i = 0; i < x->w->depth; i++) {
    int t = x->h.n;
    if (x->h.nsrc[t] == SOURCE_ST)
      return;
    x->h.src[t][x->h.nsrc[t]++] = x->st[i];
    if ((cuts >> i & 1) != 0 || i + 1 == x->w->depth)
      x->h.n++;
  }
  check(x);
}

static void descend(walk *x, int depth);

static void go(walk *x, int depth, statement s)
{
  x->at[depth + 1] = x->at[depth];
  if (store_run(&x->w->sc, &x->at[depth + 1], &s, true, NULL) != DONE)
    return;
  x->st[depth] = s;
  descend(x, depth + 1);
}

static void descend(walk *x, int depth)
{
  if (depth == x->w->depth) {
    for (unsigned cuts = 1; cuts < 1u << (x->w->depth - 1); cuts++) /* 0: a single transaction */
      if (x->countdown-- == 0) {
        x->countdown = rng_below(&x->r, 2 * x->step - 1);
        cut(x, cuts);
      }
    return;
  }
  for (uint8_t t = 0; t < x->w->sc.ntables; t++) {
    bool inserts_only = x->w->sc.identity[t] == TWPA_IDENTITY_NOTHING;
    for (int i = 0; i < x->ntuples[t]; i++)
      go(x, depth, (statement){ST_INSERT, t, 0, x->tuples[t][i], 0});
    go(x, depth, (statement){ST_TRUNCATE, t, 0, 0, 0});
    for (int k = 0; k < x->at[depth].count[t] && !inserts_only; k++) {
      tuple old = x->at[depth].rows[t][k];
      go(x, depth, (statement){ST_DELETE, t, old, 0, 0});
      for (int i = 0; i < x->ntuples[t]; i++)
        go(x, depth, (statement){ST_UPDATE, t, old, x->tuples[t][i], 0});
    }
  }
}

/* Every start of up to two rows. */
static void every_start(walk *x)
{
  for (int a = -1; a < x->ntuples[0] + x->ntuples[1]; a++)
    for (int b = -1; b <= a; b++) {
      bool valid = true;
      memset(&x->h.start, 0, sizeof x->h.start);
      for (int i = 0; i < 2; i++) {
        int which = i == 0 ? b : a; /* parents have the smaller numbers */
        if (which < 0)
          continue;
        uint8_t t = which >= x->ntuples[0];
        statement s = {ST_INSERT, t, 0, x->tuples[t][which - (t == 1 ? x->ntuples[0] : 0)], 0};
        valid = valid && store_run(&x->w->sc, &x->h.start, &s, true, NULL) == DONE;
      }
      x->at[0] = x->h.start;
      if (valid && store_valid(&x->w->sc, &x->h.start, true))
        descend(x, 0);
    }
}

START_TEST(all_histories_of_a_few_statements)
{
  static walk x;
  memset(&x, 0, sizeof x);
  x.w = &worlds[_i];
  x.h.sc = x.w->sc;
  x.h.skipped = -1;
  x.r.state = test_seed(71) + (uint64_t)_i;
  x.step = stride(x.w->few ? 16 : 512);
  for (int t = 0; t < x.w->sc.ntables; t++)
    all_tuples(&x, t);
  every_start(&x);
  printf("%s: %" PRIu64 " histories, %" PRIu64 " steps\n", x.w->name, x.histories, x.steps);
  ck_assert_uint_gt(x.histories, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_small");
  TCase *t = tcase_create("small worlds");
  tcase_set_timeout(t, 0);
  tcase_add_loop_test(t, all_modes_of_four_transactions_on_three_keys, 0, 4);
  tcase_add_test(t, all_touches_and_barriers_of_four_transactions);
  tcase_add_loop_test(t, all_histories_of_a_few_statements, 0, NWORLDS);
  suite_add_tcase(s, t);
  return run_suite(s);
}
