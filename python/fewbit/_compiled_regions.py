"""What torch does about hooks of saved tensors where a compiled graph runs; for all threads."""

import contextlib
import threading
from collections.abc import Callable, Iterator

import torch

from fewbit._graph_hooks import is_ours

_lock = threading.Lock()
_open_scopes = 0
_mode_before = ""
_switched_off: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext


@contextlib.contextmanager
def inputs_have_hooks() -> Iterator[None]:
    """Hooks of graphs are asked for their inputs and outputs, too: a block that is compiled alone
    saves these. Whatever the order in which threads leave."""
    global _open_scopes, _mode_before
    config = torch._functorch.config
    with _lock:
        if _open_scopes == 0:
            _mode_before = config.saved_tensors_hooks_filtering_mode
            config.saved_tensors_hooks_filtering_mode = "no_static"
        _open_scopes += 1
    try:
        yield
    finally:
        with _lock:
            _open_scopes -= 1
            if _open_scopes == 0:
                config.saved_tensors_hooks_filtering_mode = _mode_before


def show_what_graphs_save() -> None:
    """torch switches hooks off while a graph runs that has some in it, those of C++ with them.
    From now on these see the graph's codes, so that a SavedBytes counts them."""
    from torch._functorch._aot_autograd import runtime_wrappers

    global _switched_off
    if runtime_wrappers._disable_saved_tensors_hooks is not _switched_off_unless_ours:
        _switched_off = runtime_wrappers._disable_saved_tensors_hooks
        setattr(runtime_wrappers, "_disable_saved_tensors_hooks", _switched_off_unless_ours)  # noqa: B010


def _switched_off_unless_ours() -> contextlib.AbstractContextManager[None]:
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    return contextlib.nullcontext() if hooks and is_ours(hooks[0]) else _switched_off()
