"""Counts what the CUDA kernels issue and need. With --write FOLDER: cuda_counts.md and .json there, with
the seconds that compiling takes. With --check FILE: compares with those of FILE, exits 1 where a kernel
has grown or a goal is missed, 77 where that cannot be told, for want of cuobjdump or of the same nvcc."""

import argparse
import datetime
import json
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

import goals
import table
from collect import ARCHITECTURE, collect

SKIPPED = 77


def version_of(nvcc):
    """"13.0.88" """
    text = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"V([\d.]+)", text)[1]


def same_series(one, other):
    return one.split(".")[:2] == other.split(".")[:2]


def compiled(database):
    """How many files of kernels the compile commands have, and the seconds they take, one by one and
    without a cache."""
    entries = [entry for entry in json.loads(pathlib.Path(database).read_text())
               if entry["file"].endswith(".cu") and "/tests/" not in entry["file"]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            words = shlex.split(entry["command"])
            words[words.index("-o") + 1] = f"{folder}/object.o"
            first = next(i for i, word in enumerate(words) if word.endswith("nvcc"))
            subprocess.run(words[first:], check=True, cwd=entry["directory"], capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"files": len(entries), "seconds": round(seconds, 1)}


def write(folder, counts):
    folder = pathlib.Path(folder)
    (folder / "cuda_counts.json").write_text(json.dumps(counts, indent=1) + "\n")
    (folder / "cuda_counts.md").write_text(table.markdown(counts))
    for fault in goals.broken(counts):
        print(f"misses a goal: {fault}")


def check(counts, committed):
    faults = goals.broken(counts) + goals.grown(counts, committed)
    for fault in faults:
        print(f"cuda counts: {fault}")
    if faults:
        print("cuda counts: where that is meant, scripts/bench cuda-counts writes the new ones")
        return 1
    print(f"cuda counts: {len(counts['passes'])} passes and {len(counts['kernels'])} kernels keep to theirs")
    return 0


def skip(reason):
    print(f"cuda counts: skipped, {reason}")
    return SKIPPED


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True, help="static library or object")
    parser.add_argument("--arguments", required=True, help="the program cuda_arguments")
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--cuobjdump", required=True, help="empty or ...-NOTFOUND where there is none")
    parser.add_argument("--commands", help="compile_commands.json, for --write")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--check", metavar="FILE")
    options = parser.parse_args()

    if not options.cuobjdump or options.cuobjdump.endswith("NOTFOUND"):
        return skip("no cuobjdump: it comes with CUDA, and with the triton package beside torch")
    nvcc = version_of(options.nvcc)
    committed = json.loads(pathlib.Path(options.check).read_text()) if options.check else None
    if committed and not same_series(nvcc, committed["nvcc"]):
        return skip(f"nvcc is {nvcc}, the committed counts are of {committed['nvcc']}")
    counts = {"architecture": ARCHITECTURE, "nvcc": nvcc, "date": str(datetime.date.today())}
    counts |= collect(options.library, options.arguments, options.cuobjdump)
    if committed:
        return check(counts, committed)
    counts["compiled"] = compiled(options.commands)
    write(options.write, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
