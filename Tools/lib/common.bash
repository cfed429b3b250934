# Shared by the scripts in Tools and .ci. Source it; it defines functions and changes nothing.
# shellcheck shell=bash

# Colours only where somebody sees them.
# shellcheck disable=SC2034 # used by the scripts that source this
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' dim='' green='' red='' plain=''
fi

# section TITLE: a heading with the time since the script began.
section() {
  printf '\n%s== %s%s %s(%d s)%s\n' "$bold" "$*" "$plain" "$dim" "$SECONDS" "$plain"
}

# fail MESSAGE: says why and ends the script.
fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

# has COMMAND: whether it is there.
has() { command -v "$1" >/dev/null 2>&1; }

# install_packages NAME...: with the system's package manager; sudo only when needed and never asking for a password. Where that cannot
# be, one line says what to install.
install_packages() {
  local output
  if has apt-get; then
    local -a root=()
    local by_hand="Install by hand, as root: apt-get install $*"
    if [[ $(id -u) -ne 0 ]]; then
      { has sudo && sudo -n true 2>/dev/null; } || fail "missing: $*. $by_hand"
      root=(sudo -n)
    fi
    printf 'installing %s\n' "$*"
    # Where this fails, the lists are taken as they are.
    ${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get update -qq >/dev/null 2>&1 || true
    output=$(${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" 2>&1) ||
      fail "could not install $* (${output##*$'\n'}). $by_hand"
  elif has brew; then
    printf 'installing %s\n' "$*"
    brew install --quiet "$@" || fail "could not install $*. Install by hand: brew install $*"
  else
    fail "missing: $* (so they are called in Debian). Install them with your package manager."
  fi
}

# includes HEADER: whether C code can include it.
includes() { printf '#include <%s>\n' "$1" | "$(type -P clang || type -P cc || echo false)" -E -x c - >/dev/null 2>&1; }

# ensure_packages: what a build needs beside the Swift toolchain: liblz4 with its header, and zlib with its header for the
# tool. On macOS nothing: there the package compiles its own LZ4, and zlib is the system's.
ensure_packages() {
  has swift || fail 'swift is not on the PATH; see https://www.swift.org/install'
  local -a missing=()
  if [[ $(uname) == Linux ]]; then
    includes lz4.h || missing+=(liblz4-dev)
    includes zlib.h || missing+=(zlib1g-dev)
  fi
  [[ ${#missing[@]} -gt 0 ]] || return 0
  install_packages "${missing[@]}"
}

# ensure_programs PROGRAM=PACKAGE...: installs the packages of those that are missing, if that may be done without being asked; false if
# some are still missing.
ensure_programs() {
  local -a missing=()
  local program
  for program in "$@"; do has "${program%=*}" || missing+=("${program#*=}"); done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  has apt-get || return 1
  [[ $(id -u) -eq 0 ]] || { has sudo && sudo -n true 2>/dev/null; } || return 1
  (install_packages "${missing[@]}") || return 1
}

# ensure_redis: the server that tests start.
ensure_redis() { ensure_programs redis-server=redis-server; }

# ensure_stores: the programs of other stores, whose files the tool's tests load.
ensure_stores() {
  ensure_programs sqlite3=sqlite3 redis-server=redis-server mdb_dump=lmdb-utils db5.3_dump=db5.3-util ldb=rocksdb-tools
}

# swift_developing WHAT COMMAND...: `swift COMMAND...` with ESKER_DEVELOPMENT=WHAT; see the end of Package.swift.
#
# SwiftPM passes traits to the compiler in the order of a set, which is another in each process: then all is compiled anew. Only builds
# get the fixed order of hashes, as tests shall meet any.
#
# Debug builds are made without debug information, which takes a third of their time. What a sanitizer finds needs it.
swift_developing() {
  local -a variables=(ESKER_DEVELOPMENT="$1") options=()
  if [[ $2 == build ]]; then
    variables+=(SWIFT_DETERMINISTIC_HASHING=1)
    [[ " $* " == *' release '* || -n ${unoptimized:-} ]] || options+=(-debug-info-format none)
  fi
  shift
  env "${variables[@]}" swift "$@" ${options[@]+"${options[@]}"}
}

# swift_core COMMAND...: `swift COMMAND...` for the library, the tool and their tests.
swift_core() { swift_developing "core${unoptimized:+,unoptimized}" "$@"; }

# swift_all COMMAND...: the same for everything but the packages in Benchmarks and Examples: also for what joins Esker to other libraries,
# and its tests. With traits each module is compiled in another way, so it has a directory of its own.
swift_all() { swift_developing "all${unoptimized:+,unoptimized}" "$@" --scratch-path "${scratch:-.build/all}"; }

# build_release PRODUCT: builds a program of swift_core in release, and prints where it is. From the root of the repository.
build_release() {
  # Apart from what `swift build -c release` leaves: objects that were built to be linked with Swift's own libraries in them, and others,
  # cannot be mixed.
  local -a build=(build -c release --product "$1" --scratch-path .build/static)
  local directory
  # With Swift's own libraries in it, so that it outlives the toolchain that built it. On macOS they are the system's.
  [[ $(uname) == Darwin ]] || build+=(--static-swift-stdlib)
  swift_core "${build[@]}" >&2 && directory=$(swift_core "${build[@]}" --show-bin-path) && printf '%s/%s\n' "$directory" "$1"
}

# build_c_library: builds the library for C in release, and prints where it is. From the root of the repository.
#
# On Linux it is linked once more: with Swift's own libraries in it, as what `build_release` makes, which SwiftPM does only to programs; and
# by lld, which leaves to be seen what esker.map says and nothing else.
build_c_library() {
  local -a build=(build -c release --product EskerC --scratch-path .build/static)
  local directory major
  major=$(sed -n 's/^#define ESKER_VERSION_MAJOR //p' Sources/CEsker/include/esker.h)
  if [[ $(uname) == Darwin ]]; then
    build+=(-Xlinker -install_name -Xlinker "@rpath/libEskerC.$major.dylib")
  else
    build+=(--static-swift-stdlib)
  fi
  swift_core "${build[@]}" >&2 && directory=$(swift_core "${build[@]}" --show-bin-path) || return 1
  if [[ $(uname) == Darwin ]]; then
    printf '%s/libEskerC.dylib\n' "$directory"
    return
  fi
  mkdir -p "$directory/installed" && swiftc -emit-library -static-stdlib -use-ld=lld -module-name EskerC \
    "@$directory/EskerC.product/Objects.LinkFileList" -llz4 -o "$directory/installed/libEskerC.so" \
    -Xlinker "-soname=libEskerC.so.$major" -Xlinker "--version-script=Tools/lib/c/esker.map" -Xlinker --gc-sections \
    -Xlinker --strip-debug >&2 && printf '%s/installed/libEskerC.so\n' "$directory"
}

# c_library PREFIX: where Tools/install --c has put the library.
c_library() {
  local major
  major=$(sed -n 's/^#define ESKER_VERSION_MAJOR //p' "$1/include/esker.h")
  if [[ $(uname) == Darwin ]]; then printf '%s/lib/libEskerC.%s.dylib\n' "$1" "$major"; else printf '%s/lib/libEskerC.so.%s\n' "$1" "$major"; fi
}
