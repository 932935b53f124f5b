"""A small model, its gradient, and how far one is from another."""

import torch

import fewbit

DEVICE = torch.get_default_device().type


def mlp(width: int = 64) -> torch.nn.Sequential:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(width, 4 * width),
        torch.nn.GELU(),
        torch.nn.Linear(4 * width, width),
        torch.nn.LayerNorm(width),
        torch.nn.Linear(width, width),
    )


def gradient_of(model, loss):
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def relative(one, other):
    return float((one - other).norm() / other.norm())


def compressed_gradient(model, x, bits):
    compressor = fewbit.Compressor(model, bits=bits)
    for _ in range(3):
        with compressor:
            loss = model(x).square().mean()
        gradient = gradient_of(model, loss)
    return gradient, compressor
