/*
 * The report as text, 80 columns wide: a column of headings, and paragraphs that are broken at spaces. What comes out of
 * the catalog (names of tables) may hold any byte: control characters are not given to the terminal.
 */
#include "twpa_replay/report.h"

#include "support/wal/wal_files.h"

#include <stdarg.h>
#include <string.h>

#define WIDTH 80u
#define INDENT 13u
#define GLUE '\x1f' /* a space at which no line is broken */

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

/* Characters of UTF-8, or bytes of anything else. */
static size_t columns_of(const char *text, size_t len)
{
  size_t n = 0;
  for (size_t i = 0; i < len; i++)
    n += ((unsigned char)text[i] & 0xC0) != 0x80;
  return n;
}

static void put_word(FILE *out, const char *word, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)word[i];
    fputc(c == GLUE ? ' ' : c < 0x20 || c == 0x7F ? '?' : c, out);
  }
}

/* One paragraph behind a heading ("": none); further lines are indented by `hang` more. */
__attribute__((format(printf, 4, 5))) static void put(FILE *out, const char *heading, unsigned hang,
                                                      const char *format, ...)
{
  char text[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(out, "%-*s", (int)INDENT, heading);
  size_t column = INDENT, line = 0;
  for (const char *p = text; *p;) {
    size_t len = strcspn(p, " "), wide = columns_of(p, len);
    if (line && column + 1 + wide > WIDTH) {
      fprintf(out, "\n%*s", (int)(INDENT + hang), "");
      column = INDENT + hang;
      line = 0;
    }
    if (line) {
      fputc(' ', out);
      column++;
    }
    put_word(out, p, len);
    column += wide;
    line++;
    p += len + (p[len] == ' ');
  }
  fputc('\n', out);
}

/* "name n, name n, ..." */
typedef struct list {
  char text[1600];
  size_t len;
} list;

static void list_add(list *l, const char *name, uint64_t n)
{
  char item[160];
  if (!n)
    return;
  snprintf(item, sizeof item, "%s %s", name, num(n));
  for (char *p = item; *p; p++)
    if (*p == ' ')
      *p = GLUE;
  int len = snprintf(l->text + l->len, sizeof l->text - l->len, "%s%s", l->len ? ", " : "", item);
  l->len += (size_t)len;
  if (l->len >= sizeof l->text)
    l->len = sizeof l->text - 1;
}

static void list_put(FILE *out, const char *what, const list *l)
{
  if (l->len)
    put(out, "", *what ? 2 : 0, "%s%s%s", what, *what ? " " : "", l->text);
}

static void print_source(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  char from[WAL_LSN_BYTES], to[WAL_LSN_BYTES];
  put(out, "Source", 0, "PostgreSQL %u, database \"%s\", %s", m->cluster->format->major,
      m->database->name, m->cluster->path);
  put(out, "", 0, "WAL %s to %s, %s records, %.1f%cMB", wal_lsn_text(from, m->start),
      wal_lsn_text(to, m->end), num(m->counts.records), (double)(m->end - m->start) / 1048576.0,
      GLUE);
  put(out, "", 2, "read up to its end: %s", m->end_reason);
}

static void put_skipped(FILE *out, uint64_t n, const char *of, uint32_t why)
{
  if (n)
    put(out, "", 2, "not applied: %s%c%s%s%s: %s", num(n), GLUE,
        why == REPLAY_PERHAPS_NONE ? "delete" : "change", plural(n), of, replay_skip_name(why));
}

static void print_skipped(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  for (uint32_t t = 0; t < m->ntables; t++)
    for (uint32_t k = 1; k < REPLAY_SKIPS; k++) {
      char of[160];
      snprintf(of, sizeof of, " of %s", m->tables[t].name);
      put_skipped(out, m->tables[t].skipped[k], of, k);
    }
  put_skipped(out, m->counts.skipped[REPLAY_NO_RELATION], "", REPLAY_NO_RELATION);
  put_skipped(out, m->counts.skipped[REPLAY_PERHAPS_NONE], "", REPLAY_PERHAPS_NONE);
}

static void print_decoded(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  const replay_counts *c = &m->counts;
  uint32_t tables = 0;
  list ops = {.len = 0}, rest = {.len = 0};
  for (uint32_t t = 0; t < m->ntables; t++)
    tables += m->tables[t].changes > 0;
  put(out, "Decoded", 0, "%s transaction%s, %s change%s of %s table%s", num(m->ntxns),
      plural(m->ntxns), num(c->changes), plural(c->changes), num(tables), plural(tables));
  list_add(&ops, "insert", c->ops[REPLAY_INSERT]);
  list_add(&ops, "update", c->ops[REPLAY_UPDATE]);
  list_add(&ops, "delete", c->ops[REPLAY_DELETE]);
  list_add(&ops, "truncate", c->ops[REPLAY_TRUNCATE]);
  list_add(&ops, "message", c->messages);
  list_add(&ops, "table changed in the catalog", c->ops[REPLAY_DDL]);
  list_put(out, "", &ops);
  list_add(&rest, "before the first record of running transactions", c->before_start);
  list_add(&rest, "open at the start", c->left_out);
  list_add(&rest, "outside of --from, --to", c->outside);
  list_add(&rest, "before wal_level was logical", c->below_logical);
  list_add(&rest, "of other databases", c->other_database);
  list_add(&rest, "rolled back", c->rolled_back);
  list_add(&rest, "without a change", c->empty);
  list_put(out, "left out:", &rest);
  print_skipped(r, out);
}

static void print_plan(const replay_report *r, FILE *out)
{
  const replay_plan *p = r->plan;
  list edges = {.len = 0}, fallbacks = {.len = 0};
  put(out, "Planned", 0, "%s keys, %s dependencies, %s barriers", num(p->counters.keys),
      num(p->counters.edges), num(p->counters.barriers));
  put(out, "", 0, "in %.1f ms, %.2f us per transaction", (double)p->nanoseconds / 1e6,
      r->model->ntxns ? (double)p->nanoseconds / 1e3 / (double)r->model->ntxns : 0.0);
  for (uint32_t k = 1; replay_edge_name(k); k++)
    list_add(&edges, replay_edge_name(k), p->counters.edges_by_type[k]);
  list_add(&edges, "of these up to a horizon", p->counters.conservative);
  list_put(out, "dependencies by kind:", &edges);
  for (uint32_t k = 0; replay_fallback_name(k); k++)
    list_add(&fallbacks, replay_fallback_name(k), p->report.fallbacks[k]);
  list_put(out, "fallbacks by reason:", &fallbacks);
}

static double ratio(uint64_t a, uint64_t b)
{
  return b ? (double)a / (double)b : 0.0;
}

static void print_parallelism(const replay_report *r, FILE *out)
{
  const replay_plan *p = r->plan;
  static const char *const names[] = {"log order", "any order"};
  if (!p->critical_path)
    return;
  put(out, "Parallelism", 0, "%.1f = %s units of work / %s on the critical path",
      ratio(p->work, p->critical_path), num(p->work), num(p->critical_path));
  put(out, "", 0, "(a unit is a change or a commit)");
  put(out, "", 0, "What N workers would give, in virtual time, by order of commits:");
  fprintf(out, "%*s%-11s", (int)INDENT, "", "workers");
  for (int i = 0; i < REPLAY_WORKER_STEPS; i++)
    fprintf(out, i ? " %7d" : "%7d", 1 << i);
  for (int k = 0; k < 2; k++) {
    fprintf(out, "\n%*s%-11s", (int)INDENT, "", names[k]);
    for (int i = 0; i < REPLAY_WORKER_STEPS; i++)
      fprintf(out, "%7.2fx", ratio(p->work, p->makespan[k][i]));
  }
  fputc('\n', out);
}

static void print_run(const replay_report *r, FILE *out)
{
  const replay_result *x = r->result;
  const replay_options *o = r->options;
  put(out, "Applied", 0, "by %u worker%s, commit order %s: %.1f%cms; serially: %.1f%cms",
      o->workers, plural(o->workers), o->commit_order ? "on" : "off", (double)x->parallel_ns / 1e6,
      GLUE, (double)x->serial_ns / 1e6, GLUE);
  if (o->delay_us)
    put(out, "", 0, "with a pause of %u%cus per change and per commit, in both", o->delay_us, GLUE);
  else
    put(out, "", 0, "into memory, so these are costs of threads and locks; see --delay");
  if (x->retries)
    put(out, "", 2, "run again because a unique value was not free yet: %s", num(x->retries));
  if (x->seeded_rows || x->seeded_parents)
    put(out, "", 2, "older than the WAL, put there before: %s%crow%s, %s%cparent%s of foreign keys",
        num(x->seeded_rows), GLUE, plural(x->seeded_rows), num(x->seeded_parents), GLUE,
        plural(x->seeded_parents));
  if (r->model->constraints_unchecked)
    put(out, "", 2,
        "not checked by the store: %s constraint%s (partial, over expressions, of partitioned "
        "tables)",
        num(r->model->constraints_unchecked), plural(r->model->constraints_unchecked));
}

static void print_findings(const replay_findings *f, FILE *out)
{
  list kinds = {.len = 0};
  for (uint32_t k = 0; k < STORE_KINDS; k++)
    list_add(&kinds, store_kind_name(1u << k), f->by_kind[k]);
  list_put(out, "by kind:", &kinds);
  for (uint64_t i = 0; i < f->count && i < REPLAY_TEXTS; i++)
    put(out, "", 2, "%s", f->first[i]);
}

/* What was not applied is outside of the proof: that is part of the verdict. */
static void print_proved(const replay_report *r, FILE *out)
{
  uint64_t n = replay_not_applied(r), perhaps = r->model->counts.skipped[REPLAY_PERHAPS_NONE];
  fprintf(out, "\nPROVED: parallel apply gave the result of serial apply");
  if (n || perhaps)
    fprintf(out, ",\nbut for ");
  if (n)
    fprintf(out, "%s change%s", num(n), plural(n));
  if (perhaps)
    fprintf(out, "%sperhaps %s delete%s", n ? " and " : "", num(perhaps), plural(perhaps));
  if (n || perhaps)
    fprintf(out, " that %s not applied", n + perhaps == 1 ? "was" : "were");
  fprintf(out, ".\n");
}

static void print_verdict(const replay_report *r, FILE *out)
{
  const replay_result *x = r->result;
  put(out, "Checked", 0, "order violations: %s", num(x->violations.count));
  print_findings(&x->violations, out);
  if (x->serial.count) {
    put(out, "", 0,
        "met by serial apply as well: %s, explained by what is left out, not applied or "
        "changed in the catalog: %s",
        num(x->serial.count), num(x->serial.count - x->serial.unexplained));
    print_findings(&x->serial, out);
    if (x->serial.unexplained)
      put(out, "", 2, "unexplained, the WAL contradicts itself: %s; %s", num(x->serial.unexplained),
          x->serial.first_unexplained);
  }
  if (x->equal)
    put(out, "", 0, "parallel result equal to serial: yes, %s row%s compared",
        num(x->difference.rows / 2), plural(x->difference.rows / 2));
  else
    put(out, "", 2, "parallel result equal to serial: NO, %s row%s differ; %s",
        num(x->difference.count), plural(x->difference.count), x->difference.first);
  if (!replay_proved(r))
    fprintf(out, "\nNOT PROVED.\n");
  else if (!r->model->ntxns)
    fprintf(out, "\nNothing to apply: no transaction with changes in this part of the WAL.\n");
  else
    print_proved(r, out);
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
