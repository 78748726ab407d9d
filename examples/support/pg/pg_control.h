/* global/pg_control: what the cluster is, where its last checkpoint is, and whether it was stopped cleanly. */
#ifndef SUPPORT_PG_CONTROL_H
#define SUPPORT_PG_CONTROL_H

#include "support/pg/pg_format.h"

/* pg_control.state */
enum {
  PG_STATE_STARTUP = 0,
  PG_STATE_SHUT_DOWN = 1,
  PG_STATE_SHUT_DOWN_IN_RECOVERY = 2,
  PG_STATE_SHUTTING_DOWN = 3,
  PG_STATE_CRASH_RECOVERY = 4,
  PG_STATE_ARCHIVE_RECOVERY = 5,
  PG_STATE_IN_PRODUCTION = 6
};

typedef struct pg_control {
  const pg_format *format;
  uint64_t system_id;
  uint64_t checkpoint;    /* LSN of the last checkpoint record */
  uint64_t redo;          /* where recovery would start */
  uint64_t min_recovery;  /* a standby's data files are consistent from here on; 0 on a primary */
  uint64_t next_full_xid; /* at the last checkpoint; a clean shutdown: the next one to be given out */
  uint64_t checkpoint_time; /* seconds, Unix */
  uint32_t state;
  uint32_t timeline;      /* of the last checkpoint */
  uint32_t min_recovery_timeline; /* of min_recovery; may be a later one than that of the last checkpoint */
  uint32_t segment_size;  /* of WAL files */
  uint32_t next_oid;
  uint32_t next_multi;
  uint32_t next_member;   /* of multixacts */
  uint32_t oldest_xid;    /* xids below it have no status any more */
  uint32_t oldest_multi;
  uint32_t wal_level;     /* 0 minimal, 1 replica, 2 logical */
  uint32_t checksums;     /* data pages have checksums */
} pg_control;

/* Reads and checks DATADIR/global/pg_control. Messages name the file and what is wrong with it. */
bool pg_control_read(pg_control *out, const char *datadir, host_error *err);

/* The state in words, such as "shut down". */
const char *pg_control_state_name(uint32_t state);

#endif
