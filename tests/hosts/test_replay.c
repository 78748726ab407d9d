/*
 * The main job from the inside: what is decoded is what the server says, parallel apply equals serial apply however the
 * threads interleave, and a plan with dependencies taken away is found out.
 */
#include "hosts/expected.h"
#include "support/runner.h"
#include "twpa_replay/load.h"
#include "twpa_replay/report.h"
#include "twpa_replay/tables.h"

#include <stdlib.h>
#include <string.h>

static const char *const samples[] = {"pg15-sample", "pg18-dml", "pg18-ddl"};
#define SAMPLES (sizeof samples / sizeof *samples)

static char data_dir[1024];

static replay_options options_for(const char *sample)
{
  snprintf(data_dir, sizeof data_dir, "%s", sample_path(sample));
  return (replay_options){.data_dir = data_dir, .workers = 4, .commit_order = true};
}

static void load(replay_model *m, const replay_options *o)
{
  host_error err = {{0}};
  memset(m, 0, sizeof *m);
  ck_assert_msg(replay_load(m, o, &err), "%s", err.text);
  ck_assert_msg(replay_describe(m, &err), "%s", err.text);
}

/* "public.a" or, for a truncate, "public.a, public.b". */
static void name_of(char *out, size_t cap, const replay_model *m, const replay_change *c)
{
  size_t n = 0;
  snprintf(out, cap, "%s", c->table == REPLAY_NO_TABLE ? "?" : m->tables[c->table].name);
  for (uint32_t i = 0; c->op == REPLAY_TRUNCATE && i < c->ntables && n < cap; i++)
    n += (size_t)snprintf(out + n, cap - n, "%s%s", i ? ", " : "", m->tables[c->tables[i]].name);
}

static void compare_txn(const replay_model *m, const replay_txn *t, const expected_txn *e,
                        const char *sample)
{
  static const char ops[] = {0, 'I', 'U', 'D', 'T'};
  size_t n = 0;
  ck_assert_msg((uint32_t)t->xid == e->xid, "%s: transaction %llu where %u was expected", sample,
                (unsigned long long)t->xid, e->xid);
  for (uint32_t i = 0; i < t->nchanges; i++) {
    const replay_change *c = &t->changes[i];
    char name[600];
    if (c->op == REPLAY_DDL || c->skip == REPLAY_PERHAPS_NONE)
      continue;
    ck_assert_msg(n < e->nchanges, "%s: transaction %u has more than %zu changes", sample, e->xid,
                  e->nchanges);
    name_of(name, sizeof name, m, c);
    ck_assert_msg(ops[c->op] == e->changes[n].op, "%s: transaction %u, change %zu: %c, expected %c",
                  sample, e->xid, n, ops[c->op], e->changes[n].op);
    ck_assert_msg(c->table == REPLAY_NO_TABLE || !strcmp(name, e->changes[n].tables),
                  "%s: transaction %u, change %zu: table %s, expected %s", sample, e->xid, n, name,
                  e->changes[n].tables);
    n++;
  }
  ck_assert_msg(n == e->nchanges, "%s: transaction %u has %zu changes, expected %zu", sample,
                e->xid, n, e->nchanges);
}

/* Every transaction with rows, in the same order, with the same changes of the same tables in the same order. */
START_TEST(decoded_as_the_server_does)
{
  for (size_t s = 0; s < SAMPLES; s++) {
    replay_options o = options_for(samples[s]);
    replay_model m;
    expected e;
    size_t n = 0, compared = 0;
    load(&m, &o);
    expected_read(&e, samples[s]);
    for (size_t i = 0; i < m.ntxns; i++) {
      uint32_t rows = 0;
      for (uint32_t k = 0; k < m.txns[i].nchanges; k++)
        rows += m.txns[i].changes[k].op != REPLAY_DDL &&
                m.txns[i].changes[k].skip != REPLAY_PERHAPS_NONE;
      if (!rows)
        continue;
      while (n < e.ntxns && !e.txns[n].nchanges)
        n++;
      ck_assert_msg(n < e.ntxns, "%s: more transactions than expected", samples[s]);
      compare_txn(&m, &m.txns[i], &e.txns[n++], samples[s]);
      compared += rows;
    }
    while (n < e.ntxns && !e.txns[n].nchanges)
      n++;
    ck_assert_msg(n == e.ntxns, "%s: transaction %u is missing", samples[s],
                  n < e.ntxns ? e.txns[n].xid : 0);
    ck_assert_uint_eq(compared, m.counts.changes);
    printf("%s: %zu transactions, %zu changes as the server has them\n", samples[s], m.ntxns,
           compared);
    expected_free(&e);
    replay_model_free(&m);
  }
}
END_TEST

START_TEST(the_same_plan_twice)
{
  for (size_t s = 0; s < SAMPLES; s++) {
    replay_options o = options_for(samples[s]);
    replay_model m;
    replay_plan a, b;
    host_error err = {{0}};
    load(&m, &o);
    ck_assert_msg(replay_analyse(&a, &m, false, true, &err), "%s", err.text);
    ck_assert_msg(replay_analyse(&b, &m, false, true, &err), "%s", err.text);
    ck_assert_uint_eq(a.nedges, b.nedges);
    for (size_t i = 0; i < a.nedges; i++)
      ck_assert(!memcmp(&a.edges[i], &b.edges[i], sizeof *a.edges));
    ck_assert_uint_eq(a.critical_path, b.critical_path);
    ck_assert_uint_eq(a.counters.keys, b.counters.keys);
    ck_assert_uint_ge(a.work, a.critical_path);
    for (int k = 0; k < 2; k++) {
      ck_assert_uint_eq(a.makespan[k][0], a.work);
      for (int i = 1; i < REPLAY_WORKER_STEPS; i++) {
        ck_assert_uint_ge(a.makespan[k][i], a.critical_path);
        ck_assert_uint_ge(a.makespan[k][i] << i, a.work);
      }
    }
    replay_plan_free(&a);
    replay_plan_free(&b);
    replay_model_free(&m);
  }
}
END_TEST

static void prove(replay_model *m, const replay_options *o, const char *sample)
{
  replay_result x;
  replay_plan p = {.nedges = 0};
  host_error err = {{0}};
  ck_assert_msg(replay_run(&x, m, o, false, NULL, &err), "%s: %s", sample, err.text);
  replay_report r = {.options = o, .model = m, .plan = &p, .result = &x};
  ck_assert_msg(replay_proved(&r), "%s, %u workers, commit order %s, jitter %llu: %s", sample,
                o->workers, o->commit_order ? "on" : "off", (unsigned long long)o->jitter_seed,
                replay_why_not(&r));
  replay_result_free(&x);
}

/*
 * A few runs of 1 to 16 workers; with $TWPA_REPLAY_ROUNDS so many repetitions of 1, 2, 3... 16 workers, both commit orders
 * each. The policy for unknown values changes from run to run, and so do the pauses.
 */
START_TEST(parallel_equals_serial)
{
  static const unsigned few[] = {1, 2, 3, 5, 8, 16};
  const char *rounds = getenv("TWPA_REPLAY_ROUNDS");
  uint64_t n = rounds ? strtoull(rounds, NULL, 10) : 2, runs = 0, seed = test_seed(1);
  replay_options o = options_for(samples[_i]);
  replay_model m;
  load(&m, &o);
  o.jitter = true;
  for (uint64_t round = 0; round < n; round++)
    for (unsigned w = 0; w < (rounds ? 16 : sizeof few / sizeof *few); w++)
      for (unsigned k = 0; k < 2; k++) {
        o.workers = rounds ? w + 1 : few[w];
        o.commit_order = k == 0;
        o.strict = (round + w / 2) % 2;
        o.jitter_seed = seed + runs;
        if (!rounds && (round + w + k) % 2) /* half of them */
          continue;
        prove(&m, &o, samples[_i]);
        runs++;
      }
  printf("%s: %llu runs, all equal to serial\n", samples[_i], (unsigned long long)runs);
  replay_model_free(&m);
}
END_TEST

/* Leaves the changes of one table out of what is planned; of all tables, if it is REPLAY_NO_TABLE. */
static twpa_status forget_table(void *user, twpa_access_set *set, const replay_model *m,
                                const replay_txn *txn)
{
  uint32_t table = *(const uint32_t *)user, n = 0;
  replay_txn part = *txn;
  part.changes = calloc(txn->nchanges + 1u, sizeof *part.changes);
  for (uint32_t i = 0; i < txn->nchanges; i++)
    if (txn->changes[i].table != table && table != REPLAY_NO_TABLE)
      part.changes[n++] = txn->changes[i];
  part.nchanges = n;
  twpa_status st = replay_accesses(set, m, &part);
  free(part.changes);
  return st;
}

static bool found_out(replay_model *m, const replay_options *o, uint32_t table)
{
  replay_sabotage sabotage = {.user = &table, .accesses = forget_table};
  replay_result x;
  host_error err = {{0}};
  bool ok = replay_run(&x, m, o, false, &sabotage, &err);
  bool found = !ok || x.violations.count || !x.equal;
  replay_result_free(&x);
  return found;
}

/* A plan that forgets dependencies must be found out, or the proof proves nothing. */
START_TEST(sabotage_is_found_out)
{
  replay_options o = options_for("pg15-sample");
  replay_model m;
  load(&m, &o);
  o.workers = 8;
  o.jitter = true;
  for (int free_order = 0; free_order < 2; free_order++) {
    o.commit_order = !free_order;
    o.jitter_seed = 17;
    ck_assert_msg(found_out(&m, &o, REPLAY_NO_TABLE),
                  "no dependencies at all, and nothing was noticed");
    static const char *const contended[] = {"public.hot", "public.branches", "public.tellers",
                                            "public.mailboxes"};
    for (int i = 0; i < 4; i++) {
      uint32_t table = 0;
      bool found = false;
      while (table < m.ntables && strcmp(m.tables[table].name, contended[i]))
        table++;
      ck_assert_uint_lt(table, m.ntables);
      for (o.jitter_seed = 0; o.jitter_seed < 20 && !found; o.jitter_seed++)
        found = found_out(&m, &o, table);
      ck_assert_msg(found, "dependencies of %s were taken away, and nothing was noticed",
                    contended[i]);
    }
  }
  replay_model_free(&m);
}
END_TEST

/* Updates and deletes of a table that cannot be followed are counted, before the unreadable change as well as after. */
START_TEST(loose_tables_are_counted)
{
  static const uint64_t loose[] = {28, 0, 4}, all[] = {138, 7, 21};
  for (size_t s = 0; s < SAMPLES; s++) {
    replay_options o = options_for(samples[s]);
    replay_model m;
    uint64_t left = 0;
    load(&m, &o);
    for (size_t i = 0; i < m.ntxns; i++)
      for (uint32_t k = 0; k < m.txns[i].nchanges; k++) {
        const replay_change *c = &m.txns[i].changes[k];
        bool row = c->op == REPLAY_UPDATE || c->op == REPLAY_DELETE;
        left += row && c->table != REPLAY_NO_TABLE && m.tables[c->table].loose &&
                c->skip == REPLAY_APPLIED;
      }
    replay_report r = {.options = &o, .model = &m};
    ck_assert_uint_eq(left, 0);
    ck_assert_uint_eq(m.counts.skipped[REPLAY_LOOSE], loose[s]);
    ck_assert_uint_eq(replay_not_applied(&r), all[s]);
    replay_model_free(&m);
  }
}
END_TEST

/* The first delete of a table that can be followed happens twice. Returns the table. */
static uint32_t contradict(replay_model *m)
{
  for (size_t i = 0; i < m->ntxns; i++) {
    replay_txn *t = &m->txns[i];
    for (uint32_t k = 0; k < t->nchanges; k++) {
      const replay_change *c = &t->changes[k];
      if (c->op != REPLAY_DELETE || c->skip != REPLAY_APPLIED || m->tables[c->table].redefined ||
          m->described[c->table].identity < 0)
        continue;
      replay_change *changes = replay_memory(m, (t->nchanges + 1u) * sizeof *changes);
      memcpy(changes, t->changes, (k + 1u) * sizeof *changes);
      memcpy(changes + k + 1, t->changes + k, (t->nchanges - k) * sizeof *changes);
      t->changes = changes;
      t->nchanges++;
      return c->table;
    }
  }
  ck_abort_msg("no delete");
  return 0;
}

/* Runs it; whether it is proved although serial apply meets something. */
static bool excused(replay_model *m, const replay_options *o)
{
  replay_result x;
  host_error err = {{0}};
  ck_assert_msg(replay_run(&x, m, o, false, NULL, &err), "%s", err.text);
  replay_report r = {.options = o, .model = m, .result = &x};
  bool proved = replay_proved(&r);
  ck_assert_uint_gt(x.serial.count, 0);
  ck_assert_uint_eq(x.violations.count, 0);
  if (!proved)
    ck_assert_ptr_nonnull(strstr(replay_why_not(&r), "row missing"));
  replay_result_free(&x);
  return proved;
}

/* What the log contradicts is excused by what is known of its own table, not by what is known of another one. */
START_TEST(contradictions_need_a_reason)
{
  replay_options o = options_for("pg15-sample");
  replay_model m;
  load(&m, &o);
  uint32_t table = contradict(&m);
  ck_assert_uint_gt(m.counts.ops[REPLAY_DDL], 0);
  ck_assert_uint_gt(m.counts.skipped[REPLAY_UNREADABLE], 0);
  ck_assert(!excused(&m, &o));
  for (uint32_t t = 0; t < m.ntables; t++)
    m.tables[t].redefined = t != table;
  ck_assert(!excused(&m, &o));
  m.tables[table].redefined = true;
  ck_assert(excused(&m, &o));
  m.tables[table].redefined = false;
  m.counts.left_out_commits = 1;
  ck_assert(excused(&m, &o));
  replay_model_free(&m);
}
END_TEST

/* The store tells both tables of a broken foreign key, since either may be the reason; and forgets it at the next call. */
START_TEST(both_sides_of_a_foreign_key)
{
  static const uint32_t column = 0;
  static const uint8_t cls = STORE_AS_BYTES;
  static const store_index key = {.name = "key", .columns = &column, .ncolumns = 1};
  static const store_foreign_key fk = {.name = "fk", .columns = &column, .ncolumns = 1};
  store_table tables[2] = {
      {.name = "parent", .ncolumns = 1, .classes = &cls, .indexes = &key, .nindexes = 1}};
  tables[1] = tables[0];
  tables[1].name = "child";
  tables[1].foreign_keys = &fk;
  tables[1].nforeign_keys = 1;
  store *s = store_new(tables, 2);
  store_value row = {.state = STORE_BYTES, .len = 1, .data = (const unsigned char *)"x"};
  store_txn *t = store_begin(s, 1);
  size_t n;
  ck_assert_uint_eq(store_insert(t, 1, &row), 0);
  ck_assert_uint_eq(store_finish(t), STORE_NO_PARENT);
  const store_finding *x = store_txn_findings(t, &n);
  ck_assert_uint_eq(n, 1);
  ck_assert_uint_eq(x->bit, STORE_NO_PARENT);
  ck_assert_uint_eq(x->table, 1);
  ck_assert_uint_eq(x->other, 0);
  ck_assert_uint_eq(store_insert(t, 1, &row), STORE_EXISTS);
  x = store_txn_findings(t, &n);
  ck_assert_uint_eq(n, 1);
  ck_assert_uint_eq(x->other, 1);
  store_rollback(t);
  store_free(s);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("replay");
  TCase *tc = tcase_create("all");
  tcase_set_timeout(tc, getenv("TWPA_REPLAY_ROUNDS") ? 3600 : 300);
  tcase_add_test(tc, decoded_as_the_server_does);
  tcase_add_test(tc, the_same_plan_twice);
  tcase_add_loop_test(tc, parallel_equals_serial, 0, (int)SAMPLES);
  tcase_add_test(tc, sabotage_is_found_out);
  tcase_add_test(tc, loose_tables_are_counted);
  tcase_add_test(tc, contradictions_need_a_reason);
  tcase_add_test(tc, both_sides_of_a_foreign_key);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
