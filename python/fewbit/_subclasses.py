"""What tensors of torch's subclasses stand for."""

import sys
from collections.abc import Callable
from typing import Any

import torch

from fewbit import _fewbit

_Wrap = Callable[[torch.Tensor], torch.Tensor]


def _plain(local: Any) -> Any:
    """Itself, or what a communication has brought; None while that is on its way."""
    if type(local) is torch.Tensor:
        return local
    return local.elem if getattr(local, "completed", False) else None


def _inner_of(tensor: Any) -> tuple[torch.Tensor, _Wrap] | None:
    """The part of a DTensor that this process has, and what makes it one again."""
    module = sys.modules.get("torch.distributed.tensor")
    if module is None or type(tensor) is not module.DTensor:
        return None
    inner, spec = _plain(tensor._local_tensor), tensor._spec
    if inner is None:
        return None
    return inner, lambda local: module.DTensor(local, spec, requires_grad=False)


def look_into() -> None:
    """From now on what is saved of such tensors is stored as their inner ones are."""
    _fewbit.look_into_subclasses(_inner_of)
