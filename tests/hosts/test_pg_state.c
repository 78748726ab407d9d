/* Control file, relation maps, commit log, multixacts: real ones, made-up ones, damaged ones. */
#include "hosts/datadir.h"
#include "support/pg/pg_cluster.h"
#include "support/pg/pg_tuple.h"
#include "support/runner.h"
#include "support/wal/crc32c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put32(uint8_t *p, uint32_t x)
{
  for (int i = 0; i < 4; i++, x >>= 8)
    p[i] = (uint8_t)x;
}

static void expect(const host_error *err, const char *part)
{
  ck_assert_msg(strstr(err->text, part) != NULL, "\"%s\" is not in: %s", part, err->text);
}

/* --- global/pg_control ---------------------------------------------------------------------------------------- */

START_TEST(control_of_the_sample)
{
  pg_control c;
  host_error err = {{0}};
  ck_assert_msg(pg_control_read(&c, data_path("pg15-sample/data"), &err), "%s", err.text);
  ck_assert_uint_eq(c.format->major, 15);
  ck_assert_uint_eq(c.state, PG_STATE_SHUT_DOWN);
  ck_assert_str_eq(pg_control_state_name(c.state), "shut down");
  ck_assert_str_eq(pg_control_state_name(99), "unknown");
  ck_assert_uint_eq(c.segment_size, 1 << 20);
  ck_assert_uint_eq(c.timeline, 1);
  ck_assert_uint_eq(c.wal_level, 2);
  ck_assert_uint_gt(c.next_full_xid, 3);
  ck_assert_uint_gt(c.next_oid, 16384);
  ck_assert_uint_eq(c.redo, c.checkpoint); /* a clean stop */
  ck_assert_uint_eq(c.min_recovery, 0);
}
END_TEST

/* Sets a u32 of the control file and, if wanted, makes the checksum right again. */
static void patch_control(const char *dir, size_t at, uint32_t x, int fix_crc)
{
  size_t len;
  uint8_t *bytes = read_file(dir, "global/pg_control", &len);
  put32(bytes + at, x);
  if (fix_crc)
    put32(bytes + 288, crc32c(bytes, 288));
  write_file(dir, "global/pg_control", bytes, len);
  free(bytes);
}

START_TEST(damaged_control)
{
  static const struct {
    size_t at;
    uint32_t value;
    int fix_crc;
    const char *message;
  } cases[] = {
    {16, 6, 0, "wrong checksum"},
    {288, 0, 0, "wrong checksum (00000000, computed "},
    {8, 1201, 1, "control file version 1201 is of no supported PostgreSQL version"},
    {8, 0x14050000, 1, "is of no supported PostgreSQL version"},
    {12, 202307071, 1, "the control file is of PostgreSQL 16, the directory of 15"},
    {12, 1, 1, "catalog version 1 is of no released PostgreSQL version"},
    {16, 7, 1, "unknown state 7"},
    {204, 4, 1, "aligns to 4 bytes"},
    {212, 0, 1, "floating-point format"},
    {216, 16384, 1, "blocks of 16384"},
    {220, 1, 1, "relation files of 1 blocks"},
    {224, 4096, 1, "WAL blocks of 4096"},
    {228, 3 << 20, 1, "WAL segments of 3145728 bytes"},
    {228, 0, 1, "WAL segments of 0 bytes"},
    {232, 32, 1, "names of 32 bytes"},
  };
  char *dir = make_tree();
  copy_tree(data_path("pg15-sample/data"), dir);
  size_t len;
  uint8_t *good = read_file(dir, "global/pg_control", &len);
  pg_control c;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    host_error err = {{0}};
    write_file(dir, "global/pg_control", good, len);
    patch_control(dir, cases[i].at, cases[i].value, cases[i].fix_crc);
    ck_assert(!pg_control_read(&c, dir, &err));
    expect(&err, cases[i].message);
    expect(&err, "global/pg_control: ");
    ck_assert_ptr_null(strchr(err.text, '\n'));
  }
  host_error err = {{0}};
  write_file(dir, "global/pg_control", good, len);
  ck_assert(pg_control_read(&c, dir, &err));
  cut_file(dir, "global/pg_control", 8191);
  ck_assert(!pg_control_read(&c, dir, &err));
  expect(&err, "has 8191 bytes");
  delete_file(dir, "global/pg_control");
  ck_assert(!pg_control_read(&c, dir, &err));
  expect(&err, "global/pg_control: No such file or directory");
  free(good);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* --- pg_filenode.map ------------------------------------------------------------------------------------------ */

/* A map of the shape of a version. */
static void write_map(const char *dir, const pg_format *f, uint32_t magic, uint32_t count, uint32_t first_file)
{
  uint8_t bytes[600] = {0};
  put32(bytes, magic);
  put32(bytes + 4, count);
  for (uint32_t i = 0; i < count && i < f->relmap_entries; i++) {
    put32(bytes + 8 + 8 * i, 1000 + i);
    put32(bytes + 12 + 8 * i, first_file + i);
  }
  put32(bytes + f->relmap_crc_at, crc32c(bytes, f->relmap_crc_at));
  write_file(dir, "pg_filenode.map", bytes, f->relmap_size);
}

START_TEST(relation_maps)
{
  const pg_format *f = pg_format_by_major((uint32_t)_i);
  char *dir = make_tree();
  pg_relmap map;
  host_error err = {{0}};
  write_map(dir, f, 0x592717, f->relmap_entries, 5000);
  ck_assert_msg(pg_relmap_read(&map, dir, f, &err), "%s", err.text);
  ck_assert_uint_eq(map.count, f->relmap_entries);
  ck_assert_uint_eq(pg_relmap_file(&map, 1000), 5000);
  ck_assert_uint_eq(pg_relmap_file(&map, 1000 + f->relmap_entries - 1), 5000 + f->relmap_entries - 1);
  ck_assert_uint_eq(pg_relmap_file(&map, 1000 + f->relmap_entries), 0);

  write_map(dir, f, 0x592717, f->relmap_entries + 1, 5000);
  ck_assert(!pg_relmap_read(&map, dir, f, &err));
  expect(&err, "entries, there is room for");
  write_map(dir, f, 0x592718, 3, 5000);
  ck_assert(!pg_relmap_read(&map, dir, f, &err));
  expect(&err, "wrong magic number 0x592718");
  write_map(dir, f, 0x592717, 3, 5000);
  patch_file(dir, "pg_filenode.map", 13, "x", 1);
  ck_assert(!pg_relmap_read(&map, dir, f, &err));
  expect(&err, "pg_filenode.map: wrong checksum");
  cut_file(dir, "pg_filenode.map", f->relmap_size - 1);
  ck_assert(!pg_relmap_read(&map, dir, f, &err));
  delete_file(dir, "pg_filenode.map");
  ck_assert(!pg_relmap_read(&map, dir, f, &err));
  expect(&err, "pg_filenode.map: No such file");
  remove_tree(dir);
  free(dir);
}
END_TEST

/* --- pg_xact -------------------------------------------------------------------------------------------------- */

static pg_xact *open_xact(const char *dir, uint64_t next_xid, uint32_t next_multi, uint32_t next_member)
{
  const pg_control control = {.next_full_xid = next_xid, .next_multi = next_multi, .next_member = next_member};
  pg_xact *x;
  host_error err = {{0}};
  ck_assert(pg_xact_open(&x, dir, &control, &err));
  return x;
}

static uint32_t status_of(pg_xact *x, uint32_t xid)
{
  uint32_t status = 99;
  host_error err = {{0}};
  ck_assert_msg(pg_xact_status(x, &status, xid, &err), "%s", err.text);
  return status;
}

START_TEST(statuses)
{
  char *dir = make_tree();
  uint8_t page[8192] = {0};
  /* xids 3..11: committed, aborted, in progress, then sub-committed ones below them and below each other */
  page[0] = 1 << 6;                              /* 3 committed */
  page[1] = 2 | 0 << 2 | 3 << 4 | 3 << 6;        /* 4 aborted, 5 in progress, 6, 7 sub-committed */
  page[2] = 3 | 3 << 2 | 3 << 4 | 3 << 6;        /* 8, 9, 10, 11 sub-committed */
  write_file(dir, "pg_xact/0000", page, sizeof page);
  pg_xact *x = open_xact(dir, 40, 1, 0);
  ck_assert_uint_eq(status_of(x, 0), PG_XACT_ABORTED);
  ck_assert_uint_eq(status_of(x, 1), PG_XACT_COMMITTED);
  ck_assert_uint_eq(status_of(x, 2), PG_XACT_COMMITTED);
  ck_assert_uint_eq(status_of(x, 3), PG_XACT_COMMITTED);
  ck_assert_uint_eq(status_of(x, 4), PG_XACT_ABORTED);
  ck_assert_uint_eq(status_of(x, 5), PG_XACT_IN_PROGRESS);
  ck_assert_uint_eq(status_of(x, 6), PG_XACT_ABORTED); /* pg_subtrans is not there */
  ck_assert_uint_eq(status_of(x, 40), PG_XACT_IN_PROGRESS);
  ck_assert_uint_eq(status_of(x, 4000), PG_XACT_IN_PROGRESS);
  ck_assert_uint_eq(pg_xact_age(x, 39), 1);
  pg_xact_close(x);

  uint8_t parents[8192] = {0};
  put32(parents + 4 * 6, 3);
  put32(parents + 4 * 7, 4);
  put32(parents + 4 * 8, 5);
  put32(parents + 4 * 9, 6);
  put32(parents + 4 * 10, 12); /* not older: damaged */
  write_file(dir, "pg_subtrans/0000", parents, sizeof parents);
  x = open_xact(dir, 40, 1, 0);
  ck_assert_uint_eq(status_of(x, 6), PG_XACT_COMMITTED);
  ck_assert_uint_eq(status_of(x, 7), PG_XACT_ABORTED);
  ck_assert_uint_eq(status_of(x, 8), PG_XACT_IN_PROGRESS);
  ck_assert_uint_eq(status_of(x, 9), PG_XACT_COMMITTED);
  ck_assert_uint_eq(status_of(x, 10), PG_XACT_ABORTED);
  ck_assert_uint_eq(status_of(x, 11), PG_XACT_ABORTED);
  pg_xact_close(x);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* Positions: last entry of a part, first of the next, the end of counting. */
START_TEST(status_positions)
{
  static const uint32_t xids[] = {1048575, 1048576, 3 * 1048576 + 7, 0xFFFFFFFE, 0xFFFFFFFF};
  char *dir = make_tree();
  for (size_t i = 0; i < sizeof xids / sizeof *xids; i++) {
    char name[32];
    static uint8_t part[32 * 8192];
    uint32_t in_part = xids[i] & 0xFFFFF;
    memset(part, 0, sizeof part);
    part[in_part / 4] = (uint8_t)(2u << (in_part % 4 * 2));
    snprintf(name, sizeof name, "pg_xact/%04X", xids[i] >> 20);
    write_file(dir, name, part, sizeof part);
    uint64_t next = xids[i] == 0xFFFFFFFF ? (UINT64_C(1) << 32) + 3 : xids[i] + UINT64_C(1);
    pg_xact *x = open_xact(dir, next, 1, 0);
    ck_assert_uint_eq(status_of(x, xids[i]), PG_XACT_ABORTED);
    if (in_part > 0)
      ck_assert_uint_eq(status_of(x, xids[i] - 1), PG_XACT_IN_PROGRESS);
    pg_xact_close(x);
    remove_tree(dir);
    write_file(dir, "x", "", 0);
  }
  remove_tree(dir);
  free(dir);
}
END_TEST

START_TEST(statuses_that_are_gone)
{
  char *dir = make_tree();
  pg_xact *x = open_xact(dir, 3000000, 1, 0);
  uint32_t status;
  host_error err = {{0}};
  ck_assert(!pg_xact_status(x, &status, 2097153, &err));
  expect(&err, "pg_xact/0002: No such file or directory (status of transaction 2097153)");
  uint8_t page[8192] = {0};
  write_file(dir, "pg_xact/0002", page, 100);
  ck_assert(pg_xact_status(x, &status, 2097152 + 399, &err));
  ck_assert(!pg_xact_status(x, &status, 2097152 + 400, &err));
  expect(&err, "pg_xact/0002: has 100 bytes, byte 100 is needed");
  pg_xact_close(x);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* --- multixacts ----------------------------------------------------------------------------------------------- */

enum {
  MULTIS = 400
};

/* Writes offsets and members of random multixacts from `first_multi` and `first_member` on; want[i] is the updater. */
static uint32_t make_multis(rng *r, const char *dir, uint32_t first_multi, uint32_t first_member, uint32_t *want)
{
  static uint8_t offsets[2][32 * 8192], members[2][32 * 8192];
  memset(offsets, 0, sizeof offsets);
  memset(members, 0, sizeof members);
  const uint32_t base_part = first_member / 52352, off_part = first_multi / 65536;
  uint32_t member = first_member;
  for (uint32_t i = 0; i < MULTIS; i++) {
    uint32_t multi = first_multi + i;
    put32(&offsets[multi / 65536 - off_part][4 * (multi % 65536)], member);
    uint32_t n = 1 + (uint32_t)rng_below(r, 12), updater = (uint32_t)rng_below(r, 2 * n);
    want[i] = 0;
    for (uint32_t k = 0; k < n; k++, member++) {
      uint32_t xid = (uint32_t)(3 + rng_below(r, 1000000)), in_part = member % 52352;
      uint8_t *page = &members[member / 52352 - base_part][8192 * (in_part / 1636)];
      uint8_t *group = page + 20 * (in_part % 1636 / 4);
      uint32_t status = k == updater ? 4 + (uint32_t)rng_below(r, 2) : (uint32_t)rng_below(r, 4);
      group[member % 4] = (uint8_t)status;
      put32(group + 4 + 4 * (member % 4), xid);
      if (status >= 4)
        want[i] = xid;
    }
  }
  for (uint32_t p = 0; p < 2; p++) {
    char name[48];
    snprintf(name, sizeof name, "pg_multixact/offsets/%04X", off_part + p);
    write_file(dir, name, offsets[p], sizeof offsets[p]);
    snprintf(name, sizeof name, "pg_multixact/members/%04X", base_part + p);
    write_file(dir, name, members[p], sizeof members[p]);
  }
  return member;
}

START_TEST(updaters_of_multixacts)
{
  rng r = {test_seed(11)};
  static const uint32_t starts[][2] = {{1, 4}, {65536 - 200, 52352 - 1000}, {7 * 65536 - 1, 52352 * 9 - 40}};
  uint32_t want[MULTIS];
  char *dir = make_tree();
  uint32_t end = make_multis(&r, dir, starts[_i][0], starts[_i][1], want);
  pg_xact *x = open_xact(dir, 2000000, starts[_i][0] + MULTIS, end);
  host_error err = {{0}};
  for (uint32_t i = 0; i < MULTIS; i++) {
    uint32_t xid;
    ck_assert_msg(pg_multixact_updater(x, &xid, starts[_i][0] + i, &err), "%s", err.text);
    ck_assert_uint_eq(xid, want[i]);
  }
  uint32_t xid;
  ck_assert(!pg_multixact_updater(x, &xid, starts[_i][0] + MULTIS, &err));
  expect(&err, "has not been given out");
  ck_assert(!pg_multixact_updater(x, &xid, 0, &err));
  pg_xact_close(x);
  remove_tree(dir);
  free(dir);
}
END_TEST

START_TEST(damaged_multixacts)
{
  char *dir = make_tree();
  uint8_t offsets[64] = {0}, members[64] = {0};
  put32(offsets + 4, 1);
  put32(offsets + 8, 3);
  put32(offsets + 12, 3);
  put32(offsets + 20, 0x20000000);
  members[1] = members[2] = 4;
  put32(members + 8, 10);
  put32(members + 12, 11);
  write_file(dir, "pg_multixact/offsets/0000", offsets, sizeof offsets);
  write_file(dir, "pg_multixact/members/0000", members, sizeof members);
  pg_xact *x = open_xact(dir, 100, 20, 0);
  uint32_t xid;
  host_error err = {{0}};
  ck_assert(!pg_multixact_updater(x, &xid, 1, &err));
  expect(&err, "two updaters, 10 and 11");
  ck_assert(!pg_multixact_updater(x, &xid, 2, &err));
  expect(&err, "multixact 2: members 3 to 3 are not possible");
  ck_assert(!pg_multixact_updater(x, &xid, 3, &err));
  expect(&err, "multixact 3: its end has not been filled in");
  ck_assert(!pg_multixact_updater(x, &xid, 5, &err));
  ck_assert(!pg_multixact_updater(x, &xid, 16, &err));
  expect(&err, "pg_multixact/offsets/0000: has 64 bytes, byte 64 is needed (multixact 16)");
  pg_xact_close(x);
  members[2] = 6;
  write_file(dir, "pg_multixact/members/0000", members, sizeof members);
  x = open_xact(dir, 100, 20, 0);
  ck_assert(!pg_multixact_updater(x, &xid, 1, &err));
  expect(&err, "unknown status 6");
  pg_xact_close(x);
  delete_file(dir, "pg_multixact/members/0000");
  x = open_xact(dir, 100, 20, 0);
  ck_assert(!pg_multixact_updater(x, &xid, 1, &err));
  expect(&err, "pg_multixact/members/0000: No such file");
  pg_xact_close(x);
  remove_tree(dir);
  free(dir);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_state");
  TCase *tc = tcase_create("files");
  tcase_add_test(tc, control_of_the_sample);
  tcase_add_test(tc, damaged_control);
  tcase_add_loop_test(tc, relation_maps, 15, 19);
  tcase_add_test(tc, statuses);
  tcase_add_test(tc, status_positions);
  tcase_add_test(tc, statuses_that_are_gone);
  tcase_add_loop_test(tc, updaters_of_multixacts, 0, 3);
  tcase_add_test(tc, damaged_multixacts);
  tcase_set_timeout(tc, 60);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
