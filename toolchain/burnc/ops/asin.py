"""asin: the angle whose sine a number is; NaN beyond 1. Sources: ONNX Asin-7."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.trigonometry import arc_sine
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.arcsin(x)


arc_sine_of = OpSpec(
    name="asin",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: arc_sine(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Asin", build=floats_only("asin")),),
    to_onnx=written_as("Asin"),
    cases=(
        case((3, 90), kinds=("float32",)),
        case(Operand((8,), values=(-0.0, 1e-5, 0.5, -0.9, 1.0, -1.0, 1.5, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
