"""What the tests of emitted Python modules share: loading them, and the C++ headers' results."""

import importlib.util
import pathlib
import sys

SKIPPED = 77  # the exit code that ctest knows as skipped

try:
    import torch
except ImportError:
    print(f"skipped: {sys.executable} has no torch; scripts/setup makes an environment that has")
    sys.exit(SKIPPED)

FOLDER = pathlib.Path(sys.argv.pop(1))
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
TABLES = sorted(path.name[: -len(".float32.x")] for path in FOLDER.glob("*.float32.x"))
FUNCTIONS = sorted(path.stem for path in (FOLDER / "functions").glob("*.x"))


def load(name):
    """The emitted module in file `name`, once."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def array(name, dtype):
    """A raw array that emit_reference wrote."""
    return torch.frombuffer(bytearray((FOLDER / name).read_bytes()), dtype=dtype)


def reference(table, kind):
    """x of type `kind`, with y in float32 and the codes that the C++ header makes of it."""
    stem = f"{table}.{kind}"
    x = array(f"{stem}.x", torch.float32)
    return x.to(DTYPES[kind]), array(f"{stem}.y", torch.float32), array(f"{stem}.codes", torch.uint8)


def excess(actual, expected, x):
    """The largest error in units of max(ulp of the result, 2^-25 max(1, |x|)); equal NaN and
    infinities have none."""
    actual, expected, x = actual.double(), expected.double(), x.double()
    ulp = torch.exp2(torch.floor(torch.log2(expected.abs().clamp(min=2.0**-126))) - 23)
    unit = torch.maximum(ulp, 2.0**-25 * x.abs().clamp(1.0, 16.0))
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    error = torch.where(same, 0.0, (actual - expected).abs() / unit)
    return float(error.nan_to_num(nan=float("inf")).max())


class SharedTests:
    """What holds of an emitted module in either language: for a TestCase that has `open(name)`, its
    module without the language in its name, `device` and `draws`, how many are enough and quick."""

    def test_two_tables_of_one_function_live_side_by_side(self):
        first, second = self.open("layer0"), self.open("layer1")
        self.assertNotEqual(first._NAMESPACE, second._NAMESPACE)
        x = torch.full((9,), -1.0, device=self.device).requires_grad_()
        slopes = [torch.autograd.grad(m.activation(x).sum(), x)[0][0].item() for m in (first, second)]
        self.assertAlmostEqual(slopes[0], first.LEVELS[0], 6)
        self.assertAlmostEqual(slopes[1], second.LEVELS[0], 6)

    def test_mean_gradient_of_an_unbiased_table_is_the_derivative(self):
        torch.manual_seed(1)
        module = self.open("silu_unbiased")
        for value in (-2.0, -0.3, 0.4, 1.1, 2.5):
            x = torch.full((self.draws,), value, device=self.device).requires_grad_()
            dx = torch.autograd.grad(module.activation(x).sum(), x)[0]
            exact = torch.tensor(value, dtype=torch.float64).requires_grad_()
            slope = torch.autograd.grad(torch.nn.functional.silu(exact), exact)[0].item()
            # Levels are 0.42 apart: at most 0.21 per draw, five standard errors.
            self.assertAlmostEqual(dx.mean().item(), slope, delta=5 * 0.21 / self.draws**0.5)

    def test_seed_of_torch_makes_draws_repeat(self):
        module = self.open("silu_unbiased")
        x = torch.randn(1000, device=self.device).requires_grad_()
        draws = []
        for seed in (3, 3, 4):
            torch.manual_seed(seed)
            draws.append(torch.autograd.grad(module.activation(x).sum(), x)[0])
        self.assertTrue(torch.equal(draws[0], draws[1]))
        self.assertFalse(torch.equal(draws[0], draws[2]))
