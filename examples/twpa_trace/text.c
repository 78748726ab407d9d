/* Texts, and bytes shown as text. */
#include "text.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_SHOWN 20
#define LENGTH_SHOWN 200

static char *make_room(trace_text *t, size_t len)
{
  if (t->cap - t->len <= len) {
    t->cap = t->len + len + 1 + t->cap / 2 + 64;
    t->data = host_resize(t->data, t->cap, 1);
  }
  return t->data + t->len;
}

void text_bytes(trace_text *t, const void *data, size_t len)
{
  char *to = make_room(t, len);
  if (len > 0)
    memcpy(to, data, len);
  t->len += len;
  t->data[t->len] = 0;
}

void text_addv(trace_text *t, const char *format, va_list args)
{
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n > 0) {
    vsnprintf(make_room(t, (size_t)n), (size_t)n + 1, format, again);
    t->len += (size_t)n;
  }
  va_end(again);
}

void text_add(trace_text *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  text_addv(t, format, args);
  va_end(args);
}

void text_free(trace_text *t)
{
  free(t->data);
  *t = (trace_text){0};
}

const char *text_get(const trace_text *t)
{
  return t->data != NULL ? t->data : "";
}

static bool is_plain(unsigned char c)
{
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("_.:+-/", c) != NULL;
}

bool text_is_plain(const char *data, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (data[i] == 0 || !is_plain((unsigned char)data[i]))
      return false;
  return len > 0;
}

static uint32_t checksum(const unsigned char *data, size_t len)
{
  uint32_t sum = UINT32_C(2166136261);
  for (size_t i = 0; i < len; i++)
    sum = (sum ^ data[i]) * UINT32_C(16777619);
  return sum;
}

static void show_byte(trace_text *t, unsigned char c, bool quoted)
{
  if (quoted && (c == '"' || c == '\\'))
    text_add(t, "\\%c", c);
  else if (c < 0x20 || c == 0x7f)
    text_add(t, "\\x%02x", c);
  else
    text_bytes(t, &c, 1);
}

/* Bytes with runs made short, cut where they are too long. */
static void show(trace_text *t, const unsigned char *data, size_t len, bool quoted)
{
  size_t start = t->len, i = 0;
  while (i < len && t->len - start < LENGTH_SHOWN) {
    size_t run = 1;
    while (i + run < len && data[i + run] == data[i])
      run++;
    show_byte(t, data[i], quoted);
    if (run >= RUN_SHOWN)
      text_add(t, "{%zu}", run);
    i += run >= RUN_SHOWN ? run : 1;
  }
  if (i < len)
    text_add(t, "...(%zu bytes, sum %08" PRIx32 ")", len, checksum(data, len));
}

void text_show(trace_text *t, const void *data, size_t len)
{
  bool quoted = !text_is_plain(data, len);
  if (quoted)
    text_bytes(t, "\"", 1);
  show(t, data, len, quoted);
  if (quoted)
    text_bytes(t, "\"", 1);
}

void text_show_row(trace_text *t, const void *data, size_t len)
{
  const char *p = data;
  if (len >= 2 && p[0] == '(' && p[len - 1] == ')')
    show(t, data, len, false);
  else
    text_show(t, data, len);
}
