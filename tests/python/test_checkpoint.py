"""Blocks that run again in backward: fewbit.checkpoint, and torch's under a Compressor."""

import pytest
import torch
from torch.utils.checkpoint import checkpoint as torch_checkpoint

import fewbit
from small import gradient_of, mlp, relative


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_of_torch_have_their_gradients(use_reentrant):
    model, x = mlp(), torch.randn(256, 64, requires_grad=True)
    exact = gradient_of(
        model, torch_checkpoint(model, x, use_reentrant=use_reentrant).square().mean()
    )
    compressor = fewbit.Compressor(model, bits=8)
    with compressor:
        loss = torch_checkpoint(model, x, use_reentrant=use_reentrant).square().mean()
    assert relative(gradient_of(model, loss), exact) < 0.02


def test_checkpoint_codes_its_input():
    model, x = mlp(), torch.randn(256, 64, requires_grad=True)
    exact = gradient_of(model, model(x * 1.0).square().mean())
    compressor = fewbit.Compressor(model, bits=8)
    with compressor:
        loss = fewbit.checkpoint(lambda h, scale: model(h) * scale, x * 1.0, 1.0).square().mean()
    assert relative(gradient_of(model, loss), exact) < 0.02
    assert any("checkpoint" in site.operation for site in compressor.sites())


def test_a_checkpoint_raises_what_its_function_raises():
    class Unusual(Exception):
        pass

    runs = []

    def block(x):
        runs.append(1)
        if len(runs) == 2:
            raise Unusual("again")
        return x.square().square()

    x = torch.randn(64, 64, requires_grad=True)
    y = fewbit.checkpoint(block, x)
    with pytest.raises(Unusual, match="again"):
        y.sum().backward()
    with pytest.raises(Unusual):
        fewbit.checkpoint(lambda _: (_ for _ in ()).throw(Unusual()), x)


OPERATIONS = {True: "CheckpointFunction", False: "_NoopSaveInputs"}  # by use_reentrant


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_torchs_checkpoints_have_their_inputs_coded(use_reentrant):
    model, x = mlp(), torch.randn(256, 64, requires_grad=True)
    exact = gradient_of(model, model(x * 1.0).square().mean())
    compressor = fewbit.Compressor(model, bits=8)
    for _ in range(2):
        with compressor:
            y = torch_checkpoint(model, x * 1.0, use_reentrant=use_reentrant)
            loss = y.square().mean()
        gradient = gradient_of(model, loss)
    assert relative(gradient, exact) < 0.02
    (site,) = [s for s in compressor.sites() if s.operation == OPERATIONS[use_reentrant]]
    assert (
        site.stored.storage == fewbit.Storage.coded and site.bytes_after < 0.3 * site.bytes_before
    )


def test_reentrant_checkpoints_nest_and_outlive_what_their_function_raises():
    model, x = mlp(), torch.randn(256, 64, requires_grad=True)
    exact = gradient_of(model, model(x * 1.0).square().mean())

    def within(h):
        return torch_checkpoint(model, h, use_reentrant=True)

    def raises(h):
        within(h)
        raise KeyError("before it saved anything")

    compressor = fewbit.Compressor(model, bits=8)
    for _ in range(2):
        with compressor:
            h = x * 1.0
            with pytest.raises(KeyError):
                torch_checkpoint(raises, h, use_reentrant=True)
            loss = torch_checkpoint(within, h, use_reentrant=True).square().mean()
        assert relative(gradient_of(model, loss), exact) < 0.02
    (site,) = [s for s in compressor.sites() if s.operation == OPERATIONS[True]]
    assert site.stored.storage == fewbit.Storage.coded and site.count == 2


def divides(h):
    return h.log().sum()


def chooses(h):
    return (h * 2 if float(h.mean()) > 1 else h).sum()


@pytest.mark.parametrize("function", [divides, chooses])
@pytest.mark.parametrize("use_reentrant", [False, True])
def test_torchs_checkpoints_keep_exact_what_divides_or_chooses(function, use_reentrant):
    x = torch.randn(256, 64, requires_grad=True)
    weight = torch.randn(64, 64, requires_grad=True)

    def gradient(compressor):
        with compressor:
            h = (x @ weight).square() + 1e-4
            loss = torch_checkpoint(function, h, use_reentrant=use_reentrant)
        weight.grad = None
        loss.backward()
        return weight.grad

    compressor = fewbit.Compressor(bits=2, rules={"mm": "exact", "pow": "exact"})
    exact = gradient(fewbit.Compressor(bits=2, rules={"*": "exact"}))
    for _ in range(2):
        assert torch.equal(gradient(compressor), exact)
