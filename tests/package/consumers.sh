#!/bin/sh
# Uses libtwpa as other projects do, from an installed tree or as a subproject. CTest runs one case after another:
#   consumers.sh install | pkgconfig | moved | split | subproject
# with CMAKE, CC, CXX, LAUNCHER, BUILD_DIR, SOURCE_DIR, WORK_DIR, LIBDIR (relative, as configured) in the environment.
set -eu
here=$SOURCE_DIR/tests/package
prefix=$WORK_DIR/prefix
fail() { echo "consumers.sh: $*" >&2; exit 1; }
quietly() { "$@" >"$WORK_DIR/log" 2>&1 || { cat "$WORK_DIR/log" >&2; fail "failed: $*"; }; }

# run_project NAME PREFIX COUNT: configures, builds and runs the find_package project, COUNT programs, against PREFIX.
run_project() {
  rm -rf "$WORK_DIR/$1"
  quietly "$CMAKE" -S "$here/consumer" -B "$WORK_DIR/$1" -Dtwpa_DIR="$2/$LIBDIR/cmake/twpa" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE=Debug
  quietly "$CMAKE" --build "$WORK_DIR/$1"
  ran=0
  for program in "$WORK_DIR/$1"/use_*; do
    "$program" || fail "$program does not work"
    ran=$((ran + 1))
  done
  [ $ran = "$3" ] || fail "$ran programs in $1, not $3"
}

# run_pkgconfig PREFIX-OF-PC LIBRARY-PATH OPTION...: builds and runs use.c with what pkg-config says.
run_pkgconfig() {
  pc=$1 lib=$2
  shift 2
  flags=$(PKG_CONFIG_PATH=$pc PKG_CONFIG_LIBDIR=$pc pkg-config "$@" --cflags --libs twpa) || fail "pkg-config $*"
  static=
  case " $* " in *" --static "*) static=-static ;; esac
  # shellcheck disable=SC2086
  quietly "$CC" -std=c99 -o "$WORK_DIR/use" "$here/consumer/use.c" $flags $static
  if [ -n "$static" ]; then
    if readelf -d "$WORK_DIR/use" | grep -q NEEDED; then fail "--static gave a program that needs shared libraries"; fi
    "$WORK_DIR/use"
  else
    readelf -d "$WORK_DIR/use" | grep -q 'NEEDED.*libtwpa\.so\.[0-9]' || fail "the program does not need libtwpa by its SONAME"
    LD_LIBRARY_PATH=$lib "$WORK_DIR/use"
  fi
}

case $1 in
install)
  rm -rf "$WORK_DIR"
  mkdir -p "$WORK_DIR"
  quietly "$CMAKE" --install "$BUILD_DIR" --prefix "$prefix"
  # The .pc file names the prefix that was configured; an install elsewhere is a moved tree.
  (cd "$prefix" && find . ! -type d | sort)
  for f in include/twpa/twpa.h "$LIBDIR/libtwpa.so" "$LIBDIR/libtwpa.a" "$LIBDIR/pkgconfig/twpa.pc" \
    "$LIBDIR/cmake/twpa/twpaConfig.cmake" "$LIBDIR/cmake/twpa/twpaConfigVersion.cmake"; do
    [ -e "$prefix/$f" ] || fail "$f is not installed"
  done
  for h in "$SOURCE_DIR"/include/twpa/*.h; do
    cmp "$h" "$prefix/include/twpa/$(basename "$h")"
  done
  [ "$(find "$prefix/include" -type f | wc -l)" = "$(find "$SOURCE_DIR/include" -name '*.h' | wc -l)" ] || fail "other headers are installed"
  # No path of this build may be left in what others read.
  if grep -rl -e "$SOURCE_DIR" -e "$BUILD_DIR" "$prefix/$LIBDIR/cmake"; then fail "paths of the build in the package files"; fi
  ;;
pkgconfig)
  pc=$prefix/$LIBDIR/pkgconfig
  run_pkgconfig "$pc" "$prefix/$LIBDIR" --define-prefix
  run_pkgconfig "$pc" "$prefix/$LIBDIR" --define-prefix --static
  # Inside of somebody else's shared library: nothing of libtwpa shows, if they say so.
  sed 's/int main(void)/int theirs(void);\n\nint theirs(void)/' "$here/consumer/use.c" >"$WORK_DIR/theirs.c"
  quietly "$CC" -shared -fPIC -o "$WORK_DIR/theirs.so" -I "$prefix/include" -DTWPA_NO_API_ATTRIBUTES "$WORK_DIR/theirs.c" \
    "$prefix/$LIBDIR/libtwpa.a" -Wl,--exclude-libs,libtwpa.a
  nm -D --defined-only "$WORK_DIR/theirs.so" | grep -q ' theirs$' || fail "theirs.so does not export its own function"
  if nm -D --defined-only "$WORK_DIR/theirs.so" | grep twpa; then fail "theirs.so exports functions of libtwpa"; fi
  ;;
moved)        # found by find_package in a place that nobody ever named, while the place it came from is gone
  rm -rf "$WORK_DIR/moved tree"
  mkdir "$WORK_DIR/moved tree"
  cp -R "$prefix" "$WORK_DIR/moved tree/usr"
  mv "$prefix" "$prefix.away"
  trap 'mv "$prefix.away" "$prefix"' EXIT
  run_project moved "$WORK_DIR/moved tree/usr" 4
  ;;
split)        # only the static package: twpa::twpa stands for the static library; a component that is missing is said
  rm -rf "$WORK_DIR/split"
  cp -R "$prefix" "$WORK_DIR/split"
  rm "$WORK_DIR/split/$LIBDIR"/libtwpa.so* "$WORK_DIR/split/$LIBDIR"/cmake/twpa/twpaTargets*.cmake
  run_project static_only "$WORK_DIR/split" 4
  for program in "$WORK_DIR"/static_only/use_c*; do
    if readelf -d "$program" | grep -q 'NEEDED.*libtwpa'; then fail "$program needs the shared library"; fi
  done
  for version in 0.0 0.2 1.0; do
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nfind_package(twpa %s CONFIG REQUIRED)\n' $version \
      >"$WORK_DIR/CMakeLists.txt"
    if "$CMAKE" -S "$WORK_DIR" -B "$WORK_DIR/version" -Dtwpa_DIR="$prefix/$LIBDIR/cmake/twpa" >/dev/null 2>&1; then
      fail "version $version was taken for compatible"
    fi
  done
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(p NONE)\nfind_package(twpa CONFIG REQUIRED COMPONENTS shared)\n' \
    >"$WORK_DIR/CMakeLists.txt"
  if "$CMAKE" -S "$WORK_DIR" -B "$WORK_DIR/version" -Dtwpa_DIR="$WORK_DIR/split/$LIBDIR/cmake/twpa" >/dev/null 2>&1; then
    fail "the missing component was not noticed"
  fi
  rm -rf "$WORK_DIR/CMakeLists.txt" "$WORK_DIR/version"
  ;;
subproject)   # and, since it is a build of its own, with directories that are absolute
  rm -rf "$WORK_DIR/sub"
  quietly "$CMAKE" -S "$here/subproject" -B "$WORK_DIR/sub" -DTWPA_SOURCE_DIR="$SOURCE_DIR" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_COMPILER_LAUNCHER="$LAUNCHER" -DCMAKE_C_FLAGS=-g0
  quietly "$CMAKE" --build "$WORK_DIR/sub" -j2
  "$WORK_DIR/sub/use_shared"
  "$WORK_DIR/sub/use_static"
  quietly "$CMAKE" --install "$WORK_DIR/sub" --prefix "$WORK_DIR/nothing"
  [ ! -e "$WORK_DIR/nothing/include" ] || fail "a subproject was installed without being asked for"
  abs=$WORK_DIR/absolute
  quietly "$CMAKE" -S "$here/subproject" -B "$WORK_DIR/sub" -DTWPA_INSTALL=ON -DCMAKE_INSTALL_PREFIX="$abs/usr" \
    -DCMAKE_INSTALL_LIBDIR="$abs/elsewhere/lib64" -DCMAKE_INSTALL_INCLUDEDIR="$abs/headers"
  quietly "$CMAKE" --build "$WORK_DIR/sub" -j2
  quietly "$CMAKE" --install "$WORK_DIR/sub"
  run_pkgconfig "$abs/elsewhere/lib64/pkgconfig" "$abs/elsewhere/lib64"
  run_pkgconfig "$abs/elsewhere/lib64/pkgconfig" "$abs/elsewhere/lib64" --static
  LIBDIR=elsewhere/lib64
  run_project absolute_find "$abs" 4
  ;;
*) fail "unknown case $1" ;;
esac
