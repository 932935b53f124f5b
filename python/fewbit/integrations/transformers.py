"""Compressed training with Hugging Face's Trainer.

from fewbit.integrations.transformers import Trainer

trainer = Trainer(model=model, args=arguments, train_dataset=data, activation_compression=2)
trainer.train()
print(trainer.compressor.report())
"""

import contextlib
import pathlib
from collections.abc import Mapping
from typing import Any

import torch
import transformers
from transformers.trainer_utils import get_last_checkpoint

from fewbit._compressor import Compressor

_FILE = "fewbit.pt"


class CompressionMixin:
    """Adds compression to a Trainer, as in `class MyTrainer(CompressionMixin, SFTTrainer)`.

    Checkpoints hold the Compressor's state beside the model, and training resumes with it.

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
        if self.compressor is not None:
            self.add_callback(_SavesState(self.compressor))  # type: ignore[attr-defined]

    def train(self, resume_from_checkpoint: str | bool | None = None, **kwargs: Any) -> Any:
        """As the Trainer's; a checkpoint without the Compressor's state starts it anew."""
        folder = resume_from_checkpoint
        if folder is True:
            folder = get_last_checkpoint(self.args.output_dir)  # type: ignore[attr-defined]
        if folder and self.compressor is not None:
            file = pathlib.Path(folder, _FILE)
            if file.exists():
                self.compressor.load_state_dict(torch.load(file, weights_only=True))
        return super().train(resume_from_checkpoint=resume_from_checkpoint, **kwargs)  # type: ignore[misc]

    def compute_loss_context_manager(self) -> contextlib.ExitStack:
        """What the Trainer runs the loss in; evaluation saves nothing, and is left alone."""
        stack: contextlib.ExitStack = super().compute_loss_context_manager()  # type: ignore[misc]
        if self.compressor is not None and torch.is_grad_enabled():
            stack.enter_context(self.compressor)
        return stack


class _SavesState(transformers.TrainerCallback):
    """Writes the Compressor's state into every checkpoint, of the main process."""

    def __init__(self, compressor: Compressor) -> None:
        self._compressor = compressor

    def on_save(
        self,
        args: transformers.TrainingArguments,
        state: transformers.TrainerState,
        control: transformers.TrainerControl,
        **_: Any,
    ) -> None:
        folder = pathlib.Path(args.output_dir, f"checkpoint-{state.global_step}")
        if state.is_world_process_zero and folder.is_dir():
            torch.save(self._compressor.state_dict(), folder / _FILE)


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
