#!/bin/sh
# The first program of the README compiles without a warning, is as short as it says, and prints what the README shows.
#   readme.sh SOURCE_DIR WORK_DIR CC LIBRARY [OPTION-OF-CC]
set -eu
source=$1 work=$2 cc=$3 library=$4 option=${5:-}
rm -rf "$work"
mkdir -p "$work"
block() { # block LANGUAGE: the first block of that language after the heading
  awk -v fence='```'"$1" '/^## A first program/ { on = 1 } on && $0 == fence { inside = 1; next } inside && /^```/ { exit } inside' \
    "$source/README.md"
}
block c >"$work/first.c"
block text >"$work/expected"
[ -s "$work/first.c" ] && [ -s "$work/expected" ]
lines=$(grep -vc '^$' "$work/first.c")
echo "readme.sh: $lines lines"
[ "$lines" -le 40 ]
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror -I "$source/include" -o "$work/first" "$work/first.c" "$library" \
  -Wl,-rpath,"$(dirname "$library")" $option
"$work/first" >"$work/printed"
diff "$work/expected" "$work/printed"
