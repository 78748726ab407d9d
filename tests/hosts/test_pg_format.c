/* The version table: look-ups, refusals by name, and the values against each other. */
#include "support/pg/pg_format.h"
#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(every_row_is_found_by_all_its_keys)
{
  size_t n;
  const pg_format *all = pg_format_all(&n);
  ck_assert_uint_eq(n, 4);
  for (size_t i = 0; i < n; i++) {
    host_error err = {{0}};
    const pg_format *f = NULL;
    char text[8];
    int len = snprintf(text, sizeof text, "%u\n", all[i].major);
    ck_assert_uint_eq(all[i].major, 15 + i);
    ck_assert_ptr_eq(pg_format_by_major(all[i].major), &all[i]);
    ck_assert(pg_format_by_text(&f, text, (size_t)len, &err) && f == &all[i]);
    f = NULL;
    ck_assert(pg_format_by_control(&f, all[i].control_version, all[i].catalog_version, &err) && f == &all[i]);
    f = NULL;
    ck_assert(pg_format_by_wal_magic(&f, all[i].wal_magic, &err) && f == &all[i]);
    ck_assert_uint_eq(all[i].relmap_crc_at, 8 + 8 * all[i].relmap_entries);
    ck_assert_uint_ge(all[i].relmap_size, all[i].relmap_crc_at + 4);
  }
}
END_TEST

START_TEST(unknown_versions_are_refused_by_name)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    {"14\n", "PostgreSQL 14 is not supported; supported: 15, 16, 17, 18"},
    {"19\n", "PostgreSQL 19 is not supported; supported: 15, 16, 17, 18"},
    {"9.6\n", "PostgreSQL 9.6 is not supported; supported: 15, 16, 17, 18"},
    {"015", "PostgreSQL 015 is not supported; supported: 15, 16, 17, 18"},
    {"4294967311", "PostgreSQL 4294967311 is not supported; supported: 15, 16, 17, 18"},
    {"", "PG_VERSION holds no version number"},
    {"\n", "PG_VERSION holds no version number"},
    {"15 beta", "PG_VERSION holds no version number"},
    {".5", "PG_VERSION holds no version number"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    host_error err = {{0}};
    const pg_format *f;
    ck_assert(!pg_format_by_text(&f, cases[i].text, strlen(cases[i].text), &err));
    ck_assert_str_eq(err.text, cases[i].message);
  }
  host_error err = {{0}};
  const pg_format *f;
  ck_assert_ptr_null(pg_format_by_major(14));
  ck_assert(!pg_format_by_wal_magic(&f, 0xD10D, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "PostgreSQL 14 "));
  ck_assert(!pg_format_by_wal_magic(&f, 0, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "0x0000"));
  ck_assert(!pg_format_by_control(&f, 1201, 1, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "1201"));
  ck_assert(!pg_format_by_control(&f, 1300, 202209062, &err));
  ck_assert_ptr_nonnull(strstr(err.text, "202209062"));
}
END_TEST

START_TEST(the_directory_names_its_version)
{
  char dir[] = "/tmp/twpa-format-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(dir));
  char path[64];
  snprintf(path, sizeof path, "%s/PG_VERSION", dir);
  host_error err = {{0}};
  const pg_format *f = NULL;
  ck_assert(!pg_format_by_directory(&f, dir, &err));
  ck_assert_ptr_nonnull(strstr(err.text, path));
  ck_assert_ptr_nonnull(strstr(err.text, "No such file"));

  FILE *file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs("14\n", file);
  fclose(file);
  ck_assert(!pg_format_by_directory(&f, dir, &err));
  ck_assert_ptr_nonnull(strstr(err.text, path));
  ck_assert_ptr_nonnull(strstr(err.text, "PostgreSQL 14 is not supported"));

  file = fopen(path, "w");
  ck_assert_ptr_nonnull(file);
  fputs("18\n", file);
  fclose(file);
  ck_assert(pg_format_by_directory(&f, dir, &err));
  ck_assert_uint_eq(f->major, 18);
  unlink(path);
  rmdir(dir);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_format");
  TCase *tc = tcase_create("table");
  tcase_add_test(tc, every_row_is_found_by_all_its_keys);
  tcase_add_test(tc, unknown_versions_are_refused_by_name);
  tcase_add_test(tc, the_directory_names_its_version);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
