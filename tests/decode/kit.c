/* The consumer and the storage of the tests. */
#include "decode/kit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts --- */

void text_add(text *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char buf[512];
  int n = vsnprintf(buf, sizeof buf, format, args);
  va_end(args);
  ck_assert_int_ge(n, 0);
  size_t len = (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1;
  if (t->len + len + 1 > t->cap) {
    t->cap = (t->len + len + 1) * 2;
    t->data = realloc(t->data, t->cap);
    ck_assert_ptr_nonnull(t->data);
  }
  memcpy(t->data + t->len, buf, len + 1);
  t->len += len;
}

void text_clear(text *t)
{
  free(t->data);
  memset(t, 0, sizeof *t);
}

const char *text_get(const text *t)
{
  return t->data != NULL ? t->data : "";
}

twpa_bytes str(const char *s)
{
  return (twpa_bytes){s, s != NULL ? strlen(s) : 0};
}

/* --- consumer --- */

static kit_txn *txn_of(kit *k, twpa_xid xid, bool make)
{
  kit_txn *t = k->txns;
  while (t != NULL && t->xid != xid)
    t = t->next;
  if (t == NULL && make) {
    t = calloc(1, sizeof *t);
    ck_assert_ptr_nonnull(t);
    t->xid = xid;
    t->next = k->txns;
    k->txns = t;
  }
  return t;
}

static void cut(kit_txn *t, size_t n)
{
  while (t->nlines > n)
    free(t->lines[--t->nlines].line);
}

static void drop(kit *k, kit_txn *t)
{
  kit_txn **p = &k->txns;
  while (*p != t)
    p = &(*p)->next;
  *p = t->next;
  cut(t, 0);
  free(t->lines);
  free(t);
}

static void add_line(kit_txn *t, twpa_xid xid, const char *line)
{
  if (t->nlines == t->cap) {
    t->cap = t->cap * 2 + 8;
    t->lines = realloc(t->lines, t->cap * sizeof *t->lines);
    ck_assert_ptr_nonnull(t->lines);
  }
  t->lines[t->nlines].xid = xid;
  t->lines[t->nlines].line = strdup(line);
  t->nlines++;
}

/* Counts a callback and says whether it fails. */
static int gate(kit *k, const char *name, const twpa_txn *txn)
{
  k->calls++;
  if (k->keep_log)
    text_add(&k->log, "%s %llu\n", name, txn != NULL ? (unsigned long long)twpa_txn_xid(txn) : 0);
  return k->calls == k->fail_at ? 7 : 0;
}

static void no_other_block(const kit *k, const kit_txn *but)
{
  for (const kit_txn *t = k->txns; t != NULL; t = t->next)
    ck_assert_msg(t == but || (!t->in_block && !t->delivering), "transaction inside another one");
}

static void deliver_result(kit *k, kit_txn *t, const twpa_txn *txn, const char *how)
{
  text_add(&k->result, "%s %llu\n", how, (unsigned long long)twpa_txn_xid(txn));
  for (size_t i = 0; i < t->nlines; i++)
    text_add(&k->result, "%s", t->lines[i].line);
  drop(k, t);
}

/* A failed delivery leaves its changes behind: they count for nothing from the next begin or stream_start on. */
static void restart(kit *k, kit_txn *t)
{
  for (kit_txn *o = k->txns; o != NULL; o = o->next) {
    if (o->in_block || o->delivering)
      cut(o, o->block);
    o->in_block = o->delivering = false;
  }
  t->block = t->nlines;
}

static int on_begin(void *user, twpa_txn *txn)
{
  kit *k = user;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), true);
  restart(k, t);
  ck_assert(!t->streamed && !t->prepared);
  t->delivering = true;
  return gate(k, "begin", txn);
}

/* Which command, which state of the catalog, and in which command the row version (1,1) of relation 3 was written. */
static size_t describe_view(char *buf, size_t cap, twpa_txn *txn)
{
  twpa_cid cmin = 0, cmax;
  twpa_status st = twpa_txn_tuplecid(txn, &cmin, &cmax, &(twpa_locator){1, 2, 3}, &(twpa_tid){.block = 1, .line = 1});
  ck_assert(st == TWPA_OK || st == TWPA_E_NOTFOUND);
  return (size_t)snprintf(buf, cap, " sees %u %llu %d", twpa_txn_command_id(txn),
                          (unsigned long long)twpa_txn_catalog_lsn(txn), st == TWPA_OK ? (int)cmin : -1);
}

static void describe(const kit *k, char *buf, size_t cap, twpa_txn *txn, const twpa_change *c)
{
  static const char *const kinds[] = {"?", "ins", "upd", "del", "trunc", "msg"};
  ck_assert_uint_le(c->kind, TWPA_MESSAGE);
  int n = snprintf(buf, cap, "%s %llu @%llu", kinds[c->kind], (unsigned long long)c->xid, (unsigned long long)c->lsn);
  size_t at = (size_t)n;
  if (c->old_row.data != NULL)
    at += (size_t)snprintf(buf + at, cap - at, " old=%.*s", (int)(c->old_row.len < 80 ? c->old_row.len : 80),
                           (const char *)c->old_row.data);
  if (c->new_row.data != NULL) {
    at += (size_t)snprintf(buf + at, cap - at, " new=%.*s", (int)(c->new_row.len < 80 ? c->new_row.len : 80),
                           (const char *)c->new_row.data);
    ck_assert_uint_eq((uintptr_t)c->new_row.data % 8, 0);
  }
  for (size_t i = 0; i < c->nrelations; i++)
    at += (size_t)snprintf(buf + at, cap - at, " %llu", (unsigned long long)c->relations[i]);
  if (c->kind == TWPA_MESSAGE)
    at += (size_t)snprintf(buf + at, cap - at, " %.*s", (int)c->content.len, (const char *)c->content.data);
  /* A row "...^v=len" has the long value v. */
  const char *mark = c->new_row.data != NULL ? memchr(c->new_row.data, '^', c->new_row.len) : NULL;
  if (mark != NULL) {
    unsigned value, len;
    char copy[40];
    snprintf(copy, sizeof copy, "%.*s", (int)(c->new_row.len - (size_t)(mark - (const char *)c->new_row.data)), mark);
    ck_assert_int_eq(sscanf(copy, "^%u=%u", &value, &len), 2);
    twpa_bytes bytes;
    twpa_status st = twpa_txn_toast(txn, &bytes, 9, value, len);
    ck_assert_int_eq(st, TWPA_OK);
    at += (size_t)snprintf(buf + at, cap - at, " long=%.*s", (int)(len < 100 ? len : 100), (const char *)bytes.data);
  }
  if (k->show_view)
    at += describe_view(buf + at, cap - at, txn);
  snprintf(buf + at, cap - at, "\n");
}

static bool is_aborted(const kit *k, twpa_xid xid)
{
  for (size_t i = 0; i < k->naborted; i++)
    if (k->aborted_xids[i] == xid)
      return true;
  return false;
}

static int take_change(kit *k, twpa_txn *txn, const twpa_change *c)
{
  char line[512];
  describe(k, line, sizeof line, txn, c);
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert_ptr_nonnull(t);
  add_line(t, c->xid, line);
  k->calls++;
  if (k->keep_log)
    text_add(&k->log, "%s", line);
  if (k->abort_by_callback && is_aborted(k, c->xid))
    return TWPA_CALLBACK_ABORTED;
  return k->calls == k->fail_at ? 7 : 0;
}

static int on_change(void *user, twpa_txn *txn, const twpa_change *c)
{
  kit *k = user;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->delivering);
  no_other_block(k, t);
  return take_change(k, txn, c);
}

static int on_message(void *user, twpa_txn *txn, const twpa_change *c)
{
  kit *k = user;
  if ((c->flags & TWPA_CHANGE_NONTRANSACTIONAL) == 0)
    return on_change(user, txn, c);
  k->calls++;
  if (k->calls == k->fail_at)
    return 7;
  text_add(&k->result, "now %llu @%llu %.*s\n", (unsigned long long)c->xid, (unsigned long long)c->lsn,
           (int)c->content.len, (const char *)c->content.data);
  if (k->keep_log)
    text_add(&k->log, "now %llu %.*s\n", (unsigned long long)c->xid, (int)c->content.len,
             (const char *)c->content.data);
  return 0;
}

static int on_commit(void *user, twpa_txn *txn)
{
  kit *k = user;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->delivering);
  ck_assert_uint_ge(twpa_txn_end_lsn(txn), twpa_txn_final_lsn(txn));
  int result = gate(k, "commit", txn);
  if (result == 0)
    deliver_result(k, t, txn, "commit");
  return result;
}

static int on_begin_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  kit *k = user;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), true);
  ck_assert_uint_gt(gid.len, 0);
  restart(k, t);
  ck_assert(!t->streamed && !t->prepared);
  t->delivering = true;
  return gate(k, "begin_prepare", txn);
}

static int on_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  kit *k = user;
  (void)gid;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->delivering && !t->prepared);
  int result = gate(k, "prepare", txn);
  if (result == 0) {
    t->delivering = false;
    t->prepared = true;
  }
  return result;
}

static int on_commit_prepared(void *user, twpa_txn *txn, twpa_bytes gid)
{
  kit *k = user;
  (void)gid;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  int result = gate(k, "commit_prepared", txn);
  if (result != 0)
    return result;
  if (t != NULL) {
    ck_assert(t->prepared);
    deliver_result(k, t, txn, "commit");
  } else {
    text_add(&k->result, "commit-earlier %llu\n", (unsigned long long)twpa_txn_xid(txn));
  }
  return 0;
}

static int on_rollback_prepared(void *user, twpa_txn *txn, twpa_bytes gid, twpa_lsn end_lsn, twpa_time time)
{
  kit *k = user;
  (void)gid;
  k->rollback_lsn = end_lsn;
  k->rollback_time = time;
  ck_assert_uint_ne(end_lsn, 0);
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  int result = gate(k, "rollback_prepared", txn);
  if (result == 0 && t != NULL) {
    ck_assert(t->prepared);
    drop(k, t);
  }
  return result;
}

static int on_stream_start(void *user, twpa_txn *txn, twpa_lsn first)
{
  kit *k = user;
  ck_assert_uint_ne(first, 0);
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), true);
  restart(k, t);
  ck_assert(!t->prepared);
  t->in_block = true;
  return gate(k, "stream_start", txn);
}

static int on_stream_stop(void *user, twpa_txn *txn, twpa_lsn last)
{
  kit *k = user;
  ck_assert_uint_ne(last, 0);
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->in_block);
  int result = gate(k, "stream_stop", txn);
  if (result == 0) {
    t->in_block = false;
    t->streamed = true;
  }
  return result;
}

static int on_stream_change(void *user, twpa_txn *txn, const twpa_change *c)
{
  kit *k = user;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->in_block);
  no_other_block(k, t);
  return take_change(k, txn, c);
}

static int on_stream_abort(void *user, twpa_txn *txn, twpa_xid xid, twpa_lsn lsn)
{
  kit *k = user;
  k->abort_lsn = lsn;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->streamed);
  k->calls++;
  if (k->keep_log)
    text_add(&k->log, "stream_abort %llu %llu\n", (unsigned long long)twpa_txn_xid(txn), (unsigned long long)xid);
  if (k->calls == k->fail_at)
    return 7;
  if (t->in_block)
    cut(t, t->block);
  t->in_block = false;
  if (xid == t->xid) {
    drop(k, t);
    return 0;
  }
  size_t n = 0;
  for (size_t i = 0; i < t->nlines; i++) {
    if (t->lines[i].xid != xid)
      t->lines[n++] = t->lines[i];
    else
      free(t->lines[i].line);
  }
  ck_assert_msg(n < t->nlines, "stream_abort of a subtransaction that was never delivered");
  t->nlines = n;
  return 0;
}

static int on_stream_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  kit *k = user;
  (void)gid;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->streamed && !t->in_block && !t->prepared);
  int result = gate(k, "stream_prepare", txn);
  if (result == 0)
    t->prepared = true;
  return result;
}

static int on_stream_commit(void *user, twpa_txn *txn)
{
  kit *k = user;
  kit_txn *t = txn_of(k, twpa_txn_xid(txn), false);
  ck_assert(t != NULL && t->streamed && !t->in_block);
  int result = gate(k, "stream_commit", txn);
  if (result == 0)
    deliver_result(k, t, txn, "commit");
  return result;
}

static int on_filter_origin(void *user, uint32_t origin)
{
  const kit *k = user;
  return k->filter_origin != 0 && origin == k->filter_origin;
}

static int on_filter_prepare(void *user, twpa_xid xid, twpa_bytes gid)
{
  const kit *k = user;
  (void)xid;
  return k->filter_gid != NULL && gid.len == strlen(k->filter_gid) && memcmp(gid.data, k->filter_gid, gid.len) == 0;
}

static int on_progress(void *user, twpa_txn *txn, twpa_lsn lsn)
{
  kit *k = user;
  (void)txn;
  ck_assert_uint_ne(lsn, 0);
  k->progress++;
  k->progress_lsn = lsn;
  return 0;
}

static int on_take(void *user, twpa_txn *txn)
{
  kit *k = user;
  if (!k->take)
    return TWPA_CALLBACK_DECLINED;
  int result = gate(k, "take", txn);
  if (result != 0)
    return result;
  ck_assert_uint_lt(k->ntaken, 64);
  k->taken[k->ntaken++] = txn;
  return 0;
}

void kit_walk_taken(kit *k, void (*unfail)(kit *k, void *arg), void *arg)
{
  for (size_t i = 0; i < k->ntaken; i++) {
    twpa_txn *txn = k->taken[i];
    kit_txn *t = txn_of(k, twpa_txn_xid(txn), true);
    for (int round = 0; round < 2; round++) {
      twpa_change c;
      twpa_status st;
      cut(t, 0);
      while ((st = twpa_txn_next(txn, &c)) != TWPA_NONE) {
        if (st != TWPA_OK) {
          ck_assert_msg(unfail != NULL, "status %s", twpa_status_name(st));
          unfail(k, arg);
          continue;
        }
        if (c.kind == TWPA_INVALIDATION)
          continue;
        char line[512];
        describe(k, line, sizeof line, txn, &c);
        add_line(t, c.xid, line);
        if (round == 0 && t->nlines == 3)
          break;
      }
      ck_assert_int_eq(twpa_txn_rewind(txn), TWPA_OK);
    }
    deliver_result(k, t, txn, "commit");
    twpa_txn_release(txn);
  }
  k->ntaken = 0;
}

/* --- hooks --- */

static uint32_t on_xid_status(void *user, twpa_xid xid)
{
  kit *k = user;
  k->status_calls++;
  if (xid == k->committed_xid)
    return TWPA_XID_COMMITTED;
  return k->abort_by_status && is_aborted(k, xid) ? TWPA_XID_ABORTED : TWPA_XID_IN_PROGRESS;
}

static void on_invalidate(void *user, twpa_bytes content)
{
  kit *k = user;
  ck_assert_ptr_nonnull(content.data);
  k->invalidations++;
  if (k->keep_log)
    text_add(&k->log, "invalidate %.*s\n", (int)content.len, (const char *)content.data);
}

static void on_invalidate_all(void *user)
{
  kit *k = user;
  k->invalidate_alls++;
  if (k->keep_log)
    text_add(&k->log, "invalidate all\n");
}

/* --- storage --- */

static bool store_fails(kit *k)
{
  k->store_calls++;
  if (k->store_fail_at == 0)
    return false;
  return k->store_persistent ? k->store_calls >= k->store_fail_at : k->store_calls == k->store_fail_at;
}

static kit_file *file_of(kit *k, uint64_t id)
{
  kit_file *f = k->files;
  while (f != NULL && f->id != id)
    f = f->next;
  return f;
}

static int store_write(void *user, uint64_t id, uint64_t offset, const void *data, size_t len)
{
  kit *k = user;
  kit_file *f = file_of(k, id);
  if (f == NULL) {
    ck_assert_uint_eq(offset, 0);
    f = calloc(1, sizeof *f);
    ck_assert_ptr_nonnull(f);
    f->id = id;
    f->next = k->files;
    k->files = f;
  }
  ck_assert_uint_le(offset, f->len);
  bool fails = store_fails(k);
  size_t n = fails ? len / 2 : len; /* a write that fails has written something */
  if (offset + n > f->cap) {
    f->cap = (size_t)(offset + n) * 2;
    f->data = realloc(f->data, f->cap);
    ck_assert_ptr_nonnull(f->data);
  }
  memcpy(f->data + offset, data, n);
  f->len = offset + n;
  return fails ? 5 : 0;
}

static int store_read(void *user, uint64_t id, uint64_t offset, void *data, size_t len)
{
  kit *k = user;
  const kit_file *f = file_of(k, id);
  ck_assert_ptr_nonnull(f);
  if (store_fails(k))
    return 5;
  if (offset + len > f->len)
    return TWPA_E_CORRUPT;
  memcpy(data, f->data + offset, len);
  return 0;
}

static int store_remove(void *user, uint64_t id)
{
  kit *k = user;
  if (store_fails(k))
    return 5;
  kit_file **p = &k->files;
  while (*p != NULL && (*p)->id != id)
    p = &(*p)->next;
  kit_file *f = *p;
  if (f == NULL)
    return 0;
  *p = f->next;
  free(f->data);
  free(f);
  return 0;
}

/* --- the kit --- */

void kit_init(kit *k)
{
  memset(k, 0, sizeof *k);
  k->keep_log = true;
  k->output = (twpa_output){
    TWPA_OUTPUT_INIT,
    .begin = on_begin, .change = on_change, .truncate = on_change, .message = on_message, .commit = on_commit,
    .filter_prepare = on_filter_prepare, .begin_prepare = on_begin_prepare, .prepare = on_prepare,
    .commit_prepared = on_commit_prepared, .rollback_prepared = on_rollback_prepared,
    .stream_start = on_stream_start, .stream_stop = on_stream_stop, .stream_change = on_stream_change,
    .stream_truncate = on_stream_change, .stream_message = on_stream_change, .stream_abort = on_stream_abort,
    .stream_prepare = on_stream_prepare, .stream_commit = on_stream_commit,
    .filter_origin = on_filter_origin, .update_progress = on_progress, .take = on_take,
  };
  k->storage = (twpa_storage){TWPA_STORAGE_INIT, k, store_write, store_read, store_remove};
  k->hooks = (twpa_reorder_hooks){TWPA_REORDER_HOOKS_INIT, k, on_xid_status, on_invalidate, on_invalidate_all};
}

void kit_disconnect(kit *k)
{
  for (kit_txn *t = k->txns, *next; t != NULL; t = next) {
    next = t->next;
    if (!t->prepared)
      drop(k, t);
  }
}

void kit_free(kit *k)
{
  while (k->txns != NULL)
    drop(k, k->txns);
  while (k->files != NULL) {
    k->store_fail_at = 0;
    store_remove(k, k->files->id);
  }
  text_clear(&k->log);
  text_clear(&k->result);
}

twpa_reorder *kit_new(kit *k, const twpa_reorder_options *options, const twpa_allocator *mem)
{
  twpa_reorder_options own = {.struct_size = TWPA_REORDER_OPTIONS_INIT};
  if (options != NULL)
    own = *options;
  own.hooks = &k->hooks;
  if (own.storage == NULL)
    own.storage = &k->storage;
  twpa_reorder *r = NULL;
  twpa_status st = twpa_reorder_new(&r, &own, &k->output, k, mem);
  if (mem == NULL)
    ck_assert_int_eq(st, TWPA_OK);
  k->reorder = r;
  return r;
}

void kit_check(const twpa_reorder *r)
{
  const char *broken = twpa__reorder_check(r);
  ck_assert_msg(broken == NULL, "broken: %s", broken);
}

twpa_reorder_counters kit_stats(const twpa_reorder *r)
{
  twpa_reorder_counters stats = {.struct_size = TWPA_REORDER_COUNTERS_INIT};
  ck_assert_int_eq(twpa_reorder_stats(r, &stats), TWPA_OK);
  return stats;
}

void kit_done(kit *k, twpa_reorder *r)
{
  kit_check(r);
  k->store_fail_at = 0;
  twpa_reorder_free(r);
  ck_assert_msg(k->ntaken > 0 || k->files == NULL, "files left in storage");
}

static twpa_record record_at(twpa_xid xid, twpa_xid top, twpa_lsn lsn)
{
  return (twpa_record){.lsn = lsn, .end_lsn = lsn + 1, .xid = xid, .top_xid = top};
}

twpa_status kit_row(twpa_reorder *r, uint32_t kind, twpa_xid xid, twpa_xid top, twpa_lsn lsn, const char *row)
{
  twpa_record record = record_at(xid, top, lsn);
  twpa_change c = {.kind = kind, .locator = {1663, 5, 100}};
  if (kind == TWPA_DELETE)
    c.old_row = str(row);
  else
    c.new_row = str(row);
  return twpa_reorder_queue(r, &record, &c);
}

twpa_status kit_change(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, twpa_change c)
{
  twpa_record record = record_at(xid, 0, lsn);
  return twpa_reorder_queue(r, &record, &c);
}

twpa_status kit_commit(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, const twpa_xid *subs, size_t nsubs)
{
  twpa_record record = record_at(xid, 0, lsn);
  twpa_commit end = {.subxids = subs, .nsubxids = nsubs, .time = (twpa_time)lsn * 10};
  return twpa_reorder_commit(r, &record, &end);
}

twpa_status kit_abort(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, const twpa_xid *subs, size_t nsubs)
{
  twpa_record record = record_at(xid, 0, lsn);
  twpa_commit end = {.subxids = subs, .nsubxids = nsubs};
  return twpa_reorder_abort(r, &record, &end);
}

static void must(const twpa_reorder *r, twpa_status st)
{
  ck_assert_msg(st == TWPA_OK, "status %s", twpa_status_name(st));
  kit_check(r);
}

void ins(twpa_reorder *r, twpa_xid xid, twpa_xid top, twpa_lsn lsn, const char *row)
{
  must(r, kit_row(r, TWPA_INSERT, xid, top, lsn, row));
}

void change(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, twpa_change c)
{
  must(r, kit_change(r, xid, lsn, c));
}

void toast(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, uint64_t value, uint32_t seq, const char *bytes)
{
  change(r, xid, lsn, (twpa_change){.kind = TWPA_TOAST_CHUNK, .toast_relation = 9, .toast_value = value,
                                    .toast_sequence = seq, .content = str(bytes)});
}

void message(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, const char *content, bool transactional)
{
  change(r, xid, lsn, (twpa_change){.kind = TWPA_MESSAGE, .prefix = str("p"), .content = str(content),
                                    .flags = transactional ? 0 : TWPA_CHANGE_NONTRANSACTIONAL});
}

void commit(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn, size_t nsubs, const twpa_xid *subs)
{
  must(r, kit_commit(r, xid, lsn, subs, nsubs));
}

void abort_xid(twpa_reorder *r, twpa_xid xid, twpa_lsn lsn)
{
  must(r, kit_abort(r, xid, lsn, NULL, 0));
}
