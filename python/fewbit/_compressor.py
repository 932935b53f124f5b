"""Compression of all that a model saves for backward."""

import os
import tempfile
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch

from fewbit import _fewbit, _html
from fewbit._choices import NamedTensors, choice, named_tensors
from fewbit._compiled_scope import CompiledScope
from fewbit._compiled_text import text_of
from fewbit._graph_hooks import CompiledSite
from fewbit._open_scopes import Scoped
from fewbit._processes import rank
from fewbit._running_module import RunningModule

_SCHEMES = _fewbit.Scheme.__members__
_RECOMPUTE = _fewbit.Recompute.__members__

Rule = int | torch.dtype | str | None


def options_of(bits: float, options: Mapping[str, Any]) -> _fewbit.CompressorOptions:
    """The options of C++ by their names. Raises TypeError for other names or types."""
    result = _fewbit.CompressorOptions()
    result.bits = bits
    for name, value in options.items():
        if name == "bits" or not hasattr(result, name):
            known = [field for field in dir(result) if not field.startswith("_")]
            raise TypeError(f"unknown option {name!r}, accepted: {', '.join(known)}")
        setattr(result, name, choice("scheme", value, _SCHEMES) if name == "scheme" else value)
    return result


class Compressor(Scoped[_fewbit.CompressionScope]):
    """Stores what operations save for their backward pass in few bits, in an unchanged model.

        compressor = fewbit.Compressor(model, bits=2)
        for batch in batches:
            with compressor:
                loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        print(compressor.report())

    One `with` spans one forward; backward runs outside of it. Inputs of linear layers,
    convolutions, products and norms, and derivatives of activations are coded; bits go where the
    error they save is greatest. Whatever a logarithm, a root or a quotient uses, parameters and
    integers stay exact.

    Args:
        model: gives rules and the report the names of modules. None: they have none, until name().
        bits: average bits of an element, 1 to 8; below 1, from 0.5, where tensors are recomputed
            from others' codes.
        rules: {pattern: bits, dtype, "exact" or "offload"}; see rule().
        scheme: "rotated" (the default), "group", "actnn", "gact", "division" or "blpa".
        options: level, block, activation_bits, bytes (a budget in bytes in place of bits), group,
            trellis, directions, offload, decoded_cache_bytes: as in C++ (fewbit/compressor.hpp).

    Raises:
        ValueError: for an option out of range, naming it and what is accepted.
        TypeError: for an unknown option.
    """

    def __init__(
        self,
        model: torch.nn.Module | None = None,
        bits: float = 2.0,
        *,
        rules: Mapping[str, Rule] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if model is not None and not isinstance(model, torch.nn.Module):
            raise TypeError(
                f"model is a {type(model).__name__}, accepted: a torch.nn.Module or None"
            )
        try:
            self._compressor = _fewbit.Compressor(options_of(bits, options))
        except RuntimeError as error:
            raise ValueError(str(error)) from None
        self.bits = float(bits)
        """Average bits of an element, as given."""
        self._model = None if model is None else weakref.ref(model)
        self._named: tuple[int, ...] = ()
        self._knows_modules = model is None
        self._compiled = CompiledScope(self._compressor, self.bits, options)
        for pattern, rule in (rules or {}).items():
            self.rule(pattern, rule)

    def _open(self) -> _fewbit.CompressionScope:
        self._name_model()
        self._compressor.random_stream(rank())  # copies of a model err independently
        if not self._knows_modules and self._model is not None:
            model = self._model()
            self._compressor.name_by(RunningModule(model) if model is not None else None)
        with self._compiled.entering():  # below those of C++, which act in what is not compiled
            return _fewbit.CompressionScope(self._compressor)

    def _leave(self, scope: _fewbit.CompressionScope) -> None:
        self._compiled.leave()
        # Sites keep the names that they had when they were first seen.
        if not self._knows_modules and self.sites():
            self._knows_modules = True
            self._compressor.name_by(None)

    def _name_model(self) -> None:
        """After a cast or a move parameters lie elsewhere."""
        model = self._model() if self._model is not None else None
        if model is None:
            return
        named = list(model.named_parameters())
        places = tuple(id(parameter) for _, parameter in named) + tuple(
            _address(parameter) for _, parameter in named
        )
        if places != self._named:
            self._compressor.name(named)
            self._named = places

    def name(self, parameters: NamedTensors) -> "Compressor":
        """Gives parameters their names: a module, or pairs of names and tensors. Holds none."""
        self._compressor.name(named_tensors(parameters))
        return self

    def rule(self, pattern: str, rule: Rule) -> "Compressor":
        """Sets how matching tensors are stored; the latest matching rule counts.

        Args:
            pattern: the name of an operation ("aten::addmm", "addmm"), of an activation ("silu"),
                or of a parameter that the operation takes ("encoder.layers.0.*"); * stands for any
                characters.
            rule: bits, 1 to 8; torch.bfloat16, float8_e4m3fn or float8_e5m2; "exact" or None; or
                "offload": exact, out of the device's memory until backward.
        """
        if rule is None or rule == "exact":
            self._compressor.leave_alone(pattern)
        elif rule == "offload":
            self._compressor.offload_exact(pattern)
        elif isinstance(rule, torch.dtype):
            self._compressor.rule_type(pattern, rule)
        elif isinstance(rule, int) and not isinstance(rule, bool):
            self._compressor.rule_bits(pattern, rule)
        else:
            raise TypeError(
                f"the rule for {pattern!r} is {rule!r}, accepted: bits from 1 to 8, a torch.dtype, "
                "'exact', 'offload' or None"
            )
        self._compiled.rule(pattern, rule)
        return self

    def recompute(self, kind: str, when: str = "where_better") -> "Compressor":
        """Sets when tensors of one kind are recomputed from other saved tensors.

        Args:
            kind: "linear", "activation", "norm", "dropout", "sum", "cast", ... or "*" for all.
            when: "never", "where_better" or "always".
        """
        self._compressor.recompute(kind, choice("when", when, _RECOMPUTE))
        return self

    def follow(self, plan: _fewbit.MemoryPlan) -> "Compressor":
        """Stores each site as the plan chose, whatever rules and the budget say."""
        self._compressor.follow(plan)
        return self

    def freeze(self) -> "Compressor":
        """Gives graphs that torch.compile makes from now on the bits of sites() as they are.

            with compressor:  # before the model is compiled
                loss = model(**batch).loss
            loss.backward()
            model.compile()
            compressor.freeze()

        A graph holds its numbers of bits. Without this each of its tensors has those of the
        Compressor; with it as many as give the error that the site of its module has. A function
        that was compiled before is compiled anew, once.
        """
        self._compiled.freeze(self.sites())
        return self

    def compiled_sites(self) -> list[CompiledSite]:
        """What graphs save that torch.compile made inside of `with`. Those that torch reads from
        its cache on disk are coded the same, and not listed."""
        return self._compiled.sites()

    def sites(self) -> list[_fewbit.Site]:
        """Every saved tensor of the model, in the order in which they were first seen."""
        return self._compressor.sites()

    def left_alone(self) -> list[_fewbit.LeftAlone]:
        """What operations saved exactly in the latest forward, with the reasons."""
        return self._compressor.left_alone_operations()

    def report(self) -> str:
        """sites(), left_alone() and compiled_sites() as tables, with totals, and the peak of the
        latest step of this compressor that fewbit.peak_bytes measured."""
        return self._compressor.report() + text_of(self.compiled_sites())

    def _repr_html_(self) -> str:
        sites = _html.table(
            ["site", "codec", "elements", "bytes before", "after", "squared error"],
            (
                (
                    str(site),
                    str(site.stored),
                    f"{site.elements:,}",
                    f"{site.bytes_before:,}",
                    f"{site.bytes_after:,}",
                    f"{site.error:.3g}",
                )
                for site in self.sites()
            ),
            "saved tensors",
        )
        left = _html.table(
            ["left alone", "times", "bytes", "why"],
            (
                (one.operation, f"{one.count:,}", f"{one.bytes:,}", one.reason)
                for one in self.left_alone()
            ),
            "stored exactly",
        )
        return sites + left

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes sites, their bits and the number of forwards, for load().

        A run that loads them goes on bit for bit, if torch's generator is in the same state.
        """
        self._compressor.save(os.fspath(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Reads what save() wrote. Raises RuntimeError for a file that was changed or cut."""
        self._compressor.load(os.fspath(path))

    def state_dict(self) -> dict[str, str]:
        """What save() writes, for torch.save."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state")
            self.save(path)
            with open(path, encoding="utf-8", newline="") as file:
                return {"sites": file.read()}

    def load_state_dict(self, state: Mapping[str, str]) -> None:
        """Reads what state_dict() gave."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "state")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(state["sites"])
            self.load(path)

    def __reduce__(self) -> str:
        raise TypeError(
            "a fewbit.Compressor cannot be pickled; torch.save its state_dict() instead"
        )


def _address(parameter: torch.Tensor) -> int:
    try:
        return parameter.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # of a subclass without memory of its own
        return 0


class Compression:
    """A model that compresses by itself, until remove(). compress() makes it."""

    def __init__(self, model: torch.nn.Module, compressor: Compressor) -> None:
        self.compressor = compressor
        self._handles = [
            model.register_forward_pre_hook(lambda *_: self._enter(), prepend=True),
            model.register_forward_hook(lambda *_: self._leave(), always_call=True),
        ]

    def _enter(self) -> None:
        if torch.is_grad_enabled():
            self.compressor.__enter__()

    def _leave(self) -> None:
        if self.compressor._current() is not None:
            self.compressor.__exit__(None, None, None)

    def remove(self) -> None:
        """The model saves exact tensors again."""
        for handle in self._handles:
            handle.remove()


def compress(model: torch.nn.Module, bits: float = 2.0, **options: Any) -> Compression:
    """Compresses every forward of the model that computes gradients, without a `with`.

        handle = fewbit.compress(model, bits=2)
        model(**batch).loss.backward()
        print(handle.compressor.report())
        handle.remove()

    A loss outside of the model is not compressed. Arguments and errors are the Compressor's.
    """
    return Compression(model, Compressor(model, bits, **options))


class BudgetPreview:
    """Saved bytes and peak of a step, exact and with several budgets. print() shows a table."""

    def __init__(self, preview: _fewbit.BudgetPreview) -> None:
        self.rows: list[_fewbit.BudgetRow] = list(preview.rows)
        """Average bits (0: exact), saved bytes without parameters, and the peak of a step."""
        self.sites: str = preview.sites
        """The report with the bits that were asked for."""
        self._text = str(preview)

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        exact = self.rows[0]
        return _html.table(
            ["average bits", "saved bytes", "times less", "peak of a step", "times less"],
            (
                (
                    "exact" if row.bits == 0 else f"{row.bits:g}",
                    f"{row.bytes:,}",
                    f"{exact.bytes / max(row.bytes, 1):.3g}",
                    f"{row.peak:,}",
                    f"{exact.peak / max(row.peak, 1):.3g}",
                )
                for row in self.rows
            ),
            "bytes of one step",
        )


def preview_budgets(
    forward: Callable[[], torch.Tensor],
    parameters: NamedTensors = (),
    bits: float = 2.0,
    **options: Any,
) -> BudgetPreview:
    """Measures what one step would take with 1, 1.5, 2, 3, 4 and `bits` bits on average.

        print(fewbit.preview_budgets(lambda: model(**batch).loss, model))

    Runs forward() and a backward twice for each budget; gradients of parameters are not touched.
    `parameters`, a model or pairs of names and tensors, names modules in the table of sites.
    """
    return BudgetPreview(
        _fewbit.preview_budgets(forward, options_of(bits, options), named_tensors(parameters))
    )
