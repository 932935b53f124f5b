"""What the backward graph of a compiled function does with a tensor that its forward saves."""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import fx

_aten = torch.ops.aten
_prims = torch.ops.prims

# Operations by the arguments through which an error of the tensor passes in proportion.
_LINEAR: Mapping[object, frozenset[int]] = {
    operation: frozenset(places)
    for operations, places in (
        (
            (
                operator.getitem,
                _aten.view.default,
                _aten.reshape.default,
                _aten._unsafe_view.default,
                _aten.alias.default,
                _aten.detach.default,
                _aten.clone.default,
                _aten.permute.default,
                _aten.transpose.int,
                _aten.t.default,
                _aten.expand.default,
                _aten.squeeze.default,
                _aten.squeeze.dim,
                _aten.squeeze.dims,
                _aten.unsqueeze.default,
                _aten.slice.Tensor,
                _aten.select.int,
                _aten.split.Tensor,
                _aten.split_with_sizes.default,
                _aten.cat.default,
                _aten.stack.default,
                _aten.repeat.default,
                _aten.constant_pad_nd.default,
                _aten.roll.default,
                _aten.flip.default,
                _aten.cumsum.default,
                _aten._to_copy.default,
                _prims.convert_element_type.default,
                _aten.neg.default,
                _aten.mul.Scalar,
                _aten.div.Scalar,
                _aten.div.Tensor,
                _aten.sum.default,
                _aten.sum.dim_IntList,
                _aten.mean.default,
                _aten.mean.dim,
                _aten.masked_fill.Scalar,
                _aten.index.Tensor,
                _aten.embedding_dense_backward.default,
                _aten.copy.default,
                _aten.avg_pool2d.default,
                _aten._adaptive_avg_pool2d.default,
            ),
            {0},
        ),
        ((_aten.mul.Tensor, _aten.add.Tensor, _aten.sub.Tensor), {0, 1}),
        ((_aten.where.self,), {1, 2}),
        ((_aten.index_put.default, _aten._unsafe_index_put.default), {0, 2}),
        ((_aten.slice_scatter.default, _aten.select_scatter.default), {0, 1}),
    )
    for operation in operations
}

# Smooth functions of bounded slope.
_CURVES = frozenset(
    (
        _aten.tanh.default,
        _aten.sigmoid.default,
        _aten.erf.default,
        _aten.softplus.default,
        _aten.gelu.default,
        _aten.silu.default,
        _aten.mish.default,
        _aten.hardswish.default,
        _aten.native_layer_norm.default,
        _aten.native_group_norm.default,
    )
)


@dataclass(frozen=True)
class _End:
    """An operation that ends the tensor's way: what it takes it for."""

    places: frozenset[int]
    kind: str


_ENDS: Mapping[object, _End] = {
    getattr(_aten, name).default: _End(frozenset(places), kind)
    for kind, operations in {
        "linear": {
            "mm": {0, 1},
            "bmm": {0, 1},
            "addmm": {1, 2},
            "baddbmm": {1, 2},
            "convolution_backward": {1},
            "native_layer_norm_backward": {1},
            "native_group_norm_backward": {1},
            "native_batch_norm_backward": {1},
            "_fused_rms_norm_backward": {1},
        },
        "curve": {
            "gelu_backward": {1},
            "silu_backward": {1},
            "mish_backward": {1},
            "hardswish_backward": {1},
            "tanh_backward": {1},
            "sigmoid_backward": {1},
            "_softmax_backward_data": {1},
        },
        "attention": {
            "_scaled_dot_product_flash_attention_for_cpu_backward": {1, 2, 3, 4},
            "_scaled_dot_product_flash_attention_backward": {1, 2, 3, 4},
            "_scaled_dot_product_efficient_attention_backward": {1, 2, 3, 5},
            "_scaled_dot_product_cudnn_attention_backward": {1, 2, 3, 4},
        },
        "sign": {"threshold_backward": {1}},
        # They ask for its size alone.
        "shape": {"nll_loss_backward": {1}, "max_pool2d_with_indices_backward": {1}},
    }.items()
    for name, places in operations.items()
    if hasattr(_aten, name)
}

_ABOVE_ZERO = frozenset((_aten.le.Scalar, _aten.gt.Scalar))


@dataclass
class Uses:
    """How backward uses a tensor.

    Attributes:
        kinds: of uses: "linear", "curve" (a smooth function of it), "exponential", "attention",
            "sign" (whether it is above zero), "shape".
        obstacle: an operation that may turn a small error into a large one, or is not known; ""
            where there is none.
    """

    kinds: set[str] = field(default_factory=set)
    obstacle: str = ""


def name_of(target: object) -> str:
    """ "aten.mm" for an operation, the name of a function."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target._overloadpacket)
    return getattr(target, "__name__", str(target))


def _places(user: fx.Node, node: fx.Node) -> Iterator[int]:
    for place, argument in enumerate(user.args):
        parts = argument if isinstance(argument, (list, tuple)) else (argument,)
        if any(part is node for part in parts):
            yield place
    if any(argument is node for argument in user.kwargs.values()):
        yield -1


def is_of_shape_alone(user: fx.Node, node: fx.Node) -> bool:
    """Whether it asks nothing of the node but its size."""
    end = _ENDS.get(user.target)
    return end is not None and end.kind == "shape" and set(_places(user, node)) <= end.places


def _is_bell(exponential: fx.Node) -> bool:
    """Whether it is exp(-c x x), as in the derivative of GELU: at most 1, and flat."""
    product = exponential.args[0]
    if not isinstance(product, fx.Node) or product.target is not _aten.mul.Tensor:
        return False
    square, factor = product.args[:2]
    if not isinstance(square, fx.Node) or not isinstance(factor, (int, float)) or factor > 0:
        return False
    is_product = square.target is _aten.mul.Tensor and square.args[0] is square.args[1]
    return is_product or (square.target is _aten.pow.Tensor_Scalar and square.args[1:2] == (2,))


def _divides(user: fx.Node, node: fx.Node) -> bool:
    """Whether it is 1 / node, or something / node."""
    if user.target is _aten.reciprocal.default:
        return True
    return user.target is _aten.div.Tensor and user.args[0] is not node


def _is_logistic(exponential: fx.Node) -> bool:
    """Whether all that becomes of it is a quotient by 1 + exp(-x), which is at least 1."""
    negative = exponential.args[0] if exponential.target is _aten.exp.default else None
    if not isinstance(negative, fx.Node) or negative.target is not _aten.neg.default:
        return False
    return all(
        one.target is _aten.add.Tensor
        and one.args[1] == 1
        and all(_divides(user, one) for user in one.users)
        for one in exponential.users
    )


def _is_of_logistic(quotient: fx.Node, node: fx.Node) -> bool:
    sources = node.all_input_nodes
    return _divides(quotient, node) and len(sources) == 1 and _is_logistic(sources[0])


def _visit(user: fx.Node, node: fx.Node, place: int, uses: Uses) -> bool:
    """Takes in what the user does with the node; whether its result is to be followed."""
    target = user.target
    end = _ENDS.get(target)
    if user.op == "output":
        uses.kinds.add("linear")
        return False
    if end is not None and place in end.places:
        uses.kinds.add(end.kind)
        return False
    is_gradient = end is not None and place == 0
    if is_gradient or place in _LINEAR.get(target, ()):
        return True
    if name_of(target) == "prims.fma":  # inductor's, which is there only when it is used
        return True
    is_power = target is _aten.pow.Tensor_Scalar and user.args[1] in (1, 2, 3)
    if (target in _CURVES and place == 0) or is_power:
        uses.kinds.add("curve")
        return True
    if target is _aten.exp.default:
        is_flat = _is_bell(user) or _is_logistic(user)
        uses.kinds.add("curve" if is_flat else "exponential")
        return True
    if _is_of_logistic(user, node):
        return True
    if target in _ABOVE_ZERO and user.args[1] == 0:
        uses.kinds.add("sign")
        return False
    uses.obstacle = name_of(target)
    return False


def uses_of(saved: fx.Node) -> Uses:
    """What becomes of it, from a placeholder of the backward graph on."""
    uses = Uses()
    seen = {saved}
    to_visit = [saved]
    while to_visit and not uses.obstacle:
        node = to_visit.pop()
        for user in node.users:
            follows = [_visit(user, node, place, uses) for place in _places(user, node)]
            if any(follows) and user not in seen:
                seen.add(user)
                to_visit.append(user)
    if not uses.kinds and not uses.obstacle:
        uses.kinds.add("linear")  # it leaves the graph by sums alone
    return uses
