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
        self.begin.record()
        call()
        self.end.record()
        self.end.synchronize()
        return 1e-3 * self.begin.elapsed_time(self.end)

    def seconds(self, call, times=15):
        for _ in range(3):
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


def measure(torch, library, exponent):
    timer, rows = Timer(torch), []
    for dtype in TYPES:
        x = torch.randn(1 << exponent, device="cuda").to(getattr(torch, dtype))
        dy = torch.randn(1 << exponent, device="cuda").to(x.dtype)
        for name, (forward, backward) in torch_passes(torch).items():
            ours = Ours(torch, library, name, x, dy)
            check(torch, ours, name, forward, backward)
            y = forward(x)
            torch.compiler.reset()
            compiled_forward, compiled_backward = (
                torch.compile(lambda x: forward(x)), torch.compile(backward))
            rows.append({
                "function": name, "type": dtype, "bits": BITS, "count": 1 << exponent,
                "ours": [timer.seconds(ours.forward), timer.seconds(ours.backward)],
                "torch": [timer.seconds(lambda: forward(x)),
                          timer.seconds(lambda: backward(dy, x, y))],
                "compiled": [timer.seconds(lambda: compiled_forward(x)),
                             timer.seconds(lambda: compiled_backward(dy, x, y))]})
    return rows


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
            cells += [peer[0] / ours[0], peer[1] / ours[1], sum(peer) / sum(ours)]
        lines.append(f"| {row['function']} | {row['type']} | "
                     + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
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
    rows = measure(torch, load(arguments.library), arguments.exponent)
    text = markdown(torch, rows)
    print(text, end="")
    if arguments.out:
        (arguments.out / "torch.md").write_text(text)
        (arguments.out / "torch.json").write_text(json.dumps(rows, indent=1) + "\n")


main()
