"""What is known of other processes that train the same model."""

import torch


def rank() -> int:
    """In torch.distributed; 0 where it does not run."""
    distributed = torch.distributed
    known = distributed.is_available() and distributed.is_initialized()
    return int(distributed.get_rank()) if known else 0
