"""Trains with a fraction of the memory: what autograd saves for backward, in a few bits.

    import fewbit

    compressor = fewbit.Compressor(model, bits=2)
    with compressor:
        loss = model(**batch).loss
    loss.backward()
    print(compressor.report())

The model does not change. Forward values stay as they are, but for activations' rounding to within
2 units in the last place; gradients are estimates.
"""

from fewbit._torch_version import check as _check_torch

_check_torch()

from fewbit import _fewbit, _functional, nn  # noqa: E402
from fewbit._activation import activation  # noqa: E402
from fewbit._checkpoint import checkpoint, checkpoint_modules  # noqa: E402
from fewbit._codec import Codec, Coded, hooks  # noqa: E402
from fewbit._compressor import BudgetPreview, Compressor, compress, preview_budgets  # noqa: E402
from fewbit._cuda import load as _load_cuda  # noqa: E402
from fewbit._docs import take_docs_from_stub  # noqa: E402
from fewbit._explain_oom import explain_oom  # noqa: E402
from fewbit._fewbit import (  # noqa: E402
    LeftAlone,
    MemoryPlan,
    SavedTensor,
    Site,
    Storage,
    StoredAs,
    Table,
)
from fewbit._functional import *  # noqa: E402, F403
from fewbit._graph_hooks import CompiledSite  # noqa: E402
from fewbit._memory_plan import plan_memory  # noqa: E402
from fewbit._noise_preview import NoisePreview, NoiseRow, preview_noise  # noqa: E402
from fewbit._saved_bytes import SavedBytes, peak_bytes  # noqa: E402
from fewbit._scopes import (  # noqa: E402
    ActivationScope,
    Calibrator,
    RandomizedLinearScope,
    randomized_linear,
)
from fewbit._solve import solve  # noqa: E402
from fewbit._subclasses import look_into as _look_into_subclasses  # noqa: E402
from fewbit._swap import Swap, swap_activations  # noqa: E402

__all__ = [
    "ActivationScope",
    "BudgetPreview",
    "Calibrator",
    "Codec",
    "Coded",
    "CompiledSite",
    "Compressor",
    "LeftAlone",
    "MemoryPlan",
    "NoisePreview",
    "NoiseRow",
    "RandomizedLinearScope",
    "SavedBytes",
    "SavedTensor",
    "Site",
    "Storage",
    "StoredAs",
    "Swap",
    "Table",
    "activation",
    "checkpoint",
    "checkpoint_modules",
    "compress",
    "explain_oom",
    "hooks",
    "nn",
    "peak_bytes",
    "plan_memory",
    "preview_budgets",
    "preview_noise",
    "randomized_linear",
    "solve",
    "swap_activations",
]
__all__ += _functional.__all__

_load_cuda()
_look_into_subclasses()
take_docs_from_stub(_fewbit)
