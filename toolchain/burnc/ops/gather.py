"""gather: slices along one axis, at indices that are computed at run time.

Sources: ONNX Gather-13, Compress-11; TFLite GATHER.

An index below 0 counts from the end. One that is out of range even so is clamped: neither standard defines it, and a
kernel must not read beside its tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Node, TensorType, Value
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, required


@dataclass(frozen=True)
class GatherAttrs:
    axis: int = 0


def infer(a: GatherAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x, indices = required(inputs, 0), required(inputs, 1)
    if not -x.rank <= a.axis < x.rank or 0 in x.shape:
        raise GraphError(f"axis {a.axis} of {list(x.shape)} holds nothing to gather")
    if indices.dtype.value not in ("int32", "int64"):
        raise GraphError(f"indices are {indices.dtype.value}, they must be int32 or int64")
    axis = a.axis % x.rank
    return [TensorType(x.dtype, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))]


def body(k: KernelBuilder, a: GatherAttrs, x: Tensor, indices: Tensor, y: Tensor) -> None:
    axis, length = a.axis % x.type.rank, x.shape[a.axis]
    behind = axis + indices.type.rank
    for where in k.grid(y.shape):
        given = k.let("given", indices.raw(*where[axis:behind]))
        counted = k.select(given < 0, given + length, given)
        index = k.let("index", k.cast(k.minimum(k.maximum(counted, 0), length - 1), INT32))
        y[where] = x.raw(*where[:axis], index, *where[behind:])


def forward(xp: Any, a: GatherAttrs, x: Any, indices: Any) -> Any:
    length = x.shape[a.axis]
    return xp.take(x, xp.clip(xp.where(indices < 0, indices + length, indices), 0, length - 1), axis=a.axis)


def integer(node: Node, x: Integers, indices: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x, indices))


def compress(node: FileNode) -> list[Value]:
    """The slices along an axis (elements of the whole, without one) at which a constant condition holds."""
    x, wanted = node.input(0), node.constant(1, "the condition").reshape(-1)
    axis = node.attribute("axis")
    if axis is None:
        attrs = node.builder.operators["reshape"].attrs((x.type.size,))
        x, axis = node.emit("reshape", [x], attrs, last=False, quant=x.type.quant), 0
    if not -x.type.rank <= axis < x.type.rank or len(wanted) > x.type.shape[axis] or not wanted.any():
        node.refuse(f"a condition of {len(wanted)} values for axis {axis} of {list(x.type.shape)} leaves nothing")
    places = node.new_constant("places", np.flatnonzero(wanted))
    return [node.emit("gather", [x, places], GatherAttrs(int(axis)), quant=x.type.quant)]


def from_tflite(node: FileNode) -> list[Value]:
    x, indices, axis = node.input(0), node.input(1), int(node.attribute("axis", 0))
    batch = int(node.attribute("batch_dims", 0))
    if batch == 0:
        return [node.emit("gather", [x, indices], GatherAttrs(axis))]
    if axis % x.type.rank != batch % indices.type.rank:
        node.refuse(f"batch_dims {batch} with axis {axis} is not supported")
    # Behind the batch axes it is one index into each entry of the batch.
    attrs = node.builder.operators["reshape"].attrs((*indices.type.shape, 1))
    indices = node.emit("reshape", [indices], attrs, last=False, name=f"{node.name}.indices")
    attrs = node.builder.operators["gather_nd"].attrs(axis % x.type.rank)
    return [node.emit("gather_nd", [x, indices], attrs)]


def from_tflite_lookup(node: FileNode) -> list[Value]:
    """Rows of a table: it comes behind the indices."""
    return [node.emit("gather", [node.input(1), node.input(0)], GatherAttrs(0))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Gather", [w.input(node, 0), w.input(node, 1)], [w.output(node)], axis=node.attrs.axis)


def _indices(*shape: int, length: int, dtype: str = "int64") -> Operand:
    return Operand(shape, dtype=dtype, low=-length, high=length - 1)


gather = OpSpec(
    name="gather",
    attrs=GatherAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    quant=QuantRule(result="same", dtypes=NARROW, integer_inputs=(1,)),
    onnx=(onnx_op("Gather", attrs={"axis": "axis"}), onnx_op("Compress", build=compress)),
    tflite=(tflite_op("GATHER", build=from_tflite), tflite_op("EMBEDDING_LOOKUP", build=from_tflite_lookup)),
    to_onnx=to_onnx,
    cases=(
        case((5, 3), _indices(4, length=5), kinds=ALL_KINDS),
        case((2, 4, 3), _indices(2, 2, length=4), attrs=GatherAttrs(1)),
        case((2, 7), _indices(1, length=7, dtype="int32"), attrs=GatherAttrs(-1)),
        case((6,), _indices(length=6)),
        case((6, 2), Operand((3,), dtype="int32", low=0, high=5)),
        case((6, 2), Operand((3,), constant=True, dtype="int32", values=(5, 0, 5))),
    ),
)
