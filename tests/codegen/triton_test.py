"""triton_test.py FOLDER: the modules that `emit --lang triton` writes. Their kernels are run by
Triton's interpreter on the CPU, where torch stands in for libdevice, which it lacks, and compiled for
an sm_90, which needs no GPU. With --gpu they run on the GPU that is there."""

import os
import pathlib
import subprocess
import sys
import unittest

ON_GPU = "--gpu" in sys.argv
if ON_GPU:
    sys.argv.remove("--gpu")
else:
    os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported

try:
    import triton
except ImportError:
    print(f"skipped: {sys.executable} has no triton")
    sys.exit(77)

from emitted_python import DTYPES, FOLDER, FUNCTIONS, TABLES, SharedTests
from emitted_python import array, excess, load, reference, torch

DEVICE = "cuda" if ON_GPU else "cpu"


class TorchLibrary:
    """libdevice by torch, for the interpreter, whose tensors are NumPy arrays."""

    def __getattr__(self, name):
        function = {"rint": torch.round, "erfcx": torch.special.erfcx}.get(name) or getattr(torch, name)

        def call(x, *rest):
            result = function(torch.from_numpy(x.handle.data), *rest).numpy()
            return triton.language.tensor(type(x.handle)(result, x.handle.dtype), x.type)

        return call


def kernels(name):
    module = load(name)
    if not ON_GPU:
        module.libdevice = TorchLibrary()
        module._GROUPS = 8192  # or the interpreter would take minutes
    return module


def has_interpreter_fault(x):
    """Where the interpreter reads a bfloat16 wrongly: subnormal ones become something else. It also
    cuts results of that type off instead of rounding them."""
    subnormal = (x != 0) & (x.abs() < torch.finfo(x.dtype).tiny)
    return subnormal & (x.dtype == torch.bfloat16 and not ON_GPU)


class Tables(unittest.TestCase):
    def test_codes_are_those_of_the_header_bit_for_bit(self):
        self.assertGreater(len(TABLES), 10)
        for table in TABLES:
            for kind in DTYPES:
                with self.subTest(table=table, kind=kind):
                    x, y, codes = reference(table, kind)
                    module = kernels(f"{table}_triton")
                    operations = getattr(torch.ops, module._NAMESPACE)
                    value, packed = operations.forward(x.to(DEVICE))
                    fault = has_interpreter_fault(x)
                    if fault.any():
                        unpack = load(f"{table}_torch")._unpack
                        packed, codes = unpack(packed, len(x))[~fault], unpack(codes, len(x))[~fault]
                    self.assertTrue(torch.equal(packed.cpu(), codes))
                    unit = {"float32": 4, "float16": 2**14, "bfloat16": 2**17}[kind]
                    self.assertLessEqual(excess(value.cpu(), y.to(DTYPES[kind]), x), unit)

    def test_gradient_is_that_of_the_torch_module(self):
        for table in TABLES:
            for dtype in DTYPES.values():
                for n in (0, 1, 41, 125, 3000):
                    x = torch.linspace(-4, 4, n).to(dtype)
                    dy = torch.linspace(-1, 2, n).to(dtype)
                    gradients = []
                    for name, device in ((f"{table}_triton", DEVICE), (f"{table}_torch", "cpu")):
                        leaf = x.to(device).requires_grad_()
                        y = kernels(name).activation(leaf)
                        gradients.append(torch.autograd.grad(y, leaf, dy.to(device))[0].cpu())
                    with self.subTest(table=table, dtype=dtype, n=n):
                        if dtype == torch.bfloat16 and not ON_GPU:
                            torch.testing.assert_close(*gradients, rtol=2**-7, atol=1e-37)
                        else:
                            self.assertTrue(torch.equal(*gradients))

    def test_strides_are_those_of_x(self):
        module = kernels("gelu_b3_triton")
        base = torch.randn(2, 6, 4, 5, device=DEVICE)
        channels_last = base.to(memory_format=torch.channels_last)
        for x in (channels_last, base[:, 1:4, ::2], base.permute(2, 0, 1, 3)):
            leaf = x.detach().requires_grad_()
            y = module.activation(leaf)
            self.assertEqual(y.stride(), torch.nn.functional.gelu(x).stride())
            self.assertTrue(torch.equal(y, module.activation(x.contiguous())))
            self.assertEqual(torch.autograd.grad(y.sum(), leaf)[0].shape, x.shape)

    def test_double_backward_is_refused_by_name(self):
        module = kernels("gelu_b3_triton")
        x = torch.randn(9, device=DEVICE).requires_grad_()
        dx = torch.autograd.grad(module.activation(x).sum(), x, create_graph=True)[0]
        with self.assertRaisesRegex(RuntimeError, f"{module._NAMESPACE}: double backward"):
            (dx**2).sum().backward()

    def test_other_types_are_refused_by_name(self):
        module = kernels("gelu_b3_triton")
        with self.assertRaisesRegex(TypeError, f"{module._NAMESPACE}: x is torch.float64"):
            module.activation(torch.ones(3, dtype=torch.float64))


class Shared(SharedTests, unittest.TestCase):
    device = DEVICE
    draws = 20000

    def open(self, name):
        return kernels(f"{name}_triton")


class Functions(unittest.TestCase):
    def test_values_are_accurate(self):
        self.assertGreater(len(FUNCTIONS), 20)
        for name in FUNCTIONS:
            module = kernels(f"functions/{name}_triton")
            x = array(f"functions/{name}.x", torch.float32)
            value = array(f"functions/{name}.value", torch.float64)
            near = x.abs() <= 64
            actual = module.activation(x.to(DEVICE)).cpu()
            with self.subTest(function=name):
                self.assertLessEqual(excess(actual[near], value[near], x[near]), 6)
                self.assertTrue(torch.equal(actual.isnan(), x.isnan()))

    def test_kernels_compile_for_a_gpu(self):
        """In a process of its own: this one's kernels are the interpreter's."""
        names = ["gelu_b3", "gelu_b8", "tanh_even", "relu_constant"]
        names += [f"functions/{name}" for name in FUNCTIONS]
        script = pathlib.Path(__file__).with_name("triton_compile.py")
        files = [str(FOLDER / f"{name}_triton.py") for name in names]
        environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
        run = subprocess.run(
            [sys.executable, script, *files], env=environment, capture_output=True, text=True
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, f"{len(files)} files compiled\n")


if __name__ == "__main__":
    unittest.main()
