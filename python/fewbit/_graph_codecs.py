"""Codes of tensors by operations that torch.compile traces."""

from dataclasses import dataclass
from typing import Any

import torch

_ops = torch.ops.fewbit


def hint(size: Any) -> int:
    """Of a size that is symbolic what it was when the graph was traced; asks for no guard."""
    if not isinstance(size, torch.SymInt):
        return int(size)
    known = size.node.hint
    return 0 if known is None else int(known)


def has_own_elements(tensor: torch.Tensor) -> bool:
    """Whether no two of its elements are one, as in an expanded tensor."""
    return all(
        hint(size) == 1 or hint(stride) != 0
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )


def _by_stride(tensor: torch.Tensor) -> list[int]:
    """Dimensions, the innermost first."""
    return sorted(
        range(tensor.dim()),
        key=lambda dim: (hint(tensor.stride(dim)), hint(tensor.size(dim)) != 1, -dim),
    )


@dataclass(frozen=True)
class Form:
    """How a tensor is stored in a graph.

    Attributes:
        kind: "rotated"; "signs", of a mask; "rotated by sign", which keeps whether an element is
            above zero.
        bits, group, states: of the rotated codes, as rotated_encode takes them.
    """

    kind: str
    bits: int = 1
    group: int = 256
    states: int = 0

    def __str__(self) -> str:
        if self.kind == "signs":
            return "mask"
        return f"{self.kind}, {self.bits} bit{'s' if self.bits > 1 else ''}"

    @property
    def _arguments(self) -> tuple[int, int, int]:
        return self.bits, self.group, self.states

    def encode(self, x: torch.Tensor) -> tuple[Any, ...]:
        """Codes, and the sizes of x, which is read in the order of its memory."""
        run = x.permute(_by_stride(x)[::-1]).reshape(-1).contiguous()
        if self.kind == "signs":
            return (_ops.sign_encode(run), *x.shape)
        seed = _ops.next_seed(x)
        if self.kind == "rotated":
            return (*_ops.rotated_encode(run, *self._arguments, seed, 0), seed, *x.shape)
        signs = _ops.sign_encode(run)
        there, back = _ops.class_maps(run, signs, 1, 2, 0)
        codes = _ops.rotated_class_encode(run, signs, 1, there, *self._arguments, seed, 0)
        return (*codes, signs, back, seed, *x.shape)

    def decode(self, coded: tuple[Any, ...], like: torch.Tensor) -> torch.Tensor:
        """The tensor again, in the order of memory that `like` has."""
        tensors, sizes = coded[: -like.dim()], coded[-like.dim() :]
        count = 1
        for size in sizes:
            count = count * size
        order = _by_stride(like)[::-1]
        run = self._run(tensors, count, like.dtype)
        return run.reshape([sizes[dim] for dim in order]).permute(
            [order.index(dim) for dim in range(like.dim())]
        )

    def _run(self, tensors: tuple[Any, ...], count: Any, dtype: torch.dtype) -> torch.Tensor:
        run: torch.Tensor
        if self.kind == "signs":
            run = _ops.sign_decode(*tensors, count, dtype)
        elif self.kind == "rotated":
            codes, constants, seed = tensors
            run = _ops.rotated_decode(codes, constants, count, *self._arguments, dtype, seed, 0)
        else:
            codes, constants, signs, back, seed = tensors
            run = _ops.rotated_class_decode(
                codes, constants, count, signs, 1, back, *self._arguments, dtype, seed, 0
            )
            is_above = _ops.sign_decode(signs, count, torch.bool)
            run = torch.where(is_above, run.clamp_min(torch.finfo(dtype).tiny), 0.0)
        return run
