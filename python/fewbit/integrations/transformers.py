"""Compressed training with Hugging Face's Trainer.

from fewbit.integrations.transformers import Trainer

trainer = Trainer(model=model, args=arguments, train_dataset=data, activation_compression=2)
trainer.train()
print(trainer.compressor.report())
"""

import contextlib
import itertools
import logging
import pathlib
from collections.abc import Mapping
from typing import Any

import torch
import transformers
from accelerate.utils import broadcast_object_list  # type: ignore[import-untyped]
from transformers.trainer_utils import get_last_checkpoint

from fewbit._compressor import Compressor
from fewbit._noise_preview import NoisePreview, preview_noise

_FILE = "fewbit.pt"

_MEASURED_BITS = (1, 1.5, 2, 3, 4, 6)
_MEASURED_BATCHES = 8

_logger = logging.getLogger(__name__)


class CompressionMixin:
    """Adds compression to a Trainer, as in `class MyTrainer(CompressionMixin, SFTTrainer)`.

    Checkpoints hold the Compressor's state beside the model, and training resumes with it.

    Args:
        activation_compression: average bits of what the forward saves, 1 to 8; a mapping of the
            Compressor's options; a Compressor; or None, for exact training. In the mapping,
            `"noise": 0.05` in place of bits takes the fewest bits that add at most 5 % to the noise
            of gradients: train() measures that first, in some 90 forward and backward passes of 8
            batches (fewbit.preview_noise).
    """

    compressor: Compressor | None
    """None in exact training, and before train() has measured noise."""
    noise: NoisePreview | None
    """What train() measured; None where it was not asked to."""

    def __init__(
        self,
        *args: Any,
        activation_compression: float | Mapping[str, Any] | Compressor | None = 2,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.noise = None
        self._allowed_noise: float | None = None
        self._options: dict[str, Any] = {}
        if isinstance(activation_compression, Mapping) and "noise" in activation_compression:
            self._options = dict(activation_compression)
            self._allowed_noise = self._options.pop("noise")
            if "bits" in self._options:
                raise ValueError("activation_compression has both bits and noise, accepted: one")
            activation_compression = None
        self._compress(_compressor_of(activation_compression, self.model))  # type: ignore[attr-defined]

    def _compress(self, compressor: Compressor | None) -> None:
        self.compressor = compressor
        if compressor is not None:
            self.add_callback(_SavesState(compressor))  # type: ignore[attr-defined]

    def _first_batches(self) -> list[Any]:
        """Of training, whose own order of batches does not change by that."""
        prepared = len(self.accelerator._dataloaders)  # type: ignore[attr-defined]
        with torch.random.fork_rng():
            batches = list(itertools.islice(self.get_train_dataloader(), _MEASURED_BATCHES))  # type: ignore[attr-defined]
        del self.accelerator._dataloaders[prepared:]  # type: ignore[attr-defined]
        return batches

    def _bits_for(self, allowed: float) -> float:
        """The fewest that add so much noise, or those that add least."""
        model: torch.nn.Module = self.model  # type: ignore[attr-defined]

        def loss(batch: Any) -> torch.Tensor:
            with self.compute_loss_context_manager():
                inputs = self._prepare_inputs(batch)  # type: ignore[attr-defined]
                value: torch.Tensor = self.compute_loss(model, inputs)  # type: ignore[attr-defined]
                return value

        was_training = model.training
        model.train()
        try:
            self.noise = preview_noise(
                loss, self._first_batches(), model, _MEASURED_BITS, **self._options
            )
        finally:
            model.train(was_training)
        _logger.info("noise of gradients\n%s", self.noise)
        least = min(self.noise.rows, key=lambda row: row.added)
        if least.added > allowed:
            _logger.warning("%g bits add least noise, %.3g", least.bits, least.added)
            return least.bits
        return self.noise.fewest_bits(allowed)

    def train(self, resume_from_checkpoint: str | bool | None = None, **kwargs: Any) -> Any:
        """As the Trainer's; a checkpoint without the Compressor's state starts it anew."""
        if self._allowed_noise is not None and self.compressor is None:
            bits = broadcast_object_list([self._bits_for(self._allowed_noise)])[0]
            self._compress(Compressor(self.model, bits, **self._options))  # type: ignore[attr-defined]
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
