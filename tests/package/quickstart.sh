#!/bin/sh
# examples/quickstart.c prints what it should, and is still one page.
#   quickstart.sh SOURCE_DIR PROGRAM
set -eu
lines=$(wc -l <"$1/examples/quickstart.c")
echo "quickstart.sh: $lines lines"
[ "$lines" -lt 120 ]
"$2" | diff "$1/tests/package/quickstart.expected" -
