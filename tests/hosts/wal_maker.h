/*
 * Makes write-ahead logs for tests: records onto pages, pages into segment files. Everything is kept in memory until it
 * is written out, so that a test can damage it first.
 */
#ifndef TESTS_HOSTS_WAL_MAKER_H
#define TESTS_HOSTS_WAL_MAKER_H

#include "support/pg/pg_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. */
typedef struct bytes {
  unsigned char *data;
  size_t len, cap;
} bytes;

void bytes_add(bytes *b, const void *data, size_t len);
void bytes_zero(bytes *b, size_t len);
void bytes_u8(bytes *b, unsigned v);
void bytes_u16(bytes *b, unsigned v);
void bytes_u32(bytes *b, uint32_t v);
void bytes_u64(bytes *b, uint64_t v);
void bytes_free(bytes *b);

/* A record being put together: announcements and payload. */
typedef struct record_maker {
  bytes head, payload, main;
  uint32_t xid;
  uint8_t rmgr, info;
  bool last_rel;
} record_maker;

typedef struct block_spec {
  unsigned id, fork;
  uint32_t space, database, file, block;
  const void *data;
  size_t data_len;
  unsigned image;    /* 0 none, 1 without hole, 2 with hole, 3 compressed, 4 compressed with hole */
  bool same_rel;     /* as the one before */
  bool will_init;
} block_spec;

record_maker record_begin(unsigned rmgr, unsigned info, uint32_t xid);
void record_block(record_maker *r, const block_spec *spec);
void record_origin(record_maker *r, unsigned origin);
void record_top_xid(record_maker *r, uint32_t top);
/* The main data is r->main; add to it with the bytes functions. */

typedef struct wal_maker {
  const pg_format *format;
  uint32_t segment_bytes, timeline;
  uint64_t system_id;
  uint64_t begin; /* LSN of the first byte in memory: a segment border */
  uint64_t at;    /* where the next record goes */
  uint64_t prev;  /* start of the last one */
  bytes log;      /* whole pages */
} wal_maker;

void wal_maker_init(wal_maker *m, const pg_format *format, uint32_t segment_bytes, uint64_t begin);
void wal_maker_free(wal_maker *m);

/* Adds the record and frees r. Returns its start. */
uint64_t wal_maker_add(wal_maker *m, record_maker *r);
/* A record of HEAP or so with `len` bytes of main data, all of value `fill`. */
uint64_t wal_maker_fill(wal_maker *m, uint32_t xid, size_t len, unsigned fill);
/* XLOG_SWITCH: the rest of the segment becomes empty pages. */
uint64_t wal_maker_switch(wal_maker *m);
/*
 * A record that a crash cuts off: only what fits on the first `pages` pages of it is there; the page after them says so
 * and the record that names it follows. Returns the start of the cut record.
 */
uint64_t wal_maker_abandon(wal_maker *m, size_t len, unsigned pages);

/* The name of the segment file that holds a position; returns buf. */
#define WAL_MAKER_NAME 64
char *wal_maker_name(char buf[WAL_MAKER_NAME], const wal_maker *m, uint64_t lsn);

/* A byte of the log. */
unsigned char *wal_maker_at(wal_maker *m, uint64_t lsn);
/* Computes the checksum of the record at lsn anew; it must lie within one page. */
void wal_maker_seal(wal_maker *m, uint64_t lsn);

/* A fresh directory with pg_wal in it; the name is good until the next call but one. */
const char *wal_test_directory(void);
/* Removes it and what it holds. */
void wal_test_remove(const char *dir);
/* Writes the segments to DIR/pg_wal, the last one padded with zeroes. */
void wal_maker_write(const wal_maker *m, const char *dir);
/* Writes a file of pg_wal. */
void wal_test_file(const char *dir, const char *name, const void *data, size_t len);
void wal_test_unlink(const char *dir, const char *name);

#endif
