"""What a step takes on a GPU, predicted without one: a page of bench/results, for a measured step to
refute. Exact operations are counted on tensors without memory, codes in sessions on the CPU and by the
kernels' instructions (cuda_counts.json). From the root of the repository, after `cmake --preset ci`, a
few minutes:

    PYTHONPATH=build/ci/python python3 bench/python_roofline.py
"""

import argparse
import dataclasses
import json
import math
import pathlib
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
import transformers
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

import fewbit

RESULTS = pathlib.Path(__file__).parent / "results"
STEPS = 4  # sites are measured in steps 1, 2 and 3
FEW = 2  # pictures or sequences on the CPU
TENSOR_CORES = 0.6  # of their rate, that large products and convolutions reach
ISSUED = 0.77  # of the instructions that could be: as the codecs reached on an H200 (gpu_h200.md)
FREE = ("aten::detach", "aten::empty", "aten::empty_like", "aten::_unsafe_view")
SHORTEST = 2e-6  # seconds of a kernel with next to nothing to do


@dataclasses.dataclass(frozen=True)
class Gpu:
    """Published rates; memory's of a copy, counted as both of its directions."""

    name: str
    bytes_a_second: float
    multiprocessors: int
    clock: float
    flops: dict[torch.dtype, float]

    def moves(self, count: float) -> float:
        return count / self.bytes_a_second

    def issues(self, instructions: float) -> float:
        return instructions / (ISSUED * self.multiprocessors * 128 * self.clock)


RATES = {torch.bfloat16: 989e12, torch.float32: 495e12}  # dense; convolutions of floats in TF32
GPUS = [
    Gpu("H100", 3.0e12, 132, 1.755e9, RATES),
    Gpu("H200", 4.3e12, 132, 1.98e9, RATES),
]


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    dtype: torch.dtype
    batch: int
    make: Callable[[int], tuple[torch.nn.Module, dict[str, torch.Tensor]]]
    measured_on: str
    measured: dict[str, float]  # milliseconds of kernels (gpu_h200.md)


def resnet(batch: int):
    model = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=1000))
    labels = torch.zeros(batch, dtype=torch.long)
    return model, {"pixel_values": torch.randn(batch, 3, 224, 224), "labels": labels}


def bert(batch: int):
    config = transformers.BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
    )
    model = transformers.BertForSequenceClassification(config)
    ids = torch.zeros(batch, 256, dtype=torch.long)
    return model, {"input_ids": ids, "labels": torch.zeros(batch, dtype=torch.long)}


MODELS = [
    Model("ResNet-50, 64 x 224 x 224", torch.float32, 64, resnet, "H100", {"exact": 37, "2 bits": 64}),
    Model("BERT-large, 32 x 256, bf16", torch.bfloat16, 32, bert, "H200", {"exact": 49, "2 bits": 69}),
]


@dataclasses.dataclass
class Step:
    """Launches and seconds of kernels."""

    launches: int = 0
    seconds: float = 0.0

    def add(self, seconds: float, launches: int = 1) -> None:
        self.launches += launches
        self.seconds += max(seconds, SHORTEST * launches)


class Counted(TorchDispatchMode):
    """Operations with results of their own, each a kernel."""

    def __init__(self, gpus: list[Gpu], dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype, self.steps = dtype, {gpu.name: Step() for gpu in gpus}
        self.gpus = gpus

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        made = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        if function.is_view or function._schema.name in FREE or not made:
            return result
        moved = sum(t.numel() * t.element_size() for t in {id(t): t for t in given + made}.values())
        packet = function._overloadpacket
        flops = 0
        if packet in flop_registry:
            flops = flop_registry[packet](*args, **(kwargs or {}), out_val=result)
        self.add(moved, flops)
        return result

    def add(self, moved: float, flops: float) -> None:
        for gpu in self.gpus:
            computed = flops / (TENSOR_CORES * gpu.flops[self.dtype])
            self.steps[gpu.name].add(max(gpu.moves(moved), computed))


class FusedAttention(torch.autograd.Function):
    """One kernel forward and one backward, which computes the probabilities again."""

    @staticmethod
    def forward(context, query, key, value, counted):
        context.counted, context.size = counted, query.numel() * query.element_size()
        context.flops = 4 * query.numel() * key.shape[-2]
        counted.add(4 * context.size, context.flops)
        return query.view(query.shape)

    @staticmethod
    def backward(context, gradient):
        context.counted.add(8 * context.size, 2.5 * context.flops)
        return gradient, gradient, gradient, None


def exact_steps(model: Model) -> dict[str, Step]:
    with torch.device("meta"):
        module, batch = model.make(model.batch)
    module.to(model.dtype)
    batch = {k: v.to(model.dtype) if v.is_floating_point() else v for k, v in batch.items()}
    counted, attention = Counted(GPUS, model.dtype), F.scaled_dot_product_attention
    F.scaled_dot_product_attention = lambda q, k, v, **_: FusedAttention.apply(q, k, v, counted)
    try:
        with counted:
            module(**batch).loss.backward()
    finally:
        F.scaled_dot_product_attention = attention
    return counted.steps


def sites(model: Model, bits: float) -> list:
    torch.manual_seed(1)
    module, batch = model.make(FEW)
    compressor = fewbit.Compressor(module, bits=bits)
    for _ in range(STEPS):
        with compressor:
            loss = module(**batch).loss
        loss.backward()
    return [site for site in compressor.sites() if site.count >= STEPS]


def add_site(step: Step, site, model: Model, gpu: Gpu, passes: dict) -> None:
    """What a site's tensor costs beyond the exact step, in forward and in backward."""
    of_batch = model.batch / FEW
    elements = site.elements * of_batch
    width = 2 if model.dtype is torch.bfloat16 else 4
    exact, after = elements * width, site.bytes_after * of_batch
    stored = str(site.stored)
    kind = "bf16" if model.dtype is torch.bfloat16 else "f32"

    def pass_of(name: str) -> float:
        bits = min(max(math.ceil(8 * site.bytes_after / site.elements - 0.2), 2), 8)
        bits = bits if bits <= 4 else 8
        issued = gpu.issues(passes[f"{name} {kind} 256 b{bits}"]["instructions"] * elements)
        return max(issued, gpu.moves(exact + after))

    if stored.startswith("few-bit table"):
        # The activation's own kernels write and read codes; it reads its input no more.
        step.seconds += gpu.moves(2 * after - exact)
    elif stored.startswith("recomputed"):
        # A root is decoded once more, and computed on in two passes.
        step.add(pass_of("rotated_decode"))
        step.add(gpu.moves(4 * exact), launches=2)
    elif stored.startswith(("rotated", "normalised")):
        step.add(pass_of("rotated_encode"))
        step.add(pass_of("rotated_decode"))
    elif after < site.bytes_before * of_batch:
        step.add(gpu.moves(exact + after))
        step.add(gpu.moves(exact + after))


def coded_steps(model: Model, bits: float, exact: dict[str, Step]) -> dict[str, Step]:
    passes = json.loads((RESULTS / "cuda_counts.json").read_text())["passes"]
    found = sites(model, bits)
    steps = {}
    for gpu in GPUS:
        step = dataclasses.replace(exact[gpu.name])
        for site in found:
            add_site(step, site, model, gpu, passes)
        steps[gpu.name] = step
    return steps


def rows_of(model: Model) -> list[str]:
    exact = exact_steps(model)
    rows = []
    for name, steps in [("exact", exact), ("2 bits", coded_steps(model, 2, exact))]:
        cells = [model.name, name, f"{steps['H100'].launches:,}"]
        for gpu in GPUS:
            step, plain = steps[gpu.name], exact[gpu.name]
            cells.append(f"{1e3 * step.seconds:.1f}")
            cells.append(f"{step.seconds / plain.seconds:.2f}")
        predicted = 1e3 * steps[model.measured_on].seconds
        measured = model.measured[name]
        cells.append(f"{measured} on an {model.measured_on}, {measured / predicted:.2f} times")
        rows.append("| " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return rows


INTRODUCTION = """# Steps on a GPU, predicted

`python3 bench/python_roofline.py`; nothing here was run on a GPU. For a step that is measured on one to
refute.
"""

ASSUMPTIONS = f"""
- A kernel takes the longest of: its bytes at the speed of a copy (H100 3.0, H200 4.3 TB/s, both
  directions counted), its products at {TENSOR_CORES} of the tensor cores' dense rate (989 TFLOPS in bf16, 495
  in TF32), {ISSUED} of 128 instructions a clock and
  multiprocessor, as the codecs reached on an H200, and {SHORTEST * 1e6:.0f} us. Kernels follow one
  another without a gap: the host is fast enough, or the step runs from a graph.
- Exact operations: those that torch dispatches in forward and backward on tensors without memory, one
  kernel each, every operand and result moved once; none is fused, and none runs from a cache.
- A coded tensor: one encode and one decode, with the instructions of [cuda_counts.md](cuda_counts.md) for
  groups of 256. A recomputed one: a decode and two passes. An activation with a table: its codes written
  and read, its input no more. Which tensors, in how many bits: what a session of {FEW} pictures or
  sequences on the CPU kept after {STEPS} steps, times as many.
- Measured: kernels of such a step, ms, in [gpu_h200.md](gpu_h200.md), over the prediction: BERT-large
  under autocast, which casts weights, with 2,289 launches; ResNet-50 with convolutions in memory format
  NCHW, which CUDA's libraries rearrange.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()
    head = "| step | stored | kernels | H100, ms | of exact | H200, ms | of exact | measured |\n"
    rows = [row for model in MODELS for row in rows_of(model)]
    table = head + "|---" * 8 + "|\n" + "\n".join(rows) + "\n"
    (arguments.out / "roofline.md").write_text(f"{INTRODUCTION}\n{table}{ASSUMPTIONS}")


if __name__ == "__main__":
    main()
