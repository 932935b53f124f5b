"""The noise that coding adds to gradients, as a share of the noise between batches."""

import contextlib
import dataclasses
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import torch

from fewbit import _html
from fewbit._compressor import Compressor

Batch = TypeVar("Batch")
Gradients = list[torch.Tensor]

_WARM_UP = 5  # a Compressor measures its sites in steps 1, 2, 3 and 5
_HEADERS = ("average bits", "saved bytes", "added noise", "as a batch of")


@dataclasses.dataclass(frozen=True)
class NoiseRow:
    """Noise and saved bytes of one average of bits."""

    bits: float
    """Average bits of an element."""
    saved_bytes: int
    """Bytes of all sites in the last batch."""
    added: float
    """Mean squared error of the gradient, divided by the variance of exact gradients between
    batches. Includes the bias of activation tables."""
    standard_error: float
    """Standard error of `added`, from the spread of the squared error between batches."""

    def cells(self) -> tuple[str, str, str, str]:
        """The row as text. 5 % of added noise equals a batch of 1 / 1.05 of its size."""
        return (
            f"{self.bits:g}",
            f"{self.saved_bytes:,}",
            f"{100 * self.added:.3g} ± {100 * self.standard_error:.1g} %",
            f"{100 / (1 + self.added):.3g} %",
        )


class NoisePreview:
    """Noise of gradients for several averages of bits. print() shows a table."""

    def __init__(self, rows: Sequence[NoiseRow]) -> None:
        self.rows: list[NoiseRow] = sorted(rows, key=lambda row: row.bits)
        """One row for each average of bits, in rising order."""

    def fewest_bits(self, noise: float) -> float:
        """Returns the fewest measured bits whose added noise is at most this share.

        Raises:
            ValueError: all of them add more.
        """
        for row in self.rows:
            if row.added <= noise:
                return row.bits
        least = min(self.rows, key=lambda row: row.added)
        raise ValueError(
            f"noise is {noise:g}, accepted: {least.added:.3g} or more, "
            f"which {least.bits:g} bits add; preview_noise(bits=...) takes other bits"
        )

    def __str__(self) -> str:
        lines = [_HEADERS, *(row.cells() for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADERS))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )

    def _repr_html_(self) -> str:
        return _html.table(_HEADERS, (row.cells() for row in self.rows), "noise of gradients")


@contextlib.contextmanager
def _restored(model: torch.nn.Module) -> Iterator[None]:
    """Gradients, buffers and random generators are afterwards what they were."""
    gradients = [(parameter, parameter.grad) for parameter in model.parameters()]
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    devices = {p.device for p in model.parameters() if p.device.type == "cuda"}
    try:
        for parameter, _ in gradients:
            parameter.grad = None
        with torch.random.fork_rng(devices=list(devices)):
            yield
    finally:
        for parameter, gradient in gradients:
            parameter.grad = gradient
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)


def _gradients(
    model: torch.nn.Module,
    loss: Callable[[], torch.Tensor],
    seed: int,
    scope: contextlib.AbstractContextManager[Any],
) -> Gradients:
    """With the same dropout for the same seed."""
    torch.manual_seed(seed)
    with torch.enable_grad(), scope:
        value = loss()
    torch.autograd.backward(value)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if all(parameter.grad is None for parameter in trained):
        raise ValueError("loss gives no gradient to any parameter of the model")
    gradients = []
    for parameter in trained:
        gradients.append(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad)
        parameter.grad = None
    return gradients


def _squared(tensors: Iterable[torch.Tensor]) -> float:
    return sum(float(torch.sum(tensor.square(), dtype=torch.float64)) for tensor in tensors)


def _squared_distance(one: Gradients, other: Gradients) -> float:
    return _squared(a - b for a, b in zip(one, other, strict=True))


def preview_noise(
    loss: Callable[[Batch], torch.Tensor],
    batches: Iterable[Batch],
    model: torch.nn.Module,
    bits: Sequence[float] = (1, 1.5, 2, 3, 4),
    **options: Any,
) -> NoisePreview:
    """Measures the noise that coding adds to gradients, which tells how many bits are enough.

        noise = fewbit.preview_noise(lambda batch: model(**batch).loss, batches, model)
        print(noise)
        compressor = fewbit.Compressor(model, bits=noise.fewest_bits(0.05))

    Gradients differ between batches. Training has this noise anyway, and twice the batch halves
    it. Coding adds an error. An error of 0.05 of the variance between batches acts as if the batch
    were 1 / 1.05 of its size.

    The function computes the gradient of each batch exactly and with each of `bits`. Before that,
    each Compressor takes five steps to measure its sites. Eight batches and five averages take 73
    forward and backward passes. Three copies of all gradients are held at a time. Parameters,
    their gradients, buffers and random generators end as they were. Dropout draws the same mask in
    every pass of a batch. The model must not be compressed already.

    Args:
        loss: takes a batch and returns a scalar tensor.
        batches: two or more of the size that training uses. Eight give a good estimate.
        model: the module whose parameters' gradients are compared.
        bits: average bits of coded elements to measure, each as a Compressor takes it.
        options: those of Compressor.

    Raises:
        ValueError: there are fewer than two batches, no parameter gets a gradient, or an option is
            out of range.
    """
    drawn = list(batches)
    if len(drawn) < 2:
        raise ValueError(f"batches has {len(drawn)}, accepted: 2 or more")
    compressors = [Compressor(model, one, **options) for one in bits]
    energies: list[float] = []
    errors: list[list[float]] = [[] for _ in bits]
    total: Gradients = []

    def gradients(index: int, scope: contextlib.AbstractContextManager[Any]) -> Gradients:
        batch = drawn[index % len(drawn)]
        return _gradients(model, lambda: loss(batch), index % len(drawn), scope)

    with _restored(model):
        for compressor in compressors:
            for step in range(_WARM_UP):
                gradients(step, compressor)
        for index in range(len(drawn)):
            exact = gradients(index, contextlib.nullcontext())
            energies.append(_squared(exact))
            for compressor, found in zip(compressors, errors, strict=True):
                found.append(_squared_distance(gradients(index, compressor), exact))
            if total:
                torch._foreach_add_(total, exact)
            else:
                total = exact
    count = len(drawn)
    variance = (sum(energies) - _squared(total) / count) / (count - 1)
    return NoisePreview(
        [
            NoiseRow(
                float(one),
                sum(site.bytes_after for site in compressor.sites()),
                _over(statistics.mean(found), variance),
                _over(statistics.stdev(found) / math.sqrt(count), variance),
            )
            for one, compressor, found in zip(bits, compressors, errors, strict=True)
        ]
    )


def _over(error: float, variance: float) -> float:
    if error == 0.0:
        return 0.0
    return error / variance if variance > 0.0 else math.inf
