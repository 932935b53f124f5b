"""Reads a Compressor's report: what was coded, what stayed exact and why, and what a rule changes.
From the repository's root:

    PYTHONPATH=build/ci/python .venv/bin/python examples/python/report.py
"""

import torch

import fewbit


class Mixture(torch.nn.Module):
    """Two layers, and a gate that divides by what it computed."""

    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(128, 512)
        self.down = torch.nn.Linear(512, 128)
        self.norm = torch.nn.LayerNorm(128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.nn.functional.gelu(self.up(x))
        y = self.norm(x + self.down(hidden))
        return y / (y.square().mean(-1, keepdim=True) + 1e-3).sqrt()


def steps(compressor: fewbit.Compressor, model: torch.nn.Module, x: torch.Tensor) -> None:
    """Errors are measured in steps 1, 2, 3, 5, 9, ..."""
    for _ in range(3):
        with compressor:
            loss = model(x).square().mean()
        loss.backward()


def main() -> None:
    torch.manual_seed(1)
    model, x = Mixture(), torch.randn(256, 128)

    compressor = fewbit.Compressor(model, bits=2)
    steps(compressor, model, x)
    print(compressor.report())

    # A row of it as values: what to sort, plot or assert.
    largest = max(compressor.sites(), key=lambda site: site.bytes_before)
    print(f"most bytes: {largest.operation}, {largest.bytes_before:,}, now {largest.bytes_after:,}")

    # What is computed from data alone needs no gradient; what a division reads has no rule, since
    # its error would not average out.
    for one in compressor.left_alone():
        print(f"exact: {one.operation}, {one.bytes:,} bytes: {one.reason}")

    # The second layer's input gets 8 bits, the others share what is left of the budget.
    ruled = fewbit.Compressor(model, bits=3, rules={"down.*": 8})
    steps(ruled, model, x)
    print(ruled.report())


if __name__ == "__main__":
    main()
