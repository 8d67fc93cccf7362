"""concat: tensors joined along one axis. Sources: ONNX Concat-13; TFLite CONCATENATION, PACK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.image_rows import ROWS, RowsRead, same_rows
from burnc.ops.mapping import ONNXRUNTIME, FileNode, onnx_op, tflite_op
from burnc.ops.quantized_form import float_form, real, stored
from burnc.ops.requantize import Integers
from burnc.ops.slice import SliceAttrs
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ConcatAttrs:
    axis: int = 0


def infer(a: ConcatAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    first = required(inputs, 0)
    if not -first.rank <= a.axis < first.rank:
        raise GraphError(f"axis {a.axis} is out of range for shape {list(first.shape)}")
    axis = a.axis % first.rank
    types = [required(inputs, i) for i in range(len(inputs))]
    for other in types[1:]:
        alike = other.rank == first.rank and all(
            m == n for i, (m, n) in enumerate(zip(first.shape, other.shape, strict=True)) if i != axis
        )
        if not alike:
            raise GraphError(f"shapes {list(first.shape)} and {list(other.shape)} differ beside axis {a.axis}")
        if other.dtype is not first.dtype:
            raise GraphError(f"operands are {first.dtype.value} and {other.dtype.value}")
    total = sum(t.shape[axis] for t in types)
    return [TensorType(first.dtype, (*first.shape[:axis], total, *first.shape[axis + 1 :]))]


def body(k: KernelBuilder, a: ConcatAttrs, *tensors: Tensor) -> None:
    *parts, y = tensors
    axis = a.axis % y.type.rank
    start = 0
    for x in parts:
        for indices in k.grid(x.shape):
            target = (*indices[:axis], indices[axis] + start, *indices[axis + 1 :])
            y[target] = x.raw(*indices)
        start += x.shape[axis]


def forward(xp: Any, a: ConcatAttrs, *parts: Any) -> Any:
    return xp.concatenate(parts, axis=a.axis)


def integer(node: Node, *parts: Integers) -> Integers:
    return np.concatenate(parts, axis=node.attrs.axis)


def permuted(a: ConcatAttrs, permutation: Sequence[int]) -> ConcatAttrs:
    return ConcatAttrs(permutation[a.axis])


def from_onnx(node: FileNode) -> list[Value]:
    if "axis" not in node.attributes:
        node.refuse("attribute axis is missing")
    return _build(node)


def from_onnx_quantized(node: FileNode) -> list[Value]:
    """QLinearConcat: the result's scale and zero point, then each operand with its own."""
    if len(node.inputs) < 5 or len(node.inputs) % 3 != 2:
        node.refuse(f"{len(node.inputs)} inputs are no operands with scale and zero point each")
    operands = [real(node, index) for index in range(2, len(node.inputs), 3)]
    return stored(node, float_form(node, from_onnx, operands), 0)


def from_tflite(node: FileNode) -> list[Value]:
    if node.attribute("fused_activation_function", "NONE") != "NONE":
        node.refuse("a fused activation is not supported")
    return _build(node)


def _build(node: FileNode) -> list[Value]:
    parts = [node.input(i) for i in range(len(node.inputs))]
    if not parts:
        node.refuse("it has no inputs")
    return [node.emit("concat", parts, ConcatAttrs(int(node.attribute("axis", 0))))]


def from_tflite_pack(node: FileNode) -> list[Value]:
    rank = node.input(0).type.rank + 1
    axis = int(node.attribute("axis", 0))
    if not -rank <= axis < rank:
        node.refuse(f"axis {axis} is out of range for rank {rank}")
    axis %= rank
    parts = []
    for i in range(len(node.inputs)):
        x = node.input(i)
        attrs = node.builder.operators["reshape"].attrs((*x.type.shape[:axis], 1, *x.type.shape[axis:]))
        parts.append(node.emit("reshape", [x], attrs, last=False, quant=x.type.quant))
    return [node.emit("concat", parts, ConcatAttrs(axis))]


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    axis, start, found = node.attrs.axis % dy.type.rank, 0, []
    for value in node.present_inputs:
        starts = tuple(start if i == axis else 0 for i in range(dy.type.rank))
        found.append(b.node("slice", [dy], SliceAttrs(starts, value.type.shape)))
        start += value.type.shape[axis]
    return found


def to_onnx(w: OnnxWriter, node: Node) -> None:
    names = [w.input(node, i) for i in range(len(node.inputs))]
    w.emit("Concat", names, [w.output(node)], axis=node.attrs.axis)


def rows_side_by_side(node: Node, first: int, last: int) -> RowsRead | None:
    is_beside = node.attrs.axis % node.output.type.rank > ROWS
    return same_rows(node, first, last) if is_beside and not any(v.is_constant for v in node.present_inputs) else None


def is_one_after_the_other(node: Node) -> bool:
    """Along the outermost axis that has a size."""
    shape = node.output.type.shape
    return all(size == 1 for size in shape[: node.attrs.axis % len(shape)])


concat = OpSpec(
    name="concat",
    attrs=ConcatAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=QUANTIZED),
    rows=rows_side_by_side,
    joins=is_one_after_the_other,
    onnx=(
        onnx_op("Concat", build=from_onnx),
        onnx_op("QLinearConcat", build=from_onnx_quantized, domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("CONCATENATION", build=from_tflite), tflite_op("PACK", build=from_tflite_pack)),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((1, 2, 3), (1, 2, 3), attrs=ConcatAttrs(-1)),
        case((2, 1, 3), (2, 4, 3), (2, 2, 3), attrs=ConcatAttrs(1)),
        case((3, 4), attrs=ConcatAttrs(0)),
        case((1, 2, 3, 4), (1, 2, 1, 4), attrs=ConcatAttrs(2)),
        case((2, 2), (1, 2), attrs=ConcatAttrs(0), kinds=ALL_KINDS),
        case((3,), Operand((2,), constant=True)),
        case(
            Operand((1, 2), dtype="int32", low=-9, high=9),
            Operand((1, 3), dtype="int32", low=-9, high=9),
            attrs=ConcatAttrs(1),
            kinds=("float32",),
        ),
    ),
)
