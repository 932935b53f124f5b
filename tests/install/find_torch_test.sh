#!/usr/bin/env bash
# find_torch_test.sh MODULE COMPILER: cmake/FewbitTorch.cmake on pretended libtorch folders.
set -euo pipefail

module=$1 compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset FEWBIT_TORCH_ROOT FEWBIT_VENV

mkdir "$scratch/project" "$scratch/bin" "$scratch/cmake"
cp "$module" "$scratch/cmake"
cat >"$scratch/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(finds_torch LANGUAGES CXX)
include(../cmake/FewbitTorch.cmake)
get_target_property(includes fewbit::torch INTERFACE_SYSTEM_INCLUDE_DIRECTORIES)
get_target_property(library fewbit::torch_cpu IMPORTED_LOCATION)
message(STATUS "found ${FEWBIT_TORCH_VERSION} ${includes} ${library}")
if(TARGET fewbit::torch_cudart)
  get_target_property(runtime fewbit::torch_cudart IMPORTED_LOCATION)
  get_target_property(library fewbit::torch_cuda IMPORTED_LOCATION)
endif()
message(STATUS "CUDA '${FEWBIT_TORCH_CUDA}' ${library} ${runtime}")
CMAKE
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/python3"
chmod +x "$scratch/bin/python3"

# libtorch FOLDER MAJOR.MINOR [HEADER]: what a zip or a wheel has, as far as it is looked at.
libtorch() {
  local header=$1/include/torch/${3:-headeronly/version.h}
  mkdir -p "$1/include/ATen" "$1/lib" "$(dirname "$header")" "$1/include/torch/csrc/api/include"
  touch "$1/include/ATen/ATen.h" "$1/lib/libtorch_cpu.so" "$1/lib/libc10.so"
  printf '#define TORCH_VERSION_MAJOR %s\n#define TORCH_VERSION_MINOR %s\n' "${2%.*}" "${2#*.}" \
    >"$header"
  printf '#define TORCH_VERSION_PATCH 1\n' >>"$header"
}

# expect STATUS PATTERN ARGUMENTS...: configures, from nothing unless `again` is set.
expect() {
  local wanted=$1 pattern=$2 status=0 output
  shift 2
  [ -n "${again:-}" ] || rm -rf "$scratch/build"
  output=$(PATH=$scratch/bin:$PATH cmake -S "$scratch/project" -B "$scratch/build" -G Ninja \
    -DCMAKE_CXX_COMPILER="$compiler" "$@" 2>&1) || status=1
  output=$(tr -s ' \n' ' ' <<<"$output")
  if [ "$status" -ne "$wanted" ] || ! grep -qE "$pattern" <<<"$output"; then
    printf 'FAILED: %s\nstatus %s\n%s\n' "$pattern" "$status" "$output"
    exit 1
  fi
}

expect 1 'not found.*FEWBIT_TORCH_ROOT.*not set.*/\.venv: no usable torch.*scripts/setup runtime'

libtorch "$scratch/zip" 2.8
expect 0 "found 2\.8\.1 $scratch/zip/include;$scratch/zip/include/torch/csrc/api/include $scratch/zip/lib" \
  -DFEWBIT_TORCH_ROOT="$scratch/zip"
FEWBIT_TORCH_ROOT=$scratch/zip expect 0 "found 2\.8\.1 $scratch/zip"
again=1 expect 0 "found 2\.8\.1 $scratch/zip"  # the environment's value is remembered

libtorch "$scratch/before" 2.9 csrc/api/include/torch/version.h
expect 0 'found 2\.9\.1' -DFEWBIT_TORCH_ROOT="$scratch/before"

libtorch "$scratch/old" 2.7
expect 1 'libtorch 2\.7\.1 in .*/old is too old: 2\.8 or newer' -DFEWBIT_TORCH_ROOT="$scratch/old"
expect 1 "FEWBIT_TORCH_ROOT is '$scratch/nowhere', which is no libtorch" \
  -DFEWBIT_TORCH_ROOT="$scratch/nowhere"

libtorch "$scratch/python/torch" 2.10
printf '#!/bin/sh\necho %s\n' "$scratch/python/torch/__init__.py" >"$scratch/bin/python3"
expect 0 "found 2\.10\.1 $scratch/python/torch"

libtorch "$scratch/environment/lib/python3.12/site-packages/torch" 2.11
FEWBIT_VENV=$scratch/environment expect 0 "found 2\.11\.1 $scratch/environment"
libtorch "$scratch/.venv/lib/python3.13/site-packages/torch" 2.12
expect 0 "found 2\.12\.1 $scratch/\.venv"

# With CUDA: of the zip, which brings the runtime under a name of its own, and of pip, beside torch.
expect 0 "CUDA '' .*torch_cpu" -DFEWBIT_TORCH_ROOT="$scratch/zip"
libtorch "$scratch/cuda" 2.8
touch "$scratch"/cuda/lib/{libtorch_cuda.so,libc10_cuda.so}
expect 0 "CUDA '' .*torch_cpu" -DFEWBIT_TORCH_ROOT="$scratch/cuda"  # a runtime is missing
touch "$scratch/cuda/lib/libcudart-9335f6a2.so.12"
expect 0 "CUDA '12' $scratch/cuda/lib/libtorch_cuda.so $scratch/cuda/lib/libcudart-9335f6a2.so.12" \
  -DFEWBIT_TORCH_ROOT="$scratch/cuda"
packages=$scratch/environment/lib/python3.12/site-packages
mkdir -p "$packages/nvidia/cu13/lib"
touch "$packages"/torch/lib/{libtorch_cuda.so,libc10_cuda.so} "$packages/nvidia/cu13/lib/libcudart.so.13"
FEWBIT_VENV=$scratch/environment expect 0 \
  "CUDA '13' $packages/torch/lib/libtorch_cuda.so $packages/nvidia/cu13/lib/libcudart.so.13"

# In an installed package: the libtorch of its build in the place of .venv, and the reason comes back.
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/python3"
mkdir "$scratch/package"
cat >"$scratch/package/finds-config.cmake" <<'CMAKE'
set(fewbit_torch_of_build "$ENV{OF_BUILD}")
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/FewbitTorch.cmake")
set(finds_FOUND FALSE)
set(finds_NOT_FOUND_MESSAGE "version '${FEWBIT_TORCH_VERSION}', because: ${FEWBIT_TORCH_ERROR}")
CMAKE
sed -i 's/^include.*/find_package(finds REQUIRED PATHS ..\/package)/' "$scratch/project/CMakeLists.txt"
export OF_BUILD=$scratch/zip
expect 1 "version '2\.8\.1', because: "
expect 1 "version '2\.7\.1', because: libtorch 2\.7\.1 in .*/old is too old: 2\.8" \
  -DFEWBIT_TORCH_ROOT="$scratch/old"
expect 1 "version '2\.11\.1', because: " -DFEWBIT_VENV="$scratch/environment"
export OF_BUILD=$scratch/gone
expect 1 "because: libtorch was not found.*fewbit's own build, $scratch/gone: no usable.*Set FEWBIT_TORCH_ROOT"

echo 'find_torch: all cases hold'
