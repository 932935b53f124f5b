"""Scopes of one kind of operation: activations, linear layers."""

from collections.abc import Mapping

import torch

from fewbit import _fewbit
from fewbit._choices import NamedTensors, choice, named_tensors
from fewbit._open_scopes import ReportingScope

Calibrator = _fewbit.Calibrator

_PROJECTIONS = _fewbit.Projection.__members__


class ActivationScope(ReportingScope[_fewbit.ActivationScopeEntry]):
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
        super().__init__()
        self._bits = bits
        self._rules = dict(rules or {})
        self._calibrator = calibrator

    def _open(self) -> _fewbit.ActivationScope:
        scope = _fewbit.ActivationScope(self._bits, self._calibrator)
        try:
            for function, rule in self._rules.items():
                _add_rule(scope, function, rule)
        except BaseException:
            scope.close()
            raise
        return scope


def _add_rule(
    scope: _fewbit.ActivationScope, function: str, rule: int | _fewbit.Table | None
) -> None:
    if rule is None:
        scope.leave_alone(function)
    elif isinstance(rule, _fewbit.Table):
        scope.rule_table(function, rule)
    else:
        scope.rule_bits(function, rule)


class RandomizedLinearScope(ReportingScope[_fewbit.RandomizedLinearScopeEntry]):
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
        super().__init__()
        self._named = [] if model is None else named_tensors(model)
        self._keep = keep
        self._projection = choice("projection", projection, _PROJECTIONS)

    def _open(self) -> _fewbit.RandomizedLinearScope:
        scope = _fewbit.RandomizedLinearScope(self._keep, self._projection)
        scope.name(self._named)
        return scope


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
