# For sourcing: how the tests of the package say what failed.
# shellcheck shell=bash

fail() {
  printf 'FAILED: %s\n' "$1"
  exit 1
}

# step NAME COMMAND...: keeps the output in $output, shows it when the command fails.
step() {
  local name=$1
  shift
  output=$("$@" 2>&1) || { printf '%s\n' "$output" && fail "$name"; }
}
