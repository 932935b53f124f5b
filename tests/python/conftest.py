"""Tests share the processor: one thread each, and none of OpenMP's that turns while it waits. With
FEWBIT_TEST_DEVICE=cuda their tensors are on that device."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

if "FEWBIT_TEST_DEVICE" in os.environ:
    import torch

    torch.set_default_device(os.environ["FEWBIT_TEST_DEVICE"])
