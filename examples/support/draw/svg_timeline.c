/* Lanes with bars over a time axis. */
#include "support/draw/svg_timeline.h"

#include "support/draw/svg.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

#define LEFT 104.0
#define RIGHT 28.0
#define PLOT 1040.0
#define TOP 78.0
#define BAR_H 20.0
#define WAIT_H 4.0
#define WAITS_MAX 12u /* lines below a lane */

static const char *const colours[] = {"#3b82c4", "#2f9e62", "#d1495b"};
static const char *const names[] = {"executing", "committing", "rolling back"};
#define WAIT_COLOUR "#e0a030"

typedef struct picture {
  const svg_timeline *t;
  uint64_t begin, end;
  uint32_t *rows;  /* per wait: its line below the lane */
  uint32_t *depth; /* per lane: lines needed */
  double *tops;    /* per lane */
  double bottom;
  uint32_t hidden; /* waits without a line */
} picture;

static void find_span(picture *p)
{
  p->begin = UINT64_MAX;
  for (uint32_t i = 0; i < p->t->nbars; i++) {
    p->begin = p->t->bars[i].start < p->begin ? p->t->bars[i].start : p->begin;
    p->end = p->t->bars[i].end > p->end ? p->t->bars[i].end : p->end;
  }
  if (p->begin >= p->end) {
    p->begin = p->end;
    p->end++;
  }
}

static double at(const picture *p, uint64_t time)
{
  if (time < p->begin)
    time = p->begin;
  if (time > p->end)
    time = p->end;
  return LEFT + PLOT * (double)(time - p->begin) / (double)(p->end - p->begin);
}

/* Gives each wait the first line of its lane that is free; waits come in the order of their start. */
static void stack_waits(picture *p)
{
  uint32_t nlanes = p->t->nlanes;
  uint64_t *busy = host_alloc((size_t)nlanes * WAITS_MAX, sizeof *busy);
  p->rows = host_alloc(p->t->nwaits, sizeof *p->rows);
  p->depth = host_alloc(nlanes, sizeof *p->depth);
  for (uint32_t i = 0; i < p->t->nwaits; i++) {
    const svg_wait *w = &p->t->waits[i];
    uint32_t row = 0;
    while (row < WAITS_MAX && busy[w->lane * WAITS_MAX + row] > w->start)
      row++;
    p->rows[i] = row;
    if (row == WAITS_MAX) {
      p->hidden++;
      continue;
    }
    busy[w->lane * WAITS_MAX + row] = w->end;
    if (row + 1 > p->depth[w->lane])
      p->depth[w->lane] = row + 1;
  }
  free(busy);
  p->tops = host_alloc(nlanes, sizeof *p->tops);
  p->bottom = TOP;
  for (uint32_t i = 0; i < nlanes; i++) {
    p->tops[i] = p->bottom;
    p->bottom += BAR_H + p->depth[i] * WAIT_H + 14;
  }
}

static void draw_axis(svg *s, const picture *p)
{
  double total = (double)(p->end - p->begin) / p->t->scale;
  double step = 1;
  while (step > total / 4)
    step /= 10;
  while (step * 10 <= total / 4)
    step *= 10;
  if (total / step > 20)
    step *= 5;
  else if (total / step > 10)
    step *= 2;
  for (double v = 0; v <= total * 1.0001; v += step) {
    double x = LEFT + PLOT * v / total;
    char text[32];
    snprintf(text, sizeof text, "%.*f", step < 0.01 ? 3 : step < 0.1 ? 2 : step < 1 ? 1 : 0, v);
    svg_put(s, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x, TOP - 6, x, p->bottom,
            SVG_HAIR);
    svg_text(s, x, p->bottom + 16, 11, "middle", SVG_GREY, text);
  }
  svg_text(s, LEFT - 12, p->bottom + 16, 11, "end", SVG_GREY, p->t->unit);
}

static void draw_lanes(svg *s, const picture *p)
{
  for (uint32_t i = 0; i < p->t->nlanes; i++) {
    double h = BAR_H + p->depth[i] * WAIT_H + 4;
    svg_put(s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", LEFT, p->tops[i] - 2, PLOT,
            h, SVG_LANE);
    svg_text(s, LEFT - 12, p->tops[i] + BAR_H / 2 + 4, 12, "end", NULL, p->t->lanes[i]);
  }
}

static void draw_bars(svg *s, const picture *p)
{
  for (uint32_t i = 0; i < p->t->nbars; i++) {
    const svg_bar *b = &p->t->bars[i];
    double x = at(p, b->start), w = at(p, b->end) - x;
    svg_put(s, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\" stroke=\"#ffffff\" "
               "stroke-width=\"%s\">",
            x, p->tops[b->lane], w < 0.6 ? 0.6 : w, BAR_H, colours[b->kind], w > 3 ? "0.6" : "0");
    if (b->title) {
      svg_put(s, "<title>");
      svg_escaped(s, b->title);
      svg_put(s, "</title>");
    }
    svg_put(s, "</rect>\n");
    if (b->kind == SVG_BAR_EXECUTE && w > 7.0 * (double)strlen(b->label) + 4)
      svg_text(s, x + w / 2, p->tops[b->lane] + BAR_H / 2 + 4, 11, "middle", "#ffffff", b->label);
  }
  for (uint32_t i = 0; i < p->t->nwaits; i++) {
    const svg_wait *w = &p->t->waits[i];
    if (p->rows[i] == WAITS_MAX)
      continue;
    double x = at(p, w->start), width = at(p, w->end) - x;
    svg_put(s, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
            p->tops[w->lane] + BAR_H + 1 + p->rows[i] * WAIT_H, width < 0.6 ? 0.6 : width, WAIT_H - 1.5, WAIT_COLOUR);
  }
}

static void draw_legend(svg *s, const picture *p)
{
  double x = LEFT, y = p->bottom + 44;
  bool used[3] = {false, false, false};
  for (uint32_t i = 0; i < p->t->nbars; i++)
    used[p->t->bars[i].kind] = true;
  for (int k = 0; k < 3; k++) {
    if (!used[k])
      continue;
    svg_put(s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"11\" fill=\"%s\"/>\n", x, y - 10, colours[k]);
    svg_text(s, x + 28, y, 12, "start", NULL, names[k]);
    x += 60 + 6.6 * (double)strlen(names[k]);
  }
  if (!p->t->nwaits)
    return;
  char text[120] = "executed, not committed yet (holds a session, not the worker)";
  if (p->hidden)
    snprintf(text, sizeof text, "executed, not committed yet (%u more not drawn)", p->hidden);
  svg_put(s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"20\" height=\"3\" fill=\"%s\"/>\n", x, y - 6, WAIT_COLOUR);
  svg_text(s, x + 28, y, 12, "start", NULL, text);
}

bool svg_timeline_write(const svg_timeline *t, const char *path, host_error *err)
{
  picture p = {.t = t};
  find_span(&p);
  stack_waits(&p);
  svg s;
  bool ok = svg_open(&s, path, LEFT + PLOT + RIGHT, p.bottom + 64, t->title, t->subtitle, err);
  if (ok) {
    draw_lanes(&s, &p);
    draw_axis(&s, &p);
    draw_bars(&s, &p);
    draw_legend(&s, &p);
    ok = svg_close(&s, err);
  }
  free(p.rows);
  free(p.depth);
  free(p.tops);
  return ok;
}
