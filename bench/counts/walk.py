"""What a thread issues on its way through a kernel: the machine code is followed as a processor would,
from the arguments on, so that loops run as often and switches go where they would. Nothing is known of
memory. A branch that depends on it counts both ways, as in a warp whose lanes differ, but for one way
that only calls: that is the slow path of a division, which is left out and named."""

import collections
import re
from dataclasses import dataclass, field

from sass import BYTES
from semantics import State

STEPS = 200_000  # far more than any kernel here
DEPTH = 200

SPECIAL = {"SR_TID.X": 0, "SR_CTAID.X": 0, "SR_CTAID.Y": 0, "SR_LANEID": 0}


class Lost(Exception):
    """The way through a kernel does not follow from its arguments."""


@dataclass
class Kernel:
    symbol: str
    code: list                  # Instructions
    constants: dict = field(default_factory=dict)  # {bank: list of bytes, None where not known}

    def __post_init__(self):
        self.at = {instruction.address: instruction for instruction in self.code}
        self.joins = joins(self)


def branch_target(instruction):
    return int(instruction.operands[-1], 16)


def is_end(instruction):
    return not instruction.guard and instruction.name in ("EXIT", "RET")


def table_targets(kernel):
    """Where indexed branches may lead: addresses of the kernel among its constants of bank 2."""
    data = kernel.constants.get(2, [])
    words = [int.from_bytes(bytes(data[i:i + 4]), "little") for i in range(0, len(data) - 3, 4)]
    return {word for word in words if word in kernel.at}


def successors(kernel, instruction):
    """Addresses that may come next; a way out of a warp's divergence (BRA.DIV) is no other way."""
    following = {instruction.address + BYTES} & kernel.at.keys()
    if is_end(instruction):
        return set()
    if instruction.name == "BRX":
        return table_targets(kernel)
    if instruction.name == "BRA" and "DIV" not in instruction.modifiers:
        taken = {branch_target(instruction)}
        certain = not instruction.guard and len(instruction.operands) == 1
        return taken if certain else taken | following
    return following


def joins(kernel):
    """{address of a branch: where all of its ways meet again, None for the end}: the nearest
    post-dominators, by Cooper, Harvey and Kennedy's iteration."""
    after = {address: successors(kernel, kernel.at[address]) for address in kernel.at}
    before = collections.defaultdict(set)
    for address, targets in after.items():
        for target in targets:
            before[target].add(address)
    ends = [address for address, targets in after.items() if not targets]
    order, nearest = post_order(ends, before), {None: None}
    rank = {address: i for i, address in enumerate(order)}
    rank[None] = len(order)
    for address in ends:
        nearest[address] = None

    def meet(one, other):
        while one != other:
            while rank[one] < rank[other]:
                one = nearest[one]
            while rank[other] < rank[one]:
                other = nearest[other]
        return one

    changed = True
    while changed:
        changed = False
        for address in reversed(order):
            ways = [target for target in after[address] if target in nearest]
            if not after[address] or not ways:
                continue
            found = ways[0]
            for way in ways[1:]:
                found = meet(found, way)
            changed |= nearest.get(address, -1) != found
            nearest[address] = found
    return {address: nearest.get(address) for address in kernel.at
            if kernel.at[address].name == "BRA"}


def post_order(starts, edges):
    """Addresses that the starts lead to, those first that lead nowhere new."""
    order, seen = [], set()
    for start in starts:
        stack = [(start, iter(sorted(edges[start])))] if start not in seen else []
        seen.add(start)
        while stack:
            address, rest = stack[-1]
            step = next((target for target in rest if target not in seen), None)
            if step is None:
                order.append(address)
                stack.pop()
            else:
                seen.add(step)
                stack.append((step, iter(sorted(edges[step]))))
    return order


class Walk:
    """One way through a kernel: `steps`, the instructions issued; `issued`, how often each address;
    `slow_paths`, the branches to those left out; `loops`, first and last address of those entered."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.issued = collections.Counter()
        self.steps = 0
        self.slow_paths = set()
        self.loops = set()
        self.run(State(kernel.constants, SPECIAL), kernel.code[0].address, None, 0)

    def loop_instructions(self):
        """Of loops that do not store."""
        found = 0
        for first, last in self.loops:
            body = range(first, last + BYTES, BYTES)
            if not any(self.kernel.at[address].name == "STG" for address in body):
                found += sum(self.issued[address] for address in body)
        return found

    def names(self):
        """{name: times issued}"""
        found = collections.Counter()
        for address, times in self.issued.items():
            found[self.kernel.at[address].name] += times
        return found

    def run(self, state, address, stop, depth):
        """From an address to `stop`, or to the end. Whether it came to `stop`."""
        while address != stop:
            instruction = self.kernel.at.get(address)
            if instruction is None:
                raise Lost(f"{address:#x}: no code")
            self.issued[address] += 1
            self.steps += 1
            if self.steps > STEPS or depth > DEPTH:
                raise Lost(f"{address:#x}: a loop whose end is not known")
            guard = state.read(instruction.guard) if instruction.guard else True
            if instruction.name == "EXIT" and guard:
                return False
            if instruction.name == "BRA" and "DIV" not in instruction.modifiers:
                address = self.branch(state, instruction, guard, depth)
                if address is None:
                    return False
            elif instruction.name in ("BRX", "RET", "CALL") and guard:
                address = self.jump(state, instruction)
            else:
                if instruction.name == "CALL" and guard is None:
                    self.slow_paths.add(address)
                state.run(instruction)
                address += BYTES
        return True

    def branch(self, state, instruction, guard, depth):
        """Where a branch leads; where that is not known, what follows both ways."""
        for predicate in instruction.operands[:-1]:
            truth = state.read(predicate)
            guard = False if guard is False or truth is False else None if truth is None else guard
        target, following = branch_target(instruction), instruction.address + BYTES
        if target < instruction.address:
            self.loops.add((target, instruction.address))
        if guard is not None:
            return target if guard else following
        join = self.kernel.joins[instruction.address]
        states = []
        for way in (following, target):
            if self.calls(way, join):
                self.slow_paths.add(instruction.address)
                continue
            other = state.copy()
            if self.run(other, way, join, depth + 1):
                states.append(other)
        if not states:
            return None
        state.values = states[0].values
        for other in states[1:]:
            state.forget_differences(other)
        return join

    def jump(self, state, instruction):
        """BRX: relative to the next instruction; RET: to the function."""
        if instruction.name == "CALL":
            return branch_target(instruction)
        offset = state.read(instruction.operands[0])
        if offset is None:
            raise Lost(f"{instruction.address:#x}: {instruction.name} by what is not known")
        if instruction.name == "RET":
            return offset
        relative = int(instruction.operands[1], 16)
        return (offset + relative + instruction.address + BYTES) & 0xFFFFFFFF

    def calls(self, address, join):
        """Whether nothing but a call follows."""
        while address != join and self.kernel.at[address].name not in ("BRA", "BRX", "EXIT", "RET"):
            if self.kernel.at[address].name == "CALL":
                return True
            address += BYTES
        return False
