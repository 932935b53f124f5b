"""The counts as Markdown."""

import goals

# Multiprocessors, cycles a second, bytes a second that a copy reaches. B200: assumed clocks.
GPUS = {"H100": (132, 1.755e9, 3.0e12), "H200": (132, 1.98e9, 4.3e12), "B200": (148, 1.85e9, 7.2e12)}
LANES = 128  # instructions of a thread that a multiprocessor issues in a cycle

INTRODUCTION = """\
# What the CUDA kernels issue

`scripts/bench cuda-counts`, {date}, nvcc {nvcc}, {architecture}; nothing here was run on a GPU.

Instructions that a thread issues for a tile of 32 elements of its own, all of them: addresses, loads, codes,
values, stores, and what a predicate turns off. The machine code is followed from the launcher's arguments on
(2^20 elements, aligned), so that loops run and switches go as they would. Where lanes may differ, around a
zero or in a tail, both ways count, as in a warp that has both; slow paths of divisions do not, nor does what
a warp votes on and hardly ever has, as groups that are scaled or without numbers. Tables are those that the operations take by default (`smoothed_normal`, or the exact one of a function of straight
lines). "Room" is how many instructions a GPU issues while its memory moves the element at the speed of a
copy, an H200's where none is named: its multiprocessors times 128 times its clock over that speed. The clock of
the B200 is assumed. Of `trellis_encode` it is a thread with a group to search that is counted, of its own 32
elements as the others: each of 8192 / group threads of a block searches a whole group meanwhile, in as few
warps as can be, and the other warps of the block wait.
"""


def room(type_name, bits, gpu="H200"):
    """Instructions an element that are issued while a copy moves its bytes, read and written."""
    return room_of(2 * (4 if type_name == "f32" else 2) + bits / 8, gpu)


def room_of(bytes_moved, gpu="H200"):
    """The same of any bytes: a quantizer reads elements or writes them, not both."""
    processors, clock, bandwidth = GPUS[gpu]
    return processors * LANES * clock / bandwidth * bytes_moved


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*cells):
    return [row(*cells), "|" + "---|" * len(cells)]


def goal_lines(counts):
    """The goals and what stands against them."""
    backward = {name: found["instructions"] for name, found in counts["passes"].items()
                if goals.limit_of(name) == goals.BACKWARD}
    worst = max(backward, key=backward.get)
    kernels = counts["kernels"]
    full = min((name for name in kernels if "_together" not in name),
               key=lambda name: kernels[name]["occupancy"])
    largest = max(counts["code_bytes"], key=counts["code_bytes"].get)
    lines = head("goal", "limit", "found", "where")
    lines.append(row("backward, instructions an element", f"{goals.BACKWARD:.0f}",
                     f"{backward[worst]:.1f}", worst))
    for name, limit in goals.FORWARD.items():
        lines.append(row("forward, instructions an element", f"{limit:.0f}",
                         f"{counts['passes'][name]['instructions']:.1f}", name))
    for name, limit in goals.QUANTIZERS.items():
        lines.append(row("quantizer, instructions an element", f"{limit:.0f}",
                         f"{counts['passes'][name]['instructions']:.1f}", name))
    release = counts["release"]
    lines.append(row("spills, bytes", 0, release["spill_bytes"],
                     f"{release['kernels']} kernels of all architectures"))
    lines.append(row("occupancy, at least", f"{goals.OCCUPANCY:.0%}",
                     f"{kernels[full]['occupancy']:.0%}", full))
    lines.append(row("code of an architecture, MB", f"{goals.CODE_BYTES / 1e6:.0f}",
                     f"{counts['code_bytes'][largest] / 1e6:.1f}", largest))
    return lines


def room_lines(counts):
    """GELU in 3 bits beside what GPUs have room for."""
    columns = [(pass_name, kind) for kind in ("bf16", "f32")
               for pass_name in (f"forward gelu {kind} smoothed_normal_b3", f"backward {kind} 3")]
    lines = head("GELU, 3 bits", "bf16 forward", "bf16 backward", "f32 forward", "f32 backward")
    lines.append(row("instructions an element",
                     *(f"{counts['passes'][name]['instructions']:.1f}" for name, _ in columns)))
    for gpu, (processors, clock, bandwidth) in GPUS.items():
        title = f"room, {gpu} ({processors} x {clock / 1e9:g} GHz, {bandwidth / 1e12:g} TB/s)"
        lines.append(row(title, *(f"{room(kind, 3, gpu):.0f}" for _, kind in columns)))
    return lines


def needs(kernel):
    return (kernel["registers"], kernel["spill_bytes"], f"{kernel['occupancy']:.0%}",
            kernel["code_bytes"])


NEEDS = ("registers", "spill bytes", "occupancy", "code bytes")


def backward_lines(counts):
    lines = head("type", "bits", "instructions", "room", *NEEDS)
    for name, found in counts["passes"].items():
        kernel = counts["kernels"].get(name)
        if name.startswith("backward") and kernel:
            _, kind, bits = name.split()
            lines.append(row(kind, bits, f"{found['instructions']:.1f}",
                             f"{room(kind, int(bits)):.0f}", *needs(kernel)))
    return lines


def functions_of(counts):
    """"gelu bf16" of all forward kernels for tiles."""
    return [name.removeprefix("forward ") for name in counts["kernels"]
            if name.startswith("forward ") and not name.endswith("f64")]


def by_bits(counts, subject):
    """{bits: what its pass issues} with the default tables."""
    return {found["bits"]: found for name, found in counts["passes"].items()
            if name.startswith(f"forward {subject} ") and found.get("bits")
            and not name.endswith("intervals_uniform_b3")}


def forward_lines(counts):
    lines = head("function", "type", "values only", "1 bit", "2 bits", "3 bits", "4 bits",
                 "of which loop", "room", "slow paths", *NEEDS)
    for subject in functions_of(counts):
        function, kind = subject.split()
        passes = by_bits(counts, subject)
        values = counts["passes"][f"forward {subject} values"]
        shown = 3 if 3 in passes else max(passes)
        cells = [f"{passes[bits]['instructions']:.1f}" if bits in passes else "" for bits in (1, 2, 3, 4)]
        lines.append(row(function, kind, f"{values['instructions']:.1f}", *cells,
                         f"{passes[shown]['loop']:.1f}", f"{room(kind, shown):.0f}",
                         values["slow_paths"], *needs(counts["kernels"][f"forward {subject}"])))
    return lines


def quantizer_lines(counts):
    lines = head("pass", "instructions", "of which loop", "room", "bytes an access", "slow paths",
                 *NEEDS)
    for name, found in counts["passes"].items():
        if "bytes" in found:
            kernel = counts["kernels"][name.rsplit(" ", 1)[0]]
            lines.append(row(name, f"{found['instructions']:.1f}", f"{found['loop']:.1f}",
                             f"{room_of(found['bytes']):.0f}", found["bytes_of_access"],
                             found["slow_paths"], *needs(kernel)))
    return lines


def other_lines(counts):
    """Kernels that work element by element, by kind and type."""
    groups = {}
    for name, kernel in counts["kernels"].items():
        first, *_, last = name.split()
        if first in ("round", "bisection") or (last == "f64" and "_" not in first):
            groups.setdefault((first, last), []).append(kernel)
    lines = head("kernel", "type", "kernels", *(f"most {need}" for need in NEEDS[:2]),
                 "least occupancy", "most code bytes")
    for (kind, type_name), kernels in sorted(groups.items()):
        lines.append(row(kind, type_name, len(kernels),
                         *(max(kernel[key] for kernel in kernels)
                           for key in ("registers", "spill_bytes")),
                         f"{min(kernel['occupancy'] for kernel in kernels):.0%}",
                         max(kernel["code_bytes"] for kernel in kernels)))
    return lines


def code_lines(counts):
    lines = head("architecture", "code, MB", "limit, MB")
    for architecture, size in sorted(counts["code_bytes"].items(), key=lambda entry: int(entry[0][3:])):
        lines.append(row(architecture, f"{size / 1e6:.2f}", f"{goals.CODE_BYTES / 1e6:.0f}"))
    release = counts["release"]
    return lines + ["", f"Compiling the {release['files']} files for these takes {release['seconds']} seconds of a "
                    "processor."]


def markdown(counts):
    paper = counts["passes"]["forward gelu bf16 intervals_uniform_b3"]
    usual = counts["passes"]["forward gelu bf16 smoothed_normal_b3"]
    parts = [
        INTRODUCTION.format(**{key: counts[key] for key in ("date", "nvcc", "architecture")}),
        *goal_lines(counts), "", *room_lines(counts), "",
        f"GELU in 3 bits has {usual['thresholds']} thresholds, the paper's table {paper['thresholds']}, which takes "
        f"{paper['instructions']:.1f} instructions an element of bf16.",
        "", "## Backward", "", *backward_lines(counts),
        "", "## Forward", "",
        "\"of which loop\": over the thresholds of the table for 3 bits, or for 1.",
        "", *forward_lines(counts),
        "", "## Quantizers", "",
        "The last word is the bits of a code, behind s the states of a trellis, behind c the bits of the class that "
        "an element has; groups are of 256 elements where no size is named. Of loads and stores of the device's "
        "memory an access has so many bytes of a thread. \"together\": several small tensors in one launch.",
        "", *quantizer_lines(counts),
        "", "## Element by element", "",
        "Codes of the unbiased form (round) and of tables of many thresholds (bisection); doubles.",
        "", *other_lines(counts), "", "## Code", "", *code_lines(counts), ""]
    return "\n".join(parts)
