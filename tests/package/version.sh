#!/bin/sh
# One version everywhere: CMake's, the headers', the newest one of the changelog. And its ABI as the changelog tells it.
#   version.sh SOURCE_DIR
set -eu
cd "$1"
cmake=$(sed -n 's/^project(twpa VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
header=$(awk '/define TWPA_VERSION_(MAJOR|MINOR|PATCH) / { v = v sep $3; sep = "." } END { print v }' include/twpa/version.h)
string=$(sed -n 's/.*define TWPA_VERSION_STRING "\([^"]*\)".*/\1/p' include/twpa/version.h)
changes=$(sed -n 's/^## \[\([0-9][0-9.]*\)\].*/\1/p' CHANGELOG.md | head -n 1)
abi=$(awk '/^set\(TWPA_ABI_(CURRENT|REVISION|AGE) / { sub(/\)/, "", $2); v = v sep $2; sep = ":" } END { print v }' CMakeLists.txt)
said=$(sed -n 's/^.*current:revision:age \([0-9:]*[0-9]\).*/\1/p' CHANGELOG.md | head -n 1)
echo "CMake $cmake, headers $header and $string, changelog $changes; ABI $abi, changelog $said"
[ -n "$cmake" ] && [ "$cmake" = "$header" ] && [ "$cmake" = "$string" ] && [ "$cmake" = "$changes" ] &&
  [ -n "$abi" ] && [ "$abi" = "$said" ]
