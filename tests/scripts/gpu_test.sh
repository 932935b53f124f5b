#!/usr/bin/env bash
# scripts/gpu where there is no GPU: it says so and skips, whether or not there is an nvidia-smi.
set -euo pipefail

gpu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/gpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect STATUS PATTERN ARGUMENTS...
expect() {
  local wanted=$1 pattern=$2 status=0 output
  shift 2
  output=$(PATH=$scratch:$PATH "$gpu" "$@" 2>&1) || status=$?
  if [ "$status" -ne "$wanted" ] || ! grep -qE "$pattern" <<<"$output"; then
    printf 'FAILED: %s\nstatus %s\n%s\n' "$pattern" "$status" "$output"
    exit 1
  fi
}

printf '#!/bin/sh\necho "No devices were found"\nexit 9\n' >"$scratch/nvidia-smi"
chmod +x "$scratch/nvidia-smi"
expect 77 '^gpu: no GPU here'
expect 77 '^gpu: no GPU here' --out "$scratch/results"
expect 2 'unknown argument: --ouf, accepted: pack, --out FOLDER' --ouf
echo 'gpu: all cases hold'
