"""Which module of a model runs, for the names of what takes no parameter."""

import sys

import torch


class RunningModule:
    """Gives the name of the innermost module of the model on the calling thread's stack.

    It looks for methods of modules among Python's frames: hooks would be part of what torch.compile
    traces. "" where none runs.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._names: dict[int, str] = {id(module): name for name, module in model.named_modules()}

    def __call__(self) -> str:
        frame = sys._getframe().f_back
        while frame is not None:
            code = frame.f_code
            if code.co_argcount > 0:
                first = frame.f_locals.get(code.co_varnames[0])
                name = self._names.get(id(first))
                if name is not None and isinstance(first, torch.nn.Module):
                    return name
            frame = frame.f_back
        return ""


# C++ calls it among a model's functions, which torch.compile may be looking at.
_frames = torch._C._dynamo.eval_frame
_frames.set_code_exec_strategy(
    RunningModule.__call__.__code__,
    _frames._FrameExecStrategy(_frames._FrameAction.SKIP, _frames._FrameAction.DEFAULT),
)
