"""Frozen weights of 4 bits beside low-rank adapters, as QLoRA has them."""

import math

import pytest
import torch
from torch.nn import functional

import fewbit
from small import gradient_of, relative

WIDTH, RANK = 128, 8


def packed(weight):
    """Codes of 4 bits, two a byte, and a scale for each row."""
    scale = weight.abs().amax(1, keepdim=True) / 7
    codes = (weight / scale).round().to(torch.int8) + 8
    return (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8), scale


def unpacked(codes, scale):
    pairs = torch.stack([codes & 15, codes >> 4], -1).flatten(1)
    return (pairs.to(scale.dtype) - 8) * scale


class Product(torch.autograd.Function):
    """bitsandbytes' way: backward unpacks the weight again, the input is not saved."""

    @staticmethod
    def forward(ctx, x, codes, scale):
        ctx.save_for_backward(codes, scale)
        return x @ unpacked(codes, scale).t()

    @staticmethod
    def backward(ctx, gradient):
        return gradient @ unpacked(*ctx.saved_tensors), None, None


def product_in_forward(x, codes, scale):
    return functional.linear(x, unpacked(codes, scale))


class Adapted(torch.nn.Module):
    def __init__(self, inputs, outputs, product):
        super().__init__()
        codes, scale = packed(torch.randn(outputs, inputs) / math.sqrt(inputs))
        self.register_buffer("codes", codes)
        self.register_buffer("scale", scale)
        self.lora_A = torch.nn.Linear(inputs, RANK, bias=False)
        self.lora_B = torch.nn.Linear(RANK, outputs, bias=False)
        self.product = product

    def forward(self, x):
        return self.product(x, self.codes, self.scale) + self.lora_B(self.lora_A(x))


def model_of(product):
    torch.manual_seed(6)
    return torch.nn.Sequential(
        Adapted(WIDTH, 4 * WIDTH, product),
        torch.nn.GELU(),
        Adapted(4 * WIDTH, WIDTH, product),
        torch.nn.LayerNorm(WIDTH, elementwise_affine=False),
        Adapted(WIDTH, WIDTH, product),
    )


def saved_bytes(model, x, compressor):
    for _ in range(2):
        saved = fewbit.SavedBytes(model)
        with saved, compressor:
            loss = model(x).square().mean()
    return saved.unique_bytes, gradient_of(trained(model), loss)


def trained(model):
    return torch.nn.ParameterList(p for p in model.parameters() if p.requires_grad)


@pytest.mark.parametrize("product", [Product.apply, product_in_forward])
def test_adapters_are_trained_beside_weights_of_4_bits(product):
    model, x = model_of(product), torch.randn(1024, WIDTH)
    with fewbit.SavedBytes(model) as saved:
        loss = model(x).square().mean()
    exact = gradient_of(trained(model), loss)
    codes = [module.codes.clone() for module in model if isinstance(module, Adapted)]
    errors, bytes_of = [], []
    for bits in (2, 4, 8):
        count, gradient = saved_bytes(model, x, fewbit.Compressor(model, bits=bits))
        errors.append(relative(gradient, exact))
        bytes_of.append(count)
    assert errors[0] > errors[1] > errors[2], errors
    assert errors[2] < 0.03, errors
    # What product_in_forward unpacks is a weight that only its input's gradient reads: exact, in
    # two layers, since nobody asks for the gradient of the first one's input.
    weights = 0 if product is Product.apply else 4 * WIDTH * WIDTH * (4 + 1)
    assert weights < bytes_of[0]
    assert bytes_of[0] - weights < (saved.unique_bytes - weights) / 6, (bytes_of, weights)
    held = [module.codes for module in model if isinstance(module, Adapted)]
    assert all(torch.equal(one, other) for one, other in zip(codes, held, strict=True))
