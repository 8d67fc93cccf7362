"""round: the nearest integer, halves to even. Sources: ONNX Round-11; TFLite ROUND."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.ops.case import EDGES, Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.rint(x)


round_half_even = OpSpec(
    name="round",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.call("round_half_even", x)),
    quant=QuantRule(),
    onnx=(onnx_op("Round", build=floats_only("round")),),
    tflite=(tflite_op("ROUND"),),
    to_onnx=written_as("Round"),
    cases=(
        case(Operand((3, 90), low=-9, high=9)),
        case(Operand((18,), values=(*EDGES, np.nan, -2.5, -1.5, 1.5, 8388609.0, -0.7)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
