/* Heap pages: made by hand, damaged, real ones with checksums; what became of a row version. */
#include "hosts/datadir.h"
#include "support/pg/pg_page.h"
#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put16(uint8_t *p, unsigned x)
{
  p[0] = (uint8_t)x;
  p[1] = (uint8_t)(x >> 8);
}

static void put32(uint8_t *p, uint32_t x)
{
  put16(p, x & 0xFFFF);
  put16(p + 2, x >> 16);
}

static void begin_page(uint8_t *page)
{
  memset(page, 0, PG_BLOCK_SIZE);
  put16(page + 12, 24);
  put16(page + 14, 8192);
  put16(page + 16, 8192);
  put16(page + 18, 0x2004);
}

/* Adds a row of one int column; returns the place of its header. */
static uint8_t *add_row(uint8_t *page, uint32_t block, uint32_t xmin, uint32_t xmax, uint16_t infomask, uint32_t value)
{
  unsigned lower = pg_u16(page + 12), upper = pg_u16(page + 14) - 32u;
  unsigned line = (lower - 24) / 4 + 1;
  put32(page + lower, upper | 1u << 15 | 28u << 17);
  put16(page + 12, lower + 4);
  put16(page + 14, upper);
  uint8_t *row = page + upper;
  put32(row, xmin);
  put32(row + 4, xmax);
  put16(row + 12, block >> 16);
  put16(row + 14, block & 0xFFFF);
  put16(row + 16, line);
  put16(row + 18, 1);
  put16(row + 20, infomask);
  row[22] = 24;
  put32(row + 24, value);
  return row;
}

static void set_checksum(uint8_t *page, uint32_t block)
{
  put16(page + 8, pg_page_checksum(page, block));
}

static void expect(const host_error *err, const char *part)
{
  ck_assert_msg(strstr(err->text, part) != NULL, "\"%s\" is not in: %s", part, err->text);
}

START_TEST(rows_of_a_page)
{
  uint8_t page[PG_BLOCK_SIZE];
  host_error err = {{0}};
  unsigned lines;
  bool has;
  pg_row row;
  begin_page(page);
  add_row(page, 70000, 10, 0, PG_XMIN_COMMITTED, 111);
  uint8_t *updated = add_row(page, 70000, 11, 12, 0, 222);
  put16(updated + 12, 1); /* the newer version is row 5 of block 0x10002 */
  put16(updated + 14, 2);
  put16(updated + 16, 5);
  add_row(page, 70000, 13, 0, 0, 333);
  put32(page + 24 + 4 * 2, 1 | 2u << 15); /* the third becomes a redirect */
  ck_assert(pg_page_check(&lines, page, 70000, false, &err));
  ck_assert_uint_eq(lines, 3);
  ck_assert(pg_page_row(&row, &has, page, 70000, 1, &err) && has);
  ck_assert(row.xmin == 10 && row.xmax == 0 && row.line == 1 && row.block == 70000);
  ck_assert(pg_row_is_last(&row));
  ck_assert_uint_eq(pg_u32(row.tuple.data + row.tuple.hoff), 111);
  ck_assert(pg_page_row(&row, &has, page, 70000, 2, &err) && has);
  ck_assert(row.next_block == 0x10002 && row.next_line == 5 && !pg_row_is_last(&row));
  ck_assert(pg_page_row(&row, &has, page, 70000, 3, &err) && !has);
}
END_TEST

START_TEST(damaged_pages)
{
  static const struct {
    size_t at;
    unsigned value;
    const char *message;
  } cases[] = {
    {12, 23, "damaged header (lower 23"}, {12, 8192, "damaged header"}, {12, 26, "damaged header"},
    {14, 20, "damaged header"},           {16, 8193, "damaged header"}, {16, 100, "damaged header"},
    {18, 0x2003, "size and version 2003"}, {10, 0x10, "flags 0010"},    {14, 0, "has no header but is not empty"},
  };
  uint8_t page[PG_BLOCK_SIZE];
  host_error err = {{0}};
  unsigned lines;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    begin_page(page);
    add_row(page, 7, 10, 0, 0, 1);
    ck_assert(pg_page_check(&lines, page, 7, false, &err));
    put16(page + cases[i].at, cases[i].value);
    ck_assert(!pg_page_check(&lines, page, 7, false, &err));
    expect(&err, cases[i].message);
    expect(&err, "block 7");
  }
  /* Line pointers: beyond the end, below the rows, unaligned, too short for a header. */
  static const uint32_t pointers[] = {8176 | 1u << 15 | 28u << 17, 24 | 1u << 15 | 28u << 17, 8162 | 1u << 15 | 28u << 17,
                                      8160 | 1u << 15 | 22u << 17, 32760 | 1u << 15 | 28u << 17, 1u << 15};
  pg_row row;
  bool has;
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    begin_page(page);
    add_row(page, 7, 10, 0, 0, 1);
    put32(page + 24, pointers[i]);
    ck_assert(pg_page_check(&lines, page, 7, false, &err));
    ck_assert(!pg_page_row(&row, &has, page, 7, 1, &err));
    expect(&err, "block 7, line 1");
  }
  memset(page, 0, sizeof page);
  ck_assert(pg_page_check(&lines, page, 7, true, &err));
  ck_assert_uint_eq(lines, 0);
}
END_TEST

START_TEST(checksums)
{
  uint8_t page[PG_BLOCK_SIZE];
  host_error err = {{0}};
  unsigned lines;
  rng r = {test_seed(21)};
  for (uint32_t block = 0; block < 40; block++) {
    begin_page(page);
    add_row(page, block, 10, 0, 0, block);
    set_checksum(page, block);
    ck_assert(pg_page_check(&lines, page, block, true, &err));
    ck_assert(!pg_page_check(&lines, page, block + 1, true, &err)); /* a page at the wrong place */
    page[24 + rng_below(&r, 8000)] ^= (uint8_t)(1u << rng_below(&r, 8));
    ck_assert(!pg_page_check(&lines, page, block, true, &err));
    expect(&err, "checksum");
  }
}
END_TEST

/* Checksums that a server has written. */
START_TEST(checksums_of_a_server)
{
  pg_heap_scan scan;
  host_error err = {{0}};
  char path[4200];
  snprintf(path, sizeof path, "%s/base/5/1247", data_path("pg18-dml/data"));
  ck_assert(pg_heap_scan_begin(&scan, path, true, &err));
  bool found;
  pg_row row;
  size_t rows = 0;
  while (pg_heap_scan_next(&scan, &found, &row, &err) && found)
    rows++;
  ck_assert_msg(!found && err.text[0] == 0, "%s", err.text);
  ck_assert_uint_gt(rows, 600);
  ck_assert_uint_gt(scan.block, 5);
  pg_heap_scan_end(&scan);
}
END_TEST

/* Parts of a relation: the second one counts only if the first is full. */
START_TEST(parts)
{
  char *dir = make_tree();
  uint8_t page[PG_BLOCK_SIZE];
  host_error err = {{0}};
  pg_heap_scan scan;
  pg_row row;
  bool found;
  char path[4200];
  snprintf(path, sizeof path, "%s/1000", dir);
  ck_assert(!pg_heap_scan_begin(&scan, path, false, &err));
  expect(&err, "1000: No such file");

  begin_page(page);
  add_row(page, 0, 10, 0, 0, 1);
  write_file(dir, "1000", page, sizeof page);
  begin_page(page);
  add_row(page, PG_SEGMENT_BLOCKS, 10, 0, 0, 2);
  add_row(page, PG_SEGMENT_BLOCKS, 10, 0, 0, 3);
  write_file(dir, "1000.1", page, sizeof page);
  size_t rows = 0;
  ck_assert(pg_heap_scan_begin(&scan, path, false, &err));
  while (pg_heap_scan_next(&scan, &found, &row, &err) && found)
    rows++;
  ck_assert(!found && rows == 1);
  pg_heap_scan_end(&scan);

  cut_file(dir, "1000", (size_t)PG_SEGMENT_BLOCKS * PG_BLOCK_SIZE); /* a hole: empty pages up to the end of the part */
  rows = 0;
  ck_assert(pg_heap_scan_begin(&scan, path, false, &err));
  while (pg_heap_scan_next(&scan, &found, &row, &err) && found)
    rows++;
  ck_assert_msg(!found && rows == 3, "%s", err.text);
  ck_assert(pg_heap_scan_next(&scan, &found, &row, &err) && !found); /* and stays at the end */
  pg_heap_scan_end(&scan);

  cut_file(dir, "1000", 8192 + 100);
  ck_assert(pg_heap_scan_begin(&scan, path, false, &err));
  ck_assert(pg_heap_scan_next(&scan, &found, &row, &err) && found);
  ck_assert(!pg_heap_scan_next(&scan, &found, &row, &err));
  expect(&err, "1000: block 1 is cut off after 100 bytes");
  pg_heap_scan_end(&scan);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* --- what became of a row version ------------------------------------------------------------------------------ */

/* xids 3 committed, 4 aborted, 5 in progress; multixact 1: {4 no key update lock by 3, update by 3}; 2: locks only;
 * 3: update by 4. */
static pg_xact *make_xact(const char *dir)
{
  uint8_t xact[8192] = {0}, offsets[8192] = {0}, members[8192] = {0};
  xact[0] = 1 << 6;
  xact[1] = 2;
  write_file(dir, "pg_xact/0000", xact, sizeof xact);
  put32(offsets + 4, 1);
  put32(offsets + 8, 3);
  put32(offsets + 12, 4);
  write_file(dir, "pg_multixact/offsets/0000", offsets, sizeof offsets);
  members[1] = 2;
  members[2] = 5;
  members[3] = 1;
  put32(members + 8, 3);
  put32(members + 12, 3);
  put32(members + 16, 3);
  members[20] = 4;
  put32(members + 24, 4);
  write_file(dir, "pg_multixact/members/0000", members, sizeof members);
  const pg_control control = {.next_full_xid = 6, .next_multi = 4, .next_member = 5};
  pg_xact *x;
  host_error err = {{0}};
  ck_assert(pg_xact_open(&x, dir, &control, &err));
  return x;
}

START_TEST(fates)
{
  static const struct {
    uint32_t xmin, xmax;
    unsigned infomask;
    int made;
    uint32_t ended_by;
  } cases[] = {
    {3, 0, 0, 1, 0},
    {4, 0, 0, 0, 0},
    {5, 0, 0, 0, 0},
    {1, 0, 0, 1, 0},
    {2, 0, 0, 1, 0},
    {4, 0, PG_XMIN_COMMITTED, 1, 0}, /* the hint decides */
    {3, 0, PG_XMIN_INVALID, 0, 0},
    {5, 0, PG_XMIN_FROZEN, 1, 0},
    {3, 3, 0, 1, 3},
    {3, 4, 0, 1, 0},
    {3, 5, 0, 1, 0},
    {3, 3, PG_XMAX_INVALID, 1, 0},
    {3, 4, PG_XMAX_COMMITTED, 1, 4},
    {3, 3, PG_XMAX_LOCK_ONLY, 1, 0},
    {3, 3, PG_XMAX_LOCK_ONLY | PG_XMAX_COMMITTED, 1, 0},
    {3, 3, PG_XMAX_EXCL_LOCK, 1, 0}, /* a lock of old */
    {3, 3, PG_XMAX_EXCL_LOCK | PG_XMAX_KEYSHR_LOCK, 1, 3},
    {3, 1, PG_XMAX_IS_MULTI, 1, 3},
    {3, 2, PG_XMAX_IS_MULTI | PG_XMAX_LOCK_ONLY, 1, 0},
    {3, 2, PG_XMAX_IS_MULTI, 1, 0},
    {3, 3, PG_XMAX_IS_MULTI, 1, 0}, /* its updater aborted */
    {4, 3, 0, 0, 0},
  };
  char *dir = make_tree();
  pg_xact *x = make_xact(dir);
  uint8_t page[PG_BLOCK_SIZE];
  host_error err = {{0}};
  bool has, made;
  uint32_t ended_by;
  pg_row row;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    begin_page(page);
    add_row(page, 0, cases[i].xmin, cases[i].xmax, (uint16_t)cases[i].infomask, 0);
    ck_assert(pg_page_row(&row, &has, page, 0, 1, &err) && has);
    ck_assert_msg(pg_row_fate(x, &made, &ended_by, &row, &err), "case %zu: %s", i, err.text);
    ck_assert_msg(made == cases[i].made && ended_by == cases[i].ended_by, "case %zu: %d, %u", i, made, ended_by);
  }
  begin_page(page);
  add_row(page, 0, 3, 0, 0x4000, 0);
  ck_assert(pg_page_row(&row, &has, page, 0, 1, &err));
  ck_assert(!pg_row_fate(x, &made, &ended_by, &row, &err));
  expect(&err, "9.0");
  pg_xact_close(x);
  remove_tree(dir);
  free(dir);
}
END_TEST

/* Random damage of a page: reads stay inside (the sanitizers watch), and rows that are given lie on the page. */
START_TEST(random_damage)
{
  rng r = {test_seed(22)};
  host_error err;
  size_t refused = 0, given = 0;
  uint8_t *page = malloc(PG_BLOCK_SIZE);
  ck_assert_ptr_nonnull(page);
  for (int round = 0; round < 5000; round++) {
    begin_page(page);
    for (uint32_t i = 0; i < 10; i++)
      add_row(page, 3, 10 + i, 0, 0, i);
    for (uint64_t n = rng_below(&r, 8); n > 0; n--)
      page[rng_chance(&r, 80) ? rng_below(&r, 64) : 8192 - 1 - rng_below(&r, 320)] = (uint8_t)rng_next(&r);
    unsigned lines;
    if (!pg_page_check(&lines, page, 3, false, &err)) {
      refused++;
      continue;
    }
    for (unsigned line = 1; line <= lines; line++) {
      pg_row row;
      bool has;
      if (!pg_page_row(&row, &has, page, 3, line, &err)) {
        refused++;
      } else if (has) {
        given++;
        ck_assert(row.tuple.data >= page && row.tuple.data + row.tuple.len <= page + PG_BLOCK_SIZE);
        ck_assert_uint_le(row.tuple.hoff, row.tuple.len);
      }
    }
  }
  ck_assert_uint_gt(refused, 500);
  ck_assert_uint_gt(given, 500);
  free(page);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_page");
  TCase *tc = tcase_create("pages");
  tcase_add_test(tc, rows_of_a_page);
  tcase_add_test(tc, damaged_pages);
  tcase_add_test(tc, checksums);
  tcase_add_test(tc, checksums_of_a_server);
  tcase_add_test(tc, parts);
  tcase_add_test(tc, fates);
  tcase_add_test(tc, random_damage);
  tcase_set_timeout(tc, 60);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
