"""Tests share the processor: one thread each, and none of OpenMP's that turns while it waits."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
