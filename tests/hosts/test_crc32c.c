/* CRC-32C: published vectors, and the two ways of computing it against a bit-by-bit one. */
#include "support/runner.h"
#include "support/wal/crc32c.h"

#include <string.h>

typedef uint32_t add_fn(uint32_t state, const void *data, size_t len);

static uint32_t add_bits(uint32_t state, const void *data, size_t len)
{
  const unsigned char *p = data;
  for (size_t i = 0; i < len; i++) {
    state ^= p[i];
    for (int k = 0; k < 8; k++)
      state = (state & 1) != 0 ? (state >> 1) ^ 0x82F63B78u : state >> 1;
  }
  return state;
}

static add_fn *const ways[] = {add_bits, crc32c_add_tables, crc32c_add_instruction, crc32c_add};

/* RFC 3720, appendix B.4, and the usual check value of the polynomial. */
START_TEST(known_vectors)
{
  if (_i == 2 && !crc32c_has_instruction())
    return;
  unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
  memset(ones, 0xFF, sizeof ones);
  for (unsigned i = 0; i < 32; i++) {
    up[i] = (unsigned char)i;
    down[i] = (unsigned char)(31 - i);
  }
  const struct {
    const void *data;
    size_t len;
    uint32_t crc;
  } vectors[] = {{"", 0, 0},          {"a", 1, 0xC1D04330},      {"123456789", 9, 0xE3069283}, {zeros, 32, 0x8A9136AA},
                 {ones, 32, 0x62A8AB43}, {up, 32, 0x46DD794E}, {down, 32, 0x113FDB5C}};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    ck_assert_uint_eq(~ways[_i](CRC32C_BEGIN, vectors[i].data, vectors[i].len), vectors[i].crc);
    ck_assert_uint_eq(crc32c(vectors[i].data, vectors[i].len), vectors[i].crc);
  }
}
END_TEST

/* Every length and alignment, and pieces cut anywhere. */
START_TEST(ways_agree)
{
  rng r = {test_seed(7)};
  unsigned char data[300];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)rng_next(&r);
  for (size_t off = 0; off < 16; off++)
    for (size_t len = 0; len + off <= sizeof data; len++) {
      uint32_t start = (uint32_t)rng_next(&r);
      uint32_t want = add_bits(start, data + off, len);
      ck_assert_uint_eq(crc32c_add_tables(start, data + off, len), want);
      if (crc32c_has_instruction())
        ck_assert_uint_eq(crc32c_add_instruction(start, data + off, len), want);
      size_t cut = (size_t)rng_below(&r, len + 1);
      ck_assert_uint_eq(crc32c_add(crc32c_add(start, data + off, cut), data + off + cut, len - cut), want);
    }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("crc32c");
  TCase *t = tcase_create("crc32c");
  tcase_add_loop_test(t, known_vectors, 0, 4);
  tcase_add_test(t, ways_agree);
  suite_add_tcase(s, t);
  return run_suite(s);
}
