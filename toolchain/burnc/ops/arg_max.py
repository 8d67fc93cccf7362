"""arg_max: where along one axis the largest (or smallest) element lies, as int64; of equal ones the first or the last.

Sources: ONNX ArgMax-13, ArgMin-13; TFLite ARG_MAX, ARG_MIN. A NaN counts as what is looked for, as in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import DType, Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.cast import CastAttrs
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.reshape import ReshapeAttrs
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ArgMaxAttrs:
    axis: int = 0
    keepdims: bool = False
    largest: bool = True
    last: bool = False


def infer(a: ArgMaxAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if not 0 <= a.axis < x.rank or x.shape[a.axis] == 0:
        raise GraphError(f"axis {a.axis} of shape {list(x.shape)} holds nothing to compare")
    kept = (1,) if a.keepdims else ()
    return [TensorType(DType.INT64, (*x.shape[: a.axis], *kept, *x.shape[a.axis + 1 :]))]


def body(k: KernelBuilder, a: ArgMaxAttrs, x: Tensor, y: Tensor) -> None:
    outer = x.shape[: a.axis] + x.shape[a.axis + 1 :]
    for where in k.grid(outer):
        before, after = where[: a.axis], where[a.axis :]
        best = k.local("best", x.raw(*before, 0, *after))
        place = k.local("place", 0, INT32)
        for (i,) in k.reduce(x.shape[a.axis : a.axis + 1]):
            value = k.let("value", x.raw(*before, i, *after))
            better = value > best.value if a.largest else value < best.value
            if a.last:
                better = better | value.eq(best.value)
            if x.type.dtype.is_float:
                fresh = value.ne(value) if a.last else value.ne(value) & best.value.eq(best.value)
                better = better | fresh
            with k.when(better):
                best.set(value)
                place.set(i)
        kept = (0,) if a.keepdims else ()
        y[(*before, *kept, *after)] = k.cast(place.value, DType.INT64)


def forward(xp: Any, a: ArgMaxAttrs, x: Any) -> Any:
    find = xp.argmax if a.largest else xp.argmin
    if not a.last:
        return xp.asarray(find(x, axis=a.axis, keepdims=a.keepdims)).astype(xp.int64)
    found = find(xp.flip(x, a.axis), axis=a.axis, keepdims=a.keepdims)
    return xp.asarray(x.shape[a.axis] - 1 - found).astype(xp.int64)


def integer(node: Node, x: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x.astype(np.int32)))


def _attrs(node: FileNode, axis: int, *, largest: bool, keepdims: bool, last: bool = False) -> ArgMaxAttrs:
    rank = node.input(0).type.rank
    if not -rank <= axis < rank:
        node.refuse(f"axis {axis} is out of range for shape {list(node.input(0).type.shape)}")
    return ArgMaxAttrs(axis % rank, keepdims, largest, last)


def _emitted(node: FileNode, a: ArgMaxAttrs, *, last: bool) -> Value:
    """With its axis kept it can change its layout, and the reshape costs nothing."""
    x = node.input(0)
    if a.keepdims:
        return node.emit("arg_max", [x], a, last=last)
    y = node.emit("arg_max", [x], replace(a, keepdims=True), last=False)
    shape = ReshapeAttrs((*x.type.shape[: a.axis], *x.type.shape[a.axis + 1 :]))
    return node.emit("reshape", [y], shape, last=last)


def permuted(a: ArgMaxAttrs, permutation: Sequence[int]) -> ArgMaxAttrs:
    """For results that keep their axis; the layout pass asks for no others."""
    return replace(a, axis=permutation[a.axis])


def from_onnx(*, largest: bool) -> Build:
    def build(node: FileNode) -> list[Value]:
        keepdims, last = bool(node.attribute("keepdims", 1)), bool(node.attribute("select_last_index", 0))
        a = _attrs(node, int(node.attribute("axis", 0)), largest=largest, keepdims=keepdims, last=last)
        return [_emitted(node, a, last=True)]

    return build


def from_tflite(*, largest: bool) -> Build:
    def build(node: FileNode) -> list[Value]:
        axis = int(node.constant(1, "the axis").reshape(()))
        a = _attrs(node, axis, largest=largest, keepdims=False)
        if node.attribute("output_type") == "INT64":
            return [_emitted(node, a, last=True)]
        found = _emitted(node, a, last=False)
        return [node.emit("cast", [found], CastAttrs("int32"))]

    return build


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ArgMaxAttrs = node.attrs
    op_type = "ArgMax" if a.largest else "ArgMin"
    w.emit(
        op_type,
        [w.input(node, 0)],
        [w.output(node)],
        axis=a.axis,
        keepdims=int(a.keepdims),
        select_last_index=int(a.last),
    )


arg_max = OpSpec(
    name="arg_max",
    attrs=ArgMaxAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(integer_outputs=(0,), dtypes=QUANTIZED),
    onnx=(
        onnx_op("ArgMax", build=from_onnx(largest=True)),
        onnx_op("ArgMin", build=from_onnx(largest=False)),
    ),
    tflite=(
        tflite_op("ARG_MAX", build=from_tflite(largest=True)),
        tflite_op("ARG_MIN", build=from_tflite(largest=False)),
    ),
    permuted=permuted,
    to_onnx=to_onnx,
    cases=(
        case((2, 7), attrs=ArgMaxAttrs(1), kinds=ALL_KINDS),
        case((2, 3, 4), attrs=ArgMaxAttrs(1, keepdims=True, largest=False)),
        case((3, 4), attrs=ArgMaxAttrs(0, largest=False), kinds=("float32",)),
        case(Operand((2, 6), values=(1.0, 3.0, 3.0, -1.0)), attrs=ArgMaxAttrs(1, last=True)),
        case(Operand((9,), values=(2.0, 1.0, 1.0, 3.0)), attrs=ArgMaxAttrs(0, largest=False, last=True)),
    ),
)
