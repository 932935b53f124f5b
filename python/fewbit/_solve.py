"""The solver: tables for functions, sizes and data of one's own."""

import ctypes
import html
import json
import pathlib
import re
import subprocess
import sysconfig
import tempfile
import warnings

import torch

from fewbit._fewbit import Table


def solve(
    function: str,
    bits: int | None = None,
    *,
    levels: int | None = None,
    weight: str | torch.Tensor = "uniform",
    domain: tuple[float, float] | None = None,
    form: str = "levels",
    objective: str = "squared",
    dtype: str = "exact",
    name: str = "own",
) -> Table:
    """Solves the table with the least error and proves how near to the least it is.

        table = fewbit.solve("x*sigmoid(1.7*x)", bits=2, weight="normal:0,1")
        y = fewbit.activation(x, table, lambda x: x * torch.sigmoid(1.7 * x))

    Runs the program `fewbit-solve`, which takes milliseconds to minutes; `fewbit-solve --help` and
    `fewbit-solve help expressions` tell more of what is said here. In a notebook the result shows a
    picture.

    Args:
        function: of fewbit's registry, with parameters ("gelu", "elu:alpha=0.5"), or a formula in
            x.
        bits: of a stored code, 1 to 8; or:
        levels: the most levels of the table, 2 to 256.
        weight: density of the inputs: "uniform", "normal:MEAN,SIGMA", "laplace:MEAN,SCALE",
            "student-t:MEAN,SCALE,DEGREES", "mixture:SIGMA_MIN,SIGMA_MAX", or inputs that were seen.
        domain: where the error counts; default -10 to 10, for inputs that were seen their range.
        form: "levels" (levels may repeat), "intervals" or "unbiased".
        objective: "squared", or "smoothed:tau=0.83,lambda=1e-3" (README of the solver).
        dtype: that the thresholds are for: "exact", "fp32", "bf16" or "fp16".
        name: of a formula, for the table's files.

    Returns:
        A Table with thresholds, levels, `error` (the integral of weight * (f' - table)^2) and
        `lower_bound`, below which no table of this size comes.

    Raises:
        ValueError: for what the program does not accept, in its words.
        RuntimeError: where it could not solve.
    """
    arguments = ["--form", form, "--objective", objective, "--dtype", dtype]
    if re.fullmatch(r"\w+(:.*)?", function) and function != "x":
        arguments += ["--fn", function]
    else:
        arguments += ["--expr", function, "--name", name]
    for option, value in (("--bits", bits), ("--levels", levels)):
        if value is not None:
            arguments += [option, str(value)]
    if domain is not None:
        arguments += ["--domain", f"{domain[0]!r},{domain[1]!r}"]
    samples = b""
    if isinstance(weight, torch.Tensor):
        arguments += ["--weight", "samples:-", "--sample-format", "raw"]
        samples = _bytes_of(weight)
    else:
        arguments += ["--weight", weight]
    return Table.from_json(_run([*arguments, "-o", "-"], samples))


def _bytes_of(tensor: torch.Tensor) -> bytes:
    floats = tensor.detach().to("cpu", torch.float32).contiguous()
    return ctypes.string_at(floats.data_ptr(), floats.nbytes)


def _program() -> pathlib.Path:
    """`fewbit-solve`: beside the package in a build tree, else where pip puts programs."""
    folders = [pathlib.Path(__file__).parent, pathlib.Path(sysconfig.get_path("scripts"))]
    folders.append(
        pathlib.Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    )
    folders.append(pathlib.Path(__file__).parent.parent / "bin")  # pip --target
    for folder in folders:
        if (program := folder / "fewbit-solve").exists():
            return program
    looked = ", ".join(map(str, folders))
    raise RuntimeError(f"the program fewbit-solve of this package is in none of {looked}")


def _run(arguments: list[str], given: bytes = b"") -> str:
    result = subprocess.run([_program(), *arguments], input=given, capture_output=True, check=False)
    said = re.sub(
        r"^fewbit-solve: (error: )?", "", result.stderr.decode(), flags=re.MULTILINE
    ).strip()
    if result.returncode == 2:
        raise ValueError(said)
    if result.returncode != 0:
        raise RuntimeError(said or f"fewbit-solve ended with status {result.returncode}")
    for line in re.findall(r"^warning: (.*)", said, flags=re.MULTILINE):
        warnings.warn(line, stacklevel=3)
    return result.stdout.decode()


def _lower_bound(table: Table) -> float | None:
    """No table of this form and size has a smaller error; None where the table's file is not known,
    as of one that comes with the library."""
    return float(json.loads(table.json)["lower_bound"]) if table.json else None


def _picture(table: Table) -> str:
    if not table.json:
        return f"<pre>{html.escape(repr(table))}</pre>"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "table.json")
        file.write_text(table.json)
        return _run(["show", str(file), "--svg"])


def _text(table: Table) -> str:
    bound = _lower_bound(table)
    proof = "" if bound is None else f", lower_bound={bound:.6g}"
    return f"Table({table.function!r}, bits={table.bits}, error={table.error:.6g}{proof})"


for _name, _value in {
    "lower_bound": property(_lower_bound),
    "__repr__": _text,
    "_repr_html_": _picture,
}.items():
    setattr(Table, _name, _value)
