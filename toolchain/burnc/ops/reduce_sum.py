"""reduce_sum: the sum along some axes.

Sources: ONNX ReduceSum-13; TFLite SUM; integers as TFLite Micro's ``QuantizedMeanOrSum``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.kernel.expr import Expr
from burnc.ops.case import Operand, case
from burnc.ops.expand import ExpandAttrs
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers, requantized
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


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
    if a.keepdims:
        return [x.with_shape([1 if i in a.axes else n for i, n in enumerate(x.shape)]).with_quant(None)]
    return [x.with_shape([n for i, n in enumerate(x.shape) if i not in a.axes]).with_quant(None)]


def infer_sum(a: ReduceAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """Narrow integers, whose sums do not fit them, are for quantized tensors alone."""
    x = required(inputs, 0)
    if not (x.dtype.is_float or x.quant is not None or x.dtype in (DType.INT32, DType.INT64)):
        raise GraphError(f"{x.dtype.value} is not summed without quantization")
    return infer(a, inputs)


def count(a: ReduceAttrs, x: TensorType) -> int:
    """How many elements one result is made from."""
    return math.prod(x.shape[axis] for axis in a.axes)


def elements(k: KernelBuilder, a: ReduceAttrs, x: Tensor, place: Sequence[Expr]) -> Iterator[tuple[Expr | int, ...]]:
    """Loops over the elements that the result at ``place`` is made from; yields their indices."""
    kept = [axis for axis in range(x.type.rank) if axis not in a.axes]
    outer: dict[int, Expr] = dict(enumerate(place)) if a.keepdims else dict(zip(kept, place, strict=True))
    for j in k.reduce([x.shape[axis] for axis in a.axes]):
        inner = dict(zip(a.axes, j, strict=True))
        yield tuple(inner.get(axis, outer.get(axis, 0)) for axis in range(x.type.rank))


def summed(k: KernelBuilder, a: ReduceAttrs, x: Tensor, place: Sequence[Expr]) -> Expr:
    """The sum that belongs to one place: int32 in a quantized kernel, int64 of other integers."""
    plain = not k.quantized and not x.type.dtype.is_float
    total = k.local("acc", 0, DType.INT64) if plain else k.accumulator(0)
    for indices in elements(k, a, x, place):
        if plain:
            total.set(k.wrapped("+", total.value, k.cast(x[indices], DType.INT64)))
        else:
            total += x[indices]
    return total.value


def body(k: KernelBuilder, a: ReduceAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        total = summed(k, a, x, i)
        y[i] = k.requantize(total) if k.quantized else total


def integer(node: Node, x: Integers) -> Integers:
    centred = x.astype(np.int64) - node.input(0).type.zero_point
    return requantized(node, np.asarray(centred.sum(axis=node.attrs.axes, keepdims=node.attrs.keepdims)))


def permuted(a: ReduceAttrs, permutation: Sequence[int]) -> ReduceAttrs:
    """For results that keep their axes; the layout pass asks for no others."""
    return replace(a, axes=tuple(sorted(permutation[axis] for axis in a.axes)))


def spread(b: Builder, node: Node, dy: Value) -> Value:
    """The gradient of a sum: that of the result at every element."""
    x, a = node.input(0).type, node.attrs
    kept = tuple(1 if i in a.axes else n for i, n in enumerate(x.shape))
    if dy.type.shape != kept:
        dy = b.node("reshape", [dy], ReshapeAttrs(kept))
    return b.node("expand", [dy], ExpandAttrs(x.shape))


def forward(xp: Any, a: ReduceAttrs, x: Any) -> Any:
    if x.dtype.kind == "f" and a.axes == tuple(range(x.ndim - 1)) and x.ndim > 1:
        # A matrix product runs along memory where numpy's own sum over the leading axes does not.
        rows = x.reshape(-1, x.shape[-1])
        total = xp.ones((1, len(rows)), x.dtype) @ rows
        return total.reshape([1] * (x.ndim - 1) + [-1] if a.keepdims else [-1])
    return xp.asarray(x.sum(axis=a.axes, keepdims=a.keepdims, dtype=x.dtype))


def attrs_from_onnx(node: FileNode) -> ReduceAttrs:
    """Axes and keepdims of an ONNX reduction, whose axes are an input that may be absent."""
    rank = node.input(0).type.rank
    axes = [int(v) for v in node.constant(1, "the axes").reshape(-1)] if node.has_input(1) else []
    if any(not -rank <= axis < rank for axis in axes):
        node.refuse(f"axes {axes} are out of range for shape {list(node.input(0).type.shape)}")
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = list(range(rank))
    return ReduceAttrs(tuple(sorted({axis % rank for axis in axes})), bool(node.attribute("keepdims", 1)))


def reduction(op: str) -> Build:
    """The mapping of a reduction that burnc has under that name, for ONNX (keepdims) and TFLite (keep_dims)."""

    def build(node: FileNode) -> list[Value]:
        a = attrs_from_onnx(node)
        kept = node.attribute("keep_dims")
        a = a if kept is None else replace(a, keepdims=bool(kept))
        x = node.input(0)
        if not a.axes:
            return [x]
        if a.keepdims:
            return [node.emit(op, [x], a)]
        # With its axes kept it can change its layout, and the reshape costs nothing.
        y = node.emit(op, [x], replace(a, keepdims=True), last=False, quant=node.output_quant)
        shape = tuple(n for axis, n in enumerate(x.type.shape) if axis not in a.axes)
        return [node.emit("reshape", [y], ReshapeAttrs(shape))]

    return build


def of_flags(op: str) -> Build:
    """A reduction of bool alone: whether all of them, or any, are true."""

    def build(node: FileNode) -> list[Value]:
        if node.input(0).type.dtype is not DType.BOOL:
            node.refuse(f"bool is needed, not {node.input(0).type.dtype.value}")
        return list(reduction(op)(node))

    return build


def written(op_type: str) -> Callable[[OnnxWriter, Node], None]:
    """``to_onnx`` of a reduction."""

    def to_onnx(w: OnnxWriter, node: Node) -> None:
        inputs = [w.input(node, 0), w.constant(np.array(node.attrs.axes, np.int64), "axes")]
        w.emit(op_type, inputs, [w.output(node)], keepdims=int(node.attrs.keepdims), noop_with_empty_axes=1)

    return to_onnx


FLOAT = ("float32",)
REDUCE_CASES = (
    case((2, 3, 4, 5), attrs=ReduceAttrs((1, 2)), kinds=FLOAT),
    case((1, 5, 5, 3), attrs=ReduceAttrs((1, 2), keepdims=True)),
    case((2, 3, 4), attrs=ReduceAttrs((0, 1, 2)), kinds=FLOAT),
    case((4, 1, 3), attrs=ReduceAttrs((0, 2))),
)
INTEGERS = case(Operand((2, 5), dtype="int64", low=-3, high=3), attrs=ReduceAttrs((1,)), kinds=FLOAT)

reduce_sum = OpSpec(
    name="reduce_sum",
    attrs=ReduceAttrs,
    infer=infer_sum,
    forward=forward,
    integer=integer,
    body=body,
    gradient=lambda b, node, dy: [spread(b, node, dy)],
    quant=QuantRule(dtypes=QUANTIZED),
    permuted=permuted,
    onnx=(onnx_op("ReduceSum", build=reduction("reduce_sum")),),
    tflite=(tflite_op("SUM", build=reduction("reduce_sum")),),
    to_onnx=written("ReduceSum"),
    cases=(
        *REDUCE_CASES,
        INTEGERS,
        case((2, 3, 4, 5), attrs=ReduceAttrs((0, 1, 2)), kinds=FLOAT),
        case((3, 4), attrs=ReduceAttrs(), kinds=FLOAT),
        case((2, 3, 4), attrs=ReduceAttrs((1,), keepdims=True), kinds=("int16",)),
        case((4, 1, 3), attrs=ReduceAttrs((0, 2)), kinds=("int16",)),
    ),
)
