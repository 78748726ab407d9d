/* What the scheduler needs of a progress object beyond its public side: telling a transaction in two steps. */
#ifndef TWPA_PLAN_PROGRESS_H
#define TWPA_PLAN_PROGRESS_H

#include <twpa/progress.h>

/* Checks and reserves all for a twpa_progress_submitted(lsn), which then cannot fail if seq is above all others. */
twpa_status twpa__progress_reserve(twpa_progress *p, twpa_lsn lsn);

#endif
