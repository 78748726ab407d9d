/*
 * What a call that fails leaves behind: nothing, or exactly what twpa_reorder.h allows. First as a proof over random
 * histories: a second buffer, where nothing fails, is fed the same; after a failure the first one is like the second
 * before the call, or like the second after it was told the kinship that the record told. Then by example.
 */
#include "decode/fixture.h"
#include "decode/script.h"

#include <stdlib.h>
#include <string.h>

/* --- everything that can be seen of a buffer, but for where its changes lie --- */

static unsigned place_of(const twpa_reorder *b, const twpa__version *version)
{
  unsigned n = 1;
  for (const twpa__version *v = b->versions.first; v != NULL; v = v->next, n++)
    if (v == version)
      return n;
  return 0;
}

static void dump_txn(text *t, const twpa_txn *txn)
{
  const uint32_t inner = TWPA__TXN_IN_SIZES | TWPA__TXN_IN_STREAMS | TWPA__TXN_SPILLED | TWPA__TXN_COMMITTED;
  text_add(t, "%llu below %llu: first %llu final %llu end %llu time %lld origin %u %llu flags %x", //
           (unsigned long long)txn->xid, (unsigned long long)twpa_txn_top_xid(txn), (unsigned long long)txn->first_lsn,
           (unsigned long long)txn->final_lsn, (unsigned long long)txn->end_lsn, (long long)txn->time, txn->origin,
           (unsigned long long)txn->origin_lsn, txn->flags & ~inner);
  text_add(t, " changes %u invalidations %zu cids %zu base %u passed %u last %u partial %llu %llu gid %.*s %llu %lld\n",
           (unsigned)twpa__txn_changes(txn), txn->invals_len, txn->ntuplecids, place_of(txn->owner, txn->base),
           place_of(txn->owner, txn->passed), place_of(txn->owner, txn->last), (unsigned long long)txn->toast_xid,
           (unsigned long long)txn->spec_xid, (int)txn->gid_len, txn->gid != NULL ? txn->gid : "",
           (unsigned long long)txn->prepare_end_lsn, (long long)txn->prepare_time);
}

static void dump(text *t, const twpa_reorder *b)
{
  twpa_reorder_counters c = kit_stats(b);
  text_clear(t);
  for (const twpa_txn *top = twpa_reorder_next_open(b, NULL); top != NULL; top = twpa_reorder_next_open(b, top)) {
    dump_txn(t, top);
    for (const twpa__link *it = top->subs.next; it != &top->subs; it = it->next)
      dump_txn(t, (const twpa_txn *)(const void *)((const char *)it - offsetof(twpa_txn, node)));
  }
  text_add(t, "at %llu: queued %u %u delivered %u aborted %u distributed %u chunks dropped %u\n",
           (unsigned long long)b->last_lsn, (unsigned)c.queued_changes, (unsigned)c.queued_bytes,
           (unsigned)c.delivered_txns, (unsigned)c.aborted_txns, (unsigned)c.distributed_bytes,
           (unsigned)c.toast_dropped);
}

/* --- the proof --- */

typedef struct side {
  kit kit;
  twpa_reorder *buffer;
  text state;
} side;

typedef struct setting {
  size_t limit;
  bool two_phase;
  size_t alloc_fail, store_fail, callback_fail;
} setting;

static void open_side(side *s, const setting *c, const twpa_allocator *mem)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = c->limit, .two_phase = c->two_phase,
                                  .distributed_bytes = 100};
  memset(s, 0, sizeof *s);
  kit_init(&s->kit);
  s->kit.keep_log = false;
  s->buffer = kit_new(&s->kit, &options, mem);
  ck_assert_ptr_nonnull(s->buffer);
}

static void close_side(side *s)
{
  kit_done(&s->kit, s->buffer);
  kit_free(&s->kit);
  text_clear(&s->state);
}

/* What the record of an operation tells whatever becomes of it. */
static void tell_kinship(twpa_reorder *b, const op *o)
{
  twpa_record record = {.lsn = o->lsn, .xid = o->xid, .top_xid = o->top};
  if (o->kind == OP_CHANGE || o->kind == OP_NEW_CID) {
    ck_assert_int_eq(twpa_reorder_touch(b, &record), TWPA_OK);
    return;
  }
  ck_assert(o->kind == OP_COMMIT || o->kind == OP_PREPARE || o->kind == OP_FORGET || o->kind == OP_COMMIT_PREPARED ||
            o->kind == OP_ROLLBACK_PREPARED);
  for (size_t i = 0; i < o->nsubs; i++)
    if (twpa_reorder_find(b, o->subs[i]) != NULL)
      ck_assert_int_eq(twpa_reorder_assign(b, o->xid, o->subs[i], o->lsn), TWPA_OK);
}

static void compare(side *a, side *b)
{
  dump(&a->state, a->buffer);
  dump(&b->state, b->buffer);
  ck_assert_str_eq(text_get(&a->state), text_get(&b->state));
}

/* Returns how many calls failed. */
static size_t prove(const script *s, const setting *c, size_t totals[3])
{
  faultmem fm;
  twpa_allocator mem = faultmem_init(&fm, 0, false);
  side a, b;
  open_side(&a, c, &mem);
  open_side(&b, c, NULL);
  fm.fail_at = c->alloc_fail != 0 ? fm.calls + c->alloc_fail : 0;
  a.kit.store_fail_at = c->store_fail;
  a.kit.fail_at = c->callback_fail;
  size_t failures = 0, before_alloc = fm.calls;
  bool failed;
  for (size_t i = 0; i < s->nops; i++) {
    const op *o = &s->ops[i];
    twpa_status st = script_feed(a.buffer, &a.kit, o);
    failed = st != TWPA_OK;
    if (failed) {
      failures++;
      kit_check(a.buffer);
      dump(&a.state, a.buffer);
      dump(&b.state, b.buffer);
      if (strcmp(text_get(&a.state), text_get(&b.state)) != 0)
        tell_kinship(b.buffer, o);
      compare(&a, &b);
      fm.fail_at = a.kit.store_fail_at = a.kit.fail_at = 0;
      st = script_feed(a.buffer, &a.kit, o);
    }
    ck_assert_int_eq(st, TWPA_OK);
    ck_assert_int_eq(script_feed(b.buffer, &b.kit, o), TWPA_OK);
    if (failed)
      compare(&a, &b);
  }
  compare(&a, &b);
  ck_assert_str_eq(text_get(&a.kit.result), text_get(&s->expected));
  totals[0] = fm.calls - before_alloc;
  totals[1] = a.kit.store_calls;
  totals[2] = a.kit.calls;
  close_side(&a);
  close_side(&b);
  faultmem_check_empty(&fm);
  return failures;
}

START_TEST(nothing_but_kinship_stays)
{
  static const size_t limits[] = {1, 700, 3000, TWPA_MEMORY_UNLIMITED};
  uint64_t seed = test_seed(0x1eaf) + (uint64_t)_i * 1000;
  size_t failures = 0;
  for (uint64_t n = 0; n < 6; n++) {
    script_options options = {.seed = seed + n, .steps = 60 + (size_t)n * 15, .first_xid = 3, .late = n % 2 == 1,
                              .row_bytes = n % 3 == 0 ? 900 : 60};
    script s;
    script_make(&s, &options);
    setting c = {.limit = limits[_i], .two_phase = n % 3 != 0};
    size_t totals[3], ignored[3];
    ck_assert_uint_eq(prove(&s, &c, totals), 0);
    size_t *which[] = {&c.alloc_fail, &c.store_fail, &c.callback_fail};
    for (int kind = 0; kind < 3; kind++) {
      for (size_t at = 1; at <= totals[kind]; at += 1 + totals[kind] / 40) {
        *which[kind] = at;
        failures += prove(&s, &c, ignored);
      }
      *which[kind] = 0;
    }
    script_free(&s);
  }
  ck_assert_uint_gt(failures, 100);
}
END_TEST

/* --- by example --- */

static twpa_status prepare(twpa_xid xid, twpa_lsn lsn, bool skip, const char *gid)
{
  twpa_record record = {.lsn = lsn, .end_lsn = lsn + 1, .xid = xid};
  twpa_commit end = {.time = (twpa_time)lsn};
  twpa_status st = skip ? twpa_reorder_skip_prepare(r, &record, &end, str(gid))
                        : twpa_reorder_prepare(r, &record, &end, str(gid));
  kit_check(r);
  return st;
}

static twpa_status finish(twpa_xid xid, twpa_lsn lsn, bool committed, const char *gid)
{
  twpa_record record = {.lsn = lsn, .end_lsn = lsn + 1, .xid = xid};
  twpa_commit end = {.time = (twpa_time)lsn};
  twpa_status st = committed ? twpa_reorder_commit_prepared(r, &record, &end, str(gid))
                             : twpa_reorder_rollback_prepared(r, &record, &end, str(gid));
  kit_check(r);
  return st;
}

/* A change that did not fit was not queued, but what its record told is known, and nothing may lie before it. */
START_TEST(change_that_does_not_fit)
{
  r = fixture_make(1, false, false);
  k.store_fail_at = 1;
  k.store_persistent = true;
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 11, 10, 100, "a"), TWPA_E_CALLBACK);
  kit_check(r);
  ck_assert_uint_eq(twpa_txn_changes(twpa_reorder_find(r, 10)), 0);
  ck_assert_uint_eq(twpa_txn_top_xid(twpa_reorder_find(r, 11)), 10);
  ck_assert_uint_eq(kit_stats(r).queued_changes, 0);
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  ck_assert_uint_eq(kit_stats(r).spilled_txns, 0);
  k.store_fail_at = 0;
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 12, 0, 99, "before"), TWPA_E_STATE);
  commit(r, 10, 110, 0, NULL);
  expect("");
}
END_TEST

/* A change that has gone out is queued, though making more room fails after it. */
START_TEST(change_that_went_out)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  fill(10, 0, 100, 5);
  ins(r, 11, 0, 100, "other");
  k.store_fail_at = 1;
  k.store_persistent = true;
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
  kit_check(r);
  k.store_fail_at = k.store_calls + 2;
  ins(r, 10, 0, 110, "last");
  ck_assert_uint_eq(kit_stats(r).storage_segments, 1);
  ck_assert_uint_gt(kit_stats(r).memory_bytes, 0);
  k.store_fail_at = 0;
  ins(r, 12, 0, 120, "next");
  ck_assert_uint_eq(kit_stats(r).memory_bytes, 0);
  commit(r, 10, 130, 0, NULL);
  ck_assert_uint_eq(count_word(text_get(&k.result), "row\n"), 5);
  ck_assert_uint_eq(count_word(text_get(&k.result), "last\n"), 1);
  abort_xid(r, 11, 140);
  abort_xid(r, 12, 140);
}
END_TEST

/* The same where it has gone out in a stream. */
START_TEST(change_that_was_streamed)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
  fill(10, 0, 100, 5);
  ins(r, 11, 0, 100, "other");
  k.fail_at = k.calls + 1;
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
  k.fail_at = k.calls + 8 + 1; /* a block of six rows; then the start of the next */
  ins(r, 10, 0, 110, "last");
  ck_assert_uint_eq(kit_stats(r).streamed_txns, 1);
  ck_assert_uint_gt(kit_stats(r).memory_bytes, 0);
  ins(r, 12, 0, 120, "next");
  commit(r, 10, 130, 0, NULL);
  ck_assert_uint_eq(count_word(text_get(&k.result), "last\n"), 1);
  abort_xid(r, 11, 140);
  abort_xid(r, 12, 140);
}
END_TEST

/* The end record is forgotten with the call; the transaction may still end in another way. */
START_TEST(end_that_fails)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  ins(r, 10, 0, 600, "a");
  twpa_txn *txn = twpa_reorder_find(r, 10);
  for (int how = 0; how < 2; how++) {
    k.fail_at = k.calls + 3;
    ck_assert_int_eq(how == 0 ? kit_commit(r, 10, 610, NULL, 0) : prepare(10, 610, false, "first"), TWPA_E_CALLBACK);
    ck_assert_uint_eq(twpa_txn_final_lsn(txn), 0);
    ck_assert_uint_eq(twpa_txn_end_lsn(txn), 0);
    ck_assert_int_eq(twpa_txn_time(txn), 0);
  }
  /* Under another name this time. */
  ck_assert_int_eq(prepare(10, 620, false, "second"), TWPA_OK);
  ck_assert_int_eq(finish(10, 630, true, "first"), TWPA_E_STATE);
  for (int committed = 0; committed < 2; committed++) {
    k.fail_at = k.calls + 1;
    ck_assert_int_eq(finish(10, 640, committed != 0, "second"), TWPA_E_CALLBACK);
    ck_assert_uint_eq(twpa_txn_final_lsn(txn), 620);
    ck_assert_int_eq(twpa_txn_time(txn), 620);
  }
  ck_assert_int_eq(finish(10, 650, true, "second"), TWPA_OK);
}
END_TEST

/* The subtransactions that it lists are known to be some, and nothing may lie before it. */
START_TEST(kinship_of_an_end_that_fails)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, false, false);
  ins(r, 11, 0, 100, "s");
  k.fail_at = k.calls + 1;
  ck_assert_int_eq(kit_commit(r, 10, 120, (twpa_xid[]){11, 12}, 2), TWPA_E_CALLBACK);
  kit_check(r);
  ck_assert_uint_eq(twpa_txn_top_xid(twpa_reorder_find(r, 11)), 10);
  ck_assert_ptr_null(twpa_reorder_find(r, 12));
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 13, 0, 119, "before"), TWPA_E_STATE);
  commit(r, 10, 120, 2, (twpa_xid[]){11, 12});
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 11 @100 new=s\n");
}
END_TEST

/* A block that fails leaves the origin as it was. */
START_TEST(block_that_fails)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, false);
  twpa_record record = {.lsn = 100, .xid = 10, .origin = 4};
  ck_assert_int_eq(twpa_reorder_queue(r, &record, &(twpa_change){.kind = TWPA_INSERT, .new_row = str("a")}), TWPA_OK);
  k.fail_at = 2;
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
  ck_assert_uint_eq(twpa_txn_origin(twpa_reorder_find(r, 10)), 0);
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_OK);
  ck_assert_uint_eq(twpa_txn_origin(twpa_reorder_find(r, 10)), 4);
  abort_xid(r, 10, 110);
}
END_TEST

/* Caches must not keep what a delivery has seen that failed. */
START_TEST(invalidations_after_a_failure)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  for (int how = 0; how < 3; how++) {
    text_clear(&k.log);
    ck_assert_int_eq(twpa_reorder_set_memory_limit(r, TWPA_MEMORY_UNLIMITED), TWPA_OK);
    ins(r, 10, 0, 600, "a");
    change(r, 11, 600, (twpa_change){.kind = TWPA_INVALIDATION, .content = str("own")});
    ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 600), TWPA_OK);
    ck_assert_int_eq(twpa_reorder_distribute(r, &(twpa_record){.lsn = 600, .xid = 9}, str("other's")), TWPA_OK);
    ins(r, 10, 0, 600, "b");
    k.fail_at = k.calls + 4;
    if (how == 0) {
      ck_assert_int_eq(kit_commit(r, 10, 600, NULL, 0), TWPA_E_CALLBACK);
      expect("begin 10\nins 10 @600 new=a\ninvalidate own\ninvalidate other's\nins 10 @600 new=b\ncommit 10\n"
             "invalidate own\ninvalidate other's\n");
    } else if (how == 1) {
      ck_assert_int_eq(prepare(10, 600, false, "g"), TWPA_E_CALLBACK);
      expect("begin_prepare 10\nins 10 @600 new=a\ninvalidate own\ninvalidate other's\nins 10 @600 new=b\nprepare 10\n"
             "invalidate own\ninvalidate other's\n");
    } else {
      ck_assert_int_eq(twpa_reorder_set_memory_limit(r, 1), TWPA_E_CALLBACK);
      expect("stream_start 10\nins 10 @600 new=a\ninvalidate own\ninvalidate other's\nins 10 @600 new=b\n"
             "stream_stop 10\ninvalidate own\ninvalidate other's\n");
    }
    abort_xid(r, 10, 600);
  }
}
END_TEST

/* The call that fails has dropped the beginning of a long row: nothing waits for the rest of it. */
START_TEST(incomplete_row_is_dropped_by_a_call_that_fails)
{
  static char big[6001];
  memset(big, 'x', sizeof big - 1);
  r = fixture_make(5000, false, false);
  k.abort_by_status = true;
  k.aborted_xids[k.naborted++] = 11;
  ins(r, 10, 0, 100, "a");
  ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 100), TWPA_OK);
  toast(r, 11, 110, 1, 0, "abc");
  k.store_fail_at = 1;
  ck_assert_int_eq(kit_row(r, TWPA_INSERT, 12, 10, 120, big), TWPA_E_CALLBACK);
  kit_check(r);
  ck_assert_uint_eq(twpa_reorder_find(r, 10)->toast_xid, 0);
  k.store_fail_at = 0;
  ins(r, 12, 10, 120, "b");
  abort_xid(r, 11, 130);
  commit(r, 10, 140, 0, NULL);
}
END_TEST

/* Aborts go on where they failed. */
START_TEST(aborts_go_on)
{
  r = fixture_make(1, true, false);
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 100, "b");
  ins(r, 12, 10, 100, "c");
  text_clear(&k.log);
  for (int n = 0; n < 3; n++) {
    k.fail_at = k.calls + 2;
    ck_assert_int_eq(kit_abort(r, 10, 110, NULL, 0), n < 2 ? TWPA_E_CALLBACK : TWPA_OK);
    kit_check(r);
  }
  expect("stream_abort 10 11\nstream_abort 10 12\nstream_abort 10 12\nstream_abort 10 10\nstream_abort 10 10\n");
  ck_assert_uint_eq(kit_stats(r).aborted_txns, 3);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_failure");
  TCase *t = tcase_create("failure");
  tcase_set_timeout(t, 300);
  tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
  tcase_add_loop_test(t, nothing_but_kinship_stays, 0, 4);
  tcase_add_test(t, change_that_does_not_fit);
  tcase_add_test(t, change_that_went_out);
  tcase_add_test(t, change_that_was_streamed);
  tcase_add_test(t, end_that_fails);
  tcase_add_test(t, kinship_of_an_end_that_fails);
  tcase_add_test(t, block_that_fails);
  tcase_add_test(t, invalidations_after_a_failure);
  tcase_add_test(t, incomplete_row_is_dropped_by_a_call_that_fails);
  tcase_add_test(t, aborts_go_on);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
