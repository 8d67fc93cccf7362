"""squared_difference: (left - right) squared, broadcast. Sources: TFLite SQUARED_DIFFERENCE; integers as TFLM."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Builder, DType, Node, TensorType, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.add import infer_arithmetic
from burnc.ops.broadcast import aligned, negated, summed_to
from burnc.ops.case import ALL_KINDS, Operand, case, weights
from burnc.ops.mapping import tflite_op
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule
from burnc.ops.unary import NoAttrs

LEFT_SHIFT = 7


def left_shift(type_: TensorType) -> int:
    """Bits that both operands are given before they are brought to a common scale: none over int16."""
    return 0 if type_.dtype is DType.INT16 else LEFT_SHIFT


def body(k: KernelBuilder, a: NoAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        difference = k.let("difference", k.wrapped("-", left[aligned(i, left.shape)], right[aligned(i, right.shape)]))
        y[i] = k.wrapped("*", difference, difference)


def factors(node: Node) -> list[float]:
    """To a common scale for either operand, then from its square to the result."""
    left, right, y = node.input(0).type.scale, node.input(1).type.scale, node.output.type.scale
    common = 2.0 * max(left, right)
    return [left / common, right / common, common * common / (4.0 ** left_shift(node.output.type) * y)]


def body_int8(k: KernelBuilder, a: NoAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    left_factor, right_factor, result_factor = factors(k.node)
    lifted = 2 ** left_shift(y.type)
    for i in k.grid(y.shape):
        first = k.let("left", k.scale_by(left[aligned(i, left.shape)] * lifted, left_factor))
        second = k.let("right", k.scale_by(right[aligned(i, right.shape)] * lifted, right_factor))
        difference = k.let("difference", first - second)
        y[i] = k.to_output(k.scale_by(difference * difference, result_factor))


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    operands, lifted = factors(node), left_shift(node.output.type)
    first, second = (
        rescaled(node, (v.astype(np.int64) - node.input(i).type.zero_point) << lifted, operands[i])
        for i, v in enumerate((left, right))
    )
    return to_output(node, rescaled(node, (first - second) ** 2, operands[2]))


def forward(xp: Any, a: NoAttrs, left: Any, right: Any) -> Any:
    difference = xp.subtract(left, right)
    return xp.asarray(difference * difference)


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    left, right = node.input(0), node.input(1)
    two = b.constant("two", np.array(2.0, dy.type.dtype.numpy))
    slope = b.node("mul", [b.node("mul", [dy, two]), b.node("sub", [left, right])])
    return [summed_to(b, slope, left.type.shape), negated(b, summed_to(b, slope, right.type.shape))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    difference = w.emit("Sub", [w.input(node, 0), w.input(node, 1)])
    w.emit("Pow", [difference, w.constant(np.array(2.0, np.float32), "exponent")], [w.output(node)])


squared_difference = OpSpec(
    name="squared_difference",
    attrs=NoAttrs,
    infer=infer_arithmetic,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    factors=factors,
    tflite=(tflite_op("SQUARED_DIFFERENCE"),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), (2, 3, 4), kinds=ALL_KINDS),
        case((2, 40), weights(2, 1), kinds=ALL_KINDS),
        case((3,), Operand((3,), values=(np.inf, np.nan, -0.0)), kinds=("float32",)),
    ),
    pointwise=True,
)
