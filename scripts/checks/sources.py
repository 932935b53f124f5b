"""The project's hand-written files, as the checks see them."""

import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP_FOLDERS = ("solver", "codegen", "runtime", "tests", "bench", "examples", "python")
CPP_SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
SKIPPED_FOLDERS = {".git", ".cache", ".tools", ".venv", "build"}
# Comments, strings and characters: nothing in them opens or closes a block.
QUIET = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE | re.DOTALL)
# Angle brackets of `template <...>`, one level inside another.
TEMPLATE = re.compile(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>")


def files_below(folder):
    """Regular files below `folder`, sorted by path, build trees left out."""
    found = []
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            if entry.name not in SKIPPED_FOLDERS:
                found += files_below(entry)
        elif entry.is_file():
            found.append(entry)
    return found


def cpp_files():
    """C++ and CUDA sources, without generated/."""
    folders = (ROOT / name for name in CPP_FOLDERS if (ROOT / name).is_dir())
    return [f for folder in folders for f in files_below(folder) if f.suffix in CPP_SUFFIXES]


def tracked_files():
    """What git tracks or would track; every file where this is no checkout or git is missing."""
    if not shutil.which("git"):
        return files_below(ROOT)
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode != 0:
        return files_below(ROOT)
    paths = {ROOT / name for name in listed.stdout.decode().split("\0") if name}
    return sorted(path for path in paths if path.is_file())


def without_text(source):
    """`source` with comments, strings and directives blanked, its line breaks kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    return DIRECTIVE.sub(blank, QUIET.sub(blank, source))


def shown(path):
    return path.relative_to(ROOT).as_posix()
