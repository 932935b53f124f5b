"""A device with memory and streams of its own: FEWBIT_TEST_DEVICE=cuda runs all of it."""

import gc

import pytest
import torch

import fewbit
from diffusion import unet
from families import FAMILIES
from small import DEVICE, compressed_gradient, gradient_of, mlp, relative

on_a_device = pytest.mark.skipif(DEVICE == "cpu", reason="tensors are on the CPU")
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@on_a_device
@pytest.mark.parametrize("dtype", FLOATS)
def test_codes_are_those_of_the_cpu(dtype):
    x = torch.randn(10_007, device="cpu").to(dtype)
    for bits in range(1, 9):
        there, here = (fewbit.Codec(bits, seed=3).encode(t) for t in (x.to(DEVICE), x))
        assert there.nbytes == here.nbytes
        assert all(torch.equal(a.cpu(), b) for a, b in zip(there._codes, here._codes, strict=True))
        assert torch.equal(there.decoded().cpu(), here.decoded())


@on_a_device
def test_gradients_are_nearly_those_of_the_cpu():
    gradients, exact = [], None
    for device in ("cpu", DEVICE):
        model, x = mlp().to("cpu"), torch.randn(256, 64, device="cpu")
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, generator=torch.Generator("cpu").manual_seed(1))
        x.normal_(generator=torch.Generator("cpu").manual_seed(2))
        model, x = model.to(device), x.to(device)
        exact = gradient_of(model, model(x).square().mean()).cpu()
        gradient, compressor = compressed_gradient(model, x, 2)
        gradients.append(gradient.cpu())
        sites = [(site.operation, site.bytes_after) for site in compressor.sites()]
        gradients.append(sites)
    assert gradients[1] == gradients[3]
    error = relative(gradients[0], exact)
    assert relative(gradients[2], gradients[0]) < 1.6 * error and error > 0.01


def steps_of(model, loss, compressor, count):
    for _ in range(count):
        with compressor:
            value = loss()
        value.backward()


@on_a_device
@pytest.mark.parametrize("family", ["llama", "bert", "t5", "unet"])
@pytest.mark.parametrize("options", [{}, {"scheme": "group"}, {"trellis": 4}])
def test_a_step_between_measurements_never_waits(family, options):
    model, loss = unet() if family == "unet" else FAMILIES[family]()
    compressor = fewbit.Compressor(model, bits=2, **options)
    steps_of(model, loss, compressor, 17)
    torch.cuda.set_sync_debug_mode("error")
    try:
        steps_of(model, loss, compressor, 3)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@on_a_device
def test_the_meter_counts_what_the_allocator_holds():
    model, x = mlp(256), torch.randn(4096, 256)
    compressor = fewbit.Compressor(model, bits=2)
    for _ in range(4):
        gc.collect()
        held, saved = torch.cuda.memory_allocated(), fewbit.SavedBytes(model)
        with saved, compressor:
            loss = model(x).square().mean()
        more = torch.cuda.memory_allocated() - held
        loss.backward()
        del loss
    # Blocks are of 512 bytes.
    assert saved.unique_bytes - x.nbytes <= more < 1.02 * saved.unique_bytes + 32 * 512


@on_a_device
def test_streams_of_ones_own():
    model, x = mlp(256), torch.randn(4096, 256)
    stream = torch.cuda.Stream()
    gradients = []
    for side in (False, True):
        compressor = fewbit.Compressor(model, bits=2)
        for _ in range(4):
            torch.cuda.synchronize()
            with torch.cuda.stream(stream if side else torch.cuda.current_stream()):
                if side:
                    torch.cuda._sleep(10_000_000)
                with compressor:
                    loss = model(x).square().mean()
                gradient = gradient_of(model, loss)
        torch.cuda.synchronize()
        gradients.append(gradient)
    assert relative(gradients[1], gradients[0]) < 1e-3


@pytest.mark.parametrize("options", [{"offload": True}, {"rules": {"*": "offload"}}])
def test_what_leaves_the_device_comes_back(options):
    model, x = mlp(256), torch.randn(4096, 256, requires_grad=True)
    stays = fewbit.Compressor(model, bits=2, rules={} if "offload" in options else {"*": "exact"})
    leaves = fewbit.Compressor(model, bits=2, **options)
    for _ in range(5):
        gradients = []
        for compressor in (stays, leaves):
            with compressor:
                loss = model(x * 1.0).square().mean()
            gradients.append(gradient_of(model, loss))
        assert relative(*gradients) < 1e-5, leaves.report()
    assert sum(site.bytes_offloaded for site in leaves.sites()) > 0, leaves.report()


def test_dropout_runs_again_with_its_numbers():
    model, x = torch.nn.Sequential(mlp(), torch.nn.Dropout(0.5)), torch.randn(256, 64)
    x.requires_grad_()
    gradients = []
    for run in (lambda h: model(h), lambda h: fewbit.checkpoint(model, h)):
        torch.manual_seed(4)
        with fewbit.Compressor(model, rules={"*": "exact"}):
            gradients.append(gradient_of(model, run(x * 1.0).square().mean()))
    assert torch.equal(*gradients)


def test_a_tensor_of_the_cpu_beside_those_of_the_device():
    model, x = mlp(), torch.randn(256, 64)
    other = torch.randn(64, 64, device="cpu", requires_grad=True)
    with fewbit.Compressor(model, bits=8) as compressor:
        loss = model(x).square().mean() + ((other * 1.0) @ other).square().mean().to(DEVICE)
    loss.backward()
    assert other.grad is not None and compressor.sites()


@on_a_device
def test_a_step_from_a_graph_draws_other_numbers_in_every_run():
    model, x = mlp(256), torch.randn(4096, 256)
    exact = gradient_of(model, model(x).square().mean())
    _, compressor = compressed_gradient(model, x, 2)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with compressor:
            loss = model(x).square().mean()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        flat = torch.cat([g.flatten() for g in gradients])
    runs = []
    for _ in range(16):
        graph.replay()
        runs.append(flat.clone())
    assert not any(torch.equal(runs[0], other) for other in runs[1:])
    assert relative(sum(runs) / 16, exact) < 0.5 * relative(runs[0], exact)
