"""A backend of torchtitan's ActivationStorage that keeps saved tensors on their device, in codes.

storage = ActivationStorage(
    device, policy, {"codes": CodedBackend(bits=4)}, route=lambda chunk: "codes"
)
"""

import torch

from fewbit._codec import Codec, Coded


class CodedBackend:
    """put, get and free of StorageBackend in torchtitan/distributed/activation_storage.py.

    Args:
        bits, group: of the Codec. Tensors that it does not take stay where they are.
    """

    def __init__(self, bits: int = 4, group: int = 256) -> None:
        self._codec = Codec(bits, group)

    def put(self, tensor: torch.Tensor, stream: "torch.cuda.Stream | None") -> Coded | None:
        """Codes of the tensor, made on the stream; None where it stays as it is."""
        if not self._codec.takes(tensor):
            return None
        with torch.cuda.stream(stream):
            return self._codec.encode(tensor)

    def get(self, payload: Coded, out: torch.Tensor, stream: "torch.cuda.Stream | None") -> None:
        """Decodes into `out`, on the stream."""
        with torch.cuda.stream(stream):
            out.copy_(payload.decoded())

    def free(self, payload: Coded) -> None:
        """Codes go with their last holder."""
