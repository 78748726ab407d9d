/* From a data directory to the model. */
#ifndef TWPA_REPLAY_LOAD_H
#define TWPA_REPLAY_LOAD_H

#include "twpa_replay/model.h"
#include "twpa_replay/options.h"

/* Reads the WAL and decodes it. On failure the model holds what there is and can be freed. */
bool replay_load(replay_model *m, const replay_options *o, host_error *err);

#endif
