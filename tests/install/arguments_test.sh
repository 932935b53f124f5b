#!/usr/bin/env bash
# arguments_test.sh MODULE: every wrong argument of fewbit_add_activation stops the configuration
# with one clear line.
set -euo pipefail

module=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect MESSAGE ARGUMENTS: the call fails and says MESSAGE.
expect() {
  local output
  cat >"$scratch/CMakeLists.txt" <<PROJECT
cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES NONE)
add_executable(fewbit::fewbit-solve IMPORTED)
include($module)
add_library(app INTERFACE)
fewbit_add_activation($2)
PROJECT
  if output=$(cmake -G Ninja -S "$scratch" -B "$scratch/build" 2>&1) ||
    ! tr -s ' \n' ' ' <<<"$output" | grep -qF -- "fewbit_add_activation: $1"; then
    printf 'FAILED: %s\nwanted: %s\n%s\n' "$2" "$1" "$output"
    exit 1
  fi
}

expect "'nobody' is not a target" 'nobody NAME a EXPR x^2 BITS 3'
expect 'NAME is missing' 'app EXPR x^2 BITS 3'
expect 'EXPR is missing' 'app NAME a BITS 3'
expect "NAME is '3a', accepted: a C++ identifier" 'app NAME 3a EXPR x^2 BITS 3'
expect 'BITS (1 to 8) or LEVELS (2 to 256) is missing' 'app NAME a EXPR x^2'
expect 'BITS and LEVELS exclude each other' 'app NAME a EXPR x^2 BITS 3 LEVELS 8'
expect "BITS is '9', accepted: 1 to 8" 'app NAME a EXPR x^2 BITS 9'
expect "BITS is '0', accepted: 1 to 8" 'app NAME a EXPR x^2 BITS 0'
expect "BITS is 'three', accepted: 1 to 8" 'app NAME a EXPR x^2 BITS three'
expect "LEVELS is '257', accepted: 2 to 256" 'app NAME a EXPR x^2 LEVELS 257'
expect "FORM is 'steps', accepted: levels, intervals" 'app NAME a EXPR x^2 BITS 3 FORM steps'
expect "OBJECTIVE is 'sharp'" 'app NAME a EXPR x^2 BITS 3 OBJECTIVE sharp'
expect "WEIGHT is 'gauss:0,1'" 'app NAME a EXPR x^2 BITS 3 WEIGHT gauss:0,1'
expect "WEIGHT file is missing: $scratch/none.csv" \
  'app NAME a EXPR x^2 BITS 3 WEIGHT histogram:none.csv'
expect "DOMAIN is '3', accepted: LO,HI" 'app NAME a EXPR x^2 BITS 3 DOMAIN 3'
expect "DTYPE is 'int8', accepted: exact" 'app NAME a EXPR x^2 BITS 3 DTYPE int8'
expect "LANG is 'rust', accepted: cpp, cuda" 'app NAME a EXPR x^2 BITS 3 LANG rust'
expect 'TORCH needs find_package(fewbit COMPONENTS runtime)' 'app NAME a EXPR x^2 BITS 3 TORCH'
expect "unknown argument 'BIT;3'" 'app NAME a EXPR x^2 BIT 3'
expect "no value after 'BITS'" 'app NAME a EXPR x^2 BITS'
expect "NAME 'a' is taken by another call" \
  'app NAME a EXPR x^2 BITS 3)
fewbit_add_activation(app NAME a EXPR x^3 BITS 3'
echo 'arguments: every wrong one is named'
