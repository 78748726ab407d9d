/*
 * The WAL reader on the logs of real servers: PostgreSQL 15 (the sample) and 18. Where the server has its own opinion,
 * it is compared with: pg_control for the last record, pg_waldump for every record.
 */
#include "support/runner.h"
#include "support/wal/wal_bytes.h"
#include "support/wal/wal_reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  uint32_t major;
} samples[] = {{"pg15-sample", 15}, {"pg18-dml", 18}, {"pg18-ddl", 18}};

#define NSAMPLES ((int)(sizeof samples / sizeof *samples))

static const char *data_dir(int sample)
{
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s/data", getenv("TWPA_DATA_DIR"), samples[sample].name);
  return path;
}

static void read_control(int sample, unsigned char control[8192])
{
  char path[1100];
  snprintf(path, sizeof path, "%s/global/pg_control", data_dir(sample));
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  ck_assert_uint_eq(fread(control, 1, 8192, f), 8192);
  fclose(f);
}

/* From the first segment to the shutdown checkpoint, which is the last record and says the same as the control file. */
START_TEST(ends_with_the_shutdown_checkpoint)
{
  unsigned char control[8192];
  read_control(_i, control);
  wal_reader_options options = {.data_dir = data_dir(_i),
                                .system_id = wal_u64(control),
                                .timeline = wal_u32(control + 48),
                                .segment_bytes = wal_u32(control + 228),
                                .proven = wal_u64(control + 32) + 1};
  host_error err = {""};
  ck_assert_uint_eq(wal_u32(control + 16), 1);
  ck_assert_msg(pg_format_by_directory(&options.format, data_dir(_i), &err), "%s", err.text);
  ck_assert_uint_eq(options.format->major, samples[_i].major);
  wal_reader *r;
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  const wal_record *record;
  wal_record last = {0};
  unsigned char checkpoint[88];
  wal_result result;
  size_t per_rmgr[256] = {0};
  while ((result = wal_reader_next(r, &record, &err)) == WAL_GOT) {
    last = *record;
    per_rmgr[record->rmgr]++;
    if (record->main_len == sizeof checkpoint)
      memcpy(checkpoint, record->main_data, sizeof checkpoint);
  }
  ck_assert_msg(result == WAL_END, "%s", err.text);
  ck_assert_uint_eq(last.rmgr, WAL_RM_XLOG);
  ck_assert_uint_eq(last.info, 0);
  ck_assert_uint_eq(last.start, wal_u64(control + 32));
  ck_assert_uint_eq(last.main_len, sizeof checkpoint);
  ck_assert_mem_eq(checkpoint, control + 40, sizeof checkpoint);
  ck_assert_uint_gt(per_rmgr[WAL_RM_HEAP], 1000);
  ck_assert_uint_gt(per_rmgr[WAL_RM_XACT], 300);
  wal_reader_close(r);
}
END_TEST

/* pg_waldump names a few resource managers otherwise than the layouts do. */
static bool same_rmgr(const char *dump, const char *ours)
{
  static const char *const pairs[][2] = {{"Transaction", "XACT"},          {"Storage", "SMGR"},
                                         {"Database", "DBASE"},            {"Tablespace", "TBLSPC"},
                                         {"Sequence", "SEQ"},              {"LogicalMessage", "LOGICALMSG"},
                                         {"CommitTs", "COMMIT_TS"},        {"ReplicationOrigin", "REPLORIGIN"}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strcmp(dump, pairs[i][0]) == 0)
      return strcmp(ours, pairs[i][1]) == 0;
  for (; *dump != '\0' && toupper((unsigned char)*dump) == *ours; dump++)
    ours++;
  return *dump == *ours;
}

static const char *find_pg_waldump(void)
{
  static const char *const places[] = {"/usr/lib/postgresql/15/bin/pg_waldump", "/usr/local/pgsql/bin/pg_waldump"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (access(places[i], X_OK) == 0)
      return places[i];
  return NULL;
}

/* "rmgr: Heap        len (rec/tot):     54/  2063, tx:        771, lsn: 0/00B00060, prev 0/00B00028, desc: ..." */
static void check_line(const char *line, const wal_record *record)
{
  char rmgr[40];
  unsigned rec, total, xid, high, low, prev_high, prev_low;
  ck_assert_msg(sscanf(line, "rmgr: %39s len (rec/tot): %u/ %u, tx: %u, lsn: %X/%X, prev %X/%X", rmgr, &rec, &total, &xid,
                       &high, &low, &prev_high, &prev_low) == 8, "%s", line);
  ck_assert_msg(record->start == ((twpa_lsn)high << 32 | low), "%s", line);
  ck_assert_msg(record->prev == ((twpa_lsn)prev_high << 32 | prev_low), "%s", line);
  ck_assert_msg(record->total_len == total && record->xid == xid, "%s", line);
  ck_assert_msg(same_rmgr(rmgr, wal_rmgr_name(record->rmgr)), "%s: %s", line, wal_rmgr_name(record->rmgr));
  /* its first number leaves out page images (and what announces them) */
  bool image = false;
  for (unsigned i = 0; i < record->nblocks; i++)
    image |= record->blocks[i].has_image;
  ck_assert_msg(image ? rec < total : rec == total, "%s", line);
}

START_TEST(every_record_is_what_pg_waldump_says)
{
  const char *program = find_pg_waldump();
  if (program == NULL) {
    printf("pg_waldump of PostgreSQL 15 is not installed: this comparison is LEFT OUT\n");
    return;
  }
  wal_reader_options options = {.data_dir = data_dir(0), .format = pg_format_by_major(15)};
  host_error err = {""};
  wal_reader *r;
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  char command[3000];
  twpa_lsn start = wal_reader_position(r);
  /* it ends with an error message at the end of the log */
  snprintf(command, sizeof command, "'%s' -p '%s/pg_wal' -s %X/%X 2>/dev/null", program, data_dir(0),
           (unsigned)(start >> 32), (unsigned)start);
  FILE *dump = popen(command, "r");
  ck_assert_ptr_nonnull(dump);
  static char line[1 << 20];
  size_t n = 0;
  const wal_record *record;
  while (fgets(line, sizeof line, dump) != NULL) {
    if (strncmp(line, "rmgr: ", 6) != 0)
      continue;
    ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
    check_line(line, record);
    n++;
  }
  pclose(dump);
  ck_assert_uint_gt(n, 10000);
  ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_END);
  printf("%zu records compared with pg_waldump\n", n);
  wal_reader_close(r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_samples");
  TCase *t = tcase_create("samples");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, ends_with_the_shutdown_checkpoint, 0, NSAMPLES);
  tcase_add_test(t, every_record_is_what_pg_waldump_says);
  suite_add_tcase(s, t);
  return run_suite(s);
}
