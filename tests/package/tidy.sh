#!/bin/sh
# The form of the sources: length of lines, functions and files, white space, words of unfinished work.
#   tidy.sh SOURCE_DIR
set -eu
cd "$1"
find $(ls -d include lib examples tests bench docs cmake .ci 2>/dev/null) \( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.cmake' \
  -o -name 'CMakeLists.txt' -o -name '*.sh' -o -name '*.awk' -o -name '*.in' -o -name '*.md' -o -name '*.dot' -o -path '.ci/*' \) -type f |
  grep -v '^tests/data/' | sort | xargs awk '
function say(text) { print FILENAME ":" FNR ": " text; bad++ }
function end_of_file() { if (source && lines > 800) { print last ": " lines " lines, more than 800: split it by idea"; bad++ } }
FNR == 1 {
  end_of_file()
  source = FILENAME ~ /\.(c|h|cc)$/; last = FILENAME; open = 0; files++
  if (source && $0 !~ /^\/[*\/]/) say("the first line is a comment that says what the file is for")
}
{ lines = FNR }
/[ \t]$/ && FILENAME !~ /\.md$/ { say("white space at the end of the line") }
/\t/ && FILENAME !~ /\.md$/ { say("a tab") }
length($0) > 128 && source { say(length($0) " characters, more than 128") }
# The words are written here in a way that does not find itself.
/(^|[^A-Za-z_])(TOD[O]|FIXM[E]|XX[X]|HAC[K])([^A-Za-z_]|$)/ { say("unfinished work: \"" $0 "\"") }
source && tolower($0) ~ /for no[w]([^a-z]|$)|not yet implemente[d]/ { say("unfinished work: \"" $0 "\"") }
source && /^\{/ { open = FNR }
source && /^\}/ && open { if (FNR - open - 1 > 70) say("a function of " FNR - open - 1 " lines, more than 70"); open = 0 }
END {
  end_of_file()
  if (files < 30) { print "tidy.sh: only " files + 0 " files found"; bad++ }
  print "tidy.sh: " files " files, " bad + 0 " places"
  exit bad > 0
}'
