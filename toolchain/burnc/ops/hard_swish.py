"""hard_swish: x * clip(x + 3, 0, 6) / 6. Sources: ONNX HardSwish-22; TFLite HARD_SWISH; integers as TFLite Micro."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ir import Array, Node
from burnc.numerics import quantize_multiplier, reduced_multiplier, rounding_divide_by_pot
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.unary import NoAttrs, each, floats_only, written_as

LIMITS = -(2**15), 2**15 - 1


def _high_mul(a: Any, b: Any) -> Any:
    """round(a * b / 2**15), saturated to int16. gemmlowp SaturatingRoundingDoublingHighMul of int16."""
    return np.clip((a * b + (1 << 14)) >> 15, *LIMITS)


def _factor(real: Any) -> tuple[int, int]:
    """A real factor as a 15-bit multiplier and a shift."""
    multiplier, shift = quantize_multiplier(float(real))
    return int(reduced_multiplier(multiplier)), shift


def integer(node: Node, x: Array) -> Array:
    """``reference_ops::HardSwish``: 16 bits throughout, the piecewise linear part in Q0.15."""
    x_type, y_type = node.input(0).type, node.output.type
    hires_scale = np.float32(1 / 128) * np.float32(x_type.scale)
    multiplier, shift = _factor(hires_scale / np.float32(y_type.scale))
    line_multiplier, line_shift = _factor(hires_scale / np.float32(3 / 32768))
    hires = (x.astype(np.int64) - x_type.zero_point) * 128
    line = np.clip(hires << (line_shift - 1), *LIMITS) if line_shift > 0 else hires
    line = _high_mul(line, line_multiplier)
    if line_shift > 0:
        line = np.clip(line << 1, *LIMITS)
    elif line_shift < 0:
        line = rounding_divide_by_pot(line, min(-line_shift, 31))
    line = (line + (1 << 15)) >> 1
    product = line * _high_mul(hires, multiplier)
    product = np.sign(product) * (np.abs(product) >> 15)  # truncates
    # TFLite refuses a positive shift.
    scaled = product << shift if shift > 0 else rounding_divide_by_pot(product, min(-shift, 31))
    return np.clip(scaled + y_type.zero_point, -128, 127).astype(np.int8)


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    kind = x.dtype.type
    return x * xp.clip(x * kind(1 / 6) + kind(0.5), kind(0), kind(1))


hard_swish = OpSpec(
    name="hard_swish",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=integer,
    body=each(lambda k, a, x: x * k.minimum(k.maximum(x * (1 / 6) + 0.5, 0.0), 1.0)),
    quant=QuantRule(),
    onnx=(onnx_op("HardSwish", build=floats_only("hard_swish")),),
    tflite=(tflite_op("HARD_SWISH"),),
    to_onnx=written_as("HardSwish"),
    cases=(
        case(Operand((3, 90), low=-5, high=5)),
        case(Operand((6,), values=(-1e30, -3.0, -0.0, 3.0, 1e30, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
