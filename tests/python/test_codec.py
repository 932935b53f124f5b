"""Codes by hand, pairs of hooks, and what stands on them."""

import pytest
import torch
import torch_remat
from torch.autograd.graph import saved_tensors_hooks

import fewbit
from fewbit.integrations.remat import coded_saves
from fewbit.integrations.torchtitan import CodedBackend


def relative(one, other):
    return float((one - other).norm() / other.norm())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_tensor_comes_back_with_the_error_of_its_bits(dtype):
    torch.manual_seed(1)
    x = torch.randn(40, 30, 7).to(dtype).transpose(0, 2)
    for bits, error in ((1, 0.75), (2, 0.365), (4, 0.10), (8, 0.008)):
        coded = fewbit.Codec(bits).encode(x)
        y = coded.decoded()
        assert y.shape == x.shape and y.dtype == x.dtype and torch.equal(y, coded.decoded())
        assert relative(y.double(), x.double()) < 1.05 * error
        assert coded.nbytes <= x.numel() * bits / 8 + (2 * x.itemsize + 8) * (x.numel() // 256 + 2)


def test_the_mean_over_rotations_is_the_tensor():
    torch.manual_seed(1)
    x, codec, draws = torch.randn(2048), fewbit.Codec(2), 400
    errors = torch.stack([codec.encode(x).decoded() - x for _ in range(draws)])
    z = errors.mean(0) / (errors.std(0) / draws**0.5)
    assert abs(float(z.square().mean()) - 1) < 0.15  # 1, +- 0.03


def test_rotations_are_of_the_codecs_own_generator():
    x = torch.randn(2048)
    state = torch.get_rng_state()
    one, other = fewbit.Codec(4, seed=3), fewbit.Codec(4, seed=3)
    assert torch.equal(one.encode(x).decoded(), other.encode(x).decoded())
    assert not torch.equal(one.encode(x).decoded(), fewbit.Codec(4, seed=3).encode(x).decoded())
    assert torch.equal(torch.get_rng_state(), state)


def test_what_a_codec_does_not_accept():
    for arguments in ({"bits": 0}, {"bits": 9}, {"group": 100}):
        with pytest.raises(ValueError, match="accepted"):
            fewbit.Codec(**arguments)
    codec = fewbit.Codec()
    assert not codec.takes(torch.zeros(1023)) and codec.takes(torch.zeros(1024))
    assert not codec.takes(torch.zeros(2048, dtype=torch.int64))
    assert not codec.takes(torch.nn.Parameter(torch.zeros(2048)))
    assert not codec.takes(torch.zeros(2048, requires_grad=True))


def block(width=64):
    torch.manual_seed(2)
    return torch.nn.Sequential(
        torch.nn.Linear(width, 4 * width),
        torch.nn.GELU(),
        torch.nn.Dropout(0.1),
        torch.nn.Linear(4 * width, width),
    )


def gradient(model, loss):
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def test_hooks_save_codes():
    model, x = block(), torch.randn(256, 64)
    torch.manual_seed(3)
    exact = gradient(model, model(x).square().mean())
    errors = []
    for bits in (2, 4, 8):
        torch.manual_seed(3)
        with saved_tensors_hooks(*fewbit.hooks(bits)):
            loss = model(x).square().mean()
        errors.append(relative(gradient(model, loss), exact))
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.02


def test_remats_checkpoints_save_codes():
    model, x = block(), torch.randn(256, 64, requires_grad=True)
    torch.manual_seed(3)
    exact = gradient(model, torch_remat.checkpoint()(model)(x * 1.0).square().mean())
    torch.manual_seed(3)
    with coded_saves(bits=8):
        loss = torch_remat.checkpoint()(model)(x * 1.0).square().mean()
    assert 0 < relative(gradient(model, loss), exact) < 0.02


class Storage:
    """What torchtitan's ActivationStorage does with a backend: put, get into memory, free."""

    def __init__(self, backend):
        self.backend, self.freed = backend, 0

    def pack(self, tensor):
        payload = self.backend.put(tensor, None)
        return tensor if payload is None else (payload, torch.empty_like(tensor))

    def unpack(self, packed):
        if isinstance(packed, torch.Tensor):
            return packed
        out = packed[1]
        self.backend.get(packed[0], out, None)
        self.backend.free(packed[0])
        self.freed += 1
        return out


def test_torchtitans_storage_takes_the_backend():
    model, x = block().eval(), torch.randn(256, 64)
    exact = gradient(model, model(x).square().mean())
    storage = Storage(CodedBackend(bits=8))
    with saved_tensors_hooks(storage.pack, storage.unpack):
        loss = model(x).square().mean()
    assert 0 < relative(gradient(model, loss), exact) < 0.02 and storage.freed > 0
