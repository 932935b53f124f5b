"""Blocks that run again in backward: fewbit.checkpoint, and torch's under a Compressor."""

import copy

import pytest
import torch
from torch.utils.checkpoint import checkpoint as torch_checkpoint

import fewbit
from small import gradient_of, mlp, relative

OPERATIONS = {True: "CheckpointFunction", False: "_NoopSaveInputs"}  # by use_reentrant


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


class Block(torch.nn.Module):
    """Takes a keyword and gives a tuple, as blocks of transformers do."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(
            torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)
        )

    def forward(self, x, scale=1.0):
        return x + scale * self.inner(x), None


class Blocks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(4))

    def forward(self, x):
        for block in self.blocks:
            x, _ = block(x, scale=0.5)
        return x


def test_modules_become_checkpoints_and_modules_again():
    torch.manual_seed(1)
    model, x = Blocks(), torch.randn(2048, 64)
    exact = gradient_of(model, model(x).square().mean())
    before = fewbit.peak_bytes(lambda: model(x).square().mean().backward())
    names = [f"blocks.{i}" for i in range(4)]
    handle = fewbit.checkpoint_modules(model, names)
    assert torch.equal(gradient_of(model, model(x).square().mean()), exact)
    assert fewbit.peak_bytes(lambda: model(x).square().mean().backward()) < 0.6 * before
    copied = copy.deepcopy(model)  # runs its own blocks
    with torch.no_grad():
        copied.blocks[0].inner[0].weight.zero_()
        assert not torch.equal(copied(x), model(x))
    compressor = fewbit.Compressor(model, bits=8)
    with compressor:
        loss = model(x).square().mean()
    assert relative(gradient_of(model, loss), exact) < 0.02
    assert any(site.operation == OPERATIONS[False] for site in compressor.sites())
    with pytest.raises(ValueError, match=r"'blocks\.0' has a forward of its own already"):
        fewbit.checkpoint_modules(model, names)
    handle.remove()
    assert all("forward" not in vars(block) for block in model.blocks)
    with pytest.raises(ValueError, match=r"no module 'blocks\.9', accepted: a name"):
        fewbit.checkpoint_modules(model, ["blocks.0", "blocks.9"])
    assert "forward" not in vars(model.blocks[0])


def test_a_plan_proposes_checkpoints_that_can_be_applied():
    torch.manual_seed(1)
    model, x = Blocks(), torch.randn(2048, 64)

    def loss():
        return model(x).square().mean()

    exact = fewbit.peak_bytes(lambda: loss().backward())
    model.zero_grad()
    plan = fewbit.plan_memory(loss, model, peak_bytes=exact // 20, bits=4)
    assert not plan.fits
    names = [one.module for one in plan.checkpoints if one.is_proposed]
    # The first one's input stays; whether it saves anything depends on times that are measured.
    assert names[-3:] == [f"blocks.{i}" for i in range(1, 4)], str(plan)
    fewbit.checkpoint_modules(model, names)
    again = fewbit.plan_memory(loss, model, peak_bytes=exact // 20, bits=4)
    assert again.bytes < plan.bytes, str(again)


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
