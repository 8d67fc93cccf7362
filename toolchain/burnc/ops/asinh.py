"""asinh: the inverse hyperbolic sine. Sources: ONNX Asinh-9."""

from __future__ import annotations

from typing import Any

import numpy as np

from burnc.kernel.hyperbolic import inverse_hyperbolic_sine
from burnc.ops.case import Operand, case
from burnc.ops.mapping import onnx_op
from burnc.ops.spec import OpSpec, QuantRule, same_real_type
from burnc.ops.table import tabulated
from burnc.ops.unary import NoAttrs, each, floats_only, written_as


def forward(xp: Any, a: NoAttrs, x: Any) -> Any:
    return xp.arcsinh(x)


inverse_hyperbolic_sine_of = OpSpec(
    name="asinh",
    attrs=NoAttrs,
    infer=same_real_type,
    forward=forward,
    integer=tabulated(forward),
    body=each(lambda k, a, x: inverse_hyperbolic_sine(k, x)),
    quant=QuantRule(),
    onnx=(onnx_op("Asinh", build=floats_only("asinh")),),
    to_onnx=written_as("Asinh"),
    cases=(
        case(Operand((3, 90), low=-9, high=9), kinds=("float32",)),
        case(Operand((8,), values=(-0.0, 1e-5, 0.5, -200.0, 1e30, np.inf, -np.inf, np.nan)), kinds=("float32",)),
    ),
    pointwise=True,
    unary=True,
)
