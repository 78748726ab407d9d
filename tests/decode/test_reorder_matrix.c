/*
 * Exhaustive suites: every order of events in small worlds. Kinship told at every place and in every way; every state
 * of delivery that an abort may find; two-phase commit over restarts at every place.
 */
#include "decode/fixture.h"

#include <stdlib.h>
#include <string.h>

static void limit(size_t bytes)
{
  ck_assert_int_eq(twpa_reorder_set_memory_limit(r, bytes), TWPA_OK);
  kit_check(r);
}

/* --- kinship --- */

/* Events of transaction 10 and its subtransaction 11: rows, long rows, commands, catalog marks; or of the catalog. */
enum event { TOP_ROW, SUB_ROW, SUB_LONG_ROW, CATALOG, SUB_INVALIDATION, SUB_COMMAND, EVENTS };

/* How the kinship is told before an event, if it is not the end record that tells it. */
enum { BY_ASSIGN, BY_RECORD, BY_NEW_CID, HOWS };

enum { KEEP, SPILL_ALL, SPILL_BEFORE, MODES };

typedef struct world {
  enum event events[4];
  int n;
  int told_before; /* n: by the end record */
  int how, mode;
} world;

static bool is_sub_event(enum event e)
{
  return e != TOP_ROW && e != CATALOG;
}

static void feed_sub(const world *w, enum event e, twpa_lsn lsn, twpa_xid top)
{
  twpa_record record = {.lsn = lsn, .end_lsn = lsn, .xid = 11, .top_xid = top};
  twpa_change c = {.kind = TWPA_INSERT, .new_row = str("s")};
  if (e == SUB_INVALIDATION)
    c = (twpa_change){.kind = TWPA_INVALIDATION, .content = str("own")};
  if (e == SUB_COMMAND)
    c = (twpa_change){.kind = TWPA_COMMAND, .command_id = (twpa_cid)lsn};
  if (e == SUB_LONG_ROW) {
    twpa_change chunk = {.kind = TWPA_TOAST_CHUNK, .toast_relation = 9, .toast_value = 1, .content = str("abc")};
    ck_assert_int_eq(twpa_reorder_queue(r, &record, &chunk), TWPA_OK);
    kit_check(r);
    c.new_row = str("s^1=3");
  }
  (void)w;
  ck_assert_int_eq(twpa_reorder_queue(r, &record, &c), TWPA_OK);
}

static void tell(int how, twpa_lsn lsn)
{
  twpa_new_cid cid = {.top_xid = 10, .locator = {1, 2, 3}, .tid = {.block = 9, .line = 9}, .cmin = 1,
                      .cmax = TWPA_CID_NONE};
  if (how == BY_ASSIGN)
    ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, lsn), TWPA_OK);
  else if (how == BY_NEW_CID)
    ck_assert_int_eq(twpa_reorder_new_cid(r, &(twpa_record){.lsn = lsn, .xid = 11}, &cid), TWPA_OK);
  kit_check(r);
}

static void feed_world(const world *w)
{
  twpa_xid top = 0;
  for (int i = 0; i < w->n; i++) {
    twpa_lsn lsn = 100 + 10 * (twpa_lsn)i;
    if (i == w->told_before)
      tell(w->how, lsn);
    if (w->how == BY_RECORD && i >= w->told_before)
      top = 10;
    if (w->mode == SPILL_BEFORE && i == w->n / 2)
      limit(1), limit(TWPA_MEMORY_UNLIMITED);
    if (w->events[i] == TOP_ROW)
      ck_assert_int_eq(kit_row(r, TWPA_INSERT, 10, 0, lsn, "t"), TWPA_OK);
    else if (w->events[i] == CATALOG)
      ck_assert_int_eq(twpa_reorder_distribute(r, &(twpa_record){.lsn = lsn, .xid = 9}, str("x")), TWPA_OK);
    else
      feed_sub(w, w->events[i], lsn, top);
    kit_check(r);
  }
}

/* Where the first record of the transaction or its subtransaction is. */
static twpa_lsn begins(const world *w)
{
  for (int i = 0; i < w->n; i++)
    if (w->events[i] != CATALOG || (i == w->told_before && w->how != BY_RECORD))
      return 100 + 10 * (twpa_lsn)i;
  return 0;
}

static void check_merged(const world *w)
{
  bool marked = w->how == BY_NEW_CID && w->told_before < w->n;
  for (int i = 0; i < w->n; i++)
    marked |= w->events[i] == SUB_INVALIDATION;
  const twpa_txn *top = twpa_reorder_find(r, 10), *sub = twpa_reorder_find(r, 11);
  ck_assert(top != NULL && sub != NULL && sub->top == top);
  ck_assert_uint_eq(twpa_txn_first_lsn(top), begins(w));
  ck_assert_uint_eq(twpa_reorder_oldest_lsn(r), begins(w));
  ck_assert_uint_eq(top->tree_bytes, kit_stats(r).memory_bytes);
  ck_assert(twpa__txn_is(top, TWPA__TXN_CATALOG) == marked);
  ck_assert_uint_eq(kit_stats(r).open_tops, 1);
}

/* What comes out, with what each row sees. */
static char *outcome(const world *w)
{
  r = fixture_make(w->mode == SPILL_ALL ? 1 : TWPA_MEMORY_UNLIMITED, false, false);
  k.show_view = true;
  feed_world(w);
  bool known = twpa_reorder_find(r, 11) != NULL;
  if (known && twpa_txn_top_xid(twpa_reorder_find(r, 11)) == 11)
    ck_assert_int_eq(twpa_reorder_assign(r, 10, 11, 190), TWPA_OK);
  kit_check(r);
  if (known)
    check_merged(w);
  commit(r, 10, 200, 1, (twpa_xid[]){11});
  twpa_reorder_counters left = kit_stats(r);
  ck_assert_uint_eq(left.open_tops + left.open_subs + left.memory_bytes + left.storage_files + left.tuplecids +
                      left.distributed_bytes, 0);
  char *result = strdup(text_get(&k.result));
  fixture_again();
  return result;
}

/* The same with the end record telling. */
static char *outcome_at_the_end(const world *w)
{
  r = fixture_make(w->mode == SPILL_ALL ? 1 : TWPA_MEMORY_UNLIMITED, false, false);
  k.show_view = true;
  world untold = *w;
  untold.told_before = w->n;
  feed_world(&untold);
  commit(r, 10, 200, 1, (twpa_xid[]){11});
  char *result = strdup(text_get(&k.result));
  fixture_again();
  return result;
}

START_TEST(kinship_in_every_order)
{
  world w = {.n = 4};
  size_t worlds = 0;
  for (int code = 0; code < EVENTS * EVENTS * EVENTS * EVENTS; code++) {
    if (code % 6 != _i)
      continue;
    int subs = 0;
    for (int i = 0, c = code; i < 4; i++, c /= EVENTS) {
      w.events[i] = (enum event)(c % EVENTS);
      subs += is_sub_event(w.events[i]);
    }
    if (subs == 0)
      continue;
    w.told_before = 0;
    w.how = BY_RECORD;
    w.mode = KEEP;
    char *want = outcome(&w);
    for (w.mode = KEEP; w.mode < MODES; w.mode++) {
      for (w.told_before = 0; w.told_before < w.n; w.told_before++) {
        for (w.how = 0; w.how < HOWS; w.how++, worlds++) {
          char *got = outcome(&w);
          ck_assert_str_eq(got, want);
          free(got);
        }
      }
      char *got = outcome_at_the_end(&w);
      ck_assert_str_eq(got, want);
      free(got);
    }
    free(want);
  }
  ck_assert_uint_gt(worlds, 5000);
}
END_TEST

/* What was streamed too early is refused, at the telling or at the end, and both can be dropped. */
START_TEST(kinship_told_too_late_for_a_stream)
{
  for (int top_first = 0; top_first < 2; top_first++) {
    for (int how = 0; how < 4; how++) {
      r = fixture_make(1, true, false);
      twpa_xid order[] = {top_first ? 10 : 11, top_first ? 11 : 10};
      ins(r, order[0], 0, 100, "a");
      ins(r, order[1], 0, 110, "b");
      twpa_new_cid cid = {.top_xid = 10, .cmin = 1, .cmax = TWPA_CID_NONE};
      twpa_status st = how == 0   ? twpa_reorder_assign(r, 10, 11, 120)
                       : how == 1 ? kit_row(r, TWPA_INSERT, 11, 10, 120, "c")
                       : how == 2 ? twpa_reorder_new_cid(r, &(twpa_record){.lsn = 120, .xid = 11}, &cid)
                                  : kit_commit(r, 10, 120, (twpa_xid[]){11}, 1);
      ck_assert_int_eq(st, TWPA_E_STATE);
      kit_check(r);
      abort_xid(r, 11, 130);
      abort_xid(r, 10, 140);
      ck_assert_str_eq(text_get(&k.result), "");
      fixture_again();
    }
  }
}
END_TEST

/* --- aborts of what was streamed, in part or not at all --- */

enum { NOTHING, INTERNAL, ROW, BEFORES };
enum { NO_MORE, IN_MEMORY, IN_STORAGE, AFTERS };
enum { NOBODY, FIRST_SUB, SECOND_SUB, BOTH_SUBS, ABORTS };
enum { TOLD_BY_RECORD, KNOWN_BEFORE, SEEN_BY_CONSUMER, WAYS };
enum { COMMIT, ABORT, CRASH, PREPARE_COMMIT, PREPARE_ROLLBACK, ENDS };

typedef struct stream_case {
  int before[3], after[3]; /* of 10, 11, 12 */
  int aborted, way, end;
} stream_case;

static bool is_aborted(const stream_case *c, twpa_xid xid)
{
  return (xid == 11 && (c->aborted == FIRST_SUB || c->aborted == BOTH_SUBS)) ||
         (xid == 12 && (c->aborted == SECOND_SUB || c->aborted == BOTH_SUBS));
}

static void feed_part(const stream_case *c, text *want)
{
  for (twpa_xid i = 0; i < 3; i++) {
    if (c->before[i] == INTERNAL)
      change(r, 10 + i, 100 + i, (twpa_change){.kind = TWPA_COMMAND, .command_id = 1});
    if (c->before[i] == ROW) {
      ins(r, 10 + i, 0, 100 + i, "before");
      if (!is_aborted(c, 10 + i))
        text_add(want, "ins %u @%u new=before\n", 10 + (unsigned)i, 100 + (unsigned)i);
    }
  }
}

static void feed_rest(const stream_case *c, text *want)
{
  for (int where = IN_STORAGE; where >= IN_MEMORY; where--) {
    for (twpa_xid i = 0; i < 3; i++) {
      unsigned lsn = (where == IN_STORAGE ? 200 : 300) + (unsigned)i;
      if (c->after[i] != where)
        continue;
      ins(r, 10 + i, 0, lsn, "after");
      if (!is_aborted(c, 10 + i))
        text_add(want, "ins %u @%u new=after\n", 10 + (unsigned)i, lsn);
    }
    if (where == IN_STORAGE) {
      ck_assert_int_eq(twpa_reorder_set_streaming(r, 0), TWPA_OK);
      limit(1), limit(TWPA_MEMORY_UNLIMITED);
      ck_assert_int_eq(twpa_reorder_set_streaming(r, 1), TWPA_OK);
    }
  }
}

static void abort_subs(const stream_case *c)
{
  for (twpa_xid xid = 11; xid <= 12; xid++)
    if (is_aborted(c, xid))
      k.aborted_xids[k.naborted++] = xid;
  k.abort_by_status = c->way == KNOWN_BEFORE;
  k.abort_by_callback = c->way == SEEN_BY_CONSUMER;
  if (c->way != TOLD_BY_RECORD)
    limit(1), limit(TWPA_MEMORY_UNLIMITED);
  if (c->aborted == BOTH_SUBS)
    ck_assert_int_eq(kit_abort(r, 11, 400, (twpa_xid[]){12}, 1), TWPA_OK);
  else if (c->aborted != NOBODY)
    abort_xid(r, c->aborted == FIRST_SUB ? 11 : 12, 400);
  kit_check(r);
}

static void end_it(const stream_case *c)
{
  twpa_record record = {.lsn = 600, .end_lsn = 601, .xid = 10};
  twpa_commit end = {.time = 1};
  if (c->end == COMMIT)
    commit(r, 10, 600, 0, NULL);
  else if (c->end == ABORT)
    abort_xid(r, 10, 600);
  else if (c->end == CRASH)
    ck_assert_int_eq(twpa_reorder_abort_before(r, 100), TWPA_OK);
  else {
    ck_assert_int_eq(twpa_reorder_prepare(r, &record, &end, str("g")), TWPA_OK);
    kit_check(r);
    ck_assert_int_eq(c->end == PREPARE_COMMIT ? twpa_reorder_commit_prepared(r, &record, &end, str("g"))
                                              : twpa_reorder_rollback_prepared(r, &record, &end, str("g")),
                     TWPA_OK);
  }
  kit_check(r);
}

/* Reads the log: exactly what was delivered in a block, and aborted, is aborted to the consumer, and once. */
static void check_aborts(const stream_case *c)
{
  bool given[3] = {false}, told[3] = {false}, in_block = false, any = false;
  const char *line = text_get(&k.log);
  for (; *line != 0; line = strchr(line, '\n') + 1) {
    if (strncmp(line, "stream_start", 12) == 0)
      in_block = any = true;
    else if (strncmp(line, "stream_stop", 11) == 0)
      in_block = false;
    else if (strncmp(line, "ins ", 4) == 0 && in_block)
      given[strtoul(line + 4, NULL, 10) - 10] = true;
    if (strncmp(line, "stream_abort", 12) != 0)
      continue;
    unsigned long i = strtoul(line + 16, NULL, 10) - 10;
    ck_assert_uint_lt(i, 3);
    ck_assert(!in_block && !told[i] && (i == 0 ? any : given[i]));
    told[i] = true;
  }
  bool all = c->end == ABORT || c->end == CRASH;
  ck_assert_int_eq(told[0], all && any);
  for (int i = 1; i < 3; i++)
    ck_assert_int_eq(told[i], given[i] && (all || is_aborted(c, 10 + (twpa_xid)i)));
}

static void try_stream_case(const stream_case *c)
{
  r = fixture_make(TWPA_MEMORY_UNLIMITED, true, true);
  text want = {0};
  text_add(&want, "commit 10\n");
  ck_assert_int_eq(twpa_reorder_touch(r, &(twpa_record){.lsn = 90, .xid = 10}), TWPA_OK);
  for (twpa_xid xid = 11; xid <= 12; xid++)
    ck_assert_int_eq(twpa_reorder_assign(r, 10, xid, 90), TWPA_OK);
  feed_part(c, &want);
  limit(1), limit(TWPA_MEMORY_UNLIMITED);
  feed_rest(c, &want);
  /* What a concurrent abort drops is what follows the first row of the aborted: make that the last one. */
  abort_subs(c);
  end_it(c);
  check_aborts(c);
  bool content = false;
  for (int i = 0; i < 3; i++)
    content |= c->before[i] == ROW || c->after[i] != NO_MORE;
  bool committed = c->end == COMMIT || c->end == PREPARE_COMMIT;
  ck_assert_str_eq(text_get(&k.result), committed && content ? text_get(&want) : "");
  twpa_reorder_counters left = kit_stats(r);
  ck_assert_uint_eq(left.open_tops + left.open_subs + left.memory_bytes + left.storage_files, 0);
  text_clear(&want);
  fixture_again();
}

/* The consumer stops a block at the first aborted row: that is the world as it is only if nothing else follows. */
static bool possible(const stream_case *c)
{
  if (c->way == TOLD_BY_RECORD)
    return true;
  if (c->aborted == NOBODY)
    return false;
  if (c->way == KNOWN_BEFORE)
    return true;
  bool aborted_row = false;
  for (int where = IN_STORAGE; where >= IN_MEMORY; where--) {
    for (twpa_xid i = 0; i < 3; i++) {
      if (c->after[i] != where)
        continue;
      if (aborted_row && !is_aborted(c, 10 + i))
        return false;
      aborted_row |= is_aborted(c, 10 + i);
    }
  }
  return true;
}

START_TEST(aborts_of_streams)
{
  stream_case c;
  for (int code = 0; code < BEFORES * BEFORES * BEFORES * AFTERS * AFTERS * AFTERS; code++) {
    int rest = code;
    for (int i = 0; i < 3; i++, rest /= BEFORES)
      c.before[i] = rest % BEFORES;
    for (int i = 0; i < 3; i++, rest /= AFTERS)
      c.after[i] = rest % AFTERS;
    c.end = _i;
    for (c.aborted = 0; c.aborted < ABORTS; c.aborted++)
      for (c.way = 0; c.way < WAYS; c.way++)
        if (possible(&c))
          try_stream_case(&c);
  }
}
END_TEST

/* --- two-phase commit over restarts --- */

enum { FIRST_ROW, SECOND_ROW, PREPARE, END, RECORDS };
enum { OFF, FROM_THE_BEGINNING, FROM_THE_SECOND_LIFE, FROM_THE_THIRD_LIFE, TWO_PHASES };

typedef struct life_case {
  int stops[3]; /* how many records each life has read */
  int two_phase;
  bool filtered, streaming, committed, empty, aborted_sub;
} life_case;

static const twpa_lsn record_at[RECORDS + 1] = {300, 310, 400, 500, 600};

static twpa_status feed_end(const life_case *c, bool skip)
{
  twpa_record record = {.lsn = record_at[END], .end_lsn = record_at[END] + 1, .xid = 10};
  twpa_commit end = {.subxids = (twpa_xid[]){11}, .nsubxids = c->aborted_sub ? 0 : 1, .time = 1};
  if (skip)
    return c->committed ? twpa_reorder_forget(r, &record, &end) : twpa_reorder_abort(r, &record, &end);
  return c->committed ? twpa_reorder_commit_prepared(r, &record, &end, str("g"))
                      : twpa_reorder_rollback_prepared(r, &record, &end, str("g"));
}

static twpa_status feed_record(const life_case *c, int which, bool skip)
{
  twpa_record record = {.lsn = record_at[which], .end_lsn = record_at[which] + 1, .xid = 10};
  twpa_commit end = {.subxids = (twpa_xid[]){11}, .nsubxids = c->aborted_sub ? 0 : 1, .time = 1};
  if (which == END)
    return feed_end(c, skip);
  if (which == PREPARE)
    return skip ? twpa_reorder_skip_prepare(r, &record, &end, str("g"))
                : twpa_reorder_prepare(r, &record, &end, str("g"));
  twpa_xid xid = which == FIRST_ROW ? 10 : 11;
  if (c->empty) {
    record.xid = xid;
    record.top_xid = xid == 11 ? 10 : 0;
    return twpa_reorder_touch(r, &record);
  }
  twpa_status st = kit_row(r, TWPA_INSERT, xid, xid == 11 ? 10 : 0, record.lsn, "row");
  if (st == TWPA_OK && xid == 11 && c->aborted_sub)
    st = kit_abort(r, 11, record.lsn, NULL, 0);
  return st;
}

/* One life of the decoder: reads from the beginning, gives out what is not before `start`. */
static void live(const life_case *c, twpa_lsn start, int stop, bool two_phase, twpa_lsn two_phase_at)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = c->streaming ? 1 : 0,
                                  .streaming = c->streaming, .two_phase = two_phase, .two_phase_at = two_phase_at};
  r = kit_new(&k, &options, NULL);
  k.filter_gid = c->filtered ? "g" : NULL;
  for (int i = 0; i < stop; i++) {
    if (c->streaming)
      ck_assert_int_eq(twpa_reorder_set_streaming(r, record_at[i] >= start), TWPA_OK);
    twpa_status st = feed_record(c, i, record_at[i] < start);
    ck_assert_msg(st == TWPA_OK, "%s at %d: %d %d two-phase %d %d%d%d%d%d", twpa_status_name(st), i, c->stops[0],
                  c->stops[1], c->two_phase, c->filtered, c->streaming, c->committed, c->empty, c->aborted_sub);
    kit_check(r);
  }
  kit_done(&k, r);
  r = NULL;
  kit_disconnect(&k);
}

static void try_lives(const life_case *c)
{
  twpa_lsn start = 0, since = 0;
  for (int n = 0; n < 3; n++) {
    bool two_phase = c->two_phase != OFF && c->two_phase <= n + 1;
    if (two_phase && c->two_phase == n + 1)
      since = start; /* switched on where this life starts */
    live(c, start, c->stops[n], two_phase, since);
    start = record_at[c->stops[n]];
  }
  const char *want = c->aborted_sub ? "commit 10\nins 10 @300 new=row\n"
                                    : "commit 10\nins 10 @300 new=row\nins 11 @310 new=row\n";
  ck_assert_str_eq(text_get(&k.result), c->committed && !c->empty ? want : "");
  ck_assert_ptr_null(k.txns);
  fixture_again();
}

START_TEST(prepared_over_restarts)
{
  size_t cases = 0;
  for (int first = 0; first <= RECORDS; first++) {
    for (int second = first; second <= RECORDS; second++) {
      for (int code = 0; code < TWO_PHASES * 32; code++, cases++) {
        life_case c = {.stops = {first, second, RECORDS}, .two_phase = code % TWO_PHASES};
        int bits = code / TWO_PHASES;
        c.filtered = bits & 1;
        c.streaming = bits & 2;
        c.committed = bits & 4;
        c.empty = bits & 8;
        c.aborted_sub = bits & 16;
        try_lives(&c);
      }
    }
  }
  ck_assert_uint_eq(cases, 15 * TWO_PHASES * 32);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("reorder_matrix");
  TCase *t = tcase_create("matrix");
  tcase_set_timeout(t, 300);
  tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
  tcase_add_loop_test(t, kinship_in_every_order, 0, 6);
  tcase_add_test(t, kinship_told_too_late_for_a_stream);
  tcase_add_loop_test(t, aborts_of_streams, 0, ENDS);
  tcase_add_test(t, prepared_over_restarts);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
