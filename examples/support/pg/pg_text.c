/* Values as text: which type is printed how, arrays, the growing buffer. */
#include "support/pg/pg_text_internal.h"

#include "support/pg/pg_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the buffer ------------------------------------------------------------------------------------------------ */

static bool reserve(pg_buf *b, size_t more)
{
  if (b->failed)
    return false;
  if (b->cap - b->len > more) /* the NUL as well */
    return true;
  size_t cap = b->cap == 0 ? 256 : b->cap;
  while (cap - b->len <= more && cap <= SIZE_MAX / 4)
    cap *= 2;
  char *fresh = cap - b->len > more ? realloc(b->data, cap) : NULL;
  b->failed = fresh == NULL;
  if (b->failed)
    return false;
  b->data = fresh;
  b->cap = cap;
  return true;
}

void pg_buf_add(pg_buf *b, const void *bytes, size_t len)
{
  if (!reserve(b, len))
    return;
  if (len > 0)
    memcpy(b->data + b->len, bytes, len);
  b->len += len;
  b->data[b->len] = 0;
}

void pg_buf_text(pg_buf *b, const char *text)
{
  pg_buf_add(b, text, strlen(text));
}

void pg_buf_char(pg_buf *b, char c)
{
  pg_buf_add(b, &c, 1);
}

void pg_buf_format(pg_buf *b, const char *format, ...)
{
  char text[256];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  pg_buf_add(b, text, n > 0 && (size_t)n < sizeof text ? (size_t)n : strlen(text));
}

void pg_buf_free(pg_buf *b)
{
  free(b->data);
  *b = (pg_buf){0};
}

/* --- types of fixed meaning ------------------------------------------------------------------------------------- */

typedef bool (*print_value)(pg_buf *out, const uint8_t *p, size_t len);

static bool print_bool(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_buf_char(out, p[0] != 0 ? 't' : 'f');
  return true;
}

static bool print_signed(pg_buf *out, const uint8_t *p, size_t len)
{
  long long n = len == 2 ? (int16_t)pg_u16(p) : len == 4 ? (int32_t)pg_u32(p) : (int64_t)pg_u64(p);
  pg_buf_format(out, "%lld", n);
  return true;
}

static bool print_unsigned(pg_buf *out, const uint8_t *p, size_t len)
{
  pg_buf_format(out, "%llu", len == 4 ? (unsigned long long)pg_u32(p) : (unsigned long long)pg_u64(p));
  return true;
}

static bool print_text(pg_buf *out, const uint8_t *p, size_t len)
{
  pg_buf_add(out, p, len);
  return true;
}

static bool print_name(pg_buf *out, const uint8_t *p, size_t len)
{
  pg_buf_add(out, p, strnlen((const char *)p, len));
  return true;
}

static void add_hex(pg_buf *out, const uint8_t *p, size_t len)
{
  static const char digits[] = "0123456789abcdef";
  pg_buf_text(out, "\\x");
  for (size_t i = 0; i < len && !out->failed; i++) {
    pg_buf_char(out, digits[p[i] >> 4]);
    pg_buf_char(out, digits[p[i] & 15]);
  }
}

static bool print_bytea(pg_buf *out, const uint8_t *p, size_t len)
{
  add_hex(out, p, len);
  return true;
}

static bool print_uuid(pg_buf *out, const uint8_t *p, size_t len)
{
  for (size_t i = 0; i < len; i++)
    pg_buf_format(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", p[i]);
  return true;
}

static bool print_float4(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  uint32_t bits = pg_u32(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  pg_text_float4(out, value);
  return true;
}

static bool print_float8(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  uint64_t bits = pg_u64(p);
  double value;
  memcpy(&value, &bits, sizeof value);
  pg_text_float8(out, value);
  return true;
}

static bool print_bits(pg_buf *out, const uint8_t *p, size_t len)
{
  if (len < 4)
    return false;
  uint32_t bits = pg_u32(p);
  if (bits > 8 * (uint64_t)(len - 4))
    return false;
  for (uint32_t i = 0; i < bits && !out->failed; i++)
    pg_buf_char(out, (p[4 + i / 8] >> (7 - i % 8) & 1) != 0 ? '1' : '0');
  return true;
}

static bool print_tid(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_buf_format(out, "(%u,%u)", (unsigned)pg_u16(p) << 16 | pg_u16(p + 2), (unsigned)pg_u16(p + 4));
  return true;
}

static bool print_lsn(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_buf_format(out, "%X/%X", (unsigned)pg_u32(p + 4), (unsigned)pg_u32(p));
  return true;
}

static bool print_date(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_text_date(out, (int32_t)pg_u32(p));
  return true;
}

static bool print_time(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_text_time(out, (int64_t)pg_u64(p));
  return true;
}

static bool print_timetz(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_text_timetz(out, (int64_t)pg_u64(p), (int32_t)pg_u32(p + 8));
  return true;
}

static bool print_timestamp(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_text_timestamp(out, (int64_t)pg_u64(p), "");
  return true;
}

static bool print_timestamptz(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_text_timestamp(out, (int64_t)pg_u64(p), "+00");
  return true;
}

static bool print_interval(pg_buf *out, const uint8_t *p, size_t len)
{
  (void)len;
  pg_text_interval(out, (int64_t)pg_u64(p), (int32_t)pg_u32(p + 8), (int32_t)pg_u32(p + 12));
  return true;
}

static bool print_jsonb(pg_buf *out, const uint8_t *p, size_t len)
{
  return pg_text_jsonb(out, p, len);
}

static const struct {
  uint32_t oid;
  int len; /* bytes that a value must have; -1 any number */
  print_value print;
} known[] = {
  {16, 1, print_bool},         {17, -1, print_bytea},         {18, 1, print_name},        {19, 64, print_name},
  {20, 8, print_signed},       {21, 2, print_signed},         {23, 4, print_signed},      {25, -1, print_text},
  {26, 4, print_unsigned},     {27, 6, print_tid},            {28, 4, print_unsigned},    {29, 4, print_unsigned},
  {114, -1, print_text},       {142, -1, print_text},         {700, 4, print_float4},     {701, 8, print_float8},
  {1042, -1, print_text},      {1043, -1, print_text},        {1082, 4, print_date},      {1083, 8, print_time},
  {1114, 8, print_timestamp},  {1184, 8, print_timestamptz},  {1186, 16, print_interval}, {1266, 12, print_timetz},
  {1560, -1, print_bits},      {1562, -1, print_bits},        {1700, -1, pg_text_numeric}, {2950, 16, print_uuid},
  {3220, 8, print_lsn},        {3802, -1, print_jsonb},       {5069, 8, print_unsigned},
};

#define KNOWN (sizeof known / sizeof *known)

static size_t find_known(uint32_t type)
{
  size_t i = 0;
  while (i < KNOWN && known[i].oid != type)
    i++;
  return i;
}

/* --- enums, arrays ---------------------------------------------------------------------------------------------- */

static const pg_type *lookup(const pg_catalog *cat, uint32_t type)
{
  const pg_type *t = cat != NULL ? pg_catalog_type(cat, type) : NULL;
  return t != NULL && t->kind == 'd' ? pg_catalog_type(cat, t->base) : t;
}

/* No array is an element of an array, so this asks itself once at most. */
bool pg_text_knows(const pg_catalog *cat, uint32_t type)
{
  const pg_type *t = lookup(cat, type);
  if (find_known(t != NULL ? t->oid : type) < KNOWN)
    return true;
  if (t == NULL)
    return false;
  if (t->kind == 'e')
    return true;
  if (!t->true_array || t->kind != 'b')
    return false;
  const pg_type *element = lookup(cat, t->element);
  return element != NULL && (find_known(element->oid) < KNOWN || element->kind == 'e');
}

static bool print_plain(pg_buf *out, const pg_catalog *cat, uint32_t type, const uint8_t *p, size_t len,
                        host_error *err);

/* An element stands in quotes if it could be misread. */
static void add_element(pg_buf *out, const char *text, size_t len)
{
  bool quote = len == 0 || (len == 4 && (text[0] | 0x20) == 'n' && (text[1] | 0x20) == 'u' &&
                            (text[2] | 0x20) == 'l' && (text[3] | 0x20) == 'l');
  for (size_t i = 0; i < len && !quote; i++)
    quote = memchr("{}\",\\ \t\n\r\v\f", text[i], 11) != NULL;
  if (!quote) {
    pg_buf_add(out, text, len);
    return;
  }
  pg_buf_char(out, '"');
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '"' || text[i] == '\\')
      pg_buf_char(out, '\\');
    pg_buf_char(out, text[i]);
  }
  pg_buf_char(out, '"');
}

enum {
  DIMENSIONS_MAX = 6
};

typedef struct array {
  uint32_t dimensions, total;
  uint32_t counts[DIMENSIONS_MAX];
  const uint8_t *nulls; /* NULL: there are none */
  const uint8_t *data;
  size_t len;
} array;

/* dimensions, offset of the data if there are NULLs (the length word counts), element type, counts, lower bounds. */
static bool open_array(array *a, pg_buf *out, const uint8_t *p, size_t len, uint32_t *element)
{
  if (len < 12)
    return false;
  *a = (array){.dimensions = pg_u32(p), .total = 1};
  uint32_t offset = pg_u32(p + 4);
  *element = pg_u32(p + 8);
  size_t header = 12 + 8 * (size_t)a->dimensions;
  if (a->dimensions > DIMENSIONS_MAX || header > len)
    return false;
  bool bounds = false;
  for (uint32_t i = 0; i < a->dimensions; i++) {
    a->counts[i] = pg_u32(p + 12 + 4 * i);
    if (a->counts[i] == 0 || a->counts[i] > 0x0FFFFFFF / a->total)
      return false;
    a->total *= a->counts[i];
    bounds = bounds || pg_u32(p + 12 + 4 * (a->dimensions + i)) != 1;
  }
  a->total = a->dimensions == 0 ? 0 : a->total;
  size_t start = (header + 4 + 7) / 8 * 8 - 4; /* aligned to 8 with the length word */
  if (offset != 0) {
    a->nulls = p + header;
    start = offset - 4u;
    if (offset < 4 || start < header + (a->total + 7) / 8)
      return false;
  }
  if (start > len)
    return a->total == 0 && offset == 0;
  a->data = p + start;
  a->len = len - start;
  for (uint32_t i = 0; i < a->dimensions && bounds; i++) {
    int32_t lower = (int32_t)pg_u32(p + 12 + 4 * (a->dimensions + i));
    pg_buf_format(out, "[%d:%lld]%s", (int)lower, (long long)lower + a->counts[i] - 1, i + 1 == a->dimensions ? "=" : "");
  }
  return true;
}

/* Braces that open before, or close behind, element i: one for each dimension that begins, or ends, there. */
static void add_braces(pg_buf *out, const array *a, uint32_t i, char brace)
{
  uint32_t size = 1;
  for (uint32_t d = a->dimensions; d > 0; d--) {
    size *= a->counts[d - 1];
    if ((brace == '{' ? i : i + 1) % size == 0)
      pg_buf_char(out, brace);
  }
}

static bool print_array(pg_buf *out, const pg_catalog *cat, const pg_type *type, const uint8_t *p, size_t len,
                        host_error *err)
{
  array a;
  uint32_t element;
  if (!open_array(&a, out, p, len, &element) || lookup(cat, element) != lookup(cat, type->element))
    return host_fail(err, "an array of type %u is damaged", type->oid);
  const pg_type *t = lookup(cat, type->element);
  const pg_attr attr = {.len = t->len, .align = t->align, .byval = t->byval};
  pg_buf text = {0};
  bool ok = true;
  size_t at = 0;
  if (a.total == 0)
    pg_buf_text(out, "{}");
  for (uint32_t i = 0; i < a.total && ok; i++) {
    if (i > 0)
      pg_buf_char(out, ',');
    add_braces(out, &a, i, '{');
    if (a.nulls != NULL && (a.nulls[i / 8] >> (i % 8) & 1) == 0) {
      pg_buf_text(out, "NULL");
    } else {
      pg_value v;
      text.len = 0;
      ok = pg_value_read(&v, &at, a.data, at, a.len, &attr, err) && pg_text_value(&text, cat, t->oid, &v, err);
      if (ok)
        add_element(out, text.data != NULL ? text.data : "", text.len);
    }
    add_braces(out, &a, i, '}');
  }
  pg_buf_free(&text);
  return ok;
}

static bool print_enum(pg_buf *out, const pg_catalog *cat, const pg_type *type, const uint8_t *p, size_t len,
                       host_error *err)
{
  const char *label = len == 4 ? pg_catalog_enum_label(cat, pg_u32(p)) : NULL;
  if (label == NULL)
    return host_fail(err, "a value of the enum type %u has no label", type->oid);
  pg_buf_text(out, label);
  return true;
}

static bool print_plain(pg_buf *out, const pg_catalog *cat, uint32_t type, const uint8_t *p, size_t len,
                        host_error *err)
{
  const pg_type *t = lookup(cat, type);
  size_t i = find_known(t != NULL ? t->oid : type);
  if (i < KNOWN) {
    bool ok = (known[i].len < 0 || (size_t)known[i].len == len) && known[i].print(out, p, len);
    return ok || host_fail(err, "%zu bytes are no value of type %u", len, type);
  }
  if (t != NULL && pg_text_knows(cat, type))
    return t->kind == 'e' ? print_enum(out, cat, t, p, len, err) : print_array(out, cat, t, p, len, err);
  pg_buf_format(out, "<%u>", type);
  add_hex(out, p, len);
  return true;
}

bool pg_text_value(pg_buf *out, const pg_catalog *cat, uint32_t type, const pg_value *value, host_error *err)
{
  bool ok = true;
  if (value->kind == PG_VALUE_NULL) {
    pg_buf_text(out, "null");
  } else if (value->kind == PG_VALUE_EXTERNAL) {
    pg_buf_text(out, "unchanged-toast-datum");
  } else if (value->kind == PG_VALUE_PLAIN) {
    ok = print_plain(out, cat, type, value->data, value->len, err);
  } else {
    uint8_t *bytes = malloc((size_t)value->raw_len + 1);
    ok = (bytes != NULL || pg_no_memory(err)) && pg_value_expand(bytes, value, err) &&
         print_plain(out, cat, type, bytes, value->raw_len, err);
    free(bytes);
  }
  return ok && (!out->failed || pg_no_memory(err));
}
