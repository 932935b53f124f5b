#!/usr/bin/env bash
# The first command of the README, from a folder elsewhere: it solves, a second call builds nothing
# and starts at once, files are the caller's, the exit status is the program's.
set -euo pipefail

run=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/run
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  printf 'FAILED: %s\n' "$1"
  cat output errors
  exit 1
}

"$run" --fn gelu --bits 3 >output 2>errors || fail 'the first call fails'
grep -q gelu output || fail 'it does not show the table'

mkdir made
before=$(date +%s%N)
"$run" --fn gelu --bits 3 -o made/gelu.json >output 2>errors || fail 'the second call fails'
milliseconds=$((($(date +%s%N) - before) / 1000000))
[ ! -s errors ] || fail 'the second call builds again or complains'
[ -s made/gelu.json ] || fail 'the file is not in the folder of the caller'

status=0
"$run" --fn nonsense >output 2>errors || status=$?
[ "$status" -ne 0 ] || fail 'a failure of the program is lost'
grep -q '^fewbit-solve: error: ' errors || fail 'the message of the program is lost'

echo "run: all cases hold, second call $milliseconds ms"
