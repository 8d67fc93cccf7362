"""sign: -1, 0 or 1. Sources: ONNX Sign-13; TFLite SIGN."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.expr import lift
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op, tflite_op
from burnc.ops.spec import OpSpec, QuantRule, same_number_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.sign(x)


sign = OpSpec(
    name="sign",
    attrs=NoAttrs,
    infer=same_number_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: k.select(x < 0, lift(-1, x.dtype), k.select(x > 0, lift(1, x.dtype), x))),
    quant=QuantRule(),
    onnx=(onnx_op("Sign"),),
    tflite=(tflite_op("SIGN"),),
    to_onnx=written_as("Sign"),
    cases=(
        case((2, 3, 4)),
        case(Operand((5,), values=(-0.0, 0.0, 1e-40, -np.inf, 3.0)), kinds=("float32",)),
        case(Operand((5,), dtype="int32", low=-9, high=9), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
