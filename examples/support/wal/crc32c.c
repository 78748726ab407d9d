/*
 * CRC-32C. Machines with SSE 4.2 have an instruction for exactly this polynomial (8 bytes at a time); all others use
 * eight tables of 256 entries, which also take 8 bytes at a time. Which one is decided when the program runs.
 */
#include "support/wal/crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL UINT32_C(0x82F63B78)

/* table[0][b]: the state after byte b. table[k][b]: the same, followed by k zero bytes. */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t c = b;
    for (int i = 0; i < 8; i++)
      c = (c & 1) != 0 ? (c >> 1) ^ POLYNOMIAL : c >> 1;
    table[0][b] = c;
  }
  for (int k = 1; k < 8; k++)
    for (uint32_t b = 0; b < 256; b++)
      table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 0xFF];
}

uint32_t crc32c_add_tables(uint32_t state, const void *data, size_t len)
{
  pthread_once(&table_once, make_table);
  const unsigned char *p = data;
  for (; len >= 8; len -= 8, p += 8) {
    uint32_t low = state ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    state = table[7][low & 0xFF] ^ table[6][(low >> 8) & 0xFF] ^ table[5][(low >> 16) & 0xFF] ^ table[4][low >> 24] ^
            table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
  }
  for (; len > 0; len--, p++)
    state = (state >> 8) ^ table[0][(state ^ *p) & 0xFF];
  return state;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>

bool crc32c_has_instruction(void)
{
  return __builtin_cpu_supports("sse4.2") != 0;
}

__attribute__((target("sse4.2"))) uint32_t crc32c_add_instruction(uint32_t state, const void *data, size_t len)
{
  const unsigned char *p = data;
  uint64_t wide = state;
  for (; len >= 8; len -= 8, p += 8) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  state = (uint32_t)wide;
  for (; len > 0; len--, p++)
    state = _mm_crc32_u8(state, *p);
  return state;
}
#else
bool crc32c_has_instruction(void)
{
  return false;
}

uint32_t crc32c_add_instruction(uint32_t state, const void *data, size_t len)
{
  return crc32c_add_tables(state, data, len);
}
#endif

uint32_t crc32c_add(uint32_t state, const void *data, size_t len)
{
  return crc32c_has_instruction() ? crc32c_add_instruction(state, data, len) : crc32c_add_tables(state, data, len);
}

uint32_t crc32c(const void *data, size_t len)
{
  return ~crc32c_add(CRC32C_BEGIN, data, len);
}
