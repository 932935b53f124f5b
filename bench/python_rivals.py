"""Other ways to keep the inputs of linear layers, ten lines each, beside ours: the bits that they
take and the error of the weights' gradients, in a fine-tuned encoder. A page of bench/results. From
the root of the repository, after `cmake --preset ci`, with what python_pretrained.py needs, some
ten minutes on an idle machine:

    PYTHONPATH=build/ci/python .venv/bin/python bench/python_rivals.py
"""

import itertools
import platform
from collections.abc import Callable

import python_directions as networks
import python_pretrained as pretrained
import torch
import transformers

DRAWS = 16
GROUP = 256
DIRECTIONS = 16
COEFFICIENT_BITS = 4
PAGE = pretrained.RESULTS / "rivals.md"

Kept = tuple[torch.Tensor, int]  # what comes back of x [tokens, channels], and the bytes it took
Way = Callable[[torch.Tensor, torch.nn.Linear], Kept]


def bytes_of(*tensors: torch.Tensor) -> int:
    return sum(tensor.nbytes for tensor in tensors)


def seed() -> torch.Tensor:
    return torch.randint(2**62, (1,))


def rotated(bits: int, states: int = 0) -> Way:
    def keep(x: torch.Tensor, _: torch.nn.Linear) -> Kept:
        stream = seed()
        kept = torch.ops.fewbit.rotated_encode(x, bits, GROUP, states, stream, 0)
        back = torch.ops.fewbit.rotated_decode(
            *kept, x.numel(), bits, GROUP, states, x.dtype, stream, 0
        )
        return back.view_as(x), bytes_of(*kept)

    return keep


def beside_directions(bits: int) -> Way:
    """Of the layer's previous batch, as a Compressor has them of an earlier step. Its basis is one
    for all tensors of a site, and counted once a tensor here."""
    known: dict[torch.nn.Linear, torch.Tensor] = {}

    def found(x: torch.Tensor) -> torch.Tensor:
        vectors = torch.svd_lowrank(x, DIRECTIONS, niter=2)[2].t().contiguous()
        return (vectors * 256).to(torch.float8_e4m3fn)

    def keep(x: torch.Tensor, layer: torch.nn.Linear) -> Kept:
        basis = known.get(layer)
        known[layer] = found(x)
        if basis is None:
            basis = known[layer]
        form = (x.shape[1], 1, COEFFICIENT_BITS, bits, GROUP, 0)
        stream = seed()
        kept = torch.ops.fewbit.rotated_low_rank_encode(x, basis, *form, stream, 0)
        back = torch.ops.fewbit.rotated_low_rank_decode(
            *kept, basis, x.numel(), *form, x.dtype, stream, 0, 0, x.numel()
        )
        return back.view_as(x), bytes_of(*kept, basis)

    return keep


def steps_between_extremes(bits: int) -> Way:
    """ActNN's rounding (Chen et al., ICML 2021)."""

    def keep(x: torch.Tensor, _: torch.nn.Linear) -> Kept:
        stream = seed()
        kept = torch.ops.fewbit.group_encode(x, bits, GROUP, "stochastic", stream, 0)
        back = torch.ops.fewbit.group_decode(
            *kept, x.numel(), bits, GROUP, "stochastic", x.dtype, stream, 0
        )
        return back.view_as(x), bytes_of(*kept)

    return keep


def to_e2m1(x: torch.Tensor) -> torch.Tensor:
    """To the nearest of 0, .5, 1, 1.5, 2, 3, 4, 6, in either sign."""
    levels = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    index = torch.bucketize(x.abs(), (levels[1:] + levels[:-1]) / 2)
    return levels[index].copysign(x)


def mxfp4(x: torch.Tensor, _: torch.nn.Linear) -> Kept:
    """Blocks of 32 with a power of two (OCP Microscaling Formats, 1.0)."""
    blocks = x.reshape(-1, 32)
    greatest = blocks.abs().amax(1, keepdim=True).clamp_min(1e-30)
    scale = torch.exp2(greatest.log2().floor() - 2)
    return (to_e2m1(blocks / scale) * scale).view_as(x), x.numel() // 2 + len(blocks)


def nvfp4(x: torch.Tensor, _: torch.nn.Linear) -> Kept:
    """Blocks of 16 with a factor in e4m3, and one of the tensor."""
    blocks = x.reshape(-1, 16)
    of_all = x.abs().max() / (448 * 6)
    scale = (blocks.abs().amax(1, keepdim=True) / 6 / of_all).to(torch.float8_e4m3fn).to(x.dtype)
    scale = scale.clamp_min(2.0**-9) * of_all
    return (to_e2m1(blocks / scale) * scale).view_as(x), x.numel() // 2 + len(blocks) + 4


def low_rank(bits: float) -> Way:
    """The best of so low a rank, better than what LoRAct's sampling finds (Shi et al., 2025)."""

    def keep(x: torch.Tensor, _: torch.nn.Linear) -> Kept:
        tokens, channels = x.shape
        rank = round(bits * tokens * channels / (16 * (tokens + channels)))
        left, values, right = torch.linalg.svd(x, full_matrices=False)
        a = (left[:, :rank] * values[:rank]).bfloat16()
        b = right[:rank].bfloat16()
        return a.float() @ b.float(), bytes_of(a, b)

    return keep


def points(share: float) -> Way:
    """Each token a multiple of one of so many drawn ones: PAMM (Khalaf et al., 2025)."""

    def keep(x: torch.Tensor, _: torch.nn.Linear) -> Kept:
        tokens = len(x)
        drawn = x[torch.randperm(tokens)[: max(round(share * tokens), 1)]].bfloat16()
        generators = drawn.float()
        products = x @ generators.t()
        squares = generators.square().sum(1).clamp_min(1e-30)
        nearest = (products.square() / squares).argmax(1)
        factors = (products.gather(1, nearest[:, None])[:, 0] / squares[nearest]).bfloat16()
        return factors.float()[:, None] * generators[nearest], bytes_of(drawn, factors) + 2 * tokens

    return keep


def width(bits: int) -> str:
    return f"{bits} bit" if bits == 1 else f"{bits} bits"


WAYS: tuple[tuple[str, Way], ...] = (
    *((f"rotated, {width(bits)}", rotated(bits)) for bits in (1, 2, 3, 4)),
    *((f"rotated, 4 states, {width(bits)}", rotated(bits, 4)) for bits in (1, 2, 4)),
    *(
        (f"rotated beside {DIRECTIONS} directions, {width(bits)}", beside_directions(bits))
        for bits in (1, 2, 3, 4)
    ),
    *((f"group, {width(bits)}", steps_between_extremes(bits)) for bits in (2, 4)),
    ("MXFP4", mxfp4),
    ("NVFP4", nvfp4),
    *((f"low rank, {width(bits)}", low_rank(bits)) for bits in (1, 2, 4)),
    *((f"points, one in {round(1 / share)}", points(share)) for share in (1 / 512, 1 / 16, 1 / 8)),
)


class KeptProduct(torch.autograd.Function):
    """x weight^T, whose weight gets its gradient by what comes back of x."""

    @staticmethod
    def forward(ctx, x, weight, kept):
        ctx.save_for_backward(weight, kept)
        return x @ weight.t()

    @staticmethod
    def backward(ctx, gradient):
        weight, kept = ctx.saved_tensors
        return gradient @ weight, gradient.flatten(0, -2).t() @ kept, None


class Replaced:
    """Linear layers of a model keep their inputs in another way while it is entered."""

    def __init__(self, model: torch.nn.Module, way: Way) -> None:
        self.layers = [m for m in model.modules() if isinstance(m, torch.nn.Linear)]
        self.way = way
        self.bytes = self.elements = 0

    def product(self, layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        kept, size = self.way(x.detach().flatten(0, -2).contiguous(), layer)
        self.bytes += size
        self.elements += x.numel()
        return KeptProduct.apply(x, layer.weight, kept) + layer.bias

    def __enter__(self) -> None:
        for layer in self.layers:
            layer.forward = lambda x, layer=layer: self.product(layer, x)

    def __exit__(self, *_: object) -> None:
        for layer in self.layers:
            del layer.forward


def gradient(of: networks.Trained, batch, scope=None) -> torch.Tensor:
    networks.gradient(of, batch, scope)
    layers = [m for m in of.model.modules() if isinstance(m, torch.nn.Linear)]
    return torch.cat([layer.weight.grad.flatten() for layer in layers])


def row_of(name: str, way: Way, of: networks.Trained, before, batch, exact: torch.Tensor) -> str:
    replaced = Replaced(of.model, way)
    gradient(of, before, replaced)
    replaced.bytes = replaced.elements = 0
    errors, mean = [], torch.zeros_like(exact)
    for _ in range(DRAWS):
        off = gradient(of, batch, replaced) - exact
        errors.append(float(off.norm() / exact.norm()))
        mean += off / DRAWS
    bits = 8 * replaced.bytes / replaced.elements
    of_mean = float(mean.norm() / exact.norm())
    return f"| {name} | {bits:.3g} | {sum(errors) / DRAWS:.3g} | {of_mean:.3g} |"


def main() -> None:
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(2)
    of = networks.encoder(batch=32)
    lines = [
        "# Other ways to keep the inputs of linear layers\n",
        f"`bench/python_rivals.py`: {of.title}. All else is exact. Bits: of an element, all that "
        "is kept. Error: of the gradients of all layers' weights in one batch, over their length, "
        f"the mean of {DRAWS} draws. Of the mean: the error of the mean of these {DRAWS} "
        "gradients, a quarter of it where there is no bias, and all of it where nothing is drawn. "
        f"torch {torch.__version__}, Python {platform.python_version()}.\n",
        "| way | bits | error | of the mean |",
        "|---|---|---|---|",
    ]
    before, batch = itertools.islice(of.batches, 2)
    exact = gradient(of, batch)
    for name, way in WAYS:
        lines.append(row_of(name, way, of, before, batch, exact))
        print(lines[-1], flush=True)
    lines.append(
        "\nRotated: `fewbit::rotated_encode` in groups of 256. Directions: of the batch before. "
        "Group: ActNN's. MXFP4, NVFP4: rounded to nearest. Low rank: the best of its rank in "
        "bfloat16, which LoRAct (Shi et al., 2025) comes near to. Points: as PAMM (Khalaf et al., "
        "2025) draws tokens."
    )
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
