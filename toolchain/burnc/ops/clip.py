"""clip: values held between two limits. Sources: ONNX Clip-13, Relu-14; TFLite RELU, RELU6, RELU_N1_TO_1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnc.ir import Array, Builder, Node, Value
from burnc.kernel.builder import KernelBuilder, Tensor
from burnc.numerics import activation_range, multiply_by_quantized_multiplier, quantize_multiplier
from burnc.ops.activation import through_activation
from burnc.ops.case import ALL_KINDS, EDGES, Operand, case
from burnc.ops.mapping import Build, FileNode, onnx_op, tflite_op
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, same_number_type


@dataclass(frozen=True)
class ClipAttrs:
    activation_min: float = -math.inf
    activation_max: float = math.inf


def body(k: KernelBuilder, a: ClipAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        y[i] = k.requantize(x[i])


def integer(node: Node, x: Array) -> Array:
    a: ClipAttrs = node.attrs
    x_type, y_type = node.input(0).type, node.output.type
    (factor,) = node.operator.requantize_factors(node)
    multiplier, shift = quantize_multiplier(float(factor))
    centred = x.astype(np.int64) - x_type.zero_point
    scaled = multiply_by_quantized_multiplier(centred, multiplier, shift, node.rounding) + y_type.zero_point
    return np.clip(scaled, *activation_range(y_type, a.activation_min, a.activation_max)).astype(y_type.dtype.numpy)


def forward(xp: Any, a: ClipAttrs, x: Any) -> Any:
    if x.dtype.kind == "f":
        return xp.clip(x, np.float32(a.activation_min), np.float32(a.activation_max))
    info = np.iinfo(x.dtype)
    return xp.clip(x, *(int(min(max(v, info.min), info.max)) for v in (a.activation_min, a.activation_max)))


def gradient(b: Builder, node: Node, dy: Value) -> list[Value]:
    return [through_activation(b, node, dy)]


def from_onnx_clip(node: FileNode) -> list[Value]:
    x = node.input(0)
    if not (x.type.dtype.is_float or x.type.dtype.is_integer):
        node.refuse(f"Clip of {x.type.dtype.value} is not supported")
    low = float(node.constant(1, "the lower limit").reshape(())) if node.has_input(1) else -math.inf
    high = float(node.constant(2, "the upper limit").reshape(())) if node.has_input(2) else math.inf
    # ONNX: where the limits cross, every element becomes the upper one.
    return [node.emit("clip", [x], ClipAttrs(min(low, high), high))]


def _fixed(low: float, high: float) -> Build:
    def build(node: FileNode) -> list[Value]:
        return [node.emit("clip", [node.input(0)], ClipAttrs(low, high))]

    return build


def to_onnx(w: OnnxWriter, node: Node) -> None:
    a: ClipAttrs = node.attrs
    if (a.activation_min, a.activation_max) == (0.0, math.inf):
        w.emit("Relu", [w.input(node, 0)], [w.output(node)])
        return
    # A quantized clip stands between floats in the file.
    kind = np.float32 if node.output.type.quant is not None else node.output.type.dtype.numpy
    limits = [
        w.constant(np.array(limit, kind), hint) if math.isfinite(limit) else ""
        for limit, hint in ((a.activation_min, "min"), (a.activation_max, "max"))
    ]
    w.emit("Clip", [w.input(node, 0), *limits], [w.output(node)])


clip = OpSpec(
    name="clip",
    attrs=ClipAttrs,
    infer=same_number_type,
    forward=forward,
    integer=integer,
    body=body,
    gradient=gradient,
    quant=QuantRule(dtypes=QUANTIZED),
    onnx=(onnx_op("Relu", build=_fixed(0.0, math.inf)), onnx_op("Clip", build=from_onnx_clip)),
    tflite=(
        tflite_op("RELU", build=_fixed(0.0, math.inf)),
        tflite_op("RELU6", build=_fixed(0.0, 6.0)),
        tflite_op("RELU_N1_TO_1", build=_fixed(-1.0, 1.0)),
    ),
    to_onnx=to_onnx,
    cases=(
        case((2, 3, 4), attrs=ClipAttrs(0.0), kinds=ALL_KINDS),
        case(Operand((24,), values=EDGES), attrs=ClipAttrs(0.0, 6.0), kinds=("float32",)),
        case(Operand((3, 17), low=-8, high=8), attrs=ClipAttrs(-1.0, 1.0)),
        case(Operand((3, 17), low=-8, high=8), attrs=ClipAttrs(0.0, 6.0), kinds=ALL_KINDS),
        case(Operand((9,), dtype="int32", low=-9, high=9), attrs=ClipAttrs(0.0, 6.0), kinds=("float32",)),
    ),
    pointwise=True,
)
