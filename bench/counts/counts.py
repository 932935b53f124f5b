"""Counts what the CUDA kernels issue and need. With --write FOLDER: cuda_counts.md and .json there, with
the seconds that compiling takes. With --check FILE: compares with those of FILE, exits 1 where a kernel
has grown or a goal is missed, 77 where that cannot be told, for want of cuobjdump or of the same nvcc."""

import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent import futures

import goals
import table
from collect import ARCHITECTURE, code_bytes, collect, digest
from cubin import Library

SKIPPED = 77

# Of releases; the build has one of them.
ARCHITECTURES = ("80", "90", "100", "120")


def version_of(nvcc):
    """"13.0.88" """
    text = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"V([\d.]+)", text)[1]


def same_series(one, other):
    return one.split(".")[:2] == other.split(".")[:2]


def commands(database):
    """The words of the commands that compile the kernels of the library, and where they run."""
    for entry in json.loads(pathlib.Path(database).read_text()):
        words = shlex.split(entry["command"])
        made = words[words.index("-o") + 1]
        if entry["file"].endswith(".cu") and made.startswith("runtime/kernels/cuda/CMakeFiles/"):
            yield words, entry["directory"]


def compile_for(targets, folder, words, place):
    """Compiles one file and says what that took and made: seconds of a processor, ptxas's notes and
    the object."""
    made = f"{folder}/{pathlib.Path(words[words.index('-o') + 1]).name}"
    words = [word for word in words if not word.startswith("--generate-code")]
    words[words.index("-o") + 1] = made
    with open(f"{made}.log", "w+", encoding="utf-8") as log:
        child = subprocess.Popen([*words, "-Xptxas=-v", *targets], cwd=place, stdout=log, stderr=log)
        _, status, usage = os.wait4(child.pid, 0)
        log.seek(0)
        said = log.read()
    if status != 0:
        raise RuntimeError(said)
    return usage.ru_utime + usage.ru_stime, said, made


def compiled(database, cuobjdump):
    """What compiling the kernels for releases takes and makes: {"files", "seconds" of a processor,
    "kernels", "spill_bytes" by what ptxas says, "code_bytes": {architecture: n}}."""
    targets = [f"-gencode=arch=compute_{name},code=sm_{name}" for name in ARCHITECTURES]
    sizes, seconds, spills = collections.Counter(), 0.0, []
    with tempfile.TemporaryDirectory() as folder, futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(compile_for, targets, folder, *command) for command in commands(database)]
        for done in futures.as_completed(running):
            took, said, made = done.result()
            seconds += took
            spills += [int(size) for size in re.findall(r"(\d+) bytes spill stores", said)]
            sizes.update(code_bytes(Library(made, cuobjdump).sections()))
    return {"files": len(running), "seconds": round(seconds), "kernels": len(spills),
            "spill_bytes": sum(spills), "code_bytes": sizes}


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
    inputs = digest(options.library, options.arguments, options.cuobjdump)
    if committed and committed.get("digest") == inputs:
        found = {key: value for key, value in committed.items() if key != "release"}
        return check(found, committed)  # which following every instruction again would find
    counts = {"architecture": ARCHITECTURE, "nvcc": nvcc, "date": str(datetime.date.today()), "digest": inputs}
    counts |= collect(options.library, options.arguments, options.cuobjdump)
    if committed:
        return check(counts, committed)
    counts["release"] = compiled(options.commands, options.cuobjdump)
    counts["code_bytes"] = counts["release"]["code_bytes"]
    write(options.write, counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
