/*
 * XXH3, inlined: no dependency at run time, and no symbol of xxHash leaves this file. Only functions whose output
 * xxHash promises to keep are used, because checksums are stored.
 */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or newer is needed: the output of XXH3 was not settled before"
#endif

#define LONG 1024 /* from here on a call more is worth it */

uint64_t twpa__hash64(const void *data, size_t len, uint64_t seed)
{
  return XXH3_64bits_withSeed(data, len, seed);
}

uint64_t twpa__hash64_long(const void *data, size_t len, uint64_t seed)
{
#ifdef TWPA__HASH_AVX2
  if (len >= LONG && __builtin_cpu_supports("avx2"))
    return twpa__hash64_avx2(data, len, seed);
#endif
  return XXH3_64bits_withSeed(data, len, seed);
}

void twpa__hash128(uint64_t out[2], const void *data, size_t len, uint64_t seed)
{
  XXH128_hash_t h = XXH3_128bits_withSeed(data, len, seed);
  out[0] = h.low64;
  out[1] = h.high64;
}

uint64_t twpa__checksum64(const void *data, size_t len)
{
  return XXH3_64bits(data, len);
}
