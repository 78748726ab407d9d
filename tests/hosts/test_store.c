/* The store finds every wrong order and every contradiction, undoes what is rolled back, and compares exactly. */
#include "support/apply/store.h"
#include "support/runner.h"

#include <string.h>

/*
 * p(id primary key, u unique, note), c(id primary key, p references p(id), q references p(u)),
 * bag(a, b) found by the whole row, log(a) insert only, d(id primary key, u unique deferred).
 */
enum { P, C, BAG, LOG, D, TABLES };
static const uint8_t classes[3] = {STORE_AS_INTEGER, STORE_AS_BYTES, STORE_AS_BYTES};
static const uint8_t child_classes[3] = {STORE_AS_INTEGER, STORE_AS_INTEGER, STORE_AS_BYTES};
static const uint32_t column[3] = {0, 1, 2};
static const store_index p_indexes[] = {{.name = "p_pkey", .columns = &column[0], .ncolumns = 1},
                                        {.name = "p_u", .columns = &column[1], .ncolumns = 1}};
static const store_index d_indexes[] = {{.name = "d_pkey", .columns = &column[0], .ncolumns = 1},
                                        {.name = "d_u", .columns = &column[1], .ncolumns = 1, .deferred = true}};
static const store_foreign_key fks[] = {
    {.name = "c_p", .parent = P, .parent_index = 0, .columns = &column[1], .ncolumns = 1},
    {.name = "c_q", .parent = P, .parent_index = 1, .columns = &column[2], .ncolumns = 1}};
static const store_table tables[TABLES] = {
    {.name = "p", .ncolumns = 3, .classes = classes, .indexes = p_indexes, .nindexes = 2, .identity = 0},
    {.name = "c",
     .ncolumns = 3,
     .classes = child_classes,
     .indexes = p_indexes,
     .nindexes = 1,
     .foreign_keys = fks,
     .nforeign_keys = 2,
     .identity = 0},
    {.name = "bag", .ncolumns = 2, .classes = classes, .identity = STORE_BY_WHOLE_ROW},
    {.name = "log", .ncolumns = 1, .classes = classes, .identity = STORE_BY_NOTHING},
    {.name = "d", .ncolumns = 2, .classes = classes, .indexes = d_indexes, .nindexes = 2, .identity = 0},
};

/* A value of a row in a test: a small number, a text, NULL, unknown, or "as it was". */
static store_value number(int n)
{
  static unsigned char bytes[256][4];
  bytes[n][0] = (unsigned char)n;
  return (store_value){.state = STORE_BYTES, .len = 4, .data = bytes[n]};
}

static store_value text(const char *s)
{
  if (!s)
    return (store_value){.state = STORE_NULL};
  if (!strcmp(s, "?"))
    return (store_value){.state = STORE_UNKNOWN};
  if (!strcmp(s, "="))
    return (store_value){.state = STORE_KEEP};
  return (store_value){.state = STORE_BYTES, .len = (uint32_t)strlen(s), .data = (const unsigned char *)s};
}

typedef struct values {
  store_value v[3];
} values;

static values p_row(int id, const char *u, const char *note)
{
  return (values){{number(id), text(u), text(note)}};
}

static values c_row(int id, int p, const char *q)
{
  return (values){{number(id), p ? number(p) : text(NULL), text(q)}};
}

static uint32_t insert(store_txn *t, uint32_t table, values row)
{
  return store_insert(t, table, row.v);
}

static uint32_t update(store_txn *t, uint32_t table, values row)
{
  return store_update(t, table, NULL, row.v);
}

static uint32_t delete(store_txn *t, uint32_t table, int id)
{
  values old = {{number(id), text("?"), text("?")}};
  return store_delete(t, table, old.v);
}

/* Ends a transaction that must have nothing against it. */
static void done(store_txn *t)
{
  ck_assert_uint_eq(store_finish(t), 0);
  store_commit(t);
}

/* One change as a transaction of its own: what it met, the end of the transaction included. */
static uint32_t one(store *s, uint64_t seq, uint32_t (*f)(store_txn *, uint32_t, values), uint32_t table, values row)
{
  store_txn *t = store_begin(s, seq);
  uint32_t met = f(t, table, row);
  met |= store_finish(t);
  store_commit(t);
  return met;
}

static uint32_t one_delete(store *s, uint64_t seq, uint32_t table, int id)
{
  store_txn *t = store_begin(s, seq);
  uint32_t met = delete (t, table, id);
  met |= store_finish(t);
  store_commit(t);
  return met;
}

START_TEST(what_fits)
{
  store *s = store_new(tables, TABLES);
  ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert_uint_eq(one(s, 2, insert, P, p_row(2, "b", "x")), 0);
  ck_assert_uint_eq(one(s, 3, insert, C, c_row(1, 1, "b")), 0);
  ck_assert_uint_eq(one(s, 4, insert, C, c_row(2, 0, NULL)), 0);
  ck_assert_uint_eq(one(s, 5, update, P, p_row(1, "=", "y")), 0);
  ck_assert_uint_eq(one(s, 6, update, P, p_row(1, "c", "=")), 0);
  ck_assert_uint_eq(one(s, 7, insert, P, p_row(3, "a", "x")), 0);
  ck_assert_uint_eq(one(s, 8, insert, P, p_row(4, NULL, "x")), 0);
  ck_assert_uint_eq(one(s, 9, insert, P, p_row(5, NULL, "x")), 0);
  ck_assert_uint_eq(one_delete(s, 10, C, 1), 0);
  ck_assert_uint_eq(one_delete(s, 11, P, 2), 0);
  ck_assert_uint_eq(store_count(s, P), 4);
  store_free(s);
}
END_TEST

START_TEST(contradictions)
{
  store *s = store_new(tables, TABLES);
  ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert_uint_eq(one(s, 2, insert, P, p_row(1, "b", "x")), STORE_EXISTS);
  ck_assert_uint_eq(one(s, 3, update, P, p_row(7, "z", "x")), STORE_MISSING);
  ck_assert_uint_eq(one_delete(s, 4, P, 8), STORE_MISSING);
  ck_assert_uint_eq(one(s, 5, insert, P, p_row(2, "b", "x")), STORE_DUPLICATE);
  ck_assert_uint_eq(one(s, 6, update, P, p_row(7, "b", "x")), STORE_DUPLICATE);
  ck_assert_uint_eq(one(s, 7, insert, C, c_row(1, 9, NULL)), STORE_NO_PARENT);
  ck_assert_uint_eq(one(s, 8, insert, C, c_row(2, 0, "nobody")), STORE_NO_PARENT);
  ck_assert_uint_eq(one(s, 9, insert, C, c_row(3, 2, NULL)), 0);
  ck_assert_uint_eq(one_delete(s, 10, P, 2), STORE_CHILDREN);
  store_txn *t = store_begin(s, 11);
  values old = p_row(1, "b", "other"), row = p_row(1, "b", "z");
  ck_assert_uint_eq(store_update(t, P, old.v, row.v), STORE_MISMATCH);
  ck_assert_ptr_nonnull(strstr(store_txn_detail(t), "old image differs: p (1)"));
  done(t);
  store_free(s);
}
END_TEST

/* Two transactions in the wrong order, seen only by who was there before. */
START_TEST(backwards)
{
  store *s = store_new(tables, TABLES);
  ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert_uint_eq(one(s, 5, update, P, p_row(1, "=", "five")), 0);
  ck_assert_uint_eq(one(s, 4, update, P, p_row(1, "=", "four")), STORE_BACKWARDS);
  ck_assert_uint_eq(one(s, 6, insert, P, p_row(2, "b", "x")), 0);
  ck_assert_uint_eq(one_delete(s, 9, P, 2), 0);
  ck_assert_uint_eq(one(s, 8, insert, P, p_row(2, "c", "x")), STORE_BACKWARDS); /* the row is gone, its trace is not */
  ck_assert_uint_eq(one(s, 12, update, P, p_row(2, "d", "x")), 0);
  ck_assert_uint_eq(one(s, 11, insert, P, p_row(3, "c", "x")), STORE_BACKWARDS); /* a unique value given free later */
  ck_assert_uint_eq(one(s, 20, insert, C, c_row(1, 1, NULL)), 0);
  ck_assert_uint_eq(one(s, 19, update, P, p_row(1, "=", "beside readers")), 0);
  ck_assert_uint_eq(one_delete(s, 21, C, 1), 0);
  ck_assert_uint_eq(one_delete(s, 18, P, 1), STORE_BACKWARDS); /* a later child relied on it */
  ck_assert_uint_eq(one(s, 30, insert, P, p_row(5, "p5", "x")), 0);
  ck_assert_uint_eq(one(s, 29, insert, C, c_row(2, 5, NULL)), STORE_BACKWARDS); /* a child of a parent made later */
  store_txn *t = store_begin(s, 28);
  ck_assert_uint_eq(store_truncate(t, (const uint32_t[]){P, C}, 2), STORE_BACKWARDS);
  store_finish(t);
  store_commit(t);
  ck_assert_uint_eq(one(s, 27, insert, P, p_row(9, "z", "x")), STORE_BACKWARDS);
  store_free(s);
}
END_TEST

START_TEST(open_transactions)
{
  store *s = store_new(tables, TABLES);
  ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert_uint_eq(one(s, 2, insert, P, p_row(2, "b", "x")), 0);
  store_txn *t3 = store_begin(s, 3), *t4 = store_begin(s, 4), *t5 = store_begin(s, 5);
  ck_assert_uint_eq(update(t3, P, p_row(1, "=", "3")), 0);
  ck_assert_uint_eq(update(t4, P, p_row(2, "c", "4")), 0);
  ck_assert_uint_eq(update(t5, P, p_row(1, "=", "5")), STORE_DIRTY);
  ck_assert_uint_eq(insert(t5, P, p_row(3, "b", "x")), STORE_BUSY);  /* openly given free */
  ck_assert_uint_eq(insert(t5, P, p_row(3, "c", "x")), STORE_BUSY);  /* openly taken */
  ck_assert_uint_eq(delete (t5, P, 2), STORE_DIRTY);
  ck_assert_uint_eq(store_truncate(t5, (const uint32_t[]){P}, 1), STORE_DIRTY);
  ck_assert_uint_eq(insert(t5, C, c_row(1, 0, "c")), 0);
  ck_assert_uint_eq(store_finish(t5), STORE_DIRTY); /* the parent's new key is not committed */
  store_rollback(t5);
  done(t4);
  done(t3);
  t3 = store_begin(s, 6);
  ck_assert_uint_eq(insert(t3, C, c_row(1, 1, NULL)), 0);
  t4 = store_begin(s, 7);
  ck_assert_uint_eq(delete (t4, P, 1), 0);
  ck_assert_uint_eq(store_finish(t4), STORE_CHILDREN | STORE_DIRTY);
  store_rollback(t4);
  done(t3);
  t3 = store_begin(s, 8);
  ck_assert_uint_eq(delete (t3, C, 1), 0);
  t4 = store_begin(s, 9);
  ck_assert_uint_eq(delete (t4, P, 1), 0);
  ck_assert_uint_eq(store_finish(t4), STORE_DIRTY); /* the child is gone, but not yet for good */
  store_rollback(t4);
  done(t3);
  ck_assert_uint_eq(one_delete(s, 10, P, 1), 0);
  t3 = store_begin(s, 11);
  ck_assert_uint_eq(store_truncate(t3, (const uint32_t[]){P, C}, 2), 0);
  t4 = store_begin(s, 12);
  ck_assert_uint_eq(insert(t4, P, p_row(1, "a", "x")), STORE_DIRTY);
  store_rollback(t4);
  done(t3);
  ck_assert_uint_eq(store_count(s, P), 0);
  store_free(s);
}
END_TEST

START_TEST(bags)
{
  store *s = store_new(tables, TABLES);
  values a = {{number(1), text("x")}}, b = {{number(1), text("y")}};
  ck_assert_uint_eq(one(s, 1, insert, BAG, a), 0);
  ck_assert_uint_eq(one(s, 2, insert, BAG, a), 0);
  ck_assert_uint_eq(store_count(s, BAG), 2);
  store_txn *t = store_begin(s, 3);
  ck_assert_uint_eq(store_update(t, BAG, a.v, b.v), 0);
  store_txn *other = store_begin(s, 4);
  ck_assert_uint_eq(store_delete(other, BAG, b.v), STORE_DIRTY);
  ck_assert_uint_eq(store_delete(other, BAG, a.v), STORE_DIRTY);
  ck_assert_uint_eq(insert(other, BAG, a), 0); /* makers of equal rows do not meet */
  done(other);
  done(t);
  t = store_begin(s, 6);
  ck_assert_uint_eq(store_delete(t, BAG, a.v), 0);
  ck_assert_uint_eq(store_delete(t, BAG, a.v), 0);
  ck_assert_uint_eq(store_delete(t, BAG, a.v), STORE_MISSING);
  done(t);
  ck_assert_uint_eq(one(s, 5, insert, BAG, a), STORE_BACKWARDS);
  t = store_begin(s, 7);
  ck_assert_uint_eq(insert(t, LOG, a), 0);
  ck_assert_uint_eq(insert(t, LOG, a), 0);
  ck_assert_uint_eq(store_update(t, LOG, NULL, a.v), STORE_MISSING);
  ck_assert_uint_eq(store_delete(t, LOG, a.v), STORE_MISSING);
  done(t);
  ck_assert_uint_eq(store_count(s, LOG), 2);
  store_free(s);
}
END_TEST

START_TEST(deferred_and_transient)
{
  store *s = store_new(tables, TABLES);
  store_txn *t = store_begin(s, 1);
  ck_assert_uint_eq(insert(t, D, p_row(1, "a", NULL)), 0);
  ck_assert_uint_eq(insert(t, D, p_row(2, "a", NULL)), 0);
  ck_assert_uint_eq(update(t, D, p_row(1, "b", NULL)), 0);
  done(t);
  t = store_begin(s, 2);
  ck_assert_uint_eq(update(t, D, p_row(1, "a", NULL)), 0);
  ck_assert_uint_eq(store_finish(t), STORE_DUPLICATE);
  store_rollback(t);
  t = store_begin(s, 3); /* a child before its parent, and a child that goes with its parent */
  ck_assert_uint_eq(insert(t, C, c_row(1, 1, NULL)), 0);
  ck_assert_uint_eq(insert(t, P, p_row(1, "a", NULL)), 0);
  done(t);
  t = store_begin(s, 4);
  ck_assert_uint_eq(delete (t, P, 1), 0);
  ck_assert_uint_eq(delete (t, C, 1), 0);
  done(t);
  t = store_begin(s, 5); /* a key that comes back */
  ck_assert_uint_eq(insert(t, P, p_row(1, "a", NULL)), 0);
  ck_assert_uint_eq(insert(t, C, c_row(1, 1, NULL)), 0);
  ck_assert_uint_eq(delete (t, P, 1), 0);
  ck_assert_uint_eq(insert(t, P, p_row(1, "b", NULL)), 0);
  values old = {{number(1), text("?"), text("?")}}, moved = p_row(2, "b", NULL);
  ck_assert_uint_eq(store_update(t, P, old.v, moved.v), 0);
  ck_assert_uint_eq(update(t, C, c_row(1, 2, NULL)), 0);
  done(t);
  store_free(s);
}
END_TEST

/* Random changes, rolled back: nothing may be left of them. */
static void random_change(store_txn *t, rng *r)
{
  const char *const words[] = {"a", "b", "c", NULL};
  int id = 1 + (int)rng_below(r, 6);
  const char *u = words[rng_below(r, 4)];
  uint32_t table = (uint32_t)rng_below(r, TABLES);
  values row = table == C ? c_row(id, (int)rng_below(r, 5), u) : p_row(id, u, "n");
  values old = {{number(1 + (int)rng_below(r, 6)), text("?"), text("?")}};
  if (table == BAG)
    old = p_row(id, words[rng_below(r, 4)], NULL);
  switch (rng_below(r, 8)) {
  case 0:
  case 1:
  case 2:
    store_insert(t, table, row.v);
    break;
  case 3:
  case 4:
    store_update(t, table, table == BAG || rng_chance(r, 50) ? old.v : NULL, row.v);
    break;
  case 5:
  case 6:
    store_delete(t, table, old.v);
    break;
  default:
    if (rng_chance(r, 20))
      store_truncate(t, (const uint32_t[]){P, C}, 2);
  }
}

START_TEST(rollback_leaves_nothing)
{
  rng r = {test_seed(4711)};
  for (int round = 0; round < 300; round++) {
    store *a = store_new(tables, TABLES), *b = store_new(tables, TABLES);
    for (uint64_t seq = 1; seq <= 12; seq++) {
      if (rng_chance(&r, 50)) { /* only the first store sees this transaction, and takes it back */
        store_txn *gone = store_begin(a, seq);
        for (uint64_t i = rng_below(&r, 6); i-- > 0;)
          random_change(gone, &r);
        store_finish(gone);
        store_rollback(gone);
      }
      rng same = r;
      store_txn *x = store_begin(a, seq), *y = store_begin(b, seq);
      uint64_t n = rng_below(&r, 6);
      rng_below(&same, 6);
      for (uint64_t i = 0; i < n; i++) {
        random_change(x, &r);
        random_change(y, &same);
        ck_assert_str_eq(store_txn_detail(x), store_txn_detail(y));
      }
      ck_assert_uint_eq(store_finish(x), store_finish(y));
      store_commit(x);
      store_commit(y);
    }
    store_difference d;
    ck_assert_msg(store_equal(a, b, &d), "round %d: %s", round, d.first);
    store_free(a);
    store_free(b);
  }
}
END_TEST

/* Neither does the order know of it: an earlier transaction may do afterwards what the later one tried. */
START_TEST(rollback_leaves_no_order)
{
  store *s = store_new(tables, TABLES);
  const uint32_t log = LOG;
  values old = {{number(7), text("seven"), text("?")}};
  ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "one", "a")), 0);

  store_txn *t = store_begin(s, 9); /* empties */
  ck_assert_uint_eq(store_truncate(t, &log, 1), 0);
  store_rollback(t);
  ck_assert_uint_eq(one(s, 2, insert, LOG, (values){{number(1)}}), 0);

  t = store_begin(s, 9); /* touches */
  ck_assert_uint_eq(insert(t, LOG, (values){{number(2)}}), 0);
  store_rollback(t);
  t = store_begin(s, 3);
  ck_assert_uint_eq(store_truncate(t, &log, 1), 0);
  done(t);

  t = store_begin(s, 9); /* relies on a parent, while another one does that commits */
  store_txn *other = store_begin(s, 5);
  ck_assert_uint_eq(insert(t, C, c_row(1, 1, NULL)), 0);
  ck_assert_uint_eq(store_finish(t), 0);
  ck_assert_uint_eq(insert(other, C, c_row(2, 1, NULL)), 0);
  ck_assert_uint_eq(store_finish(other), 0);
  store_rollback(t);
  store_commit(other);
  ck_assert_uint_eq(one_delete(s, 6, C, 2), 0);
  t = store_begin(s, 4);
  ck_assert_uint_eq(delete (t, P, 1), STORE_BACKWARDS); /* of the other one */
  store_rollback(t);
  ck_assert_uint_eq(one_delete(s, 7, P, 1), 0);

  t = store_begin(s, 9); /* makes a copy of a whole row */
  ck_assert_uint_eq(insert(t, BAG, old), 0);
  store_rollback(t);
  ck_assert_uint_eq(one(s, 4, insert, BAG, old), 0);
  t = store_begin(s, 5);
  ck_assert_uint_eq(store_delete(t, BAG, old.v), 0);
  done(t);
  store_free(s);
}
END_TEST

/* What an open transaction relies on is seen as long as it is open, and when it has committed. */
START_TEST(open_readers_count)
{
  for (int committed = 0; committed <= 1; committed++) {
    store *s = store_new(tables, TABLES);
    ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "one", "a")), 0);
    store_txn *t = store_begin(s, 9);
    ck_assert_uint_eq(insert(t, C, c_row(1, 1, NULL)), 0);
    ck_assert_uint_eq(store_finish(t), 0);
    if (committed)
      store_commit(t);
    ck_assert_uint_eq(one_delete(s, 4, P, 1) & STORE_BACKWARDS, STORE_BACKWARDS);
    if (!committed)
      store_commit(t);
    store_free(s);
  }
}
END_TEST

START_TEST(comparison)
{
  store *a = store_new(tables, TABLES), *b = store_new(tables, TABLES);
  store_difference d;
  ck_assert_uint_eq(one(a, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert(!store_equal(a, b, &d));
  ck_assert_uint_eq(d.count, 1);
  ck_assert_str_eq(d.first, "only in the first: p (1)");
  ck_assert_uint_eq(one(b, 1, insert, P, p_row(1, "a", "y")), 0);
  ck_assert(!store_equal(a, b, &d));
  ck_assert_uint_eq(d.count, 2);
  ck_assert_uint_eq(one(b, 2, update, P, p_row(1, "=", "x")), 0);
  ck_assert(!store_equal(a, b, &d)); /* the same values, but another transaction wrote them */
  ck_assert_uint_eq(one(a, 2, update, P, p_row(1, "=", "x")), 0);
  ck_assert(store_equal(a, b, &d));
  ck_assert_uint_eq(d.rows, 2);
  values null = {{number(1), text(NULL)}}, empty = {{number(1), text("")}};
  ck_assert_uint_eq(one(a, 3, insert, BAG, null), 0);
  ck_assert_uint_eq(one(a, 4, insert, BAG, empty), 0);
  ck_assert_uint_eq(one(b, 3, insert, BAG, null), 0);
  ck_assert_uint_eq(one(b, 4, insert, BAG, null), 0);
  ck_assert(!store_equal(a, b, &d));
  store_free(a);
  store_free(b);
}
END_TEST

START_TEST(seeding)
{
  store *s = store_new(tables, TABLES);
  store_seeds *noted = store_record_seeds(s);
  values bag = {{number(3), text("k")}};
  ck_assert_uint_eq(one(s, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert_uint_eq(one(s, 2, update, P, p_row(2, "b", "=")), 0);        /* was there */
  ck_assert_uint_eq(one_delete(s, 3, P, 3), 0);                          /* was there */
  ck_assert_uint_eq(one_delete(s, 4, P, 3), STORE_MISSING);              /* but only once */
  ck_assert_uint_eq(one(s, 5, insert, C, c_row(1, 4, "old")), 0);        /* so were its parents */
  ck_assert_uint_eq(one(s, 6, insert, C, c_row(2, 3, NULL)), STORE_NO_PARENT);
  ck_assert_uint_eq(one(s, 7, insert, P, p_row(5, "old", NULL)), 0);     /* the row that was only assumed */
  store_txn *t = store_begin(s, 8);
  ck_assert_uint_eq(store_delete(t, BAG, bag.v), 0);
  ck_assert_uint_eq(store_delete(t, BAG, bag.v), 0); /* of equal rows without a key, there were two */
  done(t);
  size_t rows, parents;
  store_seeds_count(noted, &rows, &parents);
  ck_assert_uint_eq(rows, 4);
  ck_assert_uint_eq(parents, 2);
  store *again = store_new(tables, TABLES);
  store_plant(again, noted);
  ck_assert_uint_eq(one(again, 1, insert, P, p_row(1, "a", "x")), 0);
  ck_assert_uint_eq(one(again, 2, update, P, p_row(2, "b", "=")), 0);
  ck_assert_uint_eq(one_delete(again, 3, P, 3), 0);
  ck_assert_uint_eq(one_delete(again, 4, P, 3), STORE_MISSING);
  ck_assert_uint_eq(one(again, 5, insert, C, c_row(1, 4, "old")), 0);
  ck_assert_uint_eq(one(again, 6, insert, C, c_row(2, 3, NULL)), STORE_NO_PARENT);
  ck_assert_uint_eq(one(again, 7, insert, P, p_row(5, "old", NULL)), 0);
  t = store_begin(again, 8);
  ck_assert_uint_eq(store_delete(t, BAG, bag.v), 0);
  ck_assert_uint_eq(store_delete(t, BAG, bag.v), 0);
  ck_assert_uint_eq(store_delete(t, BAG, bag.v), STORE_MISSING); /* and not three */
  store_finish(t);
  store_commit(t);
  store_difference d;
  ck_assert_msg(store_equal(s, again, &d), "%s", d.first);
  store_seeds_free(noted);
  store_free(s);
  store_free(again);
}
END_TEST

/* Equal values with different bytes are one key. */
START_TEST(equality_classes)
{
  static const uint8_t cls[6] = {STORE_AS_INTEGER, STORE_AS_FLOAT8,       STORE_AS_FLOAT4,
                                 STORE_AS_NUMERIC, STORE_AS_BLANK_PADDED, STORE_AS_INTERVAL};
  const struct {
    uint32_t column;
    const char *a, *b;
    uint32_t alen, blen;
    bool equal;
  } cases[] = {
      {0, "\x05\0", "\x05\0\0\0\0\0\0\0", 2, 8, true},
      {0, "\xfb\xff", "\xfb\xff\xff\xff", 2, 4, true},
      {0, "\xfb\0", "\xfb\xff", 2, 2, false},
      {1, "\0\0\0\0\0\0\0\x80", "\0\0\0\0\0\0\0\0", 8, 8, true},
      {1, "\0\0\0\0\0\0\xf8\x7f", "\1\0\0\0\0\0\xf8\xff", 8, 8, true},
      {2, "\0\0\0\x80", "\0\0\0\0", 4, 4, true},
      {3, "\x80\x80\x01\0", "\0\x81\x01\0\0\0", 4, 6, true},     /* 1.0 and 1.00, with a zero digit */
      {3, "\x80\x80\x01\0", "\2\0\0\0\x01\0", 4, 6, true},       /* short and long header */
      {3, "\x80\xa0\x01\0", "\x80\x80\x01\0", 4, 4, false},      /* -1 and 1 */
      {3, "\x01\x80\x01\0", "\x80\x80\x01\0", 4, 4, false},      /* 10000 and 1 */
      {3, "\x00\xc0", "\x00\xd0", 2, 2, false},                  /* NaN, infinity */
      {4, "ab  ", "ab", 4, 2, true},
      {4, " ab", "ab", 3, 2, false},
      {5, "\0\0\0\0\0\0\0\0\x1e\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0", 16, 16, true},
      {5, "\0\x60\xd7\x1d\x14\0\0\0\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16, 16, true},
      {5, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, 16, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    store_index index = {.name = "i", .columns = &(uint32_t){cases[i].column}, .ncolumns = 1};
    store_table tb = {
        .name = "t", .ncolumns = 6, .classes = cls, .indexes = &index, .nindexes = 1, .identity = STORE_BY_NOTHING};
    store *s = store_new(&tb, 1);
    store_value row[6] = {{0}};
    store_txn *t = store_begin(s, 1);
    row[cases[i].column] =
        (store_value){.state = STORE_BYTES, .len = cases[i].alen, .data = (const unsigned char *)cases[i].a};
    ck_assert_uint_eq(store_insert(t, 0, row), 0);
    row[cases[i].column] =
        (store_value){.state = STORE_BYTES, .len = cases[i].blen, .data = (const unsigned char *)cases[i].b};
    ck_assert_msg(store_insert(t, 0, row) == (cases[i].equal ? STORE_DUPLICATE : 0), "case %zu", i);
    store_commit(t);
    store_free(s);
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("store");
  TCase *tc = tcase_create("all");
  tcase_add_test(tc, what_fits);
  tcase_add_test(tc, contradictions);
  tcase_add_test(tc, backwards);
  tcase_add_test(tc, open_transactions);
  tcase_add_test(tc, bags);
  tcase_add_test(tc, deferred_and_transient);
  tcase_add_test(tc, rollback_leaves_nothing);
  tcase_add_test(tc, rollback_leaves_no_order);
  tcase_add_test(tc, open_readers_count);
  tcase_add_test(tc, comparison);
  tcase_add_test(tc, seeding);
  tcase_add_test(tc, equality_classes);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
