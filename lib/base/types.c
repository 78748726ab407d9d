/* Basic types: 32-bit transaction ids of the log become 64-bit ones here and nowhere else. */
#include <twpa/types.h>

twpa_xid twpa_xid_widen(uint32_t xid32, twpa_xid near)
{
  if (xid32 < TWPA_XID_FIRST_NORMAL)
    return xid32;
  if (near < TWPA_XID_FIRST_NORMAL)
    near = TWPA_XID_FIRST_NORMAL;
  /* The distance modulo 2^32, read as signed: exactly 2^31 means "before". */
  uint32_t ahead = xid32 - (uint32_t)near;
  if (ahead < UINT32_C(0x80000000))
    return near > UINT64_MAX - ahead ? xid32 | (near & ~(uint64_t)UINT32_MAX) : near + ahead;
  uint64_t behind = (uint64_t)UINT32_MAX + 1 - ahead;
  return near >= behind + TWPA_XID_FIRST_NORMAL ? near - behind : near + ahead;
}
