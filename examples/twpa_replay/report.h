/* What the program found, for people and for programs. */
#ifndef TWPA_REPLAY_REPORT_H
#define TWPA_REPLAY_REPORT_H

#include "twpa_replay/run.h"

#include <stdio.h>

typedef struct replay_report {
  const replay_options *options;
  const replay_model *model;
  const replay_plan *plan;
  const replay_result *result;
} replay_report;

/* Names, by TWPA_EDGE_..., TWPA_FALLBACK_... and REPLAY_...; NULL: no such thing. */
const char *replay_edge_name(uint32_t type);
const char *replay_fallback_name(uint32_t reason);
const char *replay_skip_name(uint32_t skip);

/* Whether all is proved: nothing met in the parallel run only, both results equal, and the WAL explains itself. */
bool replay_proved(const replay_report *r);
/* The first reason against it. */
const char *replay_why_not(const replay_report *r);
/* Changes that were not applied, so that the proof says nothing of them; REPLAY_PERHAPS_NONE not counted. */
uint64_t replay_not_applied(const replay_report *r);

void replay_print_text(const replay_report *r, FILE *out);
void replay_print_json(const replay_report *r, FILE *out);

#endif
