# Sourced by the scripts that are one command from a fresh clone to a result (examples/demo.sh, tests/run.sh, .ci/run).
#
#   . cmake/require.sh
#   require compiler make ...       installs from Debian's packages what is missing; ends the script with a clear message
#                                   when it cannot. When nothing is missing it needs neither root nor the network.
#   say TEXT...                     one line about what happens next
#   cores                           number of compilations at a time

program=$(basename "$0")
say() { printf '%s: %s\n' "$program" "$*"; }
fail() { printf '%s: %s\n' "$program" "$*" >&2; exit 1; }
cores() { nproc 2>/dev/null || echo 1; }

# has_header FILE: does the C compiler find it?
has_header() { echo "#include <$1>" | ${CC:-cc} -E - >/dev/null 2>&1; }
has_command() { command -v "$1" >/dev/null 2>&1; }

# at_least VERSION WANTED: as in "at_least 3.25.1 3.20".
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -t. -k1,1n -k2,2n -k3,3n | head -n 1)" = "$2" ]; }

# Prints the Debian packages that bring thing $1, and succeeds if it is here already.
thing() {
  case $1 in
  compiler) echo gcc libc6-dev; has_command "${CC:-cc}" && has_header stdlib.h ;;
  c++) echo g++; has_command "${CXX:-c++}" ;;
  make) echo make; has_command make ;;
  cmake) echo cmake; has_command cmake && at_least "$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')" 3.20 ;;
  pkg-config) echo pkg-config; has_command pkg-config ;;
  xxhash) echo libxxhash-dev; has_header xxhash.h ;;
  uthash) echo uthash-dev; has_header uthash.h ;;
  check) echo check; has_command pkg-config && pkg-config --exists check ;;
  clang) echo clang; has_command clang && has_command clang++ ;;
  binutils) echo binutils; has_command nm && has_command readelf ;;
  doxygen) echo doxygen; has_command doxygen ;;
  graphviz) echo graphviz; has_command dot ;;
  *) fail "require: unknown thing $1" ;;
  esac
}

# missing THING...: sets $lacking to the things that are not here and $packages to what brings them.
missing() {
  lacking='' packages=''
  for name; do
    if found=$(thing "$name"); then :; else
      lacking="$lacking $name" packages="$packages $found"
    fi
  done
  [ -n "$lacking" ]
}

require() {
  missing "$@" || return 0
  has_command apt-get || fail "missing:$lacking. This is no Debian system (no apt-get); please install what these Debian packages hold:$packages"
  [ "$(id -u)" = 0 ] || fail "missing:$lacking. Run this once as root, or have somebody run: apt-get install$packages"
  say "installing$packages"
  # The package lists may be missing or old: then they are fetched, once.
  # shellcheck disable=SC2086
  install() { DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages </dev/null; }
  log=$(install 2>&1) || {
    say "fetching the package lists"
    log=$(apt-get update -q </dev/null 2>&1 && install 2>&1) || {
      printf '%s\n' "$log" | tail -n 4 >&2
      fail "apt-get could not install$packages (no network?)"
    }
  }
  missing "$@" || return 0
  fail "still missing after apt-get install$packages:$lacking"
}

# A compiler cache makes a second build quick; nothing depends on it.
launcher() { if has_command ccache; then echo -DCMAKE_C_COMPILER_LAUNCHER=ccache; fi; }
