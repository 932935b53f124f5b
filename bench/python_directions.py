"""What directions of channels take off the gradients' error in trained networks, beside the bytes
and the time that they cost. A page of bench/results. From the root of the repository, after
`cmake --preset ci`, with what python_pretrained.py needs, some ten minutes on an idle machine:

    PYTHONPATH=build/ci/python .venv/bin/python bench/python_directions.py

The page ends with the training runs that are in pretrained.json, which these make, an hour:

    PYTHONPATH=build/ci/python .venv/bin/python bench/python_pretrained.py --steps 100 \\
        --tunings full --variants exact b1 d1 b2 d2
"""

import argparse
import contextlib
import dataclasses
import itertools
import platform
import statistics
import time
from collections.abc import Callable, Iterator

import python_pretrained as pretrained
import sklearn.datasets
import torch
import transformers

import fewbit

BITS = (1, 2)
DIRECTIONS = (0, 4, 16)
STEPS = 9  # sites are measured in steps 1, 2, 3, 5 and 9
BATCHES = 4
ROUNDS = 5
PAGE = pretrained.RESULTS / "directions.md"


@dataclasses.dataclass(frozen=True)
class Trained:
    """A network, the loss of a batch, and batches that it has not seen."""

    title: str
    model: torch.nn.Module
    loss: Callable
    batches: Iterator


def train(model: torch.nn.Module, loss: Callable, optimizer, batches: Iterator, steps: int):
    for batch in itertools.islice(batches, steps):
        loss(batch).backward()
        optimizer.step()
        optimizer.zero_grad()


def encoder(batch: int = 64) -> Trained:
    """Of so many glosses a batch: that of python_pretrained.py, without dropout, that has begun to
    learn its task."""
    pretrained.BATCH = batch
    folder, data = pretrained.data_of(argparse.Namespace(device="cpu"))
    torch.manual_seed(1)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=45)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0

    def loss(tokens) -> torch.Tensor:
        return model(**tokens).loss

    batches = itertools.cycle(data.batches(0, 200))
    train(model, loss, torch.optim.AdamW(model.parameters(), lr=1e-4), batches, 30)
    return Trained(
        f"MiniLM, 6 x 384, {batch} glosses, 30 steps of fine-tuning", model, loss, batches
    )


class Block(torch.nn.Module):
    """A basic block (He et al., Deep Residual Learning, 2015)."""

    def __init__(self, before: int, channels: int) -> None:
        super().__init__()
        stride = 1 if before == channels else 2
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(before, channels, 3, stride, 1, bias=False),
            torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(),
            torch.nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            torch.nn.BatchNorm2d(channels),
        )
        self.shortcut = torch.nn.Sequential()
        if stride == 2:
            self.shortcut.append(torch.nn.Conv2d(before, channels, 1, 2, bias=False))
            self.shortcut.append(torch.nn.BatchNorm2d(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layers(x) + self.shortcut(x))


def residual_network() -> Trained:
    """Six blocks of 64, 128 and 256 channels, trained on scikit-learn's digits."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False),
        torch.nn.BatchNorm2d(64),
        torch.nn.ReLU(),
        *(Block(i, o) for i, o in ((64, 64), (64, 64), (64, 128), (128, 128), (128, 256))),
        Block(256, 256),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(256, 10),
    )
    digits = sklearn.datasets.load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    images = torch.nn.functional.interpolate(images, size=32, mode="bilinear").repeat(1, 3, 1, 1)
    labels = torch.tensor(digits.target)
    generator = torch.Generator().manual_seed(0)

    def draw() -> Iterator:
        while True:
            index = torch.randint(len(images), (32,), generator=generator)
            noise = 0.1 * torch.randn(images[index].shape, generator=generator)
            yield images[index] + noise, labels[index]

    def loss(batch) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])

    batches = draw()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    train(model, loss, optimizer, batches, 100)
    return Trained("ResNet, 6 blocks, 32 digits of 32 x 32, 100 steps", model, loss, batches)


def gradient(of: Trained, batch, scope=None) -> torch.Tensor:
    of.model.zero_grad()
    with scope or contextlib.nullcontext():
        loss = of.loss(batch)
    loss.backward()
    return torch.cat([p.grad.flatten() for p in of.model.parameters() if p.grad is not None])


def error_of(of: Trained, scope: fewbit.Compressor) -> float:
    """Relative, of all weights' gradients, the mean of batches."""
    errors = []
    for batch in itertools.islice(of.batches, BATCHES):
        exact = gradient(of, batch)
        errors.append(float((gradient(of, batch, scope) - exact).norm() / exact.norm()))
    return statistics.mean(errors)


def seconds_of(of: Trained, scopes: list) -> list[float]:
    """Of a step with each of the scopes, in turn, the medians."""
    found: list[list[float]] = [[] for _ in scopes]
    for batch in itertools.islice(of.batches, ROUNDS):
        for seconds, scope in zip(found, scopes, strict=True):
            start = time.perf_counter()
            gradient(of, batch, scope)
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in found]


def table_of(of: Trained) -> list[str]:
    lines = [
        f"## {of.title}\n",
        "| bits | directions | kept, MB | gradient's error | over none | step time |",
        "|---|---|---|---|---|---|",
    ]
    for bits in BITS:
        scopes = [fewbit.Compressor(of.model, bits=bits, directions=n) for n in DIRECTIONS]
        for scope in scopes:
            for batch in itertools.islice(of.batches, STEPS):
                gradient(of, batch, scope)
        errors = [error_of(of, scope) for scope in scopes]
        kept = [sum(site.bytes_after for site in scope.sites()) / 1e6 for scope in scopes]
        exact, *seconds = seconds_of(of, [None, *scopes])
        for n, error, megabytes, time_of in zip(DIRECTIONS, errors, kept, seconds, strict=True):
            lines.append(
                f"| {bits} | {n} | {megabytes:.2f} | {error:.4f} | {error / errors[0]:.2f} "
                f"| {time_of / exact:.2f} |"
            )
            print(lines[-1], flush=True)
    return [*lines, ""]


def training() -> list[str]:
    """Of the runs of python_pretrained.py."""
    steps = 100
    results = pretrained.load(pretrained.RESULTS / "pretrained.json")
    lines = [
        f"## Training: MiniLM, {steps} steps\n",
        "| | seeds | accuracy | loss | saved, MB |",
        "|---|---|---|---|---|",
    ]
    for name in ("exact", "b1", "d1", "b2", "d2"):
        keys = [
            (
                pretrained.key_of("full", name, s, steps),
                pretrained.key_of("full", "exact", s, steps),
            )
            for s in range(100)
        ]
        pairs = [(results[a], results[b]) for a, b in keys if a in results and b in results]
        if not pairs:
            continue
        ours = [run for run, _ in pairs]
        exact = ours if name == "exact" else [run for _, run in pairs]
        cells = pretrained.row(pretrained.VARIANTS[name].title, ours, exact, "").split("|")
        lines.append("|".join(cells[:6]) + "|")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(arguments.threads)
    lines = [
        "# Directions of channels in trained networks\n",
        "`bench/python_directions.py`. Error: of all weights' gradients of a batch, relative to "
        f"their length, the mean of {BATCHES} batches, after {STEPS} steps in which sites are "
        "measured. Kept: codes, constants, coefficients and directions of one forward, tables of "
        "activations among them. Step time: without optimizer, over exact, medians of "
        f"{ROUNDS} steps in turn, {arguments.threads} threads of a CPU with "
        f"{torch.backends.cpu.get_cpu_capability()}: rough. "
        "Training: accuracy and loss of the test, the mean of the seeds; for the "
        "variants the mean paired difference to exact with its standard error. "
        f"torch {torch.__version__}, Python {platform.python_version()}.\n",
    ]
    for make in (encoder, residual_network):
        lines += table_of(make())
    PAGE.write_text("\n".join(lines + training()) + "\n")


if __name__ == "__main__":
    main()
