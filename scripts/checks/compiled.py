"""compiled.py BUILD FOLDER...: sources below the folders that BUILD compiles, separated by NUL."""

import json
import pathlib
import sys

from sources import ROOT


def main():
    database, *folders = sys.argv[1:]
    entries = json.loads((pathlib.Path(database) / "compile_commands.json").read_text())
    wanted = [ROOT / folder for folder in folders]
    files = {pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in entries}
    # clang-tidy does not know nvcc's options.
    found = sorted(f for f in files
                   if f.suffix == ".cpp" and any(folder in f.parents for folder in wanted))
    if not found:
        sys.exit("tidy: " + database + " compiles nothing below " + ", ".join(folders))
    print(*found, sep="\0", end="\0")


main()
