"""Activations as modules, which save codes of their derivative."""

from collections.abc import Sequence

import torch

from fewbit._fewbit import Table, activation


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
