/* The tiny target with row locks. */
#include "locks.h"

void locks_init(locks *l, const history *h)
{
  memset(l, 0, sizeof *l);
  l->h = h;
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = 0; i < h->start.count[t]; i++)
      l->rows[l->nrows++] = (vrow){.there = true, .table = (uint8_t)t, .owner = -1, .c = h->start.rows[t][i]};
}

static void push(locks *l, int t, lop op)
{
  test_must(l->tx[t].nops < OPS);
  l->tx[t].ops[l->tx[t].nops++] = op;
}

static void push_front(locks *l, int t, lop op)
{
  ltx *x = &l->tx[t];
  test_must(x->nops < OPS);
  memmove(x->ops + 1, x->ops, x->nops * sizeof *x->ops);
  x->ops[0] = op;
  x->nops++;
}

static void pop(locks *l, int t)
{
  ltx *x = &l->tx[t];
  x->nops--;
  memmove(x->ops, x->ops + 1, x->nops * sizeof *x->ops);
}

void locks_begin(locks *l, int t)
{
  memset(&l->tx[t], 0, sizeof l->tx[t]);
  l->tx[t].open = true;
  for (int i = 0; i < l->h->len[t]; i++)
    push(l, t, (lop){.kind = OP_STATEMENT, .statement = (int8_t)i, .row = -1, .fk = -1});
}

/* The version that a transaction sees, or NULL. */
static const tuple *visible(const vrow *r, int t)
{
  if (r->owner == t)
    return r->gone ? NULL : &r->o;
  return r->there ? &r->c : NULL;
}

static bool other_owner(const vrow *r, int t)
{
  return r->owner >= 0 && r->owner != t;
}

/* Locks a relation in the weak mode; false: somebody empties it. */
static bool share_relation(locks *l, int t, int table, int *holder)
{
  for (int k = 0; k < l->h->n; k++)
    if (k != t && l->tx[k].open && (l->tx[k].exclusive & 1u << table) != 0) {
      *holder = k;
      return false;
    }
  l->tx[t].shared |= (uint8_t)(1u << table);
  return true;
}

static int first_of(unsigned mask)
{
  int i = 0;
  while ((mask & 1u << i) == 0)
    i++;
  return i;
}

/* Does the change touch a column of a full unique index, so that the server takes the strong lock? */
static bool is_strong(const schema *sc, int table, tuple from, tuple to)
{
  for (int x = 0; x < INDEXES; x++) {
    const unique *u = &sc->indexes[table][x];
    for (unsigned i = 0; i < u->n && !u->partial && !u->expression; i++)
      if (col(from, u->cols[i]) != col(to, u->cols[i]))
        return true;
  }
  return false;
}

/* --- what a change of a row is followed by -------------------------------------------------------------------------- */

static bool in_force(const foreign *fk)
{
  return fk->there && fk->target;
}

/* from or to may be NULL. created: the row was made by this transaction. */
static int follow(locks *l, int t, int at, const tuple *from, const tuple *to, bool created)
{
  const schema *sc = &l->h->sc;
  int table = l->rows[at].table;
  for (uint8_t x = 0; x < INDEXES && to != NULL; x++) {
    const unique *u = &sc->indexes[table][x];
    if (u->n > 0 && store_key(u, *to) >= 0 && (from == NULL || store_key(u, *from) != store_key(u, *to)))
      push(l, t, (lop){.kind = OP_CLAIM, .row = (int8_t)at, .index = x, .fk = -1});
  }
  for (int8_t f = 0; f < FKS; f++) { /* the triggers of the parent's side have the names that sort first */
    const foreign *fk = &sc->fks[f];
    const unique *u = &sc->indexes[fk->parent][fk->index];
    int lost = in_force(fk) && fk->parent == table && from != NULL ? store_key(u, *from) : -1;
    if (lost < 0 || (to != NULL && store_key(u, *to) == lost))
      continue;
    int action = to == NULL ? fk->on_delete : fk->on_update;
    push(l, t, (lop){.kind = action == NO_ACTION ? OP_LOSS : OP_ACT, .fk = f, .key = (int8_t)lost, .row = -1,
                     .op = (uint8_t)action, .has_to = to != NULL, .to = to != NULL ? *to : (tuple)0});
  }
  for (int8_t f = 0; f < FKS; f++) {
    const foreign *fk = &sc->fks[f];
    int ref = in_force(fk) && fk->child == table && to != NULL ? store_reference(sc, fk, *to) : -1;
    if (ref >= 0 && (created || from == NULL || store_reference(sc, fk, *from) != ref))
      push(l, t, (lop){.kind = OP_REFERENCE, .fk = f, .key = (int8_t)ref, .row = -1, .of = (int8_t)at});
  }
  return STEP_GOES_ON;
}

/* Operations of one statement come before the next statement: what was pushed behind `from` goes to the front. */
static void before_statements(locks *l, int t, int from)
{
  ltx *x = &l->tx[t];
  lop moved[OPS];
  int n = x->nops - from;
  memcpy(moved, x->ops + from, (size_t)n * sizeof *moved);
  int at = 0; /* behind the operations that are waiting already, before the next statement */
  while (at < from && x->ops[at].kind != OP_STATEMENT)
    at++;
  memmove(x->ops + at + n, x->ops + at, (size_t)(from - at) * sizeof *x->ops);
  memcpy(x->ops + at, moved, (size_t)n * sizeof *moved);
}

/* --- the operations ------------------------------------------------------------------------------------------------- */

static const statement *statement_of(const locks *l, int t, const lop *op)
{
  return &l->h->st[t][op->statement];
}

static bool matches(const locks *l, int t, const lop *op, tuple version)
{
  if (op->fk >= 0)
    return store_reference(&l->h->sc, &l->h->sc.fks[op->fk], version) == op->key;
  const statement *s = statement_of(l, t, op);
  state one = {.count = {0}};
  one.count[s->table] = 1;
  one.rows[s->table][0] = version;
  return store_find(&l->h->sc, &one, s, false) == 0;
}

/* What the row becomes. False: nothing, it goes. */
static bool becomes(const locks *l, int t, const lop *op, tuple from, tuple *to)
{
  if (op->op == ST_DELETE)
    return false;
  *to = from;
  if (op->fk >= 0) {
    const foreign *fk = &l->h->sc.fks[op->fk];
    const unique *u = &l->h->sc.indexes[fk->parent][fk->index];
    for (unsigned i = 0; i < fk->n; i++)
      *to = with(*to, fk->cols[i], op->has_to ? col(op->to, u->cols[i]) : NUL);
    return true;
  }
  const statement *s = statement_of(l, t, op);
  for (unsigned c = 0; c < COLS; c++)
    if ((s->same & 1u << c) == 0)
      *to = with(*to, c, col(s->new, c));
  return true;
}

/* Changes a row that was found; after a wait only this one is looked at again. */
static int change_row(locks *l, int t, int *holder)
{
  lop op = l->tx[t].ops[0];
  vrow *r = &l->rows[op.row];
  if (other_owner(r, t)) {
    *holder = r->owner;
    return STEP_WAITS;
  }
  const tuple *now = visible(r, t);
  if (now == NULL || !matches(l, t, &op, *now)) {
    if (op.fk < 0)
      l->tx[t].missing |= (uint8_t)(1u << op.statement);
    pop(l, t);
    return STEP_GOES_ON;
  }
  tuple from = *now, to = 0;
  bool stays = becomes(l, t, &op, from, &to);
  bool strong = !stays || is_strong(&l->h->sc, r->table, from, to);
  unsigned others = r->share & ~(1u << t);
  if (strong && others != 0) {
    *holder = first_of(others);
    return STEP_WAITS;
  }
  bool created = !r->there;
  if (r->owner != t)
    r->strong = false;
  r->owner = (int8_t)t;
  r->gone = !stays;
  r->o = to;
  r->strong = r->strong || strong;
  pop(l, t);
  int from_op = l->tx[t].nops;
  follow(l, t, op.row, &from, stays ? &to : NULL, created);
  before_statements(l, t, from_op);
  return STEP_GOES_ON;
}

static int insert_row(locks *l, int t, const statement *s)
{
  test_must(l->nrows < VROWS);
  int at = l->nrows++;
  l->rows[at] = (vrow){.table = s->table, .owner = (int8_t)t, .strong = true, .o = s->new};
  pop(l, t);
  int from = l->tx[t].nops;
  follow(l, t, at, NULL, &s->new, true);
  before_statements(l, t, from);
  return STEP_GOES_ON;
}

static int do_statement(locks *l, int t, int *holder)
{
  lop *op = &l->tx[t].ops[0];
  const statement *s = statement_of(l, t, op);
  if (s->op == ST_TRUNCATE) {
    unsigned which = store_truncates(&l->h->sc, s->table);
    pop(l, t);
    for (int k = TABLES - 1; k >= 0; k--)
      if ((which & 1u << k) != 0)
        push_front(l, t, (lop){.kind = OP_TRUNCATE, .table = (uint8_t)k, .fk = -1});
    return STEP_GOES_ON;
  }
  if (!share_relation(l, t, s->table, holder))
    return STEP_WAITS;
  if (s->op == ST_INSERT)
    return insert_row(l, t, s);
  for (int i = 0; i < l->nrows; i++) {
    const tuple *v = visible(&l->rows[i], t);
    if (l->rows[i].table != s->table || v == NULL || !matches(l, t, op, *v))
      continue;
    op->kind = OP_CHANGE;
    op->op = s->op;
    op->row = (int8_t)i;
    return change_row(l, t, holder);
  }
  l->tx[t].missing |= (uint8_t)(1u << op->statement);
  pop(l, t);
  return STEP_GOES_ON;
}

/* A value enters an index. Waits for any open transaction that put it there or takes it away; a deferred index does not. */
static int claim(locks *l, int t, int *holder)
{
  lop op = l->tx[t].ops[0];
  const vrow *self = &l->rows[op.row];
  const unique *u = &l->h->sc.indexes[self->table][op.index];
  int key = self->gone ? -1 : store_key(u, self->o);
  bool violated = false;
  if (u->deferred) {
    l->tx[t].claims[self->table][op.index] |= (uint16_t)(key >= 0 ? 1u << key : 0);
    pop(l, t);
    return STEP_GOES_ON;
  }
  for (int k = 0; k < l->h->n && key >= 0; k++)
    if (k != t && l->tx[k].open && (l->tx[k].claims[self->table][op.index] & 1u << key) != 0) {
      *holder = k;
      return STEP_WAITS;
    }
  for (int i = 0; i < l->nrows && key >= 0; i++) {
    const vrow *r = &l->rows[i];
    if (i == op.row || r->table != self->table)
      continue;
    if (other_owner(r, t) && r->there && store_key(u, r->c) == key) {
      *holder = r->owner;
      return STEP_WAITS;
    }
    const tuple *v = visible(r, t);
    violated = violated || (v != NULL && store_key(u, *v) == key);
  }
  if (violated)
    return STEP_UNIQUE;
  if (key >= 0)
    l->tx[t].claims[self->table][op.index] |= (uint16_t)(1u << key);
  pop(l, t);
  return STEP_GOES_ON;
}

/* A child looks at its parent and takes a key share. */
static int reference(locks *l, int t, int *holder)
{
  lop *op = &l->tx[t].ops[0];
  const foreign *fk = &l->h->sc.fks[op->fk];
  const unique *u = &l->h->sc.indexes[fk->parent][fk->index];
  const tuple *child = visible(&l->rows[op->of], t);
  if (child == NULL || store_reference(&l->h->sc, fk, *child) != op->key) { /* changed again by now */
    pop(l, t);
    return STEP_GOES_ON;
  }
  if (!share_relation(l, t, fk->parent, holder))
    return STEP_WAITS;
  for (int i = op->row >= 0 ? op->row : 0; i < l->nrows; i++) {
    vrow *r = &l->rows[i];
    const tuple *v = visible(r, t);
    if (r->table == fk->parent && v != NULL && store_key(u, *v) == op->key) {
      if (other_owner(r, t) && r->strong) {
        op->row = (int8_t)i;
        *holder = r->owner;
        return STEP_WAITS;
      }
      r->share |= (uint8_t)(1u << t);
      pop(l, t);
      return STEP_GOES_ON;
    }
    if (op->row >= 0)
      break; /* only the one that was waited for */
  }
  return STEP_FK;
}

/* A key is gone: is there a child? */
static int loss(locks *l, int t, int *holder)
{
  const lop *op = &l->tx[t].ops[0];
  const foreign *fk = &l->h->sc.fks[op->fk];
  const unique *u = &l->h->sc.indexes[fk->parent][fk->index];
  if (!share_relation(l, t, fk->child, holder))
    return STEP_WAITS;
  int wait = -1;
  bool violated = false, replaced = false;
  for (int i = 0; i < l->nrows; i++) {
    const vrow *r = &l->rows[i];
    const tuple *v = visible(r, t);
    if (v == NULL)
      continue;
    replaced = replaced || (r->table == fk->parent && store_key(u, *v) == op->key);
    if (r->table != fk->child || store_reference(&l->h->sc, fk, *v) != op->key)
      continue;
    if (other_owner(r, t) && r->strong)
      wait = r->owner;
    else
      violated = true; /* also an open change that re-points the child: the old version counts */
  }
  if (!replaced && violated)
    return STEP_FK;
  if (!replaced && wait >= 0) {
    *holder = wait;
    return STEP_WAITS;
  }
  pop(l, t);
  return STEP_GOES_ON;
}

/* The target deletes or changes the children of a key that is gone. */
static int act(locks *l, int t, int *holder)
{
  lop op = l->tx[t].ops[0];
  const foreign *fk = &l->h->sc.fks[op.fk];
  if (!share_relation(l, t, fk->child, holder))
    return STEP_WAITS;
  pop(l, t);
  bool change = op.op == SET_NULL || op.has_to;
  for (int i = l->nrows - 1; i >= 0; i--) {
    const tuple *v = visible(&l->rows[i], t);
    if (l->rows[i].table == fk->child && v != NULL && store_reference(&l->h->sc, fk, *v) == op.key)
      push_front(l, t, (lop){.kind = OP_CHANGE, .op = change ? ST_UPDATE : ST_DELETE, .fk = op.fk, .key = op.key,
                             .row = (int8_t)i, .has_to = op.op == CASCADE && op.has_to, .to = op.to});
  }
  return STEP_GOES_ON;
}

static int empty_table(locks *l, int t, int *holder)
{
  unsigned bit = 1u << l->tx[t].ops[0].table;
  for (int k = 0; k < l->h->n; k++)
    if (k != t && l->tx[k].open && ((l->tx[k].shared | l->tx[k].exclusive) & bit) != 0) {
      *holder = k;
      return STEP_WAITS;
    }
  l->tx[t].exclusive |= (uint8_t)bit;
  for (int i = 0; i < l->nrows; i++) {
    vrow *r = &l->rows[i];
    if (r->table != l->tx[t].ops[0].table || visible(r, t) == NULL)
      continue;
    r->owner = (int8_t)t;
    r->gone = r->strong = true;
  }
  pop(l, t);
  return STEP_GOES_ON;
}

int locks_step(locks *l, int t, int *holder)
{
  static int (*const steps[])(locks *, int, int *) = {do_statement, change_row, claim, reference, loss, act, empty_table};
  if (l->tx[t].nops == 0)
    return STEP_FINISHED;
  return steps[l->tx[t].ops[0].kind](l, t, holder);
}

/* --- ends ----------------------------------------------------------------------------------------------------------- */

static void release(locks *l, int t)
{
  for (int i = 0; i < l->nrows; i++)
    l->rows[i].share &= (uint8_t)~(1u << t);
  memset(&l->tx[t], 0, sizeof l->tx[t]);
}

static bool deferred_hold(const locks *l, int t)
{
  for (int x = 0; x < INDEXES; x++)
    for (int i = 0; i < l->nrows; i++)
      for (int k = i + 1; k < l->nrows; k++) {
        const vrow *a = &l->rows[i], *b = &l->rows[k];
        const unique *u = &l->h->sc.indexes[a->table][x];
        if (a->table != b->table || u->n == 0 || !u->deferred || visible(a, t) == NULL || visible(b, t) == NULL)
          continue;
        int key = store_key(u, *visible(a, t));
        if (key >= 0 && key == store_key(u, *visible(b, t)))
          return false;
      }
  return true;
}

/* The check at commit would wait for another open transaction that took a value of a deferred index. */
static bool deferred_waits(const locks *l, int t)
{
  for (int i = 0; i < l->nrows; i++)
    for (int x = 0; x < INDEXES; x++) {
      const vrow *r = &l->rows[i];
      const unique *u = &l->h->sc.indexes[r->table][x];
      int key = r->owner == t && !r->gone && u->n > 0 && u->deferred ? store_key(u, r->o) : -1;
      if (key < 0 || (l->tx[t].claims[r->table][x] & 1u << key) == 0)
        continue;
      for (int k = 0; k < l->h->n; k++)
        if (k != t && l->tx[k].open && (l->tx[k].claims[r->table][x] & 1u << key) != 0)
          return true;
    }
  return false;
}

int locks_prepare(const locks *l, int t)
{
  return deferred_hold(l, t) && !deferred_waits(l, t) ? DONE : UNIQUE_ERROR;
}

int locks_commit(locks *l, int t)
{
  if (locks_prepare(l, t) != DONE)
    return UNIQUE_ERROR;
  for (int i = 0; i < l->nrows; i++) {
    vrow *r = &l->rows[i];
    if (r->owner != t)
      continue;
    r->there = !r->gone;
    r->c = r->o;
    r->owner = -1;
  }
  release(l, t);
  return DONE;
}

void locks_abort(locks *l, int t)
{
  for (int i = 0; i < l->nrows; i++)
    if (l->rows[i].owner == t)
      l->rows[i].owner = -1;
  release(l, t);
}

void locks_state(const locks *l, state *st)
{
  memset(st, 0, sizeof *st);
  for (int i = 0; i < l->nrows; i++) {
    const vrow *r = &l->rows[i];
    if (!r->there)
      continue;
    int at = st->count[r->table]++;
    tuple *rows = st->rows[r->table];
    for (; at > 0 && rows[at - 1] > r->c; at--)
      rows[at] = rows[at - 1];
    rows[at] = r->c;
  }
}

bool locks_serial(const history *h)
{
  locks l;
  state now;
  locks_init(&l, h);
  for (int t = 0; t < h->n; t++) {
    int holder, result = STEP_GOES_ON;
    if (h->rolls_back[t]) {
      locks_abort(&l, h->end_of[t] - 1);
    } else if (h->end_of[t] > 0) {
      result = locks_commit(&l, h->end_of[t] - 1) == DONE ? STEP_FINISHED : STEP_UNIQUE;
    } else {
      for (locks_begin(&l, t); result == STEP_GOES_ON;)
        result = locks_step(&l, t, &holder);
      if (result != STEP_FINISHED)
        return false;
      result = (history_end_of(h, t) >= 0 ? locks_prepare(&l, t) : locks_commit(&l, t)) == DONE ? STEP_FINISHED : STEP_UNIQUE;
    }
    if (result != STEP_FINISHED && !h->rolls_back[t])
      return false;
  }
  locks_state(&l, &now);
  return memcmp(&now, &h->end, sizeof now) == 0;
}
