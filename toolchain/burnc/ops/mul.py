"""mul: numpy's broadcast product. Sources: ONNX Mul-14; TFLite MUL; integers as TFLite Micro's reference kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.ops.activation import clamped, through_activation
from burnc.ops.add import infer_arithmetic
from burnc.ops.broadcast import aligned, summed_to
from burnc.ops.case import ALL_KINDS, Operand, case, weights
from burnc.ops.mapping import ONNXRUNTIME, FileNode, fused_activation, onnx_op, tflite_op
from burnc.ops.quantized_form import quantized_form
from burnc.ops.requantize import Integers, requantized
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule


@dataclass(frozen=True)
class MulAttrs:
    activation_min: float = -math.inf
    activation_max: float = math.inf


def body(k: KernelBuilder, a: MulAttrs, left: Tensor, right: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = k.requantize(k.wrapped("*", left[aligned(i, left.shape)], right[aligned(i, right.shape)]))


def integer(node: Node, left: Integers, right: Integers) -> Integers:
    first, second = (v.astype(np.int64) - node.input(i).type.zero_point for i, v in enumerate((left, right)))
    return requantized(node, first * second)


def forward(xp: Any, a: MulAttrs, left: Any, right: Any) -> Any:
    return clamped(xp, a, xp.multiply(left, right))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    dy = through_activation(b, node, dy)
    left, right = node.input(0), node.input(1)
    return [summed_to(b, b.node("mul", [dy, other]), v.type.shape) for v, other in ((left, right), (right, left))]


def from_onnx(node: FileNode) -> list[Value]:
    return [node.emit("mul", [node.input(0), node.input(1)])]


def from_tflite(node: FileNode) -> list[Value]:
    return [node.emit("mul", [node.input(0), node.input(1)], MulAttrs(**fused_activation(node)))]


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.finish(node, w.emit("Mul", [w.input(node, 0), w.input(node, 1)]))


mul = OpSpec(
    name="mul",
    attrs=MulAttrs,
    infer=infer_arithmetic,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    onnx=(
        onnx_op("Mul", build=from_onnx),
        onnx_op("QLinearMul", build=quantized_form(from_onnx, 0, 3), domain=ONNXRUNTIME, integers=True),
    ),
    tflite=(tflite_op("MUL", build=from_tflite),),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), (2, 3, 4), kinds=ALL_KINDS),
        case((1, 5, 5, 3), (3,)),
        case((2, 1, 4), (3, 1), kinds=ALL_KINDS),
        case((2, 3), (), attrs=MulAttrs(activation_min=0.0)),
        case((2, 9), Operand((2, 9), low=-20, high=30), attrs=MulAttrs(0.0, 6.0), kinds=ALL_KINDS),
        case((3, 4), weights(1, 4), attrs=MulAttrs(-1.0, 1.0), kinds=ALL_KINDS),
        case(
            Operand((5,), dtype="int32", low=-99, high=99),
            Operand((1,), dtype="int32", low=-99, high=99),
            kinds=("float32",),
        ),
    ),
    pointwise=True,
)
