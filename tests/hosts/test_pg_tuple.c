/*
 * Row images: an encoder of its own, written the other way round, makes rows whose columns are known; the deformer must
 * give them back. Then damage: every truncation, random bytes. Images are copied into blocks of exactly their size, so
 * that the sanitizers see every read beyond the end.
 */
#include "support/pg/pg_compress.h"
#include "support/pg/pg_tuple.h"
#include "support/runner.h"

#include <stdlib.h>
#include <string.h>

typedef struct image {
  uint8_t bytes[8192];
  size_t len;
} image;

/* What a column was given. */
typedef struct cell {
  pg_value want;
  uint8_t bytes[400]; /* the value, or compressed data */
} cell;

static void pad(image *im, size_t base, size_t align)
{
  while ((im->len - base) % align != 0)
    im->bytes[im->len++] = 0;
}

static void put(image *im, const void *p, size_t n)
{
  ck_assert_uint_le(im->len + n, sizeof im->bytes);
  memcpy(im->bytes + im->len, p, n);
  im->len += n;
}

static void put_le(image *im, uint64_t x, size_t n)
{
  for (size_t i = 0; i < n; i++, x >>= 8)
    put(im, &(uint8_t){(uint8_t)x}, 1);
}

static size_t align_of(char c)
{
  return c == 'c' ? 1 : c == 's' ? 2 : c == 'i' ? 4 : 8;
}

/* The header of a row of n columns; the null bitmap is all "not null" if there is one. */
static size_t begin_row(image *im, size_t n, int nulls)
{
  memset(im, 0, sizeof *im);
  size_t hoff = (23 + (nulls ? (n + 7) / 8 : 0) + 7) & ~(size_t)7;
  im->bytes[18] = (uint8_t)n;
  im->bytes[19] = (uint8_t)(n >> 8);
  im->bytes[20] = nulls ? 1 : 0;
  im->bytes[22] = (uint8_t)hoff;
  if (nulls)
    for (size_t i = 0; i < n; i++)
      im->bytes[23 + i / 8] |= (uint8_t)(1u << (i % 8));
  im->len = hoff;
  return hoff;
}

static void put_cell(image *im, size_t base, size_t col, const pg_attr *a, const cell *c)
{
  const pg_value *w = &c->want;
  size_t align = align_of(a->align);
  if (w->kind == PG_VALUE_NULL) {
    im->bytes[23 + col / 8] &= (uint8_t) ~(1u << (col % 8));
  } else if (a->len > 0) {
    pad(im, base, align);
    put(im, c->bytes, w->len);
  } else if (a->len == -2) {
    pad(im, base, align);
    put(im, c->bytes, w->len);
    put_le(im, 0, 1);
  } else if (w->kind == PG_VALUE_EXTERNAL) {
    put_le(im, 1, 1);
    put_le(im, 18, 1);
    put_le(im, w->raw_len + 4, 4);
    put_le(im, w->toast_len | w->method << 30, 4);
    put_le(im, w->toast_id, 4);
    put_le(im, w->toast_rel, 4);
  } else if (w->kind == PG_VALUE_COMPRESSED) {
    pad(im, base, align);
    put_le(im, (w->len + 8) << 2 | 2, 4);
    put_le(im, w->raw_len | w->method << 30, 4);
    put(im, c->bytes, w->len);
  } else if (w->len <= 126 && c->bytes[0] % 3 != 0) { /* both header forms occur for short values */
    put_le(im, (w->len + 1) << 1 | 1, 1);
    put(im, c->bytes, w->len);
  } else {
    pad(im, base, align);
    put_le(im, (w->len + 4) << 2, 4);
    put(im, c->bytes, w->len);
  }
}

static void random_column(rng *r, pg_attr *a)
{
  static const pg_attr kinds[] = {
    {.len = 1, .align = 'c', .byval = 1}, {.len = 2, .align = 's', .byval = 1}, {.len = 4, .align = 'i', .byval = 1},
    {.len = 8, .align = 'd', .byval = 1}, {.len = 16, .align = 'c'},            {.len = 64, .align = 'c'},
    {.len = 12, .align = 'd'},            {.len = -1, .align = 'i'},            {.len = -1, .align = 'd'},
    {.len = -1, .align = 'i'},            {.len = -1, .align = 'i'},            {.len = -2, .align = 'c'},
  };
  *a = kinds[rng_below(r, sizeof kinds / sizeof *kinds)];
}

static void random_cell(rng *r, const pg_attr *a, cell *c)
{
  memset(c, 0, sizeof *c);
  for (size_t i = 0; i < sizeof c->bytes; i++)
    c->bytes[i] = (uint8_t)(1 + rng_below(r, 255));
  if (rng_chance(r, 15)) {
    c->want.kind = PG_VALUE_NULL;
    return;
  }
  c->want.kind = PG_VALUE_PLAIN;
  if (a->len > 0)
    c->want.len = c->want.raw_len = (uint32_t)a->len;
  else
    c->want.len = c->want.raw_len = (uint32_t)rng_below(r, rng_chance(r, 70) ? 20 : sizeof c->bytes);
  if (a->len == -1 && rng_chance(r, 10)) {
    c->want.kind = PG_VALUE_COMPRESSED;
    c->want.method = rng_chance(r, 50) ? PG_LZ4 : PG_PGLZ;
    c->want.raw_len = c->want.len * 10;
  } else if (a->len == -1 && rng_chance(r, 10)) {
    uint32_t stored = 3000 + (uint32_t)rng_below(r, 10000);
    int compressed = rng_chance(r, 50);
    c->want = (pg_value){.kind = PG_VALUE_EXTERNAL, .raw_len = compressed ? stored + 77 : stored, .toast_len = stored,
                         .toast_id = (uint32_t)rng_next(r), .toast_rel = (uint32_t)rng_next(r),
                         .toast_compressed = compressed ? 1 : 0, .method = compressed && rng_chance(r, 50)};
  }
}

static void check_equal(const pg_value *got, const cell *c)
{
  ck_assert_uint_eq(got->kind, c->want.kind);
  ck_assert_uint_eq(got->len, c->want.len);
  ck_assert_uint_eq(got->raw_len, c->want.raw_len);
  ck_assert_uint_eq(got->toast_id, c->want.toast_id);
  ck_assert_uint_eq(got->toast_rel, c->want.toast_rel);
  ck_assert_uint_eq(got->toast_len, c->want.toast_len);
  ck_assert_uint_eq(got->toast_compressed, c->want.toast_compressed);
  if (got->kind == PG_VALUE_COMPRESSED || got->kind == PG_VALUE_EXTERNAL)
    ck_assert_uint_eq(got->method, c->want.method);
  if (got->kind == PG_VALUE_PLAIN || got->kind == PG_VALUE_COMPRESSED)
    ck_assert(memcmp(got->data, c->bytes, got->len) == 0);
}

enum { COLS = 24 };

/* A random row; returns its number of columns. */
static size_t random_row(rng *r, image *im, pg_attr *attrs, cell *cells)
{
  size_t n = 1 + rng_below(r, COLS);
  int nulls = 0;
  for (size_t i = 0; i < n; i++) {
    random_column(r, &attrs[i]);
    random_cell(r, &attrs[i], &cells[i]);
    nulls |= cells[i].want.kind == PG_VALUE_NULL;
  }
  size_t base = begin_row(im, n, nulls);
  for (size_t i = 0; i < n; i++)
    put_cell(im, base, i, &attrs[i], &cells[i]);
  return n;
}

/* A copy without a byte of slack. */
static uint8_t *exact(const void *p, size_t n)
{
  uint8_t *copy = malloc(n + (n == 0));
  ck_assert_ptr_nonnull(copy);
  memcpy(copy, p, n);
  return copy;
}

START_TEST(rows_come_back)
{
  rng r = {test_seed(1)};
  image im;
  pg_attr attrs[COLS];
  cell cells[COLS];
  pg_value got[COLS];
  host_error err = {{0}};
  for (int round = 0; round < 3000; round++) {
    size_t n = random_row(&r, &im, attrs, cells);
    uint8_t *bytes = exact(im.bytes, im.len);
    pg_tuple t;
    ck_assert_msg(pg_tuple_open(&t, bytes, im.len, &err), "%s", err.text);
    ck_assert_uint_eq(t.natts, n);
    ck_assert_msg(pg_tuple_deform(got, &t, attrs, n, &err), "%s", err.text);
    for (size_t i = 0; i < n; i++)
      check_equal(&got[i], &cells[i]);
    free(bytes);
  }
}
END_TEST

START_TEST(columns_added_later_take_the_missing_value)
{
  image im;
  const pg_value seven = {.kind = PG_VALUE_PLAIN, .data = (const uint8_t *)"\7\0\0\0", .len = 4, .raw_len = 4};
  const pg_attr attrs[] = {{.len = 4, .align = 'i', .byval = 1}, {.len = -1, .align = 'i'},
                           {.len = 4, .align = 'i', .byval = 1, .missing = &seven}};
  pg_value got[3];
  host_error err = {{0}};
  pg_tuple t;
  begin_row(&im, 1, 0);
  put_le(&im, 42, 4);
  ck_assert(pg_tuple_open(&t, im.bytes, im.len, &err));
  ck_assert(pg_tuple_deform(got, &t, attrs, 3, &err));
  ck_assert_int_eq(pg_value_int(&got[0]), 42);
  ck_assert_uint_eq(got[1].kind, PG_VALUE_NULL);
  ck_assert_int_eq(pg_value_int(&got[2]), 7);
  /* A stored NULL is a NULL, not a missing value. */
  size_t base = begin_row(&im, 3, 1);
  put_cell(&im, base, 0, &attrs[0], &(cell){.want = {.kind = PG_VALUE_PLAIN, .len = 4}, .bytes = {1}});
  put_cell(&im, base, 1, &attrs[1], &(cell){.want = {.kind = PG_VALUE_NULL}});
  put_cell(&im, base, 2, &attrs[2], &(cell){.want = {.kind = PG_VALUE_NULL}});
  ck_assert(pg_tuple_open(&t, im.bytes, im.len, &err));
  ck_assert(pg_tuple_deform(got, &t, attrs, 3, &err));
  ck_assert_uint_eq(got[2].kind, PG_VALUE_NULL);
  /* More columns than the relation has. */
  ck_assert(!pg_tuple_deform(got, &t, attrs, 2, &err));
  ck_assert_str_eq(err.text, "the row has 3 columns, the relation only 2");
}
END_TEST

START_TEST(rebuilt_from_wal)
{
  image im;
  const pg_attr attrs[] = {{.len = 4, .align = 'i', .byval = 1}, {.len = -1, .align = 'i'}};
  pg_value got[2];
  host_error err = {{0}};
  begin_row(&im, 2, 1);
  put_le(&im, 0xFFFFFFFF, 4);
  put(&im, "\7ab", 3);
  uint8_t out[64];
  ck_assert_uint_eq(pg_tuple_wal_size(im.len - 23), im.len);
  ck_assert(pg_tuple_from_wal(out, 2, 1, 24, im.bytes + 23, im.len - 23, &err));
  ck_assert(memcmp(out, im.bytes, im.len) == 0);
  pg_tuple t;
  ck_assert(pg_tuple_open(&t, out, im.len, &err));
  ck_assert(pg_tuple_deform(got, &t, attrs, 2, &err));
  ck_assert_int_eq(pg_value_int(&got[0]), -1);
  ck_assert(got[1].len == 2 && memcmp(got[1].data, "ab", 2) == 0);

  ck_assert(!pg_tuple_from_wal(out, 2, 1, 32, im.bytes + 23, 5, &err)); /* hoff behind the end */
  ck_assert(!pg_tuple_from_wal(out, 9, 1, 24, im.bytes + 23, 9, &err)); /* bitmap larger than hoff allows */
  ck_assert(!pg_tuple_from_wal(out, 2, 0, 20, im.bytes + 23, 9, &err));
  ck_assert(!pg_tuple_from_wal(out, 2, 0, 25, im.bytes + 23, 9, &err));
  ck_assert(!pg_tuple_from_wal(out, 0x07FF, 0, 24, im.bytes + 23, 9, &err));
}
END_TEST

START_TEST(integers_are_sign_extended)
{
  pg_value v = {.kind = PG_VALUE_PLAIN, .data = (const uint8_t *)"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"};
  const uint32_t lens[] = {1, 2, 4, 8};
  for (size_t i = 0; i < 4; i++) {
    v.len = lens[i];
    ck_assert_int_eq(pg_value_int(&v), -2);
  }
  v.len = 3;
  ck_assert_int_eq(pg_value_int(&v), 0);
  v = (pg_value){.kind = PG_VALUE_NULL};
  ck_assert_int_eq(pg_value_int(&v), 0);
}
END_TEST

/* Each damage by hand, with the reason it must be given. */
START_TEST(damaged_values_are_named)
{
  static const struct {
    const char *bytes;
    size_t len;
    pg_attr attr;
    const char *message;
  } cases[] = {
    {"\1\22\0\0\0\0", 6, {.len = -1, .align = 'i'}, "18 bytes at offset 0 are needed, the data ends at 6"},
    {"\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18, {.len = -1, .align = 'i'}, "unknown tag 1"},
    {"\1\22\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18, {.len = -1, .align = 'i'}, "says that it has 3 bytes"},
    {"\1\22\11\0\0\0\6\0\0\0\0\0\0\0\0\0\0\0", 18, {.len = -1, .align = 'i'}, "says that 6 are stored"},
    {"\1\22\11\0\0\0\2\0\0\x80\0\0\0\0\0\0\0\0", 18, {.len = -1, .align = 'i'}, "compression method 2"},
    {"\13abc", 4, {.len = -1, .align = 'i'}, "5 bytes at offset 0 are needed, the data ends at 4"},
    {"\20\0\0", 3, {.len = -1, .align = 'i'}, "4 bytes at offset 0"},
    {"\14\0\0\0", 4, {.len = -1, .align = 'i'}, "says 3 bytes"},
    {"\34\0\0\0a", 5, {.len = -1, .align = 'i'}, "7 bytes at offset 0"},
    {"\36\0\0\0\0\0\0\0", 8, {.len = -1, .align = 'i'}, "says 7 bytes"},
    {"\46\0\0\0\0\0\0\xC0z", 9, {.len = -1, .align = 'i'}, "compression method 3"},
    {"\46\0\0\0\0\1\0\0z", 9, {.len = -1, .align = 'i'}, "1 compressed bytes claim to be 256 bytes"},
    {"\46\0\0\0\0\2\0\x40z", 9, {.len = -1, .align = 'i'}, "1 compressed bytes claim to be 512 bytes"},
    {"", 0, {.len = -1, .align = 'i'}, "1 bytes at offset 0"},
    {"\0\0\0", 3, {.len = 4, .align = 'i'}, "4 bytes at offset 0"},
    {"abc", 3, {.len = -2, .align = 'c'}, "does not end"},
    {"", 0, {.len = -2, .align = 'c'}, "1 bytes at offset 0"},
    {"abc", 3, {.len = 0, .align = 'c'}, "length 0"},
    {"abc", 3, {.len = -3, .align = 'c'}, "length -3"},
    {"abc", 3, {.len = 1, .align = 'x'}, "alignment of the type is 'x'"},
    {"abc", 3, {.len = -1, .align = 0}, "alignment of the type is '?'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    host_error err = {{0}};
    pg_value v;
    size_t next;
    uint8_t *bytes = exact(cases[i].bytes, cases[i].len);
    ck_assert_msg(!pg_value_read(&v, &next, bytes, 0, cases[i].len, &cases[i].attr, &err), "case %zu", i);
    ck_assert_msg(strstr(err.text, cases[i].message) != NULL, "case %zu: %s", i, err.text);
    free(bytes);
  }
  /* Unaligned four-byte header; padding up to the end. */
  host_error err = {{0}};
  pg_value v;
  size_t next;
  const pg_attr text = {.len = -1, .align = 'i'};
  ck_assert(!pg_value_read(&v, &next, (const uint8_t *)"a\24\0\0\0b\0\0", 1, 8, &text, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "unaligned at offset 1"));
  ck_assert(!pg_value_read(&v, &next, (const uint8_t *)"a\0\0\0", 1, 4, &text, &err));
  ck_assert(!pg_value_read(&v, &next, (const uint8_t *)"a\0\0\0", 9, 4, &text, &err));
  ck_assert(!pg_value_read(&v, &next, (const uint8_t *)"a\0\0\0", 3, 4, &(pg_attr){.len = 4, .align = 'd'}, &err));
}
END_TEST

/* Truncations and random damage: the answer may be anything, reads stay inside (the sanitizers watch). */
START_TEST(damage_never_reads_beyond_the_end)
{
  rng r = {test_seed(2)};
  image im;
  pg_attr attrs[COLS];
  cell cells[COLS];
  pg_value got[COLS];
  host_error err;
  size_t refused = 0, accepted = 0;
  for (int round = 0; round < 4000; round++) {
    size_t n = random_row(&r, &im, attrs, cells);
    size_t len = rng_chance(&r, 50) ? rng_below(&r, im.len + 1) : im.len;
    for (uint64_t flips = rng_below(&r, 6); flips > 0 && len > 0; flips--)
      im.bytes[rng_below(&r, len)] = (uint8_t)rng_next(&r);
    uint8_t *bytes = exact(im.bytes, len);
    pg_tuple t;
    if (pg_tuple_open(&t, bytes, len, &err) && pg_tuple_deform(got, &t, attrs, n, &err)) {
      accepted++;
      for (size_t i = 0; i < n; i++) {
        if (got[i].kind == PG_VALUE_NULL || got[i].kind == PG_VALUE_EXTERNAL)
          continue;
        ck_assert(got[i].data >= bytes && got[i].data + got[i].len <= bytes + len);
        uint8_t *out = malloc(got[i].raw_len + 1u);
        ck_assert_ptr_nonnull(out);
        (void)pg_value_expand(out, &got[i], &err);
        free(out);
      }
    } else {
      refused++;
    }
    free(bytes);
  }
  ck_assert_uint_gt(refused, 100);
  ck_assert_uint_gt(accepted, 100);
}
END_TEST

START_TEST(toasted_values)
{
  host_error err = {{0}};
  pg_value v = {.kind = PG_VALUE_EXTERNAL, .raw_len = 6, .toast_len = 6, .toast_id = 9, .toast_rel = 8};
  pg_value out;
  ck_assert(pg_value_from_toast(&out, &v, "abcdef", 6, &err));
  ck_assert(out.kind == PG_VALUE_PLAIN && out.len == 6 && memcmp(out.data, "abcdef", 6) == 0);
  ck_assert(!pg_value_from_toast(&out, &v, "abcde", 5, &err));
  ck_assert_str_eq(err.text, "external value 9 of relation 8 has 5 bytes stored, its pointer says 6");
  ck_assert(!pg_value_from_toast(&out, &out, "abcde", 5, &err));

  /* pglz: "ab", then eight more bytes from two back; stored are the u32 of size and method and five bytes. */
  v.toast_compressed = 1;
  v.raw_len = 10;
  v.toast_len = 9;
  ck_assert(pg_value_from_toast(&out, &v, "\12\0\0\0\4ab\5\2", 9, &err));
  ck_assert(out.kind == PG_VALUE_COMPRESSED && out.raw_len == 10);
  uint8_t raw[10];
  ck_assert(pg_value_expand(raw, &out, &err));
  ck_assert(memcmp(raw, "ababababab", 10) == 0);
  ck_assert(!pg_value_from_toast(&out, &v, "\13\0\0\0\4ab\5\2", 9, &err));
  ck_assert(!pg_value_from_toast(&out, &v, "\12\0\0\x40\4ab\5\2", 9, &err));
  v.toast_len = 3;
  ck_assert(!pg_value_from_toast(&out, &v, "\12\0\0", 3, &err));
}
END_TEST

/* Greedy compressors, only good enough to make data. */
static size_t match_at(const uint8_t *in, size_t at, size_t len, size_t window, size_t max, size_t *offset)
{
  size_t best = 0;
  for (size_t back = 1; back <= at && back <= window; back++) {
    size_t n = 0;
    while (n < max && at + n < len && in[at + n] == in[at + n - back])
      n++;
    if (n > best) {
      best = n;
      *offset = back;
    }
  }
  return best;
}

static size_t make_pglz(uint8_t *out, const uint8_t *in, size_t len)
{
  size_t to = 0, control = 0;
  int item = 8;
  for (size_t at = 0; at < len;) {
    if (item == 8) {
      control = to++;
      out[control] = 0;
      item = 0;
    }
    size_t offset = 0, n = match_at(in, at, len, 4095, 273, &offset);
    if (n < 3) {
      out[to++] = in[at++];
    } else {
      out[control] |= (uint8_t)(1u << item);
      out[to++] = (uint8_t)((n < 18 ? n - 3 : 15) | (offset >> 4 & 0xF0));
      out[to++] = (uint8_t)offset;
      if (n >= 18)
        out[to++] = (uint8_t)(n - 18);
      at += n;
    }
    item++;
  }
  return to;
}

static size_t lz4_more(uint8_t *out, size_t to, size_t n)
{
  if (n < 15)
    return to;
  for (n -= 15; n >= 255; n -= 255)
    out[to++] = 255;
  out[to++] = (uint8_t)n;
  return to;
}

static size_t make_lz4(uint8_t *out, const uint8_t *in, size_t len)
{
  size_t to = 0, at = 0, from = 0;
  while (at < len) {
    size_t offset = 0, n = at + 12 < len ? match_at(in, at, len - 5, 65535, len, &offset) : 0;
    if (n < 4) {
      at++;
      continue;
    }
    size_t literals = at - from, extra = n - 4;
    out[to++] = (uint8_t)((literals < 15 ? literals : 15) << 4 | (extra < 15 ? extra : 15));
    to = lz4_more(out, to, literals);
    memcpy(out + to, in + from, literals);
    to += literals;
    out[to++] = (uint8_t)offset;
    out[to++] = (uint8_t)(offset >> 8);
    to = lz4_more(out, to, extra);
    at += n;
    from = at;
  }
  size_t literals = len - from;
  out[to++] = (uint8_t)((literals < 15 ? literals : 15) << 4);
  to = lz4_more(out, to, literals);
  memcpy(out + to, in + from, literals);
  return to + literals;
}

START_TEST(compressed_data_comes_back)
{
  rng r = {test_seed(3)};
  static uint8_t in[1500], packed[4000];
  for (int round = 0; round < 300; round++) {
    size_t len = rng_below(&r, sizeof in);
    uint64_t letters = 1 + rng_below(&r, 20);
    for (size_t i = 0; i < len; i++)
      in[i] = rng_chance(&r, 30) && i > 300 ? in[i - 300] : (uint8_t)rng_below(&r, letters);
    int lz4 = _i;
    size_t n = lz4 ? make_lz4(packed, in, len) : make_pglz(packed, in, len);
    bool (*unpack)(uint8_t *, size_t, const uint8_t *, size_t) = lz4 ? pg_lz4_decompress : pg_pglz_decompress;
    ck_assert(lz4 ? pg_lz4_plausible(len, n) : pg_pglz_plausible(len, n));
    uint8_t *src = exact(packed, n);
    uint8_t *out = malloc(len + 1);
    ck_assert_ptr_nonnull(out);
    ck_assert(unpack(out, len, src, n));
    ck_assert(memcmp(out, in, len) == 0);
    /* Wrong lengths on either side are noticed. */
    if (len > 0) {
      ck_assert(!unpack(out, len - 1, src, n));
      ck_assert(!unpack(out, len, src, n - 1));
    }
    free(out);
    out = malloc(len + 2);
    ck_assert(!unpack(out, len + 1, src, n));
    free(out);
    free(src);
  }
}
END_TEST

START_TEST(damaged_compressed_data)
{
  rng r = {test_seed(4)};
  uint8_t raw[600];
  for (int round = 0; round < 20000; round++) {
    size_t n = rng_below(&r, 60), len = rng_below(&r, sizeof raw);
    uint8_t *src = malloc(n + 1);
    uint8_t *out = malloc(len + 1);
    ck_assert(src != NULL && out != NULL);
    src = realloc(src, n + (n == 0));
    for (size_t i = 0; i < n; i++)
      src[i] = (uint8_t)(rng_chance(&r, 50) ? rng_below(&r, 8) : rng_next(&r));
    (void)pg_pglz_decompress(out, len, src, n);
    (void)pg_lz4_decompress(out, len, src, n);
    free(src);
    free(out);
  }
  /* A copy from before the beginning, a copy of distance 0, a copy that is too long. */
  ck_assert(!pg_pglz_decompress(raw, 4, (const uint8_t *)"\2a\0\2", 4));
  ck_assert(!pg_pglz_decompress(raw, 4, (const uint8_t *)"\2a\0\0", 4));
  ck_assert(!pg_pglz_decompress(raw, 4, (const uint8_t *)"\2a\1\1", 4));
  ck_assert(pg_pglz_decompress(raw, 4, (const uint8_t *)"\2a\0\1", 4));
  ck_assert(memcmp(raw, "aaaa", 4) == 0);
  ck_assert(!pg_lz4_decompress(raw, 5, (const uint8_t *)"\x10" "a\2\0", 4));
  ck_assert(!pg_lz4_decompress(raw, 0, (const uint8_t *)"", 0));
  ck_assert(pg_lz4_decompress(raw, 0, (const uint8_t *)"", 1));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_tuple");
  TCase *tc = tcase_create("rows");
  tcase_add_test(tc, rows_come_back);
  tcase_add_test(tc, columns_added_later_take_the_missing_value);
  tcase_add_test(tc, rebuilt_from_wal);
  tcase_add_test(tc, integers_are_sign_extended);
  tcase_add_test(tc, damaged_values_are_named);
  tcase_add_test(tc, damage_never_reads_beyond_the_end);
  tcase_add_test(tc, toasted_values);
  tcase_add_loop_test(tc, compressed_data_comes_back, 0, 2);
  tcase_add_test(tc, damaged_compressed_data);
  tcase_set_timeout(tc, 60);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
