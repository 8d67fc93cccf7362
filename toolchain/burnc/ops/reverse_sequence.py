"""reverse_sequence: the first elements along one axis in reverse, as many as each index of another axis has.

Sources: ONNX ReverseSequence-10; TFLite REVERSE_SEQUENCE. A length is clamped to what there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.ops.case import Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class ReverseSequenceAttrs:
    """``axis`` is reversed, by a length for each index of ``batch_axis``; both count from 0."""

    axis: int = 0
    batch_axis: int = 1


def infer(a: ReverseSequenceAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, lengths = required(inputs, 0), required(inputs, 1)
    if a.axis == a.batch_axis or any(not 0 <= axis < x.rank for axis in (a.axis, a.batch_axis)):
        raise GraphError(f"axes {a.axis} and {a.batch_axis} do not go with {list(x.shape)}")
    if lengths.shape != (x.shape[a.batch_axis],) or lengths.dtype.value not in ("int32", "int64"):
        raise GraphError(f"lengths {lengths} must be one whole number for each index of axis {a.batch_axis}")
    return [x.with_quant(None)]


def body(k: KernelBuilder, a: ReverseSequenceAttrs, x: Tensor, lengths: Tensor, y: Tensor) -> None:
    count = x.shape[a.axis]
    for where in k.grid(y.shape):
        step = where[a.axis]
        length = k.let("length", k.cast(k.minimum(k.maximum(lengths.raw(where[a.batch_axis]), 0), count), INT32))
        source = k.let("source", k.select(step < length, length - 1 - step, step))
        y[where] = x.raw(*where[: a.axis], source, *where[a.axis + 1 :])


def forward(xp: Any, a: ReverseSequenceAttrs, x: Any, lengths: Any) -> Any:
    count = x.shape[a.axis]
    steps = xp.arange(count).reshape([-1 if i == a.axis else 1 for i in range(x.ndim)])
    many = xp.clip(lengths, 0, count).reshape([-1 if i == a.batch_axis else 1 for i in range(x.ndim)])
    source = xp.where(steps < many, many - 1 - steps, steps)
    return xp.take_along_axis(x, xp.broadcast_to(source, x.shape), axis=a.axis)


def integer(node: Node, x: Integers, lengths: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x, lengths))


def permuted(a: ReverseSequenceAttrs, permutation: Sequence[int]) -> ReverseSequenceAttrs:
    return ReverseSequenceAttrs(permutation[a.axis], permutation[a.batch_axis])


def from_onnx(node: FileNode) -> list[Value]:
    return _emit(node, int(node.attribute("time_axis", 0)), int(node.attribute("batch_axis", 1)))


def from_tflite(node: FileNode) -> list[Value]:
    return _emit(node, int(node.attribute("seq_dim", 0)), int(node.attribute("batch_dim", 0)))


def _emit(node: FileNode, axis: int, batch_axis: int) -> list[Value]:
    return [node.emit("reverse_sequence", [node.input(0), node.input(1)], ReverseSequenceAttrs(axis, batch_axis))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ReverseSequenceAttrs = node.attrs
    x, lengths = w.input(node, 0), w.emit("Cast", [w.input(node, 1)], to=7)
    # ONNX has the two axes in front, in either order.
    order = [a.axis, a.batch_axis, *(i for i in range(node.input(0).type.rank) if i not in (a.axis, a.batch_axis))]
    if order[:2] in ([0, 1], [1, 0]):
        w.emit("ReverseSequence", [x, lengths], [w.output(node)], time_axis=a.axis, batch_axis=a.batch_axis)
        return
    y = w.emit("ReverseSequence", [w.transposed(x, order), lengths], time_axis=0, batch_axis=1)
    w.emit("Transpose", [y], [w.output(node)], perm=[int(i) for i in np.argsort(order)])


reverse_sequence = OpSpec(
    name="reverse_sequence",
    attrs=ReverseSequenceAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=QUANTIZED, integer_inputs=(1,)),
    onnx=(onnx_op("ReverseSequence", build=from_onnx),),
    tflite=(tflite_op("REVERSE_SEQUENCE", build=from_tflite),),
    to_onnx=to_onnx,
    permuted=permuted,
    cases=(
        case((4, 3, 2), Operand((3,), dtype="int64", low=1, high=4)),
        case((2, 5), Operand((2,), dtype="int32", low=1, high=5), attrs=ReverseSequenceAttrs(1, 0)),
        case((2, 3, 4), Operand((2,), dtype="int64", low=1, high=4), attrs=ReverseSequenceAttrs(2, 0)),
    ),
)
