"""torch_remat's checkpoints, with what they save in a few bits.

from fewbit.integrations.remat import coded_saves

with coded_saves(bits=4):
    y = torch_remat.checkpoint()(block)(x)
"""

from contextlib import AbstractContextManager

import torch_remat

from fewbit._codec import hooks


def coded_saves(bits: int = 4, group: int = 256) -> AbstractContextManager[None]:
    """Codes what is saved: a checkpoint's input, outputs of its SAVE regions, and what the
    operations beside it save.

    Args:
        bits, group: of the Codec. What a checkpoint saves is what it computes on: 4 bits or more.
    """
    context: AbstractContextManager[None] = torch_remat.saved_tensors_hooks(*hooks(bits, group))
    return context
