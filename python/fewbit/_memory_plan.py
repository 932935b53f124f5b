"""The storage of every saved tensor, chosen by bytes and time."""

from collections.abc import Callable
from typing import Any

import torch

from fewbit import _fewbit
from fewbit._choices import NamedTensors, named_tensors
from fewbit._compressor import options_of


def plan_memory(
    forward: Callable[[], torch.Tensor],
    parameters: NamedTensors = (),
    *,
    kept_bytes: int | None = None,
    peak_bytes: int | None = None,
    bits: float = 2.0,
    **options: Any,
) -> _fewbit.MemoryPlan:
    """Chooses for every site whether it stays exact, is coded, recomputed or offloaded.

        plan = fewbit.plan_memory(lambda: model(**batch).loss, model, peak_bytes=4_000_000_000)
        print(plan)
        compressor = fewbit.Compressor(model).follow(plan)

    Runs some forwards and backwards to measure bytes and seconds; gradients of parameters are not
    touched. The cheapest choices in time are taken that keep to the budget.

    Args:
        forward: gives a tensor, of which backward starts.
        parameters: a model or pairs of names and tensors: names modules.
        kept_bytes: the most bytes of all that a forward saves for backward.
        peak_bytes: the most bytes held at once in forward and backward, beyond those held before:
            new gradients too, parameters and optimizer state not. fewbit.peak_bytes counts alike.
        bits: average of coded elements.
        options: those of Compressor.

    Raises:
        RuntimeError: a budget is negative, or a torch profiler is recording.
    """
    return _fewbit.plan_memory(
        forward, kept_bytes, peak_bytes, options_of(bits, options), named_tensors(parameters)
    )
