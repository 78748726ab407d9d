#!/bin/sh
# Writes abi_sizes.c anew: size and offsets of every public struct, as the headers have them now. Run it when a struct has
# grown at its end or a new one has come, and look at the difference: a changed line is a broken ABI, new lines are not.
#   abi_sizes.sh SOURCE_DIR >tests/package/abi_sizes.c
set -eu
work=${TMPDIR:-/tmp}/twpa-abi.$$
mkdir "$work"
trap 'rm -rf "$work"' EXIT
{
  echo '#include <stdio.h>'
  echo '#include <twpa/twpa.h>'
  echo 'int main(void) {'
  awk '
  { gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "") }
  /\/\*/ { sub(/\/\*.*/, ""); comment = 1; print_tail($0); next }
  comment && /\*\// { sub(/.*\*\//, ""); comment = 0 }
  comment { next }
  { print_tail($0) }
  function print_tail(text) { all = all " " text }
  END {
    while (match(all, /typedef struct twpa_[a-z0-9_]+ \{[^}]*\} *twpa_[a-z0-9_]+;/)) {
      one = substr(all, RSTART, RLENGTH); all = substr(all, RSTART + RLENGTH)
      name = one; sub(/^typedef struct /, "", name); sub(/ .*/, "", name)
      body = one; sub(/^[^{]*\{/, "", body); sub(/\}.*/, "", body)
      printf "printf(\"\\n_Static_assert(sizeof(%s) == %%zu, \\\"%s\\\");\\n\", sizeof(%s));\n", name, name, name
      n = split(body, field, ";")
      for (i = 1; i < n; i++) {
        f = field[i]
        if (f ~ /\(\*/) { sub(/.*\(\*/, "", f); sub(/\).*/, "", f) }
        else { sub(/\[.*/, "", f); sub(/[ \t]*$/, "", f); sub(/.*[ \t*]/, "", f) }
        last = f
        printf "printf(\"AT(%s, %s, %%zu);\\n\", offsetof(%s, %s));\n", name, f, name, f
      }
      printf "puts(\"FULL(%s, %s);\");\n", name, last
    }
  }' "$1"/include/twpa/*.h
  echo '}'
} >"$work/print.c"
"${CC:-cc}" -std=c11 -I "$1/include" -o "$work/print" "$work/print.c"
cat <<'HEAD'
/*
 * Size and offsets of every public struct on 64-bit machines: changing one of these lines breaks the ABI. Written by
 * abi_sizes.sh.
 */
#include <twpa/twpa.h>

#if UINTPTR_MAX > 0xFFFFFFFF

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
/* No padding at the end, into which a new field could fall unseen. */
#define FULL(type, last) \
  _Static_assert(offsetof(type, last) + sizeof(((type *)0)->last) == sizeof(type), #type " has a hidden tail")
HEAD
"$work/print"
printf '\n#endif\n'
