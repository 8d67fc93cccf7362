"""sub: numpy's broadcast difference. Sources: ONNX Sub-14; TFLite SUB; integers as TFLite Micro's reference kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.activation import clamped, through_activation
from burnc.ops.add import factors, infer_arithmetic, left_shift
from burnc.ops.broadcast import aligned, negated, summed_to
from burnc.ops.case import ALL_KINDS, Operand, case, weights
from burnc.ops.mapping import FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.requantize import Integers, rescaled, to_output
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule


@dataclass(frozen=True)
class SubAttrs:
    activation_min: float = -math.inf
    activation_max: float = math.inf


def body(k: KernelBuilder, a: SubAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = k.clamp_real(k.wrapped("-", left[aligned(i, left.shape)], right[aligned(i, right.shape)]))


def body_int8(k: KernelBuilder, a: SubAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    left_factor, right_factor, result_factor = factors(k.node).tolist()
    lifted = 2 ** left_shift(y.type)
    for i in k.grid(y.shape):
        first = k.let("left", k.scale_by(left[aligned(i, left.shape)] * lifted, left_factor))
        second = k.let("right", k.scale_by(right[aligned(i, right.shape)] * lifted, right_factor))
        y[i] = k.to_output(k.scale_by(first - second, result_factor))


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    operands, lifted = factors(node), left_shift(node.output.type)
    first, second = (
        rescaled(node, (v.astype(np.int64) - node.input(i).type.zero_point) << lifted, operands[i])
        for i, v in enumerate((left, right))
    )
    return to_output(node, rescaled(node, first - second, operands[2]))


def forward(xp: Any, a: SubAttrs, left: Any, right: Any) -> Any:
    return clamped(xp, a, xp.subtract(left, right))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    dy = through_activation(b, node, dy)
    left, right = node.input(0).type.shape, node.input(1).type.shape
    return [summed_to(b, dy, left), negated(b, summed_to(b, dy, right))]


def from_onnx(node: FileNode) -> list[Value]:
    return [node.emit("sub", [node.input(0), node.input(1)])]


def from_tflite(node: FileNode) -> list[Value]:
    return [node.emit("sub", [node.input(0), node.input(1)], SubAttrs(**fused_activation(node)))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.finish(node, w.emit("Sub", [w.input(node, 0), w.input(node, 1)]))


sub = OpSpec(
    name="sub",
    attrs=SubAttrs,
    infer=infer_arithmetic,
    forward=forward,
    integer=integer,
    body=body,
    body_int8=body_int8,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    factors=factors,
    onnx=(onnx_op("Sub", build=from_onnx),),
    tflite=(tflite_op("SUB", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), (2, 3, 4), kinds=ALL_KINDS),
        case((1, 5, 5, 3), (3,), kinds=("float32",)),
        case((), (2, 3), kinds=("float32",)),
        case(weights(3, 1), (2, 1, 4), kinds=ALL_KINDS),
        case((2, 9), Operand((2, 9), low=-20, high=30), attrs=SubAttrs(0.0, 6.0), kinds=ALL_KINDS),
        case(
            Operand((5,), dtype="int32", low=-99, high=99),
            Operand((1,), dtype="int32", low=-99, high=99),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
)
