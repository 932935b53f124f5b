"""fewbit.Compressor around unchanged models."""

import contextlib
import gc
import resource
import threading
import weakref

import pytest
import torch

import fewbit
from small import DEVICE, compressed_gradient, gradient_of, mlp, relative


def test_gradients_come_near_with_bits():
    model, x = mlp(), torch.randn(256, 64)
    exact = gradient_of(model, model(x).square().mean())
    errors = [relative(compressed_gradient(model, x, bits)[0], exact) for bits in (1, 2, 4, 8)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.02, errors


def test_forward_values_do_not_change():
    model, x = mlp(), torch.randn(256, 64)
    exact = model(x)
    with fewbit.Compressor(model, bits=1):
        assert torch.allclose(model(x), exact, rtol=1e-5, atol=1e-6)


def test_directions_take_off_error_where_tensors_lie_along_few():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
    spread = torch.randn(3, 64)
    errors = {}
    for directions in (0, 16):
        compressor = fewbit.Compressor(model, bits=2, directions=directions)
        for _ in range(4):
            x = (torch.randn(512, 3) @ spread + 0.05 * torch.randn(512, 64)).requires_grad_()
            exact = gradient_of(model, model(x).square().mean())
            with compressor:
                loss = model(x).square().mean()
            errors[directions] = relative(gradient_of(model, loss), exact)
        assert ("low rank" in compressor.report()) == (directions > 0)
        assert any(site.bytes_of_directions for site in compressor.sites()) == (directions > 0)
    assert errors[16] < 0.5 * errors[0], errors
    with pytest.raises(ValueError, match="directions is 17, accepted: 0 to 16"):
        fewbit.Compressor(model, directions=17)


def test_sites_have_the_names_of_modules():
    _, compressor = compressed_gradient(mlp(), torch.randn(256, 64), 2)
    assert {site.module for site in compressor.sites()} >= {"2", "3", "4"}
    assert "of 2, argument" in compressor.report()
    assert "<table>" in compressor._repr_html_()


def test_names_are_known_again_after_a_cast():
    model = mlp()
    compressor = fewbit.Compressor(model, bits=2)
    model.to(torch.bfloat16)
    with compressor:
        model(torch.randn(256, 64, dtype=torch.bfloat16)).sum()
    assert {site.module for site in compressor.sites()} >= {"2", "4"}


def test_bytes_by_the_meter():
    model, x = mlp(), torch.randn(256, 64)
    with fewbit.SavedBytes(model) as exact:
        model(x).square().mean()
    compressor = fewbit.Compressor(model, bits=2)
    for _ in range(2):
        saved = fewbit.SavedBytes(model)
        with saved, compressor:
            model(x).square().mean()
    assert 5 * saved.unique_bytes < exact.unique_bytes
    assert "AddmmBackward0" in exact.explain()


def test_rules():
    model, x = mlp(), torch.randn(256, 64)
    rules = {"0.*": 4, "4.*": torch.bfloat16, "native_layer_norm": "exact", "2.*": "offload"}
    compressor = fewbit.Compressor(model, bits=2, rules=rules)
    with compressor:
        loss = model(x.requires_grad_() * 1.0).square().mean()
    loss.backward()
    stored = {
        site.module: str(site.stored) for site in compressor.sites() if "addmm" in site.operation
    }
    assert "4 bits" in stored["0"]
    assert "bfloat16" in stored["4"].lower() or "cast" in stored["4"].lower(), stored
    assert "offload" in stored["2"], stored


def test_state_goes_on_bit_for_bit():
    model, x = mlp(), torch.randn(256, 64)
    _, one = compressed_gradient(model, x, 2)
    other = fewbit.Compressor(model, bits=2)
    other.load_state_dict(one.state_dict())
    gradients = []
    for compressor in (one, other):
        with compressor:
            loss = model(x).square().mean()
        gradients.append(gradient_of(model, loss))
    assert torch.equal(*gradients)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bits": 9}, "accepted"),
        ({"bits": 0.4}, "accepted"),
        ({"bits": 0.9, "scheme": "group"}, "accepted"),
        ({"scheme": "best"}, "rotated, group, actnn"),
        ({"group": 100}, "accepted"),
    ],
)
def test_options_out_of_range_are_value_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        fewbit.Compressor(**arguments)


def test_unknown_options_and_types_are_type_errors():
    with pytest.raises(TypeError, match="unknown option 'bit'"):
        fewbit.Compressor(bit=2)
    with pytest.raises(TypeError, match="model is a int"):
        fewbit.Compressor(2)
    with pytest.raises(TypeError, match="accepted: bits from 1 to 8"):
        fewbit.Compressor(rules={"x": 2.5})
    with pytest.raises(TypeError, match="state_dict"):
        torch.save(fewbit.Compressor(), "/dev/null")


def test_wrong_nesting_is_one_clear_error():
    compressor = fewbit.Compressor()
    with compressor, pytest.raises(RuntimeError, match="open in this thread already"):
        compressor.__enter__()
    with pytest.raises(RuntimeError, match="not open in this thread"):
        compressor.__exit__(None, None, None)
    failures = []

    def leave():
        try:
            compressor.__exit__(None, None, None)
        except RuntimeError as error:
            failures.append(str(error))

    with compressor:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert "has to be left in the thread that entered it" in failures[0]


def test_an_exception_closes_the_scope():
    model = mlp()
    compressor = fewbit.Compressor(model)
    with pytest.raises(RuntimeError, match="shapes"), compressor:
        model(torch.randn(3, 5))
    with fewbit.SavedBytes(model) as exact:
        model(torch.randn(256, 64)).sum()
    assert exact.unique_bytes > 256 * 64 * 4
    with compressor:
        model(torch.randn(256, 64)).sum()


def test_scopes_of_threads_are_their_own():
    model, x = mlp(), torch.randn(256, 64)
    compressor = fewbit.Compressor(model, bits=8)
    exact = gradient_of(model, model(x).square().mean())
    results = [None] * 4

    def run(i):
        for _ in range(5):
            with compressor:
                loss = model(x).square().mean()
            results[i] = torch.cat(
                [g.flatten() for g in torch.autograd.grad(loss, model.parameters())]
            )

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        assert relative(result, exact) < 0.02


def test_python_hooks_inside_act_and_outside_sleep():
    model, x = mlp(), torch.randn(256, 64)
    packed = []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t)
    with fewbit.Compressor(model, bits=2) as compressor, hooks:
        loss = model(x).square().mean()
    assert packed and not compressor.sites()
    packed.clear()
    with hooks, fewbit.Compressor(model, bits=2) as compressor:
        loss = model(x).square().mean()
    assert not packed and compressor.sites()
    loss.backward()


def test_compress_is_the_scope_by_hooks():
    model, x = mlp(), torch.randn(256, 64)
    handle = fewbit.compress(model, bits=2)
    loss = model(x).square().mean()
    loss.backward()
    assert handle.compressor.sites()
    with torch.no_grad():
        model(x)
    with pytest.raises(RuntimeError, match="shapes"):
        model(torch.randn(3, 5))
    count = handle.compressor.sites()[0].count
    model(x)
    assert handle.compressor.sites()[0].count == count + 1
    handle.remove()
    model(x)
    assert handle.compressor.sites()[0].count == count + 1


def test_autocast_and_grad_scaler():
    model, x = mlp(), torch.randn(256, 64)
    exact = gradient_of(model, model(x).square().mean())
    compressor = fewbit.Compressor(model, bits=8)
    with compressor, torch.autocast(DEVICE, dtype=torch.bfloat16):
        loss = model(x).square().mean()
    assert relative(gradient_of(model, loss.float()), exact) < 0.05


def test_casts_of_weights_are_made_again():
    model, x = mlp(), torch.randn(256, 64)
    # No gradient runs through the input, so that the first weight is not saved.
    cast = sum(2 * p.numel() for p in model[1:].parameters() if p.dim() == 2)

    def run(scope):
        saved = fewbit.SavedBytes(model)
        with saved, scope, torch.autocast(DEVICE, dtype=torch.bfloat16):
            return model(x).square().mean(), saved.unique_bytes

    def of(**options):
        return fewbit.Compressor(model, rules={"*": "exact"}, **options)

    loss, bytes_before = run(contextlib.nullcontext())
    exact = gradient_of(model, loss)
    loss, bytes_after = run(of())
    assert bytes_before - bytes_after == cast
    assert torch.equal(gradient_of(model, loss), exact)
    loss, bytes_kept = run(of().recompute("cast", "never"))
    assert bytes_kept == bytes_before
    loss, _ = run(of())
    with torch.no_grad():
        model[2].weight.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*'cast'"):
        loss.backward()


def test_casts_of_frozen_weights_are_made_again():
    model, x = mlp().requires_grad_(False), torch.randn(256, 64, requires_grad=True)
    cast = sum(2 * p.numel() for p in model.parameters() if p.dim() == 2)
    saved_bytes, gradients = [], []
    for scope in (contextlib.nullcontext(), fewbit.Compressor(model, rules={"*": "exact"})):
        with fewbit.SavedBytes(model) as saved, scope, torch.autocast(DEVICE, torch.bfloat16):
            loss = model(x * 1.0).square().mean()
        saved_bytes.append(saved.unique_bytes)
        gradients.append(torch.autograd.grad(loss, x)[0])
    assert saved_bytes[0] - saved_bytes[1] == cast
    assert torch.equal(*gradients)


def laid_out_otherwise(weight):
    return weight.to(torch.bfloat16, memory_format=torch.contiguous_format)


def changed(weight):
    return weight.to(torch.bfloat16).mul_(2)


def a_part(weight):
    return weight.to(torch.bfloat16)[:, :32]


def transposed(weight):
    return weight.to(torch.bfloat16).t()


@pytest.mark.parametrize("cast", [laid_out_otherwise, changed, a_part, transposed])
@pytest.mark.parametrize("frozen", [False, True])
def test_what_becomes_of_a_cast_has_its_gradient(cast, frozen):
    layer = torch.nn.Linear(64, 64, bias=False)
    layer.weight = torch.nn.Parameter(torch.randn(64, 64).t(), requires_grad=not frozen)
    x, gradients = torch.randn(256, 64, dtype=torch.bfloat16, requires_grad=True), []
    for scope in (contextlib.nullcontext(), fewbit.Compressor(layer, rules={"*": "exact"})):
        with scope:
            loss = ((x * 1.0) @ cast(layer.weight)).float().square().sum()
        gradients.append(torch.autograd.grad(loss, x)[0])
    assert torch.equal(*gradients)


def test_a_weight_that_is_used_often_is_cast_once():
    layer, x = torch.nn.Linear(64, 64), torch.randn(256, 64)
    casts = []

    class Casts(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            if operation is torch.ops.aten._to_copy.default and args[0].shape == (64, 64):
                casts.append(operation)
            return operation(*args, **(kwargs or {}))

    cast = torch.autocast(DEVICE, dtype=torch.bfloat16)
    with fewbit.Compressor(layer, bits=8), cast, Casts():
        for _ in range(20):
            x = layer(x)
    assert 1 <= len(casts) <= 2
    x.float().square().mean().backward()


def test_nothing_leaks():
    model, x = mlp(), torch.randn(256, 64)
    compressor = fewbit.Compressor(model, bits=2)
    for _ in range(3):
        with compressor:
            model(x).square().mean().backward()
    gone = weakref.ref(compressor)
    gc.collect()
    gc.disable()
    try:
        del compressor
        assert gone() is None, "no cycle"
    finally:
        gc.enable()


@pytest.mark.skipif(DEVICE != "cpu", reason="a measure of the CPU's memory")
def test_memory_stays_flat():
    model, x = mlp(), torch.randn(64, 64)
    compressor = fewbit.Compressor(model, bits=2)

    def steps(count):
        for _ in range(count):
            with compressor, fewbit.SavedBytes(model):
                loss = model(x).square().mean()
            loss.backward()
        compressor.report()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = steps(500)
    assert steps(10_000) - before < 8192, "KiB; a leaked tensor of each step would be 160 MiB"


@pytest.mark.skipif(DEVICE != "cpu", reason="CUDA forbids fork")
def test_workers_fork_while_a_scope_is_open():
    model = mlp()
    data = torch.utils.data.TensorDataset(torch.randn(512, 64))
    compressor = fewbit.Compressor(model, bits=8)
    seen = 0
    with compressor:
        for (x,) in torch.utils.data.DataLoader(data, batch_size=128, num_workers=2):
            seen += len(x)
            loss = model(x).square().mean()
    loss.backward()
    assert seen == 512 and compressor.sites()


def test_preview_and_plan():
    model, x = mlp(), torch.randn(256, 64)
    preview = fewbit.preview_budgets(lambda: model(x).square().mean(), model, bits=2)
    assert "aten::addmm of 2, argument" in preview.sites
    assert preview.rows[0].bits == 0.0
    assert [row.bytes for row in preview.rows[1:]] == sorted(row.bytes for row in preview.rows[1:])
    assert "exact" in str(preview) and "<table>" in preview._repr_html_()
    exact = preview.rows[0]
    assert exact.peak > exact.bytes > preview.rows[1].bytes
    plan = fewbit.plan_memory(lambda: model(x).square().mean(), model, kept_bytes=exact.bytes // 4)
    assert plan.fits and plan.bytes <= exact.bytes // 4 == plan.kept_budget
    compressor = fewbit.Compressor(model).follow(plan)
    saved = fewbit.SavedBytes(model)
    with saved, compressor:
        model(x).square().mean()
    assert saved.unique_bytes <= exact.bytes // 4 * 1.01


def test_plan_of_a_peak():
    model = torch.nn.Sequential(
        *[torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU())] * 6
    )
    x = torch.randn(4096, 64)
    exact = fewbit.peak_bytes(lambda: model(x).square().mean().backward())
    model.zero_grad()
    plan = fewbit.plan_memory(
        lambda: model(x).square().mean(), model, peak_bytes=exact // 2, bits=2
    )
    assert plan.fits and plan.peak_budget == exact // 2, str(plan)
    assert abs(plan.exact_peak - exact) < 0.05 * exact
    compressor = fewbit.Compressor(model, bits=2).follow(plan)

    def step():
        with compressor:
            loss = model(x).square().mean()
        loss.backward()
        model.zero_grad()

    for _ in range(3):
        assert abs(fewbit.peak_bytes(step) - plan.step_peak) < 0.05 * plan.step_peak
    with torch.profiler.profile(), pytest.raises(RuntimeError, match="a torch profiler records"):
        fewbit.peak_bytes(step)


def test_activation_and_randomized_scopes():
    model, x = mlp(), torch.randn(256, 64)
    with fewbit.ActivationScope(bits=2) as scope:
        loss = model(x).sum()
    loss.backward()
    assert [(entry.function, entry.replaced) for entry in scope.entries()] == [("gelu", True)]
    assert "gelu" in scope.report()
    with fewbit.RandomizedLinearScope(model, keep=0.25) as scope:
        loss = model(x).sum()
    loss.backward()
    assert any(entry.layer == "0.weight" for entry in scope.entries()), scope.report()
    table = fewbit.Table.standard("gelu", 3)
    assert fewbit.activation(x, table).shape == x.shape and len(table.levels) == 8


def test_a_traced_call_is_left_alone():
    from torch._subclasses.fake_tensor import FakeTensorMode

    model = mlp()
    compressor = fewbit.Compressor(model, bits=2)
    with compressor:
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            fake = mode.from_tensor(torch.randn(256, 64))
            model(fake)
        model(torch.randn(256, 64)).sum()
    assert compressor.sites()


def test_subclasses_of_tensors_stay_as_they_are():
    from torch.testing._internal.two_tensor import TwoTensor

    a, b = torch.randn(64, 64), torch.randn(64, 64)
    weight = torch.randn(64, 64, requires_grad=True)
    with fewbit.Compressor(bits=1) as compressor:
        x = TwoTensor(a, b).requires_grad_() * 1.0
        loss = ((x @ weight) * 2.0).sum()
    assert not compressor.sites(), compressor.report()
    loss.backward()
    assert torch.allclose(weight.grad.a, a.t() @ torch.full((64, 64), 2.0), atol=1e-4)
    assert torch.allclose(weight.grad.b, b.t() @ torch.full((64, 64), 2.0), atol=1e-4)


def test_an_out_of_memory_error_tells_what_was_saved():
    model, x = mlp(), torch.randn(4096, 64)
    with (
        pytest.raises(RuntimeError, match=r"DefaultCPUAllocator|CUDA out of memory") as caught,
        fewbit.explain_oom(model),
    ):
        hidden = model(x)
        hidden.new_empty(1 << 60)
    message = str(caught.value)
    assert "autograd had saved" in message and "Addmm" in message
    assert "fewbit.Compressor(model, bits=2)" in message
    with pytest.raises(ValueError, match=r"^other$"), fewbit.explain_oom(model):
        raise ValueError("other")
    with pytest.raises(RuntimeError, match=r"^other$"), fewbit.explain_oom(model):
        raise RuntimeError("other")
