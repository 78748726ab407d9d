/*
 * XXH3 with the instructions of AVX2, for which this file is compiled, whatever the others are compiled for: half the
 * time for long inputs. Whoever calls it has asked the processor.
 */
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t twpa__hash64_avx2(const void *data, size_t len, uint64_t seed)
{
  return XXH3_64bits_withSeed(data, len, seed);
}
