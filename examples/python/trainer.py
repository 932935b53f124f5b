"""Fine-tunes a small Llama on this repository's text with Hugging Face's Trainer: exactly, and with
what it saves for backward in 2 bits. From the repository's root:

    PYTHONPATH=build/ci/python .venv/bin/python examples/python/trainer.py
"""

import argparse
import contextlib
import pathlib
import tempfile

import torch
import transformers

import fewbit
from fewbit.integrations.transformers import Trainer

ROOT = pathlib.Path(__file__).parents[2]
LENGTH = 128


def windows() -> list[dict[str, torch.Tensor]]:
    """The documents' bytes: tokens that need no tokenizer."""
    text = b"".join(file.read_bytes() for file in sorted(ROOT.glob("docs/*.md")))
    tokens = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    rows = tokens[: len(tokens) // LENGTH * LENGTH].view(-1, LENGTH)
    return [{"input_ids": row, "labels": row} for row in rows]


def llama() -> torch.nn.Module:
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=256,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
    )
    return transformers.LlamaForCausalLM(config)


def saved_by(model: torch.nn.Module, batch: dict[str, torch.Tensor], scope) -> int:
    """Bytes that autograd saves in one forward."""
    with fewbit.SavedBytes(model) as saved, scope:
        model(**batch)
    return saved.unique_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    data = windows()
    for bits in (None, 2):
        model = llama()
        with tempfile.TemporaryDirectory() as folder:
            trainer = Trainer(
                model=model,
                args=transformers.TrainingArguments(
                    output_dir=folder,
                    max_steps=steps,
                    per_device_train_batch_size=8,
                    learning_rate=2e-3,
                    lr_scheduler_type="cosine",
                    logging_strategy="no",
                    save_strategy="no",
                    report_to=[],
                    disable_tqdm=True,
                    use_cpu=True,
                    seed=2,
                ),
                train_dataset=data,
                activation_compression=bits,  # the one line that is new
            )
            loss = trainer.train().training_loss
        batch = {name: torch.stack([row[name] for row in data[:8]]) for name in data[0]}
        scope = trainer.compressor or contextlib.nullcontext()
        saved = saved_by(model, batch, scope)
        title = f"{bits} bits" if bits else "exact"
        print(f"{title:7} mean loss {loss:.4f}, {saved / 1e6:6.2f} MB saved for backward")


if __name__ == "__main__":
    main()
