"""A Compressor inside of what torch.compile compiles.

torch puts hooks of saved tensors that are graphs into the forward and the backward graph that it
makes of a function; they are asked once for each tensor that the one saves for the other. Torch's
guards know a pair of hooks by its identity, its caches on disk by the hash that is told here.
"""

import dataclasses
import fnmatch
import functools
import hashlib
import json
import pathlib
import re
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from fewbit._graph_codecs import Form, has_own_elements, hint
from fewbit._graph_exponentials import save_exponentials
from fewbit._graph_order import Order
from fewbit._graph_uses import Uses, name_of, uses_of

_LEAST_ELEMENTS = 1024
_TYPES = (torch.float32, torch.bfloat16, torch.float16)
_VIEWS = (
    "aten.view",
    "aten.reshape",
    "aten._unsafe_view",
    "aten.permute",
    "aten.transpose",
    "aten.t",
    "aten.squeeze",
    "aten.unsqueeze",
    "aten.slice",
    "aten.select",
    "aten.alias",
    "aten.detach",
    "prims.convert_element_type",
)
# An exponential of codes wants many bits, and a tensor without masked elements, whose like is huge.
_EXPONENTIAL_BITS = 8
_PRODUCTS = ("aten.mm", "aten.addmm", "aten.bmm", "aten.baddbmm")
_HUGE = 1e4
# Their results are as large as their arguments are small, and backward multiplies powers of them.
_QUOTIENTS = ("aten.rsqrt", "aten.reciprocal", "aten.sqrt")

Rule = int | str
EXACT = 16  # bits of a module whose tensors stay as they are


@functools.cache
def _code() -> str:
    """A hash of what decides how graphs are coded."""
    files = sorted(pathlib.Path(__file__).parent.glob("_graph_*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@dataclass(frozen=True)
class GraphPolicy:
    """By what graphs store their saved tensors.

    Attributes:
        bits: of a tensor of a module that is not known.
        activation_bits: at least so many where backward takes a smooth function of the tensor.
        group, states: of Form.
        modules: bits by the names of modules; above 8: none.
        rules: pairs of pattern and bits or "exact"; the latest that matches counts.
    """

    bits: int
    activation_bits: int
    group: int
    states: int
    modules: tuple[tuple[str, int], ...] = ()
    rules: tuple[tuple[str, Rule], ...] = ()

    @property
    def key(self) -> str:
        """The same for the same policy in every process; another where our own code is another."""
        text = json.dumps([_code(), *dataclasses.astuple(self)])
        return hashlib.sha256(text.encode()).hexdigest()

    def rule(self, module: str, operation: str) -> Rule | None:
        names = (operation, operation.removeprefix("aten."), module, f"{module}.weight")
        for pattern, rule in reversed(self.rules):
            pattern = pattern.replace("aten::", "aten.")
            if any(fnmatch.fnmatchcase(name, pattern) for name in names if name):
                return rule
        return None

    def bits_of(self, module: str) -> int:
        """Of a module by its name in the model, or in the part of it that was compiled; else of
        the innermost known one around it."""
        while module:
            known = [
                bits for name, bits in self.modules if name == module or name.endswith("." + module)
            ]
            if known:
                return round(sum(known) / len(known))
            module = module.rpartition(".")[0]
        return self.bits


@dataclass
class CompiledSite:
    """A tensor that a graph of torch.compile saves for backward.

    Attributes:
        graph: which of those that were compiled by the same rules, from 0.
        name: of the graph's node.
        operation: that takes it, or made it: "aten.addmm".
        module: whose operation that is; "" where it is not known.
        stored: "rotated, 2 bits", "rotated by sign, 2 bits", "mask" or "exact".
        reason: why it is exact: a sentence, or the operation of backward that forbids codes.
        elements, bytes_before, bytes_after: with sizes as they were when it was compiled.
    """

    graph: int
    name: str
    operation: str
    module: str
    stored: str
    reason: str
    elements: int
    bytes_before: int
    bytes_after: int


@dataclass
class _Graph:
    """A pair of graphs while torch makes it."""

    number: int
    order: Order
    forms: dict[str, Form | None] = field(default_factory=dict)
    saved: dict[str, CompiledSite] = field(default_factory=dict)


_hooks: dict[str, "GraphHooks"] = {}


class GraphHooks:
    """The pair of hooks for a policy, and what graphs were made by it."""

    def __init__(self, policy: GraphPolicy) -> None:
        self.policy = policy
        self.saved: list[CompiledSite] = []
        self._graphs: weakref.WeakKeyDictionary[fx.Graph, _Graph] = weakref.WeakKeyDictionary()
        self._count = 0
        key = policy.key
        self.pair = _graph_of(pack, key), _graph_of(unpack, key)

    def change(
        self, forward: fx.Graph, backward: fx.Graph, first_saved: int, static: Sequence[int]
    ) -> None:
        """What a pair of graphs saves, before it has hooks: exponentials, unless their arguments
        stay exact."""
        inputs = forward.find_nodes(op="placeholder")
        parameters = [inputs[place] for place in static]

        def stays(node: fx.Node) -> bool:
            source = _source(node)
            if source in parameters:
                return True
            if source.op == "placeholder" and not _has_gradient(source, backward):
                return True
            operation, module = _origin(node)
            is_exact = self.policy.rule(module, operation) == "exact"
            return is_exact or self.policy.bits_of(module) > 8

        save_exponentials(forward, backward, first_saved, stays)

    def _graph(self, context: Mapping[str, Any]) -> _Graph:
        forward = context["_fw_graph"]
        if forward not in self._graphs:
            order = Order(forward, context["_bw_graph"])
            self._graphs[forward] = _Graph(self._count, order)
            self._count += 1
        return self._graphs[forward]

    def form_of(self, context: Mapping[str, Any], x: torch.Tensor) -> Form | None:
        """How the tensor of that node is stored; None: as it is."""
        graph, node = self._graph(context), context["_node"]
        graph.order.hoist()
        graph.order.sink()
        if node.name not in graph.forms:
            saved = CompiledSite(graph.number, node.name, *_origin(node), "exact", "", 0, 0, 0)
            form, saved.reason = self._choose(node, x, context["_bw_graph"], saved)
            graph.forms[node.name] = form
            saved.stored = "exact" if form is None else str(form)
            saved.elements = _elements(x)
            saved.bytes_before = saved.bytes_after = saved.elements * x.element_size()
            graph.saved[node.name] = saved
            self.saved.append(saved)
        return graph.forms[node.name]

    def coded(self, context: Mapping[str, Any], parts: tuple[Any, ...]) -> None:
        """It is stored so."""
        tensors = [part for part in parts if isinstance(part, torch.Tensor)]
        saved = self._graph(context).saved[context["_node"].name]
        saved.bytes_after = sum(_elements(part) * part.element_size() for part in tensors)

    def _choose(
        self, node: fx.Node, x: torch.Tensor, backward: fx.Graph, saved: CompiledSite
    ) -> tuple[Form | None, str]:
        if _elements(x) < _LEAST_ELEMENTS:
            return None, "fewer than 1,024 elements"
        if not has_own_elements(x):
            return None, "expanded"
        rule = self.policy.rule(saved.module, saved.operation)
        if rule == "exact":
            return None, "a rule"
        if x.dtype == torch.bool:
            return Form("signs"), ""
        if x.dtype not in _TYPES:
            return None, f"{x.dtype}".removeprefix("torch.")
        source = _source(node)
        if source.op == "placeholder" and not _has_gradient(source, backward):
            return None, "an input that no gradient runs through"
        if name_of(source.target) in _QUOTIENTS or _has_huge_elements(source):
            return None, name_of(source.target)
        uses = _uses_in(backward, node.name)
        if uses.obstacle:
            return None, uses.obstacle
        if "exponential" in uses.kinds and not _is_product(node):
            return None, "aten.exp"
        return self._form(node, uses, saved.module, rule)

    def _form(
        self, node: fx.Node, uses: Uses, module: str, rule: Rule | None
    ) -> tuple[Form | None, str]:
        policy = self.policy
        if uses.kinds <= {"sign", "shape"}:
            return Form("signs"), ""
        bits = rule if isinstance(rule, int) else policy.bits_of(module)
        if bits > 8:
            return None, "exact in the frozen sites"
        is_softmax = name_of(_source(node).target) == "aten.exp"
        if is_softmax or "curve" in uses.kinds or "attention" in uses.kinds:
            bits = max(bits, policy.activation_bits)
        if is_softmax:
            bits = min(bits + 1, 8)
        if "exponential" in uses.kinds:
            bits = max(bits, _EXPONENTIAL_BITS)
        states = policy.states if bits <= 4 else 0
        if "sign" not in uses.kinds:
            return Form("rotated", bits, policy.group, states), ""
        if name_of(_source(node).target) not in ("aten.relu", "aten.relu_"):
            return None, "compared with zero"
        return Form("rotated by sign", bits, policy.group, states), ""


def hooks_for(policy: GraphPolicy) -> GraphHooks:
    """One for all that go by the same policy, whose graphs are the same."""
    return _hooks.setdefault(policy.key, GraphHooks(policy))


def _graph_of(function: Any, key: str) -> fx.GraphModule:
    graph = fx.Graph()
    node = graph.call_function(function, (graph.placeholder("x"), key))
    # Torch's caches cannot look into the function; they take the hash for it.
    node.meta.update(is_wrapped=True, user_cache_hash=key)
    graph.output(node)
    return fx.GraphModule(torch.nn.Module(), graph)


def _context() -> Mapping[str, Any] | None:
    from torch._functorch._aot_autograd.graph_compile import _get_saved_tensor_hook_context

    context: Mapping[str, Any] | None = _get_saved_tensor_hook_context()
    return context


def pack(x: torch.Tensor, key: str) -> Any:
    """What the forward graph stores of a saved tensor."""
    context = _context()
    if context is None or key not in _hooks:
        return x
    form = _hooks[key].form_of(context, x)
    if form is None:
        return x
    parts = form.encode(x)
    _hooks[key].coded(context, parts)
    return parts


def unpack(packed: Any, key: str) -> torch.Tensor:
    """The tensor of the backward graph."""
    if isinstance(packed, torch.Tensor):
        return packed
    context = _context()
    assert context is not None
    like = context["_node"].meta["val"]
    form = _hooks[key].form_of(context, like)
    assert form is not None
    return form.decode(packed, like)


def _elements(x: torch.Tensor) -> int:
    count = 1
    for size in x.shape:
        count *= hint(size)
    return count


def _uses_in(backward: fx.Graph, name: str) -> Uses:
    for node in backward.find_nodes(op="placeholder"):
        if node.name == name:
            return uses_of(node)
    return Uses(obstacle="not in the backward graph")


def _origin(node: fx.Node) -> tuple[str, str]:
    """The operation and the module that take it, where one does alone; else those that made it."""
    takers = [user for user in _takers(node) if "nn_module_stack" in user.meta]
    by_name = {name_of(user.target): user for user in takers}
    for name in ("aten.addmm", "aten.mm", "aten.convolution", "aten.native_layer_norm"):
        if name in by_name:
            return name, _module_of(by_name[name])
    source = _source(node)
    return name_of(source.target), _module_of(source)


def _source(node: fx.Node) -> fx.Node:
    """The node itself, or what it shows in another form."""
    while name_of(node.target) in _VIEWS:
        node = node.all_input_nodes[0]
    return node


def _has_huge_elements(node: fx.Node) -> bool:
    """Whether a mask puts a number in the place of some that would make others' codes err."""
    name = name_of(node.target)
    if name == "aten.masked_fill":
        return _is_huge(node.args[2])
    return name == "aten.where" and any(_is_huge(one) for one in node.args[1:3])


def _is_huge(filling: Any) -> bool:
    """Of one number; also where it is not known."""
    while isinstance(filling, fx.Node):
        if filling.meta["val"].dim() > 0 and name_of(filling.target) != "aten.full":
            return False
        if name_of(filling.target) not in ("aten.full", "aten.scalar_tensor"):
            return True
        filling = filling.args[1 if name_of(filling.target) == "aten.full" else 0]
    return not abs(filling) < _HUGE


def _has_gradient(placeholder: fx.Node, backward: fx.Graph) -> bool:
    """Whether backward returns one for it: its results are in the order of forward's inputs."""
    place = placeholder.graph.find_nodes(op="placeholder").index(placeholder)
    (gradients,) = backward.output_node().args
    return (
        isinstance(gradients, (list, tuple))
        and place < len(gradients)
        and gradients[place] is not None
    )


def _is_product(node: fx.Node) -> bool:
    """Whether it is one of matrices, but for its form, or its logarithm of softmax."""
    source = _source(node)
    if name_of(source.target) == "aten._log_softmax":
        source = _source(source.all_input_nodes[0])
    return name_of(source.target) in _PRODUCTS


def _takers(node: fx.Node) -> list[fx.Node]:
    takers = []
    for user in node.users:
        takers += _takers(user) if name_of(user.target) in _VIEWS else [user]
    return takers


def _module_of(node: fx.Node) -> str:
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return ""
    path = str(list(stack.values())[-1][0])
    path = re.sub(r"^L\['[^']*'\](\[\d+\])*\.?", "", path)
    return re.sub(r"\._modules\['([^']*)'\]|\[(?:'([^']*)'|(\d+))\]", _part, path)


def _part(found: re.Match[str]) -> str:
    return "." + next(part for part in found.groups() if part is not None)
