"""sinh: the hyperbolic sine. Sources: ONNX Sinh-9."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.hyperbolic import hyperbolic_sine
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.sinh(x)


hyperbolic_sine_of = OpSpec(
    name="sinh",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: hyperbolic_sine(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Sinh", build=floats_only("sinh")),),
    to_onnx=written_as("Sinh"),
    cases=(
        case(Operand((3, 90), low=-4, high=4), kinds=("float32",)),
        case(Operand((8,), values=(-0.0, 1e-5, 1.0, -20.0, 89.0, np.inf, -np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
