/*
 * Whose turn it is to commit: commit order by groups, and whom an executed transaction waits for.
 *
 * Per group a ring of the transactions that are not done, in order; each transaction counts the groups in which it is not
 * the first. What completes out of order (a skip) stays in its place until those before it are done.
 *
 * An executed transaction waits, in each of its groups, for the nearest one before it, and through that one for all before.
 * That does not change while it waits: the nearest one commits last of them. Only a skip takes it away before its turn;
 * then the waiter is told for whom it waits instead.
 */
#include "plan/scheduler.h"

static uint64_t order_at(const twpa__order *o, size_t i)
{
  return o->seqs[(o->head + i) & (o->cap - 1)];
}

twpa_status twpa__orders_reserve(twpa_scheduler *s, uint64_t groups)
{
  for (unsigned g = 0; g < TWPA__GROUPS; g++) {
    if ((groups >> g & 1) == 0 || s->orders[g].count < s->orders[g].cap)
      continue;
    twpa__order *o = &s->orders[g];
    size_t cap = o->cap == 0 ? 16 : o->cap * 2, bytes;
    if (cap < o->cap || !twpa__array_size(&bytes, cap, sizeof(uint64_t)))
      return TWPA_E_NOMEM;
    uint64_t *seqs = twpa__alloc(&s->mem, bytes);
    if (seqs == NULL)
      return TWPA_E_NOMEM;
    for (size_t i = 0; i < o->count; i++)
      seqs[i] = order_at(o, i);
    twpa__release(&s->mem, o->seqs, o->cap * sizeof(uint64_t));
    o->seqs = seqs;
    o->cap = cap;
    o->head = 0;
  }
  return TWPA_OK;
}

void twpa__orders_push(twpa_scheduler *s, twpa__task *t, uint64_t seq)
{
  for (unsigned g = 0; g < TWPA__GROUPS; g++)
    if ((t->groups >> g & 1) != 0) {
      twpa__order *o = &s->orders[g];
      o->seqs[(o->head + o->count++) & (o->cap - 1)] = seq;
      t->groups_left += o->count > 1;
    }
}

void twpa__orders_pop(twpa_scheduler *s, uint64_t groups, uint64_t done)
{
  for (unsigned g = 0; g < TWPA__GROUPS; g++) {
    twpa__order *o = &s->orders[g];
    if ((groups >> g & 1) == 0 || order_at(o, 0) != done)
      continue;
    while (o->count > 0 && twpa__is_done(s, order_at(o, 0))) {
      o->head++;
      o->count--;
    }
    if (o->count > 0) {
      twpa__task_at(s, order_at(o, 0))->groups_left--;
      twpa__offer_turn(s, order_at(o, 0));
    }
  }
}

static bool has_turn(const twpa_scheduler *s, const twpa__task *t, uint64_t seq)
{
  switch (s->options.commit_order) {
  case TWPA_COMMIT_ORDER_GLOBAL: return seq == s->low + 1;
  case TWPA_COMMIT_ORDER_GROUPS: return t->groups_left == 0;
  default: return true;
  }
}

void twpa__offer_turn(twpa_scheduler *s, uint64_t seq)
{
  const twpa__task *t = twpa__task_at(s, seq);
  if (t->state == TWPA_TASK_EXECUTED && !t->doomed && !twpa__is_stopped(s, seq) && has_turn(s, t, seq))
    twpa__seqset_add(&s->turns, seq);
}

/* ---- Who waits for whom -------------------------------------------------------------------------------------- */

/* The place of a number in an order, or of the first one above it. */
static size_t order_find(const twpa__order *o, uint64_t seq)
{
  size_t low = 0, high = o->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (order_at(o, middle) < seq)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The nearest one before it in a group that is not done; 0: none. */
static uint64_t nearest_before(const twpa_scheduler *s, unsigned g, uint64_t seq)
{
  const twpa__order *o = &s->orders[g];
  for (size_t i = order_find(o, seq); i > 0; i--)
    if (!twpa__is_done(s, order_at(o, i - 1)))
      return order_at(o, i - 1);
  return 0;
}

uint64_t twpa__turn_holder(const twpa_scheduler *s, uint64_t seq)
{
  uint64_t holder = 0;
  if (s->orders == NULL) {
    for (holder = seq - 1; holder > s->low && twpa__is_done(s, holder);)
      holder--;
    return holder > s->low ? holder : 0;
  }
  const uint64_t groups = twpa__task_at(s, seq)->groups;
  for (unsigned g = 0; g < TWPA__GROUPS; g++) {
    uint64_t one = (groups >> g & 1) != 0 ? nearest_before(s, g, seq) : 0;
    holder = one > holder ? one : holder;
  }
  return holder;
}

static void tell(twpa_scheduler *s, uint64_t waiter, uint64_t holder)
{
  const twpa_wait wait = {.waiter = waiter, .holder = holder, .kind = TWPA_WAIT_COMMIT_TURN};
  s->busy = true;
  s->options.on_wait(s->options.user, &wait);
  s->busy = false;
}

/* Adds for whom it waits in these groups to `holders`, each once; returns how many there are then. */
static size_t add_holders(const twpa_scheduler *s, uint64_t waiter, uint64_t groups, uint64_t *holders, size_t n)
{
  for (unsigned g = 0; g < TWPA__GROUPS; g++) {
    uint64_t holder = (groups >> g & 1) != 0 ? nearest_before(s, g, waiter) : 0;
    size_t i = 0;
    while (i < n && holders[i] != holder)
      i++;
    if (holder != 0 && i == n)
      holders[n++] = holder;
  }
  return n;
}

/* Each holder once: those of `groups`, but for those that the waiter has been told of for the sake of `known`. */
static void tell_groups(twpa_scheduler *s, uint64_t waiter, uint64_t groups, uint64_t known)
{
  uint64_t holders[TWPA__GROUPS];
  size_t told = add_holders(s, waiter, known, holders, 0);
  for (size_t n = add_holders(s, waiter, groups, holders, told); told < n; told++)
    tell(s, waiter, holders[told]);
}

void twpa__tell_waits(twpa_scheduler *s, uint64_t seq)
{
  if (s->options.on_wait == NULL)
    return;
  if (s->orders != NULL)
    tell_groups(s, seq, twpa__task_at(s, seq)->groups, 0);
  else
    tell(s, seq, twpa__turn_holder(s, seq));
}

static bool waits_for_turn(const twpa_scheduler *s, uint64_t seq)
{
  const twpa__task *t = twpa__task_at(s, seq);
  return t->state == TWPA_TASK_EXECUTED && !t->doomed && !twpa__seqset_has(&s->turns, seq);
}

/* The next one behind it in a group that is not done; 0: none. */
static uint64_t nearest_behind(const twpa_scheduler *s, unsigned g, uint64_t seq)
{
  const twpa__order *o = &s->orders[g];
  for (size_t i = order_find(o, seq + 1); i < o->count; i++)
    if (!twpa__is_done(s, order_at(o, i)))
      return order_at(o, i);
  return 0;
}

void twpa__tell_waits_behind(twpa_scheduler *s, uint64_t seq)
{
  if (s->options.on_wait == NULL || s->options.commit_order == TWPA_COMMIT_ORDER_FREE)
    return;
  if (s->orders == NULL) {
    uint64_t waiter = seq + 1;
    while (waiter <= s->last && twpa__is_done(s, waiter))
      waiter++;
    if (waiter <= s->last && waits_for_turn(s, waiter))
      tell(s, waiter, twpa__turn_holder(s, waiter));
    return;
  }
  uint64_t left = twpa__task_at(s, seq)->groups;
  for (unsigned g = 0; g < TWPA__GROUPS; g++) {
    uint64_t waiter = (left >> g & 1) != 0 ? nearest_behind(s, g, seq) : 0, same = 0;
    if (waiter == 0 || !waits_for_turn(s, waiter))
      continue;
    for (unsigned k = g; k < TWPA__GROUPS; k++) /* all groups in which it is this one that waited for it */
      if ((left >> k & 1) != 0 && nearest_behind(s, k, seq) == waiter)
        same |= UINT64_C(1) << k;
    left &= ~same;
    tell_groups(s, waiter, same, twpa__task_at(s, waiter)->groups & ~same);
  }
}
