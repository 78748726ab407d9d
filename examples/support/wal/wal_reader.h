/*
 * Reads the write-ahead log of a PostgreSQL data directory, record by record, without a server. The directory is cold:
 * the server is stopped, or this is a copy of the files.
 *
 * What counts as a record
 *   Length, resource manager, position of the previous record and checksum of every record are checked, and of every
 *   page the whole header. Records cross pages and segments. A record that was abandoned at a crash (its continuation
 *   page says so) is left out, and the record that tells about it must follow and name it.
 *
 * End of the log, or damage?
 *   The log has no end mark: the server takes the first thing that is not a valid next record as its end, and so would
 *   overlook whatever lies behind a damaged place. Here a user's rows are at stake, so the end is only believed when
 *   nothing speaks against it. At the first place that holds no valid record:
 *
 *   1. The cluster was shut down (control file) and the record just read is its shutdown checkpoint: the end, whatever
 *      lies behind it.
 *   2. The place lies before a position that the log is known to have reached (control file: the last checkpoint, the
 *      minimum recovery point): damage.
 *   3. The file is shorter than a segment, or its page header is neither empty nor that of an earlier use of the file
 *      (a recycled segment keeps its old pages, whose addresses are lower by whole segments), or the header is empty
 *      and the page is not, or a page that does continue the log does not continue the record: damage. A server that
 *      crashes leaves none of these: it writes whole pages in order, and only pages that are complete up to the last.
 *   4. Behind the place there is, in the same segment or a later one, a page with a valid header for its own position:
 *      damage. The server writes a page only after all pages before it, so a page that lies behind a hole shows that
 *      the hole was once filled. (Of a long record that was being written, the first pages may be there and the last
 *      ones not: then the hole is the first page that the record misses. The one exception is a power failure that lost
 *      pages in the middle of what was not yet flushed. A server recovers to the hole; whoever wants that can end the
 *      reading there by position.)
 *   5. Else it is the end. In the last page before it, a record with a bad checksum or a hole followed by valid records
 *      is what a crash normally leaves (concurrent sessions fill the page in any order), so it cannot be told from
 *      damage there, and is no commit that the server would have kept.
 *
 *   A record with a right checksum whose parts do not fit together is an error in every case.
 */
#ifndef SUPPORT_WAL_READER_H
#define SUPPORT_WAL_READER_H

#include "support/error.h"
#include "support/pg/pg_control.h"

#include <twpa/types.h>

typedef struct wal_reader wal_reader;

typedef struct wal_reader_options {
  const char *data_dir;     /* the directory that holds pg_wal */
  const pg_format *format;  /* row of its major version */
  uint64_t system_id;       /* from the control file; 0: any, but the same on all pages */
  uint32_t segment_bytes;   /* from the control file; 0: as the first segment says */
  uint32_t timeline;        /* the one to follow to its end: the last checkpoint's in the control file, or the minimum
                               recovery point's if that is higher; 0: the newest one with a segment */
  twpa_lsn start;           /* begin with the first record that starts here or later; 0: the first one available */
  twpa_lsn proven;          /* the log is known to reach this position; 0: nothing is known */
  twpa_lsn shutdown_record; /* of a cluster that was shut down: start of its last checkpoint record; else 0 */
} wal_reader_options;

/*
 * The options that follow from the control file: which cluster, which timeline, how far the log is known to reach.
 * data_dir is borrowed; start is left at 0.
 */
wal_reader_options wal_reader_options_of(const char *data_dir, const pg_control *control);

/* A reference to a data page. Pointers are borrowed until the next record is read. */
typedef struct wal_block {
  twpa_locator locator;
  uint32_t block;
  uint8_t id;
  uint8_t fork; /* 0 main, 1 free space map, 2 visibility map, 3 init */
  bool has_image;
  bool has_data;
  bool will_init;            /* the page is initialised */
  const unsigned char *data; /* unaligned */
  uint32_t data_len;
} wal_block;

typedef struct wal_record {
  twpa_lsn start;
  twpa_lsn end; /* first byte after; the next record starts here, or behind the page header that stands here */
  twpa_lsn prev;
  uint32_t xid;       /* 0: none */
  uint32_t top_xid;   /* 0: xid is no subtransaction, or this is not its first record */
  uint32_t total_len; /* of the record, page headers left out */
  uint32_t main_len;
  uint16_t origin; /* 0: none */
  uint8_t rmgr;
  uint8_t info;
  uint8_t nblocks;
  const wal_block *blocks;        /* ascending by id */
  const unsigned char *main_data; /* unaligned */
  const unsigned char *raw;       /* the total_len bytes as logged */
} wal_record;

/* Resource managers. */
enum {
  WAL_RM_XLOG = 0,
  WAL_RM_XACT = 1,
  WAL_RM_SMGR = 2,
  WAL_RM_RELMAP = 7,
  WAL_RM_STANDBY = 8,
  WAL_RM_HEAP2 = 9,
  WAL_RM_HEAP = 10,
  WAL_RM_LOGICALMSG = 21,
  WAL_RM_LAST = 21,
  WAL_RM_EXTENSION = 128
};

/* Name of a resource manager, such as "HEAP2", for messages. */
const char *wal_rmgr_name(uint8_t rmgr);

typedef enum wal_result {
  WAL_GOT,    /* a record */
  WAL_END,    /* the end of the log; see wal_reader_end */
  WAL_FAILED, /* see the error; the reader stays where it is and fails again */
} wal_result;

/*
 * Opens the log and finds the first record. Fails on wrong options, unreadable files, a version or cluster that does
 * not fit, a start outside of the log, and damage up to the start.
 */
bool wal_reader_open(wal_reader **out, const wal_reader_options *options, host_error *err);
void wal_reader_close(wal_reader *reader); /* NULL is allowed */

/* The next record, borrowed until the next call. */
wal_result wal_reader_next(wal_reader *reader, const wal_record **out, host_error *err);

/*
 * Puts the path of the file that a record begins in before the message, for errors of those who use the record (their
 * text names its position); false.
 */
bool wal_reader_within(const wal_reader *reader, const wal_record *record, host_error *err);

/* Where the next record starts, or would start. */
twpa_lsn wal_reader_position(const wal_reader *reader);
/* After WAL_END: why the log ends there ("record length is 0"). */
const char *wal_reader_end_reason(const wal_reader *reader);
/* The segment size in force, and the position that the oldest segment of the log begins with. */
uint32_t wal_reader_segment_bytes(const wal_reader *reader);
twpa_lsn wal_reader_oldest(const wal_reader *reader);
/* The path of the file that holds a position, for messages; returns buf. */
#define WAL_PATH_BYTES 600
char *wal_reader_path(char buf[WAL_PATH_BYTES], const wal_reader *reader, twpa_lsn lsn);
/* How many records were abandoned at a crash and left out. */
uint64_t wal_reader_abandoned(const wal_reader *reader);

/* The block reference with the given id; NULL if the record has none. */
const wal_block *wal_record_block(const wal_record *record, unsigned id);

#endif
