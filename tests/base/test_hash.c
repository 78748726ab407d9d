/* Hashes: the published vectors of XXH3, alignment, seeds, the number mixer. */
#include "base/hash.h"
#include "support/runner.h"

#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(0x9E3779B185EBCA8D)

/* The byte pattern that xxHash's own vectors are made of. */
static void pattern(unsigned char *out, size_t len)
{
  uint64_t x = UINT64_C(2654435761);
  for (size_t i = 0; i < len; i++) {
    out[i] = (unsigned char)(x >> 56);
    x *= UINT64_C(11400714785074694797);
  }
}

/* Every path of XXH3: empty, 1-3, 4-8, 9-16, 17-128, 129-240, one and several stripes and blocks. */
static const struct {
  size_t len;
  uint64_t seed, h64, low, high;
} vectors[] = {
    {0, 0, UINT64_C(0x2D06800538D394C2), UINT64_C(0x6001C324468D497F), UINT64_C(0x99AA06D3014798D8)},
    {1, 0, UINT64_C(0xC44BDFF4074EECDB), UINT64_C(0xC44BDFF4074EECDB), UINT64_C(0xA6CD5E9392000F6A)},
    {6, 0, UINT64_C(0x27B56A84CD2D7325), UINT64_C(0x3E7039BDDA43CFC6), UINT64_C(0x082AFE0B8162D12A)},
    {12, 0, UINT64_C(0xA713DAF0DFBB77E7), UINT64_C(0x061A192713F69AD9), UINT64_C(0x6E3EFD8FC7802B18)},
    {24, 0, UINT64_C(0xA3FE70BF9D3510EB), UINT64_C(0x1E7044D28B1B901D), UINT64_C(0x0CE966E4678D3761)},
    {48, 0, UINT64_C(0x397DA259ECBA1F11), UINT64_C(0xF942219AED80F67B), UINT64_C(0xA002AC4E5478227E)},
    {80, 0, UINT64_C(0xBCDEFBBB2C47C90A), UINT64_C(0x454AE6BF7A8A532D), UINT64_C(0xFDF2CEFDE9EAAC8A)},
    {195, 0, UINT64_C(0xCD94217EE362EC3A), UINT64_C(0x3FB593C086A66075), UINT64_C(0x7729543A26B207EE)},
    {403, 0, UINT64_C(0xCDEB804D65C6DEA4), UINT64_C(0xCDEB804D65C6DEA4), UINT64_C(0x1B6DE21E332DD73D)},
    {512, 0, UINT64_C(0x617E49599013CB6B), UINT64_C(0x617E49599013CB6B), UINT64_C(0x18D2D110DCC9BCA1)},
    {2048, 0, UINT64_C(0xDD59E2C3A5F038E0), UINT64_C(0xDD59E2C3A5F038E0), UINT64_C(0xF736557FD47073A5)},
    {2367, 0, UINT64_C(0xCB37AEB9E5D361ED), UINT64_C(0xCB37AEB9E5D361ED), UINT64_C(0xE89C0F6FF369B427)},
    {0, SEED, UINT64_C(0xA8A6B918B2F0364A), UINT64_C(0xA986DFC5D7605BFE), UINT64_C(0x00FEAA732A3CE25E)},
    {1, SEED, UINT64_C(0x032BE332DD766EF8), UINT64_C(0x032BE332DD766EF8), UINT64_C(0x20E49ABCC53B3842)},
    {6, SEED, UINT64_C(0x84589C116AB59AB9), UINT64_C(0xC5B54D56038E4E40), UINT64_C(0x014BD95A51CA5DDB)},
    {12, SEED, UINT64_C(0xE7303E1B2336DE0E), UINT64_C(0x5D92B5D7190B12D1), UINT64_C(0xFF0D60ACD02ED401)},
    {24, SEED, UINT64_C(0x850E80FC35BDD690), UINT64_C(0xC6CBF92A70680B19), UINT64_C(0xD7895DED1F62559D)},
    {48, SEED, UINT64_C(0xADC2CBAA44ACC616), UINT64_C(0x3A94D91333ED395A), UINT64_C(0xBC689F4C0152FB44)},
    {80, SEED, UINT64_C(0xC6DD0CB699532E73), UINT64_C(0xA5EAC764D1FF1166), UINT64_C(0x19BF02D69BC56833)},
    {195, SEED, UINT64_C(0xBA68003D370CB3D9), UINT64_C(0xCF9D9EC2C8C9913F), UINT64_C(0x0326104C4D4849E7)},
    {403, SEED, UINT64_C(0x6259F6ECFD6443FD), UINT64_C(0x6259F6ECFD6443FD), UINT64_C(0xBED311971E0BE8F2)},
    {512, SEED, UINT64_C(0x3CE457DE14C27708), UINT64_C(0x3CE457DE14C27708), UINT64_C(0x925D06B8EC5B8040)},
    {2048, SEED, UINT64_C(0x66F81670669ABABC), UINT64_C(0x66F81670669ABABC), UINT64_C(0x23CC3A2E75EBAAEA)},
    {2367, SEED, UINT64_C(0xD2DB3415B942B42A), UINT64_C(0xD2DB3415B942B42A), UINT64_C(0xCCB7A94CCA1A6496)},
};

START_TEST(known_vectors)
{
  unsigned char data[2400 + 8];
  for (size_t shift = 0; shift < 8; shift++) {
    pattern(data + shift, 2400);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
      ck_assert_uint_eq(twpa__hash64(data + shift, vectors[i].len, vectors[i].seed), vectors[i].h64);
      uint64_t h[2];
      twpa__hash128(h, data + shift, vectors[i].len, vectors[i].seed);
      ck_assert_uint_eq(h[0], vectors[i].low);
      ck_assert_uint_eq(h[1], vectors[i].high);
      if (vectors[i].seed == 0)
        ck_assert_uint_eq(twpa__checksum64(data + shift, vectors[i].len), vectors[i].h64);
    }
  }
}
END_TEST

/* The wider instructions give the same, around every border of their loops. */
START_TEST(long_inputs_are_hashed_alike)
{
  enum { MOST = 70000 };
  unsigned char *data = malloc(MOST + 8);
  ck_assert_ptr_nonnull(data);
  for (size_t shift = 0; shift < 8; shift += 3) {
    pattern(data + shift, MOST);
    for (size_t len = 0; len < MOST; len += len < 3000 ? 1 : 997)
      test_must(twpa__hash64_long(data + shift, len, SEED + len) == twpa__hash64(data + shift, len, SEED + len));
  }
  free(data);
}
END_TEST

START_TEST(nothing_can_be_hashed)
{
  ck_assert_uint_eq(twpa__hash64(NULL, 0, 0), vectors[0].h64);
  ck_assert_uint_eq(twpa__checksum64(NULL, 0), vectors[0].h64);
}
END_TEST

/* With the hash so far as the seed, the border between two columns counts. */
START_TEST(chained_columns_keep_their_borders)
{
  uint64_t ab_c = twpa__hash64("c", 1, twpa__hash64("ab", 2, 7));
  uint64_t a_bc = twpa__hash64("bc", 2, twpa__hash64("a", 1, 7));
  uint64_t abc = twpa__hash64("abc", 3, 7);
  uint64_t abc_ = twpa__hash64("", 0, abc);
  ck_assert_uint_ne(ab_c, a_bc);
  ck_assert_uint_ne(ab_c, abc);
  ck_assert_uint_ne(abc, abc_);
}
END_TEST

START_TEST(every_bit_and_the_length_count)
{
  unsigned char data[200];
  pattern(data, sizeof data);
  for (size_t len = 1; len <= sizeof data; len++) {
    uint64_t whole = twpa__hash64(data, len, 1), check = twpa__checksum64(data, len);
    test_must(whole != twpa__hash64(data, len - 1, 1));
    for (size_t bit = 0; bit < len * 8; bit += 5) {
      data[bit / 8] ^= (unsigned char)(1u << (bit % 8));
      test_must(whole != twpa__hash64(data, len, 1));
      test_must(check != twpa__checksum64(data, len));
      data[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
  }
}
END_TEST

/* The way back through an odd multiplication is that by its inverse; x ^= x >> 32 is its own inverse. */
static uint64_t unmix(uint64_t x)
{
  const uint64_t m = UINT64_C(0xD6E8FEB86659FD93);
  uint64_t inverse = m;
  for (int i = 0; i < 6; i++)
    inverse *= 2 - m * inverse;
  test_must(m * inverse == 1);
  x ^= x >> 32;
  x *= inverse;
  x ^= x >> 32;
  x *= inverse;
  x ^= x >> 32;
  return x;
}

START_TEST(numbers_are_mixed_without_loss)
{
  rng r = {test_seed(4)};
  for (int i = 0; i < 100000; i++) {
    uint64_t x = rng_next(&r) >> rng_below(&r, 64);
    test_must(unmix(twpa__mix64(x)) == x);
    test_must(twpa__unmix64(twpa__mix64(x)) == x);
  }
  test_must(unmix(twpa__mix64(0)) == 0);
  test_must(unmix(twpa__mix64(UINT64_MAX)) == UINT64_MAX);
}
END_TEST

/* Multiples of 2^20 are the case that breaks a map with the number itself as hash. */
START_TEST(low_bits_of_mixed_numbers_are_spread)
{
  const uint64_t steps[] = {1, 2, UINT64_C(1) << 20, UINT64_C(1) << 32, UINT64_C(1) << 40, 1000};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    unsigned counts[256] = {0};
    for (uint64_t i = 0; i < 256 * 64; i++)
      counts[twpa__mix64(i * steps[s]) & 255]++;
    for (size_t i = 0; i < 256; i++) {
      test_must(counts[i] > 20);
      test_must(counts[i] < 130);
    }
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("hash");
  TCase *t = tcase_create("hash");
  tcase_add_test(t, known_vectors);
  tcase_add_test(t, long_inputs_are_hashed_alike);
  tcase_add_test(t, nothing_can_be_hashed);
  tcase_add_test(t, chained_columns_keep_their_borders);
  tcase_add_test(t, every_bit_and_the_length_count);
  tcase_add_test(t, numbers_are_mixed_without_loss);
  tcase_add_test(t, low_bits_of_mixed_numbers_are_spread);
  suite_add_tcase(s, t);
  return run_suite(s);
}
