#!/bin/sh
# Four lists are one: the functions that the shared library exports, those marked TWPA_API in the headers, those with a
# comment for Doxygen, and those that a test calls.
#   symbols.sh SOURCE_DIR LIBRARY NM
set -eu
source=$1 library=$2 nm=$3
work=${TMPDIR:-/tmp}/twpa-symbols.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# The only symbol that is no function is the name of the version.
"$nm" -D --defined-only "$library" | awk '
$2 == "A" && $3 ~ /^TWPA_[0-9]+/ { next }
$2 != "T" || $3 !~ /^twpa_[a-z].*@@TWPA_[0-9]+$/ { print "symbols.sh: exported, and no function of the library: " $0; bad = 1 }
{ sub(/@.*/, "", $3); print $3 > "'"$work"'/exported.unsorted" }
END { exit bad }' || exit 1
sort "$work/exported.unsorted" >"$work/exported"

# A declaration begins with TWPA_API and ends with a semicolon; its name stands before the first parenthesis.
awk -v declared="$work/declared.unsorted" -v documented="$work/documented.unsorted" '
FNR == 1 { previous = "" }
/^TWPA_API/ { text = ""; collecting = 1; comment = previous ~ /\*\/[ \t]*$/ }
collecting { text = text " " $0 }
collecting && /;[ \t]*$/ {
  collecting = 0
  gsub(/TWPA_API|TWPA_NODISCARD/, "", text)
  sub(/\(.*/, "", text); sub(/[ \t]*$/, "", text); sub(/.*[ \t*]/, "", text)
  print text > declared
  if (comment) print text > documented
}
{ previous = $0 }' "$source"/include/twpa/*.h
sort "$work/declared.unsorted" >"$work/declared"
sort "$work/documented.unsorted" >"$work/documented"

find "$source/tests" -name '*.c' | xargs grep -hoE '\btwpa_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$work/called"
comm -12 "$work/declared" "$work/called" >"$work/tested"

bad=0
compare() { # compare LIST TEXT: what is declared and not in LIST
  only=$(comm -23 "$work/declared" "$work/$1" | tr '\n' ' ')
  [ -z "$only" ] || { echo "symbols.sh: declared, $2: $only"; bad=1; }
}
[ -z "$(uniq -d "$work/declared")" ] || { echo "symbols.sh: declared twice: $(uniq -d "$work/declared")"; bad=1; }
only=$(comm -13 "$work/declared" "$work/exported" | tr '\n' ' ')
[ -z "$only" ] || { echo "symbols.sh: exported, not declared: $only"; bad=1; }
compare exported "not exported"
compare documented "without a comment right before it"
compare tested "called by no test"
echo "symbols.sh: $(wc -l <"$work/declared") declared, $(wc -l <"$work/exported") exported," \
  "$(wc -l <"$work/documented") documented, $(wc -l <"$work/tested") tested"
[ $bad = 0 ] && [ "$(wc -l <"$work/declared")" -gt 3 ]
