/*
 * Column values as PostgreSQL's output functions print them with standard settings (ISO dates, time zone UTC, interval
 * style postgres, shortest floating-point numbers), for reports, for debugging, and for hosts that print what
 * test_decoding prints.
 *
 * Known: boolean; integers, oid, xid, xid8, cid, tid, pg_lsn; float4, float8, numeric; text, varchar, char(n), name, "char",
 * json, xml, bytea; uuid; bit strings; date, time, timestamp with and without zone, interval; jsonb; and with a catalog
 * at hand: enums, domains over all these and arrays of them. Any other value is printed as its type's oid and its bytes
 * in hexadecimal: "<600>\x0000".
 */
#ifndef SUPPORT_PG_TEXT_H
#define SUPPORT_PG_TEXT_H

#include "support/pg/pg_catalog.h"

/* A growing text, always ended by NUL once something was added. All zero to begin with. */
typedef struct pg_buf {
  char *data;
  size_t len, cap;
  bool failed; /* memory ran out: what was added since is missing */
} pg_buf;

void pg_buf_add(pg_buf *b, const void *bytes, size_t len);
void pg_buf_text(pg_buf *b, const char *text);
void pg_buf_char(pg_buf *b, char c);
void pg_buf_format(pg_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pg_buf_free(pg_buf *b);

/* True if the type is one of those above. cat may be NULL. */
bool pg_text_knows(const pg_catalog *cat, uint32_t type);

/*
 * Adds the text of a value. NULL is "null", a value in the toast relation "unchanged-toast-datum", as test_decoding prints
 * them. cat may be NULL: then enums, domains and arrays are unknown types. False if the bytes are not a value of the
 * type, or if memory runs out; the buffer may then hold a part of it.
 */
bool pg_text_value(pg_buf *out, const pg_catalog *cat, uint32_t type, const pg_value *value, host_error *err);

#endif
