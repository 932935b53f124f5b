"""What integer, predicate and move instructions compute: as much as decides which way a kernel goes.

Registers hold words of 32 bits; None stands for a value that is not known. An instruction that is not
known here, or that reads something unknown, makes its results unknown."""

import itertools
import re
import struct

MASK = 0xFFFFFFFF

REGISTER = re.compile(r"^([-~!|]*)(U?[RP])(\d+|Z|T)\|?(?:\.\w+)*$")
CONSTANT = re.compile(r"^([-~]?)c\[0x([0-9a-f]+)\]\[(?:(U?R\d+|RZ|URZ)\+?)?(?:0x([0-9a-f]+))?\]$")
NUMBER = re.compile(r"^-?(0x[0-9a-f]+|\d+)$")

# Instructions without a result, or with none but in memory.
SILENT = {"BAR", "BRA", "BRX", "BSSY", "BSYNC", "BREAK", "CALL", "DEPBAR", "ENDCOLLECTIVE", "EXIT",
          "LEPC", "MEMBAR", "NANOSLEEP", "NOP", "RED", "RET", "ST", "STG", "STL", "STS", "WARPSYNC",
          "YIELD"}


def is_predicate(operand):
    return re.match(r"^U?P[0-9T]+$", operand) is not None


def signed(word):
    return word - (1 << 32) if word >> 31 else word


class State:
    """Registers of one thread, and the constants it reads: {bank: bytes or None each}."""

    def __init__(self, constants, special):
        self.constants = constants
        self.special = special
        self.values = {}

    def copy(self):
        other = State(self.constants, self.special)
        other.values = dict(self.values)
        return other

    def forget_differences(self, other):
        self.values = {name: value for name, value in self.values.items()
                       if other.values.get(name) == value}

    # Reading -----------------------------------------------------------------------------------

    def constant(self, bank, offset, count):
        """`count` bytes as a number, None where one of them is not known."""
        data = self.constants.get(bank, [])
        found = [data[i] if i < len(data) else None for i in range(offset, offset + count)]
        return None if None in found else int.from_bytes(bytes(found), "little")

    def constant_operand(self, operand, count=4):
        sign, bank, register, offset = CONSTANT.match(operand).groups()
        base = self.read(register) if register else 0
        if base is None:
            return None
        value = self.constant(int(bank, 16), (base + int(offset or "0", 16)) & MASK, count)
        if value is None or not sign:
            return value
        return (-value if sign == "-" else ~value) & MASK

    def read(self, operand):
        """The word of an operand, or the truth of a predicate."""
        if found := REGISTER.match(operand):
            signs, kind, number = found.groups()
            if number == "Z":
                value = 0
            elif number == "T":
                value = True
            else:
                value = self.values.get(kind + number)
            if value is None or not signs:
                return value
            if signs == "!":
                return not value
            return {"-": -value & MASK, "~": ~value & MASK}.get(signs)
        if NUMBER.match(operand):
            return int(operand, 0) & MASK
        if CONSTANT.match(operand):
            return self.constant_operand(operand)
        return None

    def pair(self, operand):
        """The 64 bits of a register and the next, or of a number."""
        low = self.read(operand)
        if operand in ("RZ", "URZ"):
            return 0
        if not re.match(r"^U?R\d+$", operand):
            if CONSTANT.match(operand):
                return self.constant_operand(operand, 8)
            return low
        high = self.read(following(operand))
        return None if low is None or high is None else high << 32 | low

    # Writing -----------------------------------------------------------------------------------

    def write(self, register, value):
        if register in ("RZ", "URZ", "PT", "UPT"):
            return
        if value is None:
            self.values.pop(register, None)
        else:
            self.values[register] = value

    def write_words(self, register, value, count):
        """The words of a number, lowest first, into consecutive registers."""
        for i in range(count):
            self.write(register, None if value is None else value >> 32 * i & MASK)
            register = following(register)

    def run(self, instruction):
        """Does what the instruction does to registers."""
        if instruction.name in SILENT:
            return
        guard = self.read(instruction.guard) if instruction.guard else True
        if guard is False:
            return
        before = dict(self.values)
        handler = HANDLERS.get(plain_name(instruction.name))
        if handler is None or not handler(self, instruction.modifiers, instruction.operands):
            forget_results(self, instruction)
        if guard is None:
            self.values = {name: value for name, value in self.values.items()
                           if before.get(name) == value}


def following(register):
    """The next register; RZ is its own."""
    found = re.match(r"^(U?R)(\d+)$", register)
    return f"{found[1]}{int(found[2]) + 1}" if found else register


def plain_name(name):
    """The vector instruction of which the uniform one is the twin."""
    if name in ("UMOV", "ULDC", "USHF", "USEL") or name[:2] in ("UI", "UL", "UP", "UV"):
        return name[1:]
    return {"LDCU": "LDC"}.get(name, name)


def result_words(instruction):
    """Registers that a result takes, where the instruction is not known otherwise."""
    if "128" in instruction.modifiers:
        return 4
    wide = {"64", "WIDE", "F64", "U64", "S64"} & set(instruction.modifiers[:2])
    return 2 if wide or instruction.name in ("DADD", "DMUL", "DFMA", "CS2R") else 1


def forget_results(state, instruction):
    operands = list(instruction.operands)
    while operands and is_predicate(operands[0]):
        state.write(operands.pop(0), None)
    if instruction.name.endswith("SETP") or not operands:
        return
    if re.match(r"^U?R\d+$", operands[0]):
        state.write_words(operands[0], None, result_words(instruction))


# Handlers: (state, modifiers, operands) -> whether they knew what to do ----------------------------

def known(*values):
    return None not in values


def move(state, _, operands):
    state.write(operands[0], state.read(operands[1]))
    return True


def special(state, _, operands):
    state.write(operands[0], state.special.get(operands[1]))
    return True


def clear_pair(state, modifiers, operands):
    if operands[1] != "SRZ":
        return False
    state.write_words(operands[0], 0, 1 if "32" in modifiers else 2)
    return True


def load_constant(state, modifiers, operands):
    if not CONSTANT.match(operands[1]):
        return False
    size = {"64": 8, "128": 16, "U8": 1, "U16": 2}.get(modifiers[0], None) if modifiers else 4
    if size is None:
        return False
    value = state.constant_operand(operands[1], size)
    state.write_words(operands[0], value, max(1, size // 4))
    return True


def halves_constant(state, _, operands):
    """HFMA2 -RZ, RZ, high, low: how the compiler moves a constant by another pipe."""
    if list(operands[1:3]) != ["-RZ", "RZ"]:
        return False
    try:
        high, low = (struct.pack("<e", float(text)) for text in operands[3:5])
    except (ValueError, OverflowError):
        return False
    state.write(operands[0], int.from_bytes(low + high, "little"))
    return True


def multiply_add(state, modifiers, operands):
    if "HI" in modifiers:
        return False
    first, second = state.read(operands[1]), state.read(operands[2])
    carry = state.read(operands[4]) if "X" in modifiers else False
    wide = "WIDE" in modifiers
    addend = state.pair(operands[3]) if wide else state.read(operands[3])
    value = None
    if known(first, second, addend, carry):
        if wide and "U32" not in modifiers:
            first, second = signed(first), signed(second)
        value = first * second + addend + carry
    state.write_words(operands[0], value, 2 if wide else 1)
    return True


def add(state, modifiers, operands):
    """Sums of three, with carries out (leading predicates after the result) and in (.X)."""
    result, *rest = operands
    carries = []
    while is_predicate(rest[0]):
        carries.append(rest.pop(0))
    terms = [state.read(term.lstrip("-")) for term in rest[:3]]
    taken = [state.read(carry) for carry in rest[3:]] if "X" in modifiers else []
    if not known(*terms, *taken):
        state.write(result, None)
        for carry in carries:
            state.write(carry, None)
        return True
    total = sum(taken)
    for text, term in zip(rest, terms):
        total += (~term & MASK) + 1 if text.startswith("-") else term
    state.write(result, total & MASK)
    for i, carry in enumerate(carries):
        state.write(carry, total >> 32 > i)
    return True


def add_plain(state, _, operands):
    terms = [state.read(operand) for operand in operands[1:3]]
    state.write(operands[0], sum(terms) & MASK if known(*terms) else None)
    return True


def chosen(state, modifiers, values, smallest):
    """The smallest or largest of two words."""
    if not known(*values, smallest):
        return None
    key = (lambda word: word) if "U32" in modifiers else signed
    return (min if smallest else max)(values, key=key)


def minimum(state, modifiers, operands):
    values = [state.read(operand) for operand in operands[1:3]]
    state.write(operands[0], chosen(state, modifiers, values, state.read(operands[3])))
    return True


def add_minimum(state, modifiers, operands):
    terms = [state.read(operand) for operand in operands[1:3]]
    total = sum(terms) & MASK if known(*terms) else None
    values = [total, state.read(operands[3])]
    state.write(operands[0], chosen(state, modifiers, values, state.read(operands[4])))
    return True


COMPARISONS = {"LT": lambda a, b: a < b, "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b,
               "GE": lambda a, b: a >= b, "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b}
COMBINATIONS = {"AND": lambda a, b: a and b, "OR": lambda a, b: a or b, "XOR": lambda a, b: a != b}


def compare(state, modifiers, operands):
    """p, q = (a OP b) combined with r, !(a OP b) combined with r. With .EX the words are the upper
    ones and the last predicate is what the lower ones gave."""
    first, second = state.read(operands[2]), state.read(operands[3])
    combine = next((m for m in modifiers if m in COMBINATIONS), None)
    if combine is None:
        return False
    truth = None
    if known(first, second):
        if "U32" not in modifiers:
            first, second = signed(first), signed(second)
        truth = COMPARISONS[modifiers[0]](first, second)
        if "EX" in modifiers and first == second:
            truth = state.read(operands[5])
    other = state.read(operands[4])
    for result, value in ((operands[0], truth), (operands[1], None if truth is None else not truth)):
        options = {COMBINATIONS[combine](a, b) for a in possible(value) for b in possible(other)}
        state.write(result, options.pop() if len(options) == 1 else None)
    return True


def possible(truth):
    return (False, True) if truth is None else (truth,)


def select(state, _, operands):
    condition = state.read(operands[3])
    options = {state.read(operands[1] if truth else operands[2]) for truth in possible(condition)}
    state.write(operands[0], options.pop() if len(options) == 1 else None)
    return True


def logic(state, _, operands):
    """LOP3: bit by bit, the bit of the table that three bits point to."""
    operands = list(operands)
    predicate = operands.pop(0) if is_predicate(operands[0]) else None
    words, table = [state.read(o) for o in operands[1:4]], int(operands[4], 0)
    value = None
    if known(*words):
        value = 0
        for bits in itertools.product((0, 1), repeat=3):
            if table >> (bits[0] << 2 | bits[1] << 1 | bits[2]) & 1:
                term = MASK
                for word, bit in zip(words, bits):
                    term &= word if bit else ~word
                value |= term & MASK
    state.write(operands[0], value)
    if predicate:
        state.write(predicate, None if value is None else value != 0)
    return True


def predicate_logic(state, _, operands):
    inputs = [possible(state.read(operand)) for operand in operands[2:5]]
    for result, text in zip(operands[:2], operands[5:7]):
        table = int(text, 0)
        options = {bool(table >> (a << 2 | b << 1 | c) & 1) for a, b, c in itertools.product(*inputs)}
        state.write(result, options.pop() if len(options) == 1 else None)
    return True


def shift(state, modifiers, operands):
    """SHF: 64 bits of two words shifted, the lower or (.HI) the upper word of it."""
    low, distance, high = (state.read(operand) for operand in operands[1:4])
    value = None
    if known(low, distance, high):
        both = high << 32 | low
        if {"S32", "S64"} & set(modifiers):
            both -= (high >> 31) << 64
        distance = distance & 31 if "W" in modifiers else min(distance, 63)
        both = both << distance if modifiers[0] == "L" else both >> distance
        value = both >> 32 & MASK if "HI" in modifiers else both & MASK
    state.write(operands[0], value)
    return True


def shift_add(state, modifiers, operands):
    """LEA: (a << s) + b, with .HI the upper word of (c:a << s), plus b; a carry out and (.X) in."""
    result, *rest = operands
    carry = rest.pop(0) if is_predicate(rest[0]) else "PT"
    taken = state.read(rest.pop()) if "X" in modifiers else 0
    first, negative = rest[0].lstrip("-"), rest[0].startswith("-")
    words = [state.read(operand) for operand in (first, *rest[1:])]
    if not known(*words, taken):
        state.write(result, None)
        state.write(carry, None)
        return True
    if "SX32" in modifiers:
        words.insert(2, MASK * (words[0] >> 31))
    if "HI" in modifiers:
        term = (words[2] << 32 | words[0]) << words[3] >> 32 & MASK
    else:
        term = words[0] << words[2] & MASK
    total = ((~term & MASK) + 1 if negative else term) + words[1] + taken
    state.write(result, total & MASK)
    state.write(carry, total >> 32 > 0)
    return True


def permute(state, _, operands):
    """PRMT: bytes of two words, picked by the digits of a number; 8 more repeats the sign."""
    low, digits, high = (state.read(operand) for operand in operands[1:4])
    value = None
    if known(low, digits, high):
        data = (high << 32 | low).to_bytes(8, "little")
        value = 0
        for i in range(4):
            digit = digits >> 4 * i & 15
            byte = data[digit & 7]
            value |= (0xFF * (byte >> 7) if digit & 8 else byte) << 8 * i
    state.write(operands[0], value)
    return True


def vote(state, modifiers, operands):
    """Whether lanes agree. Kernels vote on whether something is unusual, which is not what is counted:
    where it is not known no lane finds it."""
    result, source = operands[0], operands[-1]
    if not is_predicate(result):
        return False
    truth = state.read(source)
    state.write(result, "ALL" in modifiers if truth is None else truth)
    return True


HANDLERS = {
    "MOV": move, "R2UR": move, "S2R": special, "S2UR": special, "CS2R": clear_pair,
    "LDC": load_constant, "HFMA2": halves_constant, "IMAD": multiply_add, "IADD3": add,
    "IADD": add_plain, "VIADD": add_plain, "VIMNMX": minimum, "IMNMX": minimum,
    "VIADDMNMX": add_minimum, "ISETP": compare, "SEL": select, "LOP3": logic,
    "PLOP3": predicate_logic, "SHF": shift, "LEA": shift_add, "PRMT": permute, "VOTE": vote}
