"""Which torch this package was built for: its binary interface changes with every minor version."""

import torch

BUILT_FOR = "2.11"


def check() -> None:
    """Raises ImportError, naming both versions, where torch is another than was built for."""
    found = ".".join(torch.__version__.split(".")[:2])
    if found != BUILT_FOR:
        raise ImportError(
            f"this fewbit was built for torch {BUILT_FOR}.*, and torch {torch.__version__} is "
            f"installed: pip install 'torch=={BUILT_FOR}.*', or a fewbit built for torch {found}"
        )
