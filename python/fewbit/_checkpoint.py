"""Blocks that run again in backward, whose inputs are coded."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.utils.checkpoint

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


class CheckpointedModules:
    """Modules that run as checkpoints until remove()."""

    def __init__(self, model: torch.nn.Module, names: Iterable[str]) -> None:
        self._modules: list[torch.nn.Module] = []
        modules = dict(model.named_modules())
        for name in names:
            if name not in modules:
                self.remove()
                raise ValueError(
                    f"fewbit.checkpoint_modules: the model has no module {name!r}, accepted: "
                    "a name that named_modules() gives"
                )
            module = modules[name]
            if "forward" in vars(module):
                self.remove()
                raise ValueError(
                    f"fewbit.checkpoint_modules: {name!r} has a forward of its own already"
                )
            module.forward = functools.partial(_run_again_in_backward, module.forward)
            self._modules.append(module)

    def remove(self) -> None:
        """Has the modules run as before."""
        for module in self._modules:
            del module.forward
        self._modules.clear()


def _run_again_in_backward(forward: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    if not torch.is_grad_enabled():
        return forward(*inputs, **named)
    return torch.utils.checkpoint.checkpoint(forward, *inputs, use_reentrant=False, **named)


def checkpoint_modules(model: torch.nn.Module, names: Iterable[str]) -> CheckpointedModules:
    """Has modules of an unchanged model run again in backward, as torch's checkpoints do.

        plan = fewbit.plan_memory(lambda: model(**batch).loss, model, peak_bytes=1_000_000_000)
        names = [one.module for one in plan.checkpoints if one.is_proposed]
        handle = fewbit.checkpoint_modules(model, names)

    In a Compressor's `with` their inputs are coded, unless the module divides or chooses by them.
    Plan again afterwards: sites within the modules are no more.

    Args:
        model: whose modules get a forward of their own, until the handle's remove().
        names: as model.named_modules() gives them.

    Raises:
        ValueError: the model has no such module, or it has a forward of its own.
    """
    return CheckpointedModules(model, names)
