/* What a trace can ask the planning half: dependencies, states, figures, positions. */
#include "planning.h"

#include "decode.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"?", "write-write", "read-write", "fk-dml", "ddl-barrier", "unknown"};
static const char *const kinds[] = {"no-conflict", "pk", "uk", "fk", "full", "barrier", "unknown"};
static const char *const modes[] = {"-", "read", "update", "write", "exclusive"};

#define NAME(table, i) ((i) < sizeof(table) / sizeof *(table) ? (table)[i] : "?")

static void show_edge(trace *t, const twpa_edge *e)
{
  text_add(&t->out, "edge from=%s%" PRIu64 " to=%" PRIu64, e->flags & TWPA_EDGE_UP_TO ? ".." : "", e->from, e->to);
  if (t->plan->print_edges != 0) {
    trace_say(t, "%s", "");
    return;
  }
  text_add(&t->out, " type=%s", NAME(types, e->type));
  if (e->flags & TWPA_EDGE_VIA) {
    const trace_described *r = described_of(t, e->relation);
    if (e->relation != 0)
      text_add(&t->out, " rel=%s", relation_name(t, e->relation));
    if (r != NULL && index_name(r, e->index) != NULL)
      text_add(&t->out, " index=%s", index_name(r, e->index));
    text_add(&t->out, " kind=%s", NAME(kinds, e->kind));
    if (e->from_mode != 0 || e->to_mode != 0)
      text_add(&t->out, " modes=%s,%s", NAME(modes, e->from_mode), NAME(modes, e->to_mode));
  }
  if (e->flags & TWPA_EDGE_EARLY)
    text_add(&t->out, " early");
  trace_say(t, "%s", "");
}

static int by_from(const void *a, const void *b)
{
  const twpa_edge *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

void show_edges_of(trace *t, uint64_t seq)
{
  size_t n = 0;
  const twpa_plan *plan = t->plan->plan;
  twpa_status st = twpa_plan_explain(plan, NULL, 0, &n, seq);
  twpa_edge *edges = host_alloc(n, sizeof *edges);
  if (st == TWPA_OK && n > 0)
    st = twpa_plan_explain(plan, edges, n, &n, seq);
  if (st == TWPA_OK && t->plan->print_edges < 2) {
    qsort(edges, n, sizeof *edges, by_from);
    for (size_t i = 0; i < n; i++) /* plain: one line for each, whatever the number of reasons */
      if (t->plan->print_edges == 0 || i == 0 || edges[i].from != edges[i - 1].from)
        show_edge(t, &edges[i]);
  }
  free(edges);
  if (st != TWPA_E_NOTFOUND)
    trace_status(t, st);
}

bool do_explain(trace *t, const trace_command *c)
{
  static const char *const waits[] = {"nothing", "dependency", "worker",   "running", "open", "commit-turn",
                                      "retry",   "rollback",   "alone",    "stopped"};
  static const char *const states[] = {"done", "waiting", "ready", "running", "executed", "committing", "retry", "stopped"};
  const plan_half *p = t->plan;
  uint64_t seq = 0;
  if (!arg_number(t, c, NULL, &seq, 0, UINT64_MAX))
    return false;
  if (p->plan == NULL)
    return trace_fail(t->err, c->at, "there is no 'plan' before it");
  if (p->scheduler != NULL) {
    uint32_t state = 0;
    twpa_wait wait = {0, 0, 0, 0};
    twpa_status st = twpa_scheduler_state(p->scheduler, &state, NULL, seq);
    if (st == TWPA_OK)
      st = twpa_scheduler_wait_of(p->scheduler, &wait, seq);
    if (st != TWPA_OK)
      return trace_status(t, st);
    text_add(&t->out, "task seq=%" PRIu64 " state=%s waits=%s", seq, NAME(states, state), NAME(waits, wait.kind));
    if (wait.holder != 0)
      text_add(&t->out, " for=%" PRIu64, wait.holder);
    trace_say(t, "%s", "");
  }
  show_edges_of(t, seq);
  return true;
}

/* --- figures --- */

typedef struct figure {
  const char *name;
  size_t offset;
} figure;

#define PLAN(name) {#name, offsetof(twpa_plan_counters, name)}
#define TASKS(name) {#name, offsetof(twpa_scheduler_counters, name)}
#define PROGRESS(name) {#name, offsetof(twpa_progress_counters, name)}

static const figure plan_figures[] = {
  PLAN(transactions), PLAN(completed),     PLAN(keys),        PLAN(edges),      PLAN(barriers),          PLAN(hits),
  PLAN(evicted),      PLAN(conservative),  PLAN(joins),       PLAN(memory_hits), PLAN(memory_misses),    PLAN(optimistic),
  PLAN(retries),      PLAN(live_transactions), PLAN(live_keys), PLAN(live_edges), PLAN(bytes),           {NULL, 0}};
static const figure task_figures[] = {
  TASKS(submitted), TASKS(committed), TASKS(skipped),      TASKS(low_watermark), TASKS(newest), TASKS(stopped_before),
  TASKS(waiting),   TASKS(ready),     TASKS(running),      TASKS(open),          TASKS(running_high), TASKS(open_high),
  TASKS(starts),    TASKS(early),     TASKS(conflicts),    TASKS(errors),        TASKS(cancels), TASKS(retries),
  TASKS(alone),     TASKS(rollbacks), TASKS(held_running), TASKS(held_open),     TASKS(turn_waits), {NULL, 0}};
static const figure progress_figures[] = {PROGRESS(submitted), PROGRESS(done), PROGRESS(span), PROGRESS(runs),
                                          PROGRESS(save_bytes), PROGRESS(save_bytes_max), {NULL, 0}};
static const char fallbacks[] = "class|value|missing|identity|index|foreign-key|side-effects|serial|unknown-release|"
                                "unknown-reference|budget|epoch|prepared|distrust";

static bool find_figure(const figure *table, const char *name, const void *counters, uint64_t *value)
{
  for (; table->name != NULL; table++)
    if (strcmp(table->name, name) == 0) {
      memcpy(value, (const char *)counters + table->offset, sizeof *value);
      return true;
    }
  return false;
}

bool plan_figure(trace *t, const char *name, uint64_t *value)
{
  const plan_half *p = t->plan;
  twpa_plan_counters plan = {.struct_size = TWPA_PLAN_COUNTERS_INIT};
  twpa_scheduler_counters tasks = {.struct_size = TWPA_SCHEDULER_COUNTERS_INIT};
  twpa_progress_counters progress = {.struct_size = TWPA_PROGRESS_COUNTERS_INIT};
  twpa_report report = {.struct_size = TWPA_REPORT_INIT};
  if (p->plan != NULL && strncmp(name, "plan.", 5) == 0)
    return twpa_plan_stats(p->plan, &plan) == TWPA_OK && find_figure(plan_figures, name + 5, &plan, value);
  if (p->scheduler != NULL && strncmp(name, "scheduler.", 10) == 0)
    return twpa_scheduler_stats(p->scheduler, &tasks) == TWPA_OK &&
           find_figure(task_figures, name + 10, &tasks, value);
  if (p->progress != NULL && strncmp(name, "progress.", 9) == 0)
    return twpa_progress_stats(p->progress, &progress) == TWPA_OK &&
           find_figure(progress_figures, name + 9, &progress, value);
  if (p->plan == NULL || strncmp(name, "fallback.", 9) != 0 || twpa_plan_report(p->plan, &report) != TWPA_OK)
    return false;
  int i = choice_of(name + 9, strlen(name + 9), fallbacks);
  *value = i >= 0 ? report.fallbacks[i] : 0;
  return i >= 0;
}

/* --- show --- */

/* The unfinished transactions in a state. */
static void show_nodes(trace *t, const char *name, uint32_t state)
{
  twpa_report report = {.struct_size = TWPA_REPORT_INIT};
  if (twpa_plan_report(t->plan->plan, &report) != TWPA_OK)
    return;
  text_add(&t->out, "%s", name);
  for (uint64_t seq = report.low_watermark + 1; seq <= report.last; seq++) {
    twpa_node node;
    if (twpa_plan_node(t->plan->plan, &node, seq) == TWPA_OK && node.state == state)
      text_add(&t->out, " %" PRIu64, seq);
  }
  trace_say(t, "%s", "");
}

static void show_report(trace *t)
{
  twpa_report report = {.struct_size = TWPA_REPORT_INIT};
  if (twpa_plan_report(t->plan->plan, &report) != TWPA_OK)
    return;
  text_add(&t->out, "report low=%" PRIu64 " last=%" PRIu64 " ready=%" PRIu64 " waiting=%" PRIu64 " finished=%" PRIu64,
           report.low_watermark, report.last, report.ready, report.waiting, report.finished);
  const char *name = fallbacks;
  for (size_t i = 0; *name != 0; i++) {
    size_t len = strcspn(name, "|");
    if (report.fallbacks[i] != 0)
      text_add(&t->out, " %.*s=%" PRIu64, (int)len, name, report.fallbacks[i]);
    name += len + (name[len] == '|');
  }
  if (report.status != TWPA_OK)
    text_add(&t->out, " status=%s", twpa_status_name(report.status));
  trace_say(t, "%s", "");
}

static void show_edges(trace *t)
{
  twpa_report report = {.struct_size = TWPA_REPORT_INIT};
  if (twpa_plan_report(t->plan->plan, &report) != TWPA_OK)
    return;
  for (uint64_t seq = report.low_watermark + 1; seq <= report.last; seq++)
    show_edges_of(t, seq);
}

static void show_progress(trace *t)
{
  uint64_t seq = 0;
  twpa_lsn lsn = 0;
  if (twpa_progress_low_watermark(t->plan->progress, &seq, &lsn) != TWPA_OK)
    return;
  trace_say(t, "progress lsn=%" PRIu64 " seq=%" PRIu64, lsn, seq);
}

static int to_text(void *user, const char *text, size_t len)
{
  text_bytes(&((trace *)user)->out, text, len);
  return 0;
}

bool plan_show(trace *t, const trace_command *c, const char *what, bool *known)
{
  const plan_half *p = t->plan;
  int i = choice_of(what, strlen(what), "ready|waiting|edges|report|graph|progress");
  *known = i >= 0;
  if (i < 0)
    return true;
  if (p->plan == NULL || (i == 5 && p->progress == NULL))
    return trace_fail(t->err, c->at, "there is no '%s' before it", i == 5 ? "progress" : "plan");
  switch (i) {
  case 0:
    show_nodes(t, "ready", TWPA_NODE_READY);
    break;
  case 1:
    show_nodes(t, "waiting", TWPA_NODE_WAITING);
    break;
  case 2:
    show_edges(t);
    break;
  case 3:
    show_report(t);
    break;
  case 4:
    return trace_status(t, twpa_plan_write_dot(p->plan, to_text, t));
  default:
    show_progress(t);
    break;
  }
  return true;
}

/* Is what ended at this position on the target? */
bool do_ask(trace *t, const trace_command *c)
{
  twpa_lsn lsn = 0;
  if (t->plan->progress == NULL)
    return trace_fail(t->err, c->at, "there is no 'progress' before it");
  if (!arg_position(t, c, NULL, &lsn))
    return false;
  trace_say(t, "%s", twpa_progress_is_applied(t->plan->progress, lsn) ? "yes" : "no");
  return true;
}
