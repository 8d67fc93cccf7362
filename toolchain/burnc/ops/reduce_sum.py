"""reduce_sum: the sum along some axes of floats. Sources: ONNX ReduceSum-13."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import case
from burnc.ops.expand import ExpandAttrs
from burnc.ops.mapping import FileNode, onnx_op
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class ReduceAttrs:
    """``axes`` count from 0; ``keepdims`` leaves them in the shape as 1."""

    axes: tuple[int, ...] = ()
    keepdims: bool = False


def infer(a: ReduceAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The type of a tensor that is reduced along axes."""
    x = required(inputs, 0)
    if len(set(a.axes)) != len(a.axes) or any(not 0 <= axis < x.rank for axis in a.axes):
        raise GraphError(f"axes {list(a.axes)} are no axes of shape {list(x.shape)}, each named once")
    if not x.dtype.is_float:
        raise GraphError(f"input {x} is not float")
    if a.keepdims:
        return [x.with_shape([1 if i in a.axes else n for i, n in enumerate(x.shape)])]
    return [x.with_shape([n for i, n in enumerate(x.shape) if i not in a.axes])]


def count(a: ReduceAttrs, x: TensorType) -> int:
    """How many elements one result is made from."""
    return math.prod(x.shape[axis] for axis in a.axes)


def accumulate(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor, factor: float | None) -> None:
    """Sums, times ``factor`` where one is given."""
    kept = [axis for axis in range(x.type.rank) if axis not in a.axes]
    for i in k.grid(y.shape):
        outer: dict[int, Expr] = dict(enumerate(i)) if a.keepdims else dict(zip(kept, i, strict=True))
        total = k.accumulator(0.0)
        for j in k.reduce([x.shape[axis] for axis in a.axes]):
            inner = dict(zip(a.axes, j, strict=True))
            total += x[tuple(inner.get(axis, outer.get(axis, 0)) for axis in range(x.type.rank))]
        y[i] = total.value if factor is None else total.value * factor


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    accumulate(k, a, x, y, None)


def spread(b: Builder, node: Node, dy: Value) -> Value:
    """The gradient of a sum: that of the result at every element."""
    x, a = node.input(0).type, node.attrs
    kept = tuple(1 if i in a.axes else n for i, n in enumerate(x.shape))
    if dy.type.shape != kept:
        dy = b.node("reshape", [dy], ReshapeAttrs(kept))
    return b.node("expand", [dy], ExpandAttrs(x.shape))


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    if a.axes == tuple(range(x.ndim - 1)) and x.ndim > 1:
        # A matrix product runs along memory where numpy's own sum over the leading axes does not.
        rows = x.reshape(-1, x.shape[-1])
        total = xp.ones((1, len(rows)), x.dtype) @ rows
        return total.reshape([1] * (x.ndim - 1) + [-1] if a.keepdims else [-1])
    return xp.asarray(x.sum(axis=a.axes, keepdims=a.keepdims))


def attrs_from_onnx(node: FileNode) -> ReduceAttrs:
    """Axes and keepdims of an ONNX reduction, whose axes are an input that may be absent."""
    rank = node.input(0).type.rank
    axes = [int(v) for v in node.constant(1, "the axes").reshape(-1)] if node.has_input(1) else []
    if any(not -rank <= axis < rank for axis in axes):
        node.refuse(f"axes {axes} are out of range for shape {list(node.input(0).type.shape)}")
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = list(range(rank))
    return ReduceAttrs(tuple(sorted({axis % rank for axis in axes})), bool(node.attribute("keepdims", 1)))


def from_onnx(node: FileNode) -> list[Value]:
    if not node.input(0).type.dtype.is_float:
        node.refuse(f"a sum of {node.input(0).type.dtype.value} is not supported")
    return [node.emit("reduce_sum", [node.input(0)], attrs_from_onnx(node))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    axes = w.constant(np.array(node.attrs.axes, np.int64), "axes")
    w.emit(
        "ReduceSum",
        [w.input(node, 0), axes],
        [w.output(node)],
        keepdims=int(node.attrs.keepdims),
        noop_with_empty_axes=1,
    )


REDUCE_CASES = (
    case((2, 3, 4), attrs=ReduceAttrs((0, 1, 2)), kinds=("float32",)),
    case((2, 3, 4), attrs=ReduceAttrs((1,), keepdims=True), kinds=("float32",)),
    case((2, 3, 4, 5), attrs=ReduceAttrs((0, 1, 2)), kinds=("float32",)),
    case((2, 3, 4), attrs=ReduceAttrs((0, 1), keepdims=True), kinds=("float32",)),
    case((3, 4), attrs=ReduceAttrs(), kinds=("float32",)),
    case((4, 1, 3), attrs=ReduceAttrs((0, 2)), kinds=("float32",)),
)

reduce_sum = OpSpec(
    name="reduce_sum",
    attrs=ReduceAttrs,
    infer=infer,
    forward=forward,
    body=body,
    gradient=lambda b, node, dy: [spread(b, node, dy)],
    onnx=(onnx_op("ReduceSum", build=from_onnx),),
    to_onnx=to_onnx,
    cases=REDUCE_CASES,
)
