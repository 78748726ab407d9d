/* Walks over the whole buffer and compares what is counted with what is there. For tests and fuzzing. */
#include "decode/reorder.h"

#define MUST(cond)   \
  do {               \
    if (!(cond))     \
      return #cond;  \
  } while (0)

typedef struct totals {
  size_t txns, tops, subs, catalog, memory, sized, streamable, tuplecids;
  uint64_t bytes_stored, segments;
} totals;

/* The records of the arena: whole, of the right number, in order. */
static const char *check_arena(const twpa_txn *txn)
{
  uint64_t count = 0, seq = 0;
  size_t bytes = 0, used = 0;
  for (twpa__chunk *chunk = txn->arena.first; chunk != NULL; chunk = chunk->next) {
    bytes += sizeof *chunk + chunk->cap;
    size_t end = twpa__arena_chunk_used(&txn->arena, chunk);
    used += end;
    for (size_t at = 0; at < end; count++) {
      const twpa__rec *rec = (const void *)(twpa__chunk_data(chunk) + at);
      twpa_change change;
      MUST(twpa__change_read(&change, rec, end - at));
      MUST(count == 0 || rec->seq > seq);
      MUST(rec->seq < txn->owner->next_seq && rec->lsn >= txn->first_lsn);
      seq = rec->seq;
      at += rec->size;
    }
  }
  MUST(bytes == txn->arena.bytes && used == twpa__arena_used(&txn->arena));
  MUST(count == txn->nmem);
  return NULL;
}

static const char *check_stored(const twpa_txn *txn, totals *t)
{
  const twpa_txn *top = txn->top != NULL ? txn->top : txn;
  for (size_t i = 0; i < txn->nsegments; i++) {
    const twpa__segment *s = &txn->segments[i];
    const twpa__file *file = s->file;
    MUST(file->owner != NULL || file->id == txn->shared_id || file->id == top->shared_id);
    MUST(file->owner == NULL || file->owner == txn || file->owner == top);
    MUST(s->offset + s->room <= s->file->size && s->room >= s->bytes);
    MUST(i == 0 || s->first_seq > txn->segments[i - 1].first_seq);
    t->bytes_stored += s->room;
    t->segments++;
  }
  MUST(txn->nstored >= txn->nsegments && (txn->nsegments > 0) == (txn->nstored > 0));
  return NULL;
}

static const char *check_txn(const twpa_reorder *r, const twpa_txn *txn, totals *t)
{
  const char *broken = check_arena(txn);
  if (broken == NULL)
    broken = check_stored(txn, t);
  if (broken != NULL)
    return broken;
  MUST(txn->owner == r && !txn->taken && txn->walk == NULL);
  MUST(twpa__xidmap_get(&r->by_xid, txn->xid) == txn);
  MUST((twpa__txn_changes(txn) > 0) == twpa__link_is_linked(&txn->in_busy));
  MUST((txn->nmem > 0) == twpa__link_is_linked(&txn->in_mem));
  MUST(twpa__txn_is(txn, TWPA__TXN_CATALOG) == twpa__link_is_linked(&txn->in_catalog));
  MUST(!twpa__txn_is(txn, TWPA__TXN_ABORTED) || twpa__txn_changes(txn) == 0);
  MUST(txn->file == NULL || txn->file->owner == txn);
  t->txns++;
  t->catalog += twpa__txn_is(txn, TWPA__TXN_CATALOG);
  t->memory += txn->arena.bytes;
  t->tuplecids += txn->ntuplecids;
  return NULL;
}

static const char *check_sub(const twpa_txn *top, const twpa_txn *sub)
{
  const uint32_t of_top = TWPA__TXN_CONTENT | TWPA__TXN_STREAMABLE | TWPA__TXN_STREAMED | TWPA__TXN_PREPARED |
                          TWPA__TXN_SENT | TWPA__TXN_IN_SIZES | TWPA__TXN_IN_STREAMS;
  MUST(sub->top == top && sub->nsubs == 0 && twpa__list_empty(&sub->subs));
  MUST(twpa__list_empty(&sub->busy) && twpa__list_empty(&sub->mem));
  MUST(sub->tree_bytes == 0 && sub->tree_changes == 0 && sub->base == NULL && !twpa__txn_is(sub, of_top));
  MUST(sub->first_lsn >= top->first_lsn && !twpa__link_is_linked(&sub->in_touched));
  MUST(!twpa__txn_is(sub, TWPA__TXN_CATALOG) || twpa__txn_is(top, TWPA__TXN_CATALOG));
  MUST(!twpa__txn_is(sub, TWPA__TXN_DELIVERED) || twpa__txn_is(top, TWPA__TXN_STREAMED));
  return NULL;
}

static const char *check_top(const twpa_reorder *r, twpa_txn *top, totals *t)
{
  const char *broken = check_txn(r, top, t);
  size_t bytes = top->arena.bytes, subs = 0;
  uint64_t changes = twpa__txn_changes(top);
  for (twpa__link *it = top->subs.next; broken == NULL && it != &top->subs; it = it->next) {
    const twpa_txn *sub = TWPA__CONTAINER_OF(it, twpa_txn, node);
    bytes += sub->arena.bytes;
    changes += twpa__txn_changes(sub);
    subs++;
    broken = check_txn(r, sub, t);
    if (broken == NULL)
      broken = check_sub(top, sub);
  }
  if (broken != NULL)
    return broken;
  MUST(top->top == NULL && subs == top->nsubs);
  MUST(bytes == top->tree_bytes && changes == top->tree_changes);
  bool touched = twpa__link_is_linked(&top->in_touched);
  MUST(touched || (top->tree_bytes > 0) == twpa__txn_is(top, TWPA__TXN_IN_SIZES));
  MUST(!touched || top->tree_bytes > 0);
  MUST(!twpa__txn_is(top, TWPA__TXN_CONTENT) || top->base != NULL);
  bool partial = top->toast_xid != TWPA_XID_NONE || top->spec_xid != TWPA_XID_NONE;
  bool streams = r->can_stream && top->tree_bytes > 0 && twpa__txn_is(top, TWPA__TXN_STREAMABLE) && !partial &&
                 !twpa__txn_is(top, TWPA__TXN_ABORTED | TWPA__TXN_PREPARED | TWPA__TXN_SENT);
  MUST(streams == twpa__txn_may_stream(top));
  MUST(touched || streams == twpa__txn_is(top, TWPA__TXN_IN_STREAMS));
  MUST((top->gid != NULL) == twpa__txn_is(top, TWPA__TXN_PREPARED));
  MUST(twpa__txn_is(top, TWPA__TXN_PREPARED) || !twpa__txn_is(top, TWPA__TXN_SENT | TWPA__TXN_SKIPPED));
  MUST(!twpa__txn_is(top, TWPA__TXN_STREAMED) || twpa__txn_is(top, TWPA__TXN_CONTENT));
  t->tops++;
  t->subs += subs;
  t->sized += twpa__txn_is(top, TWPA__TXN_IN_SIZES);
  t->streamable += twpa__txn_is(top, TWPA__TXN_IN_STREAMS);
  return NULL;
}

static const char *check_versions(const twpa_reorder *r)
{
  size_t count = 0, held = 0, users = 0, based = 0;
  for (const twpa__version *v = r->versions.first; v != NULL; v = v->next) {
    count += v != r->versions.first;
    held += v->invals != NULL ? v->invals_len : 0;
    users += v->users;
    MUST(v->next == NULL || v->next->seq > v->seq);
    MUST(v->next != NULL || v == r->versions.last);
  }
  for (const twpa_txn *txn = twpa_reorder_next_open(r, NULL); txn != NULL; txn = twpa_reorder_next_open(r, txn))
    based += txn->base != NULL;
  MUST(count == r->versions.count && held == r->versions.held);
  MUST(users >= based && users <= based + r->ntaken);
  return NULL;
}

static const char *check_files(const twpa_reorder *r)
{
  uint64_t files = 0, leftovers = 0, blocks = 0;
  bool shared_seen = false;
  for (twpa__link *it = r->files.next; it != &r->files; it = it->next) {
    const twpa__file *file = TWPA__CONTAINER_OF(it, twpa__file, link);
    files++;
    blocks += file->live_blocks;
    MUST(file->id != 0 && file->id <= r->last_file);
    MUST(file->owner == NULL || file->owner->file == file);
    MUST(file->owner != NULL || file->live_blocks > 0 || file == r->shared);
    shared_seen = shared_seen || file == r->shared;
  }
  MUST(r->shared == NULL || (shared_seen && r->shared->owner == NULL));
  for (twpa__link *it = r->leftovers.next; it != &r->leftovers; it = it->next)
    leftovers++;
  MUST(files == r->nfiles && leftovers == r->nleftovers && blocks == r->storage_segments);
  return NULL;
}

const char *twpa__reorder_check(const twpa_reorder *r)
{
  totals t = {0};
  twpa_lsn lsn = TWPA_LSN_NONE;
  for (twpa_txn *top = twpa_reorder_next_open(r, NULL); top != NULL; top = twpa_reorder_next_open(r, top)) {
    const char *broken = check_top(r, top, &t);
    if (broken != NULL)
      return broken;
    MUST(top->first_lsn >= lsn);
    lsn = top->first_lsn;
  }
  MUST(!r->walk.open && r->walk.mem.live_bytes <= TWPA__WALK_KEPT);
  size_t catalog = 0;
  for (twpa__link *it = r->catalog.next; it != &r->catalog; it = it->next)
    catalog++;
  MUST(!r->busy && t.txns == r->by_xid.count && t.tops == r->nopen && t.subs == r->nsubs);
  MUST(catalog == t.catalog && t.memory == r->memory_bytes && t.tuplecids == r->tuplecids);
  MUST(t.sized == r->sizes.count && t.streamable == r->streams.count);
  MUST(r->ntaken > 0 || (t.bytes_stored == r->storage_bytes && t.segments == r->storage_segments));
  const char *broken = check_versions(r);
  return broken != NULL ? broken : check_files(r);
}
