"""Who may include and link whom. The one list is MAY_USE and OUTSIDE."""

import re
import sys

from sources import ROOT, cpp_files, shown

# Folder -> folders of ours whose headers it may include and whose targets it may link.
MAY_USE = {
    "base": set(),
    "expression": {"base"},
    "table": {"base"},
    "functions": {"base", "expression", "table"},
    "weights": {"base", "table"},
    "trellis": {"base"},
    "search": {"base", "expression", "functions", "weights", "table"},
    "verify": {"base", "expression", "functions", "weights", "table"},
    "proven": {"base", "expression", "functions", "weights", "table", "search", "verify"},
    "report": {"base", "expression", "functions", "weights", "table", "search", "verify", "proven"},
    "codegen": {"base", "expression", "functions", "table", "trellis"},
    "cli": {"base", "expression", "functions", "weights", "table", "search", "verify", "proven",
            "report", "trellis", "codegen"},
    # The runtime; "fewbit/..." are its public headers, "generated/..." and its files by bare name
    # what codegen wrote.
    "kernels": set(),
    "tables": {"base", "functions", "table", "search", "kernels"},
    "ops": {"kernels", "tables"},
    "offload": set(),
    "codecs": {"ops", "offload"},
    "autograd": {"ops"},
    "nn": {"ops", "autograd", "tables"},
    "text": set(),
    "trace": {"text"},
    "dispatch": {"ops", "tables", "trace"},
    "pieces": {"ops"},
    "scopes": {"ops", "autograd", "tables", "dispatch", "text", "trace"},
    "calibration": {"base", "weights", "table", "search", "tables", "nn", "scopes", "text", "trace"},
    "meter": {"ops", "codecs", "dispatch", "text", "trace"},
    "checkpoint": {"ops", "dispatch", "text", "trace"},
    "operators": {"ops", "codecs", "dispatch", "trace"},
    "allocation": {"operators", "tables", "trace"},
    "recompute": {"operators", "ops", "codecs", "trace"},
    "compression": {"base", "ops", "offload", "codecs", "autograd", "dispatch", "text", "trace",
                    "operators", "allocation", "recompute", "pieces"},
    "planner": {"operators", "allocation", "compression", "meter", "text", "trace"},
}
# Folders of ours within another.
WITHIN = {"operators": "compression", "allocation": "compression", "recompute": "compression"}
RUNTIME_WITH_TORCH = {"tables", "ops", "offload", "codecs", "autograd", "nn", "text", "trace",
                      "dispatch", "pieces", "scopes", "calibration", "meter", "checkpoint", "compression",
                      "planner", *WITHIN}

# Prefix of an include -> the folders that alone may write it.
OUTSIDE = {
    "Eigen/": {"search", "verify"},
    "nlohmann/": {"table", "trellis", "functions", "report", "cli", "codegen"},
    "CLI/": {"cli", "codegen"},
    "torch/": RUNTIME_WITH_TORCH,
    "ATen/": RUNTIME_WITH_TORCH,
    "c10/": RUNTIME_WITH_TORCH,
    "hwy/": {"kernels"},
    "cuda": {"kernels"},
}

# Single headers that a folder may not see although their folder is allowed.
HIDDEN = {"functions": {"table/json.hpp"}, "search": {"table/json.hpp"}}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
TARGET = re.compile(r"\bfewbit::([a-z_]+)\b")


def folder_of(parts):
    """Of a path below runtime/, or of an include."""
    return parts[1] if len(parts) > 2 and WITHIN.get(parts[1]) == parts[0] else parts[0]


def layer_of(path):
    """The layer a file belongs to, None for tests, benchmarks and the like."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "solver" and len(parts) > 2:
        return parts[1]
    if parts[0] == "runtime" and len(parts) > 2 and parts[1] != "include":
        return folder_of(parts[1:])
    return "codegen" if parts[0] == "codegen" else None


def include_fault(layer, name):
    """Why `layer` may not include `name`, or None."""
    for prefix, users in OUTSIDE.items():
        if name.startswith(prefix) and layer not in users:
            return f"only {', '.join(sorted(users))} may include {prefix}..."
    if name in HIDDEN.get(layer, ()):
        return f"{layer} may not include {name}"
    used = folder_of(name.split("/")) if "/" in name else layer
    if used in MAY_USE and used != layer and used not in MAY_USE[layer]:
        return f"{layer} may not include {used}"
    return None


def check_sources():
    for path in cpp_files():
        layer = layer_of(path)
        if layer is None:
            continue
        if layer not in MAY_USE:
            yield f"{shown(path)}: unknown layer '{layer}'"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            fault = match and include_fault(layer, match[2])
            if fault:
                yield f"{shown(path)}:{number}: {fault}"


def check_targets():
    for layer, allowed in MAY_USE.items():
        places = (ROOT / layer, ROOT / "solver" / layer, ROOT / "runtime" / layer,
                  ROOT / "runtime" / WITHIN.get(layer, "") / layer)
        lists = next(path for place in places if (path := place / "CMakeLists.txt").exists())
        for used in sorted(set(TARGET.findall(lists.read_text()))):
            if used in MAY_USE and used != layer and used not in allowed:
                yield f"{shown(lists)}: {layer} may not link {used}"


def main():
    faults = [*check_sources(), *check_targets()]
    print("\n".join(faults) or "layers: every include and link follows the list")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
