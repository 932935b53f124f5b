#!/usr/bin/env bash
# new_function_test.sh TREE TORCH: adds one line to the registry of a copy of TREE, runs what
# scripts/regenerate runs, builds, and looks for everything that a function has. Compiled as TREE
# is, libtorch within it where that has it, so that ccache has all that the line does not change.
set -euo pipefail

tree=$1
torch=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
copy=$scratch/tree
build=$copy/build/ci
line='{"arctangent", {}, {}, "atan(x)", "an invented function", {.operation = "atan"}},'

fail() {
  printf 'FAILED: %s\n' "$1"
  exit 1
}

# `found FILE TEXT`: the file has it.
found() {
  grep -qF -- "$2" "$1" || fail "no '$2' in ${1#"$copy/"}"
}

mkdir "$copy"
cp -r "$tree"/{CMakeLists.txt,CMakePresets.json,LICENSE,cmake,solver,codegen,runtime,generated,tables,docs} "$copy"
mkdir "$copy/tests"
if [[ "$torch" == "$tree"/.venv/* ]]; then
  ln -s "$tree/.venv" "$copy"
  torch=$copy${torch#"$tree"}
fi
cp -r "$tree/tests/new_function" "$copy/tests"

# The line, before the first one.
sed -i "s|^    // Piecewise linear: one bit is exact.|    $line\n&|" "$copy/solver/functions/registry.cpp"
[ "$(diff -r "$tree/solver" "$copy/solver" | grep -c '^>')" -eq 1 ] || fail 'more than one line differs'
echo 'add_subdirectory(tests/new_function/program)' >>"$copy/CMakeLists.txt"

cmake -S "$copy" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFEWBIT_TORCH_ROOT="$torch" \
  -DFEWBIT_BUILD_TESTS=OFF -DFEWBIT_BUILD_BENCH=OFF -DFEWBIT_BUILD_EXAMPLES=OFF \
  -DFEWBIT_BUILD_CUDA=OFF >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail 'no configuration'; }
ninja -C "$build" fewbit-solve fewbit-codegen >"$scratch/log" || { cat "$scratch/log"; fail 'no programs'; }
solve=$build/solver/cli/fewbit-solve
"$solve" tables -o "$copy/tables" >/dev/null
"$build/codegen/fewbit-codegen" --tables "$copy/tables" --output "$copy/generated" >/dev/null

found "$copy/generated/arctangent.hpp" 'levels_normal_b3'
found "$copy/generated/cuda/arctangent.cu" 'FEWBIT_CUDA_FUNCTION(builtin, arctangent)'
found "$copy/generated/include/fewbit/functional.hpp" '/// f(x) = atan(x). an invented function.'
"$solve" help expressions --markdown >"$scratch/expressions.md"
found "$scratch/expressions.md" 'arctangent(x)'
"$solve" report --bits 1 >"$scratch/report.md" 2>/dev/null
found "$scratch/report.md" '| arctangent |'

ninja -C "$build" new_function >"$scratch/log" || { cat "$scratch/log"; fail 'no build'; }
"$build/tests/new_function/program/new_function"
