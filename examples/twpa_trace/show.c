/* What a trace can ask: open transactions, positions, figures. */
#include "decode.h"
#include "planning.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* A figure of the buffer: its name is that of the field. */
typedef struct figure {
  const char *name;
  size_t offset;
} figure;

#define FIGURE(name) {#name, offsetof(twpa_reorder_counters, name)}

static const figure figures[] = {
  FIGURE(memory_bytes),    FIGURE(total_bytes),    FIGURE(storage_bytes),     FIGURE(storage_files),
  FIGURE(storage_segments), FIGURE(open_tops),     FIGURE(open_subs),         FIGURE(taken),
  FIGURE(tuplecids),       FIGURE(distributed_bytes), FIGURE(queued_changes), FIGURE(queued_bytes),
  FIGURE(delivered_txns),  FIGURE(delivered_changes), FIGURE(aborted_txns),   FIGURE(spilled_txns),
  FIGURE(spilled_blocks),  FIGURE(spilled_bytes),  FIGURE(restored_blocks),   FIGURE(streamed_txns),
  FIGURE(streamed_blocks), FIGURE(limit_exceeded), FIGURE(toast_dropped),
};

#define NFIGURES (sizeof figures / sizeof figures[0])
#define NSTATE 10 /* the first ones say how it is now */

static uint64_t value_of(const twpa_reorder_counters *stats, const figure *f)
{
  uint64_t v;
  memcpy(&v, (const char *)stats + f->offset, sizeof v);
  return v;
}

static void show_txn(trace *t, const char *name, const twpa_txn *txn)
{
  text_add(&t->out, "%s xid=%" PRIu64, name, twpa_txn_xid(txn));
  if (twpa_txn_top_xid(txn) != twpa_txn_xid(txn))
    text_add(&t->out, " top=%" PRIu64, twpa_txn_top_xid(txn));
  trace_say(t, " first=%" PRIu64 " changes=%" PRIu64, twpa_txn_first_lsn(txn), twpa_txn_changes(txn));
}

static void show_figures(trace *t, const char *name, const twpa_reorder_counters *stats, size_t from, size_t to)
{
  text_add(&t->out, "%s", name);
  for (size_t i = from; i < to; i++)
    if (value_of(stats, &figures[i]) != 0)
      text_add(&t->out, " %s=%" PRIu64, figures[i].name, value_of(stats, &figures[i]));
  trace_say(t, "%s", "");
}

bool do_show(trace *t, const trace_command *c)
{
  uint32_t what = 0;
  uint64_t xid = 0;
  twpa_reorder_counters stats = {.struct_size = TWPA_REORDER_COUNTERS_INIT};
  const trace_word *w = arg_of(c, NULL);
  bool number = w->value[0] >= '0' && w->value[0] <= '9';
  bool planned = false;
  if (!number && !plan_show(t, c, w->value, &planned))
    return false;
  if (planned)
    return true;
  if (number ? !arg_number(t, c, NULL, &xid, 0, UINT64_MAX)
             : !arg_choice(t, c, NULL, &what, "open|oldest|state|stats|files|ready|waiting|edges|report|graph|progress"))
    return false;
  if (!decode_open(t))
    return true;
  const twpa_reorder *r = t->decode->reorder;
  if (number) {
    const twpa_txn *txn = twpa_reorder_find(r, xid);
    if (txn != NULL)
      show_txn(t, "txn", txn);
    else
      trace_say(t, "txn xid=%" PRIu64 " is not open", xid);
    return true;
  }
  if (twpa_reorder_stats(r, &stats) != TWPA_OK)
    return trace_fail(t->err, c->at, "no figures");
  switch (what) {
  case 0:
    for (const twpa_txn *txn = NULL; (txn = twpa_reorder_next_open(r, txn)) != NULL;)
      show_txn(t, "open", txn);
    break;
  case 1:
    trace_say(t, "oldest lsn=%" PRIu64, twpa_reorder_oldest_lsn(r));
    break;
  case 4:
    trace_say(t, "files %zu", storage_files(t->decode));
    break;
  default:
    show_figures(t, what == 2 ? "state" : "stats", &stats, what == 2 ? 0 : NSTATE, what == 2 ? NSTATE : NFIGURES);
    break;
  }
  return true;
}

/* The value of a figure; false: there is none of that name. */
static bool figure_now(trace *t, const char *name, uint64_t *value)
{
  twpa_reorder_counters stats = {.struct_size = TWPA_REORDER_COUNTERS_INIT};
  if (strchr(name, '.') != NULL)
    return plan_figure(t, name, value);
  size_t i = 0;
  while (i < NFIGURES && strcmp(figures[i].name, name) != 0)
    i++;
  bool files = strcmp(name, "files") == 0;
  if ((i == NFIGURES && !files) || !decode_open(t) || twpa_reorder_stats(t->decode->reorder, &stats) != TWPA_OK)
    return false;
  *value = files ? storage_files(t->decode) : value_of(&stats, &figures[i]);
  return true;
}

bool do_expect(trace *t, const trace_command *c)
{
  const char *name = arg_of(c, NULL)->value;
  uint64_t value = 0, min = 0, max = UINT64_MAX;
  if (!arg_has(c, "is") && !arg_has(c, "min") && !arg_has(c, "max"))
    return arg_need(t, c, "is");
  if (!arg_number(t, c, "min", &min, 0, UINT64_MAX) || !arg_number(t, c, "max", &max, 0, UINT64_MAX))
    return false;
  if (arg_has(c, "is")) {
    if (!arg_number(t, c, "is", &min, 0, UINT64_MAX))
      return false;
    max = min;
  }
  if (!figure_now(t, name, &value))
    return arg_fail(t, c, NULL, "there is no figure '%.40s' here", name);
  if (value < min || value > max)
    trace_say(t, "%s is %" PRIu64, name, value);
  return true;
}
