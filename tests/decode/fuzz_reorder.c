/*
 * Fuzzing: bytes become calls, whatever they say; after each call the whole structure is verified. Nothing may crash,
 * no promise may break, whatever order the calls come in, whatever fails. The status of a call does not matter, except
 * that one which fails for want of memory must not do so when it is repeated.
 *
 * With -DFUZZER (clang, -fsanitize=fuzzer) this is a libFuzzer target. Otherwise:
 *   fuzz_reorder FILE...                inputs, one after the other
 *   fuzz_reorder --random SEED COUNT    random inputs
 */
#include "decode/reorder.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct input {
  const uint8_t *data;
  size_t len, at;
} input;

static unsigned byte(input *in)
{
  return in->at < in->len ? in->data[in->at++] : 0;
}

/* --- an allocator and a storage that fail at a given call --- */

typedef struct faults {
  size_t calls, fail_at, live;
} faults;

static void *f_alloc(void *user, size_t size)
{
  faults *f = user;
  if (++f->calls == f->fail_at)
    return NULL;
  f->live += size;
  return malloc(size);
}

static void f_release(void *user, void *p, size_t size)
{
  faults *f = user;
  f->live -= size;
  free(p);
}

static void *f_resize(void *user, void *p, size_t old_size, size_t new_size)
{
  faults *f = user;
  if (++f->calls == f->fail_at)
    return NULL;
  f->live += new_size - old_size;
  return realloc(p, new_size);
}

#define FILES 4096

typedef struct disk {
  faults faults;
  struct {
    unsigned char *data;
    size_t len;
  } files[FILES];
} disk;

static int d_write(void *user, uint64_t file, uint64_t offset, const void *data, size_t len)
{
  disk *d = user;
  if (++d->faults.calls == d->faults.fail_at)
    return 1;
  if (file >= FILES || offset > d->files[file].len)
    abort();
  unsigned char *p = realloc(d->files[file].data, (size_t)offset + len);
  if (p == NULL)
    abort();
  memcpy(p + offset, data, len);
  d->files[file].data = p;
  d->files[file].len = (size_t)offset + len;
  return 0;
}

static int d_read(void *user, uint64_t file, uint64_t offset, void *data, size_t len)
{
  disk *d = user;
  if (++d->faults.calls == d->faults.fail_at)
    return 1;
  if (file >= FILES || offset + len > d->files[file].len)
    abort();
  memcpy(data, d->files[file].data + offset, len);
  return 0;
}

static int d_remove(void *user, uint64_t file)
{
  disk *d = user;
  if (++d->faults.calls == d->faults.fail_at)
    return 1;
  free(d->files[file].data);
  d->files[file].data = NULL;
  d->files[file].len = 0;
  return 0;
}

static bool disk_empty(const disk *d)
{
  for (size_t i = 0; i < FILES; i++)
    if (d->files[i].data != NULL)
      return false;
  return true;
}

/* --- a consumer that expects whole deliveries and blocks; fails, aborts, takes and declines as the input says --- */

enum { OUTSIDE, DELIVERY, BLOCK };

typedef struct host {
  unsigned fail_every;
  unsigned calls;
  int inside; /* OUTSIDE ... */
  twpa_txn *taken[16];
  size_t ntaken;
  faults memory;
  disk disk;
} host;

/* After a failure the delivery begins again. */
static int answer(host *h)
{
  h->calls++;
  if (h->fail_every == 0 || h->calls % h->fail_every != 0)
    return 0;
  h->inside = OUTSIDE;
  return 3;
}

/* A callback that comes at `before` and leads to `after`. */
static int move(host *h, int before, int after)
{
  if (h->inside != before)
    abort();
  h->inside = after;
  return answer(h);
}

static int on_change_at(host *h, int where, twpa_txn *txn, const twpa_change *c)
{
  twpa_bytes value;
  if (h->inside != where && (c->flags & TWPA_CHANGE_NONTRANSACTIONAL) == 0)
    abort();
  if (c->kind < TWPA_INSERT || c->kind > TWPA_MESSAGE)
    abort();
  if (txn != NULL && twpa_txn_toast(txn, &value, 1, c->new_row.len % 4, 4) == TWPA_OK && value.len != 4)
    abort();
  int result = answer(h);
  return result == 0 && h->calls % 29 == 0 ? TWPA_CALLBACK_ABORTED : result;
}

static int on_change(void *user, twpa_txn *txn, const twpa_change *c)
{
  return on_change_at(user, DELIVERY, txn, c);
}

static int on_stream_change(void *user, twpa_txn *txn, const twpa_change *c)
{
  return on_change_at(user, BLOCK, txn, c);
}

static int on_begin(void *user, twpa_txn *txn)
{
  (void)txn;
  return move(user, OUTSIDE, DELIVERY);
}

static int on_commit(void *user, twpa_txn *txn)
{
  (void)txn;
  return move(user, DELIVERY, OUTSIDE);
}

static int on_stream_commit(void *user, twpa_txn *txn)
{
  (void)txn;
  return move(user, OUTSIDE, OUTSIDE);
}

static int on_begin_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  (void)gid;
  return on_begin(user, txn);
}

static int on_prepare(void *user, twpa_txn *txn, twpa_bytes gid)
{
  (void)gid;
  return on_commit(user, txn);
}

static int on_gid(void *user, twpa_txn *txn, twpa_bytes gid)
{
  (void)gid;
  return on_stream_commit(user, txn);
}

static int on_rollback(void *user, twpa_txn *txn, twpa_bytes gid, twpa_lsn lsn, twpa_time time)
{
  (void)lsn;
  (void)time;
  return on_gid(user, txn, gid);
}

static int on_stream_start(void *user, twpa_txn *txn, twpa_lsn lsn)
{
  (void)txn;
  (void)lsn;
  return move(user, OUTSIDE, BLOCK);
}

static int on_stream_stop(void *user, twpa_txn *txn, twpa_lsn lsn)
{
  (void)txn;
  (void)lsn;
  return move(user, BLOCK, OUTSIDE);
}

static int on_abort(void *user, twpa_txn *txn, twpa_xid xid, twpa_lsn lsn)
{
  (void)xid;
  (void)lsn;
  return on_stream_commit(user, txn);
}

static int on_filter_origin(void *user, uint32_t origin)
{
  (void)user;
  return origin == 3;
}

static int on_filter_prepare(void *user, twpa_xid xid, twpa_bytes gid)
{
  (void)user;
  (void)gid;
  return xid % 5 == 4;
}

static int on_take(void *user, twpa_txn *txn)
{
  host *h = user;
  if (h->ntaken == 16 || twpa_txn_xid(txn) % 3 != 0)
    return TWPA_CALLBACK_DECLINED;
  h->taken[h->ntaken++] = txn;
  return 0;
}

static uint32_t on_status(void *user, twpa_xid xid)
{
  (void)user;
  return xid % 7 == 6 ? TWPA_XID_ABORTED : TWPA_XID_IN_PROGRESS;
}

static const twpa_output output = {
  TWPA_OUTPUT_INIT,
  .begin = on_begin, .change = on_change, .truncate = on_change, .message = on_change, .commit = on_commit,
  .begin_prepare = on_begin_prepare, .prepare = on_prepare, .commit_prepared = on_gid,
  .rollback_prepared = on_rollback, .stream_start = on_stream_start, .stream_stop = on_stream_stop,
  .stream_change = on_stream_change, .stream_truncate = on_stream_change, .stream_message = on_stream_change,
  .stream_abort = on_abort, .stream_prepare = on_gid, .stream_commit = on_stream_commit, .take = on_take,
  .filter_origin = on_filter_origin, .filter_prepare = on_filter_prepare,
};

static void walk_some(host *h, input *in)
{
  if (h->ntaken == 0)
    return;
  size_t i = byte(in) % h->ntaken;
  twpa_change c;
  for (unsigned n = byte(in) % 8; n > 0; n--)
    if (twpa_txn_next(h->taken[i], &c) != TWPA_OK)
      break;
  switch (byte(in) % 3) {
  case 0:
    if (twpa_txn_rewind(h->taken[i]) != TWPA_OK)
      abort();
    break;
  case 1:
    twpa_txn_release(h->taken[i]);
    h->taken[i] = h->taken[--h->ntaken];
    break;
  default:
    break;
  }
}

/* --- calls --- */

/* A change of any kind, mostly well-formed. */
static twpa_change change_of(input *in)
{
  static const char bytes[300] = "some bytes";
  static const uint64_t relations[] = {1, 2, 3, 4};
  unsigned kind = byte(in) % 13;
  twpa_change c = {.kind = kind};
  size_t len = byte(in);
  if (kind >= TWPA_INSERT && kind <= TWPA_SPEC_INSERT)
    c.new_row = c.content = (twpa_bytes){bytes, len};
  if (kind == TWPA_UPDATE || kind == TWPA_DELETE)
    c.old_row = (twpa_bytes){len % 2 ? bytes : NULL, len % 2 ? len / 2 : 0};
  if (kind == TWPA_TRUNCATE)
    c.relations = relations, c.nrelations = len % 5;
  if (kind == TWPA_TOAST_CHUNK || kind == TWPA_INVALIDATION)
    c.content = (twpa_bytes){bytes, 1 + len % 8};
  c.toast_relation = 1;
  c.toast_value = len % 4;
  c.toast_sequence = (uint32_t)(len / 4 % 4);
  c.command_id = (twpa_cid)len;
  if (byte(in) % 8 == 0)
    c.flags = 1u << byte(in) % 6;
  return c;
}

typedef struct call {
  unsigned what;
  twpa_record record;
  twpa_change change;
  twpa_xid subs[4];
  twpa_commit end;
  twpa_new_cid cid;
  size_t limit;
} call;

static void read_call(call *c, input *in, twpa_lsn *lsn)
{
  memset(c, 0, sizeof *c);
  unsigned b = byte(in);
  c->what = b % 24;
  *lsn += b / 64;
  c->record = (twpa_record){.lsn = *lsn, .end_lsn = *lsn, .xid = 2 + byte(in) % 14};
  if (byte(in) % 3 == 0)
    c->record.top_xid = 2 + byte(in) % 14;
  c->record.origin = byte(in) % 16 == 15 ? 3 : 0;
  c->end.nsubxids = byte(in) % 4;
  for (size_t i = 0; i < c->end.nsubxids; i++)
    c->subs[i] = 2 + byte(in) % 14;
  c->end.subxids = c->subs;
  c->limit = 1 + (size_t)byte(in) * 100;
  c->cid = (twpa_new_cid){.top_xid = 2 + byte(in) % 14, .cmin = byte(in), .cmax = TWPA_CID_NONE};
  if (c->what > 15)
    c->change = change_of(in);
}

static twpa_status make_call(twpa_reorder *r, const call *c)
{
  const twpa_bytes gid = {"g", 1};
  twpa_reorder_prefetch(r, c->record.xid);
  switch (c->what) {
  case 0:
    return twpa_reorder_commit(r, &c->record, &c->end);
  case 1:
    return twpa_reorder_abort(r, &c->record, &c->end);
  case 2:
    return twpa_reorder_abort_before(r, c->record.xid);
  case 3:
    return twpa_reorder_forget(r, &c->record, &c->end);
  case 4:
    return twpa_reorder_prepare(r, &c->record, &c->end, gid);
  case 5:
    return twpa_reorder_skip_prepare(r, &c->record, &c->end, gid);
  case 6:
    return twpa_reorder_commit_prepared(r, &c->record, &c->end, gid);
  case 7:
    return twpa_reorder_rollback_prepared(r, &c->record, &c->end, gid);
  case 8:
    return twpa_reorder_assign(r, c->cid.top_xid, c->record.xid, c->record.lsn);
  case 9:
    return twpa_reorder_set_memory_limit(r, c->limit);
  case 10:
    return twpa_reorder_new_cid(r, &c->record, &c->cid);
  case 11:
    return twpa_reorder_distribute(r, &c->record, (twpa_bytes){"invalidation", 12});
  case 12:
    return twpa_reorder_touch(r, &c->record);
  case 13:
    return twpa_reorder_set_streaming(r, c->limit % 2);
  case 14:
    return twpa_reorder_set_two_phase_at(r, c->limit);
  case 15:
    return twpa_reorder_set_restart_lsn(r, c->record.lsn);
  default:
    return twpa_reorder_queue(r, &c->record, &c->change);
  }
}

static void verify(const twpa_reorder *r)
{
  const char *broken = twpa__reorder_check(r);
  if (broken == NULL)
    return;
  fprintf(stderr, "broken: %s\n", broken);
  abort();
}

/* One call; which of its inner calls fails is in the input. */
static void step(twpa_reorder *r, host *h, input *in, unsigned failing, twpa_lsn *lsn)
{
  call c;
  read_call(&c, in, lsn);
  unsigned when = byte(in) % 16;
  h->memory.fail_at = failing == 1 ? h->memory.calls + when : 0;
  h->disk.faults.fail_at = failing == 2 ? h->disk.faults.calls + when : 0;
  h->fail_every = failing == 3 ? when : 0;
  h->inside = OUTSIDE;
  twpa_status st = make_call(r, &c);
  verify(r);
  /* A change that went out is queued, whatever becomes of the transactions that ought to follow it. */
  if (st == TWPA_OK && c.what <= 15 && h->inside != OUTSIDE)
    abort();
  h->memory.fail_at = h->disk.faults.fail_at = h->fail_every = 0;
  if (st == TWPA_E_NOMEM || st == TWPA_E_CALLBACK) {
    h->inside = OUTSIDE;
    st = make_call(r, &c);
    verify(r);
    if (st == TWPA_E_NOMEM)
      abort();
  }
  if (byte(in) % 8 == 0)
    walk_some(h, in);
}

static void fuzz(const uint8_t *data, size_t len)
{
  input in = {data, len, 0};
  host *h = calloc(1, sizeof *h);
  if (h == NULL)
    return;
  twpa_allocator mem = {&h->memory, f_alloc, f_resize, f_release};
  twpa_storage storage = {TWPA_STORAGE_INIT, &h->disk, d_write, d_read, d_remove};
  twpa_reorder_hooks hooks = {TWPA_REORDER_HOOKS_INIT, .xid_status = on_status};
  unsigned mode = byte(&in);
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = 1 + (size_t)byte(&in) * 64,
                                  .hooks = mode & 1 ? &hooks : NULL, .storage = mode & 2 ? &storage : NULL,
                                  .streaming = mode >> 2 & 1, .two_phase = mode >> 3 & 1, .two_phase_at = 50,
                                  .distributed_bytes = 40};
  twpa_reorder *r = NULL;
  if (twpa_reorder_new(&r, &options, &output, h, &mem) != TWPA_OK)
    abort();
  twpa_lsn lsn = 1;
  while (in.at < in.len)
    step(r, h, &in, mode >> 4 & 3, &lsn);
  if (mode & 64)
    while (h->ntaken > 0)
      twpa_txn_release(h->taken[--h->ntaken]);
  twpa_reorder_free(r);
  while (h->ntaken > 0)
    twpa_txn_release(h->taken[--h->ntaken]);
  if (h->memory.live != 0 || !disk_empty(&h->disk))
    abort();
  free(h);
}

#ifdef FUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
  fuzz(data, len);
  return 0;
}
#else
static int run_file(const char *path)
{
  static uint8_t buf[1 << 16];
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    perror(path);
    return 1;
  }
  size_t len = fread(buf, 1, sizeof buf, f);
  fclose(f);
  fuzz(buf, len);
  return 0;
}

static void run_random(uint64_t seed, uint64_t count)
{
  static uint8_t buf[4096];
  for (uint64_t n = 0; n < count; n++) {
    uint64_t state = twpa__mix64(seed + n + 1);
    size_t len = (size_t)(state % sizeof buf);
    for (size_t i = 0; i < len; i++) {
      state = twpa__mix64(state + i + 1);
      buf[i] = (uint8_t)state;
    }
    fuzz(buf, len);
  }
}

int main(int argc, char **argv)
{
  if (argc == 4 && strcmp(argv[1], "--random") == 0) {
    printf("seed %s, %s inputs\n", argv[2], argv[3]);
    run_random(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
    return 0;
  }
  int failed = argc < 2;
  for (int i = 1; i < argc; i++)
    failed |= run_file(argv[i]);
  return failed;
}
#endif
