#!/bin/sh
# The main job on the sample, from a fresh clone to a report: installs what is missing (Debian, as root), builds twpa-replay,
# unpacks the cold PostgreSQL 15 data directory of examples/sample, decodes its WAL, applies it in parallel and proves the
# result equal to serial apply. Drawings are written as SVG.
#
#   examples/demo.sh [OPTION OF twpa-replay...]      such as --workers 16 or --commit-order off
#
# The first run on a fresh machine needs the network for Debian's packages, later ones do not.
set -eu
cd "$(dirname "$0")/.."
. cmake/require.sh
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
build=build/demo

require compiler make cmake xxhash uthash
say "building twpa-replay in $build"
mkdir -p $build
{
  cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DTWPA_BUILD_TESTS=OFF -DTWPA_BUILD_BENCH=OFF $(launcher) &&
    cmake --build $build --target twpa-replay -j "$(cores)"
} >$build/build.log 2>&1 || {
  tail -n 30 $build/build.log >&2
  fail "the build failed; all of its output is in $build/build.log"
}
replay=$(find $build -name twpa-replay -type f | head -n 1)
[ -x "$replay" ] || fail "the build made no twpa-replay"

say "unpacking examples/sample/pg15-sample.tar.xz into $build"
rm -rf $build/pg15-sample $build/svg
(cd $build && cmake -E tar xf ../../examples/sample/pg15-sample.tar.xz) || fail "the sample could not be unpacked"
mkdir -p $build/svg

# A store in memory takes no time: the pauses stand for the round trips to a target.
set -- -D $build/pg15-sample/data --svg $build/svg --delay 100 "$@"
say "$replay $*"
echo
"$replay" "$@" || fail "twpa-replay failed (status $?)"
echo
say "drawings, to be opened in a browser:"
for f in "$PWD/$build"/svg/*.svg; do
  [ -s "$f" ] || fail "twpa-replay drew nothing"
  echo "  $f"
done
