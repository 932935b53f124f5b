"""Codes of single tensors, for those who hook and store by themselves."""

from collections.abc import Callable
from typing import Any

import torch

from fewbit._processes import rank

_LEAST_ELEMENTS = 1024
_TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


class Coded:
    """A tensor in codes; made by `Codec.encode`.

    Attributes:
        shape, dtype, device: of the tensor.
    """

    def __init__(self, codec: "Codec", tensor: torch.Tensor) -> None:
        self.shape, self.dtype, self.device = tensor.shape, tensor.dtype, tensor.device
        self._form = (codec.bits, codec.group, 0)
        self._seed = codec.next_seed().to(tensor.device)
        run = tensor.detach().contiguous().flatten()
        self._codes = torch.ops.fewbit.rotated_encode(run, *self._form, self._seed, 0)

    @property
    def nbytes(self) -> int:
        """Of all that is held."""
        return sum(tensor.nbytes for tensor in (*self._codes, self._seed))

    def decoded(self) -> torch.Tensor:
        """The tensor again, contiguous; the same in every call."""
        run: torch.Tensor = torch.ops.fewbit.rotated_decode(
            *self._codes, self.shape.numel(), *self._form, self.dtype, self._seed, 0
        )
        return run.reshape(self.shape)


class Codec:
    """Stores a tensor in a few bits: a random rotation, then the best table for a normal.

        coded = fewbit.Codec(bits=4).encode(x)
        y = coded.decoded()

    The mean of `decoded()` over the rotations is the tensor; the squared error of 4 bits is about
    0.01 of its variance, of 2 bits 0.13. A Compressor chooses codecs, and knows what must stay
    exact; this one takes what it is given.

    Args:
        bits: of a code, 1 to 8.
        group: elements that share two constants: 64, 128, 256, 512 or 1024.
        seed: of the rotations; None: torch's initial seed plus the rank in torch.distributed.
    """

    def __init__(self, bits: int = 4, group: int = 256, seed: int | None = None) -> None:
        if not 1 <= bits <= 8:
            raise ValueError(f"bits is {bits}, accepted: 1 to 8")
        if group not in (64, 128, 256, 512, 1024):
            raise ValueError(f"group is {group}, accepted: 64, 128, 256, 512, 1024")
        self.bits, self.group = bits, group
        # Its own: what is drawn of torch's would change a dropout that runs again without codes.
        self._generator = torch.Generator("cpu")
        own = (torch.initial_seed() + rank()) % 2**63  # copies of a model err independently
        self._generator.manual_seed(own if seed is None else seed)

    def next_seed(self) -> torch.Tensor:
        """Of the next rotation: one int64 on the CPU."""
        return torch.randint(2**62, (1,), generator=self._generator, device="cpu")

    def takes(self, tensor: torch.Tensor) -> bool:
        """Whether it is worth codes: a plain tensor of a floating-point type, no leaf that is
        trained, 1,024 elements or more."""
        return (
            type(tensor) is torch.Tensor
            and tensor.dtype in _TYPES
            and tensor.layout == torch.strided
            and tensor.numel() >= _LEAST_ELEMENTS
            and not (tensor.is_leaf and tensor.requires_grad)
        )

    def encode(self, tensor: torch.Tensor) -> Coded:
        """Codes of a tensor of any shape, each with the next rotation.

        Raises:
            RuntimeError: for another type or device than the operations know.
        """
        return Coded(self, tensor)


def hooks(
    bits: int = 4, group: int = 256
) -> tuple[Callable[[torch.Tensor], Any], Callable[[Any], torch.Tensor]]:
    """A pair for `torch.autograd.graph.saved_tensors_hooks`, for those who compose hooks.

        with torch.autograd.graph.saved_tensors_hooks(*fewbit.hooks(bits=4)):
            loss = model(x)

    It codes every tensor that `Codec.takes`, each time it is saved, whatever takes it: also what a
    logarithm or a root divides by, and frozen weights. A Compressor knows operations, recomputes
    and stores what is saved twice once: use it where nothing else has to come between.

    Args:
        bits, group: of the Codec.
    """
    codec = Codec(bits, group)

    def pack(tensor: torch.Tensor) -> Any:
        return codec.encode(tensor) if codec.takes(tensor) else tensor

    def unpack(packed: Any) -> torch.Tensor:
        tensor: torch.Tensor = packed.decoded() if isinstance(packed, Coded) else packed
        return tensor

    return pack, unpack
