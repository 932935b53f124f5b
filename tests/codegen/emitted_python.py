"""What the tests of emitted Python modules share: loading them, and the C++ headers' results."""

import importlib.util
import pathlib
import sys

SKIPPED = 77  # the exit code that ctest knows as skipped

try:
    import torch
except ImportError:
    print(f"skipped: {sys.executable} has no torch; scripts/setup makes an environment that has")
    sys.exit(SKIPPED)

FOLDER = pathlib.Path(sys.argv.pop(1))
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
TABLES = sorted(path.name[: -len(".float32.x")] for path in FOLDER.glob("*.float32.x"))
FUNCTIONS = sorted(path.stem for path in (FOLDER / "functions").glob("*.x"))


def load(name):
    """The emitted module in file `name`, once."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def array(name, dtype):
    """A raw array that emit_reference wrote."""
    return torch.frombuffer(bytearray((FOLDER / name).read_bytes()), dtype=dtype)


def reference(table, kind):
    """x of type `kind`, with y in float32 and the codes that the C++ header makes of it."""
    stem = f"{table}.{kind}"
    x = array(f"{stem}.x", torch.float32)
    return x.to(DTYPES[kind]), array(f"{stem}.y", torch.float32), array(f"{stem}.codes", torch.uint8)


def excess(actual, expected, x):
    """The largest error in units of max(ulp of the result, 2^-25 max(1, |x|)); equal NaN and
    infinities have none."""
    actual, expected, x = actual.double(), expected.double(), x.double()
    ulp = torch.exp2(torch.floor(torch.log2(expected.abs().clamp(min=2.0**-126))) - 23)
    unit = torch.maximum(ulp, 2.0**-25 * x.abs().clamp(1.0, 16.0))
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    error = torch.where(same, 0.0, (actual - expected).abs() / unit)
    return float(error.nan_to_num(nan=float("inf")).max())
