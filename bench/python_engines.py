"""Engines of torch.distributed with a Compressor, in two processes on this machine: gradients against
those of one process, bytes of each process, and a pretrained encoder fine-tuned by both; a page of
bench/results. From the repository's root, after `cmake --preset ci` (and with the model and the
glosses that bench/python_pretrained.py names):

    PYTHONPATH=build/ci/python:tests/python .venv/bin/python bench/python_engines.py
"""

import argparse
import contextlib
import os
import pathlib
import platform
import statistics
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import transformers
from python_pretrained import RESULTS, VARIANTS, data_of, evaluate, make_model
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import fewbit
from engines import BITS, CASES, WORLD, enter_group, results_by_rank

WAYS = [(engine, variant) for engine in ("DDP", "FSDP2") for variant in ("exact", "b2")]


def wrapped(model, engine):
    """The model as the engine takes it."""
    if engine == "DDP":
        return DistributedDataParallel(model)
    for layer in model.base_model.encoder.layer:
        fully_shard(layer)
    return fully_shard(model)


def train(folder, data, engine, variant, seed, steps):
    """The accuracy, and what this process saves at most."""
    torch.manual_seed(seed)
    model = make_model(folder, data, VARIANTS[variant], low_rank=False)
    trained = wrapped(model, engine).train()
    optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-4)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    make = VARIANTS[variant].compressor
    compressor = make(model) if make else contextlib.nullcontext()
    torch.manual_seed(seed + dist.get_rank())  # of dropout
    most = 0
    for number, batch in enumerate(data.batches(seed, WORLD * steps)):
        if number % WORLD != dist.get_rank():
            continue
        with fewbit.SavedBytes(model) as saved, compressor:
            loss = trained(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        most = max(most, saved.unique_bytes)
    # An engine's forward would wait for the others' gradients; all have the same test.
    accuracy, loss = evaluate(model, data)
    return {"accuracy": accuracy, "loss": loss, "saved": most}


def run_encoder(rank, port, out, arguments):
    enter_group(rank, port)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    folder, data = data_of(arguments)
    found = {}
    for engine, variant in WAYS:
        found[engine, variant] = [
            train(folder, data, engine, variant, seed, arguments.steps)
            for seed in range(arguments.seeds)
        ]
        if rank == 0:
            print(engine, variant, found[engine, variant], flush=True)
    torch.save(found, os.path.join(out, f"encoder{rank}.pt"))
    dist.destroy_process_group()


def encoder_by_rank(arguments):
    with tempfile.TemporaryDirectory() as out:
        port = 29500 + os.getpid() % 1000
        processes.spawn(run_encoder, (port, out, arguments), nprocs=WORLD)
        return [torch.load(os.path.join(out, f"encoder{rank}.pt")) for rank in range(WORLD)]


def table_of_engines(ranks):
    text = "| engine | error of the gradient |"
    text += "".join(f" process {rank}: exact, kB | coded, kB |" for rank in range(WORLD))
    text += "\n" + "|---" * (2 + 2 * WORLD) + "|\n"
    for name in CASES:
        found = [rank[name] for rank in ranks]
        if "error" not in found[0]:
            continue
        cells = [name, f"{max(one['error'] for one in found):.4f}"]
        for one in found:
            for what in ("exact bytes", "bytes"):
                cells.append(f"{one[what] / 1e3:.0f}" if what in one else "")
        text += "| " + " | ".join(cells) + " |\n"
    return text


def table_of_encoder(ranks):
    text = "| engine | | accuracy | loss | saved by each process, MB |\n"
    text += "|---" * 5 + "|\n"
    for engine, variant in WAYS:
        runs = ranks[0][engine, variant]
        mean = {what: statistics.mean(run[what] for run in runs) for what in ("accuracy", "loss")}
        saved = [max(run["saved"] for run in rank[engine, variant]) for rank in ranks]
        cells = [engine, VARIANTS[variant].title, f"{mean['accuracy']:.4f}", f"{mean['loss']:.4f}"]
        cells.append(", ".join(f"{one / 1e6:.1f}" for one in saved))
        text += "| " + " | ".join(cells) + " |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1, help="runs of the encoder each way")
    parser.add_argument("--steps", type=int, default=60, help="of each run")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS, help="folder of the page")
    arguments = parser.parse_args()
    arguments.device = "cpu"
    encoder = encoder_by_rank(arguments)
    page = (
        "# Engines of torch.distributed\n\n"
        "`bench/python_engines.py`: two processes with gloo on one machine, one thread each. "
        f"torch {torch.__version__}, Python {platform.python_version()}.\n\n"
        "## Gradients and bytes\n\n"
        f"Three blocks of a norm and two linear layers with GELU, {BITS} bits. Error: of the "
        "gradient of all parameters in the third step, relative to one process with all of the "
        "data, the larger of both. Bytes: what a process's forward saves for its backward, once "
        "each tensor; empty where the test takes several forwards.\n\n"
        f"{table_of_engines(results_by_rank())}\n"
        "## A pretrained encoder\n\n"
        "The task of pretrained.md, all parameters, "
        f"{arguments.steps} steps of 32 glosses in each process; seeds: {arguments.seeds} (dropout "
        "and batches are a seed's, the same in all ways). Saved: the most in one forward.\n\n"
        f"{table_of_encoder(encoder)}"
    )
    (arguments.out / "engines.md").write_text(page)


if __name__ == "__main__":
    main()
