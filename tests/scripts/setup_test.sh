#!/usr/bin/env bash
# scripts/setup against pretended programs (dpkg-query, apt-get, id, sudo, python3): nothing is
# installed here.
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

# run_setup ARGUMENTS...: sets status, output (both streams) and calls (what apt-get and pip were
# asked). The environment for torch is $scratch/venv; `path` may narrow where programs are found.
run_setup() {
  : >"$scratch/calls"
  status=0
  output=$(unset FEWBIT_TORCH_ROOT
    PATH=${path:-$scratch/bin:$PATH} CALLS=$scratch/calls FEWBIT_VENV=${venv:-$scratch/venv} \
      FEWBIT_TOOLS=${tools:-$scratch/clang-tidy} FEWBIT_TORCH_ROOT=${torch_root:-} \
      "$setup" "$@" 2>&1 </dev/null) || status=$?
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
packages='torch==2.11.0 numpy scikit-learn'
mkdir -p "$scratch/venv/bin"
echo "$packages" >"$scratch/venv/fewbit-packages"
mkdir "$scratch/clang-tidy"
echo 'clang-tidy==23.1.4 ruff==0.17.6' >"$scratch/clang-tidy/fewbit-packages"
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

pretend cmake 'echo cmake version 3.25.1'
# python_of TORCH VENV [PIP]: a Python, by the status of its answers: whether it has torch (a script
# from standard input), whether it can make environments (-c), whether pip succeeds. It has headers.
python_of() {
  printf '%s\n' "case \"\$1\" in
    -) exit $1 ;;
    -c) case \"\$2\" in *sysconfig*) echo '$scratch/include' ;; esac; exit $2 ;;
    -m) if [ \"\$2\" = compileall ]; then exit 1; fi
      if [ \"\$2\" = pip ]; then echo \"pip \$*\" >>\"\$CALLS\"; exit ${3:-0}; fi
      mkdir -p \"\$3/bin\" && cp \"\$0\" \"\$3/bin/python3\" ;;
  esac"
}
mkdir "$scratch/include"
touch "$scratch/include/Python.h"
pretend python3 "$(python_of 1 0)"
venv=$scratch/new
run_setup solver
[ "$status" -eq 0 ] && [ ! -e "$venv" ] || fail 'the solver needs no torch'
run_setup runtime
[ "$status" -eq 0 ] && [[ "$calls" == *"pip -m pip install"*"$packages" ]] || fail 'torch is installed'
[ "$(cat "$venv/fewbit-packages")" = "$packages" ] || fail 'the stamp names the packages'
run_setup runtime
[ "$status" -eq 0 ] && [ -z "$output$calls" ] || fail 'a second call installs nothing'
echo 'torch==2.8.0' >"$venv/fewbit-packages"
run_setup runtime
[[ "$calls" == *"$packages" ]] || fail 'other versions than those of the stamp are installed'

tools=$scratch/new-tools
run_setup runtime
[ ! -e "$tools" ] || fail 'the runtime needs no clang-tidy'
run_setup all
[ "$status" -eq 0 ] && [[ "$calls" == *'pip install'*'clang-tidy==23.1.4 ruff=='* ]] ||
  fail 'clang-tidy and ruff are installed'
[[ "$calls" == *'pip install'*'pytest=='* ]] || fail 'what tests the package for Python is installed'
rm "$scratch/include/Python.h"
run_setup python
[ "$status" -ne 0 ] && [[ "$output" == *'installing python3-dev'* ]] ||
  fail 'headers of Python are asked for'
tools=

pretend python3 "$(python_of 1 0 1)"
venv=$scratch/interrupted
for attempt in first second; do
  run_setup runtime
  [ "$status" -eq 1 ] && [[ "$output" == *'pip could not install'*'FEWBIT_TORCH_ROOT=FOLDER'* ]] ||
    fail "$attempt attempt without network: the message says what to do"
  [ ! -e "$venv/fewbit-packages" ] || fail 'no stamp without the packages'
done

torch_root=$scratch/libtorch
run_setup runtime
[ "$status" -eq 1 ] && [[ "$output" == *'no lib/libtorch_cpu.so'* ]] || fail 'a wrong root is named'
mkdir -p "$torch_root/lib"
touch "$torch_root/lib/libtorch_cpu.so"
run_setup runtime
[ "$status" -eq 0 ] && [ -z "$output$calls" ] || fail 'a libtorch from elsewhere will do'
torch_root=

pretend python3 "$(python_of 0 0)"
venv=$scratch/unneeded
run_setup runtime
[ "$status" -eq 0 ] && [ -z "$output$calls" ] && [ ! -e "$venv" ] ||
  fail 'a torch that python3 has will do'

# Only what setup itself needs, so that no other Python is in PATH.
mkdir "$scratch/tools"
for tool in awk bash cat cp dirname dpkg env grep mkdir sh; do
  ln -s "$(command -v "$tool")" "$scratch/tools/$tool"
done
path=$scratch/bin:$scratch/tools
venv=$scratch/late
pretend python3 "$(python_of 1 1)"
pretend python3.12 "$(python_of 1 0)"
run_setup runtime
[ "$status" -eq 0 ] && [ -e "$venv/fewbit-packages" ] && [[ "$calls" != *apt-get* ]] ||
  fail 'a Python that cannot make environments is passed over'
rm "$scratch/bin/python3.12"
venv=$scratch/later
pretend apt-get 'echo "apt-get $*" >>"$CALLS"
  case "$*" in *python3-venv*) cp "$(dirname "$0")/good" "$(dirname "$0")/python3.11" ;; esac'
pretend good "$(python_of 1 0)"
run_setup runtime
[ "$status" -eq 0 ] && [[ "$calls" == *'install'*'python3 python3-venv'* ]] &&
  [ -e "$venv/fewbit-packages" ] || fail 'python3-venv is installed where no Python has it'
rm "$scratch/bin/python3.11"
venv=$scratch/never
pretend apt-get :
run_setup runtime
[ "$status" -eq 1 ] && [[ "$output" == *'no Python 3.10 or newer'* ]] || fail 'no Python is named'
path=

run_setup everything
[ "$status" -eq 2 ] && [[ "$output" == *'unknown argument: everything'* ]] || fail 'usage error'

echo 'setup: all cases hold'
