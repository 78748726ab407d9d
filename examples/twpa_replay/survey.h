/*
 * The log seen from afar, before it is decoded: where decoding may begin, and which database it is about.
 *
 * What was written while wal_level was below logical has no rows to decode, and does not say so: a commit that does not tell
 * its database gives it away, as does the record of a change of wal_level. Decoding begins where wal_level was raised for
 * the last time; what lies before is counted.
 */
#ifndef TWPA_REPLAY_SURVEY_H
#define TWPA_REPLAY_SURVEY_H

#include "twpa_replay/model.h"
#include "twpa_replay/options.h"

#include "support/wal/wal_reader.h"

/* Reads the whole log. Fills in database, decodable and counts.below_logical of the model. */
bool replay_survey(replay_model *m, const replay_options *o, host_error *err);

/* Opens the log at a position; 0: at its beginning. */
bool replay_open_log(wal_reader **out, const replay_model *m, twpa_lsn start, host_error *err);

/* Shows how far it has come, every 1 MB, if standard error is a terminal. replay_progress_end wipes it away. */
typedef struct replay_progress {
  const char *what;
  bool on;
  twpa_lsn begin, end, shown;
} replay_progress;

void replay_progress_begin(replay_progress *p, const char *what, twpa_lsn begin, twpa_lsn end);
void replay_progress_show(replay_progress *p, twpa_lsn at);
void replay_progress_end(const replay_progress *p);

#endif
