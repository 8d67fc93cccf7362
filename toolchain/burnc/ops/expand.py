"""expand: a tensor repeated along axes of size 1 and new leading axes. Sources: ONNX Expand-13; TFLite BROADCAST_TO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.errors import GraphError
from burnc.ir import Builder, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import ALL_KINDS, case
from burnc.ops.mapping import LARGEST_KNOWN, FileNode, onnx_op, tflite_op
from burnc.ops.requantize import Integers
from burnc.ops.spec import NARROW, OnnxWriter, OpSpec, QuantRule, broadcast_shapes, required


@dataclass(frozen=True)
class ExpandAttrs:
    shape: tuple[int, ...] = ()


def infer(a: ExpandAttrs, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    x = required(inputs, 0)
    if broadcast_shapes(x.shape, a.shape) != a.shape:
        raise GraphError(f"shape {list(x.shape)} does not broadcast to {list(a.shape)}")
    return [x.with_shape(a.shape).with_quant(None)]


def body(k: KernelBuilder, a: ExpandAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = x.raw(*aligned(i, x.shape))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [summed_to(b, dy, node.input(0).type.shape)]


def forward(xp: Any, a: ExpandAttrs, x: Any) -> Any:
    return xp.ascontiguousarray(xp.broadcast_to(x, a.shape)).reshape(a.shape)


def integer(node: Node, x: Integers) -> Integers:
    return np.asarray(forward(np, node.attrs, x))


def from_onnx(node: FileNode) -> list[Value]:
    x, wanted = node.input(0), node.constant(1, "the shape").reshape(-1).tolist()
    try:
        shape = broadcast_shapes(x.type.shape, tuple(wanted))
    except GraphError as error:
        node.refuse(error.what)
    return [node.emit("expand", [x], ExpandAttrs(shape))]


def from_tflite_fill(node: FileNode) -> list[Value]:
    """One value everywhere."""
    shape = tuple(int(n) for n in node.constant(0, "the shape").reshape(-1))
    value = node.input(1)
    if value.type.size != 1 or min(shape, default=1) < 0:
        node.refuse(f"a tensor of {list(shape)} cannot be filled with {list(value.type.shape)}")
    if value.type.rank:
        node.refuse(f"the value {list(value.type.shape)} must be a scalar")
    return [node.emit("expand", [value], ExpandAttrs(shape), quant=value.type.quant)]


def from_tflite_shapes(node: FileNode) -> list[Value]:
    """The shape that two broadcast to: known when the file is read."""
    shapes = [tuple(node.constant(i, "a shape").reshape(-1).tolist()) for i in (0, 1)]
    return [node.new_constant("shape", np.array(broadcast_shapes(*shapes), node.input(0).type.dtype.numpy))]


def from_tflite_zeros(node: FileNode) -> list[Value]:
    """Bytes of zeros, whatever the zero point."""
    x = node.input(0).type
    if x.size > LARGEST_KNOWN:
        node.refuse(f"{x.size} zeros are more than are made beforehand")
    return [node.new_constant("zeros", np.zeros(x.shape, x.dtype.numpy), x.quant)]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    shape = w.constant(np.array(node.attrs.shape, np.int64), "shape")
    w.emit("Expand", [w.input(node, 0), shape], [w.output(node)])


expand = OpSpec(
    name="expand",
    attrs=ExpandAttrs,
    infer=infer,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(result="same", dtypes=NARROW),
    onnx=(onnx_op("Expand", build=from_onnx),),
    tflite=(
        tflite_op("BROADCAST_TO", build=from_onnx),
        tflite_op("BROADCAST_ARGS", build=from_tflite_shapes),
        tflite_op("FILL", build=from_tflite_fill),
        tflite_op("ZEROS_LIKE", build=from_tflite_zeros),
    ),
    to_onnx=to_onnx,
    cases=(
        case((2, 1, 4), attrs=ExpandAttrs((2, 3, 4)), kinds=ALL_KINDS),
        case((3,), attrs=ExpandAttrs((2, 3)), kinds=("float32",)),
        case((), attrs=ExpandAttrs((2, 2))),
        case((2, 3), attrs=ExpandAttrs((2, 3)), kinds=("float32",)),
    ),
)
