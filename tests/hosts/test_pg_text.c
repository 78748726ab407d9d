/*
 * Values as text: examples, damaged values, and the rows that test_decoding printed on a PostgreSQL 18 server. A server's
 * own ::text of thousands of values is compared in test_pg_server.
 */
#include "hosts/datadir.h"
#include "support/pg/pg_catalog.h"
#include "support/pg/pg_text.h"
#include "support/runner.h"
#include "support/wal/wal_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pg_value plain(const void *data, size_t len)
{
  return (pg_value){.kind = PG_VALUE_PLAIN, .data = data, .len = (uint32_t)len, .raw_len = (uint32_t)len};
}

/* The text of a value, or "!" and the message. */
static const char *text_of(uint32_t type, const void *data, size_t len)
{
  static char text[4096];
  pg_buf b = {0};
  host_error err = {{0}};
  const pg_value v = plain(data, len);
  if (pg_text_value(&b, NULL, type, &v, &err))
    snprintf(text, sizeof text, "%s", b.data != NULL ? b.data : "");
  else
    snprintf(text, sizeof text, "!%.1000s", err.text);
  pg_buf_free(&b);
  return text;
}

START_TEST(examples)
{
  static const struct {
    uint32_t type;
    const char *bytes;
    size_t len;
    const char *text;
  } cases[] = {
    {16, "\1", 1, "t"},
    {16, "\0", 1, "f"},
    {21, "\xFF\xFF", 2, "-1"},
    {23, "\0\0\0\x80", 4, "-2147483648"},
    {20, "\0\0\0\0\1\0\0\0", 8, "4294967296"},
    {26, "\xFF\xFF\xFF\xFF", 4, "4294967295"},
    {25, "it's", 4, "it's"},
    {25, "", 0, ""},
    {17, "\x00\xAB", 2, "\\x00ab"},
    {18, "x", 1, "x"},
    {18, "", 1, ""}, /* the byte 0 */
    {2950, "\x12\x34\x56\x78\x9A\xBC\xDE\xF0\1\2\3\4\5\6\7\x08", 16, "12345678-9abc-def0-0102-030405060708"},
    {1082, "\0\0\0\0", 4, "2000-01-01"},
    {1082, "\xFF\xFF\xFF\xFF", 4, "1999-12-31"},
    {1114, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8, "1999-12-31 23:59:59.999999"},
    {1184, "\0\0\0\0\0\0\0\0", 8, "2000-01-01 00:00:00+00"},
    {1083, "\x40\x42\x0F\0\0\0\0\0", 8, "00:00:01"},
    {1700, "\0\x80", 2, "0"},
    {1700, "\x80\x80\1\0\xE8\x03", 6, "1.1"},
    {1700, "\x81\xA0\1\0\xE8\x03", 6, "-11000.0"},
    {1700, "\0\xC0", 2, "NaN"},
    {3220, "\1\0\0\0\x0A\0\0\0", 8, "A/1"},
    {27, "\1\0\2\0\3\0", 6, "(65538,3)"},
    {600, "\1\2", 2, "<600>\\x0102"},
    {1007, "\1\2", 2, "<1007>\\x0102"}, /* an array, without a catalog */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    ck_assert_str_eq(text_of(cases[i].type, cases[i].bytes, cases[i].len), cases[i].text);
  pg_buf b = {0};
  host_error err = {{0}};
  const pg_value null = {.kind = PG_VALUE_NULL}, outside = {.kind = PG_VALUE_EXTERNAL};
  ck_assert(pg_text_value(&b, NULL, 25, &null, &err) && pg_text_value(&b, NULL, 25, &outside, &err));
  ck_assert_str_eq(b.data, "nullunchanged-toast-datum");
  pg_buf_free(&b);
  ck_assert(pg_text_knows(NULL, 25) && !pg_text_knows(NULL, 600) && !pg_text_knows(NULL, 1007));
}
END_TEST

/* The fewest digits that are read back as the same number, in the server's form. */
START_TEST(floating_point)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = {
    {0.1, "0.1"}, {1e23, "1e+23"}, {100000000000000, "100000000000000"}, {1e15, "1e+15"}, {1e-5, "1e-05"},
    {0.0001, "0.0001"}, {5e-324, "5e-324"}, {123456789.125, "123456789.125"}, {-2.5, "-2.5"}, {0.0, "0"}, {-0.0, "-0"},
    {1.7976931348623157e308, "1.7976931348623157e+308"}, {5.684341886080802e-14, "5.684341886080802e-14"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (cases[i].value != 1e23) /* half way between two numbers: see the server's answer */
      ck_assert_str_eq(text_of(701, &cases[i].value, 8), cases[i].text);
  rng r = {test_seed(41)};
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = rng_next(&r);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isnan(value) || isinf(value))
      continue;
    ck_assert(strtod(text_of(701, &value, 8), NULL) == value);
    float single;
    memcpy(&single, &bits, sizeof single);
    if (!isnan(single) && !isinf(single))
      ck_assert(strtof(text_of(700, &single, 4), NULL) == single);
  }
}
END_TEST

/* Every type with every length and random bytes: a text or a message, never a crash. */
START_TEST(damaged_values)
{
  static const uint32_t types[] = {16,   17,   18,   19,   20,   21,   23,   25,   26,   27,   28,   114,  700,  701,  1042,
                                   1082, 1083, 1114, 1184, 1186, 1266, 1560, 1562, 1700, 2950, 3220, 3802, 5069, 1007, 1009};
  ck_assert_str_eq(text_of(23, "\1\2", 2), "!2 bytes are no value of type 23");
  ck_assert_str_eq(text_of(1700, "\1", 1), "!1 bytes are no value of type 1700");
  ck_assert_str_eq(text_of(1700, "\0\x80\x10\x27", 4), "!4 bytes are no value of type 1700"); /* a digit of 10000 */
  ck_assert_str_eq(text_of(1560, "\x09\0\0\0x", 5), "!5 bytes are no value of type 1560");
  ck_assert_str_eq(text_of(3802, "", 0), "!0 bytes are no value of type 3802");
  host_error err = {{0}};
  pg_cluster *c;
  pg_catalog *cat;
  ck_assert(pg_cluster_open(&c, data_path("pg18-dml/data"), &err) && pg_catalog_open(&cat, c, 5, &err));
  rng r = {test_seed(42)};
  size_t refused = 0;
  for (int i = 0; i < 60000; i++) {
    size_t len = rng_below(&r, 80);
    uint8_t *bytes = malloc(len + (len == 0));
    ck_assert_ptr_nonnull(bytes);
    for (size_t k = 0; k < len; k++)
      bytes[k] = (uint8_t)(rng_chance(&r, 60) ? rng_below(&r, 4) : rng_next(&r));
    uint32_t type = types[rng_below(&r, sizeof types / sizeof *types)];
    if (type == 3802 && len >= 4) /* more often a container than not */
      bytes[3] = (uint8_t)((bytes[3] & 1) << 4 | (rng_chance(&r, 50) ? 0x20 : 0x40));
    pg_buf b = {0};
    const pg_value v = plain(bytes, len);
    refused += !pg_text_value(&b, cat, type, &v, &err);
    pg_buf_free(&b);
    free(bytes);
  }
  ck_assert_uint_gt(refused, 1000);
  pg_catalog_close(cat);
  pg_cluster_close(c);
}
END_TEST

/* --- what test_decoding printed ------------------------------------------------------------------------------------ */

static const char *type_name(uint32_t type)
{
  static const struct {
    uint32_t oid;
    const char *name;
  } names[] = {{16, "boolean"}, {20, "bigint"}, {21, "smallint"}, {23, "integer"}, {25, "text"}, {700, "real"},
               {701, "double precision"}, {1007, "integer[]"}, {1043, "character varying"}, {1082, "date"},
               {1083, "time without time zone"}, {1184, "timestamp with time zone"}, {1186, "interval"},
               {1700, "numeric"}, {2950, "uuid"}, {3802, "jsonb"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].oid == type)
      return names[i].name;
  return NULL;
}

static bool add_column(pg_buf *line, const pg_catalog *cat, const pg_column *c, const pg_value *v)
{
  const char *name = type_name(c->type);
  host_error err = {{0}};
  pg_buf text = {0};
  if (name == NULL || v->kind == PG_VALUE_EXTERNAL)
    return false;
  ck_assert_msg(pg_text_value(&text, cat, c->type, v, &err), "%s", err.text);
  pg_buf_format(line, " %s[%s]:", c->name, name);
  const bool bare = c->type == 20 || c->type == 21 || c->type == 23 || c->type == 700 || c->type == 701 || c->type == 1700;
  if (v->kind == PG_VALUE_NULL || bare) {
    pg_buf_text(line, text.data);
  } else if (c->type == 16) {
    pg_buf_text(line, text.data[0] == 't' ? "true" : "false");
  } else {
    pg_buf_char(line, '\'');
    for (size_t i = 0; i < text.len; i++)
      pg_buf_add(line, text.data[i] == '\'' ? "''" : &text.data[i], text.data[i] == '\'' ? 2 : 1);
    pg_buf_char(line, '\'');
  }
  pg_buf_free(&text);
  return true;
}

/* The line for a row that a record inserts; false if there is none, or none that this test can make. */
static bool insert_line(pg_buf *line, const pg_cluster *cluster, const pg_catalog *cat, const wal_record *rec)
{
  const wal_block *block = wal_record_block(rec, 0);
  host_error err = {{0}};
  uint32_t status;
  if (rec->rmgr != WAL_RM_HEAP || (rec->info & 0x70) != 0 || block == NULL || rec->main_len < 3 ||
      (rec->main_data[2] & 0x18) != 0x08 || !pg_xact_status(cluster->xact, &status, rec->xid, &err) ||
      status != PG_XACT_COMMITTED)
    return false;
  const pg_relation *r = pg_catalog_by_file(cat, block->locator, rec->start);
  ck_assert_ptr_nonnull(r);
  static uint8_t image[16384];
  pg_value values[32];
  pg_tuple t;
  size_t body = block->data_len - 5u;
  ck_assert(r->column_count <= 32 && pg_tuple_wal_size(body) <= sizeof image);
  const uint8_t *d = block->data;
  ck_assert(pg_tuple_from_wal(image, pg_u16(d), pg_u16(d + 2), d[4], d + 5, body, &err));
  ck_assert(pg_tuple_open(&t, image, pg_tuple_wal_size(body), &err));
  ck_assert_msg(pg_tuple_deform(values, &t, r->attrs, r->column_count, &err), "%s", err.text);
  pg_buf_format(line, "table %s.%s: INSERT:", r->schema, r->name);
  for (size_t i = 0; i < r->column_count; i++)
    if (!r->columns[i].dropped && !add_column(line, cat, &r->columns[i], &values[i]))
      return false;
  return true;
}

START_TEST(what_test_decoding_printed)
{
  const char *dir = data_path("pg18-dml/data");
  host_error err = {{0}};
  pg_cluster *cluster;
  pg_catalog *cat;
  ck_assert(pg_cluster_open(&cluster, dir, &err) && pg_catalog_open(&cat, cluster, 5, &err));
  size_t len, rows = 0;
  char *slot = (char *)read_file(data_path("pg18-dml"), "slot", &len);
  char *expected = (char *)read_file(data_path("pg18-dml"), "expected.txt", &len);
  unsigned high, low;
  ck_assert_int_eq(sscanf(slot, "(s,%X/%X)", &high, &low), 2);
  const pg_control *c = &cluster->control;
  const wal_reader_options options = {.data_dir = data_path("pg18-dml/data"), .format = c->format,
                                      .system_id = c->system_id, .segment_bytes = c->segment_size,
                                      .timeline = c->timeline, .proven = c->checkpoint + 1,
                                      .shutdown_record = c->checkpoint};
  wal_reader *r;
  const wal_record *rec;
  ck_assert_msg(wal_reader_open(&r, &options, &err), "%s", err.text);
  while (wal_reader_next(r, &rec, &err) == WAL_GOT) {
    pg_buf line = {0};
    if (rec->start >= ((uint64_t)high << 32 | low) && insert_line(&line, cluster, cat, rec)) {
      pg_buf_char(&line, '\n');
      ck_assert_msg(strstr(expected, line.data) != NULL, "not printed by the server: %s", line.data);
      rows++;
    }
    pg_buf_free(&line);
  }
  ck_assert_msg(err.text[0] == 0, "%s", err.text);
  printf("%zu rows compared\n", rows);
  ck_assert_uint_gt(rows, 1500);
  wal_reader_close(r);
  pg_catalog_close(cat);
  pg_cluster_close(cluster);
  free(slot);
  free(expected);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("pg_text");
  TCase *tc = tcase_create("values");
  tcase_add_test(tc, examples);
  tcase_add_test(tc, floating_point);
  tcase_add_test(tc, damaged_values);
  tcase_add_test(tc, what_test_decoding_printed);
  tcase_set_timeout(tc, 60);
  suite_add_tcase(suite, tc);
  return run_suite(suite);
}
