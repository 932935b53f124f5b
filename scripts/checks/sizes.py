"""Sizes of hand-written C++ files and of functions: prints the three largest, fails over the limit."""

import re
import sys

from sources import TEMPLATE, cpp_files, shown, without_text

FILE_LIMIT = 500
FUNCTION_LIMIT = 80

SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def functions(source):
    """(lines, first line, signature) of every function that is defined in `source`."""
    found, stack, head, head_line, line = [], [], "", 1, 1
    for char in without_text(source):
        if char == "{":
            head = TEMPLATE.sub("", head)
            outermost = all(kind == "scope" for kind, _, _ in stack)
            if SCOPE.search(head.split("(")[0]):
                kind = "scope"
            else:
                kind = "function" if outermost and "(" in head else "other"
            stack.append((kind, head_line, " ".join(head.split())))
        elif char == "}" and stack:
            kind, first, signature = stack.pop()
            if kind == "function":
                found.append((line - first + 1, first, signature))
        if char in "{};":
            head = ""
        elif head or not char.isspace():
            head_line = head_line if head else line
            head += char
        line += char == "\n"
    return found


def report(kind, sizes, limit):
    """Prints the three largest of `sizes` = (lines, name); returns those over `limit`."""
    sizes.sort(key=lambda entry: (-entry[0], entry[1]))
    print(f"largest {kind}, limit {limit} lines:")
    for lines, name in sizes[:3]:
        print(f"  {lines:4d}  {name}")
    return [f"{name}: {lines} lines, limit {limit}" for lines, name in sizes if lines > limit]


def main():
    file_sizes, function_sizes = [], []
    for path in cpp_files():
        source = path.read_text()
        file_sizes.append((len(source.splitlines()), shown(path)))
        for lines, first, signature in functions(source):
            name = signature.split("(")[0].split(" ")[-1]
            function_sizes.append((lines, f"{name}  {shown(path)}:{first}"))
    faults = report("files", file_sizes, FILE_LIMIT)
    faults += report("functions", function_sizes, FUNCTION_LIMIT)
    for fault in faults:
        print(f"too large: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
