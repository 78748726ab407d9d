/* Lines and words. */
#include "syntax.h"

#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool trace_fail(host_error *err, trace_place at, const char *format, ...)
{
  char text[600];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return host_fail(err, "%s:%u:%u: %s", at.file, at.line, at.column, text);
}

/* A byte as a message shows it. */
static const char *name_byte(unsigned char c, char buf[8])
{
  if (c > 0x20 && c < 0x7f)
    snprintf(buf, 8, "'%c'", c);
  else
    snprintf(buf, 8, "0x%02x", c);
  return buf;
}

typedef struct scanner {
  const char *file;
  trace_line *line;
  size_t at, end; /* in line->raw */
  host_error *err;
} scanner;

static bool fail_at(const scanner *s, size_t at, const char *what, const char *shown)
{
  return trace_fail(s->err, (trace_place){s->file, s->line->number, (unsigned)at + 1}, "%s%s", what, shown);
}

/* Behind a quoted string that begins at s->at. */
static bool skip_quoted(scanner *s)
{
  size_t start = s->at++;
  while (s->at < s->end) {
    unsigned char c = (unsigned char)s->line->raw[s->at];
    char buf[8];
    if (c < 0x20 || c == 0x7f)
      return fail_at(s, s->at, "this byte must be written as \\xHH: ", name_byte(c, buf));
    s->at++;
    if (c == '"')
      return true;
    if (c == '\\' && s->at < s->end)
      s->at++;
  }
  return fail_at(s, start, "a string without its end", "");
}

static bool is_word_byte(unsigned char c)
{
  return c > 0x20 && c < 0x7f && c != '#';
}

/* Behind a word that begins at s->at: up to white space outside of quotes and parentheses. */
static bool skip_word(scanner *s)
{
  size_t open[16], depth = 0;
  while (s->at < s->end) {
    unsigned char c = (unsigned char)s->line->raw[s->at];
    char buf[8];
    if (c == '"') {
      if (!skip_quoted(s))
        return false;
      continue;
    }
    if (c == ' ' && depth == 0)
      break;
    if (c != ' ' && !is_word_byte(c))
      return fail_at(s, s->at, "unexpected outside of quotes: ", name_byte(c, buf));
    if (c == '(') {
      if (depth == sizeof open / sizeof open[0])
        return fail_at(s, s->at, "too many parentheses inside each other", "");
      open[depth++] = s->at;
    } else if (c == ')') {
      if (depth == 0)
        return fail_at(s, s->at, "a closing parenthesis without an opening one", "");
      depth--;
    }
    s->at++;
  }
  return depth == 0 || fail_at(s, open[depth - 1], "a parenthesis without its end", "");
}

static bool is_key_byte(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* The word between start and s->at, as the subject or as key=value. */
static bool add_word(scanner *s, size_t start, size_t *cap)
{
  trace_line *line = s->line;
  const char *raw = line->raw + start;
  size_t len = s->at - start, key = 0;
  while (key < len && is_key_byte(raw[key]))
    key++;
  trace_word word = {.key_column = (unsigned)start + 1, .column = (unsigned)start + 1};
  if (key > 0 && key < len && raw[key] == '=') {
    word.key = host_copy(raw, key);
    word.value = host_copy(raw + key + 1, len - key - 1);
    word.column += (unsigned)key + 1;
    for (size_t i = 0; i < line->nwords; i++)
      if (line->words[i].key != NULL && strcmp(line->words[i].key, word.key) == 0) {
        free(word.key);
        free(word.value);
        return fail_at(s, start, "this key is there twice", "");
      }
  } else {
    if (line->nwords > 0)
      return fail_at(s, start, "expected key=value", "");
    word.value = host_copy(raw, len);
  }
  line->words = host_grow(line->words, cap, line->nwords, sizeof *line->words);
  line->words[line->nwords++] = word;
  return true;
}

static bool parse_line(trace_line *line, const char *file, host_error *err)
{
  scanner s = {file, line, 0, line->raw_len, err};
  size_t cap = 0;
  bool expected = line->raw_len > 0 && line->raw[0] == '>';
  if (expected) {
    line->kind = TRACE_EXPECTED;
    return line->raw_len == 1 || line->raw[1] == ' ' || fail_at(&s, 1, "expected a blank after >", "");
  }
  for (;;) {
    while (s.at < s.end && line->raw[s.at] == ' ')
      s.at++;
    if (s.at == s.end || line->raw[s.at] == '#')
      return true;
    size_t start = s.at;
    if (!skip_word(&s))
      return false;
    if (line->verb != NULL) {
      if (!add_word(&s, start, &cap))
        return false;
      continue;
    }
    for (size_t i = start; i < s.at; i++)
      if (!is_key_byte(line->raw[i]))
        return fail_at(&s, i, "a verb is made of small letters, digits and '-'", "");
    line->verb = host_copy(line->raw + start, s.at - start);
    line->column = (unsigned)start + 1;
    line->kind = TRACE_COMMAND;
  }
}

static trace_line *add_line(trace_source *source, const char *raw, size_t len)
{
  source->lines = host_grow(source->lines, &source->cap, source->nlines, sizeof *source->lines);
  trace_line *line = &source->lines[source->nlines++];
  *line = (trace_line){.kind = TRACE_BLANK, .number = (unsigned)source->nlines, .raw = raw, .raw_len = len};
  return line;
}

bool trace_source_parse(trace_source *source, const char *name, const char *text, size_t len, host_error *err)
{
  *source = (trace_source){.name = name};
  for (size_t at = 0; at < len;) {
    const char *raw = text + at, *newline = memchr(raw, '\n', len - at);
    size_t n = newline != NULL ? (size_t)(newline - raw) : len - at;
    at += n + 1;
    trace_line *line = add_line(source, raw, n);
    trace_place place = {name, line->number, 1};
    const char *nul = memchr(raw, 0, n);
    bool ok = true;
    if (n > TRACE_LINE_MAX)
      ok = trace_fail(err, place, "a line of more than %zu bytes", TRACE_LINE_MAX);
    else if (nul != NULL) {
      place.column = (unsigned)(nul - raw) + 1;
      ok = trace_fail(err, place, "unexpected outside of quotes: 0x00");
    } else
      ok = parse_line(line, name, err);
    if (!ok) {
      trace_source_free(source);
      return false;
    }
  }
  return true;
}

void trace_source_free(trace_source *source)
{
  for (size_t i = 0; i < source->nlines; i++) {
    trace_line *line = &source->lines[i];
    for (size_t k = 0; k < line->nwords; k++) {
      free(line->words[k].key);
      free(line->words[k].value);
    }
    free(line->words);
    free(line->verb);
  }
  free(source->lines);
  *source = (trace_source){0};
}
