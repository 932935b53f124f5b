"""The meter leaves Python's autograd engine in its place and says why."""

import ctypes
import sys

import torch

probe = ctypes.CDLL(sys.argv[1])
probe.open_a_watch.restype = ctypes.c_char_p
message = probe.open_a_watch().decode()
assert "PythonEngine" in message, message
assert "saved_tensors_hooks" in message, message

packed = []
x = torch.ones(3, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
    (x * x).sum().backward()
assert packed and x.grad.tolist() == [2, 2, 2], "Python's hooks and engine still work"
