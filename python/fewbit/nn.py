"""Activations as modules, which save codes of their derivative.

    act = fewbit.nn.GELU(bits=3)

They have the names and options of torch.nn, no parameters and no buffers: a model's saved state
does not change with them.
"""

from fewbit import _modules
from fewbit._activation import Activation
from fewbit._modules import *  # noqa: F403

__all__ = ["Activation"]
__all__ += _modules.__all__
