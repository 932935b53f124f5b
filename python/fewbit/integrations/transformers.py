"""Compressed training with Hugging Face's Trainer.

from fewbit.integrations.transformers import Trainer

trainer = Trainer(model=model, args=arguments, train_dataset=data, activation_compression=2)
trainer.train()
print(trainer.compressor.report())
"""

import contextlib
from collections.abc import Mapping
from typing import Any

import torch
import transformers

from fewbit._compressor import Compressor


class CompressionMixin:
    """Adds compression to a Trainer, as in `class MyTrainer(CompressionMixin, SFTTrainer)`.

    Args:
        activation_compression: average bits of what the forward saves, 1 to 8; a mapping of the
            Compressor's options; a Compressor; or None, for exact training.
    """

    compressor: Compressor | None

    def __init__(
        self,
        *args: Any,
        activation_compression: float | Mapping[str, Any] | Compressor | None = 2,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.compressor = _compressor_of(activation_compression, self.model)  # type: ignore[attr-defined]

    def compute_loss_context_manager(self) -> contextlib.ExitStack:
        """What the Trainer runs the loss in; evaluation saves nothing, and is left alone."""
        stack: contextlib.ExitStack = super().compute_loss_context_manager()  # type: ignore[misc]
        if self.compressor is not None and torch.is_grad_enabled():
            stack.enter_context(self.compressor)
        return stack


def _compressor_of(
    given: float | Mapping[str, Any] | Compressor | None, model: torch.nn.Module
) -> Compressor | None:
    if given is None or isinstance(given, Compressor):
        return given
    if isinstance(given, Mapping):
        return Compressor(model, **given)
    return Compressor(model, given)


class Trainer(CompressionMixin, transformers.Trainer):
    """transformers.Trainer with `activation_compression`, 2 bits by default."""
