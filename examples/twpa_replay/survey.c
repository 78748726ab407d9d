/* The first reading of the log. */
#include "twpa_replay/survey.h"

#include "support/memory.h"
#include "support/wal/wal_files.h"
#include "support/wal/wal_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEVEL_LOGICAL 2

typedef struct survey {
  replay_model *m;
  uint64_t *rows; /* per database: of user tables, where they can be decoded */
  uint64_t commits;
  bool below; /* wal_level is below logical here, as far as anything has told */
} survey;

void replay_progress_begin(replay_progress *p, const char *what, twpa_lsn begin, twpa_lsn end)
{
  *p = (replay_progress){.what = what, .begin = begin, .end = end, .on = isatty(STDERR_FILENO)};
}

void replay_progress_show(replay_progress *p, twpa_lsn at)
{
  char text[WAL_LSN_BYTES];
  if (!p->begin)
    p->begin = p->shown = at;
  if (!p->on || at < p->shown + (1u << 20))
    return;
  p->shown = at;
  double part = p->end > p->begin ? (double)(at - p->begin) / (double)(p->end - p->begin) : 1;
  fprintf(stderr, "\r%s %s, %3.0f %%", p->what, wal_lsn_text(text, at),
          part < 1 ? part * 100 : 100.0);
}

void replay_progress_end(const replay_progress *p)
{
  if (p->on)
    fprintf(stderr, "\r%*s\r", 78, "");
}

bool replay_open_log(wal_reader **out, const replay_model *m, twpa_lsn start, host_error *err)
{
  wal_reader_options o = wal_reader_options_of(m->cluster->path, &m->cluster->control);
  o.start = start;
  return wal_reader_open(out, &o, err);
}

/* From here on rows can be decoded; what was counted so far cannot. */
static void raised(survey *s, twpa_lsn lsn)
{
  s->below = false;
  s->m->decodable = lsn;
  s->m->counts.below_logical = s->commits;
  for (size_t i = 0; i < s->m->cluster->database_count; i++)
    s->rows[i] = 0;
}

static void count_row(survey *s, const wal_record *record)
{
  const pg_cluster *cluster = s->m->cluster;
  if (!record->nblocks || !record->xid)
    return;
  const twpa_locator *l = &record->blocks[0].locator;
  for (size_t i = 0; l->file >= PG_FIRST_USER_OID && i < cluster->database_count; i++)
    s->rows[i] += cluster->databases[i].oid == l->database;
}

static void look_at(survey *s, const wal_record *record, const wal_content *content)
{
  switch (content->kind) {
  case WAL_COMMIT:
  case WAL_COMMIT_PREPARED:
    s->commits++;
    s->below = s->below || !content->as.end.has_database;
    break;
  case WAL_PARAMETER_CHANGE:
    if (content->as.parameter.wal_level < LEVEL_LOGICAL)
      s->below = true;
    else if (s->below)
      raised(s, record->start);
    break;
  default:
    if (record->rmgr == WAL_RM_HEAP || record->rmgr == WAL_RM_HEAP2)
      count_row(s, record);
  }
}

static bool read_all(survey *s, host_error *err)
{
  wal_reader *reader;
  const wal_record *record;
  wal_content content;
  wal_result result;
  replay_progress progress;
  host_error why = {""};
  bool ok = true;
  if (!replay_open_log(&reader, s->m, 0, err))
    return false;
  replay_progress_begin(&progress, "looking through the WAL,", 0,
                        s->m->cluster->control.checkpoint);
  while (ok && (result = wal_reader_next(reader, &record, err)) == WAL_GOT) {
    char path[WAL_PATH_BYTES];
    replay_progress_show(&progress, record->start);
    ok = wal_parse(&content, record, s->m->cluster->format, &why) ||
         host_fail(err, "%s: %s", wal_reader_path(path, reader, record->start), why.text);
    if (ok)
      look_at(s, record, &content);
  }
  replay_progress_end(&progress);
  wal_reader_close(reader);
  return ok && result == WAL_END;
}

/* The one that is named, or the only one with changes. */
static bool choose_database(survey *s, const char *name, host_error *err)
{
  const pg_cluster *cluster = s->m->cluster;
  char names[400] = "";
  size_t n = 0, at = 0;
  if (name)
    return pg_cluster_database(&s->m->database, cluster, name, err);
  for (size_t i = 0; i < cluster->database_count; i++) {
    if (!s->rows[i])
      continue;
    s->m->database = &cluster->databases[i];
    if (at + 80 < sizeof names)
      at += (size_t)snprintf(names + at, sizeof names - at, "%s\"%s\"", n ? ", " : "",
                             cluster->databases[i].name);
    n++;
  }
  if (n > 1)
    return host_fail(
        err, "%s: several databases have changes in the WAL: %s; choose one with --database",
        cluster->path, names);
  return n ||
         host_fail(
             err, "%s: no database has changes of user tables in the WAL; name one with --database",
             cluster->path);
}

bool replay_survey(replay_model *m, const replay_options *o, host_error *err)
{
  survey s = {.m = m};
  if (o->database && !pg_cluster_database(&m->database, m->cluster, o->database, err))
    return false;
  s.rows = host_alloc(m->cluster->database_count, sizeof *s.rows);
  bool ok = read_all(&s, err);
  if (ok && s.below)
    ok = host_fail(err,
                   "%s: wal_level was below logical when the WAL was written, at least to its end: "
                   "there are no rows to decode",
                   m->cluster->path);
  ok = ok && choose_database(&s, o->database, err);
  free(s.rows);
  return ok;
}
