#!/usr/bin/env bash
# consumer_test.sh BUILD CONSUMER COMPILER: installs the build tree into a scratch prefix, builds the
# consumer against it and runs it. A second build has nothing to do, a changed argument or weight
# file solves again, and only what depends on it.
set -euo pipefail
# shellcheck source=tests/install/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

build=$1 consumer=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/build
made=$tree/fewbit_activations/fewbit
export CCACHE_DISABLE=1

configure() {
  step "configure $*" cmake -S "$scratch/consumer" -B "$tree" -G Ninja \
    -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release "$@"
}

cp -r "$consumer" "$scratch/consumer"
# Of a tree where one program was built alone (scripts/run) installing builds the others.
grep -q -- '--target fewbit_installed' "$build/cmake_install.cmake" || fail 'nothing is built first'
step install cmake --install "$build" --prefix "$scratch/prefix"
for file in man/man1/fewbit-solve.1 bash-completion/completions/fewbit-solve \
  zsh/site-functions/_fewbit-solve fish/vendor_completions.d/fewbit-solve.fish; do
  [ -s "$scratch/prefix/share/$file" ] || fail "not installed: share/$file"
done
step 'print the manual' "$scratch/prefix/bin/fewbit-solve" --man
[ "$output" = "$(cat "$scratch/prefix/share/man/man1/fewbit-solve.1")" ] || fail 'another manual'
configure
step build cmake --build "$tree"
step 'run the consumer' "$tree/consumer"
printf '%s\n' "$output"
step 'run the refit' "$tree/refit"
printf '%s\n' "$output"
step 'verify the tables' "$scratch/prefix/bin/fewbit-solve" verify "$made"/*.json

configure
step 'second build' cmake --build "$tree"
[[ "$output" == *'no work to do'* ]] || fail "a second build does something: $output"

fitted=$(sha256sum "$made/fitted.json")
configure -DBITS=2
step 'build with 2 bits' cmake --build "$tree"
[[ "$output" == *'Solving my_act'* ]] || fail "changed BITS do not solve again: $output"
[[ "$output" != *'Solving fitted'* ]] || fail "changed BITS solve another table: $output"
step 'run with 2 bits' "$tree/consumer"
grep -q '"bits": 2' "$made/my_act.json" || fail 'the table still has 3 bits'

sed -i 's/^0,1400$/0,2400/' "$scratch/consumer/inputs.csv"
step 'build with other inputs' cmake --build "$tree"
[[ "$output" == *'Solving fitted'* ]] || fail "a changed weight file does not solve again: $output"
[[ "$output" != *'Solving my_act'* ]] || fail "a changed weight file solves another table: $output"
[ "$(sha256sum "$made/fitted.json")" != "$fitted" ] || fail 'the fitted table is the old one'

step 'third build' cmake --build "$tree"
[[ "$output" == *'no work to do'* ]] || fail "a build without changes does something: $output"
echo 'install: all cases hold'
