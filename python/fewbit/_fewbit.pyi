"""The classes of C++, as python/src binds them. fewbit's own modules stand before the user."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

import torch

class Table:
    """A few-bit step function in the place of an activation's derivative."""

    @staticmethod
    def builtin(function: str, name: str, /) -> Table:
        """A table that comes with the library, by function and name ("levels_normal_b3"). Raises
        RuntimeError naming the accepted ones.
        """
    @staticmethod
    def standard(function: str, bits: int, parameters: Sequence[float] = ...) -> Table:
        """The default table with codes of so many bits, 1 to 8; solved now where none comes with
        the library. parameters: of the function in declared order; empty: their defaults.
        """
    @staticmethod
    def load(path: str, /) -> Table:
        """Reads a file that fewbit-solve or save() wrote. Raises RuntimeError naming the field."""
    @staticmethod
    def from_json(text: str, /) -> Table:
        """Reads the text of such a file."""
    def save(self, path: str, /) -> None:
        """Writes a table that was solved or loaded; the others come back by builtin()."""
    @property
    def function(self) -> str:
        """Of whose derivative the table is."""
    @property
    def parameters(self) -> list[float]:
        """Of the function, all of them, in declared order."""
    @property
    def name(self) -> str:
        """ "levels_normal_b3"."""
    @property
    def bits(self) -> int:
        """Of one code."""
    @property
    def is_even(self) -> bool:
        """Whether thresholds cut |x| instead of x."""
    @property
    def is_unbiased(self) -> bool:
        """Whether codes are drawn, with the derivative as the mean level: without thresholds."""
    @property
    def error(self) -> float:
        """Integral of weight * (derivative - table)^2."""
    @property
    def thresholds(self) -> list[float]:
        """Ascending; the largest float32 not above the solved ones."""
    @property
    def codes(self) -> list[int]:
        """Of the intervals between thresholds: indices of levels."""
    @property
    def levels(self) -> list[float]:
        """Ascending, 2 to 256."""
    @property
    def lower_bound(self) -> float | None:
        """No table of this form and size has a smaller error; None for one that comes with the
        library.
        """
    def _repr_html_(self) -> str: ...
    @property
    def json(self) -> str:
        """Text of its file; empty for one that comes with the library."""

def activation(
    x: torch.Tensor, table: Table, generator: torch.Generator | None = None
) -> torch.Tensor: ...

class CalibratorFit:
    """What fitting found at one activation."""

    @property
    def site(self) -> str:
        """ "0.gelu"."""
    @property
    def function(self) -> str: ...
    @property
    def bits(self) -> int: ...
    @property
    def elements(self) -> int:
        """That were seen."""
    @property
    def mean(self) -> float:
        """Of the inputs."""
    @property
    def spread(self) -> float:
        """Their standard deviation."""
    @property
    def within(self) -> float:
        """Mean standard deviation within a channel."""
    @property
    def error_before(self) -> float:
        """Of the default table on these inputs."""
    @property
    def error_after(self) -> float:
        """Of the fitted one."""
    @property
    def bias_before(self) -> float: ...
    @property
    def bias_after(self) -> float: ...
    @property
    def note(self) -> str:
        """Why there was no fit; else empty."""

class Calibrator:
    """Fits activations' tables to the inputs that it sees in the scopes it is given to."""

    def __init__(self) -> None: ...
    def fit(self) -> list[CalibratorFit]: ...
    def fits(self) -> list[CalibratorFit]: ...
    def report(self) -> str: ...
    def save(self, folder: str, /) -> None: ...
    def load(self, folder: str, /) -> None: ...

class ActivationScopeEntry:
    """What became of the calls of one function."""

    @property
    def function(self) -> str: ...
    @property
    def outcome(self) -> str:
        """The table, or why torch's own ran."""
    @property
    def replaced(self) -> bool: ...
    @property
    def calls(self) -> int: ...
    @property
    def elements(self) -> int:
        """Of all calls."""

class ActivationScope:
    def __init__(self, bits: int, calibrator: Calibrator | None, /) -> None: ...
    def rule_bits(self, function: str, bits: int, /) -> None: ...
    def rule_table(self, function: str, table: Table, /) -> None: ...
    def leave_alone(self, function: str, /) -> None: ...
    def entries(self) -> list[ActivationScopeEntry]: ...
    def report(self) -> str: ...
    def close(self) -> None: ...

def checkpoint(
    function: Callable[[list[torch.Tensor]], list[torch.Tensor]], inputs: Sequence[torch.Tensor], /
) -> list[torch.Tensor]: ...

class Scheme(Enum):
    rotated = ...
    group = ...
    actnn = ...
    gact = ...
    division = ...
    blpa = ...

class Recompute(Enum):
    never = ...
    where_better = ...
    always = ...

class CompressorOptions:
    bits: float
    scheme: Scheme
    level: int | None
    block: int
    activation_bits: int | None
    bytes: int
    group: int
    trellis: int
    directions: int
    offload: bool
    decoded_cache_bytes: int | None
    def __init__(self) -> None: ...

class Storage(Enum):
    """Where the numbers of a saved tensor come from in backward."""

    exact = ...
    coded = ...
    recomputed = ...
    offloaded = ...

class StoredAs:
    """How a saved tensor is stored until backward."""

    @property
    def storage(self) -> Storage: ...
    @property
    def codec(self) -> str:
        """ "rotated", "few-bit table", ...; empty unless it is coded."""
    @property
    def bits(self) -> float:
        """Of an element's code; 0: as many as the values need."""
    @property
    def recomputed_by(self) -> str:
        """ "linear of norm"; empty unless it is recomputed."""

class Site:
    """One saved tensor of one place in the model."""

    @property
    def operation(self) -> str:
        """ "aten::addmm"."""
    @property
    def argument(self) -> int:
        """Place of the tensor among the operation's arguments; -1: its result."""
    @property
    def call(self) -> int:
        """Number of the operation's call in a forward, of those with the same name."""
    @property
    def module(self) -> str:
        """ "encoder.layers.0", by the parameter that the operation takes; empty without one."""
    @property
    def stored(self) -> StoredAs: ...
    @property
    def count(self) -> int:
        """Forwards that saved it."""
    @property
    def elements(self) -> int:
        """Of the latest one."""
    @property
    def bytes_before(self) -> int:
        """Exact."""
    @property
    def bytes_after(self) -> int:
        """Held until backward."""
    @property
    def bytes_offloaded(self) -> int:
        """In a file until backward."""
    @property
    def bytes_of_directions(self) -> int:
        """Of directions of channels, which stay from step to step."""
    @property
    def error(self) -> float:
        """Squared error relative to the variance, the mean of those measured."""
    @property
    def median_error(self) -> float:
        """The same, of groups of elements, their median."""

class LeftAlone:
    """What one kind of operation saved exactly in the latest forward."""

    @property
    def operation(self) -> str: ...
    @property
    def reason(self) -> str:
        """ "no rule for the operation", ..."""
    @property
    def count(self) -> int:
        """Tensors."""
    @property
    def bytes(self) -> int: ...

class MemoryPlanChoice:
    """One way to store a tensor, with what it takes."""

    @property
    def storage(self) -> Storage: ...
    @property
    def bytes(self) -> int:
        """In memory until backward."""
    @property
    def seconds(self) -> float:
        """Of storing and restoring."""

class MemoryPlanSite:
    """One saved tensor with its choices."""

    @property
    def site(self) -> Site: ...
    @property
    def bits(self) -> int:
        """Of a coded element."""
    @property
    def choices(self) -> list[MemoryPlanChoice]:
        """Those that are possible, coded first."""
    @property
    def choice(self) -> MemoryPlanChoice:
        """The one that is taken."""

class MemoryPlanCheckpoint:
    """What fewbit.checkpoint around a module would change."""

    @property
    def module(self) -> str: ...
    @property
    def bytes(self) -> int:
        """Saved relative to the plan, at least."""
    @property
    def seconds(self) -> float:
        """Added to the step."""
    @property
    def is_proposed(self) -> bool:
        """Whether it saves memory at a lower time per byte than the plan's last choice."""

class MemoryPlan:
    """The storage of every saved tensor, chosen by bytes and time. print() shows tables."""

    @property
    def kept_budget(self) -> int | None:
        """Kept bytes, as requested."""
    @property
    def peak_budget(self) -> int | None:
        """Peak of a step in bytes, as requested."""
    @property
    def exact_bytes(self) -> int:
        """Of all saved tensors without fewbit."""
    @property
    def exact_peak(self) -> int:
        """Bytes of a step without fewbit."""
    @property
    def forward_peak(self) -> int:
        """Bytes, measured: the most of a forward that follows the plan."""
    @property
    def step_peak(self) -> int:
        """The same of forward and backward."""
    @property
    def other_bytes(self) -> int:
        """Of those outside every site."""
    @property
    def step_seconds(self) -> float:
        """Of forward and backward without fewbit."""
    @property
    def sites(self) -> list[MemoryPlanSite]:
        """In the order in which they were first seen."""
    @property
    def checkpoints(self) -> list[MemoryPlanCheckpoint]:
        """What a checkpoint around each module would change."""
    @property
    def bytes(self) -> int:
        """With the choices."""
    @property
    def seconds(self) -> float:
        """Added to the step."""
    @property
    def fits(self) -> bool:
        """Whether bytes and peak are within the budget."""

def plan_memory(
    forward: Callable[[], torch.Tensor],
    kept_bytes: int | None,
    peak_bytes: int | None,
    options: CompressorOptions,
    parameters: Iterable[tuple[str, torch.Tensor]],
    /,
) -> MemoryPlan: ...

class Compressor:
    def __init__(self, options: CompressorOptions, /) -> None: ...
    def name(self, parameters: Iterable[tuple[str, torch.Tensor]], /) -> None: ...
    def rule_bits(self, pattern: str, bits: int, /) -> None: ...
    def rule_type(self, pattern: str, type: torch.dtype, /) -> None: ...
    def leave_alone(self, pattern: str, /) -> None: ...
    def offload_exact(self, pattern: str, /) -> None: ...
    def recompute(self, kind: str, when: Recompute, /) -> None: ...
    def follow(self, plan: MemoryPlan, /) -> None: ...
    def sites(self) -> list[Site]: ...
    def left_alone_operations(self) -> list[LeftAlone]: ...
    def report(self) -> str: ...
    def save(self, path: str, /) -> None: ...
    def load(self, path: str, /) -> None: ...
    def name_by(self, running_module: Callable[[], str] | None, /) -> None: ...
    def random_stream(self, stream: int, /) -> Compressor: ...

class CompressionScope:
    def __init__(self, compressor: Compressor, /) -> None: ...
    def close(self) -> None: ...

class BudgetRow:
    """What one budget of bits stores."""

    @property
    def bits(self) -> float:
        """Average of an element."""
    @property
    def bytes(self) -> int:
        """Held until backward."""
    @property
    def peak(self) -> int:
        """Of forward and backward."""

class BudgetPreview:
    """Bytes of several budgets. print() shows a table."""

    @property
    def rows(self) -> list[BudgetRow]:
        """One a budget."""
    @property
    def sites(self) -> str:
        """The table of sites, as text."""

def preview_budgets(
    forward: Callable[[], torch.Tensor],
    options: CompressorOptions,
    parameters: Iterable[tuple[str, torch.Tensor]],
    /,
) -> BudgetPreview: ...

class Projection(Enum):
    gaussian = ...
    rademacher = ...
    dct = ...
    rows = ...

class RandomizedLinearScopeEntry:
    """What became of one linear layer."""

    @property
    def layer(self) -> str: ...
    @property
    def outcome(self) -> str:
        """What was done, or why not."""
    @property
    def taken(self) -> bool:
        """Whether it is randomised."""
    @property
    def calls(self) -> int: ...
    @property
    def rows(self) -> int:
        """Of all calls."""
    @property
    def kept(self) -> int:
        """Rows that are saved instead."""

class RandomizedLinearScope:
    def __init__(self, keep: float, projection: Projection, /) -> None: ...
    def name(self, parameters: Iterable[tuple[str, torch.Tensor]], /) -> None: ...
    def entries(self) -> list[RandomizedLinearScopeEntry]: ...
    def report(self) -> str: ...
    def close(self) -> None: ...

def randomized_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    keep: float,
    projection: Projection,
    /,
) -> torch.Tensor: ...

class SavedTensor:
    """One tensor that autograd saves."""

    @property
    def operation(self) -> str:
        """Name of the graph node that saves it: "GeluBackward0"."""
    @property
    def node(self) -> int:
        """Number of that node: tensors of one call have the same."""
    @property
    def maker(self) -> str:
        """What made the memory: a node, "parameter" or "data without gradient"."""
    @property
    def maker_node(self) -> int:
        """Its number; 0 for no node."""
    @property
    def storage(self) -> int:
        """Number of the memory: views have the same."""
    @property
    def bytes(self) -> int:
        """Of the whole storage."""
    @property
    def shape(self) -> list[int]: ...
    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def device(self) -> torch.device: ...
    @property
    def parameter(self) -> bool:
        """Whether it lives whatever autograd saves."""
    @property
    def shared(self) -> bool:
        """Whether another entry has the same storage."""
    @property
    def is_output(self) -> bool:
        """Whether it is the result of the operation that saves it."""

class SavedBytes:
    def __init__(self) -> None: ...
    def set_apart(self, tensors: Sequence[torch.Tensor], /) -> None: ...
    @property
    def unique_bytes(self) -> int: ...
    @property
    def parameter_bytes(self) -> int: ...
    def entries(self) -> list[SavedTensor]: ...
    def unique_bytes_in_scope(self, bits: int, /) -> int: ...
    def explain(self, bits: int, /) -> str: ...
    def reset(self) -> None: ...

def peak_bytes(step: Callable[[], object], device: torch.device, /) -> int: ...

class SavedBytesWatch:
    def __init__(self, meter: SavedBytes, /) -> None: ...
    def close(self) -> None: ...

def look_into_subclasses(
    inner_of: Callable[
        [torch.Tensor], tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]] | None
    ],
    /,
) -> None: ...
