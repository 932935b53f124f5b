# For sourcing: where the repository is, and a build that keeps quiet unless it has something to say.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# quietly COMMAND...: shows the command's output only when it fails, without ninja's list of what
# went well.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || grep -v '^\[[0-9]*/[0-9]*\] ' "$log" >&2 || true
  rm -f "$log"
  return "$status"
}

# build_tree PRESET TARGET...: configures build/PRESET where that was not done yet and builds the
# targets; says so on stderr when there is anything to build. One at a time per tree.
build_tree() {
  local preset=$1 tree=$root/build/$1 steps
  shift
  mkdir -p "$root/build"
  exec 9>"$root/build/$preset.lock"
  flock 9
  if [ ! -f "$tree/build.ninja" ]; then
    printf 'fewbit: configuring build/%s\n' "$preset" >&2
    (cd "$root" && quietly cmake --preset "$preset")
  fi
  steps=$(ninja -C "$tree" -n "$@" 2>/dev/null | grep -c '^\[' || true)
  if [ "$steps" -gt 0 ]; then
    printf 'fewbit: building %s (%s steps)\n' "$preset" "$steps" >&2
    if [ -t 2 ]; then
      ninja -C "$tree" "$@" >&2
    else
      quietly ninja -C "$tree" "$@"
    fi
  fi
  exec 9>&-
}
