/* Pages of the log: reading them in large pieces, checking their headers, and looking for valid ones behind a hole. */
#ifndef SUPPORT_WAL_PAGES_H
#define SUPPORT_WAL_PAGES_H

#include "support/pg/pg_format.h"
#include "support/wal/wal_files.h"

/* Flags of a page. */
#define WAL_PAGE_CONTINUES 0x0001u   /* starts with the rest of a record */
#define WAL_PAGE_LONG 0x0002u        /* has the long header */
#define WAL_PAGE_OVERWRITTEN 0x0008u /* the incomplete record before it was abandoned */
#define WAL_PAGE_FLAGS 0x000Fu

typedef enum wal_page_state {
  WAL_PAGE_VALID,
  WAL_PAGE_UNWRITTEN, /* nothing of this position was ever written here, as far as one can see */
  WAL_PAGE_DAMAGED,   /* neither valid nor unwritten */
  WAL_PAGE_FAILED,    /* cannot be read: see the error */
} wal_page_state;

typedef struct wal_page {
  twpa_lsn lsn;
  const unsigned char *data; /* 8192 bytes, borrowed until another page is loaded */
  const wal_file *file;
  uint32_t timeline;
  uint32_t remaining; /* bytes of the continued record that are still to come, this page included */
  uint16_t flags;
  uint16_t header; /* its size */
} wal_page;

typedef struct wal_pages {
  wal_files files;
  const pg_format *format;
  uint64_t system_id; /* 0 until one has been seen */
  uint32_t timeline;  /* of the last page loaded; may not decrease */
  twpa_lsn timeline_lsn;
  unsigned char *window; /* a piece of one segment */
  twpa_lsn window_lsn;
  size_t window_len;
  const wal_file *window_file;
  wal_page page; /* the one loaded last, if page.data is not NULL */
  char why[256]; /* after a load that did not give a valid page: what is wrong with it */
} wal_pages;

bool wal_pages_open(wal_pages *out, const char *data_dir, const pg_format *format, uint32_t timeline,
                    uint32_t segment_bytes, uint64_t system_id, host_error *err);
void wal_pages_close(wal_pages *pages);

/* Makes the page at lsn (a multiple of 8192) pages->page, if it is valid. */
wal_page_state wal_pages_load(wal_pages *pages, twpa_lsn lsn, host_error *err);

/* Size of the header of the page at lsn. */
uint16_t wal_page_header(const wal_pages *pages, twpa_lsn lsn);

/* Looks for a valid page at `from` or later; *where is its position, 0 if there is none. Unloads the current page. */
bool wal_pages_find_later(wal_pages *pages, twpa_lsn from, twpa_lsn *where, host_error *err);

#endif
