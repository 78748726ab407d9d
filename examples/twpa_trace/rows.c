/*
 * Rows as values. A row is the text between parentheses; what is in it: null, ~ (unchanged, not sent), ? (absent), @V:L
 * (a long value: known if it came with the row, else unchanged), and anything else as text. Folding is the host's
 * duty: a column of class `folded` is put into small letters here.
 */
#include "planning.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

void values_free(trace_values *v)
{
  for (size_t i = 0; i < v->n; i++)
    text_free(&v->texts[i]);
  free(v->texts);
  free(v->values);
  *v = (trace_values){0};
}

static void fold(trace_text *text)
{
  for (size_t i = 0; i < text->len; i++)
    if (text->data[i] >= 'A' && text->data[i] <= 'Z')
      text->data[i] = (char)(text->data[i] - 'A' + 'a');
}

/* @V:L. True if the value came with the row. */
static bool long_value(const char *item, twpa_txn *txn, trace_text *text)
{
  char *end;
  uint64_t value = strtoull(item + 1, &end, 10);
  size_t len = *end == ':' ? (size_t)strtoull(end + 1, &end, 10) : 0;
  twpa_bytes bytes;
  if (txn == NULL || twpa_txn_toast(txn, &bytes, 1, value, len) != TWPA_OK)
    return false;
  text_bytes(text, bytes.data, bytes.len);
  return true;
}

static bool value_of(trace *t, twpa_value *v, trace_text *text, const char *item, uint32_t cls, twpa_txn *txn,
                     trace_place at)
{
  text_bytes(text, "", 0);
  v->cls = cls;
  if (strcmp(item, "null") == 0)
    v->state = TWPA_VALUE_NULL;
  else if (strcmp(item, "~") == 0)
    v->state = TWPA_VALUE_UNCHANGED;
  else if (strcmp(item, "?") == 0)
    v->state = TWPA_VALUE_ABSENT;
  else if (item[0] == '@')
    v->state = long_value(item, txn, text) ? TWPA_VALUE_TEXT : TWPA_VALUE_UNCHANGED;
  else {
    v->state = TWPA_VALUE_TEXT;
    if (!trace_bytes(item, text, at, t->err))
      return false;
  }
  if (cls == TWPA_CLASS_FOLDED)
    fold(text);
  v->bytes = (twpa_bytes){text_get(text), text->len};
  return true;
}

bool values_of_row(trace *t, trace_values *out, const trace_described *r, const char *row, size_t len, twpa_txn *txn,
                   bool old_row, trace_place at)
{
  *out = (trace_values){host_alloc(r->ncolumns, sizeof *out->values), host_alloc(r->ncolumns, sizeof *out->texts),
                        r->ncolumns};
  if (len < 2 || row[0] != '(' || row[len - 1] != ')')
    return trace_fail(t->err, at, "expected a row in parentheses");
  char *inside = host_copy(row + 1, len - 2);
  const char *next = inside[0] != 0 ? inside : NULL;
  trace_text item = {0};
  size_t n = 0;
  bool ok = true;
  while (ok && trace_list_next(&next, &item)) {
    if (n == r->ncolumns)
      ok = trace_fail(t->err, at, "more values than columns");
    else {
      ok = value_of(t, &out->values[n], &out->texts[n], item.data, r->classes[n], txn, at);
      n++;
    }
  }
  if (ok && n < r->ncolumns && !old_row)
    ok = trace_fail(t->err, at, "%zu values for %zu columns", n, r->ncolumns);
  text_free(&item);
  free(inside);
  return ok;
}
