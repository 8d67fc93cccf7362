"""rsqrt: 1 / sqrt(x). Sources: TFLite RSQRT, integers as TFLM; ONNX Pow-15 with the exponent -1/2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burnc.ir import Array, Node
from burnc.kernel.builder import INT32, KernelBuilder, Tensor
from burnc.kernel.expr import lift
from burnc.kernel.fixed_point import INT32_MAX
from burnc.kernel.fixed_point import inverse_square_root as inverse_square_root_body
from burnc.numerics import inverse_square_root, multiply_by_quantized_multiplier, quantize_multiplier
from burnc.ops.case import ALL_KINDS, Operand, case
from burnc.ops.mapping import tflite_op
from burnc.ops.spec import QUANTIZED, OnnxWriter, OpSpec, QuantRule, same_real_type
from burnc.ops.unary import NoAttrs, each

PLACES = 20  # that TFLite gives the result before it is rescaled


def integer(node: Node, x: Array) -> Array:
    """0 becomes the largest number, what is negative 0 (TFLite Micro stops there)."""
    x_type, y_type = node.input(0).type, node.output.type
    centred = x.astype(np.int64) - x_type.zero_point
    root, place = inverse_square_root(np.maximum(centred, 1))
    scaled = multiply_by_quantized_multiplier(multiply_by_quantized_multiplier(1, root, place + PLACES), *scaling(node))
    low, high = y_type.dtype.limits
    result = np.where(centred > 0, scaled + y_type.zero_point, np.where(centred < 0, y_type.zero_point, high))
    return np.clip(result, low, high).astype(y_type.dtype.numpy)


def scaling(node: Node) -> tuple[int, int]:
    """(multiplier, shift) of a root with its places; a factor that would shift to the left saturates every result."""
    multiplier, shift = quantize_multiplier(1 / (math.sqrt(node.input(0).type.scale) * node.output.type.scale))
    return multiplier, min(shift - PLACES, 0)


def body_int16(k: KernelBuilder, a: NoAttrs, x: Tensor, y: Tensor) -> None:
    for i in k.grid(y.shape):
        value = k.let("value", x[i])
        root, places = inverse_square_root_body(k, k.maximum(value, 2))
        root = k.let("root", k.select(value > 1, root, INT32_MAX))
        raised = k.call("requantize", lift(1, INT32), root, k.select(value > 1, places, 0) + PLACES)
        scaled = k.call("requantize", k.let("raised", raised), *scaling(k.node))
        y[i] = k.select(value > 0, k.minimum(scaled, 32767), k.select(value < 0, lift(0, INT32), 32767))


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return 1 / xp.sqrt(x)


def to_onnx(w: OnnxWriter, node: Node) -> None:
    w.emit("Pow", [w.input(node, 0), w.constant(np.array(-0.5, np.float32), "exponent")], [w.output(node)])


rsqrt = OpSpec(
    name="rsqrt",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: 1.0 / k.call("sqrt", x)),
    body_int16=body_int16,
    quant=QuantRule(dtypes=QUANTIZED),
    tflite=(tflite_op("RSQRT"),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((3, 90), low=0.05, high=9), kinds=ALL_KINDS),
        case(Operand((5,), values=(0.0, 1e-30, 4.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
