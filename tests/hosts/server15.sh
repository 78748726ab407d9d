#!/bin/sh
# Makes a throw-away PostgreSQL 15 cluster with about everything that catalogs can hold, writes down what the server itself
# says about it, and stops it: material for test_pg_server. Exit status 77: there is no server to ask.
#
#   server15.sh DIRECTORY      (empty; gets data/, space/, relations.txt, columns.txt, indexes.txt, keys.txt, types.txt,
#                               files.txt, values.txt)        PGBIN=/path/to/bin may be set
set -eu
top=$1
PGBIN=${PGBIN:-/usr/lib/postgresql/15/bin}
LC_ALL=C TZ=UTC
export LC_ALL TZ
unset PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS PGDATA PGSSLMODE 2>/dev/null || :
[ -x "$PGBIN/initdb" ] || { echo "no PostgreSQL 15 server in $PGBIN"; exit 77; }
case $("$PGBIN/postgres" --version) in *" 15."*) ;; *) echo "$PGBIN is not PostgreSQL 15"; exit 77 ;; esac
as=
if [ "$(id -u)" = 0 ]; then # a server refuses to run as root
  id postgres >/dev/null 2>&1 || { echo "run as root, and there is no user postgres"; exit 77; }
  as="setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env"
  chown postgres "$top"
  $as test -w "$top" || { echo "the user postgres cannot reach $top"; exit 77; }
fi
chmod 755 "$top"
pg() { cmd=$1; shift; (cd "$top" && $as env LC_ALL=C TZ=UTC "$PGBIN/$cmd" "$@"); }
running=
cleanup() {
  status=$?
  trap - EXIT
  [ -z "$running" ] || pg pg_ctl -D data -m immediate -w stop >/dev/null 2>&1 || :
  exit $status
}
trap cleanup EXIT
trap 'exit 1' INT TERM
sql() { pg psql -X -q -At -v ON_ERROR_STOP=1 -h "$top" -U postgres "$@"; }

pg initdb -D data -U postgres -A trust -E UTF8 --locale=C --wal-segsize=1 --data-checksums --no-sync --no-instructions \
  >"$top/initdb.log"
cat >>"$top/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$top'
wal_level = logical
max_prepared_transactions = 5
autovacuum = off
fsync = off
full_page_writes = on
shared_buffers = 16MB
max_wal_size = 1GB
wal_keep_size = 1GB
log_min_messages = fatal
timezone = 'UTC'
CONF
pg pg_ctl -D data -l log -w start >/dev/null
running=1
mkdir "$top/space"
[ -z "$as" ] || chown postgres "$top/space"
sql -d postgres -c "create tablespace other location '$top/space'" -c "create database home tablespace other"
sql -d home -f - <"$(dirname "$0")/server15.sql" >/dev/null
# This fails and leaves an invalid index behind.
if sql -d home -c "create unique index concurrently broken_a on broken (a)" 2>/dev/null; then exit 1; fi

# Two sessions meet on one row of pg_class: a multixact of a key share lock and an update.
sql -d home -c "begin; select 1 from pg_class where relname = 'met' for key share; select pg_sleep(1); commit" >/dev/null &
locker=$!
n=0
until [ "$(sql -d home -c "select count(*) from pg_stat_activity where query like '%pg_sleep(1)%' and pid <> pg_backend_pid()")" = 1 ]; do
  n=$((n + 1))
  [ $n -lt 100 ] || exit 1
  sleep 0.05
done
sleep 0.2
sql -d home -c "alter table met set (fillfactor = 50)" -c "begin; select 1 from pg_class where relname = 'plain' for share; commit" >/dev/null
wait $locker

out() { sql -d home -F '|' -c "$2" >"$top/$1.txt"; }
out relations "select c.oid, n.nspname, c.relname, c.relkind, c.relpersistence, c.relreplident, c.relisshared::int,
    case when c.relkind in ('r','i','t','m','S') then pg_relation_filenode(c.oid) else 0 end,
    case when c.relkind not in ('r','i','t','m','S') then 0 when c.relisshared then 1664 else
    coalesce(nullif(c.reltablespace, 0), d.dattablespace) end, c.reltoastrelid, c.relnatts, coalesce(i.inhparent, 0),
    coalesce(case when c.relispartition then pg_partition_root(c.oid)::oid end, c.oid),
    coalesce('user_catalog_table=true' = any (c.reloptions), false)::int, coalesce(o.oid, 0),
    coalesce(k.indexrelid, 0)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_database d on d.datname = current_database()
    left join pg_inherits i on i.inhrelid = c.oid and c.relispartition
    left join pg_class o on o.reltoastrelid = c.oid and c.relkind = 't'
    left join pg_index k on k.indrelid = c.oid and
      ((c.relreplident = 'd' and k.indisprimary and k.indimmediate) or (c.relreplident = 'i' and k.indisreplident))
  where c.relpersistence <> 't' order by 1"
out columns "with recursive b as (select oid, typtype, typbasetype, oid as base from pg_type
    union all select b.oid, t.typtype, t.typbasetype, t.oid from b join pg_type t on t.oid = b.typbasetype where b.typtype = 'd')
  select a.attrelid, a.attnum, a.attname, a.atttypid, coalesce((select base from b where b.oid = a.atttypid and b.typtype <> 'd'), 0),
    a.atttypmod, a.attlen, a.attalign, a.attbyval::int, a.attnotnull::int, a.attisdropped::int, a.attgenerated, a.attcollation,
    coalesce((select not collisdeterministic from pg_collation l where l.oid = a.attcollation), false)::int,
    coalesce(a.attmissingval::text, '')
  from pg_attribute a join pg_class c on c.oid = a.attrelid where a.attnum > 0 and c.relpersistence <> 't' order by 1, 2"
out indexes "select i.indexrelid, c.relname, i.indrelid, i.indisunique::int, i.indisprimary::int, i.indimmediate::int,
    (i.indisvalid and i.indisready and i.indislive)::int, i.indisreplident::int, i.indisexclusion::int,
    i.indnullsnotdistinct::int, (i.indpred is not null)::int, (i.indexprs is not null)::int, i.indnkeyatts,
    (select string_agg(i.indkey[k] || ':' || i.indcollation[k] || ':' || i.indclass[k] || ':' ||
       (select opcintype from pg_opclass o where o.oid = i.indclass[k]) || ':' || coalesce((select not collisdeterministic from pg_collation l where l.oid = i.indcollation[k]), false)::int, ' ' order by k)
     from generate_series(0, i.indnkeyatts - 1) k)
  from pg_index i join pg_class c on c.oid = i.indexrelid where c.relpersistence <> 't' order by 1"
out keys "select oid, conname, conrelid, confrelid, conindid, array_to_string(conkey, ' '), array_to_string(confkey, ' '),
    confupdtype, confdeltype, confmatchtype, condeferrable::int, condeferred::int, convalidated::int, conparentid
  from pg_constraint where contype = 'f' order by 1"
out types "select oid, typname, typlen, typalign, typbyval::int, typtype, typelem from pg_type order by 1"
out files "select * from old_files order by 1"
out values "select tab, line, col, txt from shown order by 1, 2, 3"
pg pg_ctl -D data -m fast -w stop >/dev/null
running=
[ -z "$as" ] || chmod -R a+rX "$top"
