#!/bin/sh
# Runs a command beside a throw-away PostgreSQL server and takes its exit status over.
#
#   tests/support/with-postgres.sh COMMAND [ARGUMENT...]        PGBIN=/path/to/bin may be set
#
# The server is private: its own directory below TMPDIR, one unix socket there, no network; it is stopped and removed at
# the end. The command finds it by PGHOST, PGUSER and PGDATABASE, its programs by PGBIN, its files by PGDATA. Lines in
# PGCONF are appended to its configuration. Without a server to start, the status is 77 and the reason is said: CTest
# shows such a test as skipped.
set -eu
PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}
LC_ALL=C
export LC_ALL
# What the caller's environment says about other servers does not concern this one.
unset PGHOSTADDR PGPORT PGPASSWORD PGSERVICE PGOPTIONS PGSSLMODE PGTZ PGDATESTYLE 2>/dev/null || :

skip() { echo "NOT RUN: $*" >&2; exit 77; }
[ -x "$PGBIN/initdb" ] || skip "no PostgreSQL server in $PGBIN (Debian: apt-get install postgresql-15), or set PGBIN"
[ -x "$PGBIN/psql" ] || skip "no psql in $PGBIN"

# PostgreSQL refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 || skip "run as root, and there is no user postgres to run the server as"
  as="setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env"
fi
top=$(mktemp -d "${TMPDIR:-/tmp}/twpa-server.XXXXXX")
data=$top/data
[ -z "$as" ] || chown postgres "$top"
chmod 755 "$top"
pg() { cmd=$1; shift; (cd "$top" && $as env LC_ALL=C "$PGBIN/$cmd" "$@"); }
running=
cleanup() {
  status=$?
  trap - EXIT INT TERM
  [ -z "$running" ] || pg pg_ctl -D "$data" -m immediate -w stop >/dev/null 2>&1 || :
  rm -rf "$top"
  exit $status
}
trap cleanup EXIT
trap 'exit 1' INT TERM

pg initdb -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-instructions --no-sync >"$top/initdb.log" 2>&1 ||
  { cat "$top/initdb.log" >&2; exit 1; }
cat >>"$data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$top'
fsync = off
shared_buffers = 16MB
timezone = 'UTC'
${PGCONF:-}
CONF
pg pg_ctl -D "$data" -l "$top/server.log" -w start >/dev/null 2>&1 || { cat "$top/server.log" >&2; exit 1; }
running=1
PGHOST=$top PGUSER=postgres PGDATABASE=postgres PGDATA=$data
export PGBIN PGHOST PGUSER PGDATABASE PGDATA
"$@"
