/* Writing SVG: a file, escaped text, the colours and fonts that the drawings share. */
#ifndef SUPPORT_DRAW_SVG_H
#define SUPPORT_DRAW_SVG_H

#include "support/error.h"

#include <stdio.h>

typedef struct svg {
  FILE *file;
  char path[1024];
} svg;

/* Ink, grey text, hair lines, background of lanes. */
#define SVG_INK "#1f2933"
#define SVG_GREY "#616e7c"
#define SVG_HAIR "#d9dee4"
#define SVG_LANE "#f5f7fa"

/* Begins a drawing of width x height with a white background, a title and a line below it. */
bool svg_open(svg *s, const char *path, double width, double height, const char *title, const char *subtitle,
              host_error *err);
/* Ends it; false if it could not be written completely. */
bool svg_close(svg *s, host_error *err);

/* Formatted markup, as it is. */
void svg_put(svg *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text at a place. anchor: start, middle or end; colour NULL: ink. */
void svg_text(svg *s, double x, double y, double size, const char *anchor, const char *colour, const char *text);
/* Text between tags, escaped. */
void svg_escaped(svg *s, const char *text);

#endif
