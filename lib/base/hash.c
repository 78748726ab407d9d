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

uint64_t twpa__hash64(const void *data, size_t len, uint64_t seed)
{
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
