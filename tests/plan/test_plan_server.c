/*
 * What the rules of the planner and the model of the locks (locks.h) assume of PostgreSQL, asked of a server (planning
 * rules, 4.8). Each probe: one session executes and stays open, a second one executes; does it wait, what comes out of it
 * when the first one ends, and what is in the tables then?
 */
#include "support/runner.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* p is the parent of c (by k), cu (by u, ON UPDATE CASCADE) and cc (by k, ON DELETE CASCADE, one row of its own). */
static const char *const schema =
  "SET client_min_messages = error; DROP SCHEMA IF EXISTS s CASCADE; CREATE SCHEMA s; SET search_path = s;"
  "CREATE TABLE p (k int PRIMARY KEY, u int UNIQUE, v int, w int, d int UNIQUE DEFERRABLE INITIALLY DEFERRED, x int);"
  "CREATE UNIQUE INDEX ON p (v) WHERE x > 0; CREATE UNIQUE INDEX ON p ((w + 0));"
  "CREATE TABLE c (k int PRIMARY KEY, r int REFERENCES p, x int);"
  "CREATE TABLE cu (k int PRIMARY KEY, r int REFERENCES p (u) ON UPDATE CASCADE);"
  "CREATE TABLE cc (k int PRIMARY KEY, r int REFERENCES p ON DELETE CASCADE, x int);"
  "CREATE TABLE n (a int UNIQUE NULLS NOT DISTINCT, b int UNIQUE);"
  "CREATE TABLE q (a int, b int, UNIQUE (a, b));"
  "CREATE TABLE qs (a int, b int, FOREIGN KEY (b, a) REFERENCES q (a, b));"
  "CREATE TABLE qf (a int, b int, FOREIGN KEY (a, b) REFERENCES q (a, b) MATCH FULL);"
  "CREATE TABLE self (k int PRIMARY KEY, u int UNIQUE, r int REFERENCES self (u) ON UPDATE CASCADE);"
  "CREATE TABLE dup (a int);"
  "INSERT INTO p VALUES (1, 10, 1, 1, 1, 0), (2, 20, 2, 2, 2, 0), (3, 30, 3, 3, 3, 0);"
  "INSERT INTO c VALUES (1, 1, 0); INSERT INTO cc VALUES (1, 3, 0); INSERT INTO q VALUES (1, 2), (3, 4);"
  "INSERT INTO dup VALUES (7), (7);";

typedef struct probe {
  const char *name;
  const char *first, *second;
  bool waits;
  const char *after_commit;   /* what the second session says, when the first has committed if it waits */
  const char *after_rollback; /* NULL: not tried */
} probe;

#define FK_VIOLATED "violates foreign key constraint"
#define UNIQUE_VIOLATED "duplicate key value violates unique constraint"

static const probe probes[] = {
  /* row locks */
  {"update after update", "UPDATE p SET x = 1 WHERE k = 1", "UPDATE p SET x = 2 WHERE k = 1", true, "UPDATE 1", "UPDATE 1"},
  {"update after delete", "DELETE FROM p WHERE k = 2", "UPDATE p SET x = 2 WHERE k = 2", true, "UPDATE 0", "UPDATE 1"},
  {"update after insert", "INSERT INTO p VALUES (5)", "UPDATE p SET x = 2 WHERE k = 5", false, "UPDATE 0", NULL},
  {"update after delete and insert", "DELETE FROM p WHERE k = 2; INSERT INTO p VALUES (2)",
   "UPDATE p SET x = 2 WHERE k = 2", true, "UPDATE 0", "UPDATE 1"},
  {"update after a change of the key", "UPDATE p SET k = 9 WHERE k = 2", "UPDATE p SET x = 2 WHERE k = 2", true,
   "UPDATE 0", "UPDATE 1"},
  {"two deletes of equal rows", "DELETE FROM dup WHERE ctid = (SELECT ctid FROM dup WHERE a = 7 LIMIT 1)",
   "DELETE FROM dup WHERE ctid = (SELECT ctid FROM dup WHERE a = 7 LIMIT 1)", true, "DELETE 0", "DELETE 1"},
  /* unique indexes */
  {"insert after delete", "DELETE FROM p WHERE k = 2", "INSERT INTO p VALUES (2)", true, "INSERT 0 1", UNIQUE_VIOLATED},
  {"insert after insert", "INSERT INTO p VALUES (5)", "INSERT INTO p VALUES (5)", true, UNIQUE_VIOLATED, "INSERT 0 1"},
  {"claim of a released value", "UPDATE p SET u = NULL WHERE k = 1", "INSERT INTO p VALUES (5, 10)", true, "INSERT 0 1",
   UNIQUE_VIOLATED},
  {"claim of a value that was taken and left", "INSERT INTO p VALUES (5, 50); DELETE FROM p WHERE k = 5",
   "INSERT INTO p VALUES (6, 50)", true, "INSERT 0 1", "INSERT 0 1"},
  {"claim of an intermediate value", "UPDATE p SET u = 50 WHERE k = 1; UPDATE p SET u = 51 WHERE k = 1",
   "INSERT INTO p VALUES (6, 50)", true, "INSERT 0 1", "INSERT 0 1"},
  {"NULLs that are distinct", "INSERT INTO n VALUES (1, NULL)", "INSERT INTO n VALUES (2, NULL)", false, "INSERT 0 1", NULL},
  {"NULLs that are not", "INSERT INTO n VALUES (NULL, 1)", "INSERT INTO n VALUES (NULL, 2)", true, UNIQUE_VIOLATED,
   "INSERT 0 1"},
  {"outside of a partial index", "INSERT INTO p (k, v, x) VALUES (5, 9, 0)", "INSERT INTO p (k, v, x) VALUES (6, 9, 1)",
   false, "INSERT 0 1", NULL},
  {"inside of a partial index", "INSERT INTO p (k, v, x) VALUES (5, 9, 1)", "INSERT INTO p (k, v, x) VALUES (6, 9, 1)",
   true, UNIQUE_VIOLATED, "INSERT 0 1"},
  {"a deferrable index does not wait", "INSERT INTO p (k, d) VALUES (5, 9)",
   "BEGIN; INSERT INTO p (k, d) VALUES (6, 9)", false, "INSERT 0 1", NULL},
  {"a deferrable index waits at commit", "INSERT INTO p (k, d) VALUES (5, 9)", "INSERT INTO p (k, d) VALUES (6, 9)", true,
   UNIQUE_VIOLATED, "INSERT 0 1"},
  {"a deferrable index does not wait under the replica role", "INSERT INTO p (k, d) VALUES (5, 9)",
   "SET session_replication_role = replica; INSERT INTO p (k, d) VALUES (6, 9)", false, "INSERT 0 1", NULL},
  {"immediate unique under the replica role", "SELECT 1",
   "SET session_replication_role = replica; INSERT INTO p VALUES (5, 10)", false, UNIQUE_VIOLATED, NULL},
  {"deferrable unique under the replica role", "SELECT 1",
   "SET session_replication_role = replica; BEGIN; INSERT INTO p (k, d) VALUES (5, 1); COMMIT; "
   "SELECT 'twice ' || count(*) FROM p WHERE d = 1", false, "twice 2", NULL},
  {"deferrable unique otherwise", "SELECT 1", "BEGIN; INSERT INTO p (k, d) VALUES (5, 1); COMMIT", false, UNIQUE_VIOLATED,
   NULL},
  /* a child looks at its parent: key share against the two strengths */
  {"child after a plain update of the parent", "UPDATE p SET x = 1 WHERE k = 1", "INSERT INTO c VALUES (2, 1)", false,
   "INSERT 0 1", NULL},
  {"child after a change of another unique column", "UPDATE p SET u = 11 WHERE k = 1", "INSERT INTO c VALUES (2, 1)", true,
   "INSERT 0 1", "INSERT 0 1"},
  {"child after a change of a deferrable unique column", "UPDATE p SET d = 11 WHERE k = 1", "INSERT INTO c VALUES (2, 1)",
   true, "INSERT 0 1", "INSERT 0 1"},
  {"child after a change of a partial index's column", "UPDATE p SET v = 11 WHERE k = 1", "INSERT INTO c VALUES (2, 1)",
   false, "INSERT 0 1", NULL},
  {"child after a change of an expression's column", "UPDATE p SET w = 11 WHERE k = 1", "INSERT INTO c VALUES (2, 1)",
   false, "INSERT 0 1", NULL},
  {"child after delete of the parent", "DELETE FROM p WHERE k = 2", "INSERT INTO c VALUES (2, 2)", true, FK_VIOLATED,
   "INSERT 0 1"},
  {"child after insert of the parent", "INSERT INTO p VALUES (5)", "INSERT INTO c VALUES (2, 5)", false, FK_VIOLATED, NULL},
  {"plain update of the parent after a child", "INSERT INTO c VALUES (2, 1)", "UPDATE p SET x = 1 WHERE k = 1", false,
   "UPDATE 1", NULL},
  {"key change of the parent after a child", "INSERT INTO c VALUES (2, 1)", "UPDATE p SET u = 11 WHERE k = 1", true,
   "UPDATE 1", "UPDATE 1"},
  {"delete of the parent after a child", "INSERT INTO c VALUES (2, 2)", "DELETE FROM p WHERE k = 2", true, FK_VIOLATED,
   "DELETE 1"},
  {"a reference that stays is not looked at", "DELETE FROM c WHERE k = 1; DELETE FROM p WHERE k = 1",
   "UPDATE c SET x = 1 WHERE k = 1", true, "UPDATE 0", "UPDATE 1"},
  {"composite: child after delete of the parent", "DELETE FROM q WHERE a = 1", "INSERT INTO qs VALUES (2, 1)", true,
   FK_VIOLATED, "INSERT 0 1"},
  {"composite: a NULL refers to nothing", "DELETE FROM q WHERE a = 1", "INSERT INTO qs VALUES (NULL, 1)", false,
   "INSERT 0 1", NULL},
  {"MATCH FULL: some NULLs", "SELECT 1", "INSERT INTO qf VALUES (1, NULL)", false, FK_VIOLATED, NULL},
  {"MATCH FULL: all NULLs", "SELECT 1", "INSERT INTO qf VALUES (NULL, NULL)", false, "INSERT 0 1", NULL},
  /* a parent looks for children */
  {"parent after delete of the child", "DELETE FROM c WHERE k = 1", "DELETE FROM p WHERE k = 1", true, "DELETE 1",
   FK_VIOLATED},
  {"parent after the child was re-pointed", "UPDATE c SET r = 2 WHERE k = 1", "DELETE FROM p WHERE k = 1", false,
   FK_VIOLATED, NULL},
  {"parent after re-pointing and a change of the child's key", "UPDATE c SET r = 2, k = 9 WHERE k = 1",
   "DELETE FROM p WHERE k = 1", true, "DELETE 1", FK_VIOLATED},
  {"parent that another row replaces", "SELECT 1",
   "BEGIN; SET CONSTRAINTS ALL IMMEDIATE; UPDATE p SET k = CASE k WHEN 1 THEN 8 WHEN 8 THEN 1 END WHERE k IN (1, 8); COMMIT",
   false, FK_VIOLATED, NULL},
  {"cascade after a plain update of the child", "UPDATE cc SET x = 1 WHERE k = 1", "DELETE FROM p WHERE k = 3", true,
   "DELETE 1", "DELETE 1"},
  {"plain update of a child after a cascade", "DELETE FROM p WHERE k = 3", "UPDATE cc SET x = 1 WHERE k = 1", true,
   "UPDATE 0", "UPDATE 1"},
  {"actions come before checks", "INSERT INTO self VALUES (0, 1, 1)",
   "BEGIN; INSERT INTO self VALUES (5, 5, 5); UPDATE self SET u = 6 WHERE k = 5; COMMIT; "
   "SELECT 'refers to ' || r FROM self WHERE k = 5", false, "refers to 6", NULL},
  /* relations */
  {"parent after TRUNCATE of the child", "TRUNCATE c", "DELETE FROM p WHERE k = 1", true, "DELETE 1", FK_VIOLATED},
  {"child after TRUNCATE of the parent", "TRUNCATE p CASCADE", "INSERT INTO c VALUES (2, 2)", true, FK_VIOLATED,
   "INSERT 0 1"},
  {"TRUNCATE of the parent after a child", "INSERT INTO c VALUES (2, 2)", "TRUNCATE p CASCADE", true, "TRUNCATE TABLE",
   "TRUNCATE TABLE"},
  {"insert after TRUNCATE", "TRUNCATE dup", "INSERT INTO dup VALUES (1)", true, "INSERT 0 1", "INSERT 0 1"},
};
#define NPROBES ((int)(sizeof probes / sizeof *probes))

/* --- sessions -------------------------------------------------------------------------------------------------------- */

typedef struct session {
  FILE *in;
  char path[64]; /* of its output */
  int commands;
} session;

static void session_open(session *s, const char *name)
{
  char command[400];
  snprintf(s->path, sizeof s->path, "/tmp/twpa-probe-%s-%ld", name, (long)getpid());
  snprintf(command, sizeof command, "PGAPPNAME=%s \"$PGBIN/psql\" -XAt >%s 2>&1", name, s->path);
  s->in = popen(command, "w"); /* NOLINT: a test beside its own server */
  ck_assert_ptr_nonnull(s->in);
  s->commands = 0;
}

static void session_close(session *s)
{
  pclose(s->in);
  unlink(s->path);
}

static void session_send(session *s, const char *sql)
{
  fprintf(s->in, "\\echo begin-%d\n%s;\n\\echo end-%d\n", s->commands + 1, sql, s->commands + 1);
  fflush(s->in);
  s->commands++;
}

/* What it said to the last command; false: it has not finished. */
static bool session_done(const session *s, char *out, size_t size)
{
  char marker[32], text[8192];
  FILE *f = fopen(s->path, "r");
  if (f == NULL)
    return false;
  if (fseek(f, -(long)(sizeof text - 1), SEEK_END) != 0)
    rewind(f); /* it is shorter than that */
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[n] = '\0';
  snprintf(marker, sizeof marker, "end-%d\n", s->commands);
  char *end = strstr(text, marker);
  snprintf(marker, sizeof marker, "begin-%d\n", s->commands);
  char *begin = strstr(text, marker);
  if (end == NULL || begin == NULL)
    return false;
  *end = '\0';
  snprintf(out, size, "%s", begin);
  return true;
}

static void session_run(session *s, const char *sql, char *out, size_t size)
{
  session_send(s, sql);
  for (int i = 0; i < 6000; i++) {
    if (session_done(s, out, size))
      return;
    usleep(5000);
  }
  ck_abort_msg("no answer to: %s", sql);
}

/* True: the second session waits for a lock. False: it has finished. */
static bool waits(session *second, session *third)
{
  char out[4096];
  for (int i = 0; i < 3000; i++) {
    if (session_done(second, out, sizeof out))
      return false;
    session_run(third, "SELECT 'waits:' || count(*) FROM pg_stat_activity WHERE application_name = 'second' AND "
                       "wait_event_type = 'Lock'", out, sizeof out);
    if (strstr(out, "waits:1") != NULL)
      return true;
    usleep(2000);
  }
  ck_abort_msg("neither waits nor finishes");
}

static session first, second, third;

/* NULL, or what is wrong. */
static const char *one_ending(const probe *p, bool commit)
{
  char out[4096];
  session_run(&third, schema, out, sizeof out);
  ck_assert_msg(strstr(out, "ERROR") == NULL, "%s", out);
  session_run(&first, "RESET ALL; SET search_path = s; BEGIN", out, sizeof out);
  session_run(&second, "RESET ALL; SET search_path = s", out, sizeof out);
  session_run(&first, p->first, out, sizeof out);
  ck_assert_msg(strstr(out, "ERROR") == NULL, "%s: %s", p->name, out);
  session_send(&second, p->second);
  bool waited = waits(&second, &third);
  session_run(&first, commit ? "COMMIT" : "ROLLBACK", out, sizeof out);
  for (int i = 0; i < 6000 && !session_done(&second, out, sizeof out); i++)
    usleep(5000);
  bool ended = session_done(&second, out, sizeof out);
  ck_assert_msg(ended, "%s: goes on waiting", p->name);
  const char *expected = commit ? p->after_commit : p->after_rollback;
  const char *wrong = waited != p->waits ? "the wait" : strstr(out, expected) == NULL ? "the outcome" : NULL;
  if (wrong != NULL)
    printf("%s: %s differs: %s\n%s", p->name, wrong, waited ? "it waits, and then" : "it does not wait", out);
  session_run(&second, "ROLLBACK", out, sizeof out);
  return wrong;
}

START_TEST(probes_of_the_server)
{
  int wrong = 0;
  session_open(&third, "third");
  session_open(&first, "first");
  session_open(&second, "second");
  for (int i = 0; i < NPROBES; i++) {
    wrong += one_ending(&probes[i], true) != NULL;
    wrong += probes[i].after_rollback != NULL && one_ending(&probes[i], false) != NULL;
  }
  session_close(&first);
  session_close(&second);
  session_close(&third);
  ck_assert_int_eq(wrong, 0);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("plan_server");
  TCase *t = tcase_create("probes");
  tcase_set_timeout(t, 0);
  tcase_add_test(t, probes_of_the_server);
  suite_add_tcase(s, t);
  return run_suite(s);
}
