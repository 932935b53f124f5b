"""A Compressor around functions that torch.compile compiled: what their graphs save, and gradients.

Most use the backend aot_eager, whose graphs run as they are: it compiles in seconds."""

import functools

import pytest
import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

import fewbit
from families import FAMILIES
from fewbit import _graph_hooks
from fewbit._compiled_scope import _bits_of
from fewbit._graph_codecs import Form
from small import DEVICE, gradient_of, mlp, relative

F = torch.nn.functional


@pytest.fixture(autouse=True)
def nothing_compiled():
    torch._dynamo.reset()
    _graph_hooks._hooks.clear()
    torch.manual_seed(1)


def step(model, loss, compressor=None):
    """Saved bytes and the gradient."""
    with fewbit.SavedBytes(model) as saved:
        if compressor is None:
            value = loss()
        else:
            with compressor:
                value = loss()
    return saved.unique_bytes, gradient_of(model, value)


class Layers(torch.nn.Module):
    """torch.nn.Sequential.compile() alone compiles nothing: torch skips its own files."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        return self.layers(x)


def model_of(layers, **options):
    model = Layers(layers).to(DEVICE)
    model.compile(backend="aot_eager", **options)
    return model


def convolutions():
    """Every kind of tensor that a graph saves, but attention's."""
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1),
        torch.nn.BatchNorm2d(16),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 16, 3, padding=1),
        torch.nn.GroupNorm(4, 16),
        torch.nn.SiLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 64, 32),
        torch.nn.LayerNorm(32),
    )
    x = torch.randn(16, 3, 8, 8, device=DEVICE)
    model = Layers(layers).to(DEVICE)
    return model, lambda: model(x).square().mean()


@pytest.mark.parametrize("family", ["bert", "llama", "vit", "convolutions"])
def test_gradients_with_the_bits_of_eager_sites(family):
    model, loss = FAMILIES.get(family, convolutions)()
    if family != "convolutions":
        model.eval()  # without dropout
    _, exact = step(model, loss)
    compressor = fewbit.Compressor(model, bits=4)
    for _ in range(3):
        _, eager = step(model, loss, compressor)
    compressor.freeze()
    model.compile(backend="aot_eager", fullgraph=True)
    exact_bytes, compiled = step(model, loss)
    assert relative(compiled, exact) < 1e-4
    saved_bytes, coded = step(model, loss, compressor)
    assert relative(coded, exact) < 1.6 * relative(eager, exact) + 0.003
    assert saved_bytes < exact_bytes / 3, (saved_bytes, exact_bytes)
    assert sum(site.bytes_after for site in compressor.compiled_sites()) >= 0.9 * saved_bytes
    with torch.compiler.set_stance("fail_on_recompile"):
        _, again = step(model, loss, compressor)
    assert 0 < relative(again, coded) < 3 * relative(coded, exact)


def test_frozen_bits_are_those_of_the_nearest_error():
    for bits in range(1, 9):
        expected = torch.ops.fewbit.rotated_error(bits)
        for share in 0.7, 1.0, 1.4:
            assert _bits_of(share * expected) == bits
    with pytest.raises(RuntimeError, match="bits is 9"):
        torch.ops.fewbit.rotated_error(9)


def test_gradients_are_unbiased():
    """In what is linear in saved tensors."""
    model = model_of(torch.nn.Sequential(*(torch.nn.Linear(64, 64) for _ in range(3))))
    x = torch.randn(64, 64, device=DEVICE)
    loss = lambda: model(x).square().mean()  # noqa: E731
    _, exact = step(model, loss)
    compressor = fewbit.Compressor(model, bits=2)
    gradients = torch.stack([step(model, loss, compressor)[1] for _ in range(200)])
    deviation = (gradients - gradients.mean(0)).square().sum(1).mean().sqrt()
    assert (gradients.mean(0) - exact).norm() < 2.5 * deviation / 200**0.5


def test_the_same_seed_gives_the_same_gradient():
    model, x = model_of(mlp()), torch.randn(64, 64, device=DEVICE)
    loss = lambda: model(x).square().mean()  # noqa: E731
    runs = []
    for _ in range(2):
        torch.manual_seed(3)
        compressor = fewbit.Compressor(model, bits=2)
        runs.append([step(model, loss, compressor)[1] for _ in range(2)])
    assert torch.equal(runs[0][0], runs[1][0]) and torch.equal(runs[0][1], runs[1][1])
    assert not torch.equal(runs[0][0], runs[0][1])


@pytest.mark.parametrize(
    "function, obstacle",
    [
        (lambda y: y.square().add(0.1).log(), "aten.div"),
        (lambda y: y.square().add(0.1).rsqrt(), "aten.rsqrt"),
        (lambda y: torch.where(y > 0.5, y, y.square()), "aten.gt"),
    ],
    ids=["log", "rsqrt", "where"],
)
def test_what_a_small_error_may_harm_stays_exact(function, obstacle):
    x = torch.randn(64, 64, device=DEVICE)
    weight = torch.randn(64, 64, device=DEVICE, requires_grad=True)
    compiled = torch.compile(lambda: function(x @ weight).sum(), backend="aot_eager")
    compressor = fewbit.Compressor(bits=2)
    with compressor:
        loss = compiled()
    loss.backward()
    reasons = {site.reason for site in compressor.compiled_sites() if site.stored == "exact"}
    assert obstacle in reasons, compressor.report()
    assert weight.grad.isfinite().all()


@pytest.mark.parametrize("filling", [-1e9, float("-inf"), -0.5])
def test_huge_fillings_of_masks_do_not_spread(filling):
    """Into codes of their neighbours."""
    x, factors = torch.randn(64, 64, device=DEVICE), torch.randn(64, 64, device=DEVICE)
    weight = torch.randn(64, 64, device=DEVICE, requires_grad=True)
    factors.requires_grad_()

    def function():
        y = x @ weight
        return (y.masked_fill(y > 5, filling) * factors).sum()

    exact = torch.autograd.grad(function(), factors)[0]
    compressor = fewbit.Compressor(bits=6)
    with compressor:
        loss = torch.compile(function, backend="aot_eager_default_partitioner")()
    gradient = torch.autograd.grad(loss, factors)[0]
    here = exact != filling
    assert relative(gradient[here], exact[here]) < 0.05
    (masked,) = (s for s in compressor.compiled_sites() if s.operation == "aten.masked_fill")
    assert (masked.stored == "exact") == (filling != -0.5), compressor.report()


@pytest.mark.parametrize("kind", ["rotated", "rotated by sign", "signs"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_forms_keep_the_order_of_memory(kind, dtype):
    x = torch.randn(4, 6, 10, 8, device=DEVICE).to(dtype)
    for tensor in (
        x,
        x.permute(2, 0, 3, 1),
        x.to(memory_format=torch.channels_last),
        x[:, :3],
        x.transpose(1, 3)[:, ::2],
        x[:, :1],
        x.flatten(),
    ):
        form = Form(kind, bits=8)
        decoded = form.decode(form.encode(tensor), tensor)
        assert decoded.shape == tensor.shape and decoded.dtype == tensor.dtype
        expected = {"rotated": tensor, "signs": (tensor > 0).to(dtype)}.get(kind, tensor.relu())
        assert relative(decoded.float(), expected.float()) < 0.02
        is_dense = tensor.is_contiguous() or tensor.permute(2, 0, 3, 1).is_contiguous()
        if is_dense or tensor.is_contiguous(memory_format=torch.channels_last):
            assert decoded.stride() == tensor.stride()


def test_autocast_to_bfloat16():
    model, x = model_of(mlp()), torch.randn(64, 64, device=DEVICE)

    def loss():
        with torch.autocast(DEVICE, torch.bfloat16):
            return model(x).float().square().mean()

    exact_bytes, exact = step(model, loss)
    compressor = fewbit.Compressor(model, bits=6)
    saved_bytes, gradient = step(model, loss, compressor)
    assert 0 < relative(gradient, exact) < 0.05 and saved_bytes < exact_bytes / 1.5


def test_signs_and_masks_are_exact():
    """The gradient of the first bias needs no more than which elements are there."""
    first, second = torch.nn.Linear(64, 64).to(DEVICE), torch.nn.Linear(64, 64).to(DEVICE)
    x = torch.randn(64, 64, device=DEVICE)
    loss = lambda: second(F.dropout(F.relu(first(x)), 0.5)).sum()  # noqa: E731
    compiled, results = torch.compile(loss, backend="aot_eager"), []
    for compressor in None, fewbit.Compressor(bits=1):
        torch.manual_seed(2)
        if compressor is None:
            value = compiled()
        else:
            with compressor:
                value = compiled()
        results.append(torch.autograd.grad(value, [first.bias, second.weight]))
    assert torch.equal(results[0][0], results[1][0])
    assert 0 < relative(results[1][1], results[0][1]) < 0.8
    stored = {site.stored for site in compressor.compiled_sites()}
    assert stored == {"exact", "mask", "rotated, 1 bit"}, stored


def test_sizes_may_change():
    model = model_of(mlp(), dynamic=True)
    compressor = fewbit.Compressor(model, bits=6)
    for rows in 96, 128, 80:
        x = torch.randn(rows, 64, device=DEVICE)
        stance = "default" if rows == 96 else "fail_on_recompile"
        with torch.compiler.set_stance(stance):
            saved_bytes, gradient = step(model, lambda: model(x).square().mean(), compressor)  # noqa: B023
        with torch.compiler.set_stance("force_eager"):
            exact_bytes, exact = step(model, lambda: model(x).square().mean())  # noqa: B023
        assert relative(gradient, exact) < 0.05 and saved_bytes < exact_bytes / 2


def test_blocks_that_are_compiled_one_by_one_share_a_graph():
    blocks = torch.nn.Sequential(*(Layers(mlp()) for _ in range(4))).to(DEVICE)
    x = torch.randn(64, 64, device=DEVICE)
    loss = lambda: blocks(x).square().mean()  # noqa: E731
    exact_bytes, exact = step(blocks, loss)
    for block in blocks:
        block.compile(backend="aot_eager")
    compressor = fewbit.Compressor(blocks, bits=6)
    step(blocks, loss, compressor)
    saved_bytes, gradient = step(blocks, loss, compressor)
    # The first block's input has no gradient, so that its graph is another one.
    assert {site.graph for site in compressor.compiled_sites()} == {0, 1}
    assert relative(gradient, exact) < 0.05 and saved_bytes < exact_bytes / 2.5


def test_peak_of_a_step():
    model = model_of(torch.nn.Sequential(*(mlp(128) for _ in range(8))))
    x = torch.randn(2048, 128, device=DEVICE)
    peaks = []
    for compressor in None, fewbit.Compressor(model, bits=2):

        def forward_and_backward(compressor=compressor):
            return step(model, lambda: model(x).square().mean(), compressor)

        forward_and_backward()
        peaks.append(fewbit.peak_bytes(forward_and_backward))
    assert peaks[1] < 0.4 * peaks[0], peaks


def products_are_saved(context, operation, *arguments, **options):
    """Of a selective checkpoint: the rest runs again."""
    kept = (torch.ops.aten.addmm.default, torch.ops.aten.mm.default)
    return CheckpointPolicy.MUST_SAVE if operation in kept else CheckpointPolicy.PREFER_RECOMPUTE


class Checkpointed(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        contexts = functools.partial(create_selective_checkpoint_contexts, products_are_saved)
        return checkpoint(self.inner, x, use_reentrant=False, context_fn=contexts)


def test_selective_checkpoints_save_codes():
    model = model_of(torch.nn.Sequential(*(Checkpointed(mlp(128)) for _ in range(3))))
    x = torch.randn(256, 128, device=DEVICE)
    loss = lambda: model(x).square().mean()  # noqa: E731
    exact_bytes, exact = step(model, loss)
    compressor = fewbit.Compressor(model, bits=6)
    saved_bytes, gradient = step(model, loss, compressor)
    assert saved_bytes < exact_bytes / 2.5, (saved_bytes, exact_bytes)
    assert 0 < relative(gradient, exact) < 0.05
    products = [s for s in compressor.compiled_sites() if "mm" in s.operation]
    assert sum(site.stored == "rotated, 6 bits" for site in products) >= 5, compressor.report()


def test_rules_and_schemes():
    x = torch.randn(64, 64, device=DEVICE)
    for options, stored in (
        ({"bits": 3}, "rotated, 3 bits"),
        ({"bits": 3, "rules": {"*": 7}}, "rotated, 7 bits"),
        ({"bits": 3, "rules": {"*.3.*": 7, "addmm": "exact"}}, "rotated, 7 bits"),
        ({"bits": 3, "rules": {"*": "exact"}}, "exact"),
    ):
        model = model_of(mlp())
        compressor = fewbit.Compressor(model, **options)
        step(model, lambda: model(x).square().mean(), compressor)  # noqa: B023
        (norm,) = {s.stored for s in compressor.compiled_sites() if s.operation == NORM}
        assert norm == stored
    with fewbit.Compressor(model, scheme="group") as other:
        model(x).sum().backward()
    assert other.compiled_sites() == []


NORM = "aten.native_layer_norm"


def test_outside_of_the_scope_nothing_changes():
    model, x = model_of(mlp()), torch.randn(64, 64, device=DEVICE)
    loss = lambda: model(x).square().mean()  # noqa: E731
    exact_bytes, exact = step(model, loss)
    compressor = fewbit.Compressor(model, bits=2)
    step(model, loss, compressor)
    with torch.compiler.set_stance("fail_on_recompile"):
        again_bytes, again = step(model, loss)
        step(model, loss, compressor)
    assert torch.equal(exact, again) and exact_bytes == again_bytes
    assert torch._functorch.config.saved_tensors_hooks_filtering_mode == "donated"


def test_transforms_of_functions_and_hooks_of_others():
    """torch.func refuses hooks on torch's stack; hooks that are opened inside act, not ours."""
    model, x = model_of(mlp()), torch.randn(64, 64, device=DEVICE)
    compressor = fewbit.Compressor(model, bits=2)
    loss = lambda: model(x).square().mean()  # noqa: E731
    _, exact = step(model, loss)
    step(model, loss, compressor)
    with compressor:
        assert torch.func.grad(lambda y: y.square().sum())(x).equal(2 * x)
    seen = []

    def pack(tensor):
        seen.append(tensor.shape)
        return tensor

    with compressor, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        value = loss()
    assert torch.equal(gradient_of(model, value), exact) and len(seen) > 5


def test_a_scope_around_export_changes_nothing():
    model, x = Layers(mlp()), torch.randn(64, 64)
    with fewbit.Compressor(model, bits=2):
        program = torch.export.export(model, (x,))
    assert torch.allclose(program.module()(x), model(x), atol=1e-6)
    assert all(node.target.namespace == "aten" for node in calls(program.graph))


def calls(graph):
    return [node for node in graph.nodes if node.op == "call_function"]


def test_the_report_names_them():
    model, x = model_of(mlp()), torch.randn(64, 64, device=DEVICE)
    compressor = fewbit.Compressor(model, bits=2)
    step(model, lambda: model(x).square().mean(), compressor)
    text = compressor.report().partition("recomputation from codes there)\n")[2]
    assert "rotated, 2 bits" in text and "fewer than 1,024 elements" in text
    assert text.splitlines()[0].split() == [
        "graph", "operation", "module", "stored", "elements", "bytes", "before", "after",
    ]  # fmt: skip


@pytest.mark.skipif(DEVICE != "cpu", reason="inductor's C++ is what is tested here")
def test_inductor_and_its_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    counters = torch._dynamo.utils.counters
    x, stored = torch.randn(64, 64), []
    for bits, hits, mode in (4, 0, "default"), (4, 1, "default"), (2, 0, "reduce-overhead"):
        torch._dynamo.reset()
        counters.clear()
        model = Layers(mlp()[:3])
        _, exact = step(model, lambda: model(x).square().mean())  # noqa: B023
        model.compile(mode=mode)
        compressor = fewbit.Compressor(model, bits=bits)
        saved_bytes, gradient = step(model, lambda: model(x).square().mean(), compressor)  # noqa: B023
        assert counters["aot_autograd"]["autograd_cache_hit"] == hits
        assert relative(gradient, exact) < 2.0 ** (1 - bits)
        stored.append(saved_bytes)
    assert stored[0] == stored[1] > stored[2]
