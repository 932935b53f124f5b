"""Torch's own checks of the operations: schemas, autograd, meta kernels, symbolic sizes."""

import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

torch.ops.load_library(sys.argv[1])
ops = torch.ops.fewbit
levels = [0.0, 0.25, 0.75, 1.0]
table = ([-1.0, 0.0, 1.0], [0, 1, 2, 3], levels)
unbiased = ([], [], levels)


def check(operation, *arguments):
    torch.library.opcheck(operation, arguments)


images = torch.randn(4, 3, 6, 5).to(memory_format=torch.channels_last)
for x in torch.randn(5, 70), images, images[:, :2], torch.randn(1, 6).expand(5, 6):
    for dtype in torch.float32, torch.bfloat16:
        x = x.to(dtype)
        check(ops.activation_value.default, x, "gelu", [])
        check(ops.activation_forward.default, x, "gelu", [], *table)
        _, stream = ops.activation_forward(x, "gelu", [], *table)
        check(ops.activation_backward.default, torch.ones_like(x), stream, levels)
        check(ops.activation_backward_.default, torch.ones_like(x), stream, levels)
        for input in x, x.clone().requires_grad_():
            check(ops.activation.default, input, "gelu", [], *table)
            check(ops.activation.builtin, input, "gelu", "levels_normal_b3")
            check(ops.activation.default, input, "gelu", [], *unbiased, False, torch.tensor([7]))
            check(ops.activation.default, input, "gelu", [], *table, False, None, False, True)

# Codes of saved tensors.
seed = torch.tensor([7])
# Another one in every call, so that results are not compared.
torch.library.opcheck(
    ops.next_seed.default, (seed,), test_utils=("test_schema", "test_faketensor")
)
for x in torch.randn(5, 70), images, images[:, :2]:
    check(ops.sign_encode.default, x)
    check(ops.sign_decode.default, ops.sign_encode(x), x.numel(), torch.bool)
    integers = x.mul(100).to(torch.int64)
    check(ops.integer_encode.default, integers, -1000, 11)
    check(ops.integer_decode.default, ops.integer_encode(integers, -1000, 11), x.numel(), -1000, 11,
          torch.int64)
    for dtype in torch.float16, torch.float64:
        for rounding in "nearest", "dithered", "squares":
            check(ops.group_encode.default, x.to(dtype), 3, 64, rounding, seed, 5)
            encoded = ops.group_encode(x.to(dtype), 3, 64, rounding, seed, 5)
            check(ops.group_decode.default, *encoded, x.numel(), 3, 64, rounding, dtype, seed, 5)
            bits = torch.arange(1, len(x) + 1, dtype=torch.uint8)
            count = x[0].numel()
            bytes = sum(-(-count * b // 128) * 16 for b in bits.tolist())
            arguments = x.to(dtype), bits, bytes, 64, rounding, seed, 5
            check(ops.group_encode_samples.default, *arguments)
            encoded = ops.group_encode_samples(*arguments)
            check(ops.group_decode_samples.default, *encoded, bits, count, 64, rounding, dtype,
                  seed, 5)

        if dtype != torch.float64:
            run, signs = x.to(dtype).contiguous(), ops.sign_encode(x.contiguous())
            check(ops.class_maps.default, run, signs, 1, 2, 0)
            there, back = ops.class_maps(run, signs, 1, 2, 0)
            check(ops.rotated_class_encode.default, run, signs, 1, there, 3, 64, 4, seed, 5)
            codes = ops.rotated_class_encode(run, signs, 1, there, 3, 64, 4, seed, 5)
            check(ops.rotated_class_decode.default, *codes, x.numel(), signs, 1, back, 3, 64, 4,
                  dtype, seed, 5)
            statistics, weights = torch.randn(2, 7), torch.randn(4, 5)
            check(ops.normal_bins_encode.default, run, statistics, 3, weights, 1, 3)
            codes = ops.normal_bins_encode(run, statistics, 3, weights, 1, 3)
            check(ops.normal_bins_decode.default, codes, x.numel(), statistics, 3, weights, 1, 3,
                  dtype)
        check(ops.rotated_encode.default, x.to(dtype), 3, 64, 4, seed, 5)
        encoded = ops.rotated_encode(x.to(dtype), 3, 64, 4, seed, 5)
        check(ops.rotated_decode.default, *encoded, x.numel(), 3, 64, 4, dtype, seed, 5)
        codes, constants = ops.rotated_encode(x.to(dtype), 3, 64, 0, seed, 5)
        check(ops.rotated_encode_together.default, [x.to(dtype)], 3, 64, seed, [5], [codes],
              [constants])
        check(ops.rotated_decode_together.default, [codes] * 2, [constants] * 2, [x.numel()] * 2, 3,
              64, dtype, seed, [5, 6])

# Beside directions of channels. torch's check of schemas computes with arguments, of which it cannot
# multiply float8.
fakes = ("test_faketensor",)
x, basis = torch.randn(40, 64, 6), torch.zeros(2, 64).to(torch.float8_e4m3fn)
form = (64, 6, 4, 2, 256, 0)
arguments = x, basis, *form, seed, 5
torch.library.opcheck(ops.rotated_low_rank_encode.default, arguments, test_utils=fakes)
encoded = ops.rotated_low_rank_encode(x, basis, *form, seed, 5)
for begin, end in (0, x.numel()), (1000, 3000):
    arguments = *encoded, basis, x.numel(), *form, x.dtype, seed, 5, begin, end
    torch.library.opcheck(ops.rotated_low_rank_decode.default, arguments, test_utils=fakes)

# What torch computes, with other things kept.
for input in torch.randn(5, 70), torch.randn(5, 70, requires_grad=True):
    check(ops.log_softmax.default, input, 1)
    heads = [input.reshape(1, 5, 10, 7) * factor for factor in (1, 2, 3)]
    check(ops.attention.default, *heads)
    check(ops.attention.default, *heads, None, 0.0, True)
    for mask in torch.rand(10, 10) > 0.3, torch.randn(10, 1).expand(1, 5, 10, 10):
        check(ops.attention.default, *heads, mask)

for x in torch.randn(40, 6), torch.randn(4, 10, 6, dtype=torch.bfloat16):
    weight, bias = torch.randn(5, 6, dtype=x.dtype), torch.randn(5, dtype=x.dtype)
    for projection in "gaussian", "rademacher", "dct", "rows":
        check(ops.project_rows.default, x.reshape(40, 6), 9, projection, seed)
        for grad in False, True:
            check(ops.randomized_linear.default, x.clone().requires_grad_(grad),
                  weight.clone().requires_grad_(grad), bias if projection == "dct" else None, 9,
                  projection, seed)

# Sizes stay symbolic through forward, autograd and backward: nothing was assumed about them.
shapes = ShapeEnv()
mode = FakeTensorMode(shape_env=shapes)
free = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * 2)
x = mode.from_tensor(torch.randn(5, 70), symbolic_context=free).requires_grad_()
with mode:
    ops.activation(x, "gelu", [], *table).sum().backward()
    count = x.numel()
    ops.group_decode(*ops.group_encode(x, 2, 64, "nearest"), count, 2, 64, "nearest", x.dtype)
    bits = x.detach()[:, 0].to(torch.uint8)
    encoded = ops.group_encode_samples(x, bits, count, 64, "nearest")
    ops.group_decode_samples(*encoded, bits, x.shape[1], 64, "nearest", x.dtype)
    seed = torch.zeros(1, dtype=torch.int64)
    ops.rotated_decode(*ops.rotated_encode(x, 2, 64, 8, seed, 0), count, 2, 64, 8, x.dtype, seed, 0)
    ops.sign_decode(ops.sign_encode(x), count, x.dtype)
    weight = x.detach().clone().requires_grad_()
    ops.randomized_linear(x, weight, None, 2, "rademacher", seed).sum().backward()
    places = x.detach().to(torch.int64)
    ops.integer_decode(ops.integer_encode(places, 0, 5), count, 0, 5, torch.int64)
assert x.grad.shape == x.shape and not shapes.guards, shapes.guards


# A graph holds tables by name and draws anew at every run.
def model(x):
    return ops.activation.builtin(x, "gelu", "unbiased_normal_b2") * 2


compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
x = torch.randn(4000).requires_grad_()
gradients = []
for _ in range(2):
    x.grad = None
    compiled(x).sum().backward()
    gradients.append(x.grad)
assert torch.allclose(compiled(x), 2 * torch.nn.functional.gelu(x), atol=1e-5)
assert not torch.equal(*gradients)
