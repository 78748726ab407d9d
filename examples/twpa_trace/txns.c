/* Transactions of the planning half: what they touch, and how they enter the plan. */
#include "planning.h"

#include "decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Makes what is missing of plan, progress, scheduler and access set. */
static twpa_status make_all(trace *t)
{
  plan_half *p = t->plan;
  twpa_status st = TWPA_OK;
  if (p->plan == NULL)
    st = twpa_plan_new(&p->plan, &p->options, &t->allocator);
  if (st == TWPA_OK && p->tracked && p->progress == NULL) {
    st = twpa_progress_new(&p->progress, &p->track, &t->allocator);
    if (st == TWPA_OK && p->saved != NULL)
      trace_status(t, twpa_progress_load(p->progress, p->saved, p->nsaved));
  }
  if (st == TWPA_OK && p->scheduled && p->scheduler == NULL) {
    twpa_scheduler_options options = p->schedule;
    options.progress = p->progress;
    st = twpa_scheduler_new(&p->scheduler, p->plan, &options, &t->allocator);
  }
  if (st == TWPA_OK && p->set == NULL)
    st = twpa_access_set_new(&p->set, p->plan, &t->allocator);
  return st;
}

bool plan_ready(trace *t)
{
  twpa_status st = make_all(t);
  trace_status(t, st);
  return st == TWPA_OK;
}

bool do_txn(trace *t, const trace_command *c)
{
  plan_half *p = t->plan;
  twpa_lsn end = 0;
  uint64_t origin = 0, groups = 0;
  uint32_t flags = 0;
  if (!arg_position(t, c, "end", &end) || !arg_number(t, c, "origin", &origin, 0, UINT64_MAX) ||
      !arg_flags(t, c, "flags", &flags, "prepared") || !arg_number(t, c, "groups", &groups, 0, UINT64_MAX))
    return false;
  if (!plan_ready(t))
    return true;
  p->groups = groups;
  p->has_groups = arg_has(c, "groups");
  twpa_status st = twpa_access_set_begin(p->set, end, origin, flags);
  p->in_txn = st == TWPA_OK;
  return trace_status(t, st);
}

static bool need_txn(trace *t, const trace_command *c)
{
  return t->plan->in_txn ||
         trace_fail(t->err, c->at, "there is no 'txn' before it (the subject of an event of the log is a number)");
}

/* Old and new row of a change, as far as they are there. */
static bool add_change(trace *t, trace_described *r, uint32_t op, const trace_text *old_row, const trace_text *new_row,
                       twpa_txn *txn, trace_place at, twpa_status *st)
{
  trace_values old_values = {0}, new_values = {0};
  bool ok = (old_row == NULL || values_of_row(t, &old_values, r, text_get(old_row), old_row->len, txn, true, at)) &&
            (new_row == NULL || values_of_row(t, &new_values, r, text_get(new_row), new_row->len, txn, false, at));
  if (ok)
    *st = twpa_access_set_change(t->plan->set, r->built, op, old_values.values, new_values.values, r->ncolumns);
  values_free(&old_values);
  values_free(&new_values);
  return ok;
}

bool txn_row(trace *t, const trace_command *c)
{
  trace_text old_row = {0}, new_row = {0};
  bool has_old, has_new;
  trace_described *r = need_txn(t, c) ? arg_described(t, c, NULL) : NULL;
  if (r == NULL)
    return false;
  int op = choice_of(c->verb->name, strlen(c->verb->name), "?|insert|update|delete");
  if (op < 0)
    return trace_fail(t->err, c->at, "'%s' is an event of the log only", c->verb->name);
  twpa_status st = TWPA_OK;
  bool ok = arg_row(t, c, "old", &old_row, &has_old) && arg_row(t, c, "new", &new_row, &has_new) &&
            add_change(t, r, (uint32_t)op, has_old ? &old_row : NULL, has_new ? &new_row : NULL, NULL,
                       arg_place(c, has_new ? "new" : "old"), &st);
  text_free(&old_row);
  text_free(&new_row);
  return ok && trace_status(t, st);
}

bool txn_truncate(trace *t, const trace_command *c)
{
  uint64_t *numbers;
  size_t n;
  if (!need_txn(t, c) || !arg_relations(t, c, NULL, &numbers, &n))
    return false;
  twpa_relation **relations = malloc((n + 1) * sizeof(twpa_relation *));
  bool ok = relations != NULL;
  for (size_t i = 0; ok && i < n; i++) {
    const trace_described *r = described_ready(t, c, numbers[i]);
    ok = r != NULL;
    if (ok)
      relations[i] = r->built;
  }
  if (ok)
    trace_status(t, twpa_access_set_truncate(t->plan->set, relations, n));
  free(relations);
  free(numbers);
  return ok;
}

bool txn_touch(trace *t, const trace_command *c)
{
  const trace_described *r = need_txn(t, c) ? arg_described(t, c, NULL) : NULL;
  return r != NULL && trace_status(t, twpa_access_set_touch(t->plan->set, r->built));
}

bool do_barrier(trace *t, const trace_command *c)
{
  if (!need_txn(t, c))
    return false;
  if (arg_of(c, NULL) == NULL)
    return trace_status(t, twpa_access_set_barrier(t->plan->set, NULL));
  const trace_described *r = arg_described(t, c, NULL);
  return r != NULL && trace_status(t, twpa_access_set_barrier(t->plan->set, r->built));
}

bool do_access(trace *t, const trace_command *c)
{
  uint64_t key = 0;
  uint32_t mode = TWPA_MODE_WRITE;
  return need_txn(t, c) && arg_number(t, c, NULL, &key, 0, UINT64_MAX) &&
         arg_choice(t, c, "mode", &mode, "?|read|update|write|exclusive") &&
         trace_status(t, twpa_access_set_access(t->plan->set, key, mode));
}

static void submit(trace *t)
{
  plan_half *p = t->plan;
  uint64_t seq = 0;
  uint32_t npredecessors = 0;
  twpa_status st;
  if (p->scheduler == NULL)
    st = twpa_plan_add(p->plan, &seq, &npredecessors, p->set);
  else if (p->has_groups)
    st = twpa_scheduler_submit_groups(p->scheduler, &seq, p->set, NULL, p->groups);
  else
    st = twpa_scheduler_submit(p->scheduler, &seq, p->set, NULL);
  if (st != TWPA_OK) {
    trace_status(t, st);
    return;
  }
  p->in_txn = false;
  if (p->print_edges < 2)
    trace_say(t, "enter seq=%" PRIu64, seq);
  show_edges_of(t, seq);
}

bool do_enter(trace *t, const trace_command *c)
{
  if (!need_txn(t, c))
    return false;
  submit(t);
  return true;
}

bool do_seed(trace *t, const trace_command *c)
{
  trace_text row = {0};
  trace_values values = {0};
  bool present;
  if (!arg_need(t, c, "new"))
    return false;
  trace_described *r = arg_described(t, c, NULL);
  if (r == NULL || !arg_row(t, c, "new", &row, &present)) {
    text_free(&row);
    return false;
  }
  bool ok = values_of_row(t, &values, r, text_get(&row), row.len, NULL, false, arg_place(c, "new"));
  if (ok && plan_ready(t))
    trace_status(t, twpa_plan_seed_row(t->plan->plan, r->built, values.values, values.n));
  values_free(&values);
  text_free(&row);
  return ok;
}

/* --- transactions of the decoding half --- */

static bool take_change(trace *t, const trace_command *c, twpa_txn *txn, const twpa_change *change, twpa_status *st)
{
  trace_text old_row = {0}, new_row = {0};
  if (change->kind == TWPA_TRUNCATE) {
    twpa_relation *relation;
    for (size_t i = 0; i < change->nrelations; i++) {
      const trace_described *r = described_ready(t, c, change->relations[i]);
      if (r == NULL)
        return false;
      relation = r->built;
      *st = twpa_access_set_truncate(t->plan->set, &relation, 1);
    }
    return true;
  }
  if (change->kind > TWPA_DELETE)
    return true;
  if (change->locator.file == 0)
    return trace_fail(t->err, c->at, "a row without rel= cannot be planned");
  trace_described *r = described_ready(t, c, change->locator.file);
  if (r == NULL)
    return false;
  text_bytes(&old_row, change->old_row.data, change->old_row.len);
  text_bytes(&new_row, change->new_row.data, change->new_row.len);
  bool ok = add_change(t, r, change->kind, change->old_row.data != NULL ? &old_row : NULL,
                       change->new_row.data != NULL ? &new_row : NULL, txn, c->at, st);
  text_free(&old_row);
  text_free(&new_row);
  return ok;
}

bool plan_take(trace *t, twpa_txn *txn, trace_place at)
{
  trace_command c = {.at = at};
  bool ok = true;
  if (plan_ready(t)) {
    twpa_change change;
    twpa_status st = twpa_access_set_begin(t->plan->set, twpa_txn_end_lsn(txn), twpa_txn_origin(txn), 0);
    t->plan->has_groups = false;
    while (ok && st == TWPA_OK && (st = twpa_txn_next(txn, &change)) == TWPA_OK)
      ok = take_change(t, &c, txn, &change, &st);
    if (ok && st == TWPA_NONE)
      submit(t);
    else if (ok)
      trace_status(t, st);
  }
  twpa_txn_release(txn);
  return ok;
}
