#!/usr/bin/env bash
# scripts/setup against a pretended dpkg-query, apt-get, id and sudo: nothing is installed here.
# shellcheck disable=SC2015,SC2016  # `condition || fail` is meant; the pretended programs expand later
set -euo pipefail

setup=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/setup
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

# pretend NAME BODY: a program that setup finds before the real one.
pretend() {
  printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# run_setup ARGUMENTS...: sets status, output (both streams) and calls (what apt-get was asked).
run_setup() {
  : >"$scratch/calls"
  status=0
  output=$(PATH=$scratch/bin:$PATH CALLS=$scratch/calls "$setup" "$@" 2>&1 </dev/null) || status=$?
  calls=$(cat "$scratch/calls")
}

fail() {
  printf 'FAILED: %s\nstatus %s\noutput: %s\ncalls: %s\n' "$1" "$status" "$output" "$calls"
  exit 1
}

# Every package is there but the given one.
all_but() {
  pretend dpkg-query "shift 2; for name; do
    [ \"\$name\" = '$1' ] || echo \"\$name installed\"; done"
}

pretend apt-get 'echo "apt-get $*" >>"$CALLS"'
pretend apt-cache 'exit 0'
pretend sudo 'exit 1'
pretend id 'echo 0'
pretend cmake 'echo cmake version 3.25.1'

all_but none
run_setup all
[ "$status" -eq 0 ] && [ -z "$output$calls" ] || fail 'nothing is missing: quiet, and apt untouched'

all_but libfmt-dev
run_setup solver
[ "$status" -eq 0 ] || fail 'root installs what is missing'
[ "$calls" = 'apt-get update -qq
apt-get install -y -qq --no-install-recommends libfmt-dev' ] || fail 'exactly what is missing'

all_but libgtest-dev
run_setup solver
[ "$status" -eq 0 ] && [ -z "$calls" ] || fail 'the solver needs no package of the tests'

all_but libclang-rt-dev
pretend clang 'echo /nowhere'
pretend apt-cache 'exit 100'
run_setup all
[[ "$calls" == *'apt-get update'* ]] && [[ "$calls" != *libclang-rt-dev* ]] ||
  fail 'an archive without the runtime package is not asked for it'
pretend clang 'echo "$(dirname "$0")"'
touch "$scratch/bin/libclang_rt.fuzzer-$(uname -m).a"
run_setup all
[ "$status" -eq 0 ] && [ -z "$output$calls" ] || fail 'a runtime that came with clang will do'

pretend id 'echo 1000'
all_but libfmt-dev
run_setup solver
[ "$status" -eq 1 ] && [ -z "$calls" ] || fail 'a user without sudo installs nothing'
[[ "$output" == *'apt-get update && apt-get install -y --no-install-recommends libfmt-dev' ]] ||
  fail 'the line to type is printed'

pretend sudo '[ "$1" = -n ] && exit 0; echo sudo >>"$CALLS"; exec "$@"'
run_setup solver
[ "$status" -eq 0 ] && [[ "$calls" == sudo*'apt-get install'*libfmt-dev ]] || fail 'sudo is used'

pretend id 'echo 0'
pretend apt-get 'exit 100'
run_setup solver
[ "$status" -ne 0 ] || fail 'a failing apt-get fails setup'

all_but cmake
run_setup solver
[ "$status" -eq 0 ] || fail 'a CMake from elsewhere is as good'

pretend cmake 'echo cmake version 3.22.1'
all_but none
run_setup solver
[ "$status" -eq 1 ] && [[ "$output" == *'CMake 3.25 or newer is needed, this system has 3.22.1'* ]] ||
  fail 'an old CMake is named'

run_setup everything
[ "$status" -eq 2 ] && [[ "$output" == *'unknown argument: everything'* ]] || fail 'usage error'

echo 'setup: all cases hold'
