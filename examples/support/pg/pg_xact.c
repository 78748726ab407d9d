/*
 * Status files: parts of up to 32 pages, named by their number in hexadecimal, no headers. A part is loaded when it is
 * first needed and kept until the end; one of them is 256 KiB and holds a million transactions (pg_xact).
 *
 * Whether an xid has been given out is decided against the next xid of the last checkpoint, by distance modulo 2^32:
 * that is what the server's comparison of 32-bit ids means, and the only place of the hosts where it is needed.
 */
#include "support/pg/pg_xact.h"

#include "support/pg/pg_file.h"
#include "support/pg/pg_tuple.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_BYTES (32u * 8192u)
#define FIRST_NORMAL 3u

#define XACT_PER_PART 1048576u
#define SUBTRANS_PER_PART 65536u
#define OFFSETS_PER_PART 65536u
#define MEMBERS_PER_PAGE 1636u
#define MEMBERS_PER_PART (32u * MEMBERS_PER_PAGE)

enum {
  STATUS_SUB_COMMITTED = 3
};

/* A directory of such files. */
typedef struct slru {
  const char *name;
  uint8_t **parts; /* NULL: not loaded */
  size_t *lens;
  uint32_t part_count;
} slru;

enum {
  XACT,
  SUBTRANS,
  OFFSETS,
  MEMBERS,
  SLRUS
};

struct pg_xact {
  char *datadir;
  uint32_t next_xid;
  uint32_t next_multi;
  uint32_t next_member;
  slru slrus[SLRUS];
};

bool pg_xact_open(pg_xact **out, const char *datadir, const pg_control *control, host_error *err)
{
  static const slru shapes[SLRUS] = {
    [XACT] = {.name = "pg_xact", .part_count = UINT32_MAX / XACT_PER_PART + 1},
    [SUBTRANS] = {.name = "pg_subtrans", .part_count = UINT32_MAX / SUBTRANS_PER_PART + 1},
    [OFFSETS] = {.name = "pg_multixact/offsets", .part_count = UINT32_MAX / OFFSETS_PER_PART + 1},
    [MEMBERS] = {.name = "pg_multixact/members", .part_count = UINT32_MAX / MEMBERS_PER_PART + 1},
  };
  *out = NULL;
  pg_xact *x = calloc(1, sizeof *x);
  if (x == NULL)
    return pg_no_memory(err);
  memcpy(x->slrus, shapes, sizeof shapes);
  x->next_xid = (uint32_t)control->next_full_xid;
  x->next_multi = control->next_multi;
  x->next_member = control->next_member;
  size_t len = strlen(datadir) + 1;
  bool ok = (x->datadir = malloc(len)) != NULL;
  if (ok)
    memcpy(x->datadir, datadir, len);
  for (int i = 0; i < SLRUS; i++) {
    slru *s = &x->slrus[i];
    s->parts = calloc(s->part_count, sizeof *s->parts);
    s->lens = calloc(s->part_count, sizeof *s->lens);
    ok = ok && s->parts != NULL && s->lens != NULL;
  }
  if (!ok) {
    pg_xact_close(x);
    return pg_no_memory(err);
  }
  *out = x;
  return true;
}

void pg_xact_close(pg_xact *x)
{
  if (x == NULL)
    return;
  for (int i = 0; i < SLRUS; i++) {
    slru *s = &x->slrus[i];
    for (uint32_t p = 0; s->parts != NULL && p < s->part_count; p++)
      free(s->parts[p]);
    free(s->parts);
    free(s->lens);
  }
  free(x->datadir);
  free(x);
}

static bool part_path(char *path, const pg_xact *x, const slru *s, uint32_t part, host_error *err)
{
  return pg_path(path, err, "%s/%s/%04X", x->datadir, s->name, part);
}

/* The bytes at offset `at` of a part. */
static bool read_at(const uint8_t **bytes, pg_xact *x, slru *s, uint32_t part, size_t at, size_t n, host_error *err)
{
  char path[PG_PATH_MAX];
  if (s->parts[part] == NULL) {
    if (!part_path(path, x, s, part, err) ||
        !pg_read_file(&s->parts[part], &s->lens[part], path, 0, PART_BYTES, err))
      return false;
  }
  if (at + n > s->lens[part])
    return part_path(path, x, s, part, err) &&
           host_fail(err, "%.500s: has %zu bytes, byte %zu is needed", path, s->lens[part], at);
  *bytes = s->parts[part] + at;
  return true;
}

/* True if a comes before b; both are normal xids (or multixacts) less than 2^31 apart. */
static bool precedes(uint32_t a, uint32_t b)
{
  return (int32_t)(a - b) < 0;
}

static bool raw_status(uint32_t *status, pg_xact *x, uint32_t xid, host_error *err)
{
  const uint8_t *byte = NULL;
  uint32_t in_part = xid % XACT_PER_PART;
  if (!read_at(&byte, x, &x->slrus[XACT], xid / XACT_PER_PART, in_part / 4, 1, err)) {
    host_error inner = *err;
    return host_fail(err, "%s (status of transaction %u)", inner.text, xid);
  }
  *status = *byte >> (2 * (in_part % 4)) & 3u;
  return true;
}

/* The parent of a subtransaction, or 0 if pg_subtrans does not know it. Its files may be missing altogether. */
static bool parent_of(uint32_t *parent, pg_xact *x, uint32_t xid, host_error *err)
{
  uint32_t part = xid / SUBTRANS_PER_PART;
  size_t at = 4 * (size_t)(xid % SUBTRANS_PER_PART);
  slru *s = &x->slrus[SUBTRANS];
  *parent = 0;
  char path[PG_PATH_MAX];
  if (!part_path(path, x, s, part, err))
    return false;
  if (s->parts[part] == NULL && access(path, F_OK) != 0 && errno == ENOENT)
    return true;
  const uint8_t *bytes = NULL;
  if (!read_at(&bytes, x, s, part, 0, 0, err))
    return false;
  if (at + 4 <= s->lens[part])
    *parent = pg_u32(bytes + at);
  return true;
}

bool pg_xact_status(pg_xact *x, uint32_t *status, uint32_t xid, host_error *err)
{
  for (;;) {
    if (xid < FIRST_NORMAL) {
      /* Bootstrap and frozen rows are committed; nothing is "by no transaction". */
      *status = xid == 0 ? PG_XACT_ABORTED : PG_XACT_COMMITTED;
      return true;
    }
    if (!precedes(xid, x->next_xid)) {
      *status = PG_XACT_IN_PROGRESS;
      return true;
    }
    uint32_t raw;
    if (!raw_status(&raw, x, xid, err))
      return false;
    if (raw != STATUS_SUB_COMMITTED) {
      *status = raw;
      return true;
    }
    uint32_t parent;
    if (!parent_of(&parent, x, xid, err))
      return false;
    /* A parent is always older, so this ends. */
    if (parent < FIRST_NORMAL || !precedes(parent, xid)) {
      *status = PG_XACT_ABORTED;
      return true;
    }
    xid = parent;
  }
}

uint32_t pg_xact_age(const pg_xact *x, uint32_t xid)
{
  return x->next_xid - xid;
}

static bool multi_offset(uint32_t *offset, pg_xact *x, uint32_t multi, host_error *err)
{
  const uint8_t *bytes = NULL;
  size_t at = 4 * (size_t)(multi % OFFSETS_PER_PART);
  if (!read_at(&bytes, x, &x->slrus[OFFSETS], multi / OFFSETS_PER_PART, at, 4, err)) {
    host_error inner = *err;
    return host_fail(err, "%s (multixact %u)", inner.text, multi);
  }
  *offset = pg_u32(bytes);
  return true;
}

/* xid and status of a member. */
static bool multi_member(uint32_t *xid, uint32_t *status, pg_xact *x, uint32_t member, host_error *err)
{
  uint32_t page = member / MEMBERS_PER_PAGE;
  uint32_t in_page = member % MEMBERS_PER_PAGE;
  size_t group = 8192 * (size_t)(page % 32) + 20 * (size_t)(in_page / 4);
  const uint8_t *bytes = NULL;
  if (!read_at(&bytes, x, &x->slrus[MEMBERS], page / 32, group, 20, err))
    return false;
  *status = bytes[in_page % 4];
  *xid = pg_u32(bytes + 4 + 4 * (in_page % 4));
  return true;
}

/* Where the members of a multixact are: from *first on, *count of them (member numbers wrap). */
static bool multi_members(uint32_t *first, uint32_t *count, pg_xact *x, uint32_t multi, host_error *err)
{
  if (multi == 0 || !precedes(multi, x->next_multi))
    return host_fail(err, "multixact %u has not been given out (next: %u)", multi, x->next_multi);
  if (!multi_offset(first, x, multi, err))
    return false;
  uint32_t next = multi + 1 == 0 ? 1 : multi + 1;
  uint32_t end = x->next_member;
  if (next != x->next_multi) {
    if (!multi_offset(&end, x, next, err))
      return false;
    if (end == 0)
      return host_fail(err, "multixact %u: its end has not been filled in", multi);
  }
  *count = end - *first;
  if (*first == 0 || *count == 0 || *count > 1u << 24)
    return host_fail(err, "multixact %u: members %u to %u are not possible", multi, *first, end);
  return true;
}

bool pg_multixact_updater(pg_xact *x, uint32_t *xid, uint32_t multi, host_error *err)
{
  uint32_t first = 0, count = 0;
  *xid = 0;
  if (!multi_members(&first, &count, x, multi, err))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t member, status;
    if (!multi_member(&member, &status, x, first + i, err)) {
      host_error inner = *err;
      return host_fail(err, "%s (multixact %u)", inner.text, multi);
    }
    if (member == 0)
      continue; /* number 0 is left out when the numbers wrap */
    if (status > 5)
      return host_fail(err, "multixact %u: member %u has the unknown status %u", multi, member, status);
    if (status >= 4) {
      if (*xid != 0)
        return host_fail(err, "multixact %u has two updaters, %u and %u", multi, *xid, member);
      *xid = member;
    }
  }
  return true;
}
