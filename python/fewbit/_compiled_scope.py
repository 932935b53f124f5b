"""What a Compressor's `with` does for functions that torch.compile compiled."""

import contextlib
import math
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from fewbit import _fewbit
from fewbit._compiled_regions import graphs_have_hooks, tell_torch
from fewbit._graph_hooks import EXACT, CompiledSite, GraphHooks, GraphPolicy, hooks_for

_DEFAULTS = _fewbit.CompressorOptions()


def _bits_of(error: float) -> int:
    """The number of bits whose codes have the nearest error to that, by ratio."""

    def distance(bits: int) -> float:
        return abs(math.log(torch.ops.fewbit.rotated_error(bits) / error))

    return min(range(1, 9), key=distance)


class CompiledScope:
    """Hooks of a Compressor for compiled graphs, from `with` to its end, in each thread."""

    def __init__(
        self, compressor: _fewbit.Compressor, bits: float, options: Mapping[str, Any]
    ) -> None:
        self._compressor = compressor
        self._codes = options.get("scheme", "rotated") == "rotated"
        self._bits = max(1, round(bits))
        self._activation_bits = options.get("activation_bits") or _DEFAULTS.activation_bits or 3
        self._form = (
            options.get("group", _DEFAULTS.group),
            options.get("trellis", _DEFAULTS.trellis),
        )
        self._rules: list[tuple[str, int | str]] = []
        self._modules: tuple[tuple[str, int], ...] = ()
        self._hooks: GraphHooks | None = None
        self._all: list[GraphHooks] = []
        self._thread = threading.local()

    def rule(self, pattern: str, rule: object) -> None:
        """For graphs that are compiled from now on."""
        self._rules.append((pattern, rule if isinstance(rule, int) else "exact"))
        self._hooks = None

    def freeze(self, sites: Sequence[_fewbit.Site]) -> None:
        """The same, with the bits of sites by their modules."""
        bits: dict[str, list[int]] = {}
        for site in sites:
            if site.module and site.stored.storage == _fewbit.Storage.exact:
                bits.setdefault(site.module, []).append(EXACT)
            elif site.module and site.error > 0:
                bits.setdefault(site.module, []).append(_bits_of(site.error))
        self._modules = tuple(
            (module, round(sum(all) / len(all))) for module, all in sorted(bits.items())
        )
        self._hooks = None

    def sites(self) -> list[CompiledSite]:
        """What all graphs save that were compiled by these hooks."""
        return [site for hooks in self._all for site in hooks.saved]

    @contextlib.contextmanager
    def entering(self) -> Iterator[None]:
        """Opened, unless what it is around throws."""
        self._enter()
        try:
            yield
        except BaseException:
            self.leave()
            raise

    def _enter(self) -> None:
        if not self._codes or "torch._dynamo" not in sys.modules:  # nothing was compiled yet
            return
        if self._hooks is None:
            self._hooks = hooks_for(
                GraphPolicy(
                    self._bits,
                    self._activation_bits,
                    *self._form,
                    self._modules,
                    tuple(self._rules),
                )
            )
            self._all.append(self._hooks)
            self._compressor.leave_alone("*CompiledFunction*")  # codes, and what codes would harm
            tell_torch()
        stack = contextlib.ExitStack()
        stack.enter_context(graphs_have_hooks(self._hooks.pair, self._hooks.change))
        self._thread.stack = stack

    def leave(self) -> None:
        """Closed, if it is open in this thread."""
        stack = getattr(self._thread, "stack", None)
        self._thread.stack = None
        if stack is not None:
            stack.close()
