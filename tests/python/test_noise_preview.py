"""The noise that codes add to gradients, beside what batches differ by."""

import pytest
import torch

import fewbit
import small


def batches_of(count: int, width: int = 64) -> list[torch.Tensor]:
    torch.manual_seed(2)
    return [torch.randn(32, width) for _ in range(count)]


def flat(model, loss):
    model.zero_grad()
    loss.backward()
    gradient = torch.cat([p.grad.flatten() for p in model.parameters()])
    model.zero_grad()
    return gradient.double()


def test_variance_and_error_are_those_of_gradients():
    model = small.mlp()
    batches = batches_of(24)

    def loss(batch):
        return (model(batch) - batch).square().mean()

    (row,) = fewbit.preview_noise(loss, batches, model, bits=(2,)).rows
    # Each by its definition: errors of one more draw, variances with and without.
    exact = torch.stack([flat(model, loss(batch)) for batch in batches])
    compressor = fewbit.Compressor(model, bits=2)
    coded = []
    for batch in batches[:5] + batches:
        with compressor:
            value = loss(batch)
        coded.append(flat(model, value))
    coded = torch.stack(coded[5:])
    variance = float(exact.var(dim=0).sum())
    added = float((coded - exact).square().sum(1).mean()) / variance
    assert row.added == pytest.approx(added, rel=0.15)
    # A coded gradient differs between batches by both.
    assert float(coded.var(dim=0).sum()) / variance == pytest.approx(1 + row.added, rel=0.1)
    assert row.standard_error < 0.2 * row.added
    assert row.saved_bytes == sum(site.bytes_after for site in compressor.sites())


def test_more_bits_add_less_and_fewest_bits_picks_one():
    model = small.mlp()
    noise = fewbit.preview_noise(
        lambda batch: model(batch).square().mean(), batches_of(4), model, bits=(4, 1, 2)
    )
    assert [row.bits for row in noise.rows] == [1, 2, 4]
    added = [row.added for row in noise.rows]
    assert added[0] > 2 * added[1] > 4 * added[2] > 0
    assert noise.fewest_bits(added[1]) == 2
    assert noise.fewest_bits(1e9) == 1
    with pytest.raises(ValueError, match=r"noise is 0, accepted: .* which 4 bits add"):
        noise.fewest_bits(0)
    lines = str(noise).splitlines()
    assert len(lines) == 4 and lines[0].split()[:2] == ["average", "bits"]
    assert len({len(line) for line in lines}) == 1
    assert "<table>" in noise._repr_html_()


def test_exact_rules_add_nothing():
    model = small.mlp()
    (row,) = fewbit.preview_noise(
        lambda batch: model(batch).square().mean(),
        batches_of(2),
        model,
        bits=(2,),
        rules={"*": "exact"},
    ).rows
    assert row.added == 0.0


def test_dropout_draws_the_same_for_all_passes():
    model = torch.nn.Sequential(small.mlp(), torch.nn.Dropout(0.5))
    (row,) = fewbit.preview_noise(
        lambda batch: model(batch).square().mean(),
        batches_of(3),
        model,
        bits=(2,),
        rules={"*": "exact"},
    ).rows
    assert row.added == 0.0


def test_model_and_generators_are_as_before():
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64), torch.nn.Dropout(0.1)
    )
    batches = batches_of(3)
    model(batches[0]).sum().backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    holders = [p.grad for p in model.parameters()]
    state = {name: value.clone() for name, value in model.state_dict().items()}
    generator = torch.get_rng_state()
    with torch.no_grad():  # whatever the caller has set
        fewbit.preview_noise(lambda batch: model(batch).square().mean(), batches, model, bits=(2,))
    assert torch.equal(torch.get_rng_state(), generator)
    for p, gradient, holder in zip(model.parameters(), gradients, holders, strict=True):
        assert p.grad is holder and torch.equal(p.grad, gradient)
    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name]), name


def test_frozen_and_unused_parameters():
    model = torch.nn.ModuleList([torch.nn.Linear(64, 64) for _ in range(3)])
    model[1].requires_grad_(False)
    noise = fewbit.preview_noise(
        lambda batch: model[1](model[0](batch)).square().mean(), batches_of(2), model, bits=(2,)
    )
    assert noise.rows[0].added > 0


def test_refuses_what_tells_nothing():
    model = small.mlp()
    with pytest.raises(ValueError, match="batches has 1, accepted: 2 or more"):
        fewbit.preview_noise(lambda batch: model(batch).sum(), batches_of(1), model)
    with pytest.raises(ValueError, match="loss gives no gradient to any parameter"):
        fewbit.preview_noise(
            lambda batch: batch.clone().requires_grad_().sum(), batches_of(2), model
        )
    with pytest.raises(ValueError, match=r"bits is 9, accepted: 0\.5 to 8"):
        fewbit.preview_noise(lambda batch: model(batch).sum(), batches_of(2), model, bits=(9,))


def test_equal_batches_have_no_noise_of_their_own():
    model = small.mlp()
    batch = batches_of(1)[0]
    (row,) = fewbit.preview_noise(
        lambda one: model(one).square().mean(), [batch, batch], model, bits=(2,)
    ).rows
    assert row.added > 1e3
