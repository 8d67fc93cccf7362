"""one_hot: class numbers become rows of ``depth`` along a new axis, ``on`` at the class and ``off`` elsewhere.

Sources: ONNX OneHot-11, Hardmax-13; TFLite ONE_HOT. With ``wraps`` a negative number counts from the end, as ONNX has
it; one that is out of range gives a row without ``on``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Array, DType, Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import lift
from burnc.ops.case import Operand, case
from burnc.ops.cast import CastAttrs
from burnc.ops.mapping import FileNode, OldForm, onnx_op, tflite_op
from burnc.ops.slice import SliceAttrs
from burnc.ops.spec import OnnxWriter, OpSpec, required


@dataclass(frozen=True)
class OneHotAttrs:
    depth: int = 1
    to: str = "float32"
    axis: int = -1
    on: float = 1.0
    off: float = 0.0
    wraps: bool = False


def infer(a: OneHotAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if x.dtype not in (DType.INT32, DType.INT64) or a.depth < 1:
        raise GraphError(f"class numbers {x} must be int32 or int64, and the depth {a.depth} positive")
    if not -x.rank - 1 <= a.axis <= x.rank:
        raise GraphError(f"axis {a.axis} is out of range for rank {x.rank + 1}")
    axis = a.axis % (x.rank + 1)
    return [TensorType(DType(a.to), (*x.shape[:axis], a.depth, *x.shape[axis:]))]


def body(k: KernelBuilder, a: OneHotAttrs, x: Tensor, y: Tensor) -> None:
    axis, dtype = a.axis % y.type.rank, y.type.dtype
    for place in k.grid(y.shape):
        number = k.let("number", k.cast(x.raw(*place[:axis], *place[axis + 1 :]), INT32))
        hit = number.eq(place[axis])
        if a.wraps:
            hit = hit | (number + a.depth).eq(place[axis])
        y[place] = k.select(hit, lift(a.on, dtype), a.off)


def forward(xp: Any, a: OneHotAttrs, x: Any) -> Any:
    numbers = xp.where(x < 0, x + a.depth, x) if a.wraps else x
    hit = xp.moveaxis(numbers[..., None] == xp.arange(a.depth), -1, a.axis)
    return xp.where(hit, np.array(a.on, a.to), np.array(a.off, a.to))


def from_onnx(node: FileNode) -> list[Value]:
    depth, axis = int(node.constant(1, "the depth").reshape(-1)[0]), int(node.attribute("axis", -1))
    if node.input(2).data is None:
        hit = node.emit("one_hot", [_numbers(node)], OneHotAttrs(depth, "bool", axis, 1, 0, wraps=True), last=False)
        off, on = (node.emit("slice", [node.input(2)], SliceAttrs((at,), (1,)), last=False) for at in (0, 1))
        return [node.emit("where", [hit, on, off])]
    values = node.constant(2, "the values").reshape(-1)
    a = OneHotAttrs(depth, str(values.dtype), axis, *_plain(values[::-1]), wraps=True)
    numbers = _numbers(node)
    alone = _before_row(numbers)
    if alone is None or not -2 <= axis <= 1:
        return [node.emit("one_hot", [numbers], a)]
    along = 0 if axis in (0, -2) else -1
    row = node.emit("one_hot", [alone], replace(a, axis=along), last=False)
    shape = (depth, 1) if along == 0 else (1, depth)
    return [node.emit("reshape", [row], node.builder.operators["reshape"].attrs(shape))]


def _before_row(numbers: Value) -> Value | None:
    """The number alone of which a file, for want of another form, makes a row of one (``to_onnx``)."""
    source = numbers.producer
    is_row = source is not None and source.op == "reshape" and numbers.type.shape == (1,)
    return source.input(0) if source is not None and is_row and source.input(0).type.rank == 0 else None


def hardmax(node: FileNode) -> list[Value]:
    """One at the first of the largest elements along the axis (of all axes from it on, before opset 13)."""
    flattens = node.attribute("flattens") is not None
    x, axis = node.input(0), int(node.attribute("axis", 1 if flattens else -1))
    if not x.type.dtype.is_float or not -x.type.rank <= axis < x.type.rank:
        node.refuse(f"axis {axis} of {x.type}")
    axis %= x.type.rank
    ops, shape = node.builder.operators, x.type.shape
    if flattens:
        rows = ops["reshape"].attrs((math.prod(shape[:axis]), math.prod(shape[axis:])))
        x, axis = node.emit("reshape", [x], rows, last=False), 1
    kept = node.emit("arg_max", [x], ops["arg_max"].attrs(axis, keepdims=True), last=False)
    rest = tuple(n for i, n in enumerate(x.type.shape) if i != axis)
    largest = node.emit("reshape", [kept], ops["reshape"].attrs(rest), last=False)
    attrs = OneHotAttrs(x.type.shape[axis], x.type.dtype.value, axis, wraps=True)
    if not flattens:
        return [node.emit("one_hot", [largest], attrs)]
    return [node.emit("reshape", [node.emit("one_hot", [largest], attrs, last=False)], ops["reshape"].attrs(shape))]


def from_tflite(node: FileNode) -> list[Value]:
    depth = int(node.constant(1, "the depth").reshape(()))
    on, off = (node.constant(i, what).reshape(()) for i, what in ((2, "the value on"), (3, "the value off")))
    a = OneHotAttrs(depth, str(on.dtype), int(node.attribute("axis", -1)), *_plain(np.array([on, off])))
    return [node.emit("one_hot", [_numbers(node)], a)]


def _plain(values: Array) -> tuple[float, float]:
    """On and off as they are: whole numbers stay whole."""
    on, off = values.tolist()
    return on, off


def _numbers(node: FileNode) -> Value:
    x = node.input(0)
    if x.type.dtype in (DType.INT32, DType.INT64):
        return x
    return node.emit("cast", [x], CastAttrs("int64"), last=False)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: OneHotAttrs = node.attrs
    values = w.constant(np.array([a.off, a.on], a.to), "values")
    depth = w.constant(np.array(a.depth, node.input(0).type.dtype.numpy), "depth")  # onnxruntime wants one type
    if node.input(0).type.rank > 0:
        w.emit("OneHot", [w.input(node, 0), depth, values], [w.output(node)], axis=a.axis)
        return
    # ONNX wants an axis of numbers.
    row = w.emit("Reshape", [w.input(node, 0), w.constant(np.array([1], np.int64), "row")])
    rows = w.emit("OneHot", [row, depth, values], axis=a.axis)
    w.emit("Reshape", [rows, w.constant(np.array([a.depth], np.int64), "shape")], [w.output(node)])


one_hot = OpSpec(
    name="one_hot",
    attrs=OneHotAttrs,
    infer=infer,
    forward=forward,
    body=body,
    onnx=(
        onnx_op("OneHot", build=from_onnx),
        onnx_op("Hardmax", build=hardmax, old=OldForm(("Hardmax",), 13, {"flattens": "1"})),
    ),
    tflite=(tflite_op("ONE_HOT", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((6,), dtype="int64", low=0, high=3), attrs=OneHotAttrs(4), kinds=("float32",)),
        case(Operand((2, 3), dtype="int32", low=0, high=9), attrs=OneHotAttrs(10), kinds=("float32",)),
        case(
            Operand((2, 3), dtype="int64", low=-5, high=4),
            attrs=OneHotAttrs(5, "float32", 1, 2.5, -1.0, wraps=True),
            kinds=("float32",),
        ),
    ),
)
