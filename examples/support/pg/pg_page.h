/*
 * Heap pages and relation files: every stored row version of a relation, dead or alive, and whether it counts at the
 * end of the WAL.
 *
 * A page is checked before anything of it is used: its checksum if the cluster has checksums, the borders in its
 * header, every line pointer against them. A damaged page is an error that names file and block; rows are never left
 * out silently.
 */
#ifndef SUPPORT_PG_PAGE_H
#define SUPPORT_PG_PAGE_H

#include "support/pg/pg_tuple.h"
#include "support/pg/pg_xact.h"

#include <stdio.h>

/* A stored row version. The bytes are those of the page that the scan holds: valid until its next call. */
typedef struct pg_row {
  pg_tuple tuple;
  uint32_t block;
  uint16_t line; /* from 1 */
  uint16_t reserved;
  uint32_t xmin, xmax;
  uint32_t next_block; /* where the newer version is; the row itself if there is none */
  uint16_t next_line;
} pg_row;

/* True if the row has no newer version: the last of its chain, or deleted. */
bool pg_row_is_last(const pg_row *row);

/*
 * Did the row's maker commit, and which transaction made an end of it? *ended_by is 0 unless that one committed too.
 * Lockers make no end; of a multixact the updating member counts.
 */
bool pg_row_fate(pg_xact *x, bool *made, uint32_t *ended_by, const pg_row *row, host_error *err);

/* The checksum of a page (its own field left out), which depends on the block number. */
uint16_t pg_page_checksum(const uint8_t *page, uint32_t block);

/* Checks a page of PG_BLOCK_SIZE bytes; *lines is its number of line pointers, 0 for a page that is still empty. */
bool pg_page_check(unsigned *lines, const uint8_t *page, uint32_t block, bool checksums, host_error *err);

/* Fills in the row of line 1..lines; *has is false if the line pointer has none. */
bool pg_page_row(pg_row *row, bool *has, const uint8_t *page, uint32_t block, unsigned line, host_error *err);

/* A scan over all parts of the main fork of a relation. */
typedef struct pg_heap_scan {
  FILE *file;
  char path[1024]; /* of the first part */
  uint32_t part;
  uint32_t block; /* number of the next block */
  unsigned line, lines;
  uint32_t new_pages; /* so far: pages of nothing but zeroes, as a crash leaves them when a file grows, and damage too */
  bool checksums;
  uint8_t page[PG_BLOCK_SIZE];
} pg_heap_scan;

/* PATH, PATH.1, PATH.2 ... The first must exist. */
bool pg_heap_scan_begin(pg_heap_scan *scan, const char *path, bool checksums, host_error *err);

/* The next stored row version; *found is false at the end. */
bool pg_heap_scan_next(pg_heap_scan *scan, bool *found, pg_row *row, host_error *err);

void pg_heap_scan_end(pg_heap_scan *scan);

#endif
