"""compiled.py BUILD FOLDER...: what BUILD compiles of the sources below the folders, separated by NUL:
sources, and the files that CMake makes of several ("unity")."""

import json
import pathlib
import sys

from sources import ROOT


def source_folder(file, database):
    """The folder of the sources that a compiled file is made of."""
    if database not in file.parents:
        return file.parent
    parts = file.relative_to(database).parts
    return ROOT.joinpath(*parts[: parts.index("CMakeFiles")]) if "CMakeFiles" in parts else file.parent


def main():
    database, *folders = sys.argv[1:]
    database = pathlib.Path(database).resolve()
    entries = json.loads((database / "compile_commands.json").read_text())
    wanted = [ROOT / folder for folder in folders]
    files = {pathlib.Path(entry["directory"], entry["file"]).resolve() for entry in entries}
    # clang-tidy does not know nvcc's options.
    found = sorted(f for f in files if (f.suffix == ".cpp" or "Unity" in f.parts) and any(
        folder in (source_folder(f, database) / f.name).parents for folder in wanted))
    if not found:
        sys.exit(f"tidy: {database} compiles nothing below {', '.join(folders)}")
    print(*found, sep="\0", end="\0")


main()
