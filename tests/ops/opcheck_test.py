"""Torch's own checks of the operations: schemas, autograd, meta kernels, symbolic sizes."""

import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

torch.ops.load_library(sys.argv[1])
ops = torch.ops.fewbit
thresholds = torch.tensor([-1.0, 0.0, 1.0])
codes = torch.tensor([0, 1, 2, 3], dtype=torch.uint8)
levels = torch.tensor([0.0, 0.25, 0.75, 1.0])
table = (thresholds, codes, levels)


def check(operation, *arguments):
    torch.library.opcheck(operation, arguments)


def check_by_name(*arguments):
    # A trace cannot hold the table that the operation looks up.
    without_trace = ("test_schema", "test_autograd_registration")
    torch.library.opcheck(ops.activation.builtin, arguments, test_utils=without_trace)


images = torch.randn(4, 3, 6, 5).to(memory_format=torch.channels_last)
for x in torch.randn(5, 70), images, images[:, :2], torch.randn(1, 6).expand(5, 6):
    for dtype in torch.float32, torch.bfloat16:
        x = x.to(dtype)
        check(ops.activation_value.default, x, "gelu", [])
        check(ops.activation_forward.default, x, "gelu", [], *table)
        _, stream = ops.activation_forward(x, "gelu", [], *table)
        check(ops.activation_backward.default, torch.ones_like(x), stream, levels)
        for input in x, x.clone().requires_grad_():
            check(ops.activation.default, input, "gelu", [], *table)
            check_by_name(input, "gelu", "levels_normal_b3")

# Sizes stay symbolic through forward, autograd and backward: nothing was assumed about them.
shapes = ShapeEnv()
mode = FakeTensorMode(shape_env=shapes)
free = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * 2)
x = mode.from_tensor(torch.randn(5, 70), symbolic_context=free).requires_grad_()
fake_table = [mode.from_tensor(part, static_shapes=True) for part in table]
with mode:
    ops.activation(x, "gelu", [], *fake_table).sum().backward()
assert x.grad.shape == x.shape and not shapes.guards, shapes.guards
