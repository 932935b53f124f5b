"""What unchanged models of transformers, a UNet and a DiT save, and what becomes of their
gradients: a page of bench/results. From the root of the repository, after `cmake --preset ci`:

    PYTHONPATH=build/ci/python:tests/python python3 bench/python_models.py
"""

import platform

import torch
import transformers

import fewbit
from diffusion import dit, unet
from families import FAMILIES, gradient_of

MODELS = FAMILIES | {"UNet": unet, "DiT": dit}
BITS = (2, 4, 8)
STEPS = 3


def saved_bytes(model, loss, compressor=None):
    """Bytes of a forward, and its gradient."""
    saved = fewbit.SavedBytes(model)
    with saved:
        if compressor is None:
            value = loss()
        else:
            with compressor:
                value = loss()
    return saved.unique_bytes, gradient_of(model, value)


def row(name):
    torch.manual_seed(1)
    model, loss = MODELS[name]()
    model.eval()  # without dropout
    swapped = sum(swap.now != "" for swap in fewbit.swap_activations(model))
    exact_bytes, exact = saved_bytes(model, loss)
    cells = [name, str(swapped), f"{exact_bytes / 1e6:.2f}"]
    left = 0
    for bits in BITS:
        compressor = fewbit.Compressor(model, bits=bits)
        for _ in range(STEPS):
            count, gradient = saved_bytes(model, loss, compressor)
        error = float((gradient - exact).norm() / exact.norm())
        cells.append(f"{count / 1e6:.2f} ({exact_bytes / count:.1f} x), {error:.3f}")
        if bits == BITS[0]:
            left = sum(one.bytes for one in compressor.left_alone())
    return [*cells, f"{left / 1e6:.2f}"]


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    print("# Models of transformers, a UNet and a DiT, unchanged, in Python\n")
    print(
        "`PYTHONPATH=build/ci/python:tests/python python3 bench/python_models.py`: random models "
        "of two layers of width 128, 8 sequences of 64 tokens or pictures of 64 x 64, fp32, CPU, "
        "no dropout, loss included. Saved MB by `fewbit.SavedBytes`, without parameters; "
        "behind the comma the gradient's relative error in the third step. swapped: activations "
        "that `swap_activations` replaced, for exact training too. left alone: MB that stay exact "
        f"at 2 bits. torch {torch.__version__}, transformers {transformers.__version__}, Python "
        f"{platform.python_version()}.\n"
    )
    header = ["model", "swapped", "exact", *(f"{bits} bits" for bits in BITS), "left alone"]
    print("| " + " | ".join(header) + " |")
    print("|---" * len(header) + "|")
    for name in MODELS:
        print("| " + " | ".join(row(name)) + " |", flush=True)


if __name__ == "__main__":
    main()
