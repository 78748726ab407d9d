/*
 * Layered drawing of a graph. Depth gives the column. An edge over several columns gets a waypoint in each column
 * between, which takes part in the ordering like a node. Columns are sorted by the mean position of neighbours, a few
 * times forth and back, the best order seen wins. An edge that a longer way implies is drawn thin. Nodes without any edge
 * stand below, in rows.
 */
#include "support/draw/svg_graph.h"

#include "support/draw/svg.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

/* A node, or a waypoint of an edge. */
typedef struct spot {
  uint32_t layer;
  uint32_t node; /* UINT32_MAX: waypoint */
  double place;  /* position in its layer */
  double want;   /* where its neighbours are, on average */
  double weight; /* how much it wants that */
  double x, y;
} spot;

/* A piece of an edge between neighbouring layers. */
typedef struct piece {
  uint32_t from, to; /* spots */
  uint32_t edge;
} piece;

typedef struct layout {
  const svg_graph *g;
  spot *spots;
  size_t nspots, spots_cap;
  piece *pieces;
  size_t npieces, pieces_cap;
  uint32_t nlayers;
  uint32_t **layers; /* spot numbers, in order */
  uint32_t *counts;
  bool *implied; /* per edge */
  bool *lone;    /* per node: without any edge */
  uint32_t nlone;
  double lone_y; /* the line that says so */
  double width, height;
} layout;

#define NODE_W 54.0
#define NODE_H 30.0
#define STEP_X 96.0
#define STEP_Y 42.0
#define LONE_X 66.0
#define WAYPOINT_Y 16.0
#define TOP 84.0
#define LEFT 32.0

static void find_depths(layout *l)
{
  const svg_graph *g = l->g;
  l->spots = host_alloc(g->nnodes, sizeof *l->spots);
  l->nspots = l->spots_cap = g->nnodes;
  for (uint32_t i = 0; i < g->nnodes; i++)
    l->spots[i].node = i;
  /* Edges go from lower to higher numbers: relaxing them by target, in order, is enough. */
  for (uint32_t to = 0; to < g->nnodes; to++)
    for (uint32_t e = 0; e < g->nedges; e++)
      if (g->edges[e].to == to && l->spots[to].layer <= l->spots[g->edges[e].from].layer)
        l->spots[to].layer = l->spots[g->edges[e].from].layer + 1;
  for (uint32_t i = 0; i < g->nnodes; i++)
    if (l->spots[i].layer + 1 > l->nlayers)
      l->nlayers = l->spots[i].layer + 1;
  l->lone = host_alloc(g->nnodes, sizeof *l->lone);
  l->nlone = g->nnodes;
  memset(l->lone, 1, g->nnodes);
  for (uint32_t e = 0; e < g->nedges; e++)
    for (int end = 0; end < 2; end++) {
      bool *lone = &l->lone[end ? g->edges[e].to : g->edges[e].from];
      l->nlone -= *lone;
      *lone = false;
    }
}

static bool is_lone(const layout *l, size_t i)
{
  return i < l->g->nnodes && l->lone[i];
}

/* An edge is implied if its target can be reached without it. */
static void find_implied(layout *l)
{
  const svg_graph *g = l->g;
  l->implied = host_alloc(g->nedges, sizeof *l->implied);
  bool *reached = host_alloc(g->nnodes, sizeof *reached);
  for (uint32_t e = 0; e < g->nedges; e++) {
    memset(reached, 0, g->nnodes);
    reached[g->edges[e].from] = true;
    for (uint32_t node = g->edges[e].from; node < g->edges[e].to; node++)
      for (uint32_t f = 0; reached[node] && f < g->nedges; f++)
        if (f != e && g->edges[f].from == node)
          reached[g->edges[f].to] = true;
    l->implied[e] = reached[g->edges[e].to];
  }
  free(reached);
}

static void add_piece(layout *l, uint32_t from, uint32_t to, uint32_t edge)
{
  l->pieces = host_grow(l->pieces, &l->pieces_cap, l->npieces, sizeof *l->pieces);
  l->pieces[l->npieces++] = (piece){.from = from, .to = to, .edge = edge};
}

static void cut_edges(layout *l)
{
  for (uint32_t e = 0; e < l->g->nedges; e++) {
    uint32_t at = l->g->edges[e].from;
    for (uint32_t layer = l->spots[at].layer + 1; layer < l->spots[l->g->edges[e].to].layer; layer++) {
      l->spots = host_grow(l->spots, &l->spots_cap, l->nspots, sizeof *l->spots);
      uint32_t way = (uint32_t)l->nspots++;
      l->spots[way] = (spot){.layer = layer, .node = UINT32_MAX};
      add_piece(l, at, way, e);
      at = way;
    }
    add_piece(l, at, l->g->edges[e].to, e);
  }
}

static void fill_layers(layout *l)
{
  l->layers = host_alloc(l->nlayers, sizeof *l->layers);
  l->counts = host_alloc(l->nlayers, sizeof *l->counts);
  for (size_t i = 0; i < l->nspots; i++)
    l->counts[l->spots[i].layer] += !is_lone(l, i);
  for (uint32_t k = 0; k < l->nlayers; k++) {
    l->layers[k] = host_alloc(l->counts[k], sizeof **l->layers);
    l->counts[k] = 0;
  }
  for (size_t i = 0; i < l->nspots; i++) {
    uint32_t k = l->spots[i].layer;
    if (is_lone(l, i))
      continue;
    l->spots[i].place = l->counts[k];
    l->layers[k][l->counts[k]++] = (uint32_t)i;
  }
}

/* Sorts one layer by `want`; stable, few elements. */
static void sort_layer(layout *l, uint32_t k)
{
  uint32_t *list = l->layers[k];
  for (uint32_t i = 1; i < l->counts[k]; i++)
    for (uint32_t j = i; j && l->spots[list[j]].want < l->spots[list[j - 1]].want; j--) {
      uint32_t swap = list[j];
      list[j] = list[j - 1];
      list[j - 1] = swap;
    }
  for (uint32_t i = 0; i < l->counts[k]; i++)
    l->spots[list[i]].place = i;
}

/* One sweep: every layer is ordered by the layer before it (forth) or behind it. */
static void sweep(layout *l, bool forth)
{
  double *sum = host_alloc(l->nspots, sizeof *sum);
  uint32_t *n = host_alloc(l->nspots, sizeof *n);
  for (uint32_t step = 0; step < l->nlayers; step++) {
    uint32_t k = forth ? step : l->nlayers - 1 - step;
    memset(sum, 0, l->nspots * sizeof *sum);
    memset(n, 0, l->nspots * sizeof *n);
    for (size_t p = 0; p < l->npieces; p++) {
      uint32_t self = forth ? l->pieces[p].to : l->pieces[p].from;
      uint32_t other = forth ? l->pieces[p].from : l->pieces[p].to;
      sum[self] += l->spots[other].place / (l->counts[l->spots[other].layer] + 1);
      n[self]++;
    }
    for (uint32_t i = 0; i < l->counts[k]; i++) {
      spot *s = &l->spots[l->layers[k][i]];
      s->want = n[l->layers[k][i]] ? sum[l->layers[k][i]] / n[l->layers[k][i]] : s->place / (l->counts[k] + 1);
    }
    sort_layer(l, k);
  }
  free(sum);
  free(n);
}

static size_t crossings(const layout *l)
{
  size_t count = 0;
  for (size_t p = 0; p < l->npieces; p++)
    for (size_t q = p + 1; q < l->npieces; q++) {
      const spot *a = &l->spots[l->pieces[p].from], *b = &l->spots[l->pieces[p].to];
      const spot *c = &l->spots[l->pieces[q].from], *d = &l->spots[l->pieces[q].to];
      if (a->layer == c->layer && (a->place - c->place) * (b->place - d->place) < 0)
        count++;
    }
  return count;
}

static void order_layers(layout *l)
{
  double *best = host_alloc(l->nspots, sizeof *best);
  size_t least = SIZE_MAX;
  for (int round = 0; round < 12; round++) {
    size_t now = crossings(l);
    if (now < least) {
      least = now;
      for (size_t i = 0; i < l->nspots; i++)
        best[i] = l->spots[i].place;
    }
    sweep(l, round % 2 == 0);
  }
  for (size_t i = 0; i < l->nspots; i++)
    l->spots[i].want = best[i];
  for (uint32_t k = 0; k < l->nlayers; k++)
    sort_layer(l, k);
  free(best);
}

static double height_of(const spot *s)
{
  return s->node == UINT32_MAX ? WAYPOINT_Y : STEP_Y;
}

/*
 * Moves the spots of one layer as near as possible to where they want to be, with their order and distances kept. Spots
 * that push each other form a block, which stands where its members want to be on average.
 */
static void settle_layer(layout *l, uint32_t k)
{
  typedef struct block {
    double sum, weight;
    uint32_t count;
  } block;
  block *blocks = host_alloc(l->counts[k], sizeof *blocks);
  uint32_t n = 0, at = 0;
  double offset = 0;
  for (uint32_t i = 0; i < l->counts[k]; i++) {
    const spot *s = &l->spots[l->layers[k][i]];
    offset += height_of(s) / 2;
    blocks[n++] = (block){.sum = (s->want - offset) * s->weight, .weight = s->weight, .count = 1};
    offset += height_of(s) / 2;
    while (n > 1 && blocks[n - 1].sum / blocks[n - 1].weight < blocks[n - 2].sum / blocks[n - 2].weight) {
      blocks[n - 2].sum += blocks[n - 1].sum;
      blocks[n - 2].weight += blocks[n - 1].weight;
      blocks[n - 2].count += blocks[n - 1].count;
      n--;
    }
  }
  offset = 0;
  for (uint32_t b = 0; b < n; b++)
    for (uint32_t i = 0; i < blocks[b].count; i++) {
      spot *s = &l->spots[l->layers[k][at++]];
      offset += height_of(s) / 2;
      s->y = blocks[b].sum / blocks[b].weight + offset;
      offset += height_of(s) / 2;
    }
  free(blocks);
}

/*
 * What a spot wants: to be level with its neighbours before it, or behind it. Long edges like to be straight; a node
 * without any edge goes where there is room.
 */
static void wish(layout *l, bool forth)
{
  uint32_t *n = host_alloc(l->nspots, sizeof *n);
  for (size_t i = 0; i < l->nspots; i++) {
    l->spots[i].want = 0;
    l->spots[i].weight = l->spots[i].node == UINT32_MAX ? 4 : 0.001;
  }
  for (size_t p = 0; p < l->npieces; p++) {
    uint32_t self = forth ? l->pieces[p].to : l->pieces[p].from;
    uint32_t other = forth ? l->pieces[p].from : l->pieces[p].to;
    l->spots[self].want += l->spots[other].y;
    n[self]++;
    for (int end = 0; end < 2; end++) {
      spot *s = &l->spots[end ? self : other];
      s->weight = s->weight < 1 ? 1 : s->weight;
    }
  }
  for (size_t i = 0; i < l->nspots; i++)
    if (n[i])
      l->spots[i].want /= n[i];
    else if (l->spots[i].weight >= 1)
      l->spots[i].want = l->spots[i].y;
  free(n);
}

/* What a spot or an edge covers of the height. */
typedef struct band {
  double from, to;
} band;

static int by_from(const void *a, const void *b)
{
  const band *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

static band band_of(const spot *a, const spot *b)
{
  double ha = height_of(a) / 2, hb = height_of(b) / 2;
  return (band){.from = a->y - ha < b->y - hb ? a->y - ha : b->y - hb, .to = a->y + ha > b->y + hb ? a->y + ha : b->y + hb};
}

/* Moves parts that nothing connects together, so that no height is left empty. Returns the height. */
static double close_gaps(layout *l)
{
  size_t n = 0;
  band *bands = host_alloc(l->npieces + 1, sizeof *bands);
  double *up = host_alloc(l->npieces + 1, sizeof *up), bottom = 0;
  for (size_t p = 0; p < l->npieces; p++)
    bands[n++] = band_of(&l->spots[l->pieces[p].from], &l->spots[l->pieces[p].to]);
  if (n)
    qsort(bands, n, sizeof *bands, by_from);
  for (size_t i = 0; i < n; i++) {
    double before = i ? up[i - 1] : 0;
    up[i] = !i ? bands[0].from - TOP : bands[i].from > bottom ? before + (bands[i].from - bottom) : before;
    bottom = !i || bands[i].to > bottom ? bands[i].to : bottom;
  }
  for (size_t s = 0; s < l->nspots; s++) {
    if (is_lone(l, s))
      continue;
    double from = l->spots[s].y - height_of(&l->spots[s]) / 2, shift = 0;
    for (size_t i = 0; i < n && bands[i].from <= from + 0.001; i++)
      shift = up[i];
    l->spots[s].y -= shift;
  }
  double height = n ? bottom - up[n - 1] - TOP : 0;
  free(bands);
  free(up);
  return height;
}

/* Nodes without edges, in rows below the others. Returns their height. */
static double place_lone(layout *l, double top)
{
  uint32_t per_row = (uint32_t)((l->width - 2 * LEFT - NODE_W) / LONE_X) + 1, n = 0;
  if (!l->nlone)
    return 0;
  l->lone_y = top + 18;
  for (uint32_t i = 0; i < l->g->nnodes; i++) {
    if (!l->lone[i])
      continue;
    l->spots[i].x = LEFT + n % per_row * LONE_X + NODE_W / 2;
    l->spots[i].y = l->lone_y + 12 + n / per_row * STEP_Y + STEP_Y / 2;
    n++;
  }
  return 30 + ((n - 1) / per_row + 1) * STEP_Y;
}

static void place_spots(layout *l)
{
  for (uint32_t k = 0; k < l->nlayers; k++) {
    double y = 0;
    for (uint32_t i = 0; i < l->counts[k]; i++) {
      spot *s = &l->spots[l->layers[k][i]];
      s->x = LEFT + k * STEP_X + NODE_W / 2;
      s->y = y + height_of(s) / 2;
      y += height_of(s);
    }
  }
  for (int round = 0; round < 24; round++)
    for (uint32_t step = 0; step < l->nlayers; step++) {
      bool forth = round % 2 == 0;
      wish(l, forth);
      settle_layer(l, forth ? step : l->nlayers - 1 - step);
    }
  double height = close_gaps(l);
  l->width = 2 * LEFT + (l->nlayers ? l->nlayers - 1 : 0) * STEP_X + NODE_W;
  if (l->width < 780)
    l->width = 780;
  height += place_lone(l, TOP + height);
  l->height = TOP + height + 74;
}

static void draw_edges(svg *s, const layout *l, bool implied)
{
  for (size_t p = 0; p < l->npieces; p++) {
    const piece *pc = &l->pieces[p];
    if (l->implied[pc->edge] != implied)
      continue;
    const spot *a = &l->spots[pc->from], *b = &l->spots[pc->to];
    const svg_graph_edge *e = &l->g->edges[pc->edge];
    bool ends = b->node != UINT32_MAX;
    double x1 = a->node == UINT32_MAX ? a->x : a->x + NODE_W / 2;
    double x2 = ends ? b->x - NODE_W / 2 - (implied ? 5 : 8) : b->x;
    double mid = (x1 + x2) / 2;
    svg_put(s,
            "<path d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" "
            "stroke-opacity=\"%s\"%s%u%s/>\n",
            x1, a->y, mid, a->y, mid, b->y, x2, b->y, l->g->kinds[e->kind].colour, implied ? "0.9" : "1.7",
            implied ? "0.45" : "0.95", ends ? " marker-end=\"url(#a" : " data-edge=\"", ends ? e->kind : pc->edge,
            ends ? ")\"" : "\"");
  }
}

static void draw_nodes(svg *s, const layout *l)
{
  if (l->nlone)
    svg_text(s, 24, l->lone_y, 12, "start", SVG_GREY, "Without dependencies in this window:");
  for (uint32_t i = 0; i < l->g->nnodes; i++) {
    const spot *sp = &l->spots[i];
    const svg_graph_node *n = &l->g->nodes[i];
    svg_put(s, "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"6\" fill=\"#ffffff\" stroke=\"%s\" "
               "stroke-width=\"1.2\">",
            sp->x - NODE_W / 2, sp->y - NODE_H / 2, NODE_W, NODE_H, SVG_INK);
    if (n->title) {
      svg_put(s, "<title>");
      svg_escaped(s, n->title);
      svg_put(s, "</title>");
    }
    svg_put(s, "</rect>\n");
    svg_text(s, sp->x, sp->y - 1, 12, "middle", NULL, n->label);
    svg_text(s, sp->x, sp->y + 10, 8.5, "middle", SVG_GREY, n->below);
    svg_put(s, "</g>\n");
  }
}

static void draw_legend(svg *s, const layout *l)
{
  const svg_graph *g = l->g;
  double x = 24, y = l->height - 40;
  for (uint32_t k = 0; k < g->nkinds; k++) {
    uint32_t n = 0;
    char text[80];
    for (uint32_t e = 0; e < g->nedges; e++)
      n += g->edges[e].kind == k;
    if (!n)
      continue;
    snprintf(text, sizeof text, "%s (%u)", g->kinds[k].name, n);
    svg_put(s,
            "<path d=\"M%.1f %.1f h22\" stroke=\"%s\" stroke-width=\"2\" marker-end=\"url(#a%u)\" fill=\"none\"/>\n", x,
            y - 4, g->kinds[k].colour, k);
    svg_text(s, x + 36, y, 12, "start", NULL, text);
    x += 60 + 6.6 * (double)strlen(text);
  }
  svg_text(s, 24, l->height - 18, 11, "start", SVG_GREY,
           "Thin: implied by a longer way. Columns: by the longest chain of predecessors inside this window.");
}

bool svg_graph_write(const svg_graph *graph, const char *path, host_error *err)
{
  layout l = {.g = graph};
  find_depths(&l);
  find_implied(&l);
  cut_edges(&l);
  fill_layers(&l);
  order_layers(&l);
  place_spots(&l);
  svg s;
  bool ok = svg_open(&s, path, l.width, l.height, graph->title, graph->subtitle, err);
  if (ok) {
    svg_put(&s, "<defs>\n");
    for (uint32_t k = 0; k < graph->nkinds; k++)
      svg_put(&s,
              "<marker id=\"a%u\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
              "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.5 L8 4 L0 7.5 z\" fill=\"%s\"/></marker>\n",
              k, graph->kinds[k].colour);
    svg_put(&s, "</defs>\n");
    draw_edges(&s, &l, true);
    draw_edges(&s, &l, false);
    draw_nodes(&s, &l);
    draw_legend(&s, &l);
    ok = svg_close(&s, err);
  }
  for (uint32_t k = 0; k < l.nlayers; k++)
    free(l.layers[k]);
  free(l.layers);
  free(l.counts);
  free(l.spots);
  free(l.pieces);
  free(l.implied);
  free(l.lone);
  return ok;
}
