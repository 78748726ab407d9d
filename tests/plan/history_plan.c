/* From histories to plans; every order of a plan, executed. */
#include "history_trace.h"

#include <stdio.h>

/* --- relations ------------------------------------------------------------------------------------------------------ */

static const uint32_t numbers[COLS] = {0, 1, 2, 3};

static uint32_t fk_flags(const foreign *fk)
{
  return (fk->target ? (uint32_t)TWPA_FK_ENFORCED : 0) | (fk->match_full ? (uint32_t)TWPA_FK_MATCH_FULL : 0) |
         (fk->target && (fk->on_delete | fk->on_update) != NO_ACTION ? (uint32_t)TWPA_FK_CASCADE : 0);
}

static void add_indexes(const schema *sc, int t, relation_kit *kit, uint32_t columns[INDEXES][2])
{
  for (unsigned x = 0; x < INDEXES; x++) {
    const unique *u = &sc->indexes[t][x];
    if (u->n == 0)
      continue;
    for (unsigned i = 0; i < u->n; i++)
      columns[x][i] = u->cols[i];
    twpa_index_desc *d = kit_index(kit, x + 1, columns[x], u->n, x == 0 ? TWPA_INDEX_PRIMARY : 0);
    d->flags |= (u->nulls_are_values ? (uint32_t)TWPA_INDEX_NULLS_NOT_DISTINCT : 0) |
                (u->partial ? (uint32_t)TWPA_INDEX_PARTIAL : 0) | (u->deferred ? (uint32_t)TWPA_INDEX_DEFERRABLE : 0) |
                (u->expression ? (uint32_t)TWPA_INDEX_EXPRESSION : 0);
    d->predicate_columns = u->partial && u->predicate_known ? &numbers[3] : NULL;
    d->npredicate_columns = d->predicate_columns != NULL;
  }
}

static twpa_relation *relation_of(const schema *sc, int t)
{
  relation_kit kit;
  uint32_t columns[INDEXES][2], fk_columns[FKS][2];
  uint64_t affected[TABLES];
  const unsigned affects = store_affects(sc, t);
  kit_begin(&kit, (uint64_t)t + 1, COLS);
  add_indexes(sc, t, &kit, columns);
  for (unsigned f = 0; f < FKS; f++) {
    const foreign *fk = &sc->fks[f];
    if (!fk->there)
      continue;
    for (unsigned i = 0; i < fk->n; i++)
      fk_columns[f][i] = fk->cols[i];
    if (fk->child == t)
      kit_fk(&kit, (uint64_t)fk->parent + 1, (uint64_t)fk->index + 1, fk_columns[f], fk->n, fk_flags(fk));
    if (fk->parent == t)
      kit_reference(&kit, (uint64_t)fk->child + 1, (uint64_t)fk->index + 1, fk_flags(fk));
  }
  kit.desc.identity = sc->identity[t];
  kit.desc.identity_index = 2;
  for (int k = 0; k < sc->ntables; k++)
    if ((affects & 1u << k) != 0)
      affected[kit.desc.naffects++] = (uint64_t)k + 1;
  kit.desc.affects = affected;
  kit.desc.flags = affects != 0 ? TWPA_RELATION_SIDE_EFFECTS : 0;
  return kit_make(&kit);
}

void history_relations(const schema *sc, twpa_relation **rels)
{
  for (int t = 0; t < sc->ntables; t++)
    rels[t] = relation_of(sc, t);
}

void history_relations_free(const schema *sc, twpa_relation **rels)
{
  for (int t = 0; t < sc->ntables; t++)
    twpa_relation_free(rels[t]);
}

/* --- accesses ------------------------------------------------------------------------------------------------------- */

static void add_statement(const history *h, twpa_access_set *set, twpa_relation *const *rels, const statement *s)
{
  images im;
  if (s->op == ST_TRUNCATE) {
    twpa_relation *list[TABLES];
    size_t n = 0;
    unsigned which = store_truncates(&h->sc, s->table);
    for (int t = 0; t < h->sc.ntables; t++)
      if ((which & 1u << t) != 0)
        list[n++] = rels[t];
    test_must(twpa_access_set_truncate(set, list, n) == TWPA_OK);
    return;
  }
  history_images(h, s, &im);
  test_must(change(set, rels[s->table], s->op, COLS, im.has_old ? im.old_values : NULL,
                   im.has_new ? im.new_values : NULL) == TWPA_OK);
}

void history_fill(const history *h, int t, twpa_access_set *set, twpa_relation *const *rels, uint32_t flags)
{
  if (h->end_of[t] > 0 || history_end_of(h, t) >= 0)
    flags |= TWPA_TXN_PREPARED;
  test_must(twpa_access_set_begin(set, (uint64_t)t + 1, (uint64_t)(t & 1), flags) == TWPA_OK);
  for (int i = 0; i < h->len[t]; i++)
    add_statement(h, set, rels, &h->st[t][i]);
}

void history_seed_rows(const schema *sc, const state *rows, twpa_plan *plan, twpa_relation *const *rels,
                       const trace_log *log)
{
  for (int t = 0; t < sc->ntables; t++)
    for (int i = 0; i < rows->count[t]; i++) {
      tuple one = rows->rows[t][i];
      int64_t values[COLS];
      row r;
      for (unsigned c = 0; c < COLS; c++)
        values[c] = col(one, c) == NUL ? NIL : (int64_t)col(one, c);
      log_seed(log, t, one);
      twpa_status st = twpa_plan_seed_row(plan, rels[t], row_of(&r, COLS, values), COLS);
      log_status(log, st);
      test_must(st == TWPA_OK || st == TWPA_NONE || st == TWPA_E_STATE);
    }
}

/* --- the plan ------------------------------------------------------------------------------------------------------- */

static uint32_t predecessors(const twpa_plan *plan, int t)
{
  twpa_edge edges[64];
  size_t n;
  uint32_t preds = 0;
  test_must(twpa_plan_explain(plan, edges, 64, &n, (uint64_t)t + 1) == TWPA_OK && n <= 64);
  for (size_t i = 0; i < n; i++) {
    uint32_t one = 1u << (edges[i].from - 1);
    preds |= (edges[i].flags & TWPA_EDGE_UP_TO) != 0 ? one | (one - 1) : one;
  }
  return preds;
}

typedef struct planning {
  const history *h;
  const setting *how;
  uint32_t *preds;
  twpa_plan *plan;
  const trace_log *log;
  rng r;
  uint32_t done;
  state target; /* after those that are done */
} planning;

static void finish(planning *p, int t, uint32_t outcome)
{
  uint8_t missing;
  uint64_t ready;
  log_line(p->log, "complete %d%s", t + 1, outcome == TWPA_DONE_SKIPPED ? " how=skipped" : "");
  test_must(twpa_plan_complete(p->plan, (uint64_t)t + 1, outcome) == TWPA_OK);
  while (twpa_plan_next_ready(p->plan, &ready) == TWPA_OK)
    log_line(p->log, "> ready seq=%d", (int)ready);
  p->done |= 1u << t;
  (void)history_run_tx(p->h, t, &p->target, &missing);
}

static bool may_finish(const planning *p, int t)
{
  return (p->done & 1u << t) == 0 && (p->preds[t] & ~p->done) == 0;
}

static void finish_some(planning *p, int last)
{
  int skipped = p->h->skipped;
  for (int k = 0; k <= last && p->how->complete; k++)
    if (k != skipped && may_finish(p, k) && rng_chance(&p->r, 40))
      finish(p, k, TWPA_DONE_COMMITTED);
  if (last == skipped && rng_chance(&p->r, 50) && may_finish(p, last)) /* early: the later ones enter after it */
    finish(p, last, TWPA_DONE_SKIPPED);
}

/*
 * The skipped one is skipped at last, when those before it are done or just when it may. Who waits at that moment waits for
 * what is done by then in any case, and may have got new predecessors.
 */
static void finish_skipped(planning *p)
{
  int skipped = p->h->skipped;
  uint32_t waiting = 0;
  if (skipped < 0 || (p->done & 1u << skipped) != 0)
    return;
  bool at_once = may_finish(p, skipped) && rng_chance(&p->r, 50);
  for (int k = 0; k < skipped && !at_once; k++)
    if ((p->done & 1u << k) == 0)
      finish(p, k, TWPA_DONE_COMMITTED);
  for (int t = skipped + 1; t < p->h->n; t++)
    waiting |= (p->preds[t] & ~p->done) != 0 ? 1u << t : 0;
  finish(p, skipped, TWPA_DONE_SKIPPED);
  for (int t = skipped + 1; t < p->h->n; t++)
    if ((waiting & 1u << t) != 0) {
      p->preds[t] |= predecessors(p->plan, t) | p->done;
      log_explained(p->log, p->plan, t, (uint64_t)t + 1);
    }
}

void history_plan_logged(const history *h, const setting *how, uint32_t preds[TX], const trace_log *log)
{
  planning p = {h, how, preds, NULL, log, {how->dice}, 0, h->start};
  twpa_access_set *set;
  twpa_relation *rels[TABLES];
  test_must(twpa_plan_new(&p.plan, &how->options, NULL) == TWPA_OK);
  test_must(twpa_access_set_new(&set, p.plan, NULL) == TWPA_OK);
  history_relations(&h->sc, rels);
  log_line(log, "print edges=plain");
  log_target(log, h);
  log_plan(log, &how->options);
  for (int t = 0; t < h->n; t++) {
    if (how->seed_rows && (t == 0 || (how->complete && rng_chance(&p.r, 50))))
      history_seed_rows(&h->sc, &p.target, p.plan, rels, log); /* what the host sees at the target at this moment */
    history_fill(h, t, set, rels, 0);
    log_transaction(log, h, t, "");
    test_must(enter(p.plan, set) == (uint64_t)t + 1);
    log_entered(log, p.plan, t, (uint64_t)t + 1);
    preds[t] = predecessors(p.plan, t) | p.done; /* and what was done before it entered */
    finish_some(&p, t);
  }
  finish_skipped(&p);
  history_relations_free(&h->sc, rels);
  twpa_access_set_free(set);
  twpa_plan_free(p.plan);
}

void history_plan(const history *h, const setting *how, uint32_t preds[TX])
{
  history_plan_logged(h, how, preds, NULL);
}

/* --- every order ---------------------------------------------------------------------------------------------------- */

typedef struct seen {
  uint32_t mask;
  state st;
  char order[TX + 1];
} seen;

#define SEEN 1024 /* a power of two */

typedef struct search {
  seen stack[SEEN];
  int depth;
  seen known[SEEN];
  uint32_t stamp[SEEN], run;
  int nknown;
} search;

static bool is_known(search *s, const seen *x)
{
  uint64_t hash = x->mask;
  for (size_t i = 0; i + 8 <= sizeof x->st; i += 8) {
    uint64_t word;
    memcpy(&word, (const char *)&x->st + i, 8);
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  for (size_t at = hash & (SEEN - 1);; at = (at + 1) & (SEEN - 1)) {
    if (s->stamp[at] != s->run) {
      test_must(s->nknown < SEEN / 2);
      s->nknown++;
      s->stamp[at] = s->run;
      s->known[at] = *x;
      return false;
    }
    if (s->known[at].mask == x->mask && memcmp(&s->known[at].st, &x->st, sizeof x->st) == 0)
      return true;
  }
}

/* One more transaction after those of `at`. NULL, or what is wrong. */
static const char *step(search *s, const history *h, const seen *at, int t, bool may_violate)
{
  seen next = *at;
  uint8_t missing;
  next.mask |= 1u << t;
  next.order[strlen(next.order)] = (char)('1' + t);
  int result = history_run_tx(h, t, &next.st, &missing);
  if (result == UNIQUE_ERROR && may_violate && h->end_of[t] == 0)
    return NULL; /* detected: it will run again; but what has been prepared cannot fail any more */
  s->stack[s->depth] = next;
  if (result != DONE)
    return result == FK_ERROR       ? "foreign key violated"
           : result == UNIQUE_ERROR ? "unique index violated"
                                    : "deferred unique index violated";
  if (missing != h->missing[t])
    return "a row is missing, or is not";
  if (next.mask == (1u << h->n) - 1 && memcmp(&next.st, &h->end, sizeof next.st) != 0)
    return "the result differs";
  if (!is_known(s, &next)) {
    test_must(s->depth + 1 < SEEN);
    s->depth++;
  }
  return NULL;
}

const char *history_all_orders(const history *h, const uint32_t preds[TX], bool optimistic, uint64_t *steps, char *order)
{
  static search s;
  s.run++;
  s.nknown = 0;
  s.depth = 1;
  memset(&s.stack[0], 0, sizeof s.stack[0]);
  s.stack[0].st = h->start;
  while (s.depth > 0) {
    seen at = s.stack[--s.depth];
    bool head = true;
    for (int t = 0; t < h->n; t++) {
      if ((at.mask & 1u << t) != 0)
        continue;
      bool is_head = head;
      head = false;
      const char *wrong = NULL;
      s.stack[s.depth] = at;
      if ((preds[t] & ~at.mask) == 0)
        wrong = step(&s, h, &at, t, optimistic && !is_head);
      else if (is_head)
        wrong = "the first unfinished one waits";
      *steps += (preds[t] & ~at.mask) == 0;
      if (wrong != NULL) {
        snprintf(order, TX + 1, "%s", s.stack[s.depth].order);
        return wrong;
      }
    }
  }
  return NULL;
}
