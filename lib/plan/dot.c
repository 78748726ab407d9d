/* A plan as a Graphviz graph: transactions as boxes, join nodes as dots, dependencies by type. */
#include "plan/plan.h"

#include <string.h>

typedef struct writer {
  const twpa__graph *g;
  twpa_text_sink sink;
  void *user;
  int refused;
} writer;

static void text(writer *w, const char *s)
{
  if (w->refused == 0)
    w->refused = w->sink(w->user, s, strlen(s));
}

static void number(writer *w, uint64_t n)
{
  char digits[21];
  char *p = digits + sizeof digits - 1;
  *p = '\0';
  do {
    *--p = (char)('0' + n % 10);
    n /= 10;
  } while (n > 0);
  text(w, p);
}

static void name(writer *w, const char *kind, uint64_t n)
{
  text(w, kind);
  number(w, n);
}

static void arrow(writer *w, const char *kind, uint64_t from, const char *to_kind, uint64_t to, const char *style)
{
  text(w, "  ");
  name(w, kind, from);
  text(w, " -> ");
  name(w, to_kind, to);
  text(w, style);
}

static const char *style(uint32_t meta)
{
  static const char *const styles[8] = {
    " [color=gray, arrowhead=none];\n",
    ";\n",
    " [color=blue];\n",
    " [color=darkgreen];\n",
    " [color=red, penwidth=2];\n",
    " [color=gray40, style=dashed];\n",
    ";\n",
    ";\n",
  };
  return styles[meta & TWPA__META_TYPE];
}

static void edges(writer *w, uint64_t seq)
{
  twpa__in_edge e;
  for (uint32_t cursor = 0; twpa__graph_next_in(w->g, &e, &cursor, seq);) {
    if (e.fulfilled)
      continue;
    if (e.from == 0)
      arrow(w, "j", e.join, "t", seq, style(e.meta));
    else if ((e.meta & TWPA__META_UP_TO) != 0)
      arrow(w, "t", e.from, "t", seq, " [color=orange, style=dashed, label=\"all up to\"];\n");
    else
      arrow(w, "t", e.from, "t", seq, style(e.meta));
  }
}

static void node(writer *w, uint64_t seq)
{
  static const char *const fill[] = {"white", "palegreen", "palegreen", "khaki", "gray80"};
  text(w, "  ");
  name(w, "t", seq);
  text(w, " [label=\"");
  number(w, seq);
  text(w, "\", fillcolor=");
  text(w, fill[twpa__state_of(w->g, seq)]);
  text(w, "];\n");
  edges(w, seq);
}

static void join(writer *w, uint32_t j)
{
  const twpa__join *join = &w->g->joins[j];
  text(w, "  ");
  name(w, "j", j);
  text(w, " [shape=point, label=\"\"];\n");
  if (join->before != TWPA__NIL)
    arrow(w, "j", join->before, "j", j, style(0));
  for (uint32_t m = join->members; m != TWPA__NIL; m = w->g->edges[m].next_in)
    arrow(w, "t", twpa__full_seq(w->g, w->g->edges[m].from), "j", j, style(0));
}

twpa_status twpa_plan_write_dot(twpa_plan *plan, twpa_text_sink sink, void *user)
{
  if (plan == NULL || sink == NULL)
    return TWPA_E_INVAL;
  if (plan->busy)
    return TWPA_E_REENTRANT;
  plan->busy = true; /* what changed the graph under the writer would leave it with pointers to what was */
  writer w = {&plan->graph, sink, user, 0};
  text(&w, "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n");
  for (uint64_t seq = plan->graph.low + 1; seq <= plan->graph.last; seq++)
    node(&w, seq);
  for (uint32_t j = 0; j < plan->graph.joins_used; j++) {
    if (plan->graph.joins[j].used && plan->graph.joins[j].npred > 0)
      join(&w, j);
  }
  text(&w, "}\n");
  plan->busy = false;
  return w.refused == 0 ? TWPA_OK : TWPA_E_CALLBACK;
}
