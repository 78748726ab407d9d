/* The store: transactions and their changes. What a change may meet, and in which order, is in store.h. */
#include "support/apply/store_impl.h"

#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[STORE_KINDS] = {
    "insert of an existing key", "row missing",   "old image differs",  "unique value held twice",
    "parent missing",            "children left", "touched while open", "unique value in an open transaction",
    "order backwards",
};

const char *store_kind_name(uint32_t bit)
{
  for (unsigned i = 0; i < STORE_KINDS; i++)
    if (bit == 1u << i)
      return kind_names[i];
  return "several findings";
}

static void forget_findings(store_txn *t)
{
  t->detail[0] = 0;
  t->nfindings = 0;
}

/* Notes a finding; the first of a call is described. */
static uint32_t found_between(store_txn *t, uint32_t bit, const stored_table *tb, uint32_t other,
                              const store_value *values, const char *where)
{
  t->findings = host_grow(t->findings, &t->findings_cap, t->nfindings, sizeof *t->findings);
  t->findings[t->nfindings++] =
      (store_finding){.bit = bit, .table = (uint32_t)(tb - t->s->tables), .other = other};
  if (t->detail[0])
    return bit;
  char text[160];
  if (values)
    store_describe(text, sizeof text, &tb->desc, values);
  else
    snprintf(text, sizeof text, "%.120s", tb->desc.name);
  snprintf(t->detail, sizeof t->detail, "%s: %s%s%.60s", store_kind_name(bit), text, where ? ", " : "",
           where ? where : "");
  return bit;
}

static uint32_t found(store_txn *t, uint32_t bit, const stored_table *tb, const store_value *values, const char *where)
{
  return found_between(t, bit, tb, (uint32_t)(tb - t->s->tables), values, where);
}

/* About a foreign key of the child. */
static uint32_t found_reference(store_txn *t, uint32_t bit, const stored_table *child, const store_foreign_key *fk,
                                const store_value *values)
{
  return found_between(t, bit, child, fk->parent, values, fk->name);
}

static step *add_step(store_txn *t, uint32_t kind, uint32_t table)
{
  t->steps = host_grow(t->steps, &t->steps_cap, t->nsteps, sizeof *t->steps);
  step *st = &t->steps[t->nsteps++];
  memset(st, 0, sizeof *st);
  st->kind = kind;
  st->table = table;
  return st;
}

static void add_check(store_txn *t, uint32_t kind, uint32_t table, uint32_t which, const unsigned char *key, size_t len)
{
  t->checks = host_grow(t->checks, &t->checks_cap, t->nchecks, sizeof *t->checks);
  check *c = &t->checks[t->nchecks++];
  *c = (check){.kind = kind, .table = table, .which = which, .len = (uint32_t)len, .offset = t->check_keys.len};
  store_buf_add(&t->check_keys, key, len);
}

static bool dirty(const store_txn *t, const entry *e)
{
  return e->owner && e->owner != t;
}

/* The newest that relies on e or made a copy, open ones included. */
static uint64_t newest_reader(const entry *e)
{
  uint64_t seq = e->read_seq;
  for (const mark *m = e->readers; m; m = m->next)
    if (m->txn->seq > seq)
      seq = m->txn->seq;
  return seq;
}

/* The transaction is put on a list of an entry, unless it is there. */
static void add_mark(store_txn *t, uint32_t kind, uint32_t table, entry *e)
{
  mark **list = kind == STEP_READ ? &e->readers : &e->marks, *m = *list;
  while (m && m->txn != t)
    m = m->next;
  if (m)
    return;
  m = host_alloc(1, sizeof *m);
  *m = (mark){.next = *list, .txn = t};
  *list = m;
  add_step(t, kind, table)->entry = e;
}

/* The transaction writes, or only updates, the row behind e, which is not dirty. True: a later one was here before. */
static bool touch(store_txn *t, uint32_t table, entry *e, bool write)
{
  bool backwards = e->touch_seq > t->seq || (write && newest_reader(e) > t->seq);
  step *st = add_step(t, STEP_ENTRY, table);
  st->entry = e;
  st->write_seq = e->write_seq;
  st->touch_seq = e->touch_seq;
  st->owned = e->owner == t;
  st->owner_wrote = e->owner_wrote;
  if (e->touch_seq < t->seq)
    e->touch_seq = t->seq;
  if (write && e->write_seq < t->seq)
    e->write_seq = t->seq;
  e->owner_wrote = write || (st->owned && e->owner_wrote);
  e->owner = t;
  return backwards;
}

/* Says that children with this reference are in motion. */
static void put_marks(store_txn *t, uint32_t table, stored_row *r)
{
  stored_table *tb = &t->s->tables[table];
  for (uint32_t i = tb->first_fk; i < tb->nmaps; i++) {
    if (r->links[i].in)
      add_mark(t, STEP_MARK, table, r->links[i].in);
  }
}

/* Takes a row out; `new`, if any, is already there in its place. */
static void remove_row(store_txn *t, uint32_t table, stored_row *r, const stored_row *new)
{
  stored_table *tb = &t->s->tables[table];
  put_marks(t, table, r);
  for (uint32_t i = 0; i < tb->desc.nindexes; i++) {
    const entry *e = r->links[i].in;
    if (tb->referenced[i] && e && !(new && new->links[i].in == e))
      add_check(t, CHECK_CHILDREN, table, i, e->key, e->len);
  }
  store_detach(tb, r);
  add_step(t, STEP_DETACH, table)->row = r;
}

/* Puts a row in; `old`, if any, is still there and will be taken out. A reference that stays is not looked at again. */
static void put_row(store_txn *t, uint32_t table, stored_row *r, const stored_row *old)
{
  stored_table *tb = &t->s->tables[table];
  r->seq = t->seq;
  r->owner = t;
  store_attach(tb, r, &t->key);
  add_step(t, STEP_ATTACH, table)->row = r;
  put_marks(t, table, r);
  for (uint32_t i = tb->first_fk; i < tb->nmaps; i++) {
    const entry *e = r->links[i].in;
    if (e && !(old && old->links[i].in == e))
      add_check(t, CHECK_PARENT, table, i - tb->first_fk, e->key, e->len);
  }
  if (tb->whole_map < tb->nmaps && r->links[tb->whole_map].in)
    add_mark(t, STEP_READ, table, r->links[tb->whole_map].in);
}

/* Every change touches its table. */
static uint32_t touch_table(store_txn *t, uint32_t table)
{
  stored_table *tb = &t->s->tables[table];
  if (tb->truncating && tb->truncating != t)
    return found(t, STORE_DIRTY, tb, NULL, "emptied by an open transaction");
  if (!t->touched[table]) {
    t->touched[table] = true;
    tb->open++;
  }
  if (tb->truncate_seq > t->seq)
    return found(t, STORE_BACKWARDS, tb, NULL, "emptied by a later transaction");
  return 0;
}

/* The entry of index i that values belong to; NULL: none. */
static entry *index_entry(store_txn *t, stored_table *tb, uint32_t i, const store_value *values)
{
  const store_index *index = &tb->desc.indexes[i];
  int state = store_key(&t->key, &tb->desc, index->columns, index->ncolumns, index->nulls_equal, values);
  return state == KEY_KNOWN ? store_entry(&tb->maps[i], &t->key, true) : NULL;
}

/* The entry by which a row is found; NULL if it cannot be found at all. */
static entry *identity_entry(store_txn *t, stored_table *tb, const store_value *values)
{
  if (tb->desc.identity >= 0)
    return index_entry(t, tb, (uint32_t)tb->desc.identity, values);
  if (tb->desc.identity == STORE_BY_NOTHING)
    return NULL;
  store_whole_key(&t->key, &tb->desc, values);
  return store_entry(&tb->maps[tb->whole_map], &t->key, true);
}

/* A row that must have been there before the first transaction. */
static stored_row *add_seed(store *s, uint32_t table, const store_value *values, int32_t assumed)
{
  store_seeds *seeds = s->recording;
  stored_table *tb = &s->tables[table];
  seeds->list = host_grow(seeds->list, &seeds->cap, seeds->count, sizeof *seeds->list);
  seed *sd = &seeds->list[seeds->count++];
  *sd = (seed){.table = table, .assumed = assumed, .values = store_values_copy(values, tb->desc.ncolumns)};
  seeds->parents += assumed >= 0;
  stored_row *r = store_row_new(tb, values);
  r->assumed = assumed >= 0 && assumed != tb->desc.identity;
  store_buf scratch = {0};
  store_attach(tb, r, &scratch);
  free(scratch.data);
  return r;
}

static bool never_touched(const stored_table *tb, const entry *e)
{
  return !e->touch_seq && !e->write_seq && !tb->truncate_seq;
}

/* Whether the row that is missing behind e can have been there before: of equal whole rows there can be any number. */
static bool older(const stored_table *tb, const entry *e)
{
  return tb->desc.identity < 0 ? !tb->truncate_seq : never_touched(tb, e);
}

/* The row behind e that this transaction may take: of several equal ones, one that no other open transaction made. */
static stored_row *pick(const store_txn *t, const stored_table *tb, const entry *e)
{
  uint32_t m = tb->desc.identity >= 0 ? (uint32_t)tb->desc.identity : tb->whole_map;
  for (stored_row *r = e->first; r; r = r->links[m].next)
    if (!r->owner || r->owner == t)
      return r;
  return NULL;
}

/* Gives up the old row's values and takes the new row's: identity and unique indexes. Nothing here is dirty. */
static uint32_t move_keys(store_txn *t, uint32_t table, stored_row *old, const stored_row *new)
{
  stored_table *tb = &t->s->tables[table];
  uint32_t met = 0;
  for (uint32_t i = 0; i < tb->desc.nindexes; i++) {
    const store_index *index = &tb->desc.indexes[i];
    entry *from = old ? old->links[i].in : NULL;
    entry *to = new ? index_entry(t, tb, i, new->values) : NULL;
    bool identity = (int32_t)i == tb->desc.identity;
    bool backwards = false;
    if (from && from == to) {
      if (identity)
        backwards = touch(t, table, to, false);
    } else {
      backwards = from && touch(t, table, from, true);
      backwards = (to && touch(t, table, to, true)) || backwards;
    }
    if (backwards)
      met |= found(t, STORE_BACKWARDS, tb, new ? new->values : old->values, index->name);
    for (stored_row *r = to && to != from ? to->first : NULL, *next; r; r = next) {
      next = r->links[i].next;
      if (r == old)
        continue;
      if (identity || r->assumed)
        remove_row(t, table, r, NULL);
      if (identity)
        met |= found(t, STORE_EXISTS, tb, new->values, index->name);
      else if (!r->assumed && index->deferred)
        add_check(t, CHECK_UNIQUE, table, i, to->key, to->len);
      else if (!r->assumed)
        met |= found(t, STORE_DUPLICATE, tb, new->values, index->name);
    }
  }
  return met;
}

/* Whether a key that old or new stands on belongs to another open transaction: which finding that is, or 0. */
static uint32_t keys_dirty(store_txn *t, stored_table *tb, const stored_row *old, const stored_row *new)
{
  for (uint32_t i = 0; i < tb->desc.nindexes; i++) {
    const entry *from = old ? old->links[i].in : NULL;
    const entry *to = new ? index_entry(t, tb, i, new->values) : NULL;
    if (from == to && (int32_t)i != tb->desc.identity)
      continue;
    if ((from && dirty(t, from)) || (to && dirty(t, to)))
      return (int32_t)i == tb->desc.identity ? STORE_DIRTY : STORE_BUSY;
  }
  return 0;
}

/* The new row: values that stay as they were are taken from the stored row, else from the old image. */
static stored_row *new_row(const stored_table *tb, const store_value *values, const stored_row *stored,
                           const store_value *old)
{
  stored_row *r = store_row_new(tb, values);
  bool keeps = false;
  for (uint32_t i = 0; i < tb->desc.ncolumns; i++) {
    if (r->values[i].state != STORE_KEEP)
      continue;
    keeps = true;
    r->values[i] = (store_value){.state = STORE_UNKNOWN};
    if (stored && stored->values[i].state != STORE_UNKNOWN)
      r->values[i] = stored->values[i];
    else if (old)
      r->values[i] = old[i];
  }
  if (keeps) { /* own copies of what was borrowed */
    store_value *all = store_values_copy(r->values, tb->desc.ncolumns);
    free(r->values);
    r->values = all;
  }
  return r;
}

/* Making a copy of a whole row comes after the removals before it. */
static uint32_t made_late(store_txn *t, stored_table *tb, const stored_row *r)
{
  if (tb->whole_map >= tb->nmaps)
    return 0;
  store_whole_key(&t->key, &tb->desc, r->values);
  const entry *e = store_entry(&tb->maps[tb->whole_map], &t->key, true);
  return e->write_seq > t->seq ? found(t, STORE_BACKWARDS, tb, r->values, "whole row") : 0;
}

static uint32_t insert_locked(store_txn *t, uint32_t table, const store_value *values)
{
  stored_table *tb = &t->s->tables[table];
  uint32_t met = touch_table(t, table);
  if (met & STORE_DIRTY)
    return met;
  stored_row *r = new_row(tb, values, NULL, NULL);
  uint32_t taken = keys_dirty(t, tb, NULL, r);
  if (taken) {
    met |= found(t, taken, tb, r->values, NULL);
    store_row_free(r);
    return met;
  }
  met |= made_late(t, tb, r);
  met |= move_keys(t, table, NULL, r);
  put_row(t, table, r, NULL);
  return met;
}

uint32_t store_insert(store_txn *t, uint32_t table, const store_value *row)
{
  forget_findings(t);
  pthread_mutex_lock(&t->s->tables[table].lock);
  uint32_t met = insert_locked(t, table, row);
  pthread_mutex_unlock(&t->s->tables[table].lock);
  return met;
}

/* The columns of an old image that a seed can rely on: all that are known; without one, the identity. */
static stored_row *seed_row(store_txn *t, uint32_t table, const store_value *old, const store_value *new)
{
  const store_table *desc = &t->s->tables[table].desc;
  if (old)
    return add_seed(t->s, table, old, -1);
  store_value *values = host_alloc(desc->ncolumns, sizeof *values);
  const store_index *index = &desc->indexes[desc->identity];
  for (uint32_t i = 0; i < index->ncolumns; i++)
    values[index->columns[i]] = new[index->columns[i]];
  stored_row *r = add_seed(t->s, table, values, -1);
  free(values);
  return r;
}

static bool differs(const stored_table *tb, const stored_row *stored, const store_value *old)
{
  for (uint32_t i = 0; old && i < tb->desc.ncolumns; i++) {
    const store_value *a = &stored->values[i], *b = &old[i];
    if (a->state != STORE_UNKNOWN && (b->state == STORE_NULL || b->state == STORE_BYTES) && !store_same(a, b))
      return true;
  }
  return false;
}

/* Update (new given) and delete. old NULL: the identity is in new. */
static uint32_t change_locked(store_txn *t, uint32_t table, const store_value *old, const store_value *new)
{
  stored_table *tb = &t->s->tables[table];
  const store_value *by = old ? old : new;
  uint32_t met = touch_table(t, table);
  if (met & STORE_DIRTY)
    return met;
  entry *e = by ? identity_entry(t, tb, by) : NULL;
  if (!e)
    return met | found(t, STORE_MISSING, tb, by, "it has no identity");
  stored_row *stored = pick(t, tb, e);
  if (dirty(t, e) || (!stored && e->first))
    return met | found(t, STORE_DIRTY, tb, by, NULL);
  bool missing = !stored;
  if (missing && t->s->recording && older(tb, e)) {
    stored = seed_row(t, table, old, new);
    missing = false;
  }
  stored_row *r = new ? new_row(tb, new, stored, old) : NULL;
  uint32_t taken = keys_dirty(t, tb, stored, r);
  if (taken) {
    met |= found(t, taken, tb, by, NULL);
    if (r)
      store_row_free(r);
    return met;
  }
  if (missing) {
    met |= found(t, STORE_MISSING, tb, by, NULL);
    if (touch(t, table, e, true))
      met |= found(t, STORE_BACKWARDS, tb, by, NULL);
  } else {
    if (differs(tb, stored, old))
      met |= found(t, STORE_MISMATCH, tb, by, NULL);
    if (tb->desc.identity < 0 && touch(t, table, e, true))
      met |= found(t, STORE_BACKWARDS, tb, by, "whole row");
  }
  if (r)
    met |= made_late(t, tb, r);
  met |= move_keys(t, table, stored, r);
  if (r)
    put_row(t, table, r, stored);
  if (stored)
    remove_row(t, table, stored, r);
  return met;
}

uint32_t store_update(store_txn *t, uint32_t table, const store_value *old, const store_value *row)
{
  forget_findings(t);
  pthread_mutex_lock(&t->s->tables[table].lock);
  uint32_t met = change_locked(t, table, old, row);
  pthread_mutex_unlock(&t->s->tables[table].lock);
  return met;
}

uint32_t store_delete(store_txn *t, uint32_t table, const store_value *old)
{
  forget_findings(t);
  pthread_mutex_lock(&t->s->tables[table].lock);
  uint32_t met = change_locked(t, table, old, NULL);
  pthread_mutex_unlock(&t->s->tables[table].lock);
  return met;
}

static uint32_t truncate_locked(store_txn *t, uint32_t table)
{
  stored_table *tb = &t->s->tables[table];
  uint32_t met = touch_table(t, table);
  if (met & STORE_DIRTY)
    return met;
  if (tb->open > 1)
    return met | found(t, STORE_DIRTY, tb, NULL, "truncate");
  if (tb->touch_seq > t->seq)
    met |= found(t, STORE_BACKWARDS, tb, NULL, "truncate");
  add_step(t, STEP_TRUNCATE, table)->truncate_seq = tb->truncate_seq;
  if (tb->truncate_seq < t->seq)
    tb->truncate_seq = t->seq;
  tb->truncating = t;
  while (tb->first)
    remove_row(t, table, tb->first, NULL);
  return met;
}

uint32_t store_truncate(store_txn *t, const uint32_t *tables, uint32_t ntables)
{
  uint32_t met = 0;
  forget_findings(t);
  for (uint32_t i = 0; i < ntables; i++) {
    pthread_mutex_lock(&t->s->tables[tables[i]].lock);
    met |= truncate_locked(t, tables[i]);
    pthread_mutex_unlock(&t->s->tables[tables[i]].lock);
  }
  return met;
}

/* A parent known only by its child's reference: the values of that index. */
static void assume_parent(store_txn *t, const store_foreign_key *fk, const store_value *child)
{
  const store_table *desc = &t->s->tables[fk->parent].desc;
  const store_index *index = &desc->indexes[fk->parent_index];
  store_value *values = host_alloc(desc->ncolumns, sizeof *values);
  for (uint32_t i = 0; i < fk->ncolumns; i++)
    values[index->columns[i]] = child[fk->columns[i]];
  add_seed(t->s, fk->parent, values, (int32_t)fk->parent_index);
  free(values);
}

static uint32_t check_parent(store_txn *t, const check *c)
{
  stored_table *child = &t->s->tables[c->table];
  const store_foreign_key *fk = &child->desc.foreign_keys[c->which];
  stored_table *parent = &t->s->tables[fk->parent];
  const unsigned char *key = t->check_keys.data + c->offset;
  pthread_mutex_lock(&child->lock);
  const entry *refs = store_entry_of(&child->maps[child->first_fk + c->which], key, c->len, false);
  store_value *values = refs && refs->first ? store_values_copy(refs->first->values, child->desc.ncolumns) : NULL;
  pthread_mutex_unlock(&child->lock);
  if (!values)
    return 0; /* taken back by the same transaction */
  uint32_t met = 0;
  pthread_mutex_lock(&parent->lock);
  entry *e = store_entry_of(&parent->maps[fk->parent_index], key, c->len, true);
  if (!e->nrows && t->s->recording && never_touched(parent, e))
    assume_parent(t, fk, values);
  if (dirty(t, e) && e->owner_wrote)
    met |= found_reference(t, STORE_DIRTY, child, fk, values);
  if (!e->nrows)
    met |= found_reference(t, STORE_NO_PARENT, child, fk, values);
  if (e->write_seq > t->seq)
    met |= found_reference(t, STORE_BACKWARDS, child, fk, values);
  add_mark(t, STEP_READ, fk->parent, e);
  pthread_mutex_unlock(&parent->lock);
  free(values);
  return met;
}

static uint32_t check_one_child(store_txn *t, uint32_t table, uint32_t fk, const unsigned char *key, size_t len)
{
  stored_table *child = &t->s->tables[table];
  uint32_t met = 0;
  pthread_mutex_lock(&child->lock);
  const entry *refs = store_entry_of(&child->maps[child->first_fk + fk], key, len, false);
  if (refs && refs->first)
    met |= found_reference(t, STORE_CHILDREN, child, &child->desc.foreign_keys[fk], refs->first->values);
  for (const mark *m = refs ? refs->marks : NULL; m; m = m->next)
    if (m->txn != t)
      met |= found_reference(t, STORE_DIRTY, child, &child->desc.foreign_keys[fk], NULL);
  pthread_mutex_unlock(&child->lock);
  return met;
}

static uint32_t check_index(store_txn *t, const check *c)
{
  stored_table *tb = &t->s->tables[c->table];
  const unsigned char *key = t->check_keys.data + c->offset;
  uint32_t met = 0;
  pthread_mutex_lock(&tb->lock);
  const entry *e = store_entry_of(&tb->maps[c->which], key, c->len, false);
  uint32_t nrows = e ? e->nrows : 0;
  if (c->kind == CHECK_UNIQUE && nrows > 1)
    met |= found(t, STORE_DUPLICATE, tb, e->first->values, tb->desc.indexes[c->which].name);
  pthread_mutex_unlock(&tb->lock);
  if (c->kind == CHECK_UNIQUE || nrows)
    return met;
  for (uint32_t i = 0; i < t->s->ntables; i++) {
    const store_table *desc = &t->s->tables[i].desc;
    for (uint32_t f = 0; f < desc->nforeign_keys; f++)
      if (desc->foreign_keys[f].parent == c->table && desc->foreign_keys[f].parent_index == c->which)
        met |= check_one_child(t, i, f, key, c->len);
  }
  return met;
}

uint32_t store_finish(store_txn *t)
{
  uint32_t met = 0;
  forget_findings(t);
  for (size_t i = 0; i < t->nchecks; i++)
    met |= t->checks[i].kind == CHECK_PARENT ? check_parent(t, &t->checks[i]) : check_index(t, &t->checks[i]);
  return met;
}

const char *store_txn_detail(const store_txn *t)
{
  return t->detail;
}

const store_finding *store_txn_findings(const store_txn *t, size_t *count)
{
  *count = t->nfindings;
  return t->findings;
}

store_txn *store_begin(store *s, uint64_t seq)
{
  store_txn *t = host_alloc(1, sizeof *t);
  t->s = s;
  t->seq = seq;
  t->touched = host_alloc(s->ntables, sizeof *t->touched);
  return t;
}

static void take_mark(store_txn *t, mark **list)
{
  for (mark **at = list; *at; at = &(*at)->next)
    if ((*at)->txn == t) {
      mark *gone = *at;
      *at = gone->next;
      free(gone);
      return;
    }
}

static void undo_entry(store_txn *t, const step *st)
{
  entry *e = st->entry;
  e->write_seq = st->write_seq;
  e->touch_seq = st->touch_seq;
  e->owner_wrote = st->owner_wrote;
  e->owner = st->owned ? t : NULL;
}

static void end_txn(store_txn *t, bool committed)
{
  for (uint32_t i = 0; i < t->s->ntables; i++) {
    if (!t->touched[i])
      continue;
    stored_table *tb = &t->s->tables[i];
    pthread_mutex_lock(&tb->lock);
    tb->open--;
    if (committed && tb->touch_seq < t->seq)
      tb->touch_seq = t->seq;
    if (tb->truncating == t)
      tb->truncating = NULL;
    pthread_mutex_unlock(&tb->lock);
  }
  free(t->steps);
  free(t->checks);
  free(t->findings);
  free(t->check_keys.data);
  free(t->key.data);
  free(t->touched);
  free(t);
}

static void commit_read(store_txn *t, entry *e)
{
  take_mark(t, &e->readers);
  if (e->read_seq < t->seq)
    e->read_seq = t->seq;
}

void store_commit(store_txn *t)
{
  for (size_t i = 0; i < t->nsteps; i++) {
    step *st = &t->steps[i];
    pthread_mutex_lock(&t->s->tables[st->table].lock);
    if (st->kind == STEP_ATTACH)
      st->row->owner = NULL;
    else if (st->kind == STEP_ENTRY && st->entry->owner == t)
      st->entry->owner = NULL;
    else if (st->kind == STEP_MARK)
      take_mark(t, &st->entry->marks);
    else if (st->kind == STEP_READ)
      commit_read(t, st->entry);
    pthread_mutex_unlock(&t->s->tables[st->table].lock);
  }
  for (size_t i = 0; i < t->nsteps; i++)
    if (t->steps[i].kind == STEP_DETACH)
      store_row_free(t->steps[i].row);
  end_txn(t, true);
}

void store_rollback(store_txn *t)
{
  for (size_t i = t->nsteps; i-- > 0;) {
    step *st = &t->steps[i];
    stored_table *tb = &t->s->tables[st->table];
    pthread_mutex_lock(&tb->lock);
    if (st->kind == STEP_ATTACH) {
      store_detach(tb, st->row);
      store_row_free(st->row);
    } else if (st->kind == STEP_DETACH) {
      store_attach(tb, st->row, &t->key);
    } else if (st->kind == STEP_ENTRY) {
      undo_entry(t, st);
    } else if (st->kind == STEP_TRUNCATE) {
      tb->truncate_seq = st->truncate_seq;
    } else {
      take_mark(t, st->kind == STEP_READ ? &st->entry->readers : &st->entry->marks);
    }
    pthread_mutex_unlock(&tb->lock);
  }
  end_txn(t, false);
}
