/*
 * Out of memory while a cold directory is opened: every allocation is refused in turn, once or from then on. Each attempt
 * says "out of memory" and leaves nothing behind; the next one without a refusal works.
 *
 * The linker redirects the allocator of everything that is linked into this program (not that of the C library itself).
 */
#include "hosts/datadir.h"
#include "support/pg/pg_catalog.h"
#include "support/pg/pg_text.h"
#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t calls, fail_at; /* 0: never */
static bool persistent, active; /* Check takes memory as well: only while a scenario runs */

static bool refused(void)
{
  calls += active;
  return active && fail_at != 0 && (calls == fail_at || (persistent && calls > fail_at));
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
  return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
  return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
  return refused() ? NULL : __real_realloc(p, size);
}

/* Opens everything, finds a table, prints a compressed value; true if all of it worked. */
static bool scenario(const char *dir, host_error *err)
{
  active = true;
  pg_cluster *cluster;
  pg_catalog *cat = NULL;
  pg_buf text = {0};
  const pg_database *db;
  /* 10 bytes: "ab", then eight more from two back. */
  const pg_value packed = {.kind = PG_VALUE_COMPRESSED, .data = (const uint8_t *)"\4ab\5\2", .len = 5, .raw_len = 10};
  bool ok = pg_cluster_open(&cluster, dir, err) && pg_cluster_database(&db, cluster, "sample", err) &&
            pg_catalog_open(&cat, cluster, db->oid, err) && pg_text_value(&text, cat, 25, &packed, err);
  active = false;
  if (ok)
    ck_assert(pg_catalog_by_name(cat, "public", "orders") != NULL && strcmp(text.data, "ababababab") == 0);
  pg_buf_free(&text);
  pg_catalog_close(cat);
  pg_cluster_close(cluster);
  return ok;
}

START_TEST(every_allocation_fails)
{
  char dir[4096];
  snprintf(dir, sizeof dir, "%s", data_path("pg15-sample/data"));
  host_error err = {{0}};
  persistent = _i == 1;
  size_t n = 0;
  bool ok = false;
  while (!ok) {
    fail_at = ++n;
    calls = 0;
    err.text[0] = 0;
    ok = scenario(dir, &err);
    size_t made = calls;
    fail_at = 0;
    ck_assert_msg(ok == (made < n), "allocation %zu", n); /* a refusal is always noticed */
    if (!ok)
      ck_assert_msg(strstr(err.text, "out of memory") != NULL, "allocation %zu: %s", n, err.text);
  }
  printf("%zu allocations\n", n - 1);
  ck_assert_uint_gt(n, 50);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_memory");
  TCase *tc = tcase_create("refusals");
  tcase_add_loop_test(tc, every_allocation_fails, 0, 2);
  tcase_set_timeout(tc, 120);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
