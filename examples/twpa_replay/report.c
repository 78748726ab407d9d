/* What the report says in words, and whether all is proved. */
#include "twpa_replay/report.h"

#include <string.h>

const char *replay_edge_name(uint32_t type)
{
  static const char *const names[] = {NULL,          "write-write", "read-write",
                                      "foreign-key", "barrier",     "unknown"};
  return type < sizeof names / sizeof *names ? names[type] : NULL;
}

const char *replay_fallback_name(uint32_t reason)
{
  static const char *const names[] = {
      "unknown equality",
      "unreadable key value",
      "key value not sent",
      "no identity",
      "expression index",
      "foreign key",
      "side effects",
      "serial relation",
      "unknown unique release",
      "unknown reference release",
      "too many keys",
      "schema changed",
      "prepared",
      "distrust",
  };
  return reason < sizeof names / sizeof *names ? names[reason] : NULL;
}

const char *replay_skip_name(uint32_t skip)
{
  static const char *const names[] = {NULL,
                                      "no identity tells the row",
                                      "row layout not known",
                                      "relation not in the catalog",
                                      "relation not in the catalog, or a long value of it",
                                      "its table cannot be followed"};
  return skip < sizeof names / sizeof *names ? names[skip] : NULL;
}

uint64_t replay_not_applied(const replay_report *r)
{
  uint64_t n = 0;
  for (uint32_t k = 1; k < REPLAY_SKIPS; k++)
    n += k == REPLAY_PERHAPS_NONE ? 0 : r->model->counts.skipped[k];
  return n;
}

bool replay_proved(const replay_report *r)
{
  return r->result->equal && !r->result->violations.count && !r->result->serial.unexplained;
}

const char *replay_why_not(const replay_report *r)
{
  const replay_result *x = r->result;
  if (x->violations.count)
    return x->violations.first[0];
  if (!x->equal)
    return x->difference.first;
  return x->serial.unexplained ? x->serial.first_unexplained : "nothing is against it";
}
