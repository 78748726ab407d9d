/* The command line of twpa-replay. */
#ifndef TWPA_REPLAY_OPTIONS_H
#define TWPA_REPLAY_OPTIONS_H

#include "support/error.h"

#include <stdint.h>
#include <twpa/types.h>

typedef struct replay_options {
  const char *data_dir;
  const char *database; /* NULL: the only one with changes, or an error that names them */
  const char *svg_dir;  /* NULL: no drawings */
  twpa_lsn from, to;    /* 0: as far as the WAL goes */
  unsigned workers;
  bool commit_order;
  bool strict; /* unknown unique values wait instead of being tried */
  bool json;
  bool help, version;
  bool jitter; /* random pauses, so that orders differ from run to run */
  uint64_t jitter_seed;
  uint32_t
      delay_us; /* pause per change and per commit, as a round trip to a real target would take */
} replay_options;

/* Fills in the options; false with a text for what is wrong. */
bool replay_options_parse(replay_options *o, int argc, char *const *argv, host_error *err);

/* What --help prints. */
const char *replay_help(void);

#endif
