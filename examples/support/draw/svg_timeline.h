/*
 * What the workers did, as a drawing: a lane per worker, a bar per transaction while it is being executed, another
 * while it commits, and below the lane thin lines for transactions that the worker has executed and that wait for
 * their commit turn (they hold a session, not the worker).
 */
#ifndef SUPPORT_DRAW_SVG_TIMELINE_H
#define SUPPORT_DRAW_SVG_TIMELINE_H

#include "support/error.h"

#include <stdint.h>

enum { SVG_BAR_EXECUTE, SVG_BAR_COMMIT, SVG_BAR_ROLLBACK };

typedef struct svg_bar {
  uint64_t start, end;
  uint32_t lane;
  uint32_t kind;     /* SVG_BAR_... */
  char label[24];    /* drawn if there is room */
  const char *title; /* shown when the mouse rests on it; may be NULL */
} svg_bar;

/* A transaction that waits for its commit turn. */
typedef struct svg_wait {
  uint64_t start, end;
  uint32_t lane; /* who executed it */
} svg_wait;

typedef struct svg_timeline {
  const char *title, *subtitle;
  const char *const *lanes; /* names */
  uint32_t nlanes;
  const svg_bar *bars;
  uint32_t nbars;
  const svg_wait *waits;
  uint32_t nwaits;
  const char *unit; /* of start and end divided by scale, such as "ms" */
  double scale;
} svg_timeline;

bool svg_timeline_write(const svg_timeline *t, const char *path, host_error *err);

#endif
