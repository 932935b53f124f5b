"""fewbit's activations, as functions and modules, and tables of one's own."""

import pickle

import pytest
import torch

import fewbit
from fewbit import _functional, _modules

ARGUMENTS = {"threshold": (0.1, -2.0)}


def torch_function(name):
    return getattr(torch.nn.functional, name, getattr(torch, name, None))


@pytest.mark.parametrize("name", [n for n in _functional.__all__ if torch_function(n)])
def test_functions_have_torchs_values_and_nearly_its_gradients(name):
    x = torch.linspace(-4, 4, 4001, requires_grad=True)
    arguments = ARGUMENTS.get(name, ())
    y, exact = getattr(fewbit, name)(x, *arguments), torch_function(name)(x, *arguments)
    torch.testing.assert_close(y, exact)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    (of_torch,) = torch.autograd.grad(exact.sum(), x)
    assert (gradient - of_torch).square().mean() < 0.04 * of_torch.square().mean()


@pytest.mark.parametrize("name", _modules.__all__)
def test_modules_say_their_options_and_can_be_pickled(name):
    arguments = ARGUMENTS["threshold"] if name == "Threshold" else ()
    module = getattr(fewbit.nn, name)(*arguments)
    x = torch.randn(100)
    assert torch.equal(pickle.loads(pickle.dumps(module))(x), module(x))
    assert not list(module.state_dict())
    if hasattr(torch.nn, name):
        theirs = getattr(torch.nn, name)(*arguments)
        torch.testing.assert_close(module(x), theirs(x))
        for option in set(vars(theirs)) & set(vars(module)) - set(vars(torch.nn.Module())):
            assert getattr(theirs, option) == getattr(module, option)


def test_options_are_torchs_and_bits_go_by_name():
    assert repr(fewbit.nn.ELU(0.5, bits=2)) == "ELU(alpha=0.5, bits=2)"
    assert repr(fewbit.nn.GELU("tanh")) == "GELU(approximate='tanh', bits=3)"
    x = torch.randn(50)
    torch.testing.assert_close(
        fewbit.hardshrink(x, lambd=0.3), torch.nn.functional.hardshrink(x, 0.3)
    )
    with pytest.raises(ValueError, match=r"approximate is 'erf', accepted: 'none', 'tanh'"):
        fewbit.gelu(x, "erf")
    with pytest.raises(TypeError):
        fewbit.nn.ELU(0.5, 2)
    with pytest.raises(RuntimeError, match="bits"):
        fewbit.gelu(x, bits=9)


def test_more_bits_come_nearer():
    x = torch.linspace(-5, 5, 2001, requires_grad=True)
    (exact,) = torch.autograd.grad(torch.nn.functional.gelu(x).sum(), x)
    errors = []
    for bits in (1, 2, 3, 4):
        (gradient,) = torch.autograd.grad(fewbit.gelu(x, bits=bits).sum(), x)
        errors.append(float((gradient - exact).norm()))
    assert errors == sorted(errors, reverse=True)


def own(x):
    return x * torch.sigmoid(1.7 * x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_function_of_ones_own_has_the_levels_of_its_table(dtype):
    table = fewbit.solve("x*sigmoid(1.7*x)", bits=2)
    x = torch.linspace(-6, 6, 1001).to(dtype).reshape(7, 143).requires_grad_()
    y = fewbit.activation(x, table, own)
    assert torch.equal(y, own(x))
    saved = y.grad_fn.saved_tensors[0]
    assert saved.numel() * saved.element_size() <= x.numel() * 2 / 8 + 8
    dy = torch.randn_like(y)
    y.backward(dy)
    intervals = [
        sum(t < v for t in table.thresholds) for v in x.detach().float().flatten().tolist()
    ]
    levels = torch.tensor([table.levels[table.codes[i]] for i in intervals], dtype=dtype)
    torch.testing.assert_close(x.grad, dy * levels.reshape(7, 143))


def test_a_function_of_ones_own_with_an_even_derivative_or_a_nan():
    table = fewbit.solve("x*x*x", bits=2)
    x = torch.tensor([-9.0, 9.0, torch.nan], requires_grad=True)
    fewbit.activation(x, table, lambda x: x**3).sum().backward()
    assert table.is_even and x.grad[0] == x.grad[1] == table.levels[-1]
    assert x.grad[2] == table.levels[table.codes[0]]


def test_a_function_of_ones_own_is_refused_where_it_is_none():
    table, x = fewbit.solve("x*sigmoid(1.7*x)", bits=2), torch.randn(6, requires_grad=True)
    with pytest.raises(ValueError, match=r"made \(\) of \(6,\)"):
        fewbit.activation(x, table, torch.sum)
    with pytest.raises(RuntimeError, match="unknown function 'own'"):
        fewbit.activation(x, table)
    unbiased = fewbit.solve("x*sigmoid(1.7*x)", bits=2, form="unbiased")
    with pytest.raises(ValueError, match="unbiased"):
        fewbit.activation(x, unbiased, own)


def test_solve_proves_what_it_solves():
    table = fewbit.solve("gelu", bits=3)
    assert table.function == "gelu" and table.bits == 3 and len(table.levels) == 8
    assert 0.99 * table.error < table.lower_bound <= table.error
    assert "lower_bound=" in repr(table)
    assert fewbit.solve("elu:alpha=0.5", levels=5).parameters == [0.5]
    assert len(fewbit.solve("elu:alpha=0.5", levels=5).levels) == 5
    narrow = fewbit.solve("gelu", bits=2, domain=(-1, 1), dtype="bf16")
    assert narrow.error < fewbit.solve("gelu", bits=2).error
    picture = table._repr_html_()
    assert picture.startswith("<svg") and "gelu, 3 bits" in picture
    assert "<pre>" in fewbit.Table.standard("gelu", 3)._repr_html_()


def test_solve_takes_inputs_that_were_seen():
    torch.manual_seed(1)
    seen = 0.2 * torch.randn(5000, dtype=torch.float64, requires_grad=True) + 1
    near, far = fewbit.solve("gelu", bits=2, weight=seen), fewbit.solve("gelu", bits=2)

    def error(table):
        x = seen.detach().float().requires_grad_()
        fewbit.activation(x, table).sum().backward()
        mine = x.grad.clone()
        x.grad = None
        torch.nn.functional.gelu(x).sum().backward()
        return float((mine - x.grad).norm())

    assert error(near) < 0.3 * error(far)


def test_solve_says_what_it_does_not_accept():
    for arguments, message in [
        (("gel", 2), "nearest: gelu"),
        (("x*sigmoi(x)", 2), "unknown function 'sigmoi'"),
        (("gelu", 12), "from 1 to 8"),
        (("gelu",), "no size given"),
    ]:
        with pytest.raises(ValueError, match=message):
            fewbit.solve(*arguments)
    with pytest.raises(ValueError, match="normal"):
        fewbit.solve("gelu", 2, weight="norml")
