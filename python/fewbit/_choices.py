"""Names for the values of C++ enumerations, and pairs of names and tensors."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

import torch

Value = TypeVar("Value")

NamedTensors = torch.nn.Module | Mapping[str, torch.Tensor] | Iterable[tuple[str, torch.Tensor]]


def choice(what: str, name: str, members: Mapping[str, Value]) -> Value:
    """The member of that name. Raises ValueError naming the accepted ones."""
    if name not in members:
        raise ValueError(f"{what} is {name!r}, accepted: {', '.join(members)}")
    return members[name]


def named_tensors(named: NamedTensors) -> list[tuple[str, torch.Tensor]]:
    """Names and parameters of a module; or the pairs that were given."""
    if isinstance(named, torch.nn.Module):
        return list(named.named_parameters())
    return list(named.items() if isinstance(named, Mapping) else named)
