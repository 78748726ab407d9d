#!/bin/sh
# The whole test suite, from a fresh clone to the verdict: installs what is missing (Debian, as root), configures, builds, runs.
#
#   tests/run.sh [PRESET [CTEST-OPTION...]]     PRESET: dev (default), release, asan, tsan, coverage
#
# The exit status tells. The first run on a fresh machine needs the network for Debian's packages, later ones do not.
set -eu
cd "$(dirname "$0")/.."
. cmake/require.sh
case ${1:-dev} in
-h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
dev | release | asan | tsan | coverage) preset=${1:-dev} ;;
*) fail "no such preset: $1 (dev, release, asan, tsan, coverage)" ;;
esac
[ $# = 0 ] || shift

require compiler c++ make cmake pkg-config xxhash uthash check binutils
say "configuring build/$preset"
cmake --preset "$preset" $(launcher) >/dev/null || fail "cmake could not configure build/$preset"
say "building, $(cores) at a time"
cmake --build --preset "$preset" -j "$(cores)" >"build/$preset/build.log" 2>&1 || {
  grep -nE 'error|Error|undefined' "build/$preset/build.log" | head -n 40 >&2 || :
  fail "the build failed; all of its output is in build/$preset/build.log"
}
say "running the suite"
ctest --preset "$preset" -j "$(cores)" "$@"
