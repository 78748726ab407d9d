/*
 * Rows: how a row of PostgreSQL is carried as opaque bytes through the library, and how its columns are read again.
 *
 * A row image is the stored heap tuple as it lies on a page: 23 bytes of header, null bitmap, padding up to the offset
 * `hoff`, column data. A row rebuilt from WAL has the same form with zeroes where the record says nothing (xmin, xmax,
 * command id, item pointer): pg_tuple_from_wal. So one deformer serves WAL and data files.
 *
 * Every byte may be damaged: whatever is read is checked against the length of the image first, and an image that does
 * not fit its columns gives a message, never a crash and never a value from beyond its end. No alignment of the image
 * in memory is assumed. Nothing here allocates.
 */
#ifndef SUPPORT_PG_TUPLE_H
#define SUPPORT_PG_TUPLE_H

#include "support/error.h"

#include <stddef.h>
#include <stdint.h>

#define PG_TUPLE_HEADER 23u    /* fixed part of a stored row */
#define PG_MAX_COLUMNS 1664u   /* more than any relation can have (1600) */
#define PG_MAX_VALUE 0x3FFFFFFFu /* longest value, header included */

/* Bits of infomask. */
#define PG_HAS_NULLS 0x0001u
#define PG_HAS_EXTERNAL 0x0004u
#define PG_XMAX_KEYSHR_LOCK 0x0010u
#define PG_XMAX_EXCL_LOCK 0x0040u
#define PG_XMAX_LOCK_ONLY 0x0080u
#define PG_XMIN_COMMITTED 0x0100u
#define PG_XMIN_INVALID 0x0200u
#define PG_XMIN_FROZEN 0x0300u
#define PG_XMAX_COMMITTED 0x0400u
#define PG_XMAX_INVALID 0x0800u
#define PG_XMAX_IS_MULTI 0x1000u
#define PG_UPDATED 0x2000u
/* Bits of infomask2. */
#define PG_NATTS_MASK 0x07FFu

/* An opened row image. Borrows the bytes. */
typedef struct pg_tuple {
  const uint8_t *data;
  size_t len;
  uint16_t infomask;
  uint16_t infomask2;
  uint16_t natts; /* columns stored */
  uint16_t hoff;  /* where column data starts */
} pg_tuple;

/* What the bytes of a column value are. */
enum {
  PG_VALUE_NULL,       /* no value */
  PG_VALUE_PLAIN,      /* data and len are the value, without any length header */
  PG_VALUE_COMPRESSED, /* data and len are compressed by `method`; raw_len bytes when expanded */
  PG_VALUE_EXTERNAL    /* stored in the toast relation: see the toast fields */
};

enum {
  PG_PGLZ = 0,
  PG_LZ4 = 1
};

/* The value of a column. Borrows the bytes of the row image, or of the catalog for a missing value. */
typedef struct pg_value {
  const uint8_t *data;  /* NULL for NULL and EXTERNAL */
  uint32_t len;
  uint32_t raw_len;     /* length of the value when it is expanded; == len if PLAIN */
  uint32_t kind;        /* PG_VALUE_* */
  uint32_t method;      /* COMPRESSED, and EXTERNAL with toast_compressed: PG_PGLZ, PG_LZ4 */
  uint32_t toast_id;    /* EXTERNAL: value id in the toast relation */
  uint32_t toast_rel;   /* EXTERNAL: oid of the toast relation */
  uint32_t toast_len;   /* EXTERNAL: bytes in the toast relation, all chunks together */
  uint32_t toast_compressed; /* EXTERNAL: 1 if what is stored is compressed */
} pg_value;

/* How a column is stored. */
typedef struct pg_attr {
  int16_t len;   /* bytes; -1 with a length header, -2 a C string */
  char align;    /* c 1, s 2, i 4, d 8 */
  uint8_t byval; /* a number of len bytes */
  uint32_t reserved;
  const pg_value *missing; /* for rows stored before the column was added; NULL: such a row has NULL */
} pg_attr;

/* Little-endian numbers at any address. */
uint16_t pg_u16(const void *p);
uint32_t pg_u32(const void *p);
uint64_t pg_u64(const void *p);

/*
 * Length of the row image that a WAL record describes: body_len is what follows the row header in the record (null
 * bitmap, padding, column data).
 */
size_t pg_tuple_wal_size(size_t body_len);

/*
 * Writes that image, pg_tuple_wal_size(body_len) bytes, to `out`. The row header of the record is infomask2, infomask,
 * hoff; the item pointer and the transaction fields are zero. Says no if hoff and body do not fit together.
 */
bool pg_tuple_from_wal(uint8_t *out, uint16_t infomask2, uint16_t infomask, uint8_t hoff, const void *body,
                       size_t body_len, host_error *err);

/* Opens an image: checks the header and the null bitmap against the length. */
bool pg_tuple_open(pg_tuple *t, const void *data, size_t len, host_error *err);

/*
 * Reads the values of all `ncols` columns. A row may have been stored with fewer columns: the rest takes the missing
 * value. A row with more columns than ncols does not belong to this relation and is refused.
 */
bool pg_tuple_deform(pg_value *values, const pg_tuple *t, const pg_attr *attrs, size_t ncols, host_error *err);

/*
 * Reads one value out of the column data `base`, from offset `at` on (padding before it is skipped); the data ends at
 * offset `end`. *next is set to the offset behind the value. Arrays lay out their elements in the same way.
 */
bool pg_value_read(pg_value *v, size_t *next, const uint8_t *base, size_t at, size_t end, const pg_attr *attr,
                   host_error *err);

/* Writes the expanded value (COMPRESSED: raw_len bytes; PLAIN: a copy) to `out`. Others are refused. */
bool pg_value_expand(uint8_t *out, const pg_value *v, host_error *err);

/*
 * Makes a value out of an EXTERNAL one and the joined chunks of its toast relation (v->toast_len bytes, borrowed by the
 * result): PLAIN or COMPRESSED.
 */
bool pg_value_from_toast(pg_value *out, const pg_value *v, const void *chunks, size_t len, host_error *err);

/* The integer value of a by-value column, sign-extended from its length; 0 for NULL. */
int64_t pg_value_int(const pg_value *v);

#endif
