/*
 * The language of traces: what is accepted, where messages point to, that what is printed is a trace again, that
 * nothing that is fed to the program hurts it, and that the examples of docs/trace.md are true.
 */
#include "support/memory.h"
#include "support/runner.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twpa_trace/trace.h"

static trace_text read_file(const char *path)
{
  trace_text text = {0};
  FILE *f = fopen(path, "rb");
  ck_assert_msg(f != NULL, "%s", path);
  char buf[4096];
  text_bytes(&text, "", 0);
  for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
    text_bytes(&text, buf, n);
  fclose(f);
  return text;
}

static trace_text path_of(const char *rest)
{
  trace_text path = {0};
  text_add(&path, "%s/%s", getenv("TWPA_SOURCE_DIR"), rest);
  return path;
}

static const trace_limits small = {.steps = 3000, .bytes = (uint64_t)64 << 20};

/* Carries a text out. Returns the message, empty if there was none; `out` gets the annotated trace. */
static host_error run_text(trace_text *out, const char *data, size_t len)
{
  host_error err = {""};
  trace_source source;
  trace_result result;
  if (!trace_source_parse(&source, "f", data, len, &err))
    return err;
  bool ok = trace_run(&result, &source, &small, &err);
  test_must(ok == (err.text[0] == 0));
  trace_annotate(out, &source, &result);
  trace_result_free(&result);
  trace_source_free(&source);
  return err;
}

static void must_fail(const char *text, size_t len, const char *message)
{
  trace_text out = {0};
  host_error err = run_text(&out, text, len);
  ck_assert_msg(strncmp(err.text, message, strlen(message)) == 0, "'%s' gives '%s', not '%s'", text, err.text, message);
  text_free(&out);
}

#define FAILS(text, message) must_fail(text, sizeof(text) - 1, message)

START_TEST(wrong_input_has_a_place)
{
  FAILS("\n  jump 10\n", "f:2:3: unknown verb 'jump'");
  FAILS("insert\n", "f:1:1: 'insert' needs XID");
  FAILS("spec-confirm x10\n", "f:1:14: expected a number, not 'x10'");
  FAILS("insert x10\n", "f:1:1: there is no 'txn' before it (the subject of an event of the log is a number)");
  FAILS("insert 10 nwe=a\n", "f:1:11: 'insert' does not take nwe=; it takes: top rel new flags origin lsn end");
  FAILS("insert 10 new=a new=b\n", "f:1:17: this key is there twice");
  FAILS("insert 10 b\n", "f:1:11: expected key=value");
  FAILS("running 10 oldest=1\n", "f:1:9: 'running' takes key=value only");
  FAILS("running\n", "f:1:1: 'running' needs oldest=");
  FAILS("insert 10 new=\"a\n", "f:1:15: a string without its end");
  FAILS("insert 10 new=\"a\\q\"\n", "f:1:17: unknown escape");
  FAILS("insert 10 new=\"a\\xg0\"\n", "f:1:17: expected two hexadecimal digits");
  FAILS("insert 10 new=\"a\"*x\n", "f:1:18: expected a number after '*'");
  FAILS("insert 10 new=\"a\"*99999999999\n", "f:1:18: more than 67108864 bytes");
  FAILS("insert 10 new=\"aaaaaaaaaaaaaaaaaaaa\"*18446744073709551615\n", "f:1:37: more than");
  FAILS("insert 10 new=\"a\"*99999999999999999999\n", "f:1:18: expected a number after '*'");
  FAILS("insert 10 new=(1\n", "f:1:15: a parenthesis without its end");
  FAILS("insert 10 new=1)\n", "f:1:16: a closing parenthesis without an opening one");
  FAILS("insert 10 new=(1)a\n", "f:1:18: nothing may follow");
  FAILS("insert 10 new=((((((((((((((((((1\n", "f:1:31: too many parentheses");
  FAILS("insert 18446744073709551616\n", "f:1:8: expected a number");
  FAILS("insert 1-\n", "f:1:8: expected a number, not '1-'");
  FAILS("insert 0x\n", "f:1:8: expected a number");
  FAILS("command 10 id=4294967296\n", "f:1:15: 4294967296 is not between 0 and 4294967295");
  FAILS("insert 10 lsn=1/100000000\n", "f:1:15: expected a position");
  FAILS("insert 10 lsn=/1\n", "f:1:15: expected a position");
  FAILS("insert 10 lsn=0xffffffffffffffff\n", "f:1:15: positions end at 2^63");
  FAILS("insert 10 end=0x8000000000000000\n", "f:1:15: positions end at 2^63");
  FAILS("commit 10 subs=11,,12\n", "f:1:16: expected a number, not ''");
  FAILS("commit 10 subs=11,\n", "f:1:16: expected a number, not ''");
  FAILS("truncate 10 rels=a,\n", "f:1:18: expected the name of a relation");
  FAILS("truncate 10 flags=fast\n", "f:1:19: expected a list of cascade|restart-seqs, not 'fast'");
  FAILS("reorder streaming=perhaps\n", "f:1:19: expected no|yes, not 'perhaps'");
  FAILS("reorder memory=0\n", "f:1:16: 0 is not between 1");
  FAILS("new-cid 10 rel=a tid=5\n", "f:1:22: expected BLOCK:LINE");
  FAILS("new-cid 10 rel=a tid=5:0\n", "f:1:22: 0 is not between 1 and 65535");
  FAILS("expect speed is=0\n", "f:1:8: there is no figure 'speed'");
  FAILS("expect open_tops\n", "f:1:1: 'expect' needs is=");
  FAILS("walk 10\n", "f:1:6: no transaction 10 has been taken");
  FAILS("again\n", "f:1:1: there was no event before");
  FAILS("fail callback how=damage\n", "f:1:19: a call of this kind cannot fail like that");
  FAILS("fail callback of=comit\n", "f:1:18: expected begin|change|truncate|message|commit|");
  FAILS("fail storage of=commit\n", "f:1:17: expected write|read|remove, not 'commit'");
  FAILS("fail allocation of=read\n", "f:1:20: allocations have no names");
  FAILS("fail allocation how=corrupt\n", "f:1:21: a call of this kind cannot fail like that");
  FAILS("fail callback of=123456789012345678901234567890\n", "f:1:18: expected begin|change|");
}
END_TEST

START_TEST(wrong_plans_have_a_place)
{
  FAILS("relation r columns=a\n", "f:1:20: expected NAME:CLASS");
  FAILS("relation r columns=a:int\n", "f:1:20: expected NAME:CLASS");
  FAILS("relation r columns=a:integer:virtual\n", "f:1:20: expected NAME:CLASS");
  FAILS("relation r columns=:integer\n", "f:1:20: expected NAME:CLASS");
  FAILS("relation r\n", "f:1:1: 'relation' needs columns=");
  FAILS("index i of=r columns=a\n", "f:1:12: this relation is not described");
  FAILS("relation r columns=a:integer\nindex i of=r columns=b\n", "f:2:22: there is no column 'b'");
  FAILS("relation r columns=a:integer\nindex i of=r columns=a\nindex i of=r columns=a\n", "f:3:7: this index is");
  FAILS("relation r columns=a:integer\nindex i of=r columns=a prefix=1,2\n", "f:2:31: expected one length");
  FAILS("relation r columns=a:integer\nfk f of=r columns=a parent=s index=i\n", "f:2:28: this relation is not");
  FAILS("relation r columns=a:integer\nfk f of=r columns=a parent=r index=i\n", "f:2:36: there is no index 'i'");
  FAILS("relation r columns=a:integer\ntxn\ntouch r\nindex i of=r columns=a\n", "f:4:12: this relation is in use");
  FAILS("relation r columns=a:integer\ninsert r new=(1)\n", "f:2:1: there is no 'txn' before it");
  FAILS("txn\ninsert r new=(1)\n", "f:2:1: the relation 'r' is not described");
  FAILS("relation r columns=a:integer\ntxn\ninsert r new=1\n", "f:3:14: expected a row in parentheses");
  FAILS("relation r columns=a:integer\ntxn\ninsert r new=(1,2)\n", "f:3:14: more values than columns");
  FAILS("relation r columns=a:integer,b:integer\ntxn\ninsert r new=(1)\n", "f:3:14: 1 values for 2 columns");
  FAILS("relation r columns=a:integer identity=i\ntxn\ninsert r new=(1)\n", "f:3:1: the relation 'r' could not");
  FAILS("txn\naccess 1 mode=shared\n", "f:2:15: expected ?|read|update");
  FAILS("enter\n", "f:1:1: there is no 'txn' before it");
  FAILS("plan table=1\n", "f:1:12: 1 is not between 64");
  FAILS("complete 1\n", "f:1:1: there is no 'plan' before it");
  FAILS("plan\nnext\n", "f:2:1: there is no 'scheduler' before it");
  FAILS("plan\napplied 1\n", "f:2:1: there is no 'scheduler' before it");
  FAILS("plan\npassed 1\n", "f:2:1: there is no 'progress' before it");
  FAILS("scheduler\nprogress\n", "f:2:1: 'progress' stands before 'scheduler'");
  FAILS("show edges\n", "f:1:1: there is no 'plan' before it");
  FAILS("plan\nexpect plan.speed is=1\n", "f:2:8: there is no figure 'plan.speed' here");
  FAILS("expect scheduler.open is=1\n", "f:1:8: there is no figure 'scheduler.open' here");
  FAILS("reorder deliver=plan\ninsert 10 rel=r new=(1)\ncommit 10\n", "f:3:1: the relation 'r' is not described");
}
END_TEST

START_TEST(wrong_bytes_have_a_place)
{
  FAILS("insert 10\0\n", "f:1:10: unexpected outside of quotes: 0x00");
  FAILS("insert 10 new=\"a\0\"\n", "f:1:17: unexpected outside of quotes: 0x00");
  FAILS("# a comment\0\n", "f:1:12: unexpected outside of quotes: 0x00");
  FAILS("insert 10\r\n", "f:1:10: unexpected outside of quotes: 0x0d");
  FAILS("\tinsert 10\n", "f:1:1: unexpected outside of quotes: 0x09");
  FAILS("insert 10 new=\xc3\xa4\n", "f:1:15: unexpected outside of quotes: 0xc3");
  FAILS("insert 10 new=\"a\tb\"\n", "f:1:17: this byte must be written as \\xHH: 0x09");
  FAILS("Insert 10\n", "f:1:1: a verb is made of small letters");
  FAILS("in\"s\"ert 10\n", "f:1:3: a verb is made of small letters");
}
END_TEST

START_TEST(loops_and_what_is_expected_have_a_place)
{
  FAILS("end\n", "f:1:1: 'end' without 'repeat'");
  FAILS("repeat i=1..2\n", "f:1:1: 'repeat' without 'end'");
  FAILS("repeat 5\nend\n", "f:1:1: expected: repeat name=FIRST..LAST");
  FAILS("repeat i=5\nend\n", "f:1:10: expected FIRST..LAST");
  FAILS("repeat i=1..x\nend\n", "f:1:10: expected a number, not 'x'");
  FAILS("repeat i=1..3\nabort $j\nend\n", "f:2:7: there is no variable 'j' here");
  FAILS("abort $\n", "f:1:7: there is no variable '' here");
  FAILS("repeat i=1..3\nabort ${i\nend\n", "f:2:7: expected ${name}");
  FAILS("repeat i=1..3\nabort ${i+}\nend\n", "f:2:7: expected ${name}");
  FAILS("repeat i=1..3\nabort ${i%0}\nend\n", "f:2:7: 0 is not between 1");
  FAILS("repeat i=0..99999999\ntouch 10\nend\n", "f:2:1: the trace takes too long");
  FAILS("> begin\ntouch 10\n", "f:1:1: what a command prints, without a command before it");
  FAILS("repeat i=1..3\n> begin\nend\n", "f:2:1: what a loop prints stands behind its end");
  FAILS(">begin\n", "f:1:2: expected a blank after >");
  trace_text deep = {0};
  for (int i = 0; i < 9; i++)
    text_add(&deep, "repeat i=1..1\n");
  must_fail(deep.data, deep.len, "f:9:1: more than 8 loops inside each other");
  text_free(&deep);
  trace_text line = {0};
  text_add(&line, "# short\n# ");
  for (size_t i = 0; i <= TRACE_LINE_MAX; i++)
    text_bytes(&line, "x", 1);
  must_fail(line.data, line.len, "f:2:1: a line of more than 1048576 bytes");
  text_free(&line);
}
END_TEST

/* What comes out of the library for the bytes that went in. */
static void comes_out(const char *written, const char *shown)
{
  trace_text text = {0}, out = {0};
  text_add(&text, "insert 10 new=%s\ncommit 10\n", written);
  host_error err = run_text(&out, text.data, text.len);
  ck_assert_str_eq(err.text, "");
  trace_text want = {0};
  text_add(&want, "> change insert xid=10 lsn=100 new=%s\n", shown);
  ck_assert_msg(strstr(out.data, want.data) != NULL, "no '%s' in '%s'", want.data, out.data);
  text_free(&text);
  text_free(&out);
  text_free(&want);
}

START_TEST(values_come_out_as_they_went_in)
{
  comes_out("abc", "abc");
  comes_out("\"\"", "\"\"");
  comes_out("", "\"\"");
  comes_out("\"a b\"", "\"a b\"");
  comes_out("\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\"");
  comes_out("\"\\n\\t\\x00\\x7f\"", "\"\\x0a\\x09\\x00\\x7f\"");
  comes_out("\"\xc3\xa4\"", "\"\xc3\xa4\"");
  comes_out("a\"b\"*3\"c\"", "abbbc");
  comes_out("\"ab\"*0", "\"\"");
  comes_out("\"x\"*19", "xxxxxxxxxxxxxxxxxxx");
  comes_out("\"x\"*20", "x{20}");
  comes_out("(1,a,null)", "(1,a,null)");
  comes_out("(1, \"a b\" ,~)", "(1,\"a b\",~)");
  comes_out("(\"a)\",(2,3))", "(\"a)\",(2,3))");
  comes_out("(\"x\"*30)", "(\"x{30}\")");
  comes_out("(\"a\\\"b\")", "(\"a\\\"b\")");
  comes_out("$$a", "\"$a\"");
  comes_out("\"#\"", "\"#\"");
  comes_out("a # comment", "a");
}
END_TEST

START_TEST(long_values_are_cut_and_told_apart)
{
  trace_text a = {0}, b = {0};
  char bytes[1000];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (char)('a' + i % 26);
  text_show(&a, bytes, sizeof bytes);
  bytes[999] = 'A';
  text_show(&b, bytes, sizeof bytes);
  ck_assert_uint_lt(a.len, 250);
  ck_assert_ptr_nonnull(strstr(a.data, "...(1000 bytes, sum "));
  ck_assert_str_ne(a.data, b.data);
  text_free(&a);
  text_free(&b);
}
END_TEST

static size_t compare_texts(const char *text, trace_text *diff)
{
  host_error err = {""};
  trace_source source;
  trace_result result;
  ck_assert(trace_source_parse(&source, "f", text, strlen(text), &err));
  ck_assert(trace_run(&result, &source, &small, &err));
  size_t n = trace_compare(diff, &source, &result);
  trace_result_free(&result);
  trace_source_free(&source);
  return n;
}

START_TEST(differences_are_shown_with_what_is_around_them)
{
  trace_text diff = {0};
  ck_assert_uint_eq(compare_texts("insert 10 new=a\ncommit 10\n> begin xid=10 first=100\n"
                                  "> change insert xid=10 lsn=100 new=b\n> commit xid=10 lsn=108 end=116\n",
                                  &diff), 1);
  ck_assert_str_eq(diff.data, "f:2: commit 10\n    begin xid=10 first=100\n  - change insert xid=10 lsn=100 new=b\n"
                              "  + change insert xid=10 lsn=100 new=a\n    commit xid=10 lsn=108 end=116\n");
  diff.len = 0;
  ck_assert_uint_eq(compare_texts("insert 10 new=a\ncommit 10\n", &diff), 1);
  ck_assert_uint_eq(compare_texts("touch 10\n> hello\nabort 10\n> world\n", &diff), 2);
  diff.len = 0;
  ck_assert_uint_eq(compare_texts("fail storage\ntouch 10\n# comment\n\n> fault storage has never come\n", &diff), 0);
  ck_assert_uint_eq(diff.len, 0);
  text_free(&diff);
}
END_TEST

/* What is printed is a trace that agrees with itself. */
static void agrees_with_itself(const char *data, size_t len)
{
  trace_text once = {0}, twice = {0};
  run_text(&once, data, len);
  run_text(&twice, once.data, once.len);
  test_must(once.len == twice.len && (once.len == 0 || memcmp(once.data, twice.data, once.len) == 0));
  text_free(&once);
  text_free(&twice);
}

static trace_text *load_traces(size_t *n)
{
  trace_text dir = path_of("tests/traces"), *texts = NULL;
  size_t cap = 0;
  *n = 0;
  DIR *d = opendir(dir.data);
  ck_assert_ptr_nonnull(d);
  for (const struct dirent *e; (e = readdir(d)) != NULL;) {
    size_t len = strlen(e->d_name);
    if (len < 6 || strcmp(e->d_name + len - 6, ".trace") != 0)
      continue;
    trace_text path = {0};
    text_add(&path, "%s/%s", dir.data, e->d_name);
    texts = host_grow(texts, &cap, *n, sizeof *texts);
    texts[(*n)++] = read_file(path.data);
    text_free(&path);
  }
  closedir(d);
  text_free(&dir);
  ck_assert_uint_gt(*n, 0);
  return texts;
}

static void free_texts(trace_text *texts, size_t n)
{
  for (size_t i = 0; i < n; i++)
    text_free(&texts[i]);
  free(texts);
}

START_TEST(what_is_printed_is_a_trace)
{
  size_t n;
  trace_text *texts = load_traces(&n);
  for (size_t i = 0; i < n; i++)
    if (texts[i].len < 20000)
      agrees_with_itself(texts[i].data, texts[i].len);
  free_texts(texts, n);
}
END_TEST

START_TEST(a_trace_may_end_anywhere)
{
  size_t n;
  trace_text *texts = load_traces(&n), out = {0};
  rng r = {test_seed(20261130)};
  for (size_t i = 0; i < 400; i++) {
    const trace_text *text = &texts[rng_below(&r, n)];
    run_text(&out, text->data, (size_t)rng_below(&r, text->len + 1));
    out.len = 0;
  }
  text_free(&out);
  free_texts(texts, n);
}
END_TEST

/* Bytes changed, lines moved, repeated and mixed: nothing may go wrong but the trace. */
static void damage(trace_text *text, rng *r, const trace_text *other)
{
  static const char bytes[] = "\n\n =,\"\"\\()$#>0123456789azx*:@/\x00\xff\x80\t-";
  for (uint64_t k = 1 + rng_below(r, 4); k > 0 && text->len > 0; k--) {
    size_t at = (size_t)rng_below(r, text->len);
    switch (rng_below(r, 4)) {
    case 0:
      text->data[at] = bytes[rng_below(r, sizeof bytes - 1)];
      break;
    case 1: {
      size_t n = (size_t)rng_below(r, 1 + (text->len - at < 40 ? text->len - at : 40));
      memmove(text->data + at, text->data + at + n, text->len - at - n);
      text->len -= n;
      break;
    }
    case 2: { /* a line of another trace */
      trace_text tail = {0};
      text_bytes(&tail, text->data + at, text->len - at);
      size_t from = other->len > 0 ? (size_t)rng_below(r, other->len) : 0;
      size_t n = other->len - from < 80 ? other->len - from : 80;
      text->len = at;
      text_bytes(text, other->data + from, n);
      text_bytes(text, tail.data, tail.len);
      text_free(&tail);
      break;
    }
    default: { /* a number that is something else */
      while (at < text->len && (text->data[at] < '0' || text->data[at] > '9'))
        at++;
      if (at < text->len)
        text->data[at] = (char)('0' + rng_below(r, 10));
      break;
    }
    }
  }
}

START_TEST(damage_hurts_only_the_trace)
{
  size_t n;
  trace_text *texts = load_traces(&n), out = {0}, text = {0};
  rng r = {test_seed(20261130)};
  size_t sound = 0;
  for (size_t i = 0; i < 1000; i++) {
    const trace_text *from = &texts[rng_below(&r, n)];
    if (from->len > 20000)
      continue;
    text.len = 0;
    text_bytes(&text, from->data, from->len);
    damage(&text, &r, &texts[rng_below(&r, n)]);
    host_error err = run_text(&out, text.data, text.len);
    sound += err.text[0] == 0;
    out.len = 0;
  }
  ck_assert_uint_gt(sound, 10); /* some damage does not make it wrong */
  text_free(&out);
  text_free(&text);
  free_texts(texts, n);
}
END_TEST

/* Blocks of the page between ``` that hold events. */
START_TEST(the_examples_of_the_page_are_true)
{
  trace_text path = path_of("docs/trace.md"), page = read_file(path.data);
  size_t examples = 0;
  for (char *p = page.data; (p = strstr(p, "\n```\n")) != NULL;) {
    char *begin = p + 5, *end = strstr(begin, "\n```\n");
    ck_assert_ptr_nonnull(end);
    p = end + 5;
    *end = 0;
    if (strstr(begin, "\n> ") == NULL)
      continue;
    host_error err = {""};
    trace_source source;
    trace_result result;
    trace_text diff = {0};
    ck_assert_msg(trace_source_parse(&source, "trace.md", begin, (size_t)(end - begin), &err), "%s", err.text);
    ck_assert_msg(trace_run(&result, &source, NULL, &err), "%s", err.text);
    ck_assert_msg(trace_compare(&diff, &source, &result) == 0, "%s", diff.data);
    trace_result_free(&result);
    trace_source_free(&source);
    text_free(&diff);
    examples++;
  }
  ck_assert_uint_ge(examples, 5);
  text_free(&page);
  text_free(&path);
}
END_TEST

int main(void)
{
  Suite *s = suite_create("trace");
  TCase *form = tcase_create("form");
  tcase_add_test(form, wrong_input_has_a_place);
  tcase_add_test(form, wrong_plans_have_a_place);
  tcase_add_test(form, wrong_bytes_have_a_place);
  tcase_add_test(form, loops_and_what_is_expected_have_a_place);
  tcase_add_test(form, values_come_out_as_they_went_in);
  tcase_add_test(form, long_values_are_cut_and_told_apart);
  suite_add_tcase(s, form);
  TCase *run = tcase_create("run");
  tcase_add_test(run, differences_are_shown_with_what_is_around_them);
  tcase_add_test(run, what_is_printed_is_a_trace);
  tcase_add_test(run, a_trace_may_end_anywhere);
  tcase_add_test(run, damage_hurts_only_the_trace);
  tcase_add_test(run, the_examples_of_the_page_are_true);
  suite_add_tcase(s, run);
  return run_suite(s);
}
