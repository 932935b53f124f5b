"""Batches of gradients, and functorch: right, or refused by name."""

import sys
import warnings

import torch

warnings.simplefilter("ignore")  # vmap says that it runs our operations one by one
torch.ops.load_library(sys.argv[1])


def f(x):
    return torch.ops.fewbit.activation.builtin(x, "gelu", "levels_normal_b3")


def gradient(x, dy, layer=f):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(layer(x), x, dy)[0]


def check_batches(layer):
    x = torch.randn(4, 3).requires_grad_()
    y = layer(x)
    dy = torch.randn(5, *y.shape)
    batch = torch.autograd.grad(y, x, dy, is_grads_batched=True)[0]
    assert torch.equal(batch, torch.stack([gradient(x, d, layer) for d in dy]))
    jacobians = [
        torch.autograd.functional.jacobian(layer, x, vectorize=vectorize)
        for vectorize in (False, True)
    ]
    assert torch.equal(*jacobians)


for layer in (f, lambda x: f(x).sum(1), lambda x: f(x).t(), lambda x: f(x.t()).sum(0)):
    check_batches(layer)

x = torch.randn(4, 3)
exact = gradient(x, torch.ones(4, 3))
loss = lambda z: f(z).sum()
assert torch.equal(torch.func.grad(loss)(x), exact)
assert torch.equal(torch.vmap(torch.func.grad(loss))(x), exact)
assert torch.equal(torch.vmap(f)(x), f(x))
assert torch.equal(torch.vmap(f, in_dims=1, out_dims=1)(x), f(x))
z = x.clone().requires_grad_()
assert torch.equal(torch.autograd.grad(torch.vmap(f)(z).sum(), z)[0], exact)
assert torch.equal(torch.func.jacrev(f)(x).sum((0, 1)), exact)
assert torch.equal(torch.func.vjp(f, x)[1](torch.ones(4, 3))[0], exact)
assert torch.equal(torch.func.functionalize(f)(x), f(x))


def check_refused(call, words):
    try:
        call()
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"accepted, not refused with: {words}")


check_refused(lambda: torch.func.jvp(f, (x,), (x,)), "fewbit::activation: forward-mode")
check_refused(lambda: torch.func.linearize(f, x), "fewbit::activation: forward-mode")
check_refused(lambda: torch.func.hessian(loss)(x), "fewbit::activation: forward-mode")
check_refused(
    lambda: torch.func.jacrev(torch.func.grad(loss))(x), "fewbit::activation: double backward"
)
y, codes = torch.ops.fewbit.activation_forward(
    z, "gelu", [], [0.0], [0, 1], [0.0, 1.0]
)
check_refused(lambda: y.sum().backward(), "fewbit::activation_forward has no gradient")
dx = torch.ops.fewbit.activation_backward(z, codes, [0.0, 1.0])
check_refused(lambda: dx.sum().backward(), "fewbit::activation_backward has no gradient")
