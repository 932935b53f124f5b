"""Lightning's Trainer with a Compressor around every training step.

from fewbit.integrations.lightning import ActivationCompression

trainer = lightning.Trainer(callbacks=[ActivationCompression(bits=2)])
"""

from typing import Any

import lightning.pytorch as pl

from fewbit._compressor import Compressor


class ActivationCompression(pl.Callback):
    """Opens a Compressor from the start of a training step until its backward pass.

    It needs automatic optimisation, which calls backward once a step. The Compressor's state goes
    into Lightning's checkpoints and comes back with them.

    Args:
        bits: of an element, on average.
        options: of the Compressor: scheme=, rules=, ...

    Attributes:
        compressor: the Compressor, from the start of training on.
    """

    def __init__(self, bits: float = 2, **options: Any) -> None:
        self.bits, self.options = bits, options
        self.compressor: Compressor | None = None
        self._state: dict[str, Any] | None = None
        self._is_open = False

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if not pl_module.automatic_optimization:
            raise ValueError("ActivationCompression needs automatic_optimization")
        self.compressor = Compressor(pl_module, bits=self.bits, **self.options)
        if self._state is not None:
            self.compressor.load_state_dict(self._state)

    def on_train_batch_start(self, *_: Any, **__: Any) -> None:
        if self.compressor is not None:
            self.compressor.__enter__()
            self._is_open = True

    def on_before_backward(self, *_: Any, **__: Any) -> None:
        self._close()

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        self._close()  # a step without a loss

    def on_exception(self, *_: Any, **__: Any) -> None:
        self._close()

    def state_dict(self) -> dict[str, Any]:
        return {} if self.compressor is None else dict(self.compressor.state_dict())

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._state = state_dict or None

    def _close(self) -> None:
        if self._is_open and self.compressor is not None:
            self._is_open = False
            self.compressor.__exit__(None, None, None)
