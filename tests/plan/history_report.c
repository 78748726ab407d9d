/* From a history that went wrong to a trace that says what should have happened. */
#include "history_trace.h"

#include <stdio.h>

static bool all_right(const history *h, const uint32_t preds[TX], const uint32_t lacking[TX], bool optimistic, char *order)
{
  uint32_t both[TX];
  uint64_t steps = 0;
  for (int t = 0; t < TX; t++)
    both[t] = preds[t] | lacking[t];
  return history_all_orders(h, both, optimistic, &steps, order) == NULL;
}

void history_lacking(const history *h, const uint32_t preds[TX], bool optimistic, uint32_t lacking[TX])
{
  uint32_t all[TX];
  char order[TX + 1];
  memset(lacking, 0, TX * sizeof *lacking);
  memcpy(all, preds, TX * sizeof *all);
  for (int t = h->n; t < TX; t++)
    all[t] = 0;
  while (!all_right(h, all, lacking, optimistic, order)) { /* whoever overtook somebody on the way there should not have */
    uint32_t before = 0, added = 0;
    for (const char *p = order; *p != 0; p++) {
      int t = *p - '1';
      uint32_t overtaken = ((1u << t) - 1) & ~before & ~lacking[t] & ~all[t];
      lacking[t] |= overtaken;
      added |= overtaken;
      before |= 1u << t;
    }
    if (added == 0)
      return; /* wrong even serially: nothing that is added helps */
  }
  for (int t = 0; t < h->n; t++) /* and those are taken out again that are not needed */
    for (int k = 0; k < t; k++) {
      uint32_t bit = lacking[t] & 1u << k;
      lacking[t] &= ~bit;
      if (bit != 0 && !all_right(h, all, lacking, optimistic, order))
        lacking[t] |= bit;
    }
}

void history_report(FILE *out, const history *h, const setting *how, const uint32_t hidden[TX])
{
  const bool optimistic = how->options.unique_release == TWPA_UNKNOWN_OPTIMISTIC;
  uint32_t preds[TX] = {0}, lacking[TX];
  uint64_t steps = 0;
  char order[TX + 1] = "";
  const trace_log log = {out, lacking, hidden};
  history_plan(h, how, preds);
  for (int t = 0; t < h->n && hidden != NULL; t++)
    preds[t] &= ~hidden[t];
  const char *why = history_all_orders(h, preds, optimistic, &steps, order);
  history_lacking(h, preds, optimistic, lacking);
  if (why != NULL)
    log_comment(&log, "%s, in the order %s. What is expected here is not what the plan says:", why, order);
  for (int t = 0; t < h->n; t++)
    for (int k = 0; k < t; k++)
      if ((lacking[t] & 1u << k) != 0)
        log_comment(&log, "%d has to wait for %d.", t + 1, k + 1);
  history_plan_logged(h, how, preds, &log);
}
