"""The counts of a library: what every kernel needs, and what every pass issues."""

import hashlib
import json
import pathlib
import re
import subprocess

from cubin import Library, kernel
from sass import BYTES
from walk import Walk

ARCHITECTURE = "sm_90"

# Of one multiprocessor of it.
REGISTERS, REGISTERS_OF_WARP, WARPS, BLOCKS = 65536, 256, 64, 32
SHARED, SHARED_OF_BLOCK = 228 * 1024, 1024  # the second is the system's, beside what a kernel asks for

TYPES = ("f32", "bf16", "f16", "f64")
SYMBOL = re.compile(r"4cuda\d+(forward|backward|round|bisection|"
                    r"(?:(?:rotated|trellis)(?:_class)?|group|mask|integer|normal_bins)_(?:en|de)code)"
                    r"(_doubles|_samples)?_kernel")
ROUNDINGS = (None, "random", "dithered", "squares")
INTEGERS = ("bool", "u8", "i32", "i64")
MASKS = {"1065353216": "f32", "16256": "bf16", "15360": "f16", "4607182418800017408": "f64"}  # by their 1


def name_of(symbol):
    """"forward gelu bf16", "backward bf16 3", "backward zeros bf16 3" of tables with zero levels,
    "bisection f32", "rotated_encode bf16 256", "group_encode bf16 random", "mask_decode bool"; None for
    other symbols."""
    found = SYMBOL.search(symbol)
    if not found:
        return None
    if "_" in found[1]:
        return quantizer_name(symbol, found[1], found[2])
    namespace = re.search(r"9generated(\d+)", symbol)  # followed by so many letters of a name
    function = namespace and symbol[namespace.end():namespace.end() + int(namespace[1])]
    element = re.search(r"ElementTypeE(\d)E", symbol)
    bits = re.search(r"ELi(\d)E", symbol)
    kind = "f64" if found[2] else TYPES[int(element[1])]
    zeros = "zeros" if found[1] == "backward" and "ELb1E" in symbol else None
    return " ".join(filter(None, (found[1], zeros, function, kind, bits and bits[1])))


def quantizer_name(symbol, name, kind_of_pass):
    """By the type, and the group or how it is rounded; " samples" where those have bits of their own;
    "rotated_encode_together" of several tensors."""
    if name.startswith("mask"):
        one = re.search(r"L[jtm](\d+)EEEE", symbol)
        return f"{name} {MASKS[one[1]] if one else 'bool'}"
    kind = re.search(r"(Element|Integer)TypeE(\d)E", symbol)
    element = "f64" if kind_of_pass == "_doubles" else (INTEGERS if kind[1] == "Integer" else TYPES)[int(kind[2])]
    group = re.search(r"ELi(\d+)E", symbol)
    if re.search(r"ELi\d+ELi(?!1E)\d+EEEvNS1_8Together", symbol):
        name += "_together"
    rounding = re.search(r"RoundingE(\d)E", symbol)
    rounded = rounding and ROUNDINGS[int(rounding[1])]
    return " ".join(filter(None, (name, element, group and group[1], rounded,
                                  "samples" if kind_of_pass == "_samples" else None)))


def kernel_of(row):
    """The name of the kernel of a pass."""
    if "kernel" in row:
        return row["kernel"]
    bits = row["bits"] if row["pass"] == "backward" and row["type"] != "f64" else ""
    return " ".join(filter(None, (row["pass"], row.get("function"), row["type"], str(bits))))


def pass_name(row):
    if "kernel" in row:
        states = f"s{row['states']}" if "states" in row else ""
        classes = f"c{row['class_bits']}" if "class_bits" in row else ""
        return f"{row['kernel']} b{row['bits']}{states}{classes}"
    which = row["bits"] if row["pass"] == "backward" else row.get("table", "values")
    return " ".join(filter(None, (row["pass"], row.get("function"), row["type"], str(which))))


def occupancy(registers, shared, threads):
    """The share of a multiprocessor's warps that fit at a time."""
    warps = threads // 32
    of_warp = -(-registers * 32 // REGISTERS_OF_WARP) * REGISTERS_OF_WARP
    blocks = min(WARPS // warps, BLOCKS, REGISTERS // of_warp // warps,
                 SHARED // (shared + SHARED_OF_BLOCK))
    return blocks * warps / WARPS


def spill_bytes(code):
    """Bytes that a thread stores to local memory."""
    widths = {"64": 8, "128": 16, "U8": 1, "U16": 2}
    return sum(next((widths[m] for m in instruction.modifiers if m in widths), 4)
               for instruction in code if instruction.name == "STL")


def needs(code, resources, threads):
    registers, _, shared, _ = resources
    return {"registers": registers, "shared_bytes": shared, "spill_bytes": spill_bytes(code),
            "occupancy": occupancy(registers, shared, threads),
            "code_bytes": BYTES * len(code)}


def bytes_of_access(followed):
    """That a thread's loads and stores of the device's memory have on average."""
    widths = {"64": 8, "128": 16, "U8": 1, "S8": 1, "U16": 2, "S16": 2}
    total = times = 0
    for address, count in followed.issued.items():
        instruction = followed.kernel.at[address]
        if instruction.name in ("LDG", "STG"):
            total += count * next((widths[m] for m in instruction.modifiers if m in widths), 4)
            times += count
    return total / times


def issued(row, followed):
    """Of one pass, by the element; of quantizers, "bytes" are those moved, by the element."""
    found = {"instructions": followed.steps / row["elements"],
             "loop": followed.loop_instructions() / row["elements"],
             "slow_paths": len(followed.slow_paths)}
    if "bytes" in row:
        found["bytes_of_access"] = round(bytes_of_access(followed), 1)
    return found | {key: row[key] for key in ("bits", "thresholds", "even", "bytes") if key in row}


def code_bytes(sections):
    """{architecture: bytes of machine code}"""
    return {architecture: sum(size for file in files for name, (_, size) in file.items()
                              if name.startswith(".text."))
            for architecture, files in sections.items()}


def threads_of(symbol, files):
    """The launch bound: attribute 5 of the kernel's information."""
    for file in files:
        data, _ = file.get(f".nv.info.{symbol}", (b"", 0))
        at = 0
        while at + 4 <= len(data):
            kind, attribute, size = data[at], data[at + 1], int.from_bytes(data[at + 2:at + 4], "little")
            if kind == 4 and attribute == 5:
                return int.from_bytes(data[at + 4:at + 8], "little")
            at += 4 + (size if kind == 4 else 0)
    raise ValueError(f"{symbol} has no launch bound")


def printed(program):
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def digest(path, program, cuobjdump):
    """Of all that the counts are made of: the library's machine code, its constants and needs, the
    arguments that `program` prints, and the files that count. Symbols hold paths and are left out."""
    library = Library(path, cuobjdump)
    files = library.sections()[ARCHITECTURE]
    parts = [data for file in files for name, (data, _) in file.items()
             if name.startswith((".text.", ".nv.constant"))]
    parts += [f"{resources} {threads_of(symbol, files)}".encode()
              for symbol, resources in library.resources(ARCHITECTURE).items() if name_of(symbol)]
    parts += [printed(program).encode()]
    parts += [file.read_bytes() for file in pathlib.Path(__file__).parent.glob("*.py")]
    return hashlib.sha256(b"".join(sorted(hashlib.sha256(part).digest() for part in parts))).hexdigest()


def collect(path, program, cuobjdump):
    """{"kernels": {name: needs}, "passes": {name: what is issued}, "code_bytes": {architecture: n}}
    of the library at `path`, with the arguments that `program` prints."""
    library = Library(path, cuobjdump)
    sections = library.sections()
    files, code = sections[ARCHITECTURE], library.code(ARCHITECTURE)
    resources = library.resources(ARCHITECTURE)
    symbols = {name_of(symbol): symbol for symbol in code if name_of(symbol)}
    kernels = {name: needs(code[symbol], resources[symbol], threads_of(symbol, files))
               for name, symbol in sorted(symbols.items())}
    passes = {}
    for row in json.loads(printed(program)):
        symbol = symbols[kernel_of(row)]
        followed = Walk(kernel(symbol, code[symbol], files, bytes.fromhex(row["arguments"])))
        passes[pass_name(row)] = issued(row, followed)
    return {"kernels": kernels, "passes": passes, "code_bytes": code_bytes(sections)}
