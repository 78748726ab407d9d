/*
 * The files of pg_wal: segments, unfinished copies of segments (.partial), timeline histories.
 *
 * A timeline begins where another one was left. What is read is one line of descent: the spans of the target timeline
 * and of its ancestors, from the history file. The segment in which a switch lies exists on both timelines with equal
 * content up to the switch; the newer one is taken, as the server does. When only the older one is there, it is good up
 * to the switch and not a byte further.
 */
#ifndef SUPPORT_WAL_FILES_H
#define SUPPORT_WAL_FILES_H

#include "support/error.h"

#include <twpa/types.h>

#define WAL_PAGE_BYTES 8192u
#define WAL_SEGMENT_MIN (UINT32_C(1) << 20)
#define WAL_SEGMENT_MAX (UINT32_C(1) << 30)

/* One stretch of the line of descent. */
typedef struct wal_span {
  uint32_t timeline;
  twpa_lsn begin; /* switch point from the ancestor; 0 for the first */
  twpa_lsn end;   /* switch point to the successor; UINT64_MAX for the last */
} wal_span;

typedef struct wal_file {
  uint64_t segment; /* number: position / segment size */
  uint32_t timeline;
  bool partial;
  twpa_lsn limit; /* the file counts up to here: the end of its timeline's span */
} wal_file;

typedef struct wal_files {
  char *dir;              /* .../pg_wal */
  uint32_t segment_bytes; /* size of a segment */
  wal_span *spans;        /* oldest first, at least one */
  size_t nspans;
  wal_file *files; /* one per segment number: the one to read; ascending */
  size_t nfiles;
  int fd; /* of the file read last; -1 none */
  const wal_file *open;
  uint64_t open_bytes; /* its size */
} wal_files;

/*
 * Lists DATA_DIR/pg_wal. timeline: the one to follow to its end; 0 means the newest one that has a segment there.
 * segment_bytes: from the control file; 0 means as the first segment says.
 * Fails if the directory cannot be read, holds no segment of the line of descent, or if a history is damaged or
 * missing.
 */
bool wal_files_open(wal_files *out, const char *data_dir, uint32_t timeline, uint32_t segment_bytes, host_error *err);
void wal_files_close(wal_files *files);

/* The file of a segment; NULL if there is none. */
const wal_file *wal_files_find(const wal_files *files, uint64_t segment);
/* The first file with a number above the given one; NULL if there is none. */
const wal_file *wal_files_after(const wal_files *files, uint64_t segment);
/* The span that a position belongs to. */
const wal_span *wal_files_span(const wal_files *files, twpa_lsn lsn);

/* Reads up to len bytes at an offset of a file; *got is less only where the file ends. */
bool wal_files_read(wal_files *files, const wal_file *file, uint64_t offset, void *buf, size_t len, size_t *got,
                    host_error *err);

/* Its name, "00000001000000000000000A"; returns buf. */
#define WAL_NAME_BYTES 40
char *wal_file_name(char buf[WAL_NAME_BYTES], const wal_files *files, const wal_file *file);
/* The same for a segment that may not exist. */
char *wal_segment_name(char buf[WAL_NAME_BYTES], const wal_files *files, uint32_t timeline, uint64_t segment);

/* A position as PostgreSQL writes it; returns buf. */
#define WAL_LSN_BYTES 24
char *wal_lsn_text(char buf[WAL_LSN_BYTES], twpa_lsn lsn);

#endif
