"""The noise that coding adds to the gradients of trained networks, as a share of the noise between
batches. A page of bench/results. From the root of the repository, after `cmake --preset ci`, with
what python_pretrained.py needs, some five minutes on an idle machine:

    PYTHONPATH=build/ci/python .venv/bin/python bench/python_noise.py
"""

import itertools
import platform

import python_directions as networks
import python_pretrained as pretrained
import torch
import transformers

import fewbit

BITS = (1, 1.5, 2, 3, 4)
DIRECTIONS = (0, 16)
BATCHES = 8
PAGE = pretrained.RESULTS / "noise.md"


def table_of(of: networks.Trained) -> list[str]:
    lines = [
        f"## {of.title}\n",
        "| bits | directions | saved, MB | added noise, % | as a batch of, % |",
        "|---|---|---|---|---|",
    ]
    batches = list(itertools.islice(of.batches, BATCHES))
    for directions in DIRECTIONS:
        noise = fewbit.preview_noise(of.loss, batches, of.model, BITS, directions=directions)
        for row in noise.rows:
            lines.append(
                f"| {row.bits:g} | {directions} | {row.saved_bytes / 1e6:.2f} "
                f"| {100 * row.added:.2g} ± {100 * row.standard_error:.1g} "
                f"| {100 / (1 + row.added):.3g} |"
            )
            print(lines[-1], flush=True)
    return [*lines, ""]


def main() -> None:
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(2)
    lines = [
        "# Noise that coding adds to gradients\n",
        "`bench/python_noise.py`: `fewbit.preview_noise` in two trained networks. Added noise: the "
        "mean squared error of the gradient over the variance of exact gradients between "
        f"{BATCHES} batches, with the standard error of the first. As a batch of: the share of the "
        f"batch whose exact gradient has the same noise. torch {torch.__version__}, Python "
        f"{platform.python_version()}.\n",
    ]
    for make in (lambda: networks.encoder(batch=32), networks.residual_network):
        lines += table_of(make())
    PAGE.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
