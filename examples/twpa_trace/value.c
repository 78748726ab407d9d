/* Values: numbers, positions, lists, bytes, rows. */
#include "syntax.h"

#include <inttypes.h>
#include <string.h>

static int digit_of(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Digits of a base up to `end`; false if there are none, others, or too many for 64 bits. */
static bool digits(const char *p, const char *end, unsigned base, uint64_t *n)
{
  uint64_t v = 0;
  if (p == end)
    return false;
  for (; p < end; p++) {
    unsigned d = (unsigned)digit_of(*p);
    if (d >= base || v > (UINT64_MAX - d) / base)
      return false;
    v = v * base + d;
  }
  *n = v;
  return true;
}

static bool plain_number(const char *value, uint64_t *n)
{
  bool hex = value[0] == '0' && value[1] == 'x';
  return digits(value + (hex ? 2 : 0), value + strlen(value), hex ? 16 : 10, n);
}

bool trace_number(const char *value, uint64_t *n, uint64_t min, uint64_t max, trace_place at, host_error *err)
{
  uint64_t v;
  if (!plain_number(value, &v))
    return trace_fail(err, at, "expected a number, not '%.40s'", value);
  if (v < min || v > max)
    return trace_fail(err, at, "%" PRIu64 " is not between %" PRIu64 " and %" PRIu64, v, min, max);
  *n = v;
  return true;
}

bool trace_position(const char *value, twpa_lsn *lsn, trace_place at, host_error *err)
{
  const char *slash = strchr(value, '/');
  uint64_t high, low;
  if (slash == NULL)
    return trace_number(value, lsn, 0, UINT64_MAX, at, err);
  if (!digits(value, slash, 16, &high) || !digits(slash + 1, slash + strlen(slash), 16, &low) || high > UINT32_MAX ||
      low > UINT32_MAX)
    return trace_fail(err, at, "expected a position, not '%.40s'", value);
  *lsn = high << 32 | low;
  return true;
}

/* Moves the place by the bytes between two pointers. */
static trace_place moved(trace_place at, const char *from, const char *to)
{
  at.column += (unsigned)(to - from);
  return at;
}

/* An escape behind its backslash. */
static bool escape(const char **p, trace_text *out, trace_place at, host_error *err)
{
  char c = *(*p)++;
  switch (c) {
  case 'n':
    c = '\n';
    break;
  case 't':
    c = '\t';
    break;
  case '"':
  case '\\':
    break;
  case 'x': {
    int high = digit_of(**p), low = high < 16 ? digit_of((*p)[1]) : 99;
    if (high > 15 || low > 15)
      return trace_fail(err, at, "expected two hexadecimal digits after \\x");
    c = (char)(high << 4 | low);
    *p += 2;
    break;
  }
  default:
    return trace_fail(err, at, "unknown escape; there are \\\" \\\\ \\n \\t \\xHH");
  }
  text_bytes(out, &c, 1);
  return true;
}

/* The count behind a star, and what was added since `start` repeated that often. */
static bool repeat_piece(const char **p, trace_text *out, size_t start, trace_place at, host_error *err)
{
  const char *end = ++*p;
  while (*end >= '0' && *end <= '9')
    end++;
  uint64_t n;
  size_t len = out->len - start;
  if (!digits(*p, end, 10, &n))
    return trace_fail(err, at, "expected a number after '*'");
  *p = end;
  if (len > 0 && n > (TRACE_VALUE_MAX - start) / len)
    return trace_fail(err, at, "more than %zu bytes", TRACE_VALUE_MAX);
  if (n == 0) {
    out->len = start;
    return true;
  }
  trace_text piece = {0};
  text_bytes(&piece, out->data + start, len);
  for (uint64_t i = 1; i < n && len > 0; i++)
    text_bytes(out, piece.data, len);
  text_free(&piece);
  return true;
}

/* A quoted string at *p, its escapes carried out, and its repetition. */
static bool quoted(const char **p, trace_text *out, trace_place at, host_error *err)
{
  const char *begin = (*p)++;
  size_t start = out->len;
  while (**p != '"') {
    if (**p == 0)
      return trace_fail(err, at, "a string without its end");
    if (**p == '\\') {
      const char *here = (*p)++;
      if (!escape(p, out, moved(at, begin, here), err))
        return false;
    } else
      text_bytes(out, (*p)++, 1);
  }
  ++*p;
  return **p != '*' || repeat_piece(p, out, start, moved(at, begin, *p), err);
}

bool trace_bytes(const char *value, trace_text *bytes, trace_place at, host_error *err)
{
  text_bytes(bytes, "", 0);
  for (const char *p = value; *p != 0;) {
    if (*p != '"')
      text_bytes(bytes, p++, 1);
    else if (!quoted(&p, bytes, moved(at, value, p), err))
      return false;
    if (bytes->len > TRACE_VALUE_MAX)
      return trace_fail(err, at, "more than %zu bytes", TRACE_VALUE_MAX);
  }
  return true;
}

/* A quoted string inside a row: it stays quoted, so that it is told from null and the other words. */
static bool row_string(const char **p, trace_text *row, trace_place at, host_error *err)
{
  trace_text plain = {0};
  bool ok = quoted(p, &plain, at, err);
  text_bytes(row, "\"", 1);
  for (size_t i = 0; ok && i < plain.len; i++) {
    unsigned char c = (unsigned char)plain.data[i];
    if (c == '"' || c == '\\')
      text_add(row, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      text_add(row, "\\x%02x", c);
    else
      text_bytes(row, &c, 1);
  }
  text_bytes(row, "\"", 1);
  text_free(&plain);
  return ok;
}

bool trace_row(const char *value, trace_text *bytes, trace_place at, host_error *err)
{
  if (value[0] != '(')
    return trace_bytes(value, bytes, at, err);
  unsigned depth = 0;
  for (const char *p = value; *p != 0;) {
    depth += *p == '(';
    depth -= *p == ')';
    if (depth == 0 && p[1] != 0)
      return trace_fail(err, moved(at, value, p + 1), "nothing may follow the parenthesis that ends the row");
    if (*p == '"') {
      if (!row_string(&p, bytes, moved(at, value, p), err))
        return false;
    } else if (*p++ != ' ')
      text_bytes(bytes, p - 1, 1);
    if (bytes->len > TRACE_VALUE_MAX)
      return trace_fail(err, at, "more than %zu bytes", TRACE_VALUE_MAX);
  }
  return true;
}

bool trace_list_next(const char **next, trace_text *item)
{
  const char *p = *next;
  if (p == NULL)
    return false;
  item->len = 0;
  text_bytes(item, "", 0);
  unsigned depth = 0;
  bool in_quotes = false;
  for (; *p != 0 && (*p != ',' || depth > 0 || in_quotes); p++) {
    if (*p == '"')
      in_quotes = !in_quotes;
    else if (*p == '\\' && in_quotes && p[1] != 0)
      text_bytes(item, p++, 1);
    else if (!in_quotes && *p == '(')
      depth++;
    else if (!in_quotes && *p == ')' && depth > 0)
      depth--;
    text_bytes(item, p, 1);
  }
  *next = *p == ',' ? p + 1 : NULL;
  return true;
}
