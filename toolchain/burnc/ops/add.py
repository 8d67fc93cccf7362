"""add: numpy's broadcast sum. Sources: ONNX Add-14; TFLite ADD; integers as TFLite Micro's reference kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnc.errors import GraphError
from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.activation import clamped, through_activation
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import ALL_KINDS, Operand, case, weights
from burnc.ops.mapping import ONNXRUNTIME, FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.nary import chained
from burnc.ops.quantized_form import quantized_form
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, broadcast_shapes, required

# Bits that TFLite gives both operands before it brings them to a common scale.
LEFT_SHIFT = 20
LEFT_SHIFT_INT16 = 15


@dataclass(frozen=True)
class AddAttrs:
    activation_min: float = -math.inf
    activation_max: float = math.inf


def infer_broadcast(a: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The type of an elementwise operation on two operands."""
    left, right = required(inputs, 0), required(inputs, 1)
    if left.dtype is not right.dtype:
        raise GraphError(f"operands are {left.dtype.value} and {right.dtype.value}")
    return [TensorType(left.dtype, broadcast_shapes(left.shape, right.shape))]


def infer_arithmetic(a: Any, inputs: Sequence[TensorType | None]) -> list[TensorType]:
    """The same where the operands are numbers."""
    if required(inputs, 0).dtype is DType.BOOL:
        raise GraphError("numbers are needed, but the operands are bool")
    return infer_broadcast(a, inputs)


def body(k: KernelBuilder, a: AddAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = k.clamp_real(k.wrapped("+", left[aligned(i, left.shape)], right[aligned(i, right.shape)]))


def left_shift(type_: TensorType) -> int:
    return LEFT_SHIFT_INT16 if type_.dtype is DType.INT16 else LEFT_SHIFT


def factors(node: Node) -> NDArray[np.float64]:
    """To a common scale for either operand, then from there to the result."""
    left, right, y = node.input(0).type.scale, node.input(1).type.scale, node.output.type.scale
    common = 2.0 * max(left, right)
    return np.array([left / common, right / common, common / (2 ** left_shift(node.output.type) * y)])


def body_int8(k: KernelBuilder, a: AddAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    left_factor, right_factor, result_factor = factors(k.node).tolist()
    lifted = 2 ** left_shift(y.type)
    for i in k.grid(y.shape):
        first = k.let("left", k.scale_by(left[aligned(i, left.shape)] * lifted, left_factor))
        second = k.let("right", k.scale_by(right[aligned(i, right.shape)] * lifted, right_factor))
        y[i] = k.to_output(k.scale_by(first + second, result_factor))


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    operands = factors(node)
    first, second = (
        rescaled(
            node, (v.astype(np.int64) - node.input(i).type.zero_point) << left_shift(node.output.type), operands[i]
        )
        for i, v in enumerate((left, right))
    )
    return to_output(node, rescaled(node, first + second, operands[2]))


def forward(xp: Any, a: AddAttrs, left: Any, right: Any) -> Any:
    return clamped(xp, a, xp.add(left, right))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    dy = through_activation(b, node, dy)
    return [summed_to(b, dy, v.type.shape) for v in node.present_inputs]


def from_onnx(node: FileNode) -> list[Value]:
    return [node.emit("add", [node.input(0), node.input(1)])]


def activation_of_real(node: FileNode) -> dict[str, float]:
    """``fused_activation``, refused behind whole numbers: TFLite Micro's ADD and DIV leave it out there."""
    activation = fused_activation(node)
    x = node.input(0).type
    if x.dtype.is_integer and x.quant is None and any(map(math.isfinite, activation.values())):
        node.refuse("an activation behind whole numbers is not supported: TFLite Micro leaves it out")
    return activation


def from_tflite(node: FileNode) -> list[Value]:
    return [node.emit("add", [node.input(0), node.input(1)], AddAttrs(**activation_of_real(node)))]


def from_tflite_many(node: FileNode) -> list[Value]:
    if node.input(0).type.quant is not None:
        node.refuse("ADD_N of quantized tensors is not supported")
    return list(chained("add")(node))


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.finish(node, w.emit("Add", [w.input(node, 0), w.input(node, 1)]))


add = OpSpec(
    name="add",
    attrs=AddAttrs,
    infer=infer_arithmetic,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    factors=factors,
    onnx=(
        onnx_op("Add", build=from_onnx),
        onnx_op("QLinearAdd", build=quantized_form(from_onnx, 0, 3), domain=ONNXRUNTIME, integers=True),
        onnx_op("Sum", build=chained("add")),
        onnx_op("Mean", build=chained("add", mean=True)),
    ),
    tflite=(tflite_op("ADD", build=from_tflite), tflite_op("ADD_N", build=from_tflite_many)),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), (2, 3, 4), kinds=ALL_KINDS),
        case((1, 5, 5, 3), (3,), kinds=ALL_KINDS),
        case((2, 1, 4), (3, 1)),
        case((4,), (2, 3, 4), attrs=AddAttrs(activation_min=0.0), kinds=ALL_KINDS),
        case((2, 9), Operand((2, 9), low=-20, high=30), attrs=AddAttrs(0.0, 6.0), kinds=ALL_KINDS),
        case((3, 4), weights(1, 4)),
        case((1, 7), Operand((1, 1), low=-0.01, high=0.01), attrs=AddAttrs(-1.0, 1.0)),
        case(
            Operand((5,), dtype="int32", low=-99, high=99),
            Operand((5,), dtype="int32", low=-99, high=99),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
)
