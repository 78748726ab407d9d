/* Numbers out of WAL bytes, which are unaligned. The byte order is that of the machine, as WAL is not portable. */
#ifndef SUPPORT_WAL_BYTES_H
#define SUPPORT_WAL_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t wal_u16(const unsigned char *p)
{
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline uint32_t wal_u32(const unsigned char *p)
{
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline uint64_t wal_u64(const unsigned char *p)
{
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline int32_t wal_i32(const unsigned char *p)
{
  int32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline int64_t wal_i64(const unsigned char *p)
{
  int64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

#endif
