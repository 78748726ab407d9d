/* From a decoded transaction, whose rows are bytes, to one of the model, whose rows are values. */
#ifndef TWPA_REPLAY_CONVERT_H
#define TWPA_REPLAY_CONVERT_H

#include "twpa_replay/model.h"

#include <twpa/txn.h>

/*
 * Walks a taken transaction and adds it to the model. Changes of catalogs and of toast relations are left out; one
 * without a change that counts is only counted. Does not release it.
 */
bool replay_convert(replay_model *m, twpa_txn *txn, host_error *err);

#endif
