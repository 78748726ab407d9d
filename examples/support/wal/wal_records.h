/*
 * What a WAL record says, for every kind of record that logical decoding needs. All other kinds are WAL_OTHER.
 *
 * Nothing is copied: lists, rows and texts point into the record and are as unaligned as there; they are borrowed as
 * the record is. Every length is checked before anything is taken, so a parsed record is safe to read. A record whose
 * parts do not fit, and an operation that the handled resource managers do not have in this version, is an error that
 * names position, resource manager and info byte: to guess would mean to lose rows.
 */
#ifndef SUPPORT_WAL_RECORDS_H
#define SUPPORT_WAL_RECORDS_H

#include "support/wal/wal_reader.h"

typedef enum wal_kind {
  WAL_OTHER, /* nothing that decoding needs to know, except that its transaction exists */
  WAL_INSERT,
  WAL_MULTI_INSERT,
  WAL_UPDATE,
  WAL_DELETE,
  WAL_TRUNCATE,
  WAL_CONFIRM,
  WAL_INPLACE,
  WAL_NEW_CID,
  WAL_COMMIT,
  WAL_COMMIT_PREPARED,
  WAL_ABORT,
  WAL_ABORT_PREPARED,
  WAL_PREPARE,
  WAL_ASSIGNMENT,
  WAL_INVALIDATIONS,
  WAL_RUNNING_XACTS,
  WAL_MESSAGE,
  WAL_CHECKPOINT, /* shutdown or online */
  WAL_END_OF_RECOVERY,
  WAL_PARAMETER_CHANGE,
  WAL_SWITCH,
  WAL_RELMAP,
  WAL_SMGR_CREATE,
} wal_kind;

/* Equal items in a row. */
typedef struct wal_list {
  const unsigned char *data;
  uint32_t count;
} wal_list;

/* An item of a list of transaction or object ids. i < count. */
uint32_t wal_list_u32(wal_list list, uint32_t i);

/* A cache invalidation message. */
typedef struct wal_inval {
  int type;             /* >= 0: an entry of that catalog cache; -1 a whole catalog, -2 a relation, -3 a file,
                           -4 the relation map, -5 snapshots of a relation, -6 what is published of a relation */
  uint32_t database;    /* 0: shared */
  uint32_t object;      /* -1 catalog; -2, -5, -6 relation (0: all) */
  uint32_t hash;        /* >= 0 */
  twpa_locator locator; /* -3 */
} wal_inval;

#define WAL_INVAL_BYTES 16u
wal_inval wal_list_inval(wal_list list, uint32_t i);

/* A row as the log has it: see pg_tuple_from_wal. body is NULL if the record has no such row. */
typedef struct wal_row {
  const unsigned char *body;
  uint32_t body_len;
  uint16_t infomask2, infomask;
  uint8_t hoff;
} wal_row;

typedef struct wal_insert {
  twpa_locator locator;
  twpa_tid tid;
  wal_row row;      /* absent if the relation is not decoded */
  bool speculative; /* counts only if a confirmation follows */
  bool is_toast;    /* a piece of a long value */
} wal_insert;

typedef struct wal_multi_insert {
  twpa_locator locator;
  uint32_t block;
  uint32_t nrows;
  bool has_rows; /* false if the relation is not decoded */
  bool last;     /* the last record of one call: what was collected for its rows may go */
  bool is_toast;
  const unsigned char *lines; /* line numbers, u16 each; NULL: 1, 2, ... */
  wal_list rows;              /* see wal_multi_next; count is bytes here */
} wal_multi_insert;

/* Takes the rows one after the other: begin with a zeroed position. False after the last one. */
typedef struct wal_multi_position {
  uint32_t offset, index;
} wal_multi_position;
bool wal_multi_next(wal_row *row, twpa_tid *tid, wal_multi_position *at, const wal_multi_insert *insert);

typedef struct wal_update {
  twpa_locator locator;
  twpa_tid old_tid, tid;
  wal_row old_row; /* the whole old row, or its key with NULL elsewhere, or absent */
  wal_row row;     /* absent if the relation is not decoded */
  bool old_is_key; /* old_row is the key */
  bool hot;
} wal_update;

typedef struct wal_delete {
  twpa_locator locator;
  twpa_tid tid;
  wal_row old_row;
  bool old_is_key;
  bool speculative;    /* takes back a speculative insert */
  bool partition_move; /* the row moves to another partition: an insert follows */
} wal_delete;

typedef struct wal_truncate {
  uint32_t database;
  wal_list relations;
  bool cascade, restart_sequences;
} wal_truncate;

/* Confirmation of a speculative insert. */
typedef struct wal_confirm {
  twpa_locator locator;
  twpa_tid tid;
} wal_confirm;

typedef struct wal_inplace {
  twpa_locator locator;
  twpa_tid tid;
  uint32_t database, tablespace; /* 18 */
  wal_list invalidations;        /* 18 */
} wal_inplace;

typedef struct wal_new_cid {
  uint32_t top_xid, cmin, cmax, combo_cid;
  twpa_locator locator;
  twpa_tid tid;
} wal_new_cid;

/* Commit, abort and prepare. */
typedef struct wal_end_record {
  int64_t time;     /* microseconds since 2000-01-01 UTC */
  uint32_t xid;     /* the transaction that ends: of the header, or the prepared one */
  uint32_t xinfo;   /* which parts the record has; 0 for a prepare */
  bool has_database;
  uint32_t database, tablespace;
  wal_list subxids;
  wal_list invalidations;
  const char *gid;  /* NUL-terminated, of a prepared transaction; NULL if the record has none */
  twpa_lsn origin_lsn;
  int64_t origin_time;
} wal_end_record;

/* xinfo: what follows from the record besides its parts. */
#define WAL_XINFO_HAS_INVALIDATIONS 0x008u

typedef struct wal_assignment {
  uint32_t top_xid;
  wal_list subxids;
} wal_assignment;

typedef struct wal_running_xacts {
  uint32_t nxids, nsubxids;
  bool overflow; /* subtransactions are missing */
  uint32_t next_xid, oldest_running_xid, latest_completed_xid;
  wal_list xids; /* transactions, then subtransactions */
} wal_running_xacts;

typedef struct wal_message {
  uint32_t database;
  bool transactional;
  const char *prefix; /* NUL-terminated */
  const unsigned char *content;
  uint32_t content_len;
} wal_message;

typedef struct wal_checkpoint {
  bool shutdown;
  twpa_lsn redo;
  uint32_t timeline, previous_timeline;
  twpa_xid next_xid; /* a full id */
  uint32_t oldest_xid;
  uint32_t oldest_active_xid; /* 0 for a shutdown checkpoint */
} wal_checkpoint;

typedef struct wal_end_of_recovery {
  int64_t time;
  uint32_t timeline, previous_timeline;
} wal_end_of_recovery;

typedef struct wal_parameter_change {
  int32_t wal_level; /* 0 minimal, 1 replica, 2 logical */
} wal_parameter_change;

typedef struct wal_relmap {
  uint32_t database, tablespace;
  wal_list map; /* the new content of the map file; count is bytes here */
} wal_relmap;

typedef struct wal_smgr_create {
  twpa_locator locator;
  uint32_t fork;
} wal_smgr_create;

typedef struct wal_content {
  wal_kind kind;
  union {
    wal_insert insert;
    wal_multi_insert multi_insert;
    wal_update update;
    wal_delete del;
    wal_truncate truncate;
    wal_confirm confirm;
    wal_inplace inplace;
    wal_new_cid new_cid;
    wal_end_record end;
    wal_assignment assignment;
    wal_list invalidations;
    wal_running_xacts running;
    wal_message message;
    wal_checkpoint checkpoint;
    wal_end_of_recovery end_of_recovery;
    wal_parameter_change parameter;
    wal_relmap relmap;
    wal_smgr_create smgr_create;
  } as;
} wal_content;

bool wal_parse(wal_content *out, const wal_record *record, const pg_format *format, host_error *err);

#endif
