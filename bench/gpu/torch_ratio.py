"""torch_ratio.py LIBRARY [--exponent E] [--out FOLDER]: our kernels (libfewbit_gpu_c.so) beside
torch's exact GELU, SiLU and tanh and their backward, and beside torch.compile of the same, in one
process, on the same tensors and stream. Exit 77 where torch sees no GPU.

A pair is a forward and a backward pass. Every figure is a median of CUDA events with the caches
emptied before; torch's time over ours, more is better."""

import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time

BITS = 3
TYPES = ("float32", "bfloat16", "float16")  # in the order of ElementType


def load(path):
    library = ctypes.CDLL(path)
    for name in ("fewbit_forward", "fewbit_backward"):
        getattr(library, name).argtypes = [
            ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
            ctypes.c_void_p, ctypes.c_longlong, ctypes.c_void_p]
    return library


class Timer:
    def __init__(self, torch):
        self.torch = torch
        self.flush = torch.zeros(1 << 28, dtype=torch.uint8, device="cuda")
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def once(self, call):
        self.flush.max()  # reads it
        self.torch.cuda._sleep(500_000)  # cycles in which the host gets ahead of the GPU
        self.begin.record()
        call()
        self.end.record()
        self.end.synchronize()
        return 1e-3 * self.begin.elapsed_time(self.end)

    def seconds(self, call, times=15):
        call()  # may compile, while the GPU's clock goes down
        self.torch.cuda.synchronize()
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            self.once(call)
        return statistics.median(self.once(call) for _ in range(times))


class Ours:
    """Our two passes over given tensors, as calls without arguments."""

    def __init__(self, torch, library, function, x, dy):
        self.torch, self.library, self.function, self.x, self.dy = torch, library, function, x, dy
        self.type = TYPES.index(str(x.dtype).split(".")[1])
        count = x.numel()
        self.codes = torch.empty((count * BITS // 8 + 15) // 16 * 16 + 16, dtype=torch.uint8,
                                 device="cuda")
        self.y, self.dx = torch.empty_like(x), torch.empty_like(x)

    def call(self, entry, *pointers):
        stream = self.torch.cuda.current_stream().cuda_stream
        status = entry(self.function.encode(), BITS, self.type, *pointers, self.x.numel(), stream)
        if status != 0:
            sys.exit(f"{self.function}: CUDA error {status}")

    def forward(self):
        self.call(self.library.fewbit_forward, self.x.data_ptr(), self.y.data_ptr(),
                  self.codes.data_ptr())

    def backward(self):
        self.call(self.library.fewbit_backward, self.dy.data_ptr(), self.codes.data_ptr(),
                  self.dx.data_ptr())


def torch_passes(torch):
    """Function -> (forward of x, backward of dy, x and y) of torch's own operations."""
    aten, functional = torch.ops.aten, torch.nn.functional
    return {
        "gelu": (functional.gelu, lambda dy, x, y: aten.gelu_backward(dy, x)),
        "silu": (functional.silu, lambda dy, x, y: aten.silu_backward(dy, x)),
        "tanh": (torch.tanh, lambda dy, x, y: aten.tanh_backward(dy, y)),
    }


def check(torch, ours, name, forward, backward):
    """Ours is the same function, and its gradient is near: a benchmark of something else is none."""
    ours.forward()
    ours.backward()
    exact = forward(ours.x)
    error = (ours.y.float() - exact.float()).abs().max().item()
    slope = (ours.dx.float() - backward(ours.dy, ours.x, exact).float()).abs().mean().item()
    if not error < 0.05 or not slope < 0.05:
        sys.exit(f"{name}: values differ by {error}, gradients by {slope} on average")


def measure(torch, library, exponent, done):
    """`done` is called with the rows so far."""
    timer, rows = Timer(torch), []
    for dtype in TYPES:
        x = torch.randn(1 << exponent, device="cuda").to(getattr(torch, dtype))
        dy = torch.randn(1 << exponent, device="cuda").to(x.dtype)
        for name, (forward, backward) in torch_passes(torch).items():
            ours = Ours(torch, library, name, x, dy)
            check(torch, ours, name, forward, backward)
            y = forward(x)
            torch.compiler.reset()
            rows.append({
                "function": name, "type": dtype, "bits": BITS, "count": 1 << exponent,
                "ours": [timer.seconds(ours.forward), timer.seconds(ours.backward)],
                "torch": [timer.seconds(lambda: forward(x)),
                          timer.seconds(lambda: backward(dy, x, y))],
                "compiled": compiled_seconds(torch, timer, forward, backward, dy, x, y)})
            done(rows)
    return rows


def compiled_seconds(torch, timer, forward, backward, dy, x, y):
    """Of torch.compile's two passes; empty where it cannot."""
    try:
        compiled_forward = torch.compile(lambda x: forward(x))
        compiled_backward = torch.compile(backward)
        return [timer.seconds(lambda: compiled_forward(x)),
                timer.seconds(lambda: compiled_backward(dy, x, y))]
    except Exception as error:  # whatever its backends raise
        print(f"torch.compile failed: {error}", file=sys.stderr)
        return []


def markdown(torch, rows):
    lines = [f"# Few-bit activations beside torch {torch.__version__} on "
             f"{torch.cuda.get_device_name()}", "",
             f"`scripts/gpu`; {rows[0]['count']} elements, {BITS} bits; torch's time over ours, more "
             "is better.", "",
             "| function | type | forward | backward | pair | compiled forward | compiled backward "
             "| compiled pair |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        ours, cells = row["ours"], []
        for peer in (row["torch"], row["compiled"]):
            ratios = [peer[0] / ours[0], peer[1] / ours[1], sum(peer) / sum(ours)] if peer else []
            cells += [f"{ratio:.2f}" for ratio in ratios] or ["-"] * 3
        lines.append(f"| {row['function']} | {row['type']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--exponent", type=int, default=28)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        sys.exit(77)

    def write(rows):
        if arguments.out:
            (arguments.out / "torch.md").write_text(markdown(torch, rows))
            (arguments.out / "torch.json").write_text(json.dumps(rows, indent=1) + "\n")

    rows = measure(torch, load(arguments.library), arguments.exponent, write)
    print(markdown(torch, rows), end="")


main()
