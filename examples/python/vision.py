"""A vision transformer on scikit-learn's digits, and how to choose its bits: first what several
budgets would save, then training with one of them. From the repository's root:

    PYTHONPATH=build/ci/python .venv/bin/python examples/python/vision.py
"""

import argparse
import contextlib

import sklearn.datasets
import torch
import transformers

import fewbit


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """1,797 pictures of 8 x 8, four times as wide and high, and their digits, in random order."""
    data = sklearn.datasets.load_digits()
    pictures = torch.tensor(data.images, dtype=torch.float32).div(8).sub(1)[:, None]
    order = torch.randperm(len(pictures), generator=torch.Generator().manual_seed(1))
    pictures = torch.nn.functional.interpolate(pictures, scale_factor=4, mode="bilinear")
    return pictures[order], torch.tensor(data.target)[order]


def vit() -> torch.nn.Module:
    torch.manual_seed(2)
    config = transformers.ViTConfig(
        hidden_size=96,
        intermediate_size=384,
        num_hidden_layers=3,
        num_attention_heads=4,
        image_size=32,
        patch_size=8,
        num_channels=1,
        num_labels=10,
    )
    return transformers.ViTForImageClassification(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    pictures, labels = digits()
    test, train = slice(0, 400), slice(400, None)
    model = vit()
    batch = {"pixel_values": pictures[:32].clone(), "labels": labels[:32].clone()}
    preview = fewbit.preview_budgets(
        lambda: model(**batch).loss, model
    )  # print() shows every site too
    for row in preview.rows:
        name = f"{row.bits:g} bits" if row.bits else "exact"
        print(f"{name:8} {row.bytes / 1e6:6.2f} MB saved, {row.peak / 1e6:6.2f} MB at the peak")

    for bits in (None, 2):
        model = vit()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scope = fewbit.Compressor(model, bits=bits) if bits else contextlib.nullcontext()
        generator = torch.Generator().manual_seed(3)
        for _ in range(steps):
            drawn = torch.randint(len(labels) - 400, (32,), generator=generator)
            with fewbit.SavedBytes(model) as saved, scope:
                loss = model(pictures[train][drawn], labels=labels[train][drawn]).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            right = model(pictures[test]).logits.argmax(1) == labels[test]
        title = f"{bits} bits" if bits else "exact"
        print(
            f"{title:7} {100 * float(right.float().mean()):.1f} % right, "
            f"{saved.unique_bytes / 1e6:6.2f} MB saved for backward"
        )


if __name__ == "__main__":
    main()
