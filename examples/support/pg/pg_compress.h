/*
 * The two compressions of PostgreSQL's values: pglz, and the block format of lz4. Written from the descriptions of the
 * formats. Both are safe against any input: they read only src[0..len) and write only out[0..raw_len).
 */
#ifndef SUPPORT_PG_COMPRESS_H
#define SUPPORT_PG_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if exactly raw_len bytes came out of exactly len bytes. */
bool pg_pglz_decompress(uint8_t *out, size_t raw_len, const uint8_t *src, size_t len);
bool pg_lz4_decompress(uint8_t *out, size_t raw_len, const uint8_t *src, size_t len);

/* False if no input of that length can expand to raw_len bytes: a check before memory is taken for it. */
bool pg_pglz_plausible(size_t raw_len, size_t len);
bool pg_lz4_plausible(size_t raw_len, size_t len);

#endif
