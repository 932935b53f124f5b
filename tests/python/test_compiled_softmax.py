"""What graphs save of a softmax: its results, in place of the logits or scores that it takes."""

import pytest
import torch
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table

import fewbit
from fewbit import _graph_hooks
from small import DEVICE, gradient_of, relative

F = torch.nn.functional
WORDS = 2048
AS_IS = make_boxed_func


def decomposed(graph, inputs):
    """As inductor does it, softmax is made of its exponentials; but nothing is compiled."""
    return aot_autograd(
        fw_compiler=lambda module, _: AS_IS(module),
        bw_compiler=lambda module, _: AS_IS(module),
        decompositions=select_decomp_table,
        partition_fn=min_cut_rematerialization_partition,
    )(graph, inputs)


BACKENDS = ["aot_eager", decomposed]


@pytest.fixture(autouse=True)
def nothing_compiled():
    torch._dynamo.reset()
    _graph_hooks._hooks.clear()
    torch.manual_seed(1)


class Head(torch.nn.Module):
    """Logits of words, and the loss of targets that are drawn of them."""

    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.words = torch.nn.Linear(64, WORDS, device=DEVICE, dtype=dtype)
        self.words.weight.data.mul_(8)

    def forward(self, x, targets):
        return F.cross_entropy(self.words(x).float().view(-1, WORDS), targets.view(-1))

    def data(self, tokens=32):
        x = torch.randn(4, tokens, 64, device=DEVICE, dtype=self.words.weight.dtype)
        with torch.no_grad():
            return x, torch.distributions.Categorical(logits=self.words(x).float()).sample()


def step(model, data, compressor):
    with compressor:
        loss = model(*data)
    return gradient_of(model, loss)


@pytest.mark.parametrize("backend", BACKENDS, ids=["aot_eager", "decomposed"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_of_a_loss(backend, dtype):
    model = Head(dtype)
    data = model.data()
    exact = gradient_of(model, model(*data)).float()
    model.compile(backend=backend)
    compressor = fewbit.Compressor(model, bits=2)
    gradients = torch.stack([step(model, data, compressor).float() for _ in range(40)])
    (site,) = (site for site in compressor.compiled_sites() if site.elements == 128 * WORDS)
    assert (site.operation, site.stored) == ("aten.exp", "rotated, 4 bits"), site
    deviation = (gradients - gradients.mean(0)).square().sum(1).mean().sqrt()
    rounding = 0.005 * exact.norm() if dtype == torch.bfloat16 else 0
    assert deviation < 0.15 * exact.norm()
    assert (gradients.mean(0) - exact).norm() < 2.5 * deviation / 40**0.5 + rounding


class Attention(torch.nn.Module):
    """Without torch's own operation: the scores are there, and a mask."""

    def __init__(self):
        super().__init__()
        self.projection = torch.nn.Linear(64, 3 * 64, device=DEVICE)
        self.mask = torch.ones(128, 128, dtype=torch.bool, device=DEVICE).tril()

    def forward(self, x):
        heads = self.projection(x).view(2, 128, 4, 48).transpose(1, 2)
        query, key, value = heads.chunk(3, -1)
        scores = query @ key.transpose(-1, -2) / 4
        scores = scores.masked_fill(~self.mask, torch.finfo(torch.float32).min)
        return (scores.softmax(-1) @ value).square().mean()


@pytest.mark.parametrize("backend", BACKENDS, ids=["aot_eager", "decomposed"])
def test_of_scores_that_are_masked(backend):
    model, data = Attention(), [torch.randn(2, 128, 64, device=DEVICE)]
    exact = gradient_of(model, model(*data))
    model.compile(backend=backend)
    compressor = fewbit.Compressor(model, bits=4)
    assert 0 < relative(step(model, data, compressor), exact) < 0.1
    sites = [site for site in compressor.compiled_sites() if site.elements == 8 * 128 * 128]
    assert sites and all(site.stored.startswith(("rotated", "mask")) for site in sites), sites


@pytest.mark.parametrize("backend", BACKENDS, ids=["aot_eager", "decomposed"])
def test_sizes_may_change(backend):
    model = Head()
    model.compile(backend=backend, dynamic=True)
    compressor = fewbit.Compressor(model, bits=4)
    step(model, model.data(), compressor)
    fewer = model.data(20)
    with torch.compiler.set_stance("fail_on_recompile"):
        coded = step(model, fewer, compressor)
    assert 0 < relative(coded, gradient_of(model, model(*fewer))) < 0.1


@pytest.mark.parametrize("rule", ["words", "aten::exp"])
def test_rules_keep_it_exact(rule):
    model = Head()
    data = model.data()
    exact = gradient_of(model, model(*data))
    model.compile(backend=decomposed)
    compressor = fewbit.Compressor(model, bits=2, rules={rule: "exact"})
    assert relative(step(model, data, compressor), exact) < 1e-5


class Mixed(torch.nn.Module):
    """Weights that sum to one: backward takes the exponential of a parameter again."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(64, WORDS, device=DEVICE))

    def forward(self, x):
        return (self.weight.log_softmax(1) * x).sum()


def test_parameters_stay_exact():
    """They are there anyway."""
    model, data = Mixed(), [torch.randn(64, WORDS, device=DEVICE)]
    exact = gradient_of(model, model(*data))
    model.compile(backend=decomposed)
    compressor = fewbit.Compressor(bits=2)
    assert relative(step(model, data, compressor), exact) < 1e-5
    assert not any(site.operation == "aten.exp" for site in compressor.compiled_sites())
