"""The CUDA kernels: a library beside the package, for one major version of CUDA."""

import pathlib

import torch

PACKAGE = pathlib.Path(__file__).parent


def library() -> pathlib.Path | None:
    """The one for this torch; None where torch has no CUDA, or the package has no such library."""
    major = (torch.version.cuda or "").split(".")[0]
    found = PACKAGE / f"libfewbit_cuda{major}.so"
    return found if major and found.exists() else None


def load() -> None:
    """Adds the CUDA kernels to the operations that the module declares. Needs no GPU."""
    found = library()
    if found is not None:
        torch.ops.load_library(str(found))  # type: ignore[no-untyped-call]
