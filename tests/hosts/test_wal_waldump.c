/*
 * Every record of the PostgreSQL 15 sample against the server's own program: position, length, transaction, resource
 * manager as pg_waldump prints them, and its description of the records that decoding needs. Without pg_waldump the
 * test is skipped (exit status 77).
 */
#include "support/runner.h"
#include "support/wal/wal_files.h"
#include "support/wal/wal_records.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program;

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

/* "rmgr: Heap        len (rec/tot):     54/  2063, tx:        771, lsn: 0/00B00060, prev 0/00B00028, desc: ..." */
static void check_line(const char *line, const wal_record *record)
{
  char rmgr[40];
  unsigned rec, total, xid, high, low, prev_high, prev_low;
  ck_assert_msg(sscanf(line, "rmgr: %39s len (rec/tot): %u/ %u, tx: %u, lsn: %X/%X, prev %X/%X", rmgr, &rec, &total,
                       &xid, &high, &low, &prev_high, &prev_low) == 8, "%s", line);
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

/* Text that grows up to a limit. */
typedef struct text {
  char s[100000];
  size_t len;
} text;

static void say(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(text *t, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  t->len += (size_t)vsnprintf(t->s + t->len, sizeof t->s - t->len, format, args);
  va_end(args);
  ck_assert_uint_lt(t->len, sizeof t->s);
}

static void say_list(text *t, wal_list list)
{
  for (uint32_t i = 0; i < list.count; i++)
    say(t, " %u", wal_list_u32(list, i));
}

/* The beginning of a description, and something that must follow later in it. */
static text head, tail;

static void describe_end(const wal_content *c)
{
  const wal_end_record *e = &c->as.end;
  switch (c->kind) {
  case WAL_COMMIT:
    say(&head, "COMMIT 20");
    break;
  case WAL_ABORT:
    say(&head, "ABORT 20");
    break;
  case WAL_COMMIT_PREPARED:
    say(&head, "COMMIT_PREPARED %u: 20", e->xid);
    break;
  case WAL_ABORT_PREPARED:
    say(&head, "ABORT_PREPARED %u: 20", e->xid);
    break;
  default:
    say(&head, "PREPARE gid %s: 20", e->gid);
  }
  if (e->subxids.count > 0) {
    say(&tail, "; subxacts:");
    say_list(&tail, e->subxids);
  }
}

static void describe_row_record(const wal_content *c, const wal_record *r)
{
  const char *init = (r->info & 0x80) != 0 ? "+INIT" : "";
  wal_row row;
  wal_multi_position at = {0};
  twpa_tid tid;
  uint32_t rows = 0;
  switch (c->kind) {
  case WAL_INSERT:
    say(&head, "INSERT%s off %u flags 0x%02X", init, c->as.insert.tid.line, r->main_data[2]);
    break;
  case WAL_MULTI_INSERT:
    say(&head, "MULTI_INSERT%s %u tuples flags 0x%02X", init, c->as.multi_insert.nrows, r->main_data[0]);
    while (wal_multi_next(&row, &tid, &at, &c->as.multi_insert))
      rows++;
    ck_assert_uint_eq(rows, c->as.multi_insert.has_rows ? c->as.multi_insert.nrows : 0);
    break;
  case WAL_UPDATE:
    say(&head, "%s%s off %u xmax", c->as.update.hot ? "HOT_UPDATE" : "UPDATE", init, c->as.update.old_tid.line);
    say(&tail, "; new off %u xmax", c->as.update.tid.line);
    break;
  case WAL_DELETE:
    say(&head, "DELETE off %u flags 0x%02X", c->as.del.tid.line, r->main_data[7]);
    break;
  case WAL_CONFIRM:
    say(&head, "HEAP_CONFIRM off %u", c->as.confirm.tid.line);
    break;
  default:
    say(&head, "INPLACE off %u", c->as.inplace.tid.line);
  }
}

static void describe_message(const wal_message *m)
{
  say(&head, "MESSAGE %s, prefix \"%s\"; payload (%u bytes): ",
      m->transactional ? "transactional" : "non-transactional", m->prefix, m->content_len);
  for (uint32_t i = 0; i < m->content_len; i++)
    say(&head, "%s%02X", i > 0 ? " " : "", m->content[i]);
}

static void describe_inval(const wal_inval *v)
{
  if (v->type >= 0)
    say(&tail, " catcache %d", v->type);
  else if (v->type == -2)
    say(&tail, " relcache %u", v->object);
  else if (v->type == -5)
    say(&tail, " snapshot %u", v->object);
  else if (v->type == -1)
    say(&tail, " catalog %u", v->object);
  else
    say(&tail, v->type == -3 ? " smgr" : " relmap");
}

static void describe(const wal_content *c, const wal_record *r)
{
  const wal_running_xacts *x = &c->as.running;
  const wal_new_cid *n = &c->as.new_cid;
  head.len = tail.len = 0;
  head.s[0] = tail.s[0] = '\0';
  switch (c->kind) {
  case WAL_INSERT:
  case WAL_MULTI_INSERT:
  case WAL_UPDATE:
  case WAL_DELETE:
  case WAL_CONFIRM:
  case WAL_INPLACE:
    describe_row_record(c, r);
    break;
  case WAL_TRUNCATE:
    say(&head, "TRUNCATE %s%snrelids %u relids", c->as.truncate.cascade ? "cascade " : "",
        c->as.truncate.restart_sequences ? "restart_seqs " : "", c->as.truncate.relations.count);
    say_list(&head, c->as.truncate.relations);
    break;
  case WAL_NEW_CID:
    say(&head, "NEW_CID rel %u/%u/%u; tid %u/%u; cmin: %u, cmax: %u, combo: %u", n->locator.space, n->locator.database,
        n->locator.file, n->tid.block, n->tid.line, n->cmin, n->cmax, n->combo_cid);
    break;
  case WAL_COMMIT:
  case WAL_COMMIT_PREPARED:
  case WAL_ABORT:
  case WAL_ABORT_PREPARED:
  case WAL_PREPARE:
    describe_end(c);
    break;
  case WAL_ASSIGNMENT:
    say(&head, "ASSIGNMENT xtop %u: subxacts:", c->as.assignment.top_xid);
    say_list(&head, c->as.assignment.subxids);
    break;
  case WAL_INVALIDATIONS:
    say(&head, "INVALIDATION ");
    say(&tail, "; inval msgs:");
    for (uint32_t i = 0; i < c->as.invalidations.count; i++) {
      wal_inval v = wal_list_inval(c->as.invalidations, i);
      describe_inval(&v);
    }
    break;
  case WAL_RUNNING_XACTS:
    say(&head, "RUNNING_XACTS nextXid %u latestCompletedXid %u oldestRunningXid %u", x->next_xid,
        x->latest_completed_xid, x->oldest_running_xid);
    if (x->nxids > 0) {
      say(&tail, "; %u xacts:", x->nxids);
      say_list(&tail, (wal_list){x->xids.data, x->nxids}); /* 15 does not print subtransactions */
    }
    break;
  case WAL_MESSAGE:
    describe_message(&c->as.message);
    break;
  case WAL_CHECKPOINT:
    say(&head, "CHECKPOINT_%s redo %X/%X; tli %u; prev tli %u;", c->as.checkpoint.shutdown ? "SHUTDOWN" : "ONLINE",
        (unsigned)(c->as.checkpoint.redo >> 32), (unsigned)c->as.checkpoint.redo, c->as.checkpoint.timeline,
        c->as.checkpoint.previous_timeline);
    say(&tail, "; xid %u:%u; ", (unsigned)(c->as.checkpoint.next_xid >> 32), (unsigned)c->as.checkpoint.next_xid);
    break;
  default:
    break;
  }
}

START_TEST(every_record_is_what_pg_waldump_says)
{
  char dir[1024], command[3000];
  snprintf(dir, sizeof dir, "%s/pg15-sample/data", getenv("TWPA_DATA_DIR"));
  wal_reader_options options = {.data_dir = dir, .format = pg_format_by_major(15)};
  host_error err = {""};
  wal_reader *r;
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  twpa_lsn start = wal_reader_position(r);
  /* it ends with an error message at the end of the log */
  snprintf(command, sizeof command, "'%s' -p '%s/pg_wal' -s %X/%X 2>/dev/null", program, dir, (unsigned)(start >> 32),
           (unsigned)start);
  FILE *dump = popen(command, "r");
  ck_assert_ptr_nonnull(dump);
  static char line[1 << 20];
  size_t n = 0, described = 0;
  const wal_record *record;
  while (fgets(line, sizeof line, dump) != NULL) {
    if (strncmp(line, "rmgr: ", 6) != 0)
      continue;
    ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_GOT);
    check_line(line, record);
    wal_content content;
    ck_assert_msg(wal_parse(&content, record, options.format, &err), "%s", err.text);
    describe(&content, record);
    const char *desc = strstr(line, "desc: ");
    ck_assert_msg(desc != NULL && strncmp(desc + 6, head.s, head.len) == 0, "%s%s", line, head.s);
    ck_assert_msg(strstr(desc, tail.s) != NULL, "%s%s", line, tail.s);
    described += head.len > 0;
    n++;
  }
  pclose(dump);
  ck_assert_uint_gt(n, 10000);
  ck_assert_uint_gt(described, 10000);
  ck_assert_int_eq(wal_reader_next(r, &record, &err), WAL_END);
  printf("%zu records compared with pg_waldump, %zu of them with their content\n", n, described);
  wal_reader_close(r);
}
END_TEST

int main(void)
{
  static const char *const places[] = {"/usr/lib/postgresql/15/bin/pg_waldump", "/usr/local/pgsql/bin/pg_waldump"};
  for (size_t i = 0; i < sizeof places / sizeof *places && program == NULL; i++)
    program = access(places[i], X_OK) == 0 ? places[i] : NULL;
  if (program == NULL) {
    printf("pg_waldump of PostgreSQL 15 is not installed: the comparison with it is LEFT OUT\n");
    return 77;
  }
  Suite *s = suite_create("wal_waldump");
  TCase *t = tcase_create("waldump");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, every_record_is_what_pg_waldump_says);
  suite_add_tcase(s, t);
  return run_suite(s);
}
