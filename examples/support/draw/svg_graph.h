/*
 * A dependency graph as a drawing: layers from left to right by depth (the longest chain of predecessors), so that
 * everything in one column could run at the same time; long edges are led around the nodes between.
 */
#ifndef SUPPORT_DRAW_SVG_GRAPH_H
#define SUPPORT_DRAW_SVG_GRAPH_H

#include "support/error.h"

#include <stdint.h>

typedef struct svg_graph_node {
  char label[24];    /* big */
  char below[24];    /* small, under it */
  const char *title; /* shown when the mouse rests on it; may be NULL */
} svg_graph_node;

typedef struct svg_graph_edge {
  uint32_t from, to; /* numbers of nodes, from < to */
  uint32_t kind;     /* number of a kind */
} svg_graph_edge;

typedef struct svg_graph_kind {
  const char *name;
  const char *colour;
} svg_graph_kind;

typedef struct svg_graph {
  const char *title, *subtitle;
  const svg_graph_node *nodes;
  uint32_t nnodes;
  const svg_graph_edge *edges;
  uint32_t nedges;
  const svg_graph_kind *kinds;
  uint32_t nkinds;
} svg_graph;

bool svg_graph_write(const svg_graph *graph, const char *path, host_error *err);

#endif
