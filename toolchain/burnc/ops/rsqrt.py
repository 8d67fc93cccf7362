"""rsqrt: 1 / sqrt(x). Sources: TFLite RSQRT, int8 as TFLM; ONNX Pow-15 with the exponent -1/2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burnc.ir import Array, Node
from burnc.numerics import inverse_square_root, multiply_by_quantized_multiplier, quantize_multiplier
from burnc.ops.case import Operand, case
from burnc.ops.mapping import tflite_op
from burnc.ops.spec import OnnxWriter, OpSpec, QuantRule, same_real_type
from burnc.ops.unary import NoAttrs, each

PLACES = 20  # that TFLite gives the result before it is rescaled


def integer(node: Node, x: Array) -> Array:
    """0 becomes the largest number, what is negative 0 (TFLite Micro stops there)."""
    x_type, y_type = node.input(0).type, node.output.type
    centred = x.astype(np.int64) - x_type.zero_point
    multiplier, shift = quantize_multiplier(1 / (math.sqrt(float(np.float32(x_type.scale))) * y_type.scale))
    table = [multiply_by_quantized_multiplier(1, m, s + PLACES) for m, s in map(inverse_square_root, range(1, 256))]
    root = np.array(table)[np.clip(centred, 1, 255) - 1]
    # A factor so large that TFLite would shift to the left saturates every result.
    scaled = multiply_by_quantized_multiplier(root, multiplier, min(shift - PLACES, 0))
    result = np.where(centred > 0, scaled + y_type.zero_point, np.where(centred < 0, y_type.zero_point, 127))
    return np.clip(result, -128, 127).astype(np.int8)


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
    quant=QuantRule(),
    tflite=(tflite_op("RSQRT"),),
    to_onnx=to_onnx,
    cases=(
        case(Operand((3, 90), low=0.05, high=9)),
        case(Operand((5,), values=(0.0, 1e-30, 4.0, np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
