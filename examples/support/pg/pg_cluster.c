/* A data directory as a whole. */
#include "support/pg/pg_cluster.h"

#include "support/pg/pg_file.h"
#include "support/pg/pg_page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
  OID_DATABASE = 1262
};

/* Columns of pg_database, the same in all versions. Its description lies in each database, so it is not at hand here. */
enum {
  DB_OID = 0,
  DB_NAME = 4,
  DB_TABLESPACE = 92,
  DB_END = 96
};

static int by_oid(const void *a, const void *b)
{
  uint32_t x = ((const pg_database *)a)->oid, y = ((const pg_database *)b)->oid;
  return x < y ? -1 : x > y;
}

static bool take_database(pg_vec *databases, pg_xact *xact, const pg_row *row, host_error *err)
{
  bool made;
  uint32_t ended_by;
  if (!pg_row_fate(xact, &made, &ended_by, row, err))
    return false;
  if (!made || ended_by != 0)
    return true;
  const uint8_t *p = row->tuple.data + row->tuple.hoff;
  if (row->tuple.len - row->tuple.hoff < DB_END)
    return host_fail(err, "a row of pg_database is too short");
  pg_database *db = pg_vec_add(databases, sizeof *db);
  if (db == NULL)
    return pg_no_memory(err);
  db->oid = pg_u32(p + DB_OID);
  db->tablespace = pg_u32(p + DB_TABLESPACE);
  memcpy(db->name, p + DB_NAME, sizeof db->name - 1);
  return true;
}

static bool read_databases(pg_cluster *c, host_error *err)
{
  uint32_t file = pg_relmap_file(&c->shared_map, OID_DATABASE);
  char path[PG_PATH_MAX];
  if (file == 0)
    return host_fail(err, "%.500s/global/pg_filenode.map: has no entry for pg_database", c->path);
  if (!pg_path(path, err, "%s/global/%u", c->path, file))
    return false;
  pg_heap_scan scan;
  if (!pg_heap_scan_begin(&scan, path, c->control.checksums != 0, err))
    return false;
  pg_vec databases = {0};
  pg_row row;
  bool ok, found = false;
  while ((ok = pg_heap_scan_next(&scan, &found, &row, err)) && found) {
    ok = take_database(&databases, c->xact, &row, err) || pg_within(err, path);
    if (!ok)
      break;
  }
  pg_heap_scan_end(&scan);
  if (ok && databases.count == 0)
    ok = host_fail(err, "%.500s: holds no database", path);
  if (databases.count > 0)
    qsort(databases.items, databases.count, sizeof(pg_database), by_oid);
  c->databases = databases.items;
  c->database_count = databases.count;
  return ok;
}

static bool check_clean(const pg_cluster *c, host_error *err)
{
  char path[PG_PATH_MAX];
  struct stat st;
  if (snprintf(path, sizeof path, "%s/postmaster.pid", c->path) < (int)sizeof path && stat(path, &st) == 0)
    return host_fail(err, "%.400s: there is a postmaster.pid, so a server is running here or has crashed; stop it", c->path);
  if (c->control.state == PG_STATE_SHUT_DOWN)
    return true;
  return host_fail(err,
                   "%.400s: the server was not stopped cleanly as a primary (pg_control says: %s), so the catalogs on disk "
                   "may be older than the WAL; let a server recover it (a standby: promote it) and stop it, then read it "
                   "again",
                   c->path, pg_control_state_name(c->control.state));
}

bool pg_cluster_open(pg_cluster **out, const char *datadir, host_error *err)
{
  *out = NULL;
  struct stat st;
  if (stat(datadir, &st) == 0 && !S_ISDIR(st.st_mode))
    return host_fail(err, "%.500s: is not a directory", datadir);
  pg_cluster *c = calloc(1, sizeof *c);
  if (c == NULL)
    return pg_no_memory(err);
  char global[PG_PATH_MAX];
  size_t len = strlen(datadir) + 1;
  c->path = malloc(len);
  bool ok = c->path != NULL || pg_no_memory(err);
  if (ok)
    memcpy(c->path, datadir, len);
  ok = ok && pg_path(global, err, "%s/global", datadir) && pg_control_read(&c->control, datadir, err) &&
       check_clean(c, err);
  if (ok) {
    c->format = c->control.format;
    ok = pg_relmap_read(&c->shared_map, global, c->format, err) &&
         pg_xact_open(&c->xact, datadir, &c->control, err) && read_databases(c, err);
  }
  if (!ok) {
    pg_cluster_close(c);
    return false;
  }
  *out = c;
  return true;
}

void pg_cluster_close(pg_cluster *c)
{
  if (c == NULL)
    return;
  pg_xact_close(c->xact);
  free(c->databases);
  free(c->path);
  free(c);
}

bool pg_cluster_database(const pg_database **out, const pg_cluster *c, const char *name, host_error *err)
{
  char list[400] = "";
  size_t used = 0;
  for (size_t i = 0; i < c->database_count; i++) {
    const char *have = c->databases[i].name;
    size_t len = strlen(have);
    if (strcmp(have, name) == 0) {
      *out = &c->databases[i];
      return true;
    }
    if (used + len + 3 < sizeof list) {
      memcpy(list + used, ", ", 3);
      used += used > 0 ? 2 : 0; /* the first name overwrites it */
      memcpy(list + used, have, len + 1);
      used += len;
    }
  }
  *out = NULL;
  return host_fail(err, "there is no database \"%.64s\" in %.200s; there are: %s", name, c->path, list);
}

const pg_database *pg_cluster_database_by_oid(const pg_cluster *c, uint32_t oid)
{
  for (size_t i = 0; i < c->database_count; i++)
    if (c->databases[i].oid == oid)
      return &c->databases[i];
  return NULL;
}
