"""Blocks that run again in backward, whose inputs are coded."""

from collections.abc import Callable
from typing import Any

import torch

from fewbit import _fewbit


def checkpoint(function: Callable[..., Any], *inputs: Any) -> Any:
    """Runs function(*inputs) and saves its inputs alone; backward runs it again.

        hidden = fewbit.checkpoint(block, hidden)

    In a Compressor's `with` the inputs are coded, unless the function divides or chooses by them.

    Args:
        function: gives a tensor or a tuple of tensors.
        inputs: tensors are saved; others are handed on as they are.

    Returns:
        What the function gives: a tensor, or a tuple of tensors.
    """
    is_tensor = [isinstance(one, torch.Tensor) for one in inputs]
    returns_one = False

    def on_tensors(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        nonlocal returns_one
        given = iter(tensors)
        arguments = [
            next(given) if is_one else other
            for is_one, other in zip(is_tensor, others, strict=True)
        ]
        result = function(*arguments)
        returns_one = isinstance(result, torch.Tensor)
        results = [result] if returns_one else list(result)
        for one in results:
            if not isinstance(one, torch.Tensor):
                raise TypeError(
                    f"fewbit.checkpoint: the function gives a {type(one).__name__}, accepted: a "
                    "tensor or a tuple of tensors"
                )
        return results

    # The function is to hold what is no tensor; tensors are saved by autograd.
    others = [None if is_one else one for is_one, one in zip(is_tensor, inputs, strict=True)]
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    results = _fewbit.checkpoint(on_tensors, tensors)
    return results[0] if returns_one else tuple(results)
