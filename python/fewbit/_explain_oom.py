"""What autograd had saved when memory ran out."""

import contextlib
from collections.abc import Iterable, Iterator

import torch

from fewbit._fewbit import SavedTensor
from fewbit._saved_bytes import SavedBytes

_NO_GRADIENT = "data without gradient"
_LEAST_ELEMENTS = 1024  # a Compressor leaves smaller ones alone


@contextlib.contextmanager
def explain_oom(model: torch.nn.Module | None = None, bits: int = 2) -> Iterator[SavedBytes]:
    """Adds to an out-of-memory error what autograd had saved, and what codes would make of it.

        with fewbit.explain_oom(model):
            loss = model(**batch).loss
            loss.backward()

    Costs microseconds for each saved tensor and no memory; every other error passes as it is.

    Args:
        model: its parameters and buffers are counted apart.
        bits: of the Compressor that the message compares with.

    Yields:
        The SavedBytes that counts.
    """
    saved = SavedBytes(model)
    try:
        with saved:
            yield saved
    except (RuntimeError, MemoryError) as error:
        if _is_out_of_memory(error):
            text = f"{error}\n\n{_explanation(saved, bits)}"
            error.args = (text, *error.args[1:])
        raise


def _is_out_of_memory(error: BaseException) -> bool:
    known = isinstance(error, (torch.OutOfMemoryError, MemoryError))
    return known or "DefaultCPUAllocator: " in str(error)


def _explanation(saved: SavedBytes, bits: int) -> str:
    may_take_bits = _bytes_that_take_bits(saved.entries())
    total, coded = saved.unique_bytes, sum(may_take_bits.values())
    codes = sum(count * bits / (8 * size) for size, count in may_take_bits.items())
    return (
        f"fewbit: autograd had saved {_mb(total)} when memory ran out, parameters not counted:\n\n"
        f"{saved.explain().strip()}\n\n"
        f"{_mb(coded)} of it are floating-point numbers that a gradient runs through. "
        f"fewbit.Compressor(model, bits={bits}) stores such numbers in about {_mb(codes)} where it "
        "knows the operation; print(fewbit.preview_budgets(forward)) measures it for a smaller one."
    )


def _bytes_that_take_bits(entries: Iterable[SavedTensor]) -> dict[int, int]:
    """Bytes of storages that codes may replace, by the size of an element, each storage once."""
    storages = {
        entry.storage: (entry.dtype.itemsize, entry.bytes)
        for entry in entries
        if entry.dtype.is_floating_point
        and not entry.parameter
        and entry.maker != _NO_GRADIENT
        and entry.bytes >= _LEAST_ELEMENTS * entry.dtype.itemsize
    }
    sizes: dict[int, int] = {}
    for size, count in storages.values():
        sizes[size] = sizes.get(size, 0) + count
    return sizes


def _mb(count: float) -> str:
    return f"{count / 1e6:,.1f} MB"
