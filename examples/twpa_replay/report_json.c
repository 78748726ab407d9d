/* The report as one JSON object. */
#include "twpa_replay/report.h"

#include "support/wal/wal_files.h"

static void put_string(FILE *out, const char *text)
{
  fputc('"', out);
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (*p == '"' || *p == '\\')
      fprintf(out, "\\%c", *p);
    else if (*p < 0x20)
      fprintf(out, "\\u%04x", *p);
    else
      fputc(*p, out);
  }
  fputc('"', out);
}

/* Whether text is well-formed UTF-8; the names of a database may be in any encoding. */
static bool is_utf8(const char *text)
{
  const unsigned char *p = (const unsigned char *)text;
  while (*p) {
    int more = *p < 0x80                    ? 0
               : *p >> 5 == 6 && *p > 0xC1  ? 1
               : *p >> 4 == 14              ? 2
               : *p >> 3 == 30 && *p < 0xF5 ? 3
                                            : -1;
    if (more < 0)
      return false;
    if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) || (*p == 0xF0 && p[1] < 0x90) ||
        (*p == 0xF4 && p[1] > 0x8F))
      return false;
    for (p++; more; more--, p++)
      if ((*p & 0xC0) != 0x80)
        return false;
  }
  return true;
}

/* Text that may not be UTF-8: other bytes become '?'. */
static void put_text(FILE *out, const char *text)
{
  char copy[512];
  snprintf(copy, sizeof copy, "%s", text);
  if (!is_utf8(copy))
    for (char *p = copy; *p; p++)
      if ((unsigned char)*p >= 0x80)
        *p = '?';
  put_string(out, copy);
}

static void put_number(FILE *out, const char *name, uint64_t n)
{
  fprintf(out, ",\n  \"%s\": %llu", name, (unsigned long long)n);
}

static void put_real(FILE *out, const char *name, double v)
{
  fprintf(out, ",\n  \"%s\": %.3f", name, v);
}

/* "name": { "kind": n, ... } */
static void put_kinds(FILE *out, const char *name, const uint64_t *numbers, uint32_t first,
                      uint32_t end, const char *(*kind_name)(uint32_t))
{
  const char *comma = "";
  fprintf(out, ",\n  \"%s\": {", name);
  for (uint32_t i = first; i < end; i++) {
    if (!kind_name(i) || !numbers[i])
      continue;
    fprintf(out, "%s", comma);
    put_string(out, kind_name(i));
    fprintf(out, ": %llu", (unsigned long long)numbers[i]);
    comma = ", ";
  }
  fputc('}', out);
}

static const char *finding_name(uint32_t bit)
{
  return store_kind_name(1u << bit);
}

static void put_findings(FILE *out, const char *name, const replay_findings *f)
{
  char list[64];
  snprintf(list, sizeof list, "%s_by_kind", name);
  put_kinds(out, list, f->by_kind, 0, STORE_KINDS, finding_name);
  fprintf(out, ",\n  \"%s_first\": [", name);
  for (uint64_t i = 0; i < f->count && i < REPLAY_TEXTS; i++) {
    fputs(i ? ", " : "", out);
    put_text(out, f->first[i]);
  }
  fputc(']', out);
}

static void put_speedups(FILE *out, const char *name, const replay_plan *p, int free_order)
{
  fprintf(out, ",\n  \"%s\": {", name);
  for (int i = 0; i < REPLAY_WORKER_STEPS; i++)
    fprintf(out, "%s\"%d\": %.3f", i ? ", " : "", 1 << i,
            p->makespan[free_order][i] ? (double)p->work / (double)p->makespan[free_order][i]
                                       : 0.0);
  fputc('}', out);
}

static const char *op_name(uint32_t op)
{
  static const char *const names[] = {NULL,     "insert",   "update",
                                      "delete", "truncate", "catalog change"};
  return op < sizeof names / sizeof *names ? names[op] : NULL;
}

static void put_source(const replay_report *r, FILE *out)
{
  const replay_model *m = r->model;
  char at[WAL_LSN_BYTES];
  fprintf(out, "{\n  \"postgresql\": %u", m->cluster->format->major);
  fprintf(out, ",\n  \"database\": ");
  put_text(out, m->database->name);
  fprintf(out, ",\n  \"wal_start\": \"%s\"", wal_lsn_text(at, m->start));
  fprintf(out, ",\n  \"wal_end\": \"%s\"", wal_lsn_text(at, m->end));
  fprintf(out, ",\n  \"wal_end_reason\": ");
  put_text(out, m->end_reason);
}

static void put_counts(const replay_report *r, FILE *out)
{
  const replay_counts *c = &r->model->counts;
  put_number(out, "records", c->records);
  put_number(out, "transactions", r->model->ntxns);
  put_number(out, "changes", c->changes);
  put_kinds(out, "changes_by_kind", c->ops, 1, 6, op_name);
  put_number(out, "messages", c->messages);
  put_number(out, "left_out_before_start", c->before_start);
  put_number(out, "left_out_open_at_start", c->left_out);
  put_number(out, "left_out_below_logical", c->below_logical);
  put_number(out, "left_out_by_position", c->outside);
  put_number(out, "transactions_of_other_databases", c->other_database);
  put_number(out, "rolled_back", c->rolled_back);
  put_kinds(out, "not_applied", c->skipped, 1, REPLAY_SKIPS, replay_skip_name);
}

void replay_print_json(const replay_report *r, FILE *out)
{
  const replay_plan *p = r->plan;
  const replay_result *x = r->result;
  put_source(r, out);
  put_counts(r, out);
  put_number(out, "keys", p->counters.keys);
  put_number(out, "edges", p->counters.edges);
  put_kinds(out, "edges_by_kind", p->counters.edges_by_type, 1, 6, replay_edge_name);
  put_number(out, "barriers", p->counters.barriers);
  put_kinds(out, "fallbacks", p->report.fallbacks, 0, TWPA_FALLBACKS, replay_fallback_name);
  put_number(out, "work", p->work);
  put_number(out, "critical_path", p->critical_path);
  put_real(out, "parallelism", p->critical_path ? (double)p->work / (double)p->critical_path : 0.0);
  put_speedups(out, "speedup_by_workers_commit_order", p, 0);
  put_speedups(out, "speedup_by_workers_free_order", p, 1);
  put_number(out, "workers", r->options->workers);
  fprintf(out, ",\n  \"commit_order\": %s", r->options->commit_order ? "true" : "false");
  put_real(out, "plan_ms", (double)p->nanoseconds / 1e6);
  put_real(out, "parallel_ms", (double)x->parallel_ns / 1e6);
  put_real(out, "serial_ms", (double)x->serial_ns / 1e6);
  put_number(out, "retries", x->retries);
  put_number(out, "seeded_rows", x->seeded_rows);
  put_number(out, "seeded_parents", x->seeded_parents);
  put_number(out, "constraints_unchecked", r->model->constraints_unchecked);
  put_number(out, "rows", x->difference.rows / 2);
  put_number(out, "order_violations", x->violations.count);
  put_findings(out, "order_violations", &x->violations);
  put_number(out, "serial_findings", x->serial.count);
  put_number(out, "serial_findings_unexplained", x->serial.unexplained);
  put_findings(out, "serial_findings", &x->serial);
  fprintf(out, ",\n  \"equal_to_serial\": %s", x->equal ? "true" : "false");
  const char *proved =
      r->model->ntxns ? "true" : "null"; /* with nothing to apply, nothing is proved */
  fprintf(out, ",\n  \"proved\": %s\n}\n", replay_proved(r) ? proved : "false");
}
