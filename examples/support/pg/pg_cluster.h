/*
 * A cold data directory as a whole: its version and control file, its shared map of relation files, its commit log, the
 * list of its databases. Read-only; nothing in the directory is ever written.
 *
 * The catalogs that are read from the data files are those of the end of the WAL only if the server was stopped cleanly
 * as a primary: then everything is on disk. After a crash, or in a copy of a running server, the files may lag behind the
 * WAL by as much as a checkpoint interval, and rows decoded with them could silently be wrong. A standby that was stopped
 * in recovery is no better: if no checkpoint record was replayed since its last restart point, it stops without writing
 * its buffers. Such a directory is refused, with its state and the way out in the message.
 */
#ifndef SUPPORT_PG_CLUSTER_H
#define SUPPORT_PG_CLUSTER_H

#include "support/pg/pg_control.h"
#include "support/pg/pg_relmap.h"
#include "support/pg/pg_xact.h"

typedef struct pg_database {
  uint32_t oid;
  uint32_t tablespace; /* its default */
  char name[64];
} pg_database;

typedef struct pg_cluster {
  char *path;
  const pg_format *format;
  pg_control control;
  pg_relmap shared_map;
  pg_xact *xact;
  pg_database *databases; /* by oid, rising; also those whose files are not there */
  size_t database_count;
} pg_cluster;

/* Opens a data directory. On failure *out is NULL. */
bool pg_cluster_open(pg_cluster **out, const char *datadir, host_error *err);
void pg_cluster_close(pg_cluster *cluster);

/* A database by name; the message lists the names there are. */
bool pg_cluster_database(const pg_database **out, const pg_cluster *cluster, const char *name, host_error *err);

/* A database by oid, or NULL. */
const pg_database *pg_cluster_database_by_oid(const pg_cluster *cluster, uint32_t oid);

#endif
