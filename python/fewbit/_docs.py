"""Docstrings of the extension's classes, from the stub that editors read."""

import ast
import pathlib
from types import ModuleType


def take_docs_from_stub(module: ModuleType) -> None:
    """Gives classes, their methods and properties the docstrings of the stub beside the module."""
    stub = pathlib.Path(__file__).with_name("_fewbit.pyi").read_text(encoding="utf-8")
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            of_class = getattr(module, node.name)
            if not hasattr(of_class, "__members__"):  # an enumeration lists its own
                _document(of_class, node)
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    _document(of_class.__dict__.get(member.name), member)


def _document(what: object, node: ast.ClassDef | ast.FunctionDef) -> None:
    text = ast.get_docstring(node)
    if text is not None and isinstance(what, (type, property)):
        what.__doc__ = text
