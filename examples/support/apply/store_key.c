/* The store's keys: exact bytes such that equal values have equal keys, and how a row is shown to people. */
#include "support/apply/store_impl.h"

#include "support/memory.h"

#include <stdio.h>
#include <string.h>

void store_buf_add(store_buf *b, const void *data, size_t len)
{
  if (b->len + len > b->cap) {
    size_t want = b->cap < 64 ? 64 : b->cap * 2;
    while (want < b->len + len)
      want *= 2;
    b->data = host_resize(b->data, want, 1);
    b->cap = want;
  }
  if (len)
    memcpy(b->data + b->len, data, len);
  b->len += len;
}

static void add_part(store_buf *out, unsigned char tag, const void *data, size_t len)
{
  uint32_t len32 = (uint32_t)len;
  store_buf_add(out, &tag, 1);
  store_buf_add(out, &len32, sizeof len32);
  store_buf_add(out, data, len);
}

static int64_t integer_of(const store_value *v)
{
  uint64_t x = 0;
  for (uint32_t i = 0; i < v->len && i < 8; i++)
    x |= (uint64_t)v->data[i] << (8 * i);
  if (v->len < 8 && v->len > 0 && v->data[v->len - 1] & 0x80)
    x |= ~UINT64_C(0) << (8 * v->len);
  return (int64_t)x;
}

static void add_float(store_buf *out, const store_value *v)
{
  double d;
  if (v->len == sizeof(float)) {
    float f;
    memcpy(&f, v->data, sizeof f);
    d = (double)f;
  } else if (v->len == sizeof d) {
    memcpy(&d, v->data, sizeof d);
  } else {
    add_part(out, 'b', v->data, v->len);
    return;
  }
  if (d != d)
    add_part(out, 'n', NULL, 0);
  else {
    d = d == 0.0 ? 0.0 : d;
    add_part(out, 'd', &d, sizeof d);
  }
}

static uint16_t read16(const unsigned char *p)
{
  return (uint16_t)(p[0] | p[1] << 8);
}

/*
 * PostgreSQL's numeric: a header of two or four bytes (sign, display scale, weight), then digits of base 10000. The
 * display scale does not count for equality, nor do zero digits at either end.
 */
static void add_numeric(store_buf *out, const store_value *v)
{
  const unsigned char *p = v->data;
  size_t len = v->len;
  if (len < 2 || len % 2) {
    add_part(out, 'b', p, len);
    return;
  }
  unsigned head = read16(p);
  unsigned sign = head & 0xC000u;
  int weight;
  if (sign == 0xC000u) { /* NaN and the infinities */
    uint16_t special = (uint16_t)(head & 0xF000u);
    add_part(out, 's', &special, sizeof special);
    return;
  }
  if (sign == 0x8000u) { /* short header: sign 0x2000, weight in seven bits */
    sign = head & 0x2000u ? 0x4000u : 0;
    weight = (int)(head & 0x3Fu);
    if (head & 0x40u)
      weight -= 64;
    p += 2;
    len -= 2;
  } else {
    if (len < 4) {
      add_part(out, 'b', p, len);
      return;
    }
    weight = (int16_t)read16(p + 2);
    p += 4;
    len -= 4;
  }
  while (len && !read16(p)) {
    p += 2;
    len -= 2;
    weight--;
  }
  while (len && !read16(p + len - 2))
    len -= 2;
  if (!len) {
    sign = 0;
    weight = 0;
  }
  int32_t sign_weight[2] = {(int32_t)sign, weight};
  store_buf_add(out, "m", 1);
  store_buf_add(out, sign_weight, sizeof sign_weight);
  add_part(out, 'm', p, len);
}

/* Months, days and microseconds are one span of time; it needs more than 64 bits. */
static void add_interval(store_buf *out, const store_value *v)
{
  const int64_t day = INT64_C(86400000000);
  int64_t us;
  int32_t days, months;
  if (v->len != 16) {
    add_part(out, 'b', v->data, v->len);
    return;
  }
  memcpy(&us, v->data, sizeof us);
  memcpy(&days, v->data + 8, sizeof days);
  memcpy(&months, v->data + 12, sizeof months);
  int64_t span[2] = {us / day, us % day};
  if (span[1] < 0) {
    span[0]--;
    span[1] += day;
  }
  span[0] += (int64_t)months * 30 + days;
  add_part(out, 't', span, sizeof span);
}

static void add_canonical(store_buf *out, uint8_t class, const store_value *v)
{
  size_t len = v->len;
  int64_t number;
  switch (class) {
  case STORE_AS_INTEGER:
    number = integer_of(v);
    add_part(out, 'i', &number, sizeof number);
    return;
  case STORE_AS_FLOAT4:
  case STORE_AS_FLOAT8:
    add_float(out, v);
    return;
  case STORE_AS_NUMERIC:
    add_numeric(out, v);
    return;
  case STORE_AS_INTERVAL:
    add_interval(out, v);
    return;
  case STORE_AS_BLANK_PADDED:
    while (len && v->data[len - 1] == ' ')
      len--;
    break;
  default:
    break;
  }
  add_part(out, 'b', v->data, len);
}

int store_key(store_buf *out, const store_table *desc, const uint32_t *columns, uint32_t ncolumns, bool nulls_equal,
              const store_value *values)
{
  out->len = 0;
  int state = KEY_KNOWN;
  for (uint32_t i = 0; i < ncolumns; i++) {
    const store_value *v = &values[columns[i]];
    if (v->state == STORE_NULL) {
      if (!nulls_equal)
        return KEY_NONE;
      add_part(out, '0', NULL, 0);
    } else if (v->state != STORE_BYTES) {
      state = KEY_UNKNOWN;
    } else {
      add_canonical(out, desc->classes[columns[i]], v);
    }
  }
  return state;
}

void store_whole_key(store_buf *out, const store_table *desc, const store_value *values)
{
  out->len = 0;
  for (uint32_t i = 0; i < desc->ncolumns; i++) {
    const store_value *v = &values[i];
    bool bytes = v->state == STORE_BYTES;
    add_part(out, (unsigned char)('0' + v->state), bytes ? v->data : NULL, bytes ? v->len : 0);
  }
}

bool store_same(const store_value *a, const store_value *b)
{
  return a->state == b->state && (a->state != STORE_BYTES || (a->len == b->len && !memcmp(a->data, b->data, a->len)));
}

store_value *store_values_copy(const store_value *values, uint32_t n)
{
  size_t bytes = 0;
  for (uint32_t i = 0; i < n; i++)
    bytes += values[i].state == STORE_BYTES ? values[i].len : 0;
  store_value *copy = host_alloc(1, n * sizeof *copy + bytes + 1);
  unsigned char *at = (unsigned char *)(copy + n);
  for (uint32_t i = 0; i < n; i++) {
    copy[i].state = values[i].state;
    if (values[i].state != STORE_BYTES)
      continue;
    copy[i].len = values[i].len;
    copy[i].data = at;
    if (values[i].len)
      memcpy(at, values[i].data, values[i].len);
    at += values[i].len;
  }
  return copy;
}

static void describe_value(char *out, size_t cap, uint8_t class, const store_value *v)
{
  if (v->state == STORE_NULL) {
    snprintf(out, cap, "null");
    return;
  }
  if (class == STORE_AS_INTEGER) {
    snprintf(out, cap, "%lld", (long long)integer_of(v));
    return;
  }
  bool text = class == STORE_AS_BYTES || class == STORE_AS_BLANK_PADDED;
  for (uint32_t i = 0; text && i < v->len && i < 24; i++)
    text = v->data[i] >= 0x20 && v->data[i] != 0x7F;
  if (text) {
    int shown = v->len > 24 ? 24 : (int)v->len;
    snprintf(out, cap, "'%.*s'%s", shown, (const char *)v->data, v->len > 24 ? "..." : "");
    return;
  }
  size_t at = (size_t)snprintf(out, cap, "0x");
  for (uint32_t i = 0; i < v->len && i < 12 && at + 3 < cap; i++)
    at += (size_t)snprintf(out + at, cap - at, "%02x", v->data[i]);
}

static size_t describe_columns(char *out, size_t cap, size_t at, const store_table *desc, const uint32_t *columns,
                               uint32_t n, const store_value *values)
{
  for (uint32_t i = 0; i < n && i < 4; i++) {
    char text[80];
    uint32_t c = columns ? columns[i] : i;
    if (values[c].state != STORE_BYTES && values[c].state != STORE_NULL)
      continue;
    describe_value(text, sizeof text, desc->classes[c], &values[c]);
    int n_out = snprintf(out + at, cap - at, "%s%s", i ? ", " : "", text);
    at = n_out < 0 || (size_t)n_out >= cap - at ? cap - 1 : at + (size_t)n_out;
  }
  return at;
}

void store_describe(char *out, size_t cap, const store_table *desc, const store_value *values)
{
  size_t at = (size_t)snprintf(out, cap, "%.100s (", desc->name);
  if (at >= cap)
    at = cap - 1;
  if (desc->identity >= 0) {
    const store_index *index = &desc->indexes[desc->identity];
    at = describe_columns(out, cap, at, desc, index->columns, index->ncolumns, values);
  } else {
    at = describe_columns(out, cap, at, desc, NULL, desc->ncolumns, values);
  }
  snprintf(out + at, cap - at, ")");
}
