# The mutations of mutate.sh: those of the planning rules, 4.7, and more. Read by it, not run by itself.

# --- accesses (rules 1.2 and 1.3)
mutation 'no READ for a new reference' emit.c \
  '/^static void foreign_key/,/^}/s/if (s->new_state == TWPA__VAL_KEY)/if (0)/' plan_oracle
mutation 'no READ for an old reference' emit.c \
  '/^static void foreign_key/,/^}/s/twpa__accesses_key(e->a, e->first + (uint32_t)idx, s->old_key, bits);//' plan_oracle
mutation 'intermediate values dropped' accesses.c \
  's/^  uint32_t old = a->acc\[pos\].bits;/&\n  if ((old \& TWPA__ACC_FIRST_CLAIM) \&\& (bits \& TWPA__ACC_LAST_FREE)) a->acc[pos].key += 77;/' plan_oracle
mutation 'no claim of a new unique value' emit.c \
  '/^static void further_index/,/^}/s/if (s->new_state == TWPA__VAL_KEY) {/if (0) {/' plan_oracle
mutation 'no release of an old unique value' emit.c \
  '/^static void further_index/,/^}/s/if (s->old_state == TWPA__VAL_KEY) {/if (0) {/' plan_oracle
mutation 'identity change without the old key' emit.c \
  '/} else if (d->op == TWPA_OP_UPDATE) {/,/keyloss/s/if (d->row_old == TWPA__VAL_KEY)/if (0)/' plan_oracle
mutation 'a whole row that is made is not an access' emit.c \
  '/^static void row_whole/,/^}/s/d->op != TWPA_OP_DELETE \&\&/0 \&\&/' plan_oracle
mutation 'predicate ignored' derive.c \
  's/ \&\&$/ \&\&/;s/unchanged(d, k->predicate, k->npredicate, true)/1/' plan_oracle
mutation 'predicate ignored by row memory' derive.c \
  's/i < k->npredicate \&\& d->wide/0 \&\& d->wide/' plan_oracle
mutation 'NULL is never a value' derive.c \
  's/(x->flags \& TWPA_INDEX_NULLS_NOT_DISTINCT) != 0,/false,/' plan_oracle
mutation 'a delete without old values releases nothing' derive.c \
  's/(uint8_t)TWPA__VAL_UNKNOWN;$/(uint8_t)(d->delta->op == TWPA_OP_DELETE ? TWPA__VAL_NONE : TWPA__VAL_UNKNOWN);/' plan_oracle
mutation 'row lock strength ignored' emit.c \
  '/^static void lock_strength/,/^}/s/^  if (!strong)/  if (strong || !strong)/' plan_interleave
mutation 'append-only without TOUCH' derive.c \
  's/^  twpa__accesses_touch(d->a, id, d->delta->op/  if (r->row_kind == TWPA__ROW_INDEX || r->row_kind == TWPA__ROW_WHOLE)\n  &/' plan_oracle
mutation 'TRUNCATE without the rule of foreign keys' emit.c \
  '/^static void touch_children/,/^}/s/twpa__accesses_touch(/if (0) &/' plan_oracle
mutation 'who refers does not touch the parent' emit.c \
  's/^    twpa__accesses_touch(e->a, f->parent, 0);/    ;/' plan_oracle
mutation 'no barrier for an expression index' derive.c \
  's/^  if (r->inexact_index)/  if (0)/' plan_oracle
mutation 'no barrier for a trigger' derive.c \
  's/^  if ((r->flags \& TWPA_RELATION_SIDE_EFFECTS) != 0) {/  if (0) {/' plan_oracle
mutation 'over the budget without barriers' finish.c \
  's/if (a->over || (set->flags/if ((set->flags/' plan_oracle

# --- the conflict matrix (rule 1.4)
mutation 'RELEASE_UNKNOWN before CLAIM' enter.c \
  's/^    after_join_of_index(plan, x->rel, idx, TWPA_EDGE_UNKNOWN);/    (void)now;/' plan_oracle plan_pairs
mutation 'REF_RELEASE_UNKNOWN before KEYLOSS' enter.c \
  's/^  if ((idx->flags \& (TWPA__IDX_RELEASE_UNKNOWN | TWPA__IDX_KEYLOSS)) != 0)/  if ((idx->flags \& TWPA__IDX_RELEASE_UNKNOWN) != 0)/' \
  plan_oracle plan_pairs
mutation 'REF_RELEASE_UNKNOWN before RELEASE_UNKNOWN' enter.c \
  's/^  if ((idx->flags \& (TWPA__IDX_RELEASE_UNKNOWN | TWPA__IDX_KEYLOSS)) != 0)/  if ((idx->flags \& TWPA__IDX_KEYLOSS) != 0)/' \
  plan_oracle plan_pairs
mutation 'REF_RELEASE before RELEASE_UNKNOWN' enter.c \
  's/^    after_join_of_index(plan, x->ref, idx, TWPA_EDGE_FK_DML);/    (void)now;/' plan_oracle plan_pairs
mutation 'barrier after barrier' enter.c \
  's/^  if (twpa__is_live(now, r->bar))/  if ((touch->flags \& TWPA__TOUCH_BARRIER) == 0 \&\& twpa__is_live(now, r->bar))/' \
  plan_oracle plan_pairs
mutation 'a barrier that does not wait for users' enter.c \
  's/^  if ((touch->flags \& TWPA__TOUCH_BARRIER) != 0 \&\& r->join != TWPA__NIL)/  if (0)/' plan_oracle plan_pairs plan_small

# --- the conflict table (rule 1.5)
mutation 'an entry dies by its write alone' conflicts.c \
  '/^static uint32_t newest_of/,/^}/s/return .*/(void)reader; (void)now; return b->w[i];/' plan_oracle plan_pairs
mutation 'readers ignored at eviction' conflicts.c \
  '/^static uint32_t newest_of/,/^}/s/return .*/(void)reader; return twpa__newer(now, b->w[i], b->u[i]);/' plan_oracle plan_pairs
mutation 'no floor' enter.c 's/^  if (floor)$/  if (0)/' plan_oracle plan_pairs
mutation 'no horizon of narrow entries' enter.c \
  '/^static void enter_keys/,/^}/s/after_horizon(plan, f.horizon, now);/(void)0;/' plan_oracle plan_pairs
mutation 'a floor that is not taken from the horizon' conflicts.c \
  's/^  b->w\[way\] = horizon;/  (void)horizon; b->w[way] = now.seq - now.span;/' plan_oracle plan_pairs
mutation 'only the last reader counts' enter.c \
  '/^static void add_reader/,/^}/s/^  if (!twpa__is_live(now, before) || before == now.seq .*/  if (1)/' plan_oracle plan_pairs plan_small
mutation 'an update overwrites the write' enter.c \
  's/^  if (twpa__is_live(now, b->u\[way\]))$/  b->w[way] = now.seq;\n&/' plan_pairs
mutation 'updates do not wait for updates' enter.c \
  '/^static void enter_wide/,/^}/s/after(k, b->u\[way\], .*/;/' plan_oracle plan_pairs plan_small
mutation 'a write does not wait for readers' enter.c \
  '/^static void write_wide/,/^}/s/^  if (readers \&\&/  if (0 \&\& readers \&\&/;/^static void write_wide/,/^}/s/else if (readers)/else if (0)/' \
  plan_oracle plan_pairs plan_small
mutation 'a join node is joined although it is closed' graph.c \
  '/^void twpa__graph_join_open/,/^}/s/^  if (!j->closed)$/  if (true)/' plan_pairs plan_oracle
mutation 'joins before it takes' enter.c \
  '/^void twpa__enter_accesses/,/^}/s/^  enter_keys(plan, a, now);/  for (size_t i = 0; i < a->nidxs; i++)\n    enter_index(plan, \&a->idxs[i]);\n  for (size_t i = 0; i < a->nidxs; i++)\n    take_index(plan, \&a->idxs[i], now);\n&/' \
  plan_oracle
mutation harmless 'all keys are five' derive.c \
  '/^static uint8_t hash_value/,/^}/s/^  return state;/  h->key = (h->key % 5 + 1) * UINT64_C(0x9E3779B97F4A7C15);\n&/' \
  plan_oracle plan_small

# --- row memory (rule 1.6)
mutation 'row memory with colliding hashes' finish.c \
  's/^  bool same = .*/  bool same = !v.none \&\& s->new_state == TWPA__VAL_KEY \&\& s->new_exact;/;s/^              v.check\[0\] == .*/  (void)v.key;/' \
  plan_oracle
mutation 'rows that are called the same' memory.c \
  '/^twpa__memory_name twpa__memory_name_of/,/^}/s/{$/{\n  static const uint64_t one[2]; row = one;/' plan_oracle
mutation 'row memory neither removed nor moved' finish.c \
  's/^      twpa__memory_remove(\&plan->memory, old);/      return;/' plan_oracle
mutation 'a value that was not sent counts as none' finish.c \
  's/^    bool carried = s->new_state == TWPA__VAL_SAME .*/    bool carried = false;/;s/s->new_state == TWPA__VAL_NONE};/s->new_state == TWPA__VAL_NONE || s->new_state == TWPA__VAL_SAME};/' \
  plan_oracle
mutation 'a value of the target without the touch test' explain.c \
  's/else if (!row_is_quiet(plan, relation, delta, referenced))/else if (0 \&\& !row_is_quiet(plan, relation, delta, referenced))/' \
  plan_oracle
mutation 'skip without forgetting' skip.c 's/^  distrust(plan, seq);$//' plan_oracle
mutation 'skip forgets and lets the waiting go' skip.c \
  's/^      twpa__graph_wait_for_all(g, s);$/      (void)s;/' plan_oracle
mutation 'skip without those before it' graph.c \
  '/^void twpa__graph_wait_for_all/,/^}/s/ | TWPA__META_UP_TO);$/);/' plan_cases

mutation 'a distrusted relation leaves its neighbours alone' finish.c \
  's/^      a->touches\[i\].flags |= TWPA__TOUCH_CLOSURE;/      a->touches[i].flags |= TWPA__TOUCH_BARRIER;/' plan_cases
mutation 'a prepared transaction is no barrier' finish.c \
  's/^  if (a->over || (set->flags \& TWPA_TXN_PREPARED) != 0)$/  if (a->over)/' plan_oracle plan_cases

# --- policies (rule 1.7)
mutation 'optimistic on deferrable indexes' enter.c \
  '/^static bool strict_release/,/^}/s/(idx->flags \& TWPA__IDX_DETECTOR) == 0/(idx->flags == UINT32_MAX)/' plan_oracle
mutation 'strict is optimistic' enter.c \
  's/plan->options.unique_release == TWPA_UNKNOWN_STRICT/false/' plan_oracle
mutation 'optimistic references in free order' enter.c \
  '/^static bool strict_reference/,/^}/s/return .*/return false \&\& idx != NULL \&\& (plan != NULL ||/;/^static bool strict_reference/,/^}/s/^         plan->options.early_start.*/         0);/' \
  plan_oracle
mutation 'retry before its predecessors are done' scheduler_fail.c \
  's/^  t->alone = \*verdict == TWPA_VERDICT_ALONE;/&\n  if (*verdict == TWPA_VERDICT_RETRY) { t->state = TWPA_TASK_READY; twpa__seqset_add(\&s->ready, seq); }/' \
  plan_scheduler_model

# --- early start (rule 1.8)
mutation 'early start after a claim' enter.c \
  's/^  if (policy == TWPA_EARLY_START_WIDE \&\& left_free \&\&.*/  if (policy == TWPA_EARLY_START_WIDE)/' plan_interleave
mutation 'early start behind any write' enter.c \
  's/^  if (updated \&\& k->mode >= TWPA_MODE_UPDATE)/  (void)updated;\n  if (k->mode >= TWPA_MODE_UPDATE)/' plan_interleave
mutation 'early start for some reasons only' graph.c \
  's/^    \*there \&= /    *there |= 0 \& /' plan_interleave
mutation 'no rollback of early starters' scheduler_fail.c \
  's/^  if (t->executed)$/  if (0)/' plan_scheduler_model

# --- waits for a commit turn
mutation 'only one of those who are waited for is told' scheduler_turn.c \
  's/told < n; told++)$/told < n; told = n)/' plan_scheduler
mutation 'a wait that is known is told again' scheduler_turn.c \
  's/groups & ~same);$/groups \& 0);/' plan_scheduler
mutation 'a wait does not move when its holder is skipped' scheduler.c \
  's/^    twpa__tell_waits_behind(s, seq);/    (void)seq;/' plan_scheduler
mutation 'a holder that is done' scheduler_turn.c \
  '/^static uint64_t nearest_before/,/^}/s/!twpa__is_done(s, order_at(o, i - 1))/true/' plan_scheduler
