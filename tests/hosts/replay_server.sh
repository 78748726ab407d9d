#!/bin/sh
# twpa-replay on the directory of an ordinary PostgreSQL 15 server: running, never logical, with several databases, and after
# a load with schema changes in the middle of it.
#
#   tests/support/with-postgres.sh sh replay_server.sh TWPA_REPLAY
set -eu
replay=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/twpa-replay.XXXXXX")
trap 'rm -rf "$work"' EXIT
as=
[ "$(id -u)" != 0 ] || as="setpriv --reuid=postgres --regid=postgres --clear-groups --reset-env"
server() { # server start | stop
  (cd / && $as env LC_ALL=C "$PGBIN/pg_ctl" -D "$PGDATA" -m fast -w "$@" -l "$PGDATA/log") >/dev/null
}
sql() { "$PGBIN/psql" -X -q -At -v ON_ERROR_STOP=1 "$@"; }
problem() {
  echo "replay_server.sh: $*"
  cat "$work/out" "$work/err"
  exit 1
}
# refused WORDS [OPTION...]: exit status 1, nothing on standard output, one line with these words.
refused() {
  words=$1
  shift
  status=0
  "$replay" -D "$PGDATA" "$@" >"$work/out" 2>"$work/err" || status=$?
  [ $status = 1 ] || problem "exit status $status where \"$words\" was expected"
  [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] || problem "more than one line"
  grep -qF "$words" "$work/err" || problem "no \"$words\""
}
proved() {
  "$replay" -D "$PGDATA" "$@" >"$work/out" 2>"$work/err" || problem "exit status $?"
  grep -q '^PROVED' "$work/out" || problem "not proved"
}
at_least() { # at_least NUMBER NAME [OPTION...]: what --json says
  least=$1 name=$2
  shift 2
  "$replay" -D "$PGDATA" --json "$@" >"$work/out" 2>"$work/err" || problem "exit status $?"
  n=$(sed -n "s/.*\"$name\": \([0-9]*\).*/\1/p" "$work/out")
  [ "${n:-0}" -ge "$least" ] || problem "$name: $n, expected at least $least"
}

sql -c 'create table early (id int primary key)' -c 'insert into early select generate_series(1, 100)'
refused "$PGDATA"
server stop
refused "wal_level was below logical" --database postgres

echo "wal_level = logical" >>"$PGDATA/postgresql.conf"
server start
sql -c 'create table p (id int primary key, u text unique, v int)' \
  -c 'create table c (id serial primary key, p int references p on delete cascade, t text)' \
  -c 'create table f (a int, b text)' -c 'alter table f replica identity full' \
  -c 'create table part (k int primary key, v text) partition by range (k)' \
  -c 'create table part1 partition of part for values from (0) to (100)' \
  -c 'create table ref (id int primary key, k int references part)'
sql -c checkpoint # writes the record of running transactions at which reading begins
load() { # load SESSION
  awk -v s="$1" 'BEGIN {
    srand(s)
    for (i = 0; i < 150; i++) {
      k = int(rand() * 40); x = s * 1000 + i
      r = int(rand() * 8)
      if (r == 0) print "insert into p values (" k ", \047u" k "\047, 0) on conflict do nothing;"
      else if (r == 1) print "update p set v = v + 1 where id = " k ";"
      else if (r == 2) print "insert into c (p, t) select id, \047t" x "\047 from p where id = " k ";"
      else if (r == 3) print "delete from p where id = " k ";"
      else if (r == 4) print "begin; insert into f values (" k % 3 ", \047x\047); savepoint a; delete from f where ctid = (select min(ctid) from f where a = " k % 3 "); " (rand() < 0.5 ? "rollback to a;" : "") " commit;"
      else if (r == 5) print "update p set u = \047v" x "\047 where id = " k ";"
      else if (r == 6) print "insert into part values (" k ", repeat(\047long\047, 2000)) on conflict (k) do update set v = repeat(md5(random()::text), 500);"
      else print "insert into ref select " x ", k from part where k = " k ";"
    }
  }' | sql -f - >/dev/null 2>&1 || :
}
load 1 & load 2 & load 3 & wait
sql -c 'alter table p add column w int default 7' -c 'create unique index on c (t)' -c 'alter table c alter t type varchar(80)' \
  -c 'alter table f alter b type bytea using b::bytea' -c 'truncate part cascade' -c 'analyze'
load 4 & load 5 & load 6 & wait
server stop
for workers in 1 4 16; do
  proved --workers $workers
  proved --workers $workers --commit-order off --unknown wait --jitter $workers
done
at_least 400 transactions
at_least 3 "catalog change"

server start
sql -c 'create database other'
sql -d other -c 'create table t (id int primary key)' -c 'insert into t values (1), (2)'
server stop
refused 'several databases have changes in the WAL: "postgres", "other"'
proved --database other
at_least 1 transactions --database other
refused "nowhere" --database nowhere
