/* The report as text, 80 to 100 columns wide. */
#include "twpa_replay/report.h"

#include "support/wal/wal_files.h"

#include <string.h>

const char *replay_edge_name(uint32_t type)
{
  static const char *const names[] = {NULL,          "write-write", "read-write",
                                      "foreign-key", "barrier",     "unknown"};
  return type < sizeof names / sizeof *names ? names[type] : NULL;
}

const char *replay_fallback_name(uint32_t reason)
{
  static const char *const names[] = {
      "unknown equality",
      "unreadable key value",
      "key value not sent",
      "no identity",
      "expression index",
      "foreign key",
      "side effects",
      "serial relation",
      "unknown unique release",
      "unknown reference release",
      "too many keys",
      "schema changed",
      "prepared",
      "distrust",
  };
  return reason < sizeof names / sizeof *names ? names[reason] : NULL;
}

const char *replay_skip_name(uint32_t skip)
{
  static const char *const names[] = {
      NULL, "no replica identity says which row", "row layout not known",
      "relation not in the catalog", "of a row, or a long value, of a relation not in the catalog"};
  return skip < sizeof names / sizeof *names ? names[skip] : NULL;
}

bool replay_serial_explained(const replay_report *r)
{
  const replay_counts *c = &r->model->counts;
  return c->left_out_commits || c->below_logical || c->outside || c->ops[REPLAY_DDL] ||
         c->skipped[REPLAY_NO_RELATION];
}

bool replay_proved(const replay_report *r)
{
  return r->result->equal && !r->result->violations.count &&
         (!r->result->serial.count || replay_serial_explained(r));
}

const char *replay_why_not(const replay_report *r)
{
  const replay_result *x = r->result;
  if (x->violations.count)
    return x->violations.first[0];
  if (!x->equal)
    return x->difference.first;
  return x->serial.count ? x->serial.first[0] : "nothing is against it";
}

/* A number with commas, in one of a few rotating buffers. */
static const char *num(uint64_t n)
{
  static char bufs[8][32];
  static unsigned next;
  char digits[24];
  char *out = bufs[next++ % 8], *p = out;
  int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  for (int i = 0; i < len; i++) {
    if (i && (len - i) % 3 == 0)
      *p++ = ',';
    *p++ = digits[i];
  }
  *p = 0;
  return out;
}

static const char *plural(uint64_t n)
{
  return n == 1 ? "" : "s";
}

/* A list "name n, name n, ..." that is broken before column 96 and indented. */
typedef struct list {
  FILE *out;
  const char *head;
  size_t column;
} list;

static void list_add(list *l, const char *name, uint64_t n)
{
  char item[120];
  if (!n)
    return;
  int len = snprintf(item, sizeof item, "%s %s", name, num(n));
  if (!l->column) {
    fprintf(l->out, "               %s%s", l->head, item);
    l->column = 15 + strlen(l->head) + (size_t)len;
  } else if (l->column + 2 + (size_t)len > 96) {
    fprintf(l->out, ",\n               %*s%s", (int)strlen(l->head), "", item);
    l->column = 15 + strlen(l->head) + (size_t)len;
  } else {
    fprintf(l->out, ", %s", item);
    l->column += 2 + (size_t)len;
  }
}

static void list_end(list *l)
{
  if (l->column)
    fputc('\n', l->out);
}

static void print_source(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  char from[WAL_LSN_BYTES], to[WAL_LSN_BYTES];
  fprintf(out, "Source         PostgreSQL %u, %s, database \"%s\"\n", m->cluster->format->major,
          m->cluster->path, m->database->name);
  fprintf(out, "               WAL %s to %s (%s records, %.1f MB), ends: %s\n",
          wal_lsn_text(from, m->start), wal_lsn_text(to, m->end), num(m->counts.records),
          (double)(m->end - m->start) / 1048576.0, m->end_reason);
}

static void print_skipped(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  for (uint32_t t = 0; t < m->ntables; t++)
    for (uint32_t k = 1; k < REPLAY_SKIPS; k++)
      if (m->tables[t].skipped[k])
        fprintf(out, "               not applied: %s change%s of %s: %s\n",
                num(m->tables[t].skipped[k]), plural(m->tables[t].skipped[k]), m->tables[t].name,
                replay_skip_name(k));
  uint64_t lost = m->counts.skipped[REPLAY_NO_RELATION],
           perhaps = m->counts.skipped[REPLAY_PERHAPS_NONE];
  if (lost)
    fprintf(out, "               not applied: %s change%s: %s\n", num(lost), plural(lost),
            replay_skip_name(REPLAY_NO_RELATION));
  if (perhaps)
    fprintf(out, "               not applied: %s delete%s: %s\n", num(perhaps), plural(perhaps),
            replay_skip_name(REPLAY_PERHAPS_NONE));
}

static void print_decoded(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  const replay_counts *c = &m->counts;
  uint32_t tables = 0;
  for (uint32_t t = 0; t < m->ntables; t++)
    tables += m->tables[t].changes > 0;
  fprintf(out, "Decoded        %s transactions, %s changes in %s tables\n", num(m->ntxns),
          num(c->changes), num(tables));
  list ops = {.out = out, .head = ""};
  list_add(&ops, "insert", c->ops[REPLAY_INSERT]);
  list_add(&ops, "update", c->ops[REPLAY_UPDATE]);
  list_add(&ops, "delete", c->ops[REPLAY_DELETE]);
  list_add(&ops, "truncate", c->ops[REPLAY_TRUNCATE]);
  list_add(&ops, "message", c->messages);
  list_add(&ops, "schema change", c->ops[REPLAY_DDL]);
  list_end(&ops);
  list rest = {.out = out, .head = "left out: "};
  list_add(&rest, "open at the start", c->left_out);
  list_add(&rest, "outside of --from, --to", c->outside);
  list_add(&rest, "before wal_level was logical", c->below_logical);
  list_add(&rest, "of other databases", c->other_database);
  list_add(&rest, "rolled back", c->rolled_back);
  list_add(&rest, "without a change", c->empty);
  list_end(&rest);
  print_skipped(r, out);
}

static void print_plan(const replay_report *r, FILE *out)
{
  const replay_plan *p = r->plan;
  fprintf(
      out,
      "Planned        %s keys, %s dependencies, %s barriers in %.1f ms (%.2f us per transaction)\n",
      num(p->counters.keys), num(p->counters.edges), num(p->counters.barriers),
      (double)p->nanoseconds / 1e6,
      r->model->ntxns ? (double)p->nanoseconds / 1e3 / (double)r->model->ntxns : 0.0);
  list edges = {.out = out, .head = "by kind: "};
  for (uint32_t k = 1; replay_edge_name(k); k++)
    list_add(&edges, replay_edge_name(k), p->counters.edges_by_type[k]);
  list_add(&edges, "(of these, up to a horizon)", p->counters.conservative);
  list_end(&edges);
  list fallbacks = {.out = out, .head = "fallbacks: "};
  for (uint32_t k = 0; replay_fallback_name(k); k++)
    list_add(&fallbacks, replay_fallback_name(k), p->report.fallbacks[k]);
  list_end(&fallbacks);
}

static double ratio(uint64_t a, uint64_t b)
{
  return b ? (double)a / (double)b : 0.0;
}

static void print_parallelism(const replay_report *r, FILE *out)
{
  const replay_plan *p = r->plan;
  fprintf(out,
          "Parallelism    %.1f: %s units of work (one per change, one per commit) on a critical "
          "path of %s\n",
          ratio(p->work, p->critical_path), num(p->work), num(p->critical_path));
  fprintf(out, "               in virtual time, workers:");
  for (int i = 0; i < REPLAY_WORKER_STEPS; i++)
    fprintf(out, "%8d", 1 << i);
  for (int k = 0; k < 2; k++) {
    fprintf(out, "\n               %-25s", k ? "commits in any order" : "commits in log order");
    for (int i = 0; i < REPLAY_WORKER_STEPS; i++)
      fprintf(out, "%7.2fx", ratio(p->work, p->makespan[k][i]));
  }
  fputc('\n', out);
}

static void print_run(const replay_report *r, FILE *out)
{
  const replay_result *x = r->result;
  const replay_options *o = r->options;
  fprintf(out, "Applied        %u worker%s, commit order %s: %.1f ms; serially: %.1f ms",
          o->workers, plural(o->workers), o->commit_order ? "on" : "off",
          (double)x->parallel_ns / 1e6, (double)x->serial_ns / 1e6);
  if (o->delay_us)
    fprintf(out, " (%u us per step)", o->delay_us);
  fprintf(out, "\n               %s transaction%s run again: a unique value was not free yet\n",
          num(x->retries), plural(x->retries));
  if (x->seeded_rows || x->seeded_parents)
    fprintf(out,
            "               older than the WAL, so put there before: %s row%s, %s parent%s of "
            "foreign keys\n",
            num(x->seeded_rows), plural(x->seeded_rows), num(x->seeded_parents),
            plural(x->seeded_parents));
  if (r->model->constraints_unchecked)
    fprintf(out,
            "               not checked by the store: %u constraint%s (partial, expressions, "
            "partitioned parent...)\n",
            r->model->constraints_unchecked, plural(r->model->constraints_unchecked));
}

static void print_findings(const replay_findings *f, const char *what, FILE *out)
{
  list kinds = {.out = out, .head = what};
  for (uint32_t k = 0; k < STORE_KINDS; k++)
    list_add(&kinds, store_kind_name(1u << k), f->by_kind[k]);
  list_end(&kinds);
  for (uint64_t i = 0; i < f->count && i < REPLAY_TEXTS; i++)
    fprintf(out, "                 %s\n", f->first[i]);
}

static void print_verdict(const replay_report *r, FILE *out)
{
  const replay_result *x = r->result;
  fprintf(out, "Checked        order violations: %s\n", num(x->violations.count));
  print_findings(&x->violations, "", out);
  if (x->serial.count) {
    fprintf(out, "               met by serial apply as well: %s, %s\n", num(x->serial.count),
            replay_serial_explained(r) ? "explained by what is left out or by schema changes"
                                       : "unexplained: the WAL contradicts itself");
    print_findings(&x->serial, "", out);
  }
  if (x->equal)
    fprintf(out,
            "               parallel result equal to serial: yes, %s rows compared one by one\n",
            num(x->difference.rows / 2));
  else
    fprintf(out, "               parallel result equal to serial: NO, %s rows differ; %s\n",
            num(x->difference.count), x->difference.first);
  fprintf(out, "\n%s\n",
          replay_proved(r) ? "PROVED: parallel apply gave the result of serial apply." : "FAILED.");
}

void replay_print_text(const replay_report *r, FILE *out)
{
  print_source(r, out);
  print_decoded(r, out);
  print_plan(r, out);
  print_parallelism(r, out);
  print_run(r, out);
  print_verdict(r, out);
}
