"""What fewbit's functions and modules are made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from fewbit import _fewbit
from fewbit._fewbit import Table


def activation(
    x: torch.Tensor,
    table: Table,
    function: Callable[[torch.Tensor], torch.Tensor] | None = None,
    *,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """f(x), whose backward multiplies by the table's levels: it saves codes of a few bits, not x.

        table = fewbit.solve("x*sigmoid(1.7*x)", bits=2)
        y = fewbit.activation(x, table, lambda x: x * torch.sigmoid(1.7 * x))

    Args:
        x: floating-point, of any shape.
        table: of f.
        function: what computes f, elementwise; None: fewbit's own kernels, for f of its registry.
        generator: for tables in the unbiased form, whose codes are drawn; None: torch's own.

    Raises:
        ValueError: for a function that changes the shape, or with a table in the unbiased form.
        RuntimeError: for a table of a function that is not in the registry, without `function`.
    """
    if function is None:
        return _fewbit.activation(x, table, generator)
    if table.is_unbiased:
        raise ValueError("a table in the unbiased form goes with fewbit's own functions alone")
    return _OwnFunction.apply(x, table, function)  # type: ignore[no-any-return, no-untyped-call]


class _OwnFunction(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, table: Table, function: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        y = function(x)
        if y.shape != x.shape:
            raise ValueError(f"the function made {tuple(y.shape)} of {tuple(x.shape)}")
        at = (x.abs() if table.is_even else x).float()
        at = at.masked_fill(at.isnan(), -torch.inf)  # to the lowest interval
        thresholds = torch.tensor(table.thresholds, device=x.device)
        codes = torch.tensor(table.codes, dtype=torch.uint8, device=x.device)
        codes = codes[torch.bucketize(at, thresholds, out_int32=True)]
        ctx.save_for_backward(torch.ops.fewbit.integer_encode(codes, 0, table.bits))
        ctx.table, ctx.dtype, ctx.shape = table, x.dtype, x.shape
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *dy: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (codes,) = ctx.saved_tensors
        count = ctx.shape.numel()
        codes = torch.ops.fewbit.integer_decode(codes, count, 0, ctx.table.bits, torch.int32)
        levels = torch.tensor(ctx.table.levels, device=codes.device, dtype=ctx.dtype)
        return dy[0] * levels[codes].reshape(ctx.shape), None, None


class Activation(torch.nn.Module):
    """One activation of fewbit's registry, whose backward reads few-bit codes.

        act = fewbit.nn.Activation("silu", bits=3, parameters=[1.702])

    Args:
        function: "gelu", "silu", "mish", "elu", ...
        bits: of each code, 1 to 8.
        parameters: of the function in declared order, as elu's alpha or silu's beta; empty: their
            defaults.

    Raises:
        RuntimeError: for an unknown function, other bits or the wrong number of parameters.
    """

    def __init__(self, function: str, bits: int = 3, parameters: Sequence[float] = ()) -> None:
        super().__init__()
        self.function, self.bits, self.parameters_ = function, bits, tuple(parameters)
        self.table = Table.standard(function, bits, list(parameters))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return activation(x, self.table)

    def extra_repr(self) -> str:
        parameters = f", parameters={list(self.parameters_)}" if self.parameters_ else ""
        return f"{self.function!r}, bits={self.bits}{parameters}"

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "table"}

    def __setstate__(self, state: dict[str, object]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.table = Table.standard(self.function, self.bits, list(self.parameters_))


def chosen(option: str, value: str, functions: Mapping[str, str]) -> str:
    """The function of the registry that an option's value stands for.

    Raises:
        ValueError: for another value, naming the accepted ones.
    """
    if value not in functions:
        accepted = ", ".join(map(repr, functions))
        raise ValueError(f"{option} is {value!r}, accepted: {accepted}")
    return functions[value]
