"""Trains a small Llama on this repository's text in two processes, exactly and with what it saves
for backward in 2 bits. From the repository's root:

    PYTHONPATH=build/ci/python .venv/bin/torchrun --nproc-per-node 2 examples/python/distributed.py

--engine fsdp shards weights, gradients and moments (FSDP2); --compile compiles every block.
"""

import argparse
import contextlib

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from trainer import llama, windows

import fewbit

BATCH = 8  # of each process


def wrapped(model: torch.nn.Module, engine: str, compiles: bool) -> torch.nn.Module:
    """The model as the engine takes it."""
    for block in model.model.layers:
        if compiles:
            block.compile(backend="aot_eager")
        if engine == "fsdp":
            fully_shard(block)
    return fully_shard(model) if engine == "fsdp" else DistributedDataParallel(model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--engine", choices=("ddp", "fsdp"), default="ddp")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank, world = dist.get_rank(), dist.get_world_size()
    data = torch.stack([row["input_ids"] for row in windows()])
    for bits in (None, 2):
        inner = llama()
        model = wrapped(inner, options.engine, options.compile)
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        compressor = fewbit.Compressor(inner, bits=bits) if bits else None  # new
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(2))
        mean = 0.0
        for step in range(options.steps):
            first = (step * world + rank) * BATCH
            ids = data[order[torch.arange(first, first + BATCH) % len(data)]]
            with fewbit.SavedBytes(inner) as saved, compressor or contextlib.nullcontext():  # new
                loss = model(input_ids=ids, labels=ids).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mean += loss.item() / options.steps
        title = f"{bits} bits" if bits else "exact"
        if rank == 0:
            size = f"{saved.unique_bytes / 1e6:6.2f} MB saved for backward by each process"
            print(f"{title:7} mean loss {mean:.4f}, {size}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
