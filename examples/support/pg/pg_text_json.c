/*
 * jsonb. A container is a u32 (low 28 bits: number of elements or pairs; 0x10000000 a scalar in an array of one,
 * 0x20000000 object, 0x40000000 array), then one u32 for each element (an object: for each key, then for each value), then
 * their bytes. Such a u32 holds the kind in bits 28-30 (0 string, 1 numeric, 2 false, 3 true, 4 null, 5 container) and in
 * the low 28 bits the length of the element, or, if the highest bit is set, the offset of its end. Numerics and containers
 * are aligned to 4; the padding counts to their length.
 */
#include "support/pg/pg_text_internal.h"

enum {
  DEPTH_MAX = 200
};

#define SCALAR 0x10000000u
#define OBJECT 0x20000000u
#define ARRAY 0x40000000u
#define COUNT 0x0FFFFFFFu

static void add_string(pg_buf *out, const uint8_t *p, size_t len)
{
  pg_buf_char(out, '"');
  for (size_t i = 0; i < len; i++) {
    static const char escapes[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    const char *e = escapes;
    while (*e != 0 && *e != (char)p[i])
      e += 2;
    if (*e != 0 && p[i] != 0)
      pg_buf_format(out, "\\%c", e[1]);
    else if (p[i] < ' ')
      pg_buf_format(out, "\\u%04x", p[i]);
    else
      pg_buf_char(out, (char)p[i]);
  }
  pg_buf_char(out, '"');
}

/* A container that is being printed. */
typedef struct level {
  const uint8_t *entries, *data;
  size_t len;     /* of data */
  size_t at;      /* end of the last element */
  uint32_t count; /* elements; keys and values each count */
  uint32_t next;  /* which of them */
  bool object, scalar;
  size_t value_at; /* an object: end of the last value */
} level;

static bool open_level(level *l, const uint8_t *p, size_t len)
{
  if (len < 4)
    return false;
  uint32_t header = pg_u32(p);
  *l = (level){.object = (header & OBJECT) != 0, .scalar = (header & SCALAR) != 0, .count = header & COUNT};
  if ((header & (OBJECT | ARRAY)) == 0 || (header & (OBJECT | ARRAY)) == (OBJECT | ARRAY) || (l->scalar && l->count != 1))
    return false;
  size_t entries = (size_t)l->count * (l->object ? 2 : 1);
  if (entries > (len - 4) / 4)
    return false;
  l->entries = p + 4;
  l->data = p + 4 + 4 * entries;
  l->len = len - 4 - 4 * entries;
  for (uint32_t i = 0; l->object && i < l->count; i++) { /* values begin behind all keys */
    uint32_t e = pg_u32(l->entries + 4 * i);
    l->value_at = (e & 0x80000000u) != 0 ? e & COUNT : l->value_at + (e & COUNT);
  }
  return true;
}

/* Bytes of an element; *at is the end of the one before, and becomes the end of this one. */
static bool element(const level *l, uint32_t index, size_t *at, const uint8_t **p, size_t *len, uint32_t *kind)
{
  uint32_t e = pg_u32(l->entries + 4 * (size_t)index);
  size_t end = (e & 0x80000000u) != 0 ? e & COUNT : *at + (e & COUNT);
  size_t from = *at;
  *kind = e >> 28 & 7;
  if (*kind == 1 || *kind == 5)
    from = (from + 3) & ~(size_t)3;
  if (end > l->len || from > end)
    return false;
  *p = l->data + from;
  *len = end - from;
  *at = end;
  return true;
}

/* A numeric in jsonb has a length header of its own. */
static bool add_numeric(pg_buf *out, const uint8_t *p, size_t len)
{
  static const pg_attr numeric = {.len = -1, .align = 'i'};
  pg_value v;
  size_t next;
  host_error err;
  return pg_value_read(&v, &next, p, 0, len, &numeric, &err) && v.kind == PG_VALUE_PLAIN &&
         pg_text_numeric(out, v.data, v.len);
}

static bool add_scalar(pg_buf *out, uint32_t kind, const uint8_t *p, size_t len)
{
  switch (kind) {
  case 0:
    add_string(out, p, len);
    return true;
  case 1:
    return add_numeric(out, p, len);
  case 2:
    pg_buf_text(out, "false");
    return true;
  case 3:
    pg_buf_text(out, "true");
    return true;
  case 4:
    pg_buf_text(out, "null");
    return true;
  default:
    return false;
  }
}

bool pg_text_jsonb(pg_buf *out, const uint8_t *p, size_t len)
{
  level levels[DEPTH_MAX];
  int depth = 0;
  if (!open_level(&levels[0], p, len))
    return false;
  while (depth >= 0) {
    level *l = &levels[depth];
    if (l->next == 0 && !l->scalar)
      pg_buf_char(out, l->object ? '{' : '[');
    if (l->next == l->count) {
      if (!l->scalar)
        pg_buf_char(out, l->object ? '}' : ']');
      depth--;
      continue;
    }
    if (l->next > 0)
      pg_buf_text(out, ", ");
    const uint8_t *bytes;
    size_t n;
    uint32_t kind;
    if (l->object) {
      if (!element(l, l->next, &l->at, &bytes, &n, &kind) || kind != 0)
        return false;
      add_string(out, bytes, n);
      pg_buf_text(out, ": ");
      if (!element(l, l->count + l->next, &l->value_at, &bytes, &n, &kind))
        return false;
    } else if (!element(l, l->next, &l->at, &bytes, &n, &kind)) {
      return false;
    }
    l->next++;
    if (kind != 5) {
      if (!add_scalar(out, kind, bytes, n))
        return false;
    } else if (depth + 1 == DEPTH_MAX || !open_level(&levels[++depth], bytes, n)) {
      return false;
    }
  }
  return true;
}
