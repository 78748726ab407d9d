/* graph.svg: the dependencies of a window of transactions; timeline.svg: what the workers did. */
#ifndef TWPA_REPLAY_DRAWINGS_H
#define TWPA_REPLAY_DRAWINGS_H

#include "twpa_replay/report.h"

/* Makes the directory if it is not there, and sees whether files can be written there. */
bool replay_draw_begin(const char *dir, host_error *err);
/* Writes both into it. */
bool replay_draw(const replay_report *r, const char *dir, host_error *err);

#endif
