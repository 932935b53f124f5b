"""The storage of every saved tensor, chosen by bytes and time."""

from collections.abc import Callable
from typing import Any

import torch

from fewbit import _fewbit
from fewbit._choices import NamedTensors, named_tensors
from fewbit._compressor import options_of


def plan_memory(
    forward: Callable[[], torch.Tensor],
    bytes: int,
    parameters: NamedTensors = (),
    bits: float = 2.0,
    **options: Any,
) -> _fewbit.MemoryPlan:
    """Chooses for every site whether it stays exact, is coded, recomputed or offloaded.

        plan = fewbit.plan_memory(lambda: model(**batch).loss, 2_000_000_000, model)
        print(plan)
        compressor = fewbit.Compressor(model).follow(plan)

    Runs some forwards and backwards to measure bytes and seconds; gradients of parameters are not
    touched. The cheapest choices in time are taken that keep to `bytes`.
    """
    return _fewbit.plan_memory(forward, bytes, options_of(bits, options), named_tensors(parameters))
