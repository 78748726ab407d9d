/*
 * twpa-trace: carries a text trace of log events through the library and prints every callback and decision, or
 * compares them with what the trace says. The language is in docs/trace.md.
 *
 * Exit status: 0; 1 if something differs; 2 for wrong input or use, or if the output cannot be written.
 */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twpa/version.h>

static const char usage[] =
  "usage: twpa-trace [--check] FILE...\n"
  "\n"
  "Carries traces out and prints them with what each command does behind it.\n"
  "\n"
  "  --check    compare with what stands in the trace instead, and print the differences\n"
  "  --version  print the version of the library\n"
  "  --help     print this\n"
  "\n"
  "FILE is - for the standard input. The language is described in docs/trace.md.\n"
  "Exit status: 0; 1 if something differs; 2 for wrong input, or if it cannot print.\n";

static bool read_all(trace_text *text, const char *name)
{
  FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
  if (f == NULL) {
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
    return false;
  }
  char buf[65536];
  text_bytes(text, "", 0);
  for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
    text_bytes(text, buf, n);
  bool ok = !ferror(f);
  if (!ok)
    fprintf(stderr, "%s: %s\n", name, strerror(errno));
  if (f != stdin)
    fclose(f);
  return ok;
}

/* The exit status of one file. */
static int do_file(const char *name, bool check)
{
  trace_text text = {0}, out = {0};
  trace_source source = {0};
  trace_result result = {0};
  host_error err = {""};
  int status = 2;
  if (read_all(&text, name) && trace_source_parse(&source, name, text.data, text.len, &err)) {
    bool ok = trace_run(&result, &source, NULL, &err);
    status = ok ? 0 : 2;
    if (!check)
      trace_annotate(&out, &source, &result);
    else if (ok && !trace_has_expectation(&source))
      status = 2, host_fail(&err, "%s:1:1: the trace does not say what it prints", name);
    else if (ok)
      status = trace_compare(&out, &source, &result) > 0;
  }
  if (fwrite(text_get(&out), 1, out.len, stdout) != out.len || fflush(stdout) != 0) {
    fprintf(stderr, "twpa-trace: cannot print: %s\n", strerror(errno));
    status = 2;
  }
  if (err.text[0] != 0)
    fprintf(stderr, "%s\n", err.text);
  text_free(&text);
  text_free(&out);
  trace_result_free(&result);
  trace_source_free(&source);
  return status;
}

int main(int argc, char **argv)
{
  bool check = false;
  int status = 0, first = 1;
  for (; first < argc && argv[first][0] == '-' && argv[first][1] != 0; first++) {
    if (strcmp(argv[first], "--check") == 0)
      check = true;
    else if (strcmp(argv[first], "--version") == 0) {
      printf("twpa-trace %s\n", twpa_version());
      return 0;
    } else if (strcmp(argv[first], "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    } else {
      fprintf(stderr, "twpa-trace: unknown option %s\n%s", argv[first], usage);
      return 2;
    }
  }
  if (first == argc) {
    fputs(usage, stderr);
    return 2;
  }
  for (; first < argc; first++) {
    int one = do_file(argv[first], check);
    status = one > status ? one : status;
  }
  return status;
}
