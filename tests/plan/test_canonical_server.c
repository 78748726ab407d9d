/*
 * Canonical forms against PostgreSQL itself. Tables of one column of every type are filled with values; the stored
 * bytes are read from the files of the tables, the text from psql, and each pair of values is compared by the
 * server's "=". Equal for the server must be equal bytes; where a form is exact, different for the server must be
 * different bytes.
 */
#include "plan/canonical.h"
#include "support/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct spec {
  const char *name, *type;
  uint32_t cls;
  bool text;              /* the text form gives the same key */
  const char *values;     /* for VALUES */
  const char *generator;  /* a query of further values, or NULL */
} spec;

#define NUMBERS "('0'),('1'),('-1'),('10'),('100'),('127'),('-128'),('32767'),('-32768')"
#define STAMPS "('2000-01-01'),('1970-01-01'),('1999-12-31'),('2024-02-29'),('4713-01-01 BC'),('0001-12-31 BC')"

static const spec specs[] = {
    {"t_int2", "int2", TWPA_CLASS_INTEGER, true, NUMBERS, NULL},
    {"t_int4", "int4", TWPA_CLASS_INTEGER, true, NUMBERS ",('2147483647'),('-2147483648'),('10000'),('65536')", NULL},
    {"t_int8", "int8", TWPA_CLASS_INTEGER, true,
     NUMBERS ",('2147483647'),('4294967295'),('9223372036854775807'),('-9223372036854775808'),"
             "('9007199254740993')", NULL},
    {"t_oid", "oid", TWPA_CLASS_UNSIGNED, true, "('0'),('1'),('2147483647'),('2147483648'),('4294967295')", NULL},
    {"t_numeric", "numeric", TWPA_CLASS_NUMERIC, true,
     NUMBERS ",('-0.000'),('1.0'),('1.00000000000'),('0.1'),('0.10'),('1e-5'),('10000'),('1e4'),('1e40'),('NaN'),"
             "('Infinity'),('-Infinity'),('9223372036854775807.00'),('9223372036854775808'),('-9223372036854775808.0'),"
             "('1e300'),('1e-300'),('1e5000'),('12345.6780'),('12345.678'),('4294967295'),('18446744073709551615')",
     "SELECT round((random() * 4 - 2)::numeric, (random() * 3)::int) * 10::numeric ^ (random() * 12 - 6)::int"
     " FROM generate_series(1, 250)"},
    {"t_numeric2", "numeric(30,10)", TWPA_CLASS_NUMERIC, true, NUMBERS ",('0.1'),('12345.678'),('0.0000000001')",
     "SELECT round((random() * 4 - 2)::numeric, 1) * 10::numeric ^ (random() * 12 - 6)::int"
     " FROM generate_series(1, 100)"},
    {"t_float4", "float4", TWPA_CLASS_FLOAT4, true,
     "('0'),('-0'),('NaN'),('Infinity'),('-Infinity'),('1'),('0.1'),('16777216'),('1e-45'),"
     "('3.4028235e38'),('1.1754942e-38')",
     "SELECT ((random() - 0.5) * 10.0 ^ (random() * 60 - 30)::int)::float4 FROM generate_series(1, 200)"},
    {"t_float8", "float8", TWPA_CLASS_FLOAT, true,
     "('0'),('-0'),('NaN'),('Infinity'),('-Infinity'),('1'),('0.1'),('0.10000000149011612'),('5e-324'),"
     "('1.7976931348623157e308'),"
     "('2.225073858507201e-308'),('9007199254740992'),('9007199254740994'),('16777216')",
     "SELECT (random() - 0.5) * 10.0 ^ (random() * 600 - 300)::int FROM generate_series(1, 200)"},
    {"t_bool", "bool", TWPA_CLASS_BOOLEAN, true, "('t'),('f')", NULL},
    {"t_uuid", "uuid", TWPA_CLASS_UUID, true,
     "('01234567-89ab-cdef-fedc-ba9876543210'),('{01234567-89AB-CDEF-FEDC-BA9876543210}'),"
     "('00000000-0000-0000-0000-000000000000'),('ffffffff-ffff-ffff-ffff-ffffffffffff')", NULL},
    {"t_date", "date", TWPA_CLASS_DATE, true, STAMPS ",('infinity'),('-infinity'),('5874897-12-31'),('294277-01-01')",
     "SELECT '2000-01-01'::date + (random() * 4000000 - 2000000)::int FROM generate_series(1, 100)"},
    {"t_timestamp", "timestamp", TWPA_CLASS_TIMESTAMP, true,
     STAMPS ",('infinity'),('-infinity'),('294276-12-31 23:59:59.999999'),('2000-01-01 00:00:00.000001'),"
            "('1999-12-31 24:00:00'),('0044-03-15 12:34:56.7 BC'),('2016-12-31 23:59:60')",
     "SELECT timestamp '2000-01-01' + (random() * 4e12 - 2e12)::bigint * interval '0.017 s'"
     " FROM generate_series(1, 150)"},
    {"t_timestamptz", "timestamptz", TWPA_CLASS_TIMESTAMPTZ, true,
     STAMPS ",('infinity'),('-infinity'),('2000-01-01 00:00+05:30'),('1999-12-31 18:30Z'),"
            "('2024-07-01 12:00 America/New_York'),"
            "('1880-01-01 00:00 Africa/Monrovia'),('294276-12-30 00:00+00'),('0044-03-15 12:34:56.7+01 BC')",
     "SELECT timestamptz '2000-01-01 00:00Z' + (random() * 4e12 - 2e12)::bigint * interval '0.017 s'"
     " FROM generate_series(1, 150)"},
    {"t_time", "time", TWPA_CLASS_TIME, true,
     "('00:00'),('24:00'),('12:34:56.789'),('23:59:60'),('00:00:00.000001')", NULL},
    {"t_timetz", "timetz", TWPA_CLASS_TIMETZ, true,
     "('12:00+00'),('13:00+01'),('12:00-03:30'),('12:00+00:00:01'),('24:00+00'),('00:00+00'),"
     "('12:00:00.5+15:59')", NULL},
    {"t_interval", "interval", TWPA_CLASS_INTERVAL, true,
     "('0'),('1 mon'),('30 days'),('720:00'),('1 mon -1 day 24:00'),('1 year'),('12 mons'),('360 days'),('365 days'),"
     "('-1 mon 30 days'),('-1 year -2 mons +3 days -04:05:06.7'),('178956970 years 7 mons'),('-178956970 years'),"
     "('2147483647 days'),('2562047788:00:54.775807'),('-2562047788:00:54.775807'),"
     "('-00:00:00.000001'),('-1 day 23:59:59.999999')",
     "SELECT make_interval(0, (random() * 4 - 2)::int, 0, (random() * 4 - 2)::int * 30, (random() * 4 - 2)::int * 24)"
     " FROM generate_series(1, 150)"},
    {"t_char", "char(10)", TWPA_CLASS_BLANK_PADDED, true,
     "(''),('a'),('a  '),(' a'),('a b'),('A'),('ä'),('0123456789')", NULL},
    {"t_bpchar", "bpchar", TWPA_CLASS_BLANK_PADDED, true, "(''),('  '),('a'),('a  '),(' a'),('a b   '),('ä ')", NULL},
    {"t_text", "text", TWPA_CLASS_BYTES, true, "(''),('a'),('a  '),(' a'),('A'),('ä'),('ä')", NULL},
    {"t_varchar", "varchar(200)", TWPA_CLASS_BYTES, true,
     "(''),('a'),('a  '),(repeat('x', 126)),(repeat('x', 127))", NULL},
    {"t_name", "name", TWPA_CLASS_BYTES, true, "(''),('a'),('b')", NULL},
    {"t_bytea", "bytea", TWPA_CLASS_BYTES, false, "(''),('\\x00'),('\\x0000'),('\\xff')", NULL},
    {"t_enum", "mood", TWPA_CLASS_BYTES, false, "('sad'),('ok'),('happy')", NULL},
    {"t_bit", "bit(7)", TWPA_CLASS_BYTES, false, "('1010101'),('0000000')", NULL},
    {"t_varbit", "varbit", TWPA_CLASS_BYTES, false, "(''),('1'),('10'),('1010101'),('10101010'),('101010100')", NULL},
    {"t_inet", "inet", TWPA_CLASS_BYTES, false,
     "('10.0.0.1'),('10.0.0.1/32'),('10.0.0.1/8'),('10.0.0.0/8'),('::1'),('::1/128'),('::10.0.0.1')", NULL},
    {"t_cidr", "cidr", TWPA_CLASS_BYTES, false, "('10.0.0.0/8'),('10.0.0.1/32'),('10.0.0.1'),('::1/128')", NULL},
    {"t_macaddr", "macaddr", TWPA_CLASS_BYTES, false,
     "('08:00:2b:01:02:03'),('08-00-2b-01-02-03'),('0800.2b01.0204')", NULL},
    {"t_macaddr8", "macaddr8", TWPA_CLASS_BYTES, false,
     "('08:00:2b:01:02:03:04:05'),('08:00:2b:ff:fe:01:02:03')", NULL},
    {"t_money", "money", TWPA_CLASS_INTEGER, false, "('0'),('-0.01'),('1.5'),('1.50'),('92233720368547758.07')", NULL},
    {"t_lsn", "pg_lsn", TWPA_CLASS_UNSIGNED, false, "('0/0'),('0/16AE7F8'),('FFFFFFFF/FFFFFFFF')", NULL},
    {"t_citext", "citext", TWPA_CLASS_FOLDED, true, "('a'),('A'),('b'),('Straße'),('STRASSE')", NULL},
};
#define NSPECS (sizeof specs / sizeof *specs)

#define MAX_ROWS 400
#define MAX_TEXT 6000

typedef struct value {
  bool there;
  size_t len;
  unsigned char *stored;
  char *text;
  twpa__canonical_form form;
} value;

static value values[NSPECS][MAX_ROWS];
static bool present[NSPECS];

/* Runs SQL in psql; the stream gives its output. */
static FILE *sql(const char *zone, const char *text)
{
  char path[] = "/tmp/twpa-sql-XXXXXX";
  int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  FILE *script = fdopen(fd, "w");
  fputs(text, script);
  ck_assert_int_eq(fclose(script), 0);
  char command[400];
  snprintf(command, sizeof command, "PGTZ=%s \"$PGBIN/psql\" -XqAt -F '\t' -v ON_ERROR_STOP=1 <%s; r=$?; rm -f %s; "
           "exit $r",
           zone, path, path);
  FILE *out = popen(command, "r"); /* NOLINT: a test beside its own server */
  ck_assert_ptr_nonnull(out);
  return out;
}

static bool sql_line(FILE *out, char *line, size_t size)
{
  if (fgets(line, (int)size, out) == NULL)
    return false;
  line[strcspn(line, "\n")] = '\0';
  return true;
}

/* An error in the script fails the test. */
static void sql_end(FILE *out)
{
  ck_assert_int_eq(pclose(out), 0);
}

static void sql_run(const char *text)
{
  char line[1000];
  FILE *out = sql("UTC", text);
  while (sql_line(out, line, sizeof line))
    ck_abort_msg("unexpected: %s", line);
  sql_end(out);
}

/* ---- stored bytes ---- */

static unsigned u16_at(const unsigned char *p)
{
  uint16_t v;
  memcpy(&v, p, 2);
  return v;
}

static uint32_t u32_at(const unsigned char *p)
{
  uint32_t v;
  memcpy(&v, p, 4);
  return v;
}

/* Column v of a row (id int4, v): the value without its length header. */
static void read_row(size_t which, const unsigned char *row, size_t len, int typlen, size_t align)
{
  size_t at = row[22];
  int32_t id = (int32_t)u32_at(row + at);
  ck_assert(id >= 0 && id < MAX_ROWS);
  value *v = &values[which][id];
  /* Offsets count from the start of the column data, which is 8-aligned as the row is. */
  size_t data = at, off = 4;
  bool short_header = typlen == -1 && (row[data + off] & 1) != 0;
  if (!short_header)
    off = (off + align - 1) / align * align;
  size_t size = (size_t)typlen;
  if (short_header) {
    size = (size_t)(row[data + off] >> 1) - 1;
    off += 1;
  } else if (typlen == -1) {
    uint32_t header = u32_at(row + data + off);
    ck_assert_uint_eq(header & 3, 0);
    size = (header >> 2) - 4;
    off += 4;
  }
  ck_assert_uint_eq(data + off + size, len);
  v->stored = calloc(1, size + 1);
  memcpy(v->stored, row + data + off, size);
  v->len = size;
  v->there = true;
}

static void read_file(size_t which, const char *path, int typlen, size_t align)
{
  char full[600];
  snprintf(full, sizeof full, "%s/%s", getenv("PGDATA"), path);
  FILE *file = fopen(full, "rb");
  ck_assert_msg(file != NULL, "cannot read %s", full);
  static unsigned char page[8192];
  while (fread(page, sizeof page, 1, file) == 1)
    for (unsigned at = 24; at < u16_at(page + 12); at += 4) {
      uint32_t item = u32_at(page + at);
      if (((item >> 15) & 3) == 1)
        read_row(which, page + (item & 0x7FFF), item >> 17, typlen, align);
    }
  fclose(file);
}

/* ---- the server's side ---- */

static void make_tables(void)
{
  static char text[40000];
  char *p = text;
  const char *end = text + sizeof text;
  p += snprintf(p, (size_t)(end - p), "%s",
                "SET client_min_messages = error;"
                "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');"
                "DO $$ BEGIN CREATE EXTENSION citext; EXCEPTION WHEN OTHERS THEN NULL; END $$;"
                "CREATE FUNCTION same(a text, b text, OUT x int, OUT y int) RETURNS SETOF record LANGUAGE plpgsql"
                " AS $$ BEGIN"
                " RETURN QUERY EXECUTE format('SELECT a.id, b.id FROM %I a, %I b WHERE a.v = b.v', a, b);"
                " EXCEPTION WHEN undefined_function OR ambiguous_function THEN RETURN QUERY SELECT -1, -1; END $$;"
                "DO $$ BEGIN PERFORM setseed(0.5); END $$;\n");
  for (size_t i = 0; i < NSPECS; i++) {
    const spec *s = &specs[i];
    /* A type that this server does not have (citext is an extension) is left out. */
    p += snprintf(p, (size_t)(end - p),
                  "SELECT to_regtype('%s') IS NOT NULL AS there \\gset\n\\if :there\n"
                  "CREATE TABLE %s (id int4, v %s NOT NULL);"
                  "INSERT INTO %s SELECT row_number() OVER () - 1, c::%s FROM (VALUES %s) x(c);\n",
                  strchr(s->type, '(') != NULL ? "int4" : s->type, s->name, s->type, s->name, s->type, s->values);
    if (s->generator != NULL)
      p += snprintf(p, (size_t)(end - p),
                    "INSERT INTO %s SELECT (SELECT count(*) FROM %s) + row_number() OVER () - 1, c::%s"
                    " FROM (%s) x(c);\n",
                    s->name, s->name, s->type, s->generator);
    p += snprintf(p, (size_t)(end - p), "\\endif\n");
    ck_assert(p < end - 2000);
  }
  snprintf(p, (size_t)(end - p), "CHECKPOINT;\n");
  sql_run(text);
}

static size_t spec_named(const char *name)
{
  size_t i = 0;
  while (i < NSPECS && strcmp(specs[i].name, name) != 0)
    i++;
  ck_assert_uint_lt(i, NSPECS);
  return i;
}

static void read_tables(void)
{
  char line[1000];
  FILE *out = sql("UTC", "SELECT c.relname, pg_relation_filepath(c.oid), a.attlen, a.attalign FROM pg_class c"
                         " JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname ~ '^t_' AND a.attname = 'v';");
  while (sql_line(out, line, sizeof line)) {
    char name[100], path[500], align;
    int typlen;
    ck_assert_int_eq(sscanf(line, "%99s %499s %d %c", name, path, &typlen, &align), 4);
    size_t i = spec_named(name);
    present[i] = true;
    read_file(i, path, typlen, align == 'c' ? 1 : align == 's' ? 2 : align == 'i' ? 4 : 8);
  }
  sql_end(out);
}

static void read_texts(const char *zone)
{
  static char line[MAX_TEXT], script[NSPECS * 100];
  char *p = script;
  for (size_t i = 0; i < NSPECS; i++)
    if (present[i])
      p += snprintf(p, 100, "SELECT %zu, id, %s FROM %s ORDER BY id;\n", i,
                    specs[i].cls == TWPA_CLASS_FOLDED ? "lower(v)" : "v", specs[i].name);
  FILE *out = sql(zone, script);
  while (sql_line(out, line, sizeof line)) {
    size_t i, id;
    int at = 0;
    ck_assert_int_eq(sscanf(line, "%zu\t%zu%n", &i, &id, &at), 2);
    ck_assert(i < NSPECS && id < MAX_ROWS && line[at] == '\t');
    value *v = &values[i][id];
    ck_assert(v->there);
    free(v->text);
    v->text = strdup(line + at + 1);
  }
  sql_end(out);
}

/* Makes the forms; the stored one, and for folded text what the host has folded. */
static size_t make_forms(void)
{
  size_t n = 0;
  for (size_t i = 0; i < NSPECS; i++)
    for (size_t r = 0; present[i] && r < MAX_ROWS && values[i][r].there; r++, n++) {
      value *v = &values[i][r];
      twpa_bytes stored = {v->stored, v->len};
      if (strcmp(specs[i].type, "name") == 0)
        stored.len = strlen((const char *)v->stored); /* without its padding */
      if (specs[i].cls == TWPA_CLASS_FOLDED)
        stored = (twpa_bytes){v->text, strlen(v->text)};
      ck_assert_msg(twpa__canonical(&v->form, specs[i].cls, TWPA_VALUE_BINARY, stored) == TWPA_OK, "%s %zu (%s)",
                    specs[i].name, r, v->text);
    }
  return n;
}

static bool same_form(const twpa__canonical_form *a, const twpa__canonical_form *b)
{
  return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Once for all tests: each of them runs in a process of its own and inherits what is read here. */
static void load(void)
{
  make_tables();
  read_tables();
  read_texts("UTC");
  size_t n = make_forms();
  printf("%zu values\n", n);
  ck_assert_uint_gt(n, 1500);
}

START_TEST(text_and_stored_bytes_have_one_form)
{
  static const char *const zones[] = {"UTC", "Asia/Kolkata", "America/St_Johns", "Africa/Monrovia"};
  for (size_t z = 0; z < sizeof zones / sizeof *zones; z++) {
    read_texts(zones[z]);
    for (size_t i = 0; i < NSPECS; i++)
      for (size_t r = 0; specs[i].text && present[i] && r < MAX_ROWS && values[i][r].there; r++) {
        value *v = &values[i][r];
        twpa__canonical_form form;
        if (specs[i].cls == TWPA_CLASS_FOLDED)
          continue;
        if (twpa__canonical(&form, specs[i].cls, TWPA_VALUE_TEXT, (twpa_bytes){v->text, strlen(v->text)}) != TWPA_OK)
          ck_abort_msg("%s: '%s' is refused", specs[i].type, v->text);
        if (!same_form(&form, &v->form) || form.exact != v->form.exact)
          ck_abort_msg("%s: '%s' differs from what is stored", specs[i].type, v->text);
      }
  }
}
END_TEST

static bool equal[MAX_ROWS][MAX_ROWS]; /* the server's answers for two tables */
static size_t pairs, matches, tables;

/* Compares the server's answers for two tables with the forms. */
static void compare(size_t a, size_t b)
{
  tables++;
  for (size_t x = 0; x < MAX_ROWS && values[a][x].there; x++)
    for (size_t y = 0; y < MAX_ROWS && values[b][y].there; y++, pairs++) {
      const value *v = &values[a][x], *w = &values[b][y];
      bool is_same = same_form(&v->form, &w->form);
      matches += equal[x][y] && (a != b || x != y);
      if (equal[x][y] && !is_same)
        ck_abort_msg("missed: %s '%s' = %s '%s'", specs[a].type, v->text, specs[b].type, w->text);
      if (!equal[x][y] && is_same && v->form.exact && w->form.exact)
        ck_abort_msg("needless: %s '%s' and %s '%s'", specs[a].type, v->text, specs[b].type, w->text);
    }
}

/* Two numbers of tables, two of rows; rows of -1: the server has no such operator, of -2: the end of the two tables. */
START_TEST(equal_for_the_server_is_equal_bytes)
{
  static char script[NSPECS * NSPECS * 100];
  char *p = script, line[100];
  for (size_t a = 0; a < NSPECS; a++)
    for (size_t b = 0; b < NSPECS; b++)
      if (present[a] && present[b] && twpa__canonical_joins(specs[a].cls, specs[b].cls))
        p += snprintf(p, 100, "SELECT %zu, %zu, * FROM same('%s', '%s'); SELECT %zu, %zu, -2, -2;\n", a, b,
                      specs[a].name, specs[b].name, a, b);
  FILE *out = sql("UTC", script);
  bool known = true;
  while (sql_line(out, line, sizeof line)) {
    size_t a, b;
    int x, y;
    ck_assert_int_eq(sscanf(line, "%zu %zu %d %d", &a, &b, &x, &y), 4);
    ck_assert(a < NSPECS && b < NSPECS && x < MAX_ROWS && y < MAX_ROWS);
    if (x >= 0) {
      equal[x][y] = true;
    } else if (x == -1) {
      ck_assert_uint_ne(a, b);
      known = false;
    } else {
      if (known)
        compare(a, b);
      memset(equal, 0, sizeof equal);
      known = true;
    }
  }
  sql_end(out);
  printf("%zu pairs of tables, %zu pairs of values, %zu of them equal\n", tables, pairs, matches);
  ck_assert_uint_gt(tables, NSPECS + 15);
  ck_assert_uint_gt(matches, 1000);
}
END_TEST

/* What twpa__canonical_joins refuses, with the reason: a foreign key that holds between values with different bytes. */
START_TEST(why_some_classes_are_not_joined)
{
  static const struct {
    const char *child, *child_value;
    uint32_t child_cls;
    const char *parent, *parent_value;
    uint32_t parent_cls;
  } keys[] = {
      {"int8", "9007199254740993", TWPA_CLASS_INTEGER, "float8", "9007199254740992", TWPA_CLASS_FLOAT},
      {"numeric", "0.10000000000000000000001", TWPA_CLASS_NUMERIC, "float8", "0.1", TWPA_CLASS_FLOAT},
      {"int4", "-1", TWPA_CLASS_INTEGER, "oid", "4294967295", TWPA_CLASS_UNSIGNED},
      {"text", "a  ", TWPA_CLASS_BYTES, "bpchar", "a", TWPA_CLASS_BLANK_PADDED},
      {"timestamp", "2000-01-01 05:30:00", TWPA_CLASS_TIMESTAMP, "timestamptz", "2000-01-01 00:00:00+00",
       TWPA_CLASS_TIMESTAMPTZ},
      {"date", "2000-01-02", TWPA_CLASS_DATE, "timestamptz", "2000-01-01 18:30:00+00", TWPA_CLASS_TIMESTAMPTZ},
  };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    char query[600], line[100];
    snprintf(query, sizeof query,
             "BEGIN; CREATE TABLE p (v %s PRIMARY KEY); CREATE TABLE c (v %s REFERENCES p);"
             "INSERT INTO p VALUES ('%s'); INSERT INTO c VALUES ('%s'); SELECT count(*) FROM c; ROLLBACK;",
             keys[i].parent, keys[i].child, keys[i].parent_value, keys[i].child_value);
    FILE *out = sql("Asia/Kolkata", query);
    ck_assert_msg(sql_line(out, line, sizeof line), "%s does not refer to %s", keys[i].child, keys[i].parent);
    ck_assert_str_eq(line, "1");
    sql_end(out);
    twpa__canonical_form child, parent;
    ck_assert_int_eq(twpa__canonical(&child, keys[i].child_cls, TWPA_VALUE_TEXT,
                                     (twpa_bytes){keys[i].child_value, strlen(keys[i].child_value)}), TWPA_OK);
    ck_assert_int_eq(twpa__canonical(&parent, keys[i].parent_cls, TWPA_VALUE_TEXT,
                                     (twpa_bytes){keys[i].parent_value, strlen(keys[i].parent_value)}), TWPA_OK);
    ck_assert(!same_form(&child, &parent));
    ck_assert(!twpa__canonical_joins(keys[i].child_cls, keys[i].parent_cls));
  }
}
END_TEST

int main(void)
{
  Suite *s = suite_create("canonical forms and PostgreSQL");
  TCase *t = tcase_create("server");
  tcase_add_unchecked_fixture(t, load, NULL);
  tcase_add_test(t, text_and_stored_bytes_have_one_form);
  tcase_add_test(t, equal_for_the_server_is_equal_bytes);
  tcase_add_test(t, why_some_classes_are_not_joined);
  suite_add_tcase(s, t);
  return run_suite(s);
}
