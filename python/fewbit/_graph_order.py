"""The place in a graph at which tensors are coded and decoded.

torch puts what hooks do with saved tensors at the end of the forward graph and at the start of the
backward graph, where all tensors would be there at once.
"""

from torch import fx


class _Places:
    """Numbers in the order of a graph's nodes."""

    def __init__(self, graph: fx.Graph) -> None:
        self._numbers = {node: float(number) for number, node in enumerate(graph.nodes)}
        self._end = float(len(self._numbers))

    def __call__(self, node: fx.Node) -> float:
        return self._numbers[node]

    def moved(self, node: fx.Node) -> None:
        """It stands between two others now."""
        after = self._numbers.get(node.next, self._end)
        self._numbers[node] = (self._numbers.get(node.prev, -1.0) + after) / 2


def _names(graph: fx.Graph) -> set[str]:
    return {node.name for node in graph.nodes}


class Order:
    """Of a pair of graphs, made before anything is coded."""

    def __init__(self, forward: fx.Graph, backward: fx.Graph) -> None:
        self._forward, self._backward = forward, backward
        self._in_forward, self._in_backward = _names(forward), _names(backward)

    def hoist(self) -> None:
        """What was added at the end of the forward graph comes as early as it can."""
        added: list[fx.Node] = []
        last = self._forward.output_node()
        while last.prev.op != "root" and last.prev.name not in self._in_forward:
            last = last.prev
            added.append(last)
        if not added:
            return
        places = _Places(self._forward)
        for node in reversed(added):
            if node.all_input_nodes:
                max(node.all_input_nodes, key=places).append(node)
                places.moved(node)
        self._in_forward.update(node.name for node in added)

    def sink(self) -> None:
        """What was added at the start of the backward graph comes as late as it can."""
        added = [
            node
            for node in self._backward.nodes
            if node.op == "call_function" and node.name not in self._in_backward
        ]
        if not added:
            return
        places = _Places(self._backward)
        for node in reversed(added):
            if node.users:
                min(node.users, key=places).prepend(node)
                places.moved(node)
        self._in_backward.update(node.name for node in added)
