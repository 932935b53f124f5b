"""What autograd saves, and for whom."""

from collections.abc import Callable, Iterable

import torch

from fewbit import _fewbit
from fewbit._open_scopes import Scoped


class SavedBytes(Scoped[_fewbit.SavedBytesWatch]):
    """Counts the bytes that autograd saves for backward, and tells which operation saves them.

        with fewbit.SavedBytes(model) as saved:
            loss = model(**batch).loss
        print(saved.unique_bytes)
        print(saved.explain())

    Figures are those of the moment at which most was saved.

    Args:
        model: its parameters and buffers are counted apart, frozen ones too: they live whatever
            autograd saves.
    """

    def __init__(self, model: torch.nn.Module | None = None) -> None:
        super().__init__()
        self._meter = _fewbit.SavedBytes()
        if model is not None:
            self.set_apart(list(model.parameters()) + list(model.buffers()))

    def _open(self) -> _fewbit.SavedBytesWatch:
        return _fewbit.SavedBytesWatch(self._meter)

    def set_apart(self, tensors: Iterable[torch.Tensor]) -> None:
        """Counts these tensors' memory as parameters: the batch, buffers, frozen weights."""
        self._meter.set_apart(list(tensors))

    @property
    def unique_bytes(self) -> int:
        """Bytes of all saved memory, each counted once, without parameters."""
        return self._meter.unique_bytes

    @property
    def parameter_bytes(self) -> int:
        """Bytes of saved memory that is parameters or was set apart."""
        return self._meter.parameter_bytes

    def entries(self) -> list[_fewbit.SavedTensor]:
        """Every saved tensor, in the order of saving."""
        return self._meter.entries()

    def unique_bytes_in_scope(self, bits: int = 3) -> int:
        """What unique_bytes would be in an ActivationScope of so many bits."""
        return self._meter.unique_bytes_in_scope(bits)

    def explain(self, bits: int = 3) -> str:
        """A table by operation, and what codes of activations of so many bits would free."""
        return self._meter.explain(bits)

    def reset(self) -> None:
        """Forgets everything recorded so far."""
        self._meter.reset()


def peak_bytes(step: Callable[[], object], device: torch.device | str | None = None) -> int:
    """Measures the most bytes that tensors hold at once while step() runs, beyond those before it.

        print(fewbit.peak_bytes(lambda: model(**batch).loss.backward()))

    This decides whether a batch fits. A compressor that codes in the step names it in its report
    from then on. Gradients that the step makes count; on a CPU, memory of
    before that it gives back, as by zero_grad(), is not deducted: do that before. What libraries
    allocate for themselves, such as oneDNN's scratch memory, does not count.

    Args:
        step: what it gives is dropped.
        device: whose tensors; None: the accelerator's where there is one, else the CPU's.

    Raises:
        RuntimeError: a torch profiler is recording.
    """
    if device is None:
        device = torch.accelerator.current_accelerator(check_available=True) or "cpu"
    return _fewbit.peak_bytes(step, torch.device(device))
