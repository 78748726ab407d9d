/*
 * pglz: control bytes, eight items each, lowest bit first. Bit 0: one literal byte. Bit 1: a copy of 2 or 3 bytes
 * "llll" "oooo" | "oooooooo" | ["eeeeeeee"]: the low four bits of the first byte are length - 3, the high four bits of
 * it are the high bits of the 12-bit offset; length 18 is followed by a byte that is added to it. A copy may overlap
 * what it writes.
 *
 * lz4 block: token (high four bits literals, low four bits match length - 4, 15 in either means that bytes follow which
 * are added up to and including the first that is not 255), literals, offset in two bytes, match. The last sequence
 * ends after its literals.
 */
#include "support/pg/pg_compress.h"

#include <string.h>

/* Copies `n` bytes from `offset` bytes before `to`; they may overlap, which repeats a pattern. */
static void copy_back(uint8_t *to, size_t offset, size_t n)
{
  const uint8_t *from = to - offset;
  for (size_t i = 0; i < n; i++)
    to[i] = from[i];
}

bool pg_pglz_decompress(uint8_t *out, size_t raw_len, const uint8_t *src, size_t len)
{
  size_t in = 0, made = 0;
  while (in < len && made < raw_len) {
    unsigned control = src[in++];
    for (int item = 0; item < 8 && in < len && made < raw_len; item++, control >>= 1) {
      if ((control & 1) == 0) {
        out[made++] = src[in++];
        continue;
      }
      if (len - in < 2)
        return false;
      size_t n = (src[in] & 0x0Fu) + 3u;
      size_t offset = ((size_t)(src[in] & 0xF0u) << 4) | src[in + 1];
      in += 2;
      if (n == 18) {
        if (in == len)
          return false;
        n += src[in++];
      }
      if (offset == 0 || offset > made || n > raw_len - made)
        return false;
      copy_back(out + made, offset, n);
      made += n;
    }
  }
  return in == len && made == raw_len;
}

/* Adds the bytes that continue a length of 15; false if they do not end. */
static bool lz4_length(size_t *n, const uint8_t *src, size_t len, size_t *in)
{
  if (*n != 15)
    return true;
  uint8_t byte;
  do {
    if (*in == len)
      return false;
    byte = src[(*in)++];
    *n += byte;
  } while (byte == 255);
  return true;
}

bool pg_lz4_decompress(uint8_t *out, size_t raw_len, const uint8_t *src, size_t len)
{
  size_t in = 0, made = 0;
  while (in < len) {
    size_t literals = src[in] >> 4;
    size_t match = src[in] & 0x0Fu;
    in++;
    if (!lz4_length(&literals, src, len, &in) || literals > len - in || literals > raw_len - made)
      return false;
    if (literals > 0)
      memcpy(out + made, src + in, literals);
    in += literals;
    made += literals;
    if (in == len)
      return made == raw_len;
    if (len - in < 2)
      return false;
    size_t offset = (size_t)src[in] | (size_t)src[in + 1] << 8;
    in += 2;
    if (!lz4_length(&match, src, len, &in))
      return false;
    match += 4;
    if (offset == 0 || offset > made || match > raw_len - made)
      return false;
    copy_back(out + made, offset, match);
    made += match;
  }
  return false;
}

bool pg_pglz_plausible(size_t raw_len, size_t len)
{
  /* A copy of three bytes makes at most 273. */
  return raw_len / 91 <= len;
}

bool pg_lz4_plausible(size_t raw_len, size_t len)
{
  /* A byte that continues a length adds at most 255; a token with its offset makes at most 34 by itself. */
  return raw_len / 255 <= len;
}
