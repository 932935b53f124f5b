"""The examples run, for a few steps."""

import pathlib
import runpy
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


@pytest.mark.parametrize(
    "name, says",
    [
        ("lora", ["all of it on prose, exact", "LoRA on C++, 2 bits"]),
        ("report", ["squared error", "exact: aten::div"]),
        ("trainer", ["exact   mean loss", "2 bits  mean loss"]),
        ("vision", ["2 bits", "% right"]),
    ],
)
def test_example(name, says, capsys, monkeypatch):
    arguments = [] if name == "report" else ["--steps", "2"]
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    output = capsys.readouterr().out
    assert all(words in output for words in says), output
