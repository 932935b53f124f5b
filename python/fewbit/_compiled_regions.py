"""What torch does about hooks of saved tensors where a compiled graph is made and runs.

torch would take a pair of hooks for graphs from the stack of hooks that all operations have. There
it would keep torch.func from running, and be called for what is not compiled. So torch is told of
the pair by the function that it asks, while a Compressor is open in the thread.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import fx

Pair = tuple[fx.GraphModule, fx.GraphModule]
# Of a forward and its backward graph: where in its outputs what the one saves for the other starts,
# and which of its inputs stay anyway, as parameters do.
Change = Callable[[fx.Graph, fx.Graph, int, Sequence[int]], None]


class _Thread(threading.local):
    """Pairs that are open, with the hooks that were on torch's stack when each came, and what is
    to be changed in graphs before they get hooks."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Pair, Any, Change]] = []


_thread = _Thread()
_lock = threading.Lock()
_open_scopes = 0
_mode_before = ""


def _is_same(hooks: Any, others: Any) -> bool:
    if not hooks or not others:
        return not hooks and not others
    return hooks[0] is others[0] and hooks[1] is others[1]


def _top_of_stack() -> Any:
    return torch._C._autograd._top_saved_tensors_default_hooks(True)


def _hooks_of_graphs() -> Any:
    """The innermost pair; what was put onto torch's stack since it came counts more."""
    top = _top_of_stack()
    if _thread.pairs and _is_same(top, _thread.pairs[-1][1]):
        return _thread.pairs[-1][0]
    return top


def _hooks_are_ours() -> bool:
    return any(_hooks_of_graphs() is pair for pair, *_ in _thread.pairs)


def tell_torch() -> None:
    """Of _hooks_of_graphs(), for good. And torch switches hooks off while a graph runs that has
    some in it, those of C++ with them: from now on these see the graph's codes, so that SavedBytes
    counts them. And before graphs get their hooks they are changed."""
    from torch._functorch._aot_autograd import graph_compile, runtime_wrappers, utils

    if utils.top_saved_tensors_hooks is _hooks_of_graphs:
        return
    switched_off: Callable[[], contextlib.AbstractContextManager[None]]
    switched_off = runtime_wrappers._disable_saved_tensors_hooks
    inline: Callable[..., None] = graph_compile.maybe_inline_graph_saved_tensors_hooks

    def switched_off_unless_ours() -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if _hooks_are_ours() else switched_off()

    def change_and_inline(forward: fx.GraphModule, backward: fx.GraphModule, *rest: Any) -> None:
        if _hooks_are_ours():
            first_saved, *_, static = rest
            _thread.pairs[-1][2](forward.graph, backward.graph, first_saved, static)
        inline(forward, backward, *rest)

    replaced: list[tuple[Any, str, Callable[..., Any]]] = [
        (runtime_wrappers, "_disable_saved_tensors_hooks", switched_off_unless_ours),
        (graph_compile, "maybe_inline_graph_saved_tensors_hooks", change_and_inline),
        (utils, "top_saved_tensors_hooks", _hooks_of_graphs),
    ]
    for module, name, function in replaced:
        setattr(module, name, function)


@contextlib.contextmanager
def graphs_have_hooks(pair: Pair, change: Change) -> Iterator[None]:
    """Those that the thread has torch make, of their inputs and outputs, too: a block that is
    compiled alone saves these. Threads may leave in any order."""
    global _open_scopes, _mode_before
    config = torch._functorch.config
    entry = (pair, _top_of_stack(), change)
    with _lock:
        if _open_scopes == 0:
            _mode_before = config.saved_tensors_hooks_filtering_mode
            config.saved_tensors_hooks_filtering_mode = "no_static"
        _open_scopes += 1
    _thread.pairs.append(entry)
    try:
        yield
    finally:
        _thread.pairs = [one for one in _thread.pairs if one is not entry]
        with _lock:
            _open_scopes -= 1
            if _open_scopes == 0:
                config.saved_tensors_hooks_filtering_mode = _mode_before
