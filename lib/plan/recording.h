/* A recorded plan, and how a scheduler writes into it. */
#ifndef TWPA_PLAN_RECORDING_H
#define TWPA_PLAN_RECORDING_H

#include "base/alloc.h"

#include <twpa/plan.h>
#include <twpa/simulate.h>

typedef struct twpa__recorded {
  uint64_t apply, commit; /* costs */
  uint64_t groups;
  size_t floor;      /* position + 1 of the last that must be committed before, or 0 */
  size_t edges_end;  /* its edges end here and begin where those of the one before end */
} twpa__recorded;

struct twpa_recording {
  twpa__mem mem;
  uint64_t first; /* sequence number of the first one */
  uint64_t total; /* all costs */
  twpa__recorded *nodes;
  size_t count, nodes_cap;
  size_t *edges; /* position of the predecessor * 2, + 1 if early */
  size_t nedges, edges_cap;
  twpa_edge *scratch; /* what the plan says of one transaction */
  size_t scratch_cap;
  bool spoiled; /* a submission could not be recorded */
};

/* Records what has just entered the plan. What does not fit into memory spoils the recording. */
void twpa__record(twpa_recording *recording, const twpa_plan *plan, uint64_t seq, uint64_t groups);

#endif
