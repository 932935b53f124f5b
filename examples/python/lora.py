"""LoRA trains few parameters, and saves nearly as much for backward as if it trained all. A small
Llama that has learned prose is adapted to C++ by peft: exactly, and with codes. From the
repository's root:

    PYTHONPATH=build/ci/python .venv/bin/python examples/python/lora.py
"""

import argparse
import contextlib
import copy
import pathlib

import peft
import torch
import transformers

import fewbit

ROOT = pathlib.Path(__file__).parents[2]
LENGTH, BATCH = 128, 8


def windows(pattern: str) -> torch.Tensor:
    """The files' bytes, LENGTH to a row: tokens that need no tokenizer."""
    text = b"".join(file.read_bytes() for file in sorted(ROOT.glob(pattern)))
    tokens = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
    return tokens[: len(tokens) // LENGTH * LENGTH].view(-1, LENGTH)


def llama() -> torch.nn.Module:
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=256,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=2,
        num_attention_heads=4,
    )
    return transformers.LlamaForCausalLM(config)


def train(model, rows, steps, rate, compressor=None) -> int:
    """Bytes that autograd saved in the last forward."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=rate)
    generator = torch.Generator().manual_seed(2)
    for _ in range(steps):
        batch = rows[torch.randint(len(rows), (BATCH,), generator=generator)]
        scope = compressor or contextlib.nullcontext()
        with fewbit.SavedBytes(model) as saved, scope:
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return saved.unique_bytes


@torch.no_grad()
def loss_of(model, rows) -> float:
    return float(model(input_ids=rows, labels=rows).loss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=150)
    steps = parser.parse_args().steps
    prose, code = windows("docs/*.md"), windows("solver/*/*.cpp")
    base, test = llama(), code[:64]
    saved = train(base, prose, steps, 2e-3)

    def tell(title: str, model: torch.nn.Module) -> None:
        print(f"{title:26} {saved / 1e6:6.2f} MB saved, loss on C++ {loss_of(model, test):.3f}")

    tell("all of it on prose, exact", base)
    for bits in (None, 4, 2):
        torch.manual_seed(3)
        adapters = peft.LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM")
        model = peft.get_peft_model(copy.deepcopy(base), adapters)
        compressor = fewbit.Compressor(model, bits=bits) if bits else None
        saved = train(model, code[64:], steps, 2e-3, compressor)
        tell(f"LoRA on C++, {f'{bits} bits' if bits else 'exact'}", model)


if __name__ == "__main__":
    main()
