"""torch_test.py FOLDER: the modules that `emit --lang torch` writes, against the C++ headers."""

import doctest
import subprocess
import sys
import unittest

from emitted_python import DTYPES, FUNCTIONS, TABLES, SharedTests
from emitted_python import array, excess, load, reference, torch


def saved_bytes(run):
    """The bytes of what autograd keeps while `run` makes its result, and the result."""
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = run()
    return sum(tensor.untyped_storage().nbytes() for tensor in kept), result


def codes_of(module, x):
    return getattr(torch.ops, module._NAMESPACE).forward(x)[1]


class Tables(unittest.TestCase):
    def test_codes_are_those_of_the_header_bit_for_bit(self):
        self.assertGreater(len(TABLES), 10)
        for table in TABLES:
            for kind in DTYPES:
                with self.subTest(table=table, kind=kind):
                    x, y, codes = reference(table, kind)
                    module = load(f"{table}_torch")
                    self.assertTrue(torch.equal(codes_of(module, x), codes))
                    unit = {"float32": 4, "float16": 2**14, "bfloat16": 2**17}[kind]
                    self.assertLessEqual(excess(module.activation(x), y.to(DTYPES[kind]), x), unit)

    def test_double_is_compared_with_the_thresholds_as_solved(self):
        for table in TABLES:
            module = load(f"{table}_torch")
            t = torch.tensor(module.THRESHOLDS, dtype=torch.float64)
            inf = torch.full_like(t, float("inf"))
            around = torch.cat([t, torch.nextafter(t, inf), torch.nextafter(t, -inf), -t])
            position = around.abs() if table == "tanh_even" else around
            interval = (position[:, None] > t[None, :]).sum(1)
            expected = torch.tensor(module.CODES)[interval]
            with self.subTest(table=table):
                packed = codes_of(module, around)
                self.assertTrue(torch.equal(module._unpack(packed, len(around)), expected.int()))

    def test_gradient_is_the_level_times_dy_in_the_type_of_x(self):
        for table in TABLES:
            for dtype in (*DTYPES.values(), torch.float64):
                module = load(f"{table}_torch")
                x = torch.linspace(-4, 4, 1001).to(dtype).requires_grad_()
                dy = torch.linspace(-1, 2, 1001).to(dtype)
                dx = torch.autograd.grad(module.activation(x), x, dy)[0]
                wide = torch.float64 if dtype == torch.float64 else torch.float32
                codes = module._unpack(codes_of(module, x.detach()), 1001).long()
                level = torch.tensor(module.LEVELS, dtype=wide)[codes]
                with self.subTest(table=table, dtype=dtype):
                    self.assertEqual(dx.dtype, dtype)
                    self.assertTrue(torch.equal(dx, (dy.to(wide) * level).to(dtype)))

    def test_nothing_but_the_codes_is_kept(self):
        for table in TABLES:
            module = load(f"{table}_torch")
            for n in (0, 1, 7, 8, 41, 125, 1000):
                x = torch.randn(n).requires_grad_()
                kept, y = saved_bytes(lambda: module.activation(x))
                bits = len(module.LEVELS).bit_length() - 1
                with self.subTest(table=table, n=n):
                    self.assertEqual(kept, -(-n * bits // 128) * 16)
                    self.assertEqual(torch.autograd.grad(y.sum(), x)[0].shape, (n,))


class Layouts(unittest.TestCase):
    def setUp(self):
        self.module = load("gelu_b3_torch")

    def test_shape_strides_and_values_do_not_depend_on_the_layout(self):
        base = torch.randn(4, 6, 8, 10)
        layouts = {
            "scalar": torch.tensor(0.7),
            "empty": torch.empty(3, 0, 2),
            "channels last": base.to(memory_format=torch.channels_last),
            "transposed": base.permute(3, 1, 0, 2),
            "slice": base[:, 1:5:2, ::3],
            "channels-last slice": base.to(memory_format=torch.channels_last)[:, 1:3],
            "expanded": base[:1, :, :1].expand(4, 6, 8, 10),
        }
        for name, x in layouts.items():
            with self.subTest(layout=name):
                leaf = x.detach().requires_grad_()
                y = self.module.activation(leaf)
                dx = torch.autograd.grad(y, leaf, torch.randn_like(y).to(x.dtype))[0]
                plain = self.module.activation(x.contiguous())
                self.assertTrue(torch.equal(y, plain.view(x.shape)))
                self.assertEqual(y.stride(), torch.nn.functional.gelu(x).stride())
                self.assertEqual(dx.shape, x.shape)

    def test_gradient_follows_its_elements_through_any_layout(self):
        x = torch.randn(5, 7, 3).permute(2, 0, 1).requires_grad_()
        dy = torch.randn(7, 3, 5).permute(1, 2, 0)
        dx = torch.autograd.grad(self.module.activation(x), x, dy)[0]
        flat = x.detach().contiguous().requires_grad_()
        expected = torch.autograd.grad(self.module.activation(flat), flat, dy.contiguous())[0]
        self.assertTrue(torch.equal(dx, expected))


class Torch(unittest.TestCase):
    def setUp(self):
        self.module = load("gelu_b3_torch")

    def test_operations_pass_the_checks_of_torch(self):
        operations = getattr(torch.ops, self.module._NAMESPACE)
        for x in (torch.randn(40), torch.randn(3, 4, 5, 6).to(memory_format=torch.channels_last)):
            x = x.requires_grad_()
            torch.library.opcheck(operations.forward.default, (x,))
            codes = operations.forward(x)[1]
            torch.library.opcheck(
                operations.backward.default,
                (torch.randn_like(x), codes),
                test_utils=("test_schema", "test_faketensor"),
            )

    def test_compiled_graphs_give_the_same(self):
        run = torch.compile(self.module.activation, backend="aot_eager", fullgraph=True)
        for shape in ((33,), (4, 9)):
            x = torch.randn(shape).requires_grad_()
            y = run(x)
            self.assertTrue(torch.equal(y, self.module.activation(x)))
            expected = torch.autograd.grad(self.module.activation(x).sum(), x)[0]
            self.assertTrue(torch.equal(torch.autograd.grad(y.sum(), x)[0], expected))

    def test_transforms_of_torch_func_give_the_same(self):
        func = torch.func
        for module in (self.module, load("silu_unbiased_torch")):
            def total(x):
                torch.manual_seed(1)
                return module.activation(x).sum()

            x = torch.linspace(-3, 3, 24)
            leaf = x.clone().requires_grad_()
            expected = torch.autograd.grad(total(leaf), leaf)[0]
            self.assertTrue(torch.equal(func.grad(total)(x), expected))
            self.assertTrue(torch.equal(func.vjp(total, x)[1](torch.tensor(1.0))[0], expected))
        rows = x.view(4, 6)
        total = lambda x: self.module.activation(x).sum()
        leaf = x.clone().requires_grad_()
        expected = torch.autograd.grad(total(leaf), leaf)[0]
        self.assertTrue(torch.equal(func.vmap(func.grad(total))(rows), expected.view(4, 6)))
        self.assertTrue(torch.equal(func.jacrev(self.module.activation)(x), expected.diag()))
        with self.assertRaisesRegex(RuntimeError, f"{self.module._NAMESPACE}: double backward"):
            func.grad(lambda x: func.grad(total)(x).sum())(x)

    def test_double_backward_is_refused_by_name(self):
        for dy in (torch.ones(9), torch.ones(9, requires_grad=True)):
            x = torch.randn(9).requires_grad_()
            y = self.module.activation(x)
            dx = torch.autograd.grad(y, x, dy, create_graph=True)[0]
            with self.assertRaisesRegex(RuntimeError, f"{self.module._NAMESPACE}: double backward"):
                (y.sum() + (dx**2).sum()).backward()

    def test_autocast_leaves_the_type_alone(self):
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.randn(50).to(dtype).requires_grad_()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = self.module.activation(x)
            self.assertEqual(y.dtype, dtype)
            self.assertTrue(torch.equal(y, self.module.activation(x)))
            self.assertEqual(torch.autograd.grad(y.sum(), x)[0].dtype, dtype)

    def test_inference_mode_before_training_does_no_harm(self):
        code = (
            "import sys, torch; sys.path.insert(0, sys.argv[1]); import gelu_b4_torch as m\n"
            "with torch.inference_mode(): m.activation(torch.randn(9))\n"
            "x = torch.randn(9, requires_grad=True); m.activation(x).sum().backward()\n"
        )
        folder = str(self.module.__file__).rsplit("/", 1)[0]
        subprocess.run([sys.executable, "-c", code, folder], check=True)

    def test_other_types_are_refused_by_name(self):
        for x in (torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.complex64),
                  torch.eye(3).to_sparse()):
            with self.assertRaisesRegex(TypeError, f"{self.module._NAMESPACE}: x is torch."):
                self.module.activation(x)

    def test_module_trains(self):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), self.module.Activation(), torch.nn.Linear(32, 1))
        x = torch.randn(256, 8)
        target = x[:, :1] * x[:, 1:2]
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        losses = []
        for _ in range(150):
            loss = ((model(x) - target) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.2 * losses[0])

    def test_example_of_the_docstring_holds(self):
        for name in ("gelu_b3_torch", "silu_unbiased_torch"):
            self.assertEqual(doctest.testmod(load(name)), (0, 5))


class Shared(SharedTests, unittest.TestCase):
    device = "cpu"
    draws = 100000

    def open(self, name):
        return load(f"{name}_torch")


class Unbiased(unittest.TestCase):
    def setUp(self):
        self.module = load("silu_unbiased_torch")

    def test_nan_gets_code_zero(self):
        nan = torch.full((9,), float("nan"))
        for dtype in (torch.float32, torch.float64):
            codes = self.module._encode(nan.to(dtype), torch.zeros(9))
            self.assertEqual(codes.tolist(), [0] * 9)


class Functions(unittest.TestCase):
    """Every function of the registry and its derivative, on all values of bfloat16."""

    def test_values_and_slopes_are_accurate(self):
        self.assertGreater(len(FUNCTIONS), 20)
        for name in FUNCTIONS:
            module = load(f"functions/{name}_torch")
            x = array(f"functions/{name}.x", torch.float32)
            value = array(f"functions/{name}.value", torch.float64)
            slope = array(f"functions/{name}.slope", torch.float32)
            near = x.abs() <= 64
            for what, of, expected, most in (("f", module._value, value, 6), ("f'", module._slope, slope, 12)):
                with self.subTest(function=name, what=what):
                    self.assertLessEqual(excess(of(x[near]), expected[near], x[near]), most)
                    self.assertTrue(torch.equal(of(x).isnan(), x.isnan()))

    def test_double_is_computed_in_double(self):
        for name in FUNCTIONS:
            module = load(f"functions/{name}_torch")
            x = array(f"functions/{name}.x", torch.float32).double()
            value = array(f"functions/{name}.value", torch.float64)
            near = x.abs() <= 16
            error = (module._value(x[near]) - value[near]).abs() / value[near].abs().clamp(min=1)
            with self.subTest(function=name):
                self.assertLess(error.max().item(), 1e-14)

    def test_branches_are_decided_in_the_type_of_x(self):
        value = load("own_steps_torch")._value
        for dtype in (torch.float32, torch.float64):
            inf = torch.tensor(float("inf"), dtype=dtype)
            near = torch.tensor([0.1, 0.7], dtype=dtype)
            x = torch.cat([near, torch.nextafter(near, inf), torch.nextafter(near, -inf)])
            step = [0 if t <= 0.1 else 1 if t < 0.7 else -1 for t in x.tolist()]
            with self.subTest(dtype=dtype):
                self.assertTrue(torch.equal(value(x), x + torch.tensor(step, dtype=dtype)))

    def test_left_tails_keep_their_digits(self):
        x = -torch.arange(1, 161, dtype=torch.float32) / 16
        for name in ("gelu", "silu", "sigmoid", "softplus", "mish", "quick_gelu"):
            actual = load(f"functions/{name}_torch")._value(x).double()
            exact = load(f"functions/{name}_torch")._value(x.double())
            with self.subTest(function=name):
                self.assertLess(((actual - exact) / exact).abs().max().item(), 1e-6)


if __name__ == "__main__":
    unittest.main()
