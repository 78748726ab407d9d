/* Histories as traces. */
#include "history_trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define NAMES "abcd" /* of the columns */

void log_comment(const trace_log *log, const char *format, ...)
{
  va_list args;
  if (log == NULL)
    return;
  va_start(args, format);
  fputs("# ", log->out);
  vfprintf(log->out, format, args);
  fputc('\n', log->out);
  va_end(args);
}

void log_line(const trace_log *log, const char *format, ...)
{
  va_list args;
  if (log == NULL)
    return;
  va_start(args, format);
  vfprintf(log->out, format, args);
  fputc('\n', log->out);
  va_end(args);
}

void log_status(const trace_log *log, twpa_status st)
{
  if (st != TWPA_OK)
    log_line(log, "> status %s", twpa_status_name(st));
}

/* --- the target ------------------------------------------------------------------------------------------------------ */

static void put_columns(FILE *out, const char *key, const uint8_t *cols, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    fprintf(out, "%s%c", i == 0 ? key : ",", NAMES[cols[i]]);
}

/* ",flag" or " flags=flag" */
static void put_flag(FILE *out, bool *any, bool is, const char *name)
{
  if (!is)
    return;
  fprintf(out, "%s%s", *any ? "," : " flags=", name);
  *any = true;
}

static void put_relation(FILE *out, const schema *sc, int t)
{
  fprintf(out, "relation t%d columns=a:integer,b:integer,c:integer,d:integer", t);
  if (sc->identity[t] == TWPA_IDENTITY_INDEX)
    fprintf(out, " identity=t%d_2", t);
  else if (sc->identity[t] != TWPA_IDENTITY_DEFAULT)
    fprintf(out, " identity=%s", sc->identity[t] == TWPA_IDENTITY_FULL ? "full" : "nothing");
  bool any = false;
  for (int k = 0; k < sc->ntables; k++)
    if ((store_affects(sc, t) & 1u << k) != 0) {
      fprintf(out, "%st%d", any ? "," : " flags=side-effects affects=", k);
      any = true;
    }
  fputc('\n', out);
}

static void put_index(FILE *out, int t, int x, const unique *u)
{
  bool any = false;
  fprintf(out, "index t%d_%d of=t%d id=%d", t, x + 1, t, x + 1);
  put_columns(out, " columns=", u->cols, u->n);
  put_flag(out, &any, x == 0, "primary");
  put_flag(out, &any, u->nulls_are_values, "nulls-not-distinct");
  put_flag(out, &any, u->partial && !u->predicate_known, "partial");
  put_flag(out, &any, u->expression, "expression");
  put_flag(out, &any, u->deferred, "deferrable");
  fprintf(out, "%s\n", u->partial && u->predicate_known ? " where=d" : "");
}

static void put_fk(FILE *out, int f, const foreign *fk)
{
  bool any = false;
  fprintf(out, "fk f%d of=t%d", f, fk->child);
  put_columns(out, " columns=", fk->cols, fk->n);
  fprintf(out, " parent=t%d index=t%d_%d", fk->parent, fk->parent, fk->index + 1);
  put_flag(out, &any, fk->target, "enforced");
  put_flag(out, &any, fk->target && (fk->on_delete | fk->on_update) != NO_ACTION, "cascade");
  put_flag(out, &any, fk->match_full, "match-full");
  fputc('\n', out);
}

static void put_schema(FILE *out, const schema *sc)
{
  for (int t = 0; t < sc->ntables; t++)
    put_relation(out, sc, t); /* all of them first: they are numbered in this order */
  for (int t = 0; t < sc->ntables; t++)
    for (int x = 0; x < INDEXES; x++)
      if (sc->indexes[t][x].n > 0)
        put_index(out, t, x, &sc->indexes[t][x]);
  for (int f = 0; f < FKS; f++)
    if (sc->fks[f].there)
      put_fk(out, f, &sc->fks[f]);
}

/* --- plan and scheduler ---------------------------------------------------------------------------------------------- */

static void put_number(FILE *out, const char *key, uint64_t value)
{
  if (value != 0)
    fprintf(out, " %s=%" PRIu64, key, value);
}

/* The first of the names is what stands without the key. */
static void put_choice(FILE *out, const char *key, const char *const *names, uint32_t value)
{
  if (value != 0)
    fprintf(out, " %s=%s", key, names[value]);
}

void log_plan(const trace_log *log, const twpa_plan_options *o)
{
  static const char *const unique_names[] = {"optimistic", "strict"}, *const reference_names[] = {"strict", "optimistic"},
                          *const fk_names[] = {"enforced", "off", "all"}, *const identity_names[] = {"serial", "insert-free"},
                          *const parent_names[] = {"free", "conflicts"}, *const early_names[] = {"off", "narrow", "wide"};
  if (log == NULL)
    return;
  FILE *out = log->out;
  fprintf(out, "plan seed=%" PRIu64, o->seed);
  put_number(out, "table", o->table_bytes);
  put_number(out, "wide", o->wide_bytes);
  put_number(out, "memory", o->memory_bytes);
  put_number(out, "max-transactions", o->max_transactions);
  put_number(out, "max-keys", o->max_keys);
  put_number(out, "txn-max-keys", o->txn_max_keys);
  put_choice(out, "unique", unique_names, o->unique_release);
  put_choice(out, "reference", reference_names, o->reference_release);
  put_choice(out, "foreign-keys", fk_names, o->foreign_keys);
  put_choice(out, "no-identity", identity_names, o->no_identity);
  put_choice(out, "parent-update", parent_names, o->parent_update);
  put_choice(out, "early", early_names, o->early_start);
  fprintf(out, "%s%s\n", o->free_commit_order ? " commit-order=free" : "", o->explain ? "" : " explain=no");
}

void log_scheduler(const trace_log *log, const twpa_scheduler_options *o)
{
  static const char *const orders[] = {"global", "groups", "free"};
  if (log == NULL)
    return;
  fprintf(log->out, "scheduler");
  put_number(log->out, "running", o->running_max);
  put_number(log->out, "open", o->open_max);
  put_number(log->out, "window", o->window_max);
  put_number(log->out, "retries", o->retries_max);
  put_choice(log->out, "commit-order", orders, o->commit_order);
  fputc('\n', log->out);
}

/* --- transactions ---------------------------------------------------------------------------------------------------- */

static void values_of(tuple t, int64_t *out)
{
  for (unsigned c = 0; c < COLS; c++)
    out[c] = col(t, c) == NUL ? NIL : (int64_t)col(t, c);
}

void history_images(const history *h, const statement *s, images *out)
{
  unsigned key = store_identity(&h->sc, s->table);
  bool full = h->sc.identity[s->table] == TWPA_IDENTITY_FULL;
  out->has_old = s->op == ST_DELETE || (full && s->op == ST_UPDATE);
  out->has_new = s->op != ST_DELETE;
  values_of(s->old, out->old_values);
  values_of(s->new, out->new_values);
  if (s->op == ST_INSERT)
    return;
  for (unsigned c = 0; c < COLS; c++) {
    /* The identity goes along if it changes, and if it lies out of line and the new row does not repeat it. */
    bool same = s->op == ST_UPDATE && (s->same & 1u << c) != 0;
    out->has_old = out->has_old || ((key & 1u << c) != 0 && (out->old_values[c] != out->new_values[c] || same));
    if (!full && (key & 1u << c) == 0)
      out->old_values[c] = NIL; /* "n" in a key-only old row is not NULL */
    if (same)
      out->new_values[c] = SAME;
  }
}

static void put_row(FILE *out, const char *key, const int64_t *values)
{
  for (unsigned c = 0; c < COLS; c++) {
    fprintf(out, "%s", c == 0 ? key : ",");
    if (values[c] == NIL || values[c] == SAME)
      fputs(values[c] == NIL ? "null" : "~", out);
    else
      fprintf(out, "%" PRId64, values[c]);
  }
  fputc(')', out);
}

static void put_statement(FILE *out, const history *h, const statement *s)
{
  static const char *const ops[] = {"", "insert", "update", "delete", "truncate"};
  images im;
  fprintf(out, "%s ", ops[s->op]);
  if (s->op == ST_TRUNCATE) {
    unsigned which = store_truncates(&h->sc, s->table);
    bool any = false;
    for (int t = 0; t < h->sc.ntables; t++)
      if ((which & 1u << t) != 0) {
        fprintf(out, "%st%d", any ? "," : "", t);
        any = true;
      }
    fputc('\n', out);
    return;
  }
  history_images(h, s, &im);
  fprintf(out, "t%d", s->table);
  if (im.has_old)
    put_row(out, " old=(", im.old_values);
  if (im.has_new)
    put_row(out, " new=(", im.new_values);
  fputc('\n', out);
}

void log_target(const trace_log *log, const history *h)
{
  static const char *const actions[] = {"no action", "cascade", "set null"};
  if (log == NULL)
    return;
  put_schema(log->out, &h->sc);
  for (int f = 0; f < FKS; f++)
    if (h->sc.fks[f].there && (h->sc.fks[f].on_delete | h->sc.fks[f].on_update) != NO_ACTION)
      log_comment(log, "f%d: on delete %s, on update %s%s", f, actions[h->sc.fks[f].on_delete],
                  actions[h->sc.fks[f].on_update], h->sc.fks[f].source ? "" : ", not at the source");
  for (int t = 0; t < h->sc.ntables; t++)
    for (int i = 0; i < h->start.count[t]; i++) {
      int64_t values[COLS];
      values_of(h->start.rows[t][i], values);
      fprintf(log->out, "# There is t%d", t);
      put_row(log->out, " (", values);
      fputc('\n', log->out);
    }
}

void log_seed(const trace_log *log, int table, tuple t)
{
  int64_t values[COLS];
  if (log == NULL)
    return;
  values_of(t, values);
  fprintf(log->out, "seed t%d", table);
  put_row(log->out, " new=(", values);
  fputc('\n', log->out);
}

void log_transaction(const trace_log *log, const history *h, int t, const char *more)
{
  if (log == NULL)
    return;
  bool prepared = h->end_of[t] > 0 || history_end_of(h, t) >= 0;
  if (h->end_of[t] > 0)
    log_comment(log, "%s of %d", h->rolls_back[t] ? "ROLLBACK PREPARED" : "COMMIT PREPARED", h->end_of[t]);
  log_line(log, "txn end=%d%s%s%s", t + 1, (t & 1) != 0 ? " origin=1" : "", prepared ? " flags=prepared" : "", more);
  for (int i = 0; i < h->len[t]; i++)
    put_statement(log->out, h, &h->st[t][i]);
}

/* --- answers --------------------------------------------------------------------------------------------------------- */

static int by_from(const void *a, const void *b)
{
  const twpa_edge *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

/* As twpa-trace prints them with edges=plain: in order, each `from` once. Those that lack are put among them. */
static void put_edges(const trace_log *log, const twpa_plan *plan, int t, uint64_t seq)
{
  twpa_edge edges[64 + TX];
  size_t n, k = 0;
  test_must(twpa_plan_explain(plan, edges, 64, &n, seq) == TWPA_OK && n <= 64);
  for (size_t i = 0; i < n; i++)
    if (log->hidden == NULL || (log->hidden[t] >> (edges[i].from - 1) & 1) == 0)
      edges[k++] = edges[i];
  for (uint64_t from = 1; log->lacking != NULL && from < seq; from++)
    if ((log->lacking[t] >> (from - 1) & 1) != 0)
      edges[k++] = (twpa_edge){.from = from, .to = seq};
  qsort(edges, k, sizeof *edges, by_from);
  for (size_t i = 0; i < k; i++)
    if (i == 0 || edges[i].from != edges[i - 1].from)
      log_line(log, "> edge from=%s%" PRIu64 " to=%" PRIu64, (edges[i].flags & TWPA_EDGE_UP_TO) != 0 ? ".." : "",
               edges[i].from, seq);
}

void log_entered(const trace_log *log, const twpa_plan *plan, int t, uint64_t seq)
{
  if (log == NULL)
    return;
  log_line(log, "enter\n> enter seq=%" PRIu64, seq);
  put_edges(log, plan, t, seq);
}

void log_explained(const trace_log *log, const twpa_plan *plan, int t, uint64_t seq)
{
  if (log == NULL)
    return;
  log_line(log, "explain %" PRIu64, seq);
  put_edges(log, plan, t, seq);
}
