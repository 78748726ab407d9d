/* A trace and what it has printed: put together, or compared. */
#include "trace.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_SHOWN 60      /* lines of one difference */
#define LONGEST_COMPARED 2000 /* lines of one command that are lined up with each other */

typedef struct line_list {
  const char **lines;
  size_t *lens;
  size_t n, cap, cap_lens;
} line_list;

static void add(line_list *list, const char *line, size_t len)
{
  list->lines = host_grow(list->lines, &list->cap, list->n, sizeof *list->lines);
  list->lens = host_grow(list->lens, &list->cap_lens, list->n, sizeof *list->lens);
  list->lines[list->n] = line;
  list->lens[list->n++] = len;
}

static void free_list(line_list *list)
{
  free(list->lines);
  free(list->lens);
  *list = (line_list){0};
}

static void add_text(line_list *list, const trace_text *text)
{
  for (size_t at = 0; at < text->len;) {
    const char *newline = memchr(text->data + at, '\n', text->len - at);
    size_t n = newline != NULL ? (size_t)(newline - (text->data + at)) : text->len - at;
    add(list, text->data + at, n);
    at += n + 1;
  }
}

static void put_lines(trace_text *out, const char *mark, const trace_text *text)
{
  line_list list = {0};
  add_text(&list, text);
  for (size_t i = 0; i < list.n; i++) {
    text_add(out, "%s%s", mark, list.lens[i] > 0 ? " " : "");
    text_bytes(out, list.lines[i], list.lens[i]);
    text_bytes(out, "\n", 1);
  }
  free_list(&list);
}

void trace_annotate(trace_text *out, const trace_source *source, const trace_result *result)
{
  text_bytes(out, "", 0);
  for (size_t i = 0; i < source->nlines; i++) {
    const trace_line *line = &source->lines[i];
    if (line->kind != TRACE_EXPECTED) {
      text_bytes(out, line->raw, line->raw_len);
      text_bytes(out, "\n", 1);
    }
    put_lines(out, ">", &result->outputs[i]);
  }
  put_lines(out, ">", &result->outputs[source->nlines]);
}

bool trace_has_expectation(const trace_source *source)
{
  for (size_t i = 0; i < source->nlines; i++)
    if (source->lines[i].kind == TRACE_EXPECTED)
      return true;
  return false;
}

static bool same(const line_list *a, size_t i, const line_list *b, size_t k)
{
  return a->lens[i] == b->lens[k] && memcmp(a->lines[i], b->lines[k], a->lens[i]) == 0;
}

/* One line of a difference; beyond LONGEST_SHOWN they are only counted in *shown. */
static void put(trace_text *diff, size_t *shown, char mark, const line_list *list, size_t i)
{
  if (++*shown > LONGEST_SHOWN)
    return;
  text_add(diff, "  %c ", mark);
  text_bytes(diff, list->lines[i], list->lens[i]);
  text_bytes(diff, "\n", 1);
}

/*
 * Lines that are on one side only, the others as context. length[i][k] is the length of the longest common
 * subsequence of what follows i and k.
 */
static void line_up(trace_text *diff, size_t *shown, const line_list *want, const line_list *got, size_t from, size_t want_end,
                    size_t got_end)
{
  size_t w = want_end - from, g = got_end - from;
  if (w > LONGEST_COMPARED || g > LONGEST_COMPARED)
    w = g = 0; /* too much to line up: the one, then the other */
  unsigned short *length = host_alloc((w + 1) * (g + 1), sizeof *length);
  for (size_t i = w; i-- > 0;)
    for (size_t k = g; k-- > 0;) {
      size_t down = length[(i + 1) * (g + 1) + k], right = length[i * (g + 1) + k + 1];
      length[i * (g + 1) + k] = (unsigned short)(same(want, from + i, got, from + k)
                                                   ? length[(i + 1) * (g + 1) + k + 1] + 1u
                                                   : (down > right ? down : right));
    }
  size_t i = 0, k = 0;
  while (i < w && k < g) {
    if (same(want, from + i, got, from + k)) {
      put(diff, shown, ' ', want, from + i);
      i++, k++;
    } else if (length[(i + 1) * (g + 1) + k] >= length[i * (g + 1) + k + 1])
      put(diff, shown, '-', want, from + i++);
    else
      put(diff, shown, '+', got, from + k++);
  }
  for (i += from; i < want_end; i++)
    put(diff, shown, '-', want, i);
  for (k += from; k < got_end; k++)
    put(diff, shown, '+', got, k);
  free(length);
}

static bool compare_block(trace_text *diff, const char *file, const trace_line *line, const line_list *want,
                          const line_list *got)
{
  size_t from = 0, want_end = want->n, got_end = got->n;
  while (from < want_end && from < got_end && same(want, from, got, from))
    from++;
  if (from == want_end && from == got_end)
    return true;
  while (want_end > from && got_end > from && same(want, want_end - 1, got, got_end - 1))
    want_end--, got_end--;
  text_add(diff, "%s:%u: ", file, line->number);
  text_bytes(diff, line->raw, line->raw_len);
  text_bytes(diff, "\n", 1);
  size_t shown = 0;
  if (from > 0)
    put(diff, &shown, ' ', want, from - 1);
  line_up(diff, &shown, want, got, from, want_end, got_end);
  if (want_end < want->n)
    put(diff, &shown, ' ', want, want_end);
  if (shown > LONGEST_SHOWN)
    text_add(diff, "    ... %zu more lines\n", shown - LONGEST_SHOWN);
  return false;
}

size_t trace_compare(trace_text *diff, const trace_source *source, const trace_result *result)
{
  size_t places = 0, i = 0;
  text_bytes(diff, "", 0);
  while (i < source->nlines && source->lines[i].kind != TRACE_COMMAND)
    i++;
  while (i < source->nlines) {
    const trace_line *command = &source->lines[i];
    line_list want = {0}, got = {0};
    add_text(&got, &result->outputs[i]);
    for (i++; i < source->nlines && source->lines[i].kind != TRACE_COMMAND; i++) {
      const trace_line *line = &source->lines[i];
      if (line->kind == TRACE_EXPECTED)
        add(&want, line->raw + (line->raw_len > 1 ? 2 : 1), line->raw_len > 1 ? line->raw_len - 2 : 0);
    }
    if (i == source->nlines)
      add_text(&got, &result->outputs[i]);
    places += !compare_block(diff, source->name, command, &want, &got);
    free_list(&want);
    free_list(&got);
  }
  return places;
}
