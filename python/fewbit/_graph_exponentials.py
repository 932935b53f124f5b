"""Softmax's results in place of what softmax takes.

torch saves logits and scores of attention, and takes their exponential again in backward. Errors of
codes would pass through it; so the exponential is what is saved, which backward uses in proportion.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import fx

from fewbit._graph_uses import is_of_shape_alone, uses_of

_aten = torch.ops.aten
_convert = torch.ops.prims.convert_element_type.default

# Through them an element becomes one element.
_POINTWISE = frozenset(
    (
        _aten.view.default,
        _aten.reshape.default,
        _aten._unsafe_view.default,
        _aten.alias.default,
        _aten.detach.default,
        _aten._to_copy.default,
        _convert,
        _aten.neg.default,
        _aten.add.Tensor,
        _aten.sub.Tensor,
        _aten.mul.Tensor,
        _aten.mul.Scalar,
        _aten.div.Tensor,
        _aten.div.Scalar,
        _aten.where.self,
        _aten.masked_fill.Scalar,
    )
)


def _elements(node: fx.Node) -> object:
    return node.meta["val"].numel()


def _exponential_of(saved: fx.Node) -> fx.Node | None:
    """That through which alone backward uses a saved tensor."""
    node = saved
    while True:
        users = [user for user in node.users if not is_of_shape_alone(user, node)]
        if len(users) != 1:
            return None
        user = users[0]
        if user.target is _aten.exp.default:
            uses = uses_of(user)
            is_in_proportion = not uses.obstacle and uses.kinds <= {"linear"}
            return user if is_in_proportion and _elements(user) == _elements(saved) else None
        if user.target not in _POINTWISE:
            return None
        node = user


def _sources(node: fx.Node) -> list[fx.Node]:
    """All that it is made of, in an order in which each can be made, placeholders first."""
    found: dict[fx.Node, None] = {}

    def visit(one: fx.Node) -> None:
        for source in one.all_input_nodes:
            if source not in found:
                visit(source)
        found[one] = None

    visit(node)
    return sorted(found, key=lambda one: one.op != "placeholder")


class _Pair:
    """A forward graph, what it saves by name, and its backward graph."""

    def __init__(self, forward: fx.Graph, backward: fx.Graph, first_saved: int) -> None:
        self.forward, self.backward, self.first_saved = forward, backward, first_saved

    def outputs(self) -> list[Any]:
        (outputs,) = self.forward.output_node().args
        assert isinstance(outputs, (list, tuple))
        return list(outputs)

    def saved(self) -> Mapping[str, fx.Node]:
        nodes = self.outputs()[self.first_saved :]
        return {node.name: node for node in nodes if isinstance(node, fx.Node)}

    def candidates(self) -> Iterator[tuple[fx.Node, fx.Node]]:
        """Placeholders of backward with the exponential that each serves alone."""
        saved = self.saved()
        for node in self.backward.find_nodes(op="placeholder"):
            value = node.meta.get("val")
            if node.name in saved and isinstance(value, torch.Tensor) and value.is_floating_point():
                exponential = _exponential_of(node)
                if exponential is not None:
                    yield node, exponential

    def copied(self, exponential: fx.Node) -> fx.Node | None:
        """The same in the forward graph, as early as it can be; None if forward does not save all
        that it is made of."""
        saved, copies = self.saved(), dict[fx.Node, fx.Node]()
        sources = _sources(exponential)
        for source in sources:
            if source.op == "placeholder":
                if source.name not in saved:
                    return None
                copies[source] = saved[source.name]
        known = set(copies.values())
        last = [node for node in self.forward.nodes if node in known][-1]
        with self.forward.inserting_before(_first_after(last)):
            for source in sources:
                if source.op != "placeholder":
                    copies[source] = self.forward.node_copy(source, copies.__getitem__)
        return copies[exponential]

    def save(self, copy: fx.Node, placeholder: fx.Node, exponential: fx.Node) -> None:
        """In the place of what was saved, and in its type."""
        old = self.saved()[placeholder.name]
        for key in ("nn_module_stack", "saved_tensor_with_no_vc_check"):
            copy.meta.pop(key, None)
            if key in old.meta:
                copy.meta[key] = old.meta[key]
        new = _converted(copy, old.meta["val"].dtype)
        new._rename(f"{old.name}_exponential")
        outputs = [
            new if place >= self.first_saved and node is old else node
            for place, node in enumerate(self.outputs())
        ]
        self.forward.output_node().args = (tuple(outputs),)
        with self.backward.inserting_before(placeholder):
            taken = self.backward.placeholder(new.name)
        taken.meta = dict(new.meta)
        with self.backward.inserting_before(exponential):
            result = _converted(taken, exponential.meta["val"].dtype)
        exponential.replace_all_uses_with(result)
        self._erase(exponential)
        placeholder.replace_all_uses_with(taken)  # where its shape alone counts
        self.backward.erase_node(placeholder)

    def _erase(self, node: fx.Node) -> None:
        """With what served it alone."""
        sources = node.all_input_nodes
        self.backward.erase_node(node)
        for source in sources:
            if not source.users and source.op != "placeholder":
                self._erase(source)


def _added(after: fx.Node, operation: Any, *arguments: Any) -> fx.Node:
    """One more node, whose value is known."""
    values = [
        argument.meta["val"] if isinstance(argument, fx.Node) else argument
        for argument in arguments
    ]
    with after.graph.inserting_after(after):
        node = after.graph.call_function(operation, arguments)
    node.meta = {"val": operation(*values)}
    return node


def _first_after(node: fx.Node) -> fx.Node:
    node = node.next
    while node.op == "placeholder":
        node = node.next
    return node


def _converted(node: fx.Node, dtype: torch.dtype) -> fx.Node:
    if node.meta["val"].dtype == dtype:
        return node
    return _added(node, _convert, node, dtype)


def _show_exponentials(backward: fx.Graph) -> None:
    """In the gradient of log_softmax, where it is one operation: dy - exp(y) sum(dy)."""
    target = _aten._log_softmax_backward_data.default
    for node in backward.find_nodes(op="call_function", target=target):
        dy, y, dim, dtype = node.args
        total = _added(node, _aten.sum.dim_IntList, dy, [dim], True)
        exponential = _added(total, _aten.exp.default, y)
        product = _added(exponential, _aten.mul.Tensor, exponential, total)
        dx = _converted(_added(product, _aten.sub.Tensor, dy, product), dtype)
        node.replace_all_uses_with(dx)
        backward.erase_node(node)


def save_exponentials(
    forward: fx.Graph, backward: fx.Graph, first_saved: int, stays: Callable[[fx.Node], bool]
) -> None:
    """In both graphs.

    Args:
        forward: what it saves are its outputs from first_saved on.
        stays: whether one of these is not to be replaced.
    """
    _show_exponentials(backward)
    pair = _Pair(forward, backward, first_saved)
    for placeholder, exponential in list(pair.candidates()):
        if stays(pair.saved()[placeholder.name]):
            continue
        copy = pair.copied(exponential)
        if copy is not None:
            pair.save(copy, placeholder, exponential)
