#!/bin/sh
# Who includes whom: a file of the library includes only its own floor or lower ones, the two halves do not know each other,
# and third parties and the operating system stay where the design puts them. The table is the design.
#   floors.sh SOURCE_DIR
set -eu
cd "$1"

# folder module floor. A file belongs to the module with the longest name that its own name begins with (txn_iter.c: txn).
cat >"${TMPDIR:-/tmp}/twpa-floors.$$" <<'TABLE'
base types 0
base status 0
base version 0
base alloc 0
base pages 0
base assert 0
base sized 0
base arena 1
base list 1
base heap 1
base hash 1
base xidmap 1
base runs 1
decode change 2
decode snapshot 2
decode visibility 2
decode output 3
decode storage 2
decode txn 3
decode merge 3
decode spill 3
decode file_spill 3
decode toast 3
decode tuplecid 3
decode version 2
decode account 3
decode check 3
decode distribute 3
decode prepare 3
decode stats 3
decode deliver 3
decode end 3
decode evict 3
decode kin 3
decode queue 3
decode reorder 3
decode run 3
decode store 3
decode stream 3
decode walk 3
decode snapbuild 3
decode decoder 4
plan key 2
plan canonical 2
plan relation 3
plan access_set 3
plan accesses 3
plan derive 3
plan emit 3
plan conflicts 3
plan memory 3
plan graph 3
plan registry 3
plan finish 3
plan enter 3
plan skip 3
plan explain 3
plan dot 3
plan plan 3
plan scheduler 4
plan progress 4
plan simulate 4
plan recording 4
plan seqset 2
TABLE
trap 'rm -f "${TMPDIR:-/tmp}/twpa-floors.$$"' EXIT

find lib include/twpa -name '*.[ch]' | sort | xargs grep -nH '^[[:space:]]*#[[:space:]]*include' | awk -v table="${TMPDIR:-/tmp}/twpa-floors.$$" '
function say(text) { print where ": " text; bad++ }
# Floor of a file; folder is set. Public headers are looked for in all folders. -1: not in the table.
function floor_of(path,  name, best, found, i) {
  name = path; sub(/.*\//, "", name); sub(/\.[ch]$/, "", name)
  found = best = 0
  for (i = 1; i <= rows; i++)
    if ((path !~ /(^|\/)(base|decode|plan)\// || path ~ ("(^|/)" home[i] "/")) &&
        (name == module[i] || index(name, module[i] "_") == 1) && length(module[i]) > best) { best = length(module[i]); found = i }
  folder = found ? home[found] : ""
  return found ? floor[found] : -1
}
BEGIN {
  while ((getline line < table) > 0) { rows++; split(line, f, " "); home[rows] = f[1]; module[rows] = f[2]; floor[rows] = f[3] }
  n = split("stddef stdint stdbool string stdlib limits stdatomic float inttypes", names, " ")   # what lib/ may use of C
  for (i = 1; i <= n; i++) allowed[names[i] ".h"] = 1
}
{
  split($0, part, ":"); file = part[1]; where = file ":" part[2]
  public = file ~ /^include\//
  text = $0; sub(/^[^:]*:[^:]*:/, "", text)
  quoted = text ~ /"/
  target = text; sub(/^[^<"]*[<"]/, "", target); sub(/[>"].*/, "", target)
  seen++
  own = floor_of(file); own_folder = folder
  if (file == "include/twpa/twpa.h") { if (target !~ /^twpa\//) say("the umbrella includes public headers only"); next }
  if (own < 0) { say("module not in the table of tests/package/floors.sh"); next }
  if (target == "xxhash.h") { if (file !~ /^lib\/base\/hash(_avx2)?\.c$/) say("only lib/base/hash.c and hash_avx2.c include xxHash"); next }
  if (target == "uthash.h") { if (file != "lib/base/xidmap.c") say("only lib/base/xidmap.c includes uthash"); next }
  if (target ~ /^twpa\// || quoted) {
    if (public && target !~ /^twpa\//) say("a public header includes public headers only")
    if (target == "twpa/twpa.h") { say("the umbrella is for users"); next }
    theirs = floor_of(target)
    if (theirs < 0) say("includes " target ", which is not in the table of tests/package/floors.sh")
    else if (theirs > own) say("floor " own " includes " target " of floor " theirs)
    else if (folder != "base" && folder != own_folder) say("lib/" own_folder " includes " target " of lib/" folder)
    if (quoted && target !~ /^(base|decode|plan)\//) say("write \"" folder "/" target "\"")
    next
  }
  # What talks to the operating system: the optional module that keeps spilled changes in files, and large blocks of memory.
  if (target == "sys/mman.h" && file == "lib/base/pages.c") next
  if (!(target in allowed) && file !~ /^lib\/decode\/file_spill[^\/]*\.c$/) say("<" target "> has no place in the library")
  if (public && target !~ /^std(def|int)\.h$/) say("a public header needs no <" target ">")
}
END {
  if (seen < 20) { print "floors.sh: only " seen + 0 " includes found"; bad++ }
  print "floors.sh: " seen " includes, " bad + 0 " against the table"
  exit bad > 0
}'
