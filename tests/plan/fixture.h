/* A plan and three relations to try it with: p(k, u, x), referenced by c(k, r -> p.k, x), both FULL; t(k, u, x) alone. */
#ifndef TESTS_PLAN_FIXTURE_H
#define TESTS_PLAN_FIXTURE_H

#include "kit.h"

#include <stdbool.h>

#define N NIL
#define ENF TWPA_FK_ENFORCED

enum { INS = TWPA_OP_INSERT, UPD = TWPA_OP_UPDATE, DEL = TWPA_OP_DELETE };

extern twpa_plan *plan;
extern twpa_access_set *set;
extern twpa_relation *p, *c, *t;
extern relation_kit kit; /* as the last relation was made; for variations of it */

void setup(void);
void teardown(void);
/* Another plan in place of the first; table sizes are small unless given. */
void open_plan(twpa_plan_options o);
/* A transaction: begin, changes, enter(plan, set). */
void begin(void);
void insert(twpa_relation *rel, int64_t a, int64_t b, int64_t d);
void delete_row(twpa_relation *rel, int64_t a, int64_t b, int64_t d);
void update(twpa_relation *rel, int64_t a, int64_t b, int64_t d, int64_t a2, int64_t b2, int64_t d2);
/* A transaction of one key of the host's own. */
uint64_t key_tx(twpa_key key, uint32_t mode);
/* It has committed. */
void done(uint64_t seq);

#endif
