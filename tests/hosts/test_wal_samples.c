/*
 * The WAL reader on the logs of real servers, PostgreSQL 15 (the sample) and 18: every record can be parsed, and the
 * last one is the shutdown checkpoint of the control file.
 */
#include "support/runner.h"
#include "support/wal/wal_bytes.h"
#include "support/wal/wal_records.h"
#include "support/wal/wal_xid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  host_error err = {""};
  pg_control read;
  ck_assert_msg(pg_control_read(&read, data_dir(_i), &err), "%s", err.text);
  wal_reader_options options = wal_reader_options_of(data_dir(_i), &read);
  ck_assert_uint_eq(options.system_id, wal_u64(control));
  ck_assert_uint_eq(options.timeline, 1);
  ck_assert_uint_eq(options.segment_bytes, 1u << 20);
  ck_assert_uint_eq(options.proven, wal_u64(control + 32) + 1);
  ck_assert_uint_eq(options.shutdown_record, wal_u64(control + 32));
  options.shutdown_record = 0; /* also without knowing which one it is, it is the last one */
  ck_assert_uint_eq(wal_u32(control + 16), 1);
  ck_assert_uint_eq(options.format->major, samples[_i].major);
  wal_reader *r;
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  const wal_record *record;
  wal_record last = {0};
  unsigned char checkpoint[88];
  wal_result result;
  size_t per_rmgr[256] = {0};
  wal_xid xids;
  wal_xid_init(&xids, wal_u64(control + 64));
  twpa_xid highest = 0;
  while ((result = wal_reader_next(r, &record, &err)) == WAL_GOT) {
    last = *record;
    wal_content content;
    ck_assert_msg(wal_parse(&content, record, options.format, &err), "%s", err.text);
    ck_assert_msg(wal_xid_saw(&xids, record, &content, &err), "%s", err.text);
    highest = wal_xid_widen(&xids, record->xid) > highest ? wal_xid_widen(&xids, record->xid) : highest;
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
  ck_assert_uint_eq(highest + 1, wal_u64(control + 64));
  ck_assert_uint_gt(per_rmgr[WAL_RM_HEAP], 1000);
  ck_assert_uint_gt(per_rmgr[WAL_RM_XACT], 300);
  wal_reader_close(r);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("wal_samples");
  TCase *t = tcase_create("samples");
  tcase_set_timeout(t, 60);
  tcase_add_loop_test(t, ends_with_the_shutdown_checkpoint, 0, NSAMPLES);
  suite_add_tcase(s, t);
  return run_suite(s);
}
