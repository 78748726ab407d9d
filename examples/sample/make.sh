#!/bin/sh
# Makes pg15-sample.tar.xz: a small cold PostgreSQL 15 data directory, only the files that twpa-replay and the tests read,
# with the server's own account of what happened. README.md in this folder tells what is inside.
#
#   examples/sample/make.sh [OUTPUT.tar.xz]      PGBIN=/path/to/bin SEED=1 SESSIONS=8 COUNT=450 may be set
#
# The server is private: its own directory below TMPDIR, one unix socket there, no network. It is stopped and removed at the end.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/pg15-sample.tar.xz}
PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}
SEED=${SEED:-1} SESSIONS=${SESSIONS:-8} COUNT=${COUNT:-450}
LC_ALL=C TZ=UTC
export LC_ALL TZ
# What the caller's environment says about other servers does not concern this one.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS PGDATA PGSSLMODE 2>/dev/null || :

fail() { echo "make.sh: $*" >&2; exit 1; }
[ -x "$PGBIN/initdb" ] || fail "no PostgreSQL 15 server in $PGBIN (Debian: apt-get install postgresql-15), or set PGBIN"
case $("$PGBIN/postgres" --version) in *" 15."*) ;; *) fail "$PGBIN holds $("$PGBIN/postgres" --version), not PostgreSQL 15" ;; esac
command -v xz >/dev/null || fail "xz is missing (Debian: apt-get install xz-utils)"

# PostgreSQL refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
  id postgres >/dev/null 2>&1 || fail "run as root, and there is no user postgres to run the server as"
  as="setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env"
fi
top=$(mktemp -d "${TMPDIR:-/tmp}/twpa-sample.XXXXXX")
data=$top/data
[ -z "$as" ] || chown postgres "$top"
chmod 755 "$top"
pg() { cmd=$1; shift; (cd "$top" && $as env LC_ALL=C TZ=UTC "$PGBIN/$cmd" "$@"); }
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
sql() { pg psql -X -q -At -v ON_ERROR_STOP=1 -h "$top" -U postgres -d sample "$@"; }

echo "make.sh: server $("$PGBIN/postgres" --version)"
pg initdb -D "$data" -U postgres -A trust -E UTF8 --locale=C --wal-segsize=1 --no-instructions >"$top/initdb.log"
cat >>"$data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$top'
wal_level = logical
max_prepared_transactions = 20
autovacuum = off
fsync = off
checkpoint_timeout = 1h
max_wal_size = 4GB
wal_keep_size = 2GB
deadlock_timeout = 50ms
log_min_messages = fatal
timezone = 'UTC'
CONF
pg pg_ctl -D "$data" -l "$top/server.log" -w start >/dev/null || { cat "$top/server.log" >&2; fail "the server did not start"; }
running=1
pg createdb -h "$top" -U postgres sample
sql <"$here/setup.sql"
# The recorded part begins on a fresh segment, after a checkpoint: the first change of each page carries the whole page.
sql -c "CHECKPOINT" -c "SELECT pg_switch_wal()" >/dev/null
sql -c "SELECT slot_name, lsn FROM pg_create_logical_replication_slot('sample', 'test_decoding')" >"$top/slot"
restart=$(sql -c "SELECT restart_lsn FROM pg_replication_slots WHERE slot_name = 'sample'")
first=$(sql -c "SELECT pg_walfile_name('$restart')")

echo "make.sh: load, $SESSIONS sessions x $COUNT transactions"
pids= i=0
while [ $i -lt "$SESSIONS" ]; do
  awk -v session=$i -v seed="$SEED" -v count="$COUNT" -f "$here/session.awk" >"$top/session-$i.sql"
  pg psql -X -h "$top" -U postgres -d sample -f "$top/session-$i.sql" >"$top/session-$i.out" 2>&1 &
  pids="$pids $!" i=$((i + 1))
done
# In the middle of it: a checkpoint with transactions open, and a table that is written anew under a new file number.
sleep 1
sql -c "CHECKPOINT" -c "VACUUM FULL counters"
for p in $pids; do wait "$p" || fail "a session of the load ended early"; done
[ "$(sql -c 'SELECT count(*) FROM pg_prepared_xacts')" = 0 ] || fail "a prepared transaction was left behind"

echo "make.sh: the server's own answer"
sql -c "SELECT data FROM pg_logical_slot_peek_changes('sample', NULL, NULL, 'include-xids', '1', 'skip-empty-xacts', '0')" \
  >"$top/expected.txt"
# The catalogs that resolve a row, with their toast tables, wherever they are stored now.
files=$(sql -c "SELECT pg_relation_filepath(o) FROM pg_class c, unnest(ARRAY[c.oid, nullif(c.reltoastrelid, 0)]) o
  WHERE o IS NOT NULL AND c.relnamespace = 'pg_catalog'::regnamespace AND c.relname IN (
  'pg_class', 'pg_attribute', 'pg_index', 'pg_namespace', 'pg_type', 'pg_constraint', 'pg_inherits', 'pg_collation',
  'pg_opclass', 'pg_database') ORDER BY 1")
base=base/$(sql -c "SELECT oid FROM pg_database WHERE datname = 'sample'")
pg pg_ctl -D "$data" -m fast -w stop >/dev/null
running=
last=$(pg pg_controldata "$data" | awk '/REDO WAL file/ { print $NF }')

pack=$top/pg15-sample
mkdir "$pack"
(cd "$data" && ls pg_wal | awk -v a="$first" -v b="$last" 'length($0) == 24 && $0 >= a && $0 <= b { print "pg_wal/" $0 }') \
  >"$top/list"
for f in PG_VERSION global/pg_control global/pg_filenode.map "$base/PG_VERSION" "$base/pg_filenode.map" \
  pg_replslot/sample/state $files $(cd "$data" && find pg_xact pg_multixact -type f); do
  echo "$f"
done >>"$top/list"
while read -r f; do
  mkdir -p "$pack/data/$(dirname "$f")"
  cp "$data/$f" "$pack/data/$f"
done <"$top/list"
cp "$top/expected.txt" "$top/slot" "$pack"
chmod -R u=rwX,go=rX "$pack"
(cd "$top" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - pg15-sample) | xz -9e -T1 >"$out.new"
mv "$out.new" "$out"

echo "make.sh: WAL $(ls "$pack/data/pg_wal" | wc -l) MiB, $(grep -c '^COMMIT' "$top/expected.txt") transactions," \
  "$(grep -c '^table' "$top/expected.txt") changes, $(grep -h ERROR "$top"/session-*.out | wc -l) failed statements"
grep -h ERROR "$top"/session-*.out | sed 's/.*ERROR: *//; s/"[^"]*"/.../g; s/[0-9][0-9]*/N/g' | sort | uniq -c | sort -rn | head
echo "make.sh: $out, $(wc -c <"$out") bytes"
