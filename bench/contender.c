/* Both buffers behind one face. */
#include "contender.h"

#include "plain_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(twpa_status st)
{
  if (st == TWPA_OK)
    return;
  fprintf(stderr, "a call has failed: %s\n", twpa_status_text(st));
  abort();
}

static void look(contender *c, const void *row, size_t len)
{
  uint64_t first, last;
  memcpy(&first, row, sizeof first);
  memcpy(&last, (const unsigned char *)row + len - sizeof last, sizeof last);
  c->sum += first ^ last;
  c->given++;
}

static void plain_change_out(void *user, const plain_change *change)
{
  look(user, change->row, change->len);
}

static int nothing(void *user, twpa_txn *txn)
{
  (void)user;
  (void)txn;
  return TWPA_CALLBACK_OK;
}

static int change_out(void *user, twpa_txn *txn, const twpa_change *change)
{
  (void)txn;
  look(user, change->new_row.data, change->new_row.len);
  return TWPA_CALLBACK_OK;
}

static int take(void *user, twpa_txn *txn)
{
  contender *c = user;
  c->taken = txn;
  return TWPA_CALLBACK_OK;
}

void contender_open(contender *c, int kind, const twpa_storage *storage)
{
  *c = (contender){.kind = kind, .change = {.kind = TWPA_INSERT, .locator = {1663, 5, 16384}}};
  if (kind == PLAIN) {
    c->buffer = plain_new(plain_change_out, c);
    return;
  }
  const twpa_output output = {TWPA_OUTPUT_INIT, .begin = nothing, .change = change_out, .commit = nothing,
                              .take = kind == TAKEN ? take : NULL};
  const twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = TWPA_MEMORY_UNLIMITED,
                                        .storage = storage};
  const twpa_allocator allocator = bench_allocator(&c->memory);
  twpa_reorder *reorder;
  must(twpa_reorder_new(&reorder, &options, &output, c, &allocator));
  c->buffer = reorder;
}

void contender_close(contender *c)
{
  bench_use(c->sum);
  if (c->kind == PLAIN)
    plain_free(c->buffer);
  else
    twpa_reorder_free(c->buffer);
  c->buffer = NULL;
}

void contender_announce(contender *c, uint64_t xid)
{
  if (c->kind == ANNOUNCED)
    twpa_reorder_prefetch(c->buffer, xid);
}

void contender_queue(contender *c, uint64_t xid, uint64_t top, const void *row, size_t len)
{
  c->lsn += 64;
  if (c->kind == PLAIN) {
    plain_queue(c->buffer, c->lsn, xid, top, TWPA_INSERT, &c->change.locator, row, len);
    return;
  }
  const twpa_record record = {.lsn = c->lsn, .end_lsn = c->lsn + 64, .xid = xid, .top_xid = top};
  c->change.new_row = (twpa_bytes){row, len};
  must(twpa_reorder_queue(c->buffer, &record, &c->change));
}

static void walk(contender *c)
{
  twpa_change change;
  twpa_status st;
  while ((st = twpa_txn_next(c->taken, &change)) == TWPA_OK)
    look(c, change.new_row.data, change.new_row.len);
  if (st != TWPA_NONE)
    must(st);
  twpa_txn_release(c->taken);
  c->taken = NULL;
}

void contender_commit(contender *c, uint64_t xid)
{
  c->lsn += 64;
  if (c->kind == PLAIN) {
    plain_commit(c->buffer, xid);
    return;
  }
  const twpa_record record = {.lsn = c->lsn, .end_lsn = c->lsn + 64, .xid = xid};
  const twpa_commit commit = {.time = 1};
  must(twpa_reorder_commit(c->buffer, &record, &commit));
  if (c->taken != NULL)
    walk(c);
}

const unsigned char *contender_row(uint64_t random)
{
  static uint64_t bytes[CONTENDER_BYTES / sizeof(uint64_t)];
  if (bytes[0] == 0) {
    uint64_t seed = 3;
    for (size_t i = 0; i < CONTENDER_BYTES / sizeof(uint64_t); i++)
      bytes[i] = bench_random(&seed);
  }
  return (const unsigned char *)bytes + random % (CONTENDER_BYTES / 2);
}
