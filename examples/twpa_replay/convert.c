/*
 * Rows become values: columns are cut apart, compressed ones expanded, long ones put together from their chunks.
 *
 * The catalog is that of the end of the WAL, the rows may be older. So whatever does not fit is not guessed at: the
 * change stays in the transaction, is not applied, and marks its table as loose (model.h).
 */
#include "twpa_replay/convert.h"

#include "support/memory.h"
#include "support/wal/wal_files.h"
#include "support/wal/wal_records.h"

#include "twpa_replay/tables.h"

#include <stdlib.h>
#include <string.h>

#define INVAL_RELATION (-2)

typedef struct conversion {
  replay_model *m;
  twpa_txn *txn;
  replay_change *changes;
  size_t n, cap;
  twpa_lsn all_changed; /* its final LSN, once it has a barrier on the whole database */
} conversion;

static replay_change *place(conversion *c, uint32_t op, uint32_t table, twpa_lsn lsn)
{
  c->changes = host_grow(c->changes, &c->cap, c->n, sizeof *c->changes);
  replay_change *x = &c->changes[c->n++];
  *x = (replay_change){.op = op, .table = table, .lsn = lsn};
  return x;
}

/* One that counts. */
static replay_change *add_change(conversion *c, uint32_t op, uint32_t table, twpa_lsn lsn)
{
  replay_change *x = place(c, op, table, lsn);
  c->m->counts.ops[op]++;
  c->m->counts.changes += op != REPLAY_DDL;
  if (table != REPLAY_NO_TABLE && op != REPLAY_DDL)
    c->m->tables[table].changes++;
  return x;
}

static void skip(conversion *c, replay_change *x, uint32_t why)
{
  x->skip = why;
  c->m->counts.skipped[why]++;
  if (x->table == REPLAY_NO_TABLE)
    return;
  c->m->tables[x->table].skipped[why]++;
  c->m->tables[x->table].loose = true;
}

/* Puts a long value together. False if its chunks are not there, or do not make the value. */
static bool join_chunks(const conversion *c, const pg_value *v, pg_value *out, bool *unchanged)
{
  twpa_bytes bytes;
  host_error err;
  twpa_status st = twpa_txn_toast(c->txn, &bytes, 0, v->toast_id, v->toast_len);
  *unchanged = st == TWPA_E_NOTFOUND;
  return st == TWPA_OK && pg_value_from_toast(out, v, bytes.data, bytes.len, &err);
}

/* One value. False if it cannot be read. */
static bool convert_value(conversion *c, store_value *out, const pg_value *v, bool may_keep)
{
  pg_value joined;
  host_error err;
  *out = (store_value){.state = STORE_NULL};
  if (v->kind == PG_VALUE_NULL)
    return true;
  if (v->kind == PG_VALUE_EXTERNAL) {
    bool unchanged;
    if (!join_chunks(c, v, &joined, &unchanged)) {
      out->state = STORE_KEEP;
      return unchanged && may_keep;
    }
    v = &joined;
  }
  uint8_t *bytes = replay_memory(c->m, v->raw_len);
  *out = (store_value){.state = STORE_BYTES, .len = v->raw_len, .data = bytes};
  return pg_value_expand(bytes, v, &err);
}

/* All columns of a row image; NULL if it does not fit. */
static store_value *convert_row(conversion *c, const pg_relation *r, twpa_bytes image,
                                bool may_keep)
{
  host_error err;
  pg_tuple t;
  store_value *row = replay_memory(c->m, (r->column_count + 1u) * sizeof *row);
  pg_value *values = host_alloc(r->column_count, sizeof *values);
  bool ok = pg_tuple_open(&t, image.data, image.len, &err) &&
            pg_tuple_deform(values, &t, r->attrs, r->column_count, &err);
  for (uint16_t i = 0; ok && i < r->column_count; i++) {
    if (r->columns[i].dropped || r->columns[i].generated == 'v')
      row[i] = (store_value){.state = STORE_NULL};
    else
      ok = convert_value(c, &row[i], &values[i], may_keep);
  }
  free(values);
  return ok ? row : NULL;
}

/* Leaves only the identity of an old image. False if a column of it is not there. */
static bool keep_identity(const pg_relation *r, store_value *row)
{
  const pg_index *x = r->identity;
  bool *part = host_alloc(r->column_count, sizeof *part);
  bool ok = x && x->key_count;
  for (uint16_t k = 0; x && k < x->key_count; k++) {
    if (x->keys[k].column <= 0) {
      ok = false;
      continue;
    }
    part[x->keys[k].column - 1] = true;
    ok = ok && row[x->keys[k].column - 1].state == STORE_BYTES;
  }
  for (uint16_t i = 0; i < r->column_count; i++)
    if (!part[i])
      row[i] = (store_value){.state = STORE_UNKNOWN};
  free(part);
  return ok;
}

/* Whether the identity's values are in a new row, so that an update without old image finds its row by them. */
static bool has_identity(const pg_relation *r, const store_value *row)
{
  if (r->replica_identity == 'f' || r->replica_identity == 'n' || !r->identity)
    return false;
  for (uint16_t k = 0; k < r->identity->key_count; k++)
    if (r->identity->keys[k].column <= 0 ||
        row[r->identity->keys[k].column - 1].state != STORE_BYTES)
      return false;
  return true;
}

/* The old image of an update or delete, as far as the replica identity promises it. */
static void convert_old(conversion *c, replay_change *x, const pg_relation *r,
                        const twpa_change *change)
{
  store_value *row = NULL;
  bool full = r->replica_identity == 'f';
  if (change->old_row.data && r->replica_identity != 'n') {
    row = convert_row(c, r, change->old_row, false);
    if (!row) {
      skip(c, x, REPLAY_UNREADABLE);
      return;
    }
    if (!full && !keep_identity(r, row))
      row = NULL;
  }
  x->old_row = row;
  bool found =
      row || (!change->old_row.data && x->op == REPLAY_UPDATE && has_identity(r, x->new_row));
  if (!found)
    skip(c, x, REPLAY_NO_IDENTITY);
}

static void convert_row_change(conversion *c, const twpa_change *change)
{
  static const uint32_t ops[] = {
      [TWPA_INSERT] = REPLAY_INSERT, [TWPA_UPDATE] = REPLAY_UPDATE, [TWPA_DELETE] = REPLAY_DELETE};
  pg_file_owner owner;
  if (!pg_catalog_file_owner(&owner, c->m->catalog, change->locator, change->lsn)) {
    if (change->kind == TWPA_DELETE && !change->old_row.data)
      skip(c, place(c, REPLAY_DELETE, REPLAY_NO_TABLE, change->lsn), REPLAY_PERHAPS_NONE);
    else
      skip(c, add_change(c, ops[change->kind], REPLAY_NO_TABLE, change->lsn), REPLAY_NO_RELATION);
    return;
  }
  const pg_relation *r = owner.relation;
  if (r->system_catalog || !r->logically_logged || (r->kind != 'r' && r->kind != 'm'))
    return;
  replay_change *x = add_change(c, ops[change->kind], replay_table_of(c->m, r), change->lsn);
  bool copied = owner.rewrite && (uint32_t)change->xid == owner.rewrite_xid;
  if (!owner.layout_known || copied || (x->op != REPLAY_DELETE && !change->new_row.data)) {
    skip(c, x, REPLAY_UNREADABLE);
    return;
  }
  if (x->op != REPLAY_DELETE) {
    x->new_row = convert_row(c, r, change->new_row, x->op == REPLAY_UPDATE);
    if (!x->new_row) {
      skip(c, x, REPLAY_UNREADABLE);
      return;
    }
  }
  if (x->op != REPLAY_INSERT)
    convert_old(c, x, r, change);
}

static void convert_truncate(conversion *c, const twpa_change *change)
{
  uint32_t *tables = replay_memory(c->m, (change->nrelations + 1) * sizeof *tables), n = 0;
  bool unknown = false;
  for (size_t i = 0; i < change->nrelations; i++) {
    const pg_relation *r =
        pg_catalog_by_oid(c->m->catalog, (uint32_t)change->relations[i], change->lsn);
    if (r && r->kind == 'r')
      tables[n++] = replay_table_of(c->m, r);
    unknown = unknown || !r;
  }
  if (n) {
    replay_change *x = add_change(c, REPLAY_TRUNCATE, tables[0], change->lsn);
    x->tables = tables;
    x->ntables = n;
  }
  if (unknown)
    skip(c, add_change(c, REPLAY_TRUNCATE, REPLAY_NO_TABLE, change->lsn), REPLAY_NO_RELATION);
}

/* A barrier, unless this transaction has it already. */
static void add_ddl(conversion *c, uint32_t table, twpa_lsn lsn)
{
  twpa_lsn *mark = table == REPLAY_NO_TABLE ? &c->all_changed : &c->m->tables[table].ddl_in;
  if (*mark == twpa_txn_final_lsn(c->txn))
    return;
  *mark = twpa_txn_final_lsn(c->txn);
  add_change(c, REPLAY_DDL, table, lsn);
}

/* Messages to caches: one about a relation means that its schema, or something near it, has changed. */
static void convert_invalidation(conversion *c, const twpa_change *change)
{
  wal_list list = {change->content.data, (uint32_t)(change->content.len / WAL_INVAL_BYTES)};
  for (uint32_t i = 0; i < list.count; i++) {
    wal_inval v = wal_list_inval(list, i);
    if (v.type != INVAL_RELATION || v.database != c->m->database->oid)
      continue;
    if (!v.object) {
      add_ddl(c, REPLAY_NO_TABLE, change->lsn);
      continue;
    }
    const pg_relation *r = pg_catalog_by_oid(c->m->catalog, v.object, change->lsn);
    if (r && r->kind == 'r' && !r->system_catalog && r->logically_logged)
      add_ddl(c, replay_table_of(c->m, r), change->lsn);
  }
}

/* TRUNCATE gives a table a new file, of which the caches are told as well: that is no change of its schema. */
static void drop_ddl_of_truncates(conversion *c)
{
  size_t kept = 0;
  twpa_lsn now = twpa_txn_final_lsn(c->txn);
  for (size_t i = 0; i < c->n; i++)
    for (uint32_t k = 0; k < c->changes[i].ntables; k++)
      c->m->tables[c->changes[i].tables[k]].truncated_in = now;
  for (size_t i = 0; i < c->n; i++) {
    const replay_change *x = &c->changes[i];
    if (x->op == REPLAY_DDL && x->table != REPLAY_NO_TABLE &&
        c->m->tables[x->table].truncated_in == now)
      c->m->counts.ops[REPLAY_DDL]--;
    else
      c->changes[kept++] = *x;
  }
  c->n = kept;
}

bool replay_convert(replay_model *m, twpa_txn *txn, host_error *err)
{
  conversion c = {.m = m, .txn = txn};
  twpa_change change;
  twpa_status st;
  while ((st = twpa_txn_next(txn, &change)) == TWPA_OK) {
    if (change.kind <= TWPA_DELETE)
      convert_row_change(&c, &change);
    else if (change.kind == TWPA_TRUNCATE)
      convert_truncate(&c, &change);
    else if (change.kind == TWPA_INVALIDATION)
      convert_invalidation(&c, &change);
    else
      m->counts.messages += change.kind == TWPA_MESSAGE;
  }
  if (st != TWPA_NONE) {
    char at[WAL_LSN_BYTES];
    free(c.changes);
    return host_fail(err, "transaction %llu, committed at %s: %s",
                     (unsigned long long)twpa_txn_xid(txn),
                     wal_lsn_text(at, twpa_txn_final_lsn(txn)), twpa_status_text(st));
  }
  drop_ddl_of_truncates(&c);
  if (!c.n) {
    free(c.changes);
    m->counts.empty++;
    return true;
  }
  m->txns = host_grow(m->txns, &m->txns_cap, m->ntxns, sizeof *m->txns);
  replay_txn *t = &m->txns[m->ntxns++];
  *t = (replay_txn){.xid = twpa_txn_xid(txn),
                    .commit_lsn = twpa_txn_final_lsn(txn),
                    .end_lsn = twpa_txn_end_lsn(txn),
                    .nchanges = (uint32_t)c.n};
  t->changes = replay_memory(m, c.n * sizeof *t->changes);
  memcpy(t->changes, c.changes, c.n * sizeof *t->changes);
  free(c.changes);
  return true;
}
