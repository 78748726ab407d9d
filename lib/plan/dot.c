/* A plan as a Graphviz graph: transactions as boxes, join nodes as dots, dependencies by type. */
#include "plan/plan.h"

#include <string.h>

#define SEQ_BITS (TWPA__TO_JOIN - 1)

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

static void name(writer *w, uint32_t target)
{
  bool join = (target & TWPA__TO_JOIN) != 0;
  text(w, join ? "j" : "t");
  number(w, join ? target & SEQ_BITS : twpa__full_seq(w->g, target));
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

static void edges(writer *w, uint32_t from, uint32_t e)
{
  while (e != TWPA__NIL) {
    const twpa__edge edge = twpa__edge_at(w->g, e);
    text(w, "  ");
    name(w, from);
    text(w, " -> ");
    name(w, edge.to);
    text(w, style(edge.meta));
    e = edge.next;
  }
}

static void node(writer *w, uint64_t seq)
{
  static const char *const fill[] = {"white", "palegreen", "khaki", "gray80"};
  const twpa__node *n = twpa__node_at(w->g, seq);
  text(w, "  t");
  number(w, seq);
  text(w, " [label=\"");
  number(w, seq);
  text(w, "\", fillcolor=");
  text(w, fill[n->state]);
  text(w, "];\n");
  edges(w, (uint32_t)seq & SEQ_BITS, n->edges);
  if (!n->waits)
    return;
  text(w, "  t");
  number(w, twpa__full_seq(w->g, n->prev & SEQ_BITS));
  text(w, " -> t");
  number(w, seq);
  text(w, " [color=orange, style=dashed, label=\"all up to\"];\n");
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
    const twpa__join *join = &plan->graph.joins[j];
    if (!join->used || (join->npred == 0 && join->edges == TWPA__NIL))
      continue;
    text(&w, "  j");
    number(&w, j);
    text(&w, " [shape=point, label=\"\"];\n");
    edges(&w, j | TWPA__TO_JOIN, join->edges);
  }
  text(&w, "}\n");
  plan->busy = false;
  return w.refused == 0 ? TWPA_OK : TWPA_E_CALLBACK;
}
