"""Scopes of one kind of operation: activations, linear layers."""

from collections.abc import Mapping
from types import TracebackType

import torch

from fewbit import _fewbit
from fewbit._choices import NamedTensors, choice, named_tensors
from fewbit._open_scopes import OpenScopes

Calibrator = _fewbit.Calibrator

_PROJECTIONS = _fewbit.Projection.__members__


class ActivationScope:
    """Replaces activations by those that save codes of their derivative, in an unchanged model.

        with fewbit.ActivationScope(bits=3, rules={"silu": 2, "gelu": None}) as scope:
            loss = model(**batch).loss
        loss.backward()
        print(scope.report())

    Args:
        bits: of each code, 1 to 8, for functions without a rule.
        rules: {function: bits, a Table, or None: left alone}.
        calibrator: fits tables to the inputs that it sees in the scope.
    """

    def __init__(
        self,
        bits: int = 3,
        rules: Mapping[str, int | _fewbit.Table | None] | None = None,
        calibrator: _fewbit.Calibrator | None = None,
    ) -> None:
        self._bits = bits
        self._rules = dict(rules or {})
        self._calibrator = calibrator
        self._open: OpenScopes[_fewbit.ActivationScope] = OpenScopes("fewbit.ActivationScope")
        self._entries: list[_fewbit.ActivationScopeEntry] = []
        self._report = ""

    def __enter__(self) -> "ActivationScope":
        self._open.check_closed()
        scope = _fewbit.ActivationScope(self._bits, self._calibrator)
        try:
            for function, rule in self._rules.items():
                _add_rule(scope, function, rule)
        except BaseException:
            scope.close()
            raise
        self._open.add(scope)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._note()
        self._open.close()

    def _note(self) -> None:
        if (scope := self._open.current()) is not None:
            self._entries, self._report = scope.entries(), scope.report()

    def entries(self) -> list[_fewbit.ActivationScopeEntry]:
        """Calls of the latest forward by function and outcome."""
        self._note()
        return self._entries

    def report(self) -> str:
        """entries() as a table."""
        self._note()
        return self._report


def _add_rule(
    scope: _fewbit.ActivationScope, function: str, rule: int | _fewbit.Table | None
) -> None:
    if rule is None:
        scope.leave_alone(function)
    elif isinstance(rule, _fewbit.Table):
        scope.rule_table(function, rule)
    else:
        scope.rule_bits(function, rule)


class RandomizedLinearScope:
    """Replaces linear layers by those that save a random projection of their input.

        with fewbit.RandomizedLinearScope(model, keep=0.2) as scope:
            loss = model(**batch).loss

    Args:
        model: gives layers their names in entries().
        keep: share of rows that is stored, above 0 and at most 1.
        projection: "rademacher", "gaussian", "dct" or "rows".
    """

    def __init__(
        self,
        model: NamedTensors | None = None,
        keep: float = 0.2,
        projection: str = "rademacher",
    ) -> None:
        self._named = [] if model is None else named_tensors(model)
        self._keep = keep
        self._projection = choice("projection", projection, _PROJECTIONS)
        self._open: OpenScopes[_fewbit.RandomizedLinearScope] = OpenScopes(
            "fewbit.RandomizedLinearScope"
        )
        self._entries: list[_fewbit.RandomizedLinearScopeEntry] = []
        self._report = ""

    def __enter__(self) -> "RandomizedLinearScope":
        self._open.check_closed()
        scope = _fewbit.RandomizedLinearScope(self._keep, self._projection)
        scope.name(self._named)
        self._open.add(scope)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._note()
        self._open.close()

    def _note(self) -> None:
        if (scope := self._open.current()) is not None:
            self._entries, self._report = scope.entries(), scope.report()

    def entries(self) -> list[_fewbit.RandomizedLinearScopeEntry]:
        """Calls of the latest forward by layer and outcome."""
        self._note()
        return self._entries

    def report(self) -> str:
        """entries() as a table."""
        self._note()
        return self._report


def randomized_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    keep: float = 0.2,
    projection: str = "rademacher",
) -> torch.Tensor:
    """x [..., in] by weight [out, in], plus bias [out]; saves a random projection of x."""
    return _fewbit.randomized_linear(
        x, weight, bias, keep, choice("projection", projection, _PROJECTIONS)
    )
