#!/bin/sh
# The command that the README gives for seeing it work: it ends in a report that proves the result, and in drawings.
#   demo.sh SOURCE_DIR WORK_DIR
set -eu
source=$1 work=$2
mkdir -p "$work"
"$source"/examples/demo.sh --workers 3 >"$work/printed" 2>&1 || {
  tail -n 30 "$work/printed"
  exit 1
}
for words in "PostgreSQL 15" "order violations: 0" "parallel result equal to serial: yes" "PROVED:"; do
  grep -qF "$words" "$work/printed" || {
    echo "demo.sh: \"$words\" is not in the report:"
    cat "$work/printed"
    exit 1
  }
done
drawings=$(sed -n 's/^ *\(\/.*\.svg\)$/\1/p' "$work/printed")
[ "$(echo "$drawings" | wc -l)" -eq 2 ]
for file in $drawings; do
  head -c 200 "$file" | grep -q "<svg"
  tail -n 1 "$file" | grep -q "</svg>"
done
