"""Machine code as `cuobjdump -sass` lists it."""

import re
from dataclasses import dataclass

BYTES = 16  # of an instruction, since Volta

FUNCTION = re.compile(r"^\s+Function : (\S+)")
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?)(U?P[0-9T]+)\s+)?([A-Z][\w.]*)\s*([^;]*);")


@dataclass(frozen=True)
class Instruction:
    address: int
    guard: str      # "P0", "!UP1"; empty where it always runs
    name: str       # "ISETP"
    modifiers: tuple  # ("GE", "U32", "AND")
    operands: tuple   # as written, without .reuse


def parse(line):
    """The instruction of a line of a listing, None where it has none."""
    found = INSTRUCTION.match(line)
    if not found:
        return None
    address, negation, predicate, opcode, operands = found.groups()
    name, *modifiers = opcode.split(".")
    if name in ("BRX", "JMX"):  # The offset stands behind a space.
        operands = operands.replace(" ", ", ", 1)
    listed = [operand.strip().replace(".reuse", "") for operand in operands.split(",")]
    return Instruction(int(address, 16), negation + predicate if predicate else "", name,
                       tuple(modifiers), tuple(operand for operand in listed if operand))


def functions(listing):
    """{symbol: [Instruction]} of the lines of a listing."""
    found, current = {}, []
    for line in listing:
        if start := FUNCTION.match(line):
            current = found.setdefault(start[1], [])
        elif instruction := parse(line):
            current.append(instruction)
    return found


def opcode(instruction):
    return ".".join((instruction.name, *instruction.modifiers))
