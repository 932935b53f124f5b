"""Unchanged models of transformers, random and tiny."""

import pytest
import torch
import transformers

import diffusion
import fewbit
from families import FAMILIES, gradient_of
from small import DEVICE

MODELS = FAMILIES | {"unet": diffusion.unet, "dit": diffusion.dit}
# At least so many times fewer bytes with 2 bits; docs/python.md says why some have less. A third of
# what is left of the small DiT is its data and the exact loss.
TIMES_LESS = {name: 8.0 for name in MODELS} | {"gpt-oss": 2.0, "mamba": 3.0, "dit": 7.0}


def measured(model, loss):
    """How many times fewer bytes 2 bits save, the gradient's error at 2 and 8, the Compressor."""
    with fewbit.SavedBytes(model) as saved:
        value = loss()
    exact, exact_bytes = gradient_of(model, value), saved.unique_bytes
    errors, times_less = [], []
    for bits in (2, 8):
        compressor = fewbit.Compressor(model, bits=bits)
        for _ in range(2):
            with fewbit.SavedBytes(model) as saved, compressor:
                value = loss()
            gradient = gradient_of(model, value)
        errors.append(float((gradient - exact).norm() / exact.norm()))
        times_less.append(exact_bytes / saved.unique_bytes)
    return times_less[0], errors, compressor


def model_of(family):
    torch.manual_seed(1)
    with torch.device("cpu"):  # whose numbers are the same for every device
        model, loss = MODELS[family]()
    model.to(DEVICE).eval()  # the same without dropout
    for cell in loss.__closure__:
        if isinstance(cell.cell_contents, torch.Tensor):
            cell.cell_contents = cell.cell_contents.to(DEVICE)
    fewbit.swap_activations(model)
    return model, loss


@pytest.mark.parametrize("family", MODELS)
def test_unchanged_models(family):
    times_less, errors, compressor = measured(*model_of(family))
    assert times_less > TIMES_LESS[family]
    assert errors[0] < 0.45 and errors[1] < 0.02, errors
    assert all(site.module for site in compressor.sites() if "addmm" in site.operation)


@pytest.mark.parametrize("family", ["llama", "t5", "vit"])  # convolutions in it take minutes
def test_autocast_to_bfloat16(family):
    model, in_float = model_of(family)

    def loss():
        with torch.autocast(DEVICE, torch.bfloat16):
            return in_float()

    times_less, errors, _ = measured(model, loss)
    assert times_less > 6.5  # of half as many bytes as in float32, and of casts of all weights
    assert errors[0] < 0.45 and errors[1] < 0.02, errors


def test_swapped_activations_are_the_same_functions():
    x = torch.randn(1000) * 3
    activations = transformers.activations
    names = [f"{name}GELUActivation" for name in ("New", "Fast", "Accurate", "Quick")]
    model = torch.nn.Sequential(*(getattr(activations, name)() for name in names))
    model.append(activations.LaplaceActivation())
    before = [module(x) for module in model]
    swaps = fewbit.swap_activations(model)
    assert [swap.reason == "" for swap in swaps] == [True] * 4 + [False], swaps
    for module, value in zip(model, before, strict=True):
        assert torch.allclose(module(x), value, atol=1e-5), module
