"""A training that survives the death of a process: torchrun starts both again, each goes on from
the last checkpoint with its own state of the Compressor and of the random numbers.

    torchrun --nproc-per-node 2 --max-restarts 1 tests/python/elastic.py FOLDER [STEP TO DIE IN]
"""

import datetime
import os
import pathlib
import signal
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import fewbit
from engines import Model, loss_of, part_of_data

STEPS = 8


def enter_group():
    """With a store of each start's own: in one for all, torch 2.11 has those that are started again
    wait for the addresses of the dead."""
    store, rank, world = next(dist.rendezvous("env://"))
    store = dist.PrefixStore(f"start {os.environ['TORCHELASTIC_RESTART_COUNT']}", store)
    timeout = datetime.timedelta(seconds=60)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=timeout)


def main():
    folder = pathlib.Path(sys.argv[1])
    dies_in = int(sys.argv[2]) if len(sys.argv) > 2 else -1
    torch.set_num_threads(1)
    enter_group()
    model = Model()
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    compressor = fewbit.Compressor(model, bits=2)
    of_all, of_rank = folder / "all.pt", folder / f"rank {dist.get_rank()}.pt"
    first = 0
    if of_all.exists():
        state, own = torch.load(of_all), torch.load(of_rank)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        compressor.load_state_dict(own["compressor"])
        torch.set_rng_state(own["random numbers"])
        first = state["step"]
    for step in range(first, STEPS):
        optimizer.zero_grad()
        with compressor:
            loss = loss_of(wrapped, *part_of_data())
        if step == dies_in and first == 0 and dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        loss.backward()
        optimizer.step()
        own = {"compressor": compressor.state_dict(), "random numbers": torch.get_rng_state()}
        torch.save(own, of_rank)
        if dist.get_rank() == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state | {"step": step + 1}, of_all)
        dist.barrier()
    if dist.get_rank() == 0:
        torch.save({"first": first, "model": model.state_dict()}, folder / "trained.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
