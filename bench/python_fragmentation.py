"""Whether codes fragment the memory of torch's CUDA caching allocator: a page of bench/results. A
CPU records what steps of a ResNet-50 and of a GPT allocate and free; caching_allocator.py replays
it. From the root of the repository, after `cmake --preset ci`, a quarter of an hour:

    PYTHONPATH=build/ci/python python3 bench/python_fragmentation.py
"""

import argparse
import dataclasses
import functools
import gc
import platform
from collections.abc import Callable

import torch
import transformers
from caching_allocator import Block, CachingAllocator

import fewbit

STEPS = 12
SETTLED = 9  # sites are measured in steps 1, 2, 3, 5 and 9
WORDS = 8192
FACTOR = 16
MB = 1e6


@dataclasses.dataclass(frozen=True)
class Case:
    """A model, the loss of its batch, its optimizer, and the names of its blocks."""

    model: torch.nn.Module
    loss: Callable[[], torch.Tensor]
    optimizer: torch.optim.Optimizer
    blocks: list[str]


def names_of(model: torch.nn.Module, kind: str) -> list[str]:
    return [name for name, module in model.named_modules() if type(module).__name__ == kind]


def resnet() -> Case:
    model = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=1000))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=True)
    images, labels = torch.randn(16, 3, 128, 128), torch.randint(0, 1000, (16,))
    return Case(
        model,
        lambda: model(pixel_values=images, labels=labels).loss,
        optimizer,
        names_of(model, "ResNetBottleNeckLayer"),
    )


def gpt(foreach: bool = False) -> Case:
    drops = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    config = transformers.GPT2Config(
        vocab_size=WORDS, n_embd=384, n_layer=6, n_head=6, bos_token_id=1, eos_token_id=2, **drops
    )
    model = transformers.GPT2LMHeadModel(config)
    fewbit.swap_activations(model)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-4, foreach=foreach, fused=not foreach
    )
    ids = torch.randint(3, WORDS, (8, 256))
    return Case(
        model,
        lambda: model(input_ids=ids, labels=ids, use_cache=False).loss,
        optimizer,
        names_of(model, "GPT2Block"),
    )


MODELS = {
    "resnet": (
        "ResNet-50, 16 pictures of 128 x 128, SGD with momentum",
        resnet,
    ),
    "gpt": (
        f"GPT-2 of 6 layers of width 384, {WORDS} words, 8 sequences of 256 tokens, AdamW fused",
        gpt,
    ),
    "foreach": (
        "The same GPT, AdamW(foreach=True)",
        functools.partial(gpt, foreach=True),
    ),
}


@dataclasses.dataclass(frozen=True)
class Way:
    """One row: how saved tensors are stored."""

    name: str
    bits: float = 0
    directions: int = 0
    checkpoints: bool = False


WAYS = {
    "exact": Way("exact"),
    "checkpoints": Way("checkpoint of every block", checkpoints=True),
    "2": Way("2 bits", bits=2),
    "directions": Way("2 bits, 16 directions", bits=2, directions=16),
}


@dataclasses.dataclass(frozen=True)
class Event:
    """An allocation, a free (fewer than 0 bytes) or the first moment of a step (0 bytes)."""

    time: int
    address: int
    nbytes: int


def train(make: Callable[[], Case], way: Way) -> None:
    torch.manual_seed(1)
    case = make()
    case.model.train()
    if way.checkpoints:
        fewbit.checkpoint_modules(case.model, case.blocks)
    scope = None
    if way.bits:
        scope = fewbit.Compressor(case.model, bits=way.bits, directions=way.directions)
    for _ in range(STEPS):
        with torch.profiler.record_function("step"):
            if scope is None:
                loss = case.loss()
            else:
                with scope:
                    loss = case.loss()
            loss.backward()
            del loss
            case.optimizer.step()
            case.optimizer.zero_grad(set_to_none=True)


def record(run: Callable[[], None]) -> list[Event]:
    """What `run` allocates and frees, in order, from its first tensor on."""
    gc.collect()
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(
        activities=activities, profile_memory=True, acc_events=True
    ) as profile:
        run()
    events = []
    nodes = list(profile.profiler.kineto_results.experimental_event_tree())
    while nodes:
        node = nodes.pop()
        nodes += node.children
        if node.name == "step":
            events.append(Event(node.start_time_ns, 0, 0))
        elif node.name == "[memory]":
            fields = node.extra_fields
            events.append(Event(node.start_time_ns, fields.ptr, fields.alloc_size))
    events.sort(key=lambda event: (event.time, event.nbytes))
    check(events)
    return events


def check(events: list[Event]) -> None:
    """Every free is of what is allocated, of its size, and no address is allocated twice."""
    held: dict[int, int] = {}
    for event in events:
        if event.nbytes > 0:
            assert event.address not in held, event
            held[event.address] = event.nbytes
        elif event.nbytes < 0:
            assert held.pop(event.address) == -event.nbytes, event
    assert sum(event.nbytes == 0 for event in events) == STEPS


def settled(events: list[Event]) -> list[Event]:
    """What is allocated after SETTLED steps, in its order, and the events of the others."""
    starts = [index for index, event in enumerate(events) if event.nbytes == 0]
    held: dict[int, Event] = {}
    for event in events[: starts[SETTLED]]:
        if event.nbytes > 0:
            held[event.address] = event
        elif event.nbytes < 0:
            del held[event.address]
    return [*held.values(), *events[starts[SETTLED] :]]


@dataclasses.dataclass
class Memory:
    """Of a step, or of what precedes the first one: the most bytes requested and allocated; the
    bytes reserved at its end; calls of cudaMalloc; the free bytes in segments, and the largest
    block of them, when most was allocated."""

    requested: int = 0
    allocated: int = 0
    reserved: int = 0
    calls: int = 0
    free: int = 0
    largest_free: int = 0


def replay(
    events: list[Event], expandable: bool = False, factor: int = 1, empties: bool = False
) -> list[Memory]:
    """With sizes `factor` times as large. `empties`: the cache is emptied after SETTLED steps."""
    allocator, memory = CachingAllocator(expandable), [Memory()]
    blocks: dict[int, Block] = {}
    for event in events:
        before, step = allocator.calls, memory[-1]
        if event.nbytes == 0:
            if empties and len(memory) == SETTLED + 1:
                allocator.empty_cache()
            step = Memory(allocator.requested)
            memory.append(step)
        elif event.nbytes < 0:
            allocator.free(blocks.pop(event.address))
        else:
            blocks[event.address] = allocator.allocate(event.nbytes * factor)
        step.requested = max(step.requested, allocator.requested)
        step.reserved = allocator.reserved
        step.calls += allocator.calls - before
        if allocator.allocated > step.allocated:
            step.allocated = allocator.allocated
            step.free = allocator.reserved - allocator.allocated
            step.largest_free = allocator.largest_free()
    return memory


def settled_rows(events: dict[str, list[Event]], factor: int = 1) -> list[list[str]]:
    """Of each way; saved: bytes less reserved than in the first one, over bytes less allocated."""
    rows, exact = [], None
    for way, all_events in events.items():
        some = settled(all_events)
        memory, grown = replay(some, factor=factor), replay(some, True, factor)
        first, last, reserved = memory[1], memory[-1], grown[-1].reserved
        exact = exact or last
        less = exact.allocated - last.allocated
        rows.append(
            [
                way,
                *(f"{count / MB:.1f}" for count in (last.requested, last.allocated, last.reserved)),
                f"{last.reserved / last.allocated:.3f}",
                f"{(exact.reserved - last.reserved) / less:.2f}" if less else "",
                f"{first.calls}, {last.calls}",
                *(f"{count / MB:.1f}" for count in (last.free, last.largest_free, reserved)),
                f"{reserved / grown[-1].allocated:.3f}",
            ]
        )
    return rows


def whole_row(name: str, events: list[Event]) -> list[str]:
    memory, grown = replay(events), replay(events, True)
    allocated = max(step.allocated for step in memory)
    last = memory[-1]
    return [
        name,
        *(f"{count / MB:.1f}" for count in (allocated, last.allocated, last.reserved)),
        f"{last.reserved / allocated:.3f}",
        " ".join(str(step.calls) for step in memory),
        f"{replay(events, empties=True)[-1].reserved / MB:.1f}",
        f"{grown[-1].reserved / MB:.1f}",
        f"{grown[-1].reserved / max(step.allocated for step in grown):.3f}",
    ]


SETTLED_HEADER = [
    "way",
    "requested",
    "allocated",
    "reserved",
    "over allocated",
    "saved",
    f"calls in step {SETTLED + 1}, in {STEPS}",
    "free at the peak",
    "largest free block",
    "expandable, reserved",
    "over allocated",
]
WHOLE_HEADER = [
    "way",
    "allocated",
    f"allocated in step {STEPS}",
    "reserved",
    "over allocated",
    "calls before and in each step",
    f"reserved, cache emptied after step {SETTLED}",
    "expandable, reserved",
    "over allocated",
]


def show(title: str, header: list[str], rows: list[list[str]]) -> None:
    print(f"\n### {title}\n\n| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for cells in rows:
        print("| " + " | ".join(cells) + " |", flush=True)


CONDITIONS = f"""\
`PYTHONPATH=build/ci/python python3 bench/python_fragmentation.py`, which prints all but the
findings. Allocations and frees of {STEPS} training steps, in their order, from the model's
making on, as torch's profiler records them on a CPU (fp32, one thread), replayed in a
[simulation](../caching_allocator.py) of torch's caching allocator
(`c10/cuda/CUDACachingAllocator.cpp`) with its default settings and, in the last two columns,
with `expandable_segments:True`. Sizes and order on a GPU differ: cuDNN and cuBLAS have
workspaces of their own, kernels other temporaries. Addresses of segments rise with every
cudaMalloc. Tables with all sizes times {FACTOR} stand for larger models and batches, whose
tensors lie above the allocator's limits of 1, 2, 10 and 20 MiB. torch {torch.__version__},
transformers {transformers.__version__}, Python {platform.python_version()}.

MB are of 10^6 bytes. *Allocated*: the most bytes in blocks at once, with rounding; *requested*:
the most bytes that tensors asked for; *reserved*: bytes of all segments after the last step;
*saved*: bytes less reserved than exactly, over bytes less allocated; *calls*: of cudaMalloc;
*free at the peak*: reserved and not allocated when most is allocated; *largest free block*: the
largest piece of them. Errors are measured in steps 1, 2, 3, 5 and 9. In "Steps {SETTLED + 1} to
{STEPS} alone" an empty allocator first gets what is held after step {SETTLED}, in the order of
its making."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    print("# Fragmentation by the caching allocator of CUDA\n\n" + CONDITIONS)
    for name in options.models:
        title, make = MODELS[name]
        print(f"\n## {title}", flush=True)
        events = {
            WAYS[way].name: record(lambda make=make, way=way: train(make, WAYS[way]))
            for way in options.ways
        }
        steps = f"Steps {SETTLED + 1} to {STEPS} alone"
        show(steps, SETTLED_HEADER, settled_rows(events))
        large = settled_rows(events, FACTOR)
        show(f"{steps}, every size times {FACTOR}", SETTLED_HEADER, large)
        whole = [whole_row(*item) for item in events.items()]
        show(f"The whole training, steps 1 to {STEPS}", WHOLE_HEADER, whole)


if __name__ == "__main__":
    main()
