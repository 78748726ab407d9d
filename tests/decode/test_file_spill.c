/* Spill storage in files: a directory, leftovers, failures, bounded open files, readers on other threads. */
#include "decode/kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <twpa/file_spill.h>

static char dir[64];
static twpa_file_spill *spill;
static twpa_storage storage = {.struct_size = TWPA_STORAGE_INIT};
static kit k;

static void open_spill(uint32_t open_files)
{
  twpa_file_spill_options options = {TWPA_FILE_SPILL_OPTIONS_INIT, dir, open_files, 0};
  ck_assert_int_eq(twpa_file_spill_new(&spill, &options, NULL), TWPA_OK);
  ck_assert_int_eq(twpa_file_spill_storage(spill, &storage), TWPA_OK);
}

static size_t files_in(const char *path)
{
  DIR *d = opendir(path);
  ck_assert_ptr_nonnull(d);
  size_t n = 0;
  const struct dirent *e;
  while ((e = readdir(d)) != NULL)
    n += e->d_name[0] != '.';
  closedir(d);
  return n;
}

static void path_of(char *path, size_t cap, const char *name)
{
  snprintf(path, cap, "%s/%s", dir, name);
}

static void make_file(const char *name, const char *content)
{
  char path[256];
  path_of(path, sizeof path, name);
  FILE *f = fopen(path, "w");
  ck_assert_ptr_nonnull(f);
  fputs(content, f);
  fclose(f);
}

static void setup(void)
{
  strcpy(dir, "/tmp/twpa-test-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  kit_init(&k);
  k.keep_log = false;
}

static void teardown(void)
{
  twpa_file_spill_free(spill);
  spill = NULL;
  kit_free(&k);
  char path[256];
  path_of(path, sizeof path, "other");
  unlink(path);
  ck_assert_int_eq(rmdir(dir), 0);
}

static twpa_reorder *make(size_t limit)
{
  twpa_reorder_options options = {TWPA_REORDER_OPTIONS_INIT, .memory_bytes = limit, .storage = &storage};
  return kit_new(&k, &options, NULL);
}

START_TEST(hooks)
{
  open_spill(2);
  for (uint64_t id = 0; id < 5; id++) {
    ck_assert_int_eq(storage.write(storage.user, id, 0, "hello", 5), 0);
    ck_assert_int_eq(storage.write(storage.user, id, 5, " world", 6), 0);
  }
  ck_assert_uint_eq(files_in(dir), 5);
  char buf[16];
  for (uint64_t id = 5; id-- > 0;) {
    ck_assert_int_eq(storage.read(storage.user, id, 3, buf, 6), 0);
    ck_assert_int_eq(memcmp(buf, "lo wor", 6), 0);
    ck_assert_int_eq(storage.read(storage.user, id, 6, buf, 6), TWPA_E_CORRUPT);
  }
  ck_assert_int_eq(twpa_file_spill_errno(spill), 0);
  ck_assert_int_gt(storage.read(storage.user, 99, 0, buf, 1), 0);
  ck_assert_int_eq(twpa_file_spill_errno(spill), ENOENT);
  for (uint64_t id = 0; id < 6; id++)
    ck_assert_int_eq(storage.remove(storage.user, id), 0);
  ck_assert_uint_eq(files_in(dir), 0);
}
END_TEST

/* B03: what an earlier run has left is removed, never appended to; what is not ours stays. */
START_TEST(leftovers)
{
  make_file("twpa-0000000000000000.spill", "half a block of an earlier run");
  make_file("twpa-00000000000000ff.spill", "x");
  make_file("other", "not ours");
  open_spill(0);
  ck_assert_uint_eq(files_in(dir), 1);
  twpa_reorder *r = make(1);
  ins(r, 10, 0, 100, "a");
  ins(r, 10, 0, 110, "b");
  ck_assert_uint_eq(files_in(dir), 2);
  /* The process dies; the next one reads the same log. */
  make_file("twpa-0000000000000000.spill", "");
  commit(r, 20, 120, 0, NULL);
  twpa_reorder_free(r);
  twpa_file_spill_free(spill);
  open_spill(0);
  r = make(1);
  ins(r, 10, 0, 100, "a");
  ins(r, 11, 10, 105, "tiny");
  ins(r, 10, 0, 110, "b");
  commit(r, 10, 120, 1, (twpa_xid[]){11});
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @100 new=a\nins 11 @105 new=tiny\nins 10 @110 new=b\n");
  ck_assert_uint_eq(files_in(dir), 1);
  twpa_reorder_free(r);
}
END_TEST

/* Somebody who may write into the directory leads the next file elsewhere: nothing is written there. */
START_TEST(a_link_is_not_followed)
{
  open_spill(0);
  make_file("other", "not ours");
  char link[256], target[256], got[16] = "";
  path_of(target, sizeof target, "other");
  path_of(link, sizeof link, "twpa-0000000000000005.spill");
  ck_assert_int_eq(symlink(target, link), 0);
  ck_assert_int_ne(storage.write(storage.user, 5, 0, "ours", 4), 0);
  ck_assert_int_eq(twpa_file_spill_errno(spill), ELOOP);
  FILE *f = fopen(target, "r");
  ck_assert_ptr_nonnull(f);
  ck_assert_ptr_nonnull(fgets(got, sizeof got, f));
  fclose(f);
  ck_assert_str_eq(got, "not ours");
}
END_TEST

START_TEST(wrong_options)
{
  twpa_file_spill *s = NULL;
  twpa_file_spill_options options = {TWPA_FILE_SPILL_OPTIONS_INIT, NULL, 0, 0};
  ck_assert_int_eq(twpa_file_spill_new(&s, &options, NULL), TWPA_E_INVAL);
  ck_assert_int_eq(twpa_file_spill_new(&s, NULL, NULL), TWPA_E_INVAL);
  options.directory = "/nonexistent/directory";
  ck_assert_int_eq(twpa_file_spill_new(&s, &options, NULL), TWPA_E_NOTFOUND);
  ck_assert_int_eq(errno, ENOENT);
  options.directory = "/etc/passwd";
  ck_assert_int_eq(twpa_file_spill_new(&s, &options, NULL), TWPA_E_NOTFOUND);
  options.directory = dir;
  options.open_files = 5000;
  ck_assert_int_eq(twpa_file_spill_new(&s, &options, NULL), TWPA_E_INVAL);
  open_spill(0);
  options.open_files = 0;
  ck_assert_int_eq(twpa_file_spill_new(&s, &options, NULL), TWPA_E_EXISTS);
  ck_assert_ptr_null(s);
  ck_assert_int_eq(twpa_file_spill_storage(NULL, &storage), TWPA_E_INVAL);
  for (int persistent = 0; persistent < 2; persistent++) {
    twpa_file_spill_free(spill);
    spill = NULL;
    for (size_t n = 1;; n++) {
      faultmem fm;
      twpa_allocator mem = faultmem_init(&fm, n, persistent != 0);
      twpa_status st = twpa_file_spill_new(&spill, &options, &mem);
      if (fm.calls < n) {
        ck_assert_int_eq(st, TWPA_OK);
        twpa_file_spill_free(spill);
        faultmem_check_empty(&fm);
        break;
      }
      ck_assert_int_eq(st, TWPA_E_NOMEM);
      faultmem_check_empty(&fm);
    }
    open_spill(0);
  }
}
END_TEST

/* A full disk: the call fails, nothing is lost, and it works when there is room again. */
START_TEST(full_disk)
{
  open_spill(0);
  twpa_reorder *r = make(1);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit old, small;
  ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 100;
  ins(r, 10, 0, 100, "first");
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
  twpa_status st = kit_row(r, TWPA_INSERT, 10, 0, 110, "second");
  ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
  ck_assert_int_eq(st, TWPA_E_CALLBACK);
  ck_assert_int_eq(twpa_file_spill_errno(spill), EFBIG);
  kit_check(r);
  ins(r, 10, 0, 110, "second");
  commit(r, 10, 120, 0, NULL);
  ck_assert_str_eq(text_get(&k.result), "commit 10\nins 10 @100 new=first\nins 10 @110 new=second\n");
  twpa_reorder_free(r);
}
END_TEST

/* A file that was cut short or changed by somebody. */
START_TEST(damaged_file)
{
  open_spill(0);
  twpa_reorder *r = make(1);
  ins(r, 10, 0, 100, "a row");
  char path[256];
  path_of(path, sizeof path, "twpa-0000000000000001.spill");
  struct stat sb;
  ck_assert_int_eq(stat(path, &sb), 0);
  ck_assert_int_eq(truncate(path, sb.st_size - 1), 0);
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_E_CORRUPT);
  ck_assert_int_eq(truncate(path, sb.st_size), 0);
  ck_assert_int_eq(kit_commit(r, 10, 110, NULL, 0), TWPA_OK); /* the last byte is padding, and was 0 */
  twpa_reorder_free(r);
}
END_TEST

static size_t open_descriptors(void)
{
  return files_in("/proc/self/fd");
}

/* Spilled subtransactions without number, as subs of one top and as unknown ones; and large ones with a file each. */
START_TEST(open_files_are_bounded)
{
  open_spill(8);
  twpa_reorder *r = make(1);
  size_t before = open_descriptors();
  twpa_lsn lsn = 100;
  for (twpa_xid sub = 1000; sub < 101000; sub++)
    ck_assert_int_eq(kit_row(r, TWPA_INSERT, sub, 10, lsn++, "s"), TWPA_OK);
  ck_assert_uint_le(open_descriptors(), before + 8);
  ck_assert_uint_eq(files_in(dir), 2); /* the shared one that it has filled, and its own */
  ck_assert_uint_eq(kit_stats(r).open_subs, 100000);
  for (twpa_xid top = 200000; top < 201000; top++)
    ck_assert_int_eq(kit_row(r, TWPA_INSERT, top, 0, lsn++, "t"), TWPA_OK);
  ck_assert_uint_eq(files_in(dir), 3);
  static char row[(256 << 10) + 1];
  memset(row, 'r', sizeof row - 1);
  for (twpa_xid xid = 300000; xid < 300040; xid++)
    ck_assert_int_eq(kit_row(r, TWPA_INSERT, xid, 0, lsn++, row), TWPA_OK);
  ck_assert_uint_eq(files_in(dir), 43);
  ck_assert_uint_le(open_descriptors(), before + 8);
  for (twpa_xid xid = 300000; xid < 300040; xid++)
    ck_assert_int_eq(kit_commit(r, xid, lsn++, NULL, 0), TWPA_OK);
  ck_assert_uint_eq(files_in(dir), 3);
  ck_assert_int_eq(kit_commit(r, 10, lsn++, NULL, 0), TWPA_OK);
  twpa_xid subs[1000];
  for (size_t i = 0; i < 1000; i++)
    subs[i] = 200000 + i;
  ck_assert_int_eq(kit_commit(r, 20, lsn++, subs, 1000), TWPA_OK);
  ck_assert_uint_le(open_descriptors(), before + 8);
  kit_check(r);
  ck_assert_uint_eq(kit_stats(r).delivered_changes, 101040);
  ck_assert_uint_eq(files_in(dir), 0);
  ck_assert_uint_lt(kit_stats(r).total_bytes, 40 << 20);
  twpa_reorder_free(r);
}
END_TEST

/* --- taken transactions on other threads --- */

static void *walk(void *arg)
{
  twpa_txn *txn = arg;
  size_t n = 0;
  for (int round = 0; round < 3; round++) {
    twpa_change c;
    twpa_status st;
    n = 0;
    while ((st = twpa_txn_next(txn, &c)) == TWPA_OK) {
      n += c.kind == TWPA_INSERT && c.new_row.len == 6 && memcmp(c.new_row.data, "a rowx", 6) == 0;
      twpa_bytes b;
      if (twpa_txn_toast(txn, &b, 9, 1, 3) != TWPA_E_NOTFOUND)
        n += 1000;
      twpa_cid cmin, cmax;
      if (twpa_txn_tuplecid(txn, &cmin, &cmax, &(twpa_locator){1, 2, 3}, &(twpa_tid){.line = 1}) != TWPA_E_NOTFOUND)
        n += 1000;
    }
    if (st != TWPA_NONE || twpa_txn_rewind(txn) != TWPA_OK)
      return NULL;
  }
  return (void *)(uintptr_t)n;
}

START_TEST(walked_on_other_threads)
{
  open_spill(2);
  k.take = true;
  twpa_reorder *r = make(20000);
  pthread_t threads[8];
  twpa_txn *txns[8];
  twpa_lsn lsn = 100;
  for (int i = 0; i < 8; i++) {
    twpa_xid xid = 10 + (twpa_xid)i * 10;
    for (int n = 0; n < 1000; n++) {
      ck_assert_int_eq(kit_row(r, TWPA_INSERT, xid + (twpa_xid)(n % 3), n % 3 ? xid : 0, lsn++, "a rowx"), TWPA_OK);
      if (n % 100 == 0) {
        twpa_record record = {.lsn = lsn, .xid = 9};
        ck_assert_int_eq(twpa_reorder_distribute(r, &record, str("something")), TWPA_OK);
      }
    }
    ck_assert_int_eq(kit_commit(r, xid, lsn++, NULL, 0), TWPA_OK);
    txns[i] = k.taken[0];
    k.ntaken = 0;
    ck_assert_int_eq(pthread_create(&threads[i], NULL, walk, txns[i]), 0);
  }
  for (int i = 0; i < 8; i++) {
    void *n;
    ck_assert_int_eq(pthread_join(threads[i], &n), 0);
    ck_assert_uint_eq((uintptr_t)n, 1000);
    twpa_txn_release(txns[i]);
  }
  kit_check(r);
  twpa_reorder_free(r);
  ck_assert_uint_eq(files_in(dir), 0);
}
END_TEST

/* --- removed while others read --- */

static atomic_bool stop;

static void *read_on(void *arg)
{
  (void)arg;
  static _Thread_local unsigned char block[65536];
  size_t failed = 0;
  while (!atomic_load(&stop))
    failed += storage.read(storage.user, 1, 0, block, sizeof block) != 0;
  return (void *)(uintptr_t)failed;
}

/* How many open files have no name any more. */
static size_t nameless_descriptors(void)
{
  DIR *d = opendir("/proc/self/fd");
  ck_assert_ptr_nonnull(d);
  size_t n = 0;
  const struct dirent *e;
  while ((e = readdir(d)) != NULL) {
    struct stat found;
    if (fstatat(dirfd(d), e->d_name, &found, 0) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 0)
      n++;
  }
  closedir(d);
  return n;
}

/* Threads that never stop reading keep no file from being removed, and none that was removed stays open. */
START_TEST(removed_while_others_read)
{
  open_spill(4);
  static unsigned char block[65536];
  ck_assert_int_eq(storage.write(storage.user, 1, 0, block, sizeof block), 0);
  size_t before = nameless_descriptors();
  atomic_store(&stop, false);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(pthread_create(&threads[i], NULL, read_on, NULL), 0);
  size_t failed = 0;
  for (uint64_t file = 2; file < 3000; file++) {
    failed += storage.write(storage.user, file, 0, block, 100) != 0;
    failed += storage.remove(storage.user, file) != 0;
  }
  atomic_store(&stop, true);
  for (int i = 0; i < 2; i++) {
    void *n;
    ck_assert_int_eq(pthread_join(threads[i], &n), 0);
    failed += (uintptr_t)n;
  }
  ck_assert_uint_eq(failed, 0);
  ck_assert_uint_eq(files_in(dir), 1);
  ck_assert_int_eq(storage.read(storage.user, 1, 0, block, 1), 0);
  ck_assert_uint_eq(nameless_descriptors(), before);
}
END_TEST

static Suite *suite(void)
{
  Suite *s = suite_create("file_spill");
  TCase *t = tcase_create("files");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, hooks);
  tcase_add_test(t, leftovers);
  tcase_add_test(t, wrong_options);
  tcase_add_test(t, a_link_is_not_followed);
  tcase_add_test(t, full_disk);
  tcase_add_test(t, damaged_file);
  tcase_add_test(t, open_files_are_bounded);
  tcase_add_test(t, walked_on_other_threads);
  tcase_add_test(t, removed_while_others_read);
  suite_add_tcase(s, t);
  return s;
}

int main(void)
{
  return run_suite(suite());
}
