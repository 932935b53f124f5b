"""The examples run, for a few steps."""

import os
import pathlib
import runpy
import subprocess
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


def test_example_of_two_processes():
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    port = ["--master-port", str(29600 + os.getpid() % 1000)]
    options = ["--steps", "2", "--engine", "fsdp", "--compile"]
    script = [*command, *port, str(EXAMPLES / "distributed.py"), *options]
    local = os.environ | {"GLOO_SOCKET_IFNAME": "lo"}  # whatever the machine's name leads to
    run = subprocess.run(script, capture_output=True, text=True, check=False, env=local)
    assert run.returncode == 0, run.stderr
    assert "2 bits  mean loss" in run.stdout, run.stdout
