/* What the parsers of the resource managers share. */
#ifndef SUPPORT_WAL_RECORDS_INTERNAL_H
#define SUPPORT_WAL_RECORDS_INTERNAL_H

#include "support/wal/wal_bytes.h"
#include "support/wal/wal_records.h"

/* Returned for an operation code that the resource manager does not have in this version. */
extern const char wal_unknown_operation[];

/* Each fills in kind and content; NULL, or what is wrong as a static string. */
const char *wal_parse_heap(wal_content *out, const wal_record *record, const pg_format *format);
const char *wal_parse_heap2(wal_content *out, const wal_record *record, const pg_format *format);
const char *wal_parse_xact(wal_content *out, const wal_record *record, const pg_format *format);

static inline twpa_locator wal_locator(const unsigned char *p)
{
  return (twpa_locator){wal_u32(p), wal_u32(p + 4), wal_u32(p + 8)};
}

static inline twpa_tid wal_tid(const unsigned char *p)
{
  return (twpa_tid){.block = (uint32_t)wal_u16(p) << 16 | wal_u16(p + 2), .line = wal_u16(p + 4)};
}

/* Is `len` what `count` items of `size` bytes behind `fixed` bytes take? A count that was negative is not. */
static inline bool wal_fits(uint32_t len, uint32_t fixed, int32_t count, uint32_t size)
{
  return count >= 0 && len == fixed + (uint64_t)(uint32_t)count * size;
}

#endif
