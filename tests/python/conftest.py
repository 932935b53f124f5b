"""Threads of OpenMP that turn while they wait would take the processor from other tests."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
