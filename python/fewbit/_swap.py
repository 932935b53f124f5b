"""One operation in the place of activations that are written out in Python."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from fewbit.nn import Activation


@dataclass(frozen=True)
class Swap:
    """What swap_activations() did with one module."""

    module: str
    """Its name in the model, "transformer.h.0.mlp.act"."""
    was: str
    """Its class, "transformers.activations.NewGELUActivation"."""
    now: str
    """What stands in its place; empty where it stays."""
    reason: str
    """Why it stays; empty where it was swapped."""


def _gelu_tanh(_: torch.nn.Module, __: int) -> torch.nn.Module:
    return torch.nn.GELU(approximate="tanh")


def _quick_gelu(_: torch.nn.Module, bits: int) -> torch.nn.Module:
    return Activation("silu", bits, [1.702])


_Make = Callable[[torch.nn.Module, int], torch.nn.Module]

# By their formulas: tanh's approximation in three spellings, and x sigmoid(1.702 x).
_KNOWN: dict[str, _Make] = {
    "transformers.activations.NewGELUActivation": _gelu_tanh,
    "transformers.activations.FastGELUActivation": _gelu_tanh,
    "transformers.activations.AccurateGELUActivation": _gelu_tanh,
    "transformers.activations.QuickGELUActivation": _quick_gelu,
}


def swap_activations(model: torch.nn.Module, bits: int = 3) -> list[Swap]:
    """Puts one operation in the place of activations that are written out in Python.

        for swap in fewbit.swap_activations(model):
            print(swap)

    Such a formula saves five tensors where one operation saves one, and a Compressor cannot know it
    for what it is. Classes are known by their full names: transformers' NewGELU, FastGELU and
    AccurateGELU become torch.nn.GELU("tanh"), QuickGELU becomes fewbit.nn.Activation("silu",
    [1.702]). Values agree to rounding.

    Args:
        bits: of the codes of fewbit's own modules; torch's have those of the scope.

    Returns:
        One entry for each activation that was swapped, and for those of other classes called
        ...Activation or ...GELU that stay.
    """
    swaps = []
    for parent_name, parent in list(model.named_modules()):
        for name, child in list(parent.named_children()):
            path = f"{parent_name}.{name}" if parent_name else name
            was = f"{type(child).__module__}.{type(child).__qualname__}"
            make = _KNOWN.get(was)
            if make is not None:
                new = make(child, bits)
                new.train(child.training)
                setattr(parent, name, new)
                swaps.append(Swap(path, was, str(new), ""))
            elif _is_unknown(child):
                swaps.append(Swap(path, was, "", "the class is not known"))
    return swaps


def _is_unknown(module: torch.nn.Module) -> bool:
    is_ours_or_torchs = type(module).__module__.split(".")[0] in ("torch", "fewbit")
    name = type(module).__name__
    return not is_ours_or_torchs and (name.endswith("Activation") or "GELU" in name)
