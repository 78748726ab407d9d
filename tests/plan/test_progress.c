/* Progress: examples, lives with crashes against a naive model, the record byte for byte and damaged, limits, memory. */
#include "base/hash.h"
#include "support/faultmem.h"
#include "support/runner.h"

#include <stdlib.h>
#include <string.h>
#include <twpa/progress.h>

static twpa_progress *make(const twpa_progress_options *options)
{
  twpa_progress *p = NULL;
  ck_assert_int_eq(twpa_progress_new(&p, options, NULL), TWPA_OK);
  return p;
}

static void check_watermark(const twpa_progress *p, uint64_t seq, twpa_lsn lsn)
{
  uint64_t got_seq = 99;
  twpa_lsn got = 99;
  test_must(twpa_progress_low_watermark(p, &got_seq, &got) == TWPA_OK);
  test_must(got_seq == seq);
  test_must(got == lsn);
}

static size_t save(const twpa_progress *p, unsigned char *buf, size_t cap)
{
  size_t len = 0;
  ck_assert_int_eq(twpa_progress_save(p, buf, cap, &len), TWPA_OK);
  return len;
}

START_TEST(watermark_and_what_is_done_above_it)
{
  twpa_progress *p = make(NULL);
  check_watermark(p, 0, 0);
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 100), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 200), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 3, 300), TWPA_OK);
  check_watermark(p, 0, 0);
  ck_assert_int_eq(twpa_progress_done(p, 2), TWPA_OK);
  check_watermark(p, 0, 0);
  ck_assert_int_eq(twpa_progress_is_applied(p, 100), 0);
  ck_assert_int_eq(twpa_progress_is_applied(p, 200), 1);
  ck_assert_int_eq(twpa_progress_is_applied(p, 300), 0);
  ck_assert_int_eq(twpa_progress_is_applied(p, 150), 0);
  ck_assert_int_eq(twpa_progress_is_applied(p, 250), 0);
  ck_assert_int_eq(twpa_progress_done(p, 2), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_progress_done(p, 4), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_progress_done(p, 0), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_progress_done(p, 1), TWPA_OK);
  check_watermark(p, 2, 200);
  ck_assert_int_eq(twpa_progress_done(p, 1), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_progress_done(p, 3), TWPA_OK);
  check_watermark(p, 3, 300);
  twpa_progress_free(p);
}
END_TEST

/* A failed transaction holds the position back; after the restart the one applied behind it is not applied again. */
START_TEST(position_does_not_pass_a_failed_transaction)
{
  unsigned char buf[256];
  twpa_progress *p = make(NULL);
  for (uint64_t s = 1; s <= 3; s++)
    ck_assert_int_eq(twpa_progress_submitted(p, s, s * 100), TWPA_OK);
  ck_assert_int_eq(twpa_progress_done(p, 1), TWPA_OK);
  ck_assert_int_eq(twpa_progress_done(p, 3), TWPA_OK);
  check_watermark(p, 1, 100);
  size_t len = save(p, buf, sizeof buf);
  twpa_progress_free(p);

  p = make(NULL);
  ck_assert_int_eq(twpa_progress_load(p, buf, len), TWPA_OK);
  check_watermark(p, 0, 100);
  ck_assert_int_eq(twpa_progress_is_applied(p, 100), 1);
  ck_assert_int_eq(twpa_progress_is_applied(p, 200), 0);
  ck_assert_int_eq(twpa_progress_is_applied(p, 300), 1);
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 100), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 200), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 300), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 400), TWPA_OK);
  /* The stretch of the former life lies between the two and is done once the first one is. */
  ck_assert_int_eq(twpa_progress_done(p, 1), TWPA_OK);
  check_watermark(p, 1, 300);
  twpa_progress_free(p);
}
END_TEST

/* Keep-alives move the position only when nothing is pending before them. */
START_TEST(keepalives_do_not_overtake)
{
  twpa_progress *p = make(NULL);
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 100), TWPA_OK);
  ck_assert_int_eq(twpa_progress_passed(p, 500), TWPA_OK);
  check_watermark(p, 0, 0);
  ck_assert_int_eq(twpa_progress_done(p, 1), TWPA_OK);
  check_watermark(p, 1, 500);
  ck_assert_int_eq(twpa_progress_passed(p, 900), TWPA_OK);
  check_watermark(p, 1, 900);
  ck_assert_int_eq(twpa_progress_passed(p, 300), TWPA_OK);
  check_watermark(p, 1, 900);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 800), TWPA_E_EXISTS);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 950), TWPA_OK);
  ck_assert_int_eq(twpa_progress_passed(p, 1000), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 3, 980), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 1100), TWPA_E_INVAL);
  check_watermark(p, 1, 900);
  ck_assert_int_eq(twpa_progress_is_applied(p, 980), 0);
  ck_assert_int_eq(twpa_progress_done(p, 2), TWPA_OK);
  check_watermark(p, 2, 1000);
  twpa_progress_free(p);
}
END_TEST

START_TEST(wrong_arguments)
{
  twpa_progress *p = NULL;
  twpa_progress_options o = {.struct_size = TWPA_PROGRESS_OPTIONS_INIT};
  uint64_t n;
  twpa_lsn lsn;
  size_t len;
  unsigned char buf[8];
  ck_assert_int_eq(twpa_progress_new(NULL, &o, NULL), TWPA_E_INVAL);
  o.struct_size = 4;
  ck_assert_int_eq(twpa_progress_new(&p, &o, NULL), TWPA_E_INVAL);
  struct {
    twpa_progress_options o;
    uint64_t more;
  } newer = {{.struct_size = sizeof newer}, 0};
  ck_assert_int_eq(twpa_progress_new(&p, &newer.o, NULL), TWPA_OK);
  twpa_progress_free(p);
  newer.more = 1;
  ck_assert_int_eq(twpa_progress_new(&p, &newer.o, NULL), TWPA_E_UNSUPPORTED);
  twpa_allocator bad = {NULL, NULL, NULL, NULL};
  ck_assert_int_eq(twpa_progress_new(&p, NULL, &bad), TWPA_E_INVAL);
  twpa_progress_free(NULL);

  p = make(NULL);
  ck_assert_int_eq(twpa_progress_submitted(NULL, 1, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_submitted(p, 0, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_done(NULL, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_passed(NULL, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_note_applied(p, 0), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_note_applied(NULL, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_low_watermark(NULL, &n, &lsn), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_low_watermark(p, NULL, &lsn), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_low_watermark(p, &n, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_is_applied(NULL, 5), 0);
  ck_assert_int_eq(twpa_progress_is_applied(p, 0), 0);
  ck_assert_int_eq(twpa_progress_save(p, NULL, 5, &len), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_save(p, buf, 5, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_save(NULL, buf, 5, &len), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_save_with(p, buf, 5, &len, 1), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_progress_save_with(NULL, buf, 5, &len, 1), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_load(p, NULL, 0), TWPA_E_CORRUPT);
  ck_assert_int_eq(twpa_progress_load(p, NULL, 9), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_load(NULL, buf, 8), TWPA_E_INVAL);
  twpa_progress_counters small = {.struct_size = 8};
  ck_assert_int_eq(twpa_progress_stats(p, &small), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_stats(p, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_progress_stats(NULL, &small), TWPA_E_INVAL);
  twpa_progress_free(p);
}
END_TEST

/* Sequence numbers may have gaps: other streams use the same plan. */
START_TEST(numbers_with_gaps)
{
  twpa_progress *p = make(NULL);
  const uint64_t seqs[] = {10, 11, 15, 16, 100, 101, 102, 200};
  for (size_t i = 0; i < 8; i++)
    ck_assert_int_eq(twpa_progress_submitted(p, seqs[i], 1000 + i), TWPA_OK);
  check_watermark(p, 9, 0);
  for (size_t i = 8; i-- > 1;) {
    ck_assert_int_eq(twpa_progress_done(p, seqs[i]), TWPA_OK);
    ck_assert_int_eq(twpa_progress_done(p, seqs[i]), TWPA_E_EXISTS);
    ck_assert_int_eq(twpa_progress_is_applied(p, 1000 + i), 1);
    ck_assert_int_eq(twpa_progress_is_applied(p, 1000 + i - 1), 0);
  }
  ck_assert_int_eq(twpa_progress_done(p, 12), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_progress_done(p, 99), TWPA_E_NOTFOUND);
  ck_assert_int_eq(twpa_progress_done(p, 10), TWPA_OK);
  check_watermark(p, 200, 1007);
  twpa_progress_free(p);
}
END_TEST

START_TEST(limits)
{
  twpa_progress *p = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .span_max = 3});
  for (uint64_t s = 1; s <= 3; s++)
    ck_assert_int_eq(twpa_progress_submitted(p, s, s), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 4, 4), TWPA_E_LIMIT);
  ck_assert_int_eq(twpa_progress_done(p, 3), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 4, 4), TWPA_E_LIMIT);
  ck_assert_int_eq(twpa_progress_done(p, 1), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 4, 4), TWPA_OK);
  twpa_progress_free(p);

  /* Whatever is ticked off in whatever order: the record never gets longer than the limit says. */
  p = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .save_bytes_max = 40 + 20 * 5});
  uint64_t s = 1;
  while (twpa_progress_submitted(p, s, s * UINT64_C(0x100000000000)) == TWPA_OK) {
    if (s > 3)
      ck_assert_int_eq(twpa_progress_done(p, s), TWPA_OK);
    s++;
    ck_assert_uint_lt(s, 1000);
    if (s == 100)
      break;
  }
  ck_assert_uint_eq(s, 100);
  for (; twpa_progress_submitted(p, s, s * UINT64_C(0x100000000000)) == TWPA_OK; s++)
    ck_assert_uint_lt(s, 110);
  ck_assert_uint_eq(s, 102);
  twpa_progress_counters c = {.struct_size = TWPA_PROGRESS_COUNTERS_INIT};
  ck_assert_int_eq(twpa_progress_stats(p, &c), TWPA_OK);
  ck_assert_uint_le(c.save_bytes, c.save_bytes_max);
  ck_assert_uint_le(c.save_bytes_max, 140);
  ck_assert_uint_eq(c.submitted, 101);
  ck_assert_uint_eq(c.done, 96);
  ck_assert_uint_eq(c.span, 101);
  ck_assert_uint_eq(c.runs, 1);
  /* Nothing pending: never refused. */
  for (uint64_t i = 1; i < 102; i++)
    if (i <= 3 || i >= 100)
      ck_assert_int_eq(twpa_progress_done(p, i), TWPA_OK);
  check_watermark(p, 101, 101 * UINT64_C(0x100000000000));
  ck_assert_int_eq(twpa_progress_submitted(p, 102, 102 * UINT64_C(0x100000000000)), TWPA_OK);
  twpa_progress_free(p);

  p = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .save_bytes_max = 1});
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 1), TWPA_OK);
  ck_assert_int_eq(twpa_progress_submitted(p, 2, 2), TWPA_E_LIMIT);
  twpa_progress_free(p);
}
END_TEST

/* ---- The record ------------------------------------------------------------------------------------------------ */

static void seal(unsigned char *buf, size_t len)
{
  uint64_t sum = twpa__checksum64(buf, len - 8);
  for (int i = 0; i < 8; i++)
    buf[len - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

static twpa_progress *golden_state(void)
{
  twpa_progress *p = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .stream = 0x0102030405060708, .start = 0x1000});
  const twpa_lsn lsns[] = {0x1100, 0x1200, 0x1300, 0x2000, 0x2080};
  for (uint64_t i = 0; i < 5; i++)
    ck_assert_int_eq(twpa_progress_submitted(p, i + 1, lsns[i]), TWPA_OK);
  ck_assert_int_eq(twpa_progress_done(p, 2), TWPA_OK);
  ck_assert_int_eq(twpa_progress_done(p, 3), TWPA_OK);
  ck_assert_int_eq(twpa_progress_done(p, 5), TWPA_OK);
  return p;
}

START_TEST(the_record_byte_for_byte)
{
  /* watermark 0x1000; [0x1200,0x1300]: gap 0x200, length 0x100; [0x2080]: gap 0xD80, length 0 */
  unsigned char want[] = {'T',  'W',  'P',  'P',  1,    0,    0, 0, 47, 0, 0, 0, 2, 0, 0, 0,
                          0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 2, 1, 0,  0x10, 0, 0, 0, 0, 0, 0,
                          0x80, 0x04, 0x80, 0x02, 0x80, 0x1B, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  seal(want, sizeof want);
  twpa_progress *p = golden_state();
  unsigned char buf[64];
  size_t len = 0;
  ck_assert_int_eq(twpa_progress_save(p, NULL, 0, &len), TWPA_E_LIMIT);
  ck_assert_uint_eq(len, sizeof want);
  memset(buf, 0xEE, sizeof buf);
  len = 0;
  ck_assert_int_eq(twpa_progress_save(p, buf, sizeof want - 1, &len), TWPA_E_LIMIT);
  ck_assert_uint_eq(len, sizeof want);
  ck_assert_uint_eq(buf[0], 0xEE);
  ck_assert_uint_eq(save(p, buf, sizeof want), sizeof want);
  ck_assert_mem_eq(buf, want, sizeof want);
  ck_assert_uint_eq(buf[sizeof want], 0xEE);
  /* The first one done as well: the watermark goes to where everything had been told before the fourth. */
  unsigned char with[] = {'T',  'W',  'P',  'P',  1,    0,    0, 0, 43, 0,    0, 0, 1, 0, 0, 0,
                          0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 2, 1, 0,  0x13, 0, 0, 0, 0, 0, 0,
                          0x80, 0x1B, 0,    0,    0,    0,    0, 0, 0,  0,    0};
  seal(with, sizeof with);
  ck_assert_int_eq(twpa_progress_save_with(p, buf, sizeof buf, &len, 1), TWPA_OK);
  ck_assert_uint_eq(len, sizeof with);
  ck_assert_mem_eq(buf, with, sizeof with);
  twpa_progress_free(p);
}
END_TEST

static twpa_status try_load(const unsigned char *buf, size_t len, uint64_t stream)
{
  twpa_progress *p = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .stream = stream, .start = 77});
  twpa_status st = twpa_progress_load(p, buf, len);
  if (st != TWPA_OK) {
    /* Untouched: it can be loaded still, and says what it said before. */
    check_watermark(p, 0, 77);
    twpa_progress_counters c = {.struct_size = TWPA_PROGRESS_COUNTERS_INIT};
    test_must(twpa_progress_stats(p, &c) == TWPA_OK);
    test_must(c.runs == 0);
  }
  twpa_progress_free(p);
  return st;
}

START_TEST(every_damage_is_seen)
{
  twpa_progress *p = golden_state();
  unsigned char buf[80], bad[80];
  size_t len = save(p, buf, sizeof buf);
  const uint64_t stream = 0x0102030405060708;
  ck_assert_int_eq(try_load(buf, len, stream), TWPA_OK);
  ck_assert_int_eq(try_load(buf, len, 5), TWPA_E_NOTFOUND);
  for (size_t bit = 0; bit < len * 8; bit++) {
    memcpy(bad, buf, len);
    bad[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    ck_assert_int_eq(try_load(bad, len, stream), TWPA_E_CORRUPT);
  }
  for (size_t cut = 0; cut < len; cut++)
    ck_assert_int_eq(try_load(buf, cut, stream), TWPA_E_CORRUPT);
  memcpy(bad, buf, len);
  bad[len] = 0;
  ck_assert_int_eq(try_load(bad, len + 1, stream), TWPA_E_CORRUPT);
  rng r = {test_seed(20)};
  for (int n = 0; n < 20000; n++) {
    size_t l = (size_t)rng_below(&r, sizeof bad + 1);
    for (size_t i = 0; i < l; i++)
      bad[i] = (unsigned char)rng_next(&r);
    if (l >= 8 && rng_chance(&r, 70))
      memcpy(bad, buf, 8);
    ck_assert_int_eq(try_load(bad, l, stream), TWPA_E_CORRUPT);
  }
  twpa_progress_free(p);
}
END_TEST

/* Sound checksums over senseless contents. */
START_TEST(senseless_records)
{
  struct {
    unsigned version, zero, stretches;
    twpa_lsn watermark;
    size_t n;
    unsigned char body[24];
    twpa_status want;
  } cases[] = {
    {1, 0, 0, 50, 0, {0}, TWPA_OK},
    {1, 0, 1, 50, 2, {1, 0}, TWPA_OK},
    {1, 0, 1, UINT64_MAX - 1, 2, {1, 0}, TWPA_OK},
    {2, 0, 0, 50, 0, {0}, TWPA_E_UNSUPPORTED},
    {1, 1, 0, 50, 0, {0}, TWPA_E_CORRUPT},
    {1, 0, 1, 50, 0, {0}, TWPA_E_CORRUPT},                /* fewer than announced */
    {1, 0, 0, 50, 2, {1, 0}, TWPA_E_CORRUPT},             /* more than announced */
    {1, 0, 1, 50, 2, {0, 0}, TWPA_E_CORRUPT},             /* at the watermark */
    {1, 0, 2, 50, 4, {1, 0, 1, 0}, TWPA_E_CORRUPT},       /* two that touch */
    {1, 0, 2, 50, 4, {1, 0, 2, 0}, TWPA_OK},
    {1, 0, 1, 50, 3, {0x81, 0, 0}, TWPA_E_CORRUPT},       /* a superfluous byte */
    {1, 0, 1, 50, 2, {1, 0x80}, TWPA_E_CORRUPT},          /* cut off */
    {1, 0, 1, UINT64_MAX, 2, {1, 0}, TWPA_E_CORRUPT},     /* beyond the end */
    {1, 0, 1, UINT64_MAX - 5, 2, {1, 5}, TWPA_E_CORRUPT}, /* its end beyond the end */
    {1, 0, 1, 0, 11, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0}, TWPA_OK},
    {1, 0, 1, 0, 11, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0}, TWPA_E_CORRUPT},
    {1, 0, 1, 0, 12, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0, 0}, TWPA_E_CORRUPT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    unsigned char buf[80] = {'T', 'W', 'P', 'P'};
    size_t len = 40 + cases[i].n;
    buf[4] = (unsigned char)cases[i].version;
    buf[6] = (unsigned char)cases[i].zero;
    buf[8] = (unsigned char)len;
    buf[12] = (unsigned char)cases[i].stretches;
    for (int b = 0; b < 8; b++)
      buf[24 + b] = (unsigned char)(cases[i].watermark >> (8 * b));
    memcpy(buf + 32, cases[i].body, cases[i].n);
    seal(buf, len);
    ck_assert_msg(try_load(buf, len, 0) == cases[i].want, "case %zu", i);
  }
}
END_TEST

START_TEST(load_only_into_a_fresh_object)
{
  twpa_progress *p = make(NULL);
  unsigned char buf[64];
  size_t len = save(p, buf, sizeof buf);
  ck_assert_int_eq(twpa_progress_passed(p, 5), TWPA_OK);
  ck_assert_int_eq(twpa_progress_load(p, buf, len), TWPA_E_STATE);
  twpa_progress_free(p);
  p = make(NULL);
  ck_assert_int_eq(twpa_progress_load(p, buf, len), TWPA_OK);
  ck_assert_int_eq(twpa_progress_load(p, buf, len), TWPA_E_STATE);
  ck_assert_int_eq(twpa_progress_note_applied(p, 70), TWPA_OK);
  ck_assert_int_eq(twpa_progress_note_applied(p, 70), TWPA_OK);
  ck_assert_int_eq(twpa_progress_is_applied(p, 70), 1);
  ck_assert_int_eq(twpa_progress_is_applied(p, 69), 0);
  ck_assert_int_eq(twpa_progress_submitted(p, 1, 60), TWPA_OK);
  ck_assert_int_eq(twpa_progress_note_applied(p, 80), TWPA_E_STATE);
  twpa_progress_free(p);
}
END_TEST

/* ---- Lives with crashes ---------------------------------------------------------------------------------------- */

#define STREAM 60

typedef struct world {
  twpa_lsn lsn[STREAM];
  unsigned applied[STREAM]; /* how often, on the target */
  unsigned char record[2048];
  size_t len;             /* 0: none stored */
  bool rows;              /* each transaction stores its position as a row, the record is stored now and then */
  bool row[STREAM];       /* those rows */
  twpa_lsn last_position; /* the highest watermark ever seen */
} world;

/* What the target knows must be what the object says, for every position that matters. */
static void check_against_target(const world *w, const twpa_progress *p, size_t told, twpa_lsn told_to)
{
  uint64_t seq;
  twpa_lsn position;
  ck_assert_int_eq(twpa_progress_low_watermark(p, &seq, &position), TWPA_OK);
  for (size_t i = 0; i < STREAM; i++) {
    test_must(twpa_progress_is_applied(p, w->lsn[i]) == (w->applied[i] > 0));
    if (w->lsn[i] <= position)
      test_must(w->applied[i] == 1);
  }
  /* It is not too low either: nothing pending means everything told. */
  bool all = true;
  for (size_t i = 0; i < told; i++)
    all = all && w->applied[i] > 0;
  if (all)
    test_must(position >= told_to);
}

static void commit_on_target(world *w, twpa_progress *p, uint64_t seq, size_t at, rng *r)
{
  w->applied[at]++;
  test_must(w->applied[at] == 1);
  if (w->rows)
    w->row[at] = true;
  if (!w->rows || rng_chance(r, 20))
    test_must(twpa_progress_save_with(p, w->record, sizeof w->record, &w->len, seq) == TWPA_OK);
}

/* One life: reads the stream from the saved position, applies in random order, dies at a random moment. */
static bool live(world *w, rng *r)
{
  twpa_progress *p = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .stream = 7});
  if (w->len > 0)
    test_must(twpa_progress_load(p, w->record, w->len) == TWPA_OK);
  for (size_t i = 0; i < STREAM; i++)
    if (w->row[i])
      test_must(twpa_progress_note_applied(p, w->lsn[i]) == TWPA_OK);
  uint64_t seq_of[STREAM] = {0};
  bool open[STREAM] = {false};
  uint64_t seq = rng_below(r, 3), ignored;
  twpa_lsn position;
  twpa_lsn told_to = 0;
  size_t at = 0;
  ck_assert_int_eq(twpa_progress_low_watermark(p, &ignored, &position), TWPA_OK);
  while (at < STREAM && w->lsn[at] <= position)
    at++;
  size_t steps = rng_below(r, 150);
  bool all = false;
  for (size_t step = 0; step < steps && !all; step++) {
    if (at < STREAM && rng_chance(r, 50)) {
      if (twpa_progress_is_applied(p, w->lsn[at])) {
        test_must(twpa_progress_submitted(p, seq + 1, w->lsn[at]) == TWPA_E_EXISTS);
        if (rng_chance(r, 50)) {
          test_must(twpa_progress_passed(p, w->lsn[at]) == TWPA_OK);
          told_to = w->lsn[at];
        }
      } else {
        seq += 1 + (rng_chance(r, 10) ? rng_below(r, 5) : 0);
        test_must(twpa_progress_submitted(p, seq, w->lsn[at]) == TWPA_OK);
        seq_of[at] = seq;
        told_to = w->lsn[at];
        open[at] = true;
      }
      at++;
      if (rng_chance(r, 10) && at < STREAM) {
        told_to = w->lsn[at] - 1;
        test_must(twpa_progress_passed(p, told_to) == TWPA_OK);
      }
    } else {
      size_t pick = (size_t)rng_below(r, STREAM);
      if (open[pick]) {
        commit_on_target(w, p, seq_of[pick], pick, r);
        open[pick] = false;
        test_must(twpa_progress_done(p, seq_of[pick]) == TWPA_OK);
      }
    }
    ck_assert_int_eq(twpa_progress_low_watermark(p, &ignored, &position), TWPA_OK);
    test_must(position >= w->last_position);
    w->last_position = w->rows ? 0 : position;
    check_against_target(w, p, at, told_to);
    all = at == STREAM;
    for (size_t i = 0; i < STREAM; i++)
      all = all && w->applied[i] == 1;
  }
  /* A clean save says the same as the one made along with the last commit, for every transaction. */
  unsigned char again[2048];
  size_t len = save(p, again, sizeof again);
  twpa_progress *q = make(&(twpa_progress_options){TWPA_PROGRESS_OPTIONS_INIT, .stream = 7});
  test_must(twpa_progress_load(q, again, len) == TWPA_OK);
  for (size_t i = 0; i < STREAM; i++)
    test_must(twpa_progress_is_applied(q, w->lsn[i]) == (w->applied[i] > 0));
  unsigned char copy[2048];
  test_must(save(q, copy, sizeof copy) == len);
  test_must(memcmp(copy, again, len) == 0);
  /* What was kept only in memory (passed positions) may be lost by a crash. */
  w->last_position = 0;
  twpa_progress_free(q);
  twpa_progress_free(p);
  return all;
}

START_TEST(nothing_is_lost_and_nothing_applied_twice)
{
  rng r = {test_seed(21)};
  for (int n = 0; n < 400; n++) {
    world w = {.rows = n % 2};
    twpa_lsn lsn = rng_below(&r, 2) ? 1 : UINT64_C(0xFFFFFFF0);
    for (size_t i = 0; i < STREAM; i++)
      w.lsn[i] = lsn += 1 + rng_below(&r, rng_chance(&r, 20) ? 1 : 100);
    int lives = 0;
    while (!live(&w, &r))
      test_must(++lives < 1000);
  }
}
END_TEST

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* Repeats what failed for lack of memory; counts the failures. */
#define RETRY(call) \
  do { \
    twpa_status st_; \
    while ((st_ = (call)) == TWPA_E_NOMEM && fm.failed != before) \
      before = fm.failed, failures++; \
    ck_assert_int_eq(st_, TWPA_OK); \
  } while (0)

START_TEST(every_allocation_may_fail)
{
  unsigned char record[512];
  size_t len;
  {
    twpa_progress *p = make(NULL);
    for (uint64_t s = 1; s <= 40; s++)
      ck_assert_int_eq(twpa_progress_submitted(p, s, s * 10), TWPA_OK);
    for (uint64_t s = 2; s <= 40; s += 2)
      ck_assert_int_eq(twpa_progress_done(p, s), TWPA_OK);
    len = save(p, record, sizeof record);
    twpa_progress_free(p);
  }
  for (size_t n = 1;; n++) {
    faultmem fm;
    twpa_allocator mem = faultmem_init(&fm, n, false);
    size_t before = 0, failures = 0;
    twpa_progress *p = NULL;
    RETRY(twpa_progress_new(&p, NULL, &mem));
    RETRY(twpa_progress_load(p, record, len));
    for (uint64_t i = 0; i < 20; i++)
      RETRY(twpa_progress_note_applied(p, 1000 + 2 * i));
    for (uint64_t s = 1; s <= 100; s++)
      RETRY(twpa_progress_submitted(p, s, 2000 + s));
    size_t calls = fm.calls;
    for (uint64_t s = 100; s >= 1; s -= 1)
      if (s % 2 == 0)
        ck_assert_int_eq(twpa_progress_done(p, s), TWPA_OK);
    unsigned char buf[4096];
    (void)save(p, buf, sizeof buf);
    for (uint64_t s = 1; s <= 99; s += 2)
      ck_assert_int_eq(twpa_progress_done(p, s), TWPA_OK);
    ck_assert_uint_eq(fm.calls, calls);
    check_watermark(p, 100, 2100);
    twpa_progress_free(p);
    faultmem_check_empty(&fm);
    ck_assert_uint_eq(failures, fm.failed);
    if (fm.failed == 0)
      break;
  }
  for (size_t n = 1;; n++) {
    faultmem fm;
    twpa_allocator mem = faultmem_init(&fm, n, true);
    twpa_progress *p = NULL;
    twpa_status st = twpa_progress_new(&p, NULL, &mem);
    if (st == TWPA_OK)
      st = twpa_progress_load(p, record, len);
    for (uint64_t s = 1; s <= 40 && st == TWPA_OK; s++)
      st = twpa_progress_submitted(p, s, 2000 + s);
    twpa_progress_free(p);
    faultmem_check_empty(&fm);
    if (fm.failed == 0) {
      ck_assert_int_eq(st, TWPA_OK);
      break;
    }
    ck_assert_int_eq(st, TWPA_E_NOMEM);
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("progress");
  TCase *c = tcase_create("progress");
  tcase_set_timeout(c, 60);
  tcase_add_test(c, watermark_and_what_is_done_above_it);
  tcase_add_test(c, position_does_not_pass_a_failed_transaction);
  tcase_add_test(c, keepalives_do_not_overtake);
  tcase_add_test(c, wrong_arguments);
  tcase_add_test(c, numbers_with_gaps);
  tcase_add_test(c, limits);
  tcase_add_test(c, the_record_byte_for_byte);
  tcase_add_test(c, every_damage_is_seen);
  tcase_add_test(c, senseless_records);
  tcase_add_test(c, load_only_into_a_fresh_object);
  tcase_add_test(c, nothing_is_lost_and_nothing_applied_twice);
  tcase_add_test(c, every_allocation_may_fail);
  suite_add_tcase(s, c);
  return run_suite(s);
}
