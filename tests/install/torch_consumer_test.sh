#!/usr/bin/env bash
# torch_consumer_test.sh BUILD SOURCE CONSUMER COMPILER: the package's component `runtime` as a
# stranger's project uses it. Installs the build tree into a scratch prefix, builds the consumer
# against it, runs it, and sees that nothing came from the tree of SOURCE but what was installed.
set -euo pipefail
# shellcheck source=tests/install/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

build=$1 source=$2 consumer=$3 compiler=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/consumer/build
export CCACHE_DISABLE=1
unset FEWBIT_TORCH_ROOT FEWBIT_VENV

# configure FOLDER OPTIONS...: the project in $scratch/FOLDER.
configure() {
  cmake -S "$scratch/$1" -B "$scratch/$1/build" -G Ninja \
    -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror' "${@:2}" 2>&1
}

# refuse PATTERN OPTIONS...: $scratch/finds, which only looks for the package, fails and says PATTERN.
refuse() {
  rm -rf "$scratch/finds/build"
  output=$(configure finds "${@:2}") && fail "configured in spite of: $1"
  tr -s ' \n' ' ' <<<"$output" | grep -qE "$1" || fail "wanted '$1', got: $output"
}

cp -r "$consumer" "$scratch/consumer"
step install cmake --install "$build" --prefix "$scratch/prefix"
step configure configure consumer
torch=$(sed -n 's/^-- libtorch [0-9.]*: //p' <<<"$output")
step build cmake --build "$tree" -j 2
for program in five_lines fast_math own_activation; do
  step "run $program" "$tree/$program"
  tail -n 1 <<<"$output"
done
step 'second build' cmake --build "$tree"
[[ "$output" == *'no work to do'* ]] || fail "a second build does something: $output"

step 'list the files used' ninja -C "$tree" -t deps
grep -q "^ *$scratch/prefix/include/fewbit/fewbit.hpp" <<<"$output" || fail 'no header of the prefix'
if strangers=$(grep "^ *$source/" <<<"$output" | grep -v "^ *$torch/"); then
  fail "the build read the tree of fewbit: $strangers"
fi
loaded=$(ldd "$tree/own_activation")
grep -q "libfewbit_runtime.so => $scratch/prefix/" <<<"$loaded" || fail "another runtime: $loaded"
grep -q "libtorch_cpu.so => $torch/lib/" <<<"$loaded" || fail "another libtorch: $loaded"
# The library by itself, as Python's torch.ops.load_library takes it, finds libtorch too.
loaded=$(find "$scratch/prefix" -name libfewbit_runtime.so -exec ldd {} +)
[[ "$loaded" != *'not found'* ]] || fail "the library does not find: $loaded"

# Where the package has CUDA: kernels for the consumer's functions once the project has that language.
if [ -d "$scratch/prefix/lib/cmake/fewbit/runtime/kernels/activation/cuda" ]; then
  step 'configure with CUDA' configure consumer -DWITH_CUDA=ON
  [[ "$output" != *'for the CPU only'* ]] || fail "CUDA is a language: $output"
  for architecture in 80 90 100 120; do
    grep -q "code=\[*[^ ]*sm_$architecture" "$tree/build.ninja" ||
      fail "not for sm_$architecture by default"
  done
  step 'configure for one kind of GPU' configure consumer -DCMAKE_CUDA_ARCHITECTURES=90
  step 'build with CUDA' cmake --build "$tree" -j 2 --target own_activation
  step 'run own_activation with CUDA' "$tree/own_activation"
  step 'list the symbols' nm -C "$tree/own_activation"
  for name in my_act dip clipped_relu clipped_silu; do
    grep -q "kernels::cuda::own_$name::${name}_launchers" <<<"$output" || fail "no kernels of $name"
  done
  loaded=$(ldd "$tree/own_activation")
  [ "$(grep -c libcudart <<<"$loaded")" = 1 ] || fail "not one CUDA runtime: $loaded"
fi

mkdir "$scratch/finds"
cat >"$scratch/finds/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES CXX)
find_package(fewbit REQUIRED COMPONENTS ${COMPONENT})
add_library(app INTERFACE)
fewbit_add_activation(app NAME a EXPR x^2 BITS 3)
CMAKE
refuse "FEWBIT_TORCH_ROOT is '$scratch/none', which is no libtorch" \
  -DCOMPONENT=runtime -DFEWBIT_TORCH_ROOT="$scratch/none"
refuse "no component 'cuda', there are: solver, runtime" -DCOMPONENT=cuda
# libtorch FOLDER MAJOR MINOR: as far as it is looked at.
libtorch() {
  mkdir -p "$1/include/ATen" "$1/include/torch/headeronly" "$1/include/torch/csrc/api/include" "$1/lib"
  touch "$1/include/ATen/ATen.h" "$1/lib/libtorch_cpu.so" "$1/lib/libc10.so"
  printf '#define TORCH_VERSION_%s %s\n' MAJOR "$2" MINOR "$3" PATCH 0 \
    >"$1/include/torch/headeronly/version.h"
}
libtorch "$scratch/old" 2 7
refuse 'libtorch 2\.7\.0 in .*/old is too old: 2\.8' \
  -DCOMPONENT=runtime -DFEWBIT_TORCH_ROOT="$scratch/old"
libtorch "$scratch/newer" 2 99
refuse 'built with libtorch .* cannot mix with libtorch 2\.99\.0 in .*/newer' \
  -DCOMPONENT=runtime -DFEWBIT_TORCH_ROOT="$scratch/newer"
if [ -d "$scratch/prefix/lib/cmake/fewbit/runtime/kernels/activation/cuda" ]; then
  version=$(sed -n 's/.*_built_with "\([0-9.]*\)".*/\1/p' "$scratch"/prefix/lib/cmake/fewbit/*-config.cmake)
  IFS=. read -r major minor _ <<<"$version"
  libtorch "$scratch/without_cuda" "$major" "$minor"
  refuse "was built for CUDA [0-9]*, which the libtorch in .*/without_cuda was not" \
    -DCOMPONENT=runtime -DFEWBIT_TORCH_ROOT="$scratch/without_cuda"
fi
# Without the component nobody looks for libtorch.
rm -rf "$scratch/finds/build"
step 'find without the component' configure finds -DCOMPONENT=solver \
  -DFEWBIT_TORCH_ROOT="$scratch/none"
[[ "$output" != *libtorch* ]] || fail "the component solver looks for libtorch: $output"
echo 'torch_consumer: all cases hold'
