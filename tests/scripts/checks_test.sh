#!/usr/bin/env bash
# The source checks find what they are there for: each is run on a copy with one fault planted.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# fresh_copy: the sources without their history.
fresh_copy() {
  rm -rf "$scratch/copy"
  mkdir "$scratch/copy"
  (cd "$root" && cp -r CMakeLists.txt README.md solver codegen runtime scripts "$scratch/copy")
}

# expect_fault CHECK PATTERN: the check fails on the copy and names the fault.
expect_fault() {
  local output
  if output=$("$scratch/copy/scripts/check" "$1" 2>&1) || ! grep -qE "$2" <<<"$output"; then
    printf 'FAILED: check %s does not find %s\n%s\n' "$1" "$2" "$output"
    exit 1
  fi
}

fresh_copy
echo '#include "search/solve.hpp"' >>"$scratch/copy/solver/verify/verify.cpp"
expect_fault layers 'solver/verify/verify.cpp:[0-9]+: verify may not include search'

fresh_copy
echo '#include <torch/torch.h>' >>"$scratch/copy/solver/base/text.cpp"
expect_fault layers 'base/text.cpp:[0-9]+: only allocation, autograd, calibration, [a-z, ]* may include torch/'

fresh_copy
echo '#include "dispatch/interception.hpp"' >>"$scratch/copy/runtime/ops/library.cpp"
expect_fault layers 'runtime/ops/library.cpp:[0-9]+: ops may not include dispatch'

fresh_copy
echo '# fewbit::search' >>"$scratch/copy/codegen/CMakeLists.txt"
expect_fault layers 'codegen/CMakeLists.txt: codegen may not link search'

fresh_copy
{
  echo 'template <class T>'
  echo 'T planted(T x) {'
  yes '  x += 1;' | head -n 100 || true
  printf '  return x;\n}\n'
} >>"$scratch/copy/solver/base/text.cpp"
expect_fault sizes 'too large: planted +solver/base/text.cpp:[0-9]+: 104 lines'

fresh_copy
yes '// line' 2>/dev/null | head -n 501 >"$scratch/copy/solver/base/long.cpp" || true
expect_fault sizes 'too large: solver/base/long.cpp: 501 lines'

fresh_copy
printf '// see /%s/somebody/notes\n' home >>"$scratch/copy/solver/base/text.cpp"
expect_fault texts 'text.cpp:[0-9]+: path of one machine'

fresh_copy
yes line 2>/dev/null | head -n 111 >"$scratch/copy/README.md" || true
expect_fault texts 'README.md: 111 lines, limit 110'

fresh_copy
echo 'int   planted;' >>"$scratch/copy/solver/base/text.cpp"
cp "$root/.clang-format" "$scratch/copy"
expect_fault format 'solver/base/text.cpp:[0-9]+: not as clang-format writes it'

fresh_copy
printf '/// Adds.\nclass Planted {\n};\n' >>"$scratch/copy/runtime/include/fewbit/bits.hpp"
expect_fault docstrings 'fewbit/bits.hpp:[0-9]+: Planted has no example'

fresh_copy
for file in text error; do
  printf 'namespace planted::twice {\nstruct Thing {\n  int x;\n};\n}\n' >>"$scratch/copy/solver/base/$file.cpp"
done
expect_fault definitions 'defined twice: planted::twice::Thing: solver/base/error.cpp:[0-9]+ and'

echo 'checks: every planted fault is found'
