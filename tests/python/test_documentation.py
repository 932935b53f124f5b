"""Docstrings, and the reference that is made of them."""

import ast
import inspect
import pathlib
import subprocess
import sys

import fewbit
from fewbit import _fewbit

MODULES = ["fewbit"] + [
    f"fewbit.integrations.{name}" for name in ("lightning", "remat", "torchtitan", "transformers")
]


def test_everything_public_has_a_docstring():
    without = []
    for name in fewbit.__all__:
        if name == "nn":
            continue
        value = getattr(fewbit, name)
        if not value.__doc__:
            without.append(name)
        for member, one in vars(value).items() if inspect.isclass(value) else ():
            if not member.startswith("_") and callable(one) and not one.__doc__:
                without.append(f"{name}.{member}")
    assert not without


def test_the_classes_of_the_extension_have_the_stubs_docstrings():
    assert fewbit.Site.__doc__ == "One saved tensor of one place in the model."
    assert fewbit.Site.bytes_after.__doc__ == "Held until backward."
    assert "lower_bound" in vars(fewbit.Table)


def test_the_reference_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-B", "-m", "pdoc", "--docformat", "google", "-o", str(tmp_path)]
    result = subprocess.run([*command, *MODULES], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and result.stderr == ""
    page = pathlib.Path(tmp_path, "fewbit.html").read_text(encoding="utf-8")
    for name in fewbit.__all__:
        assert f'id="{name}"' in page or name == "nn", name
    assert "Bytes of all saved memory, each counted once" in page


def names_of(body):
    """Public names that the statements define or declare, with those of classes."""
    found = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            found[statement.name] = set(names_of(statement.body))
        elif isinstance(statement, ast.FunctionDef):
            found[statement.name] = set()
        elif isinstance(statement, ast.AnnAssign | ast.Assign):
            targets = getattr(statement, "targets", None) or [statement.target]
            found |= {target.id: set() for target in targets if isinstance(target, ast.Name)}
    return {name: inner for name, inner in found.items() if not name.startswith("_")}


def test_the_stub_names_what_the_extension_has():
    stub = pathlib.Path(fewbit.__file__).with_name("_fewbit.pyi").read_text(encoding="utf-8")
    stated = names_of(ast.parse(stub).body)
    public = {name: value for name, value in vars(_fewbit).items() if not name.startswith("_")}
    assert set(public) == set(stated)
    of_enumerations = {"name", "value"}
    for name, value in public.items():
        if inspect.isclass(value):
            members = {member for member in vars(value) if not member.startswith("_")}
            assert members - of_enumerations == stated[name] - of_enumerations, name
