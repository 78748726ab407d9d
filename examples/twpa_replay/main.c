/*
 * twpa-replay: takes the WAL of a stopped PostgreSQL, applies its transactions in parallel as the library plans, and
 * proves the result equal to serial apply.
 */
#include "twpa_replay/drawings.h"
#include "twpa_replay/load.h"
#include "twpa_replay/report.h"
#include "twpa_replay/tables.h"

#include <string.h>
#include <twpa/version.h>

/* Everything after the command line. The status of the program; what went wrong is in err. */
static bool replay(const replay_options *o, replay_model *m, host_error *err)
{
  replay_plan plan;
  replay_result result;
  if (o->svg_dir && !replay_draw_begin(o->svg_dir, err)) /* not after minutes of work */
    return false;
  if (!replay_load(m, o, err) || !replay_describe(m, err))
    return false;
  if (!replay_analyse(&plan, m, o->strict, o->svg_dir != NULL, err))
    return false;
  bool ok = replay_run(&result, m, o, o->svg_dir != NULL, NULL, err);
  replay_report report = {.options = o, .model = m, .plan = &plan, .result = &result};
  if (ok) {
    (o->json ? replay_print_json : replay_print_text)(&report, stdout);
    if (!replay_proved(&report))
      ok = host_fail(err, "%s: not proved: %s", o->data_dir, replay_why_not(&report));
    host_error drawing = {{0}};
    if (o->svg_dir && !replay_draw(&report, o->svg_dir, &drawing)) {
      *err = ok ? drawing : *err;
      ok = false;
    }
  }
  replay_plan_free(&plan);
  replay_result_free(&result);
  return ok;
}

int main(int argc, char **argv)
{
  replay_options o;
  host_error err = {{0}};
  if (!replay_options_parse(&o, argc, argv, &err)) {
    fprintf(stderr, "twpa-replay: %s\n", err.text);
    return 1;
  }
  if (o.help) {
    fputs(replay_help(), stdout);
    return 0;
  }
  if (o.version) {
    printf("twpa-replay %s\n", twpa_version());
    return 0;
  }
  replay_model m;
  memset(&m, 0, sizeof m);
  bool ok = replay(&o, &m, &err);
  replay_model_free(&m);
  if (ok && fflush(stdout))
    ok = host_fail(&err, "the report cannot be written");
  if (!ok)
    fprintf(stderr, "twpa-replay: %s\n", err.text);
  return ok ? 0 : 1;
}
