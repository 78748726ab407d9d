/* The command line: long options with a value behind '=' or as the next word, and -D. */
#include "twpa_replay/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS_MAX 256u
#define DELAY_MAX 1000000u

static const char help[] =
    "Usage: twpa-replay -D DATADIR [options]\n"
    "\n"
    "Decodes the WAL of a stopped PostgreSQL 15-18 data directory, plans which transactions may "
    "be\n"
    "applied at the same time, applies them with several threads into a store in memory that "
    "notices\n"
    "every wrong order, and proves the result equal to serial apply. The directory is only read.\n"
    "\n"
    "  -D DATADIR             the data directory (holds PG_VERSION and pg_wal)\n"
    "  --database NAME        which database; needed if several have changes\n"
    "  --from LSN, --to LSN   only transactions that commit in this part of the WAL, such as "
    "0/3000028\n"
    "  --workers N            threads that apply, 1 to 256 (default 4)\n"
    "  --commit-order on|off  commit in the order of the log (default on)\n"
    "  --unknown wait|try     a unique value given free whose old value the WAL does not tell: "
    "later\n"
    "                         takers wait, or are tried and run again on a conflict (default try)\n"
    "  --delay USEC           pause per change and per commit, as a round trip to a target takes\n"
    "  --jitter SEED          random pauses, to make orders differ from run to run\n"
    "  --svg DIR              draw graph.svg and timeline.svg into DIR\n"
    "  --json                 print the report as JSON\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 if the parallel result is proved equal to the serial one, else 1.\n";

const char *replay_help(void)
{
  return help;
}

static bool parse_number(const char *text, uint64_t *out, uint64_t max)
{
  char *end;
  if (*text < '0' || *text > '9')
    return false;
  *out = strtoull(text, &end, 10);
  return !*end && *out <= max && strlen(text) <= 20;
}

static bool parse_lsn(const char *text, twpa_lsn *out)
{
  unsigned high, low;
  char rest;
  size_t slash = strcspn(text, "/");
  bool hex = strspn(text, "0123456789abcdefABCDEF/") == strlen(text);
  if (!hex || !slash || slash > 8 || !text[slash] || strlen(text + slash + 1) > 8)
    return false;
  if (sscanf(text, "%x/%x%c", &high, &low, &rest) != 2)
    return false;
  *out = (twpa_lsn)high << 32 | low;
  return *out != 0;
}

/* One option with a value. Unknown names and wrong values are told. */
static bool take_value(replay_options *o, const char *name, const char *value, host_error *err)
{
  uint64_t n = 0;
  bool ok = true;
  if (!strcmp(name, "-D")) {
    o->data_dir = value;
    ok = *value != 0;
  } else if (!strcmp(name, "--database")) {
    o->database = value;
    ok = *value != 0;
  } else if (!strcmp(name, "--svg")) {
    o->svg_dir = value;
    ok = *value != 0;
  } else if (!strcmp(name, "--from")) {
    ok = parse_lsn(value, &o->from);
  } else if (!strcmp(name, "--to")) {
    ok = parse_lsn(value, &o->to);
  } else if (!strcmp(name, "--workers")) {
    ok = parse_number(value, &n, WORKERS_MAX) && n > 0;
    o->workers = (unsigned)n;
  } else if (!strcmp(name, "--commit-order")) {
    o->commit_order = !strcmp(value, "on");
    ok = o->commit_order || !strcmp(value, "off");
  } else if (!strcmp(name, "--unknown")) {
    o->strict = !strcmp(value, "wait");
    ok = o->strict || !strcmp(value, "try");
  } else if (!strcmp(name, "--jitter")) {
    o->jitter = true;
    ok = parse_number(value, &o->jitter_seed, UINT64_MAX);
  } else if (!strcmp(name, "--delay")) {
    ok = parse_number(value, &n, DELAY_MAX);
    o->delay_us = (uint32_t)n;
  } else {
    return host_fail(err, "unknown option %s (try --help)", name);
  }
  return ok || host_fail(err, "%s: \"%s\" is not a possible value (try --help)", name, value);
}

static bool is_flag(replay_options *o, const char *arg)
{
  if (!strcmp(arg, "--json"))
    o->json = true;
  else if (!strcmp(arg, "--help") || !strcmp(arg, "-h"))
    o->help = true;
  else if (!strcmp(arg, "--version"))
    o->version = true;
  else
    return false;
  return true;
}

bool replay_options_parse(replay_options *o, int argc, char *const *argv, host_error *err)
{
  *o = (replay_options){.workers = 4, .commit_order = true};
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    char name[32];
    if (is_flag(o, arg))
      continue;
    if (arg[0] != '-')
      return host_fail(err, "unexpected argument \"%s\" (try --help)", arg);
    const char *equals = !strncmp(arg, "--", 2) ? strchr(arg, '=') : NULL;
    const char *value = equals ? equals + 1 : NULL;
    if (!strncmp(arg, "-D", 2) && arg[2])
      value = arg + 2;
    size_t len = equals ? (size_t)(equals - arg) : value ? 2 : strlen(arg);
    snprintf(name, sizeof name, "%.*s", len > 31 ? 31 : (int)len, arg);
    if (!value) {
      if (i + 1 >= argc)
        return host_fail(err, "%s needs a value (try --help)", name);
      value = argv[++i];
    }
    if (!take_value(o, name, value, err))
      return false;
  }
  if (o->help || o->version)
    return true;
  if (!o->data_dir)
    return host_fail(err, "no data directory given: twpa-replay -D DATADIR (try --help)");
  if (o->from && o->to && o->from > o->to)
    return host_fail(err, "--from lies behind --to");
  return true;
}
