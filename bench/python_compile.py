"""What torch.compile's graphs save, peak, time and error, with codes in them and without: a page of
bench/results; and graph breaks, bytes and errors of families of transformers. From the root of the
repository, after `cmake --preset ci`:

    PYTHONPATH=build/ci/python:tests/python python3 bench/python_compile.py

--models takes some of bert, llama, gpt2, vit, --families of those of tests/python/families.py."""

import argparse
import contextlib
import platform
import statistics
import time

import torch
import transformers

import fewbit
from families import FAMILIES
from small import relative

BATCH, TOKENS, WORDS, WIDTH = 8, 128, 1024, 256


def of_ids(model):
    ids = torch.randint(3, WORDS, (BATCH, TOKENS))
    return lambda: model(input_ids=ids, labels=ids).loss


def make(name, layers):
    """A model without dropout, its loss, and its blocks."""
    torch.manual_seed(1)
    sizes = {
        "hidden_size": WIDTH,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "intermediate_size": 4 * WIDTH,
    }
    if name == "bert":
        model = transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=WORDS, **sizes))
        blocks = model.bert.encoder.layer
    elif name == "llama":
        config = transformers.LlamaConfig(vocab_size=WORDS, num_key_value_heads=2, **sizes)
        model = transformers.LlamaForCausalLM(config)
        blocks = model.model.layers
    elif name == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=WORDS, n_embd=WIDTH, n_layer=layers, n_head=4, bos_token_id=1, eos_token_id=2
        )
        model = transformers.GPT2LMHeadModel(config)
        fewbit.swap_activations(model)
        blocks = model.transformer.h
    else:
        config = transformers.ViTConfig(image_size=64, patch_size=8, **sizes)
        model = transformers.ViTForImageClassification(config)
        images, labels = torch.randn(16, 3, 64, 64), torch.randint(0, 2, (16,))
        model.eval()
        return model, lambda: model(pixel_values=images, labels=labels).loss, model.vit.layers
    model.eval()
    return model, of_ids(model), blocks


class Way:
    """One row: how the model is compiled, and how it is stored."""

    def __init__(self, name, compiled="", bits=0, freezes=False, budget=1.0, checkpoints=False):
        self.name, self.compiled, self.bits = name, compiled, bits
        self.freezes, self.budget, self.checkpoints = freezes, budget, checkpoints

    def set_up(self, model, loss, blocks):
        compressor = fewbit.Compressor(model, bits=self.bits) if self.bits else None
        if self.checkpoints:
            model.train()  # transformers' checkpoints work there alone; there is no dropout left
            model.gradient_checkpointing_enable({"use_reentrant": False})
        if self.freezes:
            for _ in range(3):
                step(model, loss, compressor)
            compressor.freeze()
        for part in {"": [], "whole": [model], "blocks": blocks}[self.compiled]:
            part.compile()
        return compressor


WAYS = [
    Way("eager, exact"),
    Way("eager, checkpoint of every block", checkpoints=True),
    Way("eager, 2 bits", bits=2),
    Way("compiled, exact", "whole"),
    Way("compiled, checkpoint of every block", "whole", checkpoints=True),
    Way("compiled, activation_memory_budget .5", "whole", budget=0.5),
    Way("compiled, activation_memory_budget 0", "whole", budget=0.0),
    Way("compiled, 2 bits", "whole", bits=2),
    Way("compiled, bits of 2-bit eager sites", "whole", bits=2, freezes=True),
    Way("blocks compiled, exact", "blocks"),
    Way("blocks compiled, 2 bits", "blocks", bits=2),
]


def forward(loss, compressor):
    with compressor or contextlib.nullcontext():
        return loss()


def step(model, loss, compressor):
    model.zero_grad()
    forward(loss, compressor).backward()


def gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def without_dropout(model):
    """Where training mode is needed."""
    for module in model.modules():
        for name, value in vars(module).items():
            if "drop" in name and isinstance(value, float):
                setattr(module, name, 0.0)
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


def measured(way, name, layers, exact, repetitions=7):
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()
    model, loss, blocks = make(name, layers)
    without_dropout(model)
    with torch._functorch.config.patch(activation_memory_budget=way.budget):
        compressor = way.set_up(model, loss, blocks)
        start = time.perf_counter()
        for _ in range(3):
            step(model, loss, compressor)
        compiling = time.perf_counter() - start
        breaks = sum(counters["graph_break"].values())
        with torch.compiler.set_stance("fail_on_recompile" if way.compiled else "default"):
            peak = fewbit.peak_bytes(lambda: step(model, loss, compressor))
            with fewbit.SavedBytes(model) as saved:
                value = forward(loss, compressor)
            del value
            times = []
            for _ in range(repetitions):
                start = time.perf_counter()
                step(model, loss, compressor)
                times.append(time.perf_counter() - start)
    result = gradient(model)
    error = 0.0 if exact is None else relative(result, exact)
    return saved.unique_bytes, peak, statistics.median(times), error, breaks, compiling, result


def rows(name, layers):
    exact = None
    for way in WAYS:
        saved, peak, seconds, error, breaks, compiling, result = measured(way, name, layers, exact)
        exact = result if exact is None else exact
        cells = [
            name,
            way.name,
            f"{saved / 1e6:.2f}",
            f"{peak / 1e6:.1f}",
            f"{seconds * 1e3:.0f}",
            f"{error:.3g}",
            str(breaks),
            f"{compiling:.0f}",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


def family_row(name):
    """With torch's backend aot_eager, whose graphs run as they are."""
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    torch.manual_seed(1)
    model, loss = FAMILIES[name]()
    model.eval()
    fewbit.swap_activations(model)
    step(model, loss, None)
    exact, compressor = gradient(model), fewbit.Compressor(model, bits=2)
    for _ in range(3):
        step(model, loss, compressor)
    eager = relative(gradient(model), exact)
    compressor.freeze()
    model.compile(backend="aot_eager")
    cells = [name]
    for scope in (None, compressor):
        counters.clear()
        step(model, loss, scope)
        breaks = sum(counters["graph_break"].values())
        with fewbit.SavedBytes(model) as saved:
            value = forward(loss, scope)
        del value
        cells += [str(breaks), f"{saved.unique_bytes / 1e6:.2f}"]
    cells += [f"{relative(gradient(model), exact):.3f}", f"{eager:.3f}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def show_families(names):
    print(
        "\n## Families\n\nThose of [python_models.md](python_models.md), by the backend aot_eager; "
        "coded with the bits of 2-bit eager sites. Breaks: of graphs, as torch counts them.\n"
    )
    header = ["model", "breaks", "saved", "breaks, coded", "saved, coded", "error", "eager error"]
    print("| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for name in names:
        family_row(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--models", nargs="*", default=["bert", "llama", "gpt2", "vit"])
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch._inductor.config.fx_graph_cache = False  # so that compiling is timed
    print("# Graphs of torch.compile with codes in them\n")
    print(
        "`PYTHONPATH=build/ci/python:tests/python python3 bench/python_compile.py`: random models "
        f"of {options.layers} layers of width {WIDTH}, {BATCH} sequences of {TOKENS} tokens or 16 "
        "pictures of 64 x 64 in patches of 8, fp32, CPU, one thread, inductor, no dropout, loss "
        "included. Saved MB by `fewbit.SavedBytes`, without parameters, not counting what a "
        "checkpoint makes again; peak MB of a step by `fewbit.peak_bytes`, gradients among them; "
        "the median of seven steps in ms; the gradient's error relative to the first row; graph "
        "breaks; seconds of the first three steps, in which torch compiles. "
        f"torch {torch.__version__}, transformers {transformers.__version__}, Python "
        f"{platform.python_version()}.\n"
    )
    header = ["model", "way", "saved", "peak", "ms", "error", "breaks", "compiling s"]
    print("| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for name in options.models:
        rows(name, options.layers)
    show_families(options.families)


if __name__ == "__main__":
    main()
