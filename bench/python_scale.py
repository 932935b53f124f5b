"""What Llama models of 8 and 70 billion parameters would take on many GPUs: bytes that are counted
on one layer here, times by arithmetic. From the root of the repository, after `cmake --preset ci`:

    PYTHONPATH=build/ci/python python3 bench/python_scale.py > bench/results/scale.md
"""

import contextlib
import dataclasses

import torch
import transformers

import fewbit

TOKENS = 256  # of the sequence that is counted
MEMORY = 80e9
RATES = {  # of one GPU, and where a figure comes from
    "computing": (400e12, "dense bf16 FLOP/s of an H100 in training, .4 of its 989e12"),
    "encode, 2 bits": (761e9, "bytes of a bf16 tensor a second, measured: gpu_h200.md"),
    "decode, 2 bits": (1019e9, "the same"),
    "to the host and back": (50e9, "bytes a second each way, PCIe 5 x16 less a fifth"),
    "links, 8 GPUs": (360e9, "bytes a second of a GPU, NVLink 4 less a fifth"),
    "links, more": (40e9, "bytes a second of a GPU, 400 Gbit/s less a fifth"),
}
STATE = 16  # bytes of a parameter: bf16 weight and gradient, fp32 weight, both of Adam's moments


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    width: int
    inner: int
    heads: int
    layers: int
    parameters: float
    words: int = 128256

    def block(self) -> tuple[torch.nn.Module, torch.nn.Module, transformers.LlamaConfig]:
        config = transformers.LlamaConfig(
            hidden_size=self.width,
            intermediate_size=self.inner,
            num_attention_heads=self.heads,
            num_key_value_heads=8,
            num_hidden_layers=1,
            vocab_size=256,
        )
        with torch.device("cpu"):
            model = transformers.LlamaModel(config).to(torch.bfloat16)
        return model.layers[0], model.rotary_emb, config


MODELS = [
    Model("Llama 8B", 4096, 14336, 32, 32, 8.03e9),
    Model("Llama 70B", 8192, 28672, 64, 80, 70.6e9),
]


def bytes_of_a_token(model: Model, bits: int | None) -> float:
    """That one layer saves for backward, parameters left out."""
    layer, positions, _ = model.block()
    x = torch.randn(1, TOKENS, model.width, dtype=torch.bfloat16, requires_grad=True)
    places = torch.arange(TOKENS)[None]
    angles = positions(x, places)
    compressor = fewbit.Compressor(layer, bits=bits) if bits else None
    for _ in range(2):
        saved = fewbit.SavedBytes(layer)
        with saved, compressor or contextlib.nullcontext():
            y = layer(x * 1, position_embeddings=angles, position_ids=places)
            y = y[0] if isinstance(y, tuple) else y
        count = saved.unique_bytes
        y.sum().backward()
    return count / TOKENS


@dataclasses.dataclass(frozen=True)
class Case:
    model: Model
    gpus: int
    context: int  # tokens of a sequence; every GPU has one, or a part where it is cut
    cut: int  # GPUs that share a sequence

    @property
    def tokens(self) -> int:
        return self.context // self.cut

    @property
    def computing(self) -> float:
        """Seconds of forward and backward, causal attention with it."""
        attention = 6 * self.model.layers * self.model.width * self.context
        flops = (6 * self.model.parameters + attention) * self.tokens
        return flops / RATES["computing"][0]

    @property
    def traffic(self) -> float:
        """Bytes that a GPU receives in a step: weights twice, gradients once, bf16."""
        return 3 * 2 * self.model.parameters * (self.gpus - 1) / self.gpus

    @property
    def links(self) -> float:
        rate = RATES["links, 8 GPUs" if self.gpus <= 8 else "links, more"][0]
        return self.traffic / rate


def ways(case: Case, exact: float, coded: float) -> dict[str, tuple[float, float]]:
    """Bytes of activations and seconds of a step, by how they are kept. The last layer's exact ones
    are there in every way as backward begins."""
    layers, tokens = case.model.layers, case.tokens
    all_exact, one = exact * tokens * layers, exact * tokens
    boundary = 2 * case.model.width * tokens * layers
    base = max(case.computing, case.links)
    codes = all_exact * (1 / RATES["encode, 2 bits"][0] + 1 / RATES["decode, 2 bits"][0])
    to_host = RATES["to the host and back"][0]
    all_codes = coded * tokens * layers
    return {
        "exact": (all_exact, base),
        "checkpoints": (boundary + one, max(case.computing * 4 / 3, case.links * 4 / 3)),
        "offloaded": (2 * one, max(base, 2 * all_exact / to_host)),
        "2 bits": (all_codes + one, base + codes),
        "2 bits, offloaded": (2 * one, max(base + codes, 2 * all_codes / to_host)),
    }


def cases() -> list[Case]:
    return [
        Case(model, gpus, context, cut)
        for model in MODELS
        for gpus in (8, 64, 1024)
        for context, cut in ((8192, 1), (32768, 1), (131072, 4))
    ]


def main() -> None:
    transformers.logging.set_verbosity_error()
    counted = {
        model.name: [bytes_of_a_token(model, bits) for bits in (None, 2)] for model in MODELS
    }
    print("# Larger models on many GPUs, by arithmetic\n")
    print(
        "`PYTHONPATH=build/ci/python python3 bench/python_scale.py`. Nothing here was run on more "
        "than one GPU. Counted: what one layer of the model saves for backward, bf16, of "
        f"{TOKENS} tokens, by `fewbit.SavedBytes`. The rest is computed from these assumptions.\n"
    )
    print("| a token and layer | exact, bytes | 2 bits, bytes | times less |\n|---|---|---|---|")
    for name, (exact, coded) in counted.items():
        print(f"| {name} | {exact:,.0f} | {coded:,.0f} | {exact / coded:.1f} |")
    print("\n| rate | value | what it is |\n|---|---|---|")
    for name, (rate, what) in RATES.items():
        print(f"| {name} | {rate:.3g} | {what} |")
    print(
        f"\nFSDP: {STATE} bytes of a parameter are spread over all GPUs; weights are received in "
        "forward and in backward, gradients sent once; checkpoints receive weights once more. "
        "A GPU has one sequence; 131,072 tokens are cut among 4. Each cell: GB of states and "
        f"activations (**bold**: more than {MEMORY / 1e9:.0f}), seconds of a step. Logits, launches (the host ruled all measured steps: gpu_h200.md) and the "
        "allocator's rest are left out; codes and transfers are overlapped with nothing, but "
        "offloading with all. What is offloaded lies in the host's memory: for each GPU as much as the "
        "column exact has more, or that by the factor above.\n"
    )
    names = ["exact", "checkpoints", "offloaded", "2 bits", "2 bits, offloaded"]
    print("| model | GPUs | tokens | link GB | " + " | ".join(names) + " |")
    print("|---" * (4 + len(names)) + "|")
    for case in cases():
        exact, coded = counted[case.model.name]
        state = STATE * case.model.parameters / case.gpus
        cells = [case.model.name, f"{case.gpus:,}", f"{case.context:,}", f"{case.traffic / 1e9:.0f}"]
        for held, seconds in (ways(case, exact, coded)[name] for name in names):
            size = f"{(state + held) / 1e9:.0f}"
            cells.append(f"{f'**{size}**' if state + held > MEMORY else size}, {seconds:.2f}")
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
