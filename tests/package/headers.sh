#!/bin/sh
# Every public header compiles alone, as C99 and as C++11, without a warning, with each compiler that is here; all of them,
# and what is said about their sizes, also for a machine of 32 bits.
#   headers.sh SOURCE_DIR WORK_DIR COMPILER...
set -eu
source=$1 work=$2
shift 2
rm -rf "$work"
mkdir -p "$work"
count=0
for h in "$source"/include/twpa/*.h; do
  name=$(basename "$h" .h)
  # Twice, for the guard; and a user who defines nothing must not need anything else first.
  printf '#include <twpa/%s.h>\n#include <twpa/%s.h>\n' "$name" "$name" | tee "$work/$name.c" >"$work/$name.cc"
  guard=TWPA_$(echo "$name" | tr '[:lower:]' '[:upper:]')_H
  grep -q "^#ifndef $guard\$" "$h" || { echo "headers.sh: $h has no guard $guard" >&2; exit 1; }
  if [ "$name" != twpa ] && ! grep -q "^#include <twpa/$name.h>\$" "$source/include/twpa/twpa.h"; then
    echo "headers.sh: twpa.h does not include $name.h" >&2
    exit 1
  fi
  count=$((count + 1))
done
[ $count -gt 3 ] || { echo "headers.sh: no headers in $source/include/twpa" >&2; exit 1; }
flags="-fsyntax-only -I$source/include -Wall -Wextra -Wpedantic -Wundef -Wshadow -Werror"
tried=0
for compiler in "$@"; do
  if ! command -v "$compiler" >/dev/null 2>&1; then
    echo "headers.sh: $compiler is not here, left out"
    continue
  fi
  case $compiler in
  # shellcheck disable=SC2086
  *++*) "$compiler" -std=c++11 $flags -Wold-style-cast "$work"/*.cc ;;
  # shellcheck disable=SC2086
  *) "$compiler" -std=c99 $flags -Wstrict-prototypes "$work"/*.c
     narrow="-m32 -ffreestanding -std=c11" # a C library for it need not be here
     if echo '#include <stdint.h>' | "$compiler" $narrow -fsyntax-only -xc - 2>/dev/null; then
       "$compiler" $narrow $flags "$work/twpa.c" "$source/tests/package/abi_sizes.c"
     fi ;;
  esac
  echo "headers.sh: $count headers, $compiler"
  tried=$((tried + 1))
done
[ $tried -gt 0 ] || { echo "headers.sh: none of the compilers is here: $*" >&2; exit 1; }
