"""What sites are called, and which operations have one."""

import pytest
import torch

import fewbit
from small import compressed_gradient, mlp, relative


class Product(torch.nn.Module):
    def forward(self, x):
        return of_helper(self, x) * x


def of_helper(module, x):
    return torch.tanh(x) * 2


def test_what_takes_no_parameter_has_the_name_of_the_module_that_runs():
    model = torch.nn.Sequential(mlp(), Product())
    x = torch.randn(256, 64)
    _, compressor = compressed_gradient(model, x, 2)
    names = {(site.operation, site.module) for site in compressor.sites()}
    assert ("aten::mul", "1") in names, names
    state = compressor.state_dict()
    again = fewbit.Compressor(model, bits=2)
    again.load_state_dict(state)
    for _ in range(2):
        with again:
            model(x).sum()
    assert {(site.operation, site.module) for site in again.sites()} == names


@pytest.mark.parametrize(("exponent", "is_coded"), [(2, 1), (3, 1), (4.0, 1), (5, 0), (2.5, 0)])
def test_low_whole_powers_are_coded_before_a_layer(exponent, is_coded):
    x = (torch.rand(64, 256) + 0.1).requires_grad_()
    layer = torch.nn.Linear(256, 256)
    exact = torch.autograd.grad(layer(x**exponent).sum(), x)[0]
    errors = []
    for bits in (2, 4, 8):
        compressor = fewbit.Compressor(bits=bits)
        for _ in range(2):
            with compressor:
                loss = layer((x * 1.0) ** exponent).sum()
            gradient = torch.autograd.grad(loss, x)[0]
        errors.append(relative(gradient, exact))
        coded = [site for site in compressor.sites() if site.operation == "aten::pow"]
        assert len(coded) == is_coded
    assert is_coded == (errors[0] > errors[1] > errors[2] > 0.0), errors
    assert errors[2] < 0.02


def test_a_cube_in_a_loss_stays_exact():
    x = torch.randn(64, 256, requires_grad=True)
    exact = torch.autograd.grad((x - 0.1).pow(3).mean(), x)[0]
    compressor = fewbit.Compressor(bits=2)
    with compressor:
        loss = (x - 0.1).pow(3).mean()
    assert torch.equal(torch.autograd.grad(loss, x)[0], exact)
    assert {site.operation for site in compressor.sites() if site.error > 0} == set()


def test_a_forward_without_gradients_tells_no_names():
    model, x = torch.nn.Sequential(mlp(), Product()), torch.randn(256, 64)
    compressor = fewbit.Compressor(model, bits=2)
    with compressor, torch.no_grad():
        model(x)
    with compressor:
        model(x).sum()
    assert ("aten::mul", "1") in {(site.operation, site.module) for site in compressor.sites()}


def test_a_quotient_that_stays_exact_says_why():
    x = torch.rand(64, 256, requires_grad=True)
    compressor = fewbit.Compressor(bits=2)
    with compressor:
        ((x + 1.0) / (x + 2.0)).sum()
    reasons = {one.operation: one.reason for one in compressor.left_alone()}
    assert reasons["aten::div"] == "its gradient divides by what it saves"
