/*
 * Tables in the two forms that are needed: as the planner wants them (twpa_relation) and as the store does, from one
 * source, the catalog. What the store cannot check is counted.
 */
#ifndef TWPA_REPLAY_TABLES_H
#define TWPA_REPLAY_TABLES_H

#include "twpa_replay/model.h"

#include <twpa/plan.h>

/* The number of a relation's table; new ones are added together with all tables that foreign keys tie to it. */
uint32_t replay_table_of(replay_model *m, const pg_relation *relation);

/* When all changes are decoded: marks those that cannot be followed, and describes all tables to planner and store. */
bool replay_describe(replay_model *m, host_error *err);

/* The values of a row as the planner wants them; free() the result. */
twpa_value *replay_values(const replay_model *m, uint32_t table, const store_value *row);

/* Sizes of the conflict table such that nothing has to be forgotten, within reason. */
void replay_table_sizes(twpa_plan_options *o, const replay_model *m);

#endif
