"""session.py [--out FOLDER] [--models NAME...]: steps of whole models on a GPU, exact, with
checkpoints and in a few bits: what the allocator holds, time, gradients, and what the host does.

Random weights, torch's caching allocator, autocast to bfloat16 where the model's row says so. Every
way trains the same weights with the same numbers for dropout; from a CUDA graph (the host asks once
for a step) coded steps draw their own before, so that dropout's are others. Exit 77 where torch sees
no GPU."""

import argparse
import contextlib
import functools
import gc
import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable

import torch
import transformers
from torch.utils.checkpoint import checkpoint

import fewbit

WARM, TIMED = 16, 5  # errors of sites are measured in steps 1, 2, 3, 5, 9 and 17
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaGraphLaunch")
WAYS = {
    "exact": {},
    "checkpoints": {"checkpoint": True},
    "4 bits": {"bits": 4},
    "2 bits": {"bits": 2},
    "checkpoints, inputs in 2 bits": {"bits": 2, "checkpoint": True},
    "exact, a graph": {"graph": True},
    "2 bits, a graph": {"bits": 2, "graph": True},
}


class Subject:
    """A model, its batch, the blocks that checkpoints are around, and whether it is cast."""

    def __init__(self, model, batch, blocks, is_cast: bool) -> None:
        self.model, self.batch, self.blocks, self.is_cast = model, batch, blocks, is_cast

    def loss(self) -> torch.Tensor:
        with torch.autocast("cuda", torch.bfloat16, enabled=self.is_cast):
            return self.model(**self.batch).loss


def tokens(rows: int, length: int) -> torch.Tensor:
    return torch.randint(5, 30000, (rows, length))


def resnet(is_cast: bool, size: int = 1) -> Subject:
    model = transformers.ResNetForImageClassification(transformers.ResNetConfig(num_labels=1000))
    batch = {
        "pixel_values": torch.randn(64 * size, 3, 224, 224),
        "labels": torch.randint(1000, (64 * size,)),
    }
    blocks = [layer for stage in model.resnet.encoder.stages for layer in stage.layers]
    return Subject(model, batch, blocks, is_cast)


def bert(layers: int = 24, rows: int = 32, length: int = 256) -> Subject:
    config = transformers.BertConfig(
        hidden_size=1024, num_hidden_layers=layers, num_attention_heads=16, intermediate_size=4096
    )
    model = transformers.BertForSequenceClassification(config)
    batch = {"input_ids": tokens(rows, length), "labels": torch.randint(2, (rows,))}
    return Subject(model, batch, list(model.bert.encoder.layer), True)


def llama() -> Subject:
    config = transformers.LlamaConfig(
        vocab_size=32000,
        hidden_size=2048,
        num_hidden_layers=12,
        num_attention_heads=16,
        num_key_value_heads=8,
        intermediate_size=5632,
        use_cache=False,
    )
    model = transformers.LlamaForCausalLM(config)
    ids = tokens(4, 1024)
    return Subject(model, {"input_ids": ids, "labels": ids}, list(model.model.layers), True)


MODELS: dict[str, Callable[[], Subject]] = {
    "ResNet-50, 64 x 224 x 224": lambda: resnet(False),
    "ResNet-50, 128 x 224 x 224, bf16": lambda: resnet(True, 2),
    "BERT-large, 32 x 256, bf16": bert,
    "Llama, 12 of 2048, 4 x 1024, bf16": llama,
    "BERT-large, 1 x 32, bf16: the host's time": lambda: bert(rows=1, length=32),
}


def run_again(block: torch.nn.Module) -> None:
    inside = block.forward
    block.forward = lambda *a, **k: checkpoint(inside, *a, use_reentrant=False, **k)


class Run:
    """One way to train one model."""

    def __init__(
        self,
        subject: Subject,
        bits: int | None = None,
        checkpoint: bool = False,
        graph: bool = False,
    ) -> None:
        self.subject, self.has_graph = subject, graph
        if checkpoint:
            for block in subject.blocks:
                run_again(block)
        self.compressor = fewbit.Compressor(subject.model, bits=bits) if bits else None

    def forward(self) -> torch.Tensor:
        if not torch.cuda.is_current_stream_capturing():
            torch.manual_seed(7)
        with self.compressor or contextlib.nullcontext():
            return self.subject.loss()

    def step(self) -> None:
        for parameter in self.subject.model.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        self.forward().backward()

    def settled(self) -> Callable[[], None]:
        """The step, from a graph where that is asked for."""
        if not self.has_graph:
            return self.step
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()

        def replay() -> None:
            torch.manual_seed(7)
            graph.replay()

        return replay

    def gradient(self) -> torch.Tensor:
        found = (p.grad for p in self.subject.model.parameters())
        return torch.cat([g.flatten() for g in found if g is not None])


def timed(step: Callable[[], None]) -> tuple[float, float]:
    """Seconds of a step, and until the host had asked for all of it."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    asked = time.perf_counter() - start
    torch.cuda.synchronize()
    return time.perf_counter() - start, asked


def profiled(step: Callable[[], None], path: pathlib.Path | None) -> dict[str, float]:
    """Launches, copies and waits of a step, and its kernels' milliseconds, ours apart."""
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        step()
        torch.cuda.synchronize()
    averages = profile.key_averages()
    if path:
        path.write_text(
            averages.table(sort_by="self_cuda_time_total", row_limit=45, max_name_column_width=110)
            + averages.table(sort_by="self_cpu_time_total", row_limit=45, max_name_column_width=60)
        )
    on_device = [e for e in averages if str(e.device_type).endswith("CUDA")]

    def count(*names: str) -> int:
        return sum(e.count for e in averages if e.key in names)

    return {
        "launches": count(*LAUNCHES),
        "waits": count("cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"),
        "allocations": count("cudaMalloc"),
        "kernels_ms": sum(e.self_device_time_total for e in on_device) / 1e3,
        "ours_ms": sum(e.self_device_time_total for e in on_device if "fewbit" in e.key) / 1e3,
    }


def measure(make: Callable[[], Subject], way: dict, exact, path) -> tuple[dict, torch.Tensor]:
    torch.manual_seed(1)
    with torch.device("cuda"):
        subject = make()
    subject.model.train()
    run = Run(subject, **way)
    run.step()  # leaves gradients
    held = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(WARM):
        run.step()
    peak_of_first = torch.cuda.max_memory_allocated() - held
    torch.cuda.reset_peak_memory_stats()
    step = run.settled()
    seconds = [timed(step) for _ in range(TIMED)]
    peak = torch.cuda.max_memory_allocated() - held
    gradient = run.gradient()
    loss = run.forward()
    saved = torch.cuda.memory_allocated() - held
    del loss
    reserved = torch.cuda.memory_reserved()
    difference = float((gradient - exact).norm() / exact.norm()) if exact is not None else 0.0
    row = {
        "saved": saved,
        "peak": peak,
        "peak_of_first": peak_of_first,
        "reserved": reserved,
        "seconds": statistics.median(both[0] for both in seconds),
        "asked": statistics.median(both[1] for both in seconds),
        "error": difference,
        "tensors": sum(site.count > 0 for site in run.compressor.sites()) if run.compressor else 0,
    }
    return row | profiled(step, path), gradient


def markdown(rows: list[dict]) -> str:
    text = "| model | way | saved, MiB | peak, MiB | peak of first steps, MiB | ms | host's ms |"
    text += " time | error | launches | waits | kernels, ms | ours, ms |\n" + "|---" * 13 + "|\n"
    for row in rows:
        if "failed" in row:
            text += f"| {row['model']} | {row['way']} | {row['failed'][:200]} |\n"
            continue
        exact = next(r for r in rows if r["model"] == row["model"])
        cells = [row["model"], row["way"], f"{row['saved'] / 2**20:,.0f}"]
        cells += [f"{row[name] / 2**20:,.0f}" for name in ("peak", "peak_of_first")]
        cells += [f"{1e3 * row['seconds']:.1f}"]
        cells += [f"{1e3 * row['asked']:.1f}", f"{row['seconds'] / exact['seconds']:.2f}"]
        cells += [f"{row['error']:.3f}", str(row["launches"]), str(row["waits"])]
        cells += [f"{row['kernels_ms']:.1f}", f"{row['ours_ms']:.1f}"]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def codec_rows(exponent: int = 27) -> str:
    """Bytes a second of single tensors' codes beside a copy's, counted of the tensor alone."""
    text = "| type | bits | encode, GB/s | decode, GB/s | copy, GB/s |\n" + "|---" * 5 + "|\n"

    def rate(x: torch.Tensor, call: Callable[[], object]) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        call()
        times = []
        for _ in range(7):
            begin.record()
            call()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        return x.nbytes / statistics.median(times) / 1e6

    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(1 << exponent, device="cuda").to(dtype)
        copy = torch.empty_like(x)
        for bits in (1, 2, 3, 4, 8):
            codec = fewbit.Codec(bits)
            coded = codec.encode(x)
            rates = [
                rate(x, functools.partial(codec.encode, x)),
                rate(x, coded.decoded),
                rate(x, functools.partial(copy.copy_, x)),
            ]
            text += f"| {dtype} | {bits} | " + " | ".join(f"{r:,.0f}" for r in rates) + " |\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        sys.exit(77)
    transformers.logging.set_verbosity_error()
    print(codec_rows(), flush=True)
    rows: list[dict] = []
    for name in [n for n in MODELS if any(n.startswith(m) for m in arguments.models)]:
        exact = None
        for way in arguments.ways:
            gc.collect()
            torch.cuda.empty_cache()
            path = arguments.out and arguments.out / f"{name[:8]}_{len(rows)}.txt"
            start = time.perf_counter()
            try:
                row, gradient = measure(MODELS[name], WAYS[way], exact, path)
                exact = gradient if exact is None else exact
            except Exception as error:
                row = {"failed": f"{type(error).__name__}: {error}"}
            rows.append({"model": name, "way": way} | row)
            print(f"{name}, {way}: {time.perf_counter() - start:.1f} s", flush=True)
            if arguments.out:
                (arguments.out / "session.json").write_text(json.dumps(rows, indent=1) + "\n")
    text = markdown(rows)
    if arguments.out:
        (arguments.out / "session.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
