/* twpa-replay as a user meets it: what it prints, and what it says when something is wrong. */
#include "hosts/expected.h"
#include "hosts/program.h"
#include "support/pg/pg_cluster.h"
#include "support/runner.h"
#include "support/wal/crc32c.h"
#include "support/wal/wal_files.h"
#include "support/wal/wal_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program: a definition of the build. */
static const char *replay(void)
{
  return TWPA_REPLAY;
}

/* It must fail with exactly one line that has all of these in it. */
static void fails_with(const char *const *argv, const char *const *needles)
{
  program_run r = program(argv);
  ck_assert_msg(r.status == 1, "status %d: %s", r.status, r.err);
  ck_assert_msg(r.err_lines == 1 && !strncmp(r.err, "twpa-replay: ", 13), "stderr: %s", r.err);
  ck_assert_str_eq(r.out, "");
  for (size_t i = 0; needles[i]; i++)
    ck_assert_msg(strstr(r.err, needles[i]) != NULL, "\"%s\" is not in: %s", needles[i], r.err);
  program_free(&r);
}

#define ARGS(...) ((const char *const[]){replay(), __VA_ARGS__, NULL})
#define SAYS(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(command_line)
{
  fails_with((const char *const[]){replay(), NULL}, SAYS("no data directory given"));
  fails_with(ARGS("--nonsense", "x"), SAYS("unknown option --nonsense"));
  fails_with(ARGS("somewhere"), SAYS("unexpected argument \"somewhere\""));
  fails_with(ARGS("-D"), SAYS("-D needs a value"));
  fails_with(ARGS("-D", "x", "--workers", "0"), SAYS("--workers", "\"0\""));
  fails_with(ARGS("-D", "x", "--workers=257"), SAYS("--workers", "\"257\""));
  fails_with(ARGS("-D", "x", "--workers=4x"), SAYS("--workers", "\"4x\""));
  fails_with(ARGS("-Dx", "--commit-order=maybe"), SAYS("--commit-order", "\"maybe\""));
  fails_with(ARGS("-Dx", "--from=12"), SAYS("--from", "\"12\""));
  fails_with(ARGS("-Dx", "--to=0/0"), SAYS("--to", "\"0/0\""));
  fails_with(ARGS("-Dx", "--to=0/123456789"), SAYS("--to"));
  fails_with(ARGS("-Dx", "--from=0/20", "--to=0/10"), SAYS("--from lies behind --to"));
  program_run r = program(ARGS("--help"));
  ck_assert_int_eq(r.status, 0);
  ck_assert_ptr_nonnull(strstr(r.out, "Usage: twpa-replay -D DATADIR"));
  for (const char *p = r.out, *q; *p; p = q + 1) {
    q = strchr(p, '\n');
    ck_assert_int_le(q - p, 100);
  }
  program_free(&r);
  r = program(ARGS("--version"));
  ck_assert_int_eq(r.status, 0);
  ck_assert(!strncmp(r.out, "twpa-replay ", 12));
  program_free(&r);
}
END_TEST

START_TEST(report)
{
  char data[1024];
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  program_run r = program(ARGS("-D", data, "--workers", "3"));
  ck_assert_msg(r.status == 0, "status %d: %s", r.status, r.err);
  ck_assert_str_eq(r.err, "");
  ck_assert_ptr_nonnull(strstr(r.out, "order violations: 0"));
  ck_assert_ptr_nonnull(
      strstr(r.out, "not applied: 28 changes of public.batch_log: its table cannot be"));
  ck_assert_ptr_nonnull(strstr(r.out, "\nPROVED: parallel apply gave the result of serial apply,\n"
                                      "but for 138 changes that were not applied.\n"));
  for (const char *p = r.out, *q; *p; p = q + 1) {
    q = strchr(p, '\n');
    if (strncmp(p, "Source", 6) != 0) /* the path may be long */
      ck_assert_msg(q - p <= 80, "too wide: %.*s", (int)(q - p), p);
  }
  program_free(&r);
}
END_TEST

START_TEST(json)
{
  /* all of these at the top level, numbers that are not 0 first */
  static const char *const also[] = {"order_violations",
                                     "retries",
                                     "serial_findings",
                                     "seeded_rows",
                                     "parallel_ms",
                                     "serial_ms",
                                     "plan_ms",
                                     "workers",
                                     "rolled_back",
                                     "rows",
                                     "work",
                                     "left_out_before_start",
                                     "left_out_open_at_start",
                                     "seeded_parents",
                                     "constraints_unchecked"};
  static const char *const names[] = {"transactions", "changes",     "keys",         "edges",
                                      "barriers",     "parallelism", "critical_path"};
  char data[1024];
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  program_run r = program(ARGS("-D", data, "--json", "--commit-order", "off"));
  ck_assert_msg(r.status == 0, "status %d: %s", r.status, r.err);
  ck_assert_str_eq(r.err, "");
  ck_assert_msg(is_json(r.out), "%s", r.out);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    ck_assert(json_number(r.out, names[i]) > 0);
  for (size_t i = 0; i < sizeof also / sizeof *also; i++)
    json_number(r.out, also[i]);
  ck_assert_ptr_nonnull(strstr(r.out, "\"edges_by_kind\": {\"write-write\": "));
  ck_assert_ptr_nonnull(strstr(r.out, "\"fallbacks\": {\""));
  ck_assert_ptr_nonnull(strstr(r.out, "\"speedup_by_workers_commit_order\": {\"1\": 1.000, "));
  ck_assert(json_number(r.out, "transactions") > 1000);
  ck_assert(json_number(r.out, "parallelism") > 1);
  ck_assert(json_number(r.out, "order_violations") == 0);
  ck_assert(json_number(r.out, "serial_findings_unexplained") == 0);
  ck_assert_ptr_nonnull(strstr(r.out, "\"its table cannot be followed\": 28}"));
  ck_assert_ptr_nonnull(strstr(r.out, "\"equal_to_serial\": true"));
  ck_assert_ptr_nonnull(strstr(r.out, "\"proved\": true"));
  program_free(&r);
}
END_TEST

static const char *segment(unsigned n);

static bool segment_exists(unsigned n)
{
  return *segment(n) != 0;
}

/* What cannot be known whole is left out, and said. */
START_TEST(left_out)
{
  char data[1024];
  snprintf(data, sizeof data, "%s", sample_path("pg18-dml"));
  program_run r = program(ARGS("-D", data, "--json", "--database", "postgres"));
  ck_assert_msg(r.status == 0, "status %d: %s", r.status, r.err);
  ck_assert(json_number(r.out, "left_out_open_at_start") == 1);
  ck_assert(json_number(r.out, "transactions_of_other_databases") > 0);
  ck_assert(json_number(r.out, "rolled_back") > 100);
  ck_assert_ptr_nonnull(strstr(r.out, "\"not_applied\": {\"no identity tells the row\": 7}"));
  program_free(&r);
  r = program(ARGS("-D", data));
  ck_assert_msg(r.status == 0, "status %d: %s", r.status, r.err);
  ck_assert_ptr_nonnull(strstr(r.out, "left out: open at the start 1, of other databases "));
  program_free(&r);
}
END_TEST

/* A number of the report in text; 0 if it says nothing about it. */
static unsigned text_number(const char *text, const char *what)
{
  const char *at = strstr(text, what);
  return at ? (unsigned)strtoul(at + strlen(what), NULL, 10) : 0;
}

/*
 * Without its first segment the log begins with commits that nobody can tell whole. The whole log tells how many there
 * are: none of them goes without a word.
 */
START_TEST(first_segment_gone)
{
  char data[1024], begin[24], start[24], wanted[64];
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  snprintf(begin, sizeof begin, "0/%.2s00000", segment(1) + strlen(segment(1)) - 2);
  const char *dir = copy_tree(data);
  copy_remove(segment(0));
  program_run cut = program(ARGS("-D", dir, "--json")), text = program(ARGS("-D", dir));
  ck_assert_msg(cut.status == 0 && text.status == 0, "%s%s", cut.err, text.err);
  ck_assert_int_eq(sscanf(strstr(cut.out, "\"wal_start\""), "\"wal_start\": \"%23[0-9A-F/]\"", start), 1);
  double before = json_number(cut.out, "left_out_before_start");
  snprintf(wanted, sizeof wanted, "before the first record of running transactions %.0f,", before);
  ck_assert_msg(strstr(text.out, wanted) != NULL, "%s", text.out);

  program_run earlier = program(ARGS("-D", data, "--json", "--from", begin, "--to", start));
  program_run empty = program(ARGS("-D", data, "--from", begin, "--to", start));
  program_run later = program(ARGS("-D", data, "--json", "--from", start));
  ck_assert_msg(earlier.status == 0 && empty.status == 0 && later.status == 0, "%s%s", earlier.err, later.err);
  ck_assert(json_number(earlier.out, "left_out_before_start") == 0);
  double changed = json_number(earlier.out, "transactions");
  ck_assert(changed > 100);
  ck_assert(before == changed + text_number(empty.out, "without a change "));
  /* of those that were open at the start, nobody says how many committed with a change */
  double missing = json_number(later.out, "transactions") - json_number(cut.out, "transactions");
  ck_assert(missing >= 0 && missing <= json_number(cut.out, "left_out_open_at_start"));
  program_run *const runs[] = {&cut, &text, &earlier, &empty, &later};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
    program_free(runs[i]);
  copy_free();
}
END_TEST

START_TEST(drawings)
{
  char data[1024], dir[] = "/tmp/twpa-svg-XXXXXX", file[64];
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  ck_assert(mkdtemp(dir) != NULL);
  program_run r = program(ARGS("-D", data, "--svg", dir, "--workers", "3"));
  ck_assert_msg(r.status == 0, "status %d: %s", r.status, r.err);
  program_free(&r);
  static const char *const names[] = {"graph.svg", "timeline.svg"};
  for (int i = 0; i < 2; i++) {
    snprintf(file, sizeof file, "%s/%s", dir, names[i]);
    ck_assert_msg(access(file, R_OK) == 0, "%s is not there", file);
    unlink(file);
  }
  rmdir(dir);
  fails_with(ARGS("-D", data, "--svg", "/nowhere/at/all"), SAYS("/nowhere/at/all"));
  char far[5000];
  memset(far, '/', sizeof far);
  memcpy(far, "/tmp", 4);
  far[sizeof far - 1] = 0;
  fails_with(ARGS("-D", data, "--svg", far), SAYS("too long"));
}
END_TEST

START_TEST(part_of_the_log)
{
  char data[1024], from[40], to[40];
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  program_run all = program(ARGS("-D", data, "--json"));
  ck_assert_int_eq(all.status, 0);
  unsigned a, b, c, d;
  ck_assert_int_eq(sscanf(strstr(all.out, "\"wal_start\""), "\"wal_start\": \"%x/%x\"", &a, &b), 2);
  ck_assert_int_eq(sscanf(strstr(all.out, "\"wal_end\""), "\"wal_end\": \"%x/%x\"", &c, &d), 2);
  unsigned middle = b + (d - b) / 2;
  snprintf(from, sizeof from, "%X/%X", a, middle);
  snprintf(to, sizeof to, "%X/%X", a, middle - 1);
  program_run first = program(ARGS("-D", data, "--json", "--to", to));
  program_run second = program(ARGS("-D", data, "--json", "--from", from));
  ck_assert_msg(first.status == 0, "%s", first.err);
  ck_assert_msg(second.status == 0, "%s", second.err);
  double n = json_number(first.out, "transactions"), m = json_number(second.out, "transactions");
  ck_assert(n > 0 && m > 0);
  ck_assert(n + m == json_number(all.out, "transactions"));
  snprintf(from, sizeof from, "%X/%X", c, d);
  program_run none = program(ARGS("-D", data, "--json", "--from", from));
  ck_assert_msg(none.status == 0, "%s", none.err);
  ck_assert_msg(is_json(none.out), "%s", none.out);
  ck_assert(json_number(none.out, "transactions") == 0);
  ck_assert_ptr_nonnull(strstr(none.out, "\"proved\": null"));
  program_free(&none);
  none = program(ARGS("-D", data, "--from", from));
  ck_assert_ptr_nonnull(strstr(none.out, "\nNothing to apply: "));
  ck_assert_ptr_null(strstr(none.out, "PROVED"));
  program_free(&none);
  program_free(&all);
  program_free(&first);
  program_free(&second);
}
END_TEST

/* Spoils one thing in a copy, and tells what the message must say. */
static void spoiled(const char *file, void (*spoil)(unsigned char *content, size_t *size),
                    const char *const *says)
{
  const char *dir = copy_tree(sample_path("pg15-sample"));
  size_t size;
  unsigned char *content = copy_open(file, &size);
  spoil(content, &size);
  copy_close(file, content, size);
  fails_with(ARGS("-D", dir), says);
  copy_free();
}

static void version_14(unsigned char *content, size_t *size)
{
  memcpy(content, "14\n", 3);
  *size = 3;
}

static void version_99(unsigned char *content, size_t *size)
{
  memcpy(content, "99\n", 3);
  *size = 3;
}

static void zero_page(unsigned char *content, size_t *size)
{
  memset(content + *size / 2 / 8192 * 8192, 0, 8192);
}

static void torn_page(unsigned char *content, size_t *size)
{
  memset(content + *size / 2 / 8192 * 8192 + 4096, 0, 4096);
}

static void flip_byte(unsigned char *content, size_t *size)
{
  content[*size / 2 + 3000] ^= 0x40;
}

static void flip_early(unsigned char *content, size_t *size)
{
  (void)size;
  content[40] ^= 1;
}

static void cut_short(unsigned char *content, size_t *size)
{
  (void)content;
  *size = *size / 2 + 100;
}

static void cut_to_nothing(unsigned char *content, size_t *size)
{
  (void)content;
  *size = 0;
}

/* The name of the n-th WAL segment of the sample; "" if there are not so many. */
static const char *segment(unsigned n)
{
  static char name[64];
  char path[1200];
  unsigned found = 0;
  for (unsigned i = 1; i < 200; i++) {
    snprintf(name, sizeof name, "pg_wal/0000000100000000000000%02X", i);
    snprintf(path, sizeof path, "%s/%s", sample_path("pg15-sample"), name);
    if (access(path, R_OK) == 0 && found++ == n)
      return name;
  }
  return "";
}

static void garbage_page(unsigned char *content, size_t *size)
{
  memset(content, 0x5A, *size < 8192 ? *size : 8192);
}

START_TEST(bad_directories)
{
  fails_with(ARGS("-D", "/nowhere/at/all"), SAYS("/nowhere/at/all"));
  fails_with(ARGS("-D", "/etc/passwd"), SAYS("/etc/passwd"));
  char data[1024], empty[] = "/tmp/twpa-empty-XXXXXX";
  ck_assert(mkdtemp(empty) != NULL);
  fails_with(ARGS("-D", empty), SAYS(empty));
  rmdir(empty);
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  fails_with(ARGS("-D", data, "--database", "nosuchdb"), SAYS("nosuchdb"));
  fails_with(ARGS("-D", data, "--from", "FF/0"), SAYS("FF/0"));
}
END_TEST

START_TEST(bad_files)
{
  spoiled("PG_VERSION", version_14, SAYS("PG_VERSION", "14"));
  spoiled("PG_VERSION", version_99, SAYS("PG_VERSION", "99"));
  spoiled("PG_VERSION", cut_to_nothing, SAYS("PG_VERSION"));
  spoiled("global/pg_control", flip_early, SAYS("pg_control"));
  spoiled("global/pg_control", cut_to_nothing, SAYS("pg_control"));
  const char *dir = copy_tree(sample_path("pg15-sample"));
  copy_remove("global/pg_control");
  fails_with(ARGS("-D", dir), SAYS("pg_control"));
  copy_free();

  char path[1200];
  snprintf(path, sizeof path, "%s/postmaster.pid", copy_tree(sample_path("pg15-sample")));
  int fd = open(path, O_CREAT | O_WRONLY, 0600);
  ck_assert_int_ge(fd, 0);
  close(fd);
  *strrchr(path, '/') = 0;
  fails_with(ARGS("-D", path), SAYS("postmaster.pid"));
  copy_free();

  dir = copy_tree(sample_path("pg15-sample"));
  copy_remove(segment(1));
  snprintf(path, sizeof path, "%s/%s", dir, segment(1));
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  fails_with(ARGS("-D", dir), SAYS(segment(1)));
  copy_free();
}
END_TEST

START_TEST(bad_wal)
{
  char middle[64], name[64];
  snprintf(middle, sizeof middle, "%s", segment(1));
  snprintf(name, sizeof name, "%s", middle + 7);
  spoiled(middle, zero_page, SAYS(name, "0/"));
  spoiled(middle, torn_page, SAYS(name, "0/"));
  spoiled(middle, flip_byte, SAYS(name, "0/"));
  spoiled(middle, cut_short, SAYS(name, "0/"));
  spoiled(middle, cut_to_nothing, SAYS(name, "damaged WAL at 0/", "0 of 1048576 bytes"));
  /* a record of the segment before goes on in the file that is not there */
  const char *dir = copy_tree(sample_path("pg15-sample"));
  copy_remove(middle);
  fails_with(ARGS("-D", dir), SAYS("pg_wal/", "damaged WAL at 0/", "missing"));
  copy_free();
}
END_TEST

/* A record of the sample that lies on one page. */
typedef struct place {
  char file[64];
  char lsn[24];
  size_t offset, len;
} place;

/* The n-th record of a kind, whole on one page or (cut) going on on the next one. */
static place find_record(unsigned rmgr, unsigned n, bool cut)
{
  place found = {.len = 0};
  char data[1024];
  pg_cluster *cluster;
  wal_reader *reader;
  const wal_record *r;
  host_error err = {""};
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  ck_assert_msg(pg_cluster_open(&cluster, data, &err), "%s", err.text);
  wal_reader_options o = wal_reader_options_of(cluster->path, &cluster->control);
  ck_assert_msg(wal_reader_open(&reader, &o, &err), "%s", err.text);
  while (!found.len) {
    ck_assert_int_eq(wal_reader_next(reader, &r, &err), WAL_GOT);
    bool crosses = r->start / WAL_PAGE_BYTES != (r->end - 1) / WAL_PAGE_BYTES;
    if (r->rmgr != rmgr || crosses != cut || n-- > 0)
      continue;
    char path[WAL_PATH_BYTES];
    found.offset = r->start % wal_reader_segment_bytes(reader);
    found.len = r->total_len;
    snprintf(found.file, sizeof found.file, "pg_wal/%s",
             strrchr(wal_reader_path(path, reader, r->start), '/') + 1);
    wal_lsn_text(found.lsn, r->start);
  }
  wal_reader_close(reader);
  pg_cluster_close(cluster);
  return found;
}

static void seal(unsigned char *record, size_t len)
{
  uint32_t crc = ~crc32c_add(crc32c_add(CRC32C_BEGIN, record + 24, len - 24), record, 20);
  memcpy(record + 20, &crc, 4);
}

/* Behind the header of a record: number of the block, flags, length of its data, and its table's three numbers. */
static bool inserts_into_user_table(const unsigned char *record)
{
  uint32_t file;
  memcpy(&file, record + 36, sizeof file);
  return (record[16] & 0x70) == 0 && record[24] == 0 && (record[25] & 0x10) == 0 && file >= 16384;
}

/* A row that is nobody's cannot be given to a transaction, and is not dropped without a word. */
START_TEST(row_without_transaction)
{
  const char *dir = copy_tree(sample_path("pg15-sample"));
  for (unsigned n = 1000;; n++) {
    place at = find_record(WAL_RM_HEAP, n, false);
    size_t size;
    unsigned char *content = copy_open(at.file, &size), *record = content + at.offset;
    bool found = inserts_into_user_table(record);
    if (found) {
      memset(record + 4, 0, 4);
      seal(record, at.len);
    }
    copy_close(at.file, content, size);
    if (!found)
      continue;
    fails_with(ARGS("-D", dir), SAYS(at.file, at.lsn, "a row of table ", " has no transaction"));
    break;
  }
  copy_free();
}
END_TEST

/* What a newer server, or a damaged one, could write: a record that is whole, and of a kind that nobody knows. */
START_TEST(unknown_records)
{
  static const struct {
    unsigned rmgr, info;
  } cases[] = {{WAL_RM_STANDBY, 0x70}, {WAL_RM_XACT, 0x70}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    place at = find_record(cases[i].rmgr, 3, false);
    const char *dir = copy_tree(sample_path("pg15-sample"));
    size_t size;
    unsigned char *content = copy_open(at.file, &size), *record = content + at.offset;
    record[16] = (unsigned char)((record[16] & 0x0F) | cases[i].info);
    seal(record, at.len);
    copy_close(at.file, content, size);
    fails_with(ARGS("-D", dir), SAYS(at.file, at.lsn, "unknown operation"));
    copy_free();
  }
}
END_TEST

/* The log ends where a record goes on on a page that is empty, with nothing behind it. */
START_TEST(end_in_mid_record)
{
  place at = find_record(WAL_RM_HEAP, 40, true);
  const char *dir = copy_tree(sample_path("pg15-sample"));
  size_t size, page = (at.offset / WAL_PAGE_BYTES + 1) * WAL_PAGE_BYTES;
  unsigned char *content = copy_open(at.file, &size);
  memset(content + page, 0, size - page);
  copy_close(at.file, content, size);
  for (unsigned i = 0; i < 20; i++)
    if (segment_exists(i) && strcmp(segment(i), at.file) > 0)
      copy_remove(segment(i));
  fails_with(ARGS("-D", dir), SAYS(at.file, at.lsn));
  copy_free();
}
END_TEST

/* Catalogs that are not there, or are not pages of a catalog. */
START_TEST(bad_catalogs)
{
  char data[1024], file[128], oid[16] = "";
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  pg_cluster *cluster;
  const pg_database *database;
  host_error err = {""};
  ck_assert_msg(pg_cluster_open(&cluster, data, &err), "%s", err.text);
  ck_assert_msg(pg_cluster_database(&database, cluster, "sample", &err), "%s", err.text);
  snprintf(oid, sizeof oid, "%u", database->oid);
  pg_cluster_close(cluster);
  snprintf(file, sizeof file, "base/%s/pg_filenode.map", oid);
  const char *dir = copy_tree(data);
  copy_remove(file);
  fails_with(ARGS("-D", dir), SAYS("pg_filenode.map"));
  copy_free();
  spoiled(file, flip_early, SAYS("pg_filenode.map"));
  snprintf(file, sizeof file, "base/%s/1259", oid); /* pg_class, unless it was rewritten */
  spoiled(file, garbage_page, SAYS("1259"));
  spoiled(file, cut_short, SAYS("1259"));
  dir = copy_tree(data);
  copy_remove(file);
  fails_with(ARGS("-D", dir), SAYS("1259"));
  copy_free();
}
END_TEST

/* Progress is for people: only on a terminal, and wiped away at the end. */
START_TEST(progress)
{
  char data[1024];
  snprintf(data, sizeof data, "%s", sample_path("pg15-sample"));
  program_run r = program_on_terminal(ARGS("-D", data, "--json"));
  ck_assert_msg(r.status == 0, "%s", r.err);
  ck_assert_ptr_nonnull(strstr(r.err, "decoding the WAL, 0/"));
  ck_assert(is_json(r.out));
  ck_assert_int_eq(r.err[strlen(r.err) - 1], '\r');
  ck_assert_ptr_null(strchr(r.err, '\n'));
  program_free(&r);
}
END_TEST

/* Whatever the damage: a report or one line, never a signal. */
START_TEST(damaged_copies)
{
  static const char *const samples[] = {"pg15-sample", "pg18-dml", "pg18-ddl"};
  rng r = {test_seed(99)};
  const char *runs = getenv("TWPA_FUZZ_RUNS");
  int count = runs ? atoi(runs) : 24, good = 0;
  for (int i = 0; i < count; i++) {
    const char *sample = samples[rng_below(&r, 3)];
    char data[1024], file[300];
    snprintf(data, sizeof data, "%s", sample_path(sample));
    const char *dir = copy_tree(data);
    FILE *list;
    char command[1200];
    snprintf(command, sizeof command, "cd %s && find . -type f -size +0 %s| sort", data,
             rng_chance(&r, 70) ? "-path '*pg_wal/0*' " : "");
    list = popen(command, "r");
    ck_assert(list != NULL);
    char files[3000][120];
    size_t n = 0;
    for (; n < 3000 && fgets(files[n], sizeof files[n], list); n++)
      files[n][strcspn(files[n], "\n")] = 0;
    pclose(list);
    ck_assert_uint_gt(n, 0);
    snprintf(file, sizeof file, "%s", files[rng_below(&r, n)] + 2);
    size_t size;
    unsigned char *content = copy_open(file, &size);
    for (uint64_t k = 1 + rng_below(&r, 4); k-- > 0;) {
      size_t at = (size_t)rng_below(&r, size);
      if (rng_chance(&r, 60))
        content[at] ^= (unsigned char)(1u << rng_below(&r, 8));
      else
        memset(content + at, (int)rng_below(&r, 256), size - at < 64 ? size - at : 64);
    }
    copy_close(file, content, size);
    program_run x = program(ARGS("-D", dir, "--json", "--workers", "2"));
    ck_assert_msg((x.status == 0 && is_json(x.out)) || (x.status == 1 && x.err_lines == 1),
                  "%s of %s: status %d, %zu lines: %s", file, sample, x.status, x.err_lines, x.err);
    good += x.status == 0;
    program_free(&x);
    copy_free();
  }
  printf("%d of %d damaged copies were read all the same\n", good, count);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("twpa-replay");
  TCase *tc = tcase_create("all");
  tcase_add_checked_fixture(tc, NULL, copy_free);
  tcase_add_test(tc, command_line);
  tcase_add_test(tc, report);
  tcase_add_test(tc, json);
  tcase_add_test(tc, left_out);
  tcase_add_test(tc, first_segment_gone);
  tcase_add_test(tc, drawings);
  tcase_add_test(tc, part_of_the_log);
  tcase_add_test(tc, bad_directories);
  tcase_add_test(tc, bad_files);
  tcase_add_test(tc, bad_wal);
  tcase_add_test(tc, row_without_transaction);
  tcase_add_test(tc, unknown_records);
  tcase_add_test(tc, end_in_mid_record);
  tcase_add_test(tc, bad_catalogs);
  tcase_add_test(tc, progress);
  tcase_add_test(tc, damaged_copies);
  suite_add_tcase(s, tc);
  return run_suite(s);
}
