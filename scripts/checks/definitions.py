"""No type is defined twice under one full name: two of them in one program break the one-definition
rule, which no compiler or linker reports. Types without a name outside their file (in an unnamed
namespace or a function) do not count."""

import re
import sys

from sources import TEMPLATE, cpp_files, shown, without_text

NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:\s]*)$")
TYPE = re.compile(
    r"\b(?:enum\s+(?:class|struct)|class|struct|union|enum)\s+(\w+)"
    r"(?:\s*(?:final\b|:(?!:)).*)?$", re.DOTALL)


def scope_name(head):
    """What a block opened by `head` adds to names inside; None where they end there."""
    head = TEMPLATE.sub("", head).strip()
    if match := NAMESPACE.search(head):
        words = match[1].replace("inline", " ").split()
        return "::".join(words) if words else None
    if match := TYPE.search(head):
        return match[1]
    return None


def definitions(source):
    """(line, full name) of every type that `source` defines."""
    found, stack, head, line = [], [], "", 1
    for char in without_text(source):
        if char == "{":
            stack.append(scope_name(head))
            if TYPE.search(TEMPLATE.sub("", head).strip()) and None not in stack:
                found.append((line, "::".join(stack)))
        elif char == "}" and stack:
            stack.pop()
        head = "" if char in "{};" else head + char
        line += char == "\n"
    return found


def main():
    seen, faults = {}, 0
    for path in cpp_files():
        for line, name in definitions(path.read_text()):
            place = f"{shown(path)}:{line}"
            # One program per test folder: tests of different folders never meet.
            key = (path.parent if "tests" in path.parts else None, name)
            if key in seen:
                print(f"defined twice: {name}: {seen[key]} and {place}")
                faults += 1
            seen.setdefault(key, place)
    print(f"definitions: {len(seen)} types, {faults} defined twice")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
