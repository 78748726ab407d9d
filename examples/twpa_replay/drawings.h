/* graph.svg: the dependencies of a window of transactions; timeline.svg: what the workers did. */
#ifndef TWPA_REPLAY_DRAWINGS_H
#define TWPA_REPLAY_DRAWINGS_H

#include "twpa_replay/report.h"

/* Writes both into the directory, which is made if it is not there. */
bool replay_draw(const replay_report *r, const char *dir, host_error *err);

#endif
