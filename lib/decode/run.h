/*
 * One run of the output over a top-level transaction: the changes that are held, each given to the callback for it.
 * The same loop serves committed, prepared and streamed transactions; they differ in the callbacks, in what stands
 * around the changes, and in whether the consumer may say that the transaction was rolled back in the meantime.
 *
 * A run changes nothing in the transaction but the marks of the run (txn->run), so that one that fails can be repeated.
 */
#ifndef TWPA_DECODE_RUN_H
#define TWPA_DECODE_RUN_H

#include "decode/reorder.h"

typedef int (*twpa__change_fn)(void *user, twpa_txn *txn, const twpa_change *change);

typedef struct twpa__run {
  twpa__change_fn change, truncate, message; /* the last two may be NULL */
  bool streaming;                            /* opens a block before the first change */
  bool may_abort;                            /* TWPA_CALLBACK_ABORTED is a valid answer */
  bool opened;                               /* out: the block was opened */
  twpa_txn *aborted;                         /* out: who was rolled back, or NULL; the run ended there */
  twpa_lsn last_lsn;                         /* out: position of the last change handled */
  twpa__version *version;                    /* out: the version of the catalog at the end */
  twpa_cid command;                          /* out: the command at the end */
  uint64_t toast_dropped;                    /* out: to be counted when the delivery is complete */
} twpa__run;

/* The walk is over `top` afterwards, and closed. */
twpa_status twpa__run_changes(twpa__run *run, twpa_txn *top);

#endif
