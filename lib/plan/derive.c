/*
 * From a change to a delta: for the row, for each further unique index and each foreign key, which value was there and
 * which is there now (rule 1.2). What the stream does not say becomes UNKNOWN, or ASK where row memory may know; what
 * cannot even be left unknown becomes a barrier, counted by reason.
 */
#include "plan/accesses.h"
#include "plan/canonical.h"
#include "plan/key.h"

#include <string.h>

typedef struct deriver {
  twpa__accesses *a;
  const twpa__policy *policy;
  twpa__delta *delta;
  const twpa_relation *r;
  uint32_t first; /* in idxs */
  const twpa_value *old_values, *new_values;
  bool wide;      /* row memory will want fingerprints */
  bool no_memory; /* the change cannot be remembered: the relation is forgotten */
} deriver;

/* Which image a value is of. */
enum { OLD, NEW };

static bool is_there(const twpa_value *v)
{
  return v->state == TWPA_VALUE_NULL || v->state == TWPA_VALUE_BINARY || v->state == TWPA_VALUE_TEXT;
}

/* The value of a column in an image, or NULL if the stream does not say. */
static const twpa_value *column(const deriver *d, int image, uint32_t c)
{
  const twpa_value *old = NULL;
  if (d->old_values != NULL && (d->r->identity == TWPA_IDENTITY_FULL || d->r->identity_column[c]))
    old = is_there(&d->old_values[c]) ? &d->old_values[c] : NULL;
  if (image == OLD)
    return old;
  const twpa_value *v = d->new_values != NULL ? &d->new_values[c] : NULL;
  if (v != NULL && is_there(v))
    return v;
  return v != NULL && v->state == TWPA_VALUE_UNCHANGED ? old : NULL;
}

static bool same_bytes(const twpa_value *x, const twpa_value *y)
{
  if (x->state != y->state)
    return false;
  if (x->state == TWPA_VALUE_NULL)
    return true;
  return x->bytes.len == y->bytes.len &&
         (x->bytes.len == 0 || memcmp(x->bytes.data, y->bytes.data, x->bytes.len) == 0);
}

/* Equal for the database: decided on canonical bytes, never on hashes. */
static bool equal_values(uint32_t cls, const twpa_value *x, const twpa_value *y)
{
  if (x->state != TWPA_VALUE_NULL && x->bytes.data == NULL && x->bytes.len > 0)
    return false;
  if (y->state != TWPA_VALUE_NULL && y->bytes.data == NULL && y->bytes.len > 0)
    return false;
  if (same_bytes(x, y))
    return true;
  if (cls == TWPA_CLASS_UNKNOWN || x->state == TWPA_VALUE_NULL || y->state == TWPA_VALUE_NULL)
    return false;
  twpa__canonical_form fx, fy;
  if (twpa__canonical(&fx, cls, x->state, x->bytes) != TWPA_OK || twpa__canonical(&fy, cls, y->state, y->bytes) != TWPA_OK)
    return false;
  return fx.exact && fy.exact && fx.len == fy.len && (fx.len == 0 || memcmp(fx.data, fy.data, fx.len) == 0);
}

/* --- values of an index ---------------------------------------------------------------------------------------- */

typedef struct key_columns {
  const uint32_t *columns, *prefix;
  size_t ncolumns;
  bool nulls_are_values, utf8;
  const uint32_t *predicate;
  size_t npredicate;
} key_columns;

static key_columns of_index(const twpa__index *x)
{
  return (key_columns){x->columns,
                       x->prefix,
                       x->ncolumns,
                       (x->flags & TWPA_INDEX_NULLS_NOT_DISTINCT) != 0,
                       (x->flags & TWPA_INDEX_PREFIX_UTF8) != 0,
                       x->predicate,
                       x->npredicate};
}

static key_columns of_fk(const twpa__fk *f)
{
  return (key_columns){f->columns, NULL, f->ncolumns, false, false, NULL, 0};
}

/* NONE, KEY, UNKNOWN (something was not sent) or SKIP (not a value of its class). */
static uint8_t hash_value(const deriver *d, twpa__hashing *h, const key_columns *k, int image, uint64_t domain)
{
  uint8_t state = TWPA__VAL_KEY;
  twpa__hashing_begin(h, domain, d->wide);
  for (size_t i = 0; i < k->ncolumns; i++) {
    const twpa_value *v = column(d, image, k->columns[i]);
    if (v == NULL)
      state = TWPA__VAL_UNKNOWN;
    else if (v->state == TWPA_VALUE_NULL && !k->nulls_are_values)
      return TWPA__VAL_NONE;
  }
  for (size_t i = 0; i < k->ncolumns && state == TWPA__VAL_KEY; i++) {
    uint32_t c = k->columns[i];
    const twpa_value *v = column(d, image, c);
    if (v->state == TWPA_VALUE_NULL)
      twpa__hashing_null(h);
    else if (twpa__hashing_column(h, d->r->columns[c].cls, v, k->prefix != NULL ? k->prefix[i] : 0, k->utf8) != TWPA_OK)
      state = TWPA__VAL_SKIP;
  }
  for (size_t i = 0; i < k->npredicate && d->wide && state == TWPA__VAL_KEY; i++) {
    const twpa_value *v = column(d, image, k->predicate[i]);
    if (v == NULL || (v->state != TWPA_VALUE_NULL && v->bytes.data == NULL && v->bytes.len > 0))
      h->exact = false;
    else
      twpa__hashing_predicate(h, v);
  }
  return state;
}

/*
 * Are all these columns as they were, because the stream says so or both images are there and equal? Folded bytes tell
 * that two values are equal, not that what is stored has the same bytes.
 */
static bool unchanged(const deriver *d, const uint32_t *columns, size_t n, bool bytes)
{
  for (size_t i = 0; i < n; i++) {
    uint32_t c = columns[i];
    if (d->new_values[c].state == TWPA_VALUE_UNCHANGED)
      continue;
    if (d->old_values == NULL && d->r->identity_column[c])
      continue; /* no old identity was sent: it is the same, byte for byte */
    const twpa_value *x = column(d, OLD, c), *y = column(d, NEW, c);
    if (x == NULL || y == NULL)
      return false;
    uint32_t cls = d->r->columns[c].cls;
    if (bytes && cls == TWPA_CLASS_FOLDED && (x->state != TWPA_VALUE_NULL || y->state != TWPA_VALUE_NULL))
      return false;
    if (bytes ? !same_bytes(x, y) : !equal_values(cls, x, y))
      return false;
  }
  return true;
}

/* --- the row --------------------------------------------------------------------------------------------------- */

static void give_up_row(deriver *d, uint32_t reason)
{
  twpa__accesses_barrier(d->a, d->r->plan_id, reason);
  d->no_memory = true;
}

static uint8_t row_value(deriver *d, const key_columns *k, int image, uint64_t *key, uint64_t id[2])
{
  twpa__hashing h;
  uint8_t state = hash_value(d, &h, k, image, d->a->idxs[d->first + d->r->row_index].domain);
  if (state == TWPA__VAL_KEY) {
    *key = h.key;
    id[0] = h.check[0];
    id[1] = h.check[1];
    if (d->wide && !h.exact)
      d->no_memory = true;
    return state;
  }
  give_up_row(d, state == TWPA__VAL_UNKNOWN ? TWPA_FALLBACK_MISSING : TWPA_FALLBACK_VALUE);
  return TWPA__VAL_UNKNOWN;
}

static void row_of_index(deriver *d)
{
  twpa__delta *delta = d->delta;
  const twpa__index *x = &d->r->indexes[d->r->row_index];
  const key_columns k = of_index(x);
  if (delta->op != TWPA_OP_DELETE)
    delta->row_new = row_value(d, &k, NEW, &delta->row_new_key, delta->row_new_id);
  if (delta->op == TWPA_OP_INSERT)
    return;
  if (d->r->identity == TWPA_IDENTITY_NOTHING || (d->old_values == NULL && (delta->op == TWPA_OP_DELETE ||
                                                                            d->r->identity == TWPA_IDENTITY_FULL))) {
    delta->row_old = TWPA__VAL_UNKNOWN;
    give_up_row(d, TWPA_FALLBACK_IDENTITY);
    return;
  }
  if (delta->op == TWPA_OP_UPDATE && delta->row_new == TWPA__VAL_KEY && unchanged(d, x->columns, x->ncolumns, false)) {
    delta->flags |= TWPA__DELTA_IDENTITY_EQUAL;
    delta->row_old = TWPA__VAL_KEY;
    delta->row_old_key = delta->row_new_key;
    memcpy(delta->row_old_id, delta->row_new_id, sizeof delta->row_old_id);
    if (!unchanged(d, x->columns, x->ncolumns, true))
      delta->flags |= TWPA__DELTA_STRONG;
    return;
  }
  delta->row_old = row_value(d, &k, OLD, &delta->row_old_key, delta->row_old_id);
  if (delta->op == TWPA_OP_UPDATE)
    delta->flags |= TWPA__DELTA_STRONG;
}

static uint8_t whole_row(deriver *d, int image, uint64_t *key)
{
  twpa__hashing h;
  uint8_t state = TWPA__VAL_KEY;
  twpa__hashing_begin(&h, d->a->idxs[d->first + d->r->nindexes + d->r->nfks].domain, false);
  for (uint32_t c = 0; c < d->r->ncolumns && state == TWPA__VAL_KEY; c++) {
    if ((d->r->columns[c].flags & TWPA_COLUMN_GENERATED) != 0 || d->r->columns[c].cls == TWPA_CLASS_UNKNOWN)
      continue;
    const twpa_value *v = column(d, image, c);
    if (v == NULL)
      state = TWPA__VAL_UNKNOWN;
    else if (v->state == TWPA_VALUE_NULL)
      twpa__hashing_null(&h);
    else if (twpa__hashing_column(&h, d->r->columns[c].cls, v, 0, false) != TWPA_OK)
      state = TWPA__VAL_SKIP;
  }
  *key = h.key;
  if (state == TWPA__VAL_KEY)
    return state;
  give_up_row(d, state == TWPA__VAL_UNKNOWN ? TWPA_FALLBACK_MISSING : TWPA_FALLBACK_VALUE);
  return TWPA__VAL_UNKNOWN;
}

static void derive_row(deriver *d)
{
  twpa__delta *delta = d->delta;
  switch (d->r->row_kind) {
  case TWPA__ROW_INDEX:
    row_of_index(d);
    break;
  case TWPA__ROW_WHOLE:
    if (delta->op != TWPA_OP_INSERT && d->old_values == NULL) {
      delta->row_old = TWPA__VAL_UNKNOWN;
      give_up_row(d, TWPA_FALLBACK_IDENTITY);
    } else if (delta->op != TWPA_OP_INSERT) {
      delta->row_old = whole_row(d, OLD, &delta->row_old_key);
    }
    if (delta->op != TWPA_OP_DELETE)
      delta->row_new = whole_row(d, NEW, &delta->row_new_key);
    break;
  default:
    if (delta->op != TWPA_OP_INSERT || d->policy->no_identity == TWPA_NO_IDENTITY_SERIAL)
      give_up_row(d, TWPA_FALLBACK_IDENTITY);
    break;
  }
}

/* --- further indexes and foreign keys -------------------------------------------------------------------------- */

/* What is shared by both: the new value, and the old one by rules 1 to 4 and 7; in_identity is rule 3. */
static void derive_slot(deriver *d, twpa__slot *s, const key_columns *k, uint64_t domain, bool in_identity,
                        uint64_t relation, uint32_t reason)
{
  twpa__hashing h;
  if (d->delta->op != TWPA_OP_DELETE) {
    s->new_state = hash_value(d, &h, k, NEW, domain);
    s->new_key = h.key;
    s->new_check[0] = h.check[0];
    s->new_check[1] = h.check[1];
    s->new_exact = h.exact;
  }
  if (d->delta->op == TWPA_OP_INSERT) {
    s->old_state = TWPA__VAL_NONE;
  } else if (d->delta->op == TWPA_OP_UPDATE && unchanged(d, k->columns, k->ncolumns, false) &&
             unchanged(d, k->predicate, k->npredicate, true)) {
    s->old_state = TWPA__VAL_SAME;
    s->bytes_change = !unchanged(d, k->columns, k->ncolumns, true);
  } else {
    bool sent = d->old_values != NULL && (d->r->identity == TWPA_IDENTITY_FULL || in_identity);
    s->old_state = sent ? hash_value(d, &h, k, OLD, domain) : (uint8_t)TWPA__VAL_UNKNOWN;
    s->old_key = h.key;
    s->bytes_change = 1;
  }
  if (s->old_state == TWPA__VAL_SKIP) { /* unreadable: unknown, and a barrier */
    s->old_state = TWPA__VAL_UNKNOWN;
    twpa__accesses_barrier(d->a, relation, TWPA_FALLBACK_VALUE);
  }
  if (s->new_state == TWPA__VAL_UNKNOWN && s->old_state == TWPA__VAL_SAME) {
    s->new_state = TWPA__VAL_SAME; /* rule 4: not sent and not needed; row memory carries it over */
  } else if (s->new_state == TWPA__VAL_UNKNOWN || s->new_state == TWPA__VAL_SKIP) {
    twpa__accesses_barrier(d->a, relation, s->new_state == TWPA__VAL_SKIP ? (uint32_t)TWPA_FALLBACK_VALUE : reason);
    twpa__accesses_barrier(d->a, d->r->plan_id, s->new_state == TWPA__VAL_SKIP ? (uint32_t)TWPA_FALLBACK_VALUE : reason);
    s->new_state = TWPA__VAL_UNKNOWN;
  }
  if (s->old_state == TWPA__VAL_UNKNOWN && d->wide && d->r->can_remember) {
    s->old_state = TWPA__VAL_ASK;
    d->delta->flags |= TWPA__DELTA_ASKS;
  }
}

static void derive_slots(deriver *d)
{
  twpa__slot *slots = twpa__delta_slots(d->delta);
  memset(slots, 0, d->delta->nslots * sizeof *slots);
  for (size_t i = 0; i < d->r->nindexes; i++) {
    const twpa__index *x = &d->r->indexes[i];
    const key_columns k = of_index(x);
    if (!x->exact || (d->r->row_kind == TWPA__ROW_INDEX && i == d->r->row_index))
      slots[i].old_state = slots[i].new_state = TWPA__VAL_SKIP;
    else
      derive_slot(d, &slots[i], &k, d->a->idxs[d->first + i].domain, x->in_identity, d->r->plan_id,
                  TWPA_FALLBACK_MISSING);
  }
  for (size_t i = 0; i < d->r->nfks; i++) {
    const twpa__fk *f = &d->r->fks[i];
    const key_columns k = of_fk(f);
    twpa__slot *s = &slots[d->r->nindexes + i];
    if (!f->exact || !twpa__fk_counts(f->flags, d->policy->foreign_keys))
      s->old_state = s->new_state = TWPA__VAL_SKIP;
    else
      derive_slot(d, s, &k, d->a->idxs[d->first + d->r->nindexes + i].domain, f->in_identity, f->parent,
                  TWPA_FALLBACK_MISSING);
  }
}

/* What makes every change of the relation coarser, whatever its values are. */
static void derive_relation(deriver *d)
{
  const twpa_relation *r = d->r;
  uint64_t id = r->plan_id;
  twpa__accesses_touch(d->a, id, d->delta->op == TWPA_OP_INSERT ? 0 : (uint32_t)TWPA__TOUCH_OLD_ROWS);
  if (r->unknown_class)
    twpa__accesses_fall_back(d->a, TWPA_FALLBACK_CLASS);
  if (r->inexact_index)
    twpa__accesses_barrier(d->a, id, TWPA_FALLBACK_INDEX);
  if ((r->flags & TWPA_RELATION_SERIAL) != 0)
    twpa__accesses_barrier(d->a, id, TWPA_FALLBACK_SERIAL);
  for (size_t i = 0; i < r->nfks; i++) {
    if (r->fks[i].exact || !twpa__fk_counts(r->fks[i].flags, d->policy->foreign_keys))
      continue;
    twpa__accesses_barrier(d->a, id, TWPA_FALLBACK_FOREIGN_KEY);
    twpa__accesses_touch(d->a, r->fks[i].parent, TWPA__TOUCH_BARRIER);
  }
  if ((r->flags & TWPA_RELATION_SIDE_EFFECTS) != 0) {
    twpa__accesses_barrier(d->a, id, TWPA_FALLBACK_SIDE_EFFECTS);
    twpa__accesses_touch(d->a, id, TWPA__TOUCH_FORGET);
    for (size_t i = 0; i < r->naffects; i++)
      twpa__accesses_touch(d->a, r->affects[i], TWPA__TOUCH_BARRIER | TWPA__TOUCH_FORGET);
    d->a->database_barrier = d->a->database_barrier || r->naffects == 0;
  }
}

void twpa__derive(twpa__accesses *a, const twpa__policy *policy, twpa__delta *delta, uint32_t user, uint32_t op,
                  const twpa_value *old_values, const twpa_value *new_values)
{
  const twpa_relation *r = a->users[user].relation;
  deriver d = {a, policy, delta, r, a->users[user].first, old_values, new_values, policy->memory && r->can_remember, false};
  if (op == TWPA_OP_INSERT)
    d.old_values = NULL;
  if (op == TWPA_OP_DELETE)
    d.new_values = NULL;
  memset(delta, 0, sizeof *delta);
  delta->user = user;
  delta->op = (uint8_t)op;
  delta->nslots = (uint32_t)(r->nindexes + r->nfks);
  derive_relation(&d);
  derive_row(&d);
  derive_slots(&d);
  if (d.no_memory)
    delta->flags |= TWPA__DELTA_FORGET;
}
