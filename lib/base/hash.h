/* Hashing and checksums. The only module that includes xxHash (XXH3, inlined; nothing of it is exported). */
#ifndef TWPA_BASE_HASH_H
#define TWPA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits of XXH3 over len bytes. Chain columns by giving the previous hash as the seed. */
uint64_t twpa__hash64(const void *data, size_t len, uint64_t seed);

/* The same for what may be long: with wider instructions, if the processor has them. */
uint64_t twpa__hash64_long(const void *data, size_t len, uint64_t seed);

#ifdef TWPA__HASH_AVX2
/* The same, on processors with AVX2 only. */
uint64_t twpa__hash64_avx2(const void *data, size_t len, uint64_t seed);
#endif

/* 128 bits of XXH3: out[0] low, out[1] high. Where equality itself is decided by the hash. */
void twpa__hash128(uint64_t out[2], const void *data, size_t len, uint64_t seed);

/* Checksum of stored blocks: unseeded XXH3, 64 bits. */
uint64_t twpa__checksum64(const void *data, size_t len);

/* Bijective for odd factors; the inverse is the same with the inverse of the factor. */
static inline uint64_t twpa__mix64_by(uint64_t x, uint64_t factor)
{
  x ^= x >> 32;
  x *= factor;
  x ^= x >> 32;
  x *= factor;
  x ^= x >> 32;
  return x;
}

/* Mixes one 64-bit number well (bijective). */
static inline uint64_t twpa__mix64(uint64_t x)
{
  return twpa__mix64_by(x, UINT64_C(0xD6E8FEB86659FD93));
}

/* What it was before. */
static inline uint64_t twpa__unmix64(uint64_t x)
{
  return twpa__mix64_by(x, UINT64_C(0xCFEE444D8B59A89B));
}

/*
 * A step of a chain for a number, at a fraction of the price of twpa__hash64 over its bytes; the hash so far is the seed.
 * Bijective in v: chains that differ in their last number only never collide.
 */
static inline uint64_t twpa__hash_number(uint64_t v, uint64_t seed)
{
  return twpa__mix64(v ^ seed);
}

#endif
