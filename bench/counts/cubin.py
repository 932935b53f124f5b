"""What a library holds for its GPUs, by cuobjdump: kernels with their code, constants and needs."""

import pathlib
import re
import struct
import subprocess
import tempfile

import sass
from walk import Kernel

RESOURCES = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")


def sections(data):
    """{name: (bytes of it, size)} of a 64-bit little-endian ELF file; sections without bytes in the
    file (shared memory) have none."""
    start, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    names = data[headers[names_at][4]:]
    found = {}
    for name, kind, _, _, offset, length in headers:
        text = names[name:names.index(b"\0", name)].decode()
        found[text] = (b"" if kind == 8 else data[offset:offset + length], length)
    return found


class Library:
    """The kernels of a library or object, one architecture ("sm_90") at a time."""

    def __init__(self, path, cuobjdump):
        self.path = pathlib.Path(path).resolve()
        self.cuobjdump = cuobjdump

    def ask(self, *arguments, folder=None):
        called = subprocess.run([self.cuobjdump, *arguments, str(self.path)], cwd=folder, check=True,
                                capture_output=True, text=True)
        return called.stdout.splitlines()

    def sections(self):
        """{architecture: [sections of each of its files]}"""
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            self.ask("-xelf", "all", folder=folder)
            for path in sorted(pathlib.Path(folder).glob("*.cubin")):
                found.setdefault(path.suffixes[-2][1:], []).append(sections(path.read_bytes()))
        return found

    def resources(self, architecture):
        """{symbol: (registers, bytes of stack, shared bytes, local bytes)}"""
        found, symbol = {}, None
        for line in self.ask("-res-usage", "-arch", architecture):
            if function := re.match(r"^\s*Function (\S+):$", line):
                symbol = function[1]
            elif (needs := RESOURCES.search(line)) and symbol:
                found[symbol] = tuple(int(number) for number in needs.groups())
        return found

    def code(self, architecture):
        """{symbol: [Instruction]}"""
        return sass.functions(self.ask("-sass", "-arch", architecture))


def kernel(symbol, code, sections_of_all, arguments=b""):
    """A kernel as it runs with these arguments, which end its bank 0 of constants."""
    bank = {}
    for found in sections_of_all:
        if f".nv.constant0.{symbol}" in found:
            size = found[f".nv.constant0.{symbol}"][1]
            bank[0] = [None] * (size - len(arguments)) + list(arguments)
        if f".nv.constant2.{symbol}" in found:
            bank[2] = list(found[f".nv.constant2.{symbol}"][0])
    return Kernel(symbol, code, bank)
