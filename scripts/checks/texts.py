"""What every text file keeps to: no path of somebody's machine, no trailing blanks, a short README."""

import re
import sys

from sources import ROOT, shown, tracked_files

README_LINES, README_COLUMNS = 110, 100
# Data as it came, and what programs of ours write.
DATA_FOLDERS = ("tables/", "generated/", "tests/data/", "tests/fuzz/seeds/")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(work|tmp|root|home|Users)(?=/|\b)")


def check_text(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            yield f"{name}:{number}: path of one machine: {line.strip()[:80]}"
        if line != line.rstrip():
            yield f"{name}:{number}: blanks at the end of the line"
    if text and not text.endswith("\n"):
        yield f"{name}: no line break at the end"


def main():
    faults = []
    for path in tracked_files():
        name = shown(path)
        data = path.read_bytes()
        if b"\0" not in data and not name.startswith(DATA_FOLDERS):
            faults += check_text(name, data.decode())
    readme = (ROOT / "README.md").read_text().splitlines()
    if len(readme) > README_LINES:
        faults.append(f"README.md: {len(readme)} lines, limit {README_LINES}")
    faults += [f"README.md:{number}: {len(line)} columns, limit {README_COLUMNS}"
               for number, line in enumerate(readme, 1) if len(line) > README_COLUMNS]
    print("\n".join(faults) or "texts: no machine paths, no stray blanks, README within its limit")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
