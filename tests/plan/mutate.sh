#!/bin/sh
# Is the oracle awake? Breaks the planner in one way after the other, in a copy, and demands that the tests notice.
#
#   tests/plan/mutate.sh                  all mutations; a few minutes
#   tests/plan/mutate.sh WORD             those whose name contains the word
#   tests/plan/mutate.sh --check          only whether each still fits the sources; a second
#
# A mutation is a sed script for one file and the tests that have to fail. One that no longer changes its file is an error:
# adapt it. "harmless" ones must not be noticed: what they do costs parallelism and nothing else. CMAKE_ARGS go to cmake.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
only=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/twpa-mutate.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir "$work/src"
(cd "$top" && tar cf - CMakeLists.txt cmake include lib tests/CMakeLists.txt tests/support tests/plan) | (cd "$work/src" && tar xf -)
src=$work/src
tests="plan_pairs plan_oracle plan_interleave plan_small plan_cases plan_scheduler plan_scheduler_model"
count=0 bad=0

if [ "$only" != --check ]; then
  # Only the planner's tests, without the library's assertions: the tests have to notice.
  sed -i -e '/^twpa_archive(/d' -e '/add_subdirectory(base)/d' -e '/add_subdirectory(decode)/d' -e '/add_subdirectory(package)/d' \
    "$src/tests/CMakeLists.txt"
  sed -i '/add_subdirectory(examples)/d' "$src/CMakeLists.txt"
  cmake -S "$src" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DTWPA_WERROR=OFF -DTWPA_ASSERT_LEVEL=0 \
    -DTWPA_BUILD_EXAMPLES=OFF -DTWPA_BUILD_BENCH=OFF -DTWPA_BUILD_DOCS=OFF ${CMAKE_ARGS:-} >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
fi

# build TESTS: 0 if they are built
build() {
  # shellcheck disable=SC2046,SC2086
  cmake --build "$work/build" -j"$(nproc)" --target $(printf 'test_%s ' $1) >"$work/log" 2>&1
}

# passes TEST: 0 if it passes
passes() {
  timeout 300 "$work/build/tests/plan/test_$1" >"$work/out" 2>&1
}

# mutation NAME FILE SED TEST...: each of the tests has to fail. "harmless" before the name: none may.
mutation() {
  want=1
  [ "$1" != harmless ] || { want=0; shift; }
  name=$1 file=$2 script=$3
  shift 3
  case $only in --check | '') ;; *) case $name in *"$only"*) ;; *) return 0 ;; esac ;; esac
  count=$((count + 1))
  cp "$src/lib/plan/$file" "$work/saved"
  sed -e "$script" "$work/saved" >"$src/lib/plan/$file"
  if cmp -s "$work/saved" "$src/lib/plan/$file"; then
    echo "DOES NOT FIT  $name: nothing changes in $file"
    bad=$((bad + 1))
  elif [ "$only" != --check ]; then
    verdict "$@"
  fi
  cp "$work/saved" "$src/lib/plan/$file"
}

verdict() {
  if ! build "$*"; then
    echo "NOT BUILT     $name"
    sed -n '/error/p' "$work/log" | head -3
    bad=$((bad + 1))
    return
  fi
  for test in "$@"; do
    if passes "$test"; then got=0; else got=1; fi
    if [ $got = $want ]; then
      reason=$(grep -a -m1 -o -- '^--- .*' "$work/out" || :)
      echo "ok            $name: $test ${reason:-}"
    elif [ $want = 1 ]; then
      echo "NOT NOTICED   $name: $test passes"
      bad=$((bad + 1))
    else
      echo "NOT HARMLESS  $name: $test fails"
      grep -a -A40 -- '^--- ' "$work/out" | head -40 || :
      bad=$((bad + 1))
    fi
  done
}

if [ "$only" != --check ]; then
  build "$tests" || { tail -20 "$work/log"; exit 1; }
fi
. "$top/tests/plan/mutations.sh"
echo "mutate.sh: $count mutations, $bad bad"
[ $bad = 0 ] && [ $count -gt 0 ]
