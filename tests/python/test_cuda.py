"""The CUDA kernels are there without a GPU, where they were built."""

import pytest
import torch

import fewbit  # noqa: F401


def operations_with(key):
    names = torch._C._dispatch_get_all_op_names()
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    return {name for name in names if name.startswith("fewbit::") and has(name, key)}


def test_every_kernel_of_the_cpu_has_one_of_cuda():
    if not operations_with("CUDA"):
        pytest.skip("built without CUDA")
    assert operations_with("CUDA") == operations_with("CPU")
